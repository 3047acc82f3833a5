/*
** The work of a tile on the simulated device: the row's function of the host. Private to run/.
*/
#ifndef TT_RUN_TILES_NULL_H
#define TT_RUN_TILES_NULL_H

#include "ir/device.h"
#include "ir/library.h"

/*
** Ask for it. `sums` (NULL: none) has the sums of a product whose inner axis is cut, of type `type`, and becomes the
** result behind the last part. *failed gets the code of work that failed, once it has run; it outlives that.
*/
TT_HIDDEN tt_code tt__tiles_null(tt_device *d, tt_stream *s, const tt_lib_attr *attr, const tt_operand *src,
                                 const tt_block *out, void *sums, tt_dtype type, bool is_first, bool is_last,
                                 tt_code *failed, tt_error *err);

#endif
