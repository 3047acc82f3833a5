/*
** Sums of products of a sequence with a window that slides along it, for short ones: a library row where a kernel
** would be ten nodes of a graph. The bits are those of that kernel (ir/kernel.h): which way it folds is told. It must
** not know the extents of NumPy's functions.
*/
#include <string.h>

#include "base/mem.h"
#include "ir/kernel.h"
#include "lib/nn/vector_level.h"
#include "lib/rows.h"

enum { LANES = TT_LANES, COLUMN = TT_CHUNK_COL };

typedef struct correlation {
  int64_t n, m, left, total; /* elements, of the window, places before the first element, results */
} correlation;

#define TARGET
#define T float
#define NAME(x) x##_f32_0
#include "lib/scan/correlate.inc"
#undef T
#undef NAME
#define T double
#define NAME(x) x##_f64_0
#include "lib/scan/correlate.inc"
#undef T
#undef NAME
#undef TARGET

#if TT_NN_LEVELS > 1
#define TARGET TT_NN_TARGET_1
#define T float
#define NAME(x) x##_f32_1
#include "lib/scan/correlate.inc"
#undef T
#undef NAME
#define T double
#define NAME(x) x##_f64_1
#include "lib/scan/correlate.inc"
#undef T
#undef NAME
#undef TARGET
#define BY_LEVEL(name) (tt__nn_level() > 0 ? name##_1 : name##_0)
#else
#define BY_LEVEL(name) name##_0
#endif

/* i[0]: places before the first element, i[1]: results fold side by side; sources: float32 or float64, the window. */
static tt_code correlate(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  correlation c = {.n = src[0].size, .m = src[1].size, .left = attr->i[0], .total = out->size};
  bool wide = out->dtype == TT_F64;
  if (!attr->i[1]) {
    if (wide)
      BY_LEVEL(rows_f64)(&c, src[0].data, src[1].data, out->data);
    else
      BY_LEVEL(rows_f32)(&c, src[0].data, src[1].data, out->data);
    return TT_OK;
  }
  size_t size = (size_t)c.total * sizeof(double);
  void *chunk = c.m > COLUMN ? tt__mem_alloc_data(size) : NULL;
  if (c.m > COLUMN && !chunk) return tt__fail_memory(err, size);
  if (wide)
    BY_LEVEL(columns_f64)(&c, src[0].data, src[1].data, out->data, chunk);
  else
    BY_LEVEL(columns_f32)(&c, src[0].data, src[1].data, out->data, chunk);
  if (chunk) tt__mem_free_data(chunk, size);
  return TT_OK;
}

const tt_lib_row tt__rows_correlate[] = {
    {.name = "correlate", .nsrc = 2, .nout = 1, .run = correlate},
    {.name = NULL},
};
