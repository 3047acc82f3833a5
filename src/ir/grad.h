/*
** What is known of derivatives before anything is recorded: the rows of tutti/grad.def, and what each operation keeps
** of its operands and its result for them.
*/
#ifndef TT_IR_GRAD_H
#define TT_IR_GRAD_H

#include "ir/ops.h"

/* Bits of what is kept: operand k, and the result (of a library row: the results). */
#define TT_GRAD_OPERAND(k) (1u << (k))
#define TT_GRAD_RESULT 16u

/* The derivative of an op by operand k as grad.def says it; "?": not known, "": there is none. */
TT_HIDDEN const char *tt__grad_text(int op, int k);
/* What the op keeps for it. */
TT_HIDDEN unsigned tt__grad_keeps(int op);
/* The same of a row of the library; rows without a derivative keep nothing. */
TT_HIDDEN unsigned tt__grad_library_keeps(const char *name);

#endif
