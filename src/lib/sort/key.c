/*
** Order-preserving keys in bulk. It must not know how keys are sorted.
*/
#include "lib/sort/sort_int.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/pool/pool.h"

tt_key_rule tt__key_rule(tt_dtype t, bool descending, bool merge) {
  assert(!tt__is_complex(t));
  tt_key_rule r = {.width = (int)tt__dtype_size(t), .merge = merge};
  r.flip = descending ? ~(uint64_t)0 : 0;
  switch (t) {
    case TT_F16:
      r.inf = 0x7c00;
      break;
    case TT_BF16:
      r.inf = 0x7f80;
      break;
    case TT_F32:
      r.inf = 0x7f800000;
      break;
    case TT_F64:
      r.inf = 0x7ff0000000000000;
      break;
    default:
      r.sign = tt__dtypes[t].kind == 'i' ? (uint64_t)1 << (r.width * 8 - 1) : 0;
  }
  return r;
}

typedef struct key_job {
  tt_key_rule r;
  const void *in;
  void *out;
  _Atomic uint64_t any, all, min, max;
} key_job;

static void lower(_Atomic uint64_t *m, uint64_t v) {
  uint64_t seen = atomic_load(m);
  while (v < seen && !atomic_compare_exchange_weak(m, &seen, v)) continue;
}

static void raise_to(_Atomic uint64_t *m, uint64_t v) {
  uint64_t seen = atomic_load(m);
  while (v > seen && !atomic_compare_exchange_weak(m, &seen, v)) continue;
}

#define KEY_LOOPS(BITS)                                                                                    \
  static tt_key_span make##BITS(tt_key_rule r, const uint##BITS##_t *in, uint##BITS##_t *out, int64_t n) { \
    uint##BITS##_t any = 0, all = (uint##BITS##_t) ~(uint##BITS##_t)0, min = all, max = 0;                 \
    if (r.inf) {                                                                                           \
      for (int64_t i = 0; i < n; i++) {                                                                    \
        uint##BITS##_t k = tt_key##BITS(in[i], r);                                                         \
        out[i] = k;                                                                                        \
        any |= k, all &= k;                                                                                \
        min = k < min ? k : min, max = k > max ? k : max;                                                  \
      }                                                                                                    \
    } else {                                                                                               \
      for (int64_t i = 0; i < n; i++) {                                                                    \
        uint##BITS##_t k = tt_key##BITS(in[i], r);                                                         \
        out[i] = k;                                                                                        \
        any |= k, all &= k;                                                                                \
        min = k < min ? k : min, max = k > max ? k : max;                                                  \
      }                                                                                                    \
    }                                                                                                      \
    return (tt_key_span){any, all, min, max};                                                              \
  }                                                                                                        \
  static void back##BITS(tt_key_rule r, const uint##BITS##_t *in, uint##BITS##_t *out, int64_t n) {        \
    if (r.inf)                                                                                             \
      for (int64_t i = 0; i < n; i++) out[i] = tt_unkey##BITS(in[i], r);                                   \
    else                                                                                                   \
      for (int64_t i = 0; i < n; i++) out[i] = tt_unkey##BITS(in[i], r);                                   \
  }
KEY_LOOPS(8)
KEY_LOOPS(16)
KEY_LOOPS(32)
KEY_LOOPS(64)
#undef KEY_LOOPS

static void make_part(void *ctx, int64_t lo, int64_t hi, int worker) {
  key_job *j = ctx;
  (void)worker;
  tt_key_span s;
  size_t w = (size_t)j->r.width;
  const char *in = (const char *)j->in + (size_t)lo * w;
  char *out = (char *)j->out + (size_t)lo * w;
  switch (w) {
    case 1:
      s = make8(j->r, (const void *)in, (void *)out, hi - lo);
      break;
    case 2:
      s = make16(j->r, (const void *)in, (void *)out, hi - lo);
      break;
    case 4:
      s = make32(j->r, (const void *)in, (void *)out, hi - lo);
      break;
    default:
      s = make64(j->r, (const void *)in, (void *)out, hi - lo);
      break;
  }
  atomic_fetch_or(&j->any, s.any);
  atomic_fetch_and(&j->all, s.all);
  lower(&j->min, s.min);
  raise_to(&j->max, s.max);
}

static void back_part(void *ctx, int64_t lo, int64_t hi, int worker) {
  key_job *j = ctx;
  (void)worker;
  size_t w = (size_t)j->r.width;
  const char *in = (const char *)j->in + (size_t)lo * w;
  char *out = (char *)j->out + (size_t)lo * w;
  switch (w) {
    case 1:
      back8(j->r, (const void *)in, (void *)out, hi - lo);
      break;
    case 2:
      back16(j->r, (const void *)in, (void *)out, hi - lo);
      break;
    case 4:
      back32(j->r, (const void *)in, (void *)out, hi - lo);
      break;
    default:
      back64(j->r, (const void *)in, (void *)out, hi - lo);
      break;
  }
}

tt_key_span tt__keys_make(tt_key_rule r, const void *in, void *out, int64_t n, bool wide) {
  assert(n >= 0 && (r.width == 1 || r.width == 2 || r.width == 4 || r.width == 8));
  key_job j = {.r = r, .in = in, .out = out, .all = UINT64_MAX, .min = UINT64_MAX};
  if (wide)
    tt__pool_run(n, TT_SORT_GRAIN, make_part, &j);
  else if (n > 0)
    make_part(&j, 0, n, 0);
  return (tt_key_span){j.any, j.all, j.min, j.max};
}

void tt__keys_back(tt_key_rule r, const void *in, void *out, int64_t n, bool wide) {
  assert(n >= 0 && (r.width == 1 || r.width == 2 || r.width == 4 || r.width == 8));
  key_job j = {.r = r, .in = in, .out = out};
  if (r.inf == 0 && r.sign == 0 && r.flip == 0 && in == out) return;
  if (wide)
    tt__pool_run(n, TT_SORT_GRAIN, back_part, &j);
  else
    back_part(&j, 0, n, 0);
}
