/*
** A device without hardware, for tests of everything above devices. Its memory is host memory at addresses of its own
** (TUTTI_NULL_MEMORY bytes at most, 1 GiB), its time is simulated, its launches call host functions (tt_null_launch).
**
** It does what a driver may do and a fast machine rarely does: work that is asked for only stands in its stream's
** queue. It runs when somebody waits or asks, stream by stream in a seeded random order (TUTTI_NULL_SEED), or, as
** often, with nothing done that the wait does not need. So an order that the program did not ask for is an order that
** fails.
**
** Faults (base/fault.h): "device memory", "copy" and "launch" fail the call, "device loss" lets the launch take the
** device with it once it runs. Bad addresses are errors.
*/
#ifndef TT_DEVICE_NULL_NULL_H
#define TT_DEVICE_NULL_NULL_H

#include "ir/device.h"

TT_HIDDEN extern const tt_device_ops tt__null_ops;

/* How many there are: TUTTI_NULL_DEVICE, unless this was called with n >= 0. */
TT_HIDDEN void tt__null_show(int n);
/* Another random order from here on. */
TT_HIDDEN void tt__null_seed(tt_device *d, uint64_t seed);
/* Microseconds of simulated time since it was opened, as the host sees them. */
TT_HIDDEN double tt__null_us(tt_device *d);
/* Commands asked for that have not run. */
TT_HIDDEN int64_t tt__null_pending(tt_device *d);
/* Bytes of device and of pinned memory that were not given back. */
TT_HIDDEN int64_t tt__null_bytes(tt_device *d);

#endif
