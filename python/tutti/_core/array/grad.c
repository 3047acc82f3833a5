/*
** Gradients: attributes of arrays, and the functions of which the package makes its own.
*/
#include "core.h"

#include <stdlib.h>

/* ---- attributes */

PyObject *core_get_requires_grad(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(core_made(self) && tt_requires_grad(core_made(self)));
}

int core_set_requires_grad(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  tt_error err;
  int on = value ? PyObject_IsTrue(value) : 0;
  if (on < 0 || !core_need(self)) return -1;
  tt_code c = tt_set_requires_grad(core_handle(self), on, &err);
  return c == TT_OK ? 0 : (core_raise(c, &err), -1);
}

PyObject *core_get_is_leaf(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(!core_made(self) || tt_is_leaf(core_made(self)));
}

PyObject *core_get_grad(PyObject *self, void *unused) {
  (void)unused;
  tt_array *out = NULL;
  tt_error err;
  if (!core_made(self)) Py_RETURN_NONE;
  tt_code c = tt_get_grad(core_made(self), &out, &err);
  if (c != TT_OK) return core_raise(c, &err);
  if (!out) Py_RETURN_NONE;
  return core_tensor_like(core_wrap(out, NULL), self);
}

int core_set_grad(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  tt_error err;
  bool none = !value || value == Py_None;
  if (!none && !core_is_array(value)) {
    PyErr_Format(PyExc_TypeError, "assigned grad expected to be an array or None but got grad of type %R",
                 Py_TYPE(value));
    return -1;
  }
  if (!core_need(self) || (!none && !core_need(value))) return -1;
  tt_code c = tt_set_grad(core_handle(self), none ? NULL : core_handle(value), &err);
  return c == TT_OK ? 0 : (core_raise(c, &err), -1);
}

/* ---- lists of arrays */

typedef struct list {
  tt_array **a;
  int n;
} list;

/* The arrays of a sequence, borrowed; None stands for none where that may be. */
static bool arrays_of(PyObject *sequence, bool none, list *out) {
  Py_ssize_t n = PySequence_Size(sequence);
  *out = (list){NULL, 0};
  if (n < 0) return false;
  out->a = PyMem_Calloc((size_t)n + 1, sizeof *out->a);
  if (!out->a) return PyErr_NoMemory(), false;
  for (; out->n < n; out->n++) {
    PyObject *item = PySequence_GetItem(sequence, out->n);
    if (!item) return false;
    Py_DECREF(item); /* the sequence holds it */
    if (none && item == Py_None) continue;
    if (!core_is_array(item)) {
      PyObject *type = PyType_GetName(Py_TYPE(item));
      const char *words = none ? "gradients can be either Tensors or None, but got %U" : "expected arrays, got %U";
      if (type) PyErr_Format(PyExc_TypeError, words, type);
      Py_XDECREF(type);
      return false;
    }
    if (!core_need(item)) return false;
    out->a[out->n] = core_handle(item);
  }
  return true;
}

/* A tuple of the holds; each a tensor where the object in its place is one. */
static PyObject *tuple_of(tt_array **a, int n, PyObject *like) {
  PyObject *out = PyTuple_New(n);
  for (int k = 0; k < n; k++) {
    PyObject *item = a[k] ? core_wrap(a[k], NULL) : Py_NewRef(Py_None), *of = PySequence_GetItem(like, k);
    if (of) item = core_tensor_like(item, of);
    Py_XDECREF(of);
    a[k] = NULL;
    if (!item) Py_CLEAR(out);
    if (out && item)
      PyTuple_SetItem(out, k, item);
    else
      Py_XDECREF(item);
  }
  return out;
}

/* Sequences of arrays; gradients may hold None. */
static PyObject *walk_back(PyObject *output, PyObject *gradient, PyObject *input, int flags, bool give) {
  list o = {0}, g = {0}, i = {0};
  PyObject *result = NULL;
  tt_error err;
  core_line();
  if (!arrays_of(output, false, &o) || !arrays_of(gradient, true, &g) || !arrays_of(input, false, &i)) goto done;
  if (g.n != o.n) {
    PyErr_Format(PyExc_RuntimeError, "got %d tensors and %d gradients", o.n, g.n);
    goto done;
  }
  tt_array **out = PyMem_Calloc((size_t)i.n + 1, sizeof *out);
  if (!out) {
    PyErr_NoMemory();
    goto done;
  }
  tt_code c = give ? tt_gradients(o.a, g.a, o.n, i.a, i.n, flags, out, &err)
                   : tt_backward(o.a, g.a, o.n, i.a, i.n, flags, &err);
  if (c != TT_OK)
    core_raise(c, &err);
  else
    result = give ? tuple_of(out, i.n, input) : Py_NewRef(Py_None);
  PyMem_Free(out);
done:
  PyMem_Free(o.a);
  PyMem_Free(g.a);
  PyMem_Free(i.a);
  return result;
}

/* (outputs, gradients, inputs, flags) */
static PyObject *walk_back_of(PyObject *args, bool give) {
  PyObject *output, *gradient, *input;
  int flags;
  if (!PyArg_ParseTuple(args, "OOOi", &output, &gradient, &input, &flags)) return NULL;
  return walk_back(output, gradient, input, flags, give);
}

/* What may be none, one or several, as a sequence of which `none` is the one for none. */
static PyObject *as_several(PyObject *o, PyObject *none) {
  if (!o || o == Py_None) return none ? PyTuple_Pack(1, none) : PyTuple_New(0);
  if (!PyTuple_Check(o) && !PyList_Check(o)) return PyTuple_Pack(1, o);
  return none && PySequence_Size(o) == 0 ? PyTuple_Pack(1, none) : Py_NewRef(o);
}

/* array.backward(): every step of training calls it, so it takes no way through Python. */
PyObject *core_meth_backward(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[4];
  if (!core_bind("backward", "gradient,retain_graph,create_graph,inputs", 0, arg, n, names, a)) return NULL;
  int create = a[2] ? PyObject_IsTrue(a[2]) : 0, retain = a[1] && a[1] != Py_None ? PyObject_IsTrue(a[1]) : create;
  if (create < 0 || retain < 0) return NULL;
  int flags = (retain ? TT_GRAD_RETAIN : 0) | (create ? TT_GRAD_CREATE : 0);
  PyObject *output = PyTuple_Pack(1, self), *gradient = as_several(a[0], Py_None), *input = as_several(a[3], NULL);
  PyObject *out = output && gradient && input ? walk_back(output, gradient, input, flags, false) : NULL;
  Py_XDECREF(output);
  Py_XDECREF(gradient);
  Py_XDECREF(input);
  return out;
}

static PyObject *py_backward(PyObject *self, PyObject *args) { return (void)self, walk_back_of(args, false); }
static PyObject *py_gradients(PyObject *self, PyObject *args) { return (void)self, walk_back_of(args, true); }

/* ---- Python functions that the library calls */

typedef struct callback {
  core_later later; /* first: how it is dropped */
  PyObject *function;
  bool tensors; /* what it is called with is of the class of tensors */
} callback;

static void let_go(core_later *x) {
  callback *c = (callback *)x;
  Py_DECREF(c->function);
  PyMem_Free(c);
}

/* Without any lock, perhaps on a thread of the library's. */
static void drop(void *ctx) {
  callback *c = ctx;
  c->later.run = let_go;
  core_later_push(c);
}

static callback *callback_new(PyObject *function) {
  callback *c = PyMem_Calloc(1, sizeof *c);
  if (!c) return (callback *)PyErr_NoMemory();
  c->function = Py_NewRef(function);
  return c;
}

/* What a Python function raised travels as a code; core_raise finds the exception set and leaves it. */
static tt_code failed(tt_error *err) {
  err->code = TT_EINTERRUPT;
  strcpy(err->message, "a function raised an exception");
  return TT_EINTERRUPT;
}

/* The result as a hold of its own: an array, or None. */
static bool take(PyObject *result, tt_array **out) {
  *out = NULL;
  if (result == Py_None) return true;
  if (!core_is_array(result)) {
    PyObject *type = PyType_GetName(Py_TYPE(result));
    if (type) PyErr_Format(PyExc_TypeError, "expected Variable or None (got %U)", type);
    Py_XDECREF(type);
    return false;
  }
  if (!core_need(result)) return false;
  *out = tt_retain(core_handle(result));
  return true;
}

static tt_code call_backward(void *ctx, tt_array *const *g, int ng, tt_array **out, int nout, tt_error *err) {
  core_blocked state;
  core_unblock(&state);
  tt_code code = TT_OK;
  PyObject *args = PyTuple_New(ng), *result = NULL, *all = NULL;
  for (int k = 0; args && k < ng; k++) {
    PyObject *item = g[k] ? core_wrap(tt_retain(g[k]), NULL) : Py_NewRef(Py_None);
    if (((callback *)ctx)->tensors) item = core_as_tensor(item);
    if (item)
      PyTuple_SetItem(args, k, item);
    else
      Py_CLEAR(args);
  }
  if (args) result = PyObject_CallObject(((callback *)ctx)->function, args);
  if (result) all = PyTuple_Check(result) || PyList_Check(result) ? Py_NewRef(result) : PyTuple_Pack(1, result);
  if (all && PySequence_Size(all) != nout) {
    PyErr_Format(PyExc_RuntimeError, "function returned an incorrect number of gradients (expected %d, got %zd)", nout,
                 PySequence_Size(all));
    Py_CLEAR(all);
  }
  for (int k = 0; all && k < nout; k++) {
    PyObject *item = PySequence_GetItem(all, k);
    bool ok = item && take(item, &out[k]);
    Py_XDECREF(item);
    if (!ok) Py_CLEAR(all);
  }
  if (!all) code = failed(err);
  Py_XDECREF(args);
  Py_XDECREF(result);
  Py_XDECREF(all);
  core_reblock(&state);
  return code;
}

static tt_code call_hook(void *ctx, tt_array *g, tt_array **out, tt_error *err) {
  core_blocked state;
  core_unblock(&state);
  PyObject *seen = core_wrap(tt_retain(g), NULL);
  if (((callback *)ctx)->tensors) seen = core_as_tensor(seen);
  PyObject *result = seen ? PyObject_CallFunctionObjArgs(((callback *)ctx)->function, seen, NULL) : NULL;
  tt_code code = result && take(result, out) ? TT_OK : failed(err);
  Py_XDECREF(seen);
  Py_XDECREF(result);
  core_reblock(&state);
  return code;
}

/* custom_gradient(inputs, results, backward): the results with `backward` as their history. */
static PyObject *py_custom_gradient(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *input, *result, *function, *out = NULL;
  list i = {0}, r = {0};
  tt_error err;
  if (!PyArg_ParseTuple(args, "OOO", &input, &result, &function)) return NULL;
  core_line();
  if (arrays_of(input, false, &i) && arrays_of(result, false, &r)) {
    tt_array **made = PyMem_Calloc((size_t)r.n + 1, sizeof *made);
    callback *c = made ? callback_new(function) : (callback *)PyErr_NoMemory();
    tt_code code = TT_ENOMEM;
    if (c) c->tensors = core_tensor_among(&result, 1);
    if (c) code = tt_custom_gradient(i.a, i.n, r.a, r.n, call_backward, drop, c, made, &err);
    if (c) out = code == TT_OK ? tuple_of(made, r.n, result) : core_raise(code, &err);
    PyMem_Free(made);
  }
  PyMem_Free(i.a);
  PyMem_Free(r.a);
  return out;
}

static PyObject *py_register_hook(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *a, *function;
  int64_t id;
  tt_error err;
  if (!PyArg_ParseTuple(args, "O!O", core_array_type, &a, &function) || !core_need(a)) return NULL;
  if (!PyCallable_Check(function)) return PyErr_SetString(PyExc_TypeError, "a hook must be callable"), NULL;
  callback *c = callback_new(function);
  if (!c) return NULL;
  c->tensors = core_is_tensor(a);
  tt_code code = tt_register_hook(core_handle(a), call_hook, drop, c, &id, &err);
  return code == TT_OK ? PyLong_FromLongLong(id) : core_raise(code, &err);
}

static PyObject *py_remove_hook(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *a;
  long long id;
  tt_error err;
  if (!PyArg_ParseTuple(args, "O!L", core_array_type, &a, &id) || !core_need(a)) return NULL;
  tt_code code = tt_remove_hook(core_handle(a), id, &err);
  return code == TT_OK ? Py_NewRef(Py_None) : core_raise(code, &err);
}

/* ---- optimisers: (params, states, numbers...); states is a list, whose arrays are replaced */

/* The states as holds; false with an exception. */
static bool states_of(PyObject *states, list *out) {
  if (!arrays_of(states, true, out)) return false;
  for (int k = 0; k < out->n; k++)
    if (out->a[k]) tt_retain(out->a[k]);
  return true;
}

/* Takes the holds. */
static bool give_states(PyObject *states, list *s) {
  bool ok = true;
  for (int k = 0; k < s->n; k++) {
    PyObject *item = !s->a[k] ? Py_NewRef(Py_None) : ok ? core_wrap(s->a[k], NULL) : NULL;
    if (!ok && s->a[k]) tt_release(&s->a[k]);
    if (item && ok)
      ok = PyList_SetItem(states, k, item) == 0;
    else
      ok = false;
  }
  return ok;
}

typedef struct stepper {
  PyObject *params, *states;
  list p, s;
} stepper;

static bool step_begin(stepper *t, int per) {
  core_line();
  if (!PyList_Check(t->states)) return PyErr_SetString(PyExc_TypeError, "states must be a list"), false;
  if (!arrays_of(t->params, false, &t->p) || !states_of(t->states, &t->s)) return false;
  if (t->s.n == t->p.n * per) return true;
  return PyErr_SetString(PyExc_ValueError, "states and parameters do not agree"), false;
}

static PyObject *step_end(stepper *t, tt_code code, const tt_error *err) {
  bool ok = give_states(t->states, &t->s);
  if (code != TT_OK) core_raise(code, err);
  PyMem_Free(t->p.a);
  PyMem_Free(t->s.a);
  return ok && code == TT_OK ? Py_NewRef(Py_None) : NULL;
}

static PyObject *step_failed(stepper *t) {
  for (int k = 0; k < t->s.n; k++)
    if (t->s.a[k]) tt_release(&t->s.a[k]);
  PyMem_Free(t->p.a);
  PyMem_Free(t->s.a);
  return NULL;
}

static PyObject *py_sgd_step(PyObject *self, PyObject *args) {
  (void)self;
  stepper t = {0};
  tt_sgd o;
  tt_error err;
  if (!PyArg_ParseTuple(args, "OOddddpp", &t.params, &t.states, &o.lr, &o.momentum, &o.dampening, &o.weight_decay,
                        &o.nesterov, &o.maximize))
    return NULL;
  if (!step_begin(&t, 1)) return step_failed(&t);
  return step_end(&t, tt_sgd_step(&o, t.p.a, t.s.a, t.p.n, &err), &err);
}

static PyObject *py_adam_step(PyObject *self, PyObject *args) {
  (void)self;
  stepper t = {0};
  tt_adam o;
  tt_error err;
  long long step;
  if (!PyArg_ParseTuple(args, "OOLdddddppp", &t.params, &t.states, &step, &o.lr, &o.beta1, &o.beta2, &o.eps,
                        &o.weight_decay, &o.amsgrad, &o.maximize, &o.decoupled))
    return NULL;
  if (!step_begin(&t, 3)) return step_failed(&t);
  return step_end(&t, tt_adam_step(&o, step, t.p.a, t.s.a, t.p.n, &err), &err);
}

/* (kind, parameters, states, step, lr, eps, weight_decay, beta1, beta2, momentum, lr_decay, initial, product, low,
** high, the curve's three numbers, maximize, centered, decoupled, inside, nesterov, turns, rate) */
static PyObject *py_optimizer_step(PyObject *self, PyObject *args) {
  (void)self;
  stepper t = {0};
  tt_optimizer o;
  tt_error err;
  long long step;
  int kind, rate;
  if (!PyArg_ParseTuple(args, "iOOLddddddddddddddpppppii", &kind, &t.params, &t.states, &step, &o.lr, &o.eps,
                        &o.weight_decay, &o.beta1, &o.beta2, &o.momentum, &o.lr_decay, &o.initial, &o.product, &o.low,
                        &o.high, &o.curve[0], &o.curve[1], &o.curve[2], &o.maximize, &o.centered, &o.decoupled,
                        &o.inside, &o.nesterov, &o.turns, &rate))
    return NULL;
  o.kind = (tt_optimizer_kind)kind;
  o.rate = (tt_muon_rate)rate;
  if (!step_begin(&t, 3)) return step_failed(&t);
  return step_end(&t, tt_optimizer_step(&o, step, t.p.a, t.s.a, t.p.n, &err), &err);
}

/* steps_skip(array or None) */
static PyObject *py_steps_skip(PyObject *self, PyObject *skip) {
  (void)self;
  tt_error err;
  if (skip != Py_None && !core_is_array(skip))
    return PyErr_SetString(PyExc_TypeError, "expected a tutti.ndarray"), NULL;
  if (skip != Py_None && !core_need(skip)) return NULL;
  tt_code code = tt_steps_skip(skip == Py_None ? NULL : core_handle(skip), &err);
  return code == TT_OK ? Py_NewRef(Py_None) : core_raise(code, &err);
}

static PyObject *py_steps_begin(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_steps_begin();
  return Py_NewRef(Py_None);
}

static PyObject *py_steps_end(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_error err;
  core_line();
  tt_code code = tt_steps_end(&err);
  return code == TT_OK ? Py_NewRef(Py_None) : core_raise(code, &err);
}

static PyObject *py_steps_undo(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return PyBool_FromLong(tt_steps_undo());
}

static PyObject *py_nadam_momentum(PyObject *self, PyObject *args) {
  (void)self;
  tt_optimizer o = {.kind = TT_NADAM};
  long long step;
  if (!PyArg_ParseTuple(args, "Ldd", &step, &o.beta1, &o.momentum)) return NULL;
  return PyFloat_FromDouble(tt_nadam_momentum(&o, step));
}

static PyObject *py_retain_grad(PyObject *self, PyObject *a) {
  (void)self;
  tt_error err;
  if (!core_is_array(a)) return PyErr_SetString(PyExc_TypeError, "expected an array"), NULL;
  if (!core_need(a)) return NULL;
  tt_code code = tt_retain_grad(core_handle(a), &err);
  return code == TT_OK ? Py_NewRef(Py_None) : core_raise(code, &err);
}

typedef tt_code (*maker)(tt_array *a, tt_array **out, tt_error *err);

static PyObject *made_of(PyObject *a, maker make) {
  tt_array *out;
  tt_error err;
  if (!core_is_array(a)) return PyErr_SetString(PyExc_TypeError, "expected an array"), NULL;
  if (!core_need(a)) return NULL;
  tt_code code = make(core_handle(a), &out, &err);
  return core_tensor_like(core_done(code, out, NULL, &err), a);
}
static PyObject *py_detach(PyObject *self, PyObject *a) { return (void)self, made_of(a, tt_detached); }
static PyObject *py_same(PyObject *self, PyObject *a) { return (void)self, made_of(a, tt_variable_of); }

static PyObject *py_grad_mode(PyObject *self, PyObject *on) {
  (void)self;
  int now = PyObject_IsTrue(on);
  return now < 0 ? NULL : PyBool_FromLong(tt_grad_mode(now));
}

/*
** The type `tutti._core.Mode`: `with` sets a mode, by the class' function _set, to _on, and back; `_before` is the list
** of what held outside. In C because signals are looked at between the lines of a Python function, where a mode would
** be left as it is.
*/
static PyObject *mode_set_name, *mode_on_name, *mode_before_name;

static PyObject *mode_set(PyObject *self, PyObject *to) {
  PyObject *set = PyObject_GetAttr(self, mode_set_name), *out = NULL;
  if (set && to) out = PyObject_CallFunctionObjArgs(set, to, NULL);
  Py_XDECREF(set);
  return out;
}

static PyObject *mode_enter(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *before = PyObject_GetAttr(self, mode_before_name), *on = PyObject_GetAttr(self, mode_on_name);
  PyObject *was = before && on ? mode_set(self, on) : NULL;
  bool ok = was && PyList_Append(before, was) == 0;
  Py_XDECREF(before);
  Py_XDECREF(on);
  Py_XDECREF(was);
  return ok ? Py_NewRef(self) : NULL;
}

static PyObject *mode_exit(PyObject *self, PyObject *args) {
  (void)args;
  PyObject *before = PyObject_GetAttr(self, mode_before_name);
  Py_ssize_t n = before ? PyList_Size(before) : 0;
  PyObject *was = n > 0 ? mode_set(self, PyList_GetItem(before, n - 1)) : NULL;
  bool ok = was && PyList_SetSlice(before, n - 1, n, NULL) == 0;
  if (before && n == 0) PyErr_SetString(PyExc_RuntimeError, "the mode was not entered");
  Py_XDECREF(before);
  Py_XDECREF(was);
  return ok ? Py_NewRef(Py_None) : NULL;
}

int core_mode_init(PyObject *module) {
  static PyMethodDef methods[] = {
      {"__enter__", mode_enter, METH_NOARGS, "Set the mode."},
      {"__exit__", mode_exit, METH_VARARGS, "Set what held before."},
      {NULL, NULL, 0, NULL},
  };
  static PyType_Slot slots[] = {{Py_tp_doc, "A mode of this thread."}, {Py_tp_methods, methods}, {0, NULL}};
  static PyType_Spec spec = {"tutti._core.Mode", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  mode_set_name = PyUnicode_InternFromString("_set");
  mode_on_name = PyUnicode_InternFromString("_on");
  mode_before_name = PyUnicode_InternFromString("_before");
  PyObject *type = mode_set_name && mode_on_name && mode_before_name ? PyType_FromSpec(&spec) : NULL;
  bool ok = type && PyModule_AddObjectRef(module, "Mode", type) == 0;
  Py_XDECREF(type);
  return ok ? 0 : -1;
}

static PyObject *py_is_grad_enabled(PyObject *self, PyObject *unused) {
  return (void)self, (void)unused, PyBool_FromLong(tt_grad_mode_is_on());
}

bool core_refuses_gradients(PyObject *args) {
  for (Py_ssize_t k = 0; k < PyTuple_Size(args) && tt_grad_mode_is_on(); k++) {
    PyObject *o = PyTuple_GetItem(args, k);
    if (!core_is_array(o) || !core_made(o) || !tt_requires_grad(core_made(o))) continue;
    PyErr_SetString(PyExc_RuntimeError,
                    "a compiled function has no derivative: wrap it in a Function with a backward of "
                    "its own, or give it x.detach() in place of an array that requires grad");
    return true;
  }
  return false;
}

static PyObject *py_refuse_gradients(PyObject *self, PyObject *args) {
  (void)self;
  return core_refuses_gradients(args) ? NULL : Py_NewRef(Py_None);
}

static PyObject *py_detect_anomaly(PyObject *self, PyObject *on) {
  (void)self;
  int now = PyObject_IsTrue(on);
  return now < 0 ? NULL : PyBool_FromLong(tt_detect_anomaly(now));
}

/* autocast(dtype or None, caches): what held before, as such a pair */
static PyObject *py_autocast(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *dtype;
  int caches;
  tt_autocast now, before;
  tt_error err;
  if (!PyArg_ParseTuple(args, "Op", &dtype, &caches) || !core_dtype_optional(dtype, &now.low)) return NULL;
  now.caches = caches;
  tt_code c = tt_autocast_set(now, &before, &err);
  if (c != TT_OK) return core_raise(c, &err);
  PyObject *low = before.low == TT_DTYPE_NONE ? Py_NewRef(Py_None) : core_dtype_object(before.low);
  return low ? Py_BuildValue("(NO)", low, before.caches ? Py_True : Py_False) : NULL;
}

/* autocast_dtype(): the narrow type of this thread, or None */
static PyObject *py_autocast_dtype(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  tt_autocast now = tt_autocast_get();
  return now.low == TT_DTYPE_NONE ? Py_NewRef(Py_None) : core_dtype_object(now.low);
}

/* without_gradients(params): the places in the list of those that have none */
static PyObject *py_without_gradients(PyObject *self, PyObject *params) {
  (void)self;
  list p;
  tt_error err;
  PyObject *out = arrays_of(params, false, &p) ? PyList_New(0) : NULL;
  for (int k = 0; out && k < p.n; k++) {
    tt_array *grad = NULL;
    tt_code c = tt_get_grad(p.a[k], &grad, &err);
    if (c == TT_OK && grad) {
      tt_release(&grad);
      continue;
    }
    PyObject *place = c == TT_OK ? PyLong_FromLong(k) : core_raise(c, &err);
    if (!place || PyList_Append(out, place) < 0) Py_CLEAR(out);
    Py_XDECREF(place);
  }
  PyMem_Free(p.a);
  return out;
}

PyMethodDef core_grad_functions[] = {
    {"autocast", py_autocast, METH_VARARGS, NULL},
    {"autocast_dtype", py_autocast_dtype, METH_NOARGS, NULL},
    {"backward", py_backward, METH_VARARGS, NULL},
    {"gradients", py_gradients, METH_VARARGS, NULL},
    {"custom_gradient", py_custom_gradient, METH_VARARGS, NULL},
    {"register_hook", py_register_hook, METH_VARARGS, NULL},
    {"remove_hook", py_remove_hook, METH_VARARGS, NULL},
    {"sgd_step", py_sgd_step, METH_VARARGS, NULL},
    {"adam_step", py_adam_step, METH_VARARGS, NULL},
    {"optimizer_step", py_optimizer_step, METH_VARARGS, NULL},
    {"without_gradients", py_without_gradients, METH_O, NULL},
    {"steps_skip", py_steps_skip, METH_O, NULL},
    {"steps_begin", py_steps_begin, METH_NOARGS, NULL},
    {"steps_end", py_steps_end, METH_NOARGS, NULL},
    {"steps_undo", py_steps_undo, METH_NOARGS, NULL},
    {"nadam_momentum", py_nadam_momentum, METH_VARARGS, NULL},
    {"retain_grad", py_retain_grad, METH_O, NULL},
    {"detach", py_detach, METH_O, NULL},
    {"same", py_same, METH_O, NULL},
    {"grad_mode", py_grad_mode, METH_O, NULL},
    {"is_grad_enabled", py_is_grad_enabled, METH_NOARGS, NULL},
    {"detect_anomaly", py_detect_anomaly, METH_O, NULL},
    {"refuse_gradients", py_refuse_gradients, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
