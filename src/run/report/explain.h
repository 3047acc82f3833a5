/*
** Saying what would run, and what the machine has. Private to run/ and api/.
*/
#ifndef TT_RUN_REPORT_EXPLAIN_H
#define TT_RUN_REPORT_EXPLAIN_H

#include "ir/node.h"

/* NUL-terminated text by tt__mem_alloc (strlen + 1 bytes), or NULL when memory is out. */
TT_HIDDEN char *tt__explain(tt_array *const *array, int n);
TT_HIDDEN char *tt__info(const char *version);

#endif
