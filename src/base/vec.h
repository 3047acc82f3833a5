/*
** A growable vector as three fields, typed by its first: { T *data; int64_t n, cap; }.
** Growth goes through tt__mem_realloc; TT_VEC_PUSH is false when memory is out and
** leaves the vector as it was.
*/
#ifndef TT_BASE_VEC_H
#define TT_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define TT_VEC(T)   \
  struct {          \
    T *data;        \
    int64_t n, cap; \
  }

/* Make room for one more element than the vector has room for. */
TT_HIDDEN bool tt__vec_grow(void **data, int64_t *cap, size_t elem);
TT_HIDDEN void tt__vec_free(void **data, int64_t *n, int64_t *cap, size_t elem);

#define TT_VEC_PUSH(v, value)                                                           \
  ((v)->n < (v)->cap || tt__vec_grow((void **)&(v)->data, &(v)->cap, sizeof *(v)->data) \
       ? ((v)->data[(v)->n++] = (value), true)                                          \
       : false)
#define TT_VEC_FREE(v) tt__vec_free((void **)&(v)->data, &(v)->n, &(v)->cap, sizeof *(v)->data)

/* The same with room for `most` elements inside, for what is mostly short and made at every call. It starts as zeros
 * and does not move. */
#define TT_VEC_FEW(T, most) \
  struct {                  \
    T *data;                \
    int64_t n, cap;         \
    T few[most];            \
  }

TT_HIDDEN bool tt__vec_grow_few(void **data, int64_t *cap, size_t elem, void *few, int64_t most);
TT_HIDDEN void tt__vec_free_few(void **data, int64_t *n, int64_t *cap, size_t elem, const void *few);

#define TT_VEC_FEW_PUSH(v, value)                                                                     \
  ((v)->n < (v)->cap || tt__vec_grow_few((void **)&(v)->data, &(v)->cap, sizeof *(v)->data, (v)->few, \
                                         (int64_t)(sizeof(v)->few / sizeof *(v)->few))                \
       ? ((v)->data[(v)->n++] = (value), true)                                                        \
       : false)
#define TT_VEC_FEW_FREE(v) tt__vec_free_few((void **)&(v)->data, &(v)->n, &(v)->cap, sizeof *(v)->data, (v)->few)

#endif
