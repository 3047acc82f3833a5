/*
** Indexing, length, iteration and membership.
*/
#include "core.h"

#include <string.h>

/*
** a[i, j] of full rank is a value in NumPy, not a view: later writes to `a` do not change it. An Ellipsis asks for the
** view.
*/
static bool has_ellipsis(const tt_value *v) {
  if (v->tag == TT_V_ELLIPSIS) return true;
  for (int64_t k = 0; v->tag == TT_V_TUPLE && k < v->as.tuple.n; k++) {
    if (v->as.tuple.item[k].tag == TT_V_ELLIPSIS) return true;
  }
  return false;
}

static PyObject *get_value(PyObject *self, const tt_value *index) {
  tt_array *out;
  tt_error err;
  if (!core_need(self)) return NULL;
  core_line();
  tt_code c = tt_get(core_handle(self), *index, &out, &err);
  if (c != TT_OK) return core_raise(c, &err);
  bool element = tt_array_rank(out) == 0 && !has_ellipsis(index) && !core_is_tensor(self);
  if (element && tt_array_shares(core_handle(self), out)) {
    tt_array *copy;
    c = tt_copy(out, &copy, &err);
    tt_release(&out);
    if (c != TT_OK) return core_raise(c, &err);
    out = copy;
  }
  return element ? core_as_number(core_wrap(out, NULL)) : core_wrap_view(out, self);
}

/* a[k], a[i, j]: the indices of most loops. How many there are, or -1: it is another key. */
static int key_of(PyObject *key, int64_t *at) {
  if (core_index(key, at)) return 1;
  if (!PyTuple_Check(key)) return -1;
  Py_ssize_t n = PyTuple_Size(key);
  if (n > TT_MAX_RANK) return -1;
  for (Py_ssize_t k = 0; k < n; k++)
    if (!core_index(PyTuple_GetItem(key, k), &at[k])) return -1;
  return (int)n;
}

/* The element as a number, where it is at hand; NULL without an exception elsewhere. */
static PyObject *number_at(tt_array *a, int n, const int64_t *at) {
  if (!a || tt_array_rank(a) != n) return NULL;
  core_array *x = core_number_new(); /* filled in where it lies: a copy would wait for what was just written */
  if (!x || tt_number_get(a, n, at, &x->number)) return (PyObject *)x;
  core_number_drop(x);
  return NULL;
}

/* An element of a tensor is a view, as with an Ellipsis. */
static PyObject *element_view(PyObject *self, int n, const int64_t *at) {
  tt_value item[TT_MAX_RANK + 1];
  for (int k = 0; k < n; k++) item[k] = tt_v_int(at[k]);
  item[n] = (tt_value){.tag = TT_V_ELLIPSIS};
  tt_value index = {.tag = TT_V_TUPLE, .as.tuple = {item, n + 1}};
  return get_value(self, &index);
}

static PyObject *subscript(PyObject *self, PyObject *key) {
  tt_value index;
  core_scratch s;
  int64_t at[TT_MAX_RANK];
  int n = core_made(self) ? key_of(key, at) : -1;
  PyObject *number = n >= 0 && !core_is_tensor(self) ? number_at(core_made(self), n, at) : NULL;
  if (number || PyErr_Occurred()) return number;
  if (n >= 0 && core_is_tensor(self)) return element_view(self, n, at);
  core_scratch_init(&s);
  PyObject *out = core_value_index(&s, key, &index) ? get_value(self, &index) : NULL;
  core_scratch_free(&s);
  return out;
}

/* Does an index pick elements by an array or a list? */
static bool picks(PyObject *key) {
  if (PyList_Check(key)) return true;
  if (core_is_array(key)) return !core_is_number(key);
  for (Py_ssize_t k = 0; PyTuple_Check(key) && k < PyTuple_Size(key); k++)
    if (picks(PyTuple_GetItem(key, k))) return true;
  return !PyTuple_Check(key) && !PyIndex_Check(key) && PyObject_HasAttrString(key, "__array_interface__");
}

/* A float element for uint32 goes there by way of 64 bits, as one by itself does in NumPy: NaN is 0. */
static bool wrap_to_u32(tt_value x, tt_value *v) {
  if (x.tag != TT_V_FLOAT) return false;
  bool inside = x.as.f >= -0x1p63 && x.as.f < 0x1p63;
  *v = tt_v_int(inside ? (int64_t)((uint64_t)(int64_t)x.as.f & 0xffffffffu) : 0);
  return true;
}

/* Is storing this a matter of its type alone? Of a bool, and where the store is no cast of kinds. */
static bool is_exact_number(PyObject *value, tt_dtype own) {
  bool looked_at = core_dtype_kind(own) == 'i' || own == TT_U32;
  return !looked_at || (core_is_array(value) && (!core_is_number(value) || core_dtype_of(value) == own));
}

/* The value of an element, NumPy's or ours, that is stored; computed if it is pending. */
static bool element_value(PyObject *value, const tt_value *read, tt_value *out) {
  if (read && read->tag == TT_V_NUMBER) *out = tt_number_value(read->as.number);
  return read || !core_is_number(value) || core_number_value(value, out);
}

/* One element that gets a sequence: of bool its truth; of integers that is no number. 0: not so; -1: an exception. */
static int from_sequence(PyObject *self, PyObject *key, PyObject *value, tt_dtype own, tt_value *v) {
  bool list = PyList_Check(value) || PyTuple_Check(value);
  int64_t at[TT_MAX_RANK];
  if (!list && !(own == TT_BOOL && core_is_array(value) && !core_is_number(value))) return 0;
  if (key_of(key, at) != tt_array_rank(core_handle(self))) return 0;
  if (own == TT_BOOL) return core_value_truth(value, v) ? 1 : -1;
  if (!strchr("iu", core_dtype_kind(own))) return 0;
  PyErr_Format(PyExc_TypeError, "int() argument must be a string, a bytes-like object or a real number, not '%s'",
               PyList_Check(value) ? "list" : "tuple");
  return -1;
}

static int assign(PyObject *self, PyObject *key, PyObject *value) {
  if (!core_need(self)) return -1;
  if (!value) {
    PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
    return -1;
  }
  if (core_is_number(self)) { /* as of an int: whoever holds it would see it change */
    const char *type = core_dtype_name(core_dtype_of(self));
    PyErr_Format(PyExc_TypeError, "an element is a number: '%s' object does not support item assignment", type);
    return -1;
  }
  tt_value index, v;
  core_scratch s;
  tt_number room;
  int64_t at[TT_MAX_RANK];
  bool number = core_number_operand(value, &v, &room);
  int n = number ? key_of(key, at) : -1;
  tt_dtype own = tt_array_dtype(core_handle(self));
  tt_value x = {.tag = TT_V_NONE};
  bool looked_at = !is_exact_number(value, own) && !tt_array_is_readonly(core_handle(self)); /* that is said first */
  if (looked_at && !element_value(value, number ? &v : NULL, &x)) return -1;
  if (x.tag != TT_V_NONE && core_dtype_kind(own) == 'i' && (n >= 0 || !picks(key)) && !core_value_fits(x, own))
    return -1;
  bool wrapped = own == TT_U32 && wrap_to_u32(x, &v);
  if (n >= 0 && tt_number_set(core_handle(self), n, at, &v)) return 0;
  if (tt_array_is_readonly(core_handle(self))) { /* before what is wrong with the index */
    PyErr_SetString(PyExc_ValueError, "assignment destination is read-only");
    return -1;
  }
  core_scratch_init(&s);
  bool ok = core_value_index(&s, key, &index);
  int taken = !ok ? -1 : wrapped ? 1 : from_sequence(self, key, value, own, &v);
  ok = taken >= 0;
  if (ok && taken) {
    /* v is read */
  } else if (ok && (value == Py_None || PyList_Check(value) ||
                    PyTuple_Check(value))) { /* numbers in it become elements of the array's own type */
    tt_array *a = core_from_sequence(value, own);
    ok = a && core_scratch_own(&s, a);
    v = tt_v_array(a);
  } else {
    ok = ok && (core_value_common(value, &v) || core_value_array(&s, value, &v));
  }
  if (ok) {
    tt_error err;
    core_line();
    tt_code c = tt_set(core_handle(self), index, v, &err);
    if (c != TT_OK) core_raise(c, &err);
    ok = c == TT_OK && core_warnings();
  }
  core_scratch_free(&s);
  return ok ? 0 : -1;
}

static Py_ssize_t length(PyObject *self) {
  if (!core_need(self)) return -1;
  if (tt_array_rank(core_handle(self)) == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return -1;
  }
  return (Py_ssize_t)tt_array_len(core_handle(self))[0];
}

static PyObject *item(PyObject *self, Py_ssize_t k) {
  tt_value index = tt_v_int(k);
  int64_t at = k;
  PyObject *number = core_is_tensor(self) ? NULL : number_at(core_made(self), 1, &at);
  return number || PyErr_Occurred() ? number : get_value(self, &index);
}

/* ---- iteration */

/* Over the first axis, as the array is when each element is asked for. */
typedef struct iterator {
  PyObject_HEAD PyObject *array; /* NULL: at its end */
  Py_ssize_t at;
  int looks; /* how often all elements were brought to the host */
} iterator;

enum { MOST_LOOKS = 2 };
static PyTypeObject *iterator_type;

static PyObject *iterate_from(PyObject *array, Py_ssize_t at) {
  iterator *self = (iterator *)PyType_GenericAlloc(iterator_type, 0);
  if (!self) return NULL;
  self->array = Py_NewRef(array);
  self->at = at;
  return (PyObject *)self;
}

static PyObject *iterate(PyObject *self) {
  if (!core_need(self)) return NULL;
  if (tt_array_rank(core_handle(self)) == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
    return NULL;
  }
  return iterate_from(self, 0);
}

static void iterator_dealloc(PyObject *o) {
  PyTypeObject *type = Py_TYPE(o);
  Py_CLEAR(((iterator *)o)->array);
  PyObject_Free(o);
  Py_DECREF(type);
}

static Py_ssize_t left(const iterator *self) {
  Py_ssize_t n = self->array ? (Py_ssize_t)tt_array_len(core_handle(self->array))[0] - self->at : 0;
  return n > 0 ? n : 0;
}

/* Elements that are pending are computed all at once, and what lies on a device comes home as a whole. */
static bool bring(iterator *self) {
  const void *data;
  void *hold;
  tt_error err;
  self->looks++;
  tt_code c = tt_peek(core_handle(self->array), &data, &hold, &err);
  if (c != TT_OK) return core_raise(c, &err), false;
  tt_unpeek(hold);
  return true;
}

static PyObject *next(PyObject *o) {
  iterator *self = (iterator *)o;
  if (left(self) == 0) {
    Py_CLEAR(self->array);
    return NULL;
  }
  tt_array *a = core_handle(self->array);
  int64_t at = self->at++;
  if (tt_array_rank(a) == 1) {
    PyObject *number = number_at(a, 1, &at);
    if (number || PyErr_Occurred()) return number;
    if (self->looks < MOST_LOOKS && !bring(self)) return NULL;
  }
  return item(self->array, at);
}

static PyObject *length_hint(PyObject *self, PyObject *unused) {
  return (void)unused, PyLong_FromSsize_t(left((iterator *)self));
}

/* iter(array), and how far it has come. */
static PyObject *reduce(PyObject *o, PyObject *unused) {
  (void)unused;
  iterator *self = (iterator *)o;
  PyObject *builtins = PyEval_GetBuiltins(), *iter = builtins ? PyDict_GetItemString(builtins, "iter") : NULL;
  if (!iter) return NULL;
  return self->array ? Py_BuildValue("O(O)n", iter, self->array, self->at) : Py_BuildValue("O(())", iter);
}

static PyObject *set_state(PyObject *o, PyObject *state) {
  Py_ssize_t at = PyLong_AsSsize_t(state);
  if (at == -1 && PyErr_Occurred()) return NULL;
  ((iterator *)o)->at = at < 0 ? 0 : at;
  Py_RETURN_NONE;
}

static PyMethodDef iterator_methods[] = {
    {"__length_hint__", length_hint, METH_NOARGS, NULL},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {"__setstate__", set_state, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot iterator_slots[] = {
    {Py_tp_dealloc, iterator_dealloc},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next},
    {Py_tp_methods, iterator_methods},
    {0, NULL},
};
static PyType_Spec iterator_spec = {"tutti._core.array_iterator", sizeof(iterator), 0, Py_TPFLAGS_DEFAULT,
                                    iterator_slots};

int core_iterator_init(PyObject *module) {
  iterator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &iterator_spec, NULL);
  return iterator_type ? 0 : -1;
}

static int contains(PyObject *self, PyObject *value) {
  PyObject *equal = core_richcompare(self, value, Py_EQ);
  if (!equal || !core_is_array(equal)) {
    int truth = equal ? PyObject_IsTrue(equal) : -1;
    Py_XDECREF(equal);
    return truth;
  }
  PyObject *any = PyObject_CallMethod(equal, "any", NULL);
  int truth = any ? PyObject_IsTrue(any) : -1;
  Py_DECREF(equal);
  Py_XDECREF(any);
  return truth;
}

int core_index_slots(PyType_Slot *slot) {
  const PyType_Slot slots[] = {
      {Py_mp_subscript, subscript}, {Py_mp_ass_subscript, assign}, {Py_mp_length, length}, {Py_sq_item, item},
      {Py_sq_length, length},       {Py_sq_contains, contains},    {Py_tp_iter, iterate},
  };
  memcpy(slot, slots, sizeof slots);
  return (int)(sizeof slots / sizeof *slots);
}
