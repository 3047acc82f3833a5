/*
** The CUDA driver for tests: the few functions that running a kernel takes, found at run time.
** Include "test.h" first.
*/
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <dlfcn.h>

typedef unsigned long long cuda_ptr;

static struct {
  int (*init)(unsigned flags);
  int (*device)(int *d, int n);
  int (*attribute)(int *value, int what, int d);
  int (*retain)(void **context, int d);
  int (*current)(void *context);
  int (*load)(void **module, const void *image);
  int (*unload)(void *module);
  int (*function)(void **f, void *module, const char *name);
  int (*set)(void *f, int what, int value);
  int (*get)(int *value, int what, void *f);
  int (*alloc)(cuda_ptr *p, size_t size);
  int (*free)(cuda_ptr p);
  int (*in)(cuda_ptr to, const void *from, size_t size);
  int (*out)(void *to, cuda_ptr from, size_t size);
  int (*fill)(cuda_ptr p, unsigned char byte, size_t n);
  int (*launch)(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                void *stream, void **params, void **extra);
  int (*wait)(void);
  int (*event)(void **e, unsigned flags);
  int (*record)(void *e, void *stream);
  int (*event_wait)(void *e);
  int (*elapsed)(float *ms, void *from, void *to);
} cuda;

/* False when there is no driver or no device. */
static inline bool cuda_open(void) {
  static const char *const name[] = {"cuInit",
                                     "cuDeviceGet",
                                     "cuDeviceGetAttribute",
                                     "cuDevicePrimaryCtxRetain",
                                     "cuCtxSetCurrent",
                                     "cuModuleLoadData",
                                     "cuModuleUnload",
                                     "cuModuleGetFunction",
                                     "cuFuncSetAttribute",
                                     "cuFuncGetAttribute",
                                     "cuMemAlloc_v2",
                                     "cuMemFree_v2",
                                     "cuMemcpyHtoD_v2",
                                     "cuMemcpyDtoH_v2",
                                     "cuMemsetD8_v2",
                                     "cuLaunchKernel",
                                     "cuCtxSynchronize",
                                     "cuEventCreate",
                                     "cuEventRecord",
                                     "cuEventSynchronize",
                                     "cuEventElapsedTime"};
  void *lib = dlopen("libcuda.so.1", RTLD_NOW), **to = (void **)&cuda, *context;
  int d;
  for (size_t i = 0; lib && i < sizeof name / sizeof *name; i++)
    if (!(to[i] = dlsym(lib, name[i]))) return false;
  return lib && cuda.init(0) == 0 && cuda.device(&d, 0) == 0 && cuda.retain(&context, d) == 0 &&
         cuda.current(context) == 0;
}

static inline int cuda_attribute(int what) {
  int d, value = 0;
  cuda.device(&d, 0);
  cuda.attribute(&value, what, d);
  return value;
}

static inline int cuda_arch(void) { return cuda_attribute(75) * 10 + cuda_attribute(76); }

#endif
