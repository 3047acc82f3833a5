/*
** The bookkeeping of a checked launch; see check.h.
**
** A time is a count of what synchronises in a block. A thread's accesses bear the time of its last synchronisation, so
** an access of another thread is ordered before this one when its time lies before the last barrier of this thread, or
** when a warp operation handed the knowledge of it on.
*/
#include "lang/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/os.h"
#include "lang/check_int.h"

enum {
  PAGE = 4096,
  LEAST_MARGIN = 64 << 10,
  MOST_MARGIN = 16 << 20,
  MOST_WATCHED = 128 << 20, /* bytes of arrays of one launch that are watched for races: each costs 12 */
  MOST_TIME = (1 << 22) - 1,
  MOST_SITE = (1 << 30) - 1
};

bool tt__check_wanted(void) { return tt__env_on("TUTTI_CHECK"); }

tt_check *tt__check_new(const char *kernel, const unsigned grid[3], const unsigned block[3],
                        const tt_check_sites *sites) {
  tt_check *c = tt__mem_zalloc(sizeof *c);
  if (!c) return NULL;
  c->kernel = kernel;
  c->sites = *sites;
  c->threads = 1;
  for (int k = 0; k < 3; k++) {
    c->grid[k] = grid[k];
    c->dim[k] = block[k];
    c->threads *= block[k];
  }
  return c;
}

/* ---- memory of cells: address space, touched where the kernel touches */

static void *map(size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}
static void unmap(void *p, size_t size) {
  if (p) munmap(p, size);
}
static size_t word_bytes(const ground *g) { return ((size_t)(g->end - g->base) / 4 + 2) * sizeof(cell); }
static size_t byte_bytes(const ground *g) { return (size_t)(g->end - g->base + 1) * sizeof(cell); }
static size_t written_bytes(const ground *g) { return (size_t)(g->end - g->base + 1) * sizeof(uint32_t); }

void tt__check_free(tt_check *c) {
  if (!c) return;
  for (int64_t k = 0; k < c->ground.n; k++) {
    ground *g = &c->ground.data[k];
    unmap(g->word, word_bytes(g));
    unmap(g->byte, byte_bytes(g));
    unmap(g->written, written_bytes(g));
  }
  unmap(c->room, c->room_size);
  TT_VEC_FREE(&c->ground);
  TT_VEC_FREE(&c->area);
  TT_VEC_FREE(&c->moved);
  TT_VEC_FREE(&c->published);
  tt__mem_free(c, sizeof *c);
}

/* ---- areas */

void tt__check_loose(tt_check *c) { c->loose = true; }

bool tt__check_add(tt_check *c, const tt_check_area *a) { return a->size == 0 || TT_VEC_PUSH(&c->area, *a); }

bool tt__check_array(tt_check *c, const tt_check_area *a, void **slot, bool writes) {
  moved m = {.slot = slot, .from = a->base, .size = a->size, .writes = writes, .area = (int)c->area.n};
  return TT_VEC_PUSH(&c->area, *a) && TT_VEC_PUSH(&c->moved, m);
}

static int by_from(const void *x, const void *y) {
  const moved *a = x, *b = y;
  return a->from < b->from ? -1 : a->from > b->from;
}

/* Give each group of arrays that overlap a place of its own; *size: what all take. With `room`, put them there. */
static void place_arrays(tt_check *c, char *room, size_t *size) {
  size_t at = MOST_MARGIN;
  for (int64_t k = 0; k < c->moved.n;) {
    moved *first = &c->moved.data[k];
    char *end = first->from + first->size;
    at = (at + PAGE - 1) / PAGE * PAGE + (uintptr_t)first->from % 64;
    for (; k < c->moved.n && (c->moved.data[k].from < end || &c->moved.data[k] == first); k++) {
      moved *m = &c->moved.data[k];
      if (m->from + m->size > end) end = m->from + m->size;
      m->to = room ? room + at + (m->from - first->from) : NULL;
    }
    size_t bytes = (size_t)(end - first->from);
    if (room && bytes) memcpy(room + at, first->from, bytes);
    at += bytes + (bytes < LEAST_MARGIN ? LEAST_MARGIN : bytes > MOST_MARGIN ? MOST_MARGIN : bytes);
  }
  *size = at + MOST_MARGIN;
}

static int by_base(const void *x, const void *y) {
  const ground *a = x, *b = y;
  return a->base < b->base ? -1 : a->base > b->base;
}

/* Areas that overlap become one ground, sorted by address. */
static bool make_grounds(tt_check *c) {
  for (int64_t k = 0; k < c->area.n; k++) {
    const tt_check_area *a = &c->area.data[k];
    ground g = {.base = a->base, .end = a->base + a->size, .space = a->space};
    if (a->size && !TT_VEC_PUSH(&c->ground, g)) return false;
  }
  if (c->ground.n == 0) return true;
  qsort(c->ground.data, (size_t)c->ground.n, sizeof(ground), by_base);
  int64_t n = 1;
  for (int64_t k = 1; k < c->ground.n; k++) {
    ground *last = &c->ground.data[n - 1], *g = &c->ground.data[k];
    if (g->base < last->end && g->space == last->space) {
      if (g->end > last->end) last->end = g->end;
    } else {
      c->ground.data[n++] = *g;
    }
  }
  c->ground.n = n;
  return true;
}

tt_code tt__check_begin(tt_check *c, tt_error *err) {
  if (c->moved.n) {
    qsort(c->moved.data, (size_t)c->moved.n, sizeof(moved), by_from);
    place_arrays(c, NULL, &c->room_size);
    c->room = map(c->room_size);
    if (!c->room) return tt__fail_memory(err, c->room_size);
    place_arrays(c, c->room, &c->room_size);
    for (int64_t k = 0; k < c->moved.n; k++) {
      moved *m = &c->moved.data[k];
      *m->slot = m->to + ((char *)*m->slot - m->from);
      c->area.data[m->area].base = m->to;
    }
  }
  if (!make_grounds(c)) return tt__fail_memory(err, sizeof(ground));
  int64_t left = MOST_WATCHED;
  for (int64_t k = 0; k < c->ground.n; k++) {
    ground *g = &c->ground.data[k];
    bool shared = g->space == TT_CHECK_SHARED;
    if (g->space == TT_CHECK_FREE || (g->end - g->base > left && !shared)) continue;
    if (!shared) left -= g->end - g->base;
    g->word = map(word_bytes(g));
    g->byte = map(byte_bytes(g));
    if (shared) g->written = map(written_bytes(g));
    if (!g->word || !g->byte || (shared && !g->written)) return tt__fail_memory(err, byte_bytes(g));
  }
  return TT_OK;
}

void tt__check_end(tt_check *c) {
  for (int64_t k = 0; k < c->moved.n; k++) {
    moved *m = &c->moved.data[k];
    if (!m->to) continue;
    if (m->writes && m->size) memcpy(m->from, m->to, m->size);
    *m->slot = m->from + ((char *)*m->slot - m->to);
    m->to = NULL;
  }
}

const tt_check_area *tt__check_nearest(const tt_check *c, const char *at, int64_t *distance) {
  const tt_check_area *best = NULL;
  for (int64_t k = 0; k < c->area.n; k++) {
    const tt_check_area *a = &c->area.data[k];
    if (a->space == TT_CHECK_FREE) continue;
    int64_t d = at < a->base ? at - a->base : at >= a->base + a->size ? at - (a->base + a->size) + 1 : 0;
    if (best && llabs(d) >= llabs(*distance)) continue;
    best = a;
    *distance = d;
  }
  return best;
}

/* The ground that all of [at, at + size) lies on. */
static ground *find_ground(tt_check *c, const char *at, size_t size, uint32_t site) {
  int16_t *hint = &c->hint[(site ^ site >> 10) % CHECK_SITES];
  ground *g = *hint < c->ground.n ? &c->ground.data[*hint] : NULL;
  if (g && at >= g->base && at + size <= g->end) return g;
  int64_t lo = 0, hi = c->ground.n;
  while (lo < hi) {
    int64_t mid = (lo + hi) / 2;
    if (c->ground.data[mid].base <= at)
      lo = mid + 1;
    else
      hi = mid;
  }
  for (int64_t k = lo - 1; k >= 0 && k >= lo - 4; k--) { /* grounds of two spaces may lie in one another */
    g = &c->ground.data[k];
    if (at + size > g->end) continue;
    *hint = (int16_t)(k < INT16_MAX ? k : 0);
    return g;
  }
  return NULL;
}

/* ---- time */

static touch touch_now(const tt_check *c, unsigned kind, uint32_t site) {
  return (touch){.block = c->block,
                 .stamp = c->of[c->thread].stamp & MOST_TIME,
                 .thread = c->thread & (CHECK_THREADS - 1),
                 .site = site & MOST_SITE,
                 .atomic = (kind & TT_CHECK_ATOMIC) != 0,
                 .is_volatile = (kind & TT_CHECK_VOLATILE) != 0};
}

static uint32_t site_of(const tt_check *c, const void *from) {
  return (uint32_t)((uintptr_t)from - (uintptr_t)c->sites.base) & MOST_SITE;
}

static uint32_t tick(tt_check *c) {
  if (c->now >= MOST_TIME)
    c->is_lost = true;
  else
    c->now++;
  return c->now;
}

void tt__check_block(tt_check *c, int64_t block) {
  if (c->has_warps) {
    memset(c->knows, 0, sizeof c->knows);
    memset(c->told, 0, sizeof c->told);
  }
  c->has_warps = c->is_lost = false;
  c->block = (uint32_t)block + 1;
  c->now = 1;
  c->opened = c->opened_at = c->acquired = c->ended = 0;
  c->waits.block = c->fell.block = 0;
  for (unsigned k = 0; k < c->threads; k++) c->of[k] = (thread_state){.stamp = 1, .epoch = 1};
}

void tt__check_thread(tt_check *c, unsigned thread) { c->thread = thread; }

static bool is_published(const publication *p, uint32_t stamp, uint32_t acquired) {
  return p->stamp >= stamp && p->stamp > 0 && p->event <= acquired;
}

/* Is there such an access, and nothing that orders it before what the thread does now? */
static bool is_loose_end(const tt_check *c, const touch *t) {
  if (t->block == 0) return false;
  if (t->block != c->block) { /* whose shared memory was another one */
    int64_t at = (int64_t)t->block - 1;
    return !c->in_shared && (at >= c->published.n || !is_published(&c->published.data[at], t->stamp, c->acquired));
  }
  const thread_state *me = &c->of[c->thread];
  if (t->thread == c->thread || t->stamp < me->epoch || c->is_lost) return false;
  if (t->thread / 32 == c->thread / 32 && c->knows[c->thread][t->thread % 32] >= t->stamp) return false;
  return !is_published(&c->of[t->thread].published, t->stamp, me->acquired);
}

/*
** Two that do not tear: both atomic, or volatile with a block between them, which is how kernels peek. In global memory
** a plain read beside an atomic write is how they look whether a change is worth it.
*/
static bool is_pair(const tt_check *c, const touch *write, const touch *other, bool both_write) {
  bool far = write->block != other->block, peek = !both_write && !c->in_shared;
  return (write->atomic || (far && write->is_volatile)) && (other->atomic || peek || (far && other->is_volatile));
}

static bool clash(const tt_check *c, const touch *before, bool wrote, const touch *now, bool writes) {
  return is_loose_end(c, before) && !(wrote ? is_pair(c, before, now, writes) : is_pair(c, now, before, false));
}

/* An atomic operation learns what was published, and publishes what its thread did before its fence. */
static void note_atomic(tt_check *c) {
  thread_state *me = &c->of[c->thread];
  me->acquired = c->acquired = c->event;
  if (!me->fenced) return;
  me->fenced = false;
  me->published = (publication){me->stamp, ++c->event};
  uint32_t known = c->now;
  me->stamp = tick(c);
  while (c->published.n < c->block)
    if (!TT_VEC_PUSH(&c->published, (publication){0})) return;
  c->published.data[c->block - 1] = (publication){known, c->event};
}

void tt__check_fence(tt_check *c) { c->of[c->thread].fenced = true; }

/* ---- accesses */

static bool found(tt_check *c, finding f) {
  c->found = f.kind == OUTSIDE && c->unwritten.kind != NOTHING ? c->unwritten : f; /* an index may come of it */
  return false;
}

/* Nobody will write what was read unwritten before the next barrier. */
static bool settle_unwritten(tt_check *c) { return c->unwritten.kind == NOTHING || found(c, c->unwritten); }

/* The write that had no order with another access is done now: did it change anything? */
static bool settle_write(tt_check *c) {
  if (c->write_pending.kind == NOTHING) return true;
  finding f = c->write_pending;
  c->write_pending.kind = NOTHING;
  return memcmp(c->old, f.at, f.size) == 0 || found(c, f);
}

/* The thread stops here: nothing more will excuse what it did. */
static bool settle(tt_check *c) {
  if (!settle_write(c)) return false;
  return c->read_pending.kind == NOTHING || found(c, c->read_pending);
}

/* Keep the access that clashes with `before` in mind until it is known to matter. */
static bool suspect(tt_check *c, touch now, bool writes, touch before, bool wrote, const char *at, size_t size) {
  finding f = {RACE, now, before, writes, wrote, at, size};
  if (writes && !now.atomic && size <= sizeof c->old) {
    if (c->write_pending.kind != NOTHING) return true;
    c->write_pending = f;
    memcpy(c->old, at, size);
    return true;
  }
  if (writes || !before.atomic) return found(c, f);
  if (c->read_pending.kind == NOTHING) c->read_pending = f;
  return true;
}

static bool look(tt_check *c, cell *x, touch now, bool writes, const char *at, size_t size) {
  const touch *bad = clash(c, &x->write, true, &now, writes)              ? &x->write
                     : writes && clash(c, &x->read, false, &now, writes)  ? &x->read
                     : writes && clash(c, &x->other, false, &now, writes) ? &x->other
                     : writes && clash(c, &x->away, false, &now, writes)  ? &x->away
                                                                          : NULL;
  if (bad && !suspect(c, now, writes, *bad, bad == &x->write, at, size)) return false;
  if (writes) {
    *x = (cell){.write = now};
    return true;
  }
  if (x->read.block && x->read.block != c->block)
    x->away = x->read;
  else if (x->read.thread != c->thread && is_loose_end(c, &x->read))
    x->other = x->read;
  x->read = now;
  return true;
}

static void look_written(tt_check *c, const ground *g, const char *at, size_t size, unsigned kind, touch now) {
  uint32_t *w = g->written + (at - g->base);
  bool writes = kind & TT_CHECK_WRITE, reads = !writes || (kind & TT_CHECK_UPDATE);
  for (size_t k = 0; k < size; k++) {
    if (reads && w[k] != c->block && c->unwritten.kind == NOTHING)
      c->unwritten = (finding){UNWRITTEN, now, {0}, false, false, at, size};
    if (writes) w[k] = c->block;
  }
}

bool tt__check_touch(tt_check *c, const void *place, size_t size, unsigned kind, const void *from) {
  const char *at = place;
  uint32_t site = site_of(c, from);
  if (!settle_write(c)) return false;
  ground *g = find_ground(c, at, size, site);
  bool writes = kind & TT_CHECK_WRITE;
  if (!g) {
    bool ours = at >= c->room && at < c->room + c->room_size;
    int64_t far = 0;
    bool near = tt__check_nearest(c, at, &far) && llabs(far) < LEAST_MARGIN;
    if (c->loose && !ours && !near && (uintptr_t)at >= PAGE) return true;
    return found(c, (finding){OUTSIDE, touch_now(c, kind, site), {0}, writes, false, at, size});
  }
  if (!g->word) return true;
  if (kind & TT_CHECK_ATOMIC) note_atomic(c);
  if ((kind & TT_CHECK_ATOMIC) && c->read_pending.at == at) c->read_pending.kind = NOTHING;
  c->in_shared = g->space == TT_CHECK_SHARED;
  touch now = touch_now(c, kind, site);
  if (c->in_shared) look_written(c, g, at, size, kind, now);
  size_t off = (size_t)(at - g->base), unit = size < 4 ? 1 : 4, n = (off % unit + size + unit - 1) / unit;
  cell *x = size < 4 ? g->byte + off : g->word + off / 4;
  for (size_t k = 0; k < n; k++)
    if (!look(c, &x[k], now, writes, at, size)) return false;
  return true;
}

/* ---- barriers */

/* Two calls in the compiled text may be one in the user's. */
static bool is_one_line(tt_check *c, uint32_t a, uint32_t b) {
  char x[256], y[256];
  if (a == b || (a == c->same_line[0] && b == c->same_line[1])) return true;
  c->sites.where(c->sites.ctx, a, x, sizeof x);
  c->sites.where(c->sites.ctx, b, y, sizeof y);
  if (strcmp(x, y) != 0) return false;
  c->same_line[0] = a;
  c->same_line[1] = b;
  return true;
}

bool tt__check_arrives(tt_check *c, const void *from) {
  uint32_t site = site_of(c, from);
  if (!settle(c)) return false;
  touch now = touch_now(c, 0, site);
  if (c->fell.block) return found(c, (finding){.kind = SKIPPED, .now = now, .before = c->fell});
  if (c->waits.block == 0) c->waits = now;
  return is_one_line(c, c->waits.site, site) || found(c, (finding){.kind = PARTED, .now = now, .before = c->waits});
}

bool tt__check_passes(tt_check *c, unsigned thread, unsigned opened) {
  c->thread = thread;
  if (c->opened != opened) { /* the first one behind it */
    if (!settle_unwritten(c)) return false;
    c->opened = opened;
    c->opened_at = tick(c);
    c->waits.block = 0;
  }
  c->of[thread].stamp = c->of[thread].epoch = c->opened_at;
  return true;
}

void tt__check_passes_warp(tt_check *c, unsigned thread, unsigned came) {
  unsigned first = thread & ~31u, lane = thread & 31;
  c->thread = thread;
  c->has_warps = true;
  if (!(c->told[thread / 32] >> lane & 1)) { /* the first one behind it: for all of them, who have done nothing since */
    uint32_t all[32] = {0}, then = tick(c);
    for (unsigned k = 0; k < 32; k++) {
      if (!(came >> k & 1)) continue;
      for (unsigned i = 0; i < 32; i++)
        if (c->knows[first + k][i] > all[i]) all[i] = c->knows[first + k][i];
      if (c->of[first + k].stamp > all[k]) all[k] = c->of[first + k].stamp;
    }
    for (unsigned k = 0; k < 32; k++) {
      if (!(came >> k & 1)) continue;
      memcpy(c->knows[first + k], all, sizeof all);
      c->of[first + k].stamp = then;
    }
    c->told[thread / 32] |= came;
  }
  c->told[thread / 32] &= ~(1u << lane);
}

void tt__check_returns(tt_check *c) { c->of[c->thread].returned = true; }

bool tt__check_ends(tt_check *c) {
  if (!settle(c)) return false;
  if (++c->ended == c->threads && !settle_unwritten(c)) return false;
  if (c->of[c->thread].returned) return true;
  touch now = touch_now(c, 0, 0);
  if (c->waits.block) return found(c, (finding){.kind = SKIPPED, .now = c->waits, .before = now});
  c->fell = now;
  return true;
}
