/*
** TUTTI_DEBUG=stage,stage: what the library prints, and only when told to.
*/
#ifndef TT_BASE_LOG_H
#define TT_BASE_LOG_H

#include <stdbool.h>

#include "base/err.h"

typedef enum tt_log { TT_LOG_GRAPH, TT_LOG_SCHED, TT_LOG_KERNEL, TT_LOG_RENDER, TT_LOG_COUNT } tt_log;

/* Whether TUTTI_DEBUG names the stage (or "all"). Read once. */
TT_HIDDEN bool tt__log_on(tt_log stage);
/* One artefact on stderr, with a header line naming the stage and `what`. */
TT_HIDDEN void tt__log_artefact(tt_log stage, const char *what, const char *text);

#endif
