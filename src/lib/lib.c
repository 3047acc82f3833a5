/*
** The library's rows, found by name.
*/
#include <string.h>

#include "ir/library.h"
#include "lib/rows.h"

static const tt_lib_row *const tables[] = {tt__rows_product, tt__rows_linalg,   tt__rows_reduce, tt__rows_sort,
                                           tt__rows_fft,     tt__rows_draw,     tt__rows_bits,   tt__rows_fold,
                                           tt__rows_nn,      tt__rows_correlate};

const tt_lib_row *tt__lib_row(const char *name) {
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const tt_lib_row *r = tables[t]; r->name; r++)
      if (strcmp(r->name, name) == 0) return r;
  return NULL;
}

static const tt_lib_maker *const makers[] = {tt__makers_select};

const tt_lib_maker *tt__lib_maker(const char *name) {
  for (size_t t = 0; t < sizeof makers / sizeof *makers; t++)
    for (const tt_lib_maker *m = makers[t]; m->name; m++)
      if (strcmp(m->name, name) == 0) return m;
  return NULL;
}
