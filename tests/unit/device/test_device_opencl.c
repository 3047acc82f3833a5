/*
** The OpenCL back end, where a loader and a device are (PoCL makes one of any CPU). Without either, what it says is
** checked.
*/
#define TEST_KEEPS_MEMORY /* devices stay open */
#include "test.h"

#include <sys/wait.h>

#include "base/fault.h"
#include "device/cache_alloc.h"
#include "device/device.h"
#include "device/opencl/opencl.h"
#include "device/opencl/opencl_int.h"

static const char *const source =
    "typedef struct { ulong x; ulong y; float a; int n; } args;\n"
    "__kernel void axpy(const args g, __global uchar *mx, __global uchar *my, __local float *room) {\n"
    "  __global float *x = (__global float *)(mx + g.x), *y = (__global float *)(my + g.y);\n"
    "  int i = (int)get_global_id(0), t = (int)get_local_id(0);\n"
    "  room[t] = i < g.n ? g.a * x[i] : 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (i < g.n) y[i] += room[t];\n"
    "}\n";

typedef struct axpy_args {
  float *x, *y;
  float a;
  int n;
} axpy_args;

static tt_device *cl_device(void) {
  tt_device *d = NULL;
  tt_error err = {0};
  if (tt__device_count(TT_DEVICE_OPENCL, NULL, 0) == 0) return NULL;
  CHECK_INT(tt__device_open(tt__device_id(TT_DEVICE_OPENCL, 0), &d, &err), TT_OK);
  if (!d) fprintf(stderr, "%s\n", err.message);
  return d;
}

static bool ok(tt_code code, const tt_error *err) {
  if (code != TT_OK) fprintf(stderr, "%s: %s\n", tt_code_name(code), err->message);
  return code == TT_OK;
}

/* NVIDIA's driver counts lines from the top of the whole text, whatever #line says. */
TEST(lines_of_a_log_are_the_users) {
  static const char text[] =
      "int before;\n#line 7 \"user.cl\"\nint x = y;\n\n#line 90\nint z;\n#line 1 \"tutti\"\nint q;\n";
  static const struct {
    const char *log, *want;
  } row[] = {
      {"<kernel>:3:9: error: use of undeclared identifier 'y'\n",
       "user.cl:7:9: error: use of undeclared identifier 'y'\n"},
      {"<kernel>:1:1: a\n<kernel>:6:2: b", "<kernel>:1:1: a\nuser.cl:90:2: b"},
      {"x <kernel>:8: c <kernel>:99", "x tutti:1: c tutti:92"},
      {"<kernel>:", "<kernel>:"},
      {"user.cl:3:9: error", "user.cl:3:9: error"},
      {"", ""},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    tt_str out = {0};
    tt__cl_log(row[k].log, text, &out);
    CHECK_STR(out.data ? out.data : "", row[k].want);
    tt__str_free(&out);
  }
}

/* In children, because what is found once is kept. `words`: in the line that says why there is none. */
static bool is_told(const char *library, const char *words) {
  pid_t pid = fork();
  if (pid == 0) {
    char why[400] = "";
    tt_error err = {0};
    int id = -1;
    setenv("TUTTI_OPENCL", library, 1);
    bool good = tt__device_count(TT_DEVICE_OPENCL, why, sizeof why) == 0 && strstr(why, words);
    good = good && tt__device_named("opencl:0", &id, &err) == TT_EDEVICE && strstr(err.message, words);
    if (!good) fprintf(stderr, "%s: '%s', '%s'\n", library, why, err.message);
    _exit(!good);
  }
  int status = 0;
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

TEST(absence_is_a_line_of_text) {
  CHECK(is_told("none", "switched off (TUTTI_OPENCL=none)"));
  CHECK(is_told("/nowhere/libOpenCL.so", "no OpenCL loader (cannot load /nowhere/libOpenCL.so"));
  CHECK(is_told("libc.so.6", "too old: it has no cl"));
}

TEST(memory_copies_and_fills_between_addresses) {
  tt_device *d = cl_device();
  if (!d) return;
  enum { N = 1 << 20, AT = 4096 };
  tt_error err = {0};
  void *p = NULL, *q = NULL, *pinned = NULL;
  CHECK(ok(d->ops->alloc(d, N, &p, &err), &err));
  CHECK(ok(d->ops->alloc(d, N + AT, &q, &err), &err));
  CHECK(ok(d->ops->host_alloc(d, N, &pinned, &err), &err));
  if (!p || !q || !pinned) return;
  CHECK_INT(d->ops->owner((char *)p + N - 1), 0);
  CHECK_INT(d->ops->owner(&err), -1);
  CHECK(d->ops->is_pinned(d, (char *)pinned + 1, N - 1) && !d->ops->is_pinned(d, pinned, N + 1));
  CHECK(!d->ops->is_pinned(d, p, 1));
  unsigned char *host = pinned;
  for (int i = 0; i < N; i++) host[i] = (unsigned char)(i * 7);
  CHECK(ok(d->ops->copy_in(d, d->work, p, host, N, &err), &err));
  CHECK(ok(d->ops->fill(d, d->work, (char *)p + 10, 0x5a, 100, &err), &err));
  CHECK(ok(d->ops->copy_within(d, d->work, (char *)q + AT, p, N, &err), &err));
  static unsigned char back[N];
  CHECK(ok(d->ops->copy_out(d, d->work, back, (char *)q + AT, N, &err), &err));
  CHECK(ok(d->ops->stream_wait_idle(d, d->work, &err), &err));
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += back[i] != (i >= 10 && i < 110 ? 0x5a : (unsigned char)(i * 7));
  CHECK_INT(wrong, 0);
  CHECK_INT(d->ops->copy_in(d, d->work, back, host, 8, &err), TT_EVALUE);
  CHECK(strstr(err.message, "is not its memory"));
  int64_t left = 0, total = 0;
  CHECK(ok(d->ops->mem_info(d, &left, &total, &err), &err));
  CHECK(left > 0 && left <= total && total == d->target.memory_bytes);
  void *huge;
  CHECK_INT(d->ops->alloc(d, (size_t)1 << 50, &huge, &err), TT_ENOMEM);
  CHECK(strstr(err.message, "out of memory") && !tt__device_lost(d));
  d->ops->free(d, q, N + AT);
  d->ops->free(d, p, N);
  d->ops->host_free(d, pinned, N);
  CHECK_INT(d->ops->owner(p), -1);
}

TEST(kernels_find_memory_by_the_addresses_that_stand_first) {
  tt_device *d = cl_device();
  if (!d) return;
  enum { N = 1000, BLOCK = 64 };
  tt_error err = {0};
  tt_str binary = {0};
  tt_module *m = NULL;
  tt_routine *f = NULL;
  tt_routine_info info = {0};
  tt_dmem *block = NULL;
  float x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
  CHECK(ok(d->ops->compile(d, source, "", &binary, &err), &err));
  CHECK(ok(d->ops->load(d, binary.data, binary.len, &m, &err), &err));
  CHECK_INT(d->ops->routine(d, m, "nobody", &f, NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "find the kernel 'nobody'"));
  CHECK(ok(d->ops->routine(d, m, "axpy", &f, &info, &err), &err));
  CHECK(info.block_threads >= BLOCK);
  CHECK(ok(tt__dmem_alloc(d, d->work, 2 * sizeof x, &block, &err), &err));
  if (!block || !f) return;
  char *at = tt__dmem_at(block);
  CHECK(ok(d->ops->copy_in(d, d->work, at, x, sizeof x, &err), &err));
  CHECK(ok(d->ops->copy_in(d, d->work, at + sizeof x, y, sizeof y, &err), &err));
  tt_grid g = {.grid = {(N + BLOCK - 1) / BLOCK, 1, 1}, .block = {BLOCK, 1, 1}, .shared = 4 * BLOCK, .pointers = 2};
  axpy_args args = {(float *)at, (float *)(at + sizeof x), 3, N};
  CHECK(ok(d->ops->launch(d, d->work, f, &g, &args, sizeof args, &err), &err));
  CHECK(ok(d->ops->copy_out(d, d->work, y, at + sizeof x, sizeof y, &err), &err));
  CHECK(ok(d->ops->stream_wait_idle(d, d->work, &err), &err));
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += y[i] != 3 * (float)i + 1;
  CHECK_INT(wrong, 0);
  args.x = x; /* of the host */
  CHECK_INT(d->ops->launch(d, d->work, f, &g, &args, sizeof args, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "launch 'axpy': invalid kernel arguments") && !tt__device_lost(d));
  g.pointers = 5;
  CHECK_INT(d->ops->launch(d, d->work, f, &g, &args, sizeof args, &err), TT_EDEVICE);
  tt__dmem_free(d, block);
  d->ops->unload(d, m);
  tt__str_free(&binary);
}

TEST(compiler_errors_name_the_line) {
  tt_device *d = cl_device();
  if (!d) return;
  tt_str binary = {0};
  tt_error err = {0};
  CHECK_INT(d->ops->compile(d, "__kernel void f() {\n  no_such_thing = 1;\n}\n", "", &binary, &err), TT_ECOMPILE);
  CHECK(strstr(err.message, ":2:") && strstr(err.message, "no_such_thing"));
  CHECK_INT(binary.len, 0);
  tt__str_free(&binary);
}

TEST(streams_wait_for_events) {
  tt_device *d = cl_device();
  if (!d) return;
  enum { N = 1 << 22 };
  tt_error err = {0};
  tt_stream *other = NULL;
  tt_event *from = NULL, *to = NULL;
  tt_dmem *block = NULL;
  bool done = false;
  double ms = -1;
  unsigned char last = 0;
  CHECK(ok(d->ops->stream_new(d, 0, &other, &err), &err));
  CHECK(ok(d->ops->event_new(d, true, &from, &err), &err));
  CHECK(ok(d->ops->event_new(d, true, &to, &err), &err));
  CHECK(ok(tt__dmem_alloc(d, d->work, N, &block, &err), &err));
  if (!block || !from || !to || !other) return;
  char *at = tt__dmem_at(block);
  CHECK(ok(d->ops->event_done(d, to, &done, &err), &err));
  CHECK(done); /* nothing was recorded */
  CHECK_INT(d->ops->event_ms(d, from, to, &ms, &err), TT_EVALUE);
  CHECK(ok(d->ops->event_record(d, from, d->work, &err), &err));
  for (int i = 1; i <= 5; i++) CHECK(ok(d->ops->fill(d, d->work, at, (uint8_t)i, N, &err), &err));
  CHECK(ok(d->ops->event_record(d, to, d->work, &err), &err));
  CHECK(ok(d->ops->stream_wait(d, other, to, &err), &err));
  CHECK(ok(d->ops->copy_out(d, other, &last, at + N - 1, 1, &err), &err));
  CHECK_INT(last, 5);
  CHECK(ok(d->ops->event_wait(d, to, &err), &err));
  CHECK(ok(d->ops->event_ms(d, from, to, &ms, &err), &err));
  CHECK(ms >= 0 && ms < 60e3);
  for (int i = 0; i < 100000 && !(ok(d->ops->stream_done(d, d->work, &done, &err), &err) && done); i++) usleep(100);
  CHECK(done);
  CHECK(ok(d->ops->wait_all(d, &err), &err));
  tt__dmem_free(d, block);
  d->ops->event_free(d, from);
  d->ops->event_free(d, to);
  d->ops->stream_free(d, other);
}

TEST(what_is_told_to_fail_fails) {
  tt_device *d = cl_device();
  if (!d) return;
  tt_error err = {0};
  void *p = NULL;
  tt__fault_arm(TT_FAULT_DEVICE_MEMORY, 0, false);
  CHECK_INT(d->ops->alloc(d, 64, &p, &err), TT_ENOMEM);
  tt__fault_arm(TT_FAULT_DEVICE_MEMORY, -1, false);
  CHECK(!p && !tt__device_lost(d));
}

TEST_MAIN()
