/*
** Memory of a device, kept for reuse. A block belongs to the stream it was taken for: given back, it serves that
** stream's next work at once, and another stream's once all work that used it is done. Thread-safe.
**
** TUTTI_MEM_LIMIT bytes (suffix K, M, G) at most, if set. TUTTI_POISON=1 fills what is given back with NaN patterns.
*/
#ifndef TT_DEVICE_CACHE_ALLOC_H
#define TT_DEVICE_CACHE_ALLOC_H

#include "ir/device.h"

typedef struct tt_dmem tt_dmem; /* a block */

/*
** `size` bytes (at least 1) for work on `s`, aligned to 256. When the device is full: what is kept goes back to it,
** then the pressure function is asked, then TT_ENOMEM.
*/
TT_HIDDEN tt_code tt__dmem_alloc(tt_device *d, tt_stream *s, size_t size, tt_dmem **out, tt_error *err);
/* Give back, in the order of its streams: work asked for before may still use it. */
TT_HIDDEN void tt__dmem_free(tt_device *d, tt_dmem *m);
/* Work on `s` uses it too. */
TT_HIDDEN void tt__dmem_used_on(tt_device *d, tt_dmem *m, tt_stream *s);
TT_HIDDEN void *tt__dmem_at(const tt_dmem *m);
/* The block in use that begins at this address. */
TT_HIDDEN tt_dmem *tt__dmem_of(tt_device *d, const void *at);

/* Asked to free `need` bytes by giving blocks back; true if it freed any. One for the process. */
TT_HIDDEN void tt__dmem_set_pressure(bool (*make_room)(tt_device *d, size_t need, void *ctx), void *ctx);

typedef struct tt_dmem_stats {
  int64_t allocated, max_allocated; /* bytes in blocks given out */
  int64_t reserved, max_reserved;   /* bytes taken from the device */
  int64_t limit;                    /* 0: none */
} tt_dmem_stats;
TT_HIDDEN tt_dmem_stats tt__dmem_stats(tt_device *d);
TT_HIDDEN void tt__dmem_reset_peak(tt_device *d);
TT_HIDDEN void tt__dmem_set_limit(tt_device *d, int64_t bytes);
/* Give what is kept and unused back to the device. */
TT_HIDDEN void tt__dmem_trim(tt_device *d);

#endif
