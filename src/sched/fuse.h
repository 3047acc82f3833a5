/*
** Fusion: one attempt to express some roots as a single kernel step. Private to sched/.
*/
#ifndef TT_SCHED_FUSE_H
#define TT_SCHED_FUSE_H

#include "sched/sched.h"

#define TT_FUSE_INST 512
#define TT_FUSE_ACCESS 96
#define TT_FUSE_OPERAND 32
#define TT_FUSE_LITERAL 64
#define TT_FUSE_REDUCE 24 /* twice as many in real arithmetic */
#define TT_FUSE_ROOT 16
#define TT_FUSE_SPLIT 8
#define TT_FUSE_MEMO 1024
#define TT_MOST_BEFORE 64

typedef enum tt_fuse_result {
  TT_FUSE_OK,
  TT_FUSE_NEED,       /* node `need` must be in memory first */
  TT_FUSE_SPLIT_AXIS, /* the same again, with one more cut in `split` */
  TT_FUSE_REFUSE,     /* these roots do not go together */
  TT_FUSE_NOMEM
} tt_fuse_result;

/* A value already computed in this attempt: node, seen through a map. */
typedef struct tt_memo {
  tt_map *map;
  int32_t node, next;
  int16_t inst;
} tt_memo;

typedef struct tt_fuse_access {
  int16_t operand;
  uint8_t dtype;
  bool write;
  tt_map *map;
} tt_fuse_access;

typedef struct tt_fuser {
  const tt_walk *walk;
  bool fuse;
  tt_few_rows few_rows;
  tt_keep keep;
  /* per node of the walk */
  uint8_t *cut;     /* must be in memory */
  int32_t *step_of; /* the step that leaves it in memory, -1 */
  uint16_t *weight; /* work to recompute it from what is in memory, saturating */
  uint8_t *reduces; /* a reduction not in memory lies below */
  uint8_t *uses;    /* steps that compute it inside */
  uint8_t *sparing; /* a store for which others are brought into memory just now */
  uint8_t *others;  /* scratch of overwrite.c: TT_OTHERS_* */
  int32_t *memo_head;
  /* the attempt */
  tt_arena scratch;
  tt_space space;
  tt_split cutting[TT_FUSE_SPLIT];
  int ncutting;
  int nroot;
  tt_proot root[TT_FUSE_ROOT];
  tt_map *root_map[TT_FUSE_ROOT]; /* where the root's value goes in its buffer */
  tt_map *root_own[TT_FUSE_ROOT]; /* the identity map of the root's value over the space */
  tt_pinst inst[TT_FUSE_INST];
  tt_fuse_access access[TT_FUSE_ACCESS];
  tt_poperand operand[TT_FUSE_OPERAND];
  tt_scalar literal[TT_FUSE_LITERAL];
  tt_memo memo[TT_FUSE_MEMO];
  int text; /* for a compiler: see tt__op_text */
  int ninst, naccess, nreduce, noperand, nliteral, nmemo;
  int32_t dep;                  /* the latest step whose result is read, -1 */
  uint8_t fold[TT_MAX_AXES];    /* of the first reduction (tt_step.fold); others have to agree */
  int own_axes;                 /* axes of the root in hand: those that follow are of rows */
  int inside;                   /* reductions around what is visited */
  bool columns, lines;          /* its row: along columns; of several stretches of elements */
  uint8_t folded[TT_FUSE_INST]; /* the instruction's value depends on a reduction of this attempt */
  bool serial;                  /* scatters */
  /* how it ended */
  int32_t need;
  tt_split split;
  const char *why; /* why `need` is needed */
} tt_fuser;

enum { TT_OTHERS_WANT = 1, TT_OTHERS_WAIT = 2 };

/* What is brought into memory before a store. */
typedef struct tt_before {
  int n;
  int32_t node[TT_MOST_BEFORE];
  int64_t elements;
} tt_before;

/* Cut the walk where its kernels would get too long (f->cut). False: out of memory. */
TT_HIDDEN bool tt__fuse_segments(tt_fuser *f, tt_arena *arena);
/* Try the roots as one step, from scratch; f->cutting holds the cuts asked for so far. */
TT_HIDDEN tt_fuse_result tt__fuse_roots(tt_fuser *f, const int32_t *root, int nroot);
/* What to bring into memory before the store that was attempted, so that it need not copy what it leaves. */
TT_HIDDEN tt_code tt__fuse_before_store(tt_fuser *f, int32_t store, tt_before *out);
/* Copy a successful attempt into a step of the plan. False: out of memory. */
TT_HIDDEN bool tt__fuse_commit(tt_fuser *f, tt_plan *plan, tt_step *step);
/* (keep.c) Of a step of training: is what several kernels compute sooner stored; and what was seen of it (f->cut). */
TT_HIDDEN bool tt__keeps(const tt_fuser *f, int32_t node, int kernels);
TT_HIDDEN void tt__keep_seen(tt_fuser *f);
/* List the values of a plan that has all its steps, and settle what is written in place. False: out of memory. */
TT_HIDDEN bool tt__settle_memory(const tt_walk *walk, tt_plan *plan, tt_arena *scratch);

#endif
