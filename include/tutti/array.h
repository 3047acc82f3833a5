/*
** Arrays: NumPy's semantics, recorded lazily, run when somebody looks.
**
** A tt_array is a view on shared storage: slices, transposes and reshapes alias,
** writes through one view are seen by all. Functions that make an array give the
** caller one hold in `*out`; give it back with tt_release. On failure *out is NULL.
** Every function is thread-safe; an array may be used from several threads.
** `err` may be NULL everywhere.
*/
#ifndef TUTTI_ARRAY_H
#define TUTTI_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/status.h"
#include "tutti/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_array tt_array;

/* ---- values: what functions take besides arrays */

typedef enum tt_tag {
  TT_V_MISSING, /* not given: the function's default */
  TT_V_NONE,    /* Python's None; np.newaxis in an index */
  TT_V_BOOL,
  TT_V_INT,
  TT_V_UINT, /* integers above INT64_MAX */
  TT_V_FLOAT,
  TT_V_COMPLEX,
  TT_V_STRING,
  TT_V_DTYPE,
  TT_V_ARRAY,
  TT_V_TUPLE, /* tuples and lists */
  TT_V_SLICE,
  TT_V_ELLIPSIS,
  TT_V_NUMBER /* for the functions of numbers alone */
} tt_tag;

/* An element on its own: its bytes and their type. */
typedef struct tt_number {
  uint64_t bits[2];
  tt_dtype dtype;
} tt_number;

typedef struct tt_value tt_value;
struct tt_value {
  tt_tag tag;
  union {
    bool b;
    int64_t i;
    uint64_t u;
    double f;
    tt_c128 z;
    const char *s;
    tt_dtype dtype;
    tt_array *array; /* borrowed in arguments */
    const tt_number *number;
    struct {
      const tt_value *item;
      int64_t n;
    } tuple;
    struct {
      int64_t start, stop, step;
      bool has_start, has_stop, has_step;
    } slice;
  } as;
};

static inline tt_value tt_v_int(int64_t i) {
  tt_value v = {TT_V_INT, {0}};
  v.as.i = i;
  return v;
}
static inline tt_value tt_v_float(double f) {
  tt_value v = {TT_V_FLOAT, {0}};
  v.as.f = f;
  return v;
}
static inline tt_value tt_v_array(tt_array *a) {
  tt_value v = {TT_V_ARRAY, {0}};
  v.as.array = a;
  return v;
}
static inline tt_value tt_v_number(const tt_number *x) {
  tt_value v = {TT_V_NUMBER, {0}};
  v.as.number = x;
  return v;
}

/* ---- making arrays (nothing is computed yet) */

/* Uninitialised array of `rank` axes; TT_EVALUE for negative lengths or sizes beyond int64. */
TT_API tt_code tt_empty(tt_dtype dtype, int rank, const int64_t *len, tt_array **out, tt_error *err);
/* The same, every element `value`, cast as assignment does; TT_EOVERFLOW for a Python integer that does not fit. */
TT_API tt_code tt_full(tt_dtype dtype, int rank, const int64_t *len, tt_value value, tt_array **out, tt_error *err);
/* start, start + step, ...: n elements. */
TT_API tt_code tt_arange(tt_dtype dtype, tt_value start, tt_value step, int64_t n, tt_array **out, tt_error *err);
/* A copy of caller's memory: element (i,j,..) lies at data + i*stride[0] + ... (bytes; stride NULL: C order). Its axes
 * lie in the order of theirs: a copy of columns has columns. */
TT_API tt_code tt_from_data(tt_dtype dtype, int rank, const int64_t *len, const void *data, const int64_t *stride,
                            tt_array **out, tt_error *err);
/* The same of rows that lie apart, each in C order without gaps: row[k] is element (k,0,..), rank is at least 1. */
TT_API tt_code tt_from_rows(tt_dtype dtype, int rank, const int64_t *len, const void *const *row, tt_array **out,
                            tt_error *err);
/*
** Take memory without a copy: the array owns it and calls drop(ctx) once, when the last user is gone (at once on
** failure: never called then, the caller keeps it). Strides in bytes, multiples of the element size (else TT_EVALUE).
** readonly: writes through tutti go to a copy or are refused, the memory never changes.
*/
TT_API tt_code tt_adopt(tt_dtype dtype, int rank, const int64_t *len, void *data, const int64_t *stride, bool readonly,
                        void (*drop)(void *ctx), void *ctx, tt_array **out, tt_error *err);
/* One more hold on the same array. */
TT_API tt_array *tt_retain(tt_array *a);
/* Drop the caller's hold and set *a to NULL. NULL and *a == NULL are allowed. */
TT_API void tt_release(tt_array **a);

/* ---- asking (never evaluates) */
/* The type of its elements. */
TT_API tt_dtype tt_array_dtype(const tt_array *a);
/* How many axes it has: 0 to TT_MAX_RANK. */
TT_API int tt_array_rank(const tt_array *a);
/* The length of each axis, [rank]; valid as long as the array. */
TT_API const int64_t *tt_array_len(const tt_array *a);
/* Elements from one to the next along each axis, [rank]; valid as long as the array. */
TT_API const int64_t *tt_array_step(const tt_array *a);
/* Of element (0,0,...) in what it is a view of, in elements. */
TT_API int64_t tt_array_offset(const tt_array *a);
/* How many elements it has: the product of the lengths. */
TT_API int64_t tt_array_size(const tt_array *a);
/* Are writes through this view refused? */
TT_API bool tt_array_is_readonly(const tt_array *a);
/* Does it lie in C order, without gaps? So do arrays of no element and of one. */
TT_API bool tt_array_is_contiguous(const tt_array *a);
/* Does it lie in Fortran's order, without gaps? */
TT_API bool tt_array_is_f_contiguous(const tt_array *a);
/* Are the two views of one memory, whether or not they overlap there? */
TT_API bool tt_array_shares(const tt_array *a, const tt_array *b);
/*
** Do two arrays have a byte of memory in common? max_work: 0 compares bounds only (and may say yes where they do
** not), a positive number is how many steps a search may take (TT_EHARD "Exceeded max_work" beyond), -1: any number.
*/
TT_API tt_code tt_array_overlaps(tt_array *a, tt_array *b, int64_t max_work, bool *out, tt_error *err);
/* Bytes from one element to the next along each axis, in the memory that the array is a view of. */
TT_API void tt_array_stride(const tt_array *a, int64_t *stride);
/* Do its values lie in memory already, so that looking at them computes nothing? */
TT_API bool tt_array_is_evaluated(const tt_array *a);
/* Refuse writes through this view, or allow them; other views of the memory stay as they are. */
TT_API void tt_array_set_readonly(tt_array *a, bool readonly);

/* ---- looking (evaluates) */

/* Evaluate these arrays, together: what they share is computed once. */
TT_API tt_code tt_eval(tt_array *const *arrays, int n, tt_error *err);
/*
** Borrow the memory of an array, evaluated: *data is element (0,0,...), steps as tt_array_step. It never changes under
** the borrower: later writes go elsewhere. Give back with tt_unpeek(hold).
*/
TT_API tt_code tt_peek(tt_array *a, const void **data, void **hold, tt_error *err);
/* Give back what tt_peek borrowed; its memory must not be looked at any more. NULL is allowed. */
TT_API void tt_unpeek(void *hold);
/* Copy out, C order. `size` is the room in bytes; TT_EVALUE if it is too small. */
TT_API tt_code tt_read(tt_array *a, void *data, size_t size, tt_error *err);
/* A one-element array as a scalar value (bool, int, uint, float or complex). TT_EVALUE for other sizes. */
TT_API tt_code tt_item(tt_array *a, tt_value *out, tt_error *err);

/* ---- elementwise */

typedef struct tt_apply_options {
  tt_array *out;   /* write into this array (broadcast of operands must fit), or NULL */
  tt_array *where; /* bool; elements where it is false keep `out`'s value (uninitialised without out), or NULL */
  tt_dtype dtype;  /* compute in this type, or TT_DTYPE_NONE */
  /* NumPy's rule for operands and `out`: "no", "equiv", "safe", "same_kind", "unsafe"; NULL: "same_kind". */
  const char *casting;
} tt_apply_options;

/*
** One elementwise op over arrays and Python-like scalars (weak: NEP 50), with broadcasting. `options` may be NULL.
** With options->out, *out is a new hold on it, which who does not want it need not take: `out` may be NULL then.
** TT_EVALUE "operands could not be broadcast together with shapes ...", TT_ETYPE for unsupported types,
** TT_EOVERFLOW "Python integer 300 out of bounds for uint8".
*/
TT_API tt_code tt_apply(tt_op op, const tt_value *arg, int narg, const tt_apply_options *options, tt_array **out,
                        tt_error *err);
/* The op of a name ("add" -> TT_ADD); TT_OP_COUNT when there is none. */
TT_API tt_op tt_op_named(const char *name);

/* ---- views (alias the same storage) */
/* The axes in another order; `axes` NULL: reversed. TT_EVALUE when they are no permutation. */
TT_API tt_code tt_transpose(tt_array *a, const int *axes /* NULL: reversed */, tt_array **out, tt_error *err);
/* One -1 allowed. A view when the layout permits, else a copy. */
TT_API tt_code tt_reshape(tt_array *a, int rank, const int64_t *len, tt_array **out, tt_error *err);
/* Read-only view with zero steps. */
TT_API tt_code tt_broadcast_to(tt_array *a, int rank, const int64_t *len, tt_array **out, tt_error *err);
/* a[index]: index is a value or a tuple of ints, slices, None, Ellipsis, integer arrays, boolean arrays. View if
 * basic. */
TT_API tt_code tt_get(tt_array *a, tt_value index, tt_array **out, tt_error *err);
/* tt_item of a[index], without an array for it where the element lies in memory. */
TT_API tt_code tt_get_item(tt_array *a, tt_value index, tt_value *out, tt_error *err);
/* a[index] = value (array or scalar, broadcast, cast as NumPy's assignment does). */
TT_API tt_code tt_set(tt_array *a, tt_value index, tt_value value, tt_error *err);
/* astype: a copy in another type that lies as `a` does (no copy when `copy` is false and the type is the same). */
TT_API tt_code tt_cast(tt_array *a, tt_dtype dtype, bool copy, tt_array **out, tt_error *err);
/* May a value be cast so under NumPy's rule "no", "equiv", "safe", "same_kind" or "unsafe"? TT_EVALUE for another
 * word. */
TT_API tt_code tt_can_cast(tt_dtype from, tt_dtype to, const char *casting, bool *allowed, tt_error *err);
/* A contiguous copy. */
TT_API tt_code tt_copy(tt_array *a, tt_array **out, tt_error *err);
/* A copy in a type that lies in an order: 'C', 'F', 'A' (Fortran's if `a` lies so and not in C's), 'K' (as `a`). */
TT_API tt_code tt_copy_as(tt_array *a, tt_dtype dtype, char order, tt_array **out, tt_error *err);

/* ---- single elements, without an array for each */

/*
** Functions that give false have done nothing: the element is pending or elsewhere, the index is no such one, or the
** op needs more than its loop. Then tt_get, tt_set and tt_apply (of tt_number_array) give the answer, or say what is
** wrong.
*/
/* Element at[0], at[1], ... of an array of n axes, where it lies in the host's memory. */
TT_API bool tt_number_get(tt_array *a, int n, const int64_t *at, tt_number *out);
/* Write it, cast as tt_set does; `value` is a number or one of Python's. */
TT_API bool tt_number_set(tt_array *a, int n, const int64_t *at, const tt_value *value);
/* One elementwise op of numbers, and of Python's numbers beside them (weak: NEP 50), as tt_apply's on arrays of rank
 * 0. */
TT_API bool tt_number_apply(tt_op op, const tt_value *arg, int n, tt_number *out);
/* As tt_item has it. */
TT_API tt_value tt_number_value(const tt_number *x);
/* An array of rank 0, read-only. */
TT_API tt_code tt_number_array(const tt_number *x, tt_array **out, tt_error *err);

/* ---- everything else, by name */

/*
** Call a function of functions.def: sum, concatenate, einsum, linalg.solve, random.normal ... The signature tells what
** it takes; arg[k] is the k-th parameter in the signature's order; trailing ones may be left out (or TT_V_MISSING).
** Results: out[0..result->n), at most `room`; 8 is enough but for functions that give an array per argument or section
** (split, unstack, meshgrid ...). When there are more, the call fails with TT_EVALUE and result->n says how many there
** would be.
*/
typedef struct tt_result {
  int n;
  bool scalar; /* out[0] is a rank-0 array that a binding should hand on as a plain scalar */
  bool tuple;  /* a tuple even when n is 1 */
} tt_result;
/*
** Call row `name` of the table with `narg` values, in the signature's order. TT_EVALUE for a name that is none and for
** too many or missing arguments; else what the function itself fails with. On failure no result is left in `out`.
*/
TT_API tt_code tt_call(const char *name, const tt_value *arg, int narg, tt_array **out, int room, tt_result *result,
                       tt_error *err);

/* The table behind tt_call, for bindings and help: row k, or NULL after the last. */
typedef struct tt_function_info {
  const char *name;      /* "linalg.solve": dots are submodules */
  const char *signature; /* "a:array, b:array"; see functions.def */
  const char *doc;
} tt_function_info;
/* Row k of the table, valid for the life of the process, or NULL after the last. */
TT_API const tt_function_info *tt_function(int k);
/* tt_call of row k, for who calls it often: no name is looked up. */
TT_API tt_code tt_call_row(int k, const tt_value *arg, int narg, tt_array **out, int room, tt_result *result,
                           tt_error *err);

/*
** NumPy's ufuncs among the ops and functions: number k, or NULL after the last. Their methods are the rows
** "ufunc.reduce", "ufunc.accumulate", "ufunc.reduceat", "ufunc.outer" and "ufunc.at", which take the name first, and
** "ufunc.call" is the function itself with all of NumPy's keywords.
*/
typedef struct tt_ufunc_info {
  const char *name;
  tt_op op; /* TT_OP_COUNT: a row of the function table */
  int nin, nout;
  tt_value identity;     /* what a fold of nothing is; TT_V_NONE: there is none */
  const char *signature; /* the core axes of one that is not elementwise ("(n),(n)->()"), or NULL */
  bool has_exponent;     /* the last operand (int32, int64) or result (int32) is a whole number in every type */
} tt_ufunc_info;
/* Ufunc k, valid for the life of the process, or NULL after the last. */
TT_API const tt_ufunc_info *tt_ufunc(int k);
/* Does it compute in this type, and what comes out then? */
TT_API bool tt_ufunc_loop(const tt_ufunc_info *u, tt_dtype operand, tt_dtype *result);

/* NumPy's matmul: (..., n, k) by (..., k, m), vectors too. TT_EVALUE for shapes that do not fit. */
TT_API tt_code tt_matmul(tt_array *a, tt_array *b, tt_array **out, tt_error *err);
/* The sum along an axis, or of all (INT_MIN), in NumPy's type for it. TT_EAXIS for an axis that is none. */
TT_API tt_code tt_sum(tt_array *a, int axis /* INT_MIN: all */, tt_array **out, tt_error *err);

#ifdef __cplusplus
}
#endif
#endif
