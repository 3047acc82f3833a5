/*
** Random numbers by rejection, one text for the host (rows_draw.c, over the prelude that rendered kernels have) and for
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

/* The cube of a shifted normal is nearly gamma distributed (Marsaglia and Tsang); below shape 1 a power of a uniform
** number takes the result down from shape + 1. */
TT_FN tt_f64 gamma_of(stream *r, tt_f64 shape) {
  tt_f64 down = 1;
  if (shape == 0 || shape != shape) return shape;
  if (shape < 1) {
    down = tt_exp_f64(tt_log_f64(uniform(r)) / shape);
    shape += 1;
  }
  tt_f64 d = shape - 1.0 / 3, c = 1 / tt_sqrt_f64(9 * d);
  for (;;) {
    tt_f64 x = normal(r), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    if (tt_log_f64(uniform(r)) < 0.5 * x * x + d * (1 - v + tt_log_f64(v))) return d * v * down;
  }
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

/* Below 10 by multiplying uniform numbers; above by transformed rejection (Hormann 1993): a table mountain around the
** mode, most draws accepted without a logarithm. */
TT_FN tt_i64 poisson(stream *r, tt_f64 lam) {
  if (lam < 10) {
    tt_f64 limit = tt_exp_f64(-lam), product = uniform(r);
    tt_i64 k = 0;
    for (; product > limit; k++) product *= uniform(r);
    return k;
  }
  tt_f64 b = 0.931 + 2.53 * tt_sqrt_f64(lam), a = -0.059 + 0.02483 * b, loglam = tt_log_f64(lam);
  tt_f64 inverse = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    tt_f64 u = uniform(r) - 0.5, v = uniform(r), us = 0.5 - tt_abs_f64(u);
    tt_f64 k = tt_floor_f64((2 * a / us + b) * u + lam + 0.43);
    if (us >= 0.07 && v <= sure && k >= 0) return (tt_i64)k;
    if (k < 0 || k > 9.2e18 || (us < 0.013 && v > us)) continue;
    if (tt_log_f64(v) + tt_log_f64(inverse) - tt_log_f64(a / (us * us) + b) <= k * loglam - lam - log_factorial(k))
      return (tt_i64)k;
  }
}

/* By walking up the distribution when that is short; else as above. p <= 1/2. */
TT_FN tt_i64 binomial_half(stream *r, tt_i64 n, tt_f64 p) {
  tt_f64 q = 1 - p, size = (tt_f64)n;
  if (size * p < 10) {
    tt_f64 odds = p / q, chance = tt_exp_f64(size * tt_log1p_f64(-p)), u = uniform(r);
    tt_i64 k = 0;
    for (; u > chance && k < n; k++) {
      u -= chance;
      chance *= odds * (tt_f64)(n - k) / (tt_f64)(k + 1);
    }
    return k;
  }
  tt_f64 spread = tt_sqrt_f64(size * p * q), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  tt_f64 center = size * p + 0.5, sure = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread, odds = tt_log_f64(p / q);
  tt_f64 mode = tt_floor_f64((size + 1) * p), top = log_factorial(mode) + log_factorial(size - mode);
  for (;;) {
    tt_f64 u = uniform(r) - 0.5, v = uniform(r), us = 0.5 - tt_abs_f64(u);
    tt_f64 k = tt_floor_f64((2 * a / us + b) * u + center);
    if (k < 0 || k > size) continue;
    if (us >= 0.07 && v <= sure) return (tt_i64)k;
    v = tt_log_f64(v * alpha / (a / (us * us) + b));
    if (v <= top - log_factorial(k) - log_factorial(size - k) + (k - mode) * odds) return (tt_i64)k;
  }
}

TT_FN tt_i64 binomial(stream *r, tt_i64 n, tt_f64 p) {
  if (n == 0 || p == 0) return 0;
  return p > 0.5 ? n - binomial_half(r, n, 1 - p) : binomial_half(r, n, p);
}

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
TT_FN tt_f64 draw_gamma(tt_u64 word, tt_f64 shape) {
  stream r = stream_of(word);
  return gamma_of(&r, shape);
}
TT_FN tt_i64 draw_poisson(tt_u64 word, tt_f64 lam) {
  stream r = stream_of(word);
  return lam >= 0 && lam < 9.3e18 ? poisson(&r, lam) : 0;
}
TT_FN tt_i64 draw_binomial(tt_u64 word, tt_f64 n, tt_f64 p) {
  stream r = stream_of(word);
  return n >= 0 && p >= 0 && p <= 1 ? binomial(&r, (tt_i64)n, p) : 0;
}

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
