/* How busy the host is, from the kernel's text files. */
#ifndef TT_BASE_OS_HOST_H
#define TT_BASE_OS_HOST_H

#include "base/err.h"
#include "tutti/monitor.h"

/* See tutti/monitor.h. */
TT_HIDDEN tt_code tt__host_read(tt_host_stats *out, tt_host_core *core, int room, tt_error *err);

#endif
