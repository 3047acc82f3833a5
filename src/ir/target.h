/*
** What the stages before a device must know of it: limits and features, filled in by device/.
*/
#ifndef TT_IR_TARGET_H
#define TT_IR_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef enum tt_device_kind { TT_DEVICE_CPU, TT_DEVICE_CUDA, TT_DEVICE_OPENCL, TT_DEVICE_NULL } tt_device_kind;
#define TT_DEVICE_KINDS 4

/* A device's id: its kind and its number among them. The CPU is 0. */
static inline int tt__device_id(tt_device_kind kind, int index) { return (int)kind << 8 | index; }
static inline tt_device_kind tt__device_kind(int id) { return (tt_device_kind)(id >> 8); }
static inline int tt__device_index(int id) { return id & 255; }
/* "cuda:1". */
TT_HIDDEN const char *tt__device_name(int id, char name[16]);
TT_HIDDEN extern const char *const tt__device_kinds[TT_DEVICE_KINDS]; /* "cuda" */

typedef struct tt_target {
  tt_device_kind kind;
  int arch;             /* CUDA: 90 for compute capability 9.0 */
  int units;            /* multiprocessors */
  int warp;             /* threads that go in step; 1 where there is no such thing */
  int block_threads;    /* most threads of a block */
  int unit_threads;     /* most resident threads of a multiprocessor */
  int double_ratio;     /* float32 operations in the time of one of float64; 0: nobody knows, as many */
  int64_t shared_block; /* most shared memory a block may ask for, bytes */
  int64_t shared_unit;  /* shared memory of a multiprocessor, bytes */
  int64_t cache_bytes;  /* last-level cache */
  int64_t memory_bytes; /* in all */
  int64_t param_bytes;  /* most bytes of kernel arguments */
  int64_t grid_max[3];  /* most blocks along x, y, z */
  int64_t block_max[3]; /* most threads of a block along each */
  bool serial;          /* a block's threads take turns on one core: work goes best in blocks of one */
  bool is_host;         /* `serial`, and the host's functions of the library work on its memory as it lies */
  uint32_t lacks;       /* bit t: it does not compute in type t */
  bool narrow_atomics;  /* none of 64 bits */
  bool handles;         /* its memory has handles: kernels find no addresses in memory, only among their arguments */
  int64_t part_align;   /* handles: parts of memory begin at multiples of this, bytes */
} tt_target;
/* What the CPU allows users' launches: as much as GPUs do, so that a program that runs here runs there. */
TT_HIDDEN extern const tt_target tt__target_host;

/* What a vector of elements is aligned to, in bytes: to all of them, at most to 16. */
static inline size_t tt__vector_align(int vec, size_t size) {
  size_t all = (size_t)vec * size;
  return all < 16 ? all : 16;
}

#endif
