/*
** Borders with PyTorch's parameters: pairs of widths, the last axis first; widths below 0 cut.
*/
#include <string.h>

#include "fn/nn/nn.h"
#include "fn/nn/spatial/window.h"
#include "graph/tape.h"

static bool check_width(tt_composer *c, const char *mode, tt_array *x, int axis, int64_t width) {
  int64_t n = tt__array_len(x)[axis];
  bool wrap = strcmp(mode, "wrap") == 0;
  char shape[160];
  if (strcmp(mode, "constant") == 0 || (n > 0 && strcmp(mode, "edge") == 0)) return true;
  if (width < n || (wrap && width == n)) return true;
  tt__window_shape(x->rank, tt__array_len(x), shape, sizeof shape);
  if (wrap)
    tt__compose_fail(c, TT_EVALUE, "Padding value causes wrapping around more than once.");
  else
    tt__compose_fail(c, TT_EVALUE,
                     "Padding size should be less than the corresponding input dimension, but got: padding %lld at "
                     "dimension %d of input %s",
                     (long long)width, axis, shape);
  return false;
}

/* x without what widths below 0 cut off; those become 0. */
static tt_array *cut(tt_composer *c, tt_array *x, int axis, int64_t *width) {
  int64_t before = width[0] < 0 ? -width[0] : 0, behind = width[1] < 0 ? -width[1] : 0;
  int64_t left = tt__array_len(x)[axis] - before - behind;
  if (left < 0)
    return tt__compose_fail(c, TT_EVALUE, "The widths %lld and %lld cut more than dimension %d has",
                            (long long)width[0], (long long)width[1], axis);
  for (int side = 0; side < 2; side++) width[side] = width[side] < 0 ? 0 : width[side];
  return before || behind ? tt__compose_slice(c, x, axis, before, left, 1) : x;
}

static const char *mode_of(tt_composer *c, const char *word) {
  static const char *const words[][2] = {
      {"constant", "constant"}, {"reflect", "reflect"}, {"replicate", "edge"}, {"circular", "wrap"}};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strcmp(words[k][0], word) == 0) return words[k][1];
  tt__compose_fail(c, TT_ENOTIMPL, "Unrecognised padding mode %s", word);
  return NULL;
}

/* What stands around nothing has the history of that: gradients reach it, and are zeros. */
static tt_array *around_nothing(tt_composer *c, tt_array *y, tt_array *x) {
  if (!y || x->size > 0 || !tt__is_taped(x->storage->node)) return y;
  tt_node *value = tt__compose_node(c, y), *of = value ? tt__compose_node(c, x) : NULL;
  tt_node *n = of ? tt__tape_of_none(value, of, c->err) : NULL;
  if (value && !of) tt__node_release(value);
  tt__node_release(of);
  return of ? tt__compose_of_node(c, n) : NULL;
}

/* input, pad, mode, value */
static tt_array *nn_pad(tt_composer *c, tt_call_frame *f) {
  int64_t width[2 * TT_MAX_RANK];
  tt_array *x = tt__arg_array(c, f, 0);
  int n = tt__arg_ints(c, f, 1, width, 2 * TT_MAX_RANK);
  const char *mode = mode_of(c, tt__arg_string(c, f, 2, "constant"));
  if (!x || !mode || c->code != TT_OK) return NULL;
  if (n % 2 != 0) return tt__compose_fail(c, TT_EVALUE, "Padding length must be divisible by 2");
  if (n / 2 > x->rank)
    return tt__compose_fail(c, TT_EVALUE,
                            "Padding length should be less than or equal to two times the input dimension but got "
                            "padding length %d and input of dimension %d",
                            n, x->rank);
  tt_value side[TT_MAX_RANK][2], pair[TT_MAX_RANK];
  for (int d = 0; d < x->rank; d++) {
    int64_t own[2] = {0, 0}, k = x->rank - 1 - d;
    if (k < n / 2) memcpy(own, width + 2 * k, sizeof own);
    if (!(x = cut(c, x, d, own))) return NULL;
    for (int s = 0; s < 2; s++) {
      if (own[s] > 0 && !check_width(c, mode, x, d, own[s])) return NULL;
      side[d][s] = tt_v_int(own[s]);
    }
    pair[d] = (tt_value){.tag = TT_V_TUPLE, .as.tuple = {.item = side[d], .n = 2}};
  }
  if (n == 0 || x->rank == 0) return tt__compose_copy(c, x);
  tt_value arg[] = {tt_v_array(x),
                    {.tag = TT_V_TUPLE, .as.tuple = {.item = pair, .n = x->rank}},
                    {.tag = TT_V_STRING, .as.s = mode},
                    tt_v_float(0)};
  bool constant = strcmp(mode, "constant") == 0;
  if (constant && tt__arg_given(f, 3)) arg[3] = f->arg[3];
  if (constant && !tt__arg_given(f, 3)) arg[3] = tt_v_int(0);
  return around_nothing(c, tt__fn_call(c, "pad", arg, constant ? 4 : 3), x);
}
TT_HANDLER(nn_pad)
