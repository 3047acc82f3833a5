/*
** The bytes of an array as another type, as a library row: "bits".
*/
#include <string.h>

#include "base/pool/pool.h"
#include "lib/rows.h"

typedef struct job {
  const char *from;
  char *to;
} job;

static void copy_some(void *ctx, int64_t lo, int64_t hi, int worker) {
  const job *j = ctx;
  (void)worker;
  memcpy(j->to + lo, j->from + lo, (size_t)(hi - lo));
}

static tt_code bits(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr, (void)err;
  job j = {.from = src->data, .to = out->data};
  tt__pool_run(out->size * (int64_t)tt__dtype_size(out->dtype), 1 << 20, copy_some, &j);
  return TT_OK;
}

static tt_code bits_on(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                       tt_error *err) {
  (void)attr;
  size_t size = (size_t)out->size * tt__dtype_size(out->dtype);
  return size ? on->device->ops->copy_within(on->device, on->stream, out->data, src->data, size, err) : TT_OK;
}

const tt_lib_row tt__rows_bits[] = {
    {.name = "bits", .nsrc = 1, .nout = 1, .run = bits, .run_on = bits_on},
    {.name = NULL},
};
