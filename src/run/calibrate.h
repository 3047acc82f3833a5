/*
** What this machine can do, measured once: the figures behind predicted times. Private to run/.
*/
#ifndef TT_RUN_CALIBRATE_H
#define TT_RUN_CALIBRATE_H

#include "ir/device.h"

typedef struct tt_calibration {
  double bytes_per_ns; /* memory traffic of all threads together */
  double ns_per_op;    /* one instruction of a kernel on one element, one thread */
  double ns_per_flop;  /* one floating-point operation of a library routine, one thread */
  double launch_ns;    /* waking the pool for a launch */
} tt_calibration;

/* The figures there are: of an earlier process, found on disk, or of no machine in particular. Session lock held. */
TT_HIDDEN const tt_calibration *tt__calibration(void);
/*
** Where something hangs on the figures, a choice between the CPU and a device or a prediction that somebody reads:
** measure them (some tens of milliseconds, 128 MB), unless that was done, here or by an earlier process, and keep
** them on disk. True: the figures are others now. Session lock held.
*/
TT_HIDDEN bool tt__calibrate(void);

/* The same of a device, and what moving costs: not in proportion to the bytes. */
enum { TT_MOVE_SIZES = 6 };
TT_HIDDEN extern const size_t tt__move_sizes[TT_MOVE_SIZES];

typedef struct tt_device_costs {
  double bytes_per_ns;                                 /* of its memory, read and written */
  double ns_per_op, ns_per_flop;                       /* the whole device */
  double launch_ns;                                    /* of a launch in a row of launches */
  double both_bytes_per_ns;                            /* the sum of both ways when bytes move either way at once */
  double up_ns[TT_MOVE_SIZES], down_ns[TT_MOVE_SIZES]; /* of one move of tt__move_sizes[k] bytes; see tt__move_ns */
} tt_device_costs;

/* What moving so many bytes takes, by `up_ns` or `down_ns`. */
TT_HIDDEN double tt__move_ns(const double *took, double bytes);

/* Measured at first use (some tens of milliseconds), then kept on disk. */
TT_HIDDEN const tt_device_costs *tt__device_costs(tt_device *d);

/* Are there figures that were measured, of the device or (NULL) of the CPU? */
TT_HIDDEN bool tt__calibrated(const tt_device *d);

#endif
