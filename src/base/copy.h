/*
** Copies for somebody else to read.
*/
#ifndef TT_BASE_COPY_H
#define TT_BASE_COPY_H

#include <stddef.h>

#include "base/err.h"

/*
** As memcpy, past the caches: what a device fetches next is better in memory than in the caches of the core that wrote
** it. `to` is aligned to 16 bytes. Done when it returns, as seen by threads that are told so with a release.
*/
TT_HIDDEN void tt__copy_out_of_caches(void *to, const void *from, size_t size);

#endif
