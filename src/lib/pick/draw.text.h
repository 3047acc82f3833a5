/*
** Random numbers by rejection, one text for the host (draw_loops.c, over the prelude of rendered kernels) and for
** devices, so that a draw has the same bits wherever it is made. On a device GAMMA, POISSON, BINOMIAL, HYPERGEOMETRIC,
** ZIPF or VONMISES says which its kernel draws; the result is of type T.
*/
/* A stream of random bits out of one word. */
typedef struct stream {
  tt_u64 key, counter, spare;
  int has_spare;
} stream;

TT_FN stream stream_of(tt_u64 key) {
  stream r;
  r.key = key;
  r.counter = r.spare = 0;
  r.has_spare = 0;
  return r;
}

/* Two words of 64 bits for each counter. */
TT_FN tt_u64 next(stream *r) {
  if (r->has_spare) {
    r->has_spare = 0;
    return r->spare;
  }
  tt__block w = tt__philox(r->counter++, r->key);
  r->spare = (tt_u64)w.c << 32 | w.d;
  r->has_spare = 1;
  return (tt_u64)w.a << 32 | w.b;
}

TT_FN tt_f64 uniform(stream *r) { return (tt_f64)(next(r) >> 11) * 0x1p-53 + 0x1p-54; }

TT_FN tt_f64 normal(stream *r) {
  tt_f64 radius = tt_sqrt_f64(-2 * tt_log_f64(uniform(r)));
  return radius * tt_cos_f64(6.283185307179586477 * uniform(r));
}

/* The logarithm of k! */
TT_CONST tt_f64 few_factorials[] = {0,
                                    0,
                                    0.69314718055994530942,
                                    1.79175946922805500081,
                                    3.17805383034794561965,
                                    4.78749174278204599425,
                                    6.57925121201010099506,
                                    8.52516136106541430017,
                                    10.6046029027452502284,
                                    12.8018274800814696112};
TT_FN tt_f64 log_factorial(tt_f64 k) {
  if (k < 10) return few_factorials[(int)k];
  tt_f64 x = k + 1, i = 1 / (x * x);
  tt_f64 rest = (1.0 / 12 - i * (1.0 / 360 - i * (1.0 / 1260 - i * (1.0 / 1680)))) / x; /* Stirling's series */
  return (x - 0.5) * tt_log_f64(x) - x + 0.91893853320467274178 + rest;
}

/* ---- guesses
**
** What is drawn most is written so that it is made for many elements at once as well (draw_loops.c): a guess takes one
** or two blocks of words and says whether it is sure; if not, a longer look says whether it is right. Attempt k of an
** element takes the blocks from k (2 k where there are two) on, so a number does not depend on who makes it. */

/* Two words as a fraction of one, neither 0 nor 1. */
TT_FN tt_f64 fraction_of(tt_u32 low, tt_u32 high) { return tt__fraction_f64((tt_u64)high << 32 | low) + 0x1p-54; }

/* The cube of a shifted normal number is nearly gamma distributed (Marsaglia and Tsang); below shape 1 a power of a
** uniform number takes the result down from shape + 1. */
typedef struct gamma_constants {
  tt_f64 d, c;
} gamma_constants;
TT_FN gamma_constants gamma_ready(tt_f64 shape) {
  gamma_constants r;
  r.d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  r.c = 1 / tt_sqrt_f64(9 * r.d);
  return r;
}
typedef struct gamma_guess {
  tt_f64 x, v, u;
  tt_i64 sure;
} gamma_guess;
TT_FN gamma_guess gamma_guess_of(tt__block first, tt__block second, tt_f64 c) {
  gamma_guess g;
  g.x = tt__normals_f64(first).even;
  tt_f64 t = 1 + c * g.x;
  g.v = t * t * t;
  g.u = fraction_of(second.a, second.b);
  g.sure = (tt_i64)((t > 0) & (g.u < 1 - 0.0331 * (g.x * g.x) * (g.x * g.x)));
  return g;
}
TT_FN int gamma_is_right(gamma_guess g, tt_f64 d) {
  return g.v > 0 && tt_log_f64(g.u) < 0.5 * g.x * g.x + d * (1 - g.v + tt_log_f64(g.v));
}
TT_FN tt_f64 gamma_down(tt__block second, tt_f64 shape) {
  return tt_exp_f64(tt_log_f64(fraction_of(second.c, second.d)) / shape);
}
TT_FN int gamma_is_trivial(tt_f64 shape) { return shape == 0 || shape != shape; }
TT_FN tt_f64 draw_gamma(tt_u64 key, tt_f64 shape) {
  if (gamma_is_trivial(shape)) return shape;
  gamma_constants r = gamma_ready(shape);
  tt_f64 down = shape < 1 ? gamma_down(tt__philox(1, key), shape) : 1;
  for (tt_u64 at = 0;; at += 2) {
    gamma_guess g = gamma_guess_of(tt__philox(at, key), tt__philox(at + 1, key), r.c);
    if (g.sure || gamma_is_right(g, r.d)) return r.d * g.v * down;
  }
}

/* Counts with a mean below 10 by walking up the distribution from 0. The chance of MOST_WALKED is below 2^-53;
** `inverse` is 1 / (k + 1). */
#define WALKS_BELOW 10
#define MOST_WALKED 110
TT_FN tt_f64 poisson_ratio(tt_f64 lam, tt_f64 inverse) { return lam * inverse; }
TT_FN tt_f64 binomial_ratio(tt_f64 odds, tt_f64 n, tt_f64 k, tt_f64 inverse) { return odds * ((n - k) * inverse); }

/* Others by transformed rejection (Hormann 1993): a table mountain around the mode, most guesses sure. */
typedef struct table_guess {
  tt_f64 k, us, v;
  tt_i64 sure;
} table_guess;
TT_FN table_guess table_guess_of(tt__block w, tt_f64 a, tt_f64 b, tt_f64 center, tt_f64 sure, tt_f64 most) {
  table_guess g;
  tt_f64 u = fraction_of(w.a, w.b) - 0.5;
  g.v = fraction_of(w.c, w.d);
  g.us = 0.5 - tt_abs_f64(u);
  g.k = tt_floor_f64((2 * a / g.us + b) * u + center);
  g.sure = (tt_i64)((g.us >= 0.07) & (g.v <= sure) & (g.k >= 0) & (g.k <= most));
  return g;
}

#define MOST_COUNTED 9223372036854774784.0 /* the largest double below 2^63 */
typedef struct poisson_constants {
  tt_f64 a, b, center, sure, lam, log_lam, log_inverse;
} poisson_constants;
TT_FN poisson_constants poisson_ready(tt_f64 lam) {
  poisson_constants r;
  r.b = 0.931 + 2.53 * tt_sqrt_f64(lam);
  r.a = -0.059 + 0.02483 * r.b;
  r.center = lam + 0.43;
  r.sure = 0.9277 - 3.6224 / (r.b - 2);
  r.lam = lam;
  r.log_lam = tt_log_f64(lam);
  r.log_inverse = tt_log_f64(1.1239 + 1.1328 / (r.b - 3.4));
  return r;
}
TT_FN int poisson_is_right(table_guess g, poisson_constants r) {
  if (g.k < 0 || g.k > MOST_COUNTED || (g.us < 0.013 && g.v > g.us)) return 0;
  return tt_log_f64(g.v) + r.log_inverse - tt_log_f64(r.a / (g.us * g.us) + r.b) <=
         g.k * r.log_lam - r.lam - log_factorial(g.k);
}
TT_FN int rate_is_drawn(tt_f64 lam) { return lam >= 0 && lam < 9.3e18; }
TT_FN tt_i64 draw_poisson(tt_u64 key, tt_f64 lam) {
  if (!rate_is_drawn(lam)) return 0;
  if (lam < WALKS_BELOW) {
    tt__block w = tt__philox(0, key);
    tt_f64 u = fraction_of(w.a, w.b), chance = tt_exp_f64(-lam);
    int k = 0;
    for (; u > chance && k < MOST_WALKED; k++) {
      u -= chance;
      chance *= poisson_ratio(lam, 1.0 / (k + 1));
    }
    return k;
  }
  poisson_constants r = poisson_ready(lam);
  for (tt_u64 at = 0;; at++) {
    table_guess g = table_guess_of(tt__philox(at, key), r.a, r.b, r.center, r.sure, MOST_COUNTED);
    if (g.sure || poisson_is_right(g, r)) return (tt_i64)g.k;
  }
}

/* p <= 1/2 */
TT_FN tt_f64 binomial_first(tt_f64 n, tt_f64 p) { return tt_exp_f64(n * tt_log1p_f64(-p)); }
typedef struct binomial_constants {
  tt_f64 a, b, center, sure, n, alpha, log_odds, mode, top;
} binomial_constants;
TT_FN binomial_constants binomial_ready(tt_f64 n, tt_f64 p) {
  binomial_constants r;
  tt_f64 spread = tt_sqrt_f64(n * p * (1 - p));
  r.b = 1.15 + 2.53 * spread;
  r.a = -0.0873 + 0.0248 * r.b + 0.01 * p;
  r.center = n * p + 0.5;
  r.sure = 0.92 - 4.2 / r.b;
  r.n = n;
  r.alpha = (2.83 + 5.1 / r.b) * spread;
  r.log_odds = tt_log_f64(p / (1 - p));
  r.mode = tt_floor_f64((n + 1) * p);
  r.top = log_factorial(r.mode) + log_factorial(n - r.mode);
  return r;
}
TT_FN int binomial_is_right(table_guess g, binomial_constants r) {
  if (g.k < 0 || g.k > r.n) return 0;
  return tt_log_f64(g.v * r.alpha / (r.a / (g.us * g.us) + r.b)) <=
         r.top - log_factorial(g.k) - log_factorial(r.n - g.k) + (g.k - r.mode) * r.log_odds;
}
TT_FN tt_f64 binomial_half(tt_u64 key, tt_f64 n, tt_f64 p) {
  if (n * p < WALKS_BELOW) {
    tt__block w = tt__philox(0, key);
    tt_f64 u = fraction_of(w.a, w.b), chance = binomial_first(n, p), odds = p / (1 - p);
    int k = 0;
    for (; u > chance && k < n && k < MOST_WALKED; k++) {
      u -= chance;
      chance *= binomial_ratio(odds, n, k, 1.0 / (k + 1));
    }
    return k;
  }
  binomial_constants r = binomial_ready(n, p);
  for (tt_u64 at = 0;; at++) {
    table_guess g = table_guess_of(tt__philox(at, key), r.a, r.b, r.center, r.sure, n);
    if (g.sure || binomial_is_right(g, r)) return g.k;
  }
}
TT_FN int trials_are_drawn(tt_f64 n, tt_f64 p) { return n > 0 && p > 0 && p <= 1; }
TT_FN tt_i64 draw_binomial(tt_u64 key, tt_f64 n, tt_f64 p) {
  if (!trials_are_drawn(n, p)) return 0;
  tt_f64 k = p > 0.5 ? binomial_half(key, n, 1 - p) : binomial_half(key, n, p);
  return p > 0.5 ? (tt_i64)n - (tt_i64)k : (tt_i64)k;
}

/* ---- streams: what is drawn seldom, with as many words as it takes */

/* A ratio of uniforms (Stadlober): `few` good ones among all, `item` drawn, at most half of them. */
TT_FN tt_f64 hypergeometric_chance(tt_f64 k, tt_f64 few, tt_f64 many, tt_f64 item) {
  return log_factorial(k) + log_factorial(few - k) + log_factorial(item - k) + log_factorial(many - item + k);
}
TT_FN tt_f64 hypergeometric_half(stream *r, tt_f64 few, tt_f64 many, tt_f64 item) {
  tt_f64 all = few + many, p = few / all, a = item * p + 0.5;
  tt_f64 c = tt_sqrt_f64((all - item) * item * p * (many / all) / (all - 1) + 0.5);
  tt_f64 h = 1.7155277699214135 * c + 0.8989161620588988, mode = tt_floor_f64((item + 1) * (few + 1) / (all + 2));
  tt_f64 top = hypergeometric_chance(mode, few, many, item), end = (item < few ? item : few) + 1;
  for (;;) {
    tt_f64 u = uniform(r), x = a + h * (uniform(r) - 0.5) / u;
    if (!(x >= 0 && x < end)) continue;
    tt_f64 k = tt_floor_f64(x);
    if (2 * tt_log_f64(u) <= top - hypergeometric_chance(k, few, many, item)) return k;
  }
}

/* Item by item. */
TT_FN tt_f64 hypergeometric_few(stream *r, tt_f64 good, tt_f64 all, tt_f64 item) {
  tt_f64 rest = good;
  for (; item > 0 && rest > 0; item--, all--)
    if (uniform(r) * all < rest) rest--;
  return good - rest;
}

TT_FN tt_i64 hypergeometric(stream *r, tt_f64 good, tt_f64 bad, tt_f64 sample) {
  tt_f64 all = good + bad, item = sample > all / 2 ? all - sample : sample, few = good < bad ? good : bad, k;
  if (item < 10) {
    k = hypergeometric_few(r, good, all, item);
  } else {
    k = hypergeometric_half(r, few, all - few, item);
    if (good > bad) k = item - k;
  }
  return (tt_i64)(item < sample ? good - k : k);
}

/* From a power of a uniform number (Devroye), truncated to int64. */
TT_FN tt_i64 zipf(stream *r, tt_f64 a) {
  tt_f64 power = a - 1, scale = tt_exp2_f64(power), least = tt_pow_f64(9.2233720368547758e18, -power);
  if (a >= 1025) return 1;
  for (;;) {
    tt_f64 u = uniform(r), v = uniform(r), x = tt_floor_f64(tt_pow_f64(u * least + (1 - u), -1 / power));
    if (!(x >= 1 && x < 9.2233720368547758e18)) continue;
    tt_f64 grown = power * tt_log1p_f64(1 / x), t = tt_exp_f64(grown);
    if (v * x * tt_expm1_f64(grown) / (scale - 1) <= t / scale) return (tt_i64)x;
  }
}

/* From a wrapped Cauchy number (Best and Fisher); where all is near 0, a normal number. */
TT_FN tt_f64 vonmises(stream *r, tt_f64 mu, tt_f64 kappa) {
  const tt_f64 pi = 3.141592653589793116;
  tt_f64 angle;
  if (kappa != kappa || mu != mu) return kappa + mu;
  if (kappa < 1e-8) return pi * (2 * uniform(r) - 1);
  if (kappa > 1e6) {
    angle = normal(r) / tt_sqrt_f64(kappa);
  } else {
    tt_f64 root = 1 + tt_sqrt_f64(1 + 4 * kappa * kappa), rho = (root - tt_sqrt_f64(2 * root)) / (2 * kappa), w, y, v;
    tt_f64 s = kappa < 1e-5 ? 1 / kappa + kappa : (1 + rho * rho) / (2 * rho);
    do {
      tt_f64 z = tt_cos_f64(pi * uniform(r));
      w = (1 + s * z) / (s + z);
      y = kappa * (s - w);
      v = uniform(r);
    } while (y * (2 - y) < v && tt_log_f64(y / v) + 1 < y);
    angle = tt_acos_f64(w);
    if (uniform(r) < 0.5) angle = -angle;
  }
  angle += mu;
  return angle - 2 * pi * tt_floor_f64((angle + pi) / (2 * pi));
}

/* One number out of one word. A count that is NaN, or that nothing can hold, gives 0. */
TT_FN tt_i64 draw_hypergeometric(tt_u64 word, tt_f64 good, tt_f64 bad, tt_f64 sample) {
  stream r = stream_of(word);
  return good >= 0 && bad >= 0 && sample >= 0 && sample <= good + bad ? hypergeometric(&r, good, bad, sample) : 0;
}
TT_FN tt_i64 draw_zipf(tt_u64 word, tt_f64 a) {
  stream r = stream_of(word);
  return a > 1 ? zipf(&r, a) : 0;
}
TT_FN tt_f64 draw_vonmises(tt_u64 word, tt_f64 mu, tt_f64 kappa) {
  stream r = stream_of(word);
  return vonmises(&r, mu, kappa);
}

#ifdef TT_KERNEL
#define THREADS 256

typedef struct draw_args {
  const TT_GLOBAL tt_u64 *word;
  const TT_GLOBAL tt_f64 *first, *second, *third; /* NULL: the number beside it */
  TT_GLOBAL T *out;
  tt_f64 a, b, c;
  tt_i64 n;
} draw_args;

TT_KERNEL(draw, draw_args, THREADS) {
  TT_UNPACK(draw_args);
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_f64 x = a.first ? a.first[i] : a.a, y = a.second ? a.second[i] : a.b;
    const tt_f64 z = a.third ? a.third[i] : a.c;
    (void)y;
    (void)z;
#if defined(GAMMA)
    a.out[i] = draw_gamma(a.word[i], x);
#elif defined(POISSON)
    a.out[i] = draw_poisson(a.word[i], x);
#elif defined(HYPERGEOMETRIC)
    a.out[i] = draw_hypergeometric(a.word[i], x, y, z);
#elif defined(ZIPF)
    a.out[i] = draw_zipf(a.word[i], x);
#elif defined(VONMISES)
    a.out[i] = draw_vonmises(a.word[i], x, y);
#else
    a.out[i] = draw_binomial(a.word[i], x, y);
#endif
  }
}
#endif
