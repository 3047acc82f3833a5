/*
** Nested sequences as arrays: one pass finds the shape and the type, one fills memory.
** Sequences that hold arrays of some rank are stacked by the library instead.
*/
#include "core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct discovery {
  int rank;   /* of the deepest sequence so far; -1: nothing seen */
  int ragged; /* axes that agree, when they do not all; else -1 */
  int64_t len[TT_MAX_RANK];
  bool sealed;               /* a leaf was met: the rank is known */
  uint32_t seen;             /* a bit per leaf dtype */
  bool arrays;               /* a leaf is an array of rank 1 or more, or one of ours: stack */
  bool bad;                  /* an exception is set */
  PyObject *odd;             /* the first leaf that is no number (owned): an error, unless the lists are ragged */
  uint32_t looks;            /* elements that were looked at */
  tt_dtype asked;            /* the type that is wanted, or TT_DTYPE_NONE */
  bool truth;                /* all leaves are to be read as truth values */
  bool huge;                 /* a leaf is an integer beyond 64 bits, which the type that is wanted takes */
  PyTypeObject *scalar_type; /* the last foreign type whose instances are all scalars of scalar_dtype: np.float32 */
  tt_dtype scalar_dtype;
} discovery;

/* A NumPy scalar or a rank-0 array of somebody's: its dtype. */
static bool foreign_scalar(PyObject *o, tt_dtype *dtype, int *rank) {
  Py_buffer view;
  if (!PyObject_CheckBuffer(o) || PyObject_GetBuffer(o, &view, PyBUF_FULL_RO) < 0) return PyErr_Clear(), false;
  bool swap;
  *dtype = core_dtype_from_format(view.format, view.itemsize, &swap);
  *rank = view.ndim;
  bool ok = *dtype != TT_DTYPE_NONE && !swap;
  PyBuffer_Release(&view);
  return ok;
}

static void seal(discovery *d, int depth) {
  if (!d->sealed) {
    d->sealed = true;
    d->rank = depth;
  } else if (depth < d->rank) {
    d->ragged = d->ragged < 0 || depth < d->ragged ? depth : d->ragged;
  }
}

static void not_convertible(const discovery *d) {
  PyObject *o = d->odd;
  const char *made = d->asked != TT_DTYPE_NONE && strchr("iu", core_dtype_kind(d->asked))
                         ? "int() argument must be a string, a bytes-like object or a real number, not '%U'"
                         : "float() argument must be a string or a real number, not '%U'";
  PyObject *type = PyType_GetName(Py_TYPE(o));
  if (PyUnicode_Check(o) || PyBytes_Check(o)) {
    PyErr_Format(PyExc_TypeError, "strings have no place in a tutti array: %R", o);
  } else {
    PyErr_Format(PyExc_TypeError, made, type);
  }
  Py_XDECREF(type);
}

static bool is_sequence(PyObject *o) {
  return PyList_Check(o) || PyTuple_Check(o) ||
         (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o) && !PyDict_Check(o) && !PyType_Check(o));
}

/* None among elements of a type that was asked for: NaN (in both parts) among floats, false among truth values. */
static bool leaf_none(discovery *d) {
  char kind = d->asked == TT_DTYPE_NONE ? ' ' : core_dtype_kind(d->asked);
  if (!strchr("bfc", kind)) return false;
  d->seen |= 1u << (kind == 'b' ? TT_BOOL : kind == 'c' ? TT_C128 : TT_F64);
  d->truth |= kind == 'b';
  return true;
}

static void leaf_int(discovery *d, PyObject *o) {
  tt_value v;
  if (!core_value_int(o, &v)) {
    d->huge = d->asked != TT_DTYPE_NONE && strchr("bfc", core_dtype_kind(d->asked));
    d->bad = !d->huge;
    if (d->huge) PyErr_Clear(), d->seen |= 1u << TT_F64;
  } else {
    d->seen |= 1u << (v.tag == TT_V_UINT ? TT_U64 : TT_I64);
  }
}

static void discover(discovery *d, PyObject *o, int depth);

/* One more element: Ctrl-C is heard now and then. */
static bool listens(discovery *d) { return (++d->looks & 0xffff) != 0 || PyErr_CheckSignals() == 0; }

static void discover_sequence(discovery *d, PyObject *o, int depth) {
  Py_ssize_t n = PySequence_Size(o);
  if (n < 0) {
    d->bad = true;
    return;
  }
  if (depth >= TT_MAX_RANK) {
    d->bad = true;
    PyErr_Format(PyExc_ValueError,
                 "setting an array element with a sequence. The requested array would exceed the maximum number of "
                 "dimension of %d.",
                 TT_MAX_RANK);
    return;
  }
  if (d->sealed && depth >= d->rank) { /* a sequence where there was a leaf */
    d->ragged = d->ragged < 0 || d->rank < d->ragged ? d->rank : d->ragged;
    return;
  }
  if (depth > d->rank || d->rank < 0) {
    d->rank = depth;
  }
  if (d->len[depth] < 0) {
    d->len[depth] = n;
  } else if (d->len[depth] != n) {
    d->ragged = d->ragged < 0 || depth < d->ragged ? depth : d->ragged;
  }
  if (n == 0) {
    seal(d, depth + 1);
    return;
  }
  if (Py_EnterRecursiveCall(" while reading nested sequences")) {
    d->bad = true;
    return;
  }
  bool list = PyList_Check(o), tuple = PyTuple_Check(o);
  for (Py_ssize_t k = 0; k < n && !d->bad; k++) {
    PyObject *x = list ? PyList_GetItem(o, k) : tuple ? PyTuple_GetItem(o, k) : PySequence_GetItem(o, k);
    if (!x || !listens(d)) {
      d->bad = true;
      break;
    }
    if (list || tuple) Py_INCREF(x); /* what it is asked may change the list */
    discover(d, x, depth + 1);
    Py_DECREF(x);
  }
  Py_LeaveRecursiveCall();
}

/* A leaf that is none of Python's own scalars: a scalar of somebody's, or an array. False: neither. */
static bool discover_foreign(discovery *d, PyObject *o) {
  tt_dtype dtype, by_type;
  int rank;
  if (Py_TYPE(o) == d->scalar_type) {
    d->seen |= 1u << d->scalar_dtype;
    return true;
  }
  if (PyList_Check(o) || PyTuple_Check(o) || !PyObject_HasAttrString(o, "__array_interface__")) return false;
  if (!foreign_scalar(o, &dtype, &rank) || rank > 0) {
    d->arrays = true;
    return true;
  }
  d->seen |= 1u << dtype;
  if (core_dtype_from((PyObject *)Py_TYPE(o), &by_type) && by_type == dtype) {
    d->scalar_type = Py_TYPE(o);
    d->scalar_dtype = dtype;
  }
  PyErr_Clear();
  return true;
}

/* A number of ours that Python's own numbers hold exactly: a leaf like them, no array. */
static bool is_plain_number(PyObject *o) {
  const tt_number *x = core_known(o);
  return x && (x->dtype == TT_F64 || x->dtype == TT_I64);
}

static void discover(discovery *d, PyObject *o, int depth) {
  PyTypeObject *t = Py_TYPE(o);
  if (t == &PyFloat_Type) {
    d->seen |= 1u << TT_F64;
  } else if (t == &PyLong_Type) {
    leaf_int(d, o);
  } else if (t == &PyBool_Type) {
    d->seen |= 1u << TT_BOOL;
  } else if (t == &PyComplex_Type) {
    d->seen |= 1u << TT_C128;
  } else if (is_plain_number(o)) {
    d->seen |= 1u << core_known(o)->dtype;
  } else if (core_is_array(o)) {
    d->arrays = true;
    return;
  } else if (discover_foreign(d, o)) {
    if (d->arrays) return;
  } else if (is_sequence(o)) {
    discover_sequence(d, o, depth);
    return;
  } else if (PyFloat_Check(o)) {
    d->seen |= 1u << TT_F64;
  } else if (PyComplex_Check(o)) {
    d->seen |= 1u << TT_C128;
  } else if (PyIndex_Check(o)) {
    d->seen |= 1u << TT_I64;
  } else if (o != Py_None || !leaf_none(d)) {
    if (!d->odd) d->odd = Py_NewRef(o);
  }
  seal(d, depth);
}

static void raise_ragged(const discovery *d) {
  char text[512] = "(";
  size_t used = 1;
  for (int k = 0; k < d->ragged && used < 480; k++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%lld%s", (long long)d->len[k],
                             d->ragged == 1      ? ","
                             : k + 1 < d->ragged ? ", "
                                                 : "");
  }
  snprintf(text + used, sizeof text - used, ")");
  PyErr_Format(PyExc_ValueError,
               "setting an array element with a sequence. The requested array has an inhomogeneous shape after %d "
               "dimensions. The detected shape was %s + inhomogeneous part.",
               d->ragged, text);
}

/* The type that two types meet in: the library's own rule, read off an op on empty arrays. */
static bool promote(tt_dtype *into, tt_dtype with) {
  static const int64_t none = 0;
  tt_array *pair[2] = {NULL, NULL}, *out = NULL;
  tt_error err;
  tt_code c = tt_empty(*into, 1, &none, &pair[0], &err);
  if (c == TT_OK) c = tt_empty(with, 1, &none, &pair[1], &err);
  if (c == TT_OK) {
    tt_value arg[2] = {tt_v_array(pair[0]), tt_v_array(pair[1])};
    c = tt_apply(TT_MAXIMUM, arg, 2, NULL, &out, &err);
  }
  if (c == TT_OK) *into = tt_array_dtype(out);
  tt_release(&pair[0]);
  tt_release(&pair[1]);
  tt_release(&out);
  if (c != TT_OK) core_raise(c, &err);
  return c == TT_OK;
}

static bool common_dtype(uint32_t seen, tt_dtype *out) {
  *out = seen ? TT_DTYPE_NONE : TT_F64;
  for (int k = 0; k < TT_DTYPE_COUNT; k++) {
    if (!(seen >> k & 1)) continue;
    if (*out == TT_DTYPE_NONE) {
      *out = (tt_dtype)k;
    } else if (!promote(out, (tt_dtype)k)) {
      return false;
    }
  }
  return true;
}

/* ---- filling */

/* Leaves are written in the widest type of the common kind; the library casts. */
static bool fill_leaf(PyObject *o, tt_dtype wide, void *at) {
  const tt_number *x = core_known(o);
  if (x && x->dtype == wide && core_dtype_bytes(wide) == 8) {
    memcpy(at, x->bits, 8);
    return true;
  }
  if (wide == TT_BOOL) {
    *(uint8_t *)at = PyObject_IsTrue(o) == 1;
  } else if (wide == TT_F64) {
    *(double *)at = o == Py_None ? (double)NAN : PyFloat_AsDouble(o);
  } else if (wide == TT_C128 && o == Py_None) {
    *(tt_c128 *)at = (tt_c128){(double)NAN, (double)NAN};
  } else if (wide == TT_C128) {
    PyObject *z = PyComplex_Check(o) || !PyObject_HasAttrString(o, "__complex__")
                      ? Py_NewRef(o)
                      : PyObject_CallMethod(o, "__complex__", NULL);
    if (!z) return false;
    *(tt_c128 *)at = (tt_c128){PyComplex_RealAsDouble(z), PyComplex_ImagAsDouble(z)};
    Py_DECREF(z);
  } else if (PyIndex_Check(o)) {
    PyObject *i = PyNumber_Index(o);
    tt_value v;
    bool ok = i && core_value_int(i, &v);
    Py_XDECREF(i);
    if (!ok) return false;
    *(int64_t *)at = v.as.i; /* of a UINT: the same bits */
  } else {
    *(int64_t *)at = PyObject_IsTrue(o); /* a foreign bool among ints */
  }
  return !PyErr_Occurred();
}

static char *fill(PyObject *o, int depth, discovery *d, tt_dtype wide, char *at) {
  if (depth == d->rank) return fill_leaf(o, wide, at) ? at + core_dtype_bytes(wide) : NULL;
  bool list = PyList_Check(o), tuple = PyTuple_Check(o);
  for (int64_t k = 0; k < d->len[depth] && at; k++) {
    PyObject *x = list ? PyList_GetItem(o, k) : tuple ? PyTuple_GetItem(o, k) : PySequence_GetItem(o, k);
    if (!x) return NULL;
    if (list || tuple) Py_INCREF(x);
    at = listens(d) ? fill(x, depth + 1, d, wide, at) : NULL;
    Py_DECREF(x);
  }
  return at;
}

/* Integers and floats of every width go through the widest of their kind; conversion is the library's. */
static tt_dtype wide_dtype(tt_dtype common) {
  switch (core_dtype_kind(common)) {
    case 'b':
      return TT_BOOL;
    case 'i':
      return TT_I64;
    case 'u':
      return TT_U64;
    case 'c':
      return TT_C128;
    default:
      return TT_F64;
  }
}

static tt_array *filled(PyObject *o, discovery *d, tt_dtype common, tt_dtype dtype) {
  tt_dtype wide = wide_dtype(common);
  int64_t size = core_dtype_bytes(wide);
  for (int k = 0; k < d->rank; k++) {
    if (__builtin_mul_overflow(size, d->len[k], &size)) return (void)PyErr_NoMemory(), NULL;
  }
  char *data = PyMem_Malloc(size ? (size_t)size : 1);
  if (!data) return (void)PyErr_NoMemory(), NULL;
  tt_array *a = NULL;
  tt_error err;
  if (fill(o, 0, d, wide, data)) {
    tt_code c = tt_from_data(wide, d->rank, d->len, data, NULL, &a, &err);
    if (c != TT_OK) core_raise(c, &err);
  }
  PyMem_Free(data);
  if (dtype == TT_DTYPE_NONE) dtype = common;
  if (!a || dtype == wide) return a;
  tt_array *cast = NULL;
  tt_code c = tt_cast(a, dtype, true, &cast, &err);
  tt_release(&a);
  if (c != TT_OK) core_raise(c, &err);
  return cast;
}

static bool check_int(PyObject *o, tt_dtype dtype) {
  int64_t bits = core_dtype_bytes(dtype) * 8;
  bool is_signed = core_dtype_kind(dtype) == 'i';
  tt_value v;
  if (!core_value_int(o, &v)) return false;
  bool ok = v.tag == TT_V_UINT ? !is_signed && bits == 64
            : is_signed        ? bits == 64 || (v.as.i >= -(1ll << (bits - 1)) && v.as.i < 1ll << (bits - 1))
                               : v.as.i >= 0 && (bits == 64 || v.as.i < 1ll << bits);
  if (!ok) PyErr_Format(PyExc_OverflowError, "Python integer %S out of bounds for %s", o, core_dtype_name(dtype));
  return ok;
}

/*
** A scalar of NumPy's or an element of ours: signed integers take it by int(), and so refuse what is none; it is cast
** to other types, and so are arrays without axes.
*/
static bool check_scalar(PyObject *o, tt_dtype dtype) {
  tt_number room;
  tt_value v;
  if (core_dtype_kind(dtype) != 'i') return true;
  if (core_is_number(o)) return core_number_value(o, &v) && core_value_fits(v, dtype);
  return core_is_array(o) || !core_value_numpy(o, &room) || core_value_fits(tt_number_value(&room), dtype);
}

/*
** Python's own numbers become what Python makes of them, so that what the asked type cannot hold is an error: NaN and
** numbers out of range of integers, complex ones of reals.
*/
static bool check_leaf(PyObject *o, tt_dtype dtype) {
  bool whole = strchr("iu", core_dtype_kind(dtype)) != NULL;
  if (Py_TYPE(o) == &PyComplex_Type)
    return PyErr_SetString(PyExc_TypeError,
                           whole
                               ? "int() argument must be a string, a bytes-like object or a real number, not 'complex'"
                               : "float() argument must be a string or a real number, not 'complex'"),
           false;
  if (!whole) return true;
  if (Py_TYPE(o) == &PyLong_Type) return check_int(o, dtype);
  if (Py_TYPE(o) != &PyFloat_Type) return check_scalar(o, dtype);
  PyObject *i = PyNumber_Long(o);
  bool ok = i && check_int(i, dtype);
  Py_XDECREF(i);
  return ok;
}

static bool check_range(PyObject *o, int depth, const discovery *d, tt_dtype dtype) {
  if (depth == d->rank) return check_leaf(o, dtype);
  bool ok = true;
  for (int64_t k = 0; k < d->len[depth] && ok; k++) {
    PyObject *x = PySequence_GetItem(o, k);
    ok = x && check_range(x, depth + 1, d, dtype);
    Py_XDECREF(x);
  }
  return ok;
}

/* Each item as an array, then stack. */
static tt_array *stacked(PyObject *o, tt_dtype dtype) {
  core_scratch s;
  core_scratch_init(&s);
  tt_value arg;
  tt_array *made[8] = {NULL};
  tt_result result = {0};
  tt_error err;
  Py_ssize_t n = PySequence_Size(o);
  tt_value *item = n < 0 ? NULL : core_scratch_values(&s, n);
  bool ok = item != NULL;
  for (Py_ssize_t k = 0; ok && k < n; k++) {
    PyObject *x = PySequence_GetItem(o, k);
    ok = x && (dtype == TT_DTYPE_NONE || check_scalar(x, dtype));
    tt_array *a = ok ? core_asarray(x, dtype, CORE_COPY_NEEDED) : NULL;
    Py_XDECREF(x);
    ok = a && core_scratch_own(&s, a);
    if (ok) item[k] = tt_v_array(a);
  }
  /* Rows that differ in shape are ragged. */
  for (Py_ssize_t k = 1; ok && k < n; k++) {
    tt_array *a = item[0].as.array, *b = item[k].as.array;
    int rank = tt_array_rank(a);
    if (rank == tt_array_rank(b) && memcmp(tt_array_len(a), tt_array_len(b), (size_t)rank * sizeof(int64_t)) == 0)
      continue;
    discovery d = {.ragged = 1};
    d.len[0] = n;
    int common = rank < tt_array_rank(b) ? rank : tt_array_rank(b);
    while (d.ragged <= common && tt_array_len(a)[d.ragged - 1] == tt_array_len(b)[d.ragged - 1]) {
      d.len[d.ragged] = tt_array_len(a)[d.ragged - 1];
      d.ragged++;
    }
    raise_ragged(&d);
    ok = false;
  }
  if (ok) {
    arg.tag = TT_V_TUPLE;
    arg.as.tuple.item = item;
    arg.as.tuple.n = n;
    tt_code c = tt_call("stack", &arg, 1, made, 8, &result, &err);
    tt_array *whole = made[0]; /* what is made of lists has C order, however its items lie */
    if (c == TT_OK && !tt_array_is_contiguous(whole)) {
      c = tt_copy(whole, &made[0], &err);
      tt_release(&whole);
    }
    if (c != TT_OK) core_raise(c, &err);
  }
  core_scratch_free(&s);
  return made[0];
}

tt_array *core_from_sequence(PyObject *o, tt_dtype dtype) {
  tt_array *rows;
  if (core_from_rows(o, dtype, &rows)) return rows;
  discovery d = {.rank = -1, .ragged = -1, .asked = dtype};
  for (int k = 0; k < TT_MAX_RANK; k++) d.len[k] = -1;
  discover(&d, o, 0);
  bool ragged = d.ragged >= 0 && !d.arrays;
  if (ragged && !d.bad) raise_ragged(&d);
  if (d.odd && !d.bad && !ragged) not_convertible(&d);
  Py_CLEAR(d.odd);
  if (PyErr_Occurred()) return NULL;
  if (d.arrays) return stacked(o, dtype);
  tt_dtype common;
  if (!common_dtype(d.seen, &common)) return NULL;
  /* Small and huge integers have float64 in common; an integer type that was asked for holds them exactly. */
  uint32_t integers = 1u << TT_I64 | 1u << TT_U64;
  if ((d.seen & integers) == integers && !(d.seen & ~integers) && dtype != TT_DTYPE_NONE &&
      strchr("iu", core_dtype_kind(dtype)))
    common = TT_U64;
  if ((d.huge || d.truth) && dtype == TT_BOOL) common = TT_BOOL; /* read as truth values at once */
  const char *checked = dtype == TT_DTYPE_NONE || strchr("bc", core_dtype_kind(dtype)) ? ""
                        : strchr("iu", core_dtype_kind(dtype))                         ? "iufc"
                                                                                       : "c";
  if (strchr(checked, core_dtype_kind(common)) && !check_range(o, 0, &d, dtype)) return NULL;
  return filled(o, &d, common, dtype);
}
