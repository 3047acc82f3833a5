/*
** Eigenvalues of a general matrix: to Hessenberg form by reflectors, to triangular (Schur) form by shifted QR steps,
** eigenvectors by back substitution. All in complex arithmetic.
*/
#include "lib/fallback/lapack.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "lib/linalg/lapack.h"

typedef double _Complex num;

static num mul(num x, num y) { return tt__complex_mul(x, y); }
static double taxi(num x) { return fabs(creal(x)) + fabs(cimag(x)); }

/* H[m, n] -= tau v (v^H H), with steps rs and cs; v[0..m). */
static void reflect_left(int64_t m, int64_t n, const num *v, double tau, num *h, int64_t ld) {
  for (int64_t j = 0; j < n; j++) {
    num sum = 0;
    for (int64_t i = 0; i < m; i++) sum += mul(conj(v[i]), h[i + j * ld]);
    for (int64_t i = 0; i < m; i++) h[i + j * ld] -= mul(tau * sum, v[i]);
  }
}

/* H[m, n] -= tau (H v) v^H; `room` holds m. */
static void reflect_right(int64_t m, int64_t n, const num *v, double tau, num *h, int64_t ld, num *room) {
  memset(room, 0, (size_t)m * sizeof *room);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < m; i++) room[i] += mul(v[j], h[i + j * ld]);
  }
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < m; i++) h[i + j * ld] -= mul(tau * room[i], conj(v[j]));
  }
}

/* H = Q^H A Q with zeros below the subdiagonal; Q (if wanted) starts as the identity. `v` holds 2 n. */
static void hessenberg(int64_t n, num *h, num *q, num *v) {
  for (int64_t k = 0; k + 2 < n; k++) {
    int64_t len = n - k - 1;
    num *x = h + k + 1 + k * n;
    double rest = 0, norm;
    for (int64_t i = 1; i < len; i++) rest = hypot(rest, cabs(x[i]));
    if (rest == 0) continue;
    norm = hypot(rest, cabs(x[0]));
    num phase = x[0] == 0 ? 1 : x[0] / cabs(x[0]);
    double norm_v = 0;
    memcpy(v, x, (size_t)len * sizeof *v);
    v[0] += phase * norm;
    for (int64_t i = 0; i < len; i++) norm_v = hypot(norm_v, cabs(v[i]));
    for (int64_t i = 0; i < len; i++) v[i] = v[i] / norm_v; /* a unit vector: tau is 2 */
    reflect_left(len, n - k, v, 2, x, n);
    reflect_right(n, len, v, 2, h + (k + 1) * n, n, v + n);
    if (q) reflect_right(n, len, v, 2, q + (k + 1) * n, n, v + n);
    for (int64_t i = 1; i < len; i++) x[i] = 0;
  }
}

/* The eigenvalue of the last 2 x 2 block of rows [.., hi] that is nearer to its corner. */
static num wilkinson(const num *h, int64_t n, int64_t hi) {
  num a = h[hi - 1 + (hi - 1) * n], b = h[hi - 1 + hi * n], c = h[hi + (hi - 1) * n], d = h[hi + hi * n];
  num half = (a - d) / 2, root = csqrt(mul(half, half) + mul(b, c));
  num sum = creal(mul(conj(half), root)) >= 0 ? half + root : half - root;
  return sum == 0 ? d : d - mul(b, c) / sum;
}

/* Rows p and p + 1 of columns [from, n), then columns p and p + 1 of rows [0, to), and of q: one rotation. */
static void turn(int64_t n, int64_t p, int64_t from, int64_t to, double c, num s, num *h, num *q) {
  for (int64_t j = from; j < n; j++) {
    num *x = h + p + j * n, a = x[0], b = x[1];
    x[0] = c * a + mul(s, b);
    x[1] = c * b - mul(conj(s), a);
  }
  num *const both[] = {h, q};
  for (int k = 0; k < 2 && both[k]; k++) {
    num *x = both[k] + p * n, *y = x + n;
    int64_t rows = k == 0 ? to : n;
    for (int64_t i = 0; i < rows; i++) {
      num a = x[i], b = y[i];
      x[i] = c * a + mul(conj(s), b);
      y[i] = c * b - mul(s, a);
    }
  }
}

/* Shifted QR steps until H is triangular; q gets the rotations. */
static int triangularize(int64_t n, num *h, num *q) {
  int64_t hi = n - 1;
  for (int64_t tries = 0; hi > 0; tries++) {
    int64_t lo = hi;
    for (; lo > 0; lo--) {
      double near = taxi(h[lo + lo * n]) + taxi(h[lo - 1 + (lo - 1) * n]), sub = taxi(h[lo + (lo - 1) * n]);
      if (!(sub > DBL_EPSILON * near) || sub < DBL_MIN) break;
    }
    if (lo > 0) h[lo + (lo - 1) * n] = 0;
    if (lo == hi) {
      hi--;
      tries = -1;
      continue;
    }
    if (tries == 60) return 1;
    num shift = wilkinson(h, n, hi);
    if (tries % 10 == 9) shift += cabs(h[hi + (hi - 1) * n]); /* out of a cycle */
    num x = h[lo + lo * n] - shift, y = h[lo + 1 + lo * n];
    for (int64_t k = lo; k < hi; k++) {
      double r = hypot(cabs(x), cabs(y)), c = r > 0 ? cabs(x) / r : 1;
      num s = r > 0 ? (cabs(x) > 0 ? mul(x / cabs(x), conj(y)) / r : 1) : 0;
      turn(n, k, k > lo ? k - 1 : lo, k + 3 < hi + 1 ? k + 3 : hi + 1, c, s, h, q);
      if (k + 1 == hi) break;
      x = h[k + 1 + k * n];
      y = h[k + 2 + k * n];
    }
  }
  return LINALG_OK;
}

/* The eigenvector of triangular T for its j-th diagonal element, in y[0..j]. */
static void solve_vector(int64_t n, int64_t j, const num *t, double smallest, num *y) {
  num value = t[j + j * n];
  for (int64_t i = 0; i < j; i++) y[i] = -t[i + j * n];
  y[j] = 1;
  for (int64_t i = j - 1; i >= 0; i--) {
    num gap = t[i + i * n] - value;
    if (taxi(gap) < smallest) gap = smallest;
    y[i] = y[i] / gap;
    double size = taxi(y[i]);
    if (size > 1e150) { /* nearly parallel to an earlier one: keep the numbers finite */
      for (int64_t p = 0; p <= j; p++) y[p] = y[p] / size;
    }
    for (int64_t p = 0; p < i; p++) y[p] -= mul(y[i], t[p + i * n]);
  }
}

/* x[:, j] = q y with norm 1 and its largest element real. */
static void place_vector(int64_t n, int64_t j, const num *q, const num *y, num *x) {
  num *v = x + j * n, largest = 0;
  double norm = 0;
  memset(v, 0, (size_t)n * sizeof *v);
  for (int64_t p = 0; p <= j; p++) {
    for (int64_t i = 0; i < n; i++) v[i] += mul(y[p], q[i + p * n]);
  }
  for (int64_t i = 0; i < n; i++) {
    norm = hypot(norm, cabs(v[i]));
    if (cabs(v[i]) > cabs(largest)) largest = v[i];
  }
  num phase = largest == 0 ? 1 : conj(largest) / cabs(largest);
  for (int64_t i = 0; i < n; i++) v[i] = norm > 0 ? mul(v[i], phase) / norm : v[i];
}

static void swap_pairs(int64_t n, int64_t i, int64_t j, num *w, num *x) {
  num keep = w[i];
  w[i] = w[j], w[j] = keep;
  for (int64_t p = 0; x && p < n; p++) {
    keep = x[p + i * n];
    x[p + i * n] = x[p + j * n], x[p + j * n] = keep;
  }
}

/* A real matrix has real values and conjugate pairs: take away what rounding added, and put pairs side by side. */
static void clean_real(int64_t n, double size, num *w, num *x) {
  for (int64_t j = 0; j < n; j++) {
    if (fabs(cimag(w[j])) > 8 * DBL_EPSILON * size) continue;
    w[j] = creal(w[j]);
    for (int64_t i = 0; x && i < n; i++) x[i + j * n] = creal(x[i + j * n]);
  }
  for (int64_t j = 0; j + 1 < n; j++) {
    if (cimag(w[j]) == 0) continue;
    int64_t mate = j + 1;
    for (int64_t i = j + 2; i < n; i++) mate = cabs(w[i] - conj(w[j])) < cabs(w[mate] - conj(w[j])) ? i : mate;
    swap_pairs(n, j + 1, mate, w, x);
    bool is_upper = cimag(w[j]) > 0;
    w[j] = is_upper ? w[j] : conj(w[j]);
    w[j + 1] = conj(w[j]);
    for (int64_t i = 0; x && i < n; i++) {
      num v = x[i + j * n];
      x[i + j * n] = is_upper ? v : conj(v);
      x[i + (j + 1) * n] = is_upper ? conj(v) : v;
    }
    j++;
  }
}

int tt__eig_own(int64_t n, bool is_real, num *a, num *w, num *x) {
  size_t size = (size_t)(n * n * (x ? 1 : 0) + 3 * n) * sizeof(num);
  num *room = tt__mem_alloc_data(size);
  if (!room) return LINALG_NO_MEMORY;
  num *q = x ? room + 3 * n : NULL;
  double norm = 0;
  for (int64_t i = 0; i < n * n; i++) norm = hypot(norm, cabs(a[i]));
  for (int64_t i = 0; q && i < n * n; i++) q[i] = i % (n + 1) == 0;
  hessenberg(n, a, q, room);
  int code = triangularize(n, a, q);
  for (int64_t j = 0; j < n; j++) w[j] = a[j + j * n];
  for (int64_t j = 0; x && !code && j < n; j++) {
    solve_vector(n, j, a, fmax(DBL_EPSILON * norm, DBL_MIN), room);
    place_vector(n, j, q, room, x);
  }
  if (is_real && !code) clean_real(n, norm, w, x);
  tt__mem_free_data(room, size);
  return code;
}
