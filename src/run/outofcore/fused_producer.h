/*
** What computes some nodes, element by element, as a function that a library's kernel calls (tt_lib_producer). Private
** to run/. Session lock held.
*/
#ifndef TT_RUN_OUTOFCORE_FUSED_PRODUCER_H
#define TT_RUN_OUTOFCORE_FUSED_PRODUCER_H

#include "base/str.h"
#include "ir/library.h"
#include "ir/node.h"
#include "ir/plan.h"

#define TT_PRODUCER_ARGS 2048 /* room for arguments, bytes */
#define TT_PRODUCER_READS 64

typedef struct tt_fused_producer {
  tt_lib_producer lib;
  tt_str text; /* `lib` has it; the plan may go meanwhile */
  _Alignas(8) char args[TT_PRODUCER_ARGS];
  tt_buffer *read[TT_PRODUCER_READS]; /* what it reads, held: another thread may compute the nodes meanwhile */
  int nread;
} tt_fused_producer;

/*
** The targets of the walk, in their order. TT_ENOTIMPL: their plan is more than one kernel that goes point by point
** over one axis, and stores nothing but them. What it reads is resident afterwards, and stays until the next step.
*/
TT_HIDDEN tt_code tt__fused_producer_make(tt_device *d, const tt_walk *walk, const tt_plan *plan,
                                          tt_fused_producer *out, tt_error *err);
TT_HIDDEN void tt__fused_producer_free(tt_fused_producer *f); /* all zero is allowed */

#endif
