/*
** The order in which Python evaluates. Most operands may be written into one C expression, whose order is C's; where a
** part calls something that may change what another part reads, the parts are computed one by one.
*/
#include <string.h>

#include "lang/python/py_int.h"

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* May this call change memory, a list, an object, a generator or the state of random numbers? */
static bool call_acts(const tt_tree *callee) {
  static const char *const words[] = {"overload:", "next", "random.", "np.random.", "cuda.atomic.", "intrinsic:"};
  if (callee->tag == TT_TREE_INT) return true;
  if (callee->tag != TT_TREE_STRING) return false;
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (begins(callee->text, words[k])) return true;
  return false;
}

/* May evaluating it change what other parts of the statement read? */
static bool acts(const tt_tree *t) {
  if (t->tag != TT_TREE_LIST) return false;
  if (tt__tree_is(t, "meth") || tt__tree_is(t, "new") || tt__tree_is(t, "gu") || tt__tree_is(t, "comp")) return true;
  if (tt__tree_is(t, "call") && t->n > 1 && call_acts(t->item[1])) return true;
  for (int k = 0; k < t->n; k++)
    if (acts(t->item[k])) return true;
  return false;
}

/* Does it mean the same whenever it is looked at? */
static bool stands(const tt_tree *t) {
  static const char *const words[] = {"n", "i", "f", "z", "b", "s", "none", "type", "kind", "kept"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (tt__tree_is(t, words[k])) return true;
  return false;
}

static expr *computed(lower *l, expr *e) { return py__keep(l, py__listed(l, py__materialise(l, e))); }

expr *py__ahead(lower *l, const tt_tree *t, const tt_tree *const *next, int n) {
  bool must = false, own = !stands(t) && acts(t);
  for (int k = 0; k < n && !must; k++) must = own ? !stands(next[k]) : !stands(t) && acts(next[k]);
  expr *e = py__expression(l, t);
  return must && !py__is_unknown(e) ? computed(l, e) : e;
}

/* ---- targets of augmented assignments, whose parts are computed before the value */

static tt_tree *made_tree(lower *l, tt_tree *const *item, int n) {
  tt_tree *t = py__alloc(l, sizeof *t);
  *t = (tt_tree){.tag = TT_TREE_LIST, .n = n, .item = py__alloc(l, (size_t)n * sizeof *t->item)};
  memcpy(t->item, item, (size_t)n * sizeof *item);
  return t;
}

static tt_tree *atom(lower *l, const char *word, int64_t i) {
  tt_tree *t = py__alloc(l, sizeof *t);
  *t = (tt_tree){.tag = word ? TT_TREE_WORD : TT_TREE_INT, .text = word, .i = i};
  return t;
}

/* The tree of a part that is computed here; *missing: its type is not known yet. */
static tt_tree *kept_part(lower *l, tt_tree *t, bool *missing) {
  if (stands(t) || tt__tree_is(t, "el")) return t;
  if (tt__tree_is(t, "sl") || tt__tree_is(t, "tup")) {
    tt_tree *item[TT_PROGRAM_ARGS + 1];
    if (t->n > TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "tuples of more than %d items", TT_PROGRAM_ARGS);
    for (int k = 0; k < t->n; k++) item[k] = k ? kept_part(l, t->item[k], missing) : t->item[k];
    return made_tree(l, item, t->n);
  }
  expr *e = py__value(l, t);
  if (py__is_unknown(e)) return *missing = true, t;
  e = computed(l, e);
  if (e->op != TT_X_LOCAL) return t; /* a constant */
  tt_tree *both[2] = {atom(l, "kept", 0), atom(l, NULL, e->k)};
  return made_tree(l, both, 2);
}

expr *py__kept(lower *l, const tt_tree *t) {
  int64_t k = py__at(l, t, 1)->i;
  if (k < 0 || k >= (int64_t)l->f->func->locals.n) py__fail(l, TT_EVALUE, "the program text is malformed");
  return py__local(l, (int32_t)k);
}

const tt_tree *py__unstarred(lower *l, const tt_tree *t, int from) {
  tt_tree *item[2 * TT_PROGRAM_ARGS];
  int n = 0;
  bool any = false;
  for (int k = from; k < t->n; k++) any |= tt__tree_is(t->item[k], "star");
  if (!any || t->n > TT_PROGRAM_ARGS) return t;
  for (int k = 0; k < t->n; k++) {
    if (!tt__tree_is(t->item[k], "star")) {
      item[n++] = t->item[k];
      continue;
    }
    expr *e = py__keep(l, py__value(l, py__at(l, t->item[k], 1)));
    if (py__is_unknown(e)) return NULL;
    if (e->type->tag != TT_T_TUPLE || e->op != TT_X_LOCAL)
      py__fail(l, TT_ENOTIMPL, "a call with * of %s", py__type_name(l, e->type));
    if (n + e->type->n + t->n - k > TT_PROGRAM_ARGS)
      py__fail(l, TT_ENOTIMPL, "more than %d arguments", TT_PROGRAM_ARGS);
    tt_tree *kept[2] = {atom(l, "kept", 0), atom(l, NULL, e->k)};
    tt_tree *whole = made_tree(l, kept, 2);
    for (int i = 0; i < e->type->n; i++) {
      tt_tree *number[2] = {atom(l, "i", 0), atom(l, NULL, i)};
      tt_tree *part[3] = {atom(l, "idx", 0), whole, made_tree(l, number, 2)};
      item[n++] = made_tree(l, part, 3);
    }
  }
  return made_tree(l, item, n);
}

/* a[i] += f(), a.b += f(): the places first, then the old value, then f(). */
static void augment_in_order(lower *l, const tt_tree *target, const tt_tree *value, const char *op) {
  bool missing = false;
  tt_tree *item[TT_PROGRAM_ARGS + 2];
  if (target->n > TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "more than %d indices", TT_PROGRAM_ARGS);
  int last = tt__tree_is(target, "attr") ? 1 : target->n - 1; /* a name is no value */
  for (int k = 0; k < target->n; k++)
    item[k] = k == 0 || k > last ? target->item[k] : kept_part(l, target->item[k], &missing);
  target = made_tree(l, item, target->n);
  expr *old = missing ? py__missing(l) : py__value(l, target);
  if (py__is_unknown(old)) {
    (void)py__value(l, value); /* for what is learnt there */
    return;
  }
  bool view = py__is_array(old) && old->type->rank > 0;
  if (!view) old = computed(l, old);
  expr *by = py__value(l, value);
  if (py__is_unknown(by)) return;
  if (view)
    py__assign_part(l, target, by, op);
  else
    py__assign_part(l, target, py__binary(l, op, old, by), NULL);
}

bool py__augment_in_order(lower *l, const tt_tree *target, const tt_tree *value, const char *op) {
  bool part = tt__tree_is(target, "idx") || tt__tree_is(target, "attr");
  if (!part || (!acts(value) && !acts(target))) return false;
  augment_in_order(l, target, value, op);
  return true;
}

/* ---- turns of a loop */

/* Locals by number: of the loop, those that its body writes; of a place in it, those that were written in this turn. */
typedef struct turn {
  lower *l;
  const stmt *loop;
  const bool *writes;
  int64_t n;
  bool leans;
} turn;

static bool *copy_of(turn *t, const bool *from) {
  bool *made = py__alloc(t->l, (size_t)t->n + 1);
  if (from)
    memcpy(made, from, (size_t)t->n);
  else
    memset(made, 0, (size_t)t->n + 1);
  return made;
}

static bool is_folded(const stmt *loop, int32_t local) {
  for (int k = 0; k < loop->n; k++)
    if (loop->reduced[k] == local) return true;
  return false;
}

static void look_at(turn *t, const expr *e, const bool *done) {
  if (!e || t->leans) return;
  t->leans = e->op == TT_X_LOCAL && t->writes[e->k] && !done[e->k] && !is_folded(t->loop, e->k);
  for (int k = 0; k < e->n; k++) look_at(t, e->arg[k], done);
}

static void note_writes(const stmt *s, bool *writes) {
  for (; s; s = s->next) {
    if (s->local >= 0) writes[s->local] = true;
    note_writes(s->body, writes);
    note_writes(s->other, writes);
  }
}

static bool look_through(turn *t, const stmt *s, bool *done);

/* Behind an if that was written which both of its sides wrote; a side that leaves says nothing. */
static bool look_at_sides(turn *t, const stmt *s, bool *done) {
  bool *yes = copy_of(t, done), *no = copy_of(t, done);
  bool yes_leaves = look_through(t, s->body, yes), no_leaves = look_through(t, s->other, no);
  for (int64_t k = 0; k < t->n; k++) done[k] = (yes[k] || yes_leaves) && (no[k] || no_leaves);
  return yes_leaves && no_leaves;
}

/* Does the flow leave the list before its end? */
static bool look_through(turn *t, const stmt *s, bool *done) {
  for (; s && !t->leans; s = s->next) {
    look_at(t, s->a, done);
    look_at(t, s->b, done);
    look_at(t, s->c, done);
    for (int k = 0; s->arg && k < s->n; k++) look_at(t, s->arg[k], done);
    if (s->op == TT_X_IF) {
      if (look_at_sides(t, s, done)) return true;
      continue;
    }
    bool *inside = s->body || s->other ? copy_of(t, done) : NULL;
    if (inside && s->local >= 0) inside[s->local] = true;
    if (s->body) look_through(t, s->body, inside);
    if (s->other) look_through(t, s->other, copy_of(t, done));
    if (!inside && s->local >= 0) done[s->local] = true;
    if (s->op == TT_X_BREAK || s->op == TT_X_CONTINUE || s->op == TT_X_RETURN) return true;
    if (s->op == TT_X_RAISE && !s->a) return true;
  }
  return false;
}

bool py__turns_lean(lower *l, const stmt *loop) {
  turn t = {.l = l, .loop = loop, .n = l->f->func->locals.n};
  bool *writes = copy_of(&t, NULL), *done = copy_of(&t, NULL);
  note_writes(loop->body, writes);
  t.writes = writes;
  done[loop->local] = true;
  look_through(&t, loop->body, done);
  return t.leans;
}
