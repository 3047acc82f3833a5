/*
** Takes convolutions apart into plain ones: where x has zeros between its elements, each place only meets every so
** many taps, and the places that meet the same ones make a convolution of their own.
*/
#include "lib/nn/convolve/convolve.h"

#include <string.h>

#include "base/integer.h"
#include "lib/nn/convolve/convolve_int.h"
#include "scalar/prelude.h"

/* ---- results that meet no tap */

/* A row of n elements, `step` apart. */
static void put_row(tt_dtype t, void *y, int64_t n, int64_t step, const void *value) {
  size_t size = tt__dtype_size(t);
  char *to = y;
  if (step == 1 && !value) {
    memset(to, 0, size * (size_t)n);
    return;
  }
  const uint64_t zero = 0;
  const void *from = value ? value : &zero;
  for (int64_t i = 0, by = step * (int64_t)size; i < n; i++, to += by) memcpy(to, from, size);
}

static void fill(const tt_conv *c) {
  for (int64_t n = 0; n < c->images; n++)
    for (int64_t g = 0; g < c->groups; g++)
      for (int64_t o = 0; o < c->outputs; o++) {
        const void *bias = c->bias ? tt__conv_element(c->bias, g * c->bias_group + o * c->bias_output, c->type) : NULL;
        int64_t at = n * c->y_image + g * c->y_group + o * c->y_output;
        for (int64_t p = 0; p < c->out[0] * c->out[1]; p++)
          put_row(c->type,
                  (void *)tt__conv_element(c->y, at + p / c->out[1] * c->y_at[0] + p % c->out[1] * c->y_at[1], c->type),
                  c->out[2], c->y_at[2], bias);
      }
}

/* ---- zeros between the elements */

/* The places r, r + every, ... along axis d, and the taps that they meet, as a plain convolution; false: no place. */
static bool phase(tt_conv *c, int d, int64_t r, int64_t every) {
  tt_conv_axis a = c->axis[d];
  if (r >= c->out[d]) return false;
  int64_t taps_every = a.spread / tt__gcd(a.dilation, a.spread), tap = 0, from = r * a.stride - a.pad;
  while (tap < taps_every && (from + tap * a.dilation) % a.spread != 0) tap++;
  c->out[d] = tt_ceil_div(c->out[d] - r, every);
  c->y = (void *)tt__conv_element(c->y, r * c->y_at[d], c->type);
  c->y_at[d] *= every;
  c->kernel[d] = tap < taps_every && tap < c->kernel[d] ? tt_ceil_div(c->kernel[d] - tap, taps_every) : 0;
  c->w = tt__conv_element(c->w, c->kernel[d] ? tap * c->w_at[d] : 0, c->type);
  c->w_at[d] *= taps_every;
  c->axis[d] = (tt_conv_axis){.stride = every * a.stride / a.spread,
                              .dilation = taps_every * a.dilation / a.spread,
                              .spread = 1,
                              .pad = -((from + tap * a.dilation) / a.spread)};
  return true;
}

static tt_code plain(const tt_conv *c, void *ctx, tt_error *err) {
  (void)ctx;
  bool none = c->channels == 0;
  for (int d = 0; d < TT_CONV_AXES; d++) none |= c->kernel[d] == 0 || c->in[d] == 0;
  if (none) {
    fill(c);
    return TT_OK;
  }
  if (tt__convolve_is_direct(c)) return tt__convolve_direct(c, err);
  return tt__convolve_blocked(c, err);
}

static tt_code along(const tt_conv *c, int d, tt_conv_plain_fn run, void *ctx, tt_error *err) {
  if (d == TT_CONV_AXES) return run(c, ctx, err);
  if (c->axis[d].spread == 1) return along(c, d + 1, run, ctx, err);
  int64_t every = c->axis[d].spread / tt__gcd(c->axis[d].stride, c->axis[d].spread);
  for (int64_t r = 0; r < every; r++) {
    tt_conv part = *c;
    if (phase(&part, d, r, every)) TT_TRY(along(&part, d + 1, run, ctx, err));
  }
  return TT_OK;
}

static bool is_one_tap(const tt_conv *c, int d) {
  const tt_conv_axis *a = &c->axis[d];
  return c->kernel[d] == 1 && a->stride == 1 && a->spread == 1 && a->pad == 0 && c->in[d] == c->out[d];
}

/* Axes with one tap that lie behind each other become the last one: longer rows for the packer. */
static void merge(tt_conv *c) {
  enum { LAST = TT_CONV_AXES - 1 };
  if (!is_one_tap(c, LAST)) return;
  for (int d = LAST - 1; d >= 0 && is_one_tap(c, d); d--) {
    if (c->x_at[d] != c->in[LAST] * c->x_at[LAST] || c->y_at[d] != c->out[LAST] * c->y_at[LAST]) return;
    c->in[LAST] *= c->in[d];
    c->out[LAST] *= c->out[d];
    c->in[d] = c->out[d] = 1;
  }
}

tt_code tt__convolve_apart(const tt_conv *c, tt_conv_plain_fn run, void *ctx, tt_error *err) {
  if (c->images * c->groups * c->outputs * c->out[0] * c->out[1] * c->out[2] == 0) return TT_OK;
  tt_conv part = *c;
  merge(&part);
  return along(&part, 0, run, ctx, err);
}

tt_code tt__convolve(const tt_conv *c, tt_error *err) { return tt__convolve_apart(c, plain, NULL, err); }
