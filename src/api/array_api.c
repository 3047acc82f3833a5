/*
** The functions of tutti/array.h: check arguments, take the lock, call the graph. No rule of arrays lives here.
*/
#include "tutti/array.h"

#include "api/enter.h"
#include "fn/autocast.h"
#include "graph/index/alias.h"
#include "graph/build.h"
#include "graph/call.h"
#include "graph/host.h"
#include "graph/eager/eager.h"
#include "graph/eager/number.h"
#include "graph/order.h"
#include "graph/index/overlap.h"
#include "graph/session.h"
#include "graph/tape.h"
#include "run/wanted.h"
#include "tutti/device.h"

static bool is_dtype(tt_dtype t) { return (int)t >= 0 && t < TT_DTYPE_COUNT; }

static tt_code check_dtype(tt_dtype t, tt_error *err) {
  return is_dtype(t) ? TT_OK : tt__fail(err, TT_ETYPE, "data type %d not understood", (int)t);
}

static tt_code check_array(const tt_array *a, tt_error *err) {
  return a ? TT_OK : tt__fail(err, TT_EVALUE, "the array is NULL");
}

#define CHECKED(test, run) (code = (test), code == TT_OK ? (run) : code)

/* A new array goes where the thread wants new ones. */
static tt_code placed(tt_code code, tt_array **out, tt_error *err) {
  return code == TT_OK ? tt__wanted_put(out, tt__wanted(), err) : code;
}

/* ---- making */

tt_code tt_empty(tt_dtype dtype, int rank, const int64_t *len, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_dtype(dtype, err), placed(tt__empty(dtype, rank, len, out, err), out, err)));
}

tt_code tt_full(tt_dtype dtype, int rank, const int64_t *len, tt_value value, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c,
                   CHECKED(check_dtype(dtype, err), placed(tt__full(dtype, rank, len, &value, out, err), out, err)));
}

tt_code tt_arange(tt_dtype dtype, tt_value start, tt_value step, int64_t n, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c,
                   CHECKED(check_dtype(dtype, err), placed(tt__arange(dtype, &start, &step, n, out, err), out, err)));
}

tt_code tt_from_data(tt_dtype dtype, int rank, const int64_t *len, const void *data, const int64_t *stride,
                     tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(
      &c, CHECKED(check_dtype(dtype, err), placed(tt__from_data(dtype, rank, len, data, stride, out, err), out, err)));
}

tt_code tt_from_rows(tt_dtype dtype, int rank, const int64_t *len, const void *const *row, tt_array **out,
                     tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c,
                   CHECKED(check_dtype(dtype, err), placed(tt__from_rows(dtype, rank, len, row, out, err), out, err)));
}

tt_code tt_adopt(tt_dtype dtype, int rank, const int64_t *len, void *data, const int64_t *stride, bool readonly,
                 void (*drop)(void *ctx), void *ctx, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_dtype(dtype, err),
                               tt__array_adopt(0, dtype, rank, len, data, stride, readonly, drop, ctx, out, err)));
}

tt_array *tt_retain(tt_array *a) {
  if (!a) return NULL;
  tt__session_lock();
  tt__array_retain(a);
  tt__session_unlock();
  return a;
}

void tt_release(tt_array **a) {
  if (!a || !*a) return;
  tt__session_lock();
  tt__array_release(*a);
  tt__session_unlock();
  *a = NULL;
}

/* ---- asking: what never changes needs no lock */

tt_dtype tt_array_dtype(const tt_array *a) { return (tt_dtype)a->dtype; }
int tt_array_rank(const tt_array *a) { return a->rank; }
const int64_t *tt_array_len(const tt_array *a) { return a->dim; }
const int64_t *tt_array_step(const tt_array *a) { return a->dim + a->rank; }
int64_t tt_array_offset(const tt_array *a) { return a->off; }
int64_t tt_array_size(const tt_array *a) { return a->size; }
bool tt_array_is_contiguous(const tt_array *a) { return tt__array_is_c((tt_array *)a); }
bool tt_array_is_f_contiguous(const tt_array *a) { return tt__array_is_f((tt_array *)a); }
bool tt_array_shares(const tt_array *a, const tt_array *b) {
  return tt__storage_root(a->storage) == tt__storage_root(b->storage);
}

tt_code tt_array_overlaps(tt_array *a, tt_array *b, int64_t max_work, bool *out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = false;
  err = tt__enter(&c, err);
  code = check_array(a, err);
  return tt__leave(&c,
                   code != TT_OK ? code : CHECKED(check_array(b, err), tt__arrays_overlap(a, b, max_work, out, err)));
}

void tt_array_stride(const tt_array *a, int64_t *stride) {
  int64_t off;
  tt__session_lock();
  tt__array_place(a, &off, stride);
  tt__session_unlock();
}

bool tt_array_is_readonly(const tt_array *a) {
  tt__session_lock();
  bool readonly = a->readonly || a->storage->readonly;
  tt__session_unlock();
  return readonly;
}

bool tt_array_is_evaluated(const tt_array *a) {
  tt__session_lock();
  bool evaluated = a->storage->node->op == TT_N_BUFFER;
  tt__session_unlock();
  return evaluated;
}

void tt_array_set_readonly(tt_array *a, bool readonly) {
  tt__session_lock();
  a->readonly = readonly;
  tt__session_unlock();
}

/* ---- looking */

tt_code tt_eval(tt_array *const *arrays, int n, tt_error *err) {
  tt_entered c;
  if (n <= 0) return tt__calls_flush(err);
  err = tt__enter(&c, err);
  tt_code code = tt__calls_run(err);
  for (int k = 0; k < n && code == TT_OK; k++) code = check_array(arrays[k], err);
  return tt__leave(&c, CHECKED(code, tt__arrays_evaluate(arrays, n, err)));
}

tt_code tt_peek(tt_array *a, const void **data, void **hold, tt_error *err) {
  tt_entered c;
  tt_code code;
  *data = NULL;
  *hold = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__peek(a, data, hold, err)));
}

void tt_unpeek(void *hold) {
  if (!hold) return;
  tt__session_lock();
  tt__buffer_release(hold);
  tt__session_unlock();
}

tt_code tt_read(tt_array *a, void *data, size_t size, tt_error *err) {
  tt_entered c;
  tt_code code;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__read(a, data, size, err)));
}

tt_code tt_item(tt_array *a, tt_value *out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = (tt_value){.tag = TT_V_NONE};
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__item(a, out, err)));
}

/* ---- operations */

tt_code tt_apply(tt_op op, const tt_value *arg, int narg, const tt_apply_options *options, tt_array **out,
                 tt_error *err) {
  tt_entered c;
  if (out) *out = NULL;
  err = tt__enter(&c, err);
  if ((unsigned)op >= TT_OP_COUNT)
    return tt__leave(&c, tt__fail(err, TT_EVALUE, "no elementwise op has number %d", (int)op));
  if (tt__autocast_on() && !(options && (options->out || options->dtype != TT_DTYPE_NONE)))
    return tt__leave(&c, tt__cast_apply(op, arg, narg, options, out, err));
  return tt__leave(&c, tt__apply(op, arg, narg, options, out, err));
}

tt_op tt_op_named(const char *name) { return tt__op_named(name); }

tt_code tt_transpose(tt_array *a, const int *axes, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__transpose(a, axes, out, err)));
}

tt_code tt_reshape(tt_array *a, int rank, const int64_t *len, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__reshape(a, rank, len, out, err)));
}

tt_code tt_broadcast_to(tt_array *a, int rank, const int64_t *len, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__broadcast_to(a, rank, len, out, err)));
}

tt_code tt_get(tt_array *a, tt_value index, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__get(a, &index, out, err)));
}

tt_code tt_get_item(tt_array *a, tt_value index, tt_value *out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = (tt_value){.tag = TT_V_NONE};
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__get_item(a, &index, out, err)));
}

tt_code tt_set(tt_array *a, tt_value index, tt_value value, tt_error *err) {
  tt_entered c;
  tt_code code;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__set(a, &index, &value, err)));
}

/* ---- single elements */

bool tt_number_get(tt_array *a, int n, const int64_t *at, tt_number *out) {
  int64_t off;
  if (!a || !tt__number_find(a, n, at, &off)) return false; /* what it reads never changes */
  out->dtype = (tt_dtype)a->dtype;
  tt__session_lock();
  const tt_node *value = a->storage->node;
  bool ok = !tt__is_taped(value) && tt__eager_element(value, off, (tt_scalar *)out->bits);
  tt__session_unlock();
  return ok;
}

bool tt_number_set(tt_array *a, int n, const int64_t *at, const tt_value *value) {
  int64_t off;
  if (!a || value->tag == TT_V_ARRAY || !tt__number_find(a, n, at, &off)) return false;
  tt__session_lock();
  bool ok = !a->readonly && !a->storage->readonly && tt__number_store(a, off, value);
  tt__session_unlock();
  return ok;
}

bool tt_number_apply(tt_op op, const tt_value *arg, int n, tt_number *out) {
  if ((unsigned)op >= TT_OP_COUNT || (tt__autocast_on() && tt__casts_op(op))) return false;
  return tt__number_apply(op, arg, n, out);
}

tt_value tt_number_value(const tt_number *x) { return tt__scalar_load(x->dtype, x->bits); }

tt_code tt_number_array(const tt_number *x, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_dtype(x->dtype, err), tt__number_array(x, out, err)));
}

tt_code tt_can_cast(tt_dtype from, tt_dtype to, const char *casting, bool *allowed, tt_error *err) {
  *allowed = false;
  TT_TRY(check_dtype(from, err));
  TT_TRY(check_dtype(to, err));
  return tt__can_cast(from, to, casting, allowed, err);
}

tt_code tt_cast(tt_array *a, tt_dtype dtype, bool copy, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  code = check_dtype(dtype, err);
  return tt__leave(&c, code != TT_OK ? code : CHECKED(check_array(a, err), tt__cast(a, dtype, copy, out, err)));
}

tt_code tt_copy(tt_array *a, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  return tt__leave(&c, CHECKED(check_array(a, err), tt__copy(a, out, err)));
}

tt_code tt_copy_as(tt_array *a, tt_dtype dtype, char order, tt_array **out, tt_error *err) {
  tt_entered c;
  tt_code code;
  *out = NULL;
  err = tt__enter(&c, err);
  code = check_dtype(dtype, err);
  return tt__leave(&c, code != TT_OK ? code : CHECKED(check_array(a, err), tt__copy_as(a, dtype, order, out, err)));
}
