/*
** The distinct elements on the host, as numpy.unique.
*/
#ifndef TT_LIB_SORT_UNIQUE_H
#define TT_LIB_SORT_UNIQUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/* What is asked for besides the values. */
enum { TT_UNIQUE_INDEX = 1, TT_UNIQUE_INVERSE = 2, TT_UNIQUE_COUNTS = 4 };

/*
** Each block is array memory of exactly the size named here, or NULL when it was not asked for or has no element. The
** holder may take a block out (and set it to NULL) and give it back with tt__mem_free_data itself.
*/
typedef struct tt_unique {
  int64_t n;        /* distinct elements */
  int64_t n_in;     /* elements of the input */
  size_t size;      /* bytes of an element */
  void *values;     /* n elements, in the order of tt__sort_rows */
  int64_t *index;   /* n: the place of the first one of each in the input */
  int64_t *inverse; /* n_in: which value each element of the input is */
  int64_t *counts;  /* n */
} tt_unique;

/* All NaNs are one value with `equal_nan`, else each is its own. On failure (TT_ENOMEM) *out is empty. */
TT_HIDDEN tt_code tt__unique(tt_dtype t, const void *in, int64_t n, int want, bool equal_nan, tt_unique *out,
                             tt_error *err);
/* Give back what is left in it. */
TT_HIDDEN void tt__unique_free(tt_unique *u);

#endif
