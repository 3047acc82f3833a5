/*
** How a launch is cut into threads: which variant of the kernel, how many blocks, what memory between the
** passes. All that is proved about a launch (indices fit 32 bits, addresses are aligned) is proved here.
*/
#include "render/gpu/schedule.h"

#include <assert.h>
#include <string.h>

enum {
  COL_BLOCK = 128,
  MOST_REDS = 44,
  STATIC_REDS = 8,
  THREADS_UNIT = 2048,
};

/* ---- what is proved */

/* May some index, or a count of points, need more than 32 bits? */
static bool is_wide(const tt_cutter *c) {
  const int64_t most = (int64_t)1 << 30;
  int64_t points = 1;
  for (int x = 0; x < c->k->naxes; x++) {
    if (__builtin_mul_overflow(points, c->l->len[x], &points)) return true;
  }
  if (points >= most || c->x.parts >= most) return true;
  for (int a = 0; a < c->k->naccess; a++) {
    int64_t reach = c->l->off[a] < 0 ? -c->l->off[a] : c->l->off[a];
    for (int x = 0; x < c->k->naxes; x++) {
      int64_t step = c->l->step[a * c->k->naxes + x], move;
      if (__builtin_mul_overflow(c->l->len[x], step < 0 ? -step : step, &move)) return true;
      if (__builtin_add_overflow(reach, move, &reach)) return true;
    }
    if (reach >= 2 * most - (1 << 24)) return true;
  }
  return false;
}

int64_t tt__cut_points(const tt_cutter *c, int64_t by) {
  assert(by >= 1 && c->x.outer >= 0 && c->x.lanes >= 0);
  int64_t n = c->x.outer;
  if (__builtin_mul_overflow(n, c->x.lanes, &n) || __builtin_mul_overflow(n, by, &n)) return INT64_MAX;
  return n;
}

static void look(tt_cutter *c) {
  const tt_kernel *k = c->k;
  c->biggest = 1;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op < TT_OP_COUNT && tt__ops[q->op].flags & TT_OPF_SLOW) c->slow = true;
    int draw = tt__draw_places(k, i) < 0 ? 0 : (int)tt__dtype_size((tt_dtype)q->dtype);
    if (draw > c->draw) c->draw = draw;
    if ((q->op != TT_K_LOAD && q->op != TT_K_STORE) || q->scope != TT_SCOPE_ROW) continue;
    const tt_kaccess *acc = &k->access[q->slot];
    if (q->op == TT_K_LOAD && tt__threads_is_reload(k, i)) c->reloads = true;
    if (acc->buf < 0 || acc->lane == TT_LANE_NONE) continue;
    int size = (int)tt__dtype_size((tt_dtype)acc->dtype);
    if (q->op == TT_K_LOAD) c->loads++;
    for (int j = 0; j < i && q->op == TT_K_LOAD; j++)
      c->shares |=
          k->inst[j].op == TT_K_LOAD && k->inst[j].slot != q->slot && k->access[k->inst[j].slot].buf == acc->buf;
    if (size > c->biggest) c->biggest = size;
  }
}

bool tt__cut_shares_blocks(const tt_cutter *c, int vec) {
  const tt_kernel *k = c->k;
  int lane = tt__threads_lane_axis(k), n = 0;
  for (int i = 0; i < k->ninst && vec > 1; i++) {
    int a = tt__draw_places(k, i);
    if (a < 0) continue;
    if (c->l->off[a] % vec != 0 || vec % (1 << tt__draw_shift(&k->inst[i])) != 0) return false;
    for (int x = 0; x < k->naxes; x++)
      if (x != lane && c->l->len[x] > 1 && c->l->step[a * k->naxes + x] % vec != 0) return false;
    n++;
  }
  return n > 0;
}
int tt__cut_block_x(int64_t n, int most) {
  assert(most >= 1);
  int best = 1 << tt__log2_up(n);
  if (best <= most) return best;
  best = most;
  for (int x = most; x >= 32; x /= 2) {
    if (tt__turns(n, x) * x * 8 <= n * 9) return x;
    if (tt__turns(n, x) * x < tt__turns(n, best) * best) best = x;
  }
  return best;
}

bool tt__cut_is_aligned(const tt_cutter *c, int a, int vec) {
  assert(vec >= 1);
  assert(a >= 0 && a < c->k->naccess && c->k->access[a].buf >= 0);
  const tt_kaccess *acc = &c->k->access[a];
  int64_t size = (int64_t)tt__dtype_size((tt_dtype)acc->dtype), by = (int64_t)tt__vector_align(vec, (size_t)size);
  if ((int64_t)c->align[acc->buf] % by != 0 || c->l->off[a] * size % by != 0) return false;
  for (int x = 0; x < c->k->naxes; x++)
    if (x != tt__threads_lane_axis(c->k) && c->l->len[x] > 1 && c->l->step[a * c->k->naxes + x] * size % by != 0)
      return false;
  return true;
}

/* ---- rows */

/* The one access that a row's loop loads along its lane, and nothing else; -1: there is no such one. */
static int only_load(const tt_kernel *k) {
  int only = -1;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->scope != TT_SCOPE_ROW) continue;
    if (q->op == TT_K_LOADX || q->op == TT_K_STOREX || q->op == TT_K_STORE) return -1;
    if (q->op != TT_K_LOAD) continue;
    if (only >= 0 || k->access[q->slot].lane != TT_LANE_UNIT || k->access[q->slot].buf < 0) return -1;
    only = q->slot;
  }
  return only;
}

static size_t stage_bytes(const tt_cutter *c, const tt_variant *v) {
  size_t most = 0;
  if (v->raw) return tt__threads_stage_bytes(v, c->k->access[only_load(c->k)].dtype);
  for (int phase = 0; phase < c->k->nphase; phase++) {
    size_t size = 0;
    for (int i = 0; i < c->k->ninst; i++)
      if (c->k->inst[i].op == TT_K_REDUCE && c->k->inst[i].phase == phase &&
          (c->k->mode == TT_MODE_COL || tt__threads_needs_stage(&c->k->inst[i])))
        size += tt__threads_stage_bytes(v, c->k->inst[i].from);
    if (size > most) most = size;
  }
  return most;
}

/* Elements of a row (or chunk) that one thread may keep in registers. */
static int most_kept(const tt_cutter *c) {
  int kept = c->k->nscratch;
  for (int a = 0; a < c->k->naccess; a++) kept += tt__threads_is_kept(c->k, a);
  int words = c->biggest > 4 ? 2 : 1;
  return kept <= 1 ? 32 / words : kept == 2 ? 16 / words : 8 / words;
}

/* Threads for a row of `n` elements, `each` of them a thread at most, in steps of 64 if it is longer. */
static int row_group(const tt_cutter *c, int64_t n, int64_t items, int each) {
  if (c->t->warp == 1) return 0; /* threads that share a row read each other's registers */
  int most = n <= 32 ? tt__log2_up(n) : 6, group = most < 3 ? most : 3;
  while (group < most && (items << group < (int64_t)c->t->units * 1024 || tt__turns(n, 1 << group) > each)) group++;
  return group;
}

/* Lanes of a vector where a block has a row, if all that is dense is aligned for it. */
static int row_vector(const tt_cutter *c) {
  const tt_kernel *k = c->k;
  int widest = c->biggest > c->draw ? c->biggest : c->draw, vec = widest > 1 ? 16 / widest : 8, unit = 0;
  if (k->checked || c->reloads || c->x.lanes % vec != 0) return 1;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    bool moves = q->scope == TT_SCOPE_ROW && (q->op == TT_K_LOAD || q->op == TT_K_STORE);
    if (!moves || k->access[q->slot].buf < 0 || k->access[q->slot].lane != TT_LANE_UNIT) continue;
    if (!tt__cut_is_aligned(c, q->slot, vec)) return 1;
    unit++;
  }
  return unit || tt__cut_shares_blocks(c, vec) ? vec : 1;
}

/* Can all phases work on registers? Then choose for it. */
static bool keep_row(const tt_cutter *c, tt_variant *v) {
  const tt_kernel *k = c->k;
  int64_t lanes = c->x.lanes;
  if (k->nphase == 1 || k->naxes - k->nouter != 1 || k->checked || c->reloads) return false;
  int most = most_kept(c), aim = most < 16 ? most : 16;
  if (lanes > (c->t->warp == 1 ? 1 : 1024) * most || lanes > TT_CHUNK) return false;
  int group = row_group(c, lanes, c->x.outer, aim);
  if (lanes > 64 * aim && c->t->warp > 1) {
    group = 7;
    while (group < 10 && (lanes + (1 << group) - 1) >> group > aim) group++;
  }
  v->group = (uint8_t)group;
  v->kept = 1;
  v->staged = group > 6;
  v->vec = (uint8_t)(v->staged ? row_vector(c) : 1);
  v->unroll = (uint8_t)(1 << tt__log2_up(tt__turns(lanes, (int64_t)v->vec << group)));
  v->block = v->group;
  v->full = v->staged && lanes == (int64_t)tt__threads_each(v) << group;
  return !v->staged || (int64_t)stage_bytes(c, v) <= c->t->shared_block - 8192;
}

/* Narrow types, and draws: four neighbouring accumulators a thread. */
static bool takes_vectors(const tt_cutter *c, int64_t items) {
  const tt_kernel *k = c->k;
  int unit = tt__cut_shares_blocks(c, 4);
  if ((c->biggest > 2 && !unit) || k->checked || c->reloads || k->nscratch || items * 16 < (int64_t)c->t->units * 512)
    return false;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    bool moves = q->scope == TT_SCOPE_ROW && (q->op == TT_K_LOAD || q->op == TT_K_STORE);
    if (!moves || k->access[q->slot].lane != TT_LANE_UNIT) continue;
    if (!tt__cut_is_aligned(c, q->slot, 4)) return false;
    unit++;
  }
  return unit > 0;
}

/* Does the order of a reduction show in its result (gpu/row.c: is_free)? */
static bool in_order(const tt_kinst *q) {
  return tt__is_float((tt_dtype)q->from) && (q->red == TT_RED_SUM || q->red == TT_RED_PROD);
}

static bool any_order(const tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_REDUCE && in_order(&k->inst[i])) return false;
  return true;
}

/* Does one loop fold several sums or products of floats, each in the order of its 64 accumulators? */
static bool several_in_order(const tt_kernel *k) {
  for (int phase = 0; phase < k->nphase; phase++) {
    int n = 0;
    for (int i = 0; i < k->ninst; i++)
      n += k->inst[i].op == TT_K_REDUCE && k->inst[i].phase == phase && in_order(&k->inst[i]);
    if (n > 1) return true;
  }
  return false;
}

/* May a multiprocessor have as many staged blocks as it has threads for? */
static bool stages_fit(const tt_cutter *c, const tt_variant *v, int64_t items) {
  int64_t bytes = (int64_t)stage_bytes(c, v) + 1024,
          blocks = tt__at_most(tt__turns(items, c->t->units), THREADS_UNIT >> v->group);
  return bytes <= c->t->shared_block - 7168 && bytes * blocks <= c->t->shared_unit;
}

/* May one team compute what a whole block has loaded, without keeping it from loading? */
static bool is_raw(const tt_cutter *c) {
  int work = 0;
  for (int i = 0; i < c->k->ninst; i++) work += c->k->inst[i].scope == TT_SCOPE_ROW;
  return work <= 12 && !c->slow && c->biggest <= 4 && c->k->nphase == 1 && c->k->nscratch == 0 && !c->k->checked &&
         only_load(c->k) >= 0;
}

/* Threads that share a row (or chunk) of `n` elements when there are `items` of them. */
static void choose_group(const tt_cutter *c, tt_variant *v, int64_t items) {
  int64_t n = tt__at_most(c->x.lanes, TT_CHUNK);
  int most = c->k->checked || c->reloads ? 1 : c->slow ? (c->loads ? 4 : 2) : c->loads > 2 ? 8 : 16;
  v->kept = v->staged = v->full = v->raw = v->once = 0;
  v->vec = 1;
  v->group = (uint8_t)row_group(c, n, items, n <= 64 ? 8 : 256);
  if (c->t->warp == 1) { /* all accumulators are a thread's */
    v->unroll = (uint8_t)(1 << tt__log2_up(tt__at_most(n, TT_LANES)));
    v->once = c->k->naxes - c->k->nouter > 1 && n <= v->unroll;
    return;
  }
  bool free = n >= 2048 && any_order(c->k) && c->k->naxes - c->k->nouter == 1;
  if (!free && n >= 256 && takes_vectors(c, items)) {
    v->vec = 4;
    v->group = 4;
    v->unroll = (uint8_t)tt__at_most(1 << tt__log2_up(tt__turns(n, 64)), most / 2);
    if (v->unroll == 0) v->unroll = 1;
    return;
  }
  bool few = items * 64 < (int64_t)c->t->units * 512;
  /* More bytes on their way than 64 threads have. Teams that wait for each other cost more than that brings: several
   * sums of little work are one team's. */
  bool long_ones = n >= 16384 && items < (int64_t)c->t->units * 24, several = several_in_order(c->k);
  bool raw = long_ones && several && !few && is_raw(c);
  if ((n > 1024 && few) || free || (long_ones && !several) || raw) {
    v->staged = 1;
    v->raw = raw;
    v->group = few ? 10 : 8;
    while (v->group > 8 && n < 4 << v->group) v->group--;
    v->vec = (uint8_t)row_vector(c);
  }
  /* Several blocks of draws between two barriers, as many as registers hold. */
  if (!c->loads && tt__cut_shares_blocks(c, v->vec)) most = c->draw == 4 ? 16 : 4;
  v->block = v->group;
  v->unroll = (uint8_t)tt__at_most(1 << tt__log2_up(tt__turns(n, (int64_t)v->vec << v->group)),
                                   most / v->vec > 0 ? most / v->vec : 1);
  /* Accumulators beyond 64 would be of another order: all of them are a thread's, or a thread's share of the 64. */
  while (!v->staged && (v->unroll << v->group) < tt__at_most(n, TT_LANES)) v->group++;
  while (v->staged && v->unroll > 1 && !stages_fit(c, v, items)) v->unroll /= 2;
  v->once = !v->staged && c->k->naxes - c->k->nouter > 1 && n <= (int64_t)v->unroll << v->group;
  if (v->staged && (int64_t)stage_bytes(c, v) > c->t->shared_block - 8192) {
    v->staged = v->raw = 0;
    v->vec = 1;
    v->group = 6;
  }
}

/*
** As many blocks as there is room for at once, with as many chunks each. Else the last ones that come leave units idle:
** 1,526 blocks where 1,056 have room took 97 us, half as many 92 (sums of 1e8 floats on an H200).
*/
static int64_t even(int64_t items, int64_t room) {
  enum { FEW = 4 }; /* turns; more than these come out even as they are */
  int64_t turns = tt__turns(items, room < 1 ? 1 : room);
  return turns <= FEW ? tt__turns(items, turns) : items;
}

static void set_row_grid(const tt_cutter *c, tt_pass *p, int64_t items) {
  tt_variant *v = &p->variant;
  v->block = v->staged ? v->group : c->k->nred > STATIC_REDS || v->part == TT_PART_CHUNK ? 6 : 8;
  if (v->block < v->group) v->block = v->group;
  int64_t blocks = tt__turns(items, v->staged ? 1 : (int64_t)1 << (v->block - v->group));
  bool scratch = c->k->nscratch > 0 && !v->kept;
  if (v->staged && v->part == TT_PART_CHUNK) blocks = even(blocks, c->t->units * tt__threads_resident(c->k, v));
  p->grid.block[0] = 1u << v->block;
  p->grid.block[1] = 1;
  p->grid.grid[0] =
      (uint32_t)tt__at_most(blocks, scratch ? (int64_t)c->t->units * 4 : tt__at_most(c->t->grid_max[0], 1 << 30));
  p->grid.grid[1] = 1;
  p->grid.shared = v->staged ? (uint32_t)stage_bytes(c, v) : 0;
}

/* Shared memory that a partial of each reduction takes. */
static int64_t partial_bytes(const tt_kernel *k) {
  int64_t bytes = 0;
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_REDUCE)
      bytes += (int64_t)tt__dtype_size((tt_dtype)k->inst[i].from) + (tt__red_is_arg(k->inst[i].red) ? 8 : 0);
  return bytes;
}

static void set_finish(const tt_cutter *c, tt_pass *p) {
  tt_variant *v = &p->variant;
  v->part = TT_PART_FINISH;
  v->vec = v->unroll = 1;
  v->block = c->k->nred > STATIC_REDS || c->x.chunks <= 32 ? 5 : 8;
  while (v->unroll << v->block < tt__at_most(c->x.chunks, TT_GROUP)) v->unroll *= 2; /* whole groups */
  while (v->unroll < 8 && c->x.chunks > (int64_t)v->unroll << v->block &&
         partial_bytes(c->k) * v->unroll << v->block <= 16384)
    v->unroll *= 2;
  p->grid.block[0] = 1u << v->block;
  p->grid.block[1] = p->grid.grid[1] = 1;
  p->grid.grid[0] = (uint32_t)tt__at_most(c->x.outer, tt__at_most(c->t->grid_max[0], 1 << 30));
}

static void cut_row(tt_cutter *c, tt_cut *out) {
  tt_pass *p = &out->pass[0];
  const tt_kernel *k = c->k;
  bool parts = tt__kernel_splits(k) && c->x.chunks > 1 && c->x.outer * 64 < (int64_t)c->t->units * 1024;
  int64_t items = parts ? c->x.parts : c->x.outer;
  p->variant.part = parts ? TT_PART_CHUNK : TT_PART_WHOLE;
  if (!keep_row(c, &p->variant)) choose_group(c, &p->variant, items);
  p->variant.drawn = tt__cut_shares_blocks(c, p->variant.vec);
  set_row_grid(c, p, items);
  if (parts) {
    set_finish(c, &out->pass[out->npass++]);
    out->work_bytes = 16 * (size_t)k->nred * (size_t)c->x.parts;
  } else if (k->nscratch && !p->variant.kept) {
    size_t rows = (size_t)p->grid.grid[0] << (p->variant.block - p->variant.group);
    out->work_bytes = rows * (size_t)k->nscratch * (size_t)(c->x.points * c->x.lanes) * 8;
  }
}

/* ---- columns */

static void set_col_grid(const tt_cutter *c, tt_pass *p, int64_t items) {
  int x = tt__cut_block_x(c->x.lanes, COL_BLOCK), y = COL_BLOCK / x;
  y = (int)tt__at_most(y, (int64_t)1 << tt__log2_up(items));
  p->variant.vec = 1;
  p->grid.block[0] = (uint32_t)x;
  p->grid.block[1] = (uint32_t)y;
  p->grid.grid[0] = (uint32_t)tt__turns(c->x.lanes, x);
  p->grid.grid[1] = (uint32_t)tt__at_most(tt__turns(items, y), tt__at_most(c->t->grid_max[1], 65535));
}

static void set_staged_col_grid(const tt_cutter *c, tt_pass *p, int64_t items) {
  const tt_variant *v = &p->variant;
  p->grid.block[0] = 1u << v->block;
  p->grid.block[1] = 1;
  p->grid.grid[0] = (uint32_t)tt__turns(c->x.lanes, 1 << v->group);
  p->grid.grid[1] = (uint32_t)tt__at_most(items, tt__at_most(c->t->grid_max[1], 65535));
  p->grid.shared = (uint32_t)stage_bytes(c, v);
}

static bool finds_places(const tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_REDUCE && tt__red_is_arg(k->inst[i].red)) return true;
  return false;
}

/* May a block that computes many row points at a time hold its lanes from phase to phase? */
static bool stages_phases(const tt_cutter *c) {
  return c->k->nred > 0 && !finds_places(c->k) && !c->k->checked && !c->reloads;
}

/* A block has neighbouring lanes, and many rows of them at a time, as many as `room` holds. False: it holds none. */
static bool stage_lanes(const tt_cutter *c, tt_variant *v, int unroll, int64_t room) {
  v->staged = 1;
  v->vec = 1;
  v->block = 8;
  v->group = (uint8_t)tt__at_most(5, tt__log2_up(c->x.lanes));
  v->unroll = (uint8_t)unroll;
  while (v->unroll > 1 && (int64_t)stage_bytes(c, v) > room) v->unroll /= 2;
  return (int64_t)stage_bytes(c, v) <= room;
}

/* Few lanes: blocks of row points instead of threads that each walk a column. */
static bool stage_col(const tt_cutter *c, tt_pass *p, bool splits) {
  tt_variant *v = &p->variant;
  int64_t items = splits ? c->x.outer * c->x.chunks : c->x.outer;
  if (c->x.points < 256 || items * c->x.lanes >= (int64_t)c->t->units * 512) return false;
  if (!splits && !stages_phases(c)) return false;
  if (!stage_lanes(c, v, c->k->checked || c->loads > 2 || c->slow ? 4 : 16, c->t->shared_block - 1024)) return false;
  set_staged_col_grid(c, p, items);
  return true;
}

/* Few partials are a thread's; many of them a block fetches ahead of the one that folds. */
static void finish_col(const tt_cutter *c, tt_pass *p) {
  tt_variant *v = &p->variant;
  bool many = c->x.chunks >= TT_GROUP && !finds_places(c->k) && stage_lanes(c, v, 16, 16384);
  if (many) {
    set_staged_col_grid(c, p, c->x.outer);
  } else {
    *v = (tt_variant){.unroll = 1};
    set_col_grid(c, p, c->x.outer);
  }
  v->part = TT_PART_FINISH;
}

static void cut_col(tt_cutter *c, tt_cut *out) {
  tt_pass *p = &out->pass[0];
  bool splits = tt__kernel_splits(c->k);
  bool parts = splits && c->x.chunks > 1 && c->x.outer * c->x.lanes < (int64_t)c->t->units * 2048;
  if (stage_col(c, p, splits)) {
    parts = splits;
  } else {
    p->variant = (tt_variant){0};
    int unroll = c->k->checked || c->reloads ? 1 : c->loads > 2 || c->slow ? 4 : 16;
    p->variant.unroll = (uint8_t)tt__at_most(unroll, (int64_t)1 << tt__log2_up(c->l->len[c->k->naxes - 1]));
    set_col_grid(c, p, parts ? c->x.outer * c->x.chunks : c->x.outer);
  }
  p->variant.part = parts ? TT_PART_CHUNK : TT_PART_WHOLE;
  if (!parts) return;
  finish_col(c, &out->pass[out->npass++]);
  out->work_bytes = 16 * (size_t)c->k->nred * (size_t)c->x.parts;
}

static tt_code cut_threads(tt_cutter *c, bool wide, tt_cut *out, tt_error *err) {
  const tt_kernel *k = c->k;
  if (k->serial && k->mode != TT_MODE_MAP) return tt__fail(err, TT_ENOTIMPL, "a kernel that reduces and scatters");
  if (k->serial) return tt__cut_scatter(c, wide, out, err);
  if (k->mode == TT_MODE_MAP)
    tt__cut_map(c, &out->pass[0]);
  else if (k->mode == TT_MODE_ROW)
    cut_row(c, out);
  else
    cut_col(c, out);
  return TT_OK;
}

tt_code tt__gpu_schedule(const tt_kernel *k, const tt_lowered *l, const tt_target *t, const size_t *align,
                         const int64_t *buf_len, tt_cut *out, tt_error *err) {
  assert(k->nouter <= k->naxes && (align || k->nbuf == 0));
  tt_cutter c = {.k = k, .l = l, .t = t, .align = align, .buf_len = buf_len};
  if (k->nred > MOST_REDS) return tt__fail(err, TT_ENOTIMPL, "%d reductions in one kernel", k->nred);
  TT_TRY(tt__check_types(k, t->lacks, "this device", err));
  memset(out, 0, sizeof *out);
  tt__threads_extent(k, l->len, &c.x);
  look(&c);
  out->npass = 1;
  bool wide = is_wide(&c) || (k->serial && tt__cut_points(&c, k->ninst) >= (int64_t)1 << 31);
  bool far = (int64_t)tt__threads_args_size(k) > t->param_bytes;
  if (far && t->handles) return tt__fail(err, TT_ENOTIMPL, "too many arguments for a launch");
  if (k->serial && wide && t->narrow_atomics && !t->serial)
    return tt__fail(err, TT_ENOTIMPL, "so many elements at places take atomic operations of 64 bits");
  if (t->serial)
    tt__cut_loops(&c, out);
  else
    TT_TRY(cut_threads(&c, wide, out, err));
  for (int i = 0; i < out->npass; i++) {
    tt_pass *p = &out->pass[i];
    p->variant.wide = wide && !t->serial;
    p->variant.far = far;
    p->part = p->variant.part;
    p->grid.block[2] = 1;
    if (!t->serial) p->grid.grid[2] = 1;
    p->grid.pointers = far ? 1 : tt__threads_addresses(k);
  }
  return TT_OK;
}
