/*
** NumPy's ufuncs and scalars among our operands. `np.float32(2) * a` comes by way of NumPy, which asks what an array of
** ours makes of np.multiply: each such expression would go through Python, and each scalar through the buffer protocol.
** Both are told by their addresses here, once looked at. NumPy is never imported.
*/
#include "core.h"

#include <string.h>

enum { SLOTS = 64 };

static size_t slot_of(const PyObject *o) { return ((uintptr_t)o >> 4) % SLOTS; }

/* ---- ufuncs */

/* Each is held, so that its address stays its own. */
static struct {
  PyObject *ufunc;
  tt_op op;
} seen_ufunc[SLOTS];

static tt_op look_at_ufunc(PyObject *ufunc) {
  PyObject *name = PyObject_GetAttrString(ufunc, "__name__");
  const char *s = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  tt_op op = s ? tt_op_named(s) : TT_OP_COUNT;
  Py_XDECREF(name);
  PyErr_Clear();
  return op;
}

/* TT_OP_COUNT when it is none of ours. */
static tt_op op_of(PyObject *ufunc) {
  size_t at = slot_of(ufunc);
  if (seen_ufunc[at].ufunc == ufunc) return seen_ufunc[at].op;
  tt_op op = look_at_ufunc(ufunc); /* may come here again */
  PyObject *old = seen_ufunc[at].ufunc;
  seen_ufunc[at].op = op;
  seen_ufunc[at].ufunc = Py_NewRef(ufunc);
  Py_XDECREF(old);
  return op;
}

/* With keywords, another method than a call, or a function that is no op. */
static PyObject *by_hook(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *hook = core_hook_get(CORE_HOOK_array_ufunc), *out = NULL;
  PyObject *all = PyTuple_New(n + 1), *kw = names ? PyDict_New() : NULL;
  bool ok = hook && all && (kw || !names);
  if (all) PyTuple_SetItem(all, 0, Py_NewRef(self));
  for (Py_ssize_t k = 0; all && k < n; k++) PyTuple_SetItem(all, k + 1, Py_NewRef(arg[k]));
  for (Py_ssize_t k = 0; ok && names && k < PyTuple_Size(names); k++)
    ok = PyDict_SetItem(kw, PyTuple_GetItem(names, k), arg[n + k]) == 0;
  if (ok) out = PyObject_Call(hook, all, kw);
  Py_XDECREF(all);
  Py_XDECREF(kw);
  return out;
}

PyObject *core_meth_ufunc(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!names && n > 2 && PyUnicode_Check(arg[1]) && PyUnicode_CompareWithASCIIString(arg[1], "__call__") == 0) {
    tt_op op = op_of(arg[0]);
    for (Py_ssize_t k = 2; k < n; k++)
      if (core_rules_of(arg[k]) == CORE_THEIRS) op = TT_OP_COUNT;
    if (op != TT_OP_COUNT) return core_apply(op, arg + 2, n - 2, NULL);
  }
  return by_hook(self, arg, n, names);
}

/* ---- objects of other libraries */

core_rules core_rules_of(PyObject *o) {
  static struct {
    PyTypeObject *type;
    core_rules rules;
  } seen[SLOTS];
  PyTypeObject *t = Py_TYPE(o);
  size_t at = slot_of((PyObject *)t);
  if (core_is_array(o) || core_is_scalar(o) || PyList_Check(o) || PyTuple_Check(o)) return CORE_OURS;
  if (seen[at].type == t) return seen[at].rules;
  PyObject *hook = core_hook_get(CORE_HOOK_rules);
  PyObject *said = hook ? PyObject_CallFunctionObjArgs(hook, (PyObject *)t, NULL) : NULL;
  long rules = said ? PyLong_AsLong(said) : CORE_OURS;
  Py_XDECREF(said);
  PyErr_Clear();
  PyObject *old = (PyObject *)seen[at].type;
  Py_INCREF((PyObject *)t);
  seen[at].type = t;
  seen[at].rules = rules == CORE_THEIRS || rules == CORE_DEFER ? (core_rules)rules : CORE_OURS;
  Py_XDECREF(old);
  return seen[at].rules;
}

/* ---- scalars */

/* The objects of a type of NumPy's have their number at `offset`; TT_DTYPE_NONE: they are something else. */
typedef struct scalar_type {
  PyTypeObject *type;
  tt_dtype dtype;
  Py_ssize_t offset;
} scalar_type;

static bool is_numpys(PyTypeObject *t) {
  PyObject *module = PyObject_GetAttrString((PyObject *)t, "__module__");
  bool yes = module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "numpy") == 0;
  Py_XDECREF(module);
  PyErr_Clear();
  return yes;
}

/* A scalar is a buffer without axes inside the object itself. */
static scalar_type look_at_scalar(PyObject *o) {
  Py_buffer v;
  scalar_type s = {Py_TYPE(o), TT_DTYPE_NONE, 0};
  PyObject *size = PyObject_GetAttrString((PyObject *)s.type, "__basicsize__");
  Py_ssize_t room = size ? PyLong_AsSsize_t(size) : 0;
  Py_XDECREF(size);
  if (PyObject_GetBuffer(o, &v, PyBUF_FULL_RO) == 0) {
    bool swap;
    s.offset = (char *)v.buf - (char *)o;
    if (v.ndim == 0 && v.readonly && s.offset > 0 && s.offset + v.itemsize <= room)
      s.dtype = core_dtype_from_format(v.format, v.itemsize, &swap);
    PyBuffer_Release(&v);
  }
  PyErr_Clear();
  return s;
}

static const scalar_type *scalar_type_of(PyObject *o) {
  static scalar_type seen[SLOTS];
  scalar_type *s = &seen[slot_of((PyObject *)Py_TYPE(o))];
  if (s->type == Py_TYPE(o)) return s;
  if (!PyObject_CheckBuffer(o) || !is_numpys(Py_TYPE(o))) return NULL;
  scalar_type looked = look_at_scalar(o);
  PyObject *old = (PyObject *)s->type;
  Py_INCREF((PyObject *)looked.type);
  *s = looked;
  Py_XDECREF(old);
  return s;
}

bool core_value_numpy(PyObject *o, tt_number *out) {
  const scalar_type *s = scalar_type_of(o);
  if (!s || s->dtype == TT_DTYPE_NONE) return false;
  *out = (tt_number){{0, 0}, s->dtype};
  memcpy(out->bits, (const char *)o + s->offset, (size_t)core_dtype_bytes(s->dtype));
  return true;
}

bool core_value_beside(PyObject *o, tt_dtype dtype, tt_value *out) {
  const scalar_type *s = scalar_type_of(o);
  if (!s || s->dtype != dtype) return false;
  const void *at = (const char *)o + s->offset; /* aligned, as its type is */
  switch (dtype) {
    case TT_F32:
      return *out = tt_v_float((double)*(const float *)at), true;
    case TT_F64:
      return *out = tt_v_float(*(const double *)at), true;
    case TT_I32:
      return *out = tt_v_int(*(const int32_t *)at), true;
    case TT_I64:
      return *out = tt_v_int(*(const int64_t *)at), true;
    default:
      return false;
  }
}
