/*
** A header's text, less what a source below it cannot reach. Reading the scalar functions takes a compiler longer than
** most kernels do, and few of them are called.
*/
#ifndef TT_RENDER_TRIM_H
#define TT_RENDER_TRIM_H

#include "base/str.h"

/*
** Append to `out` the declarations, functions and macros of `header` that `source` names, and what those name in turn,
** in their order. Directives but #define and #undef stay; rows of macros that define functions are written out.
** Whatever is not understood stays, too. Without memory `out` fails.
*/
TT_HIDDEN void tt__trim(const char *header, const char *source, tt_str *out);

#endif
