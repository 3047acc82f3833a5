/*
** Which of the reductions that the graph knows an expression over `a` and `b` is. By its words: nothing but the plain
** forms counts, in either order.
*/

#include "lang/expr/expr_int.h"

/* Words [lo, hi). */
typedef struct span {
  int64_t lo, hi;
} span;

static span without_brackets(const cx_reader *r, span s) {
  while (s.hi - s.lo >= 2 && cx__is(r, s.lo, "(") && cx__close(r, s.lo) == s.hi) s.lo++, s.hi--;
  return s;
}

/* 'a' or 'b' for the bare name, else 0. */
static char name_of(const cx_reader *r, span s) {
  s = without_brackets(r, s);
  if (s.hi != s.lo + 1) return 0;
  return cx__is(r, s.lo, "a") ? 'a' : cx__is(r, s.lo, "b") ? 'b' : 0;
}

static bool both(const cx_reader *r, span x, span y) {
  char p = name_of(r, x), q = name_of(r, y);
  return p && q && p != q;
}

/* The first `word` of a span outside of brackets, or -1. */
static int64_t find(const cx_reader *r, span s, const char *word) {
  for (int64_t k = s.lo; k < s.hi;) {
    if (cx__is(r, k, word)) return k;
    k = cx__is(r, k, "(") ? cx__close(r, k) : k + 1;
  }
  return -1;
}

static tt_cx_fold of_operator(const cx_reader *r, span s) {
  static const struct {
    const char *op;
    tt_cx_fold fold;
  } table[] = {{"+", TT_CX_FOLD_SUM}, {"*", TT_CX_FOLD_PROD}, {"&&", TT_CX_FOLD_ALL}, {"||", TT_CX_FOLD_ANY}};
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    int64_t at = find(r, s, table[k].op);
    if (at >= 0 && both(r, (span){s.lo, at}, (span){at + 1, s.hi})) return table[k].fold;
  }
  return TT_CX_FOLD_NONE;
}

static tt_cx_fold of_call(const cx_reader *r, span s) {
  static const struct {
    const char *name;
    tt_cx_fold fold;
  } table[] = {{"max", TT_CX_FOLD_FMAX},  {"min", TT_CX_FOLD_FMIN},   {"fmax", TT_CX_FOLD_FMAX},
               {"fmin", TT_CX_FOLD_FMIN}, {"fmaxf", TT_CX_FOLD_FMAX}, {"fminf", TT_CX_FOLD_FMIN}};
  for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
    if (!cx__is(r, s.lo, table[k].name) || !cx__is(r, s.lo + 1, "(") || cx__close(r, s.lo + 1) != s.hi) continue;
    int64_t comma = find(r, (span){s.lo + 2, s.hi - 1}, ",");
    if (comma >= 0 && both(r, (span){s.lo + 2, comma}, (span){comma + 1, s.hi - 1})) return table[k].fold;
  }
  return TT_CX_FOLD_NONE;
}

/* a > b ? a : b, and the seven other ways to say so. */
static tt_cx_fold of_choice(const cx_reader *r, span s) {
  static const char *const ops[] = {">", ">=", "<", "<="};
  int64_t ask = find(r, s, "?"), colon = find(r, s, ":");
  if (ask < 0 || colon < ask || !both(r, (span){ask + 1, colon}, (span){colon + 1, s.hi})) return TT_CX_FOLD_NONE;
  span mask = without_brackets(r, (span){s.lo, ask});
  char chosen = name_of(r, (span){ask + 1, colon});
  for (int k = 0; k < 4; k++) {
    int64_t at = find(r, mask, ops[k]);
    if (at < 0 || !both(r, (span){mask.lo, at}, (span){at + 1, mask.hi})) continue;
    bool first = name_of(r, (span){mask.lo, at}) == chosen, greater = *ops[k] == '>';
    return first == greater ? TT_CX_FOLD_MAX : TT_CX_FOLD_MIN;
  }
  return TT_CX_FOLD_NONE;
}

static void recognise(cx_reader *r, tt_cx_fold *out) {
  if (setjmp(r->out) != 0) return;
  cx__cut(r, r->s->text, false);
  span s = without_brackets(r, (span){0, r->word.n - 1});
  *out = of_choice(r, s);
  if (*out == TT_CX_FOLD_NONE) *out = of_call(r, s);
  if (*out == TT_CX_FOLD_NONE) *out = of_operator(r, s);
}

tt_cx_fold tt__cx_fold(const char *text) {
  tt_error err = {0};
  tt_cx_source source = {.text = text, .file = ""};
  cx_reader r = {.s = &source, .err = &err};
  tt_cx_fold fold = TT_CX_FOLD_NONE;
  recognise(&r, &fold);
  cx__free(&r);
  return err.code == TT_ENOMEM ? TT_CX_FOLD_NO_MEMORY : fold;
}
