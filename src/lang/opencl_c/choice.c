/*
** `condition ? a : b`, which chooses cell by cell where the condition is a vector: C++ knows no such operator, so that
** it becomes a call, with what it chooses from as functions. Where the condition is a scalar after all, these are as
** lazy as the operator is.
*/
#include <string.h>

#include "lang/opencl_c/translate.h"

/* Functions of vectors that give scalars. */
static bool gives_scalar(const tt_opencl_text *t, int64_t k) {
  static const char *const names[] = {"any", "all", "dot", "length", "distance", "fast_length", "fast_distance"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (tt__opencl_is(t, k, names[i])) return tt__opencl_is(t, k + 1, "(");
  return false;
}

/* The first word of the condition that ends before word k. */
static int64_t condition_start(const tt_opencl_text *t, int64_t k) {
  int64_t in = t->opens[k], i = k;
  while (i - 1 > in) {
    char c = tt__opencl_kind(t, i - 1), before = tt__opencl_kind(t, i - 2), after = tt__opencl_kind(t, i);
    bool assigns = c == '=' && after != '=' && !(before && strchr("=<>!", before));
    assigns |= c == '=' && before && (before == '<' || before == '>') && tt__opencl_kind(t, i - 3) == before;
    if (t->opens[i - 1] == in && (assigns || (c && strchr(",;?:{}", c)) || tt__opencl_is(t, i - 1, "return"))) break;
    i--;
  }
  return i;
}

static bool is_vector(const tt_opencl_text *t, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++) {
    if (gives_scalar(t, k)) {
      k = tt__cudac_close(&t->scan, k + 1);
      continue;
    }
    int64_t end = k + 1;
    if (tt__opencl_kind(t, k - 1) == '.') continue; /* a component, a member */
    bool vector = tt__opencl_has(t, k, TT_OPENCL_VARIABLE | TT_OPENCL_VECTOR);
    if (tt__opencl_has(t, k, TT_OPENCL_POINTER)) {
      vector = true;
      if (tt__opencl_is(t, end, "[")) end = tt__cudac_close(&t->scan, end) + 1;
    }
    size_t len = 0;
    if (tt__opencl_is(t, end, ".")) (void)tt__opencl_word(t, end + 1, &len);
    bool one = len == 1 || (len == 2 && tt__opencl_word(t, end + 1, &len)[0] == 's'); /* a component */
    if (vector && !one) return true;
  }
  return false;
}

/* The colon of the question at k, at the same depth; -1: none. */
static int64_t find_colon(const tt_opencl_text *t, int64_t k) {
  int depth = 0;
  for (int64_t i = k + 1; i < t->scan.word.n && t->opens[i] >= t->opens[k]; i++) {
    if (t->opens[i] != t->opens[k]) continue;
    char c = tt__opencl_kind(t, i);
    if (c == '?') depth++;
    if (c == ':' && depth-- == 0) return i;
    if (c == ';') return -1;
  }
  return -1;
}

static int64_t choice_end(const tt_opencl_text *t, int64_t colon) {
  int depth = 0;
  int64_t i = colon + 1;
  for (; i < t->scan.word.n && t->opens[i] >= t->opens[colon]; i++) {
    char c = tt__opencl_kind(t, i);
    if (t->opens[i] != t->opens[colon]) continue;
    if (c == '?') depth++;
    if ((c == ':' && depth-- == 0) || c == ',' || c == ';') break;
  }
  return i;
}

static void put(tt_opencl_text *t, int64_t k, const char *text, bool instead) {
  tt_opencl_insertion i = {k, text, instead};
  if (!TT_VEC_PUSH(&t->insertion, i)) t->out->failed = true;
}

void tt__opencl_choices(tt_opencl_text *t) {
  for (int64_t k = 0; k < t->scan.word.n; k++) {
    if (tt__opencl_kind(t, k) != '?') continue;
    int64_t from = condition_start(t, k), colon = find_colon(t, k);
    if (colon < 0 || !is_vector(t, from, k)) continue;
    put(t, from, "tt_choose(", false);
    put(t, k, ", [&] { return ", true);
    put(t, colon, "; }, [&] { return ", true);
    put(t, choice_end(t, colon), "; })", false);
  }
}
