/*
** What there is on this machine and what of it serves: devices, vendors' libraries, the compiler, the cache.
*/

#include "base/os/find.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "device/cpu/cc.h"
#include "device/cuda/nvml.h"
#include "device/cuda/nvrtc.h"
#include "device/device.h"
#include "lib/product/blas_host.h"
#include "run/cache/cache.h"
#include "run/machine/calibrate.h"
#include "run/report/explain.h"

/* One line for each device of a kind, or for why there is none. Devices are opened: their memory is theirs to tell. */
static void info_devices(tt_str *s, tt_device_kind kind) {
  char why[400];
  tt_error err;
  int n = tt__device_count(kind, why, sizeof why);
  if (n == 0) tt__str_addf(s, "           no %s: %s\n", tt__device_kinds[kind], why);
  if (n > 0 && why[0]) tt__str_addf(s, "           %s\n", why);
  for (int k = 0; k < n; k++) {
    tt_device *d;
    int64_t left = 0, total = 0;
    tt_code code = tt__device_open(tt__device_id(kind, k), &d, &err);
    if (code == TT_OK) code = d->ops->mem_info(d, &left, &total, &err);
    if (code != TT_OK) {
      tt__str_addf(s, "           %s:%d  unusable: %s\n", tt__device_kinds[kind], k, err.message);
      continue;
    }
    tt__str_addf(s, "           %s  %s, %d multiprocessors, %.1f of %.1f GB free", d->name, d->label, d->target.units,
                 (double)left / 1e9, (double)total / 1e9);
    if (d->target.arch) tt__str_addf(s, ", compute capability %d.%d", d->target.arch / 10, d->target.arch % 10);
    tt__str_add(s, "\n");
  }
}

static void info_library(tt_str *s, const char *stem, const char *what) {
  char path[600]; /* or why there is none */
  tt__find_library(stem, NULL, NULL, path, sizeof path);
  tt__str_addf(s, "           %s: %s\n", what, path);
}

static void info_cuda(tt_str *s) {
  char text[600];
  tt__nvrtc_info(text, sizeof text);
  const char *driver = tt__nvml_driver();
  tt__str_addf(s, "cuda       driver %s, compiler %s\n", driver[0] ? driver : "none", text);
  if (tt__device_count(TT_DEVICE_CUDA, NULL, 0) == 0) return; /* without a GPU nobody wants the rest */
  info_library(s, "libcublasLt.so", "products");
  info_library(s, "libcusolver.so", "linear systems");
  info_library(s, "libcufft.so", "Fourier transforms");
  info_library(s, "libcudnn.so", "convolution and attention");
}

char *tt__info(const char *version) {
  tt_str s = {0};
  tt__calibrate();
  const tt_host_rates *c = &tt__machine()->host;
  tt_cc_info cc = tt__cc_info();
  tt_cache_info cache = tt__cache_info();
  tt__str_addf(&s, "tutti %s\n", version);
  tt__str_addf(&s, "devices    cpu:0  %s, level %d, %d thread%s, %.1f GB\n", tt__cpu_name(), tt__cpu_level(),
               tt__pool_size(), tt__pool_size() == 1 ? "" : "s", (double)tt__ram_bytes() / 1e9);
  tt__str_addf(&s, "           memory %.1f GB/s, launch %.2f us\n", c->bytes_per_ns, c->launch_ns / 1e3);
  info_devices(&s, TT_DEVICE_CUDA);
  info_devices(&s, TT_DEVICE_OPENCL);
  if (tt__device_count(TT_DEVICE_NULL, NULL, 0) > 0) info_devices(&s, TT_DEVICE_NULL);
  info_cuda(&s);
  char blas[256];
  tt__blas_info(blas, sizeof blas);
  tt__str_addf(&s, "blas       %s\n", blas);
  if (cc.usable)
    tt__str_addf(&s, "compiler   %s, in the background\n", cc.path);
  else
    tt__str_addf(&s, "compiler   %s; kernels stay interpreted\n", cc.why);
  if (cache.usable)
    tt__str_addf(&s, "cache      %s, %.1f of %.0f MB\n", cache.path, (double)cache.bytes / 1e6,
                 (double)cache.limit / 1e6);
  else
    tt__str_addf(&s, "cache      none (%s)\n", cache.why);
  char *out = s.failed ? NULL : tt__mem_dup(s.data, s.len + 1);
  tt__str_free(&s);
  return out;
}
