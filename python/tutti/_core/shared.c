/*
** Memory shared with other processes, for tutti.parallel: segments, elements that all may write, words to wait for, and
** memory that is watched for writes. Lines to processes are in parallel.c.
*/
#include "core.h"

#define SEGMENT "tutti.segment"

/* Bytes of a segment, which stays while they are used. */
typedef struct part {
  PyObject_HEAD tt_segment *segment;
  void *data;
  Py_ssize_t size;
  int readonly;
} part;

static PyTypeObject *part_type;

static int part_buffer(PyObject *self, Py_buffer *view, int flags) {
  part *p = (part *)self;
  return PyBuffer_FillInfo(view, self, p->data, p->size, p->readonly, flags);
}

static void part_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  if (((part *)self)->segment) tt_segment_leave(((part *)self)->segment);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* _segment_hold(segment, at, size, readonly): an object with these bytes as its buffer. */
static PyObject *py_segment_hold(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *capsule;
  Py_ssize_t at, size;
  int readonly;
  tt_error err;
  if (!PyArg_ParseTuple(args, "Onnp", &capsule, &at, &size, &readonly)) return NULL;
  tt_segment *s = PyCapsule_GetPointer(capsule, SEGMENT);
  if (!s) return NULL;
  allocfunc make = (allocfunc)PyType_GetSlot(part_type, Py_tp_alloc);
  part *p = (part *)make(part_type, 0);
  if (!p) return NULL;
  p->segment = NULL;
  tt_code c = tt_segment_hold(s, (size_t)at, (size_t)size, &p->data, &err);
  if (c != TT_OK) return Py_DECREF(p), core_raise(c, &err);
  p->segment = s;
  p->size = size;
  p->readonly = readonly;
  return (PyObject *)p;
}

/* _segment_unclaim(segment): it is free after all. */
static PyObject *py_segment_unclaim(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_segment *s = PyCapsule_GetPointer(capsule, SEGMENT);
  if (!s) return NULL;
  tt_segment_unclaim(s);
  Py_RETURN_NONE;
}

/* _segment_write(fd, at, buffer) */
static PyObject *py_segment_write(PyObject *self, PyObject *args) {
  (void)self;
  int fd;
  Py_ssize_t at;
  PyObject *o;
  Py_buffer view;
  tt_error err;
  if (!PyArg_ParseTuple(args, "inO", &fd, &at, &o) || PyObject_GetBuffer(o, &view, PyBUF_ANY_CONTIGUOUS) != 0)
    return NULL;
  core_block_begin();
  tt_code c = tt_segment_write(fd, (size_t)at, view.buf, (size_t)view.len, &err);
  core_block_end();
  PyBuffer_Release(&view);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}

/* _segment_digest(buffer) */
static PyObject *py_segment_digest(PyObject *self, PyObject *o) {
  (void)self;
  Py_buffer view;
  if (PyObject_GetBuffer(o, &view, PyBUF_ANY_CONTIGUOUS) != 0) return NULL;
  core_block_begin();
  uint64_t digest = tt_segment_digest(view.buf, (size_t)view.len);
  core_block_end();
  PyBuffer_Release(&view);
  return PyLong_FromUnsignedLongLong(digest);
}

/* _buffer_address(buffer): where its bytes lie, and how many. */
static PyObject *py_buffer_address(PyObject *self, PyObject *o) {
  (void)self;
  Py_buffer view;
  if (PyObject_GetBuffer(o, &view, PyBUF_ANY_CONTIGUOUS) != 0) return NULL;
  PyObject *both = Py_BuildValue("Kni", (unsigned long long)(uintptr_t)view.buf, view.len, view.readonly);
  PyBuffer_Release(&view);
  return both;
}

/* An address and a size, as _buffer_address gives them. */
static bool memory_of(PyObject *args, const void **data, size_t *size) {
  unsigned long long at;
  Py_ssize_t bytes;
  if (!PyArg_ParseTuple(args, "Kn", &at, &bytes)) return false;
  *data = (const void *)(uintptr_t)at;
  *size = (size_t)bytes;
  return true;
}

static PyObject *py_memory_watch(PyObject *self, PyObject *args) {
  (void)self;
  const void *data;
  size_t size;
  return memory_of(args, &data, &size) ? PyBool_FromLong(tt_memory_watch(data, size)) : NULL;
}

static PyObject *py_memory_written(PyObject *self, PyObject *args) {
  (void)self;
  const void *data;
  size_t size;
  return memory_of(args, &data, &size) ? PyBool_FromLong(tt_memory_written(data, size)) : NULL;
}

static PyObject *py_memory_edges(PyObject *self, PyObject *args) {
  (void)self;
  const void *data;
  size_t size;
  return memory_of(args, &data, &size) ? PyLong_FromUnsignedLongLong(tt_memory_edges(data, size)) : NULL;
}

static PyObject *py_memory_unwatch(PyObject *self, PyObject *args) {
  (void)self;
  const void *data;
  size_t size;
  if (!memory_of(args, &data, &size)) return NULL;
  tt_memory_unwatch(data, size);
  Py_RETURN_NONE;
}

static bool exchange_element(void *at, const void *old, const void *new_value, Py_ssize_t size) {
  switch (size) {
#define EXCHANGE(bytes, type)                                                                            \
  case bytes: {                                                                                          \
    type was, is;                                                                                        \
    memcpy(&was, old, sizeof was);                                                                       \
    memcpy(&is, new_value, sizeof is);                                                                   \
    return __atomic_compare_exchange_n((type *)at, &was, is, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
    EXCHANGE(1, uint8_t)
    EXCHANGE(2, uint16_t)
    EXCHANGE(4, uint32_t)
    EXCHANGE(8, uint64_t)
#undef EXCHANGE
  }
  return false;
}

/* _compare_exchange(buffer, old, new): write an element of 1, 2, 4 or 8 bytes if it is `old`; was it? */
static PyObject *py_compare_exchange(PyObject *self, PyObject *args) {
  (void)self;
  Py_buffer element;
  const char *old, *new_value;
  Py_ssize_t size, also;
  if (!PyArg_ParseTuple(args, "w*y#y#", &element, &old, &size, &new_value, &also)) return NULL;
  bool fits = element.len == size && size == also && (uintptr_t)element.buf % (size_t)(size ? size : 1) == 0;
  bool done = fits && exchange_element(element.buf, old, new_value, size);
  PyBuffer_Release(&element);
  if (fits) return PyBool_FromLong(done);
  PyErr_SetString(PyExc_ValueError, "the element is not where a processor writes it in one step");
  return NULL;
}

/* ---- words that processes wait for */

/* The word at the begin of a buffer that may be written; false with an exception. */
static bool word_of(PyObject *o, Py_buffer *view, tt_word **word) {
  if (PyObject_GetBuffer(o, view, PyBUF_WRITABLE) != 0) return false;
  *word = view->buf;
  if (view->len >= (Py_ssize_t)sizeof **word && (uintptr_t)view->buf % sizeof(uint32_t) == 0) return true;
  PyBuffer_Release(view);
  return PyErr_SetString(PyExc_ValueError, "there is no word at the begin of this memory"), false;
}

static PyObject *py_word_read(PyObject *self, PyObject *o) {
  (void)self;
  Py_buffer view;
  tt_word *word;
  if (!word_of(o, &view, &word)) return NULL;
  uint32_t changes = tt_word_read(word);
  PyBuffer_Release(&view);
  return PyLong_FromUnsignedLong(changes);
}

/* _word_wait(buffer, seen, seconds) */
static PyObject *py_word_wait(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *o;
  unsigned seen;
  double seconds;
  Py_buffer view;
  tt_word *word;
  if (!PyArg_ParseTuple(args, "OId", &o, &seen, &seconds) || !word_of(o, &view, &word)) return NULL;
  core_block_begin();
  tt_word_wait(word, seen, seconds);
  core_block_end();
  PyBuffer_Release(&view);
  if (PyErr_CheckSignals() != 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject *py_word_change(PyObject *self, PyObject *o) {
  (void)self;
  Py_buffer view;
  tt_word *word;
  if (!word_of(o, &view, &word)) return NULL;
  tt_word_change(word);
  PyBuffer_Release(&view);
  Py_RETURN_NONE;
}

static PyMethodDef shared_functions[] = {
    {"_segment_hold", py_segment_hold, METH_VARARGS, NULL},
    {"_segment_unclaim", py_segment_unclaim, METH_O, NULL},
    {"_segment_write", py_segment_write, METH_VARARGS, NULL},
    {"_segment_digest", py_segment_digest, METH_O, NULL},
    {"_buffer_address", py_buffer_address, METH_O, NULL},
    {"_memory_watch", py_memory_watch, METH_VARARGS, NULL},
    {"_memory_written", py_memory_written, METH_VARARGS, NULL},
    {"_memory_edges", py_memory_edges, METH_VARARGS, NULL},
    {"_memory_unwatch", py_memory_unwatch, METH_VARARGS, NULL},
    {"_compare_exchange", py_compare_exchange, METH_VARARGS, NULL},
    {"_word_read", py_word_read, METH_O, NULL},
    {"_word_wait", py_word_wait, METH_VARARGS, NULL},
    {"_word_change", py_word_change, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

int core_parallel_init(PyObject *module) {
  static PyType_Slot slot[] = {
      {Py_tp_doc, "Bytes of memory that processes share."},
      {Py_tp_dealloc, part_dealloc},
      {Py_bf_getbuffer, part_buffer},
      {0, NULL},
  };
  static PyType_Spec spec = {"tutti._core.Part", sizeof(part), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slot};
  part_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
  if (!part_type || PyModule_AddFunctions(module, shared_functions) != 0) return -1;
  if (PyModule_AddFunctions(module, core_parallel_functions) != 0) return -1;
  return PyModule_AddFunctions(module, core_worker_functions);
}
