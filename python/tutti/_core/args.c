/*
** Binding of positional and keyword arguments to names, for functions written by hand.
** (Table functions are bound in call.c, from their parsed signatures.)
*/
#include "core.h"

#include <string.h>

typedef struct name_list {
  const char *names; /* the text that it is of, told by its address */
  const char *name[16];
  size_t len[16];
  int n, positional;
} name_list;

static void split(const char *names, name_list *out) {
  out->names = names;
  out->n = 0;
  out->positional = -1;
  while (*names) {
    const char *end = strchr(names, ',');
    size_t len = end ? (size_t)(end - names) : strlen(names);
    if (len == 1 && *names == '*') {
      out->positional = out->n;
    } else {
      out->name[out->n] = names;
      out->len[out->n++] = len;
    }
    names = end ? end + 1 : names + len;
  }
  if (out->positional < 0) out->positional = out->n;
}

/* Texts are constants of the program: each is taken apart once, unless two fall on one place. */
static const name_list *list_of(const char *names) {
  enum { PLACES = 128 };
  static name_list known[PLACES];
  name_list *list = &known[(uintptr_t)names / 8 % PLACES];
  if (list->names != names) split(names, list);
  return list;
}

static int find(const name_list *list, const char *s, size_t len) {
  for (int k = 0; k < list->n; k++) {
    if (list->len[k] == len && memcmp(list->name[k], s, len) == 0) return k;
  }
  return -1;
}

bool core_bind(const char *function, const char *names, int required, PyObject *const *arg, Py_ssize_t n, PyObject *kw,
               PyObject **out) {
  const name_list *list = list_of(names);
  for (int k = 0; k < list->n; k++) out[k] = NULL;
  if (n > list->positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional argument%s but %zd %s given", function,
                 list->positional, list->positional == 1 ? "" : "s", n, n == 1 ? "was" : "were");
    return false;
  }
  for (Py_ssize_t k = 0; k < n; k++) out[k] = arg[k];
  Py_ssize_t nkw = kw ? PyTuple_Size(kw) : 0;
  for (Py_ssize_t k = 0; k < nkw; k++) {
    PyObject *name = PyTuple_GetItem(kw, k);
    Py_ssize_t len;
    const char *s = PyUnicode_AsUTF8AndSize(name, &len);
    int at = s ? find(list, s, (size_t)len) : -1;
    if (at < 0) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function, name);
      return false;
    }
    if (out[at]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument %R", function, name);
      return false;
    }
    out[at] = arg[n + k];
  }
  for (int k = 0; k < required; k++) {
    if (out[k]) continue;
    PyErr_Format(PyExc_TypeError, "%s() missing required argument '%.*s' (pos %d)", function, (int)list->len[k],
                 list->name[k], k + 1);
    return false;
  }
  return true;
}
