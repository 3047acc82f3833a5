/*
** What tutti.parallel asks of the library besides lines: the ledger and the profile, memory that was freed, cores, and
** whether values are plain.
*/
#include "core.h"

#include <time.h>

/* _parallel_count(tasks, messages, shared_bytes, copied_bytes, idle_us, started, died): add to the ledger. */
static PyObject *py_parallel_count(PyObject *self, PyObject *args) {
  (void)self;
  long long n[7];
  if (!PyArg_ParseTuple(args, "LLLLLLL", n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6)) return NULL;
  tt_parallel_count(&(tt_parallel_counts){n[0], n[1], n[2], n[3], n[4], n[5], n[6]});
  Py_RETURN_NONE;
}

/* _parallel_ran(name, pid, begin, end, items): for the ledger and the profile. */
static PyObject *py_parallel_ran(PyObject *self, PyObject *args) {
  (void)self;
  const char *name;
  int pid;
  double begin, end;
  long long items;
  if (!PyArg_ParseTuple(args, "siddL", &name, &pid, &begin, &end, &items)) return NULL;
  tt_parallel_count(&(tt_parallel_counts){.tasks = items});
  core_block_begin();
  tt_parallel_ran(name, pid, begin, end, items);
  core_block_end();
  Py_RETURN_NONE;
}

static PyObject *py_memory_keep(PyObject *self, PyObject *size) {
  (void)self;
  size_t bytes = PyLong_AsSize_t(size);
  if (PyErr_Occurred()) return NULL;
  tt_memory_keep(bytes);
  Py_RETURN_NONE;
}

static PyObject *py_memory_give_back(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_memory_give_back();
  Py_RETURN_NONE;
}

static PyObject *py_parallel_cores(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyLong_FromLong(tt_parallel_cores());
}

/* Numbers, texts and None, of these very classes: pickle takes them without asking anybody. */
static bool is_plain_value(PyObject *o) {
  const PyTypeObject *t = Py_TYPE(o);
  return o == Py_None || t == &PyLong_Type || t == &PyFloat_Type || t == &PyUnicode_Type || t == &PyBytes_Type ||
         t == &PyBool_Type || t == &PyComplex_Type;
}

/* _parallel_plain(values): are all of a list or tuple such? */
static PyObject *py_parallel_plain(PyObject *self, PyObject *values) {
  (void)self;
  bool list = PyList_Check(values);
  if (!list && !PyTuple_Check(values)) return PyErr_SetString(PyExc_TypeError, "a list or a tuple is expected"), NULL;
  Py_ssize_t n = list ? PyList_Size(values) : PyTuple_Size(values), k = 0;
  while (k < n && is_plain_value(list ? PyList_GetItem(values, k) : PyTuple_GetItem(values, k))) k++;
  return PyBool_FromLong(k == n);
}

double core_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* _lock_wait(seconds): sleep without the interpreter's lock; seconds that it then took to have it. */
static PyObject *py_lock_wait(PyObject *self, PyObject *number) {
  (void)self;
  double seconds = PyFloat_AsDouble(number);
  if (PyErr_Occurred()) return NULL;
  struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  PyThreadState *state = PyEval_SaveThread();
  nanosleep(&t, NULL);
  double awake = core_clock();
  PyEval_RestoreThread(state);
  return PyFloat_FromDouble(core_clock() - awake);
}

PyMethodDef core_worker_functions[] = {
    {"_parallel_count", py_parallel_count, METH_VARARGS, NULL},
    {"_parallel_ran", py_parallel_ran, METH_VARARGS, NULL},
    {"_memory_keep", py_memory_keep, METH_O, NULL},
    {"_memory_give_back", py_memory_give_back, METH_NOARGS, NULL},
    {"_parallel_cores", py_parallel_cores, METH_NOARGS, NULL},
    {"_lock_wait", py_lock_wait, METH_O, NULL},
    {"_parallel_plain", py_parallel_plain, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
