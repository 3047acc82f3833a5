/*
** dtype objects: one for each row of dtype.def, equal to their names and to NumPy's, and
** callable to make a scalar. And every way people spell a dtype.
*/
#include "core.h"

#include <string.h>

typedef struct core_dtype {
  PyObject_HEAD tt_dtype dtype;
} core_dtype;

typedef struct dtype_row {
  const char *name, *typestr, *format;
  char kind;
  int bytes;
} dtype_row;

static const dtype_row rows[] = {
#define TT_DTYPE(E, name, suffix, ctype, kind, bytes, typestr, format) {name, typestr, format, kind, bytes},
#include "tutti/dtype.def"
#undef TT_DTYPE
};

PyTypeObject *core_dtype_type;
static PyObject *singleton[TT_DTYPE_COUNT];
static PyObject *given_by_tensors[TT_DTYPE_COUNT]; /* those that tensors give; NULL: nobody has tensors */

PyObject *core_dtype_object(tt_dtype dtype) { return Py_NewRef(singleton[dtype]); }
PyObject *core_dtype_of_tensors(tt_dtype dtype) {
  return given_by_tensors[dtype] ? Py_NewRef(given_by_tensors[dtype]) : core_dtype_object(dtype);
}
const char *core_dtype_name(tt_dtype dtype) { return rows[dtype].name; }
const char *core_dtype_typestr(tt_dtype dtype) { return rows[dtype].typestr; }
const char *core_dtype_format(tt_dtype dtype) { return rows[dtype].format; }
char core_dtype_kind(tt_dtype dtype) { return rows[dtype].kind; }
char core_dtype_char(tt_dtype dtype) { return "?bhilBHILeEfdFD"[dtype]; }
int64_t core_dtype_bytes(tt_dtype dtype) { return rows[dtype].bytes; }

/* ---- from text */

static tt_dtype by_kind(char kind, int64_t bytes) {
  for (int k = 0; k < TT_DTYPE_COUNT; k++) {
    if (k != TT_BF16 && rows[k].kind == kind && rows[k].bytes == bytes) return (tt_dtype)k;
  }
  return TT_DTYPE_NONE;
}

tt_dtype core_dtype_from_typestr(const char *s, bool *swap) {
  *swap = false;
  if (*s == '<' || *s == '=' || *s == '|') {
    s++;
  } else if (*s == '>') {
    *swap = true;
    s++;
  }
  if (!strchr("biufc", s[0]) || !s[0] || s[1] < '0' || s[1] > '9') return TT_DTYPE_NONE;
  int64_t bytes = s[1] - '0';
  if (s[2] >= '0' && s[2] <= '9') bytes = bytes * 10 + s[2] - '0';
  tt_dtype found = by_kind(s[0], bytes);
  if (bytes == 1) *swap = false;
  return strlen(s) <= 3 ? found : TT_DTYPE_NONE;
}

tt_dtype core_dtype_from_format(const char *format, int64_t itemsize, bool *swap) {
  *swap = false;
  if (!format) return TT_U8;
  if (*format == '>' || *format == '!') *swap = itemsize > 1;
  if (*format && strchr("<>=@!^", *format)) format++;
  char kind = 0;
  bool complex = *format == 'Z';
  if (complex) format++;
  if (!format[0] || format[1]) return TT_DTYPE_NONE;
  if (strchr("bhilqn", *format)) kind = 'i';
  if (strchr("BHILQN", *format)) kind = 'u';
  if (strchr("efd", *format)) kind = complex ? 'c' : 'f';
  if (*format == '?') kind = 'b';
  if (complex && kind != 'c') return TT_DTYPE_NONE;
  return kind ? by_kind(kind, itemsize) : TT_DTYPE_NONE;
}

/* NumPy's other names for the same types, as C sees them on 64-bit systems. */
static const struct {
  const char *name;
  tt_dtype dtype;
} aliases[] = {
    {"bool_", TT_BOOL}, {"?", TT_BOOL},        {"b1", TT_BOOL},      {"int", TT_I64},     {"int_", TT_I64},
    {"intp", TT_I64},   {"long", TT_I64},      {"longlong", TT_I64}, {"uint", TT_U64},    {"uintp", TT_U64},
    {"ulong", TT_U64},  {"ulonglong", TT_U64}, {"byte", TT_I8},      {"ubyte", TT_U8},    {"short", TT_I16},
    {"ushort", TT_U16}, {"intc", TT_I32},      {"uintc", TT_U32},    {"half", TT_F16},    {"single", TT_F32},
    {"float", TT_F64},  {"double", TT_F64},    {"complex", TT_C128}, {"csingle", TT_C64}, {"cdouble", TT_C128},
    {"b", TT_I8},       {"h", TT_I16},         {"i", TT_I32},        {"l", TT_I64},       {"q", TT_I64},
    {"B", TT_U8},       {"H", TT_U16},         {"I", TT_U32},        {"L", TT_U64},       {"Q", TT_U64},
    {"e", TT_F16},      {"f", TT_F32},         {"d", TT_F64},        {"F", TT_C64},       {"D", TT_C128},
    {"p", TT_I64},      {"P", TT_U64},
};

static bool from_text(const char *s, tt_dtype *out) {
  for (int k = 0; k < TT_DTYPE_COUNT; k++) {
    if (strcmp(rows[k].name, s) == 0) return *out = (tt_dtype)k, true;
  }
  for (size_t k = 0; k < sizeof aliases / sizeof *aliases; k++) {
    if (strcmp(aliases[k].name, s) == 0) return *out = aliases[k].dtype, true;
  }
  bool swap;
  *out = core_dtype_from_typestr(s, &swap);
  return *out != TT_DTYPE_NONE && !swap;
}

/* A type of NumPy's whose name is another one of the same numbers: longlong. */
static bool from_alias(PyObject *type, const char *name, tt_dtype *out) {
  PyObject *module = PyObject_GetAttrString(type, "__module__");
  bool ok = module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "numpy") == 0;
  PyErr_Clear();
  Py_XDECREF(module);
  for (size_t k = 0; ok && k < sizeof aliases / sizeof *aliases; k++)
    if (strcmp(aliases[k].name, name) == 0) return *out = aliases[k].dtype, true;
  return false;
}

/* NumPy's dtypes and scalar types, ml_dtypes' types: told by their name, so that neither need be imported. */
static bool from_foreign(PyObject *o, tt_dtype *out) {
  const char *attr = PyType_Check(o) ? "__name__" : "name";
  PyObject *name = PyObject_GetAttrString(o, attr);
  if (!name) {
    PyErr_Clear();
    return false;
  }
  bool ok = false;
  if (PyUnicode_Check(name)) {
    const char *s = PyUnicode_AsUTF8AndSize(name, NULL);
    if (s) {
      for (int k = 0; k < TT_DTYPE_COUNT && !ok; k++) {
        if (strcmp(rows[k].name, s) == 0) *out = (tt_dtype)k, ok = true;
      }
      if (!ok && PyType_Check(o)) ok = from_alias(o, s, out);
    } else {
      PyErr_Clear();
    }
  }
  Py_DECREF(name);
  if (ok && !PyType_Check(o)) {
    /* A dtype of the other byte order has the same name: not the same type. */
    PyObject *native = PyObject_GetAttrString(o, "isnative");
    if (native) {
      ok = PyObject_IsTrue(native) == 1;
      Py_DECREF(native);
    } else {
      PyErr_Clear();
    }
  }
  return ok;
}

/* 1 found, 0 not a dtype (no exception). */
static bool find(PyObject *o, tt_dtype *out) {
  if (PyObject_TypeCheck(o, core_dtype_type)) return *out = ((core_dtype *)o)->dtype, true;
  if (o == (PyObject *)&PyFloat_Type) return *out = TT_F64, true;
  if (o == (PyObject *)&PyLong_Type) return *out = TT_I64, true;
  if (o == (PyObject *)&PyBool_Type) return *out = TT_BOOL, true;
  if (o == (PyObject *)&PyComplex_Type) return *out = TT_C128, true;
  if (PyUnicode_Check(o)) {
    const char *s = PyUnicode_AsUTF8AndSize(o, NULL);
    if (s && from_text(s, out)) return true;
    PyErr_Clear();
    return false;
  }
  if (core_is_array(o) || o == Py_None) return false;
  return from_foreign(o, out);
}

/* What has a dtype stands for it, but for arrays: NumPy's scalars, elements. */
static bool from_attribute(PyObject *o, tt_dtype *out) {
  bool array =
      core_is_array(o) ? !core_need(o) || tt_array_rank(core_handle(o)) > 0 : PyObject_HasAttrString(o, "__setitem__");
  PyObject *dtype = array || PyType_Check(o) ? NULL : PyObject_GetAttrString(o, "dtype");
  bool ok = dtype && find(dtype, out);
  PyErr_Clear();
  Py_XDECREF(dtype);
  return ok;
}

/* Does it name a structured type of NumPy's? Its dtype, a list of fields, or their types with commas between. */
static bool has_fields(PyObject *o) {
  if (PyList_Check(o)) return PyList_Size(o) > 0 && PyTuple_Check(PyList_GetItem(o, 0));
  if (PyUnicode_Check(o)) return PyUnicode_FindChar(o, ',', 0, PyUnicode_GetLength(o), 1) >= 0;
  PyObject *fields = PyObject_GetAttrString(o, "fields");
  bool found = fields && PyObject_HasAttrString(fields, "keys");
  PyErr_Clear();
  Py_XDECREF(fields);
  return found;
}

bool core_dtype_from(PyObject *o, tt_dtype *out) {
  if (find(o, out)) return true;
  if (!PyUnicode_Check(o) && from_attribute(o, out)) return true;
  if (has_fields(o)) {
    PyErr_Format(PyExc_TypeError, "%R: structured data types are not supported, an array has elements of one type", o);
  } else if (PyUnicode_Check(o)) {
    PyErr_Format(PyExc_TypeError, "data type %R not understood", o);
  } else {
    PyErr_Format(PyExc_TypeError, "Cannot interpret '%R' as a data type", o);
  }
  return false;
}

bool core_dtype_optional(PyObject *o, tt_dtype *out) {
  if (!o || o == Py_None) return *out = TT_DTYPE_NONE, true;
  return core_dtype_from(o, out);
}

/* ---- the type */

static tt_dtype self_dtype(PyObject *self) { return ((core_dtype *)self)->dtype; }

static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  (void)kw;
  tt_dtype dtype = TT_F64;
  if (PyTuple_Size(args) != 1) {
    PyErr_SetString(PyExc_TypeError, "dtype() takes exactly one argument");
    return NULL;
  }
  PyObject *o = PyTuple_GetItem(args, 0);
  if (o != Py_None && !core_dtype_from(o, &dtype)) return NULL;
  return given_by_tensors[dtype] && Py_TYPE(given_by_tensors[dtype]) == type ? core_dtype_of_tensors(dtype)
                                                                             : core_dtype_object(dtype);
}

static PyObject *dtype_repr(PyObject *self) { return PyUnicode_FromFormat("dtype('%s')", rows[self_dtype(self)].name); }
static PyObject *dtype_str(PyObject *self) { return PyUnicode_FromString(rows[self_dtype(self)].name); }
/* NumPy's dtype of the same name, a new reference; NULL without an exception where there is none. */
static PyObject *numpys(PyObject *self) {
  PyObject *hook = core_hook_get(CORE_HOOK_numpy_dtype);
  PyObject *d = hook ? PyObject_CallFunctionObjArgs(hook, self, NULL) : NULL;
  if (!d) PyErr_Clear();
  return d;
}

/* What is equal has one hash: that of NumPy's dtype, where there is one. */
static Py_hash_t dtype_hash(PyObject *self) {
  static Py_hash_t known[TT_DTYPE_COUNT]; /* 0: nobody has asked */
  Py_hash_t *hash = &known[self_dtype(self)];
  if (*hash) return *hash;
  PyObject *d = numpys(self);
  Py_hash_t h = d ? PyObject_Hash(d) : -1;
  Py_XDECREF(d);
  PyErr_Clear();
  *hash = h != -1 && h != 0 ? h : 0x7474 + (Py_hash_t)self_dtype(self) * 1000003;
  return *hash;
}

/* What a dtype of ours does not know, NumPy's of the same name does: byteorder, num, newbyteorder(), ... */
static PyObject *dtype_getattr(PyObject *self, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
  if (PyUnicode_GetLength(name) > 0 && PyUnicode_ReadChar(name, 0) == '_') return NULL;
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyObject *d = numpys(self);
  value = d ? PyObject_GetAttr(d, name) : NULL;
  Py_XDECREF(d);
  if (!value) return PyErr_Restore(type, error, trace), NULL;
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(trace);
  return value;
}

static PyObject *dtype_compare(PyObject *l, PyObject *r, int op) {
  tt_dtype other;
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  bool same = l == r || (find(r, &other) && other == self_dtype(l));
  return PyBool_FromLong(same == (op == Py_EQ));
}

/* tutti.float32(x): an array of that type; without axes a number, as NumPy's scalars. */
static PyObject *dtype_call(PyObject *self, PyObject *args, PyObject *kw) {
  Py_ssize_t n = PyTuple_Size(args);
  if (n > 1 || (kw && PyDict_Size(kw))) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most one argument", rows[self_dtype(self)].name);
    return NULL;
  }
  tt_value zero = tt_v_int(0);
  tt_array *a = n == 1 ? core_asarray(PyTuple_GetItem(args, 0), self_dtype(self), CORE_COPY_ALWAYS)
                       : core_from_value(&zero, self_dtype(self));
  bool number = a && tt_array_rank(a) == 0;
  PyObject *made = core_wrap(a, NULL);
  return number ? core_as_number(made) : made;
}

static PyObject *dtype_get_name(PyObject *self, void *unused) { return (void)unused, dtype_str(self); }
static PyObject *dtype_get_kind(PyObject *self, void *unused) {
  (void)unused;
  char kind = self_dtype(self) == TT_BF16 ? 'V' : rows[self_dtype(self)].kind;
  return PyUnicode_FromStringAndSize(&kind, 1);
}
static PyObject *dtype_get_itemsize(PyObject *self, void *unused) {
  return (void)unused, PyLong_FromLong(rows[self_dtype(self)].bytes);
}
static PyObject *dtype_get_typestr(PyObject *self, void *unused) {
  return (void)unused, PyUnicode_FromString(rows[self_dtype(self)].typestr);
}
static PyObject *dtype_get_char(PyObject *self, void *unused) {
  char c = core_dtype_char(self_dtype(self));
  return (void)unused, PyUnicode_FromStringAndSize(&c, 1);
}
/* Programs ask isinstance(d, numpy.dtype), and issubclass(d.type, numpy.floating). */
static PyObject *dtype_get_class(PyObject *self, void *unused) {
  (void)unused;
  PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
  PyObject *d = PyDict_GetItemString(modules, "numpy") ? numpys(self) : NULL;
  PyObject *type = Py_NewRef((PyObject *)Py_TYPE(d ? d : self));
  Py_XDECREF(d);
  return type;
}
static PyObject *dtype_get_type(PyObject *self, void *unused) {
  (void)unused;
  PyObject *d = numpys(self), *type = d ? PyObject_GetAttrString(d, "type") : Py_NewRef(self);
  Py_XDECREF(d);
  return type;
}
static PyObject *dtype_get_native(PyObject *self, void *unused) { return (void)self, (void)unused, PyBool_FromLong(1); }
static PyObject *dtype_get_numpy(PyObject *self, void *unused) {
  (void)unused;
  PyObject *hook = core_hook_get(CORE_HOOK_numpy_dtype);
  return hook ? PyObject_CallFunctionObjArgs(hook, self, NULL) : NULL;
}
static PyObject *dtype_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  return Py_BuildValue("O(s)", (PyObject *)Py_TYPE(self), rows[self_dtype(self)].name);
}

static PyGetSetDef dtype_attributes[] = {
    {"name", dtype_get_name, NULL, "the name: 'float32'", NULL},
    {"__name__", dtype_get_name, NULL, "the name, as types have it", NULL},
    {"kind", dtype_get_kind, NULL, "b bool, i signed, u unsigned, f float, c complex, V bfloat16", NULL},
    {"itemsize", dtype_get_itemsize, NULL, "bytes of an element", NULL},
    {"str", dtype_get_typestr, NULL, "the array interface's type string", NULL},
    {"char", dtype_get_char, NULL, "NumPy's one-letter code", NULL},
    {"type", dtype_get_type, NULL, "the class of NumPy's scalars of this type; without NumPy the dtype itself", NULL},
    {"__class__", dtype_get_class, NULL, "NumPy's class of dtypes of this name, where NumPy is imported", NULL},
    {"isnative", dtype_get_native, NULL, "always true", NULL},
    {"__numpy_dtype__", dtype_get_numpy, NULL, "the NumPy dtype of the same name", NULL},
    {"dtype", dtype_get_numpy, NULL, "the NumPy dtype of the same name (NumPy asks for it)", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef dtype_methods[] = {
    {"__reduce__", dtype_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot dtype_slots[] = {
    {Py_tp_doc, "dtype(name)\n--\n\nThe type of an array's elements; accepts names, Python types and NumPy dtypes."},
    {Py_tp_new, dtype_new},
    {Py_tp_repr, dtype_repr},
    {Py_tp_str, dtype_str},
    {Py_tp_hash, dtype_hash},
    {Py_tp_getattro, dtype_getattr},
    {Py_tp_richcompare, dtype_compare},
    {Py_tp_call, dtype_call},
    {Py_tp_getset, dtype_attributes},
    {Py_tp_methods, dtype_methods},
    {0, NULL},
};
static PyType_Spec dtype_spec = {"tutti.dtype", sizeof(core_dtype), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 dtype_slots};

/* One object of a class for each row, into a list of them. */
static bool fill_dtypes(PyTypeObject *type, PyObject **list) {
  for (int k = 0; k < TT_DTYPE_COUNT; k++) {
    core_dtype *d = (core_dtype *)PyType_GenericAlloc(type, 0);
    if (!d) return false;
    d->dtype = (tt_dtype)k;
    list[k] = (PyObject *)d;
  }
  return true;
}

PyObject *core_py_tensor_dtypes(PyObject *self, PyObject *type) {
  (void)self;
  if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, core_dtype_type)) {
    PyErr_SetString(PyExc_TypeError, "_tensor_dtypes() takes a class under dtype");
    return NULL;
  }
  if (!given_by_tensors[0] && !fill_dtypes((PyTypeObject *)type, given_by_tensors)) return NULL;
  Py_RETURN_NONE;
}

/* ---- casting */

bool core_can_cast(tt_dtype from, tt_dtype to, PyObject *casting, bool *ok) {
  const char *rule = PyUnicode_Check(casting) ? PyUnicode_AsUTF8AndSize(casting, NULL) : NULL;
  tt_error err;
  if (!rule) {
    PyErr_Format(PyExc_TypeError, "casting must be a string, not %R", casting);
    return false;
  }
  tt_code c = tt_can_cast(from, to, rule, ok, &err);
  if (c != TT_OK) core_raise(c, &err);
  return c == TT_OK;
}

PyObject *core_py_can_cast(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  (void)self;
  PyObject *a[3];
  tt_dtype from, to;
  bool ok = false;
  if (!core_bind("can_cast", "from_,to,casting", 2, arg, n, names, a)) return NULL;
  bool python = PyLong_CheckExact(a[0]) || PyFloat_CheckExact(a[0]) || PyComplex_CheckExact(a[0]) || PyBool_Check(a[0]);
  if (python) {
    PyErr_SetString(PyExc_TypeError,
                    "can_cast() does not support Python ints, floats, and complex because the result "
                    "used to depend on the value.");
    return NULL;
  }
  bool has = !PyType_Check(a[0]) && PyObject_HasAttrString(a[0], "__array_interface__");
  PyObject *own = has ? PyObject_GetAttrString(a[0], "dtype") : NULL;
  if (PyErr_Occurred()) return NULL;
  if (own) { /* an array or a scalar of NumPy's */
    bool known = core_dtype_from(own, &from);
    Py_DECREF(own);
    if (!known) return NULL;
  } else if (core_is_array(a[0]))
    from = core_dtype_of(a[0]);
  else if (!core_dtype_from(a[0], &from))
    return NULL;
  if (!core_dtype_from(a[1], &to)) return NULL;
  PyObject *rule = a[2] ? Py_NewRef(a[2]) : PyUnicode_FromString("safe");
  bool known = rule && core_can_cast(from, to, rule, &ok);
  Py_XDECREF(rule);
  return known ? PyBool_FromLong(ok) : NULL;
}

int core_dtype_init(PyObject *module) {
  dtype_slots[0] = core_document_slot("dtype");
  core_dtype_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &dtype_spec, NULL);
  if (!core_dtype_type || PyModule_AddType(module, core_dtype_type) < 0) return -1;
  PyObject *list = PyTuple_New(TT_DTYPE_COUNT);
  if (!list) return -1;
  bool filled = fill_dtypes(core_dtype_type, singleton);
  for (int k = 0; filled && k < TT_DTYPE_COUNT; k++) {
    PyTuple_SetItem(list, k, Py_NewRef(singleton[k]));
    filled = PyModule_AddObjectRef(module, rows[k].name, singleton[k]) == 0;
  }
  if (!filled) {
    Py_DECREF(list);
    return -1;
  }
  int failed = PyModule_AddObjectRef(module, "dtypes", list);
  Py_DECREF(list);
  return failed;
}
