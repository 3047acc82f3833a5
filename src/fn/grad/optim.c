/* Steps of optimisers; see optim.h. */
#include "fn/grad/optim.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "device/device.h"
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
    if (own[k] && own[k]->storage->node->pending)
      own[k]->storage->node->flags |= TT_NODE_STEP; /* also of gradients at hand */
  }
  for (int k = 0; k < w->n * w->per && w->c.code != TT_OK; k++) tt__array_release(own[k]);
  return w->c.code == TT_OK;
}

/*
** What was before: values of parameters and states, held. A device has no results of a launch that failed, so what a
** step there replaces is let go of when all its launches have been asked for, and put back when one could not be. On
** the host nothing is lost: a step that failed stays recorded, and is computed when somebody looks; holding what was
** before would only keep it from working in place.
*/
typedef struct previous {
  size_t bytes;
  int n;
  int64_t states;
  tt_array **array; /* [n], held: the parameters; */
  tt_node **param;  /* [n]: their values; NULL: it stays */
  tt_array **state; /* [states]; NULL: there was none, or it stays */
  bool *is_new;     /* [states]: another has its place */
} previous;

static bool previous_open(change *w, tt_array *const *param, previous *b) {
  *b = (previous){.n = w->n, .states = (int64_t)w->n * w->per};
  size_t params = sizeof *b->param * (size_t)b->n, states = sizeof *b->state * (size_t)b->states;
  b->bytes = 2 * params + states + (size_t)b->states + 1;
  b->array = tt__mem_zalloc(b->bytes);
  if (!b->array) return tt__compose_fail(&w->c, TT_ENOMEM, "out of memory") != NULL;
  b->param = (tt_node **)(b->array + b->n);
  b->state = (tt_array **)(b->param + b->n);
  b->is_new = (bool *)(b->state + b->states);
  for (int k = 0; k < b->n; k++) b->array[k] = tt__array_retain(param[k]);
  return true;
}

static void previous_free(previous *b) {
  for (int k = 0; b->array && k < b->n; k++) tt__node_release(b->param[k]);
  for (int k = 0; b->array && k < b->n; k++) tt__array_release(b->array[k]);
  for (int64_t k = 0; b->array && k < b->states; k++) tt__array_release(b->state[k]);
  tt__mem_free(b->array, b->bytes);
  *b = (previous){0};
}

/* The last one first. */
static void put_params_back(previous *b) {
  for (int k = b->n; k-- > 0;) {
    tt_node *old = b->param[k];
    tt_storage *s = b->array[k]->storage;
    b->param[k] = NULL;
    if (old && s->node != old)
      tt__storage_become(s, old);
    else
      tt__node_release(old);
  }
}

static void put_states_back(previous *b, tt_array **state) {
  for (int64_t k = 0; k < b->states; k++) {
    if (!b->is_new[k]) continue;
    tt__array_release(state[k]);
    state[k] = b->state[k];
    b->state[k] = NULL;
  }
}

/* New values of all parameters, or (false) of none. */
static bool set_all(change *w, previous *b) {
  for (int k = 0; k < w->n && w->c.code == TT_OK; k++) {
    if (!w->param[k]) continue;
    b->param[k] = tt__node_retain(b->array[k]->storage->node);
    tt__compose_set(&w->c, b->array[k], tt_v_array(w->param[k]));
  }
  if (w->c.code != TT_OK) put_params_back(b);
  return w->c.code == TT_OK;
}

static void set_states(tt_array **own, tt_array **state, previous *b) {
  for (int64_t k = 0; k < b->states; k++) {
    if (!own[k]) continue;
    b->is_new[k] = true;
    b->state[k] = state[k];
    state[k] = own[k];
  }
}

/* May the new values be made on a device? */
static bool is_for_devices(const previous *b) {
  for (int k = 0; k < b->n; k++) {
    int device = b->array[k]->storage->node->device;
    if (device > 0 || (device == TT_ANYWHERE && tt__device_last())) return true;
  }
  return false;
}

/* The states become arrays of their own, parameters new values of theirs. */
static tt_code change_put(change *w, tt_array *const *param, tt_array **state, previous *b) {
  tt_array **own = tt__compose_scratch(&w->c, (int64_t)w->n * w->per + 1, sizeof *own);
  bool ready = own && previous_open(w, param, b) && own_states(w, own), done = ready && set_all(w, b);
  if (done) set_states(own, state, b);
  for (int64_t k = 0; ready && !done && k < b->states; k++) tt__array_release(own[k]);
  tt_code code = w->c.code;
  tt__compose_end(&w->c);
  return code;
}

/* All that is new is computed, together. `keeps`: what a failure would put back is kept until this returns. */
static tt_code settle(bool keeps, tt_error *err) {
  bool before = tt__session_prompt, tape = tt__session_tape;
  tt__session_prompt = keeps;
  tt__session_tape = false;
  tt_code code = tt__tape_settle(err);
  tt__session_tape = tape;
  tt__session_prompt = before;
  return code;
}

/* ---- steps that are one */

static __thread struct {
  bool open, whole; /* `whole`: all that is to be put back is in the list */
  TT_VEC(previous) list;
} steps;

static void steps_free(void) {
  while (steps.list.n) previous_free(&steps.list.data[--steps.list.n]);
  TT_VEC_FREE(&steps.list);
}

void tt__steps_begin(void) {
  steps_free();
  steps.open = steps.whole = true;
}

tt_code tt__steps_end(tt_error *err) {
  steps.open = steps.whole = false;
  for (int64_t k = 0; k < steps.list.n && !steps.whole; k++) steps.whole = is_for_devices(&steps.list.data[k]);
  if (!steps.whole) steps_free();
  tt_code code = settle(steps.whole, err);
  if (code == TT_OK) steps_free();
  return code;
}

bool tt__steps_undo(void) {
  steps.open = false;
  while (steps.list.n) {
    previous *b = &steps.list.data[--steps.list.n];
    put_params_back(b);
    previous_free(b);
  }
  steps_free();
  return steps.whole;
}

/* The caller has the states of before, if it wants them. */
static tt_code add_step(previous *b, tt_array **state, tt_error *err) {
  if (!TT_VEC_PUSH(&steps.list, *b)) {
    put_params_back(b);
    put_states_back(b, state);
    previous_free(b);
    return tt__fail_memory(err, sizeof *b);
  }
  b = &steps.list.data[steps.list.n - 1];
  for (int64_t k = 0; k < b->states; k++) tt__array_release(b->state[k]);
  b->states = 0;
  return TT_OK;
}

static tt_code change_end(change *w, tt_array *const *param, tt_array **state) {
  previous b = {0};
  tt_error *err = w->c.err;
  tt_code code = change_put(w, param, state, &b);
  if (code == TT_OK && steps.open) return add_step(&b, state, err);
  bool keeps = code == TT_OK && is_for_devices(&b);
  if (!keeps) previous_free(&b);
  if (code == TT_OK) code = settle(keeps, err);
  if (keeps && code != TT_OK) {
    put_params_back(&b);
    put_states_back(&b, state);
  }
  if (keeps) previous_free(&b);
  return code;
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

/* ---- the others */

/* A parameter's part of a step: its gradient, and states before and after. */
typedef struct part {
  tt_composer *c;
  const tt_optimizer *o;
  int64_t step;
  tt_array *g, *from;
  tt_array *const *old;
  tt_array **next;
} part;

static tt_array *square_of(tt_composer *c, tt_array *a) { return a ? tt__compose_op1(c, TT_SQUARE, a) : NULL; }

static tt_array *root_above(const part *p, tt_array *a) {
  return tt__compose_op1(p->c, TT_SQRT, tt__compose_opf(p->c, TT_ADD, a, p->o->eps));
}

/* The root of a / by, plus eps. */
static tt_array *size_of(const part *p, tt_array *a, double by) {
  if (p->o->inside) return root_above(p, a);
  tt_array *root = tt__compose_op1(p->c, TT_SQRT, a);
  return tt__compose_opf(p->c, TT_ADD, by == 1 ? root : tt__compose_opf(p->c, TT_DIV, root, sqrt(by)), p->o->eps);
}

/* The new running means of gradients and squares, states 0 and 1. */
static void moments(const part *p) {
  const tt_optimizer *o = p->o;
  p->next[0] = running(p->c, p->old[0], o->beta1, 1 - o->beta1, p->g);
  p->next[1] = running(p->c, p->old[1], o->beta2, 1 - o->beta2, square_of(p->c, p->g));
}

static tt_array *rmsprop(const part *p) {
  const tt_optimizer *o = p->o;
  p->next[0] = running(p->c, p->old[0], o->beta2, 1 - o->beta2, square_of(p->c, p->g));
  tt_array *spread = p->next[0];
  if (o->centered) {
    p->next[2] = running(p->c, p->old[2], o->beta2, 1 - o->beta2, p->g);
    spread = tt__compose_op2(p->c, TT_SUB, spread, square_of(p->c, p->next[2]));
  }
  tt_array *move = tt__compose_op2(p->c, TT_DIV, p->g, size_of(p, spread, 1));
  if (o->momentum > 0) move = p->next[1] = running(p->c, p->old[1], o->momentum, 1, move);
  return minus(p->c, p->from, o->lr, move);
}

static tt_array *adagrad(const part *p) {
  const tt_optimizer *o = p->o;
  tt_array *more = square_of(p->c, p->g);
  p->next[0] =
      p->old[0] ? tt__compose_op2(p->c, TT_ADD, p->old[0], more) : tt__compose_opf(p->c, TT_ADD, more, o->initial);
  tt_array *move = tt__compose_op2(p->c, TT_DIV, p->g, size_of(p, p->next[0], 1));
  return minus(p->c, p->from, o->lr / (1 + (double)(p->step - 1) * o->lr_decay), move);
}

static tt_array *adadelta(const part *p) {
  const tt_optimizer *o = p->o;
  p->next[0] = running(p->c, p->old[0], o->beta2, 1 - o->beta2, square_of(p->c, p->g));
  tt_array *move = tt__compose_op2(p->c, TT_DIV, p->g, root_above(p, p->next[0]));
  move = p->old[1] ? tt__compose_op2(p->c, TT_MUL, move, root_above(p, p->old[1]))
                   : tt__compose_opf(p->c, TT_MUL, move, sqrt(o->eps));
  p->next[1] = running(p->c, p->old[1], o->beta2, 1 - o->beta2, square_of(p->c, move));
  return minus(p->c, p->from, o->lr, move);
}

static tt_array *adamax(const part *p) {
  const tt_optimizer *o = p->o;
  p->next[0] = running(p->c, p->old[0], o->beta1, 1 - o->beta1, p->g);
  tt_array *size = tt__compose_opf(p->c, TT_ADD, tt__compose_op1(p->c, TT_ABS, p->g), o->eps);
  p->next[1] =
      p->old[1] ? tt__compose_op2(p->c, TT_MAXIMUM, tt__compose_opf(p->c, TT_MUL, p->old[1], o->beta2), size) : size;
  tt_array *move = tt__compose_op2(p->c, TT_DIV, p->next[0], p->next[1]);
  return minus(p->c, p->from, o->lr / (1 - pow(o->beta1, (double)p->step)), move);
}

double tt__nadam_momentum(const tt_optimizer *o, int64_t step) {
  return o->beta1 * (1 - 0.5 * pow(0.96, (double)step * o->momentum));
}

static tt_array *nadam(const part *p) {
  const tt_optimizer *o = p->o;
  moments(p);
  double mu = tt__nadam_momentum(o, p->step), next = tt__nadam_momentum(o, p->step + 1), all = o->product * mu;
  tt_array *size = size_of(p, p->next[1], 1 - pow(o->beta2, (double)p->step));
  tt_array *w = minus(p->c, p->from, o->lr * (1 - mu) / (1 - all), tt__compose_op2(p->c, TT_DIV, p->g, size));
  return minus(p->c, w, o->lr * next / (1 - all * next), tt__compose_op2(p->c, TT_DIV, p->next[0], size));
}

static tt_array *radam(const part *p) {
  const tt_optimizer *o = p->o;
  moments(p);
  double t = (double)p->step, less = 1 - pow(o->beta2, t), most = 2 / (1 - o->beta2) - 1;
  double sure = most - 2 * t * pow(o->beta2, t) / less, lr = o->lr / (1 - pow(o->beta1, t));
  if (sure <= 5) return minus(p->c, p->from, lr, p->next[0]); /* too few squares to go by their mean */
  lr *= sqrt((sure - 4) * (sure - 2) * most / ((most - 4) * (most - 2) * sure)) * sqrt(less);
  return minus(p->c, p->from, lr, tt__compose_op2(p->c, TT_DIV, p->next[0], size_of(p, p->next[1], 1)));
}

static void optimizer(change *w, const tt_optimizer *o, int64_t step, int k, tt_array *p, tt_array *const *old) {
  static tt_array *(*const rule[])(const part *p) = {
      [TT_RMSPROP] = rmsprop, [TT_ADAGRAD] = adagrad, [TT_ADADELTA] = adadelta,
      [TT_ADAMAX] = adamax,   [TT_NADAM] = nadam,     [TT_RADAM] = radam};
  part one = {.c = &w->c, .o = o, .step = step, .from = p, .old = old, .next = w->state + (ptrdiff_t)k * STATES};
  one.g = gradient_of(w, p, o->maximize);
  if (!one.g) return;
  if (o->decoupled && o->weight_decay != 0)
    one.from = tt__compose_opf(&w->c, TT_MUL, p, 1 - o->lr * o->weight_decay);
  else
    one.g = plus(&w->c, one.g, o->weight_decay, p);
  w->param[k] = one.g && one.from ? rule[o->kind](&one) : NULL;
}

tt_code tt__optimizer_step(const tt_optimizer *o, int64_t step, tt_array *const *param, tt_array **state, int n,
                           tt_error *err) {
  change w;
  bool before = tt__session_tape;
  if ((unsigned)o->kind > TT_RADAM) return tt__fail(err, TT_EVALUE, "there is no optimiser number %d", (int)o->kind);
  tt__session_tape = false;
  bool ok = change_begin(&w, n, STATES, err);
  for (int k = 0; k < n && ok && w.c.code == TT_OK; k++)
    optimizer(&w, o, step, k, param[k], state + (ptrdiff_t)k * STATES);
  tt_code code = change_end(&w, param, state);
  tt__session_tape = before;
  return code;
}
