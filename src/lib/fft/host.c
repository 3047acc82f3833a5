/*
** Transforms of whole arrays: which rows or columns share a vector, who works on what, and where the intermediate
** results lie.
*/
#include "lib/fft/host.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"

static size_t item_size(const tt_fft_plan *p) { return p->dtype == TT_C128 ? 16 : 8; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t blocks(int64_t n, int64_t of) { return (n + of - 1) / of; }
static size_t padded(size_t size) { return (size + 63) / 64 * 64; }

/* ---- room for intermediate results */

/* n pairs of vectors */
static size_t pairs_size(const tt_fft_plan *p, int64_t n) { return 2 * (size_t)n * (size_t)p->lanes->bytes; }

static size_t row_room(const tt_fft_plan *p, int workers);

/* What each worker of a split transform needs for itself. */
static size_t worker_room(const tt_fft_plan *p) {
  int64_t most = p->first.n > p->second.n ? p->first.n : p->second.n;
  size_t size = 2 * pairs_size(p, most) + padded(2 * sizeof(double) * (size_t)p->first.n);
  size_t rows = p->rows ? row_room(p->rows, 1) : 0;
  return size > rows ? size : rows;
}

static size_t panel_room(const tt_fft_plan *p) {
  if (p->rows) return padded((size_t)p->n * item_size(p));
  return pairs_size(p, blocks(p->first.n, p->lanes->lanes) * p->b);
}

/* What one row by this plan needs when `workers` threads share it. */
static size_t row_room(const tt_fft_plan *p, int workers) {
  if (p->longer) return padded((size_t)p->longer->n * item_size(p)) + row_room(p->longer, workers);
  if (p->is_split) return panel_room(p) + (size_t)workers * worker_room(p);
  return 2 * pairs_size(p, p->n);
}

static void share(int workers, int64_t n, int64_t grain, tt_pool_fn fn, void *ctx) {
  if (workers > 1)
    tt__pool_run_numbered(workers, n, grain, fn, ctx);
  else
    fn(ctx, 0, n, 0);
}

/* ---- one row */

typedef struct row_job {
  const tt_fft_plan *p;
  const char *src;
  char *dst;
  bool swap;
  double scale;
  char *panel, *rooms;
} row_job;

static void row_run(const tt_fft_plan *p, const char *src, char *dst, bool swap, double scale, char *room, int workers);

/* w^(k c) for the numbers k of column c, from the two tables. */
static const double *factors(const tt_fft_plan *p, int64_t c, double *out) {
  const double *coarse = p->coarse.at, *fine = p->fine.at;
  if (c == 0) return NULL;
  int64_t mask = ((int64_t)1 << p->shift) - 1;
  for (int64_t k = 0, at = 0; k < p->first.n; k++, at += c) {
    const double *a = coarse + 2 * (at >> p->shift), *b = fine + 2 * (at & mask);
    out[2 * k] = a[0] * b[0] - a[1] * b[1];
    out[2 * k + 1] = a[0] * b[1] + a[1] * b[0];
  }
  return out;
}

/* Columns of length a, a vector of them at a time. */
static void split_columns(void *ctx, int64_t lo, int64_t hi, int worker) {
  const row_job *j = ctx;
  const tt_fft_plan *p = j->p;
  const tt_fft_lanes *l = p->lanes;
  int64_t n = p->first.n;
  char *a = j->rooms + (size_t)worker * worker_room(p), *b = a + pairs_size(p, n), *f = b + pairs_size(p, n);
  for (int64_t i = lo; i < hi; i++) {
    int64_t c = i * l->lanes;
    tt_fft_side side = {.step = p->b, .valid = (int)least(l->lanes, p->b - c), .swap = j->swap};
    l->load_columns(j->src + (size_t)c * item_size(p), side, n, a);
    void *x = l->run(&p->first, a, a, b);
    const char *turns = (const char *)p->lane_turns.at + (p->all_turns ? (size_t)i * pairs_size(p, n) : 0);
    const double *factor = p->all_turns ? NULL : factors(p, c, (double *)(void *)f);
    side.swap = false;
    if (p->rows) {
      l->rotate(x, n, turns, factor);
      l->store_columns(x, n, 1, side, j->panel + (size_t)c * item_size(p));
    } else {
      l->turn(x, n, side.valid, turns, factor, p->b, j->panel + pairs_size(p, c));
    }
  }
}

/* Then rows of length b; number k of row i is point i + a k of the result. */
static void split_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  const row_job *j = ctx;
  const tt_fft_plan *p = j->p;
  const tt_fft_lanes *l = p->lanes;
  char *a = j->rooms + (size_t)worker * worker_room(p), *b = a + pairs_size(p, p->b);
  for (int64_t i = lo; i < hi; i++) {
    int64_t k = i * l->lanes;
    tt_fft_side side = {.step = p->first.n, .valid = (int)least(l->lanes, p->first.n - k), .swap = j->swap};
    void *x = l->run(&p->second, j->panel + pairs_size(p, i * p->b), a, b);
    l->store_columns(x, p->b, j->scale, side, j->dst + (size_t)k * item_size(p));
  }
}

/* The same for rows too long for vectors: each by its own plan, then a vector of rows becomes columns. */
static void split_long_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  enum { CHUNK = 64 };
  const row_job *j = ctx;
  const tt_fft_plan *p = j->p;
  const tt_fft_lanes *l = p->lanes;
  char *room = j->rooms + (size_t)worker * worker_room(p);
  size_t item = item_size(p);
  for (int64_t i = lo; i < hi; i++) {
    int64_t k = i * l->lanes;
    tt_fft_side from = {.step = p->b, .valid = (int)least(l->lanes, p->first.n - k)}, to = from;
    char *rows = j->panel + (size_t)(k * p->b) * item;
    for (int r = 0; r < from.valid; r++) {
      char *row = rows + (size_t)(r * p->b) * item;
      row_run(p->rows, row, row, false, 1, room, 1);
    }
    to.step = p->first.n;
    to.swap = j->swap;
    for (int64_t c = 0; c < p->b; c += CHUNK) {
      int64_t n = least(CHUNK, p->b - c);
      l->load_rows(rows + (size_t)c * item, from, n, room);
      l->store_columns(room, n, j->scale, to, j->dst + (size_t)(k + c * p->first.n) * item);
    }
  }
}

/* x * chirp, transformed, * kernel, transformed back, * chirp */
static void prime_row(const row_job *j, int workers) {
  const tt_fft_plan *p = j->p;
  int64_t m = p->longer->n;
  char *x = j->panel;
  p->lanes->multiply(j->src, j->swap, p->chirp.at, p->n, 1, false, x);
  memset(x + (size_t)p->n * item_size(p), 0, (size_t)(m - p->n) * item_size(p));
  row_run(p->longer, x, x, false, 1, j->rooms, workers);
  p->lanes->multiply(x, false, p->kernel.at, m, 1, true, x);
  row_run(p->longer, x, x, false, 1, j->rooms, workers);
  p->lanes->multiply(x, true, p->chirp.at, p->n, j->scale, j->swap, j->dst);
}

static void row_run(const tt_fft_plan *p, const char *src, char *dst, bool swap, double scale, char *room,
                    int workers) {
  row_job j = {.p = p, .src = src, .dst = dst, .swap = swap, .scale = scale, .panel = room};
  if (p->longer) {
    j.rooms = room + padded((size_t)p->longer->n * item_size(p));
    prime_row(&j, workers);
  } else if (p->is_split) {
    j.rooms = room + panel_room(p);
    share(workers, blocks(p->b, p->lanes->lanes), 1, split_columns, &j);
    share(workers, blocks(p->first.n, p->lanes->lanes), 1, p->rows ? split_long_rows : split_rows, &j);
  } else {
    tt_fft_side side = {.step = 1, .valid = 1, .swap = swap};
    p->lanes->load_columns(src, side, p->n, room);
    void *x = p->lanes->run(&p->whole, room, room, room + pairs_size(p, p->n));
    p->lanes->store_columns(x, p->n, scale, side, dst);
  }
}

tt_code tt__fft_row(const tt_fft_plan *p, const void *src, void *dst, bool backward, double scale, tt_error *err) {
  size_t size = row_room(p, 1);
  char *room = tt__mem_alloc_data(size);
  if (!room) return tt__fail_memory(err, size);
  row_run(p, src, dst, backward, scale, room, 1);
  tt__mem_free_data(room, size);
  return TT_OK;
}

/* ---- many rows */

typedef struct rows_job rows_job;
struct rows_job {
  const tt_fft_plan *p;
  const char *src;
  char *dst;
  int64_t rows, src_step, dst_step; /* complex numbers from row to row */
  bool swap;
  double scale;
  char *room;
  size_t room_step;
  int64_t real_n; /* what happens to a row of the result after, or to one of the source before */
  void (*before)(const rows_job *j, int64_t row);
  void (*after)(const rows_job *j, int64_t row);
};

static const char *src_row(const rows_job *j, int64_t i) {
  return j->src + (size_t)(i * j->src_step) * item_size(j->p);
}
static char *dst_row(const rows_job *j, int64_t i) { return j->dst + (size_t)(i * j->dst_step) * item_size(j->p); }

/* A vector of rows at a time. */
static void short_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  const rows_job *j = ctx;
  const tt_fft_lanes *l = j->p->lanes;
  int64_t n = j->p->n;
  char *a = j->room + (size_t)worker * j->room_step, *b = a + pairs_size(j->p, n);
  for (int64_t i = lo; i < hi; i++) {
    int64_t first = i * l->lanes, last = least(first + l->lanes, j->rows);
    tt_fft_side side = {.step = j->src_step, .valid = (int)(last - first), .swap = j->swap};
    for (int64_t r = first; j->before && r < last; r++) j->before(j, r);
    if (j->before) side.step = j->dst_step;
    l->load_rows(j->before ? dst_row(j, first) : src_row(j, first), side, n, a);
    void *x = l->run(&j->p->whole, a, a, b);
    side.step = j->dst_step;
    l->store_rows(x, n, j->scale, side, dst_row(j, first));
    for (int64_t r = first; j->after && r < last; r++) j->after(j, r);
  }
}

static void one_row(const rows_job *j, int64_t i, char *room, int workers) {
  if (j->before) j->before(j, i);
  row_run(j->p, j->before ? dst_row(j, i) : src_row(j, i), dst_row(j, i), j->swap, j->scale, room, workers);
  if (j->after) j->after(j, i);
}

static void long_rows(void *ctx, int64_t lo, int64_t hi, int worker) {
  const rows_job *j = ctx;
  for (int64_t i = lo; i < hi; i++) one_row(j, i, j->room + (size_t)worker * j->room_step, 1);
}

/* Do rows share vectors? A vector that is not filled costs as much as a full one. */
static bool share_vectors(const tt_fft_plan *p, int64_t rows) {
  double groups = (double)blocks(rows, p->lanes->lanes);
  return p->is_short && (!p->is_split || groups * p->cost_whole < (double)rows * p->cost_split);
}

/* All rows by the calling thread, in j->room of rows_room bytes. */
static size_t rows_room(const tt_fft_plan *p) {
  size_t a = p->is_short ? 2 * pairs_size(p, p->n) : 0, b = row_room(p, 1);
  return a > b ? a : b;
}
static void rows_alone(rows_job *j) {
  if (share_vectors(j->p, j->rows))
    short_rows(j, 0, blocks(j->rows, j->p->lanes->lanes), 0);
  else
    long_rows(j, 0, j->rows, 0);
}

static tt_code run_rows(rows_job *j, tt_error *err) {
  const tt_fft_plan *p = j->p;
  int64_t groups = blocks(j->rows, p->lanes->lanes);
  int workers = tt__pool_size();
  bool together = share_vectors(p, j->rows);
  bool apart = together ? false : j->rows < 2 * workers;
  int64_t work = p->n * (p->longer ? 8 : 1);
  size_t one = together ? 2 * pairs_size(p, p->n) : row_room(p, apart ? workers : 1);
  if (work * j->rows < 16384) workers = 1;
  if (together && groups < workers) workers = (int)groups;
  j->room_step = one;
  size_t size = one * (size_t)(apart ? 1 : workers);
  j->room = tt__mem_alloc_data(size);
  if (!j->room) return tt__fail_memory(err, size);
  if (together)
    share(workers, groups, 1, short_rows, j);
  else if (apart)
    for (int64_t i = 0; i < j->rows; i++) one_row(j, i, j->room, workers);
  else
    share(workers, j->rows, 1 + 8192 / work, long_rows, j);
  tt__mem_free_data(j->room, size);
  return TT_OK;
}

/* ---- columns */

typedef struct columns_job {
  const tt_fft_plan *p;
  const char *src;
  char *dst;
  int64_t inner, across; /* blocks of columns */
  bool swap;
  double scale;
  char *room;
  size_t room_step;
} columns_job;

static void short_columns(void *ctx, int64_t lo, int64_t hi, int worker) {
  const columns_job *j = ctx;
  const tt_fft_lanes *l = j->p->lanes;
  int64_t n = j->p->n;
  char *a = j->room + (size_t)worker * j->room_step, *b = a + pairs_size(j->p, n);
  for (int64_t i = lo; i < hi; i++) {
    int64_t c = i % j->across * l->lanes;
    size_t at = (size_t)(i / j->across * n * j->inner + c) * item_size(j->p);
    tt_fft_side side = {.step = j->inner, .valid = (int)least(l->lanes, j->inner - c), .swap = j->swap};
    l->load_columns(j->src + at, side, n, a);
    void *x = l->run(&j->p->whole, a, a, b);
    l->store_columns(x, n, j->scale, side, j->dst + at);
  }
}

/* A vector of columns becomes rows, and back. */
static void long_columns(void *ctx, int64_t lo, int64_t hi, int worker) {
  enum { CHUNK = 64 };
  const columns_job *j = ctx;
  const tt_fft_lanes *l = j->p->lanes;
  int64_t n = j->p->n;
  size_t item = item_size(j->p);
  char *rows = j->room + (size_t)worker * j->room_step, *square = rows + padded((size_t)(n * l->lanes) * item);
  char *room = square + pairs_size(j->p, CHUNK);
  for (int64_t i = lo; i < hi; i++) {
    int64_t c = i % j->across * l->lanes, first = i / j->across * n * j->inner + c;
    tt_fft_side side = {.step = j->inner, .valid = (int)least(l->lanes, j->inner - c)}, row = side;
    row.step = n;
    for (int64_t k = 0; k < n; k += CHUNK) {
      int64_t many = least(CHUNK, n - k);
      l->load_columns(j->src + (size_t)(first + k * j->inner) * item, side, many, square);
      l->store_rows(square, many, 1, row, rows + (size_t)k * item);
    }
    for (int r = 0; r < side.valid; r++) {
      char *at = rows + (size_t)(r * n) * item;
      row_run(j->p, at, at, j->swap, j->scale, room, 1);
    }
    for (int64_t k = 0; k < n; k += CHUNK) {
      int64_t many = least(CHUNK, n - k);
      l->load_rows(rows + (size_t)k * item, row, many, square);
      l->store_columns(square, many, 1, side, j->dst + (size_t)(first + k * j->inner) * item);
    }
  }
}

/* Few and long columns: all of them become rows, which the threads share, and columns again. */
static tt_code turned_columns(columns_job *j, tt_error *err) {
  const tt_fft_plan *p = j->p;
  const tt_fft_lanes *l = p->lanes;
  int64_t n = p->n;
  size_t item = item_size(p), size = padded((size_t)(n * j->inner) * item), square = pairs_size(p, 64);
  char *rows = tt__mem_alloc_data(size + square);
  if (!rows) return tt__fail_memory(err, size + square);
  char *at = rows + size;
  rows_job r = {.p = p, .src = rows, .dst = rows, .rows = j->inner, .src_step = n, .dst_step = n, .swap = j->swap};
  r.scale = j->scale;
  tt_code code = TT_OK;
  for (int back = 0; back < 2 && code == TT_OK; back++) {
    for (int64_t c = 0; c < j->inner; c += l->lanes)
      for (int64_t k = 0; k < n; k += 64) {
        tt_fft_side side = {.step = j->inner, .valid = (int)least(l->lanes, j->inner - c)}, row = side;
        int64_t many = least(64, n - k);
        size_t here = (size_t)(k * j->inner + c) * item, there = (size_t)(c * n + k) * item;
        row.step = n;
        if (back) {
          l->load_rows(rows + there, row, many, at);
          l->store_columns(at, many, 1, side, j->dst + here);
        } else {
          l->load_columns(j->src + here, side, many, at);
          l->store_rows(at, many, 1, row, rows + there);
        }
      }
    if (!back) code = run_rows(&r, err);
  }
  tt__mem_free_data(rows, size + square);
  return code;
}

static tt_code run_columns(columns_job *j, int64_t outer, tt_error *err) {
  const tt_fft_plan *p = j->p;
  j->across = blocks(j->inner, p->lanes->lanes);
  int64_t units = outer * j->across;
  int workers = tt__pool_size();
  /* As rows, each by itself, when vectors would be half empty. */
  bool fits = p->is_short && (!p->is_split || p->cost_whole < (double)least(j->inner, p->lanes->lanes) * p->cost_split);
  if (!fits && outer == 1 && units < workers && p->n >= 16384) return turned_columns(j, err);
  if (p->n * units * p->lanes->lanes < 16384) workers = 1;
  if (units < workers) workers = (int)units;
  j->room_step = 2 * pairs_size(p, fits ? p->n : 32) + row_room(p, 1) +
                 (fits ? 0 : padded((size_t)(p->n * p->lanes->lanes) * item_size(p)));
  size_t size = j->room_step * (size_t)workers;
  j->room = tt__mem_alloc_data(size);
  if (!j->room) return tt__fail_memory(err, size);
  share(workers, units, 1, fits ? short_columns : long_columns, j);
  tt__mem_free_data(j->room, size);
  return TT_OK;
}

tt_code tt__fft_complex(tt_dtype t, int64_t outer, int64_t n, int64_t inner, bool backward, double scale,
                        const void *src, void *dst, tt_error *err) {
  assert(tt__is_complex(t) && outer >= 0 && n > 0 && inner >= 0);
  if (outer == 0 || inner == 0) return TT_OK;
  tt_fft_plan *p;
  TT_TRY(tt__fft_plan_get(t, n, false, &p, err));
  tt_code code;
  if (inner == 1) {
    rows_job j = {.p = p, .src = src, .dst = dst, .rows = outer, .src_step = n, .dst_step = n, .swap = backward};
    j.scale = scale;
    code = run_rows(&j, err);
  } else {
    columns_job j = {.p = p, .src = src, .dst = dst, .inner = inner, .swap = backward, .scale = scale};
    code = run_columns(&j, outer, err);
  }
  tt__fft_plan_give_back(p);
  return code;
}

/* ---- real rows of even length: the even and odd elements are the parts of a complex row of half the length */

static void unfold(const rows_job *j, int64_t i) {
  j->p->lanes->unfold(dst_row(j, i), j->p->n, j->p->real_turns.at, j->p->real_span);
}

static void fold(const rows_job *j, int64_t i) {
  j->p->lanes->fold(src_row(j, i), j->p->n, j->p->real_turns.at, j->p->real_span, dst_row(j, i));
}

/* The other half of a row of n, conjugated; `backward`: the first one is. */
static void mirror(tt_dtype t, void *row, int64_t n, bool backward) {
  double *wide = row;
  float *x = row;
  for (int64_t k = 1; 2 * k < n; k++) {
    int64_t to = n - k;
    if (t == TT_C128) {
      wide[2 * to] = wide[2 * k];
      wide[2 * to + 1] = backward ? wide[2 * k + 1] : -wide[2 * k + 1];
      if (backward) wide[2 * k + 1] = -wide[2 * k + 1];
    } else {
      x[2 * to] = x[2 * k];
      x[2 * to + 1] = backward ? x[2 * k + 1] : -x[2 * k + 1];
      if (backward) x[2 * k + 1] = -x[2 * k + 1];
    }
  }
}

static void unfold_forward(const rows_job *j, int64_t i) {
  unfold(j, i);
  mirror(j->p->dtype, dst_row(j, i), j->real_n, false);
}

static void unfold_backward(const rows_job *j, int64_t i) {
  unfold(j, i);
  mirror(j->p->dtype, dst_row(j, i), j->real_n, true);
}

static tt_code real_even(bool inverse, rows_job *j, tt_dtype t, int64_t n, tt_error *err) {
  tt_fft_plan *p;
  TT_TRY(tt__fft_plan_get(t, n / 2, true, &p, err));
  j->p = p;
  j->real_n = n;
  if (inverse) j->before = fold;
  tt_code code = run_rows(j, err);
  tt__fft_plan_give_back(p);
  return code;
}

/* ---- real rows of odd length, as complex ones. (Two in one complex row would cost half, but let the errors and NaNs
 * of each leak into the other.) */

typedef struct odd_job {
  int64_t n;
  const void *src;
  void *dst, *rows; /* complex rows of n */
  int64_t step;     /* of the complex side */
} odd_job;

#define ODD_ROWS(real, suffix)                                                                            \
  static void widen_##suffix(void *ctx, int64_t lo, int64_t hi, int worker) {                             \
    const odd_job *j = ctx;                                                                               \
    (void)worker;                                                                                         \
    for (int64_t i = lo * j->n; i < hi * j->n; i++) {                                                     \
      ((real *)j->rows)[2 * i] = ((const real *)j->src)[i];                                               \
      ((real *)j->rows)[2 * i + 1] = 0;                                                                   \
    }                                                                                                     \
  }                                                                                                       \
  static void narrow_##suffix(void *ctx, int64_t lo, int64_t hi, int worker) {                            \
    const odd_job *j = ctx;                                                                               \
    (void)worker;                                                                                         \
    for (int64_t i = lo * j->n; i < hi * j->n; i++) ((real *)j->dst)[i] = ((const real *)j->rows)[2 * i]; \
  }                                                                                                       \
  static void complete_##suffix(void *ctx, int64_t lo, int64_t hi, int worker) {                          \
    const odd_job *j = ctx;                                                                               \
    (void)worker;                                                                                         \
    for (int64_t i = lo; i < hi; i++) {                                                                   \
      const real *a = (const real *)j->src + 2 * i * j->step;                                             \
      real *z = (real *)j->rows + 2 * i * j->n;                                                           \
      z[0] = a[0];                                                                                        \
      z[1] = 0;                                                                                           \
      for (int64_t k = 1; 2 * k < j->n; k++) {                                                            \
        z[2 * k] = z[2 * (j->n - k)] = a[2 * k];                                                          \
        z[2 * k + 1] = a[2 * k + 1];                                                                      \
        z[2 * (j->n - k) + 1] = -a[2 * k + 1];                                                            \
      }                                                                                                   \
    }                                                                                                     \
  }
ODD_ROWS(float, f32)
ODD_ROWS(double, f64)

/* A chunk of rows at a time, small enough to stay in the cache between the steps. */
typedef struct chunks_job {
  odd_job odd; /* its src and dst are those of all rows */
  const tt_fft_plan *p;
  int64_t rows, chunk;
  bool inverse;
  double scale;
  char *room;
  size_t room_step, rows_size;
} chunks_job;

static void odd_chunks(void *ctx, int64_t lo, int64_t hi, int worker) {
  const chunks_job *j = ctx;
  int64_t n = j->odd.n;
  bool wide = j->p->dtype == TT_C128;
  size_t item = item_size(j->p), real_row = (size_t)n * item / 2, half_row = (size_t)j->odd.step * item;
  char *buf = j->room + (size_t)worker * j->room_step;
  for (int64_t i = lo; i < hi; i++) {
    int64_t first = i * j->chunk, rows = least(j->chunk, j->rows - first);
    odd_job o = j->odd;
    o.rows = buf;
    o.src = (const char *)o.src + (size_t)first * (j->inverse ? half_row : real_row);
    o.dst = (char *)o.dst + (size_t)first * (j->inverse ? real_row : half_row);
    if (j->inverse)
      (wide ? complete_f64 : complete_f32)(&o, 0, rows, 0);
    else
      (wide ? widen_f64 : widen_f32)(&o, 0, rows, 0);
    rows_job r = {.p = j->p, .src = buf, .dst = buf, .rows = rows, .src_step = n, .dst_step = n, .swap = j->inverse};
    r.scale = j->scale;
    r.room = buf + j->rows_size;
    rows_alone(&r);
    if (j->inverse) (wide ? narrow_f64 : narrow_f32)(&o, 0, rows, 0);
    for (int64_t k = 0; k < rows && !j->inverse; k++)
      memcpy((char *)o.dst + (size_t)k * half_row, buf + (size_t)(k * n) * item, half_row);
  }
}

/* A row so long that the threads share it. */
static tt_code odd_row(bool inverse, odd_job *j, tt_dtype t, double scale, tt_error *err) {
  bool wide = t == TT_C128;
  size_t item = wide ? 16 : 8, size = (size_t)j->n * item;
  j->rows = tt__mem_alloc_data(size);
  if (!j->rows) return tt__fail_memory(err, size);
  if (inverse)
    (wide ? complete_f64 : complete_f32)(j, 0, 1, 0);
  else
    (wide ? widen_f64 : widen_f32)(j, 0, 1, 0);
  tt_code code = tt__fft_complex(t, 1, j->n, 1, inverse, scale, j->rows, j->rows, err);
  if (code == TT_OK && inverse) (wide ? narrow_f64 : narrow_f32)(j, 0, 1, 0);
  if (code == TT_OK && !inverse) memcpy(j->dst, j->rows, (size_t)j->step * item);
  tt__mem_free_data(j->rows, size);
  return code;
}

static tt_code real_odd(bool inverse, odd_job *j, int64_t rows, tt_dtype t, double scale, tt_error *err) {
  enum { CHUNK = 8192 };
  if (rows == 1) return odd_row(inverse, j, t, scale, err);
  tt_fft_plan *p;
  TT_TRY(tt__fft_plan_get(t, j->n, false, &p, err));
  chunks_job c = {.odd = *j, .p = p, .rows = rows, .chunk = 1, .inverse = inverse, .scale = scale};
  if (j->n < CHUNK) c.chunk = blocks(CHUNK / j->n, p->lanes->lanes) * p->lanes->lanes;
  int64_t pieces = blocks(rows, c.chunk);
  int workers = rows * j->n < 16384 ? 1 : (int)least(tt__pool_size(), pieces);
  c.rows_size = padded((size_t)(least(c.chunk, rows) * j->n) * item_size(p));
  c.room_step = c.rows_size + rows_room(p);
  size_t size = c.room_step * (size_t)workers;
  c.room = tt__mem_alloc_data(size);
  tt_code code = c.room ? TT_OK : tt__fail_memory(err, size);
  if (code == TT_OK) share(workers, pieces, 1, odd_chunks, &c);
  tt__mem_free_data(c.room, size);
  tt__fft_plan_give_back(p);
  return code;
}

tt_code tt__fft_from_real(tt_dtype t, int64_t rows, int64_t n, bool backward, bool full, double scale, const void *src,
                          void *dst, tt_error *err) {
  assert(rows >= 0 && n > 0);
  int64_t step = full ? n : n / 2 + 1;
  if (rows == 0) return TT_OK;
  if (n % 2 == 0) {
    rows_job j = {.src = src, .dst = dst, .rows = rows, .src_step = n / 2, .dst_step = step, .scale = scale};
    j.after = !full ? unfold : backward ? unfold_backward : unfold_forward;
    return real_even(false, &j, t, n, err);
  }
  odd_job j = {.n = n, .step = n / 2 + 1, .src = src, .dst = dst};
  if (!full) return real_odd(false, &j, rows, t, scale, err);
  if (t == TT_C128)
    widen_f64(&(odd_job){.n = n, .src = src, .rows = dst}, 0, rows, 0);
  else
    widen_f32(&(odd_job){.n = n, .src = src, .rows = dst}, 0, rows, 0);
  return tt__fft_complex(t, rows, n, 1, backward, scale, dst, dst, err);
}

tt_code tt__fft_to_real(tt_dtype t, int64_t rows, int64_t n, double scale, const void *src, void *dst, tt_error *err) {
  assert(rows >= 0 && n > 0);
  if (rows == 0) return TT_OK;
  if (n % 2 == 0) {
    rows_job j = {.src = src, .dst = dst, .rows = rows, .src_step = n / 2 + 1, .dst_step = n / 2, .swap = true};
    j.scale = scale;
    return real_even(true, &j, t, n, err);
  }
  odd_job j = {.n = n, .step = n / 2 + 1, .src = src, .dst = dst};
  return real_odd(true, &j, rows, t, scale, err);
}
