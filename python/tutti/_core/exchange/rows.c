/*
** A list of arrays as one array, in one pass: where all are of one kind, alike, and lie in the host's memory in C order
** without gaps. Other lists are read by sequence.c.
*/
#include "core.h"

enum {
  FEW = 256,      /* rows whose holds need no memory of their own */
  LARGE = 1 << 20 /* bytes */
};

/* What one row lies in while it is copied: memory of ours, or a buffer of NumPy's. */
typedef struct hold {
  void *ours;
  Py_buffer theirs;
} hold;

typedef struct rows {
  PyTypeObject *kind;
  bool ours;
  tt_dtype dtype;
  int rank; /* of the whole */
  int64_t len[TT_MAX_RANK];
  hold *held;
  const void **data;
  Py_ssize_t n;
} rows;

/* Does row k have this shape? The first one says which. */
static bool fits(rows *r, Py_ssize_t k, tt_dtype dtype, int rank, const int64_t *len) {
  if (k == 0 && rank >= 1 && rank < TT_MAX_RANK) {
    r->dtype = dtype;
    r->rank = rank + 1;
    memcpy(r->len + 1, len, (size_t)rank * sizeof *len);
  }
  return dtype == r->dtype && rank + 1 == r->rank && memcmp(r->len + 1, len, (size_t)rank * sizeof *len) == 0;
}

static bool hold_ours(rows *r, Py_ssize_t k, PyObject *o) {
  tt_array *a = core_made(o);
  tt_error err;
  if (!a || core_is_number(o) || tt_requires_grad(a) || tt_array_device(a) != TT_CPU || !tt_array_is_evaluated(a) ||
      !tt_array_is_contiguous(a) || !fits(r, k, tt_array_dtype(a), tt_array_rank(a), tt_array_len(a)))
    return false;
  return tt_peek(a, r->data + k, &r->held[k].ours, &err) == TT_OK;
}

static bool hold_theirs(rows *r, Py_ssize_t k, PyObject *o) {
  Py_buffer *v = &r->held[k].theirs;
  bool swap;
  int64_t len[TT_MAX_RANK];
  if (PyObject_GetBuffer(o, v, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) return PyErr_Clear(), false;
  tt_dtype dtype = core_dtype_from_format(v->format, v->itemsize, &swap);
  for (int d = 0; d < v->ndim && d < TT_MAX_RANK; d++) len[d] = v->shape[d];
  if (dtype != TT_DTYPE_NONE && !swap && v->ndim < TT_MAX_RANK && fits(r, k, dtype, v->ndim, len)) {
    r->data[k] = v->buf;
    return true;
  }
  PyBuffer_Release(v);
  return false;
}

/* Is it NumPy's array? Asked of the first row; the others are of its class. */
static bool is_theirs(PyObject *o) {
  return PyObject_CheckBuffer(o) && PyObject_HasAttrString(o, "__array_interface__") &&
         PyObject_HasAttrString(o, "strides");
}

static void let_go(rows *r, Py_ssize_t held) {
  for (Py_ssize_t k = 0; k < held; k++) {
    if (r->ours) {
      tt_unpeek(r->held[k].ours);
    } else {
      PyBuffer_Release(&r->held[k].theirs);
    }
  }
}

static bool gather(rows *r, PyObject *list, tt_array **out) {
  tt_error err;
  Py_ssize_t held = 0;
  for (; held < r->n; held++) {
    PyObject *o = PyList_Check(list) ? PyList_GetItem(list, held) : PyTuple_GetItem(list, held);
    if (Py_TYPE(o) != r->kind || !(r->ours ? hold_ours(r, held, o) : hold_theirs(r, held, o))) break;
  }
  bool all = held == r->n;
  if (all) {
    int64_t size = core_dtype_bytes(r->dtype);
    for (int d = 0; d < r->rank; d++) size = r->len[d] && size > LARGE ? size : size * r->len[d];
    bool large = size > LARGE; /* worth letting others run */
    if (large) core_block_begin();
    tt_code c = tt_from_rows(r->dtype, r->rank, r->len, r->data, out, &err);
    if (large) core_block_end();
    if (c != TT_OK) core_raise(c, &err);
  }
  let_go(r, held);
  return all;
}

bool core_from_rows(PyObject *list, tt_dtype dtype, tt_array **out) {
  *out = NULL;
  bool is_list = PyList_Check(list);
  rows r = {.n = is_list ? PyList_Size(list) : PyTuple_Check(list) ? PyTuple_Size(list) : 0};
  if (r.n < 2) return false;
  PyObject *first = is_list ? PyList_GetItem(list, 0) : PyTuple_GetItem(list, 0);
  r.kind = Py_TYPE(first);
  r.ours = r.kind == core_array_type;
  if (!r.ours && (r.kind == &PyList_Type || r.kind == &PyLong_Type || r.kind == &PyFloat_Type || !is_theirs(first)))
    return false;
  hold few[FEW];
  const void *data[FEW];
  r.len[0] = r.n;
  r.held = r.n <= FEW ? few : PyMem_Malloc((size_t)r.n * sizeof *few);
  r.data = r.n <= FEW ? data : PyMem_Malloc((size_t)r.n * sizeof *data);
  bool done = r.held && r.data && gather(&r, list, out);
  if (r.n > FEW) {
    PyMem_Free(r.held);
    PyMem_Free(r.data);
  }
  if (done && *out && dtype != TT_DTYPE_NONE && dtype != r.dtype) {
    tt_error err;
    tt_array *made = *out;
    tt_code c = tt_cast(made, dtype, true, out, &err);
    tt_release(&made);
    if (c != TT_OK) core_raise(c, &err);
  }
  return done;
}
