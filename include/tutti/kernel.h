/*
** Kernels that users write: programs of kernels, launched over a grid of blocks of threads.
**
** A launch is recorded, as operations on arrays are: it reads the arrays it is given, which may be pending, and the
** arrays that the kernel may write (those passed to a pointer that is not const) get new elements. Whoever recorded
** something over the old ones keeps these. It runs where its arrays were put or lie, on the CPU or on a device, when
** somebody looks at what it wrote, at the latest when the thread waits for the device; launches run in the order in
** which they were recorded. What goes wrong inside is reported to who makes it run, once; what was written stays.
** Launches over memory of the caller run at once, and so do those on the CPU of programs that print.
*/
#ifndef TUTTI_KERNEL_H
#define TUTTI_KERNEL_H

#include "tutti/array.h"
#include "tutti/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_program tt_program;
typedef struct tt_entry tt_entry; /* a kernel of a program; lives as long as the program */

typedef struct tt_program_options {
  const char *file;        /* name of the source in messages, or NULL */
  const char *const *flag; /* flags of the compiler, as NVRTC takes them: "-DN=4" */
  int nflag;
  const char *const *expression; /* instances of templates that are wanted: "scale<float>" */
  int nexpression;
} tt_program_options;

/*
** Compile CUDA C. `options` may be NULL. TT_EDEVICE: no compiler (the message says what to install), or the source does
** not compile (the compiler's words, with the line).
*/
TT_API tt_code tt_program_cuda(const char *source, const tt_program_options *options, tt_program **out, tt_error *err);
/* One more hold on the same program. */
TT_API tt_program *tt_program_retain(tt_program *p);
/* Drop the caller's hold and set *p to NULL. NULL and *p == NULL are allowed. */
TT_API void tt_program_release(tt_program **p);

/* A kernel by its name, or by one of the expressions. TT_EVALUE: there is none; the message lists what there is. */
TT_API tt_code tt_program_find(tt_program *p, const char *name, tt_entry **out, tt_error *err);
/* The k-th kernel, or NULL after the last. */
TT_API tt_entry *tt_program_nth(tt_program *p, int k);
/* Memory of a __device__ or __constant__ variable on a device (-1: the program's). TT_EVALUE: none of that name. */
TT_API tt_code tt_program_variable(tt_program *p, const char *name, int device, void **data, size_t *size,
                                   tt_error *err);
/*
** Set the first `size` bytes of a variable, on every device where the program runs or will run; in order with
** launches, and waits. TT_EVALUE: none of that name, or beyond its end.
*/
TT_API tt_code tt_program_set(tt_program *p, const char *name, const void *data, size_t size, tt_error *err);
/* Read the first `size` bytes of a variable where a kernel of the program was launched last; in order, and waits. */
TT_API tt_code tt_program_get(tt_program *p, const char *name, void *data, size_t size, tt_error *err);
/* Where it was built first: on the CPU (0), or on the device that this thread had chosen. Others follow by
 * themselves. */
TT_API int tt_program_device(const tt_program *p);
/* What was compiled, without what stands before it in every program. Lives as long as the program. */
TT_API const char *tt_program_text(const tt_program *p);

typedef struct tt_parameter {
  const char *name; /* "" when not known */
  char type[48];    /* "const float32 *", "int32", "struct of 12 bytes" */
  tt_dtype dtype;   /* of the scalar, or of what is pointed at; TT_DTYPE_NONE: another type */
  bool is_pointer, is_const;
  int size; /* bytes of the parameter */
} tt_parameter;
/* Its name in the source; valid as long as the program. */
TT_API const char *tt_entry_name(const tt_entry *r);
/* How many parameters it has. */
TT_API int tt_entry_parameters(const tt_entry *r);
/* Parameter k; its name lives as long as the program. TT_EVALUE: there is no such parameter. */
TT_API tt_code tt_entry_parameter(const tt_entry *r, int k, tt_parameter *out, tt_error *err);
/* Most threads that a block of it may have. */
TT_API int tt_entry_threads(const tt_entry *r);
/* May its threads wait for each other (barriers, warps)? */
TT_API bool tt_entry_waits(const tt_entry *r);
/* The threads of a block that keep most of a device busy (-1: the program's), with so much dynamic shared memory. */
TT_API tt_code tt_entry_suggest(tt_entry *r, int device, int64_t shared, int *threads, tt_error *err);

typedef enum tt_argument_kind {
  TT_ARG_ARRAY,  /* as.array */
  TT_ARG_MEMORY, /* as.memory: the caller's own, used in place */
  TT_ARG_VALUE,  /* as.value: a number, converted to the parameter's type when it fits; None: a null pointer */
  TT_ARG_BYTES,  /* as.memory: a struct by value */
  TT_ARG_LOCAL   /* as.memory.size bytes of the work-group's own (tutti/opencl.h) */
} tt_argument_kind;

typedef struct tt_argument {
  tt_argument_kind kind;
  union {
    tt_array *array; /* borrowed */
    tt_value value;
    struct {
      void *data;
      size_t size;
      tt_dtype dtype; /* TT_DTYPE_NONE: any */
      bool readonly;
    } memory;
  } as;
} tt_argument;

/*
** Launch it. TT_ETYPE for a wrong count or type of arguments, TT_EVALUE for a grid or block that cannot be,
** TT_EOVERFLOW for a number that does not fit its parameter, TT_EDEVICE for what goes wrong in a kernel that had to
** run meanwhile.
*/
TT_API tt_code tt_entry_launch(tt_entry *r, const tt_launch_options *how, const tt_argument *arg, int n, tt_error *err);

/*
** Take what kernels have printed since the last time: malloc'ed by the library, give back with tt_text_free; NULL when
** there is nothing.
*/
TT_API char *tt_printed(void);

#ifdef __cplusplus
}
#endif
#endif
