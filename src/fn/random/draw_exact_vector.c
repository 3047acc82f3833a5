/*
** Vectors with NumPy's bits.
*/
#include <string.h>

#include "fn/random/draw.h"

/* ---- Dirichlet */

/* Gamma numbers over their sum. */
static void share_by_gamma(tt_draw *d, const double *alpha, int64_t n, double *out) {
  double sum = 0;
  for (int64_t k = 0; k < n; k++) {
    out[k] = tt__dists[TT_DIST_STANDARD_GAMMA].real[d->legacy](d->bits, &alpha[k]);
    sum += out[k];
  }
  double inverse = 1 / sum;
  for (int64_t k = 0; k < n; k++) out[k] *= inverse;
}

/* A part of what is left, again and again; `rest`: the sum of the shapes from each on. For shapes so small that all
 * gamma numbers might be 0. */
static void share_by_breaking(tt_draw *d, const double *alpha, const double *rest, int64_t n, double *out) {
  double left = 1;
  for (int64_t k = 0; k < n - 1; k++) {
    double part = tt__bits_beta(d->bits, (double[2]){alpha[k], rest[k + 1]});
    out[k] = left * part;
    left *= 1 - part;
    if (rest[k + 1] == 0) break;
  }
  out[n - 1] = left;
}

tt_array *tt__draw_exact_shares(tt_draw *d, tt_array *alpha) {
  int64_t n = alpha->size;
  void *data;
  double most = 0;
  const double *shape = tt__compose_peek(d->c, alpha);
  double *rest = tt__compose_scratch(d->c, n, sizeof *rest);
  tt_array *out = tt__compose_block(d->c, TT_F64, d->rank, d->len, &data);
  if (!shape || !rest || !out) return NULL;
  for (int64_t k = n - 1; k >= 0; k--) {
    rest[k] = shape[k] + (k + 1 < n ? rest[k + 1] : 0);
    if (shape[k] > most) most = shape[k];
  }
  if (d->size) memset(data, 0, (size_t)d->size * sizeof(double));
  for (int64_t i = 0; i < d->size; i += n) {
    if (most >= 0.1 || d->legacy)
      share_by_gamma(d, shape, n, (double *)data + i);
    else if (rest[0] > 0)
      share_by_breaking(d, shape, rest, n, (double *)data + i);
  }
  return out;
}

/* ---- multinomial */

tt_array *tt__draw_exact_trials(tt_draw *d, tt_array *trials, tt_array *p) {
  tt_composer *c = d->c;
  int64_t k = tt__array_len(p)[p->rank - 1], len[TT_MAX_RANK];
  void *data;
  memcpy(len, d->len, sizeof *len * (size_t)d->rank);
  len[d->rank] = k;
  const double *n = tt__compose_peek(c, tt__compose_broadcast(c, trials, d->rank, d->len));
  const double *chance = tt__compose_peek(c, tt__compose_broadcast(c, p, d->rank + 1, len));
  tt_array *out = tt__compose_block(c, TT_I64, d->rank + 1, len, &data);
  if (!n || !chance || !out) return NULL;
  if (out->size) memset(data, 0, (size_t)out->size * sizeof(int64_t));
  for (int64_t i = 0; i < d->size; i++) {
    int64_t left = (int64_t)n[i], *count = (int64_t *)data + i * k;
    double rest = 1;
    for (int64_t j = 0; j < k - 1; j++) {
      double v[2] = {(double)left, chance[i * k + j] / rest};
      count[j] = d->legacy ? tt__bits_binomial_legacy(d->bits, v) : tt__bits_binomial(d->bits, v);
      left -= count[j];
      if (left <= 0) break;
      rest -= chance[i * k + j];
    }
    if (left > 0) count[k - 1] = left;
  }
  return out;
}

/* ---- colours */

/* One colour after the other, each against all that follow. */
static void by_marginals(tt_draw *d, const int64_t *color, int64_t n, int64_t total, int64_t sample, int64_t *out) {
  for (int64_t k = 0; sample > 0 && k + 1 < n; k++) {
    total -= color[k];
    out[k] = tt__bits_hypergeometric(d->bits, (double[3]){(double)color[k], (double)total, (double)sample});
    sample -= out[k];
  }
  if (sample > 0) out[n - 1] = sample;
}

/* The first of all items, shuffled; each is its colour. They stay as they are left for the next vector. */
static void by_items(tt_draw *d, int64_t *item, int64_t total, int64_t sample, int64_t *out) {
  for (int64_t k = 0; k < sample; k++) {
    int64_t at = k + (int64_t)tt__bits_interval(d->bits, (uint64_t)(total - k - 1)), kept = item[at];
    item[at] = item[k];
    item[k] = kept;
  }
  for (int64_t k = 0; k < sample; k++) out[item[k]]++;
}

tt_array *tt__draw_exact_colors(tt_draw *d, const int64_t *color, int64_t n, int64_t total, int64_t sample,
                                bool by_count) {
  void *data;
  int64_t *item = NULL, at = 0, drawn = sample > total / 2 ? total - sample : sample;
  tt_array *out = tt__compose_block(d->c, TT_I64, d->rank, d->len, &data);
  if (by_count && sample > 0 && !(item = tt__compose_scratch(d->c, total, sizeof *item))) return NULL;
  for (int64_t k = 0; item && k < n; k++)
    for (int64_t i = 0; i < color[k]; i++) item[at++] = k;
  if (out && d->size) memset(data, 0, (size_t)d->size * sizeof(int64_t));
  for (int64_t i = 0; out && sample > 0 && i < d->size; i += n) {
    int64_t *count = (int64_t *)data + i;
    if (item)
      by_items(d, item, total, drawn, count);
    else
      by_marginals(d, color, n, total, drawn, count);
    for (int64_t k = 0; drawn < sample && k < n; k++) count[k] = color[k] - count[k]; /* what stays was drawn */
  }
  return out;
}
