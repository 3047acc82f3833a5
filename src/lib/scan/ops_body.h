/*
** One scan for the C type T: NAME gives the functions their names, OP(a, b) combines, EXACT says whether the
** grouping leaves the bits alone; RUN(in, out, n, before), where there is one, does a row with vectors.
** Included once per row by scan/ops.c, and by nothing else.
*/

static void NAME(row)(const void *from, void *to, int64_t n) {
  const T *in = from;
  T *out = to, a;
  if (n == 0) return;
#ifdef RUN
  if (RUN(in, out, n, 0)) return;
#endif
  out[0] = a = in[0];
  for (int64_t i = 1; i < n; i++) out[i] = a = OP(a, in[i]);
}

#if EXACT /* any grouping gives the same bits: total first, then one run that starts from what is before */

static void NAME(local)(const void *from, void *to, int64_t n, void *sum) {
  const T *in = from;
  T a = in[0];
  (void)to;
  for (int64_t i = 1; i < n; i++) a = OP(a, in[i]);
  memcpy(sum, &a, sizeof a);
}

static void NAME(total)(const void *to, int64_t n, const void *before, void *total) {
  T a, b;
  (void)to;
  (void)n;
  if (!before) return;
  memcpy(&a, before, sizeof a);
  memcpy(&b, total, sizeof b);
  a = OP(a, b);
  memcpy(total, &a, sizeof a);
}

static void NAME(finish)(const void *from, void *to, int64_t n, const void *before) {
  const T *in = from;
  T *out = to, a;
  if (!before) {
    NAME(row)(from, to, n);
    return;
  }
  memcpy(&a, before, sizeof a);
#ifdef RUN
  if (RUN(in, out, n, a)) return;
#endif
  for (int64_t i = 0; i < n; i++) out[i] = a = OP(a, in[i]);
}

#else

/* Eight lanes at a time, so that one addition does not wait for the one before. */
static void NAME(eight)(const T *in, T *out) {
  T a[TT_SCAN_LANES];
  for (int l = 0; l < TT_SCAN_LANES; l++) out[l * TT_SCAN_LANE] = a[l] = in[l * TT_SCAN_LANE];
  for (int64_t i = 1; i < TT_SCAN_LANE; i++) {
    /* The next eight lanes, in the order of memory: sixteen short streams are more than the hardware follows. */
    __builtin_prefetch(in + TT_SCAN_LANES * (TT_SCAN_LANE + i), 0);
    __builtin_prefetch(out + TT_SCAN_LANES * (TT_SCAN_LANE + i), 1);
#pragma GCC unroll 8
    for (int l = 0; l < TT_SCAN_LANES; l++) {
      a[l] = OP(a[l], in[l * TT_SCAN_LANE + i]);
      out[l * TT_SCAN_LANE + i] = a[l];
    }
  }
}

static void NAME(local)(const void *from, void *to, int64_t n, void *sum) {
  const T *in = from;
  T *out = to;
  int64_t i = 0;
  (void)sum;
  for (; i + TT_SCAN_LANES * TT_SCAN_LANE <= n; i += TT_SCAN_LANES * TT_SCAN_LANE) NAME(eight)(in + i, out + i);
  for (; i < n; i += TT_SCAN_LANE) NAME(row)(in + i, out + i, n - i < TT_SCAN_LANE ? n - i : TT_SCAN_LANE);
}

static int64_t NAME(lane_end)(int64_t i, int64_t n) { return n - i < TT_SCAN_LANE ? n : i + TT_SCAN_LANE; }

static void NAME(total)(const void *to, int64_t n, const void *before, void *total) {
  const T *out = to;
  T a = out[NAME(lane_end)(0, n) - 1], b;
  if (before) {
    memcpy(&b, before, sizeof b);
    a = OP(b, a);
  }
  for (int64_t i = TT_SCAN_LANE; i < n; i += TT_SCAN_LANE) a = OP(a, out[NAME(lane_end)(i, n) - 1]);
  memcpy(total, &a, sizeof a);
}

static void NAME(finish)(const void *from, void *to, int64_t n, const void *before) {
  T *out = to, a;
  int64_t i = 0;
  (void)from;
  if (before) {
    memcpy(&a, before, sizeof a);
  } else {
    i = NAME(lane_end)(0, n);
    a = out[i - 1];
  }
  for (; i < n; i += TT_SCAN_LANE) {
    int64_t end = NAME(lane_end)(i, n);
    for (int64_t k = i; k < end; k++) out[k] = OP(a, out[k]);
    a = out[end - 1];
  }
}

#endif

static void NAME(columns)(const void *from, void *to, int64_t n, int64_t inner, int64_t lo, int64_t hi) {
  const T *in = from;
  T *out = to;
  if (n == 0) return;
  for (int64_t k = lo; k < hi; k++) out[k] = in[k];
  for (int64_t i = 1; i < n; i++) {
    const T *x = in + i * inner;
    T *y = out + i * inner;
    const T *z = y - inner;
    for (int64_t k = lo; k < hi; k++) y[k] = OP(z[k], x[k]);
  }
}

static const tt_scan_ops NAME(ops) = {NAME(row), NAME(local), NAME(total), NAME(finish), NAME(columns), EXACT};

#undef T
#undef NAME
#undef OP
#undef EXACT
#undef RUN
