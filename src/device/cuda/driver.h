/*
** NVIDIA's driver, loaded at run time, and its errors in our words. Knows nothing of the contract of a device.
** TUTTI_CUDA is "none", or the path of another library than the loader's libcuda.so.1.
*/
#ifndef TT_DEVICE_CUDA_DRIVER_H
#define TT_DEVICE_CUDA_DRIVER_H

#include <stdbool.h>

#include "base/err.h"
#include "ir/device.h"

typedef unsigned long long tt_cuda_pointer;

/* The driver's own layout of a kernel node's parameters. */
typedef struct tt_cuda_kernel_node {
  void *function;
  unsigned grid[3], block[3], shared;
  void **params, **extra;
  void *kernel, *context; /* unused: `function` names the kernel */
} tt_cuda_kernel_node;

/* The driver's own layout of why a graph could not be changed. */
typedef struct tt_cuda_update {
  int result;
  void *node, *from;
} tt_cuda_update;

/* The driver's own layout of a launch with attributes. */
typedef struct tt_cuda_attribute {
  int id, unused;
  union {
    int cooperative;
    char bytes[64];
  } value;
} tt_cuda_attribute;
typedef struct tt_cuda_launch {
  unsigned grid[3], block[3], shared;
  void *stream;
  tt_cuda_attribute *attribute;
  unsigned n;
} tt_cuda_launch;

typedef struct tt_cuda_api {
#define TT_CUDA_FN(need, field, symbol, args) int(*field) args;
#include "device/cuda/cuda_api.def"
#undef TT_CUDA_FN
  int version; /* of the driver: 12040 for CUDA 12.4 */
  int devices; /* visible ones */
} tt_cuda_api;

/* Error numbers that we tell apart. */
enum {
  TT_CUDA_OK = 0,
  TT_CUDA_NO_MEMORY = 2,
  TT_CUDA_SHUTDOWN = 4, /* the process is ending */
  TT_CUDA_NO_DEVICE = 100,
  TT_CUDA_NOT_READY = 600,
  TT_CUDA_PEER_ENABLED = 704
};

/*
** The driver, started; NULL with a line in `why` that says what is missing (no library, too old, no device, forked).
** Cheap after the first call. Thread-safe.
*/
TT_HIDDEN const tt_cuda_api *tt__cuda_driver(char *why, size_t size);

/* "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)". */
TT_HIDDEN void tt__cuda_text(const tt_cuda_api *api, int result, char *out, size_t size);

/* True for errors after which the context is of no more use. */
TT_HIDDEN bool tt__cuda_is_final(int result);

#endif
