/*
** Launches of users' kernels, recorded: a launch is a node over the values of its arrays, and the storages that it may
** write get what it leaves as their new values. It does not matter here what a kernel is.
*/
#ifndef TT_LAUNCH_RECORD_H
#define TT_LAUNCH_RECORD_H

#include "graph/call.h"

/* An array among the arguments: its address belongs at `at` of them. */
typedef struct tt_call_array {
  tt_array *array; /* borrowed */
  int32_t at;
  bool writes;
  int64_t inside; /* bytes from its first element to what the kernel is given */
} tt_call_array;

/*
** Where a launch over these arrays runs: where they were put, else on the device where one of them lies, else
** `otherwise`. TT_EVALUE: they were put on two devices.
*/
TT_HIDDEN tt_code tt__call_device(const tt_call_array *arg, int n, const char *name, int otherwise, int *out,
                                  tt_error *err);

/* Memory of the caller among the arguments of a launch on a device (record_memory.c). */
typedef struct tt_call_span {
  char *low, *high;    /* its bytes: [low, high) */
  const char *address; /* what the kernel is given, somewhere among them */
  int32_t at;          /* of the arguments, where the address belongs */
  bool writes;
  tt_array *array; /* its copy, which others may share; held */
  int64_t skip;    /* bytes of the copy before `low` */
} tt_call_span;

typedef struct tt_call_memory {
  tt_call_span arg[TT_CALL_ARRAYS];
  int n;
} tt_call_memory;

/* Copy all of it to the device `id`: m->n more arrays for the launch in `out`. Arrays are NULL before. */
TT_HIDDEN tt_code tt__call_bring(tt_call_memory *m, int id, tt_call_array *out, tt_error *err);
/* What the kernel may have written comes back. Waits. */
TT_HIDDEN tt_code tt__call_bring_back(const tt_call_memory *m, tt_error *err);
/* Let go of the copies. */
TT_HIDDEN void tt__call_forget(tt_call_memory *m);

/*
** Record a launch: `like` has kind, kernel, name, grid, device, stream, and args of args_size bytes, which are copied.
** TT_EVALUE "assignment destination is read-only". May run what is recorded; when a launch of before fails then, this
** one is recorded all the same.
*/
TT_HIDDEN tt_code tt__call_record(const tt_kernel_call *like, const tt_call_array *arg, int n, tt_error *err);

/* The same for a launch that uses memory which is gone when this returns: it has run then, or nothing of it
 * happened. */
TT_HIDDEN tt_code tt__call_now(const tt_kernel_call *like, const tt_call_array *arg, int n, tt_error *err);

#endif
