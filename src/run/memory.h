/*
** Memory for the results of a step: the memory of an operand that dies here, or new. Private to run/.
*/
#ifndef TT_RUN_MEMORY_H
#define TT_RUN_MEMORY_H

#include "ir/plan.h"

#define TT_MOST_ROOTS 16

/* One buffer per root of a kernel step, with what a STORE or SCATTER leaves of its base already in it. One hold
 * each. */
TT_HIDDEN tt_code tt__memory_results(const tt_walk *walk, const tt_step *step, tt_buffer **result, tt_error *err);
/* The buffers whose memory may serve as the results' because nobody reads them afterwards; NULL for new memory. */
TT_HIDDEN void tt__memory_donors(const tt_walk *walk, const tt_step *step, tt_buffer **donor);
/* memcpy by all threads. */
TT_HIDDEN void tt__memory_copy(void *to, const void *from, int64_t n);
/* Where a STORE's view leaves gaps: nested runs of memory, or false when it is no such thing. In elements. */
typedef struct tt_runs {
  int rank;
  int64_t off, len[TT_MAX_RANK], step[TT_MAX_RANK];
} tt_runs;
TT_HIDDEN bool tt__memory_runs(tt_node *store, tt_runs *out);
/* Does some result share memory with an operand (so that stopping half-way would spoil it)? */
TT_HIDDEN bool tt__memory_in_place(const tt_walk *walk, const tt_step *step, tt_buffer *const *result);

#endif
