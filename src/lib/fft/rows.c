/*
** Fourier transforms as library rows: "fft" over a set of axes, "rfft" and "irfft" over the last one.
*/
#include "lib/fft/device.h"
#include "lib/fft/host.h"
#include "lib/fft/plan.h"
#include "lib/rows.h"

/* attr.i: a set of axes, backward; attr.f: the factor of the result. The last axis comes first, from the operand to the
** result; the others in place. */
static tt_code fft(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  const void *from = src->data;
  double scale = attr->f[0];
  int64_t inner = 1;
  for (int d = src->rank - 1; d >= 0; inner *= src->len[d--]) {
    if (!(attr->i[0] >> d & 1)) continue;
    int64_t n = src->len[d], outer = 1;
    for (int e = 0; e < d; e++) outer *= src->len[e];
    TT_TRY(tt__fft_complex(src->dtype, outer, n, inner, attr->i[1] != 0, scale, from, out->data, err));
    from = out->data;
    scale = 1;
  }
  return TT_OK;
}

static int64_t rows_of(const tt_operand *a) {
  int64_t n = 1;
  for (int d = 0; d < a->rank - 1; d++) n *= a->len[d];
  return n;
}

/* attr.i: points, backward, whether the whole spectrum is wanted */
static tt_code rfft(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  return tt__fft_from_real(out->dtype, rows_of(src), attr->i[0], attr->i[1] != 0, attr->i[2] != 0, attr->f[0],
                           src->data, out->data, err);
}

/* attr.i: points */
static tt_code irfft(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  return tt__fft_to_real(src->dtype, rows_of(src), attr->i[0], attr->f[0], src->data, out->data, err);
}

/* ---- what they cost. Shares: 2^12 to 2^23 points, 1000 rows of 1024; 2 and 16 threads, an H200. */

static tt_lib_work fft_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)wanted;
  double flops = 0, size = 1;
  for (int d = 0; d < src->rank; d++) size *= (double)src->len[d];
  for (int d = 0; d < src->rank; d++)
    if (attr->i[0] >> d & 1 && src->len[d]) flops += size / (double)src->len[d] * tt__fft_flops(src->len[d]);
  return (tt_lib_work){.flops = flops};
}

/* Half of what as many complex points take, but for lengths that go by way of a convolution. */
static tt_lib_work real_work(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted) {
  (void)wanted;
  int64_t n = attr->i[0];
  return (tt_lib_work){.flops = (double)rows_of(src) * (n % 2 ? tt__fft_flops(n) : 2 * tt__fft_flops(n / 2))};
}

static const tt_lib_cost fft_cost = {.work = fft_work, .host_share = 0.45, .device_share = 0.2};
static const tt_lib_cost real_cost = {.work = real_work, .host_share = 0.45, .device_share = 0.2};

const tt_lib_row tt__rows_fft[] = {
    {.name = "fft", .nsrc = 1, .nout = 1, .run = fft, .cost = &fft_cost, .run_on = tt__fft_on},
    {.name = "rfft", .nsrc = 1, .nout = 1, .run = rfft, .cost = &real_cost, .run_on = tt__rfft_on},
    {.name = "irfft", .nsrc = 1, .nout = 1, .run = irfft, .cost = &real_cost, .run_on = tt__irfft_on},
    {.name = NULL},
};
