/*
** The way of a user's program: typed (lang), rendered, found on disk or compiled, called. The only code that knows
** these stages together, as realize.c is for arrays.
*/
#ifndef TT_LAUNCH_JIT_H
#define TT_LAUNCH_JIT_H

#include "base/hash.h"
#include "base/str.h"
#include "lang/python/py.h"
#include "render/proc/proc.h"
#include "tutti/jit.h"

#define TT_JIT_DEVICES 32 /* the most GPUs and other devices whose code a kernel remembers */

struct tt_jit {
  tt_proc program;      /* kept for its types */
  tt_program_fn fn;     /* read and written atomically; NULL: not made, or not yet */
  struct tt_tier *tier; /* what runs until then (launch/python/tier.h); NULL: nothing */
  tt_str source, types, result;
  char name[48];                              /* of its function in every text */
  struct tt_routine *routine[TT_JIT_DEVICES]; /* of each device it was launched on */
  int block[TT_JIT_DEVICES];                  /* threads of a block that suit it there; 0: not asked */
  int64_t local, shared;
  bool brief; /* ends soon whatever its arguments are: no loop, and nothing whose length they decide */
  bool draws; /* random numbers: how its launches are cut is a matter of their size alone */
  int nword;  /* of the arguments, once it was launched: the hidden arrays' stand behind them */
};

/*
** A function will be compiled; `key` stands for it. *waits: it is not known from before, so a compiler waits for it.
** Then tt__jit_settle is called once, when it was compiled or will not be. Neither fails.
*/
TT_HIDDEN void tt__jit_expect(tt_digest key, bool *waits);
/* It was compiled, or will not be. */
TT_HIDDEN void tt__jit_settle(tt_digest key, bool compiled);

/* The text of a kernel for compilers of CUDA C or OpenCL C, with all that it calls. */
TT_HIDDEN tt_code tt__jit_device_text(const struct tt_jit *j, tt_program_target target, tt_str *out, tt_error *err);

struct tt_jit_run;
/* As the functions of tutti/jit.h that are called so. A launch here is the CPU's, at once. No lock is held. */
TT_HIDDEN tt_code tt__jit_compile(const char *text, size_t size, const char *signature, const tt_py_options *options,
                                  struct tt_jit **out, tt_error *err);
/* Call a function: `word` its arguments, `out` room for its result. *run is NULL when nothing was left behind. */
TT_HIDDEN tt_code tt__jit_call(const struct tt_jit *j, const int64_t *word, const int64_t *hidden, int64_t *out,
                               struct tt_jit_run **run, tt_error *err);
/* Go on with a generator that a call gave. */
TT_HIDDEN tt_code tt__jit_next(const struct tt_jit *j, struct tt_jit_list *generator, const int64_t *hidden,
                               struct tt_jit_run **run, bool *more, tt_error *err);
/* Run all blocks of a grid that was checked on the CPU. Waits. */
TT_HIDDEN tt_code tt__jit_launch(struct tt_jit *j, const int64_t *word, const int64_t *hidden, const tt_grid *launch,
                                 struct tt_jit_run **run, tt_error *err);
/* Its code for the CPU, made if need be. */
TT_HIDDEN tt_code tt__jit_ready(struct tt_jit *j, tt_error *err);
/* The same for a kernel whose text tells what it does (tt__program_single); `call` is ready but for what that needs. */
TT_HIDDEN tt_code tt__jit_launch_checked(const struct tt_jit *j, tt_pcall *call, const int64_t *word,
                                         const tt_grid *launch, tt_error *err);

/* Record a launch (launch_python.c), as tt_jit_launch. Session lock held; given up while code is compiled. */
TT_HIDDEN tt_code tt__jit_record(struct tt_jit *j, const tt_launch_options *how, const int64_t *word, int nword,
                                 int nhidden, const tt_jit_argument *arg, int n, bool raw, int *where, tt_error *err);
/* How many blocks of so many threads a device runs at once. */
TT_HIDDEN tt_code tt__jit_at_once(struct tt_jit *j, int device, int threads, int64_t shared, int64_t *blocks,
                                  tt_error *err);

/* A call fails, unless it did already. The message is copied. */
TT_HIDDEN void tt__jit_fail(tt_pcall *call, tt_code code, const char *message, int64_t line);

/* What a call left behind; `run` may be NULL. */
TT_HIDDEN const char *tt__jit_run_text(const struct tt_jit_run *run);
/* Own the memory that holds the address `p`, if the call made it. */
TT_HIDDEN bool tt__jit_run_take(struct tt_jit_run *run, const void *p, void **data, size_t *size);
/* Give back what nobody took. */
TT_HIDDEN void tt__jit_run_free(struct tt_jit_run *run);

#endif
