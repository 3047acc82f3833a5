/*
** Operations on elements, and reductions, written as C expressions. They are operations of the graph: lazy, fused with
** what is around them, run wherever their arguments are, and no compiler is needed.
**
** The language is the straight-line part of CUDA C. A text that needs more than that is refused with TT_ENOTIMPL and
** the reason; it is for tt_program_cuda of kernel.h.
*/
#ifndef TUTTI_EXPRESSION_H
#define TUTTI_EXPRESSION_H

#include "tutti/array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_expression tt_expression;

typedef enum tt_expression_flag {
  TT_EXPR_OUT = 1,   /* written; may be left out of a call, and is made then */
  TT_EXPR_RAW = 2,   /* used whole: x[index], x.size(), x.shape()[axis]; takes no part in broadcasting */
  TT_EXPR_NUMBER = 4 /* a number, never an array */
} tt_expression_flag;

typedef struct tt_expression_parameter {
  const char *name; /* at most 63 bytes */
  tt_dtype dtype;
  unsigned flags;
} tt_expression_parameter;

typedef struct tt_expression_type {
  const char *name; /* a name that the text uses for a type */
  tt_dtype dtype;
} tt_expression_type;

typedef struct tt_expression_source {
  const char *operation; /* statements over the parameters, `i` (the element's number) and `n` (how many there are) */
  const char *preamble;  /* functions, macros and constants before it, or NULL */
  const char *file;      /* its name in messages, or NULL */
  const tt_expression_parameter *parameter;
  int nparameter;
  const tt_expression_type *type;
  int ntype;
  /*
  ** PyCUDA's form, instead of `parameter`: "float *z, float a, const float *x". Arrays are raw, those not const are
  ** written; `i` and `n` are ints, and the first array says how many.
  */
  const char *declaration;
  /* A reduction: `operation` is an expression then, and the last parameter alone is written. */
  const char *reduce;   /* an expression over `a` and `b`; NULL: no reduction */
  const char *post;     /* statements over `a`, the numbers, and the output */
  const char *identity; /* an expression, or NULL: there is none */
  tt_dtype accumulator; /* type of `a` and `b` */
} tt_expression_source;

/*
** Read the text. TT_EVALUE: no C compiler would take it (the message shows the line); TT_ENOTIMPL: it is for a compiler
** (the message says why).
*/
TT_API tt_code tt_expression_new(const tt_expression_source *source, tt_expression **out, tt_error *err);
/* One line per operation that it became. Give back with tt_text_free. */
TT_API char *tt_expression_text(const tt_expression *e);
/* Drop the caller's hold and set *e to NULL. NULL and *e == NULL are allowed. */
TT_API void tt_expression_release(tt_expression **e);
/* How many parameters it has. */
TT_API int tt_expression_parameters(const tt_expression *e);
/* Flags of parameter k (TT_EXPR_*). */
TT_API unsigned tt_expression_flags(const tt_expression *e, int k);

/*
** Record it. arg: one value per parameter, TT_V_MISSING for outputs to be made; `size`: how many elements, when all
** arrays are raw, else -1. out[k] gets output k (a hold), NULL for inputs. TT_ETYPE, TT_EVALUE for arguments that do
** not fit; TT_EINDEX when an index that is known now is beyond its array.
*/
TT_API tt_code tt_expression_call(const tt_expression *e, const tt_value *arg, int64_t size, tt_array **out,
                                  tt_error *err);
/*
** Record a reduction over a set of axes (bit k: axis k of what the inputs broadcast to). TT_ENOTIMPL: with these axes
** it is for a compiler.
*/
TT_API tt_code tt_expression_reduce(const tt_expression *e, const tt_value *arg, uint64_t axes, bool keepdims,
                                    tt_array **out, tt_error *err);

#ifdef __cplusplus
}
#endif
#endif
