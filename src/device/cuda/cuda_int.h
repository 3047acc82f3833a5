/* What the files of the CUDA back end share: the state of a device, and the frame around every driver call. */
#ifndef TT_DEVICE_CUDA_CUDA_INT_H
#define TT_DEVICE_CUDA_CUDA_INT_H

#include <stdatomic.h>

#include "base/lock.h"
#include "device/cuda/driver.h"
#include "device/launch_log.h"

enum { TT_CUDA_MOST = 64 }; /* devices that are looked at */

struct tt_stream {
  void *handle;
  bool is_ours;
  tt_launch_log log;
  /* Where no one waits, an event now and then tells how far the stream has come. */
  void *milestone;       /* the driver's event, NULL until it is needed */
  uint64_t milestone_at; /* launches before it; 0: it has come to pass */
};

struct tt_event {
  void *handle;
  tt_stream *stream; /* of its last record */
  uint64_t mark;     /* launches there before it */
};

struct tt_routine {
  void *handle;
  atomic_int shared; /* most dynamic shared memory that it may ask for, so far */
  tt_routine *next;  /* of the same module */
  char name[80];
};

struct tt_module {
  void *handle;
  tt_routine *routines; /* guarded by the device's lock */
};

typedef struct tt_cuda_capture tt_cuda_capture; /* graph.c */

typedef struct tt_cuda {
  const tt_cuda_api *api;
  int device;
  void *context;             /* the primary one, which other libraries of the process use too */
  tt_lock lock;              /* guards the lists of routines and captures, and `peer` */
  tt_cuda_capture *captures; /* under way */
  atomic_int capturing;      /* how many, readable without the lock */
  bool check;                /* TUTTI_CHECK: wait for each launch, to know which one fails */
  bool peer[TT_CUDA_MOST];   /* direct access was asked for */
} tt_cuda;

static inline tt_cuda *tt__cuda_of(tt_device *d) { return d->state; }

/*
** Around driver calls: make the context current, and put back the one that another library had. `enter` fails on a
** lost device; `leave` turns an error number into ours, and marks the device as lost when it is final.
*/
TT_HIDDEN tt_code tt__cuda_enter(tt_device *d, void **before, tt_error *err);
TT_HIDDEN tt_code tt__cuda_leave(tt_device *d, void *before, int result, const char *what, tt_error *err);

/* (graph.c) Note a launch just made on a stream that may be part of a capture. Returns an error number. */
TT_HIDDEN int tt__cuda_note_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g);
/* (code.c) Let `f` have `shared` bytes of dynamic shared memory. Returns an error number. */
TT_HIDDEN int tt__cuda_allow_shared(tt_cuda *c, tt_routine *f, uint32_t shared);

/* The slots of tt__cuda_ops that live in files of their own. */
TT_HIDDEN tt_code tt__cuda_compile(tt_device *d, const char *source, const char *options, tt_str *binary,
                                   tt_error *err);
TT_HIDDEN void tt__cuda_identity(tt_device *d, tt_str *out);
TT_HIDDEN tt_code tt__cuda_load(tt_device *d, const void *binary, size_t size, tt_module **out, tt_error *err);
TT_HIDDEN void tt__cuda_unload(tt_device *d, tt_module *m);
TT_HIDDEN tt_code tt__cuda_global(tt_device *d, tt_module *m, const char *name, void **at, size_t *size, tt_error *err);
TT_HIDDEN tt_code tt__cuda_routine(tt_device *d, tt_module *m, const char *name, tt_routine **out,
                                   tt_routine_info *info, tt_error *err);
TT_HIDDEN tt_code tt__cuda_suggest(tt_device *d, tt_routine *f, uint32_t shared, int *grid, int *block, tt_error *err);
TT_HIDDEN tt_code tt__cuda_asked(tt_device *d, tt_stream *s, const char *what, tt_error *err);
TT_HIDDEN tt_code tt__cuda_at_once(tt_device *d, tt_routine *f, int threads, uint32_t shared, int64_t *blocks,
                                   tt_error *err);
TT_HIDDEN tt_code tt__cuda_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g, const void *args,
                                  size_t size, tt_error *err);
TT_HIDDEN tt_code tt__cuda_capture_begin(tt_device *d, tt_stream *s, tt_error *err);
TT_HIDDEN tt_code tt__cuda_capture_end(tt_device *d, tt_stream *s, tt_graph **out, tt_error *err);
TT_HIDDEN int tt__cuda_captured(tt_device *d, tt_stream *s);
TT_HIDDEN tt_code tt__cuda_capture_renew(tt_device *d, tt_stream *s, tt_graph *g, tt_error *err);
TT_HIDDEN tt_code tt__cuda_graph_args(tt_device *d, tt_graph *g, int k, const tt_grid *grid, const void *args,
                                      size_t size, tt_error *err);
TT_HIDDEN tt_code tt__cuda_graph_launch(tt_device *d, tt_graph *g, tt_stream *s, tt_error *err);
TT_HIDDEN void tt__cuda_graph_free(tt_device *d, tt_graph *g);

#endif
