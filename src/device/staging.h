/*
** Transfers of pageable host memory through pinned buffers: several threads fill them while the device's copy engine
** empties others. Small ones take a short way. One large one at a time and direction: others wait their turn.
** Thread-safe.
*/
#ifndef TT_DEVICE_STAGING_H
#define TT_DEVICE_STAGING_H

#include "device/pipeline.h"
#include "ir/device.h"

/* To the device, in the order of `s`. On return `from` has been read and may change. */
TT_HIDDEN tt_code tt__staging_in(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err);
/* To the host, after what was asked of `s`; waits for it. */
TT_HIDDEN tt_code tt__staging_out(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err);

/* Pinned host memory, kept for reuse. What is given back must not be in use by a copy any more. */
TT_HIDDEN tt_code tt__pinned_alloc(tt_device *d, size_t size, void **out, tt_error *err);
TT_HIDDEN void tt__pinned_free(tt_device *d, void *p, size_t size);
TT_HIDDEN void tt__pinned_drop(tt_device *d); /* what is kept goes back to the system */

/*
** A pipeline over the device's rings, which move about so many bytes each way; 0: none moves. As tt__pipeline_run;
** TT_ENOMEM before anything was asked for when there is no pinned memory.
*/
TT_HIDDEN tt_code tt__staging_pipeline(const tt_pipeline *f, size_t up_bytes, size_t down_bytes, tt_error *err);

/* (registry) */
TT_HIDDEN tt_code tt__staging_open(tt_device *d, tt_error *err);
TT_HIDDEN void tt__staging_close(tt_device *d);

#endif
