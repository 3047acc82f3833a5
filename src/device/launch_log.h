/*
** Logs: the last launches on each stream that are not known to be done. A kernel that fails is noticed by a later
** call, and all that the driver says is that some kernel failed; the logs say which it may have been. What is done
** is learnt on the way, from waits and from events that somebody looked at, so a log may tell of too many, not of
** too few.
*/
#ifndef TT_DEVICE_LAUNCH_LOG_H
#define TT_DEVICE_LAUNCH_LOG_H

#include "base/lock.h"
#include "ir/device.h"

/* Who asks for launches, in words for people. */
typedef struct tt_origin {
  char what[48];  /* "exp mul of float32[1000]"; "": the kernel's own name, or the library's */
  char where[72]; /* the user's line, or "" */
} tt_origin;

/* From now on the calling thread's launches are asked for by this, borrowed; NULL: by nobody in particular, so that
 * they are called by their kernel's name. Returns what it was. */
TT_HIDDEN const tt_origin *tt__origin_use(const tt_origin *o);
TT_HIDDEN const tt_origin *tt__origin_now(void);

enum { TT_LAUNCH_LOG_MOST = 16 };

/* One stream's. All but `launched` is guarded by the lock. */
typedef struct tt_launch_log {
  tt_lock lock;
  uint64_t launched, done;            /* launches so far; how many of them are known to be done */
  tt_origin last[TT_LAUNCH_LOG_MOST]; /* launch n at n % TT_LAUNCH_LOG_MOST */
  tt_device *device;
  struct tt_launch_log *next;
} tt_launch_log;

TT_HIDDEN void tt__launch_log_open(tt_device *d, tt_launch_log *t);
TT_HIDDEN void tt__launch_log_close(tt_launch_log *t);
/* A launch has been asked for, or a library's work; `kernel`: its name, or NULL. Returns how many so far. */
TT_HIDDEN uint64_t tt__launch_log_note(tt_launch_log *t, const char *kernel);
/* The launches so far, and: that many are done. */
TT_HIDDEN uint64_t tt__launch_log_mark(tt_launch_log *t);
TT_HIDDEN void tt__launch_log_done(tt_launch_log *t, uint64_t mark);

/* "; not known to be done: 'exp mul of float32[1000]' at x.py:3, 'boom' (and 4 more)", oldest first; "" when all is. */
TT_HIDDEN void tt__launch_log_suspects(const tt_device *d, char *out, size_t size);

#endif
