/*
** The public loop over the library's threads. How much a thread gets at a time follows from how long the first indices
** took, which run on the caller.
*/
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "tutti/parallel.h"

/* Below this much work nothing is distributed; a thread gets pieces of about that much. */
enum { PIECE_NS = 50000 };

typedef struct loop {
  tt_parallel_body body;
  void *ctx;
  int64_t begin;
} loop;

static void loop_range(void *ctx, int64_t lo, int64_t hi, int worker) {
  const loop *l = ctx;
  (void)worker;
  l->body(l->ctx, l->begin + lo, l->begin + hi);
}

void tt_parallel_for(int64_t n, tt_parallel_body body, void *ctx) {
  int64_t done = 0, step = 1, spent = 0;
  if (tt__pool_inside() || tt__pool_size() == 1) {
    if (n > 0) body(ctx, 0, n);
    return;
  }
  while (done < n && spent < PIECE_NS) { /* twice as many each time, so a clock is asked seldom */
    int64_t end = n - done < step ? n : done + step, begun = tt__clock_ns();
    body(ctx, done, end);
    spent = tt__clock_ns() - begun;
    step = end - done;
    done = end;
    if (spent < PIECE_NS) step *= 2;
  }
  if (done >= n) return;
  loop l = {body, ctx, done};
  int64_t grain = (int64_t)((double)step * PIECE_NS / (double)spent);
  tt__pool_run(n - done, grain > 1 ? grain : 1, loop_range, &l);
}

int tt_parallel_cores(void) { return tt__cpu_count(); }
