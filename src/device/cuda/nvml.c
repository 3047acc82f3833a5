/*
** NVML by hand-written prototypes: the few functions the monitor needs. The structures are those of the
** library's stable interface; every function may be missing in an old driver, and its figure is then -1.
**
** TUTTI_NVML names the library to take instead of the driver's (tests hand in one of their own).
*/
#include "device/cuda/nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"

typedef struct nvml_device *gpu_handle;
typedef struct {
  unsigned gpu, memory;
} utilization;
typedef struct {
  unsigned long long total, free, used;
} memory_info;
typedef struct {
  char legacy_bus[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
} pci_info;
typedef struct {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
} process_info;

enum { NVML_OK = 0, TEMPERATURE_GPU = 0, CLOCK_SM = 1, MOST_PROCESSES = 128 };
static const unsigned long long MEMORY_UNKNOWN = ~0ull;

/* X(symbol, result, arguments); a trailing _v2 or _v3 is the form every driver since 2021 has. */
#define NVML_FUNCTIONS(X)                                                                   \
  X(nvmlInit_v2, int, (void))                                                               \
  X(nvmlErrorString, const char *, (int))                                                   \
  X(nvmlSystemGetDriverVersion, int, (char *, unsigned))                                    \
  X(nvmlDeviceGetCount_v2, int, (unsigned *))                                               \
  X(nvmlDeviceGetHandleByIndex_v2, int, (unsigned, gpu_handle *))                           \
  X(nvmlDeviceGetHandleByPciBusId_v2, int, (const char *, gpu_handle *))                    \
  X(nvmlDeviceGetIndex, int, (gpu_handle, unsigned *))                                      \
  X(nvmlDeviceGetName, int, (gpu_handle, char *, unsigned))                                 \
  X(nvmlDeviceGetPciInfo_v3, int, (gpu_handle, pci_info *))                                 \
  X(nvmlDeviceGetUtilizationRates, int, (gpu_handle, utilization *))                        \
  X(nvmlDeviceGetMemoryInfo, int, (gpu_handle, memory_info *))                              \
  X(nvmlDeviceGetTemperature, int, (gpu_handle, int, unsigned *))                           \
  X(nvmlDeviceGetPowerUsage, int, (gpu_handle, unsigned *))                                 \
  X(nvmlDeviceGetEnforcedPowerLimit, int, (gpu_handle, unsigned *))                         \
  X(nvmlDeviceGetClockInfo, int, (gpu_handle, int, unsigned *))                             \
  X(nvmlDeviceGetComputeRunningProcesses_v3, int, (gpu_handle, unsigned *, process_info *)) \
  X(nvmlDeviceGetGraphicsRunningProcesses_v3, int, (gpu_handle, unsigned *, process_info *))

static struct {
#define FIELD(name, result, arguments) result(*name) arguments;
  NVML_FUNCTIONS(FIELD)
#undef FIELD
} nvml;
static int count;
static char why_none[256], driver[96];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *error_text(int code) {
  const char *text = nvml.nvmlErrorString ? nvml.nvmlErrorString(code) : NULL;
  return text ? text : "unknown error";
}

static bool load(void) {
  const char *own = tt__env("TUTTI_NVML");
  tt_error err;
  void *lib = tt__lib_open(own ? own : "libnvidia-ml.so.1", &err);
  if (!lib) {
    snprintf(why_none, sizeof why_none, "no NVIDIA driver: %s not found", own ? own : "libnvidia-ml.so.1");
    return false;
  }
#define LOAD(name, result, arguments) *(void **)&nvml.name = tt__lib_sym(lib, #name);
  NVML_FUNCTIONS(LOAD)
#undef LOAD
  if (nvml.nvmlInit_v2 && nvml.nvmlDeviceGetCount_v2 && nvml.nvmlDeviceGetHandleByIndex_v2) return true;
  snprintf(why_none, sizeof why_none, "the NVIDIA driver is too old to be watched");
  return false;
}

static void start(void) {
  if (!load()) return;
  int code = nvml.nvmlInit_v2();
  if (code != NVML_OK) {
    snprintf(why_none, sizeof why_none, "the NVIDIA driver does not answer: %s", error_text(code));
    return;
  }
  if (nvml.nvmlSystemGetDriverVersion && nvml.nvmlSystemGetDriverVersion(driver, sizeof driver) != NVML_OK)
    driver[0] = 0;
  unsigned n = 0;
  code = nvml.nvmlDeviceGetCount_v2(&n);
  if (code != NVML_OK) {
    snprintf(why_none, sizeof why_none, "the NVIDIA driver does not count its GPUs: %s", error_text(code));
    return;
  }
  count = (int)n;
  if (count == 0) snprintf(why_none, sizeof why_none, "the NVIDIA driver sees no GPU");
}

int tt__nvml_count(char *why, size_t size) {
  pthread_once(&once, start);
  if (why && size) snprintf(why, size, "%s", why_none);
  return count;
}

const char *tt__nvml_driver(void) {
  pthread_once(&once, start);
  return driver;
}

int tt__nvml_at_bus(const char *bus) {
  gpu_handle gpu;
  unsigned index;
  pthread_once(&once, start);
  if (count == 0 || !nvml.nvmlDeviceGetHandleByPciBusId_v2 || !nvml.nvmlDeviceGetIndex) return -1;
  if (nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, &gpu) != NVML_OK) return -1;
  return nvml.nvmlDeviceGetIndex(gpu, &index) == NVML_OK ? (int)index : -1;
}

/* ---- one GPU */

/* What the system calls a process; our view of processes may not hold it. */
static void name_process(tt_gpu_process *p) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%lld/comm", (long long)p->pid);
  FILE *f = fopen(path, "re");
  bool known = f && fgets(p->name, (int)sizeof p->name, f);
  if (f) fclose(f);
  if (known) p->name[strcspn(p->name, "\n")] = 0;
  if (!known) snprintf(p->name, sizeof p->name, "?");
}

static bool is_listed(const tt_gpu_stats *s, unsigned pid) {
  for (int k = 0; k < s->nprocess && k < TT_GPU_PROCESSES; k++) {
    if (s->process[k].pid == (int64_t)pid) return true;
  }
  return false;
}

static void add_processes(gpu_handle gpu, int (*list)(gpu_handle, unsigned *, process_info *), tt_gpu_stats *s) {
  process_info found[MOST_PROCESSES];
  unsigned n = MOST_PROCESSES;
  if (!list || list(gpu, &n, found) != NVML_OK) return;
  for (unsigned k = 0; k < n && k < MOST_PROCESSES; k++) {
    if (is_listed(s, found[k].pid)) continue;
    int at = s->nprocess++;
    if (at >= TT_GPU_PROCESSES) continue;
    s->process[at].pid = found[k].pid;
    s->process[at].memory = found[k].memory == MEMORY_UNKNOWN ? -1 : (int64_t)found[k].memory;
    name_process(&s->process[at]);
  }
}

static void read_figures(gpu_handle gpu, tt_gpu_stats *s) {
  utilization use;
  memory_info memory;
  unsigned n;
#define HAS(name, ...) (nvml.name && nvml.name(gpu, __VA_ARGS__) == NVML_OK)
  if (HAS(nvmlDeviceGetUtilizationRates, &use)) s->use = (int)use.gpu, s->memory_use = (int)use.memory;
  if (HAS(nvmlDeviceGetMemoryInfo, &memory)) {
    s->memory_total = (int64_t)memory.total;
    s->memory_used = (int64_t)memory.used;
  }
  if (HAS(nvmlDeviceGetTemperature, TEMPERATURE_GPU, &n)) s->temperature = (int)n;
  if (HAS(nvmlDeviceGetPowerUsage, &n)) s->power = n / 1000.0;
  if (HAS(nvmlDeviceGetEnforcedPowerLimit, &n)) s->power_limit = n / 1000.0;
  if (HAS(nvmlDeviceGetClockInfo, CLOCK_SM, &n)) s->clock = (int)n;
}

tt_code tt__nvml_read(int k, tt_gpu_stats *out, tt_error *err) {
  gpu_handle gpu;
  pci_info pci;
  pthread_once(&once, start);
  memset(out, 0, sizeof *out);
  if (k < 0 || k >= count) return tt__fail(err, TT_EINDEX, "no GPU %d: the machine has %d", k, count);
  int code = nvml.nvmlDeviceGetHandleByIndex_v2((unsigned)k, &gpu);
  if (code != NVML_OK) return tt__fail(err, TT_EDEVICE, "GPU %d does not answer: %s", k, error_text(code));
  *out = (tt_gpu_stats){.index = k,
                        .use = -1,
                        .memory_use = -1,
                        .memory_total = -1,
                        .memory_used = -1,
                        .temperature = -1,
                        .power = -1,
                        .power_limit = -1,
                        .clock = -1};
  if (!HAS(nvmlDeviceGetName, out->label, sizeof out->label)) snprintf(out->label, sizeof out->label, "GPU %d", k);
  if (HAS(nvmlDeviceGetPciInfo_v3, &pci)) snprintf(out->bus, sizeof out->bus, "%.31s", pci.bus_id);
  read_figures(gpu, out);
  add_processes(gpu, nvml.nvmlDeviceGetComputeRunningProcesses_v3, out);
  add_processes(gpu, nvml.nvmlDeviceGetGraphicsRunningProcesses_v3, out);
  return TT_OK;
}
