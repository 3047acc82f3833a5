/* The public functions of tutti/monitor.h. */
#include "tutti/monitor.h"

#include "base/os/host.h"
#include "device/cuda/nvml.h"

int tt_gpu_count(char *why, size_t size) { return tt__nvml_count(why, size); }
tt_code tt_gpu_read(int k, tt_gpu_stats *out, tt_error *err) { return tt__nvml_read(k, out, err); }
const char *tt_gpu_driver(void) { return tt__nvml_driver(); }

tt_code tt_host_read(tt_host_stats *out, tt_host_core *core, int room, tt_error *err) {
  return tt__host_read(out, core, room, err);
}
