/*
** Cutting library steps whose operands and results have no room on a device. A product is cut into blocks of rows and
** columns, and of the inner axis when it must be; what treats the rows of its operands one by one is cut between rows,
** and where a row that is sorted is too much, in runs, which are merged. Tiles come up, are worked on and go down at
** once.
*/
#ifndef TT_SCHED_CUT_LIBRARY_H
#define TT_SCHED_CUT_LIBRARY_H

#include "sched/follow.h"
#include "sched/situation.h"

/* An external sort: runs of a row are sorted, then blocks of the result, whose elements are looked up in all runs. */
typedef struct tt_sort_cut {
  int64_t rows, n;    /* elements of a row */
  int64_t run, count; /* of a run, and of a block; how many there are in a row; 0: nothing is sorted so */
  bool places;        /* places are the result */
} tt_sort_cut;

enum { TT_SORT_SLOTS = 2 }; /* of a run's elements on the device: one is worked on while the other moves */

/* What is cut, outermost first: rows or columns are outside of each other as the plan says. */
typedef enum tt_tile_axis { TT_TILE_BATCH, TT_TILE_ROWS, TT_TILE_COLS, TT_TILE_DEEP, TT_TILE_AXES } tt_tile_axis;

enum { TT_TILE_LEVELS = 3, TT_TILE_SIDES = TT_NODE_SRC + 1 };

/*
** An operand or the result: a view of three axes, in the order in which they lie in memory. A part of it is a block of
** that view; where it comes to on the device, it is dense.
*/
typedef struct tt_tile_side {
  int axis[TT_TILE_LEVELS];                          /* a tt_tile_axis; -1: not cut */
  int64_t len[TT_TILE_LEVELS], step[TT_TILE_LEVELS]; /* elements; step 0: the same again */
  int64_t off, loop_step[TT_MAX_RANK];               /* of the view's first element; along the loops */
  size_t size;                                       /* of an element */
  bool there;                                        /* lies on the device, as it is */
  int64_t slots;                                     /* parts that have room on the device at once */
} tt_tile_side;

typedef struct tt_tiles {
  tt_sort_cut sort; /* count > 0: it is sorted so; the tiles below are none */
  int64_t len[TT_TILE_AXES], tile[TT_TILE_AXES], count[TT_TILE_AXES];
  int nloop; /* axes of a batch that are not the one that is cut, one point at a time */
  int64_t loop_len[TT_MAX_RANK], loops;
  bool cols_outside;
  int nside; /* operands, what is added to the result (follow), the result */
  tt_tile_side side[TT_TILE_SIDES];
  tt_follow follow;               /* epilogue is not 0: what is done to the result on the way */
  tt_dtype sums;                  /* (product) the type in which parts of the inner axis are summed */
  double up_bytes, down_bytes;    /* that move */
  double up_ns, work_ns, down_ns; /* predicted: operands once, the work, results once */
  double ns;                      /* predicted, all at once */
} tt_tiles;

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
