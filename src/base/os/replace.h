/*
** A file that is replaced as a whole: written beside it, synced, renamed, and the folder synced. Whoever is killed, and
** whatever loses its power, before the rename leaves the old file, afterwards the new one.
*/
#ifndef TT_BASE_OS_REPLACE_H
#define TT_BASE_OS_REPLACE_H

#include <limits.h>
#include <stddef.h>

#include "base/err.h"

typedef struct tt_replace {
  int fd;
  char path[PATH_MAX], temp[PATH_MAX];
} tt_replace;

/* Begin a file that will have this path; a link stays a link, what it points at is replaced. The mode is that of the
 * file that is there, or what the process gives new files. */
TT_HIDDEN tt_code tt__replace_begin(tt_replace *r, const char *path, tt_error *err);
/* Append. After a failure the caller drops. */
TT_HIDDEN tt_code tt__replace_write(tt_replace *r, const void *data, size_t size, tt_error *err);
/* Put it in place. Ends *r, whatever comes of it; a failure before the rename leaves no trace. */
TT_HIDDEN tt_code tt__replace_end(tt_replace *r, tt_error *err);
/* End *r without a trace. */
TT_HIDDEN void tt__replace_drop(tt_replace *r);

#endif
