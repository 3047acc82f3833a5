/*
** Maps: a thread takes some lanes of some outer points. Where elements are neighbours along another axis than the
** lane (a transpose), squares of them go through shared memory, so that both sides are read and written in runs.
*/
#include <assert.h>
#include <stdio.h>

#include "render/gpu/threads_int.h"

/* ---- squares */

/* Sides of a square, threads along its axis, and how often a thread takes an element. */
static int side(const tt_thread_emit *t) { return t->v->vec; }
static int rows(const tt_thread_emit *t) { return 256 / side(t); }
static int turns(const tt_thread_emit *t) { return side(t) / rows(t); }

static bool is_tiled(const tt_emit *e, int i) {
  const tt_kinst *q = &e->k->inst[i];
  return q->op == TT_K_LOAD && q->scope == TT_SCOPE_ROW && e->k->access[q->slot].lane == TT_LANE_ANY &&
         e->k->access[q->slot].buf >= 0;
}

static bool has_tile(const tt_emit *e, int a) {
  for (int i = 0; i < e->k->ninst; i++)
    if (e->k->inst[i].slot == a && is_tiled(e, i)) return true;
  return false;
}

static bool has_ahead(const tt_emit *e, int a) {
  for (int i = 0; i < e->k->ninst; i++)
    if (e->k->inst[i].op == TT_K_LOAD && e->k->inst[i].slot == a && !is_tiled(e, i)) return true;
  return false;
}

/* bA: the offset of access A where the square's axis is at 0. */
static void put_bases(tt_emit *e, int axis) {
  const tt_kernel *k = e->k;
  for (int a = 0; a < k->naccess; a++) {
    if (k->access[a].buf < -1 || !tt__emit_is_walked(e, a, -1)) continue;
    char text[480];
    size_t n = (size_t)snprintf(text, sizeof text, "(tt_ix)args->off[%d]", a);
    for (int x = 0, at = 0; x < k->naxes - 1 && n < sizeof text; x++)
      if (x != axis)
        n += (size_t)snprintf(text + n, sizeof text - n, " + oi%d * (tt_ix)args->step[%d]", at++, a * k->naxes + x);
    tt__emit_line(e, "const tt_ix b%d = %s, xs%d = (tt_ix)args->step[%d];", a, text, a, a * k->naxes + axis);
  }
}

/* Other outer axes than the square's: their coordinates at flat index `rest`. */
static void put_others(tt_emit *e, int axis) {
  int n = e->k->naxes - 2;
  for (int x = e->k->naxes - 2, at = n - 1; x >= 0; x--) {
    if (x == axis) continue;
    tt__emit_line(e, "const tt_ix oi%d = (tt_ix)((tt_uix)rest %% (tt_uix)args->len[%d]);", at--, x);
    tt__emit_line(e, "rest = (tt_ix)((tt_uix)rest / (tt_uix)args->len[%d]);", x);
  }
}

static void open_turns(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)", turns(t));
}

/* Squares are read along their axis, everything else along the lane. */
static void put_tile_loads(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  open_turns(t);
  tt__emit_line(e, "const tt_ix l = l0 + TT_TY + u * %d, x = x0 + TT_TX;", rows(t));
  tt__emit_open(e, "if (l < nlane && x < xn)");
  for (int a = 0; a < e->k->naccess; a++)
    if (has_tile(e, a))
      tt__emit_line(e, "tile%d[TT_TY + u * %d][TT_TX] = p%d[b%d + x * xs%d + l * s%d];", a, rows(t), a, a, a, a);
  tt__emit_close(e);
  tt__emit_close(e);
  open_turns(t);
  tt__emit_line(e, "const tt_ix l = l0 + TT_TX, x = x0 + TT_TY + u * %d;", rows(t));
  tt__emit_open(e, "if (l < nlane && x < xn)");
  for (int a = 0; a < e->k->naccess; a++)
    if (has_ahead(e, a))
      tt__emit_line(e, "L%d[u] = p%d[b%d + x * xs%d%s];", a, a, a, a,
                    e->k->access[a].lane == TT_LANE_UNIT ? " + l" : "");
  tt__emit_close(e);
  tt__emit_close(e);
}

static void put_tile_body(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  const tt_kernel *k = e->k;
  open_turns(t);
  tt__emit_line(e, "const tt_ix l = l0 + TT_TX, x = x0 + TT_TY + u * %d;", rows(t));
  tt__emit_open(e, "if (l < nlane && x < xn)");
  for (int a = 0; a < k->naccess; a++)
    if (k->access[a].buf >= -1 && tt__emit_is_walked(e, a, -1))
      tt__emit_line(e, "const tt_ix o%d = b%d + x * xs%d;", a, a, a);
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (!tt__emit_in_region(e, (tt_region){TT_SCOPE_ROW, 0}, i)) continue;
    if (q->op != TT_K_LOAD) {
      tt__threads_inst(t, i);
      continue;
    }
    int type = k->access[q->slot].dtype;
    const char *cast = type == TT_F16 ? "tt_cast_f16_f32" : type == TT_BF16 ? "tt_cast_bf16_f32" : "";
    if (is_tiled(e, i))
      tt__emit_line(e, "const %s v%d = %s(tile%d[TT_TX][TT_TY + u * %d]);", tt__type_word(q->dtype), i, cast, q->slot,
                    rows(t));
    else
      tt__emit_line(e, "const %s v%d = %s(L%d[u]);", tt__type_word(q->dtype), i, cast, q->slot);
  }
  tt__emit_close(e);
  tt__emit_close(e);
}

/* ---- squares by four: TT_TX and TT_TY are numbers of a thread, which has neighbours along the axis, then along the
 * lane, `four` groups in a row of the square */

static void put_fours_loads(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  const tt_kernel *k = e->k;
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)", turns(t) / 4);
  tt__emit_line(e, "const tt_ix l = l0 + line + u * %d, x = x0 + four;", 4 * rows(t));
  tt__emit_open(e, "if (l < nlane && x < xn)");
  for (int a = 0; a < k->naccess; a++) {
    if (!has_tile(e, a)) continue;
    const char *suffix = tt__dtypes[k->access[a].dtype].suffix;
    tt__emit_line(e, "const %s_%s T%d = *(const %s%s_%s *)(p%d + (b%d + x + l * s%d));", t->name, suffix, a,
                  e->d->global, t->name, suffix, a, a, a);
    for (int n = 0; n < 4; n++)
      tt__emit_line(e, "tile%d[line + u * %d][four + %d] = T%d.v[%d];", a, 4 * rows(t), n, a, n);
  }
  tt__emit_close(e);
  tt__emit_close(e);
}

static void put_fours_body(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  const tt_kernel *k = e->k;
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 u = 0; u < %d; u++)", turns(t) / 4);
  tt__emit_line(e, "const tt_ix j = l0 + four, x = x0 + line + u * %d;", 4 * rows(t));
  tt__emit_open(e, "if (j < nlane && x < xn)");
  for (int a = 0; a < k->naccess; a++) {
    const char *suffix = tt__dtypes[k->access[a].dtype].suffix;
    if (k->access[a].buf >= -1 && tt__emit_is_walked(e, a, -1))
      tt__emit_line(e, "const tt_ix o%d = b%d + x * xs%d;", a, a, a);
    if (has_ahead(e, a))
      tt__emit_line(e, "const %s_%s L%d = *(const %s%s_%s *)(p%d + (o%d + j));", t->name, suffix, a, e->d->global,
                    t->name, suffix, a, a);
    if (k->access[a].write) tt__emit_line(e, "%s_%s S%d;", t->name, suffix, a);
  }
  tt__emit_line(e, "%s", e->d->unrolled);
  tt__emit_open(e, "for (tt_i32 n = 0; n < 4; n++)");
  tt__emit_line(e, "const tt_ix l = j + n;");
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (!tt__emit_in_region(e, (tt_region){TT_SCOPE_ROW, 0}, i)) continue;
    if (q->op == TT_K_STORE)
      tt__emit_line(e, "S%d.v[n] = v%d;", q->slot, q->src[0]);
    else if (q->op != TT_K_LOAD)
      tt__threads_inst(t, i);
    else if (is_tiled(e, i))
      tt__emit_line(e, "const %s v%d = tile%d[four + n][line + u * %d];", tt__type_word(q->dtype), i, q->slot,
                    4 * rows(t));
    else
      tt__emit_line(e, "const %s v%d = L%d.v[n];", tt__type_word(q->dtype), i, q->slot);
  }
  tt__emit_close(e);
  for (int a = 0; a < k->naccess; a++)
    if (k->access[a].write)
      tt__emit_line(e, "*(%s%s_%s *)(p%d + (o%d + j)) = S%d;", e->d->global, t->name,
                    tt__dtypes[k->access[a].dtype].suffix, a, a, a);
  tt__emit_close(e);
  tt__emit_close(e);
}

static void put_tiled(tt_thread_emit *t) {
  tt_emit *e = &t->e;
  int axis = t->v->tiled - 1;
  bool by_four = t->v->unroll == 4;
  if (by_four) {
    tt__emit_line(e, "const tt_ix thread = TT_TY * %d + TT_TX;", side(t));
    tt__emit_line(e, "const tt_ix four = thread %% %d * 4, line = thread / %d;", side(t) / 4, side(t) / 4);
  }
  for (int a = 0; a < e->k->naccess; a++) {
    const char *type = tt__type_word(e->k->access[a].dtype);
    if (has_tile(e, a)) tt__emit_line(e, "TT_SHARED %s tile%d[%d][%d];", type, a, side(t), side(t) + 1);
    if (has_ahead(e, a) && !by_four) tt__emit_line(e, "%s L%d[%d];", type, a, turns(t));
  }
  tt__emit_line(e, "const tt_ix xn = (tt_ix)args->len[%d], xt = (xn + %d) / %d;", axis, side(t) - 1, side(t));
  tt__emit_line(e, "const tt_ix l0 = (tt_ix)TT_GX * %d, squares = outer / xn * xt;", side(t));
  tt__emit_open(e, "for (tt_ix item = TT_GY; item < squares; item += TT_NY)");
  tt__emit_line(e, "tt_ix rest = (tt_ix)((tt_uix)item / (tt_uix)xt);");
  tt__emit_line(e, "const tt_ix x0 = (item - rest * xt) * %d;", side(t));
  put_others(e, axis);
  put_bases(e, axis);
  by_four ? put_fours_loads(t) : put_tile_loads(t);
  tt__emit_line(e, "TT_BARRIER();");
  by_four ? put_fours_body(t) : put_tile_body(t);
  tt__emit_line(e, "TT_BARRIER();");
  tt__emit_close(e);
}

/* Vector q of `all` of a line: a thread's only one, or one after the other. */
static void open_vectors(tt_thread_emit *t, bool turns) {
  tt_emit *e = &t->e;
  if (turns) {
    tt__emit_line(e, "TT_UNROLL(1)");
    tt__emit_open(e, "for (tt_ix q = (tt_ix)tt_gx * TT_BX + TT_TX; q < all; q += (tt_ix)tt_nx * TT_BX)");
  } else {
    tt__emit_line(e, "const tt_ix q = (tt_ix)tt_gx * TT_BX + TT_TX;");
    tt__emit_line(e, "if (q >= all) return;");
  }
}

/* Vectors that begin before the first lane, perhaps; of the first and the last one some lanes may not be there. */
static void open_apart(tt_thread_emit *t, bool turns) {
  int vec = t->v->vec, shift = t->v->shift;
  tt__emit_line(&t->e, "const tt_ix all = (nlane + %d) / %d;", shift + vec - 1, vec);
  open_vectors(t, turns);
  tt__emit_line(&t->e, "const tt_ix j = q * %d - %d;", vec, shift);
}

static void put_apart_lanes(tt_thread_emit *t, tt_region body) {
  tt_emit *e = &t->e;
  const tt_variant *whole = t->v;
  tt_variant single = *whole;
  tt__emit_open(e, "if (j >= 0 && j + %d <= nlane)", whole->vec);
  tt__threads_lanes(t, body, NULL);
  tt__emit_close(e);
  tt__emit_line(e, "else TT_UNROLL(1)");
  tt__emit_open(e, "for (tt_ix j = q * %d - %d; j < (q + 1) * %d - %d; j++)", whole->vec, whole->shift, whole->vec,
                whole->shift);
  tt__emit_line(e, "const tt_ix to = nlane;");
  tt__emit_line(e, "if (j < 0) continue;");
  single.vec = single.unroll = 1;
  single.apart = 0;
  t->v = &single;
  tt__threads_lanes(t, body, NULL);
  t->v = whole;
  tt__emit_close(e);
}

void tt__threads_map(tt_thread_emit *t) {
  assert(t->e.k->mode == TT_MODE_MAP);
  tt_emit *e = &t->e;
  tt_region body = {TT_SCOPE_ROW, 0};
  int outer = e->k->naxes > 0 ? e->k->naxes - 1 : 0;
  if (t->v->tiled) {
    put_tiled(t);
    return;
  }
  if (t->v->main_loop) {
    tt__threads_main_loop(t);
    return;
  }
  char stride[16];
  snprintf(stride, sizeof stride, "%d", 1 << t->v->block); /* a constant: offsets become part of instructions */
  t->stride = stride;
  if (t->v->scatter) tt__emit_line(e, "%stt_uix *const last = (%stt_uix *)TT_WORK;", e->d->global, e->d->global);
  bool turns = t->v->vec > 1 && !t->v->once;
  if (t->v->apart) {
    open_apart(t, turns);
  } else if (t->v->vec > 1) {
    tt__emit_line(e, "const tt_ix whole = nlane / %d, all = whole + nlane %% %d;", t->v->vec, t->v->vec);
    open_vectors(t, turns);
    tt__emit_line(e, "const int full = q < whole;");
    tt__emit_line(e, "const tt_ix j = full ? q * %d : whole * %d + (q - whole);", t->v->vec, t->v->vec);
  } else {
    char block[16] = "TT_BX"; /* with one lane a thread, one text for blocks of all sizes */
    if (t->v->unroll > 1) snprintf(block, sizeof block, "%d", t->v->unroll << t->v->block);
    tt__emit_line(e, "const tt_ix j = (tt_ix)tt_gx * %s + TT_TX%s, to = nlane;", block,
                  t->v->unroll > 1 ? " - (tt_ix)args->shift" : "");
    tt__emit_line(e, "if (j >= to) return;");
  }
  if (t->v->once) { /* a loop of one turn is prepared for several, which costs more than the turn */
    tt__emit_line(e, "const tt_ix at = (tt_ix)TT_GY * TT_BY + TT_TY;");
    tt__emit_line(e, "if (at >= outer) return;");
    tt__emit_block(e);
  } else {
    tt__emit_line(e, "TT_UNROLL(1)");
    tt__emit_open(e, "for (tt_ix at = (tt_ix)TT_GY * TT_BY + TT_TY; at < outer; at += (tt_ix)TT_NY * TT_BY)");
  }
  tt__threads_decode(e, 'o', 0, outer, "at");
  tt__threads_place(e, 'o', 0, outer, -1);
  tt__threads_point(t);
  tt__emit_uniform(e, body);
  t->v->apart ? put_apart_lanes(t, body) : tt__threads_lanes(t, body, NULL);
  tt__emit_close(e);
  if (turns) tt__emit_close(e);
}
