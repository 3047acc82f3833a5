/*
** Cotangents through a sequence of a recurrent network. A row of the library walks it back; where they are to be
** differentiated in turn, the steps are spelled and walked over one by one.
*/
#include "fn/nn/recurrent.h"

#include "fn/grad/backward.h"
#include "fn/grad/networks.h"
#include "fn/linalg/matrix.h"
#include "graph/tape.h"

/* ---- by the library's row */

/* All steps and images on one axis: [rows, columns]. */
static tt_array *in_rows(tt_composer *c, tt_array *a) {
  if (!a) return NULL;
  const int64_t *have = tt__array_len(a), len[2] = {have[0] * have[1], have[2]};
  return tt__compose_reshape(c, a, 2, len);
}

/* The cotangent of the weights: of each product that of the sums, with the state before, which is kept last. */
static tt_array *of_weights(tt_composer *c, tt_array *sums, tt_array *kept, int64_t width) {
  tt_array *h = tt__compose_slice(c, kept, 2, tt__array_len(kept)[2] - width, width, 1);
  sums = in_rows(c, sums);
  h = in_rows(c, h);
  return sums && h ? tt__compose_matmul(c, tt__compose_swap(c, sums), h) : NULL;
}

/* A bias that lies behind the states has the sum of all cotangents of the sums. */
static tt_array *with_bias(tt_composer *c, tt_array *state, tt_array *sums, int64_t width) {
  tt_array *rows = in_rows(c, sums), *sum = rows ? tt__compose_reduce(c, TT_RED_SUM, rows, 1, false) : NULL;
  if (!sum) return NULL;
  const int64_t len[2] = {sum->size / width, width};
  tt_array *part[2] = {state, tt__compose_reshape(c, sum, 2, len)};
  return part[1] ? tt__compose_concat(c, part, 2, 0) : NULL;
}

static void by_row(const tt_rule *r) {
  tt_composer *c = r->c;
  const tt_lib_attr *own = r->t->attr.lib;
  tt_array *w = tt__rule_operand(r, 1), *kept = tt__rule_operand(r, 3), *state = tt__rule_operand(r, 2);
  if (!w || !kept || !state) return;
  tt_recurrent_kind kind = (tt_recurrent_kind)own->i[0];
  const tt_dtype t = (tt_dtype)w->dtype;
  int64_t images = own->i[2], width = tt__array_len(w)[1], steps = tt__array_len(kept)[0];
  int64_t gates = tt__array_len(w)[0], rows = tt__array_len(state)[0];
  bool bias = kind == TT_GRU && rows > images;
  tt_lib_attr attr = {.row = tt__lib_row("recurrent_back"), .i = {own->i[0], own->i[1], images}};
  tt_array *src[3] = {w, kept, r->g[0]}, *d[3];
  const tt_compose_want want[3] = {{.dtype = t, .rank = 3, .len = {steps, images, gates}},
                                   {.dtype = t, .rank = 2, .len = {bias ? images : rows, width}},
                                   {.dtype = t, .rank = 3, .len = {steps, images, gates}}};
  if (!tt__compose_library_many(c, &attr, src, 3, want, kind == TT_GRU ? 3 : 2, d)) return;
  r->out[0] = d[kind == TT_GRU ? 2 : 0];
  if (tt__rule_wants(r, 1)) r->out[1] = of_weights(c, d[0], kept, width);
  if (tt__rule_wants(r, 2)) r->out[2] = bias ? with_bias(c, d[1], d[0], width) : d[1];
}

/* ---- spelled */

/* An operand as a value of its own that is followed to it. It may be a view: what the steps read of one is read of the
 * value below, and the walk would find nothing for the view. */
static tt_array *own_operand(const tt_rule *r, int k) {
  tt_array *a = tt__rule_operand(r, k);
  return a ? tt__compose_of_node(r->c, tt__tape_same(a->storage->node, r->c->err)) : NULL;
}

/* The gradients of the steps, by a walk of their own that is followed. */
static void by_steps(const tt_rule *r) {
  tt_composer *c = r->c;
  tt_array *src[3], *input[3], *out[3] = {NULL}, *y = NULL;
  int of[3], n = 0;
  for (int k = 0; k < 3; k++) {
    if (!(src[k] = tt__rule_wants(r, k) ? own_operand(r, k) : tt__rule_operand(r, k))) return;
    if (!tt__rule_wants(r, k)) continue;
    of[n] = k;
    input[n++] = src[k];
  }
  if (!(y = tt__recurrent_spelled(c, r->t->attr.lib, src[0], src[1], src[2]))) return;
  const tt_walk_back b = {.output = &y,
                          .gradient = r->g,
                          .n = 1,
                          .input = input,
                          .ninput = n,
                          .flags = TT_GRAD_CREATE | TT_GRAD_UNUSED,
                          .out = out};
  tt_code code = tt__walk_back(&b, c->err);
  for (int k = 0; k < n; k++)
    if (out[k]) r->out[of[k]] = tt__compose_keep(c, TT_OK, &out[k]);
  if (code != TT_OK) c->code = code;
}

void tt__rule_recurrent(const tt_rule *r) {
  if (r->taped)
    by_steps(r);
  else
    by_row(r);
}
