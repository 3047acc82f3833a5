/*
** Memory at addresses that stay, for programs that calculate with addresses: the functions of tutti/stream.h, with
** addresses as whole numbers and the host's memory as buffers.
*/
#include "core.h"

static void *pointer(unsigned long long at) { return (void *)(uintptr_t)at; }

static PyObject *done(tt_code c, const tt_error *err) {
  if (c != TT_OK) return core_raise(c, err);
  Py_RETURN_NONE;
}

/* raw_new(device, bytes): the address */
static PyObject *raw_new(PyObject *self, PyObject *args) {
  int device;
  Py_ssize_t size;
  void *p;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "in", &device, &size)) return NULL;
  if (size < 0) return PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed"), NULL;
  core_block_begin();
  tt_code c = tt_raw_new(device, (size_t)size, &p, &err);
  core_block_end();
  return c == TT_OK ? PyLong_FromVoidPtr(p) : core_raise(c, &err);
}

/* raw_free(address) */
static PyObject *raw_free(PyObject *self, PyObject *args) {
  unsigned long long at;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "K", &at)) return NULL;
  core_block_begin();
  tt_code c = tt_raw_free(pointer(at), &err);
  core_block_end();
  return done(c, &err);
}

/* raw_note(device, address, bytes) */
static PyObject *raw_note(PyObject *self, PyObject *args) {
  int device;
  unsigned long long at;
  Py_ssize_t size;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "iKn", &device, &at, &size)) return NULL;
  return done(tt_raw_note(device, pointer(at), (size_t)size, &err), &err);
}

/* raw_find(address): the device, and how many bytes there are from there on */
static PyObject *raw_find(PyObject *self, PyObject *args) {
  int device;
  unsigned long long at;
  size_t left;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "K", &at)) return NULL;
  tt_code c = tt_raw_find(pointer(at), &device, &left, &err);
  return c == TT_OK ? Py_BuildValue("iK", device, (unsigned long long)left) : core_raise(c, &err);
}

static bool read_stream(PyObject *o, tt_stream **out) {
  tt_launch_options how;
  if (!core_read_stream(o, &how)) return false;
  *out = how.stream;
  return true;
}

/* One of the two is the host's: a contiguous buffer. */
static PyObject *copy_host(PyObject *o, unsigned long long at, tt_raw_way way, PyObject *stream, bool wait) {
  Py_buffer v;
  tt_stream *s;
  tt_error err;
  if (!read_stream(stream, &s)) return NULL;
  if (PyObject_GetBuffer(o, &v, way == TT_RAW_OUT ? PyBUF_STRIDES | PyBUF_WRITABLE : PyBUF_STRIDES) < 0) return NULL;
  if (!PyBuffer_IsContiguous(&v, 'A')) {
    PyBuffer_Release(&v);
    return PyErr_SetString(PyExc_ValueError, "ndarray is not contiguous"), NULL;
  }
  core_block_begin();
  tt_code c = way == TT_RAW_OUT ? tt_raw_copy(v.buf, pointer(at), (size_t)v.len, way, s, wait, &err)
                                : tt_raw_copy(pointer(at), v.buf, (size_t)v.len, way, s, wait, &err);
  core_block_end();
  PyBuffer_Release(&v);
  return done(c, &err);
}

/* raw_in(address, buffer, stream, wait) */
static PyObject *raw_in(PyObject *self, PyObject *args) {
  unsigned long long at;
  PyObject *o, *stream;
  int wait;
  (void)self;
  if (!PyArg_ParseTuple(args, "KOOp", &at, &o, &stream, &wait)) return NULL;
  return copy_host(o, at, TT_RAW_IN, stream, wait);
}

/* raw_out(buffer, address, stream, wait) */
static PyObject *raw_out(PyObject *self, PyObject *args) {
  unsigned long long at;
  PyObject *o, *stream;
  int wait;
  (void)self;
  if (!PyArg_ParseTuple(args, "OKOp", &o, &at, &stream, &wait)) return NULL;
  return copy_host(o, at, TT_RAW_OUT, stream, wait);
}

/* raw_within(to, from, bytes, stream, wait) */
static PyObject *raw_within(PyObject *self, PyObject *args) {
  unsigned long long to, from;
  Py_ssize_t size;
  PyObject *stream;
  int wait;
  tt_stream *s;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "KKnOp", &to, &from, &size, &stream, &wait) || !read_stream(stream, &s)) return NULL;
  if (size < 0) return PyErr_SetString(PyExc_ValueError, "a copy of a negative number of bytes"), NULL;
  core_block_begin();
  tt_code c = tt_raw_copy(pointer(to), pointer(from), (size_t)size, TT_RAW_WITHIN, s, wait, &err);
  core_block_end();
  return done(c, &err);
}

/* raw_fill(to, item, count, stream): `item`: bytes */
static PyObject *raw_fill(PyObject *self, PyObject *args) {
  unsigned long long to;
  const char *item;
  Py_ssize_t width, count;
  PyObject *stream;
  tt_stream *s;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "Ky#nO", &to, &item, &width, &count, &stream) || !read_stream(stream, &s)) return NULL;
  if (count < 0) return PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed"), NULL;
  core_block_begin();
  tt_code c = tt_raw_fill(pointer(to), item, (size_t)width, (size_t)count, s, &err);
  core_block_end();
  return done(c, &err);
}

/* raw_load(address, dtype, shape): a new array with the elements there */
static PyObject *raw_load(PyObject *self, PyObject *args) {
  enum { MOST_AXES = 64 };
  unsigned long long at;
  PyObject *kind, *shape;
  tt_dtype dtype;
  int64_t len[MOST_AXES];
  tt_array *out;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "KOO!", &at, &kind, &PyTuple_Type, &shape) || !core_dtype_from(kind, &dtype)) return NULL;
  Py_ssize_t rank = PyTuple_Size(shape);
  if (rank > MOST_AXES) return PyErr_SetString(PyExc_ValueError, "an array has at most 64 axes"), NULL;
  for (Py_ssize_t k = 0; k < rank; k++) len[k] = PyLong_AsLongLong(PyTuple_GetItem(shape, k));
  if (PyErr_Occurred()) return NULL;
  core_block_begin();
  tt_code c = tt_raw_load(pointer(at), dtype, (int)rank, len, &out, &err);
  core_block_end();
  return core_done(c, out, NULL, &err);
}

/* raw_store(address, array) */
static PyObject *raw_store(PyObject *self, PyObject *args) {
  unsigned long long at;
  PyObject *a;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "KO", &at, &a)) return NULL;
  if (!core_is_array(a)) return PyErr_SetString(PyExc_TypeError, "expected a tutti.ndarray"), NULL;
  if (!core_need(a)) return NULL;
  core_block_begin();
  tt_code c = tt_raw_store(pointer(at), core_handle(a), &err);
  core_block_end();
  return done(c, &err);
}

/* raw_inside(array): bytes from the beginning of what it is a view of to its first element; None: its elements do not
** lie side by side */
static PyObject *raw_inside(PyObject *self, PyObject *a) {
  (void)self;
  if (!core_is_array(a)) return PyErr_SetString(PyExc_TypeError, "expected a tutti.ndarray"), NULL;
  if (!core_need(a)) return NULL;
  const tt_array *x = core_handle(a);
  if (!tt_array_is_contiguous(x) && !tt_array_is_f_contiguous(x)) Py_RETURN_NONE;
  return PyLong_FromLongLong(tt_array_offset(x) * core_dtype_bytes(tt_array_dtype(x)));
}

PyMethodDef core_raw_functions[] = {
    {"raw_new", raw_new, METH_VARARGS, NULL},       {"raw_free", raw_free, METH_VARARGS, NULL},
    {"raw_note", raw_note, METH_VARARGS, NULL},     {"raw_find", raw_find, METH_VARARGS, NULL},
    {"raw_in", raw_in, METH_VARARGS, NULL},         {"raw_out", raw_out, METH_VARARGS, NULL},
    {"raw_within", raw_within, METH_VARARGS, NULL}, {"raw_fill", raw_fill, METH_VARARGS, NULL},
    {"raw_load", raw_load, METH_VARARGS, NULL},     {"raw_store", raw_store, METH_VARARGS, NULL},
    {"raw_inside", raw_inside, METH_O, NULL},       {NULL, NULL, 0, NULL},
};
