/*
** How long the library's kernels take on a CUDA device, at full size; with the shapes of tiles that are given as
** arguments, else the ones in use. Skipped unless TUTTI_TEST_SPEED=1 and there is a device. Each result is compared
** with the host's at a tenth of the size by the other tests (TUTTI_TEST_DEVICE=cuda).
*/
#define TEST_KEEPS_MEMORY
#include "base/os/os.h"
#include "lib/device_call.h"
#include "lib/rows.h"
#include "lib/scan/host.h"
#include "lib/sort/unique.h"

#include "call_device.h"
#include "random.h"
#include "test.h"

enum { N = 100000000, TURNS = 7, MOST = 64 };

static const tt_lib_device *on;
static tt_device_ops ops; /* of the device, with a clock around launches */
static tt_code (*plain_launch)(tt_device *d, tt_stream *s, tt_routine *r, const tt_grid *g, const void *args,
                               size_t size, tt_error *err);
static tt_event *mark[MOST + 1];
static int marks;
static bool detail;

static tt_code clocked_launch(tt_device *d, tt_stream *s, tt_routine *r, const tt_grid *g, const void *args,
                              size_t size, tt_error *err) {
  tt_code code = plain_launch(d, s, r, g, args, size, err);
  if (detail && code == TT_OK && marks < MOST) code = d->ops->event_record(d, mark[marks++], s, err);
  return code;
}

static void must(tt_code code, const tt_error *err) {
  if (code == TT_OK) return;
  fprintf(stderr, "%s\n", err->message);
  exit(2);
}

static bool ready(void) {
  tt_error err = {0};
  if (!getenv("TUTTI_TEST_SPEED")) return false;
  if (on) return true;
  on = there_open(&err);
  if (!on) {
    printf("skipped: %s\n", err.message);
    return false;
  }
  tt_device *d = on->device;
  ops = *d->ops;
  plain_launch = ops.launch;
  ops.launch = clocked_launch;
  d->ops = &ops;
  for (int i = 0; i <= MOST; i++) must(ops.event_new(d, true, &mark[i], &err), &err);
  return true;
}

/* Device memory that is kept from one turn to the next, so that allocation does not count. */
static void *kept[64];
static size_t kept_size[64];
static int kept_count, kept_next;

static tt_code kept_temp(const tt_lib_device *dev, size_t size, void **out, tt_error *err) {
  int k = kept_next++;
  if (k == 64) fake_die("too much temporary memory");
  if (k >= kept_count || kept_size[k] < size) {
    if (k < kept_count) dev->device->ops->free(dev->device, kept[k], kept_size[k]);
    tt_code code = dev->device->ops->alloc(dev->device, size, &kept[k], err);
    if (code != TT_OK) return code;
    kept_size[k] = size;
    if (k >= kept_count) kept_count = k + 1;
  }
  *out = kept[k];
  return TT_OK;
}

static void *device_copy(const void *from, size_t size) {
  void *to;
  tt_error err = {0};
  must(on->device->ops->alloc(on->device, size, &to, &err), &err);
  if (from) must(on->device->ops->copy_in(on->device, on->stream, to, from, size, &err), &err);
  must(on->device->ops->stream_wait_idle(on->device, on->stream, &err), &err);
  return to;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct work {
  const tt_lib_row *row;
  const tt_lib_maker *maker;
  tt_lib_attr attr;
  tt_operand src[3];
  tt_block out;
} work;

static void once(const work *w) {
  tt_lib_device lib = *on;
  tt_made made[4] = {{0}};
  tt_error err = {0};
  lib.temp = lib.result = kept_temp;
  kept_next = 0;
  must(w->row ? w->row->run_on(&lib, &w->attr, w->src, &w->out, &err)
              : w->maker->run_on(&lib, &w->attr, w->src, made, &err),
       &err);
}

static void speed(const char *what, const work *w) {
  tt_device *d = on->device;
  tt_error err = {0};
  double ms[TURNS], first;
  int64_t start = tt__clock_ns();
  once(w);
  must(d->ops->stream_wait_idle(d, on->stream, &err), &err);
  first = (double)(tt__clock_ns() - start) / 1e6;
  once(w);
  for (int t = 0; t < TURNS; t++) {
    must(d->ops->event_record(d, mark[MOST], on->stream, &err), &err);
    once(w);
    must(d->ops->event_record(d, mark[0], on->stream, &err), &err);
    must(d->ops->event_wait(d, mark[0], &err), &err);
    must(d->ops->event_ms(d, mark[MOST], mark[0], &ms[t], &err), &err);
  }
  qsort(ms, TURNS, sizeof *ms, by_size);
  printf("%-44s %8.3f ms (first %.0f)  launches:", what, ms[TURNS / 2], first);
  detail = true;
  marks = 0;
  must(d->ops->event_record(d, mark[MOST], on->stream, &err), &err);
  once(w);
  detail = false;
  must(d->ops->stream_wait_idle(d, on->stream, &err), &err);
  for (int i = 0; i < marks && i < 12; i++) {
    double one = 0;
    must(d->ops->event_ms(d, i ? mark[i - 1] : mark[MOST], mark[i], &one, &err), &err);
    printf(" %.3f", one);
  }
  printf("\n");
  fflush(stdout);
}

static tt_operand vector(tt_dtype t, const void *at, const int64_t *n) {
  return (tt_operand){.data = at, .dtype = t, .rank = 1, .len = n, .size = *n};
}

static work row(const char *name, tt_operand src, tt_dtype t, void *to, tt_lib_attr attr) {
  attr.row = tt__lib_row(name);
  return (work){.row = attr.row,
                .attr = attr,
                .src = {src},
                .out = {.data = to, .dtype = t, .rank = src.rank, .len = src.len, .size = src.size}};
}

static work maker(const char *name, tt_operand src, tt_lib_attr attr) {
  return (work){.maker = tt__lib_maker(name), .attr = attr, .src = {src}};
}

static const int64_t n = N, rows[2] = {N / 1000, 1000}, wide[2] = {N / 20000, 20000};
static void *f32, *i32, *i64, *to;

static bool prepare(void) {
  if (!ready()) return false;
  if (f32) return true;
  float *f = malloc(sizeof *f * N);
  int32_t *k = malloc(sizeof *k * N);
  int64_t *l = malloc(sizeof *l * N);
  for (int64_t i = 0; i < N; i++) {
    uint64_t r = draw();
    f[i] = (float)(r >> 40) / (float)(1 << 24);
    k[i] = (int32_t)r;
    l[i] = (int64_t)r;
  }
  f32 = device_copy(f, sizeof *f * N);
  i32 = device_copy(k, sizeof *k * N);
  i64 = device_copy(l, sizeof *l * N);
  to = device_copy(NULL, sizeof *l * N);
  free(f), free(k), free(l);
  return true;
}

static void scans(const char *how) {
  char what[96];
  work w = row("scan", vector(TT_F32, f32, &n), TT_F32, to, (tt_lib_attr){.i = {TT_SCAN_SUM, N, 1, 0}});
  snprintf(what, sizeof what, "cumsum of 1e8 f32%s", how);
  speed(what, &w);
}

static void sorts(const char *how) {
  char what[96];
  work w = row("sort", vector(TT_F32, f32, &n), TT_F32, to, (tt_lib_attr){0});
  snprintf(what, sizeof what, "sort of 1e8 f32 in [0, 1)%s", how);
  speed(what, &w);
}

static void argsorts(const char *how) {
  char what[96];
  work w = row("argsort", vector(TT_F32, f32, &n), TT_I64, to, (tt_lib_attr){0});
  snprintf(what, sizeof what, "argsort of 1e8 f32%s", how);
  speed(what, &w);
}

TEST(shapes) {
  static const int scan[][5] = {{256, 128, 1024, 4, 256}, {256, 128, 1024, 4, 192}, {256, 128, 1024, 8, 256},
                                {256, 128, 1024, 4, 0},   {512, 128, 1024, 4, 128}, {256, 192, 768, 4, 192},
                                {256, 128, 768, 4, 256},  {256, 256, 768, 4, 128},  {256, 384, 512, 4, 0}};
  static const int sort[][2] = {{384, 22}, {256, 24}, {512, 18}, {512, 20}};
  static const int place[][2] = {{256, 20}, {256, 16}, {256, 18}, {384, 12}, {512, 14}};
  const tt_device_shape was = tt__device_shape;
  char how[64];
  if (!prepare()) return;
  for (size_t i = 0; i < sizeof scan / sizeof *scan; i++) {
    tt__device_shape.scan_threads = scan[i][0];
    tt__device_shape.scan_bytes = scan[i][1];
    tt__device_shape.scan_resident = scan[i][2];
    tt__device_shape.scan_rounds = scan[i][3];
    tt__device_shape.scan_ahead = scan[i][4];
    snprintf(how, sizeof how, ", %d x %d bytes, %d, %d, %d", scan[i][0], scan[i][1], scan[i][2], scan[i][3],
             scan[i][4]);
    scans(how);
  }
  for (size_t i = 0; i < sizeof sort / sizeof *sort; i++) {
    tt__device_shape.sort_threads = sort[i][0];
    tt__device_shape.sort_items = sort[i][1];
    snprintf(how, sizeof how, ", %d x %d", sort[i][0], sort[i][1]);
    sorts(how);
  }
  for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
    tt__device_shape.place_threads = place[i][0];
    tt__device_shape.place_items = place[i][1];
    snprintf(how, sizeof how, ", %d x %d", place[i][0], place[i][1]);
    argsorts(how);
  }
  tt__device_shape = was;
}

TEST(scans_and_sorts) {
  if (!prepare()) return;
  work w = row("scan", vector(TT_F64, i64, &n), TT_F64, to, (tt_lib_attr){.i = {TT_SCAN_SUM, N, 1, 0}});
  speed("cumsum of 1e8 f64", &w);
  w = row("scan", vector(TT_U8, f32, &n), TT_U8, to, (tt_lib_attr){.i = {TT_SCAN_MAX, N, 1, 0}});
  speed("cummax of 1e8 u8", &w);
  w = row("scan", vector(TT_F32, f32, &n), TT_F32, to, (tt_lib_attr){.i = {TT_SCAN_SUM, 1000, 1, 0}});
  speed("cumsum of 1e5 rows of 1000 f32", &w);
  w = row("scan", vector(TT_F32, f32, &n), TT_F32, to, (tt_lib_attr){.i = {TT_SCAN_SUM, 10000, 1, 0}});
  speed("cumsum of 1e4 rows of 10000 f32", &w);
  w = row("scan", vector(TT_F32, f32, &n), TT_F32, to, (tt_lib_attr){.i = {TT_SCAN_SUM, 10000, 10000, 0}});
  speed("cumsum of 1e4 columns of 10000 f32", &w);
  w = row("sort", vector(TT_I32, i32, &n), TT_I32, to, (tt_lib_attr){0});
  speed("sort of 1e8 i32", &w);
  w = row("sort", vector(TT_I64, i64, &n), TT_I64, to, (tt_lib_attr){0});
  speed("sort of 1e8 i64", &w);
  w = row("sort", vector(TT_F16, i64, &n), TT_F16, to, (tt_lib_attr){0});
  speed("sort of 1e8 f16", &w);
  w = row("sort", vector(TT_F32, f32, &n), TT_F32, to, (tt_lib_attr){0});
  w.src[0].rank = 2, w.src[0].len = rows;
  speed("sort of 1e5 rows of 1000 f32", &w);
  w.src[0].len = wide;
  speed("sort of 5000 rows of 20000 f32", &w);
  argsorts("");
  w = row("argsort", vector(TT_I64, i64, &n), TT_I64, to, (tt_lib_attr){0});
  speed("argsort of 1e8 i64", &w);
}

TEST(picks_and_counts) {
  if (!prepare()) return;
  static const int64_t few = N / 10;
  static double edge[101];
  int64_t edges = 101;
  for (int i = 0; i < 101; i++) edge[i] = (double)i / 100;
  float edge32[101];
  for (int i = 0; i < 101; i++) edge32[i] = (float)edge[i];
  void *k = device_copy(NULL, sizeof(int32_t) * N);
  int32_t *small = malloc(sizeof *small * N);
  for (int64_t i = 0; i < N; i++) small[i] = (int32_t)(draw() % 1000000);
  tt_error err = {0};
  must(on->device->ops->copy_in(on->device, on->stream, k, small, sizeof *small * N, &err), &err);
  work w = maker("unique", vector(TT_I32, k, &n), (tt_lib_attr){.i = {0, 1}});
  speed("unique of 1e8 i32, 1e6 kinds", &w);
  w = maker("unique", vector(TT_I32, k, &n), (tt_lib_attr){.i = {7, 1}});
  speed("unique of 1e8 i32 with all results", &w);
  w = maker("bincount", vector(TT_I32, k, &n), (tt_lib_attr){0});
  speed("bincount of 1e8 i32, 1e6 bins", &w);
  w = maker("bincount", vector(TT_U8, i64, &n), (tt_lib_attr){0});
  speed("bincount of 1e8 u8, 256 bins", &w);
  w = maker("nonzero", vector(TT_BOOL, i64, &n), (tt_lib_attr){0});
  speed("nonzero of 1e8 bool, nearly all", &w);
  w = maker("nonzero", vector(TT_I32, k, &n), (tt_lib_attr){0});
  speed("nonzero of 1e8 i32, nearly all", &w);
  double span = 1;
  tt_lib_attr attr = {.f = {0, 1}};
  memcpy(attr.i, &span, sizeof span);
  w = row("histogram_uniform", vector(TT_F32, f32, &n), TT_I64, to, attr);
  w.src[1] = vector(TT_F32, device_copy(edge32, sizeof edge32), &edges);
  w.out.size = 100;
  speed("histogram of 1e8 f32, 100 bins", &w);
  w = maker("bincount_weighted", vector(TT_U8, i64, &few), (tt_lib_attr){0});
  w.src[1] = vector(TT_F64, i64, &few);
  speed("bincount of 1e7 u8 with weights", &w);
  w = row("searchsorted", vector(TT_I32, k, &few), TT_I64, to, (tt_lib_attr){0});
  w.src[1] = vector(TT_F32, f32, &n);
  speed("searchsorted of 1e8 f32 in 1e7", &w);
  free(small);
}

TEST_MAIN()
