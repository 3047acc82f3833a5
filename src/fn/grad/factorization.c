/* Cotangents through linear algebra; see factorization.h. */
#include "fn/grad/factorization.h"

#include "fn/linalg/matrix.h"

static void missing(const tt_rule *r) {
  tt__compose_fail(r->c, TT_ENOTIMPL, "the derivative of '%s' is not implemented", r->t->attr.lib->row->name);
}

void tt__rule_solve(const tt_rule *r) { missing(r); }
void tt__rule_inv(const tt_rule *r) { missing(r); }
void tt__rule_det(const tt_rule *r) { missing(r); }
void tt__rule_slogdet(const tt_rule *r) { missing(r); }
void tt__rule_cholesky(const tt_rule *r) { missing(r); }
void tt__rule_qr(const tt_rule *r) { missing(r); }
void tt__rule_svd(const tt_rule *r) { missing(r); }
void tt__rule_svdvals(const tt_rule *r) { missing(r); }
void tt__rule_eigh(const tt_rule *r) { missing(r); }
void tt__rule_eig(const tt_rule *r) { missing(r); }
void tt__rule_lstsq(const tt_rule *r) { missing(r); }
