/*
** Kernels given as expressions, elementwise and reductions, in the forms of CuPy and PyCUDA. Types may be placeholders;
** each set of types that a call gives them is read once.
**
** A call goes one of two ways. Straight-line text becomes operations of the graph (tutti/expression.h): lazy, fused
** with what is around them, without a compiler. Other text (loops, stores to other elements, structs) is put into
** CUDA C around it, compiled and launched (tutti/kernel.h). The results are the same; tt_custom_explain says which
** way it was and why.
**
** A kernel may be called by several threads at once.
*/
#ifndef TUTTI_ELEMENTWISE_H
#define TUTTI_ELEMENTWISE_H

#include "tutti/expression.h"
#include "tutti/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_custom tt_custom; /* a kernel given as expressions */

/* Texts that are NULL are empty. */
typedef struct tt_custom_source {
  /*
  ** "float32 x, raw T y": the type, by its name in NumPy or C, or one capital letter for any; `raw` arrays are used
  ** whole, x[index].
  */
  const char *inputs, *outputs;
  const char *declaration; /* (elementwise) PyCUDA's form instead of these: "float *z, float a, const float *x" */
  const char *operation;   /* statements over the parameters, `i` and `n`; of a reduction an expression: the map */
  const char *name;        /* NULL: "kernel" */
  const char *preamble;    /* functions, macros and types before it */
  const char *const *flag; /* flags of the compiler, as NVRTC takes them */
  int nflag;
  const char *way; /* NULL: as the text allows; "graph": TT_ENOTIMPL where it cannot be; "cuda": always compiled */
  const char *loop_prep, *after_loop; /* (elementwise) statements before and after the loop */
  /* A reduction, with one output: */
  const char *reduce;   /* an expression over `a` and `b` */
  const char *post;     /* statements over `a`, the inputs that are numbers, and the output */
  const char *identity; /* an expression; NULL or "": there is none */
  const char *inner;    /* the type of `a` and `b`, in C or NumPy; NULL: the output's */
} tt_custom_source;

/*
** The source is copied. TT_ESYNTAX, TT_ETYPE and TT_EVALUE for declarations that are none. The text itself is looked at
** by the first call.
*/
TT_API tt_code tt_elementwise_new(const tt_custom_source *source, tt_custom **out, tt_error *err);
/* The same of a kernel with `reduce`: partial results are put together by that expression. */
TT_API tt_code tt_reduction_new(const tt_custom_source *source, tt_custom **out, tt_error *err);
/* Drop the caller's hold and set *k to NULL. NULL and *k == NULL are allowed. */
TT_API void tt_custom_release(tt_custom **k);

/* An argument of a call. All zero is an output to be made. */
typedef struct tt_custom_argument {
  tt_argument what; /* memory of the caller is for outputs, and of any use in PyCUDA's form */
  tt_dtype dtype;   /* of a number that has a type of its own; TT_DTYPE_NONE: it takes that of arrays */
  int rank;         /* of memory: its shape */
  const int64_t *len;
} tt_custom_argument;
static inline tt_custom_argument tt_custom_array(tt_array *a) {
  tt_custom_argument o = {{TT_ARG_ARRAY, {a}}, TT_DTYPE_NONE, 0, 0};
  return o;
}
static inline tt_custom_argument tt_custom_value(tt_value v) {
  tt_custom_argument o = {{TT_ARG_VALUE, {0}}, TT_DTYPE_NONE, 0, 0};
  o.what.as.value = v;
  return o;
}

/*
** Call an elementwise kernel with its inputs, or with all its parameters. `size`: how many elements, where no input has
** a shape, else -1. out[k] gets a hold on output k: the array given or a new one, NULL for memory of the caller.
**
** In PyCUDA's form all arguments are given and `out` is not used; `size` -1: as many as the first array has.
**
** how: stream, device, addresses and copied of a launch, where it is compiled; NULL: as usual.
**
** TT_ETYPE for arguments of other types, or too few; TT_EVALUE for shapes that do not fit; TT_ECOMPILE for a text that
** does not compile; else as tt_expression_call and tt_entry_launch.
*/
TT_API tt_code tt_elementwise_call(tt_custom *k, const tt_custom_argument *arg, int n, int64_t size,
                                   const tt_launch_options *how, tt_array **out, tt_error *err);
/*
** Call a reduction with its inputs, or with these and the output. axis: naxis of them, of what the inputs broadcast to;
** NULL: all. Partial results are put together in one fixed order. TT_EAXIS; TT_EVALUE "duplicate value in 'axis'" and
** for rows of no elements without an identity.
*/
TT_API tt_code tt_reduction_call(tt_custom *k, const tt_custom_argument *arg, int n, const int *axis, int naxis,
                                 bool keepdims, const tt_launch_options *how, tt_array **out, tt_error *err);

/* ---- asking */

/* The name it was made with; valid as long as the kernel. */
TT_API const char *tt_custom_name(const tt_custom *k);
/* How many inputs it has. PyCUDA's form: all parameters are inputs. */
TT_API int tt_custom_inputs(const tt_custom *k);
/* How many outputs it has. PyCUDA's form: none. */
TT_API int tt_custom_outputs(const tt_custom *k);
typedef struct tt_custom_parameter {
  const char *name; /* PyCUDA's form: its declaration */
  tt_dtype dtype;   /* TT_DTYPE_NONE: any */
  char letter;      /* the placeholder, or 0 */
  bool is_raw;
} tt_custom_parameter;
/* Parameter i, inputs first. TT_EINDEX: there is none. */
TT_API tt_code tt_custom_parameter_at(const tt_custom *k, int i, tt_custom_parameter *out, tt_error *err);
/* Of how many sets of types the text became operations of the graph, and was left to a compiler. */
TT_API void tt_custom_ways(const tt_custom *k, int *graph, int *compiled);
/* How many calls were launches of compiled code. */
TT_API int64_t tt_custom_launches(const tt_custom *k);
/* For each set of types: the operations, or why it was compiled. Give back with tt_text_free. */
TT_API char *tt_custom_explain(const tt_custom *k);
/* The texts compiled so far, "" when there is none. Give back with tt_text_free. */
TT_API char *tt_custom_text(const tt_custom *k);
/* How CUDA C spells a type: "unsigned int". */
TT_API const char *tt_dtype_in_c(tt_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
