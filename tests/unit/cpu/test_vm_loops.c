/*
** The interpreter's loops: every entry of the table gives the same bits at every instruction set, in place too, and
** for far arguments; casts, moves and reductions against plain C.
*/
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "device/cpu/vm_loops.h"
#include "check.h"

enum { N = 1037, BYTES = N * 8 };

/* A number as an element of the type. */
static void put(void *at, tt_dtype t, double v) {
  switch (t) {
    case TT_BOOL:
      *(uint8_t *)at = v != 0;
      break;
    case TT_I8:
      *(int8_t *)at = (int8_t)v;
      break;
    case TT_I16:
      *(int16_t *)at = (int16_t)v;
      break;
    case TT_I32:
      *(int32_t *)at = (int32_t)v;
      break;
    case TT_I64:
      *(int64_t *)at = (int64_t)v;
      break;
    case TT_U8:
      *(uint8_t *)at = (uint8_t)v;
      break;
    case TT_U16:
      *(uint16_t *)at = (uint16_t)v;
      break;
    case TT_U32:
      *(uint32_t *)at = (uint32_t)v;
      break;
    case TT_U64:
      *(uint64_t *)at = (uint64_t)v;
      break;
    case TT_F32:
      *(float *)at = (float)v;
      break;
    case TT_F64:
      *(double *)at = v;
      break;
    default:
      break;
  }
}
static const double specials[] = {0,      -0.0,     1,         -1,    0.5,    -0.5,   2,     1.5,  2.5,
                                  3,      INFINITY, -INFINITY, NAN,   1e-3,   1e15,   -1e15, 1e30, 7,
                                  -7,     64,       63,        31,    1e-310, 5e-324, 88.7,  89,   709.7,
                                  -745.1, 1e300,    1e-40,     3.1e7, 2.6e38, 65519,  2049,  4e9,  -2147483648.0};
enum { SPECIALS = sizeof specials / sizeof *specials };

/* far: every bit pattern; else numbers of an everyday size. */
static void fill(void *to, tt_dtype t, int kind) {
  size_t size = tt__dtype_size(t);
  for (int i = 0; i < N; i++) {
    char *at = (char *)to + (size_t)i * size;
    uint64_t u = draw();
    double small = (double)(int64_t)(draw() >> 20) * 0x1p-40 - 8;
    if (t == TT_BOOL) {
      *at = (char)(u & 1);
    } else if (kind == 0 || t == TT_F16 || t == TT_BF16) {
      memcpy(at, &u, size);
    } else if (kind == 1) {
      put(at, t, tt__dtypes[t].kind == 'u' ? fabs(small) : small);
    } else {
      double v = specials[u % SPECIALS];
      int fits = tt__is_float(t) ||
                 (isfinite(v) && fabs(v) < ldexp(1, (int)size * 8 - 1) && (tt__dtypes[t].kind != 'u' || v >= 0));
      put(at, t, fits ? v : 5);
    }
  }
}

/* How many elements differ; all NaN are one. */
static int differ(const void *a, const void *b, tt_dtype t, int n) {
  size_t size = tt__dtype_size(t);
  int count = 0;
  for (int i = 0; i < n; i++) {
    const char *x = (const char *)a + (size_t)i * size, *y = (const char *)b + (size_t)i * size;
    if (memcmp(x, y, size) == 0) continue;
    if (t == TT_F32 && isnan(*(const float *)x) && isnan(*(const float *)y)) continue;
    if (t == TT_F64 && isnan(*(const double *)x) && isnan(*(const double *)y)) continue;
    if (count++ == 0)
      printf("  lane %d: %016llx %016llx\n", i,
             (unsigned long long)(size == 8   ? *(const uint64_t *)x
                                  : size == 4 ? *(const uint32_t *)x
                                              : *(const uint8_t *)x),
             (unsigned long long)(size == 8   ? *(const uint64_t *)y
                                  : size == 4 ? *(const uint32_t *)y
                                              : *(const uint8_t *)y));
  }
  return count;
}

static const int levels[] = {3, 4};
static _Alignas(64) char in[3][BYTES], want[BYTES], got[BYTES];

static tt_dtype result_type(tt_op op, tt_dtype t) {
  int cls = tt__ops[op].cls;
  return cls == TT_CLASS_COMPARE || cls == TT_CLASS_LOGIC || cls == TT_CLASS_TEST ? TT_BOOL : t;
}

static void check_ops(void) {
  const tt_vm_table *plain = tt__vm_table_at(0);
  for (int op = 0; op < TT_OP_COUNT; op++)
    for (int t = 0; t < TT_DTYPE_COUNT; t++) {
      int kernel_type = tt__dtypes[t].kind == 'b'    ? TT_OPT_B
                        : tt__is_int((tt_dtype)t)    ? TT_OPT_I
                        : t == TT_F32 || t == TT_F64 ? TT_OPT_F
                                                     : 0;
      int has = op != TT_CAST && (tt__ops[op].types & kernel_type) != 0;
      if (op == TT_PHILOX) has = t == TT_U64;
      CHECK((plain->op[op][t] != NULL) == has, "%s %s: entry and row disagree", tt__ops[op].name, tt__dtypes[t].name);
      if (!plain->op[op][t]) continue;
      tt_dtype r = result_type((tt_op)op, (tt_dtype)t);
      int n = tt__ops[op].cls == TT_CLASS_SPECIAL ? N / 8 : N; /* sums and continued fractions: slow */
      for (int kind = 0; kind < 4; kind++) {
        for (int k = 0; k < 3; k++)
          fill(in[k], tt__op_operand((tt_op)op, (tt_dtype)t, k), kind == 3 ? 1 + k % 2 : kind);
        plain->op[op][t](want, in[0], in[1], in[2], n);
        for (int l = 0; l < 2; l++) {
          const tt_vm_table *v = tt__vm_table_at(levels[l]);
          if (!v) continue;
          v->op[op][t](got, in[0], in[1], in[2], n);
          CHECK(differ(want, got, r, n) == 0, "%s %s level %d kind %d", tt__ops[op].name, tt__dtypes[t].name, levels[l],
                kind);
          if (r != (tt_dtype)t) continue;
          const void *a = op == TT_WHERE ? in[0] : got;
          memcpy(got, in[op == TT_WHERE ? 1 : 0], BYTES);
          v->op[op][t](got, a, op == TT_WHERE ? got : in[1], in[2], n);
          CHECK(differ(want, got, r, n) == 0, "%s %s level %d in place", tt__ops[op].name, tt__dtypes[t].name,
                levels[l]);
        }
      }
    }
}

static void check_casts(void) {
  const tt_vm_table *plain = tt__vm_table_at(0);
  for (int f = 0; f < TT_DTYPE_COUNT; f++)
    for (int t = 0; t < TT_DTYPE_COUNT; t++) {
      int real = !tt__is_complex((tt_dtype)f) && !tt__is_complex((tt_dtype)t);
      CHECK((plain->cast[f][t] != NULL) == real, "cast %s %s", tt__dtypes[f].name, tt__dtypes[t].name);
      if (!real) continue;
      for (int kind = 0; kind < 3; kind++) {
        fill(in[0], (tt_dtype)f, kind);
        plain->cast[f][t](want, in[0], NULL, NULL, N);
        for (int l = 0; l < 2; l++) {
          const tt_vm_table *v = tt__vm_table_at(levels[l]);
          if (!v) continue;
          v->cast[f][t](got, in[0], NULL, NULL, N);
          CHECK(differ(want, got, (tt_dtype)t, N) == 0, "cast %s %s level %d", tt__dtypes[f].name, tt__dtypes[t].name,
                levels[l]);
        }
      }
      /* Small whole numbers survive any way through any type. */
      for (int i = 0; i < 100; i++) ((int8_t *)in[0])[i] = (int8_t)i;
      plain->cast[TT_I8][f](in[1], in[0], NULL, NULL, 100);
      plain->cast[f][t](in[2], in[1], NULL, NULL, 100);
      plain->cast[t][TT_I8](got, in[2], NULL, NULL, 100);
      for (int i = 0; i < 100; i++)
        CHECK(((int8_t *)got)[i] == (f == TT_BOOL || t == TT_BOOL ? i != 0 : i), "%d through %s, %s", i,
              tt__dtypes[f].name, tt__dtypes[t].name);
    }
}

/* Rounding to a format of `bits` significant bits and least exponent `emin`, by the textbook. */
static double round_to(double x, int bits, int emin, double top) {
  int e;
  frexp(x, &e);
  e = (e < emin ? emin : e) - bits;
  x = ldexp(rint(ldexp(x, -e)), e);
  return fabs(x) >= top ? copysign(INFINITY, x) : x;
}
static void check_narrow(void) {
  const tt_vm_table *v = tt__vm_table();
  double x[64], back[64];
  uint16_t h[64];
  for (int narrow = 0; narrow < 2; narrow++) {
    tt_dtype t = narrow ? TT_BF16 : TT_F16;
    for (int round = 0; round < 3000; round++) {
      for (int i = 0; i < 64; i++) {
        x[i] = ldexp((double)(int64_t)draw() * 0x1p-63, narrow ? (int)(draw() % 280) - 145 : (int)(draw() % 50) - 30);
        if (i % 4 == 0) x[i] = round_to(x[i], narrow ? 9 : 12, narrow ? -126 : -14, INFINITY); /* often a tie */
        if (i % 8 == 0) x[i] = nextafter(x[i], (i & 16) != 0 ? 0 : INFINITY);
      }
      v->cast[TT_F64][t](h, x, NULL, NULL, 64);
      v->cast[t][TT_F64](back, h, NULL, NULL, 64);
      for (int i = 0; i < 64; i++) {
        double r = narrow ? round_to(x[i], 8, -125, 0x1p128) : round_to(x[i], 11, -13, 65536);
        CHECK(back[i] == r, "%a to %s: %a not %a", x[i], tt__dtypes[t].name, back[i], r);
      }
    }
    for (int u = 0; u < 65536; u += 64) { /* there and back is the identity, but for what NaN carries */
      for (int i = 0; i < 64; i++) h[i] = (uint16_t)(u + i);
      uint16_t again[64];
      float f[64];
      v->cast[t][TT_F32](f, h, NULL, NULL, 64);
      v->cast[TT_F32][t](again, f, NULL, NULL, 64);
      for (int i = 0; i < 64; i++) CHECK(isnan(f[i]) || again[i] == h[i], "%04x is %a is %04x", h[i], f[i], again[i]);
    }
  }
}

static void check_moves(void) {
  const tt_vm_table *v = tt__vm_table();
  static const int64_t steps[] = {1, -1, 0, 2, -3, 5};
  int64_t idx[100], count[7];
  for (int size = 0; size < 4; size++) {
    size_t b = (size_t)1 << size;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
      int64_t s = steps[k];
      fill(in[0], TT_U8, 0);
      char *mid = in[0] + 512 * b;
      v->load[size](got, mid, s, 100);
      for (int i = 0; i < 100; i++)
        CHECK(memcmp(got + i * b, mid + i * s * (int64_t)b, b) == 0, "load %d step %d", size, (int)s);
      memset(want, 0, BYTES);
      v->store[size](want + 512 * b, s, got, 100);
      for (int i = s == 0 ? 99 : 0; i < 100; i++)
        CHECK(memcmp(want + 512 * b + i * s * (int64_t)b, got + i * b, b) == 0, "store %d step %d", size, (int)s);
    }
    for (int i = 0; i < 100; i++) idx[i] = (i * 37) % 101;
    v->gather[size](got, in[0], idx, 100);
    for (int i = 0; i < 100; i++) CHECK(memcmp(got + i * b, in[0] + idx[i] * b, b) == 0, "gather %d", size);
    v->scatter[size](want, idx, got, 100);
    for (int i = 0; i < 100; i++) CHECK(memcmp(want + idx[i] * b, got + i * b, b) == 0, "scatter %d", size);
    v->splat[size](got, in[0], 77);
    for (int i = 0; i < 77; i++) CHECK(memcmp(got + i * b, in[0], b) == 0, "splat %d", size);
  }
  v->iota(count, 10, -3, 7);
  for (int i = 0; i < 7; i++) CHECK(count[i] == 10 - 3 * i, "iota");
}

/* Lanes by the op's own loop, one element at a time. */
static void check_reductions(void) {
  static _Alignas(64) char acc[2][TT_VM_LANES * 8];
  for (int op = 0; op < TT_OP_COUNT; op++)
    for (int t = 0; t < TT_DTYPE_COUNT; t++) {
      const tt_vm_table *plain = tt__vm_table_at(0);
      int has = (tt__ops[op].flags & TT_OPF_RED) != 0 && plain->op[op][t] != NULL;
      CHECK((plain->red[op][t] != NULL) == has && (plain->fold[op][t] != NULL) == has, "red %s", tt__ops[op].name);
      if (!has) continue;
      size_t b = tt__dtype_size((tt_dtype)t);
      for (int kind = 0; kind < 3; kind++)
        for (int n = 0; n <= N; n += n < 130 ? 13 : 907) {
          fill(in[0], (tt_dtype)t, kind);
          fill(in[1], (tt_dtype)t, kind);
          memcpy(acc[0], in[1], TT_VM_LANES * b);
          for (int i = 0; i < n; i++)
            plain->op[op][t](acc[0] + i % TT_VM_LANES * b, acc[0] + i % TT_VM_LANES * b, in[0] + i * b, NULL, 1);
          memcpy(want, acc[0], TT_VM_LANES * b);
          for (int w = TT_VM_LANES / 2; w > 0; w /= 2) plain->op[op][t](acc[0], acc[0], acc[0] + w * b, NULL, w);
          for (int l = -1; l < 2; l++) {
            const tt_vm_table *v = tt__vm_table_at(l < 0 ? 0 : levels[l]);
            if (!v) continue;
            memcpy(acc[1], in[1], TT_VM_LANES * b);
            v->red[op][t](acc[1], in[0], n);
            CHECK(differ(want, acc[1], (tt_dtype)t, TT_VM_LANES) == 0, "red %s %s %d", tt__ops[op].name,
                  tt__dtypes[t].name, n);
            v->fold[op][t](acc[1]);
            CHECK(differ(acc[0], acc[1], (tt_dtype)t, 1) == 0, "fold %s %s %d", tt__ops[op].name, tt__dtypes[t].name,
                  n);
          }
        }
    }
}

static double number(const void *x, tt_dtype t, int64_t i) {
  double d;
  tt__vm_table_at(0)->cast[t][TT_F64](&d, (const char *)x + i * (int64_t)tt__dtype_size(t), NULL, NULL, 1);
  return d;
}
static void check_args(void) {
  static _Alignas(64) char acc[N * 8];
  static int64_t at[N];
  for (int t = 0; t <= TT_F64; t++)
    for (int max = 0; max < 2; max++)
      for (int l = -1; l < 2; l++) {
        const tt_vm_table *v = tt__vm_table_at(l < 0 ? 0 : levels[l]);
        if (!v || t == TT_F16 || t == TT_BF16) continue;
        for (int n = 1; n <= N; n += 148) {
          int kind = n % 3 == 0 ? 2 : 1;
          fill(in[0], (tt_dtype)t, kind);
          int best = 0;
          for (int i = 1; i < n; i++) {
            double x = number(in[0], (tt_dtype)t, i), m = number(in[0], (tt_dtype)t, best);
            if (m == m && (x != x || (max ? x > m : x < m))) best = i;
          }
          for (int i = 0; i < TT_VM_LANES; i++) at[i] = -1;
          (max ? v->argmax : v->argmin)[t](acc, at, in[0], 5, 2, TT_VM_LANES, n);
          (max ? v->argfold_max : v->argfold_min)[t](acc, at);
          CHECK(at[0] == 5 + 2 * best, "arg %d %s %d: %d not %d", max, tt__dtypes[t].name, n, (int)at[0], 5 + 2 * best);
          /* A lane an element: the second row replaces what beats the first. */
          fill(in[1], (tt_dtype)t, kind);
          for (int i = 0; i < n; i++) at[i] = -1;
          (max ? v->argmax : v->argmin)[t](acc, at, in[0], 0, 0, N, n);
          (max ? v->argmax : v->argmin)[t](acc, at, in[1], 1, 0, N, n);
          for (int i = 0; i < n; i++) {
            double x = number(in[1], (tt_dtype)t, i), m = number(in[0], (tt_dtype)t, i);
            int second = m == m && (x != x || (max ? x > m : x < m));
            if (t != TT_I64 && t != TT_U64) CHECK(at[i] == second, "lane arg %s", tt__dtypes[t].name);
          }
        }
      }
}

int main(void) {
  for (int round = 0; round < 3; round++) check_ops();
  check_casts();
  check_narrow();
  check_moves();
  check_reductions();
  check_args();
  CHECK(tt__vm_table()->level <= tt__vector_level(), "level");
  setenv("TUTTI_CPU_LEVEL", "0", 1);
  CHECK(tt__vm_table()->level == 0, "TUTTI_CPU_LEVEL");
  printf("%d failures\n", failures);
  return failures != 0;
}
