/*
** The kernel text form: what is printed reads back as the same kernel, the checker refuses each
** kind of broken kernel with a line or an instruction, and no damaged text crashes the parser.
*/
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "ir/kernel.h"
#include "kernel_texts.h"

static const char *const softmax = SOFTMAX;
static const char *const scatter =
    "kernel map outer=2 axes=2 phases=1 bufs=3 reds=0 serial checked\n"
    "s0: i64\n"
    "a0: index any\n"
    "a1: read i64 buf0 none\n"
    "a2: write b8 buf1 any\n"
    "a3: read f64 buf2 any\n"
    "%0 = index.i64 a0 @row0\n"
    "%1 = load.i64 a1 @row0\n"
    "%2 = const.i64 s0\n"
    "%3 = lt.i64 %1 %2 @row0\n"
    "%4 = where.i64 %3 %0 %1 @row0\n"
    "%5 = loadx.f64 a3 %4 @row0\n"
    "%6 = cast.f64.b8 %5 @row0\n"
    "%7 = storex.b8 a2 %4 %6 @row0\n";

static void test_round_trip(const char *text) {
  tt_error err = {0};
  tt_kernel *k, *again;
  tt_str out = {0}, second = {0};
  tt_code c = tt__kernel_parse(text, &k, &err);
  if (c != TT_OK) printf("%s\n", err.message);
  assert(c == TT_OK && tt__kernel_ok(k, NULL));
  tt__kernel_print(k, &out);
  assert(!out.failed && strcmp(out.data, text) == 0);
  assert(tt__kernel_parse(out.data, &again, NULL) == TT_OK);
  tt__kernel_print(again, &second);
  assert(strcmp(out.data, second.data) == 0);
  assert(k->key.lo == again->key.lo && k->key.hi == again->key.hi);
  again->access[0].lane = again->access[0].lane == TT_LANE_ANY ? TT_LANE_UNIT : TT_LANE_ANY;
  tt__kernel_seal(again);
  assert(k->key.lo != again->key.lo);
  tt__str_free(&out);
  tt__str_free(&second);
  tt__kernel_free(k);
  tt__kernel_free(again);
}

/* A field that an instruction does not use is no part of the key. */
static void test_key_ignores_unused(void) {
  tt_kernel *k;
  assert(tt__kernel_parse(scatter, &k, NULL) == TT_OK);
  tt_digest key = k->key;
  k->inst[1].src[2] = 77;
  k->inst[1].from = TT_F64;
  k->inst[3].slot = 3;
  k->inst[2].phase = 1;
  tt__kernel_seal(k);
  assert(k->key.lo == key.lo && k->key.hi == key.hi);
  tt__kernel_free(k);
}

/* `text` with `from` replaced by `to` is refused with a message that has `why`. */
static void refuse(const char *text, const char *from, const char *to, const char *why) {
  char broken[2048];
  tt_error err = {0};
  tt_kernel *k;
  const char *at = strstr(text, from);
  assert(at);
  snprintf(broken, sizeof broken, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  tt_code c = tt__kernel_parse(broken, &k, &err);
  if (c != TT_EVALUE || !strstr(err.message, why)) printf("%s -> %s: %d \"%s\"\n", from, to, c, err.message);
  assert(c == TT_EVALUE && !k && strstr(err.message, why));
}

static void test_refusals(void) {
  static const struct {
    const char *from, *to, *why;
  } row[] = {
      {"kernel row", "kernel tile", "line 1"},
      {"outer=1", "outer=2", "no row axis"},
      {"axes=2", "axes=65", "axes"},
      {"phases=3", "phases=0", "phases"},
      {"kernel row", "kernel map", "map"},
      {"kernel row", "kernel col", "scratch"},
      {"reds=2", "reds=1", "taken"},
      {"reds=2", "reds=3", "nothing folds"},
      {"reds=2", "reds=2 serial", "serial"},
      {"a1: write", "a2: write", "line 5"},
      {"s0: f32", "s0: f16", "register"},
      {"buf0", "buf7", "no buffer"},
      {"buf0", "puf0", "line 4"},
      {"read f16", "read c64", "real"},
      {"a1: write f32", "a1: write f64", "another type"},
      {"scratch0", "scratch1", "no scratch"},
      {"%1 = load.f32", "%1 = load.f64", "another type"},
      {"%1 = load.f32 a0", "%1 = load.f32 a3", "other way"},
      {"%1 = load.f32 a0", "%1 = load.f32 a9", "no access"},
      {"%1 = load", "%2 = load", "line 9"},
      {"@row0", "@row3", "phase 3"},
      {"@row0", "@rows", "line 9"},
      {"%4 = sub.f32 %3", "%4 = sub.f32 %4", "operand 0 is 4"},
      {"%4 = sub.f32 %3", "%4 = sub.f32 %1", "out of scope"},
      {"%4 = sub.f32", "%4 = sub.f64", "not f64"},
      {"%4 = sub.f32", "%4 = sub.b8", "no sub for b8"},
      {"%4 = sub.f32", "%4 = subtract.f32", "unknown code"},
      {"%9 = mul.f32 %8 %0 @outer2", "%9 = mul.f32 %8 %0 @outer1", "out of scope"},
      {"%9 = mul.f32 %8 %0 @outer2", "%9 = mul.f32 %7 %0 @outer2", "is a store"},
      {"%9 = mul.f32 %8 %0 @outer2", "%9 = mul.f32 %8 %0", "const scope"},
      {"a2 @row2", "a2 @row1", "not written"},
      {"%6 = round.f16", "%6 = round.f32", "rounded"},
      {"%2 = max.f32 r0 %1 @row0", "%2 = any.f32 r0 %1 @row0", "fold bool"},
      {"%2 = max.f32 r0 %1 @row0", "%2 = argmax.f32 r0 %1 @row0", "is i64"},
      {"%0 = const.f32 s0", "%0 = const.f64 s0", "scalar"},
      {"%0 = const.f32 s0", "%0 = const.f32 s0 junk", "unexpected"},
      {"%0 = const.f32 s0", "%0 = const.f32 s99999999999999999999", "slot"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) refuse(softmax, row[i].from, row[i].to, row[i].why);
  refuse(scatter, " serial", "", "serial");
  refuse(scatter, "index.i64 a0", "index.i64 a1", "wrong kind");
  refuse(scatter, "where.i64 %3", "where.i64 %1", "not b8");
  refuse(scatter, "@row0", "@outer0", "scope");
  tt_kernel *k;
  assert(tt__kernel_parse("", &k, NULL) == TT_EVALUE && !k);
  assert(tt__kernel_parse("\n# nothing\n", &k, NULL) == TT_EVALUE);
}

/* Every prefix and many one-byte changes: an answer, never a crash; what is accepted prints and reads back. */
static void test_damage(const char *text) {
  size_t n = strlen(text);
  char broken[2048];
  uint32_t random = 1;
  assert(n < sizeof broken);
  for (int turn = 0; turn < 20000; turn++) {
    memcpy(broken, text, n + 1);
    random = random * 1664525u + 1013904223u;
    if ((size_t)turn < n) {
      broken[turn] = '\0';
    } else {
      broken[(random >> 8) % n] = "0123456789 %@.=\nabcfiorstuwx:"[(random >> 3) % 29];
    }
    tt_kernel *k, *again;
    if (tt__kernel_parse(broken, &k, NULL) != TT_OK) continue;
    tt_str out = {0};
    tt__kernel_print(k, &out);
    assert(tt__kernel_parse(out.data, &again, NULL) == TT_OK);
    assert(k->key.lo == again->key.lo && k->key.hi == again->key.hi);
    tt__str_free(&out);
    tt__kernel_free(k);
    tt__kernel_free(again);
  }
}

static void test_no_memory(void) {
  for (int64_t n = 0;; n++) {
    int64_t live = tt__mem_stats().live;
    tt_kernel *k;
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code c = tt__kernel_parse(softmax, &k, NULL);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    tt__kernel_free(c == TT_OK ? k : NULL);
    assert(tt__mem_stats().live == live);
    if (c == TT_OK) break;
    assert(c == TT_ENOMEM);
  }
}

int main(void) {
  test_round_trip(softmax);
  test_round_trip(scatter);
  test_key_ignores_unused();
  test_refusals();
  test_damage(softmax);
  test_damage(scatter);
  test_no_memory();
  printf("kernel text: ok\n");
  return 0;
}
