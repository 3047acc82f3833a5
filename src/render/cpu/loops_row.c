/*
** Row reductions (ROW): a point is a row, whose chunks have 64 accumulators each. Phases without a reduction walk the
** row's lines once more.
*/
#include <assert.h>
#include <stdio.h>

#include "render/cpu/loops_int.h"

/* ---- chunks */

/* A loop over the 64 accumulators. */
static void put_group_loop(tt_emit *e, tt_region r, int stage, const char *lane) {
  if (e->d->unrolled) tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_stage_loop(e, r, stage, "for (tt_i64 w = 0; w < 64; w++)", lane);
}

/*
** x[0..64) by `step`, a statement about x[w] and x[w + h], become one, in element 0. Lanes beyond the length of a line
** still hold the identity and need no folding in: short rows skip the wide rounds.
*/
static void put_halves(tt_emit *e, const char *step) {
  for (int h = TT_LANES / 2; h; h /= 2)
    tt__emit_line(e, "{ enum { h = %d }; if (TT_HOLDS(nlane, h)) for (tt_i64 w = 0; w < h; w++) %s }", h, step);
}

/*
** A place is found after its value: pairs of both in each round are no vectors that are worth it. The value is the
** largest (least) of all lanes or a NaN, the place the first of the lanes that have it.
*/
static void put_fold_of_places(tt_emit *e, int i) {
  const tt_kinst *q = &e->k->inst[i];
  uint8_t red = q->red == TT_RED_ARGMAX ? TT_RED_MAX : TT_RED_MIN;
  const char *word = tt__red_word(red), *least = tt__red_identity(red, (tt_dtype)q->from);
  const char *type = tt__type_word(q->from), *suffix = tt__dtypes[q->from].suffix;
  char step[96];
  tt__emit_block(e);
  tt__emit_line(e, "%s m[64]; tt_i64 n[64];", type);
  tt__emit_line(e, "for (tt_i64 w = 0; w < 64; w++) m[w] = b%d[w] >= 0 ? a%d[w] : %s;", i, i, least);
  snprintf(step, sizeof step, "m[w] = tt_%s_%s(m[w], m[w + h]);", word, suffix);
  put_halves(e, step);
  tt__emit_line(e, "const %s most = m[0]; const int none = most != most;", type);
  tt__emit_open(e, "for (tt_i64 w = 0; w < 64; w++)");
  tt__emit_line(e, "const int here = (b%d[w] >= 0) & ((a%d[w] == most) | (none & (a%d[w] != a%d[w])));", i, i, i, i);
  tt__emit_line(e, "n[w] = here ? b%d[w] : TT_I64(0x7fffffffffffffff);", i);
  tt__emit_close(e);
  put_halves(e, "n[w] = n[w] < n[w + h] ? n[w] : n[w + h];");
  tt__emit_line(e, "a%d[0] = most;", i);
  tt__emit_line(e, "b%d[0] = n[0];", i);
  tt__emit_close(e);
}

void tt__emit_fold(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) {
    const tt_kinst *q = &e->k->inst[i];
    if (tt__red_is_arg(q->red) && q->from != TT_BOOL) {
      put_fold_of_places(e, i);
      continue;
    }
    char x[32], xi[32], y[32], yi[32];
    snprintf(x, sizeof x, "a%d[w]", i);
    snprintf(xi, sizeof xi, "b%d[w]", i);
    for (int h = TT_LANES / 2; h; h /= 2) {
      snprintf(y, sizeof y, "a%d[w + %d]", i, h);
      snprintf(yi, sizeof yi, "b%d[w + %d]", i, h);
      tt__emit_open(e, "if (TT_HOLDS(nlane, %d)) for (tt_i64 w = 0; w < %d; w++)", h, h);
      tt__emit_combine(e, i, x, xi, y, yi);
      tt__emit_close(e);
    }
  }
}

/* A chunk is done: keep it as a partial, or take it in. */
static void finish_chunk(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) {
    char a[16], b[16];
    snprintf(a, sizeof a, "a%d[0]", i);
    snprintf(b, sizeof b, "b%d[0]", i);
    if (e->parts) {
      tt__emit_open(e, "if (part == 1)");
      tt__emit_line(e, "h%d[at * npartial + c] = %s;", i, a);
      if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "k%d[at * npartial + c] = %s;", i, b);
      e->indent--;
      tt__emit_open(e, "} else");
    }
    tt__emit_take_partial(e, i, a, b, "c1");
    if (e->parts) tt__emit_close(e);
  }
}

/* FINISH: the row's value from the partials of all chunks. */
static void combine_partials(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) tt__emit_open_group(e, i, "tt_i64");
  TT_FOR_REDUCE(e, phase, i) {
    char h[48], k[48];
    snprintf(h, sizeof h, "h%d[part_at + c]", i);
    snprintf(k, sizeof k, "k%d[part_at + c]", i);
    tt__emit_open(e, "for (tt_i64 c = 0; c < npartial; c++)");
    tt__emit_take_partial(e, i, h, k, "npartial");
    tt__emit_close(e);
  }
}

/* ---- phases */

/* May lanes beyond a line's end run along, masked? Where all loads are of neighbours: others are no vector's. */
static bool has_masks(const tt_emit *e, tt_region r) {
  if (e->k->serial || e->k->checked) return false;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (!tt__emit_in_region(e, r, i) || e->uniform[i]) continue;
    if (q->op == TT_K_STORE || q->op == TT_K_STOREX || q->op == TT_K_LOADX) return false;
    if (q->op == TT_K_LOAD && e->k->access[q->slot].lane != TT_LANE_UNIT) return false;
  }
  return true;
}

#define MOST_AHEAD "tt_min(nlane, 192)" /* lanes of a line that are fetched ahead: longer ones are foreseen */

void tt__emit_ahead(tt_emit *e, tt_region r, const char *lane, const char *most) {
  for (int i = 0; i < e->k->ninst && r.phase == 0; i++) {
    const tt_kinst *q = &e->k->inst[i];
    char index[96];
    if (!tt__emit_in_region(e, r, i) || e->uniform[i] || q->op != TT_K_LOAD || e->k->access[q->slot].buf < 0) continue;
    tt__emit_index(e, q->slot, q->scope, index, sizeof index);
    tt__emit_block(e);
    tt__emit_line(e, "%s", lane);
    tt__emit_line(e, "TT_AHEAD(&p%d[%s], %s);", q->slot, index, most);
    tt__emit_close(e);
  }
}

/* The last lanes of a line, fewer than 64: one by one they cost more than a group, and accumulators leave registers. */
static void put_tail(tt_emit *e, tt_region r) {
  const char *lane = "const tt_i64 l = j + w;";
  if (!has_masks(e, r)) {
    tt__emit_stage_loop(e, r, 0, "for (tt_i64 w = 0; j + w < j1; w++)", lane);
    return;
  }
  tt__emit_open(e, "if (j < j1)");
  tt__emit_line(e, "const tt_i32 m = (tt_i32)(j1 - j);");
  tt__emit_ahead(e, r, "const tt_i64 l = j;", MOST_AHEAD);
  tt__emit_line(e, "%s", e->d->masked);
  e->tail = true;
  tt__emit_stage_loop(e, r, 0, "for (tt_i64 w = 0; w < TT_TAIL(m); w++)", lane);
  e->tail = false;
  tt__emit_close(e);
}

/*
** The lanes of one line of a reducing phase: whole groups of 64 with a constant count, so that accumulators
** stay in registers, then the rest.
*/
static void put_row_groups(tt_emit *e, tt_region r) {
  tt__emit_split(e, r);
  tt__emit_open(e, "for (; j + 64 <= j1; j += 64)");
  put_group_loop(e, r, 0, "const tt_i64 l = j + w;");
  tt__emit_close(e);
  put_tail(e, r);
}

/*
** The same where the body is costly: it is written once, in loops over a block, and its values are folded in
** from arrays afterwards.
*/
static void put_row_blocks(tt_emit *e, tt_region r) {
  char lanes[16];
  snprintf(lanes, sizeof lanes, "%d", TT_STAGE_LANES);
  e->apart = e->in_blocks = true;
  int last = tt__emit_split(e, r) - 1;
  tt__emit_open(e, "for (; j < j1; j += %d)", TT_STAGE_LANES);
  tt__emit_line(e, "const tt_i64 m = tt_min(%d, j1 - j);", TT_STAGE_LANES);
  tt__emit_stage_arrays(e, lanes);
  tt__emit_stages(e, r, last, TT_BLOCK_LOOP, "const tt_i64 l = j + w;");
  e->in_blocks = false;
  e->at = "g + w";
  tt__emit_line(e, "tt_i64 g = 0;");
  tt__emit_open(e, "for (; g + 64 <= m; g += 64)");
  put_group_loop(e, r, last, "const tt_i64 l = j + g + w;");
  tt__emit_close(e);
  tt__emit_stage_loop(e, r, last, "for (tt_i64 w = 0; g + w < m; w++)", "const tt_i64 l = j + g + w;");
  e->at = "w";
  e->apart = false;
  tt__emit_close(e);
}

static void put_row_lanes(tt_emit *e, tt_region r) {
  if (tt__emit_is_slow(e, r) && !e->k->serial)
    put_row_blocks(e, r);
  else
    put_row_groups(e, r);
}

static void put_row_reduction(tt_emit *e, int phase) {
  tt_region r = {TT_SCOPE_ROW, phase};
  tt_loop_walk row = {'r', e->k->nouter, e->nrow - 1, phase};
  TT_FOR_REDUCE(e, phase, i) {
    tt__emit_line(e, "%s f%d = 0;", tt__type_word(e->k->inst[i].from), i);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "tt_i64 g%d = -1;", i);
  }
  if (tt__emit_has_beside(e)) {
    tt__emit_open(e, "if (beside)");
    TT_FOR_REDUCE(e, phase, i) tt__emit_line(e, "f%d = q%d[at];", i, i);
    e->indent--;
    tt__emit_open(e, "} else");
  } else {
    tt__emit_block(e);
  }
  tt__emit_chunk_bounds(e);
  TT_FOR_REDUCE(e, phase, i) tt__emit_open_group(e, i, "tt_i64");
  tt__emit_open(e, "for (tt_i64 c = c0; c < c1; c++)");
  tt__emit_accumulators(e, phase, "64", "64");
  if (e->nrow == 1) {
    tt__emit_line(e, "const tt_i64 y0 = 0, j1 = tt_min(nlane, (c + 1) * %d);", TT_CHUNK);
    tt__emit_open_walk(e, &row, "0");
    tt__emit_uniform(e, r);
    tt__emit_line(e, "tt_i64 j = c * %d;", TT_CHUNK);
    put_row_lanes(e, r);
  } else {
    tt__emit_line(e, "const tt_i64 y1 = tt_min(lines, (c + 1) * per), j1 = nlane;");
    tt__emit_open_walk(e, &row, "c * per");
    tt__emit_open(e, "for (tt_i64 y = c * per; y < y1; y++)");
    tt__emit_line(e, "const tt_i64 y0 = y * nlane;");
    tt__emit_uniform(e, r);
    tt__emit_line(e, "tt_i64 j = 0;");
    put_row_lanes(e, r);
    tt__emit_next_walk(e, &row);
    tt__emit_close(e);
  }
  tt__emit_fold(e, phase);
  finish_chunk(e, phase);
  tt__emit_close(e);
  tt__emit_close(e);
  if (e->parts) {
    tt__emit_line(e, "if (part == 1) goto next;");
    tt__emit_open(e, "if (part == 2)");
    tt__emit_line(e, "const tt_i64 part_at = at * npartial;");
    combine_partials(e, phase);
    tt__emit_close(e);
  }
}

static void put_row_plain(tt_emit *e, int phase) {
  tt_region r = {TT_SCOPE_ROW, phase};
  tt_loop_walk row = {'r', e->k->nouter, e->nrow - 1, phase};
  if (tt__emit_has_beside(e))
    tt__emit_open(e, "if (!beside)");
  else
    tt__emit_block(e);
  tt__emit_open_walk(e, &row, "0");
  tt__emit_open(e, "for (tt_i64 y = 0; y < lines; y++)");
  tt__emit_line(e, "const tt_i64 y0 = y * nlane;");
  tt__emit_uniform(e, r);
  if (tt__emit_has_lanes(e, r)) tt__emit_lane_loops(e, r, "0", "nlane");
  tt__emit_next_walk(e, &row);
  tt__emit_close(e);
  tt__emit_close(e);
}

/* Results become values of the outer scope. */
static void put_row_results(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i)
  tt__emit_line(e, "const %s v%d = %c%d;", tt__type_word(e->k->inst[i].dtype), i,
                tt__red_is_arg(e->k->inst[i].red) ? 'g' : 'f', i);
}

void tt__emit_row(tt_emit *e) {
  assert(e->k->mode == TT_MODE_ROW && e->k->naxes > e->k->nouter);
  const tt_kernel *k = e->k;
  tt__emit_line(e, "const tt_i64 nlane = len[%d];", e->lane_axis);
  if (e->by_length) tt__emit_line(e, "TT_GIVEN((only < 0 || part == only) && nlane <= most);");
  tt__emit_line(e, "tt_i64 lines = 1;");
  if (e->nrow > 1) tt__emit_line(e, "for (int x = %d; x < %d; x++) lines *= len[x];", k->nouter, e->lane_axis);
  if (e->nrow > 1)
    tt__emit_line(e, "const tt_i64 per = nlane < %d ? %d / nlane : 1, chunks = (lines + per - 1) / per;",
                  TT_CHUNK_LINES, TT_CHUNK_LINES);
  else
    tt__emit_line(e, "const tt_i64 chunks = (nlane + %d) / %d;", TT_CHUNK - 1, TT_CHUNK);
  tt__emit_partial_pointers(e);
  if (tt__emit_has_beside(e)) tt__emit_beside(e);
  tt_loop_walk outer = {'o', 0, k->nouter, -1};
  tt__emit_open_walk(e, &outer, "lo");
  tt__emit_open(e, "for (tt_i64 at = lo; at < hi; at++)");
  tt__emit_block(e);
  for (int p = 0; p <= k->nphase; p++) {
    tt__emit_uniform(e, (tt_region){TT_SCOPE_OUTER, p});
    if (p == k->nphase) break;
    if (tt__emit_reduces(e, p))
      put_row_reduction(e, p);
    else
      put_row_plain(e, p);
    put_row_results(e, p);
  }
  tt__emit_close(e);
  if (e->parts) tt__emit_line(e, "next:;");
  tt__emit_next_walk(e, &outer);
  tt__emit_close(e);
}
