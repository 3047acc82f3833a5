/*
** What the machine does right now: its GPUs through the vendor's own monitor library, its cores and
** memory through the system. Nothing here touches a device, starts a context or evaluates anything.
*/
#ifndef TUTTI_MONITOR_H
#define TUTTI_MONITOR_H

#include <stddef.h>
#include <stdint.h>

#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- GPUs: all that the machine has, whatever CUDA_VISIBLE_DEVICES leaves to this process */

#define TT_GPU_PROCESSES 32

typedef struct tt_gpu_process {
  int64_t pid;
  int64_t memory; /* bytes of the GPU's memory; -1 where the driver does not tell */
  char name[64];  /* "?" where it cannot be known (another container's process) */
} tt_gpu_process;

/* Numbers are -1 where the GPU or the driver does not tell them. */
typedef struct tt_gpu_stats {
  int index;                         /* the monitor's numbering, by PCI address */
  char label[96];                    /* "NVIDIA H200" */
  char bus[32];                      /* PCI address, "00000000:3B:00.0" */
  int use;                           /* percent of the last moment in which some kernel ran */
  int memory_use;                    /* percent of it in which memory was read or written */
  int64_t memory_total, memory_used; /* bytes */
  int temperature;                   /* degrees Celsius */
  double power, power_limit;         /* watts */
  int clock;                         /* MHz of the multiprocessors */
  int nprocess;                      /* how many use it; the first TT_GPU_PROCESSES of them are listed */
  tt_gpu_process process[TT_GPU_PROCESSES];
} tt_gpu_stats;

/* How many there are; 0 with `why` (NULL allowed) saying what is missing. */
TT_API int tt_gpu_count(char *why, size_t size);
/* The figures of the k-th, from 0. TT_EINDEX where there is none, TT_EDEVICE when the driver fails. */
TT_API tt_code tt_gpu_read(int k, tt_gpu_stats *out, tt_error *err);
/* "580.65.06"; "" without a driver. Valid for the life of the process. */
TT_API const char *tt_gpu_driver(void);

/* ---- the host */

typedef struct tt_host_core {
  int64_t busy, total; /* clock ticks since the system started: use is the growth of busy over that of total */
} tt_host_core;

typedef struct tt_host_stats {
  int cores;                         /* online */
  int64_t memory_total, memory_used; /* bytes; what can be had at once does not count as used */
  int64_t process_memory;            /* bytes of this process that lie in memory */
  double load[3];                    /* mean numbers of runnable threads over 1, 5 and 15 minutes */
} tt_host_stats;

/* Fills core[0..room) as far as there are cores (room 0: none). TT_EIO where the system does not tell. */
TT_API tt_code tt_host_read(tt_host_stats *out, tt_host_core *core, int room, tt_error *err);

#ifdef __cplusplus
}
#endif
#endif
