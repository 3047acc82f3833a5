/*
** An elementwise op on few elements at hand, without nodes for its operands. Same bits as the recorded way.
*/
#ifndef TT_GRAPH_EAGER_APPLY_H
#define TT_GRAPH_EAGER_APPLY_H

#include "graph/build.h"

typedef struct tt_eager_op {
  tt_op op;
  const tt_value *arg; /* arrays that broadcast to `len`, and numbers */
  int n;
  tt_dtype from[3], to; /* what each operand is converted to, and the result's type */
  bool wrap;            /* Python's numbers are cut to fit */
  int rank;
  const int64_t *len;
} tt_eager_op;

/* The result in memory; NULL: it is to be recorded, or refused there. */
TT_HIDDEN tt_node *tt__eager_apply(const tt_eager_op *f);

#endif
