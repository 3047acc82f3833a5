/*
** Launches of one evaluation, gathered so that a plan that repeats becomes one launch of a captured graph. Private to
** run/. One evaluation at a time uses it; what must happen between launches (copies, fills, other libraries) flushes
** it first.
*/
#ifndef TT_RUN_QUEUE_H
#define TT_RUN_QUEUE_H

#include "device/trail.h"
#include "ir/device.h"

/* What a plan keeps from one evaluation to the next. All zero: nothing yet. */
typedef struct tt_queued {
  tt_routine *routine;
  tt_grid grid;
  size_t at, size; /* of its arguments */
  const tt_origin *origin;
} tt_queued;

typedef struct tt_replay {
  tt_device *device;
  tt_graph *graph;
  tt_queued *launch; /* [n] of the graph's launches, in order */
  int n, seen;       /* evaluations that came out as the same single run of launches */
  char *args;        /* what the graph has now: [used] */
  size_t used;
} tt_replay;

/* Begin to gather for the stream. */
TT_HIDDEN void tt__queue_begin(tt_device *d, tt_stream *s);
/* Launch now or later, in order. The arguments are copied. */
TT_HIDDEN tt_code tt__queue_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args,
                                   size_t size, tt_error *err);
/* Everything gathered is asked of the device now. */
TT_HIDDEN tt_code tt__queue_flush(tt_error *err);
/* The evaluation is over: launch what is gathered, by the plan's graph when it fits. */
TT_HIDDEN tt_code tt__queue_end(tt_replay *r, tt_error *err);
TT_HIDDEN void tt__replay_free(tt_replay *r);

#endif
