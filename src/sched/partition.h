/*
** Partitioning: which axis of a lowered step to cut, so that pieces of it can run by themselves.
*/
#ifndef TT_SCHED_PARTITION_H
#define TT_SCHED_PARTITION_H

#include "ir/partition.h"

/*
** Choose the axis along which most of what the step touches comes apart; the whole axis is one piece until
** tt__sched_pieces is asked for more. `bytes[b]`: of buffer b. False: it cannot be cut (it scatters, it is a
** reduction of everything, what it writes comes apart along no axis).
*/
TT_HIDDEN bool tt__sched_partition(const tt_kernel *k, const tt_lowered *l, const int64_t *bytes, tt_partition *out);

/*
** Cut a reduction along its row where its arithmetic has borders: in chunks, or (not `small`) in groups of them where
** it has such. False: its results are not just folded values, or there is but one such piece.
*/
TT_HIDDEN bool tt__sched_fold(const tt_kernel *k, const tt_lowered *l, const int64_t *bytes, bool small,
                              tt_partition *out);

/* Cut it into about `pieces` of equal length, a multiple of 256 points where the axis has so many. */
TT_HIDDEN void tt__sched_pieces(tt_partition *s, int64_t pieces);

#endif
