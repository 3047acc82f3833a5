/*
** Kernels that users write: programs and routines as capsules, Python's arguments as the library's. What a kernel
** printed goes to sys.stdout when its launch returns.
*/
#include "core.h"

#include <string.h>

enum { MOST_ARGS = 256 };
static const char PROGRAM[] = "tutti.program", ROUTINE[] = "tutti.routine";

/* A routine keeps its program. */
typedef struct held_routine {
  tt_entry *routine;
  tt_program *program;
} held_routine;

tt_program *core_program(PyObject *capsule) { return PyCapsule_GetPointer(capsule, PROGRAM); }
tt_entry *core_routine(PyObject *capsule) {
  held_routine *h = PyCapsule_GetPointer(capsule, ROUTINE);
  return h ? h->routine : NULL;
}

/* ---- texts in lists */

typedef struct text_list {
  const char *item[MOST_ARGS];
  int n;
} text_list;

int core_texts(PyObject *o, const char *what, const char **out, int room) {
  Py_ssize_t n = PySequence_Size(o);
  if (n < 0) return -1;
  if (!PyTuple_Check(o) || n > room) return PyErr_Format(PyExc_TypeError, "%s: a tuple of texts", what), -1;
  for (Py_ssize_t k = 0; k < n; k++)
    if (!(out[k] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(o, k), NULL))) return -1;
  return (int)n;
}

static bool read_texts(PyObject *o, const char *what, text_list *out) {
  out->n = core_texts(o, what, out->item, MOST_ARGS);
  return out->n >= 0;
}

/* ---- programs */

static void drop_program(PyObject *capsule) {
  tt_program *p = PyCapsule_GetPointer(capsule, PROGRAM);
  tt_program_release(&p);
}

static void drop_routine(PyObject *capsule) {
  held_routine *h = PyCapsule_GetPointer(capsule, ROUTINE);
  tt_program_release(&h->program);
  PyMem_Free(h);
}

/* program(source, file, flags, expressions) */
static PyObject *py_program(PyObject *self, PyObject *args) {
  const char *source, *file;
  PyObject *flags, *expressions;
  text_list flag, expression;
  tt_program *p = NULL;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "ssOO", &source, &file, &flags, &expressions)) return NULL;
  if (!read_texts(flags, "options", &flag) || !read_texts(expressions, "name_expressions", &expression)) return NULL;
  tt_program_options o = {file, flag.item, flag.n, expression.item, expression.n};
  core_block_begin();
  tt_code c = tt_program_cuda(source, &o, &p, &err);
  core_block_end();
  if (c != TT_OK) return core_raise(c, &err);
  return core_program_object(p);
}

PyObject *core_program_object(tt_program *p) {
  PyObject *capsule = PyCapsule_New(p, PROGRAM, drop_program);
  if (!capsule) tt_program_release(&p);
  return capsule;
}

static PyObject *routine_object(tt_program *p, tt_entry *r) {
  held_routine *h = PyMem_Malloc(sizeof *h);
  if (!h) return PyErr_NoMemory();
  *h = (held_routine){r, tt_program_retain(p)};
  PyObject *capsule = PyCapsule_New(h, ROUTINE, drop_routine);
  if (!capsule) {
    tt_program_release(&h->program);
    PyMem_Free(h);
  }
  return capsule;
}

/* program_routine(program, name) */
static PyObject *py_program_routine(PyObject *self, PyObject *args) {
  PyObject *capsule;
  const char *name;
  tt_entry *r;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "Os", &capsule, &name)) return NULL;
  tt_program *p = PyCapsule_GetPointer(capsule, PROGRAM);
  if (!p) return NULL;
  tt_code c = tt_program_find(p, name, &r, &err);
  return c == TT_OK ? routine_object(p, r) : core_raise(c, &err);
}

static PyObject *py_program_names(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_program *p = PyCapsule_GetPointer(capsule, PROGRAM);
  PyObject *list = p ? PyList_New(0) : NULL;
  for (int k = 0; list && tt_program_nth(p, k); k++) {
    PyObject *name = PyUnicode_FromString(tt_entry_name(tt_program_nth(p, k)));
    if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

static PyObject *py_program_text(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_program *p = PyCapsule_GetPointer(capsule, PROGRAM);
  return p ? PyUnicode_FromString(tt_program_text(p)) : NULL;
}

/* program_variable(program, name): (address, bytes, the device it lies on) */
static PyObject *py_program_variable(PyObject *self, PyObject *args) {
  PyObject *capsule;
  const char *name;
  void *data;
  size_t size;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "Os", &capsule, &name)) return NULL;
  tt_program *p = PyCapsule_GetPointer(capsule, PROGRAM);
  if (!p) return NULL;
  tt_code c = tt_program_variable(p, name, -1, &data, &size, &err);
  if (c != TT_OK) return core_raise(c, &err);
  return Py_BuildValue("KKi", (unsigned long long)(uintptr_t)data, (unsigned long long)size, tt_program_device(p));
}

/* program_set(program, name, bytes) */
static PyObject *py_program_set(PyObject *self, PyObject *args) {
  PyObject *capsule;
  const char *name, *data;
  Py_ssize_t size;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "Osy#", &capsule, &name, &data, &size)) return NULL;
  tt_program *p = PyCapsule_GetPointer(capsule, PROGRAM);
  if (!p) return NULL;
  core_block_begin();
  tt_code c = tt_program_set(p, name, data, (size_t)size, &err);
  core_block_end();
  return c == TT_OK ? Py_NewRef(Py_None) : core_raise(c, &err);
}

/* program_get(program, name, size): bytes */
static PyObject *py_program_get(PyObject *self, PyObject *args) {
  PyObject *capsule;
  const char *name;
  Py_ssize_t size;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "Osn", &capsule, &name, &size)) return NULL;
  tt_program *p = PyCapsule_GetPointer(capsule, PROGRAM);
  PyObject *out = p ? PyBytes_FromStringAndSize(NULL, size) : NULL;
  if (!out) return NULL;
  core_block_begin();
  tt_code c = tt_program_get(p, name, PyBytes_AsString(out), (size_t)size, &err);
  core_block_end();
  if (c == TT_OK) return out;
  Py_DECREF(out);
  return core_raise(c, &err);
}

/* routine_parameters(routine): [(name, type)], most threads of a block, whether threads wait */
static PyObject *py_routine_info(PyObject *self, PyObject *capsule) {
  (void)self;
  held_routine *h = PyCapsule_GetPointer(capsule, ROUTINE);
  PyObject *list = h ? PyList_New(0) : NULL;
  for (int k = 0; list && k < tt_entry_parameters(h->routine); k++) {
    tt_parameter p;
    tt_error err;
    tt_code c = tt_entry_parameter(h->routine, k, &p, &err);
    PyObject *row = c == TT_OK ? Py_BuildValue("ssi", p.name, p.type, p.size) : core_raise(c, &err);
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  if (!list) return NULL;
  return Py_BuildValue("NsiO", list, tt_entry_name(h->routine), tt_entry_threads(h->routine),
                       tt_entry_waits(h->routine) ? Py_True : Py_False);
}

/* routine_suggest(routine, shared): threads of a block */
static PyObject *py_routine_suggest(PyObject *self, PyObject *args) {
  PyObject *capsule;
  long long shared;
  int threads;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "OL", &capsule, &shared)) return NULL;
  held_routine *h = PyCapsule_GetPointer(capsule, ROUTINE);
  if (!h) return NULL;
  tt_code c = tt_entry_suggest(h->routine, -1, shared, &threads, &err);
  return c == TT_OK ? PyLong_FromLong(threads) : core_raise(c, &err);
}

/* ---- arguments */

typedef struct call {
  tt_argument arg[MOST_ARGS];
  Py_buffer view[MOST_ARGS];
  int n, nview;
} call;

bool core_memory_argument(PyObject *o, int number, tt_argument *a, Py_buffer *v, bool *viewed) {
  bool swap = false;
  if (PyObject_GetBuffer(o, v, PyBUF_FORMAT | PyBUF_STRIDES | PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    if (PyObject_GetBuffer(o, v, PyBUF_FORMAT | PyBUF_STRIDES) < 0) return false;
  }
  *viewed = true;
  if (!PyBuffer_IsContiguous(v, 'A')) {
    PyErr_Format(PyExc_ValueError, "argument %d: the array is not contiguous; pass a copy of it", number);
    return false;
  }
  *a = (tt_argument){.kind = TT_ARG_MEMORY};
  a->as.memory.data = v->buf;
  a->as.memory.size = (size_t)v->len;
  a->as.memory.readonly = v->readonly;
  a->as.memory.dtype = v->format ? core_dtype_from_format(v->format, v->itemsize, &swap) : TT_U8;
  if (!swap) return true;
  PyErr_Format(PyExc_ValueError, "argument %d: the array is not in the machine's byte order", number);
  return false;
}

static bool not_an_argument(PyObject *o, int number) {
  PyErr_Format(PyExc_TypeError, "argument %d of a kernel cannot be a %R", number, (PyObject *)Py_TYPE(o));
  return false;
}

bool core_scalar_argument(PyObject *o, int number, tt_argument *a) {
  PyObject *plain = PyObject_CallMethod(o, "item", NULL);
  if (!plain) return false;
  *a = (tt_argument){.kind = TT_ARG_VALUE};
  bool ok = core_value_scalar(plain, &a->as.value);
  Py_DECREF(plain);
  return ok || PyErr_Occurred() ? ok : not_an_argument(o, number);
}

static bool is_array_like(PyObject *o) {
  PyObject *rank = PyObject_GetAttrString(o, "ndim");
  long n = rank ? PyLong_AsLong(rank) : 0;
  Py_XDECREF(rank);
  PyErr_Clear();
  return n > 0;
}

bool core_argument(PyObject *o, int number, tt_argument *a, Py_buffer *v, bool *viewed) {
  *a = (tt_argument){.kind = TT_ARG_ARRAY};
  *viewed = false;
  if (core_is_array(o)) {
    if (!core_need(o)) return false;
    a->as.array = core_handle(o);
    return true;
  }
  a->kind = TT_ARG_VALUE;
  if (core_value_scalar(o, &a->as.value)) return true;
  if (PyErr_Occurred()) return false;
  /* Elements can be set: no scalar of NumPy's, which are buffers, too. */
  if (PyType_GetSlot(Py_TYPE(o), Py_mp_ass_subscript) && PyObject_CheckBuffer(o))
    return core_memory_argument(o, number, a, v, viewed);
  if (PyBytes_Check(o)) {
    a->kind = TT_ARG_BYTES;
    a->as.memory.data = PyBytes_AsString(o);
    a->as.memory.size = (size_t)PyBytes_Size(o);
    return true;
  }
  bool scalar = PyObject_HasAttrString(o, "dtype") && PyObject_HasAttrString(o, "item") && !is_array_like(o);
  if (scalar && !PyObject_HasAttrString(o, "__setitem__")) return core_scalar_argument(o, number, a);
  return PyObject_CheckBuffer(o) ? core_memory_argument(o, number, a, v, viewed) : not_an_argument(o, number);
}

static bool add_argument(call *c, PyObject *o) {
  bool viewed;
  bool ok = core_argument(o, c->n + 1, &c->arg[c->n], &c->view[c->nview], &viewed);
  c->nview += viewed;
  return ok;
}

int core_axes(PyObject *o, const char *what, uint64_t most, uint64_t out[3]) {
  bool one = PyIndex_Check(o);
  Py_ssize_t n = one ? 1 : PySequence_Size(o);
  if (n < 1 || n > 3) {
    PyErr_Clear();
    return PyErr_Format(PyExc_TypeError, "%s: an int or one to three ints", what), -1;
  }
  for (Py_ssize_t k = 0; k < n; k++) {
    PyObject *item = one ? Py_NewRef(o) : PySequence_GetItem(o, k);
    PyObject *number = item ? PyNumber_Index(item) : NULL;
    long long x = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(item);
    Py_XDECREF(number);
    if (PyErr_Occurred()) return -1;
    if (x < 0 || (uint64_t)x > most) return PyErr_Format(PyExc_ValueError, "%s: %lld is out of range", what, x), -1;
    out[k] = (uint64_t)x;
  }
  return (int)n;
}

/* Axes left out are 1. */
static bool read_dims(PyObject *o, const char *what, uint32_t out[3]) {
  uint64_t axis[3] = {1, 1, 1};
  if (core_axes(o, what, UINT32_MAX, axis) < 0) return false;
  for (int k = 0; k < 3; k++) out[k] = (uint32_t)axis[k];
  return true;
}

bool core_show_printed(void) {
  char *text = tt_printed();
  if (!text) return true;
  PyObject *out = PySys_GetObject("stdout"), *s = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  tt_text_free(text);
  bool ok = s && (!out || out == Py_None || PyFile_WriteObject(s, out, Py_PRINT_RAW) == 0);
  Py_XDECREF(s);
  return ok;
}

bool core_warn_copied(void) {
  static bool told;
  if (told) return true;
  told = true;
  PyObject *module = PyImport_ImportModule("tutti.exceptions"),
           *cls = module ? PyObject_GetAttrString(module, "PerformanceWarning") : NULL;
  bool ok = cls && PyErr_WarnEx(cls,
                                "a kernel on a GPU was given host arrays, which are copied there and back around each "
                                "launch: put them there once, with .to(device) or cuda.to_device()",
                                1) == 0;
  Py_XDECREF(cls);
  Py_XDECREF(module);
  return ok;
}

bool core_read_stream(PyObject *o, tt_launch_options *how) {
  how->stream = NULL;
  how->device = TT_CPU;
  PyObject *at = o == Py_None ? NULL : PyObject_GetAttrString(o, "_address"), *device = NULL, *number = NULL;
  if (!at) return PyErr_Clear(), true;
  if (at != Py_None) {
    how->stream = PyLong_AsVoidPtr(at);
    device = PyObject_GetAttrString(o, "device");
    number = device ? PyObject_GetAttrString(device, "_number") : NULL;
    if (number) how->device = (int)PyLong_AsLong(number);
  }
  Py_DECREF(at);
  Py_XDECREF(device);
  Py_XDECREF(number);
  return !PyErr_Occurred();
}

/* routine_launch(routine, grid, block, args, shared, shared_limit, stream[, addresses]) */
static PyObject *py_routine_launch(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  (void)self;
  tt_launch_options how = {.copied = NULL};
  tt_error err;
  call c;
  c.n = c.nview = 0;
  if (n < 7 || n > 8 || !PyTuple_Check(arg[3]))
    return PyErr_SetString(PyExc_TypeError, "routine_launch: seven or eight arguments"), NULL;
  held_routine *h = PyCapsule_GetPointer(arg[0], ROUTINE);
  if (!h || !read_dims(arg[1], "grid", how.grid.grid) || !read_dims(arg[2], "block", how.grid.block)) return NULL;
  how.grid.shared = PyLong_AsLongLong(arg[4]);
  how.shared_limit = PyLong_AsLongLong(arg[5]);
  how.addresses = n == 8 && PyObject_IsTrue(arg[7]) > 0;
  if (PyErr_Occurred() || !core_read_stream(arg[6], &how)) return NULL;
  Py_ssize_t count = PyTuple_Size(arg[3]);
  if (count > MOST_ARGS) return PyErr_SetString(PyExc_TypeError, "a kernel takes at most 256 arguments"), NULL;
  bool ok = true;
  for (; ok && c.n < count; c.n += ok) ok = add_argument(&c, PyTuple_GetItem(arg[3], c.n));
  core_line();
  core_has_kernels = true;
  bool copied = false;
  how.copied = &copied;
  tt_code code = ok ? tt_entry_launch(h->routine, &how, c.arg, c.n, &err) : TT_OK;
  while (c.nview) PyBuffer_Release(&c.view[--c.nview]);
  if (!ok || !core_show_printed() || (copied && !core_warn_copied())) return NULL;
  if (code == TT_EINTERRUPT && PyErr_CheckSignals() < 0) return NULL;
  if (code != TT_OK) return core_raise(code, &err);
  Py_RETURN_NONE;
}

/* ---- memory of arrays and devices */

/* _read(array, buffer): the elements in C order. */
static PyObject *read_array(PyObject *self, PyObject *args) {
  PyObject *a, *o;
  Py_buffer v;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO", &a, &o)) return NULL;
  if (!core_is_array(a)) return PyErr_SetString(PyExc_TypeError, "expected a tutti.ndarray"), NULL;
  if (!core_need(a) || PyObject_GetBuffer(o, &v, PyBUF_WRITABLE) < 0) return NULL;
  tt_code c = tt_read(core_handle(a), v.buf, (size_t)v.len, &err);
  PyBuffer_Release(&v);
  return c == TT_OK ? Py_NewRef(Py_None) : core_raise(c, &err);
}

/* _memory_copy(device, address, buffer, out): `out`: from the device into the buffer. */
static PyObject *memory_copy(PyObject *self, PyObject *args) {
  int device, out;
  unsigned long long at;
  PyObject *o;
  Py_buffer v;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "iKOp", &device, &at, &o, &out)) return NULL;
  if (PyObject_GetBuffer(o, &v, out ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0) return NULL;
  core_block_begin();
  tt_code c = out ? tt_device_copy_out(device, v.buf, (void *)(uintptr_t)at, (int64_t)v.len, &err)
                  : tt_device_copy_in(device, (void *)(uintptr_t)at, v.buf, (int64_t)v.len, &err);
  core_block_end();
  PyBuffer_Release(&v);
  return c == TT_OK ? Py_NewRef(Py_None) : core_raise(c, &err);
}

PyMethodDef core_kernel_functions[] = {
    {"program", py_program, METH_VARARGS, NULL},
    {"program_routine", py_program_routine, METH_VARARGS, NULL},
    {"program_names", py_program_names, METH_O, NULL},
    {"program_text", py_program_text, METH_O, NULL},
    {"program_variable", py_program_variable, METH_VARARGS, NULL},
    {"program_set", py_program_set, METH_VARARGS, NULL},
    {"program_get", py_program_get, METH_VARARGS, NULL},
    {"routine_suggest", py_routine_suggest, METH_VARARGS, NULL},
    {"routine_info", py_routine_info, METH_O, NULL},
    {"routine_launch", CORE_FAST(py_routine_launch), METH_FASTCALL, NULL},
    {"_read", read_array, METH_VARARGS, NULL},
    {"_memory_copy", memory_copy, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
