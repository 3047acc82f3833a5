/*
** Running steps on a device: operands made resident, launches bound and asked for; nothing waits. Private to run/.
*/
#ifndef TT_RUN_DEVICE_EXEC_DEVICE_H
#define TT_RUN_DEVICE_EXEC_DEVICE_H

#include "device/cache_alloc.h"
#include "ir/library.h"
#include "run/device/later.h"
#include "run/exec.h"
#include "sched/epilogue.h"

/*
** Run one step of an evaluation, which has said so (tt__resident_step); its roots are (or will be, in stream order) on
** the device afterwards. TT_ENOTIMPL and TT_ENOMEM leave everything as it was: the host can run the step. Session lock
** held.
*/
TT_HIDDEN tt_code tt__exec_step_on(tt_device *d, const tt_walk *walk, const tt_step *step, tt_error *err);

/* Run the first n steps of a launch of many. The same codes leave everything as it was. */
TT_HIDDEN tt_code tt__exec_many_on(tt_device *d, const tt_walk *walk, const tt_step *step, int n, tt_error *err);

/* Run a library step together with what follows it: `then`'s root is there afterwards, the step's own result never is.
** TT_ENOTIMPL and TT_ENOMEM as above. */
TT_HIDDEN tt_code tt__exec_epilogue_on(tt_device *d, const tt_walk *walk, const tt_step *step, const tt_step *then,
                                       const tt_epilogue_match *match, tt_error *err);

/* A launch on the simulated device, which reads it when it comes to it: gathered with others, or asked for now. */
TT_HIDDEN tt_code tt__exec_null(tt_device *d, tt_stream *s, const tt_launch *launch, void *const *buf,
                                const int64_t *buf_len, const tt_scalar *scalar, bool gathered, tt_error *err);

/* Who asks for the launches of a kernel step, for messages about a device that is lost. Session lock held. */
TT_HIDDEN const tt_origin *tt__exec_origin(const tt_walk *walk, const tt_step *step);

/* Give back what devices keep of a launch. */
TT_HIDDEN void tt__exec_forget(tt_launch *l);

/* A row's view of a device; tt__exec_lib_close gives its temporary memory back, in stream order. */
typedef struct tt_lib_use {
  tt_lib_device on;
  tt_dmem **temp;
  int ntemp, cap;
  size_t first[TT_LATER_TEMPS]; /* sizes of the first ones */
} tt_lib_use;
TT_HIDDEN void tt__exec_lib_open(tt_lib_use *u, tt_device *d, tt_stream *s);
TT_HIDDEN void tt__exec_lib_close(tt_lib_use *u);

#endif
