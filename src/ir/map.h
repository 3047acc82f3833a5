/*
** Index maps: how the points of an iteration space reach the flat elements of a dense
** value. A map is affine: off + sum(i[k] * step[k]). The one question of this file is
** whether a map over a view is a map over what the view shows; every fusion across a
** slice, transpose, broadcast or reshape is an answer to it.
*/
#ifndef TT_IR_MAP_H
#define TT_IR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Axes an iteration space may have: 63 longer than 1 reach int64, splits need a few more. */
#define TT_MAX_AXES 72

typedef struct tt_map {
  int64_t off;
  int64_t step[TT_MAX_AXES];
} tt_map;

typedef struct tt_space {
  int naxes;
  int64_t len[TT_MAX_AXES]; /* all > 1, but for a lone row axis of a one-element reduction */
  bool row[TT_MAX_AXES];
} tt_space;

/* What stands in the way when a map is not affine: cutting `axis` of the space into (len / inner, inner) helps. */
typedef struct tt_split {
  int axis; /* -1: nothing helps */
  int64_t inner;
} tt_split;

/* The index of a value's axis: c + sum(i[k] * a[k]). */
typedef struct tt_index {
  int64_t c;
  int64_t a[TT_MAX_AXES];
} tt_index;

/*
** Take `map`, over the flat elements of a dense value of shape len[rank], apart into one index per
** axis of the value: out[d]. False (and *split) when some index would carry into the next axis.
*/
TT_HIDDEN bool tt__map_unravel(const tt_space *s, const tt_map *map, int rank, const int64_t *len, tt_index *out,
                               tt_split *split);

/* Follow a view (len, step, off over its source): the map over the view's elements becomes one over the source's. */
TT_HIDDEN bool tt__map_through_view(const tt_space *s, const tt_map *map, int rank, const int64_t *len,
                                    const int64_t *step, int64_t off, tt_map *out, tt_split *split);

/* Equal on every point of the space. */
TT_HIDDEN bool tt__map_equal(const tt_space *s, const tt_map *a, const tt_map *b);

#endif
