/*
** Column reductions where a block's threads take turns on one processor: a thread has many neighbouring lanes, whose
** accumulators lie side by side, and goes along each row of the points. So memory is read in its order, and the
** device's compiler makes vectors of the innermost loop, that over the lanes.
*/
#include <assert.h>
#include <stdio.h>

#include "render/gpu/threads_int.h"

/* For each of the thread's lanes; what the row's points need of a lane is computed anew, which spares memory for it. */
static void open_lanes(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt__emit_open(e, "for (tt_i32 w = 0; w < width; w++)");
  tt__emit_line(e, "const tt_ix l = l0 + w;");
}

static void put_lane_values(tt_thread_emit *t, bool stores) {
  const tt_kernel *k = t->e.k;
  for (int i = 0; i < k->ninst; i++)
    if (tt__emit_in_region(&t->e, (tt_region){TT_SCOPE_OUTER, 0}, i) && (stores || k->inst[i].op != TT_K_STORE))
      tt__threads_inst(t, i);
}

/* Arrays for the thread's lanes: `value` (and `place`) of each reduction. */
static void put_lane_arrays(tt_thread_emit *t, char value, char place) {
  tt_emit *e = &t->e;
  TT_FOR_REDUCE(e, 0, i) {
    tt__emit_line(e, "%s %c%d[%d];", tt__type_word(e->k->inst[i].from), value, i, 1 << t->v->lanes);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "tt_ix %c%d[%d];", place, i, 1 << t->v->lanes);
  }
}

/* Chunk c of each lane into its accumulators. */
static void put_lanes_chunk(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  put_lane_arrays(t, 'a', 'b');
  tt__emit_open(e, "for (tt_i32 w = 0; w < width; w++)");
  TT_FOR_REDUCE(e, 0, i) {
    const tt_kinst *q = &e->k->inst[i];
    tt__emit_line(e, "a%d[w] = %s;", i, tt__red_identity(q->red, (tt_dtype)q->from));
    if (tt__red_is_arg(q->red)) tt__emit_line(e, "b%d[w] = -1;", i);
  }
  tt__emit_close(e);
  tt__emit_line(e, "const tt_ix y1 = points - c * %d < %d ? points : (c + 1) * %d;", TT_CHUNK_COL, TT_CHUNK_COL,
                TT_CHUNK_COL);
  tt__emit_open(e, "for (tt_ix y = c * %d; y < y1; y++)", TT_CHUNK_COL);
  tt__threads_decode(e, 'r', e->k->nouter, e->nrow, "y");
  tt__threads_place(e, 'r', e->k->nouter, e->nrow, 0);
  open_lanes(t);
  put_lane_values(t, false);
  for (int i = 0; i < e->k->ninst; i++) {
    char value[16];
    if (!tt__emit_in_region(e, (tt_region){TT_SCOPE_ROW, 0}, i)) continue;
    snprintf(value, sizeof value, "v%d", e->k->inst[i].src[0]);
    if (e->k->inst[i].op == TT_K_REDUCE)
      tt__emit_accumulate(e, i, "w", value, "y");
    else
      tt__threads_inst(t, i);
  }
  tt__emit_close(e);
  tt__emit_close(e);
}

/* The chunk's accumulators, combined with those of the chunks before. */
static void put_lanes_fold(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt__emit_open(e, "for (tt_i32 w = 0; w < width; w++)");
  TT_FOR_REDUCE(e, 0, i) {
    char f[20], g[20], a[20], b[20];
    snprintf(f, sizeof f, "f%d[w]", i);
    snprintf(g, sizeof g, "g%d[w]", i);
    snprintf(a, sizeof a, "a%d[w]", i);
    snprintf(b, sizeof b, "b%d[w]", i);
    tt__emit_open(e, "if (c == 0)");
    tt__emit_line(e, "%s = %s;", f, a);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "%s = %s;", g, b);
    e->indent--;
    tt__emit_open(e, "} else");
    tt__emit_combine(e, i, f, g, a, b);
    tt__emit_close(e);
  }
  tt__emit_close(e);
}

void tt__threads_col_lanes(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  assert(e->k->nphase == 1 && t->v->part != TT_PART_FINISH);
  tt__emit_line(e, "const tt_ix l0 = (tt_ix)TT_GX * %d;", 1 << t->v->lanes);
  tt__emit_line(e, "const tt_i32 width = (tt_i32)(nlane - l0 < %d ? nlane - l0 : %d);", 1 << t->v->lanes,
                1 << t->v->lanes);
  if (t->v->part == TT_PART_CHUNK) {
    put_lanes_chunk(t);
    tt__emit_open(e, "for (tt_i32 w = 0; w < width; w++)");
    TT_FOR_REDUCE(e, 0, i) {
      tt__emit_line(e, "h%d[item * nlane + l0 + w] = a%d[w];", i, i);
      if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "k%d[item * nlane + l0 + w] = b%d[w];", i, i);
    }
    tt__emit_close(e);
    return;
  }
  put_lane_arrays(t, 'f', 'g');
  tt__emit_open(e, "for (tt_ix c = 0; c < chunks; c++)");
  put_lanes_chunk(t);
  put_lanes_fold(t);
  tt__emit_close(e);
  open_lanes(t);
  put_lane_values(t, true);
  TT_FOR_REDUCE(e, 0, i)
  tt__emit_line(e, "const %s v%d = %c%d[w];", tt__type_word(e->k->inst[i].dtype), i,
                tt__red_is_arg(e->k->inst[i].red) ? 'g' : 'f', i);
  tt__threads_region(t, (tt_region){TT_SCOPE_OUTER, 1});
  tt__emit_close(e);
}
