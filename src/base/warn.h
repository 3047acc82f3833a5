/*
** Warnings: what a caller should hear of though the call succeeds. They wait, by thread, until a binding asks
** (tt_warning_next).
*/
#ifndef TT_BASE_WARN_H
#define TT_BASE_WARN_H

#include "base/err.h"
#include "tutti/status.h"

/* One that waits already is not said twice. */
TT_HIDDEN void tt__warn(tt_warning_kind kind, const char *fmt, ...) TT_PRINTF(2, 3);
/* That imaginary parts are dropped by a cast. */
TT_HIDDEN void tt__warn_discarded(void);

#endif
