/*
** The types `tutti._core.Pinned`, host memory that a device copies at full speed, and `tutti._core.Managed`, memory of
** the host and a device, as writable buffers of bytes.
*/
#include "core.h"

typedef struct pinned {
  PyObject_HEAD void *data;
  Py_ssize_t size;
  int device;
} pinned;

static PyTypeObject *pinned_type, *managed_type;

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
  static char nothing[16];
  pinned *p = (pinned *)self;
  return PyBuffer_FillInfo(view, self, p->data ? p->data : nothing, p->size, 0, flags);
}

static void dealloc(PyObject *self) {
  pinned *p = (pinned *)self;
  PyTypeObject *type = Py_TYPE(self);
  tt_pinned_free(p->device, p->data, (size_t)p->size);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject *hold(PyTypeObject *type, int device, void *data, Py_ssize_t size) {
  pinned *p = (pinned *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!p) return NULL;
  p->data = data;
  p->size = size;
  p->device = device;
  return (PyObject *)p;
}

/* _pinned(device, size) */
static PyObject *py_pinned(PyObject *self, PyObject *args) {
  (void)self;
  int device;
  Py_ssize_t size;
  void *data;
  tt_error err;
  if (!PyArg_ParseTuple(args, "in", &device, &size)) return NULL;
  if (size < 0) return PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed"), NULL;
  tt_code c = tt_pinned_new(device, (size_t)size, &data, &err);
  if (c != TT_OK) return core_raise(c, &err);
  PyObject *held = hold(pinned_type, device, data, size);
  if (!held) tt_pinned_free(device, data, (size_t)size);
  return held;
}

static void dealloc_managed(PyObject *self) {
  pinned *p = (pinned *)self;
  PyTypeObject *type = Py_TYPE(self);
  core_block_begin();
  tt_managed_free(p->device, p->data, (size_t)p->size);
  core_block_end();
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject *get_device_pointer(PyObject *self, PyObject *none) {
  (void)none;
  return PyLong_FromVoidPtr(((pinned *)self)->data);
}

static PyObject *attach(PyObject *self, PyObject *args) {
  int how;
  PyObject *stream = Py_None;
  tt_launch_options order;
  tt_error err;
  if (!PyArg_ParseTuple(args, "i|O", &how, &stream) || !core_read_stream(stream, &order)) return NULL;
  tt_code c = tt_managed_attach(((pinned *)self)->data, how, order.stream, &err);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}

/* _managed(device, size, how) */
static PyObject *py_managed(PyObject *self, PyObject *args) {
  (void)self;
  int device, how;
  Py_ssize_t size;
  void *data;
  tt_error err;
  if (!PyArg_ParseTuple(args, "ini", &device, &size, &how)) return NULL;
  if (size < 0) return PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed"), NULL;
  tt_code c = tt_managed_new(device, (size_t)size, how, &data, &err);
  if (c != TT_OK) return core_raise(c, &err);
  PyObject *held = hold(managed_type, device, data, size);
  if (!held) tt_managed_free(device, data, (size_t)size);
  return held;
}

static PyMethodDef managed_methods[] = {
    {"get_device_pointer", get_device_pointer, METH_NOARGS,
     "get_device_pointer($self, /)\n--\n\nThe address, which is the same for the host and the device."},
    {"attach", attach, METH_VARARGS,
     "attach($self, mem_flags, stream=None, /)\n--\n\n"
     "Say who may touch it from now on, behind the work of a stream: everybody (1), the host (2), the host and this "
     "stream (4)."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
    {"_pinned", py_pinned, METH_VARARGS, NULL},
    {"_managed", py_managed, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int core_pinned_init(PyObject *module) {
  static PyType_Slot slot[] = {
      {Py_tp_doc, "Host memory that a device copies at full speed."},
      {Py_tp_dealloc, dealloc},
      {Py_bf_getbuffer, get_buffer},
      {0, NULL},
  };
  static PyType_Spec spec = {"tutti._core.Pinned", sizeof(pinned), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slot};
  pinned_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
  static PyType_Slot managed_slot[] = {
      {Py_tp_doc, "Memory at one address for the host and a device, which move it to whoever touches it."},
      {Py_tp_dealloc, dealloc_managed},
      {Py_bf_getbuffer, get_buffer},
      {Py_tp_methods, managed_methods},
      {0, NULL},
  };
  static PyType_Spec managed_spec = {"tutti._core.Managed", sizeof(pinned), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, managed_slot};
  managed_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &managed_spec, NULL);
  if (!pinned_type || !managed_type || PyModule_AddType(module, managed_type) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}
