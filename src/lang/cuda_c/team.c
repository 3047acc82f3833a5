/*
** The scheduler of a block. A bit for each thread that can go on; who must wait clears its bit and goes on with the
** next one that is set, directly, without a detour over the caller. Who comes last sets the bits of all.
**
** Invariants: `ready`, `waiting at the barrier`, `waiting in a warp`, `gathering` and `ended` part the threads. Threads
** that pause wait at the barrier. A fiber lives on after its thread ended and runs the same thread number of the next
** block.
*/
#include "lang/cuda_c/team.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "base/os/os.h"
#include "lang/cuda_c/fiber.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

/*
** Half a megabyte of local memory is legal, and costs nothing until it is touched; where there is no room for that much
** address space, the smaller size must do.
*/
enum { DEFAULT_STACK = 768 << 10, SMALL_STACK = 64 << 10 };
enum { WARPS = TT_TEAM_MAX / 32, COLOURS = 32, COLOUR = 192 };
/*
** Below each stack lies a page that faults; kernels are compiled to touch every page on their way down, so none gets
** past it, and the handler of cuda_c/run.c makes an error of the fault. Linux has guards inside a mapping since 6.13.
** Before, a guard splits the mapping, and a process has room for 65,530 of these: no more threads are made than that.
*/
enum { ADVISE_GUARD = 102, MOST_SPLITS = 28 << 10 }; /* the first is MADV_GUARD_INSTALL */
static atomic_int splits;

/* What lanes gave that wait for each other. */
typedef struct warp {
  uint32_t alive, wait; /* lanes that have not ended; that wait in a warp operation */
  uint32_t gather;      /* lanes that ask who is where they are, */
  const void *site[32]; /* which is here */
  uint32_t mask[32];    /* of a waiting lane: for whom */
  unsigned long long given[32], all[32];
  uint32_t came[32], yes[32]; /* the answer to each lane */
} warp;

struct tt_team {
  size_t size, stack; /* of the whole mapping, of one stack and its guard */
  int guarded;        /* stacks, from the first on */
  int splits;         /* guards that split the mapping */
  int room, made;     /* fibers */
  int n, alive;       /* threads of this block */
  int current;        /* -1: none runs */
  unsigned opened;
  int at_barrier, sum, last_sum, last_threads;
  bool pausing, paused; /* those at the barrier pause; and all are there */
  uint32_t warps;       /* those with a bit in ready */
  uint32_t ready[WARPS], blocked[WARPS];
  void (*body)(void *ctx, unsigned k);
  void *ctx;
  tt_fiber caller, fiber[TT_TEAM_MAX];
  warp warp[WARPS];
};

/* ---- memory: stacks are address space, mostly never touched, so they are mapped and not allocated */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local tt_team *mine;

static char *stacks_of(const tt_team *t) { return (char *)(uintptr_t)t + (t->size - (size_t)t->room * t->stack); }

/* Frames that nobody returns from leave marks on their stacks, by which the sanitizer would judge whoever comes
 * next. */
static void clear_marks(const tt_team *t) { ASAN_UNPOISON_MEMORY_REGION(stacks_of(t), (size_t)t->made * t->stack); }

static void unmap(void *p) {
  tt_team *t = p;
  clear_marks(t);
  atomic_fetch_sub(&splits, t->splits);
  munmap(t, t->size);
}
static void make_key(void) { pthread_key_create(&key, unmap); }

size_t tt__team_stack_told(void) {
  const char *told = tt__env("TUTTI_KERNEL_STACK");
  long long n = told ? strtoll(told, NULL, 10) : 0;
  return n < 16 << 10 || n > 256 << 20 ? 0 : (size_t)n & ~(tt__page_size() - 1);
}

bool tt__team_has_room(void) {
  static _Thread_local const char *low; /* where the stack ends; it takes reading a file for the main thread */
  const char *here = __builtin_frame_address(0);
  pthread_attr_t attr;
  void *base = NULL;
  size_t size = 0;
  if (!low && pthread_getattr_np(pthread_self(), &attr) == 0) {
    if (pthread_attr_getstack(&attr, &base, &size) == 0) low = base;
    pthread_attr_destroy(&attr);
  }
  return !low || here < low || (size_t)(here - low) > DEFAULT_STACK;
}

static tt_team *map_team(int threads, size_t stack) {
  size_t each = stack + tt__page_size(), size = ((sizeof(tt_team) + 8191) & ~(size_t)4095) + (size_t)threads * each;
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return NULL;
  madvise(p, size, MADV_NOHUGEPAGE);
  tt_team *t = p;
  t->size = size;
  t->stack = each;
  t->room = threads;
  t->current = -1;
  return t;
}

tt_team *tt__team_new(int threads) {
  assert(threads > 0);
  size_t told = tt__team_stack_told();
  tt_team *t = map_team(threads, told ? told : DEFAULT_STACK);
  return t || told ? t : map_team(threads, SMALL_STACK);
}

void tt__team_free(tt_team *t) {
  if (t) unmap(t);
}

tt_team *tt__team(void) {
  if (mine) return mine;
  pthread_once(&once, make_key);
  tt_team *t = tt__team_new(TT_TEAM_MAX);
  if (t) pthread_setspecific(key, t);
  return mine = t;
}

void tt__team_use(tt_team *t) { mine = t; }

/* ---- going on with another thread */

static int lowest(uint32_t bits) { return __builtin_ctz(bits); }

static void set_ready(tt_team *t, int w, uint32_t lanes) {
  if (!lanes) return;
  t->ready[w] |= lanes;
  t->warps |= 1u << w;
}

static void clear_ready(tt_team *t, int k) {
  t->ready[k >> 5] &= ~(1u << (k & 31));
  if (!t->ready[k >> 5]) t->warps &= ~(1u << (k >> 5));
}

/* The next thread that can go on: of this warp first, then of the next one. -1: none. */
static int next_ready(const tt_team *t, int k) {
  int w = k >> 5;
  uint32_t after = t->ready[w] & ~((2u << (k & 31)) - 1u);
  if (after) return w << 5 | lowest(after);
  if (t->ready[w]) return w << 5 | lowest(t->ready[w]);
  if (!t->warps) return -1;
  uint32_t later = w < 31 ? t->warps & ~((2u << w) - 1u) : 0;
  w = lowest(later ? later : t->warps);
  return w << 5 | lowest(t->ready[w]);
}

/*
** Lanes that ask who is where they are go on when no lane of their warp can come any more: so they are as many together
** as may be, as on a GPU after a branch. Each gets those of its own place.
*/
static void settle(tt_team *t, int w) {
  warp *p = &t->warp[w];
  if (!p->gather || t->ready[w]) return;
  for (uint32_t rest = p->gather; rest; rest &= rest - 1) {
    int lane = lowest(rest);
    p->came[lane] = 0;
    for (uint32_t other = p->gather; other; other &= other - 1)
      if (p->site[lowest(other)] == p->site[lane]) p->came[lane] |= other & -other;
  }
  set_ready(t, w, p->gather);
  p->gather = 0;
}

/* Leave the thread k, which cannot go on. */
static void give_way(tt_team *t, int k) {
  settle(t, k >> 5);
  int next = next_ready(t, k);
  t->current = next;
  if (next == k) return;
  tt__fiber_switch(&t->fiber[k], next < 0 ? t->caller : t->fiber[next]);
}

static void open_barrier(tt_team *t) {
  t->last_sum = t->sum;
  t->last_threads = t->alive;
  t->opened++;
  t->sum = t->at_barrier = 0;
  for (int w = 0; w << 5 < t->n; w++) {
    set_ready(t, w, t->blocked[w]);
    t->blocked[w] = 0;
  }
}

static void all_came(tt_team *t) {
  if (t->pausing)
    t->paused = true;
  else
    open_barrier(t);
}

void tt__team_barrier(tt_team *t, int value, int *sum, int *threads) {
  assert(t->current >= 0 && t->current < t->n);
  int k = t->current;
  t->sum += value;
  t->blocked[k >> 5] |= 1u << (k & 31);
  clear_ready(t, k);
  if (++t->at_barrier == t->alive) all_came(t);
  give_way(t, k);
  *sum = t->last_sum;
  *threads = t->last_threads;
}

void tt__team_pause(tt_team *t) {
  int sum, threads;
  t->pausing = true;
  tt__team_barrier(t, 0, &sum, &threads);
}

/* If all for whom `lane` waits have come, give them their answers and let them go on. */
static void try_warp(tt_team *t, int w, int lane) {
  warp *p = &t->warp[w];
  uint32_t mask = (p->mask[lane] | 1u << lane) & p->alive, yes = 0;
  if ((p->wait & mask) != mask) return;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    int l = lowest(rest);
    p->all[l] = p->given[l];
    yes |= (uint32_t)(p->given[l] != 0) << l;
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    p->came[lowest(rest)] = mask;
    p->yes[lowest(rest)] = yes;
  }
  p->wait &= ~mask;
  set_ready(t, w, mask);
}

void tt__team_warp(tt_team *t, unsigned mask, unsigned long long value, unsigned long long *out, unsigned *came,
                   unsigned *yes) {
  assert(t->current >= 0 && t->current < t->n);
  int k = t->current, w = k >> 5, lane = k & 31;
  warp *p = &t->warp[w];
  p->given[lane] = value;
  p->mask[lane] = mask;
  p->wait |= 1u << lane;
  clear_ready(t, k);
  try_warp(t, w, lane);
  give_way(t, k);
  *came = p->came[lane];
  *yes = p->yes[lane];
  if (out) memcpy(out, p->all, sizeof p->all);
}

unsigned tt__team_active(tt_team *t, const void *site) {
  assert(t->current >= 0 && t->current < t->n);
  int k = t->current, lane = k & 31;
  warp *p = &t->warp[k >> 5];
  p->site[lane] = site;
  p->gather |= 1u << lane;
  clear_ready(t, k);
  give_way(t, k);
  return p->came[lane];
}
unsigned tt__team_current(const tt_team *t) { return (unsigned)t->current; }
unsigned tt__team_opened(const tt_team *t) { return t->opened; }

void tt__team_memory(tt_team *t, void **base, size_t *size) {
  *base = t;
  *size = t->size;
}

/* ---- threads */

static void end_thread(tt_team *t, int k) {
  warp *p = &t->warp[k >> 5];
  clear_ready(t, k);
  p->alive &= ~(1u << (k & 31));
  t->alive--;
  if (t->alive && t->at_barrier == t->alive) all_came(t);
  for (uint32_t rest = p->wait; rest; rest &= rest - 1) /* they may have waited for us alone */
    if (p->wait & (rest & -rest)) try_warp(t, k >> 5, lowest(rest));
}

static void fiber_body(void *arg) {
  tt_team *t = mine;
  int k = (int)(intptr_t)arg;
  for (;;) {
    t->body(t->ctx, (unsigned)k);
    end_thread(t, k);
    settle(t, k >> 5);
    int next = next_ready(t, k);
    t->current = next;
    tt__fiber_switch(&t->fiber[k], next < 0 ? t->caller : t->fiber[next]);
  }
}

/* The page at `low` faults from now on. False: there is no room for another guard. */
static bool guard(tt_team *t, char *low) {
  if (madvise(low, tt__page_size(), ADVISE_GUARD) == 0) return true;
  if (atomic_fetch_add(&splits, 1) < MOST_SPLITS && mprotect(low, tt__page_size(), PROT_NONE) == 0) {
    t->splits++;
    return true;
  }
  atomic_fetch_sub(&splits, 1);
  return false;
}

/* Stacks begin at different places of a page, or all threads' frames would want the same lines of the cache. */
static bool make_fiber(tt_team *t, int k) {
  size_t colour = (size_t)(k % COLOURS) * COLOUR;
  char *low = stacks_of(t) + (size_t)k * t->stack, *top = low + t->stack - 64 - colour;
  if (k == t->guarded && !guard(t, low)) return false;
  if (k == t->guarded) t->guarded++;
  t->fiber[k] = tt__fiber_new((void *)((uintptr_t)top & ~(uintptr_t)63), t->stack - tt__page_size() - 128 - colour,
                              fiber_body, (void *)(intptr_t)k);
  return true;
}

bool tt__team_make(tt_team *t, int n) {
  assert(n > 0 && n <= t->room && t->current < 0);
  while (t->made < n && make_fiber(t, t->made)) t->made++;
  return t->made >= n;
}

void tt__team_forget(tt_team *t) {
  const char *here = __builtin_frame_address(0), *left = t->caller;
  if (t->current >= 0 && left < here) ASAN_UNPOISON_MEMORY_REGION(left, here - left); /* frames that a jump left out */
  clear_marks(t);
  t->current = -1;
  t->made = 0;
}

/* From the thread k on, until nobody can go on. */
static bool run_from(tt_team *t, int k, int *waiting) {
  t->current = k;
  tt__fiber_switch(&t->caller, t->fiber[k]);
  t->current = -1;
  *waiting = t->paused ? 0 : t->alive;
  if (*waiting) tt__team_forget(t);
  return *waiting == 0;
}

bool tt__team_pauses(const tt_team *t) { return t->paused; }

bool tt__team_go_on(tt_team *t, int *waiting) {
  assert(t->paused && t->current < 0);
  t->paused = t->pausing = false;
  open_barrier(t);
  int w = lowest(t->warps);
  return run_from(t, w << 5 | lowest(t->ready[w]), waiting);
}

bool tt__team_run(tt_team *t, int n, void (*body)(void *ctx, unsigned k), void *ctx, int *waiting) {
  assert(n > 0 && n <= t->made && t->current < 0);
  t->n = t->alive = n;
  t->body = body;
  t->ctx = ctx;
  t->sum = t->at_barrier = 0;
  t->pausing = t->paused = false;
  t->opened = 0;
  t->warps = 0;
  for (int w = 0; w << 5 < n; w++) {
    int lanes = n - (w << 5);
    t->warp[w].alive = lanes >= 32 ? ~0u : (1u << lanes) - 1u;
    t->warp[w].wait = t->warp[w].gather = 0;
    t->blocked[w] = t->ready[w] = 0;
    set_ready(t, w, t->warp[w].alive);
  }
  return run_from(t, 0, waiting);
}
