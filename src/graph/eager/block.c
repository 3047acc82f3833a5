/*
** Strided copies of few elements; see block.h.
*/
#include "graph/eager/block.h"

#include <stdbool.h>
#include <string.h>

#include "ir/node.h"

typedef struct pair {
  uint64_t half[2];
} pair;
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
    case 16:
      COPY_AS(pair);
      return;
    default:
      for (int64_t i = 0; i < l->n; i++)
        memcpy(l->to + i * l->to_step * (int64_t)item, l->from + i * l->from_step * (int64_t)item, item);
  }
}

/* A block's axes as they are walked: none of length 1, those that both sides continue as one. */
typedef struct walk {
  int rank;
  int64_t len[TT_MAX_RANK], to[TT_MAX_RANK], from[TT_MAX_RANK];
} walk;

enum { SHORT_LINE = 8 };

static void swap_axes(walk *w, int i, int k) {
  int64_t len = w->len[i], to = w->to[i], from = w->from[i];
  w->len[i] = w->len[k];
  w->to[i] = w->to[k];
  w->from[i] = w->from[k];
  w->len[k] = len;
  w->to[k] = to;
  w->from[k] = from;
}

static void find_walk(walk *w, int rank, const int64_t *len, const int64_t *to_step, const int64_t *from_step) {
  int n = 0;
  for (int k = 0; k < rank; k++) {
    if (len[k] == 1) continue;
    if (n > 0 && w->to[n - 1] == to_step[k] * len[k] && w->from[n - 1] == from_step[k] * len[k]) {
      n--;
      w->len[n] *= len[k];
    } else {
      w->len[n] = len[k];
    }
    w->to[n] = to_step[k];
    w->from[n++] = from_step[k];
  }
  w->rank = n;
  int longest = n - 1;
  for (int k = 0; k < n && w->len[n - 1] < SHORT_LINE; k++)
    if (w->len[k] > w->len[longest]) longest = k;
  if (longest >= 0) swap_axes(w, longest, n - 1);
}

void tt__block_copy(int rank, const int64_t *len, void *to, const int64_t *to_step, const void *from,
                    const int64_t *from_step, size_t item) {
  int64_t index[TT_MAX_RANK], size = (int64_t)item;
  walk w;
  line l = {.to = to, .from = from, .n = 1, .to_step = 1, .from_step = 1};
  find_walk(&w, rank, len, to_step, from_step);
  int last = w.rank - 1;
  if (last < 0) {
    copy_line(&l, item);
    return;
  }
  l.n = w.len[last];
  l.to_step = w.to[last];
  l.from_step = w.from[last];
  for (int k = 0; k < last; k++) index[k] = 0;
  for (;;) {
    copy_line(&l, item);
    int k = last - 1;
    for (; k >= 0; k--) {
      l.to += w.to[k] * size;
      l.from += w.from[k] * size;
      if (++index[k] < w.len[k]) break;
      l.to -= w.to[k] * w.len[k] * size;
      l.from -= w.from[k] * w.len[k] * size;
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
    else if (item == 16)                                                                                             \
      for (int64_t i = 0; i < n; i++) memcpy(put + (to_at)*16, take + (from_at)*16, 16);                             \
    else if (item == 1)                                                                                              \
      for (int64_t i = 0; i < n; i++) put[to_at] = take[from_at];                                                    \
    else                                                                                                             \
      for (int64_t i = 0, size = (int64_t)item; i < n; i++) memcpy(put + (to_at)*size, take + (from_at)*size, item); \
  } while (0)

void tt__block_gather(void *to, const void *from, const int64_t *at, int64_t n, size_t item) { BY_ITEM(i, at[i]); }

void tt__block_scatter(void *to, const int64_t *at, const void *from, int64_t step, int64_t n, size_t item) {
  BY_ITEM(at[i], i * step);
}
