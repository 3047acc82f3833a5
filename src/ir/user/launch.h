/*
** A lowered step: the kernel (no sizes in it) and what this step binds to it. The artefact
** between kernel/ and run/.
*/
#ifndef TT_IR_USER_LAUNCH_H
#define TT_IR_USER_LAUNCH_H

#include "ir/kernel.h"
#include "ir/plan.h"

/* Where a kernel scalar comes from: a CONST node (ref >= 0) or a literal (-1 - ref) of the step. */
typedef struct tt_lscalar {
  int32_t ref;
  uint8_t dtype; /* of the source */
  uint8_t part;  /* complex sources: 0 real, 1 imaginary */
  double number; /* ref INT32_MIN: this very value */
} tt_lscalar;

typedef struct tt_lowered {
  tt_kernel *kernel;         /* owned until moved out (NULL then) */
  int64_t *len;              /* [naxes] */
  int64_t *off;              /* [naccess] */
  int64_t *step;             /* [naccess * naxes] */
  int16_t *buf_operand;      /* [nbuf]: operand of the step */
  uint8_t *buf_parts;        /* [nbuf]: kernel elements per array element (2 for complex) */
  tt_lscalar *scalar;        /* [nscalar] */
  int64_t outer, lanes, row; /* points of: all outer axes (MAP, COL: without the lane), the lane axis, the row */
  tt_arena arena;
} tt_lowered;

#endif
