/*
** Control and insight: evaluation, counters, plans, profiles, threads, faults for tests.
** Numbers and texts of the library as Python objects, nothing of our own.
*/
#include "core.h"

#include <string.h>

static PyObject *text_object(char *text) {
  if (!text) return PyErr_NoMemory();
  PyObject *s = PyUnicode_FromString(text);
  tt_text_free(text);
  return s;
}

/* ---- arrays given one by one or in (nested) tuples, lists and dict values: arrays among them */

static bool collect(PyObject *o, PyObject *list) {
  if (core_is_array(o)) return core_need(o) && PyList_Append(list, o) == 0;
  PyObject *items = NULL;
  if (PyDict_Check(o)) items = PyDict_Values(o);
  if (PyTuple_Check(o) || PyList_Check(o)) items = PySequence_List(o);
  if (!items) return !PyErr_Occurred();
  if (Py_EnterRecursiveCall(" while collecting arrays")) return Py_DECREF(items), false;
  bool ok = true;
  for (Py_ssize_t k = 0; ok && k < PyList_Size(items); k++) ok = collect(PyList_GetItem(items, k), list);
  Py_LeaveRecursiveCall();
  Py_DECREF(items);
  return ok;
}

typedef struct array_list {
  PyObject *objects; /* what keeps them alive; NULL: the caller's arguments do */
  tt_array **array, *few[8];
  int n;
} array_list;

/* All are arrays, and few: mostly there is one. */
static bool list_few(PyObject *const *arg, Py_ssize_t n, array_list *out) {
  if (n > (Py_ssize_t)(sizeof out->few / sizeof *out->few)) return false;
  for (Py_ssize_t k = 0; k < n; k++) {
    if (!core_is_array(arg[k]) || !core_made(arg[k])) return false;
    out->few[k] = core_made(arg[k]);
  }
  out->objects = NULL;
  out->array = out->few;
  out->n = (int)n;
  return true;
}

static bool list_arrays(PyObject *const *arg, Py_ssize_t narg, array_list *out) {
  if (list_few(arg, narg, out)) return true;
  out->array = NULL;
  out->objects = PyList_New(0);
  bool ok = out->objects != NULL;
  for (Py_ssize_t k = 0; ok && k < narg; k++) ok = collect(arg[k], out->objects);
  if (!ok) goto fail;
  Py_ssize_t n = PyList_Size(out->objects);
  out->array = n < INT32_MAX ? PyMem_Malloc((size_t)(n + 1) * sizeof *out->array) : NULL;
  if (!out->array) {
    PyErr_NoMemory();
    goto fail;
  }
  out->n = (int)n;
  for (int k = 0; k < out->n; k++) out->array[k] = core_handle(PyList_GetItem(out->objects, k));
  return true;
fail:
  Py_CLEAR(out->objects);
  return false;
}

static void free_arrays(array_list *l) {
  if (!l->objects) return;
  PyMem_Free(l->array);
  Py_DECREF(l->objects);
}

static PyObject *py_eval(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  (void)self;
  array_list l;
  tt_error err;
  if (n == 1 && core_known(arg[0])) Py_RETURN_NONE; /* a number's bits are its value: no array need be made */
  if (!list_arrays(arg, n, &l)) return NULL;
  tt_code c = tt_eval(l.array, l.n, &err);
  free_arrays(&l);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}

static PyObject *py_explain(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  (void)self;
  array_list l;
  if (!list_arrays(arg, n, &l)) return NULL;
  char *text = tt_explain(l.array, l.n);
  free_arrays(&l);
  return text_object(text);
}

/* ---- counters */

static PyObject *py_ledger(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_ledger l;
  tt_ledger_read(&l);
  PyObject *d = PyDict_New();
#define ROW(name, what)                                           \
  if (d) {                                                        \
    PyObject *v = PyLong_FromLongLong(l.name);                    \
    if (!v || PyDict_SetItemString(d, #name, v) < 0) Py_CLEAR(d); \
    Py_XDECREF(v);                                                \
  }
  TT_LEDGER_ROWS(ROW)
#undef ROW
  return d;
}

static PyObject *py_ledger_reset(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_ledger_reset();
  Py_RETURN_NONE;
}

static PyObject *ledger_texts(void) {
  PyObject *d = PyDict_New();
#define ROW(name, what)                                           \
  if (d) {                                                        \
    PyObject *v = PyUnicode_FromString(what);                     \
    if (!v || PyDict_SetItemString(d, #name, v) < 0) Py_CLEAR(d); \
    Py_XDECREF(v);                                                \
  }
  TT_LEDGER_ROWS(ROW)
#undef ROW
  return d;
}

static PyObject *py_ledger_texts(PyObject *self, PyObject *unused) { return (void)self, (void)unused, ledger_texts(); }

static PyObject *py_memory(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_memory m;
  tt_memory_read(&m);
  return Py_BuildValue("{sLsLsLsL}", "allocated", (long long)m.allocated, "max_allocated", (long long)m.max_allocated,
                       "reserved", (long long)m.reserved, "limit", (long long)m.limit);
}

static PyObject *py_memory_reset_peak(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_memory_reset_peak();
  Py_RETURN_NONE;
}

static PyObject *py_memory_trim(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_memory_trim();
  Py_RETURN_NONE;
}

/* ---- settings */

static PyObject *py_strict(PyObject *self, PyObject *args) {
  (void)self;
  int copy, fallback;
  if (!PyArg_ParseTuple(args, "pp", &copy, &fallback)) return NULL;
  tt_strict(copy, fallback);
  Py_RETURN_NONE;
}

static PyObject *py_defer_checks(PyObject *self, PyObject *on) {
  (void)self;
  int yes = PyObject_IsTrue(on);
  return yes < 0 ? NULL : PyBool_FromLong(tt_defer_checks(yes));
}

static PyObject *py_threads(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyLong_FromLong(tt_threads());
}

static PyObject *py_set_threads(PyObject *self, PyObject *n) {
  (void)self;
  long value = PyLong_AsLong(n);
  if (value == -1 && PyErr_Occurred()) return NULL;
  tt_set_threads(value < 0 || value > 1 << 16 ? 0 : (int)value);
  Py_RETURN_NONE;
}

static PyObject *py_set_tier(PyObject *self, PyObject *tier) {
  (void)self;
  long value = PyLong_AsLong(tier);
  if (value == -1 && PyErr_Occurred()) return NULL;
  if (value < 0 || value > 2) return PyErr_SetString(PyExc_ValueError, "tier must be 0, 1 or 2"), NULL;
  tt_set_tier((int)value);
  Py_RETURN_NONE;
}

static PyObject *py_set_fuse(PyObject *self, PyObject *fuse) {
  (void)self;
  int yes = PyObject_IsTrue(fuse);
  if (yes < 0) return NULL;
  tt_set_fuse(yes);
  Py_RETURN_NONE;
}

static PyObject *py_set_eager(PyObject *self, PyObject *elements) {
  (void)self;
  long long most = PyLong_AsLongLong(elements);
  if (most == -1 && PyErr_Occurred()) return NULL;
  tt_set_eager(most);
  Py_RETURN_NONE;
}

static PyObject *py_library_path(PyObject *self, PyObject *path) {
  (void)self;
  const char *s = PyUnicode_AsUTF8AndSize(path, NULL);
  if (!s) return NULL;
  tt_library_path(s);
  Py_RETURN_NONE;
}

static PyObject *py_kept_files(PyObject *self, PyObject *remove) {
  (void)self;
  int yes = PyObject_IsTrue(remove);
  if (yes < 0) return NULL;
  tt_kept kept;
  tt_kept_files(yes, &kept);
  return Py_BuildValue("(sLL)", kept.folder, (long long)kept.files, (long long)kept.bytes);
}

static PyObject *py_set_matmul_precision(PyObject *self, PyObject *precision) {
  (void)self;
  tt_error err;
  const char *s = PyUnicode_AsUTF8AndSize(precision, NULL);
  if (!s) return NULL;
  tt_code c = tt_set_matmul_precision(s, &err);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}

static PyObject *py_get_matmul_precision(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyUnicode_FromString(tt_matmul_precision());
}

/* ---- profile, information, waiting */

static PyObject *py_profile_start(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_error err;
  tt_code c = tt_profile_start(&err);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}
static PyObject *py_profile_stop(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_profile_stop();
  Py_RETURN_NONE;
}
static PyObject *py_profile_table(PyObject *self, PyObject *unused) {
  return (void)self, (void)unused, text_object(tt_profile_table());
}
static PyObject *py_profile_trace(PyObject *self, PyObject *unused) {
  return (void)self, (void)unused, text_object(tt_profile_trace());
}
static PyObject *py_info(PyObject *self, PyObject *unused) { return (void)self, (void)unused, text_object(tt_info()); }
static PyObject *py_version(PyObject *self, PyObject *unused) {
  return (void)self, (void)unused, PyUnicode_FromString(tt_version());
}

static PyObject *py_synchronize(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_error err;
  core_block_begin();
  tt_code c = tt_synchronize(&err);
  core_block_end();
  if (!core_show_printed()) return NULL;
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}
static PyObject *py_compile_wait(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  core_block_begin();
  tt_compile_wait();
  core_block_end();
  Py_RETURN_NONE;
}

/* ---- what views share, and faults for tests */

static PyObject *py_shares(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO", &a, &b)) return NULL;
  if ((core_is_array(a) && !core_need(a)) || (core_is_array(b) && !core_need(b))) return NULL;
  return PyBool_FromLong(core_is_array(a) && core_is_array(b) && tt_array_shares(core_handle(a), core_handle(b)));
}

/* max_work= as NumPy reads it; None: as a number that `none` is. */
static bool read_work(PyObject *o, int64_t none, int64_t *out) {
  *out = none;
  if (o == Py_None) return true;
  *out = PyLong_Check(o) ? PyLong_AsLongLong(o) : -1;
  if (!PyLong_Check(o) || PyErr_Occurred())
    return PyErr_SetString(PyExc_ValueError, "max_work must be an integer"), false;
  if (*out < -2) return PyErr_SetString(PyExc_ValueError, "Invalid value for max_work"), false;
  return true;
}

/* What is no array of ours yet would be copied: it shares nothing. */
static PyObject *py_overlap(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *a, *b, *limit;
  int exact;
  int64_t work;
  bool overlap = false;
  tt_error err;
  if (!PyArg_ParseTuple(args, "OOOp", &a, &b, &limit, &exact) || !read_work(limit, exact ? -1 : 0, &work)) return NULL;
  if (!core_is_array(a) || !core_is_array(b)) Py_RETURN_FALSE;
  if (!core_need(a) || !core_need(b)) return NULL;
  tt_code c = tt_array_overlaps(core_handle(a), core_handle(b), work, &overlap, &err);
  bool bounds = exact && work == 0 && overlap; /* NumPy: bounds alone do not tell */
  if (bounds) c = TT_EHARD, strcpy(err.message, "Exceeded max_work");
  return c == TT_OK || (c == TT_EHARD && !exact) ? PyBool_FromLong(overlap) : core_raise(c, &err);
}

static PyObject *py_layout(PyObject *self, PyObject *a) {
  (void)self;
  if (!core_is_array(a)) return PyErr_SetString(PyExc_TypeError, "expected a tutti.ndarray"), NULL;
  if (!core_need(a)) return NULL;
  tt_array *h = core_handle(a);
  return Py_BuildValue("(OOOO)", tt_array_is_contiguous(h) ? Py_True : Py_False,
                       tt_array_is_f_contiguous(h) ? Py_True : Py_False, tt_array_is_readonly(h) ? Py_False : Py_True,
                       tt_array_is_evaluated(h) ? Py_True : Py_False);
}

/* Where its first element lies in what it is a view of, in elements. */
static PyObject *py_offset(PyObject *self, PyObject *a) {
  (void)self;
  if (!core_is_array(a)) return PyErr_SetString(PyExc_TypeError, "expected a tutti.ndarray"), NULL;
  return core_need(a) ? PyLong_FromLongLong(tt_array_offset(core_handle(a))) : NULL;
}

static PyObject *py_test_fail(PyObject *self, PyObject *args) {
  (void)self;
  const char *kind;
  long long n;
  int sticky;
  tt_error err;
  if (!PyArg_ParseTuple(args, "sLp", &kind, &n, &sticky)) return NULL;
  tt_code c = tt_test_fail(kind, n, sticky, &err);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}
static PyObject *py_test_calls(PyObject *self, PyObject *kind) {
  (void)self;
  const char *s = PyUnicode_AsUTF8AndSize(kind, NULL);
  bool fired = false;
  if (!s) return NULL;
  long long calls = tt_test_calls(s, &fired);
  return Py_BuildValue("(LO)", calls, fired ? Py_True : Py_False);
}
static PyObject *py_test_live(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  core_drain();
  return PyLong_FromLongLong(tt_test_live());
}

/* Launches that nobody has looked at run when the process ends, unless a thread that does not keep it is at work. */
static PyObject *py_eval_at_exit(PyObject *self, PyObject *unused) {
  (void)unused;
  return tt_busy() ? Py_NewRef(Py_None) : py_eval(self, NULL, 0);
}

PyMethodDef core_insight_functions[] = {
    {"_eval_at_exit", py_eval_at_exit, METH_NOARGS, NULL},
    {"eval", CORE_FAST(py_eval), METH_FASTCALL,
     "eval(*arrays)\n--\n\nCompute these arrays now, together; lists, tuples and dicts of arrays are looked into."},
    {"explain", CORE_FAST(py_explain), METH_FASTCALL,
     "explain(*arrays)\n--\n\nThe plan that computing these arrays would run, as text."},
    {"_ledger", py_ledger, METH_NOARGS, NULL},
    {"_ledger_texts", py_ledger_texts, METH_NOARGS, NULL},
    {"_ledger_reset", py_ledger_reset, METH_NOARGS, NULL},
    {"memory", py_memory, METH_NOARGS, "memory()\n--\n\nBytes of array memory: live, peak, kept for reuse, limit."},
    {"memory_reset_peak", py_memory_reset_peak, METH_NOARGS, "memory_reset_peak()\n--\n\nForget the peak."},
    {"memory_trim", py_memory_trim, METH_NOARGS,
     "memory_trim()\n--\n\nGive what is kept for reuse back to the system."},
    {"_defer_checks", py_defer_checks, METH_O, NULL},
    {"_strict", py_strict, METH_VARARGS, NULL},
    {"get_num_threads", py_threads, METH_NOARGS, "get_num_threads()\n--\n\nThreads that an evaluation uses."},
    {"set_num_threads", py_set_threads, METH_O, "set_num_threads(n)\n--\n\nUse n threads; 0 restores the default."},
    {"set_tier", py_set_tier, METH_O,
     "set_tier(tier)\n--\n\n0: interpret only; 1: compile at once; 2: interpret, and compile in the background."},
    {"set_fuse", py_set_fuse, METH_O, "set_fuse(fuse)\n--\n\nFalse cuts a kernel after every operation."},
    {"set_eager", py_set_eager, METH_O,
     "set_eager(elements)\n--\n\nWork on at most so many elements is done at the call (0: all is recorded; -1: the "
     "default)."},
    {"set_matmul_precision", py_set_matmul_precision, METH_O,
     "set_matmul_precision(precision)\n--\n\n'highest': devices multiply float32 matrices in float32; 'high': they may "
     "round them to tf32."},
    {"get_matmul_precision", py_get_matmul_precision, METH_NOARGS,
     "get_matmul_precision()\n--\n\n'highest' or 'high'."},
    {"kept_files", py_kept_files, METH_O,
     "kept_files(remove)\n--\n\nFolder, number and bytes of what is kept on disk; removed on the way if asked."},
    {"library_path", py_library_path, METH_O,
     "library_path(dirs)\n--\n\nMore folders where BLAS libraries may lie, ':' between."},
    {"_profile_start", py_profile_start, METH_NOARGS, NULL},
    {"_profile_stop", py_profile_stop, METH_NOARGS, NULL},
    {"_profile_table", py_profile_table, METH_NOARGS, NULL},
    {"_profile_trace", py_profile_trace, METH_NOARGS, NULL},
    {"info", py_info, METH_NOARGS, "info()\n--\n\nDevices, libraries, cache and threads, as text."},
    {"version", py_version, METH_NOARGS, "version()\n--\n\nThe version of the library that runs."},
    {"synchronize", py_synchronize, METH_NOARGS,
     "synchronize()\n--\n\nRun waiting launches, then wait for every device."},
    {"compile_wait", py_compile_wait, METH_NOARGS,
     "compile_wait()\n--\n\nWait until no kernel waits for the compiler."},
    {"_shares", py_shares, METH_VARARGS, NULL},
    {"_overlap", py_overlap, METH_VARARGS, NULL},
    {"_offset", py_offset, METH_O, NULL},
    {"_layout", py_layout, METH_O, NULL},
    {"_test_fail", py_test_fail, METH_VARARGS, NULL},
    {"_test_calls", py_test_calls, METH_O, NULL},
    {"_test_live", py_test_live, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
