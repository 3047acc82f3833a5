/*
** A growable string. A failed append sets `failed` and drops what follows, so a
** long chain of appends is checked once, at the end.
*/
#ifndef TT_BASE_STR_H
#define TT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

typedef struct tt_str {
  char *data; /* NUL-terminated once anything was appended; NULL when empty */
  size_t len, cap;
  bool failed;
} tt_str; /* all zero is the empty string */

TT_HIDDEN void tt__str_add(tt_str *s, const char *text);
TT_HIDDEN void tt__str_add_n(tt_str *s, const char *text, size_t n);
TT_HIDDEN void tt__str_addf(tt_str *s, const char *fmt, ...) TT_PRINTF(2, 3);
TT_HIDDEN void tt__str_clear(tt_str *s); /* keep the memory */
TT_HIDDEN void tt__str_free(tt_str *s);

#endif
