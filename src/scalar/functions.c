/*
** Each row of ops.def for each type as a function that can be pointed at.
*/
#include "scalar/functions.h"

#include "ir/op_types.h"
/* One call at a time: the C library's, which is an instruction where the machine has it, and exact in any case. */
#define TT_FMA_F32(a, b, c) __builtin_fmaf(a, b, c)
#define TT_FMA_F64(a, b, c) __builtin_fma(a, b, c)
#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"
#include "scalar/prelude_f32.h"
#include "scalar/special_tables.h"
#include "scalar/special.h"
#include "scalar/incomplete.h"
#include "scalar/quantiles.h"
#include "scalar/bessel_tables.h"
#include "scalar/bessel.h"
#include "scalar/integral_tables.h"
#include "scalar/integrals.h"
#include "scalar/bessel_order.h"
#include "scalar/special_complex.h"

#define FUNCTION_1(E, lower, cls, D, s) \
  static RESULT_##cls(s) lower##_##s(tt_##s a) { return tt_##lower##_##s(a); }
#define FUNCTION_2(E, lower, cls, D, s) \
  static RESULT_##cls(s) lower##_##s(tt_##s a, tt_##s b) { return tt_##lower##_##s(a, b); }
#define FUNCTION_3(E, lower, cls, D, s) \
  static RESULT_##cls(s) lower##_##s(tt_##s a, tt_##s b, tt_##s c) { return tt_##lower##_##s(a, b, c); }
#define FUNCTION_WHERE(E, lower, cls, D, s) \
  static tt_##s lower##_##s(tt_b8 c, tt_##s a, tt_##s b) { return tt_##lower##_##s(c, a, b); }
#define ENTRY(E, lower, cls, D, s) [TT_##E][TT_##D] = (tt_scalar_function)lower##_##s,
/* Casts are not called by their row: it is the one of class NONUM with one operand. */
#define SKIP(E, lower, cls, D, s)
#define KIND_ARITH(n) n
#define KIND_DIVIDE(n) n
#define KIND_FLOAT(n) n
#define KIND_SPECIAL(n) n
#define KIND_ROUND(n) n
#define KIND_ABS(n) n
#define KIND_BITS(n) n
#define KIND_SHIFT(n) n
#define KIND_WHOLE(n) n
#define KIND_COMPARE(n) n
#define KIND_LOGIC(n) n
#define KIND_TEST(n) n
#define KIND_PART(n) SKIP
#define KIND_DRAW(n) SKIP
#define KIND_NONUM(n) NONUM_##n
#define NONUM_1 SKIP
#define NONUM_2 SKIP
#define NONUM_3 WHERE
#define DEFINE_1 FUNCTION_1
#define DEFINE_2 FUNCTION_2
#define DEFINE_3 FUNCTION_3
#define DEFINE_WHERE FUNCTION_WHERE
#define DEFINE_SKIP SKIP
#define ENTER_1 ENTRY
#define ENTER_2 ENTRY
#define ENTER_3 ENTRY
#define ENTER_WHERE ENTRY
#define ENTER_SKIP SKIP
#define FOR_TYPES(M, bits, ...) PASTE(OF_, bits)(M, __VA_ARGS__)

#define TT_OP(E, lower, arity, cls, types, ...) \
  FOR_TYPES(PASTE(DEFINE_, KIND_##cls(arity)), TYPE_BITS(types), E, lower, cls)
#include "tutti/ops.def"
#undef TT_OP

static const tt_scalar_function table[TT_OP_COUNT][TT_DTYPE_COUNT] = {
#define TT_OP(E, lower, arity, cls, types, ...) \
  FOR_TYPES(PASTE(ENTER_, KIND_##cls(arity)), TYPE_BITS(types), E, lower, cls)
#include "tutti/ops.def"
#undef TT_OP
};

tt_scalar_function tt__scalar_function(tt_op op, tt_dtype of) { return table[op][of]; }

/* What compares gives a truth value, which is a number here. */
static bool answers(tt_op op) {
  uint8_t cls = tt__ops[op].cls;
  return cls == TT_CLASS_COMPARE || cls == TT_CLASS_TEST;
}

typedef double (*number_fn)(double, double, double);
typedef double (*where_fn)(tt_b8, double, double);

double tt__scalar_f64(tt_op op, double a, double b, double c) {
  tt_scalar_function f = table[op][TT_F64];
  if (op == TT_CAST) return a;
  if (!f) return TT__NAN_f64;
  if (op == TT_WHERE) return ((where_fn)f)(a != 0, b, c);
  double (*one)(double) = (double (*)(double))f, (*two)(double, double) = (double (*)(double, double))f;
  tt_b8 (*test)(double) = (tt_b8(*)(double))f, (*compare)(double, double) = (tt_b8(*)(double, double))f;
  switch (tt__ops[op].arity) {
    case 1:
      return answers(op) ? test(a) : one(a);
    case 2:
      return answers(op) ? compare(a, b) : two(a, b);
    default:
      return ((number_fn)f)(a, b, c);
  }
}
