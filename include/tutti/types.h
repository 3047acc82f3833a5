/*
** Data types and elementwise ops as C enums; the rows are in dtype.def and ops.def.
*/
#ifndef TUTTI_TYPES_H
#define TUTTI_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types: TT_BOOL, TT_I8 ... TT_C128. bool is one byte, 0 or 1; float16 and bfloat16 are bit patterns. */
typedef enum tt_dtype {
#define TT_DTYPE(E, name, suffix, ctype, kind, bytes, typestr, format) TT_##E,
#include "tutti/dtype.def"
#undef TT_DTYPE
  TT_DTYPE_COUNT,
  TT_DTYPE_NONE = -1 /* "not given" where a dtype is optional */
} tt_dtype;

/* Elementwise ops: TT_ADD, TT_SUB ... */
typedef enum tt_op {
#define TT_OP(E, ...) TT_##E,
#include "tutti/ops.def"
#undef TT_OP
  TT_OP_COUNT
} tt_op;

typedef struct tt_c64 {
  float re, im;
} tt_c64;
typedef struct tt_c128 {
  double re, im;
} tt_c128;

/* How many threads run: blocks of threads in a grid, and dynamic shared memory per block. From a launch's maker to the
** device it is this. */
typedef struct tt_grid {
  uint32_t grid[3], block[3]; /* blocks, and threads of a block, along x, y, z */
  int64_t shared;             /* bytes */
  int64_t together;           /* 1: its blocks wait for each other, so all of them must be under way at once; the
                               * library says so, callers need not */
  int64_t pointers;           /* so many addresses stand first among the arguments, where devices must know (memory
                               * with handles); the library says so */
  uint64_t offset[3];         /* (OpenCL C) what global indices begin at, */
  uint32_t dims;              /* and how many axes the caller gave */
} tt_grid;

/* The most axes an array can have. */
#define TT_MAX_RANK 64

#ifdef __cplusplus
}
#endif
#endif
