/*
** Products of matrices and vectors, on the matrix product of the library.
*/
#include <string.h>

#include "graph/fn.h"

static tt_array *mismatch(tt_calc *c, int64_t want, int64_t got) {
  return tt__calc_fail(c, TT_EVALUE,
                       "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                       "(n?,k),(k,m?)->(n?,m?) (size %lld is different from %lld)",
                       (long long)got, (long long)want);
}

/* a with its vector made a matrix (a row in front, a column behind) and its batch axes broadcast. */
static tt_array *as_matrices(tt_calc *c, tt_array *a, bool column, int rank, const int64_t *batch) {
  int64_t len[TT_MAX_RANK + 1], step[TT_MAX_RANK + 1];
  int n = a->rank;
  memcpy(len, tt__array_len(a), sizeof *len * (size_t)n);
  memcpy(step, tt__array_step(a), sizeof *step * (size_t)n);
  if (n == 1) {
    len[column ? 1 : 0] = 1;
    step[column ? 1 : 0] = 0;
    len[column ? 0 : 1] = tt__array_len(a)[0];
    step[column ? 0 : 1] = tt__array_step(a)[0];
    n = 2;
  }
  tt_array *m = tt__calc_view(c, a, n, len, step, a->off);
  int64_t whole[TT_MAX_RANK];
  memcpy(whole, batch, sizeof *whole * (size_t)(rank - 2));
  whole[rank - 2] = len[n - 2];
  whole[rank - 1] = len[n - 1];
  return tt__calc_broadcast(c, m, rank, whole);
}

static tt_array *product(tt_calc *c, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  if (a->rank == 0 || b->rank == 0)
    return tt__calc_fail(c, TT_EVALUE,
                         "matmul: Input operand %d does not have enough dimensions (has 0, gufunc core with signature "
                         "(n?,k),(k,m?)->(n?,m?) requires 1)",
                         a->rank == 0 ? 0 : 1);
  tt_dtype type = tt__promote((tt_dtype)a->dtype, (tt_dtype)b->dtype);
  bool row = a->rank == 1, column = b->rank == 1;
  int64_t k = tt__array_len(a)[a->rank - 1], kb = tt__array_len(b)[column ? 0 : b->rank - 2];
  if (k != kb) return mismatch(c, k, kb);
  const int64_t *lens[2] = {tt__array_len(a), tt__array_len(b)};
  int ranks[2] = {row ? 0 : a->rank - 2, column ? 0 : b->rank - 2}, nbatch;
  int64_t len[TT_MAX_RANK + 2];
  if ((c->code = tt__shape_broadcast(2, ranks, lens, &nbatch, len, c->err)) != TT_OK) return NULL;
  tt_array *src[2] = {as_matrices(c, tt__calc_cast(c, a, type), false, nbatch + 2, len),
                      as_matrices(c, tt__calc_cast(c, b, type), true, nbatch + 2, len)};
  if (!src[0] || !src[1]) return NULL;
  len[nbatch] = tt__array_len(src[0])[nbatch];
  len[nbatch + 1] = tt__array_len(src[1])[nbatch + 1];
  tt_lib_attr attr = {.row = tt__lib_row("matmul")};
  tt_array *out = tt__calc_library(c, &attr, src, 2, type, nbatch + 2, len);
  if (!out || (!row && !column)) return out;
  int rank = nbatch;
  if (!row) len[rank++] = len[nbatch];
  if (!column) len[rank++] = len[nbatch + 1];
  return tt__calc_reshape(c, out, rank, len);
}

static tt_array *matmul(tt_calc *c, tt_call_frame *f) {
  return tt__arg_out(c, f, 2, product(c, tt__arg_array(c, f, 0), tt__arg_array(c, f, 1)));
}
TT_HANDLER(matmul)
