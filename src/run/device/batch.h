/*
** Launches, gathered so that a run of them that repeats becomes one launch of a captured graph: those of one
** evaluation, and those of small evaluations in quick succession, whose launches wait for the next one's. Private to
** run/, under the session lock. Whatever else is asked of a device (copies, fills, events, other libraries) flushes it
** first, also between evaluations.
*/
#ifndef TT_RUN_DEVICE_BATCH_H
#define TT_RUN_DEVICE_BATCH_H

#include "device/launch_log.h"
#include "ir/device.h"

/* What a plan keeps from one evaluation to the next. All zero: nothing yet. */
typedef struct tt_gathered {
  tt_routine *routine;
  tt_grid grid;
  size_t at, size;  /* of its arguments */
  tt_origin origin; /* "": nobody in particular */
} tt_gathered;

typedef struct tt_replay {
  tt_device *device;
  tt_graph *graph;
  tt_gathered *launch; /* [n] of the graph's launches, in order */
  int n, seen;         /* evaluations that came out as the same single run of launches */
  char *args;          /* what the graph has now: [used] */
  size_t used;
} tt_replay;

/* Begin to gather for the stream. */
TT_HIDDEN void tt__batch_begin(tt_device *d, tt_stream *s);
/* Launch now or later, in order. The arguments are copied. */
TT_HIDDEN tt_code tt__batch_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args,
                                   size_t size, tt_error *err);
/* Everything gathered is asked of the device now. Fails within an evaluation alone: between them, what could not be
 * asked for is told to who looks at its results. */
TT_HIDDEN tt_code tt__batch_flush(tt_error *err);
/* The evaluation is over: launch what is gathered, by the plan's graph when it fits. `may_wait`: it is little work
 * that nobody is looking at, so its launches may wait a moment for those of the next evaluation
 * (run/device/batch_timer.h). */
TT_HIDDEN tt_code tt__batch_end(tt_replay *r, bool may_wait, tt_error *err);
/* From now on nothing waits: somebody outside knows our stream or our memory, and waits for them without us. */
TT_HIDDEN void tt__batch_hurry(void);
/* Ask for what is gathered and forget the graphs. */
TT_HIDDEN void tt__batch_trim(void);
TT_HIDDEN void tt__replay_free(tt_replay *r);

#endif
