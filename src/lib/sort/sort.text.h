/*
** Radix sort, eight bits at a time from the least significant, stable. Elements move as they are; their keys, whose
** order is the elements' (lib/sort/sort_int.h has the same), are made of them where they are needed: so NaNs keep
** their bits, and zeros of both signs their order. Specialised by
**   T         unsigned integer of the element's SIZE; of a complex number's half      COMPLEX   defined for them
**   INF       (floats) the bits of infinity       SIGN   (integers) what is xored with       FLIP   ~0: descending
**   DIGITS    of a key      THREADS, ITEMS   of a tile
**   COUNT_THREADS   of a block of sort_count      RESIDENT  blocks of sort_pass that share a unit
**   WIDE    a row has 2^30 elements or more
**   PLACES    1: the places of the elements are sorted along, and are the result
** With COPIES (tables of counts in a block): sort_count, sort_plan, then sort_pass for each digit, all rows at once.
** BLOCK: sort_block, for rows that fit a tile.
*/
#ifdef WIDE
#define WORD tt_u64
#define PEEK(p) TT_PEEK(p)
#define POKE(p, x) TT_POKE(p, x)
#else
#define WORD tt_u32
#define PEEK(p) TT_PEEK_U32(p)
#define POKE(p, x) TT_POKE_U32(p, x)
#endif
#define TILE (THREADS * ITEMS)
#define WARPS (THREADS / WARP)
#define TOP ((T)((T)1 << (8 * sizeof(T) - 1)))
#define PARTIAL ((WORD)1 << (8 * sizeof(WORD) - 2))
#define WHOLE ((WORD)1 << (8 * sizeof(WORD) - 1))
#define PLAN_THREADS 256
#define SKEWED 2u /* one digit is that of a quarter of all elements or more */

#ifdef COMPLEX
typedef struct element {
  T re, im;
} element;
#else
typedef T element;
#endif

TT_FN T key_of(T x) {
#ifdef INF
  const T y = x == TOP ? (T)0 : x; /* zeros are equal */
  const T k = (T)(y ^ ((T)(0 - (y >> (8 * sizeof(T) - 1))) | TOP));
  return (T)(((T)(y & (T)~TOP) > (T)INF ? (T) ~(T)0 : k) ^ (T)FLIP);
#else
  return (T)(x ^ (T)SIGN ^ (T)FLIP);
#endif
}

TT_FN tt_u32 byte_of(T key, tt_u32 i) { return (tt_u32)(key >> (8 * i)) & 255u; }

#ifdef COMPLEX
TT_FN int is_nan(T x) { return (T)(x & (T)~TOP) > (T)INF; }

/* Least to most: the imaginary part, the real one, which of them are NaN. */
TT_FN tt_u32 digit_of(element x, tt_u32 i) {
  if (i < sizeof(T)) return byte_of(key_of(x.im), i);
  if (i < 2 * sizeof(T)) return byte_of(key_of(x.re), i - (tt_u32)sizeof(T));
  return (tt_u32)(2 * is_nan(x.re) + is_nan(x.im)) ^ (3u & (tt_u32)FLIP);
}
#else
TT_FN tt_u32 digit_of(element x, tt_u32 i) { return byte_of(key_of(x), i); }
#endif

typedef struct sort_args {
  const TT_GLOBAL element *in;
  TT_GLOBAL element *to[2];      /* elements go from one to the other; the last ones to to[0] */
  TT_GLOBAL tt_u32 *place[2];    /* PLACES: the same, but for the last pass */
  const TT_GLOBAL tt_i64 *first; /* PLACES: of the elements of `in`; NULL: as they come */
  TT_GLOBAL tt_i64 *out;         /* PLACES */
  TT_GLOBAL element *sorted;     /* PLACES: the elements as well; NULL: not wanted */
  TT_GLOBAL WORD *count;         /* [rows][DIGITS][256], zero at the start; then where each digit's elements begin */
  TT_GLOBAL tt_u32 *vary;        /* [DIGITS] zero at the start; then 1 if it has to be looked at, and SKEWED */
  TT_GLOBAL tt_u32 *ticket;      /* [DIGITS] zero at the start */
  TT_GLOBAL WORD *look[2];       /* [rows][tiles][256] zero at the start; used in turns */
  tt_i64 rows, n, tiles;         /* tiles: of a row; sort_count: blocks of a row */
  tt_i32 digit;
  tt_i32 per_block; /* sort_block: rows of a block */
} sort_args;

/* The first threads have a digit each; where a block has fewer, each has as many. */
#define EACH (THREADS < 256 ? 256 / THREADS : 1)
#define HAS_DIGITS (TT_THREAD < 256 / EACH)
#define DIGIT(e) (TT_THREAD * EACH + (tt_u32)(e))
#define SUMS (256 / EACH / WARP)

/* From how many elements have each digit to how many have one before it; every thread has to call. */
TT_FN void scan_digits(const tt_u32 *count, tt_u32 *first, TT_SHARED_AT tt_u32 *sums) {
  tt_u32 all = 0, s, before = 0;
  TT_UNROLLED
  for (int e = 0; e < EACH; e++) {
    first[e] = all;
    all += count[e];
  }
  s = all;
  if (HAS_DIGITS) {
    TT_UNROLLED
    for (tt_u32 by = 1; by < WARP; by *= 2) {
      tt_u32 y = TT_WARP_UP(s, by);
      if (LANE >= by) s += y;
    }
    if (LANE == WARP - 1) sums[WARP_NUMBER] = s;
  }
  TT_BARRIER();
  if (HAS_DIGITS)
    for (tt_u32 w = 0; w < WARP_NUMBER; w++) before += sums[w];
  TT_UNROLLED
  for (int e = 0; e < EACH; e++) first[e] += before + s - all;
}

#ifdef COPIES
#if COUNT_THREADS == 1 /* nobody else counts there */
#define COUNT_ONE(p) (*(p) += 1u)
#else
#define COUNT_ONE(p) TT_ATOMIC_ADD(p, 1u)
#endif

TT_KERNEL(sort_count, sort_args, COUNT_THREADS) {
  TT_UNPACK(sort_args);
  TT_SHARED tt_u32 bin[DIGITS * 256 * COPIES]; /* equal neighbours count in different copies */
  tt_u32 row = TT_BLOCK / (tt_u32)a.tiles, part = TT_BLOCK % (tt_u32)a.tiles;
  tt_i64 share = (a.n + a.tiles - 1) / a.tiles, from = part * share, to = from + share < a.n ? from + share : a.n;
  const TT_GLOBAL element *in = a.in + row * a.n;
  for (tt_u32 i = TT_THREAD; i < DIGITS * 256 * COPIES; i += COUNT_THREADS) bin[i] = 0;
  TT_BARRIER();
  for (tt_i64 i = from + TT_THREAD; i < to; i += 8 * COUNT_THREADS) {
    element x[8];
    TT_UNROLLED
    for (int k = 0; k < 8; k++) x[k] = in[i + k * COUNT_THREADS < to ? i + k * COUNT_THREADS : i];
    TT_UNROLLED
    for (int k = 0; k < 8; k++) {
      if (i + k * COUNT_THREADS >= to) break;
      TT_UNROLLED
      for (tt_u32 d = 0; d < DIGITS; d++) COUNT_ONE(&bin[(d * 256 + digit_of(x[k], d)) * COPIES + TT_THREAD % COPIES]);
    }
  }
  TT_BARRIER();
  for (tt_u32 i = TT_THREAD; i < DIGITS * 256; i += COUNT_THREADS) {
    tt_u32 sum = 0;
    for (tt_u32 k = 0; k < COPIES; k++) sum += bin[i * COPIES + k];
    if (sum) TT_ATOMIC_ADD(&a.count[(tt_i64)row * (DIGITS * 256) + i], (WORD)sum);
  }
}

/* A block for each row and digit. */
TT_KERNEL(sort_plan, sort_args, PLAN_THREADS) {
  TT_UNPACK(sort_args);
  TT_SHARED WORD sums[PLAN_THREADS];
  TT_GLOBAL WORD *count = a.count + (tt_i64)TT_BLOCK * 256;
  WORD x = count[TT_THREAD], before = 0;
  sums[TT_THREAD] = x;
  if (x != 0 && x != (WORD)a.n) TT_ATOMIC_OR(&a.vary[TT_BLOCK % DIGITS], x > (WORD)a.n / 4 ? SKEWED | 1u : 1u);
  TT_BARRIER();
  for (tt_u32 by = 1; by < 256; by *= 2) {
    WORD y = TT_THREAD >= by ? sums[TT_THREAD - by] : 0;
    TT_BARRIER();
    sums[TT_THREAD] += y;
    TT_BARRIER();
  }
  if (TT_THREAD > 0) before = sums[TT_THREAD - 1];
  count[TT_THREAD] = before;
}
#endif

/* The two lives of shared memory in a pass. */
typedef union room {
  struct {
    tt_u32 at[WARPS][256];   /* how many elements of a warp have a digit; then where the next one goes */
    tt_u32 mask[WARPS][256]; /* the lanes that have it; zero but while it is looked at */
  } warp;
  element x[TILE];
  tt_u32 place[TILE];
} room;

TT_FN void clear_room(TT_SHARED_AT room *r) {
  for (tt_u32 i = TT_THREAD; i < 256 * WARPS; i += THREADS) {
    r->warp.at[i / 256][i % 256] = 0;
    r->warp.mask[i / 256][i % 256] = 0;
  }
}

/* How many elements of the tile have each of the thread's digits; `at` becomes relative to the first of them. */
TT_FN void add_warps(TT_SHARED_AT room *r, tt_u32 *count) {
  TT_UNROLLED
  for (int e = 0; e < EACH; e++) {
    count[e] = 0;
    if (HAS_DIGITS) {
      TT_UNROLLED
      for (int w = 0; w < WARPS; w++) {
        tt_u32 c = r->warp.at[w][DIGIT(e)];
        r->warp.at[w][DIGIT(e)] = count[e];
        count[e] += c;
      }
    }
  }
}

TT_FN void move_warps(TT_SHARED_AT room *r, const tt_u32 *first) {
  if (!HAS_DIGITS) return;
  TT_UNROLLED
  for (int e = 0; e < EACH; e++) {
    TT_UNROLLED
    for (int w = 0; w < WARPS; w++) r->warp.at[w][DIGIT(e)] += first[e];
  }
}

/*
** How many elements of that digit the warp had before this lane's; all lanes of the warp together. `at` counts on.
** Lanes with one digit find each other in shared memory, or, where most have the same one and would queue there, by
** TT_WARP_MATCH.
*/
TT_FN tt_u32 rank_of(TT_SHARED_AT room *r, tt_u32 digit, int skewed) {
  TT_SHARED_AT tt_u32 *mask = &r->warp.mask[WARP_NUMBER][digit];
  tt_u32 at = 0, same;
  if (WARP == 1) return r->warp.at[WARP_NUMBER][digit]++;
  if (skewed) {
    same = TT_WARP_MATCH(digit);
  } else {
    TT_ATOMIC_OR(mask, 1u << LANE);
    TT_WARP_SYNC();
    same = *(volatile TT_SHARED_AT tt_u32 *)mask;
  }
  const tt_u32 leader = TT_TOP_BIT(same);
  if (LANE == leader) {
    at = r->warp.at[WARP_NUMBER][digit];
    r->warp.at[WARP_NUMBER][digit] = at + TT_POPCOUNT(same);
  }
  at = TT_WARP_READ(at, leader); /* by now all have read the mask */
  if (LANE == leader && !skewed) *mask = 0;
  TT_WARP_SYNC();
  return at + TT_POPCOUNT(same & LANES_BELOW);
}

#ifdef COPIES
/* How many elements of a digit the tiles of the row before tile t have. Four messages are looked at at once. */
TT_FN WORD look_back(const TT_GLOBAL WORD *look, tt_i64 t, tt_u32 digit) {
  WORD sum = 0;
  for (tt_i64 i = t - 1; i >= 0; i -= 4) {
    WORD w[4];
    TT_UNROLLED
    for (int k = 0; k < 4; k++) w[k] = PEEK(look + (i > k ? i - k : 0) * 256 + digit);
    TT_UNROLLED
    for (int k = 0; k < 4; k++) {
      while (!(w[k] & (PARTIAL | WHOLE))) {
        TT_RELAX();
        w[k] = PEEK(look + (i > k ? i - k : 0) * 256 + digit);
      }
      sum += w[k] & (PARTIAL - 1);
      if (w[k] & WHOLE) return sum; /* tile 0 says so, too */
    }
  }
  return sum;
}

/* Every element has the same key: they stay where they are. */
TT_FN void keep_order(const sort_args *a) {
  tt_i64 all = a->rows * a->n;
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < all; i += (tt_i64)TT_BLOCKS * THREADS) {
#if PLACES
    a->out[i] = a->first ? a->first[i] : i % a->n;
    if (a->sorted) a->sorted[i] = a->in[i];
#else
    a->to[0][i] = a->in[i];
#endif
  }
}

/* What a block of a pass works on, and from where to where it goes. */
typedef struct pass {
  tt_u32 turn, last; /* among the passes that have something to do */
  tt_u32 row, t, valid;
  tt_i64 base, from; /* the row's first element, the tile's */
  const TT_GLOBAL element *in;
  TT_GLOBAL element *to;
  TT_GLOBAL WORD *look, *look_next;
  const TT_GLOBAL tt_u32 *place_in;
  TT_GLOBAL tt_u32 *place_to;
} pass;

TT_FN pass pass_at(const sort_args *a, tt_u32 turn, tt_u32 turns, tt_u32 ticket) {
  const tt_u32 tiles = (tt_u32)a->tiles;
  const int odd = (int)((turns - 1 - turn) & 1);
  pass p;
  p.turn = turn;
  p.last = turn + 1 == turns;
  p.row = ticket / tiles;
  p.t = ticket % tiles;
  p.valid = a->n - (tt_i64)p.t * TILE < TILE ? (tt_u32)(a->n - (tt_i64)p.t * TILE) : TILE;
  p.base = p.row * a->n;
  p.from = p.base + (tt_i64)p.t * TILE;
  p.in = turn == 0 ? a->in : odd ? a->to[0] : a->to[1];
  p.to = (odd ? a->to[1] : a->to[0]) + p.base;
  p.look = (turn & 1 ? a->look[1] : a->look[0]) + (tt_i64)p.row * tiles * 256;
  p.look_next = (turn & 1 ? a->look[0] : a->look[1]) + ((tt_i64)p.row * tiles + p.t) * 256;
  p.place_in = odd ? a->place[0] : a->place[1];
  p.place_to = (odd ? a->place[1] : a->place[0]) + p.base;
  return p;
}

#if PLACES
/* The places go the way of their elements: by `rank` to shared memory, from there to `goes`. */
TT_FN void move_places(const sort_args *a, const pass *p, TT_SHARED_AT room *r, const tt_u32 *rank, const WORD *goes) {
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) {
    const tt_u32 at = WARP_NUMBER * (WARP * ITEMS) + LANE + i * WARP;
    if (at >= p->valid) break;
    r->place[rank[i]] = p->turn    ? p->place_in[p->from + at]
                        : a->first ? (tt_u32)a->first[p->from + at]
                                   : (tt_u32)(p->from - p->base) + at;
  }
  TT_BARRIER();
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) {
    const tt_u32 at = TT_THREAD + i * THREADS;
    if (at >= p->valid) break;
    if (p->last)
      a->out[p->base + goes[i]] = r->place[at];
    else
      p->place_to[goes[i]] = r->place[at];
  }
}
#endif

TT_KERNEL_OF_MANY(sort_pass, sort_args, THREADS, RESIDENT) {
  TT_UNPACK(sort_args);
  TT_SHARED room r;
  TT_SHARED WORD start[256];
  TT_SHARED tt_u32 sums[SUMS], shared_turn;
  tt_u32 turn = 0, turns = 0, own = WARP_NUMBER * (WARP * ITEMS) + LANE, digit = (tt_u32)a.digit;
  for (tt_u32 d = 0; d < DIGITS; d++) {
    if (d == digit) turn = turns;
    turns += a.vary[d] & 1u;
  }
  if (!a.vary[digit]) {
    if (turns == 0 && digit == DIGITS - 1) keep_order(&a);
    return;
  }
  clear_room(&r);
  const int skewed = (a.vary[digit] & SKEWED) != 0;
  const pass p = pass_at(&a, turn, turns, TURN(&a.ticket[digit], &shared_turn));
  TT_BARRIER();
  element x[ITEMS];
  tt_u32 rank[ITEMS];
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) x[i] = p.in[p.from + (own + i * WARP < p.valid ? own + i * WARP : p.valid - 1)];
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) { /* what is not there counts as the greatest, and stays behind all others */
    rank[i] = own + i * WARP < p.valid ? digit_of(x[i], digit) : 255u;
    rank[i] |= rank_of(&r, rank[i], skewed) << 8;
  }
  TT_BARRIER();
  tt_u32 count[EACH], first[EACH];
  WORD mine[EACH];
  add_warps(&r, count);
  if (HAS_DIGITS) {
    TT_UNROLLED
    for (int e = 0; e < EACH; e++) {
      mine[e] = count[e] - (DIGIT(e) == 255 ? TILE - p.valid : 0);
      POKE(p.look + (tt_i64)p.t * 256 + DIGIT(e), (p.t == 0 ? WHOLE : PARTIAL) | mine[e]);
      p.look_next[DIGIT(e)] = 0; /* for the pass after this one */
    }
  }
  scan_digits(count, first, sums);
  move_warps(&r, first);
  TT_BARRIER();
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) rank[i] = (rank[i] >> 8) + r.warp.at[WARP_NUMBER][rank[i] & 255u];
  TT_BARRIER();
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) r.x[rank[i]] = x[i];
  if (HAS_DIGITS) {
    TT_UNROLLED
    for (int e = 0; e < EACH; e++) {
      const WORD before = look_back(p.look, p.t, DIGIT(e));
      if (p.t > 0) POKE(p.look + (tt_i64)p.t * 256 + DIGIT(e), WHOLE | (before + mine[e]));
      start[DIGIT(e)] = a.count[((tt_i64)p.row * DIGITS + digit) * 256 + DIGIT(e)] + before - first[e];
    }
  }
  TT_BARRIER();
#if PLACES
  WORD goes[ITEMS];
#endif
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) {
    const tt_u32 at = TT_THREAD + i * THREADS;
    if (at >= p.valid) break;
    element e = r.x[at];
    WORD go = start[digit_of(e, digit)] + at;
#if PLACES
    goes[i] = go;
    if (p.last && a.sorted) a.sorted[p.base + go] = e;
    if (p.last) continue;
#endif
    p.to[go] = e;
  }
#if PLACES
  TT_BARRIER();
  move_places(&a, &p, &r, rank, goes);
#endif
}

#endif

#ifdef BLOCK
/* per_block whole rows, at most 255, sorted together by their keys and then by their row. */
TT_KERNEL_OF_MANY(sort_block, sort_args, THREADS, RESIDENT) {
  TT_UNPACK(sort_args);
  TT_SHARED room r;
  TT_SHARED tt_u32 sums[SUMS], same;
  const tt_i64 row = (tt_i64)TT_BLOCK * a.per_block;
  const tt_u32 rows = (tt_u32)(a.rows - row < a.per_block ? a.rows - row : a.per_block), n = (tt_u32)a.n;
  const tt_u32 valid = rows * n, items = (valid + THREADS - 1) / THREADS;
  const tt_u32 own = WARP_NUMBER * (WARP * items) + LANE;
  const int carry = PLACES || rows > 1;
  element x[ITEMS];
  tt_u32 place[ITEMS], rank[ITEMS];
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) {
    place[i] = own + i * WARP;
    if (i < items) x[i] = a.in[row * n + (place[i] < valid ? place[i] : valid - 1)];
  }
  for (tt_u32 d = 0; d < DIGITS + (rows > 1); d++) {
    TT_BARRIER();
    clear_room(&r);
    if (TT_THREAD == 0) same = 0;
    TT_BARRIER();
    TT_UNROLLED
    for (tt_u32 i = 0; i < ITEMS; i++) {
      if (i >= items) break;
      rank[i] = own + i * WARP >= valid ? 255u : d < DIGITS ? digit_of(x[i], d) : place[i] / n;
      rank[i] |= rank_of(&r, rank[i], d >= DIGITS) << 8;
    }
    TT_BARRIER();
    tt_u32 count[EACH], first[EACH];
    add_warps(&r, count);
    if (HAS_DIGITS) {
      TT_UNROLLED
      for (int e = 0; e < EACH; e++)
        if (count[e] - (DIGIT(e) == 255 ? items * THREADS - valid : 0) == valid) same = 1;
    }
    scan_digits(count, first, sums);
    if (same) continue;
    move_warps(&r, first);
    TT_BARRIER();
    TT_UNROLLED
    for (tt_u32 i = 0; i < ITEMS; i++) {
      if (i >= items) break;
      rank[i] = (rank[i] >> 8) + r.warp.at[WARP_NUMBER][rank[i] & 255u];
    }
    TT_BARRIER();
    TT_UNROLLED
    for (tt_u32 i = 0; i < ITEMS; i++)
      if (i < items) r.x[rank[i]] = x[i];
    TT_BARRIER();
    TT_UNROLLED
    for (tt_u32 i = 0; i < ITEMS; i++)
      if (i < items) x[i] = r.x[own + i * WARP];
    if (!carry) continue;
    TT_BARRIER();
    TT_UNROLLED
    for (tt_u32 i = 0; i < ITEMS; i++)
      if (i < items) r.place[rank[i]] = place[i];
    TT_BARRIER();
    TT_UNROLLED
    for (tt_u32 i = 0; i < ITEMS; i++)
      if (i < items) place[i] = r.place[own + i * WARP];
  }
  TT_UNROLLED
  for (tt_u32 i = 0; i < ITEMS; i++) {
    const tt_u32 at = own + i * WARP;
    if (i >= items || at >= valid) break;
#if PLACES
    a.out[row * n + at] = a.first ? a.first[row * n + place[i]] : place[i] % n;
    if (a.sorted) a.sorted[row * n + at] = x[i];
#else
    a.to[0][row * n + at] = x[i];
#endif
  }
}
#endif
