/*
** The walk back: entries that lead from outputs to inputs, the youngest first, each with the sum of the cotangents that
** reached it. What it records is ordinary work; nothing is evaluated here, but for values of the last step that are
** still pending (see settle).
*/
#include "fn/grad/backward.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fn/grad/keep.h"
#include "fn/grad/rules.h"
#include "graph/session.h"

enum { FEW_ENTRIES = 32 }; /* of a small step: no memory need be asked for */

typedef struct walk {
  tt_composer c;
  TT_VEC_FEW(tt_tape *, FEW_ENTRIES) entry; /* held; `slot` says where */
  TT_VEC_FEW(tt_tape *, FEW_ENTRIES) stack;
  TT_VEC_FEW(uint8_t, FEW_ENTRIES) needed;
  TT_VEC_FEW(tt_array *, FEW_ENTRIES) sum;  /* cotangents so far: held by the calculation */
  TT_VEC_FEW(tt_array *, FEW_ENTRIES) many; /* of entries with several results: theirs, from slot `first` on */
  TT_VEC_FEW(int64_t, FEW_ENTRIES) first;
  TT_VEC_FEW(tt_tape *, 4) root; /* in `entry` */
  uint32_t stamp;
  bool taped, retain;
} walk;

bool tt__grad_anomaly;
static uint32_t latest; /* the stamp of the walk whose marks entries carry now; under the session lock */

/* ---- what is reached */

static bool reach(walk *w, tt_tape *t) {
  if (!t || t->mark == w->stamp) return true;
  t->mark = w->stamp;
  if (!TT_VEC_FEW_PUSH(&w->entry, t)) return false;
  tt__tape_retain(t);
  return TT_VEC_FEW_PUSH(&w->stack, t);
}

static bool collect(walk *w) {
  while (w->stack.n) {
    tt_tape *t = w->stack.data[--w->stack.n];
    for (int k = 0; k < t->n; k++)
      if (!reach(w, t->parent[k])) return false;
  }
  return true;
}

static int by_serial(const void *a, const void *b) {
  uint64_t x = (*(tt_tape *const *)a)->serial, y = (*(tt_tape *const *)b)->serial;
  return (x > y) - (x < y);
}

/* Leaves have no operands, and may be much older than what is made of them: they come first. Gives their number. */
static int64_t leaves_first(tt_tape **entry, int64_t n) {
  int64_t leaves = 0;
  for (int64_t k = 0; k < n; k++) {
    tt_tape *t = entry[k];
    if (t->op != TT_TAPE_LEAF) continue;
    entry[k] = entry[leaves];
    entry[leaves++] = t;
  }
  return leaves;
}

/*
** The other entries of a step have numbers that lie close together: each goes to the place that its number is, and the
** gaps are closed. False: they are few or far apart, or there is no room.
*/
static bool sort_by_place(tt_tape **entry, int64_t n) {
  enum { WIDEST = 4 };
  uint64_t least = UINT64_MAX, most = 0;
  for (int64_t k = 0; k < n; k++) {
    if (entry[k]->serial < least) least = entry[k]->serial;
    if (entry[k]->serial > most) most = entry[k]->serial;
  }
  if (n <= FEW_ENTRIES || most - least >= WIDEST * (uint64_t)n) return false;
  size_t size = sizeof *entry * (size_t)(most - least + 1);
  tt_tape **place = tt__mem_zalloc(size);
  if (!place) return false;
  for (int64_t k = 0; k < n; k++) place[entry[k]->serial - least] = entry[k];
  int64_t have = 0;
  for (uint64_t k = 0; k <= most - least; k++)
    if (place[k]) entry[have++] = place[k];
  assert(have == n); /* no number is given twice */
  tt__mem_free(place, size);
  return true;
}

static void sort(tt_tape **entry, int64_t n) {
  if (n > 1 && !sort_by_place(entry, n)) qsort(entry, (size_t)n, sizeof *entry, by_serial);
}

/* Oldest first: operands before what is made of them. */
static bool order(walk *w) {
  int64_t many = 0, leaves = leaves_first(w->entry.data, w->entry.n);
  sort(w->entry.data, leaves);
  sort(w->entry.data + leaves, w->entry.n - leaves);
  for (int64_t k = 0; k < w->entry.n; k++) {
    w->entry.data[k]->slot = (int32_t)k;
    if (!TT_VEC_FEW_PUSH(&w->needed, 0) || !TT_VEC_FEW_PUSH(&w->sum, NULL) || !TT_VEC_FEW_PUSH(&w->first, many))
      return false;
    for (int i = 0; i < w->entry.data[k]->nresult; i++, many++)
      if (!TT_VEC_FEW_PUSH(&w->many, NULL)) return false;
  }
  return true;
}

/* Functions and hooks of users may walk over the same entries, and so may other threads while the lock is not ours. */
static void take_marks(walk *w) {
  if (latest == w->stamp) return;
  w->stamp = latest = tt__session_stamp();
  for (int64_t k = 0; k < w->entry.n; k++) {
    w->entry.data[k]->mark = w->stamp;
    w->entry.data[k]->slot = (int32_t)k;
  }
}

static bool is_in(const walk *w, const tt_tape *t) { return t && t->mark == w->stamp; }

enum { ON_THE_WAY = 1, INPUT };

/* Entries on a way to an input; without inputs, to a leaf or to what keeps its gradient. */
static void mark_needed(walk *w, const tt_walk_back *b) {
  for (int k = 0; k < b->ninput; k++) {
    tt_tape *t = b->input[k]->storage->node->tape;
    if (is_in(w, t)) w->needed.data[t->slot] = INPUT;
  }
  for (int64_t k = 0; k < w->entry.n; k++) {
    tt_tape *t = w->entry.data[k];
    if (w->needed.data[k]) continue;
    bool way = !b->ninput && (t->op == TT_TAPE_LEAF || t->keeps_grad);
    for (int i = 0; i < t->n; i++) way |= t->parent[i] && w->needed.data[t->parent[i]->slot];
    w->needed.data[k] = way ? ON_THE_WAY : 0;
  }
}

/* ---- cotangents */

/* In the type of the value: of complex ones a real operand has the real part. */
static tt_array *typed(walk *w, tt_array *g, const tt_tape *of) {
  tt_dtype to = (tt_dtype)of->dtype;
  if (g->dtype == to) return g;
  if (tt__is_complex((tt_dtype)g->dtype) && !tt__is_complex(to)) g = tt__compose_op1(&w->c, TT_REAL, g);
  return g ? tt__compose_cast(&w->c, g, to) : NULL;
}

/* Where the value is, if that was said: it came from there. What is made of constants alone goes there for leaves only,
 * whose gradients are evaluated together. */
static tt_array *placed(walk *w, tt_array *g, const tt_tape *of) {
  bool is_leaf = of->op == TT_TAPE_LEAF && of->storage;
  int here = g->storage->node->device, there = is_leaf ? of->storage->node->device : of->device;
  tt_array *out = NULL;
  if (there < 0 || here == there || (here < 0 && !is_leaf)) return g;
  return tt__compose_keep(&w->c, tt__array_to(g, there, &out, w->c.err), &out);
}

static bool give(walk *w, tt_tape *to, tt_array *g) {
  if (!(g = typed(w, g, to)) || !(g = placed(w, g, to))) return false;
  assert(g->rank == to->rank && tt__shape_same(to->rank, g->dim, to->dim));
  tt_array **sum = &w->sum.data[to->slot];
  *sum = *sum ? tt__compose_op2(&w->c, TT_ADD, *sum, g) : g;
  return *sum != NULL;
}

static bool call_hooks(walk *w, tt_tape *t, tt_array **g) {
  for (tt_tape_hook *h = t->hook, *next; h; h = next) {
    tt_array *other = NULL, *seen = tt__array_retain(*g);
    tt_buffer *owner = tt__buffer_retain(h->owner);
    int depth = tt__session_suspend();
    tt_code code = h->call(h->ctx, seen, &other, w->c.err);
    tt__session_resume(depth);
    next = h->next; /* a hook may remove itself, not others */
    tt__buffer_release(owner);
    tt__array_release(seen);
    if (code != TT_OK) return w->c.code = code, false;
    if (!other) continue;
    *g = tt__compose_keep(&w->c, TT_OK, &other);
    bool fits = *g && (*g)->rank == t->rank && tt__shape_same(t->rank, (*g)->dim, t->dim);
    if (!fits) return tt__compose_fail(&w->c, TT_EGRAD, "a hook has changed the size of value"), false;
    if (!(*g = typed(w, *g, t))) return false;
  }
  return true;
}

/* Gradients of computed arrays are computed at once: pending they would read, and so hold, what holds them. */
static bool settle_kept(walk *w) {
  for (int64_t k = 0; k < w->entry.n; k++) {
    tt_tape *t = w->entry.data[k];
    if (!t->keeps_grad || !t->grad || w->taped) continue;
    if ((w->c.code = tt__evaluate(&t->grad->storage->node, 1, w->c.err)) != TT_OK) return false;
  }
  return true;
}

/* Add to what was summed up before. An array that somebody looks at is written, unless it is to be followed. */
static bool add_grad(walk *w, tt_tape *t, tt_array *g) {
  if (t->grad && w->taped) {
    tt_array *sum = tt__compose_op2(&w->c, TT_ADD, t->grad, g);
    if (!sum) return false;
    tt__array_release(t->grad);
    t->grad = tt__array_retain(sum);
    return true;
  }
  if (t->grad) return tt__compose_set(&w->c, t->grad, tt_v_array(tt__compose_op2(&w->c, TT_ADD, t->grad, g)));
  tt_node *n = tt__compose_node(&w->c, g);
  t->grad = n ? tt__array_of(n, w->c.err) : NULL; /* a storage of its own */
  tt__node_release(n);
  if (!t->grad) w->c.code = TT_ENOMEM;
  return t->grad != NULL;
}

/* ---- one entry */

tt_array *tt__rule_operand(const tt_rule *r, int k) {
  tt_node *n = r->t->src[k];
  assert(n);
  return tt__compose_of_node(r->c, r->t->op == TT_N_LIB ? tt__keep_or_recompute(n, r->c->err) : tt__node_retain(n));
}

tt_array *tt__rule_result(const tt_rule *r) {
  assert(r->t->result);
  return tt__compose_of_node(r->c, tt__node_retain(r->t->result));
}

tt_array *tt__rule_pick(const tt_rule *r, int k) {
  tt_tape *t = k < r->t->nresult ? r->t->pick[k] : NULL;
  return t && t->result ? tt__compose_of_node(r->c, tt__node_retain(t->result)) : NULL;
}

static tt_code fail_spent(walk *w) {
  tt__compose_fail(&w->c, TT_EGRAD,
                   "Trying to backward through the graph a second time (or directly access saved tensors after they "
                   "have already been freed). Saved intermediate values of the graph are freed when you call "
                   ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
                   "graph a second time or if you need to access saved tensors after calling backward.");
  return w->c.code;
}

static void run_function(const tt_rule *r) {
  tt_tape_function *f = &r->t->attr.function;
  tt_buffer *owner = tt__buffer_retain(f->owner);
  int depth = tt__session_suspend();
  tt_code code = f->backward(f->ctx, r->g, r->t->nresult, r->out, r->t->n, r->c->err);
  tt__session_resume(depth);
  tt__buffer_release(owner);
  if (code != TT_OK) r->c->code = code;
  for (int k = 0; k < r->t->n; k++)
    if (r->out[k]) r->out[k] = tt__compose_keep(r->c, TT_OK, &r->out[k]);
  for (int k = 0; k < r->t->n && r->c->code == TT_OK; k++) {
    const tt_tape *to = r->t->parent[k];
    if (!to || !r->out[k]) continue;
    char got[256], want[256];
    if (r->out[k]->rank == to->rank && tt__shape_same(to->rank, r->out[k]->dim, to->dim)) continue;
    tt__shape_tuple(r->out[k]->rank, r->out[k]->dim, got, sizeof got);
    tt__shape_tuple(to->rank, to->dim, want, sizeof want);
    tt__compose_fail(r->c, TT_EGRAD,
                     "Function returned an invalid gradient at index %d - got %s but expected shape compatible with %s",
                     k, got, want);
  }
}

/* The same elements; or none of them, and then their cotangents are 0. */
static void run_same(const tt_rule *r) {
  const tt_tape *of = r->t->parent[0];
  bool same = of->rank == r->t->rank && tt__shape_same(of->rank, of->dim, r->t->dim);
  r->out[0] = same ? r->g[0] : tt__rule_zeros(r->c, (tt_dtype)of->dtype, of->rank, of->dim, of->device);
}

static void run_rule(const tt_rule *r) {
  if (r->t->op < TT_OP_COUNT)
    tt__rule_op(r);
  else if (r->t->op == TT_N_LIB || r->t->op == TT_TAPE_MADE)
    tt__rule_library(r);
  else if (r->t->op == TT_TAPE_FUNCTION)
    run_function(r);
  else if (r->t->op == TT_TAPE_SAME)
    run_same(r);
  else if (r->t->op == TT_N_CALL)
    tt__compose_fail(r->c, TT_ENOTIMPL, "a kernel has no derivative: wrap it in a Function with a backward of its own");
  else
    tt__rule_structure(r);
}

/* NaN in what an entry gave: the error names the line that recorded it. */
static bool check_anomaly(walk *w, const tt_tape *t, tt_array *const *out) {
  char line[200];
  for (int k = 0; k < t->n && tt__grad_anomaly; k++) {
    if (!out[k] || !t->parent[k]) continue;
    tt_array *nan = tt__compose_op1(&w->c, TT_ISNAN, out[k]);
    if (nan && nan->rank) nan = tt__compose_reduce(&w->c, TT_RED_ANY, nan, ~UINT64_C(0) >> (64 - nan->rank), false);
    const bool *any = nan ? tt__compose_peek(&w->c, nan) : NULL;
    if (!any) return false;
    if (!*any) continue;
    tt__session_line_name(t->line, line, sizeof line);
    tt__compose_fail(&w->c, TT_EGRAD, "Function '%s' returned nan values in its %dth output%s%s",
                     t->op < TT_OP_COUNT ? tt__op_word(t->op)
                     : t->op == TT_N_LIB ? t->attr.lib->row->name
                                         : "backward",
                     k, *line ? ", recorded at " : "", line);
    return false;
  }
  return true;
}

/* The cotangent of one result goes to the entry of all. */
static bool hand_on(walk *w, tt_tape *t, tt_array *g) {
  tt_tape *of = t->parent[0];
  w->many.data[w->first.data[of->slot] + t->attr.pick] = g;
  if (!w->sum.data[of->slot]) w->sum.data[of->slot] = g; /* it has been reached */
  return true;
}

static bool step_back(walk *w, tt_tape *t, tt_array *g) {
  tt_array *room[8] = {NULL}, **out = room;
  if (t->spent) return fail_spent(w) == TT_OK;
  if (t->op == TT_N_PICK) return hand_on(w, t, g);
  if (t->n > 8 && !(out = tt__compose_scratch(&w->c, t->n, sizeof *out))) return false;
  tt_array *none = NULL;
  tt_rule r = {.c = &w->c, .t = t, .taped = w->taped, .g = &g, .sum = &none, .out = out};
  if (t->n && t->parent[0]) r.sum = &w->sum.data[t->parent[0]->slot];
  if (t->nresult) r.g = &w->many.data[w->first.data[t->slot]];
  run_rule(&r);
  if (w->c.code != TT_OK || !check_anomaly(w, t, out)) return false;
  take_marks(w);
  for (int k = 0; k < t->n; k++)
    if (out[k] && t->parent[k] && w->needed.data[t->parent[k]->slot] && !give(w, t->parent[k], out[k])) return false;
  if (!w->retain) tt__tape_spend(t);
  return true;
}

/* ---- the whole */

/* Start with what the caller gives, or 1. */
static bool seed(walk *w, tt_tape *root, tt_array *output, tt_array *gradient, int k) {
  if (!gradient && output->size != 1)
    return tt__compose_fail(&w->c, TT_EGRAD, "grad can be implicitly created only for scalar outputs"), false;
  if (!gradient && tt__is_complex((tt_dtype)output->dtype))
    return tt__compose_fail(&w->c, TT_EGRAD, "grad can be implicitly created only for real scalar outputs but got %s",
                            tt__dtypes[output->dtype].name),
           false;
  if (!gradient)
    gradient = tt__compose_full(&w->c, (tt_dtype)output->dtype, output->rank, tt__array_len(output), tt_v_int(1));
  if (!gradient) return false;
  if (gradient->rank != output->rank || !tt__shape_same(output->rank, gradient->dim, output->dim)) {
    char have[256], want[256];
    tt__shape_tuple(gradient->rank, gradient->dim, have, sizeof have);
    tt__shape_tuple(output->rank, output->dim, want, sizeof want);
    return tt__compose_fail(&w->c, TT_EGRAD,
                            "Mismatch in shape: grad_output[%d] has a shape of %s and output[%d] has a shape of %s.", k,
                            have, k, want),
           false;
  }
  tt_array *whole = tt__compose_of_node(&w->c, tt__array_node(gradient, w->c.err));
  return whole && give(w, root, whole);
}

/* The entry of an array's elements: of its storage's value, or of the view of that. */
static tt_tape *entry_of(walk *w, tt_array *a) {
  bool before = tt__session_tape;
  tt__session_tape = true; /* whoever asks for gradients means those of what was recorded */
  tt_node *n = tt__array_node(a, w->c.err);
  tt__session_tape = before;
  tt_array *held = tt__compose_of_node(&w->c, n); /* the view lives as long as the walk */
  return held ? held->storage->node->tape : NULL;
}

static bool start(walk *w, const tt_walk_back *b) {
  w->stamp = latest = tt__session_stamp();
  for (int k = 0; k < b->n; k++) {
    tt_tape *root = entry_of(w, b->output[k]);
    if (w->c.code != TT_OK) return false;
    if (!root)
      return tt__compose_fail(&w->c, TT_EGRAD,
                              "element %d of tensors does not require grad and does not have a grad_fn", k),
             false;
    if (!reach(w, root) || !TT_VEC_FEW_PUSH(&w->root, root))
      return tt__compose_fail(&w->c, TT_ENOMEM, "out of memory"), false;
  }
  take_marks(w); /* evaluations above may have let others walk */
  if (!collect(w) || !order(w)) return tt__compose_fail(&w->c, TT_ENOMEM, "out of memory"), false;
  mark_needed(w, b);
  for (int k = 0; k < b->n; k++)
    if (!seed(w, w->root.data[k], b->output[k], b->gradient ? b->gradient[k] : NULL, k)) return false;
  for (int k = 0; k < b->n; k++) tt__tape_output(b->output[k]->storage->node);
  return true;
}

static bool takes_grad(const tt_tape *t, const tt_walk_back *b) {
  if (t->op == TT_TAPE_LEAF) return t->storage != NULL; /* else nobody can ask for it */
  return t->keeps_grad || b->ninput;
}

static bool run(walk *w, const tt_walk_back *b) {
  for (int64_t k = w->entry.n - 1; k >= 0; k--) {
    tt_tape *t = w->entry.data[k];
    tt_array *g = w->sum.data[k];
    if (!w->needed.data[k]) continue;
    if (!g && (t->op == TT_TAPE_LEAF || w->needed.data[k] == INPUT) && !t->nresult) { /* reached, with no slope */
      g = tt__rule_zeros(&w->c, (tt_dtype)t->dtype, t->rank, t->dim, t->device);
      if (!g) return false;
    }
    if (!g) continue;
    if (t->hook && !t->nresult && !call_hooks(w, t, &g)) return false;
    take_marks(w);
    w->sum.data[k] = g;
    bool asked = b->out == NULL && (b->ninput == 0 || w->needed.data[k] == INPUT);
    if (asked && !t->nresult && takes_grad(t, b) && !add_grad(w, t, g)) return false;
    if (t->op != TT_TAPE_LEAF && !step_back(w, t, g)) return false;
  }
  return true;
}

/* What each input has got, in its own shape: inputs are views of what has an entry. */
static bool give_out(walk *w, const tt_walk_back *b) {
  take_marks(w);
  for (int k = 0; b->out && k < b->ninput; k++) {
    tt_array *a = b->input[k];
    tt_tape *t = a->storage->node->tape;
    tt_array *g = is_in(w, t) ? w->sum.data[t->slot] : NULL;
    if (!g && !(b->flags & TT_GRAD_UNUSED))
      return tt__compose_fail(&w->c, TT_EGRAD,
                              "One of the differentiated Tensors appears to not have been used in the graph. Set "
                              "allow_unused=True if this is the desired behavior."),
             false;
    if (!g) continue;
    g = tt__compose_of_node(&w->c, tt__array_node(g, w->c.err));
    g = g ? tt__compose_view(&w->c, g, a->rank, tt__array_len(a), tt__array_step(a), a->off) : NULL;
    if (!g) return false;
    b->out[k] = tt__array_retain(g);
  }
  return true;
}

static bool check_inputs(walk *w, const tt_walk_back *b) {
  for (int k = 0; k < b->ninput; k++)
    if (!b->input[k]->storage->node->tape)
      return tt__compose_fail(&w->c, TT_EGRAD, "One of the differentiated Tensors does not require grad"), false;
  return true;
}

tt_code tt__walk_back(const tt_walk_back *b, tt_error *err) {
  walk w = {.c = {.err = err}, .taped = b->flags & TT_GRAD_CREATE};
  bool before = tt__session_tape;
  w.retain = w.taped || b->flags & TT_GRAD_RETAIN;
  tt_code code = tt__tape_settle(err);
  tt__session_tape = w.taped;
  bool done = code == TT_OK && check_inputs(&w, b) && start(&w, b) && run(&w, b) && give_out(&w, b) && settle_kept(&w);
  tt__session_tape = before;
  if (!done && w.c.code == TT_OK) w.c.code = code != TT_OK ? code : TT_ENOMEM;
  for (int k = 0; b->out && !done && k < b->ninput; k++) {
    tt__array_release(b->out[k]);
    b->out[k] = NULL;
  }
  for (int64_t k = 0; k < w.entry.n; k++) tt__tape_release(w.entry.data[k]);
  code = w.c.code;
  tt__compose_end(&w.c);
  TT_VEC_FEW_FREE(&w.entry);
  TT_VEC_FEW_FREE(&w.stack);
  TT_VEC_FEW_FREE(&w.needed);
  TT_VEC_FEW_FREE(&w.sum);
  TT_VEC_FEW_FREE(&w.many);
  TT_VEC_FEW_FREE(&w.first);
  TT_VEC_FEW_FREE(&w.root);
  return code;
}
