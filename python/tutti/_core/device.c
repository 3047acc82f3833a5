/*
** Devices, streams and events as numbers: the functions of tutti/device.h and tutti/stream.h one by one. What people
** see of them is made of these in _device.py and cuda/. Streams and events are handed over as addresses, which
** the objects there own.
*/
#include "core.h"

/* ---- devices given by people */

bool core_device_from(PyObject *o, int *out) {
  *out = TT_AUTO;
  if (!o || o == Py_None) return true;
  PyObject *hook = core_hook_get(CORE_HOOK_device);
  PyObject *device = hook ? PyObject_CallFunctionObjArgs(hook, o, NULL) : NULL;
  PyObject *number = device ? PyObject_GetAttrString(device, "_number") : NULL;
  long n = number ? PyLong_AsLong(number) : -1;
  Py_XDECREF(device);
  Py_XDECREF(number);
  *out = (int)n;
  return !PyErr_Occurred();
}

PyObject *core_device_object(int number) {
  PyObject *hook = core_hook_get(CORE_HOOK_device_numbered);
  return hook ? PyObject_CallFunction(hook, "i", number) : NULL;
}

PyObject *core_put(PyObject *made, int device) {
  if (!made || device == TT_AUTO || !core_is_array(made)) return made;
  tt_array *out;
  tt_error err;
  if (!core_need(made)) return Py_DECREF(made), NULL;
  tt_code c = tt_array_to(core_handle(made), device, &out, &err);
  if (c == TT_OK && out == core_handle(made)) {
    tt_release(&out);
    return made;
  }
  Py_DECREF(made);
  return core_done(c, out, NULL, &err);
}

bool core_lies_on(tt_array *a, int device) { return device == TT_AUTO || tt_array_device(a) == device; }

/* ---- CUDA's numbers */

int core_cuda_index(int device) { return device >= TT_CUDA(0) && device <= TT_CUDA(255) ? device - TT_CUDA(0) : -1; }

bool core_cuda_device(long index, int *out) {
  char name[32];
  *out = index >= 0 && index < 256 ? TT_CUDA((int)index) : TT_AUTO;
  if (*out != TT_AUTO && tt_device_name(*out, name, sizeof name)) return true;
  PyErr_Format(PyExc_BufferError, "memory of CUDA device %ld, which this process does not see%s%s", index,
               tt_device_missing("cuda")[0] ? ": " : "", tt_device_missing("cuda"));
  return false;
}

tt_array *core_own(tt_array *a) {
  tt_array *out = NULL;
  tt_error err;
  if (!a) return NULL;
  tt_code c = tt_detach(a, &out, &err);
  tt_release(&a);
  if (c != TT_OK) core_raise(c, &err);
  return out;
}

/* ---- what there is */

static PyObject *done(tt_code c, const tt_error *err) {
  if (c != TT_OK) return core_raise(c, err);
  Py_RETURN_NONE;
}

/* The number of the first device of a type; -1: there is none. May load its driver. */
static int first_of(const char *type) {
  int number;
  tt_error err;
  return tt_device_named(type, &number, &err) == TT_OK ? number : -1;
}

/* Numbers and names: of all devices, or of one type, which asks no driver for others. */
static PyObject *py_devices(PyObject *self, PyObject *args) {
  (void)self;
  const char *type = NULL;
  char name[32];
  if (!PyArg_ParseTuple(args, "|s:_devices", &type)) return NULL;
  PyObject *list = PyList_New(0);
  core_block_begin();
  int first = type ? first_of(type) : TT_CPU;
  core_block_end();
  for (int k = 0; list && first >= 0; k++) {
    core_block_begin(); /* drivers may be loaded */
    int number = type ? first + k : tt_device_at(k);
    bool there = number >= 0 && tt_device_name(number, name, sizeof name);
    core_block_end();
    if (!there) break;
    PyObject *pair = Py_BuildValue("(is)", number, name);
    if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
    Py_XDECREF(pair);
  }
  return list;
}

bool core_only_cpu(void) {
  core_block_begin();
  bool others = first_of("cuda") >= 0 || first_of("null") >= 0;
  core_block_end();
  return !others;
}

static PyObject *py_only_cpu(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyBool_FromLong(core_only_cpu());
}

static PyObject *py_device_name(PyObject *self, PyObject *number) {
  (void)self;
  char name[32];
  long id = PyLong_AsLong(number);
  if (id == -1 && PyErr_Occurred()) return NULL;
  return PyUnicode_FromString(id >= 0 && tt_device_name((int)id, name, sizeof name) ? name : "");
}

static PyObject *py_device_named(PyObject *self, PyObject *name) {
  (void)self;
  const char *s = PyUnicode_AsUTF8AndSize(name, NULL);
  int number;
  tt_error err;
  if (!s) return NULL;
  core_block_begin();
  tt_code c = tt_device_named(s, &number, &err);
  core_block_end();
  return c == TT_OK ? PyLong_FromLong(number) : core_raise(c, &err);
}

static PyObject *py_device_missing(PyObject *self, PyObject *type) {
  (void)self;
  const char *s = PyUnicode_AsUTF8AndSize(type, NULL);
  return s ? PyUnicode_FromString(tt_device_missing(s)) : NULL;
}

static PyObject *py_device_read(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_device_info i;
  tt_error err;
  if (!PyArg_ParseTuple(args, "i", &number)) return NULL;
  core_block_begin();
  tt_code c = tt_device_read(number, &i, &err);
  core_block_end();
  if (c != TT_OK) return core_raise(c, &err);
  return Py_BuildValue("{sssssssssisisisisisisisisLsLsLsLsL}", "name", i.name, "type", i.type, "label", i.label, "bus",
                       i.bus, "index", i.index, "gpu", i.gpu, "arch", i.arch, "units", i.units, "warp", i.warp,
                       "block_threads", i.block_threads, "unit_threads", i.unit_threads, "id", i.id, "shared_block",
                       (long long)i.shared_block, "shared_unit", (long long)i.shared_unit, "cache_bytes",
                       (long long)i.cache_bytes, "memory_total", (long long)i.memory_total, "memory_free",
                       (long long)i.memory_free);
}

static PyObject *py_set_device(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  if (!PyArg_ParseTuple(args, "i", &number)) return NULL;
  return PyLong_FromLong(tt_set_device(number));
}

static PyObject *py_get_device(PyObject *self, PyObject *unused) {
  return (void)self, (void)unused, PyLong_FromLong(tt_get_device());
}

/* ---- memory of a device */

static PyObject *figures_of(const tt_memory *m) {
  return Py_BuildValue("{sLsLsLsLsLsL}", "allocated", (long long)m->allocated, "max_allocated",
                       (long long)m->max_allocated, "reserved", (long long)m->reserved, "kept",
                       (long long)(m->reserved - m->allocated), "limit", (long long)m->limit, "free_blocks",
                       (long long)m->free_blocks);
}

static PyObject *py_device_memory(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_memory m;
  tt_error err;
  if (!PyArg_ParseTuple(args, "i", &number)) return NULL;
  tt_code c = tt_device_memory(number, &m, &err);
  if (c != TT_OK) return core_raise(c, &err);
  return figures_of(&m);
}

static PyObject *py_pinned_memory(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_memory m;
  tt_error err;
  if (!PyArg_ParseTuple(args, "i", &number)) return NULL;
  tt_code c = tt_pinned_memory(number, &m, &err);
  return c == TT_OK ? figures_of(&m) : core_raise(c, &err);
}

static PyObject *py_pinned_trim(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_error err;
  if (!PyArg_ParseTuple(args, "i", &number)) return NULL;
  return done(tt_pinned_trim(number, &err), &err);
}

static PyObject *py_device_reset_peak(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_error err;
  if (!PyArg_ParseTuple(args, "i", &number)) return NULL;
  return done(tt_device_memory_reset_peak(number, &err), &err);
}

static PyObject *py_device_trim(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_error err;
  if (!PyArg_ParseTuple(args, "i", &number)) return NULL;
  core_block_begin();
  tt_code c = tt_device_trim(number, &err);
  core_block_end();
  return done(c, &err);
}

static PyObject *py_device_set_limit(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  long long bytes;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iL", &number, &bytes)) return NULL;
  return done(tt_device_set_limit(number, bytes, &err), &err);
}

static PyObject *py_device_synchronize(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_error err;
  if (!PyArg_ParseTuple(args, "i", &number)) return NULL;
  core_block_begin();
  tt_code c = tt_device_synchronize(number, &err);
  core_block_end();
  if (!core_show_printed()) return NULL;
  return done(c, &err);
}

/* ---- streams and events: (device, address) */

static int address(PyObject *o, void *out) {
  *(void **)out = o == Py_None ? NULL : PyLong_AsVoidPtr(o);
  return PyErr_Occurred() == NULL;
}
static PyObject *address_object(void *p) { return PyLong_FromVoidPtr(p); }

static PyObject *py_stream_new(PyObject *self, PyObject *args) {
  (void)self;
  int number, priority;
  tt_stream *s;
  tt_error err;
  if (!PyArg_ParseTuple(args, "ii", &number, &priority)) return NULL;
  tt_code c = tt_stream_new(number, priority, &s, &err);
  return c == TT_OK ? address_object(s) : core_raise(c, &err);
}

static PyObject *py_stream_adopt(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  void *handle;
  tt_stream *s;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &handle)) return NULL;
  tt_code c = tt_stream_adopt(number, handle, &s, &err);
  return c == TT_OK ? address_object(s) : core_raise(c, &err);
}

static PyObject *py_stream_free(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_stream *s;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &s)) return NULL;
  core_block_begin();
  tt_stream_free(number, s);
  core_block_end();
  Py_RETURN_NONE;
}

static PyObject *py_stream_handle(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_stream *s;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &s)) return NULL;
  return address_object(tt_stream_handle(number, s));
}

static PyObject *py_stream_use(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_stream *s;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &s)) return NULL;
  return address_object(tt_stream_use(number, s));
}

static PyObject *py_stream_done(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  bool yes = false;
  tt_stream *s;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &s)) return NULL;
  tt_code c = tt_stream_done(number, s, &yes, &err);
  return c == TT_OK ? PyBool_FromLong(yes) : core_raise(c, &err);
}

static PyObject *py_stream_synchronize(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_stream *s;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &s)) return NULL;
  core_block_begin();
  tt_code c = tt_stream_synchronize(number, s, &err);
  core_block_end();
  if (!core_show_printed()) return NULL;
  return done(c, &err);
}

static PyObject *py_stream_wait(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_stream *s;
  tt_event *e;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iO&O&", &number, address, &s, address, &e)) return NULL;
  return done(tt_stream_wait(number, s, e, &err), &err);
}

static PyObject *py_event_new(PyObject *self, PyObject *args) {
  (void)self;
  int number, timed;
  tt_event *e;
  tt_error err;
  if (!PyArg_ParseTuple(args, "ip", &number, &timed)) return NULL;
  tt_code c = tt_event_new(number, timed, &e, &err);
  return c == TT_OK ? address_object(e) : core_raise(c, &err);
}

static PyObject *py_event_free(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_event *e;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &e)) return NULL;
  tt_event_free(number, e);
  Py_RETURN_NONE;
}

static PyObject *py_event_record(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_event *e;
  tt_stream *s;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iO&O&", &number, address, &e, address, &s)) return NULL;
  return done(tt_event_record(number, e, s, &err), &err);
}

static PyObject *py_event_done(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  bool yes = false;
  tt_event *e;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &e)) return NULL;
  tt_code c = tt_event_done(number, e, &yes, &err);
  return c == TT_OK ? PyBool_FromLong(yes) : core_raise(c, &err);
}

static PyObject *py_event_wait(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  tt_event *e;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iO&", &number, address, &e)) return NULL;
  core_block_begin();
  tt_code c = tt_event_wait(number, e, &err);
  core_block_end();
  return done(c, &err);
}

static PyObject *py_event_ms(PyObject *self, PyObject *args) {
  (void)self;
  int number;
  double ms = 0;
  tt_event *from, *to;
  tt_error err;
  if (!PyArg_ParseTuple(args, "iO&O&", &number, address, &from, address, &to)) return NULL;
  tt_code c = tt_event_ms(number, from, to, &ms, &err);
  return c == TT_OK ? PyFloat_FromDouble(ms) : core_raise(c, &err);
}

PyMethodDef core_device_functions[] = {
    {"_devices", py_devices, METH_VARARGS, NULL},
    {"_device_name", py_device_name, METH_O, NULL},
    {"_only_cpu", py_only_cpu, METH_NOARGS, NULL},
    {"_device_named", py_device_named, METH_O, NULL},
    {"_device_missing", py_device_missing, METH_O, NULL},
    {"_device_read", py_device_read, METH_VARARGS, NULL},
    {"_set_device", py_set_device, METH_VARARGS, NULL},
    {"_get_device", py_get_device, METH_NOARGS, NULL},
    {"_device_memory", py_device_memory, METH_VARARGS, NULL},
    {"_device_reset_peak", py_device_reset_peak, METH_VARARGS, NULL},
    {"_device_trim", py_device_trim, METH_VARARGS, NULL},
    {"_pinned_memory", py_pinned_memory, METH_VARARGS, NULL},
    {"_pinned_trim", py_pinned_trim, METH_VARARGS, NULL},
    {"_device_set_limit", py_device_set_limit, METH_VARARGS, NULL},
    {"_device_synchronize", py_device_synchronize, METH_VARARGS, NULL},
    {"_stream_new", py_stream_new, METH_VARARGS, NULL},
    {"_stream_adopt", py_stream_adopt, METH_VARARGS, NULL},
    {"_stream_free", py_stream_free, METH_VARARGS, NULL},
    {"_stream_handle", py_stream_handle, METH_VARARGS, NULL},
    {"_stream_use", py_stream_use, METH_VARARGS, NULL},
    {"_stream_done", py_stream_done, METH_VARARGS, NULL},
    {"_stream_synchronize", py_stream_synchronize, METH_VARARGS, NULL},
    {"_stream_wait", py_stream_wait, METH_VARARGS, NULL},
    {"_event_new", py_event_new, METH_VARARGS, NULL},
    {"_event_free", py_event_free, METH_VARARGS, NULL},
    {"_event_record", py_event_record, METH_VARARGS, NULL},
    {"_event_done", py_event_done, METH_VARARGS, NULL},
    {"_event_wait", py_event_wait, METH_VARARGS, NULL},
    {"_event_ms", py_event_ms, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
