/* Memory without a name that processes map by its descriptor. */
#ifndef TT_BASE_OS_SHARED_H
#define TT_BASE_OS_SHARED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A descriptor of `size` bytes of zeros, which no child process gets. */
TT_HIDDEN tt_code tt__shared_new(size_t size, int *fd, tt_error *err);
/* Map all of it; `own`: what is written here is seen by nobody else. TT_EVALUE for a descriptor without memory. */
TT_HIDDEN tt_code tt__shared_map(int fd, bool own, void **data, size_t *size, tt_error *err);
TT_HIDDEN void tt__shared_unmap(void *data, size_t size);

#endif
