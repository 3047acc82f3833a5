/*
** The step in real arithmetic: complex values taken apart, narrow floats computed in
** float32. Private to kernel/.
*/
#ifndef TT_KERNEL_DECOMPOSE_H
#define TT_KERNEL_DECOMPOSE_H

#include "ir/user/launch.h"

/* One instruction on register types, before it has a phase. */
typedef struct tt_rinst {
  uint8_t op; /* tt_op or TT_K_* */
  uint8_t dtype, from, red;
  int16_t slot; /* access, scalar or reduction number */
  int16_t src[3];
} tt_rinst;

typedef struct tt_raccess {
  int16_t operand;
  uint8_t dtype, parts;
  bool write;
  int64_t off;
  int64_t *step; /* [naxes] */
} tt_raccess;

typedef struct tt_decomposer {
  tt_arena *arena;
  const tt_step *step;
  tt_rinst *inst;
  tt_raccess *access;
  tt_lscalar *scalar;
  uint8_t *scalar_type;
  int ninst, naccess, nscalar, nred;
  int cap_inst, cap_access, cap_scalar;
  bool failed; /* out of memory or too long */
} tt_decomposer;

/* Registers hold float16 and bfloat16 as float32. */
static inline uint8_t tt__register_type(uint8_t dtype) { return dtype == TT_F16 || dtype == TT_BF16 ? TT_F32 : dtype; }

/* Fill `r` from r->step. TT_EINTERNAL if the step holds what kernels cannot do. */
TT_HIDDEN tt_code tt__decompose(tt_decomposer *r, tt_error *err);

/* Append an instruction; -1 and r->failed when there is no room. */
TT_HIDDEN int tt__decompose_inst(tt_decomposer *r, tt_rinst inst);
/* Elementwise `op` on registers of type `from`, giving `dtype`. */
TT_HIDDEN int tt__decompose_op(tt_decomposer *r, int op, uint8_t dtype, uint8_t from, int a, int b, int c);
/* A scalar of register type `dtype`. */
TT_HIDDEN int tt__decompose_number(tt_decomposer *r, uint8_t dtype, double value);

/* (complex.c) One complex elementwise op: operands and result as (real, imaginary) pairs of type t. False: not an op of
 * complex numbers. */
typedef struct tt_pair {
  int re, im;
} tt_pair;
TT_HIDDEN bool tt__complex_op(tt_decomposer *r, int op, uint8_t t, const tt_pair *arg, tt_pair *out);
/* Complex ops with real or bool results: ABS, REAL, IMAG, comparisons, tests. */
TT_HIDDEN bool tt__complex_to_real(tt_decomposer *r, int op, uint8_t t, const tt_pair *arg, int *out);

#endif
