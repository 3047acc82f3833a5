/*
** How a kernel's launches are cut for the thread pool: by what its threads were seen to take. A launch of some
** microseconds is done before others have woken up.
*/
#ifndef TT_BASE_POOL_CUT_H
#define TT_BASE_POOL_CUT_H

#include "base/pool/pool.h"

/* tt__pool_run_numbered over `n` blocks of so many threads. `kernel` is any address that is the kernel's own. */
TT_HIDDEN void tt__cut_run(const void *kernel, int most, int64_t n, int64_t threads, tt_pool_fn fn, void *ctx);
/* Such a launch has ended well, and took so many ns of all processor threads together. */
TT_HIDDEN void tt__cut_note(const void *kernel, int64_t n, int64_t threads, int64_t ns);

#endif
