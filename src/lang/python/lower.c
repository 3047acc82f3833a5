/*
** Statements and functions: the fixed point over a function's variables, and the order in which functions are typed.
*/
#include "lang/python/py.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lang/python/py_int.h"

enum { MOST_PASSES = 60, DEEPEST_CALL = 40 };

/* ---- variables */

/* The variable of a parameter's name behind `if x is None: x = ...`, where the argument is None. */
static int replacing(lower *l, int32_t parameter) {
  char name[160];
  snprintf(name, sizeof name, "%.140s anew", l->f->func->locals.data[parameter].name);
  return py__local_named(l, name, true);
}

static bool replaces_none(lower *l, int32_t local, const expr *value) {
  const tt_pfunc *func = l->f->func;
  if (local >= func->nparam || func->locals.data[local].type->tag != TT_T_NONE || value->type->tag == TT_T_NONE)
    return false;
  if (l->f->depth) return false; /* it is one or the other */
  l->f->replaced |= (uint64_t)1 << local;
  return true;
}

int py__local_named(lower *l, const char *name, bool make) {
  tt_pfunc *func = l->f->func;
  char full[160];
  char turn[16] = "";
  for (int k = 0; k < l->f->nturned; k++)
    if (strcmp(l->f->turned[k].name, name) == 0) snprintf(turn, sizeof turn, "~%d", (int)l->f->turned[k].turn);
  if ((size_t)snprintf(full, sizeof full, "%s%s%s", l->f->prefix, name, turn) >= sizeof full)
    py__fail(l, TT_ENOTIMPL, "a name as long as '%.40s...'", name);
  for (int64_t k = 0; k < func->locals.n; k++) {
    if (strcmp(func->locals.data[k].name, full) != 0) continue;
    return k < func->nparam && l->f->replaced >> k & 1 ? replacing(l, (int32_t)k) : (int)k;
  }
  if (!make) return -1;
  char *kept = py__alloc(l, strlen(full) + 1);
  strcpy(kept, full);
  tt_plocal v = {.name = kept, .type = py__unknown(l), .nonneg = true, .limit = 1};
  if (!TT_VEC_PUSH(&func->locals, v)) py__fail(l, TT_ENOMEM, "out of memory");
  return (int)func->locals.n - 1;
}

static void unpack(lower *l, const tt_tree *target, expr *value) {
  int n = target->n - 1;
  if (py__is_unknown(value)) {
    for (int k = 0; k < n; k++) py__assign(l, target->item[k + 1], value);
    return;
  }
  if (value->type->tag == TT_T_ARRAY && value->type->rank == 1) { /* as many elements as names: the user's word */
    value = py__keep(l, py__materialise(l, value));
    for (int k = 0; k < n; k++) {
      expr *at = py__int(l, k);
      py__assign(l, target->item[k + 1], py__keep(l, py__load(l, value, &at, 1)));
    }
    return;
  }
  if (value->type->tag != TT_T_TUPLE) py__fail(l, TT_ETYPE, "cannot unpack %s", py__type_name(l, value->type));
  if (value->type->n != n) py__fail(l, TT_EVALUE, "%d values for %d names", value->type->n, n);
  expr *part[TT_PROGRAM_ARGS]; /* all are read before one is written */
  value = value->op == TT_X_TUPLE ? value : py__keep(l, value);
  for (int k = 0; k < n; k++) {
    expr *e = py__listed(l, py__materialise(l, py__item(l, value, k)));
    part[k] = e;
    if (e->op == TT_X_CONST || e->op == TT_X_LIST || py__is_unknown(e)) continue;
    int32_t temp = py__temp(l, e->type);
    l->f->func->locals.data[temp].nonneg = e->nonneg;
    l->f->func->locals.data[temp].limit = e->limit;
    py__set(l, temp, e);
    part[k] = py__local(l, temp);
  }
  for (int k = 0; k < n; k++) py__assign(l, target->item[k + 1], part[k]);
}

/* The variable of one of a name's marks; the name itself where that is none. */
static const char *marked(lower *l, const tt_tree *t, int number) {
  const char *word = py__word(l, py__at(l, t, 1)), *mark = py__word(l, py__at(l, t, number + 2));
  size_t size = strlen(word) + strlen(mark) + 2;
  char *own = py__alloc(l, size);
  snprintf(own, size, "%s %s", word, mark);
  int k = py__local_named(l, word, false);
  bool apart =
      strcmp(mark, "given") == 0 ? py__local_named(l, own, false) >= 0 : k >= 0 && l->f->func->locals.data[k].several;
  return apart ? own : word;
}

const char *py__variable(lower *l, const tt_tree *t) {
  return t->n > 2 ? marked(l, t, 0) : py__word(l, py__at(l, t, 1));
}

/* record.name = value */
static void assign_field(lower *l, const tt_tree *t, expr *value, const char *op) {
  expr *record = py__value(l, py__at(l, t, 1));
  const char *name = py__word(l, py__at(l, t, 2));
  if (py__is_unknown(record)) return;
  if (py__is_object(record))
    py__set_object_field(l, record, name, value, op);
  else if (py__is_records(record))
    py__fill(l, py__attribute(l, record, name), value, op, false);
  else if (py__is_record(record))
    py__set_field(l, record, name, value, op);
  else
    py__fail(l, TT_ETYPE, "an attribute of %s takes no assignment", py__type_name(l, record->type));
}

void py__assign(lower *l, const tt_tree *target, expr *value) {
  if (!tt__tree_is(target, "n")) value = py__present(l, value);
  if (tt__tree_is(target, "n")) {
    if (py__is_meta(value, "grid")) { /* a name for the grid: nothing to run */
      tt_plocal *v = &l->f->func->locals.data[py__local_named(l, py__word(l, py__at(l, target, 1)), true)];
      if (v->type != value->type) l->f->changed = true;
      v->type = value->type;
      return;
    }
    if (value->type->tag == TT_T_META && value->op != TT_X_STRING)
      py__fail(l, TT_ENOTIMPL, "a variable that holds a %s", value->type->meta);
    const char *word = py__word(l, py__at(l, target, 1)), *own;
    value = py__listed(l, py__materialise(l, value));
    /* First what only some assignments give, then the name, where it meets the values of the others. */
    for (int k = 0; k + 2 < target->n && (own = marked(l, target, k)) != word; k++) {
      int32_t apart = py__local_named(l, own, true);
      py__set(l, apart, value);
      value = py__local(l, apart);
    }
    int32_t local = py__local_named(l, word, true);
    if (replaces_none(l, local, value)) local = py__local_named(l, word, true);
    py__set(l, local, value);
  } else if (tt__tree_is(target, "tup")) {
    unpack(l, target, value);
  } else if (tt__tree_is(target, "idx")) {
    py__assign_index(l, target, value, NULL);
  } else if (tt__tree_is(target, "attr")) {
    assign_field(l, target, value, NULL);
  } else {
    py__fail(l, TT_ENOTIMPL, "an assignment to this");
  }
}

void py__assign_part(lower *l, const tt_tree *target, expr *value, const char *op) {
  if (tt__tree_is(target, "idx"))
    py__assign_index(l, target, value, op);
  else
    assign_field(l, target, value, op);
}

static void augment(lower *l, const tt_tree *t) {
  const char *op = py__word(l, py__at(l, t, 2));
  const tt_tree *target = py__at(l, t, 3);
  if (py__augment_in_order(l, target, py__at(l, t, 4), op)) return;
  if (tt__tree_is(target, "idx")) {
    py__assign_index(l, target, py__value(l, py__at(l, t, 4)), op);
    return;
  }
  if (tt__tree_is(target, "attr")) {
    assign_field(l, target, py__value(l, py__at(l, t, 4)), op);
    return;
  }
  bool apart = t->n > 5; /* the new value is another variable's than the old one */
  expr *old = py__value(l, apart ? t->item[5] : target), *by = py__value(l, py__at(l, t, 4));
  if (old->type->tag == TT_T_LIST && !py__is_text(old) && strcmp(op, "+") == 0) {
    py__list_extend(l, py__keep(l, old), by);
    if (apart) py__assign(l, target, old);
    return;
  }
  if (old->type->tag != TT_T_ARRAY) {
    py__assign(l, target, py__binary(l, op, old, by));
    return;
  }
  py__fill(l, old, by, op, false);
  if (apart) py__assign(l, target, old);
}

/* ---- statements */

static stmt *block_of(lower *l, const tt_tree *list, bool at_end, bool *leaves) {
  block b;
  bool before = l->f->at_end;
  l->f->at_end = before && at_end;
  py__block_begin(l, &b);
  *leaves = py__statements(l, list, 0);
  l->f->at_end = before;
  return py__block_end(l, &b);
}

/* An `if` whose condition is known while compiling is one of its sides. Does that side leave? */
static bool conditional(lower *l, const tt_tree *t) {
  expr *cond = py__truth(l, py__expression(l, py__at(l, t, 2)));
  const tt_tree *body = py__at(l, t, 3), *other = py__at(l, t, 4);
  bool leaves[2] = {false, false};
  if (cond->op == TT_X_CONST && !py__is_unknown(cond)) {
    return py__statements(l, cond->i ? body : other, 0);
  }
  stmt *s = py__stmt(l, TT_X_IF);
  s->a = cond;
  s->body = block_of(l, body, true, &leaves[0]);
  s->other = block_of(l, other, true, &leaves[1]);
  return leaves[0] && leaves[1];
}

/* Has a loop's body a break of its own? */
static bool breaks(const tt_tree *t) {
  if (t->tag != TT_TREE_LIST || tt__tree_is(t, "for") || tt__tree_is(t, "while")) return false;
  if (tt__tree_is(t, "break")) return true;
  for (int k = 0; k < t->n; k++)
    if (breaks(t->item[k])) return true;
  return false;
}

/* Does the flow never come out of the loop? */
static bool loop_while(lower *l, const tt_tree *t) {
  block b;
  py__block_begin(l, &b);
  expr *cond = py__truth(l, py__expression(l, py__at(l, t, 2)));
  bool endless = cond->op == TT_X_CONST && !py__is_unknown(cond) && cond->i && !breaks(py__at(l, t, 3));
  stmt *before = py__block_end(l, &b);
  stmt *s = py__stmt(l, TT_X_WHILE);
  if (l->f->func->kind != TT_X_KERNEL) l->f->func->can_fail = true; /* Ctrl-C ends it */
  s->a = before ? py__bool(l, true) : cond;
  bool at_end = l->f->at_end;
  l->f->at_end = false;
  py__block_begin(l, &b);
  if (before) { /* what the condition needs is computed each time */
    *l->f->tail = before;
    while (before->next) before = before->next;
    l->f->tail = &before->next;
    stmt *leave = py__stmt(l, TT_X_IF);
    block inner;
    leave->a = py__is_unknown(cond) ? cond : py__elem(l, TT_LNOT, cond, NULL);
    py__block_begin(l, &inner);
    py__stmt(l, TT_X_BREAK);
    leave->body = py__block_end(l, &inner);
  }
  py__statements(l, py__at(l, t, 3), 0);
  s->body = py__block_end(l, &b);
  l->f->at_end = at_end;
  return endless;
}

/* return in a function that yields: it is over. */
static void end_generator(lower *l, const tt_tree *t) {
  bool nothing = t->n <= 2 || tt__tree_is(t->item[2], "none");
  if (!nothing) py__fail(l, TT_ENOTIMPL, "return of a value in a generator");
  py__stmt(l, TT_X_RETURN);
}

/* The function gives this; in a pass that is not the last it may learn from it what it gives. */
static void give_value(lower *l, expr *e) {
  frame *f = l->f;
  if (e->type->tag == TT_T_META) py__fail(l, TT_ENOTIMPL, "a result that is a %s", e->type->meta);
  if (f->func->kind == TT_X_KERNEL && !f->inlined && e->type->tag != TT_T_NONE)
    py__fail(l, TT_ETYPE, "a kernel returns nothing; write to an array");
  if (!f->up && py__holds_literal(e->type))
    py__fail(l, TT_ETYPE, "cannot convert native %s to Python: its items have several types; return a tuple",
             py__type_name(l, e->type));
  type *both = py__unify(l, f->result, e->type);
  if (!both)
    py__fail(l, TT_ETYPE, "Cannot unify the results %s and %s", py__type_name(l, f->result), py__type_name(l, e->type));
  if (both != f->result) f->changed = true;
  if (f->final && both->tag == TT_T_LIST && !py__is_complete(both))
    py__fail(l, TT_ETYPE, "nothing tells what the items of the result are, an imprecise type: nothing is put into it");
  f->result = both;
  e = py__convert(l, e, both);
  if (!f->inlined) {
    stmt *s = py__stmt(l, TT_X_RETURN);
    s->a = e->type->tag == TT_T_NONE ? NULL : e;
    if (f->parallel) py__fail(l, TT_ENOTIMPL, "return inside a parallel loop");
    return;
  }
  if (!f->at_end) py__fail(l, TT_ENOTIMPL, "return from the middle of a function with barriers or memory of its own");
  if (e->type->tag == TT_T_NONE || py__is_unknown(e)) return;
  f->func->locals.data[f->result_local].type = both;
  py__set(l, f->result_local, e);
}

static void give(lower *l, const tt_tree *t) {
  if (!l->f->inlined && py__yields(l->f->tree->item[4])) {
    end_generator(l, t);
    return;
  }
  give_value(l, t->n > 2 ? py__listed(l, py__materialise(l, py__expression(l, t->item[2]))) : py__nothing(l));
}

/* What a print statement writes: values and texts, one behind another. */
typedef struct printed {
  expr *part[4 * TT_PROGRAM_ARGS];
  int n;
} printed;

static void print_part(lower *l, printed *p, expr *e) {
  if (p->n == (int)(sizeof p->part / sizeof *p->part))
    py__fail(l, TT_ENOTIMPL, "print of more values than %d", p->n / 2);
  p->part[p->n++] = e;
}

/* A text; two of them are one. */
static void print_text(lower *l, printed *p, const char *text) {
  expr *last = p->n ? p->part[p->n - 1] : NULL;
  if (!last || last->op != TT_X_STRING) {
    expr *word = py__meta(l, "str", text);
    word->op = TT_X_STRING;
    print_part(l, p, word);
    return;
  }
  size_t before = strlen(last->name), size = strlen(text) + 1;
  char *both = py__alloc(l, before + size);
  memcpy(both, last->name, before);
  memcpy(both + before, text, size);
  last->name = both;
}

/* Tuples as Python writes them; how it quotes the strings among their items hangs on what these are. */
static void print_value(lower *l, printed *p, expr *e, bool inside) {
  bool display = py__is_display(e);
  if (e->type->tag == TT_T_ARRAY || (e->type->tag == TT_T_LIST && !py__is_text(e)) || display)
    py__fail(l, TT_ENOTIMPL, "print of %s: print its items", e->type->tag == TT_T_ARRAY ? "an array" : "a list");
  if (e->type->tag == TT_T_TUPLE) {
    if (e->type->meta) py__fail(l, TT_ENOTIMPL, "print of %s: print its items", py__type_name(l, e->type));
    e = py__keep(l, e);
    print_text(l, p, "(");
    for (int k = 0; k < e->type->n; k++) {
      if (k) print_text(l, p, ", ");
      print_value(l, p, py__item(l, e, k), true);
    }
    print_text(l, p, e->type->n == 1 ? ",)" : ")");
    return;
  }
  bool word = e->op == TT_X_STRING && !py__is_text(e);
  if (inside && (word || py__is_text(e)))
    py__fail(l, TT_ENOTIMPL, "print of a string in a tuple: print the tuple's items");
  if (word)
    print_text(l, p, e->name);
  else
    print_part(l, p, e);
}

static void print(lower *l, const tt_tree *t) {
  printed *p = py__alloc(l, sizeof *p);
  p->n = 0;
  for (int k = 2; k < t->n; k++) {
    expr *e = py__materialise(l, py__value(l, t->item[k]));
    if (py__is_bytes(e)) e = py__text_of(l, e);
    if (k > 2) print_text(l, p, " ");
    print_value(l, p, e, false);
  }
  stmt *s = py__stmt(l, TT_X_PRINT);
  l->p->prints = true;
  s->n = p->n;
  s->arg = py__alloc(l, (size_t)(p->n + 1) * sizeof *s->arg);
  memcpy(s->arg, p->part, (size_t)p->n * sizeof *s->arg);
}

/* "ZeroDivisionError" -> the code whose exception it is. */
static tt_code code_of(const char *name) {
  static const struct {
    const char *name;
    tt_code code;
  } rows[] = {{"ValueError", TT_EVALUE},     {"TypeError", TT_ETYPE},
              {"IndexError", TT_EINDEX},     {"OverflowError", TT_EOVERFLOW},
              {"MemoryError", TT_ENOMEM},    {"ZeroDivisionError", TT_EZERODIV},
              {"RuntimeError", TT_EDEVICE},  {"NotImplementedError", TT_ENOTIMPL},
              {"KeyError", TT_X_KEY},        {"AssertionError", TT_X_ASSERTION},
              {"RecursionError", TT_X_DEEP}, {"StopIteration", TT_X_STOP}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (strcmp(rows[k].name, name) == 0) return rows[k].code;
  return TT_EVALUE;
}

/* What the words of a statement from number `at` on say of an exception: a message, which is all that a kernel has of
 * it, its number, and the values that it is made of, which cross as Python writes them. */
static void fail_unless(lower *l, const tt_tree *t, expr *cond, tt_code kind, int at) {
  const char *message = py__word(l, py__at(l, t, at));
  bool kernel = l->f->func->kind == TT_X_KERNEL;
  if (kernel || t->n <= at + 1) {
    py__raise_unless(l, cond, kind, message);
    return;
  }
  kind = (tt_code)(TT_X_RAISED + t->item[at + 1]->i);
  if (t->n == at + 2) {
    py__raise_unless(l, cond, kind, message);
    return;
  }
  block b;
  stmt *s = NULL;
  if (cond) { /* the values are computed where it fails */
    s = py__stmt(l, TT_X_IF);
    s->a = py__is_unknown(cond) ? cond : py__elem(l, TT_LNOT, cond, NULL);
    py__block_begin(l, &b);
  }
  expr *values = py__text_literal(l, t, at + 2);
  py__raise_unless(l, NULL, kind, message);
  l->latest->b = values;
  if (s) s->body = py__block_end(l, &b);
}

/* Is the failure of one of the kinds that words and numbers say? */
static expr *caught(lower *l, const tt_tree *kinds, int32_t kind) {
  expr *any = NULL;
  for (int k = 0; k < kinds->n; k++) {
    const tt_tree *t = kinds->item[k];
    int code = t->tag == TT_TREE_INT ? TT_X_RAISED + (int)t->i : (int)code_of(py__word(l, t));
    expr *same = py__elem(l, TT_EQ, py__local(l, kind), py__cast(l, py__int(l, code), TT_I32));
    if (any) {
      expr *either = py__expr(l, TT_X_ELSE, same->type, 2);
      either->arg[0] = any;
      either->arg[1] = same;
      same = either;
    }
    any = same;
  }
  return any ? any : py__bool(l, false);
}

/* The kinds of the class number k of those that handlers name: (errors (kind ...) ...). */
static const tt_tree *kinds_of(lower *l, int64_t k) {
  for (int i = 0; i < l->module->n; i++)
    if (tt__tree_is(l->module->item[i], "errors")) return py__at(l, l->module->item[i], (int)k + 1);
  py__fail(l, TT_EVALUE, "the program text is malformed");
}

static void raise_again(lower *l) {
  if (!l->f->caught) py__fail(l, TT_ETYPE, "raise without an exception outside of except");
  stmt *s = py__stmt(l, TT_X_RAISE);
  s->k = TT_X_AGAIN;
  s->name = "";
  s->local = l->f->caught - 1;
}

/* (handler class (statement ...)), class -1: all. Those from number k on as an if and its other sides. Do all leave? */
static bool handlers(lower *l, const tt_tree *t, int k, int32_t kind) {
  if (k == t->n) {
    raise_again(l);
    return true;
  }
  const tt_tree *h = t->item[k], *body = py__at(l, h, 2);
  int64_t number = py__at(l, h, 1)->i;
  if (number < 0) return py__statements(l, body, 0);
  expr *cond = caught(l, kinds_of(l, number), kind);
  stmt *s = py__stmt(l, TT_X_IF);
  block b;
  s->a = cond;
  py__block_begin(l, &b);
  bool leaves = py__statements(l, body, 0);
  s->body = py__block_end(l, &b);
  py__block_begin(l, &b);
  leaves &= handlers(l, t, k + 1, kind);
  s->other = py__block_end(l, &b);
  return leaves;
}

/* (try line (statement ...) (handler ...) ...). Does the flow never come out of it? */
static bool attempt(lower *l, const tt_tree *t) {
  if (l->f->func->kind == TT_X_KERNEL) py__fail(l, TT_ENOTIMPL, "try in a kernel");
  block b;
  int32_t kind = py__temp(l, py__scalar(l, TT_I32)), before = l->f->caught;
  l->f->func->locals.data[kind].nonneg = false;
  l->f->func->can_fail = true;
  stmt *s = py__stmt(l, TT_X_TRY);
  s->local = kind;
  l->f->attempts++;
  py__block_begin(l, &b);
  bool leaves = py__statements(l, py__at(l, t, 2), 0);
  s->body = py__block_end(l, &b);
  l->f->caught = kind + 1;
  py__block_begin(l, &b);
  leaves &= handlers(l, t, 3, kind);
  s->other = py__block_end(l, &b);
  l->f->caught = before;
  l->f->attempts--;
  return leaves;
}

/* Does the flow leave the list here, so that what follows is never reached? */
static bool statement(lower *l, const tt_tree *t) {
  const char *w = py__word(l, py__at(l, t, 0));
  l->f->line = (int32_t)py__at(l, t, 1)->i;
  if (strcmp(w, "set") == 0) {
    const tt_tree *target = py__at(l, t, 2);
    py__assign(l, target, py__ahead(l, py__at(l, t, 3), &target, 1));
  } else if (strcmp(w, "aug") == 0) {
    augment(l, t);
  } else if (strcmp(w, "if") == 0) {
    return conditional(l, t);
  } else if (strcmp(w, "while") == 0) {
    return loop_while(l, t);
  } else if (strcmp(w, "for") == 0) {
    py__for(l, t);
  } else if (strcmp(w, "ret") == 0) {
    give(l, t);
    return true;
  } else if (strcmp(w, "yield") == 0) {
    py__yield(l, t);
  } else if (strcmp(w, "break") == 0) {
    py__stmt(l, TT_X_BREAK);
    return true;
  } else if (strcmp(w, "cont") == 0) {
    py__stmt(l, TT_X_CONTINUE);
    return true;
  } else if (strcmp(w, "expr") == 0) {
    expr *e = py__expression(l, py__at(l, t, 2));
    bool idle = e->op == TT_X_CONST || e->op == TT_X_LOCAL || e->op == TT_X_STRING || e->type->tag == TT_T_META;
    if (idle || py__is_unknown(e)) return false;
    py__stmt(l, TT_X_EVAL)->a = e;
  } else if (strcmp(w, "assert") == 0) {
    if (l->f->func->kind == TT_X_KERNEL && !l->options.check) return false;
    fail_unless(l, t, py__truth(l, py__expression(l, py__at(l, t, 2))), TT_X_ASSERTION, 3);
  } else if (strcmp(w, "raise") == 0) {
    if (l->f->func->kind == TT_X_KERNEL && !l->options.check) return false;
    fail_unless(l, t, NULL, code_of(py__word(l, py__at(l, t, 2))), 3);
    return true;
  } else if (strcmp(w, "again") == 0) {
    raise_again(l);
    return true;
  } else if (strcmp(w, "try") == 0) {
    return attempt(l, t);
  } else if (strcmp(w, "del") == 0) {
    py__dict_delete(l, py__at(l, t, 2));
  } else if (strcmp(w, "print") == 0) {
    print(l, t);
  } else if (strcmp(w, "pass") != 0) {
    py__fail(l, TT_ENOTIMPL, "the statement '%s'", w);
  }
  return false;
}

static bool ends_with_return(const tt_tree *list) {
  return list->tag == TT_TREE_LIST && list->n > 0 && tt__tree_is(list->item[list->n - 1], "ret");
}

bool py__statements(lower *l, const tt_tree *list, int from) {
  if (list->tag != TT_TREE_LIST) py__fail(l, TT_EVALUE, "the program text is malformed");
  bool at_end = l->f->at_end, leaves = false;
  for (int k = from; k < list->n && !leaves; k++) {
    const tt_tree *t = list->item[k];
    bool last = k == list->n - 1;
    l->f->at_end = at_end && last;
    /* if c: ...; return x   followed by more: what follows is the other side */
    if (l->f->inlined && !last && tt__tree_is(t, "if") && t->n == 5 && t->item[4]->n == 0 &&
        ends_with_return(t->item[3])) {
      l->f->line = (int32_t)t->item[1]->i;
      stmt *s = py__stmt(l, TT_X_IF);
      block b;
      s->a = py__truth(l, py__value(l, t->item[2]));
      l->f->at_end = at_end;
      s->body = block_of(l, t->item[3], true, &leaves);
      py__block_begin(l, &b);
      leaves &= py__statements(l, list, k + 1);
      s->other = py__block_end(l, &b);
      break;
    }
    leaves = statement(l, t);
  }
  l->f->at_end = at_end;
  return leaves;
}

/* ---- functions */

static const tt_tree *source_tree(lower *l, int32_t source) {
  const tt_tree *m = l->module;
  int seen = 0;
  for (int k = 0; k < m->n; k++)
    if (tt__tree_is(m->item[k], "fn") && seen++ == source) {
      const tt_tree *t = m->item[k];
      bool ok = t->n == 5 && t->item[1]->tag == TT_TREE_STRING && t->item[2]->tag == TT_TREE_INT &&
                t->item[3]->tag == TT_TREE_LIST && t->item[4]->tag == TT_TREE_LIST;
      if (ok) return t;
    }
  py__fail(l, TT_EVALUE, "the program text is malformed");
}

int py__parameters(lower *l, int32_t source) { return source_tree(l, source)->item[3]->n; }

/* Words that are what they are in the kernel itself: barriers, exchanges, and memory that it declares. */
static bool is_of_blocks(const char *word) {
  static const char *const parts[] = {"sync", "activemask", "this_grid", "shared.array", "local.array"};
  bool any = false;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) any |= strstr(word, parts[k]) != NULL;
  return any && strncmp(word, "cuda.", 5) == 0;
}

static bool tree_splits(lower *l, const tt_tree *t) {
  if (t->tag != TT_TREE_LIST) return false;
  if (tt__tree_is(t, "call") && t->n > 1) {
    const tt_tree *callee = t->item[1];
    if (callee->tag == TT_TREE_INT) {
      if (py__splits(l, (int32_t)callee->i)) return true;
    } else if (callee->tag == TT_TREE_STRING || callee->tag == TT_TREE_WORD) {
      if (is_of_blocks(callee->text)) return true;
    }
  }
  for (int k = 0; k < t->n; k++)
    if (tree_splits(l, t->item[k])) return true;
  return false;
}

/* Each function is looked at once: two calls in each of many would be as many ways through them as there are powers of
 * two. Functions that call themselves are refused elsewhere. */
bool py__splits(lower *l, int32_t source) {
  const tt_tree *t = source_tree(l, source);
  if (!l->splits) l->splits = memset(py__alloc(l, (size_t)l->module->n), 0, (size_t)l->module->n);
  if (l->splits[source] == 0) {
    l->splits[source] = -1;
    if (tree_splits(l, t->item[4])) l->splits[source] = 1;
  }
  return l->splits[source] > 0;
}

/*
** A parameter has its argument's type, whatever the function assigns to its name. Where that is of another type, the
** name is a variable beside the parameter from the next pass on, which begins as the argument does.
*/
int32_t py__beside_parameter(lower *l, int32_t local) {
  tt_pfunc *func = l->f->func;
  assert(local < func->nparam);
  const char *name = func->locals.data[local].name;
  size_t size = strlen(name) + sizeof " given";
  char *given = py__alloc(l, size);
  snprintf(given, size, "%s given", name);
  func->locals.data[local].name = given;
  l->f->changed = true;
  int32_t beside = py__local_named(l, name, true);
  func->locals.data[beside].type = func->locals.data[local].type;
  l->f->beside[local] = beside;
  return beside;
}

static void begin_beside_parameters(lower *l, const frame *f) {
  for (int32_t k = 0; k < f->func->nparam; k++)
    if (f->beside[k]) py__set(l, f->beside[k], py__local(l, k));
}

static void reset_pass(frame *f, bool final) {
  f->func->body = NULL;
  f->func->can_fail = false;
  f->tail = &f->func->body;
  f->changed = false;
  f->temps = 0;
  f->parallel = false;
  f->depth = 0;
  f->replaced = 0;
  f->caught = 0;
  f->attempts = 0;
  f->asked = false;
  f->final = final;
  f->line = (int32_t)f->tree->item[2]->i;
}

/* A call of a function that yields gives a generator. */
static void make_generator(lower *l, tt_pfunc *func, bool any) {
  int64_t number = 0;
  if (!any) py__fail(l, TT_ETYPE, "a generator that does not yield any value");
  while (l->p->funcs.data[number] != func) number++;
  func->yields = func->result;
  func->can_fail = true;
  func->result = tt__ptype_generator(l->p, func->yields, number);
  if (!func->result) py__fail(l, TT_ENOMEM, "out of memory");
}

/* Where others give a value, the flow gives None at the end of the body, as Python's does. */
static void fall_off_the_end(lower *l) {
  frame *f = l->f;
  bool gives = f->func->kind == TT_X_FUNCTION && f->result->tag != TT_T_UNKNOWN && f->result->tag != TT_T_NONE;
  if (gives && !py__yields(f->tree->item[4])) give_value(l, py__nothing(l));
}

/* Type the body again and again until nothing new is learnt, then once more to keep. */
static void settle(lower *l, frame *f) {
  bool final = false;
  for (int pass = 0;; pass++) {
    if (pass == MOST_PASSES) {
      const char *says = f->func->recursive ? "Return type of recursive function does not converge: %s()"
                                            : "the types of the variables of %s() do not settle";
      py__fail(l, TT_ETYPE, says, f->func->name);
    }
    reset_pass(f, final);
    begin_beside_parameters(l, f);
    uint64_t writes = f->func->writes;
    bool leaves = py__statements(l, f->tree->item[4], 0);
    if (!leaves) fall_off_the_end(l);
    f->changed |= writes != f->func->writes;
    if (!f->changed && f->asked && f->result->tag == TT_T_UNKNOWN) { /* nothing else says what it gives */
      if (leaves && f->open == f->deep)
        py__fail(l, TT_ETYPE, "cannot type infer runaway recursion: each way through %s() ends in a call of itself",
                 f->func->name);
      f->result = py__none(l);
      f->changed = true;
    }
    if (final && !f->changed) break;
    final = !f->changed;
  }
  /* What a function around says later, by a way of its own, stays open. */
  bool open = f->open < f->deep && f->result->tag == TT_T_UNKNOWN;
  f->func->result = f->result->tag == TT_T_UNKNOWN && !open ? py__none(l) : f->result;
  if (py__yields(f->tree->item[4])) make_generator(l, f->func, f->result->tag != TT_T_UNKNOWN);
}

static frame frame_of(lower *l, tt_pfunc *func, type *result) {
  const tt_tree *tree = source_tree(l, func->source);
  frame f = {.up = l->f,
             .func = func,
             .tree = tree,
             .source = func->source,
             .prefix = "",
             .result = result,
             .result_local = -1,
             .line = (int32_t)tree->item[2]->i,
             .deep = l->f ? l->f->deep + 1 : 1};
  f.open = f.deep;
  if (f.deep > DEEPEST_CALL) py__fail(l, TT_ENOTIMPL, "calls nested deeper than %d", DEEPEST_CALL);
  return f;
}

/* The function of instance number `at` was typed: what leaned on results that were not known leans on them no more,
 * unless an outer function is still being typed. */
static void note_typed(lower *l, int64_t at, const frame *f) {
  instance *i = &l->instances.data[at];
  i->typing = false;
  i->open = f->open < f->deep ? f->open : 0;
  if (l->f && i->open && i->open < l->f->open) l->f->open = i->open;
  for (int64_t k = 0; k < l->instances.n && !i->open; k++)
    if (l->instances.data[k].open >= f->deep) l->instances.data[k].open = 0;
}

/* Once more, with what is known of the functions around by now; its variables' types only grow. */
static void type_again(lower *l, int64_t at) {
  tt_pfunc *func = l->p->funcs.data[l->instances.data[at].func];
  type *before = func->yields ? func->yields : func->result;
  bool nothing = before->tag == TT_T_NONE;
  frame f = frame_of(l, func, nothing ? py__unknown(l) : before), *caller = l->f;
  l->instances.data[at].typing = true;
  l->f = &f;
  settle(l, &f);
  l->f = caller;
  note_typed(l, at, &f);
}

/* `at`: its instance, or -1. */
static tt_pfunc *make_function(lower *l, int32_t source, type *const *arg, int n, tt_pkind kind, int64_t at_instance) {
  const tt_tree *tree = source_tree(l, source), *params = tree->item[3];
  tt_pfunc *func = py__alloc(l, sizeof *func);
  if (!TT_VEC_PUSH(&l->p->funcs, func)) py__fail(l, TT_ENOMEM, "out of memory");
  if (at_instance >= 0) l->instances.data[at_instance].func = (int32_t)l->p->funcs.n - 1;
  func->name = tree->item[1]->text;
  func->source = source;
  func->kind = (uint8_t)kind;
  func->nparam = n;
  frame f = frame_of(l, func, py__unknown(l)), *caller = l->f;
  l->f = &f;
  if (params->n != n) py__fail(l, TT_ETYPE, "%s() takes %d arguments but %d were given", func->name, params->n, n);
  for (int k = 0; k < n; k++) {
    int at = py__local_named(l, py__word(l, params->item[k]), true);
    if (at != k) py__fail(l, TT_EVALUE, "the program text is malformed");
    tt_plocal *v = &func->locals.data[k];
    if (kind == TT_X_KERNEL && arg[k]->tag == TT_T_LIST && arg[k]->layout == 'w')
      py__fail(l, TT_ETYPE, "a kernel takes numbers, tuples and arrays, not 'str'");
    if (kind == TT_X_KERNEL && arg[k]->tag == TT_T_LIST) py__fail(l, TT_ENOTIMPL, "a list in a kernel: pass an array");
    v->type = arg[k];
    v->nonneg = arg[k]->tag == TT_T_SCALAR && tt__is_unsigned((tt_dtype)arg[k]->dtype);
    v->limit = 0;
    v->from = (uint64_t)1 << k;
    v->space = 2;
  }
  settle(l, &f);
  l->f = caller;
  if (at_instance >= 0) note_typed(l, at_instance, &f);
  return func;
}

/*
** What a call of a function gives that is still being typed: its result as far as it is known. Functions between it and
** this one lean on that, and are typed again until it stands still.
*/
static type *result_so_far(lower *l, tt_pfunc *callee) {
  frame *f = l->f;
  if (py__yields(source_tree(l, callee->source)->item[4]))
    py__fail(l, TT_ENOTIMPL, "a generator that calls itself: %s()", callee->name);
  while (f->func != callee) f = f->up;
  for (frame *k = l->f; k != f; k = k->up)
    if (f->deep < k->open) k->open = f->deep;
  callee->recursive = callee->can_fail = true;
  f->asked |= f->result->tag == TT_T_UNKNOWN;
  return f->result;
}

static expr *call_inlined(lower *l, int32_t source, expr *const *arg, int n) {
  const tt_tree *tree = source_tree(l, source), *params = tree->item[3];
  frame *caller = l->f;
  int depth = 0;
  for (frame *f = caller; f; f = f->up) {
    if (f->source == source) py__fail(l, TT_ENOTIMPL, "recursion: %s() calls itself", tree->item[1]->text);
    if (++depth > DEEPEST_CALL) py__fail(l, TT_ENOTIMPL, "calls nested deeper than %d", DEEPEST_CALL);
  }
  if (params->n != n)
    py__fail(l, TT_ETYPE, "%s() takes %d arguments but %d were given", tree->item[1]->text, params->n, n);
  frame f = *caller;
  char *prefix = py__alloc(l, 160);
  snprintf(prefix, 160, "%s%.40s@%d.", caller->prefix, tree->item[1]->text, (int)caller->temps++);
  f.up = caller;
  f.tree = tree;
  f.source = source;
  f.prefix = prefix;
  f.inlined = f.at_end = true;
  f.temps = 0;
  f.changed = false;
  l->f = &f;
  f.result_local = py__local_named(l, "$result", true);
  f.result = f.func->locals.data[f.result_local].type; /* what earlier passes learnt */
  for (int k = 0; k < n; k++) py__set(l, py__local_named(l, py__word(l, params->item[k]), true), arg[k]);
  py__statements(l, tree->item[4], 0);
  type *result = f.result;
  int32_t local = f.result_local;
  l->f = caller;
  caller->changed |= f.changed;
  caller->tail = f.tail;
  if (result->tag == TT_T_UNKNOWN) return caller->final ? py__nothing(l) : py__missing(l);
  return result->tag == TT_T_NONE ? py__nothing(l) : py__local(l, local);
}

expr *py__call_user(lower *l, int32_t source, expr *const *arg, int n) {
  type *types[TT_PROGRAM_ARGS];
  if (n > TT_PROGRAM_ARGS) py__fail(l, TT_ENOTIMPL, "more than %d arguments", TT_PROGRAM_ARGS);
  for (int k = 0; k < n; k++) {
    if (!py__is_complete(arg[k]->type)) return py__missing(l);
    types[k] = arg[k]->type;
  }
  if (py__splits(l, source)) return call_inlined(l, source, arg, n);
  int64_t at = -1;
  for (int64_t k = 0; k < l->instances.n && at < 0; k++) {
    instance *i = &l->instances.data[k];
    if (i->source == source && i->n == n && memcmp(i->arg, types, (size_t)n * sizeof *types) == 0) at = k;
  }
  if (at < 0) {
    instance fresh = {.source = source, .n = n, .func = -1, .typing = true};
    type **kept = py__alloc(l, (size_t)n * sizeof *kept);
    memcpy(kept, types, (size_t)n * sizeof *kept);
    fresh.arg = kept;
    at = l->instances.n;
    if (!TT_VEC_PUSH(&l->instances, fresh)) py__fail(l, TT_ENOMEM, "out of memory");
    make_function(l, source, types, n, TT_X_FUNCTION, at);
  } else if (l->instances.data[at].open && !l->instances.data[at].typing) {
    type_again(l, at);
  }
  int32_t func = l->instances.data[at].func;
  tt_pfunc *callee = l->p->funcs.data[func];
  type *result = l->instances.data[at].typing ? result_so_far(l, callee) : callee->result;
  if (result->tag == TT_T_UNKNOWN) return py__missing(l);
  l->f->func->can_fail |= callee->can_fail;
  l->f->func->place |= callee->place;
  for (int k = 0; k < n; k++)
    if (callee->writes >> k & 1) py__wrote(l, arg[k]);
  expr *e = py__expr(l, TT_X_CALL, result, n);
  e->k = func;
  bool lists = false;
  for (int k = 0; k < n; k++) {
    e->arg[k] = arg[k];
    lists |= arg[k]->type->tag == TT_T_LIST;
  }
  return lists && e->type->tag != TT_T_NONE ? py__keep(l, e) : e; /* before what it changes is read */
}

void py__changed(lower *l, const expr *value) { l->f->func->writes |= py__origin(l, value); }

void py__wrote(lower *l, const expr *array) {
  if (array->type->readonly) py__fail(l, TT_ETYPE, "the array is read-only");
  py__changed(l, array);
}

/* Which statements hold barriers; bottom up. */
static bool mark_splits(stmt *s) {
  bool any = false;
  for (; s; s = s->next) {
    bool inner = mark_splits(s->body);
    inner |= mark_splits(s->other);
    s->splits = inner || s->op == TT_X_BARRIER || s->op == TT_X_COLLECTIVE;
    any |= s->splits;
  }
  return any;
}

static void lower_module(lower *l, const char *signature) {
  type *arg[TT_PROGRAM_ARGS], *hidden[TT_PROGRAM_ARGS];
  const char *rest;
  if (!tt__tree_is(l->module, "module")) py__fail(l, TT_EVALUE, "the program text is malformed");
  for (int k = 0; k < l->module->n; k++)
    if (tt__tree_is(l->module->item[k], "file")) l->file = py__word(l, py__at(l, l->module->item[k], 1));
  int n = py__signature(l, signature, arg, TT_PROGRAM_ARGS, &rest);
  int m = py__signature(l, rest, hidden, TT_PROGRAM_ARGS, &rest);
  for (int k = 0; k < m; k++)
    if (!TT_VEC_PUSH(&l->p->globals, hidden[k])) py__fail(l, TT_ENOMEM, "out of memory");
  /* The entry calls itself through an instance as any other function; a kernel is called by nobody. */
  instance first = {.n = n, .arg = arg, .func = -1, .typing = true};
  if (!TT_VEC_PUSH(&l->instances, first)) py__fail(l, TT_ENOMEM, "out of memory");
  l->p->entry = make_function(l, 0, arg, n, l->options.kernel ? TT_X_KERNEL : TT_X_FUNCTION, 0);
  for (int64_t k = 0; k < l->p->funcs.n; k++) {
    tt_pfunc *f = l->p->funcs.data[k];
    f->splits = mark_splits(f->body);
  }
}

tt_code tt__py_lower(const char *text, size_t size, const char *signature, const tt_py_options *options, tt_proc *out,
                     tt_error *err) {
  assert(options && out);
  tt_error local;
  lower l = {.p = out, .options = *options, .err = err ? err : &local, .file = "?"};
  tt_tree *module;
  memset(out, 0, sizeof *out);
  out->bounds = options->bounds;
  tt_code c = tt__tree_parse(text, size, &out->arena, &module, l.err);
  if (c == TT_OK) {
    l.module = module;
    if (setjmp(l.out) == 0)
      lower_module(&l, signature);
    else
      c = l.code;
  }
  TT_VEC_FREE(&l.instances);
  if (c != TT_OK) tt__program_free(out);
  return c;
}
