/*
** Sorting, searching, scanning and counting as library rows: along the last axis, contiguous operands.
*/
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "lib/device_rows.h"
#include "lib/rows.h"
#include "lib/scan/host.h"
#include "lib/pick/search_count.h"
#include "lib/pick/search.h"
#include "lib/sort/host.h"

/* The length of the last axis (1 for rank 0) and how many rows of it there are. */
static int64_t last(const tt_operand *a, int64_t *rows) {
  int64_t n = a->rank ? a->len[a->rank - 1] : 1;
  *rows = n ? a->size / n : 0;
  return n;
}

/* i[0]: descending */
static tt_code sort(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  int64_t rows, n = last(src, &rows);
  return tt__sort_rows(src->dtype, src->data, out->data, rows, n, attr->i[0] != 0, err);
}

static tt_code argsort(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  int64_t rows, n = last(src, &rows);
  return tt__argsort_rows(src->dtype, src->data, out->data, rows, n, attr->i[0] != 0, err);
}

static tt_code sort_part(const tt_lib_attr *attr, const tt_lib_part *p, tt_error *err) {
  return tt__sort_rows(p->dtype, p->in, p->sorted, 1, p->n, attr->i[0] != 0, err);
}

static tt_code argsort_part(const tt_lib_attr *attr, const tt_lib_part *p, tt_error *err) {
  size_t size = tt__dtype_size(p->dtype);
  TT_TRY(tt__argsort_rows(p->dtype, p->in, p->places, 1, p->n, attr->i[0] != 0, err));
  for (int64_t i = 0; i < p->n; i++) {
    int64_t at = p->places[i];
    if (p->sorted) memcpy((char *)p->sorted + (size_t)i * size, (const char *)p->in + (size_t)at * size, size);
    p->places[i] = p->first ? p->first[at] : p->base + at;
  }
  return TT_OK;
}

/* i[0]: how many places, i[1] ...: the places */
static tt_code select_places(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  int64_t rows, n = last(src, &rows);
  return tt__select_rows(src->dtype, src->data, out->data, rows, n, attr->i + 1, attr->i[0], err);
}

/* The same of their places. */
static tt_code argselect(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  int64_t rows, n = last(src, &rows);
  return tt__argselect_rows(src->dtype, src->data, out->data, rows, n, attr->i + 1, attr->i[0], err);
}

/* keys x rows x n; the last key counts first */
static tt_code lexsort(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  int64_t keys = src->len[0], rows = src->len[1], n = src->len[2];
  size_t line = (size_t)n * tt__dtype_size(src->dtype);
  tt_code code = TT_OK;
  tt_dtype *type = tt__mem_alloc((size_t)keys * sizeof *type);
  const void **column = tt__mem_alloc((size_t)keys * sizeof *column);
  if (!type || !column) code = tt__fail_memory(err, (size_t)keys * sizeof *column);
  for (int64_t r = 0; r < rows && code == TT_OK; r++) {
    for (int64_t k = 0; k < keys; k++) {
      type[k] = src->dtype;
      column[k] = (const char *)src->data + (size_t)(k * rows + r) * line;
    }
    code = tt__lexsort(type, column, (int)keys, n, (int64_t *)out->data + r * n, err);
  }
  tt__mem_free(column, (size_t)keys * sizeof *column);
  tt__mem_free(type, (size_t)keys * sizeof *type);
  return code;
}

/* i[0]: behind equals */
static tt_code searchsorted(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)err;
  tt__searchsorted(src[0].dtype, src[0].data, src[0].size, src[1].data, src[1].size, attr->i[0] != 0, out->data);
  return TT_OK;
}

/* i[0]: tt_scan, i[1]: the elements along the axis, i[2]: behind it, i[3]: begin with the neutral value */
static tt_code scan(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  int64_t n = attr->i[1], inner = attr->i[2], outer = n && inner ? src->size / n / inner : 0;
  if (n == 0 && attr->i[3] && inner) outer = out->size / inner;
  return tt__scan_rows((tt_scan)attr->i[0], src->dtype, src->data, out->data, outer, n, inner, attr->i[3] != 0, err);
}

/* f[0], f[1]: the ends, i[0]: the bits of their distance; sources: elements, edges, (weights) */
static tt_code histogram_uniform(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  double first = attr->f[0], end = attr->f[1], span;
  const double *weight = attr->row->nsrc == 3 ? src[2].data : NULL;
  memcpy(&span, attr->i, sizeof span);
  return tt__histogram_uniform(src[0].dtype, src[0].data, src[0].size, weight, first, end, span, src[1].data,
                               src[1].size - 1, out->data, err);
}

static tt_code histogram_edges(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const double *weight = attr->row->nsrc == 3 ? src[2].data : NULL;
  return tt__histogram_edges(src[0].dtype, src[0].data, src[0].size, weight, src[1].data, src[1].size - 1, out->data,
                             err);
}

/* Sorting is no arithmetic; this is what costs as much. Measured with 1e6 and 2e7 float32 on 16 cores. */
static tt_lib_work sort_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)attr, (void)wanted;
  double n = 1;
  for (int d = 0; d < src[0].rank; d++) n *= (double)src[0].len[d];
  return (tt_lib_work){.flops = n > 1 ? 60 * n * log2(n) : 60};
}

static const tt_lib_cost sort_cost = {.work = sort_work, .host_share = 1, .device_share = 1, .no_arithmetic = true};

const tt_lib_row tt__rows_sort[] = {
    {.name = "sort",
     .nsrc = 1,
     .nout = 1,
     .run = sort,
     .cost = &sort_cost,
     .run_on = tt__device_sort,
     .cut = TT_CUT_SORT,
     .part = sort_part,
     .part_on = tt__device_sort_part},
    {.name = "argsort",
     .nsrc = 1,
     .nout = 1,
     .run = argsort,
     .cost = &sort_cost,
     .run_on = tt__device_argsort,
     .cut = TT_CUT_SORT,
     .part = argsort_part,
     .part_on = tt__device_argsort_part},
    {.name = "select", .nsrc = 1, .nout = 1, .run = select_places, .cost = &sort_cost, .run_on = tt__device_select},
    {.name = "argselect", .nsrc = 1, .nout = 1, .run = argselect, .cost = &sort_cost, .run_on = tt__device_argselect},
    {.name = "lexsort", .nsrc = 1, .nout = 1, .run = lexsort, .cost = &sort_cost, .run_on = tt__device_lexsort},
    {.name = "searchsorted", .nsrc = 2, .nout = 1, .run = searchsorted, .run_on = tt__device_searchsorted},
    {.name = "scan", .nsrc = 1, .nout = 1, .run = scan, .run_on = tt__device_scan},
    {.name = "histogram_uniform",
     .nsrc = 2,
     .nout = 1,
     .run = histogram_uniform,
     .run_on = tt__device_histogram_uniform},
    {.name = "histogram_uniform_weighted",
     .nsrc = 3,
     .nout = 1,
     .run = histogram_uniform,
     .run_on = tt__device_histogram_uniform},
    {.name = "histogram_edges", .nsrc = 2, .nout = 1, .run = histogram_edges, .run_on = tt__device_histogram_edges},
    {.name = "histogram_edges_weighted",
     .nsrc = 3,
     .nout = 1,
     .run = histogram_edges,
     .run_on = tt__device_histogram_edges},
    {.name = NULL},
};
