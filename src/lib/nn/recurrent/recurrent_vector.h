/*
** The vector loops of recurrent networks: products with packed weights, and the gates of one image and step. One text
** for all levels of vectors (recurrent.inc). Knows nothing of sequences or threads.
*/
#ifndef TT_LIB_NN_RECURRENT_VECTOR_H
#define TT_LIB_NN_RECURRENT_VECTOR_H

#include "base/err.h"
#include "ir/dtype.h"
#include "ir/recurrent.h"

/* What an image has in one step, dense; forward, and in brackets backward. */
typedef struct tt_recurrent_row {
  const void *x;    /* what the input adds to the gates */
  void *sums;       /* what the state before adds (gets the cotangents of that) */
  void *dx;         /* (GRU: gets the cotangents of x) */
  const void *bias; /* of GRU: added to sums */
  const void *h;    /* the state before (the cotangent of the state, from the step behind) */
  void *carry;      /* LSTM's memory (its cotangent); (GRU: what the cotangent passes by the product) */
  void *kept;       /* ir/recurrent.h */
  void *y;          /* the new state (its cotangent) */
} tt_recurrent_row;

typedef struct tt_recurrent_loops {
  int panel; /* columns of packed weights lie together in so many */
  /* [k][n] with steps, n filled up to panels. */
  void (*pack)(int64_t k, int64_t n, const void *from, int64_t step_k, int64_t step_n, void *packed);
  /* to [m][n, filled up] = a [m][k] @ packed. */
  void (*product)(int64_t m, int64_t n, int64_t k, const void *a, int64_t a_row, const void *packed, void *to,
                  int64_t to_row);
  void (*add)(int64_t n, const void *a, void *to); /* to += a */
  void (*step[TT_RECURRENT_KINDS])(int64_t width, const tt_recurrent_row *r);
  void (*back[TT_RECURRENT_KINDS])(int64_t width, const tt_recurrent_row *r);
} tt_recurrent_loops;

/* For float32 or float64, and this CPU. */
TT_HIDDEN const tt_recurrent_loops *tt__recurrent_loops(tt_dtype t);

#endif
