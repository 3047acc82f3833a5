/* Partitions; see partition.h. */
#include "sched/partition.h"

#include <assert.h>
#include <string.h>

/* Points at whose multiples pieces begin: vectors of any type stay as aligned as they are in the whole. */
#define ROUND 256

/* The elements that an access touches at point 0 of `axis`: [*lo, *hi). False: the numbers are beyond 64 bits. */
static bool reach(const tt_kernel *k, const tt_lowered *l, int a, int axis, int64_t *lo, int64_t *hi) {
  *lo = l->off[a];
  *hi = l->off[a] + 1;
  for (int x = 0; x < k->naxes; x++) {
    int64_t move;
    if (x == axis) continue;
    if (__builtin_mul_overflow(l->len[x] - 1, l->step[a * k->naxes + x], &move)) return false;
    if (__builtin_add_overflow(move < 0 ? *lo : *hi, move, move < 0 ? lo : hi)) return false;
  }
  return true;
}

/* One access more of a buffer that pieces share so far: the hull of both, or the whole. */
static void join(tt_partition_buf *x, bool is_first, int64_t lo, int64_t hi, int64_t step) {
  if (step == 0 || (!is_first && x->step != step)) {
    x->whole = true;
    return;
  }
  int64_t end = is_first ? hi : x->first + x->extent;
  x->step = step;
  if (is_first || lo < x->first) x->first = lo;
  x->extent = (hi > end ? hi : end) - x->first;
}

static bool is_fold(const tt_kernel *k, const tt_kinst *store, tt_partition_buf *x);

/* What the pieces of a cut along `axis` touch. False: two of them would write the same, and not to be folded. */
static bool look(const tt_kernel *k, const tt_lowered *l, int axis, bool folds, tt_partition *out) {
  bool seen[TT_PARTITION_BUFFERS] = {false};
  memset(out, 0, sizeof *out);
  *out = (tt_partition){.axis = axis, .len = l->len[axis], .piece = l->len[axis], .nbuf = k->nbuf};
  for (int i = 0; i < k->ninst; i++) {
    const tt_kinst *q = &k->inst[i];
    if (q->op != TT_K_LOAD && q->op != TT_K_LOADX && q->op != TT_K_STORE) continue;
    int64_t lo, hi;
    int b = k->access[q->slot].buf;
    if (b < 0) continue;
    tt_partition_buf *x = &out->buf[b];
    if (folds && q->op == TT_K_STORE) {
      if (!is_fold(k, q, x)) return false;
      continue;
    }
    x->write |= q->op == TT_K_STORE;
    x->whole |= q->op == TT_K_LOADX || !reach(k, l, q->slot, axis, &lo, &hi);
    if (!x->whole) join(x, !seen[b], lo, hi, l->step[q->slot * k->naxes + axis]);
    seen[b] = true;
  }
  for (int b = 0; b < k->nbuf; b++) {
    tt_partition_buf *x = &out->buf[b];
    int64_t step = x->step < 0 ? -x->step : x->step;
    if (folds && x->write) continue;
    if (!seen[b]) x->whole = true;
    if (x->write && (x->whole || x->extent > step)) return false;
    if (!x->whole && (x->extent - 1) / step > out->len / 4) x->whole = true; /* mostly halo */
  }
  return true;
}

bool tt__sched_partition(const tt_kernel *k, const tt_lowered *l, const int64_t *bytes, tt_partition *out) {
  assert(k->nouter <= k->naxes);
  double most = 0;
  tt_partition s;
  if (k->serial || k->nbuf > TT_PARTITION_BUFFERS) return false;
  for (int axis = 0; axis < k->nouter; axis++) {
    if (l->len[axis] < 2 || !look(k, l, axis, false, &s)) continue;
    double apart = 0;
    for (int b = 0; b < k->nbuf; b++) apart += s.buf[b].whole ? 0 : (double)bytes[b];
    if (apart <= most) continue;
    most = apart;
    *out = s;
  }
  return most > 0;
}

/* ---- along the row */

/* The result of a reduction and nothing more: how results of pieces meet. */
static bool is_fold(const tt_kernel *k, const tt_kinst *store, tt_partition_buf *x) {
  const tt_kinst *from = &k->inst[store->src[0]];
  bool arg = from->red == TT_RED_ARGMAX || from->red == TT_RED_ARGMIN;
  if (from->op != TT_K_REDUCE || arg || k->access[store->slot].dtype != from->dtype) return false;
  if (x->write && x->red != from->red) return false;
  x->write = true;
  x->red = from->red;
  x->dtype = from->dtype;
  return true;
}

/* Points of the row's first axis that a chunk has; 0: chunks have no such number. */
static int64_t chunk_points(const tt_kernel *k, const tt_lowered *l) {
  int axes = k->naxes - k->nouter;
  if (k->mode == TT_MODE_COL) return axes == 1 ? TT_CHUNK_COL : 0;
  if (axes == 1) return TT_CHUNK;
  return axes > 2 ? 0 : tt__chunk_lines(l->len[k->naxes - 1]);
}

bool tt__sched_fold(const tt_kernel *k, const tt_lowered *l, const int64_t *bytes, bool small, tt_partition *out) {
  int axis = k->nouter;
  if (k->mode == TT_MODE_MAP || k->serial || k->nphase != 1 || k->nscratch || k->nbuf > TT_PARTITION_BUFFERS)
    return false;
  int64_t points = chunk_points(k, l);
  if (points == 0 || !look(k, l, axis, true, out)) return false;
  bool grouped = k->mode == TT_MODE_ROW && !small;
  out->folds = true;
  out->piece = grouped ? points * TT_GROUP : points;
  out->group = k->mode == TT_MODE_ROW && small ? TT_GROUP : 1;
  for (int b = 0; b < k->nbuf; b++) {
    tt_partition_buf *x = &out->buf[b];
    if (!x->write) continue;
    x->whole = false;
    x->first = x->step = 0;
    x->extent = bytes[b] / (int64_t)tt__dtype_size((tt_dtype)x->dtype);
  }
  return tt__partition_pieces(out) > 1;
}

void tt__sched_pieces(tt_partition *s, int64_t pieces) {
  assert(s->len > 0);
  int64_t piece = pieces > 0 ? (s->len + pieces - 1) / pieces : s->len;
  if (piece >= ROUND) piece = (piece + ROUND - 1) / ROUND * ROUND;
  s->piece = piece < 1 ? 1 : piece < s->len ? piece : s->len;
  assert(s->piece >= 1 && s->piece <= s->len);
}
