/*
** Memory of a device, kept for reuse: taking it from the driver may wait for the device. A block belongs to the stream
** it was taken for: given back, it serves that stream's next work at once, as soon as all other streams that it was
** used on are done. Other streams get memory that the driver gave for them. Thread-safe.
**
** Blocks are cut from segments that the driver gave: small ones (1 MiB at most, rounded to 512 bytes) from segments of
** 2 MiB, larger ones, rounded to 2 MiB, from segments of their own; neighbours that are free merge.
**
** TUTTI_MEM_LIMIT bytes (suffix K, M, G) at most, if set. TUTTI_POISON=1 fills what is given back, and what is new
** (TT_MEM_POISON). TUTTI_CHECK=1 takes each block from the driver and gives it back at once, so
** that a tool that checks accesses sees its bounds.
*/
#ifndef TT_DEVICE_CACHE_ALLOC_H
#define TT_DEVICE_CACHE_ALLOC_H

#include "ir/device.h"

typedef struct tt_dmem tt_dmem; /* a block */

/*
** `size` bytes (0 gives a block too) for work on `s`, aligned to 512. When the device is full: what other streams
** still use is waited for, what is kept goes back to the driver, then the pressure function is asked, then TT_ENOMEM.
*/
TT_HIDDEN tt_code tt__dmem_alloc(tt_device *d, tt_stream *s, size_t size, tt_dmem **out, tt_error *err);
/* Give back, in the order of its streams: work asked for before may still use it. */
TT_HIDDEN void tt__dmem_free(tt_device *d, tt_dmem *m);
/* Keep the first `size` bytes, at most what it has: the rest is given back, in the order of its streams. */
TT_HIDDEN void tt__dmem_shrink(tt_device *d, tt_dmem *m, size_t size);
/* Work on `s` uses it too, asked for before it is given back. */
TT_HIDDEN void tt__dmem_used_on(tt_device *d, tt_dmem *m, tt_stream *s);
TT_HIDDEN void *tt__dmem_at(const tt_dmem *m);

/* Asked, with no lock of the cache held, to free `need` bytes by giving blocks back; true if it freed any. One for the
 * process. */
TT_HIDDEN void tt__dmem_set_pressure(bool (*make_room)(tt_device *d, size_t need, void *ctx), void *ctx);

/* Called before memory goes back to the driver and before it is poisoned: who has gathered work on freed memory without
 * asking the device for it yet must do so. May be called with the cache's lock held. One for the process. */
TT_HIDDEN void tt__dmem_set_flush(void (*flush)(void));

typedef struct tt_dmem_stats {
  int64_t allocated, max_allocated; /* bytes in blocks given out */
  int64_t reserved, max_reserved;   /* bytes taken from the device */
  int64_t waiting;                  /* given back, and still in use on another stream */
  int64_t pinned;                   /* pinned host memory, in use or kept */
  int64_t free_blocks;              /* pieces that are kept, on the device */
  int64_t pinned_kept, pinned_free; /* bytes and pieces of pinned memory that are kept */
  int64_t limit;                    /* 0: none */
  int64_t allocs, driver_allocs;    /* calls so far */
} tt_dmem_stats;
TT_HIDDEN tt_dmem_stats tt__dmem_stats(tt_device *d);
TT_HIDDEN void tt__dmem_reset_peak(tt_device *d);
TT_HIDDEN void tt__dmem_set_limit(tt_device *d, int64_t bytes);
/* Give what is kept and unused back to the device; waits for what other streams still use. */
TT_HIDDEN void tt__dmem_trim(tt_device *d);
/* What is wrong with the cache's own structure, or NULL. For tests. */
TT_HIDDEN const char *tt__dmem_check(tt_device *d);

/* (registry) */
TT_HIDDEN tt_code tt__dmem_open(tt_device *d, tt_error *err);
TT_HIDDEN void tt__dmem_close(tt_device *d);

#endif
