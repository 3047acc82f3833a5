/* Memory at addresses that stay (tutti/stream.h), for the other files of api/. */
#ifndef TT_API_RAW_H
#define TT_API_RAW_H

#include "ir/device.h"

/* The device that the memory at `p` lies on, of tt_raw_new or another library's, and its bytes from `p` on (0: not
** known). TT_EVALUE: no memory is known there. */
TT_HIDDEN tt_code tt__raw_where(const void *p, int *device, size_t *left, tt_error *err);
/* The device whose managed memory all of [p, p + size) is; TT_CPU: it is not. */
TT_HIDDEN int tt__managed_at(const void *p, size_t size);
/* Copies of pinned memory that nobody has waited for are done after this. */
TT_HIDDEN void tt__raw_settle(tt_device *d);

#endif
