/* Memory that processes share; see segment.h. */
#include "io/segment.h"

#include <assert.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/shared.h"

static const uint64_t MARK = 0x746e656d67657374u;

typedef struct head {
  uint64_t mark;
  _Atomic uint32_t taken;
} head;
_Static_assert(sizeof(head) <= TT_SEGMENT_GRAIN, "the head has a line of its own");

struct tt_segment {
  head *head;
  size_t bytes; /* with the head */
  bool own;
  pid_t reader;     /* a child that inherits parts does not say for its parent that they are gone */
  atomic_int holds; /* the caller's, and one for each part */
  atomic_int parts; /* taken and alive, and one while they are being taken */
};

static tt_code map(int fd, bool own, tt_segment **out, tt_error *err) {
  tt_segment *s = tt__mem_zalloc(sizeof *s);
  if (!s) return tt__fail_memory(err, sizeof *s);
  void *data;
  tt_code c = tt__shared_map(fd, own, &data, &s->bytes, err);
  if (c == TT_OK && s->bytes < TT_SEGMENT_GRAIN) {
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

tt_code tt__segment_new(size_t size, int *fd, tt_segment **out, tt_error *err) {
  if (size > SIZE_MAX / 2) return tt__fail_memory(err, size);
  TT_TRY(tt__shared_new(TT_SEGMENT_GRAIN + tt__segment_rounded(size), fd, err));
  tt_code c = map(*fd, false, out, err);
  if (c != TT_OK) return close(*fd), *fd = -1, c;
  (*out)->head->mark = MARK;
  return TT_OK;
}

tt_code tt__segment_open(int fd, bool own, tt_segment **out, tt_error *err) {
  TT_TRY(map(fd, own, out, err));
  if ((*out)->head->mark == MARK) return TT_OK;
  tt__segment_drop(*out);
  *out = NULL;
  return tt__fail(err, TT_EVALUE, "descriptor %d has no segment behind it", fd);
}

void tt__segment_drop(tt_segment *s) {
  int before = atomic_fetch_sub(&s->holds, 1);
  assert(before > 0);
  if (before > 1) return;
  tt__shared_unmap(s->head, s->bytes);
  tt__mem_free(s, sizeof *s);
}

size_t tt__segment_size(const tt_segment *s) { return s->bytes - TT_SEGMENT_GRAIN; }

bool tt__segment_claim(tt_segment *s) {
  uint32_t free_word = 0;
  return atomic_compare_exchange_strong(&s->head->taken, &free_word, 1);
}

void tt__segment_unclaim(tt_segment *s) { atomic_store(&s->head->taken, 0); }

void *tt__segment_part(tt_segment *s, size_t size, size_t *at) {
  if (*at > tt__segment_size(s) || size > tt__segment_size(s) - *at) return NULL;
  void *part = (char *)s->head + TT_SEGMENT_GRAIN + *at;
  *at += tt__segment_rounded(size);
  return part;
}

void tt__segment_keep(tt_segment *s) {
  atomic_fetch_add(&s->holds, 1);
  atomic_fetch_add(&s->parts, 1);
}

void tt__segment_leave(void *segment) {
  tt_segment *s = segment;
  int before = atomic_fetch_sub(&s->parts, 1);
  assert(before > 0);
  if (before == 1 && !s->own && s->reader == getpid()) atomic_store(&s->head->taken, 0);
  tt__segment_drop(s);
}
