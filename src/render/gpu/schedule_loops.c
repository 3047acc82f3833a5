/*
** How a launch is cut where a block's threads take turns on one core: a block is one thread, which goes through its
** share of the space by the CPU's loops. Shares are even; a block's number says which is its own.
*/
#include "render/gpu/schedule.h"

enum {
  SHARE_WORK = 65536, /* points times instructions of a share, about: to begin one is no small part of less */
  SHARES = 16,        /* of a core, at most: so many come out even */
  SHARE_LANES = 1024, /* of a column's share: rows are walked in runs of these */
  CROSS_OUTER = 64,   /* of a transpose's share, whose lines stay in a first-level cache */
  CROSS_LANES = 16,
};

/* Does some operand lie across the lanes, but along the axis before them (a transpose)? */
static bool goes_across(const tt_cutter *c) {
  const tt_kernel *k = c->k;
  if (k->mode != TT_MODE_MAP || k->naxes < 2) return false;
  for (int a = 0; a < k->naccess; a++) {
    const int64_t *step = c->l->step + a * k->naxes;
    int64_t before = step[k->naxes - 2] < 0 ? -step[k->naxes - 2] : step[k->naxes - 2];
    int64_t lane = step[k->naxes - 1] < 0 ? -step[k->naxes - 1] : step[k->naxes - 1];
    if (k->access[a].buf >= 0 && before > 0 && before < lane) return true;
  }
  return false;
}

/* Shares that the launch is worth. */
static int64_t wanted_shares(const tt_cutter *c) {
  int64_t work = tt__cut_points(c, c->k->ninst + 1), most = (int64_t)c->t->units * SHARES;
  if (work != INT64_MAX && __builtin_mul_overflow(work, c->x.points, &work)) work = INT64_MAX;
  return c->k->serial ? 1 : tt__at_most(work / SHARE_WORK + 1, most);
}

static void set_shares(const tt_cutter *c, tt_pass *p, tt_part part, int64_t x, int64_t y, int64_t z) {
  p->variant = (tt_variant){.vec = 1, .unroll = 1, .loops = 1, .part = (uint8_t)part};
  p->grid.block[0] = p->grid.block[1] = 1;
  p->grid.grid[0] = (uint32_t)tt__at_most(x, c->t->grid_max[0]);
  p->grid.grid[1] = (uint32_t)tt__at_most(y, c->t->grid_max[1]);
  p->grid.grid[2] = (uint32_t)tt__at_most(z, c->t->grid_max[2]);
}

static void cut_map_loops(const tt_cutter *c, tt_pass *p) {
  int64_t outer = c->x.outer, lanes = c->x.lanes, want = wanted_shares(c);
  if (goes_across(c) && want > 1)
    set_shares(c, p, TT_PART_WHOLE, tt__turns(lanes, CROSS_LANES), tt__turns(outer, CROSS_OUTER), 1);
  else
    set_shares(c, p, TT_PART_WHOLE, tt__at_most(tt__turns(want, outer), tt__turns(lanes, SHARE_LANES)),
               tt__at_most(outer, want), 1);
}

void tt__cut_loops(const tt_cutter *c, tt_cut *out) {
  const tt_kernel *k = c->k;
  int64_t outer = c->x.outer, want = wanted_shares(c), few = 4 * (int64_t)c->t->units;
  tt_pass *p = &out->pass[0];
  if (k->mode == TT_MODE_MAP) {
    cut_map_loops(c, p);
    return;
  }
  int64_t x = k->mode == TT_MODE_COL ? tt__at_most(tt__turns(c->x.lanes, SHARE_LANES), want) : 1;
  int64_t y = tt__at_most(outer, tt__turns(want, x));
  if (tt__kernel_splits(k) && !k->serial && c->x.chunks > 1 && x * y < few && x * y < want) {
    set_shares(c, p, TT_PART_CHUNK, x, y, tt__at_most(c->x.chunks, tt__turns(want, x * y)));
    set_shares(c, &out->pass[out->npass++], TT_PART_FINISH, x, y, 1);
    out->work_bytes = 16 * (size_t)k->nred * (size_t)c->x.parts;
    return;
  }
  set_shares(c, p, TT_PART_WHOLE, x, y, 1);
  out->work_bytes = (size_t)y * (size_t)k->nscratch * (size_t)(c->x.points * c->x.lanes) * 8;
}
