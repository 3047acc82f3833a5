/*
** Sorting rows that have no room on the device: runs of a row are sorted there and come down; then blocks of the
** result, whose elements are looked up in all runs, go up, are sorted and come down to where they belong. Everything
** moves twice each way, while the device sorts. Stable, so it has the bits of a sort of the whole. Private to run/.
*/
#ifndef TT_RUN_RUNS_H
#define TT_RUN_RUNS_H

#include "device/flow.h"
#include "ir/device.h"
#include "ir/plan.h"
#include "run/calibrate.h"

typedef struct tt_runs {
  int64_t rows, n;    /* elements of a row */
  int64_t run, count; /* of a run, and of a block; how many there are in a row; 0: nothing is sorted so */
  bool places;        /* places are the result */
} tt_runs;

/* Cut into runs for `room` bytes of the device; false: they would be too many. Then what they take, for `work_ns` of
 * one sort, and the bytes that move each way. */
TT_HIDDEN bool tt__runs_cut(const tt_walk *walk, const tt_step *step, double room, tt_runs *out);
TT_HIDDEN double tt__runs_ns(const tt_walk *walk, const tt_step *step, const tt_runs *how, const tt_device_costs *c,
                             double work_ns, double *up, double *down);

/* Run it; the result lies on the host. TT_ENOTIMPL and TT_ENOMEM leave everything as it was. Session lock held, and
 * given up while bytes move. */
TT_HIDDEN tt_code tt__runs_run(tt_device *d, const tt_walk *walk, const tt_step *step, const tt_runs *how,
                               tt_error *err);

/* Let parts go down (piece 0 of `move`) and up (piece 1) at once, so many bytes, with the session lock given up. */
TT_HIDDEN tt_code tt__runs_move(tt_device *d, tt_flow_move_fn *move, void *ctx, size_t up, size_t down, tt_error *err);

#endif
