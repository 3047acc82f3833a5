/*
** The vector loops of attention, over panels [keys][width] with a lane for each query. One text for all levels of
** vectors (attention_vector.inc). Knows nothing of strides, storage types or threads.
*/
#ifndef TT_LIB_NN_ATTENTION_VECTOR_H
#define TT_LIB_NN_ATTENTION_VECTOR_H

#include "base/err.h"
#include "ir/dtype.h"

/* Random numbers for a panel of keys: those of query j are in blocks of four from first + j * apart on. */
typedef struct tt_attention_drops {
  uint64_t key, first, apart;
  double chance;
} tt_attention_drops;

typedef struct tt_attention_vector {
  /* n more keys: `s` becomes exponentials above the largest so far (top), `sum` their sum; `fade` is what sums so far
   * are worth now. */
  void (*softmax)(void *s, int64_t n, int width, void *top, void *sum, void *fade);
  /* `s` becomes the shares, by the logarithms of sums; their cotangents `d` become those of what `s` was: times the
   * shares, each less a sum. */
  void (*softmax_back)(void *s, void *d, int64_t n, int width, const void *lse, const void *less);
  /* a = a * factor + b, rows [n][width]; factor NULL: 1. */
  void (*add)(void *a, int64_t n, int width, const void *factor, const void *b);
  /* A tile [rows][width] as columns: to[j * rows + i]. */
  void (*turn)(const void *tile, int rows, int width, void *to);
  /* What shares of n keys are multiplied by, whole blocks of them: 0 for those that are dropped. */
  void (*drops)(void *to, int64_t n, int width, const tt_attention_drops *d);
  /* a = a * b, n numbers */
  void (*multiply)(void *a, int64_t n, const void *b);
} tt_attention_vector;

/* For sums of float32 or float64, and this CPU. */
TT_HIDDEN const tt_attention_vector *tt__attention_vector(tt_dtype sums);

#endif
