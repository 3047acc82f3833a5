/*
** See gemv.h. AVX2 and AVX-512; fused multiply-add is spelled with intrinsics, so that it does not hang on
** -ffp-contract.
*/
#include "lib/product/gemv.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TT_WIDE)
#include <immintrin.h>

enum {
  ROWS = 8,     /* of the matrix that are added at a time */
  PIECE = 2048, /* elements of the result that stay in cache */
  NARROW = 128, /* results that stay in registers instead, while parts of the rows are added */
  PART_BYTES = 1 << 14,
  TASK_WORK = 1 << 16
};

/* `step` from row to row of M; `rows`: what is summed over; `apart`: the results in memory */
typedef struct matrix_vector {
  const void *m, *x;
  void *out;
  int64_t step, rows, count, apart;
  void (*run)(const struct matrix_vector *g, int64_t lo, int64_t hi);
  int64_t strip; /* results that a task has, at least */
  void (*part)(const struct matrix_vector *g, int64_t lo, int64_t hi, void *out);
  int64_t part_rows;
  char *parts;
} matrix_vector;

#define GEMV_PASTE(name, what) name##_##what
#define GEMV_NAMED(name, what) GEMV_PASTE(name, what)
#define GEMV(what) GEMV_NAMED(GEMV_NAME, what)
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#define FIRST_32(n) _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define FIRST_64(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))
#define MASK_16(n) ((__mmask16)(0xffff >> (16 - (n))))
#define MASK_8(n) ((__mmask8)(0xff >> (8 - (n))))

#define gemv_f32_3_EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define gemv_f32_3_ODDS 1, 3, 5, 7, 9, 11, 13, 15
#define GEMV_NAME gemv_f32_3
#define GEMV_T float
#define GEMV_BYTES 32
#define GEMV_TARGET AVX2
#define GEMV_FMA(c, x, y) ((gemv_f32_3_vec)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(c)))
#define GEMV_SPREAD(x) ((gemv_f32_3_vec)_mm256_set1_ps(x))
#define GEMV_LOAD(at, n) ((gemv_f32_3_vec)_mm256_maskload_ps(at, FIRST_32(n)))
#define GEMV_STORE(at, n, v) _mm256_maskstore_ps(at, FIRST_32(n), (__m256)(v))
#define GEMV_INT int32_t
#define GEMV_PICK(v, at) ((gemv_f32_3_vec)_mm256_permutevar8x32_ps((__m256)(v), (__m256i)(at)))
#include "lib/product/gemv.inc"

#define gemv_f64_3_EVENS 0, 2, 4, 6
#define gemv_f64_3_ODDS 1, 3, 5, 7
#define GEMV_NAME gemv_f64_3
#define GEMV_T double
#define GEMV_BYTES 32
#define GEMV_TARGET AVX2
#define GEMV_FMA(c, x, y) ((gemv_f64_3_vec)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(c)))
#define GEMV_SPREAD(x) ((gemv_f64_3_vec)_mm256_set1_pd(x))
#define GEMV_LOAD(at, n) ((gemv_f64_3_vec)_mm256_maskload_pd(at, FIRST_64(n)))
#define GEMV_STORE(at, n, v) _mm256_maskstore_pd(at, FIRST_64(n), (__m256d)(v))
#define GEMV_INT int64_t
#define GEMV_PICK(v, at) ((void)(at), (v)) /* rows of three have a vector each, those of two no gaps */
#include "lib/product/gemv.inc"

#define gemv_f32_4_EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define gemv_f32_4_ODDS 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define GEMV_NAME gemv_f32_4
#define GEMV_T float
#define GEMV_BYTES 64
#define GEMV_TARGET AVX512
#define GEMV_FMA(c, x, y) ((gemv_f32_4_vec)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(c)))
#define GEMV_SPREAD(x) ((gemv_f32_4_vec)_mm512_set1_ps(x))
#define GEMV_LOAD(at, n) ((gemv_f32_4_vec)_mm512_maskz_loadu_ps(MASK_16(n), at))
#define GEMV_STORE(at, n, v) _mm512_mask_storeu_ps(at, MASK_16(n), (__m512)(v))
#define GEMV_INT int32_t
#define GEMV_PICK(v, at) ((gemv_f32_4_vec)_mm512_permutexvar_ps((__m512i)(at), (__m512)(v)))
#include "lib/product/gemv.inc"

#define gemv_f64_4_EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define gemv_f64_4_ODDS 1, 3, 5, 7, 9, 11, 13, 15
#define GEMV_NAME gemv_f64_4
#define GEMV_T double
#define GEMV_BYTES 64
#define GEMV_TARGET AVX512
#define GEMV_FMA(c, x, y) ((gemv_f64_4_vec)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(c)))
#define GEMV_SPREAD(x) ((gemv_f64_4_vec)_mm512_set1_pd(x))
#define GEMV_LOAD(at, n) ((gemv_f64_4_vec)_mm512_maskz_loadu_pd(MASK_8(n), at))
#define GEMV_STORE(at, n, v) _mm512_mask_storeu_pd(at, MASK_8(n), (__m512d)(v))
#define GEMV_INT int64_t
#define GEMV_PICK(v, at) ((gemv_f64_4_vec)_mm512_permutexvar_pd((__m512i)(at), (__m512d)(v)))
#include "lib/product/gemv.inc"

typedef struct gemv_kind {
  void (*along)(const matrix_vector *g, int64_t lo, int64_t hi);
  void (*down)(const matrix_vector *g, int64_t lo, int64_t hi);
  void (*narrow)(const matrix_vector *g, int64_t lo, int64_t hi, void *out);
  void (*join)(const matrix_vector *g, const void *from, int64_t rows);
} gemv_kind;

#define KIND(K) \
  { K##_along, K##_down, K##_narrow, K##_join }
static const gemv_kind kinds[2][2] = {{KIND(gemv_f32_3), KIND(gemv_f64_3)}, {KIND(gemv_f32_4), KIND(gemv_f64_4)}};

static void some_results(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const matrix_vector *v = ctx;
  v->run(v, lo * v->strip, hi * v->strip < v->count ? hi * v->strip : v->count);
}

static void some_parts(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const matrix_vector *v = ctx;
  for (int64_t i = lo; i < hi; i++) {
    int64_t end = (i + 1) * v->part_rows;
    v->part(v, i * v->part_rows, end < v->rows ? end : v->rows, v->parts + i * v->apart);
  }
}

/* Few results: the rows are cut into parts, whatever the threads, and the sums of these are added in order. */
static bool run_narrow(matrix_vector *v, const gemv_kind *kind, int64_t size) {
  v->part = kind->narrow;
  v->apart = v->count * size;
  v->part_rows = PART_BYTES / v->apart;
  int64_t parts = (v->rows + v->part_rows - 1) / v->part_rows;
  v->parts = tt__mem_alloc_data((size_t)(parts * v->apart));
  if (!v->parts) return false;
  tt__pool_run(parts, (int64_t)(TASK_WORK / (v->count * v->part_rows)) + 1, some_parts, v);
  kind->join(v, v->parts, parts);
  tt__mem_free_data(v->parts, (size_t)(parts * v->apart));
  return true;
}

bool tt__gemv(const tt_gemm *g) {
  assert(g->m == 1 && g->n > 0 && g->k > 0);
  int level = tt__vector_level();
  bool is_float = g->type == TT_F32 || g->type == TT_F64, along = g->rsb == 1, down = g->csb == 1 && g->csc == 1;
  if (level < 3 || !is_float || g->put != TT_GEMM_SET || g->csa != 1 || !(along || down)) return false;
  const gemv_kind *kind = &kinds[level >= 4][g->type == TT_F64];
  matrix_vector v = {.m = g->b, .x = g->a, .out = g->c, .rows = g->k, .count = g->n, .apart = g->csc};
  v.step = along ? g->csb : g->rsb;
  if (!along && g->n < NARROW) return run_narrow(&v, kind, (int64_t)tt__dtype_size(g->type));
  v.run = along ? kind->along : kind->down;
  v.strip = along ? 4 : 64;
  tt__pool_run((v.count + v.strip - 1) / v.strip, TASK_WORK / (v.rows * v.strip) + 1, some_results, &v);
  return true;
}
#else
bool tt__gemv(const tt_gemm *g) {
  (void)g;
  return false;
}
#endif
