/*
** Attention of strided host memory: o = softmax(scale q k^T + mask) v, tile by tile, so that no matrix of queries and
** keys is stored. Rows of softmax are kept as a running largest element and sum; what the way back needs of them is one
** number for each query, the logarithm of the sum of exponentials. Knows no arrays.
**
**   f32 f64    as they are
**   f16 bf16   widened to f32 in the panels, summed in f32, rounded once
**
** Queries without a key, because all are masked, get zeros. Shares are dropped by Philox: key j of query i, of those of
** all batches, has number i * keys + j of a stream, with keys rounded up to whole blocks of four. Nothing is stored.
*/
#ifndef TT_LIB_NN_ATTENTION_H
#define TT_LIB_NN_ATTENTION_H

#include "base/err.h"
#include "ir/dtype.h"

/* Matrices [rows, columns] for each of the batches; steps in elements. */
typedef struct tt_attention_side {
  const void *data;
  const int64_t *batch; /* a step for each axis of batches */
  int64_t row, column;
} tt_attention_side;

typedef struct tt_attention {
  tt_dtype type; /* of q, k, v and o; sums are float32, or float64 for that */
  int rank;      /* axes of batches */
  const int64_t *len;
  int64_t batches, queries, keys, width, deep; /* columns of q and k, and of v */
  double scale;
  bool causal; /* query i sees the keys up to i */
  tt_attention_side q, k, v;
  tt_attention_side mask; /* [queries, keys]; data NULL: none */
  tt_dtype mask_type;     /* bool (false: not seen), or that of sums (added) */
  double chance;          /* of each share to be dropped; the others grow by 1 / (1 - chance) */
  const uint64_t *key;    /* of the random numbers that say which; NULL: none are */
} tt_attention;

/* o [batches, queries, deep] of the type, lse [batches, queries] of the sums', dense; NULL: nobody asks. Failure:
 * TT_ENOMEM. */
TT_HIDDEN tt_code tt__attention(const tt_attention *a, void *o, void *lse, tt_error *err);

/*
** The cotangents of q, k and v, dense; NULL: nobody asks. `g` [queries, deep + 2], of the sums' type: the cotangent of
** o, then lse, and the sum of the cotangent times o.
*/
TT_HIDDEN tt_code tt__attention_back(const tt_attention *a, const tt_attention_side *g, void *dq, void *dk, void *dv,
                                     tt_error *err);

/* The `to` that is g above, dense, from cotangents and results of 16 bits and dense lse. */
TT_HIDDEN void tt__attention_sums_host(const tt_attention *a, const tt_attention_side *g, const tt_attention_side *o,
                                       const float *lse, float *to);

#endif
