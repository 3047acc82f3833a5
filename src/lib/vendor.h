/*
** A library of a device's vendor, found at run time: a table of its functions and a handle of it for each device.
** Knows what such libraries have in common and none of them by name.
*/
#ifndef TT_LIB_VENDOR_H
#define TT_LIB_VENDOR_H

#include "base/lock.h"
#include "ir/device.h"

typedef void (*tt_vendor_fn)(void);

#define TT_VENDOR_DEVICES 32

/* One library: a static variable with its first four fields set. The rest is guarded by `lock`. */
typedef struct tt_vendor {
  const char *stem;        /* "libcublasLt.so" */
  const char *const *name; /* [n]: symbols; the first makes a handle: int (void **handle), 0 when done */
  int n;
  tt_vendor_fn *fn; /* [n]: filled when found. A name that begins with '?' may be missing: NULL */
  tt_lock lock;
  bool found;
  bool played; /* (tests) somebody plays the library: `fn` is filled, any device will do */
  int tries;
  int status; /* of the last attempt to make a handle */
  char path[512];
  void *extra[2]; /* the caller's, under the lock */
  int ndevice;
  struct {
    tt_device *device;
    void *handle;
  } at[TT_VENDOR_DEVICES];
} tt_vendor;

/*
** Find the library, make `d` the calling thread's device, give its handle and take the lock: these libraries' handles
** serve one thread at a time. On TT_OK the caller gives the lock back with tt__vendor_leave. TT_ENOTIMPL: no such
** library serves here.
*/
TT_HIDDEN tt_code tt__vendor_enter(tt_vendor *v, tt_device *d, void **handle, tt_error *err);
TT_HIDDEN void tt__vendor_leave(tt_vendor *v);

#endif
