/*
** Masks, a byte for each element, true where it is not 0: how many are true, where they are, and what stands there.
** 64 bytes are looked at as the bits of a word, so that what is false costs next to nothing, and nothing hangs on how
** true and false are mixed.
*/
#ifndef TT_BASE_MASK_H
#define TT_BASE_MASK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* How many of n are true. */
TT_HIDDEN int64_t tt__mask_count(const uint8_t *mask, int64_t n);

/*
** at + step * i for each true mask[i], in order; returns how many. `room` is what `out` holds, at least as many as are
** true: up to there what lies behind the last place may be written.
*/
TT_HIDDEN int64_t tt__mask_places(const uint8_t *mask, int64_t n, int64_t at, int64_t step, int64_t *out, int64_t room);

/* The elements of `item` bytes of `from` where the mask is true, one behind the other in `to`. */
TT_HIDDEN void tt__mask_pick(const uint8_t *mask, int64_t n, const void *from, size_t item, void *to);

#endif
