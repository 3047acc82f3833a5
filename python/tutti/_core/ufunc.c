/*
** `tutti.ufunc`: the elementwise functions, an object for each, called as quickly as a function, with NumPy's
** attributes and methods. A method is a row of the function table that takes the ufunc's name first.
*/
#include "core.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

/* In the headers of the stable ABI from 3.12 on, in the interpreter before. */
#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#endif
#define NO_OFFSET(n) ((Py_ssize_t)((n) & ~((size_t)1 << (8 * sizeof(size_t) - 1))))

typedef PyObject *(*call_fn)(PyObject *self, PyObject *const *arg, size_t n, PyObject *names);

typedef struct ufunc {
  PyObject_HEAD call_fn call;
  const tt_ufunc_info *info;
  PyObject *name; /* interned */
  int row;        /* of the function table, -1 for an op */
} ufunc;

static PyTypeObject *ufunc_type;
static int row_call, row_reduce, row_accumulate, row_reduceat, row_outer, row_at;

/* ---- calls */

static Py_ssize_t place_of(PyObject *names, const char *word) {
  for (Py_ssize_t k = 0; names && k < PyTuple_Size(names); k++)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, k), word) == 0) return k;
  return -1;
}

/* The names with `signature` in the place of NumPy's short name of it, which is among them. */
static PyObject *without_sig(PyObject *names) {
  Py_ssize_t at = place_of(names, "sig"), n = PyTuple_Size(names);
  if (place_of(names, "signature") >= 0)
    return PyErr_SetString(PyExc_TypeError, "cannot specify both 'sig' and 'signature'"), NULL;
  PyObject *full = PyTuple_New(n);
  for (Py_ssize_t k = 0; full && k < n; k++)
    PyTuple_SetItem(full, k, k == at ? PyUnicode_FromString("signature") : Py_NewRef(PyTuple_GetItem(names, k)));
  return full;
}

/* A function's row knows no keywords but its own; "ufunc.call" knows all of NumPy's, and takes `out` as one. */
static PyObject *call_function(PyObject *self, PyObject *const *arg, size_t nargs, PyObject *names) {
  const ufunc *u = (ufunc *)self;
  Py_ssize_t n = NO_OFFSET(nargs);
  bool plain = n == u->info->nin && (!names || PyTuple_Size(names) == 0);
  if (plain) return core_call(u->row, NULL, arg, n, names);
  if (n < u->info->nin || n > u->info->nin + u->info->nout) {
    return PyErr_Format(PyExc_TypeError, "%U() takes from %d to %d positional arguments but %zd %s given", u->name,
                        u->info->nin, u->info->nin + u->info->nout, n, n == 1 ? "was" : "were");
  }
  if (n == u->info->nin) return core_call(row_call, u->name, arg, n, names);
  PyObject *given = PyTuple_New(u->info->nout), *kw = PyDict_New(), *f = NULL, *inputs = NULL, *result = NULL;
  for (int k = 0; given && k < u->info->nout; k++)
    PyTuple_SetItem(given, k, Py_NewRef(u->info->nin + k < n ? arg[u->info->nin + k] : Py_None));
  bool ok = given && kw && PyDict_SetItemString(kw, "out", given) == 0;
  for (Py_ssize_t k = 0; ok && names && k < PyTuple_Size(names); k++) {
    PyObject *name = PyTuple_GetItem(names, k);
    if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
      PyErr_SetString(PyExc_TypeError, "cannot specify 'out' as both a positional and keyword argument");
      ok = false;
    } else {
      ok = PyDict_SetItem(kw, name, arg[n + k]) == 0;
    }
  }
  inputs = ok ? PyTuple_New(u->info->nin) : NULL;
  for (int k = 0; inputs && k < u->info->nin; k++) PyTuple_SetItem(inputs, k, Py_NewRef(arg[k]));
  f = inputs ? PyObject_GetAttrString(self, "__call__") : NULL;
  if (f) result = PyObject_Call(f, inputs, kw);
  Py_XDECREF(f);
  Py_XDECREF(inputs);
  Py_XDECREF(kw);
  Py_XDECREF(given);
  return result;
}

/* The same where a keyword is spelled `sig`. */
static PyObject *call_spelled(PyObject *self, PyObject *const *arg, size_t n, PyObject *names) {
  PyObject *full = without_sig(names), *result = full ? call_function(self, arg, n, full) : NULL;
  Py_XDECREF(full);
  return result;
}

static PyObject *call_row(PyObject *self, PyObject *const *arg, size_t n, PyObject *names) {
  return place_of(names, "sig") >= 0 ? call_spelled(self, arg, n, names) : call_function(self, arg, n, names);
}

static PyObject *call_op(PyObject *self, PyObject *const *arg, size_t n, PyObject *names) {
  if (place_of(names, "sig") >= 0) return call_spelled(self, arg, n, names);
  if (place_of(names, "signature") >= 0) return call_function(self, arg, n, names);
  return core_apply(((ufunc *)self)->info->op, arg, NO_OFFSET(n), names);
}

/* tp_call, for callers who have a tuple and a dict. */
static PyObject *call_slowly(PyObject *self, PyObject *args, PyObject *kw) {
  Py_ssize_t n = PyTuple_Size(args), nkw = kw ? PyDict_Size(kw) : 0, at = 0, k = 0;
  PyObject **arg = PyMem_Malloc((size_t)(n + nkw + 1) * sizeof *arg), *names = nkw ? PyTuple_New(nkw) : NULL, *name,
           *value, *result = NULL;
  if (!arg || (nkw && !names)) {
    if (!arg) PyErr_NoMemory();
  } else {
    for (; k < n; k++) arg[k] = PyTuple_GetItem(args, k);
    for (k = 0; nkw && PyDict_Next(kw, &at, &name, &value); k++) {
      PyTuple_SetItem(names, k, Py_NewRef(name));
      arg[n + k] = value;
    }
    result = ((ufunc *)self)->call(self, arg, (size_t)n, names);
  }
  Py_XDECREF(names);
  PyMem_Free(arg);
  return result;
}

/* ---- methods */

#define METHOD(which)                                                                                  \
  static PyObject *meth_##which(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) { \
    return core_call(row_##which, ((ufunc *)self)->name, arg, n, names);                               \
  }
METHOD(reduce)
METHOD(accumulate)
METHOD(reduceat)

static PyObject *meth_outer(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (n != 2) return PyErr_SetString(PyExc_TypeError, "exactly two arguments expected"), NULL;
  return core_call(row_outer, ((ufunc *)self)->name, arg, n, names);
}

static PyObject *meth_at(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (n > 0 && (!core_is_array(arg[0]) || core_is_number(arg[0])))
    return PyErr_SetString(PyExc_TypeError, "first operand must be array"), NULL;
  return core_call(row_at, ((ufunc *)self)->name, arg, n, names);
}

/* Pickled by name. */
static PyObject *meth_by_name(PyObject *self, PyObject *unused) {
  (void)unused;
  return Py_NewRef(((ufunc *)self)->name);
}

#define FAST METH_FASTCALL | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"reduce", CORE_FAST(meth_reduce), FAST, NULL},
    {"accumulate", CORE_FAST(meth_accumulate), FAST, NULL},
    {"reduceat", CORE_FAST(meth_reduceat), FAST, NULL},
    {"outer", CORE_FAST(meth_outer), FAST, NULL},
    {"at", CORE_FAST(meth_at), FAST, NULL},
    {"__reduce__", meth_by_name, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* ---- attributes */

static const tt_ufunc_info *info(PyObject *self) { return ((ufunc *)self)->info; }

/* Without its module: "erf" of "special.erf". */
static const char *word_of(PyObject *self) {
  const char *name = info(self)->name, *dot = strrchr(name, '.');
  return dot ? dot + 1 : name;
}
static PyObject *get_name(PyObject *self, void *unused) { return (void)unused, PyUnicode_FromString(word_of(self)); }
static PyObject *get_doc(PyObject *self, void *unused) {
  const char *text = core_document_body(NULL, ((ufunc *)self)->info->name);
  (void)unused;
  return PyUnicode_FromString(text ? text : "");
}
static PyObject *get_nin(PyObject *self, void *unused) { return (void)unused, PyLong_FromLong(info(self)->nin); }
static PyObject *get_nout(PyObject *self, void *unused) { return (void)unused, PyLong_FromLong(info(self)->nout); }
static PyObject *get_nargs(PyObject *self, void *unused) {
  return (void)unused, PyLong_FromLong(info(self)->nin + info(self)->nout);
}
static PyObject *get_identity(PyObject *self, void *unused) {
  return (void)unused, core_value_object(&info(self)->identity);
}
static PyObject *get_signature(PyObject *self, void *unused) {
  (void)unused;
  if (!info(self)->signature) Py_RETURN_NONE;
  return PyUnicode_FromString(info(self)->signature);
}

/* NumPy's letters, 'ff->f', of what it computes in t; an operand that is an exponent has type `exponent`. */
static bool add_types(PyObject *list, const tt_ufunc_info *u, tt_dtype t, tt_dtype result, tt_dtype exponent) {
  char text[16];
  int used = 0;
  for (int k = 0; k < u->nin; k++) text[used++] = core_dtype_char(u->has_exponent && k == 1 ? exponent : t);
  text[used++] = '-', text[used++] = '>';
  for (int k = 0; k < u->nout; k++) text[used++] = core_dtype_char(u->has_exponent && k == 1 ? TT_I32 : result);
  PyObject *one = PyUnicode_FromStringAndSize(text, used);
  bool added = one && PyList_Append(list, one) == 0;
  Py_XDECREF(one);
  return added;
}

static PyObject *get_types(PyObject *self, void *unused) {
  const tt_ufunc_info *u = info(self);
  PyObject *list = PyList_New(0);
  (void)unused;
  static const uint8_t order[] = {TT_BOOL, TT_I8,  TT_U8,   TT_I16, TT_U16, TT_I32, TT_U32, TT_I64,
                                  TT_U64,  TT_F16, TT_BF16, TT_F32, TT_F64, TT_C64, TT_C128};
  for (size_t at = 0; list && at < sizeof order; at++) {
    tt_dtype t = (tt_dtype)order[at];
    tt_dtype result;
    if (!tt_ufunc_loop(u, t, &result)) continue;
    if (!add_types(list, u, t, result, TT_I32)) Py_CLEAR(list);
    if (list && u->has_exponent && u->nin == 2 && !add_types(list, u, t, result, TT_I64)) Py_CLEAR(list);
  }
  return list;
}

static PyObject *get_ntypes(PyObject *self, void *unused) {
  PyObject *list = get_types(self, unused), *n = list ? PyLong_FromSsize_t(PyList_Size(list)) : NULL;
  Py_XDECREF(list);
  return n;
}

/* What inspect.signature() reads. */
static PyObject *get_parameters(PyObject *self, void *unused) {
  PyObject *f = core_hook_get(CORE_HOOK_ufunc_signature);
  (void)unused;
  return f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;
}

static PyGetSetDef attributes[] = {
    {"__name__", get_name, NULL, NULL, NULL},
    {"__qualname__", get_name, NULL, NULL, NULL},
    {"__doc__", get_doc, NULL, NULL, NULL},
    {"__signature__", get_parameters, NULL, NULL, NULL},
    {"nin", get_nin, NULL, "The number of operands", NULL},
    {"nout", get_nout, NULL, "The number of results", NULL},
    {"nargs", get_nargs, NULL, "The number of operands and results", NULL},
    {"identity", get_identity, NULL, "What reduce gives for no elements, or None", NULL},
    {"signature", get_signature, NULL, "The core axes, or None where it works element by element", NULL},
    {"types", get_types, NULL, "The types that it computes in, and what comes out", NULL},
    {"ntypes", get_ntypes, NULL, "The number of types", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *repr(PyObject *self) { return PyUnicode_FromFormat("<ufunc '%s'>", word_of(self)); }

static void dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  Py_XDECREF(((ufunc *)self)->name);
  PyObject_Free(self);
  Py_DECREF(type);
}

/* ---- the objects */

static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ufunc, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_call, call_slowly},
    {Py_tp_repr, repr},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {0, NULL},
};

static PyType_Spec spec = {
    "tutti.ufunc", sizeof(ufunc), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    slots};

static bool add(const tt_ufunc_info *info, PyObject *ops, PyObject *functions) {
  ufunc *u = (ufunc *)PyType_GenericAlloc(ufunc_type, 0);
  if (!u) return false;
  bool is_op = info->op != TT_OP_COUNT;
  u->info = info;
  u->row = is_op ? -1 : core_row(info->name);
  u->call = is_op ? call_op : call_row;
  u->name = PyUnicode_InternFromString(info->name);
  bool ok = u->name && PyDict_SetItem(is_op ? ops : functions, u->name, (PyObject *)u) == 0;
  Py_DECREF(u);
  return ok;
}

/* Puts ufuncs in the place of the functions of these names. */
int core_ufunc_init(PyObject *module, PyObject *ops) {
  PyObject *functions = PyObject_GetAttrString(module, "functions");
  core_document_all("ufunc", methods);
  ufunc_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
  row_call = core_row("ufunc.call");
  row_reduce = core_row("ufunc.reduce");
  row_accumulate = core_row("ufunc.accumulate");
  row_reduceat = core_row("ufunc.reduceat");
  row_outer = core_row("ufunc.outer");
  row_at = core_row("ufunc.at");
  bool ok = functions && ufunc_type && PyModule_AddType(module, ufunc_type) == 0;
  const tt_ufunc_info *info;
  for (int k = 0; ok && (info = tt_ufunc(k)); k++) ok = add(info, ops, functions);
  Py_XDECREF(functions);
  return ok ? 0 : -1;
}
