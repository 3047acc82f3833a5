/*
** One radix sort for the element type ELEM, whose key is KEY_OF(element); NAME gives the functions
** their names. Included once per type by sort/radix.c, and by nothing else.
*/

#define DIGIT(e) ((KEY_OF(e) - base) >> shift & (DIGITS - 1))

static void NAME(count_part)(void *ctx, int64_t lo, int64_t hi, int worker) {
  radix_pass *p = ctx;
  (void)worker;
  for (int64_t part = lo; part < hi; part++) {
    int64_t from = part * p->part, to = from + p->part < p->n ? from + p->part : p->n;
    const ELEM *a = p->src;
    int shift = p->shift;
    uint64_t base = p->base;
    uint32_t even[DIGITS] = {0},
             odd[DIGITS] = {0}; /* two tables, so that equal neighbours do not wait for each other */
    int64_t i = from;
    for (; i + 2 <= to; i += 2) {
      even[DIGIT(a[i])]++;
      odd[DIGIT(a[i + 1])]++;
    }
    for (; i < to; i++) even[DIGIT(a[i])]++;
    for (int d = 0; d < DIGITS; d++) p->count[part][d] = (int64_t)even[d] + odd[d];
  }
}

static void NAME(move_part)(void *ctx, int64_t lo, int64_t hi, int worker) {
  radix_pass *p = ctx;
  (void)worker;
  for (int64_t part = lo; part < hi; part++) {
    int64_t from = part * p->part, to = from + p->part < p->n ? from + p->part : p->n;
    const ELEM *a = p->src;
    ELEM *dst = p->dst;
    int64_t *place = p->count[part];
    int shift = p->shift;
    uint64_t base = p->base;
    for (int64_t i = from; i < to; i++) dst[place[DIGIT(a[i])]++] = a[i];
  }
}

/* For a handful of elements, where counting digits costs more than comparing. */
static void NAME(insert)(ELEM *a, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    ELEM e = a[i];
    int64_t j = i;
    for (; j > 0 && KEY_OF(a[j - 1]) > KEY_OF(e); j--) a[j] = a[j - 1];
    a[j] = e;
  }
}

ELEM *NAME(tt__radix)(ELEM *a, ELEM *tmp, int64_t n, tt_key_view v, bool wide) {
  if (n <= FEW) {
    NAME(insert)(a, n);
    return a;
  }
  int64_t count[MAX_PARTS][DIGITS];
  int parts = parts_of(n, wide);
  radix_pass p = {.n = n, .part = (n + parts - 1) / parts, .base = v.base, .count = count};
  for (uint64_t bits = v.bits; bits;) {
    p.shift = next_digit(&bits);
    p.src = a;
    p.dst = tmp;
    tt__pool_run(parts, 1, NAME(count_part), &p);
    counts_to_places(&p, parts);
    tt__pool_run(parts, 1, NAME(move_part), &p);
    ELEM *t = a;
    a = tmp;
    tmp = t;
  }
  return a;
}

#undef ELEM
#undef NAME
#undef KEY_OF
#undef DIGIT
