/*
** Operators. Each slot hands its operands to one elementwise op; what the op means is the
** library's matter.
*/
#include "core.h"

#include <string.h>

/* ---- operands */

/*
** `o` as an operand: 1 converted, 0 nothing an array can meet (NotImplemented), -1 an exception is set. *hold is set
** when a temporary array was made. `other` (or NULL): the operand beside which, if it is an array, only o's value
** counts if its type is the array's.
*/
static int operand(PyObject *o, PyObject *other, tt_value *v, tt_array **hold) {
  const tt_number *x = core_known(o);
  if (other && (!core_is_array(other) || core_is_number(other))) other = NULL;
  if (x && other && tt_array_dtype(core_handle(other)) == x->dtype) return *v = tt_number_value(x), 1;
  if (core_is_array(o)) return core_need(o) ? (*v = tt_v_array(core_handle(o)), 1) : -1;
  if (other && core_value_beside(o, tt_array_dtype(core_handle(other)), v)) return 1;
  if (Py_TYPE(o) == &PyLong_Type) {
    if (core_value_int(o, v)) return 1;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    return -2; /* beyond every integer type: the other operand decides */
  }
  if (core_is_scalar(o)) return core_value_scalar(o, v) ? 1 : -1;
  if (o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o) || PyDict_Check(o) || PyType_Check(o)) return 0;
  bool known;
  if (PyList_Check(o) || PyTuple_Check(o)) {
    *hold = core_from_sequence(o, TT_DTYPE_NONE);
  } else {
    *hold = core_from_memory(o, CORE_COPY_NEEDED, &known);
    if (!known && PyObject_HasAttrString(o, "__array__")) {
      *hold = core_asarray(o, TT_DTYPE_NONE, CORE_COPY_NEEDED);
    } else if (!known) {
      if (PySequence_Check(o) && PyObject_HasAttrString(o, "__len__")) {
        *hold = core_from_sequence(o, TT_DTYPE_NONE);
      } else if (PyFloat_Check(o)) {
        v->tag = TT_V_FLOAT;
        v->as.f = PyFloat_AsDouble(o);
        return 1;
      } else if (PyIndex_Check(o)) {
        PyObject *i = PyNumber_Index(o);
        bool ok = i && core_value_int(i, v);
        Py_XDECREF(i);
        return ok ? 1 : -1;
      } else {
        return 0;
      }
    }
  }
  if (!*hold) return -1;
  *v = tt_v_array(*hold);
  return 1;
}

/* An int no integer type holds: as a float where the other side is inexact, or where only order matters. */
static bool huge_int(tt_op op, PyObject *o, const tt_value *other, tt_value *v) {
  bool compares = op == TT_EQ || op == TT_NE || op == TT_LT || op == TT_LE || op == TT_GT || op == TT_GE;
  bool inexact = other && (other->tag == TT_V_FLOAT || other->tag == TT_V_COMPLEX);
  if (other && other->tag == TT_V_ARRAY) {
    char kind = core_dtype_kind(tt_array_dtype(other->as.array));
    inexact = kind == 'f' || kind == 'c';
  }
  if (!compares && !inexact) return false; /* the OverflowError stands */
  PyErr_Clear();
  v->tag = TT_V_FLOAT;
  v->as.f = PyLong_AsDouble(o);
  if (!PyErr_Occurred()) return true;
  if (!compares) return false;
  PyErr_Clear();
  PyObject *zero = PyLong_FromLong(0);
  int negative = zero ? PyObject_RichCompareBool(o, zero, Py_LT) : -1;
  Py_XDECREF(zero);
  v->as.f = negative > 0 ? -1e308 : 1e308;
  return negative >= 0;
}

/* Is it a scalar, of whatever make? */
static bool is_scalar(PyObject *o) {
  tt_number x;
  return core_is_number(o) || core_is_scalar(o) || (!core_is_array(o) && core_value_numpy(o, &x));
}

static bool are_scalars(PyObject *const *arg, int n) {
  for (int k = 0; k < n; k++)
    if (!is_scalar(arg[k])) return false;
  return true;
}

/* What comparisons give; they are many. */
static PyObject *truths[2];

static PyObject *truth_of(bool yes) {
  if (!truths[yes]) {
    core_array *x = core_number_new();
    if (!x) return NULL;
    x->number = (tt_number){{yes, 0}, TT_BOOL};
    truths[yes] = (PyObject *)x;
  }
  return Py_NewRef(truths[yes]);
}

/* False: it takes arrays. */
static bool of_numbers(tt_op op, PyObject *const *arg, int n, PyObject **result) {
  tt_value v[2];
  tt_number room[2];
  for (int k = 0; k < n; k++)
    if (!core_number_operand(arg[k], &v[k], &room[k])) return false;
  if (op >= TT_EQ && op <= TT_GE) {
    tt_number yes;
    if (!tt_number_apply(op, v, n, &yes)) return false;
    *result = truth_of(*(const uint8_t *)yes.bits);
    return true;
  }
  core_array *made = core_number_new();
  *result = (PyObject *)made;
  if (!made || tt_number_apply(op, v, n, &made->number)) return true;
  core_number_drop(made);
  return false;
}

/*
** Does another library decide about `l op r`? Then its answer is in *result. A library that only wants to be asked is
** asked by Python, unless it stands on the left and has been.
*/
static bool is_theirs(tt_op op, PyObject *l, PyObject *r, PyObject **result) {
  core_rules left = core_rules_of(l), right = core_rules_of(r);
  if (right == CORE_DEFER) return *result = Py_NewRef(Py_NotImplemented), true;
  if (left != CORE_THEIRS && right != CORE_THEIRS) return false;
  PyObject *hook = core_hook_get(CORE_HOOK_their_operator),
           *name = PyUnicode_FromString(op == TT_OP_COUNT ? "matmul" : core_op_name(op));
  *result = hook && name ? PyObject_CallFunctionObjArgs(hook, name, l, r, NULL) : NULL;
  Py_XDECREF(name);
  return true;
}

static PyObject *operate(tt_op op, PyObject *const *arg, int n, PyObject *out, bool number) {
  tt_value v[3];
  tt_array *hold[3] = {NULL, NULL, NULL}, *made = NULL;
  PyObject *result = NULL;
  int state[3] = {1, 1, 1}, bad = 1;
  bool tensor = core_tensor_among(arg, n);
  if (n == 2 && !out && !tensor && is_theirs(op, arg[0], arg[1], &result)) return result;
  core_line();
  for (int k = 0; k < n && bad == 1; k++) {
    /* A power looks at its exponent's type. */
    state[k] = operand(arg[k], n == 2 && op != TT_POW && !tensor ? arg[1 - k] : NULL, &v[k], &hold[k]);
    if (state[k] == -2) v[k].tag = TT_V_NONE;
    if (state[k] == 0 || state[k] == -1) bad = state[k];
  }
  for (int k = 0; k < n && bad == 1; k++) {
    if (state[k] == -2 && !huge_int(op, arg[k], n == 2 ? &v[1 - k] : NULL, &v[k])) bad = -1;
  }
  if (bad == 1 && tensor && (!core_promote_tensors(op, v, n, hold) || (out && !core_tensor_fits(op, v, n, out))))
    bad = -1;
  if (bad == 0 && op == TT_ADD && PyBytes_Check(arg[0])) /* asked next, it would append the array's memory */
    PyErr_SetString(PyExc_TypeError, "ufunc 'add' did not contain a loop with signature matching types");
  else if (bad == 0)
    result = Py_NewRef(Py_NotImplemented);
  if (bad == 1) {
    tt_error err;
    tt_apply_options options = {.dtype = TT_DTYPE_NONE};
    if (out) options.out = core_handle(out);
    if (tensor) options.casting = "unsafe"; /* kinds have been looked at */
    tt_code c = tt_apply(op, v, n, out ? &options : NULL, &made, &err);
    if (c != TT_OK) {
      core_raise(c, &err);
    } else if (out) {
      tt_release(&made);
      result = Py_NewRef(out);
    } else {
      result = core_like_operands(core_wrap(made, NULL), arg, n);
      if (number) result = core_as_number(result);
    }
  }
  for (int k = 0; k < n; k++) {
    if (hold[k]) tt_release(&hold[k]);
  }
  return result;
}

/* The same of tensors, whose operands are brought to one type first. */
static PyObject *of_tensors(tt_op op, tt_value *v, int n) {
  tt_array *made = NULL, *hold[3] = {NULL, NULL, NULL};
  PyObject *result = NULL;
  tt_error err;
  if (core_promote_tensors(op, v, n, hold)) {
    tt_code c = tt_apply(op, v, n, NULL, &made, &err);
    result = core_as_tensor(core_done(c, made, NULL, &err));
  }
  for (int k = 0; k < n; k++)
    if (hold[k]) tt_release(&hold[k]);
  return result;
}

/* Arrays of ours, floats and ints, as most operands are. False: there are others. */
static bool of_common(tt_op op, PyObject *const *arg, int n, PyObject **result) {
  tt_value v[3];
  tt_array *made;
  tt_error err;
  for (int k = 0; k < n; k++)
    if (!core_value_common(arg[k], &v[k])) return false;
  core_line();
  if (core_tensor_among(arg, n)) return *result = of_tensors(op, v, n), true;
  tt_code c = tt_apply(op, v, n, NULL, &made, &err);
  *result = core_done(c, made, NULL, &err);
  return true;
}

PyObject *core_operator(tt_op op, PyObject *const *arg, int n, PyObject *out) {
  PyObject *result = NULL;
  bool number = false; /* an op of numbers, at least one of them ours, gives a number */
  if (core_subclassed && core_overridden(op, arg, n, NULL, &result)) return result;
  for (int k = 0; k < n && !out; k++) number |= core_is_number(arg[k]);
  if (!number && !out && !core_subclassed && of_common(op, arg, n, &result)) return result;
  if (!number) return operate(op, arg, n, out, false);
  if (n <= 2 && of_numbers(op, arg, n, &result)) return result;
  return operate(op, arg, n, NULL, are_scalars(arg, n));
}

/* The road most taken. */
static PyObject *binary(tt_op op, PyObject *l, PyObject *r) {
  PyObject *arg[2] = {l, r};
  bool numbers = !core_subclassed && (core_known(l) || core_known(r));
  PyObject *result;
  if (numbers && of_numbers(op, arg, 2, &result)) return result;
  if (core_subclassed || core_is_number(l) || core_is_number(r)) return core_operator(op, arg, 2, NULL);
  return of_common(op, arg, 2, &result) ? result : core_operator(op, arg, 2, NULL);
}

static PyObject *in_place(tt_op op, PyObject *l, PyObject *r) {
  PyObject *arg[2] = {l, r};
  if (core_is_number(l)) return binary(op, l, r); /* the name stands for another number then */
  tt_value v[2] = {tt_v_array(core_handle(l))};
  if (core_is_tensor(l) || !core_value_common(r, &v[1])) return core_operator(op, arg, 2, l);
  core_line();
  tt_error err;
  tt_apply_options options = {.out = core_handle(l), .dtype = TT_DTYPE_NONE};
  tt_code c = tt_apply(op, v, 2, &options, NULL, &err);
  return c == TT_OK ? Py_NewRef(l) : core_raise(c, &err);
}

/* ---- slots */

#define BINARY(name, OP)                                                                   \
  static PyObject *slot_##name(PyObject *l, PyObject *r) { return binary(TT_##OP, l, r); } \
  static PyObject *slot_inplace_##name(PyObject *l, PyObject *r) { return in_place(TT_##OP, l, r); }
#define UNARY(name, OP) \
  static PyObject *slot_##name(PyObject *o) { return core_operator(TT_##OP, &o, 1, NULL); }

BINARY(add, ADD)
BINARY(subtract, SUB)
BINARY(multiply, MUL)
BINARY(true_divide, DIV)
BINARY(floor_divide, FLOORDIV)
BINARY(remainder, MOD)
BINARY(and, AND)
BINARY(or, OR)
BINARY(xor, XOR)
BINARY(lshift, SHL)
BINARY(rshift, SHR)
UNARY(negative, NEG)
UNARY(absolute, ABS)
UNARY(invert, NOT)

/* NumPy's operator spells the exponent 2 as square(), which makes int8 of truth values: power() does not. */
static bool is_square_of_truths(PyObject *l, PyObject *r) {
  return core_is_array(l) && !core_is_number(l) && !core_is_tensor(l) && core_dtype_of(l) == TT_BOOL &&
         PyLong_CheckExact(r) && PyLong_AsLong(r) == 2;
}

static PyObject *slot_power(PyObject *l, PyObject *r, PyObject *modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  if (is_square_of_truths(l, r)) return core_operator(TT_SQUARE, &l, 1, NULL);
  return binary(TT_POW, l, r);
}
static PyObject *slot_inplace_power(PyObject *l, PyObject *r, PyObject *modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return in_place(TT_POW, l, r);
}

static PyObject *slot_divmod(PyObject *l, PyObject *r) {
  PyObject *quotient = binary(TT_FLOORDIV, l, r);
  if (!quotient || quotient == Py_NotImplemented) return quotient;
  PyObject *remainder = binary(TT_MOD, l, r), *pair = remainder ? PyTuple_Pack(2, quotient, remainder) : NULL;
  Py_DECREF(quotient);
  Py_XDECREF(remainder);
  return pair;
}

static PyObject *slot_positive(PyObject *o) {
  tt_array *out;
  tt_error err;
  if (core_dtype_of(o) == TT_BOOL) {
    PyErr_SetString(
        PyExc_TypeError,
        "ufunc 'positive' did not contain a loop with signature matching types <class 'numpy.dtypes.BoolDType'> "
        "-> None");
    return NULL;
  }
  if (core_is_number(o)) return Py_NewRef(o);
  core_line();
  tt_code c = tt_copy(core_handle(o), &out, &err);
  return core_like_operands(core_done(c, out, NULL, &err), &o, 1);
}

static PyObject *slot_matmul(PyObject *l, PyObject *r) {
  PyObject *side[2] = {l, r};
  tt_array *a[2] = {NULL, NULL}, *out = NULL;
  PyObject *result = NULL;
  if (is_theirs(TT_OP_COUNT, l, r, &result)) return result;
  core_line();
  for (int k = 0; k < 2; k++) {
    tt_value v;
    int state = operand(side[k], NULL, &v, &a[k]);
    if (state == 0) result = Py_NewRef(Py_NotImplemented);
    if (state == 1 && v.tag != TT_V_ARRAY) a[k] = core_from_value(&v, TT_DTYPE_NONE);
    if (state == 1 && v.tag == TT_V_ARRAY && !a[k]) a[k] = tt_retain(v.as.array);
    if (!a[k]) goto done;
  }
  tt_error err;
  tt_code c = tt_matmul(a[0], a[1], &out, &err);
  result = core_done(c, out, NULL, &err);
  bool tensor = core_tensor_among(side, 2);
  if (result && tt_array_rank(out) == 0 && !tensor) result = core_as_number(result); /* as NumPy's is a scalar */
  result = core_like_operands(result, side, 2);
done:
  tt_release(&a[0]);
  tt_release(&a[1]);
  return result;
}

static PyObject *slot_inplace_matmul(PyObject *l, PyObject *r) {
  PyObject *product = core_need(l) ? slot_matmul(l, r) : NULL;
  if (!product || product == Py_NotImplemented) return product;
  if (tt_array_rank(core_handle(product)) < tt_array_rank(core_handle(l))) { /* the right side was a vector */
    Py_DECREF(product);
    PyErr_SetString(PyExc_ValueError,
                    "inplace matrix multiplication requires the first operand to have at least one and "
                    "the second at least two dimensions.");
    return NULL;
  }
  tt_error err;
  tt_dtype from = tt_array_dtype(core_handle(product)), to = tt_array_dtype(core_handle(l));
  bool ok = false;
  tt_code c = tt_can_cast(from, to, "same_kind", &ok, &err);
  if (c == TT_OK && !ok) {
    Py_DECREF(product);
    return PyErr_Format(
        PyExc_TypeError,
        "Cannot cast ufunc 'matmul' output from dtype('%s') to dtype('%s') with casting rule 'same_kind'",
        core_dtype_name(from), core_dtype_name(to));
  }
  tt_value all = {TT_V_ELLIPSIS, {0}};
  if (c == TT_OK) c = tt_set(core_handle(l), all, tt_v_array(core_handle(product)), &err);
  Py_DECREF(product);
  return c == TT_OK ? Py_NewRef(l) : core_raise(c, &err);
}

/* ---- comparison */

/* Nothing to compare with: never equal, in every element. */
static PyObject *never_equal(PyObject *array, bool equal) {
  tt_value v = {TT_V_BOOL, {0}};
  v.as.b = !equal;
  if (!core_need(array)) return NULL;
  tt_array *out, *a = core_handle(array);
  tt_error err;
  tt_code c = tt_full(TT_BOOL, tt_array_rank(a), tt_array_len(a), v, &out, &err);
  return core_done(c, out, NULL, &err);
}

/* Can no element be equal to it? Others (fractions, decimals, classes of the program's) know about numbers. */
static bool is_no_number(PyObject *o) {
  return o == Py_None || PyUnicode_Check(o) || PyBytes_Check(o) || PyDict_Check(o) || PyAnySet_Check(o) ||
         PyType_GetSlot(Py_TYPE(o), Py_tp_richcompare) == PyType_GetSlot(&PyBaseObject_Type, Py_tp_richcompare);
}

/* Each element is asked, as NumPy does with objects. `flat`: the elements in a list, which become the answers. */
static PyObject *ask_each(PyObject *array, PyObject *flat, PyObject *other, int op) {
  for (Py_ssize_t k = 0; k < PyList_Size(flat); k++) {
    PyObject *answer = PyObject_RichCompare(PyList_GetItem(flat, k), other, op);
    int yes = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (yes < 0 || PyList_SetItem(flat, k, PyBool_FromLong(yes)) < 0) return NULL;
  }
  tt_array *answers = core_asarray(flat, TT_BOOL, CORE_COPY_NEEDED), *out, *a = core_handle(array);
  if (!answers) return NULL;
  tt_error err;
  tt_code c = tt_reshape(answers, tt_array_rank(a), tt_array_len(a), &out, &err);
  tt_release(&answers);
  return core_done(c, out, NULL, &err);
}

static PyObject *compare_objects(PyObject *array, PyObject *other, int op) {
  PyObject *line = PyObject_CallMethod(array, "ravel", NULL), *flat = NULL, *result = NULL;
  if (line) flat = PyObject_CallMethod(line, "tolist", NULL);
  if (flat) result = ask_each(array, flat, other, op);
  Py_XDECREF(flat);
  Py_XDECREF(line);
  return result;
}

PyObject *core_richcompare(PyObject *l, PyObject *r, int op) {
  static const tt_op ops[] = {
      [Py_LT] = TT_LT, [Py_LE] = TT_LE, [Py_EQ] = TT_EQ, [Py_NE] = TT_NE, [Py_GT] = TT_GT, [Py_GE] = TT_GE};
  PyObject *result = binary(ops[op], l, r);
  if (result != Py_NotImplemented || core_rules_of(r) == CORE_DEFER) return result;
  bool equality = op == Py_EQ || op == Py_NE, unknown = is_no_number(r);
  if (unknown && (!equality || core_is_tensor(l))) return result; /* of tensors, Python compares the objects */
  Py_DECREF(result);
  return unknown ? never_equal(l, op == Py_EQ) : compare_objects(l, r, op);
}

/* ---- as one Python scalar */

static int truth(const tt_value *v) {
  switch (v->tag) {
    case TT_V_BOOL:
      return v->as.b;
    case TT_V_FLOAT:
      return v->as.f != 0;
    case TT_V_COMPLEX:
      return v->as.z.re != 0 || v->as.z.im != 0;
    default:
      return v->as.i != 0;
  }
}

static int slot_bool(PyObject *o) {
  tt_value v;
  tt_error err;
  if (o == truths[0] || o == truths[1]) return o == truths[1];
  if (core_known(o)) return core_number_value(o, &v) ? truth(&v) : -1;
  int64_t size = tt_array_size(core_handle(o));
  if (size == 0) {
    PyErr_SetString(
        PyExc_ValueError,
        "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not "
        "empty.");
    return -1;
  }
  if (size > 1) {
    PyErr_SetString(PyExc_ValueError,
                    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
    return -1;
  }
  tt_code c = tt_item(core_handle(o), &v, &err);
  return c == TT_OK ? truth(&v) : (core_raise(c, &err), -1);
}

/* The only element of a rank-0 array. */
static bool scalar(PyObject *o, tt_value *v) {
  tt_error err;
  if (core_is_number(o)) return core_number_value(o, v);
  if (tt_array_rank(core_handle(o)) != 0) {
    PyErr_SetString(PyExc_TypeError, "only 0-dimensional arrays can be converted to Python scalars");
    return false;
  }
  tt_code c = tt_item(core_handle(o), v, &err);
  if (c != TT_OK) core_raise(c, &err);
  return c == TT_OK;
}

/* A complex number loses its imaginary part, with a warning; a complex array is no number. */
static bool real_scalar(PyObject *o, tt_value *v) {
  if (!scalar(o, v)) return false;
  if (v->tag != TT_V_COMPLEX || !core_is_number(o)) return true;
  *v = tt_v_float(v->as.z.re);
  return core_warn_discarded();
}

static PyObject *slot_int(PyObject *o) {
  tt_value v;
  if (!real_scalar(o, &v)) return NULL;
  if (v.tag == TT_V_INT) return PyLong_FromLongLong(v.as.i);
  PyObject *item = core_value_object(&v), *i = item ? PyNumber_Long(item) : NULL;
  Py_XDECREF(item);
  return i;
}

static PyObject *slot_float(PyObject *o) {
  tt_value v;
  if (!real_scalar(o, &v)) return NULL;
  if (v.tag == TT_V_FLOAT) return PyFloat_FromDouble(v.as.f);
  PyObject *item = core_value_object(&v), *f = item ? PyNumber_Float(item) : NULL;
  Py_XDECREF(item);
  return f;
}

static PyObject *slot_index(PyObject *o) {
  tt_value v;
  char kind = core_dtype_kind(core_dtype_of(o));
  if ((!core_known(o) && tt_array_rank(core_handle(o)) != 0) || !strchr("iu", kind)) {
    PyErr_SetString(PyExc_TypeError, "only integer scalar arrays can be converted to a scalar index");
    return NULL;
  }
  return scalar(o, &v) ? core_value_object(&v) : NULL;
}

int core_number_slots(PyType_Slot *slot) {
  const PyType_Slot slots[] = {
      {Py_nb_add, slot_add},
      {Py_nb_subtract, slot_subtract},
      {Py_nb_multiply, slot_multiply},
      {Py_nb_true_divide, slot_true_divide},
      {Py_nb_floor_divide, slot_floor_divide},
      {Py_nb_remainder, slot_remainder},
      {Py_nb_divmod, slot_divmod},
      {Py_nb_power, slot_power},
      {Py_nb_matrix_multiply, slot_matmul},
      {Py_nb_and, slot_and},
      {Py_nb_or, slot_or},
      {Py_nb_xor, slot_xor},
      {Py_nb_lshift, slot_lshift},
      {Py_nb_rshift, slot_rshift},
      {Py_nb_negative, slot_negative},
      {Py_nb_positive, slot_positive},
      {Py_nb_absolute, slot_absolute},
      {Py_nb_invert, slot_invert},
      {Py_nb_inplace_add, slot_inplace_add},
      {Py_nb_inplace_subtract, slot_inplace_subtract},
      {Py_nb_inplace_multiply, slot_inplace_multiply},
      {Py_nb_inplace_true_divide, slot_inplace_true_divide},
      {Py_nb_inplace_floor_divide, slot_inplace_floor_divide},
      {Py_nb_inplace_remainder, slot_inplace_remainder},
      {Py_nb_inplace_power, slot_inplace_power},
      {Py_nb_inplace_matrix_multiply, slot_inplace_matmul},
      {Py_nb_inplace_and, slot_inplace_and},
      {Py_nb_inplace_or, slot_inplace_or},
      {Py_nb_inplace_xor, slot_inplace_xor},
      {Py_nb_inplace_lshift, slot_inplace_lshift},
      {Py_nb_inplace_rshift, slot_inplace_rshift},
      {Py_nb_bool, slot_bool},
      {Py_nb_int, slot_int},
      {Py_nb_float, slot_float},
      {Py_nb_index, slot_index},
  };
  memcpy(slot, slots, sizeof slots);
  return (int)(sizeof slots / sizeof *slots);
}
