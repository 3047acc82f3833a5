/*
** Column reductions: a thread has a lane (and, in the pass over chunks, a chunk of it) and walks the
** row's points in order; neighbouring threads have neighbouring lanes.
*/
#include <assert.h>
#include <stdio.h>

#include "render/gpu/threads_int.h"

void tt__threads_partials(tt_emit *e) {
  TT_FOR_REDUCE(e, 0, i) {
    const tt_kinst *q = &e->k->inst[i];
    const char *type = tt__type_word(q->from), *space = e->d->global;
    tt__emit_line(e, "%s%s *const h%d = (%s%s *)((%stt_u64 *)TT_WORK + %d * args->parts);", space, type, i, space, type,
                  space, 2 * q->slot);
    if (tt__red_is_arg(q->red))
      tt__emit_line(e, "%stt_i64 *const k%d = (%stt_i64 *)TT_WORK + %d * args->parts;", space, i, space,
                    2 * q->slot + 1);
  }
}

/* a, b at the identity; `n` accumulators. */
void tt__threads_accumulators(tt_emit *e, int phase, int n) {
  TT_FOR_REDUCE(e, phase, i) {
    const tt_kinst *q = &e->k->inst[i];
    bool arg = tt__red_is_arg(q->red);
    tt__emit_line(e, "%s a%d[%d];", tt__type_word(q->from), i, n);
    if (arg) tt__emit_line(e, "tt_ix b%d[%d];", i, n);
    for (int w = 0; w < n; w++) {
      tt__emit_line(e, "a%d[%d] = %s;", i, w, tt__red_identity(q->red, (tt_dtype)q->from));
      if (arg) tt__emit_line(e, "b%d[%d] = -1;", i, w);
    }
  }
}

void tt__threads_folded(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) {
    tt__emit_line(e, "%s f%d = 0;", tt__type_word(e->k->inst[i].from), i);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "tt_ix g%d = -1;", i);
  }
}

void tt__threads_fold_in(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) {
    char f[16], g[16], a[16], b[16];
    snprintf(f, sizeof f, "f%d", i);
    snprintf(g, sizeof g, "g%d", i);
    snprintf(a, sizeof a, "a%d[0]", i);
    snprintf(b, sizeof b, "b%d[0]", i);
    bool arg = tt__red_is_arg(e->k->inst[i].red);
    tt__emit_open(e, "if (c == 0)");
    tt__emit_line(e, "%s = %s;", f, a);
    if (arg) tt__emit_line(e, "%s = %s;", g, b);
    e->indent--;
    tt__emit_open(e, "} else");
    tt__emit_combine(e, i, f, g, a, b);
    tt__emit_close(e);
  }
}

static void put_results(tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i)
  tt__emit_line(e, "const %s v%d = %c%d;", tt__type_word(e->k->inst[i].dtype), i,
                tt__red_is_arg(e->k->inst[i].red) ? 'g' : 'f', i);
}

/* Does a thread load several row points before it computes them? */
static bool is_ahead(const tt_thread_emit *t) { return t->v->unroll > 1 && !t->e.k->checked; }

/* The instructions of a row point, its loads taken from arrays. */
static void put_point(tt_thread_emit *t, tt_region r, bool ahead) {
  tt_emit *e = &t->e;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (!tt__emit_in_region(e, r, i)) continue;
    if (q->op == TT_K_REDUCE) {
      char value[16];
      snprintf(value, sizeof value, "v%d", q->src[0]);
      tt__emit_accumulate(e, i, "0", value, "y + u");
    } else if (ahead && q->op == TT_K_LOAD && !tt__threads_is_reload(e->k, i)) {
      int type = e->k->access[q->slot].dtype;
      const char *cast = type == TT_F16 ? "tt_cast_f16_f32" : type == TT_BF16 ? "tt_cast_bf16_f32" : "";
      tt__emit_line(e, "const %s v%d = %s(L%d[u]);", tt__type_word(q->dtype), i, cast, q->slot);
    } else {
      tt__threads_inst(t, i);
    }
  }
}

/* `in`: which of the points are there. */
static void put_loads(tt_thread_emit *t, int phase, int unroll, const char *in) {
  tt_emit *e = &t->e;
  for (int a = 0; a < e->k->naccess; a++) {
    t->loaded[a] = false;
    for (int i = 0; i < e->k->ninst; i++)
      if (e->k->inst[i].op == TT_K_LOAD && e->k->inst[i].slot == a && !tt__threads_is_reload(e->k, i) &&
          tt__emit_in_region(e, (tt_region){TT_SCOPE_ROW, phase}, i))
        t->loaded[a] = true;
    if (t->loaded[a]) tt__emit_line(e, "%s L%d[%d];", tt__type_word(e->k->access[a].dtype), a, unroll);
  }
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)%s", unroll, in);
  for (int a = 0; a < e->k->naccess; a++) {
    if (!t->loaded[a]) continue;
    char lane[32] = "";
    if (e->k->access[a].lane == TT_LANE_UNIT) snprintf(lane, sizeof lane, " + l");
    if (e->k->access[a].lane == TT_LANE_ANY) snprintf(lane, sizeof lane, " + l * s%d", a);
    tt__emit_line(e, "L%d[u] = p%d[d%d + u * rs%d%s];", a, a, a, a, lane);
  }
  tt__emit_close(e);
}

/* Row points up to `stop`, as many at a time as a thread takes; `whole`: as long as all of them are there. */
static void put_turns(tt_thread_emit *t, int phase, bool whole) {
  tt_emit *e = &t->e;
  int unroll = t->v->unroll;
  const char *in = whole ? "" : " if (y + u < stop)";
  tt__emit_open(e, whole ? "for (; y + %d <= stop; y += %d)" : "for (; y < stop; y += %d)", unroll, unroll);
  if (is_ahead(t)) put_loads(t, phase, unroll, in);
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)%s", unroll, in);
  for (int a = 0; a < e->k->naccess; a++)
    if (e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, phase))
      tt__emit_line(e, "const tt_ix r%d = d%d + u * rs%d;", a, a, a);
  put_point(t, (tt_region){TT_SCOPE_ROW, phase}, is_ahead(t));
  tt__emit_close(e);
  for (int a = 0; a < e->k->naccess; a++)
    if (e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, phase))
      tt__emit_line(e, "d%d += %d * rs%d;", a, unroll, a);
  tt__emit_close(e);
}

/* Row points [y, y1): runs along the last row axis, some points at a time. */
static void put_points(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  int first = e->k->nouter, count = e->nrow, last = first + count - 1;
  tt__emit_line(e, "const tt_ix rn = (tt_ix)args->len[%d];", last);
  for (int a = 0; a < e->k->naccess; a++)
    if (e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, phase))
      tt__emit_line(e, "const tt_ix rs%d = (tt_ix)args->step[%d];", a, a * e->k->naxes + last);
  tt__emit_open(e, "for (; y < y1;)");
  if (count > 1)
    tt__emit_line(e, "const tt_ix line = y / rn, x0 = y - line * rn;");
  else
    tt__emit_line(e, "const tt_ix x0 = y;");
  tt__threads_decode(e, 'r', first, count - 1, "line");
  for (int a = 0; a < e->k->naccess; a++) {
    if (e->k->access[a].buf < -1 || !tt__emit_is_walked(e, a, phase)) continue;
    char text[480];
    size_t n = (size_t)snprintf(text, sizeof text, "o%d + x0 * rs%d", a, a);
    for (int x = 0; x < count - 1 && n < sizeof text; x++)
      n += (size_t)snprintf(text + n, sizeof text - n, " + ri%d * (tt_ix)args->step[%d]", x,
                            a * e->k->naxes + first + x);
    tt__emit_line(e, "tt_ix d%d = %s;", a, text);
  }
  tt__emit_line(e, "const tt_ix stop = y1 - y < rn - x0 ? y1 : y + (rn - x0);");
  if (is_ahead(t)) put_turns(t, phase, true); /* no branch between its loads */
  put_turns(t, phase, false);
  tt__emit_line(e, "y = stop;");
  tt__emit_close(e);
}

static void put_reduction(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  tt__threads_folded(e, phase);
  tt__emit_open(e, "for (tt_ix c = 0; c < chunks; c++)");
  tt__threads_accumulators(e, phase, 1);
  tt__emit_line(e, "tt_ix y = c * %d;", TT_CHUNK_COL);
  tt__emit_line(e, "const tt_ix y1 = points - y < %d ? points : y + %d;", TT_CHUNK_COL, TT_CHUNK_COL);
  put_points(t, phase);
  tt__threads_fold_in(e, phase);
  tt__emit_close(e);
}

static void put_whole(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  for (int p = 0; p <= e->k->nphase; p++) {
    tt__threads_region(t, (tt_region){TT_SCOPE_OUTER, p});
    if (p == e->k->nphase) break;
    if (tt__emit_reduces(e, p)) {
      put_reduction(t, p);
    } else {
      tt__emit_block(e);
      tt__emit_line(e, "tt_ix y = 0;");
      tt__emit_line(e, "const tt_ix y1 = points;");
      put_points(t, p);
      tt__emit_close(e);
    }
    put_results(e, p);
  }
}

/* OUTER instructions of phase 0, their stores left to FINISH. */
static void put_before_chunk(tt_thread_emit *t) {
  const tt_kernel *k = t->e.k;
  for (int i = 0; i < k->ninst; i++)
    if (tt__emit_in_region(&t->e, (tt_region){TT_SCOPE_OUTER, 0}, i) && k->inst[i].op != TT_K_STORE)
      tt__threads_inst(t, i);
}

static void put_chunk(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  put_before_chunk(t);
  tt__threads_accumulators(e, 0, 1);
  tt__emit_line(e, "tt_ix y = c * %d;", TT_CHUNK_COL);
  tt__emit_line(e, "const tt_ix y1 = points - y < %d ? points : y + %d;", TT_CHUNK_COL, TT_CHUNK_COL);
  put_points(t, 0);
  TT_FOR_REDUCE(e, 0, i) {
    tt__emit_line(e, "h%d[item * nlane + l] = a%d[0];", i, i);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "k%d[item * nlane + l] = b%d[0];", i, i);
  }
}

static void put_finish(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt__threads_region(t, (tt_region){TT_SCOPE_OUTER, 0});
  tt__threads_folded(e, 0);
  tt__emit_line(e, "TT_UNROLL(8)");
  tt__emit_open(e, "for (tt_ix c = 0; c < chunks; c++)");
  TT_FOR_REDUCE(e, 0, i) {
    tt__emit_line(e, "const %s a%d[1] = {h%d[(c * outer + at) * nlane + l]};", tt__type_word(e->k->inst[i].from), i, i);
    if (tt__red_is_arg(e->k->inst[i].red))
      tt__emit_line(e, "const tt_ix b%d[1] = {(tt_ix)k%d[(c * outer + at) * nlane + l]};", i, i);
  }
  tt__threads_fold_in(e, 0);
  tt__emit_close(e);
  put_results(e, 0);
  tt__threads_region(t, (tt_region){TT_SCOPE_OUTER, 1});
}

/* ---- staged: few lanes. A block computes many row points at a time; a warp of it folds them in order. */

static int tile_lanes(const tt_thread_emit *t) { return 1 << t->v->group; }
static int tile_rows(const tt_thread_emit *t) { return 1 << (t->v->block - t->v->group); }
static int tile_warps(const tt_thread_emit *t) { return 1 << (t->v->block - 5); }
static int piece_rows(const tt_thread_emit *t) { return tile_rows(t) * t->v->unroll; }

/* zN of the reductions of a phase: shared memory, which the next phase has again. */
static void put_stages(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  size_t at = 0;
  TT_FOR_REDUCE(e, phase, i) {
    const char *type = tt__type_word(e->k->inst[i].from);
    tt__emit_line(e, "TT_SHARED_AT %s *const z%d = (TT_SHARED_AT %s *)((TT_SHARED_AT tt_u8 *)TT_SHARED_BYTES + %zu);",
                  type, i, type, at);
    at += tt__threads_stage_bytes(t->v, e->k->inst[i].from);
  }
}

/* Values of a piece of the rows into shared memory. Threads beyond the last lane or point repeat the last one, and
 * store nothing. */
static void put_piece(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  tt_region r = {TT_SCOPE_ROW, phase};
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)", t->v->unroll);
  tt__emit_line(e, "const tt_i32 w = TT_TX / %d + u * %d;", tile_lanes(t), tile_rows(t));
  tt__emit_line(e, "const tt_ix y = w < m ? y0 + w : y1 - 1;");
  tt__threads_decode(e, 'r', e->k->nouter, e->nrow, "y");
  tt__threads_place(e, 'r', e->k->nouter, e->nrow, phase);
  for (int i = 0; i < e->k->ninst; i++) {
    if (!tt__emit_in_region(e, r, i)) continue;
    bool store = e->k->inst[i].op == TT_K_STORE;
    if (store) tt__emit_open(e, "if (live && w < m)");
    if (e->k->inst[i].op == TT_K_REDUCE)
      tt__emit_line(e, "z%d[w * %d + tx] = v%d;", i, tile_lanes(t), e->k->inst[i].src[0]);
    else
      tt__threads_inst(t, i);
    if (store) tt__emit_close(e);
  }
  tt__emit_close(e);
}

static void put_piece_fold(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  int n = 0;
  tt__emit_line(e, "TT_BARRIER();");
  TT_FOR_REDUCE(e, phase, i) {
    char value[40];
    snprintf(value, sizeof value, "z%d[w * %d + tx]", i, tile_lanes(t));
    tt__emit_line(e, "if (TT_TX / 32 == %d)", n++ % tile_warps(t));
    tt__emit_line(e, "TT_UNROLL(16)");
    tt__emit_open(e, "for (tt_i32 w = 0; w < m; w++)");
    tt__emit_accumulate(e, i, "0", value, "y0 + w");
    tt__emit_close(e);
  }
  tt__emit_line(e, "TT_BARRIER();");
}

/* Chunk c: its values into the accumulators of the warps that fold. */
static void put_staged_chunk(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  tt__threads_accumulators(e, phase, 1);
  tt__emit_line(e, "const tt_ix y1 = points - c * %d < %d ? points : (c + 1) * %d;", TT_CHUNK_COL, TT_CHUNK_COL,
                TT_CHUNK_COL);
  tt__emit_open(e, "for (tt_ix y0 = c * %d; y0 < y1; y0 += %d)", TT_CHUNK_COL, piece_rows(t));
  tt__emit_line(e, "const tt_i32 m = (tt_i32)(y1 - y0 < %d ? y1 - y0 : %d);", piece_rows(t), piece_rows(t));
  put_piece(t, phase);
  put_piece_fold(t, phase);
  tt__emit_close(e);
}

/* Opens what the threads do that have folded reduction number `n` of a phase. */
static void open_folders(tt_thread_emit *t, int n) {
  tt__emit_open(&t->e, "if (live && TT_TX / 32 == %d && TT_TX %% 32 < %d)", n % tile_warps(t), tile_lanes(t));
}

static void put_staged(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  int n = 0;
  put_stages(t, 0);
  put_before_chunk(t);
  put_staged_chunk(t, 0);
  TT_FOR_REDUCE(e, 0, i) {
    open_folders(t, n++);
    tt__emit_line(e, "h%d[item * nlane + l] = a%d[0];", i, i);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "k%d[item * nlane + l] = b%d[0];", i, i);
    tt__emit_close(e);
  }
}

/* ---- staged, several phases: the block keeps its lanes to the end, and all of it learns what was folded. */

static void put_shared_results(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  int n = 0;
  TT_FOR_REDUCE(e, phase, i) {
    open_folders(t, n++);
    tt__emit_line(e, "z%d[tx] = f%d;", i, i);
    tt__emit_close(e);
  }
  tt__emit_line(e, "TT_BARRIER();");
  TT_FOR_REDUCE(e, phase, i)
  tt__emit_line(e, "const %s v%d = z%d[live ? tx : nlane - 1 - (tt_ix)TT_GX * %d];", tt__type_word(e->k->inst[i].dtype),
                i, i, tile_lanes(t));
  tt__emit_line(e, "TT_BARRIER();");
}

static void put_staged_phase(tt_thread_emit *t, int phase) {
  tt_emit *e = &t->e;
  if (tt__emit_reduces(e, phase)) {
    put_stages(t, phase);
    tt__threads_folded(e, phase);
    tt__emit_open(e, "for (tt_ix c = 0; c < chunks; c++)");
    put_staged_chunk(t, phase);
    tt__threads_fold_in(e, phase);
    tt__emit_close(e);
    put_shared_results(t, phase);
    return;
  }
  tt__emit_open(e, "for (tt_ix y0 = 0, y1 = points; y0 < y1; y0 += %d)", piece_rows(t));
  tt__emit_line(e, "const tt_i32 m = (tt_i32)(y1 - y0 < %d ? y1 - y0 : %d);", piece_rows(t), piece_rows(t));
  put_piece(t, phase);
  tt__emit_close(e);
}

/* Many partials of few lanes: a block fetches them, a warp of it folds them in order. */
static void put_staged_partials(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  int n = 0, lanes = tile_lanes(t), piece = piece_rows(t);
  put_stages(t, 0);
  tt__threads_folded(e, 0);
  tt__emit_open(e, "for (tt_ix c0 = 0; c0 < chunks; c0 += %d)", piece);
  tt__emit_line(e, "const tt_i32 m = (tt_i32)(chunks - c0 < %d ? chunks - c0 : %d);", piece, piece);
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)", t->v->unroll);
  tt__emit_line(e, "const tt_i32 w = TT_TX / %d + u * %d;", lanes, tile_rows(t));
  tt__emit_line(e, "const tt_ix c = w < m ? c0 + w : chunks - 1;");
  TT_FOR_REDUCE(e, 0, i)
  tt__emit_line(e, "z%d[w * %d + tx] = h%d[(c * outer + at) * nlane + l];", i, lanes, i);
  tt__emit_close(e);
  tt__emit_line(e, "TT_BARRIER();");
  TT_FOR_REDUCE(e, 0, i) {
    char f[16], z[40];
    snprintf(f, sizeof f, "f%d", i);
    snprintf(z, sizeof z, "z%d[w * %d + tx]", i, lanes);
    tt__emit_open(e, "if (TT_TX / 32 == %d && TT_TX %% 32 < %d)", n++ % tile_warps(t), lanes);
    tt__emit_line(e, "if (c0 == 0) f%d = z%d[tx];", i, i);
    tt__emit_line(e, "TT_UNROLL(16)");
    tt__emit_open(e, "for (tt_i32 w = c0 == 0; w < m; w++)");
    tt__emit_combine(e, i, f, "", z, "");
    tt__emit_close(e);
    tt__emit_close(e);
  }
  tt__emit_line(e, "TT_BARRIER();");
  tt__emit_close(e);
  put_shared_results(t, 0);
}

static void put_staged_whole(tt_thread_emit *t) {
  char leader[40]; /* of the threads of a lane */
  snprintf(leader, sizeof leader, "live && TT_TX < %d", tile_lanes(t));
  for (int p = 0; p < t->e.k->nphase; p++) {
    tt__threads_outer(t, p, leader);
    if (t->v->part == TT_PART_FINISH)
      put_staged_partials(t);
    else
      put_staged_phase(t, p);
  }
  tt__threads_outer(t, t->e.k->nphase, leader);
}

static void put_lane(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  if (t->v->staged) {
    tt__emit_line(e, "const tt_i32 tx = TT_TX %% %d;", tile_lanes(t));
    tt__emit_line(e, "const int live = (tt_ix)TT_GX * %d + tx < nlane;", tile_lanes(t));
    tt__emit_line(e, "const tt_ix l = live ? (tt_ix)TT_GX * %d + tx : nlane - 1;", tile_lanes(t));
  } else {
    tt__emit_line(e, "const tt_ix l = (tt_ix)TT_GX * TT_BX + TT_TX;");
    tt__emit_line(e, "if (l >= nlane) return;");
  }
}

void tt__threads_col(tt_thread_emit *t) {
  assert(t->e.k->mode == TT_MODE_COL);
  tt_emit *e = &t->e;
  int outer = e->k->nouter - 1;
  bool chunk = t->v->part == TT_PART_CHUNK;
  tt__emit_line(e, "const tt_ix points = (tt_ix)args->points, chunks = (tt_ix)args->chunks;");
  if (t->v->part != TT_PART_WHOLE) tt__threads_partials(e);
  put_lane(t);
  tt__emit_line(e, "const tt_ix items = %s;", chunk ? "outer * chunks" : "outer");
  tt__emit_open(e, "for (tt_ix item = (tt_ix)TT_GY * TT_BY + TT_TY; item < items; item += (tt_ix)TT_NY * TT_BY)");
  if (chunk)
    tt__emit_line(e, "const tt_ix c = (tt_ix)((tt_uix)item / (tt_uix)outer), at = item - c * outer;");
  else
    tt__emit_line(e, "const tt_ix at = item;");
  tt__threads_decode(e, 'o', 0, outer, "at");
  tt__threads_place(e, 'o', 0, outer, -1);
  if (t->v->staged && chunk)
    put_staged(t);
  else if (t->v->staged)
    put_staged_whole(t);
  else if (chunk)
    put_chunk(t);
  else if (t->v->part == TT_PART_FINISH)
    put_finish(t);
  else
    put_whole(t);
  tt__emit_close(e);
}
