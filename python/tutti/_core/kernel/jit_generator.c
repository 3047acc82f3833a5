/*
** Generators that calls give back: the call's arguments and memory stay as long as one is there, and each value is
** another call.
*/
#include "jit_int.h"

#include <string.h>

static PyTypeObject *generator_type;

typedef struct generator_object {
  PyObject_HEAD PyObject *self, *args; /* the compiled function; what the call held */
  const tt_jit *jit;
  const int64_t *hidden;
  tt_jit_run *run;
  tt_jit_list *words; /* of the function under way; NULL: it is over */
  const char *kind;   /* the type of its values */
  jit_frame f;
} generator_object;

PyObject *core_jit_generator(PyObject *self, PyObject *args, const tt_jit *jit, const int64_t *hidden, int64_t word,
                             tt_jit_run **run, jit_frame *f) {
  allocfunc slot = (allocfunc)PyType_GetSlot(generator_type, Py_tp_alloc);
  generator_object *g = (generator_object *)slot(generator_type, 0);
  if (!g) return NULL;
  g->self = Py_NewRef(self);
  g->args = Py_NewRef(args);
  g->jit = jit;
  g->hidden = hidden;
  g->run = *run;
  g->words = (tt_jit_list *)(intptr_t)word;
  g->kind = tt_jit_result(jit) + 1;
  g->f = *f;
  *run = NULL;
  f->nheld = 0;
  f->lists = NULL;
  f->made = NULL;
  return (PyObject *)g;
}

static PyObject *generator_next(PyObject *o) {
  generator_object *g = (generator_object *)o;
  PyObject *answer = NULL;
  tt_jit_list *words = g->words;
  bool more = false;
  tt_error err;
  if (!words) return NULL;
  g->words = NULL; /* over, unless it comes back; and nobody enters it meanwhile */
  core_block_begin();
  tt_code c = tt_jit_next(g->jit, words, g->hidden, &g->run, &more, &err);
  core_block_end();
  bool shown = core_jit_show(g->run);
  if (c != TT_OK) {
    core_jit_raise(g->self, c, &err);
    return NULL;
  }
  uint64_t writes = tt_jit_writes(g->jit);
  if (!shown || !core_jit_write_back(&g->f) || (g->f.lists && !core_jit_lists_back(&g->f, writes, g->run, g->self)) ||
      !more)
    return NULL;
  answer = core_jit_result(g->kind, words->word + 2, g->run, &g->f, g->self);
  g->words = words;
  return answer;
}

static void generator_free(PyObject *o) {
  generator_object *g = (generator_object *)o;
  PyTypeObject *type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  if (g->run) tt_jit_run_release(&g->run);
  core_jit_let_go(&g->f);
  Py_XDECREF(g->args);
  Py_XDECREF(g->self);
  freefunc slot = (freefunc)PyType_GetSlot(type, Py_tp_free);
  slot(o);
  Py_DECREF(type);
}

static int generator_visit(PyObject *o, visitproc visit, void *arg) {
  generator_object *g = (generator_object *)o;
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(g->self);
  Py_VISIT(g->args);
  return 0;
}

static PyType_Slot generator_slots[] = {{Py_tp_dealloc, generator_free},
                                        {Py_tp_traverse, generator_visit},
                                        {Py_tp_iter, PyObject_SelfIter},
                                        {Py_tp_iternext, generator_next},
                                        {Py_tp_doc, "What a compiled function yields, one value after the other."},
                                        {0, NULL}};
static PyType_Spec generator_spec = {"tutti._core.JitGenerator", sizeof(generator_object), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     generator_slots};

int core_jit_generator_init(PyObject *module) {
  generator_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &generator_spec, NULL);
  return generator_type ? PyModule_AddObjectRef(module, "JitGenerator", (PyObject *)generator_type) : -1;
}
