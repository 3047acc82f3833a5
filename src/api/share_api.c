/*
** The public functions of tutti/stream.h that share memory. They need the evaluator; streams and events do not.
*/
#include <string.h>

#include "api/enter.h"
#include "device/device.h"
#include "graph/build.h"
#include "run/device/share.h"

static tt_code open_other(int device, tt_device **d, tt_error *err) {
  TT_TRY(tt__device_open(device, d, err));
  return *d ? TT_OK : tt__fail(err, TT_EVALUE, "the CPU's memory is shared by tt_peek and tt_adopt");
}

tt_code tt_peek_on(tt_array *a, int device, void *reader, const void **data, void **hold, tt_error *err) {
  tt_device *d;
  tt_entered c;
  *data = *hold = NULL;
  TT_TRY(open_other(device, &d, err));
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__share_peek(a, d, reader, data, hold, err));
}

void tt_unpeek_on(void *hold) {
  if (!hold) return;
  tt__session_lock();
  tt__share_unpeek(hold);
  tt__session_unlock();
}

tt_code tt_adopt_on(int device, void *writer, tt_dtype dtype, int rank, const int64_t *len, void *data,
                    const int64_t *stride, bool readonly, void (*drop)(void *ctx), void *ctx, tt_array **out,
                    tt_error *err) {
  tt_device *d;
  tt_entered c;
  *out = NULL;
  if ((int)dtype < 0 || dtype >= TT_DTYPE_COUNT)
    return tt__fail(err, TT_ETYPE, "data type %d not understood", (int)dtype);
  TT_TRY(open_other(device, &d, err));
  TT_TRY(tt__share_after(d, writer, err));
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__array_adopt(device, dtype, rank, len, data, stride, readonly, drop, ctx, out, err));
}

tt_code tt_detach(tt_array *a, tt_array **out, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__share_detach(a, out, err));
}

int tt_memory_device(const char *type, const void *p) {
  for (int k = 1; k < TT_DEVICE_KINDS; k++) {
    int index = strcmp(tt__device_kinds[k], type) == 0 ? tt__device_owner((tt_device_kind)k, p) : -1;
    if (index >= 0) return tt__device_id((tt_device_kind)k, index);
  }
  return TT_CPU;
}
