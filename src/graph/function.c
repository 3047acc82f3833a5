/*
** The table of array functions, made from its rows.
*/
#include "graph/function.h"

#include <string.h>

#define TT_FN(name, handler, signature, doc) TT_HIDDEN tt_code tt__fn_##handler(tt_call_frame *f, tt_error *err);
#include "graph/functions.def"
#undef TT_FN

const tt_function_row tt__functions[] = {
#define TT_FN(name, handler, signature, doc) {{name, signature, doc}, tt__fn_##handler},
#include "graph/functions.def"
#undef TT_FN
};
const int tt__function_count = sizeof tt__functions / sizeof *tt__functions;

const tt_function_row *tt__function_named(const char *name) {
  for (int k = 0; k < tt__function_count; k++)
    if (strcmp(tt__functions[k].info.name, name) == 0) return &tt__functions[k];
  return NULL;
}
