/*
** Array-likes as arrays: memory behind the buffer protocol, the array interface and
** DLPack, then sequences. NumPy is never imported here: its objects speak those protocols.
*/
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory that somebody else owns, released later */

typedef struct held_buffer {
  core_later later;
  Py_buffer view;
} held_buffer;

typedef struct held_object {
  core_later later;
  PyObject *object;
} held_object;

static void drop_buffer(core_later *self) {
  held_buffer *h = (held_buffer *)self;
  PyBuffer_Release(&h->view);
  free(h);
}

static void drop_object(core_later *self) {
  held_object *h = (held_object *)self;
  Py_DECREF(h->object);
  free(h);
}

void core_raise_copy_needed(void) {
  PyErr_SetString(PyExc_ValueError, "Unable to avoid copy while creating an array as requested.");
}

/* ---- memory described by somebody, taken or copied */

typedef struct memory {
  tt_dtype dtype;
  bool swap, readonly;
  int rank;
  void *data;
  int64_t len[TT_MAX_RANK], stride[TT_MAX_RANK];
  bool contiguous; /* stride is not set */
} memory;

static bool strides_fit(const memory *m) {
  int64_t bytes = core_dtype_bytes(m->dtype);
  if (m->contiguous) return true;
  for (int k = 0; k < m->rank; k++) {
    if (m->stride[k] % bytes != 0) return false;
  }
  return true;
}

static bool shareable(const memory *m) {
  return !m->swap && strides_fit(m) && (uintptr_t)m->data % (uintptr_t)core_dtype_bytes(m->dtype) == 0;
}

/* Elements in the machine's byte order, C order, then an array of them. */
static tt_array *copy_swapped(const memory *m) {
  int64_t total = 1, bytes = core_dtype_bytes(m->dtype); /* (that they can be counted was checked) */
  int64_t index[TT_MAX_RANK] = {0}, stride[TT_MAX_RANK];
  for (int k = m->rank - 1; k >= 0; k--) {
    stride[k] = m->contiguous ? total * bytes : m->stride[k];
    total *= m->len[k];
  }
  char *flat = PyMem_Malloc(total > 0 ? (size_t)(total * bytes) : 1);
  if (!flat) return (void)PyErr_NoMemory(), NULL;
  int64_t unit = core_dtype_kind(m->dtype) == 'c' ? bytes / 2 : bytes;
  const char *from = m->data;
  for (int64_t e = 0; e < total; e++) {
    for (int64_t b = 0; b < bytes; b++) flat[e * bytes + b] = from[b / unit * unit + unit - 1 - b % unit];
    for (int k = m->rank - 1; k >= 0; k--) {
      from += stride[k];
      if (++index[k] < m->len[k]) break;
      from -= stride[k] * m->len[k];
      index[k] = 0;
    }
  }
  tt_array *a = NULL;
  tt_error err;
  tt_code c = tt_from_data(m->dtype, m->rank, m->len, flat, NULL, &a, &err);
  PyMem_Free(flat);
  if (c != TT_OK) core_raise(c, &err);
  return a;
}

/* The axes as the memory goes, the longest steps first: a copy lies as NumPy's does. False: in C's order already. */
static bool memory_order(const memory *m, int *axes) {
  bool turned = false;
  int64_t run[2] = {core_dtype_bytes(m->dtype), core_dtype_bytes(m->dtype)};
  bool c = true, f = true;
  if (m->contiguous) return false;
  for (int k = 0; k < m->rank; k++) {
    int back = m->rank - 1 - k;
    c = c && (m->len[back] == 1 || m->stride[back] == run[0]);
    f = f && (m->len[k] == 1 || m->stride[k] == run[1]);
    run[0] *= m->len[back];
    run[1] *= m->len[k];
  }
  for (int k = 0; k < m->rank; k++) {
    int at = f ? 0 : k;
    for (; at > 0 && !f; at--)
      if (llabs(m->stride[axes[at - 1]]) >= llabs(m->stride[k])) break;
    memmove(axes + at + 1, axes + at, sizeof *axes * (size_t)(k - at));
    axes[at] = k;
    turned = turned || at != k;
  }
  return turned && !c;
}

static tt_array *copy_straight(const memory *m) {
  if (m->swap) return copy_swapped(m);
  tt_array *a = NULL;
  tt_error err;
  int64_t total = core_dtype_bytes(m->dtype);
  for (int k = 0; k < m->rank; k++) total = m->len[k] > (1 << 20) ? INT64_MAX / 2 : total * m->len[k] % (INT64_MAX / 2);
  bool large = total > (1 << 20); /* worth letting others run */
  if (large) core_block_begin();
  tt_code c = tt_from_data(m->dtype, m->rank, m->len, m->data, m->contiguous ? NULL : m->stride, &a, &err);
  if (large) core_block_end();
  if (c != TT_OK) core_raise(c, &err);
  return a;
}

/* A copy that lies as the memory does: one with its axes in that order, and of it a view with them back in place. */
static tt_array *copy_memory(const memory *m) {
  int axes[TT_MAX_RANK + 1], back[TT_MAX_RANK];
  if (!memory_order(m, axes)) return copy_straight(m);
  memory turned = *m;
  for (int k = 0; k < m->rank; k++) {
    turned.len[k] = m->len[axes[k]];
    turned.stride[k] = m->stride[axes[k]];
    back[axes[k]] = k;
  }
  tt_array *made = copy_straight(&turned), *a = NULL;
  tt_error err;
  tt_code c = made ? tt_transpose(made, back, &a, &err) : TT_OK;
  tt_release(&made);
  if (c != TT_OK) core_raise(c, &err);
  return a;
}

/* Can there be such memory? False with an exception. */
static bool check_memory(const memory *m) {
  int64_t bytes = core_dtype_bytes(m->dtype);
  bool empty = false, large = false;
  for (int k = 0; k < m->rank; k++) {
    if (m->len[k] < 0) return PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed"), false;
    empty |= m->len[k] == 0;
    large |= __builtin_mul_overflow(bytes, m->len[k], &bytes);
  }
  if (large && !empty) return PyErr_SetString(PyExc_ValueError, "array is too big"), false;
  if (!m->data && !empty) return PyErr_SetString(PyExc_ValueError, "there is no memory at address 0"), false;
  return true;
}

/* Share or copy `m`; `later` owns the memory and is used up or run. */
static tt_array *take_memory(const memory *m, core_copy copy, core_later *later) {
  if (!check_memory(m)) return later->run(later), NULL;
  /* A scalar is copied: it becomes a number in the kernel instead of memory to read. */
  bool share = copy == CORE_COPY_NEVER || (copy == CORE_COPY_NEEDED && m->readonly && m->rank > 0);
  tt_array *a = NULL;
  if (share && shareable(m)) {
    tt_error err;
    tt_code c = tt_adopt(m->dtype, m->rank, m->len, m->data, m->contiguous ? NULL : m->stride, m->readonly,
                         core_later_push, later, &a, &err);
    if (c == TT_OK) return a;
    core_raise(c, &err);
  } else if (copy == CORE_COPY_NEVER) {
    core_raise_copy_needed();
  } else {
    a = copy_memory(m);
  }
  later->run(later);
  return a;
}

static tt_array *unsupported(const char *what) {
  PyErr_Format(PyExc_TypeError, "no tutti dtype holds elements of type '%s'", what);
  return NULL;
}

/* ---- buffers */

/* bfloat16 travels as a two-byte void: only the dtype's name tells. */
static bool is_bfloat16(PyObject *o) {
  PyObject *dtype = PyObject_GetAttrString(o, "dtype");
  tt_dtype found = TT_DTYPE_NONE;
  if (dtype) {
    if (!core_dtype_from(dtype, &found)) PyErr_Clear();
    Py_DECREF(dtype);
  } else {
    PyErr_Clear();
  }
  return found == TT_BF16;
}

static tt_array *from_buffer(PyObject *o, core_copy copy) {
  held_buffer *h = malloc(sizeof *h);
  if (!h) return (void)PyErr_NoMemory(), NULL;
  if (PyObject_GetBuffer(o, &h->view, PyBUF_FULL_RO) < 0) {
    free(h);
    return NULL;
  }
  h->later.run = drop_buffer;
  memory m;
  Py_buffer *v = &h->view;
  m.dtype = core_dtype_from_format(v->format, v->itemsize, &m.swap);
  bool goes = m.dtype != TT_DTYPE_NONE && v->ndim >= 0 && v->ndim <= TT_MAX_RANK && !v->suboffsets;
  if (!goes || v->itemsize != core_dtype_bytes(m.dtype)) {
    unsupported(v->format ? v->format : "?");
    drop_buffer(&h->later);
    return NULL;
  }
  m.rank = v->ndim;
  m.data = v->buf;
  m.readonly = v->readonly;
  m.contiguous = v->strides == NULL;
  for (int k = 0; k < m.rank; k++) {
    m.len[k] = v->shape ? v->shape[k] : v->len / v->itemsize;
    if (!m.contiguous) m.stride[k] = v->strides[k];
  }
  return take_memory(&m, copy, &h->later);
}

/* ---- the array interface */

static bool read_ints(PyObject *tuple, int64_t *out, int *n) {
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) > TT_MAX_RANK) {
    PyErr_SetString(PyExc_ValueError, "Invalid __array_interface__ value, shape and strides must be tuples");
    return false;
  }
  *n = (int)PyTuple_Size(tuple);
  for (int k = 0; k < *n; k++) {
    out[k] = PyLong_AsLongLong(PyTuple_GetItem(tuple, k));
    if (out[k] == -1 && PyErr_Occurred()) return false;
  }
  return true;
}

/* An interface without an address: the memory is that of the buffer it names, or of the object itself. */
static tt_array *from_interface_buffer(PyObject *o, PyObject *d, memory *m, core_copy copy) {
  PyObject *data = PyDict_GetItemString(d, "data"), *offset = PyDict_GetItemString(d, "offset");
  Py_ssize_t start = offset ? PyNumber_AsSsize_t(offset, PyExc_OverflowError) : 0;
  if (start == -1 && PyErr_Occurred()) return NULL;
  held_buffer *h = malloc(sizeof *h);
  if (!h) return (void)PyErr_NoMemory(), NULL;
  if (PyObject_GetBuffer(data && data != Py_None ? data : o, &h->view, PyBUF_SIMPLE) < 0) {
    free(h);
    return NULL;
  }
  h->later.run = drop_buffer;
  int64_t bytes = core_dtype_bytes(m->dtype), room = h->view.len - start;
  bool fits = start >= 0 && m->contiguous;
  for (int k = 0; fits && k < m->rank; k++) fits = m->len[k] >= 0 && !__builtin_mul_overflow(bytes, m->len[k], &bytes);
  if (!fits || bytes > room) {
    drop_buffer(&h->later);
    PyErr_SetString(PyExc_ValueError,
                    "Invalid __array_interface__ value: its buffer does not hold what its shape says");
    return NULL;
  }
  m->data = (char *)h->view.buf + start;
  m->readonly = h->view.readonly;
  return take_memory(m, copy, &h->later);
}

/* Also where `data` is no address: then *m has none. */
static bool read_interface(PyObject *o, PyObject *d, memory *m) {
  PyObject *shape = PyDict_GetItemString(d, "shape"), *typestr = PyDict_GetItemString(d, "typestr");
  PyObject *data = PyDict_GetItemString(d, "data"), *strides = PyDict_GetItemString(d, "strides");
  bool address = data && PyTuple_Check(data);
  if (!shape || !typestr || (address && PyTuple_Size(data) != 2)) {
    PyErr_SetString(PyExc_ValueError, "Invalid __array_interface__ value");
    return false;
  }
  const char *s = PyUnicode_Check(typestr) ? PyUnicode_AsUTF8AndSize(typestr, NULL) : NULL;
  if (!s) return PyErr_SetString(PyExc_TypeError, "__array_interface__ typestr must be a string"), false;
  m->dtype = core_dtype_from_typestr(s, &m->swap);
  if (m->dtype == TT_DTYPE_NONE && strcmp(s + (*s != 0), "V2") == 0 && is_bfloat16(o)) m->dtype = TT_BF16;
  if (m->dtype == TT_DTYPE_NONE) return unsupported(s) != NULL;
  int n;
  if (!read_ints(shape, m->len, &m->rank)) return false;
  m->contiguous = !strides || strides == Py_None;
  if (!m->contiguous && !read_ints(strides, m->stride, &n)) return false;
  if (!m->contiguous && n != m->rank)
    return PyErr_SetString(PyExc_ValueError, "mismatch in length of strides and shape"), false;
  m->data = address ? PyLong_AsVoidPtr(PyTuple_GetItem(data, 0)) : NULL;
  m->readonly = address && PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1;
  return !PyErr_Occurred();
}

static tt_array *from_interface(PyObject *o, PyObject *d, core_copy copy) {
  memory m;
  if (!PyDict_Check(d))
    return PyErr_SetString(PyExc_ValueError, "Invalid __array_interface__ value, must be a dict"), NULL;
  if (!read_interface(o, d, &m)) return NULL;
  PyObject *data = PyDict_GetItemString(d, "data");
  if (!data || !PyTuple_Check(data)) return from_interface_buffer(o, d, &m, copy);
  held_object *h = malloc(sizeof *h);
  if (!h) return (void)PyErr_NoMemory(), NULL;
  h->later.run = drop_object;
  h->object = Py_NewRef(o);
  return take_memory(&m, copy, &h->later);
}

/* ---- the array structure: what the array interface tells, as a struct in a capsule without a name */

typedef struct array_structure {
  int two;
  int rank;
  char kind;
  int itemsize, flags;
  Py_ssize_t *shape, *strides;
  void *data;
  PyObject *descr;
} array_structure;

enum { STRUCTURE_NATIVE = 0x200, STRUCTURE_WRITEABLE = 0x400 };

static bool read_structure(PyObject *o, const array_structure *s, memory *m) {
  char typestr[24];
  if (s->rank < 0 || s->rank > TT_MAX_RANK || (s->rank > 0 && (!s->shape || !s->strides)))
    return PyErr_SetString(PyExc_ValueError, "invalid __array_struct__"), false;
  snprintf(typestr, sizeof typestr, "=%c%d", s->kind, s->itemsize);
  m->dtype = core_dtype_from_typestr(typestr, &m->swap);
  if (m->dtype == TT_DTYPE_NONE && strcmp(typestr, "=V2") == 0 && is_bfloat16(o)) m->dtype = TT_BF16;
  if (m->dtype == TT_DTYPE_NONE) return unsupported(typestr) != NULL;
  m->swap = !(s->flags & STRUCTURE_NATIVE) && s->itemsize > 1;
  m->readonly = !(s->flags & STRUCTURE_WRITEABLE);
  m->rank = s->rank;
  m->data = s->data;
  m->contiguous = false;
  for (int k = 0; k < m->rank; k++) {
    m->len[k] = s->shape[k];
    m->stride[k] = s->strides[k];
  }
  return true;
}

static tt_array *from_structure(PyObject *o, PyObject *capsule, core_copy copy) {
  memory m;
  const array_structure *s = PyCapsule_IsValid(capsule, NULL) ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  if (!s || s->two != 2) return PyErr_SetString(PyExc_ValueError, "invalid __array_struct__"), NULL;
  if (!read_structure(o, s, &m)) return NULL;
  held_object *h = malloc(sizeof *h);
  if (!h) return (void)PyErr_NoMemory(), NULL;
  h->later.run = drop_object;
  h->object = PyTuple_Pack(2, o, capsule); /* (memory of an element is the capsule's own) */
  if (!h->object) return free(h), NULL;
  return take_memory(&m, copy, &h->later);
}

/* ---- the CUDA array interface: the same dict about memory of a GPU, and the stream on which it will be ready */

static bool read_writer(PyObject *stream, void **out) {
  *out = TT_NO_STREAM;
  if (!stream || stream == Py_None) return true;
  *out = PyLong_AsVoidPtr(stream);
  if (PyErr_Occurred()) return false;
  if (!*out) PyErr_SetString(PyExc_ValueError, "Invalid __cuda_array_interface__ value: stream 0 is ambiguous");
  return *out != NULL;
}

static bool read_cuda_interface(PyObject *o, PyObject *d, memory *m, void **writer, int *device) {
  PyObject *mask = PyDict_Check(d) ? PyDict_GetItemString(d, "mask") : NULL;
  if (!PyDict_Check(d) || (mask && mask != Py_None)) {
    PyErr_SetString(PyExc_ValueError, "Invalid __cuda_array_interface__ value: a dict without a mask is expected");
    return false;
  }
  PyObject *data = PyDict_GetItemString(d, "data");
  if (!data || !PyTuple_Check(data)) {
    PyErr_SetString(PyExc_ValueError, "Invalid __cuda_array_interface__ value: it has no address");
    return false;
  }
  if (!read_interface(o, d, m) || !read_writer(PyDict_GetItemString(d, "stream"), writer)) return false;
  *device = tt_memory_device("cuda", m->data);
  bool empty = false;
  for (int k = 0; k < m->rank; k++) empty |= m->len[k] == 0;
  if (*device == TT_CPU && !empty) {
    PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__ tells of memory that is on no GPU of this process");
    return false;
  }
  if (m->swap) PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__ tells of numbers in the other byte order");
  return !m->swap;
}

static tt_array *from_cuda_interface(PyObject *o, PyObject *d, core_copy copy) {
  memory m;
  void *writer;
  int device;
  tt_array *a = NULL;
  tt_error err;
  if (!read_cuda_interface(o, d, &m, &writer, &device)) return NULL;
  held_object *h = malloc(sizeof *h);
  if (!h) return (void)PyErr_NoMemory(), NULL;
  h->later.run = drop_object;
  h->object = Py_NewRef(o);
  const int64_t *stride = m.contiguous ? NULL : m.stride;
  tt_code c = device == TT_CPU
                  ? tt_adopt(m.dtype, m.rank, m.len, m.data, stride, m.readonly, core_later_push, h, &a, &err)
                  : tt_adopt_on(device, writer, m.dtype, m.rank, m.len, m.data, stride, m.readonly, core_later_push, h,
                                &a, &err);
  if (c != TT_OK) {
    drop_object(&h->later);
    core_raise(c, &err);
    return NULL;
  }
  bool share = copy == CORE_COPY_NEVER || (copy == CORE_COPY_NEEDED && m.readonly);
  return share ? a : core_own(a);
}

/*
** After a buffer was refused (the exception is set): is another protocol worth asking? NumPy exports no buffer of types
** outside the struct module, ml_dtypes' scalars none with a format, and arrays on a GPU none at all, though their type
** has the slot.
*/
static bool asks_elsewhere(PyObject *o, core_copy copy) {
  bool value = PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_TypeError);
  if (copy != CORE_COPY_NEVER && (value || PyErr_ExceptionMatches(PyExc_BufferError))) return true;
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  bool yes = (value && PyObject_HasAttrString(o, "__array_interface__")) ||
             PyObject_HasAttrString(o, "__cuda_array_interface__");
  PyErr_Restore(type, error, trace);
  return yes;
}

/* After DLPack was refused, as by Arrow's arrays of bools: has the object __array__ as well? The error is gone then. */
static bool asks_by_method(PyObject *o) {
  PyObject *type, *error, *trace;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyErr_Fetch(&type, &error, &trace);
  if (!PyObject_HasAttrString(o, "__array__")) return PyErr_Restore(type, error, trace), false;
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(trace);
  return true;
}

/* By another protocol than the buffer's. */
static tt_array *from_elsewhere(PyObject *o, core_copy copy, bool *known) {
  *known = false;
  PyObject *d = PyObject_GetAttrString(o, "__array_struct__");
  if (d) {
    *known = true;
    tt_array *a = from_structure(o, d, copy);
    Py_DECREF(d);
    return a;
  }
  PyErr_Clear();
  d = PyObject_GetAttrString(o, "__array_interface__");
  if (d) {
    *known = true;
    tt_array *a = from_interface(o, d, copy);
    Py_DECREF(d);
    return a;
  }
  PyErr_Clear();
  if (PyObject_HasAttrString(o, "__dlpack__")) {
    *known = true;
    tt_array *a = core_from_dlpack(o, copy);
    if (a || copy == CORE_COPY_NEVER || !asks_by_method(o)) return a;
    *known = false;
    return NULL;
  }
  d = PyObject_GetAttrString(o, "__cuda_array_interface__");
  if (d) {
    *known = true;
    tt_array *a = from_cuda_interface(o, d, copy);
    Py_DECREF(d);
    return a;
  }
  PyErr_Clear();
  return NULL;
}

tt_array *core_from_memory(PyObject *o, core_copy copy, bool *known) {
  PyObject *type, *error, *trace;
  *known = false;
  if (PyType_Check(o)) return NULL;
  if (!PyObject_CheckBuffer(o) || PyBytes_Check(o)) return from_elsewhere(o, copy, known);
  *known = true;
  tt_array *a = from_buffer(o, copy);
  if (a || !asks_elsewhere(o, copy)) return a;
  PyErr_Fetch(&type, &error, &trace);
  a = from_elsewhere(o, copy, known);
  if (*known || PyObject_HasAttrString(o, "__array__")) {
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return a;
  }
  *known = true;
  PyErr_Restore(type, error, trace);
  return NULL;
}

/* ---- any object */

static tt_array *converted(tt_array *a, tt_dtype dtype, core_copy copy) {
  if (!a || dtype == TT_DTYPE_NONE || tt_array_dtype(a) == dtype) return a;
  if (copy == CORE_COPY_NEVER) {
    tt_release(&a);
    core_raise_copy_needed();
    return NULL;
  }
  tt_array *out = NULL;
  tt_error err;
  tt_code c = tt_cast(a, dtype, true, &out, &err);
  tt_release(&a);
  if (c != TT_OK) core_raise(c, &err);
  return out;
}

tt_array *core_from_value(const tt_value *v, tt_dtype dtype) {
  static const tt_dtype own[] = {[TT_V_BOOL] = TT_BOOL,
                                 [TT_V_INT] = TT_I64,
                                 [TT_V_UINT] = TT_U64,
                                 [TT_V_FLOAT] = TT_F64,
                                 [TT_V_COMPLEX] = TT_C128};
  tt_array *a = NULL;
  tt_error err;
  tt_code c = tt_full(dtype == TT_DTYPE_NONE ? own[v->tag] : dtype, 0, NULL, *v, &a, &err);
  if (c != TT_OK) core_raise(c, &err);
  return a;
}

static tt_array *from_ours(tt_array *a, tt_dtype dtype, core_copy copy) {
  tt_array *out = NULL;
  tt_error err;
  if (dtype == TT_DTYPE_NONE || dtype == tt_array_dtype(a)) {
    if (copy != CORE_COPY_ALWAYS) return tt_retain(a);
    tt_code c = tt_copy(a, &out, &err);
    if (c != TT_OK) core_raise(c, &err);
    return out;
  }
  return converted(tt_retain(a), dtype, copy);
}

/* What an object's own __array__ makes: an array of NumPy's, or ours. */
static tt_array *from_array_method(PyObject *o, tt_dtype dtype, core_copy copy) {
  PyObject *made = PyObject_CallMethod(o, "__array__", NULL);
  if (!made) return NULL;
  bool known = true;
  tt_array *a = core_is_array(made) ? core_asarray(made, dtype, copy) : core_from_memory(made, copy, &known);
  Py_DECREF(made);
  if (!known) PyErr_SetString(PyExc_ValueError, "object __array__ method not producing an array");
  return converted(a, dtype, copy);
}

tt_array *core_asarray(PyObject *o, tt_dtype dtype, core_copy copy) {
  core_drain();
  if (core_is_array(o)) return core_need(o) ? from_ours(core_handle(o), dtype, copy) : NULL;
  if (core_is_scalar(o)) {
    tt_value v;
    if (copy == CORE_COPY_NEVER) return core_raise_copy_needed(), NULL;
    if (core_value_scalar(o, &v)) return core_from_value(&v, dtype);
    bool huge = PyLong_Check(o) && dtype != TT_DTYPE_NONE && strchr("bfc", core_dtype_kind(dtype));
    return huge ? (PyErr_Clear(), core_from_sequence(o, dtype)) : NULL;
  }
  if (PyList_Check(o) || PyTuple_Check(o)) {
    if (copy == CORE_COPY_NEVER) return core_raise_copy_needed(), NULL;
    return core_from_sequence(o, dtype);
  }
  bool known;
  tt_array *a = core_from_memory(o, copy, &known);
  if (known) return converted(a, dtype, copy);
  if (!PyType_Check(o) && PyObject_HasAttrString(o, "__array__")) return from_array_method(o, dtype, copy);
  if (copy == CORE_COPY_NEVER) return core_raise_copy_needed(), NULL;
  return core_from_sequence(o, dtype);
}

/* ---- tutti.array, tutti.asarray */

bool core_order(PyObject *order, char *out) {
  if (!order || order == Py_None) return true;
  if (!PyUnicode_Check(order)) {
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(order), "__name__");
    if (type) PyErr_Format(PyExc_TypeError, "order must be str, not %U", type);
    Py_XDECREF(type);
    return false;
  }
  const char *s = PyUnicode_AsUTF8AndSize(order, NULL);
  if (!s || !s[0] || s[1] || !strchr("CFAKcfak", s[0])) {
    PyErr_SetString(PyExc_ValueError, "order must be one of 'C', 'F', 'A', or 'K'");
    return false;
  }
  *out = (char)(s[0] & ~32);
  return true;
}

static bool wants_f(const tt_array *a, char order) {
  return order == 'F' || (order == 'A' && tt_array_is_f_contiguous(a) && !tt_array_is_contiguous(a));
}

static bool lies_in(const tt_array *a, char order) {
  return order == 'K' || (wants_f(a, order) ? tt_array_is_f_contiguous(a) : tt_array_is_contiguous(a));
}

PyObject *core_copy_in(tt_array *a, char order) {
  tt_array *out;
  tt_error err;
  tt_code c = tt_copy_as(a, tt_array_dtype(a), order, &out, &err);
  return core_done(c, out, NULL, &err);
}

PyObject *core_in_order(PyObject *made, char order) {
  if (!made || lies_in(core_handle(made), order)) return made;
  PyObject *out = core_copy_in(core_handle(made), order);
  Py_DECREF(made);
  return out;
}

/* Is another library's memory in Fortran's order alone? A copy has no holes, and may be where it is not. */
static bool lies_as_columns(PyObject *o) {
  Py_buffer view;
  if (!PyObject_CheckBuffer(o) || PyObject_GetBuffer(o, &view, PyBUF_STRIDES) < 0) return PyErr_Clear(), false;
  bool columns = PyBuffer_IsContiguous(&view, 'F') && !PyBuffer_IsContiguous(&view, 'C');
  PyBuffer_Release(&view);
  return columns;
}

static PyObject *make_any(PyObject *o, PyObject *dtype, core_copy copy, PyObject *order_word, PyObject *device) {
  tt_dtype want;
  int place;
  char order = 'K';
  if (!core_device_from(device, &place)) return NULL;
  if (!core_dtype_optional(dtype, &want) || !core_order(order_word, &order)) return NULL;
  if (core_is_array(o) && !core_need(o)) return NULL;
  if (core_is_number(o)) { /* an array of its own, that can be written */
    if (copy == CORE_COPY_NEVER) return core_raise_copy_needed(), NULL;
    copy = CORE_COPY_ALWAYS;
  }
  bool same = core_is_array(o) && (want == TT_DTYPE_NONE || want == tt_array_dtype(core_handle(o)));
  if (order == 'A' && copy != CORE_COPY_ALWAYS) order = 'K'; /* as it lies */
  if (order == 'A' && !core_is_array(o)) order = lies_as_columns(o) ? 'F' : 'C';
  if (same && copy == CORE_COPY_NEVER && !lies_in(core_handle(o), order)) return core_raise_copy_needed(), NULL;
  if (same && core_lies_on(core_handle(o), place)) {
    if (copy == CORE_COPY_ALWAYS) return core_put(core_copy_in(core_handle(o), order), place);
    return core_in_order(core_put(Py_NewRef(o), place), order);
  }
  int before = place == TT_AUTO ? TT_AUTO : tt_set_device(place);
  PyObject *made = core_wrap(core_asarray(o, want, copy), NULL);
  if (place != TT_AUTO) tt_set_device(before);
  if (made && copy == CORE_COPY_NEVER && !core_lies_on(core_handle(made), place)) {
    Py_DECREF(made);
    return core_raise_copy_needed(), NULL;
  }
  return core_in_order(core_put(made, place), order); /* what moves has C order there */
}

/* Of no subclass, unless that is wanted. */
static PyObject *make(PyObject *o, PyObject *dtype, core_copy copy, PyObject *order, PyObject *device, bool subok) {
  PyObject *made = make_any(o, dtype, copy, order, device);
  if (!core_subclassed || !made) return made;
  if (subok) return core_like(made, o);
  if (Py_TYPE(made) == core_array_type) return made;
  PyObject *plain = core_as_type(made, core_array_type, Py_None);
  Py_DECREF(made);
  return plain;
}

bool core_check_copy(PyObject *copy) {
  if (!copy || !PyUnicode_Check(copy)) return true;
  PyErr_SetString(PyExc_ValueError, "strings are not allowed for 'copy' keyword. Use True/False/None instead.");
  return false;
}

static bool copy_mode(PyObject *copy, core_copy without, core_copy *out) {
  if (!copy) return *out = without, true;
  if (copy == Py_None) return *out = CORE_COPY_NEEDED, true;
  if (!core_check_copy(copy)) return false;
  int yes = PyObject_IsTrue(copy);
  *out = yes ? CORE_COPY_ALWAYS : CORE_COPY_NEVER;
  return yes >= 0;
}

/* Lists that are deeper than ndmax would be elements. */
static bool check_ndmax(PyObject *ndmax, PyObject *from, PyObject *made) {
  long most = PyLong_AsLong(ndmax);
  if (PyErr_Occurred()) return false;
  bool lists = PyList_Check(from) || PyTuple_Check(from);
  if (most <= 0 || !lists || tt_array_rank(core_handle(made)) <= most) return true;
  PyErr_Format(PyExc_TypeError, "lists within more than ndmax=%ld axes would be objects, elements are numbers", most);
  return false;
}

bool core_check_like(PyObject *like) {
  if (!like || like == Py_None || PyObject_HasAttrString(like, "__array_function__")) return true;
  PyErr_SetString(PyExc_TypeError,
                  "The `like` argument must be an array-like that implements the `__array_function__` protocol.");
  return false;
}

PyObject *core_py_array(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  (void)self;
  PyObject *a[9];
  core_copy copy;
  if (!core_bind("array", "object,dtype,*,copy,order,subok,ndmin,like,device,ndmax", 1, arg, n, names, a)) return NULL;
  if (!core_check_like(a[6]) || !copy_mode(a[2], CORE_COPY_ALWAYS, &copy)) return NULL;
  int subok = a[4] ? PyObject_IsTrue(a[4]) : 0;
  if (subok < 0) return NULL;
  PyObject *made = make(a[0], a[1], copy, a[3], a[7], subok);
  if (made && a[8] && !check_ndmax(a[8], a[0], made)) Py_CLEAR(made);
  long ndmin = made && a[5] ? PyLong_AsLong(a[5]) : 0;
  if (!made || ndmin <= 0) return PyErr_Occurred() ? (Py_XDECREF(made), NULL) : made;
  int rank = tt_array_rank(core_handle(made));
  int64_t len[TT_MAX_RANK];
  if (ndmin > TT_MAX_RANK) {
    Py_DECREF(made);
    return PyErr_Format(PyExc_ValueError, "ndmin bigger than allowable number of dimensions (%d)", TT_MAX_RANK);
  }
  if (ndmin <= rank) return made;
  for (int k = 0; k < (int)ndmin; k++) {
    int from = k - ((int)ndmin - rank);
    len[k] = from < 0 ? 1 : tt_array_len(core_handle(made))[from];
  }
  tt_array *out;
  tt_error err;
  tt_code c = tt_reshape(core_handle(made), (int)ndmin, len, &out, &err);
  PyObject *view = c == TT_OK ? core_wrap_view(out, made) : core_raise(c, &err);
  Py_DECREF(made);
  return view;
}

static PyObject *as_array(const char *name, PyObject *const *arg, Py_ssize_t n, PyObject *names, bool subok) {
  PyObject *a[6];
  core_copy copy;
  if (!core_bind(name, "a,dtype,order,*,device,copy,like", 1, arg, n, names, a)) return NULL;
  if (!core_check_like(a[5]) || !copy_mode(a[4], CORE_COPY_NEEDED, &copy)) return NULL;
  return make(a[0], a[1], copy, a[2], a[3], subok);
}

PyObject *core_py_asarray(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  return (void)self, as_array("asarray", arg, n, names, false);
}

PyObject *core_py_asanyarray(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  return (void)self, as_array("asanyarray", arg, n, names, true);
}

static PyObject *dense(const char *name, const char *order, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[4];
  if (!core_bind(name, "a,dtype,*,device,like", 1, arg, n, names, a) || !core_check_like(a[3])) return NULL;
  PyObject *word = PyUnicode_FromString(order),
           *made = word ? make(a[0], a[1], CORE_COPY_NEEDED, word, a[2], false) : NULL;
  Py_XDECREF(word);
  if (!made || tt_array_rank(core_handle(made)) > 0) return made;
  int64_t one = 1;
  tt_array *out;
  tt_error err;
  tt_code c = tt_reshape(core_handle(made), 1, &one, &out, &err);
  Py_DECREF(made);
  return core_done(c, out, NULL, &err);
}

PyObject *core_py_ascontiguousarray(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  (void)self;
  return dense("ascontiguousarray", "C", arg, n, names);
}

PyObject *core_py_asfortranarray(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  (void)self;
  return dense("asfortranarray", "F", arg, n, names);
}

PyObject *core_py_frombuffer(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  (void)self;
  PyObject *a[5];
  tt_dtype dtype = TT_F64;
  if (!core_bind("frombuffer", "buffer,dtype,count,offset,*,like", 1, arg, n, names, a) || !core_check_like(a[4]))
    return NULL;
  if (a[1] && a[1] != Py_None && !core_dtype_from(a[1], &dtype)) return NULL;
  Py_ssize_t count = a[2] ? PyNumber_AsSsize_t(a[2], PyExc_OverflowError) : -1;
  Py_ssize_t offset = a[3] ? PyNumber_AsSsize_t(a[3], PyExc_OverflowError) : 0, bytes = core_dtype_bytes(dtype);
  if (PyErr_Occurred()) return NULL;
  held_buffer *h = malloc(sizeof *h);
  if (!h) return PyErr_NoMemory();
  if (PyObject_GetBuffer(a[0], &h->view, PyBUF_SIMPLE) < 0) {
    free(h);
    return NULL;
  }
  h->later.run = drop_buffer;
  Py_ssize_t room = h->view.len - offset;
  const char *why = NULL;
  if (offset < 0 || room < 0) why = "offset must be non-negative and no greater than buffer length";
  if (!why && count < 0 && room % bytes != 0) why = "buffer size must be a multiple of element size";
  if (!why && count >= 0 && count > room / bytes) why = "buffer is smaller than requested size";
  if (why) {
    drop_buffer(&h->later);
    PyErr_Format(PyExc_ValueError, "%s", why);
    return NULL;
  }
  memory m = {.dtype = dtype, .rank = 1, .data = (char *)h->view.buf + offset, .contiguous = true};
  m.readonly = h->view.readonly;
  m.len[0] = count < 0 ? room / bytes : count;
  return core_wrap(take_memory(&m, shareable(&m) ? CORE_COPY_NEVER : CORE_COPY_ALWAYS, &h->later), NULL);
}
