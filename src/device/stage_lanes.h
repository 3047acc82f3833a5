/*
** Staged copies in lanes: every thread of a pool loop takes the next piece, fills a pinned buffer of its own and asks
** the device for the copy itself, so that nobody waits for the others between pieces. Private to stage.c.
*/
#ifndef TT_DEVICE_STAGE_LANES_H
#define TT_DEVICE_STAGE_LANES_H

#include "ir/device.h"

enum { TT_MOST_LANES = 32, TT_MOST_LANE_SLOTS = 4 };

/* One direction's buffers. All zero: none yet. Who uses them holds a lock. */
typedef struct tt_lanes {
  char *memory; /* n * slots pieces */
  tt_event *event[TT_MOST_LANES][TT_MOST_LANE_SLOTS];
  int n, slots;
  size_t piece;
} tt_lanes;

/* Make ready for `n` lanes or as many as can be had; false: none. */
TT_HIDDEN bool tt__lanes_fill(tt_device *d, tt_lanes *l, int n, int slots, size_t piece);
TT_HIDDEN void tt__lanes_empty(tt_device *d, tt_lanes *l);

/* As tt__stage_in and tt__stage_out; `out` from the device. After a failure the buffers may be in use by the device. */
TT_HIDDEN tt_code tt__lanes_copy(tt_device *d, tt_lanes *l, tt_stream *s, void *to, const void *from, size_t size,
                                 bool out, tt_error *err);

#endif
