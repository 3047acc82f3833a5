/*
** A bump arena for artefacts that live and die together (a plan, a kernel).
** Freed as a whole; nothing in it is freed by itself.
*/
#ifndef TT_BASE_ARENA_H
#define TT_BASE_ARENA_H

#include <stddef.h>

#include "base/err.h"

typedef struct tt_arena {
  struct tt_arena_block *head;
  size_t used, cap; /* of the head block */
} tt_arena;         /* all zero is an empty arena */

/* 16-byte aligned, zeroed, or NULL when memory is out. Size 0 gives a unique non-NULL pointer. */
TT_HIDDEN void *tt__arena_alloc(tt_arena *a, size_t size);
TT_HIDDEN void *tt__arena_dup(tt_arena *a, const void *p, size_t size);
TT_HIDDEN void tt__arena_free(tt_arena *a);

#endif
