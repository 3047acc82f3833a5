/*
** When launches are asked of a device: a lone one at once, so that the device begins; those in quick succession many at
** a time, which costs the host less; what is left of them when no more come by a thread that looks from time to time.
** So a device is not idle for long while the program does something else. Private to run/.
*/
#ifndef TT_RUN_DEVICE_BATCH_TIMER_H
#define TT_RUN_DEVICE_BATCH_TIMER_H

#include <stdbool.h>

#include "base/err.h"

/* A launch for a device has come: are launches to be asked for now? If not, a thread sees to it soon. */
TT_HIDDEN bool tt__batch_timer_ends(void);

#endif
