/*
** The blocked product: panels of B packed once per block, blocks of A packed per task, register tiles in between.
** A task owns a rectangle of C, so threads never share an element and the order of a sum is fixed.
*/
#include "lib/product/gemm_own.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/product/gemm_half.h"
#include "lib/product/gemm_tile.h"
#include "lib/product/gemm_turn.h"

#define PLAIN(x) (x)
#define NUMBER_PUT(old, x, put) ((put) == TT_GEMM_SET ? (x) : (put) == TT_GEMM_ADD ? (old) + (x) : (old) - (x))
#define MULTIPLY_ADD(s, x, y) ((s) + (x) * (y))
#define SUM(x, y) ((x) + (y))

#ifdef __SSE2__
#define PACK_SQUARE 4
#define PACK_TURN tt__turn_f32
#endif
#define PACK_NAME(x) x##_f32
#define PACK_S float
#define PACK_P float
#define PACK_LOAD PLAIN
#define PACK_PUT NUMBER_PUT
#define PACK_MAC MULTIPLY_ADD
#define PACK_JOIN SUM
#include "lib/product/gemm_pack.inc"

#ifdef __SSE2__
#define PACK_SQUARE 2
#define PACK_TURN tt__turn_f64
#endif
#define PACK_NAME(x) x##_f64
#define PACK_S double
#define PACK_P double
#define PACK_LOAD PLAIN
#define PACK_PUT NUMBER_PUT
#define PACK_MAC MULTIPLY_ADD
#define PACK_JOIN SUM
#include "lib/product/gemm_pack.inc"

/* Bytes are widened to 16 bits, where vectors can multiply; the low byte of the sum is the wrapped sum. */
#define SMALL_PUT(T, old, x, put) ((T)NUMBER_PUT((unsigned)(old), (unsigned)(x), put))
#define SMALL_MAC(s, x, y) ((unsigned)(s) + (unsigned)(x) * (unsigned)(y))

#define U8_PUT(old, x, put) SMALL_PUT(uint8_t, old, x, put)
#define PACK_NAME(x) x##_u8
#define PACK_S uint8_t
#define PACK_P uint16_t
#define PACK_LOAD PLAIN
#define PACK_PUT U8_PUT
#define PACK_MAC SMALL_MAC
#define PACK_JOIN SUM
#include "lib/product/gemm_pack.inc"

#define U16_PUT(old, x, put) SMALL_PUT(uint16_t, old, x, put)
#define PACK_NAME(x) x##_u16
#define PACK_S uint16_t
#define PACK_P uint16_t
#define PACK_LOAD PLAIN
#define PACK_PUT U16_PUT
#define PACK_MAC SMALL_MAC
#define PACK_JOIN SUM
#include "lib/product/gemm_pack.inc"

#define PACK_NAME(x) x##_u32
#define PACK_S uint32_t
#define PACK_P uint32_t
#define PACK_LOAD PLAIN
#define PACK_PUT NUMBER_PUT
#define PACK_MAC MULTIPLY_ADD
#define PACK_JOIN SUM
#include "lib/product/gemm_pack.inc"

#define PACK_NAME(x) x##_u64
#define PACK_S uint64_t
#define PACK_P uint64_t
#define PACK_LOAD PLAIN
#define PACK_PUT NUMBER_PUT
#define PACK_MAC MULTIPLY_ADD
#define PACK_JOIN SUM
#include "lib/product/gemm_pack.inc"

/* bool: a tile counts how often both are true in one block of k, which cannot reach 2^16; any count is true. */
#define TRUTH(x) ((x) != 0)
#define BOOL_PUT(old, x, put) ((uint8_t)(((put) != TT_GEMM_SET && (old) != 0) || (x) != 0))
#define BOOL_MAC(s, x, y) ((s) | ((x) & (y)))
#define EITHER(x, y) ((x) | (y))
#define PACK_NAME(x) x##_b8
#define PACK_S uint8_t
#define PACK_P uint16_t
#define PACK_LOAD TRUTH
#define PACK_PUT BOOL_PUT
#define PACK_MAC BOOL_MAC
#define PACK_JOIN EITHER
#include "lib/product/gemm_pack.inc"

#define PACK_NAME(x) x##_c64
#define PACK_S tt_c64
#define PACK_P float
#include "lib/product/gemm_pack_complex.inc"

#define PACK_NAME(x) x##_c128
#define PACK_S tt_c128
#define PACK_P double
#include "lib/product/gemm_pack_complex.inc"

#include "lib/product/gemm_pack_half.inc"

/* What the blocked loop needs of a type. */
typedef struct kind {
  int size;   /* bytes of an element of A and B */
  int c_size; /* of C */
  int packed; /* of a step in a panel */
  int each;   /* elements along k in a step */
  tt_tile_type tile;
  void (*pack)(void *dst, const void *src, int64_t sp, int64_t sk, int64_t count, int64_t k, int width);
  void (*store)(const tt_gemm *g, int64_t row, int64_t col, const void *tile, int rows, int cols, int nr, int plane,
                tt_gemm_put put);
  void (*row)(const tt_gemm *g, int64_t row, int64_t lo, int64_t hi);
} kind;

#define KIND(S, size, packed, tile) \
  { size, size, packed, 1, tile, pack_##S, store_##S, row_##S }
/* 16-bit floats: C has float32. */
#define HALF(S, each, tile) \
  { 2, 4, 4, each, tile, pack_##S, store_f32, NULL }
static const kind kinds[TT_DTYPE_COUNT] = {
    [TT_BOOL] = KIND(b8, 1, 2, TT_TILE_U16),      [TT_I8] = KIND(u8, 1, 2, TT_TILE_U16),
    [TT_I16] = KIND(u16, 2, 2, TT_TILE_U16),      [TT_I32] = KIND(u32, 4, 4, TT_TILE_U32),
    [TT_I64] = KIND(u64, 8, 8, TT_TILE_U64),      [TT_U8] = KIND(u8, 1, 2, TT_TILE_U16),
    [TT_U16] = KIND(u16, 2, 2, TT_TILE_U16),      [TT_U32] = KIND(u32, 4, 4, TT_TILE_U32),
    [TT_U64] = KIND(u64, 8, 8, TT_TILE_U64),      [TT_F32] = KIND(f32, 4, 4, TT_TILE_F32),
    [TT_F64] = KIND(f64, 8, 8, TT_TILE_F64),      [TT_C64] = KIND(c64, 8, 8, TT_TILE_C64),
    [TT_C128] = KIND(c128, 16, 16, TT_TILE_C128), [TT_F16] = HALF(f16, 1, TT_TILE_F32),
    [TT_BF16] = HALF(bf16, 1, TT_TILE_F32),
};
static const kind pairs = HALF(bf16_pairs, 2, TT_TILE_BF16);

static const kind *kind_of(tt_dtype t) { return t == TT_BF16 && tt__gemm_tile(TT_TILE_BF16) ? &pairs : &kinds[t]; }

enum {
  BLOCK_K_BYTES = 2048,      /* of one row of a panel: 256 doubles */
  BLOCK_A_BYTES = 256 << 10, /* a packed block of A: half of a level-2 cache */
  BLOCK_B_BYTES = 2 << 20,   /* a packed block of B: a share of the last level */
  DEEP_AREA = 1 << 16,       /* elements of C that are few */
  SERIAL_WORK = 1 << 18      /* products below which threads cost more than they give */
};

tt_gemm tt__gemm_flip(const tt_gemm *g) {
  tt_gemm f = *g;
  f.m = g->n, f.n = g->m;
  f.a = g->b, f.rsa = g->csb, f.csa = g->rsb;
  f.b = g->a, f.rsb = g->csa, f.csb = g->rsa;
  f.rsc = g->csc, f.csc = g->rsc;
  return f;
}

void tt__gemm_small(const tt_gemm *g) {
  assert(g->m >= 0 && g->n >= 0 && g->k >= 0);
  const kind *kd = &kinds[g->type];
  assert(kd->row);
  for (int64_t i = 0; i < g->m; i++) kd->row(g, i, 0, g->n);
}

/* One block of the product: rows [0, m) of C, columns [col, col + cols), steps [step, step + steps) of k. */
typedef struct block {
  const tt_gemm *g;
  const kind *kd;
  const tt_gemm_tile *tile;
  int64_t col, cols, step, steps;
  int64_t task_rows, task_cols; /* the rectangle of one task; task_rows a multiple of mr, task_cols of nr */
  int64_t tasks_across;
  tt_gemm_put put;
  char *a_panels; /* a_size bytes for each worker */
  int64_t a_size;
  char *b_panels;
} block;

static const char *element(const void *base, int64_t at, int size) { return (const char *)base + at * size; }

/* Elements along k of a block. */
static int64_t deep_of(const block *bl) {
  return tt__min64(bl->steps * bl->kd->each, bl->g->k - bl->step * bl->kd->each);
}

static void pack_b(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const block *bl = ctx;
  const tt_gemm *g = bl->g;
  int64_t nr = bl->tile->nr, first = bl->col + lo * nr;
  char *dst = bl->b_panels + lo * nr * bl->steps * bl->kd->packed;
  const int64_t at = bl->step * bl->kd->each * g->rsb + first * g->csb;
  bl->kd->pack(dst, element(g->b, at, bl->kd->size), g->csb, g->rsb, tt__min64(hi * nr, bl->cols) - lo * nr,
               deep_of(bl), (int)nr);
}

static void multiply_task(const block *bl, int64_t task, char *a_panels) {
  const tt_gemm *g = bl->g;
  const kind *kd = bl->kd;
  const int mr = bl->tile->mr, nr = bl->tile->nr;
  int64_t row = task / bl->tasks_across * bl->task_rows, rows = tt__min64(bl->task_rows, g->m - row);
  int64_t lo = task % bl->tasks_across * bl->task_cols, hi = tt__min64(lo + bl->task_cols, bl->cols);
  _Alignas(64) char tile[TT_TILE_MAX_BYTES];
  const int64_t at = row * g->rsa + bl->step * kd->each * g->csa;
  kd->pack(a_panels, element(g->a, at, kd->size), g->rsa, g->csa, rows, deep_of(bl), mr);
  for (int64_t j = lo; j < hi; j += nr) {
    const char *b = bl->b_panels + j * bl->steps * kd->packed;
    for (int64_t i = 0; i < rows; i += mr) {
      bl->tile->run(bl->steps, a_panels + i * bl->steps * kd->packed, b, tile);
      kd->store(g, row + i, bl->col + j, tile, (int)tt__min64(mr, rows - i), (int)tt__min64(nr, hi - j), nr, mr * nr,
                bl->put);
    }
  }
}

static void multiply_block(void *ctx, int64_t lo, int64_t hi, int worker) {
  const block *bl = ctx;
  for (int64_t task = lo; task < hi; task++) multiply_task(bl, task, bl->a_panels + worker * bl->a_size);
}

/* Cut a block of `cols` columns into tasks: whole rows of blocks if they keep the threads busy, else narrower ones. */
static int64_t cut_tasks(block *bl, int threads) {
  int64_t down = (bl->g->m + bl->task_rows - 1) / bl->task_rows;
  int64_t across = threads == 1 ? 1 : tt__min64((4 * threads + down - 1) / down, (bl->cols + 127) / 128);
  bl->task_cols = tt__round_up((bl->cols + across - 1) / across, bl->tile->nr);
  bl->tasks_across = (bl->cols + bl->task_cols - 1) / bl->task_cols;
  return down * bl->tasks_across;
}

static tt_code multiply(const tt_gemm *g, tt_error *err) {
  const kind *kd = kind_of(g->type);
  const tt_gemm_tile *tile = tt__gemm_tile(kd->tile);
  bool serial = tt__pool_inside() || (double)g->m * (double)g->n * (double)g->k < SERIAL_WORK;
  int threads = serial ? 1 : tt__pool_size();
  int64_t steps = tt_ceil_div(g->k, kd->each), block_k = tt__min64(BLOCK_K_BYTES / kd->packed, steps);
  int64_t block_m = tt__round_up(tt__min64(BLOCK_A_BYTES / (block_k * kd->packed), g->m), tile->mr);
  int64_t block_n = tt__round_up(tt__min64(BLOCK_B_BYTES / (block_k * kd->packed), g->n), tile->nr);
  if (threads > 1) block_m = tt__min64(block_m, tt__round_up((g->m + threads - 1) / threads, tile->mr));
  block bl = {.g = g, .kd = kd, .tile = tile, .task_rows = block_m};
  bl.a_size = tt__round_up(block_m * block_k * kd->packed, 64);
  size_t a_size = (size_t)bl.a_size * (size_t)threads, b_size = (size_t)(block_n * block_k * kd->packed);
  char *panels = tt__mem_alloc_data(a_size + b_size);
  if (!panels) return tt__fail_memory(err, a_size + b_size);
  bl.a_panels = panels;
  bl.b_panels = panels + a_size;
  for (bl.col = 0; bl.col < g->n; bl.col += block_n) {
    bl.cols = tt__min64(block_n, g->n - bl.col);
    for (bl.step = 0; bl.step < steps; bl.step += block_k) {
      bl.steps = tt__min64(block_k, steps - bl.step);
      bl.put = g->put == TT_GEMM_SET && bl.step > 0 ? TT_GEMM_ADD : g->put;
      int64_t b_count = (bl.cols + tile->nr - 1) / tile->nr, tasks = cut_tasks(&bl, threads);
      if (threads == 1) {
        pack_b(&bl, 0, b_count, 0);
        multiply_block(&bl, 0, tasks, 0);
      } else {
        tt__pool_run(b_count, 4, pack_b, &bl);
        tt__pool_run_numbered(threads, tasks, 1, multiply_block, &bl);
      }
    }
  }
  tt__mem_free_data(panels, a_size + b_size);
  return TT_OK;
}

/*
** Few elements, each a long sum: threads would share so little of C that they wait for each other at every block of k.
** They take blocks instead, whose products are added in order: the same sums.
*/
typedef struct deep {
  const tt_gemm *g;
  int64_t first, block_k; /* the block of part 0; elements along k of one */
  char *parts;            /* [part][m][n] */
  atomic_int code;
} deep;

static void deep_parts(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  deep *d = ctx;
  const tt_gemm *g = d->g;
  const int size = kinds[g->type].size, c_size = kinds[g->type].c_size;
  for (int64_t i = lo; i < hi; i++) {
    tt_gemm part = *g;
    int64_t step = (d->first + i) * d->block_k;
    part.put = TT_GEMM_SET;
    part.k = tt__min64(d->block_k, g->k - step);
    part.a = element(g->a, step * g->csa, size);
    part.b = element(g->b, step * g->rsb, size);
    part.c = d->parts + i * g->m * g->n * c_size;
    part.rsc = g->n, part.csc = 1;
    tt_code code = multiply(&part, NULL);
    if (code != TT_OK) atomic_store(&d->code, (int)code);
  }
}

static void deep_join(const deep *d, int64_t count) {
  const tt_gemm *g = d->g;
  for (int64_t i = 0; i < count; i++) {
    tt_gemm_put put = g->put == TT_GEMM_SET && d->first + i > 0 ? TT_GEMM_ADD : g->put;
    const int c_size = kinds[g->type].c_size;
    const char *part = d->parts + i * g->m * g->n * c_size;
    for (int64_t row = 0; row < g->m; row++) {
      for (int64_t col = 0; col < g->n; col++) {
        int64_t from = row * g->n + col, to = row * g->rsc + col * g->csc;
        if (c_size == sizeof(float))
          ((float *)g->c)[to] = NUMBER_PUT(((float *)g->c)[to], ((const float *)part)[from], put);
        else
          ((double *)g->c)[to] = NUMBER_PUT(((double *)g->c)[to], ((const double *)part)[from], put);
      }
    }
  }
}

static tt_code multiply_deep(const tt_gemm *g, tt_error *err) {
  const kind *kd = kind_of(g->type);
  deep d = {.g = g, .block_k = BLOCK_K_BYTES / kd->packed * kd->each};
  int64_t parts = (g->k + d.block_k - 1) / d.block_k, most = tt__min64(parts, 8 * tt__pool_size());
  size_t size = (size_t)(most * g->m * g->n) * (size_t)kd->c_size;
  d.parts = tt__mem_alloc_data(size);
  if (!d.parts) return tt__fail_memory(err, size);
  atomic_init(&d.code, TT_OK);
  for (; d.first < parts && atomic_load(&d.code) == TT_OK; d.first += most) {
    int64_t count = tt__min64(most, parts - d.first);
    tt__pool_run(count, 1, deep_parts, &d);
    if (atomic_load(&d.code) == TT_OK) deep_join(&d, count);
  }
  tt__mem_free_data(d.parts, size);
  return atomic_load(&d.code) == TT_OK ? TT_OK : tt__fail_memory(err, size);
}

/* Whether a block of k is so little work for threads that they take several. */
static bool is_deep(const tt_gemm *g) {
  const bool is_half = g->type == TT_F16 || g->type == TT_BF16;
  if ((g->type != TT_F32 && g->type != TT_F64 && !is_half) || tt__pool_size() == 1 || tt__pool_inside()) return false;
  int64_t block_k = BLOCK_K_BYTES / kind_of(g->type)->packed * kind_of(g->type)->each;
  return g->k >= 4 * block_k && (double)g->m * (double)g->n <= DEEP_AREA;
}

static void fill_zero(const tt_gemm *g) {
  int size = kinds[g->type].c_size;
  for (int64_t i = 0; i < g->m; i++) {
    for (int64_t j = 0; j < g->n; j++) memset((char *)g->c + (i * g->rsc + j * g->csc) * size, 0, (size_t)size);
  }
}

static void row_range(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const tt_gemm *g = ctx;
  kinds[g->type].row(g, 0, lo, hi);
}

/* A vector times a matrix reads each element once: packing would only add to that. */
static tt_code multiply_vector(const tt_gemm *g, tt_error *err) {
  const kind *kd = &kinds[g->type];
  tt_gemm v = *g;
  char *copy = NULL;
  if (g->csa != 1 && g->rsb == 1 && g->n > 4) { /* a unit stride lets both run along k */
    copy = tt__mem_alloc_data((size_t)(g->k * kd->size));
    if (!copy) return tt__fail_memory(err, (size_t)(g->k * kd->size));
    for (int64_t p = 0; p < g->k; p++) {
      memcpy(copy + p * kd->size, element(g->a, p * g->csa, kd->size), (size_t)kd->size);
    }
    v.a = copy;
    v.csa = 1;
  }
  int64_t grain = SERIAL_WORK / 8 / g->k + 1;
  tt__pool_run(v.n, grain < 64 ? 64 : grain, row_range, &v);
  if (copy) tt__mem_free_data(copy, (size_t)(g->k * kd->size));
  return TT_OK;
}

tt_code tt__gemm_own(const tt_gemm *g, tt_error *err) {
  assert(g->m >= 0 && g->n >= 0 && g->k >= 0);
  assert(kinds[g->type].size > 0);
  if (g->m == 0 || g->n == 0) return TT_OK;
  if (g->k == 0) {
    if (g->put == TT_GEMM_SET) fill_zero(g);
    return TT_OK;
  }
  tt_gemm f = *g;
  if (g->n == 1 || (g->m > 1 && g->rsc == 1 && g->csc != 1))
    f = tt__gemm_flip(g); /* unit stride along the tile's rows */
  if (f.m == 1) return multiply_vector(&f, err);
  return is_deep(&f) ? multiply_deep(&f, err) : multiply(&f, err);
}
