/*
** Small objects of the graph (nodes, arrays, storages, buffers): size classes of equal cells cut from chunks, so that
** recording does not go to the system allocator. Under the session lock.
*/
#ifndef TT_GRAPH_SLAB_H
#define TT_GRAPH_SLAB_H

#include <stdint.h>

#include "base/err.h"

/* Uninitialised, 16-byte aligned; NULL when memory is out. */
TT_HIDDEN void *tt__slab_alloc(size_t size);
/* Give back; `size` is what was asked for. NULL allowed. */
TT_HIDDEN void tt__slab_free(void *p, size_t size);
/* Give the chunks in which nothing lives back to the allocator. */
TT_HIDDEN void tt__slab_trim(void);
/* Bytes that chunks hold beyond the cells in use: what leak checks must not count. */
TT_HIDDEN int64_t tt__slab_slack(void);

#endif
