/* The untyped half of TT_VEC: growth by half, checked sizes. */
#include "base/vec.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

bool tt__vec_grow(void **data, int64_t *cap, size_t elem) {
  assert(*cap >= 0 && elem > 0);
  int64_t new_cap = *cap + *cap / 2;
  if (new_cap < 8) new_cap = 8;
  size_t size;
  if (__builtin_mul_overflow((size_t)new_cap, elem, &size) || size > PTRDIFF_MAX) return false;
  void *p = tt__mem_realloc(*data, (size_t)*cap * elem, size);
  if (!p) return false;
  *data = p;
  *cap = new_cap;
  return true;
}

bool tt__vec_grow_few(void **data, int64_t *cap, size_t elem, void *few, int64_t most) {
  if (*cap == 0) {
    *data = few;
    *cap = most;
    return true;
  }
  if (*data != few) return tt__vec_grow(data, cap, elem);
  void *own = NULL;
  int64_t room = most;
  if (!tt__vec_grow(&own, &room, elem)) return false;
  memcpy(own, few, (size_t)most * elem);
  *data = own;
  *cap = room;
  return true;
}

void tt__vec_free_few(void **data, int64_t *n, int64_t *cap, size_t elem, const void *few) {
  if (*data != few) tt__vec_free(data, n, cap, elem);
  *data = NULL;
  *n = *cap = 0;
}

void tt__vec_free(void **data, int64_t *n, int64_t *cap, size_t elem) {
  assert(*n >= 0 && *n <= *cap && elem > 0);
  tt__mem_free(*data, (size_t)*cap * elem);
  *data = NULL;
  *n = *cap = 0;
}
