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

#include "tutti/array.h"
#include "tutti/stream.h"

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
** steps; P: steps in bytes to elements that lie anywhere; R behind it: read-only), (i64,f64) for a tuple, Li64 for a
** list, Ti64 for one of a library, N for None, of results Gi64 for a generator; separated by commas; after a '|' the
** types of the hidden arrays. TT_ETYPE and TT_ENOTIMPL name the Python line; TT_EDEVICE: there is no compiler, or it
** failed.
*/
TT_API tt_code tt_jit_compile(const char *text, size_t size, const char *signature, uint32_t flags, tt_jit **out,
                              tt_error *err);

/*
** Tell that a function will be compiled soon. `key`: bytes that stand for it. True: it is new to this machine, so a
** compiler is started and waits for its text; then tt_jit_settle is called once, when the function was compiled or
** will not be. Neither fails.
*/
TT_API bool tt_jit_expect(const void *key, size_t size);
/* The function of an expected key was compiled, or will not be: its compiler is given back. Called once. */
TT_API void tt_jit_settle(const void *key, size_t size, bool compiled);

/* Type of the result, in the signature's language; valid as long as the function. */
TT_API const char *tt_jit_result(const tt_jit *j);
/* Bit k: the array of parameter k is written. */
TT_API uint64_t tt_jit_writes(const tt_jit *j);
/* Is it compiled, and ends soon whatever its arguments are? Then nobody need be let in while it runs. */
TT_API bool tt_jit_is_brief(const tt_jit *j);
/* The C text; valid as long as the function. */
TT_API const char *tt_jit_source(const tt_jit *j);
/* A table of variables and their types; valid as long as the function. */
TT_API const char *tt_jit_types(const tt_jit *j);
/* The CUDA C++ text of a kernel, to be given back with tt_text_free; NULL with the reason in err. */
TT_API char *tt_jit_cuda_source(const tt_jit *j, tt_error *err);
typedef struct tt_jit_info {
  int64_t shared, local; /* bytes of static shared memory of a block, of private arrays of a thread */
  bool barriers;
} tt_jit_info;
/* What a kernel takes of a device. */
TT_API tt_jit_info tt_jit_ask(const tt_jit *j);

/*
** A list crosses as the address of one of these: its items, as words, and how many there is room for. A call that needs
** more room gives the list other memory, which is the call's; what was there is left alone.
*/
typedef struct tt_jit_list {
  int64_t *word;
  int64_t n, room;
  int32_t *slot; /* of dictionaries and sets, whose items are (there, key, value): the call's, NULL before it */
  int64_t nslot, live;
} tt_jit_list;

/* No axis of an array that is handed over is longer. */
#define TT_JIT_LONGEST ((int64_t)1 << 48)

/*
** Call a function. `word`: the arguments; `hidden`: the hidden arrays; `out` has room for the result. A division by
** zero, a failed assert and the like come back as their code; what `raise` raises as TT_EINTERNAL with a message that
** begins with "raised " and its number in the module's (errors ...). *run is NULL when nothing was left behind.
*/
TT_API tt_code tt_jit_call(const tt_jit *j, const int64_t *word, const int64_t *hidden, int64_t *out, tt_jit_run **run,
                           tt_error *err);

/*
** Go on with a generator, which a call gave whose result's type begins with G: *more, and then its value's words stand
** behind the first two of its list. *run is the call's, which keeps its memory and gets what is made now. What the
** arguments of the call lie in must be there still.
*/
TT_API tt_code tt_jit_next(const tt_jit *j, tt_jit_list *generator, const int64_t *hidden, tt_jit_run **run, bool *more,
                           tt_error *err);

/* An array among the words of a launch. */
typedef struct tt_jit_argument {
  int word;        /* its address belongs there */
  bool writes;     /* the kernel may write it */
  tt_array *array; /* borrowed; NULL: memory of the caller, into which the word points */
  int64_t inside;  /* bytes from the array's first element to the address */
  void *low;       /* the memory: its first byte */
  int64_t size;
} tt_jit_argument;

/*
** Launch a kernel: recorded as launches of CUDA C are (tutti/kernel.h). `word`: the arguments', then the hidden
** arrays'. `raw`: addresses of device memory stand among the words; such launches and those over memory of the caller
** run at once. On a device that memory is copied there and, if written, back. TT_EVALUE for impossible grids and
** blocks, and for arrays on two devices; *where: the device's number; TT_EDEVICE: there is no compiler, or it failed.
*/
TT_API tt_code tt_jit_launch(tt_jit *j, const tt_launch_options *how, const int64_t *word, int nword, int nhidden,
                             const tt_jit_argument *arg, int n, bool raw, int *where, tt_error *err);

/* How many blocks of so many threads a device runs at once: a kernel with a barrier of the whole grid takes no more. */
TT_API tt_code tt_jit_at_once(tt_jit *j, int device, int threads, int64_t shared, int64_t *blocks, tt_error *err);

/* Copies of a device's memory, of variables for instance, in order with the thread's stream and after the kernels that
** were launched before; the one to the host waits. */
/*
** Copy to a device's memory, of a variable for instance, in order with the thread's stream and after the kernels that
** were launched before.
*/
TT_API tt_code tt_device_copy_in(int device, void *to, const void *from, int64_t size, tt_error *err);
/* Copy from a device's memory, in the same order; waits. */
TT_API tt_code tt_device_copy_out(int device, void *to, const void *from, int64_t size, tt_error *err);

/* What was printed; "" when nothing was. */
TT_API const char *tt_jit_run_text(const tt_jit_run *run);
/* Own the memory that holds the address `p`, if the call made it: true, and give it back with tt_jit_free. */
TT_API bool tt_jit_run_take(tt_jit_run *run, const void *p, void **data, size_t *size);
/* Give back memory that tt_jit_run_take took. */
TT_API void tt_jit_free(void *data, size_t size);
/* Give back what a call left behind, and set *run to NULL. *run == NULL is allowed. */
TT_API void tt_jit_run_release(tt_jit_run **run);

/* Is there a compiler? */
TT_API bool tt_jit_usable(void);
/* Why there is none, or why it was given up, a clause for people; "" when it is usable. `size`: of `out`. */
TT_API void tt_jit_missing(char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
