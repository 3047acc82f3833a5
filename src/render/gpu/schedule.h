/*
** What the files that cut a launch share: what is known of it, and sizes in whole turns.
*/
#ifndef TT_RENDER_GPU_SCHEDULE_H
#define TT_RENDER_GPU_SCHEDULE_H

#include "render/gpu/threads_int.h"

typedef struct tt_cutter {
  const tt_kernel *k;
  const tt_lowered *l;
  const tt_target *t;
  const size_t *align;
  const int64_t *buf_len;
  tt_extent x;
  int loads;    /* accesses loaded in a row's loop that move along the lane */
  int biggest;  /* bytes of the widest element among them and the stored ones */
  int draw;     /* bytes of the widest draw, 0 without */
  bool slow;    /* costly functions: registers are dear */
  bool shares;  /* loads walk one buffer (a stencil): blocks of many outer points find its lines in their cache */
  bool reloads; /* something is read that the same loop has just written */
} tt_cutter;

static inline int64_t tt__at_most(int64_t x, int64_t most) { return x < most ? x : most; }
static inline int64_t tt__turns(int64_t x, int64_t by) { return (x + by - 1) / by; }

static inline int tt__log2_up(int64_t x) {
  int n = 0;
  while (((int64_t)1 << n) < x) n++;
  return n;
}

/* Points of the launch, `by` times; a large number when that is beyond 64 bits. */
TT_HIDDEN int64_t tt__cut_points(const tt_cutter *c, int64_t by);
/* Is every vector of `vec` lanes of access `a` that starts at a multiple of `vec` aligned in memory? */
TT_HIDDEN bool tt__cut_is_aligned(const tt_cutter *c, int a, int vec);
/* Are the draws of each vector's lanes whole blocks of them? False too where nothing is drawn. */
TT_HIDDEN bool tt__cut_shares_blocks(const tt_cutter *c, int vec);
/* Threads of a block along x for `n` of them: little of the last block lies beyond the end. */
TT_HIDDEN int tt__cut_block_x(int64_t n, int most);

TT_HIDDEN void tt__cut_map(tt_cutter *c, tt_pass *p);
TT_HIDDEN void tt__cut_loops(const tt_cutter *c, tt_cut *out);
TT_HIDDEN tt_code tt__cut_scatter(tt_cutter *c, bool wide, tt_cut *out, tt_error *err);

#endif
