/*
** Pinned memory of the host, kept for reuse: pinning a page costs more than copying it. What is free is linked through
** its own first bytes.
*/
#include <assert.h>

#include "base/mem.h"
#include "device/cache_int.h"
#include "device/device.h"
#include "device/staging.h"

typedef struct tt_pinned_block tt_pinned_block;
struct tt_pinned_block {
  size_t size; /* rounded */
  tt_pinned_block *next;
};

static const size_t LEAST = 4096, KEPT = (size_t)512 << 20; /* more than that is not kept */

/* Quarters of an octave, so that sizes that differ a little share blocks. */
static size_t round_up(size_t size) {
  if (size <= LEAST) return LEAST;
  size_t step = (size_t)1 << (61 - __builtin_clzll((unsigned long long)(size - 1)));
  return (size + step - 1) & ~(step - 1);
}

static void destroy(tt_cache *c, void *p, size_t size) {
  c->stats.pinned -= (int64_t)size;
  c->device->ops->host_free(c->device, p, size);
}

void tt__pinned_trim(tt_cache *c) {
  assert(tt__lock_is_mine(&tt__cache_lock));
  for (tt_pinned_block *f = c->pinned, *next; f; f = next) {
    next = f->next;
    destroy(c, f, f->size);
  }
  c->pinned = NULL;
}

void tt__pinned_count(const tt_cache *c, tt_dmem_stats *s) {
  for (const tt_pinned_block *f = c->pinned; f; f = f->next) {
    s->pinned_kept += (int64_t)f->size;
    s->pinned_free++;
  }
}

void tt__pinned_drop(tt_device *d) {
  tt__lock(&tt__cache_lock);
  if (!tt__device_lost(d)) tt__pinned_trim(tt__cache_of(d));
  tt__unlock(&tt__cache_lock);
}

static void *find(tt_cache *c, size_t size) {
  for (tt_pinned_block **at = &c->pinned; *at; at = &(*at)->next) {
    tt_pinned_block *f = *at;
    if (f->size != size) continue;
    *at = f->next;
    return f;
  }
  return NULL;
}

tt_code tt__pinned_alloc(tt_device *d, size_t size, void **out, tt_error *err) {
  assert(size > 0 && out);
  *out = NULL;
  if (size > PTRDIFF_MAX / 2) return tt__fail_memory(err, size);
  TT_TRY(tt__device_alive(d, err));
  tt_cache *c = tt__cache_of(d);
  size_t full = round_up(size);
  tt__lock(&tt__cache_lock);
  tt_code code = TT_OK;
  if (!(*out = find(c, full))) {
    code = d->ops->host_alloc(d, full, out, err);
    if (code == TT_ENOMEM && c->pinned) {
      tt__pinned_trim(c);
      code = d->ops->host_alloc(d, full, out, err);
    }
    if (code == TT_OK) c->stats.pinned += (int64_t)full;
  }
  tt__unlock(&tt__cache_lock);
  return code;
}

void tt__pinned_free(tt_device *d, void *p, size_t size) {
  if (!p) return;
  assert(size > 0);
  tt_cache *c = tt__cache_of(d);
  size_t full = round_up(size), kept = 0;
  tt__lock(&tt__cache_lock);
  if (!tt__device_lost(d)) {
    for (const tt_pinned_block *f = c->pinned; f; f = f->next) {
      assert((const void *)f != p);
      kept += f->size;
    }
    if (kept + full > KEPT) {
      destroy(c, p, full);
    } else {
      tt_pinned_block *f = p;
      *f = (tt_pinned_block){full, c->pinned};
      c->pinned = f;
    }
  }
  tt__unlock(&tt__cache_lock);
}
