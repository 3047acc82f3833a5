/*
** What the files of this folder share: the emitter's state and the text of one loop body.
**
** Names in rendered text, N an instruction, A an access:
**   pA buffer   sA lane step   oA offset at the outer point   rA offset at the row's line or point
**   vN value    xN (COL) values of a block of lanes
**   aN accumulators of a REDUCE, bN their indices (ARGMAX, ARGMIN)   fN, gN its result and index
**   zN (slow bodies) values of a block on their way to the next loop
**   l  lane in the operands     w  lane in blocks and accumulators   y line or point of the row
*/
#ifndef TT_RENDER_RENDER_INT_H
#define TT_RENDER_RENDER_INT_H

#include "render/render.h"

typedef struct tt_emit {
  const tt_kernel *k;
  const tt_dialect *d;
  tt_str *out;
  int indent;
  int lane_axis;     /* -1: the kernel has no axes */
  int nrow;          /* row axes */
  bool by_length;    /* rows are compiled for short ones, those of one chunk, and any; see render.c */
  bool parts;        /* CHUNK and FINISH are possible: one phase, with a reduction, nothing of the row stored */
  bool *uniform;     /* [ninst] the same for all lanes: computed before the lane loop */
  bool *kept;        /* [ninst] (COL) an outer value that another loop reads: it lives in a block array */
  bool *seen;        /* [ninst] already fetched from its block array by the body at hand */
  bool *crosses;     /* [ninst] computed in one stage of the region at hand, read in another */
  uint8_t *stage;    /* [ninst] of the region at hand */
  bool in_blocks;    /* the region at hand goes in blocks: halves are converted a block at a time */
  bool apart;        /* (ROW) reductions have a stage of their own, the last one */
  bool side_by_side; /* stores whose places are neighbours are written as such */
  const char *at;    /* number of the lane in stage arrays: "w", or "g + w" in groups of a block */
  bool near;         /* the stage at hand uses the short form of its op */
  bool speculates;   /* so does every op that has one, and the variable `far` tells of results that are not right */
  int ahead;         /* (COL) row points that the body at hand is ahead of the walk */
  bool tail;         /* lanes from `m` on load 0, and accumulators take the identity of them */
  bool beside;       /* (ROW) a lane for each element of rows beside each other: loads are of neighbours */
  bool across;       /* (COL) the row's points w of one lane are loaded side by side */
} tt_emit;

/*
** The loops of a kernel, below a function's head: those of the CPU, which a device's kernel is made of where a block's
** threads take turns on one core. `enter`: statements that say which part of the space they go through (tt_dialect).
*/
TT_HIDDEN void tt__emit_loops(tt_emit *e, const char *enter);

/* A part of the program that one loop runs. */
typedef struct tt_region {
  tt_scope scope;
  int phase;
} tt_region;

/* One indented line. */
TT_HIDDEN void tt__emit_line(tt_emit *e, const char *fmt, ...) TT_PRINTF(2, 3);
TT_HIDDEN void tt__emit_open(tt_emit *e, const char *fmt, ...) TT_PRINTF(2, 3); /* the line, " {", deeper */
TT_HIDDEN void tt__emit_block(tt_emit *e);                                      /* "{", deeper */
TT_HIDDEN void tt__emit_close(tt_emit *e);

/* Fill `uniform` and `kept`. */
TT_HIDDEN void tt__emit_classify(tt_emit *e);
/* Is instruction `i` part of region `r`? */
TT_HIDDEN bool tt__emit_in_region(const tt_emit *e, tt_region r, int i);
/* Does the region have anything left for its lane loop? */
TT_HIDDEN bool tt__emit_has_lanes(const tt_emit *e, tt_region r);
/* May the turns of the region's lane loop run in any order? */
TT_HIDDEN bool tt__emit_is_independent(const tt_emit *e, tt_region r);
/* Is access `a` walked by loads, stores or indices of scope ROW (in phase `phase`, or any when < 0)? */
TT_HIDDEN bool tt__emit_is_walked(const tt_emit *e, int a, int phase);
/* The element index of access `a` for an instruction of scope `scope`. */
TT_HIDDEN void tt__emit_index(const tt_emit *e, int a, uint8_t scope, char *out, size_t size);
/* Instruction `i`. */
TT_HIDDEN void tt__emit_inst(tt_emit *e, int i);
/* The uniform values of a region, before its lane loop. */
TT_HIDDEN void tt__emit_uniform(tt_emit *e, tt_region r);
/*
** Cut the rest of a region into stages, each a lane loop of its own, and return how many. A loop with two
** functions like exp is longer than what a processor looks ahead, so one waits for the other; two loops over a
** block in the first-level cache run at full width.
*/
TT_HIDDEN int tt__emit_split(tt_emit *e, tt_region r);
/* Is any of the region's lane work costly? */
TT_HIDDEN bool tt__emit_is_slow(const tt_emit *e, tt_region r);
/* The arrays between the stages of the last split, with `lanes` elements. */
TT_HIDDEN void tt__emit_stage_arrays(tt_emit *e, const char *lanes);
/* One stage of the last split, in its lane loop; a REDUCE updates accumulator w. */
TT_HIDDEN void tt__emit_stage(tt_emit *e, tt_region r, int stage);

/*
** The instruction of a stage whose op has a short form for arguments that are not far out, or -1. Such an op is
** alone in its stage: the block is looked at first, then goes without branches through the one form or the other.
*/
TT_HIDDEN int tt__emit_far(const tt_emit *e, tt_region r, int stage);
/* The instruction of a stage that one call makes for a whole block, or -1: draws at places that follow one another,
** and conversions from and to halves. */
TT_HIDDEN int tt__emit_run(const tt_emit *e, tt_region r, int stage);
/* Where the block's first lane is known: the call, for `count` lanes. */
TT_HIDDEN void tt__emit_run_call(tt_emit *e, int i, const char *count);
/* In a lane loop: `far` becomes true if the arguments of instruction `i` are. */
TT_HIDDEN void tt__emit_is_far(tt_emit *e, tt_region r, int i);

/* Has the instruction's op a short form on devices where lanes are threads? */
TT_HIDDEN bool tt__emit_has_near(const tt_kinst *q);

/*
** The access that has the places of draw `i`, one a lane, in a stream that all lanes share; -1: `i` is another
** instruction, or a draw that is made on its own. Neighbours of the former are made together (prelude.h).
*/
TT_HIDDEN int tt__draw_places(const tt_kernel *k, int i);
/* log2 of the draws of instruction `i` that a block has. */
TT_HIDDEN int tt__draw_shift(const tt_kinst *q);

/* "tt_f32". */
TT_HIDDEN const char *tt__type_word(int dtype);

/* ---- reductions */
#define TT_FOR_REDUCE(e, p, i)            \
  for (int i = 0; i < (e)->k->ninst; i++) \
    if ((e)->k->inst[i].op == TT_K_REDUCE && (e)->k->inst[i].phase == (p))

/* Has the phase a reduction? */
TT_HIDDEN bool tt__emit_reduces(const tt_emit *e, int phase);
/* Word of the prelude function that combines; for ARG* the helper that answers "b is strictly better than a". */
TT_HIDDEN const char *tt__red_word(uint8_t red);
TT_HIDDEN const char *tt__red_identity(uint8_t red, tt_dtype t);
/* Accumulator `acc` of REDUCE `i` takes `value`, row point `at`. */
TT_HIDDEN void tt__emit_accumulate(tt_emit *e, int i, const char *acc, const char *value, const char *at);
/* value `x`, index `xi` := combined with value `y`, index `yi`, in this order. */
TT_HIDDEN void tt__emit_combine(tt_emit *e, int i, const char *x, const char *xi, const char *y, const char *yi);
/*
** Rows of several chunks: dN, eN, the value of REDUCE `i`'s group under way; and partial c of `n`, a (with index b),
** taken into it, and a group that is whole into the row's fN, gN.
*/
TT_HIDDEN void tt__emit_open_group(tt_emit *e, int i, const char *index);
TT_HIDDEN void tt__emit_take_partial(tt_emit *e, int i, const char *a, const char *b, const char *n);
/* Are CHUNK and FINISH possible? */
TT_HIDDEN bool tt__kernel_splits(const tt_kernel *k);
/* TT_ENOTIMPL when `who` lacks (a bit for each type) a type of the kernel. */
TT_HIDDEN tt_code tt__check_types(const tt_kernel *k, uint32_t lacks, const char *who, tt_error *err);
/* TT_ENOTIMPL when the dialect lacks a type of the kernel. */
TT_HIDDEN tt_code tt__check_words(const tt_kernel *k, const tt_dialect *d, tt_error *err);

#endif
