/*
** What is known of derivatives before anything is recorded: the rows of tutti/grad.def, and what each operation keeps
** of its operands and its result for them.
*/
#ifndef TT_IR_GRAD_H
#define TT_IR_GRAD_H

#include "ir/ops.h"

/* What steps of training store for their way back: what takes fewer bytes so, or (tests: TUTTI_KEEP=all, none) all that
 * is computed twice, or as little as can be. */
typedef enum tt_keep { TT_KEEP_BYTES, TT_KEEP_ALL, TT_KEEP_NONE } tt_keep;
TT_HIDDEN tt_keep tt__keep_told(void);

/* Bits of what is kept: operand k, and the result (of a library row: the results). */
#define TT_GRAD_OPERAND(k) (1u << (k))
#define TT_GRAD_RESULT 16u

/* The derivative of an op by operand k as grad.def says it; "?": not known, "": there is none. */
TT_HIDDEN const char *tt__grad_text(int op, int k);
/* What the op keeps for it. */
TT_HIDDEN unsigned tt__grad_keeps(int op, int k);
/* The same of a row of the library; rows without a derivative keep nothing. */
TT_HIDDEN unsigned tt__grad_library_keeps(const char *name);

#endif
