/*
** How a step is cut into tiles; see cut_library.h. Arithmetic on lengths: it knows no device.
**
** Turns go through the tiles with the inner axis fastest. A side keeps the parts that it has slots for, so it is loaded
** again for each point of every axis outside of the innermost one that it is cut along, unless all its parts have
** slots. Everything else follows from that: a panel that stays, a smaller operand that stays whole, or a large tile of
** the result with thin slices of the operands passing by.
*/
#include "sched/cut_library.h"

#include <assert.h>

enum { MOST_COUNTS = 40, MOST_TURNS = 1 << 16, ALIGNED = 256, ROUND = 32, PASSING = 2 /* slots of what passes by */ };
/* A product of so many rows, columns, and sums reaches half of the device's rate. */
static const double HALF_SIDE = 48, HALF_DEEP = 96;

int64_t tt__tiles_turns(const tt_tiles *t) {
  int64_t n = t->loops;
  for (int k = 0; k < TT_TILE_AXES; k++) n *= t->count[k];
  return n;
}

/* Axes from the innermost to the outermost. */
static void order_of(const tt_tiles *t, int order[TT_TILE_AXES]) {
  order[0] = TT_TILE_DEEP;
  order[1] = t->cols_outside ? TT_TILE_ROWS : TT_TILE_COLS;
  order[2] = t->cols_outside ? TT_TILE_COLS : TT_TILE_ROWS;
  order[3] = TT_TILE_BATCH;
}

void tt__tiles_turn(const tt_tiles *t, int64_t turn, int64_t at[TT_TILE_AXES], int64_t loop[TT_MAX_RANK]) {
  assert(turn >= 0 && turn < tt__tiles_turns(t));
  int order[TT_TILE_AXES];
  order_of(t, order);
  for (int k = 0; k < TT_TILE_AXES; k++) {
    at[order[k]] = turn % t->count[order[k]];
    turn /= t->count[order[k]];
  }
  for (int k = t->nloop - 1; k >= 0; k--) {
    loop[k] = turn % t->loop_len[k];
    turn /= t->loop_len[k];
  }
}

tt_tile_part tt__tiles_part(const tt_tiles *t, const tt_tile_side *s, const int64_t at[TT_TILE_AXES],
                            const int64_t loop[TT_MAX_RANK]) {
  for (int k = 0; k < TT_TILE_AXES; k++) assert(at[k] >= 0 && at[k] < t->count[k]);
  tt_tile_part p = {.off = s->off};
  for (int k = 0; k < t->nloop; k++) p.off += loop[k] * s->loop_step[k];
  for (int k = 0; k < TT_TILE_LEVELS; k++) {
    int axis = s->axis[k];
    p.len[k] = s->len[k];
    if (axis < 0 || s->step[k] == 0) continue;
    int64_t lo = at[axis] * t->tile[axis];
    p.off += lo * s->step[k];
    p.len[k] = t->len[axis] - lo < t->tile[axis] ? t->len[axis] - lo : t->tile[axis];
  }
  return p;
}

/* Bytes of a full part. */
static double part_bytes(const tt_tiles *t, const tt_tile_side *s) {
  double n = (double)s->size;
  for (int k = 0; k < TT_TILE_LEVELS; k++)
    n *= (double)(s->axis[k] >= 0 && s->step[k] != 0 ? t->tile[s->axis[k]] : s->len[k]);
  return n;
}

static bool is_along(const tt_tile_side *s, int axis) {
  for (int k = 0; k < TT_TILE_LEVELS; k++)
    if (s->axis[k] == axis && s->step[k] != 0) return true;
  return false;
}

/* Its parts, and how often one is loaded when few of them have a slot. */
static void loads_of(const tt_tiles *t, const tt_tile_side *s, int64_t *parts, int64_t *loads) {
  int order[TT_TILE_AXES];
  bool varies = false;
  order_of(t, order);
  *parts = *loads = 1;
  for (int k = 0; k < TT_TILE_AXES; k++) {
    int64_t n = t->count[order[k]];
    bool along = is_along(s, order[k]);
    varies |= along && n > 1;
    *parts *= along ? n : 1;
    *loads *= varies ? n : 1;
  }
  for (int k = t->nloop - 1; k >= 0; k--) {
    bool along = s->loop_step[k] != 0;
    varies |= along && t->loop_len[k] > 1;
    *parts *= along ? t->loop_len[k] : 1;
    *loads *= varies ? t->loop_len[k] : 1;
  }
}

/* What the tiles take, with the sides of `stays` (bits) there whole; below 0: they have no room. */
static double predict(tt_tiles *t, const tt_tile_costs *c, unsigned stays) {
  double memory = 0, up = 0, down = 0, first = 0, last = 0;
  for (int i = 0; i < t->nside; i++) {
    tt_tile_side *s = &t->side[i];
    int64_t parts, loads;
    double bytes = part_bytes(t, s);
    loads_of(t, s, &parts, &loads);
    bool is_result = i == t->nside - 1, whole = (stays >> i & 1) || parts <= PASSING;
    s->slots = whole ? parts : PASSING;
    if (s->there) continue;
    memory += (double)s->slots * (bytes + ALIGNED);
    if (is_result) {
      down = (double)parts * bytes;
      last = bytes;
      if (t->count[TT_TILE_DEEP] > 1) memory += bytes / (double)s->size * (double)tt__dtype_size(t->sums);
    } else {
      up += (double)(whole ? parts : loads) * bytes;
      first += bytes;
    }
  }
  if (memory > c->room) return -1;
  double rate = 1 + HALF_SIDE / (double)t->tile[TT_TILE_ROWS] + HALF_SIDE / (double)t->tile[TT_TILE_COLS] +
                HALF_DEEP / (double)t->tile[TT_TILE_DEEP];
  double full = 1 + HALF_SIDE / (double)t->len[TT_TILE_ROWS] + HALF_SIDE / (double)t->len[TT_TILE_COLS] +
                HALF_DEEP / (double)t->len[TT_TILE_DEEP];
  double ns = c->work_ns * rate / full, both = (up + down) / c->both_bytes_per_ns;
  if (up / c->up_bytes_per_ns > ns) ns = up / c->up_bytes_per_ns;
  if (down / c->down_bytes_per_ns > ns) ns = down / c->down_bytes_per_ns;
  if (both > ns) ns = both;
  t->up_bytes = up;
  t->down_bytes = down;
  /* The first parts' way up and the last one's way down are alone. */
  return ns + first / c->up_bytes_per_ns + last / c->down_bytes_per_ns + (double)tt__tiles_turns(t) * c->turn_ns;
}

static void set_tile(tt_tiles *t, int axis, int64_t count) {
  int64_t tile = (t->len[axis] + count - 1) / count;
  if (tile > 2 * ROUND) tile = (tile + ROUND - 1) / ROUND * ROUND;
  if (tile > t->len[axis]) tile = t->len[axis];
  t->tile[axis] = tile;
  t->count[axis] = (t->len[axis] + tile - 1) / tile;
}

/* In how many tiles to try: 1, 2, 3, 4, 6, 8, 12 ... and one a point. */
static int counts_of(int64_t len, int64_t *out) {
  int n = 0;
  for (int64_t c = 1; c < len && n < MOST_COUNTS - 1; c = c < 3 ? c + 1 : (c & (c - 1)) == 0 ? c / 2 * 3 : c / 3 * 4)
    out[n++] = c;
  if (n == 0 || len <= MOST_TURNS) out[n++] = len;
  return n;
}

/* The best so far, and with which sides there. */
static void keep_better(tt_tiles *t, const tt_tile_costs *c, tt_tiles *best) {
  if (tt__tiles_turns(t) > MOST_TURNS || tt__tiles_turns(t) <= 0) return;
  for (unsigned stays = 0; stays < 1u << (t->nside - 1); stays++) {
    double ns = predict(t, c, stays);
    if (ns < 0 || (best->ns > 0 && ns >= best->ns)) continue;
    *best = *t;
    best->ns = ns;
  }
}

/* Rows, columns and sums, with so many points of the batch at a time. */
static void try_blocks(tt_tiles *t, const tt_tile_costs *c, int64_t deeps, tt_tiles *best) {
  int64_t rows[MOST_COUNTS], cols[MOST_COUNTS];
  int nrows = counts_of(t->len[TT_TILE_ROWS], rows), ncols = counts_of(t->len[TT_TILE_COLS], cols);
  set_tile(t, TT_TILE_DEEP, deeps);
  for (int i = 0; i < nrows; i++) {
    set_tile(t, TT_TILE_ROWS, rows[i]);
    for (int j = 0; j < ncols; j++) {
      set_tile(t, TT_TILE_COLS, cols[j]);
      for (int side = 0; side < 2; side++) {
        t->cols_outside = side == 1;
        keep_better(t, c, best);
      }
    }
  }
}

bool tt__tiles_cut(tt_tiles *t, const tt_tile_costs *c) {
  assert(t->nloop >= 0 && t->nloop <= TT_MAX_RANK);
  assert(t->nside > 0 && t->nside <= TT_TILE_SIDES);
  int64_t counts[MOST_COUNTS];
  tt_tiles best = {.ns = 0};
  for (int k = 0; k < TT_TILE_AXES; k++) set_tile(t, k, 1);
  int n = counts_of(t->len[TT_TILE_BATCH], counts);
  for (int i = 0; i < n; i++) {
    set_tile(t, TT_TILE_BATCH, counts[i]);
    keep_better(t, c, &best);
  }
  if (best.ns <= 0 && t->len[TT_TILE_BATCH] <= MOST_TURNS) { /* one matrix is too much */
    set_tile(t, TT_TILE_BATCH, t->len[TT_TILE_BATCH]);
    int deeps = c->splits_deep ? counts_of(t->len[TT_TILE_DEEP], counts) : 1;
    for (int k = 0, vain = 0; k < deeps && vain < 3; k++) {
      double before = best.ns;
      try_blocks(t, c, k ? counts[k] : 1, &best);
      vain = best.ns > 0 && best.ns == before ? vain + 1 : 0;
    }
  }
  if (best.ns <= 0) return false;
  *t = best;
  return true;
}
