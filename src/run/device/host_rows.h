/*
** Rows of the library on a device that is the processor, and whose memory is the host's (tt_target.is_host): the
** host's functions do them, over the device's memory as it lies. They are made for this very processor and for all of
** its cores, which texts for any device are not.
*/
#ifndef TT_RUN_DEVICE_HOST_ROWS_H
#define TT_RUN_DEVICE_HOST_ROWS_H

#include "ir/library.h"

/* Run the row, behind the work of the stream; waits. Session lock held; it is given up meanwhile. */
TT_HIDDEN tt_code tt__host_row(tt_device *d, tt_stream *s, const tt_lib_attr *attr, const tt_operand *src, int nsrc,
                               const tt_block *out, tt_error *err);
/* The same of a maker, whose results are memory of the host. */
TT_HIDDEN tt_code tt__host_maker(tt_device *d, tt_stream *s, const tt_lib_maker *m, const tt_lib_attr *attr,
                                 const tt_operand *src, tt_made *out, tt_error *err);

#endif
