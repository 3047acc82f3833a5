/*
** An f32 rounded to the values of halves and bfloat16s in place, against the way over their 16 bits: the neighbours of
** every half, of every middle between two, and of the ends, and random ones.
**   TUTTI_TEST_EXHAUSTIVE=1   every float32
*/
#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"
#include "scalar/prelude_f32.h"
#include "check.h"

static void test_one(tt_u32 u) {
  tt_f32 x = tt__from_f32(u);
  tt_u32 f16 = tt__bits_f32(tt_round_f16_f32(x)), bf16 = tt__bits_f32(tt_round_bf16_f32(x));
  CHECK(f16 == tt__bits_f32(tt_cast_f16_f32(tt_cast_f32_f16(x))), "f16 of %08x: %08x", u, f16);
  CHECK(bf16 == tt__bits_f32(tt_cast_bf16_f32(tt_cast_f32_bf16(x))), "bf16 of %08x: %08x", u, bf16);
}

int main(void) {
  for (tt_u32 h = 0; h < 65536 && failures < 10; h++)
    for (tt_u32 d = 0; d < 5; d++) {
      tt_u32 half = tt__bits_f32(tt_cast_f16_f32((tt_f16)h));
      test_one(half + d - 2);
      test_one(half + 0x1000u + d - 2);
      test_one((h << 16) + d - 2);
      test_one((h << 16) + 0x8000u + d - 2);
    }
  for (int i = 0; i < 1000000 && failures < 10; i++) test_one((tt_u32)draw());
  if (getenv("TUTTI_TEST_EXHAUSTIVE"))
    for (uint64_t u = 0; u >> 32 == 0 && failures < 10; u++) test_one((tt_u32)u);
  return failures != 0;
}
