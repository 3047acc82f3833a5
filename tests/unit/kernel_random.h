/*
** Kernels made up at random: any op of any type, any mode, several phases and reductions, scratches, layouts of
** all kinds. Include "test.h" first.
*/
#ifndef KERNEL_RANDOM_H
#define KERNEL_RANDOM_H

#include <stdarg.h>

#include "kernel_ref.h"

enum { MOST_VALUES = 100, MOST_SCRATCH = 2 };

typedef struct value {
  int inst, type, scope, phase;
  bool red;
} value;

typedef struct maker {
  uint64_t seed;
  int mode, nouter, naxes, nphase, ninst, naccess, nbuf, nred, nscalar, nscratch;
  value v[MOST_VALUES];
  int nv;
  int scratch_type[MOST_SCRATCH], scratch_phase[MOST_SCRATCH];
  /* The last access that knows its step, 0: none; its number and type, and how many lie side by side with it. */
  int by, by_at, by_type, nby;
  bool by_write;
  tt_str scalars, accesses, insts;
} maker;

static int pick(maker *m, int n) { return (int)(ref_random(&m->seed) % (uint64_t)n); }
static const char *suffix(int type) { return tt__dtypes[type].suffix; }

static int any_type(maker *m) {
  static const int type[] = {TT_F32,  TT_F32, TT_F32, TT_F64, TT_I32, TT_I64, TT_U8,
                             TT_BOOL, TT_I8,  TT_U64, TT_I16, TT_U16, TT_U32};
  return type[pick(m, 13)];
}

/* An instruction; its value, unless it is a store, can be read from now on. */
static void put(maker *m, int type, int scope, int phase, bool red, const char *fmt, ...) {
  char text[160];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  static const char *const at[] = {"", " @outer", " @row"};
  tt__str_addf(&m->insts, "%%%d = %s%s", m->ninst, text, at[scope]);
  if (scope != TT_SCOPE_CONST) tt__str_addf(&m->insts, "%d", phase);
  tt__str_add(&m->insts, "\n");
  if (type >= 0 && m->nv < MOST_VALUES) m->v[m->nv++] = (value){m->ninst, type, scope, phase, red};
  m->ninst++;
}

static bool visible(const value *v, int scope, int phase) {
  if (v->scope == TT_SCOPE_CONST) return true;
  if (v->red) return phase > v->phase;
  if (v->scope == TT_SCOPE_OUTER) return phase >= v->phase;
  return scope == TT_SCOPE_ROW && phase == v->phase;
}

/* Some value of `type` (any type when negative) that can be read there; -1 when there is none. */
static int find(maker *m, int type, int scope, int phase) {
  int at = -1, seen = 0;
  for (int i = 0; i < m->nv; i++)
    if ((type < 0 || m->v[i].type == type) && visible(&m->v[i], scope, phase) && pick(m, ++seen) == 0) at = i;
  return at;
}

static int add_access(maker *m, int type, bool write) {
  static const char *const lane[] = {"unit", "unit", "any", "any", "none"};
  static const int steps[] = {0, 0, -1, 2, 2, 3, 4, 8};
  const char *dir = write ? "write" : "read", *how = lane[pick(m, write ? 4 : 5)];
  if (m->by > 1 && m->by_at == m->naccess - 1 && m->by_type == type && m->by_write == write && m->nby < m->by &&
      pick(m, 3)) {
    m->nby++;
    m->by_at++;
    tt__str_addf(&m->accesses, "a%d: %s %s buf%d any by %d next\n", m->naccess, dir, suffix(type), m->nbuf - 1, m->by);
    return m->naccess++;
  }
  m->by = strcmp(how, "any") == 0 ? steps[pick(m, 8)] : 0;
  m->by_at = m->naccess;
  m->by_type = type;
  m->by_write = write;
  m->nby = 1;
  tt__str_addf(&m->accesses, "a%d: %s %s buf%d %s", m->naccess, dir, suffix(type), m->nbuf++, how);
  if (m->by) tt__str_addf(&m->accesses, " by %d", m->by);
  tt__str_add(&m->accesses, "\n");
  return m->naccess++;
}

/* How a register type may lie in memory. */
static int memory_type(maker *m, int type) { return type == TT_F32 && pick(m, 4) == 0 ? TT_F16 + pick(m, 2) : type; }

static void put_const(maker *m) {
  int type = any_type(m);
  tt__str_addf(&m->scalars, "s%d: %s\n", m->nscalar, suffix(type));
  put(m, type, TT_SCOPE_CONST, 0, false, "const.%s s%d", suffix(type), m->nscalar++);
}

static void put_load(maker *m, int scope, int phase) {
  if (pick(m, 8) == 0) {
    tt__str_addf(&m->accesses, "a%d: index any\n", m->naccess);
    put(m, TT_I64, scope, phase, false, "index.i64 a%d", m->naccess++);
    return;
  }
  int type = any_type(m), a = add_access(m, memory_type(m, type), false);
  put(m, type, scope, phase, false, "load.%s a%d", suffix(type), a);
}

static void put_store(maker *m, int v, int scope, int phase) {
  int a = add_access(m, memory_type(m, m->v[v].type), true);
  put(m, -1, scope, phase, false, "store.%s a%d %%%d", suffix(m->v[v].type), a, m->v[v].inst);
}

static void put_op(maker *m, int scope, int phase) {
  int x = find(m, -1, scope, phase);
  if (x < 0) return;
  int type = m->v[x].type, bit = type == TT_BOOL ? TT_OPT_B : tt__is_int((tt_dtype)type) ? TT_OPT_I : TT_OPT_F;
  int y = find(m, type, scope, phase), z = find(m, type, scope, phase), c = find(m, TT_BOOL, scope, phase);
  for (int turn = 0; turn < 100; turn++) {
    int op = pick(m, TT_OP_COUNT);
    if (op == TT_CAST) {
      int to = any_type(m);
      put(m, to, scope, phase, false, "cast.%s.%s %%%d", suffix(type), suffix(to), m->v[x].inst);
      return;
    }
    if (tt__ops[op].cls == TT_CLASS_DRAW && type == TT_U64) {
      int to = op == TT_PHILOX ? TT_U64 : pick(m, 2) ? TT_F32 : TT_F64;
      put(m, to, scope, phase, false, "%s.%s %%%d %%%d %%%d", tt__ops[op].lower, suffix(to), m->v[x].inst, m->v[y].inst,
          m->v[z].inst);
      return;
    }
    if (!(tt__ops[op].types & bit) || tt__ops[op].cls == TT_CLASS_DRAW) continue;
    if (op == TT_WHERE && c < 0) continue;
    if (op == TT_SIGNBIT || op == TT_COPYSIGN) continue; /* of NaN, whose sign no arithmetic promises */
    if (tt__ops[op].cls == TT_CLASS_SPECIAL) continue;   /* long texts: tests/oracle/test_special.py has them */
    int result = tt__kernel_result((tt_op)op, (tt_dtype)type);
    if (op == TT_WHERE)
      put(m, type, scope, phase, false, "where.%s %%%d %%%d %%%d", suffix(type), m->v[c].inst, m->v[y].inst,
          m->v[z].inst);
    else if (tt__ops[op].arity == 1)
      put(m, result, scope, phase, false, "%s.%s %%%d", tt__ops[op].lower, suffix(type), m->v[x].inst);
    else
      put(m, result, scope, phase, false, "%s.%s %%%d %%%d", tt__ops[op].lower, suffix(type), m->v[x].inst,
          m->v[y].inst);
    return;
  }
}

static void put_round(maker *m, int scope, int phase) {
  int x = find(m, TT_F32, scope, phase);
  if (x >= 0) put(m, TT_F32, scope, phase, false, "round.%s %%%d", pick(m, 2) ? "f16" : "bf16", m->v[x].inst);
}

static void put_reduce(maker *m, int phase) {
  static const char *const red[] = {"sum", "prod", "max", "min", "argmax", "argmin", "any", "all"};
  int x = find(m, -1, TT_SCOPE_ROW, phase);
  if (m->nred == 8 || x < 0) return;
  int type = m->v[x].type, r = pick(m, type == TT_BOOL ? 8 : 6);
  put(m, r == 4 || r == 5 ? TT_I64 : type, TT_SCOPE_ROW, phase, true, "%s.%s r%d %%%d", red[r], suffix(type), m->nred,
      m->v[x].inst);
  m->nred++;
}

static void put_scratch(maker *m, int phase) {
  for (int s = 0; s < m->nscratch; s++) {
    if (m->scratch_phase[s] >= phase) continue;
    tt__str_addf(&m->accesses, "a%d: read %s scratch%d unit\n", m->naccess, suffix(m->scratch_type[s]), s);
    put(m, m->scratch_type[s], TT_SCOPE_ROW, phase, false, "load.%s a%d", suffix(m->scratch_type[s]), m->naccess++);
  }
  int x = find(m, -1, TT_SCOPE_ROW, phase);
  if (m->nscratch == MOST_SCRATCH || x < 0) return;
  m->scratch_type[m->nscratch] = m->v[x].type;
  m->scratch_phase[m->nscratch] = phase;
  tt__str_addf(&m->accesses, "a%d: write %s scratch%d unit\n", m->naccess, suffix(m->v[x].type), m->nscratch++);
  put(m, -1, TT_SCOPE_ROW, phase, false, "store.%s a%d %%%d", suffix(m->v[x].type), m->naccess++, m->v[x].inst);
}

static void put_row(maker *m, int phase) {
  int x;
  for (int n = 1 + pick(m, 2); n > 0; n--) put_load(m, TT_SCOPE_ROW, phase);
  for (int n = pick(m, 7); n > 0; n--) put_op(m, TT_SCOPE_ROW, phase);
  if (m->mode == TT_MODE_ROW && pick(m, 3) == 0) put_scratch(m, phase);
  if (pick(m, 3) == 0) put_round(m, TT_SCOPE_ROW, phase);
  if (pick(m, 3) == 0 && (x = find(m, -1, TT_SCOPE_ROW, phase)) >= 0) put_store(m, x, TT_SCOPE_ROW, phase);
  for (int n = pick(m, 5); n > 0; n--) put_op(m, TT_SCOPE_ROW, phase);
  if (m->mode == TT_MODE_MAP)
    for (int n = 1 + pick(m, 2); n > 0; n--) put_store(m, find(m, -1, TT_SCOPE_ROW, phase), TT_SCOPE_ROW, phase);
  else
    for (int n = 1 + pick(m, 2); n > 0; n--) put_reduce(m, phase);
}

static void put_outer(maker *m, int phase) {
  if (pick(m, 2)) put_load(m, TT_SCOPE_OUTER, phase);
  for (int n = pick(m, 4); n > 0; n--) put_op(m, TT_SCOPE_OUTER, phase);
  if (phase > 0 && pick(m, 3) == 0) put_store(m, find(m, -1, TT_SCOPE_OUTER, phase), TT_SCOPE_OUTER, phase);
}

static tt_kernel *make_kernel(maker *m, tt_str *text) {
  static const char *const mode[] = {"map", "row", "col"};
  m->mode = pick(m, 3);
  m->nouter = m->mode == TT_MODE_COL ? 1 + pick(m, 2) : pick(m, m->mode == TT_MODE_MAP ? 4 : 3);
  m->naxes = m->nouter + (m->mode == TT_MODE_MAP ? 0 : 1 + pick(m, 2));
  m->nphase = m->mode == TT_MODE_MAP ? 1 : 1 + pick(m, 3);
  for (int n = pick(m, 3); n > 0; n--) put_const(m);
  for (int phase = 0; phase < m->nphase; phase++) {
    if (m->mode != TT_MODE_MAP) put_outer(m, phase);
    put_row(m, phase);
  }
  if (m->mode != TT_MODE_MAP) {
    put_outer(m, m->nphase);
    for (int i = 0, n = m->nv; i < n; i++)
      if (m->v[i].red) put_store(m, i, TT_SCOPE_OUTER, m->nphase);
  }
  tt__str_addf(text, "kernel %s outer=%d axes=%d phases=%d bufs=%d reds=%d\n", mode[m->mode], m->nouter, m->naxes,
               m->nphase, m->nbuf, m->nred);
  tt__str_add(text, m->scalars.data ? m->scalars.data : "");
  for (int s = 0; s < m->nscratch; s++) tt__str_addf(text, "t%d: %s\n", s, suffix(m->scratch_type[s]));
  tt__str_add(text, m->accesses.data ? m->accesses.data : "");
  tt__str_add(text, m->insts.data);
  tt_error err = {0};
  tt_kernel *k = NULL;
  if (tt__kernel_parse(text->data, &k, &err) != TT_OK) fprintf(stderr, "%s\n%s", err.message, text->data);
  CHECK(k);
  tt__str_free(&m->scalars);
  tt__str_free(&m->accesses);
  tt__str_free(&m->insts);
  return k;
}

/* Lengths at the edges of lanes and blocks, now and then at those of chunks. */
static void make_lengths(maker *m, int64_t *len) {
  static const int64_t edge[] = {1, 2, 3, 7, 31, 63, 64, 65, 130, 257};
  int64_t points = 1;
  for (int k = m->naxes - 1; k >= 0; k--) {
    len[k] = edge[pick(m, 10)];
    if (m->ninst < 14 && m->mode != TT_MODE_MAP && k == m->naxes - 1 && pick(m, 12) == 0)
      len[k] = m->mode == TT_MODE_ROW ? 66000 : 4097;
    while (points * len[k] > 140000 || (points > 3000 && len[k] > 7)) len[k] = (len[k] + 1) / 2;
    points *= len[k];
  }
}

/* May the row be done chunk by chunk? */
static inline bool may_split(const tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++)
    if (k->inst[i].op == TT_K_STORE && k->inst[i].scope == TT_SCOPE_ROW) return false;
  return k->nphase == 1 && k->nred > 0;
}

#endif
