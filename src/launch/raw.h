/*
** Memory at addresses that stay, for programs that calculate with them: the host's, a device's, or managed memory that
** both see. The functions are those of tutti/stream.h that are called so. No lock is held; err is not NULL.
*/
#ifndef TT_LAUNCH_RAW_H
#define TT_LAUNCH_RAW_H

#include "ir/device.h"
#include "tutti/stream.h"

/* Take memory of a device. */
TT_HIDDEN tt_code tt__raw_new(int device, size_t size, void **out, tt_error *err);
/* Give it back, once what uses it is done. TT_EVALUE: it is none of ours. */
TT_HIDDEN tt_code tt__raw_free(void *p, tt_error *err);
/* Know somebody else's memory. */
TT_HIDDEN tt_code tt__raw_note(int device, void *p, size_t size, tt_error *err);
/* Where memory of these functions lies, and its bytes from `p` on. TT_EVALUE: it is none. */
TT_HIDDEN tt_code tt__raw_find(const void *p, int *device, size_t *left, tt_error *err);
/* Copy bytes, after the launches before. */
TT_HIDDEN tt_code tt__raw_copy(void *to, const void *from, size_t size, tt_raw_way way, tt_stream *s, bool wait,
                               tt_error *err);
/* An item of `width` bytes, `count` times. */
TT_HIDDEN tt_code tt__raw_fill(void *to, const void *item, size_t width, size_t count, tt_stream *s, tt_error *err);
/* A new array of what lies there. */
TT_HIDDEN tt_code tt__raw_load(const void *from, tt_dtype dtype, int rank, const int64_t *len, tt_array **out,
                               tt_error *err);
/* The other way round: an array in C order to memory. */
TT_HIDDEN tt_code tt__raw_store(void *to, tt_array *a, tt_error *err);

/* Memory of the host and a device. */
TT_HIDDEN tt_code tt__managed_new(int device, size_t size, int how, void **out, tt_error *err);
/* Give it back. Waits. */
TT_HIDDEN void tt__managed_free(int device, void *p, size_t size);
/* Say who may touch it; plain memory may be touched by everybody. */
TT_HIDDEN tt_code tt__managed_attach(void *p, int how, tt_stream *s, tt_error *err);

/* The device that the memory at `p` lies on, of tt_raw_new or another library's, and its bytes from `p` on (0: not
** known). TT_EVALUE: no memory is known there. */
TT_HIDDEN tt_code tt__raw_where(const void *p, int *device, size_t *left, tt_error *err);
/* The device whose managed memory all of [p, p + size) is; TT_CPU: it is not. */
TT_HIDDEN int tt__managed_at(const void *p, size_t size);
/* Copies of pinned memory that nobody has waited for are done after this. */
TT_HIDDEN void tt__raw_settle(tt_device *d);

#endif
