/*
** What the rows of linear algebra on devices share. Private to linalg_device*.c.
*/
#ifndef TT_LIB_LINALG_DEVICE_INT_H
#define TT_LIB_LINALG_DEVICE_INT_H

#include "ir/library.h"

/* The sizes of an operand: a batch of matrices [m, n]. */
typedef struct sizes {
  int64_t batch, m, n;
} sizes;

static inline sizes sizes_of(const tt_operand *a) {
  sizes s = {.batch = 1, .m = a->len[a->rank - 2], .n = a->len[a->rank - 1]};
  for (int d = 0; d < a->rank - 2; d++) s.batch *= a->len[d];
  return s;
}

static inline tt_code nothing(tt_error *err) {
  return tt__fail(err, TT_ENOTIMPL, "empty matrices are the host's work");
}

static inline tt_code temp(const tt_lib_device *on, tt_dtype t, int64_t count, void **out, tt_error *err) {
  return on->temp(on, (size_t)count * tt__dtype_size(t), out, err);
}

/* Memory for a result that may not be wanted. */
static inline tt_code room(const tt_lib_device *on, void *wanted, tt_dtype t, int64_t count, void **out,
                           tt_error *err) {
  *out = wanted;
  return wanted ? TT_OK : temp(on, t, count, out, err);
}

#endif
