/*
** The matrix product as a library row: batches of matrices with any strides.
*/
#include "lib/product/blas_host.h"
#include "lib/product/gemm.h"
#include "lib/product/device.h"
#include "lib/rows.h"

#define OWN_WORK 262144.0 /* multiplications below which our own product is what one wants */

/* Are all batch axes one run with a single stride (or one matrix used again and again)? */
static bool one_stride(const tt_operand *a, int64_t *stride) {
  *stride = 0;
  bool found = false;
  int64_t run = 0;
  for (int d = a->rank - 3; d >= 0; d--) {
    if (a->len[d] == 1) continue;
    if (!found)
      *stride = a->step[d];
    else if (a->step[d] != run)
      return false;
    found = true;
    run = a->step[d] * a->len[d];
  }
  return true;
}

static const char *at(const tt_operand *a, int64_t elements) {
  return (const char *)a->data + elements * (int64_t)tt__dtype_size(a->dtype);
}

static tt_code matmul(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  const tt_operand *a = &src[0], *b = &src[1];
  int r = a->rank;
  int64_t m = a->len[r - 2], k = a->len[r - 1], n = b->len[r - 1], batch = 1, sa, sb;
  for (int d = 0; d < r - 2; d++) batch *= a->len[d];
  tt_dtype t = out->dtype;
  if (batch == 0) return TT_OK;
  if (one_stride(a, &sa) && one_stride(b, &sb)) {
    if (batch == 1)
      return tt__gemm(t, m, n, k, a->data, a->step[r - 2], a->step[r - 1], b->data, b->step[r - 2], b->step[r - 1],
                      out->data, n, 1, err);
    return tt__gemm_batch(t, batch, m, n, k, a->data, sa, a->step[r - 2], a->step[r - 1], b->data, sb, b->step[r - 2],
                          b->step[r - 1], out->data, m * n, n, 1, err);
  }
  int64_t index[TT_MAX_RANK] = {0}, oa = 0, ob = 0;
  for (int64_t i = 0; i < batch; i++) {
    char *to = (char *)out->data + i * m * n * (int64_t)tt__dtype_size(t);
    TT_TRY(tt__gemm(t, m, n, k, at(a, oa), a->step[r - 2], a->step[r - 1], at(b, ob), b->step[r - 2], b->step[r - 1],
                    to, n, 1, err));
    for (int d = r - 3; d >= 0; d--) {
      oa += a->step[d];
      ob += b->step[d];
      if (++index[d] < a->len[d]) break;
      oa -= a->step[d] * a->len[d];
      ob -= b->step[d] * b->len[d];
      index[d] = 0;
    }
  }
  return TT_OK;
}

/* Products that our own code does anyway say nothing about the host. */
static bool falls_back(const tt_operand *src) {
  int r = src[0].rank;
  double work = (double)src[0].size * (double)src[1].len[r - 1];
  return src[0].dtype >= TT_F32 && src[0].dtype <= TT_C128 && work > OWN_WORK && !tt__blas_find();
}

static tt_lib_work work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  double n = 2 * (double)src[1].len[src[1].rank - 1];
  for (int d = 0; d < src[0].rank; d++) n *= (double)src[0].len[d];
  return (tt_lib_work){.flops = tt__is_complex(src[0].dtype) ? 4 * n : n};
}

/* Halves are summed in float32. */
static tt_dtype sums(tt_dtype t) { return t == TT_F16 || t == TT_BF16 ? TT_F32 : t; }

/* In which precision float32 is multiplied on devices. */
static uint64_t mode(void) { return tt__product_is_fast(); }

static const tt_lib_cost cost = {.work = work, .host_share = 1, .device_share = 1};

const tt_lib_row tt__rows_product[] = {
    {.name = "matmul",
     .nsrc = 2,
     .nout = 1,
     .strided = true,
     .run = matmul,
     .falls_back = falls_back,
     .cost = &cost,
     .run_on = tt__product_on,
     .run_on_then = tt__product_on_then,
     .mode = mode,
     .cut = TT_CUT_PRODUCT,
     .sums = sums,
     .end_sums = tt__product_end_sums},
    {.name = NULL},
};
