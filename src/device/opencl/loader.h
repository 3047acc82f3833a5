/*
** OpenCL's loader, loaded at run time, the devices it knows, and its errors in our words. Knows nothing of the contract
** of a device. TUTTI_OPENCL is "none", or the path of another library than the system's libOpenCL.so.1.
*/
#ifndef TT_DEVICE_OPENCL_LOADER_H
#define TT_DEVICE_OPENCL_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct tt_cl_api {
#define TT_CL_FN(need, type, field, symbol, args) type(*field) args;
#include "device/opencl/opencl_api.def"
#undef TT_CL_FN
} tt_cl_api;

enum { TT_CL_MOST = 16 }; /* devices that are looked at */

typedef struct tt_cl_place {
  void *platform, *device;
} tt_cl_place;

typedef struct tt_cl_machine {
  tt_cl_api api;
  int n;
  tt_cl_place at[TT_CL_MOST]; /* GPUs first, then what else there is, in the order of their platforms */
  char note[300];             /* which platform was left out, and why; "" */
} tt_cl_machine;

/* The standard's numbers that we use. */
enum {
  TT_CL_NO_OBJECT_MEMORY = -4,
  TT_CL_NO_RESOURCES = -5,
  TT_CL_NO_HOST_MEMORY = -6,
  TT_CL_BUILD_FAILURE = -11,
  TT_CL_WAIT_FAILURE = -14,
  TT_CL_INVALID_BUFFER_SIZE = -61,

  TT_CL_TYPE_GPU = 1 << 2
};

/*
** The loader and what it knows, asked once in a process; NULL with a line in `why` that says what is missing (no
** library, no platform, no device, forked). Cheap after the first call. Thread-safe.
*/
TT_HIDDEN const tt_cl_machine *tt__cl_machine(char *why, size_t size);

/*
** Is the first of the devices a GPU? Where drivers were tried before, in whatever process, this is remembered, and none
** of them is loaded to say no.
*/
TT_HIDDEN bool tt__cl_leads_with_gpu(void);

/* Find the functions in an opened loader. Returns the first name that is missing, or NULL. */
TT_HIDDEN const char *tt__cl_resolve(void *lib, tt_cl_api *api);

/* "out of resources (-5)". */
TT_HIDDEN void tt__cl_text(int result, char *out, size_t size);
/* Is the device, or the queue, of no more use after this? */
TT_HIDDEN bool tt__cl_is_final(int result);
/* A number of a device; 0 where it does not tell. */
TT_HIDDEN int64_t tt__cl_number(const tt_cl_api *api, void *device, unsigned what, size_t size);
/* A text of a device; "" where it does not tell. */
TT_HIDDEN void tt__cl_string(const tt_cl_api *api, void *device, unsigned what, char *out, size_t size);

#endif
