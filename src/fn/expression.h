/*
** Expressions over elements as texts that are read once and recorded over arrays: the derivatives of tutti/grad.def,
** and functions of networks (nn/activation.c). They are written as in C; names are those of ops.def (NumPy's, or of
** scipy.special without that word), letters are values, i is the imaginary unit.
*/
#ifndef TT_FN_EXPRESSION_H
#define TT_FN_EXPRESSION_H

#include "fn/compose.h"

typedef struct tt_expression tt_expression;

/* The values that letters stand for: operands x y z, a result r, a cotangent g, numbers a b c. */
typedef enum tt_expression_value {
  TT_EXPRESSION_X,
  TT_EXPRESSION_Y,
  TT_EXPRESSION_Z,
  TT_EXPRESSION_R,
  TT_EXPRESSION_G,
  TT_EXPRESSION_A,
  TT_EXPRESSION_B,
  TT_EXPRESSION_C,
  TT_EXPRESSION_VALUES
} tt_expression_value;

/* For the life of the process. NULL: no memory, or (never of a text of ours: the tests read them all) no expression. */
TT_HIDDEN const tt_expression *tt__expression_read(const char *text);
TT_HIDDEN bool tt__expression_names(const tt_expression *e, tt_expression_value v);
/* Its value; a number where no array meets it. False: a failure. */
TT_HIDDEN bool tt__expression_record(tt_composer *c, const tt_expression *e, const tt_value *value, tt_value *out);

#endif
