/*
** Ctrl-C: a flag that pieces of work look at, and a question to the binding (whose signals wait until somebody asks).
** Only a thread that the binding called may ask; threads of ours never do.
*/
#ifndef TT_BASE_OS_INTERRUPT_H
#define TT_BASE_OS_INTERRUPT_H

#include <stdbool.h>

#include "base/err.h"

TT_HIDDEN void tt__interrupt(void); /* from a signal handler too */
TT_HIDDEN void tt__interrupt_set_check(int (*check)(void));
TT_HIDDEN bool tt__interrupted(void); /* and clears it */
/* Somebody wants to stop. `on_caller`: this is the thread that the binding called, which may be asked. */
TT_HIDDEN bool tt__interrupt_check(bool on_caller);

/* For who waits, on any thread: false on those of ours. */
TT_HIDDEN bool tt__interrupt_waiting(void);
/* Ctrl-C runs a function of the program's, which may return: then nothing is to stop, and the check alone can say. */
TT_HIDDEN void tt__interrupt_set_handled(bool handled);
TT_HIDDEN bool tt__interrupt_is_handled(void);
/* This thread is one of ours. */
TT_HIDDEN void tt__interrupt_deaf(void);
/* TT_EINTERRUPT, which carries the wish from here on: the flag is cleared. */
TT_HIDDEN tt_code tt__interrupt_told(tt_error *err);

#endif
