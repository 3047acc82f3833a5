/*
** Strided copies of few elements; see block.h.
*/
#include "graph/eager/block.h"

#include <stdbool.h>
#include <string.h>

#include "ir/node.h"

typedef struct line {
  char *to;
  const char *from;
  int64_t n, to_step, from_step; /* elements */
} line;

#define COPY_AS(type)                                                       \
  do {                                                                      \
    type *restrict to = (type *)(void *)l->to;                              \
    const type *restrict from = (const type *)(const void *)l->from;        \
    const type first = *from;                                               \
    const int64_t n = l->n, put = l->to_step, take = l->from_step;          \
    if (put == 1 && take == 0)                                              \
      for (int64_t i = 0; i < n; i++) to[i] = first;                        \
    else if (take == 0)                                                     \
      for (int64_t i = 0; i < n; i++, to += put) *to = first;               \
    else if (put == 1)                                                      \
      for (int64_t i = 0; i < n; i++, from += take) to[i] = *from;          \
    else                                                                    \
      for (int64_t i = 0; i < n; i++, to += put, from += take) *to = *from; \
  } while (0)

static void copy_line(const line *l, size_t item) {
  if (l->to_step == 1 && l->from_step == 1) {
    memcpy(l->to, l->from, (size_t)l->n * item);
    return;
  }
  switch (item) {
    case 1:
      COPY_AS(uint8_t);
      return;
    case 2:
      COPY_AS(uint16_t);
      return;
    case 4:
      COPY_AS(uint32_t);
      return;
    case 8:
      COPY_AS(uint64_t);
      return;
    default:
      for (int64_t i = 0; i < l->n; i++)
        memcpy(l->to + i * l->to_step * (int64_t)item, l->from + i * l->from_step * (int64_t)item, item);
  }
}

void tt__block_copy(int rank, const int64_t *len, void *to, const int64_t *to_step, const void *from,
                    const int64_t *from_step, size_t item) {
  int64_t index[TT_MAX_RANK], size = (int64_t)item;
  int last = rank - 1;
  line l = {.to = to, .from = from, .n = 1};
  if (rank == 0) {
    copy_line(&l, item);
    return;
  }
  l.n = len[last];
  l.to_step = to_step[last];
  l.from_step = from_step[last];
  for (int k = 0; k < last; k++) index[k] = 0;
  for (;;) {
    copy_line(&l, item);
    int k = last - 1;
    for (; k >= 0; k--) {
      l.to += to_step[k] * size;
      l.from += from_step[k] * size;
      if (++index[k] < len[k]) break;
      l.to -= to_step[k] * len[k] * size;
      l.from -= from_step[k] * len[k] * size;
      index[k] = 0;
    }
    if (k < 0) return;
  }
}

/* Element i from one place to another: by copies of fixed size for the sizes most met. */
#define BY_ITEM(to_at, from_at)                                                                                      \
  do {                                                                                                               \
    char *put = to;                                                                                                  \
    const char *take = from;                                                                                         \
    if (item == 8)                                                                                                   \
      for (int64_t i = 0; i < n; i++) memcpy(put + (to_at)*8, take + (from_at)*8, 8);                                \
    else if (item == 4)                                                                                              \
      for (int64_t i = 0; i < n; i++) memcpy(put + (to_at)*4, take + (from_at)*4, 4);                                \
    else if (item == 1)                                                                                              \
      for (int64_t i = 0; i < n; i++) put[to_at] = take[from_at];                                                    \
    else                                                                                                             \
      for (int64_t i = 0, size = (int64_t)item; i < n; i++) memcpy(put + (to_at)*size, take + (from_at)*size, item); \
  } while (0)

void tt__block_gather(void *to, const void *from, const int64_t *at, int64_t n, size_t item) { BY_ITEM(i, at[i]); }

void tt__block_scatter(void *to, const int64_t *at, const void *from, int64_t step, int64_t n, size_t item) {
  BY_ITEM(at[i], i * step);
}
