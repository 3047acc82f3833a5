/*
** Entries of the tape: birth, what they keep, death; see tape.h. It must not know derivatives.
*/
#include "graph/tape.h"

#include <assert.h>
#include <string.h>

#include "graph/eager/block.h"
#include "base/mem.h"
#include "base/vec.h"
#include "graph/slab.h"
#include "ir/user/call.h"
#include "ir/grad.h"

/* A leaf of one number everywhere gets memory of its own at once, up to this size: the next step changes it anyway. */
enum { MOST_FILLED = 4 << 20 };

static uint64_t made; /* entries so far */
static struct {
  tt_tape *first; /* entries that died, linked through `serial` */
  bool running;
} doomed;
static TT_VEC(tt_tape *) leaves;  /* of storages */
static TT_VEC(tt_node *) outputs; /* of walks back */
static TT_VEC(tt_node *) waiting; /* scratch */

/* ---- memory */

static size_t entry_bytes(int rank, int nstep, int n, int nresult) {
  size_t words = (size_t)rank + 2 * (size_t)nstep + 2 * (size_t)n + (size_t)nresult + 1;
  return sizeof(tt_tape) + words * sizeof(int64_t);
}

static size_t bytes_of(const tt_tape *t) { return entry_bytes(t->rank, t->nstep, t->n, t->nresult); }

static tt_tape *entry_new(int op, tt_dtype dtype, int rank, const int64_t *len, int nstep, int n, int nresult,
                          tt_error *err) {
  assert(tt__session_is_held() && n >= 0 && nresult >= 0);
  size_t bytes = entry_bytes(rank, nstep, n, nresult);
  tt_tape *t = tt__slab_alloc(bytes);
  if (!t) {
    tt__fail_memory(err, bytes);
    return NULL;
  }
  memset(t, 0, bytes);
  *t = (tt_tape){.refs = 1, .op = (uint8_t)op, .dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .n = n};
  t->nstep = (uint8_t)nstep;
  t->nresult = nresult;
  t->device = TT_ANYWHERE;
  t->line = tt__session_line;
  t->serial = ++made;
  if (rank) memcpy(t->dim, len, (size_t)rank * sizeof *len);
  t->wrote = t->dim + rank + nstep;
  char *after = (char *)(t->wrote + nstep);
  t->parent = (tt_tape **)after;
  t->src = (tt_node **)(t->parent + n);
  t->pick = (tt_tape **)(t->src + n);
  return t;
}

tt_tape *tt__tape_retain(tt_tape *t) {
  assert(t->refs > 0 && tt__session_is_held());
  t->refs++;
  return t;
}

static void drop_values(tt_tape *t) {
  tt_node *result = t->result;
  for (int k = 0; k < t->n; k++) {
    tt__node_release(t->src[k]);
    t->src[k] = NULL;
  }
  t->result = NULL;
  tt__node_release(result);
}

static void drop_hooks(tt_tape *t) {
  while (t->hook) {
    tt_tape_hook *h = t->hook;
    t->hook = h->next;
    tt__buffer_release(h->owner);
    tt__slab_free(h, sizeof *h);
  }
}

/* The entry of all results forgets that of one. */
static void leave_results(tt_tape *t) {
  tt_tape *of = t->op == TT_N_PICK ? t->parent[0] : NULL;
  if (of && of->pick[t->attr.pick] == t) of->pick[t->attr.pick] = NULL;
}

static void bury(tt_tape *t) {
  leave_results(t);
  drop_values(t);
  drop_hooks(t);
  for (int k = 0; k < t->n; k++) tt__tape_release(t->parent[k]);
  tt__array_release(t->grad);
  if (t->op == TT_N_LIB) tt__slab_free(t->attr.lib, sizeof(tt_lib_attr));
  if (t->op == TT_TAPE_FUNCTION) tt__buffer_release(t->attr.function.owner);
  tt__slab_free(t, bytes_of(t));
}

/* What dies with an entry may be the last to hold others: they wait their turn, so that no chain recurses. */
void tt__tape_release(tt_tape *t) {
  assert(!t || (t->refs > 0 && tt__session_is_held()));
  if (!t || --t->refs > 1) return;
  if (t->refs == 1) { /* its own result's hold? */
    tt_node *n = t->result;
    if (!n || n->refs > 1 || n->tape != t) return;
    t->result = NULL;
    tt__node_release(n);
    return;
  }
  t->serial = (uint64_t)(uintptr_t)doomed.first;
  doomed.first = t;
  if (doomed.running) return;
  doomed.running = true;
  while (doomed.first) {
    tt_tape *dead = doomed.first;
    doomed.first = (tt_tape *)(uintptr_t)dead->serial;
    bury(dead);
  }
  doomed.running = false;
}

void tt__tape_spend(tt_tape *t) {
  if (!t->keeps && t->op != TT_TAPE_FUNCTION) return; /* it can be gone through again */
  drop_values(t);
  t->spent = true;
}

/* ---- recording */

static bool has_slope(const tt_node *n) {
  return tt__is_float((tt_dtype)n->dtype) || tt__is_complex((tt_dtype)n->dtype);
}

/* What the derivatives by operands that have a history read. */
static unsigned op_keeps(const tt_node *n) {
  unsigned keeps = 0;
  for (int k = 0; k < n->nsrc; k++)
    if (n->src[k]->tape) keeps |= tt__grad_keeps(n->op, k);
  return keeps;
}

static unsigned keeps_of(const tt_node *n) {
  if (n->op < TT_OP_COUNT) return op_keeps(n);
  switch (n->op) {
    case TT_N_REDUCE:
      if (n->attr.reduce.red == TT_RED_PROD) return TT_GRAD_OPERAND(0);
      return n->attr.reduce.red == TT_RED_SUM ? 0 : TT_GRAD_OPERAND(0) | TT_GRAD_RESULT;
    case TT_N_GATHER:
    case TT_N_SCATTER:
      return TT_GRAD_OPERAND(1); /* the places */
    case TT_N_LIB:
      return tt__grad_library_keeps(n->attr.lib->row->name);
    case TT_N_PICK:
      return n->src[0]->tape->keeps & TT_GRAD_RESULT;
    default:
      return 0;
  }
}

/* Operand k of a launch may stand in a list. */
static tt_node *operand(const tt_node *n, int k) {
  while (n->nsrc && k >= n->nsrc - 1 && n->src[n->nsrc - 1]->op == TT_N_LIST) {
    k -= n->nsrc - 1;
    n = n->src[n->nsrc - 1];
  }
  return n->src[k];
}

static int results_of(const tt_node *n) {
  if (n->op == TT_N_CALL) return n->attr.call->noperand;
  return n->op == TT_N_LIB ? n->attr.lib->row->nout : 0;
}

static bool copy_attr(tt_tape *t, const tt_node *n, tt_error *err) {
  switch (n->op) {
    case TT_N_STORE:
      memcpy(t->wrote, n->src[1]->dim, (size_t)n->nstep * sizeof(int64_t));
      /* fall through */
    case TT_N_VIEW:
      t->attr.off = n->attr.off;
      memcpy(t->dim + t->rank, tt__node_step((tt_node *)n), (size_t)n->nstep * sizeof(int64_t));
      return true;
    case TT_N_REDUCE:
      t->attr.reduce.axes = n->attr.reduce.axes;
      t->attr.reduce.red = n->attr.reduce.red;
      return true;
    case TT_N_PICK:
      t->attr.pick = n->attr.pick;
      return true;
    case TT_N_LIB:
      t->attr.lib = tt__slab_alloc(sizeof(tt_lib_attr));
      if (!t->attr.lib) return tt__fail_memory(err, sizeof(tt_lib_attr)), false;
      *t->attr.lib = *n->attr.lib;
      return true;
    default:
      return true;
  }
}

bool tt__tape_record(tt_node *n, tt_error *err) {
  assert(!n->tape);
  bool many = n->op == TT_N_LIB || n->op == TT_N_CALL;
  if (!many && !has_slope(n)) return true;
  int operands = n->op == TT_N_CALL ? n->attr.call->noperand : n->nsrc;
  tt_tape *t = entry_new(n->op, (tt_dtype)n->dtype, n->rank, n->dim, n->nstep, operands, results_of(n), err);
  if (!t) return false;
  t->device = n->device;
  if (!copy_attr(t, n, err)) {
    t->op = TT_N_CALL; /* nothing of a row is owned */
    tt__tape_release(t);
    return false;
  }
  t->keeps = (uint8_t)keeps_of(n);
  for (int k = 0; k < operands; k++) {
    tt_node *s = operand(n, k);
    if (s->tape) t->parent[k] = tt__tape_retain(s->tape);
    if (t->keeps & TT_GRAD_OPERAND(k)) t->src[k] = tt__node_retain(s);
  }
  if (t->keeps & TT_GRAD_RESULT && !many) t->result = tt__node_retain(n);
  if (n->op == TT_N_PICK && n->src[0]->tape->nresult > n->attr.pick) n->src[0]->tape->pick[n->attr.pick] = t;
  n->tape = t;
  return true;
}

bool tt__tape_is_last(tt_node *n) {
  tt_tape *t = n->tape;
  assert(n->refs == 1);
  if (!t || t->result != n || t->refs > 1) return false;
  t->result = NULL;
  n->refs = 0;
  return true;
}

void tt__tape_leave(tt_node *n) {
  tt_tape *t = n->tape;
  n->tape = NULL;
  tt__tape_release(t);
}

/* ---- values with an entry */

/* Few elements that are all one number, in memory. */
static tt_node *filled(const tt_node *value) {
  static const int64_t one = 1, none = 0;
  size_t item = tt__dtype_size((tt_dtype)value->dtype), bytes = (size_t)value->size * item;
  if (value->op != TT_N_CONST || value->device > 0 || bytes > MOST_FILLED || !value->size) return NULL;
  tt_buffer *b = tt__buffer_new(bytes, NULL);
  tt_node *n = b ? tt__node_new(TT_N_BUFFER, (tt_dtype)value->dtype, value->rank, value->dim, 0, NULL) : NULL;
  if (!n) return tt__buffer_release(b), NULL;
  tt__block_copy(1, &value->size, b->data, &one, &value->attr.scalar, &none, item);
  n->attr.buf = b;
  return n;
}

tt_node *tt__tape_wrap(tt_node *value, tt_tape *t, tt_error *err) {
  int64_t step[TT_MAX_RANK];
  tt_node *n = filled(value);
  if (!n && value->op == TT_N_BUFFER) {
    n = tt__node_new(TT_N_BUFFER, (tt_dtype)value->dtype, value->rank, value->dim, 0, err);
    if (n) n->attr.buf = tt__buffer_retain(value->attr.buf);
  } else if (!n) {
    tt__shape_steps(value->rank, value->dim, step);
    n = tt__node_view_plain(value, value->rank, value->dim, step, 0, err);
  }
  if (!n) return NULL;
  n->device = value->device;
  if (n->tape) { /* a view's own, which is to be another */
    tt_tape *own = n->tape;
    n->tape = NULL;
    tt__tape_release(own);
  }
  if (t) n->tape = tt__tape_retain(t);
  return n;
}

static tt_tape *entry_of_same(const tt_node *value, const tt_node *of, tt_error *err) {
  tt_tape *t = entry_new(TT_TAPE_SAME, (tt_dtype)value->dtype, value->rank, value->dim, 0, 1, 0, err);
  if (!t) return NULL;
  t->device = value->device;
  t->parent[0] = tt__tape_retain(of->tape);
  return t;
}

tt_node *tt__tape_of_none(tt_node *value, tt_node *of, tt_error *err) {
  if (!value || !tt__is_taped(of) || !has_slope(value)) return value;
  tt_tape *t = entry_of_same(value, of, err);
  tt_node *n = t ? tt__tape_wrap(value, t, err) : NULL;
  tt__tape_release(t);
  tt__node_release(value);
  return n;
}

tt_code tt__tape_follow(tt_node *n, tt_node *same, tt_error *err) {
  assert(!n->tape);
  n->tape = entry_of_same(n, same, err);
  return n->tape ? TT_OK : TT_ENOMEM;
}

tt_node *tt__tape_same(tt_node *value, tt_error *err) {
  tt_tape *t = tt__is_taped(value) ? entry_of_same(value, value, err) : NULL;
  if (!t && tt__is_taped(value)) return NULL;
  tt_node *n = tt__tape_wrap(value, t, err);
  tt__tape_release(t);
  return n;
}

tt_tape *tt__tape_function(const tt_tape_function *f, tt_node *const *src, int n, int nresult, tt_error *err) {
  tt_tape *t = entry_new(TT_TAPE_FUNCTION, TT_BOOL, 0, NULL, 0, n, nresult, err);
  if (!t) return NULL;
  for (int k = 0; k < n; k++)
    if (src[k] && src[k]->tape && has_slope(src[k])) t->parent[k] = tt__tape_retain(src[k]->tape);
  t->attr.function = *f;
  return t;
}

tt_tape *tt__tape_made(const char *name, const tt_lib_attr *row, unsigned keeps, tt_node *const *src, int n,
                       int nresult, tt_error *err) {
  tt_tape *t = entry_new(TT_TAPE_MADE, TT_BOOL, 0, NULL, 0, n, nresult, err);
  if (!t) return NULL;
  t->attr.made = name;
  if (row) {
    tt_lib_attr *attr = tt__slab_alloc(sizeof *attr);
    if (!attr) return tt__fail_memory(err, sizeof *attr), tt__tape_release(t), NULL;
    *attr = *row;
    t->op = TT_N_LIB;
    t->attr.lib = attr;
  }
  t->keeps = (uint8_t)keeps;
  for (int k = 0; k < n; k++) {
    if (src[k]->tape && has_slope(src[k])) t->parent[k] = tt__tape_retain(src[k]->tape);
    if (k < TT_NODE_SRC && keeps & TT_GRAD_OPERAND(k)) t->src[k] = tt__node_retain(src[k]);
  }
  return t;
}

tt_node *tt__tape_result(tt_tape *t, int k, tt_node *value, tt_error *err) {
  assert(k < t->nresult && !t->pick[k]);
  tt_tape *one = entry_new(TT_N_PICK, (tt_dtype)value->dtype, value->rank, value->dim, 0, 1, 0, err);
  if (!one) return NULL;
  one->attr.pick = k;
  one->parent[0] = tt__tape_retain(t);
  t->pick[k] = one;
  tt_node *n = tt__tape_wrap(value, one, err);
  one->keeps = t->keeps & TT_GRAD_RESULT;
  if (n && one->keeps) one->result = tt__node_retain(n);
  tt__tape_release(one);
  return n;
}

/* ---- leaves */

tt_node *tt__storage_leaf_value(tt_storage *s, tt_node *n, tt_error *err) {
  tt_tape *leaf = s->node->tape;
  int64_t step[TT_MAX_RANK];
  bool as_it_is = n->rank == leaf->rank && tt__shape_same(n->rank, n->dim, leaf->dim);
  if (n->tape == leaf) return n;
  if (as_it_is && n->refs == 1 && !n->tape && n->op != TT_N_CONST && n->op != TT_N_EMPTY) {
    n->tape = tt__tape_retain(leaf);
    return n;
  }
  tt__shape_steps(leaf->rank, leaf->dim, step);
  tt_node *shaped = tt__node_view(n, leaf->rank, leaf->dim, step, 0, err);
  tt_node *out = shaped ? tt__tape_wrap(shaped, leaf, err) : NULL;
  tt__node_release(shaped);
  tt__node_release(n);
  return out;
}

void tt__storage_leave_leaf(tt_storage *s) {
  tt_tape *leaf = s->node->tape, *last = leaves.data[--leaves.n];
  leaves.data[leaf->place] = last;
  last->place = leaf->place;
  if (leaves.n == 0) TT_VEC_FREE(&leaves);
  leaf->storage = NULL;
  tt_array *grad = leaf->grad; /* nobody can ask for it any more, and while it is pending it may read the leaf */
  leaf->grad = NULL;
  tt__array_release(grad);
}

tt_code tt__storage_set_leaf(tt_storage *s, bool on, tt_error *err) {
  assert(on != (tt__storage_leaf(s) != NULL));
  if (!on) {
    tt_node *bare = tt__tape_wrap(s->node, NULL, err);
    if (!bare) return TT_ENOMEM;
    tt__storage_leave_leaf(s);
    tt__storage_become(s, bare);
    return TT_OK;
  }
  tt_tape *leaf = entry_new(TT_TAPE_LEAF, (tt_dtype)s->node->dtype, s->node->rank, s->node->dim, 0, 0, 0, err);
  tt_node *n = leaf ? tt__tape_wrap(s->node, leaf, err) : NULL;
  if (!n || !TT_VEC_PUSH(&leaves, leaf)) {
    tt__node_release(n);
    tt__tape_release(leaf);
    return tt__fail_memory(err, sizeof *leaf);
  }
  leaf->place = leaves.n - 1;
  leaf->storage = s;
  tt__storage_become(s, n);
  tt__tape_release(leaf); /* the value holds it */
  return TT_OK;
}

/* ---- a step is one evaluation */

void tt__tape_output(tt_node *output) {
  if (!output->pending || output->flags & TT_NODE_OUTPUT || !TT_VEC_PUSH(&outputs, output)) return; /* else by itself */
  output->flags |= TT_NODE_OUTPUT;
}

void tt__tape_forget_output(tt_node *output) {
  int64_t k = 0;
  while (outputs.data[k] != output) k++;
  outputs.data[k] = outputs.data[--outputs.n];
  if (outputs.n == 0) TT_VEC_FREE(&outputs);
}

/* Values of leaves that are pending, and what was differentiated; held. */
static bool list_pending(void) {
  for (int64_t k = 0; k < leaves.n; k++) {
    tt_node *n = leaves.data[k]->storage->node;
    if (!n->pending) continue;
    if (!TT_VEC_PUSH(&waiting, n)) return false;
    tt__node_retain(n);
  }
  while (outputs.n) {
    tt_node *n = outputs.data[outputs.n - 1];
    if (!TT_VEC_PUSH(&waiting, n)) return false;
    tt__node_retain(n)->flags &= (uint8_t)~TT_NODE_OUTPUT;
    outputs.n--;
  }
  TT_VEC_FREE(&outputs);
  return true;
}

tt_code tt__tape_evaluate(tt_node *const *node, int n, tt_evaluate_fn evaluate, tt_error *err) {
  int64_t from = waiting.n; /* evaluating may let others in, who do the same */
  bool ok = list_pending();
  for (int k = 0; k < n && ok; k++) {
    ok = TT_VEC_PUSH(&waiting, node[k]);
    if (ok) tt__node_retain(node[k]);
  }
  int count = (int)(waiting.n - from);
  size_t bytes = (size_t)(count + 1) * sizeof(tt_node *);
  tt_node **all = ok ? tt__mem_alloc(bytes) : NULL;
  if (all) memcpy(all, waiting.data + from, bytes - sizeof *all);
  tt_code code = all ? TT_OK : tt__fail_memory(err, bytes);
  if (!all)
    while (waiting.n > from) tt__node_release(waiting.data[--waiting.n]);
  waiting.n = from;
  if (from == 0) TT_VEC_FREE(&waiting);
  if (code == TT_OK) code = evaluate(all, count, err);
  for (int k = 0; all && k < count; k++) tt__node_release(all[k]);
  if (all) tt__mem_free(all, bytes);
  return code;
}

tt_code tt__tape_settle(tt_error *err) {
  for (int64_t k = 0; k < leaves.n; k++)
    if (leaves.data[k]->storage->node->pending) return tt__evaluate(&leaves.data[k]->storage->node, 1, err);
  return TT_OK;
}
