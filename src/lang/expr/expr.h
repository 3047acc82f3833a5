/*
** Operations written as C expressions ("z = x * y + 1.0f"), typed by C's rules and made formulas (ir/user/formula.h).
**
** The language is the straight-line part of CUDA C: declarations, assignments, if and else, calls of functions whose
** text is given and is straight-line as well. What it lacks (loops, pointers, barriers) is TT_ENOTIMPL with the
** reason: such text is for a compiler. Text that no compiler would take is TT_EVALUE, with the line and C's words.
*/
#ifndef TT_LANG_EXPR_EXPR_H
#define TT_LANG_EXPR_EXPR_H

#include "ir/user/formula.h"

/* A name of a type: T is float32. */
typedef struct tt_cx_alias {
  const char *name;
  tt_dtype dtype;
} tt_cx_alias;

typedef struct tt_cx_source {
  const char *text;     /* statements, or an expression for tt__cx_value */
  const char *preamble; /* definitions before it, or NULL */
  const char *file;     /* its name in messages */
  const tt_formula_param *param;
  int nparam;
  const tt_cx_alias *alias;
  int nalias;
  bool c_form; /* PyCUDA's: `i` is an int, and `n` is how many */
} tt_cx_source;

/* Statements: results are what outputs and written arrays hold at the end. On failure *out is empty. */
TT_HIDDEN tt_code tt__cx_statements(const tt_cx_source *s, tt_formula *out, tt_error *err);
/* One expression, converted to the type of the last parameter, which is its result. */
TT_HIDDEN tt_code tt__cx_value(const tt_cx_source *s, tt_formula *out, tt_error *err);

/*
** Parameters as C declares them: "float *z, const float *x, float a". A pointer is an array used whole, written unless
** it is to const; the rest are numbers. TT_ENOTIMPL for types that are none of ours.
*/
TT_HIDDEN tt_code tt__cx_parameters(const char *text, tt_formula_param *out, int room, int *n, tt_error *err);

/* What an expression over `a` and `b` does to a sequence of values. */
typedef enum tt_cx_fold {
  TT_CX_FOLD_NONE, /* something else */
  TT_CX_FOLD_SUM,
  TT_CX_FOLD_PROD,
  TT_CX_FOLD_FMAX, /* max(a, b): numbers win over NaN */
  TT_CX_FOLD_FMIN,
  TT_CX_FOLD_MAX, /* a > b ? a : b */
  TT_CX_FOLD_MIN,
  TT_CX_FOLD_ALL,      /* a && b */
  TT_CX_FOLD_ANY,      /* a || b */
  TT_CX_FOLD_NO_MEMORY /* to find out */
} tt_cx_fold;
TT_HIDDEN tt_cx_fold tt__cx_fold(const char *text);

#endif
