/*
** The op table, expanded from its rows.
*/
#include "ir/ops.h"

#include <assert.h>
#include <string.h>

#include "ir/dtype.h"

enum { B = TT_OPT_B, I = TT_OPT_I, F = TT_OPT_F };
enum { COMM = TT_OPF_COMM, ASSOC = TT_OPF_ASSOC, RED = TT_OPF_RED, SLOW = TT_OPF_SLOW, LONG = TT_OPF_LONG };
enum { FAR = TT_OPF_FAR, NEAR = TT_OPF_NEAR, NARROW = TT_OPF_NARROW, CPLX = TT_OPF_CPLX };
enum { BOOL8 = TT_OPF_BOOL8, NOBOOL = TT_OPF_NOBOOL };

_Static_assert((int)TT_OP_COUNT <= 216,
               "nodes, plans and kernels have codes of their own from there on (TT_N_BUFFER ...)");

const tt_op_info tt__ops[TT_OP_COUNT] = {
#define TT_OP(E, lower, arity, cls, types, flags, identity, c, name) \
  {#E, #lower, name, c, arity, TT_CLASS_##cls, types, TT_IDENTITY_##identity, flags},
#include "tutti/ops.def"
#undef TT_OP
};

tt_op tt__op_named(const char *name) {
  for (int op = 0; op < TT_OP_COUNT; op++)
    if (tt__ops[op].numpy[0] && strcmp(tt__ops[op].numpy, name) == 0) return (tt_op)op;
  return TT_OP_COUNT;
}

tt_op tt__op_named_in_c(const char *name) {
  for (int op = 0; op < TT_OP_COUNT; op++)
    if (tt__ops[op].c[0] && strcmp(tt__ops[op].c, name) == 0) return (tt_op)op;
  return TT_OP_COUNT;
}

bool tt__op_is_far(int op, tt_dtype type) {
  assert(op >= 0);
  return op < TT_OP_COUNT && tt__ops[op].flags & TT_OPF_FAR && (type == TT_F32 || type == TT_F64);
}

bool tt__op_is_near(int op, tt_dtype type) {
  return tt__op_is_far(op, type) || (op < TT_OP_COUNT && tt__ops[op].flags & TT_OPF_NEAR && type == TT_F32);
}

tt_dtype tt__op_operand(tt_op op, tt_dtype type, int s) {
  assert((unsigned)op < TT_OP_COUNT && s >= 0);
  if (op == TT_WHERE && s == 0) return TT_BOOL;
  return tt__ops[op].cls == TT_CLASS_DRAW ? TT_U64 : type;
}

tt_dtype tt__op_type(tt_op op, tt_dtype last, tt_dtype result) {
  assert((unsigned)op < TT_OP_COUNT);
  return tt__ops[op].cls == TT_CLASS_DRAW ? result : last;
}

tt_scalar_text tt__op_scalar_text(int op, tt_dtype of) {
  assert(op >= 0 && (unsigned)of < TT_DTYPE_COUNT);
  if (op >= TT_OP_COUNT || !(tt__ops[op].flags & TT_OPF_SLOW) || !tt__is_float(of)) return TT_SCALAR_PLAIN;
  return tt__ops[op].cls == TT_CLASS_SPECIAL ? TT_SCALAR_SPECIAL : TT_SCALAR_MATH;
}

const char *tt__op_word(tt_op op) {
  assert((unsigned)op < TT_OP_COUNT);
  const char *dot = strrchr(tt__ops[op].numpy, '.');
  return dot ? dot + 1 : tt__ops[op].numpy;
}

int tt__op_text(tt_op op, tt_dtype type) {
  assert((unsigned)op < TT_OP_COUNT && (unsigned)type < TT_DTYPE_COUNT);
  enum { PLAIN = 2, FUNCTION = 24, LONG_FUNCTION = 64, ROUNDING = 10, OF_COMPLEX = 6 };
  int flags = tt__ops[op].flags;
  int text = flags & TT_OPF_LONG ? LONG_FUNCTION : flags & TT_OPF_SLOW ? FUNCTION : PLAIN;
  if (type == TT_F16 || type == TT_BF16) text += ROUNDING;
  return tt__is_complex(type) ? OF_COMPLEX * text : text;
}
