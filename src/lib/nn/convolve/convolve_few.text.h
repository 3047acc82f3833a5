/*
** Convolutions with so few outputs and channels a group that tiles of a product would stay empty. Specialised by
**   T   an element in memory      S   what is summed     LOAD(x), STORE(x)   one to the other
**   FMA(a, b, c)   a * b + c in S         INDEX   an integer that counts all elements and steps over them
**   KERNEL_d, STRIDE_d, DILATION_d   along axis d, as far as a text names them
**   RUN    (LONG not defined) places of a thread, side by side      SPAN   elements that they see of a row
**   LONG   few places, each a long sum: OUT_d are the places along axis d
*/
#define AXES 3
#define THREADS 128

typedef struct convolve_few_args {
  const TT_GLOBAL T *x, *w, *bias;
  TT_GLOBAL T *y;
  TT_GLOBAL S *terms; /* (LONG) of each part, group, output and place */
  tt_i64 x_image, x_group, x_channel, x_at[AXES];
  tt_i64 w_group, w_output, w_channel, w_at[AXES];
  tt_i64 bias_group, bias_output;
  tt_i64 y_image, y_group, y_output, y_at[AXES];
  tt_i64 count, depth, part; /* threads' shares; terms of a sum, and of a part of it */
  tt_i32 images, groups, outputs, channels;
  tt_i32 in[AXES], kernel[AXES], out[AXES], pad[AXES];
} convolve_few_args;

#ifndef LONG

/* Taps of a row of the window, for all places of a thread. */
TT_FN void add_row(const convolve_few_args *a, const TT_GLOBAL T *x, const TT_GLOBAL T *w, tt_i32 at, S *sum) {
#if SPAN
  S seen[SPAN];
  TT_UNROLLED
  for (int i = 0; i < SPAN; i++) {
    seen[i] = 0;
    if ((tt_u32)(at + i) < (tt_u32)a->in[2]) {
      T v = x[(at + i) * (INDEX)a->x_at[2]];
      seen[i] = LOAD(v);
    }
  }
#endif
  TT_UNROLLED
  for (int t = 0; t < KERNEL_2; t++) {
    T v = w[t * (INDEX)a->w_at[2]];
    S by = LOAD(v);
    TT_UNROLLED
    for (int r = 0; r < RUN; r++) {
#if SPAN
      sum[r] = FMA(seen[r * STRIDE_2 + t * DILATION_2], by, sum[r]);
#else
      tt_i32 i = at + r * STRIDE_2 + t * DILATION_2;
      if ((tt_u32)i < (tt_u32)a->in[2]) {
        T e = x[i * (INDEX)a->x_at[2]];
        S s = LOAD(e);
        sum[r] = FMA(s, by, sum[r]);
      }
#endif
    }
  }
}

/* All taps of a channel. */
TT_FN void add_channel(const convolve_few_args *a, const TT_GLOBAL T *x, const TT_GLOBAL T *w, const tt_i32 *at,
                       S *sum) {
  TT_UNROLLED
  for (int t0 = 0; t0 < KERNEL_0; t0++) {
    tt_i32 i0 = at[0] + t0 * DILATION_0;
    if ((tt_u32)i0 >= (tt_u32)a->in[0]) continue;
    TT_UNROLLED
    for (int t1 = 0; t1 < KERNEL_1; t1++) {
      tt_i32 i1 = at[1] + t1 * DILATION_1;
      if ((tt_u32)i1 >= (tt_u32)a->in[1]) continue;
      add_row(a, x + i0 * (INDEX)a->x_at[0] + i1 * (INDEX)a->x_at[1],
              w + t0 * (INDEX)a->w_at[0] + t1 * (INDEX)a->w_at[1], at[2], sum);
    }
  }
}

TT_KERNEL(convolve_few, convolve_few_args, THREADS) {
  const INDEX at = (INDEX)TT_BLOCK * THREADS + (INDEX)TT_THREAD;
  const tt_i32 runs = (a.out[2] + RUN - 1) / RUN;
  if (at >= (INDEX)a.count) return;
  INDEX rest = at;
  const tt_i32 p2 = (tt_i32)(rest % runs) * RUN;
  rest /= runs;
  const tt_i32 p1 = (tt_i32)(rest % a.out[1]);
  rest /= a.out[1];
  const tt_i32 p0 = (tt_i32)(rest % a.out[0]);
  rest /= a.out[0];
  const tt_i32 output = (tt_i32)(rest % a.outputs);
  rest /= a.outputs;
  const tt_i32 group = (tt_i32)(rest % a.groups);
  const INDEX image = rest / a.groups;
  const tt_i32 from[AXES] = {p0 * STRIDE_0 - a.pad[0], p1 * STRIDE_1 - a.pad[1], p2 * STRIDE_2 - a.pad[2]};
  const TT_GLOBAL T *x = a.x + image * (INDEX)a.x_image + group * (INDEX)a.x_group;
  const TT_GLOBAL T *w = a.w + group * (INDEX)a.w_group + output * (INDEX)a.w_output;
  S sum[RUN], bias = 0;
  TT_UNROLLED
  for (int r = 0; r < RUN; r++) sum[r] = 0;
  TT_ROLLED
  for (tt_i32 c = 0; c < a.channels; c++, x += a.x_channel, w += a.w_channel) add_channel(&a, x, w, from, sum);
  if (a.bias) {
    T b = a.bias[group * a.bias_group + output * a.bias_output];
    bias = LOAD(b);
  }
  TT_GLOBAL T *y = a.y + image * (INDEX)a.y_image + group * (INDEX)a.y_group + output * (INDEX)a.y_output +
                   p0 * (INDEX)a.y_at[0] + p1 * (INDEX)a.y_at[1] + p2 * (INDEX)a.y_at[2];
  TT_UNROLLED
  for (int r = 0; r < RUN; r++)
    if (p2 + r < a.out[2]) y[r * (INDEX)a.y_at[2]] = STORE(sum[r] + bias);
}

#else /* LONG */

#define PLACES (OUT_0 * OUT_1 * OUT_2)

/* Of all places of an image a term of their sums. */
TT_FN void add_term(const convolve_few_args *a, const TT_GLOBAL T *x, const TT_GLOBAL T *w, INDEX k, S *sum) {
  tt_i32 tap[AXES];
  TT_UNROLLED
  for (int d = AXES - 1; d >= 0; d--) {
    tap[d] = (tt_i32)(k % a->kernel[d]);
    k /= a->kernel[d];
  }
  T v =
      w[k * (INDEX)a->w_channel + tap[0] * (INDEX)a->w_at[0] + tap[1] * (INDEX)a->w_at[1] + tap[2] * (INDEX)a->w_at[2]];
  const S by = LOAD(v);
  x += k * (INDEX)a->x_channel;
  TT_UNROLLED
  for (int p = 0; p < PLACES; p++) {
    const tt_i32 i0 = p / (OUT_1 * OUT_2) * STRIDE_0 + tap[0] * DILATION_0 - a->pad[0];
    const tt_i32 i1 = p / OUT_2 % OUT_1 * STRIDE_1 + tap[1] * DILATION_1 - a->pad[1];
    const tt_i32 i2 = p % OUT_2 * STRIDE_2 + tap[2] * DILATION_2 - a->pad[2];
    if ((tt_u32)i0 < (tt_u32)a->in[0] && (tt_u32)i1 < (tt_u32)a->in[1] && (tt_u32)i2 < (tt_u32)a->in[2]) {
      T e = x[i0 * (INDEX)a->x_at[0] + i1 * (INDEX)a->x_at[1] + i2 * (INDEX)a->x_at[2]];
      S s = LOAD(e);
      sum[p] = FMA(s, by, sum[p]);
    }
  }
}

/* A block has a part of the sums of an output, for all places of an image. */
TT_KERNEL(convolve_long, convolve_few_args, THREADS) {
  TT_SHARED S sums[THREADS];
  tt_u32 rest = TT_BLOCK;
  const tt_i32 output = (tt_i32)(rest % (tt_u32)a.outputs);
  rest /= (tt_u32)a.outputs;
  const tt_i32 image = (tt_i32)(rest % (tt_u32)a.images);
  rest /= (tt_u32)a.images;
  const tt_i32 group = (tt_i32)(rest % (tt_u32)a.groups), part = (tt_i32)(rest / (tt_u32)a.groups);
  const INDEX first = (INDEX)(part * a.part), most = (INDEX)(first + a.part);
  const INDEX end = most < (INDEX)a.depth ? most : (INDEX)a.depth;
  const TT_GLOBAL T *x = a.x + image * a.x_image + group * a.x_group;
  const TT_GLOBAL T *w = a.w + group * a.w_group + output * a.w_output;
  TT_GLOBAL S *to = a.terms + ((((tt_i64)part * a.groups + group) * a.outputs + output) * a.images + image) * PLACES;
  S sum[PLACES];
  TT_UNROLLED
  for (int p = 0; p < PLACES; p++) sum[p] = 0;
  TT_ROLLED
  for (INDEX k = first + (INDEX)TT_THREAD; k < end; k += THREADS) add_term(&a, x, w, k, sum);
  TT_UNROLLED
  for (int p = 0; p < PLACES; p++) {
    TT_BARRIER();
    sums[TT_THREAD] = sum[p];
    for (tt_u32 half = THREADS / 2; half; half /= 2) {
      TT_BARRIER();
      if (TT_THREAD < half) sums[TT_THREAD] += sums[TT_THREAD + half];
    }
    if (TT_THREAD == 0) to[p] = sums[0];
  }
}

/* The parts of each sum, in their order. */
TT_KERNEL(convolve_end, convolve_few_args, THREADS) {
  const tt_i64 all = (tt_i64)a.groups * a.outputs * a.images * PLACES, parts = (a.depth + a.part - 1) / a.part;
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < all; i += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_i32 p = (tt_i32)(i % PLACES);
    const tt_i64 image = i / PLACES % a.images, output = i / PLACES / a.images % a.outputs;
    const tt_i64 group = i / PLACES / a.images / a.outputs;
    S sum = 0;
    for (tt_i64 k = 0; k < parts; k++) sum += a.terms[k * all + i];
    if (a.bias) {
      T b = a.bias[group * a.bias_group + output * a.bias_output];
      sum += LOAD(b);
    }
    a.y[image * a.y_image + group * a.y_group + output * a.y_output + p / (OUT_1 * OUT_2) * a.y_at[0] +
        p / OUT_2 % OUT_1 * a.y_at[1] + p % OUT_2 * a.y_at[2]] = STORE(sum);
  }
}

#endif
