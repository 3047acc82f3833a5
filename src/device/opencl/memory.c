/*
** Memory of OpenCL devices. What OpenCL gives is a handle, to which a program adds no numbers; what the rest of tutti
** wants is an address. So each piece has a range of addresses of its own, and a table says which piece an address
** belongs to. Where the device is the processor the piece lies at these addresses, in large pages: OpenCL is given
** memory of ours then. Else they are reserved from the system and never touched: who does meets a fault, as with any
** device's.
*/
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "device/device.h"
#include "device/opencl/opencl_int.h"

typedef struct cl_range {
  const char *from;
  size_t size; /* bytes of it that are memory */
  void *taken; /* what the system gave, and how much; nothing for memory of the host */
  size_t room;
  void *memory; /* the handle */
  int index;    /* of the device */
  bool is_host; /* pinned memory of the host, where a mapped piece lies */
} cl_range;

TT_LOCK(range_lock, 0);
static cl_range *ranges; /* by address */
static int nrange, range_room;

/* The first range that ends behind an address. */
static int range_behind(const char *p) {
  int low = 0, high = nrange;
  while (low < high) {
    int mid = low + (high - low) / 2;
    if (ranges[mid].from + ranges[mid].size > p)
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

static bool range_add(cl_range r) {
  tt__lock(&range_lock);
  bool good = true;
  if (nrange == range_room) {
    int room = range_room ? 2 * range_room : 64;
    cl_range *more = tt__mem_alloc(sizeof *more * (size_t)room);
    good = more != NULL;
    if (good) {
      if (nrange) memcpy(more, ranges, sizeof *more * (size_t)nrange);
      tt__mem_free(ranges, sizeof *more * (size_t)range_room);
      ranges = more;
      range_room = room;
    }
  }
  if (good) {
    int at = range_behind(r.from);
    memmove(ranges + at + 1, ranges + at, sizeof *ranges * (size_t)(nrange - at));
    ranges[at] = r;
    nrange++;
  }
  tt__unlock(&range_lock);
  return good;
}

/* The range that `p` lies in; false: in none. */
static bool range_of(const void *p, cl_range *out) {
  tt__lock(&range_lock);
  int at = range_behind(p);
  bool found = at < nrange && ranges[at].from <= (const char *)p;
  if (found) *out = ranges[at];
  tt__unlock(&range_lock);
  return found;
}

static bool range_take(const void *p, cl_range *out) {
  tt__lock(&range_lock);
  int at = range_behind(p);
  bool found = at < nrange && ranges[at].from == p;
  if (found) {
    *out = ranges[at];
    memmove(ranges + at, ranges + at + 1, sizeof *ranges * (size_t)(--nrange - at));
    if (nrange == 0) {
      tt__mem_free(ranges, sizeof *ranges * (size_t)range_room);
      ranges = NULL;
      range_room = 0;
    }
  }
  tt__unlock(&range_lock);
  return found;
}

void *tt__cl_memory(const void *p, size_t *at) {
  cl_range r;
  if (!range_of(p, &r) || r.is_host) return NULL;
  *at = (size_t)((const char *)p - r.from);
  return r.memory;
}

int tt__cl_owner(const void *p) {
  cl_range r;
  return range_of(p, &r) && !r.is_host ? r.index : -1;
}

bool tt__cl_is_pinned(tt_device *d, const void *p, size_t size) {
  cl_range r;
  (void)d;
  return size > 0 && range_of(p, &r) && r.is_host && (const char *)p + size <= r.from + r.size;
}

/* ---- pieces */

tt_code tt__cl_mem_info(tt_device *d, int64_t *free_bytes, int64_t *total_bytes, tt_error *err) {
  TT_TRY(tt__device_alive(d, err));
  tt_cl *c = tt__cl_of(d);
  tt__lock(&c->lock);
  *total_bytes = c->total;
  *free_bytes = c->total > c->used ? c->total - c->used : 0; /* the standard has no question for what others use */
  tt__unlock(&c->lock);
  return TT_OK;
}

static void count_used(tt_cl *c, int64_t bytes) {
  tt__lock(&c->lock);
  c->used += bytes;
  tt__unlock(&c->lock);
}

static tt_code fail_cl_memory(tt_device *d, const char *what, size_t size, tt_error *err) {
  return tt__fail(err, TT_ENOMEM, "%s is out of memory: cannot allocate %zu bytes of %s memory", d->name, size, what);
}

/* Addresses for a piece; `used`: with memory behind them. False: there are none. */
static bool take_addresses(size_t size, bool used, cl_range *r) {
  enum { LARGE_PAGE = 2 << 20 };
  size_t page = tt__page_size(), lead = used && size >= LARGE_PAGE ? LARGE_PAGE : 0;
  r->room = (size + page - 1) / page * page + lead;
  r->taken = mmap(NULL, r->room, used ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                  -1, 0);
  if (r->taken == MAP_FAILED) return false;
  r->from = r->taken;
  if (lead) {
    r->from += (LARGE_PAGE - (uintptr_t)r->taken % LARGE_PAGE) % LARGE_PAGE;
    (void)madvise((void *)(uintptr_t)r->from, size, MADV_HUGEPAGE); /* a wish */
  }
  return true;
}

/* Many implementations give memory when it is first used, and say only then that there is none. */
static int use_once(tt_device *d, void *memory, size_t size) {
  const tt_cl_api *api = tt__cl_of(d)->api;
  void *queue = d->work ? TT_CL_STREAM(d->work)->queue : NULL;
  const char zero = 0;
  if (!queue || size == 0) return 0;
  int result = api->fill(queue, memory, &zero, 1, size - 1, 1, 0, NULL, NULL);
  return result ? result : api->finish(queue);
}

/* The piece of a range of addresses; OpenCL's result. */
static int new_piece(tt_device *d, cl_range *r) {
  enum { READ_WRITE = 1, OURS = 1 << 3 };
  const tt_cl_api *api = tt__cl_of(d)->api;
  bool ours = d->target.serial;
  int result = 0;
  r->memory = api->memory_new(tt__cl_of(d)->context, ours ? READ_WRITE | OURS : READ_WRITE, r->size,
                              ours ? (void *)(uintptr_t)r->from : NULL, &result);
  if (r->memory && (result = use_once(d, r->memory, r->size)) != 0) api->memory_free(r->memory);
  return result;
}

tt_code tt__cl_alloc(tt_device *d, size_t size, void **out, tt_error *err) {
  tt_cl *c = tt__cl_of(d);
  *out = NULL;
  TT_TRY(tt__device_alive(d, err));
  cl_range r = {.size = size ? size : 1, .index = d->index};
  if (tt__fault(TT_FAULT_DEVICE_MEMORY) || (c->most_block && (int64_t)r.size > c->most_block) ||
      !take_addresses(r.size, d->target.serial, &r))
    return fail_cl_memory(d, "device", size, err);
  int result = new_piece(d, &r);
  if (result == 0 && range_add(r)) {
    count_used(c, (int64_t)r.size);
    *out = (void *)(uintptr_t)r.from;
    return TT_OK;
  }
  if (result == 0) c->api->memory_free(r.memory);
  munmap(r.taken, r.room);
  if (result == TT_CL_NO_OBJECT_MEMORY || result == TT_CL_NO_RESOURCES || result == TT_CL_NO_HOST_MEMORY ||
      result == TT_CL_INVALID_BUFFER_SIZE)
    return fail_cl_memory(d, "device", size, err);
  return result ? tt__cl_done(d, result, "allocate memory", err) : tt__fail_memory(err, r.size);
}

void tt__cl_free(tt_device *d, void *p, size_t size) {
  cl_range r;
  (void)size;
  if (!p || !range_take(p, &r)) return;
  tt_cl *c = tt__cl_of(d);
  if (!tt__device_lost(d)) c->api->memory_free(r.memory);
  munmap(r.taken, r.room);
  count_used(c, -(int64_t)r.size);
}

/* Pinned: a piece that stays mapped. */
tt_code tt__cl_host_alloc(tt_device *d, size_t size, void **out, tt_error *err) {
  enum { READ_WRITE = 1, ALLOC_HOST = 1 << 4, MAP_BOTH = 3, BLOCKING = 1 };
  tt_cl *c = tt__cl_of(d);
  int result = 0;
  *out = NULL;
  TT_TRY(tt__device_alive(d, err));
  if (tt__fault(TT_FAULT_DEVICE_MEMORY)) return fail_cl_memory(d, "pinned host", size, err);
  size_t bytes = size ? size : 1;
  void *memory = c->api->memory_new(c->context, READ_WRITE | ALLOC_HOST, bytes, NULL, &result);
  if (!memory) return fail_cl_memory(d, "pinned host", size, err);
  void *at = c->api->map(TT_CL_STREAM(d->work)->queue, memory, BLOCKING, MAP_BOTH, 0, bytes, 0, NULL, NULL, &result);
  if (!at || !range_add((cl_range){.from = at, .size = bytes, .memory = memory, .index = d->index, .is_host = true})) {
    if (at) c->api->unmap(TT_CL_STREAM(d->work)->queue, memory, at, 0, NULL, NULL);
    c->api->memory_free(memory);
    return fail_cl_memory(d, "pinned host", size, err);
  }
  *out = at;
  return TT_OK;
}

void tt__cl_host_free(tt_device *d, void *p, size_t size) {
  cl_range r;
  (void)size;
  if (!p || !range_take(p, &r) || tt__device_lost(d)) return;
  tt_cl *c = tt__cl_of(d);
  if (d->work && c->api->unmap(TT_CL_STREAM(d->work)->queue, r.memory, p, 0, NULL, NULL) == 0)
    c->api->finish(TT_CL_STREAM(d->work)->queue);
  c->api->memory_free(r.memory);
}

/* ---- the host's view of a device that is the processor */

tt_code tt__cl_map(tt_device *d, tt_stream *s, void *p, size_t size, bool write, tt_error *err) {
  enum { READ = 1, READ_WRITE = 3, BLOCKING = 1, MAP_FAILURE = -12 };
  size_t at = 0;
  int result = 0;
  void *memory = tt__cl_memory(p, &at);
  TT_TRY(tt__device_alive(d, err));
  if (!memory) return tt__fail(err, TT_EVALUE, "%s: cannot map: %p is not its memory", d->name, p);
  const void *mapped = tt__cl_of(d)->api->map(TT_CL_STREAM(s)->queue, memory, BLOCKING, write ? READ_WRITE : READ, at,
                                              size, 0, NULL, NULL, &result);
  return tt__cl_done(d, result == 0 && mapped != p ? MAP_FAILURE : result, "map memory", err);
}

tt_code tt__cl_unmap(tt_device *d, tt_stream *s, void *p, tt_error *err) {
  size_t at;
  TT_TRY(tt__device_alive(d, err));
  return tt__cl_done(d, tt__cl_of(d)->api->unmap(TT_CL_STREAM(s)->queue, tt__cl_memory(p, &at), p, 0, NULL, NULL),
                     "unmap memory", err);
}

/* ---- copies */

static tt_code begin_copy(tt_device *d, tt_stream *s, const void *p, void **memory, size_t *at, const char *what,
                          tt_error *err) {
  TT_TRY(tt__device_alive(d, err));
  if (tt__fault(TT_FAULT_COPY)) return tt__fail(err, TT_EDEVICE, "%s: cannot %s: told to fail", d->name, what);
  *memory = tt__cl_memory(p, at);
  if (!*memory) return tt__fail(err, TT_EVALUE, "%s: cannot %s: %p is not its memory", d->name, what, p);
  __atomic_fetch_add(&TT_CL_STREAM(s)->asked, 1, __ATOMIC_RELAXED);
  return TT_OK;
}

tt_code tt__cl_fill(tt_device *d, tt_stream *s, void *p, uint8_t byte, size_t size, tt_error *err) {
  void *memory;
  size_t at;
  if (size == 0) return TT_OK;
  TT_TRY(begin_copy(d, s, p, &memory, &at, "fill memory", err));
  return tt__cl_done(d, tt__cl_of(d)->api->fill(TT_CL_STREAM(s)->queue, memory, &byte, 1, at, size, 0, NULL, NULL),
                     "fill memory", err);
}

tt_code tt__cl_copy_in(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  void *memory;
  size_t at;
  if (size == 0) return TT_OK;
  TT_TRY(begin_copy(d, s, to, &memory, &at, "copy to it", err));
  unsigned waits = !tt__cl_is_pinned(d, from, size);
  return tt__cl_done(d, tt__cl_of(d)->api->write(TT_CL_STREAM(s)->queue, memory, waits, at, size, from, 0, NULL, NULL),
                     "copy to it", err);
}

tt_code tt__cl_copy_out(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  void *memory;
  size_t at;
  if (size == 0) return TT_OK;
  TT_TRY(begin_copy(d, s, from, &memory, &at, "copy from it", err));
  unsigned waits = !tt__cl_is_pinned(d, to, size);
  return tt__cl_done(d, tt__cl_of(d)->api->read(TT_CL_STREAM(s)->queue, memory, waits, at, size, to, 0, NULL, NULL),
                     "copy from it", err);
}

tt_code tt__cl_copy_within(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  void *memory, *source;
  size_t at, source_at;
  if (size == 0) return TT_OK;
  TT_TRY(begin_copy(d, s, to, &memory, &at, "copy within it", err));
  TT_TRY(begin_copy(d, s, from, &source, &source_at, "copy within it", err));
  return tt__cl_done(
      d, tt__cl_of(d)->api->copy(TT_CL_STREAM(s)->queue, source, memory, source_at, at, size, 0, NULL, NULL),
      "copy within it", err);
}

/* Devices share no context, so by way of the host. */
tt_code tt__cl_copy_peer(tt_device *d, tt_stream *s, void *to, tt_device *source, const void *from, size_t size,
                         tt_error *err) {
  if (size == 0) return TT_OK;
  if (source == d) return tt__cl_copy_within(d, s, to, from, size, err);
  char *between = tt__mem_alloc_data(size);
  if (!between) return tt__fail_memory(err, size);
  tt_code code = tt__cl_copy_out(source, source->down, between, from, size, err);
  if (code == TT_OK) code = tt__cl_copy_in(d, s, to, between, size, err);
  tt__mem_free_data(between, size);
  return code;
}
