/*
** Sums at places on a device (places.text.h).
*/
#include "ir/ops.h"
#include "lib/device_call.h"
#include "lib/device_rows.h"
#include "lib/sort/device.h"

enum { THREADS = 256 };

extern const char tt__text_places[];

/* As places.text.h has it. */
typedef struct places_args {
  const int64_t *place;
  int64_t *row;
  uint32_t *flag;
  const int64_t *sorted, *order;
  const void *value, *before;
  void *out;
  int64_t n, width, len;
} places_args;

static tt_code walk(tt_device_text *d, const char *name, const places_args *a, tt_error *err) {
  return tt__device_launch(d, name, tt__device_blocks(d->on, a->n, THREADS), THREADS, a, sizeof *a, err);
}

/* Rows' places in order, with what tells which row each is of. */
static tt_code sort_places(tt_device_text *d, places_args *a, const int64_t *place, int64_t rows, tt_error *err) {
  const tt_lib_device *on = d->on;
  size_t bytes = sizeof(int64_t) * (size_t)rows;
  void *order, *sorted;
  TT_TRY(on->temp(on, bytes, &order, err));
  TT_TRY(on->temp(on, bytes, &sorted, err));
  a->order = order;
  a->sorted = sorted;
  return tt__device_argsort_rows(on, TT_I64, place, NULL, order, sorted, 1, rows, false, err);
}

/* The rows of this width, sorted by where they begin. Waits for the device. */
static tt_code sort_rows(tt_device_text *d, places_args *a, uint32_t *flag, tt_error *err) {
  const tt_lib_device *on = d->on;
  int64_t rows = a->n / a->width;
  void *row;
  TT_TRY(on->temp(on, sizeof(int64_t) * (size_t)rows, &row, err));
  a->row = row;
  TT_TRY(tt__device_fill(on, a->flag, 0, sizeof *flag, err));
  TT_TRY(walk(d, "rows_of_places", a, err));
  TT_TRY(sort_places(d, a, row, rows, err));
  TT_TRY(walk(d, "rows_apart", a, err));
  return on->read(on, flag, a->flag, sizeof *flag, err);
}

/* The rows of each place, in their order. */
static tt_code fold_sorted(tt_device_text *d, const places_args *a, tt_error *err) {
  return walk(d, a->width == 1 ? "fold_elements" : "fold_rows", a, err);
}

static tt_code add_up(tt_device_text *d, places_args *a, size_t size, tt_error *err) {
  const tt_lib_device *on = d->on;
  uint32_t flag = 0;
  void *at;
  TT_TRY(on->temp(on, sizeof *a->flag, &at, err));
  a->flag = at;
  TT_TRY(sort_rows(d, a, &flag, err));
  if (flag == 2) {
    a->width = 1;
    TT_TRY(sort_rows(d, a, &flag, err));
  }
  if (flag) return tt__fail(err, TT_EINTERNAL, "a place is out of range");
  TT_TRY(tt__device_fill(on, a->out, 0, (size_t)a->len * size, err));
  return fold_sorted(d, a, err);
}

/* The same of rows that are known to be some: nobody waits. */
static tt_code add_rows(tt_device_text *d, places_args *a, const int64_t *first, size_t size, tt_error *err) {
  TT_TRY(sort_places(d, a, first, a->n / a->width, err));
  TT_TRY(tt__device_fill(d->on, a->out, 0, (size_t)a->len * size, err));
  return fold_sorted(d, a, err);
}

/* `known`: sources are where rows begin, not all places. */
static tt_code sums(const tt_lib_device *on, int64_t width, bool known, const tt_operand *src, const tt_block *out,
                    tt_error *err) {
  int64_t n = src[1].size;
  bool pair = tt__is_complex(out->dtype);
  if (tt__real_of(out->dtype) != TT_F32 && tt__real_of(out->dtype) != TT_F64)
    return tt__fail(err, TT_ENOTIMPL, "sums of this type at places are added on the host");
  if (n == 0) return tt__device_fill(on, out->data, 0, (size_t)out->size * tt__dtype_size(out->dtype), err);
  places_args a = {.place = src[0].data,
                   .n = n,
                   .width = width > 0 && n % width == 0 ? width : 1,
                   .len = out->size,
                   .value = src[1].data,
                   .out = out->data};
  tt_device_text d = {.on = on, .text = tt__text_places, .pointers = 8};
  tt__device_define_type(&d, out->dtype);
  tt__device_define(&d, "ADD(x, y)", pair ? "((x).re += (y).re, (x).im += (y).im)" : "((x) += (y))");
  size_t size = tt__dtype_size(out->dtype);
  tt_code code = known ? add_rows(&d, &a, src[0].data, size, err) : add_up(&d, &a, size, err);
  tt__device_done(&d);
  return code;
}

tt_code tt__device_sums_at(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                           tt_error *err) {
  return sums(on, attr->i[0], false, src, out, err);
}

tt_code tt__device_sums_at_rows(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                const tt_block *out, tt_error *err) {
  return sums(on, attr->i[0], true, src, out, err);
}

/* ---- any operation */

/* What a place becomes by one more value. False: no kernel here does it. */
static bool define_step(tt_device_text *d, tt_op op, tt_dtype t) {
  const char *lower = tt__ops[op].lower, *type = tt__dtypes[t].suffix;
  if (tt__is_complex(t)) {
    if (op != TT_ADD) return false;
    tt__device_define(d, "ADD(x, y)", "((x).re += (y).re, (x).im += (y).im)");
    return true;
  }
  if (t == TT_F16 || t == TT_BF16 || tt__ops[op].arity > 2) return false;
  d->scalar = tt__op_scalar_text(op, t);
  if (tt__ops[op].arity == 2)
    tt__device_define(d, "ADD(x, y)", "((x) = tt_%s_%s(x, y))", lower, type);
  else
    tt__device_define(d, "ADD(x, y)", "((x) = tt_%s_%s(x))", lower, type);
  return true;
}

/* Sources and attributes: see rows_fold.c. Nobody waits. */
tt_code tt__device_fold_at(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                           tt_error *err) {
  tt_dtype t = out->dtype;
  tt_device_text d = {.on = on, .text = tt__text_places, .pointers = 8};
  bool same = (tt_dtype)attr->i[1] == t && (tt_dtype)attr->i[2] == t;
  if (!tt__device_words(on) || !same || !define_step(&d, (tt_op)attr->i[0], t)) {
    tt__device_done(&d);
    return tt__fail(err, TT_ENOTIMPL, "this operation at places is the host's");
  }
  if (out->size == 0) {
    tt__device_done(&d);
    return TT_OK;
  }
  places_args a = {.n = out->size,
                   .width = out->size / src[1].size,
                   .value = src[attr->row->nsrc == 3 ? 2 : 0].data,
                   .before = src[0].data,
                   .out = out->data};
  tt__device_define_type(&d, t);
  tt__device_define(&d, "FOLD", "1");
  tt_code code = sort_places(&d, &a, src[1].data, src[1].size, err);
  if (code == TT_OK) code = fold_sorted(&d, &a, err);
  tt__device_done(&d);
  return code;
}
