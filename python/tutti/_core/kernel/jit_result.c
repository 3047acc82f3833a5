/*
** Results of compiled functions: words as Python's objects, and memory that a call made as a buffer.
*/
#include "jit_int.h"

#include <string.h>

static PyTypeObject *memory_type;

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

/* ---- words to objects */

typedef struct result {
  const char *type; /* what is left of it */
  const int64_t *word;
  tt_jit_run *run;
  jit_frame *f;
  PyObject *self;
} result;

static tt_dtype read_dtype(result *r) {
  size_t n = strcspn(r->type, ",():");
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    const char *s = core_jit_suffix((tt_dtype)t);
    if (s[0] == r->type[0] && s[1] == r->type[1] && strlen(s) == n && memcmp(s, r->type, n) == 0) {
      r->type += n;
      return (tt_dtype)t;
    }
  }
  return TT_DTYPE_NONE;
}

/* Does the argument's memory, as the function saw it, hold this address? */
static bool lies_in(const jit_held *h, const char *at) {
  const char *from = h->has_view ? h->view.buf : h->at;
  int64_t size = h->size || !h->has_view ? h->size : (int64_t)h->view.len;
  return !h->gpu && from && at >= from && at < from + size;
}

static bool is_ours(const jit_held *h) { return !h->has_view && !h->gpu; }

/* The bytes that elements of an array reach from its first one: [*low, *high). */
static void reach(int rank, const int64_t *len, const int64_t *step, int64_t item, int64_t *low, int64_t *high) {
  *low = 0;
  *high = item;
  for (int k = 0; k < rank; k++) {
    int64_t far = len[k] > 0 ? (len[k] - 1) * step[k] * item : 0;
    *(far < 0 ? low : high) += far;
  }
}

/* What holds a result that the call did not make: an argument, or a global array, which it is a view of. Of an array of
 * ours the function saw dense memory that goes when the call is over: its view if it is dense itself, else a copy. */
static PyObject *borrowed(result *r, const jit_held *h, char *at, int64_t low, int64_t high, char **data) {
  if (h && is_ours(h) && tt_array_is_contiguous(core_handle(h->object))) {
    *data = (char *)(uintptr_t)h->at;
    return Py_NewRef(h->object);
  }
  *data = at + low;
  if (h && is_ours(h)) return PyByteArray_FromStringAndSize(*data, (Py_ssize_t)(high - low));
  return memory_new(*data, (size_t)(high - low), h ? h->object : r->self);
}

static PyObject *tuple_of(const int64_t *value, int n, int64_t factor) {
  PyObject *out = PyTuple_New(n);
  for (int k = 0; out && k < n; k++) PyTuple_SetItem(out, k, PyLong_FromLongLong(value[k] * factor));
  return out;
}

/* Memory that another result took already, which this one is a part of, too; NULL: it is none of the call's. */
static PyObject *taken_before(const result *r, const char *at, char **data) {
  for (Py_ssize_t k = 0; r->f->made && k < PyList_Size(r->f->made); k++) {
    const memory_object *m = (memory_object *)PyList_GetItem(r->f->made, k);
    *data = m->data;
    if (at >= *data && at < *data + m->size) return Py_NewRef((PyObject *)(uintptr_t)m);
  }
  return NULL;
}

/* Memory that the call made, for an array in it. */
static PyObject *take(result *r, void *made, size_t size) {
  PyObject *memory = memory_new(made, size, NULL);
  if (!memory) {
    tt_jit_free(made, size);
    return NULL;
  }
  if (!r->f->made) r->f->made = PyList_New(0);
  if (!r->f->made || PyList_Append(r->f->made, memory) < 0) Py_CLEAR(memory);
  return memory;
}

/* The argument itself when it comes back whole; else memory, which the package's `_array` makes an array of: one of
 * ours where an argument is one. */
static PyObject *array_object(result *r) {
  r->type++;
  tt_dtype dtype = read_dtype(r);
  int rank = r->type[1] - '0';
  bool bytes = r->type[2] == 'P';
  r->type += 3;
  const int64_t *w = r->word, *len = w + 1, *step = w + 1 + rank, item = core_dtype_bytes(dtype);
  r->word += 1 + 2 * rank;
  char *at = (char *)(intptr_t)w[0];
  void *made;
  char *data;
  size_t size;
  int64_t low, high;
  bool ours = false;
  const jit_held *base = NULL;
  PyObject *memory;
  for (int k = 0; k < r->f->nheld; k++) {
    const jit_held *h = &r->f->held[k];
    const int64_t *aw = &r->f->word[h->word];
    int have = h->has_view ? h->view.ndim : is_ours(h) ? tt_array_rank(core_handle(h->object)) : -1;
    if (have == rank && h->at == at && memcmp(aw, w, (size_t)(1 + 2 * rank) * 8) == 0) return Py_NewRef(h->object);
    ours |= is_ours(h);
    if (lies_in(h, at)) base = h;
  }
  reach(rank, len, step, bytes ? 1 : item, &low, &high);
  if (bytes) high += item - 1;
  if (tt_jit_run_take(r->run, at, &made, &size)) {
    data = made;
    memory = take(r, made, size);
  } else if (!(memory = taken_before(r, at, &data))) {
    memory = borrowed(r, base, at, low, high, &data);
  }
  PyObject *shape = tuple_of(len, rank, 1), *strides = tuple_of(step, rank, bytes ? 1 : item), *out = NULL;
  if (memory && shape && strides)
    out = PyObject_CallMethod(r->self, "_array", "OsOOLi", memory, core_dtype_typestr(dtype), shape, strides,
                              (long long)(at - data), (int)ours);
  Py_XDECREF(shape);
  Py_XDECREF(strides);
  Py_XDECREF(memory);
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

/* What stands behind a type. */
static const char *behind_type(const char *type) {
  int depth = 0;
  do {
    depth += (*type == '(') - (*type == ')');
    type++;
  } while (*type && (depth > 0 || (*type != ',' && *type != ')')));
  return type;
}

static PyObject *result_object(result *r);

static PyObject *items_of(result *r, const char *kind, const tt_jit_list *list) {
  PyObject *out = PyList_New(0);
  result each = *r;
  each.word = list->word;
  for (int64_t k = 0; out && k < list->n; k++) {
    each.type = kind;
    PyObject *item = result_object(&each);
    if (!item || PyList_Append(out, item) < 0) Py_CLEAR(out);
    Py_XDECREF(item);
  }
  return out;
}

/* A list that was an argument is the same object again. */
static PyObject *list_object(result *r) {
  char letter = *r->type;
  const char *kind = r->type + 1;
  const tt_jit_list *list = (const tt_jit_list *)(intptr_t)*r->word++;
  r->type = behind_type(r->type);
  for (const jit_list *a = r->f->lists; a; a = a->next)
    if (&a->head == list) return Py_NewRef(a->object);
  PyObject *items = items_of(r, kind, list), *out;
  if (letter == 'L' || !items) return items;
  out = PyObject_CallMethod(r->self, "_list", "Cs#N", letter, kind, (Py_ssize_t)(r->type - kind), items);
  return out;
}

/* A string that was an argument is the same object again; the same of bytes. */
static PyObject *text_object(result *r) {
  const tt_jit_list *text = (const tt_jit_list *)(intptr_t)*r->word++;
  bool bytes = *r->type++ == 'Y';
  for (const jit_list *a = r->f->lists; a; a = a->next)
    if (&a->head == text) return Py_NewRef(a->object);
  if (bytes) {
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)text->n);
    for (int64_t k = 0; made && k < text->n; k++) PyBytes_AsString(made)[k] = (char)text->word[k];
    return made;
  }
  uint32_t *code = PyMem_Malloc((size_t)text->n * sizeof *code + 1);
  if (!code) return PyErr_NoMemory();
  for (int64_t k = 0; k < text->n; k++) code[k] = (uint32_t)text->word[k];
  const uint32_t one = 1;
  int order = *(const char *)&one ? -1 : 1; /* this machine's: a mark at the beginning is a character */
  PyObject *out = PyUnicode_DecodeUTF32((const char *)code, (Py_ssize_t)(text->n * 4), "surrogatepass", &order);
  PyMem_Free(code);
  return out;
}

static PyObject *result_object(result *r) {
  if (*r->type == 'G') return PyErr_SetString(PyExc_TypeError, "a generator comes back by itself only"), NULL;
  if (*r->type == 'W' || *r->type == 'Y') return text_object(r);
  if (*r->type && strchr("LTDESUJ", *r->type)) return list_object(r);
  if (*r->type == 'N') {
    r->type++;
    return Py_NewRef(Py_None);
  }
  if (*r->type == 'A') return array_object(r);
  if (*r->type != '(') return scalar_object(r);
  PyObject *list = PyList_New(0), *out = NULL;
  const char *meta = r->type[1] == '@' ? r->type + 2 : NULL;
  size_t size = meta ? strcspn(meta, ";") : 0;
  r->type += meta ? size + 3 : 1;
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
    if (meta && out) out = PyObject_CallMethod(r->self, "_named", "s#N", meta, (Py_ssize_t)size, out);
  }
  return out;
}

PyObject *core_jit_result(const char *type, const int64_t *word, tt_jit_run *run, jit_frame *f, PyObject *self) {
  result r = {.type = type, .word = word, .run = run, .f = f, .self = self};
  PyObject *out = result_object(&r), *copy = out;
  if (out && strncmp(type, "(@R0", 4) == 0) { /* one record by itself: not a part of an argument's memory */
    copy = PyObject_CallMethod(out, "copy", NULL);
    Py_DECREF(out);
  }
  return copy;
}

PyObject *core_jit_items(const char *kind, const tt_jit_list *list, tt_jit_run *run, jit_frame *f, PyObject *self) {
  result r = {.run = run, .f = f, .self = self};
  return items_of(&r, kind, list);
}

int core_jit_result_init(PyObject *module) {
  memory_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &memory_spec, NULL);
  return memory_type ? PyModule_AddObjectRef(module, "JitMemory", (PyObject *)memory_type) : -1;
}
