/*
** Fault injection, compiled into every build: tests make the n-th call of a
** kind fail and demand a clean error, no leak and a working next call.
*/
#ifndef TT_BASE_FAULT_H
#define TT_BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

typedef enum tt_fault {
  TT_FAULT_MEMORY,        /* every allocation */
  TT_FAULT_COMPILE,       /* the run-time C compiler */
  TT_FAULT_SPAWN,         /* starting a process or a thread */
  TT_FAULT_WRITE,         /* writing a file */
  TT_FAULT_READ,          /* reading a file */
  TT_FAULT_LOAD,          /* dlopen, dlsym */
  TT_FAULT_DEVICE_MEMORY, /* device and pinned memory */
  TT_FAULT_LAUNCH,        /* a launch on a device: the call fails, the device lives */
  TT_FAULT_COPY,          /* a copy or fill on a device, likewise */
  TT_FAULT_LOSS,          /* a device is lost at this launch */
  TT_FAULT_COUNT
} tt_fault;

/* (for tt__fault) Is some kind armed, as far as is known? */
TT_HIDDEN extern bool tt__fault_watched;
TT_HIDDEN bool tt__fault_count(tt_fault kind);

/* True if this call must fail. One relaxed load when nothing is armed. Thread-safe. */
static inline bool tt__fault(tt_fault kind) {
  return __atomic_load_n(&tt__fault_watched, __ATOMIC_RELAXED) && tt__fault_count(kind);
}

/* Arm: the n-th call of `kind` from now (0: the next one) fails; with `sticky` all later ones too. n < 0 disarms. */
TT_HIDDEN void tt__fault_arm(tt_fault kind, int64_t n, bool sticky);

/* The kind that TUTTI_TEST_FAULT calls so; TT_FAULT_COUNT: none such. */
TT_HIDDEN tt_fault tt__fault_named(const char *name, size_t len);

/* How many calls of `kind` were asked since the last arm, and whether one was made to fail. */
TT_HIDDEN int64_t tt__fault_calls(tt_fault kind, bool *fired);

#endif
