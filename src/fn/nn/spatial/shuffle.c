/*
** Elements in other places: channels that become space and back, and channels of groups that take turns. All are views
** with their axes in another order.
*/
#include <string.h>

#include "fn/nn/nn.h"

/* input [..., channels, height, width] split to more axes (`inner` behind the leading ones), turned, and joined. */
static tt_array *turned(tt_composer *c, tt_array *x, int lead, const int64_t *split, const int *order, int n,
                        const int64_t *joined) {
  int64_t len[TT_MAX_RANK];
  int axes[TT_MAX_RANK];
  if (lead + n > TT_MAX_RANK) return tt__compose_fail(c, TT_EVALUE, "an input of %d axes has too many", x->rank);
  memcpy(len, tt__array_len(x), sizeof *len * (size_t)lead);
  memcpy(len + lead, split, sizeof *len * (size_t)n);
  for (int d = 0; d < lead + n; d++) axes[d] = d < lead ? d : lead + order[d - lead];
  tt_array *y = tt__compose_transpose(c, tt__compose_reshape(c, x, lead + n, len), axes);
  memcpy(len + lead, joined, sizeof *len * 3);
  return tt__compose_reshape(c, y, lead + 3, len);
}

static tt_array *read_image(tt_composer *c, const tt_call_frame *f, const char *name, const char *what, int64_t *by) {
  tt_array *x = tt__arg_array(c, f, 0);
  *by = tt__arg_int(c, f, 1, 1);
  if (!x || c->code != TT_OK) return NULL;
  if (x->rank < 3)
    return tt__compose_fail(c, TT_EVALUE,
                            "%s expects input to have at least 3 dimensions, but got input with %d dimension(s)", name,
                            x->rank);
  if (*by <= 0)
    return tt__compose_fail(c, TT_EVALUE, "%s expects a positive %s, but got %lld", name, what, (long long)*by);
  return x;
}

/* input [..., channels * r * r, height, width], r */
static tt_array *nn_pixel_shuffle(tt_composer *c, tt_call_frame *f) {
  int64_t r;
  tt_array *x = read_image(c, f, "pixel_shuffle", "upscale_factor", &r);
  if (!x) return NULL;
  int lead = x->rank - 3;
  const int64_t *len = tt__array_len(x) + lead;
  if (r > INT32_MAX || len[0] % (r * r) != 0)
    return tt__compose_fail(c, TT_EVALUE,
                            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                            "upscale_factor, but input.size(-3)=%lld is not divisible by %lld",
                            (long long)len[0], (long long)(r * r));
  const int64_t split[] = {len[0] / (r * r), r, r, len[1], len[2]}, joined[] = {split[0], len[1] * r, len[2] * r};
  static const int order[] = {0, 3, 1, 4, 2};
  return turned(c, x, lead, split, order, 5, joined);
}
TT_HANDLER(nn_pixel_shuffle)

/* input [..., channels, height * r, width * r], r */
static tt_array *nn_pixel_unshuffle(tt_composer *c, tt_call_frame *f) {
  int64_t r;
  tt_array *x = read_image(c, f, "pixel_unshuffle", "downscale_factor", &r);
  if (!x) return NULL;
  int lead = x->rank - 3;
  const int64_t *len = tt__array_len(x) + lead;
  for (int d = 1; d < 3; d++)
    if (len[d] % r != 0)
      return tt__compose_fail(c, TT_EVALUE,
                              "pixel_unshuffle expects %s to be divisible by downscale_factor, but "
                              "input.size(-%d)=%lld is not divisible by %lld",
                              d == 1 ? "height" : "width", 3 - d, (long long)len[d], (long long)r);
  const int64_t split[] = {len[0], len[1] / r, r, len[2] / r, r}, joined[] = {len[0] * r * r, len[1] / r, len[2] / r};
  static const int order[] = {0, 2, 4, 1, 3};
  return turned(c, x, lead, split, order, 5, joined);
}
TT_HANDLER(nn_pixel_unshuffle)

/* input [images, channels, ...], groups */
static tt_array *nn_channel_shuffle(tt_composer *c, tt_call_frame *f) {
  tt_array *x = tt__arg_array(c, f, 0);
  int64_t groups = tt__arg_int(c, f, 1, 1);
  if (!x || c->code != TT_OK) return NULL;
  if (x->rank < 3)
    return tt__compose_fail(c, TT_EVALUE, "channel_shuffle expects input with > 2 dims, but got input with %d dims",
                            x->rank);
  if (groups <= 0)
    return tt__compose_fail(c, TT_EVALUE,
                            "Number of groups to divide channels in must be positive. Value of groups:%lld",
                            (long long)groups);
  int64_t channels = tt__array_len(x)[1];
  if (channels % groups != 0)
    return tt__compose_fail(c, TT_EVALUE,
                            "Number of channels must be divisible by groups. Got %lld channels and %lld groups.",
                            (long long)channels, (long long)groups);
  int64_t images = tt__array_len(x)[0], split[4] = {images, groups, channels / groups, 0};
  if (images && channels) split[3] = x->size / (images * channels);
  static const int order[] = {0, 2, 1, 3};
  tt_array *y = tt__compose_transpose(c, tt__compose_reshape(c, x, 4, split), order);
  return tt__compose_reshape(c, y, x->rank, tt__array_len(x));
}
TT_HANDLER(nn_channel_shuffle)
