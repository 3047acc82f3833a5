/*
** Arguments of compiled functions: Python's objects as a text of types and as words.
*/
#include "jit_int.h"

#include <string.h>

bool core_jit_too_much(const char *what) {
  PyErr_Format(PyExc_TypeError, "the arguments of a compiled function have too many %s", what);
  return false;
}

bool core_jit_add_type(jit_frame *f, const char *text, size_t n) {
  if (f->ntype + n + 2 > JIT_TYPE) return core_jit_too_much("parts");
  memcpy(f->type + f->ntype, text, n);
  f->ntype += n;
  return true;
}

static bool add_scalar(jit_frame *f, const char *suffix, int64_t word) {
  if (f->nword + 2 > JIT_WORDS) return core_jit_too_much("values");
  f->word[f->nword++] = word;
  return core_jit_add_type(f, suffix, strlen(suffix));
}

static int64_t float_word(double x) {
  int64_t w;
  memcpy(&w, &x, sizeof w);
  return w;
}

const char *core_jit_suffix(tt_dtype t) {
  static const char *const rows[TT_DTYPE_COUNT] = {
#define TT_DTYPE(E, name, suffix, ctype, kind, bytes, typestr, format) #suffix,
#include "tutti/dtype.def"
#undef TT_DTYPE
  };
  return rows[t];
}

/* `len`: of the axes. */
static bool add_array_type(jit_frame *f, tt_dtype dtype, int rank, const int64_t *len, char layout, bool readonly) {
  char text[24];
  const char *s = core_jit_suffix(dtype);
  size_t n = strlen(s);
  if (rank > 8) {
    PyErr_SetString(PyExc_TypeError, "compiled functions take arrays of at most 8 axes");
    return false;
  }
  for (int k = 0; k < rank; k++)
    if (len[k] > TT_JIT_LONGEST) {
      PyErr_SetString(PyExc_ValueError, "an axis is too long for a compiled function");
      return false;
    }
  text[0] = 'A';
  memcpy(text + 1, s, n);
  text[n + 1] = ':';
  text[n + 2] = (char)('0' + rank);
  text[n + 3] = layout;
  text[n + 4] = 'R';
  return core_jit_add_type(f, text, n + 4 + readonly);
}

/* A NumPy scalar: a read-only buffer without axes. */
static bool add_zero_axes(jit_frame *f, const Py_buffer *v, tt_dtype dtype) {
  int64_t w[2] = {0, 0};
  memcpy(w, v->buf, (size_t)v->itemsize);
  switch (core_dtype_kind(dtype)) {
    case 'i':
      if (v->itemsize == 1) w[0] = (int8_t)w[0];
      if (v->itemsize == 2) w[0] = (int16_t)w[0];
      if (v->itemsize == 4) w[0] = (int32_t)w[0];
      break;
    default:
      break;
  }
  if (!add_scalar(f, core_jit_suffix(dtype), w[0])) return false;
  if (dtype == TT_C128) f->word[f->nword++] = w[1];
  return true;
}

static jit_held *new_held(jit_frame *f, PyObject *o, int arg) {
  if (f->nheld == JIT_HELD) return (void)core_jit_too_much("arrays"), NULL;
  jit_held *h = &f->held[f->nheld++];
  *h = (jit_held){.object = o, .arg = arg, .word = f->nword};
  return h;
}

/* What the package calls the fields of a class, or an array's type: "@meta;". */
static bool add_names(jit_frame *f, const char *function, PyObject *o) {
  PyObject *module = PyImport_ImportModule("tutti._jit.named"), *text;
  text = module ? PyObject_CallMethod(module, function, "O", o) : NULL;
  const char *meta = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  bool ok =
      meta && core_jit_add_type(f, "@", 1) && core_jit_add_type(f, meta, strlen(meta)) && core_jit_add_type(f, ";", 1);
  Py_XDECREF(text);
  Py_XDECREF(module);
  return ok;
}

static bool add_value(jit_frame *f, PyObject *o, int arg, int depth);

/* An array of records, or one record: its fields, each an array or a number. */
static bool add_records(jit_frame *f, PyObject *o, int arg) {
  PyObject *module = PyImport_ImportModule("tutti._jit.named");
  PyObject *parts = module ? PyObject_CallMethod(module, "fields_of", "O", o) : NULL;
  Py_XDECREF(module);
  bool ok = parts && core_jit_add_type(f, "(", 1) && add_names(f, "records_meta", o);
  for (Py_ssize_t k = 0; ok && k < PyTuple_Size(parts); k++) {
    if (k) ok = core_jit_add_type(f, ",", 1);
    ok = ok && add_value(f, PyTuple_GetItem(parts, k), arg, 1);
  }
  Py_XDECREF(parts); /* whose buffers are held */
  return ok && core_jit_add_type(f, ")", 1);
}

/* Elements that lie where numbers of their type do not: fields of packed records. Their steps are bytes. */
static bool lies_packed(const Py_buffer *v, tt_dtype dtype) {
  int64_t item = (int64_t)v->itemsize, fine = core_dtype_kind(dtype) == 'c' ? item / 2 : item;
  bool packed = (intptr_t)v->buf % fine != 0;
  for (int k = 0; k < v->ndim; k++) packed |= (int64_t)v->strides[k] % item != 0;
  return packed;
}

bool core_jit_add_buffer(jit_frame *f, PyObject *o, int arg) {
  jit_held *h = new_held(f, o, arg);
  if (!h) return false;
  if (PyObject_GetBuffer(o, &h->view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) return false;
  h->has_view = true;
  const Py_buffer *v = &h->view;
  if (v->format && v->format[0] == 'T') {
    PyBuffer_Release(&h->view);
    f->nheld--;
    return add_records(f, o, arg);
  }
  bool swap = false, dense = true;
  tt_dtype dtype = core_dtype_from_format(v->format ? v->format : "B", (int64_t)v->itemsize, &swap);
  if (dtype == TT_DTYPE_NONE || swap) {
    PyErr_Format(PyExc_TypeError, "compiled functions take no arrays of format '%s'", v->format ? v->format : "B");
    return false;
  }
  if (v->ndim == 0 && v->readonly) return add_zero_axes(f, v, dtype);
  if (f->nword + 1 + 2 * v->ndim > JIT_WORDS) return core_jit_too_much("values");
  int64_t *w = &f->word[f->nword], step = 1;
  w[0] = (int64_t)(intptr_t)v->buf;
  h->at = v->buf;
  bool packed = lies_packed(v, dtype);
  for (int k = v->ndim - 1; k >= 0; k--) {
    int64_t bytes = (int64_t)v->strides[k];
    w[1 + k] = (int64_t)v->shape[k];
    w[1 + v->ndim + k] = packed ? bytes : bytes / (int64_t)v->itemsize;
    dense &= !packed && (v->shape[k] <= 1 || w[1 + v->ndim + k] == step);
    if (dense) w[1 + v->ndim + k] = step;
    step *= v->shape[k];
  }
  if (step == 0) dense = !packed;
  h->size = dense ? step * (int64_t)v->itemsize : 0;
  f->nword += 1 + 2 * v->ndim;
  return add_array_type(f, dtype, v->ndim, w + 1, packed ? 'P' : dense ? 'C' : 'A', v->readonly);
}

/* A tutti array. Of functions: dense memory of its own, read now; what is written becomes its new value after the
 * call. */
static bool add_array(jit_frame *f, PyObject *o, int arg) {
  tt_array *a = core_handle(o);
  jit_held *h = new_held(f, o, arg);
  int rank = tt_array_rank(a);
  int64_t step = 1;
  if (!h) return false;
  bool dense = !f->strided || tt_array_is_contiguous(a);
  if (f->nword + 1 + 2 * rank > JIT_WORDS) return core_jit_too_much("values");
  int64_t *w = &f->word[f->nword];
  for (int k = rank - 1; k >= 0; k--) {
    w[1 + k] = tt_array_len(a)[k];
    w[1 + rank + k] = dense ? step : tt_array_step(a)[k];
    step *= w[1 + k];
  }
  h->size = step * core_dtype_bytes(tt_array_dtype(a));
  w[0] = 0; /* filled in when it is known */
  f->nword += 1 + 2 * rank;
  return add_array_type(f, tt_array_dtype(a), rank, w + 1, dense ? 'C' : 'A', tt_array_is_readonly(a));
}

bool core_jit_add_kept(jit_frame *f, PyObject *o) {
  return core_is_array(o) ? core_need(o) && add_array(f, o, 0) : core_jit_add_buffer(f, o, 0);
}

/* Memory of a GPU, told of by __cuda_array_interface__: used in place. *known: `o` has one. */
static bool add_gpu(jit_frame *f, PyObject *o, int arg, bool *known) {
  PyObject *d = PyObject_GetAttrString(o, "__cuda_array_interface__");
  *known = d != NULL;
  if (!d) return PyErr_Clear(), false;
  PyObject *data = PyDict_GetItemString(d, "data"), *shape = PyDict_GetItemString(d, "shape"),
           *strides = PyDict_GetItemString(d, "strides"), *kind = PyDict_GetItemString(d, "typestr");
  const char *text = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
  bool swap = false, ok = false, dense = true;
  tt_dtype dtype = text ? core_dtype_from_typestr(text, &swap) : TT_DTYPE_NONE;
  Py_ssize_t rank = shape && PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
  jit_held *h = new_held(f, o, arg);
  if (!h || dtype == TT_DTYPE_NONE || swap || rank < 0 || rank > 8 || !data || !PyTuple_Check(data)) goto done;
  h->gpu = true;
  if (f->nword + 1 + 2 * rank > JIT_WORDS) goto done;
  int64_t *w = &f->word[f->nword], step = 1, bytes = core_dtype_bytes(dtype);
  w[0] = (int64_t)PyLong_AsUnsignedLongLong(PyTuple_GetItem(data, 0));
  for (Py_ssize_t k = rank - 1; k >= 0; k--) {
    w[1 + k] = PyLong_AsLongLong(PyTuple_GetItem(shape, k));
    bool given = strides && PyTuple_Check(strides);
    w[1 + rank + k] = given ? PyLong_AsLongLong(PyTuple_GetItem(strides, k)) / bytes : step;
    dense &= w[1 + k] <= 1 || w[1 + rank + k] == step;
    step *= w[1 + k];
  }
  f->nword += 1 + 2 * (int)rank;
  ok = !PyErr_Occurred() && add_array_type(f, dtype, (int)rank, w + 1, dense || step == 0 ? 'C' : 'A',
                                           PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1);
done:
  if (!ok && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "this __cuda_array_interface__ is of no use here");
  Py_DECREF(d);
  return ok;
}

static bool add_int(jit_frame *f, PyObject *o) {
  int overflow = 0;
  long long i = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow == 0) return add_scalar(f, "i64", i);
  if (overflow > 0) {
    unsigned long long u = PyLong_AsUnsignedLongLong(o);
    if (!PyErr_Occurred()) return add_scalar(f, "u64", (int64_t)u);
  }
  PyErr_Clear();
  PyErr_SetString(PyExc_OverflowError, "an int is beyond 64 bits");
  return false;
}

static bool add_tuple(jit_frame *f, PyObject *o, int arg, int depth) {
  Py_ssize_t n = PyTuple_Size(o);
  if (!core_jit_add_type(f, "(", 1)) return false;
  if (!PyTuple_CheckExact(o) && PyObject_HasAttrString(o, "_fields") &&
      !add_names(f, "meta_of", (PyObject *)Py_TYPE(o)))
    return false;
  for (Py_ssize_t k = 0; k < n; k++) {
    if (k && !core_jit_add_type(f, ",", 1)) return false;
    if (!add_value(f, PyTuple_GetItem(o, k), arg, depth + 1)) return false;
  }
  return core_jit_add_type(f, ")", 1);
}

static bool add_slice(jit_frame *f, PyObject *o, int arg, int depth) {
  static const char *const parts[] = {"start", "stop", "step"};
  if (!core_jit_add_type(f, "(@Sslice:start:stop:step;", 25)) return false;
  for (int k = 0; k < 3; k++) {
    PyObject *part = PyObject_GetAttrString(o, parts[k]);
    bool ok = part && (!k || core_jit_add_type(f, ",", 1)) && add_value(f, part, arg, depth + 1);
    Py_XDECREF(part);
    if (!ok) return false;
  }
  return core_jit_add_type(f, ")", 1);
}

static bool add_value(jit_frame *f, PyObject *o, int arg, int depth) {
  if (PyFloat_Check(o)) return add_scalar(f, "f64", float_word(PyFloat_AsDouble(o)));
  if (PyBool_Check(o)) return add_scalar(f, "b8", o == Py_True);
  if (PyLong_Check(o)) return add_int(f, o);
  if (core_is_number(o) && core_dtype_of(o) != TT_BF16) return core_jit_add_buffer(f, o, arg);
  if (core_is_array(o)) return core_need(o) && add_array(f, o, arg);
  if (PyTuple_Check(o) && depth < 8) return add_tuple(f, o, arg, depth);
  if (PyUnicode_Check(o)) return core_jit_add_text(f, o);
  if (Py_IS_TYPE(o, &PySlice_Type) && depth < 8) return add_slice(f, o, arg, depth);
  if (o == Py_None) return core_jit_add_type(f, "N", 1);
  if (PyComplex_Check(o)) {
    if (!add_scalar(f, "c128", float_word(PyComplex_RealAsDouble(o)))) return false;
    f->word[f->nword++] = float_word(PyComplex_ImagAsDouble(o));
    return true;
  }
  if (PyObject_CheckBuffer(o)) return core_jit_add_buffer(f, o, arg);
  bool list;
  bool fits = core_jit_add_list(f, o, arg, &list);
  if (list) return fits;
  /* a device array and the like knows what it stands for */
  PyObject *inner = PyObject_GetAttrString(o, "_jit_argument");
  if (inner) {
    bool ok = depth < 8 && add_value(f, inner, arg, depth + 1);
    Py_DECREF(inner); /* the object itself holds it */
    return ok;
  }
  PyErr_Clear();
  bool known;
  bool added = add_gpu(f, o, arg, &known);
  if (known) return added;
  if (PyDict_Check(o)) {
    PyErr_SetString(
        PyExc_TypeError,
        "a compiled function takes no Python dict, which holds anything: pass numba.typed.Dict of its items");
    return false;
  }
  f->strange = true;
  PyErr_Format(PyExc_TypeError, "a compiled function takes numbers, tuples and arrays, not '%R'",
               (PyObject *)Py_TYPE(o));
  return false;
}

bool core_jit_read(jit_frame *f, PyObject *args, bool strided) {
  Py_ssize_t n = PyTuple_Size(args);
  f->strided = strided;
  f->strange = false;
  f->ntype = 0;
  f->nword = f->nheld = 0;
  f->lists = NULL;
  f->made = NULL;
  if (n > 64) return core_jit_too_much("parts");
  for (Py_ssize_t k = 0; k < n; k++) {
    if (k && !core_jit_add_type(f, ",", 1)) return false;
    if (!add_value(f, PyTuple_GetItem(args, k), (int)k, 0)) return false;
  }
  return true;
}

/* ---- tutti arrays: memory before the call, the new value after it */

bool core_jit_bind(jit_frame *f, uint64_t writes) {
  tt_error err;
  for (int k = 0; k < f->nheld; k++) {
    jit_held *h = &f->held[k];
    if (h->has_view || h->gpu) continue;
    tt_array *a = core_handle(h->object);
    tt_code c;
    if (writes >> h->arg & 1) {
      h->own = PyMem_Malloc((size_t)h->size + 1);
      if (!h->own) return (void)PyErr_NoMemory(), false;
      c = tt_read(a, h->own, (size_t)h->size, &err);
      h->at = h->own;
    } else {
      tt_array *dense = NULL;
      const void *data = NULL;
      c = tt_array_is_contiguous(a) ? TT_OK : tt_copy(a, &dense, &err);
      if (c == TT_OK) c = tt_peek(dense ? dense : a, &data, &h->hold, &err);
      if (dense) tt_release(&dense);
      h->at = data;
    }
    if (c != TT_OK) return (void)core_raise(c, &err), false;
    f->word[h->word] = (int64_t)(intptr_t)h->at;
  }
  return true;
}

bool core_jit_write_back(jit_frame *f) {
  for (int k = 0; k < f->nheld; k++) {
    jit_held *h = &f->held[k];
    if (!h->own) continue;
    tt_array *a = core_handle(h->object), *fresh = NULL;
    tt_error err;
    tt_value all = {.tag = TT_V_ELLIPSIS};
    tt_code c = tt_from_data(tt_array_dtype(a), tt_array_rank(a), tt_array_len(a), h->own, NULL, &fresh, &err);
    if (c == TT_OK) c = tt_set(a, all, tt_v_array(fresh), &err);
    if (fresh) tt_release(&fresh);
    if (c != TT_OK) return (void)core_raise(c, &err), false;
  }
  return true;
}

bool core_jit_has_gpu(const jit_frame *f) {
  for (int k = 0; k < f->nheld; k++)
    if (f->held[k].gpu) return true;
  return false;
}

void core_jit_let_go(jit_frame *f) {
  for (int k = 0; k < f->nheld; k++) {
    jit_held *h = &f->held[k];
    if (h->has_view) PyBuffer_Release(&h->view);
    if (h->hold) tt_unpeek(h->hold);
    PyMem_Free(h->own);
  }
  f->nheld = 0;
  if (f->lists) core_jit_free_lists(f);
  Py_CLEAR(f->made);
}

void core_jit_extent(const jit_held *h, int64_t *low, int64_t *size) {
  int64_t high = (int64_t)h->view.itemsize;
  *low = 0;
  for (int k = 0; k < h->view.ndim; k++) {
    int64_t n = (int64_t)h->view.shape[k], reach = (n - 1) * (int64_t)h->view.strides[k];
    if (n == 0) {
      *low = *size = 0;
      return;
    }
    *(reach < 0 ? low : &high) += reach;
  }
  *size = high - *low;
}
