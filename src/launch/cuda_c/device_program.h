/*
** Users' programs on a device: compiled for it and loaded.
*/
#ifndef TT_LAUNCH_DEVICE_PROGRAM_H
#define TT_LAUNCH_DEVICE_PROGRAM_H

#include "ir/device.h"
#include "lang/cuda_c/cudac.h"

typedef struct tt_device_entry {
  char *name, *params;  /* names of the parameters between commas */
  bool waits, together; /* its threads wait for each other; its blocks do */
  tt_routine *routine;
  tt_routine_info info;
  int nparam;
  tt_cudac_param *param;
  bool placed; /* (OpenCL C) its routine knows where its arguments stand */
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

/* What a device compiles, and how. */
typedef struct tt_device_source {
  const char *text, *options;
  const char *symbol; /* what the binary is kept for: another word, another binary */
  bool keep;          /* on disk: files that the text includes are in no key */
  tt_code (*make)(tt_device *d, const char *text, const char *options, tt_str *binary, tt_error *err);
} tt_device_source;
/* Find it on disk, or make and keep it. */
TT_HIDDEN tt_code tt__device_binary(tt_device *d, const tt_device_source *s, tt_str *binary, tt_error *err);
/* What stands behind a binary, before a u64 of its bytes and the mark; NULL: nothing, or it is damaged. */
TT_HIDDEN const char *tt__device_behind(const tt_str *binary, const char *mark, size_t *size);

/* Compile (or find on disk), load, ask what the kernels take. Takes long, waits; the session's lock is not held. */
TT_HIDDEN tt_code tt__device_program_open(tt_device *d, const char *source, const tt_cudac_options *o,
                                          tt_device_program **out, tt_error *err);
/* Forget it. The module stays: work that was asked for may still run. */
TT_HIDDEN void tt__device_program_close(tt_device_program *p);

/* Memory of a variable. TT_EVALUE: there is none of that name. */
TT_HIDDEN tt_code tt__device_program_variable(tt_device_program *p, const char *name, void **at, size_t *size,
                                              tt_error *err);

#endif
