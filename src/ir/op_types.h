/*
** X-macros over ops.def: something for each type that an operation has a function for, and what that function gives.
** For files that make code of the rows; the letters are those of the table.
**
** The types column of a row is one of B | I | F and their sums. With B, I and F
** replaced by 1, 2 and 4 commas, counting arguments turns it into a number.
*/
#ifndef TT_IR_OP_TYPES_H
#define TT_IR_OP_TYPES_H

#define B ,
#define I , ,
#define F , , , ,
#define PICK_8(a0, a1, a2, a3, a4, a5, a6, a7, x, ...) x
#define TYPE_BITS(...) PICK_8(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1, 0, ~)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
/* M(op, lower, class, DTYPE, suffix) for each type of the set. */
#define OF_B(M, ...) M(__VA_ARGS__, BOOL, b8)
#define OF_I(M, ...)       \
  M(__VA_ARGS__, I8, i8)   \
  M(__VA_ARGS__, I16, i16) \
  M(__VA_ARGS__, I32, i32) \
  M(__VA_ARGS__, I64, i64) \
  M(__VA_ARGS__, U8, u8)   \
  M(__VA_ARGS__, U16, u16) \
  M(__VA_ARGS__, U32, u32) \
  M(__VA_ARGS__, U64, u64)
#define OF_F(M, ...) M(__VA_ARGS__, F32, f32) M(__VA_ARGS__, F64, f64)
#define OF_0(M, ...)
#define OF_1(M, ...) OF_B(M, __VA_ARGS__)
#define OF_2(M, ...) OF_I(M, __VA_ARGS__)
#define OF_3(M, ...) OF_B(M, __VA_ARGS__) OF_I(M, __VA_ARGS__)
#define OF_4(M, ...) OF_F(M, __VA_ARGS__)
#define OF_6(M, ...) OF_I(M, __VA_ARGS__) OF_F(M, __VA_ARGS__)
#define OF_7(M, ...) OF_B(M, __VA_ARGS__) OF_I(M, __VA_ARGS__) OF_F(M, __VA_ARGS__)

/* The result type by class: the operand's, or bool. */
#define RESULT_ARITH(s) tt_##s
#define RESULT_DIVIDE(s) tt_##s
#define RESULT_FLOAT(s) tt_##s
#define RESULT_ROUND(s) tt_##s
#define RESULT_SPECIAL(s) tt_##s
#define RESULT_ABS(s) tt_##s
#define RESULT_BITS(s) tt_##s
#define RESULT_SHIFT(s) tt_##s
#define RESULT_WHOLE(s) tt_##s
#define RESULT_NONUM(s) tt_##s
#define RESULT_COMPARE(s) tt_b8
#define RESULT_LOGIC(s) tt_b8
#define RESULT_TEST(s) tt_b8

#endif
