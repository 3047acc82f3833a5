/*
** Quotients of 64 bits by floats, as vectors make them, against the processor's: all lengths of bits, multiples and
** their neighbours, powers of two and theirs; and what division does where C says nothing.
*/
#define TT_VECTOR_QUOTIENT
#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"
#include "scalar/prelude_f32.h"
#include "check.h"

static tt_u64 any_length(void) {
  tt_u64 x = draw() >> (draw() % 64);
  switch (draw_below(8)) {
    case 0:
      return ~x;
    case 1:
      return 0 - x;
    case 2:
      return ((tt_u64)1 << (draw() % 64)) + (tt_u64)draw_below(5) - 2;
    default:
      return x;
  }
}

static void test_floats(void) {
  for (int i = 0; i < 5000000 && failures < 10; i++) {
    tt_u64 d = any_length(), a = i & 1 ? any_length() : d * (draw() >> (draw() % 64)) + (tt_u64)draw_below(3) - 1;
    if (d == 0) continue;
    CHECK(tt__by_floats_u64(a, d) == a / d, "%llu / %llu", a, d);
    if ((tt_i64)d == -1) continue;
    CHECK(tt__by_floats_i64((tt_i64)a, (tt_i64)d) == (tt_i64)a / (tt_i64)d, "%lld / %lld", (tt_i64)a, (tt_i64)d);
  }
}

#define TEST_ODD(S, T, LEAST)                                                                                         \
  static void test_odd_##S(void) {                                                                                    \
    static const T some[] = {0, 1, 2, 7, (T)-1, (T)-2, (T)-7, LEAST, (T)((tt_u64)LEAST + 1), (T)((tt_u64)LEAST - 1)}; \
    for (int i = 0; i < 10; i++) {                                                                                    \
      T a = some[i];                                                                                                  \
      CHECK(tt_floordiv_##S(a, 0) == 0 && tt_mod_##S(a, 0) == 0 && tt_quotient_##S(a, 0) == (T)-1, "%d of 0", i);     \
      CHECK(tt_floordiv_##S(a, 1) == a && tt_mod_##S(a, 1) == 0 && tt_quotient_##S(a, 1) == a, "%d of 1", i);         \
      if ((T)-1 > 0) continue;                                                                                        \
      CHECK(tt_floordiv_##S(a, (T)-1) == (T)(0 - (tt_u64)a), "%d of -1", i);                                          \
      CHECK(tt_quotient_##S(a, (T)-1) == (T)(0 - (tt_u64)a) && tt_mod_##S(a, (T)-1) == 0, "%d of -1", i);             \
      CHECK(tt_floordiv_##S(a, (T)-7) * (T)-7 + tt_mod_##S(a, (T)-7) == a, "%d of -7", i);                            \
    }                                                                                                                 \
  }
TEST_ODD(i8, tt_i8, (-128))
TEST_ODD(i16, tt_i16, (-32768))
TEST_ODD(i32, tt_i32, (-2147483647 - 1))
TEST_ODD(i64, tt_i64, (-9223372036854775807 - 1))
TEST_ODD(u8, tt_u8, 255)
TEST_ODD(u16, tt_u16, 65535)
TEST_ODD(u32, tt_u32, 4294967295u)
TEST_ODD(u64, tt_u64, 18446744073709551615u)

int main(void) {
  test_floats();
  test_odd_i8();
  test_odd_i16();
  test_odd_i32();
  test_odd_i64();
  test_odd_u8();
  test_odd_u16();
  test_odd_u32();
  test_odd_u64();
  return failures != 0;
}
