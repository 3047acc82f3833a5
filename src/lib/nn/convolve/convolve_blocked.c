/*
** Plain convolutions as blocked products. A task owns a rectangle of outputs and places: it packs what it needs of w
** and of the windows, a part of the sum after the other, adds tiles up in memory of its own and stores them at the end.
*/
#include "lib/nn/convolve/convolve_int.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/nn/vector_level.h"
#include "lib/product/gemm_tile.h"
#include "lib/product/gemm_turn.h"
#include "scalar/prelude.h"

enum {
  STRIP = 32,            /* steps of a sum at a time, so that a strip of a panel stays in cache */
  STEPS_BYTES = 1024,    /* of one row of a panel */
  ROWS = 128,            /* outputs of a task */
  COLUMNS = 192,         /* places of a task */
  SERIAL_WORK = 1 << 18, /* products below which threads cost more than they give */
  SHORT = 16,            /* rows of places below which it pays to walk along the images */
  PACKED_ONCE = 16 << 20 /* bytes of w that are packed for all tasks */
};

/*
** Columns of the product: places of images, four axes of which the last is walked by runs. Where x lies with its images
** last and windows move by one, the last two axes are one: `each` columns for a coordinate.
*/
typedef struct columns {
  const tt_conv *c;
  int n; /* axes */
  int64_t len[4];
  int64_t step[4]; /* in memory */
  int coord[4];    /* which coordinate of a window the axis moves, -1: none (the images) */
  int64_t by[4];   /* and how far */
  int64_t each;    /* neighbours of the last axis that share a coordinate */
  int64_t along;   /* how far coordinate 2 moves from one to the next such group; 0: not at all */
  int64_t all;
} columns;

/* Neighbouring columns of a panel along the last axis. */
typedef struct run {
  int64_t at;              /* in memory; taps are counted from there */
  int64_t u[TT_CONV_AXES]; /* the window's first coordinates, without padding */
  int32_t panel, col, n;   /* col: in its panel */
  int32_t phase;           /* of `each`, where it begins */
  int64_t reach;           /* coordinate 2 of its last column, counted from the first */
} run;

/* Where a step of the sum stands. */
typedef struct summand {
  int64_t channel, tap[TT_CONV_AXES];
} summand;

static void next(const tt_conv *c, summand *t) {
  for (int a = TT_CONV_AXES - 1; a >= 0; a--) {
    if (++t->tap[a] < c->kernel[a]) return;
    t->tap[a] = 0;
  }
  t->channel++;
}

/* Which of [0, hi) of a run that begins at coordinate `first` lie inside x. */
static void clip(const columns *k, const run *r, int64_t first, int64_t *lo, int64_t *hi) {
  int64_t in = k->c->in[TT_CONV_AXES - 1];
  if (k->along == 0) {
    if (first < 0 || first >= in) *hi = 0;
    return;
  }
  if (first < 0) *lo = tt__min64(tt_ceil_div(-first, k->along) * k->each - r->phase, *hi);
  int64_t end = first < in ? tt_ceil_div(in - first, k->along) * k->each - r->phase : 0;
  *hi = tt__min64(*hi, end);
}

/* Whether steps of the sum lie next to each other in w. */
static bool are_neighbours(const int64_t *tap, int64_t n) {
  bool are = true;
  for (int64_t p = 1; p < n; p++) are &= tap[p] == tap[0] + p;
  return are;
}

#define PLAIN(x) (x)
#define TARGET
#define LEVEL(x) LEVEL_0(x)
#define LEVEL_0(x) x##_0
#include "lib/nn/convolve/convolve_blocked.inc"
#if TT_NN_LEVELS > 1
#define TARGET TT_NN_TARGET_1
#define LEVEL(x) LEVEL_1(x)
#define LEVEL_1(x) x##_1
#include "lib/nn/convolve/convolve_blocked.inc"
#define TARGET TT_NN_TARGET_2
#define LEVEL(x) LEVEL_2(x)
#define LEVEL_2(x) x##_2
#include "lib/nn/convolve/convolve_blocked.inc"
#endif

typedef struct kind {
  tt_tile_type tile;
  int64_t size; /* of a number in a panel */
  void (*pack_w)(const tt_conv *c, const void *w, int64_t first, int64_t rows, const int64_t *tap, int64_t steps,
                 int width, void *to);
  void (*pack_x)(const columns *k, const void *x, const run *r, int n, summand t, int64_t steps, int width, void *to);
  void (*store)(int64_t step, const void *sum, void *y, const void *bias, const run *r, int n);
  void (*add)(void *sums, int64_t row, const void *tile, int rows, int cols, int nr, bool set);
} kind;

#define KIND(S, n, tile, size) \
  { tile, size, pack_w_##S##_##n, pack_x_##S##_##n, store_runs_##S##_##n, add_tile_##S##_##n }
#define KINDS(n)                                                                       \
  {                                                                                    \
    [TT_F32] = KIND(f32, n, TT_TILE_F32, 4), [TT_F64] = KIND(f64, n, TT_TILE_F64, 8),  \
    [TT_F16] = KIND(f16, n, TT_TILE_F32, 4), [TT_BF16] = KIND(bf16, n, TT_TILE_F32, 4) \
  }
static const kind kinds[TT_NN_LEVELS][TT_DTYPE_COUNT] = {
    KINDS(0),
#if TT_NN_LEVELS > 1
    KINDS(1),
    KINDS(2),
#endif
};

typedef struct job {
  const tt_conv *c;
  const kind *kd;
  const tt_gemm_tile *tile;
  columns col, to;      /* the same columns in x and in y */
  int64_t depth, steps; /* of the sum, and of a part of it */
  int64_t rows, cols;   /* of a task: multiples of the tile's */
  int64_t down, across; /* tasks of a group */
  const int64_t *tap;   /* elements from a row of w to each step */
  char *once;           /* all of w in panels, [group][part]; or NULL */
  int64_t once_part;    /* bytes of all rows of a full part */
  char *room;           /* of each worker: w's panels, the windows', sums, runs */
  int64_t w_size, x_size, sum_size, room_size;
} job;

/* ---- columns */

/* Short rows of places are walked along the images. */
static bool is_by_image(const tt_conv *c) { return c->out[2] < SHORT && c->images > 1; }

static void add_axis(columns *k, int axis, int64_t step) {
  int to = k->n++;
  k->len[to] = axis < 0 ? k->c->images : k->c->out[axis];
  k->step[to] = step;
  k->coord[to] = axis;
  k->by[to] = axis < 0 ? 0 : k->c->axis[axis].stride;
}

/* With steps of x or, `store`, of y. */
static columns columns_of(const tt_conv *c, bool store) {
  columns k = {.c = c, .all = c->images * c->out[0] * c->out[1] * c->out[2], .each = 1};
  bool by_image = is_by_image(c);
  int64_t image = store ? c->y_image : c->x_image;
  if (!by_image) add_axis(&k, -1, image);
  for (int d = 0; d < TT_CONV_AXES; d++) add_axis(&k, d, store ? c->y_at[d] : c->axis[d].stride * c->x_at[d]);
  int last = k.n - 1;
  if (by_image && !store && k.step[last] == c->images * image) { /* places and images are one axis */
    k.each = c->images;
    k.len[last] *= c->images;
    k.step[last] = image;
  } else if (by_image) {
    add_axis(&k, -1, image);
  }
  k.along = k.by[k.n - 1];
  return k;
}

/* The runs of columns [at, at + n), cut at the ends of panels of `width`. */
static int runs_of(const columns *k, int64_t at, int64_t n, int width, run *r) {
  int count = 0, last = k->n - 1;
  for (int64_t j = 0; j < n;) {
    int64_t rest = at + j, index[4];
    for (int a = last; a >= 0; a--) {
      index[a] = rest % k->len[a];
      rest /= k->len[a];
    }
    int64_t left = tt__min64(k->len[last] - index[last], n - j);
    run q = {.panel = (int32_t)(j / width),
             .col = (int32_t)(j % width),
             .n = (int32_t)tt__min64(left, width - j % width),
             .phase = (int32_t)(index[last] % k->each)};
    q.reach = (q.phase + q.n - 1) / k->each * k->along;
    for (int a = 0; a <= last; a++) {
      q.at += index[a] * k->step[a];
      if (k->coord[a] >= 0) q.u[k->coord[a]] += index[a] / (a == last ? k->each : 1) * k->by[a];
    }
    r[count++] = q;
    j += q.n;
  }
  return count;
}

/* ---- tasks */

static summand summand_at(const tt_conv *c, int64_t at) {
  summand t;
  for (int a = TT_CONV_AXES - 1; a >= 0; a--) {
    t.tap[a] = at % c->kernel[a];
    at /= c->kernel[a];
  }
  t.channel = at;
  return t;
}

static const void *group_of(const job *b, const void *base, int64_t g, int64_t by) {
  return tt__conv_element(base, g * by, b->c->type);
}

/* One part of the sum for all tiles of a task. */
static void multiply(const job *b, int64_t steps, bool first, const char *w, const char *x, char *sums, int64_t rows,
                     int64_t cols) {
  const int mr = b->tile->mr, nr = b->tile->nr;
  _Alignas(64) char tile[TT_TILE_MAX_BYTES];
  for (int64_t j = 0; j < cols; j += nr)
    for (int64_t i = 0; i < rows; i += mr) {
      b->tile->run(steps, w + i * steps * b->kd->size, x + j * steps * b->kd->size, tile);
      b->kd->add(sums + (i * b->cols + j) * b->kd->size, b->cols, tile, (int)tt__min64(mr, rows - i),
                 (int)tt__min64(nr, cols - j), nr, first);
    }
}

/* The windows of a task's columns, a panel after the other. */
static void pack_panels(const job *b, const void *from, const run *r, int n, summand t, int64_t steps, char *to) {
  int64_t size = b->tile->nr * steps * b->kd->size;
  for (int i = 0, end; i < n; i = end, to += size) {
    for (end = i + 1; end < n && r[end].panel == r[i].panel; end++) continue;
    if (r[end - 1].col + r[end - 1].n < b->tile->nr) memset(to, 0, (size_t)size);
    b->kd->pack_x(&b->col, from, r + i, end - i, t, steps, b->tile->nr, to);
  }
}

static void task(const job *b, int64_t at, char *room) {
  const tt_conv *c = b->c;
  const int nr = b->tile->nr;
  int64_t g = at / (b->down * b->across), row = at / b->across % b->down * b->rows, col = at % b->across * b->cols;
  int64_t rows = tt__min64(b->rows, c->outputs - row), cols = tt__min64(b->cols, b->col.all - col);
  char *own = room, *x = own + b->w_size, *sums = x + b->x_size;
  run *r = (run *)(sums + b->sum_size);
  int n = runs_of(&b->col, col, cols, nr, r);
  const void *from_x = group_of(b, c->x, g, c->x_group), *from_w = group_of(b, c->w, g, c->w_group);
  for (int64_t s = 0, part = 0; s < b->depth; s += b->steps, part++) {
    int64_t steps = tt__min64(b->steps, b->depth - s);
    const char *w = own;
    if (b->once)
      w = b->once + (g * tt_ceil_div(b->depth, b->steps) + part) * b->once_part + row * steps * b->kd->size;
    else
      b->kd->pack_w(c, from_w, row, rows, b->tap + s, steps, b->tile->mr, own);
    pack_panels(b, from_x, r, n, summand_at(c, s), steps, x);
    multiply(b, steps, s == 0, w, x, sums, rows, cols);
  }
  n = runs_of(&b->to, col, cols, (int)cols, r);
  for (int64_t i = 0; i < rows; i++)
    b->kd->store(b->to.step[b->to.n - 1], sums + i * b->cols * b->kd->size,
                 (void *)tt__conv_element(c->y, g * c->y_group + (row + i) * c->y_output, c->type),
                 c->bias ? tt__conv_element(c->bias, g * c->bias_group + (row + i) * c->bias_output, c->type) : NULL, r,
                 n);
}

static void tasks(void *ctx, int64_t lo, int64_t hi, int worker) {
  const job *b = ctx;
  for (int64_t at = lo; at < hi; at++) task(b, at, b->room + worker * b->room_size);
}

/* All of w: a piece is a part of a group. */
static void pack_once(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const job *b = ctx;
  int64_t parts = tt_ceil_div(b->depth, b->steps);
  for (int64_t at = lo; at < hi; at++) {
    int64_t s = at % parts * b->steps;
    b->kd->pack_w(b->c, group_of(b, b->c->w, at / parts, b->c->w_group), 0, b->c->outputs, b->tap + s,
                  tt__min64(b->steps, b->depth - s), b->tile->mr, b->once + at * b->once_part);
  }
}

/* ---- the whole */

/* Rectangles that keep the threads busy: as wide as the caches like, else as many as there are threads, or a multiple.
 */
static void cut(job *b, int threads) {
  const int mr = b->tile->mr, nr = b->tile->nr;
  b->rows = tt__round_up(tt__min64(ROWS, b->c->outputs), mr);
  b->down = tt_ceil_div(b->c->outputs, b->rows);
  int64_t across = tt_ceil_div(b->col.all, tt__round_up(COLUMNS, nr));
  int64_t rest = across * b->down * b->c->groups % threads;
  if (rest && across * b->down * b->c->groups < 8 * threads)
    across += tt_ceil_div(threads - rest, b->down * b->c->groups);
  b->cols = tt__round_up(tt_ceil_div(b->col.all, across), nr);
  b->across = tt_ceil_div(b->col.all, b->cols);
  if (b->down * b->across * b->c->groups < threads) { /* few places: more pieces of the outputs */
    b->rows = tt__round_up(tt_ceil_div(b->c->outputs, threads), mr);
    b->down = tt_ceil_div(b->c->outputs, b->rows);
  }
}

/* Where in a row of w the steps of the sum are. */
static void list_taps(const tt_conv *c, int64_t *tap, int64_t depth) {
  summand t = {0};
  for (int64_t s = 0; s < depth; s++, next(c, &t)) {
    tap[s] = t.channel * c->w_channel;
    for (int a = 0; a < TT_CONV_AXES; a++) tap[s] += t.tap[a] * c->w_at[a];
  }
}

static tt_code blocked(const tt_conv *c, tt_error *err) {
  const kind *kd = &kinds[tt__nn_level()][c->type];
  assert(kd->size > 0);
  job b = {.c = c, .kd = kd, .tile = tt__gemm_tile(kd->tile), .col = columns_of(c, false), .to = columns_of(c, true)};
  b.depth = c->channels * c->kernel[0] * c->kernel[1] * c->kernel[2];
  b.steps = tt__min64(STEPS_BYTES / kd->size, b.depth);
  double work = (double)b.depth * (double)c->outputs * (double)b.col.all * (double)c->groups;
  int threads = tt__pool_inside() || work < SERIAL_WORK ? 1 : tt__pool_size();
  cut(&b, threads);
  b.w_size = tt__round_up(b.rows * b.steps * kd->size, 64);
  b.x_size = tt__round_up(b.cols * b.steps * kd->size, 64);
  b.sum_size = tt__round_up(b.rows * b.cols * kd->size, 64);
  b.room_size = b.w_size + b.x_size + b.sum_size + tt__round_up(b.cols * (int64_t)sizeof(run), 64);
  int64_t parts = tt_ceil_div(b.depth, b.steps), taps = tt__round_up(b.depth * (int64_t)sizeof *b.tap, 64);
  b.once_part = tt__round_up(c->outputs, b.tile->mr) * b.steps * kd->size;
  int64_t once = b.across > threads ? tt__round_up(c->groups * parts * b.once_part, 64) : 0;
  if (once > PACKED_ONCE) once = 0;
  size_t size = (size_t)(taps + once + threads * b.room_size);
  char *room = tt__mem_alloc_data(size);
  if (!room) return tt__fail_memory(err, size);
  list_taps(c, (int64_t *)room, b.depth);
  b.tap = (const int64_t *)room;
  b.once = once ? room + taps : NULL;
  b.room = room + taps + once;
  int64_t n = c->groups * b.down * b.across;
  if (threads == 1) {
    if (once) pack_once(&b, 0, c->groups * parts, 0);
    tasks(&b, 0, n, 0);
  } else {
    if (once) tt__pool_run(c->groups * parts, 1, pack_once, &b);
    tt__pool_run_numbered(threads, n, 1, tasks, &b);
  }
  tt__mem_free_data(room, size);
  return TT_OK;
}

static tt_code by_image(const tt_conv *c, tt_error *err) {
  if (c->x_image == 1) return blocked(c, err);
  size_t size =
      (size_t)(c->images * c->groups * c->channels * c->in[0] * c->in[1] * c->in[2]) * tt__dtype_size(c->type);
  char *room = tt__mem_alloc_data(size);
  if (!room) return tt__fail_memory(err, size);
  tt_conv v = tt__convolve_turned(c, room);
  tt_code code = blocked(&v, err);
  tt__mem_free_data(room, size);
  return code;
}

/* Images whose places make two tasks. */
static int64_t images_at_once(const tt_conv *c) {
  return tt__round_up(tt_ceil_div(2 * COLUMNS, c->out[0] * c->out[1] * c->out[2]), SHORT);
}

/*
** Tasks that walk along the images write a place of each: of many images the memory between two places of one would
** have left the caches by then.
*/
tt_code tt__convolve_blocked(const tt_conv *c, tt_error *err) {
  if (!is_by_image(c)) return blocked(c, err);
  tt_conv part = *c;
  for (int64_t n = 0; n < c->images; n += part.images) {
    part.images = tt__min64(images_at_once(c), c->images - n);
    part.x = tt__conv_element(c->x, n * c->x_image, c->type);
    part.y = (void *)tt__conv_element(c->y, n * c->y_image, c->type);
    TT_TRY(by_image(&part, err));
  }
  return TT_OK;
}
