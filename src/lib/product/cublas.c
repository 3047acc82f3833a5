/*
** Calls of cuBLASLt. The choice of an algorithm costs tens of microseconds on the host, so descriptors and choices are
** kept for each shape, layout and type; the table is of fixed size and forgets what was not used for longest.
*/
#include "lib/product/cublas.h"

#include <string.h>

#include "base/hash.h"
#include "lib/device_call.h"
#include "lib/vendor.h"

#define WORK_BYTES (32 << 20) /* most scratch an algorithm may ask for */
#define MOST_KEPT 512         /* in sets of WAYS */
#define WAYS 4

/* cuBLASLt's numbers, those that we say. */
enum { OP_T = 1 };
enum { DESC_TRANSA = 3, DESC_TRANSB = 4, DESC_EPILOGUE = 7, DESC_BIAS = 8 };
enum { LAYOUT_BATCH = 5, LAYOUT_STRIDE = 6 };
enum { PREF_WORK = 1, PREF_REDUCTION = 3, PREF_ALIGN_A = 5, PREF_ALIGN_B = 6, PREF_ALIGN_C = 7, PREF_ALIGN_D = 8 };
enum { REDUCTION_COMPUTE_TYPE = 2, REDUCTION_ALL = 7 };
enum { EPILOGUE_DEFAULT = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_GELU = 32 };
enum { STATUS_NO_MEMORY = 3, STATUS_INVALID = 7, STATUS_ARCH = 8, STATUS_NOT_SUPPORTED = 15 };

static const char *const names[] = {
#define TT_CUBLASLT_FN(field, symbol, params) symbol,
#include "lib/product/cublas_api.def"
#undef TT_CUBLASLT_FN
};
enum { NAMES = sizeof names / sizeof *names };
_Static_assert(sizeof(tt_cublaslt) == NAMES * sizeof(tt_vendor_fn), "one pointer a row");

static tt_cublaslt api;
tt_vendor tt__vendor_cublaslt = {
    .stem = "libcublasLt.so", .name = names, .n = NAMES, .fn = (tt_vendor_fn *)&api, .lock = TT_LOCK_INIT};

/* How a type is said: of the data, of the sums, of alpha. 0 rows are types it has not. */
typedef struct words {
  bool is;
  int data, compute, fast, scale;
} words;

static const words words_of[TT_DTYPE_COUNT] = {
    [TT_F16] = {true, 2, 68, 68, 0}, [TT_BF16] = {true, 14, 68, 68, 0}, [TT_F32] = {true, 0, 68, 77, 0},
    [TT_F64] = {true, 1, 70, 70, 1}, [TT_C64] = {true, 4, 68, 77, 4},   [TT_C128] = {true, 5, 70, 70, 5},
};

/* ---- kept choices, guarded by the vendor's lock */

/* What a choice depends on. Filled over zeros, compared as bytes. */
typedef struct key {
  tt_device *device;
  int64_t rows[3], cols[3], ld[3], step[3], batch;
  int32_t type, epilogue, fast;
  uint8_t turned_a, turned_b, align[3];
} key;

typedef struct kept {
  key k;
  uint64_t used; /* 0: free */
  void *desc, *layout[3];
  tt_cublaslt_algo algo;
  size_t work;
} kept;

static kept table[MOST_KEPT];
static uint64_t turn;

static void drop(kept *e) {
  if (e->desc) api.desc_destroy(e->desc);
  for (int i = 0; i < 3; i++)
    if (e->layout[i]) api.layout_destroy(e->layout[i]);
  memset(e, 0, sizeof *e);
}

/* Largest power of two, at most 256, that divides an address and every distance added to it. */
static uint8_t alignment(const void *p, int64_t bytes) {
  uint64_t all = (uint64_t)(uintptr_t)p | (uint64_t)bytes | 256;
  return (uint8_t)__builtin_ctzll(all);
}

static int set_layout(void **out, int type, int64_t rows, int64_t cols, int64_t ld, int64_t batch, int64_t step) {
  int status = api.layout_create(out, type, (uint64_t)rows, (uint64_t)cols, ld);
  int32_t count = (int32_t)batch;
  if (!status && batch > 1) status = api.layout_set(*out, LAYOUT_BATCH, &count, sizeof count);
  if (!status && batch > 1) status = api.layout_set(*out, LAYOUT_STRIDE, &step, sizeof step);
  return status;
}

static int set_desc(kept *e, const words *w, const void *bias) {
  int status = api.desc_create(&e->desc, e->k.fast ? w->fast : w->compute, w->scale);
  int32_t turn_it = OP_T;
  if (!status && e->k.turned_a) status = api.desc_set(e->desc, DESC_TRANSA, &turn_it, sizeof turn_it);
  if (!status && e->k.turned_b) status = api.desc_set(e->desc, DESC_TRANSB, &turn_it, sizeof turn_it);
  uint32_t what = 0;
  if (e->k.epilogue & TT_EPILOGUE_BIAS) what |= EPILOGUE_BIAS;
  if (e->k.epilogue & TT_EPILOGUE_RELU) what |= EPILOGUE_RELU;
  if (e->k.epilogue & TT_EPILOGUE_GELU) what |= EPILOGUE_GELU;
  if (!status && what) status = api.desc_set(e->desc, DESC_EPILOGUE, &what, sizeof what);
  if (!status && (what & EPILOGUE_BIAS)) status = api.desc_set(e->desc, DESC_BIAS, &bias, sizeof bias);
  return status;
}

static int choose(void *handle, kept *e) {
  void *pref = NULL;
  int status = api.pref_create(&pref), n = 0;
  uint64_t work = WORK_BYTES;
  /* Halves are summed in f32 to the end; the other types' results are their own type of sums. */
  uint32_t reduction = e->k.type == TT_F16 || e->k.type == TT_BF16 ? REDUCTION_COMPUTE_TYPE : REDUCTION_ALL;
  static const int at[4] = {PREF_ALIGN_A, PREF_ALIGN_B, PREF_ALIGN_C, PREF_ALIGN_D};
  if (!status) status = api.pref_set(pref, PREF_WORK, &work, sizeof work);
  if (!status) status = api.pref_set(pref, PREF_REDUCTION, &reduction, sizeof reduction);
  for (int i = 0; i < 4 && !status; i++) {
    uint32_t bytes = 1u << e->k.align[i < 2 ? i : 2];
    status = api.pref_set(pref, at[i], &bytes, sizeof bytes);
  }
  tt_cublaslt_choice best = {.status = STATUS_NOT_SUPPORTED};
  if (!status)
    status = api.heuristic(handle, e->desc, e->layout[0], e->layout[1], e->layout[2], e->layout[2], pref, 1, &best, &n);
  if (!status) status = n ? best.status : STATUS_NOT_SUPPORTED;
  if (pref) api.pref_destroy(pref);
  e->algo = best.algo;
  e->work = best.work;
  return status;
}

/* Sums of halves are float32. */
static bool is_wide(const key *k) {
  return (k->epilogue & TT_EPILOGUE_SUMS) && (k->type == TT_F16 || k->type == TT_BF16);
}
static int result_word(const key *k) { return words_of[is_wide(k) ? (int)TT_F32 : k->type].data; }

/* The kept choice for `k`, made when there is none: NULL and a status when it cannot be. */
static kept *find(void *handle, const key *k, const words *w, const void *bias, int *status) {
  kept *set = &table[tt__hash64(k, sizeof *k) % (MOST_KEPT / WAYS) * WAYS], *oldest = set;
  turn++;
  for (int i = 0; i < WAYS; i++) {
    if (set[i].used && memcmp(&set[i].k, k, sizeof *k) == 0) {
      set[i].used = turn;
      return &set[i];
    }
    if (set[i].used < oldest->used) oldest = &set[i];
  }
  drop(oldest);
  oldest->k = *k;
  oldest->used = turn;
  *status = set_desc(oldest, w, bias);
  for (int i = 0; i < 3 && !*status; i++)
    *status = set_layout(&oldest->layout[i], i == 2 ? result_word(k) : w->data, k->rows[i], k->cols[i], k->ld[i],
                         k->batch, k->step[i]);
  if (!*status) *status = choose(handle, oldest);
  if (!*status) return oldest;
  drop(oldest);
  return NULL;
}

/* ---- products */

static void side(key *k, int i, const tt_gemm_side *s, int64_t step) {
  k->rows[i] = s->rows;
  k->cols[i] = s->cols;
  k->ld[i] = s->ld;
  k->step[i] = step;
}

/* The library's left operand is our b; see cublas_layout.h. */
static key key_of(const tt_lib_device *on, const tt_gemm_plan *p, tt_dtype t, bool fast, int epilogue, const void *a,
                  const void *b, const void *term, const void *c) {
  key k;
  memset(&k, 0, sizeof k);
  int64_t size = (int64_t)tt__dtype_size(t), ways_a = 0, ways_b = 0, ways_c = 0;
  for (int i = 0; i < p->nloop; i++) {
    ways_a |= p->loop[i].a;
    ways_b |= p->loop[i].b;
    ways_c |= p->loop[i].c;
  }
  k.device = on->device;
  k.type = (int32_t)t;
  k.fast = fast;
  k.epilogue = epilogue;
  k.batch = p->batch.len;
  side(&k, 0, &p->b, k.batch > 1 ? p->batch.b : 0);
  side(&k, 1, &p->a, k.batch > 1 ? p->batch.a : 0);
  side(&k, 2, &p->c, k.batch > 1 ? p->batch.c : 0);
  k.turned_a = p->b.turned;
  k.turned_b = p->a.turned;
  k.align[0] = alignment(b, ways_b * size);
  k.align[1] = alignment(a, ways_a * size);
  k.align[2] = alignment(c, (ways_c * size) | (epilogue & TT_EPILOGUE_ADD ? (int64_t)(uintptr_t)term : 0));
  return k;
}

static tt_code failed(int status, const char *what, tt_error *err) {
  if (status == STATUS_NO_MEMORY) return tt__fail(err, TT_ENOMEM, "%s: the device has no memory left", what);
  if (status == STATUS_NOT_SUPPORTED || status == STATUS_INVALID || status == STATUS_ARCH)
    return tt__fail(err, TT_ENOTIMPL, "%s has no such product (status %d)", what, status);
  return tt__fail(err, TT_EDEVICE, "%s failed with status %d", what, status);
}

/* Every point of the loops: one call each. */
static int call_all(void *handle, const kept *e, const tt_gemm_plan *p, int64_t size, const char *a, const char *b,
                    const char *term, char *c, void *work, void *stream) {
  static const double one_f64[2] = {1, 0}, zero[2] = {0, 0};
  static const float one_f32[2] = {1, 0};
  const void *one = words_of[e->k.type].compute == 70 ? (const void *)one_f64 : one_f32;
  const void *share = e->k.epilogue & TT_EPILOGUE_ADD ? one : zero;
  int64_t index[TT_MAX_RANK] = {0}, wide = is_wide(&e->k) ? (int64_t)sizeof(float) : size;
  if (share == zero) term = c;
  for (;;) {
    int status = api.matmul(handle, e->desc, one, b, e->layout[0], a, e->layout[1], share, term, e->layout[2], c,
                            e->layout[2], &e->algo, work, e->work, stream);
    if (status) return status;
    int d = p->nloop - 1;
    for (; d >= 0; d--) {
      const tt_gemm_axis *x = &p->loop[d];
      a += x->a * size, b += x->b * size, c += x->c * wide, term += x->c * wide;
      if (++index[d] < x->len) break;
      a -= x->a * size * x->len, b -= x->b * size * x->len;
      c -= x->c * wide * x->len, term -= x->c * wide * x->len;
      index[d] = 0;
    }
    if (d < 0) return 0;
  }
}

bool tt__cublas_serves(const tt_lib_device *on, tt_dtype t) {
  void *handle;
  if (!words_of[t].is) return false;
  if (tt__vendor_enter(&tt__vendor_cublaslt, on->device, &handle, NULL) != TT_OK) return false;
  tt__vendor_leave(&tt__vendor_cublaslt);
  return true;
}

tt_code tt__cublas_product(const tt_lib_device *on, const tt_gemm_plan *p, tt_dtype t, bool fast, int epilogue,
                           const void *a, const void *b, const void *term, void *c, tt_error *err) {
  const words *w = &words_of[t];
  void *handle, *work = NULL;
  int status = 0;
  if (!w->is || p->batch.len > INT32_MAX) return tt__fail(err, TT_ENOTIMPL, "no library has this product");
  TT_TRY(tt__vendor_enter(&tt__vendor_cublaslt, on->device, &handle, err));
  key k = key_of(on, p, t, fast, epilogue, a, b, term, c);
  tt_code code = TT_OK;
  kept *e = find(handle, &k, w, term, &status);
  if (!e) {
    code = failed(status, "cuBLASLt", err);
    goto leave;
  }
  if ((epilogue & TT_EPILOGUE_BIAS) && (status = api.desc_set(e->desc, DESC_BIAS, &term, sizeof term)) != 0) {
    code = failed(status, "cuBLASLt", err);
    goto leave;
  }
  if (e->work && (code = on->temp(on, e->work, &work, err)) != TT_OK) goto leave;
  void *stream = on->device->ops->interop->handle(on->device, on->stream);
  status = call_all(handle, e, p, (int64_t)tt__dtype_size(t), a, b, term, c, work, stream);
  code = status ? failed(status, "cublasLtMatmul", err) : tt__device_asked(on, "cublasLtMatmul", err);
leave:
  tt__vendor_leave(&tt__vendor_cublaslt);
  return code;
}
