/*
** Memory that processes share (tutti/segment.h), as bytes. A segment begins with a word that both processes see: is it
** taken? Whoever made it sets it, the reader clears it. How many parts of it a reader holds is the reader's own count.
*/
#ifndef TT_IO_SEGMENT_H
#define TT_IO_SEGMENT_H

#include "base/err.h"
#include "tutti/segment.h"

/* Parts begin at lines of the cache; so does the first, behind the word. */
enum { TT_SEGMENT_GRAIN = 64 };
static inline size_t tt__segment_rounded(size_t size) {
  return (size + TT_SEGMENT_GRAIN - 1) / TT_SEGMENT_GRAIN * TT_SEGMENT_GRAIN;
}

TT_HIDDEN tt_code tt__segment_new(size_t size, int *fd, tt_segment **out, tt_error *err);
TT_HIDDEN tt_code tt__segment_open(int fd, bool own, tt_segment **out, tt_error *err);
/* Drop a hold: the caller's of new and open. */
TT_HIDDEN void tt__segment_drop(tt_segment *s);
TT_HIDDEN size_t tt__segment_size(const tt_segment *s);
TT_HIDDEN bool tt__segment_claim(tt_segment *s);
TT_HIDDEN void tt__segment_unclaim(tt_segment *s);

/* Where the next `size` bytes lie; *at goes behind them, from 0 on. NULL: they have no room. */
TT_HIDDEN void *tt__segment_part(tt_segment *s, size_t size, size_t *at);
/* A reader holds a part, and with it the segment; while parts are taken, one hold more keeps it from being free. */
TT_HIDDEN void tt__segment_keep(tt_segment *s);
/* It holds it no longer, `s` is the segment: the last one leaves it free. */
TT_HIDDEN void tt__segment_leave(void *s);

#endif
