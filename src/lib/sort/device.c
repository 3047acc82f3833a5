/*
** Sorting on a device (sort.text.h): which kernels, and the memory they share.
*/
#include "lib/sort/device.h"

#include "lib/device_call.h"
#include "lib/device_rows.h"
#include "lib/sort/sort_int.h"

enum { PLAN_THREADS = 256, GATHER_THREADS = 256, MOST_DIGITS = 17, BLOCK_ROWS = 255, ROOM = 45056 };

/* As sort.text.h has it. */
typedef struct sort_args {
  const void *in;
  void *to[2];
  void *place[2];
  const int64_t *first;
  int64_t *out;
  void *sorted;
  void *count, *vary, *ticket, *look[2];
  int64_t rows, n, tiles;
  int32_t digit, per_block;
} sort_args;

typedef struct sort_job {
  tt_device_text text;
  tt_dtype t;
  bool places, wide;
  int size, digits, items, tile;
  int threads, count_threads; /* of sort_pass or sort_block, and sort_count */
} sort_job;

static int digits_of(tt_dtype t) { return (int)tt__dtype_size(t) + tt__is_complex(t); }

static int threads_of(const tt_device_shape *shape, bool places) {
  return places ? shape->place_threads : shape->sort_threads;
}

/* Elements of a thread of sort_pass: what shared memory and registers hold. */
static int items_of(const tt_device_shape *shape, int size, bool places) {
  int items = ROOM / (threads_of(shape, places) * size);
  int most = places ? shape->place_items : shape->sort_items;
  if (places && size > 4) most /= 2;
  return items < most ? items : most;
}

static int block_items(int size, int threads) { return (size <= 8 ? 4096 : 2048) / threads; }

static void define(sort_job *j, bool descending, bool block) {
  tt_device_text *d = &j->text;
  tt_dtype part = tt__real_of(j->t);
  tt_key_rule r = tt__key_rule(part, descending, true);
  d->text = tt__text_sort;
  tt__device_define(d, "T", "tt_u%d", r.width * 8);
  tt__device_define(d, "SIZE", "%d", j->size);
  if (tt__is_complex(j->t)) tt__device_define(d, "COMPLEX", "1");
  if (r.inf)
    tt__device_define(d, "INF", "TT_U64(0x%llx)", (unsigned long long)r.inf);
  else
    tt__device_define(d, "SIGN", "TT_U64(0x%llx)", (unsigned long long)r.sign);
  tt__device_define(d, "FLIP", "TT_U64(0x%llx)", (unsigned long long)r.flip);
  tt__device_define(d, "DIGITS", "%d", j->digits);
  tt__device_define(d, "THREADS", "%d", j->threads);
  tt__device_define(d, "COUNT_THREADS", "%d", j->count_threads);
  tt__device_define(d, "ITEMS", "%d", j->items);
  tt__device_define(d, "PLACES", "%d", j->places);
  int resident = j->size > 8 ? 512 : 768;
  tt__device_define(d, "RESIDENT", "%d", block ? (j->size > 4 ? 2 : 3) : (resident + j->threads / 2) / j->threads);
  if (j->wide) tt__device_define(d, "WIDE", "1");
  if (block) {
    tt__device_define(d, "BLOCK", "1");
    return;
  }
  int copies = j->count_threads > 1 ? 8 : 1;
  while (copies > 1 && j->digits * 256 * 4 * copies > 32768) copies /= 2;
  tt__device_define(d, "COPIES", "%d", copies);
}

static tt_code launch(sort_job *j, const char *name, int64_t blocks, int threads, const sort_args *a, tt_error *err) {
  return tt__device_launch(&j->text, name, blocks, threads, a, sizeof *a, err);
}

/* A piece of `size` bytes of a block being laid out. */
static size_t piece(size_t *at, size_t size) {
  size_t was = *at;
  *at += (size + 255) / 256 * 256;
  return was;
}

/* Memory for keys and places on their way. What the last pass writes lends its room to the pass before the last. */
static tt_code make_room(sort_job *j, sort_args *a, tt_error *err) {
  const tt_lib_device *on = j->text.on;
  size_t all = (size_t)(a->rows * a->n), keys = all * (size_t)j->size, at = 0, zero;
  size_t word = j->wide ? sizeof(uint64_t) : sizeof(uint32_t), look = (size_t)(a->rows * a->tiles) * 256 * word;
  size_t vary = piece(&at, MOST_DIGITS * sizeof(uint32_t)), ticket = piece(&at, MOST_DIGITS * sizeof(uint32_t));
  size_t count = piece(&at, (size_t)(a->rows * j->digits) * 256 * word), look0 = piece(&at, look);
  zero = at;
  size_t look1 = piece(&at, look), to1 = piece(&at, keys), to0 = 0, place1 = 0;
  bool lend = j->places && j->size <= 4;
  if (j->places) place1 = piece(&at, all * sizeof(uint32_t));
  if (j->places && !lend) to0 = piece(&at, keys);
  char *m;
  TT_TRY(on->temp(on, at, (void **)&m, err));
  TT_TRY(tt__device_fill(on, m, 0, zero, err));
  a->vary = m + vary;
  a->ticket = m + ticket;
  a->count = m + count;
  a->look[0] = m + look0;
  a->look[1] = m + look1;
  a->to[1] = m + to1;
  if (j->places) {
    a->place[0] = a->out;
    a->place[1] = m + place1;
    a->to[0] = lend ? (char *)a->out + all * sizeof(uint32_t) : m + to0;
  }
  return TT_OK;
}

static tt_code sort_long(sort_job *j, sort_args *a, tt_error *err) {
  int64_t blocks, parts = tt_ceil_div(6 * (int64_t)j->text.on->device->target.units, a->rows);
  int64_t most = tt_ceil_div(a->n, 2048), tiles = tt_ceil_div(a->n, j->tile);
  if (__builtin_mul_overflow(a->rows, tiles, &blocks) || blocks > INT32_MAX || a->rows > INT32_MAX / MOST_DIGITS)
    return tt__fail(err, TT_ENOTIMPL, "sort: too many tiles");
  a->tiles = tiles;
  TT_TRY(make_room(j, a, err));
  a->tiles = parts < most ? parts : most;
  TT_TRY(launch(j, "sort_count", a->rows * a->tiles, j->count_threads, a, err));
  TT_TRY(launch(j, "sort_plan", a->rows * j->digits, PLAN_THREADS, a, err));
  a->tiles = tiles;
  for (a->digit = 0; a->digit < j->digits; a->digit++) TT_TRY(launch(j, "sort_pass", blocks, j->threads, a, err));
  return TT_OK;
}

static tt_code sort_short(sort_job *j, sort_args *a, tt_error *err) {
  int64_t per = tt_ceil_div(a->rows, 4 * (int64_t)j->text.on->device->target.units), most = j->tile / a->n;
  if (most > BLOCK_ROWS) most = BLOCK_ROWS;
  a->per_block = (int32_t)(per < most ? per : most);
  return launch(j, "sort_block", tt_ceil_div(a->rows, a->per_block), j->threads, a, err);
}

static tt_code sort_rows(const tt_lib_device *on, tt_dtype t, bool places, bool descending, sort_args *a,
                         tt_error *err) {
  int size = (int)tt__dtype_size(t);
  if (!tt__device_has_tiles(on) || a->n >= UINT32_MAX) return tt__fail(err, TT_ENOTIMPL, "sort: not on this device");
  if (a->rows == 0 || a->n == 0) return TT_OK;
  const tt_device_shape *shape = tt__device_shape_of(on);
  sort_job j = {.text = {.on = on, .pointers = 13}, .t = t, .places = places, .size = size, .digits = digits_of(t)};
  int block_threads = on->device->target.serial ? 1 : 256;
  bool block = a->n <= block_threads * block_items(size, block_threads);
  j.threads = block ? block_threads : threads_of(shape, places);
  j.count_threads = block_threads;
  j.wide = a->n >= (int64_t)1 << 30;
  j.items = block ? block_items(size, block_threads) : items_of(shape, size, places);
  j.tile = j.items * j.threads;
  define(&j, descending, block);
  tt_code c = block ? sort_short(&j, a, err) : sort_long(&j, a, err);
  tt__device_done(&j.text);
  return c;
}

tt_code tt__device_sort_rows(const tt_lib_device *on, tt_dtype t, const void *in, void *out, int64_t rows, int64_t n,
                             bool descending, tt_error *err) {
  sort_args a = {.in = in, .to = {out, NULL}, .rows = rows, .n = n};
  return sort_rows(on, t, false, descending, &a, err);
}

tt_code tt__device_argsort_rows(const tt_lib_device *on, tt_dtype t, const void *in, const int64_t *first, int64_t *out,
                                void *sorted, int64_t rows, int64_t n, bool descending, tt_error *err) {
  sort_args a = {.in = in, .first = first, .out = out, .sorted = sorted, .rows = rows, .n = n};
  return sort_rows(on, t, true, descending, &a, err);
}

tt_code tt__device_gather(const tt_lib_device *on, tt_dtype t, const void *in, const int64_t *place, void *out,
                          int64_t rows, int64_t n, tt_error *err) {
  struct { /* as gather.text.h has it */
    const void *in;
    void *to;
    const int64_t *place;
    int64_t rows, n;
  } a = {in, out, place, rows, n};
  tt_device_text d = {.on = on, .text = tt__text_gather, .pointers = 3};
  tt__device_define_type(&d, t);
  tt_code c = tt__device_launch(&d, "gather", tt__device_blocks(on, rows * n, GATHER_THREADS), GATHER_THREADS, &a,
                                sizeof a, err);
  tt__device_done(&d);
  return c;
}

/* ---- rows */

/* The length of the last axis (1 for rank 0) and how many rows of it there are. */
static int64_t last(const tt_operand *a, int64_t *rows) {
  int64_t n = a->rank ? a->len[a->rank - 1] : 1;
  *rows = n ? a->size / n : 0;
  return n;
}

tt_code tt__device_sort(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                        tt_error *err) {
  int64_t rows, n = last(src, &rows);
  return tt__device_sort_rows(on, src->dtype, src->data, out->data, rows, n, attr->i[0] != 0, err);
}

tt_code tt__device_argsort(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                           tt_error *err) {
  int64_t rows, n = last(src, &rows);
  return tt__device_argsort_rows(on, src->dtype, src->data, NULL, out->data, NULL, rows, n, attr->i[0] != 0, err);
}

tt_code tt__device_sort_part(const tt_lib_device *on, const tt_lib_attr *attr, const tt_lib_part *p, tt_error *err) {
  return tt__device_sort_rows(on, p->dtype, p->in, p->sorted, 1, p->n, attr->i[0] != 0, err);
}

/* Places begin with `base`. */
static tt_code shift(const tt_lib_device *on, int64_t *place, int64_t base, int64_t n, tt_error *err) {
  struct { /* as gather.text.h has it */
    int64_t *place, base, n;
  } a = {place, base, n};
  tt_device_text d = {.on = on, .text = tt__text_gather, .pointers = 1};
  tt__device_define(&d, "SHIFT", "1");
  tt_code c =
      tt__device_launch(&d, "shift", tt__device_blocks(on, n, GATHER_THREADS), GATHER_THREADS, &a, sizeof a, err);
  tt__device_done(&d);
  return c;
}

tt_code tt__device_argsort_part(const tt_lib_device *on, const tt_lib_attr *attr, const tt_lib_part *p, tt_error *err) {
  TT_TRY(tt__device_argsort_rows(on, p->dtype, p->in, p->first, p->places, p->sorted, 1, p->n, attr->i[0] != 0, err));
  return p->first || !p->base ? TT_OK : shift(on, p->places, p->base, p->n, err);
}

/* A sorted row has every place right. */
tt_code tt__device_select(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                          tt_error *err) {
  int64_t rows, n = last(src, &rows);
  (void)attr;
  return tt__device_sort_rows(on, src->dtype, src->data, out->data, rows, n, false, err);
}

tt_code tt__device_argselect(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                             const tt_block *out, tt_error *err) {
  int64_t rows, n = last(src, &rows);
  (void)attr;
  return tt__device_argsort_rows(on, src->dtype, src->data, NULL, out->data, NULL, rows, n, false, err);
}

tt_code tt__device_lexsort(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                           tt_error *err) {
  int64_t keys = src->len[0], rows = src->len[1], n = src->len[2];
  size_t size = (size_t)(rows * n) * tt__dtype_size(src->dtype);
  void *column = NULL, *spare = NULL;
  (void)attr;
  if (keys == 0 || out->size == 0 || n >= UINT32_MAX || !tt__device_has_tiles(on)) return TT_ENOTIMPL;
  if (keys > 1) TT_TRY(on->temp(on, size, &column, err));
  if (keys > 1) TT_TRY(on->temp(on, (size_t)out->size * sizeof(int64_t), &spare, err));
  const int64_t *have = NULL;
  for (int64_t k = 0; k < keys; k++) { /* the places go from one array to the other, in the end to `out` */
    const char *from = (const char *)src->data + (size_t)k * size;
    int64_t *to = (keys - 1 - k) % 2 ? spare : out->data;
    if (have) TT_TRY(tt__device_gather(on, src->dtype, from, have, column, rows, n, err));
    TT_TRY(tt__device_argsort_rows(on, src->dtype, have ? column : from, have, to, NULL, rows, n, false, err));
    have = to;
  }
  return TT_OK;
}
