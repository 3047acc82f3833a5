/*
** Tiles that need to know what all tiles before them come to, in one launch. Each posts its own sum; groups of tiles
** post what they and all before them come to; a tile looks at the sums of its group and at the group before.
**
** A tile's work can be done in two turns, sums some tiles ahead of the rest: then the rest finds all messages there,
** and its elements in the cache. Specialised by
**   A         what is added up, of 4 * WORDS bytes      OP(x, y)  combine, x before y      START  any value of A
**   ROUNDS    of a warp of tiles: a group
*/
#define GROUP (ROUNDS * WARP)

#ifdef COMPLEX
TT_FN A complex_make(COMPLEX re) {
  A z;
  z.re = re;
  z.im = 0;
  return z;
}
TT_FN A complex_add(A x, A y) {
  x.re += y.re;
  x.im += y.im;
  return x;
}
TT_FN A complex_mul(A x, A y) {
  A z;
  z.re = x.re * y.re - x.im * y.im;
  z.im = x.re * y.im + x.im * y.re;
  return z;
}
#endif

TT_FN A op(A x, A y) { return OP(x, y); }

typedef union packed {
  A value;
  tt_u32 word[WORDS];
} packed;

TT_FN A warp_read(A x, tt_u32 lane) {
  packed p;
  p.value = x;
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) p.word[i] = TT_WARP_READ(p.word[i], lane);
  return p.value;
}

TT_FN A warp_up(A x, tt_u32 by) {
  packed p;
  p.value = x;
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) p.word[i] = TT_WARP_UP(p.word[i], by);
  return p.value;
}

/* Each lane's value combined with those of all lanes before it. */
TT_FN A warp_scan(A x) {
  TT_UNROLLED
  for (tt_u32 by = 1; by < WARP; by *= 2) {
    A y = warp_up(x, by);
    if (LANE >= by) x = op(y, x);
  }
  return x;
}

#ifdef ROUNDS
/* What a block does in its turn: the sum of a tile, or the rest of its work. */
typedef struct turn {
  int sums;
  tt_u32 tile;
} turn;

/* First `ahead` sums, then a sum and the rest of a tile by turns, then the rest of the last tiles. */
TT_FN turn turn_of(tt_u32 number, tt_u32 tiles, tt_u32 ahead) {
  turn now;
  const tt_u32 k = number - ahead, both = 2 * (tiles - ahead);
  now.sums = number < ahead || (ahead > 0 && k < both && k % 2 == 0);
  if (number < ahead)
    now.tile = number;
  else if (ahead == 0)
    now.tile = k;
  else if (k < both)
    now.tile = now.sums ? ahead + k / 2 : k / 2;
  else
    now.tile = tiles - ahead + (k - both);
  return now;
}

/* A message is complete when each of its words is: the upper half says so, the lower half is the value. */
TT_FN void post(TT_GLOBAL tt_u64 *to, A x) {
  packed p;
  p.value = x;
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) TT_POKE(to + i, TT_U64(1) << 32 | p.word[i]);
}

/* A message as it is now, and when it has come. Looking at many before waiting for one takes the time of one look. */
TT_FN void peek(const TT_GLOBAL tt_u64 *from, tt_u64 *w) {
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) w[i] = TT_PEEK(from + i);
}

TT_FN A collect(const TT_GLOBAL tt_u64 *from, tt_u64 *w) {
  packed p;
  TT_UNROLLED
  for (int i = 0; i < WORDS; i++) {
    while (!(w[i] >> 32)) {
      TT_RELAX();
      w[i] = TT_PEEK(from + i);
    }
    p.word[i] = (tt_u32)w[i];
  }
  return p.value;
}

/*
** What lies before tile number m of a group, not both the first of all: `sum` is where the group's sums begin, `before`
** where it posts what it and all groups before come to. The operations have an order that depends on the tile's place
** alone: the sums of the group's tiles before it, a warp at a time, behind the sum of all groups before. Run by one
** warp; every lane has the result.
*/
TT_FN A look_back(const TT_GLOBAL tt_u64 *sum, const TT_GLOBAL tt_u64 *before, tt_u32 m, int is_first) {
  tt_u64 w[ROUNDS][WORDS], wide[WORDS];
  A acc = START;
  if (!is_first) peek(before - WORDS, wide);
  TT_UNROLLED
  for (tt_u32 r = 0; r < ROUNDS; r++)
    if (r * WARP + LANE < m) peek(sum + (r * WARP + LANE) * WORDS, w[r]);
  TT_UNROLLED
  for (tt_u32 r = 0; r < ROUNDS; r++) {
    if (r * WARP >= m) break;
    A x = START;
    if (r * WARP + LANE < m) x = collect(sum + (r * WARP + LANE) * WORDS, w[r]);
    A all = warp_read(warp_scan(x), m - r * WARP < WARP ? m - r * WARP - 1 : WARP - 1);
    acc = r ? op(acc, all) : all;
  }
  if (!is_first) {
    A far = collect(before - WORDS, wide);
    acc = m ? op(far, acc) : far;
  }
  return acc;
}
#endif
