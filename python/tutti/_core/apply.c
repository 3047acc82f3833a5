/*
** The elementwise functions: one Python function per row of ops.def, all of them
** core_apply with another op.
*/
#include "core.h"

#include <string.h>

typedef struct op_row {
  const char *numpy, *lower;
  int arity;
} op_row;

static const op_row rows[] = {
#define TT_OP(E, lower, arity, cls, types, flags, identity, c, name) {name, #lower, arity},
#include "tutti/ops.def"
#undef TT_OP
};

typedef struct keywords {
  PyObject *out, *where, *dtype;
  const char *casting; /* NULL: not given */
  char order;          /* 'K': not given */
} keywords;

/* A word among NumPy's, checked by who uses it. */
static bool read_word(PyObject *o, const char *name, const char **out) {
  *out = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, NULL) : NULL;
  if (*out) return true;
  PyObject *type = PyErr_Occurred() ? NULL : PyType_GetName(Py_TYPE(o));
  if (type) PyErr_Format(PyExc_TypeError, "%s must be str, not %U", name, type);
  Py_XDECREF(type);
  return false;
}

/* The keywords that have nothing to do with arrays: 1 read, 0 another one, -1 with an exception. */
static int read_manner(const char *s, PyObject *value, keywords *k) {
  const char *word;
  if (strcmp(s, "casting") == 0) return read_word(value, s, &k->casting) ? 1 : -1;
  if (strcmp(s, "order") == 0) {
    if (value == Py_None) return 1;
    if (!read_word(value, s, &word)) return -1;
    if (core_order(value, &k->order)) return 1;
    PyErr_Format(PyExc_ValueError, "order must be one of 'C', 'F', 'A', or 'K' (got '%s')", word);
    return -1;
  }
  if (strcmp(s, "subok") != 0) return 0;
  if (PyBool_Check(value)) return 1;
  PyErr_SetString(PyExc_TypeError, "'subok' must be a boolean");
  return -1;
}

static bool read_keywords(const op_row *row, PyObject *const *arg, PyObject *names, keywords *k) {
  Py_ssize_t n = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *name = PyTuple_GetItem(names, i);
    const char *s = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!s) return false;
    if (strcmp(s, "out") == 0) {
      if (k->out) {
        PyErr_SetString(PyExc_TypeError, "cannot specify 'out' as both a positional and keyword argument");
        return false;
      }
      k->out = arg[i];
    } else if (strcmp(s, "where") == 0) {
      k->where = arg[i];
    } else if (strcmp(s, "dtype") == 0) {
      k->dtype = arg[i];
    } else {
      int known = read_manner(s, arg[i], k);
      if (known == 0) PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", row->numpy, name);
      if (known <= 0) return false;
    }
  }
  if (k->out && PyTuple_Check(k->out)) {
    if (PyTuple_Size(k->out) != 1) {
      PyErr_SetString(PyExc_ValueError, "The 'out' tuple must have exactly one entry per ufunc output");
      return false;
    }
    k->out = PyTuple_GetItem(k->out, 0);
  }
  if (k->where == Py_True) k->where = NULL;
  if (k->where && !k->out && !core_warn_unwritten()) return false;
  if (k->out == Py_None) k->out = NULL;
  if (k->out && (!core_is_array(k->out) || core_is_number(k->out))) {
    PyErr_SetString(PyExc_TypeError, "return arrays must be of ArrayType");
    return false;
  }
  return true;
}

static PyObject *apply_full(tt_op op, const op_row *row, PyObject *const *arg, const keywords *k) {
  tt_value v[3], where;
  tt_array *made = NULL;
  tt_error err;
  tt_apply_options options = {
      .out = k->out ? core_handle(k->out) : NULL, .dtype = TT_DTYPE_NONE, .casting = k->casting};
  core_scratch s;
  core_scratch_init(&s);
  bool ok = core_dtype_optional(k->dtype, &options.dtype);
  for (int i = 0; ok && i < row->arity; i++) ok = core_value_array(&s, arg[i], &v[i]);
  if (ok && k->where) {
    ok = core_value_mask(&s, k->where, &where);
    if (ok && where.tag != TT_V_ARRAY) {
      tt_array *a = core_from_value(&where, TT_BOOL);
      ok = a && core_scratch_own(&s, a);
      where = tt_v_array(a);
    }
    if (ok && tt_array_dtype(where.as.array) != TT_BOOL) {
      PyErr_Format(PyExc_TypeError,
                   "Cannot cast array data from dtype('%s') to dtype('bool') according to the rule 'safe'",
                   core_dtype_name(tt_array_dtype(where.as.array)));
      ok = false;
    }
    if (ok) options.where = where.as.array;
  }
  PyObject *result = NULL;
  if (ok) {
    tt_code c = tt_apply(op, v, row->arity, &options, &made, &err);
    if (c != TT_OK) {
      core_raise(c, &err);
    } else if (k->out) {
      tt_release(&made);
      result = Py_NewRef(k->out);
    } else {
      result = core_like_operands(core_in_order(core_wrap(made, NULL), k->order), arg, row->arity);
    }
  }
  core_scratch_free(&s);
  return core_warned(result);
}

const char *core_op_name(tt_op op) { return rows[op].numpy; }

static const char third_operand[] =
    "Passing more than 2 positional arguments to np.maximum and np.minimum is deprecated. If you meant to use the "
    "third argument as an output, use the `out` keyword argument instead. If you hoped to work with more than 2 "
    "inputs, combine them into a single array and get the extrema for the relevant axis.";

PyObject *core_apply(tt_op op, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  const op_row *row = &rows[op];
  keywords k = {.order = 'K'};
  bool where_op = op == TT_WHERE;
  if (n < row->arity || n > row->arity + !where_op) {
    return PyErr_Format(PyExc_TypeError, "%s() takes from %d to %d positional arguments but %zd %s given", row->numpy,
                        row->arity, row->arity + 1, n, n == 1 ? "was" : "were");
  }
  PyObject *other;
  if (core_subclassed && core_overridden(op, arg, n, names, &other)) return other;
  if (n > row->arity) k.out = arg[row->arity];
  if (k.out && (op == TT_MAXIMUM || op == TT_MINIMUM) && PyErr_WarnEx(PyExc_DeprecationWarning, third_operand, 1) < 0)
    return NULL;
  if (!read_keywords(row, arg + n, names, &k)) return NULL;
  if (k.out || k.where || k.dtype || k.casting || k.order != 'K') {
    core_line();
    return apply_full(op, row, arg, &k);
  }
  PyObject *result = core_operator(op, arg, row->arity, NULL);
  if (result != Py_NotImplemented) return result;
  Py_DECREF(result);
  for (int i = 0; i < row->arity; i++) {
    tt_array *a = core_asarray(arg[i], TT_DTYPE_NONE, CORE_COPY_NEEDED); /* the conversion knows what is wrong */
    if (!a) return NULL;
    tt_release(&a);
  }
  return PyErr_Format(PyExc_TypeError, "ufunc '%s' not supported for the input types", row->numpy);
}

/* where() is a function in NumPy; all others are ufuncs (real and imag are views). */
static PyObject *call_op(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  return core_apply((tt_op)PyLong_AsLong(self), arg, n, names);
}

static bool add_where(PyObject *ops, PyMethodDef *def) {
  const op_row *row = &rows[TT_WHERE];
  *def = (PyMethodDef){row->numpy, CORE_FAST(call_op), METH_FASTCALL | METH_KEYWORDS,
                       "where(condition, x, y, /)\n--\n\nx where a condition holds, else y."};
  PyObject *self = PyLong_FromLong(TT_WHERE), *f = self ? PyCFunction_NewEx(def, self, NULL) : NULL;
  bool ok = f && PyDict_SetItemString(ops, row->numpy, f) == 0;
  Py_XDECREF(self);
  Py_XDECREF(f);
  return ok;
}

/* _core.ops: {NumPy's name: function}. */
int core_apply_init(PyObject *module) {
  static PyMethodDef def;
  PyObject *ops = PyDict_New();
  bool ok = ops && add_where(ops, &def) && core_ufunc_init(module, ops) == 0 &&
            PyModule_AddObjectRef(module, "ops", ops) == 0;
  Py_XDECREF(ops);
  return ok ? 0 : -1;
}
