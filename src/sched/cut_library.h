/*
** Cutting library steps whose operands and results have no room on a device. A product is cut into blocks of rows and
** columns, and of the inner axis when it must be; what treats the rows of its operands one by one is cut between rows,
** and where a row that is sorted is too much, in runs, which are merged. Tiles come up, are worked on and go down at
** once.
*/
#ifndef TT_SCHED_CUT_LIBRARY_H
#define TT_SCHED_CUT_LIBRARY_H

#include "sched/epilogue.h"
#include "sched/situation.h"

enum { TT_SORT_SLOTS = 2 }; /* of a run's elements on the device: one is worked on while the other moves */

/* Has the device no room for the whole of a step that may be cut? */
TT_HIDDEN bool tt__cut_library_must(const tt_situation *s, int step, tt_where device);
/* Must the step run so, because there is no room for the whole, and can it? With the step that a library does on the
 * way, if that is sooner. */
TT_HIDDEN bool tt__cut_library_pays(const tt_situation *s, int step, tt_where device, tt_tiles *out);
/* The same when the whole, or larger tiles (tt_step_facts.share), have been found to have no room. */
TT_HIDDEN bool tt__cut_library_fits(const tt_situation *s, int step, tt_where device, tt_tiles *out);

/* Cut rows into runs for `room` bytes of the device; false: they would be too many. Then what they take, for `work_ns`
 * of one sort, and the bytes that move each way (cut_sort.c). */
TT_HIDDEN bool tt__cut_sort(const tt_walk *walk, const tt_step *step, double room, tt_sort_cut *out);
TT_HIDDEN double tt__cut_sort_ns(const tt_walk *walk, const tt_step *step, const tt_sort_cut *how,
                                 const tt_device_rates *rates, double work_ns, double *up, double *down);

/* The walk's number of a side that is not the result's. */
TT_HIDDEN int32_t tt__tiles_node(const tt_step *step, const tt_tiles *t, int side);

/* ---- the cut itself (cut_tiles.c): lengths in, tiles out */

typedef struct tt_tile_costs {
  double room; /* bytes of the device for parts */
  double up_bytes_per_ns, down_bytes_per_ns, both_bytes_per_ns, work_ns, turn_ns;
  bool splits_deep;
} tt_tile_costs;

/* Choose tiles of `t`, whose lengths and sides are filled in; false: nothing fits. */
TT_HIDDEN bool tt__tiles_cut(tt_tiles *t, const tt_tile_costs *c);

/* The tile of a turn along each axis, and the point of the loops; turns go from 0 to tt__tiles_turns. */
TT_HIDDEN int64_t tt__tiles_turns(const tt_tiles *t);
TT_HIDDEN void tt__tiles_turn(const tt_tiles *t, int64_t turn, int64_t at[TT_TILE_AXES], int64_t loop[TT_MAX_RANK]);

/* A part of a side: its first element in the buffer and its lengths. */
typedef struct tt_tile_part {
  int64_t off, len[TT_TILE_LEVELS];
} tt_tile_part;
TT_HIDDEN tt_tile_part tt__tiles_part(const tt_tiles *t, const tt_tile_side *s, const int64_t at[TT_TILE_AXES],
                                      const int64_t loop[TT_MAX_RANK]);

#endif
