/*
** The module `tutti._core`: its parts in the order they need each other, and the hooks
** through which they call the package.
*/
#include "core.h"

static PyObject *hooks[CORE_HOOK_COUNT];
static const char *const hook_names[] = {
#define HOOK_NAME(name) #name,
    CORE_HOOKS(HOOK_NAME)
#undef HOOK_NAME
};

PyObject *core_hook_get(core_hook hook) {
  if (!hooks[hook]) PyErr_Format(PyExc_RuntimeError, "tutti._core: the package set no '%s'", hook_names[hook]);
  return hooks[hook];
}

/* set_hooks(repr=f, ...): once, while the package is imported. */
static PyObject *py_set_hooks(PyObject *self, PyObject *args, PyObject *kw) {
  (void)self, (void)args;
  for (int k = 0; kw && k < CORE_HOOK_COUNT; k++) {
    PyObject *f = PyDict_GetItemString(kw, hook_names[k]);
    if (!f) continue;
    PyObject *old = hooks[k];
    hooks[k] = Py_NewRef(f);
    Py_XDECREF(old);
  }
  Py_RETURN_NONE;
}

#define FAST METH_FASTCALL | METH_KEYWORDS
static PyMethodDef functions[] = {
    {"array", CORE_FAST(core_py_array), FAST,
     "array(object, dtype=None, *, copy=True, order='K', subok=False, ndmin=0, like=None, device=None)\n--\n\n"
     "An array of its own from any array-like."},
    {"asanyarray", CORE_FAST(core_py_asanyarray), FAST,
     "asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None)\n--\n\n"
     "An array-like as an array; arrays of subclasses stay what they are."},
    {"asarray", CORE_FAST(core_py_asarray), FAST,
     "asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None)\n--\n\n"
     "An array-like as an array. Read-only memory is shared, other memory copied; copy=False shares or fails."},
    {"ascontiguousarray", CORE_FAST(core_py_ascontiguousarray), FAST,
     "ascontiguousarray(a, dtype=None, *, device=None, like=None)\n--\n\n"
     "An array-like as an array in C order, of at least one axis. A copy where it lies otherwise."},
    {"asfortranarray", CORE_FAST(core_py_asfortranarray), FAST,
     "asfortranarray(a, dtype=None, *, device=None, like=None)\n--\n\n"
     "An array-like as an array in Fortran's order, of at least one axis. A copy where it lies otherwise."},
    {"can_cast", CORE_FAST(core_py_can_cast), FAST,
     "can_cast(from_, to, casting='safe')\n--\n\n"
     "May a type, or an array's, be cast to another under NumPy's rule 'no', 'equiv', 'safe', 'same_kind' or "
     "'unsafe'?"},
    {"frombuffer", CORE_FAST(core_py_frombuffer), FAST,
     "frombuffer(buffer, dtype='float64', count=-1, offset=0)\n--\n\nThe memory of a buffer as an array of one axis, "
     "without a copy."},
    {"from_dlpack", CORE_FAST(core_py_from_dlpack), FAST,
     "from_dlpack(x, /, *, device=None, copy=None)\n--\n\nAn array of another library through DLPack, without a copy."},
    {"set_hooks", (PyCFunction)(void (*)(void))py_set_hooks, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_rebuild", core_py_rebuild, METH_VARARGS, NULL},
    {"_become", core_py_become, METH_VARARGS, NULL},
    {"_rebuild_as", core_py_rebuild_as, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "tutti._core", "tutti's library as Python objects.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void) {
  core_document_all(NULL, functions);
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  bool ok = core_error_init() == 0 && core_dtype_init(module) == 0 && core_call_init(module) == 0 &&
            core_array_init(module) == 0 && core_iterator_init(module) == 0 && core_pinned_init(module) == 0 &&
            core_parallel_init(module) == 0 && core_apply_init(module) == 0 && core_jit_init(module) == 0 &&
            core_safetensors_init(module) == 0 && core_network_init(module) == 0 && core_mode_init(module) == 0 &&
            PyModule_AddFunctions(module, core_document_all(NULL, core_insight_functions)) == 0 &&
            PyModule_AddFunctions(module, core_text_functions) == 0 &&
            PyModule_AddFunctions(module, core_kernel_functions) == 0 &&
            PyModule_AddFunctions(module, core_raw_functions) == 0 &&
            PyModule_AddFunctions(module, core_opencl_functions) == 0 &&
            PyModule_AddFunctions(module, core_expression_functions) == 0 &&
            PyModule_AddFunctions(module, core_segment_functions) == 0 &&
            PyModule_AddFunctions(module, core_document_all(NULL, core_line_functions)) == 0 &&
            PyModule_AddFunctions(module, core_monitor_functions) == 0 &&
            PyModule_AddFunctions(module, core_grad_functions) == 0 &&
            PyModule_AddFunctions(module, core_tensor_functions) == 0 &&
            PyModule_AddFunctions(module, core_device_functions) == 0;
  if (!ok) Py_CLEAR(module);
  return module;
}
