/*
** What the files that write thread kernels share: the numbers that a launch binds, and the text of
** what one thread does with its lanes. Names in rendered text, beside those of render_int.h:
**   j  first lane of a thread    u  number of a lane among the thread's own    l  the lane
**   t  thread among those of its row    to  end of the lanes
**   cA address of access A's element at lane j
**   LA loaded elements of access A      SA elements to be stored       mN row values of scratch N   DN draws
**   saN siN sqN (shared) accumulators on their way, their indices, results of REDUCE N   zN (shared) staged values
**   ZN values to be staged
**   hN kN partials of REDUCE N in memory, and their indices
*/
#ifndef TT_RENDER_GPU_THREADS_INT_H
#define TT_RENDER_GPU_THREADS_INT_H

#include "render/render_int.h"
#include "render/gpu/threads.h"

/* What follows from a launch's axis lengths. */
typedef struct tt_extent {
  int64_t outer;  /* points of the outer axes (MAP, COL: without the lane) */
  int64_t lanes;  /* length of the lane axis, 1 without axes */
  int64_t points; /* ROW: lines of a row; COL: points of a row */
  int64_t per;    /* ROW: lines of a chunk; COL: points of a chunk */
  int64_t chunks; /* of a row */
  int64_t parts;  /* partials of a reduction */
} tt_extent;

TT_HIDDEN int tt__threads_lane_axis(const tt_kernel *k);
/*
** Maps whose threads take lanes one by one begin that many lanes before the first, so that stores (and loads beside
** them) fill whole lines of the cache, where all rows lie alike.
*/
TT_HIDDEN int64_t tt__threads_shift(const tt_kernel *k, const tt_lowered *l);
TT_HIDDEN void tt__threads_extent(const tt_kernel *k, const int64_t *len, tt_extent *out);
/* Is the access's buffer stored to by an instruction before LOAD `i` in the same loop? */
TT_HIDDEN bool tt__threads_is_reload(const tt_kernel *k, int i);
/* May the elements of access `a` stay in registers from the first phase that loads them to the last? */
TT_HIDDEN bool tt__threads_is_kept(const tt_kernel *k, int a);

typedef struct tt_thread_emit {
  tt_emit e;
  const tt_variant *v;
  const char *name;   /* of the function */
  bool *loaded;       /* [naccess] kept elements that an earlier phase has loaded */
  bool ordered;       /* a phase is done again for the sign of its zeros, by the letter of the arithmetic */
  const char *stride; /* lanes (or vectors of lanes) between two vectors of a thread */
} tt_thread_emit;

/* How a loop folds the value of REDUCE `i`. */
typedef void (*tt_fold_fn)(tt_thread_emit *t, int i);

/* Blocks of the kernel that a unit has room for at once; that many the compiler sees to. */
TT_HIDDEN int tt__threads_resident(const tt_kernel *k, const tt_variant *v);

/* "vec" lanes a thread, "unroll" times. */
static inline int tt__threads_each(const tt_variant *v) { return v->vec * v->unroll; }

/* Might the values of a REDUCE be staged by a block that has a row? Not where any order gives the same bits. */
static inline bool tt__threads_needs_stage(const tt_kinst *q) {
  return tt__is_float((tt_dtype)q->from) && !tt__red_is_arg(q->red);
}

/* Shared memory of the values of one staged reduction, each of 16-byte multiples. */
static inline size_t tt__threads_stage_bytes(const tt_variant *v, uint8_t type) {
  size_t n = ((size_t)1 << v->block) * (size_t)tt__threads_each(v);
  return (n * tt__dtype_size((tt_dtype)type) + 15) / 16 * 16;
}

TT_HIDDEN void tt__threads_decode(tt_emit *e, char c, int first, int count, const char *flat);
/* Offsets of accesses at the point of walk `c`, of those that phase `phase` walks (all when < 0). */
TT_HIDDEN void tt__threads_place(tt_emit *e, char c, int first, int count, int phase);
/* Lanes j ... of a thread up to `to`: loads first, then all the instructions of the region, then stores. `fold` is NULL
** where nothing is reduced. */
TT_HIDDEN void tt__threads_lanes(tt_thread_emit *t, tt_region r, tt_fold_fn fold);
/* cA: in maps, the address of the thread's first lane, where its others are at constant distances from there. */
TT_HIDDEN void tt__threads_point(tt_thread_emit *t);
/* Arrays that keep a row's loaded elements and scratches in registers. */
TT_HIDDEN void tt__threads_keep(tt_thread_emit *t);
/* Instruction `i` for a thread's lane l, stores to one place by the last lane only. */
TT_HIDDEN void tt__threads_inst(tt_thread_emit *t, int i);
/* OUTER instructions of a phase: all threads compute them, that for which `leader` holds stores (NULL: none does). */
TT_HIDDEN void tt__threads_outer(tt_thread_emit *t, int phase, const char *leader);
/* All instructions of a region, in order. */
TT_HIDDEN void tt__threads_region(tt_thread_emit *t, tt_region r);

/* hN, kN: the partials of reductions in work memory. */
TT_HIDDEN void tt__threads_partials(tt_emit *e);
/* aN, bN: `n` accumulators of each reduction of the phase, at the identity. */
TT_HIDDEN void tt__threads_accumulators(tt_emit *e, int phase, int n);
/* fN, gN: what the chunks of a row come to; and chunk c's aN[0], bN[0] put in. */
TT_HIDDEN void tt__threads_folded(tt_emit *e, int phase);
TT_HIDDEN void tt__threads_fold_in(tt_emit *e, int phase);

/* Is REDUCE `i` the largest or smallest of floats, taken in any order, so that the sign of a zero is not yet known? */
TT_HIDDEN bool tt__row_is_signed(const tt_thread_emit *t, int i);
/* Opens what is done again, in order, if the value NAME%dAT of such a REDUCE is zero; false when there is none. */
TT_HIDDEN bool tt__row_open_again(tt_thread_emit *t, int phase, const char *name, const char *at);
/* The values of what was done again, which shared memory has. */
TT_HIDDEN void tt__row_close_again(tt_thread_emit *t, int phase);
/* The thread that stores what all of a row compute. */
#define TT_ROW_LEADER "live && t == 0"

TT_HIDDEN void tt__threads_map(tt_thread_emit *t);
TT_HIDDEN void tt__threads_main_loop(tt_thread_emit *t);
TT_HIDDEN void tt__threads_row(tt_thread_emit *t);
TT_HIDDEN void tt__threads_row_finish(tt_thread_emit *t);
TT_HIDDEN void tt__threads_col(tt_thread_emit *t);

#endif
