/*
** Expressions that are for a compiler, made kernels: parameters as CuPy declares them, the types that a call gives
** their placeholders, and the CUDA C text around the expression.
*/
#ifndef TT_LANG_EXPR_KERNEL_H
#define TT_LANG_EXPR_KERNEL_H

#include "base/str.h"
#include "ir/dtype.h"

#define TT_CX_LETTERS 26  /* placeholders: A to Z */
#define TT_CX_BLOCK 256   /* threads of a block of these kernels */
#define TT_CX_CHUNK 16384 /* elements that one partial result stands for */

typedef struct tt_cx_parameter {
  const char *name; /* (C's form) all of the declaration */
  tt_dtype dtype;   /* TT_DTYPE_NONE: what `letter` stands for */
  int letter;       /* from 0; -1: none */
  bool is_raw;      /* used whole (C's form: a pointer) */
} tt_cx_parameter;

/* All zero is none. */
typedef struct tt_cx_signature {
  tt_cx_parameter *param;
  int n, nin, room; /* the first `nin` of `n` are inputs */
  char *text;       /* what the names lie in */
  size_t size;
} tt_cx_signature;

/*
** Read "float32 x, raw T y" twice, inputs and outputs. TT_ESYNTAX, TT_ETYPE, TT_EVALUE for what is no declaration. On
** failure, too, *out is to be freed.
*/
TT_HIDDEN tt_code tt__cx_signature(const char *inputs, const char *outputs, tt_cx_signature *out, tt_error *err);
/* The same of C's form, "float a, float *x": all are inputs, a `*` makes them raw. */
TT_HIDDEN tt_code tt__cx_signature_c(const char *text, tt_cx_signature *out, tt_error *err);
TT_HIDDEN void tt__cx_signature_free(tt_cx_signature *s);
/* Is it a name in C? */
TT_HIDDEN bool tt__cx_is_name(const char *s, size_t n);
/* The type of a name of CUDA C's or NumPy's; TT_DTYPE_NONE: of none. */
TT_HIDDEN tt_dtype tt__cx_spelled(const char *s);

/* What the placeholders stand for: 1 + the type, 0 where nothing says. Equal types are equal bytes. */
typedef struct tt_cx_types {
  uint8_t of[TT_CX_LETTERS];
} tt_cx_types;
static inline tt_dtype tt__cx_letter(const tt_cx_types *t, int letter) { return (tt_dtype)(t->of[letter] - 1); }
static inline tt_dtype tt__cx_dtype(const tt_cx_types *t, const tt_cx_parameter *p) {
  return p->letter < 0 ? p->dtype : tt__cx_letter(t, p->letter);
}

/* How an argument is handed over: by its address, as a number, or whole with its lengths (TT_CX_WHOLE + its rank). */
enum { TT_CX_ADDRESS, TT_CX_NUMBER, TT_CX_WHOLE };

/* The texts of a kernel; none is NULL but `identity`. */
typedef struct tt_cx_texts {
  const char *name, *preamble, *operation;
  const char *loop_prep, *after_loop;   /* elementwise */
  const char *reduce, *post, *identity; /* a reduction; identity NULL: it has none */
} tt_cx_texts;

/* A kernel of the arguments as `form` says, "ptrdiff_t from, int n, ptrdiff_t all": n elements from `from` on. */
TT_HIDDEN void tt__cx_elementwise(const tt_cx_signature *s, const tt_cx_texts *k, const tt_cx_types *types,
                                  const uint8_t *form, tt_str *out);
/* The same in C's form: arguments as declared, and "int n". */
TT_HIDDEN void tt__cx_elementwise_c(const tt_cx_signature *s, const tt_cx_texts *k, tt_str *out);
/*
** Three kernels over `m` elements for each of some rows; `inner` is the type of partial results, in C. The inputs are
** arrays, then numbers, each in their order.
**   _partial(arrays, numbers, parts, m, chunks, first)   a block for each chunk of TT_CX_CHUNK elements of a row
**   _finish(parts, out, numbers, chunks, first, rows)    the chunks of a row, in their order
**   _nothing(out, numbers, first, rows)                  rows of no elements
** A variable `_one` has the size of a partial result.
*/
TT_HIDDEN void tt__cx_reduction(const tt_cx_signature *s, const tt_cx_texts *k, const tt_cx_types *types,
                                const uint8_t *form, const char *inner, tt_str *out);
/* (for the texts) "typedef float T;" for each placeholder. */
TT_HIDDEN void tt__cx_typedefs(const tt_cx_types *types, tt_str *out);
/* How C calls a type. */
TT_HIDDEN const char *tt__cx_type_name(tt_dtype dtype);

#endif
