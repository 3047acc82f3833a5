/*
** NVIDIA's run-time compiler: text to a binary for one chip. Needs no driver and no device.
*/
#ifndef TT_DEVICE_CUDA_NVRTC_H
#define TT_DEVICE_CUDA_NVRTC_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "ir/device.h"

/*
** Compile for compute capability `arch` (90). `driver`: what the driver knows (12040), 0: not asked; a compiler of a
** later major version makes binaries that such a driver refuses, so an older one is looked for. A chip that the
** compiler does not know yet gets portable code (PTX) of the newest that it knows. options: words between spaces, may
** be NULL; "--minimal" and "--Ofast-compile=min" are kept from compilers that may not know them. TT_EDEVICE with the
** log, TT_EIO when there is no compiler.
*/
TT_HIDDEN tt_code tt__nvrtc_compile(int arch, int driver, const char *source, const char *options, tt_str *binary,
                                    tt_error *err);

/* "nvrtc 13.0 sm_90a": all that a binary depends on besides text and options. Empty without a compiler. */
TT_HIDDEN void tt__nvrtc_identity(int arch, int driver, tt_str *out);

/*
** Load it and let it compile something on another thread, while the caller does something else that takes long: its
** first compilation takes a tenth of a second more than others. The caller waits for it, because NVRTC does not
** survive that a process ends while it loads.
*/
typedef struct tt_nvrtc_warm {
  pthread_t thread;
  bool is_started;
  int arch, driver;
} tt_nvrtc_warm;
TT_HIDDEN void tt__nvrtc_warm_begin(tt_nvrtc_warm *w, int arch, int driver);
TT_HIDDEN void tt__nvrtc_warm_end(tt_nvrtc_warm *w);

/* "NVRTC 13.0 (path)" or why there is none. */
TT_HIDDEN void tt__nvrtc_info(char *out, size_t size);

#endif
