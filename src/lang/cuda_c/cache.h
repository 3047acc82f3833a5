/*
** Compiled programs on disk, one verified file each. No failure here is anybody's failure: it costs a compilation.
*/
#ifndef TT_LANG_CUDA_C_CACHE_H
#define TT_LANG_CUDA_C_CACHE_H

#include <stdbool.h>

#include "base/str.h"

/* Append what was kept under `key`; the whole key is compared. */
TT_HIDDEN bool tt__cudac_cache_find(const tt_str *key, tt_str *binary, tt_str *params, tt_str *text);
TT_HIDDEN void tt__cudac_cache_store(const tt_str *key, const tt_str *binary, const tt_str *params, const tt_str *text);

#endif
