/*
** Functions whose code is likely to be on disk: a hint, so that no compiler is started ahead in vain. A table of marks
** in one file beside the cache; a mark that is lost or wrong costs a few milliseconds.
*/
#ifndef TT_LAUNCH_CACHE_HINTS_H
#define TT_LAUNCH_CACHE_HINTS_H

#include <stdbool.h>

#include "base/hash.h"

/* Is there likely code for it? */
TT_HIDDEN bool tt__cache_hint_find(tt_digest key);
/* There is, from now on. */
TT_HIDDEN void tt__cache_hint_add(tt_digest key);

#endif
