/*
** Streams, events, and memory shared with other libraries on a device.
**
** Work on one stream happens in the order it was asked for; work on two streams is ordered by events. Without any of
** this, evaluation runs on a stream of the device's own, and everything is in order. A stream and an event belong to
** one device and are handed in with it. On the CPU, which does what it is told at once, streams and events are
** allowed and always done.
**
** Every function may be called from any thread. Those that wait say so.
*/
#ifndef TUTTI_STREAM_H
#define TUTTI_STREAM_H

#include "tutti/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_stream tt_stream;
typedef struct tt_event tt_event;

/* How a kernel is launched (tutti/kernel.h, tutti/jit.h). All zero but the grid: as usual. */
typedef struct tt_launch_options {
  tt_grid grid;
  int64_t
      threads; /* (Python) not 0: at least so many along one axis, whatever `grid` says; the block's size is chosen */
  int64_t shared_limit; /* (CUDA C) most bytes of dynamic shared memory; 0: 48 KiB */
  tt_stream *stream;    /* of `device`; NULL: the thread's current one */
  int device;           /* of the stream */
  int otherwise;  /* (Python) where it runs when neither an array nor the thread's choice says: a device's number */
  bool on_cpu;    /* (Python) nowhere else */
  bool addresses; /* (CUDA C) whole numbers given to pointers are addresses: of tt_raw_new, or a device's */
  bool *copied;   /* NULL, or told whether memory of the caller was copied to a device */
} tt_launch_options;

/* ---- streams: NULL means the device's own stream wherever a stream is taken */

/* priority: 0, or less for sooner. Give back with tt_stream_free. */
TT_API tt_code tt_stream_new(int device, int priority, tt_stream **out, tt_error *err);
/* A stream of another library by the vendor's handle (a CUstream), which stays theirs. It must exist while ours is
 * used, and may be gone when ours is given back. */
TT_API tt_code tt_stream_adopt(int device, void *handle, tt_stream **out, tt_error *err);
/* It must be no thread's current one. What was asked of it is done all the same; another library's waits for that. NULL
 * is allowed. */
TT_API void tt_stream_free(int device, tt_stream *s);
/* The vendor's handle: a CUstream; NULL on other devices. */
TT_API void *tt_stream_handle(int device, tt_stream *s);
/* Where this thread's evaluations on the device run; returns the one before. NULL: the device's own stream. */
TT_API tt_stream *tt_stream_use(int device, tt_stream *s);
/* The stream on which this thread's evaluations on the device run; NULL: the device's own. */
TT_API tt_stream *tt_stream_current(int device);
/* Is nothing left to do of what was asked of it? Does not wait. */
TT_API tt_code tt_stream_done(int device, tt_stream *s, bool *done, tt_error *err);
/* Wait until nothing is left to do; the first failure of it. */
TT_API tt_code tt_stream_synchronize(int device, tt_stream *s, tt_error *err);
/* What is asked of the stream from now on begins after the event. */
TT_API tt_code tt_stream_wait(int device, tt_stream *s, tt_event *e, tt_error *err);

/* ---- events: a point in a stream */
/* A new event, which no stream has reached. `timed`: tt_event_ms can ask for its time. */
TT_API tt_code tt_event_new(int device, bool timed, tt_event **out, tt_error *err);
/* Give it back; what waits for it waits all the same. NULL is allowed. */
TT_API void tt_event_free(int device, tt_event *e);
/* The point where the stream (NULL: the current one) is now, with all that was asked of it before. */
TT_API tt_code tt_event_record(int device, tt_event *e, tt_stream *s, tt_error *err);
/* Has its stream come there? True when it was never recorded. */
TT_API tt_code tt_event_done(int device, tt_event *e, bool *done, tt_error *err);
/* Wait until its stream has come there. */
TT_API tt_code tt_event_wait(int device, tt_event *e, tt_error *err);
/* Milliseconds between two timed events that are done. TT_EVALUE when one is not, or was never recorded. */
TT_API tt_code tt_event_ms(int device, tt_event *from, tt_event *to, double *ms, tt_error *err);

/* ---- memory shared with other libraries */

/*
** Borrow the memory of an array on a device, evaluated and moved there if need be: *data is element (0,0,...), steps as
** tt_array_step. What the borrower asks of the stream `reader` (a vendor's handle; TT_NO_STREAM: he orders it himself)
** from now on sees the finished values. The memory never changes under him, and stays where it is. Give back with
** tt_unpeek_on(hold), after which it may be written when what was asked of CUDA's default stream until then is done.
*/
#define TT_NO_STREAM ((void *)-1)
#define TT_CUDA_LEGACY_STREAM ((void *)1) /* CUDA's default stream, by the handle that always means it */
TT_API tt_code tt_peek_on(tt_array *a, int device, void *reader, const void **data, void **hold, tt_error *err);
/* Give back what tt_peek_on borrowed. NULL is allowed. */
TT_API void tt_unpeek_on(void *hold);

/*
** As tt_adopt, for memory on a device. Its values are finished when the stream `writer` (a vendor's handle;
** TT_NO_STREAM: they are already) has done what was asked of it up to now.
*/
TT_API tt_code tt_adopt_on(int device, void *writer, tt_dtype dtype, int rank, const int64_t *len, void *data,
                           const int64_t *stride, bool readonly, void (*drop)(void *ctx), void *ctx, tt_array **out,
                           tt_error *err);
/*
** A copy in memory of its own, where the array lies, made by the time this returns (on a device: asked for). tt_copy
** shares memory until one of the two is written, which is not good enough where others hold the address.
*/
TT_API tt_code tt_detach(tt_array *a, tt_array **out, tt_error *err);
/* The device of the type ("cuda") that memory at `p` belongs to; TT_CPU when it belongs to none of them. */
TT_API int tt_memory_device(const char *type, const void *p);

/* Host memory that the device copies from and to at full speed ("pinned"); plain memory for the CPU. Contents unset. */
TT_API tt_code tt_pinned_new(int device, size_t size, void **out, tt_error *err);
/* Give it back, with the size that was asked for. NULL is allowed. */
TT_API void tt_pinned_free(int device, void *p, size_t size);

/*
** Memory at one address for the host and a device, which move it to whoever touches it. Launches on that device take
** arrays in it as they are; what they wrote may be looked at after a synchronisation. For the CPU, and devices that
** only simulate one, plain memory. how: who may touch it, the numbers of CUDA's attach flags (1: everybody, 2: the
** host, 4: the host and one stream). Contents unset. TT_ENOTIMPL: the device has no such memory.
*/
TT_API tt_code tt_managed_new(int device, size_t size, int how, void **out, tt_error *err);
/* Give it back once nothing uses it any more: waits. NULL is allowed. */
TT_API void tt_managed_free(int device, void *p, size_t size);
/* Say anew who may touch it (`how` as above), from where `s` is now (NULL: the thread's current stream) on. */
TT_API tt_code tt_managed_attach(void *p, int how, tt_stream *s, tt_error *err);
/* The device whose such memory lies at `p`; TT_CPU: none does. */
TT_API int tt_managed_device(const void *p);

/* ---- memory at an address that stays: for programs that keep addresses and calculate with them */

/*
** `size` bytes of a device (TT_CPU: of the host), contents unset. Any address among them stands for the memory from
** there on. Arrays are something else: their elements may move. TT_ENOMEM; TT_EVALUE for no bytes at all.
*/
TT_API tt_code tt_raw_new(int device, size_t size, void **out, tt_error *err);
/* Give back the memory that begins at `p`, after all that the device was asked for: waits. TT_EVALUE: none begins
 * there. */
TT_API tt_code tt_raw_free(void *p, tt_error *err);
/* Let these functions know memory of somebody else's on a device (a program's variable): it must stay. */
TT_API tt_code tt_raw_note(int device, void *p, size_t size, tt_error *err);
/* Where the memory at `p` lies, and how many bytes there are from `p` on. TT_EVALUE: no such memory is known. */
TT_API tt_code tt_raw_find(const void *p, int *device, size_t *left, tt_error *err);

typedef enum tt_raw_way { TT_RAW_IN, TT_RAW_OUT, TT_RAW_WITHIN } tt_raw_way;
/*
** Copy from the host's memory, to it, or (also from device to device) within memory of tt_raw_new, after the launches
** recorded before and in the order of `s` (NULL: the thread's current stream; else one of the device). TT_EVALUE when
** it reaches beyond that memory. wait: it is done when this returns. Else a copy of pinned host memory may go on,
** which then must stay; memory that is not pinned is done with.
*/
TT_API tt_code tt_raw_copy(void *to, const void *from, size_t size, tt_raw_way way, tt_stream *s, bool wait,
                           tt_error *err);
/* `count` times the `width` bytes at `item`, in the order of `s`. */
TT_API tt_code tt_raw_fill(void *to, const void *item, size_t width, size_t count, tt_stream *s, tt_error *err);
/* The elements at `from` as a new array of that device, in C order. */
TT_API tt_code tt_raw_load(const void *from, tt_dtype dtype, int rank, const int64_t *len, tt_array **out,
                           tt_error *err);
/* The elements of an array to `to`, in C order; TT_EVALUE when that reaches beyond the memory. */
TT_API tt_code tt_raw_store(void *to, tt_array *a, tt_error *err);

#ifdef __cplusplus
}
#endif
#endif
