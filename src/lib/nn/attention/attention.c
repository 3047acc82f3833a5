/*
** Attention by tiles of the blocked product. Scores are made with keys as rows and queries as columns: a tile's rows go
** straight into a panel of the next product, and each query has a lane of the vectors in between.
*/
#include "lib/nn/attention/attention.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/nn/attention/attention_vector.h"
#include "lib/product/gemm_tile.h"
#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"

enum {
  BLOCK = 128,           /* keys at a time, or so many that tiles are full */
  PANELS = 8,            /* of queries in a task, at most */
  GROUP = 4,             /* panels of queries whose shares make one product */
  PARTS = 16,            /* tasks of the way back there should be, whatever the number of threads */
  FEW = 4,               /* queries that are not worth a panel */
  LANES = 16,            /* of their keys */
  SERIAL_WORK = 1 << 18, /* products below which threads cost more than they give */
  ALIGN = 64
};

/* A batch's matrix, or NULL where there is none at all. */
static const void *attend_matrix(const tt_attention *a, const tt_attention_side *m, tt_dtype t, int64_t batch) {
  int64_t at = 0;
  if (!m->data) return NULL;
  for (int d = a->rank - 1; d >= 0; d--) {
    at += batch % a->len[d] * m->batch[d];
    batch /= a->len[d];
  }
  return (const char *)m->data + at * (int64_t)tt__dtype_size(t);
}

/* Memory of a worker: sizes are counted first, then places given. */
typedef struct room {
  char *base;
  int64_t used;
} room;

static void *place(room *r, int64_t bytes) {
  char *at = r->base ? r->base + r->used : NULL;
  r->used += tt__round_up(bytes, ALIGN);
  return at;
}

typedef struct attend_room {
  void *q, *acc;          /* of each panel: queries [width][nr], sums of values [deep][nr] */
  void *top, *sum, *fade; /* lanes */
  void *s, *k, *v, *tile; /* scores [keys][nr], keys [width][mr], values [keys][mr] */
  void *drops;            /* [keys][nr] */
} attend_room;

typedef struct forward {
  const tt_attention *a;
  const tt_gemm_tile *tile;
  const tt_attention_vector *vector;
  bool few;                 /* queries: no panels */
  int width;                /* lanes: queries of a panel */
  int64_t size;             /* of a number */
  int64_t q_size, acc_size; /* numbers of a panel */
  int64_t block;            /* keys at a time */
  int64_t per, tasks;       /* panels of a task, tasks of a batch */
  void *o, *lse;
  char *room;
  int64_t room_size;
} forward;

typedef struct attend_back_room {
  void *q_turned, *g_turned, *dq; /* of each panel of queries: [width][nr], [deep][nr] */
  void *q, *g;                    /* [queries][nr], for each nr columns */
  void *lse, *less;               /* of each query */
  void *k_turned, *v_turned, *k;  /* of a block of keys: [width][mr], [deep][mr]; [keys][mr] for each mr columns */
  void *s, *d;                    /* shares and slopes [keys][nr] */
  void *p_columns, *d_columns;    /* the same of a group, [queries][mr] for each mr keys */
  void *drops;                    /* [keys][nr] */
  void *dk, *dv, *tile;           /* tiles */
} attend_back_room;

typedef struct backward {
  const tt_attention *a;
  const tt_attention_side *g;
  tt_dtype sums;
  const tt_gemm_tile *tile;
  const tt_attention_vector *vector;
  bool few;                        /* queries: no panels */
  int width;                       /* lanes: queries of a panel */
  int64_t size, panels, rows;      /* of a number; of a batch's queries, filled up */
  int64_t q_size, g_size, dq_size; /* numbers of a panel */
  size_t dk_bytes, dv_bytes;
  int64_t block, part, parts; /* keys at a time, and of a task; tasks of a batch */
  void *dq, *dk, *dv, *terms;
  char *room;
  int64_t room_size;
} backward;

/* What shares are multiplied by: of `width` queries of a batch from `row`, and n keys from `key`, a multiple of 4. */
static void drop(const tt_attention *a, const tt_attention_vector *vector, int64_t batch, int64_t row, int64_t key,
                 int64_t n, int width, void *to) {
  const int64_t blocks = tt_ceil_div(a->keys, 4), first = (batch * a->queries + row) * blocks + key / 4;
  const tt_attention_drops d = {*a->key, (uint64_t)first, (uint64_t)blocks, a->chance};
  vector->drops(to, n, width, &d);
}

#define PLAIN(x) (x)
#define TILES(x) attend_##x##_f32
#define TILES_G TILES
#define TILES_S float
#define TILES_P float
#define TILES_LOAD PLAIN
#define TILES_STORE PLAIN
#include "lib/nn/attention/attention_tiles.inc"

#define TILES(x) attend_##x##_f64
#define TILES_G TILES
#define TILES_S double
#define TILES_P double
#define TILES_LOAD PLAIN
#define TILES_STORE PLAIN
#include "lib/nn/attention/attention_tiles.inc"

#define TILES(x) attend_##x##_f16
#define TILES_G(x) attend_##x##_f32
#define TILES_S uint16_t
#define TILES_P float
#define TILES_LOAD tt_cast_f16_f32
#define TILES_STORE tt_cast_f32_f16
#include "lib/nn/attention/attention_tiles.inc"

#define TILES(x) attend_##x##_bf16
#define TILES_G(x) attend_##x##_f32
#define TILES_S uint16_t
#define TILES_P float
#define TILES_LOAD tt_cast_bf16_f32
#define TILES_STORE tt_cast_f32_bf16
#include "lib/nn/attention/attention_tiles.inc"

typedef struct attend_kind {
  void (*forward)(const forward *f, int64_t batch, int64_t first, int64_t count, const attend_room *r);
  void (*backward)(const backward *b, int64_t batch, int64_t part, const attend_back_room *r);
  void (*add_terms)(const backward *b, int64_t lo, int64_t hi);
} attend_kind;

#define KIND(t) \
  { attend_go_forward_##t, attend_go_back_##t, attend_add_terms_##t }
static const attend_kind kind_of[TT_DTYPE_COUNT] = {
    [TT_F32] = KIND(f32), [TT_F64] = KIND(f64), [TT_F16] = KIND(f16), [TT_BF16] = KIND(bf16)};

static tt_dtype sums_of(tt_dtype t) { return t == TT_F64 ? TT_F64 : TT_F32; }
static const tt_gemm_tile *tile_of(tt_dtype t) { return tt__gemm_tile(t == TT_F64 ? TT_TILE_F64 : TT_TILE_F32); }

static int threads_for(const tt_attention *a) {
  double work = (double)a->batches * (double)a->queries * (double)a->keys * (double)(a->width + a->deep);
  return tt__pool_inside() || work < SERIAL_WORK ? 1 : tt__pool_size();
}

/* ---- forward */

static int64_t lay(const forward *f, char *base, attend_room *r) {
  const tt_attention *a = f->a;
  const int mr = f->tile->mr, nr = f->width;
  const int64_t keys = f->block, size = f->size;
  room m = {base, 0};
  r->q = place(&m, f->per * f->q_size * size);
  r->acc = place(&m, f->per * f->acc_size * size);
  r->top = place(&m, f->per * nr * size);
  r->sum = place(&m, f->per * nr * size);
  r->fade = place(&m, nr * size);
  const int64_t scores = f->few ? tt__round_up(a->keys, LANES) : keys * nr;
  r->s = place(&m, scores * size);
  r->drops = place(&m, a->key ? scores * size : 0);
  r->k = place(&m, keys * a->width * size);
  r->v = place(&m, tt__round_up(a->deep, mr) * keys * size);
  r->tile = place(&m, TT_TILE_MAX_BYTES);
  return m.used;
}

static void forward_tasks(void *ctx, int64_t lo, int64_t hi, int worker) {
  const forward *f = ctx;
  attend_room r;
  lay(f, f->room + worker * f->room_size, &r);
  int64_t panels = tt_ceil_div(f->a->queries, f->width);
  for (int64_t at = lo; at < hi; at++) {
    int64_t first = at % f->tasks * f->per;
    kind_of[f->a->type].forward(f, at / f->tasks, first, tt__min64(f->per, panels - first), &r);
  }
}

tt_code tt__attention(const tt_attention *a, void *o, void *lse, tt_error *err) {
  if (a->batches * a->queries == 0) return TT_OK;
  forward f = {.a = a,
               .tile = tile_of(a->type),
               .vector = tt__attention_vector(sums_of(a->type)),
               .size = (int64_t)tt__dtype_size(sums_of(a->type)),
               .o = o,
               .lse = lse};
  f.width = f.tile->nr;
  f.few = a->queries <= FEW;
  f.block = tt__round_up(BLOCK, f.tile->mr);
  f.q_size = tt__round_up(a->width * f.width * f.size, ALIGN) / f.size;
  f.acc_size = tt__round_up(a->deep, f.tile->mr) * f.width;
  int threads = threads_for(a);
  int64_t panels = tt_ceil_div(a->queries, f.width);
  f.tasks = tt__min64(panels, tt__max64(tt_ceil_div(panels, PANELS), tt_ceil_div(threads, a->batches)));
  f.per = tt_ceil_div(panels, f.tasks);
  f.tasks = tt_ceil_div(panels, f.per);
  attend_room r;
  f.room_size = lay(&f, NULL, &r);
  size_t bytes = (size_t)(threads * f.room_size);
  if (!(f.room = tt__mem_alloc_data(bytes))) return tt__fail_memory(err, bytes);
  if (threads == 1)
    forward_tasks(&f, 0, a->batches * f.tasks, 0);
  else
    tt__pool_run_numbered(threads, a->batches * f.tasks, 1, forward_tasks, &f);
  tt__mem_free_data(f.room, bytes);
  return TT_OK;
}

/* ---- backward */

static int64_t lay_back(const backward *b, char *base, attend_back_room *r) {
  const tt_attention *a = b->a;
  const int mr = b->tile->mr, nr = b->width;
  const int64_t keys = b->block, size = b->size;
  room m = {base, 0};
  r->q_turned = place(&m, b->panels * b->q_size * size);
  r->g_turned = place(&m, b->panels * b->g_size * size);
  r->dq = place(&m, b->panels * b->dq_size * size);
  r->q = place(&m, b->rows * tt__round_up(a->width, nr) * size);
  r->g = place(&m, b->rows * tt__round_up(a->deep, nr) * size);
  r->lse = place(&m, b->rows * size);
  r->less = place(&m, b->rows * size);
  r->k_turned = place(&m, keys * a->width * size);
  r->v_turned = place(&m, keys * a->deep * size);
  r->k = place(&m, tt__round_up(a->width, mr) * keys * size);
  const int64_t scores = b->few ? a->queries * tt__round_up(a->keys, LANES) : keys * nr;
  r->s = place(&m, scores * size);
  r->d = place(&m, scores * size);
  r->drops = place(&m, a->key ? scores * size : 0);
  r->p_columns = place(&m, keys * GROUP * nr * size);
  r->d_columns = place(&m, keys * GROUP * nr * size);
  r->dk = place(&m, (int64_t)b->dk_bytes);
  r->dv = place(&m, (int64_t)b->dv_bytes);
  r->tile = place(&m, TT_TILE_MAX_BYTES);
  return m.used;
}

static void backward_tasks(void *ctx, int64_t lo, int64_t hi, int worker) {
  const backward *b = ctx;
  attend_back_room r;
  lay_back(b, b->room + worker * b->room_size, &r);
  for (int64_t at = lo; at < hi; at++) kind_of[b->a->type].backward(b, at / b->parts, at % b->parts, &r);
}

static void add_terms(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const backward *b = ctx;
  kind_of[b->a->type].add_terms(b, lo, hi);
}

static backward backward_of(const tt_attention *a, const tt_attention_side *g) {
  backward b = {.a = a,
                .g = g,
                .sums = sums_of(a->type),
                .tile = tile_of(a->type),
                .vector = tt__attention_vector(sums_of(a->type)),
                .size = (int64_t)tt__dtype_size(sums_of(a->type))};
  b.block = tt__round_up(BLOCK, b.tile->mr);
  b.width = b.tile->nr;
  b.panels = tt_ceil_div(a->queries, b.width);
  b.rows = b.panels * b.width;
  b.q_size = tt__round_up(a->width * b.width * b.size, ALIGN) / b.size;
  b.g_size = tt__round_up(a->deep * b.width * b.size, ALIGN) / b.size;
  b.dq_size = tt__round_up(a->width, b.tile->mr) * b.width;
  b.dk_bytes = (size_t)(b.block * tt__round_up(a->width, b.width) * b.size);
  b.dv_bytes = (size_t)(b.block * tt__round_up(a->deep, b.width) * b.size);
  int64_t blocks = tt__max64(1, tt_ceil_div(a->keys, b.block));
  b.part = tt_ceil_div(blocks, tt__min64(blocks, tt_ceil_div(PARTS, a->batches))) * b.block;
  b.few = a->queries <= FEW;
  b.parts = b.few ? 1 : tt__max64(1, tt_ceil_div(a->keys, b.part));
  return b;
}

tt_code tt__attention_back(const tt_attention *a, const tt_attention_side *g, void *dq, void *dk, void *dv,
                           tt_error *err) {
  if (a->batches == 0) return TT_OK;
  backward b = backward_of(a, g);
  b.dq = dq;
  b.dk = dk;
  b.dv = dv;
  int threads = threads_for(a);
  attend_back_room r;
  b.room_size = lay_back(&b, NULL, &r);
  int64_t all = a->batches * a->queries * a->width, terms = b.parts > 1 ? b.parts * all * b.size : 0;
  size_t bytes = (size_t)(threads * b.room_size + terms);
  if (!(b.room = tt__mem_alloc_data(bytes))) return tt__fail_memory(err, bytes);
  b.terms = b.room + threads * b.room_size;
  if (threads == 1)
    backward_tasks(&b, 0, a->batches * b.parts, 0);
  else
    tt__pool_run_numbered(threads, a->batches * b.parts, 1, backward_tasks, &b);
  if (dq && b.parts > 1) tt__pool_run(all, SERIAL_WORK / 8, add_terms, &b);
  tt__mem_free_data(b.room, bytes);
  return TT_OK;
}

/* Where row i of all batches begins. */
static const uint16_t *row_of(const tt_attention *a, const tt_attention_side *s, int64_t i) {
  int64_t batch = i / a->queries, at = i % a->queries * s->row;
  for (int d = a->rank - 1; d >= 0; d--) {
    at += batch % a->len[d] * s->batch[d];
    batch /= a->len[d];
  }
  return (const uint16_t *)s->data + at;
}

void tt__attention_sums_host(const tt_attention *a, const tt_attention_side *g, const tt_attention_side *o,
                             const float *lse, float *to) {
  const bool is_half = a->type == TT_F16;
  for (int64_t i = 0; i < a->batches * a->queries; i++, to += a->deep + 2) {
    const uint16_t *x = row_of(a, g, i), *y = row_of(a, o, i);
    float sum = 0;
    for (int64_t j = 0; j < a->deep; j++, x += g->column, y += o->column) {
      to[j] = is_half ? tt_cast_f16_f32(*x) : tt_cast_bf16_f32(*x);
      sum += to[j] * (is_half ? tt_cast_f16_f32(*y) : tt_cast_bf16_f32(*y));
    }
    to[a->deep] = lse[i];
    to[a->deep + 1] = sum;
  }
}
