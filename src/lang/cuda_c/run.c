/*
** Blocks go over the thread pool in pieces. A kernel that never ends is left by a jump: the handler of Ctrl-C sends a
** signal to every thread that is inside a kernel, and the handler there jumps out, unless the thread is just in one of
** our functions, which then does it at its end. Accesses to memory that is not there are caught in the same way.
**
** Nobody comes back from a jump. Where Ctrl-C runs a function of the program's that may return, the launch runs on a
** thread of its own, and its caller waits, asks that function, and sends the signals when it says so.
*/
#undef _FORTIFY_SOURCE /* its longjmp refuses to jump from one stack to another */
#include "lang/cuda_c/run.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/pool/cut.h"
#include "base/os/interrupt.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "base/pool/pool_int.h"
#include "lang/cuda_c/team.h"

enum {
  MOST_OUTPUT = 16 << 20,
  BLOCKS_AT_ONCE = 16,     /* between two looks at whether to stop: so many blocks at least, */
  THREADS_AT_ONCE = 32768, /* and so many threads: blocks side by side are one loop where they can be */
  WORKERS = 1024,          /* and blocks of a grid that wait for each other */
  MOST_CHECKED = 1 << 19,  /* threads of such a grid under a check: each has a stack */
  SIGNAL_STACK = 32 << 10, /* for handlers: a stack that is full has no room for them */
  LOOK_NS = 20000000,      /* who waits looks so often whether the launch is to end */
  NEAR = 64 << 10          /* a fault so far from the stack pointer is the stack's: it is touched page by page */
};

typedef struct launch {
  const tt_cudac_entry *entry;
  tt_cudac_grid grid;
  void *const *arg;
  unsigned threads, shared;
  bool from_main;
  atomic_int stop; /* a tt_code: no new block begins */
  tt_lock lock;    /* of what follows */
  tt_str *output;
  tt_error error;
  struct meeting *meeting; /* of blocks that wait for each other; NULL: none do */
  tt_check *check;         /* NULL: none watches */
  /* On a line of its own, for each piece writes it and all read what stands above: ns that threads have worked. */
  _Alignas(64) atomic_llong busy;
} launch;

/* A processor thread inside a kernel. */
typedef struct worker {
  sigjmp_buf out;
  launch *launch;
  const tt_cudac_grid *grid;
  int64_t block, end;           /* of blocks in a row */
  bool on_team;                 /* these run on a stack of the team's */
  volatile sig_atomic_t inside; /* the kernel's own code runs: it may be left by a jump */
  volatile sig_atomic_t wanted; /* somebody wants it left */
  void *volatile address;       /* of a bad access */
  volatile int signal;
  volatile bool is_full; /* it was of a stack that is full */
  unsigned met;          /* the block's barrier before the last barrier of the grid that it came to */
  tt_team **team;        /* (checked) of each of the blocks that wait for each other; NULL: none do */
} worker;

static _Thread_local worker *here;

/* Threads that a handler may have to wake. Each takes the same slot again and again, and no other writes its line. */
typedef enum slot_state { FREE, TAKEN, READY } slot_state;
static struct {
  _Alignas(64) atomic_int state;
  bool from_main;
  const launch *launch;
  pthread_t thread;
} slots[WORKERS];

/* ---- leaving */

static void leave(worker *w, tt_code code) {
  int none = TT_OK;
  atomic_compare_exchange_strong(&w->launch->stop, &none, (int)code);
  w->inside = 0;
  siglongjmp(w->out, 1);
}

static int wake_signal(void) { return SIGRTMAX - 5; }

/* In the thread that is to leave. */
static void on_wake(int number) {
  worker *w = here;
  (void)number;
  if (!w) return;
  if (w->inside) leave(w, TT_EINTERRUPT);
  w->wanted = 1;
}

/*
** Handlers of faults that were there before ours, the oldest first: whoever sets one later (faulthandler) is asked
** first, and as it hands the signal on to ours, the one before it comes next.
*/
enum { MOST_HANDLERS = 4 };
typedef struct chain {
  int n;
  struct sigaction of[MOST_HANDLERS];
} chain;

static struct sigaction old_interrupt;
static chain old_fault[3];
static const int fault_signal[3] = {SIGSEGV, SIGBUS, SIGFPE};
/* The thread's last fault that was none of ours: where, how many handlers are left for it, whether one runs. */
static _Thread_local struct {
  void *address;
  int left;
  bool inside;
} passed = {.address = (void *)-1};

static void call_old(const struct sigaction *old, int number, siginfo_t *info, void *context) {
  if (old->sa_flags & SA_SIGINFO)
    old->sa_sigaction(number, info, context);
  else if (old->sa_handler != SIG_IGN && old->sa_handler != SIG_DFL)
    old->sa_handler(number);
  else if (old->sa_handler == SIG_DFL) { /* what would have happened without us */
    sigaction(number, old, NULL);
    raise(number);
  }
}

static void on_interrupt(int number, siginfo_t *info, void *context) {
  int kept = errno;
  call_old(&old_interrupt, number, info, context);
  pthread_t self = pthread_self();
  for (int k = 0; k < WORKERS; k++) {
    if (atomic_load(&slots[k].state) != READY || !slots[k].from_main || pthread_equal(slots[k].thread, self)) continue;
    pthread_kill(slots[k].thread, wake_signal());
  }
  errno = kept;
  if (!here || !here->launch->from_main) return;
  if (here->inside) { /* the jump goes past the end of the handler, which would let the signal in again */
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  }
  on_wake(number);
}

static uintptr_t stack_pointer(const void *context) {
#if defined(__linux__) && defined(__x86_64__)
  return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#elif defined(__linux__) && defined(__aarch64__)
  return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.sp;
#else
  (void)context;
  return 0;
#endif
}

/* A handler that comes back without a change, or sends the signal again, leaves it to the one before it. */
static void pass_on(const chain *c, int number, siginfo_t *info, void *context) {
  if (!passed.inside && info->si_addr != passed.address) passed.left = c->n;
  passed.address = info->si_addr;
  if (passed.left > 0) passed.left--;
  const struct sigaction *old = &c->of[passed.left];
  bool outer = passed.inside;
  passed.inside = true;
  call_old(old, number, info, context);
  passed.inside = outer;
}

static void on_fault(int number, siginfo_t *info, void *context) {
  worker *w = here;
  if (w && w->inside && info->si_code > 0) { /* not one that somebody sent */
    w->address = info->si_addr;
    w->signal = number;
    uintptr_t at = (uintptr_t)info->si_addr, sp = stack_pointer(context);
    w->is_full = number != SIGFPE && at - sp + NEAR < 2 * (uintptr_t)NEAR;
    leave(w, TT_EDEVICE);
  }
  for (int k = 0; k < 3; k++)
    if (fault_signal[k] == number) pass_on(&old_fault[k], number, info, context);
}

static bool is_ours(const struct sigaction *a) { return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == on_fault; }

static bool is_known(const chain *c, const struct sigaction *a) {
  for (int k = 0; k < c->n; k++)
    if (c->of[k].sa_handler == a->sa_handler) return true;
  return false;
}

/* ---- handlers: faults once and for all, Ctrl-C only while a kernel runs */

static tt_lock handlers = TT_LOCK_RANKED(1);
static int launches;                         /* under it */
static tt_lock checking = TT_LOCK_RANKED(2); /* checked launches: a program has one place for where its thread is */
/* No TT_LOCK_FORKS: two locks, in order, and a child frees the slots of threads that it lacks. */
static void fork_prepare(void) {
  tt__fork_lock(&checking);
  tt__fork_lock(&handlers);
}
static void fork_done(void) {
  tt__fork_unlock(&handlers);
  tt__fork_unlock(&checking);
}
static pid_t process; /* 0: not known; */
static _Thread_local pid_t self;
static void fork_child(void) {
  process = self = 0;
  for (int k = 0; k < WORKERS; k++)
    if (!pthread_equal(slots[k].thread, pthread_self())) atomic_store(&slots[k].state, FREE);
  fork_done();
}
TT_AT_LOAD(2) static void at_load(void) { pthread_atfork(fork_prepare, fork_done, fork_child); }

static bool is_main(void) {
  if (!__atomic_load_n(&process, __ATOMIC_RELAXED)) __atomic_store_n(&process, getpid(), __ATOMIC_RELAXED);
  if (!self) self = (pid_t)syscall(SYS_gettid);
  return self == process;
}

/* Who ignores Ctrl-C goes on ignoring it. */
static bool hears_interrupt(void) {
  return (old_interrupt.sa_flags & SA_SIGINFO) || old_interrupt.sa_handler != SIG_IGN;
}

/* Handlers that found ours in place call these first. */
static void hear_faults(void) {
  struct sigaction act = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER}, now;
  act.sa_sigaction = on_fault;
  for (int k = 0; k < 3; k++) {
    chain *c = &old_fault[k];
    if (sigaction(fault_signal[k], NULL, &now) != 0 || is_ours(&now)) continue;
    if (c->n < MOST_HANDLERS && !is_known(c, &now)) c->of[c->n++] = now;
    sigaction(fault_signal[k], &act, NULL);
  }
}

/* hears: Ctrl-C ends it at once. */
static void begin_launch(bool hears) {
  static bool ready;
  struct sigaction act = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
  tt__lock(&handlers);
  if (!ready) {
    ready = true;
    struct sigaction wake = {.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART};
    wake.sa_handler = on_wake;
    sigaction(wake_signal(), &wake, NULL);
  }
  hear_faults();
  if (hears && launches++ == 0) {
    act.sa_sigaction = on_interrupt;
    sigaction(SIGINT, NULL, &old_interrupt);
    if (hears_interrupt()) sigaction(SIGINT, &act, NULL);
  }
  tt__unlock(&handlers);
}

static void end_launch(bool hears) {
  tt__lock(&handlers);
  if (hears && --launches == 0 && hears_interrupt()) sigaction(SIGINT, &old_interrupt, NULL);
  tt__unlock(&handlers);
}

/* ---- what kernels call */

static void enter_core(void) { here->inside = 0; }
static void leave_core(void) {
  here->inside = 1;
  if (here->wanted) leave(here, TT_EINTERRUPT);
}

static void say(launch *l, tt_code code, const char *fmt, ...) TT_PRINTF(3, 4);
static void say(launch *l, tt_code code, const char *fmt, ...) {
  va_list arg;
  tt__lock(&l->lock);
  if (l->error.code == TT_OK) {
    l->error.code = code;
    va_start(arg, fmt);
    vsnprintf(l->error.message, sizeof l->error.message, fmt, arg);
    va_end(arg);
  }
  tt__unlock(&l->lock);
}

/* What the check says: go on, or leave the launch. */
static void obey(bool go_on) {
  if (!go_on) leave(here, TT_EDEVICE);
}

void tt__cudac_barrier(int value, int *sum, int *threads, const void *site) {
  tt_team *team = tt__team();
  tt_check *check = here->launch->check;
  unsigned k = tt__team_current(team);
  enter_core();
  if (check) obey(tt__check_arrives(check, site, false));
  tt__team_barrier(team, value, sum, threads);
  if (check) obey(tt__check_passes(check, k, tt__team_opened(team)));
  leave_core();
}

static void core_barrier(int value, int *sum, int *threads) {
  tt__cudac_barrier(value, sum, threads, __builtin_return_address(0));
}

static void core_warp(unsigned mask, unsigned long long value, unsigned long long *out, unsigned *came, unsigned *yes) {
  tt_team *team = tt__team();
  tt_check *check = here->launch->check;
  unsigned k = tt__team_current(team);
  enter_core();
  tt__team_warp(team, mask, value, out, came, yes);
  if (check) tt__check_passes_warp(check, k, *came);
  leave_core();
}

static unsigned core_active(void) {
  const void *site = __builtin_return_address(0);
  enter_core();
  unsigned lanes = tt__team_active(tt__team(), site);
  leave_core();
  return lanes;
}

static int core_print(const char *format, va_list arg) {
  char few[512];
  va_list again;
  enter_core();
  launch *l = here->launch;
  va_copy(again, arg);
  int n = vsnprintf(few, sizeof few, format, arg);
  tt__lock(&l->lock);
  if (n > 0 && l->output->len + (size_t)n <= MOST_OUTPUT) {
    char *many = (size_t)n < sizeof few ? NULL : tt__mem_alloc((size_t)n + 1);
    if (many) vsnprintf(many, (size_t)n + 1, format, again);
    tt__str_add_n(l->output, many ? many : few, many || (size_t)n < sizeof few ? (size_t)n : sizeof few - 1);
    if (many) tt__mem_free(many, (size_t)n + 1);
  }
  tt__unlock(&l->lock);
  va_end(again);
  leave_core();
  return n;
}

static void core_stop(const char *file, int line, const char *what, const unsigned *t, const unsigned *b) {
  enter_core();
  const char *slash = strrchr(file, '/');
  char where[96] = "";
  if (file[0]) snprintf(where, sizeof where, "%.70s:%d: ", slash ? slash + 1 : file, line);
  say(here->launch, TT_EDEVICE, "%sblock (%u,%u,%u), thread (%u,%u,%u): %.500s", where, b[0], b[1], b[2], t[0], t[1],
      t[2], what);
  leave(here, TT_EDEVICE);
}

/* ---- blocks that wait for each other: each on a processor thread of its own */

typedef struct meeting {
  pthread_mutex_t mutex;
  pthread_cond_t opens;
  int64_t here, blocks; /* of those that have not ended */
  unsigned opened;
} meeting;

static void open_meeting(meeting *m) {
  m->here = 0;
  m->opened++;
  pthread_cond_broadcast(&m->opens);
}

/* One of the block's threads, for all. Looks up now and then, whether the launch is to end. */
static void meet(worker *w, meeting *m) {
  launch *l = w->launch;
  pthread_mutex_lock(&m->mutex);
  unsigned before = m->opened;
  if (++m->here == m->blocks) open_meeting(m);
  while (m->opened == before && !w->wanted && !atomic_load(&l->stop)) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) {
      until.tv_sec++;
      until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&m->opens, &m->mutex, &until);
  }
  pthread_mutex_unlock(&m->mutex);
  if (w->wanted || atomic_load(&l->stop)) leave(w, TT_EINTERRUPT);
}

static void leave_meeting(meeting *m) {
  pthread_mutex_lock(&m->mutex);
  m->blocks--;
  if (m->blocks && m->here == m->blocks) open_meeting(m);
  pthread_mutex_unlock(&m->mutex);
}

void tt__cudac_grid_barrier(const void *site) {
  tt_team *team = tt__team();
  worker *w = here;
  tt_check *check = w->launch->check;
  unsigned k = tt__team_current(team);
  int sum, threads;
  enter_core();
  if (check) { /* the other blocks run on this processor thread */
    obey(tt__check_arrives(check, site, true));
    tt__team_pause(team);
    obey(tt__check_passes(check, k, tt__team_opened(team)));
    leave_core();
    return;
  }
  tt__team_barrier(team, 0, &sum, &threads);
  unsigned opened = tt__team_opened(team);
  if (w->met != opened) { /* the first that goes on */
    w->met = opened;
    meet(w, w->launch->meeting);
  }
  tt__team_barrier(team, 0, &sum, &threads);
  leave_core();
}

static void core_grid(void) { tt__cudac_grid_barrier(__builtin_return_address(0)); }

static long long core_clock(void) { return tt__clock_ns(); }

static void core_touch(const void *at, unsigned long size, unsigned kind, const void *pc) {
  obey(tt__check_touch(here->launch->check, at, size, kind, pc)); /* code that calls this runs under a check alone */
}
static void core_beyond(const char *type, long index, const void *pc) {
  obey(tt__check_beyond(here->launch->check, type, index, pc));
}
static void core_strays(const char *type, const void *at, unsigned kind, const void *pc) {
  obey(tt__check_strays(here->launch->check, type, at, kind, pc));
}
static void core_fence(void) { tt__check_fence(here->launch->check); }
static void core_leaves(void) { tt__check_returns(here->launch->check); }

const tt_cudac_core tt__cudac_core = {core_barrier, core_warp,  core_active, core_print, core_stop,   core_clock,
                                      core_touch,   core_fence, core_leaves, core_grid,  core_beyond, core_strays};

/* ---- blocks */

static void run_thread(void *ctx, unsigned k) {
  worker *w = ctx;
  tt_check *check = w->launch->check;
  if (check) tt__check_thread(check, k);
  w->inside = 1;
  w->launch->entry->thread(w->grid, w->launch->arg, (long)w->block, k);
  w->inside = 0;
  if (check) obey(tt__check_ends(check));
}

/* Some of the block's threads wait for ever. */
static void say_waiting(worker *w, int waiting) {
  launch *l = w->launch;
  char where[200] = "";
  if (l->check) tt__check_waits(l->check, where, sizeof where);
  say(l, TT_EDEVICE,
      "kernel %s, block %lld: %d of %u threads wait for others at a barrier or in a warp operation for ever (a "
      "barrier in divergent flow)%s",
      l->entry->name, (long long)w->block, waiting, l->threads, where);
  atomic_store(&l->stop, TT_EDEVICE);
}

static void run_waiting(worker *w, int64_t lo, int64_t hi) {
  launch *l = w->launch;
  tt_team *team = tt__team();
  if (!team || !tt__team_make(team, (int)l->threads)) {
    say(l, TT_ENOMEM,
        "kernel %s: no memory for the stacks of a block's threads; fewer blocks at once (TUTTI_NUM_THREADS) need fewer",
        l->entry->name);
    atomic_store(&l->stop, TT_ENOMEM);
    return;
  }
  for (w->block = lo; w->block < hi && !atomic_load_explicit(&l->stop, memory_order_relaxed); w->block++) {
    int waiting;
    if (l->check) tt__check_block(l->check, w->block);
    if (tt__team_run(team, (int)l->threads, run_thread, w, &waiting)) continue;
    say_waiting(w, waiting);
    return;
  }
}

/* ---- (checked) blocks that wait for each other: each runs until it comes to the barrier of the grid, in turn */

static bool run_turn(worker *w, bool first) {
  launch *l = w->launch;
  tt_team *t = w->team[w->block];
  int waiting;
  if (!first && !tt__team_pauses(t)) return true; /* it has ended */
  tt__team_use(t);
  if (first)
    tt__check_block(l->check, w->block);
  else
    tt__check_goes_on(l->check, w->block);
  bool ok = first ? tt__team_run(t, (int)l->threads, run_thread, w, &waiting) : tt__team_go_on(t, &waiting);
  if (!ok)
    say_waiting(w, waiting);
  else if (tt__team_pauses(t))
    obey(tt__check_meets(l->check));
  return ok;
}

static void run_turns(worker *w, int64_t n) {
  bool pauses = true;
  for (bool first = true; pauses; first = false) {
    pauses = false;
    for (w->block = 0; w->block < n; w->block++) {
      if (atomic_load_explicit(&w->launch->stop, memory_order_relaxed) || !run_turn(w, first)) return;
      pauses |= tt__team_pauses(w->team[w->block]);
    }
    obey(tt__check_opens(w->launch->check));
  }
}

static int64_t blocks_of(const launch *l) {
  const unsigned *g = l->grid.grid;
  return (int64_t)g[0] * g[1] * g[2];
}

static tt_code make_teams(worker *w) {
  int64_t n = blocks_of(w->launch);
  size_t size = (size_t)n * sizeof *w->team;
  if (!w->launch->check || !(w->launch->entry->sync & TT_CUDAC_TOGETHER)) return TT_OK;
  w->team = tt__mem_zalloc(size);
  if (!w->team) return tt__fail_memory(&w->launch->error, size);
  for (int64_t k = 0; k < n; k++) {
    w->team[k] = tt__team_new((int)w->launch->threads);
    if (!w->team[k] || !tt__team_make(w->team[k], (int)w->launch->threads))
      return tt__fail(&w->launch->error, TT_ENOMEM, "no memory for the stacks of %lld blocks' threads", (long long)n);
  }
  return TT_OK;
}

static void free_teams(worker *w, tt_team *before) {
  int64_t n = blocks_of(w->launch);
  if (!w->team) return;
  for (int64_t k = 0; k < n; k++) tt__team_free(w->team[k]);
  tt__mem_free(w->team, (size_t)n * sizeof *w->team);
  tt__team_use(before);
}

static int64_t blocks_at_once(const launch *l) {
  int64_t n = THREADS_AT_ONCE / (int64_t)l->threads;
  return n > BLOCKS_AT_ONCE ? n : BLOCKS_AT_ONCE;
}

/* On a stack of the size that was told, or where a thread of the program's has less than a kernel may need. */
static void run_on_team(void *ctx, unsigned k) {
  worker *w = ctx;
  (void)k;
  w->inside = 1;
  w->launch->entry->blocks(w->grid, w->launch->arg, (long)w->block, (long)w->end);
  w->inside = 0;
}

static void run_free(worker *w, int64_t lo, int64_t hi) {
  launch *l = w->launch;
  int64_t most = blocks_at_once(l);
  w->on_team = (tt__team_stack_told() || !tt__team_has_room()) && tt__team() && tt__team_make(tt__team(), 1);
  while (lo < hi && !atomic_load_explicit(&l->stop, memory_order_relaxed)) {
    int64_t end = hi - lo > most ? lo + most : hi;
    int waiting;
    w->block = lo;
    w->end = end;
    if (w->on_team)
      (void)tt__team_run(tt__team(), 1, run_on_team, w, &waiting);
    else
      run_on_team(w, 0);
    if (w->wanted) leave(w, TT_EINTERRUPT);
    lo = end;
  }
}

static void note_fault(const worker *w) {
  const launch *l = w->launch;
  long long last = (long long)w->block, end = (long long)blocks_of(l) - 1;
  if (!(l->entry->sync & 1)) last += blocks_at_once(l) - 1;
  if (last > end) last = end;
  if (l->check && w->signal != SIGFPE) tt__check_faults(l->check, w->address);
  if (w->is_full)
    say(w->launch, TT_EDEVICE,
        "kernel %s: the stack of a thread is full, in blocks %lld to %lld (recursion, or large local arrays); "
        "TUTTI_KERNEL_STACK is how many bytes a thread has",
        l->entry->name, (long long)w->block, last);
  else if (w->signal == SIGFPE)
    say(w->launch, TT_EDEVICE, "kernel %s divided an integer by zero, in blocks %lld to %lld", l->entry->name,
        (long long)w->block, last);
  else
    say(w->launch, TT_EDEVICE,
        "kernel %s accessed memory that is not there, at %p, in blocks %lld to %lld; what it wrote before may have "
        "damaged other data",
        l->entry->name, w->address, (long long)w->block, last);
}

static int take_slot(const launch *l) {
  static _Thread_local int last;
  for (int i = 0; i < WORKERS; i++) {
    int state = FREE, k = (last + i) % WORKERS;
    if (atomic_load_explicit(&slots[k].state, memory_order_relaxed) != FREE) continue;
    if (!atomic_compare_exchange_strong(&slots[k].state, &state, TAKEN)) continue;
    slots[k].thread = pthread_self();
    slots[k].from_main = l->from_main;
    slots[k].launch = l;
    atomic_store(&slots[k].state, READY);
    return last = k;
  }
  return -1;
}

/* Let the signal in that tells to leave; pool threads block all. */
static void hear_signal(void) {
  static _Thread_local bool done;
  if (done) return;
  done = true;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, wake_signal());
  for (int k = 0; k < 3; k++) sigaddset(&set, fault_signal[k]);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void run_blocks(worker *w, int64_t lo, int64_t hi) {
  if (sigsetjmp(w->out, 0) == 0) { /* handlers leave the mask as it was: SA_NODEFER, on_interrupt */
    if (w->team)
      run_turns(w, hi);
    else if (w->launch->entry->sync & 1)
      run_waiting(w, lo, hi);
    else
      run_free(w, lo, hi);
    return;
  }
  if (w->launch->entry->sync & 1 || w->on_team) tt__team_forget(tt__team());
  if (w->signal) note_fault(w);
}

static bool add_stacks(launch *l, tt_team *team) {
  tt_check_area stacks = {.space = TT_CHECK_FREE};
  if (!team) return false;
  tt__team_memory(team, (void **)&stacks.base, &stacks.size);
  return tt__check_add(l->check, &stacks);
}

static bool add_shared(launch *l, char *shared, unsigned at, unsigned size, const char *what) {
  tt_check_area area = {.base = shared + at, .size = size, .space = TT_CHECK_SHARED};
  snprintf(area.type, sizeof area.type, "%s, %u bytes", what, size);
  return tt__check_add(l->check, &area);
}

/* CUDA C's dynamic memory is one; each __local argument of OpenCL C is a part of its own. */
static bool add_dynamic(launch *l, char *shared) {
  bool ok = true, parts = false;
  for (int k = 0; ok && l->entry->param && k < l->entry->nparam; k++) { /* (kernels in Python say no parameters) */
    if (l->entry->param[k].kind != TT_CUDAC_LOCAL) continue;
    const tt_cudac_local *part = l->arg[k];
    char what[32];
    snprintf(what, sizeof what, "argument %d", k + 1);
    ok = add_shared(l, shared, part->at, part->size, what);
    parts = true;
  }
  return parts ? ok : add_shared(l, shared, 0, l->shared, "dynamic");
}

/* What threads may touch besides the arrays: their own stacks, the block's memory. */
static tt_code begin_check(worker *w, void *shared) {
  launch *l = w->launch;
  bool ok = add_dynamic(l, shared) && (w->team || add_stacks(l, tt__team()));
  for (int64_t k = 0; ok && w->team && k < blocks_of(l); k++) ok = add_stacks(l, w->team[k]);
  return ok ? tt__check_begin(l->check, &l->error) : tt__fail_memory(&l->error, 1);
}

static void run_piece(void *ctx, int64_t lo, int64_t hi, int number) {
  launch *l = ctx;
  worker w = {.launch = l};
  char signal_stack[SIGNAL_STACK];
  stack_t before, ours = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
  tt_cudac_grid grid = l->grid;
  (void)number;
  if (atomic_load(&l->stop)) return;
  hear_signal();
  void *shared = l->shared ? tt__mem_alloc_data(l->shared) : NULL;
  if (l->shared && !shared) {
    say(l, TT_ENOMEM, "no memory for %u bytes of shared memory", l->shared);
    atomic_store(&l->stop, TT_ENOMEM);
    return;
  }
  grid.dynamic_shared = shared;
  w.grid = &grid;
  worker *outer = here;
  here = &w;
  int slot = take_slot(l);
  tt_team *team = l->check ? tt__team() : NULL;
  tt_code code = make_teams(&w);
  if (l->check && code == TT_OK) code = begin_check(&w, shared);
  int64_t start = tt__clock_ns();
  bool has_none = sigaltstack(NULL, &before) == 0 && before.ss_flags & SS_DISABLE; /* else the host's own will do */
  if (has_none) sigaltstack(&ours, NULL);
  if (code == TT_OK)
    run_blocks(&w, lo, hi);
  else
    atomic_store(&l->stop, (int)code);
  if (has_none) sigaltstack(&before, NULL);
  atomic_fetch_add_explicit(&l->busy, tt__clock_ns() - start, memory_order_relaxed);
  if (l->check) tt__check_end(l->check);
  free_teams(&w, team);
  if (slot >= 0) atomic_store(&slots[slot].state, FREE);
  here = outer;
  if (shared) tt__mem_free_data(shared, l->shared);
}

typedef struct one_block {
  launch *launch;
  int64_t block;
  pthread_t thread;
} one_block;

static void *run_one(void *arg) {
  one_block *b = arg;
  run_piece(b->launch, b->block, b->block + 1, 0);
  leave_meeting(b->launch->meeting);
  return NULL;
}

/* All blocks at once, the first of them on this thread. */
static void run_together(launch *l, int64_t n) {
  meeting m = {.mutex = PTHREAD_MUTEX_INITIALIZER, .opens = PTHREAD_COND_INITIALIZER, .blocks = n};
  one_block *b = tt__mem_zalloc((size_t)n * sizeof *b);
  int64_t made = 1;
  sigset_t all, before;
  bool ok = b != NULL;
  l->meeting = &m;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* threads of ours hear what they let in */
  for (; ok && made < n; made += ok) {
    b[made] = (one_block){.launch = l, .block = made};
    ok = pthread_create(&b[made].thread, NULL, run_one, &b[made]) == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!ok) {
    say(l, TT_ENOMEM, "kernel %s: no %lld threads for its blocks, which wait for each other", l->entry->name,
        (long long)n);
    atomic_store(&l->stop, TT_ENOMEM);
  } else {
    b[0] = (one_block){.launch = l};
    run_one(&b[0]);
  }
  for (int64_t k = 1; b && k < made; k++) pthread_join(b[k].thread, NULL);
  pthread_mutex_destroy(&m.mutex);
  pthread_cond_destroy(&m.opens);
  tt__mem_free(b, b ? (size_t)n * sizeof *b : 0);
}

static void run_all(launch *l) {
  int64_t n = blocks_of(l);
  if (l->check) {
    tt__lock(&checking);
    run_piece(l, 0, n, 0);
    tt__unlock(&checking);
    return;
  }
  if (l->entry->sync & TT_CUDAC_TOGETHER) {
    run_together(l, n);
    return;
  }
  tt__cut_run(l->entry, tt__pool_size(), n, l->threads, run_piece, l);
}

/* ---- a launch that its caller waits for */

enum { ASIDE_STACK = 16 << 20 };

static void *run_aside(void *arg) {
  tt__interrupt_deaf();
  run_all(arg);
  return NULL;
}

/* A thread that ends gives its slot back first: at worst another of ours is woken, which has no reason to leave. */
static void stop_launch(launch *l) {
  int none = TT_OK;
  atomic_compare_exchange_strong(&l->stop, &none, TT_EINTERRUPT);
  for (int k = 0; k < WORKERS; k++)
    if (atomic_load(&slots[k].state) == READY && slots[k].launch == l) pthread_kill(slots[k].thread, wake_signal());
}

static void run_and_ask(launch *l) {
  pthread_t thread;
  bool stops = false;
  struct timespec until;
  if (!tt__thread_start(&thread, ASIDE_STACK, run_aside, l)) {
    run_all(l);
    return;
  }
  do {
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    stops |= tt__interrupt_waiting();
    if (stops) stop_launch(l);
  } while (pthread_timedjoin_np(thread, NULL, &until) != 0);
  if (stops) (void)tt__interrupted(); /* TT_EINTERRUPT carries the wish from here on */
}

tt_code tt__cudac_fits(const tt_cudac_entry *e, const tt_grid *g, bool check, tt_error *err) {
  long long n = (long long)g->grid[0] * g->grid[1] * g->grid[2];
  long long threads = (long long)g->block[0] * g->block[1] * g->block[2];
  if (!(e->sync & TT_CUDAC_TOGETHER)) return TT_OK;
  if (check && n > MOST_CHECKED / threads)
    return tt__fail(err, TT_EVALUE,
                    "kernel %s: its %lld blocks wait for each other, so all must run at once, and TUTTI_CHECK=1 runs "
                    "%d threads: make the grid smaller",
                    e->name, n, MOST_CHECKED);
  if (!check && n > WORKERS)
    return tt__fail(err, TT_EVALUE,
                    "kernel %s: its %lld blocks wait for each other, so all must run at once, and the CPU runs %d: "
                    "make the grid smaller and let threads take several elements",
                    e->name, n, WORKERS);
  return TT_OK;
}

tt_code tt__cudac_run(const tt_cudac_entry *e, const tt_grid *g, void *const *arg, tt_check *check, tt_str *output,
                      tt_error *err) {
  launch l = {
      .entry = e, .arg = arg, .shared = (unsigned)g->shared, .output = output, .lock = TT_LOCK_INIT, .check = check};
  for (int k = 0; k < 3; k++) {
    l.grid.grid[k] = g->grid[k];
    l.grid.block[k] = g->block[k];
    l.grid.offset[k] = g->offset[k];
  }
  l.grid.dims = g->dims;
  l.threads = g->block[0] * g->block[1] * g->block[2];
  TT_TRY(tt__cudac_fits(e, g, check != NULL, err));
  bool asks = is_main() && tt__interrupt_is_handled();
  l.from_main = is_main() && !asks;
  begin_launch(!asks);
  (asks ? run_and_ask : run_all)(&l);
  end_launch(!asks);
  tt_code code = (tt_code)atomic_load(&l.stop);
  if (code == TT_OK) tt__cut_note(e, blocks_of(&l), l.threads, atomic_load(&l.busy));
  if (code == TT_OK) return TT_OK;
  if (check) TT_TRY(tt__check_tell(check, err));
  if (l.error.code != TT_OK) return tt__fail(err, l.error.code, "%s", l.error.message);
  return tt__fail(err, code, "kernel %s was interrupted", e->name);
}
