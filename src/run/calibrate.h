/*
** What this machine does per nanosecond: measured once a process, in a few milliseconds.
*/
#ifndef TT_RUN_CALIBRATE_H
#define TT_RUN_CALIBRATE_H

#include "base/err.h"

typedef struct tt_calibration {
  double bytes_per_ns; /* all threads, streaming */
  double ns_per_op;    /* one thread, one simple instruction on one element, interpreted */
  double launch_ns;    /* a parallel loop that does nothing */
} tt_calibration;

/* Measured at first use. */
TT_HIDDEN const tt_calibration *tt__calibration(void);

#endif
