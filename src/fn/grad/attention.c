/*
** Cotangents through attention. They go tile by tile as the way forward does; where they are to be differentiated in
** turn, or a mask has one, they are spelled with the matrix of shares.
*/
#include "fn/nn/attention.h"

#include <string.h>

#include "fn/grad/networks.h"
#include "fn/linalg/matrix.h"

/* What the call was told of. */
static bool call_of(const tt_rule *r, tt_attending *a, bool joined) {
  const tt_lib_attr *attr = r->t->attr.lib;
  tt_composer *c = r->c;
  *a = (tt_attending){
      .q = tt__rule_operand(r, 0), .k = tt__rule_operand(r, 1), .scale = attr->f[0], .causal = attr->i[0] != 0};
  if (!joined) {
    a->v = tt__rule_operand(r, 2);
  } else if (a->q && a->k) {
    int last = a->q->rank - 1;
    int64_t width = tt__array_len(a->q)[last], all = tt__array_len(a->k)[last];
    a->v = tt__compose_slice(c, a->k, last, width, all - width, 1);
    a->k = tt__compose_slice(c, a->k, last, 0, width, 1);
    a->mask = tt__rule_operand(r, 2);
  }
  return a->q && a->k && a->v && (!joined || a->mask);
}

/* The sum of a row, which stays as an axis. */
static tt_array *row_sum(tt_composer *c, tt_array *a) {
  return a ? tt__compose_reduce(c, TT_RED_SUM, a, UINT64_C(1) << (a->rank - 1), true) : NULL;
}

/* ---- by the library's row */

static bool tiled(const tt_rule *r, bool joined, tt_array **d) {
  tt_composer *c = r->c;
  tt_lib_attr attr = *r->t->attr.lib;
  memset(attr.pick, 0, sizeof attr.pick);
  attr.row = tt__lib_row(joined ? "attention_masked_back" : "attention_back");
  tt_array *q = tt__rule_operand(r, 0), *k = tt__rule_operand(r, 1), *more = tt__rule_operand(r, 2);
  tt_array *lse = tt__rule_operand(r, 3), *o = tt__rule_pick(r, 0);
  if (!q || !k || !more || !lse || !o) return false;
  int last = q->rank - 1;
  tt_dtype t = (tt_dtype)q->dtype, sums = tt__attention_sums(t);
  int64_t width = tt__array_len(q)[last], deep = tt__array_len(o)[last];
  tt_array *g = tt__compose_cast(c, r->g[0], sums);
  tt_array *less = row_sum(c, tt__compose_op2(c, TT_MUL, g, tt__compose_cast(c, o, sums)));
  tt_array *part[3] = {g, tt__compose_expand(c, lse, last), less};
  g = g && part[1] && less ? tt__compose_concat(c, part, 3, last) : NULL;
  tt_array *src[4] = {q, k, joined ? g : more, joined ? more : g};
  if (!g) return false;
  tt_compose_want want[3];
  for (int i = 0; i < 3; i++) {
    tt_array *like = i == 0 ? q : k;
    want[i] = (tt_compose_want){.dtype = t, .rank = q->rank};
    memcpy(want[i].len, tt__array_len(like), sizeof *want[i].len * (size_t)q->rank);
    want[i].len[last] = i == 2 ? deep : width;
  }
  return tt__compose_library_many(c, &attr, src, 4, want, 3, d);
}

/* ---- spelled */

/* d: of q, k, v and the mask. */
static bool by_shares(const tt_rule *r, const tt_attending *a, tt_array **d) {
  tt_composer *c = r->c;
  tt_dtype t = (tt_dtype)a->q->dtype, sums = tt__attention_sums(t);
  tt_array *p = tt__compose_shares(c, a), *g = tt__compose_cast(c, r->g[0], sums);
  tt_array *q = tt__compose_cast(c, a->q, sums), *k = tt__compose_cast(c, a->k, sums);
  tt_array *gp = tt__compose_matmul(c, g, tt__compose_swap(c, tt__compose_cast(c, a->v, sums)));
  tt_array *less = row_sum(c, tt__compose_op2(c, TT_MUL, gp, p));
  tt_array *gs = tt__compose_op2(c, TT_MUL, p, tt__compose_op2(c, TT_SUB, gp, less));
  tt_array *scaled = tt__compose_opf(c, TT_MUL, gs, a->scale);
  if (!scaled) return false;
  d[0] = tt__compose_cast(c, tt__compose_matmul(c, scaled, k), t);
  d[1] = tt__compose_cast(c, tt__compose_matmul(c, tt__compose_swap(c, scaled), q), t);
  d[2] = tt__compose_cast(c, tt__compose_matmul(c, tt__compose_swap(c, p), g), t);
  d[3] = gs;
  return d[0] && d[1] && d[2];
}

void tt__rule_attention(const tt_rule *r) {
  bool joined = strcmp(r->t->attr.lib->row->name, "attention_masked") == 0, of_mask = joined && tt__rule_wants(r, 2);
  tt_attending a;
  tt_array *d[4];
  if (r->taped || of_mask ? !call_of(r, &a, joined) || !by_shares(r, &a, d) : !tiled(r, joined, d)) return;
  r->out[0] = d[0];
  r->out[1] = joined && tt__rule_wants(r, 1) ? tt__compose_beside(r->c, d[1], d[2]) : d[1];
  if (of_mask) r->out[2] = d[3];
  if (!joined) r->out[2] = d[2];
}
