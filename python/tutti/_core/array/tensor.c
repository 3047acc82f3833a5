/*
** Tensors: objects of the one class whose results are of it, whatever class under it an operand has, and whose
** operands meet by PyTorch's rules. An array without axes counts less than one with axes there, a number of Python's
** less than both: a lesser operand decides only of which kind the result is. Whole numbers become the default type.
*/
#include "core.h"

static tt_dtype default_float = TT_F32;

bool core_tensor_among(PyObject *const *arg, Py_ssize_t n) {
  if (!core_tensor_class) return false;
  for (Py_ssize_t k = 0; k < n; k++) {
    if (!arg[k]) continue;
    if (core_is_tensor(arg[k])) return true;
    if (PyList_Check(arg[k]) && PyList_Size(arg[k]) > 0 && core_is_tensor(PyList_GetItem(arg[k], 0))) return true;
    if (PyTuple_Check(arg[k]) && PyTuple_Size(arg[k]) > 0 && core_is_tensor(PyTuple_GetItem(arg[k], 0))) return true;
  }
  return false;
}

/* The class has no members of its own, so a new array of ours is one by its type alone. */
PyObject *core_as_tensor(PyObject *made) {
  if (!made || Py_TYPE(made) != core_array_type || !core_need(made)) return made;
  core_array *self = (core_array *)made;
  if (self->is_number) tt_array_set_readonly(self->array, false);
  self->is_number = false;
  Py_INCREF((PyObject *)core_tensor_class);
  Py_SET_TYPE(made, core_tensor_class);
  Py_DECREF((PyObject *)core_array_type);
  return made;
}

PyObject *core_tensor_like(PyObject *made, PyObject *from) {
  return core_is_tensor(from) ? core_as_tensor(made) : made;
}

/* ---- types */

enum { TRUTHS, INTEGERS, FLOATS, COMPLEX };
static int kind_of(tt_dtype t) {
  char kind = core_dtype_kind(t);
  return kind == 'b' ? TRUTHS : kind == 'c' ? COMPLEX : kind == 'f' ? FLOATS : INTEGERS;
}

static tt_dtype complex_of(tt_dtype t) { return t == TT_F64 || t == TT_C128 ? TT_C128 : TT_C64; }

/* Of two types of whole numbers: the wider one; a signed one that has room for both. */
static tt_dtype whole_meeting(tt_dtype a, tt_dtype b) {
  bool mixed = (core_dtype_kind(a) == 'u') != (core_dtype_kind(b) == 'u');
  if (!mixed) return core_dtype_bytes(a) >= core_dtype_bytes(b) ? a : b;
  tt_dtype sign = core_dtype_kind(a) == 'i' ? a : b, none = sign == a ? b : a;
  if (core_dtype_bytes(sign) > core_dtype_bytes(none)) return sign;
  return none == TT_U8 ? TT_I16 : none == TT_U16 ? TT_I32 : none == TT_U32 ? TT_I64 : TT_F32;
}

static tt_dtype meeting(tt_dtype a, tt_dtype b) {
  if (a == b || b == TT_DTYPE_NONE) return a;
  if (a == TT_DTYPE_NONE) return b;
  int ka = kind_of(a), kb = kind_of(b);
  if (ka == COMPLEX || kb == COMPLEX) return complex_of(a) == TT_C128 || complex_of(b) == TT_C128 ? TT_C128 : TT_C64;
  if (ka != kb) return ka > kb ? a : b;
  if (ka == INTEGERS) return whole_meeting(a, b);
  if (core_dtype_bytes(a) == core_dtype_bytes(b)) return TT_F32; /* the two halves */
  return core_dtype_bytes(a) > core_dtype_bytes(b) ? a : b;
}

/* What counts more, and what counts less. */
static tt_dtype outweigh(tt_dtype more, tt_dtype less) {
  if (more == TT_DTYPE_NONE || less == TT_DTYPE_NONE) return meeting(more, less);
  int km = kind_of(more), kl = kind_of(less);
  if (km == FLOATS && kl == COMPLEX) return complex_of(more);
  if (km >= FLOATS || kl <= km) return more;
  return meeting(more, less);
}

static tt_dtype number_type(const tt_value *v) {
  switch (v->tag) {
    case TT_V_BOOL:
      return TT_BOOL;
    case TT_V_FLOAT:
      return default_float;
    case TT_V_COMPLEX:
      return complex_of(default_float);
    default:
      return TT_I64;
  }
}

/* The type in which operands meet. */
static tt_dtype result_type(const tt_value *v, int n) {
  tt_dtype with = TT_DTYPE_NONE, without = TT_DTYPE_NONE, number = TT_DTYPE_NONE;
  for (int k = 0; k < n; k++) {
    if (v[k].tag != TT_V_ARRAY) {
      number = meeting(number, number_type(&v[k]));
      continue;
    }
    tt_dtype *of = tt_array_rank(v[k].as.array) > 0 ? &with : &without;
    *of = meeting(*of, tt_array_dtype(v[k].as.array));
  }
  return outweigh(outweigh(with, without), number);
}

/* Does the op make floats of whole numbers? */
static bool makes_floats(tt_op op) {
  enum { ARITH, FLOAT, DIVIDE, COMPARE, LOGIC, BITS, SHIFT, TEST, ROUND, PART, ABS, NONUM, WHOLE, DRAW, SPECIAL };
  static const unsigned char cls[] = {
#define TT_OP(E, lower, arity, cls, types, flags, identity, c, name) cls,
#include "tutti/ops.def"
#undef TT_OP
  };
  return cls[op] == FLOAT || cls[op] == DIVIDE || cls[op] == SPECIAL;
}

bool core_promote_tensors(tt_op op, tt_value *v, int n, tt_array **hold) {
  int first = op == TT_WHERE ? 1 : 0; /* a condition has no part in it */
  tt_dtype type = result_type(v + first, n - first);
  if (kind_of(type) <= INTEGERS && makes_floats(op)) type = default_float;
  for (int k = first; k < n; k++) {
    if (v[k].tag != TT_V_ARRAY || tt_array_dtype(v[k].as.array) == type) continue;
    tt_error err;
    tt_array *cast;
    tt_code c = tt_copy_as(v[k].as.array, type, 'K', &cast, &err);
    if (c != TT_OK) return core_raise(c, &err), false;
    if (hold[k]) tt_release(&hold[k]);
    hold[k] = cast;
    v[k] = tt_v_array(cast);
  }
  return true;
}

static const char *torch_name(tt_dtype t) {
  static const char *const names[] = {"Bool",     "Char",   "Short",  "Int",          "Long",
                                      "Byte",     "UInt16", "UInt32", "UInt64",       "Half",
                                      "BFloat16", "Float",  "Double", "ComplexFloat", "ComplexDouble"};
  return names[t];
}

bool core_tensor_fits(tt_op op, const tt_value *v, int n, PyObject *out) {
  tt_dtype to = core_dtype_of(out), type = result_type(v, n);
  if (kind_of(type) <= INTEGERS && makes_floats(op)) type = default_float;
  if (op >= TT_EQ && op <= TT_GE) type = TT_BOOL;
  if (kind_of(type) <= kind_of(to)) return true;
  PyErr_Format(PyExc_RuntimeError, "result type %s can't be cast to the desired output type %s", torch_name(type),
               torch_name(to));
  return false;
}

/* _tensor_class(): the class, made by the first call. Its methods are given to it by the package that calls. */
static PyObject *py_tensor_class(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return core_tensor_class || core_tensor_begin() ? Py_NewRef((PyObject *)core_tensor_class) : NULL;
}

/* _tensor_float(dtype=None): the type of floats that nobody named; a type: from now on this one. */
static PyObject *py_tensor_float(PyObject *self, PyObject *dtype) {
  (void)self;
  tt_dtype type;
  if (dtype == Py_None) return core_dtype_of_tensors(default_float);
  if (!core_dtype_from(dtype, &type)) return NULL;
  if (core_dtype_kind(type) != 'f') {
    PyErr_SetString(PyExc_TypeError, "only floating-point types are supported as the default type");
    return NULL;
  }
  default_float = type;
  Py_RETURN_NONE;
}

/* _as_tensor(x): an array in the class of tensors, the same memory; other things as they are. */
static PyObject *py_as_tensor(PyObject *self, PyObject *o) {
  (void)self;
  if (!core_is_array(o) || core_is_tensor(o) || !core_tensor_class || !core_need(o)) return Py_NewRef(o);
  bool number = core_is_number(o);
  tt_array *own = tt_retain(core_handle(o)), *copy;
  tt_error err;
  if (!number) return core_as_tensor(core_wrap(own, ((core_array *)o)->base));
  tt_code c = tt_copy(own, &copy, &err);
  tt_release(&own);
  return core_as_tensor(core_done(c, copy, NULL, &err));
}

/* _result_type(*operands): the type in which arrays and numbers of Python's meet. */
static PyObject *py_result_type(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  (void)self;
  tt_value v[2];
  if (n != 2 || !core_value_common(arg[0], &v[0]) || !core_value_common(arg[1], &v[1])) {
    PyErr_SetString(PyExc_TypeError, "result_type() takes two tensors or numbers");
    return NULL;
  }
  return core_dtype_of_tensors(result_type(v, 2));
}

PyMethodDef core_tensor_functions[] = {
    {"_tensor_class", py_tensor_class, METH_NOARGS, NULL},
    /* _tensor_dtypes(class): the types of tensors' elements are of this class under dtype from now on */
    {"_tensor_dtypes", core_py_tensor_dtypes, METH_O, NULL},
    {"_tensor_float", py_tensor_float, METH_O, NULL},
    {"_as_tensor", py_as_tensor, METH_O, NULL},
    {"_result_type", CORE_FAST(py_result_type), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};
