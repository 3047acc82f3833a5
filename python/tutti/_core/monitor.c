/*
** What the machine does right now, as dicts: the structs of tutti/monitor.h, field by field.
*/
#include "core.h"

#include <string.h>

/* -1 stands for "not told" in the structs; None does here. */
static PyObject *told(int64_t n) { return n < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(n); }
static PyObject *told_float(double x) { return x < 0 ? Py_NewRef(Py_None) : PyFloat_FromDouble(x); }

static PyObject *processes(const tt_gpu_stats *s) {
  int n = s->nprocess < TT_GPU_PROCESSES ? s->nprocess : TT_GPU_PROCESSES;
  PyObject *list = PyList_New(n);
  for (int k = 0; list && k < n; k++) {
    const tt_gpu_process *p = &s->process[k];
    PyObject *one =
        Py_BuildValue("(LNN)", (long long)p->pid, PyUnicode_DecodeUTF8(p->name, (Py_ssize_t)strlen(p->name), "replace"),
                      told(p->memory));
    if (one) {
      PyList_SetItem(list, k, one);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject *gpu_dict(const tt_gpu_stats *s) {
  return Py_BuildValue("{sisssssNsNsNsNsNsNsNsNsisN}", "index", s->index, "label", s->label, "bus", s->bus,
                       "utilization", told(s->use), "memory_utilization", told(s->memory_use), "memory_total",
                       told(s->memory_total), "memory_used", told(s->memory_used), "temperature", told(s->temperature),
                       "power", told_float(s->power), "power_limit", told_float(s->power_limit), "clock",
                       told(s->clock), "process_count", s->nprocess, "processes", processes(s));
}

/* _gpu_count(): (n, why none, driver version) */
static PyObject *py_gpu_count(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  char why[256];
  int n = tt_gpu_count(why, sizeof why);
  return Py_BuildValue("(iss)", n, why, tt_gpu_driver());
}

static PyObject *py_gpu_read(PyObject *self, PyObject *index) {
  (void)self;
  long k = PyLong_AsLong(index);
  if (k == -1 && PyErr_Occurred()) return NULL;
  tt_gpu_stats *s = PyMem_Malloc(sizeof *s);
  tt_error err;
  if (!s) return PyErr_NoMemory();
  core_block_begin();
  tt_code c = tt_gpu_read(k < -1 || k > 1 << 20 ? -1 : (int)k, s, &err);
  core_block_end();
  PyObject *out = c == TT_OK ? gpu_dict(s) : core_raise(c, &err);
  PyMem_Free(s);
  return out;
}

/* _host_read(): a dict; "ticks" has (busy, total) of every core. */
static PyObject *py_host_read(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  enum { MOST = 4096 };
  tt_host_stats s;
  tt_error err;
  tt_host_core *core = PyMem_Malloc(MOST * sizeof *core);
  if (!core) return PyErr_NoMemory();
  tt_code c = tt_host_read(&s, core, MOST, &err);
  int n = s.cores < MOST ? s.cores : MOST;
  PyObject *ticks = c == TT_OK ? PyList_New(n) : core_raise(c, &err);
  for (int k = 0; ticks && k < n; k++) {
    PyObject *pair = Py_BuildValue("(LL)", (long long)core[k].busy, (long long)core[k].total);
    if (pair) {
      PyList_SetItem(ticks, k, pair);
    } else {
      Py_CLEAR(ticks);
    }
  }
  PyMem_Free(core);
  if (!ticks) return NULL;
  return Py_BuildValue("{sisLsLsLs(ddd)sN}", "cores", s.cores, "memory_total", (long long)s.memory_total, "memory_used",
                       (long long)s.memory_used, "process_memory", (long long)s.process_memory, "load", s.load[0],
                       s.load[1], s.load[2], "ticks", ticks);
}

PyMethodDef core_monitor_functions[] = {
    {"_gpu_count", py_gpu_count, METH_NOARGS, NULL},
    {"_gpu_read", py_gpu_read, METH_O, NULL},
    {"_host_read", py_host_read, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
