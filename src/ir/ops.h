/*
** What every stage may ask about an elementwise op. The rows are in tutti/ops.def.
*/
#ifndef TT_IR_OPS_H
#define TT_IR_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tutti/types.h"

/* How operand types become the result type (see the head of ops.def). */
typedef enum tt_op_class {
  TT_CLASS_ARITH,
  TT_CLASS_DIVIDE,
  TT_CLASS_FLOAT,
  TT_CLASS_COMPARE,
  TT_CLASS_LOGIC,
  TT_CLASS_BITS,
  TT_CLASS_SHIFT,
  TT_CLASS_WHOLE,
  TT_CLASS_TEST,
  TT_CLASS_ROUND,
  TT_CLASS_PART,
  TT_CLASS_ABS,
  TT_CLASS_SPECIAL,
  TT_CLASS_DRAW,
  TT_CLASS_NONUM
} tt_op_class;

/* What a reduction of nothing gives. */
typedef enum tt_op_identity {
  TT_IDENTITY_NONE,
  TT_IDENTITY_ZERO,
  TT_IDENTITY_ONE,
  TT_IDENTITY_ONES,
  TT_IDENTITY_TRUE,
  TT_IDENTITY_FALSE,
  TT_IDENTITY_LOWEST
} tt_op_identity;

enum { TT_OPF_COMM = 1, TT_OPF_ASSOC = 2, TT_OPF_RED = 4, TT_OPF_SLOW = 8, TT_OPF_LONG = 16 };
enum { TT_OPF_FAR = 32, TT_OPF_NEAR = 64, TT_OPF_NARROW = 128, TT_OPF_CPLX = 256 };
enum { TT_OPF_BOOL8 = 512, TT_OPF_NOBOOL = 1024 };
enum { TT_OPT_B = 1, TT_OPT_I = 2, TT_OPT_F = 4 };

typedef struct tt_op_info {
  const char *name;  /* "ADD": in prints */
  const char *lower; /* "add": in the prelude */
  const char *numpy; /* "add": the public name, "" for internal ops */
  const char *c;     /* "fabs": in C expressions, CUDA C and Python's math, "" for none */
  uint8_t arity, cls, types, identity;
  uint16_t flags;
} tt_op_info;

TT_HIDDEN extern const tt_op_info tt__ops[TT_OP_COUNT];
/* The type of operand `s` of an op whose function is that of `type`: BOOL for WHERE's first, U64 for draws'. */
TT_HIDDEN tt_dtype tt__op_operand(tt_op op, tt_dtype type, int s);
/* The type whose function an op calls: that of its last operand, or a draw's result. */
TT_HIDDEN tt_dtype tt__op_type(tt_op op, tt_dtype last, tt_dtype result);
/*
** How much a compiler has to do for the op on elements of `type` (its first operand's), in halves of what a sum of
** floats takes it: about half a millisecond of gcc's.
*/
TT_HIDDEN int tt__op_text(tt_op op, tt_dtype type);
/* How much of the text of scalar functions stands above a kernel: each has the ones before it. */
typedef enum tt_scalar_text { TT_SCALAR_PLAIN, TT_SCALAR_MATH, TT_SCALAR_SPECIAL } tt_scalar_text;
/* What of it an op needs, whose function is that of `of`. */
TT_HIDDEN tt_scalar_text tt__op_scalar_text(int op, tt_dtype of);
#define TT_TEXT_REDUCE 32 /* the same of a reduction: its loops */
#define TT_TEXT_MOST 1024 /* of a kernel: half a second to a second of gcc's, and of NVRTC's */
/* The public name without its module: "erf" of "special.erf". */
TT_HIDDEN const char *tt__op_word(tt_op op);
/* The op whose public name is `name`, or TT_OP_COUNT. */
TT_HIDDEN tt_op tt__op_named(const char *name);
/* The same by its name in C. */
TT_HIDDEN tt_op tt__op_named_in_c(const char *name);
/* Are there tt_far_ and tt_near_ functions of this type everywhere; near ones where a dialect asks for them? */
TT_HIDDEN bool tt__op_is_far(int op, tt_dtype type);
TT_HIDDEN bool tt__op_is_near(int op, tt_dtype type);

#endif
