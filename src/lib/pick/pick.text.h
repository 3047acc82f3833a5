/*
** Results that are as long as the data say. Picking takes one launch, in which tiles tell each other how many they pick
** (lib/back.text.h, above it); repeating takes two rounds: count, then, when the places of all blocks are known, fill.
** Specialised by
**   T, SIZE    the element
**   NONZERO(x)   picked is what is not zero: the elements' places, or with V the values V beside them
**   PRODUCE      (with NONZERO) operands come from a function, VEC at a time (tt_lib_producer)
**   UNIQUE, IS_NAN(x), DIFFERS(x, y), JOIN   the first of each run of equals in sorted elements; JOIN: all NaNs are one
**   THREADS, PLACES_THREADS   of a block; of that of pick_places
**   ITEMS, VEC, RESIDENT   elements of a thread, those it takes at once, threads of a unit
**   LINE, VALUE_LINE       what VEC elements, values are aligned to
**   AHEAD        sums may be ahead of the rest
**   REPEAT       places, as often as tt_i64 counts say
*/
#if defined(NONZERO) || defined(UNIQUE)
#define PICK
#endif

#ifdef PRODUCE
#define LENT PRODUCE_ARGS lent;
#else
#define LENT
#endif

typedef struct pick_args {
  const TT_GLOBAL T *in;
  const TT_GLOBAL tt_i64 *place; /* of the elements before they were sorted, or NULL */
  const TT_GLOBAL void *beside;  /* the values beside what is picked by NONZERO */
  TT_GLOBAL tt_i64 *count; /* how many in all. REPEAT, [blocks + 2]: what each block has, then what lies before it; how
                              many in all; a fault */
  TT_GLOBAL void *value;   /* NULL: only count */
  TT_GLOBAL tt_i64 *start, *index, *inverse; /* NULL: not wanted */
  TT_GLOBAL tt_u32 *ticket;                  /* zero at the start, as are the messages */
  TT_GLOBAL tt_u64 *sum, *before;
  tt_i64 n, blocks;
  tt_i64 m; /* picked in all */
  tt_i64 ahead;
  LENT
} pick_args;

#ifdef PICK
#define WARPS (THREADS / WARP)
#define BLOCK (THREADS * ITEMS)
/* Where the thread's item k lies in its tile. */
#define AT(k) (WARP_NUMBER * (WARP * ITEMS) + (tt_u32)(k) / VEC * (WARP * VEC) + LANE * VEC + (tt_u32)(k) % VEC)

#ifdef UNIQUE
TT_FN int begins(const TT_GLOBAL T *x, tt_i64 i) {
  if (i == 0) return 1;
  if (IS_NAN(x[i])) return !JOIN || !IS_NAN(x[i - 1]);
  return DIFFERS(x[i], x[i - 1]);
}
#define LOOK(i) const int is[1] = {begins(a->in, i)}
#define LOOK_ONE(i) LOOK(i)
#define IS(u) is[u]
#else
#ifndef PRODUCE
/* Operands that lie in memory. */
typedef struct TT_ALIGNED(LINE) lent_t {
  T x[VEC];
} lent_t;
#ifdef V
typedef struct TT_ALIGNED(VALUE_LINE) lent_v {
  V x[VEC];
} lent_v;
#endif
typedef struct lent_value {
  lent_t t;
#ifdef V
  lent_v v;
#endif
} lent_value;
TT_FN lent_value lent_many(const pick_args *a, tt_i64 i) {
  lent_value e;
  e.t = *(const TT_GLOBAL lent_t *)(a->in + i);
#ifdef V
  e.v = *(const TT_GLOBAL lent_v *)((const TT_GLOBAL V *)a->beside + i);
#endif
  return e;
}
TT_FN lent_value lent_one(const pick_args *a, tt_i64 i) {
  lent_value e;
  e.t.x[0] = a->in[i];
#ifdef V
  e.v.x[0] = ((const TT_GLOBAL V *)a->beside)[i];
#endif
  return e;
}
#define LENT_OF(a) (a)
#define PRODUCE lent_many
#define PRODUCE_ONE lent_one
#define PRODUCE_VALUE lent_value
#define PRODUCE_VALUE_ONE lent_value
#define PRODUCE_0(e, u) ((e).t.x[u])
#define PRODUCE_1(e, u) ((e).v.x[u])
#else
#define LENT_OF(a) (&(a)->lent)
#endif
#define LOOK(i) const PRODUCE_VALUE e = PRODUCE(LENT_OF(a), i)
#define LOOK_ONE(i) const PRODUCE_VALUE_ONE e = PRODUCE_ONE(LENT_OF(a), i)
#define IS(u) (NONZERO(PRODUCE_0(e, u)) != 0)
#endif

/* What goes through shared memory to where it belongs: values, or places in the tile. */
#ifdef V
#define KEPT V
#define KEEP(x, u, k) (x)[k] = PRODUCE_1(e, u)
#else
#define KEPT tt_u32
#define KEEP(x, u, k) (x)[k] = AT(k)
#endif

/* Bit k of some words, which a thread has for its items; those of the vector from item k on. */
#define BIT_WORDS ((ITEMS + 31) / 32)
#define BIT(bits, k) ((bits)[(k) / 32] >> (k) % 32 & 1u)
#define VECTOR_BITS(bits, k) ((bits)[(k) / 32] >> (k) % 32 & ((1u << VEC) - 1u))

/* Which of the thread's items are picked, a bit each; `x`: the items, in tiles that are whole. */
TT_FN void picked(const pick_args *a, tt_i64 first, tt_u32 left, tt_u32 *bits, KEPT *x) {
  TT_UNROLLED
  for (int i = 0; i < BIT_WORDS; i++) bits[i] = 0;
  if (left == BLOCK) {
    TT_UNROLLED
    for (int k = 0; k < ITEMS; k += VEC) {
      LOOK(first + AT(k));
      TT_UNROLLED
      for (int u = 0; u < VEC; u++) {
        bits[(k + u) / 32] |= (tt_u32)IS(u) << (k + u) % 32;
        KEEP(x, u, k + u);
      }
    }
  } else {
    TT_ROLLED
    for (int k = 0; k < ITEMS; k++)
      if (AT(k) < left) {
        LOOK_ONE(first + AT(k));
        bits[k / 32] |= (tt_u32)IS(0) << k % 32;
      }
  }
}

/* The sum over the lanes of the warp up to each. */
TT_FN tt_u32 lanes_sum(tt_u32 x) {
  TT_UNROLLED
  for (tt_u32 by = 1; by < WARP; by *= 2) {
    const tt_u32 y = TT_WARP_UP(x, by);
    if (LANE >= by) x += y;
  }
  return x;
}

/* Item k of a tile that is not whole. */
TT_FN KEPT item(const pick_args *a, tt_i64 first, int k) {
#ifdef V
  LOOK_ONE(first + AT(k));
  return PRODUCE_1(e, 0);
#else
  (void)a, (void)first;
  return AT(k);
#endif
}

/* Result r is `x`. */
#ifdef V
#define PUT(r, x) ((TT_GLOBAL V *)a.value)[r] = (x)
#elif defined(NONZERO)
#define PUT(r, x) ((TT_GLOBAL tt_i64 *)a.value)[r] = first + (tt_i64)(x)
#else
#define PUT(r, x)                                    \
  do {                                               \
    const tt_i64 r_ = (r), i_ = first + (tt_i64)(x); \
    ((TT_GLOBAL T *)a.value)[r_] = a.in[i_];         \
    if (a.start) a.start[r_] = i_;                   \
    if (a.index) a.index[r_] = a.place[i_];          \
  } while (0)
#endif

/*
** Where the items of each of a thread's vectors go in its warp: numbers of four vectors in the bytes of a word, as a
** warp picks 128 of them at most. Those of the lanes up to this one, and of all.
*/
#define VECTORS (ITEMS / VEC)
#define NUMBERS ((VECTORS + 3) / 4)
#define NUMBER(words, v) ((words)[(v) / 4] >> (v) % 4 * 8 & 255u)
TT_FN tt_u32 numbers_of(const tt_u32 *bits, tt_u32 *up, tt_u32 *all) {
  tt_u32 sum = 0;
  TT_UNROLLED
  for (int i = 0; i < NUMBERS; i++) up[i] = 0;
  TT_UNROLLED
  for (int v = 0; v < VECTORS; v++) up[v / 4] |= TT_POPCOUNT(VECTOR_BITS(bits, v * VEC)) << v % 4 * 8;
  TT_UNROLLED
  for (int i = 0; i < NUMBERS; i++) {
    up[i] = lanes_sum(up[i]);
    all[i] = TT_WARP_READ(up[i], WARP - 1);
  }
  TT_UNROLLED
  for (int v = 0; v < VECTORS; v++) sum += NUMBER(all, v);
  return sum;
}

TT_KERNEL_OF_MANY(pick, pick_args, THREADS, RESIDENT / THREADS) {
  TT_UNPACK(pick_args);
  TT_SHARED tt_u32 shared_turn, count[WARPS];
  TT_SHARED tt_u64 tile_before;
  TT_SHARED KEPT room[BLOCK];
  const tt_u32 tiles = (tt_u32)a.blocks;
  const turn now = turn_of(TURN(a.ticket, &shared_turn), tiles, (tt_u32)a.ahead);
  const tt_u32 t = now.tile, m = t % GROUP;
  const int closes = m == GROUP - 1 && t + 1 < tiles, posts = now.sums || a.ahead == 0;
  const tt_i64 first = (tt_i64)t * BLOCK;
  const tt_u32 left = a.n - first < BLOCK ? (tt_u32)(a.n - first) : BLOCK;
  TT_GLOBAL tt_u64 *sum = a.sum + (tt_i64)t * WORDS, *before = a.before + (tt_i64)(t / GROUP) * WORDS;
  KEPT x[ITEMS];
  tt_u32 bits[BIT_WORDS], up[NUMBERS], all[NUMBERS];
  if (now.sums && t + 1 == tiles) return; /* nothing comes after it */
#ifdef AHEAD
  if (now.sums) { /* values are not loaded then */
    KEPT none[ITEMS];
    picked(&a, first, left, bits, none);
  } else
#endif
    picked(&a, first, left, bits, x);
  const tt_u32 mine = numbers_of(bits, up, all);
  if (LANE == 0) count[WARP_NUMBER] = mine;
  TT_BARRIER();
  const tt_u32 to = lanes_sum(LANE < WARPS ? count[LANE] : 0), own = TT_WARP_READ(to, WARP - 1);
  if (WARP_NUMBER == 0) {
    tt_u64 y = 0;
    if (posts && t + 1 < tiles && LANE == 0) post(sum, own);
    if (closes || (t > 0 && !now.sums)) {
      y = look_back(sum - m * WORDS, before, m, t < GROUP);
      if (closes && posts && LANE == 0) post(before, y + own);
    }
    if (LANE == 0) tile_before = y;
    if (LANE == 0 && t + 1 == tiles) a.count[0] = (tt_i64)(y + own);
  }
  if (now.sums || !a.value) return;
  tt_u32 r = TT_WARP_READ(to, WARP_NUMBER) - count[WARP_NUMBER];
#ifdef UNIQUE
  const tt_u32 warp_before = r;
#endif
  if (left == BLOCK) {
    TT_UNROLLED
    for (int v = 0; v < VECTORS; v++) {
      tt_u32 at = r + NUMBER(up, v) - TT_POPCOUNT(VECTOR_BITS(bits, v * VEC));
      r += NUMBER(all, v);
      TT_UNROLLED
      for (int k = v * VEC; k < (v + 1) * VEC; k++)
        if (BIT(bits, k)) room[at++] = x[k];
    }
  } else {
    TT_ROLLED
    for (int k = 0; k < ITEMS; k += VEC) {
      tt_u32 at = r;
      TT_UNROLLED
      for (int u = 0; u < VEC; u++) {
        const tt_u32 who = TT_WARP_BALLOT(BIT(bits, k + u));
        at += TT_POPCOUNT(who & LANES_BELOW);
        r += TT_POPCOUNT(who);
      }
      TT_UNROLLED
      for (int u = 0; u < VEC; u++)
        if (BIT(bits, k + u)) room[at++] = item(&a, first, k + u);
    }
  }
  TT_BARRIER();
  const tt_i64 base = (tt_i64)tile_before;
  for (tt_u32 i = TT_THREAD; i < own; i += THREADS) PUT(base + i, room[i]);
#ifdef UNIQUE
  if (!a.inverse) return;
  r = warp_before;
  for (int k = 0; k < ITEMS; k++) { /* VEC is 1 */
    const tt_u32 who = TT_WARP_BALLOT(BIT(bits, k));
    if (AT(k) < left)
      a.inverse[a.place[first + AT(k)]] = base + r + TT_POPCOUNT(who & LANES_BELOW) + (tt_i64)BIT(bits, k) - 1;
    r += TT_POPCOUNT(who);
  }
#endif
}
#endif

#ifdef UNIQUE
/* From where runs begin to how long they are. */
TT_KERNEL(pick_lengths, pick_args, THREADS) {
  TT_UNPACK(pick_args);
  const tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD;
  if (i < a.m) a.index[i] = (i + 1 < a.m ? a.start[i + 1] : a.n) - a.start[i];
}
#endif

#ifdef REPEAT
#define BLOCK (THREADS * ITEMS)
TT_FN tt_i64 warp_sums(tt_i64 x) {
  TT_UNROLLED
  for (tt_u32 by = 1; by < WARP; by *= 2) {
    const tt_u64 low = TT_WARP_UP((tt_u32)x, by), high = TT_WARP_UP((tt_u32)((tt_u64)x >> 32), by);
    if (LANE >= by) x += (tt_i64)(high << 32 | low);
  }
  return x;
}

#define SUMS (WARP + 1)
/* The sum over all threads before this one; `all` is the one over all of them. sums: SUMS numbers. */
TT_FN tt_i64 scan_block(tt_i64 x, TT_SHARED_AT tt_i64 *sums, tt_u32 warps, tt_i64 *all) {
  const tt_i64 own = warp_sums(x);
  TT_BARRIER();
  if (LANE == WARP - 1) sums[WARP_NUMBER] = own;
  TT_BARRIER();
  if (WARP_NUMBER == 0) {
    const tt_i64 w = LANE < warps ? sums[LANE] : 0, to = warp_sums(w);
    sums[LANE] = to - w;
    if (LANE == WARP - 1) sums[WARP] = to;
  }
  TT_BARRIER();
  *all = sums[WARP];
  return sums[WARP_NUMBER] + own - x;
}

/* One block: counts become what lies before; sums of negative numbers, or beyond 2^63, are a fault. */
TT_KERNEL(pick_places, pick_args, PLACES_THREADS) {
  TT_UNPACK(pick_args);
  TT_SHARED tt_i64 sums[SUMS];
  tt_i64 before = 0, bad = 0, all;
  for (tt_i64 from = 0; from < a.blocks; from += PLACES_THREADS) {
    const tt_i64 i = from + TT_THREAD, x = i < a.blocks ? a.count[i] : 0;
    const tt_i64 at = before + scan_block(x, sums, PLACES_THREADS / WARP, &all);
    bad |= x < 0 || at < 0 || at + x < 0;
    if (i < a.blocks) a.count[i] = at;
    before += all;
  }
  if (TT_THREAD == 0) a.count[a.blocks] = before;
  if (bad) a.count[a.blocks + 1] = 1;
}

/* T is tt_i64: how often each place is repeated. */
TT_KERNEL(repeat_sum, pick_args, THREADS) {
  TT_UNPACK(pick_args);
  TT_SHARED tt_i64 sums[SUMS];
  const tt_i64 from = (tt_i64)TT_BLOCK * BLOCK + TT_THREAD * (tt_i64)ITEMS;
  tt_i64 sum = 0, bad = 0, all;
  for (tt_i64 i = from; i < from + ITEMS && i < a.n; i++) {
    sum += a.in[i];
    bad |= a.in[i] < 0 || sum < 0;
  }
  const tt_i64 before = scan_block(sum, sums, THREADS / WARP, &all);
  bad |= before < 0 || before + sum < 0;
  if (bad) a.count[a.blocks + 1] = 1;
  if (TT_THREAD == 0) a.count[TT_BLOCK] = all;
}

/* Where the repetitions of each place begin. */
TT_KERNEL(repeat_start, pick_args, THREADS) {
  TT_UNPACK(pick_args);
  TT_SHARED tt_i64 sums[SUMS];
  const tt_i64 from = (tt_i64)TT_BLOCK * BLOCK + TT_THREAD * (tt_i64)ITEMS;
  tt_i64 sum = 0, all;
  for (tt_i64 i = from; i < from + ITEMS && i < a.n; i++) sum += a.in[i];
  sum = a.count[TT_BLOCK] + scan_block(sum, sums, THREADS / WARP, &all);
  for (tt_i64 i = from; i < from + ITEMS && i < a.n; i++) {
    a.start[i] = sum;
    sum += a.in[i];
  }
}

/* Of each result, the last place that begins at it or before. */
TT_KERNEL(repeat_fill, pick_args, THREADS) {
  TT_UNPACK(pick_args);
  for (tt_i64 r = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; r < a.m; r += (tt_i64)TT_BLOCKS * THREADS) {
    tt_i64 lo = 0, hi = a.n;
    while (lo + 1 < hi) {
      const tt_i64 mid = lo + (hi - lo) / 2;
      if (a.start[mid] <= r)
        lo = mid;
      else
        hi = mid;
    }
    a.index[r] = lo;
  }
}
#endif
