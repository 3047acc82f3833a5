/*
** Results that are as long as the data say, on a device (text/pick.h): count, ask how many there are, fill.
*/
#include <stdint.h>

#include "lib/device_call.h"
#include "lib/device_rows.h"
#include "lib/device_sort.h"
#include "lib/unique_host.h"

enum { THREADS = 256, BLOCK = 4096, PLACES_THREADS = 1024 };

/* As text/pick.h has it. */
typedef struct pick_args {
  const void *in;
  const int64_t *place;
  int64_t n, blocks;
  int64_t *count;
  void *value;
  int64_t *start, *index, *inverse;
  int64_t m;
} pick_args;

static tt_code launch(tt_device_text *d, const char *name, int64_t blocks, const pick_args *a, tt_error *err) {
  return tt__device_launch(d, name, blocks, THREADS, a, sizeof *a, err);
}

/* Room for m elements of a result. */
static tt_code room(const tt_lib_device *on, tt_made *out, tt_dtype t, int64_t m, tt_error *err) {
  *out = (tt_made){.n = m, .dtype = t};
  return m ? on->result(on, (size_t)m * tt__dtype_size(t), &out->data, err) : TT_OK;
}

/* Run `count`, which leaves a number for each block; a->m is then their sum. TT_ENOTIMPL when there was a fault. */
static tt_code find_places(tt_device_text *d, pick_args *a, const char *count, tt_error *err) {
  const tt_lib_device *on = d->on;
  int64_t tail[2];
  a->blocks = tt_ceil_div(a->n, BLOCK);
  TT_TRY(on->temp(on, (size_t)(a->blocks + 2) * sizeof(int64_t), (void **)&a->count, err));
  TT_TRY(tt__device_fill(on, a->count + a->blocks, 0, sizeof tail, err));
  TT_TRY(launch(d, count, a->blocks, a, err));
  TT_TRY(tt__device_launch(d, "pick_places", 1, PLACES_THREADS, a, sizeof *a, err));
  TT_TRY(on->read(on, tail, a->count + a->blocks, sizeof tail, err));
  a->m = tail[0];
  return tail[1] ? tt__fail(err, TT_ENOTIMPL, "the host says what is wrong") : TT_OK;
}

/* ---- the places of what is not zero */

static const char *nonzero_of(tt_dtype t) {
  if (t == TT_F16 || t == TT_BF16) return "((x) & 0x7fff)";
  return tt__is_complex(t) ? "((x).re != 0 || (x).im != 0)" : "((x) != 0)";
}

tt_code tt__device_nonzero(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                           tt_error *err) {
  (void)attr;
  if (!tt__device_words(on)) return TT_ENOTIMPL;
  *out = (tt_made){.dtype = TT_I64};
  if (src->size == 0) return TT_OK;
  tt_device_text d = {.on = on, .text = tt__text_pick};
  tt__device_define_type(&d, src->dtype);
  tt__device_define(&d, "NONZERO(x)", "%s", nonzero_of(src->dtype));
  pick_args a = {.in = src->data, .n = src->size};
  tt_code c = find_places(&d, &a, "pick_count", err);
  if (c == TT_OK) c = room(on, out, TT_I64, a.m, err);
  a.index = out->data;
  if (c == TT_OK && a.m) c = launch(&d, "pick_fill", a.blocks, &a, err);
  tt__device_done(&d);
  return c;
}

/* ---- repetition */

tt_code tt__device_repeat_index(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                                tt_error *err) {
  (void)attr;
  if (!tt__device_words(on)) return TT_ENOTIMPL;
  *out = (tt_made){.dtype = TT_I64};
  if (src->size == 0) return TT_OK;
  tt_device_text d = {.on = on, .text = tt__text_pick};
  tt__device_define_type(&d, TT_I64);
  tt__device_define(&d, "REPEAT", "1");
  pick_args a = {.in = src->data, .n = src->size};
  tt_code c = find_places(&d, &a, "repeat_sum", err);
  if (c == TT_OK) c = on->temp(on, (size_t)a.n * sizeof(int64_t), (void **)&a.start, err);
  if (c == TT_OK) c = launch(&d, "repeat_start", a.blocks, &a, err);
  if (c == TT_OK) c = room(on, out, TT_I64, a.m, err);
  a.index = out->data;
  if (c == TT_OK) c = launch(&d, "repeat_fill", tt__device_blocks(on, a.m, THREADS), &a, err);
  tt__device_done(&d);
  return c;
}

/* ---- distinct elements */

static void define_unique(tt_device_text *d, tt_dtype t, bool equal_nan) {
  tt__device_define_type(d, t);
  tt__device_define(d, "UNIQUE", "1");
  tt__device_define(d, "JOIN", "%d", equal_nan);
  if (t == TT_F16 || t == TT_BF16) { /* zeros of both signs are one value */
    tt__device_define(d, "IS_NAN(x)", "(((x) & 0x7fff) > 0x%x)", t == TT_F16 ? 0x7c00 : 0x7f80);
    tt__device_define(d, "DIFFERS(x, y)", "((x) != (y) && (((x) | (y)) & 0x7fff))");
  } else if (tt__is_complex(t)) {
    tt__device_define(d, "IS_NAN(x)", "((x).re != (x).re || (x).im != (x).im)");
    tt__device_define(d, "DIFFERS(x, y)", "((x).re != (y).re || (x).im != (y).im)");
  } else {
    tt__device_define(d, "IS_NAN(x)", "((x) != (x))");
    tt__device_define(d, "DIFFERS(x, y)", "((x) != (y))");
  }
}

/* The elements in order, and when `places` where they were. */
static tt_code sort_elements(const tt_lib_device *on, const tt_operand *src, bool places, pick_args *a, tt_error *err) {
  size_t n = (size_t)src->size;
  void *sorted;
  int64_t *place = NULL;
  TT_TRY(on->temp(on, n * tt__dtype_size(src->dtype), &sorted, err));
  a->in = sorted;
  if (!places) return tt__device_sort_rows(on, src->dtype, src->data, sorted, 1, src->size, false, err);
  TT_TRY(on->temp(on, n * sizeof *place, (void **)&place, err));
  a->place = place;
  return tt__device_argsort_rows(on, src->dtype, src->data, NULL, place, sorted, 1, src->size, false, err);
}

static tt_code fill_unique(tt_device_text *d, pick_args *a, tt_dtype t, int want, tt_made *out, tt_error *err) {
  const tt_lib_device *on = d->on;
  TT_TRY(room(on, &out[0], t, a->m, err));
  if (want & TT_UNIQUE_INDEX) TT_TRY(room(on, &out[1], TT_I64, a->m, err));
  if (want & TT_UNIQUE_INVERSE) TT_TRY(room(on, &out[2], TT_I64, a->n, err));
  if (want & TT_UNIQUE_COUNTS) TT_TRY(room(on, &out[3], TT_I64, a->m, err));
  if (want & TT_UNIQUE_COUNTS) TT_TRY(on->temp(on, (size_t)a->m * sizeof(int64_t), (void **)&a->start, err));
  a->value = out[0].data;
  a->index = out[1].data;
  a->inverse = out[2].data;
  TT_TRY(launch(d, "pick_fill", a->blocks, a, err));
  a->index = out[3].data;
  return want & TT_UNIQUE_COUNTS ? launch(d, "pick_lengths", tt_ceil_div(a->m, THREADS), a, err) : TT_OK;
}

tt_code tt__device_unique(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                          tt_error *err) {
  int want = (int)attr->i[0];
  pick_args a = {.n = src->size};
  if (!tt__device_words(on) || src->size >= UINT32_MAX) return TT_ENOTIMPL;
  for (int k = 0; k < 4; k++) out[k] = (tt_made){.dtype = k ? TT_I64 : src->dtype};
  if (src->size == 0) return TT_OK;
  TT_TRY(sort_elements(on, src, (want & (TT_UNIQUE_INDEX | TT_UNIQUE_INVERSE)) != 0, &a, err));
  tt_device_text d = {.on = on, .text = tt__text_pick};
  define_unique(&d, src->dtype, attr->i[1] != 0);
  tt_code c = find_places(&d, &a, "pick_count", err);
  if (c == TT_OK) c = fill_unique(&d, &a, src->dtype, want, out, err);
  tt__device_done(&d);
  return c;
}
