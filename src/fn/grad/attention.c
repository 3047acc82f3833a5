/*
** Cotangents through attention. They go tile by tile as the way forward does; where they are to be differentiated in
** turn, or a mask has one, they are spelled with the matrix of shares.
*/
#include "fn/nn/attention.h"

#include <string.h>

#include "fn/grad/networks.h"
#include "fn/linalg/matrix.h"

/* The rows: k and v on their own, or side by side with a mask or a key behind them. */
typedef enum form { APART, MASKED, DROPPED } form;

static form form_of(const tt_rule *r) {
  const char *name = r->t->attr.lib->row->name;
  return strcmp(name, "attention_masked") == 0 ? MASKED : strcmp(name, "attention_dropped") == 0 ? DROPPED : APART;
}

/* What the call was told of. */
static bool call_of(const tt_rule *r, tt_attending *a, form is) {
  const tt_lib_attr *attr = r->t->attr.lib;
  tt_composer *c = r->c;
  *a = (tt_attending){
      .q = tt__rule_operand(r, 0), .k = tt__rule_operand(r, 1), .scale = attr->f[0], .causal = attr->i[0] != 0};
  if (is == APART) {
    a->v = tt__rule_operand(r, 2);
  } else if (a->q && a->k) {
    int last = a->q->rank - 1;
    int64_t width = tt__array_len(a->q)[last], all = tt__array_len(a->k)[last];
    a->v = tt__compose_slice(c, a->k, last, width, all - width, 1);
    a->k = tt__compose_slice(c, a->k, last, 0, width, 1);
    *(is == MASKED ? &a->mask : &a->key) = tt__rule_operand(r, 2);
    a->chance = attr->f[1];
  }
  return a->q && a->k && a->v && (is == APART || a->mask || a->key);
}

/* The sum of a row, which stays as an axis. */
static tt_array *row_sum(tt_composer *c, tt_array *a) {
  return a ? tt__compose_reduce(c, TT_RED_SUM, a, UINT64_C(1) << (a->rank - 1), true) : NULL;
}

/* ---- by the library's row */

/* What a row for the way back takes, and gives. */
typedef struct way_back {
  const char *row;
  tt_array *src[6];
  int nsrc;
  int64_t width, deep;
} way_back;

/* The cotangent, lse, and the sum of the cotangent times o: what is known of each query. */
static tt_array *of_queries(tt_composer *c, tt_array *g, tt_array *lse, tt_array *o) {
  tt_dtype sums = (tt_dtype)lse->dtype;
  int last = o->rank - 1;
  g = tt__compose_cast(c, g, sums);
  tt_array *less = row_sum(c, tt__compose_op2(c, TT_MUL, g, tt__compose_cast(c, o, sums)));
  tt_array *part[3] = {g, tt__compose_expand(c, lse, last), less};
  return g && part[1] && less ? tt__compose_concat(c, part, 3, last) : NULL;
}

static bool is_on_device(const tt_array *a) { return a->storage->node->device > 0; }

static bool prepare(const tt_rule *r, form is, way_back *b) {
  tt_composer *c = r->c;
  tt_array *q = tt__rule_operand(r, 0), *k = tt__rule_operand(r, 1), *more = tt__rule_operand(r, 2);
  tt_array *lse = tt__rule_operand(r, 3), *o = tt__rule_pick(r, 0);
  if (!q || !k || !more || !lse || !o) return false;
  b->width = tt__array_len(q)[q->rank - 1];
  b->deep = tt__array_len(o)[q->rank - 1];
  tt_dtype t = (tt_dtype)q->dtype;
  bool whole = is == APART && (t == TT_F16 || t == TT_BF16) && is_on_device(q);
  tt_array *g = whole ? tt__compose_cast(c, r->g[0], t) : of_queries(c, r->g[0], lse, o);
  if (whole) {
    *b = (way_back){"attention_whole_back", {q, k, more, g, o, lse}, 6, b->width, b->deep};
  } else if (is != APART) {
    const char *row = is == MASKED ? "attention_masked_back" : "attention_dropped_back";
    *b = (way_back){row, {q, k, g, more}, 4, b->width, b->deep};
  } else {
    *b = (way_back){"attention_back", {q, k, more, g}, 4, b->width, b->deep};
  }
  for (int i = 0; i < b->nsrc; i++)
    if (!b->src[i]) return false;
  return true;
}

static bool tiled(const tt_rule *r, form is, tt_array **d) {
  way_back b;
  if (!prepare(r, is, &b)) return false;
  tt_lib_attr attr = *r->t->attr.lib;
  memset(attr.pick, 0, sizeof attr.pick);
  attr.row = tt__lib_row(b.row);
  int rank = b.src[0]->rank;
  tt_compose_want want[3];
  for (int i = 0; i < 3; i++) {
    want[i] = (tt_compose_want){.dtype = (tt_dtype)b.src[0]->dtype, .rank = rank};
    memcpy(want[i].len, tt__array_len(b.src[i > 0]), sizeof *want[i].len * (size_t)rank);
    want[i].len[rank - 1] = i == 2 ? b.deep : b.width;
  }
  return tt__compose_library_many(r->c, &attr, b.src, b.nsrc, want, 3, d);
}

/* ---- spelled */

/* d: of q, k, v and the mask. */
static bool by_shares(const tt_rule *r, const tt_attending *a, tt_array **d) {
  tt_composer *c = r->c;
  tt_dtype t = (tt_dtype)a->q->dtype, sums = tt__attention_sums(t);
  tt_array *p = tt__compose_shares(c, a), *g = tt__compose_cast(c, r->g[0], sums);
  tt_array *q = tt__compose_cast(c, a->q, sums), *k = tt__compose_cast(c, a->k, sums);
  tt_array *gp = tt__compose_matmul(c, g, tt__compose_swap(c, tt__compose_cast(c, a->v, sums)));
  gp = tt__compose_thinned(c, a, gp);
  tt_array *less = row_sum(c, tt__compose_op2(c, TT_MUL, gp, p));
  tt_array *gs = tt__compose_op2(c, TT_MUL, p, tt__compose_op2(c, TT_SUB, gp, less));
  tt_array *scaled = tt__compose_opf(c, TT_MUL, gs, a->scale);
  if (!scaled) return false;
  d[0] = tt__compose_cast(c, tt__compose_matmul(c, scaled, k), t);
  d[1] = tt__compose_cast(c, tt__compose_matmul(c, tt__compose_swap(c, scaled), q), t);
  d[2] = tt__compose_cast(c, tt__compose_matmul(c, tt__compose_swap(c, tt__compose_thinned(c, a, p)), g), t);
  d[3] = gs;
  return d[0] && d[1] && d[2];
}

void tt__rule_attention(const tt_rule *r) {
  form is = form_of(r);
  bool of_mask = is == MASKED && tt__rule_wants(r, 2);
  tt_attending a;
  tt_array *d[4];
  if (r->taped || of_mask ? !call_of(r, &a, is) || !by_shares(r, &a, d) : !tiled(r, is, d)) return;
  r->out[0] = d[0];
  r->out[1] = is != APART && tt__rule_wants(r, 1) ? tt__compose_beside(r->c, d[1], d[2]) : d[1];
  if (of_mask) r->out[2] = d[3];
  if (is == APART) r->out[2] = d[2];
}
