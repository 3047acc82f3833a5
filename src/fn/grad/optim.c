/* Steps of optimisers; see optim.h. */
#include "fn/grad/optim.h"

#include <math.h>
#include <string.h>

#include "fn/compose.h"
#include "graph/session.h"
#include "graph/tape.h"

/* What a step changes, put in place when all of it is recorded: a failure leaves everything as it was. */
typedef struct change {
  tt_composer c;
  tt_array **param, **state; /* new values: n, and n * per; borrowed from the calculation, NULL: stays */
  int n, per;
} change;

static bool change_begin(change *w, int n, int per, tt_error *err) {
  *w = (change){.c = {.err = err}, .n = n, .per = per};
  w->param = tt__compose_scratch(&w->c, n + 1, sizeof *w->param);
  w->state = tt__compose_scratch(&w->c, (int64_t)n * per + 1, sizeof *w->state);
  return w->param && w->state;
}

/* Parameter k's gradient; NULL: it has none, or (with a code) a failure. */
static tt_array *gradient_of(change *w, tt_array *p, bool maximize) {
  const tt_tape *leaf = tt__storage_leaf(p->storage);
  if (!leaf || p->size != p->storage->node->size)
    return tt__compose_fail(&w->c, TT_EVALUE, "can't optimize a non-leaf Tensor");
  if (!leaf->grad) return NULL;
  tt_array *g = tt__compose_view(&w->c, leaf->grad, p->rank, p->dim, tt__array_step(p), p->off);
  return maximize && g ? tt__compose_op1(&w->c, TT_NEG, g) : g;
}

/* a + factor * b */
static tt_array *plus(tt_composer *c, tt_array *a, double factor, tt_array *b) {
  if (factor == 0) return a;
  tt_array *scaled = a && b ? tt__compose_opf(c, TT_MUL, b, factor) : NULL;
  return scaled ? tt__compose_op2(c, TT_ADD, a, scaled) : NULL;
}

static tt_array *minus(tt_composer *c, tt_array *a, double factor, tt_array *b) {
  tt_array *scaled = a && b ? tt__compose_opf(c, TT_MUL, b, factor) : NULL;
  return scaled ? tt__compose_op2(c, TT_SUB, a, scaled) : NULL;
}

/* factor * old + more * g; without an old one: more * g. */
static tt_array *running(tt_composer *c, tt_array *old, double factor, double more, tt_array *g) {
  tt_array *part = g && more != 1 ? tt__compose_opf(c, TT_MUL, g, more) : g;
  return old && part ? tt__compose_op2(c, TT_ADD, tt__compose_opf(c, TT_MUL, old, factor), part) : part;
}

/* The new states as arrays of their own, or (false) none of them. */
static bool own_states(change *w, tt_array **own) {
  for (int k = 0; k < w->n * w->per && w->c.code == TT_OK; k++) {
    tt_array *next = w->param[k / w->per] ? w->state[k] : NULL;
    tt_node *n = next ? tt__compose_node(&w->c, next) : NULL;
    own[k] = n ? tt__array_of(n, w->c.err) : NULL;
    tt__node_release(n);
    if (next && !own[k]) w->c.code = TT_ENOMEM;
  }
  for (int k = 0; k < w->n * w->per && w->c.code != TT_OK; k++) tt__array_release(own[k]);
  return w->c.code == TT_OK;
}

/* New values of all parameters, or (false) of none: those that have one get the old one back, the last one first. */
static bool set_all(change *w, tt_array *const *param, tt_node **old) {
  int k = 0;
  for (; k < w->n && w->c.code == TT_OK; k++) {
    if (!w->param[k]) continue;
    old[k] = tt__node_retain(param[k]->storage->node);
    tt__compose_set(&w->c, param[k], tt_v_array(w->param[k]));
  }
  while (k-- > 0) {
    if (old[k] && w->c.code != TT_OK && param[k]->storage->node != old[k])
      tt__storage_become(param[k]->storage, old[k]);
    else
      tt__node_release(old[k]);
  }
  return w->c.code == TT_OK;
}

/* The states become arrays of their own, parameters new values of theirs; then all is computed, together. */
static tt_code change_end(change *w, tt_array *const *param, tt_array **state) {
  int64_t states = (int64_t)w->n * w->per;
  tt_array **own = tt__compose_scratch(&w->c, states + 1, sizeof *own);
  tt_node **old = tt__compose_scratch(&w->c, w->n + 1, sizeof *old);
  bool ready = own && old && own_states(w, own), done = ready && set_all(w, param, old);
  for (int64_t k = 0; ready && k < states; k++) {
    tt_array *gone = done && own[k] ? state[k] : own[k];
    if (done && own[k]) state[k] = own[k];
    tt__array_release(gone);
  }
  tt_code code = w->c.code;
  tt_error *err = w->c.err;
  tt__compose_end(&w->c);
  return code == TT_OK ? tt__tape_settle(err) : code;
}

/* ---- SGD */

static void sgd(change *w, const tt_sgd *o, int k, tt_array *p, tt_array *velocity) {
  tt_array *g = gradient_of(w, p, o->maximize);
  if (!g) return;
  g = plus(&w->c, g, o->weight_decay, p);
  if (o->momentum != 0) {
    tt_array *v = velocity ? running(&w->c, velocity, o->momentum, 1 - o->dampening, g) : g;
    w->state[k] = v;
    g = o->nesterov ? plus(&w->c, g, o->momentum, v) : v;
  }
  w->param[k] = minus(&w->c, p, o->lr, g);
}

tt_code tt__sgd_step(const tt_sgd *o, tt_array *const *param, tt_array **velocity, int n, tt_error *err) {
  change w;
  bool before = tt__session_tape;
  tt__session_tape = false;
  bool ok = change_begin(&w, n, 1, err);
  for (int k = 0; k < n && ok && w.c.code == TT_OK; k++) sgd(&w, o, k, param[k], velocity[k]);
  tt_code code = change_end(&w, param, velocity);
  tt__session_tape = before;
  return code;
}

/* ---- Adam */

enum { MEAN, SQUARES, LARGEST, STATES };

static void adam(change *w, const tt_adam *o, int64_t step, int k, tt_array *p, tt_array *const *old) {
  tt_composer *c = &w->c;
  tt_array **next = w->state + (ptrdiff_t)k * STATES, *g = gradient_of(w, p, o->maximize), *from = p;
  if (!g) return;
  if (o->decoupled && o->weight_decay != 0)
    from = tt__compose_opf(c, TT_MUL, p, 1 - o->lr * o->weight_decay);
  else
    g = plus(c, g, o->weight_decay, p);
  tt_array *size = g && tt__is_complex((tt_dtype)g->dtype) ? tt__compose_op1(c, TT_ABS, g) : g;
  next[MEAN] = running(c, old[MEAN], o->beta1, 1 - o->beta1, g);
  next[SQUARES] = running(c, old[SQUARES], o->beta2, 1 - o->beta2, size ? tt__compose_op1(c, TT_SQUARE, size) : NULL);
  tt_array *v = next[SQUARES];
  if (o->amsgrad && v) v = next[LARGEST] = old[LARGEST] ? tt__compose_op2(c, TT_MAXIMUM, old[LARGEST], v) : v;
  double first = 1 - pow(o->beta1, (double)step), second = sqrt(1 - pow(o->beta2, (double)step));
  tt_array *root = v ? tt__compose_op1(c, TT_SQRT, v) : NULL;
  tt_array *scale = root ? tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_DIV, root, second), o->eps) : NULL;
  tt_array *move = scale && next[MEAN] ? tt__compose_op2(c, TT_DIV, next[MEAN], scale) : NULL;
  w->param[k] = minus(c, from, o->lr / first, move);
}

tt_code tt__adam_step(const tt_adam *o, int64_t step, tt_array *const *param, tt_array **state, int n, tt_error *err) {
  change w;
  bool before = tt__session_tape;
  tt__session_tape = false;
  bool ok = change_begin(&w, n, STATES, err);
  for (int k = 0; k < n && ok && w.c.code == TT_OK; k++) adam(&w, o, step, k, param[k], state + (ptrdiff_t)k * STATES);
  tt_code code = change_end(&w, param, state);
  tt__session_tape = before;
  return code;
}
