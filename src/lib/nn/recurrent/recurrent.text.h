/*
** One step of a recurrent network, there or back: a block has a tile of images by units of the state, a thread all
** gates of one unit. The product with the weights and the gates are one kernel, so that a sequence is a launch a step;
** an element is summed in an order that depends on sizes alone. Specialised by
**   T             float32 or float64           FMA(a, b, c), EXP(x), TANH(x)   in T
**   KIND          0 tanh, 1 relu, 2 LSTM, 3 GRU      GATES, KEPT   of ir/recurrent.h
**   BACK          0 forward, 1 the way back
**   EACH, LINES   images of a thread, and threads for images
**   SHARES        threads of a sum, each with a run of the terms of a slab; what they have is added in their order.
**                 Several have one image each
**   SLAB          terms in shared memory at a time, a multiple of SHARES
*/
#define UNITS 8              /* of a block */
#define SUMS (UNITS * LINES) /* threads of a share */
#define THREADS (SUMS * SHARES)
#define IMAGES (LINES * EACH)
#define RUN (SLAB / SHARES)
#define STEP (SLAB + 1)
#define COLUMNS (BACK ? 1 : GATES) /* sums of a unit */
#define SIGMOID(x) (1 / (1 + EXP(-(x))))

/*
** Forward: `inner` is the width, `left` the state before, x what inputs add, y the new state. Back: `inner` is gates *
** width, `left` the cotangents of the sums of the step behind (NULL: there is none), x those of this step's state, y
** (NULL: no step is left, the first state gets its cotangent) those of this step's sums, dx of what inputs add (GRU;
** may be NULL). What is carried from step to step is read from `memory` (NULL: zeros).
*/
typedef struct recurrent_args {
  const TT_GLOBAL T *w, *left, *x, *bias, *memory;
  TT_GLOBAL T *carry, *kept, *y, *dx, *h;
  tt_i64 images, width, inner, tiles;
} recurrent_args;

/* Gate g of one image and unit in rows of so many. */
#define AT(p, g, of) (p)[(image * (of) + (g)) * a.width + unit]

TT_FN void bring(const recurrent_args *a, tt_i64 image, tt_i64 unit, tt_i64 k, T (*left)[STEP], T (*right)[STEP]) {
  for (int e = (int)TT_THREAD; e < IMAGES * SLAB; e += THREADS) {
    tt_i64 i = image + e / SLAB, j = k + e % SLAB;
    left[e / SLAB][e % SLAB] = i < a->images && j < a->inner ? a->left[i * a->inner + j] : 0;
  }
  for (int e = (int)TT_THREAD; e < COLUMNS * UNITS * SLAB; e += THREADS) {
#if BACK
    int column = e % UNITS, term = e / UNITS;
    tt_i64 u = unit + column, at = (k + term) * a->width + u;
#else
    int column = e / SLAB, term = e % SLAB;
    tt_i64 u = unit + column % UNITS, at = ((column / UNITS) * a->width + u) * a->width + k + term;
#endif
    right[column][term] = u < a->width && k + term < a->inner ? a->w[at] : 0;
  }
}

#if BACK
/* `to`: the cotangent of this step's state. */
TT_FN void gates(const recurrent_args *whole, tt_i64 image, tt_i64 unit, T sum) {
  const recurrent_args a = *whole;
  T carried = 0, to;
  if (KIND > 1 && a.memory) carried = AT(a.memory, 0, 1);
  if (!a.y) {
    AT(a.h, 0, 1) = KIND == 3 ? sum + carried : sum;
    return;
  }
  to = AT(a.x, 0, 1) + sum;
#if KIND < 2
  AT(a.y, 0, 1) = to * AT(a.kept, 0, KEPT);
#elif KIND == 2
  T in = AT(a.kept, 0, KEPT), keep = AT(a.kept, 1, KEPT), add = AT(a.kept, 2, KEPT), out = AT(a.kept, 3, KEPT);
  T top = AT(a.kept, 5, KEPT), through = carried + to * out * (1 - top * top);
  AT(a.y, 0, GATES) = through * add * in * (1 - in);
  AT(a.y, 1, GATES) = through * AT(a.kept, 4, KEPT) * keep * (1 - keep);
  AT(a.y, 2, GATES) = through * in * (1 - add * add);
  AT(a.y, 3, GATES) = to * top * out * (1 - out);
  AT(a.carry, 0, 1) = through * keep;
#else
  T reset = AT(a.kept, 0, KEPT), stay = AT(a.kept, 1, KEPT), fresh = AT(a.kept, 2, KEPT), first, second, third;
  to += carried;
  third = to * (1 - stay) * (1 - fresh * fresh);
  first = third * AT(a.kept, 3, KEPT) * reset * (1 - reset);
  second = to * (AT(a.kept, 4, KEPT) - fresh) * stay * (1 - stay);
  AT(a.y, 0, GATES) = first;
  AT(a.y, 1, GATES) = second;
  AT(a.y, 2, GATES) = third * reset;
  if (a.dx) {
    AT(a.dx, 0, GATES) = first;
    AT(a.dx, 1, GATES) = second;
    AT(a.dx, 2, GATES) = third;
  }
  AT(a.carry, 0, 1) = to * stay;
#endif
}
#else
TT_FN void gates(const recurrent_args *whole, tt_i64 image, tt_i64 unit, const T *sum) {
  const recurrent_args a = *whole;
#if KIND < 2
  T both = AT(a.x, 0, 1) + sum[0], to = KIND == 0 ? TANH(both) : both <= 0 ? 0 : both;
  if (a.kept) AT(a.kept, 0, KEPT) = KIND == 0 ? 1 - to * to : both <= 0 ? 0 : (T)1;
#elif KIND == 2
  T in = SIGMOID(AT(a.x, 0, GATES) + sum[0]), keep = SIGMOID(AT(a.x, 1, GATES) + sum[1]);
  T add = TANH(AT(a.x, 2, GATES) + sum[2]), out = SIGMOID(AT(a.x, 3, GATES) + sum[3]);
  T before = AT(a.memory, 0, 1), now = keep * before + in * add, top = TANH(now), to = out * top;
  if (a.kept) {
    AT(a.kept, 0, KEPT) = in;
    AT(a.kept, 1, KEPT) = keep;
    AT(a.kept, 2, KEPT) = add;
    AT(a.kept, 3, KEPT) = out;
    AT(a.kept, 4, KEPT) = before;
    AT(a.kept, 5, KEPT) = top;
  }
  AT(a.carry, 0, 1) = now;
#else
  T b[3] = {0, 0, 0};
  for (int g = 0; g < 3 && a.bias; g++) b[g] = a.bias[g * a.width + unit];
  T more = sum[2] + b[2], reset = SIGMOID(AT(a.x, 0, GATES) + (sum[0] + b[0]));
  T stay = SIGMOID(AT(a.x, 1, GATES) + (sum[1] + b[1])), fresh = TANH(AT(a.x, 2, GATES) + reset * more);
  T before = AT(a.left, 0, 1), to = fresh + stay * (before - fresh);
  if (a.kept) {
    AT(a.kept, 0, KEPT) = reset;
    AT(a.kept, 1, KEPT) = stay;
    AT(a.kept, 2, KEPT) = fresh;
    AT(a.kept, 3, KEPT) = more;
  }
#endif
  if (a.kept) AT(a.kept, KEPT - 1, KEPT) = AT(a.left, 0, 1);
  AT(a.y, 0, 1) = to;
}
#endif

#if SHARES > 1
/* What the other shares have, added to the first one's. */
TT_FN void meet(int share, int thread, T (*part)[COLUMNS][SUMS], T *sum) {
  if (share > 0) TT_UNROLLED
  for (int g = 0; g < COLUMNS; g++) part[share - 1][g][thread] = sum[g];
  TT_BARRIER();
  for (int s = 1; s < SHARES && share == 0; s++) TT_UNROLLED
  for (int g = 0; g < COLUMNS; g++) sum[g] += part[s - 1][g][thread];
}
#endif

TT_KERNEL(recurrent_step, recurrent_args, THREADS) {
  TT_SHARED T left[IMAGES][STEP], right[COLUMNS * UNITS][STEP];
#if SHARES > 1
  TT_SHARED T part[SHARES - 1][COLUMNS][SUMS];
#endif
  const int share = (int)(TT_THREAD / SUMS), thread = (int)(TT_THREAD % SUMS);
  const int column = thread % UNITS, line = thread / UNITS, from = share * RUN;
  const tt_i64 image = (tt_i64)(TT_BLOCK / a.tiles) * IMAGES, unit = (tt_i64)(TT_BLOCK % a.tiles) * UNITS;
  T sum[EACH][COLUMNS];
  TT_UNROLLED
  for (int i = 0; i < EACH; i++) TT_UNROLLED
  for (int g = 0; g < COLUMNS; g++) sum[i][g] = 0;
  for (tt_i64 k = 0; k < a.inner && a.left; k += SLAB) {
    bring(&a, image, unit, k, left, right);
    TT_BARRIER();
    TT_UNROLLED_8
    for (int p = from; p < from + RUN; p++) TT_UNROLLED
    for (int g = 0; g < COLUMNS; g++) {
      T factor = right[g * UNITS + column][p];
      TT_UNROLLED
      for (int i = 0; i < EACH; i++) sum[i][g] = FMA(left[i * LINES + line][p], factor, sum[i][g]);
    }
    TT_BARRIER();
  }
#if SHARES > 1
  meet(share, thread, part, sum[0]);
  if (share > 0) return;
#endif
  TT_UNROLLED
  for (int i = 0; i < EACH; i++)
    if (image + i * LINES + line < a.images && unit + column < a.width)
#if BACK
      gates(&a, image + i * LINES + line, unit + column, sum[i][0]);
#else
      gates(&a, image + i * LINES + line, unit + column, sum[i]);
#endif
}
