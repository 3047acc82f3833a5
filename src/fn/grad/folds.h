/*
** Cotangents through running results and folds (rules.h): scans, the methods of ufuncs that the library's loops do, and
** reductions of complex numbers.
*/
#ifndef TT_FN_GRAD_FOLDS_H
#define TT_FN_GRAD_FOLDS_H

#include "fn/grad/rules.h"

TT_HIDDEN void tt__rule_scan(const tt_rule *r);
TT_HIDDEN void tt__rule_fold(const tt_rule *r);
TT_HIDDEN void tt__rule_fold_segments(const tt_rule *r);
TT_HIDDEN void tt__rule_fold_at(const tt_rule *r);
TT_HIDDEN void tt__rule_reduce_complex(const tt_rule *r);

/* For each element the product of the others along some axes, without a division: it can be differentiated in turn. */
TT_HIDDEN tt_array *tt__rule_products_of_others(tt_composer *c, tt_array *a, uint64_t axes);

#endif
