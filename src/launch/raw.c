/*
** Memory at addresses that stay; see raw.h. A list knows each piece of it, so that an
** address says where it lies and how far it reaches.
*/
#include "launch/raw.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "device/cache_alloc.h"
#include "device/streams.h"
#include "device/device.h"
#include "device/staging.h"
#include "graph/build.h"
#include "graph/call.h"
#include "graph/host.h"
#include "graph/session.h"
#include "run/residency.h"
#include "run/device/share.h"
#include "run/wanted.h"
#include "tutti/stream.h"

/* ---- what is known: by address, none overlaps another */

typedef struct piece {
  char *at;
  size_t size;
  int device;
  bool is_ours; /* else somebody else's, only known */
  bool is_managed;
  tt_dmem *block; /* of a device */
} piece;

TT_LOCK(lock, 1); /* guards the list */
static TT_VEC(piece) known;

/* How many begin at `p` or below. */
static int64_t count_to(const char *p) {
  int64_t low = 0, high = known.n;
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (known.data[mid].at <= p)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* The piece that `p` lies in. */
static bool find(const void *p, piece *out) {
  const char *at = p;
  tt__lock(&lock);
  int64_t k = count_to(at);
  bool found = k > 0 && (size_t)(at - known.data[k - 1].at) < known.data[k - 1].size;
  if (found) *out = known.data[k - 1];
  tt__unlock(&lock);
  return found;
}

static tt_code add(piece p, tt_error *err) {
  assert(p.size);
  tt__lock(&lock);
  int64_t k = count_to(p.at);
  bool again = k > 0 && known.data[k - 1].at == p.at; /* a variable that is asked for twice */
  bool ok = again || TT_VEC_PUSH(&known, p);
  if (ok && !again) {
    memmove(known.data + k + 1, known.data + k, (size_t)(known.n - 1 - k) * sizeof p);
    known.data[k] = p;
  }
  tt__unlock(&lock);
  return ok ? TT_OK : tt__fail_memory(err, sizeof p);
}

/* Under the lock. */
static void remove_at(int64_t k, piece *out) {
  *out = known.data[k];
  memmove(known.data + k, known.data + k + 1, (size_t)(known.n - 1 - k) * sizeof *out);
  known.n--;
  if (!known.n) TT_VEC_FREE(&known);
}

static bool take_out(const void *p, piece *out) {
  tt__lock(&lock);
  int64_t k = count_to(p);
  bool found = k > 0 && known.data[k - 1].at == (const char *)p && known.data[k - 1].is_ours;
  if (found) remove_at(k - 1, out);
  tt__unlock(&lock);
  return found;
}

static tt_code fail_unknown(const void *p, tt_error *err) {
  return tt__fail(err, TT_EVALUE, "no device memory lies at %p", p);
}

tt_code tt__raw_find(const void *p, int *device, size_t *left, tt_error *err) {
  piece f;
  if (!find(p, &f)) return fail_unknown(p, err);
  *device = f.device;
  *left = f.size - (size_t)((const char *)p - f.at);
  return TT_OK;
}

tt_code tt__raw_where(const void *p, int *device, size_t *left, tt_error *err) {
  tt_error unknown;
  if (tt__raw_find(p, device, left, &unknown) == TT_OK) return TT_OK;
  *left = 0;
  for (int k = 1; k < TT_DEVICE_KINDS; k++) {
    int index = tt__device_owner((tt_device_kind)k, p);
    if (index < 0) continue;
    *device = tt__device_id((tt_device_kind)k, index);
    return TT_OK;
  }
  return fail_unknown(p, err);
}

/* ---- taking and giving back */

static tt_code take(int device, size_t size, piece *p, tt_error *err) {
  tt_device *d;
  TT_TRY(tt__device_open(device, &d, err));
  *p = (piece){.size = size, .device = device, .is_ours = true};
  if (!d) {
    p->at = tt__mem_alloc_data(size);
    return p->at ? TT_OK : tt__fail_memory(err, size);
  }
  tt__session_lock();
  tt_code code = tt__resident_temp(d, d->work, size, &p->block, err);
  tt__session_unlock();
  if (code == TT_OK) p->at = tt__dmem_at(p->block);
  return code;
}

static void give_back(const piece *p) {
  tt_device *d = tt__device_peek(p->device);
  if (p->device == TT_CPU) tt__mem_free_data(p->at, p->size);
  if (d) tt__dmem_free(d, p->block);
}

tt_code tt__raw_new(int device, size_t size, void **out, tt_error *err) {
  piece p;
  *out = NULL;
  if (size == 0) return tt__fail(err, TT_EVALUE, "memory of no bytes has no address");
  TT_TRY(take(device, size, &p, err));
  tt_code code = add(p, err);
  if (code == TT_OK)
    *out = p.at;
  else
    give_back(&p);
  return code;
}

tt_code tt__raw_free(void *p, tt_error *err) {
  piece f;
  tt_error ignored; /* what failed on the device is told where its results are looked at */
  if (!take_out(p, &f)) return fail_unknown(p, err);
  (void)!tt__calls_flush(&ignored);
  tt_device *d = tt__device_peek(f.device);
  if (d) (void)!d->ops->wait_all(d, &ignored); /* any stream may use it */
  give_back(&f);
  return TT_OK;
}

tt_code tt__raw_note(int device, void *p, size_t size, tt_error *err) {
  assert(size == 0 || p);
  return size ? add((piece){.at = p, .size = size, .device = device}, err) : TT_OK;
}

/* ---- memory of the host and a device */

static const bool is_way[] = {[TT_ATTACH_GLOBAL] = true, [TT_ATTACH_HOST] = true, [TT_ATTACH_SINGLE] = true};

static atomic_int managed; /* pieces: most programs have none */

static tt_code check_way(int how, tt_error *err) {
  if (how >= 0 && how < (int)sizeof is_way && is_way[how]) return TT_OK;
  return tt__fail(err, TT_EVALUE, "%d says nobody who may touch managed memory", how);
}

tt_code tt__managed_new(int device, size_t size, int how, void **out, tt_error *err) {
  tt_device *d;
  *out = NULL;
  TT_TRY(check_way(how, err));
  TT_TRY(tt__device_open(device, &d, err));
  if (size == 0) return TT_OK;
  if (!d || d->target.kind == TT_DEVICE_NULL) {
    *out = tt__mem_alloc_data(size);
    return *out ? TT_OK : tt__fail_memory(err, size);
  }
  if (!d->ops->managed) return tt__fail(err, TT_ENOTIMPL, "%s has no managed memory", d->name);
  piece p = {.size = size, .device = device, .is_managed = true};
  TT_TRY(d->ops->managed->alloc(d, size, (tt_attach)how, (void **)&p.at, err));
  tt_code code = add(p, err);
  if (code != TT_OK) {
    d->ops->free(d, p.at, size);
    return code;
  }
  atomic_fetch_add(&managed, 1);
  *out = p.at;
  return TT_OK;
}

static bool forget_managed(const void *p, piece *out) {
  tt__lock(&lock);
  int64_t k = count_to(p);
  bool found = k > 0 && known.data[k - 1].at == (const char *)p && known.data[k - 1].is_managed;
  if (found) remove_at(k - 1, out);
  tt__unlock(&lock);
  if (found) atomic_fetch_sub(&managed, 1);
  return found;
}

void tt__managed_free(int device, void *p, size_t size) {
  piece f;
  tt_error ignored;
  if (!p) return;
  if (!forget_managed(p, &f)) {
    tt__mem_free_data(p, size);
    return;
  }
  (void)!tt__calls_flush(&ignored);
  tt_device *d = tt__device_peek(device);
  if (!d) return;
  (void)!d->ops->wait_all(d, &ignored); /* kernels may use it */
  d->ops->free(d, p, size);
}

int tt__managed_at(const void *p, size_t size) {
  piece f;
  bool found = atomic_load_explicit(&managed, memory_order_relaxed) && find(p, &f) && f.is_managed &&
               size <= f.size - (size_t)((const char *)p - f.at);
  return found ? f.device : TT_CPU;
}

tt_code tt__managed_attach(void *p, int how, tt_stream *s, tt_error *err) {
  tt_device *d;
  piece f;
  TT_TRY(check_way(how, err));
  if (!p || !find(p, &f) || !f.is_managed) return TT_OK; /* plain memory: everybody may */
  TT_TRY(tt__calls_flush(err));
  TT_TRY(tt__device_open(f.device, &d, err));
  return d->ops->managed->attach(d, s ? s : tt__stream_current(d), f.at, (tt_attach)how, err);
}

/* ---- copies */

static atomic_bool under_way[TT_DEVICE_KINDS]; /* copies of pinned memory that nobody waited for, by kind of device */

void tt__raw_settle(tt_device *d) {
  tt_error ignored;
  if (atomic_exchange(&under_way[d->target.kind], false)) (void)!d->ops->wait_all(d, &ignored);
}

/* Launches recorded before are asked for. The null device's have the host's variables, which it comes to later. */
static tt_code before(int id, tt_device **d, tt_error *err) {
  TT_TRY(tt__calls_flush(err));
  TT_TRY(tt__device_open(id, d, err));
  for (int k = 0; !*d && k < 2; k++) {
    tt_device *null = tt__device_peek(tt__device_id(TT_DEVICE_NULL, k));
    if (null) TT_TRY(null->ops->wait_all(null, err));
  }
  return TT_OK;
}

/* Where the bytes at `p` lie; they all belong to one piece. */
static tt_code reach(const void *p, size_t size, int *device, tt_error *err) {
  size_t left = 0;
  TT_TRY(tt__raw_find(p, device, &left, err));
  if (size > left)
    return tt__fail(err, TT_EVALUE, "a copy of %zu bytes reaches beyond memory of %zu bytes", size, left);
  return TT_OK;
}

static tt_code copy_in(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, bool wait, tt_error *err) {
  if (wait || !d->ops->is_pinned(d, from, size)) {
    TT_TRY(tt__staging_in(d, s, to, from, size, err));
    return wait ? d->ops->stream_wait_idle(d, s, err) : TT_OK;
  }
  atomic_store(&under_way[d->target.kind], true);
  return d->ops->copy_in(d, s, to, from, size, err);
}

static tt_code copy_out(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, bool wait, tt_error *err) {
  if (wait || !d->ops->is_pinned(d, to, size)) return tt__staging_out(d, s, to, from, size, err);
  atomic_store(&under_way[d->target.kind], true);
  return d->ops->copy_out(d, s, to, from, size, err);
}

/* From device to device, of which `d` is the one with the stream; either may be the host. */
static tt_code copy_across(tt_device *d, tt_stream *s, void *to, int to_id, const void *from, int from_id, size_t size,
                           tt_error *err) {
  tt_device *source;
  if (to_id == TT_CPU) return tt__staging_out(d, s, to, from, size, err);
  if (from_id == TT_CPU) return tt__staging_in(d, s, to, from, size, err);
  TT_TRY(tt__device_open(from_id, &source, err));
  if (source == d) return d->ops->copy_within(d, s, to, from, size, err);
  TT_TRY(source->ops->wait_all(source, err)); /* what writes `from` stands in order on streams of its own device */
  return d->ops->copy_peer(d, s, to, source, from, size, err);
}

tt_code tt__raw_copy(void *to, const void *from, size_t size, tt_raw_way way, tt_stream *s, bool wait, tt_error *err) {
  tt_device *d;
  int to_id = TT_CPU, from_id = TT_CPU;
  if (size == 0) return TT_OK;
  if (way != TT_RAW_OUT) TT_TRY(reach(to, size, &to_id, err));
  if (way != TT_RAW_IN) TT_TRY(reach(from, size, &from_id, err));
  TT_TRY(before(to_id ? to_id : from_id, &d, err));
  if (!d) {
    memmove(to, from, size);
    return TT_OK;
  }
  if (!s) s = tt__stream_current(d);
  if (way == TT_RAW_IN) return copy_in(d, s, to, from, size, wait, err);
  if (way == TT_RAW_OUT) return copy_out(d, s, to, from, size, wait, err);
  TT_TRY(copy_across(d, s, to, to_id, from, from_id, size, err));
  return wait ? d->ops->stream_wait_idle(d, s, err) : TT_OK;
}

/* A first part from the host, then the memory doubles itself. */
static tt_code fill_there(tt_device *d, tt_stream *s, char *to, const char *part, size_t have, size_t size,
                          tt_error *err) {
  TT_TRY(tt__staging_in(d, s, to, part, have, err));
  while (have < size) {
    size_t more = size - have < have ? size - have : have;
    TT_TRY(d->ops->copy_within(d, s, to + have, to, more, err));
    have += more;
  }
  return TT_OK;
}

tt_code tt__raw_fill(void *to, const void *item, size_t width, size_t count, tt_stream *s, tt_error *err) {
  enum { PART = 4096 };
  char part[PART];
  tt_device *d;
  int id;
  size_t size;
  if (!width || width > PART || __builtin_mul_overflow(width, count, &size))
    return tt__fail(err, TT_EVALUE, "memory cannot be filled by %zu times %zu bytes", count, width);
  if (size == 0) return TT_OK;
  TT_TRY(reach(to, size, &id, err));
  TT_TRY(before(id, &d, err));
  if (d && width == 1) return d->ops->fill(d, s ? s : tt__stream_current(d), to, *(const uint8_t *)item, size, err);
  size_t have = PART / width * width < size ? PART / width * width : size;
  for (size_t k = 0; k < have; k += width) memcpy(part + k, item, width);
  if (d) return fill_there(d, s ? s : tt__stream_current(d), to, part, have, size, err);
  for (size_t k = 0; k < size; k += have) memcpy((char *)to + k, part, size - k < have ? size - k : have);
  return TT_OK;
}

/* ---- arrays */

static tt_code bytes_of(tt_dtype dtype, int rank, const int64_t *len, size_t *out, tt_error *err) {
  int64_t n = (int64_t)tt__dtype_size(dtype);
  for (int k = 0; k < rank; k++) {
    if (len[k] < 0 || __builtin_mul_overflow(n, len[k], &n))
      return tt__fail(err, TT_EVALUE, "an array cannot have an axis of %lld", (long long)len[k]);
  }
  *out = (size_t)n;
  return TT_OK;
}

static tt_code load_here(const void *from, tt_dtype dtype, int rank, const int64_t *len, tt_array **out,
                         tt_error *err) {
  TT_TRY(tt__from_data(dtype, rank, len, from, NULL, out, err));
  return tt__wanted_put(out, TT_CPU, err);
}

static tt_code load_there(int id, const void *from, tt_dtype dtype, int rank, const int64_t *len, tt_array **out,
                          tt_error *err) {
  tt_array *there;
  tt_device *d;
  void *data = (void *)(uintptr_t)from; /* only read */
  TT_TRY(tt__device_open(id, &d, err));
  TT_TRY(tt__array_adopt(id, dtype, rank, len, data, NULL, true, NULL, NULL, &there, err));
  tt_code code = tt__share_detach(there, out, err);
  tt__array_release(there);
  return code;
}

tt_code tt__raw_load(const void *from, tt_dtype dtype, int rank, const int64_t *len, tt_array **out, tt_error *err) {
  size_t size = 0;
  int id;
  *out = NULL;
  TT_TRY(bytes_of(dtype, rank, len, &size, err));
  TT_TRY(reach(from, size, &id, err));
  TT_TRY(tt__calls_flush(err));
  tt__session_lock();
  err->code = TT_OK;
  tt_code code =
      id == TT_CPU ? load_here(from, dtype, rank, len, out, err) : load_there(id, from, dtype, rank, len, out, err);
  tt__session_unlock();
  return code != TT_OK && err->code != TT_OK ? err->code : code;
}

/* Session lock held. */
static tt_code store_there(tt_device *d, void *to, tt_array *a, size_t size, tt_error *err) {
  const void *from;
  void *hold;
  if (!tt__array_is_c(a)) return tt__fail(err, TT_EVALUE, "the array is not in C order");
  TT_TRY(tt__share_peek(a, d, TT_NO_STREAM, &from, &hold, err));
  tt_code code = d->ops->copy_within(d, tt__stream_current(d), to, from, size, err);
  if (hold) tt__share_unpeek(hold);
  return code;
}

tt_code tt__raw_store(void *to, tt_array *a, tt_error *err) {
  tt_device *d;
  size_t size = 0;
  int id;
  TT_TRY(bytes_of((tt_dtype)a->dtype, a->rank, a->dim, &size, err));
  if (size == 0) return TT_OK;
  TT_TRY(reach(to, size, &id, err));
  TT_TRY(before(id, &d, err));
  tt__session_lock();
  err->code = TT_OK;
  tt_code code = d ? store_there(d, to, a, size, err) : tt__read(a, to, size, err);
  tt__session_unlock();
  return code != TT_OK && err->code != TT_OK ? err->code : code;
}
