/*
** The functions of tutti/segment.h: arrays in and out of what io/segment.h has as bytes.
*/
#include "tutti/segment.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/pool/pool.h"
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
void tt_segment_unclaim(tt_segment *s) { tt__segment_unclaim(s); }

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

/* ---- bytes */

/* From this many bytes on several threads write: new pages are what it costs, and each core makes its own. */
enum { WRITE_PIECE = 4 << 20 };

typedef struct writing {
  int fd;
  const char *data;
  size_t at;
  _Atomic int why; /* errno of a part that was not written */
} writing;

/* 0, or the errno of what hinders it. */
static int write_part(int fd, const char *data, size_t size, size_t at) {
  for (size_t done = 0; done < size;) {
    ssize_t put = tt__fault(TT_FAULT_WRITE)
                      ? (errno = ENOSPC, -1)
                      : pwrite(fd, data + done, size - done, (off_t)(TT_SEGMENT_GRAIN + at + done));
    if (put == 0) return ENOSPC;
    if (put < 0 && errno != EINTR) return errno;
    if (put > 0) done += (size_t)put;
  }
  return 0;
}

static void write_range(void *ctx, int64_t lo, int64_t hi, int worker) {
  writing *w = ctx;
  (void)worker;
  int why = write_part(w->fd, w->data + lo, (size_t)(hi - lo), w->at + (size_t)lo);
  if (why) atomic_store(&w->why, why);
}

tt_code tt_segment_write(int fd, size_t at, const void *data, size_t size, tt_error *err) {
  if (at > SIZE_MAX / 4 || size > SIZE_MAX / 4) return tt__fail_memory(err, size);
  writing w = {.fd = fd, .data = data, .at = at};
  if (size <= WRITE_PIECE)
    write_range(&w, 0, (int64_t)size, -1);
  else
    tt__pool_run((int64_t)size, WRITE_PIECE, write_range, &w);
  int why = atomic_load(&w.why);
  if (!why) return TT_OK;
  tt_code c = tt__fail(err, TT_EIO, "cannot share %zu bytes of memory: %s", size, strerror(why));
  if (err) err->system = why;
  return c;
}

tt_code tt_segment_hold(tt_segment *s, size_t at, size_t size, void **data, tt_error *err) {
  *data = tt__segment_part(s, size, &at);
  if (!*data) return tt__fail(err, TT_EVALUE, "the segment ends before its %zu bytes", size);
  tt__segment_keep(s);
  return TT_OK;
}

void tt_segment_leave(tt_segment *s) { tt__segment_leave(s); }

enum { DIGEST_PIECE = 1 << 20 };

typedef struct digested {
  const char *data;
  size_t size;
  uint64_t *digest;
} digested;

static void digest_pieces(void *ctx, int64_t lo, int64_t hi, int worker) {
  const digested *d = ctx;
  (void)worker;
  for (int64_t k = lo; k < hi; k++) {
    size_t at = (size_t)k * DIGEST_PIECE, left = d->size - at;
    d->digest[k] = tt__hash64(d->data + at, left < DIGEST_PIECE ? left : DIGEST_PIECE);
  }
}

/* Pieces are mixed in their order. Where memory for theirs is out they are read one after the other. */
uint64_t tt_segment_digest(const void *data, size_t size) {
  size_t n = (size + DIGEST_PIECE - 1) / DIGEST_PIECE;
  uint64_t few[1], mixed = size, *all = n > 1 ? tt__mem_alloc(n * sizeof *all) : NULL;
  digested d = {data, size, all};
  if (all) tt__pool_run((int64_t)n, 1, digest_pieces, &d);
  for (size_t k = 0; k < n; k++) {
    if (!all) {
      d = (digested){(const char *)data + k * DIGEST_PIECE, size - k * DIGEST_PIECE, few};
      digest_pieces(&d, 0, 1, 0);
    }
    mixed = tt__hash_mix(mixed, all ? all[k] : few[0]);
  }
  tt__mem_free(all, n * sizeof *all);
  return mixed;
}
