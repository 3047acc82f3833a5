/*
** A formula: what one element of a kernel's outputs is, as a straight list of typed steps over its parameters. The
** front end of C expressions (lang/expr/expr.h) makes it, the graph records it (graph/formula.h).
**
** Invariants, checked by tt__formula_ok:
**   1. operands come before what uses them, and have the types that the operation takes
**   2. result[k] is -1 (parameter k is not written), or a step of parameter k's type
*/
#ifndef TT_IR_USER_FORMULA_H
#define TT_IR_USER_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "ir/dtype.h"
#include "ir/ops.h"

typedef enum tt_formula_kind {
  TT_F_CONST,   /* value */
  TT_F_ELEMENT, /* parameter's own element (of an output: what it held), or the number itself */
  TT_F_INDEX,   /* int64: the flat number of the element */
  TT_F_COUNT,   /* int64: how many elements there are */
  TT_F_LEN,     /* int64: parameter's length along `axis`; axis TT_F_SIZE: its elements, TT_F_RANK: its axes */
  TT_F_LOAD,    /* element number src[0] (int64) of the whole parameter */
  TT_F_OP       /* op over src, as tt__node_op takes them */
} tt_formula_kind;
enum { TT_F_SIZE = -1, TT_F_RANK = -2 };

typedef struct tt_formula_step {
  uint8_t kind, op, dtype; /* dtype of the step's value */
  bool guarded;            /* LOAD: a condition decides whether the element counts; out of range it may be any */
  int16_t param, axis;
  int32_t src[3]; /* -1: none */
  tt_scalar value;
} tt_formula_step;

/* A parameter as formulas see it. */
typedef struct tt_formula_param {
  char name[64];
  uint8_t dtype;
  bool is_out;  /* may be written, and left out of a call */
  bool is_raw;  /* used whole, by flat index; takes no part in broadcasting */
  bool is_text; /* (C's form) a scalar by value: never an array */
} tt_formula_param;

typedef struct tt_formula {
  TT_VEC(tt_formula_step) step;
  TT_VEC(int32_t) result; /* one per parameter */
} tt_formula;             /* all zero is empty */

TT_HIDDEN void tt__formula_free(tt_formula *f);
TT_HIDDEN bool tt__formula_ok(const tt_formula *f, const tt_formula_param *param, int nparam);
/* One line a step: "%2 = MUL f32 %0 %1", and "z = %2" for results. */
TT_HIDDEN void tt__formula_print(const tt_formula *f, const tt_formula_param *param, tt_str *out);

#endif
