/*
** Residency: which device holds which buffer's bytes. A replica is a buffer's bytes in one device's memory; it is
** made when work there needs them, remembered, and moved to the host when the device is full (least recently used
** first). Private to run/. Session lock held in every call.
*/
#ifndef TT_RUN_RESIDENCY_H
#define TT_RUN_RESIDENCY_H

#include "device/cache_alloc.h"
#include "ir/node.h"

/* The device address of a buffer's bytes, good for work asked of `s` from now on; copied up when they are not there. */
TT_HIDDEN tt_code tt__resident(tt_device *d, tt_stream *s, tt_buffer *b, void **out, tt_error *err);

/* A new buffer whose bytes are to be written on the device. `label` says what it is when memory is out. */
TT_HIDDEN tt_code tt__resident_new(tt_device *d, tt_stream *s, size_t size, const tt_node *label, tt_buffer **out,
                                   void **at, tt_error *err);

/* Work asked of `s` writes the buffer's bytes on `d`: the host's and other devices' are old. */
TT_HIDDEN void tt__resident_written(tt_device *d, tt_buffer *b);

/* What was gathered has been asked of the device, or could not be: then what was written there since the last such call
 * does not hold what it should, and asking for it fails. */
TT_HIDDEN void tt__resident_launched(const tt_device *d, tt_code code, const tt_error *why);

/* The first `size` bytes to the host, wherever they lie. Waits. */
TT_HIDDEN tt_code tt__resident_peek(tt_buffer *b, void *to, size_t size, tt_error *err);

/* Is it there, so that using it costs no transfer? */
TT_HIDDEN bool tt__is_resident(int id, const tt_buffer *b);

/* The first device that has its bytes; NULL: none. */
TT_HIDDEN tt_device *tt__resident_first(const tt_buffer *b);

/* Memory of the device for the length of some work on `s`; tt__dmem_free gives it back in the stream's order. */
TT_HIDDEN tt_code tt__resident_temp(tt_device *d, tt_stream *s, size_t size, tt_dmem **out, tt_error *err);
/* Such memory becomes a buffer's, or is given back when that fails. */
TT_HIDDEN tt_code tt__resident_adopt(tt_device *d, tt_stream *s, tt_dmem *block, size_t size, const tt_node *label,
                                     tt_buffer **out, tt_error *err);

/* The number that the buffer's bytes on `d`, where they are, bear for what a store leaves of them
 * (outofcore/double_buffer.h). */
TT_HIDDEN uint64_t tt__resident_border(const tt_device *d, const tt_buffer *b);
TT_HIDDEN void tt__resident_set_border(const tt_device *d, const tt_buffer *b, uint64_t border);

/* Memory of tt__resident_temp that has been filled with the bytes of `b`, in the order of `s`, becomes its replica, or
 * is given back: then there is another, unless this failed. */
TT_HIDDEN tt_code tt__resident_arrived(tt_device *d, tt_stream *s, tt_buffer *b, tt_dmem *block, tt_error *err);

/* A new step: replicas used since then are not moved out on behalf of it. If it is one of the evaluation's, other
 * threads do not move them out either, until the next one or the end. */
TT_HIDDEN void tt__resident_step(bool of_evaluation);
/* The end of an evaluation: bytes that their owner may change on the host are forgotten. */
TT_HIDDEN void tt__resident_end(void);

/* Others read the bytes on the device: they stay there until let go as often as kept. */
TT_HIDDEN void tt__resident_keep(const tt_device *d, tt_buffer *b);
TT_HIDDEN void tt__resident_let_go(const tt_device *d, tt_buffer *b);

#endif
