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

/* As a view of that type has it: the array is that view then, under all of its names. */
static int set_dtype(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  if (!value) return PyErr_SetString(PyExc_AttributeError, "Cannot delete array dtype"), -1;
  if (core_is_number(self)) return PyErr_SetString(PyExc_AttributeError, "the dtype of a number cannot be set"), -1;
  PyObject *view = PyObject_CallMethod(self, "view", "O", value);
  if (!view || !core_is_array(view)) return Py_XDECREF(view), -1;
  tt_array *before = core_handle(self);
  ((core_array *)self)->array = core_handle(view);
  ((core_array *)view)->array = before;
  Py_DECREF(view);
  return 0;
}

static PyObject *get_strides(PyObject *self, void *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  int64_t stride[TT_MAX_RANK];
  tt_array *a = core_handle(self);
  tt_array_stride(a, stride);
  return ints(stride, tt_array_rank(a), 1);
}
static PyObject *get_dtype(PyObject *self, void *unused) {
  (void)unused;
  return core_is_tensor(self) ? core_dtype_of_tensors(core_dtype_of(self)) : core_dtype_object(core_dtype_of(self));
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
  return c == TT_OK ? core_wrap_view(out, self) : core_raise(c, &err);
}

/* Of an array a view; of a number, which has no memory, a number. */
static PyObject *part(PyObject *self, bool imag) {
  core_line();
  if (core_is_number(self)) return core_operator(imag ? TT_IMAG : TT_REAL, &self, 1, NULL);
  return core_call(core_row(imag ? "imag" : "real"), self, NULL, 0, NULL);
}
static PyObject *get_real(PyObject *self, void *unused) { return (void)unused, part(self, false); }
static PyObject *get_imag(PyObject *self, void *unused) { return (void)unused, part(self, true); }

static int set_part(PyObject *self, PyObject *value, bool imag) {
  if (!value) return PyErr_SetString(PyExc_AttributeError, "Cannot delete part of an array"), -1;
  if (imag && core_dtype_kind(core_dtype_of(self)) != 'c')
    return PyErr_SetString(PyExc_TypeError, "array does not have imaginary part to set"), -1;
  PyObject *view = part(self, imag);
  int failed = view ? PyObject_SetItem(view, Py_Ellipsis, value) : -1;
  Py_XDECREF(view);
  return failed;
}
static int set_real(PyObject *self, PyObject *value, void *unused) {
  return (void)unused, set_part(self, value, false);
}
static int set_imag(PyObject *self, PyObject *value, void *unused) { return (void)unused, set_part(self, value, true); }

/* An element is a number: isinstance(x[0], numbers.Real) holds where its type is real. */
static PyObject *get_class(PyObject *self, void *unused) {
  (void)unused;
  if (!core_is_number(self)) return Py_NewRef((PyObject *)Py_TYPE(self));
  char kind = core_dtype_kind(core_dtype_of(self));
  PyObject *hook = core_hook_get(CORE_HOOK_number_class), *word = PyUnicode_FromStringAndSize(&kind, 1);
  PyObject *out = hook && word ? PyObject_CallFunctionObjArgs(hook, word, NULL) : NULL;
  Py_XDECREF(word);
  return out;
}

static PyObject *no_attribute(const char *name) {
  return PyErr_Format(PyExc_AttributeError, "'tutti.ndarray' object has no attribute '%s'", name);
}

/* An integer is a fraction. */
static PyObject *get_numerator(PyObject *self, void *unused) {
  (void)unused;
  bool integer = core_is_number(self) && strchr("biu", core_dtype_kind(core_dtype_of(self)));
  return integer ? Py_NewRef(self) : no_attribute("numerator");
}
static PyObject *get_denominator(PyObject *self, void *unused) {
  (void)unused;
  bool integer = core_is_number(self) && strchr("biu", core_dtype_kind(core_dtype_of(self)));
  return integer ? PyLong_FromLong(1) : no_attribute("denominator");
}

/* pandas' word for what stands for a NumPy array and gives it when asked, by to_numpy(). */
static PyObject *get_pandas_kind(PyObject *self, void *unused) {
  (void)unused;
  return core_is_number(self) ? no_attribute("_typ") : PyUnicode_FromString("npy_extension");
}

static PyObject *get_data(PyObject *self, void *unused) { return (void)unused, PyMemoryView_FromObject(self); }

PyGetSetDef core_attributes[] = {
    {"shape", get_shape, set_shape, "lengths of the axes", NULL},
    {"strides", get_strides, NULL, "bytes between neighbours along each axis", NULL},
    {"dtype", get_dtype, set_dtype, "type of the elements", NULL},
    {"ndim", get_ndim, NULL, "number of axes", NULL},
    {"size", get_size, NULL, "number of elements", NULL},
    {"itemsize", get_itemsize, NULL, "bytes of an element", NULL},
    {"nbytes", get_nbytes, NULL, "bytes of all elements", NULL},
    {"base", get_base, NULL, "the array this one is a view of, or None", NULL},
    {"flags", get_flags, NULL, "memory layout and whether it may be written", NULL},
    {"flat", get_flat, set_flat, "the elements in C order, to read and to write", NULL},
    {"data", get_data, NULL, "the memory as it is now, to read", NULL},
    {"device", get_device, NULL, "where the array lives", NULL},
    {"T", get_transpose, NULL, "view with the axes reversed", NULL},
    {"mT", get_matrix_transpose, NULL, "view with the last two axes exchanged", NULL},
    {"real", get_real, set_real, "real part", NULL},
    {"imag", get_imag, set_imag, "imaginary part", NULL},
    {"__class__", get_class, NULL, "the type; of an element, the kind of number it is", NULL},
    {"requires_grad", core_get_requires_grad, core_set_requires_grad, "whether gradients are computed for it", NULL},
    {"is_leaf", core_get_is_leaf, NULL, "whether gradients end here", NULL},
    {"grad", core_get_grad, core_set_grad, "the gradient summed up so far, or None", NULL},
    {"numerator", get_numerator, NULL, "of an integer number: itself", NULL},
    {"denominator", get_denominator, NULL, "of an integer number: 1", NULL},
    {"_typ", get_pandas_kind, NULL, "pandas' word for what to_numpy() gives", NULL},
    {"__array_interface__", core_attr_interface, NULL, "the array interface, version 3", NULL},
    {"__cuda_array_interface__", core_attr_cuda_interface, NULL, "the CUDA array interface, version 3", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
