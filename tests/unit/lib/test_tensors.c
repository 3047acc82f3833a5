/* Files of the safetensors format as if they were hostile: what is accepted keeps its promises, and that is all. */
#include "test.h"

#include "base/fault.h"
#include "base/hash.h"
#include "io/json.h"
#include "io/tensors.h"
#include "ir/dtype.h"
#include "random.h"

static const char *const word[] = {"{",
                                   "}",
                                   "[",
                                   "]",
                                   ":",
                                   ",",
                                   "\"",
                                   "0",
                                   "18446744073709551615",
                                   "9223372036854775807",
                                   "-1",
                                   "1e9",
                                   "\\u0000",
                                   "\\ud83d\\ude00",
                                   "\"F4\"",
                                   "\"F64\"",
                                   "\"dtype\"",
                                   "\"shape\"",
                                   "\"data_offsets\"",
                                   "\"__metadata__\"",
                                   "\"a\"",
                                   "\"xxh3_64\"",
                                   "\xff",
                                   "\xe2\x82"};
#define NWORD (int64_t)(sizeof word / sizeof *word)

/* A file of three tensors with metadata and checksums. */
static void make_file(tt_str *out) {
  static const int64_t len[] = {2, 3};
  static const float data[6] = {1, 2, 3, 4, 5, 6};
  static const char *const name[] = {"a", "longer name", "\xc3\xa9"}, *const key[] = {"k"}, *const value[] = {"v\n"};
  tt_tensor_bytes t[3] = {{{{name[0], NULL, TT_F32, 2, len}, 0, 0, 0}, data},
                          {{{name[1], NULL, TT_U8, 1, len + 1}, 0, 0, 0}, data},
                          {{{name[2], NULL, TT_BF16, 0, len}, 0, 0, 0}, data}};
  tt_tensors_content c = {name, NULL, 3, key, value, 1};
  CHECK_INT(tt__tensors_header(t, &c, out, NULL), TT_OK);
  for (int k = 0; k < 3; k++) tt__str_add_n(out, t[k].data, (size_t)t[k].tensor.size);
}

/* Open the bytes and read all that is promised, into memory that ends where it must. */
static bool take(const char *data, size_t size) {
  tt_tensors *t;
  tt_error err;
  char *exact = malloc(size ? size : 1); /* so that a sanitizer sees its end */
  if (!exact) exit(2);
  memcpy(exact, data, size);
  tt_code c = tt__tensors_open_memory(exact, size, &t, &err);
  CHECK(c == TT_OK || (c == TT_EVALUE && !t && err.message[0]));
  int64_t bytes = 0;
  for (int64_t k = 0; c == TT_OK && tt__tensors_entry(t, k); k++) {
    const tt_tensor *one = tt__tensors_entry(t, k);
    char *to = malloc((size_t)one->size + 1);
    if (!to) exit(2);
    CHECK_INT(tt_tensors_find(t, one->info.name), k);
    tt_code got = tt__tensors_read(t, k, 0, one->size, to, &err);
    CHECK(got == TT_OK || got == TT_EVALUE);
    bytes += one->size;
    free(to);
  }
  CHECK(c != TT_OK || bytes <= (int64_t)size);
  tt__tensors_close(t);
  free(exact);
  return c == TT_OK;
}

static void mutate(tt_str *s, const tt_str *from) {
  tt__str_clear(s);
  int64_t at = draw_below((int64_t)from->len),
          n = draw_below((int64_t)from->len - at < 12 ? (int64_t)from->len - at + 1 : 12);
  tt__str_add_n(s, from->data, (size_t)at);
  const char *w = word[draw_below(NWORD)];
  switch (draw_below(5)) {
    case 0: /* another byte */
      tt__str_add_n(s, (char[]){(char)draw()}, 1);
      n = 1;
      break;
    case 1: /* a word in place of some bytes */
      tt__str_add(s, w);
      break;
    case 2: /* a word more */
      tt__str_add(s, w);
      n = 0;
      break;
    case 3: /* some bytes again */
      tt__str_add_n(s, from->data + at, (size_t)n);
      n = 0;
      break;
    default: /* some bytes fewer */
      break;
  }
  if ((size_t)(at + n) < from->len) tt__str_add_n(s, from->data + at + n, from->len - (size_t)(at + n));
}

/* The length of the header follows what became of it: else hardly any mutation would get past it. */
static void mend_length(tt_str *s, size_t data_size) {
  if (s->len < 8 + data_size) return;
  uint64_t n = s->len - 8 - data_size;
  memcpy(s->data, &n, sizeof n);
}

TEST(mutations) {
  tt_str file = {0}, one = {0}, two = {0};
  make_file(&file);
  CHECK(take(file.data, file.len));
  int accepted = 0;
  for (int turn = 0; turn < 60000; turn++) {
    mutate(&one, &file);
    if (turn % 3) mutate(&two, &one);
    tt_str *s = turn % 3 ? &two : &one;
    if (turn % 4) mend_length(s, 29);
    accepted += take(s->data, s->len);
  }
  CHECK(accepted > 500); /* else the mutations would say little of what is behind the header */
  for (size_t n = 0; n < file.len; n++) CHECK(!take(file.data, n));
  tt__str_free(&file);
  tt__str_free(&one);
  tt__str_free(&two);
}

TEST(memory_that_runs_out) {
  tt_str file = {0};
  make_file(&file);
  tt_tensors *t;
  for (int64_t n = 0;; n++) {
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code c = tt__tensors_open_memory(file.data, file.len, &t, NULL);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    if (c == TT_OK) break;
    CHECK_INT(c, TT_ENOMEM);
    CHECK(!t && n < 100);
  }
  tt__tensors_close(t);
  tt__str_free(&file);
}

TEST(texts_come_back) {
  static const char *const text[] = {"", "plain", "\"\\/\b\f\n\r\t\x01", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"};
  static const char *const no_text[] = {"\x80", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"};
  for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
    tt_str s = {0};
    tt_arena arena = {0};
    const char *out;
    CHECK(tt__json_write(&s, text[k]));
    tt_json j = {s.data, s.data, s.data + s.len, &arena, NULL};
    CHECK_INT(tt__json_string(&j, &out), TT_OK);
    CHECK_STR(out, text[k]);
    CHECK_INT(tt__json_end(&j), TT_OK);
    tt__str_free(&s);
    tt__arena_free(&arena);
  }
  for (size_t k = 0; k < sizeof no_text / sizeof *no_text; k++) {
    tt_str s = {0};
    CHECK(!tt__json_write(&s, no_text[k]));
    tt__str_free(&s);
  }
}

TEST(a_hash_of_pieces) {
  char data[5000];
  for (size_t k = 0; k < sizeof data; k++) data[k] = (char)draw();
  for (size_t piece = 1; piece < sizeof data; piece = piece * 3 + 1) {
    tt_hash h;
    tt__hash_begin(&h);
    for (size_t at = 0; at < sizeof data; at += piece)
      tt__hash_add(&h, data + at, sizeof data - at < piece ? sizeof data - at : piece);
    CHECK_INT(tt__hash_end(&h), tt__hash64(data, sizeof data));
  }
}

TEST_MAIN()
