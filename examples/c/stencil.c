/*
** Heat in a square plate by Jacobi's method: each inner point becomes the mean of its four neighbours, until
** nothing changes much. The left edge is kept at 1, the others at 0.
**
**   cc stencil.c $(pkg-config --cflags --libs tutti) -lm && ./a.out
**
** Slices are views: tt_get copies nothing, and tt_set writes into the array that the view belongs to. The four
** shifted reads and the write of a sweep run as one kernel.
*/
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { N = 66, SWEEPS = 8000, LOOK = 500 };

static void check(tt_code code, const tt_error *err) {
  if (code == TT_OK) return;
  fprintf(stderr, "%s: %s\n", tt_code_name(code), err->message);
  exit(1);
}

/* start:stop of one axis */
static tt_value slice(int64_t start, int64_t stop) {
  tt_value v = {.tag = TT_V_SLICE};
  v.as.slice.start = start;
  v.as.slice.stop = stop;
  v.as.slice.has_start = v.as.slice.has_stop = true;
  return v;
}

/* a[rows, columns] */
static tt_array *get(tt_array *a, tt_value rows, tt_value columns) {
  const tt_value item[2] = {rows, columns};
  tt_value index = {.tag = TT_V_TUPLE};
  index.as.tuple.item = item;
  index.as.tuple.n = 2;
  tt_array *view;
  tt_error err;
  check(tt_get(a, index, &view, &err), &err);
  return view;
}

/* a[rows, columns] = value */
static void set(tt_array *a, tt_value rows, tt_value columns, tt_value value) {
  const tt_value item[2] = {rows, columns};
  tt_value index = {.tag = TT_V_TUPLE};
  index.as.tuple.item = item;
  index.as.tuple.n = 2;
  tt_error err;
  check(tt_set(a, index, value, &err), &err);
}

static tt_array *apply(tt_op op, tt_value x, tt_value y) {
  const tt_value arg[2] = {x, y};
  tt_array *result;
  tt_error err;
  check(tt_apply(op, arg, 2, NULL, &result, &err), &err);
  return result;
}

/* One sweep: plate[1:-1, 1:-1] = (north + south + west + east) / 4, all of the right side read before the write. */
static void sweep(tt_array *plate) {
  const tt_value inner = slice(1, N - 1), low = slice(0, N - 2), high = slice(2, N);
  tt_array *north = get(plate, low, inner), *south = get(plate, high, inner);
  tt_array *west = get(plate, inner, low), *east = get(plate, inner, high);
  tt_array *vertical = apply(TT_ADD, tt_v_array(north), tt_v_array(south));
  tt_array *horizontal = apply(TT_ADD, tt_v_array(west), tt_v_array(east));
  tt_array *sum = apply(TT_ADD, tt_v_array(vertical), tt_v_array(horizontal));
  tt_array *mean = apply(TT_MUL, tt_v_array(sum), tt_v_float(0.25));
  set(plate, inner, inner, tt_v_array(mean));
  tt_array *done[] = {north, south, west, east, vertical, horizontal, sum, mean};
  for (int i = 0; i < 8; i++) tt_release(&done[i]);
}

/* The largest distance of an inner point from the mean of its neighbours, in plain C. */
static double residual(const double *u) {
  double worst = 0;
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++) {
      const double *p = u + i * N + j;
      worst = fmax(worst, fabs((p[-N] + p[N] + p[-1] + p[1]) / 4 - *p));
    }
  return worst;
}

int main(void) {
  static double u[N * N];
  const int64_t len[2] = {N, N};
  tt_array *plate;
  tt_error err;

  check(tt_full(TT_F64, 2, len, tt_v_float(0), &plate, &err), &err);
  set(plate, slice(0, N), slice(0, 1), tt_v_float(1));
  int n = 0;
  do {
    for (int i = 0; i < LOOK; i++) sweep(plate);
    n += LOOK;
    check(tt_read(plate, u, sizeof u, &err), &err);
  } while (residual(u) > 1e-6 && n < SWEEPS);
  tt_release(&plate);

  static const char shade[] = " .:-=+*#%@";
  for (int i = 1; i < N - 1; i += 4) {
    for (int j = 1; j < N - 1; j += 2) putchar(shade[(int)(u[i * N + j] * 9.99)]);
    putchar('\n');
  }
  /* By symmetry the four plates with one hot edge add up to a plate at 1 everywhere: the centre is a quarter. */
  const double *c = u + (N / 2) * N + N / 2;
  double centre = (c[0] + c[-1] + c[-N] + c[-N - 1]) / 4;
  printf("%d sweeps, residual %.1e, the centre is at %.4f\n", n, residual(u), centre);
  return residual(u) > 1e-6 || fabs(centre - 0.25) > 1e-2;
}
