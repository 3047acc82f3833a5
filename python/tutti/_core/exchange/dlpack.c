/*
** DLPack in both directions, versioned and not, for the host's memory and CUDA's. The structures are the protocol's.
**
** Exported memory never changes (tt_peek), so zero-copy exports are read-only; consumers
** of the old capsule cannot be told so and get a private copy.
**
** Order on a GPU: the consumer hands in its stream, the producer sees to it that what is asked of that stream
** afterwards finds the values.
*/
#include "core.h"

#include <stdlib.h>

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

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11, DL_CUDA_MANAGED = 13 };
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
  int device; /* ours */
  int64_t shape[TT_MAX_RANK], strides[TT_MAX_RANK];
} exported;

static void delete_exported(exported *x) {
  if (x->device == TT_CPU) {
    tt_unpeek(x->hold);
  } else {
    tt_unpeek_on(x->hold);
  }
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
  t->device.type = x->device == TT_CPU ? DL_CPU : DL_CUDA;
  t->device.id = core_cuda_index(x->device);
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

static PyObject *export(tt_array *a, int device, void *reader, bool versioned, bool copied) {
  exported *x = calloc(1, sizeof *x);
  if (!x) return PyErr_NoMemory();
  const void *data;
  tt_error err;
  x->device = device;
  tt_code c =
      device == TT_CPU ? tt_peek(a, &data, &x->hold, &err) : tt_peek_on(a, device, reader, &data, &x->hold, &err);
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

/* What the consumer wants: a device of the protocol's, None for where the array lies. */
static bool read_device(PyObject *wanted, tt_array *a, int *out) {
  long type = -1, id = -1;
  *out = tt_array_device(a);
  if (!wanted || wanted == Py_None) {
    if (*out == TT_CPU || core_cuda_index(*out) >= 0) return true;
    PyErr_SetString(PyExc_BufferError, "DLPack has no name for the array's device: copy it to the CPU first");
    return false;
  }
  if (PyTuple_Check(wanted) && PyTuple_Size(wanted) == 2) {
    type = PyLong_AsLong(PyTuple_GetItem(wanted, 0));
    id = PyLong_AsLong(PyTuple_GetItem(wanted, 1));
  }
  if (PyErr_Occurred()) return false;
  *out = TT_CPU;
  if (type == DL_CPU && id == 0) return true;
  if (type == DL_CUDA && core_cuda_device(id, out)) return true;
  PyErr_Clear();
  PyErr_Format(PyExc_BufferError, "unsupported device requested: (%ld, %ld) is neither the CPU, (1, 0), nor a GPU here",
               type, id);
  return false;
}

/* The consumer's stream as a handle of the vendor's. */
static bool read_stream(PyObject *stream, int device, void **out) {
  *out = TT_CUDA_LEGACY_STREAM;
  if (!stream || stream == Py_None) return true;
  if (device == TT_CPU) {
    PyErr_SetString(PyExc_RuntimeError, "arrays on the CPU have no streams: only stream=None is supported");
    return false;
  }
  long long n = PyLong_AsLongLong(stream);
  if (n == -1 && PyErr_Occurred()) return false;
  if (n == 0 || n < -1) {
    PyErr_SetString(PyExc_ValueError, "stream: 0 is ambiguous on CUDA; give 1, 2, a handle, None or -1");
    return false;
  }
  *out = n == -1 ? TT_NO_STREAM : (void *)(uintptr_t)n;
  return true;
}

static bool read_version(PyObject *version, bool *versioned) {
  *versioned = false;
  if (!version || version == Py_None) return true;
  PyObject *major = PySequence_GetItem(version, 0);
  long m = major ? PyLong_AsLong(major) : -1;
  Py_XDECREF(major);
  *versioned = m >= 1;
  return !PyErr_Occurred();
}

PyObject *core_meth_dlpack(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  if (!core_need(self)) return NULL;
  PyObject *a[4];
  bool versioned;
  int device;
  void *reader;
  if (!core_bind("__dlpack__", "*,stream,max_version,dl_device,copy", 0, arg, n, names, a)) return NULL;
  tt_array *own = core_handle(self), *mine;
  if (!read_version(a[1], &versioned) || !read_device(a[2], own, &device) || !read_stream(a[0], device, &reader))
    return NULL;
  int copy = a[3] && a[3] != Py_None ? PyObject_IsTrue(a[3]) : -1;
  if (copy == 0 && !versioned &&
      tt_array_is_readonly(own)) { /* else it is shared, as NumPy does: they have asked for it */
    PyErr_SetString(
        PyExc_BufferError,
        "Cannot export readonly array since signalling readonly is unsupported by DLPack (supported by newer "
        "DLPack version).");
    return NULL;
  }
  if (copy == 0 && device != tt_array_device(own)) {
    PyErr_SetString(PyExc_BufferError, "the array lies on another device: it cannot go there without a copy");
    return NULL;
  }
  tt_error err;
  tt_code c = TT_OK;
  if (device == tt_array_device(own)) {
    mine = tt_retain(own);
  } else {
    c = tt_array_to(own, device, &mine, &err);
  }
  bool apart = copy == 1 || (!versioned && copy != 0);
  if (c == TT_OK && apart) {
    tt_array *shared = mine;
    c = tt_detach(shared, &mine, &err);
    tt_release(&shared);
  }
  if (c != TT_OK) return core_raise(c, &err);
  PyObject *capsule = export(mine, device, reader, versioned, apart);
  tt_release(&mine);
  return capsule;
}

PyObject *core_meth_dlpack_device(PyObject *self, PyObject *unused) {
  (void)unused;
  if (!core_need(self)) return NULL;
  int index = core_cuda_index(tt_array_device(core_handle(self)));
  return index < 0 ? Py_BuildValue("(ii)", DL_CPU, 0) : Py_BuildValue("(ii)", DL_CUDA, index);
}

/* ---- in */

typedef struct imported {
  core_later later;
  void *managed;
  bool versioned;
} imported;

/* The producer's deleter may want the interpreter lock, and run Python code: that is held, and no error is set. */
static void drop_imported(core_later *self) {
  imported *x = (imported *)self;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (x->versioned) {
    dl_versioned *m = x->managed;
    if (m->deleter) m->deleter(m);
  } else {
    dl_managed *m = x->managed;
    if (m->deleter) m->deleter(m);
  }
  PyErr_Restore(type, value, trace);
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

/*
** A step in bytes. CuPy divides the bytes of a step backwards by the item's as if they had no sign: -16 of 4 becomes
** 2^62 - 4, which no memory reaches, and multiplied again wraps to what was meant. Only that is read so: a step that
** has no other reading, of an axis whose elements lie above address 0.
*/
static bool step_of(const dl_tensor *t, int axis, int64_t item, int64_t *bytes) {
  int64_t step = t->strides[axis], n = t->shape[axis], span;
  if (!__builtin_mul_overflow(step, item, bytes)) return true;
  if (step < 0 || (uint64_t)step > UINT64_MAX / (uint64_t)item || n < 0) return false;
  *bytes = (int64_t)((uint64_t)step * (uint64_t)item);
  return *bytes < 0 && !__builtin_mul_overflow(*bytes, n > 1 ? n - 1 : 0, &span) &&
         (uint64_t)0 - (uint64_t)span <= (uint64_t)(uintptr_t)t->data;
}

/* Strides in bytes into `stride`; false with an exception for what an array cannot be. */
static bool check_tensor(const dl_tensor *t, tt_dtype *dtype, int64_t *stride, int *device) {
  *dtype = dtype_of(t);
  *device = TT_CPU;
  switch (t->device.type) {
    case DL_CPU:
    case DL_CUDA_HOST:
    case DL_CUDA_MANAGED: /* the host may read and write it, too */
    case DL_ROCM_HOST:
      break;
    case DL_CUDA:
      if (!core_cuda_device(t->device.id, device)) return false;
      break;
    default:
      PyErr_Format(PyExc_BufferError, "unsupported device in DLPack (type %d): copy to the CPU first",
                   (int)t->device.type);
      return false;
  }
  if (*dtype == TT_DTYPE_NONE || t->ndim < 0 || t->ndim > TT_MAX_RANK) {
    PyErr_Format(PyExc_BufferError, "unsupported DLPack type: code %d, %d bits, %d lanes, %d axes", t->dtype.code,
                 t->dtype.bits, t->dtype.lanes, (int)t->ndim);
    return false;
  }
  if (t->ndim > 0 && !t->shape) {
    PyErr_Format(PyExc_BufferError, "a DLPack tensor of %d axes without a shape", (int)t->ndim);
    return false;
  }
  for (int k = 0; t->strides && k < t->ndim; k++) {
    if (step_of(t, k, (int64_t)core_dtype_bytes(*dtype), &stride[k])) continue;
    PyErr_SetString(PyExc_BufferError, "the strides of a DLPack tensor reach beyond the address space");
    return false;
  }
  return true;
}

static tt_array *take(const dl_tensor *t, bool readonly, core_copy copy, imported *x) {
  int64_t stride[TT_MAX_RANK];
  tt_dtype dtype;
  int device;
  tt_array *a = NULL;
  tt_error err;
  if (!check_tensor(t, &dtype, stride, &device)) {
    drop_imported(&x->later);
    return NULL;
  }
  void *data = (char *)t->data + t->byte_offset;
  const int64_t *step = t->strides ? stride : NULL;
  if (copy == CORE_COPY_ALWAYS && device == TT_CPU) {
    tt_code c = tt_from_data(dtype, t->ndim, t->shape, data, step, &a, &err);
    drop_imported(&x->later);
    if (c != TT_OK) core_raise(c, &err);
    return a;
  }
  /* The producer has ordered its work before our stream already: no writer to wait for. */
  tt_code c = device == TT_CPU ? tt_adopt(dtype, t->ndim, t->shape, data, step, readonly, core_later_push, x, &a, &err)
                               : tt_adopt_on(device, TT_NO_STREAM, dtype, t->ndim, t->shape, data, step, readonly,
                                             core_later_push, x, &a, &err);
  if (c != TT_OK) {
    drop_imported(&x->later);
    core_raise(c, &err);
  }
  return copy == CORE_COPY_ALWAYS ? core_own(a) : a;
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

/* The stream on which the producer must have its values ready: ours, if it lies on a GPU of ours; else None. */
static bool our_stream(PyObject *o, PyObject **out) {
  PyObject *device = PyObject_CallMethod(o, "__dlpack_device__", NULL);
  *out = NULL;
  if (!device) {
    PyErr_Clear(); /* from before the standard: on the CPU then */
    return true;
  }
  long type = -1, id = -1;
  if (PyTuple_Check(device) && PyTuple_Size(device) == 2) {
    type = PyLong_AsLong(PyTuple_GetItem(device, 0));
    id = PyLong_AsLong(PyTuple_GetItem(device, 1));
  }
  Py_DECREF(device);
  PyErr_Clear();
  int ours;
  if (type != DL_CUDA) return true;
  if (!core_cuda_device(id, &ours)) return false;
  *out = PyLong_FromVoidPtr(tt_stream_handle(ours, tt_stream_current(ours)));
  return *out != NULL;
}

static PyObject *ask(PyObject *o, PyObject *copy) {
  PyObject *stream, *capsule = NULL, *kw = NULL, *empty = PyTuple_New(0);
  PyObject *method = PyObject_GetAttrString(o, "__dlpack__");
  if (!method || !empty || !our_stream(o, &stream)) goto done;
  kw = PyDict_New();
  PyObject *version = Py_BuildValue("(ii)", 1, 0);
  bool ok = kw && version && PyDict_SetItemString(kw, "max_version", version) == 0;
  Py_XDECREF(version);
  if (ok && copy) ok = PyDict_SetItemString(kw, "copy", copy) == 0;
  if (ok && stream) ok = PyDict_SetItemString(kw, "stream", stream) == 0;
  capsule = ok ? PyObject_Call(method, empty, kw) : NULL;
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { /* from before versions */
    PyErr_Clear();
    PyObject_DelItemString(kw, "max_version");
    if (copy) PyObject_DelItemString(kw, "copy");
    capsule = PyObject_Call(method, empty, kw);
  }
  Py_XDECREF(stream);
done:
  Py_XDECREF(empty);
  Py_XDECREF(kw);
  Py_XDECREF(method);
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
  int device;
  if (!core_bind("from_dlpack", "x,*,device,copy", 1, arg, n, names, a)) return NULL;
  if (!core_device_from(a[1], &device) || !core_check_copy(a[2])) return NULL;
  core_drain();
  PyObject *copy = a[2] && a[2] != Py_None ? a[2] : NULL;
  core_copy mode = copy && PyObject_IsTrue(copy) == 1 ? CORE_COPY_ALWAYS : CORE_COPY_NEVER;
  PyObject *capsule =
      PyCapsule_CheckExact(a[0]) ? Py_NewRef(a[0]) : ask(a[0], copy && mode == CORE_COPY_NEVER ? copy : NULL);
  if (!capsule) return NULL;
  PyObject *made = core_wrap(from_capsule(capsule, mode), NULL);
  Py_DECREF(capsule);
  if (made && copy && mode == CORE_COPY_NEVER && !core_lies_on(core_handle(made), device)) {
    Py_DECREF(made);
    PyErr_SetString(PyExc_ValueError, "the array lies on another device: it cannot go there without a copy");
    return NULL;
  }
  return core_put(made, device);
}
