/*
** Parameters of draws, what NumPy demands of them and in which words, and the shape that they make; how a draw begins
** and ends.
*/
#include <math.h>
#include <string.h>

#include "fn/random/draw.h"
#include "graph/eager/eager.h"
#include "graph/host.h"
#include "graph/tape.h"

/* ---- the state of NumPy's generators */

uint64_t *tt__draw_words(tt_array *a) {
  bool whole = a->storage->node->size == a->size && !a->readonly && !a->storage->readonly;
  return whole ? tt__eager_memory(a->storage) : NULL;
}

/* The words of a state that lies in an array of its length. */
static bool load(tt_draw *d, tt_bits *b) {
  tt_array *a = d->f->narg > 0 && d->f->arg[0].tag == TT_V_ARRAY ? d->f->arg[0].as.array : NULL;
  bool words = a && a->dtype == TT_U64 && a->rank == 1;
  const uint64_t *word = words ? tt__draw_words(a) : NULL;
  if (words && !word) word = tt__compose_peek(d->c, a);
  if (word && a->size == 2 && !d->legacy) return true; /* ours */
  if (word && a->size > TT_BITS_HEADER && word[0] < TT_BITS_KINDS &&
      a->size == TT_BITS_HEADER + tt__bits_rows[word[0]].words) {
    memcpy(b, word, (size_t)a->size * sizeof *word);
    d->bits = b;
    return true;
  }
  tt__compose_fail(d->c, TT_ETYPE, "the first argument must be the state of a generator");
  return false;
}

bool tt__draw_store(tt_composer *c, tt_array *a, const void *word) {
  void *data = tt__draw_words(a);
  if (data) return memcpy(data, word, (size_t)a->size * sizeof(uint64_t)), true;
  tt_array *next = tt__compose_block(c, TT_U64, 1, &a->size, &data);
  if (!next) return false;
  memcpy(data, word, (size_t)a->size * sizeof(uint64_t));
  return tt__compose_set(c, a, tt_v_array(next));
}

/* ---- beginning and end */

/* The result in the type that was asked for. */
static tt_array *typed(tt_draw *d, tt_array *a, tt_dtype type) {
  if (!a || type == TT_DTYPE_NONE || a->dtype == type) return a;
  if (type == TT_BOOL || tt__is_complex(type) || (tt__is_int(type) && !tt__is_int((tt_dtype)a->dtype)))
    return tt__compose_fail(d->c, TT_ETYPE, "Unsupported dtype dtype('%s') for random", tt__dtypes[type].name);
  return tt__compose_cast(d->c, a, type);
}

tt_array *tt__draw_run(tt_composer *c, tt_call_frame *f, tt_draw_from from, int type, tt_draw_fn draw) {
  tt_bits bits;
  tt_draw d = {.c = c, .f = f, .base = from != TT_DRAW_PROCESS, .legacy = from == TT_DRAW_LEGACY, .real = TT_F64};
  tt_dtype asked = type >= 0 ? tt__arg_dtype(c, f, d.base + type, TT_DTYPE_NONE) : TT_DTYPE_NONE;
  if (c->code != TT_OK || (d.base && !load(&d, &bits))) return NULL;
  if (asked != TT_DTYPE_NONE && tt__is_float(asked) && tt__dtype_size(asked) <= 4) d.real = TT_F32;
  tt_array *a = typed(&d, draw(&d, f), asked);
  if (d.bits && c->code == TT_OK) tt__draw_store(c, f->arg[0].as.array, &bits);
  return a;
}

/* ---- parameters */

static tt_value read_param(tt_draw *d, int k, const tt_draw_param *param) {
  tt_composer *c = d->c;
  const tt_value *given = d->base + k < d->f->narg ? &d->f->arg[d->base + k] : NULL;
  if (given && given->tag == TT_V_NONE)
    tt__compose_fail(c, TT_ETYPE,
                     param->whole
                         ? "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"
                         : "must be real number, not NoneType");
  if (!tt__arg_given(d->f, d->base + k)) return tt_v_float(param->fallback);
  tt_value v = tt__arg_value(c, d->f, d->base + k);
  if (v.tag == TT_V_ARRAY && !tt__is_complex((tt_dtype)v.as.array->dtype)) {
    tt_array *a = tt__compose_cast(c, v.as.array, TT_F64);
    if (param->whole && tt__is_float((tt_dtype)v.as.array->dtype)) a = tt__compose_op1(c, TT_TRUNC, a);
    if (!a) return tt_v_float(param->fallback);
    if (a->rank > 0 || param->rule == TT_RULE_NONE || tt__is_taped(a->storage->node)) return tt_v_array(a);
    c->code = tt__item(a, &v, c->err); /* it is looked at anyway */
    return v;
  }
  if (v.tag == TT_V_INT) return tt_v_float((double)v.as.i);
  if (v.tag == TT_V_UINT) return tt_v_float((double)v.as.u);
  if (v.tag == TT_V_BOOL) return tt_v_float(v.as.b);
  if (v.tag != TT_V_FLOAT)
    tt__compose_fail(c, TT_ETYPE, "float() argument must be a string or a real number, not 'complex'");
  return tt_v_float(param->whole ? trunc(v.as.f) : v.as.f);
}

bool tt__draw_any(tt_draw *d, tt_array *mask) {
  tt_composer *c = d->c;
  uint64_t axes = mask && mask->rank ? ~UINT64_C(0) >> (64 - mask->rank) : 0;
  const uint8_t *found = tt__compose_peek(c, axes ? tt__compose_reduce(c, TT_RED_ANY, mask, axes, false) : mask);
  return found && *found;
}

bool tt__draw_amiss(tt_draw *d, tt_op op, tt_value v, double than) {
  tt_composer *c = d->c;
  if (c->code != TT_OK) return false;
  if (v.tag == TT_V_ARRAY)
    return tt__draw_any(d, tt__compose_op1(c, TT_LNOT, tt__compose_opf(c, op, v.as.array, than)));
  double x = v.as.f;
  return !(op == TT_GE ? x >= than : op == TT_GT ? x > than : op == TT_LE ? x <= than : x < than);
}

static bool is_nan_anywhere(tt_draw *d, tt_value v) {
  return v.tag == TT_V_ARRAY ? tt__draw_any(d, tt__compose_op1(d->c, TT_ISNAN, v.as.array)) : isnan(v.as.f);
}

/* Has an element that is no NaN its sign bit set? */
static bool is_negative_anywhere(tt_draw *d, tt_value v, bool whole) {
  tt_composer *c = d->c;
  if (v.tag != TT_V_ARRAY) return !isnan(v.as.f) && (whole ? v.as.f < 0 : signbit(v.as.f));
  tt_array *a = v.as.array;
  if (whole) return tt__draw_any(d, tt__compose_opf(c, TT_LT, a, 0));
  tt_array *number = tt__compose_op1(c, TT_LNOT, tt__compose_op1(c, TT_ISNAN, a));
  return tt__draw_any(d, tt__compose_op2(c, TT_AND, number, tt__compose_op1(c, TT_SIGNBIT, a)));
}

/* [low, high] of which `open` says whether the ends belong to it. */
static bool is_outside(tt_draw *d, tt_value v, tt_op low, tt_op high) {
  return tt__draw_amiss(d, low, v, 0) || tt__draw_amiss(d, high, v, 1);
}

static void demand_rate(tt_draw *d, tt_value v, const char *name, bool many) {
  const double most = 9.2233720064847708e18;
  bool large = (v.tag != TT_V_ARRAY ? v.as.f > most : tt__draw_amiss(d, TT_LE, v, most));
  bool low = tt__draw_amiss(d, TT_GE, v, 0);
  if (low && !(many && large)) /* NumPy's order for arrays is the other */
    tt__compose_fail(d->c, TT_EVALUE, "%s < 0 or %s %s", name, name, many ? "contains NaNs" : "is NaN");
  else if (large)
    tt__compose_fail(d->c, TT_EVALUE, "%s value too large", name);
}

static void demand(tt_draw *d, tt_value v, const tt_draw_param *p, bool many) {
  const char *n = p->name, *nan = many ? "contains NaNs" : "is NaN", *words = NULL;
  switch (p->rule) {
    case TT_RULE_NON_NEGATIVE:
      if (is_negative_anywhere(d, v, p->whole)) tt__compose_fail(d->c, TT_EVALUE, "%s < 0", n);
      return;
    case TT_RULE_POSITIVE_NOT_NAN:
      if (is_nan_anywhere(d, v)) tt__compose_fail(d->c, TT_EVALUE, "%s must not be NaN", n);
      /* falls through */
    case TT_RULE_POSITIVE:
      if (v.tag == TT_V_ARRAY ? tt__draw_any(d, tt__compose_opf(d->c, TT_LE, v.as.array, 0)) : v.as.f <= 0)
        tt__compose_fail(d->c, TT_EVALUE, "%s <= 0", n);
      return;
    case TT_RULE_CHANCE:
      if (is_outside(d, v, TT_GE, TT_LE)) words = "%s < 0, %s > 1 or %s %s";
      break;
    case TT_RULE_CHANCE_POSITIVE:
      nan = "contains NaNs";
      if (is_outside(d, v, TT_GT, TT_LE)) words = "%s <= 0, %s > 1 or %s %s";
      break;
    case TT_RULE_CHANCE_BELOW_ONE:
      if (is_outside(d, v, TT_GE, TT_LT)) words = "%s < 0, %s >= 1 or %s %s";
      break;
    case TT_RULE_ABOVE_ONE:
      if (tt__draw_amiss(d, TT_GT, v, 1)) tt__compose_fail(d->c, TT_EVALUE, "%s <= 1 or %s %s", n, n, nan);
      return;
    case TT_RULE_ONE_OR_MORE:
      if (tt__draw_amiss(d, TT_GE, v, 1)) tt__compose_fail(d->c, TT_EVALUE, "%s < 1 or %s %s", n, n, nan);
      return;
    case TT_RULE_RATE:
      demand_rate(d, v, n, many);
      return;
    default:
      return;
  }
  if (words) tt__compose_fail(d->c, TT_EVALUE, words, n, n, n, nan);
}

bool tt__draw_read(tt_draw *d, const tt_draw_param *param, int n, tt_value *p) {
  bool many = false;
  for (int k = 0; k < n; k++) {
    p[k] = read_param(d, k, &param[k]);
    many |= p[k].tag == TT_V_ARRAY && p[k].as.array->rank > 0;
  }
  for (int k = 0; k < n && d->c->code == TT_OK; k++) demand(d, p[k], &param[k], many);
  return d->c->code == TT_OK;
}

bool tt__draw_params(tt_draw *d, tt_call_frame *f, const tt_draw_param *param, int n, tt_value *p) {
  if (!tt__draw_read(d, param, n, p)) return false;
  f->scalar = tt__draw_shape(d, n, p, n);
  return d->c->code == TT_OK;
}

bool tt__draw_begin(tt_draw *d, tt_call_frame *f, const tt_draw_param *param, int n, tt_value *p, tt_dist dist,
                    tt_array **out) {
  *out = NULL;
  if (!tt__draw_params(d, f, param, n, p)) return false;
  if (!d->bits) return true;
  *out = tt__draw_exact(d, dist, tt__dists[dist].count[0] ? TT_I64 : TT_F64, p, n);
  return false;
}

/* ---- shapes */

bool tt__draw_shape_fixed(tt_draw *d, int rank, const int64_t *len) {
  tt_composer *c = d->c;
  if (c->code != TT_OK) return false;
  d->rank = rank;
  memmove(d->len, len, sizeof *len * (size_t)rank);
  c->code = tt__shape_size(rank, len, TT_F64, &d->size, c->err);
  return c->code == TT_OK;
}

bool tt__draw_shape(tt_draw *d, int size, const tt_value *param, int n) {
  tt_composer *c = d->c;
  int ranks[5], rank;
  const int64_t *lens[5];
  int64_t len[TT_MAX_RANK], asked[TT_MAX_RANK];
  /* NumPy broadcasts what is drawn with the parameters: what was asked for comes first. */
  int given = tt__arg_given(d->f, d->base + size), m = 0;
  bool number = !given;
  if (given) m = tt__arg_ints(c, d->f, d->base + size, asked, TT_MAX_RANK);
  if (c->code != TT_OK || (given && !tt__draw_shape_fixed(d, m, asked))) return false;
  for (int k = 0; k < n; k++) {
    tt_array *a = param[k].tag == TT_V_ARRAY ? param[k].as.array : NULL;
    ranks[k + 1] = a ? a->rank : 0;
    lens[k + 1] = a ? tt__array_len(a) : NULL;
    number &= !a || !tt__is_taped(a->storage->node); /* a number of Python's would end its gradient */
  }
  ranks[0] = m;
  lens[0] = asked;
  c->code = tt__shape_common(n + given, ranks + !given, lens + !given, &rank, len, c->err);
  if (c->code != TT_OK) return false;
  if (!given) return tt__draw_shape_fixed(d, rank, len) && rank == 0 && number;
  if (rank != m || !tt__shape_same(m, len, asked)) {
    char have[200], want[200];
    tt__shape_tuple(m, asked, have, sizeof have);
    tt__shape_tuple(rank, len, want, sizeof want);
    tt__compose_fail(c, TT_EVALUE, "Output size %s is not compatible with broadcast dimensions of inputs %s.", have,
                     want);
  }
  return false;
}
