/*
** Draws with NumPy's bits: the words of one stream, one after the other, into memory at once.
*/
#include <math.h>
#include <string.h>

#include "fn/random/draw.h"

/* A parameter for each element: a number, or memory of float64 (or uint64) in C order. */
typedef struct column {
  const void *data;
  double real;
  uint64_t whole;
} column;

static bool column_of(tt_draw *d, tt_value v, tt_dtype type, column *out) {
  *out = (column){.real = v.tag == TT_V_FLOAT ? v.as.f : 0, .whole = v.tag == TT_V_UINT ? v.as.u : (uint64_t)v.as.i};
  if (v.tag != TT_V_ARRAY) return d->c->code == TT_OK;
  tt_array *a = tt__compose_cast(d->c, v.as.array, type);
  out->data = tt__compose_peek(d->c, a ? tt__compose_broadcast(d->c, a, d->rank, d->len) : NULL);
  return out->data != NULL;
}

static double real_at(const column *p, int64_t i) { return p->data ? ((const double *)p->data)[i] : p->real; }
static uint64_t whole_at(const column *p, int64_t i) { return p->data ? ((const uint64_t *)p->data)[i] : p->whole; }

/* 24 bits of each word of 32. */
static void fill_floats(tt_bits *b, float *out, int64_t n) {
  uint32_t word[128];
  for (int64_t m; n > 0; n -= m, out += m) {
    m = n < 128 ? n : 128;
    tt__bits_fill_32(b, word, m);
    for (int64_t i = 0; i < m; i++) out[i] = (float)(int32_t)(word[i] >> 8) * 0x1p-24f;
  }
}

/* Uniform numbers of parameters that are the same for all, many at a time; false: no such ones. */
static bool fill_uniform(tt_draw *d, tt_dist dist, tt_dtype type, const double *p, void *data) {
  double *to = data;
  if (type == TT_F32 && dist == TT_DIST_UNIT_FLOAT) return fill_floats(d->bits, data, d->size), true;
  if (type != TT_F64 || (dist != TT_DIST_UNIT && dist != TT_DIST_UNIFORM)) return false;
  tt__bits_fill_double(d->bits, to, d->size);
  for (int64_t i = 0; dist == TT_DIST_UNIFORM && i < d->size; i++) to[i] = p[0] + p[1] * to[i];
  return true;
}

tt_array *tt__draw_exact(tt_draw *d, tt_dist dist, tt_dtype type, const tt_value *p, int n) {
  const tt_dist_row *row = &tt__dists[dist];
  tt_real_fn real = row->real[d->legacy];
  tt_count_fn count = row->count[d->legacy];
  column col[3];
  double at[3] = {0, 0, 0};
  void *data;
  bool fixed = true;
  for (int k = 0; k < n; k++) {
    if (!column_of(d, p[k], TT_F64, &col[k])) return NULL;
    at[k] = col[k].real;
    fixed &= !col[k].data;
  }
  tt_array *out = tt__compose_block(d->c, type, d->rank, d->len, &data);
  if (out && fixed && fill_uniform(d, dist, type, at, data)) return out;
  for (int64_t i = 0; out && i < d->size; i++) {
    for (int k = 0; k < n && !fixed; k++) at[k] = real_at(&col[k], i);
    if (count)
      ((int64_t *)data)[i] = count(d->bits, at);
    else if (type == TT_F32)
      ((float *)data)[i] = (float)real(d->bits, at);
    else
      ((double *)data)[i] = real(d->bits, at);
  }
  return out;
}

static void put(void *data, int64_t i, int bytes, uint64_t x) {
  switch (bytes) {
    case 8:
      ((uint64_t *)data)[i] = x;
      return;
    case 4:
      ((uint32_t *)data)[i] = (uint32_t)x;
      return;
    case 2:
      ((uint16_t *)data)[i] = (uint16_t)x;
      return;
    default:
      ((uint8_t *)data)[i] = (uint8_t)x;
  }
}

/* Between the same limits, many at a time. */
static void fill_integers(tt_draw *d, tt_dtype type, uint64_t low, uint64_t range, void *data) {
  int bytes = (int)tt__dtype_size(type);
  uint64_t number[128];
  tt_spare spare = {0};
  for (int64_t i = 0, n; i < d->size; i += n) {
    n = d->size - i < 128 ? d->size - i : 128;
    tt__bits_integers(d->bits, &spare, type == TT_BOOL ? 0 : bytes, range, d->legacy, number, n);
    for (int64_t k = 0; k < n; k++) put(data, i + k, bytes, low + number[k]);
  }
}

tt_array *tt__draw_exact_integers(tt_draw *d, tt_dtype type, tt_value low, tt_value range) {
  int bytes = (int)tt__dtype_size(type);
  column from, span;
  tt_spare spare = {0};
  void *data;
  if (!column_of(d, low, TT_U64, &from) || !column_of(d, range, TT_U64, &span)) return NULL;
  tt_array *out = tt__compose_block(d->c, type, d->rank, d->len, &data);
  if (out && !from.data && !span.data) return fill_integers(d, type, from.whole, span.whole, data), out;
  for (int64_t i = 0; out && i < d->size; i++)
    put(data, i, bytes,
        whole_at(&from, i) +
            tt__bits_integer(d->bits, &spare, type == TT_BOOL ? 0 : bytes, whole_at(&span, i), d->legacy));
  return out;
}

/* ---- orders */

static int64_t *counted(tt_draw *d, int64_t n, tt_array **out) {
  void *data;
  *out = tt__compose_block(d->c, TT_I64, 1, &n, &data);
  for (int64_t i = 0; *out && i < n; i++) ((int64_t *)data)[i] = i;
  return *out ? data : NULL;
}

static void swap(int64_t *a, int64_t *b) {
  int64_t kept = *a;
  *a = *b;
  *b = kept;
}

/* From the last to `first`, each with one of those before it. */
static void shuffle(tt_bits *b, int64_t *a, int64_t n, int64_t first) {
  for (int64_t i = n - 1; i >= first; i--) swap(&a[i], &a[tt__bits_interval(b, (uint64_t)i)]);
}
/* The same with products instead of masks, as choices have it. */
static void shuffle_choices(tt_bits *b, int64_t *a, int64_t n, int64_t first) {
  tt_spare none = {0};
  for (int64_t i = n - 1; i >= first; i--) swap(&a[i], &a[tt__bits_integer(b, &none, 8, (uint64_t)i, false)]);
}

tt_array *tt__draw_exact_order(tt_draw *d, int64_t n) {
  tt_array *out;
  int64_t *at = counted(d, n, &out);
  if (at) shuffle(d->bits, at, n, 1);
  return out;
}

tt_array *tt__draw_exact_lines(tt_draw *d) {
  int64_t n = d->len[d->rank - 1], *at;
  void *data;
  tt_array *out = tt__compose_block(d->c, TT_I64, d->rank, d->len, &data);
  for (int64_t k = 0; out && n && k < d->size / n; k++) {
    at = (int64_t *)data + k * n;
    for (int64_t i = 0; i < n; i++) at[i] = i;
    shuffle(d->bits, at, n, 1);
  }
  return out;
}

/* ---- some of many */

/* A table of numbers, open addressing. */
typedef struct number_set {
  uint64_t *slot, mask;
} number_set;

/* Put x in; false: it is there. */
static bool insert(number_set *s, uint64_t x) {
  uint64_t at = x & s->mask;
  while (s->slot[at] != UINT64_MAX && s->slot[at] != x) at = (at + 1) & s->mask;
  if (s->slot[at] == x) return false;
  s->slot[at] = x;
  return true;
}

/*
** Floyd's: the k-th is one of the first n - m + k + 1, or that last one itself where the other is taken. They come from
** `drawn`, or from the bits as they are needed.
*/
static bool some_by_set(tt_draw *d, int64_t n, int64_t m, const uint64_t *drawn, int64_t *out) {
  uint64_t room = (uint64_t)(1.2 * (double)m);
  number_set s = {.mask = room ? UINT64_MAX >> __builtin_clzll(room) : 0};
  tt_spare none = {0};
  s.slot = tt__compose_scratch(d->c, (int64_t)(s.mask + 1), sizeof *s.slot);
  if (!s.slot) return false;
  memset(s.slot, 255, (s.mask + 1) * sizeof *s.slot);
  for (int64_t j = n - m; j < n; j++) {
    uint64_t x = drawn ? drawn[j - (n - m)] : tt__bits_integer(d->bits, &none, 8, (uint64_t)j, false);
    if (!insert(&s, x)) {
      x = (uint64_t)j;
      insert(&s, x);
    }
    out[j - (n - m)] = (int64_t)x;
  }
  return true;
}

tt_array *tt__draw_exact_some(tt_draw *d, int64_t n, int64_t m, bool shuffled) {
  tt_array *out;
  if (d->legacy) return tt__compose_slice(d->c, tt__draw_exact_order(d, n), 0, 0, m, 1);
  if (n > 10000 && m > n / (shuffled ? 50 : 20)) {
    int64_t *at = counted(d, n, &out);
    if (at) shuffle_choices(d->bits, at, n, n - m > 1 ? n - m : 1);
    return tt__compose_slice(d->c, out, 0, n - m, m, 1);
  }
  int64_t *at = counted(d, m, &out);
  if (!at || !some_by_set(d, n, m, NULL, at)) return NULL;
  if (shuffled) shuffle_choices(d->bits, at, m, 1);
  return out;
}

tt_array *tt__draw_some(tt_draw *d, int64_t n, int64_t m, bool shuffled) {
  tt_composer *c = d->c;
  tt_array *out;
  if (n <= 10000 || m > n / 50) return tt__compose_slice(c, tt__draw_order(d, n), 0, 0, m, 1);
  tt_array *last = tt__compose_cast(c, tt__compose_opi(c, TT_ADD, tt__compose_iota(c, m), n - m), TT_U64);
  if (!last || !tt__draw_shape_fixed(d, 1, &m)) return NULL;
  const uint64_t *drawn = tt__compose_peek(c, tt__draw_below_each(d, last));
  int64_t *at = counted(d, m, &out);
  if (!drawn || !at || !some_by_set(d, n, m, drawn, at)) return NULL;
  return shuffled ? tt__compose_take(c, out, tt__draw_order(d, m), 0) : out;
}

/* The first place whose running sum is beyond u. */
static int64_t place_of(const double *sum, int64_t n, double u) {
  int64_t low = 0, high = n;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (sum[middle] > u)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

tt_array *tt__draw_exact_places(tt_draw *d, tt_array *p) {
  void *data;
  double total = 0;
  const double *chance = tt__compose_peek(d->c, p);
  double *sum = tt__compose_scratch(d->c, p->size, sizeof *sum);
  tt_array *out = tt__compose_block(d->c, TT_I64, d->rank, d->len, &data);
  if (!chance || !sum || !out) return NULL;
  for (int64_t i = 0; i < p->size; i++) sum[i] = total += chance[i];
  for (int64_t i = 0; i < p->size; i++) sum[i] /= total;
  for (int64_t i = 0; i < d->size; i++) ((int64_t *)data)[i] = place_of(sum, p->size, tt__bits_double(d->bits));
  return out;
}

/* Draw what is missing, keep what is new; what was taken has no chance any more. */
tt_array *tt__draw_exact_weighted(tt_draw *d, tt_array *p, int64_t m) {
  int64_t n = p->size, have = 0;
  tt_array *out;
  const double *chance = tt__compose_peek(d->c, p);
  double *left = tt__compose_scratch(d->c, n, sizeof *left), *sum = tt__compose_scratch(d->c, n, sizeof *sum);
  double *u = tt__compose_scratch(d->c, m, sizeof *u);
  int64_t *at = counted(d, m, &out);
  if (!chance || !left || !sum || !u || !at) return NULL;
  memcpy(left, chance, (size_t)n * sizeof *left);
  while (have < m) {
    int64_t before = have;
    double total = 0;
    for (int64_t i = have; i < m; i++) u[i] = tt__bits_double(d->bits);
    for (int64_t i = 0; i < n; i++) sum[i] = total += left[i];
    for (int64_t i = 0; i < n; i++) sum[i] /= total;
    for (int64_t i = before; i < m; i++) {
      int64_t k = place_of(sum, n, u[i]);
      if (k >= n || left[k] == 0) continue;
      left[k] = 0; /* a place that comes twice counts once */
      at[have++] = k;
    }
  }
  return out;
}
