/*
** The one allocator. Every byte the library takes passes through here, with its
** size on both ends, so that live bytes can be counted, capped (TUTTI_MEM_LIMIT)
** and made to fail (fault.h). Thread-safe.
*/
#ifndef TT_BASE_MEM_H
#define TT_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Under AddressSanitizer nothing that was given back is kept: a kept block would hide a use after its end. */
#if defined(__SANITIZE_ADDRESS__)
#define TT_MEM_KEEPS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TT_MEM_KEEPS false
#endif
#endif
#ifndef TT_MEM_KEEPS
#define TT_MEM_KEEPS true
#endif

/* TUTTI_POISON=1: what is given back and kept for reuse, here, in slabs and on devices, is filled with these bytes, and
 * so is new memory: NaN in every float, no address in any pointer. */
#define TT_MEM_POISON 0xff
TT_HIDDEN extern bool tt__mem_poisons;

/* Metadata. NULL when memory is out (or told to fail). Size 0 gives NULL and is not a failure. */
TT_HIDDEN void *tt__mem_alloc(size_t size);
TT_HIDDEN void *tt__mem_zalloc(size_t size); /* zeroed */
/* Grow or shrink; the old block is kept when NULL comes back. */
TT_HIDDEN void *tt__mem_realloc(void *p, size_t old_size, size_t new_size);
/* Give back; NULL is allowed. `size` is what was asked for. */
TT_HIDDEN void tt__mem_free(void *p, size_t size);
/* A copy of `size` bytes, or NULL. */
TT_HIDDEN void *tt__mem_dup(const void *p, size_t size);

/*
** Array memory: 64-byte aligned, big blocks huge-page advised, never initialised. Freed blocks are
** kept for the next request of their size class (at most 1/8 of the RAM), so that a loop of big
** temporaries does not fault its pages in again; they do not count as live.
*/
TT_HIDDEN void *tt__mem_alloc_data(size_t size);
TT_HIDDEN void tt__mem_free_data(void *p, size_t size);
/* Give every kept block back to the system. */
TT_HIDDEN void tt__mem_trim(void);

typedef struct tt_mem_stats {
  int64_t live, peak;           /* bytes, metadata and data together */
  int64_t live_data, peak_data; /* bytes, array memory alone */
  int64_t cached;               /* bytes of array memory kept for reuse, in none of the above, */
  int64_t kept_blocks;          /* and in how many pieces */
  int64_t allocs;               /* calls that succeeded since start */
  int64_t limit;                /* bytes of array memory allowed, 0: none */
} tt_mem_stats;
TT_HIDDEN tt_mem_stats tt__mem_stats(void);
TT_HIDDEN void tt__mem_reset_peak(void);
TT_HIDDEN void tt__mem_set_limit(int64_t bytes);

#endif
