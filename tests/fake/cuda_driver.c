/*
** A stand-in for NVIDIA's driver, to test the CUDA back end where there is none: it remembers contexts and memory,
** does copies at once and launches nothing. Told by the environment:
**   FAKE_CUDA_VERSION   12040
**   FAKE_CUDA_DEVICES   how many, 2
**   FAKE_CUDA_FAIL      "cuLaunchKernel:719:2": the third call of it gives 719; contexts then stay broken
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
typedef unsigned long long pointer;

static _Thread_local void *current;
static int sticky, contexts[8], retained[8], launches, together, calls_after_loss;
enum { RANGES = 256 };
static struct range {
  pointer at;
  size_t size; /* 0: free */
  int device;
} ranges[RANGES];         /* device memory */
static uint64_t captured; /* number of the capture under way */
static int nodes;

/* What the named call gives: 0, or what it was told to. */
static int answer(const char *name) {
  const char *text = getenv("FAKE_CUDA_FAIL");
  static int seen;
  if (sticky) {
    calls_after_loss++;
    return sticky;
  }
  size_t n = strlen(name);
  if (!text || strncmp(text, name, n) != 0 || text[n] != ':') return 0;
  char *end;
  int code = (int)strtol(text + n + 1, &end, 10);
  if (seen++ != atoi(end + 1)) return 0;
  if (code >= 700) sticky = code;
  return code;
}

/* Most calls want a context. */
#define IN_CONTEXT               \
  do {                           \
    int told = answer(__func__); \
    if (told) return told;       \
    if (!current) return 201;    \
  } while (0)

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

EXPORT int fake_launches(void) { return launches; }
EXPORT int fake_retained(int device) { return retained[device]; }
EXPORT int fake_calls_after_loss(void) { return calls_after_loss; }

EXPORT int cuInit(unsigned flags) { return (int)flags + answer("cuInit"); }
EXPORT int cuDriverGetVersion(int *version) { return *version = number("FAKE_CUDA_VERSION", 12040), 0; }
EXPORT int cuGetErrorName(int code, const char **out) {
  static char name[32];
  snprintf(name, sizeof name, "CUDA_ERROR_%d", code);
  return *out = name, 0;
}
EXPORT int cuGetErrorString(int code, const char **out) {
  static char text[32];
  snprintf(text, sizeof text, "error %d", code);
  return *out = text, 0;
}
EXPORT int cuDeviceGetCount(int *n) { return *n = number("FAKE_CUDA_DEVICES", 2), 0; }
EXPORT int cuDeviceGet(int *device, int index) { return *device = index, 0; }
EXPORT int cuDeviceGetName(char *out, int size, int device) {
  return snprintf(out, (size_t)size, "Fake %d", device), 0;
}
/* Those that we ask for, as an H200 answers, or nearly: kernels are then what they would be there. */
EXPORT int cuDeviceGetAttribute(int *out, int attribute, int device) {
  static const int known[][2] = {{1, 1024},  {2, 1024},     {3, 1024},       {4, 64},   {5, INT32_MAX}, {6, 65535},
                                 {7, 65535}, {8, 48 << 10}, {10, 32},        {16, 132}, {38, 50 << 20}, {39, 2048},
                                 {75, 9},    {76, 0},       {81, 228 << 10}, {83, 1},   {97, 227 << 10}};
  (void)device;
  *out = 0;
  if (attribute == 87) return *out = number("FAKE_CUDA_DOUBLE", 2), 0;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k][0] == attribute) *out = known[k][1];
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) { return *bytes = (size_t)1 << 30, device < 0; }
EXPORT int cuDeviceGetPCIBusId(char *out, int size, int device) {
  return snprintf(out, (size_t)size, "0000:%02x:00.0", device), 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  retained[device]++;
  return *context = &contexts[device], answer("cuDevicePrimaryCtxRetain");
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) { return retained[device]--, 0; }
EXPORT int cuCtxSetCurrent(void *context) { return current = context, 0; }
EXPORT int cuCtxGetCurrent(void **context) { return *context = current, 0; }
EXPORT int cuCtxSynchronize(void) {
  IN_CONTEXT;
  return 0;
}
EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer) { return *can = device != peer, 0; }
EXPORT int cuCtxEnablePeerAccess(void *context, unsigned flags) { return context ? (int)flags : 1; }

EXPORT int cuMemGetInfo_v2(size_t *left, size_t *total) { return *total = (size_t)1 << 30, *left = 1 << 20, 0; }
EXPORT int cuMemAlloc_v2(pointer *out, size_t size) {
  IN_CONTEXT;
  if (size > (size_t)1 << 30) return 2;
  enum { ALIGNED = 512 }; /* as a driver's memory is, which kernels are made for */
  void *memory = aligned_alloc(ALIGNED, (size + ALIGNED - 1) / ALIGNED * ALIGNED);
  if (!memory) return 2;
  memset(memory, 0, size);
  *out = (pointer)(uintptr_t)memory;
  for (int k = 0; k < RANGES; k++) {
    if (ranges[k].size) continue;
    ranges[k] = (struct range){*out, size, (int)((int *)current - contexts)};
    break;
  }
  return 0;
}
EXPORT int cuMemFree_v2(pointer p) {
  IN_CONTEXT;
  for (int k = 0; k < RANGES; k++) {
    if (ranges[k].at == p) ranges[k].size = 0;
  }
  free((void *)(uintptr_t)p);
  return 0;
}
static int managed[8]; /* pieces that were taken, by the flags that they were attached with last */
EXPORT int cuMemAllocManaged(pointer *out, size_t size, unsigned flags) {
  int result = flags == 1 || flags == 2 ? cuMemAlloc_v2(out, size) : 1;
  if (result == 0) managed[flags]++;
  return result;
}
EXPORT int cuStreamAttachMemAsync(void *stream, pointer p, size_t size, unsigned flags) {
  IN_CONTEXT;
  for (int k = 0; k < RANGES; k++)
    if (ranges[k].size && ranges[k].at == p) return managed[flags & 7]++, !stream || size != 0;
  return 1;
}
EXPORT int fake_managed(int flags) { return managed[flags & 7]; }
EXPORT int cuPointerGetAttribute(void *out, int attribute, pointer p) {
  enum { KIND = 2, DEVICE_MEMORY = 2 };
  for (int k = 0; k < RANGES; k++) {
    if (p < ranges[k].at || p - ranges[k].at >= ranges[k].size) continue;
    return *(int *)out = attribute == KIND ? DEVICE_MEMORY : ranges[k].device, 0;
  }
  return 1; /* ordinary memory */
}
EXPORT int cuMemHostAlloc(void **out, size_t size, unsigned flags) {
  IN_CONTEXT;
  return *out = malloc(size), flags != 1;
}
EXPORT int cuMemFreeHost(void *p) {
  IN_CONTEXT;
  free(p);
  return 0;
}
EXPORT int cuMemsetD8Async(pointer p, unsigned char byte, size_t size, void *stream) {
  IN_CONTEXT;
  memset((void *)(uintptr_t)p, byte, size);
  return !stream;
}
static size_t copied; /* to the device */
EXPORT size_t fake_copied(void) { return copied; }
EXPORT int cuMemcpyHtoDAsync_v2(pointer to, const void *from, size_t size, void *stream) {
  IN_CONTEXT;
  copied += size;
  memcpy((void *)(uintptr_t)to, from, size);
  return !stream;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, pointer from, size_t size, void *stream) {
  IN_CONTEXT;
  memcpy(to, (void *)(uintptr_t)from, size);
  return !stream;
}
EXPORT int cuMemcpyDtoDAsync_v2(pointer to, pointer from, size_t size, void *stream) {
  IN_CONTEXT;
  memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, size);
  return !stream;
}
EXPORT int cuMemcpyPeerAsync(pointer to, void *tc, pointer from, void *fc, size_t size, void *stream) {
  if (tc != current || !fc) return 201;
  return cuMemcpyDtoDAsync_v2(to, from, size, stream);
}

EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
  IN_CONTEXT;
  (void)n, (void)options, (void)values;
  return *module = (void *)(uintptr_t)image, 0;
}
EXPORT int cuModuleUnload(void *module) { return !module; }
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
  IN_CONTEXT;
  if (strcmp(name, "absent") == 0) return 500;
  return *function = module, 0;
}
EXPORT int cuModuleGetGlobal_v2(pointer *out, size_t *size, void *module, const char *name) {
  static int zeros[64];
  IN_CONTEXT;
  *out = (pointer)(uintptr_t)zeros;
  return *size = sizeof zeros, !module || !name;
}
EXPORT int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function, size_t (*shared_of)(int),
                                            size_t shared, int limit) {
  *grid = 264;
  *block = shared_of || shared || limit ? 128 : 768;
  return !function;
}
EXPORT int cuFuncGetAttribute(int *out, int attribute, void *function) { return *out = attribute + 10, !function; }
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  return !function || attribute != 8 || value <= 0;
}
static pointer argument; /* the first of the last launch */
EXPORT pointer fake_argument(void) { return argument; }
EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra) {
  IN_CONTEXT;
  (void)shared;
  launches++;
  if (captured) nodes++;
  if (extra && *(const size_t *)extra[3] >= sizeof argument) argument = *(const pointer *)extra[1];
  return !function || !stream || params || !extra || !gx || !gy || !gz || !bx || !by || !bz;
}

/* As the driver's own struct. */
struct launch {
  unsigned grid[3], block[3], shared;
  void *stream;
  const struct attribute { int id, unused, cooperative; } * attribute;
  unsigned n;
};
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
  IN_CONTEXT;
  return *blocks = 2048 / threads, !function || shared > 227 << 10;
}
EXPORT int cuLaunchKernelEx(const struct launch *l, void *function, void **params, void **extra) {
  IN_CONTEXT;
  unsigned threads = l->block[0] * l->block[1] * l->block[2], blocks = l->grid[0] * l->grid[1] * l->grid[2];
  if (l->n != 1 || l->attribute->id != 2 || l->attribute->cooperative != 1) return 1;
  if (blocks > 132 * (2048 / threads)) return 720;
  together++;
  return !function || !l->stream || params || !extra;
}
EXPORT int fake_together(void) { return together; }

EXPORT int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  IN_CONTEXT;
  (void)priority;
  return *stream = malloc(1), flags != 1;
}
EXPORT int cuStreamDestroy_v2(void *stream) {
  IN_CONTEXT;
  free(stream);
  return 0;
}
EXPORT int cuStreamSynchronize(void *stream) {
  IN_CONTEXT;
  return !stream;
}
EXPORT int cuStreamQuery(void *stream) {
  IN_CONTEXT;
  return stream ? 600 : 1;
}
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  IN_CONTEXT;
  return !stream || !event || flags;
}
EXPORT int cuEventCreate(void **event, unsigned flags) {
  IN_CONTEXT;
  return *event = malloc(1), flags & ~2u ? 1 : 0;
}
EXPORT int cuEventDestroy_v2(void *event) {
  IN_CONTEXT;
  free(event);
  return 0;
}
EXPORT int cuEventRecord(void *event, void *stream) {
  IN_CONTEXT;
  return !event || !stream;
}
EXPORT int cuEventQuery(void *event) {
  IN_CONTEXT;
  return !event;
}
EXPORT int cuEventSynchronize(void *event) {
  IN_CONTEXT;
  return !event;
}
EXPORT int cuEventElapsedTime(float *ms, void *from, void *to) { return *ms = 1.5f, !from || !to; }

EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
  IN_CONTEXT;
  nodes = 0;
  captured = 77;
  return !stream || mode != 2;
}
EXPORT int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph, void *const **last,
                                     size_t *n) {
  static void *node;
  node = (void *)(uintptr_t)(1000 + nodes);
  *status = captured != 0;
  if (id) *id = captured;
  if (graph) *graph = NULL;
  if (last) *last = &node;
  if (n) *n = 1;
  return !stream;
}
EXPORT int cuStreamEndCapture(void *stream, void **graph) {
  IN_CONTEXT;
  captured = 0;
  return *graph = malloc(1), !stream;
}
EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  IN_CONTEXT;
  return *exec = malloc(1), !graph || flags;
}
EXPORT int cuGraphExecUpdate_v2(void *exec, void *graph, void *info) {
  IN_CONTEXT;
  return !exec || !graph || !info;
}
EXPORT int cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const void *params) {
  IN_CONTEXT;
  return exec && (uintptr_t)node == 1002 && params ? 0 : 1; /* the second of a capture */
}
EXPORT int cuGraphLaunch(void *exec, void *stream) {
  IN_CONTEXT;
  return !exec || !stream;
}
EXPORT int cuGraphExecDestroy(void *exec) { return free(exec), 0; }
EXPORT int cuGraphDestroy(void *graph) { return free(graph), 0; }
