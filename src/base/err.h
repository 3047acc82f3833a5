/*
** Errors as values. `tt__fail` writes the message where the fact is known and
** returns the code, so a check reads `return tt__fail(err, TT_EVALUE, "...")`.
*/
#ifndef TT_BASE_ERR_H
#define TT_BASE_ERR_H

#include <stddef.h>

#include "tutti/status.h"

#define TT_HIDDEN __attribute__((visibility("hidden")))

/* Return from the caller when `call` fails; for functions that own nothing yet. */
#define TT_TRY(call)                              \
  do {                                            \
    tt_code tt_try_code = (call);                 \
    if (tt_try_code != TT_OK) return tt_try_code; \
  } while (0)

/* Fill `err` (NULL allowed) and return `code`. */
TT_HIDDEN tt_code tt__fail(tt_error *err, tt_code code, const char *fmt, ...) TT_PRINTF(3, 4);

/* "out of memory" with the size that was asked for. Returns TT_ENOMEM. */
TT_HIDDEN tt_code tt__fail_memory(tt_error *err, size_t size);

#endif
