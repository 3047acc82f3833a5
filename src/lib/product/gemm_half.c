/*
** Half floats through f32 panels. C is cut into blocks; for each, strips of k are widened, multiplied and added up.
*/
#include "lib/product/gemm_half.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "scalar/prelude.h"

enum { BLOCK_M = 512, BLOCK_N = 1024, BLOCK_K = 2048 };

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
      for (int64_t j = 0; j < p->cols; j++) w[j] = tt_cast_f16_f32(h[j * p->cs]);
    } else {
      for (int64_t j = 0; j < p->cols; j++) w[j] = tt_cast_bf16_f32(h[j * p->cs]);
    }
  }
}

static void narrow_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const panel *p = ctx;
  for (int64_t i = lo; i < hi; i++) {
    uint16_t *h = p->half + i * p->rs;
    const float *w = p->wide + i * p->cols;
    for (int64_t j = 0; j < p->cols; j++)
      h[j * p->cs] = p->type == TT_F16 ? tt_cast_f32_f16(w[j]) : tt_cast_f32_bf16(w[j]);
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
