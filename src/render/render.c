/*
** The emitter: the loops of the three modes around the bodies of body.c. ir/kernel.h says what a
** kernel means and fixes the order of its arithmetic; the interpreter follows the same text and
** must give the same bits.
*/
#include "render/render.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "render/render_int.h"

enum { STAGE_LANES = 256, COL_AHEAD = 4 };
enum { BLOCK_MAX = 1024, BLOCK_MIN = 64, BLOCK_BYTES = 24 * 1024 }; /* COL: lanes of a block; its arrays stay in L1 */

void tt__render_name(const tt_kernel *k, char name[TT_RENDER_NAME]) {
  char hex[33];
  tt__digest_hex(k->key, hex);
  snprintf(name, TT_RENDER_NAME, "tt_k_%s", hex);
}

/* ---- the header */

extern const char tt__prelude_text[]; /* prelude.h, embedded by the build */

/* What the emitted loops call besides the prelude. The same in every dialect. */
static const char helpers[] =
    "TT_FN tt_i64 tt_min(tt_i64 a, tt_i64 b) { return a < b ? a : b; }\n"
    /* the flat index of an index, the other way round, and the carry after the last axis was counted up */
    "TT_FN tt_i64 tt_dot(const tt_i64 *step, const tt_i64 *ix, int n) {\n"
    "  tt_i64 sum = 0;\n"
    "  for (int x = 0; x < n; x++) sum += step[x] * ix[x];\n"
    "  return sum;\n"
    "}\n"
    "TT_FN void tt_seek(const tt_i64 *len, int n, tt_i64 flat, tt_i64 *ix) {\n"
    "  for (int x = n - 1; x >= 0; x--) { ix[x] = flat % len[x]; flat /= len[x]; }\n"
    "}\n"
    "TT_FN void tt_carry(const tt_i64 *len, int n, tt_i64 *ix) {\n"
    "  for (int x = n - 1; x >= 0 && ix[x] >= len[x]; x--) { ix[x] = 0; if (x > 0) ix[x - 1]++; }\n"
    "}\n"
    /* b strictly better than a; NaN is better than all numbers, the first of equals is kept */
    "#define TT_ORDER(S) \\\n"
    "  TT_FN int tt_above_##S(tt_##S a, tt_##S b) { return (b > a) | ((b != b) & (a == a)); } \\\n"
    "  TT_FN int tt_below_##S(tt_##S a, tt_##S b) { return (b < a) | ((b != b) & (a == a)); }\n"
    "TT_ORDER(b8) TT_ORDER(i8) TT_ORDER(i16) TT_ORDER(i32) TT_ORDER(i64) TT_ORDER(u8) TT_ORDER(u16) TT_ORDER(u32)\n"
    "TT_ORDER(u64) TT_ORDER(f32) TT_ORDER(f64)\n"
    /* (value, index) pairs: is the second one the answer? An index of -1 is no element. */
    "TT_FN int tt_takes(int better, int worse, tt_i64 at, tt_i64 other) {\n"
    "  return other >= 0 && (at < 0 || better || (!worse && other < at));\n"
    "}\n";

bool tt__render_needs_math(const tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op < TT_OP_COUNT && (tt__ops[q->op].flags & TT_OPF_SLOW) && tt__is_float((tt_dtype)q->from)) return true;
  }
  return false;
}

void tt__render_header(const tt_dialect *d, bool math, tt_str *out) {
  const char *end = math ? NULL : strstr(tt__prelude_text, "#ifndef TT_RENDER_PRELUDE_F64_H"); /* prelude_f64.h */
  tt__str_add(out, d->before);
  tt__str_add_n(out, tt__prelude_text, end ? (size_t)(end - tt__prelude_text) : strlen(tt__prelude_text));
  tt__str_add(out, "\n");
  tt__str_add(out, d->after);
  tt__str_add(out, helpers);
}

/* Is the operation's f32 function made of f32 alone? */
static bool is_narrow(tt_op op) {
  switch (op) {
    case TT_EXP:
    case TT_EXP2:
    case TT_EXPM1:
    case TT_LOG:
    case TT_LOG2:
    case TT_LOG10:
    case TT_LOG1P:
    case TT_LOGADDEXP:
    case TT_ASIN:
    case TT_ACOS:
    case TT_ATAN:
    case TT_ATAN2:
    case TT_SINH:
    case TT_COSH:
    case TT_TANH:
      return true;
    default:
      return false;
  }
}

void tt__render_header_for(const tt_dialect *d, const tt_kernel *k, tt_str *out) {
  bool narrow = true, wide = true;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    tt_dtype t = (tt_dtype)q->from;
    bool called = q->op < TT_OP_COUNT || q->op == TT_K_REDUCE;
    wide &= !called || !tt__is_int(t) || tt__dtype_size(t) == 8;
    if (q->op >= TT_OP_COUNT || !(tt__ops[q->op].flags & TT_OPF_SLOW) || !tt__is_float(t)) continue;
    narrow &= t == TT_F32 && is_narrow((tt_op)q->op);
  }
  if (wide) tt__str_add(out, "#define TT_ONLY_WIDE\n");
  if (narrow) tt__str_add(out, "#define TT_NARROW_MATH\n");
  tt__render_header(d, tt__render_needs_math(k), out);
}

tt_digest tt__render_digest(const tt_dialect *d) {
  tt_str s = {0};
  tt__render_header(d, true, &s);
  tt_digest digest = {0, 0};
  if (!s.failed) digest = tt__digest(s.data, s.len);
  tt__str_free(&s);
  return digest;
}

/* ---- accesses */

static bool is_placed(const tt_emit *e, int a) { return e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, -1); }

static void put_pointers(tt_emit *e) {
  const tt_kernel *k = e->k;
  for (int a = 0; a < k->naccess; a++) {
    const tt_kaccess *acc = &k->access[a];
    char from[96];
    if (acc->buf == -1) continue;
    if (acc->buf >= 0)
      snprintf(from, sizeof from, e->d->buffer, (int)acc->buf);
    else
      snprintf(from, sizeof from, e->d->scratch, -2 - (int)acc->buf);
    const char *type = tt__type_word(acc->dtype);
    tt__emit_line(e, "%s%s *const p%d = (%s%s *)%s;", e->d->global, type, a, e->d->global, type, from);
  }
  for (int a = 0; a < k->naccess; a++)
    if (is_placed(e, a) && k->access[a].lane == TT_LANE_ANY && e->lane_axis < 0)
      tt__emit_line(e, "const tt_i64 s%d = 0;", a);
    else if (is_placed(e, a) && k->access[a].lane == TT_LANE_ANY)
      tt__emit_line(e, "const tt_i64 s%d = step[%d];", a, a * k->naxes + e->lane_axis);
}

/* ---- walks: an index over some axes, and the offset of each access there */

typedef struct tt_walk {
  char name;        /* 'o' outer points, 'r' points or lines of a row */
  int first, count; /* axes */
  int phase;        /* of the accesses; -1: all */
} tt_walk;

static bool walk_has(const tt_emit *e, const tt_walk *w, int a) {
  return e->k->access[a].buf >= -1 && tt__emit_is_walked(e, a, w->phase);
}

static void put_place(tt_emit *e, const tt_walk *w, const char *declare) {
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

/* Declare the walk at flat index `from`. */
static void open_walk(tt_emit *e, const tt_walk *w, const char *from) {
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

/* `by` steps along the last axis: an addition an access. */
static void step_walk(tt_emit *e, const tt_walk *w, int by) {
  char c = w->name;
  for (int a = 0; a < e->k->naccess; a++)
    if (walk_has(e, w, a)) tt__emit_line(e, "%c%d += %d * %cs%d;", c, a, by, c, a);
}

/* A fresh start where the last axis, counted up by `count`, has come to its end. */
static void wrap_walk(tt_emit *e, const tt_walk *w, const char *count) {
  char c = w->name;
  tt__emit_open(e, "if (%s%ci[%d] == %cn)", count, c, w->count - 1, c);
  tt__emit_line(e, "tt_carry(len + %d, %d, %ci);", w->first, w->count, c);
  put_place(e, w, "");
  tt__emit_close(e);
}

static void next_walk(tt_emit *e, const tt_walk *w) {
  if (w->count == 0) return;
  step_walk(e, w, 1);
  wrap_walk(e, w, "++");
}

/* ---- loops over lanes */

static const char block_loop[] = "for (tt_i64 w = 0; w < m; w++)", block_lane[] = "const tt_i64 l = l0 + w;";

static void put_stage_loop(tt_emit *e, tt_region r, int stage, const char *loop, const char *lane) {
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
  put_stage_loop(e, r, stage, loop, lane);
  e->near = false;
  e->indent--;
  tt__emit_open(e, "} else");
  put_stage_loop(e, r, stage, loop, lane);
  tt__emit_close(e);
  tt__emit_close(e);
}

/* A loop over the 64 accumulators. */
static void put_group_loop(tt_emit *e, tt_region r, int stage, const char *lane) {
  if (e->d->unrolled) tt__emit_line(e, "%s", e->d->unrolled);
  put_stage_loop(e, r, stage, "for (tt_i64 w = 0; w < 64; w++)", lane);
}

/* The first `count` stages, each with its loop over w. */
static void put_stages(tt_emit *e, tt_region r, int count, const char *loop, const char *lane) {
  for (int s = 0; s < count; s++) {
    int far = tt__emit_far(e, r, s);
    if (far < 0)
      put_stage_loop(e, r, s, loop, lane);
    else
      put_far_stage(e, r, s, far, loop, lane);
  }
}

/* All stages over a block of at most `lanes`. */
static void put_block_loops(tt_emit *e, tt_region r, const char *loop, const char *lane, const char *lanes) {
  int stages = tt__emit_split(e, r);
  tt__emit_block(e);
  tt__emit_stage_arrays(e, lanes);
  put_stages(e, r, stages, loop, lane);
  tt__emit_close(e);
}

/* All lanes of [from, to). */
static void put_lane_loops(tt_emit *e, tt_region r, const char *from, const char *to) {
  char loop[96];
  if (tt__emit_split(e, r) == 1) {
    snprintf(loop, sizeof loop, "for (tt_i64 l = %s; l < %s; l++)", from, to);
    put_stage_loop(e, r, 0, loop, "");
    return;
  }
  tt__emit_open(e, "for (tt_i64 l0 = %s; l0 < %s; l0 += %d)", from, to, STAGE_LANES);
  tt__emit_line(e, "const tt_i64 m = tt_min(%d, %s - l0);", STAGE_LANES, to);
  snprintf(loop, sizeof loop, "%d", STAGE_LANES);
  put_block_loops(e, r, block_loop, block_lane, loop);
  tt__emit_close(e);
}

static void put_map(tt_emit *e) {
  tt_region body = {TT_SCOPE_ROW, 0};
  tt_walk outer = {'o', 0, e->k->naxes > 0 ? e->k->naxes - 1 : 0, -1};
  open_walk(e, &outer, "lo");
  tt__emit_open(e, "for (tt_i64 at = lo; at < hi; at++)");
  tt__emit_uniform(e, body);
  if (tt__emit_has_lanes(e, body)) put_lane_loops(e, body, "lane_lo", "lane_hi");
  next_walk(e, &outer);
  tt__emit_close(e);
}

/* ---- reductions */

#define FOR_REDUCE(e, p, i)               \
  for (int i = 0; i < (e)->k->ninst; i++) \
    if ((e)->k->inst[i].op == TT_K_REDUCE && (e)->k->inst[i].phase == (p))

static bool phase_reduces(const tt_emit *e, int phase) {
  FOR_REDUCE(e, phase, i) return true;
  return false;
}

/* Accumulators of a chunk, all at the identity. `lanes` is an array length. */
static void open_accumulators(tt_emit *e, int phase, const char *lanes) {
  FOR_REDUCE(e, phase, i) {
    const tt_kinst *q = &e->k->inst[i];
    bool arg = tt__red_is_arg(q->red);
    tt__emit_line(e, "%s a%d[%s];", tt__type_word(q->from), i, lanes);
    if (arg) tt__emit_line(e, "tt_i64 b%d[%s];", i, lanes);
    tt__emit_open(e, "for (tt_i64 w = 0; w < %s; w++)", lanes);
    tt__emit_line(e, "a%d[w] = %s;", i, tt__red_identity(q->red, (tt_dtype)q->from));
    if (arg) tt__emit_line(e, "b%d[w] = -1;", i);
    tt__emit_close(e);
  }
}

/*
** The 64 accumulators of a ROW chunk become one, in element 0. Lanes beyond the length of a line still hold
** the identity and need no folding in: short rows skip the wide rounds.
*/
static void fold_accumulators(tt_emit *e, int phase) {
  FOR_REDUCE(e, phase, i) {
    char x[32], xi[32], y[32], yi[32];
    snprintf(x, sizeof x, "a%d[w]", i);
    snprintf(xi, sizeof xi, "b%d[w]", i);
    for (int h = TT_LANES / 2; h; h /= 2) {
      snprintf(y, sizeof y, "a%d[w + %d]", i, h);
      snprintf(yi, sizeof yi, "b%d[w + %d]", i, h);
      tt__emit_open(e, "if (nlane > %d) for (tt_i64 w = 0; w < %d; w++)", h, h);
      tt__emit_combine(e, i, x, xi, y, yi);
      tt__emit_close(e);
    }
  }
}

/*
** A chunk is done: keep it as a partial, or make it the row's value, or fold it in. `loop` runs over the lanes of
** a block (COL; values are arrays) or is "" (ROW; they are scalars). The choice stands outside the loop: a
** conditional store in it would be a masked one, and some compilers stumble over those.
*/
static void finish_chunk(tt_emit *e, int phase, const char *loop) {
  const char *of = loop[0] ? "[w]" : "", *chunk_of = loop[0] ? "[w]" : "[0]";
  const char *at = loop[0] ? "(at * nlane + l0 + w) * npartial + c" : "at * npartial + c";
  FOR_REDUCE(e, phase, i) {
    bool arg = tt__red_is_arg(e->k->inst[i].red);
    char f[32], g[32], a[32], b[32];
    snprintf(f, sizeof f, "f%d%s", i, of);
    snprintf(g, sizeof g, "g%d%s", i, of);
    snprintf(a, sizeof a, "a%d%s", i, chunk_of);
    snprintf(b, sizeof b, "b%d%s", i, chunk_of);
    if (e->parts) {
      tt__emit_open(e, "if (part == 1) %s", loop);
      tt__emit_line(e, "h%d[%s] = %s;", i, at, a);
      if (arg) tt__emit_line(e, "k%d[%s] = %s;", i, at, b);
      e->indent--;
      tt__emit_open(e, "} else if (c == 0) %s", loop);
    } else {
      tt__emit_open(e, "if (c == 0) %s", loop);
    }
    tt__emit_line(e, "%s = %s;", f, a);
    if (arg) tt__emit_line(e, "%s = %s;", g, b);
    e->indent--;
    tt__emit_open(e, "} else %s", loop);
    tt__emit_combine(e, i, f, g, a, b);
    tt__emit_close(e);
  }
}

/* ROW: a chunk is done: keep it as a partial, or take it in. */
static void finish_row_chunk(tt_emit *e, int phase) {
  FOR_REDUCE(e, phase, i) {
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

/* ROW, FINISH: the row's value from the partials of all chunks. */
static void combine_row_partials(tt_emit *e, int phase) {
  FOR_REDUCE(e, phase, i) tt__emit_open_group(e, i, "tt_i64");
  FOR_REDUCE(e, phase, i) {
    char h[48], k[48];
    snprintf(h, sizeof h, "h%d[part_at + c]", i);
    snprintf(k, sizeof k, "k%d[part_at + c]", i);
    tt__emit_open(e, "for (tt_i64 c = 0; c < npartial; c++)");
    tt__emit_take_partial(e, i, h, k, "npartial");
    tt__emit_close(e);
  }
}

/* COL, FINISH: the row's value from the partials of all chunks. */
static void combine_partials(tt_emit *e, int phase, const char *of) {
  FOR_REDUCE(e, phase, i) {
    bool arg = tt__red_is_arg(e->k->inst[i].red);
    char f[32], g[32], h[48], k[48];
    snprintf(f, sizeof f, "f%d%s", i, of);
    snprintf(g, sizeof g, "g%d%s", i, of);
    snprintf(h, sizeof h, "h%d[part_at + c]", i);
    snprintf(k, sizeof k, "k%d[part_at + c]", i);
    tt__emit_line(e, "%s = h%d[part_at];", f, i);
    if (arg) tt__emit_line(e, "%s = k%d[part_at];", g, i);
    tt__emit_open(e, "for (tt_i64 c = 1; c < npartial; c++)");
    tt__emit_combine(e, i, f, g, h, k);
    tt__emit_close(e);
  }
}

static void put_partial_pointers(tt_emit *e) {
  if (!e->parts) return;
  FOR_REDUCE(e, 0, i) {
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

static void put_chunk_bounds(tt_emit *e) {
  if (e->parts)
    tt__emit_line(e, "const tt_i64 c0 = part == 1 ? chunk_lo : 0, c1 = part == 1 ? chunk_hi : part == 2 ? 0 : chunks;");
  else
    tt__emit_line(e, "const tt_i64 c0 = 0, c1 = chunks;");
}

/* ---- ROW */

/*
** The lanes of one line of a reducing phase: whole groups of 64 with a constant count, so that accumulators
** stay in registers, then the rest.
*/
static void put_row_groups(tt_emit *e, tt_region r) {
  tt__emit_split(e, r);
  tt__emit_open(e, "for (; j + 64 <= j1; j += 64)");
  put_group_loop(e, r, 0, "const tt_i64 l = j + w;");
  tt__emit_close(e);
  put_stage_loop(e, r, 0, "for (tt_i64 w = 0; j + w < j1; w++)", "const tt_i64 l = j + w;");
}

/*
** The same where the body is costly: it is written once, in loops over a block, and its values are folded in
** from arrays afterwards.
*/
static void put_row_blocks(tt_emit *e, tt_region r) {
  char lanes[16];
  snprintf(lanes, sizeof lanes, "%d", STAGE_LANES);
  e->apart = true;
  int last = tt__emit_split(e, r) - 1;
  tt__emit_open(e, "for (; j < j1; j += %d)", STAGE_LANES);
  tt__emit_line(e, "const tt_i64 m = tt_min(%d, j1 - j);", STAGE_LANES);
  tt__emit_stage_arrays(e, lanes);
  put_stages(e, r, last, block_loop, "const tt_i64 l = j + w;");
  e->at = "g + w";
  tt__emit_line(e, "tt_i64 g = 0;");
  tt__emit_open(e, "for (; g + 64 <= m; g += 64)");
  put_group_loop(e, r, last, "const tt_i64 l = j + g + w;");
  tt__emit_close(e);
  put_stage_loop(e, r, last, "for (tt_i64 w = 0; g + w < m; w++)", "const tt_i64 l = j + g + w;");
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
  tt_walk row = {'r', e->k->nouter, e->nrow - 1, phase};
  FOR_REDUCE(e, phase, i) {
    tt__emit_line(e, "%s f%d = 0;", tt__type_word(e->k->inst[i].from), i);
    if (tt__red_is_arg(e->k->inst[i].red)) tt__emit_line(e, "tt_i64 g%d = -1;", i);
  }
  tt__emit_block(e);
  put_chunk_bounds(e);
  FOR_REDUCE(e, phase, i) tt__emit_open_group(e, i, "tt_i64");
  tt__emit_open(e, "for (tt_i64 c = c0; c < c1; c++)");
  open_accumulators(e, phase, "64");
  if (e->nrow == 1) {
    tt__emit_line(e, "const tt_i64 y0 = 0, j1 = tt_min(nlane, (c + 1) * %d);", TT_CHUNK);
    open_walk(e, &row, "0");
    tt__emit_uniform(e, r);
    tt__emit_line(e, "tt_i64 j = c * %d;", TT_CHUNK);
    put_row_lanes(e, r);
  } else {
    tt__emit_line(e, "const tt_i64 y1 = tt_min(lines, (c + 1) * per), j1 = nlane;");
    open_walk(e, &row, "c * per");
    tt__emit_open(e, "for (tt_i64 y = c * per; y < y1; y++)");
    tt__emit_line(e, "const tt_i64 y0 = y * nlane;");
    tt__emit_uniform(e, r);
    tt__emit_line(e, "tt_i64 j = 0;");
    put_row_lanes(e, r);
    next_walk(e, &row);
    tt__emit_close(e);
  }
  fold_accumulators(e, phase);
  finish_row_chunk(e, phase);
  tt__emit_close(e);
  tt__emit_close(e);
  if (e->parts) {
    tt__emit_line(e, "if (part == 1) goto next;");
    tt__emit_open(e, "if (part == 2)");
    tt__emit_line(e, "const tt_i64 part_at = at * npartial;");
    combine_row_partials(e, phase);
    tt__emit_close(e);
  }
}

static void put_row_plain(tt_emit *e, int phase) {
  tt_region r = {TT_SCOPE_ROW, phase};
  tt_walk row = {'r', e->k->nouter, e->nrow - 1, phase};
  tt__emit_block(e);
  open_walk(e, &row, "0");
  tt__emit_open(e, "for (tt_i64 y = 0; y < lines; y++)");
  tt__emit_line(e, "const tt_i64 y0 = y * nlane;");
  tt__emit_uniform(e, r);
  if (tt__emit_has_lanes(e, r)) put_lane_loops(e, r, "0", "nlane");
  next_walk(e, &row);
  tt__emit_close(e);
  tt__emit_close(e);
}

/* Results become values of the outer scope. */
static void put_row_results(tt_emit *e, int phase) {
  FOR_REDUCE(e, phase, i)
  tt__emit_line(e, "const %s v%d = %c%d;", tt__type_word(e->k->inst[i].dtype), i,
                tt__red_is_arg(e->k->inst[i].red) ? 'g' : 'f', i);
}

static void put_row(tt_emit *e) {
  const tt_kernel *k = e->k;
  tt__emit_line(e, "const tt_i64 nlane = len[%d];", e->lane_axis);
  tt__emit_line(e, "tt_i64 lines = 1;");
  if (e->nrow > 1) tt__emit_line(e, "for (int x = %d; x < %d; x++) lines *= len[x];", k->nouter, e->lane_axis);
  if (e->nrow > 1)
    tt__emit_line(e, "const tt_i64 per = nlane < %d ? %d / nlane : 1, chunks = (lines + per - 1) / per;", TT_CHUNK,
                  TT_CHUNK);
  else
    tt__emit_line(e, "const tt_i64 chunks = (nlane + %d) / %d;", TT_CHUNK - 1, TT_CHUNK);
  put_partial_pointers(e);
  tt_walk outer = {'o', 0, k->nouter, -1};
  open_walk(e, &outer, "lo");
  tt__emit_open(e, "for (tt_i64 at = lo; at < hi; at++)");
  tt__emit_block(e);
  for (int p = 0; p <= k->nphase; p++) {
    tt__emit_uniform(e, (tt_region){TT_SCOPE_OUTER, p});
    if (p == k->nphase) break;
    if (phase_reduces(e, p))
      put_row_reduction(e, p);
    else
      put_row_plain(e, p);
    put_row_results(e, p);
  }
  tt__emit_close(e);
  if (e->parts) tt__emit_line(e, "next:;");
  next_walk(e, &outer);
  tt__emit_close(e);
}

/* ---- COL */

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
  if (e->k->serial || e->k->checked || !phase_reduces(e, r.phase)) return false;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (!tt__emit_in_region(e, r, i)) continue;
    bool slow = q->op < TT_OP_COUNT && (tt__ops[q->op].flags & TT_OPF_SLOW);
    if (e->uniform[i] || slow || q->op == TT_K_STORE || ++n > 6) return false;
  }
  return true;
}

/* A run of points along the last row axis, COL_AHEAD at a time in one lane loop, in order. */
static void put_col_runs(tt_emit *e, tt_region r, const tt_walk *row, const char *to) {
  int last = row->count - 1;
  tt__emit_line(e, "const tt_i64 stop = y + tt_min(rn - ri[%d], %s - y);", last, to);
  tt__emit_line(e, "ri[%d] += stop - y;", last);
  for (int by = COL_AHEAD; by; by = by > 1 ? 1 : 0) {
    tt__emit_open(e, "for (; y + %d <= stop; y += %d)", by, by);
    tt__emit_split(e, r);
    tt__emit_line(e, "%s", e->d->independent);
    tt__emit_open(e, "%s", block_loop);
    tt__emit_line(e, "%s", block_lane);
    for (e->ahead = 0; e->ahead < by; e->ahead++) {
      tt__emit_block(e);
      tt__emit_stage(e, r, 0);
      tt__emit_close(e);
    }
    e->ahead = 0;
    tt__emit_close(e);
    step_walk(e, row, by);
    tt__emit_close(e);
  }
  wrap_walk(e, row, "");
}

/* All row points of [from, to), lanes of the block inside. */
static void put_col_points(tt_emit *e, int phase, const char *from, const char *to, const char *block) {
  tt_region r = {TT_SCOPE_ROW, phase};
  tt_walk row = {'r', e->k->nouter, e->nrow, phase};
  bool light = is_light(e, r);
  tt__emit_block(e);
  open_walk(e, &row, from);
  tt__emit_open(e, "for (tt_i64 y = %s; y < %s;%s)", from, to, light ? "" : " y++");
  if (light) {
    put_col_runs(e, r, &row, to);
  } else {
    tt__emit_uniform(e, r);
    if (tt__emit_has_lanes(e, r)) put_block_loops(e, r, block_loop, block_lane, block);
    next_walk(e, &row);
  }
  tt__emit_close(e);
  tt__emit_close(e);
}

static void put_col_reduction(tt_emit *e, int phase, const char *block) {
  tt__emit_block(e);
  put_chunk_bounds(e);
  tt__emit_open(e, "for (tt_i64 c = c0; c < c1; c++)");
  open_accumulators(e, phase, block);
  tt__emit_line(e, "const tt_i64 y1 = tt_min(points, (c + 1) * %d);", TT_CHUNK_COL);
  char from[32];
  snprintf(from, sizeof from, "c * %d", TT_CHUNK_COL);
  put_col_points(e, phase, from, "y1", block);
  finish_chunk(e, phase, block_loop);
  tt__emit_close(e);
  tt__emit_close(e);
  if (e->parts) {
    tt__emit_line(e, "if (part == 1) continue;");
    tt__emit_open(e, "if (part == 2) for (tt_i64 w = 0; w < m; w++)");
    tt__emit_line(e, "const tt_i64 part_at = (at * nlane + l0 + w) * npartial;");
    combine_partials(e, phase, "[w]");
    tt__emit_close(e);
  }
}

static void put_col(tt_emit *e) {
  const tt_kernel *k = e->k;
  int block = col_block(e);
  char block_text[16];
  snprintf(block_text, sizeof block_text, "%d", block);
  tt__emit_line(e, "tt_i64 points = 1;");
  tt__emit_line(e, "for (int x = %d; x < %d; x++) points *= len[x];", k->nouter, k->naxes);
  tt__emit_line(e, "const tt_i64 chunks = (points + %d) / %d, nlane = len[%d];", TT_CHUNK_COL - 1, TT_CHUNK_COL,
                e->lane_axis);
  put_partial_pointers(e);
  tt_walk outer = {'o', 0, k->nouter - 1, -1};
  open_walk(e, &outer, "lo");
  tt__emit_open(e, "for (tt_i64 at = lo; at < hi; at++)");
  tt__emit_open(e, "for (tt_i64 l0 = lane_lo; l0 < lane_hi; l0 += %d)", block);
  tt__emit_line(e, "const tt_i64 m = tt_min(%d, lane_hi - l0);", block);
  put_col_arrays(e, block);
  for (int p = 0; p <= k->nphase; p++) {
    tt_region around = {TT_SCOPE_OUTER, p};
    tt__emit_uniform(e, around);
    if (tt__emit_has_lanes(e, around)) put_block_loops(e, around, block_loop, block_lane, block_text);
    if (p == k->nphase) break;
    if (phase_reduces(e, p))
      put_col_reduction(e, p, block_text);
    else
      put_col_points(e, p, "0", "points", block_text);
  }
  tt__emit_close(e);
  next_walk(e, &outer);
  tt__emit_close(e);
}

/* ---- the function */

static void put_function(tt_emit *e, const char *fn_name) {
  const tt_dialect *d = e->d;
  tt__str_addf(e->out, "%s%s%s {\n", d->kernel, fn_name, d->params);
  e->indent = 1;
  tt__emit_line(e, "%s", d->enter);
  tt__emit_line(e, "const tt_i64 *const len = %s, *const off = %s, *const step = %s;", d->len, d->off, d->step);
  put_pointers(e);
  tt__emit_uniform(e, (tt_region){TT_SCOPE_CONST, 0});
  switch (e->k->mode) {
    case TT_MODE_MAP:
      put_map(e);
      break;
    case TT_MODE_ROW:
      put_row(e);
      break;
    default:
      put_col(e);
      break;
  }
  tt__str_add(e->out, "}\n");
}

tt_code tt__render_kernel(const tt_kernel *k, const tt_dialect *d, const char *fn_name, tt_str *out, tt_error *err) {
  TT_TRY(tt__check_words(k, d, err));
  size_t n = (size_t)k->ninst, size = 5 * n + 1;
  bool *flags = tt__mem_zalloc(size);
  if (!flags) return tt__fail_memory(err, size);
  tt_emit e = {.k = k, .d = d, .out = out, .at = "w", .uniform = flags, .kept = flags + n, .seen = flags + 2 * n};
  e.crosses = flags + 3 * n;
  e.stage = (uint8_t *)(flags + 4 * n);
  e.nrow = k->naxes - k->nouter;
  e.lane_axis = k->mode == TT_MODE_COL ? k->nouter - 1 : k->naxes - 1;
  e.parts = tt__kernel_splits(k);
  tt__emit_classify(&e);
  put_function(&e, fn_name);
  tt__mem_free(flags, size);
  return out->failed ? tt__fail_memory(err, out->len) : TT_OK;
}
