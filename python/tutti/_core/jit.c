/*
** `tutti._core.Jit`: a compiled function or kernel as a Python object. A call reads the types of its arguments into a
** short text, finds the code made for them (or has it made), hands words across and makes objects of what comes back.
** The package subclasses it: `_module` gives the function's tree, `_interpret` runs it where there is no compiler.
*/
#include "core.h"

#include <string.h>

enum { MOST_WORDS = 512, TYPE_ROOM = 768, MOST_HELD = 64, MOST_HIDDEN = 16, MOST_PLACES = 16 };

typedef struct special {
  struct special *next;
  tt_jit *jit;
  size_t len;
  int nhidden, narray;
  tt_jit_argument array[MOST_HIDDEN]; /* of a kernel: copies of the hidden arrays, one hold each */
  int64_t hidden_words[64];
  char types[];
} special;

typedef struct jit_object {
  PyObject_HEAD special *first; /* found last stands first */
  uint32_t flags;
  int fill; /* calls with fewer arguments take defaults */
  long long launches;
  int place[MOST_PLACES], nplace; /* devices it was launched on */
  PyObject *hidden;               /* list: memory behind the hidden arrays */
  PyObject *key;                  /* bytes for tt_jit_settle; NULL: nothing waits for this function */
} jit_object;

/* An argument that is held while the code runs. */
typedef struct held {
  PyObject *object; /* borrowed: the caller's */
  Py_buffer view;
  void *hold;     /* of tt_peek */
  char *own;      /* a written tutti array: its elements, to become its new value */
  const char *at; /* first byte */
  int64_t size;   /* bytes it spans, 0 when unknown */
  int arg, word;
  bool has_view, gpu;
} held;

typedef struct frame {
  char type[TYPE_ROOM];
  size_t ntype;
  int64_t word[MOST_WORDS];
  int nword, nheld;
  bool strided; /* tutti arrays keep their steps; else they are handed over dense */
  held held[MOST_HELD];
} frame;

static PyTypeObject *jit_type, *memory_type, *launch_type;

/* ---- memory that a call made, as a buffer */

typedef struct memory_object {
  PyObject_HEAD void *data;
  size_t size;
  PyObject *base; /* somebody else's memory: kept alive */
} memory_object;

static int memory_get(PyObject *self, Py_buffer *view, int flags) {
  memory_object *m = (memory_object *)self;
  return PyBuffer_FillInfo(view, self, m->data, (Py_ssize_t)m->size, 0, flags);
}

static void memory_free(PyObject *self) {
  memory_object *m = (memory_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (m->base)
    Py_DECREF(m->base);
  else
    tt_jit_free(m->data, m->size);
  freefunc slot = (freefunc)PyType_GetSlot(type, Py_tp_free);
  slot(self);
  Py_DECREF(type);
}

static PyType_Slot memory_slots[] = {{Py_tp_dealloc, memory_free},
                                     {Py_bf_getbuffer, memory_get},
                                     {Py_tp_doc, "Memory that a compiled function made."},
                                     {0, NULL}};
static PyType_Spec memory_spec = {"tutti._core.JitMemory", sizeof(memory_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, memory_slots};

/* Takes `data`, unless there is a base. */
static PyObject *memory_new(void *data, size_t size, PyObject *base) {
  allocfunc slot = (allocfunc)PyType_GetSlot(memory_type, Py_tp_alloc);
  memory_object *m = (memory_object *)slot(memory_type, 0);
  if (!m) return NULL;
  m->data = data;
  m->size = size;
  m->base = base ? Py_NewRef(base) : NULL;
  return (PyObject *)m;
}

/* ---- arguments */

static bool too_much(const char *what) {
  PyErr_Format(PyExc_TypeError, "the arguments of a compiled function have too many %s", what);
  return false;
}

static bool add_type(frame *f, const char *text, size_t n) {
  if (f->ntype + n + 2 > TYPE_ROOM) return too_much("parts");
  memcpy(f->type + f->ntype, text, n);
  f->ntype += n;
  return true;
}

static bool add_scalar(frame *f, const char *suffix, int64_t word) {
  if (f->nword + 2 > MOST_WORDS) return too_much("values");
  f->word[f->nword++] = word;
  return add_type(f, suffix, strlen(suffix));
}

static int64_t float_word(double x) {
  int64_t w;
  memcpy(&w, &x, sizeof w);
  return w;
}

/* The suffix of a dtype: u64, f32 ... */
static const char *suffix_of(tt_dtype t) {
  static const char *const rows[TT_DTYPE_COUNT] = {
#define TT_DTYPE(E, name, suffix, ctype, kind, bytes, typestr, format) #suffix,
#include "tutti/dtype.def"
#undef TT_DTYPE
  };
  return rows[t];
}

static bool add_array_type(frame *f, tt_dtype dtype, int rank, bool dense, bool readonly) {
  char text[24];
  const char *s = suffix_of(dtype);
  size_t n = strlen(s);
  if (rank > 8) {
    PyErr_SetString(PyExc_TypeError, "compiled functions take arrays of at most 8 axes");
    return false;
  }
  text[0] = 'A';
  memcpy(text + 1, s, n);
  text[n + 1] = ':';
  text[n + 2] = (char)('0' + rank);
  text[n + 3] = dense ? 'C' : 'A';
  text[n + 4] = 'R';
  return add_type(f, text, n + 4 + readonly);
}

/* A NumPy scalar: a read-only buffer without axes. */
static bool add_zero_axes(frame *f, const Py_buffer *v, tt_dtype dtype) {
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
  if (!add_scalar(f, suffix_of(dtype), w[0])) return false;
  if (dtype == TT_C128) f->word[f->nword++] = w[1];
  return true;
}

static held *new_held(frame *f, PyObject *o, int arg) {
  if (f->nheld == MOST_HELD) return (void)too_much("arrays"), NULL;
  held *h = &f->held[f->nheld++];
  *h = (held){.object = o, .arg = arg, .word = f->nword};
  return h;
}

static bool add_buffer(frame *f, PyObject *o, int arg) {
  held *h = new_held(f, o, arg);
  if (!h) return false;
  if (PyObject_GetBuffer(o, &h->view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) return false;
  h->has_view = true;
  const Py_buffer *v = &h->view;
  bool swap = false, dense = true;
  tt_dtype dtype = core_dtype_from_format(v->format ? v->format : "B", (int64_t)v->itemsize, &swap);
  if (dtype == TT_DTYPE_NONE || swap) {
    PyErr_Format(PyExc_TypeError, "compiled functions take no arrays of format '%s'", v->format ? v->format : "B");
    return false;
  }
  if (v->ndim == 0 && v->readonly) return add_zero_axes(f, v, dtype);
  if (f->nword + 1 + 2 * v->ndim > MOST_WORDS) return too_much("values");
  int64_t *w = &f->word[f->nword], step = 1;
  w[0] = (int64_t)(intptr_t)v->buf;
  h->at = v->buf;
  for (int k = v->ndim - 1; k >= 0; k--) {
    int64_t bytes = (int64_t)v->strides[k];
    if (bytes % (int64_t)v->itemsize != 0) {
      PyErr_SetString(PyExc_TypeError, "an array's strides are no multiples of its element size");
      return false;
    }
    w[1 + k] = (int64_t)v->shape[k];
    w[1 + v->ndim + k] = bytes / (int64_t)v->itemsize;
    dense &= v->shape[k] <= 1 || w[1 + v->ndim + k] == step;
    if (dense) w[1 + v->ndim + k] = step;
    step *= v->shape[k];
  }
  if (step == 0) dense = true;
  h->size = dense ? step * (int64_t)v->itemsize : 0;
  f->nword += 1 + 2 * v->ndim;
  return add_array_type(f, dtype, v->ndim, dense, v->readonly);
}

/* A tutti array. Of functions: dense memory of its own, read now; what is written becomes its new value after the
 * call. */
static bool add_array(frame *f, PyObject *o, int arg) {
  tt_array *a = core_handle(o);
  held *h = new_held(f, o, arg);
  int rank = tt_array_rank(a);
  int64_t step = 1;
  if (!h) return false;
  bool dense = !f->strided || tt_array_is_contiguous(a);
  if (f->nword + 1 + 2 * rank > MOST_WORDS) return too_much("values");
  int64_t *w = &f->word[f->nword];
  for (int k = rank - 1; k >= 0; k--) {
    w[1 + k] = tt_array_len(a)[k];
    w[1 + rank + k] = dense ? step : tt_array_step(a)[k];
    step *= w[1 + k];
  }
  h->size = step * core_dtype_bytes(tt_array_dtype(a));
  w[0] = 0; /* filled in when it is known */
  f->nword += 1 + 2 * rank;
  return add_array_type(f, tt_array_dtype(a), rank, dense, tt_array_is_readonly(a));
}

/* Memory of a GPU, told of by __cuda_array_interface__: used in place. *known: `o` has one. */
static bool add_gpu(frame *f, PyObject *o, int arg, bool *known) {
  PyObject *d = PyObject_GetAttrString(o, "__cuda_array_interface__");
  *known = d != NULL;
  if (!d) return PyErr_Clear(), false;
  PyObject *data = PyDict_GetItemString(d, "data"), *shape = PyDict_GetItemString(d, "shape"),
           *strides = PyDict_GetItemString(d, "strides"), *kind = PyDict_GetItemString(d, "typestr");
  const char *text = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
  bool swap = false, ok = false, dense = true;
  tt_dtype dtype = text ? core_dtype_from_typestr(text, &swap) : TT_DTYPE_NONE;
  Py_ssize_t rank = shape && PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
  held *h = new_held(f, o, arg);
  if (!h || dtype == TT_DTYPE_NONE || swap || rank < 0 || rank > 8 || !data || !PyTuple_Check(data)) goto done;
  h->gpu = true;
  if (f->nword + 1 + 2 * rank > MOST_WORDS) goto done;
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
  ok = !PyErr_Occurred() &&
       add_array_type(f, dtype, (int)rank, dense || step == 0, PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1);
done:
  if (!ok && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "this __cuda_array_interface__ is of no use here");
  Py_DECREF(d);
  return ok;
}

static bool add_int(frame *f, PyObject *o) {
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

static bool add_value(frame *f, PyObject *o, int arg, int depth);

static bool add_tuple(frame *f, PyObject *o, int arg, int depth) {
  Py_ssize_t n = PyTuple_Size(o);
  if (!add_type(f, "(", 1)) return false;
  for (Py_ssize_t k = 0; k < n; k++) {
    if (k && !add_type(f, ",", 1)) return false;
    if (!add_value(f, PyTuple_GetItem(o, k), arg, depth + 1)) return false;
  }
  return add_type(f, ")", 1);
}

static bool add_value(frame *f, PyObject *o, int arg, int depth) {
  if (PyFloat_Check(o)) return add_scalar(f, "f64", float_word(PyFloat_AsDouble(o)));
  if (PyBool_Check(o)) return add_scalar(f, "b8", o == Py_True);
  if (PyLong_Check(o)) return add_int(f, o);
  if (core_is_array(o)) return add_array(f, o, arg);
  if (PyTuple_Check(o) && depth < 8) return add_tuple(f, o, arg, depth);
  if (o == Py_None) return add_type(f, "N", 1);
  if (PyComplex_Check(o)) {
    if (!add_scalar(f, "c128", float_word(PyComplex_RealAsDouble(o)))) return false;
    f->word[f->nword++] = float_word(PyComplex_ImagAsDouble(o));
    return true;
  }
  if (PyObject_CheckBuffer(o)) return add_buffer(f, o, arg);
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
  PyErr_Format(PyExc_TypeError, "a compiled function takes numbers, tuples and arrays, not '%R'",
               (PyObject *)Py_TYPE(o));
  return false;
}

/* ---- tutti arrays: memory before the call, the new value after it */

static bool bind_arrays(frame *f, uint64_t writes) {
  tt_error err;
  for (int k = 0; k < f->nheld; k++) {
    held *h = &f->held[k];
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

static bool write_back(frame *f) {
  for (int k = 0; k < f->nheld; k++) {
    held *h = &f->held[k];
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

static bool is_anywhere_gpu(const frame *f) {
  for (int k = 0; k < f->nheld; k++)
    if (f->held[k].gpu) return true;
  return false;
}

static void let_go(frame *f) {
  for (int k = 0; k < f->nheld; k++) {
    held *h = &f->held[k];
    if (h->has_view) PyBuffer_Release(&h->view);
    if (h->hold) tt_unpeek(h->hold);
    PyMem_Free(h->own);
  }
  f->nheld = 0;
}

/* ---- results */

typedef struct result {
  const char *type; /* what is left of it */
  const int64_t *word;
  tt_jit_run *run;
  frame *f;
  PyObject *self;
} result;

static tt_dtype read_dtype(result *r) {
  size_t n = strcspn(r->type, ",():");
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    const char *s = suffix_of((tt_dtype)t);
    if (strlen(s) == n && memcmp(s, r->type, n) == 0) {
      r->type += n;
      return (tt_dtype)t;
    }
  }
  return TT_DTYPE_NONE;
}

/* The argument itself when it comes back whole; else memory, which the package's `_array` makes an array of. */
static PyObject *array_object(result *r) {
  r->type++;
  tt_dtype dtype = read_dtype(r);
  int rank = r->type[1] - '0';
  r->type += 3;
  const int64_t *w = r->word, *len = w + 1, *step = w + 1 + rank;
  r->word += 1 + 2 * rank;
  char *at = (char *)(intptr_t)w[0];
  void *data;
  size_t size;
  PyObject *memory = NULL;
  int64_t low = 0, high = core_dtype_bytes(dtype);
  for (int k = 0; k < rank; k++) {
    int64_t reach = len[k] > 0 ? (len[k] - 1) * step[k] * core_dtype_bytes(dtype) : 0;
    *(reach < 0 ? &low : &high) += reach;
  }
  if (tt_jit_run_take(r->run, at, &data, &size)) {
    memory = memory_new(data, size, NULL);
    if (!memory) tt_jit_free(data, size);
  } else {
    PyObject *base = NULL;
    for (int k = 0; k < r->f->nheld; k++) {
      held *h = &r->f->held[k];
      const int64_t *aw = &r->f->word[h->word];
      bool whole = h->at == at && h->has_view && h->view.ndim == rank && memcmp(aw, w, (size_t)(1 + 2 * rank) * 8) == 0;
      if (whole) return Py_NewRef(h->object);
      if (h->has_view && at >= (char *)h->view.buf && at < (char *)h->view.buf + (h->size ? h->size : h->view.len))
        base = h->object;
    }
    data = at + low;
    memory = memory_new(data, (size_t)(high - low), base ? base : r->self);
  }
  if (!memory) return NULL;
  PyObject *shape = PyTuple_New(rank), *strides = PyTuple_New(rank), *out = NULL;
  for (int k = 0; shape && strides && k < rank; k++) {
    PyTuple_SetItem(shape, k, PyLong_FromLongLong(len[k]));
    PyTuple_SetItem(strides, k, PyLong_FromLongLong(step[k] * core_dtype_bytes(dtype)));
  }
  if (shape && strides)
    out = PyObject_CallMethod(r->self, "_array", "OsOOL", memory, core_dtype_typestr(dtype), shape, strides,
                              (long long)(at - (char *)data));
  Py_XDECREF(shape);
  Py_XDECREF(strides);
  Py_DECREF(memory);
  return out;
}

static PyObject *scalar_object(result *r) {
  tt_dtype dtype = read_dtype(r);
  int64_t w = *r->word++;
  double d, im;
  float f[2];
  memcpy(&d, &w, sizeof d);
  memcpy(f, &w, sizeof f);
  switch (dtype) {
    case TT_BOOL:
      return PyBool_FromLong((long)(w & 255));
    case TT_F64:
      return PyFloat_FromDouble(d);
    case TT_F32:
      return PyFloat_FromDouble((double)f[0]);
    case TT_U64:
      return PyLong_FromUnsignedLongLong((unsigned long long)w);
    case TT_C64:
      return PyComplex_FromDoubles((double)f[0], (double)f[1]);
    case TT_C128:
      memcpy(&im, r->word++, sizeof im);
      return PyComplex_FromDoubles(d, im);
    default:
      return PyLong_FromLongLong(w);
  }
}

static PyObject *result_object(result *r) {
  if (*r->type == 'N') {
    r->type++;
    return Py_NewRef(Py_None);
  }
  if (*r->type == 'A') return array_object(r);
  if (*r->type != '(') return scalar_object(r);
  PyObject *list = PyList_New(0), *out = NULL;
  r->type++;
  while (list && *r->type != ')') {
    PyObject *item = result_object(r);
    if (*r->type == ',') r->type++;
    if (!item || PyList_Append(list, item) < 0) {
      Py_XDECREF(item);
      Py_CLEAR(list);
      break;
    }
    Py_DECREF(item);
  }
  if (list) {
    r->type++;
    out = PyList_AsTuple(list);
    Py_DECREF(list);
  }
  return out;
}

/* The bytes that an argument's array reaches, from its first element's address. */
static void extent(const frame *f, const held *h, int64_t *low, int64_t *size) {
  int64_t high = (int64_t)h->view.itemsize;
  const int64_t *w = &f->word[h->word];
  *low = 0;
  for (int k = 0; k < h->view.ndim; k++) {
    int64_t reach = (w[1 + k] - 1) * w[1 + h->view.ndim + k] * (int64_t)h->view.itemsize;
    if (w[1 + k] == 0) {
      *low = *size = 0;
      return;
    }
    *(reach < 0 ? low : &high) += reach;
  }
  *size = high - *low;
}

/* ---- finding the code for these types */

/* A kernel's hidden arrays as arrays of ours: launches read them wherever they run. */
static bool copy_hidden(special *s, const frame *h, int nword) {
  tt_error err;
  for (int k = 0; k < h->nheld; k++) {
    int64_t low, size;
    if (h->held[k].at == NULL) continue; /* a number */
    extent(h, &h->held[k], &low, &size);
    if (s->narray == MOST_HIDDEN) return too_much("global arrays");
    tt_jit_argument *a = &s->array[s->narray];
    *a = (tt_jit_argument){.word = nword + h->held[k].word, .inside = -low};
    tt_code c = tt_from_data(TT_U8, 1, &size, (char *)h->held[k].view.buf + low, NULL, &a->array, &err);
    if (c != TT_OK) return (void)core_raise(c, &err), false;
    s->narray++;
  }
  return true;
}

static void free_special(special *s) {
  for (int k = 0; k < s->narray; k++) tt_release(&s->array[k].array);
  PyMem_Free(s);
}

static void settle(jit_object *self, bool compiled) {
  PyObject *key = self->key;
  self->key = NULL;
  if (key) tt_jit_settle(PyBytes_AsString(key), (size_t)PyBytes_Size(key), compiled);
  Py_XDECREF(key);
}

static special *compile(jit_object *self, frame *f) {
  PyObject *made = PyObject_CallMethod((PyObject *)self, "_module", NULL);
  special *s = NULL;
  tt_jit *jit = NULL;
  tt_error err;
  frame *h = PyMem_Calloc(1, sizeof *h);
  if (!made || !h) goto done;
  PyObject *text, *arrays;
  if (!PyArg_ParseTuple(made, "SO!", &text, &PyList_Type, &arrays)) goto done;
  memcpy(h->type, f->type, f->ntype);
  h->ntype = f->ntype;
  Py_ssize_t n = PyList_Size(arrays);
  for (Py_ssize_t k = 0; k < n; k++) {
    if (!add_type(h, k ? "," : "|", 1) || !add_buffer(h, PyList_GetItem(arrays, k), 0)) goto done;
  }
  if (h->nword > 64) {
    PyErr_SetString(PyExc_TypeError, "a compiled function reads too many global arrays");
    goto done;
  }
  h->type[h->ntype] = 0;
  char *bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(text, &bytes, &size) < 0) goto done;
  core_block_begin();
  tt_code c = tt_jit_compile(bytes, (size_t)size, h->type, self->flags, &jit, &err);
  core_block_end();
  settle(self, c == TT_OK);
  if (c != TT_OK) {
    core_raise(c, &err);
    goto done;
  }
  s = PyMem_Calloc(1, sizeof *s + f->ntype + 1);
  if (!s) {
    PyErr_NoMemory();
    goto done;
  }
  memcpy(s->hidden_words, h->word, (size_t)h->nword * sizeof *h->word);
  memcpy(s->types, f->type, f->ntype);
  s->len = f->ntype;
  s->nhidden = h->nword;
  if ((self->flags & TT_JIT_KERNEL) && !copy_hidden(s, h, f->nword)) {
    free_special(s);
    s = NULL;
    goto done;
  }
  s->jit = jit;
  s->next = self->first;
  self->first = s;
  if (PyList_Append(self->hidden, arrays) < 0) PyErr_Clear(); /* held as long as this object */
done:
  if (h) let_go(h);
  PyMem_Free(h);
  Py_XDECREF(made);
  return s;
}

static special *find(jit_object *self, frame *f) {
  special **at = &self->first;
  for (special *s = self->first; s; at = &s->next, s = s->next) {
    if (s->len != f->ntype || memcmp(s->types, f->type, f->ntype) != 0) continue;
    *at = s->next;
    s->next = self->first;
    return self->first = s;
  }
  return compile(self, f);
}

static bool read_arguments(frame *f, PyObject *args, bool strided) {
  Py_ssize_t n = PyTuple_Size(args);
  f->strided = strided;
  f->ntype = 0;
  f->nword = f->nheld = 0;
  if (n > 64) return too_much("parts");
  for (Py_ssize_t k = 0; k < n; k++) {
    if (k && !add_type(f, ",", 1)) return false;
    if (!add_value(f, PyTuple_GetItem(args, k), (int)k, 0)) return false;
  }
  return true;
}

/* What was printed goes to Python's own standard output. */
static bool show(const tt_jit_run *run) {
  const char *text = tt_jit_run_text(run);
  if (!*text) return true;
  PyObject *out = PySys_GetObject("stdout"), *s = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  bool ok = s && (!out || out == Py_None || PyFile_WriteObject(s, out, Py_PRINT_RAW) == 0);
  Py_XDECREF(s);
  return ok;
}

/* Where there is no compiler the package runs the function itself. */
static PyObject *fall_back(PyObject *self, const char *method, const char *form, PyObject *args) {
  if (!PyErr_ExceptionMatches(PyExc_RuntimeError) || tt_jit_usable()) return NULL;
  PyErr_Clear();
  return PyObject_CallMethod(self, method, form, args);
}

static PyObject *jit_call(PyObject *self, PyObject *args, PyObject *names) {
  frame f;
  int64_t out[MOST_WORDS];
  PyObject *bound = NULL, *answer = NULL;
  tt_jit_run *run = NULL;
  tt_error err;
  if ((names && PyDict_Size(names) > 0) || PyTuple_Size(args) < ((jit_object *)self)->fill) {
    bound = PyObject_CallMethod(self, "_bind", "OO", args, names ? names : Py_None);
    if (!bound) return NULL;
    args = bound;
  }
  if (!read_arguments(&f, args, false)) goto done;
  special *s = find((jit_object *)self, &f);
  if (!s) {
    answer = fall_back(self, "_interpret", "(O)", args);
    goto done;
  }
  if (is_anywhere_gpu(&f)) {
    PyErr_SetString(PyExc_TypeError, "an argument lies on a GPU; compiled functions run on the CPU");
    goto done;
  }
  if (!bind_arrays(&f, tt_jit_writes(s->jit))) goto done;
  core_block_begin();
  tt_code c = tt_jit_call(s->jit, f.word, s->hidden_words, out, &run, &err);
  core_block_end();
  bool shown = show(run);
  if (c != TT_OK) {
    core_raise(c, &err);
  } else if (shown && write_back(&f)) {
    result r = {.type = tt_jit_result(s->jit), .word = out, .run = run, .f = &f, .self = self};
    answer = result_object(&r);
  }
done:
  if (run) tt_jit_run_release(&run);
  let_go(&f);
  Py_XDECREF(bound);
  return answer;
}

static bool triple(PyObject *o, int64_t *out, const char *what) {
  out[0] = out[1] = out[2] = 1;
  Py_ssize_t n = PyTuple_Check(o) || PyList_Check(o) ? PySequence_Size(o) : -1;
  if (n > 3 || n == 0) return PyErr_Format(PyExc_ValueError, "a %s has 1 to 3 axes", what), false;
  for (Py_ssize_t k = 0; k < (n < 0 ? 1 : n); k++) {
    PyObject *item = n < 0 ? Py_NewRef(o) : PySequence_GetItem(o, k), *number = item ? PyNumber_Index(item) : NULL;
    Py_XDECREF(item);
    if (!number) return false;
    out[k] = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred()) return false;
  }
  return true;
}

/* ---- launches: a kernel with its grid */

typedef struct launch_object {
  PyObject_HEAD PyObject *kernel, *stream;
  tt_jit_launch_options how;
} launch_object;

/* What the kernel is given that lies somewhere; *raw: addresses of a GPU's memory among the words. */
static int launch_arrays(const special *s, frame *f, tt_jit_argument *out, bool *raw) {
  uint64_t writes = tt_jit_writes(s->jit);
  int n = 0;
  *raw = false;
  for (int k = 0; k < f->nheld; k++) {
    held *h = &f->held[k];
    int64_t low = 0, size = h->size;
    *raw |= h->gpu;
    if (h->gpu || (h->has_view && h->at == NULL)) continue; /* an address; a NumPy scalar, which is a word by itself */
    tt_jit_argument *a = &out[n++];
    *a = (tt_jit_argument){.word = h->word, .writes = writes >> h->arg & 1};
    if (h->has_view) {
      extent(f, h, &low, &size);
      a->low = (char *)(uintptr_t)h->at + low;
      a->size = size;
    } else {
      a->array = core_handle(h->object);
    }
  }
  memcpy(out + n, s->array, (size_t)s->narray * sizeof *out);
  return n + s->narray;
}

static PyObject *fall_back_to_steps(launch_object *l, PyObject *args) {
  const int64_t *g = l->how.grid, *b = l->how.block;
  PyObject *all = Py_BuildValue("((LLL)(LLL)LOi)", (long long)g[0], (long long)g[1], (long long)g[2], (long long)b[0],
                                (long long)b[1], (long long)b[2], (long long)l->how.shared, args, 0);
  PyObject *out = all ? fall_back(l->kernel, "_step", "O", all) : NULL;
  Py_XDECREF(all);
  return out;
}

static void note(jit_object *kernel, int where) {
  int k = 0;
  kernel->launches++;
  while (k < kernel->nplace && kernel->place[k] != where) k++;
  if (k == kernel->nplace && k < MOST_PLACES) kernel->place[kernel->nplace++] = where;
}

static PyObject *launch_call(PyObject *self, PyObject *args, PyObject *names) {
  launch_object *l = (launch_object *)self;
  jit_object *kernel = (jit_object *)l->kernel;
  frame f;
  tt_jit_argument array[MOST_HELD + MOST_HIDDEN];
  PyObject *answer = NULL;
  tt_error err;
  bool raw;
  if (names && PyDict_Size(names) > 0) return PyErr_SetString(PyExc_TypeError, "a kernel takes no keywords"), NULL;
  if (!read_arguments(&f, args, true)) goto done;
  special *s = find(kernel, &f);
  if (!s) {
    answer = fall_back_to_steps(l, args);
    goto done;
  }
  int n = launch_arrays(s, &f, array, &raw);
  if (f.nword + s->nhidden > MOST_WORDS) {
    too_much("values");
    goto done;
  }
  memcpy(f.word + f.nword, s->hidden_words, (size_t)s->nhidden * sizeof *f.word);
  core_line();
  int where = 0;
  tt_code c = tt_jit_launch(s->jit, &l->how, f.word, f.nword, s->nhidden, array, n, raw, &where, &err);
  if (c == TT_OK) note(kernel, where);
  bool copied = false;
  for (int k = 0; k < n && where; k++) copied |= !array[k].array;
  if (!core_show_printed() || (copied && !core_warn_copied())) goto done;
  if (c == TT_EDEVICE && !tt_jit_usable()) {
    PyErr_SetString(PyExc_RuntimeError, err.message);
    answer = fall_back_to_steps(l, args);
  } else {
    answer = c == TT_OK ? Py_NewRef(Py_None) : core_raise(c, &err);
  }
done:
  let_go(&f);
  return answer;
}

static int launch_visit(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((launch_object *)self)->kernel);
  return 0;
}
static int launch_clear(PyObject *self) {
  (void)self; /* a kernel lets go of its launches; a launch is nothing without its kernel */
  return 0;
}

static void launch_free(PyObject *self) {
  launch_object *l = (launch_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(l->kernel);
  Py_XDECREF(l->stream);
  freefunc slot = (freefunc)PyType_GetSlot(type, Py_tp_free);
  slot(self);
  Py_DECREF(type);
}

static PyType_Slot launch_slots[] = {{Py_tp_doc, "A kernel with its grid: call it with the arguments."},
                                     {Py_tp_call, launch_call},
                                     {Py_tp_traverse, launch_visit},
                                     {Py_tp_clear, launch_clear},
                                     {Py_tp_dealloc, launch_free},
                                     {0, NULL}};
static PyType_Spec launch_spec = {"tutti._core.Launch", sizeof(launch_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  launch_slots};

/* _at(grid, block, stream, shared, device, on_cpu): a launch. `device`: where it runs when no array says. No block
 * (None): `grid` threads, in blocks of a size that is chosen. */
static PyObject *jit_at(PyObject *self, PyObject *args) {
  PyObject *grid, *block, *stream;
  tt_jit_launch_options how;
  tt_entry_grid at;
  long long shared;
  int device, on_cpu;
  if (!PyArg_ParseTuple(args, "OOOLip", &grid, &block, &stream, &shared, &device, &on_cpu)) return NULL;
  if (!triple(grid, how.grid, "grid") || !core_read_stream(stream, &at)) return NULL;
  if (block != Py_None && !triple(block, how.block, "block")) return NULL;
  how.threads = block == Py_None ? how.grid[0] : 0;
  allocfunc slot = (allocfunc)PyType_GetSlot(launch_type, Py_tp_alloc);
  launch_object *l = (launch_object *)slot(launch_type, 0);
  if (!l) return NULL;
  how.stream = at.stream;
  how.device = at.device;
  how.shared = shared;
  how.otherwise = device;
  how.on_cpu = on_cpu;
  l->how = how;
  l->kernel = Py_NewRef(self);
  l->stream = Py_NewRef(stream);
  return (PyObject *)l;
}

/* _launched(): how often, and a list of the devices. */
static PyObject *jit_launched(PyObject *self, PyObject *unused) {
  jit_object *j = (jit_object *)self;
  PyObject *list = PyList_New(0);
  (void)unused;
  for (int k = 0; list && k < j->nplace; k++) {
    PyObject *number = PyLong_FromLong(j->place[k]);
    if (!number || PyList_Append(list, number) < 0) Py_CLEAR(list);
    Py_XDECREF(number);
  }
  return list ? Py_BuildValue("LN", j->launches, list) : NULL;
}

/* ---- looking inside */

/* _specials(): [(types, result, C text, table of variables, writes, shared, local, barriers)] */
static PyObject *jit_specials(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  for (special *s = ((jit_object *)self)->first; list && s; s = s->next) {
    tt_jit_info i = tt_jit_ask(s->jit);
    PyObject *row =
        Py_BuildValue("(s#sssKLLO)", s->types, (Py_ssize_t)s->len, tt_jit_result(s->jit), tt_jit_source(s->jit),
                      tt_jit_types(s->jit), (unsigned long long)tt_jit_writes(s->jit), (long long)i.shared,
                      (long long)i.local, i.barriers ? Py_True : Py_False);
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

/* _cuda(types): the CUDA C++ text of a kernel for these argument types. */
static PyObject *jit_cuda(PyObject *self, PyObject *types) {
  Py_ssize_t n;
  const char *text = PyUnicode_AsUTF8AndSize(types, &n);
  frame *f = PyMem_Calloc(1, sizeof *f);
  special *s = text && f && add_type(f, text, (size_t)n) ? find((jit_object *)self, f) : NULL;
  PyMem_Free(f);
  if (!s) return NULL;
  tt_error err = {0};
  char *source = tt_jit_cuda_source(s->jit, &err);
  if (!source) return core_raise(err.code, &err);
  PyObject *out = PyUnicode_FromString(source);
  tt_text_free(source);
  return out;
}

/* _at_once(types, device, threads, shared): blocks that the device runs at once. */
static PyObject *jit_at_once(PyObject *self, PyObject *args) {
  const char *text;
  Py_ssize_t n;
  int device, threads;
  long long shared;
  int64_t blocks;
  tt_error err;
  if (!PyArg_ParseTuple(args, "s#iiL", &text, &n, &device, &threads, &shared)) return NULL;
  frame *f = PyMem_Calloc(1, sizeof *f);
  special *s = f && add_type(f, text, (size_t)n) ? find((jit_object *)self, f) : NULL;
  PyMem_Free(f);
  if (!s) return NULL;
  core_block_begin();
  tt_code c = tt_jit_at_once(s->jit, device, threads, shared, &blocks, &err);
  core_block_end();
  return c == TT_OK ? PyLong_FromLongLong(blocks) : core_raise(c, &err);
}

/* _compile(types): code for a signature's text, without a call. Gives the result's type. */
static PyObject *jit_compile(PyObject *self, PyObject *types) {
  Py_ssize_t n;
  const char *text = PyUnicode_AsUTF8AndSize(types, &n);
  frame *f = PyMem_Calloc(1, sizeof *f);
  special *s = NULL;
  if (text && f && add_type(f, text, (size_t)n)) s = find((jit_object *)self, f);
  PyMem_Free(f);
  return s ? PyUnicode_FromString(tt_jit_result(s->jit)) : NULL;
}

/* _types(args): the signature's text of these arguments. */
static PyObject *jit_types_of(PyObject *self, PyObject *args) {
  frame f;
  if (!PyTuple_Check(args)) return PyErr_SetString(PyExc_TypeError, "a tuple of arguments"), NULL;
  PyObject *out = NULL;
  if (read_arguments(&f, args, ((jit_object *)self)->flags & TT_JIT_KERNEL))
    out = PyUnicode_FromStringAndSize(f.type, (Py_ssize_t)f.ntype);
  let_go(&f);
  return out;
}

static int jit_init(PyObject *self, PyObject *args, PyObject *names) {
  unsigned int flags;
  int fill;
  PyObject *key = NULL; /* bytes that stand for the function */
  (void)names;
  if (!PyArg_ParseTuple(args, "Ii|O", &flags, &fill, &key)) return -1;
  jit_object *j = (jit_object *)self;
  if (!j->key && key && PyBytes_Check(key) && tt_jit_expect(PyBytes_AsString(key), (size_t)PyBytes_Size(key)))
    j->key = Py_NewRef(key);
  j->flags = flags;
  j->fill = fill;
  if (!j->hidden) j->hidden = PyList_New(0);
  return j->hidden ? 0 : -1;
}

static int jit_visit(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((jit_object *)self)->hidden);
  return 0;
}
static int jit_clear(PyObject *self) {
  Py_CLEAR(((jit_object *)self)->hidden);
  return 0;
}

static void jit_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  jit_object *j = (jit_object *)self;
  for (special *s = j->first, *next; s; s = next) {
    next = s->next;
    free_special(s);
  }
  Py_CLEAR(j->hidden);
  settle(j, false);
  freefunc slot = (freefunc)PyType_GetSlot(type, Py_tp_free);
  slot(self);
  Py_DECREF(type);
}

static PyMethodDef jit_methods[] = {{"_at", jit_at, METH_VARARGS, NULL},
                                    {"_specials", jit_specials, METH_NOARGS, NULL},
                                    {"_compile", jit_compile, METH_O, NULL},
                                    {"_cuda", jit_cuda, METH_O, NULL},
                                    {"_at_once", jit_at_once, METH_VARARGS, NULL},
                                    {"_types", jit_types_of, METH_O, NULL},
                                    {"_launched", jit_launched, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
static PyType_Slot jit_slots[] = {{Py_tp_doc, "A compiled function or kernel."},
                                  {Py_tp_init, jit_init},
                                  {Py_tp_call, jit_call},
                                  {Py_tp_methods, jit_methods},
                                  {Py_tp_traverse, jit_visit},
                                  {Py_tp_clear, jit_clear},
                                  {Py_tp_dealloc, jit_free},
                                  {0, NULL}};
static PyType_Spec jit_spec = {"tutti._core.Jit", sizeof(jit_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, jit_slots};

int core_jit_init(PyObject *module) {
  jit_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &jit_spec, NULL);
  memory_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &memory_spec, NULL);
  launch_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &launch_spec, NULL);
  if (!jit_type || !memory_type || !launch_type) return -1;
  return PyModule_AddObjectRef(module, "Jit", (PyObject *)jit_type) < 0 ||
                 PyModule_AddObjectRef(module, "JitMemory", (PyObject *)memory_type) < 0
             ? -1
             : 0;
}
