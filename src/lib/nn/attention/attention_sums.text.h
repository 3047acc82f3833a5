/*
** What attention's kernels for the way back read of each query: its cotangent, lse, and the sum of the cotangent times
** the result. A thread makes one row. Specialised by
**   T, SIZE   an element of the cotangent and the result      LOAD(x)   one as a float32
*/
typedef struct attention_sums_args {
  const TT_GLOBAL T *go; /* [rows, 2 deep]: cotangents beside results */
  const TT_GLOBAL tt_f32 *lse;
  TT_GLOBAL tt_f32 *to; /* [rows, deep + 2] */
  tt_i64 rows, deep;
} attention_sums_args;

TT_KERNEL(attention_sums, attention_sums_args, 128) {
  for (tt_i64 i = TT_BLOCK * 128 + TT_THREAD; i < a.rows; i += TT_BLOCKS * (tt_i64)128) {
    const TT_GLOBAL T *g = a.go + i * 2 * a.deep;
    TT_GLOBAL tt_f32 *to = a.to + i * (a.deep + 2);
    tt_f32 sum = 0;
    for (tt_i64 j = 0; j < a.deep; j++) {
      T x = g[j], y = g[a.deep + j];
      to[j] = LOAD(x);
      sum += to[j] * LOAD(y);
    }
    to[a.deep] = a.lse[i];
    to[a.deep + 1] = sum;
  }
}
