/*
** Recurrent layers: Elman's networks, LSTM and GRU. What the input adds is one product for the whole sequence; the
** steps are one row of the library, or spelled: each a product with the state before and one kernel.
*/
#include "fn/nn/recurrent.h"

#include <string.h>

#include "fn/linalg/matrix.h"
#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"
#include "graph/tape.h"

static const char *const names[] = {
    [TT_RNN_TANH] = "RNN_TANH", [TT_RNN_RELU] = "RNN_RELU", [TT_LSTM] = "LSTM", [TT_GRU] = "GRU"};

/* One direction of one layer: its weights, transposed, and the state that a step changes. */
typedef struct cell {
  tt_composer *c;
  tt_recurrent_kind kind;
  int64_t width, given; /* of a gate, and of the state that a step gives */
  tt_array *from_input, *from_state, *input_bias, *state_bias;
  tt_array *project; /* NULL: the state is as wide as a gate */
  tt_array *h, *memory;
} cell;

static tt_array *sum_of(tt_composer *c, tt_array *a, tt_array *b) { return b ? tt__compose_op2(c, TT_ADD, a, b) : a; }

/* Gate k of [..., gates * width]. */
static tt_array *gate(const cell *l, tt_array *all, int k) {
  return all ? tt__compose_slice(l->c, all, all->rank - 1, k * l->width, l->width, 1) : NULL;
}

static tt_array *gate_sigmoid(const cell *l, tt_array *all, int k) {
  return tt__compose_op1(l->c, TT_EXPIT, gate(l, all, k));
}

static void step_lstm(cell *l, tt_array *sums) {
  tt_composer *c = l->c;
  tt_array *keep = tt__compose_op2(c, TT_MUL, gate_sigmoid(l, sums, 1), l->memory);
  tt_array *add = tt__compose_op2(c, TT_MUL, gate_sigmoid(l, sums, 0), tt__compose_op1(c, TT_TANH, gate(l, sums, 2)));
  l->memory = tt__compose_op2(c, TT_ADD, keep, add);
  l->h = tt__compose_op2(c, TT_MUL, gate_sigmoid(l, sums, 3), tt__compose_op1(c, TT_TANH, l->memory));
  if (l->project) l->h = tt__compose_matmul(c, l->h, l->project);
}

/* The new state is left for the old one by the gate z. */
static void step_gru(cell *l, tt_array *x, tt_array *h) {
  tt_composer *c = l->c;
  tt_array *both = tt__compose_op2(c, TT_ADD, x, h), *r = gate_sigmoid(l, both, 0), *z = gate_sigmoid(l, both, 1);
  tt_array *more = tt__compose_op2(c, TT_MUL, r, gate(l, h, 2));
  tt_array *n = tt__compose_op1(c, TT_TANH, tt__compose_op2(c, TT_ADD, gate(l, x, 2), more));
  l->h = tt__compose_op2(c, TT_ADD, n, tt__compose_op2(c, TT_MUL, z, tt__compose_op2(c, TT_SUB, l->h, n)));
}

/* x: what the input adds to the gates. */
static void step(cell *l, tt_array *x) {
  tt_composer *c = l->c;
  tt_array *h = sum_of(c, tt__compose_matmul(c, l->h, l->from_state), l->state_bias);
  if (l->kind == TT_GRU) {
    step_gru(l, x, h);
    return;
  }
  tt_array *sums = tt__compose_op2(c, TT_ADD, x, h);
  if (l->kind == TT_LSTM)
    step_lstm(l, sums);
  else if (l->kind == TT_RNN_TANH)
    l->h = tt__compose_op1(c, TT_TANH, sums);
  else
    l->h = sums ? tt__compose_where(c, tt__compose_opi(c, TT_LE, sums, 0), tt_v_int(0), tt_v_array(sums)) : NULL;
}

/* ---- a sequence, from what its inputs add to the gates */

static tt_array *row_of(tt_composer *c, tt_array *states, int64_t k) {
  tt_array *one = states ? tt__compose_slice(c, states, 0, k, 1, 1) : NULL;
  return one ? tt__compose_reshape(c, one, 2, tt__array_len(one) + 1) : NULL;
}

/* Step by step: the states, of LSTM with the last memory behind them where it is as wide as they are. */
static tt_array *spelled(cell *l, tt_array *x, bool reverse) {
  tt_composer *c = l->c;
  int64_t n = tt__array_len(x)[0], more = l->memory != NULL && !l->project;
  tt_array **out = tt__compose_scratch(c, n + more, sizeof(tt_array *));
  for (int64_t k = 0; k < n && out; k++) {
    int64_t t = reverse ? n - 1 - k : k;
    step(l, row_of(c, x, t));
    if (!l->h || !(out[t] = tt__compose_expand(c, l->h, 0))) return NULL;
  }
  if (out && more && !(out[n] = tt__compose_expand(c, l->memory, 0))) return NULL;
  return out ? tt__compose_concat(c, out, n + more, 0) : NULL;
}

tt_array *tt__recurrent_spelled(tt_composer *c, const tt_lib_attr *attr, tt_array *x, tt_array *w, tt_array *state) {
  tt_recurrent_kind kind = (tt_recurrent_kind)attr->i[0];
  int64_t images = attr->i[2], width = tt__array_len(w)[1], rows = tt__array_len(state)[0];
  cell l = {.c = c, .kind = kind, .width = width, .given = width, .from_state = tt__compose_swap(c, w)};
  l.h = tt__compose_slice(c, state, 0, 0, images, 1);
  if (rows > images) {
    tt_array *more = tt__compose_slice(c, state, 0, images, rows - images, 1);
    if (kind == TT_LSTM)
      l.memory = more;
    else
      l.state_bias = more ? tt__compose_ravel(c, more) : NULL;
    if (!more) return NULL;
  }
  return l.from_state && l.h ? spelled(&l, x, attr->i[1] != 0) : NULL;
}

/* State and what else the row takes with it. */
static tt_array *state_of(cell *l, tt_dtype t) {
  tt_composer *c = l->c;
  tt_array *part[2] = {tt__compose_cast(c, l->h, t), tt__compose_cast(c, l->memory, t)};
  if (l->kind == TT_GRU && l->state_bias) {
    const int64_t len[2] = {tt__recurrent_gates(l->kind), l->width};
    part[1] = tt__compose_cast(c, tt__compose_reshape(c, l->state_bias, 2, len), t);
  } else if (l->kind != TT_LSTM) {
    return part[0];
  }
  return part[0] && part[1] ? tt__compose_concat(c, part, 2, 0) : NULL;
}

/* The type of a sequence by the library's row; bool where there is none, as for states that are projected. */
static tt_dtype type_for_row(const cell *l, const tt_array *x, const tt_array *w) {
  if (l->project) return TT_BOOL;
  const tt_array *all[] = {x, w, l->h, l->memory, l->state_bias};
  tt_dtype t = (tt_dtype)x->dtype;
  for (int k = 0; k < 5; k++) {
    if (!all[k]) continue;
    if (!tt__is_float((tt_dtype)all[k]->dtype)) return TT_BOOL;
    t = tt__promote(t, (tt_dtype)all[k]->dtype);
  }
  return t;
}

/* By the library's row, with the tape off: what is followed is the states by all that they are made of, and what the
 * way back reads counts as an operand. 16-bit floats go through float32. */
static tt_array *by_row(cell *l, tt_array *x, tt_array *w, bool reverse, tt_dtype given) {
  tt_composer *c = l->c;
  tt_dtype t = given == TT_F64 ? TT_F64 : TT_F32;
  if (l->kind != TT_GRU) x = sum_of(c, x, l->state_bias);
  tt_array *src[4] = {tt__compose_cast(c, x, t), tt__compose_cast(c, w, t), state_of(l, t)};
  if (!src[0] || !src[1] || !src[2]) return NULL;
  const int64_t *len = tt__array_len(src[0]), steps = len[0], images = len[1];
  tt_lib_attr attr = {.row = tt__lib_row("recurrent"), .i = {l->kind, reverse, images}};
  const tt_compose_want want[2] = {
      {.dtype = t, .rank = 3, .len = {steps + (l->kind == TT_LSTM), images, l->width}},
      {.dtype = t, .rank = 3, .len = {steps, images, tt__recurrent_kept(l->kind) * l->width}}};
  tt_array *out[2];
  bool before = tt__session_tape;
  tt__session_tape = false;
  bool done = tt__compose_library_many(c, &attr, src, 3, want, 2, out);
  tt__session_tape = before;
  src[3] = done ? out[1] : NULL;
  return done ? tt__compose_cast(c, tt__compose_derived_call(c, &attr, src, 4, out[0]), given) : NULL;
}

/* Steps of what the inputs add, [steps, images, gates * width], forward or from the end; gives [steps, images, given],
 * and `l` the last state. w: from state to gates. */
static tt_array *steps_of(cell *l, tt_array *sums, tt_array *w, bool reverse) {
  tt_composer *c = l->c;
  if (!sums || !l->h) return NULL;
  int64_t n = tt__array_len(sums)[0];
  tt_dtype t = type_for_row(l, sums, w);
  tt_array *y = t != TT_BOOL ? by_row(l, sums, w, reverse, t) : spelled(l, sums, reverse);
  if (!y) return NULL;
  l->h = row_of(c, y, reverse ? 0 : n - 1);
  if (!l->memory || l->project) return y;
  l->memory = row_of(c, y, n);
  return tt__compose_slice(c, y, 0, 0, n, 1);
}

/* ---- packed sequences: the images of each step lie one behind the other, the longest sequence first */

/* Steps with the same number of images: they are an array of their own. */
typedef struct segment {
  int64_t at, steps, images; /* at: its first row */
} segment;

typedef struct segments {
  segment *one;
  int64_t n, images;
} segments;

static tt_array *rows_of(tt_composer *c, tt_array *a, int64_t from, int64_t to) {
  return a ? tt__compose_slice(c, a, 0, from, to - from, 1) : NULL;
}

/* Rows above others; NULL is none of them, of `first` or of both. */
static tt_array *above(tt_composer *c, tt_array *first, tt_array *then) {
  tt_array *part[2] = {first, then};
  return first && then ? tt__compose_concat(c, part, 2, 0) : first ? first : then;
}

/* What a segment begins with: `h` is the state so far, of the images before this segment; others begin, or are done
 * and go above those that are (`done`). */
static tt_array *enter(tt_composer *c, tt_array *h, tt_array *first, int64_t images, tt_array **done) {
  if (!first) return NULL;
  if (!h) return rows_of(c, first, 0, images);
  int64_t before = tt__array_len(h)[0];
  if (images > before) return above(c, h, rows_of(c, first, before, images));
  if (images < before) *done = above(c, rows_of(c, h, images, before), *done);
  return rows_of(c, h, 0, images);
}

static tt_array *packed_steps(cell *l, tt_array *sums, tt_array *w, bool reverse, const segments *s) {
  tt_composer *c = l->c;
  tt_array **out = tt__compose_scratch(c, s->n, sizeof(tt_array *)), *h = NULL, *memory = NULL;
  tt_array *first = l->h, *first_memory = l->memory, *done = NULL, *done_memory = NULL;
  for (int64_t i = 0; i < s->n && out && sums; i++) {
    int64_t k = reverse ? s->n - 1 - i : i;
    const segment *one = &s->one[k];
    const int64_t rows = one->steps * one->images;
    l->h = enter(c, h, first, one->images, &done);
    l->memory = enter(c, memory, first_memory, one->images, &done_memory);
    tt_array *part = rows_of(c, sums, one->at, one->at + rows);
    const int64_t cut[3] = {one->steps, one->images, tt__array_len(sums)[1]}, flat[2] = {rows, l->given};
    tt_array *y = part ? steps_of(l, tt__compose_reshape(c, part, 3, cut), w, reverse) : NULL;
    if (!y || !(out[k] = tt__compose_reshape(c, y, 2, flat))) return NULL;
    h = l->h;
    memory = l->memory;
  }
  l->h = above(c, h, done);
  l->memory = above(c, memory, done_memory);
  return out && l->h ? tt__compose_concat(c, out, s->n, 0) : NULL;
}

/* What the inputs add, of all steps: one product of rows, so that its way back is one, too. */
static tt_array *sums_of(cell *l, tt_array *x) {
  tt_composer *c = l->c;
  const int last = x->rank - 1;
  int64_t len[3], flat[2] = {0, tt__array_len(x)[last]};
  memcpy(len, tt__array_len(x), (size_t)x->rank * sizeof *len);
  flat[0] = last == 1 ? len[0] : len[0] * len[1];
  tt_array *rows = tt__compose_reshape(c, x, 2, flat);
  tt_array *all = rows ? sum_of(c, tt__compose_matmul(c, rows, l->from_input), l->input_bias) : NULL;
  if (!all) return NULL;
  len[last] = tt__array_len(all)[1];
  return tt__compose_reshape(c, all, x->rank, len);
}

/* A whole sequence x [steps, images, inputs], or packed [rows, inputs]; its states likewise. */
static tt_array *run(cell *l, tt_array *x, tt_array *w, bool reverse, const segments *s) {
  tt_array *sums = sums_of(l, x);
  return s->one ? packed_steps(l, sums, w, reverse, s) : steps_of(l, sums, w, reverse);
}

/* ---- the call */

typedef struct network {
  tt_recurrent_kind kind;
  int64_t layers, ways, width, given; /* as those of a cell */
  bool biases, training;
  double dropout;
  tt_array **weight;
  int64_t weights;
  segments packed; /* `one` NULL: the sequences are not packed */
} network;

static tt_recurrent_kind kind_of(tt_composer *c, const char *name) {
  for (int k = 0; k < TT_RECURRENT_KINDS; k++)
    if (strcmp(names[k], name) == 0) return (tt_recurrent_kind)k;
  tt__compose_fail(c, TT_EVALUE, "Unrecognized RNN mode: %s", name);
  return TT_RECURRENT_KINDS;
}

/* How many weights each direction of a layer has; the last one projects, if states are not as wide as gates. */
static int64_t weights_of_way(const network *w) { return (w->biases ? 4 : 2) + (w->given != w->width); }
static tt_array **weights_at(const network *w, int64_t k) { return w->weight + k * weights_of_way(w); }

static cell cell_of(tt_composer *c, const network *w, int64_t k, tt_array *h, tt_array *memory) {
  tt_array **own = weights_at(w, k);
  cell l = {.c = c, .kind = w->kind, .width = w->width, .given = w->given};
  l.h = row_of(c, h, k);
  l.memory = row_of(c, memory, k);
  l.from_input = tt__compose_swap(c, own[0]);
  l.from_state = tt__compose_swap(c, own[1]);
  if (w->biases) l.input_bias = own[2], l.state_bias = own[3];
  if (w->given != w->width) l.project = tt__compose_swap(c, own[weights_of_way(w) - 1]);
  return l;
}

static bool check_states(tt_composer *c, const network *w, tt_array *x, tt_array *state, bool memory) {
  const int64_t images = w->packed.one ? w->packed.images : tt__array_len(x)[1];
  const int64_t want[3] = {w->layers * w->ways, images, memory ? w->width : w->given};
  if (state->rank == 3 && memcmp(tt__array_len(state), want, sizeof want) == 0) return true;
  char there[160], here[160];
  tt__window_shape(3, want, there, sizeof there);
  tt__window_shape(state->rank, tt__array_len(state), here, sizeof here);
  tt__compose_fail(c, TT_EVALUE, "Expected hidden[%d] size %s, got %s", memory, there, here);
  return false;
}

/* batch_sizes, one of each step: how many images it has. */
static bool read_packed(tt_composer *c, const tt_call_frame *f, tt_array *x, segments *s) {
  tt_array *sizes = tt__arg_array_of(c, f, 10, TT_I64);
  const int64_t *size = tt__compose_peek(c, sizes);
  if (!size || !(s->one = tt__compose_scratch(c, sizes->size, sizeof(segment)))) return false;
  int64_t at = 0;
  for (int64_t k = 0; k < sizes->size; k++) {
    if (size[k] < 1 || (k > 0 && size[k] > size[k - 1]))
      return tt__compose_fail(c, TT_EVALUE, "batch_sizes must be positive and must not grow") != NULL;
    if (k == 0 || size[k] != size[k - 1]) s->one[s->n++] = (segment){.at = at, .images = size[k]};
    s->one[s->n - 1].steps++;
    at += size[k];
  }
  s->images = sizes->size ? size[0] : 0;
  if (x->rank != 2 || at != tt__array_len(x)[0])
    tt__compose_fail(c, TT_EVALUE, "batch_sizes are of %lld rows, the packed input has another number of them",
                     (long long)at);
  return c->code == TT_OK;
}

static bool misfit(tt_composer *c, const network *w) {
  return tt__compose_fail(c, TT_EVALUE, "%s: %lld weights do not fit", names[w->kind], (long long)w->weights) != NULL;
}

static bool read_network(tt_composer *c, const tt_call_frame *f, network *w, tt_array *x) {
  w->kind = kind_of(c, tt__arg_string(c, f, 0, ""));
  w->weight = tt__arg_arrays(c, f, 4, &w->weights);
  w->biases = tt__arg_bool(c, f, 5, true);
  w->layers = tt__arg_int(c, f, 6, 1);
  w->dropout = tt__arg_float(c, f, 7, 0);
  w->training = tt__arg_bool(c, f, 8, false);
  w->ways = tt__arg_bool(c, f, 9, false) ? 2 : 1;
  if (c->code != TT_OK || !x || !w->weight) return false;
  if (tt__arg_given(f, 10) && !read_packed(c, f, x, &w->packed)) return false;
  if (w->weights < 2) return misfit(c, w);
  w->width = w->given = tt__array_len(w->weight[1])[1];
  if (w->kind == TT_LSTM) w->width = tt__array_len(w->weight[0])[0] / tt__recurrent_gates(TT_LSTM);
  if (w->weights != w->layers * w->ways * weights_of_way(w)) return misfit(c, w);
  int64_t inputs = tt__array_len(w->weight[0])[1], rank = w->packed.one ? 2 : 3;
  int64_t have = x->rank == rank ? tt__array_len(x)[rank - 1] : -1;
  if (inputs != have)
    tt__compose_fail(c, TT_EVALUE, "input.size(-1) must be equal to input_size. Expected %lld, got %lld",
                     (long long)inputs, (long long)have);
  else if (tt__array_len(x)[0] == 0)
    tt__compose_fail(c, TT_EVALUE, "Expected sequence length to be larger than 0 in RNN");
  return c->code == TT_OK;
}

/* mode, input, hx, cx, weights, biases, layers, dropout, training, bidirectional, batch_sizes: the last layer's states,
 * the last states of all layers and ways, and LSTM's memories. */
static tt_array *nn_recurrent(tt_composer *c, tt_call_frame *f) {
  network w = {0};
  tt_array *x = tt__arg_array(c, f, 1), *h = tt__arg_array(c, f, 2), *memory = NULL;
  if (!read_network(c, f, &w, x) || !h || !check_states(c, &w, x, h, false)) return NULL;
  if (w.kind == TT_LSTM && (!(memory = tt__arg_array(c, f, 3)) || !check_states(c, &w, x, memory, true))) return NULL;
  int64_t n = w.layers * w.ways;
  tt_array **last = tt__compose_scratch(c, 2 * n, sizeof(tt_array *));
  for (int64_t layer = 0; layer < w.layers && last; layer++) {
    tt_array *way[2] = {NULL, NULL};
    for (int64_t d = 0; d < w.ways; d++) {
      int64_t k = layer * w.ways + d;
      cell l = cell_of(c, &w, k, h, memory);
      if (!(way[d] = run(&l, x, weights_at(&w, k)[1], d == 1, &w.packed))) return NULL;
      last[k] = tt__compose_expand(c, l.h, 0);
      last[n + k] = memory ? tt__compose_expand(c, l.memory, 0) : NULL;
    }
    x = w.ways == 2 ? tt__compose_concat(c, way, 2, way[0]->rank - 1) : way[0];
    if (w.training && w.dropout > 0 && layer + 1 < w.layers && x) {
      const tt_value arg[] = {tt_v_array(x), tt_v_float(w.dropout)};
      x = tt__fn_call(c, "nn.functional.dropout", arg, 2);
    }
  }
  if (!last || !x) return NULL;
  f->tuple = true;
  if (tt__fn_give(c, f, x) && tt__fn_give(c, f, tt__compose_concat(c, last, n, 0)) && memory)
    tt__fn_give(c, f, tt__compose_concat(c, last + n, n, 0));
  return NULL;
}
TT_HANDLER(nn_recurrent)

/* mode, input [images, inputs], hx, cx, weights (two, or four with biases): one step. */
static tt_array *nn_recurrent_cell(tt_composer *c, tt_call_frame *f) {
  network w = {.layers = 1, .ways = 1, .kind = kind_of(c, tt__arg_string(c, f, 0, ""))};
  tt_array *x = tt__arg_array(c, f, 1), *h = tt__arg_array(c, f, 2), *memory = NULL;
  w.weight = tt__arg_arrays(c, f, 4, &w.weights);
  if (!x || !h || !w.weight || c->code != TT_OK) return NULL;
  w.biases = w.weights == 4;
  w.width = w.given = tt__array_len(w.weight[1])[1];
  int64_t inputs = tt__array_len(w.weight[0])[1], have = tt__array_len(x)[x->rank - 1];
  if (inputs != have)
    return tt__compose_fail(c, TT_EVALUE, "input has inconsistent input_size: got %lld, expected %lld", (long long)have,
                            (long long)inputs);
  if (h->rank != 2 || tt__array_len(h)[1] != w.width || tt__array_len(h)[0] != tt__array_len(x)[0])
    return tt__compose_fail(c, TT_EVALUE, "hidden0 has inconsistent hidden_size: got %lld, expected %lld",
                            (long long)tt__array_len(h)[h->rank - 1], (long long)w.width);
  if (w.kind == TT_LSTM) memory = tt__compose_expand(c, tt__arg_array(c, f, 3), 0);
  cell l = cell_of(c, &w, 0, tt__compose_expand(c, h, 0), memory);
  step(&l, sum_of(c, tt__compose_matmul(c, x, l.from_input), l.input_bias));
  f->tuple = true;
  if (tt__fn_give(c, f, l.h) && w.kind == TT_LSTM) tt__fn_give(c, f, l.memory);
  return NULL;
}
TT_HANDLER(nn_recurrent_cell)
