/*
** NumPy's functions that are not loops written here: the library's own, called with whole arrays.
*/
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/python/py_int.h"

enum { MOST_QUESTION = 1000, MOST_GIVEN = TT_PROGRAM_ARGS };

/* A question under way (launch/python/host_call.h), and the values that the call will be given. */
typedef struct question {
  char text[MOST_QUESTION];
  size_t n;
  expr *given[MOST_GIVEN];
  int ngiven;
  bool missing;
} question;

static void say(lower *l, question *q, const char *fmt, ...) TT_PRINTF(3, 4);
static void say(lower *l, question *q, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(q->text + q->n, sizeof q->text - q->n, fmt, ap);
  va_end(ap);
  if (n < 0 || q->n + (size_t)n >= sizeof q->text) py__fail(l, TT_ENOTIMPL, "a call with so many arguments");
  q->n += (size_t)n;
}

static void give(lower *l, question *q, expr *e) {
  if (q->ngiven == MOST_GIVEN)
    py__fail(l, TT_ENOTIMPL, "a call of a NumPy function with more than %d values", MOST_GIVEN);
  q->given[q->ngiven++] = e;
}

static void say_number(lower *l, question *q, expr *e) {
  tt_dtype d = (tt_dtype)e->type->dtype;
  bool whole = tt__is_int(d) || d == TT_BOOL;
  if (e->op == TT_X_CONST && d == TT_I64) {
    say(l, q, "=i%lld", (long long)e->i);
  } else if (e->op == TT_X_CONST && d == TT_BOOL) {
    say(l, q, "=b%d", e->i != 0);
  } else if (e->op == TT_X_CONST && d == TT_F64) {
    say(l, q, "=f%a", e->f[0]);
  } else {
    tt_dtype wide = tt__is_complex(d) ? TT_C128 : whole ? (d == TT_U64 || d == TT_BOOL ? d : TT_I64) : TT_F64;
    say(l, q, "%s", tt__dtypes[wide].suffix);
    give(l, q, py__keep(l, py__cast(l, e, wide)));
  }
}

static void say_value(lower *l, question *q, expr *e) {
  q->missing |= !py__is_complete(e->type);
  if (q->missing) return;
  if (e->type->tag == TT_T_LIST) e = py__list_array(l, e, TT_DTYPE_NONE);
  if (e->type->tag == TT_T_NONE) {
    say(l, q, "=n");
  } else if (py__is_meta(e, "dtype")) {
    say(l, q, "=d%s", tt__dtypes[tt__dtype_named(e->name)].suffix);
  } else if (e->op == TT_X_STRING) {
    say(l, q, "=s%s", e->name);
  } else if (py__is_scalar(e)) {
    say_number(l, q, e);
  } else if (py__is_array(e)) {
    e = py__materialise(l, e);
    e = py__keep(l, e->type->layout == 'P' ? py__copied(l, e) : e);
    say(l, q, "A%s:%d", tt__dtypes[e->type->dtype].suffix, e->type->rank);
    give(l, q, e);
  } else if (e->type->tag == TT_T_TUPLE) {
    e = e->op == TT_X_TUPLE ? e : py__keep(l, e);
    say(l, q, "(");
    for (int k = 0; k < e->type->n; k++) {
      if (k) say(l, q, ";");
      say_value(l, q, py__item(l, e, k));
    }
    say(l, q, ")");
  } else {
    py__fail(l, TT_ENOTIMPL, "%s as an argument of a NumPy function", py__type_name(l, e->type));
  }
}

/* The answer, in the arena: the call, a '|', the types of its results. */
static const char *answer_to(lower *l, const question *q) {
  tt_str answer = {0};
  tt_error err = {0};
  tt_code c = l->options.ask ? l->options.ask(q->text, &answer, &err)
                             : tt__fail(&err, TT_ENOTIMPL, "np.%s() in a compiled function", q->text);
  char *kept = c == TT_OK && !answer.failed ? tt__arena_dup(&l->p->arena, answer.data, answer.len + 1) : NULL;
  bool full = c == TT_OK && !kept;
  tt__str_free(&answer);
  if (full) py__fail(l, TT_ENOMEM, "out of memory");
  if (c != TT_OK) py__fail(l, c == TT_ENOTIMPL || c == TT_ENOMEM ? c : TT_ETYPE, "%s", err.message);
  return kept;
}

expr *py__host_call(lower *l, const char *name, expr *const *arg, int n, const tt_tree *call) {
  question q = {.n = 0};
  if (l->options.kernel) py__fail(l, TT_ENOTIMPL, "np.%s() in a kernel", name);
  say(l, &q, "%s|", name);
  for (int k = 0; k < n; k++) {
    if (k) say(l, &q, ";");
    say_value(l, &q, arg[k]);
  }
  for (int k = 2; call && k < call->n; k++) {
    if (!tt__tree_is(call->item[k], "kw")) continue;
    say(l, &q, "%s@%s ", q.text[q.n - 1] == '|' ? "" : ";", py__word(l, py__at(l, call->item[k], 1)));
    say_value(l, &q, py__value(l, py__at(l, call->item[k], 2)));
  }
  if (q.missing) return py__missing(l);
  const char *answer = answer_to(l, &q), *rest;
  type *result;
  py__signature(l, strrchr(answer, '|') + 1, &result, 1, &rest);
  int32_t local = py__temp(l, result);
  l->f->func->locals.data[local].nonneg = false;
  l->f->func->locals.data[local].limit = 0;
  l->f->func->locals.data[local].space = 2;
  l->f->func->can_fail = true;
  stmt *s = py__stmt(l, TT_X_HOST);
  s->local = local;
  s->name = answer;
  s->n = q.ngiven;
  s->arg = py__alloc(l, (size_t)q.ngiven * sizeof *s->arg);
  memcpy(s->arg, q.given, (size_t)q.ngiven * sizeof *s->arg);
  return py__local(l, local);
}

static bool is_one(const char *w, const char *const *names) {
  for (; *names; names++)
    if (strcmp(w, *names) == 0) return true;
  return false;
}

/* (meth self "name" argument...) of an array, which no loop here does; NULL: that is no method. */
expr *py__host_method(lower *l, expr *self, const char *name, const tt_tree *t) {
  static const char *const methods[] = {"argsort",  "nonzero", "take",         "repeat", "round",    "clip",    "trace",
                                        "diagonal", "ptp",     "searchsorted", "cumsum", "cumprod",  "squeeze", "sum",
                                        "prod",     "min",     "max",          "argmin", "argmax",   "any",     "all",
                                        "mean",     "std",     "var",          "sort",   "swapaxes", NULL};
  expr *arg[TT_PROGRAM_ARGS];
  int n = 0;
  if (!t || !is_one(name, methods)) return NULL;
  arg[n++] = self;
  for (int k = 3; k < t->n && !tt__tree_is(t->item[k], "kw"); k++) {
    if (n == TT_PROGRAM_ARGS) return NULL;
    arg[n++] = py__value(l, t->item[k]);
  }
  bool in_place = strcmp(name, "sort") == 0 && tt__tree_is(t, "meth");
  if (in_place) arg[0] = self = py__keep(l, py__materialise(l, self));
  expr *e = py__host_call(l, name, arg, n, t);
  if (!in_place || py__is_unknown(e)) return e;
  py__fill(l, self, e, NULL, true);
  return py__nothing(l);
}
