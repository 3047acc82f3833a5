/*
** Memory that worker processes fill with arrays, for tutti.data: capsules around segments, arrays in and out of them.
*/
#include "core.h"

#include <unistd.h>

#define NAME "tutti.segment"

static void drop(PyObject *capsule) {
  tt_segment *s = PyCapsule_GetPointer(capsule, NAME);
  tt_segment_release(&s);
}

static PyObject *wrap(tt_code c, tt_segment *s, const tt_error *err) {
  if (c != TT_OK) return core_raise(c, err);
  PyObject *capsule = PyCapsule_New(s, NAME, drop);
  if (!capsule) tt_segment_release(&s);
  return capsule;
}

static tt_segment *unwrap(PyObject *capsule) { return PyCapsule_GetPointer(capsule, NAME); }

/* _segment_new(size): the segment and its descriptor. */
static PyObject *py_new(PyObject *self, PyObject *size) {
  (void)self;
  tt_segment *s;
  tt_error err;
  int fd;
  size_t bytes = PyLong_AsSize_t(size);
  if (PyErr_Occurred()) return NULL;
  tt_code c = tt_segment_new(bytes, &fd, &s, &err);
  PyObject *capsule = wrap(c, s, &err);
  PyObject *both = capsule ? Py_BuildValue("Ni", capsule, fd) : NULL;
  if (!both && fd >= 0) close(fd);
  return both;
}

/* _segment_open(fd, own) */
static PyObject *py_open(PyObject *self, PyObject *args) {
  (void)self;
  tt_segment *s;
  tt_error err;
  int fd, own;
  if (!PyArg_ParseTuple(args, "ip", &fd, &own)) return NULL;
  tt_code c = tt_segment_open(fd, own, &s, &err);
  return wrap(c, s, &err);
}

static PyObject *py_claim(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_segment *s = unwrap(capsule);
  return s ? PyBool_FromLong(tt_segment_claim(s)) : NULL;
}

static PyObject *py_size(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_segment *s = unwrap(capsule);
  return s ? PyLong_FromSize_t(tt_segment_size(s)) : NULL;
}

/* The arrays of a list, borrowed; NULL with an exception. */
static tt_array **handles(PyObject *list, Py_ssize_t n) {
  tt_array **array = PyMem_Malloc(sizeof *array * (size_t)(n ? n : 1));
  if (!array) return (tt_array **)PyErr_NoMemory();
  for (Py_ssize_t k = 0; k < n; k++) {
    PyObject *o = PyList_GetItem(list, k);
    if (!o || !core_is_array(o) || !(array[k] = core_handle(o))) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "only arrays lie in segments");
      return PyMem_Free(array), NULL;
    }
  }
  return array;
}

/* _segment_need(arrays): how many bytes they take. */
static PyObject *py_need(PyObject *self, PyObject *list) {
  (void)self;
  Py_ssize_t n = PyList_Size(list);
  tt_array **array = n < 0 ? NULL : handles(list, n);
  if (!array) return NULL;
  size_t need = 0;
  for (Py_ssize_t k = 0; k < n; k++) {
    tt_dtype dtype = tt_array_dtype(array[k]);
    int64_t size = tt_array_size(array[k]);
    need += tt_segment_need(&dtype, &size, 1);
  }
  PyMem_Free(array);
  return PyLong_FromSize_t(need);
}

/* _segment_fill(segment, arrays) */
static PyObject *py_fill(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *capsule, *list;
  tt_error err;
  if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyList_Type, &list)) return NULL;
  tt_segment *s = unwrap(capsule);
  Py_ssize_t n = PyList_Size(list);
  tt_array **array = s ? handles(list, n) : NULL;
  if (!array) return NULL;
  core_block_begin();
  tt_code c = tt_segment_fill(s, array, (int)n, &err);
  core_block_end();
  PyMem_Free(array);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}

/* What one of the arrays is like: (dtype, shape). */
static bool read_item(PyObject *o, tt_segment_item *item, int64_t *len) {
  PyObject *dtype, *shape;
  item->len = len;
  if (!PyArg_ParseTuple(o, "OO", &dtype, &shape)) return false;
  return core_dtype_from(dtype, &item->dtype) && core_shape(shape, len, &item->rank);
}

static PyObject *wrap_all(tt_array **array, Py_ssize_t n) {
  PyObject *list = PyList_New(n);
  for (Py_ssize_t k = 0; k < n; k++) {
    PyObject *o = list ? core_wrap(array[k], NULL) : NULL;
    if (!list) tt_release(array + k);
    if (list && !o) Py_CLEAR(list);
    if (o) PyList_SetItem(list, k, o);
  }
  return list;
}

/* _segment_take(segment, items): the arrays that lie there. */
static PyObject *py_take(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *capsule, *list;
  tt_error err;
  if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyList_Type, &list)) return NULL;
  tt_segment *s = unwrap(capsule);
  Py_ssize_t n = PyList_Size(list);
  if (!s) return NULL;
  size_t each = sizeof(tt_segment_item) + sizeof(tt_array *) + sizeof(int64_t) * TT_MAX_RANK;
  char *room = PyMem_Malloc(each * (size_t)(n ? n : 1));
  if (!room) return PyErr_NoMemory();
  tt_segment_item *item = (tt_segment_item *)room;
  tt_array **array = (tt_array **)(item + n);
  int64_t *len = (int64_t *)(array + n);
  PyObject *made = NULL;
  Py_ssize_t read = 0;
  while (read < n && read_item(PyList_GetItem(list, read), item + read, len + read * TT_MAX_RANK)) read++;
  if (read == n) {
    tt_code c = tt_segment_take(s, item, (int)n, array, &err);
    made = c == TT_OK ? wrap_all(array, n) : core_raise(c, &err);
  }
  PyMem_Free(room);
  return made;
}

PyMethodDef core_segment_functions[] = {
    {"_segment_new", py_new, METH_O, NULL},         {"_segment_open", py_open, METH_VARARGS, NULL},
    {"_segment_claim", py_claim, METH_O, NULL},     {"_segment_size", py_size, METH_O, NULL},
    {"_segment_need", py_need, METH_O, NULL},       {"_segment_fill", py_fill, METH_VARARGS, NULL},
    {"_segment_take", py_take, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};
