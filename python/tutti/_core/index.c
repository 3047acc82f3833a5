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
  tt_array *a = core_handle(self), *out;
  tt_error err;
  core_line();
  tt_code c = tt_get(a, *index, &out, &err);
  if (c != TT_OK) return core_raise(c, &err);
  bool view = tt_array_shares(a, out);
  if (view && tt_array_rank(out) == 0 && !has_ellipsis(index)) {
    tt_array *copy;
    c = tt_copy(out, &copy, &err);
    tt_release(&out);
    if (c != TT_OK) return core_raise(c, &err);
    return core_wrap(copy, NULL);
  }
  return core_wrap(out, view ? self : NULL);
}

static PyObject *subscript(PyObject *self, PyObject *key) {
  tt_value index;
  core_scratch s;
  if (Py_TYPE(key) == &PyLong_Type && core_value_common(key, &index)) return get_value(self, &index);
  core_scratch_init(&s);
  PyObject *out = core_value_index(&s, key, &index) ? get_value(self, &index) : NULL;
  core_scratch_free(&s);
  return out;
}

static int assign(PyObject *self, PyObject *key, PyObject *value) {
  if (!value) {
    PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
    return -1;
  }
  tt_value index, v;
  core_scratch s;
  core_scratch_init(&s);
  bool ok = (Py_TYPE(key) == &PyLong_Type && core_value_common(key, &index)) || core_value_index(&s, key, &index);
  if (ok && value == Py_None) {
    PyErr_SetString(PyExc_TypeError, "float() argument must be a string or a real number, not 'NoneType'");
    ok = false;
  }
  ok = ok && (core_value_common(value, &v) || core_value_array(&s, value, &v));
  if (ok) {
    tt_error err;
    core_line();
    tt_code c = tt_set(core_handle(self), index, v, &err);
    if (c != TT_OK) core_raise(c, &err);
    ok = c == TT_OK;
  }
  core_scratch_free(&s);
  return ok ? 0 : -1;
}

static Py_ssize_t length(PyObject *self) {
  if (tt_array_rank(core_handle(self)) == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return -1;
  }
  return (Py_ssize_t)tt_array_len(core_handle(self))[0];
}

static PyObject *item(PyObject *self, Py_ssize_t k) {
  tt_value index = tt_v_int(k);
  return get_value(self, &index);
}

static PyObject *iterate(PyObject *self) {
  if (tt_array_rank(core_handle(self)) == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
    return NULL;
  }
  return PySeqIter_New(self);
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
