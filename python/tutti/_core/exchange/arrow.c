/*
** Arrow's C data interface: an array as a column, without a copy where it lies densely. Further axes become lists of
** fixed size. Bools are packed, eight in a byte, as Arrow has them.
*/
#include "core.h"

#include <stdlib.h>

enum { FORMAT_SIZE = 24 };

typedef struct arrow_schema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct arrow_schema **children, *dictionary;
  void (*release)(struct arrow_schema *self);
  void *private_data;
} arrow_schema;

typedef struct arrow_array {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct arrow_array **children, *dictionary;
  void (*release)(struct arrow_array *self);
  void *private_data;
} arrow_array;

/*
** What belongs to one level, a list of fixed size or at the end the elements. The struct of the level below lies here:
** a consumer may move any struct out of its place, and finds what belongs to it by private_data.
*/
typedef struct schema_level {
  arrow_schema child, *children;
  char format[FORMAT_SIZE];
} schema_level;

typedef struct array_level {
  arrow_array child, *children;
  const void *buffer[2]; /* which elements are there (NULL: all), and the elements */
  void *hold, *packed;   /* at the end: the memory that is shown, or bools packed */
} array_level;

static void release_schema(arrow_schema *self) {
  schema_level *level = self->private_data;
  if (level->child.release) level->child.release(&level->child);
  self->release = NULL;
  free(level);
}

static void release_array(arrow_array *self) {
  array_level *level = self->private_data;
  if (level->child.release) level->child.release(&level->child);
  if (level->hold) tt_unpeek(level->hold);
  free(level->packed);
  self->release = NULL;
  free(level);
}

static const char *element_format(tt_dtype dtype) {
  static const char *const formats[TT_DTYPE_COUNT] = {
      [TT_BOOL] = "b", [TT_I8] = "c",  [TT_I16] = "s", [TT_I32] = "i", [TT_I64] = "l", [TT_U8] = "C",
      [TT_U16] = "S",  [TT_U32] = "I", [TT_U64] = "L", [TT_F16] = "e", [TT_F32] = "f", [TT_F64] = "g"};
  return formats[dtype];
}

/* The schema of the axes from `axis` on; without memory *s has no release. */
static bool make_schema(const tt_array *a, int axis, arrow_schema *s) {
  schema_level *level = calloc(1, sizeof *level);
  memset(s, 0, sizeof *s);
  if (!level) return false;
  s->private_data = level;
  s->release = release_schema;
  s->name = "";
  s->format = level->format;
  if (axis + 1 >= tt_array_rank(a)) {
    s->format = element_format(tt_array_dtype(a));
    return true;
  }
  PyOS_snprintf(level->format, sizeof level->format, "+w:%lld", (long long)tt_array_len(a)[axis + 1]);
  if (!make_schema(a, axis + 1, &level->child)) return release_schema(s), false;
  level->children = &level->child;
  s->n_children = 1;
  s->children = &level->children;
  return true;
}

static void *pack_bools(const uint8_t *from, int64_t n) {
  uint8_t *out = calloc(n > 0 ? (size_t)(n + 7) / 8 : 1, 1);
  for (int64_t k = 0; out && k < n; k++) out[k / 8] |= (uint8_t)((from[k] != 0) << k % 8);
  return out;
}

/* The same for the elements; `length` of them or of their lists. `a` lies densely. */
static tt_code make_array(tt_array *a, int axis, int64_t length, arrow_array *x, tt_error *err) {
  array_level *level = calloc(1, sizeof *level);
  tt_code code = TT_OK;
  memset(x, 0, sizeof *x);
  if (!level) return TT_ENOMEM;
  x->private_data = level;
  x->release = release_array;
  x->length = length;
  x->buffers = level->buffer;
  if (axis + 1 < tt_array_rank(a)) {
    level->children = &level->child;
    x->n_buffers = x->n_children = 1;
    x->children = &level->children;
    code = make_array(a, axis + 1, length * tt_array_len(a)[axis + 1], &level->child, err);
  } else {
    x->n_buffers = 2;
    code = tt_peek(a, &level->buffer[1], &level->hold, err);
    if (code == TT_OK && tt_array_dtype(a) == TT_BOOL) {
      level->buffer[1] = level->packed = pack_bools(level->buffer[1], length);
      if (!level->packed) code = TT_ENOMEM;
    }
  }
  if (code != TT_OK) release_array(x);
  return code;
}

/* A capsule owns its struct; what is in it may have been moved away. */
static void drop_schema(PyObject *capsule) {
  arrow_schema *s = PyCapsule_GetPointer(capsule, "arrow_schema");
  if (s->release) s->release(s);
  free(s);
}
static void drop_array(PyObject *capsule) {
  arrow_array *x = PyCapsule_GetPointer(capsule, "arrow_array");
  if (x->release) x->release(x);
  free(x);
}

static PyObject *schema_capsule(tt_array *a) {
  arrow_schema *s = malloc(sizeof *s);
  if (!s || !make_schema(a, 0, s)) return free(s), PyErr_NoMemory();
  PyObject *capsule = PyCapsule_New(s, "arrow_schema", drop_schema);
  if (!capsule) release_schema(s), free(s);
  return capsule;
}

static PyObject *array_capsule(tt_array *a) {
  tt_error err;
  arrow_array *x = malloc(sizeof *x);
  tt_code code = x ? make_array(a, 0, tt_array_len(a)[0], x, &err) : TT_ENOMEM;
  if (code != TT_OK) return free(x), code == TT_ENOMEM ? PyErr_NoMemory() : core_raise(code, &err);
  PyObject *capsule = PyCapsule_New(x, "arrow_array", drop_array);
  if (!capsule) release_array(x), free(x);
  return capsule;
}

static PyObject *pair(tt_array *a) {
  PyObject *schema = schema_capsule(a), *array = schema ? array_capsule(a) : NULL;
  PyObject *both = array ? PyTuple_Pack(2, schema, array) : NULL;
  Py_XDECREF(schema);
  Py_XDECREF(array);
  return both;
}

PyObject *core_meth_arrow(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  PyObject *wanted[1]; /* a wish that nobody need fulfil */
  if (!core_bind("__arrow_c_array__", "requested_schema", 0, arg, n, names, wanted) || !core_need(self)) return NULL;
  tt_array *a = core_handle(self), *dense = NULL;
  if (tt_array_rank(a) == 0) return PyErr_SetString(PyExc_TypeError, "an array of rank 0 is no column"), NULL;
  if (!element_format(tt_array_dtype(a))) {
    return PyErr_Format(PyExc_TypeError, "Arrow has no type for %s", core_dtype_name(tt_array_dtype(a)));
  }
  if (tt_array_is_contiguous(a)) return pair(a);
  tt_error err;
  tt_code c = tt_copy(a, &dense, &err);
  if (c != TT_OK) return core_raise(c, &err);
  PyObject *both = pair(dense);
  tt_release(&dense);
  return both;
}
