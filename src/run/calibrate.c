/*
** Calibration; see calibrate.h.
*/
#include "run/calibrate.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/pool.h"

/* Larger than the last-level cache's share of one core, small enough to take a few milliseconds. */
#define STREAM_BYTES (64 << 20)
#define GRAIN (1 << 20)
#define RUNS 3

static tt_calibration measured = {8, 0.1, 5000};

static void copy_piece(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  char *p = ctx;
  memcpy(p + STREAM_BYTES + lo, p + lo, (size_t)(hi - lo));
}

static void no_work(void *ctx, int64_t lo, int64_t hi, int worker) { (void)ctx, (void)lo, (void)hi, (void)worker; }

static void measure(void) {
  size_t size = 2 * (size_t)STREAM_BYTES;
  char *p = tt__mem_alloc_data(size);
  if (!p) return;
  memset(p, 1, size);
  int64_t best_copy = INT64_MAX, best_launch = INT64_MAX;
  for (int i = 0; i < RUNS; i++) {
    int64_t t0 = tt__clock_ns();
    tt__pool_run(STREAM_BYTES, GRAIN, copy_piece, p);
    int64_t t1 = tt__clock_ns();
    tt__pool_run(1024, 1, no_work, NULL);
    int64_t t2 = tt__clock_ns();
    if (t1 - t0 < best_copy) best_copy = t1 - t0;
    if (t2 - t1 < best_launch) best_launch = t2 - t1;
  }
  tt__mem_free_data(p, size);
  if (best_copy > 0) measured.bytes_per_ns = (double)size / (double)best_copy;
  measured.launch_ns = (double)best_launch;
}

const tt_calibration *tt__calibration(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, measure);
  return &measured;
}
