/*
** Launches of users' kernels, recorded: a launch is a node over the values of its arrays, and the storages that it may
** write get what it leaves as their new values. It must not know what a kernel is.
**
** Recorded launches stand in a list and run in its order, whatever is looked at first: kernels print, fail and share
** variables. The list holds its nodes, so that a launch whose arrays are gone runs too.
*/
#ifndef TT_GRAPH_CALL_H
#define TT_GRAPH_CALL_H

#include "ir/call.h"
#include "ir/node.h"

#define TT_CALL_ARRAYS 256  /* arguments of a launch that are arrays */
#define TT_CALLS_PENDING 32 /* recorded launches: one more, and all of them run */

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

/* Memory of the caller among the arguments of a launch on a device (call_memory.c). */
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

/* Run what is recorded, in order. The first failure ends it; what comes after it stays recorded. May let others in. */
TT_HIDDEN tt_code tt__calls_run(tt_error *err);
/* The same for who does not hold the session's lock; afterwards everything that was evaluated has been asked of the
 * devices, too. */
TT_HIDDEN tt_code tt__calls_flush(tt_error *err);

/* For who runs them: the first launches of the list that run on one device and stream, at most `most`; 0: none. A
** launch leaves the list when it is evaluated (tt__calls_done) or when it fails for good. */
TT_HIDDEN int tt__calls_first(tt_node **out, int most);
TT_HIDDEN void tt__calls_done(void);
typedef tt_code (*tt_calls_fn)(tt_error *err);
TT_HIDDEN void tt__calls_set_runner(tt_calls_fn fn);
/* What asks devices for launches of evaluations that still wait. */
TT_HIDDEN void tt__calls_set_settle(void (*fn)(void));
/* A launch for a device was recorded: is it to run now? */
typedef bool (*tt_calls_urgency_fn)(int device);
TT_HIDDEN void tt__calls_set_urgency(tt_calls_urgency_fn fn);
/* Is something recorded, and none of it for the CPU? */
TT_HIDDEN bool tt__calls_on_devices(void);

#endif
