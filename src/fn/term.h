/*
** Terms: expressions over elements as texts that are read once and recorded over arrays, the derivatives of
** tutti/grad.def and functions of networks (nn/activation.c). They are written as in C; names are those of ops.def
** (NumPy's, or of scipy.special without that word), letters are values, i is the imaginary unit.
*/
#ifndef TT_FN_TERM_H
#define TT_FN_TERM_H

#include "fn/compose.h"

typedef struct tt_term tt_term;

/* The values that letters stand for: operands x y z, a result r, a cotangent g, numbers a b c. */
typedef enum tt_term_value {
  TT_TERM_X,
  TT_TERM_Y,
  TT_TERM_Z,
  TT_TERM_R,
  TT_TERM_G,
  TT_TERM_A,
  TT_TERM_B,
  TT_TERM_C,
  TT_TERM_VALUES
} tt_term_value;

/* For the life of the process. NULL: no memory, or (never of a text of ours: the tests read them all) no expression. */
TT_HIDDEN const tt_term *tt__term_read(const char *text);
TT_HIDDEN bool tt__term_names(const tt_term *e, tt_term_value v);
/* Its value; a number where no array meets it. False: a failure. */
TT_HIDDEN bool tt__term_record(tt_composer *c, const tt_term *e, const tt_value *value, tt_value *out);

#endif
