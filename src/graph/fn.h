/*
** What handlers of functions.def share: how a body becomes a handler.
*/
#ifndef TT_GRAPH_FN_H
#define TT_GRAPH_FN_H

#include "graph/calc.h"

/*
** Define handler tt__fn_NAME around a body `static tt_array *NAME(tt_calc *c, tt_call_frame *f)` that gives one array,
** borrowed from the calculation. Handlers with several results fill f->out themselves through tt__fn_give.
*/
#define TT_HANDLER(name)                                            \
  TT_HIDDEN tt_code tt__fn_##name(tt_call_frame *f, tt_error *err); \
  tt_code tt__fn_##name(tt_call_frame *f, tt_error *err) { return tt__fn_run(f, name, err); }

TT_HIDDEN tt_code tt__fn_run(tt_call_frame *f, tt_array *(*body)(tt_calc *c, tt_call_frame *f), tt_error *err);
/* The type in which sums and products of a type are added up. */
TT_HIDDEN tt_dtype tt__fn_sum_type(tt_dtype t);
/* The one result of another row. */
TT_HIDDEN tt_array *tt__fn_call(tt_calc *c, const char *name, const tt_value *arg, int n);
/* Add a result of a handler with several; false when there is none to add (c has failed). */
TT_HIDDEN bool tt__fn_give(tt_calc *c, tt_call_frame *f, tt_array *a);

#endif
