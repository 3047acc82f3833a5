/*
** DLPack in both directions, versioned and not. The structures are the protocol's; only
** host memory is spoken of here.
**
** Exported memory never changes (tt_peek), so zero-copy exports are read-only; consumers
** of the old capsule cannot be told so and get a private copy.
*/
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct dl_tensor {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *ctx;
  void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_versioned {
  struct {
    uint32_t major, minor;
  } version;
  void *ctx;
  void (*deleter)(struct dl_versioned *self);
  uint64_t flags;
  dl_tensor tensor;
} dl_versioned;

enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };
#define DL_READ_ONLY 1u
#define DL_IS_COPIED 2u

/* ---- out */

typedef struct exported {
  union {
    dl_managed old;
    dl_versioned new;
  } as;
  void *hold;
  int64_t shape[TT_MAX_RANK], strides[TT_MAX_RANK];
} exported;

static void delete_exported(exported *x) {
  tt_unpeek(x->hold);
  free(x);
}
static void delete_old(dl_managed *m) { delete_exported(m->ctx); }
static void delete_new(dl_versioned *m) { delete_exported(m->ctx); }

static void capsule_old(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) return; /* consumed: the consumer deletes */
  dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
  if (m && m->deleter) m->deleter(m);
}
static void capsule_new(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return;
  dl_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
  if (m && m->deleter) m->deleter(m);
}

static void describe(tt_array *a, const void *data, exported *x, dl_tensor *t) {
  tt_dtype dtype = tt_array_dtype(a);
  char kind = core_dtype_kind(dtype);
  t->data = (void *)(uintptr_t)data;
  t->device.type = DL_CPU;
  t->device.id = 0;
  t->ndim = tt_array_rank(a);
  t->dtype.code = (uint8_t)(dtype == TT_BF16 ? DL_BFLOAT
                            : kind == 'i'    ? DL_INT
                            : kind == 'u'    ? DL_UINT
                            : kind == 'f'    ? DL_FLOAT
                            : kind == 'c'    ? DL_COMPLEX
                                             : DL_BOOL);
  t->dtype.bits = (uint8_t)(core_dtype_bytes(dtype) * 8);
  t->dtype.lanes = 1;
  t->byte_offset = 0;
  for (int k = 0; k < t->ndim; k++) {
    x->shape[k] = tt_array_len(a)[k];
    x->strides[k] = tt_array_step(a)[k];
  }
  t->shape = x->shape;
  t->strides = x->strides;
}

static PyObject *export(tt_array *a, bool versioned, bool copied) {
  exported *x = calloc(1, sizeof *x);
  if (!x) return PyErr_NoMemory();
  const void *data;
  tt_error err;
  tt_code c = tt_peek(a, &data, &x->hold, &err);
  if (c != TT_OK) {
    free(x);
    return core_raise(c, &err);
  }
  PyObject *capsule;
  if (versioned) {
    x->as.new.version.major = 1;
    x->as.new.ctx = x;
    x->as.new.deleter = delete_new;
    x->as.new.flags = copied ? DL_IS_COPIED : DL_READ_ONLY;
    describe(a, data, x, &x->as.new.tensor);
    capsule = PyCapsule_New(&x->as.new, "dltensor_versioned", capsule_new);
  } else {
    x->as.old.ctx = x;
    x->as.old.deleter = delete_old;
    describe(a, data, x, &x->as.old.tensor);
    capsule = PyCapsule_New(&x->as.old, "dltensor", capsule_old);
  }
  if (!capsule) delete_exported(x);
  return capsule;
}

static bool check_device(PyObject *device) {
  if (!device || device == Py_None) return true;
  long type = -1, id = -1;
  if (PyTuple_Check(device) && PyTuple_Size(device) == 2) {
    type = PyLong_AsLong(PyTuple_GetItem(device, 0));
    id = PyLong_AsLong(PyTuple_GetItem(device, 1));
  }
  if (PyErr_Occurred()) return false;
  if (type == DL_CPU && id == 0) return true;
  PyErr_SetString(PyExc_BufferError, "unsupported device requested: only the CPU, (1, 0), holds arrays in this build");
  return false;
}

PyObject *core_meth_dlpack(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *a[4];
  if (!core_bind("__dlpack__", "*,stream,max_version,dl_device,copy", 0, arg, n, names, a)) return NULL;
  if (a[0] && a[0] != Py_None) {
    PyErr_SetString(PyExc_RuntimeError, "tutti only supports stream=None");
    return NULL;
  }
  bool versioned = false;
  if (a[1] && a[1] != Py_None) {
    PyObject *major = PySequence_GetItem(a[1], 0);
    long m = major ? PyLong_AsLong(major) : -1;
    Py_XDECREF(major);
    if (PyErr_Occurred()) return NULL;
    versioned = m >= 1;
  }
  if (!check_device(a[2])) return NULL;
  int copy = a[3] && a[3] != Py_None ? PyObject_IsTrue(a[3]) : -1;
  if (!versioned && copy == 0) {
    PyErr_SetString(
        PyExc_BufferError,
        "Cannot export readonly array since signalling readonly is unsupported by DLPack (supported by newer "
        "DLPack version).");
    return NULL;
  }
  if (copy == 1 || !versioned) {
    tt_array *mine = NULL;
    tt_error err;
    tt_code c = tt_copy(core_handle(self), &mine, &err);
    if (c != TT_OK) return core_raise(c, &err);
    PyObject *capsule = export(mine, versioned, true);
    tt_release(&mine);
    return capsule;
  }
  return export(core_handle(self), true, false);
}

PyObject *core_meth_dlpack_device(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  return Py_BuildValue("(ii)", DL_CPU, 0);
}

/* ---- in */

typedef struct imported {
  core_later later;
  void *managed;
  bool versioned;
} imported;

/* The producer's deleter may want the interpreter lock: it runs where that is held. */
static void drop_imported(core_later *self) {
  imported *x = (imported *)self;
  if (x->versioned) {
    dl_versioned *m = x->managed;
    if (m->deleter) m->deleter(m);
  } else {
    dl_managed *m = x->managed;
    if (m->deleter) m->deleter(m);
  }
  free(x);
}

static tt_dtype dtype_of(const dl_tensor *t) {
  static const struct {
    uint8_t code, bits;
    tt_dtype dtype;
  } table[] = {
      {DL_BOOL, 8, TT_BOOL},  {DL_INT, 8, TT_I8},       {DL_INT, 16, TT_I16},       {DL_INT, 32, TT_I32},
      {DL_INT, 64, TT_I64},   {DL_UINT, 8, TT_U8},      {DL_UINT, 16, TT_U16},      {DL_UINT, 32, TT_U32},
      {DL_UINT, 64, TT_U64},  {DL_FLOAT, 16, TT_F16},   {DL_BFLOAT, 16, TT_BF16},   {DL_FLOAT, 32, TT_F32},
      {DL_FLOAT, 64, TT_F64}, {DL_COMPLEX, 64, TT_C64}, {DL_COMPLEX, 128, TT_C128},
  };
  for (size_t k = 0; t->dtype.lanes == 1 && k < sizeof table / sizeof *table; k++) {
    if (table[k].code == t->dtype.code && table[k].bits == t->dtype.bits) return table[k].dtype;
  }
  return TT_DTYPE_NONE;
}

/* Strides in bytes into `stride`; false with an exception for what an array cannot be. */
static bool check_tensor(const dl_tensor *t, tt_dtype *dtype, int64_t *stride) {
  *dtype = dtype_of(t);
  if (t->device.type != DL_CPU && t->device.type != DL_CUDA_HOST && t->device.type != DL_ROCM_HOST) {
    PyErr_Format(PyExc_BufferError, "unsupported device in DLPack (type %d): copy to the CPU first",
                 (int)t->device.type);
    return false;
  }
  if (*dtype == TT_DTYPE_NONE || t->ndim < 0 || t->ndim > TT_MAX_RANK) {
    PyErr_Format(PyExc_BufferError, "unsupported DLPack type: code %d, %d bits, %d lanes, %d axes", t->dtype.code,
                 t->dtype.bits, t->dtype.lanes, (int)t->ndim);
    return false;
  }
  for (int k = 0; t->strides && k < t->ndim; k++) stride[k] = t->strides[k] * core_dtype_bytes(*dtype);
  return true;
}

static tt_array *take(const dl_tensor *t, bool readonly, core_copy copy, imported *x) {
  int64_t stride[TT_MAX_RANK];
  tt_dtype dtype;
  tt_array *a = NULL;
  tt_error err;
  if (!check_tensor(t, &dtype, stride)) {
    drop_imported(&x->later);
    return NULL;
  }
  void *data = (char *)t->data + t->byte_offset;
  const int64_t *step = t->strides ? stride : NULL;
  if (copy == CORE_COPY_ALWAYS) {
    tt_code c = tt_from_data(dtype, t->ndim, t->shape, data, step, &a, &err);
    drop_imported(&x->later);
    if (c != TT_OK) core_raise(c, &err);
    return a;
  }
  tt_code c = tt_adopt(dtype, t->ndim, t->shape, data, step, readonly, core_later_push, x, &a, &err);
  if (c != TT_OK) {
    drop_imported(&x->later);
    core_raise(c, &err);
  }
  return a;
}

static tt_array *from_capsule(PyObject *capsule, core_copy copy) {
  bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned") == 1;
  if (!versioned && !PyCapsule_IsValid(capsule, "dltensor")) {
    PyErr_SetString(PyExc_ValueError, "not a DLPack capsule, or one that was consumed already");
    return NULL;
  }
  imported *x = malloc(sizeof *x);
  if (!x) return (void)PyErr_NoMemory(), NULL;
  x->later.run = drop_imported;
  x->versioned = versioned;
  x->managed = PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");
  dl_versioned *v = x->managed;
  if (versioned && v->version.major != 1) {
    free(x);
    PyErr_Format(PyExc_BufferError, "DLPack version %u.%u is not supported", v->version.major, v->version.minor);
    return NULL;
  }
  PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor");
  if (versioned) return take(&v->tensor, v->flags & DL_READ_ONLY, copy, x);
  return take(&((dl_managed *)x->managed)->tensor, false, copy, x);
}

static PyObject *ask(PyObject *o, PyObject *copy) {
  PyObject *method = PyObject_GetAttrString(o, "__dlpack__");
  if (!method) return NULL;
  PyObject *empty = PyTuple_New(0);
  PyObject *kw = copy ? Py_BuildValue("{s(ii)sO}", "max_version", 1, 0, "copy", copy)
                      : Py_BuildValue("{s(ii)}", "max_version", 1, 0);
  PyObject *capsule = empty && kw ? PyObject_Call(method, empty, kw) : NULL;
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { /* from before versions */
    PyErr_Clear();
    capsule = PyObject_CallNoArgs(method);
  }
  Py_XDECREF(empty);
  Py_XDECREF(kw);
  Py_DECREF(method);
  return capsule;
}

tt_array *core_from_dlpack(PyObject *o, core_copy copy) {
  if (PyCapsule_CheckExact(o)) return from_capsule(o, copy);
  PyObject *capsule = ask(o, NULL);
  if (!capsule) return NULL;
  tt_array *a = from_capsule(capsule, copy == CORE_COPY_NEVER ? copy : CORE_COPY_ALWAYS);
  Py_DECREF(capsule);
  return a;
}

PyObject *core_py_from_dlpack(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  (void)self;
  PyObject *a[3];
  if (!core_bind("from_dlpack", "x,*,device,copy", 1, arg, n, names, a)) return NULL;
  if (a[1] && a[1] != Py_None) {
    PyObject *hook = core_hook_get(CORE_HOOK_device),
             *checked = hook ? PyObject_CallFunctionObjArgs(hook, a[1], NULL) : NULL;
    if (!checked) return NULL;
    Py_DECREF(checked);
  }
  core_drain();
  PyObject *copy = a[2] && a[2] != Py_None ? a[2] : NULL;
  core_copy mode = copy && PyObject_IsTrue(copy) == 1 ? CORE_COPY_ALWAYS : CORE_COPY_NEVER;
  if (PyCapsule_CheckExact(a[0])) return core_wrap(from_capsule(a[0], mode), NULL);
  PyObject *capsule = ask(a[0], copy && mode == CORE_COPY_NEVER ? copy : NULL);
  if (!capsule) return NULL;
  tt_array *made = from_capsule(capsule, mode);
  Py_DECREF(capsule);
  return core_wrap(made, NULL);
}
