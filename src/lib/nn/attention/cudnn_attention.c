/*
** Attention as a graph that cuDNN runs as one kernel: it knows the pattern of the operations, so the graphs here say
** them one by one and in that order.
*/
#include <assert.h>
#include <float.h>
#include <string.h>

#include "base/integer.h"
#include "lib/nn/cudnn.h"

enum { RANK = 4, HALF_ALIGN = 16, MOST_WIDTH = 256 };

/* The kernel whose bits are the same each time keeps the scores of all batches that it is given. */
#define SCORE_BYTES ((int64_t)1 << 30)

/* The modes of operations that are said here. */
enum { MAX = 3, SUM = 0 };
enum {
  ADD = 0,
  MUL = 1,
  DIV = 6,
  SUB = 9,
  EXP = 13,
  LOG = 15,
  IDENTITY = 21,
  AT_LEAST = 303,
  INDEX = 501,
  SELECT = 601
};

/* A graph that is being written, and where its tensors lie. */
typedef struct writer {
  tt_cudnn_graph *g;
  void *data[TT_CUDNN_TENSORS];
  int64_t outer, inner, queries, keys; /* two axes of batches */
  int half;                            /* what the type of q is called */
} writer;

static int add_tensor(writer *w, int type, int place, void *data, const int64_t *len, const int64_t *step) {
  assert(w->g->tensors < TT_CUDNN_TENSORS);
  int at = w->g->tensors++;
  tt_cudnn_tensor *t = &w->g->tensor[at];
  t->type = type;
  t->place = place;
  t->align = place == TT_CUDNN_VALUE || type == TT_CUDNN_F32 ? 4 : HALF_ALIGN;
  memcpy(t->len, len, RANK * sizeof *len);
  memcpy(t->step, step, RANK * sizeof *step);
  w->data[at] = data;
  return at;
}

/* A dense matrix for each of the batches. */
static int dense(writer *w, int type, int place, void *data, int64_t rows, int64_t columns) {
  const int64_t len[RANK] = {w->outer, w->inner, rows, columns};
  const int64_t step[RANK] = {w->inner * rows * columns, rows * columns, columns, 1};
  return add_tensor(w, type, place, data, len, step);
}

/* The same, lying by columns. */
static int turned(writer *w, int type, int place, int64_t rows, int64_t columns) {
  const int64_t len[RANK] = {w->outer, w->inner, rows, columns};
  const int64_t step[RANK] = {w->inner * rows * columns, rows * columns, 1, rows};
  return add_tensor(w, type, place, NULL, len, step);
}

static int value(writer *w, const float *data) {
  static const int64_t one[RANK] = {1, 1, 1, 1};
  return add_tensor(w, TT_CUDNN_F32, TT_CUDNN_VALUE, (void *)data, one, one);
}

/* One of a and its matrices' transposes. */
static int side(writer *w, const tt_attention *a, const tt_attention_side *s, int64_t rows, int64_t columns,
                bool transpose) {
  int64_t outer = a->rank > 1 ? s->batch[a->rank - 2] : 0, inner = a->rank > 0 ? s->batch[a->rank - 1] : 0;
  int64_t len[RANK] = {w->outer, w->inner, transpose ? columns : rows, transpose ? rows : columns};
  int64_t step[RANK] = {outer, inner, transpose ? 1 : s->row, transpose ? s->row : 1};
  if (w->inner == 1) step[1] = rows * s->row;
  if (w->outer == 1) step[0] = w->inner * step[1];
  return add_tensor(w, w->half, TT_CUDNN_MEMORY, (void *)s->data, len, step);
}

static int put(writer *w, tt_cudnn_op op) {
  assert(w->g->ops < TT_CUDNN_OPS);
  w->g->op[w->g->ops++] = op;
  return op.out;
}

static int pointwise(writer *w, int mode, int a, int b, int out) {
  return put(w, (tt_cudnn_op){.kind = TT_CUDNN_POINTWISE, .mode = mode, .in = {a, b, -1}, .out = out});
}

static int product(writer *w, int a, int b, int out) {
  return put(w, (tt_cudnn_op){.kind = TT_CUDNN_MATMUL, .in = {a, b, -1}, .out = out});
}

static int reduce(writer *w, int mode, int a, int out) {
  return put(w, (tt_cudnn_op){.kind = TT_CUDNN_REDUCTION, .mode = mode, .in = {a, -1, -1}, .out = out});
}

static int reshape(writer *w, int a, int out) {
  return put(w, (tt_cudnn_op){.kind = TT_CUDNN_RESHAPE, .in = {a, -1, -1}, .out = out});
}

/* Between two operations: float32, a score for each query and key, or one number for each query. */
static int scores(writer *w) { return dense(w, TT_CUDNN_F32, TT_CUDNN_VIRTUAL, NULL, w->queries, w->keys); }
static int column(writer *w) { return dense(w, TT_CUDNN_F32, TT_CUDNN_VIRTUAL, NULL, w->queries, 1); }

static int index_along(writer *w, int s, int axis) {
  int out = dense(w, TT_CUDNN_I32, TT_CUDNN_VIRTUAL, NULL, w->queries, w->keys);
  return put(w, (tt_cudnn_op){.kind = TT_CUDNN_POINTWISE,
                              .mode = INDEX,
                              .axis = axis,
                              .type = TT_CUDNN_I32,
                              .in = {s, -1, -1},
                              .out = out});
}

/* The lowest number where query i does not see key j. */
static int causal(writer *w, int s) {
  static const float lowest = -FLT_MAX;
  int i = index_along(w, s, 2), j = index_along(w, s, 3);
  int sees = dense(w, TT_CUDNN_BOOL, TT_CUDNN_VIRTUAL, NULL, w->queries, w->keys);
  put(w, (tt_cudnn_op){
             .kind = TT_CUDNN_POINTWISE, .mode = AT_LEAST, .type = TT_CUDNN_BOOL, .in = {i, j, -1}, .out = sees});
  return put(w, (tt_cudnn_op){
                    .kind = TT_CUDNN_POINTWISE, .mode = SELECT, .in = {s, value(w, &lowest), sees}, .out = scores(w)});
}

static int masked_scores(writer *w, const tt_attention *a, int q, int k, int scale) {
  int s = product(w, q, k, scores(w));
  s = pointwise(w, MUL, s, scale, scores(w));
  return a->causal ? causal(w, s) : s;
}

/* ---- what it takes */

static bool is_whole(const tt_attention *a, const tt_attention_side *s, int64_t columns) {
  bool fits = s->column == 1 && s->row >= columns && s->row % 8 == 0 && ((uintptr_t)s->data & (HALF_ALIGN - 1)) == 0;
  for (int d = 0; d < a->rank; d++) fits &= a->len[d] == 1 || (s->batch[d] > 0 && s->batch[d] % 8 == 0);
  return fits;
}

static bool fits(const tt_attention *a) {
  bool half = a->type == TT_F16 || a->type == TT_BF16;
  bool some = a->batches > 0 && a->queries > 0 && a->keys > 0 && a->width > 0 && a->deep > 0;
  return half && some && a->rank <= 2 && !a->mask.data && a->width % 8 == 0 && a->deep % 8 == 0 &&
         a->width <= MOST_WIDTH && a->deep <= MOST_WIDTH && is_whole(a, &a->q, a->width) &&
         is_whole(a, &a->k, a->width) && is_whole(a, &a->v, a->deep);
}

static void begin(writer *w, tt_cudnn_graph *g, const tt_attention *a) {
  memset(g, 0, sizeof *g);
  memset(w, 0, sizeof *w);
  g->rank = RANK;
  w->g = g;
  w->outer = a->rank > 1 ? a->len[a->rank - 2] : 1;
  w->inner = a->rank > 0 ? a->len[a->rank - 1] : 1;
  w->queries = a->queries;
  w->keys = a->keys;
  w->half = tt__cudnn_type(a->type);
}

/* ---- forward */

tt_code tt__cudnn_attention(const tt_lib_device *on, const tt_attention *a, void *o, void *lse, tt_error *err) {
  if (!fits(a)) return tt__fail(err, TT_ENOTIMPL, "not an attention of cuDNN");
  tt_cudnn_graph g;
  writer w;
  const float by = (float)a->scale;
  begin(&w, &g, a);
  int q = side(&w, a, &a->q, a->queries, a->width, false), k = side(&w, a, &a->k, a->keys, a->width, true);
  int v = side(&w, a, &a->v, a->keys, a->deep, false);
  int s = masked_scores(&w, a, q, k, value(&w, &by));
  int most = reduce(&w, MAX, s, column(&w));
  int e = pointwise(&w, EXP, pointwise(&w, SUB, s, most, scores(&w)), -1, scores(&w));
  int sum = reduce(&w, SUM, e, column(&w)), log = pointwise(&w, LOG, sum, -1, column(&w));
  int kept = dense(&w, TT_CUDNN_F32, lse ? TT_CUDNN_MEMORY : TT_CUDNN_VIRTUAL, lse, a->queries, 1);
  pointwise(&w, ADD, most, log, kept);
  int p = pointwise(&w, DIV, e, sum, dense(&w, w.half, TT_CUDNN_VIRTUAL, NULL, a->queries, a->keys));
  product(&w, p, v, dense(&w, w.half, TT_CUDNN_MEMORY, o, a->queries, a->deep));
  tt_cudnn_room room = {0};
  return tt__cudnn_run(on, &g, w.data, &room, err);
}

/* ---- the way back */

/* Where a cotangent goes that nobody asks for. */
static tt_code or_temp(const tt_lib_device *on, void *p, int64_t elements, size_t size, void **out, tt_error *err) {
  *out = p;
  return p ? TT_OK : on->temp(on, (size_t)elements * size, out, err);
}

/* The sums of g times o for each query: memory of its own, as the kernel takes them to the next one. */
static int sums_of(writer *w, int g, int o, int one, int64_t deep, void *sums) {
  int s = pointwise(w, MUL, g, o, dense(w, TT_CUDNN_F32, TT_CUDNN_VIRTUAL, NULL, w->queries, deep));
  s = reduce(w, SUM, s, column(w));
  return pointwise(w, MUL, s, one, dense(w, TT_CUDNN_F32, TT_CUDNN_MEMORY, sums, w->queries, 1));
}

typedef struct back {
  int q, k, v, o, g, kept, scale, one;
  void *dq, *dk, *dv, *sums;
  tt_cudnn_room *room;
} back;

static void write_back(writer *w, const tt_attention *a, const back *b) {
  int sums = sums_of(w, b->g, b->o, b->one, a->deep, b->sums);
  int s = masked_scores(w, a, b->q, b->k, b->scale);
  int p = pointwise(w, EXP, pointwise(w, SUB, s, b->kept, scores(w)), -1, scores(w));
  int pt = reshape(w, p, turned(w, w->half, TT_CUDNN_VIRTUAL, a->keys, a->queries));
  product(w, pt, b->g, dense(w, w->half, TT_CUDNN_MEMORY, b->dv, a->keys, a->deep));
  int d = pointwise(w, MUL, product(w, b->g, b->v, scores(w)), b->one, scores(w));
  d = pointwise(w, MUL, pointwise(w, SUB, d, sums, scores(w)), p, scores(w));
  d = pointwise(w, MUL, d, b->scale, scores(w));
  int dt = reshape(w, d, turned(w, w->half, TT_CUDNN_VIRTUAL, a->keys, a->queries));
  product(w, dt, b->q, dense(w, w->half, TT_CUDNN_MEMORY, b->dk, a->keys, a->width));
  int64_t len[RANK], step[RANK];
  memcpy(len, w->g->tensor[b->k].len, sizeof len);
  memcpy(step, w->g->tensor[b->k].step, sizeof step);
  len[2] = a->keys, len[3] = a->width, step[2] = step[3], step[3] = 1;
  int k = reshape(w, b->k, add_tensor(w, w->half, TT_CUDNN_VIRTUAL, NULL, len, step));
  product(w, d, k, dense(w, w->half, TT_CUDNN_MEMORY, b->dq, a->queries, a->width));
}

static tt_code back_at_once(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *o,
                            const tt_attention_side *g, const void *lse, back b, tt_error *err) {
  tt_cudnn_graph graph;
  writer w;
  const float by = (float)a->scale, one = 1;
  begin(&w, &graph, a);
  b.q = side(&w, a, &a->q, a->queries, a->width, false);
  b.k = side(&w, a, &a->k, a->keys, a->width, true);
  b.v = side(&w, a, &a->v, a->keys, a->deep, true);
  b.o = side(&w, a, o, a->queries, a->deep, false);
  b.g = side(&w, a, g, a->queries, a->deep, false);
  b.kept = dense(&w, TT_CUDNN_F32, TT_CUDNN_MEMORY, (void *)lse, a->queries, 1);
  b.scale = value(&w, &by);
  b.one = value(&w, &one);
  write_back(&w, a, &b);
  return tt__cudnn_run(on, &graph, w.data, b.room, err);
}

static void *ahead(const void *p, int64_t elements, int64_t size) { return (char *)p + elements * size; }

/* Batches of the call: `len` of them along its two axes, from `from` on. */
typedef struct window {
  int64_t from[2], len[2];
} window;

static tt_attention_side part_of(const tt_attention *a, const tt_attention_side *s, const window *n) {
  tt_attention_side part = *s;
  for (int d = 0; d < a->rank; d++) part.data = ahead(part.data, n->from[2 - a->rank + d] * s->batch[d], 2);
  return part;
}

static tt_code back_of_part(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *o,
                            const tt_attention_side *g, const void *lse, const back *b, const window *n,
                            tt_error *err) {
  int64_t inner = a->rank > 0 ? a->len[a->rank - 1] : 1, first = n->from[0] * inner + n->from[1];
  tt_attention part = *a;
  part.len = n->len + 2 - a->rank;
  part.batches = n->len[0] * n->len[1];
  part.q = part_of(a, &a->q, n), part.k = part_of(a, &a->k, n), part.v = part_of(a, &a->v, n);
  tt_attention_side po = part_of(a, o, n), pg = part_of(a, g, n);
  back p = {.dq = ahead(b->dq, first * a->queries * a->width, 2),
            .dk = ahead(b->dk, first * a->keys * a->width, 2),
            .dv = ahead(b->dv, first * a->keys * a->deep, 2),
            .sums = ahead(b->sums, first * a->queries, 4),
            .room = b->room};
  return back_at_once(on, &part, &po, &pg, ahead(lse, first * a->queries, 4), p, err);
}

tt_code tt__cudnn_attention_back(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *o,
                                 const tt_attention_side *g, const void *lse, void *dq, void *dk, void *dv,
                                 tt_error *err) {
  if (!fits(a) || !is_whole(a, o, a->deep) || !is_whole(a, g, a->deep))
    return tt__fail(err, TT_ENOTIMPL, "not an attention of cuDNN");
  tt_cudnn_room room = {0};
  back b = {.room = &room};
  TT_TRY(or_temp(on, dq, a->batches * a->queries * a->width, 2, &b.dq, err));
  TT_TRY(or_temp(on, dk, a->batches * a->keys * a->width, 2, &b.dk, err));
  TT_TRY(or_temp(on, dv, a->batches * a->keys * a->deep, 2, &b.dv, err));
  TT_TRY(or_temp(on, NULL, a->batches * a->queries, sizeof(float), &b.sums, err));
  int64_t inner = a->rank > 0 ? a->len[a->rank - 1] : 1, outer = a->batches / inner;
  int64_t most = tt__max64(1, SCORE_BYTES / (a->queries * a->keys * 2)); /* batches at once */
  window n = {.len = {outer, inner}};
  int64_t by_outer = tt__max64(1, most / inner), by_inner = tt__min64(most, inner);
  for (n.from[0] = 0; n.from[0] < outer; n.from[0] += by_outer)
    for (n.from[1] = 0; n.from[1] < inner; n.from[1] += by_inner) {
      n.len[0] = tt__min64(by_outer, outer - n.from[0]);
      n.len[1] = tt__min64(by_inner, inner - n.from[1]);
      TT_TRY(back_of_part(on, a, o, g, lse, &b, &n, err));
    }
  return TT_OK;
}
