/*
** Index maps; see map.h.
*/
#include "ir/map.h"

#include <assert.h>
#include <string.h>

#include "tutti/types.h"

bool tt__map_equal(const tt_space *s, const tt_map *a, const tt_map *b) {
  assert(s->naxes >= 0 && s->naxes <= TT_MAX_AXES);
  if (a->off != b->off) return false;
  for (int k = 0; k < s->naxes; k++)
    if (s->len[k] > 1 && a->step[k] != b->step[k]) return false;
  return true;
}

/*
** Axis k alone walks past the end of value axis d and carries: the walk is regular if it wraps after a
** whole number of steps and starts at the axis's head. Then cutting k there makes both halves affine.
*/
static void suggest_split(const tt_space *s, const tt_index *ix, int64_t len, tt_split *split) {
  int walker = -1;
  for (int k = 0; k < s->naxes; k++) {
    if (ix->a[k] == 0 || s->len[k] <= 1) continue;
    if (walker >= 0) return; /* two axes in one: no single cut mends it */
    walker = k;
  }
  if (walker < 0) return;
  int64_t stride = ix->a[walker] < 0 ? -ix->a[walker] : ix->a[walker];
  int64_t head = ix->a[walker] < 0 ? len - 1 - ix->c : ix->c;
  if (len % stride || head >= stride) return;
  int64_t inner = len / stride;
  if (inner <= 1 || s->len[walker] % inner || s->len[walker] == inner) return;
  split->axis = walker;
  split->inner = inner;
}

bool tt__map_unravel(const tt_space *s, const tt_map *map, int rank, const int64_t *len, tt_index *out,
                     tt_split *split) {
  assert(s->naxes >= 0 && s->naxes <= TT_MAX_AXES && rank >= 0 && rank <= TT_MAX_RANK);
  split->axis = -1;
  int64_t rest_off = map->off;
  int64_t rest[TT_MAX_AXES];
  for (int k = 0; k < s->naxes; k++) rest[k] = s->len[k] > 1 ? map->step[k] : 0;
  int64_t stride[TT_MAX_RANK];
  int64_t run = 1;
  for (int d = rank - 1; d >= 0; d--) {
    stride[d] = run;
    run *= len[d];
  }
  for (int d = 0; d < rank; d++) {
    tt_index *ix = &out[d];
    memset(ix->a, 0, sizeof ix->a[0] * (size_t)s->naxes);
    ix->c = 0;
    if (len[d] == 1) continue; /* its stride is a neighbour's: nothing to walk */
    ix->c = rest_off / stride[d];
    rest_off -= ix->c * stride[d];
    int64_t lo = ix->c, hi = ix->c;
    for (int k = 0; k < s->naxes; k++) {
      int64_t a = rest[k] / stride[d]; /* toward zero: a negative step is a reversed walk on every axis */
      if (a == 0) continue;
      rest[k] -= a * stride[d];
      ix->a[k] = a;
      if (a > 0)
        hi += a * (s->len[k] - 1);
      else
        lo += a * (s->len[k] - 1);
    }
    if (lo < 0 || hi >= len[d]) {
      /* Only the outermost axis may take what is above it; everything below carries into it. */
      suggest_split(s, ix, len[d], split);
      return false;
    }
  }
  assert(rest_off == 0);
  return true;
}

bool tt__map_through_view(const tt_space *s, const tt_map *map, int rank, const int64_t *len, const int64_t *step,
                          int64_t off, tt_map *out, tt_split *split) {
  assert(rank >= 0 && rank <= TT_MAX_RANK && map != out);
  tt_index index[TT_MAX_RANK];
  if (!tt__map_unravel(s, map, rank, len, index, split)) return false;
  out->off = off;
  memset(out->step, 0, sizeof out->step);
  for (int d = 0; d < rank; d++) {
    if (len[d] == 1) continue;
    out->off += index[d].c * step[d];
    for (int k = 0; k < s->naxes; k++) out->step[k] += index[d].a[k] * step[d];
  }
  return true;
}
