/*
** The bookkeeping of a checked launch; see check.h.
**
** A time is a count of what synchronises in a block. A thread's accesses bear the time of its last synchronisation, so
** an access of another thread is ordered before this one when its time lies before the last barrier of this thread, or
** when a warp operation handed the knowledge of it on.
*/
#include "lang/check/check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "lang/check/check_int.h"

enum {
  PAGE = 4096,
  LEAST_MARGIN = 64 << 10,
  MOST_MARGIN = 16 << 20,
  MOST_WATCHED = 128 << 20, /* bytes of arrays of one launch that are watched for races: each costs 12 */
  MOST_TIME = (1 << 22) - 1,
  MOST_SITE = (1 << 30) - 1
};

bool tt__check_wanted(void) { return tt__env_on("TUTTI_CHECK"); }

/* ---- memory of cells and of blocks: address space, touched where it is used */

static void *map(size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}
static void unmap(void *p, size_t size) {
  if (p) munmap(p, size);
}
static bool make_states(tt_check *c) {
  size_t threads = c->threads, warps = (threads + 31) / 32;
  size_t each = threads * (sizeof *c->state->of + sizeof *c->state->knows) + warps * sizeof *c->state->told;
  each = (each + 7) & ~(size_t)7;
  c->state = tt__mem_zalloc((size_t)c->states * sizeof *c->state);
  c->state_size = (size_t)c->states * each;
  c->state_room = map(c->state_size);
  if (!c->state || !c->state_room) return false;
  for (int64_t k = 0; k < c->states; k++) {
    block_state *b = &c->state[k];
    b->of = (thread_state *)(void *)((char *)c->state_room + (size_t)k * each);
    b->knows = (uint32_t(*)[32])(void *)(b->of + threads);
    b->told = (uint32_t *)(void *)(b->knows + threads);
  }
  c->at = c->state;
  return true;
}

tt_check *tt__check_new(const char *kernel, const tt_grid *g, bool together, const tt_check_sites *sites) {
  tt_check *c = tt__mem_zalloc(sizeof *c);
  if (!c) return NULL;
  c->kernel = kernel;
  c->sites = *sites;
  c->together = together;
  c->threads = 1;
  c->states = 1;
  for (int k = 0; k < 3; k++) {
    c->grid[k] = g->grid[k];
    c->dim[k] = g->block[k];
    c->threads *= g->block[k];
    if (together) c->states *= g->grid[k];
  }
  if (make_states(c)) return c;
  tt__check_free(c);
  return NULL;
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
  unmap(c->state_room, c->state_size);
  unmap(c->kept_room, c->kept_size);
  tt__mem_free(c->state, c->state ? (size_t)c->states * sizeof *c->state : 0);
  TT_VEC_FREE(&c->ground);
  TT_VEC_FREE(&c->area);
  TT_VEC_FREE(&c->moved);
  TT_VEC_FREE(&c->published);
  tt__mem_free(c, sizeof *c);
}

/* ---- areas */

void tt__check_loose(tt_check *c) { c->loose = true; }

void tt__check_faults(tt_check *c, const void *at) {
  if (c->found.kind == NOTHING) c->found = c->beyond;
  uintptr_t from = (uintptr_t)c->strange.at;
  if (c->strange.kind == OUTSIDE && (uintptr_t)at - from < c->strange.size && c->found.kind == NOTHING)
    c->found = c->strange;
}

bool tt__check_add(tt_check *c, const tt_check_area *a) { return a->size == 0 || TT_VEC_PUSH(&c->area, *a); }

bool tt__check_array(tt_check *c, const tt_check_area *a, void **slot, bool writes) {
  assert(a->base || a->size == 0);
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

/* ---- shared memory of blocks that take turns */

static bool is_kept(const ground *g) { return g->space == TT_CHECK_SHARED; }

static bool make_kept(tt_check *c) {
  size_t each = 0;
  if (!c->together) return true;
  for (int64_t k = 0; k < c->ground.n; k++)
    if (is_kept(&c->ground.data[k])) each += (size_t)(c->ground.data[k].end - c->ground.data[k].base);
  each *= 1 + sizeof(uint32_t);
  if (each == 0) return true;
  c->kept_size = (size_t)c->states * each;
  c->kept_room = map(c->kept_size);
  for (int64_t k = 0; c->kept_room && k < c->states; k++) c->state[k].kept = c->kept_room + (size_t)k * each;
  return c->kept_room != NULL;
}

/* Put the block's shared memory aside, or back. */
static void keep(const tt_check *c, bool back) {
  char *at = c->at->kept;
  for (int64_t k = 0; at && k < c->ground.n; k++) {
    const ground *g = &c->ground.data[k];
    size_t size = (size_t)(g->end - g->base), marks = size * sizeof *g->written;
    if (!is_kept(g)) continue;
    memcpy(back ? g->base : at, back ? at : g->base, size);
    memcpy(back ? (char *)g->written : at + size, back ? at + size : (char *)g->written, marks);
    at += size + marks;
  }
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
  return make_kept(c) ? TT_OK : tt__fail_memory(err, c->kept_size);
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
                 .stamp = c->at->of[c->thread].stamp & MOST_TIME,
                 .thread = c->thread & (CHECK_THREADS - 1),
                 .site = site & MOST_SITE,
                 .atomic = (kind & TT_CHECK_ATOMIC) != 0,
                 .is_volatile = (kind & TT_CHECK_VOLATILE) != 0};
}

static uint32_t site_of(const tt_check *c, const void *from) {
  return (uint32_t)((uintptr_t)from - (uintptr_t)c->sites.base) & MOST_SITE;
}

static uint32_t tick(tt_check *c) {
  if (c->at->now >= MOST_TIME)
    c->at->is_lost = true;
  else
    c->at->now++;
  return c->at->now;
}

void tt__check_block(tt_check *c, int64_t block) {
  assert(block >= 0);
  block_state *b = c->at = &c->state[c->together ? block : 0];
  if (b->has_warps) {
    memset(b->knows, 0, c->threads * sizeof *b->knows);
    memset(b->told, 0, (c->threads + 31) / 32 * sizeof *b->told);
  }
  b->has_warps = b->is_lost = b->waits_outside = false;
  c->block = (uint32_t)block + 1;
  b->now = 1;
  b->opened = b->opened_at = b->acquired = b->met = b->ended = 0;
  b->waits.block = b->fell.block = 0;
  for (unsigned k = 0; k < c->threads; k++) b->of[k] = (thread_state){.stamp = 1, .epoch = 1};
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
    const block_state *far = c->together ? &c->state[at] : NULL;
    if (far && (t->stamp < far->met || far->is_lost)) return false;
    return !c->in_shared && (at >= c->published.n || !is_published(&c->published.data[at], t->stamp, c->at->acquired));
  }
  const thread_state *me = &c->at->of[c->thread];
  if (t->thread == c->thread || t->stamp < me->epoch || c->at->is_lost) return false;
  if (t->thread / 32 == c->thread / 32 && c->at->knows[c->thread][t->thread % 32] >= t->stamp) return false;
  return !is_published(&c->at->of[t->thread].published, t->stamp, me->acquired);
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
  thread_state *me = &c->at->of[c->thread];
  me->acquired = c->at->acquired = c->event;
  if (!me->fenced) return;
  me->fenced = false;
  me->published = (publication){me->stamp, ++c->event};
  uint32_t known = c->at->now;
  me->stamp = tick(c);
  while (c->published.n < c->block)
    if (!TT_VEC_PUSH(&c->published, (publication){0})) return;
  c->published.data[c->block - 1] = (publication){known, c->event};
}

void tt__check_fence(tt_check *c) { c->at->of[c->thread].fenced = true; }

/* ---- accesses */

/* An index may come of what was read where nobody wrote, or beside a variable. */
static bool found(tt_check *c, finding f) {
  if (f.kind == OUTSIDE && c->beyond.kind == STRAYS && c->beyond.at != f.at) f = c->beyond;
  if (f.kind == OUTSIDE && c->unwritten.kind != NOTHING) f = c->unwritten;
  c->found = f;
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

/* No access beyond what threads share came of it: a thread's own array, or a row that goes over into the next. */
static bool settle_beyond(tt_check *c) { return c->beyond.kind == NOTHING || found(c, c->beyond); }

/* The thread stops here: nothing more will excuse what it did. */
static bool settle(tt_check *c) {
  if (!settle_write(c) || !settle_beyond(c)) return false;
  return c->read_pending.kind == NOTHING || found(c, c->read_pending);
}

/* Keep the access that clashes with `before` in mind until it is known to matter. */
static bool suspect(tt_check *c, touch now, bool writes, touch before, bool wrote, const char *at, size_t size) {
  finding f = {.kind = RACE, .now = now, .before = before, .writes = writes, .wrote = wrote, .at = at, .size = size};
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

/* The thread wrote there plainly just before: what the atomic operation is, that write is not. */
static bool hides(const touch *now, const touch *before) {
  return now->atomic && !before->atomic && before->block == now->block && before->thread == now->thread &&
         before->stamp == now->stamp;
}

static bool look(tt_check *c, cell *x, touch now, bool writes, const char *at, size_t size) {
  const touch *bad = clash(c, &x->write, true, &now, writes)              ? &x->write
                     : writes && clash(c, &x->read, false, &now, writes)  ? &x->read
                     : writes && clash(c, &x->other, false, &now, writes) ? &x->other
                     : writes && clash(c, &x->away, false, &now, writes)  ? &x->away
                                                                          : NULL;
  if (bad && !suspect(c, now, writes, *bad, bad == &x->write, at, size)) return false;
  if (writes) {
    *x = (cell){.write = hides(&now, &x->write) ? x->write : now};
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
      c->unwritten = (finding){.kind = UNWRITTEN, .now = now, .at = at, .size = size};
    if (writes) w[k] = c->block;
  }
}

bool tt__check_touch(tt_check *c, const void *place, size_t size, unsigned kind, const void *from) {
  const char *at = place;
  uint32_t site = site_of(c, from);
  if (!settle_write(c)) return false;
  if (kind & TT_CHECK_HEAP) {
    c->loose = true;
    return true;
  }
  ground *g = find_ground(c, at, size, site);
  bool writes = kind & TT_CHECK_WRITE;
  if (!g) {
    bool ours = at >= c->room && at < c->room + c->room_size;
    int64_t far = 0;
    bool near = tt__check_nearest(c, at, &far) && llabs(far) < LEAST_MARGIN;
    finding f = {.kind = OUTSIDE, .now = touch_now(c, kind, site), .writes = writes, .at = at, .size = size};
    if (!c->loose || ours || near || (uintptr_t)at < PAGE) return found(c, f);
    c->strange = f;
    return true;
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

/* ---- declared arrays */

/* Is there any array with a name that threads share? */
static bool shares(const tt_check *c) {
  for (int64_t k = 0; k < c->area.n; k++)
    if (c->area.data[k].space != TT_CHECK_FREE && c->area.data[k].number == 0 && c->area.data[k].name[0]) return true;
  return false;
}

bool tt__check_beyond(tt_check *c, const char *type, int64_t index, const void *site) {
  finding f = {.kind = BEYOND, .now = touch_now(c, 0, site_of(c, site)), .type = type, .index = index};
  if (c->beyond.kind == BEYOND && !settle_beyond(c)) return false;
  c->beyond = f;
  return shares(c) || found(c, f);
}

bool tt__check_strays(tt_check *c, const char *type, const void *at, unsigned kind, const void *site) {
  ground *g = find_ground(c, at, 1, site_of(c, site));
  bool writes = kind & TT_CHECK_WRITE;
  finding f = {.kind = STRAYS, .now = touch_now(c, kind, site_of(c, site)), .writes = writes, .type = type, .at = at};
  if (g && g->space != TT_CHECK_FREE) return true;
  if (g && c->beyond.kind == BEYOND) return found(c, c->beyond);
  if (g && writes) return found(c, f);
  if (c->beyond.kind == NOTHING) c->beyond = f; /* an index may follow that says more, or an access to what is shared */
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

bool tt__check_arrives(tt_check *c, const void *from, bool of_grid) {
  uint32_t site = site_of(c, from);
  if (!settle(c)) return false;
  touch now = touch_now(c, 0, site);
  if (c->at->fell.block) return found(c, (finding){.kind = SKIPPED, .now = now, .before = c->at->fell});
  if (c->at->waits.block == 0) {
    c->at->waits = now;
    c->at->waits_outside = of_grid;
  }
  if (c->at->waits_outside == of_grid && is_one_line(c, c->at->waits.site, site)) return true;
  return found(c, (finding){.kind = PARTED, .now = now, .before = c->at->waits});
}

bool tt__check_passes(tt_check *c, unsigned thread, unsigned opened) {
  c->thread = thread;
  if (c->at->opened != opened) { /* the first one behind it */
    if (!settle_unwritten(c)) return false;
    c->at->opened = opened;
    c->at->opened_at = tick(c);
    c->at->waits.block = 0;
  }
  c->at->of[thread].stamp = c->at->of[thread].epoch = c->at->opened_at;
  return true;
}

void tt__check_passes_warp(tt_check *c, unsigned thread, unsigned came) {
  unsigned first = thread & ~31u, lane = thread & 31;
  c->thread = thread;
  c->at->has_warps = true;
  if (!(c->at->told[thread / 32] >> lane &
        1)) { /* the first one behind it: for all of them, who have done nothing since */
    uint32_t all[32] = {0}, then = tick(c);
    for (unsigned k = 0; k < 32; k++) {
      if (!(came >> k & 1)) continue;
      for (unsigned i = 0; i < 32; i++)
        if (c->at->knows[first + k][i] > all[i]) all[i] = c->at->knows[first + k][i];
      if (c->at->of[first + k].stamp > all[k]) all[k] = c->at->of[first + k].stamp;
    }
    for (unsigned k = 0; k < 32; k++) {
      if (!(came >> k & 1)) continue;
      memcpy(c->at->knows[first + k], all, sizeof all);
      c->at->of[first + k].stamp = then;
    }
    c->at->told[thread / 32] |= came;
  }
  c->at->told[thread / 32] &= ~(1u << lane);
}

bool tt__check_meets(tt_check *c) {
  touch now = c->at->waits;
  if (!settle_unwritten(c)) return false;
  if (c->meets.block == 0) c->meets = now;
  if (!is_one_line(c, c->meets.site, now.site))
    return found(c, (finding){.kind = PARTED, .now = now, .before = c->meets});
  keep(c, false);
  return true;
}

bool tt__check_opens(tt_check *c) {
  if (c->meets.block && c->deserted.block)
    return found(c, (finding){.kind = DESERTED, .now = c->meets, .before = c->deserted});
  c->meets.block = 0;
  for (int64_t k = 0; k < c->states; k++) c->state[k].met = c->state[k].now + 1;
  return true;
}

void tt__check_goes_on(tt_check *c, int64_t block) {
  assert(block >= 0);
  c->at = &c->state[block];
  c->block = (uint32_t)block + 1;
  keep(c, true);
}

void tt__check_returns(tt_check *c) { c->at->of[c->thread].returned = true; }

bool tt__check_ends(tt_check *c) {
  if (!settle(c)) return false;
  touch now = touch_now(c, 0, 0);
  if (++c->at->ended == c->threads) {
    if (!settle_unwritten(c)) return false;
    c->deserted = now;
  }
  if (c->at->of[c->thread].returned) return true;
  if (c->at->waits.block) return found(c, (finding){.kind = SKIPPED, .now = c->at->waits, .before = now});
  c->at->fell = now;
  return true;
}
