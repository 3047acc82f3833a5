/*
** Kernels given as expressions (tutti/elementwise.h) as capsules, called with tuples of arguments.
*/
#include "core.h"

#include <limits.h>

enum { MOST_ARGS = 256 };
static const char CUSTOM[] = "tutti.custom";

static tt_custom *custom_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, CUSTOM); }

static void drop_custom(PyObject *capsule) {
  tt_custom *k = custom_of(capsule);
  tt_custom_release(&k);
}

/* ---- making */

static PyObject *make(PyObject *flags, tt_custom_source *s,
                      tt_code (*begin)(const tt_custom_source *, tt_custom **, tt_error *)) {
  const char *flag[MOST_ARGS];
  tt_custom *k;
  tt_error err;
  if ((s->nflag = core_texts(flags, "options", flag, MOST_ARGS)) < 0) return NULL;
  s->flag = flag;
  tt_code c = begin(s, &k, &err);
  if (c != TT_OK) return core_raise(c, &err);
  PyObject *capsule = PyCapsule_New(k, CUSTOM, drop_custom);
  if (!capsule) tt_custom_release(&k);
  return capsule;
}

/* elementwise(inputs, outputs, declaration, operation, name, preamble, flags, way, loop_prep, after_loop) */
static PyObject *py_elementwise(PyObject *self, PyObject *args) {
  tt_custom_source s = {0};
  PyObject *flags;
  (void)self;
  if (!PyArg_ParseTuple(args, "zzzsssOzzz", &s.inputs, &s.outputs, &s.declaration, &s.operation, &s.name, &s.preamble,
                        &flags, &s.way, &s.loop_prep, &s.after_loop))
    return NULL;
  return make(flags, &s, tt_elementwise_new);
}

/* reduction(inputs, outputs, map, reduce, post, identity, name, preamble, flags, way, inner) */
static PyObject *py_reduction(PyObject *self, PyObject *args) {
  tt_custom_source s = {0};
  PyObject *flags;
  (void)self;
  if (!PyArg_ParseTuple(args, "ssssszssOzz", &s.inputs, &s.outputs, &s.operation, &s.reduce, &s.post, &s.identity,
                        &s.name, &s.preamble, &flags, &s.way, &s.inner))
    return NULL;
  return make(flags, &s, tt_reduction_new);
}

/* ---- arguments */

typedef struct call {
  tt_custom *k;
  core_scratch scratch;
  tt_custom_argument arg[MOST_ARGS];
  Py_buffer view[MOST_ARGS];
  int n, nview;
  tt_launch_options how;
  bool copied;
} call;

static bool begin(call *c, PyObject *capsule, PyObject *args) {
  core_drain();
  core_line();
  core_has_kernels = true;
  c->n = c->nview = 0;
  core_scratch_init(&c->scratch);
  if (!(c->k = custom_of(capsule))) return false;
  if (PyTuple_Check(args) && PyTuple_Size(args) <= MOST_ARGS) return true;
  PyErr_SetString(PyExc_TypeError, "a kernel takes at most 256 arguments");
  return false;
}

static void end(call *c) {
  while (c->nview) PyBuffer_Release(&c->view[--c->nview]);
  core_scratch_free(&c->scratch);
}

/* A number that is no array of NumPy's or ours: its elements cannot be set. */
static bool is_typed_scalar(PyObject *o) {
  if (PyObject_HasAttrString(o, "__setitem__")) return false;
  PyObject *rank = PyObject_GetAttrString(o, "ndim");
  bool is = rank && PyLong_Check(rank) && PyLong_AsLong(rank) == 0;
  Py_XDECREF(rank);
  PyErr_Clear();
  return is;
}

/* What is read: an array, a number, or what becomes an array. */
static bool add_input(call *c, PyObject *o) {
  tt_custom_argument *a = &c->arg[c->n];
  if (core_is_array(o)) return core_need(o) && (*a = tt_custom_array(core_handle(o)), true);
  *a = tt_custom_value((tt_value){TT_V_NONE, {0}});
  if (o != Py_None && core_value_scalar(o, &a->what.as.value)) return true;
  if (PyErr_Occurred()) return false;
  bool weak = PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o); /* some of NumPy's are Python's, too */
  if (weak) return core_scalar_argument(o, c->n + 1, &a->what);
  if (is_typed_scalar(o)) {
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    bool ok = dtype && core_dtype_from(dtype, &a->dtype);
    Py_XDECREF(dtype);
    return ok && core_scalar_argument(o, c->n + 1, &a->what);
  }
  tt_array *made = core_asarray(o, TT_DTYPE_NONE, CORE_COPY_NEEDED);
  if (!made || !core_scratch_own(&c->scratch, made)) return false;
  return *a = tt_custom_array(made), true;
}

/* What is written: an array, None, or somebody else's memory. */
static bool add_output(call *c, PyObject *o) {
  tt_custom_argument *a = &c->arg[c->n];
  if (core_is_array(o) && !core_need(o)) return false;
  *a = tt_custom_array(core_is_array(o) ? core_handle(o) : NULL);
  if (o == Py_None || core_is_array(o)) return true;
  if (!PyObject_CheckBuffer(o)) {
    PyErr_Format(PyExc_TypeError, "argument %d of a kernel cannot be a %R", c->n + 1, (PyObject *)Py_TYPE(o));
    return false;
  }
  Py_buffer *v = &c->view[c->nview];
  bool viewed = false, ok = core_memory_argument(o, c->n + 1, &a->what, v, &viewed);
  c->nview += viewed;
  if (!ok) return false;
  a->rank = v->ndim;
  a->len = (const int64_t *)v->shape;
  return true;
}

static bool add_all(call *c, PyObject *args, int nin) {
  int count = (int)PyTuple_Size(args);
  for (bool ok = true; ok && c->n < count; c->n += ok) {
    PyObject *o = PyTuple_GetItem(args, c->n);
    ok = c->n < nin ? add_input(c, o) : add_output(c, o);
    if (!ok) return false;
  }
  return true;
}

/* What is left to do after a call that may have launched something. */
static bool finished(call *c, tt_code code, const tt_error *err) {
  end(c);
  if (!core_show_printed() || (c->copied && !core_warn_copied())) return false;
  if (code == TT_EINTERRUPT && PyErr_CheckSignals() < 0) return false;
  return code == TT_OK ? true : (core_raise(code, err), false);
}

/* ---- calling */

static PyObject *outputs(const call *c, PyObject *args, int nin, tt_array **out) {
  int n = tt_custom_outputs(c->k);
  PyObject *result = PyTuple_New(n);
  for (int k = 0; k < n; k++) {
    PyObject *given = nin + k < PyTuple_Size(args) ? PyTuple_GetItem(args, nin + k) : Py_None, *o;
    if (!result || given != Py_None) {
      tt_release(&out[k]);
      o = result ? Py_NewRef(given) : NULL;
    } else {
      o = core_wrap(out[k], NULL);
      if (!o) Py_CLEAR(result);
    }
    if (result) PyTuple_SetItem(result, k, o);
  }
  return result;
}

static bool read_size(PyObject *o, int64_t *out) {
  *out = o == Py_None ? -1 : PyLong_AsLongLong(o);
  return *out != -1 || !PyErr_Occurred();
}

/* elementwise_call(kernel, arguments, size): a tuple of the outputs */
static PyObject *py_elementwise_call(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  tt_array *out[MOST_ARGS];
  tt_error err;
  int64_t size;
  call c;
  (void)self;
  if (n != 3) return PyErr_SetString(PyExc_TypeError, "elementwise_call: three arguments"), NULL;
  if (!begin(&c, arg[0], arg[1]) || !read_size(arg[2], &size)) return NULL;
  int nin = tt_custom_inputs(c.k);
  bool ok = add_all(&c, arg[1], nin);
  c.copied = false;
  c.how = (tt_launch_options){.copied = &c.copied};
  tt_code code = ok ? tt_elementwise_call(c.k, c.arg, c.n, size, &c.how, out, &err) : TT_OK;
  if (!ok) return end(&c), NULL;
  return finished(&c, code, &err) ? outputs(&c, arg[1], nin, out) : NULL;
}

/* elementwise_run(kernel, arguments, size, stream): PyCUDA's form; whole numbers are addresses, for pointers */
static PyObject *py_elementwise_run(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  tt_error err;
  int64_t size;
  call c;
  (void)self;
  if (n != 4) return PyErr_SetString(PyExc_TypeError, "elementwise_run: four arguments"), NULL;
  c.how = (tt_launch_options){.copied = &c.copied, .addresses = true};
  if (!begin(&c, arg[0], arg[1]) || !read_size(arg[2], &size) || !core_read_stream(arg[3], &c.how)) return NULL;
  bool ok = true;
  int count = (int)PyTuple_Size(arg[1]);
  for (; ok && c.n < count; c.n += ok) {
    bool viewed;
    tt_custom_argument *a = &c.arg[c.n];
    *a = tt_custom_value((tt_value){TT_V_NONE, {0}});
    ok = core_argument(PyTuple_GetItem(arg[1], c.n), c.n + 1, &a->what, &c.view[c.nview], &viewed);
    c.nview += viewed;
  }
  c.copied = false;
  tt_code code = ok ? tt_elementwise_call(c.k, c.arg, c.n, size, &c.how, NULL, &err) : TT_OK;
  if (!ok) return end(&c), NULL;
  if (!finished(&c, code, &err)) return NULL;
  Py_RETURN_NONE;
}

/* None, an int, or ints: how many, -1 for all of them, -2 with an exception. */
static int read_axes(PyObject *o, int *out) {
  if (o == Py_None) return -1;
  PyObject *list = PyLong_Check(o) ? PyTuple_Pack(1, o) : PySequence_Tuple(o);
  Py_ssize_t n = list ? PyTuple_Size(list) : -1;
  if (n > TT_MAX_RANK) PyErr_SetString(PyExc_ValueError, "duplicate value in 'axis'");
  for (Py_ssize_t k = 0; k < n && !PyErr_Occurred(); k++) {
    Py_ssize_t i = PyNumber_AsSsize_t(PyTuple_GetItem(list, k), PyExc_OverflowError);
    out[k] = i > INT_MAX ? INT_MAX : i < INT_MIN ? INT_MIN : (int)i;
  }
  Py_XDECREF(list);
  return PyErr_Occurred() ? -2 : (int)n;
}

/* reduction_call(kernel, arguments, axis, keepdims, out): `out` None, or what the result is written into. */
static PyObject *py_reduction_call(PyObject *self, PyObject *const *arg, Py_ssize_t n) {
  int axis[TT_MAX_RANK], naxis;
  tt_array *out;
  tt_error err;
  call c;
  (void)self;
  if (n != 5) return PyErr_SetString(PyExc_TypeError, "reduction_call: five arguments"), NULL;
  int keepdims = PyObject_IsTrue(arg[3]);
  if (keepdims < 0 || (naxis = read_axes(arg[2], axis)) < -1 || !begin(&c, arg[0], arg[1])) return NULL;
  int nin = tt_custom_inputs(c.k);
  PyObject *to = arg[4];
  if (to != Py_None && PyTuple_Size(arg[1]) != nin)
    return PyErr_Format(PyExc_TypeError, "kernel %s takes %d inputs (%zd given)", tt_custom_name(c.k), nin,
                        PyTuple_Size(arg[1]));
  bool ok = add_all(&c, arg[1], nin);
  if (c.n == nin + 1) to = PyTuple_GetItem(arg[1], nin);
  if (ok && c.n == nin && to != Py_None && nin < MOST_ARGS) c.n += ok = add_output(&c, to);
  c.copied = false;
  c.how = (tt_launch_options){.copied = &c.copied};
  tt_code code =
      ok ? tt_reduction_call(c.k, c.arg, c.n, naxis < 0 ? NULL : axis, naxis, keepdims, &c.how, &out, &err) : TT_OK;
  if (!ok) return end(&c), NULL;
  if (!finished(&c, code, &err)) return NULL;
  if (to == Py_None) return core_wrap(out, NULL);
  tt_release(&out);
  return Py_NewRef(to);
}

/* ---- asking */

static PyObject *text_object(tt_custom *k, char *text) {
  if (!text) return k ? PyErr_NoMemory() : NULL;
  PyObject *out = PyUnicode_FromString(text);
  tt_text_free(text);
  return out;
}

static PyObject *py_explain(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_custom *k = custom_of(capsule);
  return text_object(k, k ? tt_custom_explain(k) : NULL);
}

static PyObject *py_text(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_custom *k = custom_of(capsule);
  return text_object(k, k ? tt_custom_text(k) : NULL);
}

/* custom_info(kernel): inputs, outputs, sets of types that became operations, that were compiled, launches */
static PyObject *py_info(PyObject *self, PyObject *capsule) {
  (void)self;
  int graph, compiled;
  tt_custom *k = custom_of(capsule);
  if (!k) return NULL;
  tt_custom_ways(k, &graph, &compiled);
  return Py_BuildValue("iiiiL", tt_custom_inputs(k), tt_custom_outputs(k), graph, compiled,
                       (long long)tt_custom_launches(k));
}

/* custom_parameters(kernel): (name, type, raw) of each, inputs first */
static PyObject *py_parameters(PyObject *self, PyObject *capsule) {
  (void)self;
  tt_custom *k = custom_of(capsule);
  int n = k ? tt_custom_inputs(k) + tt_custom_outputs(k) : 0;
  PyObject *list = k ? PyList_New(0) : NULL;
  for (int i = 0; list && i < n; i++) {
    tt_custom_parameter p;
    tt_error err;
    tt_code c = tt_custom_parameter_at(k, i, &p, &err);
    const char any[2] = {c == TT_OK ? p.letter : 0, 0};
    PyObject *row = c != TT_OK ? core_raise(c, &err)
                               : Py_BuildValue("ssO", p.name, p.dtype == TT_DTYPE_NONE ? any : core_dtype_name(p.dtype),
                                               p.is_raw ? Py_True : Py_False);
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

/* dtype_in_c(dtype): how CUDA C spells it */
static PyObject *py_dtype_in_c(PyObject *self, PyObject *o) {
  (void)self;
  tt_dtype dtype;
  return core_dtype_from(o, &dtype) ? PyUnicode_FromString(tt_dtype_in_c(dtype)) : NULL;
}

PyMethodDef core_expression_functions[] = {
    {"elementwise", py_elementwise, METH_VARARGS, NULL},
    {"reduction", py_reduction, METH_VARARGS, NULL},
    {"elementwise_call", CORE_FAST(py_elementwise_call), METH_FASTCALL, NULL},
    {"elementwise_run", CORE_FAST(py_elementwise_run), METH_FASTCALL, NULL},
    {"reduction_call", CORE_FAST(py_reduction_call), METH_FASTCALL, NULL},
    {"custom_explain", py_explain, METH_O, NULL},
    {"custom_text", py_text, METH_O, NULL},
    {"custom_info", py_info, METH_O, NULL},
    {"custom_parameters", py_parameters, METH_O, NULL},
    {"dtype_in_c", py_dtype_in_c, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
