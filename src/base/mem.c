/*
** The one allocator. Metadata goes to malloc, counted. Array memory comes in
** size classes, four to an octave, and a freed block waits in its class for the
** next request. It must not know what an array is.
**
** Invariants of the store of free blocks (under `store_lock`):
**   1. every free block is in exactly one class list and in the age list
**   2. `cached` is the sum of their class sizes and never above `cache_cap`
*/
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/os/os.h"
#include "base/quick.h"

enum {
  ALIGN = 64,
  CLASSES = 4 + 4 * 55,
  MAP_FROM = 1 << 17, /* from here on a block is a mapping of its own */
  HUGE_FROM = 4 << 20,
  HUGE_PAGE = 2 << 20,
  MOST_POISONED = 64 << 20
};

/* Lives in the first bytes of a free block. */
typedef struct block {
  struct block *prev, *next;   /* of its class, newest first */
  struct block *older, *newer; /* of all */
  size_t size;                 /* class size */
} block;
_Static_assert(sizeof(block) <= ALIGN, "a free block must hold its header");

/*
** Of metadata, of array memory and of both; a small array is made and freed so often that each count is felt. Those of
** array memory alone change under `store_lock`, which saves an atomic addition each way.
*/
static atomic_llong live_meta, live_data, peak, peak_data, allocs_meta, limit;

TT_QUICK(store_lock, 0);
static block *store[CLASSES];
static block *oldest, *newest;
static size_t cached, cache_cap, kept_blocks;
static long long allocs_data; /* under `store_lock`, as they are */
bool tt__mem_poisons;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- counting */

static void raise_peak(atomic_llong *top, long long now) {
  long long seen = atomic_load_explicit(top, memory_order_relaxed);
  while (now > seen &&
         !atomic_compare_exchange_weak_explicit(top, &seen, now, memory_order_relaxed, memory_order_relaxed))
    continue;
}

static void count_meta(size_t size) {
  long long sum = atomic_fetch_add_explicit(&live_meta, (long long)size, memory_order_relaxed) + (long long)size;
  raise_peak(&peak, sum + atomic_load_explicit(&live_data, memory_order_relaxed));
}

static void uncount_meta(size_t size) {
  long long before = atomic_fetch_sub_explicit(&live_meta, (long long)size, memory_order_relaxed);
  (void)before;
  assert(before >= (long long)size);
}

/* False where that is more than the limit allows. */
static bool count_data(size_t size) {
  assert(tt__lock_is_mine(&store_lock.lock));
  long long now = atomic_load_explicit(&live_data, memory_order_relaxed) + (long long)size;
  long long top = atomic_load_explicit(&limit, memory_order_relaxed);
  if (top > 0 && now > top) return false;
  atomic_store_explicit(&live_data, now, memory_order_relaxed);
  raise_peak(&peak_data, now);
  raise_peak(&peak, now + atomic_load_explicit(&live_meta, memory_order_relaxed));
  return true;
}

static void uncount_data(size_t size) {
  assert(tt__lock_is_mine(&store_lock.lock));
  long long before = atomic_load_explicit(&live_data, memory_order_relaxed);
  assert(before >= (long long)size);
  atomic_store_explicit(&live_data, before - (long long)size, memory_order_relaxed);
}

/* ---- metadata */

static void *counted(void *p, size_t size) {
  if (!p) return NULL;
  count_meta(size);
  atomic_fetch_add_explicit(&allocs_meta, 1, memory_order_relaxed);
  return p;
}

void *tt__mem_alloc(size_t size) {
  if (size == 0 || size > PTRDIFF_MAX || tt__fault(TT_FAULT_MEMORY)) return NULL;
  return counted(malloc(size), size);
}

void *tt__mem_zalloc(size_t size) {
  if (size == 0 || size > PTRDIFF_MAX || tt__fault(TT_FAULT_MEMORY)) return NULL;
  return counted(calloc(1, size), size);
}

void *tt__mem_realloc(void *p, size_t old_size, size_t new_size) {
  if (!p) return tt__mem_alloc(new_size);
  if (new_size == 0) {
    tt__mem_free(p, old_size);
    return NULL;
  }
  if (new_size > PTRDIFF_MAX || tt__fault(TT_FAULT_MEMORY)) return NULL;
  void *q = counted(realloc(p, new_size), new_size);
  if (q) uncount_meta(old_size);
  return q;
}

void tt__mem_free(void *p, size_t size) {
  if (!p) return;
  assert(size > 0);
  uncount_meta(size);
  free(p);
}

void *tt__mem_dup(const void *p, size_t size) {
  assert(p || size == 0);
  void *copy = tt__mem_alloc(size);
  return copy ? memcpy(copy, p, size) : NULL;
}

/* ---- array memory: start */

/* "512M", "8G", "1000000"; 0 when it says nothing we understand. */
static int64_t parse_size(const char *text) {
  if (!text || *text < '0' || *text > '9') return 0;
  char *end = NULL;
  double value = strtod(text, &end);
  static const char unit[] = "kmgt";
  if (*end) {
    const char *at = strchr(unit, *end | 0x20);
    if (!at) return 0;
    for (const char *u = unit; u <= at; u++) value *= 1024;
  }
  return value < 0x1p62 ? (int64_t)value : 0;
}

TT_AT_LOAD(0) static void at_load(void) { tt__mem_poisons = tt__env_on("TUTTI_POISON"); }

static void start(void) {
  cache_cap = TT_MEM_KEEPS ? (size_t)tt__ram_bytes() / 8 : 0;
  int64_t asked = parse_size(tt__env("TUTTI_MEM_LIMIT"));
  if (asked > 0) atomic_store(&limit, asked);
}

/* The beginning is enough of what is large: a test shall not touch every page of it. */
static void poison(void *p, size_t size) {
  if (tt__mem_poisons) memset(p, TT_MEM_POISON, size < MOST_POISONED ? size : MOST_POISONED);
}

/* ---- array memory: size classes */

/* Rounds *size up to its class and returns the class, or -1 when no block can be that large. */
static int class_of(size_t *size) {
  size_t s = *size < ALIGN ? ALIGN : *size;
  if (s > PTRDIFF_MAX / 2) return -1;
  if (s <= 4 * ALIGN) {
    *size = (s + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    return (int)(*size / ALIGN) - 1;
  }
  int top = 63 - __builtin_clzll((unsigned long long)(s - 1)); /* 2^top < s <= 2^(top+1) */
  size_t step = (size_t)1 << (top - 2);
  *size = (s + step - 1) & ~(step - 1);
  int quarter = (int)((*size - 1 - ((size_t)1 << top)) >> (top - 2));
  int c = 4 + (top - 8) * 4 + quarter;
  assert(c >= 4 && c < CLASSES);
  return c;
}

/* ---- array memory: the system's side */

static void *map_block(size_t size) {
  size_t extra = size >= HUGE_FROM ? HUGE_PAGE : 0;
  char *p = mmap(NULL, size + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  if (!extra) return p;
  size_t lead = (HUGE_PAGE - ((uintptr_t)p & (HUGE_PAGE - 1))) & (HUGE_PAGE - 1);
  if (lead) munmap(p, lead);
  if (extra - lead) munmap(p + lead + size, extra - lead);
  madvise(p + lead, size, MADV_HUGEPAGE);
  return p + lead;
}

static void *system_take(size_t size) {
  if (TT_MEM_KEEPS && size >= MAP_FROM) return map_block(size);
  return aligned_alloc(ALIGN, (size + ALIGN - 1) & ~(size_t)(ALIGN - 1));
}

static void system_give(void *p, size_t size) {
  if (TT_MEM_KEEPS && size >= MAP_FROM)
    munmap(p, size);
  else
    free(p);
}

/* ---- array memory: the store of free blocks */

static void unlink_block(block *b) {
  assert(tt__lock_is_mine(&store_lock.lock));
  assert(b->prev ? b->prev->next == b : store[class_of(&(size_t){b->size})] == b);
  size_t size = b->size;
  int c = class_of(&size);
  assert(size == b->size && cached >= size);
  *(b->prev ? &b->prev->next : &store[c]) = b->next;
  if (b->next) b->next->prev = b->prev;
  *(b->older ? &b->older->newer : &oldest) = b->newer;
  *(b->newer ? &b->newer->older : &newest) = b->older;
  cached -= size;
  kept_blocks--;
}

static void link_block(block *b, int c, size_t size) {
  assert(!newest || !newest->newer);
  assert(c >= 0 && c < CLASSES && tt__lock_is_mine(&store_lock.lock));
  *b = (block){.next = store[c], .older = newest, .size = size};
  if (store[c]) store[c]->prev = b;
  store[c] = b;
  *(newest ? &newest->newer : &oldest) = b;
  newest = b;
  cached += size;
  kept_blocks++;
}

/* Detach the oldest blocks until at most `keep` bytes are kept; the result is a list through `next`. */
static block *detach_down_to(size_t keep) {
  assert(tt__lock_is_mine(&store_lock.lock));
  block *out = NULL;
  while (cached > keep && oldest) {
    block *b = oldest;
    unlink_block(b);
    b->next = out;
    out = b;
  }
  return out;
}

/* Outside the lock: munmap of a large block takes long. */
static void give_list(block *b) {
  for (block *next; b; b = next) {
    next = b->next;
    system_give(b, b->size);
  }
}

void tt__mem_trim(void) {
  tt__quick_lock(&store_lock);
  block *out = detach_down_to(0);
  tt__quick_unlock(&store_lock);
  give_list(out);
}

void *tt__mem_alloc_data(size_t size) {
  pthread_once(&once, start);
  size_t full = size;
  int c = size ? class_of(&full) : -1;
  if (c < 0 || tt__fault(TT_FAULT_MEMORY)) return NULL;
  if (!TT_MEM_KEEPS) full = size;

  tt__quick_lock(&store_lock);
  if (!count_data(size)) {
    tt__quick_unlock(&store_lock);
    return NULL;
  }
  block *b = store[c], *surplus = NULL;
  allocs_data++;
  if (b) unlink_block(b);
  long long top = atomic_load_explicit(&limit, memory_order_relaxed);
  if (!b && top > 0 && cached) { /* kept blocks must not push the process over the limit */
    long long room = top - atomic_load(&live_data);
    surplus = detach_down_to(room > 0 ? (size_t)room : 0);
  }
  tt__quick_unlock(&store_lock);
  give_list(surplus);

  void *p = b;
  if (!p) p = system_take(full);
  if (!p) {
    tt__mem_trim();
    p = system_take(full);
  }
  if (!p) {
    tt__quick_lock(&store_lock);
    uncount_data(size);
    tt__quick_unlock(&store_lock);
    return NULL;
  }
  poison(p, size);
  return p;
}

void tt__mem_free_data(void *p, size_t size) {
  if (!p) return;
  assert(size > 0);
  size_t full = size;
  int c = class_of(&full);
  assert(c >= 0 && ((uintptr_t)p & (ALIGN - 1)) == 0);
  bool kept = TT_MEM_KEEPS && full <= cache_cap / 2;
  if (kept) poison(p, size);
  tt__quick_lock(&store_lock);
  uncount_data(size);
  block *surplus = kept ? detach_down_to(cache_cap - full) : NULL;
  if (kept) link_block(p, c, full);
  tt__quick_unlock(&store_lock);
  give_list(surplus);
  if (!kept) system_give(p, full);
}

/* ---- figures */

tt_mem_stats tt__mem_stats(void) {
  pthread_once(&once, start);
  tt__quick_lock(&store_lock);
  int64_t kept = (int64_t)cached, pieces = (int64_t)kept_blocks, blocks = allocs_data;
  tt__quick_unlock(&store_lock);
  return (tt_mem_stats){.live = atomic_load(&live_meta) + atomic_load(&live_data),
                        .peak = atomic_load(&peak),
                        .live_data = atomic_load(&live_data),
                        .peak_data = atomic_load(&peak_data),
                        .cached = kept,
                        .kept_blocks = pieces,
                        .allocs = atomic_load(&allocs_meta) + blocks,
                        .limit = atomic_load(&limit)};
}

void tt__mem_reset_peak(void) {
  atomic_store(&peak, atomic_load(&live_meta) + atomic_load(&live_data));
  atomic_store(&peak_data, atomic_load(&live_data));
}

void tt__mem_set_limit(int64_t bytes) {
  pthread_once(&once, start);
  atomic_store(&limit, bytes > 0 ? bytes : 0);
}
