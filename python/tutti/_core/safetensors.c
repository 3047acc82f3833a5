/*
** The type `tutti._core.Tensors`, an open safetensors file, and saving: the functions of tutti/safetensors.h.
*/
#include "core.h"

typedef struct tensors {
  PyObject_HEAD tt_tensors *open; /* NULL: closed */
  Py_buffer memory;               /* what it reads from, or all zero */
  int busy;                       /* threads that read without the interpreter's lock: they keep it open */
  bool closes;                    /* when the last of them is done */
} tensors;

static PyTypeObject *tensors_type;

static void end(tensors *t) {
  tt_tensors_close(&t->open);
  if (t->memory.obj) PyBuffer_Release(&t->memory);
}

static void dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  end((tensors *)self);
  PyObject_Free(self);
  Py_DECREF(type);
}

/* open(file): a path, or what has a buffer of bytes */
static PyObject *py_open(PyObject *self, PyObject *file) {
  (void)self;
  tt_error err;
  tt_code c;
  PyObject *path = NULL;
  tensors *t = (tensors *)((allocfunc)PyType_GetSlot(tensors_type, Py_tp_alloc))(tensors_type, 0);
  if (!t) return NULL;
  bool is_memory = PyObject_CheckBuffer(file);
  if (is_memory ? PyObject_GetBuffer(file, &t->memory, PyBUF_SIMPLE) < 0 : !PyUnicode_FSConverter(file, &path)) {
    Py_DECREF(t);
    return NULL;
  }
  core_block_begin();
  c = is_memory ? tt_tensors_open_memory(t->memory.buf, (size_t)t->memory.len, &t->open, &err)
                : tt_tensors_open(PyBytes_AsString(path), &t->open, &err);
  core_block_end();
  Py_XDECREF(path);
  if (c == TT_OK) return (PyObject *)t;
  Py_DECREF(t);
  return core_raise(c, &err);
}

static tt_tensors *opened(PyObject *self) {
  tensors *t = (tensors *)self;
  if (t->open && !t->closes) return t->open;
  return PyErr_SetString(PyExc_ValueError, "the file is closed"), NULL;
}

static PyObject *py_close(PyObject *self, PyObject *none) {
  (void)none;
  tensors *t = (tensors *)self;
  t->closes = true;
  if (!t->busy) end(t);
  Py_RETURN_NONE;
}

/* names(by_place) */
static PyObject *py_names(PyObject *self, PyObject *by_place) {
  tt_tensors *t = opened(self);
  int place = PyObject_IsTrue(by_place);
  if (!t || place < 0) return NULL;
  PyObject *out = PyList_New(0);
  for (int64_t k = 0; out; k++) {
    const tt_tensor_info *info = tt_tensors_info(t, place ? tt_tensors_at(t, k) : k);
    if (!info) break;
    PyObject *name = PyUnicode_FromString(info->name);
    if (!name || PyList_Append(out, name) < 0) Py_CLEAR(out);
    Py_XDECREF(name);
  }
  return out;
}

static PyObject *py_metadata(PyObject *self, PyObject *none) {
  (void)none;
  tt_tensors *t = opened(self);
  const char *key, *value;
  PyObject *out = t ? PyDict_New() : NULL;
  for (int64_t k = 0; out && tt_tensors_metadata(t, k, &key, &value); k++) {
    PyObject *text = PyUnicode_FromString(value);
    if (!text || PyDict_SetItemString(out, key, text) < 0) Py_CLEAR(out);
    Py_XDECREF(text);
  }
  return out;
}

/* The number of a tensor, or -1 with KeyError. */
static int64_t number_of(tt_tensors *t, PyObject *name) {
  const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
  int64_t k = text ? tt_tensors_find(t, text) : -1;
  if (text && k < 0) PyErr_Format(PyExc_KeyError, "the file has no tensor %R", name);
  return k;
}

/* info(name): the format's word for its type, and its shape */
static PyObject *py_info(PyObject *self, PyObject *name) {
  tt_tensors *t = opened(self);
  int64_t k = t ? number_of(t, name) : -1;
  if (k < 0) return NULL;
  const tt_tensor_info *info = tt_tensors_info(t, k);
  PyObject *shape = PyTuple_New(info->rank);
  for (int i = 0; shape && i < info->rank; i++) {
    PyObject *len = PyLong_FromLongLong(info->len[i]);
    if (!len || PyTuple_SetItem(shape, i, len) < 0) Py_CLEAR(shape);
  }
  return shape ? Py_BuildValue("(sN)", info->type, shape) : NULL;
}

/* load(name, start=-1, stop=-1): all of it, or elements of its first axis */
static PyObject *py_load(PyObject *self, PyObject *args) {
  PyObject *name;
  long long start = -1, stop = -1;
  tt_array *out;
  tt_error err;
  tensors *held = (tensors *)self;
  if (!PyArg_ParseTuple(args, "U|LL", &name, &start, &stop)) return NULL;
  tt_tensors *t = opened(self);
  int64_t k = t ? number_of(t, name) : -1;
  if (k < 0) return NULL;
  held->busy++;
  core_block_begin();
  tt_code c = start < 0 ? tt_tensors_load(t, k, &out, &err) : tt_tensors_load_rows(t, k, start, stop, &out, &err);
  core_block_end();
  if (--held->busy == 0 && held->closes) end(held);
  return c == TT_OK ? core_wrap(out, NULL) : core_raise(c, &err);
}

/* ---- saving */

/* The texts of a list of str, borrowed from it; NULL with an exception. Give back with PyMem_Free. */
static const char **texts_of(PyObject *list, Py_ssize_t n) {
  const char **out = PyMem_Calloc((size_t)n + 1, sizeof *out);
  if (!out) return (void)PyErr_NoMemory(), NULL;
  for (Py_ssize_t k = 0; k < n; k++) {
    Py_ssize_t size;
    PyObject *text = PyList_GetItem(list, k);
    out[k] = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (out[k] && strlen(out[k]) != (size_t)size) {
      PyErr_Format(PyExc_ValueError, "embedded null character in %R", text);
      out[k] = NULL;
    }
    if (out[k]) continue;
    PyMem_Free(out);
    return NULL;
  }
  return out;
}

static tt_array **handles_of(PyObject *list, Py_ssize_t n) {
  tt_array **out = PyMem_Calloc((size_t)n + 1, sizeof *out);
  if (!out) return (void)PyErr_NoMemory(), NULL;
  for (Py_ssize_t k = 0; k < n; k++) {
    PyObject *o = PyList_GetItem(list, k);
    if (o && !core_is_array(o)) PyErr_SetString(PyExc_TypeError, "expected a tutti.ndarray");
    out[k] = o && core_is_array(o) ? core_handle(o) : NULL;
    if (out[k]) continue;
    PyMem_Free(out);
    return NULL;
  }
  return out;
}

static tt_code pack(const tt_tensors_content *c, PyObject **out, tt_error *err) {
  size_t size = 0;
  tt_code code = tt_tensors_pack(c, NULL, &size, err);
  if (code != TT_OK) return code;
  *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
  if (!*out) return TT_OK;
  core_block_begin();
  code = tt_tensors_pack(c, PyBytes_AsString(*out), &size, err);
  core_block_end();
  if (code != TT_OK) Py_CLEAR(*out);
  return code;
}

static PyObject *save_content(const char *path, const tt_tensors_content *content) {
  tt_error err;
  tt_code c;
  PyObject *out = NULL;
  if (!path) {
    c = pack(content, &out, &err);
    return c == TT_OK ? out : core_raise(c, &err);
  }
  core_block_begin();
  c = tt_tensors_save(path, content, &err);
  core_block_end();
  return c == TT_OK ? Py_NewRef(Py_None) : core_raise(c, &err);
}

/* save(path or None, names, arrays, keys, values): lists; None gives the bytes */
static PyObject *py_save(PyObject *self, PyObject *args) {
  PyObject *path, *names, *arrays, *keys, *values, *out = NULL, *file = NULL;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO!O!O!O!", &path, &PyList_Type, &names, &PyList_Type, &arrays, &PyList_Type, &keys,
                        &PyList_Type, &values) ||
      (path != Py_None && !PyUnicode_FSConverter(path, &file)))
    return NULL;
  Py_ssize_t n = PyList_Size(names), nmeta = PyList_Size(keys);
  const char **name = texts_of(names, n), **key = name ? texts_of(keys, nmeta) : NULL;
  const char **value = key ? texts_of(values, nmeta) : NULL;
  tt_array **array = value ? handles_of(arrays, n) : NULL;
  if (array)
    out = save_content(file ? PyBytes_AsString(file) : NULL, &(tt_tensors_content){name, array, n, key, value, nmeta});
  PyMem_Free(array);
  PyMem_Free(value);
  PyMem_Free(key);
  PyMem_Free(name);
  Py_XDECREF(file);
  return out;
}

static PyMethodDef methods[] = {
    {"close", py_close, METH_NOARGS, NULL}, {"info", py_info, METH_O, NULL},
    {"load", py_load, METH_VARARGS, NULL},  {"metadata", py_metadata, METH_NOARGS, NULL},
    {"names", py_names, METH_O, NULL},      {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"tensors_open", py_open, METH_O, NULL},
    {"tensors_save", py_save, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int core_safetensors_init(PyObject *module) {
  static PyType_Slot slot[] = {
      {Py_tp_doc, "An open safetensors file."}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, methods}, {0, NULL}};
  static PyType_Spec spec = {"tutti._core.Tensors", sizeof(tensors), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slot};
  tensors_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
  return tensors_type ? PyModule_AddFunctions(module, functions) : -1;
}
