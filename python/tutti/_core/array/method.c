/*
** The methods of arrays. Those that move or make memory are written here; those with a
** row in the function table are that row, `self` first.
*/
#include "core.h"

#include <limits.h>
#include <string.h>

/* ---- movement */

static PyObject *view_of(PyObject *self, tt_code code, tt_array *out, const tt_error *err) {
  return code == TT_OK ? core_wrap_view(out, self) : core_raise(code, err);
}

static PyObject *reshaped(PyObject *self, int rank, const int64_t *len) {
  tt_array *out;
  tt_error err;
  core_line();
  tt_code c = tt_reshape(core_handle(self), rank, len, &out, &err);
  return view_of(self, c, out, &err);
}

/* The shape from positional arguments or by name, other names to the row. */
static PyObject *reshape_by_name(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *all[8], *rest = PyList_New(0), *shape = NULL, *made = NULL;
  Py_ssize_t nkw = PyTuple_Size(names), count = 1;
  for (Py_ssize_t k = 0; rest && k < nkw && count < 8; k++) {
    PyObject *name = PyTuple_GetItem(names, k);
    if (n == 0 && PyUnicode_CompareWithASCIIString(name, "shape") == 0) {
      shape = Py_NewRef(arg[n + k]);
      continue;
    }
    all[count++] = arg[n + k];
    if (PyList_Append(rest, name) < 0) goto done;
  }
  if (!shape && n == 1) shape = Py_NewRef(arg[0]);
  if (!shape && n > 0) shape = PyTuple_New(n);
  for (Py_ssize_t k = 0; shape && n > 1 && k < n; k++) PyTuple_SetItem(shape, k, Py_NewRef(arg[k]));
  PyObject *left = shape && rest ? PyList_AsTuple(rest) : NULL;
  all[0] = shape;
  if (left) made = core_call(core_row("reshape"), self, all, 1, PyTuple_Size(left) ? left : NULL);
  Py_XDECREF(left);
done:
  if (!made && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "reshape() takes at least 1 argument (0 given)");
  Py_XDECREF(rest);
  Py_XDECREF(shape);
  return made;
}

static PyObject *meth_reshape(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  int64_t len[TT_MAX_RANK];
  int rank;
  core_line();
  if (names && PyTuple_Size(names) > 0) return reshape_by_name(self, arg, n, names);
  if (n == 0) return PyErr_SetString(PyExc_TypeError, "reshape() takes at least 1 argument (0 given)"), NULL;
  return core_shape_args(arg, n, len, &rank) ? reshaped(self, rank, len) : NULL;
}

static PyObject *meth_transpose(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  if (!core_need(self)) return NULL;
  tt_array *out, *a = core_handle(self);
  tt_error err;
  int64_t axis[TT_MAX_RANK];
  int count = 0, axes[TT_MAX_RANK], rank = tt_array_rank(a);
  bool reversed = n == 0 || (n == 1 && arg[0] == Py_None);
  core_line();
  if (!reversed) {
    if (!core_shape_args(arg, n, axis, &count)) return NULL;
    if (count != rank) return PyErr_SetString(PyExc_ValueError, "axes don't match array"), NULL;
    for (int k = 0; k < count; k++) axes[k] = axis[k] < INT_MIN || axis[k] > INT_MAX ? INT_MAX : (int)axis[k];
  }
  tt_code c = tt_transpose(a, reversed ? NULL : axes, &out, &err);
  return view_of(self, c, out, &err);
}

static PyObject *meth_copy(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  PyObject *a[1];
  char order = 'C';
  if (!core_bind("copy", "order", 0, arg, n, names, a) || !core_order(a[0], &order)) return NULL;
  core_line();
  return core_like(core_copy_in(core_handle(self), order), self);
}

/* round(x, n) and math.trunc(x) of one number: what NumPy gives as a scalar has these, its arrays do not. */
static PyObject *as_number(PyObject *self, const char *method) {
  if (!core_need(self)) return NULL;
  tt_array *a = core_handle(self);
  if (tt_array_rank(a) > 0 || core_dtype_kind(tt_array_dtype(a)) == 'c')
    return PyErr_Format(PyExc_TypeError, "type tutti.ndarray doesn't define %s method", method);
  PyObject *item = core_item(a), *out = item ? PyObject_CallMethod(item, method, NULL) : NULL;
  Py_XDECREF(item);
  return out;
}

static PyObject *meth_round_protocol(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  if (!core_need(self)) return NULL;
  static int row = -1;
  if (n == 0 || (n == 1 && arg[0] == Py_None) || tt_array_rank(core_handle(self)) > 0)
    return as_number(self, "__round__");
  if (row < 0) row = core_row("round");
  return core_call(row, self, arg, n, NULL);
}

static PyObject *meth_trunc_protocol(PyObject *self, PyObject *unused) {
  return (void)unused, as_number(self, "__trunc__");
}

/* What Python's own numbers have as methods. An integer is one, even where int has no such method yet (Python 3.11). */
static PyObject *meth_is_integer(PyObject *self, PyObject *unused) {
  (void)unused;
  bool integer = strchr("iu", core_dtype_kind(core_dtype_of(self))) != NULL;
  return integer && core_is_number(self) ? Py_NewRef(Py_True) : as_number(self, "is_integer");
}
#define NUMBER_METHOD(name, python) \
  static PyObject *meth_##name(PyObject *self, PyObject *unused) { return (void)unused, as_number(self, python); }
NUMBER_METHOD(floor, "__floor__")
NUMBER_METHOD(ceil, "__ceil__")
NUMBER_METHOD(as_integer_ratio, "as_integer_ratio")
NUMBER_METHOD(bit_count, "bit_count")
#undef NUMBER_METHOD

static PyObject *meth_copy_protocol(PyObject *self, PyObject *unused) {
  (void)unused;
  if (core_is_number(self)) return Py_NewRef(self);
  return core_need(self) ? core_like(core_copy_in(core_handle(self), 'K'), self) : NULL;
}

/* Does casting= allow it? Without a word, anything goes. */
static bool may_cast(PyObject *self, tt_dtype to, PyObject *casting) {
  if (!core_need(self)) return false;
  tt_dtype from = tt_array_dtype(core_handle(self));
  bool ok = true;
  if (casting && !core_can_cast(from, to, casting, &ok)) return false;
  if (!ok)
    PyErr_Format(PyExc_TypeError, "Cannot cast array data from dtype('%s') to dtype('%s') according to the rule %R",
                 core_dtype_name(from), core_dtype_name(to), casting);
  return ok;
}

static PyObject *meth_astype(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  PyObject *a[6];
  tt_dtype dtype;
  tt_array *out;
  tt_error err;
  if (!core_bind("astype", "dtype,order,casting,subok,copy,*,device", 1, arg, n, names, a)) return NULL;
  dtype = TT_F64; /* None, as in NumPy */
  if ((a[0] != Py_None && !core_dtype_from(a[0], &dtype)) || !may_cast(self, dtype, a[2])) return NULL;
  int copy = a[4] ? PyObject_IsTrue(a[4]) : 1, device;
  char order = 'K';
  if (copy < 0 || !core_order(a[1], &order) || !core_device_from(a[5], &device)) return NULL;
  if (dtype == tt_array_dtype(core_handle(self))) {
    core_line();
    copy = copy && !core_is_number(self);
    PyObject *same = copy ? core_like(core_copy_in(core_handle(self), order), self) : Py_NewRef(self);
    return core_like(core_in_order(core_put(same, device), order), self);
  }
  core_line();
  tt_code c = tt_copy_as(core_handle(self), dtype, order, &out, &err);
  PyObject *made = core_done(c, out, NULL, &err);
  return core_like(core_in_order(core_put(core_is_number(self) ? core_as_number(made) : made, device), order), self);
}

/* ---- writing */

static PyObject *set_all(PyObject *self, tt_value v) {
  if (!core_need(self)) return NULL;
  tt_error err;
  tt_value all = {TT_V_ELLIPSIS, {0}};
  tt_code c = tt_set(core_handle(self), all, v, &err);
  if (c != TT_OK) return core_raise(c, &err);
  return core_warned(Py_NewRef(Py_None));
}

static PyObject *meth_fill(PyObject *self, PyObject *value) {
  tt_value v;
  core_scratch s;
  tt_number room;
  if (!core_is_number(self) && core_number_operand(value, &v, &room)) /* a number must fit, as one that is stored */
    return PyObject_SetItem(self, Py_Ellipsis, value) < 0 ? NULL : Py_NewRef(Py_None);
  core_scratch_init(&s);
  core_line();
  bool none = value == Py_None && core_need(self); /* the type that is filled says what that is */
  tt_array *made = none ? core_from_sequence(value, core_dtype_of(self)) : NULL;
  if (made) v = tt_v_array(made);
  bool known = none ? made && core_scratch_own(&s, made) : core_value_array(&s, value, &v);
  if (known && v.tag == TT_V_ARRAY && tt_array_rank(v.as.array) > 0) {
    if (core_dtype_kind(core_dtype_of(self)) == 'c')
      PyErr_SetString(PyExc_TypeError, "only 0-dimensional arrays can be converted to Python scalars");
    else
      PyErr_SetString(PyExc_ValueError, "setting an array element with a sequence.");
    known = false;
  }
  PyObject *done = known ? set_all(self, v) : NULL;
  core_scratch_free(&s);
  return done;
}

/* Is the argument that stands at `at`, or is called "axis", None? */
static bool axis_is_none(PyObject *const *arg, Py_ssize_t n, PyObject *names, Py_ssize_t at) {
  if (n > at && arg[at] == Py_None) return true;
  for (Py_ssize_t k = 0; names && k < PyTuple_Size(names); k++)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, k), "axis") == 0 && arg[n + k] == Py_None) return true;
  return false;
}

/* A row whose result replaces the contents: sort, partition. `axis`: where that stands among the arguments. */
static PyObject *in_place(PyObject *self, const char *row, Py_ssize_t axis, PyObject *const *arg, Py_ssize_t n,
                          PyObject *names) {
  int k = core_row(row);
  if (axis_is_none(arg, n, names, axis)) /* in place there is nothing that could lie on one axis */
    return PyErr_SetString(PyExc_TypeError, "'NoneType' object cannot be interpreted as an integer"), NULL;
  if (k < 0) return PyErr_Format(PyExc_NotImplementedError, "this build has no function '%s'", row);
  PyObject *made = core_call(k, self, arg, n, names);
  if (!made) return NULL;
  PyObject *done = set_all(self, tt_v_array(core_handle(made)));
  Py_DECREF(made);
  return done;
}
static PyObject *meth_sort(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  return in_place(self, "sort", 0, arg, n, names);
}
static PyObject *meth_partition(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  return in_place(self, "partition", 1, arg, n, names);
}

static PyObject *meth_setflags(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  PyObject *a[3];
  if (!core_bind("setflags", "write,align,uic", 0, arg, n, names, a)) return NULL;
  if (a[0] && a[0] != Py_None) {
    int write = PyObject_IsTrue(a[0]);
    if (write < 0) return NULL;
    PyObject *base = ((core_array *)self)->base;
    if (write && core_is_number(self))
      return PyErr_SetString(PyExc_ValueError, "cannot set WRITEABLE flag to True of this array"), NULL;
    if (write && base && tt_array_is_readonly(core_handle(base))) {
      PyErr_SetString(PyExc_ValueError, "cannot set WRITEABLE flag to True of this array");
      return NULL;
    }
    tt_array_set_readonly(core_handle(self), !write);
  }
  Py_RETURN_NONE;
}

/* ---- looking */

static PyObject *meth_numpy(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *hook = core_hook_get(CORE_HOOK_numpy);
  return hook ? PyObject_CallFunctionObjArgs(hook, self, NULL) : NULL;
}

static PyObject *meth_array(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[2];
  if (!core_bind("__array__", "dtype,copy", 0, arg, n, names, a) || !core_check_copy(a[1])) return NULL;
  PyObject *hook = core_hook_get(CORE_HOOK_numpy);
  return hook ? PyObject_CallFunctionObjArgs(hook, self, a[0] ? a[0] : Py_None, a[1] ? a[1] : Py_None, NULL) : NULL;
}

static PyObject *meth_complex(PyObject *self, PyObject *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  tt_value v;
  tt_error err;
  if (tt_array_rank(core_handle(self)) != 0) {
    PyErr_SetString(PyExc_TypeError, "only 0-dimensional arrays can be converted to Python scalars");
    return NULL;
  }
  tt_code c = tt_item(core_handle(self), &v, &err);
  if (c != TT_OK) return core_raise(c, &err);
  if (v.tag == TT_V_COMPLEX) return core_value_object(&v);
  PyObject *item = core_value_object(&v);
  double f = item ? PyFloat_AsDouble(item) : -1;
  Py_XDECREF(item);
  return PyErr_Occurred() ? NULL : PyComplex_FromDoubles(f, 0);
}

static PyObject *meth_sizeof(PyObject *self, PyObject *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  tt_array *a = core_handle(self);
  int64_t own = ((core_array *)self)->base ? 0 : tt_array_size(a) * core_dtype_bytes(tt_array_dtype(a));
  return PyLong_FromLongLong(own + (int64_t)sizeof(core_array) + 16 * tt_array_rank(a));
}

static PyObject *meth_eval(PyObject *self, PyObject *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  tt_error err;
  tt_array *a = core_handle(self);
  tt_code c = tt_eval(&a, 1, &err);
  return c == TT_OK ? Py_NewRef(self) : core_raise(c, &err);
}

/* x.to(device): the array itself when it is there, or can be nowhere else. */
static PyObject *moved_to(PyObject *self, int device) {
  bool here = tt_array_device(core_handle(self)) <= TT_CPU; /* TT_AUTO is less */
  if (device == TT_AUTO || (device == TT_CPU && here && core_only_cpu())) return Py_NewRef(self);
  core_line();
  return core_put(Py_NewRef(self), device);
}

static PyObject *meth_to(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[2];
  if (!core_bind("to_device", "device,*,stream", 1, arg, n, names, a)) return NULL;
  tt_dtype dtype;
  int device;
  if (Py_TYPE(a[0]) == core_dtype_type && core_dtype_from(a[0], &dtype)) return meth_astype(self, arg, 1, NULL);
  return core_device_from(a[0], &device) ? moved_to(self, device) : NULL;
}

static PyObject *meth_cpu(PyObject *self, PyObject *unused) { return (void)unused, moved_to(self, TT_CPU); }

static PyObject *meth_cuda(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[1], *name = NULL;
  if (!core_bind("cuda", "index", 0, arg, n, names, a)) return NULL;
  name = a[0] && a[0] != Py_None ? PyUnicode_FromFormat("cuda:%S", a[0]) : PyUnicode_FromString("cuda");
  int device;
  PyObject *out = name && core_device_from(name, &device) ? moved_to(self, device) : NULL;
  Py_XDECREF(name);
  return out;
}

/* ---- protocols of NumPy and the array API */

static PyObject *forward(core_hook hook, PyObject *self, PyObject *args, PyObject *kw) {
  PyObject *f = core_hook_get(hook);
  if (!f) return NULL;
  PyObject *first = PyTuple_Pack(1, self), *all = first ? PySequence_Concat(first, args) : NULL;
  PyObject *out = all ? PyObject_Call(f, all, kw) : NULL;
  Py_XDECREF(first);
  Py_XDECREF(all);
  return out;
}
static PyObject *meth_function(PyObject *self, PyObject *args, PyObject *kw) {
  return forward(CORE_HOOK_array_function, self, args, kw);
}
static PyObject *meth_arrow_array(PyObject *self, PyObject *args, PyObject *kw) {
  return forward(CORE_HOOK_arrow, self, args, kw);
}
static PyObject *meth_jax_array(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *f = core_hook_get(CORE_HOOK_jax_array);
  return f ? PyObject_CallFunctionObjArgs(f, self, NULL) : NULL;
}
static PyObject *meth_to_numpy(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[3], *hook = core_hook_get(CORE_HOOK_numpy), *dtype = NULL, *want = Py_None, *out = NULL;
  if (!hook || !core_bind("to_numpy", "dtype,copy,na_value", 0, arg, n, names, a)) return NULL;
  bool copy = a[1] && PyObject_IsTrue(a[1]) == 1;
  if (a[0] && a[0] != Py_None) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    want = dtype = numpy ? PyObject_CallMethod(numpy, "dtype", "O", a[0]) : NULL;
    Py_XDECREF(numpy);
  }
  if (want) out = PyObject_CallFunctionObjArgs(hook, self, want, copy ? Py_True : Py_None, NULL);
  Py_XDECREF(dtype);
  return out;
}
static PyObject *meth_tofile(PyObject *self, PyObject *args, PyObject *kw) {
  return forward(CORE_HOOK_tofile, self, args, kw);
}
/* Methods that Python has the words for: hook(name, array, ...). */
static PyObject *named(const char *name, PyObject *self, PyObject *args, PyObject *kw) {
  PyObject *first = Py_BuildValue("(O)", self), *all = first ? PySequence_Concat(first, args) : NULL;
  PyObject *word = all ? PyUnicode_FromString(name) : NULL, *out = NULL;
  if (word) out = forward(CORE_HOOK_method, word, all, kw);
  Py_XDECREF(first);
  Py_XDECREF(all);
  Py_XDECREF(word);
  return out;
}
#define NAMED(name) \
  static PyObject *meth_##name(PyObject *self, PyObject *args, PyObject *kw) { return named(#name, self, args, kw); }
NAMED(resize)
NAMED(byteswap)
NAMED(getfield)
NAMED(setfield)
NAMED(dump)
NAMED(dumps)
NAMED(get)
NAMED(detach)
NAMED(requires_grad_)
NAMED(retain_grad)
NAMED(register_hook)
NAMED(zero_)
#undef NAMED
#define NAMED_METHOD(name, doc) \
  { #name, (PyCFunction)(void (*)(void))meth_##name, METH_VARARGS | METH_KEYWORDS, doc }
/* The names of the type and of the object itself; object's own are those of the class that an element says it has. */
static PyObject *meth_dir(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *names = PyObject_Dir((PyObject *)Py_TYPE(self)), *own = PyObject_GetAttrString(self, "__dict__");
  PyObject *keys = own ? PyMapping_Keys(own) : NULL, *all = NULL;
  if (!own) PyErr_Clear();
  if (names && (keys || !own)) all = keys ? PySequence_Concat(names, keys) : Py_NewRef(names);
  Py_XDECREF(keys);
  Py_XDECREF(own);
  Py_XDECREF(names);
  return all;
}

static PyObject *meth_namespace(PyObject *self, PyObject *args, PyObject *kw) {
  return forward(CORE_HOOK_namespace, self, args, kw);
}
static PyObject *meth_format(PyObject *self, PyObject *spec) {
  tt_value v;
  bool plain = PyUnicode_Check(spec) && PyUnicode_GetLength(spec) == 0;
  if (core_known(self) && plain) return PyObject_Str(self);
  if (core_known(self)) {
    PyObject *value = core_number_value(self, &v) ? core_value_object(&v) : NULL;
    PyObject *text = value ? PyObject_Format(value, spec) : NULL;
    Py_XDECREF(value);
    return text;
  }
  PyObject *hook = core_hook_get(CORE_HOOK_format);
  return hook ? PyObject_CallFunctionObjArgs(hook, self, spec, NULL) : NULL;
}
static PyObject *meth_class_getitem(PyObject *cls, PyObject *key) { return Py_GenericAlias(cls, key); }

static PyObject *meth_conj(PyObject *self, PyObject *unused) {
  (void)unused;
  if (core_dtype_kind(core_dtype_of(self)) != 'c') return Py_NewRef(self); /* as NumPy: the very array */
  core_line();
  return core_operator(TT_CONJ, &self, 1, NULL);
}

/* The row's first parameter is the condition. */
static PyObject *meth_compress(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[3];
  int row = core_row("compress");
  if (!core_bind("compress", "condition,axis,out", 1, arg, n, names, a)) return NULL;
  PyObject *all[] = {a[0], self, a[1] ? a[1] : Py_None, a[2] ? a[2] : Py_None};
  return core_call(row, NULL, all, 4, NULL);
}

/* Several choices may stand side by side. */
static PyObject *meth_choose(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  int row = core_row("choose");
  Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  if (n < 2) return core_call(row, self, arg, n, names);
  PyObject *all = PyTuple_New(n), **given = all ? PyMem_Malloc(sizeof *given * (size_t)(named + 1)) : NULL;
  for (Py_ssize_t k = 0; all && k < n; k++) PyTuple_SetItem(all, k, Py_NewRef(arg[k]));
  if (given) {
    given[0] = all;
    for (Py_ssize_t k = 0; k < named; k++) given[k + 1] = arg[n + k];
  }
  PyObject *made = given ? core_call(row, self, given, 1, names) : PyErr_NoMemory();
  PyMem_Free(given);
  Py_XDECREF(all);
  return made;
}

/* ---- rows as methods */

/* X(method, row): the row's first parameter is the array. Rows that the library lacks leave no method. */
/* clang-format off */
#define ROW_METHODS(X) \
  X(sum, "sum") X(prod, "prod") X(mean, "mean") X(std, "std") X(var, "var") X(min, "min") \
  X(max, "max") X(argmin, "argmin") X(argmax, "argmax") X(any, "any") X(all, "all") X(ptp, "ptp") \
  X(cumsum, "cumsum") X(cumprod, "cumprod") X(argsort, "argsort") X(argpartition, "argpartition") \
  X(searchsorted, "searchsorted") X(nonzero, "nonzero") X(clip, "ndarray.clip") X(round, "round") \
  X(dot, "dot") X(trace, "trace") X(diagonal, "diagonal") X(repeat, "repeat") X(squeeze, "squeeze") \
  X(swapaxes, "swapaxes") X(take, "take") X(put, "put") X(ravel, "ravel") \
  X(flatten, "ndarray.flatten")
/* clang-format on */

enum {
#define ROW_ENUM(method, row) ROW_##method,
  ROW_METHODS(ROW_ENUM)
#undef ROW_ENUM
      ROW_COUNT
};
static int row_of[ROW_COUNT];

#define ROW_FUNCTION(method, row)                                                                      \
  static PyObject *row_##method(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) { \
    return core_call(row_of[ROW_##method], self, arg, n, names);                                       \
  }
ROW_METHODS(ROW_FUNCTION)
#undef ROW_FUNCTION

static const struct {
  const char *method, *row;
  PyCFunction function;
} row_methods[] = {
#define ROW_ENTRY(method, row) {#method, row, CORE_FAST(row_##method)},
    ROW_METHODS(ROW_ENTRY)
#undef ROW_ENTRY
};

#define FAST METH_FASTCALL | METH_KEYWORDS
static const PyMethodDef own[] = {
    {"reshape", CORE_FAST(meth_reshape), FAST,
     "reshape($self, /, *shape, order='C', copy=None)\n--\n\nThe same elements in another shape."},
    {"transpose", CORE_FAST(meth_transpose), METH_FASTCALL,
     "transpose($self, /, *axes)\n--\n\nView with permuted axes; without any, with the axes reversed."},
    {"compress", CORE_FAST(meth_compress), FAST,
     "compress($self, /, condition, axis=None, out=None)\n--\n\nThe slices along an axis where a condition holds."},
    {"choose", CORE_FAST(meth_choose), FAST,
     "choose($self, /, *choices, out=None, mode='raise')\n--\n\nElements of the choices that the array numbers."},
    {"copy", CORE_FAST(meth_copy), FAST, "copy($self, /, order='C')\n--\n\nA copy of the array."},
    {"__round__", CORE_FAST(meth_round_protocol), METH_FASTCALL, NULL},
    {"__trunc__", meth_trunc_protocol, METH_NOARGS, NULL},
    {"__floor__", meth_floor, METH_NOARGS, NULL},
    {"__ceil__", meth_ceil, METH_NOARGS, NULL},
    {"is_integer", meth_is_integer, METH_NOARGS, "is_integer($self, /)\n--\n\nIs the number a whole one?"},
    {"as_integer_ratio", meth_as_integer_ratio, METH_NOARGS,
     "as_integer_ratio($self, /)\n--\n\nTwo integers whose ratio the number is."},
    {"bit_count", meth_bit_count, METH_NOARGS, "bit_count($self, /)\n--\n\nHow many bits of the integer are set."},
    {"__copy__", meth_copy_protocol, METH_NOARGS, NULL},
    {"__deepcopy__", meth_copy_protocol, METH_O, NULL},
    {"astype", CORE_FAST(meth_astype), FAST,
     "astype($self, /, dtype, order='K', casting='unsafe', subok=True, copy=True)\n--\n\nAs another type."},
    {"fill", meth_fill, METH_O, "fill($self, /, value)\n--\n\nWrite one value everywhere."},
    {"sort", CORE_FAST(meth_sort), FAST,
     "sort($self, /, axis=-1, kind=None, order=None, *, stable=None)\n--\n\nSort in place."},
    {"partition", CORE_FAST(meth_partition), FAST,
     "partition($self, /, kth, axis=-1, kind='introselect', order=None)\n--\n\nPartition in place."},
    {"setflags", CORE_FAST(meth_setflags), FAST, "setflags($self, /, write=None)\n--\n\nForbid or allow writing."},
    {"conj", meth_conj, METH_NOARGS, "conj($self, /)\n--\n\nComplex conjugate."},
    {"conjugate", meth_conj, METH_NOARGS, "conjugate($self, /)\n--\n\nComplex conjugate."},
    {"item", CORE_FAST(core_meth_item), METH_FASTCALL, "item($self, /, *index)\n--\n\nOne element as a Python scalar."},
    {"tolist", core_meth_tolist, METH_NOARGS, "tolist($self, /)\n--\n\nNested lists of Python scalars."},
    {"tobytes", CORE_FAST(core_meth_tobytes), FAST, "tobytes($self, /, order='C')\n--\n\nThe elements as bytes."},
    {"tofile", (PyCFunction)(void (*)(void))meth_tofile, METH_VARARGS | METH_KEYWORDS,
     "tofile($self, /, fid, sep='', format='%s')\n--\n\nWrite the elements to a file."},
    NAMED_METHOD(
        resize,
        "resize($self, /, *new_shape, refcheck=True)\n--\n\nAnother shape in place, zeros where there is more."),
    NAMED_METHOD(byteswap, "byteswap($self, /, inplace=False)\n--\n\nThe bytes of each element the other way round."),
    NAMED_METHOD(getfield, "getfield($self, /, dtype, offset=0)\n--\n\nPart of the bytes of each element."),
    NAMED_METHOD(setfield, "setfield($self, /, val, dtype, offset=0)\n--\n\nWrite part of the bytes of each element."),
    NAMED_METHOD(dump, "dump($self, /, file)\n--\n\nWrite the pickle of the array."),
    NAMED_METHOD(dumps, "dumps($self, /)\n--\n\nThe pickle of the array."),
    {"numpy", meth_numpy, METH_NOARGS, "numpy($self, /)\n--\n\nA NumPy array of one's own."},
    {"to_numpy", CORE_FAST(meth_to_numpy), FAST,
     "to_numpy($self, /, dtype=None, copy=False, na_value=None)\n--\n\nA NumPy array, as pandas asks for it: shared "
     "and "
     "read-only, or with copy=True of one's own. No element is ever missing."},
    NAMED_METHOD(get,
                 "get($self, /, stream=None, order='C', blocking=True, out=None)\n--\n\nA NumPy array of one's own, "
                 "or `out` with the elements."),
    {"backward", CORE_FAST(core_meth_backward), FAST,
     "backward($self, /, gradient=None, retain_graph=None, create_graph=False, inputs=None)\n--\n\nAdd the gradients "
     "of the array to those of the leaves it was computed from."},
    NAMED_METHOD(detach, "detach($self, /)\n--\n\nThe same values without their history."),
    NAMED_METHOD(requires_grad_,
                 "requires_grad_($self, /, requires_grad=True)\n--\n\nAsk for gradients; returns the array."),
    NAMED_METHOD(retain_grad, "retain_grad($self, /)\n--\n\nKeep the gradient of a computed array in .grad."),
    NAMED_METHOD(register_hook,
                 "register_hook($self, /, hook)\n--\n\nCall hook(gradient) whenever one is computed; what it returns "
                 "takes its place. The handle has remove()."),
    NAMED_METHOD(zero_, "zero_($self, /)\n--\n\nWrite zeros everywhere; returns the array."),
    {"eval", meth_eval, METH_NOARGS, "eval($self, /)\n--\n\nCompute now; returns the array."},
    {"cpu", meth_cpu, METH_NOARGS, "cpu($self, /)\n--\n\nThe array on the host."},
    {"cuda", CORE_FAST(meth_cuda), FAST, "cuda($self, /, index=None)\n--\n\nThe array on a CUDA GPU."},
    {"to", CORE_FAST(meth_to), FAST, "to($self, /, device)\n--\n\nThe array on a device."},
    {"to_device", CORE_FAST(meth_to), FAST,
     "to_device($self, /, device, *, stream=None)\n--\n\nThe array on a device."},
    {"__array__", CORE_FAST(meth_array), FAST, NULL},
    {"__array_ufunc__", CORE_FAST(core_meth_ufunc), FAST, NULL},
    {"__array_function__", (PyCFunction)(void (*)(void))meth_function, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__array_namespace__", (PyCFunction)(void (*)(void))meth_namespace, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__arrow_c_array__", CORE_FAST(core_meth_arrow), FAST, NULL},
    {"__arrow_array__", (PyCFunction)(void (*)(void))meth_arrow_array, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__jax_array__", meth_jax_array, METH_NOARGS, NULL},
    {"__dlpack__", CORE_FAST(core_meth_dlpack), FAST, NULL},
    {"__dlpack_device__", core_meth_dlpack_device, METH_NOARGS, NULL},
    {"__reduce__", core_meth_reduce, METH_NOARGS, NULL},
    {"__reduce_ex__", core_meth_reduce_ex, METH_O, NULL},
    {"__format__", meth_format, METH_O, NULL},
    {"__complex__", meth_complex, METH_NOARGS, NULL},
    {"__sizeof__", meth_sizeof, METH_NOARGS, NULL},
    {"__dir__", meth_dir, METH_NOARGS, NULL},
    {"__class_getitem__", meth_class_getitem, METH_O | METH_CLASS, NULL},
};

/* The table lives as long as the type does: as long as the process. */
PyMethodDef *core_methods(void) {
  enum { MOST_OF_SUBCLASSES = 8 };
  static PyMethodDef table[sizeof own / sizeof *own + ROW_COUNT + MOST_OF_SUBCLASSES + 1];
  size_t n = sizeof own / sizeof *own;
  memcpy(table, own, sizeof own);
  for (int k = 0; k < MOST_OF_SUBCLASSES && core_subclass_methods[k].ml_name; k++)
    table[n++] = core_subclass_methods[k];
  for (int k = 0; k < ROW_COUNT; k++) {
    row_of[k] = core_row(row_methods[k].row);
    if (row_of[k] < 0) continue;
    table[n++] = (PyMethodDef){row_methods[k].method, row_methods[k].function, FAST, NULL};
  }
  return core_document_all("ndarray", table);
}
