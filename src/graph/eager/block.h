/*
** Strided copies of few elements. They know no nodes.
*/
#ifndef TT_GRAPH_EAGER_BLOCK_H
#define TT_GRAPH_EAGER_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Every element of a block of shape `len`, none of them 0, lines of its last axis at a time. Steps in elements. */
TT_HIDDEN void tt__block_copy(int rank, const int64_t *len, void *to, const int64_t *to_step, const void *from,
                              const int64_t *from_step, size_t item);
/* to[i] = from[at[i]]; and to[at[i]] = from[i * step], in order. */
TT_HIDDEN void tt__block_gather(void *to, const void *from, const int64_t *at, int64_t n, size_t item);
TT_HIDDEN void tt__block_scatter(void *to, const int64_t *at, const void *from, int64_t step, int64_t n, size_t item);

#endif
