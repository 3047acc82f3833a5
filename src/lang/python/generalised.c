/*
** Calls of functions of small arrays (guvectorize): loops over the axes in front of those that the function takes.
*/
#include <string.h>

#include "lang/python/py_int.h"

enum { MOST_OPERANDS = 16, MOST_SIZES = 32 };

/* (gu FUNCTION NIN ((dimension ...) ...) argument ...) */
typedef struct gu {
  const tt_tree *cores;
  expr *arg[MOST_OPERANDS];
  int n, nin, front; /* axes in front */
} gu;

static int core_rank(lower *l, const gu *g, int k) { return py__at(l, g->cores, k)->n; }

static void read_operands(lower *l, gu *g, const tt_tree *t, bool *missing) {
  g->cores = py__at(l, t, 3);
  g->nin = (int)py__at(l, t, 2)->i;
  g->n = g->cores->n;
  if (g->n > MOST_OPERANDS || t->n != 4 + g->n) py__fail(l, TT_EVALUE, "the program text is malformed");
  for (int k = 0; k < g->n; k++) {
    expr *e = py__keep(l, py__materialise(l, py__value(l, t->item[4 + k])));
    g->arg[k] = e;
    *missing |= py__is_unknown(e);
    if (*missing) return;
    int core = core_rank(l, g, k), rank = py__is_array(e) ? e->type->rank : 0;
    bool number = py__is_scalar(e) && core == 0 && k < g->nin;
    if (!number && (!py__is_array(e) || rank < core))
      py__fail(l, TT_EVALUE, "argument %d is %s: it lacks its %d core axes", k + 1, py__type_name(l, e->type), core);
    if (rank - core > g->front) g->front = rank - core;
  }
  for (int k = g->nin; k < g->n; k++) /* results are not spread */
    if (g->arg[k]->type->rank - core_rank(l, g, k) != g->front)
      py__fail(l, TT_EVALUE, "Loop and array shapes are incompatible");
}

static void must_equal(lower *l, expr *a, expr *b, const char *message) {
  py__raise_unless(l, py__elem(l, TT_EQ, a, b), TT_EVALUE, message);
}

/* Axes of one name are equally long. */
static void check_cores(lower *l, const gu *g) {
  const char *name[MOST_SIZES];
  expr *len[MOST_SIZES];
  int known = 0;
  for (int k = 0; k < g->n; k++) {
    const tt_tree *core = g->cores->item[k];
    for (int j = 0; j < core->n; j++) {
      int at = 0;
      const char *word = py__word(l, core->item[j]);
      expr *own = py__len(l, g->arg[k], g->arg[k]->type->rank - core->n + j);
      while (at < known && strcmp(name[at], word) != 0) at++;
      if (at < known) {
        must_equal(l, own, len[at], "a core axis has two lengths");
      } else if (known < MOST_SIZES) {
        name[known] = word;
        len[known++] = own;
      }
    }
  }
}

/* A view of the core at these places of the axes in front; of an input those that it has. */
static expr *core_at(lower *l, const gu *g, int k, expr *const *at) {
  expr *a = g->arg[k];
  int core = core_rank(l, g, k), own = py__is_array(a) ? a->type->rank - core : 0;
  bool number = core == 0 && k < g->nin;
  expr *const *mine = at + g->front - own;
  if (py__is_scalar(a)) return a;
  if (number) return py__load(l, a, mine, own);
  /* a result without core axes is an array of one element */
  int made = core ? core : 1, slices = core == 0 && own > 0;
  if (own == 0 && core) return a;
  expr *v =
      py__expr(l, TT_X_VIEW, py__array(l, (tt_dtype)a->type->dtype, made, py__any_steps(a)), 1 + own + 2 * slices);
  char *form = py__alloc(l, (size_t)own + 2);
  memset(form, 'i', (size_t)own);
  v->form = form;
  v->arg[0] = a;
  for (int j = 0; j < own; j++) v->arg[1 + j] = mine[j];
  if (core) return v;
  if (own == 0) {
    form[0] = 'n';
    return v;
  }
  form[own - 1] = 's';
  v->arg[own + 1] = py__elem(l, TT_ADD, v->arg[own], py__int(l, 1));
  v->arg[own + 2] = py__nothing(l);
  return v;
}

/* Inputs have the axes of the results, or one element along them. */
static void check_fronts(lower *l, const gu *g) {
  const expr *first = g->arg[g->nin];
  for (int k = 0; k < g->n; k++) {
    int own = py__is_array(g->arg[k]) ? g->arg[k]->type->rank - core_rank(l, g, k) : 0;
    for (int j = 0; j < own; j++)
      must_equal(l, py__len(l, g->arg[k], j), py__len(l, (expr *)(uintptr_t)first, g->front - own + j),
                 "Loop and array shapes are incompatible");
  }
}

expr *py__generalised(lower *l, const tt_tree *t) {
  gu g = {.front = 0};
  bool missing = false;
  read_operands(l, &g, t, &missing);
  if (missing) return py__missing(l);
  check_cores(l, &g);
  check_fronts(l, &g);
  block b[TT_PROGRAM_RANK];
  stmt *s[TT_PROGRAM_RANK];
  expr *at[TT_PROGRAM_RANK], *part[MOST_OPERANDS];
  for (int k = 0; k < g.front; k++) s[k] = py__count_begin(l, py__len(l, g.arg[g.nin], k), &b[k], &at[k]);
  for (int k = 0; k < g.n; k++) part[k] = py__keep(l, core_at(l, &g, k, at));
  expr *call = py__call_user(l, (int32_t)py__at(l, t, 1)->i, part, g.n);
  if (!py__is_unknown(call)) py__stmt(l, TT_X_EVAL)->a = call;
  for (int k = g.front - 1; k >= 0; k--) py__count_end(l, s[k], &b[k]);
  for (int k = g.nin; k < g.n; k++) py__wrote(l, g.arg[k]);
  return py__nothing(l);
}
