/*
** How many of our cores others leave to us, for libraries whose threads wait for each other in loops: one that stands
** still behind another process holds up all of them for a time slice of the system, again and again.
*/
#ifndef TT_BASE_OS_LOAD_H
#define TT_BASE_OS_LOAD_H

#include "base/err.h"

/* At least 1, at most tt__cpu_count(). Looked at anew every now and then; cheap in between. */
TT_HIDDEN int tt__cores_free(void);

/* The same from figures, for tests: `others` is what other processes use, in cores; `ours` what we may use. */
TT_HIDDEN int tt__cores_left(double others, int online, int ours);

#endif
