/*
** Instructions of x86-64 as bytes: a function for each instruction, named after it, and labels that jumps may name
** before they are placed. It knows nothing of programs. Registers have the processor's numbers, general and vector ones
** from 0 to 15 each; integers are 64 bits wide unless a name says otherwise.
*/
#ifndef TT_DEVICE_CPU_BASELINE_X86_H
#define TT_DEVICE_CPU_BASELINE_X86_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

enum {
  TT_RAX,
  TT_RCX,
  TT_RDX,
  TT_RBX,
  TT_RSP,
  TT_RBP,
  TT_RSI,
  TT_RDI,
  TT_R8,
  TT_R9,
  TT_R10,
  TT_R11,
  TT_R12,
  TT_R13,
  TT_R14,
  TT_R15,
  TT_NO_REG = -1
};

/* Conditions, as jumps and setcc have them. */
typedef enum tt_x86_cond {
  TT_CC_B = 2, /* below: unsigned */
  TT_CC_AE,
  TT_CC_E,
  TT_CC_NE,
  TT_CC_BE,
  TT_CC_A,
  TT_CC_S, /* negative */
  TT_CC_NS,
  TT_CC_P, /* after ucomis: one is not a number */
  TT_CC_NP,
  TT_CC_L, /* less: signed */
  TT_CC_GE,
  TT_CC_LE,
  TT_CC_G
} tt_x86_cond;

/* The opposite of a condition. */
#define TT_CC_NOT(c) ((tt_x86_cond)((c) ^ 1))

/* Arithmetic of two operands that share a form; their numbers are the processor's. */
typedef enum tt_x86_alu { TT_ALU_ADD, TT_ALU_OR, TT_ALU_AND = 4, TT_ALU_SUB, TT_ALU_XOR, TT_ALU_CMP } tt_x86_alu;
typedef enum tt_x86_shift { TT_SHIFT_LEFT = 4, TT_SHIFT_RIGHT, TT_SHIFT_SIGNED = 7 } tt_x86_shift;

/* Arithmetic of floats: the second byte of the instruction. */
typedef enum tt_x86_sse {
  TT_SSE_SQRT = 0x51,
  TT_SSE_AND = 0x54, /* of all bits of the register */
  TT_SSE_XOR = 0x57,
  TT_SSE_ADD,
  TT_SSE_MUL,
  TT_SSE_SUB = 0x5c,
  TT_SSE_DIV = 0x5e
} tt_x86_sse;

/* base + index * scale + far; a label instead of a base: the constant that stands there. */
typedef struct tt_x86_mem {
  int base, index, scale; /* TT_NO_REG: none */
  int32_t far;
  int label; /* 0: none */
} tt_x86_mem;

typedef struct tt_x86_fix {
  int64_t at;       /* of four bytes that tell how far the label is from the next instruction, */
  int label, after; /* which begins so many bytes behind them */
} tt_x86_fix;

typedef struct tt_x86 {
  TT_VEC(uint8_t) code;
  TT_VEC(int64_t) label; /* where each is; -1: not placed yet; the first stands for none */
  TT_VEC(tt_x86_fix) fix;
  TT_VEC(uint64_t) pool; /* constants */
  TT_VEC(int) pool_label;
  bool failed; /* memory is out, or a distance is too long; nothing is added from then on */
} tt_x86;

TT_HIDDEN void tt__x86_free(tt_x86 *x);

/* Labels: a new one, not placed; place it here. */
TT_HIDDEN int tt__x86_label(tt_x86 *x);
TT_HIDDEN void tt__x86_place(tt_x86 *x, int label);
/* The label of 8 bytes behind the code. */
TT_HIDDEN int tt__x86_constant(tt_x86 *x, uint64_t bits);
/* Put the constants behind the code and fill in all distances; `data`: the label of the byte behind all that. */
TT_HIDDEN void tt__x86_end(tt_x86 *x, int data, int64_t data_at);
/* Bytes so far with those that tt__x86_end will add. */
TT_HIDDEN int64_t tt__x86_size(const tt_x86 *x);

static inline tt_x86_mem tt__x86_at(int base, int64_t far) {
  return (tt_x86_mem){.base = base, .index = TT_NO_REG, .scale = 1, .far = (int32_t)far};
}
static inline tt_x86_mem tt__x86_of_label(int label) {
  return (tt_x86_mem){.base = TT_NO_REG, .index = TT_NO_REG, .scale = 1, .label = label};
}

/* ---- integers */
TT_HIDDEN void tt__x86_mov(tt_x86 *x, int to, int from);
TT_HIDDEN void tt__x86_mov_imm(tt_x86 *x, int to, int64_t value);
/* `size` bytes to 64 bits; narrower ones are extended by their sign or by zeros. */
TT_HIDDEN void tt__x86_load(tt_x86 *x, int to, tt_x86_mem from, int size, bool is_signed);
TT_HIDDEN void tt__x86_store(tt_x86 *x, tt_x86_mem to, int from, int size);
TT_HIDDEN void tt__x86_extend(tt_x86 *x, int to, int from, int size, bool is_signed);
TT_HIDDEN void tt__x86_lea(tt_x86 *x, int to, tt_x86_mem from);
TT_HIDDEN void tt__x86_alu(tt_x86 *x, tt_x86_alu op, int to, int from);
TT_HIDDEN void tt__x86_alu_mem(tt_x86 *x, tt_x86_alu op, int to, tt_x86_mem from);
TT_HIDDEN void tt__x86_alu_imm(tt_x86 *x, tt_x86_alu op, int to, int32_t value);
TT_HIDDEN void tt__x86_cmp32_mem_imm(tt_x86 *x, tt_x86_mem a, int8_t value);
TT_HIDDEN void tt__x86_dec_mem(tt_x86 *x, tt_x86_mem a);
TT_HIDDEN void tt__x86_imul(tt_x86 *x, int to, int from);
TT_HIDDEN void tt__x86_imul_mem(tt_x86 *x, int to, tt_x86_mem from);
TT_HIDDEN void tt__x86_imul_imm(tt_x86 *x, int to, int from, int32_t value);
TT_HIDDEN void tt__x86_neg(tt_x86 *x, int to);
TT_HIDDEN void tt__x86_shift(tt_x86 *x, tt_x86_shift op, int to, int by);
TT_HIDDEN void tt__x86_cqo(tt_x86 *x);                            /* rdx: the sign of rax */
TT_HIDDEN void tt__x86_divide(tt_x86 *x, int by, bool is_signed); /* rdx:rax / by: quotient rax, rest rdx */
TT_HIDDEN void tt__x86_test(tt_x86 *x, int a, int b);
TT_HIDDEN void tt__x86_set(tt_x86 *x, tt_x86_cond c, int to); /* 0 or 1 in 64 bits; not of flags that it needs later */
TT_HIDDEN void tt__x86_push(tt_x86 *x, int reg);
TT_HIDDEN void tt__x86_pop(tt_x86 *x, int reg);
TT_HIDDEN void tt__x86_rep_stosq(tt_x86 *x); /* rcx words of rax from [rdi] on */

/* ---- control */
TT_HIDDEN void tt__x86_endbr(tt_x86 *x);
TT_HIDDEN void tt__x86_jump(tt_x86 *x, int label);
TT_HIDDEN void tt__x86_jump_if(tt_x86 *x, tt_x86_cond c, int label);
TT_HIDDEN void tt__x86_call(tt_x86 *x, int reg);
TT_HIDDEN void tt__x86_call_mem(tt_x86 *x, tt_x86_mem at);
TT_HIDDEN void tt__x86_call_label(tt_x86 *x, int label);
TT_HIDDEN void tt__x86_ret(tt_x86 *x);

/* ---- floats; `narrow`: float32 */
TT_HIDDEN void tt__x86_movs(tt_x86 *x, int to, int from); /* the whole register */
TT_HIDDEN void tt__x86_loads(tt_x86 *x, int to, tt_x86_mem from, bool narrow);
TT_HIDDEN void tt__x86_stores(tt_x86 *x, tt_x86_mem to, int from, bool narrow);
TT_HIDDEN void tt__x86_sse(tt_x86 *x, tt_x86_sse op, int to, int from, bool narrow);
TT_HIDDEN void tt__x86_sse_mem(tt_x86 *x, tt_x86_sse op, int to, tt_x86_mem from, bool narrow);
TT_HIDDEN void tt__x86_ucomis(tt_x86 *x, int a, int b, bool narrow);
TT_HIDDEN void tt__x86_cvt_from_int(tt_x86 *x, int to, int from, bool narrow);    /* from int64 */
TT_HIDDEN void tt__x86_cvtt(tt_x86 *x, int to, int from, bool narrow, bool wide); /* to int64 or int32, cut off */
TT_HIDDEN void tt__x86_cvts(tt_x86 *x, int to, int from, bool narrow);            /* from that to the other float */

#endif
