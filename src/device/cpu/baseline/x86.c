/*
** Forms of instructions: prefixes, the operation, registers or a place in memory, a number.
*/
#include "device/cpu/baseline/x86.h"

#include <assert.h>
#include <string.h>

void tt__x86_free(tt_x86 *x) {
  TT_VEC_FREE(&x->code);
  TT_VEC_FREE(&x->label);
  TT_VEC_FREE(&x->fix);
  TT_VEC_FREE(&x->pool);
  TT_VEC_FREE(&x->pool_label);
}

/* ---- bytes */

static void put(tt_x86 *x, unsigned byte) {
  if (!x->failed && !TT_VEC_PUSH(&x->code, (uint8_t)byte)) x->failed = true;
}

static void put32(tt_x86 *x, int64_t value) {
  for (int k = 0; k < 4; k++) put(x, (unsigned)((uint64_t)value >> (8 * k)) & 255);
}

static void put64(tt_x86 *x, uint64_t value) {
  put32(x, (int64_t)(value & 0xffffffff));
  put32(x, (int64_t)(value >> 32));
}

static bool fits8(int64_t v) { return v == (int8_t)v; }
static bool fits32(int64_t v) { return v == (int32_t)v; }

/* ---- labels */

int tt__x86_label(tt_x86 *x) {
  if (x->label.n == 0 && !TT_VEC_PUSH(&x->label, -1)) x->failed = true;
  if (x->failed || !TT_VEC_PUSH(&x->label, -1)) {
    x->failed = true;
    return 0;
  }
  return (int)x->label.n - 1;
}

void tt__x86_place(tt_x86 *x, int label) {
  assert(label > 0 && label < x->label.n);
  if (x->failed) return;
  assert(label > 0 && label < x->label.n && x->label.data[label] < 0);
  x->label.data[label] = x->code.n;
}

int tt__x86_constant(tt_x86 *x, uint64_t bits) {
  for (int64_t k = 0; k < x->pool.n; k++)
    if (x->pool.data[k] == bits) return x->pool_label.data[k];
  int label = tt__x86_label(x);
  if (!x->failed && (!TT_VEC_PUSH(&x->pool, bits) || !TT_VEC_PUSH(&x->pool_label, label))) x->failed = true;
  return label;
}

/* Four bytes that will say how far the label is. */
static void put_distance(tt_x86 *x, int label) {
  assert(x->failed || (label > 0 && label < x->label.n));
  tt_x86_fix f = {.at = x->code.n, .label = label};
  if (!x->failed && !TT_VEC_PUSH(&x->fix, f)) x->failed = true;
  put32(x, 0);
}

int64_t tt__x86_size(const tt_x86 *x) { return ((x->code.n + 15) & ~(int64_t)15) + 8 * x->pool.n; }

void tt__x86_end(tt_x86 *x, int data, int64_t data_at) {
  while (!x->failed && x->code.n % 16) put(x, 0xcc);
  for (int64_t k = 0; k < x->pool.n && !x->failed; k++) {
    tt__x86_place(x, x->pool_label.data[k]);
    put64(x, x->pool.data[k]);
  }
  if (!x->failed && data) x->label.data[data] = data_at;
  for (int64_t k = 0; k < x->fix.n && !x->failed; k++) {
    tt_x86_fix f = x->fix.data[k];
    assert(x->label.data[f.label] >= 0);
    int64_t far = x->label.data[f.label] - (f.at + 4 + f.after);
    if (!fits32(far)) x->failed = true;
    int32_t d = (int32_t)far;
    memcpy(x->code.data + f.at, &d, sizeof d);
  }
}

/* ---- operands */

enum { REX_W = 8 };

/* The prefix that widens an operation or names registers beyond 7. `always`: bytes of registers 4 to 7. */
static void put_rex(tt_x86 *x, int w, int reg, int index, int base, bool always) {
  assert(reg >= -1 && reg < 16 && index < 16 && base < 16);
  unsigned rex = (unsigned)w | (reg > 7 ? 4u : 0) | (index > 7 ? 2u : 0) | (base > 7 ? 1u : 0);
  if (rex || always) put(x, 0x40 | rex);
}

static void put_regs(tt_x86 *x, int reg, int rm) {
  assert(reg >= 0 && reg < 16 && rm >= 0 && rm < 16);
  put(x, 0xc0u | (unsigned)(reg & 7) << 3 | (unsigned)(rm & 7));
}

static void put_mem(tt_x86 *x, int reg, tt_x86_mem m) {
  unsigned r = (unsigned)(reg & 7) << 3;
  if (m.label) {
    put(x, r | 5);
    put_distance(x, m.label);
    return;
  }
  assert(m.base >= 0 && m.index != TT_RSP);
  bool far8 = fits8(m.far), none = m.far == 0 && (m.base & 7) != TT_RBP;
  unsigned mode = none ? 0 : far8 ? 0x40 : 0x80;
  if (m.index >= 0 || (m.base & 7) == TT_RSP) {
    unsigned scale = m.scale == 8 ? 3 : m.scale == 4 ? 2 : m.scale == 2 ? 1 : 0;
    put(x, mode | r | 4);
    put(x, scale << 6 | (unsigned)((m.index < 0 ? TT_RSP : m.index) & 7) << 3 | (unsigned)(m.base & 7));
  } else {
    put(x, mode | r | (unsigned)(m.base & 7));
  }
  if (none) return;
  if (far8)
    put(x, (unsigned)m.far & 255);
  else
    put32(x, m.far);
}

/* One byte of operation, after its prefixes, with two registers or a register and memory. */
static void put_op(tt_x86 *x, int w, unsigned op, int reg, int rm) {
  put_rex(x, w, reg, 0, rm, false);
  put(x, op);
  put_regs(x, reg, rm);
}
static void put_op_mem(tt_x86 *x, int w, unsigned op, int reg, tt_x86_mem m) {
  put_rex(x, w, reg, m.index, m.base, false);
  put(x, op);
  put_mem(x, reg, m);
}
/* The same for operations behind 0f, with a prefix (0: none) before all. */
static void put_long(tt_x86 *x, unsigned prefix, int w, unsigned op, int reg, int rm) {
  if (prefix) put(x, prefix);
  put_rex(x, w, reg, 0, rm, false);
  put(x, 0x0f);
  put(x, op);
  put_regs(x, reg, rm);
}
static void put_long_mem(tt_x86 *x, unsigned prefix, int w, unsigned op, int reg, tt_x86_mem m) {
  if (prefix) put(x, prefix);
  put_rex(x, w, reg, m.index, m.base, false);
  put(x, 0x0f);
  put(x, op);
  put_mem(x, reg, m);
}

/* ---- integers */

void tt__x86_mov(tt_x86 *x, int to, int from) {
  assert(to >= 0 && to < 16 && from >= 0 && from < 16);
  if (to != from) put_op(x, REX_W, 0x8b, to, from);
}

void tt__x86_mov_imm(tt_x86 *x, int to, int64_t value) {
  assert(to >= 0 && to < 16);
  if (value == (int64_t)(uint32_t)value) { /* 32 bits clear the upper ones */
    put_rex(x, 0, 0, 0, to, false);
    put(x, 0xb8u | (unsigned)(to & 7));
    put32(x, value);
  } else if (fits32(value)) {
    put_rex(x, REX_W, 0, 0, to, false);
    put(x, 0xc7);
    put_regs(x, 0, to);
    put32(x, value);
  } else {
    put_rex(x, REX_W, 0, 0, to, false);
    put(x, 0xb8u | (unsigned)(to & 7));
    put64(x, (uint64_t)value);
  }
}

void tt__x86_load(tt_x86 *x, int to, tt_x86_mem from, int size, bool is_signed) {
  assert(size == 1 || size == 2 || size == 4 || size == 8);
  if (size == 8)
    put_op_mem(x, REX_W, 0x8b, to, from);
  else if (size == 4)
    put_op_mem(x, is_signed ? REX_W : 0, is_signed ? 0x63 : 0x8b, to, from);
  else
    put_long_mem(x, 0, REX_W, (is_signed ? 0xbeu : 0xb6u) | (size == 2 ? 1u : 0u), to, from);
}

void tt__x86_store(tt_x86 *x, tt_x86_mem to, int from, int size) {
  if (size == 2) put(x, 0x66);
  put_rex(x, size == 8 ? REX_W : 0, from, to.index, to.base, size == 1);
  put(x, size == 1 ? 0x88 : 0x89);
  put_mem(x, from, to);
}

void tt__x86_extend(tt_x86 *x, int to, int from, int size, bool is_signed) {
  assert(size == 1 || size == 2 || size == 4 || size == 8);
  if (size == 8)
    tt__x86_mov(x, to, from);
  else if (size == 4)
    put_op(x, is_signed ? REX_W : 0, is_signed ? 0x63 : 0x8b, to, from);
  else
    put_long(x, 0, REX_W, (is_signed ? 0xbeu : 0xb6u) | (size == 2 ? 1u : 0u), to, from);
}

void tt__x86_lea(tt_x86 *x, int to, tt_x86_mem from) { put_op_mem(x, REX_W, 0x8d, to, from); }

void tt__x86_alu(tt_x86 *x, tt_x86_alu op, int to, int from) { put_op(x, REX_W, (unsigned)op << 3 | 3, to, from); }
void tt__x86_alu_mem(tt_x86 *x, tt_x86_alu op, int to, tt_x86_mem from) {
  put_op_mem(x, REX_W, (unsigned)op << 3 | 3, to, from);
}
void tt__x86_alu_imm(tt_x86 *x, tt_x86_alu op, int to, int32_t value) {
  put_op(x, REX_W, fits8(value) ? 0x83 : 0x81, (int)op, to);
  if (fits8(value))
    put(x, (unsigned)value & 255);
  else
    put32(x, value);
}

void tt__x86_cmp32_mem_imm(tt_x86 *x, tt_x86_mem a, int8_t value) {
  put_op_mem(x, 0, 0x83, TT_ALU_CMP, a);
  if (a.label && !x->failed) x->fix.data[x->fix.n - 1].after = 1; /* the number */
  put(x, (unsigned)value & 255);
}

void tt__x86_dec_mem(tt_x86 *x, tt_x86_mem a) { put_op_mem(x, REX_W, 0xff, 1, a); }

void tt__x86_imul(tt_x86 *x, int to, int from) { put_long(x, 0, REX_W, 0xaf, to, from); }
void tt__x86_imul_mem(tt_x86 *x, int to, tt_x86_mem from) { put_long_mem(x, 0, REX_W, 0xaf, to, from); }
void tt__x86_imul_imm(tt_x86 *x, int to, int from, int32_t value) {
  assert(to >= 0 && to < 16 && from >= 0 && from < 16);
  put_op(x, REX_W, fits8(value) ? 0x6b : 0x69, to, from);
  if (fits8(value))
    put(x, (unsigned)value & 255);
  else
    put32(x, value);
}

void tt__x86_neg(tt_x86 *x, int to) { put_op(x, REX_W, 0xf7, 3, to); }

void tt__x86_shift(tt_x86 *x, tt_x86_shift op, int to, int by) {
  assert(by >= 0 && by < 64);
  put_op(x, REX_W, 0xc1, (int)op, to);
  put(x, (unsigned)by & 63);
}

void tt__x86_cqo(tt_x86 *x) {
  put(x, 0x48);
  put(x, 0x99);
}

void tt__x86_divide(tt_x86 *x, int by, bool is_signed) { put_op(x, REX_W, 0xf7, is_signed ? 7 : 6, by); }

void tt__x86_test(tt_x86 *x, int a, int b) { put_op(x, REX_W, 0x85, b, a); }

void tt__x86_set(tt_x86 *x, tt_x86_cond c, int to) {
  put_rex(x, 0, 0, 0, to, to >= TT_RSP);
  put(x, 0x0f);
  put(x, 0x90u | (unsigned)c);
  put_regs(x, 0, to);
  tt__x86_extend(x, to, to, 1, false);
}

void tt__x86_push(tt_x86 *x, int reg) {
  assert(reg >= 0 && reg < 16);
  put_rex(x, 0, 0, 0, reg, false);
  put(x, 0x50u | (unsigned)(reg & 7));
}
void tt__x86_pop(tt_x86 *x, int reg) {
  assert(reg >= 0 && reg < 16);
  put_rex(x, 0, 0, 0, reg, false);
  put(x, 0x58u | (unsigned)(reg & 7));
}

void tt__x86_rep_stosq(tt_x86 *x) {
  put(x, 0xf3);
  put(x, 0x48);
  put(x, 0xab);
}

/* ---- control */

void tt__x86_endbr(tt_x86 *x) { put32(x, 0xfa1e0ff3); }

void tt__x86_jump(tt_x86 *x, int label) {
  assert(label > 0 && label < x->label.n);
  put(x, 0xe9);
  put_distance(x, label);
}

void tt__x86_jump_if(tt_x86 *x, tt_x86_cond c, int label) {
  put(x, 0x0f);
  put(x, 0x80u | (unsigned)c);
  put_distance(x, label);
}

void tt__x86_call(tt_x86 *x, int reg) { put_op(x, 0, 0xff, 2, reg); }
void tt__x86_call_mem(tt_x86 *x, tt_x86_mem at) { put_op_mem(x, 0, 0xff, 2, at); }
void tt__x86_call_label(tt_x86 *x, int label) {
  put(x, 0xe8);
  put_distance(x, label);
}
void tt__x86_ret(tt_x86 *x) { put(x, 0xc3); }

/* ---- floats */

static unsigned width(bool narrow) { return narrow ? 0xf3 : 0xf2; }

void tt__x86_movs(tt_x86 *x, int to, int from) {
  assert(to >= 0 && to < 16 && from >= 0 && from < 16);
  if (to != from) put_long(x, 0, 0, 0x28, to, from);
}
void tt__x86_loads(tt_x86 *x, int to, tt_x86_mem from, bool narrow) {
  put_long_mem(x, width(narrow), 0, 0x10, to, from);
}
void tt__x86_stores(tt_x86 *x, tt_x86_mem to, int from, bool narrow) {
  put_long_mem(x, width(narrow), 0, 0x11, from, to);
}
static bool is_bits(tt_x86_sse op) { return op == TT_SSE_AND || op == TT_SSE_XOR; }
void tt__x86_sse(tt_x86 *x, tt_x86_sse op, int to, int from, bool narrow) {
  put_long(x, is_bits(op) ? 0 : width(narrow), 0, op, to, from);
}
void tt__x86_sse_mem(tt_x86 *x, tt_x86_sse op, int to, tt_x86_mem from, bool narrow) {
  assert(!is_bits(op)); /* that would read 16 bytes */
  put_long_mem(x, width(narrow), 0, op, to, from);
}
void tt__x86_ucomis(tt_x86 *x, int a, int b, bool narrow) { put_long(x, narrow ? 0 : 0x66, 0, 0x2e, a, b); }
void tt__x86_cvt_from_int(tt_x86 *x, int to, int from, bool narrow) {
  put_long(x, 0, 0, 0x57, to, to); /* xorps: the conversion keeps the upper part, so it would wait for the old value */
  put_long(x, width(narrow), REX_W, 0x2a, to, from);
}
void tt__x86_cvtt(tt_x86 *x, int to, int from, bool narrow, bool wide) {
  put_long(x, width(narrow), wide ? REX_W : 0, 0x2c, to, from);
}
void tt__x86_cvts(tt_x86 *x, int to, int from, bool narrow) { put_long(x, width(narrow), 0, 0x5a, to, from); }
