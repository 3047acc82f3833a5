/*
** Decisions: where each step of a plan runs, in which way, and what moves before it. They are made for one evaluation,
** because they hang on where values lie; the plan itself is kept for equal graphs and knows nothing of them. Plans
** print with them and read back (plan.h). sched/place.h makes them, run/realize.c does what they say.
*/
#ifndef TT_IR_DECISION_H
#define TT_IR_DECISION_H

#include "ir/partition.h"
#include "ir/plan.h"

/* Where something lies or runs: the host, or device k of the machine (ir/machine.h). */
typedef int tt_where;
enum { TT_HOST = -1, TT_NOWHERE = -2, TT_MOST_WHERE = 15 };

/* ---- a kernel in pieces */

typedef struct tt_kernel_cut {
  tt_partition parts;
  bool windows;                   /* the device holds a few pieces at a time; results stay on the host */
  bool down;                      /* results come down */
  int64_t up_bytes, down_bytes;   /* that move in pieces */
  double up_ns, work_ns, down_ns; /* predicted, each by itself */
  double ns;                      /* predicted, all at once */
} tt_kernel_cut;

/* ---- a library call in tiles */

/* An external sort: runs of a row are sorted, then blocks of the result, whose elements are looked up in all runs. */
typedef struct tt_sort_cut {
  int64_t rows, n;    /* elements of a row */
  int64_t run, count; /* of a run, and of a block; how many there are in a row; 0: nothing is sorted so */
  bool places;        /* places are the result */
} tt_sort_cut;

/* What is cut, outermost first: rows or columns are outside of each other as the plan says. */
typedef enum tt_tile_axis { TT_TILE_BATCH, TT_TILE_ROWS, TT_TILE_COLS, TT_TILE_DEEP, TT_TILE_AXES } tt_tile_axis;

enum { TT_TILE_LEVELS = 3, TT_TILE_SIDES = TT_NODE_SRC + 1 };

/*
** An operand or the result: a view of three axes, in the order in which they lie in memory. A part of it is a block of
** that view; where it comes to on the device, it is dense.
*/
typedef struct tt_tile_side {
  int axis[TT_TILE_LEVELS];                          /* a tt_tile_axis; -1: not cut */
  int64_t len[TT_TILE_LEVELS], step[TT_TILE_LEVELS]; /* elements; step 0: the same again */
  int64_t off, loop_step[TT_MAX_RANK];               /* of the view's first element; along the loops */
  size_t size;                                       /* of an element */
  bool there;                                        /* lies on the device, as it is */
  int64_t slots;                                     /* parts that have room on the device at once */
} tt_tile_side;

/* What a library does after its own work, instead of the step behind it (sched/epilogue.h). */
typedef struct tt_epilogue_match {
  int step;       /* the kernel that need not run: its root is what the library then stores */
  int epilogue;   /* TT_EPILOGUE_ bits (ir/library.h); 0: nothing */
  int32_t term;   /* walk number of what is added, in memory when the library runs; -1: nothing */
  int64_t offset; /* of its first element there */
} tt_epilogue_match;

typedef struct tt_tiles {
  tt_sort_cut sort; /* count > 0: it is sorted so; the tiles below are none */
  int64_t len[TT_TILE_AXES], tile[TT_TILE_AXES], count[TT_TILE_AXES];
  int nloop; /* axes of a batch that are not the one that is cut, one point at a time */
  int64_t loop_len[TT_MAX_RANK], loops;
  bool cols_outside;
  int nside; /* operands, what is added to the result (match), the result */
  tt_tile_side side[TT_TILE_SIDES];
  tt_epilogue_match match;        /* epilogue is not 0: what is done to the result on the way */
  tt_dtype sums;                  /* (product) the type in which parts of the inner axis are summed */
  double up_bytes, down_bytes;    /* that move */
  double up_ns, work_ns, down_ns; /* predicted: operands once, the work, results once */
  double ns;                      /* predicted, all at once */
} tt_tiles;

/* ---- a step */

typedef enum tt_way {
  TT_WAY_WHOLE,
  TT_WAY_STREAM_KERNEL,  /* in pieces, by cut.kernel */
  TT_WAY_STREAM_LIBRARY, /* in tiles, by cut.tiles */
  TT_WAY_EPILOGUE,       /* a library call that does what follows it, too */
  TT_WAY_DONE            /* by an earlier step */
} tt_way;

/* MOVE: the bytes of a value are brought to where the step runs, before it does. They stay where they were as well. */
typedef struct tt_transfer {
  int32_t node;
  int8_t from, to; /* tt_where; TT_NOWHERE: from a device that the machine does not list */
} tt_transfer;

typedef struct tt_decision {
  int8_t where;    /* tt_where */
  uint8_t way;     /* tt_way */
  bool falls_back; /* to the host, though the rest of the plan is on a device */
  int nmove;
  const tt_transfer *move; /* of a step that runs whole; in pieces and tiles, what moves is part of the way */
  union {
    const tt_kernel_cut *kernel;
    const tt_tiles *tiles;
  } cut;
  tt_epilogue_match match; /* EPILOGUE */
} tt_decision;

/* Decisions for the steps of a plan, and memory for them. */
typedef struct tt_decisions {
  tt_decision *step; /* [plan->n]; NULL: none were made, every step runs whole where the evaluation does */
  tt_arena arena;
} tt_decisions;

TT_HIDDEN void tt__decisions_free(tt_decisions *d);

/* What is wrong with the decision for step `at`, or NULL. */
TT_HIDDEN const char *tt__decision_check(const tt_plan *p, const tt_decisions *d, int at);

/* The lines of a step that say how it runs; see decision.c. */
TT_HIDDEN void tt__decision_print(const tt_decision *d, tt_str *out);

/* A plan with the decisions for it, and back. */
TT_HIDDEN void tt__plan_print_placed(const tt_plan *p, const tt_decisions *d, tt_str *out);
/* The parser is total like tt__plan_parse. A plan without decisions gives none (`step` is NULL). The caller frees both,
 * the decisions first. */
TT_HIDDEN tt_code tt__plan_parse_placed(const char *text, tt_plan **out, tt_decisions *d, tt_error *err);

#endif
