/*
** A calculation: array operations in a row, with one place that owns what they make and one
** error. Every function gives a borrowed array (the calculation holds it until it ends) or
** NULL; NULL operands give NULL, so a chain is checked once, at its end. Under the session lock.
*/
#ifndef TT_FN_COMPOSE_H
#define TT_FN_COMPOSE_H

#include "base/arena.h"
#include "base/vec.h"
#include "fn/function.h"

typedef struct tt_composer {
  tt_code code; /* of the first failure */
  tt_error *err;
  TT_VEC_FEW(tt_array *, 8) held;
  TT_VEC_FEW(tt_buffer *, 4) peeked;
  TT_VEC(tt_array *) looked; /* what was looked at that has a history */
  const char *name;          /* of the function, for messages; or NULL */
  tt_arena scratch;
} tt_composer;

/* Release all that the calculation holds; what it gives away is retained before. */
TT_HIDDEN void tt__compose_end(tt_composer *c);
/* Record a failure; returns NULL. The first one counts. */
TT_HIDDEN tt_array *tt__compose_fail(tt_composer *c, tt_code code, const char *fmt, ...) TT_PRINTF(3, 4);
/* Zeroed memory that lives as long as the calculation; NULL has been recorded. */
TT_HIDDEN void *tt__compose_scratch(tt_composer *c, int64_t n, size_t item);
/* Let the calculation own *made when code is TT_OK, else record the failure. By address, so that the call that makes it
 * may stand in the same argument list. */
TT_HIDDEN tt_array *tt__compose_keep(tt_composer *c, tt_code code, tt_array *const *made);

TT_HIDDEN tt_array *tt__compose_apply(tt_composer *c, tt_op op, const tt_value *arg, int n, tt_dtype dtype);
TT_HIDDEN tt_array *tt__compose_op1(tt_composer *c, tt_op op, tt_array *a);
TT_HIDDEN tt_array *tt__compose_op2(tt_composer *c, tt_op op, tt_array *a, tt_array *b);
/* With a weak scalar. */
TT_HIDDEN tt_array *tt__compose_opi(tt_composer *c, tt_op op, tt_array *a, int64_t i);
TT_HIDDEN tt_array *tt__compose_opf(tt_composer *c, tt_op op, tt_array *a, double f);
TT_HIDDEN tt_array *tt__compose_where(tt_composer *c, tt_array *mask, tt_value a, tt_value b);
/* Of another type for what follows, in the order in which elementwise operations lie. */
TT_HIDDEN tt_array *tt__compose_cast(tt_composer *c, tt_array *a, tt_dtype dtype);
TT_HIDDEN tt_array *tt__compose_reduce(tt_composer *c, tt_red red, tt_array *a, uint64_t axes, bool keepdims);
/* tt__node_once and tt__node_of_all of arrays. */
TT_HIDDEN tt_array *tt__compose_once(tt_composer *c, tt_red red, tt_array *a, uint64_t axes, int64_t *count);
TT_HIDDEN tt_array *tt__compose_of_all(tt_composer *c, tt_red red, tt_array *one, tt_array *a, uint64_t axes);
TT_HIDDEN tt_array *tt__compose_reshape(tt_composer *c, tt_array *a, int rank, const int64_t *len);
TT_HIDDEN tt_array *tt__compose_transpose(tt_composer *c, tt_array *a, const int *axes);
TT_HIDDEN tt_array *tt__compose_broadcast(tt_composer *c, tt_array *a, int rank, const int64_t *len);
TT_HIDDEN tt_array *tt__compose_view(tt_composer *c, tt_array *a, int rank, const int64_t *len, const int64_t *step,
                                     int64_t off);
/* a[start:stop:step] along one axis; bounds already in range. */
TT_HIDDEN tt_array *tt__compose_slice(tt_composer *c, tt_array *a, int axis, int64_t start, int64_t n, int64_t step);
TT_HIDDEN tt_array *tt__compose_get(tt_composer *c, tt_array *a, const tt_value *index);
TT_HIDDEN bool tt__compose_set(tt_composer *c, tt_array *a, tt_value value); /* a[...] = value */
TT_HIDDEN bool tt__compose_set_at(tt_composer *c, tt_array *a, const tt_value *index,
                                  tt_value value); /* a[index] = value */
TT_HIDDEN tt_array *tt__compose_empty(tt_composer *c, tt_dtype dtype, int rank, const int64_t *len);
TT_HIDDEN tt_array *tt__compose_full(tt_composer *c, tt_dtype dtype, int rank, const int64_t *len, tt_value value);
/* int64 0, 1, ... n-1 */
TT_HIDDEN tt_array *tt__compose_iota(tt_composer *c, int64_t n);
TT_HIDDEN tt_array *tt__compose_of_node(tt_composer *c, tt_node *n); /* takes the hold on n; NULL: out of memory */
TT_HIDDEN tt_node *tt__compose_node(tt_composer *c, tt_array *a);    /* one hold for the caller */
/* Result `pick` of a library row over operands, of the given type and shape. */
TT_HIDDEN tt_array *tt__compose_library(tt_composer *c, const tt_lib_attr *attr, tt_array *const *src, int n,
                                        tt_dtype dtype, int rank, const int64_t *len);

/* One result of a library row: what it looks like. */
typedef struct tt_compose_want {
  tt_dtype dtype;
  int rank;
  int64_t len[TT_MAX_RANK];
} tt_compose_want;
/* All results 0..nout-1 of a row with several. False: failure. */
TT_HIDDEN bool tt__compose_library_many(tt_composer *c, const tt_lib_attr *attr, tt_array *const *src, int n,
                                        const tt_compose_want *want, int nout, tt_array **out);

/* ---- spelled in the above */
/* a with a new axis of length 1 before its axis `axis`. */
TT_HIDDEN tt_array *tt__compose_expand(tt_composer *c, tt_array *a, int axis);
/* The axis `from` moved to place `to`. */
TT_HIDDEN tt_array *tt__compose_move(tt_composer *c, tt_array *a, int from, int to);
TT_HIDDEN tt_array *tt__compose_flip(tt_composer *c, tt_array *a, int axis);
/* All elements on one axis, C order; a view where the layout permits. */
TT_HIDDEN tt_array *tt__compose_ravel(tt_composer *c, tt_array *a);
/* A copy in C order that shares nothing; one laid in another order. */
TT_HIDDEN tt_array *tt__compose_copy(tt_composer *c, tt_array *a);
TT_HIDDEN tt_array *tt__compose_copy_in(tt_composer *c, tt_array *a, char order);
/* All elements on one axis, in an order of memory; `copy`: sharing nothing, else a view of what lies so. */
TT_HIDDEN tt_array *tt__compose_flat(tt_composer *c, tt_array *a, char order, bool copy);
/* re + i*im, of one real type. */
TT_HIDDEN tt_array *tt__compose_complex(tt_composer *c, tt_array *re, tt_array *im);
/* n arrays of one rank and type along an axis; other lengths agree. */
TT_HIDDEN tt_array *tt__compose_concat(tt_composer *c, tt_array *const *part, int64_t n, int axis);
/* Elements along one axis at the positions of an integer array; its axes take the place of that axis. */
TT_HIDDEN tt_array *tt__compose_take(tt_composer *c, tt_array *a, tt_array *index, int axis);

/* The elements of the storage behind `a` at flat positions (int64, in range). */
TT_HIDDEN tt_array *tt__compose_gather(tt_composer *c, tt_array *a, tt_array *flat);
/* Elements at places along one axis, line by line; other axes broadcast. `check`: look whether they are in range. */
TT_HIDDEN tt_array *tt__compose_take_lines(tt_composer *c, tt_array *a, tt_array *at, int axis, bool check);

/* ---- looking, for functions whose result's shape depends on data */
/* Evaluate these now, together, so that what is wrong with values is said by this call; not where checks wait. */
TT_HIDDEN bool tt__compose_settle(tt_composer *c, tt_array *const *a, int n);
/* Give a RuntimeWarning where `flag` (bool) holds somewhere. It is computed now, with `result` (or NULL), which comes
 * back. Where checks wait nothing is computed, and nobody warned. */
TT_HIDDEN tt_array *tt__compose_warn_where(tt_composer *c, tt_array *flag, tt_array *result, const char *words);
/* Evaluate and borrow the elements in C order, until the calculation ends. NULL: failure. */
TT_HIDDEN const void *tt__compose_peek(tt_composer *c, tt_array *a);
/* Can one look at the elements without waiting for what a device does? */
TT_HIDDEN bool tt__compose_at_hand(tt_array *a);
/* Let what was computed of `src` while nothing was followed have the derivative of that name in
 * tutti/grad_library.def. */
TT_HIDDEN tt_array *tt__compose_derived(tt_composer *c, const char *name, tt_array *const *src, int n,
                                        tt_array *result);
/* The same with the derivative of a call of a row of the library, of operands and a result that its rule chooses. */
TT_HIDDEN tt_array *tt__compose_derived_call(tt_composer *c, const tt_lib_attr *attr, tt_array *const *src, int n,
                                             tt_array *result);
/* Elements of a function's argument are read as numbers: where they have a history, floats that the function gives
 * without one get a history without a derivative. False: a failure. */
TT_HIDDEN bool tt__compose_look(tt_composer *c, tt_array *a);
/* Give results of a function such a history. */
TT_HIDDEN bool tt__compose_follow_looks(tt_composer *c, tt_array **out, int n);
/* A new array and its memory, to be filled in at once. Floats get a history without a derivative where somebody looked
 * at elements that have one: what is made of them is no constant. */
TT_HIDDEN tt_array *tt__compose_block(tt_composer *c, tt_dtype dtype, int rank, const int64_t *len, void **data);
/* Run a maker of the library (ir/library.h) now over evaluated operands; its results go to out[]. */
TT_HIDDEN bool tt__compose_make(tt_composer *c, const char *name, const tt_lib_attr *attr, tt_array *const *src, int n,
                                tt_array **out);

/* ---- reading arguments of a call; failures are recorded in the calculation */
TT_HIDDEN bool tt__arg_given(const tt_call_frame *f,
                             int k); /* neither missing nor None; k = -1: a parameter that the function lacks */
/* Any array-like argument as an array; Python scalars get their own default type. */
TT_HIDDEN tt_array *tt__arg_array(tt_composer *c, const tt_call_frame *f, int k);
/* As an array of a type: arrays are cast, a Python number must fit it, as one that is stored. */
TT_HIDDEN tt_array *tt__arg_array_of(tt_composer *c, const tt_call_frame *f, int k, tt_dtype dtype);
TT_HIDDEN tt_array *tt__value_as_array(tt_composer *c, const tt_value *v);
/* An argument for an op: scalars stay weak, sequences become arrays. */
TT_HIDDEN tt_value tt__arg_value(tt_composer *c, const tt_call_frame *f, int k);
TT_HIDDEN int64_t tt__arg_int(tt_composer *c, const tt_call_frame *f, int k, int64_t fallback);
TT_HIDDEN double tt__arg_float(tt_composer *c, const tt_call_frame *f, int k, double fallback);
TT_HIDDEN bool tt__arg_bool(tt_composer *c, const tt_call_frame *f, int k, bool fallback);
TT_HIDDEN tt_dtype tt__arg_dtype(tt_composer *c, const tt_call_frame *f, int k, tt_dtype fallback);
TT_HIDDEN const char *tt__arg_string(tt_composer *c, const tt_call_frame *f, int k, const char *fallback);
/* Fail in NumPy's words where the rule does not let an array of one type be cast to another. */
TT_HIDDEN bool tt__compose_may_cast(tt_composer *c, tt_dtype from, tt_dtype to, const char *rule);
/* 'C', 'F', 'A' or 'K'. Of an array, 'A' is resolved; without one (NULL) the caller does. */
TT_HIDDEN char tt__arg_order(tt_composer *c, const tt_call_frame *f, int k, tt_array *a, const char *fallback);
/* Does one array's shape broadcast to another's? */
static inline bool tt__broadcasts_to(tt_array *a, tt_array *to) {
  bool ok = a->rank <= to->rank;
  for (int d = 0; ok && d < a->rank; d++) {
    int64_t n = tt__array_len(a)[d];
    ok = n == 1 || n == tt__array_len(to)[to->rank - a->rank + d];
  }
  return ok;
}
/* The lengths that the transpose has. */
static inline void tt__reverse_axes(int rank, int64_t *len) {
  for (int d = 0; d < rank / 2; d++) {
    int64_t n = len[d];
    len[d] = len[rank - 1 - d];
    len[rank - 1 - d] = n;
  }
}
/* What was made with its axes reversed, because Fortran's order is wanted, the right way round. */
static inline tt_array *tt__compose_turned(tt_composer *c, bool fortran, tt_array *made) {
  return fortran ? tt__compose_transpose(c, made, NULL) : made;
}
/* The elements of a sequence argument as arrays of the calculation; *n of them. "arrays" and variadic parameters. */
TT_HIDDEN tt_array **tt__arg_arrays(tt_composer *c, const tt_call_frame *f, int k, int64_t *n);
/* int or sequence of ints; at most `most`; returns how many. */
TT_HIDDEN int tt__arg_ints(tt_composer *c, const tt_call_frame *f, int k, int64_t *out, int most);
/* A mask argument (where=): an array of bool, or NULL where all take part, as in a failure. Arrays of other types are
 * refused. */
TT_HIDDEN tt_array *tt__arg_mask(tt_composer *c, const tt_call_frame *f, int k);
/* One axis in range, or `fallback` when not given. */
TT_HIDDEN int tt__arg_axis(tt_composer *c, const tt_call_frame *f, int k, int rank, int fallback);
/* None (all axes), an int, or a tuple: a set of axes. "duplicate value in 'axis'" for repeats. */
TT_HIDDEN uint64_t tt__arg_axes(tt_composer *c, const tt_call_frame *f, int k, int rank);
/* Write a result into `out` argument k when it is given ("same_kind" cast, shapes must agree), and give out itself. */
TT_HIDDEN tt_array *tt__arg_out(tt_composer *c, const tt_call_frame *f, int k, tt_array *result);
/* The same of an elementwise function, whose result is broadcast into `out`. */
TT_HIDDEN tt_array *tt__arg_out_spread(tt_composer *c, const tt_call_frame *f, int k, tt_array *result);
/* The same for functions that cast their result to the type of `out` whatever it is: reductions, scans, take. */
TT_HIDDEN tt_array *tt__arg_out_any(tt_composer *c, const tt_call_frame *f, int k, tt_array *result);

#endif
