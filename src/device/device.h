/*
** The registry: which devices there are, their names, and opening each once in a process.
**
** Fork: a child of fork keeps nothing of a device. Those that were open in the parent are lost there, with a text that
** says what to do.
*/
#ifndef TT_DEVICE_DEVICE_H
#define TT_DEVICE_DEVICE_H

#include "base/str.h"
#include "ir/device.h"

/*
** The device of that id (tt__device_id), opened at the first call and kept; *out is NULL for the CPU, which is no
** device. A device that is lost is given all the same: its calls fail. Thread-safe. May take long, and waits for
** another thread that opens one.
*/
TT_HIDDEN tt_code tt__device_open(int id, tt_device **out, tt_error *err);
/* The index of the device of a kind that memory belongs to; -1: to none, or it cannot be known. */
TT_HIDDEN int tt__device_owner(tt_device_kind kind, const void *p);
/* The device if it is open, else NULL. */
TT_HIDDEN tt_device *tt__device_peek(int id);
/* Is it there, and not lost? Opens none. */
TT_HIDDEN bool tt__device_usable(int id);
/* The last one opened, and so on through `before`; NULL: none. */
TT_HIDDEN tt_device *tt__device_last(void);

/* Devices of a kind; 0 with `why` (may be NULL) saying what is missing. The CPU is one. */
TT_HIDDEN int tt__device_count(tt_device_kind kind, char *why, size_t size);

/* "cpu", "cuda:1", "cuda" and "gpu" (the first, which is the fastest one), "null:0". TT_EVALUE for a name without
 * meaning, TT_EDEVICE when there is no such device; both texts list what there is. */
TT_HIDDEN tt_code tt__device_named(const char *name, int *id, tt_error *err);

/* Where programs that name no device may be computed: the first of CUDA's, else the first of OpenCL's if that is a GPU
 * (one that is the processor once more gives nothing). -1: nowhere. Drivers are asked, once. */
TT_HIDDEN int tt__device_gpu(void);

/* (back ends) Mark as lost, once: the first cause stays. Returns TT_EDEVICE with the device's fault in err. */
TT_HIDDEN tt_code tt__device_lose(tt_device *d, tt_error *err, const char *fmt, ...) TT_PRINTF(3, 4);
/* (back ends) TT_OK, or TT_EDEVICE with its fault. */
TT_HIDDEN tt_code tt__device_alive(const tt_device *d, tt_error *err);

/* Close every device. No other thread may use one. For tests. */
TT_HIDDEN void tt__device_close_all(void);
#endif
