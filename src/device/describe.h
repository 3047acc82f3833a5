/*
** What devices there are and what they say of themselves, the host as one of them: the structs of tutti/device.h.
*/
#ifndef TT_DEVICE_DESCRIBE_H
#define TT_DEVICE_DESCRIBE_H

#include "base/err.h"
#include "tutti/device.h"

/* All that this process can use, and the k-th of them, the best first; TT_AUTO behind the last. */
TT_HIDDEN int tt__describe_count(void);
TT_HIDDEN int tt__describe_at(int k);
/* "cuda:0"; false, and "", where there is no such device. */
TT_HIDDEN bool tt__describe_name(int device, char *out, size_t size);
/* Why there is none of a type; "" when there is one. One thread at a time; the text stays. */
TT_HIDDEN const char *tt__describe_missing(const char *type);
/* These open the device. */
TT_HIDDEN tt_code tt__describe(int device, tt_device_info *out, tt_error *err);
TT_HIDDEN tt_code tt__describe_memory(int device, tt_memory *out, tt_error *err);
/* Pinned memory of the host; of the CPU none, its memory is like any other. */
TT_HIDDEN tt_code tt__describe_pinned(int device, tt_memory *out, tt_error *err);
TT_HIDDEN void tt__describe_host_memory(tt_memory *out);

#endif
