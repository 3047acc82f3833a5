/*
** Sets as sorted arrays without repeats. What is in a result is known only by looking, so these evaluate.
*/
#include "fn/fn.h"

static tt_array *unique(tt_composer *c, tt_array *a) {
  tt_value v = tt_v_array(a);
  return a ? tt__fn_call(c, "unique", &v, 1) : NULL;
}

/* Where the first of each element stands. */
static tt_array *unique_places(tt_composer *c, tt_array *a) {
  tt_value v[2] = {tt_v_array(a), {.tag = TT_V_BOOL, .as.b = true}};
  return a ? tt__fn_call(c, "unique", v, 2) : NULL;
}

static tt_array *with_mask(tt_composer *c, tt_array *a, tt_array *mask) {
  if (!a || !mask) return NULL;
  tt_value v = tt_v_array(mask);
  return tt__compose_get(c, a, &v);
}

static tt_array *joined(tt_composer *c, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  tt_dtype type = tt__promote((tt_dtype)a->dtype, (tt_dtype)b->dtype);
  tt_array *part[2] = {tt__compose_cast(c, tt__compose_ravel(c, a), type),
                       tt__compose_cast(c, tt__compose_ravel(c, b), type)};
  return part[0] && part[1] ? tt__compose_concat(c, part, 2, 0) : NULL;
}

/* The two arguments joined as they were given: Python's numbers have no type of their own there. */
static tt_array *joined_as_given(tt_composer *c, const tt_call_frame *f) {
  tt_value both = {.tag = TT_V_TUPLE, .as.tuple = {.item = f->arg, .n = 2}}, v[2] = {both, {.tag = TT_V_NONE}};
  return tt__fn_call(c, "concatenate", v, 2);
}

static tt_array *sorted(tt_composer *c, tt_array *a, const char *row) {
  tt_value v[3] = {tt_v_array(a), tt_v_int(0), {.tag = TT_V_STRING, .as.s = "stable"}};
  return a ? tt__fn_call(c, row, v, 3) : NULL;
}

static tt_array *head(tt_composer *c, tt_array *a) {
  return a ? tt__compose_slice(c, a, 0, 0, a->size > 0 ? a->size - 1 : 0, 1) : NULL;
}
static tt_array *tail(tt_composer *c, tt_array *a) {
  return a ? tt__compose_slice(c, a, 0, a->size > 0 ? 1 : 0, a->size > 0 ? a->size - 1 : 0, 1) : NULL;
}

static tt_array *union1d(tt_composer *c, tt_call_frame *f) { return unique(c, joined_as_given(c, f)); }
TT_HANDLER(union1d)

/* intersect1d(ar1, ar2, assume_unique, return_indices) */
static tt_array *intersect1d(tt_composer *c, tt_call_frame *f) {
  tt_array *a[2], *place[2] = {NULL, NULL};
  bool assume = tt__arg_bool(c, f, 2, false), indices = tt__arg_bool(c, f, 3, false);
  for (int i = 0; i < 2; i++) {
    a[i] = tt__compose_ravel(c, tt__arg_array(c, f, i));
    if (!assume && indices) place[i] = unique_places(c, a[i]);
    if (!assume) a[i] = indices ? (a[i] && place[i] ? tt__compose_take(c, a[i], place[i], 0) : NULL) : unique(c, a[i]);
  }
  tt_array *both = joined(c, a[0], a[1]), *order = indices ? sorted(c, both, "argsort") : NULL;
  tt_array *s = !indices ? sorted(c, both, "sort") : order ? tt__compose_take(c, both, order, 0) : NULL;
  tt_array *same = tt__compose_op2(c, TT_EQ, tail(c, s), head(c, s)), *r = with_mask(c, head(c, s), same);
  if (!indices || !r) return r;
  tt_array *from[2] = {with_mask(c, head(c, order), same),
                       tt__compose_opi(c, TT_SUB, with_mask(c, tail(c, order), same), a[0]->size)};
  if (!tt__fn_give(c, f, r)) return NULL;
  for (int i = 0; i < 2; i++) {
    if (!assume && from[i]) from[i] = tt__compose_take(c, place[i], from[i], 0);
    if (!tt__fn_give(c, f, from[i])) return NULL;
  }
  return r;
}
TT_HANDLER(intersect1d)

/* setdiff1d(ar1, ar2, assume_unique) */
static tt_array *setdiff1d(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  a = tt__arg_bool(c, f, 2, false) ? tt__compose_ravel(c, a) : unique(c, a);
  if (!a || !b) return NULL;
  tt_value v[4] = {tt_v_array(a), tt_v_array(b), {.tag = TT_V_BOOL, .as.b = true}, {.tag = TT_V_BOOL, .as.b = true}};
  return with_mask(c, a, tt__fn_call(c, "isin", v, 4));
}
TT_HANDLER(setdiff1d)

/* setxor1d(ar1, ar2, assume_unique): elements unlike both neighbours when all are sorted. */
static tt_array *setxor1d(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  bool assume = tt__arg_bool(c, f, 2, false);
  tt_array *s = sorted(c, assume ? joined_as_given(c, f) : joined(c, unique(c, a), unique(c, b)), "sort");
  if (!s || s->size == 0) return s;
  int64_t n = s->size + 1;
  tt_value yes = {.tag = TT_V_BOOL, .as.b = true};
  tt_array *edge = tt__compose_full(c, TT_BOOL, 1, &n, yes);
  if (n > 2 && !tt__compose_set(c, tt__compose_slice(c, edge, 0, 1, n - 2, 1),
                                tt_v_array(tt__compose_op2(c, TT_NE, tail(c, s), head(c, s)))))
    return NULL;
  return with_mask(c, s, tt__compose_op2(c, TT_AND, tail(c, edge), head(c, edge)));
}
TT_HANDLER(setxor1d)
