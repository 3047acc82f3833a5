/*
** What the files that write the CPU's loops share.
*/
#ifndef TT_RENDER_CPU_LOOPS_INT_H
#define TT_RENDER_CPU_LOOPS_INT_H

#include "render/render_int.h"

/* A walk: an index over some axes, and the offset of each access there. */
typedef struct tt_loop_walk {
  char name;        /* 'o' outer points, 'r' points or lines of a row */
  int first, count; /* axes */
  int phase;        /* of the accesses; -1: all */
} tt_loop_walk;

/* Declare the walk at flat index `from`. */
TT_HIDDEN void tt__emit_open_walk(tt_emit *e, const tt_loop_walk *w, const char *from);
/* `by` steps along the last axis: an addition an access. */
TT_HIDDEN void tt__emit_step_walk(tt_emit *e, const tt_loop_walk *w, int by);
/* A fresh start where the last axis, counted up by `count`, has come to its end. */
TT_HIDDEN void tt__emit_wrap_walk(tt_emit *e, const tt_loop_walk *w, const char *count);
/* Both: on to the next point. */
TT_HIDDEN void tt__emit_next_walk(tt_emit *e, const tt_loop_walk *w);

/* The lanes of a block, and which lane of the kernel each is. */
#define TT_BLOCK_LOOP "for (tt_i64 w = 0; w < m; w++)"
#define TT_BLOCK_LANE "const tt_i64 l = l0 + w;"
#define TT_STAGE_LANES 256 /* of a block whose stages hand values on in arrays */

/* One stage in a loop; `lane`: a line that says which lane a turn is, or "". */
TT_HIDDEN void tt__emit_stage_loop(tt_emit *e, tt_region r, int stage, const char *loop, const char *lane);
/* The first `count` stages, each with its loop over w. */
TT_HIDDEN void tt__emit_stages(tt_emit *e, tt_region r, int count, const char *loop, const char *lane);
/* All stages over a block of at most `lanes`. */
TT_HIDDEN void tt__emit_block_loops(tt_emit *e, tt_region r, const char *loop, const char *lane, const char *lanes);
/* All lanes of [from, to). */
TT_HIDDEN void tt__emit_lane_loops(tt_emit *e, tt_region r, const char *from, const char *to);

/* Accumulators of a chunk, `lanes` of them, the first `count` at the identity. */
TT_HIDDEN void tt__emit_accumulators(tt_emit *e, int phase, const char *lanes, const char *count);
/* The 64 accumulators of a group of lanes become one, in element 0. */
TT_HIDDEN void tt__emit_fold(tt_emit *e, int phase);
/* Fetch what the next line has where memory is read for the first time: `most` lanes from the one that `lane` says. */
TT_HIDDEN void tt__emit_ahead(tt_emit *e, tt_region r, const char *lane, const char *most);
/* Are rows that lie beside each other folded so, and the code for it: `beside` says whether, qN has the values then. */
TT_HIDDEN bool tt__emit_has_beside(const tt_emit *e);
TT_HIDDEN void tt__emit_beside(tt_emit *e);
TT_HIDDEN void tt__emit_partial_pointers(tt_emit *e);
/* The chunks [c0, c1) of this call. */
TT_HIDDEN void tt__emit_chunk_bounds(tt_emit *e);

/* The loops of the mode: loops_row.c, loops_col.c. */
TT_HIDDEN void tt__emit_row(tt_emit *e);
TT_HIDDEN void tt__emit_col(tt_emit *e);

#endif
