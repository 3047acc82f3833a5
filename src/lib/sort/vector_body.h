/*
** The vector quicksort for one width of keys. Included twice by sort/vector.c, and by nothing else.
*/

/* The first n lanes: all of them from LANES on, none below 1. */
V4_INLINE MASK NAME(lanes)(int64_t n) {
  uint32_t all = ((uint32_t)1 << (LANES - 1) << 1) - 1;
  return (MASK)(n >= LANES ? all : n > 0 ? ((uint32_t)1 << n) - 1 : 0);
}

/* ---- inside one register */

#if LANES == 16
#define REVERSE(v) _mm512_permutexvar_epi32(_mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), v)
#define SWAP8(v) _mm512_shuffle_i32x4(v, v, 0x4E)
#define SWAP4(v) _mm512_shuffle_i32x4(v, v, 0xB1)
#define SWAP2(v) _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4E)
#define SWAP1(v) _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xB1)

/* A bitonic register becomes ascending. */
V4_INLINE __m512i NAME(clean_lanes)(__m512i v) {
  EXCHANGE(v, 0xFF00, SWAP8(v));
  EXCHANGE(v, 0xF0F0, SWAP4(v));
  EXCHANGE(v, 0xCCCC, SWAP2(v));
  EXCHANGE(v, 0xAAAA, SWAP1(v));
  return v;
}

V4_INLINE __m512i NAME(sort_lanes)(__m512i v) {
  EXCHANGE(v, 0x6666, SWAP1(v));
  EXCHANGE(v, 0x3C3C, SWAP2(v));
  EXCHANGE(v, 0x5A5A, SWAP1(v));
  EXCHANGE(v, 0x0FF0, SWAP4(v));
  EXCHANGE(v, 0x33CC, SWAP2(v));
  EXCHANGE(v, 0x55AA, SWAP1(v));
  return NAME(clean_lanes)(v);
}

/* Lane i of register k becomes lane k of register i. */
V4_INLINE void NAME(transpose)(__m512i *v) {
  __m512i a[16], b[16];
#pragma GCC unroll 16
  for (int i = 0; i < 8; i++) {
    a[2 * i] = _mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
    a[2 * i + 1] = _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 4; i++) { /* b[4 i + c]: lanes c, 4 + c, 8 + c, 12 + c of registers 4 i .. 4 i + 3 */
    b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
    b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
    b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
    b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
  }
#pragma GCC unroll 16
  for (int c = 0; c < 4; c++) {
    __m512i even01 = _mm512_shuffle_i32x4(b[c], b[4 + c], 0x88), odd01 = _mm512_shuffle_i32x4(b[c], b[4 + c], 0xDD);
    __m512i even23 = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0x88);
    __m512i odd23 = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0xDD);
    v[c] = _mm512_shuffle_i32x4(even01, even23, 0x88);
    v[4 + c] = _mm512_shuffle_i32x4(odd01, odd23, 0x88);
    v[8 + c] = _mm512_shuffle_i32x4(even01, even23, 0xDD);
    v[12 + c] = _mm512_shuffle_i32x4(odd01, odd23, 0xDD);
  }
}

#else
#define REVERSE(v) _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), v)
#define SWAP4(v) _mm512_shuffle_i64x2(v, v, 0x4E)
#define SWAP2(v) _mm512_permutex_epi64(v, 0x4E)
#define SWAP1(v) _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4E)

V4_INLINE __m512i NAME(clean_lanes)(__m512i v) {
  EXCHANGE(v, 0xF0, SWAP4(v));
  EXCHANGE(v, 0xCC, SWAP2(v));
  EXCHANGE(v, 0xAA, SWAP1(v));
  return v;
}

V4_INLINE __m512i NAME(sort_lanes)(__m512i v) {
  EXCHANGE(v, 0x66, SWAP1(v));
  EXCHANGE(v, 0x3C, SWAP2(v));
  EXCHANGE(v, 0x5A, SWAP1(v));
  return NAME(clean_lanes)(v);
}

/* Of sixteen registers: lanes i of the first and of the last eight become registers 2 i and 2 i + 1. */
V4_INLINE void NAME(transpose)(__m512i *v) {
  __m512i r[16];
#pragma GCC unroll 16
  for (int h = 0; h < 2; h++) {
    __m512i a[8], *w = v + 8 * h;
#pragma GCC unroll 16
    for (int i = 0; i < 4; i++) {
      a[i] = _mm512_unpacklo_epi64(w[2 * i], w[2 * i + 1]);
      a[4 + i] = _mm512_unpackhi_epi64(w[2 * i], w[2 * i + 1]);
    }
#pragma GCC unroll 16
    for (int c = 0; c < 2; c++) {
      __m512i *x = a + 4 * c;
      __m512i even01 = _mm512_shuffle_i64x2(x[0], x[1], 0x88), odd01 = _mm512_shuffle_i64x2(x[0], x[1], 0xDD);
      __m512i even23 = _mm512_shuffle_i64x2(x[2], x[3], 0x88), odd23 = _mm512_shuffle_i64x2(x[2], x[3], 0xDD);
      r[2 * c + h] = _mm512_shuffle_i64x2(even01, even23, 0x88);
      r[2 * (2 + c) + h] = _mm512_shuffle_i64x2(odd01, odd23, 0x88);
      r[2 * (4 + c) + h] = _mm512_shuffle_i64x2(even01, even23, 0xDD);
      r[2 * (6 + c) + h] = _mm512_shuffle_i64x2(odd01, odd23, 0xDD);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; i++) v[i] = r[i];
}
#endif

/* ---- up to sixteen registers */

/* Pairs of runs of `run` registers become runs of twice as many, in n registers. */
V4_INLINE void NAME(merge_runs)(__m512i *v, int n, int run) {
#pragma GCC unroll 16
  for (int at = 0; at < n; at += 2 * run) {
    __m512i *a = v + at, *b = a + run;
#pragma GCC unroll 16
    for (int i = 0; i < run; i++) { /* the second run backwards: together bitonic */
      __m512i low = a[i], high = REVERSE(b[run - 1 - i]);
      a[i] = VMIN(low, high);
      b[run - 1 - i] = VMAX(low, high); /* in place, so the upper half stands backwards, which is bitonic as well */
    }
#pragma GCC unroll 16
    for (int half = 0; half < 2; half++) {
      __m512i *w = half ? b : a;
#pragma GCC unroll 16
      for (int step = run / 2; step > 0; step /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < run; i++)
          if (!(i & step)) ORDER(w[i], w[i + step]);
#pragma GCC unroll 16
      for (int i = 0; i < run; i++) w[i] = NAME(clean_lanes)(w[i]);
    }
  }
}

/* Each column of sixteen registers ascending: Green's network of 60 comparators. */
V4_INLINE void NAME(sort_columns)(__m512i *v) {
  static const signed char order[60][2] = {
      {0, 1},   {2, 3},   {4, 5},   {6, 7},   {8, 9},  {10, 11}, {12, 13}, {14, 15}, {0, 2},  {4, 6},
      {8, 10},  {12, 14}, {1, 3},   {5, 7},   {9, 11}, {13, 15}, {0, 4},   {8, 12},  {1, 5},  {9, 13},
      {2, 6},   {10, 14}, {3, 7},   {11, 15}, {0, 8},  {1, 9},   {2, 10},  {3, 11},  {4, 12}, {5, 13},
      {6, 14},  {7, 15},  {5, 10},  {6, 9},   {3, 12}, {13, 14}, {4, 8},   {7, 11},  {1, 2},  {1, 4},
      {7, 13},  {2, 8},   {11, 14}, {2, 4},   {5, 6},  {9, 10},  {11, 13}, {3, 8},   {7, 12}, {6, 8},
      {10, 12}, {3, 5},   {7, 9},   {3, 4},   {5, 6},  {7, 8},   {9, 10},  {11, 12}, {6, 7},  {8, 9}};
#pragma GCC unroll 60
  for (int i = 0; i < 60; i++) ORDER(v[order[i][0]], v[order[i][1]]);
}

/* n keys in `registers` registers (a power of two), padded with the greatest key. */
V4_INLINE void NAME(sort_registers)(KEY *a, int64_t n, int registers) {
  __m512i v[REGISTERS], pad = VSET1(-1);
  int run = 1;
#pragma GCC unroll 16
  for (int i = 0; i < registers; i++) {
    int64_t left = n - i * LANES;
    if (i < registers / 2)
      v[i] = _mm512_loadu_si512(a + i * LANES);
    else
      v[i] = VMASK_LOAD(pad, NAME(lanes)(left), a + i * LANES);
  }
  if (registers == REGISTERS) {
    NAME(sort_columns)(v);
    NAME(transpose)(v);
    run = REGISTERS / LANES;
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < registers; i++) v[i] = NAME(sort_lanes)(v[i]);
  }
  if (run < 2 && registers >= 2) NAME(merge_runs)(v, registers, 1);
  if (registers >= 4) NAME(merge_runs)(v, registers, 2);
  if (registers >= 8) NAME(merge_runs)(v, registers, 4);
  if (registers >= 16) NAME(merge_runs)(v, registers, 8);
#pragma GCC unroll 16
  for (int i = 0; i < registers; i++) {
    int64_t left = n - i * LANES;
    if (i < registers / 2)
      _mm512_storeu_si512(a + i * LANES, v[i]);
    else
      VMASK_STORE(a + i * LANES, NAME(lanes)(left), v[i]);
  }
}

/* A bitonic sequence of sixteen registers becomes ascending. */
V4_INLINE void NAME(clean)(__m512i *v) {
#pragma GCC unroll 16
  for (int step = REGISTERS / 2; step > 0; step /= 2)
#pragma GCC unroll 16
    for (int i = 0; i < REGISTERS; i++)
      if (!(i & step)) ORDER(v[i], v[i + step]);
#pragma GCC unroll 16
  for (int i = 0; i < REGISTERS; i++) v[i] = NAME(clean_lanes)(v[i]);
}

/* One full block of sixteen registers and a second one of n more keys, each in order, become one. */
V4 static void NAME(merge_blocks)(KEY *a, int64_t n) {
  __m512i v[REGISTERS], pad = VSET1(-1);
  KEY *b = a + REGISTERS * LANES;
#pragma GCC unroll 16
  for (int i = 0; i < REGISTERS; i++) {
    int64_t left = n - i * LANES;
    v[i] = VMASK_LOAD(pad, NAME(lanes)(left), b + i * LANES);
  }
#pragma GCC unroll 16
  for (int i = 0; i < REGISTERS; i++) {
    __m512i low = _mm512_loadu_si512(a + i * LANES), high = REVERSE(v[REGISTERS - 1 - i]);
    _mm512_storeu_si512(a + i * LANES, VMIN(low, high));
    v[REGISTERS - 1 - i] = VMAX(low, high);
  }
  NAME(clean)(v);
#pragma GCC unroll 16
  for (int i = 0; i < REGISTERS; i++) {
    int64_t left = n - i * LANES;
    VMASK_STORE(b + i * LANES, NAME(lanes)(left), v[i]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < REGISTERS; i++) v[i] = _mm512_loadu_si512(a + i * LANES);
  NAME(clean)(v);
#pragma GCC unroll 16
  for (int i = 0; i < REGISTERS; i++) _mm512_storeu_si512(a + i * LANES, v[i]);
}

/* n <= 2 * REGISTERS * LANES. */
V4 static void NAME(sort_small)(KEY *a, int64_t n) {
  const int64_t block = REGISTERS * LANES;
  if (n <= 1) return;
  if (n > block) {
    NAME(sort_registers)(a, block, REGISTERS);
    NAME(sort_small)(a + block, n - block);
    NAME(merge_blocks)(a, n - block);
    return;
  }
  if (n <= LANES)
    NAME(sort_registers)(a, n, 1);
  else if (n <= 2 * LANES)
    NAME(sort_registers)(a, n, 2);
  else if (n <= 4 * LANES)
    NAME(sort_registers)(a, n, 4);
  else if (n <= 8 * LANES)
    NAME(sort_registers)(a, n, 8);
  else
    NAME(sort_registers)(a, n, 16);
}

/* ---- partition */

/* Where a partition has come to: what lies in [left, read_left) and [read_right, right) is free. */
typedef struct NAME(ends) {
  KEY *left, *right;
} NAME(ends);

/* There must be room for a whole register at both ends, and for two where they meet. */
V4_INLINE void NAME(put)(NAME(ends) * e, __m512i v, __m512i pivot) {
  MASK less = VLESS(v, pivot);
  int n = __builtin_popcount(less);
  /* the lesser lanes, then the others: a table and whole stores are faster than compressing into masked ones */
#if LANES == 16
  const __m128i *low = (const __m128i *)lesser_first[less & 0xff], *high = (const __m128i *)lesser_first[less >> 8];
  __m256i a = _mm512_castsi512_si256(v), b = _mm512_extracti64x4_epi64(v, 1);
  a = _mm256_permutevar8x32_epi32(a, _mm256_cvtepu8_epi32(_mm_loadl_epi64(low)));
  b = _mm256_permutevar8x32_epi32(b, _mm256_cvtepu8_epi32(_mm_loadl_epi64(high)));
  int n_low = __builtin_popcount(less & 0xff);
  _mm256_storeu_si256((__m256i *)e->left, a);
  _mm256_storeu_si256((__m256i *)(e->left + n_low), b);
  _mm256_storeu_si256((__m256i *)(e->right - 8), a);
  _mm256_storeu_si256((__m256i *)(e->right - 16 + n_low), b);
#else
  __m512i both =
      _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)lesser_first[less])), v);
  _mm512_storeu_si512(e->left, both);
  _mm512_storeu_si512(e->right - LANES, both);
#endif
  e->left += n;
  e->right -= LANES - n;
}

/* Elements from a buffer, while all that lies between the ends is free: nothing beyond may be written. */
V4_INLINE void NAME(put_rest)(NAME(ends) * e, const KEY *a, int64_t n, __m512i pivot) {
  for (int64_t i = 0; i < n; i += LANES) {
    if (n - i >= LANES && e->right - e->left >= 2 * LANES) {
      NAME(put)(e, _mm512_loadu_si512(a + i), pivot);
      continue;
    }
    MASK have = NAME(lanes)(n - i);
    __m512i v = VMASK_LOAD(pivot, have, a + i);
    MASK less = VLESS(v, pivot), other = (MASK)(have & ~less);
    int lesser = __builtin_popcount(less), others = __builtin_popcount(other);
    VMASK_STORE(e->left, (MASK)((1u << lesser) - 1), VCOMPRESS(less, v));
    e->left += lesser;
    e->right -= others;
    VMASK_STORE(e->right, (MASK)((1u << others) - 1), VCOMPRESS(other, v));
  }
}

/*
** Keys below `pivot` first; returns how many. n >= 2 * unroll * LANES. Both ends start in a buffer, which frees
** `unroll` registers there; reading on at the end with less room keeps at least as much free at either end.
*/
V4_INLINE int64_t NAME(partition_by)(KEY *a, int64_t n, KEY at, const int unroll) {
  KEY first[UNROLL * LANES], last[UNROLL * LANES], middle[UNROLL * LANES];
  const int64_t step = unroll * LANES;
  __m512i pivot = VSET1(at);
  KEY *read_left = a + step, *read_right = a + n - step;
  NAME(ends) e = {a, a + n};
  assert(n >= 2 * step);
  memcpy(first, a, (size_t)step * sizeof *a);
  memcpy(last, read_right, (size_t)step * sizeof *a);
  while (read_right - read_left >= step) {
    const KEY *from;
    if (read_left - e.left <= e.right - read_right) {
      from = read_left;
      read_left += step;
    } else {
      read_right -= step;
      from = read_right;
    }
    __m512i v[UNROLL];
#pragma GCC unroll 8
    for (int i = 0; i < unroll; i++) v[i] = _mm512_loadu_si512(from + i * LANES);
#pragma GCC unroll 8
    for (int i = 0; i < unroll; i++) NAME(put)(&e, v[i], pivot);
  }
  int64_t rest = read_right - read_left;
  memcpy(middle, read_left, (size_t)rest * sizeof *a);
  NAME(put_rest)(&e, first, step, pivot);
  NAME(put_rest)(&e, last, step, pivot);
  NAME(put_rest)(&e, middle, rest, pivot);
  assert(e.left == e.right);
  return e.left - a;
}

static int64_t NAME(partition_few)(KEY *a, int64_t n, KEY at) {
  int64_t less = 0;
  for (int64_t i = 0; i < n; i++) {
    KEY k = a[i];
    a[i] = a[less];
    a[less] = k;
    less += k < at;
  }
  return less;
}

V4 static int64_t NAME(partition)(KEY *a, int64_t n, KEY at) {
  if (n < FEW) return NAME(partition_few)(a, n, at);
  return n < MANY ? NAME(partition_by)(a, n, at, 2) : NAME(partition_by)(a, n, at, UNROLL);
}

/* ---- quicksort */

/* The median of a sample that is spread over the keys. */
V4 static KEY NAME(choose_pivot)(const KEY *a, int64_t n) {
  KEY sample[4 * LANES];
  int64_t many = n >= 4096 ? 4 * LANES : LANES, step = n / many;
  for (int64_t i = 0; i < many; i++) sample[i] = a[i * step + (i * 7 & 15) * step / 16];
  NAME(sort_small)(sample, many);
  return sample[many / 2];
}

static void NAME(sift)(KEY *a, int64_t i, int64_t n) {
  KEY e = a[i];
  for (int64_t k; (k = 2 * i + 1) < n; i = k) {
    if (k + 1 < n && a[k + 1] > a[k]) k++;
    if (a[k] <= e) break;
    a[i] = a[k];
  }
  a[i] = e;
}

/* For keys that defeat the choice of pivots: never quadratic. */
static void NAME(heap_sort)(KEY *a, int64_t n) {
  for (int64_t i = n / 2; i-- > 0;) NAME(sift)(a, i, n);
  for (int64_t i = n - 1; i > 0; i--) {
    KEY top = a[0];
    a[0] = a[i];
    a[i] = top;
    NAME(sift)(a, 0, i);
  }
}

V4 static void NAME(quick_sort)(KEY *a, int64_t n, int depth) {
  while (n > 2 * REGISTERS * LANES) {
    if (depth-- == 0) {
      NAME(heap_sort)(a, n);
      return;
    }
    KEY pivot = NAME(choose_pivot)(a, n);
    int64_t less = NAME(partition)(a, n, pivot);
    if (less == 0) { /* the pivot is the least key: put all its equals in their place */
      if (pivot == (KEY)-1) return;
      less = NAME(partition)(a, n, pivot + 1);
      a += less;
      n -= less;
    } else if (less < n - less) {
      NAME(quick_sort)(a, less, depth);
      a += less;
      n -= less;
    } else {
      NAME(quick_sort)(a + less, n - less, depth);
      n = less;
    }
  }
  NAME(sort_small)(a, n);
}

void NAME(tt__vector_sort)(KEY *a, int64_t n) {
  NAME(quick_sort)(a, n, n > 1 ? 2 * (64 - __builtin_clzll((uint64_t)n)) : 0);
}

/* A key near the one of rank k: of a sample in order, the one of that rank in proportion. */
V4 static KEY NAME(guess)(const KEY *a, int64_t n, int64_t k) {
  enum { MANY_SAMPLES = 2 * REGISTERS * LANES };
  KEY sample[MANY_SAMPLES];
  int64_t step = n / MANY_SAMPLES;
  for (int64_t i = 0; i < MANY_SAMPLES; i++) sample[i] = a[i * step + (i * 37 & 63) * step / 64];
  NAME(sort_small)(sample, MANY_SAMPLES);
  return sample[(int64_t)((double)k / (double)n * MANY_SAMPLES)];
}

V4 void NAME(tt__vector_select)(KEY *a, int64_t n, int64_t k) {
  for (int tries = 64; n > 8 * REGISTERS * LANES && tries > 0; tries--) {
    KEY pivot = NAME(guess)(a, n, k);
    int64_t less = NAME(partition)(a, n, pivot);
    if (k < less) {
      n = less;
      continue;
    }
    a += less;
    n -= less;
    k -= less;
    if (pivot == (KEY)-1) return; /* all that is left is the greatest key */
    int64_t equal = NAME(partition)(a, n, pivot + 1);
    if (k < equal) return;
    a += equal;
    n -= equal;
    k -= equal;
  }
  NAME(tt__vector_sort)(a, n);
}

/* Keys below pivot[i] lie before end[i], for `pivots` (one less than a power of two) ascending pivots. */
V4 void NAME(tt__vector_partition)(KEY *a, int64_t at, int64_t n, const KEY *pivot, int pivots, int64_t *end) {
  int mid = pivots / 2;
  int64_t less = NAME(partition)(a + at, n, pivot[mid]);
  end[mid] = at + less;
  if (mid == 0) return;
  NAME(tt__vector_partition)(a, at, less, pivot, mid, end);
  NAME(tt__vector_partition)(a, at + less, n - less, pivot + mid + 1, mid, end + mid + 1);
}

V4 bool NAME(tt__vector_keys)(tt_key_rule r, const KEY *in, KEY *out, int64_t n) {
  const KEY sign = (KEY)1 << (sizeof(KEY) * 8 - 1), inf = (KEY)r.inf;
  KEY special = 0;
  if (r.inf)
    for (int64_t i = 0; i < n; i++) {
      KEY bits = in[i]; /* out may be in */
      special |= (KEY)(((bits & ~sign) > inf) | (bits == sign));
      out[i] = TO_KEY(bits, r);
    }
  else
    for (int64_t i = 0; i < n; i++) out[i] = TO_KEY(in[i], r);
  return special != 0;
}

V4 void NAME(tt__vector_back)(tt_key_rule r, const KEY *in, KEY *out, int64_t n) {
  if (r.inf)
    for (int64_t i = 0; i < n; i++) out[i] = FROM_KEY(in[i], r);
  else
    for (int64_t i = 0; i < n; i++) out[i] = FROM_KEY(in[i], r);
}

#undef KEY
#undef TO_KEY
#undef FROM_KEY
#undef LANES
#undef MASK
#undef NAME
#undef VMIN
#undef VMAX
#undef VMASK_MAX
#undef VSET1
#undef VLESS
#undef VCOMPRESS
#undef VMASK_LOAD
#undef VMASK_STORE
#undef REVERSE
#undef SWAP8
#undef SWAP4
#undef SWAP2
#undef SWAP1
