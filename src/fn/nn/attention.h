/*
** Attention in a calculation: what the function users call and its derivative share.
**
** Rows of the library, over axes of batches and matrices, with attr.f[0] the scale and attr.i[0] whether query i sees
** the keys up to i alone:
**
**   attention              q, k, v                to o, lse: the logarithm of each query's sum of exponentials
**   attention_masked       q, k beside v, mask    the same; mask [batches, queries, keys]
**   attention_back         q, k, v, g             to dq, dk, dv; g beside lse and the sum of g times o, for each query
**   attention_masked_back  q, k beside v, g, mask
**   attention_dropped      q, k beside v, key     to o, lse; attr.f[1] is the chance of a share to be dropped
**   attention_dropped_back q, k beside v, g, key
**   attention_whole_back   q, k, v, the cotangent, o, lse: of 16-bit floats, as vendors' libraries want it
**
** A key is one uint64, of the random numbers that say which shares go; lib/nn/attention/attention.h says which number
** is whose. Numbers for each query, g and masks that are added are float32 for 16-bit floats. For its derivative a
** call's operands are those of the row, then lse; its result is o.
*/
#ifndef TT_FN_NN_ATTENTION_H
#define TT_FN_NN_ATTENTION_H

#include "fn/compose.h"

/* In one type of floats, with the same axes of batches. */
typedef struct tt_attending {
  tt_array *q, *k, *v;
  tt_array *mask; /* or NULL */
  double scale;
  bool causal;
  tt_array *key; /* of what is dropped; NULL: nothing */
  double chance;
} tt_attending;

/* The type in which is summed. */
static inline tt_dtype tt__attention_sums(tt_dtype t) { return t == TT_F64 ? TT_F64 : TT_F32; }

/* softmax of the scores, in the type of sums; zeros for queries without a key. */
TT_HIDDEN tt_array *tt__compose_shares(tt_composer *c, const tt_attending *a);
/* Shares, or cotangents of theirs: 0 for those that are dropped, the others grow to make up for them. */
TT_HIDDEN tt_array *tt__compose_thinned(tt_composer *c, const tt_attending *a, tt_array *p);
/* Two arrays side by side. */
TT_HIDDEN tt_array *tt__compose_beside(tt_composer *c, tt_array *a, tt_array *b);

#endif
