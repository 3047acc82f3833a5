/*
** The functions of tutti/segment.h. A segment begins with a word that both processes see: is it taken? Whoever made it
** sets it, the reader clears it. How many arrays a reader has is the reader's own count.
*/
#include "tutti/segment.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/shared.h"
#include "ir/dtype.h"

enum { GRAIN = 64 }; /* arrays begin at lines of the cache; so does the first, behind the word */
static const uint64_t MARK = 0x746e656d67657374u;

typedef struct head {
  uint64_t mark;
  _Atomic uint32_t taken;
} head;
_Static_assert(sizeof(head) <= GRAIN, "the head has a line of its own");

struct tt_segment {
  head *head;
  size_t bytes; /* with the head */
  bool own;
  pid_t reader;      /* a child that inherits arrays does not say for its parent that they are gone */
  atomic_int holds;  /* the caller's, and one for each array */
  atomic_int arrays; /* taken and alive, and one while they are being taken */
};

static size_t rounded(size_t size) { return (size + GRAIN - 1) / GRAIN * GRAIN; }

static tt_code map(int fd, bool own, tt_segment **out, tt_error *err) {
  tt_segment *s = tt__mem_zalloc(sizeof *s);
  if (!s) return tt__fail_memory(err, sizeof *s);
  void *data;
  tt_code c = tt__shared_map(fd, own, &data, &s->bytes, err);
  if (c == TT_OK && s->bytes < GRAIN) {
    tt__shared_unmap(data, s->bytes);
    c = tt__fail(err, TT_EVALUE, "descriptor %d has no segment behind it", fd);
  }
  if (c != TT_OK) return tt__mem_free(s, sizeof *s), c;
  s->head = data;
  s->own = own;
  s->reader = getpid();
  atomic_init(&s->holds, 1);
  *out = s;
  return TT_OK;
}

tt_code tt_segment_new(size_t size, int *fd, tt_segment **out, tt_error *err) {
  *out = NULL;
  *fd = -1;
  if (size > SIZE_MAX / 2) return tt__fail_memory(err, size);
  TT_TRY(tt__shared_new(GRAIN + rounded(size), fd, err));
  tt_code c = map(*fd, false, out, err);
  if (c != TT_OK) return close(*fd), *fd = -1, c;
  (*out)->head->mark = MARK;
  return TT_OK;
}

tt_code tt_segment_open(int fd, bool own, tt_segment **out, tt_error *err) {
  *out = NULL;
  TT_TRY(map(fd, own, out, err));
  if ((*out)->head->mark == MARK) return TT_OK;
  tt_segment_release(out);
  return tt__fail(err, TT_EVALUE, "descriptor %d has no segment behind it", fd);
}

static void drop_hold(tt_segment *s) {
  if (atomic_fetch_sub(&s->holds, 1) > 1) return;
  tt__shared_unmap(s->head, s->bytes);
  tt__mem_free(s, sizeof *s);
}

void tt_segment_release(tt_segment **s) {
  if (!s || !*s) return;
  drop_hold(*s);
  *s = NULL;
}

size_t tt_segment_size(const tt_segment *s) { return s->bytes - GRAIN; }

bool tt_segment_claim(tt_segment *s) {
  uint32_t free_word = 0;
  return atomic_compare_exchange_strong(&s->head->taken, &free_word, 1);
}

size_t tt_segment_need(const tt_dtype *dtype, const int64_t *size, int n) {
  size_t need = 0;
  for (int k = 0; k < n; k++) need += rounded((size_t)size[k] * tt__dtype_size(dtype[k]));
  return need;
}

tt_code tt_segment_fill(tt_segment *s, tt_array *const *array, int n, tt_error *err) {
  size_t at = GRAIN;
  TT_TRY(tt_eval(array, n, err));
  for (int k = 0; k < n; k++) {
    size_t size = (size_t)tt_array_size(array[k]) * tt__dtype_size(tt_array_dtype(array[k]));
    if (size > s->bytes - at) return tt__fail(err, TT_EVALUE, "the segment has no room for %zu bytes more", size);
    TT_TRY(tt_read(array[k], (char *)s->head + at, size, err));
    at += rounded(size);
  }
  return TT_OK;
}

/* An array is gone; also what keeps the segment taken while its arrays are made. */
static void drop_array(void *ctx) {
  tt_segment *s = ctx;
  if (atomic_fetch_sub(&s->arrays, 1) == 1 && !s->own && s->reader == getpid()) atomic_store(&s->head->taken, 0);
  drop_hold(s);
}

static void keep_array(tt_segment *s) {
  atomic_fetch_add(&s->holds, 1);
  atomic_fetch_add(&s->arrays, 1);
}

static tt_code take(tt_segment *s, const tt_segment_item *item, size_t *at, tt_array **out, tt_error *err) {
  int64_t count = 1;
  for (int k = 0; k < item->rank; k++) count *= item->len[k];
  size_t size = (size_t)count * tt__dtype_size(item->dtype);
  if (size > s->bytes - *at) return tt__fail(err, TT_EVALUE, "the segment ends before its arrays");
  keep_array(s);
  tt_code c = tt_adopt(item->dtype, item->rank, item->len, (char *)s->head + *at, NULL, false, drop_array, s, out, err);
  if (c != TT_OK) drop_array(s);
  *at += rounded(size);
  return c;
}

tt_code tt_segment_take(tt_segment *s, const tt_segment_item *item, int n, tt_array **out, tt_error *err) {
  size_t at = GRAIN;
  tt_code c = TT_OK;
  keep_array(s);
  int made = 0;
  while (made < n && (c = take(s, item + made, &at, out + made, err)) == TT_OK) made++;
  while (c != TT_OK && made > 0) tt_release(out + --made);
  drop_array(s);
  return c;
}
