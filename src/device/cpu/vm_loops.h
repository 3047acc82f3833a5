/*
** The interpreter's vector loops: one function per op and type over contiguous
** lanes, compiled once per instruction set from the same scalar text as rendered
** kernels (scalar/prelude.h), so that both tiers give the same bits. Knows
** nothing of programs, registers or arrays.
*/
#ifndef TT_DEVICE_CPU_VM_LOOPS_H
#define TT_DEVICE_CPU_VM_LOOPS_H

#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"
#include "ir/ops.h"

/* Lanes of a reduction: element i is folded into lane i % TT_VM_LANES, in order. */
#define TT_VM_LANES 64

/* out[i] = op(a[i], b[i], c[i]); operands that the op lacks are ignored. `out` may be the same pointer as an operand
** whose elements are at least as large as the result's. WHERE takes the condition first. */
typedef void (*tt_vm_loop)(void *out, const void *a, const void *b, const void *c, int64_t n);
/* dst[i] = src[i * step]; `step` counts elements, any sign, 0 repeats. */
typedef void (*tt_vm_load)(void *dst, const void *src, int64_t step, int64_t n);
/* dst[i * step] = src[i], in order. */
typedef void (*tt_vm_store)(void *dst, int64_t step, const void *src, int64_t n);
/* dst[i] = src[idx[i]] */
typedef void (*tt_vm_gather)(void *dst, const void *src, const int64_t *idx, int64_t n);
/* dst[idx[i]] = src[i], in order */
typedef void (*tt_vm_scatter)(void *dst, const int64_t *idx, const void *src, int64_t n);
/* first[i], second[i] = src[2 * i], src[2 * i + 1], and back: complex numbers and their parts. */
typedef void (*tt_vm_split)(void *first, void *second, const void *src, int64_t n);
typedef void (*tt_vm_join)(void *dst, const void *first, const void *second, int64_t n);
typedef void (*tt_vm_splat)(void *dst, const void *value, int64_t n);
/* acc[i % TT_VM_LANES] = op(acc[..], v[i]), in order of i. */
typedef void (*tt_vm_red)(void *acc, const void *v, int64_t n);
/* The lanes of acc as a binary tree (w = 32, 16 .. 1: lane l takes in lane l + w); the result is in lane 0. */
typedef void (*tt_vm_fold)(void *acc);
/*
** Running extremum and its index per lane: element i has index base + i * step and goes to lane i % lanes. A lane
** whose acci is negative is empty. NaN wins, and the lowest index among NaN; ties keep the lowest index.
*/
typedef void (*tt_vm_arg)(void *accv, int64_t *acci, const void *v, int64_t base, int64_t step, int64_t lanes,
                          int64_t n);
/*
** out[r * out_step] is the place of the extremum of row r, n neighbours at v + r * step: the first of equals, the first
** NaN.
*/
typedef void (*tt_vm_place)(int64_t *out, int64_t out_step, const void *v, int64_t step, int64_t n, int64_t rows);
/* The TT_VM_LANES lanes of an arg-reduction into lane 0. */
typedef void (*tt_vm_argfold)(void *accv, int64_t *acci);

/* A NULL means that the row has no such type. Real types only: complex is taken apart before it comes here. */
typedef struct tt_vm_table {
  int level;                                       /* 0, 3 or 4, as tt__cpu_level */
  tt_vm_loop op[TT_OP_COUNT][TT_DTYPE_COUNT];      /* by operand type, WHERE by the type of its values */
  tt_vm_loop cast[TT_DTYPE_COUNT][TT_DTYPE_COUNT]; /* [from][to], copies on the diagonal */
  tt_vm_load load[4];                              /* by log2 of the element size */
  tt_vm_store store[4];
  tt_vm_gather gather[4];
  tt_vm_scatter scatter[4];
  tt_vm_splat splat[4];
  tt_vm_split split[4]; /* of elements of 4 and 8 bytes */
  tt_vm_join join[4];
  void (*iota)(int64_t *out, int64_t start, int64_t step, int64_t n); /* start + i * step */
  /* ops.def rows with RED: ADD MUL MAXIMUM MINIMUM AND OR */
  tt_vm_red red[TT_OP_COUNT][TT_DTYPE_COUNT];
  tt_vm_fold fold[TT_OP_COUNT][TT_DTYPE_COUNT];
  tt_vm_arg argmax[TT_DTYPE_COUNT], argmin[TT_DTYPE_COUNT];
  tt_vm_argfold argfold_max[TT_DTYPE_COUNT], argfold_min[TT_DTYPE_COUNT];
  tt_vm_place place_max[TT_DTYPE_COUNT], place_min[TT_DTYPE_COUNT];
} tt_vm_table;

/* The table for this processor; TUTTI_CPU_LEVEL in the environment lowers it. The same table on every call. */
TT_HIDDEN const tt_vm_table *tt__vm_table(void);
/* The table of exactly this level, or NULL when the build or the processor lacks it: for tests. */
TT_HIDDEN const tt_vm_table *tt__vm_table_at(int level);

#endif
