/*
** What an array tells about itself, without being evaluated.
*/
#include "core.h"

static PyObject *ints(const int64_t *v, int n, int64_t scale) {
  PyObject *t = PyTuple_New(n);
  for (int k = 0; t && k < n; k++) {
    PyObject *i = PyLong_FromLongLong(v[k] * scale);
    if (!i) {
      Py_DECREF(t);
      return NULL;
    }
    PyTuple_SetItem(t, k, i);
  }
  return t;
}

static PyObject *get_shape(PyObject *self, void *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  return ints(tt_array_len(core_handle(self)), tt_array_rank(core_handle(self)), 1);
}

/* NumPy's in-place reshape: only where no copy is needed. */
static int set_shape(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  int64_t len[TT_MAX_RANK];
  int rank;
  if (!value) return PyErr_SetString(PyExc_AttributeError, "Cannot delete array shape"), -1;
  if (core_is_number(self)) return PyErr_SetString(PyExc_AttributeError, "the shape of a number cannot be set"), -1;
  if (!core_shape(value, len, &rank)) return -1;
  tt_array *out, *a = core_handle(self);
  tt_error err;
  tt_code c = tt_reshape(a, rank, len, &out, &err);
  if (c != TT_OK) return core_raise(c, &err), -1;
  if (!tt_array_shares(a, out)) {
    tt_release(&out);
    PyErr_SetString(
        PyExc_AttributeError,
        "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.");
    return -1;
  }
  ((core_array *)self)->array = out;
  tt_release(&a);
  return 0;
}

static PyObject *get_strides(PyObject *self, void *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  tt_array *a = core_handle(self);
  return ints(tt_array_step(a), tt_array_rank(a), core_dtype_bytes(tt_array_dtype(a)));
}
static PyObject *get_dtype(PyObject *self, void *unused) {
  return (void)unused, core_dtype_object(core_dtype_of(self));
}
static PyObject *get_ndim(PyObject *self, void *unused) {
  return (void)unused, core_need(self) ? PyLong_FromLong(tt_array_rank(core_handle(self))) : NULL;
}
static PyObject *get_size(PyObject *self, void *unused) {
  return (void)unused, core_need(self) ? PyLong_FromLongLong(tt_array_size(core_handle(self))) : NULL;
}
static PyObject *get_itemsize(PyObject *self, void *unused) {
  return (void)unused, PyLong_FromLongLong(core_dtype_bytes(core_dtype_of(self)));
}
static PyObject *get_nbytes(PyObject *self, void *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  tt_array *a = core_handle(self);
  return PyLong_FromLongLong(tt_array_size(a) * core_dtype_bytes(tt_array_dtype(a)));
}
static PyObject *get_base(PyObject *self, void *unused) {
  (void)unused;
  PyObject *base = ((core_array *)self)->base;
  return Py_NewRef(base ? base : Py_None);
}

static PyObject *hook_of(core_hook hook, PyObject *self) {
  PyObject *f = core_hook_get(hook);
  return f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;
}
static PyObject *get_flags(PyObject *self, void *unused) { return (void)unused, hook_of(CORE_HOOK_flags, self); }
static PyObject *get_flat(PyObject *self, void *unused) { return (void)unused, hook_of(CORE_HOOK_flat, self); }
static PyObject *get_device(PyObject *self, void *unused) {
  (void)unused;
  return core_need(self) ? core_device_object(tt_array_device(core_handle(self))) : NULL;
}

static int set_flat(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  PyObject *flat = value ? hook_of(CORE_HOOK_flat, self) : NULL;
  if (!flat) return -1;
  int failed = PyObject_SetItem(flat, Py_Ellipsis, value);
  Py_DECREF(flat);
  return failed;
}

static PyObject *get_transpose(PyObject *self, void *unused) {
  (void)unused;
  tt_array *out;
  tt_error err;
  if (!core_need(self)) return NULL;
  core_line();
  tt_code c = tt_transpose(core_handle(self), NULL, &out, &err);
  return c == TT_OK ? core_wrap_view(out, self) : core_raise(c, &err);
}

static PyObject *get_matrix_transpose(PyObject *self, void *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  int rank = tt_array_rank(core_handle(self)), axes[TT_MAX_RANK];
  if (rank < 2) {
    PyErr_SetString(PyExc_ValueError, "matrix transpose with ndim < 2 is undefined");
    return NULL;
  }
  for (int k = 0; k < rank; k++) axes[k] = k;
  axes[rank - 1] = rank - 2;
  axes[rank - 2] = rank - 1;
  tt_array *out;
  tt_error err;
  core_line();
  tt_code c = tt_transpose(core_handle(self), axes, &out, &err);
  return core_done(c, out, self, &err);
}

static PyObject *part(PyObject *self, tt_op op) {
  core_line();
  return core_operator(op, &self, 1, NULL);
}
static PyObject *get_real(PyObject *self, void *unused) {
  (void)unused;
  if (core_dtype_kind(core_dtype_of(self)) != 'c') return Py_NewRef(self);
  return part(self, TT_REAL);
}
static PyObject *get_imag(PyObject *self, void *unused) { return (void)unused, part(self, TT_IMAG); }

/* a.real = x: the other part stays. */
static int set_part(PyObject *self, PyObject *value, bool imag) {
  if (!value) return PyErr_SetString(PyExc_AttributeError, "Cannot delete part of an array"), -1;
  bool complex = core_dtype_kind(core_dtype_of(self)) == 'c';
  if (!complex && imag) return PyErr_SetString(PyExc_TypeError, "array does not have imaginary part to set"), -1;
  if (!complex) return PyObject_SetItem(self, Py_Ellipsis, value);
  PyObject *unit = PyComplex_FromDoubles(0, 1), *kept = part(self, imag ? TT_REAL : TT_IMAG);
  PyObject *given = core_wrap(core_asarray(value, TT_DTYPE_NONE, CORE_COPY_NEEDED), NULL), *scaled = NULL,
           *whole = NULL;
  if (unit && kept && given) scaled = PyNumber_Multiply(imag ? given : kept, unit);
  if (scaled) whole = PyNumber_Add(imag ? kept : given, scaled);
  int failed = whole ? PyObject_SetItem(self, Py_Ellipsis, whole) : -1;
  Py_XDECREF(unit);
  Py_XDECREF(kept);
  Py_XDECREF(given);
  Py_XDECREF(scaled);
  Py_XDECREF(whole);
  return failed;
}
static int set_real(PyObject *self, PyObject *value, void *unused) {
  return (void)unused, set_part(self, value, false);
}
static int set_imag(PyObject *self, PyObject *value, void *unused) { return (void)unused, set_part(self, value, true); }

PyGetSetDef core_attributes[] = {
    {"shape", get_shape, set_shape, "lengths of the axes", NULL},
    {"strides", get_strides, NULL, "bytes between neighbours along each axis", NULL},
    {"dtype", get_dtype, NULL, "type of the elements", NULL},
    {"ndim", get_ndim, NULL, "number of axes", NULL},
    {"size", get_size, NULL, "number of elements", NULL},
    {"itemsize", get_itemsize, NULL, "bytes of an element", NULL},
    {"nbytes", get_nbytes, NULL, "bytes of all elements", NULL},
    {"base", get_base, NULL, "the array this one is a view of, or None", NULL},
    {"flags", get_flags, NULL, "memory layout and whether it may be written", NULL},
    {"flat", get_flat, set_flat, "the elements in C order, to read and to write", NULL},
    {"device", get_device, NULL, "where the array lives", NULL},
    {"T", get_transpose, NULL, "view with the axes reversed", NULL},
    {"mT", get_matrix_transpose, NULL, "view with the last two axes exchanged", NULL},
    {"real", get_real, set_real, "real part", NULL},
    {"imag", get_imag, set_imag, "imaginary part", NULL},
    {"__array_interface__", core_attr_interface, NULL, "the array interface, version 3", NULL},
    {"__cuda_array_interface__", core_attr_cuda_interface, NULL, "the CUDA array interface, version 3", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
