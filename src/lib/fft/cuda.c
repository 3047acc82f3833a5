/* Calls of cuFFT; see cuda.h. */
#include "lib/fft/cuda.h"

#include <string.h>

#include "lib/device_call.h"

#define MOST_KEPT 64

/* cuFFT's numbers, those that we say. */
enum { C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69, D2Z = 0x6a, Z2D = 0x6c };
enum { FORWARD = -1, INVERSE = 1 };
enum { STATUS_NO_MEMORY = 2 };

static const char *const names[] = {
#define TT_CUFFT_FN(field, symbol, params) symbol,
#include "lib/fft/cuda_api.def"
#undef TT_CUFFT_FN
};
enum { NAMES = sizeof names / sizeof *names };
_Static_assert(sizeof(tt_cufft) == NAMES * sizeof(tt_vendor_fn), "one pointer a row");

static tt_cufft api;
tt_vendor tt__vendor_cufft = {
    .stem = "libcufft.so", .name = names, .n = NAMES, .fn = (tt_vendor_fn *)&api, .lock = TT_LOCK_INIT};

/* ---- kept plans, guarded by the vendor's lock */

typedef struct kept {
  tt_device *device; /* NULL: free */
  tt_cufft_shape shape;
  uint64_t used;
  size_t work; /* bytes of scratch */
  int plan;
} kept;

static kept table[MOST_KEPT];
static uint64_t turn;

static void drop(kept *e) {
  if (e->device) api.destroy(e->plan);
  memset(e, 0, sizeof *e);
}

static int make(kept *e) {
  const tt_cufft_shape *s = &e->shape;
  static const int types[3][2] = {{C2C, Z2Z}, {R2C, D2Z}, {C2R, Z2D}};
  long long n[3], in[3], out[3];
  int status = api.create(&e->plan);
  if (status) return status;
  for (int i = 0; i < s->rank; i++) {
    bool last = i == s->rank - 1;
    int64_t half = s->n[i] / 2 + 1;
    n[i] = s->n[i];
    in[i] = last && s->kind == TT_CUFFT_TO_REAL ? half : s->n[i];
    out[i] = last && s->kind == TT_CUFFT_FROM_REAL ? half : s->n[i];
  }
  status = api.own_work(e->plan, 0);
  if (!status)
    status = api.make(e->plan, s->rank, n, in, s->in_step, s->in_apart, out, s->out_step, s->out_apart,
                      types[s->kind][s->wide], s->batch, &e->work);
  if (status) api.destroy(e->plan);
  return status;
}

/* The kept plan for a shape, made when there is none; NULL and a status when it cannot be. */
static kept *find(tt_device *d, const tt_cufft_shape *s, int *status) {
  kept *oldest = table;
  turn++;
  for (int i = 0; i < MOST_KEPT; i++) {
    kept *e = &table[i];
    if (e->device == d && memcmp(&e->shape, s, sizeof *s) == 0) {
      e->used = turn;
      return e;
    }
    if (e->used < oldest->used) oldest = e;
  }
  drop(oldest);
  oldest->shape = *s;
  if ((*status = make(oldest)) != 0) {
    memset(oldest, 0, sizeof *oldest);
    return NULL;
  }
  oldest->device = d;
  oldest->used = turn;
  return oldest;
}

/* Plans hold device memory: when there is no more, they go. */
static bool drop_all(void) {
  bool any = false;
  for (int i = 0; i < MOST_KEPT; i++) {
    any |= table[i].device != NULL;
    drop(&table[i]);
  }
  return any;
}

/* ---- transforms */

/* A plan that cannot be made: whatever the reason, the host can do it. */
static tt_code no_plan(int status, tt_error *err) {
  if (status == STATUS_NO_MEMORY) return tt__fail(err, TT_ENOMEM, "cuFFT: the device has no memory left");
  return tt__fail(err, TT_ENOTIMPL, "cuFFT has no such transform here (status %d)", status);
}

static int call(const kept *e, int direction, void *in, void *out) {
  switch (e->shape.kind) {
    case TT_CUFFT_FROM_REAL:
      return (e->shape.wide ? api.d2z : api.r2c)(e->plan, in, out);
    case TT_CUFFT_TO_REAL:
      return (e->shape.wide ? api.z2d : api.c2r)(e->plan, in, out);
    default:
      return (e->shape.wide ? api.z2z : api.c2c)(e->plan, in, out, direction);
  }
}

tt_code tt__cufft_run(const tt_lib_device *on, const tt_cufft_shape *s, bool backward, int64_t calls, int64_t hop,
                      const void *in, void *out, tt_error *err) {
  tt_device *d = on->device;
  void *handle, *work = NULL;
  int status = 0;
  if (d->target.kind != TT_DEVICE_CUDA) return tt__fail(err, TT_ENOTIMPL, "no library has this transform");
  TT_TRY(tt__vendor_enter(&tt__vendor_cufft, d, &handle, err));
  tt_code code = TT_OK;
  size_t size = s->wide ? 8 : 4;
  size_t in_size = s->kind == TT_CUFFT_FROM_REAL ? size : 2 * size;
  size_t out_size = s->kind == TT_CUFFT_TO_REAL ? size : 2 * size;
  kept *e = find(d, s, &status);
  if (!e && status == STATUS_NO_MEMORY && drop_all()) e = find(d, s, &status);
  if (!e) {
    code = no_plan(status, err);
    goto leave;
  }
  if (e->work && (code = on->temp(on, e->work, &work, err)) != TT_OK) goto leave;
  if (e->work) status = api.set_work(e->plan, work);
  if (!status) status = api.set_stream(e->plan, d->ops->interop->handle(d, on->stream));
  for (int64_t i = 0; i < calls && !status; i++) {
    size_t at = (size_t)(i * hop);
    status = call(e, backward ? INVERSE : FORWARD, (char *)(uintptr_t)in + at * in_size, (char *)out + at * out_size);
  }
  code = status ? tt__fail(err, TT_EDEVICE, "cuFFT failed with status %d", status)
                : tt__device_asked(on, "a transform of cuFFT", err);
leave:
  tt__vendor_leave(&tt__vendor_cufft);
  return code;
}
