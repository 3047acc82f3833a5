/*
** Shapes: lengths and steps as plain int64 arrays, with NumPy's checks and words. It must not know nodes or arrays.
*/
#include <assert.h>
#include <stdio.h>

#include "graph/build.h"

tt_code tt__shape_size(int rank, const int64_t *len, tt_dtype dtype, int64_t *size, tt_error *err) {
  if (rank < 0) return tt__fail(err, TT_EVALUE, "negative dimensions are not allowed");
  if (rank > TT_MAX_RANK)
    return tt__fail(err, TT_EVALUE, "maximum supported dimension for an ndarray is currently %d, found %d", TT_MAX_RANK,
                    rank);
  /* NumPy multiplies the lengths that are not zero: a zero-size array must still have a size that could be. */
  int64_t total = 1;
  bool zero = false, over = false;
  for (int k = 0; k < rank; k++) {
    if (len[k] < 0) return tt__fail(err, TT_EVALUE, "negative dimensions are not allowed");
    if (len[k] == 0)
      zero = true;
    else
      over |= __builtin_mul_overflow(total, len[k], &total);
  }
  int64_t bytes;
  if (over || __builtin_mul_overflow(total, (int64_t)tt__dtype_size(dtype), &bytes))
    return tt__fail(err, TT_EVALUE,
                    "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
  *size = zero ? 0 : total;
  return TT_OK;
}

void tt__shape_steps(int rank, const int64_t *len, int64_t *step) {
  assert(rank >= 0 && rank <= TT_MAX_RANK);
  int64_t run = 1;
  for (int k = rank; k-- > 0;) {
    step[k] = run;
    if (len[k] > 1) run *= len[k];
  }
}

void tt__shape_text(int rank, const int64_t *len, char *out, size_t size) {
  assert(size > 0 && rank >= 0);
  size_t at = 0;
  int n = snprintf(out, size, "(");
  for (int k = 0; n > 0 && k <= rank; k++) {
    at += (size_t)n;
    if (at >= size) return;
    if (k < rank)
      n = snprintf(out + at, size - at, "%s%lld", k ? "," : "", (long long)len[k]);
    else
      n = snprintf(out + at, size - at, rank == 1 ? ",)" : ")");
  }
}

static tt_code fail_broadcast(int n, const int *rank, const int64_t *const *len, tt_error *err) {
  char text[768], shape[256];
  size_t at = 0;
  text[0] = 0;
  for (int i = 0; i < n; i++) {
    tt__shape_text(rank[i], len[i], shape, sizeof shape);
    int wrote = snprintf(text + at, sizeof text - at, "%s ", shape);
    if (wrote < 0 || (size_t)wrote >= sizeof text - at) break;
    at += (size_t)wrote;
  }
  return tt__fail(err, TT_EVALUE, "operands could not be broadcast together with shapes %s", text);
}

tt_code tt__shape_broadcast(int n, const int *rank, const int64_t *const *len, int *out_rank, int64_t *out_len,
                            tt_error *err) {
  for (int i = 0; i < n; i++) assert(rank[i] >= 0 && rank[i] <= TT_MAX_RANK);
  int most = 0;
  for (int i = 0; i < n; i++)
    if (rank[i] > most) most = rank[i];
  for (int k = 0; k < most; k++) {
    int64_t common = 1;
    for (int i = 0; i < n; i++) {
      int at = k - (most - rank[i]);
      if (at < 0 || len[i][at] == 1) continue;
      if (common != 1 && common != len[i][at]) return fail_broadcast(n, rank, len, err);
      common = len[i][at];
    }
    out_len[k] = common;
  }
  *out_rank = most;
  return TT_OK;
}

void tt__shape_tuple(int rank, const int64_t *len, char *out, size_t size) {
  assert(size > 1 && rank >= 0);
  size_t at = 1;
  out[0] = '(';
  for (int d = 0; d < rank && at < size; d++)
    at += (size_t)snprintf(out + at, size - at, d ? ", %lld" : "%lld", (long long)len[d]);
  if (at < size) snprintf(out + at, size - at, rank == 1 ? ",)" : ")");
}

tt_code tt__shape_common(int64_t n, const int *rank, const int64_t *const *len, int *out_rank, int64_t *out,
                         tt_error *err) {
  int most = 0;
  for (int64_t i = 0; i < n; i++)
    if (rank[i] > most) most = rank[i];
  int owner[TT_MAX_RANK];
  for (int d = 0; d < most; d++) out[d] = 1, owner[d] = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int d = 0; d < rank[i]; d++) {
      int at = most - rank[i] + d;
      if (len[i][d] == 1 || len[i][d] == out[at]) continue;
      if (out[at] == 1) {
        out[at] = len[i][d];
        owner[at] = (int)i;
        continue;
      }
      char one[200], two[200];
      tt__shape_tuple(rank[owner[at]], len[owner[at]], one, sizeof one);
      tt__shape_tuple(rank[i], len[i], two, sizeof two);
      return tt__fail(err, TT_EVALUE,
                      "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg %d with "
                      "shape %s and arg %lld with shape %s.",
                      owner[at], one, (long long)i, two);
    }
  }
  *out_rank = most;
  return TT_OK;
}

tt_code tt__shape_axis(int64_t axis, int rank, int *out, tt_error *err) {
  assert(rank >= 0 && rank <= TT_MAX_RANK);
  if (axis < -rank || axis >= rank)
    return tt__fail(err, TT_EAXIS, "axis %lld is out of bounds for array of dimension %d", (long long)axis, rank);
  *out = (int)(axis < 0 ? axis + rank : axis);
  return TT_OK;
}

/*
** Groups of old and new axes with equal products are matched from the left; inside a group the old axes must
** walk memory as one.
*/
bool tt__shape_reshape(int rank, const int64_t *len, const int64_t *step, int new_rank, const int64_t *new_len,
                       int64_t *new_step) {
  assert(rank <= TT_MAX_RANK && new_rank <= TT_MAX_RANK);
  int64_t olen[TT_MAX_RANK], ostep[TT_MAX_RANK];
  int old = 0;
  for (int k = 0; k < rank; k++) {
    if (len[k] == 0) { /* nothing to reach: any steps do */
      tt__shape_steps(new_rank, new_len, new_step);
      return true;
    }
    if (len[k] == 1) continue;
    olen[old] = len[k];
    ostep[old++] = step[k];
  }
  int oi = 0, ni = 0;
  while (oi < old && ni < new_rank) {
    int oj = oi + 1, nj = ni + 1;
    int64_t o = olen[oi], w = new_len[ni];
    while (o != w) {
      if (w < o) {
        if (nj == new_rank) return false;
        w *= new_len[nj++];
      } else {
        if (oj == old) return false;
        o *= olen[oj++];
      }
    }
    for (int k = oi; k + 1 < oj; k++)
      if (ostep[k] != olen[k + 1] * ostep[k + 1]) return false;
    int64_t run = ostep[oj - 1];
    for (int k = nj; k-- > ni; run *= new_len[k]) new_step[k] = run;
    oi = oj;
    ni = nj;
  }
  /* What is left are axes of length 1. */
  int64_t last = ni > 0 ? new_step[ni - 1] : 1;
  for (; ni < new_rank; ni++) new_step[ni] = last;
  return oi == old;
}
