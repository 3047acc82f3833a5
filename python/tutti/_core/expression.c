/*
** Expressions (tutti/expression.h) as capsules, called with tuples of arguments.
*/
#include "core.h"

enum { MOST_ARGS = 64 };
static const char EXPRESSION[] = "tutti.expression";

typedef struct held_expression {
  tt_expression *e;
  int n;
  bool is_out[MOST_ARGS];
} held_expression;

static void drop_expression(PyObject *capsule) {
  held_expression *h = PyCapsule_GetPointer(capsule, EXPRESSION);
  tt_expression_release(&h->e);
  PyMem_Free(h);
}

/* ((name, dtype, flags), ...) */
static bool read_parameters(PyObject *tuple, tt_expression_parameter *out, int *n) {
  *n = (int)PyTuple_Size(tuple);
  if (*n < 0) return false;
  if (*n > MOST_ARGS) return PyErr_SetString(PyExc_NotImplementedError, "more than 64 parameters"), false;
  for (int k = 0; k < *n; k++) {
    PyObject *dtype;
    if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, k), "sOI", &out[k].name, &dtype, &out[k].flags)) return false;
    if (!core_dtype_from(dtype, &out[k].dtype)) return false;
  }
  return true;
}

/* ((name, dtype), ...) */
static bool read_types(PyObject *tuple, tt_expression_type *out, int *n) {
  *n = (int)PyTuple_Size(tuple);
  if (*n < 0) return false;
  if (*n > MOST_ARGS) return PyErr_SetString(PyExc_NotImplementedError, "more than 64 types"), false;
  for (int k = 0; k < *n; k++) {
    PyObject *dtype;
    if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, k), "sO", &out[k].name, &dtype)) return false;
    if (!core_dtype_from(dtype, &out[k].dtype)) return false;
  }
  return true;
}

/*
** expression(operation, preamble, file, parameters, types, reduce, post, identity, accumulator): parameters are a
** tuple, or a str that declares them as C does.
*/
static PyObject *py_expression(PyObject *self, PyObject *args) {
  tt_expression_source s = {0};
  tt_expression_parameter parameter[MOST_ARGS];
  tt_expression_type type[MOST_ARGS];
  PyObject *parameters, *types, *accumulator;
  tt_error err;
  (void)self;
  if (!PyArg_ParseTuple(args, "sssOO!zzzO", &s.operation, &s.preamble, &s.file, &parameters, &PyTuple_Type, &types,
                        &s.reduce, &s.post, &s.identity, &accumulator))
    return NULL;
  if (PyUnicode_Check(parameters)) {
    if (!(s.declaration = PyUnicode_AsUTF8AndSize(parameters, NULL))) return NULL;
  } else if (!read_parameters(parameters, parameter, &s.nparameter)) {
    return NULL;
  }
  if (!read_types(types, type, &s.ntype)) return NULL;
  if (s.reduce && !core_dtype_from(accumulator, &s.accumulator)) return NULL;
  s.parameter = parameter;
  s.type = type;
  held_expression *h = PyMem_Calloc(1, sizeof *h);
  if (!h) return PyErr_NoMemory();
  tt_code c = tt_expression_new(&s, &h->e, &err);
  h->n = c == TT_OK ? tt_expression_parameters(h->e) : 0;
  for (int k = 0; k < h->n; k++) h->is_out[k] = tt_expression_flags(h->e, k) & TT_EXPR_OUT;
  PyObject *capsule = c == TT_OK ? PyCapsule_New(h, EXPRESSION, drop_expression) : core_raise(c, &err);
  if (!capsule) {
    tt_expression_release(&h->e);
    PyMem_Free(h);
  }
  return capsule;
}

static PyObject *py_expression_text(PyObject *self, PyObject *capsule) {
  (void)self;
  held_expression *h = PyCapsule_GetPointer(capsule, EXPRESSION);
  char *text = h ? tt_expression_text(h->e) : NULL;
  if (!text) return h ? PyErr_NoMemory() : NULL;
  PyObject *out = PyUnicode_FromString(text);
  tt_text_free(text);
  return out;
}

/* Arrays, numbers, and None for outputs to be made. */
static bool read_arguments(const held_expression *h, PyObject *tuple, tt_value *out) {
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != h->n)
    return PyErr_Format(PyExc_TypeError, "an expression of %d parameters", h->n), false;
  for (int k = 0; k < h->n; k++) {
    PyObject *o = PyTuple_GetItem(tuple, k);
    out[k] = (tt_value){.tag = TT_V_MISSING};
    if (o == Py_None) continue;
    if (core_is_array(o)) {
      if (!core_need(o)) return false;
      out[k] = tt_v_array(core_handle(o));
    } else if (!core_value_scalar(o, &out[k])) {
      if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "argument %d cannot be a %R", k + 1, (PyObject *)Py_TYPE(o));
      return false;
    }
  }
  return true;
}

/* expression_call(expression, arguments, size): a tuple of the outputs */
static PyObject *py_expression_call(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  tt_value value[MOST_ARGS];
  tt_array *out[MOST_ARGS];
  tt_error err;
  (void)self;
  core_drain();
  core_line();
  if (n != 3) return PyErr_SetString(PyExc_TypeError, "expression_call: three arguments"), NULL;
  held_expression *h = PyCapsule_GetPointer(arg[0], EXPRESSION);
  if (!h || !read_arguments(h, arg[1], value)) return NULL;
  long long size = PyLong_AsLongLong(arg[2]);
  if (size == -1 && PyErr_Occurred()) return NULL;
  tt_code c = tt_expression_call(h->e, value, size, out, &err);
  if (c != TT_OK) return core_raise(c, &err);
  int made = 0, at = 0;
  for (int k = 0; k < h->n; k++) made += h->is_out[k];
  PyObject *result = PyTuple_New(made);
  for (int k = 0; k < h->n; k++) {
    if (!h->is_out[k]) continue;
    PyObject *given = PyTuple_GetItem(arg[1], k), *o;
    if (!result || given != Py_None) {
      tt_release(&out[k]);
      o = result ? Py_NewRef(given) : NULL;
    } else {
      o = core_wrap(out[k], NULL);
      if (!o) Py_CLEAR(result);
    }
    if (result) PyTuple_SetItem(result, at++, o);
  }
  return result;
}

/* expression_reduce(expression, arguments, axes, keepdims) */
static PyObject *py_expression_reduce(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  tt_value value[MOST_ARGS];
  tt_array *out;
  tt_error err;
  (void)self;
  core_drain();
  core_line();
  if (n != 4) return PyErr_SetString(PyExc_TypeError, "expression_reduce: four arguments"), NULL;
  held_expression *h = PyCapsule_GetPointer(arg[0], EXPRESSION);
  if (!h || !read_arguments(h, arg[1], value)) return NULL;
  unsigned long long axes = PyLong_AsUnsignedLongLong(arg[2]);
  int keepdims = PyObject_IsTrue(arg[3]);
  if (PyErr_Occurred()) return NULL;
  tt_code c = tt_expression_reduce(h->e, value, axes, keepdims, &out, &err);
  return core_done(c, out, NULL, &err);
}

PyMethodDef core_expression_functions[] = {
    {"expression", py_expression, METH_VARARGS, NULL},
    {"expression_text", py_expression_text, METH_O, NULL},
    {"expression_call", CORE_FAST(py_expression_call), METH_FASTCALL, NULL},
    {"expression_reduce", CORE_FAST(py_expression_reduce), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
