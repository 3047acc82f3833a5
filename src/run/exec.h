/*
** Running steps: memory for the results, arguments, and the kernel's points given to the
** threads. Private to run/.
*/
#ifndef TT_RUN_EXEC_H
#define TT_RUN_EXEC_H

#include "ir/user/launch.h"
#include "base/os/interrupt.h"
#include "base/str.h"
#include "device/launch_log.h"
#include "run/unit.h"

/* What the driver hangs on a kernel step. */
typedef struct tt_launch {
  tt_lowered *lowered; /* its kernel lives in the unit */
  tt_unit *unit;
  tt_step_work work;
  struct tt_launch_on *on; /* what devices keep of it (exec_device.h) */
  tt_origin origin;        /* when a device runs it; "" until then */
  uint32_t line;           /* that `origin` names */
  bool alone;              /* of the first of many: a device has no launch for all of them */
  /* Its text as a fused producer (outofcore/fused_producer.h), empty until then, by vectors of `producer_vec`. */
  tt_str producer;
  int producer_vec;
} tt_launch;

/* Run one step over the walk's nodes; its roots are in memory afterwards. Session lock held; released while kernels
 * run. */
TT_HIDDEN tt_code tt__exec_step(const tt_walk *walk, const tt_step *step, tt_error *err);

/* The same of a step of the library, on the host. */
TT_HIDDEN tt_code tt__exec_library(const tt_walk *walk, const tt_step *step, tt_error *err);
/* A library row with one result, on the host, under the lock. False: not now, or it failed. */
TT_HIDDEN bool tt__exec_library_now(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out);

/* One launch with bound memory, on the threads. can_stop: an interrupt may leave the results half written. */
TT_HIDDEN tt_code tt__exec_launch(const tt_launch *l, const tt_kargs *args, tt_kernel_fn fn, bool can_stop,
                                  tt_error *err);

/* The same of the first n steps of a launch of many, each with its arguments, on the threads at once. Changes them. */
TT_HIDDEN tt_code tt__exec_launches(const tt_step *step, tt_kargs *args, int n, tt_kernel_fn fn, bool can_stop,
                                    tt_error *err);
/* Run the first n steps of a launch of many, as tt__exec_step does one. */
TT_HIDDEN tt_code tt__exec_many(const tt_walk *walk, const tt_step *step, int n, tt_error *err);

/* What a kernel step reads is brought to the host. */
TT_HIDDEN tt_code tt__exec_bring_home(const tt_walk *walk, const tt_step *step, tt_error *err);
/* The memory and the scalars of a kernel step on the host: [nbuf], [nbuf], [nscalar]. */
TT_HIDDEN tt_code tt__exec_bind(const tt_walk *walk, const tt_step *step, tt_buffer *const *result, void **buf,
                                int64_t *buf_len, tt_scalar *scalar, tt_error *err);

/* TT_EINTERNAL: what a checked kernel found. */
TT_HIDDEN tt_code tt__exec_fault(const tt_kfault *fault, tt_error *err);
/* The scalars a launch binds, in the kernel's register types: [nscalar]. */
TT_HIDDEN tt_code tt__exec_scalars(const tt_walk *walk, const tt_step *step, const tt_launch *l, tt_scalar *scalar,
                                   tt_error *err);

#endif
