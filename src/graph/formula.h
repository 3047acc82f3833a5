/*
** Recording a formula (ir/user/formula.h) over arrays and numbers: its steps become nodes, in the shape of the call.
**
** Reads of whole arrays by a flat index that is affine in the element's number become views; others are gathers, their
** index held inside the array, so that what a condition excludes may lie outside.
*/
#ifndef TT_GRAPH_FORMULA_H
#define TT_GRAPH_FORMULA_H

#include "graph/build.h"
#include "ir/user/formula.h"

typedef struct tt_formula_call {
  const tt_formula *f;
  const tt_formula_param *param;
  int nparam;
  const tt_value *arg; /* nparam; TT_V_MISSING: an output that is to be made */
  int64_t size;        /* elements, when everything is raw; -1: the shape that the arguments broadcast to */
  bool c_form;         /* as many elements as the first array has */
} tt_formula_call;

/*
** out[k] gets a hold on output k: the array given, written, or a new one; NULL for inputs. Evaluates nothing.
** TT_ETYPE: an argument of another type; TT_EVALUE: shapes that do not fit, or no shape; TT_EINDEX: an index beyond its
** array.
*/
TT_HIDDEN tt_code tt__formula_call(const tt_formula_call *call, tt_array **out, tt_error *err);

#endif
