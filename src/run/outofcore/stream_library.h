/*
** Library steps in tiles, as sched/cut_library.h cut them. Tiles come up, are worked on and go down at once. Private to
** run/.
*/
#ifndef TT_RUN_OUTOFCORE_STREAM_LIBRARY_H
#define TT_RUN_OUTOFCORE_STREAM_LIBRARY_H

#include "ir/device.h"
#include "sched/cut_library.h"

/* Run step `at` so; the result lies on the host. TT_ENOTIMPL and TT_ENOMEM leave everything as it was. Session lock
 * held, and given up while bytes move. */
TT_HIDDEN tt_code tt__stream_library(tt_device *d, const tt_walk *walk, const tt_plan *plan, int at,
                                     const tt_tiles *how, tt_error *err);

#endif
