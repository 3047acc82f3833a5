/* Errors, text, vectors, arenas, digests. */
#include "test.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/fault.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

TEST(every_code_has_its_name) {
  CHECK_STR(tt_code_name(TT_OK), "TT_OK");
  CHECK_STR(tt_code_name(TT_ESTRICT), "TT_ESTRICT");
  CHECK_STR(tt_code_name((tt_code)-1), "TT_UNKNOWN");
  CHECK_STR(tt_code_name(TT_CODE_COUNT), "TT_UNKNOWN");
  for (int c = 0; c < TT_CODE_COUNT; c++) CHECK(strncmp(tt_code_name((tt_code)c), "TT_", 3) == 0);
  for (int c = 0; c < TT_CODE_COUNT; c++) CHECK(strcmp(tt_code_name((tt_code)c), "TT_UNKNOWN") != 0);
}

TEST(fail_writes_and_cuts) {
  tt_error err;
  CHECK_INT(tt__fail(&err, TT_EVALUE, "axis %d of %s", 3, "x"), TT_EVALUE);
  CHECK_INT(err.code, TT_EVALUE);
  CHECK_STR(err.message, "axis 3 of x");
  CHECK_INT(tt__fail(NULL, TT_ETYPE, "nobody listens"), TT_ETYPE);
  char big[4000];
  memset(big, 'a', sizeof big - 1);
  big[sizeof big - 1] = 0;
  tt__fail(&err, TT_EIO, "%s", big);
  CHECK_INT(strlen(err.message), sizeof err.message - 1);
  CHECK_INT(tt__fail_memory(&err, 77), TT_ENOMEM);
  CHECK(strstr(err.message, "77"));
}

TEST(text_grows) {
  tt_str s = {0};
  for (int i = 0; i < 1000; i++) tt__str_addf(&s, "%d,", i % 10);
  tt__str_add(&s, "end");
  CHECK_INT(s.len, 2003);
  CHECK_STR(s.data + 1998, "9,end");
  tt__str_clear(&s);
  CHECK_INT(s.len, 0);
  CHECK_STR(s.data, "");
  char long_word[1000];
  memset(long_word, 'x', 999);
  long_word[999] = 0;
  tt__str_addf(&s, "[%s]", long_word);
  CHECK_INT(s.len, 1001);
  CHECK(s.data[1000] == ']');
  CHECK(!s.failed);
  tt__str_free(&s);
  CHECK(s.data == NULL);
}

TEST(text_out_of_memory_is_remembered) {
  tt_str s = {0};
  tt__str_add(&s, "kept");
  tt__fault_arm(TT_FAULT_MEMORY, 0, false);
  char long_word[500];
  memset(long_word, 'x', 499);
  long_word[499] = 0;
  tt__str_add(&s, long_word);
  tt__str_add(&s, "dropped");
  tt__fault_arm(TT_FAULT_MEMORY, -1, false);
  CHECK(s.failed);
  CHECK_STR(s.data, "kept");
  tt__str_free(&s);
}

TEST(vector_keeps_what_it_has) {
  TT_VEC(int) v = {0};
  for (int i = 0; i < 100; i++) CHECK(TT_VEC_PUSH(&v, i));
  while (v.n < v.cap) CHECK(TT_VEC_PUSH(&v, 0));
  int64_t n = v.n;
  tt__fault_arm(TT_FAULT_MEMORY, 0, false);
  CHECK(!TT_VEC_PUSH(&v, 1));
  tt__fault_arm(TT_FAULT_MEMORY, -1, false);
  CHECK_INT(v.n, n);
  for (int i = 0; i < 100; i++) CHECK_INT(v.data[i], i);
  TT_VEC_FREE(&v);
  CHECK(v.data == NULL && v.n == 0 && v.cap == 0);
}

TEST(arena_gives_aligned_zeroes) {
  tt_arena a = {0};
  char *seen[600];
  for (int i = 0; i < 600; i++) {
    size_t size = (size_t)((i * 37) % 900);
    seen[i] = tt__arena_alloc(&a, size);
    CHECK(seen[i] && ((uintptr_t)seen[i] & 15) == 0);
    for (size_t k = 0; k < size; k++) CHECK(seen[i][k] == 0);
    memset(seen[i], i & 127, size);
  }
  char *big = tt__arena_alloc(&a, 1 << 20);
  char *after = tt__arena_alloc(&a, 10);
  CHECK(big && after);
  memset(big, 1, 1 << 20);
  for (int i = 0; i < 600; i++)
    for (size_t k = 0; k < (size_t)((i * 37) % 900); k++) CHECK(seen[i][k] == (i & 127));
  CHECK(tt__arena_alloc(&a, 0) != tt__arena_alloc(&a, 0));
  CHECK_STR(tt__arena_dup(&a, "word", 5), "word");
  CHECK(tt__arena_alloc(&a, SIZE_MAX - 8) == NULL);
  tt__arena_free(&a);
}

TEST(arena_survives_a_failed_block) {
  tt_arena a = {0};
  CHECK(tt__arena_alloc(&a, 100));
  tt__fault_arm(TT_FAULT_MEMORY, 0, true);
  CHECK(tt__arena_alloc(&a, 100000) == NULL);
  CHECK(tt__arena_alloc(&a, 100) != NULL); /* the head has room */
  tt__fault_arm(TT_FAULT_MEMORY, -1, false);
  CHECK(tt__arena_alloc(&a, 100000) != NULL);
  tt__arena_free(&a);
}

TEST(digests_are_xxh3) {
  char hex[33];
  tt__digest_hex(tt__digest("", 0), hex);
  CHECK_STR(hex, "99aa06d3014798d86001c324468d497f"); /* XXH3-128 of nothing, seed 0 */
  CHECK(tt__hash64("", 0) == 0x2d06800538d394c2u);
  CHECK(tt__hash64("a", 1) != tt__hash64("b", 1));
  CHECK(tt__hash_mix(tt__hash_mix(0, 1), 2) != tt__hash_mix(tt__hash_mix(0, 2), 1));
}

TEST_MAIN()
