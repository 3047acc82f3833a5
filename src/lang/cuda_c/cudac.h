/*
** Programs in CUDA C for the processor: text in, entries out. The text is preprocessed by the system's C++ compiler
** behind our prelude, CUDA's words are replaced, the compiler makes code of it.
**
** The compiler is TUTTI_CXX, else the first of c++, g++, clang++; TUTTI_CXX=none: there is none. Binaries are kept on
** disk beside other kernels' (TUTTI_CACHE_DIR), in the folder "programs".
*/
#ifndef TT_LANG_CUDA_C_CUDAC_H
#define TT_LANG_CUDA_C_CUDAC_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "lang/cuda_c/cudac_abi.h"

typedef struct tt_cudac_options tt_cudac_options;

/* Another language that goes CUDA C's way. */
typedef struct tt_cudac_language {
  const char *name, *file;   /* in messages; what a source is called that has no name */
  const char *prelude;       /* instead of CUDA C's */
  const char *const *define; /* flags of the preprocessor, ended by NULL */
  int version;               /* raise it when the same text becomes another program */
  /* The preprocessed text in CUDA C's words. TT_ECOMPILE: it has something that is not there. */
  tt_code (*translate)(const char *text, size_t len, const tt_cudac_options *o, tt_str *out, tt_error *err);
  /* (optional) Make what the compiler said of the translated text what it says of the source. */
  void (*mend)(tt_str *said, const char *source, const char *file, const char *translated);
} tt_cudac_language;

struct tt_cudac_options {
  const tt_cudac_language *language; /* NULL: CUDA C */
  const char *file;                  /* name of the source in messages; NULL: "kernel.cu" */
  const char *const *flag; /* of the compiler: -D -U -I are handed on, others that nvcc knows are not needed */
  int nflag;
  const char *const *expression; /* instances of templates that are wanted: "add<float>" */
  int nexpression;
  bool check;  /* every access is told to the core: tt__cudac_check_new */
  bool wide;   /* blocks times threads along x may exceed 2^31 */
  bool offset; /* (OpenCL C) global indices may not begin at 0 */
};

/*
** Compile and load. `*out` stays until the process ends. `params`, when not NULL, gets a line for each entry: its name,
** then the names of its parameters. `text`, when not NULL, gets what was compiled, without the prelude.
** TT_EDEVICE: no compiler (the message says what to install), or the text does not compile (its words, with the line).
*/
TT_HIDDEN tt_code tt__cudac_build(const char *source, const tt_cudac_options *o, const tt_cudac_program **out,
                                  tt_str *params, tt_str *text, tt_error *err);

/* Path of the compiler, or "" and why there is none. */
TT_HIDDEN void tt__cudac_compiler(char *path, size_t size, char *why, size_t why_size);

#endif
