/*
** Pipelines: work on a device in pieces, whose operands come up from ordinary host memory and whose results go down to
** it, with everything under way at once. Threads copy between the caller's memory and two rings of pinned memory, one a
** direction, while the device copies between the rings and its own memory and computes.
**
** A ring is cut into grains, numbered for ever: grain g lies in slot g % slots. One thread, the conductor, plans
** grains, asks the device for copies of whole runs of them and looks at what is done; all threads, the conductor when
** it has nothing else to do, copy grains. The numbers of a ring:
**
**   up    freed <= asked <= claimed <= ready = planned    a thread may fill a slot as soon as it is planned
**   down  freed <= claimed <= ready <= asked = planned    a thread may empty it as soon as its bytes have arrived
*/
#ifndef TT_DEVICE_PIPELINE_H
#define TT_DEVICE_PIPELINE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/lock.h"
#include "ir/device.h"

enum { TT_PIPELINE_SLOTS = 512, TT_PIPELINE_CHUNKS = 64 };

typedef struct tt_pipeline_grain {
  char *host, *at;        /* the caller's memory, where its move begins; the device's */
  size_t from, row, size; /* of the move: its first byte here, bytes of a row; bytes here */
  ptrdiff_t pitch;
  int64_t piece;
  bool begins_piece, ends_move, ends_piece;
  atomic_bool done; /* copied by a thread */
} tt_pipeline_grain;

/* One direction of a device. Its numbers go on from pipeline to pipeline: copies up may be under way when a pipeline is
 * over. */
typedef struct tt_pipeline_ring {
  tt_lock lock;
  char *memory;       /* pinned; NULL: none yet */
  int64_t slots;      /* grains it holds */
  size_t grain_bytes; /* of a full grain */
  bool is_down;
  tt_pipeline_grain grain[TT_PIPELINE_SLOTS];
  tt_event *event[TT_PIPELINE_CHUNKS]; /* of copies asked for, [first_chunk, next_chunk) % TT_PIPELINE_CHUNKS */
  int64_t chunk_end[TT_PIPELINE_CHUNKS];
  int64_t first_chunk, next_chunk;
  int64_t planned, asked, freed; /* the conductor's */
  bool is_short;                 /* of the pipeline: see copy_up */
  _Alignas(64) atomic_llong ready;
  _Alignas(64) atomic_llong claimed;
} tt_pipeline_ring;

/* Bytes that move between the host and one place of the device. There they lie side by side, on the host too or
 * (`row`) so many in a row, rows `pitch` bytes apart, either way. */
typedef struct tt_move {
  void *host, *at;
  size_t size;
  size_t row; /* 0: they lie side by side */
  ptrdiff_t pitch;
} tt_move;

/* When a pipeline's owner is told of a piece, in this order; pieces come in order for each of the four. The last two
 * are told of pipelines with an `out` ring. */
typedef enum tt_pipeline_point {
  TT_FLOW_BEGIN,   /* its moves up are asked for next */
  TT_FLOW_RUN,     /* they have been asked for: ask for the work */
  TT_FLOW_RETURN,  /* its moves down are asked for next */
  TT_FLOW_RETURNED /* they have been asked for */
} tt_pipeline_point;

/* The i-th move up or down of a piece; false: there is none. Any thread, any time. */
typedef bool tt_pipeline_move_fn(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out);

typedef struct tt_pipeline {
  tt_device *device;
  tt_stream *up, *down; /* the owner orders them with its own, by events, at the points */
  int64_t pieces;
  int64_t depth; /* piece k begins when piece k - depth has returned */
  tt_pipeline_move_fn *move;
  /* One thread at a time, not always the caller's. NULL: nothing is to be told. */
  tt_code (*at)(void *ctx, int64_t piece, tt_pipeline_point point, tt_error *err);
  void *ctx;
} tt_pipeline;

/*
** Run it. On return all moves up have been read and asked for, all moves down have arrived. `in` or `out` is NULL when
** nothing moves that way; both are locked and filled (tt__pipeline_ring_fill). `bytes`: about how many move, for the
** number of threads. After an error nothing of it is under way on `up` and `down`.
*/
TT_HIDDEN tt_code tt__pipeline_run(const tt_pipeline *f, tt_pipeline_ring *in, tt_pipeline_ring *out, size_t bytes,
                                   tt_error *err);

/* Pinned memory for pipelines of `size` bytes: as much as can be had and is of use. TT_ENOMEM: none. */
TT_HIDDEN tt_code tt__pipeline_ring_fill(tt_device *d, tt_pipeline_ring *r, size_t size, tt_error *err);
/* Wait for what is under way and give everything back. */
TT_HIDDEN void tt__pipeline_ring_empty(tt_device *d, tt_pipeline_ring *r);
/* How rings are cut, and how long the first copies are; for measurements. Zeros: the defaults. Not while copies run. */
TT_HIDDEN void tt__pipeline_tune(size_t chunk, size_t ring, size_t grain, size_t first);

#endif
