/*
** The machine's C compiler as a back end: text in, running functions out. It knows nothing of
** kernels but their signature, and nothing of where text comes from or where binaries are kept.
**
** The compiler is TUTTI_CC, else the first of cc, gcc, clang that works; TUTTI_CC=none: there is none.
** It is optional: whoever calls must be able to go on without. Thread-safe, and correct after fork.
*/
#ifndef TT_DEVICE_CPU_CC_H
#define TT_DEVICE_CPU_CC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "ir/kernel.h"

/* The most functions of one file that can do without a linker. */
enum { TT_CC_MOST = 128 };

typedef struct tt_cc_info {
  bool usable;      /* found, and not given up on */
  char path[256];   /* of the compiler; "" when there is none */
  char why[512];    /* why it is not usable, a clause for people: "no C compiler: TUTTI_CC=none"; "" */
  char extras[128]; /* flags in use that not every compiler has */
  int64_t compiles; /* runs that gave code, since start */
  int64_t ahead;    /* those of a compiler that had been started before */
  int64_t failures; /* runs that did not */
  int64_t kernels;  /* functions compiled */
  int64_t ns;       /* time of all runs */
} tt_cc_info;

/* Looks for the compiler at first use, starts nothing. */
TT_HIDDEN tt_cc_info tt__cc_info(void);
TT_HIDDEN bool tt__cc_usable(void);

/*
** What binaries depend on besides their source: the compiler's file (path, size, time), the flags, the
** processor. Equal texts: a binary made there runs here and is what would be made here. "" without a compiler.
*/
TT_HIDDEN void tt__cc_identity(tt_str *out);

/*
** Compile one file with `n` functions of signature tt_kernel_fn and load them. When `binary` is not NULL its bytes
** are appended (an object file or a shared library), for tt__cc_load in another process. TT_EDEVICE: no compiler, or
** it failed (its last lines are in the message), or it ran longer than TUTTI_CC_TIMEOUT seconds (30). After three
** failures in a row the compiler is given up: for a second, or for this process if it hangs.
*/
TT_HIDDEN tt_code tt__cc_compile(const char *source, const char *const *names, int n, tt_kernel_fn *fns, tt_str *binary,
                                 tt_error *err);

/*
** The same where somebody waits for it: by a compiler that was started ahead, without passes that bring programs
** little. What fails is tried twice, and a compiler that was given up, unless it hung, is tried again at once.
*/
TT_HIDDEN tt_code tt__cc_compile_first(const char *source, const char *const *names, int n, tt_kernel_fn *fns,
                                       tt_str *binary, tt_error *err);

/*
** `n` more functions will be compiled by tt__cc_compile_first, or -n fewer. While there are any, a compiler is
** started ahead and waits for its text: that is 8 of a short function's 25 ms. Never fails.
*/
TT_HIDDEN void tt__cc_expect(int64_t n);

/* Load the functions of a binary that tt__cc_compile gave. Loaded code stays until the process ends. */
TT_HIDDEN tt_code tt__cc_load(const void *binary, size_t size, const char *const *names, int n, tt_kernel_fn *fns,
                              tt_error *err);

/* Forget what was found and all failures, read the environment anew. For tests. */
TT_HIDDEN void tt__cc_reset(void);

#endif
