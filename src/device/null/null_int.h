/* What the two files of the null device share: its state, and queues of commands. */
#ifndef TT_DEVICE_NULL_NULL_INT_H
#define TT_DEVICE_NULL_NULL_INT_H

#include "base/lock.h"
#include "device/launch_log.h"
#include "ir/device.h"

typedef enum tt_null_kind { TT_NULL_FILL, TT_NULL_COPY, TT_NULL_LAUNCH, TT_NULL_RECORD, TT_NULL_WAIT } tt_null_kind;

/* One thing asked of a stream. What it needs of the host's memory it owns, behind it in one block. */
typedef struct tt_null_command tt_null_command;
struct tt_null_command {
  tt_null_command *next;
  tt_null_kind kind;
  size_t bytes; /* of this block */
  void *to;
  const void *from;
  size_t size;
  uint8_t byte;
  bool is_fatal; /* this launch loses the device */
  tt_event *event;
  int64_t turn;     /* of the event: which of its records */
  double us;        /* what it takes */
  double asked_us;  /* when the host asked */
  size_t args_size; /* of a launch; the bytes stand behind the block */
};

typedef struct tt_null_queue {
  tt_null_command *first, *last;
  int64_t n;
} tt_null_queue;

struct tt_stream {
  tt_null_queue queue;
  double us;         /* when its last command ends */
  tt_graph *capture; /* being made from it, or NULL */
  tt_launch_log log; /* of what the host knows to be done */
  tt_stream *next;
};

struct tt_event {
  int64_t asked, done; /* records asked for and come to pass */
  double us;           /* of the last one that came to pass */
  tt_stream *stream;   /* of the last one asked for */
  uint64_t mark;       /* launches there before it */
  int64_t users;       /* commands in queues */
  bool is_freed;       /* gives way when nobody uses it */
  tt_event *next;
};

struct tt_routine {
  tt_routine *next;
};

struct tt_module {
  char *text; /* what was compiled */
  size_t size;
  tt_routine *routines;
  tt_module *next;
};

struct tt_graph {
  tt_null_queue queue;
  tt_graph *next;
};

/* Device memory, or pinned memory of the host. */
typedef struct tt_null_range tt_null_range;
struct tt_null_range {
  char *p;
  size_t size;
  tt_null_range *next;
};

typedef struct tt_null {
  tt_lock lock; /* guards all of it, also while commands run */
  int64_t most, used, pinned_bytes;
  tt_null_range *memory, *pinned;
  tt_stream *streams;
  tt_event *events;
  tt_module *modules;
  tt_graph *graphs;
  uint64_t random;
  double us; /* the host's time */
} tt_null;

static inline tt_null *tt__null_of(tt_device *d) { return d->state; }

/* A command with `behind` more bytes, or NULL. */
TT_HIDDEN tt_null_command *tt__null_command(tt_null_kind kind, size_t behind);
TT_HIDDEN void tt__null_push(tt_null_queue *q, tt_null_command *c);
TT_HIDDEN void tt__null_drop(tt_null *n, tt_null_queue *q); /* without running */
TT_HIDDEN void tt__null_forget(tt_null *n, tt_event *e);    /* free it when nobody uses it any more */

/* Run until the stream has nothing left to do; until the event's record `turn` has come to pass; until all is done.
 * Lock held. TT_EDEVICE: the device was lost on the way. */
TT_HIDDEN tt_code tt__null_run_stream(tt_device *d, tt_stream *s, tt_error *err);
TT_HIDDEN tt_code tt__null_run_event(tt_device *d, tt_event *e, int64_t turn, tt_error *err);
TT_HIDDEN tt_code tt__null_run_all(tt_device *d, tt_error *err);
/* As much as time allows between two looks of the host: some commands, chosen by chance. */
TT_HIDDEN tt_code tt__null_run_some(tt_device *d, tt_error *err);

#endif
