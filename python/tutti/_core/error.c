/*
** Codes become exceptions, signals become interrupts, and what must be given back with
** the interpreter lock waits here until somebody holds it.
*/
#include "core.h"

#include <signal.h>
#include <string.h>

static const char *class_name(tt_code code) {
  switch (code) {
    case TT_EAXIS:
      return "AxisError";
    case TT_ELINALG:
      return "LinAlgError";
    case TT_ESTRICT:
      return "StrictError";
    case TT_ECOMPILE:
      return "CompileError";
    case TT_EHARD:
      return "TooHardError";
    default:
      return NULL;
  }
}

static PyObject *builtin_class(tt_code code) {
  switch (code) {
    case TT_ENOMEM:
      return PyExc_MemoryError;
    case TT_EVALUE:
      return PyExc_ValueError;
    case TT_ETYPE:
      return PyExc_TypeError;
    case TT_EINDEX:
      return PyExc_IndexError;
    case TT_EOVERFLOW:
      return PyExc_OverflowError;
    case TT_EZERODIV:
      return PyExc_ZeroDivisionError;
    case TT_EBUFFER:
      return PyExc_BufferError;
    case TT_EIO:
      return PyExc_OSError;
    case TT_EINTERRUPT:
      return PyExc_KeyboardInterrupt;
    case TT_ENOTIMPL:
      return PyExc_NotImplementedError;
    case TT_ESYNTAX:
      return PyExc_SyntaxError;
    default:
      return PyExc_RuntimeError;
  }
}

PyObject *core_raise(tt_code code, const tt_error *err) {
  /* The interrupt check has raised already what the signal handler raised. */
  if (code == TT_EINTERRUPT && PyErr_Occurred()) return NULL;
  PyErr_Clear();
  for (tt_warning left; tt_warning_next(&left);) continue; /* what failed need not be warned of */
  const char *message = err && err->message[0] ? err->message : tt_code_name(code);
  static const char assertion[] = "AssertionError: "; /* of a Python kernel or function */
  if (code == TT_EINTERNAL && strncmp(message, assertion, sizeof assertion - 1) == 0) {
    PyErr_SetString(PyExc_AssertionError, message + sizeof assertion - 1);
    return NULL;
  }
  static const char key[] = "KeyError: ";
  if (code == TT_EINTERNAL && strncmp(message, key, sizeof key - 1) == 0) {
    PyErr_SetString(PyExc_KeyError, message + sizeof key - 1);
    return NULL;
  }
  static const char deep[] = "RecursionError: ";
  if (code == TT_EINTERNAL && strncmp(message, deep, sizeof deep - 1) == 0) {
    PyErr_SetString(PyExc_RecursionError, message + sizeof deep - 1);
    return NULL;
  }
  static const char stop[] = "StopIteration: ";
  if (code == TT_EINTERNAL && strncmp(message, stop, sizeof stop - 1) == 0) {
    PyErr_SetNone(PyExc_StopIteration);
    return NULL;
  }
  const char *name = class_name(code);
  PyObject *cls = NULL;
  if (name) {
    PyObject *hook = core_hook_get(CORE_HOOK_error_class);
    if (!hook) return NULL;
    cls = PyObject_CallFunction(hook, "s", name);
    if (!cls) return NULL;
  } else {
    cls = Py_NewRef(builtin_class(code));
  }
  /* A message has an end, and its last character may stand across it. */
  PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  /* OSError makes FileNotFoundError, PermissionError and the like of the system's number. */
  PyObject *why = text && code == TT_EIO && err && err->system ? Py_BuildValue("(iO)", err->system, text) : NULL;
  if (text) PyErr_SetObject(cls, why ? why : text);
  Py_XDECREF(why);
  Py_XDECREF(text);
  Py_DECREF(cls);
  return NULL;
}

static bool warn(const char *name, const char *message) {
  PyObject *hook = core_hook_get(CORE_HOOK_warn);
  PyObject *done = hook ? PyObject_CallFunction(hook, "ss", name, message) : NULL;
  Py_XDECREF(done);
  return done != NULL;
}

bool core_warn_discarded(void) {
  return warn("ComplexWarning", "Casting complex values to real discards the imaginary part");
}

bool core_warn_unwritten(void) {
  return warn("UserWarning",
              "'where' used without 'out', expect unitialized memory in output. If this is intentional, use out=None.");
}

bool core_warn_all(void) {
  static const char *const name[TT_WARN_COUNT] = {[TT_WARN_RUNTIME] = "RuntimeWarning",
                                                  [TT_WARN_COMPLEX] = "ComplexWarning",
                                                  [TT_WARN_RANK] = "RankWarning",
                                                  [TT_WARN_USER] = "UserWarning",
                                                  [TT_WARN_OLD] = "DeprecationWarning"};
  tt_warning w;
  bool ok = true;
  while (tt_warning_next(&w)) ok = ok && warn(name[w.kind], w.message); /* an exception ends the giving */
  return ok;
}

/* ---- the interpreter lock */

static __thread PyThreadState *blocked_state; /* NULL on threads that are none of Python's */
static __thread int blocked_depth;

bool core_has_kernels;

/* Does Ctrl-C run a function of the program's, and not the one that raises? */
static bool is_handled(void) {
  static PyObject *ask, *usual;
  if (!ask) {
    PyObject *module = PyImport_ImportModule("_signal");
    usual = module ? PyObject_GetAttrString(module, "default_int_handler") : NULL;
    ask = usual ? PyObject_GetAttrString(module, "getsignal") : NULL;
    Py_XDECREF(module);
  }
  PyObject *now = ask ? PyObject_CallFunction(ask, "i", SIGINT) : NULL;
  bool handled = now && now != usual && PyCallable_Check(now);
  Py_XDECREF(now);
  return handled;
}

void core_block_begin(void) {
  bool leaves = blocked_depth++ == 0 && PyGILState_GetThisThreadState();
  if (leaves && core_has_kernels) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    tt_set_interrupt_handled(is_handled());
    PyErr_Restore(type, value, trace);
  }
  if (blocked_depth == 1) blocked_state = leaves ? PyEval_SaveThread() : NULL;
}

void core_block_end(void) {
  if (--blocked_depth == 0 && blocked_state) PyEval_RestoreThread(blocked_state);
}

/* The library calls back in the middle of a call, its own lock given up: Python code may run. */
void core_unblock(core_blocked *before) {
  *before = (core_blocked){blocked_state, blocked_depth};
  if (blocked_state) PyEval_RestoreThread(blocked_state);
  blocked_state = NULL;
  blocked_depth = 0;
}

void core_reblock(const core_blocked *before) {
  blocked_depth = before->depth;
  blocked_state = before->state ? PyEval_SaveThread() : NULL;
}

/*
** Runs on the thread that evaluates. Where the interpreter lock was not given up the library may hold its own, and no
** Python code may run: short work goes on.
*/
static int interrupt_check(void) {
  if (blocked_depth == 0 || !blocked_state) return 0;
  PyEval_RestoreThread(blocked_state);
  int raised = PyErr_CheckSignals();
  blocked_state = PyEval_SaveThread();
  return raised;
}

/* ---- later */

core_later *core_later_head;

static int later_pending(void *unused) {
  (void)unused;
  core_later_run();
  return 0;
}

void core_later_push(void *later) {
  core_later *x = later;
  x->next = __atomic_load_n(&core_later_head, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&core_later_head, &x->next, x, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
  /* Should no call of ours follow: the interpreter runs it. A full queue there is no loss. */
  if (!x->next) (void)Py_AddPendingCall(later_pending, NULL);
}

void core_later_run(void) {
  core_later *x = __atomic_exchange_n(&core_later_head, NULL, __ATOMIC_ACQUIRE);
  while (x) {
    core_later *next = x->next;
    x->run(x);
    x = next;
  }
}

int core_error_init(void) {
  tt_set_interrupt_check(interrupt_check);
  tt_set_blocking(core_block_begin, core_block_end);
  return 0;
}
