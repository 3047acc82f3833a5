/*
** Loops of all modes: walks over axes, loops over lanes, what all reductions open with.
*/
#include "render/cpu/loops_int.h"

#include <assert.h>
#include <stdio.h>

/* ---- walks */

static bool walk_has(const tt_emit *e, const tt_loop_walk *w, int a) {
  return e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, w->phase);
}

static void put_place(tt_emit *e, const tt_loop_walk *w, const char *declare) {
  for (int a = 0; a < e->k->naccess; a++) {
    if (!walk_has(e, w, a)) continue;
    char base[32];
    snprintf(base, sizeof base, w->name == 'o' ? "off[%d]" : "o%d", a);
    if (w->count == 0)
      tt__emit_line(e, "%s%c%d = %s;", declare, w->name, a, base);
    else
      tt__emit_line(e, "%s%c%d = %s + tt_dot(step + %d, %ci, %d);", declare, w->name, a, base,
                    a * e->k->naxes + w->first, w->name, w->count);
  }
}

void tt__emit_open_walk(tt_emit *e, const tt_loop_walk *w, const char *from) {
  assert(w->count >= 0 && w->first >= 0 && w->first + w->count <= e->k->naxes);
  char c = w->name;
  if (w->count > 0) {
    tt__emit_line(e, "tt_i64 %ci[%d];", c, w->count);
    tt__emit_line(e, "tt_seek(len + %d, %d, %s, %ci);", w->first, w->count, from, c);
    tt__emit_line(e, "const tt_i64 %cn = len[%d];", c, w->first + w->count - 1);
    for (int a = 0; a < e->k->naccess; a++)
      if (walk_has(e, w, a))
        tt__emit_line(e, "const tt_i64 %cs%d = step[%d];", c, a, a * e->k->naxes + w->first + w->count - 1);
  }
  put_place(e, w, "tt_i64 ");
}

void tt__emit_step_walk(tt_emit *e, const tt_loop_walk *w, int by) {
  assert(w->first >= 0 && w->first + w->count <= e->k->naxes);
  char c = w->name;
  for (int a = 0; a < e->k->naccess; a++)
    if (walk_has(e, w, a)) tt__emit_line(e, "%c%d += %d * %cs%d;", c, a, by, c, a);
}

void tt__emit_wrap_walk(tt_emit *e, const tt_loop_walk *w, const char *count) {
  assert(w->count > 0);
  char c = w->name;
  tt__emit_open(e, "if (%s%ci[%d] == %cn)", count, c, w->count - 1, c);
  tt__emit_line(e, "tt_carry(len + %d, %d, %ci);", w->first, w->count, c);
  put_place(e, w, "");
  tt__emit_close(e);
}

void tt__emit_next_walk(tt_emit *e, const tt_loop_walk *w) {
  if (w->count == 0) return;
  tt__emit_step_walk(e, w, 1);
  tt__emit_wrap_walk(e, w, "++");
}

/* ---- loops over lanes */

void tt__emit_stage_loop(tt_emit *e, tt_region r, int stage, const char *loop, const char *lane) {
  if (tt__emit_is_independent(e, r)) tt__emit_line(e, "%s", e->d->independent);
  tt__emit_open(e, "%s", loop);
  if (lane[0]) tt__emit_line(e, "%s", lane);
  tt__emit_stage(e, r, stage);
  tt__emit_close(e);
}

/* Both forms of a stage, chosen by a look at the block. */
static void put_far_stage(tt_emit *e, tt_region r, int stage, int far, const char *loop, const char *lane) {
  tt__emit_block(e);
  tt__emit_line(e, "tt_u32 far = 0;");
  tt__emit_line(e, "%s", e->d->independent);
  tt__emit_open(e, "%s", loop);
  tt__emit_is_far(e, r, far);
  tt__emit_close(e);
  tt__emit_open(e, "if (far == 0)");
  e->near = true;
  tt__emit_stage_loop(e, r, stage, loop, lane);
  e->near = false;
  e->indent--;
  tt__emit_open(e, "} else");
  tt__emit_stage_loop(e, r, stage, loop, lane);
  tt__emit_close(e);
  tt__emit_close(e);
}

/* A stage that is a call; what other loops read later is copied. */
static void put_run_stage(tt_emit *e, int run, const char *lane) {
  tt__emit_block(e);
  tt__emit_line(e, "const tt_i64 w = 0;");
  tt__emit_line(e, "%s", lane);
  tt__emit_run_call(e, run, "m");
  if (e->kept[run]) tt__emit_line(e, "for (tt_i64 i = 0; i < m; i++) x%d[i] = z%d[i];", run, run);
  tt__emit_close(e);
}

void tt__emit_stages(tt_emit *e, tt_region r, int count, const char *loop, const char *lane) {
  assert(count >= 0);
  for (int s = 0; s < count; s++) {
    int far = tt__emit_far(e, r, s), run = tt__emit_run(e, r, s);
    if (run >= 0)
      put_run_stage(e, run, lane);
    else if (far < 0)
      tt__emit_stage_loop(e, r, s, loop, lane);
    else
      put_far_stage(e, r, s, far, loop, lane);
  }
}

void tt__emit_block_loops(tt_emit *e, tt_region r, const char *loop, const char *lane, const char *lanes) {
  e->in_blocks = true;
  int stages = tt__emit_split(e, r);
  tt__emit_block(e);
  tt__emit_stage_arrays(e, lanes);
  tt__emit_stages(e, r, stages, loop, lane);
  tt__emit_close(e);
  e->in_blocks = false;
}

void tt__emit_lane_loops(tt_emit *e, tt_region r, const char *from, const char *to) {
  char loop[96];
  e->in_blocks = true;
  int stages = tt__emit_split(e, r);
  e->in_blocks = false;
  if (stages == 1) {
    snprintf(loop, sizeof loop, "for (tt_i64 l = %s; l < %s; l++)", from, to);
    tt__emit_stage_loop(e, r, 0, loop, "");
    return;
  }
  tt__emit_open(e, "for (tt_i64 l0 = %s; l0 < %s; l0 += %d)", from, to, TT_STAGE_LANES);
  tt__emit_line(e, "const tt_i64 m = tt_min(%d, %s - l0);", TT_STAGE_LANES, to);
  snprintf(loop, sizeof loop, "%d", TT_STAGE_LANES);
  tt__emit_block_loops(e, r, TT_BLOCK_LOOP, TT_BLOCK_LANE, loop);
  tt__emit_close(e);
}

/* ---- reductions */

void tt__emit_accumulators(tt_emit *e, int phase, const char *lanes, const char *count) {
  assert(phase >= 0 && phase <= e->k->nphase);
  TT_FOR_REDUCE(e, phase, i) {
    const tt_kinst *q = &e->k->inst[i];
    bool arg = tt__red_is_arg(q->red);
    tt__emit_line(e, "%s a%d[%s];", tt__type_word(q->from), i, lanes);
    if (arg) tt__emit_line(e, "tt_i64 b%d[%s];", i, lanes);
    tt__emit_open(e, "for (tt_i64 w = 0; w < %s; w++)", count);
    tt__emit_line(e, "a%d[w] = %s;", i, tt__red_identity(q->red, (tt_dtype)q->from));
    if (arg) tt__emit_line(e, "b%d[w] = -1;", i);
    tt__emit_close(e);
  }
}

void tt__emit_partial_pointers(tt_emit *e) {
  if (!e->parts) return;
  TT_FOR_REDUCE(e, 0, i) {
    const tt_kinst *q = &e->k->inst[i];
    char from[64];
    snprintf(from, sizeof from, e->d->partial, 2 * q->slot);
    tt__emit_line(e, "%s%s *const h%d = (%s%s *)%s;", e->d->global, tt__type_word(q->from), i, e->d->global,
                  tt__type_word(q->from), from);
    if (!tt__red_is_arg(q->red)) continue;
    snprintf(from, sizeof from, e->d->partial, 2 * q->slot + 1);
    tt__emit_line(e, "%stt_i64 *const k%d = (%stt_i64 *)%s;", e->d->global, i, e->d->global, from);
  }
}

void tt__emit_chunk_bounds(tt_emit *e) {
  if (e->parts)
    tt__emit_line(e, "const tt_i64 c0 = part == 1 ? chunk_lo : 0, c1 = part == 1 ? chunk_hi : part == 2 ? 0 : chunks;");
  else
    tt__emit_line(e, "const tt_i64 c0 = 0, c1 = chunks;");
}
