/*
** Scans on the host. One long row is cut in groups of a fixed size; a thread claims the next group, scans its lanes
** while they are in its cache, waits for the total of all groups before, and moves its lanes by it: the memory is
** read once. Groups are claimed in order by threads that run, so the wait always ends.
** It must not know arrays or graphs.
*/
#include "lib/scan/host.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/scan/scan_int.h"
#include "scalar/prelude.h"

enum {
  STRICT = 4096, /* rows up to this length are scanned element after element */
  GRAIN = 32768, /* elements that make a second thread worth it */
  MAX_WORKERS = 256,
  COLUMNS = 2048 /* of inner elements, kept in L1 from one row to the next; narrower strips stream at half the speed */
};

/* A 16-byte total and whether it is there. */
typedef struct scan_total {
  _Alignas(16) char value[16];
  atomic_bool ready;
} scan_total;

typedef struct scan_job {
  const tt_scan_ops *ops;
  tt_dtype t;
  const char *in;
  char *out;
  size_t size; /* bytes of an element */
  int64_t outer, n, inner, n_out;
  float *stage; /* TT_SCAN_GROUP floats a worker, for 16-bit floats */
  scan_total *total;
  atomic_llong next_group;
  int64_t groups;
} scan_job;

static bool is_half(tt_dtype t) { return t == TT_F16 || t == TT_BF16; }

/* ---- 16-bit floats pass through a float32 stage */

static void widen(tt_dtype t, const char *in, float *out, int64_t n) {
  const uint16_t *h = (const uint16_t *)in;
  if (t == TT_F16)
    for (int64_t i = 0; i < n; i++) out[i] = tt_cast_f16_f32(h[i]);
  else
    for (int64_t i = 0; i < n; i++) out[i] = tt_cast_bf16_f32(h[i]);
}

static void narrow(tt_dtype t, const float *in, char *out, int64_t n) {
  uint16_t *h = (uint16_t *)out;
  if (t == TT_F16)
    for (int64_t i = 0; i < n; i++) h[i] = tt_cast_f32_f16(in[i]);
  else
    for (int64_t i = 0; i < n; i++) h[i] = tt_cast_f32_bf16(in[i]);
}

/* ---- one group */

static void relax(int *spins) {
  if (++*spins > 100) {
    sched_yield();
    return;
  }
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* A group of a row, and where its 16-bit floats are widened to. */
typedef struct group {
  const char *in;
  char *out;
  int64_t n;
  float *stage;
} group;

static group group_at(const scan_job *j, const char *in, char *out, int64_t at, float *stage) {
  int64_t n = j->n - at < TT_SCAN_GROUP ? j->n - at : TT_SCAN_GROUP;
  return (group){in + (size_t)at * j->size, out + (size_t)at * j->size, n, stage};
}

static void group_local(const scan_job *j, group g, void *sum) {
  if (is_half(j->t)) {
    widen(j->t, g.in, g.stage, g.n);
    j->ops->local(g.stage, g.stage, g.n, sum);
  } else {
    j->ops->local(g.in, g.out, g.n, sum);
  }
}

static void group_total(const scan_job *j, group g, const void *before, void *total) {
  j->ops->total(is_half(j->t) ? (const void *)g.stage : g.out, g.n, before, total);
}

static void group_finish(const scan_job *j, group g, const void *before) {
  if (is_half(j->t)) {
    j->ops->finish(g.stage, g.stage, g.n, before);
    narrow(j->t, g.stage, g.out, g.n);
  } else {
    j->ops->finish(g.in, g.out, g.n, before);
  }
}

/* ---- one long row, by all threads */

static void take_groups(void *ctx, int64_t lo, int64_t hi, int worker) {
  scan_job *j = ctx;
  float *stage = j->stage ? j->stage + (int64_t)worker * TT_SCAN_GROUP : NULL;
  (void)lo;
  (void)hi;
  for (;;) {
    int64_t i = atomic_fetch_add(&j->next_group, 1);
    if (i >= j->groups) return;
    group g = group_at(j, j->in, j->out, i * TT_SCAN_GROUP, stage);
    scan_total *total = &j->total[i];
    const void *before = NULL;
    group_local(j, g, total->value);
    if (i > 0) {
      for (int spins = 0; !atomic_load_explicit(&total[-1].ready, memory_order_acquire);) relax(&spins);
      before = total[-1].value;
    }
    group_total(j, g, before, total->value);
    atomic_store_explicit(&total->ready, true, memory_order_release);
    group_finish(j, g, before);
  }
}

static tt_code scan_long_row(scan_job *j, const char *in, char *out, int workers, tt_error *err) {
  j->in = in;
  j->out = out;
  j->groups = (j->n + TT_SCAN_GROUP - 1) / TT_SCAN_GROUP;
  size_t size = (size_t)j->groups * sizeof *j->total;
  j->total = tt__mem_alloc_data(size);
  if (!j->total) return tt__fail_memory(err, size);
  for (int64_t g = 0; g < j->groups; g++) atomic_init(&j->total[g].ready, false);
  atomic_store(&j->next_group, 0);
  tt__pool_run_numbered(workers, workers, 1, take_groups, j);
  tt__mem_free_data(j->total, size);
  return TT_OK;
}

/* ---- many rows, each by one thread */

static void scan_row(const scan_job *j, const char *in, char *out, float *stage) {
  if (is_half(j->t) ? j->n <= STRICT : j->n <= STRICT || j->ops->exact) {
    if (is_half(j->t)) {
      widen(j->t, in, stage, j->n);
      j->ops->row(stage, stage, j->n);
      narrow(j->t, stage, out, j->n);
    } else {
      j->ops->row(in, out, j->n);
    }
    return;
  }
  _Alignas(16) char total[2][16];
  for (int64_t at = 0, i = 0; at < j->n; at += TT_SCAN_GROUP, i ^= 1) {
    group g = group_at(j, in, out, at, stage);
    const void *before = at ? total[!i] : NULL;
    group_local(j, g, total[i]);
    group_total(j, g, before, total[i]);
    group_finish(j, g, before);
  }
}

static void take_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  const scan_job *j = ctx;
  float *stage = j->stage ? j->stage + (int64_t)worker * TT_SCAN_GROUP : NULL;
  for (int64_t i = lo; i < hi; i++)
    scan_row(j, j->in + (size_t)(i * j->n) * j->size, j->out + (size_t)(i * j->n_out) * j->size, stage);
}

/* ---- inner axes: columns side by side */

/* 16-bit floats: the running totals stay in float32. */
static void half_columns(const scan_job *j, const char *in, char *out, int64_t lo, int64_t hi) {
  float total[COLUMNS], row[2 * COLUMNS];
  size_t step = (size_t)j->inner * j->size, at = (size_t)lo * j->size;
  int64_t n = hi - lo;
  assert(n <= COLUMNS);
  for (int64_t i = 0; i < j->n; i++, in += step, out += step) {
    widen(j->t, in + at, row + (i ? n : 0), n);
    j->ops->columns(row, row, i ? 2 : 1, n, 0, n);
    memcpy(total, row + (i ? n : 0), (size_t)n * sizeof *total);
    narrow(j->t, total, out + at, n);
    memcpy(row, total, (size_t)n * sizeof *row);
  }
}

static void take_columns(void *ctx, int64_t lo, int64_t hi, int worker) {
  const scan_job *j = ctx;
  int64_t blocks = (j->inner + COLUMNS - 1) / COLUMNS;
  (void)worker;
  for (int64_t b = lo; b < hi; b++) {
    int64_t o = b / blocks, from = b % blocks * COLUMNS, to = from + COLUMNS < j->inner ? from + COLUMNS : j->inner;
    const char *in = j->in + (size_t)(o * j->n * j->inner) * j->size;
    char *out = j->out + (size_t)(o * j->n_out * j->inner) * j->size;
    if (is_half(j->t))
      half_columns(j, in, out, from, to);
    else
      j->ops->columns(in, out, j->n, j->inner, from, to);
  }
}

/* ---- the entry */

/* The first element of each output: what a sum or a product starts from. */
static void write_initial(const scan_job *j, tt_scan op, char *out) {
  tt_scalar first = op == TT_SCAN_PROD ? tt__dtype_one(j->t) : (tt_scalar){.bits = {0, 0}};
  for (int64_t o = 0; o < j->outer; o++)
    for (int64_t k = 0; k < j->inner; k++)
      memcpy(out + (size_t)(o * j->n_out * j->inner + k) * j->size, &first, j->size);
}

static tt_code scan_all(scan_job *j, int workers, tt_error *err) {
  if (j->inner > 1) {
    int64_t blocks = (j->inner + COLUMNS - 1) / COLUMNS, work = j->n * (j->inner < COLUMNS ? j->inner : COLUMNS);
    tt__pool_run(j->outer * blocks, work < GRAIN ? GRAIN / work : 1, take_columns, j);
    return TT_OK;
  }
  if (workers > 1 && j->outer < 2 * workers && j->n >= 2 * TT_SCAN_GROUP) {
    const char *in = j->in;
    char *out = j->out;
    for (int64_t o = 0; o < j->outer; o++)
      TT_TRY(scan_long_row(j, in + (size_t)(o * j->n) * j->size, out + (size_t)(o * j->n_out) * j->size, workers, err));
    return TT_OK;
  }
  tt__pool_run_numbered(workers, j->outer, j->n < GRAIN ? GRAIN / j->n : 1, take_rows, j);
  return TT_OK;
}

tt_code tt__scan_rows(tt_scan op, tt_dtype t, const void *in, void *out, int64_t outer, int64_t n, int64_t inner,
                      bool initial, tt_error *err) {
  assert(outer >= 0 && n >= 0 && inner >= 0);
  scan_job j = {.t = t, .in = in, .out = out, .size = tt__dtype_size(t), .outer = outer, .n = n, .inner = inner};
  assert(!initial || op == TT_SCAN_SUM || op == TT_SCAN_PROD);
  j.ops = tt__scan_ops(op, is_half(t) ? TT_F32 : t);
  if (!j.ops) return tt__fail(err, TT_ETYPE, "no running maximum or minimum of %s", tt__dtypes[t].name);
  j.n_out = n + initial;
  if (outer == 0 || inner == 0) return TT_OK;
  if (initial) {
    write_initial(&j, op, out);
    j.out += (size_t)inner * j.size;
  }
  if (n == 0) return TT_OK;
  int workers = tt__pool_inside() ? 1 : tt__pool_size();
  if (workers > MAX_WORKERS) workers = MAX_WORKERS;
  size_t stage = is_half(t) && inner == 1 ? (size_t)workers * TT_SCAN_GROUP * sizeof *j.stage : 0;
  if (stage && !(j.stage = tt__mem_alloc_data(stage))) return tt__fail_memory(err, stage);
  tt_code c = scan_all(&j, workers, err);
  tt__mem_free_data(j.stage, stage);
  return c;
}
