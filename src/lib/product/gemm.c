/*
** Chooses who multiplies: tiny sizes and integers our own loops, floats the BLAS, half floats f32 panels.
*/
#include "lib/product/gemm.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/product/blas_host.h"
#include "lib/product/gemm_direct.h"
#include "lib/product/gemm_half.h"
#include "lib/product/gemm_own.h"
#include "lib/product/gemv.h"

enum {
  TINY_WORK = 1024,      /* products below which a BLAS call costs more than the loops */
  SERIAL_WORK = 1 << 18, /* products of one matrix below which a batch is shared out whole matrices at a time */
  BATCH_GRAIN = 1 << 15  /* products a task of a batch should have */
};

static double work(const tt_gemm *g) { return (double)g->m * (double)g->n * (double)g->k; }

/* How BLAS sees a row-major matrix [rows, cols]: its transpose, with a leading dimension. */
typedef struct operand {
  const void *data;
  int64_t ld;
  char trans; /* 'N': as stored by rows; 'T': by columns; 0: neither has unit stride */
} operand;

static operand see(const void *data, int64_t rows, int64_t cols, int64_t rs, int64_t cs) {
  if ((cs == 1 || cols == 1) && (rows == 1 || rs >= cols)) return (operand){data, rows == 1 ? cols : rs, 'N'};
  if ((rs == 1 || rows == 1) && (cols == 1 || cs >= rows)) return (operand){data, cols == 1 ? rows : cs, 'T'};
  return (operand){data, 0, 0};
}

static void copy_matrix(void *dst, const void *src, int64_t rows, int64_t cols, int64_t rs, int64_t cs, size_t size) {
  char *d = dst;
  for (int64_t i = 0; i < rows; i++) {
    const char *s = (const char *)src + i * rs * (int64_t)size;
    for (int64_t j = 0; j < cols; j++, d += size) memcpy(d, s + j * cs * (int64_t)size, size);
  }
}

static void copy_any(void *dst, const void *src, int64_t rows, int64_t cols, int64_t rs, int64_t cs, size_t size) {
  switch (size) { /* a constant size makes the copy of an element one move */
    case 4:
      copy_matrix(dst, src, rows, cols, rs, cs, 4);
      break;
    case 8:
      copy_matrix(dst, src, rows, cols, rs, cs, 8);
      break;
    default:
      copy_matrix(dst, src, rows, cols, rs, cs, 16);
      break;
  }
}

/* 0 or 1 in a BLAS type. */
static const void *number(tt_dtype t, bool is_one) {
  static const double wide[2][2] = {{0, 0}, {1, 0}};
  static const float narrow[2][2] = {{0, 0}, {1, 0}};
  return t == TT_F32 || t == TT_C64 ? (const void *)narrow[is_one] : wide[is_one];
}

/* C = A @ B with every operand as BLAS wants it. C by rows is C^T = B^T A^T by columns. */
static void call_gemm(const tt_blas *bl, const tt_gemm *g, operand a, operand b) {
  assert(g->type >= TT_F32 && g->type <= TT_C128 && a.ld > 0 && b.ld > 0);
  tt_blas_type bt = (tt_blas_type)(g->type - TT_F32);
  tt_blas_int m = tt__blas_int(bl, g->m), n = tt__blas_int(bl, g->n), k = tt__blas_int(bl, g->k);
  tt_blas_int lda = tt__blas_int(bl, a.ld), ldb = tt__blas_int(bl, b.ld);
  tt_blas_int ldc = tt__blas_int(bl, g->m == 1 ? g->n : g->rsc);
  bl->gemm[bt](&b.trans, &a.trans, &n, &m, &k, number(g->type, true), b.data, &ldb, a.data, &lda,
               number(g->type, g->put == TT_GEMM_ADD), g->c, &ldc, 1, 1);
}

/* c[n] = a[k] @ B[k, n], the elements of a and c csa and csc apart. */
static void call_gemv(const tt_blas *bl, const tt_gemm *g, operand b) {
  assert(g->type >= TT_F32 && g->type <= TT_C128 && b.ld > 0);
  tt_blas_type bt = (tt_blas_type)(g->type - TT_F32);
  size_t size = tt__dtype_size(g->type);
  int64_t rows = b.trans == 'N' ? g->n : g->k, cols = b.trans == 'N' ? g->k : g->n; /* of B^T as BLAS stores it */
  tt_blas_int m = tt__blas_int(bl, rows), n = tt__blas_int(bl, cols), ld = tt__blas_int(bl, b.ld);
  tt_blas_int incx = tt__blas_int(bl, g->csa), incy = tt__blas_int(bl, g->csc);
  /* What was there may be NaN, and 0 * NaN is NaN. A memset of unknown size costs as much for 8 bytes as for 400. */
  int64_t blocks = g->csc == 1 ? 1 : g->n;
  for (int64_t j = 0; j < blocks && g->put == TT_GEMM_SET; j++)
    memset((char *)g->c + j * g->csc * (int64_t)size, 0, g->csc == 1 ? (size_t)g->n * size : size);
  bl->gemv[bt](&b.trans, &m, &n, number(g->type, true), b.data, &ld, g->a, &incx,
               number(g->type, g->put == TT_GEMM_ADD), g->c, &incy, 1);
}

/* Whether every size and leading dimension fits the library's integer. */
static bool fits(const tt_blas *bl, const tt_gemm *g, operand a, operand b) {
  return tt__blas_fits(bl, g->m) && tt__blas_fits(bl, g->n) && tt__blas_fits(bl, g->k) && tt__blas_fits(bl, a.ld) &&
         tt__blas_fits(bl, b.ld) && tt__blas_fits(bl, g->rsc) && tt__blas_fits(bl, g->csa) && tt__blas_fits(bl, g->csc);
}

/* Copy what BLAS cannot walk, call it, and copy C back if it could not be written in place. */
static tt_code multiply_packed(const tt_blas *bl, const tt_gemm *g, tt_error *err) {
  size_t size = tt__dtype_size(g->type);
  operand a = see(g->a, g->m, g->k, g->rsa, g->csa), b = see(g->b, g->k, g->n, g->rsb, g->csb);
  bool c_ok = (g->csc == 1 || g->n == 1) && (g->m == 1 || g->rsc >= g->n);
  size_t a_size = a.trans ? 0 : (size_t)(g->m * g->k) * size, b_size = b.trans ? 0 : (size_t)(g->k * g->n) * size;
  size_t c_size = c_ok ? 0 : (size_t)(g->m * g->n) * size;
  char *room = NULL;
  tt_gemm h = *g;
  assert(c_ok || g->put == TT_GEMM_SET);
  if (a_size + b_size + c_size) {
    room = tt__mem_alloc_data(a_size + b_size + c_size);
    if (!room) return tt__fail_memory(err, a_size + b_size + c_size);
  }
  if (a_size) {
    copy_any(room, g->a, g->m, g->k, g->rsa, g->csa, size);
    a = (operand){room, g->k, 'N'};
  }
  if (b_size) {
    copy_any(room + a_size, g->b, g->k, g->n, g->rsb, g->csb, size);
    b = (operand){room + a_size, g->n, 'N'};
  }
  if (c_size) {
    h.c = room + a_size + b_size;
    h.rsc = g->n;
    h.csc = 1;
  }
  call_gemm(bl, &h, a, b);
  if (c_size) {
    for (int64_t i = 0; i < g->m; i++) {
      for (int64_t j = 0; j < g->n; j++) {
        memcpy((char *)g->c + (i * g->rsc + j * g->csc) * (int64_t)size, (char *)h.c + (i * g->n + j) * (int64_t)size,
               size);
      }
    }
  }
  if (room) tt__mem_free_data(room, a_size + b_size + c_size);
  return TT_OK;
}

static tt_code multiply_float(const tt_gemm *g, tt_error *err) {
  if (tt__gemm_direct(g)) return TT_OK;
  if (work(g) <= TINY_WORK) {
    tt__gemm_small(g);
    return TT_OK;
  }
  tt_gemm f = *g;
  if (g->n == 1 || (g->m > 1 && g->rsc == 1 && g->csc != 1)) f = tt__gemm_flip(g); /* C by rows, vectors as m == 1 */
  if (f.m == 1 && f.n > 1 && tt__gemv(&f)) return TT_OK;
  const tt_blas *bl = tt__blas_enter(true);
  operand a = see(f.a, f.m, f.k, f.rsa, f.csa), b = see(f.b, f.k, f.n, f.rsb, f.csb);
  bool is_outer = f.k == 1, is_dot = f.m == 1 && f.n == 1;
  if (!bl || is_dot || is_outer || !fits(bl, &f, a, b)) return tt__gemm_own(&f, err);
  if (f.m == 1 && b.trans && f.csa > 0 && f.csc > 0) {
    call_gemv(bl, &f, b);
    return TT_OK;
  }
  if (bl->is_narrow) return tt__gemm_own(&f, err);
  return multiply_packed(bl, &f, err);
}

/* A step along an axis of length 1 leads nowhere and shall choose no routine, whose bits are its own: as if by rows. */
static tt_gemm by_rows(tt_gemm g) {
  if (g.m == 1) g.rsa = g.k, g.rsc = g.n;
  if (g.k == 1) g.csa = 1, g.rsb = g.n;
  if (g.n == 1) g.csb = g.csc = 1;
  return g;
}

static tt_code multiply(const tt_gemm *g, tt_error *err) {
  if (g->m == 0 || g->n == 0) return TT_OK;
  if (g->type == TT_F16 || g->type == TT_BF16) return tt__gemm_half(g, multiply_float, err);
  if (g->k == 0) return tt__gemm_own(g, err);
  if (g->type >= TT_F32) return multiply_float(g, err);
  if (work(g) <= TINY_WORK) {
    tt__gemm_small(g);
    return TT_OK;
  }
  return tt__gemm_own(g, err);
}

static tt_code check(const tt_gemm *g, int64_t batch, tt_error *err) {
  if (g->type < 0 || g->type >= TT_DTYPE_COUNT) return tt__fail(err, TT_ETYPE, "matmul: no such data type");
  if (g->m < 0 || g->n < 0 || g->k < 0 || batch < 0) return tt__fail(err, TT_EVALUE, "matmul: negative size");
  return TT_OK;
}

tt_code tt__gemm(tt_dtype t, int64_t m, int64_t n, int64_t k, const void *a, int64_t rsa, int64_t csa, const void *b,
                 int64_t rsb, int64_t csb, void *c, int64_t rsc, int64_t csc, tt_error *err) {
  tt_gemm g = by_rows((tt_gemm){t, TT_GEMM_SET, m, n, k, a, rsa, csa, b, rsb, csb, c, rsc, csc});
  TT_TRY(check(&g, 1, err));
  return multiply(&g, err);
}

typedef struct batch_job {
  tt_gemm first;
  int64_t bsa, bsb, bsc;
  atomic_int code; /* of any product that failed: memory is the only reason, so which one does not matter */
} batch_job;

static tt_gemm product(const batch_job *job, int64_t i) {
  tt_gemm g = job->first;
  int64_t size = (int64_t)tt__dtype_size(g.type);
  g.a = (const char *)g.a + i * job->bsa * size;
  g.b = (const char *)g.b + i * job->bsb * size;
  g.c = (char *)g.c + i * job->bsc * size;
  return g;
}

static void batch_range(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  batch_job *job = ctx;
  for (int64_t i = lo; i < hi; i++) {
    tt_gemm g = product(job, i);
    tt_code code = multiply(&g, NULL);
    if (code != TT_OK) atomic_store(&job->code, (int)code);
  }
}

tt_code tt__gemm_batch(tt_dtype t, int64_t batch, int64_t m, int64_t n, int64_t k, const void *a, int64_t bsa,
                       int64_t rsa, int64_t csa, const void *b, int64_t bsb, int64_t rsb, int64_t csb, void *c,
                       int64_t bsc, int64_t rsc, int64_t csc, tt_error *err) {
  tt_gemm one = {t, TT_GEMM_SET, m, n, k, a, rsa, csa, b, rsb, csb, c, rsc, csc};
  batch_job job = {by_rows(one), bsa, bsb, bsc, TT_OK};
  TT_TRY(check(&job.first, batch, err));
  if (batch == 0) return TT_OK;
  int64_t rows;
  if (m == 1) one.rsa = bsa, one.rsc = bsc;
  bool adjoins = bsa == m * one.rsa && bsc == m * one.rsc;
  if (bsb == 0 && m > 0 && adjoins && !__builtin_mul_overflow(batch, m, &rows)) {
    one.m = rows; /* one shared B: the batch is more rows of one product */
    one = by_rows(one);
    return multiply(&one, err);
  }
  double each = work(&job.first);
  if (batch > 1 && each < SERIAL_WORK && !tt__pool_inside()) {
    int64_t grain = each >= BATCH_GRAIN ? 1 : BATCH_GRAIN / ((int64_t)each + 1);
    bool shared = batch > grain && tt__pool_size() > 1;
    if (shared) tt__blas_serial(true);
    tt__pool_run(batch, grain, batch_range, &job);
    if (shared) tt__blas_serial(false);
    tt_code code = (tt_code)atomic_load(&job.code);
    return code == TT_OK ? TT_OK : tt__fail(err, code, "matmul: out of memory in a batch");
  }
  for (int64_t i = 0; i < batch; i++) {
    tt_gemm g = product(&job, i);
    TT_TRY(multiply(&g, err));
  }
  return TT_OK;
}
