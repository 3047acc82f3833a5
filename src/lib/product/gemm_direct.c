/*
** See gemm_direct.h. AVX2 and AVX-512; fused multiply-add is spelled with intrinsics, so that it does not hang on
** -ffp-contract.
*/
#include "lib/product/gemm_direct.h"

#include <assert.h>
#include <string.h>

#include "base/os/os.h"
#include "base/pool/pool.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TT_WIDE)
#include <immintrin.h>

enum {
  ROWS = 8,
  MOST_K = 64,
  LONG_WORK = 1 << 14, /* in products up to this sums may be longer, */
  LONG_BYTES = 2048,   /* as long as gemm_own.c adds before it begins anew: parts of a product have the bits of all */
  TURNED = 1 << 14,    /* bytes of a B by columns that are laid by rows first */
  FEW_K = 8,           /* a vector up to this length is multiplied so by a matrix of up to */
  FEW_WORK = 1 << 10,  /* elements: what is larger has vectors along it, and threads */
  MOST_WORK = 1 << 18, /* products of a matrix; more are packed, unless */
  MOST_SIDE = 512,     /* C is this narrow: what is read again and again stays in cache as it lies */
  STRIP = 32,          /* rows or columns that a thread takes at a time, at least: whole blocks of any vectors */
  TASK_WORK = 1 << 16
};

#define FIRST_32(n) _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define FIRST_64(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))

#define DIRECT_PASTE(name, what) name##_##what
#define DIRECT_NAMED(name, what) DIRECT_PASTE(name, what)
#define DIRECT(what) DIRECT_NAMED(DIRECT_NAME, what)
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

#define DIRECT_NAME f32_3
#define DIRECT_T float
#define DIRECT_BYTES 32
#define DIRECT_TARGET AVX2
#define DIRECT_FMA(c, x, y) _mm256_fmadd_ps(_mm256_set1_ps(x), y, c)
#define DIRECT_LOAD(at, n) _mm256_maskload_ps(at, FIRST_32(n))
#define DIRECT_STORE(at, n, v) _mm256_maskstore_ps(at, FIRST_32(n), v)
#include "lib/product/gemm_direct.inc"

#define DIRECT_NAME f64_3
#define DIRECT_T double
#define DIRECT_BYTES 32
#define DIRECT_TARGET AVX2
#define DIRECT_FMA(c, x, y) _mm256_fmadd_pd(_mm256_set1_pd(x), y, c)
#define DIRECT_LOAD(at, n) _mm256_maskload_pd(at, FIRST_64(n))
#define DIRECT_STORE(at, n, v) _mm256_maskstore_pd(at, FIRST_64(n), v)
#include "lib/product/gemm_direct.inc"

#define DIRECT_NAME f32_4
#define DIRECT_T float
#define DIRECT_BYTES 64
#define DIRECT_TARGET AVX512
#define DIRECT_FMA(c, x, y) _mm512_fmadd_ps(_mm512_set1_ps(x), y, c)
#define DIRECT_LOAD(at, n) _mm512_maskz_loadu_ps((__mmask16)(0xffff >> (16 - (n))), at)
#define DIRECT_STORE(at, n, v) _mm512_mask_storeu_ps(at, (__mmask16)(0xffff >> (16 - (n))), v)
#include "lib/product/gemm_direct.inc"

#define DIRECT_NAME f64_4
#define DIRECT_T double
#define DIRECT_BYTES 64
#define DIRECT_TARGET AVX512
#define DIRECT_FMA(c, x, y) _mm512_fmadd_pd(_mm512_set1_pd(x), y, c)
#define DIRECT_LOAD(at, n) _mm512_maskz_loadu_pd((__mmask8)(0xffff >> (16 - (n))), at)
#define DIRECT_STORE(at, n, v) _mm512_mask_storeu_pd(at, (__mmask8)(0xffff >> (16 - (n))), v)
#include "lib/product/gemm_direct.inc"

typedef struct strips {
  const tt_gemm *g;
  void (*product)(const tt_gemm *);
  bool across; /* of columns */
} strips;

static void some_strips(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const strips *s = ctx;
  tt_gemm g = *s->g;
  int64_t size = (int64_t)tt__dtype_size(g.type), at = lo * STRIP;
  int64_t *side = s->across ? &g.n : &g.m, count = hi * STRIP < *side ? hi * STRIP - at : *side - at;
  if (s->across)
    g.b = (const char *)g.b + at * size;
  else
    g.a = (const char *)g.a + at * g.rsa * size;
  g.c = (char *)g.c + at * (s->across ? 1 : g.rsc) * size;
  *side = count;
  s->product(&g);
}

/* The same product, of a copy of B by rows in `room`. */
static tt_gemm with_rows_of_b(const tt_gemm *g, double *room) {
  tt_gemm turned = *g;
  float *narrow = (float *)(void *)room;
  for (int64_t j = 0; j < g->n; j++) {
    for (int64_t p = 0; p < g->k; p++) {
      int64_t from = p * g->rsb + j * g->csb, to = p * g->n + j;
      if (g->type == TT_F32)
        narrow[to] = ((const float *)g->b)[from];
      else
        room[to] = ((const double *)g->b)[from];
    }
  }
  turned.b = room;
  turned.rsb = g->n;
  turned.csb = 1;
  return turned;
}

bool tt__gemm_direct(const tt_gemm *g) {
  static void (*const product[2][2])(const tt_gemm *) = {{f32_3_product, f64_3_product},
                                                         {f32_4_product, f64_4_product}};
  assert(g->m >= 0 && g->n >= 0 && g->k >= 0);
  int level = tt__vector_level();
  bool is_float = g->type == TT_F32 || g->type == TT_F64, across = g->n > g->m;
  double room[TURNED / sizeof(double)], narrow = (double)(across ? g->m : g->n);
  double work = (double)g->m * (double)g->n * (double)g->k;
  size_t item = tt__dtype_size(g->type);
  if (level < 3 || !is_float || g->put != TT_GEMM_SET || g->csc != 1) return false;
  if (g->k > MOST_K && (work > LONG_WORK || (size_t)g->k * item > LONG_BYTES)) return false;
  if (g->m < 2 || (g->n < 2 && (g->k > FEW_K || work > FEW_WORK))) return false;
  if (work > MOST_WORK && narrow > MOST_SIDE) return false;
  if (g->csb != 1 && (size_t)(g->k * g->n) * item > TURNED) return false;
  tt_gemm rows = g->csb != 1 ? with_rows_of_b(g, room) : *g;
  strips s = {&rows, product[level >= 4][g->type == TT_F64], across};
  int64_t count = ((across ? g->n : g->m) + STRIP - 1) / STRIP;
  if (work <= MOST_WORK)
    s.product(&rows);
  else
    tt__pool_run(count, (int64_t)(TASK_WORK / (narrow * (double)g->k * STRIP)) + 1, some_strips, &s);
  return true;
}
#else
bool tt__gemm_direct(const tt_gemm *g) {
  (void)g;
  return false;
}
#endif
