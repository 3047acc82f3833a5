/*
** The functions of tutti/segment.h: arrays in and out of what io/segment.h has as bytes.
*/
#include "tutti/segment.h"

#include "io/segment.h"
#include "ir/dtype.h"

tt_code tt_segment_new(size_t size, int *fd, tt_segment **out, tt_error *err) {
  *out = NULL;
  *fd = -1;
  return tt__segment_new(size, fd, out, err);
}

tt_code tt_segment_open(int fd, bool own, tt_segment **out, tt_error *err) {
  *out = NULL;
  return tt__segment_open(fd, own, out, err);
}

void tt_segment_release(tt_segment **s) {
  if (!s || !*s) return;
  tt__segment_drop(*s);
  *s = NULL;
}

size_t tt_segment_size(const tt_segment *s) { return tt__segment_size(s); }
bool tt_segment_claim(tt_segment *s) { return tt__segment_claim(s); }

size_t tt_segment_need(const tt_dtype *dtype, const int64_t *size, int n) {
  size_t need = 0;
  for (int k = 0; k < n; k++) need += tt__segment_rounded((size_t)size[k] * tt__dtype_size(dtype[k]));
  return need;
}

tt_code tt_segment_fill(tt_segment *s, tt_array *const *array, int n, tt_error *err) {
  size_t at = 0;
  TT_TRY(tt_eval(array, n, err));
  for (int k = 0; k < n; k++) {
    size_t size = (size_t)tt_array_size(array[k]) * tt__dtype_size(tt_array_dtype(array[k]));
    void *part = tt__segment_part(s, size, &at);
    if (!part) return tt__fail(err, TT_EVALUE, "the segment has no room for %zu bytes more", size);
    TT_TRY(tt_read(array[k], part, size, err));
  }
  return TT_OK;
}

static tt_code take(tt_segment *s, const tt_segment_item *item, size_t *at, tt_array **out, tt_error *err) {
  int64_t count = 1;
  for (int k = 0; k < item->rank; k++) count *= item->len[k];
  void *part = tt__segment_part(s, (size_t)count * tt__dtype_size(item->dtype), at);
  if (!part) return tt__fail(err, TT_EVALUE, "the segment ends before its arrays");
  tt__segment_keep(s);
  tt_code c = tt_adopt(item->dtype, item->rank, item->len, part, NULL, false, tt__segment_leave, s, out, err);
  if (c != TT_OK) tt__segment_leave(s);
  return c;
}

tt_code tt_segment_take(tt_segment *s, const tt_segment_item *item, int n, tt_array **out, tt_error *err) {
  size_t at = 0;
  tt_code c = TT_OK;
  tt__segment_keep(s);
  int made = 0;
  while (made < n && (c = take(s, item + made, &at, out + made, err)) == TT_OK) made++;
  while (c != TT_OK && made > 0) tt_release(out + --made);
  tt__segment_leave(s);
  return c;
}
