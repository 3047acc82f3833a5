/*
** Was memory written since somebody looked? Linux, from 6.7 on, notes pages that are written where it was asked to, and
** a program may ask for its own. Each page is noted by one fault when it is first written; reading costs nothing.
*/
#ifndef TT_PARALLEL_WATCH_H
#define TT_PARALLEL_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Note from now on who writes here. False: this system does not, or not for this memory. */
TT_HIDDEN bool tt__watch_begin(const void *data, size_t size);
/* Was a page of it written since? True also where that cannot be known any more. */
TT_HIDDEN bool tt__watch_written(const void *data, size_t size);
TT_HIDDEN void tt__watch_end(const void *data, size_t size);

#endif
