/*
** Picking and repeating elements: functions whose results are as long as the data say.
*/
#include "base/mem.h"
#include "lib/rows.h"
#include "lib/scan_select.h"

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

static tt_code repeat_index(const tt_lib_attr *attr, const tt_operand *src, tt_made *out, tt_error *err) {
  int64_t total;
  (void)attr;
  TT_TRY(tt__repeat_total(src->data, src->size, &total, err));
  TT_TRY(room(total, out, err));
  if (total == 0) return TT_OK;
  return drop(out, tt__repeat_index(src->data, src->size, out->data, err));
}

const tt_lib_maker tt__makers_select[] = {
    {.name = "nonzero", .nsrc = 1, .nout = 1, .run = nonzero},
    {.name = "repeat_index", .nsrc = 1, .nout = 1, .run = repeat_index},
    {.name = NULL},
};
