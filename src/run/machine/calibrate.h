/*
** What this machine can do, measured once: the figures behind predicted times (ir/machine.h). Private to run/. Session
** lock held in every call.
*/
#ifndef TT_RUN_MACHINE_CALIBRATE_H
#define TT_RUN_MACHINE_CALIBRATE_H

#include "ir/device.h"
#include "ir/machine.h"

/* The machine as it is known: figures of an earlier process, found on disk, or of no machine in particular, and the
 * devices that tt__machine_device was asked for. It stays where it is. */
TT_HIDDEN const tt_machine *tt__machine(void);
/*
** Where something hangs on the CPU's figures, a choice between it and a device or a prediction that somebody reads:
** measure them (some tens of milliseconds, 128 MB), unless that was done, here or by an earlier process, and keep
** them on disk. True: the figures are others now.
*/
TT_HIDDEN bool tt__calibrate(void);

/* The device's number in the machine; its room is what it has now. Beyond TT_MACHINE_DEVICES the last one stands for
 * the others. */
TT_HIDDEN int tt__machine_device(tt_device *d);
/* Device `k` of the machine. */
TT_HIDDEN tt_device *tt__machine_handle(int k);
/* Where something hangs on the device's figures: measure them (some tens of milliseconds), unless that was done, and
 * keep them on disk. */
TT_HIDDEN void tt__calibrate_device(tt_device *d);

/* Are there figures that were measured, of the device or (NULL) of the CPU? */
TT_HIDDEN bool tt__calibrated(const tt_device *d);

#endif
