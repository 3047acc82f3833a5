/*
** Elements in and out of the caller's memory. It must not know what computes them.
*/
#include "graph/host.h"

#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pace.h"
#include "base/pool/pool.h"
#include "graph/eager/eager.h"
#include "graph/order.h"
#include "graph/session.h"

/* ---- strided copies into C order */

typedef struct copy_job {
  char *to;
  const char *from;
  size_t item;
  int rank;                                      /* axes, outermost first, merged where memory allows */
  int64_t len[TT_MAX_RANK], stride[TT_MAX_RANK]; /* bytes */
} copy_job;

enum { COPY_GRAIN = 1 << 18 }; /* bytes below which a copy is not shared out */

static void copy_line(char *to, const char *from, int64_t n, int64_t stride, size_t item) {
  if (stride == (int64_t)item) {
    memcpy(to, from, (size_t)n * item);
    return;
  }
  for (int64_t i = 0; i < n; i++, to += item, from += stride) memcpy(to, from, item);
}

/* Lines [lo, hi) of the last axis. */
static void copy_lines(void *ctx, int64_t lo, int64_t hi, int worker) {
  const copy_job *j = ctx;
  (void)worker;
  int last = j->rank - 1;
  size_t line = (size_t)j->len[last] * j->item;
  for (int64_t at = lo; at < hi; at++) {
    const char *from = j->from;
    int64_t rest = at;
    for (int k = last; k-- > 0; rest /= j->len[k]) from += rest % j->len[k] * j->stride[k];
    copy_line(j->to + (size_t)at * line, from, j->len[last], j->stride[last], j->item);
  }
}

static void copy_bytes(void *ctx, int64_t lo, int64_t hi, int worker) {
  const copy_job *j = ctx;
  (void)worker;
  memcpy(j->to + lo, j->from + lo, (size_t)(hi - lo));
}

void tt__host_copy(void *to, const void *from, size_t item, int rank, const int64_t *len, const int64_t *stride) {
  copy_job j = {.to = to, .from = from, .item = item};
  int64_t lines = 1;
  for (int k = 0; k < rank; k++) {
    if (len[k] == 0) return;
    if (len[k] == 1) continue;
    if (j.rank && j.stride[j.rank - 1] == len[k] * stride[k]) {
      j.len[j.rank - 1] *= len[k];
      j.stride[j.rank - 1] = stride[k];
      continue;
    }
    j.len[j.rank] = len[k];
    j.stride[j.rank++] = stride[k];
  }
  if (j.rank == 0) {
    memcpy(to, from, item);
    return;
  }
  int last = j.rank - 1;
  int64_t line = j.len[last] * (int64_t)item;
  for (int k = 0; k < last; k++) lines *= j.len[k];
  if (lines == 1 && j.stride[last] == (int64_t)item)
    tt__pool_run(line, COPY_GRAIN, copy_bytes, &j);
  else
    tt__pool_run(lines, line < COPY_GRAIN ? COPY_GRAIN / line + 1 : 1, copy_lines, &j);
}

/* ---- in */

static tt_pace copies; /* by bytes */

double tt__from_data_ns(double bytes) { return tt__pace_ns(&copies, bytes, 1); }

static tt_code count_copy(int64_t bytes, tt_error *err) {
  if (tt__session_strict_copy)
    return tt__fail(err, TT_ESTRICT, "strict: a host copy of %lld bytes is not allowed", (long long)bytes);
  TT_COUNT(copies, 1);
  TT_COUNT(copy_bytes, bytes);
  return TT_OK;
}

static bool is_dense(int rank, const int64_t *len, const int64_t *stride, const int64_t *dense) {
  for (int k = 0; stride && k < rank; k++)
    if (len[k] != 1 && stride[k] != dense[k]) return false;
  return true;
}

/* A copy in C order. */
static tt_code copy_in(tt_dtype dtype, int rank, const int64_t *len, const void *data, const int64_t *stride,
                       tt_array **out, tt_error *err) {
  int64_t size, dense[TT_MAX_RANK], item = (int64_t)tt__dtype_size(dtype);
  TT_TRY(tt__shape_size(rank, len, dtype, &size, err));
  TT_TRY(count_copy(size * item, err));
  tt__shape_steps(rank, len, dense);
  for (int k = 0; k < rank; k++) dense[k] *= item;
  int device = size ? tt__session_device : TT_ANYWHERE;
  if (rank == 0) { /* kernels take it as a number, no memory is needed */
    tt_scalar value = {.bits = {0, 0}};
    memcpy(&value, data, (size_t)item);
    tt_node *known = tt__node_const_at(device, dtype, value, 0, NULL, err);
    *out = known ? tt__array_of(known, err) : NULL;
    tt__node_release(known);
    return *out ? TT_OK : TT_ENOMEM;
  }
  tt_buffer *b = NULL, like = {.kind = 0};
  int straight = device;
  if (size && device == TT_ANYWHERE && tt__session_residency)
    straight = tt__session_residency->expect(dtype, rank, len, &like);
  if (straight > 0 && is_dense(rank, len, stride, dense)) {
    tt_code code = tt__session_residency->from_host(data, (size_t)(size * item), straight, &b, err);
    if (code != TT_OK && straight == device) return code; /* else nobody asked for that device */
    if (code != TT_OK) b = NULL;
  }
  if (!b) {
    b = tt__buffer_new((size_t)(size * item), err);
    if (!b) return TT_ENOMEM;
    int64_t start = size * item > COPY_GRAIN ? tt__clock_ns() : 0;
    bool lengthy = size * item > COPY_GRAIN;         /* else to give up the lock takes longer */
    int depth = lengthy ? tt__session_suspend() : 0; /* nobody else knows the buffer yet */
    if (size) tt__host_copy(b->data, data, (size_t)item, rank, len, stride ? stride : dense);
    int64_t end = start ? tt__clock_ns() : 0;
    if (lengthy) tt__session_resume(depth);
    if (start) tt__pace_add(&copies, (double)(size * item), (double)(end - start));
  }
  b->kind = like.kind;
  b->promised_ns = like.promised_ns;
  tt_node *n = tt__node_new(TT_N_BUFFER, dtype, rank, len, 0, err);
  if (n) n->device = (int16_t)device;
  if (!n) {
    tt__buffer_release(b);
    return TT_ENOMEM;
  }
  n->attr.buf = b;
  *out = tt__array_of(n, err);
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

static void join_rows(char *to, const void *const *row, int64_t n, int64_t each) {
  const int64_t step = 1;
  int depth = n * each > COPY_GRAIN ? tt__session_suspend() : -1; /* nobody else knows the memory yet */
  for (int64_t k = 0; k < n; k++) {
    if (each < COPY_GRAIN)
      memcpy(to + k * each, row[k], (size_t)each);
    else
      tt__host_copy(to + k * each, row[k], 1, 1, &each, &step);
  }
  if (depth >= 0) tt__session_resume(depth);
}

/* Rows are put together in memory of the array's own, but for an array that is to lie on a device. */
tt_code tt__from_rows(tt_dtype dtype, int rank, const int64_t *len, const void *const *row, tt_array **out,
                      tt_error *err) {
  int64_t size;
  *out = NULL;
  if (rank < 1) return tt__fail(err, TT_EVALUE, "an array of rows has an axis for them");
  TT_TRY(tt__shape_size(rank, len, dtype, &size, err));
  if (size == 0) return copy_in(dtype, rank, len, "", NULL, out, err);
  size_t bytes = (size_t)size * tt__dtype_size(dtype);
  bool direct = tt__session_device <= 0;
  tt_buffer *b = direct ? tt__buffer_new(bytes, err) : NULL;
  char *to = b ? b->data : direct ? NULL : tt__mem_alloc(bytes);
  if (!to) return direct ? TT_ENOMEM : tt__fail_memory(err, bytes);
  join_rows(to, row, len[0], (int64_t)bytes / len[0]);
  if (!direct) {
    tt_code c = copy_in(dtype, rank, len, to, NULL, out, err);
    tt__mem_free(to, bytes);
    return c;
  }
  tt_node *n = NULL;
  if (count_copy((int64_t)bytes, err) == TT_OK) n = tt__node_new(TT_N_BUFFER, dtype, rank, len, 0, err);
  if (!n) return tt__buffer_release(b), err->code;
  n->device = (int16_t)tt__session_device;
  n->attr.buf = b;
  *out = tt__array_of(n, err);
  tt__node_release(n);
  return *out ? TT_OK : TT_ENOMEM;
}

/* Laid as the memory is, with its holes left out: most copies are then one line. */
tt_code tt__from_data(tt_dtype dtype, int rank, const int64_t *len, const void *data, const int64_t *stride,
                      tt_array **out, tt_error *err) {
  int axes[TT_MAX_RANK];
  int64_t size;
  *out = NULL;
  TT_TRY(tt__shape_size(rank, len, dtype, &size, err));
  if (size && !data) return tt__fail(err, TT_EVALUE, "there is no memory at address 0");
  if (!stride || size == 0 || tt__order_of_strides(rank, len, stride, (int64_t)tt__dtype_size(dtype), axes))
    return copy_in(dtype, rank, len, data, stride, out, err);
  int64_t turned_len[TT_MAX_RANK], turned_stride[TT_MAX_RANK];
  for (int k = 0; k < rank; k++) {
    turned_len[k] = len[axes[k]];
    turned_stride[k] = stride[axes[k]];
  }
  tt_array *dense;
  TT_TRY(copy_in(dtype, rank, turned_len, data, turned_stride, &dense, err));
  *out = tt__array_restored(dense, axes, err);
  tt__array_release(dense);
  return *out ? TT_OK : TT_ENOMEM;
}

/* ---- out */

/* What lies on a device goes straight to the caller, and no copy of ours stays behind. */
static tt_code read_there(tt_array *a, void *data, size_t bytes, bool *done, tt_error *err) {
  *done = false;
  int op = a->storage->node->op;
  if (bytes == 0 || !tt__array_is_c(a) || op == TT_N_CONST || op == TT_N_IOTA || op == TT_N_EMPTY) return TT_OK;
  tt_node *n = tt__node_retain(a->storage->node);
  tt_code code = tt__evaluate_to_look(n, err);
  tt_buffer *b = code == TT_OK ? n->attr.buf : NULL;
  if (b && !b->data && b->replicas) {
    size_t from = (size_t)a->off * tt__dtype_size((tt_dtype)a->dtype);
    code = tt__session_residency->read(b, from, data, bytes, err);
    *done = true;
  }
  tt__node_release(n);
  return code;
}

tt_code tt__read(tt_array *a, void *data, size_t size, tt_error *err) {
  size_t bytes = (size_t)a->size * tt__dtype_size((tt_dtype)a->dtype);
  if (size < bytes)
    return tt__fail(err, TT_EVALUE, "%zu bytes of room are not enough for an array of %zu bytes", size, bytes);
  TT_TRY(count_copy((int64_t)bytes, err));
  const void *from;
  tt_buffer *hold;
  bool done;
  TT_TRY(read_there(a, data, bytes, &done, err));
  if (done) return TT_OK;
  TT_TRY(tt__array_peek_dense(a, &from, &hold, err));
  bool lengthy = bytes > COPY_GRAIN;
  int depth = lengthy ? tt__session_suspend() : 0; /* the hold keeps the memory as it is */
  copy_job j = {.to = data, .from = from};
  if (bytes) tt__pool_run((int64_t)bytes, COPY_GRAIN, copy_bytes, &j);
  if (lengthy) tt__session_resume(depth);
  tt__buffer_release(hold);
  return TT_OK;
}

tt_code tt__item(tt_array *a, tt_value *out, tt_error *err) {
  const void *from;
  tt_buffer *hold;
  if (a->size != 1) return tt__fail(err, TT_EVALUE, "can only convert an array of size 1 to a Python scalar");
  tt_scalar known;
  if (tt__eager_element(a->storage->node, a->off, &known)) {
    *out = tt__scalar_load((tt_dtype)a->dtype, &known);
    return TT_OK;
  }
  TT_TRY(tt__array_peek_dense(a, &from, &hold, err));
  *out = tt__scalar_load((tt_dtype)a->dtype, from);
  tt__buffer_release(hold);
  return TT_OK;
}

tt_code tt__peek(tt_array *a, const void **data, void **hold, tt_error *err) {
  static const int64_t nothing[2];
  *data = nothing;
  *hold = NULL;
  if (a->size == 0) return TT_OK;
  tt_node *n = tt__node_retain(a->storage->node);
  tt_code code = tt__evaluate_home(n, err);
  if (code == TT_OK) {
    *data = (char *)n->attr.buf->data + a->off * (int64_t)tt__dtype_size((tt_dtype)a->dtype);
    *hold = tt__buffer_retain(n->attr.buf);
  }
  tt__node_release(n);
  return code;
}
