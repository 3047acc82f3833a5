/*
** One direction of a layer of a recurrent network over a whole sequence, on dense host memory. What the inputs add to
** the gates is known before; each step multiplies the state before by the weights and goes through the gates. Images
** do not depend on each other: they are given to threads, and an element has the same bits whatever is computed
** beside it. float32 and float64. Knows no arrays.
*/
#ifndef TT_LIB_NN_RECURRENT_H
#define TT_LIB_NN_RECURRENT_H

#include <stdbool.h>

#include "base/err.h"
#include "ir/dtype.h"
#include "ir/recurrent.h"

typedef struct tt_recurrent {
  tt_dtype type;
  tt_recurrent_kind kind;
  bool reverse; /* from the last step to the first */
  int64_t steps, images, width;
  const void *w;    /* [gates * width, width] */
  const void *bias; /* (GRU) [gates * width], added to the product; NULL: none */
} tt_recurrent;

/* Step k of a walk is this one of the sequence. */
static inline int64_t tt__recurrent_place(const tt_recurrent *r, int64_t k) {
  return r->reverse ? r->steps - 1 - k : k;
}

/* x [steps, images, gates * width], h and memory (LSTM) [images, width]: y [steps, images, width], of LSTM one more
 * with the last memory; `kept` [steps, images, tt__recurrent_kept * width]. NULL: nobody asks. Failure: TT_ENOMEM. */
TT_HIDDEN tt_code tt__recurrent(const tt_recurrent *r, const void *x, const void *h, const void *memory, void *y,
                                void *kept, tt_error *err);

/*
** The way back, g as y: `sums` gets the cotangents of the products of states and weights, `x` (GRU, else they are the
** same) those of what inputs add, h and memory (LSTM) those of the first state. Each of these may be NULL.
*/
TT_HIDDEN tt_code tt__recurrent_back(const tt_recurrent *r, const void *kept, const void *g, void *sums, void *x,
                                     void *h, void *memory, tt_error *err);

#endif
