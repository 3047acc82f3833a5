/*
** The last part of the text of scalar functions: Bessel functions of any real order. It follows bessel.h, includes
** nothing itself, and keeps prelude.h's rules.
**
** The ways: a power series in double-double, which outlives what its terms cancel; Hankel's series of large arguments;
** Debye's of large orders; and recurrences upwards from an order between -1/2 and 1/2, in the direction in which the
** function grows. J and Y are right to a few units in the last place of their envelope, I and K of themselves.
*/
#ifndef TT_SCALAR_BESSEL_ORDER_H
#define TT_SCALAR_BESSEL_ORDER_H

/* ---- series: J (sign -1) and I (sign 1) over (x/2)^v / gamma(v + 1), from the last term that counts */
TT_LONG_FN tt__dd tt__bessel_series(tt_f64 v, tt_f64 x, tt_f64 sign) {
  tt__dd z = tt__two_prod(x, 0.25 * x), s = tt__dd_of(1);
  tt_f64 k = 1, term = 1, most = sign > 0 ? 0x1p-60 : 0x1p-80;
  for (; term > most; k += 1) term *= z.hi / (k * tt_abs_f64(v + k));
  for (; k > 0; k -= 1) {
    tt__dd n = tt__two_sum(v, k);
    n = tt__dd_times(n, k);
    s = tt__dd_sum(tt__dd_of(1), tt__dd_times(tt__dd_quotient(tt__dd_product(z, s), n), sign));
  }
  return s;
}
/* v log(x/2) - log gamma(v + 1) */
TT_LONG_FN tt__dd tt__bessel_power(tt_f64 v, tt_f64 x) {
  tt__dd l = tt__log_dd(x < 0x1p-1000 ? x * 0x1p100 : 0.5 * x);
  if (x < 0x1p-1000) l = tt__dd_sum(l, tt__dd_times(tt__dd_of(-101), 0x1.62e42fefa39efp-1)); /* log 2 */
  return tt__dd_sum(tt__dd_times(l, v), tt__dd_minus(tt__lgamma_of_sum(v, 1)));
}
/* e^e times y, e of any size, y of moderate one; rounded once where that is subnormal. */
TT_LONG_FN tt_f64 tt__exp_dd_times(tt__dd e, tt_f64 y) {
  tt_f64 shift = e.hi < -600 ? 128 : e.hi > 600 ? -128 : 0, back = e.hi < -600 ? 0x1p-128 : e.hi > 600 ? 0x1p128 : 1;
  if (e.hi < -830) return 0 * y;
  return tt__exp_scaled(tt__clamp(e.hi, -830, 1000), e.hi < 1000 ? e.lo : 0, shift) * y * back;
}
TT_FN tt__dd tt__minus_f64(tt__dd e, tt_f64 x) { return tt__dd_sum(e, tt__dd_of(-x)); }

/* ---- Hankel's series
** Of I (sign -1) and K (sign 1): the sum of sign^k a_k(v) / x^k. Of J and Y: its even terms P and its odd ones Q.
*/
TT_LONG_FN tt_f64 tt__hankel_sum(tt_f64 v, tt_f64 x, tt_f64 sign) {
  tt_f64 sum = 0, term = 1;
  for (tt_f64 k = 1; k < 80; k += 1) {
    tt_f64 next = term * sign * ((2 * v - 2 * k + 1) / (8 * k) * ((2 * v + 2 * k - 1) / x));
    if (!(tt_abs_f64(next) > 0x1p-58) || (k > v + 1 && tt_abs_f64(next) > tt_abs_f64(term))) break;
    sum += term = next;
  }
  return 1 + sum;
}
TT_LONG_FN tt_f64 tt__hankel_wave(tt_f64 v, tt_f64 x, int is_y) {
  tt_f64 p = 0, q = 0, term = 1, c = tt_cos_f64(x), s = tt_sin_f64(x), turn = 0.5 * v - 2 * tt_floor_f64(0.25 * v);
  tt_f64 cv = tt__cospi(turn), sv = tt__sinpi(turn), a = c * cv + s * sv, b = s * cv - c * sv;
  for (int k = 1; k < 80; k++) {
    term *= (2 * v - 2 * k + 1) / (8 * k) * ((2 * v + 2 * k - 1) / x);
    if (!(tt_abs_f64(term) > 0x1p-58)) break;
    if ((k & 1) != 0)
      q += (k & 2) != 0 ? -term : term;
    else
      p += (k & 2) != 0 ? -term : term;
  }
  p += 1;
  return tt__bessel_root(x) * (is_y ? p * (b - a) + q * (a + b) : p * (a + b) - q * (b - a));
}

/* ---- Debye's series of I and K, v >= 30: the sum of (+-1)^k U_k(p) / v^k, p = v / sqrt(v^2 + x^2) */
TT_LONG_FN tt_f64 tt__debye_sum(tt_f64 v, tt_f64 root, tt_f64 sign) {
  tt_f64 p = v / root, z = p * p, over = sign / root, power = 1, sum = 0;
  for (int k = 1, at = 0; k <= 14; at += k + 1, k++) {
    tt_f64 u = tt__debye[at + k];
    for (int j = k - 1; j >= 0; j--) u = u * z + tt__debye[at + j];
    power *= over;
    sum += u * power;
  }
  return 1 + sum;
}
/* v eta = root + v log(x / (v + root)); less x where `scaled`. root becomes sqrt(v^2 + x^2). */
TT_LONG_FN tt__dd tt__debye_power(tt_f64 v, tt_f64 x, int scaled) {
  tt__dd vv = tt__two_prod(v, v), n = tt__dd_sum(vv, tt__two_prod(x, x)), r, q, l;
  tt_f64 root = TT_SQRT_F64(n.hi);
  q = tt__two_prod(root, root);
  r = tt__fast_sum(root, (((n.hi - q.hi) - q.lo) + n.lo) / (2 * root));
  q = tt__dd_quotient(tt__dd_sum(r, tt__dd_of(v)), tt__dd_of(x));
  l = tt__log_dd(q.hi);
  l = tt__dd_minus(tt__dd_times(tt__dd_sum(l, tt__dd_of(q.lo / q.hi)), v));
  if (scaled) r = tt__dd_quotient(vv, tt__dd_sum(r, tt__dd_of(x)));
  return tt__dd_sum(r, l);
}

/* ---- near 0: Temme's series, f, p and q of its first term (|m| <= 1/2) */
typedef struct tt__temme {
  tt_f64 f, p, q;
} tt__temme;
TT_LONG_FN tt__temme tt__temme_start(tt_f64 m, tt_f64 x) {
  m = tt_abs_f64(m) < 1e-100 ? 0 : m;
  tt_f64 one, two, t = 8 * m * m - 1, l = -tt_log_f64(0.5 * x), w = m * l, r = tt_pow_f64(0.5 * x, -m), sh, turn;
  tt__temme s;
  if (x < 0x1p-1000) {
    l = 0x1.62e42fefa39efp-1 - tt_log_f64(x);
    w = m * l;
    r = tt_pow_f64(x, -m) * tt_exp2_f64(m);
  }
  TT__SECTION(one, tt__temme_1_table, 9, 0, t);
  TT__SECTION(two, tt__temme_2_table, 9, 0, t);
  sh = tt_abs_f64(w) < 1 ? (w == 0 ? 1 : tt_sinh_f64(w) / w) : 0.5 * (r - 1 / r) / w;
  turn = m == 0 ? 1 : TT__PI * m / tt__sinpi(m);
  s.f = turn * (0.5 * (r + 1 / r) * one + sh * l * two);
  s.p = 0.5 * r / (two - m * one);
  s.q = 0.5 / r / (two + m * one);
  return s;
}
/* Values at orders m and m + 1. */
typedef struct tt__two {
  tt__dd a, b;
} tt__two;
/* K for x <= 1/4 (is_y 0); Y for x <= 2. */
TT_LONG_FN tt__two tt__temme_sum(tt_f64 m, tt_f64 x, int is_y) {
  tt__temme s = tt__temme_start(m, x);
  tt_f64 z = 0.25 * x * x * (is_y ? -1 : 1), c = 1, turn = tt__sinpi(0.5 * m);
  tt_f64 more = is_y && m != 0 ? 2 / m * turn * turn : 0, g = s.f + more * s.q, first = g, second = s.p, a = 0, b = 0;
  tt__two r;
  for (tt_f64 k = 1; k < 40; k += 1) {
    s.f = (k * s.f + s.p + s.q) / (k * k - m * m);
    s.p /= k - m;
    s.q /= k + m;
    c *= z / k;
    g = s.f + more * s.q;
    a += c * g;
    b += c * (s.p - k * g);
    if (!(tt_abs_f64(c * g) > 0x1p-60 * tt_abs_f64(first + a)) &&
        !(tt_abs_f64(c * k * g) > 0x1p-60 * tt_abs_f64(second)))
      break;
  }
  first += a;
  second = (second + b) * 2 / x;
  r.a = tt__dd_of(is_y ? first * (-2 / TT__PI) : first);
  r.b = tt__dd_of(is_y ? second * (-2 / TT__PI) : second);
  return r;
}
/* e^x K for 1/4 < x < 20: the sum of e^(-x (cosh t - 1)) cosh(v t) over t = j log(2) / 8 is its integral. */
TT_LONG_FN tt__two tt__k_integral(tt_f64 m, tt_f64 x) {
  tt__two r;
  r.a = r.b = tt__dd_of(0.5);
  for (tt_f64 j = 1; j < 100; j += 1) {
    tt_f64 t = 0.125 * j, w = tt_exp2_f64(t), e = x * ((w - 1) * (w - 1)) / (2 * w), g, h;
    if (e > 46 + 2 * t) break;
    e = tt_exp_f64(-e);
    g = tt_exp2_f64(m * t);
    h = tt_exp2_f64((m + 1) * t);
    r.a = tt__dd_sum(r.a, tt__two_prod(0.5 * e, g + 1 / g));
    r.b = tt__dd_sum(r.b, tt__two_prod(0.5 * e, h + 1 / h));
  }
  r.a = tt__dd_times(r.a, 0x1.62e42fefa39efp-4);
  r.b = tt__dd_times(r.b, 0x1.62e42fefa39efp-4);
  return r;
}
/* n orders up: f(m + 1) = 2 m / x f(m) + sign f(m - 1). Gives the value n above the first. */
TT_LONG_FN tt__two tt__bessel_up(tt__two f, tt_f64 m, tt_f64 x, tt_f64 n, tt_f64 sign) {
  for (tt_f64 k = 1; k <= n; k += 1) {
    tt__dd up = tt__dd_times(tt__dd_quotient(tt__dd_of(2 * (m + k)), tt__dd_of(x)), f.b.hi), down = f.a;
    up.lo += 2 * (m + k) / x * f.b.lo;
    if (!(tt_abs_f64(up.hi) < 1e305)) { /* beyond, double-doubles are none */
      f.a = k == n ? f.b : tt__dd_of(f.b.hi * TT__INF_f64);
      f.b = tt__dd_of(f.b.hi * TT__INF_f64);
      return f;
    }
    if (sign < 0) down = tt__dd_minus(down);
    f.a = f.b;
    f.b = tt__dd_sum(up, down);
  }
  return f;
}

/* ---- I and K */
/* I, or e^-x I where `scaled`, of v >= 0 and x > 0. */
TT_LONG_FN tt_f64 tt__i_right(tt_f64 v, tt_f64 x, int scaled) {
  tt_f64 less = scaled ? x : 0;
  if (x == TT__INF_f64) return scaled ? 0 : x;
  if (x < 30 || x * x < 50 * (v + 1) || (v < 30 && x < 450)) {
    tt__dd s = tt__bessel_series(v, x, 1), e = tt__bessel_power(v, x);
    return tt__exp_dd_times(tt__minus_f64(e, less), s.hi);
  }
  if (x >= 0.5 * v * v) {
    tt_f64 y = tt__hankel_sum(v, x, -1) * 0x1.9884533d43651p-2 / TT_SQRT_F64(x); /* 1 / sqrt(2 pi) */
    return scaled ? y : tt__exp_dd_times(tt__dd_of(x), y);
  }
  tt_f64 root = tt_hypot_f64(v, x);
  return tt__exp_dd_times(tt__debye_power(v, x, scaled),
                          tt__debye_sum(v, root, 1) * 0x1.9884533d43651p-2 / TT_SQRT_F64(root));
}
/* K, or e^x K, of v >= 0 and x > 0. */
TT_LONG_FN tt_f64 tt__k_right(tt_f64 v, tt_f64 x, int scaled) {
  tt_f64 n = tt_floor_f64(v + 0.5), m = v - n, over = 1;
  tt__two f;
  if (x == TT__INF_f64) return 0;
  if (x >= 20 && x >= 0.5 * v * v) {
    tt_f64 y = tt__hankel_sum(v, x, 1) * 0x1.40d931ff62706p+0 / TT_SQRT_F64(x); /* sqrt(pi / 2) */
    return scaled ? y : tt__exp_dd_times(tt__dd_of(-x), y);
  }
  if (v >= 30) {
    tt_f64 root = tt_hypot_f64(v, x);
    if (v > 1e100 || x < 1e-100) return TT__INF_f64;
    return tt__exp_dd_times(tt__dd_minus(tt__debye_power(v, x, scaled)),
                            tt__debye_sum(v, root, -1) * 0x1.40d931ff62706p+0 / TT_SQRT_F64(root));
  }
  if (x <= 0.25) {
    f = tt__bessel_up(tt__temme_sum(m, x, 0), m, x, n, 1);
    return scaled ? tt_exp_f64(x) * f.a.hi : f.a.hi;
  }
  if (x < 20) {
    f = tt__k_integral(m, x);
  } else {
    f.a = tt__dd_of(tt__hankel_sum(m, x, 1));
    f.b = tt__dd_of(tt__hankel_sum(m + 1, x, 1));
    over = TT_SQRT_F64(x) / 0x1.40d931ff62706p+0;
  }
  f = tt__bessel_up(f, m, x, n, 1);
  return scaled ? f.a.hi / over : tt__exp_dd_times(tt__dd_of(-x), f.a.hi / over);
}
TT_LONG_FN tt_f64 tt__k_of(tt_f64 v, tt_f64 x, int scaled) {
  if (v != v || x != x) return v + x;
  if (!(x > 0)) return x == 0 ? TT__INF_f64 : TT__NAN_f64;
  return tt__k_right(tt_abs_f64(v), x, scaled);
}
TT_LONG_FN tt_f64 tt__i_of(tt_f64 v, tt_f64 x, int scaled) {
  tt_f64 a = tt_abs_f64(v), b = tt_abs_f64(x), y, s;
  int whole = a == tt_floor_f64(a), odd = whole && 0.5 * a != tt_floor_f64(0.5 * a);
  if (v != v || x != x) return v + x;
  if (x < 0 && !whole) return TT__NAN_f64;
  if (x == 0) return a == 0 ? 1 : v > 0 || whole ? 0 : TT__INF_f64;
  y = a > 1e15 ? 0 : tt__i_right(a, b, scaled);
  if (v < 0 && !whole) {
    s = 2 / TT__PI * tt__sinpi(a) * tt__k_right(a, b, scaled);
    y += scaled ? s * tt_exp_f64(-b) * tt_exp_f64(-b) : s;
  }
  return odd && x < 0 ? -y : y;
}
TT_LONG_FN tt_f64 tt_iv_f64(tt_f64 v, tt_f64 x) { return tt__i_of(v, x, 0); }
TT_LONG_FN tt_f64 tt_ive_f64(tt_f64 v, tt_f64 x) { return tt__i_of(v, x, 1); }
TT_LONG_FN tt_f64 tt_kv_f64(tt_f64 v, tt_f64 x) { return tt__k_of(v, x, 0); }
TT_LONG_FN tt_f64 tt_kve_f64(tt_f64 v, tt_f64 x) { return tt__k_of(v, x, 1); }
TT_LONG_FN tt_f64 tt_kn_f64(tt_f64 n, tt_f64 x) { return tt__k_of(tt_trunc_f64(n), x, 0); }

/* ---- J and Y */
TT_FN tt__dd tt__j_series(tt_f64 v, tt_f64 x) {
  tt__dd s = tt__bessel_series(v, x, -1);
  tt_f64 y = tt__exp_dd_times(tt__bessel_power(v, x), 1);
  return tt__dd_times(s, y);
}
/*
** Y at orders m and m + 1 for 2 < x <= 25, |m| <= 1/2: (J' + i Y') / (J + i Y) = p + i q by a continued fraction, from
** its end, and J by its series.
*/
TT_LONG_FN tt__two tt__y_fraction(tt_f64 m, tt_f64 x) {
  tt_f64 re = 0, im = 0, p, q, j, slope, y;
  tt__two r;
  for (int k = 12 + (int)(160 / x); k > 0; k--) { /* (k - 1/2)^2 - m^2 over what is left */
    tt_f64 n = (k - 0.5 - m) * (k - 0.5 + m), a = 2 * x + re, b = 2 * k + im, size = n / (a * a + b * b);
    re = a * size;
    im = -b * size;
  }
  p = -0.5 / x - im / x;
  q = 1 + re / x;
  j = tt__j_series(m, x).hi;
  slope = m / x * j - tt__j_series(m + 1, x).hi;
  y = (p * j - slope) / q;
  r.a = tt__dd_of(y);
  r.b = tt__dd_of(m / x * y - (q * j + p * y));
  return r;
}
TT_LONG_FN tt__two tt__y_start(tt_f64 m, tt_f64 x) {
  tt__two r;
  if (x <= 2) return tt__temme_sum(m, x, 1);
  if (x <= 25) return tt__y_fraction(m, x);
  r.a = tt__dd_of(tt__hankel_wave(m, x, 1));
  r.b = tt__dd_of(tt__hankel_wave(m + 1, x, 1));
  return r;
}
#define TT__MOST_ORDERS 1e5 /* as many steps a recurrence may have */
TT_LONG_FN tt_f64 tt__y_right(tt_f64 v, tt_f64 x) {
  tt_f64 n = tt_floor_f64(v + 0.5);
  if (x == TT__INF_f64) return 0;
  if (x >= 25 && x >= 0.5 * v * v) return tt__hankel_wave(v, x, 1);
  if (n > TT__MOST_ORDERS) return x < 0.5 * v ? -TT__INF_f64 : TT__NAN_f64;
  return tt__bessel_up(tt__y_start(v - n, x), v - n, x, n, -1).a.hi;
}
/* J(v + 1) / J(v) for v > x: a continued fraction of positive parts. */
TT_LONG_FN tt_f64 tt__j_ratio(tt_f64 v, tt_f64 x) {
  tt_f64 k = tt_floor_f64(20 + 12 * tt_cbrt_f64(x)), r;
  for (r = 0; k > 0; k -= 1) r = 1 / (2 * (v + k) / x - r);
  return r;
}
TT_LONG_FN tt_f64 tt__j_right(tt_f64 v, tt_f64 x) {
  tt_f64 n = tt_floor_f64(v + 0.5), m = v - n, r;
  tt__two f;
  if (x == TT__INF_f64) return 0;
  if (x >= 25 && x >= 0.5 * v * v) return tt__hankel_wave(v, x, 0);
  if (n > TT__MOST_ORDERS && x < 0.5 * v) return 0;
  if (x <= 25 || x * x < 50 * (v + 1)) return tt__exp_dd_times(tt__bessel_power(v, x), tt__bessel_series(v, x, -1).hi);
  if (n > TT__MOST_ORDERS) return TT__NAN_f64;
  if (v > x) { /* J falls: from Y, by J(v + 1) Y(v) - J(v) Y(v + 1) = 2 / (pi x) */
    f = tt__bessel_up(tt__y_start(m, x), m, x, n, -1);
    r = tt__j_ratio(v, x);
    return 2 / (TT__PI * x) / (r * f.a.hi - f.b.hi);
  }
  f.a = tt__dd_of(tt__hankel_wave(m, x, 0));
  f.b = tt__dd_of(tt__hankel_wave(m + 1, x, 0));
  return tt__bessel_up(f, m, x, n, -1).a.hi;
}
TT_LONG_FN tt_f64 tt_jv_f64(tt_f64 v, tt_f64 x) {
  tt_f64 a = tt_abs_f64(v), b = tt_abs_f64(x), y, s;
  int whole = a == tt_floor_f64(a), odd = whole && 0.5 * a != tt_floor_f64(0.5 * a);
  if (v != v || x != x) return v + x;
  if (x < 0 && !whole) return TT__NAN_f64;
  if (x == 0) return a == 0 ? 1 : v > 0 || whole ? 0 : TT__INF_f64;
  if (v < 0 && !whole) {
    y = tt__cospi(a);
    s = tt__sinpi(a);
    return (y == 0 ? 0 : y * tt__j_right(a, b)) - s * tt__y_right(a, b);
  }
  y = tt__j_right(a, b);
  return odd && ((x < 0) != (v < 0)) ? -y : y;
}
TT_LONG_FN tt_f64 tt_yv_f64(tt_f64 v, tt_f64 x) {
  tt_f64 a = tt_abs_f64(v), c, s;
  if (v != v || x != x) return v + x;
  if (!(x > 0)) return x < 0 ? TT__NAN_f64 : tt__cospi(a) < 0 && v < 0 ? TT__INF_f64 : -TT__INF_f64;
  if (v >= 0) return tt__y_right(a, x);
  c = tt__cospi(a);
  s = tt__sinpi(a);
  return (s == 0 ? 0 : s * tt__j_right(a, x)) + (c == 0 ? 0 : c * tt__y_right(a, x));
}
TT_LONG_FN tt_f64 tt_yn_f64(tt_f64 n, tt_f64 x) { return tt_yv_f64(tt_trunc_f64(n), x); }

/* ---- float32: the same, rounded */
TT__THROUGH_2(iv)
TT__THROUGH_2(ive)
TT__THROUGH_2(kv)
TT__THROUGH_2(kve)
TT__THROUGH_2(kn)
TT__THROUGH_2(jv)
TT__THROUGH_2(yv)
TT__THROUGH_2(yn)

#endif
