/*
** Folds of any operation as library rows. Operands come contiguous, [n][inner].
*/
#include "lib/scan/fold.h"

#include <string.h>

#include "lib/device_rows.h"
#include "lib/rows.h"

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

/* i[0]: the op, i[1]: the type of its operands, i[2]: of its result; sources: values, places, (second operands) */
static tt_code fold_at(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  tt_fold_at f = {.op = (tt_op)attr->i[0],
                  .dtype = src->dtype,
                  .compute = (tt_dtype)attr->i[1],
                  .result = (tt_dtype)attr->i[2],
                  .n = src->size};
  return tt__fold_places(&f, src->data, src[1].data, attr->row->nsrc == 3 ? src[2].data : NULL, out->data, err);
}

/* Sources: places, values; the result begins as zeros. */
static tt_code sums_at(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  size_t item = tt__dtype_size(out->dtype);
  tt_fold_into f = {.op = TT_ADD, .dtype = out->dtype, .a = out->data, .b = src[1].data, .place = src[0].data};
  f.len = out->size;
  f.step = f.b_step = f.width = 1;
  f.n = src[0].size;
  memset(out->data, 0, (size_t)out->size * item);
  return tt__fold_into_places(&f) ? TT_OK : tt__fail(err, TT_EINTERNAL, "a place is out of range");
}

static tt_code fold_turns(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  return tt__fold_turns(src->data, src->size, out->data, err);
}

const tt_lib_row tt__rows_fold[] = {
    {.name = "fold", .nsrc = 1, .nout = 1, .run = fold},
    {.name = "fold_where", .nsrc = 2, .nout = 1, .run = fold},
    {.name = "fold_segments", .nsrc = 2, .nout = 1, .run = fold_segments},
    {.name = "fold_at_one", .nsrc = 2, .nout = 1, .run = fold_at},
    {.name = "fold_at", .nsrc = 3, .nout = 1, .run = fold_at},
    {.name = "sums_at", .nsrc = 2, .nout = 1, .run = sums_at, .run_on = tt__device_sums_at},
    {.name = "fold_turns", .nsrc = 1, .nout = 1, .run = fold_turns},
    {.name = NULL},
};
