/*
** Folds of any operation as library rows. Operands come contiguous, [n][inner].
*/
#include "lib/scan/fold.h"

#include <string.h>

#include "base/mem.h"
#include "lib/device_rows.h"
#include "lib/rows.h"

enum { LEAST_ROW = 8 }; /* numbers that are sooner added by a call of a loop than one by one */

/* i[0]: the op, i[1]: n, i[2]: inner, i[3]: keep every step */
static tt_fold read_fold(const tt_lib_attr *attr, const tt_operand *src) {
  return (tt_fold){.op = (tt_op)attr->i[0], .dtype = src->dtype, .n = attr->i[1], .inner = attr->i[2]};
}

static tt_code fold(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  tt_fold f = read_fold(attr, src);
  if (attr->i[3]) return tt__fold_running(&f, src->data, out->data, err);
  return tt__fold_rows(&f, src->data, attr->row->nsrc == 2 ? src[1].data : NULL, out->data, err);
}

static tt_code fold_segments(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  tt_fold f = read_fold(attr, src);
  return tt__fold_segments(&f, src->data, src[1].data, src[1].size, out->data, err);
}

/* i[0]: the op, i[1]: the type of its operands, i[2]: of its result; sources: values, places, (second operands). There
 * are as many values as places, or rows of them. */
static tt_code fold_at(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  tt_fold_at f = {.op = (tt_op)attr->i[0],
                  .dtype = src->dtype,
                  .compute = (tt_dtype)attr->i[1],
                  .result = (tt_dtype)attr->i[2],
                  .n = src[1].size};
  f.width = f.n ? src->size / f.n : 1;
  return tt__fold_places(&f, src->data, src[1].data, attr->row->nsrc == 3 ? src[2].data : NULL, out->data, err);
}

/* Do places follow each other `width` at a time, and from none over the end? Places from the end are no rows. */
static bool are_rows(const int64_t *place, int64_t n, int64_t len, int64_t width) {
  if (width < LEAST_ROW || n % width != 0) return false;
  for (int64_t row = 0; row < n; row += width) {
    const int64_t first = place[row];
    int64_t apart = 0;
    for (int64_t i = 1; i < width; i++) apart |= place[row + i] - first - i;
    if (apart || first < 0 || first > len - width) return false;
  }
  return true;
}

/* Sources: places, values; i[0]: how many places may follow each other, again and again. The result begins as zeros. */
static tt_code sums_at(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const int64_t *place = src[0].data;
  bool rows = !tt__is_complex(out->dtype) && are_rows(place, src[0].size, out->size, attr->i[0]);
  const int64_t width = rows ? attr->i[0] : 1;
  tt_fold_into f = {.op = TT_ADD, .dtype = out->dtype, .a = out->data, .b = src[1].data, .place = place};
  f.len = out->size;
  f.step = 1;
  f.b_step = f.width = width;
  f.n = src[0].size / width;
  int64_t *first = width > 1 ? tt__mem_alloc_data((size_t)f.n * sizeof *first) : NULL;
  if (width > 1 && !first) return tt__fail_memory(err, (size_t)f.n * sizeof *first);
  for (int64_t i = 0; first && i < f.n; i++) first[i] = place[i * width];
  if (first) f.place = first;
  memset(out->data, 0, (size_t)out->size * tt__dtype_size(out->dtype));
  bool done = tt__fold_into_places(&f);
  if (first) tt__mem_free_data(first, (size_t)f.n * sizeof *first);
  return done ? TT_OK : tt__fail(err, TT_EINTERNAL, "a place is out of range");
}

/* Sources: where rows of i[0] elements begin, none of which reaches into another; their values. */
static tt_code sums_at_rows(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  tt_fold_into f = {.op = TT_ADD, .dtype = out->dtype, .a = out->data, .b = src[1].data, .place = src[0].data};
  f.len = out->size;
  f.step = 1;
  f.b_step = f.width = attr->i[0];
  f.n = src[0].size;
  memset(out->data, 0, (size_t)out->size * tt__dtype_size(out->dtype));
  return tt__fold_into_places(&f) ? TT_OK : tt__fail(err, TT_EINTERNAL, "a place is out of range");
}

/* Nothing changes what it asks a device for. */
static uint64_t one_mode(void) { return 0; }

static tt_code fold_turns(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  return tt__fold_turns(src->data, src->size, out->data, err);
}

const tt_lib_row tt__rows_fold[] = {
    {.name = "fold", .nsrc = 1, .nout = 1, .run = fold},
    {.name = "fold_where", .nsrc = 2, .nout = 1, .run = fold},
    {.name = "fold_segments", .nsrc = 2, .nout = 1, .run = fold_segments},
    {.name = "fold_at_one", .nsrc = 2, .nout = 1, .run = fold_at, .run_on = tt__device_fold_at},
    {.name = "fold_at", .nsrc = 3, .nout = 1, .run = fold_at, .run_on = tt__device_fold_at},
    {.name = "sums_at", .nsrc = 2, .nout = 1, .run = sums_at, .run_on = tt__device_sums_at},
    {.name = "sums_at_rows",
     .nsrc = 2,
     .nout = 1,
     .run = sums_at_rows,
     .run_on = tt__device_sums_at_rows,
     .mode = one_mode},
    {.name = "fold_turns", .nsrc = 1, .nout = 1, .run = fold_turns},
    {.name = NULL},
};
