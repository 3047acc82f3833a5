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

static PyObject *meth_reshape(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  int64_t len[TT_MAX_RANK];
  int rank;
  PyObject *shape = NULL, *copy = NULL;
  bool fortran = false;
  Py_ssize_t nkw = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t k = 0; k < nkw; k++) {
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, k), NULL);
    PyObject *value = arg[n + k];
    if (name && strcmp(name, "order") == 0) {
      const char *s = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
      if (!s || !strchr("CFA", s[0]))
        return PyErr_SetString(PyExc_ValueError, "order must be one of 'C', 'F' or 'A'"), NULL;
      fortran = s[0] == 'F';
    } else if (name && strcmp(name, "shape") == 0) {
      shape = value;
    } else if (name && strcmp(name, "copy") == 0) {
      copy = value;
    } else {
      return PyErr_Format(PyExc_TypeError, "reshape() got an unexpected keyword argument '%s'", name ? name : "?");
    }
  }
  if (n == 0 && !shape) return PyErr_SetString(PyExc_TypeError, "reshape() takes at least 1 argument (0 given)"), NULL;
  if (shape ? !core_shape(shape, len, &rank) : !core_shape_args(arg, n, len, &rank)) return NULL;
  if (fortran) { /* the reshape of the transpose, transposed */
    PyObject *t = PyObject_GetAttrString(self, "T");
    for (int k = 0; k < rank / 2; k++) {
      int64_t swap = len[k];
      len[k] = len[rank - 1 - k];
      len[rank - 1 - k] = swap;
    }
    PyObject *r = t ? reshaped(t, rank, len) : NULL, *out = r ? PyObject_GetAttrString(r, "T") : NULL;
    Py_XDECREF(t);
    Py_XDECREF(r);
    return out;
  }
  PyObject *out = reshaped(self, rank, len);
  if (out && copy && copy != Py_None) {
    bool shared = tt_array_shares(core_handle(self), core_handle(out));
    int yes = PyObject_IsTrue(copy);
    if (!yes && !shared) {
      Py_DECREF(out);
      PyErr_SetString(PyExc_ValueError, "Unable to avoid creating a copy while reshaping.");
      return NULL;
    }
    if (yes && shared) {
      PyObject *mine = PyObject_CallMethod(out, "copy", NULL);
      Py_DECREF(out);
      return mine;
    }
  }
  return out;
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

static PyObject *meth_ravel(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  PyObject *a[1];
  if (!core_bind("ravel", "order", 0, arg, n, names, a)) return NULL;
  const char *s = a[0] && PyUnicode_Check(a[0]) ? PyUnicode_AsUTF8AndSize(a[0], NULL) : "C";
  int64_t all = -1;
  if (tt_array_size(core_handle(self)) == 0) all = 0;
  if (!s || s[0] != 'F') return reshaped(self, 1, &all);
  PyObject *t = PyObject_GetAttrString(self, "T"), *out = t ? reshaped(t, 1, &all) : NULL;
  Py_XDECREF(t);
  return out;
}

static PyObject *meth_copy(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  PyObject *a[1];
  char order = 'C';
  if (!core_bind("copy", "order", 0, arg, n, names, a) || !core_order(a[0], &order)) return NULL;
  core_line();
  return core_copy_in(core_handle(self), order);
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

static PyObject *meth_copy_protocol(PyObject *self, PyObject *unused) {
  (void)unused;
  return core_is_number(self) ? Py_NewRef(self) : meth_copy(self, NULL, 0, NULL);
}

static PyObject *meth_flatten(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  PyObject *flat = meth_ravel(self, arg, n, names);
  if (!flat || !tt_array_shares(core_handle(self), core_handle(flat))) return flat;
  PyObject *out = meth_copy(flat, NULL, 0, NULL);
  Py_DECREF(flat);
  return out;
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
  if (!core_dtype_from(a[0], &dtype) || !may_cast(self, dtype, a[2])) return NULL;
  int copy = a[4] ? PyObject_IsTrue(a[4]) : 1, device;
  char order = 'K';
  if (copy < 0 || !core_order(a[1], &order) || !core_device_from(a[5], &device)) return NULL;
  if (dtype == tt_array_dtype(core_handle(self))) {
    core_line();
    copy = copy && !core_is_number(self);
    return core_in_order(core_put(copy ? core_copy_in(core_handle(self), order) : Py_NewRef(self), device), order);
  }
  core_line();
  tt_code c = tt_cast(core_handle(self), dtype, copy, &out, &err);
  PyObject *made = core_done(c, out, NULL, &err);
  return core_in_order(core_put(core_is_number(self) ? core_as_number(made) : made, device), order);
}

/* ---- writing */

static PyObject *set_all(PyObject *self, tt_value v) {
  if (!core_need(self)) return NULL;
  tt_error err;
  tt_value all = {TT_V_ELLIPSIS, {0}};
  tt_code c = tt_set(core_handle(self), all, v, &err);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}

static PyObject *meth_fill(PyObject *self, PyObject *value) {
  tt_value v;
  core_scratch s;
  core_scratch_init(&s);
  core_line();
  PyObject *done = core_value_array(&s, value, &v) ? set_all(self, v) : NULL;
  core_scratch_free(&s);
  return done;
}

/* A row whose result replaces the contents: sort, partition. */
static PyObject *in_place(PyObject *self, const char *row, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  int k = core_row(row);
  if (k < 0) return PyErr_Format(PyExc_NotImplementedError, "this build has no function '%s'", row);
  PyObject *made = core_call(k, self, arg, n, names);
  if (!made) return NULL;
  PyObject *done = set_all(self, tt_v_array(core_handle(made)));
  Py_DECREF(made);
  return done;
}
static PyObject *meth_sort(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  return in_place(self, "sort", arg, n, names);
}
static PyObject *meth_partition(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  return in_place(self, "partition", arg, n, names);
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
  if (!core_bind("__array__", "dtype,copy", 0, arg, n, names, a)) return NULL;
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
  if (device == TT_AUTO || (device == TT_CPU && tt_device_count() == 1)) return Py_NewRef(self);
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
static PyObject *meth_tofile(PyObject *self, PyObject *args, PyObject *kw) {
  return forward(CORE_HOOK_tofile, self, args, kw);
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

/* ---- rows as methods */

/* X(method, row): the row's first parameter is the array. Rows that the library lacks leave no method. */
/* clang-format off */
#define ROW_METHODS(X) \
  X(sum, "sum") X(prod, "prod") X(mean, "mean") X(std, "std") X(var, "var") X(min, "min") \
  X(max, "max") X(argmin, "argmin") X(argmax, "argmax") X(any, "any") X(all, "all") X(ptp, "ptp") \
  X(cumsum, "cumsum") X(cumprod, "cumprod") X(argsort, "argsort") X(argpartition, "argpartition") \
  X(searchsorted, "searchsorted") X(nonzero, "nonzero") X(clip, "clip") X(round, "round") \
  X(dot, "dot") X(trace, "trace") X(diagonal, "diagonal") X(repeat, "repeat") X(squeeze, "squeeze") \
  X(swapaxes, "swapaxes") X(take, "take") X(put, "put") X(choose, "choose") \
  X(view, "ndarray.view")
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
     "reshape(*shape, order='C', copy=None)\n--\n\nThe same elements in another shape."},
    {"transpose", CORE_FAST(meth_transpose), METH_FASTCALL, "View with permuted axes."},
    {"ravel", CORE_FAST(meth_ravel), FAST, "ravel(order='C')\n--\n\nOne axis; a view where the layout permits."},
    {"flatten", CORE_FAST(meth_flatten), FAST, "flatten(order='C')\n--\n\nA copy with one axis."},
    {"compress", CORE_FAST(meth_compress), FAST,
     "compress($self, /, condition, axis=None, out=None)\n--\n\nThe slices along an axis where a condition holds."},
    {"copy", CORE_FAST(meth_copy), FAST, "copy(order='C')\n--\n\nA copy of the array."},
    {"__round__", CORE_FAST(meth_round_protocol), METH_FASTCALL, NULL},
    {"__trunc__", meth_trunc_protocol, METH_NOARGS, NULL},
    {"__copy__", meth_copy_protocol, METH_NOARGS, NULL},
    {"__deepcopy__", meth_copy_protocol, METH_O, NULL},
    {"astype", CORE_FAST(meth_astype), FAST,
     "astype(dtype, order='K', casting='unsafe', subok=True, copy=True)\n--\n\nAs another type."},
    {"fill", meth_fill, METH_O, "fill(value)\n--\n\nWrite one value everywhere."},
    {"sort", CORE_FAST(meth_sort), FAST, "Sort in place."},
    {"partition", CORE_FAST(meth_partition), FAST, "Partition in place."},
    {"setflags", CORE_FAST(meth_setflags), FAST, "setflags(write=None)\n--\n\nForbid or allow writing."},
    {"conj", meth_conj, METH_NOARGS, "conj()\n--\n\nComplex conjugate."},
    {"conjugate", meth_conj, METH_NOARGS, "conjugate()\n--\n\nComplex conjugate."},
    {"item", CORE_FAST(core_meth_item), METH_FASTCALL, "item(*index)\n--\n\nOne element as a Python scalar."},
    {"tolist", core_meth_tolist, METH_NOARGS, "tolist()\n--\n\nNested lists of Python scalars."},
    {"tobytes", CORE_FAST(core_meth_tobytes), FAST, "tobytes(order='C')\n--\n\nThe elements as bytes."},
    {"tofile", (PyCFunction)(void (*)(void))meth_tofile, METH_VARARGS | METH_KEYWORDS,
     "tofile(fid, sep='', format='%s')\n--\n\nWrite the elements to a file."},
    {"numpy", meth_numpy, METH_NOARGS, "numpy()\n--\n\nA NumPy array of one's own."},
    {"get", meth_numpy, METH_NOARGS, "get()\n--\n\nA NumPy array of one's own."},
    {"eval", meth_eval, METH_NOARGS, "eval()\n--\n\nCompute now; returns the array."},
    {"cpu", meth_cpu, METH_NOARGS, "cpu()\n--\n\nThe array on the host."},
    {"cuda", CORE_FAST(meth_cuda), FAST, "cuda(index=None)\n--\n\nThe array on a CUDA GPU."},
    {"to", CORE_FAST(meth_to), FAST, "to(device)\n--\n\nThe array on a device."},
    {"to_device", CORE_FAST(meth_to), FAST, "to_device(device, *, stream=None)\n--\n\nThe array on a device."},
    {"__array__", CORE_FAST(meth_array), FAST, NULL},
    {"__array_ufunc__", CORE_FAST(core_meth_ufunc), FAST, NULL},
    {"__array_function__", (PyCFunction)(void (*)(void))meth_function, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__array_namespace__", (PyCFunction)(void (*)(void))meth_namespace, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack__", CORE_FAST(core_meth_dlpack), FAST, NULL},
    {"__dlpack_device__", core_meth_dlpack_device, METH_NOARGS, NULL},
    {"__reduce__", core_meth_reduce, METH_NOARGS, NULL},
    {"__reduce_ex__", core_meth_reduce_ex, METH_O, NULL},
    {"__format__", meth_format, METH_O, NULL},
    {"__complex__", meth_complex, METH_NOARGS, NULL},
    {"__sizeof__", meth_sizeof, METH_NOARGS, NULL},
    {"__class_getitem__", meth_class_getitem, METH_O | METH_CLASS, NULL},
};

/* The table lives as long as the type does: as long as the process. */
PyMethodDef *core_methods(void) {
  static PyMethodDef table[sizeof own / sizeof *own + ROW_COUNT + 1];
  size_t n = sizeof own / sizeof *own;
  memcpy(table, own, sizeof own);
  for (int k = 0; k < ROW_COUNT; k++) {
    row_of[k] = core_row(row_methods[k].row);
    if (row_of[k] < 0) continue;
    const char *doc = tt_function(row_of[k])->doc;
    table[n++] = (PyMethodDef){row_methods[k].method, row_methods[k].function, FAST, doc};
  }
  return table;
}
