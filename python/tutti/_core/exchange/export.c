/*
** Ways out: buffers, the array interface, bytes, lists, scalars, pickles.
**
** Memory that is shown never changes (tt_peek), so every export is read-only, and later
** writes to the array go elsewhere.
*/
#include "core.h"

#include <string.h>

/* ---- the buffer protocol */

typedef struct shown {
  void *hold;
  Py_ssize_t shape[TT_MAX_RANK], strides[TT_MAX_RANK];
} shown;

static const char *refuse(tt_array *a, int flags) {
  bool c = tt_array_is_contiguous(a), f = tt_array_is_f_contiguous(a);
  if (flags & PyBUF_WRITABLE) return "tutti arrays show their memory read-only";
  if (tt_array_dtype(a) == TT_BF16) return "the buffer protocol has no format for bfloat16";
  if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c) return "ndarray is not C-contiguous";
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !f) return "ndarray is not Fortran contiguous";
  if ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c && !f) return "ndarray is not contiguous";
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !c) return "ndarray is not C-contiguous";
  return NULL;
}

/*
** NumPy asks for a buffer first, forgets why it got none, and goes on to the array interface: what is told once (that a
** kernel failed, a Ctrl-C) would be nobody's. So it is kept until that array is asked for its interface.
*/
static struct {
  PyObject *of; /* borrowed; NULL: nothing is kept */
  PyObject *type, *value;
} refused;

void core_forget_refusal(PyObject *of) {
  if (refused.of != of) return;
  refused.of = NULL;
  Py_CLEAR(refused.type);
  Py_CLEAR(refused.value);
}

static void keep_refusal(PyObject *of) {
  PyObject *trace;
  core_forget_refusal(refused.of);
  PyErr_Fetch(&refused.type, &refused.value, &trace);
  refused.of = of;
  PyErr_Restore(Py_XNewRef(refused.type), Py_XNewRef(refused.value), trace);
}

static bool has_refusal(PyObject *of) {
  if (refused.of != of) return false;
  PyErr_Restore(refused.type, refused.value, NULL);
  refused.of = refused.type = refused.value = NULL;
  return true;
}

static int buffer_get(PyObject *self, Py_buffer *view, int flags) {
  view->obj = NULL;
  if (!core_need(self)) return -1;
  tt_array *a = core_handle(self);
  const char *why = refuse(a, flags);
  if (why) {
    bool order = strstr(why, "ontiguous") != NULL; /* as NumPy tells one from the other */
    PyErr_SetString(order ? PyExc_ValueError : PyExc_BufferError, why);
    return -1;
  }
  shown *s = PyMem_Malloc(sizeof *s);
  if (!s) return (void)PyErr_NoMemory(), -1;
  const void *data;
  tt_error err;
  tt_code c = tt_peek(a, &data, &s->hold, &err);
  if (c != TT_OK) {
    PyMem_Free(s);
    core_raise(c, &err);
    keep_refusal(self);
    return -1;
  }
  if (refused.of) core_forget_refusal(refused.of);
  tt_dtype dtype = tt_array_dtype(a);
  int64_t bytes = core_dtype_bytes(dtype);
  int rank = tt_array_rank(a);
  for (int k = 0; k < rank; k++) {
    s->shape[k] = (Py_ssize_t)tt_array_len(a)[k];
    s->strides[k] = (Py_ssize_t)(tt_array_step(a)[k] * bytes);
  }
  view->buf = (void *)(uintptr_t)data;
  view->len = (Py_ssize_t)(tt_array_size(a) * bytes);
  view->readonly = 1;
  view->itemsize = (Py_ssize_t)bytes;
  view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)core_dtype_format(dtype) : NULL;
  view->ndim = rank;
  view->shape = flags & PyBUF_ND ? s->shape : NULL;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? s->strides : NULL;
  view->suboffsets = NULL;
  view->internal = s;
  view->obj = Py_NewRef(self);
  return 0;
}

static void buffer_release(PyObject *self, Py_buffer *view) {
  (void)self;
  shown *s = view->internal;
  tt_unpeek(s->hold);
  PyMem_Free(s);
}

int core_export_slots(PyType_Slot *slot) {
  slot[0] = (PyType_Slot){Py_bf_getbuffer, buffer_get};
  slot[1] = (PyType_Slot){Py_bf_releasebuffer, buffer_release};
  return 2;
}

/* ---- the array interface */

static void unpeek_capsule(PyObject *capsule) { tt_unpeek(PyCapsule_GetContext(capsule)); }
static void unpeek_on_capsule(PyObject *capsule) { tt_unpeek_on(PyCapsule_GetContext(capsule)); }

/*
** A consumer of an interface holds the array object, not the memory: so the object keeps every memory it has shown,
** until it goes. Takes the hold.
*/
static bool keep_shown(core_array *self, const void *data, void *hold, bool on_gpu) {
  if (!self->exports && !(self->exports = PyList_New(0))) goto fail;
  Py_ssize_t n = PyList_Size(self->exports);
  if (n > 0 && PyCapsule_GetPointer(PyList_GetItem(self->exports, n - 1), NULL) == data) goto shown_already;
  PyObject *capsule = PyCapsule_New((void *)(uintptr_t)data, NULL, NULL);
  if (!capsule) goto fail;
  bool ok = PyList_Append(self->exports, capsule) == 0 && PyCapsule_SetContext(capsule, hold) == 0 &&
            PyCapsule_SetDestructor(capsule, on_gpu ? unpeek_on_capsule : unpeek_capsule) == 0;
  Py_DECREF(capsule);
  if (ok) return true;
fail:
  (on_gpu ? tt_unpeek_on : tt_unpeek)(hold);
  return false;
shown_already:
  (on_gpu ? tt_unpeek_on : tt_unpeek)(hold);
  return true;
}

/* The dict of either interface; `stream` is stolen, NULL where the interface has none. */
static PyObject *describe(PyObject *self, const void *data, PyObject *stream) {
  tt_array *a = core_handle(self);
  PyObject *shape = PyObject_GetAttrString(self, "shape"), *strides = PyObject_GetAttrString(self, "strides");
  PyObject *pointer = PyLong_FromVoidPtr((void *)(uintptr_t)data), *out = NULL;
  if (shape && strides && pointer) {
    out = Py_BuildValue("{sOsOsss(OO)si}", "shape", shape, "strides", tt_array_is_contiguous(a) ? Py_None : strides,
                        "typestr", core_dtype_typestr(tt_array_dtype(a)), "data", pointer, Py_True, "version", 3);
  }
  if (out && stream && PyDict_SetItemString(out, "stream", stream) < 0) Py_CLEAR(out);
  Py_XDECREF(stream);
  Py_XDECREF(shape);
  Py_XDECREF(strides);
  Py_XDECREF(pointer);
  return out;
}

static bool has_typestr(tt_array *a) {
  if (tt_array_dtype(a) != TT_BF16) return true;
  PyErr_SetString(PyExc_AttributeError, "the array interface has no type string for bfloat16");
  return false;
}

PyObject *core_attr_interface(PyObject *self, void *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  tt_array *a = core_handle(self);
  const void *data;
  void *hold;
  tt_error err;
  if (!has_typestr(a) || has_refusal(self)) return NULL;
  tt_code c = tt_peek(a, &data, &hold, &err);
  if (c != TT_OK) return core_raise(c, &err);
  static const char nothing[16];
  if (!data) data = nothing; /* no elements, no memory: a capsule needs an address */
  return keep_shown((core_array *)self, data, hold, false) ? describe(self, data, NULL) : NULL;
}

/* Consumers wait for the stream named here before they read. Arrays that are on no GPU have no such attribute. */
PyObject *core_attr_cuda_interface(PyObject *self, void *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  tt_array *a = core_handle(self);
  int device = tt_array_device(a);
  const void *data;
  void *hold;
  tt_error err;
  if (core_cuda_index(device) < 0) {
    PyErr_SetString(PyExc_AttributeError, "the array is on no CUDA device (move it with .cuda())");
    return NULL;
  }
  if (!has_typestr(a)) return NULL;
  void *stream = tt_stream_handle(device, tt_stream_current(device));
  tt_code c = tt_peek_on(a, device, stream, &data, &hold, &err);
  if (c != TT_OK) return core_raise(c, &err);
  if (data && !keep_shown((core_array *)self, data, hold, true)) return NULL;
  return describe(self, data, PyLong_FromVoidPtr(stream));
}

/* ---- scalars and lists */

PyObject *core_item(tt_array *a) {
  tt_value v;
  tt_error err;
  tt_code c = tt_item(a, &v, &err);
  return c == TT_OK ? core_value_object(&v) : core_raise(c, &err);
}

PyObject *core_meth_item(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  tt_number x;
  tt_value known;
  int64_t one;
  if (n == 1 && PyBool_Check(arg[0])) return PyErr_SetString(PyExc_TypeError, "an integer is required"), NULL;
  if (n == 0 && core_known(self)) return core_number_value(self, &known) ? core_value_object(&known) : NULL;
  if (n == 1 && core_made(self) && core_index(arg[0], &one) && tt_number_get(core_made(self), 1, &one, &x)) {
    core_read_number(&x, &known);
    return core_value_object(&known);
  }
  if (n == 1 && !PyTuple_Check(arg[0]) && arg[0] != Py_None) { /* lists are no places here */
    PyObject *whole = PyNumber_Index(arg[0]);
    bool fits = whole && (PyLong_AsLong(whole) != -1 || !PyErr_Occurred());
    Py_XDECREF(whole);
    if (!fits) return NULL;
  }
  if (!core_need(self)) return NULL;
  tt_array *a = core_handle(self);
  int64_t at[TT_MAX_RANK];
  int count, rank = tt_array_rank(a);
  if (n == 0) {
    if (tt_array_size(a) == 1) return core_item(a);
    PyErr_SetString(PyExc_ValueError, "can only convert an array of size 1 to a Python scalar");
    return NULL;
  }
  if (n > 1 && n != rank) return PyErr_SetString(PyExc_ValueError, "incorrect number of indices for array"), NULL;
  if (!core_shape_args(arg, n, at, &count)) return NULL;
  if (count == 1 && rank != 1) { /* one number counts in C order */
    int64_t flat = at[0], size = tt_array_size(a);
    if (flat < -size || flat >= size) {
      return PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for size %lld", (long long)flat,
                          (long long)size);
    }
    if (flat < 0) flat += size;
    for (int k = rank - 1; k >= 0; k--) {
      at[k] = flat % tt_array_len(a)[k];
      flat /= tt_array_len(a)[k];
    }
    count = rank;
  }
  if (count != rank) return PyErr_SetString(PyExc_ValueError, "incorrect number of indices for array"), NULL;
  tt_value item[TT_MAX_RANK], index = {TT_V_TUPLE, {0}};
  for (int k = 0; k < rank; k++) item[k] = tt_v_int(at[k]);
  index.as.tuple.item = item;
  index.as.tuple.n = rank;
  tt_value v;
  tt_error err;
  tt_code c = tt_get_item(a, index, &v, &err);
  return c == TT_OK ? core_value_object(&v) : core_raise(c, &err);
}

/* Not of 16-bit floats: core_tolist casts them. */
static PyObject *element(const void *p, tt_dtype dtype) {
  switch (dtype) {
    case TT_BOOL:
      return PyBool_FromLong(*(const uint8_t *)p);
    case TT_I8:
      return PyLong_FromLong(*(const int8_t *)p);
    case TT_I16:
      return PyLong_FromLong(*(const int16_t *)p);
    case TT_I32:
      return PyLong_FromLong(*(const int32_t *)p);
    case TT_I64:
      return PyLong_FromLongLong(*(const int64_t *)p);
    case TT_U8:
      return PyLong_FromLong(*(const uint8_t *)p);
    case TT_U16:
      return PyLong_FromLong(*(const uint16_t *)p);
    case TT_U32:
      return PyLong_FromUnsignedLong(*(const uint32_t *)p);
    case TT_U64:
      return PyLong_FromUnsignedLongLong(*(const uint64_t *)p);
    case TT_F32:
      return PyFloat_FromDouble((double)*(const float *)p);
    case TT_F64:
      return PyFloat_FromDouble(*(const double *)p);
    case TT_C64:
      return PyComplex_FromDoubles((double)((const tt_c64 *)p)->re, (double)((const tt_c64 *)p)->im);
    default:
      return PyComplex_FromDoubles(((const tt_c128 *)p)->re, ((const tt_c128 *)p)->im);
  }
}

/* Element k of a line. The types most met are read here: there are many elements. */
static PyObject *element_of_line(const char *at, int64_t k, int64_t step, tt_dtype dtype) {
  if (dtype == TT_F64) return PyFloat_FromDouble(*(const double *)(const void *)(at + k * step));
  if (dtype == TT_I64) return PyLong_FromLongLong(*(const int64_t *)(const void *)(at + k * step));
  return element(at + k * step, dtype);
}

/* Ctrl-C is heard now and then. */
static PyObject *list_of(tt_array *a, const char *at, int axis, unsigned *count) {
  tt_dtype dtype = tt_array_dtype(a);
  if (axis == tt_array_rank(a)) return element(at, dtype);
  int64_t n = tt_array_len(a)[axis], step = tt_array_step(a)[axis] * core_dtype_bytes(dtype);
  PyObject *list = PyList_New((Py_ssize_t)n);
  bool line = axis == tt_array_rank(a) - 1;
  for (int64_t k = 0; list && k < n; k++) {
    bool hear = line && (++*count & 0xfffff) == 0;
    PyObject *x = line ? element_of_line(at, k, step, dtype) : list_of(a, at + k * step, axis + 1, count);
    if (hear && PyErr_CheckSignals() < 0) Py_CLEAR(x);
    if (!x) {
      Py_DECREF(list);
      return NULL;
    }
    PyList_SetItem(list, (Py_ssize_t)k, x);
  }
  return list;
}

static PyObject *list_of_array(tt_array *a) {
  const void *data;
  void *hold;
  tt_error err;
  tt_code c = tt_peek(a, &data, &hold, &err);
  if (c != TT_OK) return core_raise(c, &err);
  unsigned count = 0;
  PyObject *out = list_of(a, data, 0, &count);
  tt_unpeek(hold);
  return out;
}

PyObject *core_tolist(PyObject *self) {
  if (!core_need(self)) return NULL;
  tt_array *a = core_handle(self), *wide;
  tt_dtype dtype = tt_array_dtype(a);
  if (dtype != TT_F16 && dtype != TT_BF16) return list_of_array(a);
  tt_error err;
  tt_code c = tt_eval(&a, 1, &err); /* itself: it is looked at */
  if (c == TT_OK) c = tt_cast(a, TT_F32, true, &wide, &err);
  if (c != TT_OK) return core_raise(c, &err);
  PyObject *out = list_of_array(wide);
  tt_release(&wide);
  return out;
}
PyObject *core_meth_tolist(PyObject *self, PyObject *unused) { return (void)unused, core_tolist(self); }

/* ---- bytes and pickles */

PyObject *core_meth_tobytes(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *order[1], *turned = NULL;
  if (!core_need(self) || !core_bind("tobytes", "order", 0, arg, n, names, order)) return NULL;
  const char *s = order[0] && PyUnicode_Check(order[0]) ? PyUnicode_AsUTF8AndSize(order[0], NULL) : "C";
  if (s && s[0] == 'F' && !(turned = PyObject_GetAttrString(self, "T"))) return NULL;
  tt_array *a = core_handle(turned ? turned : self);
  int64_t size = tt_array_size(a) * core_dtype_bytes(tt_array_dtype(a));
  PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  tt_error err;
  tt_code c = out ? tt_read(a, PyBytes_AsString(out), (size_t)size, &err) : TT_OK;
  Py_XDECREF(turned);
  if (c == TT_OK) return out;
  Py_XDECREF(out);
  return core_raise(c, &err);
}

/* Takes `data`, the elements of `self` in C's order; NULL: an exception is set. Numbers come back as numbers, with
 * `turned` what comes back is the transpose. */
static PyObject *picklable(PyObject *data, PyObject *self, bool turned) {
  if (!data) return NULL;
  PyObject *module = PyImport_ImportModule("tutti._core"), *shape = PyObject_GetAttrString(self, "shape");
  PyObject *rebuild = module ? PyObject_GetAttrString(module, "_rebuild") : NULL, *out = NULL;
  const char *name = core_dtype_name(tt_array_dtype(core_handle(self)));
  if (rebuild && shape && core_is_number(self))
    out = Py_BuildValue("O(OsOO)", rebuild, data, name, shape, Py_True);
  else if (rebuild && shape && turned)
    out = Py_BuildValue("O(OsOOO)", rebuild, data, name, shape, Py_False, Py_True);
  else if (rebuild && shape)
    out = Py_BuildValue("O(OsO)", rebuild, data, name, shape);
  Py_XDECREF(module);
  Py_XDECREF(rebuild);
  Py_XDECREF(shape);
  Py_XDECREF(data);
  return out;
}

/* Fortran's order travels as the transpose's C order. A new reference. */
static PyObject *laid_in_c(PyObject *self, bool *turned) {
  tt_array *a = core_handle(self);
  *turned = tt_array_is_f_contiguous(a) && !tt_array_is_contiguous(a);
  return *turned ? PyObject_GetAttrString(self, "T") : Py_NewRef(self);
}

static PyObject *reduce_to_bytes(PyObject *self) {
  bool turned;
  PyObject *laid = laid_in_c(self, &turned);
  PyObject *out = laid ? picklable(core_meth_tobytes(laid, NULL, 0, NULL), laid, turned) : NULL;
  Py_XDECREF(laid);
  return out;
}

PyObject *core_meth_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  return core_need(self) ? reduce_to_bytes(self) : NULL;
}

/* From protocol 5 on the elements travel as a buffer, out of band if the pickler wishes. */
PyObject *core_meth_reduce_ex(PyObject *self, PyObject *protocol) {
  if (!core_need(self)) return NULL;
  if (Py_TYPE(self) != core_array_type) { /* the class by its name, around an array */
    PyObject *core = PyImport_ImportModule("tutti._core"),
             *as = core ? PyObject_GetAttrString(core, "_rebuild_as") : NULL,
             *plain = as ? core_as_type(self, core_array_type, Py_None) : NULL;
    PyObject *made = plain ? Py_BuildValue("O(OO)", as, Py_TYPE(self), plain) : NULL;
    Py_XDECREF(core);
    Py_XDECREF(as);
    Py_XDECREF(plain);
    return made;
  }
  long version = PyLong_AsLong(protocol);
  if (version == -1 && PyErr_Occurred()) return NULL;
  if (version < 5 || core_is_number(self) || tt_array_dtype(core_handle(self)) == TT_BF16) return reduce_to_bytes(self);
  PyObject *module = PyImport_ImportModule("pickle"),
           *cls = module ? PyObject_GetAttrString(module, "PickleBuffer") : NULL;
  bool turned = false;
  PyObject *laid = cls ? laid_in_c(self, &turned) : NULL, *dense = NULL;
  if (laid)
    dense = tt_array_is_contiguous(core_handle(laid)) ? Py_NewRef(laid) : PyObject_CallMethod(laid, "copy", NULL);
  PyObject *buffer = dense ? PyObject_CallFunctionObjArgs(cls, dense, NULL) : NULL;
  Py_XDECREF(module);
  Py_XDECREF(cls);
  Py_XDECREF(dense);
  PyObject *out = laid ? picklable(buffer, laid, turned) : NULL;
  Py_XDECREF(laid);
  return out;
}

/* A new array whose transpose has these elements in C's order. */
static tt_code made_turned(tt_dtype type, int rank, const int64_t *len, const void *data, tt_array **out,
                           tt_error *err) {
  int64_t back[TT_MAX_RANK], stride[TT_MAX_RANK], step = core_dtype_bytes(type);
  for (int k = rank - 1; k >= 0; step *= len[k--]) {
    back[rank - 1 - k] = len[k];
    stride[rank - 1 - k] = step;
  }
  return tt_from_data(type, rank, back, data, stride, out, err);
}

/* _rebuild(data, dtype, shape, number=False, turned=False): bytes are copied, memory handed over out of band is shared.
 */
PyObject *core_py_rebuild(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *data, *dtype, *shape;
  tt_dtype want;
  int64_t len[TT_MAX_RANK], bytes;
  int rank, number = 0, turned = 0;
  if (!PyArg_ParseTuple(args, "OOO|pp", &data, &dtype, &shape, &number, &turned)) return NULL;
  if (!core_dtype_from(dtype, &want) || !core_shape(shape, len, &rank)) return NULL;
  bytes = core_dtype_bytes(want);
  for (int k = 0; k < rank; k++) {
    if (len[k] < 0 || __builtin_mul_overflow(bytes, len[k], &bytes)) {
      return PyErr_SetString(PyExc_ValueError, "this pickle's shape is not one of an array"), NULL;
    }
  }
  Py_buffer view;
  tt_array *a = NULL;
  tt_error err;
  if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) return NULL;
  bool fits = view.len == bytes;
  bool copy = PyBytes_Check(data) || bytes == 0;
  tt_code c = TT_OK;
  if (fits && copy)
    c = turned ? made_turned(want, rank, len, view.buf, &a, &err)
               : tt_from_data(want, rank, len, view.buf, NULL, &a, &err);
  PyBuffer_Release(&view);
  if (!fits) return PyErr_SetString(PyExc_ValueError, "this pickle's buffer does not fit its shape"), NULL;
  if (c != TT_OK) return core_raise(c, &err);
  if (copy && number && rank == 0) return core_as_number(core_wrap(a, NULL));
  if (copy) return core_wrap(a, NULL);
  PyObject *arg[2] = {data, dtype};
  PyObject *flat = core_py_frombuffer(NULL, arg, 2, NULL);
  if (!flat) return NULL;
  c = tt_reshape(core_handle(flat), rank, len, &a, &err);
  Py_DECREF(flat);
  PyObject *made = core_done(c, a, NULL, &err), *out = made && turned ? PyObject_GetAttrString(made, "T") : NULL;
  if (!made || !turned) return made;
  Py_DECREF(made);
  return out;
}
