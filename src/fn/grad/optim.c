/* Steps of optimisers; see optim.h. */
#include "fn/grad/optim.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "device/device.h"
#include "fn/compose.h"
#include "fn/grad/gathered.h"
#include "fn/linalg/matrix.h"
#include "graph/eager/compute.h"
#include "graph/session.h"
#include "graph/tape.h"

enum { STATES = 3 }; /* of a parameter, at most */

/* What a step changes, put in place when all of it is recorded: a failure leaves everything as it was. */
typedef struct change {
  tt_composer c;
  tt_array **param, **state; /* new values: n, and n * per; borrowed from the calculation, NULL: stays. Behind them: */
  int n, per;                /* those of parameters that are updated together */
} change;

static bool change_begin(change *w, int n, int per, tt_error *err) {
  *w = (change){.c = {.err = err}, .n = n, .per = per};
  w->param = tt__compose_scratch(&w->c, n + 1, sizeof *w->param);
  w->state = tt__compose_scratch(&w->c, ((int64_t)n + 1) * per, sizeof *w->state);
  return w->param && w->state;
}

/* A parameter's gradient; NULL: it has none, or (with a code) a failure. */
static tt_array *gradient_of(change *w, tt_array *p) {
  const tt_tape *leaf = tt__storage_leaf(p->storage);
  if (!leaf || p->size != p->storage->node->size)
    return tt__compose_fail(&w->c, TT_EVALUE, "can't optimize a non-leaf Tensor");
  if (!leaf->grad) return NULL;
  return tt__compose_view(&w->c, leaf->grad, p->rank, p->dim, tt__array_step(p), p->off);
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

/* Where the step is to be skipped, what was before; no state is 0 then. */
static void select_skipped(change *w, tt_array *skip, tt_array *const *param, tt_array *const *state) {
  for (int k = 0; k < w->n && w->c.code == TT_OK; k++) {
    if (!w->param[k]) continue;
    w->param[k] = tt__compose_where(&w->c, skip, tt_v_array(param[k]), tt_v_array(w->param[k]));
    for (int i = k * w->per; i < (k + 1) * w->per && w->c.code == TT_OK; i++) {
      tt_value old = state[i] ? tt_v_array(state[i]) : tt_v_int(0);
      if (w->state[i]) w->state[i] = tt__compose_where(&w->c, skip, old, tt_v_array(w->state[i]));
    }
  }
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

/* A new value: mostly of the same type and shape, which needs no index. */
static void set_value(change *w, tt_array *a, tt_array *value) {
  bool same = value->dtype == a->dtype && value->rank == a->rank && tt__shape_same(a->rank, a->dim, value->dim);
  tt_node *n = same && !a->readonly ? tt__compose_node(&w->c, value) : NULL;
  if (!n) {
    tt__compose_set(&w->c, a, tt_v_array(value));
    return;
  }
  w->c.code = tt__array_store(a, n, w->c.err);
  tt__node_release(n);
}

/* New values of all parameters, or (false) of none. */
static bool set_all(change *w, previous *b) {
  for (int k = 0; k < w->n && w->c.code == TT_OK; k++) {
    if (!w->param[k]) continue;
    b->param[k] = tt__node_retain(b->array[k]->storage->node);
    set_value(w, b->array[k], w->param[k]);
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

/* Steps that are one, of this thread. */
static __thread struct {
  bool open, whole; /* `whole`: all that is to be put back is in the list */
  tt_array *skip;   /* of one element: true, and a step changes nothing; NULL: steps are done */
  TT_VEC(previous) list;
} steps;

/* The states become arrays of their own, parameters new values of theirs. */
static tt_code change_put(change *w, tt_array *const *param, tt_array **state, previous *b) {
  tt_array **own = tt__compose_scratch(&w->c, (int64_t)w->n * w->per + 1, sizeof *own);
  if (steps.skip) select_skipped(w, steps.skip, param, state);
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

static void steps_free(void) {
  while (steps.list.n) previous_free(&steps.list.data[--steps.list.n]);
  TT_VEC_FREE(&steps.list);
}

void tt__steps_skip(tt_array *skip) {
  if (skip) tt__array_retain(skip);
  tt__array_release(steps.skip);
  steps.skip = skip;
}

void tt__steps_begin(void) {
  steps_free();
  steps.open = steps.whole = true;
}

tt_code tt__steps_end(tt_error *err) {
  steps.open = steps.whole = false;
  tt__steps_skip(NULL);
  for (int64_t k = 0; k < steps.list.n && !steps.whole; k++) steps.whole = is_for_devices(&steps.list.data[k]);
  if (!steps.whole) steps_free();
  tt_code code = settle(steps.whole, err);
  if (code == TT_OK) steps_free();
  return code;
}

bool tt__steps_undo(void) {
  steps.open = false;
  tt__steps_skip(NULL);
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

/* ---- what all optimisers do */

/* What a step does to a parameter k: new values in w->param and w->state. */
typedef struct update {
  void (*run)(change *w, const struct update *u, int k, tt_array *p, tt_array *g, tt_array *const *old);
  const void *o; /* the optimiser's numbers */
  int64_t step;
  bool maximize;
  bool by_elements; /* the same of each element, whatever lies beside it */
} update;

static tt_array *ascent(change *w, const update *u, tt_array *g) {
  return u->maximize && g ? tt__compose_op1(&w->c, TT_NEG, g) : g;
}

/* Does parameter k fit with those before, `like` one of them: of one type, with the same states? */
static bool goes_with(const change *w, tt_array *const *param, tt_array *const *state, int like, int k) {
  bool same = param[k]->dtype == param[like]->dtype;
  for (int i = 0; i < w->per && same; i++) {
    const tt_array *own = state[k * w->per + i], *other = state[like * w->per + i];
    same = !own == !other && (!own || (own->dtype == param[k]->dtype && own->size == param[k]->size));
  }
  return same;
}

/* Which of the parameters that have a gradient are few elements altogether, of one real type. */
static int choose_together(const change *w, tt_array *const *param, tt_array *const *g, tt_array *const *state,
                           int *k) {
  int64_t size = 0;
  int n = 0;
  for (int i = 0; i < w->n; i++) {
    bool simple = g[i] && param[i]->size && (param[i]->dtype == TT_F32 || param[i]->dtype == TT_F64);
    if (!simple || !tt__eager_few(size + param[i]->size) || !goes_with(w, param, state, n ? k[0] : i, i)) continue;
    if (g[i]->dtype != param[i]->dtype) continue;
    size += param[i]->size;
    k[n++] = i;
  }
  return n;
}

/*
** Small parameters at hand are updated as one, by the elements of all behind each other: a step is so many operations,
** not so many for each parameter. The same bits. Those that it leaves alone have no new value yet.
*/
static void update_together(change *w, const update *u, tt_array *const *param, tt_array *const *g,
                            tt_array *const *state) {
  int *k = tt__compose_scratch(&w->c, w->n, sizeof *k), n = k ? choose_together(w, param, g, state, k) : 0;
  tt_array **part = tt__compose_scratch(&w->c, n + 1, sizeof *part), *old[STATES] = {NULL};
  if (n < 2 || !part) return;
  for (int i = 0; i < n; i++) part[i] = param[k[i]];
  tt_array *p = tt__gathered(&w->c, part, n);
  for (int i = 0; i < n; i++) part[i] = g[k[i]];
  tt_array *slope = p ? tt__gathered(&w->c, part, n) : NULL;
  bool ok = slope != NULL;
  for (int s = 0; s < w->per && ok; s++) {
    if (!state[k[0] * w->per + s]) continue;
    for (int i = 0; i < n; i++) part[i] = state[k[i] * w->per + s];
    ok = (old[s] = tt__gathered(&w->c, part, n)) != NULL;
  }
  if (!ok || !(slope = ascent(w, u, slope))) return;
  u->run(w, u, w->n, p, slope, old);
  int64_t from = 0;
  for (int i = 0; i < n && w->c.code == TT_OK; from += param[k[i++]]->size) {
    for (int s = 0; s < w->per; s++) {
      tt_array *next = w->state[w->n * w->per + s];
      if (next && !(w->state[k[i] * w->per + s] = tt__gathered_part(&w->c, next, from, param[k[i]]))) return;
    }
    w->param[k[i]] = tt__gathered_part(&w->c, w->param[w->n], from, param[k[i]]);
  }
}

static tt_code run_update(const update *u, tt_array *const *param, tt_array **state, int n, int per, tt_error *err) {
  change w;
  bool before = tt__session_tape;
  tt__session_tape = false;
  bool ok = change_begin(&w, n, per, err);
  tt_array **g = ok ? tt__compose_scratch(&w.c, n + 1, sizeof *g) : NULL;
  for (int k = 0; k < n && g && w.c.code == TT_OK; k++) g[k] = gradient_of(&w, param[k]);
  if (g && w.c.code == TT_OK && u->by_elements && n > 1 && tt__eager_on()) update_together(&w, u, param, g, state);
  for (int k = 0; k < n && g && w.c.code == TT_OK; k++) {
    if (!g[k] || w.param[k] || !(g[k] = ascent(&w, u, g[k]))) continue;
    u->run(&w, u, k, param[k], g[k], state + (ptrdiff_t)k * per);
  }
  tt_code code = change_end(&w, param, state);
  tt__session_tape = before;
  return code;
}

/* ---- SGD */

static void sgd(change *w, const update *u, int k, tt_array *p, tt_array *g, tt_array *const *old) {
  const tt_sgd *o = u->o;
  tt_array *velocity = old[0];
  g = plus(&w->c, g, o->weight_decay, p);
  if (o->momentum != 0) {
    tt_array *v = velocity ? running(&w->c, velocity, o->momentum, 1 - o->dampening, g) : g;
    w->state[k] = v;
    g = o->nesterov ? plus(&w->c, g, o->momentum, v) : v;
  }
  w->param[k] = minus(&w->c, p, o->lr, g);
}

tt_code tt__sgd_step(const tt_sgd *o, tt_array *const *param, tt_array **velocity, int n, tt_error *err) {
  update u = {.run = sgd, .o = o, .maximize = o->maximize, .by_elements = true};
  return run_update(&u, param, velocity, n, 1, err);
}

/* ---- Adam */

enum { MEAN, SQUARES, LARGEST };

static void adam(change *w, const update *u, int k, tt_array *p, tt_array *g, tt_array *const *old) {
  const tt_adam *o = u->o;
  tt_composer *c = &w->c;
  tt_array **next = w->state + (ptrdiff_t)k * STATES, *from = p;
  if (o->decoupled && o->weight_decay != 0)
    from = tt__compose_opf(c, TT_MUL, p, 1 - o->lr * o->weight_decay);
  else
    g = plus(c, g, o->weight_decay, p);
  tt_array *size = g && tt__is_complex((tt_dtype)g->dtype) ? tt__compose_op1(c, TT_ABS, g) : g;
  next[MEAN] = running(c, old[MEAN], o->beta1, 1 - o->beta1, g);
  next[SQUARES] = running(c, old[SQUARES], o->beta2, 1 - o->beta2, size ? tt__compose_op1(c, TT_SQUARE, size) : NULL);
  tt_array *v = next[SQUARES];
  if (o->amsgrad && v) v = next[LARGEST] = old[LARGEST] ? tt__compose_op2(c, TT_MAXIMUM, old[LARGEST], v) : v;
  double first = 1 - pow(o->beta1, (double)u->step), second = sqrt(1 - pow(o->beta2, (double)u->step));
  tt_array *root = v ? tt__compose_op1(c, TT_SQRT, v) : NULL;
  tt_array *scale = root ? tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_DIV, root, second), o->eps) : NULL;
  tt_array *move = scale && next[MEAN] ? tt__compose_op2(c, TT_DIV, next[MEAN], scale) : NULL;
  w->param[k] = minus(c, from, o->lr / first, move);
}

tt_code tt__adam_step(const tt_adam *o, int64_t step, tt_array *const *param, tt_array **state, int n, tt_error *err) {
  update u = {.run = adam, .o = o, .step = step, .maximize = o->maximize, .by_elements = true};
  return run_update(&u, param, state, n, STATES, err);
}

/* ---- the others */

/* A parameter's part of a step: its gradient, and states before and after. */
typedef struct part {
  tt_composer *c;
  const tt_optimizer *o;
  int64_t step;
  tt_array *g, *own, *from; /* `from`: the parameter, less what decays of it */
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

static tt_array *sign_of_product(tt_composer *c, tt_array *a, tt_array *b) {
  tt_array *both = a && b ? tt__compose_op2(c, TT_MUL, a, b) : NULL;
  return tt__compose_op1(c, TT_SIGN, both);
}

/* Steps of each element, longer while its gradient keeps its sign. */
static tt_array *rprop(const part *p) {
  tt_composer *c = p->c;
  const tt_optimizer *o = p->o;
  tt_array *g = p->g, *size = p->old[1];
  if (p->old[0]) {
    tt_array *sign = sign_of_product(c, g, p->old[0]);
    tt_array *same = tt__compose_opi(c, TT_GT, sign, 0), *turned = tt__compose_opi(c, TT_LT, sign, 0);
    if (!same || !turned || !g || !size) return NULL;
    tt_array *longer = tt__compose_opf(c, TT_MUL, size, o->beta2), *less = tt__compose_opf(c, TT_MUL, size, o->beta1);
    if (!longer || !less) return NULL;
    size = tt__compose_where(c, turned, tt_v_array(less), tt_v_array(size));
    size = size ? tt__compose_where(c, same, tt_v_array(longer), tt_v_array(size)) : NULL;
    g = tt__compose_where(c, turned, tt_v_int(0), tt_v_array(g));
  } else {
    size = tt__compose_full(c, (tt_dtype)g->dtype, g->rank, tt__array_len(g), tt_v_float(o->lr));
  }
  size = tt__compose_opf(c, TT_MINIMUM, tt__compose_opf(c, TT_MAXIMUM, size, o->low), o->high);
  p->next[0] = g;
  p->next[1] = size;
  return minus(c, p->from, 1, tt__compose_op2(c, TT_MUL, tt__compose_op1(c, TT_SIGN, g), size));
}

/* Gradient descent, and the mean of where it was. */
static tt_array *asgd(const part *p) {
  const tt_optimizer *o = p->o;
  tt_array *less = tt__compose_opf(p->c, TT_MUL, p->from, 1 - o->lr_decay * o->lr), *w = minus(p->c, less, o->lr, p->g);
  tt_array *mean = p->old[0];
  p->next[0] =
      o->product == 1 || !mean || !w ? w : plus(p->c, mean, o->product, tt__compose_op2(p->c, TT_SUB, w, mean));
  return w;
}

/* The mean of squares along an axis counted from the end, or (0) of all elements. */
static tt_array *mean_square(tt_composer *c, tt_array *a, int from_end) {
  if (!a || a->rank == 0) return square_of(c, a);
  uint64_t axes = from_end ? UINT64_C(1) << (a->rank - from_end) : ~UINT64_C(0) >> (64 - a->rank);
  int64_t n = from_end ? tt__array_len(a)[a->rank - from_end] : a->size;
  tt_array *sum = tt__compose_reduce(c, TT_RED_SUM, square_of(c, a), axes, from_end != 0);
  return tt__compose_opf(c, TT_DIV, sum, (double)n);
}

/* The running mean, which begins with 0. */
static tt_array *toward(tt_composer *c, tt_array *old, double share, tt_array *now) {
  return old ? plus(c, old, share, tt__compose_op2(c, TT_SUB, now, old)) : tt__compose_opf(c, TT_MUL, now, share);
}

/* The usual squares of a matrix' elements out of those of its rows and of its columns. */
static tt_array *of_rows_and_columns(const part *p, double share, double eps) {
  tt_composer *c = p->c;
  tt_array *row = toward(c, p->old[0], share, mean_square(c, p->g, 1));
  tt_array *column = toward(c, p->old[1], share, mean_square(c, p->g, 2));
  p->next[0] = row;
  p->next[1] = column;
  if (!row || !column) return NULL;
  int axis = row->rank - 2;
  tt_array *mean = tt__compose_reduce(c, TT_RED_SUM, row, UINT64_C(1) << axis, true);
  mean = tt__compose_opf(c, TT_DIV, mean, (double)tt__array_len(row)[axis]);
  return tt__compose_op2(c, TT_DIV, tt__compose_op2(c, TT_MUL, row, column), tt__compose_opf(c, TT_MAXIMUM, mean, eps));
}

static tt_array *adafactor(const part *p) {
  tt_composer *c = p->c;
  const tt_optimizer *o = p->o;
  if (tt__is_complex((tt_dtype)p->own->dtype))
    return tt__compose_fail(c, TT_ETYPE, "Adafactor does not support complex parameters");
  double share = pow((double)p->step, o->beta2), eps = o->eps, rate = fmin(o->lr, 1 / sqrt((double)p->step));
  if (eps < 0) eps = p->own->dtype == TT_F64 ? DBL_EPSILON : FLT_EPSILON;
  tt_array *usual = p->g->rank > 1 ? of_rows_and_columns(p, share, eps)
                                   : (p->next[2] = toward(c, p->old[2], share, square_of(c, p->g)));
  tt_array *size = tt__compose_op1(c, TT_SQRT, tt__compose_opf(c, TT_MAXIMUM, usual, eps * eps));
  tt_array *move = tt__compose_op2(c, TT_DIV, p->g, size);
  tt_array *weight = tt__compose_op1(c, TT_SQRT, mean_square(c, p->own, 0));
  tt_array *alpha = tt__compose_opf(c, TT_MUL, tt__compose_opf(c, TT_MAXIMUM, weight, o->low), rate);
  tt_array *far = tt__compose_opf(c, TT_DIV, tt__compose_op1(c, TT_SQRT, mean_square(c, move, 0)), o->high);
  tt_array *by = tt__compose_op2(c, TT_DIV, alpha, tt__compose_opf(c, TT_MAXIMUM, far, 1));
  return tt__compose_op2(c, TT_SUB, p->from, tt__compose_op2(c, TT_MUL, move, by));
}

/* A matrix with singular values near 1: a polynomial of it, again and again. In float32, where PyTorch takes
 * bfloat16: the products are small beside those of the network. */
static tt_array *orthogonal(const part *p, tt_array *g) {
  tt_composer *c = p->c;
  const tt_optimizer *o = p->o;
  tt_dtype t = (tt_dtype)g->dtype;
  bool tall = tt__array_len(g)[0] > tt__array_len(g)[1];
  tt_array *x = tt__compose_cast(c, tall ? tt__compose_swap(c, g) : g, TT_F32);
  tt_array *length = tt__compose_op1(c, TT_SQRT, tt__compose_reduce(c, TT_RED_SUM, square_of(c, x), 3, false));
  x = tt__compose_op2(c, TT_DIV, x, tt__compose_opf(c, TT_MAXIMUM, length, o->eps));
  for (int k = 0; k < o->turns && x; k++) {
    tt_array *a = tt__compose_matmul(c, x, tt__compose_swap(c, x));
    tt_array *b =
        plus(c, a ? tt__compose_opf(c, TT_MUL, a, o->curve[1]) : NULL, o->curve[2], tt__compose_matmul(c, a, a));
    x = plus(c, tt__compose_matmul(c, b, x), o->curve[0], x);
  }
  return tt__compose_cast(c, tall ? tt__compose_swap(c, x) : x, t);
}

static tt_array *muon(const part *p) {
  tt_composer *c = p->c;
  const tt_optimizer *o = p->o;
  if (p->g->rank != 2 || tt__is_complex((tt_dtype)p->g->dtype))
    return tt__compose_fail(c, TT_EVALUE, "Muon only supports 2D parameters of real numbers");
  double m = (double)tt__array_len(p->g)[0], n = (double)tt__array_len(p->g)[1];
  double rate = o->rate == TT_MUON_AS_ADAM    ? 0.2 * sqrt(fmax(m, n))
                : o->rate == TT_MUON_SPECTRAL ? sqrt(m / n)
                                              : sqrt(fmax(1, m / n));
  tt_array *mean = p->next[0] = toward(c, p->old[0], 1 - o->momentum, p->g);
  tt_array *g = o->nesterov && mean ? toward(c, p->g, o->momentum, mean) : mean;
  return minus(c, p->from, o->lr * rate, g ? orthogonal(p, g) : NULL);
}

static void optimizer(change *w, const update *u, int k, tt_array *p, tt_array *g, tt_array *const *old) {
  const tt_optimizer *o = u->o;
  static tt_array *(*const rule[])(const part *p) = {
      [TT_RMSPROP] = rmsprop,     [TT_ADAGRAD] = adagrad, [TT_ADADELTA] = adadelta, [TT_ADAMAX] = adamax,
      [TT_NADAM] = nadam,         [TT_RADAM] = radam,     [TT_RPROP] = rprop,       [TT_ASGD] = asgd,
      [TT_ADAFACTOR] = adafactor, [TT_MUON] = muon};
  part one = {.c = &w->c, .o = o, .step = u->step, .g = g, .own = p, .from = p, .old = old};
  one.next = w->state + (ptrdiff_t)k * STATES;
  if (o->decoupled && o->weight_decay != 0)
    one.from = tt__compose_opf(&w->c, TT_MUL, p, 1 - o->lr * o->weight_decay);
  else
    one.g = plus(&w->c, one.g, o->weight_decay, p);
  w->param[k] = one.g && one.from ? rule[o->kind](&one) : NULL;
}

tt_code tt__optimizer_step(const tt_optimizer *o, int64_t step, tt_array *const *param, tt_array **state, int n,
                           tt_error *err) {
  if ((unsigned)o->kind > TT_MUON) return tt__fail(err, TT_EVALUE, "there is no optimiser number %d", (int)o->kind);
  bool matrices = o->kind == TT_ADAFACTOR || o->kind == TT_MUON;
  update u = {.run = optimizer, .o = o, .step = step, .maximize = o->maximize, .by_elements = !matrices};
  return run_update(&u, param, state, n, STATES, err);
}
