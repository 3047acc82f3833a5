/*
** The text of instructions: what one point of a region computes. It knows names and types; which
** loops stand around it is render.c's business.
*/
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "render/render_int.h"

void tt__emit_line(tt_emit *e, const char *fmt, ...) {
  char line[512];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  if (n < 0 || (size_t)n >= sizeof line) e->out->failed = true;
  for (int i = 0; i < e->indent; i++) tt__str_add(e->out, "  ");
  tt__str_add(e->out, line);
  tt__str_add(e->out, "\n");
}

void tt__emit_open(tt_emit *e, const char *fmt, ...) {
  char line[512];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  if (n < 0 || (size_t)n >= sizeof line) e->out->failed = true;
  tt__emit_line(e, "%s {", line);
  e->indent++;
}

void tt__emit_block(tt_emit *e) {
  tt__emit_line(e, "{");
  e->indent++;
}

void tt__emit_close(tt_emit *e) {
  assert(e->indent > 0);
  e->indent--;
  tt__emit_line(e, "}");
}

const char *tt__type_word(int dtype) {
  assert((unsigned)dtype < TT_DTYPE_COUNT);
  static const char *const word[TT_DTYPE_COUNT] = {
#define TT_DTYPE(E, name, suffix, ctype, kind, bytes, typestr, format) "tt_" #suffix,
#include "tutti/dtype.def"
#undef TT_DTYPE
  };
  return word[dtype];
}

/* ---- which values, where */

bool tt__emit_in_region(const tt_emit *e, tt_region r, int i) {
  assert(i >= 0 && i < e->k->ninst);
  const tt_kinst *q = &e->k->inst[i];
  return q->scope == r.scope && (r.scope == TT_SCOPE_CONST || q->phase == r.phase);
}

/* Outer values of ROW kernels are scalars; everything else may move along the lane. */
static bool region_has_lane(const tt_emit *e, uint8_t scope) {
  return scope == TT_SCOPE_ROW || (scope == TT_SCOPE_OUTER && e->k->mode == TT_MODE_COL);
}

static bool reads_memory(uint8_t op) { return op == TT_K_LOAD || op == TT_K_LOADX; }

static void find_uniform(tt_emit *e) {
  const tt_kernel *k = e->k;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    bool u = q->op != TT_K_STORE && q->op != TT_K_STOREX && q->op != TT_K_REDUCE;
    if (k->serial && reads_memory(q->op)) u = false; /* the order of reads and writes is part of the answer */
    if (q->op == TT_K_LOAD || q->op == TT_K_INDEX) {
      const tt_kaccess *acc = &k->access[q->slot];
      u = u && acc->lane == TT_LANE_NONE && acc->buf >= -1;
    }
    for (int s = 0; s < 3; s++) {
      if (q->src[s] < 0) continue;
      const tt_kinst *src = &k->inst[q->src[s]];
      bool row_result = src->op == TT_K_REDUCE && k->mode == TT_MODE_ROW;
      u = u && (row_result || e->uniform[q->src[s]]);
    }
    e->uniform[i] = u || !(region_has_lane(e, q->scope));
  }
}

static void find_kept(tt_emit *e) {
  for (int i = 0; i < e->k->ninst; i++) {
    tt_region r = {(tt_scope)e->k->inst[i].scope, e->k->inst[i].phase};
    for (int s = 0; s < 3; s++) {
      int j = e->k->inst[i].src[s];
      if (j >= 0 && e->k->inst[j].scope == TT_SCOPE_OUTER && !e->uniform[j] && !tt__emit_in_region(e, r, j))
        e->kept[j] = true;
    }
  }
}

void tt__emit_classify(tt_emit *e) {
  find_uniform(e);
  find_kept(e);
}

bool tt__emit_has_lanes(const tt_emit *e, tt_region r) {
  for (int i = 0; i < e->k->ninst; i++)
    if (tt__emit_in_region(e, r, i) && !e->uniform[i]) return true;
  return false;
}

bool tt__emit_is_independent(const tt_emit *e, tt_region r) {
  if (e->k->serial) return false;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (tt__emit_in_region(e, r, i) && q->op == TT_K_STORE && e->k->access[q->slot].buf >= 0 &&
        e->k->access[q->slot].lane == TT_LANE_NONE)
      return false; /* all lanes write one place: the last one must win */
  }
  return true;
}

/* ---- instructions */

/* Is the place of access `a` said by that of the one before it? */
static bool is_next(const tt_emit *e, int a) {
  const tt_kaccess *acc = &e->k->access[a];
  return acc->next && e->d->neighbours && (!acc->write || e->side_by_side);
}

bool tt__emit_is_walked(const tt_emit *e, int a, int phase) {
  assert(a >= 0 && a < e->k->naccess);
  if (a + 1 < e->k->naccess && is_next(e, a + 1) && tt__emit_is_walked(e, a + 1, phase)) return true;
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (q->op != TT_K_LOAD && q->op != TT_K_STORE && q->op != TT_K_INDEX) continue;
    if (q->slot == a && (phase < 0 || (q->scope == TT_SCOPE_ROW && q->phase == phase))) return true;
  }
  return false;
}

void tt__emit_index(const tt_emit *e, int a, uint8_t scope, char *out, size_t size) {
  assert(a >= 0 && a < e->k->naccess && size > 0);
  const tt_kaccess *acc = &e->k->access[a];
  bool row = scope == TT_SCOPE_ROW;
  if (acc->buf <= -2) {
    snprintf(out, size, "y0 + l");
    return;
  }
  char base = row && e->k->mode != TT_MODE_MAP ? 'r' : 'o', far[48] = "";
  int first = a;
  while (is_next(e, first)) first--;
  if (e->ahead) snprintf(far, sizeof far, " + %d * rs%d", e->ahead, first);
  if (e->across) snprintf(far, sizeof far, " + w");
  uint8_t lane = !region_has_lane(e, scope) ? TT_LANE_NONE : e->beside ? TT_LANE_UNIT : acc->lane;
  if (lane == TT_LANE_ANY && acc->by && e->d->neighbours) {
    char more[16] = "";
    if (a > first) snprintf(more, sizeof more, " + %d", a - first);
    snprintf(out, size, "%c%d%s + %d * l%s", base, first, far, acc->by, more);
    return;
  }
  assert(lane != TT_LANE_ANY || first == a);
  if (lane == TT_LANE_NONE)
    snprintf(out, size, "%c%d%s", base, a, far);
  else if (lane == TT_LANE_UNIT)
    snprintf(out, size, "%c%d%s + l", base, a, far);
  else
    snprintf(out, size, "%c%d%s + l * s%d", base, a, far, a);
}

static void put_load(tt_emit *e, int i, const char *index) {
  const tt_kinst *q = &e->k->inst[i];
  const tt_kaccess *acc = &e->k->access[q->slot];
  const char *type = tt__type_word(q->dtype);
  char from[48], guard[160] = "";
  bool half = acc->dtype == TT_F16 || acc->dtype == TT_BF16;
  snprintf(from, sizeof from, half ? "tt_cast_%s_f32" : "", tt__dtypes[acc->dtype].suffix);
  if (e->k->checked && acc->buf >= 0) {
    tt__emit_line(e, "const tt_i64 e%d = %s;", i, index);
    char at[16];
    snprintf(at, sizeof at, "e%d", i);
    snprintf(guard, sizeof guard, e->d->inbounds, (int)q->slot, (int)acc->buf, at);
    tt__emit_line(e, "const %s v%d = %s ? %s(p%d[e%d]) : 0;", type, i, guard, from, q->slot, i);
  } else {
    tt__emit_line(e, e->tail ? "const %s v%d = TT_IN(w, m) ? %s(p%d[%s]) : 0;" : "const %s v%d = %s(p%d[%s]);", type, i,
                  from, q->slot, index);
  }
}

static void put_store(tt_emit *e, int i, const char *index, int value) {
  const tt_kinst *q = &e->k->inst[i];
  const tt_kaccess *acc = &e->k->access[q->slot];
  char to[48], guard[200] = "";
  bool early = e->parts && q->scope == TT_SCOPE_OUTER && q->phase == 0; /* CHUNK computes, FINISH stores */
  bool half = acc->dtype == TT_F16 || acc->dtype == TT_BF16;
  snprintf(to, sizeof to, half ? "tt_cast_f32_%s" : "", tt__dtypes[acc->dtype].suffix);
  if (e->k->checked && acc->buf >= 0) {
    tt__emit_line(e, "const tt_i64 e%d = %s;", i, index);
    char at[16], test[160];
    snprintf(at, sizeof at, "e%d", i);
    snprintf(test, sizeof test, e->d->inbounds, (int)q->slot, (int)acc->buf, at);
    snprintf(guard, sizeof guard, "if (%s%s) ", early ? "part != 1 && " : "", test);
    tt__emit_line(e, "%sp%d[e%d] = %s(v%d);", guard, q->slot, i, to, value);
  } else {
    tt__emit_line(e, "%sp%d[%s] = %s(v%d);", early ? "if (part != 1) " : "", q->slot, index, to, value);
  }
}

void tt__emit_accumulate(tt_emit *e, int i, const char *acc, const char *value, const char *at) {
  assert(e->k->inst[i].op == TT_K_REDUCE);
  const tt_kinst *q = &e->k->inst[i];
  const char *word = tt__red_word(q->red), *suffix = tt__dtypes[q->from].suffix;
  if (!tt__red_is_arg(q->red)) {
    if (e->tail && q->from == TT_BOOL) /* of a choice between truths gcc makes arithmetic that is no vector's */
      tt__emit_line(e, "a%d[%s] = TT_IN(w, m) ? tt_%s_%s(a%d[%s], %s) : a%d[%s];", i, acc, word, suffix, i, acc, value,
                    i, acc);
    else if (e->tail)
      tt__emit_line(e, "a%d[%s] = tt_%s_%s(a%d[%s], TT_IN(w, m) ? %s : %s);", i, acc, word, suffix, i, acc, value,
                    tt__red_identity(q->red, (tt_dtype)q->from));
    else
      tt__emit_line(e, "a%d[%s] = tt_%s_%s(a%d[%s], %s);", i, acc, word, suffix, i, acc, value);
    return;
  }
  tt__emit_line(e, "const int t%d = %s((b%d[%s] < 0) | tt_%s_%s(a%d[%s], %s));", i, e->tail ? "TT_IN(w, m) & " : "", i,
                acc, word, suffix, i, acc, value);
  tt__emit_line(e, "a%d[%s] = t%d ? %s : a%d[%s];", i, acc, i, value, i, acc);
  tt__emit_line(e, "b%d[%s] = t%d ? %s : b%d[%s];", i, acc, i, at, i, acc);
}

static void put_reduce(tt_emit *e, int i) {
  char value[16], at[32];
  snprintf(value, sizeof value, "v%d", e->k->inst[i].src[0]);
  snprintf(at, sizeof at, e->k->mode == TT_MODE_ROW ? "y0 + l" : "y + %d", e->ahead);
  tt__emit_accumulate(e, i, "w", value, at);
}

/* "v1, v2". */
static void put_operands(const tt_kinst *q, char *out, size_t size) {
  size_t n = 0;
  for (int s = 0; s < 3 && q->src[s] >= 0; s++)
    n += (size_t)snprintf(out + n, size - n, "%sv%d", s ? ", " : "", q->src[s]);
}

/* Ops that have a short form for arguments that are not far out. */
static bool has_far(const tt_kinst *q) { return tt__op_is_far(q->op, (tt_dtype)q->from); }

/* The others: TT_NEAR_F32. */
bool tt__emit_has_near(const tt_kinst *q) { return tt__op_is_near(q->op, (tt_dtype)q->from); }

/*
** Is the value an absolute one that only arithmetic reads? An instruction may leave out the sign of an operand, which
** costs nothing, and what arithmetic leaves of a NaN is the same.
*/
static bool is_size(const tt_emit *e, int i) {
  const tt_kinst *q = &e->k->inst[i];
  if (q->op != TT_ABS || q->from != TT_F32) return false;
  for (int j = i + 1; j < e->k->ninst; j++) {
    const tt_kinst *r = &e->k->inst[j];
    bool reads = r->src[0] == i || r->src[1] == i || r->src[2] == i;
    if (reads && r->op != TT_MUL && r->op != TT_ADD && r->op != TT_SUB && r->op != TT_DIV) return false;
  }
  return true;
}

static void put_elementwise(tt_emit *e, int i) {
  const tt_kinst *q = &e->k->inst[i];
  const char *type = tt__type_word(q->dtype), *from = tt__dtypes[q->from].suffix;
  char args[48] = "";
  put_operands(q, args, sizeof args);
  if (e->speculates && tt__emit_has_near(q)) {
    tt__emit_line(e, "const %s v%d = tt_near_%s_%s(%s);", type, i, tt__ops[q->op].lower, from, args);
    tt__emit_line(e, "far |= tt_far_%s_%s(%s);", tt__ops[q->op].lower, from, args);
    return;
  }
  if (e->speculates && is_size(e, i)) {
    tt__emit_line(e, "const tt_f32 v%d = TT_SIZE_F32(%s);", i, args);
    return;
  }
  if (q->op == TT_K_ROUND)
    tt__emit_line(e, "const %s v%d = tt_round_%s_f32(%s);", type, i, from, args);
  else if (e->d->branches && has_far(q))
    tt__emit_line(e, "const %s v%d = tt_far_%s_%s(%s) ? tt_%s_%s(%s) : tt_near_%s_%s(%s);", type, i,
                  tt__ops[q->op].lower, from, args, tt__ops[q->op].lower, from, args, tt__ops[q->op].lower, from, args);
  else if (e->side_by_side && (q->op == TT_MUL || q->op == TT_SQUARE) && (q->from == TT_F32 || q->from == TT_F64))
    tt__emit_line(e, "const %s v%d = TT_PRODUCT(tt_%s_%s(%s));", type, i, tt__ops[q->op].lower, from, args);
  else if (q->op != TT_CAST)
    tt__emit_line(e, "const %s v%d = tt_%s%s_%s(%s);", type, i, e->near ? "near_" : "", tt__ops[q->op].lower, from,
                  args);
  else if (q->from == q->dtype)
    tt__emit_line(e, "const %s v%d = %s;", type, i, args);
  else
    tt__emit_line(e, "const %s v%d = tt_cast_%s_%s(%s);", type, i, from, tt__dtypes[q->dtype].suffix, args);
}

void tt__emit_inst(tt_emit *e, int i) {
  assert(e->k->inst[i].src[0] < i && e->k->inst[i].src[1] < i && e->k->inst[i].src[2] < i);
  assert(i >= 0 && i < e->k->ninst);
  const tt_kinst *q = &e->k->inst[i];
  char index[96] = "", word[64];
  switch (q->op) {
    case TT_K_CONST:
      snprintf(word, sizeof word, e->d->scalar, (int)q->slot, tt__dtypes[q->dtype].suffix);
      tt__emit_line(e, "const %s v%d = %s;", tt__type_word(q->dtype), i, word);
      return;
    case TT_K_LOAD:
      tt__emit_index(e, q->slot, q->scope, index, sizeof index);
      put_load(e, i, index);
      return;
    case TT_K_INDEX:
      tt__emit_index(e, q->slot, q->scope, index, sizeof index);
      tt__emit_line(e, "const tt_i64 v%d = %s;", i, index);
      return;
    case TT_K_LOADX:
      snprintf(index, sizeof index, "v%d", q->src[0]);
      put_load(e, i, index);
      return;
    case TT_K_STORE:
      tt__emit_index(e, q->slot, q->scope, index, sizeof index);
      put_store(e, i, index, q->src[0]);
      return;
    case TT_K_STOREX:
      snprintf(index, sizeof index, "v%d", q->src[0]);
      put_store(e, i, index, q->src[1]);
      return;
    case TT_K_REDUCE:
      put_reduce(e, i);
      return;
    default:
      put_elementwise(e, i);
  }
}

void tt__emit_uniform(tt_emit *e, tt_region r) {
  for (int i = 0; i < e->k->ninst; i++)
    if (tt__emit_in_region(e, r, i) && e->uniform[i]) tt__emit_inst(e, i);
}

/* ---- draws */

int tt__draw_places(const tt_kernel *k, int i) {
  assert(i >= 0 && i < k->ninst);
  const tt_kinst *q = &k->inst[i];
  if (q->op >= TT_OP_COUNT || tt__ops[q->op].cls != TT_CLASS_DRAW) return -1;
  const tt_kinst *place = &k->inst[q->src[0]];
  if (k->inst[q->src[1]].scope != TT_SCOPE_CONST || k->inst[q->src[2]].scope != TT_SCOPE_CONST) return -1;
  if (place->op != TT_CAST || place->from != TT_I64) return -1;
  place = &k->inst[place->src[0]];
  if (place->op != TT_K_INDEX || place->scope != q->scope || place->phase != q->phase) return -1;
  return k->access[place->slot].lane == TT_LANE_UNIT ? place->slot : -1;
}

int tt__draw_shift(const tt_kinst *q) { return tt__dtype_size((tt_dtype)q->dtype) == 4 ? 2 : 1; }

/* ---- stages */

static bool has_lanes_in(const tt_emit *e, tt_region r, int i) { return tt__emit_in_region(e, r, i) && !e->uniform[i]; }

static bool is_costly(const tt_kinst *q) { return q->op < TT_OP_COUNT && (tt__ops[q->op].flags & TT_OPF_SLOW); }

bool tt__emit_is_slow(const tt_emit *e, tt_region r) {
  for (int i = 0; i < e->k->ninst; i++)
    if (has_lanes_in(e, r, i) && is_costly(&e->k->inst[i])) return true;
  return false;
}

/* Does the region round or store halves, or take its time? A loop that only widens some does so itself. */
static bool makes_halves(const tt_emit *e, tt_region r) {
  for (int i = 0; i < e->k->ninst; i++) {
    const tt_kinst *q = &e->k->inst[i];
    if (!has_lanes_in(e, r, i)) continue;
    if (is_costly(q) || (q->op == TT_K_ROUND && q->from == TT_F16)) return true;
    if (q->op == TT_K_STORE && e->k->access[q->slot].dtype == TT_F16) return true;
  }
  return false;
}

/* Does instruction `i` load halves in a row, store some, or round a value of the same region to them? */
static bool is_half_run(const tt_emit *e, int i) {
  const tt_kinst *q = &e->k->inst[i];
  if (!e->in_blocks || !e->d->halves || e->k->checked) return false;
  if (q->op == TT_K_LOAD || q->op == TT_K_STORE) {
    const tt_kaccess *a = &e->k->access[q->slot];
    if (a->dtype != TT_F16 || a->lane != TT_LANE_UNIT || a->buf < 0) return false;
    if (q->op == TT_K_LOAD) return makes_halves(e, (tt_region){(tt_scope)q->scope, q->phase});
  } else if (q->op != TT_K_ROUND || q->from != TT_F16) {
    return false;
  }
  const tt_kinst *of = &e->k->inst[q->src[0]];
  return of->op != TT_K_REDUCE && of->scope == q->scope && of->phase == q->phase && !e->uniform[q->src[0]];
}

/* Is instruction `i` made for a whole block by one call, alone in its stage? Its values lie in an array. */
static bool is_run(const tt_emit *e, int i) {
  return !e->k->serial && !e->uniform[i] && (tt__draw_places(e->k, i) >= 0 || is_half_run(e, i));
}

/* Instruction `i` is in `stage`: its operands of other stages travel through arrays. */
static void set_stage(tt_emit *e, tt_region r, int i, int stage) {
  e->stage[i] = (uint8_t)stage;
  e->crosses[i] |= is_run(e, i) && e->k->inst[i].op != TT_K_STORE;
  for (int s = 0; s < 3; s++) {
    int j = e->k->inst[i].src[s];
    if (j >= 0 && has_lanes_in(e, r, j) && e->stage[j] != stage) e->crosses[j] = true;
  }
}

int tt__emit_split(tt_emit *e, tt_region r) {
  const tt_kernel *k = e->k;
  int stage = 0;
  bool slow = false, any = false, alone = false; /* what the stage at hand holds */
  for (int i = 0; i < k->ninst; i++) {
    e->crosses[i] = false;
    if (!has_lanes_in(e, r, i)) continue;
    const tt_kinst *q = &k->inst[i];
    if (e->apart && q->op == TT_K_REDUCE) continue;
    bool far = !k->serial && (has_far(q) || is_run(e, i)), costly = !k->serial && is_costly(q);
    if (stage < UINT8_MAX - 1 && (alone || (far && any) || (costly && slow))) {
      stage++;
      slow = false;
    }
    any = true;
    alone = far;
    slow |= costly;
    set_stage(e, r, i, stage);
  }
  if (!e->apart) return stage + 1;
  for (int i = 0; i < k->ninst; i++)
    if (has_lanes_in(e, r, i) && k->inst[i].op == TT_K_REDUCE) set_stage(e, r, i, stage + 1);
  return stage + 2;
}

/* The one instruction of a stage, or -1. */
static int only_one(const tt_emit *e, tt_region r, int stage) {
  int one = -1;
  for (int i = 0; i < e->k->ninst; i++) {
    if (!has_lanes_in(e, r, i) || e->stage[i] != stage) continue;
    if (one >= 0) return -1; /* the last stage there can be is shared */
    one = i;
  }
  return one;
}

int tt__emit_far(const tt_emit *e, tt_region r, int stage) {
  int i = only_one(e, r, stage);
  return i >= 0 && !e->k->serial && has_far(&e->k->inst[i]) ? i : -1;
}

int tt__emit_run(const tt_emit *e, tt_region r, int stage) {
  int i = only_one(e, r, stage);
  return i >= 0 && is_run(e, i) ? i : -1;
}

void tt__emit_run_call(tt_emit *e, int i, const char *count) {
  const tt_kinst *q = &e->k->inst[i];
  char index[96];
  if (q->op == TT_K_ROUND) {
    tt__emit_line(e, "tt_rounded_f16(z%d, z%d, %s);", q->src[0], i, count);
    return;
  }
  if (q->op == TT_K_LOAD || q->op == TT_K_STORE) {
    tt__emit_index(e, q->slot, q->scope, index, sizeof index);
    if (q->op == TT_K_LOAD)
      tt__emit_line(e, "tt_widen_f16(p%d + (%s), z%d, %s);", q->slot, index, i, count);
    else
      tt__emit_line(e, "tt_narrow_f16(z%d, p%d + (%s), %s);", q->src[0], q->slot, index, count);
    return;
  }
  tt__emit_index(e, tt__draw_places(e->k, i), q->scope, index, sizeof index);
  tt__emit_line(e, "tt_run_%s_%s(z%d, (tt_u64)(%s), v%d, v%d, %s);", tt__ops[q->op].lower, tt__dtypes[q->dtype].suffix,
                i, index, q->src[1], q->src[2], count);
}

void tt__emit_stage_arrays(tt_emit *e, const char *lanes) {
  for (int i = 0; i < e->k->ninst; i++)
    if (e->crosses[i]) tt__emit_line(e, "%s z%d[%s];", tt__type_word(e->k->inst[i].dtype), i, lanes);
}

/* What another loop left in a block array becomes a plain value here, once a body. */
static void fetch_sources(tt_emit *e, tt_region r, int i) {
  for (int s = 0; s < 3; s++) {
    int j = e->k->inst[i].src[s];
    if (j < 0 || e->seen[j] || e->uniform[j]) continue;
    const tt_kinst *src = &e->k->inst[j];
    char from;
    if (src->op == TT_K_REDUCE)
      from = e->k->mode == TT_MODE_ROW ? 0 : tt__red_is_arg(src->red) ? 'g' : 'f';
    else if (tt__emit_in_region(e, r, j))
      from = e->stage[j] == e->stage[i] ? 0 : 'z';
    else
      from = 'x';
    const char *at = from == 'z' ? e->at : "w";
    if (from) tt__emit_line(e, "const %s v%d = %c%d[%s];", tt__type_word(src->dtype), j, from, j, at);
    e->seen[j] = true;
  }
}

void tt__emit_stage(tt_emit *e, tt_region r, int stage) {
  memset(e->seen, 0, (size_t)e->k->ninst * sizeof *e->seen);
  for (int i = 0; i < e->k->ninst; i++) {
    if (!has_lanes_in(e, r, i) || e->stage[i] != stage) continue;
    fetch_sources(e, r, i);
    tt__emit_inst(e, i);
    if (e->kept[i]) tt__emit_line(e, "x%d[w] = v%d;", i, i);
    if (e->crosses[i]) tt__emit_line(e, "z%d[w] = v%d;", i, i);
  }
}

void tt__emit_is_far(tt_emit *e, tt_region r, int i) {
  const tt_kinst *q = &e->k->inst[i];
  char args[48] = "";
  memset(e->seen, 0, (size_t)e->k->ninst * sizeof *e->seen);
  fetch_sources(e, r, i);
  put_operands(q, args, sizeof args);
  tt__emit_line(e, "far |= tt_far_%s_%s(%s);", tt__ops[q->op].lower, tt__dtypes[q->from].suffix, args);
}

/* ---- reductions */

bool tt__emit_reduces(const tt_emit *e, int phase) {
  TT_FOR_REDUCE(e, phase, i) return true;
  return false;
}

const char *tt__red_word(uint8_t red) {
  static const char *const word[TT_RED_COUNT] = {
      [TT_RED_SUM] = "add", [TT_RED_PROD] = "mul", [TT_RED_MAX] = "maximum",  [TT_RED_MIN] = "minimum",
      [TT_RED_ANY] = "or",  [TT_RED_ALL] = "and",  [TT_RED_ARGMAX] = "above", [TT_RED_ARGMIN] = "below"};
  return word[red];
}

const char *tt__red_identity(uint8_t red, tt_dtype t) {
  static const char *const lowest[TT_DTYPE_COUNT] = {[TT_BOOL] = "0",
                                                     [TT_I8] = "-128",
                                                     [TT_I16] = "-32768",
                                                     [TT_I32] = "(-2147483647 - 1)",
                                                     [TT_I64] = "(-9223372036854775807 - 1)",
                                                     [TT_U8] = "0",
                                                     [TT_U16] = "0",
                                                     [TT_U32] = "0",
                                                     [TT_U64] = "0",
                                                     [TT_F32] = "(-1.0f / 0.0f)",
                                                     [TT_F64] = "(-1.0 / 0.0)"};
  static const char *const highest[TT_DTYPE_COUNT] = {[TT_BOOL] = "1",
                                                      [TT_I8] = "127",
                                                      [TT_I16] = "32767",
                                                      [TT_I32] = "2147483647",
                                                      [TT_I64] = "9223372036854775807",
                                                      [TT_U8] = "255",
                                                      [TT_U16] = "65535",
                                                      [TT_U32] = "4294967295u",
                                                      [TT_U64] = "18446744073709551615u",
                                                      [TT_F32] = "(1.0f / 0.0f)",
                                                      [TT_F64] = "(1.0 / 0.0)"};
  switch (red) {
    case TT_RED_PROD:
    case TT_RED_ALL:
      return "1";
    case TT_RED_MAX:
      return lowest[t];
    case TT_RED_MIN:
      return highest[t];
    default:
      return "0"; /* ARG*: never looked at, the index says "empty" */
  }
}

void tt__emit_combine(tt_emit *e, int i, const char *x, const char *xi, const char *y, const char *yi) {
  const tt_kinst *q = &e->k->inst[i];
  const char *word = tt__red_word(q->red), *suffix = tt__dtypes[q->from].suffix;
  if (!tt__red_is_arg(q->red)) {
    tt__emit_line(e, "%s = tt_%s_%s(%s, %s);", x, word, suffix, x, y);
    return;
  }
  tt__emit_line(e, "const int t%d = tt_takes(tt_%s_%s(%s, %s), tt_%s_%s(%s, %s), %s, %s);", i, word, suffix, x, y, word,
                suffix, y, x, xi, yi);
  tt__emit_line(e, "%s = t%d ? %s : %s;", x, i, y, x);
  tt__emit_line(e, "%s = t%d ? %s : %s;", xi, i, yi, xi);
}

bool tt__kernel_splits(const tt_kernel *k) {
  bool reduces = false;
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op == TT_K_REDUCE) reduces = true;
    if ((q->op == TT_K_STORE || q->op == TT_K_STOREX) && q->scope == TT_SCOPE_ROW) return false;
  }
  return reduces && k->nphase == 1;
}

tt_code tt__check_types(const tt_kernel *k, uint32_t lacks, const char *who, tt_error *err) {
  uint32_t used = tt__kernel_types(k);
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    if (used & lacks & 1u << t) return tt__fail(err, TT_ENOTIMPL, "%s has no %s", who, tt__dtypes[t].name);
  return TT_OK;
}

tt_code tt__check_words(const tt_kernel *k, const tt_dialect *d, tt_error *err) {
  return tt__check_types(k, d->lacks, d->name, err);
}

void tt__emit_open_group(tt_emit *e, int i, const char *index) {
  const tt_kinst *q = &e->k->inst[i];
  tt__emit_line(e, "%s d%d = 0;", tt__type_word(q->from), i);
  if (tt__red_is_arg(q->red)) tt__emit_line(e, "%s e%d = -1;", index, i);
}

void tt__emit_take_partial(tt_emit *e, int i, const char *a, const char *b, const char *n) {
  bool arg = tt__red_is_arg(e->k->inst[i].red);
  char f[16], g[16], d[16], x[16];
  snprintf(f, sizeof f, "f%d", i);
  snprintf(g, sizeof g, "g%d", i);
  snprintf(d, sizeof d, "d%d", i);
  snprintf(x, sizeof x, "e%d", i);
  for (int level = 0; level < 2; level++) {
    const char *to = level ? f : d, *to_at = level ? g : x, *from = level ? d : a, *from_at = level ? x : b;
    if (level) tt__emit_open(e, "if (c %% %d == %d || c == %s - 1)", TT_GROUP, TT_GROUP - 1, n);
    tt__emit_open(e, level ? "if (c < %d)" : "if (c %% %d == 0)", TT_GROUP);
    tt__emit_line(e, "%s = %s;", to, from);
    if (arg) tt__emit_line(e, "%s = %s;", to_at, from_at);
    e->indent--;
    tt__emit_open(e, "} else");
    tt__emit_combine(e, i, to, to_at, from, from_at);
    tt__emit_close(e);
    if (level) tt__emit_close(e);
  }
}
