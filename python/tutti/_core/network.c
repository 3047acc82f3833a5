/*
** The type `tutti._core.Module`, of which `tutti.nn.Module` is made: what every call of a layer passes, in C.
** Parameters, buffers and modules lie in dicts of the instance's own dict; the rest of a module is Python.
*/
#include "core.h"

enum { MOST_ARGUMENTS = 32 };

/* Names that are looked up in each call, interned. */
static struct { PyObject *forward, *hook_options, *parameters, *place[3]; } names;

/* What `dict` has under two names, borrowed: NULL, with an exception or without one. */
static PyObject *item_of(PyObject *dict, PyObject *place, PyObject *name) {
  PyObject *kept = PyDict_GetItemWithError(dict, place);
  return kept && PyDict_Check(kept) ? PyDict_GetItemWithError(kept, name) : NULL;
}

/* Are there hooks, of this module or of all? A module without dicts goes that way too, which says what is wrong. */
static int is_watched(PyObject *self) {
  PyObject *all = core_hook_get(CORE_HOOK_module_hooks), *dict = all ? PyObject_GenericGetDict(self, NULL) : NULL;
  PyObject *own = dict ? PyDict_GetItemWithError(dict, names.hook_options) : NULL;
  int watched = !own || PyDict_Size(own) != 0 || PySequence_Size(all) != 0;
  Py_XDECREF(dict);
  return PyErr_Occurred() ? -1 : watched;
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *kw) {
  int watched = is_watched(self);
  if (watched < 0) return NULL;
  if (watched) {
    PyObject *around = core_hook_get(CORE_HOOK_module_call), *empty = kw ? Py_NewRef(kw) : PyDict_New();
    PyObject *out = around && empty ? PyObject_CallFunctionObjArgs(around, self, args, empty, NULL) : NULL;
    Py_XDECREF(empty);
    return out;
  }
  PyObject *forward = PyObject_GetAttr(self, names.forward);
  PyObject *out = forward ? PyObject_Call(forward, args, kw) : NULL;
  Py_XDECREF(forward);
  return out;
}

/* What is no attribute: a parameter, a buffer or a module. */
static PyObject *missing(PyObject *self, PyObject *name) {
  PyObject *dict = PyObject_GenericGetDict(self, NULL), *found = NULL;
  for (int k = 0; dict && !found && !PyErr_Occurred() && k < 3; k++) found = item_of(dict, names.place[k], name);
  Py_XINCREF(found);
  Py_XDECREF(dict);
  if (found || PyErr_Occurred()) return found;
  PyObject *type = PyType_GetName(Py_TYPE(self));
  if (type) PyErr_Format(PyExc_AttributeError, "'%U' object has no attribute '%U'", type, name);
  Py_XDECREF(type);
  return NULL;
}

/* An attribute, looked for where layers keep what they pass on: a new reference. */
static PyObject *passed(PyObject *self, PyObject *dict, PyObject *name) {
  PyObject *value = PyDict_GetItemWithError(dict, name);
  if (!value && !PyErr_Occurred()) value = item_of(dict, names.parameters, name);
  if (value || PyErr_Occurred()) return Py_XNewRef(value);
  return PyObject_GetAttr(self, name);
}

static PyObject *call_function(PyObject *function, PyObject *const *arg, Py_ssize_t n, PyObject *words) {
  int row = core_row_of(function);
  if (row >= 0) return core_call(row, NULL, arg, n, words);
  PyObject *args = PyTuple_New(n), *kw = PyDict_New(), *out = NULL;
  for (Py_ssize_t k = 0; args && k < n; k++) PyTuple_SetItem(args, k, Py_NewRef(arg[k]));
  bool ok = args && kw;
  for (Py_ssize_t k = 0; ok && k < PyTuple_Size(words); k++)
    ok = PyDict_SetItem(kw, PyTuple_GetItem(words, k), arg[n + k]) == 0;
  if (ok) out = PyObject_Call(function, args, kw);
  Py_XDECREF(args);
  Py_XDECREF(kw);
  return out;
}

/* call_layer(module, function, names, *inputs): the function of the inputs, with the module's attributes by name. */
static PyObject *py_call_layer(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  (void)self;
  PyObject *value[MOST_ARGUMENTS], *out = NULL;
  if (n < 3 || !PyTuple_Check(arg[2]) || n - 3 + PyTuple_Size(arg[2]) > MOST_ARGUMENTS)
    return PyErr_SetString(PyExc_TypeError, "expected a module, a function, a tuple of names, and inputs"), NULL;
  Py_ssize_t inputs = n - 3, all = inputs + PyTuple_Size(arg[2]), have = inputs;
  PyObject *dict = PyObject_GenericGetDict(arg[0], NULL);
  for (Py_ssize_t k = 0; k < inputs; k++) value[k] = arg[3 + k];
  while (dict && have < all && (value[have] = passed(arg[0], dict, PyTuple_GetItem(arg[2], have - inputs)))) have++;
  if (dict && have == all) out = call_function(arg[1], value, inputs, arg[2]);
  for (Py_ssize_t k = inputs; k < have; k++) Py_DECREF(value[k]);
  Py_XDECREF(dict);
  return out;
}

static PyMethodDef functions[] = {
    {"call_layer", (PyCFunction)(void (*)(void))py_call_layer, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

int core_network_init(PyObject *module) {
  static PyMethodDef methods[] = {
      {"__getattr__", missing, METH_O, "A parameter, a buffer or a module by its name."},
      {NULL, NULL, 0, NULL},
  };
  static PyType_Slot slots[] = {
      {Py_tp_doc, "A call of forward, with hooks around it where there are some."},
      {Py_tp_call, call},
      {Py_tp_methods, methods},
      {0, NULL},
  };
  static PyType_Spec spec = {"tutti._core.Module", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                             slots};
  names.forward = PyUnicode_InternFromString("forward");
  names.hook_options = PyUnicode_InternFromString("_hook_options");
  names.place[0] = names.parameters = PyUnicode_InternFromString("_parameters");
  names.place[1] = PyUnicode_InternFromString("_buffers");
  names.place[2] = PyUnicode_InternFromString("_modules");
  PyObject *type = PyType_FromSpec(&spec);
  bool ok = names.forward && names.hook_options && names.parameters && names.place[1] && names.place[2] && type;
  if (ok) ok = PyModule_AddObjectRef(module, "Module", type) == 0 && PyModule_AddFunctions(module, functions) == 0;
  Py_XDECREF(type);
  return ok ? 0 : -1;
}
