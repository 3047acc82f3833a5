/*
** A kernel: an iteration space and a linear list of typed instructions. The artefact
** between kernel/lower.c and the executors (the interpreter, the renderer). It knows no
** sizes, no strides and no scalar values: those come in tt_kargs at each launch, so one
** kernel serves every shape.
**
** The space has `naxes` axes: `nouter` outer ones (outermost first), then row axes.
** Row axes exist only in kernels with reductions: a reduction runs over all of them.
** One axis is the LANE axis, walked in vectors:
**   TT_MODE_MAP  no reductions; all axes are outer; the lane is the last axis.
**                (naxes may be 0: one point.)
**   TT_MODE_ROW  the lane is the last row axis: a row is folded in 64 accumulator lanes.
**   TT_MODE_COL  the lane is the last OUTER axis; row axes are walked point by point and
**                each lane has an accumulator of its own.
**
** Time: for each outer point, phases 0..nphase-1 are loops over the row (MAP: one
** phase, its body runs once a point). An instruction has a scope:
**   TT_SCOPE_CONST   once per launch (CONST)
**   TT_SCOPE_OUTER   once per outer point, before loop `phase` (phase == nphase: after the
**                    last one). May read reductions of phases < phase.
**   TT_SCOPE_ROW     in the body of loop `phase`.
** A value is read only where it is in scope: ROW values in their own phase, OUTER values from their
** phase on, CONST values everywhere, a REDUCE's result (scope OUTER) from the phase after its own.
** In MAP kernels every instruction is CONST or ROW of phase 0.
**
** Fixed arithmetic of reductions, the same in every executor, whatever the threads:
** ROW mode, one row: cut into chunks. One row axis: TT_CHUNK elements a chunk. More: whole lines of the last axis,
** max(1, TT_CHUNK_LINES / len[lane]) lines a chunk. In a chunk, element j of a line goes to accumulator j % 64, in
** order, all accumulators starting at the identity; then acc[l] = op(acc[l], acc[l + w]) for w = 32, 16, ... 1. The
** chunk values are combined in order in groups of TT_GROUP, starting with the first of each, and the groups' values in
** order likewise.
** COL mode: the row is cut into chunks of TT_CHUNK_COL row points (in C order of the row axes); in a chunk each lane
** accumulates in order from the identity; chunks combine in order.
** ARGMAX/ARGMIN carry (value, index over the row axes in C order); index -1 is "empty".
*/
#ifndef TT_IR_KERNEL_H
#define TT_IR_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "ir/dtype.h"
#include "ir/node.h"
#include "ir/ops.h"

#define TT_LANES 64         /* accumulators of a ROW reduction */
#define TT_CHUNK 65536      /* elements of a row per partial, ROW mode */
#define TT_CHUNK_LINES 4096 /* the same where a row has several axes */
#define TT_GROUP 64         /* partials that are combined on their own, ROW mode */
#define TT_CHUNK_COL 256    /* row points per partial, COL mode */
#define TT_BESIDE 31        /* rows that compiled kernels fold side by side, at most (tt__kernel_beside) */
#define TT_BESIDE_RED 4     /* and their reductions: accumulators stay in the first-level cache */
#define TT_BESIDE_VALUES 8  /* and what else is computed once a row */
#define TT_RUN_BYTES 32     /* of a short last axis that hosts copy whole, at most (device/cpu/short_runs.h) */

typedef enum tt_mode { TT_MODE_MAP, TT_MODE_ROW, TT_MODE_COL } tt_mode;
typedef enum tt_scope { TT_SCOPE_CONST, TT_SCOPE_OUTER, TT_SCOPE_ROW } tt_scope;

/* Instruction codes: a tt_op (elementwise, CAST included) or one of these. */
enum {
  TT_K_CONST = 216, /* scalar number `slot` */
  TT_K_LOAD,        /* element of access `slot` */
  TT_K_INDEX,       /* int64: off + sum(i * step) of access `slot`; touches no memory */
  TT_K_LOADX,       /* element src[0] (int64, flat) of the buffer of access `slot` */
  TT_K_STORE,       /* src[0] into access `slot` */
  TT_K_STOREX, /* src[1] into flat element src[0] of access `slot`'s buffer. Kernels with it run serially, in order */
  TT_K_REDUCE, /* fold src[0] (ROW scope, phase p) by reduction `red`; the result has scope OUTER from phase p + 1 */
  TT_K_ROUND   /* f32 rounded to the precision of float16 or bfloat16 (`from`) and back */
};

typedef struct tt_kinst {
  uint8_t op;
  uint8_t dtype; /* of the result in registers: never f16, bf16 or complex */
  uint8_t from;  /* elementwise: operand type (the prelude suffix), of draws the result's; CAST: source type; ROUND: F16
                    or BF16; REDUCE: value type */
  uint8_t scope; /* tt_scope. REDUCE: TT_SCOPE_ROW (it works in the row loop) */
  uint8_t phase;
  uint8_t red;    /* REDUCE: tt_red */
  int16_t slot;   /* access, scalar or (REDUCE) reduction number */
  int16_t src[3]; /* instruction numbers, always smaller than this one; -1 */
} tt_kinst;

typedef enum tt_lane_step {
  TT_LANE_NONE, /* does not move along the lane axis */
  TT_LANE_UNIT, /* one element a lane */
  TT_LANE_ANY
} tt_lane_step;

typedef struct tt_kaccess {
  int16_t buf; /* buffer number; -1 for INDEX; scratch accesses: -2 - scratch number */
  uint8_t
      dtype; /* element type in memory: real types, f16 and bf16 included (a LOAD converts to f32, a STORE from f32) */
  uint8_t lane; /* tt_lane_step */
  bool write;
  int8_t by; /* TT_LANE_ANY: the step where it is -1, 2, 3, 4 or 8, so that compilers see neighbours; else 0 */
  bool next; /* one element after the access before it, wherever that is: same buffer, steps and direction */
} tt_kaccess;
static inline int64_t tt__chunk_lines(int64_t line) { return line < TT_CHUNK_LINES ? TT_CHUNK_LINES / line : 1; }
static inline bool tt__lane_knows(int64_t step) { return step == -1 || (step > 1 && step <= 4) || step == 8; }

/*
** A scratch holds one ROW-scope value for the whole row between phases, so that it is not computed twice: written by a
** STORE and read by LOADs of later phases, through accesses with buf <= -2. Memory: per worker, row-size elements (ROW
** mode), row-size x lane-chunk (COL). Access steps are the executor's business. At most one store per scratch; only
** used when a row has at most TT_SCRATCH_ROW points. ROW mode only.
*/
#define TT_SCRATCH_ROW 65536

typedef struct tt_kernel {
  uint8_t mode; /* tt_mode */
  uint8_t nouter, naxes, nphase;
  int16_t ninst, naccess, nbuf, nscalar, nred, nscratch;
  bool serial;  /* has STOREX */
  bool checked; /* TUTTI_CHECK=1: executors check each index against buf_len */
  tt_kinst *inst;
  tt_kaccess *access;
  uint8_t *scalar_type;  /* [nscalar] register type of each scalar */
  uint8_t *scratch_type; /* [nscratch] register type */
  tt_digest key;         /* of everything above: equal keys are equal kernels */
  tt_arena arena;
} tt_kernel;

/* Bounds violation report of a checked kernel, shared by all workers (first one wins). */
typedef struct tt_kfault {
  int32_t access; /* 1 + access number; 0: none */
  int64_t index, len;
} tt_kfault;

/* Everything a launch binds. Arrays are borrowed for the launch. */
typedef struct tt_kargs {
  void *const *buf;        /* [nbuf] */
  const int64_t *buf_len;  /* [nbuf] elements of the access's type; read by checked kernels only */
  const int64_t *len;      /* [naxes], all >= 1 */
  const int64_t *off;      /* [naccess] elements */
  const int64_t *step;     /* [naccess * naxes] elements */
  const tt_scalar *scalar; /* [nscalar], in the register type */
  void *const *scratch;    /* [nscratch], this worker's (NULL without scratch) */
  void *const
      *partial;     /* [2 * nred]: folded values per chunk (even), int64 indices for ARG* (odd); see tt_kernel_part */
  int64_t npartial; /* chunks in a row */
  tt_kfault *fault; /* checked kernels */
} tt_kargs;

/*
** What a call covers:
**   MAP, COL  outer points [lo, hi) of all outer axes but the lane (C order), lanes [lane_lo, lane_hi).
**   ROW       outer points [lo, hi), lane_lo and lane_hi unused.
**   TT_PART_WHOLE    the whole row: every phase, every store.
**   TT_PART_CHUNK    (one phase only, nothing of scope ROW stored) chunks [chunk_lo, chunk_hi) of the row:
**                    partial[r] has the folded values: ROW [outer][chunk], COL [outer but the lane][chunk][lane], so
**                    that executors go through them as they lie.
**   TT_PART_FINISH   combine the partials, then the OUTER instructions and stores.
*/
typedef enum tt_part { TT_PART_WHOLE, TT_PART_CHUNK, TT_PART_FINISH } tt_part;

typedef struct tt_krange {
  int64_t lo, hi;
  int64_t lane_lo, lane_hi;
  int64_t chunk_lo, chunk_hi;
  int32_t part; /* tt_part */
} tt_krange;

/* The one signature of runnable code, compiled or interpreted. */
typedef void (*tt_kernel_fn)(const tt_kargs *args, const tt_krange *range);

/* A kernel with everything zero, its arrays to be taken from its arena. NULL when memory is out. */
TT_HIDDEN tt_kernel *tt__kernel_new(void);
/* Check every invariant above; for asserts, tests and what is read back from print. */
TT_HIDDEN bool tt__kernel_ok(const tt_kernel *k, tt_error *err);
/* Bring fields that an instruction does not use to one value, then compute and store the key. */
TT_HIDDEN void tt__kernel_seal(tt_kernel *k);
/* Text form, and back (the parser is total: any text gives a kernel that passes tt__kernel_ok, or an error). */
TT_HIDDEN void tt__kernel_print(const tt_kernel *k, tt_str *out);
TT_HIDDEN tt_code tt__kernel_parse(const char *text, tt_kernel **out, tt_error *err);
TT_HIDDEN void tt__kernel_free(tt_kernel *k); /* NULL is allowed */

/*
** Can rows be folded side by side where an element of each lies before the next of each? Reductions of one row axis
** under one outer axis, of what is loaded along the row alone and of what was computed once a row.
*/
TT_HIDDEN bool tt__kernel_beside(const tt_kernel *k);
/* Is what instruction `i` gives one value for each row? */
TT_HIDDEN bool tt__kernel_is_of_row(const tt_kernel *k, int i);
/* A bit for each type (tt_dtype) that it reads, writes or computes in. */
TT_HIDDEN uint32_t tt__kernel_types(const tt_kernel *k);

/* What an access's elements are in registers: float16 and bfloat16 are computed as float32. */
static inline tt_dtype tt__kernel_reg(tt_dtype t) { return t == TT_F16 || t == TT_BF16 ? TT_F32 : t; }
/* The type of an elementwise op's value from its operand type. */
TT_HIDDEN tt_dtype tt__kernel_result(tt_op op, tt_dtype from);

#endif
