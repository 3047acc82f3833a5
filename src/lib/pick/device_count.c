/*
** Searching and counting on a device (count.text.h). Counts are exact in any order. Weights are added up in the order
** of the host, so that the sums have its bits: elements are sorted by bin, and one thread adds up those of a bin and a
** block of the host.
*/
#include <stdint.h>
#include <string.h>

#include "lib/device_call.h"
#include "lib/device_rows.h"
#include "lib/sort/device.h"

enum { THREADS = 512, ROOM = 11264, MOST_COPIES = 32 };
enum { BLOCK = 65536, WEIGHTED_BINS = 16384 }; /* of lib/pick/search_count.c */

/* As count.text.h has it. */
typedef struct count_args {
  const void *in, *edge;
  void *out;
  const void *query;
  const int64_t *place;
  const double *weight;
  double *part;
  int64_t *next;
  uint32_t *number;
  int64_t n, bins, min, m;
  double first, last, denom;
  int32_t right, copies;
} count_args;

static tt_code launch(tt_device_text *d, const char *name, int64_t blocks, const count_args *a, tt_error *err) {
  return tt__device_launch(d, name, blocks, THREADS, a, sizeof *a, err);
}

static tt_code walk(tt_device_text *d, const char *name, int64_t n, const count_args *a, tt_error *err) {
  return launch(d, name, tt__device_blocks(d->on, n, THREADS), a, err);
}

static void define(tt_device_text *d, tt_dtype t) {
  tt__device_define_type(d, t);
  if (t == TT_F16 || t == TT_BF16)
    tt__device_define(d, "INF", "0x%x", t == TT_F16 ? 0x7c00 : 0x7f80);
  else if (tt__is_complex(t))
    tt__device_define(d, "COMPLEX", "%s", t == TT_C64 ? "tt_f32" : "tt_f64");
  else if (tt__is_float(t))
    tt__device_define(d, "FLOAT", "1");
}

static tt_code give_up(tt_error *err) { return tt__fail(err, TT_ENOTIMPL, "not on this device"); }

/* ---- counts, and sums of weights */

static tt_code count(tt_device_text *d, count_args *a, tt_error *err) {
  TT_TRY(tt__device_fill(d->on, a->out, 0, (size_t)a->bins * sizeof(int64_t), err));
  if (a->bins > ROOM) return walk(d, "count_many", a->n, a, err);
  a->copies = 1;
  while (a->copies < MOST_COPIES && a->bins * a->copies * 2 <= ROOM) a->copies *= 2;
  int64_t blocks = tt_ceil_div(a->n, 8 * THREADS), most = 4 * (int64_t)d->on->device->target.units;
  return launch(d, "count_few", blocks < most ? blocks : most, a, err);
}

/* a->weight: of the elements as they are. */
static tt_code sum(tt_device_text *d, count_args *a, tt_error *err) {
  const tt_lib_device *on = d->on;
  size_t n = (size_t)a->n;
  uint32_t *sorted;
  int64_t *place;
  double *weight;
  if (a->n == 0) return tt__device_fill(on, a->out, 0, (size_t)a->bins * sizeof(double), err);
  TT_TRY(on->temp(on, n * sizeof *a->number, (void **)&a->number, err));
  TT_TRY(on->temp(on, n * sizeof *sorted, (void **)&sorted, err));
  TT_TRY(on->temp(on, n * sizeof *place, (void **)&place, err));
  TT_TRY(on->temp(on, n * sizeof *weight, (void **)&weight, err));
  TT_TRY(on->temp(on, n * sizeof *a->part, (void **)&a->part, err));
  TT_TRY(on->temp(on, n * sizeof *a->next, (void **)&a->next, err));
  TT_TRY(walk(d, "count_numbers", a->n, a, err));
  TT_TRY(tt__device_argsort_rows(on, TT_U32, a->number, NULL, place, sorted, 1, a->n, false, err));
  TT_TRY(tt__device_gather(on, TT_F64, a->weight, place, weight, 1, a->n, err));
  a->number = sorted;
  a->place = place;
  a->weight = weight;
  a->m = a->bins <= WEIGHTED_BINS ? BLOCK : 0;
  TT_TRY(walk(d, "sum_segments", a->n, a, err));
  return launch(d, "sum_bins", tt_ceil_div(a->bins, THREADS), a, err);
}

static tt_code run(tt_device_text *d, count_args *a, tt_error *err) {
  tt_code c;
  if (!a->weight)
    c = count(d, a, err);
  else if (a->n < UINT32_MAX && a->bins < UINT32_MAX)
    c = sum(d, a, err);
  else
    c = give_up(err);
  tt__device_done(d);
  return c;
}

/* ---- integers */

/* The least and the greatest of n > 0 integers. Waits. */
static tt_code find_range(tt_device_text *d, count_args *a, bool is_unsigned, int64_t *min, int64_t *max,
                          tt_error *err) {
  const tt_lib_device *on = d->on;
  uint64_t range[2], bias = is_unsigned ? 0 : (uint64_t)1 << 63;
  TT_TRY(on->temp(on, sizeof range, &a->out, err));
  TT_TRY(tt__device_fill(on, a->out, 0xff, sizeof *range, err));
  TT_TRY(tt__device_fill(on, (uint64_t *)a->out + 1, 0, sizeof *range, err));
  TT_TRY(walk(d, "count_range", a->n, a, err));
  TT_TRY(on->read(on, range, a->out, sizeof range, err));
  *min = (int64_t)(range[0] ^ bias);
  *max = (int64_t)(range[1] ^ bias);
  return TT_OK;
}

static tt_code bincount(const tt_lib_device *on, const tt_operand *src, const double *weight, int64_t least,
                        tt_made *out, tt_error *err) {
  tt_dtype t = src->dtype;
  int64_t min = 0, max = -1;
  bool is_unsigned = tt__is_unsigned(t) || t == TT_BOOL;
  if (!tt__device_words(on)) return TT_ENOTIMPL;
  *out = (tt_made){.dtype = weight ? TT_F64 : TT_I64};
  tt_device_text d = {.on = on, .text = tt__text_count, .pointers = 9};
  define(&d, t);
  tt__device_define(&d, "INTEGERS", "1");
  tt__device_define(&d, "BIAS", "TT_U64(0x%s)", is_unsigned ? "0" : "8000000000000000");
  count_args a = {.in = src->data, .n = src->size, .weight = weight};
  tt_code c = a.n ? find_range(&d, &a, is_unsigned, &min, &max, err) : TT_OK;
  if (c == TT_OK && (min < 0 || (a.n && max < 0) || max >= UINT32_MAX)) c = give_up(err); /* the host says why */
  a.bins = max + 1 > least ? max + 1 : least;
  if (c == TT_OK && a.bins) c = on->result(on, (size_t)a.bins * sizeof(int64_t), &a.out, err);
  if (c == TT_OK && a.bins) {
    out->n = a.bins;
    out->data = a.out;
    return run(&d, &a, err);
  }
  tt__device_done(&d);
  return c;
}

tt_code tt__device_bincount(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                            tt_error *err) {
  return bincount(on, src, NULL, attr->i[0], out, err);
}

tt_code tt__device_bincount_weighted(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                     tt_made *out, tt_error *err) {
  return bincount(on, src, src[1].data, attr->i[0], out, err);
}

/* ---- histograms */

tt_code tt__device_histogram_uniform(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                     const tt_block *out, tt_error *err) {
  tt_dtype t = src->dtype;
  count_args a = {.in = src->data, .edge = src[1].data, .n = src->size, .bins = src[1].size - 1, .out = out->data};
  if (!tt__device_words(on) || tt__is_complex(t) || t == TT_F16 || t == TT_BF16 || a.bins <= 0) return give_up(err);
  a.first = attr->f[0];
  a.last = attr->f[1];
  memcpy(&a.denom, attr->i, sizeof a.denom);
  if (attr->row->nsrc == 3) a.weight = src[2].data;
  tt_device_text d = {.on = on, .text = tt__text_count, .pointers = 9};
  define(&d, t);
  tt__device_define(&d, "UNIFORM", "1");
  tt__device_define(&d, "EDGE", "%s", t == TT_F32 ? "tt_f32" : "tt_f64");
  return run(&d, &a, err);
}

tt_code tt__device_histogram_edges(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                   const tt_block *out, tt_error *err) {
  count_args a = {.in = src->data, .edge = src[1].data, .n = src->size, .bins = src[1].size - 1, .out = out->data};
  if (!tt__device_words(on)) return give_up(err);
  if (a.bins <= 0) return TT_OK;
  if (attr->row->nsrc == 3) a.weight = src[2].data;
  tt_device_text d = {.on = on, .text = tt__text_count, .pointers = 9};
  define(&d, src->dtype);
  tt__device_define(&d, "EDGES", "1");
  return run(&d, &a, err);
}

/* ---- searching */

tt_code tt__device_searchsorted(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                const tt_block *out, tt_error *err) {
  count_args a = {.in = src[0].data, .n = src[0].size, .query = src[1].data, .m = src[1].size, .out = out->data};
  if (!tt__device_words(on)) return give_up(err);
  a.right = attr->i[0] != 0;
  tt_device_text d = {.on = on, .text = tt__text_count, .pointers = 9};
  define(&d, src->dtype);
  tt_code c = walk(&d, "search_sorted", a.m, &a, err);
  tt__device_done(&d);
  return c;
}

/* ---- reductions of complex rows */

tt_code tt__device_reduce_complex(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src,
                                  const tt_block *out, tt_error *err) {
  tt_red red = (tt_red)attr->i[0];
  struct {
    const void *in;
    void *out;
    int64_t rows, n;
  } a = {src->data, out->data, src->len[0], src->len[1]};
  if (!tt__device_words(on)) return give_up(err);
  tt_device_text d = {.on = on, .text = tt__text_reduce, .pointers = 2};
  tt__device_define_type(&d, src->dtype);
  tt__device_define(&d, "COMPLEX", "%s", src->dtype == TT_C64 ? "tt_f32" : "tt_f64");
  tt__device_define(&d, "LARGEST", "%d", red == TT_RED_MAX || red == TT_RED_ARGMAX);
  if (red == TT_RED_PROD) tt__device_define(&d, "TIMES", "1");
  if (red == TT_RED_ARGMAX || red == TT_RED_ARGMIN) tt__device_define(&d, "INDEX", "1");
  tt_code c = tt__device_launch(&d, "reduce_rows", a.rows, 256, &a, sizeof a, err);
  tt__device_done(&d);
  return c;
}
