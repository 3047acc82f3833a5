/*
** What follows from a partition. Its text:
**
**   partition axis=0 of 1000 in 4 pieces of 256
**     buf0 read part first=-1 step=10 extent=12
**     buf1 read whole
**     buf2 write part first=0 step=10 extent=10
*/
#include "ir/partition.h"

#include <assert.h>

void tt__partition_part(const tt_partition *s, int b, int64_t piece, int64_t *from, int64_t *to) {
  assert(piece >= 0 && piece < tt__partition_pieces(s));
  assert(b >= 0 && b < s->nbuf && !s->buf[b].whole);
  const tt_partition_buf *x = &s->buf[b];
  int64_t lo, hi;
  tt__partition_points(s, piece, &lo, &hi);
  int64_t a = x->first + lo * x->step, z = x->first + (hi - 1) * x->step;
  *from = a < z ? a : z;
  *to = (a < z ? z : a) + x->extent;
}

int64_t tt__partition_most(const tt_partition *s, int b) {
  assert(s->piece > 0 && s->buf[b].extent >= 1);
  assert(b >= 0 && b < s->nbuf && s->nbuf <= TT_PARTITION_BUFFERS);
  const tt_partition_buf *x = &s->buf[b];
  int64_t points = s->piece < s->len ? s->piece : s->len;
  return (points - 1) * (x->step < 0 ? -x->step : x->step) + x->extent;
}

void tt__partition_lower(const tt_partition *s, const tt_kernel *k, const tt_lowered *whole, int64_t piece,
                         int64_t *len, int64_t *off, tt_lowered *out) {
  assert(s->len == whole->len[s->axis]);
  assert(piece >= 0 && piece < tt__partition_pieces(s) && s->axis >= 0 && s->axis < k->naxes);
  int64_t lo, hi;
  tt__partition_points(s, piece, &lo, &hi);
  *out = *whole;
  out->len = len;
  out->off = off;
  for (int x = 0; x < k->naxes; x++) len[x] = x == s->axis ? hi - lo : whole->len[x];
  for (int a = 0; a < k->naccess; a++)
    off[a] = whole->off[a] + (k->access[a].buf < -1 ? 0 : lo * whole->step[a * k->naxes + s->axis]);
  int lane = k->mode == TT_MODE_ROW ? -1 : k->nouter - 1;
  if (s->folds) {
    out->row = whole->row / s->len * (hi - lo);
    if (k->mode == TT_MODE_ROW && s->axis == k->naxes - 1) out->lanes = hi - lo;
  } else if (s->axis == lane)
    out->lanes = hi - lo;
  else
    out->outer = whole->outer / s->len * (hi - lo);
}

void tt__partition_print(const tt_partition *s, tt_str *out) {
  assert(s->nbuf >= 0 && s->nbuf <= TT_PARTITION_BUFFERS && s->piece > 0);
  tt__str_addf(out, "partition axis=%d of %lld in %lld pieces of %lld%s\n", s->axis, (long long)s->len,
               (long long)tt__partition_pieces(s), (long long)s->piece, s->folds ? ", folded" : "");
  for (int b = 0; b < s->nbuf; b++) {
    const tt_partition_buf *x = &s->buf[b];
    tt__str_addf(out, "  buf%d %s %s", b, x->write ? "write" : "read", x->whole ? "whole\n" : "part");
    if (!x->whole)
      tt__str_addf(out, " first=%lld step=%lld extent=%lld\n", (long long)x->first, (long long)x->step,
                   (long long)x->extent);
  }
}
