/*
** What kernels that make convolutions of tiles share, above them: arguments, which terms a slab has, where windows
** begin, and sums that were cut into parts. Specialised by
**   T, SIZE     an element in memory      S   what is summed     LOAD(x), STORE(x)   one to the other
**   INDEX       an integer that counts all elements and steps over them
**   THREADS, TILE_M, TILE_N, SLAB   of a block; its tile; of how many terms the factors lie in shared memory at a time
**   RESIDENT    tiles that a unit has registers for
**   CHECK_0, CHECK_1       along these axes, too, windows may reach outside
**   W_BY_DEPTH, X_BY_DEPTH   neighbours among the terms lie beside each other, else neighbours of the tile
*/
#define AXES 3
#define OUTSIDE (-(1 << 30)) /* a coordinate that is outside whatever is added */

typedef struct convolve_args {
  const TT_GLOBAL T *x, *w, *bias;
  TT_GLOBAL T *y;
  TT_GLOBAL S *terms; /* where the sum is cut: of each part, group, output and place; or NULL */
  tt_i64 x_image, x_group, x_channel, x_at[AXES];
  tt_i64 w_group, w_output, w_channel, w_at[AXES];
  tt_i64 bias_group, bias_output;
  tt_i64 y_image, y_group, y_output, y_at[AXES];
  tt_i64 places, depth, part; /* of all images; terms of a sum, and of a part of it */
  tt_i64 tiles_n;
  tt_i32 tiles_m, groups, parts, outputs;
  tt_i32 in[AXES], kernel[AXES], out[AXES], stride[AXES], dilation[AXES], pad[AXES];
  tt_i32 slab_at[AXES + 1]; /* how SLAB counts in taps, then channels */
  tt_i32 unused;
} convolve_args;

/* A place's digits: image, then a coordinate for each axis. */
TT_FN void digits_of(INDEX n, const tt_i32 *out, INDEX *digit) {
  TT_UNROLLED
  for (int d = AXES - 1; d >= 0; d--) {
    digit[d + 1] = n % out[d];
    n /= out[d];
  }
  digit[0] = n;
}

TT_FN INDEX stored_at(const convolve_args *a, INDEX n) {
  INDEX digit[AXES + 1];
  digits_of(n, a->out, digit);
  INDEX at = digit[0] * (INDEX)a->y_image;
  TT_UNROLLED
  for (int d = 0; d < AXES; d++) at += digit[d + 1] * (INDEX)a->y_at[d];
  return at;
}

/* Where a term of the sums lies in x, from where a window begins, and the coordinates that its tap adds. */
typedef struct TT_ALIGNED(16) term {
  INDEX x;
  tt_i32 at[AXES];
} term;

/* Where the window of a place begins. */
typedef struct TT_ALIGNED(16) window {
  INDEX x;
  tt_i32 at[AXES];
} window;

/* The terms that a slab has, a thread each. */
typedef struct terms_of {
  term of[SLAB];
  INDEX w[SLAB];
} terms_of;

typedef struct walker {
  INDEX left; /* terms from this on */
  tt_i32 channel, tap[AXES];
} walker;

TT_FN walker walk_from(const convolve_args *a, INDEX k, INDEX end) {
  walker w;
  w.left = end - k;
  TT_UNROLLED
  for (int d = AXES - 1; d >= 0; d--) {
    w.tap[d] = (tt_i32)(k % a->kernel[d]);
    k /= a->kernel[d];
  }
  w.channel = (tt_i32)k;
  return w;
}

TT_FN void walk_on(const convolve_args *a, walker *w) {
  tt_i32 carry = 0;
  w->left -= SLAB;
  TT_UNROLLED
  for (int d = AXES - 1; d >= 0; d--) {
    w->tap[d] += a->slab_at[d] + carry;
    carry = w->tap[d] >= a->kernel[d];
    w->tap[d] -= carry ? a->kernel[d] : 0;
  }
  w->channel += a->slab_at[AXES] + carry;
}

TT_FN void tell_term(const convolve_args *a, const walker *w, TT_SHARED_AT terms_of *to) {
  INDEX x = w->channel * (INDEX)a->x_channel, f = w->channel * (INDEX)a->w_channel;
  term t;
  TT_UNROLLED
  for (int d = 0; d < AXES; d++) {
    t.at[d] = w->tap[d] * a->dilation[d];
    x += t.at[d] * (INDEX)a->x_at[d];
    f += w->tap[d] * (INDEX)a->w_at[d];
  }
  t.x = x;
  if (w->left <= 0) {
    t.at[AXES - 1] = OUTSIDE;
    f = 0;
  }
  to->of[TT_THREAD] = t;
  to->w[TT_THREAD] = f;
}

TT_FN void tell_windows(const convolve_args *a, INDEX first, TT_SHARED_AT window *to) {
  for (int i = (int)TT_THREAD; i < TILE_N; i += THREADS) {
    INDEX digit[AXES + 1];
    digits_of(first + i, a->out, digit);
    window w;
    w.x = digit[0] * (INDEX)a->x_image;
    TT_UNROLLED
    for (int d = 0; d < AXES; d++) {
      w.at[d] = (tt_i32)digit[d + 1] * a->stride[d] - a->pad[d];
      w.x += w.at[d] * (INDEX)a->x_at[d];
    }
    if (first + i >= a->places) w.at[AXES - 1] = OUTSIDE;
    to[i] = w;
  }
}

/* The part of a tile's sums that a block makes. */
typedef struct share {
  tt_i32 m, group, part;
  INDEX n, first, end; /* terms */
} share;

TT_FN share share_of_block(const convolve_args *a) {
  const tt_u32 above = TT_BLOCK / (tt_u32)a->tiles_m, rest = above / (tt_u32)a->tiles_n;
  share s;
  s.m = (tt_i32)(TT_BLOCK % (tt_u32)a->tiles_m) * TILE_M;
  s.n = (INDEX)(above % (tt_u32)a->tiles_n) * TILE_N;
  s.group = (tt_i32)(rest % (tt_u32)a->groups);
  s.part = (tt_i32)(rest / (tt_u32)a->groups);
  s.first = (INDEX)(s.part * a->part);
  const INDEX end = (INDEX)(s.first + a->part);
  s.end = end < (INDEX)a->depth ? end : (INDEX)a->depth;
  return s;
}

TT_FN int is_inside(const convolve_args *a, int d, tt_i32 at) { return (tt_u32)at < (tt_u32)a->in[d]; }

/* Is there an element where a tap of this window lies? */
TT_FN int is_seen(const convolve_args *a, const window *w, const term *t) {
  int inside = is_inside(a, 2, w->at[2] + t->at[2]);
  if (CHECK_0) inside &= is_inside(a, 0, w->at[0] + t->at[0]);
  if (CHECK_1) inside &= is_inside(a, 1, w->at[1] + t->at[1]);
  return inside;
}

/* What the slab after the next one has. */
TT_FN void go_on(const convolve_args *a, walker *walk, TT_SHARED_AT terms_of *to) {
  if (TT_THREAD >= SLAB) return;
  tell_term(a, walk, to);
  walk_on(a, walk);
}

/* Windows, and the terms of two slabs. */
TT_FN walker begin(const convolve_args *a, const share *of, TT_SHARED_AT window *windows,
                   TT_SHARED_AT terms_of *terms) {
  walker walk = walk_from(a, of->first + (INDEX)TT_THREAD, of->end);
  tell_windows(a, of->n, windows);
  go_on(a, &walk, &terms[0]);
  go_on(a, &walk, &terms[1]);
  TT_BARRIER();
  return walk;
}

/* Sums of an output that are a part; those of the first place. */
TT_FN TT_GLOBAL S *terms_at(const convolve_args *a, const share *s, tt_i32 m) {
  return a->terms + (((tt_i64)s->part * a->groups + s->group) * a->outputs + m) * a->places;
}

TT_FN S bias_of(const convolve_args *a, tt_i32 group, tt_i32 m) {
  if (!a->bias) return 0;
  T b = a->bias[group * a->bias_group + m * a->bias_output];
  return LOAD(b);
}

/* The parts of each sum, in their order. */
TT_KERNEL(convolve_end, convolve_args, 256) {
  const tt_i64 all = (tt_i64)a.groups * a.outputs * a.places;
  for (tt_i64 i = (tt_i64)TT_BLOCK * 256 + TT_THREAD; i < all; i += (tt_i64)TT_BLOCKS * 256) {
    const tt_i64 n = i % a.places, m = i / a.places % a.outputs, group = i / a.places / a.outputs;
    S sum = 0;
    for (tt_i32 p = 0; p < a.parts; p++) sum += a.terms[p * all + i];
    sum += bias_of(&a, (tt_i32)group, (tt_i32)m);
    a.y[group * a.y_group + m * a.y_output + stored_at(&a, (INDEX)n)] = STORE(sum);
  }
}
