/*
** The CUDA back end. The compiler is tested wherever NVRTC is found; the rest where a driver and a device are. Without
** either, what they say is checked.
*/
#define TEST_KEEPS_MEMORY /* devices stay open */
#include "test.h"

#include <sys/wait.h>

#include "base/fault.h"
#include "base/os/find.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "device/cache_alloc.h"
#include "device/cuda/cuda.h"
#include "device/cuda/driver.h"
#include "device/cuda/nvrtc.h"
#include "device/device.h"
#include "device/staging.h"

static const char *const source =
    "struct args { float *x; float a; int n; };\n"
    "extern \"C\" __global__ void axpy(struct args g) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < g.n) g.x[i] = g.a * g.x[i] + 1.0f;\n"
    "}\n"
    "extern \"C\" __global__ void wild(struct args g) { *(volatile int *)16 = g.n; }\n"
    "extern \"C\" __global__ void big(struct args g) {\n"
    "  extern __shared__ int s[];\n"
    "  s[g.n - 1] = 7;\n"
    "  __syncthreads();\n"
    "  g.x[0] = (float)s[g.n - 1];\n"
    "}\n";

typedef struct axpy_args {
  float *x;
  float a;
  int n;
} axpy_args;

static bool has_compiler(void) {
  tt_str id = {0};
  tt__nvrtc_identity(90, 0, &id);
  bool has = id.len > 0;
  tt__str_free(&id);
  return has;
}

/* The first device, or NULL where there is none. */
static tt_device *device(void) {
  tt_device *d = NULL;
  tt_error err = {0};
  if (tt__device_count(TT_DEVICE_CUDA, NULL, 0) == 0) return NULL;
  CHECK_INT(tt__device_open(tt__device_id(TT_DEVICE_CUDA, 0), &d, &err), TT_OK);
  if (!d) fprintf(stderr, "%s\n", err.message);
  return d;
}

static bool ok(tt_code code, const tt_error *err) {
  if (code != TT_OK) fprintf(stderr, "%s: %s\n", tt_code_name(code), err->message);
  return code == TT_OK;
}

TEST(absence_is_a_line_of_text) {
  char why[400] = "";
  tt_error err = {0};
  int id = -1;
  if (tt__device_count(TT_DEVICE_CUDA, why, sizeof why) > 0) return;
  CHECK(strlen(why) > 10);
  CHECK_INT(tt__device_named("cuda:0", &id, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "no such device 'cuda:0': there are cpu:0"));
  CHECK(strstr(err.message, why));
  tt_device *d;
  CHECK_INT(tt__device_open(tt__device_id(TT_DEVICE_CUDA, 0), &d, &err), TT_EDEVICE);
  CHECK(!d);
}

TEST(compiles_for_the_very_chip) {
  tt_str binary = {0}, again = {0};
  tt_error err = {0};
  if (!has_compiler()) return;
  CHECK(ok(tt__nvrtc_compile(90, 0, source, "--std=c++17 -DX=1", &binary, &err), &err));
  CHECK(binary.len > 100 && memcmp(binary.data, "\177ELF", 4) == 0);
  CHECK(ok(tt__nvrtc_compile(90, 0, source, NULL, &again, &err), &err));
  tt__str_free(&binary);
  tt__str_free(&again);
}

TEST(compiles_portably_for_a_chip_that_is_too_new) {
  tt_str binary = {0}, id = {0};
  tt_error err = {0};
  if (!has_compiler()) return;
  CHECK(ok(tt__nvrtc_compile(999, 0, source, NULL, &binary, &err), &err));
  CHECK(binary.data && strstr(binary.data, ".version"));
  tt__nvrtc_identity(999, 0, &id);
  CHECK(id.data && strstr(id.data, "compute_"));
  tt__str_free(&binary);
  tt__str_free(&id);
}

TEST(words_in_quotes_are_one_option) {
  tt_str binary = {0};
  tt_error err = {0};
  if (!has_compiler()) return;
  CHECK(ok(tt__nvrtc_compile(90, 0, "extern \"C\" __global__ void f(int *x) { *x = (VALUE); }\n",
                             "  \"-DVALUE=1 + 2\"  --std=c++17 ", &binary, &err),
           &err));
  tt__str_free(&binary);
}

TEST(finds_the_toolkit_headers) {
  tt_str binary = {0};
  tt_error err = {0};
  if (!has_compiler() || access("/usr/local/cuda/include/cuda_fp16.h", R_OK) != 0) return;
  CHECK(ok(tt__nvrtc_compile(90, 0, "#include <cuda_fp16.h>\n__global__ void f(__half *x) { *x = __hadd(*x, *x); }\n",
                             NULL, &binary, &err),
           &err));
  tt__str_free(&binary);
}

static void compile_nested(void *ctx) {
  enum { DEPTH = 1000 };
  tt_str text = {0}, binary = {0};
  tt__str_add(&text, "extern \"C\" __global__ void f(float *x) { x[0] = ");
  for (int i = 0; i < DEPTH; i++) tt__str_addf(&text, "(x[%d] * ", i + 1);
  tt__str_add(&text, "1.0f");
  for (int i = 0; i < DEPTH; i++) tt__str_add(&text, " + x[0])");
  tt__str_add(&text, "; }\n");
  *(tt_code *)ctx = tt__nvrtc_compile(90, 0, text.data, NULL, &binary, NULL);
  tt__str_free(&text);
  tt__str_free(&binary);
}

/* The background thread's own stack is small. */
TEST(nested_expressions_compile_in_the_background) {
  tt_code code = TT_EINTERNAL;
  if (!has_compiler()) return;
  CHECK(tt__pool_background(compile_nested, &code));
  tt__pool_background_wait();
  CHECK_INT(code, TT_OK);
}

TEST(compiler_errors_name_the_line) {
  tt_str binary = {0};
  tt_error err = {0};
  if (!has_compiler()) return;
  CHECK_INT(tt__nvrtc_compile(90, 0, "__global__ void f() {\n  no_such_thing = 1;\n}\n", NULL, &binary, &err),
            TT_EDEVICE);
  CHECK(strstr(err.message, "kernel.cu(2)") && strstr(err.message, "no_such_thing"));
  CHECK_INT(binary.len, 0);
}

static tt_code compile_in_child(tt_error *err) {
  tt_str binary = {0};
  tt_code code = tt__nvrtc_compile(90, 0, source, NULL, &binary, err);
  tt__str_free(&binary);
  return code;
}

/* In children, because what is found once is kept. */
TEST(without_a_compiler_says_so) {
  pid_t pid = fork();
  if (pid == 0) {
    tt_error err = {0};
    setenv("TUTTI_NVRTC", "none", 1);
    tt__find_path("");
    int bad = has_compiler() ? 0 : compile_in_child(&err) != TT_EIO || !strstr(err.message, "TUTTI_NVRTC=none");
    _exit(bad);
  }
  int status = 0;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

TEST(memory_copies_and_fills) {
  tt_device *d = device();
  if (!d) return;
  enum { N = 1 << 20 };
  tt_error err = {0};
  void *p = NULL, *q = NULL, *pinned = NULL;
  CHECK(ok(d->ops->alloc(d, N, &p, &err), &err));
  CHECK(ok(d->ops->alloc(d, N, &q, &err), &err));
  CHECK(ok(d->ops->host_alloc(d, N, &pinned, &err), &err));
  if (!p || !q || !pinned) return;
  unsigned char *host = pinned;
  for (int i = 0; i < N; i++) host[i] = (unsigned char)(i * 7);
  CHECK(ok(d->ops->copy_in(d, d->work, p, host, N, &err), &err));
  CHECK(ok(d->ops->fill(d, d->work, p, 0x5a, 100, &err), &err));
  CHECK(ok(d->ops->copy_within(d, d->work, q, p, N, &err), &err));
  static unsigned char back[N];
  CHECK(ok(d->ops->copy_out(d, d->work, back, q, N, &err), &err));
  CHECK(ok(d->ops->stream_wait_idle(d, d->work, &err), &err));
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += back[i] != (i < 100 ? 0x5a : (unsigned char)(i * 7));
  CHECK_INT(wrong, 0);
  int64_t left = 0, total = 0;
  CHECK(ok(d->ops->mem_info(d, &left, &total, &err), &err));
  CHECK(left > 0 && left <= total && total == d->target.memory_bytes);
  CHECK_INT(d->ops->alloc(d, (size_t)1 << 50, &p, &err), TT_ENOMEM);
  CHECK(strstr(err.message, "out of memory") && !tt__device_lost(d));
  d->ops->free(d, q, N);
  d->ops->host_free(d, pinned, N);
}

static tt_module *load(tt_device *d, tt_error *err) {
  tt_str binary = {0};
  tt_module *m = NULL;
  if (ok(d->ops->compile(d, source, NULL, &binary, err), err))
    CHECK(ok(d->ops->load(d, binary.data, binary.len, &m, err), err));
  tt__str_free(&binary);
  return m;
}

TEST(kernels_events_and_captures) {
  tt_device *d = device();
  if (!d) return;
  enum { N = 1000 };
  tt_error err = {0};
  tt_module *m = load(d, &err);
  tt_routine *f = NULL;
  tt_routine_info info = {0};
  if (!m || !ok(d->ops->routine(d, m, "axpy", &f, &info, &err), &err)) return;
  CHECK(info.registers > 0 && info.block_threads >= 32);
  void *p = NULL;
  tt_event *begin = NULL, *end = NULL;
  CHECK(ok(d->ops->alloc(d, N * 4, &p, &err), &err));
  CHECK(ok(d->ops->event_new(d, true, &begin, &err), &err));
  CHECK(ok(d->ops->event_new(d, true, &end, &err), &err));
  CHECK(ok(d->ops->fill(d, d->work, p, 0, N * 4, &err), &err));
  axpy_args a = {p, 2.0f, N};
  tt_grid g = {.grid = {(N + 127) / 128, 1, 1}, .block = {128, 1, 1}};
  CHECK(ok(d->ops->event_record(d, begin, d->work, &err), &err));
  for (int i = 0; i < 3; i++) CHECK(ok(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), &err)); /* 7 */
  CHECK(ok(d->ops->event_record(d, end, d->work, &err), &err));
  CHECK(ok(d->ops->stream_wait(d, d->down, end, &err), &err));
  float back[N];
  CHECK(ok(d->ops->copy_out(d, d->down, back, p, sizeof back, &err), &err));
  CHECK(ok(d->ops->stream_wait_idle(d, d->down, &err), &err));
  CHECK(back[0] == 7 && back[N - 1] == 7);
  bool done = false;
  double ms = -1;
  CHECK(ok(d->ops->event_done(d, end, &done, &err), &err) && done);
  CHECK(ok(d->ops->event_ms(d, begin, end, &ms, &err), &err) && ms >= 0);

  tt_graph *graph = NULL;
  CHECK(ok(d->ops->graphs->begin(d, d->work, &err), &err));
  CHECK(ok(d->ops->fill(d, d->work, p, 0, N * 4, &err), &err));
  CHECK(ok(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), &err));
  CHECK(ok(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), &err));
  CHECK(ok(d->ops->graphs->end(d, d->work, &graph, &err), &err));
  if (!graph) return;
  CHECK(ok(d->ops->graphs->launch(d, graph, d->work, &err), &err));
  a.a = 10;
  CHECK(ok(d->ops->copy_out(d, d->work, back, p, sizeof back, &err), &err));
  CHECK(back[0] == 3 && back[N - 1] == 3);
  CHECK(ok(d->ops->graphs->args(d, graph, 1, NULL, &a, sizeof a, &err), &err));
  CHECK(ok(d->ops->graphs->launch(d, graph, d->work, &err), &err));
  CHECK(ok(d->ops->copy_out(d, d->work, back, p, sizeof back, &err), &err));
  CHECK(back[0] == 11 && back[N - 1] == 11);
  CHECK_INT(d->ops->graphs->args(d, graph, 2, NULL, &a, sizeof a, &err), TT_EVALUE);
  a.a = 4;
  CHECK(ok(d->ops->graphs->begin(d, d->work, &err), &err));
  CHECK(ok(d->ops->fill(d, d->work, p, 0, N * 4, &err), &err));
  CHECK(ok(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), &err));
  CHECK_INT(d->ops->graphs->launches(d, d->work), 1);
  CHECK(ok(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), &err));
  CHECK(ok(d->ops->graphs->renew(d, d->work, graph, &err), &err));
  CHECK(ok(d->ops->graphs->launch(d, graph, d->work, &err), &err));
  CHECK(ok(d->ops->copy_out(d, d->work, back, p, sizeof back, &err), &err));
  CHECK(back[0] == 5 && back[N - 1] == 5);
  a.a = 7; /* the launches of the first capture are still the names of the new one's */
  CHECK(ok(d->ops->graphs->args(d, graph, 1, NULL, &a, sizeof a, &err), &err));
  CHECK(ok(d->ops->graphs->launch(d, graph, d->work, &err), &err));
  CHECK(ok(d->ops->copy_out(d, d->work, back, p, sizeof back, &err), &err));
  CHECK(back[0] == 8 && back[N - 1] == 8);
  d->ops->graphs->free(d, graph);
  d->ops->event_free(d, begin);
  d->ops->event_free(d, end);

  tt_routine *big = NULL;
  CHECK(ok(d->ops->routine(d, m, "big", &big, NULL, &err), &err));
  if (big && d->target.shared_block > 64 << 10) {
    a.n = (64 << 10) / 4;
    tt_grid one = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared = 64 << 10};
    CHECK(ok(d->ops->launch(d, d->work, big, &one, &a, sizeof a, &err), &err));
    CHECK(ok(d->ops->copy_out(d, d->work, back, p, 4, &err), &err));
    CHECK(ok(d->ops->stream_wait_idle(d, d->work, &err), &err) && back[0] == 7);
  }
  CHECK_INT(d->ops->routine(d, m, "absent", &big, NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "absent"));
  d->ops->unload(d, m);
  d->ops->free(d, p, N * 4);
}

TEST(bad_binaries_and_launches_are_errors) {
  tt_device *d = device();
  if (!d) return;
  tt_error err = {0};
  tt_module *m = NULL;
  CHECK_INT(d->ops->load(d, "\177ELF but no more\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 64, &m,
                         &err),
            TT_EDEVICE);
  CHECK(!m && !tt__device_lost(d));
  m = load(d, &err);
  tt_routine *f = NULL;
  if (!m || !ok(d->ops->routine(d, m, "axpy", &f, NULL, &err), &err)) return;
  axpy_args a = {NULL, 1, 0};
  tt_grid g = {.grid = {1, 1, 1}, .block = {4096, 1, 1}};
  CHECK_INT(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), TT_EDEVICE);
  CHECK(!tt__device_lost(d));
  g.block[0] = 32;
  tt__fault_arm(TT_FAULT_LAUNCH, 0, false);
  CHECK_INT(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), TT_EDEVICE);
  CHECK(ok(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), &err));
  CHECK(ok(d->ops->stream_wait_idle(d, d->work, &err), &err));
  d->ops->unload(d, m);
}

TEST(a_forked_child_is_told) {
  tt_device *d = device();
  if (!d) return;
  pid_t pid = fork();
  if (pid == 0) {
    tt_error err = {0};
    void *p;
    bool told = d->ops->alloc(d, 100, &p, &err) == TT_EDEVICE && strstr(err.message, "spawn");
    told &= tt__device_count(TT_DEVICE_CUDA, err.message, sizeof err.message) == 0 && strstr(err.message, "spawn");
    _exit(!told);
  }
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

TEST(staged_copies_arrive) {
  tt_device *d = device();
  if (!d) return;
  static const size_t sizes[] = {1, 4096, 131073, 3 << 20, 100000001};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    tt_error err = {0};
    tt_dmem *m = NULL;
    size_t n = sizes[k], wrong = 0;
    unsigned char *host = tt__mem_alloc_data(n);
    if (!host || !ok(tt__dmem_alloc(d, d->work, n, &m, &err), &err)) return;
    for (size_t i = 0; i < n; i++) host[i] = (unsigned char)(i * 2654435761u >> 16);
    CHECK(ok(tt__staging_in(d, d->work, tt__dmem_at(m), host, n, &err), &err));
    memset(host, 0, n);
    CHECK(ok(tt__staging_out(d, d->work, host, tt__dmem_at(m), n, &err), &err));
    for (size_t i = 0; i < n; i++) wrong += host[i] != (unsigned char)(i * 2654435761u >> 16);
    CHECK_INT(wrong, 0);
    tt__dmem_free(d, m);
    tt__mem_free_data(host, n);
  }
  const char *fault = tt__dmem_check(d);
  CHECK(!fault);
}

/* ---- speeds, printed with TUTTI_TEST_SPEED=1 */

enum { SPEED_BYTES = 1 << 30, REPEATS = 5 };

static double now_us(void) { return (double)tt__clock_ns() / 1000; }

/* Best of a few, GB/s. way: 0 staged in, 1 staged out, 2 and 3 the driver's own for pageable memory. */
static double transfer(tt_device *d, tt_dmem *m, unsigned char *host, size_t size, int way) {
  double best = 1e30;
  for (int i = 0; i < REPEATS; i++) {
    double from = now_us();
    if (way == 0) tt__staging_in(d, d->work, tt__dmem_at(m), host, size, NULL);
    if (way == 1) tt__staging_out(d, d->work, host, tt__dmem_at(m), size, NULL);
    if (way == 2) d->ops->copy_in(d, d->work, tt__dmem_at(m), host, size, NULL);
    if (way == 3) d->ops->copy_out(d, d->work, host, tt__dmem_at(m), size, NULL);
    d->ops->stream_wait_idle(d, d->work, NULL);
    double us = now_us() - from;
    if (us < best) best = us;
  }
  return (double)size / best / 1000;
}

/* All that moves at once, in pieces of `piece` bytes: host to device, and back from there; GB/s of one way. */
typedef struct both_ways {
  char *from, *to, *at;
  size_t size, piece;
  tt_device *device;
  tt_event *event;
} both_ways;

static bool both_move(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out) {
  const both_ways *b = ctx;
  size_t lo = (size_t)piece * b->piece, size = b->size - lo < b->piece ? b->size - lo : b->piece;
  *out = (tt_move){.host = (is_down ? b->to : b->from) + lo, .at = b->at + lo, .size = size};
  return i == 0;
}

static tt_code both_at(void *ctx, int64_t piece, tt_pipeline_point point, tt_error *err) {
  const both_ways *b = ctx;
  tt_device *d = b->device;
  (void)piece;
  if (point != TT_FLOW_RUN) return TT_OK;
  TT_TRY(d->ops->event_record(d, b->event, d->up, err));
  return d->ops->stream_wait(d, d->down, b->event, err);
}

static double both(tt_device *d, tt_dmem *m, unsigned char *host, size_t size, size_t piece) {
  both_ways b = {
      .from = (char *)host, .to = (char *)host + size, .at = tt__dmem_at(m), .size = size, .piece = piece, .device = d};
  tt_pipeline f = {.device = d,
                   .up = d->up,
                   .down = d->down,
                   .pieces = (int64_t)((size + piece - 1) / piece),
                   .depth = INT32_MAX,
                   .move = both_move,
                   .at = both_at,
                   .ctx = &b};
  double best = 1e30;
  if (d->ops->event_new(d, false, &b.event, NULL) != TT_OK) return 0;
  for (int i = 0; i < REPEATS; i++) {
    double from = now_us();
    if (tt__staging_pipeline(&f, size, size, NULL) != TT_OK) return 0;
    double us = now_us() - from;
    if (us < best) best = us;
  }
  d->ops->event_free(d, b.event);
  return (double)size / best / 1000;
}

static double arrival[64], started_us;
static atomic_int arrived;

static void arrive(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)ctx, (void)lo, (void)hi, (void)worker;
  arrival[atomic_fetch_add(&arrived, 1)] = now_us() - started_us;
  while (atomic_load(&arrived) < tt__pool_size() && now_us() - started_us < 1e5) continue;
}

/* Every thread takes part in a loop; all of them are awake afterwards. */
static void gather(void) {
  atomic_store(&arrived, 0);
  started_us = now_us();
  tt__pool_run(tt__pool_size(), 1, arrive, NULL);
}

/* The middle of several after a pause: nobody is awake (or all are), and it is another part of the host's memory. */
static double cold(tt_device *d, tt_dmem *m, unsigned char *host, size_t size, int way, bool awake) {
  double took[9];
  for (int i = 0; i < 9; i++) {
    struct timespec nap = {0, 3000000};
    nanosleep(&nap, NULL);
    unsigned char *at = host + (size_t)(i + 1) * size % SPEED_BYTES;
    if (awake) gather();
    double from = now_us();
    if (way == 0) tt__staging_in(d, d->work, tt__dmem_at(m), at, size, NULL);
    if (way == 1) tt__staging_out(d, d->work, at, tt__dmem_at(m), size, NULL);
    d->ops->stream_wait_idle(d, d->work, NULL);
    took[i] = now_us() - from;
    for (int k = i; k > 0 && took[k - 1] > took[k]; k--) {
      double x = took[k];
      took[k] = took[k - 1];
      took[k - 1] = x;
    }
  }
  return (double)size / took[4] / 1000;
}

static void cold_speeds(tt_device *d, tt_dmem *m, unsigned char *host) {
  for (int i = 0; i < 4 && tt__pool_size() <= 64; i++) {
    struct timespec nap = {0, 3000000};
    nanosleep(&nap, NULL);
    gather();
    printf("woken threads arrive after");
    for (int k = 0; k < tt__pool_size(); k++) printf(" %.0f", arrival[k]);
    printf(" us\n");
  }
  for (int awake = 0; awake < 2; awake++)
    for (int turn = 0; turn < 3; turn++) {
      printf("in / out, MiB, %s:", awake ? "all awake" : "after a pause");
      for (size_t n = 1 << 20; n <= 64 << 20; n *= 4)
        printf("  %zu: %.1f / %.1f", n >> 20, cold(d, m, host, n, 0, awake), cold(d, m, host, n, 1, awake));
      printf("\n");
    }
}

static void transfer_speeds(tt_device *d) {
  static const int threads[] = {1, 2, 4, 8, 12, 15, 16};
  unsigned char *host = tt__mem_alloc_data(SPEED_BYTES);
  void *pinned = NULL;
  tt_dmem *m = NULL;
  if (!host || tt__dmem_alloc(d, d->work, SPEED_BYTES, &m, NULL) != TT_OK) return;
  memset(host, 1, SPEED_BYTES);
  printf("1 GiB, GB/s in / out\n  driver, pageable %.1f / %.1f\n", transfer(d, m, host, SPEED_BYTES, 2),
         transfer(d, m, host, SPEED_BYTES, 3));
  if (tt__pinned_alloc(d, SPEED_BYTES, &pinned, NULL) == TT_OK) {
    printf("  driver, pinned %.1f / %.1f\n", transfer(d, m, pinned, SPEED_BYTES, 2),
           transfer(d, m, pinned, SPEED_BYTES, 3));
    for (size_t n = 1 << 20; n <= 64 << 20; n *= 4)
      printf("  driver, pinned, %zu MiB: %.1f / %.1f\n", n >> 20, transfer(d, m, pinned, n, 2),
             transfer(d, m, pinned, n, 3));
    tt__pinned_free(d, pinned, SPEED_BYTES);
  }
  printf("staged, GB/s: in / out, both at once (512 MiB, in pieces of 8 and 32 MiB)\n");
  for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
    if (threads[t] > tt__cpu_count()) continue;
    tt__pool_resize(threads[t]);
    printf("  %2d threads: %.1f / %.1f, %.1f %.1f\n", threads[t], transfer(d, m, host, SPEED_BYTES, 0),
           transfer(d, m, host, SPEED_BYTES, 1), both(d, m, host, SPEED_BYTES / 2, 8 << 20),
           both(d, m, host, SPEED_BYTES / 2, 32 << 20));
  }
  tt__pool_resize(0);
  for (size_t grain = 64 << 10; grain <= 256 << 10; grain *= 2) {
    tt__pipeline_tune(0, 0, grain, 0);
    printf("  grains of %3zu KiB: %.1f / %.1f, %.1f\n", grain >> 10, transfer(d, m, host, SPEED_BYTES, 0),
           transfer(d, m, host, SPEED_BYTES, 1), both(d, m, host, SPEED_BYTES / 2, 8 << 20));
  }
  tt__pipeline_tune(0, 0, 0, 0);
  cold_speeds(d, m, host);
  printf("sizes, KiB: staged in / out | driver in / out, GB/s\n");
  for (size_t n = 64 << 10; n <= (size_t)256 << 20; n *= 2)
    printf("  %8zu: %.2f / %.2f | %.2f / %.2f\n", n >> 10, transfer(d, m, host, n, 0), transfer(d, m, host, n, 1),
           transfer(d, m, host, n, 2), transfer(d, m, host, n, 3));
  tt__dmem_free(d, m);
  tt__mem_free_data(host, SPEED_BYTES);
}

static double us_each(double from, int n) { return (now_us() - from) / n; }

static void call_speeds(tt_device *d) {
  enum { N = 1000, ELEMENTS = 400 };
  tt_error err = {0};
  tt_module *m = load(d, &err);
  tt_routine *f = NULL;
  tt_dmem *block = NULL, *other = NULL;
  tt_event *e = NULL;
  tt_graph *g = NULL;
  if (!m || !ok(d->ops->routine(d, m, "axpy", &f, NULL, &err), &err)) return;
  if (!ok(tt__dmem_alloc(d, d->work, ELEMENTS * 4, &block, &err), &err)) return;
  if (!ok(d->ops->event_new(d, false, &e, &err), &err)) return;
  axpy_args a = {tt__dmem_at(block), 1, ELEMENTS};
  tt_grid grid = {.grid = {4, 1, 1}, .block = {128, 1, 1}};
  for (int turn = 0; turn < 3; turn++) {
    double from = now_us();
    for (int i = 0; i < N; i++) d->ops->launch(d, d->work, f, &grid, &a, sizeof a, NULL);
    double asked = us_each(from, N);
    d->ops->stream_wait_idle(d, d->work, NULL);
    printf("launch %.2f us asked, %.2f us done\n", asked, us_each(from, N));
    from = now_us();
    for (int i = 0; i < N; i++) {
      d->ops->launch(d, d->work, f, &grid, &a, sizeof a, NULL);
      d->ops->stream_wait_idle(d, d->work, NULL);
    }
    printf("launch and wait %.2f us\n", us_each(from, N));
    from = now_us();
    for (int i = 0; i < N; i++) d->ops->event_record(d, e, d->work, NULL);
    printf("record %.2f us\n", us_each(from, N));
    d->ops->stream_wait_idle(d, d->work, NULL);
    from = now_us();
    for (int i = 0; i < N; i++) {
      tt__dmem_alloc(d, d->work, (size_t)(i % 7 + 1) << 16, &other, NULL);
      tt__dmem_free(d, other);
    }
    printf("cached alloc and free %.3f us\n", us_each(from, N));
  }
  d->ops->graphs->begin(d, d->work, NULL);
  for (int i = 0; i < N; i++) d->ops->launch(d, d->work, f, &grid, &a, sizeof a, NULL);
  if (ok(d->ops->graphs->end(d, d->work, &g, &err), &err)) {
    for (int turn = 0; turn < 3; turn++) {
      double from = now_us();
      d->ops->graphs->launch(d, g, d->work, NULL);
      d->ops->stream_wait_idle(d, d->work, NULL);
      printf("a node of a graph %.2f us\n", us_each(from, N));
      from = now_us();
      for (int i = 0; i < N; i++) d->ops->graphs->args(d, g, i, NULL, &a, sizeof a, NULL);
      printf("new arguments of a node %.2f us\n", us_each(from, N));
    }
    d->ops->graphs->free(d, g);
  }
  d->ops->event_free(d, e);
  tt__dmem_free(d, block);
  d->ops->unload(d, m);
}

/* Transfers of some MiB, for each way to cut them: GB/s after a pause, with all threads awake, and in a row. */
TEST(flows) {
  static const size_t way[][3] = {{0, 0, 0},
                                  {64 << 10, 0, 64 << 10},
                                  {128 << 10, 0, 0},
                                  {512 << 10, 0, 0},
                                  {0, 512 << 10, 0},
                                  {0, 1 << 20, 0},
                                  {0, 4 << 20, 0},
                                  {0, 0, 64 << 10},
                                  {0, 0, 256 << 10},
                                  {128 << 10, 512 << 10, 64 << 10},
                                  {128 << 10, 1 << 20, 64 << 10}};
  const char *told = getenv("TUTTI_TEST_SPEED");
  tt_device *d = told && strcmp(told, "flows") == 0 ? device() : NULL;
  unsigned char *host = d ? tt__mem_alloc_data(SPEED_BYTES) : NULL;
  tt_dmem *m = NULL;
  if (!host || tt__dmem_alloc(d, d->work, (size_t)64 << 20, &m, NULL) != TT_OK) return;
  memset(host, 1, SPEED_BYTES);
  for (int threads = tt__cpu_count(); threads >= 4; threads /= 2) {
    tt__pool_resize(threads);
    printf("%d threads; up, GB/s after a pause / awake / in a row; down the same\nfirst chunk grain KiB", threads);
    for (size_t n = 4 << 20; n <= 64 << 20; n *= 4) printf(" | %26zu MiB", n >> 20);
    printf("\n");
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
      tt__pipeline_tune(way[k][1], 0, way[k][2], way[k][0]);
      printf("%5zu %5zu %5zu    ", way[k][0] >> 10, way[k][1] >> 10, way[k][2] >> 10);
      for (size_t n = 4 << 20; n <= 64 << 20; n *= 4) {
        printf(" |");
        for (int down = 0; down < 2; down++)
          printf(" %4.1f %4.1f %4.1f", cold(d, m, host, n, down, false), cold(d, m, host, n, down, true),
                 transfer(d, m, host, n, down));
      }
      printf("\n");
    }
  }
  tt__pipeline_tune(0, 0, 0, 0);
  tt__pool_resize(0);
  tt__dmem_free(d, m);
  tt__mem_free_data(host, SPEED_BYTES);
}

TEST(speeds) {
  const char *told = getenv("TUTTI_TEST_SPEED");
  tt_device *d = told && strcmp(told, "flows") != 0 ? device() : NULL;
  if (!d) return;
  char info[600];
  tt__nvrtc_info(info, sizeof info);
  printf("%s, arch %d, %d units, %s\n", d->label, d->target.arch, d->target.units, info);
  call_speeds(d);
  transfer_speeds(d);
}

/* Last: nothing works on the device afterwards. */
TEST(the_first_cause_of_a_loss_is_kept) {
  tt_device *d = device();
  if (!d) return;
  tt_error err = {0}, later = {0};
  tt_module *m = load(d, &err);
  tt_routine *f = NULL;
  if (!m || !ok(d->ops->routine(d, m, "wild", &f, NULL, &err), &err)) return;
  axpy_args a = {NULL, 1, 0};
  tt_grid g = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
  CHECK(ok(d->ops->launch(d, d->work, f, &g, &a, sizeof a, &err), &err));
  CHECK_INT(d->ops->stream_wait_idle(d, d->work, &err), TT_EDEVICE);
  CHECK(tt__device_lost(d) && strstr(err.message, "lost") && strstr(err.message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
  void *p;
  CHECK_INT(d->ops->alloc(d, 100, &p, &later), TT_EDEVICE);
  CHECK_STR(later.message, err.message);
  d->ops->unload(d, m);
}

TEST_MAIN()
