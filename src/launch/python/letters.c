/*
** Letters by tables: runs of code points of one kind, and runs that become others by a sum.
*/
#include "launch/python/letters.h"

#include <stddef.h>

typedef struct letter_run {
  int32_t first, n, stride, by;
} letter_run;

typedef struct letter_special {
  uint32_t code, becomes[3];
} letter_special;

#include "launch/python/letter_tables.inc"

enum { LETTERS = 0x110000 };

static int64_t kinds_of_letter(int64_t code) {
  int64_t end = 0;
  if (code < 0 || code >= LETTERS) return 0;
  for (size_t k = 0; k < sizeof letter_runs / sizeof *letter_runs; k++) {
    end += letter_runs[k] >> 8;
    if (code < end) return letter_kinds[letter_runs[k] & 255];
  }
  return 0;
}

typedef struct letter_case {
  const letter_run *run;
  size_t nrun;
  const letter_special *special;
  size_t nspecial;
} letter_case;

#define LETTER_CASE(name)                                                  \
  {                                                                        \
    name##_runs, sizeof name##_runs / sizeof *name##_runs, name##_special, \
        sizeof name##_special / sizeof *name##_special                     \
  }

static int64_t change_letter(int64_t code, const letter_case *c, uint32_t *out) {
  for (size_t k = 0; k < c->nspecial; k++) {
    if (c->special[k].code != (uint32_t)code) continue;
    int64_t n = 0;
    while (n < 3 && c->special[k].becomes[n]) out[n] = c->special[k].becomes[n], n++;
    return n;
  }
  out[0] = (uint32_t)code;
  for (size_t k = 0; k < c->nrun; k++) {
    const letter_run *r = &c->run[k];
    int64_t ahead = code - r->first;
    if (ahead < 0) break;
    if (ahead % r->stride == 0 && ahead / r->stride < r->n) out[0] = (uint32_t)(code + r->by);
  }
  return 1;
}

int64_t tt__letter(int64_t code, int64_t what, uint32_t *out) {
  static const letter_case cases[] = {LETTER_CASE(lower), LETTER_CASE(upper), LETTER_CASE(title), LETTER_CASE(fold)};
  static uint16_t kinds[128];
  static uint8_t known[128];
  if (what > 0) {
    bool plain = code >= 0 && code < 128;
    if (!plain) return change_letter(code, &cases[what - 1], out);
    bool low = code >= 'a' && code <= 'z', high = code >= 'A' && code <= 'Z';
    bool up = what == 2 || what == 3;
    out[0] = (uint32_t)(low && up ? code - 32 : high && !up ? code + 32 : code);
    return 1;
  }
  if (code < 0 || code >= 128) return kinds_of_letter(code);
  if (!__atomic_load_n(&known[code], __ATOMIC_ACQUIRE)) { /* twice in a race: the same */
    __atomic_store_n(&kinds[code], (uint16_t)kinds_of_letter(code), __ATOMIC_RELAXED);
    __atomic_store_n(&known[code], 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&kinds[code], __ATOMIC_RELAXED);
}
