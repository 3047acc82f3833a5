/*
** Lists as arguments of compiled functions: their items as words before the call, and as objects again after it.
*/
#include "jit_int.h"

#include <string.h>

/* ---- an item as words */

static bool is_kind(const char *kind, const char *suffix) {
  size_t n = strlen(suffix);
  return strncmp(kind, suffix, n) == 0 && (kind[n] == 0 || kind[n] == ',' || kind[n] == ')');
}

static int64_t float_bits(double x, bool narrow) {
  int64_t w = 0;
  float f = (float)x;
  if (narrow)
    memcpy(&w, &f, sizeof f);
  else
    memcpy(&w, &x, sizeof x);
  return w;
}

/* A number, and what stands behind its type; *n: of its words. */
static const char *put_number(const char *kind, PyObject *o, int64_t *w, int *n) {
  *n = 1;
  if (is_kind(kind, "f64") || is_kind(kind, "f32")) {
    w[0] = float_bits(PyFloat_AsDouble(o), kind[1] == '3');
  } else if (is_kind(kind, "b8")) {
    w[0] = PyObject_IsTrue(o) == 1;
  } else if (is_kind(kind, "c128") || is_kind(kind, "c64")) {
    bool narrow = kind[1] == '6';
    double re = PyComplex_RealAsDouble(o), im = PyComplex_ImagAsDouble(o);
    w[0] = float_bits(re, narrow);
    if (narrow)
      w[0] |= (int64_t)((uint64_t)float_bits(im, true) << 32);
    else
      w[(*n)++] = float_bits(im, false);
  } else if (is_kind(kind, "u64")) {
    w[0] = (int64_t)PyLong_AsUnsignedLongLong(o);
  } else {
    w[0] = (int64_t)PyLong_AsLongLong(o);
  }
  while (*kind && *kind != ',' && *kind != ')') kind++;
  return kind;
}

/* An array: it is held as an argument is; its words are the item's. */
static const char *put_array(jit_frame *f, const char *kind, PyObject *o, int arg, int64_t *w, int *n) {
  int nword = f->nword;
  size_t ntype = f->ntype, same = strcspn(kind, ":") + 2;
  if (!core_jit_add_buffer(f, o, arg)) return NULL;
  bool fits = strncmp(f->type + ntype, kind, same) == 0 && f->type[f->ntype - 1] != 'R' && f->type[f->ntype - 1] != 'P';
  *n = f->nword - nword;
  memcpy(w, f->word + nword, (size_t)*n * sizeof *w);
  f->nword = nword;
  f->ntype = ntype;
  if (!fits) return PyErr_SetString(PyExc_TypeError, "an array in a list is of another type"), NULL;
  return kind + same + 1;
}

static jit_list *list_of(jit_frame *f, PyObject *o, int arg);

/* A string's characters as words. */
static jit_list *text_of(jit_frame *f, PyObject *o) {
  Py_ssize_t n = PyUnicode_Check(o) ? PyUnicode_GetLength(o) : -1;
  if (n < 0) return PyErr_Occurred() ? NULL : (PyErr_SetString(PyExc_TypeError, "a str is needed"), NULL);
  jit_list *l = PyMem_Calloc(1, sizeof *l);
  if (!l) return (void)PyErr_NoMemory(), NULL;
  l->next = f->lists;
  f->lists = l;
  l->object = o;
  l->arg = JIT_CONSTANT;
  l->head.word = l->own = PyMem_Malloc((size_t)n * sizeof *l->own + 1);
  if (!l->own) return (void)PyErr_NoMemory(), NULL;
  for (Py_ssize_t k = 0; k < n; k++) l->own[k] = (int64_t)PyUnicode_ReadChar(o, k);
  l->head.n = l->head.room = n;
  return l;
}

bool core_jit_add_text(jit_frame *f, PyObject *o) {
  const jit_list *l = text_of(f, o);
  if (!l) return false;
  if (f->nword + 1 > JIT_WORDS) return core_jit_too_much("values");
  f->word[f->nword++] = (int64_t)(intptr_t)&l->head;
  return core_jit_add_type(f, "W", 1);
}

/* Words of a value of type *kind, at most `room`; how many, or -1. */
static int put_item(jit_frame *f, const char **kind, PyObject *o, int arg, int64_t *w) {
  int n = 0;
  if (**kind == 'W') {
    const jit_list *text = text_of(f, o);
    if (!text) return -1;
    w[0] = (int64_t)(intptr_t)&text->head;
    (*kind)++;
    return 1;
  }
  if (**kind == 'T' || **kind == 'E' || **kind == 'U' || **kind == 'J') {
    const jit_list *inner = list_of(f, o, arg);
    if (!inner) return -1;
    w[0] = (int64_t)(intptr_t)&inner->head;
    for (int depth = 0; **kind && (depth > 0 || (**kind != ',' && **kind != ')')); (*kind)++)
      depth += (**kind == '(') - (**kind == ')');
    return 1;
  }
  if (**kind == 'A') {
    *kind = put_array(f, *kind, o, arg, w, &n);
    return *kind ? n : -1;
  }
  if (**kind == 'N') {
    (*kind)++;
    return 0;
  }
  if (**kind != '(') {
    *kind = put_number(*kind, o, w, &n);
    return PyErr_Occurred() ? -1 : n;
  }
  if ((*kind)[1] == '@') *kind += strcspn(*kind, ";");
  if (!PyTuple_Check(o)) return PyErr_SetString(PyExc_TypeError, "a tuple is needed"), -1;
  for (Py_ssize_t k = 0; k < PyTuple_Size(o); k++) {
    (*kind)++;
    int part = put_item(f, kind, PyTuple_GetItem(o, k), arg, w + n);
    if (part < 0) return -1;
    n += part;
  }
  (*kind)++;
  return n;
}

static bool fill(jit_frame *f, jit_list *l) {
  int64_t item[JIT_WORDS];
  Py_ssize_t n = PyList_Size(l->items);
  for (Py_ssize_t k = 0; k < n; k++) {
    const char *kind = l->kind;
    int words = put_item(f, &kind, PyList_GetItem(l->items, k), l->arg, item);
    if (words < 0) return false;
    if (!l->own && !(l->head.word = l->own = PyMem_Malloc((size_t)(n * words) * sizeof *item + 1)))
      return (void)PyErr_NoMemory(), false;
    memcpy(l->head.word + k * words, item, (size_t)words * sizeof *item);
  }
  l->head.n = l->head.room = l->head.live = n;
  return true;
}

/* ---- lists */

/* A list or a set of Python's: what the package says of it. */
static bool read_plain(jit_list *l, PyObject *o) {
  PyObject *module = PyImport_ImportModule("tutti._jit.containers");
  PyObject *row = module ? PyObject_CallMethod(module, "plain", "O", o) : NULL;
  bool ok = row && PyTuple_Check(row) && PyTuple_Size(row) == 3;
  if (ok) {
    l->letter = PyList_Check(o) ? 'L' : 'S';
    l->held = Py_NewRef(PyTuple_GetItem(row, 1));
    l->items = Py_NewRef(PyTuple_GetItem(row, 2));
  }
  Py_XDECREF(row);
  Py_XDECREF(module);
  return ok;
}

static PyObject *plain_back(PyObject *o, PyObject *items) {
  PyObject *module = PyImport_ImportModule("tutti._jit.containers");
  PyObject *done = module ? PyObject_CallMethod(module, "plain_back", "OO", o, items) : NULL;
  Py_XDECREF(module);
  return done;
}

/* The list of an object, made where a call meets it first. */
static jit_list *list_of(jit_frame *f, PyObject *o, int arg) {
  for (jit_list *l = f->lists; l; l = l->next)
    if (l->object == o) return l;
  jit_list *l = PyMem_Calloc(1, sizeof *l);
  if (!l) return (void)PyErr_NoMemory(), NULL;
  l->next = f->lists;
  f->lists = l;
  l->object = o;
  l->arg = arg;
  if (PyList_Check(o) || PyAnySet_Check(o)) {
    if (!read_plain(l, o)) return NULL;
  } else {
    l->held = PyObject_GetAttrString(o, "_kind");
    l->items = PyObject_GetAttrString(o, "_items");
  }
  l->kind = l->held && PyUnicode_Check(l->held) ? PyUnicode_AsUTF8AndSize(l->held, NULL) : NULL;
  if (!l->kind || !l->items || !PyList_Check(l->items)) {
    PyErr_SetString(PyExc_TypeError, "a list without a type: put an item into it, or make it with List.empty_list");
    return NULL;
  }
  return fill(f, l) ? l : NULL;
}

bool core_jit_add_list(jit_frame *f, PyObject *o, int arg, bool *known) {
  *known = PyList_Check(o) || PyAnySet_Check(o) || PyObject_HasAttrString(o, "_jit_list");
  if (!*known) return false;
  const jit_list *l = list_of(f, o, arg);
  if (!l) return false;
  if (f->nword + 1 > JIT_WORDS) return core_jit_too_much("values");
  f->word[f->nword++] = (int64_t)(intptr_t)&l->head;
  if (l->letter) return core_jit_add_type(f, &l->letter, 1) && core_jit_add_type(f, l->kind, strlen(l->kind));
  PyObject *letter = PyObject_GetAttrString(o, "_jit_list");
  const char *text = letter ? PyUnicode_AsUTF8AndSize(letter, NULL) : NULL;
  bool ok = text && core_jit_add_type(f, text, 1);
  Py_XDECREF(letter);
  return ok && core_jit_add_type(f, l->kind, strlen(l->kind));
}

/* The memory that is given back is ours, whatever the call gave the list. */
void core_jit_free_lists(jit_frame *f) {
  while (f->lists) {
    jit_list *l = f->lists;
    f->lists = l->next;
    PyMem_Free(l->own);
    Py_XDECREF(l->held);
    Py_XDECREF(l->items);
    PyMem_Free(l);
  }
}

bool core_jit_lists_back(jit_frame *f, uint64_t writes, tt_jit_run *run, PyObject *self) {
  for (jit_list *l = f->lists; l; l = l->next) {
    if (l->arg == JIT_CONSTANT || !(writes >> l->arg & 1)) continue;
    PyObject *items = core_jit_items(l->kind, &l->head, run, f, self);
    PyObject *done = !items      ? NULL
                     : l->letter ? plain_back(l->object, items)
                                 : PyObject_CallMethod(l->object, "_back", "O", items);
    Py_XDECREF(items);
    Py_XDECREF(done);
    if (!done) return false;
  }
  return true;
}
