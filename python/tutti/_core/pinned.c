/*
** The type `tutti._core.Pinned`: host memory that a device copies at full speed, as a writable buffer of bytes.
*/
#include "core.h"

typedef struct pinned {
  PyObject_HEAD void *data;
  Py_ssize_t size;
  int device;
} pinned;

static PyTypeObject *pinned_type;

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
  allocfunc alloc = (allocfunc)PyType_GetSlot(pinned_type, Py_tp_alloc);
  pinned *p = (pinned *)alloc(pinned_type, 0);
  if (!p) {
    tt_pinned_free(device, data, (size_t)size);
    return NULL;
  }
  p->data = data;
  p->size = size;
  p->device = device;
  return (PyObject *)p;
}

static PyMethodDef functions[] = {
    {"_pinned", py_pinned, METH_VARARGS, NULL},
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
  return pinned_type ? PyModule_AddFunctions(module, functions) : -1;
}
