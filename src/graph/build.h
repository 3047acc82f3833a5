/*
** Recording: nodes and arrays out of nodes and arrays. Everything here runs under the
** session lock, evaluates nothing unless it says so, and owns by these rules: a function
** that returns a node or array gives one hold; arguments are borrowed. A function that returns
** NULL has filled err; the code in it is the truth (a caller may return TT_ENOMEM for it: the API
** boundary hands out err->code).
*/
#ifndef TT_GRAPH_BUILD_H
#define TT_GRAPH_BUILD_H

#include "ir/library.h"
#include "ir/node.h"
#include "tutti/array.h"

/* ---- nodes (node.c): NULL means out of memory, err is filled */
TT_HIDDEN tt_node *tt__node_new(int op, tt_dtype dtype, int rank, const int64_t *len, int nstep, tt_error *err);
TT_HIDDEN tt_node *tt__node_retain(tt_node *n);
/* Count the work below a new operand of the node made last. */
TT_HIDDEN void tt__node_account(tt_node *n, const tt_node *src);
/* List a new VIEW or GATHER among those that read its first operand. */
TT_HIDDEN void tt__node_list_reader(tt_node *n);
TT_HIDDEN void tt__node_release(tt_node *n); /* NULL allowed; chains of any depth, without recursion */
/* The same for a storage whose current value `n` is. */
TT_HIDDEN void tt__node_hold(tt_node *n);
TT_HIDDEN void tt__node_unhold(tt_node *n);
/* Turn `n` into a BUFFER that owns `buf` (takes the hold), dropping its operands. */
TT_HIDDEN void tt__node_become_buffer(tt_node *n, tt_buffer *buf);
/* The same by an evaluation that may have given up the session's lock on its way: a small node that another thread
 * looked at meanwhile has its value already, and the equal one is released. */
TT_HIDDEN void tt__node_settle(tt_node *n, tt_buffer *buf);
TT_HIDDEN tt_buffer *tt__buffer_new(size_t size, tt_error *err); /* uninitialised, ours */
/* The same without memory: its bytes come to lie on a device. */
TT_HIDDEN tt_buffer *tt__buffer_new_elsewhere(size_t size, tt_error *err);
/* Bring the bytes to the host: `data` is theirs afterwards. May wait, and give up the lock meanwhile. */
TT_HIDDEN tt_code tt__buffer_host(tt_buffer *b, tt_error *err);
/* Before `data` is written: what devices hold is old. */
TT_HIDDEN void tt__buffer_only_host(tt_buffer *b);
TT_HIDDEN tt_buffer *tt__buffer_adopt(void *data, size_t size, bool readonly, void (*drop)(void *), void *ctx,
                                      tt_error *err);
TT_HIDDEN tt_buffer *tt__buffer_retain(tt_buffer *b);
TT_HIDDEN void tt__buffer_release(tt_buffer *b);

/* Elementwise on nodes of equal shape and already converted operand types; folds trivial things (x*1, cast to the same
 * type). */
TT_HIDDEN tt_node *tt__node_op(tt_op op, tt_dtype dtype, tt_node *const *src, int n, tt_error *err);
TT_HIDDEN tt_node *tt__node_cast(tt_node *a, tt_dtype dtype, tt_error *err);
TT_HIDDEN tt_node *tt__node_const(tt_dtype dtype, tt_scalar value, int rank, const int64_t *len, tt_error *err);
/* The same, put on a device (TT_ANYWHERE: on none). */
TT_HIDDEN tt_node *tt__node_const_at(int device, tt_dtype dtype, tt_scalar value, int rank, const int64_t *len,
                                     tt_error *err);
TT_HIDDEN tt_node *tt__node_iota(int rank, const int64_t *len, tt_error *err);
/* Flat elements of `a` at off + i*step: `a` itself when that is the identity with the same shape; views of views are
 * composed when that is exact. */
TT_HIDDEN tt_node *tt__node_view(tt_node *a, int rank, const int64_t *len, const int64_t *step, int64_t off,
                                 tt_error *err);
/* The same, always a node of its own. */
TT_HIDDEN tt_node *tt__node_view_plain(tt_node *a, int rank, const int64_t *len, const int64_t *step, int64_t off,
                                       tt_error *err);
TT_HIDDEN tt_node *tt__node_reduce(tt_red red, tt_node *a, uint64_t axes, tt_error *err);
/*
** One element along those of the axes that repeat very often, and how often each stands there; a itself, 1: none do, or
** the reduction is better off with all. What a reduction of that says of `a`: its result `one` as it is, many times, or
** as other places.
*/
TT_HIDDEN tt_node *tt__node_once(tt_red red, tt_node *a, uint64_t axes, int64_t *count, tt_error *err);
TT_HIDDEN tt_node *tt__node_of_all(tt_red red, tt_node *one, tt_node *a, uint64_t axes, tt_error *err);
/* The same, element by element: what tt__node_reduce is made of. */
TT_HIDDEN tt_node *tt__node_reduce_plain(tt_red red, tt_node *a, uint64_t axes, tt_error *err);
TT_HIDDEN tt_node *tt__node_gather(tt_node *a, tt_node *index, tt_error *err);
/* `old` with `value` written through the view (len of value, step, off); the value alone when the view is all of old in
 * order. */
TT_HIDDEN tt_node *tt__node_store(tt_node *old, tt_node *value, const int64_t *step, int64_t off, tt_error *err);
/* The bytes of a whole block as elements of another type, in the given shape; the types' sizes times the elements
 * agree. */
TT_HIDDEN tt_node *tt__node_bitcast(tt_node *a, tt_dtype dtype, int rank, const int64_t *len, tt_error *err);
TT_HIDDEN tt_node *tt__node_scatter(tt_node *old, tt_node *index, tt_node *value, tt_error *err);
/* A LIB node over `src`; read its results with tt__node_pick. attr is copied. */
TT_HIDDEN tt_node *tt__node_lib(const tt_lib_attr *attr, tt_node *const *src, int n, tt_error *err);
TT_HIDDEN tt_node *tt__node_pick(tt_node *lib, int k, tt_dtype dtype, int rank, const int64_t *len, tt_error *err);

/* A CALL node over the values of its operands. Takes `call` (slab memory of call->size bytes), also when it fails. */
TT_HIDDEN tt_node *tt__node_call(tt_kernel_call *call, tt_node *const *src, tt_error *err);

/* Is a power of this exponent, a number of Python's, made of products: a square times its base, or squared? */
TT_HIDDEN bool tt__power_is_products(double exponent, tt_dtype t);

/* The same, taking the holds on the operands; NULL in is NULL out, so that a chain is checked once (build.c). */
TT_HIDDEN tt_node *tt__node_take1(tt_op op, tt_dtype dtype, tt_node *a, tt_error *err);
TT_HIDDEN tt_node *tt__node_take2(tt_op op, tt_dtype dtype, tt_node *a, tt_node *b, tt_error *err);
TT_HIDDEN tt_node *tt__node_take_where(tt_node *mask, tt_node *a, tt_node *b, tt_error *err);
TT_HIDDEN tt_node *tt__node_take_cast(tt_node *a, tt_dtype dtype, tt_error *err);

/* ---- arrays (array.c) */
/* A new array over a new storage whose value is `n` (borrowed): C order, n's shape. May flush. */
TT_HIDDEN tt_array *tt__array_of(tt_node *n, tt_error *err);
/* A view on a's storage. */
TT_HIDDEN tt_array *tt__array_view(tt_array *a, int rank, const int64_t *len, const int64_t *step, int64_t off,
                                   tt_error *err);
/* The node that reads this array now (dense, shape of the array). */
TT_HIDDEN tt_node *tt__array_node(tt_array *a, tt_error *err);
/* Evaluate what arrays, none of them NULL, are parts of. */
TT_HIDDEN tt_code tt__arrays_evaluate(tt_array *const *array, int n, tt_error *err);
/* The same, broadcast to a shape that a's shape is known to fit. */
TT_HIDDEN tt_node *tt__array_node_as(tt_array *a, int rank, const int64_t *len, tt_error *err);
/* See tt_adopt; `device`: where the memory is. */
TT_HIDDEN tt_code tt__array_adopt(int device, tt_dtype dtype, int rank, const int64_t *len, void *data,
                                  const int64_t *stride, bool readonly, void (*drop)(void *), void *ctx, tt_array **out,
                                  tt_error *err);
/* Whether the view is in C (or Fortran) order without gaps; axes of length 1 do not count. */
TT_HIDDEN bool tt__array_is_c(tt_array *a);
TT_HIDDEN bool tt__array_is_f(tt_array *a);
/* Write `value` (exactly a's shape and dtype) through the view `a`. TT_EVALUE "assignment destination is read-only".
 * May flush. */
TT_HIDDEN tt_code tt__array_store(tt_array *a, tt_node *value, tt_error *err);
TT_HIDDEN tt_code tt__array_check_writable(const tt_array *a, tt_error *err);
/* The storage's value becomes `n` (takes the hold), a value of the same shape. Never flushes. TT_EVALUE: the storage
** was put on another device. */
TT_HIDDEN tt_code tt__storage_put(tt_storage *s, tt_node *n, tt_error *err);
/* Storages themselves (alias.c): a new one, not held yet; an array over one, which lets go of it when it fails; one
** hold less; the value becomes `n` (takes the hold), and nobody else is told. */
TT_HIDDEN tt_storage *tt__storage_new(tt_node *n, tt_error *err);
TT_HIDDEN tt_array *tt__storage_array(tt_storage *s, int rank, const int64_t *len, const int64_t *step, int64_t off,
                                      tt_error *err);
TT_HIDDEN void tt__storage_release(tt_storage *s);
TT_HIDDEN void tt__storage_become(tt_storage *s, tt_node *n);
/* The least and most of an array of integers, 0 for none of them; or, if that is at hand sooner and in [-len, len), of
** a larger array that it is a part of. Evaluates it. Memory remembers them. */
TT_HIDDEN tt_code tt__array_range(tt_array *index, int64_t len, int64_t *least, int64_t *most, tt_error *err);
/* Scatter through flat storage indices (int64 node, in range, equal shape with value). */
TT_HIDDEN tt_code tt__array_scatter(tt_array *a, tt_node *index, tt_node *value, tt_error *err);
/* Evaluate and borrow: element (0,0,..) of a dense, C-order copy or of the very memory. *hold keeps it alive
 * (tt__buffer_release). */
TT_HIDDEN tt_code tt__array_peek_dense(tt_array *a, const void **data, tt_buffer **hold, tt_error *err);

/* ---- devices (device.c) */
/* The array's elements as an array that was put on the device `id`; itself when it is there already. */
TT_HIDDEN tt_code tt__array_to(tt_array *a, int id, tt_array **out, tt_error *err);
/* A pending value that nobody put anywhere, put on a device; takes the hold on it. */
TT_HIDDEN tt_node *tt__node_at(tt_node *value, int id, tt_error *err);
/* Where the array was put, or else where its elements lie or would come to lie. Evaluates nothing. */
TT_HIDDEN int tt__array_device(tt_array *a);
/* Do its elements lie on the host, or come to, so that nobody waits for a device who looks? Evaluates nothing. */
TT_HIDDEN bool tt__array_at_hand(tt_array *a);
/* Fill err for a node whose operands were put on two devices: TT_EVALUE. */
TT_HIDDEN tt_code tt__fail_torn(const tt_node *n, tt_error *err);

/* ---- shapes (shape.c) */
/* Product of len; TT_EVALUE for negative lengths ("negative dimensions are not allowed"), and for more than INT64_MAX
 * elements or bytes. */
TT_HIDDEN tt_code tt__shape_size(int rank, const int64_t *len, tt_dtype dtype, int64_t *size, tt_error *err);
TT_HIDDEN void tt__shape_steps(int rank, const int64_t *len, int64_t *step); /* C order */
/* Do the elements lie in C's order, one behind the other? Axes of length 1 may have any step. */
static inline bool tt__shape_is_c(int rank, const int64_t *len, const int64_t *step) {
  int64_t run = 1;
  for (int k = rank; k-- > 0; run *= len[k])
    if (len[k] != 1 && step[k] != run) return false;
  return true;
}
/* (a call to memcmp costs more than the few lengths that shapes have) */
static inline bool tt__shape_same(int rank, const int64_t *a, const int64_t *b) {
  while (rank-- > 0)
    if (a[rank] != b[rank]) return false;
  return true;
}
/* NumPy's broadcast of `n` shapes; "operands could not be broadcast together with shapes (2,3) (4,) ". */
TT_HIDDEN tt_code tt__shape_broadcast(int n, const int *rank, const int64_t *const *len, int *out_rank,
                                      int64_t *out_len, tt_error *err);
/* The same in the words of NumPy's broadcast object: "shape mismatch: objects cannot be broadcast ...". */
TT_HIDDEN tt_code tt__shape_common(int64_t n, const int *rank, const int64_t *const *len, int *out_rank, int64_t *out,
                                   tt_error *err);
/* Axis in [-rank, rank) to [0, rank): TT_EAXIS "axis 3 is out of bounds for array of dimension 2". */
TT_HIDDEN tt_code tt__shape_axis(int64_t axis, int rank, int *out, tt_error *err);
/* "(2,3)" as NumPy prints shapes in errors. */
TT_HIDDEN void tt__shape_text(int rank, const int64_t *len, char *out, size_t size);
/* "(2, 3)" as Python prints tuples. */
TT_HIDDEN void tt__shape_tuple(int rank, const int64_t *len, char *out, size_t size);
/* Steps for a reshape without a copy: true when the layout permits. */
TT_HIDDEN bool tt__shape_reshape(int rank, const int64_t *len, const int64_t *step, int new_rank,
                                 const int64_t *new_len, int64_t *new_step);

/* ---- promotion (promote.c, scalar.c): weak scalars and result types */
/* Any argument as an array: arrays as they are (one more hold), scalars in `hint` or their own default type. */
TT_HIDDEN tt_code tt__value_array(const tt_value *v, tt_dtype hint, tt_array **out, tt_error *err);
/* The scalar in `dtype`; NEP 50 range check for Python ints (TT_EOVERFLOW), TT_ETYPE for what cannot be converted. */
TT_HIDDEN tt_code tt__value_scalar(const tt_value *v, tt_dtype dtype, tt_scalar *out, tt_error *err);
/* Whether a TT_V_INT or TT_V_UINT lies in the range of an integer type. */
TT_HIDDEN bool tt__int_fits(const tt_value *v, tt_dtype dtype);
/* Do Python's integers among v[n] fit the type in which is computed? That is asked before any cast of the others. */
TT_HIDDEN tt_code tt__check_whole_numbers(const tt_value *v, int n, tt_dtype dtype, tt_error *err);
/* NumPy's result_type of arrays and weak scalars. */
TT_HIDDEN tt_code tt__result_type(const tt_value *arg, int n, tt_dtype *out, tt_error *err);
/* The dtype a scalar has on its own: bool, int64 (uint64), float64, complex128; TT_DTYPE_NONE for other values. */
TT_HIDDEN tt_dtype tt__value_dtype(const tt_value *v);
/* Any number as any type, wrapping and truncating as a C cast of an array element would: never fails for numbers. */
TT_HIDDEN tt_scalar tt__scalar_from(const tt_value *v, tt_dtype dtype);
/* The element at `p` as a value: bool, int, uint (above INT64_MAX), float or complex. */
TT_HIDDEN tt_value tt__scalar_load(tt_dtype dtype, const void *p);
/* "same_kind" casting rule: may a value of `from` be stored into `to` by an out= or in-place operator? */
TT_HIDDEN bool tt__can_cast_same_kind(tt_dtype from, tt_dtype to);
/* The same by any of NumPy's rules. */
TT_HIDDEN tt_code tt__can_cast(tt_dtype from, tt_dtype to, const char *rule, bool *ok, tt_error *err);

/* ---- the array-level operations behind the public functions of the same name (no locking here) */
TT_HIDDEN tt_code tt__apply(tt_op op, const tt_value *arg, int narg, const tt_apply_options *options, tt_array **out,
                            tt_error *err);
TT_HIDDEN tt_code tt__reduce(tt_red red, tt_array *a, uint64_t axes, bool keepdims, tt_array **out,
                             tt_error *err); /* accumulates in a's dtype */
TT_HIDDEN tt_code tt__transpose(tt_array *a, const int *axes, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__reshape(tt_array *a, int rank, const int64_t *len, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__broadcast_to(tt_array *a, int rank, const int64_t *len, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__get(tt_array *a, const tt_value *index, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__get_item(tt_array *a, const tt_value *index, tt_value *out, tt_error *err); /* tt__item of it */
TT_HIDDEN tt_code tt__set(tt_array *a, const tt_value *index, const tt_value *value, tt_error *err);
TT_HIDDEN tt_code tt__cast(tt_array *a, tt_dtype dtype, bool copy, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__copy(tt_array *a, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__empty(tt_dtype dtype, int rank, const int64_t *len, tt_array **out, tt_error *err);
TT_HIDDEN tt_code tt__arange(tt_dtype dtype, const tt_value *start, const tt_value *step, int64_t n, tt_array **out,
                             tt_error *err);
TT_HIDDEN tt_code tt__full(tt_dtype dtype, int rank, const int64_t *len, const tt_value *value, tt_array **out,
                           tt_error *err);
TT_HIDDEN void tt__array_release(tt_array *a);
/* Let go of the node that reads the view (array.c keeps it). */
TT_HIDDEN void tt__array_forget(tt_array *a);
TT_HIDDEN tt_array *tt__array_retain(tt_array *a);

#endif
