/*
** Images read at places that an array names: grids out of affine maps, and interpolation at a grid's places. The taps
** of a place are elements taken by number, those outside count as 0; places have slopes through the taps' weights.
*/
#include <math.h>
#include <string.h>

#include "fn/linalg/matrix.h"
#include "fn/nn/nn.h"
#include "graph/tape.h"

/* ---- affine_grid: theta [images, n, n + 1], size (images, channels, n lengths), align_corners */

/* The coordinates of `len` elements between -1 and 1: of their middles, or from one end to the other. */
static double coordinate(int64_t i, int64_t len, bool corners) {
  if (len <= 1) return 0;
  double at = 2 * (double)i / (double)(len - 1) - 1;
  return corners ? at : at * (double)(len - 1) / (double)len;
}

/* [elements, n + 1]: the last axis of space first, and 1. */
static tt_array *places(tt_composer *c, tt_dtype t, int n, const int64_t *len, bool corners) {
  int64_t all = 1, shape[2] = {0, n + 1};
  for (int d = 0; d < n; d++) all *= len[d];
  shape[0] = all;
  void *data;
  tt_array *a = tt__compose_block(c, t, 2, shape, &data);
  for (int64_t i = 0; a && i < all; i++) {
    int64_t rest = i;
    for (int d = n; d >= 0; d--) {
      double v = d == 0 ? 1 : coordinate(rest % len[d - 1], len[d - 1], corners);
      int64_t at = i * (n + 1) + (d == 0 ? n : n - d);
      if (t == TT_F64)
        ((double *)data)[at] = v;
      else
        ((float *)data)[at] = (float)v;
      if (d > 0) rest /= len[d - 1];
    }
  }
  return a;
}

static tt_array *nn_affine_grid(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *theta = tt__nn_floats(c, given, "affine_grid");
  int64_t size[TT_MAX_RANK], len[5];
  int rank = tt__arg_ints(c, f, 1, size, TT_MAX_RANK), n = rank - 2;
  bool corners = tt__arg_bool(c, f, 2, false);
  if (!theta || c->code != TT_OK) return NULL;
  if (n != 2 && n != 3)
    return tt__compose_fail(c, TT_ENOTIMPL,
                            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
                            "Got size of %d numbers.",
                            rank);
  bool fits = theta->rank == 3 && tt__array_len(theta)[1] == n && tt__array_len(theta)[2] == n + 1 &&
              tt__array_len(theta)[0] == size[0];
  if (!fits)
    return tt__compose_fail(c, TT_EVALUE, "Expected a batch of %dD affine matrices of shape Nx%dx%d for the size.", n,
                            n, n + 1);
  for (int d = 0; d < rank; d++)
    if (size[d] < 1) return tt__compose_fail(c, TT_EVALUE, "Expected non-zero, positive output size.");
  len[0] = size[0];
  for (int d = 0; d < n; d++) len[1 + d] = size[2 + d];
  len[1 + n] = n;
  tt_array *base = places(c, (tt_dtype)theta->dtype, n, size + 2, corners);
  tt_array *grid = tt__compose_matmul(c, base, tt__compose_swap(c, theta));
  return tt__nn_result(c, f, tt__compose_reshape(c, grid, n + 2, len), given, -1);
}
TT_HANDLER(nn_affine_grid)

/* ---- grid_sample: input [images, channels, n lengths], grid [images, n lengths, n], mode, padding_mode, then
 * align_corners */

typedef enum outside { ZEROS, BORDER, REFLECTION } outside;

typedef struct grid {
  tt_array *x; /* [images, channels, elements] */
  int n;
  int64_t len[3];
  tt_array *at[3]; /* where, in elements of that axis: [images, 1, places] */
  outside out;
  bool corners;
} grid;

/* A coordinate between -1 and 1 in elements. */
static tt_array *in_elements(tt_composer *c, tt_array *at, int64_t len, bool corners) {
  tt_array *from = tt__compose_opi(c, TT_ADD, at, 1);
  if (corners) return tt__compose_opf(c, TT_MUL, tt__compose_opf(c, TT_DIV, from, 2), (double)(len - 1));
  return tt__compose_opf(c, TT_DIV, tt__compose_opi(c, TT_SUB, tt__compose_opf(c, TT_MUL, from, (double)len), 1), 2);
}

static tt_array *between(tt_composer *c, tt_array *at, int64_t len) {
  return tt__compose_opf(c, TT_MINIMUM, tt__compose_opf(c, TT_MAXIMUM, at, 0), (double)(len - 1));
}

/* Thrown back at both ends, as often as it takes. */
static tt_array *reflected(tt_composer *c, tt_array *at, int64_t len, bool corners) {
  double low = corners ? 0 : -0.5, span = corners ? (double)(len - 1) : (double)len;
  if (span == 0) return tt__compose_opf(c, TT_MUL, at, 0);
  at = tt__compose_op1(c, TT_ABS, tt__compose_opf(c, TT_SUB, at, low));
  tt_array *turns = tt__compose_op1(c, TT_FLOOR, tt__compose_opf(c, TT_DIV, at, span));
  tt_array *rest = tt__compose_op2(c, TT_SUB, at, tt__compose_opf(c, TT_MUL, turns, span));
  tt_array *odd = tt__compose_opi(c, TT_NE, tt__compose_opf(c, TT_MOD, turns, 2), 0);
  tt_array *back = tt__compose_opf(c, TT_ADD, tt__compose_op1(c, TT_NEG, rest), span);
  if (!odd || !back) return NULL;
  return tt__compose_opf(c, TT_ADD, tt__compose_where(c, odd, tt_v_array(back), tt_v_array(rest)), low);
}

static tt_array *brought_in(tt_composer *c, const grid *g, tt_array *at, int d) {
  if (g->out == ZEROS) return at;
  return between(c, g->out == REFLECTION ? reflected(c, at, g->len[d], g->corners) : at, g->len[d]);
}

/* The number of a tap along an axis (whole, as floats), 0 where it is outside; `inside` joins those that are not. */
static tt_array *number_of(tt_composer *c, tt_array *tap, int64_t len, tt_array **inside) {
  tt_array *low = tt__compose_opi(c, TT_GE, tap, 0), *high = tt__compose_opf(c, TT_LE, tap, (double)(len - 1));
  tt_array *in = tt__compose_op2(c, TT_AND, low, high);
  *inside = *inside ? tt__compose_op2(c, TT_AND, *inside, in) : in;
  return in && tap ? tt__compose_cast(c, tt__compose_where(c, in, tt_v_array(tap), tt_v_int(0)), TT_I64) : NULL;
}

/* The elements at a tap of each axis, 0 outside, times a weight (or NULL). */
static tt_array *tapped(tt_composer *c, const grid *g, tt_array *const *tap, tt_array *weight) {
  bool before = tt__session_tape;
  tt__session_tape = false; /* numbers have no slope */
  tt_array *flat = NULL, *inside = NULL;
  for (int d = 0; d < g->n; d++) {
    tt_array *i = number_of(c, tap[d], g->len[d], &inside);
    flat = d == 0 ? i : tt__compose_op2(c, TT_ADD, tt__compose_opi(c, TT_MUL, flat, g->len[d]), i);
  }
  tt__session_tape = before;
  tt_array *value = tt__compose_take_lines(c, g->x, flat, 2, false);
  value = value && inside ? tt__compose_where(c, inside, tt_v_array(value), tt_v_int(0)) : NULL;
  return weight ? tt__compose_op2(c, TT_MUL, value, weight) : value;
}

/* The whole number below, which has no slope. */
static tt_array *below(tt_composer *c, tt_array *at, tt_op how) {
  bool before = tt__session_tape;
  tt__session_tape = false;
  at = tt__compose_op1(c, how, at);
  tt__session_tape = before;
  return at;
}

static tt_array *nearest(tt_composer *c, const grid *g) {
  tt_array *tap[3];
  for (int d = 0; d < g->n; d++) tap[d] = below(c, brought_in(c, g, g->at[d], d), TT_RINT);
  return tapped(c, g, tap, NULL);
}

/* The sum over all corners around a place: by each axis the element below or the next one. */
static tt_array *linear(tt_composer *c, const grid *g) {
  tt_array *tap[2][3], *weight[2][3], *sum = NULL;
  for (int d = 0; d < g->n; d++) {
    tt_array *at = brought_in(c, g, g->at[d], d);
    tap[0][d] = below(c, at, TT_FLOOR);
    tap[1][d] = tt__compose_opi(c, TT_ADD, tap[0][d], 1);
    weight[0][d] = tt__compose_op2(c, TT_SUB, tap[1][d], at);
    weight[1][d] = tt__compose_op2(c, TT_SUB, at, tap[0][d]);
  }
  for (int corner = 0; corner < 1 << g->n; corner++) {
    tt_array *one[3], *w = NULL;
    for (int d = 0; d < g->n; d++) {
      int side = corner >> d & 1;
      one[d] = tap[side][d];
      w = w ? tt__compose_op2(c, TT_MUL, w, weight[side][d]) : weight[side][d];
    }
    tt_array *part = w ? tapped(c, g, one, w) : NULL;
    sum = corner == 0 ? part : tt__compose_op2(c, TT_ADD, sum, part);
  }
  return sum;
}

enum { TAPS = 4 };

/* The weight of a tap `far` (0 to 2) away. */
static tt_array *bent(tt_composer *c, tt_array *far, bool near) {
  const double a = -0.75;
  double third = near ? a + 2 : a, second = near ? -(a + 3) : -5 * a, first = near ? 0 : 8 * a,
         rest = near ? 1 : -4 * a;
  tt_array *y = tt__compose_opf(c, TT_ADD, tt__compose_opf(c, TT_MUL, far, third), second);
  y = tt__compose_opf(c, TT_ADD, tt__compose_op2(c, TT_MUL, y, far), first);
  return tt__compose_opf(c, TT_ADD, tt__compose_op2(c, TT_MUL, y, far), rest);
}

/* Four taps along both axes; here each tap, not the place, is brought in. */
static tt_array *cubic(tt_composer *c, const grid *g) {
  tt_array *tap[TAPS][2], *weight[TAPS][2], *sum = NULL;
  for (int d = 0; d < 2; d++) {
    tt_array *low = below(c, g->at[d], TT_FLOOR), *part = tt__compose_op2(c, TT_SUB, g->at[d], low);
    for (int k = 0; k < TAPS; k++) {
      tap[k][d] = brought_in(c, g, tt__compose_opi(c, TT_ADD, low, k - 1), d);
      tt_array *far = k < 2 ? part : tt__compose_op1(c, TT_NEG, part);
      far = tt__compose_opi(c, TT_ADD, far, k < 2 ? 1 - k : k - 1);
      weight[k][d] = bent(c, far, k == 1 || k == 2);
    }
  }
  for (int k = 0; k < TAPS * TAPS; k++) {
    tt_array *one[2] = {tap[k / TAPS][0], tap[k % TAPS][1]};
    tt_array *w = tt__compose_op2(c, TT_MUL, weight[k / TAPS][0], weight[k % TAPS][1]);
    tt_array *part = w ? tapped(c, g, one, w) : NULL;
    sum = k == 0 ? part : tt__compose_op2(c, TT_ADD, sum, part);
  }
  return sum;
}

static bool read_grid(tt_composer *c, const tt_call_frame *f, tt_array *x, tt_array *at, grid *g) {
  const char *out = tt__arg_string(c, f, 3, "zeros");
  if (c->code != TT_OK) return false;
  g->out = strcmp(out, "border") == 0 ? BORDER : strcmp(out, "reflection") == 0 ? REFLECTION : ZEROS;
  if (g->out == ZEROS && strcmp(out, "zeros") != 0)
    return tt__compose_fail(c, TT_EVALUE,
                            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
                            "'reflection', but got: '%s'",
                            out),
           false;
  g->corners = tt__arg_bool(c, f, 4, false);
  g->n = x->rank - 2;
  const int64_t *own = tt__array_len(x), *places = tt__array_len(at);
  bool fits = (x->rank == 4 || x->rank == 5) && at->rank == x->rank && places[0] == own[0] && places[g->n + 1] == g->n;
  if (!fits)
    return tt__compose_fail(c, TT_EVALUE,
                            "grid_sampler(): expected 4D or 5D input and a grid of as many axes, with the same batch "
                            "size and coordinates for each axis of space along the last"),
           false;
  int64_t flat[3] = {own[0], own[1], 1}, line[3] = {own[0], 1, 1};
  for (int d = 0; d < g->n; d++) {
    flat[2] *= g->len[d] = own[2 + d];
    line[2] *= places[1 + d];
    if (own[2 + d] < 1)
      return tt__compose_fail(c, TT_EVALUE, "grid_sampler(): expected input to have non-empty spatial dimensions"),
             false;
  }
  g->x = tt__compose_reshape(c, x, 3, flat);
  for (int d = 0; d < g->n; d++) {
    tt_array *one = tt__compose_reshape(c, tt__compose_slice(c, at, g->n + 1, g->n - 1 - d, 1, 1), 3, line);
    g->at[d] = in_elements(c, one, g->len[d], g->corners);
  }
  return c->code == TT_OK && g->x;
}

static tt_array *nn_grid_sample(tt_composer *c, tt_call_frame *f) {
  tt_array *given = tt__arg_array(c, f, 0), *x = tt__nn_floats(c, given, "grid_sample");
  tt_array *at = tt__arg_array(c, f, 1);
  const char *mode = tt__arg_string(c, f, 2, "bilinear");
  grid g = {.n = 0};
  if (!x || !at || c->code != TT_OK) return NULL;
  if (at->dtype != given->dtype)
    return tt__compose_fail(
        c, TT_ETYPE, "grid_sampler(): expected input and grid to have same dtype, but input has %s and grid has %s",
        tt__dtypes[given->dtype].name, tt__dtypes[at->dtype].name);
  if (!(at = tt__nn_floats(c, at, "grid_sample")) || !read_grid(c, f, x, at, &g)) return NULL;
  tt_array *y;
  if (strcmp(mode, "bilinear") == 0)
    y = linear(c, &g);
  else if (strcmp(mode, "nearest") == 0)
    y = nearest(c, &g);
  else if (strcmp(mode, "bicubic") == 0 && g.n == 2)
    y = cubic(c, &g);
  else if (strcmp(mode, "bicubic") == 0)
    return tt__compose_fail(c, TT_EVALUE, "grid_sampler(): bicubic interpolation only supports 4D input");
  else
    return tt__compose_fail(c, TT_EVALUE,
                            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but "
                            "got: '%s'",
                            mode);
  int64_t len[5] = {tt__array_len(x)[0], tt__array_len(x)[1]};
  for (int d = 0; d < g.n; d++) len[2 + d] = tt__array_len(at)[1 + d];
  return tt__nn_result(c, f, tt__compose_reshape(c, y, g.n + 2, len), given, -1);
}
TT_HANDLER(nn_grid_sample)
