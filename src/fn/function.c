/*
** The table of array functions, made from its rows.
*/
#include "fn/function.h"

#include <string.h>

#include "base/hash.h"
#include "base/lock.h"

#define TT_FN(name, handler, signature, doc) TT_HIDDEN tt_code tt__fn_##handler(tt_call_frame *f, tt_error *err);
#include "fn/functions.def"
#undef TT_FN

const tt_function_row tt__functions[] = {
#define TT_FN(name, handler, signature, doc) {{name, signature, doc}, tt__fn_##handler},
#include "fn/functions.def"
#undef TT_FN
};
const int tt__function_count = sizeof tt__functions / sizeof *tt__functions;

/* Where a name's row is: rows by the hash of their names, the next place where one is taken. */
enum { PLACES = 2048 };
_Static_assert(2 * sizeof tt__functions / sizeof *tt__functions <= PLACES, "half of the places stay free");
static int16_t row_at[PLACES]; /* 1 + row, or 0 */

static unsigned place_of(const char *name) { return (unsigned)tt__hash64(name, strlen(name)) % PLACES; }

TT_AT_LOAD(0) static void at_load(void) {
  for (int k = 0; k < tt__function_count; k++) {
    unsigned at = place_of(tt__functions[k].info.name);
    while (row_at[at]) at = (at + 1) % PLACES;
    row_at[at] = (int16_t)(k + 1);
  }
}

const tt_function_row *tt__function_named(const char *name) {
  for (unsigned at = place_of(name); row_at[at]; at = (at + 1) % PLACES) {
    const tt_function_row *row = &tt__functions[row_at[at] - 1];
    if (strcmp(row->info.name, name) == 0) return row;
  }
  return NULL;
}
