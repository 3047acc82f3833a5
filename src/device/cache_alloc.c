/*
** Device memory kept for reuse; see the header.
**
** Invariants, checked by tt__dmem_check:
**   1. the blocks of a segment, from left to right, cover it
**   2. no two neighbours are free
**   3. a free block is in the list of its size in the pool of its stream, and in no other
**   4. reserved = sum of segments; allocated = sum of live blocks; waiting = sum of waiting ones
*/
#include "device/cache_alloc.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "device/cache_int.h"
#include "device/device.h"

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)
enum { ALIGN = 512, SCAN = 16 };

/* Requests up to SMALL share segments of PAGE; those below BIG share segments of BIG_SEGMENT if the driver has that
** much, since one call of the driver costs as much as a hundred launches. */
static const size_t SMALL = MB, PAGE = 2 * MB, BIG = 8 * MB, BIG_SEGMENT = 32 * MB;

tt_lock tt__cache_lock = TT_LOCK_RANKED(1);
typedef bool (*room_fn)(tt_device *d, size_t need, void *ctx);
static room_fn pressure; /* both guarded by the lock */
static void *pressure_ctx;
static void (*flush_fn)(void);

TT_LOCK_FORKS(tt__cache_lock, 1);

void tt__dmem_set_pressure(bool (*make_room)(tt_device *d, size_t need, void *ctx), void *ctx) {
  tt__lock(&tt__cache_lock);
  pressure = make_room;
  pressure_ctx = ctx;
  tt__unlock(&tt__cache_lock);
}

void tt__dmem_set_flush(void (*flush)(void)) {
  tt__lock(&tt__cache_lock);
  flush_fn = flush;
  tt__unlock(&tt__cache_lock);
}

static void flush(void) {
  if (flush_fn) flush_fn();
}

void *tt__dmem_at(const tt_dmem *m) { return m->p; }

/* ---- lists of free blocks */

/* Lists hold sizes in [4 * 2^k / 4, 5 * 2^k / 4) and so on, in units of ALIGN. */
static int bin_of(size_t full) {
  size_t n = full / ALIGN;
  assert(n > 0);
  if (n < 4) return (int)n;
  int top = 63 - __builtin_clzll((unsigned long long)n);
  int bin = 4 * (top - 1) + (int)((n >> (top - 2)) & 3);
  return bin < TT_CACHE_BINS ? bin : TT_CACHE_BINS - 1;
}

static void link_free(tt_dmem *m) {
  assert(tt__lock_is_mine(&tt__cache_lock));
  assert(m->full > 0 && m->full % ALIGN == 0 && m->pool);
  int b = bin_of(m->full);
  tt_dmem **list = &m->pool->bin[m->is_large][b];
  m->state = TT_DMEM_FREE;
  m->before = NULL;
  m->after = *list;
  if (*list) (*list)->before = m;
  *list = m;
  m->pool->full[m->is_large][b / 64] |= (uint64_t)1 << (b % 64);
}

static void unlink_free(tt_dmem *m) {
  assert(tt__lock_is_mine(&tt__cache_lock));
  assert(m->before ? m->before->after == m : m->pool->bin[m->is_large][bin_of(m->full)] == m);
  assert(m->state == TT_DMEM_FREE);
  int b = bin_of(m->full);
  tt_dmem **list = &m->pool->bin[m->is_large][b];
  *(m->before ? &m->before->after : list) = m->after;
  if (m->after) m->after->before = m->before;
  if (!*list) m->pool->full[m->is_large][b / 64] &= ~((uint64_t)1 << (b % 64));
}

/* The first list from `b` on that is not empty, or -1. */
static int next_bin(const tt_dmem_pool *p, bool is_large, int b) {
  assert(b >= 0);
  if (b >= TT_CACHE_BINS) return -1;
  int word = b / 64;
  uint64_t bits = p->full[is_large][word] & (~(uint64_t)0 << (b % 64));
  while (!bits && ++word < TT_CACHE_BINS / 64) bits = p->full[is_large][word];
  return bits ? word * 64 + __builtin_ctzll(bits) : -1;
}

/* The best of the first few that are large enough. */
static tt_dmem *best_of(tt_dmem *list, size_t full) {
  tt_dmem *best = NULL;
  int seen = 0;
  for (tt_dmem *m = list; m && seen < SCAN; m = m->after, seen++)
    if (m->full >= full && (!best || m->full < best->full)) best = m;
  return best;
}

static tt_dmem *find_free(const tt_dmem_pool *p, bool is_large, size_t full) {
  assert(full > 0 && full % ALIGN == 0);
  int own = bin_of(full);
  tt_dmem *m = best_of(p->bin[is_large][own], full);
  int b = m ? -1 : next_bin(p, is_large, own + 1);
  return b >= 0 ? best_of(p->bin[is_large][b], full) : m;
}

/* ---- descriptors */

static tt_dmem *new_block(tt_cache *c) {
  assert(tt__lock_is_mine(&tt__cache_lock));
  tt_dmem *m = c->dead;
  if (m)
    c->dead = m->after;
  else
    m = tt__mem_alloc(sizeof *m);
  if (m) memset(m, 0, sizeof *m);
  return m;
}

/* Kept, so that the state of a block that is freed twice can be seen. */
static void retire(tt_cache *c, tt_dmem *m) {
  assert(m->state != TT_DMEM_DEAD && tt__lock_is_mine(&tt__cache_lock));
  m->state = TT_DMEM_DEAD;
  m->after = c->dead;
  c->dead = m;
}

static tt_dmem_pool *pool_of(tt_cache *c, tt_stream *s) {
  tt_dmem_pool *p = c->pools;
  while (p && p->stream != s) p = p->next;
  if (p) return p;
  p = tt__mem_zalloc(sizeof *p);
  if (!p) return NULL;
  p->stream = s;
  p->next = c->pools;
  return c->pools = p;
}

/* ---- cutting and merging */

/* Make `m`, which is in no list, `full` long; the rest becomes a free neighbour. Without memory for that it stays. */
static void cut(tt_cache *c, tt_dmem *m, size_t full) {
  assert(full > 0 && full <= m->full && full % ALIGN == 0);
  size_t rest = m->full - full;
  if (rest < (m->is_large ? PAGE : ALIGN)) return;
  tt_dmem *r = new_block(c);
  if (!r) return;
  *r =
      (tt_dmem){.p = m->p + full, .full = rest, .is_large = m->is_large, .left = m, .right = m->right, .pool = m->pool};
  if (m->right) m->right->left = r;
  m->right = r;
  m->full = full;
  link_free(r);
}

/* Join m, which is in no list, with its right neighbour, which is in none either. */
static void swallow_right(tt_cache *c, tt_dmem *m) {
  tt_dmem *r = m->right;
  assert(m->p + m->full == r->p);
  m->full += r->full;
  m->right = r->right;
  if (r->right) r->right->left = m;
  retire(c, r);
}

static void set_free(tt_cache *c, tt_dmem *m) {
  assert(m->state != TT_DMEM_DEAD && !m->uses);
  if (m->right && m->right->state == TT_DMEM_FREE) {
    unlink_free(m->right);
    swallow_right(c, m);
  }
  if (m->left && m->left->state == TT_DMEM_FREE) {
    m = m->left;
    unlink_free(m);
    swallow_right(c, m);
  }
  link_free(m);
}

/* ---- use on other streams */

static void drop_uses(tt_device *d, tt_dmem *m) {
  for (tt_dmem_use *u = m->uses, *next; u; u = next) {
    next = u->next;
    d->ops->event_free(d, u->event);
    if (u != &m->own) tt__mem_free(u, sizeof *u);
  }
  m->uses = NULL;
}

/* An event behind all that was asked of the streams that use it. Where that fails, the streams are waited for. */
static void mark_uses(tt_device *d, tt_dmem *m) {
  bool ok = true;
  for (tt_dmem_use *u = m->uses; u && ok; u = u->next)
    ok = d->ops->event_new(d, false, &u->event, NULL) == TT_OK &&
         d->ops->event_record(d, u->event, u->stream, NULL) == TT_OK;
  if (ok) return;
  for (tt_dmem_use *u = m->uses; u; u = u->next) d->ops->stream_wait_idle(d, u->stream, NULL);
  drop_uses(d, m);
}

static tt_code ask_event(tt_device *d, tt_event *e, bool wait, bool *done) {
  *done = true;
  return wait ? d->ops->event_wait(d, e, NULL) : d->ops->event_done(d, e, done, NULL);
}

/*
** On a lost device nothing is under way any more. An event that became part of a capture tells nothing: it is recorded
** anew, which succeeds once the capture is over.
*/
static bool is_done(tt_device *d, tt_dmem *m, bool wait) {
  for (tt_dmem_use *u = m->uses; u; u = u->next) {
    bool done;
    tt_code code = ask_event(d, u->event, wait, &done);
    if (code != TT_OK && !tt__device_lost(d)) {
      code = d->ops->event_record(d, u->event, u->stream, NULL);
      if (code == TT_OK) code = ask_event(d, u->event, wait, &done);
      done = code == TT_OK && done;
    }
    if (!done && !tt__device_lost(d)) return false;
  }
  return true;
}

/* Those whose events have come to pass become free, oldest first. */
static void settle(tt_cache *c, bool wait) {
  assert(tt__lock_is_mine(&tt__cache_lock));
  while (c->waits && is_done(c->device, c->waits, wait)) {
    tt_dmem *m = c->waits;
    c->waits = m->after;
    if (!c->waits) c->waits_last = NULL;
    c->stats.waiting -= (int64_t)m->full;
    drop_uses(c->device, m);
    set_free(c, m);
  }
}

static void note_use(tt_dmem *m, tt_stream *s) {
  assert(m->pool && s);
  tt_dmem_use *u = m->uses;
  while (u && u->stream != s) u = u->next;
  if (u || s == m->pool->stream) return;
  u = m->uses ? tt__mem_alloc(sizeof *u) : &m->own;
  if (!u) {
    m->is_lost = true;
    return;
  }
  *u = (tt_dmem_use){.stream = s, .next = m->uses};
  m->uses = u;
}

void tt__dmem_used_on(tt_device *d, tt_dmem *m, tt_stream *s) {
  (void)d;
  tt__lock(&tt__cache_lock);
  assert(m->state == TT_DMEM_LIVE);
  note_use(m, s);
  tt__unlock(&tt__cache_lock);
}

/* ---- segments */

static void link_segment(tt_cache *c, tt_dmem *m) {
  m->below = c->segments;
  if (m->below) m->below->above = m;
  c->segments = m;
}

static void unlink_segment(tt_cache *c, tt_dmem *m) {
  *(m->above ? &m->above->below : &c->segments) = m->below;
  if (m->below) m->below->above = m->above;
}

static bool is_whole(const tt_dmem *m) { return m->is_first && !m->right; }

/* Give the segments that are one free block back to the driver. True if there was any. */
static bool release(tt_cache *c) {
  bool any = false;
  for (tt_dmem_pool *p = c->pools; p; p = p->next) {
    for (int k = 0; k < 2 * TT_CACHE_BINS; k++) {
      for (tt_dmem *m = p->bin[k / TT_CACHE_BINS][k % TT_CACHE_BINS], *next; m; m = next) {
        next = m->after;
        if (!is_whole(m)) continue;
        if (!any) flush();
        unlink_free(m);
        unlink_segment(c, m);
        c->device->ops->free(c->device, m->p, m->full);
        c->stats.reserved -= (int64_t)m->full;
        retire(c, m);
        any = true;
      }
    }
  }
  return any;
}

static tt_code ask_driver(tt_cache *c, size_t size, void **out, tt_error *err) {
  int64_t limit = c->stats.limit;
  if (limit > 0 && c->stats.reserved + (int64_t)size > limit)
    return tt__fail(err, TT_ENOMEM, "%s: the limit of %lld bytes is reached", c->device->name, (long long)limit);
  TT_TRY(c->device->ops->alloc(c->device, size, out, err));
  c->stats.driver_allocs++;
  c->stats.reserved += (int64_t)size;
  if (c->stats.reserved > c->stats.max_reserved) c->stats.max_reserved = c->stats.reserved;
  return TT_OK;
}

/* A new segment as one block that is in no list. */
static tt_code grow(tt_cache *c, tt_dmem_pool *p, bool is_large, size_t full, tt_dmem **out, tt_error *err) {
  tt_dmem *m = new_block(c);
  if (!m) return tt__fail_memory(err, sizeof *m);
  size_t size = !is_large ? PAGE : full < BIG && !c->plain ? BIG_SEGMENT : full;
  void *memory = NULL;
  tt_code code = ask_driver(c, size, &memory, err);
  if (code == TT_ENOMEM && size > full && is_large) code = ask_driver(c, size = full, &memory, err);
  if (code != TT_OK) {
    retire(c, m);
    return code;
  }
  *m = (tt_dmem){.p = memory, .full = size, .is_large = is_large, .is_first = true, .pool = p};
  link_segment(c, m);
  if (c->poison) c->device->ops->fill(c->device, p->stream, m->p, TT_MEM_POISON, size, NULL);
  *out = m;
  return TT_OK;
}

/* ---- the two calls */

static bool round_up(const tt_cache *c, size_t size, size_t *full, bool *is_large) {
  size_t to = size <= SMALL || c->plain ? ALIGN : PAGE;
  if (size > PTRDIFF_MAX / 2) return false;
  *full = size ? (size + to - 1) / to * to : ALIGN;
  *is_large = size > SMALL || c->plain;
  return true;
}

/* Without help from outside. Lock held. */
static tt_code take(tt_cache *c, tt_stream *s, size_t full, bool is_large, tt_dmem **out, tt_error *err) {
  tt_dmem_pool *p = pool_of(c, s);
  if (!p) return tt__fail_memory(err, sizeof *p);
  if (c->waits) settle(c, false);
  tt_dmem *m = find_free(p, is_large, full);
  tt_code code = m ? TT_OK : grow(c, p, is_large, full, out, err);
  if (code == TT_ENOMEM && c->waits) {
    settle(c, true);
    m = find_free(p, is_large, full);
    code = m ? TT_OK : code;
  }
  if (code == TT_ENOMEM && release(c)) code = grow(c, p, is_large, full, out, err);
  if (code != TT_OK) return code;
  if (m)
    unlink_free(m);
  else
    m = *out;
  m->state = TT_DMEM_LIVE;
  cut(c, m, full);
  *out = m;
  return TT_OK;
}

static void count(tt_cache *c, int64_t bytes) {
  c->stats.allocated += bytes;
  if (c->stats.allocated > c->stats.max_allocated) c->stats.max_allocated = c->stats.allocated;
}

static tt_code fail_full(tt_cache *c, size_t size, tt_error *err) {
  tt_dmem_stats s = c->stats;
  char limit[64] = "";
  int64_t left = 0, total = 0;
  if (s.limit) snprintf(limit, sizeof limit, ", the limit is %lld", (long long)s.limit);
  c->device->ops->mem_info(c->device, &left, &total, NULL);
  return tt__fail(err, TT_ENOMEM,
                  "%s is out of memory: cannot allocate %zu bytes (%lld in arrays, %lld taken from the driver%s; the "
                  "device has %lld free of %lld)",
                  c->device->name, size, (long long)s.allocated, (long long)s.reserved, limit, (long long)left,
                  (long long)total);
}

tt_code tt__dmem_alloc(tt_device *d, tt_stream *s, size_t size, tt_dmem **out, tt_error *err) {
  assert(s && out);
  *out = NULL;
  TT_TRY(tt__device_alive(d, err));
  tt_cache *c = tt__cache_of(d);
  size_t full;
  bool is_large;
  if (!round_up(c, size, &full, &is_large)) return tt__fail_memory(err, size);
  for (;;) {
    tt__lock(&tt__cache_lock);
    tt_dmem *m = NULL;
    tt_code code = take(c, s, full, is_large, &m, err);
    if (code == TT_OK) {
      m->size = size;
      c->stats.allocs++;
      count(c, (int64_t)m->full);
      *out = m;
    }
    room_fn make_room = pressure;
    void *ctx = pressure_ctx;
    tt__unlock(&tt__cache_lock);
    if (code != TT_ENOMEM) return code;
    if (!make_room || !make_room(d, full, ctx)) return fail_full(c, size, err);
  }
}

/* Behind the work of every stream that uses it. */
static void poison(tt_device *d, tt_dmem *m) {
  flush();
  for (tt_dmem_use *u = m->uses; u; u = u->next) d->ops->stream_wait(d, m->pool->stream, u->event, NULL);
  d->ops->fill(d, m->pool->stream, m->p, TT_MEM_POISON, m->full, NULL);
}

void tt__dmem_free(tt_device *d, tt_dmem *m) {
  if (!m) return;
  tt_cache *c = tt__cache_of(d);
  tt__lock(&tt__cache_lock);
  assert(m->state == TT_DMEM_LIVE);
  count(c, -(int64_t)m->full);
  if (m->uses) mark_uses(d, m);
  if (c->poison) poison(d, m);
  if (m->uses || m->is_lost) {
    m->state = TT_DMEM_WAITS;
    m->after = NULL;
    c->stats.waiting += (int64_t)m->full;
  }
  if (m->is_lost) {
    drop_uses(d, m);
  } else if (m->uses) {
    *(c->waits_last ? &c->waits_last->after : &c->waits) = m;
    c->waits_last = m;
  } else {
    set_free(c, m);
  }
  if (c->plain) release(c);
  tt__unlock(&tt__cache_lock);
}

/* What other streams may use stays as it is, as do blocks with a segment of their own. */
void tt__dmem_shrink(tt_device *d, tt_dmem *m, size_t size) {
  assert(m && size <= m->size);
  tt_cache *c = tt__cache_of(d);
  size_t to = m->is_large ? PAGE : ALIGN, full = size ? (size + to - 1) / to * to : to, before = m->full;
  tt__lock(&tt__cache_lock);
  assert(m->state == TT_DMEM_LIVE && size <= m->size);
  m->size = size;
  if (!m->uses && !m->is_lost && !c->plain && full < before) {
    cut(c, m, full);
    if (m->full < before) {
      tt_dmem *rest = m->right;
      unlink_free(rest);
      count(c, -(int64_t)(before - m->full));
      if (c->poison) poison(d, rest);
      set_free(c, rest);
    }
  }
  tt__unlock(&tt__cache_lock);
}

/* ---- upkeep */

void tt__dmem_trim(tt_device *d) {
  tt__lock(&tt__cache_lock);
  settle(tt__cache_of(d), true);
  release(tt__cache_of(d));
  tt__pinned_trim(tt__cache_of(d));
  tt__unlock(&tt__cache_lock);
}

void tt__dmem_set_limit(tt_device *d, int64_t bytes) {
  tt__lock(&tt__cache_lock);
  tt__cache_of(d)->stats.limit = bytes > 0 ? bytes : 0;
  tt__unlock(&tt__cache_lock);
}

tt_dmem_stats tt__dmem_stats(tt_device *d) {
  tt__lock(&tt__cache_lock);
  const tt_cache *c = tt__cache_of(d);
  tt_dmem_stats s = c->stats;
  for (const tt_dmem *first = c->segments; first; first = first->below)
    for (const tt_dmem *m = first; m; m = m->right) s.free_blocks += m->state == TT_DMEM_FREE;
  tt__pinned_count(c, &s);
  tt__unlock(&tt__cache_lock);
  return s;
}

void tt__dmem_reset_peak(tt_device *d) {
  tt__lock(&tt__cache_lock);
  tt_dmem_stats *s = &tt__cache_of(d)->stats;
  s->max_allocated = s->allocated;
  s->max_reserved = s->reserved;
  tt__unlock(&tt__cache_lock);
}

static const char *check_segment(const tt_dmem *first, tt_dmem_stats *sum) {
  const tt_dmem *left = NULL;
  if (!first->is_first || first->left) return "a segment does not begin with its first block";
  for (const tt_dmem *m = first; m; left = m, m = m->right) {
    if (m->left != left) return "neighbours disagree";
    if (left && left->p + left->full != m->p) return "a gap in a segment";
    if (left && left->state == TT_DMEM_FREE && m->state == TT_DMEM_FREE) return "free neighbours were not merged";
    if (m->full == 0 || m->full % ALIGN) return "a size that is not rounded";
    sum->reserved += (int64_t)m->full;
    if (m->state == TT_DMEM_LIVE) sum->allocated += (int64_t)m->full;
    if (m->state == TT_DMEM_WAITS) sum->waiting += (int64_t)m->full;
    if (m->state == TT_DMEM_DEAD) return "a dead block in a segment";
    if (m->state == TT_DMEM_FREE) sum->allocs++;
  }
  return NULL;
}

static const char *check_lists(const tt_cache *c, int64_t nfree) {
  for (const tt_dmem_pool *p = c->pools; p; p = p->next) {
    for (int k = 0; k < 2 * TT_CACHE_BINS; k++) {
      int b = k % TT_CACHE_BINS;
      const tt_dmem *list = p->bin[k / TT_CACHE_BINS][b];
      bool is_marked = p->full[k / TT_CACHE_BINS][b / 64] >> (b % 64) & 1;
      if (is_marked != (list != NULL)) return "a list is not marked as it is";
      for (const tt_dmem *m = list; m; m = m->after, nfree--)
        if (m->state != TT_DMEM_FREE || m->pool != p || bin_of(m->full) != b) return "a block in a wrong list";
    }
  }
  return nfree == 0 ? NULL : "a free block is in no list";
}

const char *tt__dmem_check(tt_device *d) {
  tt_cache *c = tt__cache_of(d);
  tt_dmem_stats sum = {0};
  const char *fault = NULL;
  tt__lock(&tt__cache_lock);
  for (const tt_dmem *m = c->segments; m && !fault; m = m->below) fault = check_segment(m, &sum);
  if (!fault) fault = check_lists(c, sum.allocs);
  if (!fault &&
      (sum.reserved != c->stats.reserved || sum.allocated != c->stats.allocated || sum.waiting != c->stats.waiting))
    fault = "the sums are wrong";
  tt__unlock(&tt__cache_lock);
  return fault;
}

tt_code tt__dmem_open(tt_device *d, tt_error *err) {
  tt_cache *c = tt__mem_zalloc(sizeof *c);
  if (!c) return tt__fail_memory(err, sizeof *c);
  c->device = d;
  c->stats.limit = tt__mem_stats().limit;
  c->poison = tt__env_on("TUTTI_POISON");
  c->plain = tt__env_on("TUTTI_CHECK");
  d->cache = c;
  return TT_OK;
}

void tt__dmem_close(tt_device *d) {
  tt_cache *c = tt__cache_of(d);
  tt__dmem_trim(d);
  for (tt_dmem *first = c->segments, *below; first; first = below) { /* somebody still has blocks of these */
    below = first->below;
    size_t size = 0;
    char *p = first->p;
    for (tt_dmem *m = first, *right; m; m = right) {
      right = m->right;
      size += m->full;
      drop_uses(d, m);
      tt__mem_free(m, sizeof *m);
    }
    d->ops->free(d, p, size);
  }
  for (tt_dmem *m = c->dead, *next; m; m = next) {
    next = m->after;
    tt__mem_free(m, sizeof *m);
  }
  for (tt_dmem_pool *p = c->pools, *next; p; p = next) {
    next = p->next;
    tt__mem_free(p, sizeof *p);
  }
  tt__mem_free(c, sizeof *c);
  d->cache = NULL;
}
