/*
** The plainest evaluator: node by node, element by element, every value as a tt_value. Slow and right by definition;
** the graph stage is tested over it, and whatever evaluates faster can be compared with it.
*/
#ifndef TT_TEST_ORACLE_H
#define TT_TEST_ORACLE_H

#include <complex.h>
#include <math.h>
#include <string.h>

#include "graph/build.h"
#include "graph/session.h"

static tt_value oracle_bool(bool b) {
  tt_value v = {.tag = TT_V_BOOL};
  v.as.b = b;
  return v;
}
static tt_value oracle_complex(double complex z) {
  tt_value v = {.tag = TT_V_COMPLEX};
  v.as.z = (tt_c128){creal(z), cimag(z)};
  return v;
}
static double oracle_real(tt_value v) {
  return tt__scalar_load(TT_F64, &(tt_scalar){.f64 = tt__scalar_from(&v, TT_F64).f64}).as.f;
}
static double complex oracle_z(tt_value v) {
  tt_scalar s = tt__scalar_from(&v, TT_C128);
  return __builtin_complex(s.c128.re, s.c128.im);
}
static bool oracle_truth(tt_value v) { return tt__scalar_from(&v, TT_BOOL).b8; }
static int64_t oracle_int(tt_value v) { return tt__scalar_from(&v, TT_I64).i64; }
static tt_value oracle_uint(uint64_t u) { return tt__scalar_load(TT_U64, &u); }

static tt_value oracle_get(const tt_node *n, int64_t i) {
  size_t item = tt__dtype_size((tt_dtype)n->dtype);
  return tt__scalar_load((tt_dtype)n->dtype, (const char *)n->attr.buf->data + (size_t)i * item);
}
static void oracle_put(tt_dtype t, void *data, int64_t i, tt_value v) {
  tt_scalar s = tt__scalar_from(&v, t);
  memcpy((char *)data + (size_t)i * tt__dtype_size(t), &s, tt__dtype_size(t));
}

/* -1, 0, 1; 2 when not ordered. Complex numbers by real, then imaginary part. */
static int oracle_compare(tt_dtype t, tt_value a, tt_value b) {
  if (tt__is_complex(t)) {
    double complex x = oracle_z(a), y = oracle_z(b);
    if (creal(x) != creal(y)) return creal(x) < creal(y) ? -1 : creal(x) > creal(y) ? 1 : 2;
    return cimag(x) < cimag(y) ? -1 : cimag(x) > cimag(y) ? 1 : cimag(x) == cimag(y) ? 0 : 2;
  }
  if (tt__is_float(t)) {
    double x = oracle_real(a), y = oracle_real(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
  }
  if (t == TT_U64) {
    uint64_t x = tt__scalar_from(&a, t).u64, y = tt__scalar_from(&b, t).u64;
    return x < y ? -1 : x > y;
  }
  int64_t x = oracle_int(a), y = oracle_int(b);
  return x < y ? -1 : x > y;
}

static tt_value oracle_int_op(int op, tt_dtype t, tt_value a, tt_value b) {
  bool u = tt__is_unsigned(t);
  uint64_t x = tt__scalar_from(&a, TT_U64).u64, y = tt__scalar_from(&b, TT_U64).u64, r = 0;
  int64_t sx = (int64_t)x, sy = (int64_t)y;
  int bits = (int)tt__dtype_size(t) * 8;
  switch (op) {
    case TT_ADD:
      r = t == TT_BOOL ? x | y : x + y;
      break;
    case TT_SUB:
      r = x - y;
      break;
    case TT_MUL:
      r = x * y;
      break;
    case TT_FLOORDIV:
    case TT_MOD:
      if (y == 0) return tt_v_int(0);
      if (u) return oracle_uint(op == TT_MOD ? x % y : x / y);
      if (sy == -1) return tt_v_int(op == TT_MOD ? 0 : (int64_t)(0 - x));
      r = (uint64_t)(sx / sy - (sx % sy != 0 && (sx % sy < 0) != (sy < 0)));
      if (op == TT_MOD) r = x - r * y;
      break;
    case TT_FMOD:
      return y == 0 || sy == -1 ? tt_v_int(0) : u ? oracle_uint(x % y) : tt_v_int(sx % sy);
    case TT_QUOTIENT:
      if (y == 0) return u ? oracle_uint(~UINT64_C(0)) : tt_v_int(-1);
      if (u) return oracle_uint(x / y);
      return tt_v_int(sy == -1 ? (int64_t)(0 - x) : sx / sy);
    case TT_POW:
      for (r = 1; y; y >>= 1, x *= x)
        if (y & 1) r *= x;
      break;
    case TT_NEG:
      r = 0 - x;
      break;
    case TT_ABS:
      r = u || sx >= 0 ? x : 0 - x;
      break;
    case TT_SIGN:
      return tt_v_int(u ? x != 0 : (sx > 0) - (sx < 0));
    case TT_SQUARE:
      r = x * x;
      break;
    case TT_RECIPROCAL:
      return tt_v_int(x == 1 ? 1 : !u && sx == -1 ? -1 : 0);
    case TT_MAXIMUM:
    case TT_FMAX:
      return oracle_compare(t, a, b) >= 0 ? a : b;
    case TT_MINIMUM:
    case TT_FMIN:
      return oracle_compare(t, a, b) <= 0 ? a : b;
    case TT_AND:
      r = x & y;
      break;
    case TT_OR:
      r = x | y;
      break;
    case TT_XOR:
      r = x ^ y;
      break;
    case TT_NOT:
      r = t == TT_BOOL ? !x : ~x;
      break;
    case TT_GCD:
    case TT_LCM: {
      uint64_t p = !u && sx < 0 ? 0 - x : x, q = !u && sy < 0 ? 0 - y : y, both = p;
      for (uint64_t n = q; n != 0;) {
        uint64_t rest = both % n;
        both = n;
        n = rest;
      }
      r = op == TT_GCD ? both : both ? p / both * q : 0;
      break;
    }
    case TT_SHL:
      r = y >= (uint64_t)bits ? 0 : x << y;
      break;
    case TT_SHR:
      r = y >= (uint64_t)bits ? (u || sx >= 0 ? 0 : ~UINT64_C(0)) : u ? x >> y : (uint64_t)(sx >> y);
      break;
    default:
      r = 0xbad;
  }
  return u ? oracle_uint(r) : tt_v_int((int64_t)r);
}

static double oracle_float_op(int op, double x, double y) {
  switch (op) {
    case TT_ADD:
      return x + y;
    case TT_SUB:
      return x - y;
    case TT_MUL:
      return x * y;
    case TT_DIV:
      return x / y;
    case TT_FLOORDIV:
    case TT_MOD: {
      double m = fmod(x, y);
      if (y == 0) return op == TT_MOD ? m : x / y;
      double q = (x - m) / y;
      if (m != 0 && (y < 0) != (m < 0)) {
        m += y;
        q -= 1;
      }
      if (op == TT_MOD) return m != 0 ? m : copysign(0, y);
      double f = floor(q);
      return q != 0 ? f + (q - f > 0.5) : copysign(0, x / y);
    }
    case TT_FMOD:
      return fmod(x, y);
    case TT_POW:
      return pow(x, y);
    case TT_NEG:
      return -x;
    case TT_ABS:
      return fabs(x);
    case TT_SIGN:
      return (x > 0) - (x < 0);
    case TT_SQUARE:
      return x * x;
    case TT_RECIPROCAL:
      return 1 / x;
    case TT_MAXIMUM:
      return isnan(x) || x >= y ? x : y;
    case TT_MINIMUM:
      return isnan(x) || x <= y ? x : y;
    case TT_FMAX:
      return fmax(x, y);
    case TT_FMIN:
      return fmin(x, y);
    case TT_SQRT:
      return sqrt(x);
    case TT_CBRT:
      return cbrt(x);
    case TT_EXP:
      return exp(x);
    case TT_EXP2:
      return exp2(x);
    case TT_EXPM1:
      return expm1(x);
    case TT_LOG:
      return log(x);
    case TT_LOG2:
      return log2(x);
    case TT_LOG10:
      return log10(x);
    case TT_LOG1P:
      return log1p(x);
    case TT_SIN:
      return sin(x);
    case TT_COS:
      return cos(x);
    case TT_TAN:
      return tan(x);
    case TT_TANH:
      return tanh(x);
    case TT_ATAN2:
      return atan2(x, y);
    case TT_HYPOT:
      return hypot(x, y);
    case TT_COPYSIGN:
      return copysign(x, y);
    case TT_RINT:
      return rint(x);
    case TT_FLOOR:
      return floor(x);
    case TT_CEIL:
      return ceil(x);
    case TT_TRUNC:
      return trunc(x);
    default:
      return NAN;
  }
}

static tt_value oracle_complex_op(int op, double complex x, double complex y) {
  switch (op) {
    case TT_ADD:
      return oracle_complex(x + y);
    case TT_SUB:
      return oracle_complex(x - y);
    case TT_MUL:
      return oracle_complex(x * y);
    case TT_DIV:
      return oracle_complex(x / y);
    case TT_POW:
      return oracle_complex(cpow(x, y));
    case TT_NEG:
      return oracle_complex(-x);
    case TT_SQUARE:
      return oracle_complex(x * x);
    case TT_RECIPROCAL:
      return oracle_complex(1 / x);
    case TT_CONJ:
      return oracle_complex(conj(x));
    case TT_SQRT:
      return oracle_complex(csqrt(x));
    case TT_EXP:
      return oracle_complex(cexp(x));
    case TT_LOG:
      return oracle_complex(clog(x));
    case TT_ABS:
      return tt_v_float(cabs(x));
    case TT_REAL:
      return tt_v_float(creal(x));
    case TT_IMAG:
      return tt_v_float(cimag(x));
    default:
      return oracle_complex(NAN);
  }
}

/* One element of an elementwise op; `t` is the operands' type. */
static tt_value oracle_op(int op, tt_dtype t, tt_value a, tt_value b) {
  int order;
  switch (tt__ops[op].cls) {
    case TT_CLASS_COMPARE:
      order = oracle_compare(t, a, b);
      switch (op) {
        case TT_EQ:
          return oracle_bool(order == 0);
        case TT_NE:
          return oracle_bool(order != 0);
        case TT_LT:
          return oracle_bool(order == -1);
        case TT_LE:
          return oracle_bool(order == -1 || order == 0);
        case TT_GT:
          return oracle_bool(order == 1);
        default:
          return oracle_bool(order == 1 || order == 0);
      }
    case TT_CLASS_LOGIC: {
      bool x = oracle_truth(a), y = oracle_truth(b);
      return oracle_bool(op == TT_LAND ? x && y : op == TT_LOR ? x || y : op == TT_LXOR ? x != y : !x);
    }
    case TT_CLASS_TEST: {
      double complex z = oracle_z(a);
      bool nan = isnan(creal(z)) || isnan(cimag(z)), inf = isinf(creal(z)) || isinf(cimag(z));
      return oracle_bool(op == TT_ISNAN      ? nan
                         : op == TT_ISINF    ? inf
                         : op == TT_ISFINITE ? !nan && !inf
                                             : signbit(creal(z)));
    }
    default:
      break;
  }
  if (tt__is_complex(t)) return oracle_complex_op(op, oracle_z(a), oracle_z(b));
  if (tt__is_float(t)) return tt_v_float(oracle_float_op(op, oracle_real(a), oracle_real(b)));
  return oracle_int_op(op, t, a, b);
}

/* What a cast makes of a value: scalars' own rules, but complex drops its imaginary part and NaN is true. */
static tt_value oracle_cast(tt_value v, tt_dtype to) {
  if (to == TT_BOOL) return oracle_bool(oracle_truth(v));
  return v;
}

static int64_t oracle_at(const int64_t *len, int rank, const int64_t *step, int64_t off, int64_t flat) {
  for (int k = rank; k-- > 0; flat /= len[k]) off += flat % len[k] * step[k];
  return off;
}

static void oracle_reduce(tt_node *n, void *data) {
  tt_node *s = n->src[0];
  tt_dtype t = (tt_dtype)s->dtype;
  int red = n->attr.reduce.red;
  bool arg = red == TT_RED_ARGMAX || red == TT_RED_ARGMIN;
  bool high = red == TT_RED_MAX || red == TT_RED_ARGMAX;
  for (int64_t o = 0; o < n->size; o++) {
    tt_value acc = tt_v_int(red == TT_RED_PROD || red == TT_RED_ALL);
    int64_t index = 0, best = 0;
    for (int64_t i = 0; i < s->size; i++) {
      int64_t rest = i, to = 0, unit = 1;
      for (int k = s->rank; k-- > 0; rest /= s->dim[k])
        if (!(n->attr.reduce.axes >> k & 1)) {
          to += rest % s->dim[k] * unit;
          unit *= s->dim[k];
        }
      if (to != o) continue;
      tt_value v = oracle_get(s, i);
      bool first = index == 0;
      switch (red) {
        case TT_RED_SUM:
          acc = oracle_op(TT_ADD, t, acc, v);
          break;
        case TT_RED_PROD:
          acc = oracle_op(TT_MUL, t, acc, v);
          break;
        case TT_RED_ANY:
          acc = oracle_bool(oracle_truth(acc) || oracle_truth(v));
          break;
        case TT_RED_ALL:
          acc = oracle_bool(oracle_truth(acc) && oracle_truth(v));
          break;
        default: {
          int c = oracle_compare(t, v, acc);
          bool was_nan = !first && oracle_compare(t, acc, acc) == 2, is_nan = oracle_compare(t, v, v) == 2;
          if (first || (!was_nan && (is_nan || c == (high ? 1 : -1)))) {
            acc = v;
            best = index;
          }
        }
      }
      index++;
    }
    oracle_put((tt_dtype)n->dtype, data, o, arg ? tt_v_int(best) : acc);
  }
}

static tt_code oracle_run(tt_node *n, tt_error *err);

static void oracle_fill(tt_node *n, void *data) {
  tt_dtype t = (tt_dtype)n->dtype;
  tt_node **s = n->src;
  if (n->op == TT_N_REDUCE) {
    oracle_reduce(n, data);
    return;
  }
  if (n->op == TT_N_BITCAST) {
    memcpy(data, s[0]->attr.buf->data, (size_t)n->size * tt__dtype_size(t));
    return;
  }
  if (n->op == TT_N_STORE || n->op == TT_N_SCATTER) {
    memcpy(data, s[0]->attr.buf->data, (size_t)n->size * tt__dtype_size(t));
    tt_node *value = s[n->op == TT_N_STORE ? 1 : 2];
    for (int64_t i = 0; i < value->size; i++) {
      int64_t to = n->op == TT_N_STORE ? oracle_at(value->dim, value->rank, tt__node_step(n), n->attr.off, i)
                                       : oracle_int(oracle_get(s[1], i));
      oracle_put(t, data, to, oracle_get(value, i));
    }
    return;
  }
  for (int64_t i = 0; i < n->size; i++) {
    tt_value v = tt_v_int(0);
    switch (n->op) {
      case TT_N_EMPTY:
        break;
      case TT_N_CONST:
        v = tt__scalar_load(t, &n->attr.scalar);
        break;
      case TT_N_IOTA:
        v = tt_v_int(i);
        break;
      case TT_N_VIEW:
        v = oracle_get(s[0], oracle_at(n->dim, n->rank, tt__node_step(n), n->attr.off, i));
        break;
      case TT_N_GATHER:
        v = oracle_get(s[0], oracle_int(oracle_get(s[1], i)));
        break;
      case TT_WHERE:
        v = oracle_get(s[oracle_truth(oracle_get(s[0], i)) ? 1 : 2], i);
        break;
      case TT_CAST:
        v = oracle_cast(oracle_get(s[0], i), t);
        break;
      default:
        v = oracle_op(n->op, (tt_dtype)s[0]->dtype, oracle_get(s[0], i), oracle_get(s[n->nsrc - 1], i));
    }
    oracle_put(t, data, i, v);
  }
}

static tt_code oracle_run(tt_node *n, tt_error *err) {
  if (n->op == TT_N_BUFFER) return TT_OK;
  for (int k = 0; k < n->nsrc; k++) {
    tt_code code = oracle_run(n->src[k], err);
    if (code != TT_OK) return code;
  }
  tt_buffer *b = tt__buffer_new((size_t)n->size * tt__dtype_size((tt_dtype)n->dtype), err);
  if (!b) return TT_ENOMEM;
  oracle_fill(n, b->data);
  tt__node_become_buffer(n, b);
  return TT_OK;
}

static tt_code oracle_evaluate(tt_node *const *node, int n, tt_error *err) {
  for (int k = 0; k < n; k++) {
    tt_code code = oracle_run(node[k], err);
    if (code != TT_OK) return code;
  }
  return TT_OK;
}

#endif
