/*
** A dialect: the words in which the one emitter (render.c) speaks to one compiler. A row of
** strings and nothing else: what needs a loop over instructions belongs in the emitter.
** Element types are named tt_f32, tt_i64 ... in every dialect (prelude.h, or `before`).
*/
#ifndef TT_RENDER_DIALECT_H
#define TT_RENDER_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tutti/types.h"

typedef struct tt_dialect {
  const char *name;
  const char *before;      /* text above the prelude: what prelude.h lets a dialect define */
  const char *after;       /* text below it: argument structs, macros that the words below use */
  const char *options;     /* of the compiler */
  const char *kernel;      /* before a kernel's name */
  const char *params;      /* after it, in parentheses */
  const char *inlined;     /* before a function that calls of it take in, so that constants are seen; or NULL */
  const char *enter;       /* first statements: declare lo, hi, lane_lo, lane_hi, chunk_lo, chunk_hi, npartial, part */
  const char *global;      /* address space of buffers, before the element type */
  const char *buffer;      /* printf: an expression for buffer %d (and its memory m%d) */
  const char *scratch;     /* printf: an expression for scratch %d */
  const char *memory;      /* where memory has handles: the type of an argument that is memory; or NULL */
  const char *shared;      /* and of one that is memory of a block */
  const char *partial;     /* printf: an expression for partial array %d */
  const char *scalar;      /* printf: an expression for scalar %d of suffix %s */
  const char *len;         /* the array of axis lengths */
  const char *off;         /* the array of access offsets */
  const char *step;        /* the array of access steps */
  const char *independent; /* a line before a loop whose turns do not depend on each other */
  const char *unrolled;    /* a line before a short loop of constant count: keep its arrays in registers; or NULL */
  const char *masked;      /* the same before one whose last turns do nothing, or are not there (TT_TAIL) */
  const char *inbounds;    /* printf: access %d of buffer %d may touch index %s; records the fault when not */
  const char *no_doubles;  /* a word that compilers name where a text has doubles that the device has not; or NULL */
  bool branches;           /* lanes may branch: far and near forms of a function are chosen one by one */
  bool neighbours; /* the compiler makes vectors of turns: steps along the lane that a kernel knows are literals */
  bool halves;     /* conversions from and to halves are faster by the block (tt_widen_f16 and its like) */
  uint32_t lacks;  /* bit t: the dialect has no type t */
} tt_dialect;

/*
** Dialects of devices where a thread is a lane (threads.h) leave `params`, `enter`, `partial`, `len`, `off` and `step`
** NULL; their `after` defines these words:
**   TT_TX TT_TY  thread of the block    TT_BX TT_BY  threads of a block     as signed integers
**   TT_GX TT_GY  block of the grid      TT_NX TT_NY  blocks of the grid     as signed integers
**   TT_GZ TT_NZ  the same, where a block is one thread with the CPU's loops: such dialects have `partial` and what
**                follows it in dialect_c.c
**   TT_SHARED    a variable of the block      TT_SHARED_BYTES  an array of bytes whose size the launch says
**   TT_SHARED_AT before what a pointer to memory of the block points at
**   TT_ADDRESS(type)  of a field of the arguments that is an address      TT_WORK TT_FAULT  two of them, as pointers
**   TT_BARRIER()        all threads of the block have come here, and see what the others wrote
**   TT_DOWN(x, by)      x of the thread `by` further on in the warp of 32 threads
**   TT_FROM(x, i)       x of thread `i` of the warp
**   TT_ANY(x)           x is not 0 in some thread of the warp
**   TT_FIRST(p, x, y)   *p: y if it was x (32-bit integers), atomically; gives what it was
**   TT_MOST(p, x)       *p: the larger of it and x (unsigned, 32 or 64 bits), atomically
**   TT_ALIGNED(n)       of a struct
**   TT_UNROLL(n)        before a loop: n turns at a time
**   TT_BOUNDS(n, m)     of a kernel: at most n threads a block, m blocks at a time on a multiprocessor
**   TT_EXACTLY(n, m)    the same, where blocks are n threads in a row
** They have tt_scalar, a union of 8 bytes with a member of each register type's suffix, and tt_kfault.
*/

TT_HIDDEN extern const tt_dialect tt__dialect_c;            /* C11 with GNU extensions, for the system's compiler */
TT_HIDDEN extern const tt_dialect tt__dialect_cuda;         /* CUDA C for NVRTC, which finds no header */
TT_HIDDEN extern const tt_dialect tt__dialect_opencl;       /* OpenCL C 1.2 */
TT_HIDDEN extern const tt_dialect tt__dialect_opencl_loops; /* where a block is a core (tt_target.serial) */

#endif
