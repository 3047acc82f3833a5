/*
** Any elementwise operation of two operands folded over rows, or applied to places of an array one after the other: the
** methods of NumPy's ufuncs that no reduction and no scan of ours does.
**
** The loops are the interpreter's, which lib/ does not know: run/ registers who finds them.
*/
#ifndef TT_LIB_SCAN_FOLD_H
#define TT_LIB_SCAN_FOLD_H

#include "base/err.h"
#include "ir/dtype.h"
#include "ir/library.h"
#include "ir/ops.h"

/* out[i] = op(a[i], b[i], c[i]) for i < n; `out` may be an operand whose elements are at least as large. */
typedef void (*tt_fold_loop)(void *out, const void *a, const void *b, const void *c, int64_t n);
/* The loop of an op on operands of type `from` (TT_CAST: to `to`), or NULL. */
typedef tt_fold_loop (*tt_fold_find)(tt_op op, tt_dtype from, tt_dtype to);
TT_HIDDEN extern tt_fold_find tt__fold_find;

/* What the rows "fold", "fold_where" and "fold_segments" do over [n][inner] elements, and how. */
typedef struct tt_fold {
  tt_op op;
  tt_dtype dtype; /* of operands and result */
  int64_t n, inner;
} tt_fold;

/* out[inner] = x[0] op x[1] op ...; n > 0. Operations whose order does not matter are folded as a tree that depends on
 * n alone. With `mask` ([n][inner] bytes) only elements where it is 1 count, and the first ones always do. */
TT_HIDDEN tt_code tt__fold_rows(const tt_fold *f, const void *x, const uint8_t *mask, void *out, tt_error *err);
/* out[k] = x[0] op ... op x[k] */
TT_HIDDEN tt_code tt__fold_running(const tt_fold *f, const void *x, void *out, tt_error *err);
/* out[k] = x[at[k]] op ... up to x[at[k + 1]], or x[at[k]] alone where that comes first; the last goes to the end. */
TT_HIDDEN tt_code tt__fold_segments(const tt_fold *f, const void *x, const int64_t *at, int64_t count, void *out,
                                    tt_error *err);

/* a[place[i]] = op(a[place[i]], b[i]), for each i in order; a's elements and b's are rows of `width`. */
typedef struct tt_fold_at {
  tt_op op;
  tt_dtype dtype, compute, result; /* of the array, of the operands, of the op's result */
  int64_t n, width;
} tt_fold_at;

/*
** value[i] is a[place[i]] before; out[i] is a[place[i]] after all of it, so equal places hold equal values. `b` (NULL:
** the op has one operand) has the type `compute`.
*/
TT_HIDDEN tt_code tt__fold_places(const tt_fold_at *f, const void *value, const int64_t *place, const void *b,
                                  void *out, tt_error *err);
/* In the array's own memory. False: the op has no such loop, or a place is out of range; nothing has been done. */
TT_HIDDEN bool tt__fold_into_places(const tt_fold_into *f);
/* out[i] = how many j < i have place[j] == place[i]. */
TT_HIDDEN tt_code tt__fold_turns(const int64_t *place, int64_t n, int64_t *out, tt_error *err);

#endif
