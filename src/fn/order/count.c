/*
** Counting: bincount and histograms.
*/
#include <math.h>
#include <string.h>

#include "base/warn.h"
#include "fn/fn.h"

static tt_array *bincount(tt_composer *c, tt_call_frame *f) {
  tt_array *src[2] = {tt__arg_array(c, f, 0), NULL}, *out;
  int64_t least = tt__arg_int(c, f, 2, 0);
  if (!src[0] || c->code != TT_OK) return NULL;
  if (least < 0) return tt__compose_fail(c, TT_EVALUE, "'minlength' must not be negative");
  if (src[0]->rank != 1)
    return tt__compose_fail(
        c, TT_EVALUE,
        src[0]->rank ? "object too deep for desired array" : "object of too small depth for desired array");
  tt_dtype t = (tt_dtype)src[0]->dtype;
  if (src[0]->size == 0) return tt__compose_full(c, TT_I64, 1, &least, tt_v_int(0)); /* whatever the weights */
  if (!tt__is_int(t) && t != TT_BOOL)
    return tt__compose_fail(c, TT_ETYPE,
                            "Cannot cast array data from dtype('%s') to dtype('int64') according to the rule 'safe'",
                            tt__dtypes[t].name);
  if (t == TT_U64) src[0] = tt__compose_cast(c, src[0], TT_I64); /* what is beyond is negative then, and refused */
  tt_lib_attr attr = {.i = {least}};
  bool weighted = tt__arg_given(f, 1);
  if (weighted) {
    if (!(src[1] = tt__arg_array(c, f, 1)) || !tt__compose_may_cast(c, (tt_dtype)src[1]->dtype, TT_F64, "safe"))
      return NULL;
    src[1] = tt__compose_cast(c, src[1], TT_F64);
    if (src[1] && src[1]->size != src[0]->size)
      return tt__compose_fail(c, TT_EVALUE, "The weights and list don't have the same length.");
  }
  if (!tt__compose_make(c, weighted ? "bincount_weighted" : "bincount", &attr, src, weighted ? 2 : 1, &out))
    return NULL;
  return out;
}
TT_HANDLER(bincount)

/* ---- histograms */

typedef struct bins_of {
  tt_array *a, *edge, *weight; /* a on one axis; weight NULL or float64 */
  bool uniform, is_flat;       /* is_flat: all elements were one, the ends were moved apart */
  double first, last, span;    /* of uniform bins; span as NumPy subtracts them */
} bins_of;

/* The ends of uniform bins: the range given, or what the data span; in float64, and as values for linspace. */
static bool ends_of(tt_composer *c, const tt_call_frame *f, bins_of *h, tt_value *end) {
  bool given = tt__arg_given(f, 2);
  if (given) {
    const tt_value *r = &f->arg[2];
    if (r->tag == TT_V_TUPLE && r->as.tuple.n == 2) {
      for (int k = 0; k < 2; k++) {
        const tt_value *e = &r->as.tuple.item[k]; /* what has a type keeps it: the edges are computed in that */
        end[k] = e->tag == TT_V_ARRAY ? *e : tt_v_float(tt__arg_float(c, &(tt_call_frame){.arg = e, .narg = 1}, 0, 0));
      }
    } else {
      tt_array *a = tt__value_as_array(c, r);
      if (a && a->rank == 0) return tt__compose_fail(c, TT_ETYPE, "cannot unpack a number as a range"), false;
      if (a && (a->rank != 1 || a->size != 2)) tt__compose_fail(c, TT_EVALUE, "range must be two numbers");
      for (int k = 0; k < 2; k++) end[k] = tt_v_array(tt__compose_get(c, a, &(tt_value){TT_V_INT, {.i = k}}));
    }
  } else if (h->a->size == 0) {
    end[0] = tt_v_float(0);
    end[1] = tt_v_float(1);
  } else {
    for (int k = 0; k < 2; k++) end[k] = tt_v_array(tt__compose_reduce(c, k ? TT_RED_MAX : TT_RED_MIN, h->a, 1, false));
  }
  double *to[2] = {&h->first, &h->last};
  for (int k = 0; k < 2 && c->code == TT_OK; k++)
    *to[k] = tt__arg_float(c, &(tt_call_frame){.arg = &end[k], .narg = 1}, 0, 0);
  if (c->code != TT_OK) return false;
  if (given && h->first > h->last)
    tt__compose_fail(c, TT_EVALUE, "max must be larger than min in range parameter.");
  else if (!isfinite(h->first) || !isfinite(h->last))
    tt__compose_fail(c, TT_EVALUE, "%s range of [%s%g, %s%g] is not finite", given ? "supplied" : "autodetected", "",
                     h->first, "", h->last);
  if (c->code != TT_OK) return false;
  if (h->first == h->last) {
    h->is_flat = true;
    h->first -= 0.5;
    h->last += 0.5;
    for (int k = 0; k < 2; k++) {
      tt_array *a = end[k].tag == TT_V_ARRAY ? tt__compose_opf(c, TT_ADD, end[k].as.array, k ? 0.5 : -0.5) : NULL;
      end[k] = a ? tt_v_array(a) : tt_v_float(*to[k]);
    }
  }
  bool single = end[0].tag == TT_V_ARRAY && end[0].as.array->dtype == TT_F32;
  h->span = single ? (double)((float)h->last - (float)h->first) : h->last - h->first;
  return c->code == TT_OK;
}

static bool edges_given(tt_composer *c, const tt_call_frame *f, bins_of *h) {
  h->edge = tt__arg_array(c, f, 1);
  if (!h->edge) return false;
  if (h->edge->rank != 1) tt__compose_fail(c, TT_EVALUE, "`bins` must be 1d, when an array");
  const double *e = tt__compose_peek(c, tt__compose_cast(c, h->edge, TT_F64));
  for (int64_t i = 1; e && i < h->edge->size; i++)
    if (e[i - 1] > e[i]) tt__compose_fail(c, TT_EVALUE, "`bins` must increase monotonically, when an array");
  return c->code == TT_OK;
}

/* Edges and operands of both functions: (a, bins=10, range=None, weights at place `weights`). */
static bool bins_for(tt_composer *c, const tt_call_frame *f, int weights, bins_of *h) {
  h->a = tt__arg_array(c, f, 0);
  if (!h->a) return false;
  if (tt__arg_given(f, weights)) {
    tt_array *w = tt__arg_array(c, f, weights);
    if (w && (w->rank != h->a->rank || memcmp(tt__array_len(w), tt__array_len(h->a), sizeof(int64_t) * w->rank) != 0))
      tt__compose_fail(c, TT_EVALUE, "weights should have the same shape as a.");
    h->weight = tt__compose_ravel(c, w);
  }
  if (h->a->dtype == TT_BOOL) {
    tt__warn(TT_WARN_RUNTIME, "Converting input from bool to <class 'numpy.uint8'> for compatibility.");
    h->a = tt__compose_cast(c, h->a, TT_U8);
  }
  h->a = tt__compose_ravel(c, h->a);
  const tt_value *b = &f->arg[1];
  if (!h->a) return false;
  bool many = tt__arg_given(f, 1) && (b->tag == TT_V_TUPLE || (b->tag == TT_V_ARRAY && b->as.array->rank > 0));
  if (many) return edges_given(c, f, h);
  tt_value end[2];
  bool rule = tt__arg_given(f, 1) && b->tag == TT_V_STRING;
  int64_t n = rule ? 1 : tt__arg_int(c, f, 1, 10);
  if (rule && h->weight)
    tt__compose_fail(c, TT_ETYPE, "Automated estimation of the number of bins is not supported for weighted data");
  if (c->code == TT_OK && n < 1) tt__compose_fail(c, TT_EVALUE, "`bins` must be positive, when an integer");
  if (!ends_of(c, f, h, end)) return false;
  if (rule) n = tt__fn_bins_by_rule(c, b->as.s, h->a, h->first, h->last);
  tt_value of[3] = {end[0], end[1], tt_v_array(h->a)};
  tt_dtype type;
  if (c->code != TT_OK || (c->code = tt__result_type(of, 3, &type, c->err)) != TT_OK) return false;
  if (tt__is_int(type)) type = TT_F64;
  tt_value line[6] = {end[0],
                      end[1],
                      tt_v_int(n + 1),
                      {.tag = TT_V_MISSING},
                      {.tag = TT_V_MISSING},
                      {.tag = TT_V_DTYPE, .as.dtype = type}};
  h->edge = tt__fn_call(c, "linspace", line, 6);
  h->uniform = true;
  return h->edge != NULL;
}

static tt_array *histogram_bin_edges(tt_composer *c, tt_call_frame *f) {
  bins_of h = {0};
  return bins_for(c, f, 3, &h) ? h.edge : NULL;
}
TT_HANDLER(histogram_bin_edges)

/* Counts, or sums of weights in float64. */
static tt_array *counted(tt_composer *c, const bins_of *h) {
  int64_t n = h->edge->size > 0 ? h->edge->size - 1 : 0;
  tt_array *src[3] = {h->a, h->edge, NULL};
  tt_dtype t = tt__promote((tt_dtype)h->a->dtype, (tt_dtype)h->edge->dtype);
  bool plain = h->a->dtype == TT_F32 || h->a->dtype == TT_F64 || tt__is_int((tt_dtype)h->a->dtype);
  tt_lib_attr attr = {.f = {h->first, h->last}};
  if (h->uniform) {
    memcpy(attr.i, &h->span, sizeof h->span);
    if (!plain) src[0] = tt__compose_cast(c, h->a, TT_F64);
    src[1] = tt__compose_cast(c, h->edge, src[0] && src[0]->dtype == TT_F32 ? TT_F32 : TT_F64);
  } else {
    src[0] = tt__compose_cast(c, h->a, t);
    src[1] = tt__compose_cast(c, h->edge, t);
  }
  if (h->weight) src[2] = tt__compose_cast(c, h->weight, TT_F64);
  if (c->code != TT_OK) return NULL;
  attr.row = tt__lib_row(h->uniform ? (h->weight ? "histogram_uniform_weighted" : "histogram_uniform")
                                    : (h->weight ? "histogram_edges_weighted" : "histogram_edges"));
  return tt__compose_library(c, &attr, src, h->weight ? 3 : 2, h->weight ? TT_F64 : TT_I64, 1, &n);
}

/* Complex weights are summed part by part. */
static tt_array *counted_parts(tt_composer *c, bins_of *h) {
  if (!h->weight || !tt__is_complex((tt_dtype)h->weight->dtype)) return counted(c, h);
  bins_of re = *h, im = *h;
  re.weight = tt__compose_op1(c, TT_REAL, h->weight);
  im.weight = tt__compose_op1(c, TT_IMAG, h->weight);
  return c->code == TT_OK ? tt__compose_complex(c, counted(c, &re), counted(c, &im)) : NULL;
}

static tt_array *histogram(tt_composer *c, tt_call_frame *f) {
  bins_of h = {0};
  bool density = tt__arg_bool(c, f, 3, false);
  if (!bins_for(c, f, 4, &h)) return NULL;
  if (h.edge->size == 0) h.edge = tt__compose_empty(c, (tt_dtype)h.edge->dtype, 1, (int64_t[1]){0});
  tt_array *n = counted_parts(c, &h);
  if (n && h.weight && !density) n = tt__compose_cast(c, n, (tt_dtype)h.weight->dtype);
  if (n && density) { /* n / width / sum, in this order as NumPy */
    int64_t m = n->size;
    tt_array *w =
        tt__compose_op2(c, TT_SUB, tt__compose_slice(c, h.edge, 0, 1, m, 1), tt__compose_slice(c, h.edge, 0, 0, m, 1));
    n = tt__compose_op2(c, TT_DIV, tt__compose_op2(c, TT_DIV, n, tt__compose_cast(c, w, TT_F64)),
                        tt__compose_reduce(c, TT_RED_SUM, n, 1, false));
  }
  if (tt__fn_give(c, f, n)) tt__fn_give(c, f, h.edge);
  return NULL;
}
TT_HANDLER(histogram)
