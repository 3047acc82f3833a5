/*
** Do two arrays have a byte of memory in common?
*/
#ifndef TT_GRAPH_INDEX_OVERLAP_H
#define TT_GRAPH_INDEX_OVERLAP_H

#include "graph/build.h"

/* `max_work`: 0 compares the bytes' bounds only, a positive number is how many steps the search may take (TT_EHARD
 * beyond), a negative one searches to the end. */
TT_HIDDEN tt_code tt__arrays_overlap(tt_array *a, tt_array *b, int64_t max_work, bool *out, tt_error *err);

#endif
