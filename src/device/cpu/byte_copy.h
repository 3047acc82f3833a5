/*
** Kernels that only load and store, done as bytes: where axes cross (turn.h), and where runs are short (short_runs.h).
** The tier does not matter.
*/
#ifndef TT_DEVICE_CPU_BYTE_COPY_H
#define TT_DEVICE_CPU_BYTE_COPY_H

#include "device/cpu/short_runs.h"
#include "device/cpu/turn.h"

typedef struct tt_byte_copy {
  bool is_turn;
  union {
    tt_turn turn;
    tt_short_runs runs;
  };
} tt_byte_copy;

/* Is this launch such a copy? Fills *out then; it borrows the memory that args bind. */
TT_HIDDEN bool tt__byte_copy_of(const tt_kernel *k, const tt_kargs *args, tt_byte_copy *out);
/* Copy the pieces [lo, hi) of all: any order, any threads. */
TT_HIDDEN void tt__byte_copy_run(const tt_byte_copy *m, int64_t lo, int64_t hi);
/* How many pieces there are, and points in one, at most. */
TT_HIDDEN int64_t tt__byte_copy_pieces(const tt_byte_copy *m);
TT_HIDDEN int64_t tt__byte_copy_points(const tt_byte_copy *m);

#endif
