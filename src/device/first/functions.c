/*
** What first code calls: each row of ops.def for each type as a function that can be pointed at. They are the
** prelude's, the one text that is pasted above rendered programs, so that both give the same bits.
*/
#include <stdio.h>
#include <string.h>

#include "device/first/first_int.h"
#include "ir/op_types.h"
#include "render/prelude.h"
#include "render/prelude_f64.h"
#include "render/prelude_f32.h"

#define FUNCTION_1(E, lower, cls, D, s) \
  static RESULT_##cls(s) lower##_##s(tt_##s a) { return tt_##lower##_##s(a); }
#define FUNCTION_2(E, lower, cls, D, s) \
  static RESULT_##cls(s) lower##_##s(tt_##s a, tt_##s b) { return tt_##lower##_##s(a, b); }
#define FUNCTION_3(E, lower, cls, D, s) \
  static tt_##s lower##_##s(tt_b8 c, tt_##s a, tt_##s b) { return tt_##lower##_##s(c, a, b); }
#define ENTRY(E, lower, cls, D, s) [TT_##E][TT_##D] = (tt_first_c)lower##_##s,
/* Casts are not called by their row: it is the one of class NONUM with one operand. */
#define SKIP(E, lower, cls, D, s)
#define KIND_ARITH(n) n
#define KIND_DIVIDE(n) n
#define KIND_FLOAT(n) n
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
#define NONUM_3 3
#define DEFINE_1 FUNCTION_1
#define DEFINE_2 FUNCTION_2
#define DEFINE_3 FUNCTION_3
#define DEFINE_SKIP SKIP
#define ENTER_1 ENTRY
#define ENTER_2 ENTRY
#define ENTER_3 ENTRY
#define ENTER_SKIP SKIP
#define FOR_TYPES(M, bits, ...) PASTE(OF_, bits)(M, __VA_ARGS__)

#define TT_OP(E, lower, arity, cls, types, flags, numpy) \
  FOR_TYPES(PASTE(DEFINE_, KIND_##cls(arity)), TYPE_BITS(types), E, lower, cls)
#include "tutti/ops.def"
#undef TT_OP

static const tt_first_c table[TT_OP_COUNT][TT_DTYPE_COUNT] = {
#define TT_OP(E, lower, arity, cls, types, flags, numpy) \
  FOR_TYPES(PASTE(ENTER_, KIND_##cls(arity)), TYPE_BITS(types), E, lower, cls)
#include "tutti/ops.def"
#undef TT_OP
};

tt_first_c tt__first_op(tt_op op, tt_dtype of) { return table[op][of]; }

tt_first_c tt__first_cast(tt_dtype from, tt_dtype to) {
  char name[48];
  const char *types;
  const char *a = tt__dtypes[from].suffix, *b = tt__dtypes[to].suffix;
  snprintf(name, sizeof name, tt__is_float(from) ? "tt_whole_%s_%s" : "tt_cast_%s_%s", a, b);
  return tt__first_helper(name, &types);
}
