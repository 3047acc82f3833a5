/*
** Lines to other processes and memory shared with them, for tutti.parallel: who sends what is decided there.
*/
#include "core.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE "tutti.line"
enum { PIECES = 8, LINES = 1024, TEXTS = 4096 };

/*
** A capsule's line may be given back before the capsule is gone, and while threads without the interpreter lock use it:
** then the last of these gives it back. A child that was forked has no such threads.
*/
typedef struct held_line {
  tt_line *line;    /* NULL: given back */
  tt_line *leaving; /* is to be given back by the last user */
  int users;
  pid_t process;
} held_line;

static void drop_line(PyObject *capsule) {
  held_line *h = PyCapsule_GetPointer(capsule, LINE);
  tt_line_release(&h->line);
  PyMem_Free(h);
}

static PyObject *wrap_line(tt_code c, tt_line *line, const tt_error *err) {
  if (c != TT_OK) return core_raise(c, err);
  held_line *h = PyMem_Malloc(sizeof *h);
  if (h) *h = (held_line){line, NULL, 0, getpid()};
  PyObject *capsule = h ? PyCapsule_New(h, LINE, drop_line) : PyErr_NoMemory();
  if (capsule) return capsule;
  PyMem_Free(h);
  tt_line_release(&line);
  return NULL;
}

/* The line of a capsule; NULL with OSError for one that was given back. */
static tt_line *line_of(PyObject *capsule) {
  held_line *h = PyCapsule_GetPointer(capsule, LINE);
  if (h && !h->line) PyErr_SetString(PyExc_OSError, "the line to this process was given back");
  return h ? h->line : NULL;
}

static held_line *use_line(PyObject *capsule) {
  held_line *h = line_of(capsule) ? PyCapsule_GetPointer(capsule, LINE) : NULL;
  if (h) h->users++;
  return h;
}

static void leave_line(held_line *h) {
  if (--h->users == 0) tt_line_release(&h->leaving);
}

/* A list of texts, borrowed while it lives; the caller's to free. */
static const char **texts_of(PyObject *list) {
  Py_ssize_t n = PyList_Size(list);
  const char **text = n < 0 || n > TEXTS ? NULL : PyMem_Malloc(sizeof *text * (size_t)(n + 1));
  if (!text) return PyErr_Occurred() ? NULL : (const char **)PyErr_NoMemory();
  for (Py_ssize_t k = 0; k < n; k++) {
    text[k] = PyBytes_AsString(PyList_GetItem(list, k));
    if (!text[k]) return PyMem_Free(text), NULL;
  }
  text[n] = NULL;
  return text;
}

/* _line_start(argv, env): lists of bytes; env None: ours. */
static PyObject *py_line_start(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *argv, *env;
  tt_line *line;
  tt_error err;
  if (!PyArg_ParseTuple(args, "O!O", &PyList_Type, &argv, &env)) return NULL;
  const char **texts = texts_of(argv), **variables = texts && env != Py_None ? texts_of(env) : NULL;
  if (PyErr_Occurred()) return PyMem_Free(texts), NULL;
  tt_code c = tt_line_start(texts, variables, &line, &err);
  PyMem_Free(texts);
  PyMem_Free(variables);
  return wrap_line(c, line, &err);
}

static PyObject *py_line_open(PyObject *self, PyObject *number) {
  (void)self;
  tt_line *line;
  tt_error err;
  long fd = PyLong_AsLong(number);
  if (PyErr_Occurred()) return NULL;
  tt_code c = tt_line_open((int)fd, &line, &err);
  return wrap_line(c, line, &err);
}

static PyObject *py_line_watch(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_error err;
  tt_line *line = line_of(capsule);
  if (!line) return NULL;
  tt_code c = tt_line_watch(line, &err);
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}

static PyObject *py_line_release(PyObject *self, PyObject *capsule) {
  (void)self;
  held_line *h = PyCapsule_GetPointer(capsule, LINE);
  if (!h) return NULL;
  if (h->users && h->process == getpid() && !h->leaving) {
    h->leaving = h->line;
    h->line = NULL;
  }
  tt_line_release(&h->line);
  Py_RETURN_NONE;
}

static PyObject *py_line_process(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_line *line = line_of(capsule);
  return line ? PyLong_FromLong(tt_line_process(line)) : NULL;
}

/* _line_ended(line): None while it runs, else its exit code, below 0 a signal's, or False where nobody knows. */
static PyObject *py_line_ended(PyObject *self, PyObject *capsule) {
  (void)self;
  int status;
  tt_line *line = line_of(capsule);
  if (!line) return NULL;
  if (!tt_line_ended(line, &status)) Py_RETURN_NONE;
  if (status == -1) Py_RETURN_FALSE;
  return PyLong_FromLong(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
}

/* The buffers of a tuple; how many, -1 with an exception. */
static int view_all(PyObject *pieces, Py_buffer *view, tt_bytes *piece) {
  Py_ssize_t n = PyTuple_Size(pieces);
  if (n > PIECES) PyErr_SetString(PyExc_ValueError, "too many pieces for a message");
  for (int k = 0; k < n && !PyErr_Occurred(); k++) {
    if (PyObject_GetBuffer(PyTuple_GetItem(pieces, k), view + k, PyBUF_SIMPLE) == 0) {
      piece[k] = (tt_bytes){view[k].buf, (size_t)view[k].len};
      continue;
    }
    while (k > 0) PyBuffer_Release(view + --k);
  }
  return PyErr_Occurred() ? -1 : (int)n;
}

static int numbers_of(PyObject *tuple, int *out) {
  Py_ssize_t n = PyTuple_Size(tuple);
  if (n > TT_LINE_DESCRIPTORS) PyErr_SetString(PyExc_ValueError, "too many descriptors for a message");
  for (Py_ssize_t k = 0; k < n && !PyErr_Occurred(); k++) out[k] = (int)PyLong_AsLong(PyTuple_GetItem(tuple, k));
  return PyErr_Occurred() ? -1 : (int)n;
}

/* _line_send(line, tag, pieces, descriptors) */
static PyObject *py_line_send(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *capsule, *pieces, *numbers;
  unsigned tag;
  Py_buffer view[PIECES];
  tt_bytes piece[PIECES];
  int fd[TT_LINE_DESCRIPTORS];
  tt_error err;
  if (!PyArg_ParseTuple(args, "OIO!O!", &capsule, &tag, &PyTuple_Type, &pieces, &PyTuple_Type, &numbers)) return NULL;
  int fds = numbers_of(numbers, fd), n = fds < 0 ? -1 : view_all(pieces, view, piece);
  if (n < 0) return NULL;
  held_line *h = use_line(capsule);
  tt_code c = TT_OK;
  if (h) {
    tt_line *line = h->line;
    core_block_begin();
    c = tt_line_send(line, tag, piece, n, fd, fds, &err);
    core_block_end();
    leave_line(h);
  }
  for (int k = 0; k < n; k++) PyBuffer_Release(view + k);
  if (!h) return NULL;
  if (c != TT_OK) return core_raise(c, &err);
  Py_RETURN_NONE;
}

/* Signals end waiting early: their handlers run here. -1 with an exception. */
static int wait_with_signals(tt_line **line, int n, double seconds, bool soon, bool *ready) {
  double end = core_clock() + seconds;
  for (;;) {
    double left = seconds < 0 ? -1 : end - core_clock();
    core_block_begin();
    int found = tt_line_wait(line, n, seconds < 0 ? -1 : left < 0 ? 0 : left, soon, ready);
    core_block_end();
    if (PyErr_CheckSignals() != 0) return -1;
    if (found || (seconds >= 0 && left <= 0)) return found;
  }
}

static PyObject *numbers_ready(const bool *ready, Py_ssize_t n) {
  PyObject *list = PyList_New(0);
  for (Py_ssize_t k = 0; list && k < n; k++) {
    if (!ready[k]) continue;
    PyObject *number = PyLong_FromSsize_t(k);
    if (!number || PyList_Append(list, number) != 0) Py_CLEAR(list);
    Py_XDECREF(number);
  }
  return list;
}

/* _line_wait(lines, seconds, soon): numbers of those that have a message or are closed; seconds below 0: any time. */
static PyObject *py_line_wait(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *list;
  double seconds;
  int soon;
  tt_line *line[LINES];
  held_line *used[LINES]; /* their capsules stay: the list is the caller's own */
  bool ready[LINES];
  if (!PyArg_ParseTuple(args, "O!dp", &PyList_Type, &list, &seconds, &soon)) return NULL;
  Py_ssize_t n = PyList_Size(list);
  if (n > LINES) return PyErr_SetString(PyExc_ValueError, "too many lines to wait for"), NULL;
  int held = 0;
  while (held < n && (used[held] = use_line(PyList_GetItem(list, held)))) {
    line[held] = used[held]->line;
    held++;
  }
  int found = held == n ? wait_with_signals(line, (int)n, seconds, soon, ready) : -1;
  while (held > 0) leave_line(used[--held]);
  return found < 0 ? NULL : numbers_ready(ready, n);
}

static PyObject *tuple_of_numbers(const int *fd, int n) {
  PyObject *tuple = PyTuple_New(n);
  for (int k = 0; k < n; k++) {
    PyObject *number = tuple ? PyLong_FromLong(fd[k]) : NULL;
    if (!number || PyTuple_SetItem(tuple, k, number) != 0) {
      Py_CLEAR(tuple);
      close(fd[k]);
    }
  }
  return tuple;
}

/* _line_take(line): (tag, bytes, descriptors) of the next message; None: there is none. */
static PyObject *py_line_take(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_message m;
  tt_error err;
  int fd[TT_LINE_DESCRIPTORS];
  tt_line *line = line_of(capsule);
  if (!line) return NULL;
  if (!tt_line_peek(line, &m)) Py_RETURN_NONE;
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)m.size);
  if (!bytes) return NULL;
  tt_code c = tt_line_take(line, PyBytes_AsString(bytes), fd, &err);
  if (c != TT_OK) return Py_DECREF(bytes), core_raise(c, &err);
  PyObject *numbers = tuple_of_numbers(fd, m.descriptors);
  if (!numbers) return Py_DECREF(bytes), NULL;
  return Py_BuildValue("INN", m.tag, bytes, numbers);
}

static PyObject *py_line_closed(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_line *line = line_of(capsule);
  return line ? PyBool_FromLong(tt_line_closed(line)) : NULL;
}

/* _line_marked(line): which item the other side is at. */
static PyObject *py_line_marked(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_line *line = line_of(capsule);
  return line ? PyLong_FromUnsignedLongLong(tt_line_marked(line)) : NULL;
}

/* _line_mark(line, item) */
static PyObject *py_line_mark(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *capsule;
  unsigned long long item;
  if (!PyArg_ParseTuple(args, "OK", &capsule, &item)) return NULL;
  tt_line *line = line_of(capsule);
  if (!line) return NULL;
  tt_line_mark(line, item);
  Py_RETURN_NONE;
}

/* ---- calls of a function, one after the other */

/* The arguments of call number k, of columns that have one each. */
static PyObject *arguments_of(PyObject *columns, Py_ssize_t k) {
  Py_ssize_t width = PyTuple_Size(columns);
  PyObject *args = PyTuple_New(width);
  for (Py_ssize_t c = 0; args && c < width; c++) {
    PyObject *o = PyList_GetItem(PyTuple_GetItem(columns, c), k);
    if (!o || PyTuple_SetItem(args, c, Py_NewRef(o)) != 0) Py_CLEAR(args);
  }
  return args;
}

/* One argument, as most have, needs no tuple. */
static PyObject *call_row(PyObject *f, PyObject *columns, Py_ssize_t width, Py_ssize_t k) {
  if (width == 0) return PyObject_CallNoArgs(f);
  if (width == 1) {
    PyObject *o = PyList_GetItem(PyTuple_GetItem(columns, 0), k);
    if (!o) return NULL;
    Py_INCREF(o);
    PyObject *result = PyObject_CallFunctionObjArgs(f, o, NULL);
    Py_DECREF(o);
    return result;
  }
  PyObject *args = arguments_of(columns, k);
  PyObject *result = args ? PyObject_Call(f, args, NULL) : NULL;
  Py_XDECREF(args);
  return result;
}

static bool append_call(PyObject *results, PyObject *f, PyObject *columns, Py_ssize_t width, Py_ssize_t k) {
  PyObject *result = call_row(f, columns, width, k);
  bool done = result && PyList_Append(results, result) == 0;
  Py_XDECREF(result);
  return done;
}

/*
** _line_each(line, f, columns, results, n, base): append what f gives for rows len(results)..n-1 of columns, saying on
** the line (None: there is none) that base + row is done. What f raises is raised; results say how far it came.
*/
static PyObject *py_line_each(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *capsule, *f, *columns, *results;
  Py_ssize_t n;
  unsigned long long base;
  if (!PyArg_ParseTuple(args, "OOO!O!nK", &capsule, &f, &PyTuple_Type, &columns, &PyList_Type, &results, &n, &base))
    return NULL;
  held_line *h = capsule == Py_None ? NULL : use_line(capsule);
  if (!h && capsule != Py_None) return NULL;
  Py_ssize_t k = PyList_Size(results), width = PyTuple_Size(columns);
  tt_line *line = h ? h->line : NULL;
  bool going = true;
  for (; going && k < n; k++) {
    if (line) tt_line_mark(line, base + (uint64_t)k);
    going = append_call(results, f, columns, width, k);
  }
  if (h) leave_line(h);
  if (!going) return NULL;
  Py_RETURN_NONE;
}

PyMethodDef core_parallel_functions[] = {
    {"_line_start", py_line_start, METH_VARARGS, NULL}, {"_line_open", py_line_open, METH_O, NULL},
    {"_line_watch", py_line_watch, METH_O, NULL},       {"_line_release", py_line_release, METH_O, NULL},
    {"_line_process", py_line_process, METH_O, NULL},   {"_line_ended", py_line_ended, METH_O, NULL},
    {"_line_send", py_line_send, METH_VARARGS, NULL},   {"_line_wait", py_line_wait, METH_VARARGS, NULL},
    {"_line_take", py_line_take, METH_O, NULL},         {"_line_closed", py_line_closed, METH_O, NULL},
    {"_line_mark", py_line_mark, METH_VARARGS, NULL},   {"_line_marked", py_line_marked, METH_O, NULL},
    {"_line_each", py_line_each, METH_VARARGS, NULL},   {NULL, NULL, 0, NULL},
};
