/*
** Subclasses of `tutti.ndarray`: what is made of an instance is one too, and is told of it by __array_finalize__. One
** class, and those under it, only marks arrays (`plain=True`, networks' parameters): what is made of them is of no
** class, and nobody is slower for it.
*/
#include "core.h"

#include <string.h>

/* An object of a class that the array type is the base of, over the same array; its __array_finalize__ has not run. */
static core_array *born(PyObject *array, PyTypeObject *type) {
  if (!core_need(array)) return NULL;
  core_array *self = (core_array *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
  if (!self) return NULL;
  self->array = tt_retain(core_handle(array));
  self->number.dtype = TT_DTYPE_NONE;
  PyObject *base = ((core_array *)array)->base;
  self->base = base ? Py_NewRef(base) : NULL;
  return self;
}

PyObject *core_as_type(PyObject *array, PyTypeObject *type, PyObject *from) {
  PyObject *self = (PyObject *)born(array, type);
  if (!self || type == core_array_type) return self;
  PyObject *finalize = PyObject_GetAttrString(self, "__array_finalize__"), *done = NULL;
  if (finalize && finalize != Py_None) done = PyObject_CallFunctionObjArgs(finalize, from, NULL);
  if (finalize == Py_None) done = Py_NewRef(Py_None);
  Py_XDECREF(finalize);
  if (!done) Py_CLEAR(self);
  Py_XDECREF(done);
  return self;
}

static PyTypeObject *plain_class; /* held */

static bool is_plain(PyTypeObject *t) { return plain_class && PyType_IsSubtype(t, plain_class); }

bool core_is_subclassed(PyObject *o) {
  return core_subclassed && o && !core_is_tensor(o) && Py_TYPE(o) != core_array_type && core_is_array(o) &&
         !is_plain(Py_TYPE(o));
}

PyObject *core_like(PyObject *made, PyObject *from) {
  if (core_is_tensor(from)) return core_as_tensor(made);
  if (!made || !core_is_subclassed(from) || Py_TYPE(made) != core_array_type || core_is_number(made)) return made;
  PyObject *out = core_as_type(made, Py_TYPE(from), from);
  Py_DECREF(made);
  return out;
}

/* Is a method of this name another one than the array type's? */
static bool overrides(PyObject *o, const char *name) {
  PyObject *own = PyObject_GetAttrString((PyObject *)Py_TYPE(o), name),
           *ours = PyObject_GetAttrString((PyObject *)core_array_type, name);
  bool other = own && ours && own != ours;
  if (!own || !ours) PyErr_Clear();
  Py_XDECREF(own);
  Py_XDECREF(ours);
  return other;
}

static double priority_of(PyObject *o) {
  PyObject *value = PyObject_GetAttrString(o, "__array_priority__");
  double priority = value ? PyFloat_AsDouble(value) : 0;
  Py_XDECREF(value);
  if (PyErr_Occurred()) PyErr_Clear();
  return priority;
}

PyObject *core_like_operands(PyObject *made, PyObject *const *arg, Py_ssize_t n) {
  if (core_tensor_among(arg, n)) return core_as_tensor(made);
  if (!core_subclassed || !made || !core_is_array(made) || Py_TYPE(made) != core_array_type) return made;
  PyObject *best = NULL;
  double most = 0;
  for (Py_ssize_t k = 0; k < n; k++) {
    if (!core_is_subclassed(arg[k])) continue;
    double priority = priority_of(arg[k]);
    if (!best || priority > most) best = arg[k], most = priority; /* of equals the first, also before its subclass */
  }
  if (!best) return made;
  if (!overrides(best, "__array_wrap__")) return core_like(made, best);
  PyObject *out = PyObject_CallMethod(best, "__array_wrap__", "OOO", made, Py_None, Py_False);
  if (!out && PyErr_ExceptionMatches(PyExc_TypeError)) { /* one that knows no third argument */
    PyErr_Clear();
    out = PyObject_CallMethod(best, "__array_wrap__", "OO", made, Py_None);
  }
  Py_DECREF(made);
  return out;
}

bool core_overridden(tt_op op, PyObject *const *arg, Py_ssize_t n, PyObject *names, PyObject **result) {
  PyObject *asked = NULL;
  Py_ssize_t nkw = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t k = 0; k < n + nkw && !asked; k++)
    if (core_is_subclassed(arg[k]) && overrides(arg[k], "__array_ufunc__")) asked = arg[k];
  if (!asked) return false;
  *result = NULL;
  PyObject *module = PyImport_ImportModule("tutti._core"), *ops = module ? PyObject_GetAttrString(module, "ops") : NULL;
  PyObject *ufunc = ops ? PyDict_GetItemString(ops, core_op_name(op)) : NULL;
  PyObject *method = PyObject_GetAttrString(asked, "__array_ufunc__");
  if (method == Py_None) { /* the class wants no part in ufuncs */
    *result = Py_NewRef(Py_NotImplemented);
  } else if (ufunc && method) {
    PyObject *all = PyTuple_New(n + 2), *kw = PyDict_New();
    bool ok = all && kw;
    if (all) {
      PyTuple_SetItem(all, 0, Py_NewRef(ufunc));
      PyTuple_SetItem(all, 1, PyUnicode_FromString("__call__"));
      for (Py_ssize_t k = 0; k < n; k++) PyTuple_SetItem(all, k + 2, Py_NewRef(arg[k]));
    }
    for (Py_ssize_t k = 0; ok && k < nkw; k++) ok = PyDict_SetItem(kw, PyTuple_GetItem(names, k), arg[n + k]) == 0;
    if (ok) *result = PyObject_Call(method, all, kw);
    Py_XDECREF(all);
    Py_XDECREF(kw);
  }
  Py_XDECREF(module);
  Py_XDECREF(ops);
  Py_XDECREF(method);
  return true;
}

/* ---- methods */

static PyObject *meth_finalize(PyObject *self, PyObject *from) {
  (void)self, (void)from;
  Py_RETURN_NONE;
}

static PyObject *meth_wrap(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  if (n < 1 || n > 3 || !core_is_array(arg[0]))
    return PyErr_SetString(PyExc_TypeError, "can only be called with ndarray object"), NULL;
  return Py_TYPE(arg[0]) == Py_TYPE(self) ? Py_NewRef(arg[0]) : core_as_type(arg[0], Py_TYPE(self), self);
}

static PyObject *meth_init_subclass(PyObject *cls, PyObject *args, PyObject *kw) {
  PyObject *plain = kw ? PyDict_GetItemString(kw, "plain") : NULL;
  if (PyTuple_Size(args) > 0 || (kw && PyDict_Size(kw) > (plain ? 1 : 0)))
    return PyErr_SetString(PyExc_TypeError, "__init_subclass__() takes no keyword arguments"), NULL;
  if (plain && plain_class) return PyErr_SetString(PyExc_TypeError, "there is one plain class of arrays"), NULL;
  if (plain) plain_class = (PyTypeObject *)Py_NewRef(cls);
  core_derived = true;
  bool tensors = core_tensor_class && PyType_IsSubtype((PyTypeObject *)cls, core_tensor_class);
  if (!is_plain((PyTypeObject *)cls) && !tensors) core_subclassed = true;
  Py_RETURN_NONE;
}

static bool is_array_class(PyObject *o) {
  return o && PyType_Check(o) && PyType_IsSubtype((PyTypeObject *)o, core_array_type);
}

/* view(dtype, type): a class may stand in the place of the type of elements. */
static PyObject *meth_view(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[2];
  if (!core_bind("view", "dtype,type", 0, arg, n, names, a)) return NULL;
  PyObject *cls = a[1];
  if (is_array_class(a[0])) {
    if (cls) return PyErr_SetString(PyExc_ValueError, "Cannot specify output type twice."), NULL;
    cls = a[0];
    a[0] = NULL;
  }
  if (cls && cls != Py_None && !is_array_class(cls))
    return PyErr_SetString(PyExc_ValueError, "Type must be a sub-type of ndarray type"), NULL;
  PyObject *given[1] = {a[0] ? a[0] : Py_None};
  PyObject *made = core_call(core_row("ndarray.view"), self, given, given[0] != Py_None, NULL);
  if (!made || !cls || cls == Py_None) return made;
  PyObject *out = core_as_type(made, (PyTypeObject *)cls, self);
  Py_DECREF(made);
  return out;
}

PyMethodDef core_subclass_methods[] = {
    {"view", CORE_FAST(meth_view), METH_FASTCALL | METH_KEYWORDS,
     "view($self, /, dtype=None, type=None)\n--\n\nThe same memory as another type of elements, or another class of "
     "arrays."},
    {"__array_finalize__", meth_finalize, METH_O, NULL},
    {"__array_wrap__", CORE_FAST(meth_wrap), METH_FASTCALL, NULL},
    {"__init_subclass__", (PyCFunction)(void (*)(void))meth_init_subclass, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     NULL},
    {NULL, NULL, 0, NULL},
};

/* _rebuild_as(class, array): of pickles. */
PyObject *core_py_rebuild_as(PyObject *self, PyObject *args) {
  PyObject *cls, *array;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO", &cls, &array)) return NULL;
  if (!is_array_class(cls) || !core_is_array(array))
    return PyErr_SetString(PyExc_TypeError, "this pickle is not one of an array"), NULL;
  return core_as_type(array, (PyTypeObject *)cls, Py_None);
}

PyObject *core_py_become(PyObject *self, PyObject *args) {
  PyObject *array, *other;
  (void)self;
  if (!PyArg_ParseTuple(args, "OO", &array, &other)) return NULL;
  if (!core_is_array(array) || !core_is_array(other) || core_is_number(array) || !core_need(other))
    return PyErr_SetString(PyExc_TypeError, "two arrays are wanted"), NULL;
  tt_array *before = ((core_array *)array)->array;
  ((core_array *)array)->array = tt_retain(core_handle(other));
  tt_release(&before);
  Py_RETURN_NONE;
}
