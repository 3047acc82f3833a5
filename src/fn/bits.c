/*
** NumPy's bit generators and SeedSequence as rows; the words are random/'s.
*/
#include <string.h>

#include "fn/random/draw.h"

/* The row of a kind by its name in NumPy. */
static int kind_of(tt_composer *c, const tt_call_frame *f) {
  const char *name = tt__arg_string(c, f, 0, "");
  for (int k = 0; k < TT_BITS_KINDS; k++)
    if (strcmp(tt__bits_rows[k].name, name) == 0) return k;
  tt__compose_fail(c, TT_EVALUE, "there is no bit generator '%s'", name);
  return 0;
}

static const uint64_t *words_of(tt_composer *c, const tt_call_frame *f, int k, int64_t n) {
  tt_array *a = tt__arg_array(c, f, k);
  const uint64_t *w = a ? tt__compose_peek(c, tt__compose_cast(c, a, TT_U64)) : NULL;
  if (w && a->size != n) return tt__compose_fail(c, TT_EVALUE, "%lld words are needed", (long long)n), NULL;
  return w;
}

static tt_array *bits_new(tt_composer *c, tt_call_frame *f) {
  int kind = kind_of(c, f);
  const tt_bits_row *row = &tt__bits_rows[kind];
  const uint64_t *word = words_of(c, f, 1, row->seeds);
  int64_t n = TT_BITS_HEADER + row->words;
  tt_bits b = {.kind = (uint64_t)kind};
  void *data;
  tt_array *state = word ? tt__compose_block(c, TT_U64, 1, &n, &data) : NULL;
  if (!state) return NULL;
  row->seed(&b, word);
  memcpy(data, &b, (size_t)n * sizeof(uint64_t));
  return state;
}
TT_HANDLER(bits_new)

static tt_array *raw(tt_draw *d, tt_call_frame *f) {
  void *data;
  f->scalar = tt__draw_shape(d, 0, NULL, 0);
  tt_array *out = tt__compose_block(d->c, TT_U64, d->rank, d->len, &data);
  for (int64_t i = 0; out && i < d->size; i++) ((uint64_t *)data)[i] = tt__bits_rows[d->bits->kind].raw(d->bits);
  return out;
}
TT_DRAW_ONE(bits, raw, TT_DRAW_LEGACY, -1)

static tt_array *advance(tt_draw *d, tt_call_frame *f) {
  const uint64_t *step = words_of(d->c, f, 1, 4);
  const tt_bits_row *row = &tt__bits_rows[d->bits->kind];
  f->none = true;
  if (step && !row->advance) return tt__compose_fail(d->c, TT_ETYPE, "%s cannot advance", row->name);
  if (step) row->advance(d->bits, step);
  return NULL;
}
TT_DRAW_ONE(bits, advance, TT_DRAW_LEGACY, -1)

static tt_array *jump(tt_draw *d, tt_call_frame *f) {
  int64_t n = tt__arg_int(d->c, f, 1, 1);
  const tt_bits_row *row = &tt__bits_rows[d->bits->kind];
  f->none = true;
  if (!row->jump) return tt__compose_fail(d->c, TT_ETYPE, "%s cannot jump", row->name);
  for (int64_t i = 0; i < n && d->c->code == TT_OK; i++)
    if (!row->jump(d->bits)) tt__compose_fail(d->c, TT_ENOMEM, "out of memory");
  return NULL;
}
TT_DRAW_ONE(bits, jump, TT_DRAW_LEGACY, -1)

/* A number below 2^32, or an array of them on one axis. */
static tt_array *seed_legacy(tt_draw *d, tt_call_frame *f) {
  tt_composer *c = d->c;
  tt_array *a = tt__arg_array(c, f, 1);
  f->none = true;
  if (!a) return NULL;
  if (d->bits->kind != TT_MT19937) return tt__compose_fail(c, TT_ETYPE, "can only re-seed a MT19937 BitGenerator");
  if (a->size == 0) return tt__compose_fail(c, TT_EVALUE, "Seed must be non-empty");
  if (!tt__is_int((tt_dtype)a->dtype) && a->dtype != TT_BOOL)
    return tt__compose_fail(c, TT_ETYPE,
                            "Cannot cast array data from dtype('%s') to dtype('int64') according to the rule 'safe'",
                            tt__dtypes[a->dtype].name);
  if (a->rank > 1) return tt__compose_fail(c, TT_EVALUE, "Seed array must be 1-d");
  bool wide = a->dtype == TT_U64;
  const int64_t *seed = tt__compose_peek(c, wide ? a : tt__compose_cast(c, a, TT_I64));
  uint32_t *key = tt__compose_scratch(c, a->size, sizeof *key);
  for (int64_t i = 0; seed && key && i < a->size; i++) {
    if ((uint64_t)seed[i] > UINT32_MAX) return tt__compose_fail(c, TT_EVALUE, "Seed must be between 0 and 2**32 - 1");
    key[i] = (uint32_t)seed[i];
  }
  if (!seed || !key) return NULL;
  d->bits->has_gauss = 0;
  d->bits->gauss = 0;
  if (a->rank == 0)
    tt__mt_seed_number(d->bits, key[0]);
  else
    tt__mt_seed_array(d->bits, key, a->size);
  return NULL;
}
TT_DRAW_ONE(bits, seed_legacy, TT_DRAW_LEGACY, -1)

/* ---- SeedSequence */

static const uint32_t *narrow_words(tt_composer *c, const tt_call_frame *f, int k, int64_t *n) {
  tt_array *a = tt__arg_array(c, f, k);
  *n = a ? a->size : 0;
  return a ? tt__compose_peek(c, tt__compose_cast(c, a, TT_U32)) : NULL;
}

static tt_array *seed_pool(tt_composer *c, tt_call_frame *f) {
  int64_t words, n = tt__arg_int(c, f, 1, 4);
  const uint32_t *entropy = narrow_words(c, f, 0, &words);
  void *data;
  tt_array *pool = entropy ? tt__compose_block(c, TT_U32, 1, &n, &data) : NULL;
  if (pool) tt__seed_mix(data, n, entropy, words);
  return pool;
}
TT_HANDLER(seed_pool)

/* n words of uint32, or of uint64 made of two each, the lower half first. */
static tt_array *seed_state(tt_composer *c, tt_call_frame *f) {
  int64_t size, n = tt__arg_int(c, f, 1, 0);
  const uint32_t *pool = narrow_words(c, f, 0, &size);
  tt_dtype type = tt__arg_dtype(c, f, 2, TT_U32);
  void *data;
  if (c->code == TT_OK && type != TT_U32 && type != TT_U64)
    return tt__compose_fail(c, TT_EVALUE, "only support uint32 or uint64");
  int each = type == TT_U64 ? 2 : 1;
  tt_array *out = pool && size > 0 ? tt__compose_block(c, type, 1, &n, &data) : NULL;
  uint32_t *word = out ? tt__compose_scratch(c, each * n, sizeof *word) : NULL;
  if (!word) return NULL;
  tt__seed_state(pool, size, word, each * n);
  for (int64_t i = 0; i < n; i++) {
    if (each == 1)
      ((uint32_t *)data)[i] = word[i];
    else
      ((uint64_t *)data)[i] = (uint64_t)word[2 * i + 1] << 32 | word[2 * i];
  }
  return out;
}
TT_HANDLER(seed_state)
