/*
** Axes: see axes.h. Order decides how memory is walked, so it follows the strides: the
** lane is the axis along which the results lie next to each other. Reductions follow what they were recorded over
** (tt_step.fold), so that their bits do not depend on what is computed in the same kernel.
*/
#include "kernel/axes.h"

#include <assert.h>
#include <string.h>

/* A reduction folds along its row unless the row is short or its elements lie far apart and there are lanes to fill. */
#define FEW_LANES 32
#define SHORT_ROW 32
#define MANY_LANES 64
#define MOST_OF_A_WARP 24 /* lanes that do for rows much shorter yet: 64 accumulators for three points are a waste */

typedef struct chooser {
  tt_decomposer *r;
  int order[TT_MAX_AXES]; /* order[i]: axis of the step that becomes axis i */
  int nouter, naxes;
} chooser;

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

static int64_t length(const chooser *c, int i) { return c->r->step->space.len[c->order[i]]; }
static int64_t stride(const chooser *c, int access, int i) { return c->r->access[access].step[c->order[i]]; }
static int apart(const chooser *c, int i) { return c->r->step->fold[c->order[i]]; }

/* Stable insertion sort of order[lo, hi) by falling keys, one for each axis of the step; axes without one stay in
 * front. */
static void sort_by(chooser *c, const int64_t *key, int lo, int hi) {
  for (int i = lo + 1; i < hi; i++) {
    int axis = c->order[i];
    int k = i;
    for (; k > lo && key[axis] != 0; k--) {
      int64_t before = key[c->order[k - 1]];
      if (before == 0 || before >= key[axis]) break;
      c->order[k] = c->order[k - 1];
    }
    c->order[k] = axis;
  }
}

static int first_access(const tt_decomposer *r, bool write) {
  for (int i = 0; i < r->naccess; i++)
    if (r->access[i].write == write && r->access[i].operand >= 0) return i;
  return -1;
}

static bool finds_index(const tt_decomposer *r) {
  for (int i = 0; i < r->ninst; i++)
    if (r->inst[i].op == TT_K_REDUCE && (r->inst[i].red == TT_RED_ARGMAX || r->inst[i].red == TT_RED_ARGMIN))
      return true;
  return false;
}

/* Outer axis best walked in lanes: the innermost of what is folded, -1 when there is none. */
static int lane_candidate(const chooser *c) {
  int best = -1;
  for (int i = 0; i < c->nouter; i++) {
    if (length(c, i) < 2 || apart(c, i) == 0) continue;
    if (best < 0 || apart(c, i) <= apart(c, best)) best = i;
  }
  return best;
}

static tt_mode choose_mode(chooser *c) {
  if (c->nouter == c->naxes) return TT_MODE_MAP;
  int64_t key[TT_MAX_AXES];
  for (int k = 0; k < c->naxes; k++) key[k] = c->r->step->fold[k];
  if (!finds_index(c->r)) sort_by(c, key, c->nouter, c->naxes);
  int lane = lane_candidate(c);
  if (lane < 0) return TT_MODE_ROW;
  int64_t row = 1;
  int along = apart(c, c->naxes - 1);
  for (int k = c->nouter; k < c->naxes; k++) row *= length(c, k);
  bool far_apart = (along == 0 || along > apart(c, lane)) && length(c, lane) >= FEW_LANES;
  int64_t lanes = length(c, lane);
  bool short_rows = row < SHORT_ROW && (lanes >= MANY_LANES || (lanes >= MOST_OF_A_WARP && 4 * row <= lanes));
  if (!far_apart && !short_rows) return TT_MODE_ROW;
  int axis = c->order[lane];
  for (int i = lane; i + 1 < c->nouter; i++) c->order[i] = c->order[i + 1];
  c->order[c->nouter - 1] = axis;
  return TT_MODE_COL;
}

/* Can axes i and i + 1 be walked as one? */
static bool mergeable(const tt_axes *x, int naccess, int i) {
  if ((i < x->nouter) != (i + 1 < x->nouter)) return false;
  for (int a = 0; a < naccess; a++) {
    const int64_t *step = x->step + (size_t)a * (size_t)x->naxes;
    if (step[i] != step[i + 1] * x->len[i + 1]) return false;
  }
  return true;
}

static void merge(tt_axes *x, int naccess, int i) {
  int n = x->naxes;
  int64_t *to = x->step;
  for (int a = 0; a < naccess; a++) {
    const int64_t *from = x->step + (size_t)a * (size_t)n;
    for (int k = 0; k < n; k++)
      if (k != i) *to++ = from[k]; /* axis i + 1's step serves both */
  }
  x->len[i + 1] *= x->len[i];
  memmove(&x->len[i], &x->len[i + 1], sizeof x->len[0] * (size_t)(n - i - 1));
  x->naxes--;
  if (i < x->nouter) x->nouter--;
}

static bool stores_in_row(const chooser *c) {
  for (int i = 0; i < c->r->naccess; i++)
    for (int k = c->nouter; k < c->naxes; k++)
      if (c->r->access[i].write && stride(c, i, k) != 0) return true;
  return false;
}

/* Nothing is folded any more (kernel/decompose.c): all points are alike, or one of each row says everything. */
static void forget_row(chooser *c) {
  if (stores_in_row(c))
    c->nouter = c->naxes;
  else
    c->naxes = c->nouter;
}

bool tt__axes_choose(tt_decomposer *r, tt_axes *out) {
  assert(r->step->nouter <= r->step->space.naxes && r->step->space.naxes <= TT_MAX_AXES);
  chooser c = {.r = r, .nouter = r->step->nouter, .naxes = r->step->space.naxes};
  for (int i = 0; i < c.naxes; i++) c.order[i] = i;
  if (!r->nred) forget_row(&c);
  out->mode = choose_mode(&c);
  int write = first_access(r, true);
  if (out->mode == TT_MODE_MAP && write >= 0) {
    int64_t key[TT_MAX_AXES];
    for (int k = 0; k < r->step->space.naxes; k++) key[k] = magnitude(r->access[write].step[k]);
    sort_by(&c, key, 0, c.naxes);
  }
  out->naxes = c.naxes;
  out->nouter = c.nouter;
  out->step = tt__arena_alloc(r->arena, sizeof(int64_t) * (size_t)r->naccess * (size_t)c.naxes);
  if (!out->step) return false;
  for (int i = 0; i < c.naxes; i++) out->len[i] = length(&c, i);
  for (int a = 0; a < r->naccess; a++)
    for (int i = 0; i < c.naxes; i++) out->step[a * c.naxes + i] = stride(&c, a, i);
  for (int i = 0; i + 1 < out->naxes;) {
    if (mergeable(out, r->naccess, i)) {
      merge(out, r->naccess, i);
      if (i > 0) i--;
    } else {
      i++;
    }
  }
  out->lane = out->mode == TT_MODE_COL ? out->nouter - 1 : out->naxes - 1;
  return true;
}
