/*
** NVRTC for tests: found where the loader, a CUDA toolkit or a Python wheel keeps it, by pattern. Needs no GPU.
** Include "test.h" first.
*/
#ifndef NVRTC_H
#define NVRTC_H

#include <dlfcn.h>
#include <glob.h>
#include <time.h>

#include "base/str.h"

typedef struct nvrtc_api {
  int (*create)(void **p, const char *text, const char *name, int n, const char *const *headers, const char *const *as);
  int (*compile)(void *p, int n, const char *const *options);
  int (*log_size)(void *p, size_t *size);
  int (*log)(void *p, char *out);
  int (*cubin_size)(void *p, size_t *size);
  int (*cubin)(void *p, char *out);
  int (*destroy)(void **p);
  int (*archs)(int *n);
  int (*arch_list)(int *list);
  int (*version)(int *major, int *minor);
} nvrtc_api;

static inline void *nvrtc_open(void) {
  static const char *const pattern[] = {"libnvrtc.so",
                                        "libnvrtc.so.13",
                                        "libnvrtc.so.12",
                                        "/usr/local/cuda*/lib64/libnvrtc.so.*",
                                        "/opt/cuda*/lib64/libnvrtc.so.*",
                                        "*/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*",
                                        ".venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*",
                                        "../.venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*",
                                        "/usr/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*"};
  void *lib = NULL;
  for (size_t i = 0; !lib && i < sizeof pattern / sizeof *pattern; i++) {
    char text[512];
    const char *env = getenv("VIRTUAL_ENV");
    snprintf(text, sizeof text, "%s%s", pattern[i][0] == '*' && env ? env : "",
             pattern[i][0] == '*' && env ? pattern[i] + 1 : pattern[i]);
    if (!strchr(text, '/')) {
      lib = dlopen(text, RTLD_NOW | RTLD_LOCAL);
      continue;
    }
    glob_t g;
    if (glob(text, 0, NULL, &g) == 0)
      for (size_t n = g.gl_pathc; !lib && n > 0; n--)
        if (!strstr(g.gl_pathv[n - 1], ".alt.")) lib = dlopen(g.gl_pathv[n - 1], RTLD_NOW | RTLD_LOCAL);
    globfree(&g);
  }
  return lib;
}

static inline bool nvrtc_find(nvrtc_api *api) {
  static const char *const name[] = {"nvrtcCreateProgram",  "nvrtcCompileProgram",       "nvrtcGetProgramLogSize",
                                     "nvrtcGetProgramLog",  "nvrtcGetCUBINSize",         "nvrtcGetCUBIN",
                                     "nvrtcDestroyProgram", "nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs",
                                     "nvrtcVersion"};
  void *lib = nvrtc_open(), **to = (void **)api;
  for (size_t i = 0; lib && i < sizeof name / sizeof *name; i++)
    if (!(to[i] = dlsym(lib, name[i]))) return false;
  return lib != NULL;
}

/* Does it compile for that chip? The log is printed when not; `ms` is the time, `code` (or NULL) gets what comes
 * out. */
static inline bool nvrtc_compile(const nvrtc_api *api, const char *text, int arch, double *ms, tt_str *code) {
  void *p = NULL;
  char target[40];
  snprintf(target, sizeof target, "--gpu-architecture=sm_%d", arch);
  const char *options[] = {target, "--fmad=false", "--std=c++17", "-default-device", "-w", "--Ofast-compile=min"};
  int major = 0, minor, count = 5;
  if (!code && api->version(&major, &minor) == 0 && major >= 13) count = 6; /* half the time, where nobody runs it */
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  int rc = api->create(&p, text, "tutti.cu", 0, NULL, NULL);
  if (rc == 0) rc = api->compile(p, count, options);
  clock_gettime(CLOCK_MONOTONIC, &to);
  *ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
  size_t size = 0;
  if (rc != 0 && p && api->log_size(p, &size) == 0 && size < 1 << 20) {
    char *log = malloc(size + 1);
    api->log(p, log);
    fprintf(stderr, "%.2000s\n", log);
    free(log);
  }
  if (rc == 0 && code && api->cubin_size(p, &size) == 0) {
    char *cubin = malloc(size);
    api->cubin(p, cubin);
    tt__str_add_n(code, cubin, size);
    free(cubin);
  }
  if (p) api->destroy(&p);
  return rc == 0;
}

#endif
