/*
** Calibration; see calibrate.h.
*/
#include "run/machine/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "base/str.h"
#include "base/version.h"
#include "device/cache_alloc.h"
#include "device/staging.h"
#include "run/cache/cache.h"
#include "run/device/batch.h"

/* Larger than the last-level cache's share of one core, small enough to take a few milliseconds. */
#define STREAM_BYTES (64 << 20)
#define GRAIN (1 << 20)
#define RUNS 3
#define DEVICE_RUNS 5

/* Of a device's memory, for the arrays of a step. */
#define ROOM 0.9

static tt_machine machine = {.host = {.bytes_per_ns = 8, .ns_per_op = 0.1, .ns_per_flop = 0.02, .launch_ns = 5000},
                             .threads = 1};

static void copy_piece(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  char *p = ctx;
  memcpy(p + STREAM_BYTES + lo, p + lo, (size_t)(hi - lo));
}

static void no_work(void *ctx, int64_t lo, int64_t hi, int worker) { (void)ctx, (void)lo, (void)hi, (void)worker; }

static bool measure(void) {
  size_t size = 2 * (size_t)STREAM_BYTES;
  char *p = tt__mem_alloc_data(size);
  if (!p) return false;
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
  if (best_copy > 0) machine.host.bytes_per_ns = (double)size / (double)best_copy;
  if (best_launch > 0) machine.host.launch_ns = (double)best_launch;
  return true;
}

/* ---- kept on disk */

#define VERSION 4 /* of the files of figures */
enum { CPU_FIGURES = 2, FIGURES = 3 + 2 * TT_MOVE_SIZES /* the most of a file */ };

/* A file of the cache folder: its name, and how many threads we use. "": there is no folder. */
static void figures_path(const char *name, char *path, size_t size) {
  char folder[400];
  path[0] = 0;
  if (tt__cache_root(folder, sizeof folder)) snprintf(path, size, "%s/costs-%s-%d", folder, name, tt__pool_size());
}

static bool parse_figures(const char *text, double *const *at, int n) {
  char *end;
  double found[FIGURES];
  if (strtol(text, &end, 10) != VERSION) return false;
  for (int i = 0; i < n; i++) {
    const char *from = end;
    found[i] = strtod(from, &end);
    if (end == from || !(found[i] > 0) || !isfinite(found[i])) return false;
  }
  for (int i = 0; i < n; i++) *at[i] = found[i];
  return true;
}

/* A line of figures; all of them or none. */
static bool read_figures(const char *path, double *const *at, int n) {
  tt_str s = {0};
  bool ok = path[0] && tt__file_is_ours(path) && tt__file_read(path, &s, NULL) == TT_OK && s.data &&
            parse_figures(s.data, at, n);
  tt__str_free(&s);
  return ok;
}

static void write_figures(const char *path, double *const *at, int n) {
  tt_str s = {0};
  tt__str_addf(&s, "%d", VERSION);
  for (int i = 0; i < n; i++) tt__str_addf(&s, " %.9g", *at[i]);
  tt__str_add(&s, "\n");
  if (path[0] && s.data && !s.failed) (void)tt__file_write(path, s.data, s.len, NULL); /* else measured anew */
  tt__str_free(&s);
}

/* ---- the processor */

static enum { UNKNOWN, SOUGHT, KNOWN } state; /* of the CPU's figures */
static double *const cpu_figures[CPU_FIGURES] = {&machine.host.bytes_per_ns, &machine.host.launch_ns};

/* By model, cores and version of the library. */
static void cpu_path(char *path, size_t size) {
  char cpu[300], name[32];
  int n = snprintf(cpu, sizeof cpu, "%s, level %d, %d cores; %s", tt__cpu_name(), tt__cpu_level(), tt__cpu_count(),
                   TUTTI_VERSION);
  size_t len = n < 0 ? 0 : (size_t)n < sizeof cpu ? (size_t)n : sizeof cpu - 1;
  snprintf(name, sizeof name, "cpu-%016llx", (unsigned long long)tt__hash64(cpu, len));
  figures_path(name, path, size);
}

const tt_machine *tt__machine(void) {
  machine.threads = tt__pool_size();
  if (state == UNKNOWN) {
    char path[512];
    cpu_path(path, sizeof path);
    state = read_figures(path, cpu_figures, CPU_FIGURES) ? KNOWN : SOUGHT;
    machine.host_room = (double)tt__ram_bytes() / 2;
  }
  return &machine;
}

bool tt__calibrate(void) {
  char path[512];
  (void)tt__machine();
  if (state == KNOWN) return false;
  state = KNOWN;
  if (!measure()) return false; /* no memory for it: the figures stay */
  cpu_path(path, sizeof path);
  write_figures(path, cpu_figures, CPU_FIGURES);
  return true;
}

/* ---- devices */

#define DEVICE_BYTES ((size_t)256 << 20)
#define MOVE_BYTES ((size_t)64 << 20)
#define FILLS 64
#define LAUNCH_OVER_FILL 2.0 /* a kernel's launch with its arguments takes about twice what filling some bytes takes */

/* Found by the device's label. */
static void costs_path(const tt_device *d, char *path, size_t size) {
  char label[64];
  size_t n = 0;
  for (const char *p = d->label; *p && n + 1 < sizeof label; p++)
    label[n++] = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ? *p : '-';
  label[n] = 0;
  figures_path(label, path, size);
}

/* The figures of the file, in its order. */
static void figures_of(tt_device_rates *c, double *at[FIGURES]) {
  *at++ = &c->bytes_per_ns;
  *at++ = &c->launch_ns;
  *at++ = &c->both_bytes_per_ns;
  for (int i = 0; i < TT_MOVE_SIZES; i++) *at++ = &c->up_ns[i];
  for (int i = 0; i < TT_MOVE_SIZES; i++) *at++ = &c->down_ns[i];
}

static bool read_costs(const tt_device *d, tt_device_rates *c) {
  char path[512];
  double *at[FIGURES];
  figures_of(c, at);
  costs_path(d, path, sizeof path);
  return read_figures(path, at, FIGURES);
}

static void write_costs(const tt_device *d, tt_device_rates *c) {
  char path[512];
  double *at[FIGURES];
  figures_of(c, at);
  costs_path(d, path, sizeof path);
  write_figures(path, at, FIGURES);
}

/* Nanoseconds of the best of some runs of `work` and a wait. */
typedef tt_code (*work_fn)(tt_device *d, void *at, void *host);

static double time_of(tt_device *d, work_fn work, void *at, void *host) {
  double best = 1e18;
  for (int i = 0; i < DEVICE_RUNS; i++) {
    int64_t start = tt__clock_ns();
    if (work(d, at, host) != TT_OK || d->ops->stream_wait_idle(d, d->work, NULL) != TT_OK) return 0;
    double ns = (double)(tt__clock_ns() - start);
    if (ns < best) best = ns;
  }
  return best;
}

static tt_code do_copy(tt_device *d, void *at, void *host) {
  (void)host;
  return d->ops->copy_within(d, d->work, at, (char *)at + DEVICE_BYTES / 2, DEVICE_BYTES / 2, NULL);
}
static tt_code do_fills(tt_device *d, void *at, void *host) {
  (void)host;
  for (int i = 0; i < FILLS; i++) TT_TRY(d->ops->fill(d, d->work, at, 0, 1024, NULL));
  return TT_OK;
}
static size_t moving; /* bytes; calibration is done under the session lock */
static tt_code do_up(tt_device *d, void *at, void *host) { return tt__staging_in(d, d->work, at, host, moving, NULL); }
static tt_code do_down(tt_device *d, void *at, void *host) {
  return tt__staging_out(d, d->work, host, at, moving, NULL);
}

/* A half comes down while the other goes up. */
static bool half(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out) {
  *out = *(const tt_move *)ctx;
  out->size = MOVE_BYTES / 2;
  if (is_down) out->host = (char *)out->host + out->size, out->at = (char *)out->at + out->size;
  return piece == !is_down && i == 0;
}
static tt_code do_both(tt_device *d, void *at, void *host) {
  tt_move m = {.host = host, .at = at};
  tt_pipeline f = {.device = d, .up = d->up, .down = d->down, .pieces = 2, .depth = 2, .move = half, .ctx = &m};
  TT_TRY(tt__staging_pipeline(&f, MOVE_BYTES / 2, MOVE_BYTES / 2, NULL));
  return d->ops->stream_wait_idle(d, d->up, NULL);
}

/* Moves of each size. A larger one takes no less. */
static void measure_moves(tt_device *d, void *at, void *host, work_fn move, double *ns) {
  for (int k = 0; k < TT_MOVE_SIZES; k++) {
    moving = tt__move_sizes[k];
    double took = time_of(d, move, at, host);
    if (took > 0) ns[k] = took;
    if (k > 0 && ns[k] < ns[k - 1]) ns[k] = ns[k - 1];
  }
}

static void measure_device(tt_device *d, tt_device_rates *c) {
  tt_dmem *block = NULL;
  void *host = tt__mem_alloc_data(MOVE_BYTES);
  (void)!tt__batch_flush(NULL); /* launches that wait may use what the memory held before */
  if (host && tt__dmem_alloc(d, d->work, DEVICE_BYTES, &block, NULL) == TT_OK) {
    memset(host, 1, MOVE_BYTES);
    void *at = tt__dmem_at(block);
    double copy = time_of(d, do_copy, at, host), fills = time_of(d, do_fills, at, host);
    double both = time_of(d, do_both, at, host);
    measure_moves(d, at, host, do_up, c->up_ns);
    measure_moves(d, at, host, do_down, c->down_ns);
    if (copy > 0) c->bytes_per_ns = (double)DEVICE_BYTES / copy;
    if (fills > 0) c->launch_ns = LAUNCH_OVER_FILL * fills / FILLS;
    if (both > 0) c->both_bytes_per_ns = (double)MOVE_BYTES / both;
    write_costs(d, c);
  }
  if (block) tt__dmem_free(d, block);
  tt__mem_free_data(host, host ? MOVE_BYTES : 0);
}

/* A thread and a clock a lane: the figures that no short measurement gives. */
static tt_device_rates likely_rates(const tt_device *d) {
  double lanes = (double)d->target.units * 128;
  if (lanes <= 0) lanes = 128;
  tt_device_rates c = {.bytes_per_ns = 500,
                       .ns_per_op = 1 / (1.5 * lanes),
                       .ns_per_flop = 1 / (2 * 1.5 * lanes),
                       .launch_ns = 4000,
                       .both_bytes_per_ns = 16};
  for (int i = 0; i < TT_MOVE_SIZES; i++)
    c.up_ns[i] = c.down_ns[i] = 10000 + (double)tt__move_sizes[i] / (c.both_bytes_per_ns / 2);
  return c;
}

static int find_device(const tt_device *d) {
  int k = 0;
  while (k < machine.ndevice && machine.device[k].id != d->id) k++;
  return k;
}

static tt_device *handle[TT_MACHINE_DEVICES];

tt_device *tt__machine_handle(int k) { return handle[k]; }

int tt__machine_device(tt_device *d) {
  int k = find_device(d);
  if (k == TT_MACHINE_DEVICES) k--; /* more than there is place for: the last one stands for them */
  tt_machine_device *known = &machine.device[k];
  if (k == machine.ndevice) {
    machine.ndevice++;
    handle[k] = d;
    *known = (tt_machine_device){.id = d->id,
                                 .is_simulated = d->target.kind == TT_DEVICE_NULL,
                                 .is_host = d->target.is_host,
                                 .double_ratio = d->target.double_ratio,
                                 .lacks = d->target.lacks,
                                 .rates = likely_rates(d)};
    known->is_measured = known->is_simulated;
  }
  int64_t limit = tt__dmem_stats(d).limit, all = d->target.memory_bytes;
  known->room = ROOM * (double)(limit > 0 && limit < all ? limit : all);
  return k;
}

void tt__calibrate_device(tt_device *d) {
  tt_machine_device *known = &machine.device[tt__machine_device(d)];
  if (known->is_measured) return;
  known->is_measured = true;
  if (!read_costs(d, &known->rates)) measure_device(d, &known->rates);
}

bool tt__calibrated(const tt_device *d) {
  if (!d) return state == KNOWN;
  int k = find_device(d);
  return k < machine.ndevice && machine.device[k].is_measured;
}
