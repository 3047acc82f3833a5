/*
** Memory that processes share: one fills it with arrays, another uses them where they lie.
**
** A segment has no name. Whoever has its descriptor may map it, and it is gone with the last of them, however they end.
** The one that made it claims it, fills it, and tells the other; that one takes its arrays, and when the last of them
** is gone the segment is free to be claimed again. The two share one word of it, and no lock.
*/
#ifndef TUTTI_SEGMENT_H
#define TUTTI_SEGMENT_H

#include "tutti/array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_segment tt_segment;

/* Room for `size` bytes, free. Its descriptor is *fd, the caller's to close; a child process does not get it. */
TT_API tt_code tt_segment_new(size_t size, int *fd, tt_segment **out, tt_error *err);
/*
** Map the segment behind a descriptor, which stays the caller's. own: what this process writes is not seen by others,
** and what it takes never makes the segment free. TT_EVALUE for what is no segment.
*/
TT_API tt_code tt_segment_open(int fd, bool own, tt_segment **out, tt_error *err);
/* Drop the caller's hold and set *s to NULL. Arrays taken from it stay. NULL and *s == NULL are allowed. */
TT_API void tt_segment_release(tt_segment **s);
/* How many bytes of arrays fit. */
TT_API size_t tt_segment_size(const tt_segment *s);
/* True if it was free: it is the caller's to fill now. */
TT_API bool tt_segment_claim(tt_segment *s);
/* Its claimer has no use for it after all: it is free again. */
TT_API void tt_segment_unclaim(tt_segment *s);
/* Copy arrays, evaluated, one behind the other in C order; TT_EVALUE when there is no room. */
TT_API tt_code tt_segment_fill(tt_segment *s, tt_array *const *array, int n, tt_error *err);
/* The bytes that arrays of these types and lengths take. */
TT_API size_t tt_segment_need(const tt_dtype *dtype, const int64_t *size, int n);

/* What an array in a segment is like. */
typedef struct tt_segment_item {
  tt_dtype dtype;
  int rank;
  const int64_t *len;
} tt_segment_item;
/*
** The arrays that lie there, as they were filled in, without a copy. The segment is free when the last of them is gone;
** on failure, and when there are none, at once.
*/
TT_API tt_code tt_segment_take(tt_segment *s, const tt_segment_item *item, int n, tt_array **out, tt_error *err);

/* ---- bytes that are no arrays of ours */

/* Write bytes into the segment behind a descriptor, `at` bytes behind its first part. TT_EIO where memory is out. */
TT_API tt_code tt_segment_write(int fd, size_t at, const void *data, size_t size, tt_error *err);
/*
** The bytes that lie there, without a copy: they stay until tt_segment_leave is called, once for each. The segment is
** free when the last of what was taken and held is gone. TT_EVALUE when it ends before them.
*/
TT_API tt_code tt_segment_hold(tt_segment *s, size_t at, size_t size, void **data, tt_error *err);
/* Bytes that were held are needed no longer. */
TT_API void tt_segment_leave(tt_segment *s);
/* 64 bits that tell bytes from others, whatever the number of threads that read them. */
TT_API uint64_t tt_segment_digest(const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
