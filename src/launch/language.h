/*
** The languages that users write kernels in: a row each. What a kernel's source is, and what the room can do with it:
** read it, find a kernel in it, make code for the host or a device, run it.
*/
#ifndef TT_LAUNCH_LANGUAGE_H
#define TT_LAUNCH_LANGUAGE_H

#include "ir/user/call.h"
#include "lang/python/py.h"
#include "tutti/elementwise.h"

typedef enum tt_language_id { TT_CUDA_C, TT_PYTHON, TT_EXPRESSION, TT_OPENCL_C, TT_LANGUAGES } tt_language_id;

typedef struct tt_kernel_launch tt_kernel_launch;

/* A kernel's source. Everything is borrowed; a reader copies what it keeps. */
typedef struct tt_source {
  tt_language_id language;
  const char *text;                   /* CUDA C, OpenCL C; a Python function's tree */
  size_t size;                        /* of a tree */
  const tt_program_options *cuda;     /* CUDA C, OpenCL C: may be NULL */
  const char *words;                  /* OpenCL C: the options as they were given; may be NULL */
  int device;                         /* OpenCL C: where it is built first; -1: where this thread puts its arrays */
  const char *signature;              /* Python: types of the arguments */
  const tt_py_options *python;        /* Python */
  const tt_custom_source *expression; /* an expression: its texts */
  bool is_reduction;
} tt_source;

/* What a kernel asks of a launch besides what its device allows. */
typedef struct tt_launch_need {
  int threads;        /* most of a block; 0: as many as the device allows */
  int64_t own;        /* bytes of shared memory that it declares itself */
  int64_t most;       /* bytes of shared memory, in all, that it may have; 0: as many as the device allows */
  const char *memory; /* what its language calls shared memory; NULL: that */
} tt_launch_need;

typedef struct tt_launch_code {
  tt_routine *routine; /* of a device; NULL: the host's code, which the language finds by itself */
  bool together;       /* its blocks wait for each other */
} tt_launch_code;

typedef struct tt_language {
  const char *name;
  /* Read a source: a tt_program, a tt_jit, a tt_custom. Takes long where text is compiled; no lock is needed. */
  tt_code (*parse)(const tt_source *s, void **out, tt_error *err);
  /* A kernel in what was read. NULL: it is the kernel, or (expressions) becomes one in CUDA C for the types of a
  ** call; then nothing below is there either. */
  tt_code (*entry)(void *parsed, const char *name, void **kernel, tt_error *err);
  /* What the launch's grid must keep to. */
  void (*need)(const tt_kernel_launch *l, tt_launch_need *out);
  /* Have the code for where it runs: up to a second at first, with the session's lock given up. */
  tt_code (*code)(tt_kernel_launch *l, tt_device *d, tt_launch_code *out, tt_error *err);
  /* (optional) Threads of a block that suit a device; d NULL: the CPU. */
  int (*block)(const tt_kernel_launch *l, tt_device *d, tt_routine *routine);
  /* (optional) It will run there, and nothing is recorded yet: the last change of its arguments and its grid. */
  tt_code (*place)(tt_kernel_launch *l, tt_device *d, tt_error *err);
  tt_call_kind call; /* run it on the host, its routine on a device; hold it meanwhile */
} tt_language;

TT_HIDDEN extern const tt_language *const tt__languages[TT_LANGUAGES];
/* The rows, which stand with their languages' launches (launch_cuda.c, launch_python.c, custom.c). */
TT_HIDDEN extern const tt_language tt__cuda_c, tt__python, tt__expression, tt__opencl_c;

/* Read a source by its language's row. */
TT_HIDDEN tt_code tt__source_read(const tt_source *s, void **out, tt_error *err);

#endif
