/*
** What attention's kernels for the way back read of each query: its cotangent, lse, and the sum of the cotangent times
** the result. A thread makes one row. Specialised by
**   T, SIZE   an element of the cotangent and the result      LOAD(x)   one as a float32
*/
#define AXES 8

/* Matrices of all batches; steps in elements. */
typedef struct matrices {
  const TT_GLOBAL T *data;
  tt_i64 row, column, batch[AXES];
} matrices;

typedef struct attention_sums_args {
  matrices g, o;
  const TT_GLOBAL tt_f32 *lse;
  TT_GLOBAL tt_f32 *to; /* [rows, deep + 2] */
  tt_i64 rows, deep, queries, naxes, len[AXES];
} attention_sums_args;

/* Where row i of all batches begins. */
TT_FN const TT_GLOBAL T *row_of(const attention_sums_args *a, const matrices *m, tt_i64 i) {
  tt_i64 batch = i / a->queries, at = i % a->queries * m->row;
  for (int d = (int)a->naxes - 1; d >= 0; d--) {
    at += batch % a->len[d] * m->batch[d];
    batch /= a->len[d];
  }
  return m->data + at;
}

TT_KERNEL(attention_sums, attention_sums_args, 128) {
  for (tt_i64 i = TT_BLOCK * 128 + TT_THREAD; i < a.rows; i += TT_BLOCKS * (tt_i64)128) {
    const TT_GLOBAL T *g = row_of(&a, &a.g, i), *o = row_of(&a, &a.o, i);
    TT_GLOBAL tt_f32 *to = a.to + i * (a.deep + 2);
    tt_f32 sum = 0;
    for (tt_i64 j = 0; j < a.deep; j++) {
      T x = g[j * a.g.column], y = o[j * a.o.column];
      to[j] = LOAD(x);
      sum += to[j] * LOAD(y);
    }
    to[a.deep] = a.lse[i];
    to[a.deep + 1] = sum;
  }
}
