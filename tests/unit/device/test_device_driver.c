/*
** The CUDA back end over a stand-in for the driver (tests/fake/cuda_driver.c): what it says when the driver is absent,
** old, empty or broken, whose context is current, and that a lost device is left alone. Each test runs in a child,
** because a driver is started once in a process.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <sys/wait.h>

#include "base/fault.h"
#include "base/os/os.h"
#include "device/cache_alloc.h"
#include "device/cuda/cuda.h"
#include "device/cuda/driver.h"
#include "device/device.h"
#include "device/staging.h"

static bool is_there(void) { return access(FAKE_CUDA, R_OK) == 0; }

static void in_child(void (*body)(void)) {
  pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    setenv("TUTTI_CUDA", FAKE_CUDA, 1);
    setenv("TUTTI_OPENCL", "none", 1);
    test_failures = 0;
    body();
    _exit(test_failures != 0);
  }
  int status = 0;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

#define CHILD_TEST(NAME)                    \
  static void child_##NAME(void);           \
  TEST(NAME) {                              \
    if (is_there()) in_child(child_##NAME); \
  }                                         \
  static void child_##NAME(void)

static int ask(const char *name, int argument) {
  void *lib = tt__lib_open(FAKE_CUDA, NULL), *p = lib ? tt__lib_sym(lib, name) : NULL;
  int (*fn)(int) = NULL;
  memcpy(&fn, &p, sizeof p);
  return fn ? fn(argument) : -1;
}

static tt_device *open_first(void) {
  tt_device *d = NULL;
  tt_error err = {0};
  CHECK_INT(tt__device_open(0x100, &d, &err), TT_OK);
  if (!d) fprintf(stderr, "%s\n", err.message);
  return d;
}

CHILD_TEST(switched_off) {
  char why[400] = "";
  setenv("TUTTI_CUDA", "none", 1);
  CHECK_INT(tt__device_count(TT_DEVICE_CUDA, why, sizeof why), 0);
  CHECK_STR(why, "CUDA is switched off (TUTTI_CUDA=none)");
}

CHILD_TEST(no_driver) {
  char why[400] = "";
  setenv("TUTTI_CUDA", "/nowhere/libcuda.so.1", 1);
  CHECK_INT(tt__device_count(TT_DEVICE_CUDA, why, sizeof why), 0);
  CHECK(strstr(why, "no NVIDIA driver") && strstr(why, "/nowhere/libcuda.so.1"));
}

CHILD_TEST(an_old_driver) {
  char why[400] = "";
  setenv("FAKE_CUDA_VERSION", "11080", 1);
  CHECK_INT(tt__device_count(TT_DEVICE_CUDA, why, sizeof why), 0);
  CHECK(strstr(why, "too old: it knows CUDA 11.8, at least 12.0 is needed"));
}

CHILD_TEST(no_device) {
  char why[400] = "";
  setenv("FAKE_CUDA_DEVICES", "0", 1);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  CHECK_INT(tt__device_count(TT_DEVICE_CUDA, why, sizeof why), 0);
  CHECK_STR(why, "no CUDA device is visible (CUDA_VISIBLE_DEVICES: '')");
}

CHILD_TEST(a_driver_that_does_not_start) {
  char why[400] = "";
  setenv("FAKE_CUDA_FAIL", "cuInit:803:0", 1);
  CHECK_INT(tt__device_count(TT_DEVICE_CUDA, why, sizeof why), 0);
  CHECK(strstr(why, "does not start") && strstr(why, "803"));
}

CHILD_TEST(every_symbol_may_be_missing) {
  for (int64_t n = 0; n < 60; n++) {
    pid_t pid = fork();
    if (pid == 0) {
      char why[400] = "";
      tt__fault_arm(TT_FAULT_LOAD, n, false);
      int count = tt__device_count(TT_DEVICE_CUDA, why, sizeof why);
      _exit(!(count == 2 || (count == 0 && (strstr(why, "missing: cu") || strstr(why, "no NVIDIA driver")))));
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
}

CHILD_TEST(names_and_limits) {
  int id = 0;
  tt_error err = {0};
  CHECK_INT(tt__device_named("gpu", &id, &err), TT_OK);
  CHECK_INT(id, 0x100);
  CHECK_INT(tt__device_named("cuda:1", &id, &err), TT_OK);
  CHECK_INT(id, 0x101);
  CHECK_INT(tt__device_named("cuda:3", &id, &err), TT_EDEVICE);
  CHECK_STR(err.message, "no such device 'cuda:3': there are cpu:0, cuda:0, cuda:1");
  tt_device *d = open_first();
  CHECK_STR(d->name, "cuda:0");
  CHECK_STR(d->label, "Fake 0");
  CHECK_STR(d->bus, "0000:00:00.0");
  CHECK_INT(d->target.arch, 90);
  CHECK_INT(d->target.units, 132);
  CHECK_INT(d->target.shared_block, 227 << 10);
  CHECK_INT(d->target.param_bytes, 32764);
  CHECK_INT(ask("fake_retained", 0), 1);
  tt__device_close_all();
  CHECK_INT(ask("fake_retained", 0), 0);
}

CHILD_TEST(a_foreign_context_is_put_back) {
  tt_device *d = open_first();
  const tt_cuda_api *api = tt__cuda_driver(NULL, 0);
  int foreign;
  void *now = NULL, *p = NULL, *q = NULL;
  tt_error err = {0};
  api->context_set(&foreign);
  CHECK_INT(d->ops->alloc(d, 100, &p, &err), TT_OK);
  CHECK_INT(d->ops->fill(d, d->work, p, 1, 100, &err), TT_OK);
  CHECK_INT(d->ops->alloc(d, (size_t)2 << 30, &q, &err), TT_ENOMEM);
  d->ops->free(d, p, 100);
  api->context_get(&now);
  CHECK(now == &foreign);
  CHECK_INT(d->ops->interop->enter(d, &err), TT_OK);
  api->context_get(&now);
  CHECK(now != &foreign);
}

CHILD_TEST(memory_that_is_out_is_no_loss) {
  tt_device *d = open_first();
  tt_error err = {0};
  void *p = NULL;
  CHECK_INT(d->ops->alloc(d, (size_t)2 << 30, &p, &err), TT_ENOMEM);
  CHECK(strstr(err.message, "cuda:0 is out of memory: cannot allocate 2147483648 bytes"));
  CHECK(!p && !tt__device_lost(d));
  CHECK_INT(d->ops->alloc(d, 100, &p, &err), TT_OK);
}

static tt_code launch(tt_device *d, tt_module **m, tt_routine **f, tt_error *err) {
  tt_grid g = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
  int args = 0;
  if (!*m) TT_TRY(d->ops->load(d, "binary", 6, m, err));
  if (!*f) TT_TRY(d->ops->routine(d, *m, "f", f, NULL, err));
  return d->ops->launch(d, d->work, *f, &g, &args, sizeof args, err);
}

/* Nobody waits: now and then an event tells how far the stream has come. */
CHILD_TEST(what_is_done_is_learnt_on_the_way) {
  setenv("FAKE_CUDA_FAIL", "cuLaunchKernel:719:20", 1);
  tt_device *d = open_first();
  tt_error err = {0};
  tt_module *m = NULL;
  tt_routine *f = NULL;
  for (int i = 0; i < 20; i++) CHECK_INT(launch(d, &m, &f, &err), TT_OK);
  CHECK_INT(launch(d, &m, &f, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "not known to be done: 'f', 'f', 'f', 'f' (and 8 more)")); /* 8 of the 20 are done */
}

/* Whoever wants to know waits for a library's work as for a kernel's. */
CHILD_TEST(a_checked_library_is_named) {
  setenv("TUTTI_CHECK", "1", 1);
  setenv("FAKE_CUDA_FAIL", "cuStreamSynchronize:700:0", 1);
  tt_device *d = open_first();
  tt_error err = {0};
  CHECK_INT(d->ops->interop->asked(d, d->work, "cublasLtMatmul", &err), TT_EDEVICE);
  CHECK_STR(err.message, "cuda:0 is lost: cannot run the library's 'cublasLtMatmul': error 700 (CUDA_ERROR_700)");
}

CHILD_TEST(a_final_error_is_kept_and_the_driver_left_alone) {
  setenv("FAKE_CUDA_FAIL", "cuLaunchKernel:719:2", 1);
  tt_device *d = open_first();
  tt_error err = {0}, later = {0};
  tt_module *m = NULL;
  tt_routine *f = NULL;
  tt_dmem *block = NULL, *none = NULL;
  unsigned char host[300000] = {0};
  CHECK_INT(tt__dmem_alloc(d, d->work, 1000000, &block, &err), TT_OK);
  tt__dmem_used_on(d, block, d->down);
  CHECK_INT(tt__staging_in(d, d->work, tt__dmem_at(block), host, sizeof host, &err), TT_OK);
  CHECK_INT(launch(d, &m, &f, &err), TT_OK);
  CHECK_INT(d->ops->interop->asked(d, d->work, "cublasLtMatmul", &err), TT_OK);
  CHECK_INT(launch(d, &m, &f, &err), TT_OK);
  CHECK_INT(launch(d, &m, &f, &err), TT_EDEVICE);
  CHECK_STR(err.message,
            "cuda:0 is lost: cannot launch a kernel: error 719 (CUDA_ERROR_719); not known to be done: 'f', "
            "'cublasLtMatmul', 'f'; TUTTI_CHECK=1 names the kernel");
  CHECK(tt__device_lost(d));
  int before = ask("fake_calls_after_loss", 0);
  void *p = NULL;
  bool done = false;
  CHECK_INT(d->ops->alloc(d, 8, &p, &later), TT_EDEVICE);
  CHECK_STR(later.message, err.message);
  CHECK_INT(tt__dmem_alloc(d, d->work, 8, &none, &later), TT_EDEVICE);
  CHECK_STR(later.message, err.message);
  CHECK_INT(d->ops->stream_wait_idle(d, d->work, &later), TT_EDEVICE);
  CHECK_INT(d->ops->stream_done(d, d->work, &done, &later), TT_EDEVICE);
  CHECK_INT(tt__staging_out(d, d->work, host, tt__dmem_at(block), sizeof host, &later), TT_EDEVICE);
  CHECK_INT(tt__staging_in(d, d->work, tt__dmem_at(block), host, sizeof host, &later), TT_EDEVICE);
  CHECK_STR(later.message, err.message);
  tt__dmem_free(d, block);
  d->ops->unload(d, m);
  tt__device_close_all();
  CHECK_INT(ask("fake_calls_after_loss", 0), before);
}

CHILD_TEST(a_check_names_the_kernel) {
  setenv("TUTTI_CHECK", "1", 1);
  setenv("FAKE_CUDA_FAIL", "cuStreamSynchronize:700:1", 1);
  tt_device *d = open_first();
  tt_error err = {0};
  tt_module *m = NULL;
  tt_routine *f = NULL;
  CHECK_INT(launch(d, &m, &f, &err), TT_OK);
  CHECK_INT(launch(d, &m, &f, &err), TT_EDEVICE);
  CHECK_STR(err.message, "cuda:0 is lost: cannot run the kernel 'f': error 700 (CUDA_ERROR_700)");
}

CHILD_TEST(other_errors_pass) {
  setenv("FAKE_CUDA_FAIL", "cuLaunchKernel:701:0", 1); /* out of resources: this launch only */
  tt_device *d = open_first();
  tt_error err = {0};
  tt_module *m = NULL;
  tt_routine *f = NULL;
  CHECK_INT(launch(d, &m, &f, &err), TT_EDEVICE);
  CHECK(!tt__device_lost(d) && strstr(err.message, "cuda:0: cannot launch a kernel: error 701"));
  int grid = 0, block = 0;
  CHECK(d->ops->occupancy->suggest(d, f, 0, &grid, &block, &err) == TT_OK && grid == 264 && block == 768);
  CHECK_INT(d->ops->routine(d, m, "absent", &f, NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "cannot find the kernel 'absent'"));
}

CHILD_TEST(a_capture_knows_its_launches) {
  tt_device *d = open_first();
  tt_error err = {0};
  tt_module *m = NULL;
  tt_routine *f = NULL;
  tt_graph *g = NULL;
  int args = 1;
  CHECK_INT(launch(d, &m, &f, &err), TT_OK);
  CHECK_INT(d->ops->graphs->begin(d, d->work, &err), TT_OK);
  CHECK_INT(launch(d, &m, &f, &err), TT_OK);
  CHECK_INT(d->ops->graphs->launches(d, d->work), 1);
  CHECK_INT(launch(d, &m, &f, &err), TT_OK);
  CHECK_INT(d->ops->graphs->launches(d, d->work), 2);
  CHECK_INT(d->ops->graphs->end(d, d->work, &g, &err), TT_OK);
  CHECK_INT(d->ops->graphs->launches(d, d->work), 0);
  CHECK_INT(d->ops->graphs->args(d, g, 1, NULL, &args, sizeof args, &err), TT_OK); /* node 1002 */
  CHECK_INT(d->ops->graphs->args(d, g, 0, NULL, &args, sizeof args, &err), TT_EDEVICE);
  CHECK_INT(d->ops->graphs->args(d, g, 2, NULL, &args, sizeof args, &err), TT_EVALUE);
  CHECK_INT(d->ops->graphs->launch(d, g, d->work, &err), TT_OK);
  CHECK_INT(d->ops->graphs->renew(d, d->work, g, &err), TT_EVALUE); /* nothing is captured */
  for (int n = 2; n < 4; n++) {                                     /* as many launches, and more */
    CHECK_INT(d->ops->graphs->begin(d, d->work, &err), TT_OK);
    for (int i = 0; i < n; i++) CHECK_INT(launch(d, &m, &f, &err), TT_OK);
    CHECK_INT(d->ops->graphs->renew(d, d->work, g, &err), TT_OK);
    CHECK_INT(d->ops->graphs->launch(d, g, d->work, &err), TT_OK);
  }
  CHECK_INT(d->ops->graphs->args(d, g, 2, NULL, &args, sizeof args, &err), TT_EDEVICE); /* it has a third one now */
  d->ops->graphs->free(d, g);
  CHECK_INT(d->ops->graphs->end(d, d->work, &g, &err), TT_EVALUE);
}

CHILD_TEST(opening_survives_every_failing_allocation) {
  bool fired = true;
  setenv("TUTTI_NVRTC", "none", 1); /* what goes on in the background allocates too */
  for (int64_t n = 0; fired && n < 100; n++) {
    tt_device *d = NULL;
    tt_error err = {0};
    int64_t live = tt__mem_stats().live;
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code code = tt__device_open(0x101, &d, &err);
    tt__fault_calls(TT_FAULT_MEMORY, &fired);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    if (code == TT_OK) {
      tt__device_close_all();
      continue;
    }
    CHECK_INT(code, TT_ENOMEM);
    CHECK_INT(tt__mem_stats().live, live);
    CHECK_INT(ask("fake_retained", 1), 0);
  }
  tt__device_close_all();
}

CHILD_TEST(a_forked_child_never_calls_the_driver) {
  tt_device *d = open_first();
  pid_t pid = fork();
  if (pid == 0) {
    tt_error err = {0};
    void *p = NULL;
    char why[400] = "";
    test_failures = 0;
    CHECK_INT(d->ops->alloc(d, 100, &p, &err), TT_EDEVICE);
    CHECK_STR(err.message, "cuda:0 cannot be used in a process forked after it was opened: use the spawn start method");
    CHECK_INT(tt__device_count(TT_DEVICE_CUDA, why, sizeof why), 0);
    CHECK(strstr(why, "spawn"));
    tt__device_close_all();
    CHECK_INT(ask("fake_retained", 0), 1);
    _exit(test_failures != 0);
  }
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

TEST_MAIN()
