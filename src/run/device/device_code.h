/*
** Code for devices: rendered, compiled for the very chip, kept on disk and in the process. Private to run/.
*/
#ifndef TT_RUN_DEVICE_DEVICE_CODE_H
#define TT_RUN_DEVICE_DEVICE_CODE_H

#include "ir/device.h"
#include "ir/kernel.h"
#include "render/gpu/threads.h"

/* The words of what is rendered for the device. */
TT_HIDDEN const tt_dialect *tt__device_dialect(const tt_device *d);
/* The routine of a kernel in one variant. Compiles when nobody has asked before: up to 100 ms. */
TT_HIDDEN tt_code tt__device_kernel(tt_device *d, const tt_kernel *k, const tt_variant *v, tt_routine **out,
                                    tt_error *err);

/* What of the dialect's header a text may call. */
#define TT_HEADER_NONE (-1) /* else a tt_scalar_text */

/* The routine `name` of a text, above which is put what it calls. */
TT_HIDDEN tt_code tt__device_text(tt_device *d, const char *text, int header, const char *name, tt_routine **out,
                                  tt_error *err);

#endif
