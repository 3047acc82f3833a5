/*
** A kernel's body as it is split: what cuda_c/split.c finds and cuda_c/split_text.c writes.
*/
#ifndef TT_LANG_CUDA_C_SPLIT_INT_H
#define TT_LANG_CUDA_C_SPLIT_INT_H

#include "lang/cuda_c/scan.h"

enum { TT_SPLIT_ITEMS = 128, TT_SPLIT_LOCALS = 64 };

typedef enum tt_split_kind {
  TT_SPLIT_GROUP,    /* statements without a barrier */
  TT_SPLIT_LOOP,     /* the head of a loop around groups, "for (...)" */
  TT_SPLIT_STRIDED,  /* of one with the stride of the grid or the block */
  TT_SPLIT_END,      /* of either */
  TT_SPLIT_EXCHANGE, /* "tt_exchange_KIND(to, from, by, width);" between all threads */
  TT_SPLIT_BLOCKS    /* a declaration of the block's own */
} tt_split_kind;

/* A part of the kernel's body. */
typedef struct tt_split_item {
  tt_split_kind kind;
  int64_t from, to; /* words */
  int group;
  /* of a strided loop, and of the one group in it */
  bool is_turned, is_of_grid; /* its index begins with the block's first thread of the grid, or of the block */
  int64_t type, name, bound, bound_end, step, step_end;
  /* of a group that is "if (index < limit) statement", with the block's index along x: 0, or its first word */
  int64_t guarded, index, limit, limit_end;
} tt_split_item;

/* A variable of a thread. */
typedef struct tt_split_local {
  int32_t name;
  int64_t name_word, type, type_end, dims, dims_end, init, init_end, from, to; /* words; init == init_end: none */
  int group, stars;
  uint64_t used; /* groups */
  bool is_made_anew, is_uniform, is_alone;
} tt_split_local;

typedef struct tt_cudac_split {
  tt_cudac_scan *s;
  int64_t params, params_end, body, body_end;
  tt_split_item item[TT_SPLIT_ITEMS];
  int nitem, ngroup;
  tt_split_local local[TT_SPLIT_LOCALS];
  int nlocal;
  bool open; /* the last item is a group that goes on */
  bool has_barrier, has_strided;
} tt_cudac_split;

static inline bool tt__split_is(const tt_cudac_split *p, int64_t k, const char *text) {
  return tt__cudac_is(p->s, k, text);
}

/* Lives longer than a group: an array over the threads. */
static inline bool tt__split_is_kept(const tt_split_local *l) {
  return !l->is_made_anew && (l->used & ~(1ull << l->group)) != 0;
}

/* The word behind the statement at k, or -1. */
TT_HIDDEN int64_t tt__split_statement_end(const tt_cudac_split *p, int64_t k);
/* Behind the type that a declaration at k begins with, or -1: it is none. */
TT_HIDDEN int64_t tt__split_type_end(const tt_cudac_split *p, int64_t k, int64_t end);

/* Append the function tt_split_NAME of a kernel that is fit for it. */
TT_HIDDEN void tt__cudac_split_write(const tt_cudac_split *p, const tt_cudac_kernel *k, tt_str *out);

#endif
