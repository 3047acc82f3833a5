/*
** Arrays at hand, their elements behind each other in one, so that what is done to each is done to all of them once.
*/
#ifndef TT_FN_GRAD_GATHERED_H
#define TT_FN_GRAD_GATHERED_H

#include "fn/compose.h"

/* The elements of n arrays of one type, in C order, as one axis. NULL and no failure: some are not at hand. */
TT_HIDDEN tt_array *tt__gathered(tt_composer *c, tt_array *const *a, int n);
/* Elements `from` on of such an array, in the shape of another one and in memory of their own. NULL: they are not at
 * hand. */
TT_HIDDEN tt_array *tt__gathered_part(tt_composer *c, tt_array *all, int64_t from, const tt_array *like);

#endif
