/*
** A few kernels are remembered, each at the place that its address says: one whose place another has taken is as one
** that never ran. What a launch will take is a guess, since kernels look at data: so the first quarter of a launch that
** is to stay on its thread shows whether it may.
*/
#include "base/pool/cut.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/os/os.h"

enum {
  KERNELS = 64,
  FEW = 64,           /* so many blocks are not worth timing one of them first; */
  FEW_THREADS = 2048, /* and fewer threads, together, not worth asking others */
  SOLO_NS = 30000,    /* work that is not worth waking anybody, */
  ROW_SOLO_NS = 4000, /* or giving to threads that look out for it, */
  ROW_NS = 50000,     /* as they do for so long after a launch (base/pool/pool.c) */
  WRONG = 4           /* times what was expected: cut anew */
};

static struct {
  _Atomic(const void *) kernel;
  atomic_llong ps; /* of a thread */
} seen[KERNELS];
static atomic_llong last_end; /* of a launch, on our clock */

static size_t place_of(const void *kernel) {
  return (size_t)((uint64_t)(uintptr_t)kernel * 0x9e3779b97f4a7c15u >> 32) % KERNELS;
}

static int64_t cost_of(const void *kernel) {
  size_t k = place_of(kernel);
  if (atomic_load_explicit(&seen[k].kernel, memory_order_relaxed) != kernel) return 0;
  return atomic_load_explicit(&seen[k].ps, memory_order_relaxed);
}

void tt__cut_note(const void *kernel, int64_t n, int64_t threads, int64_t ns) {
  assert(n > 0 && threads > 0 && ns >= 0);
  int64_t old = cost_of(kernel), now = (int64_t)((double)ns * 1000 / (double)n / (double)threads) + 1;
  size_t k = place_of(kernel);
  atomic_store_explicit(&seen[k].ps, old ? (old + now) / 2 : now, memory_order_relaxed);
  atomic_store_explicit(&seen[k].kernel, kernel, memory_order_relaxed);
  atomic_store_explicit(&last_end, tt__clock_ns(), memory_order_relaxed);
}

/* The grain for n blocks of so many picoseconds, at least 1: half of what is worth another thread, or n. */
static int64_t grain_of(int64_t block_ps, int64_t n) {
  bool in_a_row = tt__clock_ns() - atomic_load_explicit(&last_end, memory_order_relaxed) < ROW_NS;
  int64_t solo = in_a_row ? ROW_SOLO_NS : SOLO_NS, grain = solo * 500 / block_ps;
  if (block_ps <= solo * 1000 / n) return n;
  return grain > 1 ? grain : 1;
}

/* About as much, so that each thread gets as many pieces as any other. */
static int64_t evened(int64_t grain, int64_t n, int64_t threads) {
  int64_t each = n / grain / threads;
  if (each < 1) return grain;
  return (n + each * threads - 1) / (each * threads);
}

/* The blocks from `first` on. */
typedef struct rest {
  tt_pool_fn fn;
  void *ctx;
  int64_t first;
} rest;

static void run_rest(void *ctx, int64_t lo, int64_t hi, int worker) {
  const rest *r = ctx;
  r->fn(r->ctx, lo + r->first, hi + r->first, worker);
}

/* Run the first blocks here. Gives what one takes, in ps. */
static int64_t run_first(rest *r, int64_t n) {
  int64_t start = tt__clock_ns();
  tt__pool_run_numbered(1, n, n, r->fn, r->ctx);
  r->first = n;
  return (tt__clock_ns() - start) * 1000 / n + 1;
}

void tt__cut_run(const void *kernel, int most, int64_t n, int64_t threads, tt_pool_fn fn, void *ctx) {
  assert(n >= 0 && threads > 0 && most >= 1);
  int64_t cost = cost_of(kernel) * threads, grain = 1;
  rest r = {.fn = fn, .ctx = ctx};
  if (cost) {
    grain = grain_of(cost, n);
    if (grain == n && n >= 4) {
      int64_t now = run_first(&r, n / 4);
      n -= r.first;
      grain = now > WRONG * cost ? grain_of(now, n) : n;
    }
  } else if (n > FEW) {
    int64_t now = run_first(&r, 1);
    grain = grain_of(now, --n);
  } else if (n * threads < FEW_THREADS) {
    grain = n;
  }
  tt__pool_run_numbered(most, n, evened(grain, n, most), run_rest, &r);
}
