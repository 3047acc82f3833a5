/*
** Arguments of functions over windows, one number for each axis of space, and sizes in PyTorch's words.
*/
#ifndef TT_FN_NN_WINDOW_H
#define TT_FN_NN_WINDOW_H

#include "fn/compose.h"

/* Argument k, an integer for all n axes or one for each; `fallback` when it is not given. False: a failure. */
TT_HIDDEN bool tt__window_ints(tt_composer *c, const tt_call_frame *f, int k, const char *name, int n, int64_t fallback,
                               int64_t *out);
/* "[2, 3]" and "2 x 3". */
TT_HIDDEN void tt__window_shape(int n, const int64_t *len, char *out, size_t size);
TT_HIDDEN void tt__window_product(int n, const int64_t *len, char *out, size_t size);

#endif
