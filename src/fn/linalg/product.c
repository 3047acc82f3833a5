/*
** Products of vectors, matrices and tensors.
*/
#include <string.h>

#include "base/warn.h"
#include "fn/fn.h"
#include "fn/linalg/matrix.h"

static tt_array *in_type(tt_composer *c, const tt_call_frame *f, int k, int dtype) {
  tt_array *a = tt__arg_array(c, f, k);
  return a ? tt__compose_cast(c, a, tt__arg_dtype(c, f, dtype, (tt_dtype)a->dtype)) : NULL;
}

static tt_array *matmul(tt_composer *c, tt_call_frame *f) {
  return tt__arg_out(c, f, 2, tt__compose_matmul(c, in_type(c, f, 0, 3), in_type(c, f, 1, 3)));
}
TT_HANDLER(matmul)

static tt_array *linalg_matmul(tt_composer *c, tt_call_frame *f) {
  return tt__compose_matmul(c, tt__arg_array(c, f, 0), tt__arg_array(c, f, 1));
}
TT_HANDLER(linalg_matmul)

/* NumPy writes a product into nothing but what it would have made itself. */
static bool fits_dot(tt_composer *c, const tt_call_frame *f, tt_array *r) {
  if (!r || !tt__arg_given(f, 2) || f->arg[2].tag != TT_V_ARRAY) return r != NULL;
  tt_array *out = f->arg[2].as.array;
  if (out->dtype != r->dtype || out->rank != r->rank || !tt__array_is_c(out)) {
    tt__compose_fail(c, TT_EVALUE,
                     "output array is not acceptable (must have the right datatype, number of dimensions, and be a "
                     "C-Array)");
    return false;
  }
  if (memcmp(tt__array_len(out), tt__array_len(r), sizeof(int64_t) * out->rank) != 0)
    tt__compose_fail(c, TT_EVALUE, "output array has wrong dimensions");
  return c->code == TT_OK;
}

static tt_array *dot(tt_composer *c, tt_call_frame *f) {
  tt_array *r = tt__compose_dot(c, tt__arg_array(c, f, 0), tt__arg_array(c, f, 1));
  return fits_dot(c, f, r) ? tt__arg_out(c, f, 2, r) : NULL;
}
TT_HANDLER(dot)

static tt_array *flat(tt_composer *c, tt_array *a) { return a ? tt__compose_reshape(c, a, 1, &a->size) : NULL; }

static tt_array *vdot(tt_composer *c, tt_call_frame *f) {
  tt_array *a = flat(c, tt__arg_array(c, f, 0)), *b = flat(c, tt__arg_array(c, f, 1));
  if (a && b && a->size != b->size)
    return tt__compose_fail(c, TT_EVALUE, "cannot reshape array of size %lld into shape (%lld,)", (long long)b->size,
                            (long long)a->size);
  return tt__compose_dot(c, tt__compose_conj(c, a), b);
}
TT_HANDLER(vdot)

static tt_array *inner(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  if (a && b && a->rank > 0 && b->rank > 1) b = tt__compose_swap(c, b);
  return tt__compose_dot(c, a, b);
}
TT_HANDLER(inner)

static tt_array *outer_of(tt_composer *c, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  int64_t column[2] = {a->size, 1};
  return tt__compose_op2(c, TT_MUL, tt__compose_reshape(c, a, 2, column), flat(c, b));
}

static tt_array *outer(tt_composer *c, tt_call_frame *f) {
  return tt__arg_out(c, f, 2, outer_of(c, tt__arg_array(c, f, 0), tt__arg_array(c, f, 1)));
}
TT_HANDLER(outer)

static tt_array *linalg_outer(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  if (a && b && (a->rank != 1 || b->rank != 1))
    return tt__compose_fail(c, TT_EVALUE,
                            "Input arrays must be one-dimensional, but they are x1.ndim=%d and x2.ndim=%d.", a->rank,
                            b->rank);
  return outer_of(c, a, b);
}
TT_HANDLER(linalg_outer)

/* ---- tensordot */

typedef struct axis_list {
  int n;
  int64_t axis[TT_MAX_RANK];
} axis_list;

static bool read_axes(tt_composer *c, const tt_value *v, int rank, axis_list *out) {
  tt_call_frame one = {.arg = v, .narg = 1};
  out->n = tt__arg_ints(c, &one, 0, out->axis, TT_MAX_RANK);
  for (int k = 0; k < out->n && c->code == TT_OK; k++) {
    if (out->axis[k] < -rank || out->axis[k] >= rank) tt__compose_fail(c, TT_EINDEX, "tuple index out of range");
    if (out->axis[k] < 0) out->axis[k] += rank;
  }
  return c->code == TT_OK;
}

static bool tensordot_axes(tt_composer *c, const tt_call_frame *f, int k, tt_array *a, tt_array *b, axis_list *of_a,
                           axis_list *of_b) {
  const tt_value *v = tt__arg_given(f, k) ? &f->arg[k] : NULL;
  if (v && v->tag == TT_V_TUPLE) {
    if (v->as.tuple.n != 2) {
      tt__compose_fail(c, TT_EVALUE,
                       v->as.tuple.n > 2 ? "too many values to unpack (expected 2, got %lld)"
                                         : "not enough values to unpack (expected 2, got %lld)",
                       (long long)v->as.tuple.n);
      return false;
    }
    return read_axes(c, &v->as.tuple.item[0], a->rank, of_a) && read_axes(c, &v->as.tuple.item[1], b->rank, of_b);
  }
  int64_t n = tt__arg_int(c, f, k, 2);
  if (n > a->rank || n > b->rank) tt__compose_fail(c, TT_EINDEX, "tuple index out of range");
  of_a->n = of_b->n = n > 0 && c->code == TT_OK ? (int)n : 0;
  for (int i = 0; i < of_a->n; i++) {
    of_a->axis[i] = a->rank - n + i;
    of_b->axis[i] = i;
  }
  return c->code == TT_OK;
}

static tt_array *tensordot(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  axis_list of_a, of_b;
  if (!a || !b || !tensordot_axes(c, f, 2, a, b, &of_a, &of_b)) return NULL;
  bool fits = of_a.n == of_b.n;
  tt_labelled x = {.a = a}, y = {.a = b};
  int out[2 * TT_MAX_RANK], n = 0;
  uint64_t summed_a = 0, summed_b = 0;
  for (int d = 0; d < a->rank; d++) x.label[d] = d;
  for (int d = 0; d < b->rank; d++) y.label[d] = a->rank + d;
  for (int i = 0; i < of_a.n && fits; i++) {
    fits = tt__array_len(a)[of_a.axis[i]] == tt__array_len(b)[of_b.axis[i]];
    y.label[of_b.axis[i]] = (int)of_a.axis[i];
    fits &= !(summed_a >> of_a.axis[i] & 1) && !(summed_b >> of_b.axis[i] & 1);
    summed_a |= UINT64_C(1) << of_a.axis[i];
    summed_b |= UINT64_C(1) << of_b.axis[i];
  }
  if (!fits) return tt__compose_fail(c, TT_EVALUE, "shape-mismatch for sum");
  for (int d = 0; d < a->rank; d++)
    if (!(summed_a >> d & 1)) out[n++] = d;
  for (int d = 0; d < b->rank; d++)
    if (!(summed_b >> d & 1)) out[n++] = a->rank + d;
  if (n > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64, found %d", n);
  return tt__compose_contract(c, &x, &y, out, n);
}
TT_HANDLER(tensordot)

/* ---- vectors along an axis: vecdot, matvec, vecmat */

static tt_array *gufunc_mismatch(tt_composer *c, const char *name, const char *signature, int dim, int64_t got,
                                 int64_t want) {
  return tt__compose_fail(
      c, TT_EVALUE,
      "%s: Input operand 1 has a mismatch in its core dimension %d, with gufunc signature %s (size %lld is "
      "different from %lld)",
      name, dim, signature, (long long)got, (long long)want);
}

static bool enough(tt_composer *c, const char *name, const char *signature, tt_array *const *a, const int *need) {
  for (int i = 0; i < 2; i++) {
    if (!a[i]) return false;
    if (a[i]->rank >= need[i]) continue;
    tt__compose_fail(
        c, TT_EVALUE,
        "%s: Input operand %d does not have enough dimensions (has %d, gufunc core with signature %s requires %d)",
        name, i, a[i]->rank, signature, need[i]);
    return false;
  }
  return true;
}

/* Loop axes get labels from the right, so that broadcasting is agreement of labels; then the operand's own. */
static void label_loops(tt_labelled *x, int core, const int *labels) {
  int loops = x->a->rank - core;
  for (int d = 0; d < loops; d++) x->label[d] = 1000 + loops - 1 - d;
  for (int d = 0; d < core; d++) x->label[loops + d] = labels[d];
}

/* Core axes by labels (0 is summed); `out` has at most one. */
static tt_array *loop_product(tt_composer *c, tt_array *a, int na, const int *la, tt_array *b, int nb, const int *lb,
                              int out_label) {
  tt_labelled x = {.a = a}, y = {.a = b};
  label_loops(&x, na, la);
  label_loops(&y, nb, lb);
  int ranks[2] = {a->rank - na, b->rank - nb}, n, out[TT_MAX_RANK + 1];
  const int64_t *lens[2] = {tt__array_len(a), tt__array_len(b)};
  int64_t len[TT_MAX_RANK];
  if (c->code != TT_OK || (c->code = tt__shape_broadcast(2, ranks, lens, &n, len, c->err)) != TT_OK) return NULL;
  for (int d = 0; d < n; d++) out[d] = 1000 + n - 1 - d;
  if (out_label) out[n++] = out_label;
  return tt__compose_contract(c, &x, &y, out, n);
}

/* a with one axis moved to the end. */
static tt_array *axis_last(tt_composer *c, tt_array *a, int axis) {
  if (!a || axis == a->rank - 1) return a;
  int order[TT_MAX_RANK], n = 0;
  for (int d = 0; d < a->rank; d++)
    if (d != axis) order[n++] = d;
  order[n] = axis;
  return tt__compose_transpose(c, a, order);
}

static tt_array *vector_dot(tt_composer *c, const tt_call_frame *f, int axis_at) {
  static const int need[2] = {1, 1}, vector[1] = {0};
  tt_array *a[2] = {tt__arg_array(c, f, 0), tt__arg_array(c, f, 1)};
  if (!enough(c, "vecdot", "(n),(n)->()", a, need)) return NULL;
  for (int i = 0; i < 2; i++) a[i] = axis_last(c, a[i], tt__arg_axis(c, f, axis_at, a[i]->rank, a[i]->rank - 1));
  if (c->code != TT_OK) return NULL;
  int64_t n = tt__array_len(a[0])[a[0]->rank - 1], m = tt__array_len(a[1])[a[1]->rank - 1];
  if (n != m) return gufunc_mismatch(c, "vecdot", "(n),(n)->()", 0, m, n);
  tt_array *x = tt__compose_conj(c, a[0]);
  return x ? loop_product(c, x, 1, vector, a[1], 1, vector, 0) : NULL;
}

static tt_array *vecdot(tt_composer *c, tt_call_frame *f) { return tt__arg_out(c, f, 2, vector_dot(c, f, 3)); }
TT_HANDLER(vecdot)

static tt_array *linalg_vecdot(tt_composer *c, tt_call_frame *f) { return vector_dot(c, f, 2); }
TT_HANDLER(linalg_vecdot)

static tt_array *matvec(tt_composer *c, tt_call_frame *f) {
  static const int need[2] = {2, 1}, matrix[2] = {1, 0}, vector[1] = {0};
  tt_array *a[2] = {tt__arg_array(c, f, 0), tt__arg_array(c, f, 1)};
  if (!enough(c, "matvec", "(m,n),(n)->(m)", a, need)) return NULL;
  int64_t n = tt__array_len(a[0])[a[0]->rank - 1], m = tt__array_len(a[1])[a[1]->rank - 1];
  if (n != m) return gufunc_mismatch(c, "matvec", "(m,n),(n)->(m)", 0, m, n);
  return tt__arg_out(c, f, 2, loop_product(c, a[0], 2, matrix, a[1], 1, vector, 1));
}
TT_HANDLER(matvec)

static tt_array *vecmat(tt_composer *c, tt_call_frame *f) {
  static const int need[2] = {1, 2}, vector[1] = {0}, matrix[2] = {0, 1};
  tt_array *a[2] = {tt__arg_array(c, f, 0), tt__arg_array(c, f, 1)};
  if (!enough(c, "vecmat", "(n),(n,m)->(m)", a, need)) return NULL;
  int64_t n = tt__array_len(a[0])[a[0]->rank - 1], m = tt__array_len(a[1])[a[1]->rank - 2];
  if (n != m) return gufunc_mismatch(c, "vecmat", "(n),(n,m)->(m)", 0, m, n);
  tt_array *x = tt__compose_conj(c, a[0]);
  return x ? tt__arg_out(c, f, 2, loop_product(c, x, 1, vector, a[1], 2, matrix, 1)) : NULL;
}
TT_HANDLER(vecmat)

/* ---- kron, cross */

static tt_array *kron(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  if (!a || !b) return NULL;
  int rank = a->rank > b->rank ? a->rank : b->rank;
  int64_t la[2 * TT_MAX_RANK], lb[2 * TT_MAX_RANK], len[TT_MAX_RANK];
  if (2 * rank > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently 64, found %d",
                            2 * rank);
  for (int d = 0; d < rank; d++) {
    int i = d - (rank - a->rank), j = d - (rank - b->rank);
    la[2 * d] = i < 0 ? 1 : tt__array_len(a)[i];
    la[2 * d + 1] = lb[2 * d] = 1;
    lb[2 * d + 1] = j < 0 ? 1 : tt__array_len(b)[j];
    len[d] = la[2 * d] * lb[2 * d + 1];
  }
  tt_array *both =
      tt__compose_op2(c, TT_MUL, tt__compose_reshape(c, a, 2 * rank, la), tt__compose_reshape(c, b, 2 * rank, lb));
  return tt__compose_reshape(c, both, rank, len);
}
TT_HANDLER(kron)

/* Component k of the vectors on the last axis. */
static tt_array *component(tt_composer *c, tt_array *a, int64_t k) {
  if (!a) return NULL;
  int n = a->rank - 1;
  return tt__compose_view(c, a, n, tt__array_len(a), tt__array_step(a),
                          a->off + (a->size ? k * tt__array_step(a)[n] : 0));
}

static tt_array *minor(tt_composer *c, tt_array *a, tt_array *b, int i, int j) {
  return tt__compose_op2(c, TT_SUB, tt__compose_op2(c, TT_MUL, component(c, a, i), component(c, b, j)),
                         tt__compose_op2(c, TT_MUL, component(c, a, j), component(c, b, i)));
}

/* Vectors on the last axes; a component that a 2-vector lacks is 0. */
static tt_array *cross_of(tt_composer *c, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  bool flat_a = tt__array_len(a)[a->rank - 1] == 2, flat_b = tt__array_len(b)[b->rank - 1] == 2;
  tt_array *z = minor(c, a, b, 0, 1), *part[3] = {NULL, NULL, z};
  if (!z || (flat_a && flat_b)) return z;
  tt_array *bz = flat_b ? NULL : component(c, b, 2), *az = flat_a ? NULL : component(c, a, 2);
  if (flat_a) {
    part[0] = tt__compose_op2(c, TT_MUL, component(c, a, 1), bz);
    part[1] = tt__compose_op1(c, TT_NEG, tt__compose_op2(c, TT_MUL, component(c, a, 0), bz));
  } else if (flat_b) {
    part[0] = tt__compose_op1(c, TT_NEG, tt__compose_op2(c, TT_MUL, az, component(c, b, 1)));
    part[1] = tt__compose_op2(c, TT_MUL, az, component(c, b, 0));
  } else {
    part[0] = minor(c, a, b, 1, 2);
    part[1] = minor(c, a, b, 2, 0);
  }
  int64_t len[TT_MAX_RANK + 1];
  int n = z->rank;
  memcpy(len, tt__array_len(z), sizeof *len * (size_t)n);
  len[n] = 3;
  tt_array *out = tt__compose_empty(c, (tt_dtype)z->dtype, n + 1, len);
  for (int k = 0; k < 3; k++)
    if (!part[k] || !tt__compose_set(c, component(c, out, k), tt_v_array(part[k]))) return NULL;
  return out;
}

static int cross_axis(tt_composer *c, const tt_call_frame *f, int k, const char *name, int rank) {
  int64_t axis = tt__arg_int(c, f, k, -1);
  if (axis < -rank || axis >= rank)
    tt__compose_fail(c, TT_EAXIS, "%s: axis %lld is out of bounds for array of dimension %d", name, (long long)axis,
                     rank);
  return (int)(axis < 0 ? axis + rank : axis);
}

static tt_array *axis_from_last(tt_composer *c, tt_array *a, int axis) {
  if (!a || axis == a->rank - 1) return a;
  int order[TT_MAX_RANK], n = 0;
  for (int d = 0; d < a->rank; d++) order[d] = d == axis ? a->rank - 1 : n++;
  return tt__compose_transpose(c, a, order);
}

static tt_array *cross(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  if (!a || !b) return NULL;
  if (a->rank == 0 || b->rank == 0) return tt__compose_fail(c, TT_EVALUE, "At least one array has zero dimension");
  bool one = tt__arg_given(f, 5);
  int axis_a = cross_axis(c, f, one ? 5 : 2, "axisa", a->rank),
      axis_b = cross_axis(c, f, one ? 5 : 3, "axisb", b->rank);
  if (c->code != TT_OK) return NULL;
  a = axis_last(c, a, axis_a);
  b = axis_last(c, b, axis_b);
  if (!a || !b) return NULL;
  int64_t la = tt__array_len(a)[a->rank - 1], lb = tt__array_len(b)[b->rank - 1];
  if ((la != 2 && la != 3) || (lb != 2 && lb != 3))
    return tt__compose_fail(c, TT_EVALUE, "incompatible dimensions for cross product\n(dimension must be 2 or 3)");
  if (la == 2 || lb == 2)
    tt__warn(TT_WARN_OLD,
             "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. (deprecated "
             "in NumPy 2.0)");
  tt_array *r = cross_of(c, a, b);
  if (!r || (la == 2 && lb == 2)) return r;
  int axis = cross_axis(c, f, one ? 5 : 4, "axisc", r->rank);
  return c->code == TT_OK ? axis_from_last(c, r, axis) : NULL;
}
TT_HANDLER(cross)

static tt_array *linalg_cross(tt_composer *c, tt_call_frame *f) {
  tt_array *a = tt__arg_array(c, f, 0), *b = tt__arg_array(c, f, 1);
  if (!a || !b) return NULL;
  int axis_a = tt__arg_axis(c, f, 2, a->rank, a->rank - 1), axis_b = tt__arg_axis(c, f, 2, b->rank, b->rank - 1);
  if (c->code != TT_OK) return NULL;
  int64_t la = a->rank ? tt__array_len(a)[axis_a] : 0, lb = b->rank ? tt__array_len(b)[axis_b] : 0;
  if (la != 3 || lb != 3)
    return tt__compose_fail(c, TT_EVALUE,
                            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are %lld and %lld "
                            "dimensional instead.",
                            (long long)la, (long long)lb);
  tt_array *r = cross_of(c, axis_last(c, a, axis_a), axis_last(c, b, axis_b));
  return r ? axis_from_last(c, r, tt__arg_axis(c, f, 2, r->rank, r->rank - 1)) : NULL;
}
TT_HANDLER(linalg_cross)

/* ---- chains and powers */

enum { MOST_FACTORS = 64 };

/* The cheapest order of a chain: split[i][j] is where the product i..j falls into two. */
static void order_chain(const int64_t *len, int n, int8_t split[][MOST_FACTORS]) {
  double cost[MOST_FACTORS][MOST_FACTORS];
  for (int i = 0; i < n; i++) cost[i][i] = 0;
  for (int span = 1; span < n; span++) {
    for (int i = 0; i + span < n; i++) {
      int j = i + span;
      cost[i][j] = -1;
      for (int k = i; k < j; k++) {
        double q = cost[i][k] + cost[k + 1][j] + (double)len[i] * (double)len[k + 1] * (double)len[j + 1];
        if (cost[i][j] >= 0 && q >= cost[i][j]) continue;
        cost[i][j] = q;
        split[i][j] = (int8_t)k;
      }
    }
  }
}

static tt_array *chain(tt_composer *c, tt_array *const *a, int8_t split[][MOST_FACTORS], int i, int j) {
  if (i == j) return a[i];
  int k = split[i][j];
  return tt__compose_dot(c, chain(c, a, split, i, k), chain(c, a, split, k + 1, j));
}

/* `out` must be what the product is, as NumPy's dot has it. */
static tt_array *product_out(tt_composer *c, const tt_call_frame *f, tt_array *r) {
  tt_array *out = tt__arg_given(f, 1) && f->arg[1].tag == TT_V_ARRAY ? f->arg[1].as.array : NULL;
  if (r && out && (out->dtype != r->dtype || out->rank != r->rank || !tt__array_is_c(out)))
    return tt__compose_fail(c, TT_EVALUE,
                            "output array is not acceptable (must have the right datatype, number of dimensions, and "
                            "be a C-Array)");
  return tt__arg_out(c, f, 1, r);
}

static tt_array *multi_dot(tt_composer *c, tt_call_frame *f) {
  tt_array *a[MOST_FACTORS];
  int64_t len[MOST_FACTORS + 1], n = f->arg[0].tag == TT_V_TUPLE ? f->arg[0].as.tuple.n : 0;
  int8_t split[MOST_FACTORS][MOST_FACTORS];
  if (n < 2) return tt__compose_fail(c, TT_EVALUE, "Expecting at least two arrays.");
  if (n > MOST_FACTORS)
    return tt__compose_fail(c, TT_EVALUE, "at most %d arrays can be multiplied at once", (int)MOST_FACTORS);
  for (int64_t i = 0; i < n; i++) {
    if (!(a[i] = tt__value_as_array(c, &f->arg[0].as.tuple.item[i]))) return NULL;
    bool end = i == 0 || i == n - 1;
    if (n > 2 && a[i]->rank != 2 && !(end && a[i]->rank == 1))
      return tt__compose_fail(c, TT_ELINALG, "%d-dimensional array given. Array must be two-dimensional", a[i]->rank);
  }
  if (n == 2) return product_out(c, f, tt__compose_dot(c, a[0], a[1]));
  for (int64_t i = 0; i < n; i++) len[i] = i == 0 && a[0]->rank == 1 ? 1 : tt__array_len(a[i])[0];
  len[n] = a[n - 1]->rank == 1 ? 1 : tt__array_len(a[n - 1])[1];
  order_chain(len, (int)n, split);
  return product_out(c, f, chain(c, a, split, 0, (int)n - 1));
}
TT_HANDLER(multi_dot)
