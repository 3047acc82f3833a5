/*
** Kernels for devices where a thread is a lane: CUDA, OpenCL. The same instruction text as
** render.h (body.c); the loops are the device's grid. The arithmetic of reductions is the one of
** ir/kernel.h, so a sum has the same bits on every device.
**
** A kernel is rendered once per variant. A variant says what the host has proved of a launch
** (indices fit 32 bits, operands are aligned and dense) and how the work is cut; sizes and scalars stay arguments.
*/
#ifndef TT_RENDER_GPU_THREADS_H
#define TT_RENDER_GPU_THREADS_H

#include "ir/device.h"
#include "ir/user/launch.h"
#include "render/dialect.h"

/* The last of several elements that go to one place must stay there: first each place learns who comes last. */
typedef enum tt_scatter { TT_SCATTER_NONE, TT_SCATTER_CLEAR, TT_SCATTER_MARK, TT_SCATTER_STORE } tt_scatter;

#define TT_MOST_APART 16
#define TT_APART_SELF 255

/* Every field is a number of its own and there is no padding: variants may be compared and hashed as bytes. */
typedef struct tt_variant {
  uint8_t part;  /* tt_part: a kernel's CHUNK and FINISH are two functions */
  uint8_t wide;  /* 64-bit indices */
  uint8_t far;   /* the argument struct lies in device memory, and the one argument is its address */
  uint8_t many;  /* MAP, one block high: several launches as one, by a table of so many rows (`far`: of any number, in
                    device memory); each block looks up the row whose blocks it is among */
  uint8_t tiled; /* a transpose goes through shared memory */
  uint8_t vec;   /* neighbouring lanes that a thread takes (1, 2, 4, 8, 16); > 1 only where all that is UNIT is aligned;
                    tiled: side */
  uint8_t unroll;     /* vectors that a thread takes at a time; tiled: neighbours that it moves at once, 1 or 4 */
  uint8_t group;      /* log2 of: the threads that share a row (ROW), neighbouring lanes of a block (staged COL) */
  uint8_t block;      /* log2 of the threads of a block (MAP: along the lane) */
  uint8_t full;       /* kept, and the elements of the threads are just those of the row */
  uint8_t kept;       /* a row's values stay in registers from phase to phase (ROW) */
  uint8_t scatter;    /* tt_scatter: a kernel with STOREX takes three passes */
  uint8_t staged;     /* more threads than accumulators: values pass through shared memory (ROW, COL) */
  uint8_t raw;        /* staged ROW: what is loaded passes through shared memory, and one team computes and folds it */
  uint8_t once;       /* MAP: the grid has a thread for each vector of each outer point; ROW: each line is one piece */
  uint8_t drawn;      /* vec > 1: the draws of a vector's lanes are whole blocks (prelude.h) */
  uint8_t main_loop;  /* MAP, one outer point: whole vectors have a loop of their own, before that of the last lanes */
  uint8_t speculates; /* `main_loop`, and there near forms for all, until a warp meets a lane that is far */
  uint8_t loops;      /* a block is one thread, which goes through its share of the space by the CPU's loops */
  /* MAP: stores are aligned `shift` lanes before the first, and not all that is loaded is so with them. Access a begins
   * by[a] elements behind access with[a] - 1 of its buffer (0: it is aligned), or (SELF) behind an aligned vector. */
  uint8_t apart, shift, with[TT_MOST_APART];
  int8_t by[TT_MOST_APART];
} tt_variant;

/* One launch of a kernel: what to run and with how many threads. */
typedef struct tt_pass {
  tt_variant variant;
  tt_grid grid;
  int part; /* tt_part */
} tt_pass;

#define TT_MOST_PASSES 3

/* Scratch memory that the passes of one launch share: partials, scratch rows that shared memory cannot hold,
 * counters. */
typedef struct tt_cut {
  tt_pass pass[TT_MOST_PASSES];
  int npass;
  size_t work_bytes; /* device memory the passes need, freed after them */
  size_t zero_bytes; /* of it, from its start, to be zero before the first pass */
} tt_cut;

/*
** Decide how a lowered step runs on a target. `align[b]`: largest power of two that divides buffer b's address;
** `buf_len[b]`: its elements (read for kernels that scatter; NULL: unknown).
** TT_ENOTIMPL when the kernel cannot run there (it scatters into a buffer that it also reads, or reduces and
** scatters): the caller has another way.
*/
TT_HIDDEN tt_code tt__gpu_schedule(const tt_kernel *k, const tt_lowered *l, const tt_target *t, const size_t *align,
                                   const int64_t *buf_len, tt_cut *out, tt_error *err);

/* Append a function NAME for that variant; it stands below tt__render_header(dialect). */
TT_HIDDEN tt_code tt__threads_render(const tt_kernel *k, const tt_dialect *d, const tt_variant *v, const char *name,
                                     tt_str *out, tt_error *err);

/*
** May the kernel be a function of one lane, called from another text? Dense or not, its space is one axis at most, and
** nothing is scattered or checked.
*/
TT_HIDDEN bool tt__threads_has_element(const tt_kernel *k);
/*
** Append that function twice: NAME_1_value NAME_1(const NAME_args *args, tt_i64 l), what the kernel would store at lane
** l, and NAME_4 with NAME_4_value for lanes l to l + 3 if `vec` is 4: then the elements at lane 0 that are read side by
** side are aligned as four of them, or to 16 bytes. A value has an array bN of `vec` elements for each buffer N that is
** written. Stands below tt__render_header(dialect); the arguments are those of a launch.
*/
TT_HIDDEN tt_code tt__threads_element(const tt_kernel *k, const tt_dialect *d, int vec, const char *name, tt_str *out,
                                      tt_error *err);

/*
** Bytes of the argument struct of a kernel, and filling it. When the pass's variant is `far`, the struct is to be
** copied to the device and its address passed as the launch's argument. `buf`: device addresses; `work`: of the cut
** (or NULL); `fault`: device address of a tt_kfault (checked kernels). `scalar` in the register types.
*/
TT_HIDDEN size_t tt__threads_args_size(const tt_kernel *k);
/* How many of its words, the first ones, are addresses. */
TT_HIDDEN int tt__threads_addresses(const tt_kernel *k);
TT_HIDDEN void tt__threads_args(const tt_kernel *k, const tt_lowered *l, const tt_pass *p, void *const *buf,
                                const int64_t *buf_len, const tt_scalar *scalar, void *work, void *fault, void *args);

/*
** Several launches as one, by a table: the number of rows (8 bytes), then a row for each launch, that begins with its
** arguments. With `far` the number and the rows' address are the launch's argument.
** tt__threads_joins: the pass of a launch that may be a row; false if it may not. Those of one table have equal
** variants and blocks.
*/
TT_HIDDEN bool tt__threads_joins(const tt_kernel *k, const tt_lowered *l, const tt_cut *cut, tt_pass *out);
TT_HIDDEN size_t tt__threads_row_size(const tt_kernel *k);
/* Say in a row which blocks of the grid are its. */
TT_HIDDEN void tt__threads_row_blocks(const tt_kernel *k, int64_t first, int64_t blocks, void *row);

#endif
