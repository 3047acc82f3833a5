/*
** Compiled kernels on disk. One self-describing file an entry, owner-only, verified whole on
** every read; whatever is wrong with it, it is a miss. No failure here is anybody's failure:
** a full disk or a deleted folder costs a compilation, never a result.
**
** Folder: TUTTI_CACHE_DIR, else XDG_CACHE_HOME/tutti, else HOME/.cache/tutti; files lie in its "kernels". A
** folder that is not ours, or that others can write, is not used. TUTTI_CACHE_LIMIT bytes (suffix K, M, G;
** 1G) are kept, those used longest ago go first; 0: no cache.
*/
#ifndef TT_RUN_CACHE_CACHE_H
#define TT_RUN_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"
#include "ir/kernel.h"

/* The most kernels of one entry. */
#define TT_CACHE_BATCH 64

/* A kernel as the cache knows it. Everything is compared on a hit, the key alone proves nothing. */
typedef struct tt_cache_item {
  tt_digest key;      /* tt_kernel.key */
  const char *text;   /* printed kernel */
  const char *source; /* rendered function */
  const char *symbol; /* its name in the binary */
} tt_cache_item;

/* What a binary depends on besides its kernels: compiler, flags, processor, header text. */
typedef struct tt_cache_place {
  const char *identity;
  tt_digest header;
} tt_cache_place;

typedef struct tt_cache_info {
  bool usable;
  char path[512]; /* the folder; "" when there is none */
  char why[160];  /* why it is not usable, or what last went wrong; "" */
  int64_t hits, misses, stores;
  int64_t damaged;  /* misses on a file that was there but could not be used */
  int64_t failures; /* stores that did not succeed */
  int64_t trimmed;  /* entries removed to stay below the limit */
  int64_t bytes;    /* on disk when last counted, plus what was stored since */
  int64_t limit;
} tt_cache_info;

TT_HIDDEN tt_cache_info tt__cache_info(void);

/* The folder above it, made if need be, for other files of ours; false when it cannot be used. */
TT_HIDDEN bool tt__cache_root(char *path, size_t size);

/* The loaded function of `item`, or NULL. */
TT_HIDDEN tt_kernel_fn tt__cache_find(const tt_cache_place *place, const tt_cache_item *item);

/* The same for code of other devices: append the binary that holds `item`, or false. */
TT_HIDDEN bool tt__cache_find_binary(const tt_cache_place *place, const tt_cache_item *item, tt_str *out);

/* Keep the binary that holds `n` kernels (at most TT_CACHE_BATCH); each is found by its own key. */
TT_HIDDEN void tt__cache_store(const tt_cache_place *place, const tt_cache_item *item, int n, const void *binary,
                               size_t size);

/* Forget the folder and all counts, read the environment anew; the files stay. For tests. */
TT_HIDDEN void tt__cache_reset(void);

#endif
