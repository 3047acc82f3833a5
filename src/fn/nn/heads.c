/*
** Attention of several heads between projections, with PyTorch's parameters. Where nobody asks for the shares, the
** heads are one call of scaled_dot_product_attention.
*/
#include <math.h>
#include <string.h>

#include "fn/linalg/matrix.h"
#include "fn/nn/nn.h"

enum {
  QUERY,
  KEY,
  VALUE,
  DIMENSIONS,
  HEADS,
  IN_WEIGHT,
  IN_BIAS,
  BIAS_K,
  BIAS_V,
  ZERO,
  DROPOUT,
  OUT_WEIGHT,
  OUT_BIAS,
  TRAINING,
  PADDING,
  SHARES,
  MASK,
  SEPARATE,
  Q_WEIGHT,
  K_WEIGHT,
  V_WEIGHT,
  STATIC_K,
  STATIC_V,
  AVERAGE,
  CAUSAL
};

typedef struct heads {
  tt_composer *c;
  const tt_call_frame *f;
  int64_t n, width; /* heads, and the width of one */
  bool single;      /* without images */
  tt_array *part[3], *mask;
} heads;

/* [steps, images, ...] as [images, steps, ...], and back. */
static tt_array *turned(tt_composer *c, tt_array *a) {
  int axes[TT_MAX_RANK] = {1, 0};
  for (int d = 2; a && d < a->rank; d++) axes[d] = d;
  return tt__compose_transpose(c, a, axes);
}

/* Does each image's sequence lie in one piece? So it is with modules that take images first. */
static bool lies_by_images(tt_array *x) {
  const int64_t *step = tt__array_step(x);
  return x->rank == 3 && step[0] < step[1];
}

/* In the order in which x lies: its rows are then those of one product, and nothing is moved for it. */
static tt_array *linear(tt_composer *c, tt_array *x, tt_array *w, tt_array *b) {
  if (!x || !w) return NULL;
  bool turns = lies_by_images(x);
  const tt_value arg[] = {tt_v_array(turns ? turned(c, x) : x), tt_v_array(w),
                          b ? tt_v_array(b) : (tt_value){.tag = TT_V_NONE}};
  tt_array *y = c->code == TT_OK ? tt__fn_call(c, "nn.functional.linear", arg, 3) : NULL;
  return turns && y ? turned(c, y) : y;
}

/* The bias of part k of three, or NULL. */
static tt_array *bias_of(const heads *h, int k, int parts) {
  if (!tt__arg_given(h->f, IN_BIAS)) return NULL;
  tt_array *b = tt__arg_array(h->c, h->f, IN_BIAS);
  int64_t e = h->n * h->width;
  return b ? tt__compose_slice(h->c, b, 0, k * e, parts * e, 1) : NULL;
}

/* Query, key and value, projected: one product where they are one array. */
static bool project(heads *h) {
  tt_composer *c = h->c;
  tt_array *x[3], *all = NULL;
  int64_t e = h->n * h->width;
  for (int k = 0; k < 3; k++) {
    if (!(x[k] = tt__arg_array(c, h->f, QUERY + k))) return false;
    if (h->single) x[k] = tt__compose_expand(c, x[k], 1);
  }
  bool separate = tt__arg_bool(c, h->f, SEPARATE, false);
  tt_array *w = separate ? NULL : tt__arg_array(c, h->f, IN_WEIGHT);
  bool same = w && h->f->arg[0].as.array == h->f->arg[1].as.array && h->f->arg[1].as.array == h->f->arg[2].as.array;
  if (same) all = linear(c, x[0], w, bias_of(h, 0, 3));
  for (int k = 0; k < 3 && c->code == TT_OK; k++) {
    if (same) {
      h->part[k] = tt__compose_slice(c, all, all ? all->rank - 1 : 0, k * e, e, 1);
      continue;
    }
    tt_array *own = separate ? tt__arg_array(c, h->f, Q_WEIGHT + k) : tt__compose_slice(c, w, 0, k * e, e, 1);
    h->part[k] = linear(c, x[k], own, bias_of(h, k, 1));
  }
  return c->code == TT_OK;
}

/* [steps, images, heads * width] as [images, heads, steps, width]. */
static tt_array *apart(const heads *h, tt_array *a) {
  static const int order[4] = {1, 2, 0, 3};
  if (!a) return NULL;
  int64_t len[4] = {tt__array_len(a)[0], tt__array_len(a)[1], h->n, h->width};
  return tt__compose_transpose(h->c, tt__compose_reshape(h->c, a, 4, len), order);
}

/* True (or what is added) where PyTorch's masks are so: of those of bools, true is what is not seen. */
static tt_array *added(tt_composer *c, tt_array *mask, tt_dtype t) {
  if (!mask || mask->dtype != TT_BOOL) return tt__compose_cast(c, mask, t);
  tt_array *zero = tt__compose_full(c, t, 0, NULL, tt_v_int(0));
  return zero ? tt__compose_where(c, mask, tt_v_float(-INFINITY), tt_v_array(zero)) : NULL;
}

static tt_array *one_mask(tt_composer *c, tt_array *a, tt_array *b, tt_dtype t) {
  if (a && b && a->dtype == TT_BOOL && b->dtype == TT_BOOL) return tt__compose_op2(c, TT_LOR, a, b);
  if (a && b) return tt__compose_op2(c, TT_ADD, added(c, a, t), added(c, b, t));
  return a ? a : b;
}

/* attn_mask [L, S] or [images * heads, L, S], and key_padding_mask [images, S], as one that broadcasts. */
static bool read_masks(heads *h, int64_t images, tt_dtype t) {
  tt_composer *c = h->c;
  tt_array *mask = tt__arg_given(h->f, MASK) ? tt__arg_array(c, h->f, MASK) : NULL;
  tt_array *padding = tt__arg_given(h->f, PADDING) ? tt__arg_array(c, h->f, PADDING) : NULL;
  if (tt__arg_bool(c, h->f, CAUSAL, false) && !mask)
    tt__compose_fail(c, TT_EVALUE, "Need attn_mask if specifying the is_causal hint.");
  if (mask && mask->rank == 3) {
    int64_t len[4] = {images, h->n, tt__array_len(mask)[1], tt__array_len(mask)[2]};
    mask = tt__compose_reshape(c, mask, 4, len);
  } else if (mask && mask->rank != 2) {
    tt__compose_fail(c, TT_EVALUE, "attn_mask's dimension %d is not supported", mask->rank);
  }
  if (padding && c->code == TT_OK) {
    int64_t len[4] = {images, 1, 1, tt__array_len(padding)[padding->rank - 1]};
    if (padding->rank != (h->single ? 1 : 2))
      tt__compose_fail(c, TT_EVALUE, "For %s query, expected `key_padding_mask` to be %s but got %d-D tensor instead",
                       h->single ? "unbatched (2-D)" : "batched (3-D)", h->single ? "`None` or 1-D" : "`None` or 2-D",
                       padding->rank);
    padding = tt__compose_reshape(c, padding, 4, len);
  }
  h->mask = c->code == TT_OK ? one_mask(c, mask, padding, t) : NULL;
  return c->code == TT_OK;
}

/* Keys and values with one more step, a bias for all images, or (`bias` < 0) zeros. */
static bool append(heads *h, int k, int bias) {
  tt_composer *c = h->c;
  tt_array *a = h->part[k];
  if (!a) return false;
  int64_t len[3] = {1, tt__array_len(a)[1], tt__array_len(a)[2]};
  tt_array *given =
      bias < 0 ? tt__compose_full(c, (tt_dtype)a->dtype, 3, len, tt_v_int(0)) : tt__arg_array(c, h->f, bias);
  if (given && given->size != (bias < 0 ? len[1] * len[2] : len[2]))
    tt__compose_fail(c, TT_EVALUE, "bias_k and bias_v must have %lld elements", (long long)len[2]);
  tt_array *part[2] = {a, c->code == TT_OK && given ? tt__compose_broadcast(c, given, 3, len) : NULL};
  h->part[k] = part[1] ? tt__compose_concat(c, part, 2, 0) : NULL;
  return h->part[k] != NULL;
}

/* A mask under which one more step is seen. */
static tt_array *with_step(tt_composer *c, tt_array *mask) {
  int64_t len[TT_MAX_RANK];
  memcpy(len, tt__array_len(mask), sizeof *len * (size_t)mask->rank);
  len[mask->rank - 1] = 1;
  tt_array *part[2] = {mask, tt__compose_full(c, (tt_dtype)mask->dtype, mask->rank, len, tt_v_int(0))};
  return part[1] ? tt__compose_concat(c, part, 2, mask->rank - 1) : NULL;
}

static bool append_steps(heads *h) {
  bool biased = tt__arg_given(h->f, BIAS_K) && tt__arg_given(h->f, BIAS_V),
       zero = tt__arg_bool(h->c, h->f, ZERO, false);
  if (h->c->code == TT_OK && tt__arg_given(h->f, BIAS_K) != tt__arg_given(h->f, BIAS_V))
    tt__compose_fail(h->c, TT_EVALUE, "bias_k and bias_v are given together or not at all");
  for (int turn = 0; turn < biased + zero && h->c->code == TT_OK; turn++) {
    bool of_bias = biased && turn == 0;
    if (!append(h, 1, of_bias ? BIAS_K : -1) || !append(h, 2, of_bias ? BIAS_V : -1)) return false;
    if (h->mask && !(h->mask = with_step(h->c, h->mask))) return false;
  }
  return h->c->code == TT_OK;
}

/* The heads' results, and with `shares` those. */
static tt_array *attend(heads *h, double dropout, tt_array **shares) {
  tt_composer *c = h->c;
  tt_array *q = apart(h, h->part[0]), *k = apart(h, h->part[1]), *v = apart(h, h->part[2]);
  if (!q || !k || !v) return NULL;
  if (!shares) {
    tt_array *seen = h->mask && h->mask->dtype == TT_BOOL ? tt__compose_op1(c, TT_LNOT, h->mask) : h->mask;
    tt_value arg[] = {tt_v_array(q), tt_v_array(k), tt_v_array(v), {.tag = TT_V_NONE}, tt_v_float(dropout)};
    if (h->mask) arg[3] = tt_v_array(seen);
    return h->mask && !seen ? NULL : tt__fn_call(c, "nn.functional.scaled_dot_product_attention", arg, 5);
  }
  tt_array *scaled = tt__compose_opf(c, TT_MUL, q, 1 / sqrt((double)h->width));
  tt_array *scores = tt__compose_matmul(c, scaled, tt__compose_swap(c, k));
  if (h->mask && scores) scores = tt__compose_op2(c, TT_ADD, scores, added(c, h->mask, (tt_dtype)scores->dtype));
  *shares = scores ? tt__nn_softmax(c, scores, 3) : NULL;
  if (*shares && dropout > 0) {
    const tt_value arg[] = {tt_v_array(*shares), tt_v_float(dropout)};
    *shares = tt__fn_call(c, "nn.functional.dropout", arg, 2);
  }
  return tt__compose_matmul(c, *shares, v);
}

static bool read_heads(heads *h) {
  tt_composer *c = h->c;
  const tt_call_frame *f = h->f;
  tt_array *q = tt__arg_array(c, f, QUERY);
  h->n = tt__arg_int(c, f, HEADS, 1);
  if (!q || c->code != TT_OK) return false;
  if (tt__arg_given(f, STATIC_K) || tt__arg_given(f, STATIC_V))
    tt__compose_fail(c, TT_ENOTIMPL, "multi_head_attention_forward: static_k and static_v are not implemented");
  if (q->rank != 2 && q->rank != 3)
    tt__compose_fail(c, TT_EVALUE, "query should be unbatched 2D or batched 3D tensor but received %d-D query tensor",
                     q->rank);
  if (c->code != TT_OK) return false;
  int64_t e = tt__array_len(q)[q->rank - 1], want = tt__arg_int(c, f, DIMENSIONS, e);
  if (e != want)
    tt__compose_fail(c, TT_EVALUE, "was expecting embedding dimension of %lld, but got %lld", (long long)want,
                     (long long)e);
  if (h->n < 1 || e % h->n != 0)
    tt__compose_fail(c, TT_EVALUE, "embed_dim %lld not divisible by num_heads %lld", (long long)e, (long long)h->n);
  if (c->code != TT_OK) return false;
  h->single = q->rank == 2;
  h->width = e / h->n;
  return true;
}

/* The arguments are those of the enum above: the result, and the shares of each head or their mean. */
static tt_array *nn_multi_head_attention_forward(tt_composer *c, tt_call_frame *f) {
  static const int order[4] = {0, 2, 1, 3};
  heads h = {.c = c, .f = f};
  if (!read_heads(&h) || !project(&h)) return NULL;
  int64_t images = tt__array_len(h.part[0])[1], steps = tt__array_len(h.part[0])[0];
  if (!read_masks(&h, images, (tt_dtype)h.part[0]->dtype) || !append_steps(&h)) return NULL;
  double dropout = tt__arg_bool(c, f, TRAINING, true) ? tt__arg_float(c, f, DROPOUT, 0) : 0;
  bool wanted = tt__arg_bool(c, f, SHARES, true);
  tt_array *shares = NULL, *y = attend(&h, dropout, wanted ? &shares : NULL);
  int64_t len[3] = {images, steps, h.n * h.width};
  y = turned(c, tt__compose_reshape(c, tt__compose_transpose(c, y, order), 3, len));
  y = linear(c, y, tt__arg_array(c, f, OUT_WEIGHT), tt__arg_given(f, OUT_BIAS) ? tt__arg_array(c, f, OUT_BIAS) : NULL);
  if (y && h.single) y = tt__compose_reshape(c, y, 2, (int64_t[2]){steps, tt__array_len(y)[2]});
  f->tuple = true;
  if (!tt__fn_give(c, f, y) || !wanted) return NULL;
  if (tt__arg_bool(c, f, AVERAGE, true))
    shares = tt__compose_opf(c, TT_DIV, tt__compose_reduce(c, TT_RED_SUM, shares, 2, false), (double)h.n);
  if (h.single && shares) shares = tt__compose_reshape(c, shares, shares->rank - 1, tt__array_len(shares) + 1);
  tt__fn_give(c, f, shares);
  return NULL;
}
TT_HANDLER(nn_multi_head_attention_forward)
