/*
** Work that nothing can stop (a factorization of somebody else's library, a sort), on a thread of its own, while the
** caller waits and hears Ctrl-C. Work that is left goes on to its end, with all of its memory.
*/
#ifndef TT_BASE_OS_APART_H
#define TT_BASE_OS_APART_H

#include <stdbool.h>

#include "base/err.h"

/*
** Run job(ctx). TT_OK: it is done. TT_EINTERRUPT: it goes on, and end(ctx) is called behind it on its thread, so `ctx`
** and whatever job uses belong to that thread from now on. Without a thread to be had it runs here.
*/
TT_HIDDEN tt_code tt__apart_run(void (*job)(void *ctx), void (*end)(void *ctx), void *ctx, tt_error *err);

/* Is work going on that was left? */
TT_HIDDEN bool tt__apart_goes_on(void);

#endif
