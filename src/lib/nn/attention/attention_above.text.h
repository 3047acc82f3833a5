/*
** What all kernels of attention share, above them: their arguments, and which scores count. T, S, INDEX and MASK are
** theirs.
*/
#define AXES 8
#define SIDE 64 /* rows of a tile, and of the others */
#define ENDLESS ((S)tt__from_f32(0x7f800000u))
#define NEVER (-ENDLESS)

/* Matrices of all batches; steps in elements. */
typedef struct matrices {
  const TT_GLOBAL void *data;
  tt_i64 row, column, batch[AXES];
} matrices;

typedef struct attention_args {
  matrices q, k, v, mask, g; /* g: cotangents, then two numbers of each query, in S */
  TT_GLOBAL T *o, *dq, *dk, *dv;
  TT_GLOBAL S *lse;
  TT_GLOBAL S
      *numbers; /* (16-bit floats) of all queries the logarithm of the sum, then the sum of the cotangent times o */
  tt_i64 len[AXES];
  tt_i64 queries, keys, tiles, all; /* tiles of rows; queries of all batches */
  tt_i32 width, deep, sides;        /* tiles of columns */
  tt_i32 naxes, causal, parts;      /* a walk is cut into so many, each with results of its own in `part` */
  tt_f64 scale, chance;
  TT_GLOBAL S *part; /* [parts, rows, columns]; forward two numbers follow each row: its largest score, the sum */
  const TT_GLOBAL tt_u64 *key; /* of what is dropped (where DROP is 1), and its chance */
} attention_args;

/* A matrix of a batch. */
typedef struct matrix {
  const TT_GLOBAL void *data;
  INDEX row, column;
} matrix;

TT_FN tt_i64 batch_at(const attention_args *a, const matrices *m, tt_i64 batch) {
  tt_i64 at = 0;
  for (int d = a->naxes - 1; d >= 0; d--) {
    at += batch % a->len[d] * m->batch[d];
    batch /= a->len[d];
  }
  return at;
}

#define MATRIX(m, TYPE) \
  { (const TT_GLOBAL TYPE *)a.m.data + batch_at(&a, &a.m, batch), (INDEX)a.m.row, (INDEX)a.m.column }

/* ---- masks */

/* Are all scores of a tile from this query and this key on what they are? */
TT_FN int is_inner(const attention_args *a, INDEX query, INDEX key) {
  return MASK == 0 && query + SIDE <= (INDEX)a->queries && key + SIDE <= (INDEX)a->keys &&
         (!a->causal || key + SIDE <= query + 1);
}

/* A score after its mask. */
TT_FN S masked(const attention_args *a, const matrix *mask, INDEX query, INDEX key, S s) {
  if (query >= (INDEX)a->queries || key >= (INDEX)a->keys || (a->causal && key > query)) return NEVER;
#if MASK == 1
  return ((const TT_GLOBAL tt_b8 *)mask->data)[query * mask->row + key * mask->column] ? s : NEVER;
#elif MASK == 2
  return s + ((const TT_GLOBAL S *)mask->data)[query * mask->row + key * mask->column];
#else
  return s;
#endif
}

#if MASK == 1
#define MASK_TYPE tt_b8
#else
#define MASK_TYPE S
#endif
