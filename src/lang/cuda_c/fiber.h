/*
** Threads of execution that give way by hand: a stack each, one processor thread. Switching saves what a call must keep
** and nothing else: no signal mask, no rounding mode.
*/
#ifndef TT_LANG_CUDA_C_FIBER_H
#define TT_LANG_CUDA_C_FIBER_H

#include <stddef.h>

#include "base/err.h"

/* Where a fiber stands while it does not run. */
typedef void *tt_fiber;

/* A fiber that will call body(arg) on the stack that ends at `top` (16-byte aligned). body must never return. */
TT_HIDDEN tt_fiber tt__fiber_new(void *top, size_t size, void (*body)(void *arg), void *arg);
/* Leave: remember where in *from, go on at `to`. */
TT_HIDDEN void tt__fiber_switch(tt_fiber *from, tt_fiber to);

#endif
