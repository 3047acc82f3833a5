/*
** The library rows of networks. Their operands: ir/convolution.h, ir/recurrent.h, fn/nn/attention.h.
*/
#include "base/mem.h"
#include "lib/nn/attention/attention.h"
#include "lib/nn/convolve/convolve.h"
#include "lib/nn/cudnn.h"
#include "lib/nn/device.h"
#include "lib/nn/recurrent/recurrent.h"
#include "lib/product/device.h"
#include "lib/rows.h"

/* The axes behind the first `lead`; of TT_CONV_AXES those that are not there have length 1. */
static void space_of(const int64_t *len, const int64_t *step, int rank, int lead, int64_t *to_len, int64_t *to_step) {
  for (int d = 0; d < TT_CONV_AXES; d++) {
    int axis = rank - TT_CONV_AXES + d;
    to_len[d] = axis < lead ? 1 : len[axis];
    to_step[d] = axis < lead ? 0 : step[axis];
  }
}

static tt_conv convolution_of(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out) {
  const tt_operand *x = &src[0], *w = &src[1], *bias = attr->row->nsrc > 2 ? &src[2] : NULL;
  bool turned = tt__conv_turned(attr);
  int64_t y[TT_MAX_RANK], run = 1;
  for (int d = out->rank - 1; d >= 0; d--) {
    y[d] = run;
    run *= out->len[d];
  }
  tt_conv c = {.type = out->dtype,
               .images = x->len[0],
               .groups = x->len[1],
               .channels = x->len[2],
               .outputs = w->len[1],
               .x = x->data,
               .w = w->data,
               .y = out->data,
               .x_image = x->step[0],
               .x_group = x->step[1],
               .x_channel = x->step[2],
               .w_group = w->step[0],
               .w_output = w->step[1],
               .w_channel = w->step[2],
               .y_image = y[turned],
               .y_group = y[!turned] * w->len[1],
               .y_output = y[!turned]};
  if (bias) {
    c.bias = bias->data;
    c.bias_group = bias->step[0];
    c.bias_output = bias->step[1];
  }
  space_of(x->len, x->step, x->rank, 3, c.in, c.x_at);
  space_of(w->len, w->step, w->rank, 3, c.kernel, c.w_at);
  space_of(out->len, y, out->rank, 2, c.out, c.y_at);
  for (int d = 0; d < TT_CONV_AXES; d++) {
    int at = x->rank - 3 - TT_CONV_AXES + d;
    c.axis[d] = at < 0 ? (tt_conv_axis){.stride = 1, .dilation = 1, .spread = 1} : tt__conv_axis(attr, at);
  }
  return c;
}

static tt_code convolution(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const tt_conv c = convolution_of(attr, src, out);
  return tt__convolve(&c, err);
}

/* cuDNN, which adds no bias here, and kernels of ours. */
static tt_code convolution_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                              const tt_block *out, tt_error *err) {
  const tt_conv c = convolution_of(attr, src, out);
  tt_code code = TT_ENOTIMPL;
  if (!c.bias) code = tt__cudnn_convolve(on, &c, !tt__product_is_fast(), err);
  return code == TT_ENOTIMPL ? tt__convolve_device(on, &c, err) : code;
}

static uint64_t mode(void) { return tt__product_is_fast(); }

/* Products, each with a sum, of all taps that do not meet a zero between elements; as if x ended like it begins. */
static tt_lib_work work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)wanted;
  double n = 2 * (double)src[0].len[0];
  for (int d = 0; d < 3; d++) n *= (double)src[1].len[d];
  for (int d = 3; d < src[0].rank; d++) {
    tt_conv_axis a = tt__conv_axis(attr, d - 3);
    double taps = (double)src[1].len[d], reach = (taps - 1) * (double)a.dilation;
    double places = ((double)((src[0].len[d] - 1) * a.spread + 2 * a.pad) - reach) / (double)a.stride + 1;
    n *= taps / (double)a.spread * (places > 1 ? places : 1);
  }
  return (tt_lib_work){.flops = n};
}

static const tt_lib_cost cost = {.work = work, .host_share = 0.8, .device_share = 0.8};

/* ---- attention */

static tt_attention_side side(const tt_operand *m) {
  return (tt_attention_side){
      .data = m->data, .batch = m->step, .row = m->step[m->rank - 2], .column = m->step[m->rank - 1]};
}

/* Of the columns of m those from `first`. */
static tt_attention_side columns_from(const tt_operand *m, int64_t first) {
  tt_attention_side s = side(m);
  s.data = (const char *)m->data + first * s.column * (int64_t)tt__dtype_size(m->dtype);
  return s;
}

/* Operands are q, k, v, or q, then k and v side by side; `mask` may be NULL. */
static tt_attention attention_of(const tt_lib_attr *attr, const tt_operand *src, const tt_operand *mask) {
  const tt_operand *q = &src[0], *k = &src[1], *v = mask ? &src[1] : &src[2];
  int rank = q->rank - 2;
  int64_t width = q->len[rank + 1], batches = 1;
  for (int d = 0; d < rank; d++) batches *= q->len[d];
  tt_attention a = {.type = q->dtype,
                    .rank = rank,
                    .len = q->len,
                    .batches = batches,
                    .queries = q->len[rank],
                    .keys = k->len[rank],
                    .width = width,
                    .deep = v->len[rank + 1] - (mask ? width : 0),
                    .scale = attr->f[0],
                    .causal = attr->i[0] != 0,
                    .q = side(q),
                    .k = side(k),
                    .v = columns_from(v, mask ? width : 0)};
  if (mask) {
    a.mask = side(mask);
    a.mask_type = mask->dtype;
  }
  return a;
}

static tt_code attention(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const tt_attention a = attention_of(attr, src, NULL);
  return tt__attention(&a, out[0].data, out[1].data, err);
}

static tt_code attention_masked(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const tt_attention a = attention_of(attr, src, &src[2]);
  return tt__attention(&a, out[0].data, out[1].data, err);
}

static tt_code attention_back(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const tt_attention a = attention_of(attr, src, NULL);
  const tt_attention_side g = side(&src[3]);
  return tt__attention_back(&a, &g, out[0].data, out[1].data, out[2].data, err);
}

static tt_code attention_masked_back(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                                     tt_error *err) {
  const tt_attention a = attention_of(attr, src, &src[3]);
  const tt_attention_side g = side(&src[2]);
  return tt__attention_back(&a, &g, out[0].data, out[1].data, out[2].data, err);
}

/* ---- with k and v side by side, and no mask */

static tt_attention joined_of(const tt_lib_attr *attr, const tt_operand *src) {
  tt_attention a = attention_of(attr, src, &src[1]); /* as they are beside a mask */
  a.mask = (tt_attention_side){0};
  return a;
}

/* Shares are dropped by the random numbers of a key. */
static tt_attention dropped_of(const tt_lib_attr *attr, const tt_operand *src, const tt_operand *key) {
  tt_attention a = joined_of(attr, src);
  a.chance = attr->f[1];
  a.key = key->data;
  return a;
}

static tt_code attention_dropped(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const tt_attention a = dropped_of(attr, src, &src[2]);
  return tt__attention(&a, out[0].data, out[1].data, err);
}

static tt_code attention_dropped_back(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                                      tt_error *err) {
  const tt_attention a = dropped_of(attr, src, &src[3]);
  const tt_attention_side g = side(&src[2]);
  return tt__attention_back(&a, &g, out[0].data, out[1].data, out[2].data, err);
}

static tt_code attention_dropped_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                    const tt_block *out, tt_error *err) {
  const tt_attention a = dropped_of(attr, src, &src[2]);
  return tt__attention_device(on, &a, out[0].data, out[1].data, err);
}

static tt_code attention_dropped_back_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                         const tt_block *out, tt_error *err) {
  const tt_attention a = dropped_of(attr, src, &src[3]);
  const tt_attention_side g = side(&src[2]);
  return tt__attention_back_device(on, &a, &g, out[0].data, out[1].data, out[2].data, err);
}

/* cuDNN, and kernels of ours. */
static tt_code forward_on(const tt_lib_device *on, const tt_attention *a, const tt_block *out, tt_error *err) {
  tt_code code = tt__cudnn_attention(on, a, out[0].data, out[1].data, err);
  return code == TT_ENOTIMPL ? tt__attention_device(on, a, out[0].data, out[1].data, err) : code;
}

static tt_code back_on(const tt_lib_device *on, const tt_attention *a, const tt_operand *g, const tt_block *out,
                       tt_error *err) {
  const tt_attention_side s = side(g);
  return tt__attention_back_device(on, a, &s, out[0].data, out[1].data, out[2].data, err);
}

static tt_code attention_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                            const tt_block *out, tt_error *err) {
  const tt_attention a = attention_of(attr, src, NULL);
  return forward_on(on, &a, out, err);
}

static tt_code attention_masked_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                   const tt_block *out, tt_error *err) {
  const tt_attention a = attention_of(attr, src, &src[2]);
  return forward_on(on, &a, out, err);
}

static tt_code attention_back_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                 const tt_block *out, tt_error *err) {
  const tt_attention a = attention_of(attr, src, NULL);
  return back_on(on, &a, &src[3], out, err);
}

static tt_code attention_masked_back_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                        const tt_block *out, tt_error *err) {
  const tt_attention a = attention_of(attr, src, &src[3]);
  return back_on(on, &a, &src[2], out, err);
}

/* ---- the way back from q, k, v, the cotangent, the result and lse, which is as the way forward left it: dense */

/* [queries, deep + 2] for each of the batches; `step` has room for those of the batches. */
static tt_attention_side dense_sums(const tt_attention *a, const void *data, int64_t *step) {
  int64_t run = a->queries * (a->deep + 2);
  for (int d = a->rank - 1; d >= 0; d--) {
    step[d] = run;
    run *= a->len[d];
  }
  return (tt_attention_side){.data = data, .batch = step, .row = a->deep + 2, .column = 1};
}

static tt_code attention_whole_back(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                                    tt_error *err) {
  const tt_attention a = attention_of(attr, src, NULL);
  const tt_attention_side from = side(&src[3]), o = side(&src[4]);
  int64_t step[TT_MAX_RANK];
  const size_t size = (size_t)(a.batches * a.queries * (a.deep + 2)) * sizeof(float) + 1;
  float *g = tt__mem_alloc(size);
  if (!g) return tt__fail(err, TT_ENOMEM, "no memory for the cotangents of attention");
  tt__attention_sums_host(&a, &from, &o, src[5].data, g);
  const tt_attention_side s = dense_sums(&a, g, step);
  tt_code code = tt__attention_back(&a, &s, out[0].data, out[1].data, out[2].data, err);
  tt__mem_free(g, size);
  return code;
}

static tt_code attention_whole_back_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                       const tt_block *out, tt_error *err) {
  const tt_attention a = attention_of(attr, src, NULL);
  tt_attention_side g = side(&src[3]), o = side(&src[4]);
  tt_code code = tt__cudnn_attention_back(on, &a, &o, &g, src[5].data, out[0].data, out[1].data, out[2].data, err);
  if (code != TT_ENOTIMPL) return code;
  int64_t step[TT_MAX_RANK];
  void *sums;
  TT_TRY(tt__attention_sums_device(on, &a, &g, &o, src[5].data, &sums, err));
  g = dense_sums(&a, sums, step);
  return tt__attention_back_device(on, &a, &g, out[0].data, out[1].data, out[2].data, err);
}

/* Two products, and five on the way back; all is counted where queries see the keys up to theirs. */
static tt_lib_work attention_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  const tt_operand *q = &src[0], *k = &src[1];
  double n = 4 * (double)k->len[k->rank - 2];
  for (int d = 0; d < q->rank; d++) n *= (double)q->len[d];
  return (tt_lib_work){.flops = n};
}

static tt_lib_work attention_back_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  tt_lib_work w = attention_work(attr, src, wanted);
  w.flops *= 2.5;
  return w;
}

static const tt_lib_cost attention_cost = {.work = attention_work, .host_share = 0.6, .device_share = 0.6};
static const tt_lib_cost attention_back_cost = {.work = attention_back_work, .host_share = 0.6, .device_share = 0.6};

/* ---- recurrent networks */

static tt_recurrent recurrent_of(const tt_lib_attr *attr, const tt_operand *w) {
  return (tt_recurrent){.type = w->dtype,
                        .kind = (tt_recurrent_kind)attr->i[0],
                        .reverse = attr->i[1] != 0,
                        .images = attr->i[2],
                        .width = w->len[1],
                        .w = w->data};
}

/* What lies behind the states h of all images: the memory, or a bias; NULL of NULL. */
static char *behind(const tt_recurrent *r, const void *h) {
  return h ? (char *)(uintptr_t)h + r->images * r->width * (int64_t)tt__dtype_size(r->type) : NULL;
}

/* A row's operands on the way there; gives what lies behind the states. */
static const void *recurrent_there(tt_recurrent *r, const tt_operand *src) {
  r->steps = src[0].len[0];
  const void *more = behind(r, src[2].data);
  if (r->kind == TT_GRU && src[2].len[0] > r->images) r->bias = more;
  return more;
}

static tt_code recurrent(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  tt_recurrent r = recurrent_of(attr, &src[1]);
  const void *more = recurrent_there(&r, src);
  return tt__recurrent(&r, src[0].data, src[2].data, more, out[0].data, out[1].data, err);
}

static tt_code recurrent_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                            const tt_block *out, tt_error *err) {
  tt_recurrent r = recurrent_of(attr, &src[1]);
  const void *more = recurrent_there(&r, src);
  return tt__recurrent_device(on, &r, src[0].data, src[2].data, more, out[0].data, out[1].data, err);
}

static tt_code recurrent_back(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  tt_recurrent r = recurrent_of(attr, &src[0]);
  r.steps = src[1].len[0];
  char *h = out[1].data;
  void *x = r.kind == TT_GRU ? out[2].data : NULL;
  return tt__recurrent_back(&r, src[1].data, src[2].data, out[0].data, x, h, behind(&r, h), err);
}

static tt_code recurrent_back_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                 const tt_block *out, tt_error *err) {
  tt_recurrent r = recurrent_of(attr, &src[0]);
  r.steps = src[1].len[0];
  char *h = out[1].data;
  void *x = r.kind == TT_GRU ? out[2].data : NULL;
  return tt__recurrent_back_device(on, &r, src[1].data, src[2].data, out[0].data, x, h, behind(&r, h), err);
}

/* A product in each step. */
static tt_lib_work recurrent_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)wanted;
  bool back = src[0].rank == 2;
  const tt_operand *w = &src[!back], *steps = &src[back];
  double each = 2 * (double)attr->i[2] * (double)w->size;
  return (tt_lib_work){.flops = each * (double)steps->len[0], .steps = -1};
}

static const tt_lib_cost recurrent_cost = {.work = recurrent_work, .host_share = 0.3, .device_share = 0.1};

const tt_lib_row tt__rows_nn[] = {
    {.name = "recurrent", .nsrc = 3, .nout = 2, .run = recurrent, .run_on = recurrent_on, .cost = &recurrent_cost},
    {.name = "recurrent_back",
     .nsrc = 3,
     .nout = 3,
     .run = recurrent_back,
     .run_on = recurrent_back_on,
     .cost = &recurrent_cost},
    {.name = "convolution",
     .nsrc = 2,
     .nout = 1,
     .strided = true,
     .run = convolution,
     .run_on = convolution_on,
     .mode = mode,
     .cost = &cost},
    {.name = "convolution_bias",
     .nsrc = 3,
     .nout = 1,
     .strided = true,
     .run = convolution,
     .run_on = convolution_on,
     .mode = mode,
     .cost = &cost},
    {.name = "attention",
     .nsrc = 3,
     .nout = 2,
     .strided = true,
     .run = attention,
     .run_on = attention_on,
     .mode = mode,
     .cost = &attention_cost},
    {.name = "attention_masked",
     .nsrc = 3,
     .nout = 2,
     .strided = true,
     .run = attention_masked,
     .run_on = attention_masked_on,
     .mode = mode,
     .cost = &attention_cost},
    {.name = "attention_back",
     .nsrc = 4,
     .nout = 3,
     .strided = true,
     .run = attention_back,
     .run_on = attention_back_on,
     .mode = mode,
     .cost = &attention_back_cost},
    {.name = "attention_masked_back",
     .nsrc = 4,
     .nout = 3,
     .strided = true,
     .run = attention_masked_back,
     .run_on = attention_masked_back_on,
     .mode = mode,
     .cost = &attention_back_cost},
    {.name = "attention_dropped",
     .nsrc = 3,
     .nout = 2,
     .strided = true,
     .run = attention_dropped,
     .run_on = attention_dropped_on,
     .mode = mode,
     .cost = &attention_cost},
    {.name = "attention_dropped_back",
     .nsrc = 4,
     .nout = 3,
     .strided = true,
     .run = attention_dropped_back,
     .run_on = attention_dropped_back_on,
     .mode = mode,
     .cost = &attention_back_cost},
    {.name = "attention_whole_back",
     .nsrc = 6,
     .nout = 3,
     .strided = true,
     .run = attention_whole_back,
     .run_on = attention_whole_back_on,
     .mode = mode,
     .cost = &attention_back_cost},
    {.name = NULL},
};
