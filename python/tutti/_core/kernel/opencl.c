/*
** Programs in OpenCL C: built, and launched over ranges. Programs and kernels are kernel.c's capsules.
*/
#include "core.h"

#include <string.h>

#include "tutti/opencl.h"

enum { MOST_RANGE_ARGS = 256 };

/* opencl_program(source, options, file, device); device None: where this thread's arrays go */
static PyObject *opencl_program(PyObject *self, PyObject *args) {
  const char *source, *options, *file;
  PyObject *where;
  int device = -1;
  tt_program *p = NULL;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "sssO", &source, &options, &file, &where)) return NULL;
  if (where != Py_None && !core_device_from(where, &device)) return NULL;
  core_block_begin();
  tt_code c = tt_program_opencl(source, options, file, device, &p, &err);
  core_block_end();
  return c == TT_OK ? core_program_object(p) : core_raise(c, &err);
}

/* opencl_asked(routine): the work-group's size that it wants, or None */
static PyObject *opencl_asked(PyObject *self, PyObject *capsule) {
  uint32_t local[3];
  (void)self;
  tt_entry *r = core_routine(capsule);
  if (!r) return NULL;
  tt_entry_asked(r, local);
  if (!local[0]) Py_RETURN_NONE;
  return Py_BuildValue("III", local[0], local[1], local[2]);
}

static PyObject *opencl_local_memory(PyObject *self, PyObject *none) {
  (void)self;
  (void)none;
  return PyLong_FromLongLong(tt_local_memory());
}

/* ---- launches */

typedef struct range_call {
  tt_argument arg[MOST_RANGE_ARGS];
  Py_buffer view[MOST_RANGE_ARGS];
  int n, nview;
} range_call;

static bool read_range(PyObject *global, PyObject *local, PyObject *offset, tt_range *out) {
  uint64_t group[3] = {0, 0, 0};
  *out = (tt_range){0};
  out->dims = core_axes(global, "global_size", INT64_MAX, out->global);
  if (out->dims < 0) return false;
  int n = local == Py_None ? out->dims : core_axes(local, "local_size", INT64_MAX, group);
  int m = offset == Py_None ? out->dims : core_axes(offset, "global_offset", INT64_MAX, out->offset);
  if (n < 0 || m < 0) return false;
  if (n != out->dims || m != out->dims)
    return PyErr_Format(PyExc_ValueError, "global_size has %d axes, %s %d", out->dims,
                        n != out->dims ? "local_size" : "global_offset", n != out->dims ? n : m),
           false;
  for (int k = 0; k < out->dims; k++) {
    if (local != Py_None && (group[k] == 0 || group[k] > UINT32_MAX))
      return PyErr_SetString(PyExc_ValueError, "local_size: at least 1 along each axis"), false;
    out->local[k] = (uint32_t)group[k];
  }
  return true;
}

/* LocalMemory has its bytes in `_local_bytes`. */
static bool read_local_memory(PyObject *o, tt_argument *a, bool *found) {
  PyObject *bytes = PyObject_GetAttrString(o, "_local_bytes");
  *found = bytes != NULL;
  if (!bytes) return PyErr_Clear(), true;
  *a = (tt_argument){.kind = TT_ARG_LOCAL};
  a->as.memory.size = PyLong_AsSize_t(bytes);
  Py_DECREF(bytes);
  return !PyErr_Occurred();
}

static bool add_range_argument(range_call *c, PyObject *o) {
  bool viewed = false, found = false;
  if (!core_is_array(o) && !PyLong_Check(o) && !PyFloat_Check(o) && !read_local_memory(o, &c->arg[c->n], &found))
    return false;
  bool ok = found || core_argument(o, c->n + 1, &c->arg[c->n], &c->view[c->nview], &viewed);
  c->nview += viewed;
  return ok;
}

/* opencl_launch(routine, global_size, local_size, global_offset, args) */
static PyObject *opencl_launch(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  (void)self;
  tt_range range;
  tt_error err;
  range_call c;
  c.n = c.nview = 0;
  if (n != 5 || !PyTuple_Check(arg[4])) return PyErr_SetString(PyExc_TypeError, "opencl_launch: five arguments"), NULL;
  tt_entry *r = core_routine(arg[0]);
  if (!r || !read_range(arg[1], arg[2], arg[3], &range)) return NULL;
  Py_ssize_t count = PyTuple_Size(arg[4]);
  if (count > MOST_RANGE_ARGS) return PyErr_SetString(PyExc_TypeError, "a kernel takes at most 256 arguments"), NULL;
  bool ok = true;
  for (; ok && c.n < count; c.n += ok) ok = add_range_argument(&c, PyTuple_GetItem(arg[4], c.n));
  core_line();
  core_has_kernels = true;
  tt_code code = ok ? tt_entry_range(r, &range, c.arg, c.n, &err) : TT_OK;
  while (c.nview) PyBuffer_Release(&c.view[--c.nview]);
  if (!ok || !core_show_printed()) return NULL;
  if (code == TT_EINTERRUPT && PyErr_CheckSignals() < 0) return NULL;
  if (code != TT_OK) return core_raise(code, &err);
  Py_RETURN_NONE;
}

/* opencl_ask(device, platform, what): the bytes of the answer, or None */
static PyObject *opencl_ask(PyObject *self, PyObject *args) {
  char text[8192];
  int device, platform;
  unsigned what;
  size_t need;
  (void)self;
  if (!PyArg_ParseTuple(args, "ipI", &device, &platform, &what)) return NULL;
  if (tt_opencl_ask(device, platform != 0, what, text, sizeof text, &need, NULL) != TT_OK || need > sizeof text)
    Py_RETURN_NONE;
  return PyBytes_FromStringAndSize(text, (Py_ssize_t)need);
}

PyMethodDef core_opencl_functions[] = {
    {"opencl_program", opencl_program, METH_VARARGS, NULL},
    {"opencl_asked", opencl_asked, METH_O, NULL},
    {"opencl_ask", opencl_ask, METH_VARARGS, NULL},
    {"opencl_local_memory", opencl_local_memory, METH_NOARGS, NULL},
    {"opencl_launch", (PyCFunction)(void (*)(void))opencl_launch, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
