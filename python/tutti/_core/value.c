/*
** Arguments: Python objects as tt_values, with the scratch memory that tuples and
** converted arrays need for the length of one call.
*/
#include "core.h"

#include <string.h>

/* ---- scratch */

struct core_block {
  core_block *next;
  tt_array *hold; /* a hold beyond the inline ones, or NULL */
  tt_value item[];
};

static core_block *block_new(core_scratch *s, int64_t n) {
  if (n > (PY_SSIZE_T_MAX - (int64_t)sizeof(core_block)) / (int64_t)sizeof(tt_value))
    return (void)PyErr_NoMemory(), NULL;
  core_block *b = PyMem_Malloc(sizeof *b + (size_t)n * sizeof *b->item);
  if (!b) return (void)PyErr_NoMemory(), NULL;
  b->hold = NULL;
  b->next = s->block;
  return s->block = b;
}

tt_value *core_scratch_values(core_scratch *s, int64_t n) {
  if (n <= 24 - s->used) {
    s->used += (int)n;
    return s->item + (s->used - (int)n);
  }
  core_block *b = block_new(s, n);
  return b ? b->item : NULL;
}

bool core_scratch_own(core_scratch *s, tt_array *a) {
  if (s->nhold < 8) return s->hold[s->nhold++] = a, true;
  core_block *b = block_new(s, 0);
  if (!b) {
    tt_release(&a);
    return false;
  }
  b->hold = a;
  return true;
}

void core_scratch_free(core_scratch *s) {
  while (s->nhold > 0) tt_release(&s->hold[--s->nhold]);
  while (s->block) {
    core_block *b = s->block;
    s->block = b->next;
    tt_release(&b->hold);
    PyMem_Free(b);
  }
}

/* ---- scalars */

bool core_value_int(PyObject *o, tt_value *out) {
  int overflow;
  long long i = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (i == -1 && !overflow && PyErr_Occurred()) return false;
  if (!overflow) {
    out->tag = TT_V_INT;
    out->as.i = i;
    return true;
  }
  if (overflow > 0) {
    unsigned long long u = PyLong_AsUnsignedLongLong(o);
    if (!PyErr_Occurred()) {
      out->tag = TT_V_UINT;
      out->as.u = u;
      return true;
    }
    PyErr_Clear();
  }
  PyErr_SetString(PyExc_OverflowError, "Python int too large to convert to C long");
  return false;
}

bool core_is_scalar(PyObject *o) {
  PyTypeObject *t = Py_TYPE(o);
  return t == &PyFloat_Type || t == &PyLong_Type || t == &PyBool_Type || t == &PyComplex_Type;
}

bool core_value_scalar(PyObject *o, tt_value *out) {
  PyTypeObject *t = Py_TYPE(o);
  if (t == &PyFloat_Type) {
    out->tag = TT_V_FLOAT;
    out->as.f = PyFloat_AsDouble(o);
  } else if (t == &PyLong_Type) {
    return core_value_int(o, out);
  } else if (t == &PyBool_Type) {
    out->tag = TT_V_BOOL;
    out->as.b = o == Py_True;
  } else if (t == &PyComplex_Type) {
    out->tag = TT_V_COMPLEX;
    out->as.z = (tt_c128){PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)};
  } else if (o == Py_None) {
    out->tag = TT_V_NONE;
  } else {
    return false;
  }
  return true;
}

static bool too_large(int64_t i, tt_dtype own) {
  int bits = 8 * (int)core_dtype_bytes(own);
  if (bits == 64 || (i >= -(INT64_C(1) << (bits - 1)) && i < INT64_C(1) << (bits - 1))) return false;
  PyErr_Format(PyExc_OverflowError, "Python integer %lld out of bounds for %s", (long long)i, core_dtype_name(own));
  return true;
}

bool core_value_fits(tt_value v, tt_dtype own) {
  double f = v.tag == TT_V_COMPLEX ? v.as.z.re : v.tag == TT_V_FLOAT ? v.as.f : 0;
  if (v.tag == TT_V_INT) return !too_large(v.as.i, own);
  if (v.tag == TT_V_UINT || f >= 0x1p63 || f < -0x1p63) {
    PyErr_SetString(PyExc_OverflowError, f - f != 0 ? "cannot convert float infinity to integer"
                                                    : "Python int too large to convert to C long");
  } else if (f != f) {
    PyErr_SetString(PyExc_ValueError, "cannot convert float NaN to integer");
  } else {
    return v.tag == TT_V_BOOL || !too_large((int64_t)f, own);
  }
  return false;
}

PyObject *core_value_object(const tt_value *v) {
  switch (v->tag) {
    case TT_V_BOOL:
      return PyBool_FromLong(v->as.b);
    case TT_V_INT:
      return PyLong_FromLongLong(v->as.i);
    case TT_V_UINT:
      return PyLong_FromUnsignedLongLong(v->as.u);
    case TT_V_FLOAT:
      return PyFloat_FromDouble(v->as.f);
    case TT_V_COMPLEX:
      return PyComplex_FromDoubles(v->as.z.re, v->as.z.im);
    default:
      Py_RETURN_NONE;
  }
}

/* ---- arrays */

static bool own_converted(core_scratch *s, PyObject *o, tt_value *out) {
  tt_array *a = core_asarray(o, TT_DTYPE_NONE, CORE_COPY_NEEDED);
  if (!a || !core_scratch_own(s, a)) return false;
  *out = tt_v_array(a);
  return true;
}

bool core_value_array(core_scratch *s, PyObject *o, tt_value *out) {
  if (core_is_array(o)) return core_need(o) && (*out = tt_v_array(core_handle(o)), true);
  if (core_value_scalar(o, out)) return true;
  return !PyErr_Occurred() && own_converted(s, o, out);
}

bool core_value_arrays(core_scratch *s, PyObject *o, tt_value *out) {
  if (core_is_array(o) && !core_need(o)) return false;
  if (PyUnicode_Check(o) || !PySequence_Check(o) || (core_is_array(o) && tt_array_rank(core_handle(o)) == 0)) {
    PyErr_SetString(PyExc_TypeError, "The first input argument needs to be a sequence");
    return false;
  }
  PyObject *list = PySequence_Tuple(o);
  if (!list) return false;
  Py_ssize_t n = PyTuple_Size(list);
  tt_value *item = core_scratch_values(s, n);
  bool ok = item != NULL;
  for (Py_ssize_t k = 0; ok && k < n; k++) {
    PyObject *x = PyTuple_GetItem(list, k);
    ok = core_value_array(s, x, &item[k]);
    /* The tuple of an iterator or of an array's rows is ours alone: hold what it holds. */
    if (ok && core_is_array(x)) ok = core_scratch_own(s, tt_retain(core_handle(x)));
  }
  Py_DECREF(list);
  if (!ok) return false;
  out->tag = TT_V_TUPLE;
  out->as.tuple.item = item;
  out->as.tuple.n = n;
  return true;
}

static bool slice_value(PyObject *o, tt_value *out) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(o, &start, &stop, &step) < 0) return false;
  Py_ssize_t no_start = step < 0 ? PY_SSIZE_T_MAX : 0, no_stop = step < 0 ? PY_SSIZE_T_MIN : PY_SSIZE_T_MAX;
  out->tag = TT_V_SLICE;
  out->as.slice.start = start;
  out->as.slice.stop = stop;
  out->as.slice.step = step;
  out->as.slice.has_start = start != no_start;
  out->as.slice.has_stop = stop != no_stop;
  out->as.slice.has_step = step != 1;
  return true;
}

static bool tuple_value(core_scratch *s, PyObject *o, bool (*each)(core_scratch *, PyObject *, tt_value *),
                        tt_value *out) {
  bool list = PyList_Check(o);
  Py_ssize_t n = list ? PyList_Size(o) : PyTuple_Size(o);
  tt_value *item = core_scratch_values(s, n);
  if (!item || Py_EnterRecursiveCall(" while reading a nested argument")) return false;
  bool ok = true;
  for (Py_ssize_t k = 0; ok && k < n; k++) {
    PyObject *x = list ? PyList_GetItem(o, k) : PyTuple_GetItem(o, k);
    ok = x && each(s, x, &item[k]);
  }
  Py_LeaveRecursiveCall();
  out->tag = TT_V_TUPLE;
  out->as.tuple.item = item;
  out->as.tuple.n = n;
  return ok;
}

/* Things that say they are integers: NumPy's scalars, above all. */
static bool index_value(PyObject *o, tt_value *out) {
  PyObject *i = PyNumber_Index(o);
  if (!i) return false;
  bool ok = core_value_int(i, out);
  Py_DECREF(i);
  return ok;
}

static bool is_numpy_bool(PyObject *o) {
  tt_dtype dtype;
  return PyObject_HasAttrString(o, "dtype") && core_dtype_from((PyObject *)Py_TYPE(o), &dtype) ? dtype == TT_BOOL
                                                                                               : (PyErr_Clear(), false);
}

bool core_value_any(core_scratch *s, PyObject *o, tt_value *out) {
  if (core_value_scalar(o, out)) return true;
  if (PyErr_Occurred()) return false;
  if (core_is_array(o)) return core_need(o) && (*out = tt_v_array(core_handle(o)), true);
  if (PyTuple_Check(o) || PyList_Check(o)) return tuple_value(s, o, core_value_any, out);
  if (PyUnicode_Check(o)) {
    out->tag = TT_V_STRING;
    out->as.s = PyUnicode_AsUTF8AndSize(o, NULL);
    return out->as.s != NULL;
  }
  if (PySlice_Check(o)) return slice_value(o, out);
  if (o == Py_Ellipsis) return out->tag = TT_V_ELLIPSIS, true;
  if (Py_TYPE(o) == core_dtype_type || PyType_Check(o)) {
    out->tag = TT_V_DTYPE;
    return core_dtype_from(o, &out->as.dtype);
  }
  if (PyFloat_Check(o)) {
    out->tag = TT_V_FLOAT;
    out->as.f = PyFloat_AsDouble(o);
    return true;
  }
  if (is_numpy_bool(o)) return out->tag = TT_V_BOOL, out->as.b = PyObject_IsTrue(o) == 1, true;
  if (PyIndex_Check(o) && index_value(o, out)) return true;
  PyErr_Clear();
  if (PyObject_HasAttrString(o, "isbuiltin")) { /* NumPy's dtype */
    out->tag = TT_V_DTYPE;
    return core_dtype_from(o, &out->as.dtype);
  }
  return own_converted(s, o, out);
}

bool core_value_truth(PyObject *o, tt_value *out) {
  int truth = PyObject_IsTrue(o);
  *out = (tt_value){.tag = TT_V_BOOL, .as.b = truth > 0};
  return truth >= 0;
}

bool core_value_mask(core_scratch *s, PyObject *o, tt_value *out) {
  if (core_is_array(o) && !core_is_number(o)) return core_value_array(s, o, out);
  if (PyList_Check(o) || PyTuple_Check(o)) {
    tt_array *a = core_asarray(o, TT_BOOL, CORE_COPY_NEEDED);
    *out = tt_v_array(a);
    return a && core_scratch_own(s, a);
  }
  if (!core_is_array(o) && PySequence_Check(o) && PyObject_HasAttrString(o, "__array_interface__") &&
      PyObject_Size(o) >= 0)
    return core_value_array(s, o, out);
  PyErr_Clear();
  return core_value_truth(o, out);
}

/* ---- an index */

bool core_index(PyObject *o, int64_t *out) {
  int overflow;
  tt_number other;
  if (Py_TYPE(o) == &PyLong_Type) return *out = PyLong_AsLongAndOverflow(o, &overflow), !overflow;
  if (PySlice_Check(o)) return false; /* the next most frequent */
  const tt_number *x = core_known(o);
  if (!x && !core_is_array(o) && core_value_numpy(o, &other)) x = &other;
  if (!x || !strchr("iu", core_dtype_kind(x->dtype))) return false;
  tt_value v = tt_number_value(x);
  *out = v.as.i;
  return v.tag == TT_V_INT;
}

static bool index_error(void) {
  PyErr_SetString(PyExc_IndexError,
                  "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays "
                  "are valid indices");
  return false;
}

static bool index_array(core_scratch *s, PyObject *o, tt_value *out) {
  tt_array *a = core_asarray(o, TT_DTYPE_NONE, CORE_COPY_NEEDED);
  if (!a) return false;
  if (tt_array_size(a) == 0 && (PyList_Check(o) || PyTuple_Check(o))) { /* [] selects nothing, whatever its type */
    tt_array *i = NULL;
    tt_error err;
    tt_code c = tt_cast(a, TT_I64, true, &i, &err);
    tt_release(&a);
    if (c != TT_OK) return core_raise(c, &err), false;
    a = i;
  }
  char kind = core_dtype_kind(tt_array_dtype(a));
  if (!core_scratch_own(s, a)) return false;
  if (!strchr("biu", kind) && (PyList_Check(o) || PyTuple_Check(o))) return index_error();
  if (!strchr("biu", kind)) {
    PyErr_SetString(PyExc_IndexError, "arrays used as indices must be of integer (or boolean) type");
    return false;
  }
  *out = tt_v_array(a);
  return true;
}

static bool index_item(core_scratch *s, PyObject *o, tt_value *out) {
  if (Py_TYPE(o) == &PyLong_Type) {
    if (core_value_int(o, out)) return true;
    PyErr_SetString(PyExc_IndexError, "cannot fit 'int' into an index-sized integer");
    return false;
  }
  if (PySlice_Check(o)) return slice_value(o, out);
  if (o == Py_None) return out->tag = TT_V_NONE, true;
  if (o == Py_Ellipsis) return out->tag = TT_V_ELLIPSIS, true;
  if (o == Py_True || o == Py_False) return out->tag = TT_V_BOOL, out->as.b = o == Py_True, true;
  if (core_is_array(o)) {
    if (!strchr("biu", core_dtype_kind(core_dtype_of(o)))) {
      PyErr_SetString(PyExc_IndexError, "arrays used as indices must be of integer (or boolean) type");
      return false;
    }
    if (core_is_number(o)) return core_number_value(o, out);
    return *out = tt_v_array(core_handle(o)), true;
  }
  if (core_is_scalar(o) || PyUnicode_Check(o) || PyBytes_Check(o) || PyFloat_Check(o)) return index_error();
  bool list = PyList_Check(o) || PyTuple_Check(o);
  if (!list && is_numpy_bool(o)) return out->tag = TT_V_BOOL, out->as.b = PyObject_IsTrue(o) == 1, true;
  if (!list && PyIndex_Check(o)) {
    if (index_value(o, out)) return true;
    PyErr_Clear();
  }
  if (index_array(s, o, out)) return true; /* what is not made of numbers is no index */
  if (PyErr_ExceptionMatches(PyExc_TypeError)) return PyErr_Clear(), index_error();
  return false;
}

bool core_value_index(core_scratch *s, PyObject *o, tt_value *out) {
  return PyTuple_Check(o) ? tuple_value(s, o, index_item, out) : index_item(s, o, out);
}

/* ---- shapes */

static bool axis_length(PyObject *o, int64_t *out) {
  if (!PyIndex_Check(o)) {
    PyObject *name = PyType_GetName(Py_TYPE(o));
    if (name) PyErr_Format(PyExc_TypeError, "'%U' object cannot be interpreted as an integer", name);
    Py_XDECREF(name);
    return false;
  }
  *out = PyNumber_AsSsize_t(o, PyExc_ValueError);
  return *out != -1 || !PyErr_Occurred();
}

bool core_shape_args(PyObject *const *arg, Py_ssize_t n, int64_t *len, int *rank) {
  if (n == 1 && core_is_array(arg[0]) && !core_need(arg[0])) return false;
  if (n == 1 && !PyIndex_Check(arg[0])) return core_shape(arg[0], len, rank);
  if (n == 1 && core_is_array(arg[0]) && tt_array_rank(core_handle(arg[0])) > 0) return core_shape(arg[0], len, rank);
  if (n > TT_MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "maximum supported dimension for an ndarray is currently %d, found %zd", TT_MAX_RANK,
                 n);
    return false;
  }
  *rank = (int)n;
  for (Py_ssize_t k = 0; k < n; k++) {
    if (!axis_length(arg[k], &len[k])) return false;
  }
  return true;
}

bool core_shape(PyObject *o, int64_t *len, int *rank) {
  bool sequence = PyTuple_Check(o) || PyList_Check(o) || (PySequence_Check(o) && !PyUnicode_Check(o));
  if (core_is_array(o) && !core_need(o)) return false;
  if (core_is_array(o)) sequence = tt_array_rank(core_handle(o)) > 0;
  if (!sequence) {
    *rank = 1;
    return axis_length(o, len);
  }
  PyObject *list = PySequence_Tuple(o);
  if (!list) return false;
  Py_ssize_t n = PyTuple_Size(list);
  bool ok = n <= TT_MAX_RANK;
  if (!ok) {
    PyErr_Format(PyExc_ValueError, "maximum supported dimension for an ndarray is currently %d, found %zd", TT_MAX_RANK,
                 n);
  }
  for (Py_ssize_t k = 0; ok && k < n; k++) ok = axis_length(PyTuple_GetItem(list, k), &len[k]);
  Py_DECREF(list);
  *rank = (int)n;
  return ok;
}
