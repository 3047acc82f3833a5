/*
** The library's rows, found by name.
*/
#include <string.h>

#include "ir/library.h"
#include "lib/rows.h"

static const tt_lib_row *const tables[] = {tt__rows_product, tt__rows_reduce};

const tt_lib_row *tt__lib_row(const char *name) {
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const tt_lib_row *r = tables[t]; r->name; r++)
      if (strcmp(r->name, name) == 0) return r;
  return NULL;
}
