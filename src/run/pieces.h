/*
** Kernel steps in pieces: what a step reads comes up from the host piece by piece, and what it gives goes down, while
** the device works on the pieces between. For steps whose operands lie on the host and whose results are asked for
** there, and for steps that have no room on the device as a whole. Private to run/.
*/
#ifndef TT_RUN_PIECES_H
#define TT_RUN_PIECES_H

#include "ir/device.h"
#include "ir/plan.h"
#include "ir/partition.h"

typedef struct tt_pieces {
  tt_partition parts;
  bool windows;                   /* the device holds a few pieces at a time; results stay on the host */
  bool down;                      /* results come down */
  int64_t up_bytes, down_bytes;   /* that move in pieces */
  double up_ns, work_ns, down_ns; /* predicted, each by itself */
  double ns;                      /* predicted, all at once */
} tt_pieces;

/*
** Shall this step run so? It must (there is no room for the whole), or it is predicted to be done sooner. `looked_at`:
** the result is wanted on the host. Session lock held.
*/
TT_HIDDEN bool tt__pieces_pay(tt_device *d, const tt_walk *walk, const tt_step *step, bool looked_at, tt_pieces *out);

/* The same when the whole has been found to have no room: can it be done in windows? */
TT_HIDDEN bool tt__pieces_fit(tt_device *d, const tt_walk *walk, const tt_step *step, tt_pieces *out);

/*
** Run it; waits for results that come down. TT_ENOTIMPL and TT_ENOMEM leave everything as it was. Session lock held,
** and given up while bytes move.
*/
TT_HIDDEN tt_code tt__pieces_run(tt_device *d, const tt_walk *walk, const tt_step *step, const tt_pieces *how,
                                 tt_error *err);

#endif
