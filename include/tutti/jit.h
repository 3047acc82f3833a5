/*
** Compiled Python functions and kernels: what a binding hands over is a function's tree as text (see
** docs/kernels.md), what it gets is code for one list of argument types.
**
** Values cross as 8-byte words: whole numbers as int64, floats as their bits, complex64 as two floats in a word,
** complex128 as two words, tuples one item after the other, an array as its address, its lengths and its steps in
** elements.
*/
#ifndef TUTTI_JIT_H
#define TUTTI_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/status.h"
#include "tutti/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_jit tt_jit;         /* code for one list of types; lives until the process ends */
typedef struct tt_jit_run tt_jit_run; /* what a call left behind: printed text, new arrays */

enum {
  TT_JIT_KERNEL = 1,      /* a kernel: launched, not called */
  TT_JIT_CHECK = 2,       /* assertions hold in kernels */
  TT_JIT_PARALLEL = 4,    /* prange runs on all threads */
  TT_JIT_BOUNDS = 16,     /* an index beyond its array is an IndexError that says where */
  TT_JIT_NUMPY_ERRORS = 8 /* division by zero gives inf, nan or 0 */
};

/*
** Type, render and compile (or find on disk). `signature`: f64, Ai32:2C (an int32 array of 2 axes in C order; A: any
** steps; R behind it: read-only), (i64,f64) for a tuple, N for None; separated by commas; after a '|' the types of
** the hidden arrays. TT_ETYPE and TT_ENOTIMPL name the Python line; TT_EDEVICE: there is no compiler, or it failed.
*/
TT_API tt_code tt_jit_compile(const char *text, size_t size, const char *signature, uint32_t flags, tt_jit **out,
                              tt_error *err);

TT_API const char *tt_jit_result(const tt_jit *j); /* type of the result, in the signature's language */
TT_API uint64_t tt_jit_writes(const tt_jit *j);    /* bit k: the array of parameter k is written */
TT_API const char *tt_jit_source(const tt_jit *j); /* the C text */
TT_API const char *tt_jit_types(const tt_jit *j);  /* a table of variables and their types */
/* The CUDA C++ text of a kernel, to be given back with tt_text_free; NULL with the reason in err. */
TT_API char *tt_jit_cuda_source(const tt_jit *j, tt_error *err);
typedef struct tt_jit_info {
  int64_t shared, local; /* bytes of static shared memory of a block, of private arrays of a thread */
  bool barriers;
} tt_jit_info;
TT_API tt_jit_info tt_jit_ask(const tt_jit *j);

/*
** Call a function. `word`: the arguments; `hidden`: the hidden arrays; `out` has room for the result. A division by
** zero, a failed assert and the like come back as their code. *run is NULL when nothing was left behind.
*/
TT_API tt_code tt_jit_call(const tt_jit *j, const int64_t *word, const int64_t *hidden, int64_t *out, tt_jit_run **run,
                           tt_error *err);
/* Launch a kernel on the CPU: it has ended when this returns. TT_EVALUE for impossible grids and blocks. */
TT_API tt_code tt_jit_launch(tt_jit *j, const int64_t *word, const int64_t *hidden, const int64_t *grid,
                             const int64_t *block, int64_t shared, tt_jit_run **run, tt_error *err);

/*
** Launch a kernel on a device (its number, as tt_devices gives them), on the thread's current stream. Words of arrays
** are addresses there, or of host memory that a span tells of: it is copied there, and back if it is written, in which
** case the call waits.
*/
typedef struct tt_jit_host {
  int word; /* that points into it; -1 - k: word k of the hidden arrays */
  bool writes;
  void *low; /* first byte */
  int64_t size;
} tt_jit_host;
TT_API tt_code tt_jit_launch_on(tt_jit *j, int device, const int64_t *word, int nword, const int64_t *hidden,
                                int nhidden, const int64_t *grid, const int64_t *block, int64_t shared,
                                const tt_jit_host *host, int nhost, tt_error *err);

/* Plain memory of a device, for arrays that kernels write in place. Copies are ordered with the thread's stream there;
** the one to the host waits. */
TT_API tt_code tt_device_take(int device, int64_t size, void **at, tt_error *err);
TT_API void tt_device_give(int device, void *at);
TT_API tt_code tt_device_copy_in(int device, void *to, const void *from, int64_t size, tt_error *err);
TT_API tt_code tt_device_copy_out(int device, void *to, const void *from, int64_t size, tt_error *err);

/* What was printed; "" when nothing was. */
TT_API const char *tt_jit_run_text(const tt_jit_run *run);
/* Own the memory that holds the address `p`, if the call made it: true, and give it back with tt_jit_free. */
TT_API bool tt_jit_run_take(tt_jit_run *run, const void *p, void **data, size_t *size);
TT_API void tt_jit_free(void *data, size_t size);
TT_API void tt_jit_run_release(tt_jit_run **run);

/* Is there a compiler? */
TT_API bool tt_jit_usable(void);

#ifdef __cplusplus
}
#endif
#endif
