/*
** Kernels that only look for the places of extrema in rows whose elements are neighbours (argmax and argmin along a
** last axis): a row takes as many lanes as a vector has, where a reduction takes TT_LANES. The tier does not matter.
*/
#ifndef TT_DEVICE_CPU_ROW_PLACES_H
#define TT_DEVICE_CPU_ROW_PLACES_H

#include "device/cpu/vm_loops.h"
#include "ir/kernel.h"

typedef struct tt_row_places {
  tt_vm_place find;
  const tt_kernel *kernel;
  const tt_kargs *args;
  int64_t row; /* elements */
} tt_row_places;

/* Is this launch such a search? Fills *out then; it borrows the kernel and the arguments. */
TT_HIDDEN bool tt__row_places_of(const tt_kernel *k, const tt_kargs *args, tt_row_places *out);
/* The outer points [lo, hi): any order, any threads. */
TT_HIDDEN void tt__row_places_run(const tt_row_places *m, int64_t lo, int64_t hi);
/* A long row in pieces: the place, in its row, of the extremum of the elements [from, to), any order, any threads; */
TT_HIDDEN int64_t tt__row_places_piece(const tt_row_places *m, int64_t point, int64_t from, int64_t to);
/* then what the n places of its pieces, in their order, make of the row is stored. */
TT_HIDDEN void tt__row_places_join(const tt_row_places *m, int64_t point, const int64_t *place, int64_t n);

#endif
