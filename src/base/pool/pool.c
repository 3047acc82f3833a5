/*
** Parallel loops. One loop at a time has the workers; it lies in `loop` and is
** joined, not handed out: a worker that is late or asleep delays nobody.
**
**   caller   fill `loop`, open the gate, bump `epoch`, wake sleepers if any,
**            take pieces until none is left, close the gate, wait for those inside
**   worker   see a new epoch, pass the gate (count + 1), take pieces, leave (- 1)
**
** With more threads than cores only some of them take part in a loop, any: who has a piece and no core holds up all.
**
** Invariants:
**   1. `loop` is written only while the gate is closed and nobody is inside
**   2. a piece is claimed once: `next` of a part only grows, by `piece`
**   3. who holds `busy` is the only one to open the gate, start or stop workers
*/
#include "base/pool/pool.h"

#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/os/interrupt.h"
#include "base/lock.h"
#include "base/os/os.h"
#include "base/pool/pool_int.h"

enum {
  MAX_THREADS = 1024,
  SPIN_NS = 100000, /* a Python loop asks again within this time, mostly */
  GATE_OPEN = 1 << 16,
  PIECES = 8, /* per thread: enough to even out a core that is busy with something else */
  MAX_PARTS = 16
};

static struct {
  tt_pool_fn fn;
  void *ctx;
  int64_t piece;
  int parts, threads; /* workers with a higher number stay out */
  bool is_numbered;
} loop;

/*
** Where each thread begins, so that who runs a loop again over the same memory finds it in its own core's cache; then
** it helps the others.
*/
typedef struct part {
  _Alignas(64) atomic_llong next;
  int64_t end;
} part;
static part parts[MAX_PARTS];

/* Each on a line of its own: workers poll `epoch`, come and go through `gate`. */
static _Alignas(64) atomic_uint epoch;
static _Alignas(64) atomic_uint gate; /* GATE_OPEN, plus how many are inside */
static _Alignas(64) atomic_uint sleepers;
static atomic_uint caller_sleeps;
static atomic_int caller_core;
static atomic_bool busy;
static atomic_bool stop;

static atomic_int size;             /* 0: not yet known */
static atomic_bool size_chosen;     /* by tt__pool_resize */
static atomic_bool may_spin = true; /* not with more threads than cores: a spinning one would stand in the way */
static atomic_uint at_once;         /* workers that a loop takes: with the caller no more than cores */
static int started;                 /* workers, with numbers 1..started */
static pthread_t workers[MAX_THREADS];

static _Thread_local bool inside;

/* ---- small parts */

static void futex_wait(atomic_uint *word, unsigned seen) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, int n) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0); }

/* Spin until *word differs from `seen`, for SPIN_NS at most. False: time is up. */
static bool spin_while(atomic_uint *word, unsigned seen) {
  int64_t end = 0;
  for (;;) {
    for (int i = 0; i < 64; i++) {
      if (atomic_load_explicit(word, memory_order_acquire) != seen) return true;
      tt__relax();
    }
    int64_t now = tt__clock_ns();
    if (end == 0) end = now + SPIN_NS;
    if (now > end || !atomic_load_explicit(&may_spin, memory_order_relaxed)) return false;
  }
}

bool tt__thread_start(pthread_t *thread, size_t stack, void *(*body)(void *), void *ctx) {
  pthread_attr_t attr;
  if (tt__fault(TT_FAULT_SPAWN) || pthread_attr_init(&attr) != 0) return false;
  pthread_attr_setstacksize(&attr, stack);
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bool ok = pthread_create(thread, &attr, body, ctx) == 0;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  pthread_attr_destroy(&attr);
  return ok;
}

/* ---- workers */

static void take_part(part *p, int worker) {
  assert(loop.piece > 0 && p->end >= 0);
  int64_t piece = loop.piece, end = p->end;
  int number = loop.is_numbered ? worker : -1;
  while (atomic_load_explicit(&p->next, memory_order_relaxed) < end) {
    int64_t lo = atomic_fetch_add_explicit(&p->next, piece, memory_order_relaxed);
    if (lo >= end) return;
    loop.fn(loop.ctx, lo, end - lo > piece ? lo + piece : end, number);
  }
}

static void take_pieces(int worker) {
  assert(worker >= 0 && worker < loop.threads);
  int n = loop.parts, own = worker * n / loop.threads;
  for (int k = own; k < own + n; k++) take_part(&parts[k % n], worker);
}

/* Pieces of so many elements, as many for each part as for any other, or one more. */
static void cut_parts(int64_t n, int64_t piece, int threads) {
  assert(n > 0 && piece > 0 && threads > 0);
  int64_t pieces = n / piece + (n % piece != 0), most = threads < MAX_PARTS ? threads : MAX_PARTS;
  loop.piece = piece;
  loop.threads = threads;
  loop.parts = (int)(pieces < most ? pieces : most);
  for (int k = 0; k < loop.parts; k++) {
    int64_t last = (k + 1) * (pieces / loop.parts) + (k + 1) * (pieces % loop.parts) / loop.parts;
    atomic_store_explicit(&parts[k].next, k ? parts[k - 1].end : 0, memory_order_relaxed);
    parts[k].end = last == pieces ? n : last * piece;
  }
}

static bool pass_gate(void) {
  unsigned seen = atomic_load(&gate);
  unsigned most = GATE_OPEN + atomic_load_explicit(&at_once, memory_order_relaxed);
  while ((seen & GATE_OPEN) && seen < most)
    if (atomic_compare_exchange_weak(&gate, &seen, seen + 1)) return true;
  return false;
}

static void leave_gate(void) {
  if (atomic_fetch_sub(&gate, 1) == 1 && atomic_load(&caller_sleeps)) futex_wake(&gate, 1);
}

/*
** The system likes to wake a thread on the core of the one who wakes it, which then stands still until this one sleeps.
** Leave for any other core that we may use. True: we are still here.
*/
static bool stands_in_the_way(void) {
  int core = sched_getcpu();
  cpu_set_t may, others;
  if (core < 0 || core != atomic_load_explicit(&caller_core, memory_order_relaxed)) return false;
  if (sched_getaffinity(0, sizeof may, &may) != 0) return true;
  others = may;
  CPU_CLR((size_t)core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return true;
  (void)sched_setaffinity(0, sizeof may, &may);
  return sched_getcpu() == core;
}

static void *work(void *arg) {
  int worker = (int)(intptr_t)arg;
  unsigned seen = 0; /* workers start before the loop that wants them is announced */
  bool in_the_way = false;
  inside = true;
  tt__interrupt_deaf();
  while (!atomic_load(&stop)) {
    unsigned now = atomic_load(&epoch);
    if (now != seen) {
      seen = now;
      in_the_way = stands_in_the_way();
      if (pass_gate()) {
        if (worker < loop.threads) take_pieces(worker);
        leave_gate();
      }
    } else if (in_the_way || !spin_while(&epoch, seen)) {
      atomic_fetch_add(&sleepers, 1);
      if (atomic_load(&epoch) == seen && !atomic_load(&stop)) futex_wait(&epoch, seen);
      atomic_fetch_sub(&sleepers, 1);
    }
  }
  return NULL;
}

static void stop_workers(void) {
  atomic_store(&stop, true);
  atomic_fetch_add(&epoch, 1);
  futex_wake(&epoch, MAX_THREADS);
  for (int i = 0; i < started; i++) pthread_join(workers[i], NULL);
  atomic_store(&stop, false);
  started = 0;
}

/* Have want - 1 workers, or as many as can be had. */
static void fit_workers(int want) {
  if (started > want - 1) stop_workers();
  while (started < want - 1) {
    if (!tt__thread_start(&workers[started], TT_THREAD_STACK, work, (void *)(intptr_t)(started + 1))) break;
    started++;
  }
}

/* ---- size */

static int env_threads(const char *name) {
  const char *text = tt__env(name);
  long n = text ? strtol(text, NULL, 10) : 0; /* OMP_NUM_THREADS may be a list: its first is the outer level */
  return n > 0 ? (int)(n < MAX_THREADS ? n : MAX_THREADS) : 0;
}

static int default_size(void) {
  int n = env_threads("TUTTI_NUM_THREADS");
  if (n == 0) n = env_threads("OMP_NUM_THREADS");
  if (n == 0) n = tt__cpu_count();
  return n < MAX_THREADS ? n : MAX_THREADS;
}

int tt__pool_size(void) {
  int n = atomic_load_explicit(&size, memory_order_relaxed);
  if (n > 0) return n;
  int fresh = default_size();
  return atomic_compare_exchange_strong(&size, &n, fresh) ? fresh : n;
}

void tt__pool_resize(int n) {
  atomic_store(&size_chosen, n > 0);
  if (n > MAX_THREADS) n = MAX_THREADS;
  atomic_store(&size, n > 0 ? n : default_size());
}

/* ---- fork */

/*
** The child has only the thread that forked: no worker is inside any loop, none exists.
** A loop that another thread of the parent was running is that thread's and gone with it.
*/
static void fork_child(void) {
  started = 0;
  atomic_store(&gate, 0);
  atomic_store(&sleepers, 0);
  atomic_store(&caller_sleeps, 0);
  atomic_store(&stop, false);
  atomic_store(&busy, false);
  if (!atomic_load(&size_chosen)) atomic_store(&size, 0); /* it may have been given other cores */
}

/* No TT_LOCK_FORKS: there is no lock, and a child must not wait for a loop of its parent. */
TT_AT_LOAD(0) static void at_load(void) { pthread_atfork(NULL, NULL, fork_child); }

/* ---- loops */

static void run_serial(int64_t n, tt_pool_fn fn, void *ctx, int number) {
  bool before = inside;
  inside = true;
  fn(ctx, 0, n, number);
  inside = before;
}

/* Close the gate and wait until the last worker has left. */
static void close_gate(void) {
  unsigned seen = atomic_fetch_and(&gate, ~(unsigned)GATE_OPEN) & ~(unsigned)GATE_OPEN;
  while (seen) {
    if (!spin_while(&gate, seen)) {
      atomic_store(&caller_sleeps, 1);
      seen = atomic_load(&gate);
      if (seen) futex_wait(&gate, seen);
      atomic_store(&caller_sleeps, 0);
    }
    seen = atomic_load(&gate);
  }
}

static bool take_busy(void) {
  bool free = false;
  return !atomic_load_explicit(&busy, memory_order_relaxed) && atomic_compare_exchange_strong(&busy, &free, true);
}

/* To wake, for so many pieces. Who does is the system's choice: all, where some would stay out. */
static int how_many(int64_t pieces, bool are_equal) {
  int64_t most = atomic_load(&at_once);
  if (!are_equal) return started;
  if (most > started) most = started;
  return (int)(pieces < most ? pieces : most);
}

/* On at most so many threads. */
static void run_loop(int most, bool is_numbered, int64_t n, int64_t grain, tt_pool_fn fn, void *ctx) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  int threads = tt__pool_size(), first = is_numbered ? 0 : -1;
  if (n <= grain || threads == 1 || most == 1 || inside || !take_busy()) {
    run_serial(n, fn, ctx, first);
    return;
  }
  if (started != threads - 1) {
    int cores = tt__cpu_count();
    atomic_store(&may_spin, threads <= cores);
    atomic_store(&at_once, (unsigned)(cores > 1 ? cores : 2) - 1);
    fit_workers(threads);
  }
  if (started == 0) {
    atomic_store(&busy, false);
    run_serial(n, fn, ctx, first);
    return;
  }
  threads = started + 1 < most ? started + 1 : most;
  int64_t grains = n / grain + (n % grain != 0);
  int64_t per_piece = grains / ((int64_t)threads * PIECES);
  loop.fn = fn;
  loop.ctx = ctx;
  loop.is_numbered = is_numbered;
  cut_parts(n, per_piece > 1 ? per_piece * grain : grain, threads);
  atomic_store_explicit(&caller_core, sched_getcpu(), memory_order_relaxed);
  atomic_store(&gate, GATE_OPEN);
  atomic_fetch_add(&epoch, 1);
  if (atomic_load(&sleepers)) futex_wake(&epoch, how_many(grains - 1, threads == started + 1));
  inside = true;
  take_pieces(0);
  inside = false;
  close_gate();
  atomic_store_explicit(&busy, false, memory_order_release);
}

void tt__pool_run(int64_t n, int64_t grain, tt_pool_fn fn, void *ctx) {
  assert(n >= 0 && grain > 0 && fn);
  run_loop(MAX_THREADS, false, n, grain, fn, ctx);
}

void tt__pool_run_numbered(int most, int64_t n, int64_t grain, tt_pool_fn fn, void *ctx) {
  assert(n >= 0 && grain > 0 && fn);
  assert(most >= 1);
  run_loop(most, true, n, grain, fn, ctx);
}

bool tt__pool_inside(void) { return inside; }

void tt__pool_shutdown(void) {
  assert(started >= 0 && started < MAX_THREADS);
  assert(!inside);
  if (inside) return;
  while (!take_busy()) sched_yield();
  stop_workers();
  atomic_store(&busy, false);
  tt__background_stop();
}
