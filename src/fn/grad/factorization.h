/*
** Cotangents through linear algebra (rules.h). Formulas: Giles, "An extended collection of matrix derivative results",
** and for complex numbers PyTorch's convention.
*/
#ifndef TT_FN_GRAD_FACTORIZATION_H
#define TT_FN_GRAD_FACTORIZATION_H

#include "fn/grad/rules.h"

TT_HIDDEN void tt__rule_solve(const tt_rule *r);
TT_HIDDEN void tt__rule_inv(const tt_rule *r);
TT_HIDDEN void tt__rule_det(const tt_rule *r);
TT_HIDDEN void tt__rule_slogdet(const tt_rule *r);
TT_HIDDEN void tt__rule_cholesky(const tt_rule *r);
TT_HIDDEN void tt__rule_qr(const tt_rule *r);
TT_HIDDEN void tt__rule_qr_r(const tt_rule *r);
TT_HIDDEN void tt__rule_svd(const tt_rule *r);
TT_HIDDEN void tt__rule_svdvals(const tt_rule *r);
TT_HIDDEN void tt__rule_eigh(const tt_rule *r);
TT_HIDDEN void tt__rule_eig(const tt_rule *r);
TT_HIDDEN void tt__rule_lstsq(const tt_rule *r);
TT_HIDDEN void tt__rule_pinv(const tt_rule *r);

#endif
