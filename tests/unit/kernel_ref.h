/*
** Kernels executed by the letter of ir/kernel.h, one scalar at a time: slow, plain, and right by
** definition. And launches made up at random, with guard bytes round every buffer, to run other executors on.
*/
#ifndef KERNEL_REF_H
#define KERNEL_REF_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/cpu/vm_loops.h"
#include "ir/kernel.h"

enum { REF_INST = 256, REF_AXES = 8, REF_ACCESS = 96, REF_GUARD = 256 };

typedef struct ref_state {
  const tt_kernel *k;
  const tt_kargs *a;
  const tt_vm_table *vm;
  int64_t ix[REF_AXES]; /* the whole index */
  int64_t row;          /* flat row point */
  tt_scalar v[REF_INST];
  tt_scalar acc[REF_INST][TT_LANES];
  int64_t acci[REF_INST][TT_LANES];
  tt_scalar chunk[REF_INST], group[REF_INST];
  int64_t chunki[REF_INST], groupi[REF_INST];
} ref_state;

static inline tt_scalar ref_op(const ref_state *s, int op, int type, tt_scalar x, tt_scalar y, tt_scalar z) {
  tt_scalar out = {0};
  s->vm->op[op][type](&out, &x, &y, &z, 1);
  return out;
}

static inline tt_scalar ref_cast(const ref_state *s, int from, int to, tt_scalar x) {
  tt_scalar out = {0};
  s->vm->cast[from][to](&out, &x, NULL, NULL, 1);
  return out;
}

static inline int64_t ref_index(const ref_state *s, const tt_kinst *q) {
  const tt_kernel *k = s->k;
  int64_t at = s->a->off[q->slot];
  int n = q->scope == TT_SCOPE_OUTER ? k->nouter : k->naxes;
  for (int x = 0; x < n; x++) at += s->ix[x] * s->a->step[q->slot * k->naxes + x];
  return k->access[q->slot].buf <= -2 ? s->row : at;
}

static inline char *ref_element(const ref_state *s, int access, int64_t at) {
  const tt_kaccess *acc = &s->k->access[access];
  char *base = acc->buf >= 0 ? s->a->buf[acc->buf] : s->a->scratch[-2 - acc->buf];
  int64_t len = acc->buf >= 0 && s->k->checked ? s->a->buf_len[acc->buf] : INT64_MAX;
  if (at >= 0 && at < len) return base + at * (int64_t)tt__dtype_size((tt_dtype)acc->dtype);
  tt_kfault *f = s->a->fault;
  if (!f->access) *f = (tt_kfault){access + 1, at, len};
  return NULL;
}

static inline tt_scalar ref_load(const ref_state *s, int access, int64_t at) {
  int type = s->k->access[access].dtype;
  tt_scalar x = {0};
  const char *p = ref_element(s, access, at);
  if (p) memcpy(&x, p, tt__dtype_size((tt_dtype)type));
  return p && tt__kernel_reg((tt_dtype)type) != (tt_dtype)type ? ref_cast(s, type, TT_F32, x) : x;
}

static inline void ref_store(const ref_state *s, int access, int64_t at, tt_scalar x) {
  int type = s->k->access[access].dtype;
  char *p = ref_element(s, access, at);
  if (tt__kernel_reg((tt_dtype)type) != (tt_dtype)type) x = ref_cast(s, TT_F32, type, x);
  if (p) memcpy(p, &x, tt__dtype_size((tt_dtype)type));
}

/* ---- reductions */

static inline bool ref_is_arg(const tt_kinst *q) { return q->red == TT_RED_ARGMAX || q->red == TT_RED_ARGMIN; }

static inline int ref_red_op(int red) {
  static const int op[] = {TT_ADD, TT_MUL, TT_MAXIMUM, TT_MINIMUM, TT_OR, TT_AND, TT_GT, TT_LT};
  return op[red];
}

static inline tt_scalar ref_identity(const tt_kinst *q) {
  tt_scalar x = {0};
  int size = (int)tt__dtype_size((tt_dtype)q->from);
  bool flt = tt__is_float((tt_dtype)q->from), low = q->red == TT_RED_MAX;
  if (q->red == TT_RED_MAX || q->red == TT_RED_MIN) {
    if (flt && size == 4)
      x.f32 = low ? -INFINITY : INFINITY;
    else if (flt)
      x.f64 = low ? -(double)INFINITY : (double)INFINITY;
    else if (q->from == TT_BOOL)
      x.b8 = !low;
    else if (tt__is_unsigned((tt_dtype)q->from))
      x.u64 = low ? 0 : size == 8 ? UINT64_MAX : (1ull << (size * 8)) - 1;
    else
      x.i64 = low ? (int64_t)(~0ull << (size * 8 - 1)) : (int64_t)((1ull << (size * 8 - 1)) - 1);
  } else if (q->red == TT_RED_PROD || q->red == TT_RED_ALL) {
    if (flt && size == 4)
      x.f32 = 1;
    else if (flt)
      x.f64 = 1;
    else
      x.u64 = 1;
  }
  return x;
}

static inline bool ref_better(const ref_state *s, const tt_kinst *q, tt_scalar now, tt_scalar next) {
  if (tt__is_float((tt_dtype)q->from)) {
    double x = q->from == TT_F32 ? now.f32 : now.f64, y = q->from == TT_F32 ? next.f32 : next.f64;
    if (isnan(x) || isnan(y)) return isnan(y) && !isnan(x);
  }
  return ref_op(s, ref_red_op(q->red), q->from, next, now, now).b8;
}

/* (x, xi) := combined with (y, yi) */
static inline void ref_combine(const ref_state *s, const tt_kinst *q, tt_scalar *x, int64_t *xi, tt_scalar y,
                               int64_t yi) {
  if (!ref_is_arg(q)) {
    *x = ref_op(s, ref_red_op(q->red), q->from, *x, y, y);
    return;
  }
  bool equal = *xi >= 0 && yi >= 0 && !ref_better(s, q, *x, y) && !ref_better(s, q, y, *x);
  if (yi < 0 || (*xi >= 0 && !ref_better(s, q, *x, y) && !(equal && yi < *xi))) return;
  *x = y;
  *xi = yi;
}

/* ---- instructions and loops */

static inline void ref_inst(ref_state *s, int i) {
  const tt_kinst *q = &s->k->inst[i];
  tt_scalar x[3] = {{0}};
  for (int j = 0; j < 3; j++)
    if (q->src[j] >= 0) x[j] = s->v[q->src[j]];
  switch (q->op) {
    case TT_K_CONST:
      s->v[i] = s->a->scalar[q->slot];
      break;
    case TT_K_LOAD:
      s->v[i] = ref_load(s, q->slot, ref_index(s, q));
      break;
    case TT_K_INDEX:
      s->v[i] = (tt_scalar){.i64 = ref_index(s, q)};
      break;
    case TT_K_LOADX:
      s->v[i] = ref_load(s, q->slot, x[0].i64);
      break;
    case TT_K_STORE:
      ref_store(s, q->slot, ref_index(s, q), x[0]);
      break;
    case TT_K_STOREX:
      ref_store(s, q->slot, x[0].i64, x[1]);
      break;
    case TT_K_ROUND:
      s->v[i] = ref_cast(s, q->from, TT_F32, ref_cast(s, TT_F32, q->from, x[0]));
      break;
    case TT_CAST:
      s->v[i] = ref_cast(s, q->from, q->dtype, x[0]);
      break;
    case TT_K_REDUCE: {
      int lane = s->k->mode == TT_MODE_ROW ? (int)(s->ix[s->k->naxes - 1] % TT_LANES) : 0;
      ref_combine(s, q, &s->acc[i][lane], &s->acci[i][lane], x[0], s->row);
      break;
    }
    default:
      s->v[i] = ref_op(s, q->op, q->from, x[0], x[1], x[2]);
  }
}

static inline void ref_scope(ref_state *s, int scope, int phase) {
  for (int i = 0; i < s->k->ninst; i++)
    if (s->k->inst[i].scope == scope && (scope == TT_SCOPE_CONST || s->k->inst[i].phase == phase)) ref_inst(s, i);
}

#define REF_EACH_REDUCE(s, p, i)          \
  for (int i = 0; i < (s)->k->ninst; i++) \
    if ((s)->k->inst[i].op == TT_K_REDUCE && (s)->k->inst[i].phase == (p))

/* The value of the chunks before `chunk` takes in the group that ends there (COL: groups of one). */
static inline void ref_close_group(ref_state *s, int i, int64_t chunk) {
  int64_t group = s->k->mode == TT_MODE_COL ? 1 : TT_GROUP;
  if (chunk == 0) return;
  if (chunk <= group) {
    s->chunk[i] = s->group[i];
    s->chunki[i] = s->groupi[i];
  } else {
    ref_combine(s, &s->k->inst[i], &s->chunk[i], &s->chunki[i], s->group[i], s->groupi[i]);
  }
}

/* Row points [from, to) of phase p: one chunk. */
static inline void ref_chunk(ref_state *s, int p, int64_t from, int64_t to, int64_t chunk) {
  const tt_kernel *k = s->k;
  REF_EACH_REDUCE(s, p, i) for (int l = 0; l < TT_LANES; l++) {
    s->acc[i][l] = ref_identity(&k->inst[i]);
    s->acci[i][l] = -1;
  }
  for (s->row = from; s->row < to; s->row++) {
    int64_t flat = s->row;
    for (int x = k->naxes - 1; x >= k->nouter; x--) {
      s->ix[x] = flat % s->a->len[x];
      flat /= s->a->len[x];
    }
    ref_scope(s, TT_SCOPE_ROW, p);
  }
  for (int x = k->nouter; x < k->naxes; x++) s->ix[x] = 0;
  REF_EACH_REDUCE(s, p, i) {
    const tt_kinst *q = &k->inst[i];
    for (int w = k->mode == TT_MODE_ROW ? 32 : 0; w; w /= 2)
      for (int l = 0; l < w; l++) ref_combine(s, q, &s->acc[i][l], &s->acci[i][l], s->acc[i][l + w], s->acci[i][l + w]);
    if (chunk % TT_GROUP == 0 || k->mode == TT_MODE_COL) ref_close_group(s, i, chunk);
    if (chunk % TT_GROUP == 0 || k->mode == TT_MODE_COL) {
      s->group[i] = s->acc[i][0];
      s->groupi[i] = s->acci[i][0];
    } else {
      ref_combine(s, q, &s->group[i], &s->groupi[i], s->acc[i][0], s->acci[i][0]);
    }
  }
}

static inline int64_t ref_row_points(const tt_kernel *k, const int64_t *len) {
  int64_t n = 1;
  for (int x = k->nouter; x < k->naxes; x++) n *= len[x];
  return n;
}

/* Row points of a chunk. */
static inline int64_t ref_chunk_points(const tt_kernel *k, const int64_t *len) {
  if (k->mode == TT_MODE_COL) return TT_CHUNK_COL;
  int64_t line = len[k->naxes - 1];
  if (k->naxes - k->nouter == 1) return TT_CHUNK;
  return tt__chunk_lines(line) * line;
}

static inline void ref_point(ref_state *s) {
  const tt_kernel *k = s->k;
  int64_t points = ref_row_points(k, s->a->len), per = k->mode == TT_MODE_MAP ? 1 : ref_chunk_points(k, s->a->len);
  for (int p = 0; p < k->nphase; p++) {
    ref_scope(s, TT_SCOPE_OUTER, p);
    for (int64_t at = 0; at < points; at += per) ref_chunk(s, p, at, at + per < points ? at + per : points, at / per);
    REF_EACH_REDUCE(s, p, i) {
      ref_close_group(s, i, (points + per - 1) / per);
      s->v[i] = s->chunk[i];
      if (ref_is_arg(&k->inst[i])) s->v[i].i64 = s->chunki[i];
    }
  }
  ref_scope(s, TT_SCOPE_OUTER, k->nphase);
}

/* The whole launch. */
static inline void ref_run(const tt_kernel *k, const tt_kargs *a) {
  ref_state *s = calloc(1, sizeof *s);
  s->k = k;
  s->a = a;
  s->vm = tt__vm_table();
  ref_scope(s, TT_SCOPE_CONST, 0);
  int64_t outer = 1;
  for (int x = 0; x < k->nouter; x++) outer *= a->len[x];
  for (int64_t at = 0; at < outer; at++) {
    int64_t flat = at;
    for (int x = k->nouter - 1; x >= 0; x--) {
      s->ix[x] = flat % a->len[x];
      flat /= a->len[x];
    }
    ref_point(s);
  }
  free(s);
}

/* ---- launches at random */

typedef struct ref_launch {
  const tt_kernel *k;
  tt_kargs a;
  int64_t len[REF_AXES], off[REF_ACCESS], step[REF_ACCESS * REF_AXES], buf_len[REF_ACCESS];
  size_t size[REF_ACCESS]; /* bytes of a buffer */
  char *base[REF_ACCESS];  /* with guards */
  void *buf[REF_ACCESS], *scratch[8], *partial[16];
  tt_scalar scalar[32];
  tt_kfault fault;
  uint8_t type[REF_ACCESS]; /* of a buffer's elements */
  bool written[REF_ACCESS];
} ref_launch;

static inline uint64_t ref_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  uint64_t x = *seed ^ (*seed >> 29);
  return (x * 0xbf58476d1ce4e5b9u) >> 11;
}

static inline tt_scalar ref_value(int type, uint64_t *seed) {
  static const double special[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.0, -1.0, 1e-42, 3e38, 0.5, 2.0, 1e300};
  uint64_t r = ref_random(seed);
  double x = (double)(int64_t)(ref_random(seed) % 2000001) / 100000 - 10;
  if (r % 16 == 0) x = special[(r / 16) % 12];
  tt_scalar v = {.u64 = r % 4 == 0 ? ref_random(seed) << 11 ^ r : ref_random(seed) % 40};
  if (r % 4 == 1) v.i64 = -v.i64;
  switch (type) {
    case TT_BOOL:
      v.u64 &= 1;
      break;
    case TT_F16:
      v.u16 = (uint16_t)(r % 8 ? 0x3000 + r % 0x2000 : ref_random(seed));
      break;
    case TT_BF16:
      v.u16 = (uint16_t)(r % 8 ? 0x3f00 + r % 0x200 : ref_random(seed));
      break;
    case TT_F32:
      v.f32 = (float)x;
      break;
    case TT_F64:
      v.f64 = x;
      break;
    default:
      break;
  }
  return v;
}

/* Does any instruction of scope OUTER use the access? Then it does not move along the row. */
static inline bool ref_is_outer(const tt_kernel *k, int a) {
  for (int i = 0; i < k->ninst; i++) {
    int op = k->inst[i].op;
    if ((op == TT_K_LOAD || op == TT_K_STORE || op == TT_K_INDEX) && k->inst[i].slot == a &&
        k->inst[i].scope == TT_SCOPE_OUTER)
      return true;
  }
  return false;
}

/* Steps that visit each element once, the lane as the access says, axes sometimes reversed or swapped or broadcast. */
static inline void ref_lay_out(ref_launch *l, int a, uint64_t *seed) {
  const tt_kernel *k = l->k;
  const tt_kaccess *acc = &k->access[a];
  int lane = k->mode == TT_MODE_COL ? k->nouter - 1 : k->naxes - 1, n = ref_is_outer(k, a) ? k->nouter : k->naxes;
  int64_t *step = l->step + a * k->naxes, unit = acc->by > 1 ? acc->by : 1;
  l->off[a] = 0;
  for (int x = 0; x < k->naxes; x++) step[x] = 0;
  if (lane >= 0 && lane < n && acc->lane != TT_LANE_NONE) {
    if (acc->by)
      step[lane] = acc->by < 0 ? -acc->by : acc->by;
    else
      step[lane] = acc->lane == TT_LANE_UNIT ? 1 : 1 + (int64_t)(ref_random(seed) % 3);
    unit = step[lane] * l->len[lane];
    if (acc->by < 0 || (acc->by == 0 && acc->lane == TT_LANE_ANY && ref_random(seed) % 2)) {
      l->off[a] += (l->len[lane] - 1) * step[lane];
      step[lane] = -step[lane];
    }
  }
  bool written = false; /* then no element may be met twice */
  for (int b = 0; b < k->naccess; b++) written |= k->access[b].buf == acc->buf && k->access[b].write;
  for (int x = n - 1; x >= 0; x--) {
    if (x == lane || (!written && ref_random(seed) % 5 == 0)) continue;
    step[x] = unit;
    unit *= l->len[x];
    if (ref_random(seed) % 4 == 0) {
      l->off[a] += (l->len[x] - 1) * step[x];
      step[x] = -step[x];
    }
  }
  if (acc->buf < 0) return;
  if (unit > l->buf_len[acc->buf]) l->buf_len[acc->buf] = unit;
  l->type[acc->buf] = acc->dtype;
  l->written[acc->buf] |= acc->write;
}

static inline char *ref_guarded(size_t size) {
  char *p = malloc(size + 2 * REF_GUARD);
  memset(p, 0xa5, size + 2 * REF_GUARD);
  return p;
}

/* Buffers of random elements for a launch of axis lengths `len`. Accesses that share a buffer walk it alike. */
static inline ref_launch *ref_launch_new(const tt_kernel *k, const int64_t *len, uint64_t seed) {
  ref_launch *l = calloc(1, sizeof *l);
  l->k = k;
  for (int x = 0; x < k->naxes; x++) l->len[x] = len[x];
  for (int b = 0; b < k->nbuf; b++) l->buf_len[b] = 1;
  for (int a = 0; a < k->naccess; a++) {
    int same = 0;
    while (same < a && (k->access[same].buf != k->access[a].buf || k->access[a].buf < 0)) same++;
    if (same == a) {
      ref_lay_out(l, a, &seed);
    } else {
      l->off[a] = k->access[a].next ? l->off[a - 1] + 1 : l->off[same];
      memcpy(l->step + a * k->naxes, l->step + same * k->naxes, (size_t)k->naxes * sizeof *l->step);
      l->written[k->access[a].buf] |= k->access[a].write;
    }
  }
  for (int b = 0; b < k->nbuf; b++) {
    size_t size = tt__dtype_size((tt_dtype)l->type[b]);
    l->size[b] = size * (size_t)l->buf_len[b];
    l->base[b] = ref_guarded(l->size[b]);
    l->buf[b] = l->base[b] + REF_GUARD;
    for (int64_t i = 0; i < l->buf_len[b]; i++) {
      tt_scalar v = ref_value(l->type[b], &seed);
      memcpy((char *)l->buf[b] + (size_t)i * size, &v, size);
    }
  }
  for (int i = 0; i < k->nscalar; i++) l->scalar[i] = ref_value(k->scalar_type[i], &seed);
  int64_t points = ref_row_points(k, len), outer = 1;
  for (int x = 0; x < k->nouter; x++) outer *= len[x];
  for (int i = 0; i < k->nscratch; i++) l->scratch[i] = malloc(8 * (size_t)points);
  int64_t per = k->mode == TT_MODE_MAP ? 1 : ref_chunk_points(k, len);
  l->a.npartial = (points + per - 1) / per;
  for (int i = 0; i < 2 * k->nred && i < 16; i++) l->partial[i] = malloc(8 * (size_t)(outer * l->a.npartial));
  l->a.buf = l->buf, l->a.buf_len = l->buf_len, l->a.len = l->len, l->a.off = l->off, l->a.step = l->step;
  l->a.scalar = l->scalar, l->a.scratch = l->scratch, l->a.partial = l->partial, l->a.fault = &l->fault;
  return l;
}

/* The same launch on memory of its own. */
static inline ref_launch *ref_launch_copy(const ref_launch *from) {
  ref_launch *l = ref_launch_new(from->k, from->len, 0);
  memcpy(l->off, from->off, sizeof l->off);
  memcpy(l->step, from->step, sizeof l->step);
  memcpy(l->scalar, from->scalar, sizeof l->scalar);
  memcpy(l->buf_len, from->buf_len, sizeof l->buf_len);
  memcpy(l->size, from->size, sizeof l->size);
  for (int b = 0; b < from->k->nbuf; b++) {
    free(l->base[b]);
    l->base[b] = ref_guarded(from->size[b]);
    l->buf[b] = l->base[b] + REF_GUARD;
    memcpy(l->buf[b], from->buf[b], from->size[b]);
  }
  return l;
}

static inline void ref_launch_free(ref_launch *l) {
  for (int b = 0; b < l->k->nbuf; b++) free(l->base[b]);
  for (int i = 0; i < l->k->nscratch; i++) free(l->scratch[i]);
  for (int i = 0; i < 2 * l->k->nred && i < 16; i++) free(l->partial[i]);
  free(l);
}

static inline bool ref_is_nan(int type, const void *p) {
  uint16_t h;
  float f;
  double d;
  switch (type) {
    case TT_F16:
      memcpy(&h, p, 2);
      return (h & 0x7fff) > 0x7c00;
    case TT_BF16:
      memcpy(&h, p, 2);
      return (h & 0x7fff) > 0x7f80;
    case TT_F32:
      memcpy(&f, p, 4);
      return isnan(f);
    case TT_F64:
      memcpy(&d, p, 8);
      return isnan(d);
    default:
      return false;
  }
}

/* Number of the first buffer that differs (any two NaN are equal), with the element in `at`; -1 when all agree and no
 * guard is hurt. */
static inline int ref_differ(const ref_launch *x, const ref_launch *y, int64_t *at) {
  for (int b = 0; b < x->k->nbuf; b++) {
    size_t size = tt__dtype_size((tt_dtype)x->type[b]);
    for (int i = 0; i < REF_GUARD; i++) {
      *at = -1;
      if ((uint8_t)y->base[b][i] != 0xa5 || (uint8_t)y->base[b][REF_GUARD + y->size[b] + (size_t)i] != 0xa5) return b;
    }
    for (*at = 0; *at < x->buf_len[b]; ++*at) {
      const char *p = (const char *)x->buf[b] + (size_t)*at * size, *q = (const char *)y->buf[b] + (size_t)*at * size;
      if (memcmp(p, q, size) != 0 && !(ref_is_nan(x->type[b], p) && ref_is_nan(x->type[b], q))) return b;
    }
  }
  return -1;
}

/* Cover the launch with calls of `fn`: outer points and lanes cut at odd places, chunks one by one when `parts`. */
static inline void ref_cover(const ref_launch *l, tt_kernel_fn fn, bool cut, bool parts) {
  const tt_kernel *k = l->k;
  int lane = k->mode == TT_MODE_ROW ? -1 : k->mode == TT_MODE_COL ? k->nouter - 1 : k->naxes - 1;
  int64_t outer = 1, lanes = lane >= 0 ? l->len[lane] : 1;
  for (int x = 0; x < k->nouter; x++) outer *= x == lane ? 1 : l->len[x];
  int64_t by = cut ? 1 + outer / 3 : outer, lanes_by = cut && !k->serial ? 1 + lanes / 3 : lanes;
  for (int part = parts ? TT_PART_CHUNK : TT_PART_WHOLE; part <= (parts ? TT_PART_FINISH : TT_PART_WHOLE); part++)
    for (int64_t lo = 0; lo < outer; lo += by)
      for (int64_t a = 0; a < lanes; a += lanes_by)
        for (int64_t c = 0; c < (part == TT_PART_CHUNK ? l->a.npartial : 1); c++) {
          tt_krange r = {
              lo, lo + by < outer ? lo + by : outer, a, a + lanes_by < lanes ? a + lanes_by : lanes, c, c + 1, part};
          fn(&l->a, &r);
        }
}

#endif
