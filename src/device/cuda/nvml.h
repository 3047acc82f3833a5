/*
** NVIDIA's monitor library, found at run time: figures of every GPU of the machine. It knows no CUDA: a
** machine whose CUDA does not work can still be watched, and watching starts no context.
*/
#ifndef TT_DEVICE_CUDA_NVML_H
#define TT_DEVICE_CUDA_NVML_H

#include "base/err.h"
#include "tutti/monitor.h"

/* See tutti/monitor.h: what the public functions of like names do. Any thread may call. */
TT_HIDDEN int tt__nvml_count(char *why, size_t size);
TT_HIDDEN tt_code tt__nvml_read(int k, tt_gpu_stats *out, tt_error *err);
TT_HIDDEN const char *tt__nvml_driver(void);
/* The number of the GPU at a PCI address ("0000:3b:00.0"), -1 where there is none. */
TT_HIDDEN int tt__nvml_at_bus(const char *bus);

#endif
