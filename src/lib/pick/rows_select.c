/*
** Picking and repeating elements: functions whose results are as long as the data say.
*/
#include <string.h>

#include "base/mem.h"
#include "lib/device_rows.h"
#include "lib/rows.h"
#include "lib/scan/select.h"
#include "lib/pick/search_count.h"
#include "lib/sort/unique.h"

/* Room for n int64. */
static tt_code room(int64_t n, tt_made *out, tt_error *err) {
  *out = (tt_made){.n = n, .dtype = TT_I64};
  if (n == 0) return TT_OK;
  out->data = tt__mem_alloc_data((size_t)n * sizeof(int64_t));
  return out->data ? TT_OK : tt__fail_memory(err, (size_t)n * sizeof(int64_t));
}

static tt_code drop(tt_made *out, tt_code code) {
  if (code == TT_OK) return code;
  tt__mem_free_data(out->data, (size_t)out->n * sizeof(int64_t));
  *out = (tt_made){0};
  return code;
}

/* The flat places of what is not zero. */
static tt_code nonzero(const tt_lib_attr *attr, const tt_operand *src, tt_made *out, tt_error *err) {
  (void)attr;
  TT_TRY(room(tt__count_nonzero(src->dtype, src->data, src->size), out, err));
  if (out->n == 0) return TT_OK;
  return drop(out, tt__nonzero(src->dtype, src->data, src->size, out->data, err));
}

/* sources: a mask of bool, values; those where it is true. */
/* The n elements that are picked, each written where the next one belongs: a branch would be guessed wrong half of the
 * time. */
#define PICK(type)                                                                      \
  static void pick_##type(const uint8_t *mask, const void *from, void *to, int64_t n) { \
    const type *a = from;                                                               \
    type *b = to;                                                                       \
    for (int64_t i = 0, at = 0; at < n; at += mask[i++] != 0) b[at] = a[i];             \
  }
PICK(uint8_t)
PICK(uint16_t)
PICK(uint32_t)
PICK(uint64_t)

static void pick_wide(const uint8_t *mask, const char *from, char *to, int64_t n, size_t size) {
  for (int64_t i = 0, at = 0; at < n; i++)
    if (mask[i]) memcpy(to + size * (size_t)at++, from + size * (size_t)i, size);
}

static tt_code compress(const tt_lib_attr *attr, const tt_operand *src, tt_made *out, tt_error *err) {
  const uint8_t *mask = src[0].data;
  size_t size = tt__dtype_size(src[1].dtype), bytes;
  (void)attr;
  *out = (tt_made){.n = tt__count_nonzero(TT_BOOL, mask, src[0].size), .dtype = src[1].dtype};
  if (out->n == 0) return TT_OK;
  bytes = (size_t)out->n * size;
  out->data = tt__mem_alloc_data(bytes);
  if (!out->data) return tt__fail_memory(err, bytes);
  if (size == 1)
    pick_uint8_t(mask, src[1].data, out->data, out->n);
  else if (size == 2)
    pick_uint16_t(mask, src[1].data, out->data, out->n);
  else if (size == 4)
    pick_uint32_t(mask, src[1].data, out->data, out->n);
  else if (size == 8)
    pick_uint64_t(mask, src[1].data, out->data, out->n);
  else
    pick_wide(mask, src[1].data, out->data, out->n, size);
  return TT_OK;
}

static tt_code repeat_index(const tt_lib_attr *attr, const tt_operand *src, tt_made *out, tt_error *err) {
  int64_t total;
  (void)attr;
  TT_TRY(tt__repeat_total(src->data, src->size, &total, err));
  TT_TRY(room(total, out, err));
  if (total == 0) return TT_OK;
  return drop(out, tt__repeat_index(src->data, src->size, out->data, err));
}

/* i[0]: TT_UNIQUE_*, i[1]: all NaNs are one. Values, places of the first ones, inverse, counts. */
static tt_code unique(const tt_lib_attr *attr, const tt_operand *src, tt_made *out, tt_error *err) {
  tt_unique u;
  TT_TRY(tt__unique(src->dtype, src->data, src->size, (int)attr->i[0], attr->i[1] != 0, &u, err));
  out[0] = (tt_made){u.values, u.n, src->dtype};
  out[1] = (tt_made){u.index, u.index ? u.n : 0, TT_I64};
  out[2] = (tt_made){u.inverse, u.inverse ? u.n_in : 0, TT_I64};
  out[3] = (tt_made){u.counts, u.counts ? u.n : 0, TT_I64};
  return TT_OK;
}

/* i[0]: the least number of bins; sources: integers, (weights) */
static tt_code bincount(const tt_operand *src, const double *weight, int64_t least, tt_made *out, tt_error *err) {
  int64_t bins;
  TT_TRY(tt__bincount_size(src->dtype, src->data, src->size, least, &bins, err));
  TT_TRY(room(bins, out, err));
  if (weight) out->dtype = TT_F64;
  if (bins == 0) return TT_OK;
  return drop(out, tt__bincount(src->dtype, src->data, src->size, 0, weight, bins, out->data, err));
}

static tt_code bincount_plain(const tt_lib_attr *attr, const tt_operand *src, tt_made *out, tt_error *err) {
  return bincount(src, NULL, attr->i[0], out, err);
}

static tt_code bincount_weighted(const tt_lib_attr *attr, const tt_operand *src, tt_made *out, tt_error *err) {
  return bincount(src, src[1].data, attr->i[0], out, err);
}

const tt_lib_maker tt__makers_select[] = {
    {.name = "unique", .nsrc = 1, .nout = 4, .join = TT_JOIN_DISTINCT, .run = unique, .run_on = tt__device_unique},
    {.name = "bincount",
     .nsrc = 1,
     .nout = 1,
     .join = TT_JOIN_SUMS,
     .run = bincount_plain,
     .run_on = tt__device_bincount},
    {.name = "bincount_weighted",
     .nsrc = 2,
     .nout = 1,
     .run = bincount_weighted,
     .run_on = tt__device_bincount_weighted},
    {.name = "nonzero",
     .nsrc = 1,
     .nout = 1,
     .produced = true,
     .join = TT_JOIN_PLACES,
     .run = nonzero,
     .run_on = tt__device_nonzero},
    {.name = "compress",
     .nsrc = 2,
     .nout = 1,
     .produced = true,
     .join = TT_JOIN_BEHIND,
     .run = compress,
     .run_on = tt__device_compress},
    {.name = "repeat_index", .nsrc = 1, .nout = 1, .run = repeat_index, .run_on = tt__device_repeat_index},
    {.name = NULL},
};
