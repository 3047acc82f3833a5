/*
** What handlers of functions.def share: how a body becomes a handler.
*/
#ifndef TT_FN_FN_H
#define TT_FN_FN_H

#include "fn/compose.h"

/*
** Define handler tt__fn_NAME around a body `static tt_array *NAME(tt_composer *c, tt_call_frame *f)` that gives one
** array, borrowed from the calculation. Handlers with several results fill f->out themselves through tt__fn_give.
*/
#define TT_HANDLER(name)                                            \
  TT_HIDDEN tt_code tt__fn_##name(tt_call_frame *f, tt_error *err); \
  tt_code tt__fn_##name(tt_call_frame *f, tt_error *err) { return tt__fn_run(f, name, #name, err); }

/* The same; what it makes lies as NumPy's result does: in C order ('C'), as the first array ('K'), or in Fortran's
 * order where that does and not C's ('A'). */
#define TT_HANDLER_LAID(name, order)                                \
  TT_HIDDEN tt_code tt__fn_##name(tt_call_frame *f, tt_error *err); \
  tt_code tt__fn_##name(tt_call_frame *f, tt_error *err) { return tt__fn_run_laid(f, name, #name, order, err); }

typedef tt_array *(*tt_fn_body)(tt_composer *c, tt_call_frame *f);
TT_HIDDEN tt_code tt__fn_run(tt_call_frame *f, tt_fn_body body, const char *name, tt_error *err);
TT_HIDDEN tt_code tt__fn_run_laid(tt_call_frame *f, tt_fn_body body, const char *name, char order, tt_error *err);
/* The type in which sums and products of a type are added up. */
TT_HIDDEN tt_dtype tt__fn_sum_type(tt_dtype t);
/* The root of a sum of squares. Where that is 0 its gradient is 0, not infinite: norms and spreads have none there. */
TT_HIDDEN tt_array *tt__fn_root(tt_composer *c, tt_array *sum);
/* The one result of another row. */
TT_HIDDEN tt_array *tt__fn_call(tt_composer *c, const char *name, const tt_value *arg, int n);
/* The bin of each element, as many as there are bins for none; the last bin is closed. */
TT_HIDDEN tt_array *tt__fn_cell(tt_composer *c, tt_array *x, tt_array *edge);
/* How many bins a rule ("auto", "fd", ...) asks for between two ends, for the elements of `a` that lie there. */
TT_HIDDEN int64_t tt__fn_bins_by_rule(tt_composer *c, const char *rule, tt_array *a, double first, double last);
/* Add a result of a handler with several; false when there is none to add (c has failed). */
TT_HIDDEN bool tt__fn_give(tt_composer *c, tt_call_frame *f, tt_array *a);

/* A number that fills an array of a type: of a complex one its real part where the type has no other, and a warning. */
TT_HIDDEN tt_value tt__fn_fill_value(tt_value v, tt_dtype dtype);

#endif
