/*
** Values in registers: each node becomes the instructions for it, its operands before it.
*/
#include <stdio.h>
#include <string.h>

#include "device/cpu/baseline/baseline_int.h"

const int tt__scratch[TT_SCRATCH] = {TT_RAX, TT_RCX, TT_RDX, TT_RSI, TT_RDI};

/* ---- what is asked about expressions */

static tt_baseline_c cast_function(tt_dtype from, tt_dtype to) {
  char name[48];
  const char *types;
  const char *a = tt__dtypes[from].suffix, *b = tt__dtypes[to].suffix;
  snprintf(name, sizeof name, tt__is_float(from) ? "tt_whole_%s_%s" : "tt_cast_%s_%s", a, b);
  return tt__baseline_helper(name, &types);
}

static bool mentions(const tt_pexpr *e, int32_t local) {
  if (e->op == TT_X_LOCAL && e->k == local) return true;
  for (int k = 0; k < e->n; k++)
    if (mentions(e->arg[k], local)) return true;
  return false;
}

bool tt__baseline_is_safe(const tt_pexpr *e, int32_t local) {
  if (e->op == TT_X_LOCAL || e->op == TT_X_CONST || e->op == TT_X_LOAD || e->op == TT_X_LEN) return true;
  if (e->op == TT_X_SELECT) return tt__baseline_is_safe(e->arg[1], local) && tt__baseline_is_safe(e->arg[2], local);
  if (e->op != TT_X_ELEM && e->op != TT_X_CAST) return !mentions(e, local);
  for (int k = 1; k < e->n; k++)
    if (mentions(e->arg[k], local)) return false;
  return e->n == 0 || tt__baseline_is_safe(e->arg[0], local);
}

/* As the rendered C has it: what is narrower than 64 bits and signed is an int there. */
int64_t tt__baseline_constant(const tt_pexpr *e) {
  switch ((tt_dtype)e->type->dtype) {
    case TT_I64:
    case TT_U64:
      return e->i;
    case TT_U32:
      return (int64_t)(uint32_t)e->i;
    case TT_U16:
      return (int64_t)(uint16_t)e->i;
    case TT_U8:
      return (int64_t)(uint8_t)e->i;
    default:
      return (int64_t)(int32_t)e->i;
  }
}

/* The register that is a variable's location; TT_NO_REG: it has none, or it is no variable. */
static int register_of(const tt_baseline_maker *m, const tt_pexpr *e) {
  return e->op == TT_X_LOCAL ? m->location[tt__baseline_local(m, e->k)].reg : TT_NO_REG;
}

static bool is_small(const tt_pexpr *e) {
  if (e->op != TT_X_CONST || !tt__baseline_is_int(e->type)) return false;
  int64_t c = tt__baseline_constant(e);
  return c == (int32_t)c;
}

bool tt__baseline_enough(tt_baseline_maker *m, int d, int v) {
  if (d <= TT_SCRATCH && v <= TT_SCRATCH_REAL) return true;
  tt__baseline_decline(m, "an expression is too deep");
  return false;
}

static bool is_wide(const tt_ptype *t) { return t->dtype == TT_I64 || t->dtype == TT_U64; }

/* Did Python's types come out as they should? The rendered C would convert, which is not expected. */
bool tt__baseline_same(tt_baseline_maker *m, const tt_ptype *a, const tt_ptype *b) {
  if (a->tag == b->tag && a->dtype == b->dtype) return true;
  tt__baseline_decline(m, "operands of two types");
  return false;
}

/* ---- operands */

/* A float for the right side of an instruction: the register it is in, or is put into. */
int tt__baseline_real_operand(tt_baseline_maker *m, const tt_pexpr *e, int d, int v) {
  if (tt__baseline_is_real(e->type) && register_of(m, e) >= 0) return register_of(m, e);
  if (!tt__baseline_enough(m, d, v + 1)) return 0;
  tt__baseline_real(m, e, v, d, v + 1);
  return v;
}

/* An integer for the left side of a comparison, which stays as it is. */
int tt__baseline_int_operand(tt_baseline_maker *m, const tt_pexpr *e, int *d, int v) {
  if (tt__baseline_is_int(e->type) && register_of(m, e) >= 0) return register_of(m, e);
  if (!tt__baseline_enough(m, *d + 1, v)) return TT_RAX;
  int reg = tt__scratch[(*d)++];
  tt__baseline_int(m, e, reg, *d, v);
  return reg;
}

/* The word of a variable, or of an array's length and the like, that is an integer; -1: something else. */
static int word_of(tt_baseline_maker *m, const tt_pexpr *e) {
  if (e->op == TT_X_LOCAL && tt__baseline_is_int(e->type)) return tt__baseline_local(m, e->k);
  if (e->op == TT_X_ITEM && tt__baseline_is_int(e->type)) return tt__baseline_item(m, e);
  return tt__baseline_array_word(m, e);
}

int tt__baseline_item(tt_baseline_maker *m, const tt_pexpr *e) {
  const tt_pexpr *tuple = e->arg[0];
  if (tuple->op != TT_X_LOCAL || e->type != tuple->type->item[e->k]) {
    tt__baseline_decline(m, "an item of a tuple");
    return -1;
  }
  int at = tt__baseline_local(m, tuple->k);
  for (int k = 0; k < e->k; k++) at += tt__ptype_words(tuple->type->item[k]);
  return at;
}

/* reg = reg op e */
void tt__baseline_alu(tt_baseline_maker *m, tt_x86_alu op, int reg, const tt_pexpr *e, int d, int v) {
  int word = word_of(m, e);
  if (is_small(e)) {
    tt__x86_alu_imm(&m->x, op, reg, (int32_t)tt__baseline_constant(e));
  } else if (word >= 0) {
    tt__baseline_alu_word(m, op, reg, word);
  } else if (tt__baseline_enough(m, d + 1, v)) {
    tt__baseline_int(m, e, tt__scratch[d], d + 1, v);
    tt__x86_alu(&m->x, op, reg, tt__scratch[d]);
  }
}

/* A function of proc/proc_text.h, whose types must be those of the expressions. */
static void put_helper(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  const char *types = "";
  tt_baseline_c fn = tt__baseline_helper(e->name, &types);
  bool fits = fn && (int)strlen(types) == 1 + (e->k != 0) + e->n;
  for (int k = -1; fits && k < e->n; k++) {
    const tt_ptype *t = k < 0 ? e->type : e->arg[k]->type;
    char want = types[k < 0 ? 0 : 1 + (e->k != 0) + k];
    fits = t->tag == TT_T_SCALAR && t->dtype == (want == 'd' ? TT_F64 : TT_I64);
  }
  if (fits)
    tt__baseline_call_with(m, fn, e->k != 0, e->arg, e->n, e->type, to, d, v);
  else
    tt__baseline_decline(m, "a function");
}

/* ---- integers */

static void put_int_load(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  tt_x86_mem at = tt__baseline_place(m, e, &d, v);
  tt__x86_load(&m->x, to, at, tt__baseline_size(e->type), tt__baseline_signed(e->type));
}

/* Quotient or rest of what are in scratch registers d and d + 1, neither negative, or unsigned. */
static void put_division(tt_baseline_maker *m, bool rest, bool is_signed, int to, int d) {
  if (d > 0) { /* the processor divides in fixed registers; they are those of d and d + 1 where d is 0 */
    tt__baseline_push(m, d + 2, 0);
    tt__x86_load(&m->x, TT_RAX, tt__baseline_word(m->temp + d), 8, false);
    tt__x86_load(&m->x, TT_RCX, tt__baseline_word(m->temp + d + 1), 8, false);
  }
  if (is_signed)
    tt__x86_cqo(&m->x);
  else
    tt__x86_mov_imm(&m->x, TT_RDX, 0);
  tt__x86_divide(&m->x, TT_RCX, is_signed);
  tt__x86_mov(&m->x, to, rest ? TT_RDX : TT_RAX);
  tt__baseline_pop(m, d, 0, to, TT_NO_REG);
}

/* Division by a power of two; rounding down, the rest is the low bits of negative numbers too. */
static bool put_power(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  const tt_pexpr *b = e->arg[1];
  if (b->op != TT_X_CONST || b->i <= 0 || (b->i & (b->i - 1)) != 0) return false;
  tt__baseline_int(m, e->arg[0], to, d, v);
  if (e->elem == TT_FLOORDIV) {
    tt_x86_shift way = e->type->dtype == TT_U64 ? TT_SHIFT_RIGHT : TT_SHIFT_SIGNED;
    tt__x86_shift(&m->x, way, to, __builtin_ctzll((unsigned long long)b->i));
  } else if (b->i - 1 == (int32_t)(b->i - 1)) {
    tt__x86_alu_imm(&m->x, TT_ALU_AND, to, (int32_t)(b->i - 1));
  } else if (tt__baseline_enough(m, d + 1, v)) {
    tt__x86_mov_imm(&m->x, tt__scratch[d], b->i - 1);
    tt__x86_alu(&m->x, TT_ALU_AND, to, tt__scratch[d]);
  }
  return true;
}

/* Operands of a division in scratch registers from d and v on; where it is checked, not by 0. */
static bool put_operands(tt_baseline_maker *m, const tt_pexpr *e, bool checked, int d, int v) {
  if (!tt__baseline_same(m, e->arg[0]->type, e->arg[1]->type)) return false;
  if (tt__baseline_is_real(e->arg[0]->type)) {
    bool narrow = e->arg[0]->type->dtype == TT_F32;
    if (!tt__baseline_enough(m, d, v + 3)) return false;
    tt__baseline_real(m, e->arg[0], v, d, v + 1);
    tt__baseline_real(m, e->arg[1], v + 1, d, v + 2);
    if (!checked) return true;
    int past = tt__x86_label(&m->x);
    tt__x86_sse(&m->x, TT_SSE_XOR, v + 2, v + 2, narrow);
    tt__x86_ucomis(&m->x, v + 1, v + 2, narrow);
    tt__x86_jump_if(&m->x, TT_CC_P, past);
    tt__x86_jump_if(&m->x, TT_CC_E, tt__baseline_failing(m, TT_EZERODIV, "division by zero", e->line));
    tt__x86_place(&m->x, past);
    return true;
  }
  if (!tt__baseline_enough(m, d + 2, v)) return false;
  tt__baseline_int(m, e->arg[0], tt__scratch[d], d + 1, v);
  tt__baseline_int(m, e->arg[1], tt__scratch[d + 1], d + 2, v);
  if (!checked) return true;
  tt__x86_test(&m->x, tt__scratch[d + 1], tt__scratch[d + 1]);
  tt__x86_jump_if(&m->x, TT_CC_E, tt__baseline_failing(m, TT_EZERODIV, "division by zero", e->line));
  return true;
}

static void put_int_division(tt_baseline_maker *m, const tt_pexpr *e, bool checked, int to, int d, int v) {
  const tt_pexpr *a = e->arg[0], *b = e->arg[1];
  bool safe = checked || (b->op == TT_X_CONST && b->i > 0);
  if (!checked && is_wide(e->type) && put_power(m, e, to, d, v)) return;
  if (!put_operands(m, e, checked, d, v)) return;
  if (is_wide(e->type) && a->nonneg && b->nonneg && safe) {
    put_division(m, e->elem == TT_MOD, e->type->dtype == TT_I64, to, d);
    return;
  }
  tt_baseline_called c = {
      .fn = tt__scalar_function((tt_op)e->elem, (tt_dtype)a->type->dtype), .d = d, .nint = 2, .v = v};
  c.result = e->type;
  c.to = to;
  tt__baseline_call(m, &c);
}

static void put_product(tt_baseline_maker *m, const tt_pexpr *b, int to, int d, int v) {
  int word = word_of(m, b);
  if (is_small(b)) {
    tt__x86_imul_imm(&m->x, to, to, (int32_t)tt__baseline_constant(b));
  } else if (word >= 0) {
    tt__baseline_imul_word(m, to, word);
  } else if (tt__baseline_enough(m, d + 1, v)) {
    tt__baseline_int(m, b, tt__scratch[d], d + 1, v);
    tt__x86_imul(&m->x, to, tt__scratch[d]);
  }
}

/* An operation of integers that is one instruction; false: it is not. */
static bool put_plain(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  static const struct {
    uint8_t op, alu;
    bool truths; /* of bool too */
  } rows[] = {{TT_ADD, TT_ALU_ADD, false},
              {TT_SUB, TT_ALU_SUB, false},
              {TT_AND, TT_ALU_AND, true},
              {TT_OR, TT_ALU_OR, true},
              {TT_XOR, TT_ALU_XOR, true}};
  const tt_ptype *t = e->arg[0]->type;
  bool wide = is_wide(t), shift = e->elem == TT_SHL || e->elem == TT_SHR;
  if (wide && (e->elem == TT_NEG || e->elem == TT_SQUARE) && e->n == 1) {
    tt__baseline_int(m, e->arg[0], to, d, v);
    if (e->elem == TT_NEG)
      tt__x86_neg(&m->x, to);
    else
      tt__x86_imul(&m->x, to, to);
    return true;
  }
  if (e->n != 2 || !tt__baseline_same(m, t, e->arg[1]->type)) return false;
  if (wide && shift && e->arg[1]->op == TT_X_CONST && (uint64_t)e->arg[1]->i < 64) {
    tt__baseline_int(m, e->arg[0], to, d, v);
    tt__x86_shift(&m->x,
                  e->elem == TT_SHL    ? TT_SHIFT_LEFT
                  : t->dtype == TT_U64 ? TT_SHIFT_RIGHT
                                       : TT_SHIFT_SIGNED,
                  to, (int)e->arg[1]->i);
    return true;
  }
  if (wide && e->elem == TT_MUL) {
    tt__baseline_int(m, e->arg[0], to, d, v);
    put_product(m, e->arg[1], to, d, v);
    return true;
  }
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (rows[k].op != e->elem || !(wide || (rows[k].truths && t->dtype == TT_BOOL))) continue;
    tt__baseline_int(m, e->arg[0], to, d, v);
    tt__baseline_alu(m, (tt_x86_alu)rows[k].alu, to, e->arg[1], d, v);
    return true;
  }
  return false;
}

/* By a function of the prelude: its operands are of one type (but WHERE's condition), and so is what it gives. */
static void put_function(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  const tt_ptype *t = e->arg[e->n - 1]->type;
  int class = tt__ops[e->elem].cls;
  bool truth = class == TT_CLASS_COMPARE || class == TT_CLASS_LOGIC || class == TT_CLASS_TEST;
  bool fits = t->tag == TT_T_SCALAR && (truth ? e->type->dtype == TT_BOOL : e->type == t);
  for (int k = e->elem == TT_WHERE; k < e->n - 1; k++) fits &= e->arg[k]->type == t;
  if (fits)
    tt__baseline_call_with(m, tt__scalar_function((tt_op)e->elem, (tt_dtype)t->dtype), false, e->arg, e->n, e->type, to,
                           d, v);
  else
    tt__baseline_decline(m, "operands of two types");
}

static void put_int_elem(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  if (e->elem == TT_LNOT && tt__baseline_is_int(e->arg[0]->type)) {
    int reg = tt__baseline_int_operand(m, e->arg[0], &d, v);
    tt__x86_test(&m->x, reg, reg);
    tt__x86_set(&m->x, TT_CC_E, to);
  } else if (tt__baseline_is_compare(e) &&
             (tt__baseline_is_int(e->arg[0]->type) || tt__baseline_is_real(e->arg[0]->type))) {
    tt__baseline_compare(m, e, to, d, v);
  } else if (tt__baseline_is_int(e->arg[0]->type) && (e->elem == TT_FLOORDIV || e->elem == TT_MOD)) {
    put_int_division(m, e, false, to, d, v);
  } else if (!tt__baseline_is_int(e->arg[0]->type) || !put_plain(m, e, to, d, v)) {
    put_function(m, e, to, d, v);
  }
}

static void put_int_cast(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  const tt_pexpr *a = e->arg[0];
  int size = tt__baseline_size(e->type), t = e->type->dtype;
  if (tt__baseline_is_int(a->type) && t == TT_BOOL) {
    int reg = tt__baseline_int_operand(m, a, &d, v);
    tt__x86_test(&m->x, reg, reg);
    tt__x86_set(&m->x, TT_CC_NE, to);
  } else if (tt__baseline_is_int(a->type)) {
    tt__baseline_int(m, a, to, d, v);
    if (size < 8) tt__x86_extend(&m->x, to, to, size, tt__baseline_signed(e->type));
  } else if (!tt__baseline_is_real(a->type)) {
    tt__baseline_decline(m, "a type of numbers");
  } else if (t == TT_BOOL) {
    tt_pexpr zero = {.op = TT_X_CONST, .type = a->type}, *arg[2] = {e->arg[0], &zero};
    tt_pexpr test = {.op = TT_X_ELEM, .elem = TT_NE, .n = 2, .type = e->type, .arg = arg};
    tt__baseline_condition(m, &test, to, d, v);
  } else if (t == TT_I64 || t == TT_I32) {
    bool narrow = a->type->dtype == TT_F32;
    int reg = tt__baseline_real_operand(m, a, d, v);
    tt__x86_cvtt(&m->x, to, reg, narrow, t == TT_I64);
    if (t == TT_I32) tt__x86_extend(&m->x, to, to, 4, true);
  } else {
    tt__baseline_call_with(m, cast_function((tt_dtype)a->type->dtype, (tt_dtype)t), false, e->arg, 1, e->type, to, d,
                           v);
  }
}

/* One of two values, by `put` of their kind. */
static void put_select(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v,
                       void (*put)(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v)) {
  if (!tt__baseline_same(m, e->arg[1]->type, e->type) || !tt__baseline_same(m, e->arg[2]->type, e->type)) return;
  int no = tt__x86_label(&m->x), end = tt__x86_label(&m->x);
  tt__baseline_branch(m, e->arg[0], false, no, d, v);
  put(m, e->arg[1], to, d, v);
  tt__x86_jump(&m->x, end);
  tt__x86_place(&m->x, no);
  put(m, e->arg[2], to, d, v);
  tt__x86_place(&m->x, end);
}

void tt__baseline_int(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  if (m->why || m->x.failed || !tt__baseline_enough(m, d, v)) return;
  if (!tt__baseline_is_int(e->type)) {
    tt__baseline_decline(m, "a type of numbers");
    return;
  }
  int word = word_of(m, e);
  if (word >= 0) {
    tt__baseline_get(m, word, to);
    return;
  }
  switch ((tt_pop)e->op) {
    case TT_X_CONST:
      tt__x86_mov_imm(&m->x, to, tt__baseline_constant(e));
      break;
    case TT_X_CAST:
      put_int_cast(m, e, to, d, v);
      break;
    case TT_X_ELEM:
      put_int_elem(m, e, to, d, v);
      break;
    case TT_X_DIVIDE:
      put_int_division(m, e, true, to, d, v);
      break;
    case TT_X_SELECT:
      put_select(m, e, to, d, v, tt__baseline_int);
      break;
    case TT_X_ALSO:
    case TT_X_ELSE:
      tt__baseline_condition(m, e, to, d, v);
      break;
    case TT_X_LOAD:
      put_int_load(m, e, to, d, v);
      break;
    case TT_X_HELPER:
      put_helper(m, e, to, d, v);
      break;
    case TT_X_CALL:
      word = tt__baseline_user_call(m, e, d, v);
      if (word >= 0) tt__x86_load(&m->x, to, tt__baseline_word(word), 8, false);
      if (word >= 0) tt__baseline_pop(m, d, v, to, TT_NO_REG);
      break;
    default:
      tt__baseline_decline(m, "an operation");
  }
}

/* ---- floats */

static void put_real_constant(tt_baseline_maker *m, double f, bool narrow, int to) {
  uint64_t bits = 0;
  float f32 = (float)f;
  if (f != f)
    bits = narrow ? 0x7fc00000u : UINT64_C(0x7ff8000000000000);
  else if (narrow)
    memcpy(&bits, &f32, sizeof f32);
  else
    memcpy(&bits, &f, sizeof f);
  if (bits)
    tt__x86_loads(&m->x, to, tt__x86_of_label(tt__x86_constant(&m->x, bits)), narrow);
  else
    tt__x86_sse(&m->x, TT_SSE_XOR, to, to, narrow);
}

/* to = to op e */
static void put_sse(tt_baseline_maker *m, tt_x86_sse op, int to, const tt_pexpr *e, int d, int v) {
  bool narrow = e->type->dtype == TT_F32;
  if (e->op == TT_X_LOAD && tt__baseline_is_real(e->type)) {
    tt_x86_mem at = tt__baseline_place(m, e, &d, v);
    tt__x86_sse_mem(&m->x, op, to, at, narrow);
  } else {
    int reg = tt__baseline_real_operand(m, e, d, v);
    tt__x86_sse(&m->x, op, to, reg, narrow);
  }
}

/* The sign of a float, turned or cleared. */
static void put_sign(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  bool narrow = e->type->dtype == TT_F32, turn = e->elem == TT_NEG;
  uint64_t sign = narrow ? UINT64_C(0x80000000) : UINT64_C(1) << 63;
  if (!tt__baseline_enough(m, d, v + 1)) return;
  tt__baseline_real(m, e->arg[0], to, d, v);
  tt__x86_loads(&m->x, v, tt__x86_of_label(tt__x86_constant(&m->x, turn ? sign : narrow ? sign - 1 : ~sign)), narrow);
  tt__x86_sse(&m->x, turn ? TT_SSE_XOR : TT_SSE_AND, to, v, narrow);
}

static void put_real_elem(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  bool narrow = e->type->dtype == TT_F32, same_types = true;
  tt_x86_sse op = e->elem == TT_ADD   ? TT_SSE_ADD
                  : e->elem == TT_SUB ? TT_SSE_SUB
                  : e->elem == TT_MUL ? TT_SSE_MUL
                                      : TT_SSE_DIV;
  for (int k = 0; k < e->n; k++) same_types &= e->arg[k]->type == e->type;
  if (!same_types) {
    put_function(m, e, to, d, v);
    return;
  }
  switch ((tt_op)e->elem) {
    case TT_ADD:
    case TT_SUB:
    case TT_MUL:
    case TT_DIV:
      tt__baseline_real(m, e->arg[0], to, d, v);
      put_sse(m, op, to, e->arg[1], d, v);
      break;
    case TT_SQUARE:
      tt__baseline_real(m, e->arg[0], to, d, v);
      tt__x86_sse(&m->x, TT_SSE_MUL, to, to, narrow);
      break;
    case TT_SQRT:
      tt__baseline_real(m, e->arg[0], to, d, v);
      tt__x86_sse(&m->x, TT_SSE_SQRT, to, to, narrow);
      break;
    case TT_NEG:
    case TT_ABS:
      put_sign(m, e, to, d, v);
      break;
    default:
      put_function(m, e, to, d, v);
  }
}

static void put_real_cast(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  const tt_pexpr *a = e->arg[0];
  bool narrow = e->type->dtype == TT_F32;
  if (tt__baseline_is_real(a->type)) {
    if (a->type == e->type) {
      tt__baseline_real(m, a, to, d, v);
      return;
    }
    int reg = tt__baseline_real_operand(m, a, d, v);
    tt__x86_cvts(&m->x, to, reg, !narrow);
  } else if (a->type->tag == TT_T_SCALAR && a->type->dtype == TT_U64) {
    tt__baseline_call_with(m, cast_function(TT_U64, (tt_dtype)e->type->dtype), false, e->arg, 1, e->type, to, d, v);
  } else {
    int reg = tt__baseline_int_operand(m, a, &d, v);
    tt__x86_cvt_from_int(&m->x, to, reg, narrow);
  }
}

static void put_real_divide(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  bool narrow = e->type->dtype == TT_F32;
  if (!put_operands(m, e, true, d, v)) return;
  if (e->elem == TT_DIV) {
    tt__x86_sse(&m->x, TT_SSE_DIV, v, v + 1, narrow);
    tt__x86_movs(&m->x, to, v);
    return;
  }
  tt_baseline_called c = {
      .fn = tt__scalar_function((tt_op)e->elem, (tt_dtype)e->type->dtype), .d = d, .v = v, .nreal = 2};
  c.result = e->type;
  c.to = to;
  tt__baseline_call(m, &c);
}

void tt__baseline_real(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  if (m->why || m->x.failed || !tt__baseline_enough(m, d, v)) return;
  if (!tt__baseline_is_real(e->type)) {
    tt__baseline_decline(m, "a type of numbers");
    return;
  }
  bool narrow = e->type->dtype == TT_F32;
  int word;
  switch ((tt_pop)e->op) {
    case TT_X_CONST:
      put_real_constant(m, e->f[0], narrow, to);
      break;
    case TT_X_LOCAL:
      tt__baseline_get_real(m, tt__baseline_local(m, e->k), to);
      break;
    case TT_X_ITEM:
      word = tt__baseline_item(m, e);
      if (word >= 0) tt__x86_loads(&m->x, to, tt__baseline_word(word), narrow);
      break;
    case TT_X_CAST:
      put_real_cast(m, e, to, d, v);
      break;
    case TT_X_ELEM:
      put_real_elem(m, e, to, d, v);
      break;
    case TT_X_DIVIDE:
      put_real_divide(m, e, to, d, v);
      break;
    case TT_X_SELECT:
      put_select(m, e, to, d, v, tt__baseline_real);
      break;
    case TT_X_LOAD: {
      tt_x86_mem at = tt__baseline_place(m, e, &d, v);
      tt__x86_loads(&m->x, to, at, narrow);
      break;
    }
    case TT_X_HELPER:
      put_helper(m, e, to, d, v);
      break;
    case TT_X_CALL:
      word = tt__baseline_user_call(m, e, d, v);
      if (word >= 0) tt__x86_loads(&m->x, to, tt__baseline_word(word), narrow);
      if (word >= 0) tt__baseline_pop(m, d, v, TT_NO_REG, to);
      break;
    default:
      tt__baseline_decline(m, "an operation");
  }
}
