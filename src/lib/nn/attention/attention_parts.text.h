/*
** What parts of a walk have made of a tile (attention.text.h, PARTS), put together in their order. A thread makes one
** element. T is an element, S what is summed; STORE(x), EXP(x) and LOG(x) are as there.
*/
#define ENDLESS ((S)tt__from_f32(0x7f800000u))
#define NEVER (-ENDLESS)

typedef struct attention_parts_args {
  const TT_GLOBAL S *part;                  /* [parts, rows, step] */
  TT_GLOBAL T *to;                          /* [rows, columns], or NULL */
  TT_GLOBAL S *lse;                         /* (forward) of each row, or NULL */
  tt_i64 rows, columns, step, first, parts; /* first: of the columns of a part's rows */
} attention_parts_args;

/* Shares that each part has of its own sum. */
TT_KERNEL(attention_meet, attention_parts_args, 128) {
  const tt_i64 columns = a.columns > 0 ? a.columns : 1, all = a.rows * columns;
  for (tt_i64 i = TT_BLOCK * (tt_i64)128 + TT_THREAD; i < all; i += TT_BLOCKS * (tt_i64)128) {
    const tt_i64 row = i / columns, column = i % columns;
    const TT_GLOBAL S *at = a.part + row * a.step;
    S top = NEVER, sum = 0, x = 0;
    for (tt_i64 p = 0; p < a.parts; p++) {
      const S y = at[p * a.rows * a.step + a.columns];
      top = y > top ? y : top;
    }
    const S from = top == NEVER ? 0 : top;
    for (tt_i64 p = 0; p < a.parts; p++) {
      const TT_GLOBAL S *of = at + p * a.rows * a.step;
      const S fade = EXP(of[a.columns] - from);
      sum += of[a.columns + 1] * fade;
      if (a.columns > 0) x += of[column] * fade;
    }
    if (a.lse && column == 0) a.lse[row] = sum == 0 ? NEVER : top + LOG(sum);
    if (a.to && a.columns > 0) a.to[i] = STORE(x * (sum == 0 ? 0 : 1 / sum));
  }
}

/* Sums. */
TT_KERNEL(attention_add, attention_parts_args, 128) {
  const tt_i64 all = a.rows * a.columns;
  for (tt_i64 i = TT_BLOCK * (tt_i64)128 + TT_THREAD; i < all; i += TT_BLOCKS * (tt_i64)128) {
    const TT_GLOBAL S *at = a.part + i / a.columns * a.step + a.first + i % a.columns;
    S x = 0;
    for (tt_i64 p = 0; p < a.parts; p++) x += at[p * a.rows * a.step];
    a.to[i] = STORE(x);
  }
}
