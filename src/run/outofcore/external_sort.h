/*
** Sorting rows that have no room on the device, in runs that sched/cut_library.h cut: runs of a row are sorted there
** and come down; then blocks of the result, whose elements are looked up in all runs, go up, are sorted and come down
** to where they belong. Everything moves twice each way, while the device sorts. Stable, so it has the bits of a sort
** of the whole. Private to run/.
*/
#ifndef TT_RUN_OUTOFCORE_EXTERNAL_SORT_H
#define TT_RUN_OUTOFCORE_EXTERNAL_SORT_H

#include "device/pipeline.h"
#include "ir/device.h"
#include "sched/cut_library.h"

/* Run it; the result lies on the host. TT_ENOTIMPL and TT_ENOMEM leave everything as it was. Session lock held, and
 * given up while bytes move. */
TT_HIDDEN tt_code tt__external_sort(tt_device *d, const tt_walk *walk, const tt_step *step, const tt_sort_cut *how,
                                    tt_error *err);

/* Let parts go down (piece 0 of `move`) and up (piece 1) at once, so many bytes, with the session lock given up. */
TT_HIDDEN tt_code tt__stream_move(tt_device *d, tt_pipeline_move_fn *move, void *ctx, size_t up, size_t down,
                                  tt_error *err);

#endif
