/*
** See gemm_half.h. C is cut into blocks of sums in f32, each of which is rounded when it is whole.
*/
#include "lib/product/gemm_half.h"

#include <assert.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "scalar/prelude.h"

enum {
  BLOCK_M = 2048, /* of C */
  BLOCK_N = 4096,
  SMALL_WORK = 1 << 15, /* products below which matrices are widened first */
  WIDE_AREA = 1 << 16   /* elements of a matrix that are widened for a vector at a time: they stay in cache */
};

/* ---- conversions */

static void widen_bf16(const uint16_t *restrict from, float *restrict to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = tt_cast_bf16_f32(from[i]);
}

static void widen_f16(const uint16_t *restrict from, float *restrict to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = tt_cast_f16_f32(from[i]);
}

static void round_bf16(const float *restrict from, uint16_t *restrict to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = tt_cast_f32_bf16(from[i]);
}

static void round_f16(const float *restrict from, uint16_t *restrict to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = tt_cast_f32_f16(from[i]);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AVX2_HALF __attribute__((target("avx2,fma,f16c")))

AVX2_HALF static void widen_bf16_3(const uint16_t *restrict from, float *restrict to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m256i x = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(from + i)));
    _mm256_storeu_ps(to + i, _mm256_castsi256_ps(_mm256_slli_epi32(x, 16)));
  }
  widen_bf16(from + i, to + i, n - i);
}

AVX2_HALF static void widen_f16_3(const uint16_t *restrict from, float *restrict to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
  widen_f16(from + i, to + i, n - i);
}

AVX2_HALF static void round_bf16_3(const float *restrict from, uint16_t *restrict to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = tt_cast_f32_bf16(from[i]);
}

AVX2_HALF static void round_f16_3(const float *restrict from, uint16_t *restrict to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
  round_f16(from + i, to + i, n - i);
}
#define BY_LEVEL(name, t) (tt__vector_level() >= 3 ? name##_##t##_3 : name##_##t)
#else
#define BY_LEVEL(name, t) name##_##t
#endif

void tt__half_widen(tt_dtype t, const uint16_t *from, float *to, int64_t n) {
  (t == TT_F16 ? BY_LEVEL(widen, f16) : BY_LEVEL(widen, bf16))(from, to, n);
}

static void half_round(tt_dtype t, const float *from, uint16_t *to, int64_t n) {
  (t == TT_F16 ? BY_LEVEL(round, f16) : BY_LEVEL(round, bf16))(from, to, n);
}

/* A matrix of halves and its f32 copy by rows. */
typedef struct half_copy {
  tt_dtype type;
  uint16_t *half;
  int64_t rs, cs, cols;
  float *wide;
} half_copy;

static void widen_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const half_copy *p = ctx;
  for (int64_t i = lo; i < hi; i++) {
    const uint16_t *h = p->half + i * p->rs;
    float *w = p->wide + i * p->cols;
    if (p->cs == 1)
      tt__half_widen(p->type, h, w, p->cols);
    else if (p->type == TT_F16)
      for (int64_t j = 0; j < p->cols; j++) w[j] = tt_cast_f16_f32(h[j * p->cs]);
    else
      for (int64_t j = 0; j < p->cols; j++) w[j] = tt_cast_bf16_f32(h[j * p->cs]);
  }
}

static void round_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const half_copy *p = ctx;
  for (int64_t i = lo; i < hi; i++) {
    uint16_t *h = p->half + i * p->rs;
    const float *w = p->wide + i * p->cols;
    if (p->cs == 1)
      half_round(p->type, w, h, p->cols);
    else
      for (int64_t j = 0; j < p->cols; j++)
        h[j * p->cs] = p->type == TT_F16 ? tt_cast_f32_f16(w[j]) : tt_cast_f32_bf16(w[j]);
  }
}

static void convert(tt_pool_fn fn, half_copy p, int64_t rows) {
  if (rows * p.cols < 4096) {
    fn(&p, 0, rows, 0);
  } else {
    tt__pool_run(rows, 4096 / (p.cols + 1) + 1, fn, &p);
  }
}

/* ---- matrices */

static tt_code by_blocks(const tt_gemm *g, tt_error *err) {
  int64_t bm = tt__min64(BLOCK_M, g->m), bn = tt__min64(BLOCK_N, g->n);
  size_t size = (size_t)(bm * bn) * sizeof(float);
  float *c = tt__mem_alloc_data(size);
  if (!c) return tt__fail_memory(err, size);
  tt_code code = TT_OK;
  for (int64_t j = 0; j < g->n && code == TT_OK; j += bn) {
    for (int64_t i = 0; i < g->m && code == TT_OK; i += bm) {
      tt_gemm part = *g;
      part.m = tt__min64(bm, g->m - i), part.n = tt__min64(bn, g->n - j);
      part.a = (const uint16_t *)g->a + i * g->rsa;
      part.b = (const uint16_t *)g->b + j * g->csb;
      part.c = c, part.rsc = part.n, part.csc = 1;
      code = tt__gemm_own(&part, err);
      uint16_t *to = (uint16_t *)g->c + i * g->rsc + j * g->csc;
      if (code == TT_OK) convert(round_rows, (half_copy){g->type, to, g->rsc, g->csc, part.n, c}, part.m);
    }
  }
  tt__mem_free_data(c, size);
  return code;
}

/* ---- vectors, and what is small: widened, in blocks of B */

/* B's elements along the axis by which they lie side by side. */
static tt_gemm widened_b(const tt_gemm *g, const uint16_t *hb, int64_t k, int64_t n, float *b) {
  tt_gemm f = {.type = TT_F32, .n = n, .k = k, .b = b};
  if (g->rsb == 1 && g->csb != 1) {
    convert(widen_rows, (half_copy){g->type, (uint16_t *)hb, g->csb, 1, k, b}, n);
    f.rsb = 1, f.csb = k;
  } else {
    convert(widen_rows, (half_copy){g->type, (uint16_t *)hb, g->rsb, g->csb, n, b}, k);
    f.rsb = n, f.csb = 1;
  }
  return f;
}

/* m * k is small. */
static tt_code by_widening(const tt_gemm *g, tt_gemm_f32_fn product, tt_error *err) {
  int64_t bk = tt__min64(g->k, WIDE_AREA / 64), bn = tt__max64(1, tt__min64(g->n, WIDE_AREA / tt__max64(1, bk)));
  size_t size = (size_t)(g->m * g->k + bk * bn + g->m * bn) * sizeof(float);
  float *a = tt__mem_alloc_data(size);
  if (!a) return tt__fail_memory(err, size);
  float *b = a + g->m * g->k, *c = b + bk * bn;
  tt_code code = TT_OK;
  convert(widen_rows, (half_copy){g->type, (uint16_t *)g->a, g->rsa, g->csa, g->k, a}, g->m);
  for (int64_t j = 0; j < g->n && code == TT_OK; j += bn) {
    int64_t n = tt__min64(bn, g->n - j);
    if (g->k == 0) memset(c, 0, (size_t)(g->m * n) * sizeof *c);
    for (int64_t p = 0; p < g->k && code == TT_OK; p += bk) {
      int64_t k = tt__min64(bk, g->k - p);
      tt_gemm f = widened_b(g, (const uint16_t *)g->b + p * g->rsb + j * g->csb, k, n, b);
      f.put = p > 0 ? TT_GEMM_ADD : TT_GEMM_SET;
      f.m = g->m, f.a = a + p, f.rsa = g->k, f.csa = 1;
      f.c = c, f.rsc = n, f.csc = 1;
      code = product(&f, err);
    }
    convert(round_rows, (half_copy){g->type, (uint16_t *)g->c + j * g->csc, g->rsc, g->csc, n, c}, g->m);
  }
  tt__mem_free_data(a, size);
  return code;
}

tt_code tt__gemm_half(const tt_gemm *g, tt_gemm_f32_fn product, tt_error *err) {
  assert((g->type == TT_F16 || g->type == TT_BF16) && g->put == TT_GEMM_SET);
  if (g->n == 1 && g->m > 1) {
    const tt_gemm f = tt__gemm_flip(g);
    return by_widening(&f, product, err);
  }
  const bool is_small = (double)g->m * (double)g->n * (double)g->k <= SMALL_WORK;
  return g->m == 1 || is_small ? by_widening(g, product, err) : by_blocks(g, err);
}
