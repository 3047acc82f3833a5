/* Workers in the ledger and the profile; the rest of tutti/parallel.h is src/parallel. */
#include "graph/session.h"
#include "run/report/profile.h"
#include "tutti/parallel.h"

void tt_parallel_count(const tt_parallel_counts *more) {
  TT_COUNT(parallel_tasks, more->tasks);
  TT_COUNT(parallel_messages, more->messages);
  TT_COUNT(parallel_shared_bytes, more->shared_bytes);
  TT_COUNT(parallel_copied_bytes, more->copied_bytes);
  TT_COUNT(parallel_idle_us, more->idle_us);
  TT_COUNT(parallel_started, more->started);
  TT_COUNT(parallel_died, more->died);
}

void tt_parallel_ran(const char *name, int pid, double begin, double end, int64_t items) {
  if (!__atomic_load_n(&tt__profile_on, __ATOMIC_RELAXED) || !(begin <= end) || items < 0) return;
  tt__session_lock();
  if (tt__profile_on) tt__profile_add_worker(name, pid, items, (int64_t)(begin * 1e9), (int64_t)(end * 1e9));
  tt__session_unlock();
}
