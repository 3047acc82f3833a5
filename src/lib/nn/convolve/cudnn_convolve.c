/*
** Our family of convolutions in cuDNN's words. It has three: forward, back to data and back to the filter. A
** convolution whose x has zeros between its elements, or whose taps are in reverse, is its "back to data"; one with
** more taps than places is its "back to the filter", with images and channels exchanged.
*/
#include <string.h>

#include "base/integer.h"
#include "lib/nn/cudnn.h"

/* Axes of one tensor, with groups and what lies in a group as one: false when they are not one. */
static bool join(int64_t groups, int64_t group_step, int64_t len, int64_t step, int64_t *out_len, int64_t *out_step) {
  if (groups > 1 && len > 1 && group_step != len * step) return false;
  *out_len = groups * len;
  *out_step = len > 1 ? step : group_step;
  return true;
}

/* What of a convolution lies along one axis of space. */
typedef struct space {
  int64_t x, w, y; /* lengths */
  int64_t x_at, w_at, y_at;
  int64_t stride, dilation, spread, pad;
} space;

static space space_of(const tt_conv *c, int d) {
  const tt_conv_axis *a = &c->axis[d];
  return (space){c->in[d],   c->kernel[d], c->out[d],   c->x_at[d], c->w_at[d],
                 c->y_at[d], a->stride,    a->dilation, a->spread,  a->pad};
}

/* Padding behind x, so that `taps` in steps of `dilation` stand at `places`; false when no padding does that. */
static bool pad_behind(int64_t len, int64_t taps, int64_t places, int64_t stride, int64_t dilation, int64_t before,
                       int64_t *after) {
  int64_t reach = (taps - 1) * dilation + 1, room = len + 2 * before - reach;
  *after = before; /* both alike is what most engines know */
  if (before >= 0 && room >= 0 && room / stride + 1 == places) return true;
  *after = tt__max64(0, (places - 1) * stride + reach - len - before);
  room = len + before + *after - reach;
  return before >= 0 && room >= 0 && room / stride + 1 == places;
}

/* A tensor's two leading axes; those of space follow. */
static void lead(tt_cudnn_tensor *t, int64_t len0, int64_t step0, int64_t len1, int64_t step1) {
  t->len[0] = len0;
  t->step[0] = step0;
  t->len[1] = len1;
  t->step[1] = step1;
}

/* Do elements lie one behind the other, with the axes in this order, the first slowest? Then steps of axes of length 1,
 * which some engines look at, become those of that order too. */
static bool lies_in(tt_cudnn_tensor *t, int rank, const int *order) {
  int64_t run = 1, step[TT_CUDNN_AXES];
  for (int i = rank - 1; i >= 0; i--) {
    int d = order[i];
    if (t->len[d] > 1 && t->step[d] != run) return false;
    step[d] = run;
    run *= t->len[d];
  }
  memcpy(t->step, step, sizeof *step * (size_t)rank);
  return true;
}

/* Engines are told of steps, but not all of them look: tensors lie with channels before space, or last. */
static bool is_packed(tt_cudnn_graph *g) {
  static const int first[TT_CUDNN_AXES] = {0, 1, 2, 3, 4}, last4[] = {0, 2, 3, 1}, last5[] = {0, 2, 3, 4, 1};
  int before = 0, behind = 0;
  for (int k = 0; k < 3; k++) {
    tt_cudnn_tensor t = g->tensor[k];
    before += lies_in(&t, g->rank, first);
  }
  const int *order = before == 3 ? first : g->rank == 4 ? last4 : last5;
  for (int k = 0; k < 3; k++) behind += lies_in(&g->tensor[k], g->rank, order);
  return behind == 3;
}

/* The space of the three tensors in the order x, filter, y of the operation: false when it has no such operation. */
static bool spread_out(tt_cudnn_graph *g, const tt_conv *c, int kind) {
  int axes = g->rank - 2;
  for (int i = 0; i < axes; i++) {
    space s = space_of(c, TT_CONV_AXES - axes + i);
    bool back = kind == TT_CUDNN_BACK_DATA, filter = kind == TT_CUDNN_BACK_FILTER;
    int64_t x = back ? s.y : s.x, w = filter ? s.y : s.w, y = back ? s.x : filter ? s.w : s.y;
    g->stride[i] = back ? s.spread : filter ? s.dilation : s.stride;
    g->dilation[i] = filter ? s.stride : s.dilation;
    g->before[i] = back ? (s.w - 1) * s.dilation - s.pad : s.pad;
    if (!pad_behind(x, w, y, g->stride[i], g->dilation[i], g->before[i], &g->after[i])) return false;
    const int64_t len[3] = {x, w, y};
    const int64_t step[3] = {back ? s.y_at : s.x_at, filter ? s.y_at : s.w_at,
                             back     ? s.x_at
                             : filter ? s.w_at
                                      : s.y_at};
    for (int k = 0; k < 3; k++) {
      g->tensor[k].len[2 + i] = len[k];
      g->tensor[k].step[2 + i] = step[k];
    }
  }
  return is_packed(g);
}

static bool forward(tt_cudnn_graph *g, const tt_conv *c) {
  int64_t n[3], step[3];
  if (!join(c->groups, c->x_group, c->channels, c->x_channel, &n[0], &step[0])) return false;
  if (!join(c->groups, c->w_group, c->outputs, c->w_output, &n[1], &step[1])) return false;
  if (!join(c->groups, c->y_group, c->outputs, c->y_output, &n[2], &step[2])) return false;
  lead(&g->tensor[0], c->images, c->x_image, n[0], step[0]);
  lead(&g->tensor[1], n[1], step[1], c->channels, c->w_channel);
  lead(&g->tensor[2], c->images, c->y_image, n[2], step[2]);
  g->op[0] = (tt_cudnn_op){.kind = TT_CUDNN_FORWARD, .in = {0, 1, -1}, .out = 2};
  return spread_out(g, c, TT_CUDNN_FORWARD);
}

/* x is what the operation calls y, and the other way round. */
static bool back_to_data(tt_cudnn_graph *g, const tt_conv *c) {
  int64_t n[3], step[3];
  if (!join(c->groups, c->y_group, c->outputs, c->y_output, &n[0], &step[0])) return false;
  if (!join(c->groups, c->w_group, c->channels, c->w_channel, &n[1], &step[1])) return false;
  if (!join(c->groups, c->x_group, c->channels, c->x_channel, &n[2], &step[2])) return false;
  lead(&g->tensor[0], c->images, c->y_image, n[0], step[0]);
  lead(&g->tensor[1], n[1], step[1], c->outputs, c->w_output);
  lead(&g->tensor[2], c->images, c->x_image, n[2], step[2]);
  g->op[0] = (tt_cudnn_op){.kind = TT_CUDNN_BACK_DATA, .in = {2, 1, -1}, .out = 0};
  return spread_out(g, c, TT_CUDNN_BACK_DATA);
}

/* w is what the operation calls y, y is its filter, and channels are its images. */
static bool back_to_filter(tt_cudnn_graph *g, const tt_conv *c) {
  int64_t n[3], step[3];
  if (!join(c->groups, c->x_group, c->images, c->x_image, &n[0], &step[0])) return false;
  if (!join(c->groups, c->y_group, c->outputs, c->y_output, &n[1], &step[1])) return false;
  if (!join(c->groups, c->w_group, c->outputs, c->w_output, &n[2], &step[2])) return false;
  lead(&g->tensor[0], c->channels, c->x_channel, n[0], step[0]);
  lead(&g->tensor[1], n[1], step[1], c->images, c->y_image);
  lead(&g->tensor[2], c->channels, c->w_channel, n[2], step[2]);
  g->op[0] = (tt_cudnn_op){.kind = TT_CUDNN_BACK_FILTER, .in = {0, 2, -1}, .out = 1};
  return spread_out(g, c, TT_CUDNN_BACK_FILTER);
}

static int align_of(const void *p) {
  int at = 1;
  while (at < 16 && ((uintptr_t)p & (uintptr_t)(2 * at - 1)) == 0) at *= 2;
  return at;
}

/* c with its taps in order; *reversed: they were not. False: along some axes they were, along others not. */
static bool in_order(tt_conv *c, bool *reversed) {
  int back = 0, taps = 0;
  for (int d = 0; d < TT_CONV_AXES; d++) {
    taps += c->kernel[d] > 1;
    back += c->kernel[d] > 1 && c->w_at[d] < 0;
  }
  *reversed = back > 0;
  for (int d = 0; d < TT_CONV_AXES && back; d++) {
    if (c->w_at[d] >= 0) continue;
    c->w = (const char *)c->w + (c->kernel[d] - 1) * c->w_at[d] * (int64_t)tt__dtype_size(c->type);
    c->w_at[d] = -c->w_at[d];
  }
  return back == 0 || back == taps;
}

static bool say(tt_cudnn_graph *g, tt_conv *c) {
  bool reversed, spread = false, strided = false;
  int64_t taps = 1, places = 1;
  if (!in_order(c, &reversed)) return false;
  for (int d = 0; d < TT_CONV_AXES; d++) {
    spread |= c->axis[d].spread > 1;
    strided |= c->axis[d].stride > 1;
    taps *= c->kernel[d];
    places *= c->out[d];
  }
  g->rank = c->in[0] == 1 && c->kernel[0] == 1 && c->out[0] == 1 && c->axis[0].pad == 0 ? 4 : 5;
  if (spread || (reversed && !strided)) {
    g->mirrored = !reversed;
    return !strided && back_to_data(g, c);
  }
  g->mirrored = reversed;
  if (taps > places && !reversed) return back_to_filter(g, c);
  /* Of groups with one tap each both may be it, only one of them has channels that follow each other. */
  return forward(g, c) || (taps == 1 && !strided && back_to_data(g, c));
}

static bool is_empty(const tt_conv *c) {
  int64_t n = c->images * c->groups * c->channels * c->outputs;
  for (int d = 0; d < TT_CONV_AXES; d++) n *= c->in[d] * c->kernel[d] * c->out[d];
  return n == 0;
}

/*
** Is a kernel of ours faster than what cuDNN has with the same bits each time, in exact float32? From a sweep of 136
** shapes: back to filters of few channels, whose tiles are mostly empty there, and back to data through many taps or,
** with a stride, in large images, which have one block for each channel there.
*/
static bool is_for_ours(const tt_cudnn_graph *g, const tt_conv *c) {
  enum { FEW_CHANNELS = 8, MANY_TAPS = 25 };
  static const double least = 45e6;   /* operations: with fewer, launches are what both take */
  static const double of_one = 120e6; /* of a channel of an image, those with the zeros of a stride too */
  int kind = g->op[0].kind;
  double places = 1, taps = 1;
  bool strided = false;
  for (int d = 0; d < TT_CONV_AXES; d++) {
    places *= (double)c->out[d];
    taps *= (double)c->kernel[d];
    strided |= c->axis[d].stride > 1 || c->axis[d].spread > 1;
  }
  double work = 2 * (double)c->images * (double)(c->groups * c->channels) * (double)c->outputs * places * taps;
  if (c->groups > 1 || work < least) return false;
  if (kind == TT_CUDNN_BACK_FILTER) return c->images <= FEW_CHANNELS; /* images and channels are exchanged */
  if (kind != TT_CUDNN_BACK_DATA) return false;
  return strided ? work >= of_one * (double)(c->images * c->outputs) : taps >= MANY_TAPS;
}

tt_code tt__cudnn_convolve(const tt_lib_device *on, const tt_conv *c, bool exact, tt_error *err) {
  tt_cudnn_graph g;
  tt_conv part = *c;
  memset(&g, 0, sizeof g);
  int type = tt__cudnn_type(c->type);
  if (type < 0 || is_empty(c) || !say(&g, &part)) return tt__fail(err, TT_ENOTIMPL, "not a convolution of cuDNN");
  g.tensors = 3;
  g.ops = 1;
  g.exact = exact;
  if (exact && c->type == TT_F32 && is_for_ours(&g, &part))
    return tt__fail(err, TT_ENOTIMPL, "cuDNN's engines for this are slow");
  /* Which of ours is the operation's x, filter and y. */
  bool back = g.op[0].kind == TT_CUDNN_BACK_DATA, filter = g.op[0].kind == TT_CUDNN_BACK_FILTER;
  void *x = (void *)part.x, *w = (void *)part.w, *y = part.y;
  void *data[3] = {back ? y : x, filter ? y : w, back ? x : filter ? w : y};
  for (int k = 0; k < 3; k++) {
    g.tensor[k].type = type;
    g.tensor[k].align = align_of(data[k]);
  }
  tt_cudnn_room room = {0};
  return tt__cudnn_run(on, &g, data, &room, err);
}
