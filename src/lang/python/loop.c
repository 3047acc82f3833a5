/*
** for: over ranges, arrays, tuples, enumerate and zip; and the parallel loop with its reductions.
*/
#include <string.h>

#include "lang/python/py_int.h"

static bool callee_is(const tt_tree *t, const char *name) {
  return tt__tree_is(t, "call") && t->n > 1 && t->item[1]->tag != TT_TREE_INT && t->item[1]->text &&
         strcmp(t->item[1]->text, name) == 0;
}

/* Has the loop's own level (not loops inside it) a statement of this kind? */
static bool holds(const tt_tree *list, const char *word) {
  for (int k = 0; list->tag == TT_TREE_LIST && k < list->n; k++) {
    const tt_tree *t = list->item[k];
    if (tt__tree_is(t, word)) return true;
    if (tt__tree_is(t, "if") && t->n > 4 && (holds(t->item[3], word) || holds(t->item[4], word))) return true;
  }
  return false;
}

static bool holds_return(const tt_tree *t) {
  if (t->tag != TT_TREE_LIST) return false;
  if (tt__tree_is(t, "ret")) return true;
  for (int k = 0; k < t->n; k++)
    if (holds_return(t->item[k])) return true;
  return false;
}

/* ---- ranges */

typedef struct range {
  expr *start, *stop, *step;
} range;

static expr *whole(lower *l, expr *e) {
  if (py__is_unknown(e)) return e;
  e = py__without_axes(l, e);
  if (!py__is_scalar(e) || (!tt__is_int((tt_dtype)e->type->dtype) && e->type->dtype != TT_BOOL))
    py__fail(l, TT_ETYPE, "range() of %s", py__type_name(l, e->type));
  return py__keep(l, py__cast(l, e, TT_I64));
}

static range read_range(lower *l, const tt_tree *t) {
  int n = py__positional(t);
  if (n < 1 || n > 3) py__fail(l, TT_ETYPE, "range() takes 1 to 3 arguments but %d were given", n);
  expr *a = whole(l, py__value(l, t->item[2])), *b = n > 1 ? whole(l, py__value(l, t->item[3])) : NULL;
  expr *c = n > 2 ? whole(l, py__value(l, t->item[4])) : py__int(l, 1);
  if (c->op == TT_X_CONST && !py__is_unknown(c) && c->i == 0) py__fail(l, TT_EVALUE, "range() arg 3 must not be zero");
  if (c->op != TT_X_CONST) {
    expr *zero = py__int(l, 0);
    py__raise_unless(l, py__elem(l, TT_NE, c, zero), TT_EVALUE, "range() arg 3 must not be zero");
  }
  return b ? (range){a, b, c} : (range){py__int(l, 0), a, c};
}

/* The loop's counter: the user's variable itself where that is an int64 and a plain name. */
static int32_t counter_of(lower *l, const tt_tree *target, const range *r, bool parallel) {
  int32_t k = -1;
  if (tt__tree_is(target, "n")) {
    k = py__local_named(l, py__word(l, py__at(l, target, 1)), true);
    type *t = l->f->func->locals.data[k].type;
    if (t->tag != TT_T_UNKNOWN && t != py__scalar(l, TT_I64)) k = -1;
  }
  if (k < 0) k = py__temp(l, py__scalar(l, TT_I64));
  tt_plocal *v = &l->f->func->locals.data[k];
  if (v->type->tag == TT_T_UNKNOWN) {
    v->type = py__scalar(l, TT_I64);
    l->f->changed = true;
  }
  bool nonneg = r->start->nonneg && r->step->nonneg;
  if (v->nonneg && !nonneg && !py__is_unknown(r->start)) {
    v->nonneg = false;
    l->f->changed = true;
  }
  if (!py__is_unknown(r->start)) l->f->changed |= py__raise_to_counter(v, parallel, r->start, r->stop, r->step);
  return k;
}

/* `stop` leaves room for one more step up (or down) from what is before it. */
static void fail_without_room(lower *l, const range *r, bool up) {
  expr *beyond = py__elem(l, up ? TT_SUB : TT_ADD, r->step, py__int(l, 1));
  expr *end = py__keep(l, py__elem(l, TT_SUB, py__int(l, up ? INT64_MAX : INT64_MIN), beyond));
  py__raise_unless(l, py__elem(l, up ? TT_LE : TT_GE, r->stop, end), TT_EOVERFLOW,
                   "range() ends too near the end of the integers");
}

/* The counter must not overflow behind the last turn: it would go on from the other end. */
static void keep_inside(lower *l, range *r) {
  bool unknown = py__is_unknown(r->start) || py__is_unknown(r->stop) || py__is_unknown(r->step);
  if (unknown || !py__may_overrun(r->start, r->stop, r->step)) return;
  if (l->f->func->kind == TT_X_KERNEL) { /* it cannot fail, and numbers there lie beyond every array */
    if (!r->step->nonneg) return;
    expr *beyond = py__elem(l, TT_SUB, r->step, py__int(l, 1));
    r->stop = py__keep(l, py__elem(l, TT_MINIMUM, r->stop, py__elem(l, TT_SUB, py__int(l, INT64_MAX), beyond)));
    return;
  }
  if (r->step->nonneg) {
    fail_without_room(l, r, true);
    return;
  }
  block b;
  stmt *either = py__stmt(l, TT_X_IF);
  either->a = py__elem(l, TT_GT, r->step, py__int(l, 0));
  py__block_begin(l, &b);
  fail_without_room(l, r, true);
  either->body = py__block_end(l, &b);
  py__block_begin(l, &b);
  fail_without_room(l, r, false);
  either->other = py__block_end(l, &b);
}

static stmt *open_loop(lower *l, tt_pstmt_op op, const tt_tree *target, const range *r, block *b) {
  int32_t k = counter_of(l, target, r, op == TT_X_PARFOR);
  stmt *s = py__stmt(l, op);
  s->local = k;
  s->a = r->start;
  s->b = r->stop;
  s->c = r->step;
  py__block_begin(l, b);
  bool own = tt__tree_is(target, "n") && py__local_named(l, py__word(l, py__at(l, target, 1)), true) == k;
  if (!own && target->n > 0) py__assign(l, target, py__local(l, k));
  return s;
}

/* ---- reductions of a parallel loop */

enum { MOST_REDUCED = 16 };

typedef struct scan {
  lower *l;
  const char *name[MOST_REDUCED];
  uint8_t op[MOST_REDUCED];
  bool spoiled[MOST_REDUCED]; /* used in another way too */
  int n;
} scan;

static int reduction_op(const char *op) {
  if (strcmp(op, "+") == 0 || strcmp(op, "-") == 0) return TT_ADD;
  if (strcmp(op, "*") == 0) return TT_MUL;
  if (strcmp(op, "&") == 0) return TT_AND;
  if (strcmp(op, "|") == 0) return TT_OR;
  return -1;
}

static bool is_named(const tt_tree *t) { return tt__tree_is(t, "n") && t->n >= 2 && t->item[1]->text; }
static bool is_name(const tt_tree *t, const char *name) { return is_named(t) && strcmp(t->item[1]->text, name) == 0; }

static bool mentions(const tt_tree *t, const char *name) {
  if (t->tag != TT_TREE_LIST) return false;
  if (is_name(t, name)) return true;
  for (int k = 0; k < t->n; k++)
    if (mentions(t->item[k], name)) return true;
  return false;
}

/* x = min(x, e), x = x + e and the like: the operation, with the other operand in *with; or -1. */
static int fold_form(const tt_tree *t, const tt_tree **with) {
  if (!tt__tree_is(t, "set") || t->n < 4 || !is_named(t->item[2])) return -1;
  const char *name = t->item[2]->item[1]->text;
  const tt_tree *v = t->item[3];
  bool low = callee_is(v, "min"), high = callee_is(v, "max");
  if ((low || high) && v->n == 4 && (is_name(v->item[2], name) || is_name(v->item[3], name))) {
    *with = is_name(v->item[2], name) ? v->item[3] : v->item[2];
    return mentions(*with, name) ? -1 : low ? TT_MINIMUM : TT_MAXIMUM;
  }
  if (!tt__tree_is(v, "bin") || v->n != 4 || !v->item[1]->text) return -1;
  bool left = is_name(v->item[2], name), right = is_name(v->item[3], name) && strcmp(v->item[1]->text, "-") != 0;
  if (!left && !right) return -1;
  *with = left ? v->item[3] : v->item[2];
  return mentions(*with, name) ? -1 : reduction_op(v->item[1]->text);
}

static void note(scan *s, const char *name, int op) {
  int k = 0;
  while (k < s->n && strcmp(s->name[k], name) != 0) k++;
  if (k == MOST_REDUCED) return;
  if (k == s->n) {
    s->name[k] = name;
    s->op[k] = (uint8_t)op;
    s->spoiled[k] = false;
    s->n++;
  }
  if (op < 0 || s->op[k] != (uint8_t)op) s->spoiled[k] = true;
}

/* Every use of every candidate. */
static void find_reductions(scan *s, const tt_tree *t) {
  const tt_tree *with;
  if (t->tag != TT_TREE_LIST || t->n == 0) return;
  if (tt__tree_is(t, "aug") && t->n == 5 && t->item[2]->text && is_named(t->item[3])) {
    note(s, t->item[3]->item[1]->text, reduction_op(t->item[2]->text));
    find_reductions(s, t->item[4]);
    return;
  }
  int op = fold_form(t, &with);
  if (op >= 0) {
    note(s, t->item[2]->item[1]->text, op);
    find_reductions(s, with);
    return;
  }
  for (int k = 0; k < t->n; k++) find_reductions(s, t->item[k]);
}

static void spoil_other_uses(scan *s, const tt_tree *t) {
  const tt_tree *with;
  if (t->tag != TT_TREE_LIST || t->n == 0) return;
  if (is_named(t)) {
    for (int k = 0; k < s->n; k++)
      if (strcmp(s->name[k], t->item[1]->text) == 0) s->spoiled[k] = true;
    return;
  }
  if (tt__tree_is(t, "aug") && t->n == 5 && is_named(t->item[3])) {
    spoil_other_uses(s, t->item[4]);
    return;
  }
  if (fold_form(t, &with) >= 0) {
    spoil_other_uses(s, with);
    return;
  }
  for (int k = 0; k < t->n; k++) spoil_other_uses(s, t->item[k]);
}

/* False: this loop runs serially after all. */
static bool bind_reductions(lower *l, stmt *s, const scan *found) {
  s->reduced = py__alloc(l, MOST_REDUCED * sizeof *s->reduced);
  s->reduce_op = py__alloc(l, MOST_REDUCED);
  s->n = 0;
  for (int k = 0; k < found->n; k++) {
    int local = py__local_named(l, found->name[k], false);
    if (local < 0) continue;
    type *t = l->f->func->locals.data[local].type;
    if (found->spoiled[k]) continue;
    if (t->tag == TT_T_ARRAY) return false;
    if (t->tag != TT_T_SCALAR) continue;
    s->reduced[s->n] = local;
    s->reduce_op[s->n++] = found->op[k];
  }
  return !py__turns_lean(l, s);
}

/* Under a try the turns come one after another: what a failure leaves is what came before it. */
static bool can_run_parallel(lower *l, const tt_tree *body) {
  return l->options.parallel && !l->f->attempts && !l->f->parallel && l->f->func->kind == TT_X_FUNCTION &&
         !holds(body, "break") && !holds_return(body);
}

static void loop_range(lower *l, const tt_tree *t, const tt_tree *iter) {
  const tt_tree *target = py__at(l, t, 2), *body = py__at(l, t, 4);
  bool parallel = !callee_is(iter, "range") && can_run_parallel(l, body);
  range r = read_range(l, iter);
  keep_inside(l, &r);
  if (parallel && (r.step->op != TT_X_CONST || r.step->i != 1)) parallel = false;
  scan found = {.l = l};
  block b;
  stmt *s = open_loop(l, parallel ? TT_X_PARFOR : TT_X_FOR, target, &r, &b);
  if (parallel) {
    find_reductions(&found, body);
    spoil_other_uses(&found, body);
    l->f->parallel = true;
  }
  py__statements(l, body, 0);
  s->body = py__block_end(l, &b);
  if (parallel) {
    l->f->parallel = false;
    l->f->func->can_fail = true;
    if (!bind_reductions(l, s, &found)) s->op = TT_X_FOR;
  }
}

bool py__may_be_parallel(lower *l, const tt_tree *body) { return can_run_parallel(l, body); }

void py__parallel_body(lower *l, stmt *s, block *b, const tt_tree *body) {
  scan found = {.l = l};
  find_reductions(&found, body);
  spoil_other_uses(&found, body);
  s->op = TT_X_PARFOR;
  l->f->parallel = true;
  py__statements(l, body, 0);
  s->body = py__block_end(l, b);
  l->f->parallel = false;
  l->f->func->can_fail = true;
  if (!bind_reductions(l, s, &found)) s->op = TT_X_FOR;
}

/* ---- sequences */

static expr *length(lower *l, const expr *e) {
  if (e->type->tag == TT_T_TUPLE && !py__is_records(e)) return py__int(l, e->type->n);
  if (e->type->tag == TT_T_LIST) return py__count_of(l, (expr *)(uintptr_t)e);
  if (e->type->tag == TT_T_TUPLE) return py__item(l, py__attribute(l, (expr *)(uintptr_t)e, "shape"), 0);
  return py__len(l, (expr *)(uintptr_t)e, 0);
}

static expr *records_at(lower *l, expr *records, const expr *at) {
  tt_tree word = {.tag = TT_TREE_WORD, .text = "n"}, name = {.tag = TT_TREE_STRING};
  name.text = l->f->func->locals.data[at->k].name + strlen(l->f->prefix);
  tt_tree *items[2] = {&word, &name}, index = {.tag = TT_TREE_LIST, .n = 2, .item = items};
  const tt_tree *const only[1] = {&index};
  return py__records_index(l, records, only, 1);
}

expr *py__turn(lower *l, expr *array, expr *at) {
  if (py__is_text(array)) return py__text_char(l, py__list_item(l, array, at));
  if (array->type->tag == TT_T_LIST) return py__list_item(l, array, at);
  if (py__is_records(array)) return records_at(l, array, at);
  if (array->type->rank == 1) return py__load(l, array, &at, 1);
  expr *v = py__expr(l, TT_X_VIEW, NULL, 2);
  v->type = py__array(l, (tt_dtype)array->type->dtype, array->type->rank - 1, array->type->layout);
  v->form = "i";
  v->arg[0] = array;
  v->arg[1] = at;
  return v;
}

/* Give the targets of a loop over several sequences their items: `value` of sequence k. */
static void give(lower *l, const tt_tree *inner, expr *const *value, int n, bool single) {
  if (single) {
    py__assign(l, inner, value[0]);
    return;
  }
  if (!tt__tree_is(inner, "tup") || inner->n != n + 1) py__fail(l, TT_ENOTIMPL, "zip() without %d targets", n);
  for (int k = 0; k < n; k++) py__assign(l, inner->item[k + 1], value[k]);
}

/* The target behind that of enumerate, which gets the position. */
static const tt_tree *count_off(lower *l, const tt_tree *target, expr *position) {
  if (!tt__tree_is(target, "tup") || target->n != 3) py__fail(l, TT_ENOTIMPL, "enumerate() without two targets");
  py__assign(l, target->item[1], position);
  return target->item[2];
}

/* The names of a target are variables of turn number `at` alone. */
static void turn_names(lower *l, const tt_tree *target, int at) {
  frame *f = l->f;
  if (tt__tree_is(target, "n") && f->nturned < (int)(sizeof f->turned / sizeof *f->turned)) {
    f->turned[f->nturned].name = py__word(l, py__at(l, target, 1));
    f->turned[f->nturned++].turn = at;
  }
  for (int k = 1; tt__tree_is(target, "tup") && k < target->n; k++) turn_names(l, target->item[k], at);
}

/* Have all items of the tuples one type each? */
static bool have_one_type(lower *l, expr *const *seq, int n) {
  for (int k = 0; k < n; k++) {
    type *both = py__unknown(l);
    for (int i = 0; i < seq[k]->type->n && both; i++) both = py__unify(l, both, seq[k]->type->item[i]);
    if (!both) return false;
  }
  return true;
}

/* A loop over tuples: the body once for each item. */
static void unroll(lower *l, const tt_tree *t, expr *const *seq, int n, bool counted, expr *first, bool single) {
  const tt_tree *target = py__at(l, t, 2), *body = py__at(l, t, 4);
  int items = seq[0]->type->n;
  if (holds(body, "break") || holds(body, "cont")) py__fail(l, TT_ENOTIMPL, "break or continue in a loop over a tuple");
  for (int k = 1; k < n; k++) items = seq[k]->type->n < items ? seq[k]->type->n : items;
  bool apart = !have_one_type(l, seq, n);
  int before = l->f->nturned;
  for (int at = 0; at < items; at++) {
    expr *value[8];
    if (apart) turn_names(l, target, at);
    const tt_tree *inner = counted ? count_off(l, target, py__elem(l, TT_ADD, py__int(l, at), first)) : target;
    for (int k = 0; k < n; k++) value[k] = py__item(l, seq[k], at);
    give(l, inner, value, n, single);
    py__statements(l, body, 0);
    l->f->nturned = before;
  }
}

static bool are_tuples(expr *const *seq, int n) {
  for (int k = 0; k < n; k++)
    if (seq[k]->type->tag != TT_T_TUPLE || py__is_records(seq[k])) return false;
  return true;
}

/* Does a sequence still have an item number `at`? Of a list that is asked each turn: the body may change it. */
static expr *has_item(lower *l, expr *seq, expr *at) {
  expr *n = py__expr(l, seq->type->tag == TT_T_LIST ? TT_X_COUNT : TT_X_LEN, py__scalar(l, TT_I64), 1);
  n->arg[0] = seq;
  return py__elem(l, TT_LT, at, n);
}

/* A turn with the values of the sequences: what they are given to, the place of the next turn (`place` is a local, and
 * `first`, or NULL, what the count begins with), the statements. */
static void turn(lower *l, const tt_tree *t, expr **value, int n, int32_t place, expr *first, bool single) {
  const tt_tree *target = py__at(l, t, 2);
  expr *at = py__local(l, place);
  give(l, first ? count_off(l, target, py__elem(l, TT_ADD, at, first)) : target, value, n, single);
  expr *next = py__elem(l, TT_ADD, at, py__int(l, 1));
  next->nonneg = true;
  next->limit = TT_PROGRAM_LONGEST;
  py__set(l, place, next);
  py__statements(l, py__at(l, t, 4), 0);
}

static void loop_lists(lower *l, const tt_tree *t, expr *const *seq, int n, bool counted, expr *first, bool single) {
  int32_t place = py__temp(l, py__scalar(l, TT_I64));
  tt_plocal *v = &l->f->func->locals.data[place];
  v->nonneg = true;
  v->limit = TT_PROGRAM_LONGEST;
  py__set(l, place, py__int(l, 0));
  expr *at = py__local(l, place), *more = NULL, *value[8];
  stmt *s = py__stmt(l, TT_X_WHILE);
  block b;
  if (l->f->func->kind != TT_X_KERNEL) l->f->func->can_fail = true; /* Ctrl-C ends it */
  for (int k = 0; k < n; k++) {
    expr *has = has_item(l, seq[k], at);
    more = more ? py__elem(l, TT_AND, more, has) : has;
  }
  s->a = more;
  py__block_begin(l, &b);
  for (int k = 0; k < n; k++) value[k] = py__keep(l, py__turn(l, seq[k], at));
  turn(l, t, value, n, place, counted ? first : NULL, single);
  s->body = py__block_end(l, &b);
}

/* As loop_lists, where some of the sequences are generators: each is asked in its turn, as Python does. */
static void loop_generators(lower *l, const tt_tree *t, expr *const *seq, int n, bool counted, expr *first,
                            bool single) {
  int32_t place = py__temp(l, py__scalar(l, TT_I64));
  l->f->func->locals.data[place].limit = TT_PROGRAM_LONGEST;
  py__set(l, place, py__int(l, 0));
  expr *at = py__local(l, place), *value[8];
  stmt *s = py__stmt(l, TT_X_WHILE);
  block b, inner;
  l->f->func->can_fail = true;
  s->a = py__bool(l, true);
  py__block_begin(l, &b);
  for (int k = 0; k < n; k++) {
    bool generator = py__is_generator(seq[k]);
    expr *more = generator ? py__has_next(l, seq[k]) : has_item(l, seq[k], at);
    stmt *leave = py__stmt(l, TT_X_IF);
    leave->a = py__elem(l, TT_LNOT, more, NULL);
    py__block_begin(l, &inner);
    py__stmt(l, TT_X_BREAK);
    leave->body = py__block_end(l, &inner);
    value[k] = generator ? py__yielded(l, seq[k]) : py__keep(l, py__turn(l, seq[k], at));
  }
  turn(l, t, value, n, place, counted ? first : NULL, single);
  s->body = py__block_end(l, &b);
}

/* Several sequences side by side; `counted`: the first target is the position. */
static void loop_zip(lower *l, const tt_tree *t, expr **seq, int n, bool counted, expr *first, bool single) {
  static const tt_tree nobody = {.tag = TT_TREE_LIST};
  const tt_tree *target = py__at(l, t, 2);
  expr *stop = NULL, *value[8];
  bool leaves = holds(py__at(l, t, 4), "break") || holds(py__at(l, t, 4), "cont"), lists = false, generators = false;
  for (int k = 0; k < n; k++) {
    seq[k] = py__text(l, seq[k]);
    if (leaves) seq[k] = py__listed(l, seq[k]);
    if (py__is_object(seq[k])) py__fail(l, TT_ETYPE, "a loop over %s", py__type_name(l, seq[k]->type));
    generators |= py__is_generator(seq[k]);
    lists |= seq[k]->type->tag == TT_T_LIST || py__is_generator(seq[k]);
  }
  if (are_tuples(seq, n)) {
    unroll(l, t, seq, n, counted, first, single);
    return;
  }
  for (int k = 0; k < n; k++) {
    if (py__is_unknown(seq[k])) return;
    if (seq[k]->type->tag == TT_T_LIST || py__is_generator(seq[k])) continue;
    if (lists && seq[k]->type->tag == TT_T_TUPLE && (seq[k] = py__listed(l, seq[k]))->type->tag == TT_T_LIST) continue;
    bool array = seq[k]->type->tag == TT_T_ARRAY && seq[k]->type->rank > 0;
    if (!array && !py__is_records(seq[k])) py__fail(l, TT_ENOTIMPL, "a loop over %s", py__type_name(l, seq[k]->type));
    if (lists) continue;
    expr *len = length(l, seq[k]);
    stop = stop ? py__keep(l, py__elem(l, TT_MINIMUM, stop, len)) : len;
  }
  if (generators) {
    loop_generators(l, t, seq, n, counted, first, single);
    return;
  }
  if (lists) {
    loop_lists(l, t, seq, n, counted, first, single);
    return;
  }
  range r = {py__int(l, 0), py__keep(l, stop), py__int(l, 1)};
  block b;
  stmt *s = open_loop(l, TT_X_FOR, &nobody, &r, &b);
  expr *at = py__local(l, s->local);
  const tt_tree *inner = counted ? count_off(l, target, py__elem(l, TT_ADD, at, first)) : target;
  for (int k = 0; k < n; k++) value[k] = py__turn(l, seq[k], at);
  give(l, inner, value, n, single);
  py__statements(l, py__at(l, t, 4), 0);
  s->body = py__block_end(l, &b);
}

/* What a loop goes over; a display stays one. */
static expr *sequence(lower *l, const tt_tree *t) {
  bool known;
  if (callee_is(t, "range")) { /* beside others: its numbers as an array */
    expr *e = py__array_call(l, "np.arange", t, &known);
    return py__is_unknown(e) ? e : py__keep(l, py__materialise(l, e));
  }
  expr *e = py__materialise(l, py__value(l, t));
  if (py__is_named_values(e)) return py__keep(l, py__named_values_method(l, e, "keys"));
  if (py__is_generator(e)) return py__keep(l, e);
  return py__is_display(e) ? e : py__keep(l, py__sequence(l, e));
}

void py__for(lower *l, const tt_tree *t) {
  const tt_tree *iter = py__at(l, t, 3);
  expr *seq[8], *first = py__int(l, 0);
  bool at_end = l->f->at_end, counted = callee_is(iter, "enumerate");
  l->f->at_end = false;
  if (callee_is(iter, "range") || callee_is(iter, "prange")) {
    loop_range(l, t, iter);
  } else {
    if (counted) {
      if (py__positional(iter) > 1) first = whole(l, py__value(l, iter->item[3]));
      iter = py__at(l, iter, 2);
    }
    if (py__is_grid(iter)) {
      py__for_grid(l, t, iter, counted, first);
    } else if (callee_is(iter, "zip")) {
      int n = py__positional(iter);
      if (n < 1 || n > 8) py__fail(l, TT_ENOTIMPL, "zip() of %d sequences", n);
      for (int k = 0; k < n; k++) seq[k] = sequence(l, iter->item[k + 2]);
      loop_zip(l, t, seq, n, counted, first, false);
    } else {
      seq[0] = sequence(l, iter);
      loop_zip(l, t, seq, 1, counted, first, true);
    }
  }
  l->f->at_end = at_end;
}
