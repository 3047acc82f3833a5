/*
** Column reductions (COL): a block of lanes, an accumulator each, walks the row's points in order.
*/
#include <assert.h>
#include <stdio.h>

#include "render/cpu/loops_int.h"

enum { COL_AHEAD = 4 };
enum { BLOCK_MAX = 1024, BLOCK_MIN = 64, BLOCK_BYTES = 24 * 1024 }; /* lanes of a block; its arrays stay in L1 */

static int col_block(const tt_emit *e) {
  int64_t bytes = 0;
  for (int i = 0; i < e->k->ninst; i++) {
    if (e->kept[i]) bytes += 8;
    if (e->k->inst[i].op == TT_K_REDUCE) bytes += tt__red_is_arg(e->k->inst[i].red) ? 32 : 16;
  }
  int block = BLOCK_MAX;
  while (block > BLOCK_MIN && bytes * block > BLOCK_BYTES) block /= 2;
  return block;
}

static void put_col_arrays(tt_emit *e, int block) {
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (e->kept[i]) tt__emit_line(e, "%s x%d[%d];", tt__type_word(q->dtype), i, block);
    if (q->op != TT_K_REDUCE) continue;
    tt__emit_line(e, "%s f%d[%d];", tt__type_word(q->from), i, block);
    if (tt__red_is_arg(q->red)) tt__emit_line(e, "tt_i64 g%d[%d];", i, block);
  }
}

/* Is the body so small that loading and storing the accumulators is most of it? */
static bool is_light(const tt_emit *e, tt_region r) {
  int n = 0;
  if (e->k->serial || e->k->checked || !tt__emit_reduces(e, r.phase)) return false;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (!tt__emit_in_region(e, r, i)) continue;
    bool slow = q->op < TT_OP_COUNT && (tt__ops[q->op].flags & TT_OPF_SLOW);
    if (e->uniform[i] || slow || q->op == TT_K_STORE || ++n > 6) return false;
  }
  return true;
}

/* A run of points along the last row axis, COL_AHEAD at a time in one lane loop, in order. */
static void put_col_runs(tt_emit *e, tt_region r, const tt_loop_walk *row, const char *to) {
  int last = row->count - 1;
  tt__emit_line(e, "const tt_i64 stop = y + tt_min(rn - ri[%d], %s - y);", last, to);
  tt__emit_line(e, "ri[%d] += stop - y;", last);
  for (int by = COL_AHEAD; by; by = by > 1 ? 1 : 0) {
    tt__emit_open(e, "for (; y + %d <= stop; y += %d)", by, by);
    tt__emit_split(e, r);
    tt__emit_line(e, "%s", e->d->independent);
    tt__emit_open(e, "%s", TT_BLOCK_LOOP);
    tt__emit_line(e, "%s", TT_BLOCK_LANE);
    for (e->ahead = 0; e->ahead < by; e->ahead++) {
      tt__emit_block(e);
      tt__emit_stage(e, r, 0);
      tt__emit_close(e);
    }
    e->ahead = 0;
    tt__emit_close(e);
    tt__emit_step_walk(e, row, by);
    tt__emit_close(e);
  }
  tt__emit_wrap_walk(e, row, "");
}

/*
** May each lane's points be folded side by side? Where their order changes nothing and nothing but a lane's own points
** is read. Integers of 64 bits gain nothing, vectors hold too few of them.
*/
static bool folds_across(const tt_emit *e, tt_region r) {
  if (e->nrow != 1 || !e->d->inlined) return false;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (!tt__emit_in_region(e, r, i)) continue;
    if (q->op == TT_K_LOADX || q->op == TT_K_INDEX) return false;
    if (q->op == TT_K_LOAD && (e->k->access[q->slot].lane != TT_LANE_ANY || e->k->access[q->slot].by)) return false;
    if (q->op != TT_K_REDUCE) continue;
    if (tt__red_is_arg(q->red) || tt__is_float((tt_dtype)q->from) || tt__dtypes[q->from].size > 4) return false;
  }
  return true;
}

/* Points of a row that is folded as a vector: the fold of fewer takes longer than their steps. */
enum { LEAST_ACROSS = 12, MOST_ACROSS = TT_LANES };

/*
** Short rows that lie in one piece, a lane after the other: the points of each are one masked vector, where going
** from lane to lane would load them one by one.
*/
static void put_col_across(tt_emit *e, tt_region r, const char *from, const char *to) {
  tt__emit_line(e, "const tt_i64 few = %s - %s;", to, from);
  tt__emit_line(e, "tt_b8 across = TT_MASKS & (few >= %d) & (few <= %d);", LEAST_ACROSS, MOST_ACROSS);
  for (int i = 0; i < e->k->ninst; i++)
    if (tt__emit_in_region(e, r, i) && e->k->inst[i].op == TT_K_LOAD)
      tt__emit_line(e, "across &= rs%d == 1;", (int)e->k->inst[i].slot);
  tt__emit_open(e, "if (across) for (tt_i64 i = 0; i < m; i++)");
  tt__emit_line(e, "const tt_i64 l = l0 + i;");
  tt__emit_line(e, "const tt_i32 m = (tt_i32)few;");
  TT_FOR_REDUCE(e, r.phase, i)
  tt__emit_line(e, "%s *const q%d = a%d + i;", tt__type_word(e->k->inst[i].from), i, i);
  tt__emit_block(e);
  tt__emit_accumulators(e, r.phase, "64", "64");
  e->across = e->tail = true;
  tt__emit_split(e, r);
  tt__emit_ahead(e, r, "const tt_i64 w = 0;", "m");
  if (e->d->unrolled) tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_stage_loop(e, r, 0, "for (tt_i64 w = 0; w < TT_TAIL(m); w++)", "");
  e->across = e->tail = false;
  tt__emit_fold(e, r.phase);
  TT_FOR_REDUCE(e, r.phase, i) tt__emit_line(e, "*q%d = a%d[0];", i, i);
  tt__emit_close(e);
  e->indent--;
}

/* All row points of [from, to), lanes of the block inside. */
static void put_col_points(tt_emit *e, int phase, const char *from, const char *to, const char *block) {
  tt_region r = {TT_SCOPE_ROW, phase};
  tt_loop_walk row = {'r', e->k->nouter, e->nrow, phase};
  bool light = is_light(e, r);
  tt__emit_block(e);
  tt__emit_open_walk(e, &row, from);
  bool across = light && folds_across(e, r);
  if (across) put_col_across(e, r, from, to);
  tt__emit_open(e, "%sfor (tt_i64 y = %s; y < %s;%s)", across ? "} else " : "", from, to, light ? "" : " y++");
  if (light) {
    put_col_runs(e, r, &row, to);
  } else {
    tt__emit_uniform(e, r);
    if (tt__emit_has_lanes(e, r)) tt__emit_block_loops(e, r, TT_BLOCK_LOOP, TT_BLOCK_LANE, block);
    tt__emit_next_walk(e, &row);
  }
  tt__emit_close(e);
  tt__emit_close(e);
}

/*
** A chunk of a block of lanes is done: keep it as a partial, or make it the rows' value, or fold it in. The choice
** stands outside the loop over the lanes: a conditional store in it would be a masked one, and some compilers stumble
** over those. Partials of neighbouring lanes are neighbours: a chunk's lanes would be a line of the cache each.
*/
static void finish_chunk(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) {
    bool arg = tt__red_is_arg(e->k->inst[i].red);
    char f[32], g[32], a[32], b[32];
    snprintf(f, sizeof f, "f%d[w]", i);
    snprintf(g, sizeof g, "g%d[w]", i);
    snprintf(a, sizeof a, "a%d[w]", i);
    snprintf(b, sizeof b, "b%d[w]", i);
    if (e->parts) {
      tt__emit_open(e, "if (part == 1) %s", TT_BLOCK_LOOP);
      tt__emit_line(e, "h%d[(at * npartial + c) * nlane + l0 + w] = %s;", i, a);
      if (arg) tt__emit_line(e, "k%d[(at * npartial + c) * nlane + l0 + w] = %s;", i, b);
      e->indent--;
      tt__emit_open(e, "} else if (c == 0) %s", TT_BLOCK_LOOP);
    } else {
      tt__emit_open(e, "if (c == 0) %s", TT_BLOCK_LOOP);
    }
    tt__emit_line(e, "%s = %s;", f, a);
    if (arg) tt__emit_line(e, "%s = %s;", g, b);
    e->indent--;
    tt__emit_open(e, "} else %s", TT_BLOCK_LOOP);
    tt__emit_combine(e, i, f, g, a, b);
    tt__emit_close(e);
  }
}

/* FINISH: the lanes' values from the partials of all chunks, a chunk's lanes after the other's, as they lie. */
static void combine_partials(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) {
    bool arg = tt__red_is_arg(e->k->inst[i].red);
    char f[32], g[32], h[32], k[32];
    snprintf(f, sizeof f, "f%d[w]", i);
    snprintf(g, sizeof g, "g%d[w]", i);
    snprintf(h, sizeof h, "h%d[from + w]", i);
    snprintf(k, sizeof k, "k%d[from + w]", i);
    tt__emit_open(e, "if (c == 0) %s", TT_BLOCK_LOOP);
    tt__emit_line(e, "%s = %s;", f, h);
    if (arg) tt__emit_line(e, "%s = %s;", g, k);
    e->indent--;
    tt__emit_open(e, "} else %s", TT_BLOCK_LOOP);
    tt__emit_combine(e, i, f, g, h, k);
    tt__emit_close(e);
  }
}

static void put_col_reduction(tt_emit *e, int phase, const char *block) {
  tt__emit_block(e);
  tt__emit_chunk_bounds(e);
  tt__emit_open(e, "for (tt_i64 c = c0; c < c1; c++)");
  tt__emit_accumulators(e, phase, block, "m");
  tt__emit_line(e, "const tt_i64 y1 = tt_min(points, (c + 1) * %d);", TT_CHUNK_COL);
  char from[32];
  snprintf(from, sizeof from, "c * %d", TT_CHUNK_COL);
  put_col_points(e, phase, from, "y1", block);
  finish_chunk(e, phase);
  tt__emit_close(e);
  tt__emit_close(e);
  if (e->parts) {
    tt__emit_line(e, "if (part == 1) continue;");
    tt__emit_open(e, "if (part == 2) for (tt_i64 c = 0; c < npartial; c++)");
    tt__emit_line(e, "const tt_i64 from = (at * npartial + c) * nlane + l0;");
    combine_partials(e, phase);
    tt__emit_close(e);
  }
}

void tt__emit_col(tt_emit *e) {
  assert(e->k->mode == TT_MODE_COL && e->k->nouter > 0);
  const tt_kernel *k = e->k;
  int block = col_block(e);
  char block_text[16];
  snprintf(block_text, sizeof block_text, "%d", block);
  tt__emit_line(e, "tt_i64 points = 1;");
  tt__emit_line(e, "for (int x = %d; x < %d; x++) points *= len[x];", k->nouter, k->naxes);
  tt__emit_line(e, "const tt_i64 chunks = (points + %d) / %d, nlane = len[%d];", TT_CHUNK_COL - 1, TT_CHUNK_COL,
                e->lane_axis);
  tt__emit_partial_pointers(e);
  tt_loop_walk outer = {'o', 0, k->nouter - 1, -1};
  tt__emit_open_walk(e, &outer, "lo");
  tt__emit_open(e, "for (tt_i64 at = lo; at < hi; at++)");
  tt__emit_open(e, "for (tt_i64 l0 = lane_lo; l0 < lane_hi; l0 += %d)", block);
  tt__emit_line(e, "const tt_i64 m = tt_min(%d, lane_hi - l0);", block);
  put_col_arrays(e, block);
  for (int p = 0; p <= k->nphase; p++) {
    tt_region around = {TT_SCOPE_OUTER, p};
    tt__emit_uniform(e, around);
    if (tt__emit_has_lanes(e, around)) tt__emit_block_loops(e, around, TT_BLOCK_LOOP, TT_BLOCK_LANE, block_text);
    if (p == k->nphase) break;
    if (tt__emit_reduces(e, p))
      put_col_reduction(e, p, block_text);
    else
      put_col_points(e, p, "0", "points", block_text);
  }
  tt__emit_close(e);
  tt__emit_next_walk(e, &outer);
  tt__emit_close(e);
}
