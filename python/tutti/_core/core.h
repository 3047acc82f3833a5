/*
** The nouns of the Python extension, shared by its files: the array, dtype and argument
** objects, and what each file offers to the others.
**
** The extension translates: Python objects become tt_values, tt_arrays become objects,
** codes become exceptions. It computes nothing and knows no shape rule; only the public
** headers of tutti are included here. Names shared between files start with core_.
*/
#ifndef TUTTI_PY_CORE_H
#define TUTTI_PY_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <string.h>

#include "tutti/tutti.h"

/* ---- objects */

/*
** `tutti.ndarray`: one hold on an array, or a number: an element that was taken, and what becomes of elements in
** arithmetic. Numbers never change and can be hashed. Most are told by their bits alone; the array, which is read-only,
** is made when something asks for it (core_need).
*/
typedef struct core_array {
  PyObject_HEAD tt_array *array; /* NULL: a number whose array nobody has asked for */
  PyObject *base;                /* the ndarray that this one is a view of, or NULL */
  PyObject *weak;                /* weak references */
  PyObject *exports;             /* list of capsules that keep memory shown by __array_interface__, or NULL */
  bool is_number;
  tt_number number; /* TT_DTYPE_NONE: only the array knows */
} core_array;

/* The type objects; made once when the module starts, never changed after. */
extern PyTypeObject *core_array_type, *core_dtype_type;

/* Has somebody made a subclass, and one that results are of, too? Until then nothing pays for them. */
extern bool core_derived, core_subclassed;
static inline bool core_is_array(PyObject *o) {
  return Py_TYPE(o) == core_array_type || (core_derived && PyType_IsSubtype(Py_TYPE(o), core_array_type));
}
bool core_make_array(PyObject *o);
/* What an object has of an array: NULL for a number whose array nobody has asked for. */
static inline tt_array *core_made(PyObject *o) { return ((core_array *)o)->array; }
/* See that an array object has its array; false with MemoryError. */
static inline bool core_need(PyObject *o) { return core_made(o) || core_make_array(o); }
/* The array. NULL with MemoryError for a number, but not where core_need has been asked. */
static inline tt_array *core_handle(PyObject *o) { return core_need(o) ? core_made(o) : NULL; }
static inline bool core_is_number(PyObject *o) { return core_is_array(o) && ((core_array *)o)->is_number; }
/* The number, if its bits are known, or NULL. */
static inline const tt_number *core_known(PyObject *o) {
  const core_array *a = (core_array *)o;
  return core_is_array(o) && a->is_number && a->number.dtype != TT_DTYPE_NONE ? &a->number : NULL;
}
/* What a number is for Python. Most are read as they lie: the library's answer is a larger struct, copied twice. */
static inline void core_read_number(const tt_number *x, tt_value *out) {
  if (x->dtype == TT_F64) {
    out->tag = TT_V_FLOAT;
    memcpy(&out->as.f, x->bits, sizeof out->as.f);
  } else if (x->dtype == TT_I64) {
    out->tag = TT_V_INT;
    memcpy(&out->as.i, x->bits, sizeof out->as.i);
  } else {
    *out = tt_number_value(x);
  }
}
/* The type of the elements, of which no array need be made. */
static inline tt_dtype core_dtype_of(PyObject *o) {
  const tt_number *x = core_known(o);
  return x ? x->dtype : tt_array_dtype(core_handle(o));
}

int core_array_init(PyObject *module);
/* Take the hold `a` (NULL: an error is set, hand NULL on) into a new object; `base`: the object it views, or NULL. */
PyObject *core_wrap(tt_array *a, PyObject *base); /* gives the warnings that wait, too */
/* A number by itself, to be filled in; and what is done with one that could not be. */
core_array *core_number_new(void);
void core_number_drop(core_array *number);
/* A new object of rank 0 is a number from now on. NULL is handed on. */
PyObject *core_as_number(PyObject *made);
/* The value of a number, computed if need be; false with an exception. */
bool core_number_value(PyObject *o, tt_value *out);
/* Take the hold `a`, which may be a view of `self`, into a new object. Views of numbers are copies: numbers stay. */
PyObject *core_wrap_view(tt_array *a, PyObject *self);
/* ---- subclasses (subclass.c) */
/* Tensors (tensor.c): objects of the one class whose operands meet by PyTorch's rules, and whose results are of it. */
extern PyTypeObject *core_tensor_class; /* NULL: there is none */
static inline bool core_is_tensor(PyObject *o) {
  return core_tensor_class && o && (Py_TYPE(o) == core_tensor_class || PyType_IsSubtype(Py_TYPE(o), core_tensor_class));
}
/* Is one among objects, or first in a list or tuple of them? */
bool core_tensor_among(PyObject *const *arg, Py_ssize_t n);
/* A new array, to which nobody else refers, becomes a tensor; NULL and other things are handed on. */
PyObject *core_as_tensor(PyObject *made);
/* The same where `from` is one. */
PyObject *core_tensor_like(PyObject *made, PyObject *from);
/* Makes the class; false with an exception. */
bool core_tensor_begin(void);
/* Arrays among operands become arrays of the type in which all meet; hold[k] keeps them. False with an exception. */
bool core_promote_tensors(tt_op op, tt_value *v, int n, tt_array **hold);
/* May the result of an op be written into `out`? */
bool core_tensor_fits(tt_op op, const tt_value *v, int n, PyObject *out);
extern PyMethodDef core_tensor_functions[];
/* The same array as an object of a class, made from `from` (None: from nothing), which is told so. */
PyObject *core_as_type(PyObject *array, PyTypeObject *type, PyObject *from);
/* Is it of a class of its own, which results take? */
bool core_is_subclassed(PyObject *o);
/* What was made of `from`, in its class. Takes the reference; NULL and objects that have a class stay. */
PyObject *core_like(PyObject *made, PyObject *from);
/* What a ufunc made of operands, in the class of the one with the highest priority, by its __array_wrap__. */
PyObject *core_like_operands(PyObject *made, PyObject *const *arg, Py_ssize_t n);
/* An operand with an __array_ufunc__ of its own is asked; false: there is none. */
bool core_overridden(tt_op op, PyObject *const *arg, Py_ssize_t n, PyObject *names, PyObject **result);
/* _become(array, other): what other is from now on; nobody else sees it change. */
PyObject *core_py_become(PyObject *self, PyObject *args);
extern PyMethodDef core_subclass_methods[];
PyObject *core_py_rebuild_as(PyObject *self, PyObject *args);
/* As core_wrap, after a call that returned `code`. */
PyObject *core_done(tt_code code, tt_array *a, PyObject *base, const tt_error *err);

/* ---- hooks: Python functions of the package that the extension calls (module.c) */
#define CORE_HOOKS(X) \
  X(repr)             \
  X(str)              \
  X(format)           \
  X(flags)            \
  X(flat)             \
  X(tofile)           \
  X(method)           \
  X(device)           \
  X(device_numbered)  \
  X(error_class)      \
  X(warn)             \
  X(array_ufunc)      \
  X(array_function)   \
  X(rules)            \
  X(their_operator)   \
  X(arrow)            \
  X(jax_array)        \
  X(number_class)     \
  X(namespace)        \
  X(numpy)            \
  X(numpy_dtype)      \
  X(ufunc_signature)  \
  X(module_hooks)     \
  X(module_call)
typedef enum core_hook {
#define CORE_HOOK_ENUM(name) CORE_HOOK_##name,
  CORE_HOOKS(CORE_HOOK_ENUM)
#undef CORE_HOOK_ENUM
      CORE_HOOK_COUNT
} core_hook;
/* Borrowed; NULL with an exception set when the package did not register it. */
PyObject *core_hook_get(core_hook hook);

/* ---- gradients (grad.c) */
PyObject *core_get_requires_grad(PyObject *self, void *unused);
int core_set_requires_grad(PyObject *self, PyObject *value, void *unused);
PyObject *core_get_is_leaf(PyObject *self, void *unused);
PyObject *core_get_grad(PyObject *self, void *unused);
int core_set_grad(PyObject *self, PyObject *value, void *unused);
extern PyMethodDef core_grad_functions[];
int core_mode_init(PyObject *module);
/* Gradients would end in a compiled function without a word: an error if one is wanted of an argument. */
bool core_refuses_gradients(PyObject *args);

/* ---- modules of networks (network.c) */
int core_network_init(PyObject *module);

/* ---- devices (device.c) */
/* A device's number from a Device or a name; None and NULL are TT_AUTO. False with an exception. */
bool core_device_from(PyObject *o, int *out);
PyObject *core_device_object(int number);
/* Is an array where somebody wants it (TT_AUTO: anywhere)? */
bool core_lies_on(tt_array *a, int device);
/* CUDA's number of a device, -1 for others; and the way back, false with BufferError. */
int core_cuda_index(int device);
bool core_cuda_device(long index, int *out);
/* Is the CPU all that tutti may choose by itself? Arrays without a device are there then. */
bool core_only_cpu(void);
/* A copy of memory that is not ours, which is let go; NULL in is NULL out. */
tt_array *core_own(tt_array *a);
int core_pinned_init(PyObject *module);   /* pinned.c */
int core_parallel_init(PyObject *module); /* shared.c */
/* An array that was made (the reference is taken; NULL and other things are handed on), put on a device (TT_AUTO: as it
 * is). */
PyObject *core_put(PyObject *made, int device);

/* ---- errors (error.c) */
int core_error_init(void);
/* Raise the exception of a code; returns NULL. */
PyObject *core_raise(tt_code code, const tt_error *err);
/* Give the warnings that calls of this thread left; false with an exception, where a filter makes one of a warning. */
bool core_warn_all(void);
/* That an imaginary part is dropped; false as above. */
bool core_warn_discarded(void);
/* That where= without out= leaves elements unwritten. */
bool core_warn_unwritten(void);
static inline bool core_warnings(void) { return !tt_warning_waits() || core_warn_all(); }
/* The result of a call that may have left warnings; dropped where one of them is an exception. NULL stays NULL. */
static inline PyObject *core_warned(PyObject *result) {
  if (result && !core_warnings()) Py_CLEAR(result);
  return result;
}
/* What kernels have printed goes to sys.stdout; false with an exception. */
bool core_show_printed(void);
/* Memory of the caller was copied for a kernel on a device: a warning, once. */
bool core_warn_copied(void);
/*
** Argument number `number` (from 1) of a kernel; a buffer that it needs is in *v, and *viewed says so, also on failure.
** False with an exception.
*/
bool core_argument(PyObject *o, int number, tt_argument *a, Py_buffer *v, bool *viewed);
/* A program and a kernel of kernel.c's capsules, NULL with an exception; a capsule that takes a program over. */
tt_program *core_program(PyObject *capsule);
tt_entry *core_routine(PyObject *capsule);
PyObject *core_program_object(tt_program *p);
/* Of these, memory behind the buffer protocol; and a scalar of NumPy's. */
bool core_memory_argument(PyObject *o, int number, tt_argument *a, Py_buffer *v, bool *viewed);
bool core_scalar_argument(PyObject *o, int number, tt_argument *a);
/* A tuple of at most `room` texts, borrowed: how many, or -1 with an exception. */
int core_texts(PyObject *o, const char *what, const char **out, int room);
/* A stream of tutti.cuda, or something that means none, into stream and device. */
bool core_read_stream(PyObject *o, tt_launch_options *how);
/* Compiled kernels were called: a thread may be inside one when Ctrl-C comes. */
extern bool core_has_kernels;
/* Seconds that only grow. */
double core_clock(void);
/* Give up the interpreter lock while this thread waits or copies; nests. */
void core_block_begin(void);
void core_block_end(void);
/*
** Things to give back that need the interpreter lock, when the one who lets go may not have it: queued without a
** lock, run by the next call that passes core_drain or by the interpreter itself.
*/
typedef struct core_later {
  struct core_later *next;
  void (*run)(struct core_later *self); /* frees self; called with the interpreter lock */
} core_later;
/* The interpreter lock while Python code runs inside a call of the library that had given it up (error.c). */
typedef struct core_blocked {
  PyThreadState *state;
  int depth;
} core_blocked;
void core_unblock(core_blocked *before);
void core_reblock(const core_blocked *before);
void core_later_push(void *later); /* a core_later; fits tt_adopt's drop */
extern core_later *core_later_head;
void core_later_run(void);
static inline void core_drain(void) {
  if (__atomic_load_n(&core_later_head, __ATOMIC_RELAXED)) core_later_run();
}

/* ---- dtypes (dtype.c) */
int core_dtype_init(PyObject *module);
PyObject *core_dtype_object(tt_dtype dtype);     /* new reference */
PyObject *core_dtype_of_tensors(tt_dtype dtype); /* the same as tensors give it; new reference */
PyObject *core_py_tensor_dtypes(PyObject *self, PyObject *type);
const char *core_dtype_name(tt_dtype dtype);
const char *core_dtype_typestr(tt_dtype dtype);
const char *core_dtype_format(tt_dtype dtype);
char core_dtype_kind(tt_dtype dtype);
char core_dtype_char(tt_dtype dtype); /* NumPy's one letter */
int64_t core_dtype_bytes(tt_dtype dtype);
/* Any spelling of a dtype: ours, names, Python types, NumPy's. False with a TypeError when it is none. */
bool core_dtype_from(PyObject *o, tt_dtype *out);
/* *ok: does the rule that casting= names allow it? */
bool core_can_cast(tt_dtype from, tt_dtype to, PyObject *casting, bool *ok);
PyObject *core_py_can_cast(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
/* As core_dtype_from, None (or NULL) becoming TT_DTYPE_NONE. */
bool core_dtype_optional(PyObject *o, tt_dtype *out);
/* A NumPy type string ("<f4", ">f4" with *swap), or a buffer format. TT_DTYPE_NONE when unknown. */
tt_dtype core_dtype_from_typestr(const char *s, bool *swap);
tt_dtype core_dtype_from_format(const char *format, int64_t itemsize, bool *swap);

/* ---- arguments (value.c) */

/*
** What the values of one call point at: items of tuples, arrays converted on the way. Freed by core_scratch_free
** after the call. Everything small lies inside.
*/
typedef struct core_block core_block;
typedef struct core_scratch {
  int used, nhold;
  core_block *block; /* larger pieces */
  tt_array *hold[8];
  tt_value item[24];
} core_scratch;
static inline void core_scratch_init(core_scratch *s) { s->used = 0, s->nhold = 0, s->block = NULL; }
void core_scratch_free(core_scratch *s);
/* Room for n values, or NULL with MemoryError. */
tt_value *core_scratch_values(core_scratch *s, int64_t n);
/* Let the scratch own a hold. False (the hold is dropped) with MemoryError. */
bool core_scratch_own(core_scratch *s, tt_array *a);

/* An array, a float or an int that fits, the values most met; false for any other (no exception). */
static inline bool core_value_common(PyObject *o, tt_value *v) {
  if (core_is_array(o)) return v->tag = TT_V_ARRAY, (v->as.array = core_made(o)) != NULL;
  if (Py_TYPE(o) == &PyFloat_Type) return v->tag = TT_V_FLOAT, v->as.f = PyFloat_AsDouble(o), true;
  if (Py_TYPE(o) != &PyLong_Type) return false;
  int overflow;
  v->tag = TT_V_INT;
  v->as.i = PyLong_AsLongAndOverflow(o, &overflow);
  return !overflow;
}
/*
** A scalar of NumPy's of the type `dtype`, as the number that Python would have; false for any other (no exception).
** Beside an array of that type it gives what the scalar gives: both leave the type alone (numpy.c).
*/
bool core_value_beside(PyObject *o, tt_dtype dtype, tt_value *out);
/* A scalar of NumPy's; false for any other (no exception). */
bool core_value_numpy(PyObject *o, tt_number *out);
/* One index: an int, a number of an integer type, or such a scalar of NumPy's; false for any other (no exception). */
bool core_index(PyObject *o, int64_t *out);
/*
** An operator between an array of ours and an object of another library: who decides? OURS: it is converted. THEIRS:
** its library, which gets NumPy's array in place of ours. DEFER: its class, by Python's own rules (numpy.c).
*/
typedef enum core_rules { CORE_OURS, CORE_THEIRS, CORE_DEFER } core_rules;
core_rules core_rules_of(PyObject *o);
/* A Python scalar or None, exactly; false when `o` is something else (no exception). Huge ints: see core_value_int. */
bool core_value_scalar(PyObject *o, tt_value *out);

/* Operands that are numbers by themselves; `room` for what is a scalar of NumPy's. */
static inline bool core_number_operand(PyObject *o, tt_value *v, tt_number *room) {
  const tt_number *x = core_known(o);
  if (core_is_array(o) && !x) return false;
  if (!x && core_value_common(o, v)) return true;
  if (!x && (o == Py_True || o == Py_False || Py_TYPE(o) == &PyComplex_Type)) return core_value_scalar(o, v);
  if (!x && !core_value_numpy(o, room)) return false;
  v->tag = TT_V_NUMBER;
  v->as.number = x ? x : room;
  return true;
}

/* An int; false with OverflowError beyond uint64. */
bool core_value_int(PyObject *o, tt_value *out);
/* An element that goes into signed integers must be one, as int() has it; false with int()'s own exception. */
bool core_value_fits(tt_value v, tt_dtype own);
/* An array-like: arrays, scalars stay scalars, the rest is converted. False with an exception. */
bool core_value_array(core_scratch *s, PyObject *o, tt_value *out);
/* A sequence of array-likes as a tuple value. */
bool core_value_arrays(core_scratch *s, PyObject *o, tt_value *out);
/* Anything as it is: scalars, strings, dtypes, slices, tuples and lists (deep), arrays. */
bool core_value_any(core_scratch *s, PyObject *o, tt_value *out);
/* The truth of any object. */
bool core_value_truth(PyObject *o, tt_value *out);
/* Which elements take part (where=): an array, whose type is looked at later, or the truth of whatever it is. */
bool core_value_mask(core_scratch *s, PyObject *o, tt_value *out);
/* What stands between [ and ]. */
bool core_value_index(core_scratch *s, PyObject *o, tt_value *out);
/* A shape: an int or a sequence of ints. False with an exception; at most TT_MAX_RANK axes. */
bool core_shape(PyObject *o, int64_t *len, int *rank);
bool core_shape_args(PyObject *const *arg, Py_ssize_t n, int64_t *len, int *rank);
/* A tt_value scalar as a Python object. */
PyObject *core_value_object(const tt_value *v);

/* ---- making arrays from objects (convert.c, sequence.c) */
typedef enum core_copy { CORE_COPY_NEEDED, CORE_COPY_ALWAYS, CORE_COPY_NEVER } core_copy;
/*
** Any array-like as an array of `dtype` (TT_DTYPE_NONE: its own). A new hold, or NULL with an exception.
** NEEDED shares read-only memory and tutti's own arrays, and copies the rest; NEVER shares or raises ValueError.
*/
tt_array *core_asarray(PyObject *o, tt_dtype dtype, core_copy copy);
/* Is this what like= may be (NULL: not given)? */
bool core_check_like(PyObject *like);
/* NumPy's rule for `copy`: no text, which would be true whatever it says. NULL is allowed. */
bool core_check_copy(PyObject *copy);
/* Memory behind a buffer, an interface or a capsule, or NULL; *known tells whether `o` has one of these at all. */
tt_array *core_from_memory(PyObject *o, core_copy copy, bool *known);
/* A list of arrays that are alike and lie in memory: true, and the array of them or NULL with an exception (rows.c). */
bool core_from_rows(PyObject *list, tt_dtype dtype, tt_array **out);
/* Nested sequences of scalars and arrays. */
tt_array *core_from_sequence(PyObject *o, tt_dtype dtype);
/* A scalar as a rank-0 array. */
tt_array *core_from_value(const tt_value *v, tt_dtype dtype);
bool core_is_scalar(PyObject *o); /* exactly bool, int, float or complex */
void core_raise_copy_needed(void);

/* NumPy's word for an order of memory, 'C', 'F', 'A' or 'K', in *out, which stays without one. */
bool core_order(PyObject *order, char *out);
/* An int, or one to three of them, 0 to `most`, into the first of `out`: how many, or -1 with an exception. */
int core_axes(PyObject *o, const char *what, uint64_t most, uint64_t out[3]);
/* A copy whose elements lie in that order; 'K' is C's here. */
PyObject *core_copy_in(tt_array *a, char order);
/* `made`, or where it lies in another order such a copy in its stead. Takes the reference; NULL stays NULL. */
PyObject *core_in_order(PyObject *made, char order);

PyObject *core_py_array(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
PyObject *core_py_asarray(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
PyObject *core_py_asanyarray(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
PyObject *core_py_ascontiguousarray(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
PyObject *core_py_asfortranarray(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
PyObject *core_py_frombuffer(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);

/* ---- keyword arguments of hand-written functions (args.c) */

/*
** Bind a fast call to named parameters: out[k] borrowed or NULL. `names` is "a,b,*,c": "*" starts keyword-only ones;
** the first `required` must be given. False with NumPy's TypeError.
*/
bool core_bind(const char *function, const char *names, int required, PyObject *const *arg, Py_ssize_t n, PyObject *kw,
               PyObject **out);

/* ---- slots and methods, by file */
#define CORE_MAX_SLOTS 96
int core_number_slots(PyType_Slot *slot); /* number.c: fill, return how many */
int core_index_slots(PyType_Slot *slot);  /* index.c */
int core_iterator_init(PyObject *module);
int core_export_slots(PyType_Slot *slot); /* export.c */
PyObject *core_richcompare(PyObject *l, PyObject *r, int op);
PyMethodDef *core_methods(void);      /* method.c */
extern PyGetSetDef core_attributes[]; /* attribute.c */

/* exported and pickled (export.c) */
PyObject *core_tolist(PyObject *self);
PyObject *core_item(tt_array *a);
PyObject *core_meth_tolist(PyObject *self, PyObject *unused);
PyObject *core_meth_tobytes(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
PyObject *core_meth_item(PyObject *self, PyObject *const *arg, Py_ssize_t n);
PyObject *core_meth_reduce(PyObject *self, PyObject *unused);
PyObject *core_meth_reduce_ex(PyObject *self, PyObject *protocol);
PyObject *core_attr_interface(PyObject *self, void *unused);
void core_forget_refusal(PyObject *of); /* the array goes */
PyObject *core_attr_cuda_interface(PyObject *self, void *unused);
PyObject *core_py_rebuild(PyObject *self, PyObject *args);

/* DLPack (dlpack.c) */
PyObject *core_meth_arrow(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names); /* arrow.c */
PyObject *core_meth_dlpack(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
PyObject *core_meth_dlpack_device(PyObject *self, PyObject *unused);
PyObject *core_py_from_dlpack(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
tt_array *core_from_dlpack(PyObject *o, core_copy copy);

/* elementwise functions (apply.c), table functions (call.c), insight (insight.c): added to the module by name */
int core_apply_init(PyObject *module);
int core_ufunc_init(PyObject *module, PyObject *ops); /* ufunc.c */
/* NumPy's name of an op. */
const char *core_op_name(tt_op op);
PyObject *core_apply(tt_op op, PyObject *const *arg, Py_ssize_t n, PyObject *names);
/* One elementwise op over objects; Py_NotImplemented where an operand is no array-like. */
PyObject *core_operator(tt_op op, PyObject *const *arg, int n, PyObject *out);
/* __array_ufunc__ (numpy.c) */
PyObject *core_meth_backward(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
PyObject *core_meth_ufunc(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
int core_call_init(PyObject *module);
/* The row by name, a literal, or -1. */
int core_row(const char *name);
/* The row that a function object is of, or -1. */
int core_row_of(PyObject *function);
/* Call a row; `self` (or NULL) is the first positional argument. */
/* The documentation of "part.name" (part: NULL for functions of the package), with inspect's signature before it; NULL
 * without one. core_document_body: without the signature. core_document_all: into a table of functions. */
const char *core_document(const char *part, const char *name);
const char *core_document_body(const char *part, const char *name);
PyMethodDef *core_document_all(const char *part, PyMethodDef *table);
/* That of a class, as a slot of its type. */
PyType_Slot core_document_slot(const char *name);
PyObject *core_call(int row, PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names);
int core_jit_init(PyObject *module); /* jit.c: compiled functions */
int core_safetensors_init(PyObject *module);
extern PyMethodDef core_insight_functions[];
extern PyMethodDef core_parallel_functions[];
extern PyMethodDef core_worker_functions[];
extern PyMethodDef core_kernel_functions[];                           /* kernel.c */
extern PyMethodDef core_raw_functions[];                              /* raw.c */
extern PyMethodDef core_opencl_functions[];                           /* opencl.c */
extern PyMethodDef core_expression_functions[];                       /* expression.c */
extern PyMethodDef core_segment_functions[];                          /* segment.c */
extern PyMethodDef core_text_functions[], core_line_functions[];      /* text.c, line.c */
extern PyMethodDef core_monitor_functions[], core_device_functions[]; /* monitor.c, device.c */

/* The caller's line, when somebody wants it (line.c). */
extern bool core_line_wanted;
void core_line_record(void);
static inline void core_line(void) {
  if (core_line_wanted) core_line_record();
}

/* METH_FASTCALL functions in a table of PyCFunctions. */
#define CORE_FAST(f) ((PyCFunction)(void (*)(void))(f))

#endif
