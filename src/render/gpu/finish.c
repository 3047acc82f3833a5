/*
** The last pass of a row's reduction: a block for an outer point. Partials come through shared memory, so that the fold
** waits for nothing.
*/
#include <stdio.h>

#include "render/gpu/threads_int.h"

enum { WARP = 32 };

static bool folds_in_order(const tt_thread_emit *t, int i) {
  return t->ordered ? tt__row_is_signed(t, i) : tt__threads_needs_stage(&t->e.k->inst[i]) && !tt__row_is_signed(t, i);
}

/* All that any order serves: each thread some partials, then halves of the block. */
static void put_finish_free(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  int block = 1 << t->v->block;
  bool any = false;
  TT_FOR_REDUCE(e, 0, i) {
    const tt_kinst *q = &e->k->inst[i];
    char f[16], g[16], h[64], k[64];
    if (folds_in_order(t, i)) continue;
    any = true;
    snprintf(f, sizeof f, "f%d", i);
    snprintf(g, sizeof g, "g%d", i);
    snprintf(h, sizeof h, "h%d[at * chunks + w]", i);
    snprintf(k, sizeof k, "k%d[at * chunks + w]", i);
    tt__emit_line(e, "%s = %s;", f, tt__red_identity(q->red, (tt_dtype)q->from));
    tt__emit_line(e, "TT_UNROLL(4)");
    tt__emit_open(e, "for (tt_ix w = t; w < chunks; w += %d)", block);
    tt__emit_combine(e, i, f, g, h, k);
    tt__emit_close(e);
    tt__emit_line(e, "sa%d[t] = %s;", i, f);
    if (tt__red_is_arg(q->red)) tt__emit_line(e, "si%d[t] = %s;", i, g);
  }
  if (!any) return;
  tt__emit_line(e, "TT_BARRIER();");
  tt__emit_open(e, "for (tt_i32 upper = %d; upper > 0; upper /= 2)", block / 2);
  tt__emit_open(e, "if (t < upper)");
  TT_FOR_REDUCE(e, 0, i) {
    char s[24], x[24], u[32], y[32];
    if (folds_in_order(t, i)) continue;
    snprintf(s, sizeof s, "sa%d[t]", i);
    snprintf(x, sizeof x, "si%d[t]", i);
    snprintf(u, sizeof u, "sa%d[t + upper]", i);
    snprintf(y, sizeof y, "si%d[t + upper]", i);
    tt__emit_combine(e, i, s, x, u, y);
  }
  tt__emit_close(e);
  tt__emit_line(e, "TT_BARRIER();");
  tt__emit_close(e);
}

/* Place w of a tile of partials. Threads that each walk a group of them meet no bank of shared memory together. */
static int tile_room(const tt_thread_emit *t) {
  int tile = t->v->unroll << t->v->block;
  return tile + tile / TT_GROUP;
}

/* Thread t has group t of the tile. */
static void put_finish_groups(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  TT_FOR_REDUCE(e, 0, i) {
    char d[16], s[24];
    if (!folds_in_order(t, i)) continue;
    tt__emit_open_group(e, i, "tt_ix");
    snprintf(d, sizeof d, "d%d", i);
    snprintf(s, sizeof s, "sa%d[w]", i);
    tt__emit_open(e, "if (t * %d < m)", TT_GROUP);
    tt__emit_line(e, "const tt_i32 first = t * %d, n = m - t * %d < %d ? m - t * %d : %d;", TT_GROUP + 1, TT_GROUP,
                  TT_GROUP, TT_GROUP, TT_GROUP);
    tt__emit_line(e, "%s = sa%d[first];", d, i);
    tt__emit_line(e, "TT_UNROLL(16)");
    tt__emit_open(e, "for (tt_i32 w = first + 1; w < first + n; w++)");
    tt__emit_combine(e, i, d, "", s, "");
    tt__emit_close(e);
    tt__emit_close(e);
  }
  tt__emit_line(e, "TT_BARRIER();");
  TT_FOR_REDUCE(e, 0, i)
  if (folds_in_order(t, i)) tt__emit_line(e, "if (t * %d < m) sa%d[t] = d%d;", TT_GROUP, i, i);
  tt__emit_line(e, "TT_BARRIER();");
}

/* In order: the sums, or (again) the extremes. Pairs of value and index need no order. */
static void put_finish_fold(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  int block = 1 << t->v->block, tile = block * t->v->unroll, n = 0;
  tt__emit_open(e, "for (tt_ix c0 = 0; c0 < chunks; c0 += %d)", tile);
  tt__emit_line(e, "const tt_i32 m = (tt_i32)(chunks - c0 < %d ? chunks - c0 : %d);", tile, tile);
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)", t->v->unroll);
  tt__emit_line(e, "const tt_i32 w = t + u * %d;", block);
  tt__emit_open(e, "if (w < m)");
  TT_FOR_REDUCE(e, 0, i)
  if (folds_in_order(t, i)) tt__emit_line(e, "sa%d[w + w / %d] = h%d[at * chunks + c0 + w];", i, TT_GROUP, i);
  tt__emit_close(e);
  tt__emit_close(e);
  tt__emit_line(e, "TT_BARRIER();");
  put_finish_groups(t);
  TT_FOR_REDUCE(e, 0, i) {
    char f[16], s[24];
    if (!folds_in_order(t, i)) continue;
    snprintf(f, sizeof f, "f%d", i);
    snprintf(s, sizeof s, "sa%d[w]", i);
    tt__emit_open(e, "if (t == %d)", WARP * (n++ % (block / WARP)));
    tt__emit_line(e, "if (c0 == 0) %s = sa%d[0];", f, i);
    tt__emit_line(e, "TT_UNROLL(8)");
    tt__emit_open(e, "for (tt_i32 w = c0 == 0; w < (m + %d) / %d; w++)", TT_GROUP - 1, TT_GROUP);
    tt__emit_combine(e, i, f, "", s, "");
    tt__emit_close(e);
    tt__emit_close(e);
  }
  tt__emit_line(e, "TT_BARRIER();");
  tt__emit_close(e);
}

/* The results of the fold go where all threads see them. */
static void put_finish_order(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  int warps = 1 << t->v->block >> 5, n = 0;
  bool any = false;
  TT_FOR_REDUCE(e, 0, i) any |= folds_in_order(t, i);
  if (any) put_finish_fold(t);
  TT_FOR_REDUCE(e, 0, i) {
    bool arg = tt__red_is_arg(e->k->inst[i].red);
    if (folds_in_order(t, i))
      tt__emit_line(e, "if (t == %d) sq%d[0] = f%d;", WARP * (n++ % warps), i, i);
    else if (!t->ordered)
      tt__emit_line(e, "if (t == 0) sq%d[0] = %s%d[0];", i, arg ? "si" : "sa", i);
  }
  tt__emit_line(e, "TT_BARRIER();");
}

void tt__threads_row_finish(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  int room = tile_room(t);
  tt__emit_line(e, "const tt_ix chunks = (tt_ix)args->chunks;");
  tt__emit_line(e, "const tt_i32 t = TT_TX;");
  tt__emit_line(e, "const int live = 1;");
  TT_FOR_REDUCE(e, 0, i) {
    const tt_kinst *q = &e->k->inst[i];
    tt__emit_line(e, "TT_SHARED %s sa%d[%d];", tt__type_word(q->from), i, room);
    tt__emit_line(e, "TT_SHARED %s sq%d[1];", tt__type_word(q->dtype), i);
    if (tt__red_is_arg(q->red)) tt__emit_line(e, "TT_SHARED tt_i64 si%d[%d];", i, room);
  }
  tt__threads_partials(e);
  tt__emit_open(e, "for (tt_ix at = TT_GX; at < outer; at += TT_NX)");
  tt__threads_decode(e, 'o', 0, e->k->nouter, "at");
  tt__threads_place(e, 'o', 0, e->k->nouter, -1);
  tt__threads_outer(t, 0, TT_ROW_LEADER);
  tt__threads_folded(e, 0);
  put_finish_free(t);
  put_finish_order(t);
  TT_FOR_REDUCE(e, 0, i)
  tt__emit_line(e, "%s v%d = sq%d[0];", tt__type_word(e->k->inst[i].dtype), i, i);
  if (tt__row_open_again(t, 0, "v", "")) {
    t->ordered = true;
    put_finish_order(t);
    t->ordered = false;
    tt__row_close_again(t, 0);
  }
  tt__threads_outer(t, 1, TT_ROW_LEADER);
  tt__emit_close(e);
}
