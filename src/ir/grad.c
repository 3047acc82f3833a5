/* Rows of derivatives; see grad.h. */
#include "ir/grad.h"

#include <assert.h>
#include <string.h>

#include "base/os/os.h"

enum { MOST_OPERANDS = 3 };

static const char *const text[TT_OP_COUNT][MOST_OPERANDS] = {
#define TT_GRAD(ENUM, x, y, z) [TT_##ENUM] = {x, y, z},
#include "tutti/grad.def"
#undef TT_GRAD
};

const char *tt__grad_text(int op, int k) {
  assert(op >= 0 && op < TT_OP_COUNT && k >= 0);
  return k < MOST_OPERANDS && text[op][k] ? text[op][k] : "";
}

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

/* The operands and the result that a text names: words of one letter. */
static unsigned named(const char *s) {
  unsigned out = 0;
  for (; *s; s++) {
    if (!is_word(*s)) continue;
    const char *word = s;
    while (is_word(s[1])) s++;
    if (s > word) continue;
    if (*word >= 'x' && *word <= 'z') out |= TT_GRAD_OPERAND(*word - 'x');
    if (*word == 'r') out |= TT_GRAD_RESULT;
  }
  return out;
}

unsigned tt__grad_keeps(int op, int k) {
  enum { KNOWN = 1 << 7 };
  static uint8_t known[TT_OP_COUNT][MOST_OPERANDS]; /* the same whoever writes it */
  assert(op >= 0 && op < TT_OP_COUNT && k >= 0 && k < MOST_OPERANDS);
  unsigned out = __atomic_load_n(&known[op][k], __ATOMIC_RELAXED);
  if (!out) {
    out = named(tt__grad_text(op, k));
    __atomic_store_n(&known[op][k], (uint8_t)(out | KNOWN), __ATOMIC_RELAXED);
  }
  return out & ~(unsigned)KNOWN;
}

unsigned tt__grad_library_keeps(const char *name) {
  static const struct {
    const char *name;
    unsigned keeps;
  } row[] = {
#define TT_GRAD_LIBRARY(ROW, KEEPS) {#ROW, KEEPS},
#include "tutti/grad_library.def"
#undef TT_GRAD_LIBRARY
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    if (strcmp(row[k].name, name) == 0) return row[k].keeps;
  return 0;
}

tt_keep tt__keep_told(void) {
  static int told = -1;
  int now = __atomic_load_n(&told, __ATOMIC_RELAXED);
  if (now >= 0) return (tt_keep)now;
  const char *name = tt__env("TUTTI_KEEP");
  now = !name ? TT_KEEP_BYTES : strcmp(name, "all") == 0 ? TT_KEEP_ALL : strcmp(name, "none") == 0 ? TT_KEEP_NONE : 0;
  __atomic_store_n(&told, now, __ATOMIC_RELAXED);
  return (tt_keep)now;
}
