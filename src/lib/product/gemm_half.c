/*
** Half floats through f32 panels. C is cut into blocks; for each, strips of k are widened, multiplied and added up.
*/
#include "lib/product/gemm_half.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"

enum { BLOCK_M = 512, BLOCK_N = 1024, BLOCK_K = 2048 };

static float from_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

static uint32_t to_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

/*
** Shifted into f32's place a half is 2^112 too small; the multiplication repairs that, subnormals included.
** Infinity and NaN (exponent all ones) come out at 2^16 or above and get the full exponent.
*/
static float widen_f16(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
  float f = from_bits((uint32_t)(h & 0x7fffu) << 13) * 0x1p112f;
  uint32_t u = to_bits(f);
  if ((h & 0x7c00u) == 0x7c00u) u |= 0x7f800000u;
  return from_bits(sign | u);
}

/* Round to nearest, ties to even. */
static uint16_t narrow_f16(float f) {
  uint32_t u = to_bits(f), sign = u >> 16 & 0x8000u, mag = u & 0x7fffffffu;
  if (mag > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (mag >> 13 & 0x1ffu));
  if (mag >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* 65520 and above */
  if (mag < 0x38800000u) {                                   /* below 2^-14: the adder rounds to steps of 2^-24 */
    uint32_t sub = to_bits(from_bits(mag) + 0.5f) - 0x3f000000u;
    return (uint16_t)(sign | sub);
  }
  mag -= 0x38000000u;
  return (uint16_t)(sign | (mag + 0xfffu + (mag >> 13 & 1u)) >> 13);
}

static float widen_bf16(uint16_t h) { return from_bits((uint32_t)h << 16); }

static uint16_t narrow_bf16(float f) {
  uint32_t u = to_bits(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(u >> 16 | 0x40u);
  return (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

/* A matrix of halves and its f32 copy by rows. */
typedef struct panel {
  tt_dtype type;
  uint16_t *half;
  int64_t rs, cs, cols;
  float *wide;
} panel;

static void widen_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const panel *p = ctx;
  for (int64_t i = lo; i < hi; i++) {
    const uint16_t *h = p->half + i * p->rs;
    float *w = p->wide + i * p->cols;
    if (p->type == TT_F16) {
      for (int64_t j = 0; j < p->cols; j++) w[j] = widen_f16(h[j * p->cs]);
    } else {
      for (int64_t j = 0; j < p->cols; j++) w[j] = widen_bf16(h[j * p->cs]);
    }
  }
}

static void narrow_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const panel *p = ctx;
  for (int64_t i = lo; i < hi; i++) {
    uint16_t *h = p->half + i * p->rs;
    const float *w = p->wide + i * p->cols;
    for (int64_t j = 0; j < p->cols; j++) h[j * p->cs] = p->type == TT_F16 ? narrow_f16(w[j]) : narrow_bf16(w[j]);
  }
}

static void convert(tt_pool_fn fn, panel p, int64_t rows) {
  if (rows * p.cols < 4096) {
    fn(&p, 0, rows, 0);
  } else {
    tt__pool_run(rows, 4096 / (p.cols + 1) + 1, fn, &p);
  }
}

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

tt_code tt__gemm_half(const tt_gemm *g, tt_gemm_f32_fn product, tt_error *err) {
  assert((g->type == TT_F16 || g->type == TT_BF16) && g->put == TT_GEMM_SET);
  int64_t bm = min64(BLOCK_M, g->m), bn = min64(BLOCK_N, g->n), bk = min64(BLOCK_K, g->k);
  size_t size = (size_t)(bm * bk + bk * bn + bm * bn) * sizeof(float);
  float *a = tt__mem_alloc_data(size);
  if (!a) return tt__fail_memory(err, size);
  float *b = a + bm * bk, *c = b + bk * bn;
  tt_code code = TT_OK;
  for (int64_t j = 0; j < g->n && code == TT_OK; j += bn) {
    for (int64_t i = 0; i < g->m && code == TT_OK; i += bm) {
      int64_t m = min64(bm, g->m - i), n = min64(bn, g->n - j);
      if (g->k == 0) memset(c, 0, (size_t)(m * n) * sizeof *c);
      for (int64_t p = 0; p < g->k && code == TT_OK; p += bk) {
        int64_t k = min64(bk, g->k - p);
        uint16_t *ha = (uint16_t *)g->a + i * g->rsa + p * g->csa, *hb = (uint16_t *)g->b + p * g->rsb + j * g->csb;
        convert(widen_rows, (panel){g->type, ha, g->rsa, g->csa, k, a}, m);
        if (i == 0 || g->k > bk) convert(widen_rows, (panel){g->type, hb, g->rsb, g->csb, n, b}, k);
        tt_gemm f = {TT_F32, p > 0 ? TT_GEMM_ADD : TT_GEMM_SET, m, n, k, a, k, 1, b, n, 1, c, n, 1};
        code = product(&f, err);
      }
      convert(narrow_rows, (panel){g->type, (uint16_t *)g->c + i * g->rsc + j * g->csc, g->rsc, g->csc, n, c}, m);
    }
  }
  tt__mem_free_data(a, size);
  return code;
}
