/*
** Searching and counting. Specialised by
**   T, SIZE    the element           INF (16-bit floats), FLOAT, COMPLEX   which kind of number it is; else an integer
** and for counting, how an element gets its bin number, below `bins`, or `bins` when it is left out:
**   INTEGERS   it is its number, from a.min on; UNIFORM: equal bins between two ends, computed in EDGE (its type);
**   EDGES      by searching in a.edge
*/
#define THREADS 512
#define ROOM 11264u /* counters in a block's shared memory */

typedef struct count_args {
  const TT_GLOBAL T *in;
  const TT_GLOBAL void *edge;
  TT_GLOBAL void *out;
  const TT_GLOBAL T *query;
  const TT_GLOBAL tt_i64 *place; /* of the elements before they were sorted by number */
  const TT_GLOBAL tt_f64 *weight;
  TT_GLOBAL tt_f64 *part;   /* sums of segments, at their first element */
  TT_GLOBAL tt_i64 *next;   /* where the next one begins */
  TT_GLOBAL tt_u32 *number; /* bin numbers of all elements */
  tt_i64 n, bins, min, m;   /* m: of the queries; blocks of a weighted sum are of m elements, 0: there is one */
  tt_f64 first, last, denom;
  tt_i32 right, copies;
} count_args;

/* ---- order: NaNs last, as lib/pick/search.c has it */

#if defined(COMPLEX)
TT_FN int less_part(COMPLEX x, COMPLEX y) { return x < y || (y != y && x == x); }
TT_FN int less(T x, T y) {
  if (x.re < y.re) return x.im == x.im || y.im != y.im;
  if (x.re > y.re) return y.im != y.im && x.im == x.im;
  if (x.re == y.re || (x.re != x.re && y.re != y.re)) return less_part(x.im, y.im);
  return y.re != y.re;
}
#elif defined(INF)
TT_FN T half_key(T x) {
  T size = (T)(x & 0x7fff);
  if (size > INF) return (T)0xffff;
  if (size == 0) return (T)0x8000;
  return (T)(x & 0x8000 ? ~x : x | 0x8000);
}
TT_FN int less(T x, T y) { return half_key(x) < half_key(y); }
#elif defined(FLOAT)
TT_FN int less(T x, T y) { return x < y || (y != y && x == x); }
#else
TT_FN int less(T x, T y) { return x < y; }
#endif

/* Where x goes in n sorted elements: before its equals, or behind them. */
TT_FN tt_i64 search_place(const TT_GLOBAL T *sorted, tt_i64 n, T x, int right) {
  tt_i64 lo = 0;
  while (n > 0) {
    const tt_i64 middle = n / 2;
    const T y = sorted[lo + middle];
    if (right ? !less(x, y) : less(y, x)) {
      lo += middle + 1;
      n -= middle + 1;
    } else {
      n = middle;
    }
  }
  return lo;
}

TT_KERNEL(search_sorted, count_args, THREADS) {
  TT_UNPACK(count_args);
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.m; i += (tt_i64)TT_BLOCKS * THREADS)
    ((TT_GLOBAL tt_i64 *)a.out)[i] = search_place(a.in, a.n, a.query[i], a.right);
}

/* ---- bin numbers */

#if defined(INTEGERS)
TT_FN tt_i64 number_of(const count_args *a, T x) { return (tt_i64)x - a->min; }

/* The least and the greatest of all elements, in the order of tt_u64 after BIAS was xored. */
TT_KERNEL(count_range, count_args, THREADS) {
  TT_UNPACK(count_args);
  TT_SHARED tt_u64 least, most;
  tt_u64 low = ~TT_U64(0), high = 0;
  if (TT_THREAD == 0) {
    least = low;
    most = high;
  }
  TT_BARRIER();
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_u64 x = (tt_u64)a.in[i] ^ BIAS;
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  TT_ATOMIC_MIN(&least, low);
  TT_ATOMIC_MAX(&most, high);
  TT_BARRIER();
  if (TT_THREAD > 0) return;
  TT_ATOMIC_MIN((TT_GLOBAL tt_u64 *)a.out, least);
  TT_ATOMIC_MAX((TT_GLOBAL tt_u64 *)a.out + 1, most);
}
#elif defined(UNIFORM)
TT_FN tt_i64 number_of(const count_args *a, T value) {
  const TT_GLOBAL EDGE *edge = (const TT_GLOBAL EDGE *)a->edge;
  const EDGE first = (EDGE)a->first, last = (EDGE)a->last, denom = (EDGE)a->denom, scale = (EDGE)a->bins;
  const EDGE x = (EDGE)value;
  if (!(x >= first && x <= last)) return a->bins;
  tt_i64 b = (tt_i64)((x - first) / denom * scale);
  b -= b >= a->bins;
  b -= x < edge[b]; /* the quotient can be off by one next to an edge */
  b += b != a->bins - 1 && x >= edge[b + 1];
  return b;
}
#elif defined(EDGES)
TT_FN tt_i64 number_of(const count_args *a, T x) {
  const TT_GLOBAL T *edge = (const TT_GLOBAL T *)a->edge;
  const tt_i64 b = search_place(edge, a->bins + 1, x, 1);
  if (!less(x, edge[a->bins])) return less(edge[a->bins], x) ? a->bins : a->bins - 1; /* the last edge is inside */
  return b == 0 ? a->bins : b - 1;
}
#endif

#if defined(INTEGERS) || defined(UNIFORM) || defined(EDGES)
/* Few bins have several counters each, so that equal neighbours do not wait for each other. */
TT_KERNEL(count_few, count_args, THREADS) {
  TT_UNPACK(count_args);
  TT_SHARED tt_u32 table[ROOM];
  const tt_u32 bins = (tt_u32)a.bins, copies = (tt_u32)a.copies, mine = TT_THREAD % copies;
  const tt_i64 share = (a.n + TT_BLOCKS - 1) / TT_BLOCKS, from = TT_BLOCK * share;
  const tt_i64 to = from + share < a.n ? from + share : a.n;
  for (tt_u32 i = TT_THREAD; i < bins * copies; i += THREADS) table[i] = 0;
  TT_BARRIER();
  TT_UNROLLED_8
  for (tt_i64 i = from + TT_THREAD; i < to; i += THREADS) {
    const tt_u32 b = (tt_u32)number_of(&a, a.in[i]);
    if (b < bins) TT_ATOMIC_ADD(&table[b * copies + mine], 1u);
  }
  TT_BARRIER();
  for (tt_u32 b = TT_THREAD; b < bins; b += THREADS) {
    tt_u64 sum = 0;
    for (tt_u32 k = 0; k < copies; k++) sum += table[b * copies + k];
    if (sum) TT_ATOMIC_ADD((TT_GLOBAL tt_u64 *)a.out + b, sum);
  }
}

TT_KERNEL(count_many, count_args, THREADS) {
  TT_UNPACK(count_args);
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS) {
    const tt_i64 b = number_of(&a, a.in[i]);
    if (b < a.bins) TT_ATOMIC_ADD((TT_GLOBAL tt_u64 *)a.out + b, (tt_u64)1);
  }
}

/* ---- weights: added up in the order of the elements, for which they are sorted by bin */

TT_KERNEL(count_numbers, count_args, THREADS) {
  TT_UNPACK(count_args);
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS)
    a.number[i] = (tt_u32)number_of(&a, a.in[i]);
}

/* A segment has one bin and one block; are element i and k >= i of one? */
TT_FN int belong(const count_args *a, tt_i64 i, tt_i64 k) {
  return a->number[i] == a->number[k] && (a->m == 0 || a->place[i] / a->m == a->place[k] / a->m);
}

TT_KERNEL(sum_segments, count_args, THREADS) {
  TT_UNPACK(count_args);
  for (tt_i64 i = (tt_i64)TT_BLOCK * THREADS + TT_THREAD; i < a.n; i += (tt_i64)TT_BLOCKS * THREADS) {
    if (a.number[i] >= a.bins || (i > 0 && belong(&a, i - 1, i))) continue;
    tt_i64 end = i + 1, n = a.m > 0 && a.m < a.n - i ? a.m - 1 : a.n - i - 1;
    while (n > 0) { /* the first that is of another segment */
      const tt_i64 middle = n / 2;
      const int on = belong(&a, i, end + middle);
      end = on ? end + middle + 1 : end;
      n = on ? n - middle - 1 : middle;
    }
    tt_f64 sum = 0;
    TT_UNROLLED_8
    for (tt_i64 k = i; k < end; k++) sum += a.weight[k];
    a.part[i] = sum;
    a.next[i] = end;
  }
}

TT_KERNEL(sum_bins, count_args, THREADS) {
  TT_UNPACK(count_args);
  const tt_i64 b = (tt_i64)TT_BLOCK * THREADS + TT_THREAD;
  if (b >= a.bins) return;
  tt_i64 lo = 0, n = a.n;
  while (n > 0) {
    const tt_i64 middle = n / 2;
    const int before = a.number[lo + middle] < b;
    lo = before ? lo + middle + 1 : lo;
    n = before ? n - middle - 1 : middle;
  }
  tt_f64 sum = 0;
  for (; lo < a.n && a.number[lo] == b; lo = a.next[lo]) sum += a.part[lo];
  ((TT_GLOBAL tt_f64 *)a.out)[b] = sum;
}
#endif
