/*
** `tutti._core.Jit`: a compiled function or kernel as a Python object. A call reads the types of its arguments into a
** short text, finds the code made for them (or has it made), hands words across and makes objects of what comes back.
** The package subclasses it: `_module` gives the function's tree, `_interpret` runs it where there is no compiler.
*/
#include "jit_int.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HIDDEN = 16, MOST_PLACES = 16 };

typedef struct special {
  struct special *next;
  tt_jit *jit;
  size_t len;
  int nhidden, narray;
  tt_jit_argument array[MOST_HIDDEN]; /* of a kernel: copies of the hidden arrays, one hold each */
  int64_t hidden_words[64];
  char types[];
} special;

typedef struct jit_object {
  PyObject_HEAD special *first; /* found last stands first */
  uint32_t flags;
  int fill; /* calls with fewer arguments take defaults */
  long long launches;
  int place[MOST_PLACES], nplace; /* devices it was launched on */
  PyObject *hidden;               /* list: memory behind the hidden arrays */
  PyObject *defaults;             /* tuple: of the last parameters */
  PyObject *key;                  /* bytes for tt_jit_settle; NULL: nothing waits for this function */
} jit_object;

static PyTypeObject *jit_type, *launch_type;

/* ---- finding the code for these types */

/*
** A kernel's hidden arrays: constants become arrays of ours, which launches read wherever they run; the memory of
** arrays of the device stays what it is. Their words count from the first hidden one: launches know what stands before
** it.
*/
static bool keep_hidden(special *s, const jit_frame *h) {
  tt_error err;
  for (int k = 0; k < h->nheld; k++) {
    int64_t low, size;
    if (h->held[k].has_view && h->held[k].at == NULL) continue; /* a number */
    if (s->narray == MOST_HIDDEN) return core_jit_too_much("global arrays");
    tt_jit_argument *a = &s->array[s->narray];
    if (!h->held[k].has_view) {
      *a = (tt_jit_argument){.word = h->held[k].word, .writes = true, .array = core_handle(h->held[k].object)};
      tt_retain(a->array);
      s->narray++;
      continue;
    }
    core_jit_extent(&h->held[k], &low, &size);
    if (!h->held[k].view.readonly) {
      char *first = (char *)h->held[k].view.buf + low;
      *a = (tt_jit_argument){.word = h->held[k].word, .writes = true, .low = first, .size = size};
      s->narray++;
      continue;
    }
    *a = (tt_jit_argument){.word = h->held[k].word, .inside = -low};
    int chosen = tt_set_device(TT_AUTO); /* it is read wherever a launch's own arrays lie */
    tt_code c = tt_from_data(TT_U8, 1, &size, (char *)h->held[k].view.buf + low, NULL, &a->array, &err);
    tt_set_device(chosen);
    if (c != TT_OK) return (void)core_raise(c, &err), false;
    s->narray++;
  }
  return true;
}

static void free_special(special *s) {
  for (int k = 0; k < s->narray; k++) tt_release(&s->array[k].array);
  PyMem_Free(s);
}

static void settle(jit_object *self, bool compiled) {
  PyObject *key = self->key;
  self->key = NULL;
  if (key) tt_jit_settle(PyBytes_AsString(key), (size_t)PyBytes_Size(key), compiled);
  Py_XDECREF(key);
}

/* The types of a call of a function that is written for each list of types: the package finds one, or says that there
 * is none. */
static bool find_overload(jit_object *self, tt_code c, const tt_error *err) {
  static const char asks[] = "overload ";
  if (c != TT_ENOTIMPL || strncmp(err->message, asks, sizeof asks - 1) != 0) return (void)core_raise(c, err), false;
  PyObject *done = PyObject_CallMethod((PyObject *)self, "_overload", "s", err->message + sizeof asks - 1);
  Py_XDECREF(done);
  return done != NULL;
}

static special *compile(jit_object *self, jit_frame *f) {
  PyObject *made = PyObject_CallMethod((PyObject *)self, "_module", "s#", f->type, (Py_ssize_t)f->ntype);
  special *s = NULL;
  tt_jit *jit = NULL;
  tt_error err;
  jit_frame *h = PyMem_Calloc(1, sizeof *h);
  if (!made || !h) goto done;
  PyObject *text, *arrays;
  if (!PyArg_ParseTuple(made, "SO!", &text, &PyList_Type, &arrays)) goto done;
  memcpy(h->type, f->type, f->ntype);
  h->ntype = f->ntype;
  h->strided = f->strided;
  Py_ssize_t n = PyList_Size(arrays);
  for (Py_ssize_t k = 0; k < n; k++) {
    if (!core_jit_add_type(h, k ? "," : "|", 1) || !core_jit_add_kept(h, PyList_GetItem(arrays, k))) goto done;
  }
  if (h->nword > 64) {
    PyErr_SetString(PyExc_TypeError, "a compiled function reads too many global arrays");
    goto done;
  }
  h->type[h->ntype] = 0;
  char *bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(text, &bytes, &size) < 0) goto done;
  core_block_begin();
  tt_code c = tt_jit_compile(bytes, (size_t)size, h->type, self->flags, &jit, &err);
  core_block_end();
  settle(self, c == TT_OK);
  if (c != TT_OK) {
    if (find_overload(self, c, &err)) s = compile(self, f);
    goto done;
  }
  s = PyMem_Calloc(1, sizeof *s + f->ntype + 1);
  if (!s) {
    PyErr_NoMemory();
    goto done;
  }
  memcpy(s->hidden_words, h->word, (size_t)h->nword * sizeof *h->word);
  memcpy(s->types, f->type, f->ntype);
  s->len = f->ntype;
  s->nhidden = h->nword;
  if ((self->flags & TT_JIT_KERNEL) && !keep_hidden(s, h)) {
    free_special(s);
    s = NULL;
    goto done;
  }
  s->jit = jit;
  s->next = self->first;
  self->first = s;
  if (PyList_Append(self->hidden, arrays) < 0) PyErr_Clear(); /* held as long as this object */
done:
  if (h) core_jit_let_go(h);
  PyMem_Free(h);
  Py_XDECREF(made);
  return s;
}

static special *find(jit_object *self, jit_frame *f) {
  special **at = &self->first;
  for (special *s = self->first; s; at = &s->next, s = s->next) {
    if (s->len != f->ntype || memcmp(s->types, f->type, f->ntype) != 0) continue;
    *at = s->next;
    s->next = self->first;
    return self->first = s;
  }
  return compile(self, f);
}

/* What was printed goes to Python's own standard output. */
bool core_jit_show(const tt_jit_run *run) {
  const char *text = tt_jit_run_text(run);
  if (!*text) return true;
  PyObject *out = PySys_GetObject("stdout"), *s = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  bool ok = s && (!out || out == Py_None || PyFile_WriteObject(s, out, Py_PRINT_RAW) == 0);
  Py_XDECREF(s);
  return ok;
}

/* Where there is no compiler the package runs the function itself, and says why: method(why, args). */
static PyObject *fall_back(PyObject *self, const char *method, PyObject *args) {
  char why[600];
  if (!PyErr_ExceptionMatches(PyExc_RuntimeError)) return NULL;
  tt_jit_missing(why, sizeof why);
  if (!why[0]) return NULL;
  PyErr_Clear();
  PyObject *text = PyUnicode_DecodeUTF8(why, (Py_ssize_t)strlen(why), "replace");
  PyObject *out = text ? PyObject_CallMethod(self, method, "OO", text, args) : NULL;
  Py_XDECREF(text);
  return out;
}

/* A call's arguments with the defaults behind them; NULL without an exception: the package binds them. */
static PyObject *with_defaults(const jit_object *self, PyObject *args) {
  Py_ssize_t n = PyTuple_Size(self->defaults), missing = self->fill - PyTuple_Size(args);
  if (missing > n) return NULL;
  PyObject *rest = PyTuple_GetSlice(self->defaults, n - missing, n);
  PyObject *all = rest ? PySequence_Concat(args, rest) : NULL;
  Py_XDECREF(rest);
  return all;
}

/* The exception that is set gets a note. */
static void add_note(const char *note) {
  PyObject *cls, *made, *trace;
  PyErr_Fetch(&cls, &made, &trace);
  PyErr_NormalizeException(&cls, &made, &trace);
  PyObject *none = made ? PyObject_CallMethod(made, "add_note", "s", note) : NULL;
  if (!none) PyErr_Clear();
  Py_XDECREF(none);
  PyErr_Restore(cls, made, trace);
}

/* A failure of running code: its message is Python's own, a note says where it was. */
static void raise_noted(tt_code c, const tt_error *err) {
  tt_error own = *err;
  char *place = strstr(own.message, "\nin ");
  if (place) *place = 0;
  core_raise(c, &own);
  if (place) add_note(place + 1);
}

/* What the function's own `raise` raised is made by the package; other failures are the library's. */
void core_jit_raise(PyObject *self, tt_code c, const tt_error *err) {
  static const char raised[] = "raised ";
  char *place;
  if (c != TT_EINTERNAL || strncmp(err->message, raised, sizeof raised - 1) != 0) return raise_noted(c, err);
  long number = strtol(err->message + sizeof raised - 1, &place, 10);
  PyErr_Clear();
  PyObject *made = PyObject_CallMethod(self, "_raised", "ls", number, *place ? place + 1 : place);
  if (made) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
  Py_XDECREF(made);
}

/* An argument is no value: it may be a function or a type, which the package makes code for. Else the error stays. */
static PyObject *bound_call(PyObject *self, PyObject *args) {
  PyObject *cls, *made, *trace;
  PyErr_Fetch(&cls, &made, &trace);
  PyObject *answer = PyObject_CallMethod(self, "_bound_call", "(O)", args);
  if (answer == Py_NotImplemented) {
    Py_DECREF(answer);
    return PyErr_Restore(cls, made, trace), NULL;
  }
  Py_XDECREF(cls);
  Py_XDECREF(made);
  Py_XDECREF(trace);
  return answer;
}

static PyObject *jit_call(PyObject *self, PyObject *args, PyObject *names) {
  jit_frame f;
  int64_t out[JIT_WORDS];
  PyObject *bound = NULL, *answer = NULL;
  tt_jit_run *run = NULL;
  tt_error err;
  if ((names && PyDict_Size(names) > 0) || PyTuple_Size(args) < ((jit_object *)self)->fill) {
    if (!names || PyDict_Size(names) == 0) bound = with_defaults((jit_object *)self, args);
    if (!bound && !PyErr_Occurred()) bound = PyObject_CallMethod(self, "_bind", "OO", args, names ? names : Py_None);
    if (!bound) return NULL;
    args = bound;
  }
  if (!core_jit_read(&f, args, false)) {
    if (f.strange) answer = bound_call(self, args);
    goto done;
  }
  if (core_refuses_gradients(args)) goto done;
  special *s = find((jit_object *)self, &f);
  if (!s) {
    answer = fall_back(self, "_interpret", args);
    goto done;
  }
  if (core_jit_has_gpu(&f)) {
    PyErr_SetString(PyExc_TypeError, "an argument lies on a GPU; compiled functions run on the CPU");
    goto done;
  }
  if (!core_jit_bind(&f, tt_jit_writes(s->jit))) goto done;
  bool brief = tt_jit_is_brief(s->jit);
  if (!brief) core_block_begin();
  tt_code c = tt_jit_call(s->jit, f.word, s->hidden_words, out, &run, &err);
  if (!brief) core_block_end();
  bool shown = core_jit_show(run);
  if (c != TT_OK) { /* what was done before stays done */
    PyObject *kind, *value, *trace;
    core_jit_raise(self, c, &err);
    PyErr_Fetch(&kind, &value, &trace);
    if (!shown || !core_jit_write_back(&f) || (f.lists && !core_jit_lists_back(&f, tt_jit_writes(s->jit), run, self)))
      PyErr_Clear(); /* the first error is the one that is told */
    PyErr_Restore(kind, value, trace);
  } else if (shown && core_jit_write_back(&f) &&
             (!f.lists || core_jit_lists_back(&f, tt_jit_writes(s->jit), run, self))) {
    const char *type = tt_jit_result(s->jit);
    answer = *type == 'G' ? core_jit_generator(self, args, s->jit, s->hidden_words, out[0], &run, &f)
                          : core_jit_result(type, out, run, &f, self);
  }
done:
  if (run) tt_jit_run_release(&run);
  core_jit_let_go(&f);
  Py_XDECREF(bound);
  return answer;
}

static bool triple(PyObject *o, int64_t *out, const char *what) {
  out[0] = out[1] = out[2] = 1;
  Py_ssize_t n = PyTuple_Check(o) || PyList_Check(o) ? PySequence_Size(o) : -1;
  if (n > 3 || n == 0) return PyErr_Format(PyExc_ValueError, "a %s has 1 to 3 axes", what), false;
  for (Py_ssize_t k = 0; k < (n < 0 ? 1 : n); k++) {
    PyObject *item = n < 0 ? Py_NewRef(o) : PySequence_GetItem(o, k), *number = item ? PyNumber_Index(item) : NULL;
    Py_XDECREF(item);
    if (!number) return false;
    out[k] = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred()) return false;
  }
  return true;
}

/* What can be no number of blocks or threads; the limits are the library's to check. */
static bool narrow(const int64_t *from, uint32_t *out, const char *what) {
  for (int k = 0; k < 3; k++) {
    if (from[k] < 0 || from[k] > UINT32_MAX)
      return PyErr_Format(PyExc_ValueError, "%s: %lld is out of range", what, (long long)from[k]), false;
    out[k] = (uint32_t)from[k];
  }
  return true;
}

/* ---- launches: a kernel with its grid */

typedef struct launch_object {
  PyObject_HEAD PyObject *kernel, *stream;
  tt_launch_options how;
} launch_object;

/* What the kernel is given that lies somewhere; *raw: addresses of a GPU's memory among the words. */
static int launch_arrays(const special *s, jit_frame *f, tt_jit_argument *out, bool *raw) {
  uint64_t writes = tt_jit_writes(s->jit);
  int n = 0;
  *raw = false;
  for (int k = 0; k < f->nheld; k++) {
    jit_held *h = &f->held[k];
    int64_t low = 0, size = h->size;
    *raw |= h->gpu;
    if (h->gpu || (h->has_view && h->at == NULL)) continue; /* an address; a NumPy scalar, which is a word by itself */
    tt_jit_argument *a = &out[n++];
    *a = (tt_jit_argument){.word = h->word, .writes = writes >> h->arg & 1};
    if (h->has_view) {
      core_jit_extent(h, &low, &size);
      a->low = (char *)(uintptr_t)h->at + low;
      a->size = size;
    } else {
      a->array = core_handle(h->object);
    }
  }
  for (int k = 0; k < s->narray; k++) {
    out[n] = s->array[k];
    out[n++].word += f->nword;
  }
  return n;
}

static PyObject *fall_back_to_steps(launch_object *l, PyObject *args) {
  enum { USUAL = 128 };
  tt_grid grid = l->how.grid;
  if (l->how.threads)
    grid = (tt_grid){.grid = {(uint32_t)((l->how.threads + USUAL - 1) / USUAL), 1, 1}, .block = {USUAL, 1, 1}};
  const uint32_t *g = grid.grid, *b = grid.block;
  PyObject *all = Py_BuildValue("((III)(III)LO)", (unsigned)g[0], (unsigned)g[1], (unsigned)g[2], (unsigned)b[0],
                                (unsigned)b[1], (unsigned)b[2], (long long)l->how.grid.shared, args);
  PyObject *out = all ? fall_back(l->kernel, "_step", all) : NULL;
  Py_XDECREF(all);
  return out;
}

static void note(jit_object *kernel, int where) {
  int k = 0;
  kernel->launches++;
  while (k < kernel->nplace && kernel->place[k] != where) k++;
  if (k == kernel->nplace && k < MOST_PLACES) kernel->place[kernel->nplace++] = where;
}

static PyObject *launch_call(PyObject *self, PyObject *args, PyObject *names) {
  launch_object *l = (launch_object *)self;
  jit_object *kernel = (jit_object *)l->kernel;
  jit_frame f;
  tt_jit_argument array[JIT_HELD + MOST_HIDDEN];
  PyObject *answer = NULL;
  tt_error err;
  bool raw;
  if (names && PyDict_Size(names) > 0) return PyErr_SetString(PyExc_TypeError, "a kernel takes no keywords"), NULL;
  if (!core_jit_read(&f, args, true)) goto done;
  special *s = find(kernel, &f);
  if (!s) {
    answer = fall_back_to_steps(l, args);
    goto done;
  }
  int n = launch_arrays(s, &f, array, &raw);
  if (f.nword + s->nhidden > JIT_WORDS) {
    core_jit_too_much("values");
    goto done;
  }
  memcpy(f.word + f.nword, s->hidden_words, (size_t)s->nhidden * sizeof *f.word);
  core_line();
  int where = 0;
  tt_code c = tt_jit_launch(s->jit, &l->how, f.word, f.nword, s->nhidden, array, n, raw, &where, &err);
  if (c == TT_OK) note(kernel, where);
  bool copied = false;
  for (int k = 0; k < n && where; k++) copied |= !array[k].array && !tt_managed_device(array[k].low);
  if (!core_show_printed() || (copied && !core_warn_copied())) goto done;
  if (c == TT_EDEVICE && !tt_jit_usable()) {
    PyErr_SetString(PyExc_RuntimeError, err.message);
    answer = fall_back_to_steps(l, args);
  } else {
    answer = c == TT_OK ? Py_NewRef(Py_None) : core_raise(c, &err);
  }
done:
  core_jit_let_go(&f);
  return answer;
}

static int launch_visit(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((launch_object *)self)->kernel);
  return 0;
}
static int launch_clear(PyObject *self) {
  (void)self; /* a kernel lets go of its launches; a launch is nothing without its kernel */
  return 0;
}

static void launch_free(PyObject *self) {
  launch_object *l = (launch_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(l->kernel);
  Py_XDECREF(l->stream);
  freefunc slot = (freefunc)PyType_GetSlot(type, Py_tp_free);
  slot(self);
  Py_DECREF(type);
}

/* kernel.configure(grid, block, stream, shared) again. */
static PyObject *launch_reduce(PyObject *self, PyObject *unused) {
  const launch_object *l = (launch_object *)self;
  const tt_grid *g = &l->how.grid;
  (void)unused;
  PyObject *make = PyObject_GetAttrString(l->kernel, "configure"), *args = NULL;
  if (make && l->how.threads)
    args = Py_BuildValue("LOOL", (long long)l->how.threads, Py_None, l->stream, (long long)g->shared);
  else if (make)
    args = Py_BuildValue("(III)(III)OL", (unsigned)g->grid[0], (unsigned)g->grid[1], (unsigned)g->grid[2],
                         (unsigned)g->block[0], (unsigned)g->block[1], (unsigned)g->block[2], l->stream,
                         (long long)g->shared);
  return args ? Py_BuildValue("NN", make, args) : (Py_XDECREF(make), NULL);
}

static PyMethodDef launch_methods[] = {{"__reduce__", launch_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyType_Slot launch_slots[] = {{Py_tp_doc, "A kernel with its grid: call it with the arguments."},
                                     {Py_tp_methods, launch_methods},
                                     {Py_tp_call, launch_call},
                                     {Py_tp_traverse, launch_visit},
                                     {Py_tp_clear, launch_clear},
                                     {Py_tp_dealloc, launch_free},
                                     {0, NULL}};
static PyType_Spec launch_spec = {"tutti._core.Launch", sizeof(launch_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  launch_slots};

/* _at(grid, block, stream, shared, device, on_cpu): a launch. `device`: where it runs when no array says. No block
 * (None): `grid` threads, in blocks of a size that is chosen. */
static PyObject *jit_at(PyObject *self, PyObject *args) {
  PyObject *grid, *block, *stream;
  tt_launch_options how = {.copied = NULL};
  int64_t blocks[3], threads[3];
  long long shared;
  int on_cpu;
  if (!PyArg_ParseTuple(args, "OOOLip", &grid, &block, &stream, &shared, &how.otherwise, &on_cpu)) return NULL;
  if (!triple(grid, blocks, "grid") || !core_read_stream(stream, &how)) return NULL;
  if (block == Py_None) {
    how.threads = blocks[0];
  } else if (!triple(block, threads, "block") || !narrow(blocks, how.grid.grid, "grid") ||
             !narrow(threads, how.grid.block, "block")) {
    return NULL;
  }
  how.grid.shared = shared;
  how.on_cpu = on_cpu;
  allocfunc slot = (allocfunc)PyType_GetSlot(launch_type, Py_tp_alloc);
  launch_object *l = (launch_object *)slot(launch_type, 0);
  if (!l) return NULL;
  l->how = how;
  l->kernel = Py_NewRef(self);
  l->stream = Py_NewRef(stream);
  return (PyObject *)l;
}

/* _launched(): how often, and a list of the devices. */
static PyObject *jit_launched(PyObject *self, PyObject *unused) {
  jit_object *j = (jit_object *)self;
  PyObject *list = PyList_New(0);
  (void)unused;
  for (int k = 0; list && k < j->nplace; k++) {
    PyObject *number = PyLong_FromLong(j->place[k]);
    if (!number || PyList_Append(list, number) < 0) Py_CLEAR(list);
    Py_XDECREF(number);
  }
  return list ? Py_BuildValue("LN", j->launches, list) : NULL;
}

/* ---- looking inside */

/* _specials(): [(types, result, C text, table of variables, writes, shared, local, barriers)] */
static PyObject *jit_specials(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  for (special *s = ((jit_object *)self)->first; list && s; s = s->next) {
    tt_jit_info i = tt_jit_ask(s->jit);
    PyObject *row =
        Py_BuildValue("(s#sssKLLO)", s->types, (Py_ssize_t)s->len, tt_jit_result(s->jit), tt_jit_source(s->jit),
                      tt_jit_types(s->jit), (unsigned long long)tt_jit_writes(s->jit), (long long)i.shared,
                      (long long)i.local, i.barriers ? Py_True : Py_False);
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

/* _cuda(types): the CUDA C++ text of a kernel for these argument types. */
static PyObject *jit_cuda(PyObject *self, PyObject *types) {
  Py_ssize_t n;
  const char *text = PyUnicode_AsUTF8AndSize(types, &n);
  jit_frame *f = PyMem_Calloc(1, sizeof *f);
  special *s = text && f && core_jit_add_type(f, text, (size_t)n) ? find((jit_object *)self, f) : NULL;
  PyMem_Free(f);
  if (!s) return NULL;
  tt_error err = {0};
  char *source = tt_jit_cuda_source(s->jit, &err);
  if (!source) return core_raise(err.code, &err);
  PyObject *out = PyUnicode_FromString(source);
  tt_text_free(source);
  return out;
}

/* _at_once(types, device, threads, shared): blocks that the device runs at once. */
static PyObject *jit_at_once(PyObject *self, PyObject *args) {
  const char *text;
  Py_ssize_t n;
  int device, threads;
  long long shared;
  int64_t blocks;
  tt_error err;
  if (!PyArg_ParseTuple(args, "s#iiL", &text, &n, &device, &threads, &shared)) return NULL;
  jit_frame *f = PyMem_Calloc(1, sizeof *f);
  special *s = f && core_jit_add_type(f, text, (size_t)n) ? find((jit_object *)self, f) : NULL;
  PyMem_Free(f);
  if (!s) return NULL;
  core_block_begin();
  tt_code c = tt_jit_at_once(s->jit, device, threads, shared, &blocks, &err);
  core_block_end();
  return c == TT_OK ? PyLong_FromLongLong(blocks) : core_raise(c, &err);
}

/* _compile(types): code for a signature's text, without a call. Gives the result's type. */
static PyObject *jit_compile(PyObject *self, PyObject *types) {
  Py_ssize_t n;
  const char *text = PyUnicode_AsUTF8AndSize(types, &n);
  jit_frame *f = PyMem_Calloc(1, sizeof *f);
  special *s = NULL;
  if (text && f && core_jit_add_type(f, text, (size_t)n)) s = find((jit_object *)self, f);
  PyMem_Free(f);
  return s ? PyUnicode_FromString(tt_jit_result(s->jit)) : NULL;
}

/* _types(args): the signature's text of these arguments. */
static PyObject *jit_types_of(PyObject *self, PyObject *args) {
  jit_frame f;
  if (!PyTuple_Check(args)) return PyErr_SetString(PyExc_TypeError, "a tuple of arguments"), NULL;
  PyObject *out = NULL;
  if (core_jit_read(&f, args, ((jit_object *)self)->flags & TT_JIT_KERNEL))
    out = PyUnicode_FromStringAndSize(f.type, (Py_ssize_t)f.ntype);
  core_jit_let_go(&f);
  return out;
}

static int jit_init(PyObject *self, PyObject *args, PyObject *names) {
  unsigned int flags;
  int fill;
  PyObject *key = NULL, *defaults = NULL; /* bytes that stand for the function */
  (void)names;
  if (!PyArg_ParseTuple(args, "Ii|OO!", &flags, &fill, &key, &PyTuple_Type, &defaults)) return -1;
  jit_object *j = (jit_object *)self;
  if (!j->key && key && PyBytes_Check(key) && tt_jit_expect(PyBytes_AsString(key), (size_t)PyBytes_Size(key)))
    j->key = Py_NewRef(key);
  j->flags = flags;
  j->fill = fill;
  if (!j->hidden) j->hidden = PyList_New(0);
  if (!j->defaults) j->defaults = defaults ? Py_NewRef(defaults) : PyTuple_New(0);
  return j->hidden && j->defaults ? 0 : -1;
}

static int jit_visit(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((jit_object *)self)->hidden);
  Py_VISIT(((jit_object *)self)->defaults);
  return 0;
}
static int jit_clear(PyObject *self) {
  Py_CLEAR(((jit_object *)self)->hidden);
  Py_CLEAR(((jit_object *)self)->defaults);
  return 0;
}

static void jit_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  jit_object *j = (jit_object *)self;
  for (special *s = j->first, *next; s; s = next) {
    next = s->next;
    free_special(s);
  }
  Py_CLEAR(j->hidden);
  Py_CLEAR(j->defaults);
  settle(j, false);
  freefunc slot = (freefunc)PyType_GetSlot(type, Py_tp_free);
  slot(self);
  Py_DECREF(type);
}

static PyMethodDef jit_methods[] = {{"_at", jit_at, METH_VARARGS, NULL},
                                    {"_specials", jit_specials, METH_NOARGS, NULL},
                                    {"_compile", jit_compile, METH_O, NULL},
                                    {"_cuda", jit_cuda, METH_O, NULL},
                                    {"_at_once", jit_at_once, METH_VARARGS, NULL},
                                    {"_types", jit_types_of, METH_O, NULL},
                                    {"_launched", jit_launched, METH_NOARGS, NULL},
                                    {NULL, NULL, 0, NULL}};
static PyType_Slot jit_slots[] = {{Py_tp_doc, "A compiled function or kernel."},
                                  {Py_tp_init, jit_init},
                                  {Py_tp_call, jit_call},
                                  {Py_tp_methods, jit_methods},
                                  {Py_tp_traverse, jit_visit},
                                  {Py_tp_clear, jit_clear},
                                  {Py_tp_dealloc, jit_free},
                                  {0, NULL}};
static PyType_Spec jit_spec = {"tutti._core.Jit", sizeof(jit_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, jit_slots};

int core_jit_init(PyObject *module) {
  jit_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &jit_spec, NULL);
  launch_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &launch_spec, NULL);
  if (!jit_type || !launch_type || core_jit_result_init(module) < 0 || core_jit_generator_init(module) < 0) return -1;
  return PyModule_AddObjectRef(module, "Jit", (PyObject *)jit_type);
}
