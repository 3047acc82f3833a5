/*
** Which functions are NumPy's ufuncs, and what their methods need to know of them.
*/
#ifndef TT_FN_UFUNC_UFUNC_H
#define TT_FN_UFUNC_UFUNC_H

#include "graph/build.h"

/* By name, or NULL. */
TT_HIDDEN const tt_ufunc_info *tt__ufunc_named(const char *name);
/* May a fold of it take its operands in any order? */
TT_HIDDEN bool tt__ufunc_is_reorderable(const tt_ufunc_info *u);

#endif
