/*
** An index taken apart (index.c) and its integer and boolean arrays turned into flat positions (index/fancy.c).
*/
#ifndef TT_GRAPH_INDEX_INDEX_INT_H
#define TT_GRAPH_INDEX_INDEX_INT_H

#include "graph/build.h"

typedef enum tt_index_kind {
  TT_INDEX_INT,
  TT_INDEX_SLICE,
  TT_INDEX_NEW,  /* None */
  TT_INDEX_REST, /* Ellipsis */
  TT_INDEX_ARRAY,
  TT_INDEX_MASK,
  TT_INDEX_BOOL /* a bool of rank 0: a new fancy axis of length 0 or 1 */
} tt_index_kind;

typedef struct tt_index_item {
  tt_index_kind kind;
  tt_array *array; /* ARRAY, MASK: borrowed */
  int axis;        /* the first axis of the indexed array that it takes */
  int64_t value;   /* INT; BOOL: 0 or 1 */
  const tt_value *slice;
} tt_index_item;

#define TT_INDEX_ITEMS (2 * TT_MAX_RANK + 1)

/*
** `rank, len, step, off`: the axes that slices, None and the ellipsis leave, over the storage; `off` includes the
** integers. With fancy items the result has their broadcast axes before axis `at` of these (at the front when they are
** apart).
*/
typedef struct tt_subscript {
  tt_array *a;
  int n;
  bool fancy;    /* ARRAY, MASK or BOOL among the items */
  bool has_rest; /* the caller wrote an ellipsis */
  bool detached; /* an integer came as an array of rank 0: NumPy answers with a copy */
  tt_index_item item[TT_INDEX_ITEMS];
  int rank, at;
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK], off;
} tt_subscript;

/* The result's shape and, for each of its elements, the flat element of the storage (*out, int64, in range).
 * TT_EINDEX. */
TT_HIDDEN tt_code tt__index_flat(const tt_subscript *x, tt_node **out, tt_error *err);

/* The same for one index array or mask in front, few and at hand. NULL: the other way, which also says what is wrong.
 */
TT_HIDDEN tt_node *tt__index_few(const tt_subscript *x);
/* The elements themselves, likewise, where they lie in memory. */
TT_HIDDEN tt_node *tt__index_few_read(const tt_subscript *x);
/* A value of the target's type and of the very shape, or a number, written there at once. */
TT_HIDDEN bool tt__index_few_write(const tt_subscript *x, const tt_value *v);

/* a[mask], a mask of all axes, on the device where both lie: in one pass, without places. TT_ENOTIMPL: by places. */
TT_HIDDEN tt_code tt__index_pick(tt_array *a, tt_array *mask, tt_array **out, tt_error *err);

#endif
