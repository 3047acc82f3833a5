/*
** The type `tutti.ndarray`: birth, death, and the table of its slots. What the slots do is
** in number.c, index.c, attribute.c, method.c and exchange/export.c.
*/
#include "core.h"

#include <stddef.h>
#include <structmember.h>

PyTypeObject *core_array_type, *core_tensor_class;
bool core_derived, core_subclassed;

/* Numbers and views come and go: the memory of some that have gone is kept. */
enum { MOST_SPARE = 64 };
static core_array *spare[MOST_SPARE];
static int nspare;

static core_array *object_new(void) {
  core_array *self = nspare > 0 ? spare[--nspare] : PyObject_Malloc(sizeof *self);
  if (!self) return (void)PyErr_NoMemory(), NULL;
  PyObject_Init((PyObject *)self, core_array_type);
  self->array = NULL;
  self->base = self->weak = self->exports = NULL;
  self->is_number = false;
  return self;
}

PyObject *core_wrap(tt_array *a, PyObject *base) {
  if (!a) return NULL;
  core_array *self = core_warnings() ? object_new() : NULL;
  if (!self) {
    tt_release(&a);
    return NULL;
  }
  self->array = a;
  self->number.dtype = TT_DTYPE_NONE;
  if (base) {
    PyObject *root = ((core_array *)base)->base;
    self->base = Py_NewRef(root ? root : base);
  }
  return (PyObject *)self;
}

PyObject *core_wrap_view(tt_array *a, PyObject *self) {
  bool view = a && tt_array_shares(core_handle(self), a);
  if (!view || !core_is_number(self)) return core_like(core_wrap(a, view ? self : NULL), self);
  tt_array *copy;
  tt_error err;
  tt_code c = tt_copy(a, &copy, &err);
  tt_release(&a);
  return core_done(c, copy, NULL, &err);
}

core_array *core_number_new(void) {
  core_array *self = object_new();
  if (self) self->is_number = true;
  return self;
}

void core_number_drop(core_array *number) {
  number->number.dtype = TT_DTYPE_NONE;
  Py_DECREF(number);
}

PyObject *core_as_number(PyObject *made) {
  if (!made) return NULL;
  core_array *self = (core_array *)made;
  self->is_number = true;
  if (tt_number_get(self->array, 0, NULL, &self->number)) {
    tt_release(&self->array); /* its bits are known: most ask for no array any more */
  } else {
    self->number.dtype = TT_DTYPE_NONE;
    tt_array_set_readonly(self->array, true);
  }
  return made;
}

bool core_make_array(PyObject *o) {
  core_array *self = (core_array *)o;
  tt_error err;
  tt_code c = tt_number_array(&self->number, &self->array, &err);
  return c == TT_OK || (core_raise(c, &err), false);
}

bool core_number_value(PyObject *o, tt_value *out) {
  const tt_number *x = core_known(o);
  tt_error err;
  if (x) return core_read_number(x, out), true;
  tt_code c = tt_item(core_handle(o), out, &err);
  return c == TT_OK || (core_raise(c, &err), false);
}

PyObject *core_done(tt_code code, tt_array *a, PyObject *base, const tt_error *err) {
  return code == TT_OK ? core_wrap(a, base) : core_raise(code, err);
}

static void array_dealloc(PyObject *o) {
  core_array *self = (core_array *)o;
  PyTypeObject *type = Py_TYPE(o);
  if (self->is_number && !self->array && !self->weak && nspare < MOST_SPARE) { /* most numbers: nothing to let go of */
    spare[nspare++] = self;
    Py_DECREF(type);
    return;
  }
  if (self->weak) PyObject_ClearWeakRefs(o);
  core_forget_refusal(o);
  Py_CLEAR(self->exports);
  tt_release(&self->array);
  Py_CLEAR(self->base);
  bool common = type == core_array_type || type == core_tensor_class;
  if (common && nspare < MOST_SPARE) {
    spare[nspare++] = self;
  } else if (common) {
    PyObject_Free(o);
  } else {
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
  }
  Py_DECREF(type);
  core_drain();
}

static PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  static char *names[] = {"shape", "dtype", "order", NULL};
  PyObject *shape, *dtype = NULL, *word = NULL;
  char order = 'C';
  int64_t len[TT_MAX_RANK];
  int rank;
  tt_dtype want = TT_F64;
  if (!PyArg_ParseTupleAndKeywords(args, kw, "O|O$O:ndarray", names, &shape, &dtype, &word)) return NULL;
  if (dtype && dtype != Py_None && !core_dtype_from(dtype, &want)) return NULL;
  if (!core_shape(shape, len, &rank) || !core_order(word, &order)) return NULL;
  for (int k = 0; order == 'F' && k < rank / 2; k++) {
    int64_t n = len[k];
    len[k] = len[rank - 1 - k];
    len[rank - 1 - k] = n;
  }
  tt_array *a, *laid;
  tt_error err;
  tt_code c = tt_empty(want, rank, len, &a, &err);
  if (c == TT_OK && order == 'F') {
    c = tt_transpose(a, NULL, &laid, &err);
    tt_release(&a);
    a = laid;
  }
  PyObject *made = core_done(c, a, NULL, &err);
  if (!made || type == core_array_type) return made;
  PyObject *out = core_as_type(made, type, Py_None);
  Py_DECREF(made);
  return out;
}

/* Python's hash of the value, as NumPy's scalars have it: equal numbers have one hash. A NaN equals nothing. */
static Py_hash_t array_hash(PyObject *self) {
  tt_value v;
  if (!core_is_number(self)) return PyObject_HashNotImplemented(self);
  if (!core_number_value(self, &v)) return -1;
  bool is_nan = (v.tag == TT_V_FLOAT && v.as.f != v.as.f) ||
                (v.tag == TT_V_COMPLEX && (v.as.z.re != v.as.z.re || v.as.z.im != v.as.z.im));
  if (is_nan) return (Py_hash_t)((uintptr_t)self >> 4);
  PyObject *value = core_value_object(&v);
  Py_hash_t hash = value ? PyObject_Hash(value) : -1;
  Py_XDECREF(value);
  return hash;
}

static PyObject *through_hook(core_hook hook, PyObject *self) {
  PyObject *f = core_hook_get(hook);
  return f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;
}
static PyObject *array_repr(PyObject *self) { return through_hook(CORE_HOOK_repr, self); }

/* Numbers that are Python's say what these say; narrower floats have fewer digits. */
static PyObject *array_str(PyObject *self) {
  const tt_number *x = core_known(self);
  tt_value v;
  bool narrow = !x || x->dtype == TT_F16 || x->dtype == TT_BF16 || x->dtype == TT_F32 || x->dtype == TT_C64;
  if (narrow) return through_hook(CORE_HOOK_str, self);
  PyObject *value = core_number_value(self, &v) ? core_value_object(&v) : NULL,
           *text = value ? PyObject_Str(value) : NULL;
  Py_XDECREF(value);
  return text;
}

/* Made here and not by a class statement: that gives all instances the garbage collector's header. */
bool core_tensor_begin(void) {
  static PyType_Slot slots[] = {{Py_tp_dealloc, array_dealloc}, {0, NULL}};
  static PyType_Spec spec = {"tutti.compat.torch.Tensor", sizeof(core_array), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  core_tensor_class = (PyTypeObject *)PyType_FromSpecWithBases(&spec, (PyObject *)core_array_type);
  core_derived = true;
  return core_tensor_class != NULL;
}

static PyMemberDef array_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(core_array, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

int core_array_init(PyObject *module) {
  static PyType_Slot slot[CORE_MAX_SLOTS] = {
      {Py_tp_doc,
       "ndarray(shape, dtype='float64')\n--\n\n"
       "An array of NumPy's semantics, computed when somebody looks. Make one with tutti.array, zeros, arange, ..."},
      {Py_tp_new, array_new},
      {Py_tp_dealloc, array_dealloc},
      {Py_tp_repr, array_repr},
      {Py_tp_str, array_str},
      {Py_tp_hash, array_hash},
      {Py_tp_richcompare, core_richcompare},
      {Py_tp_members, array_members},
      {Py_tp_getset, core_attributes},
  };
  int n = 9;
  slot[0] = core_document_slot("ndarray");
  PyMethodDef *methods = core_methods();
  if (!methods) return -1;
  slot[n++] = (PyType_Slot){Py_tp_methods, methods};
  n += core_number_slots(slot + n);
  n += core_index_slots(slot + n);
  n += core_export_slots(slot + n);
  slot[n] = (PyType_Slot){0, NULL};
  static PyType_Spec spec = {"tutti.ndarray", sizeof(core_array), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, NULL};
  spec.slots = slot;
  core_array_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
  if (!core_array_type || PyModule_AddType(module, core_array_type) < 0) return -1;
  PyObject *priority = PyFloat_FromDouble(1000.0);
  int failed = priority ? PyObject_SetAttrString((PyObject *)core_array_type, "__array_priority__", priority) : -1;
  Py_XDECREF(priority);
  return failed;
}
