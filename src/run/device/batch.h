/*
** Launches, gathered so that a run of them that repeats becomes one launch of a captured graph: those of one
** evaluation, and those of small evaluations in quick succession, whose launches wait for the next one's. Fills and
** calls of libraries that were made before (later.h) are gathered too. Private to run/, under the session lock.
** Whatever else is asked of a device (copies, events, other libraries) flushes it first, also between evaluations.
*/
#ifndef TT_RUN_DEVICE_BATCH_H
#define TT_RUN_DEVICE_BATCH_H

#include "device/launch_log.h"
#include "ir/device.h"

/* Asks the stream for work that is no launch of ours. `what`: the bytes that it was gathered with, which say all that
 * the work depends on. */
typedef tt_code (*tt_asker)(tt_device *d, tt_stream *s, const void *what, tt_error *err);

/* What a plan keeps from one evaluation to the next. All zero: nothing yet. */
typedef struct tt_gathered {
  tt_asker ask; /* NULL: a launch */
  tt_routine *routine;
  tt_grid grid;
  int number;       /* a launch: among those of the graph */
  size_t at, size;  /* of its arguments */
  tt_origin origin; /* "": nobody in particular */
} tt_gathered;

/* A graph, and the arguments that it has now. */
typedef struct tt_played {
  tt_graph *graph;     /* NULL: none */
  tt_gathered *launch; /* [n] of its replay, with where their arguments lie */
  char *args;          /* [used] */
  size_t used;
  uint64_t turn; /* when it was launched last */
} tt_played;

/* Memory is taken and given back in turns, so that evaluations find the addresses of those before the last one: what
 * libraries are asked for cannot be changed in a graph, but there is a graph for each turn. */
enum { TT_PLAYED = 4 };

typedef struct tt_replay {
  tt_device *device;
  tt_gathered *launch; /* [n], in order */
  int n, seen;         /* evaluations that came out as the same single run of launches */
  tt_played played[TT_PLAYED];
} tt_replay;

/* Begin to gather for the stream. */
TT_HIDDEN void tt__batch_begin(tt_device *d, tt_stream *s);
/* Launch now or later, in order. The arguments are copied. */
TT_HIDDEN tt_code tt__batch_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args,
                                   size_t size, tt_error *err);
/* Ask now or later, in order. The bytes are copied; equal bytes ask for the same work. */
TT_HIDDEN tt_code tt__batch_ask(tt_device *d, tt_stream *s, tt_asker ask, const void *what, size_t size, tt_error *err);
/* The same for a fill with zeros. */
TT_HIDDEN tt_code tt__batch_zero(tt_device *d, tt_stream *s, void *p, size_t size, tt_error *err);
/* Everything gathered is asked of the device now. Fails within an evaluation alone: between them, what could not be
 * asked for is told to who looks at its results. */
TT_HIDDEN tt_code tt__batch_flush(tt_error *err);
/* What a flush within this evaluation has failed with, whoever asked for it. */
TT_HIDDEN tt_code tt__batch_failed(tt_error *err);
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
