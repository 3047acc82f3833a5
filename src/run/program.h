/*
** Users' programs on a device: compiled for it, loaded, their kernels launched on arrays that lie there.
*/
#ifndef TT_RUN_PROGRAM_H
#define TT_RUN_PROGRAM_H

#include "ir/device.h"
#include "ir/node.h"
#include "lang/cudac.h"

typedef struct tt_device_entry {
  char *name, *params; /* names of the parameters between commas */
  tt_routine *routine;
  tt_routine_info info;
  int nparam;
  tt_cudac_param *param;
} tt_device_entry;

typedef struct tt_device_variable {
  char *name, *symbol;
} tt_device_variable;

typedef struct tt_device_program {
  tt_device *device;
  tt_module *module;
  tt_device_entry *entry;
  int n;
  tt_device_variable *variable;
  int nvariable;
} tt_device_program;

/* Compile (or find on disk), load, ask what the kernels take. Takes long, waits; the session's lock is not held. */
TT_HIDDEN tt_code tt__program_open(tt_device *d, const char *source, const tt_cudac_options *o, tt_device_program **out,
                                   tt_error *err);
TT_HIDDEN void tt__program_close(tt_device_program *p);

/* Memory of a variable. TT_EVALUE: there is none of that name. */
TT_HIDDEN tt_code tt__program_variable(tt_device_program *p, const char *name, void **at, size_t *size, tt_error *err);

/*
** The array's memory on the device (element 0,0,..), good for work asked of its current stream from now on; *hold keeps
** it (tt__buffer_release). write: nobody else reads this memory, and it is marked as written. Session lock held.
*/
TT_HIDDEN tt_code tt__program_array(tt_device *d, tt_array *a, bool write, void **at, tt_buffer **hold, tt_error *err);

/* arg[k] points at the k-th argument. Does not wait. */
TT_HIDDEN tt_code tt__program_launch(tt_device *d, const tt_device_entry *e, const tt_grid *g, void *const *arg,
                                     tt_error *err);

#endif
