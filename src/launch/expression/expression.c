/*
** Expressions: parameters checked, text read, calls recorded; see expression.h.
**
** A reduction is three formulas: the map over the inputs, the identity over nothing, and what is done after over the
** numbers, `a`, and the output.
*/
#include "launch/expression/expression.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "fn/compose.h"
#include "graph/formula.h"
#include "lang/expr/expr.h"
#include "run/wanted.h"

enum { MOST_PARAMS = 62 };

struct tt_expression {
  int nparam;
  tt_formula_param param[MOST_PARAMS];
  tt_formula f; /* the operation, or the map: over param and one more, its value */
  bool c_form, is_reduction;
  tt_cx_fold fold;
  tt_dtype inner; /* of what is reduced */
  bool has_identity;
  tt_formula identity, post;
};

static bool is_half(tt_dtype t) { return t == TT_F16 || t == TT_BF16; }

/* ---- reading */

static tt_code read_params(const tt_expression_source *s, tt_expression *e, tt_error *err) {
  if (s->declaration) return tt__cx_parameters(s->declaration, e->param, MOST_PARAMS, &e->nparam, err);
  if (s->nparameter < 0 || s->nparameter > MOST_PARAMS)
    return tt__fail(err, TT_ENOTIMPL, "more than %d parameters", MOST_PARAMS);
  for (int k = 0; k < s->nparameter; k++) {
    const tt_expression_parameter *from = &s->parameter[k];
    tt_formula_param *to = &e->param[k];
    size_t n = from->name ? strlen(from->name) : 0;
    if (n == 0 || n >= sizeof to->name)
      return tt__fail(err, TT_EVALUE, "the name of parameter %d is empty or too long", k + 1);
    if ((int)from->dtype < 0 || from->dtype >= TT_DTYPE_COUNT)
      return tt__fail(err, TT_ETYPE, "parameter '%s': data type %d not understood", from->name, (int)from->dtype);
    memcpy(to->name, from->name, n + 1);
    to->dtype = (uint8_t)from->dtype;
    to->is_out = from->flags & TT_EXPR_OUT;
    to->is_raw = from->flags & TT_EXPR_RAW;
    to->is_text = from->flags & TT_EXPR_NUMBER;
  }
  e->nparam = s->nparameter;
  return TT_OK;
}

static tt_formula_param value_param(const char *name, tt_dtype dtype, bool is_out) {
  tt_formula_param p = {.dtype = (uint8_t)dtype, .is_out = is_out};
  memcpy(p.name, name, strlen(name) + 1);
  return p;
}

/* The parameters of what is done after: `a` stands where the array inputs were, the output is last. */
static int post_params(const tt_expression *e, tt_formula_param *out) {
  int n = 0;
  for (int k = 0; k + 1 < e->nparam; k++)
    if (e->param[k].is_text) out[n++] = e->param[k];
  out[n++] = value_param("a", e->inner, false);
  out[n++] = e->param[e->nparam - 1];
  return n;
}

static tt_code read_reduction(const tt_expression_source *s, const tt_cx_source *text, tt_expression *e,
                              tt_error *err) {
  tt_formula_param param[MOST_PARAMS + 2];
  tt_cx_source part = *text;
  if (e->nparam < 2 || !e->param[e->nparam - 1].is_out) return tt__fail(err, TT_ETYPE, "a reduction has one output");
  e->is_reduction = true;
  e->inner = s->accumulator;
  e->fold = tt__cx_fold(s->reduce);
  if (e->fold == TT_CX_FOLD_NO_MEMORY) return tt__fail(err, TT_ENOMEM, "out of memory");
  if (e->fold == TT_CX_FOLD_NONE)
    return tt__fail(err, TT_ENOTIMPL, "the reduction '%s' is none that the graph has", s->reduce);
  if (tt__is_complex(e->inner) && e->fold != TT_CX_FOLD_SUM)
    return tt__fail(err, TT_ENOTIMPL, "a reduction of complex numbers other than their sum");
  memcpy(param, e->param, sizeof *param * (size_t)(e->nparam - 1));
  param[e->nparam - 1] = value_param("", e->inner, true);
  part.param = param;
  TT_TRY(tt__cx_value(&part, &e->f, err));
  e->has_identity = s->identity != NULL;
  if (s->identity) {
    param[0] = value_param("", e->inner, true);
    part.nparam = 1;
    part.text = s->identity;
    TT_TRY(tt__cx_value(&part, &e->identity, err));
  }
  part.nparam = post_params(e, param);
  part.text = s->post;
  return tt__cx_statements(&part, &e->post, err);
}

static tt_code read_text(const tt_expression_source *s, tt_expression *e, tt_error *err) {
  tt_cx_alias alias[32];
  if (s->ntype > 32) return tt__fail(err, TT_ENOTIMPL, "more than 32 names of types");
  for (int k = 0; k < s->ntype; k++) alias[k] = (tt_cx_alias){s->type[k].name, s->type[k].dtype};
  tt_cx_source text = {.text = s->operation,
                       .preamble = s->preamble,
                       .file = s->file ? s->file : "kernel",
                       .param = e->param,
                       .nparam = e->nparam,
                       .alias = alias,
                       .nalias = s->ntype,
                       .c_form = s->declaration != NULL};
  e->c_form = s->declaration != NULL;
  return s->reduce ? read_reduction(s, &text, e, err) : tt__cx_statements(&text, &e->f, err);
}

tt_code tt__expression_new(const tt_expression_source *s, tt_expression **out, tt_error *err) {
  assert(s && out);
  tt_expression *e = tt__mem_alloc(sizeof *e);
  *out = NULL;
  if (!e) return tt__fail_memory(err, sizeof *e);
  memset(e, 0, sizeof *e);
  tt_code code = read_params(s, e, err);
  if (code == TT_OK) code = read_text(s, e, err);
  if (code != TT_OK) {
    tt__expression_free(e);
    return code;
  }
  *out = e;
  return TT_OK;
}

void tt__expression_free(tt_expression *e) {
  if (!e) return;
  tt__formula_free(&e->f);
  tt__formula_free(&e->identity);
  tt__formula_free(&e->post);
  tt__mem_free(e, sizeof *e);
}

int tt__expression_parameters(const tt_expression *e) { return e->nparam; }

unsigned tt__expression_flags(const tt_expression *e, int k) {
  if (k < 0 || k >= e->nparam) return 0;
  const tt_formula_param *p = &e->param[k];
  return (p->is_out ? TT_EXPR_OUT : 0u) | (p->is_raw ? TT_EXPR_RAW : 0u) | (p->is_text ? TT_EXPR_NUMBER : 0u);
}

void tt__expression_print(const tt_expression *e, tt_str *out) {
  tt_formula_param param[MOST_PARAMS + 2];
  if (!e->is_reduction) {
    tt__formula_print(&e->f, e->param, out);
    return;
  }
  memcpy(param, e->param, sizeof *param * (size_t)e->nparam);
  param[e->nparam - 1] = value_param("mapped", e->inner, true);
  tt__formula_print(&e->f, param, out);
  tt__str_add(out, "--\n");
  post_params(e, param);
  tt__formula_print(&e->post, param, out);
}

/* ---- calling */

tt_code tt__expression_call(const tt_expression *e, const tt_value *arg, int64_t size, tt_array **out, tt_error *err) {
  if (e->is_reduction) return tt__fail(err, TT_ETYPE, "this expression is a reduction");
  return tt__formula_call(&(tt_formula_call){&e->f, e->param, e->nparam, arg, size, e->c_form}, out, err);
}

/* The last result of a formula, as an array of the calculation. */
static tt_array *run(tt_composer *c, const tt_formula_call *call) {
  tt_array *out[MOST_PARAMS + 2];
  if (c->code != TT_OK) return NULL;
  c->code = tt__formula_call(call, out, c->err);
  return c->code == TT_OK ? tt__compose_keep(c, TT_OK, &out[call->nparam - 1]) : NULL;
}

static tt_array *mapped(tt_composer *c, const tt_expression *e, const tt_value *arg) {
  tt_formula_param param[MOST_PARAMS + 1];
  tt_value value[MOST_PARAMS + 1];
  memcpy(param, e->param, sizeof *param * (size_t)e->nparam);
  memcpy(value, arg, sizeof *value * (size_t)e->nparam);
  param[e->nparam - 1] = value_param("", e->inner, true);
  value[e->nparam - 1] = (tt_value){TT_V_MISSING, {0}};
  return run(c, &(tt_formula_call){&e->f, param, e->nparam, value, -1, e->c_form});
}

/* The identity as an array of no axes; NULL without one. */
static tt_array *identity(tt_composer *c, const tt_expression *e) {
  tt_formula_param param = value_param("", e->inner, true);
  tt_value none = {TT_V_MISSING, {0}};
  if (!e->has_identity || c->code != TT_OK) return NULL;
  tt_array *one = run(c, &(tt_formula_call){&e->identity, &param, 1, &none, 1, false});
  return one ? tt__compose_reshape(c, one, 0, NULL) : NULL;
}

/* Whether a reduction begun with it gives what it gives without: what each piece of a row may then begin with. */
static bool is_neutral(tt_composer *c, tt_array *a, double neutral) {
  tt_node *n = tt__compose_node(c, a);
  bool known = n && n->op == TT_N_CONST;
  if (known) {
    tt_value v = tt__scalar_load((tt_dtype)n->dtype, &n->attr.scalar);
    known = v.tag == TT_V_FLOAT     ? v.as.f == neutral
            : v.tag == TT_V_COMPLEX ? v.as.z.re == neutral && v.as.z.im == 0
            : v.tag == TT_V_BOOL    ? v.as.b == (neutral != 0)
                                    : v.as.i == (int64_t)neutral;
  }
  tt__node_release(n);
  return known;
}

static tt_array *fold_numbers(tt_composer *c, const tt_expression *e, tt_array *m, uint64_t axes) {
  tt_red red = e->fold == TT_CX_FOLD_SUM ? TT_RED_SUM : TT_RED_PROD;
  if (e->inner == TT_BOOL) return tt__compose_reduce(c, red == TT_RED_SUM ? TT_RED_ANY : TT_RED_ALL, m, axes, false);
  tt_array *r = tt__compose_reduce(c, red, tt__compose_cast(c, m, is_half(e->inner) ? TT_F32 : e->inner), axes, false);
  return tt__compose_cast(c, r, e->inner);
}

/* The greatest (`most`) or least; `skips`: fmax and fmin, which prefer numbers to NaN. */
static tt_array *extreme(tt_composer *c, const tt_expression *e, tt_array *m, uint64_t axes, bool most, bool skips) {
  tt_red red = most ? TT_RED_MAX : TT_RED_MIN;
  if (!skips || !tt__is_float(e->inner)) return tt__compose_reduce(c, red, m, axes, false);
  /* Numbers win over NaN: it gives way to the end of the range, unless there is nothing else. */
  tt_array *none = tt__compose_op1(c, TT_ISNAN, m);
  tt_array *kept = tt__compose_where(c, none, tt_v_float(most ? -__builtin_inf() : __builtin_inf()),
                                     m ? tt_v_array(m) : tt_v_int(0));
  tt_array *r = tt__compose_reduce(c, red, kept, axes, false);
  tt_array *all = tt__compose_reduce(c, TT_RED_ALL, none, axes, false);
  return tt__compose_where(c, all, tt_v_float(__builtin_nan("")), r ? tt_v_array(r) : tt_v_int(0));
}

/* The same, begun with `start` (may be NULL). */
static tt_array *fold_extremes(tt_composer *c, const tt_expression *e, tt_array *m, tt_array *start, uint64_t axes) {
  bool most = e->fold == TT_CX_FOLD_MAX || e->fold == TT_CX_FOLD_FMAX;
  bool skips = e->fold == TT_CX_FOLD_FMAX || e->fold == TT_CX_FOLD_FMIN;
  tt_op op = most ? (skips ? TT_FMAX : TT_MAXIMUM) : skips ? TT_FMIN : TT_MINIMUM;
  tt_array *r = extreme(c, e, m, axes, most, skips);
  return start ? tt__compose_op2(c, op, r, start) : r;
}

/* Rows of no elements: the identity everywhere. */
static tt_array *fold_nothing(tt_composer *c, tt_array *m, tt_array *start, uint64_t axes) {
  int64_t len[TT_MAX_RANK];
  int n = 0;
  for (int d = 0; d < m->rank; d++)
    if (!(axes >> d & 1)) len[n++] = m->dim[d];
  return start ? tt__compose_broadcast(c, start, n, len)
               : tt__compose_fail(c, TT_EVALUE, "zero-size array to a reduction which has no identity");
}

static tt_array *reduced(tt_composer *c, const tt_expression *e, tt_array *m, uint64_t axes) {
  tt_array *start = identity(c, e);
  if (!m || c->code != TT_OK) return NULL;
  bool sum = e->fold == TT_CX_FOLD_SUM, truth = e->fold == TT_CX_FOLD_ALL || e->fold == TT_CX_FOLD_ANY;
  bool counted = sum || e->fold == TT_CX_FOLD_PROD || truth;
  double neutral = e->fold == TT_CX_FOLD_PROD || e->fold == TT_CX_FOLD_ALL;
  if (counted && start && !is_neutral(c, start, neutral))
    return tt__compose_fail(c, TT_ENOTIMPL, "an identity that changes what it is combined with");
  if (truth && !start) return tt__compose_fail(c, TT_ENOTIMPL, "a reduction of truth values without an identity");
  int64_t points = 1;
  for (int d = 0; d < m->rank; d++)
    if (axes >> d & 1) points *= m->dim[d];
  if (points == 0) return fold_nothing(c, m, start, axes);
  if (truth) {
    tt_red red = e->fold == TT_CX_FOLD_ALL ? TT_RED_ALL : TT_RED_ANY;
    return tt__compose_cast(c, tt__compose_reduce(c, red, tt__compose_cast(c, m, TT_BOOL), axes, false), e->inner);
  }
  return counted ? fold_numbers(c, e, m, axes) : fold_extremes(c, e, m, start, axes);
}

static bool uses_index(const tt_formula *f) {
  for (int64_t k = 0; k < f->step.n; k++)
    if (f->step.data[k].kind == TT_F_INDEX || f->step.data[k].kind == TT_F_COUNT) return true;
  return false;
}

static tt_array *finished(tt_composer *c, const tt_expression *e, const tt_value *arg, tt_array *r, tt_array *to) {
  tt_formula_param param[MOST_PARAMS + 2];
  tt_value value[MOST_PARAMS + 2];
  int n = 0;
  if (!r) return NULL;
  for (int k = 0; k + 1 < e->nparam; k++)
    if (e->param[k].is_text) value[n++] = arg[k];
  value[n++] = tt_v_array(r);
  value[n] = to ? tt_v_array(to) : (tt_value){TT_V_MISSING, {0}};
  return run(c, &(tt_formula_call){&e->post, param, post_params(e, param), value, -1, false});
}

static tt_array *shaped(tt_composer *c, tt_array *m, tt_array *r, uint64_t axes) {
  int64_t len[TT_MAX_RANK];
  if (!r) return NULL;
  for (int d = 0; d < m->rank; d++) len[d] = axes >> d & 1 ? 1 : m->dim[d];
  return tt__compose_reshape(c, r, m->rank, len);
}

/* Into an array of as many elements in another shape (`keepdims`, or one element of any rank). */
static tt_array *copied(tt_composer *c, const tt_expression *e, tt_array *r, tt_array *to) {
  if (!r || c->code != TT_OK) return NULL;
  if (r->size != to->size)
    return tt__compose_fail(c, TT_EVALUE, "the output has %lld elements, not %lld", (long long)to->size,
                            (long long)r->size);
  if (to->dtype != e->param[e->nparam - 1].dtype)
    return tt__compose_fail(c, TT_ETYPE, "the output is %s, not %s", tt__dtypes[to->dtype].name,
                            tt__dtypes[r->dtype].name);
  tt_array *same = tt__compose_reshape(c, r, to->rank, to->dim);
  return same && tt__compose_set(c, to, tt_v_array(same)) ? to : NULL;
}

static tt_array *reduce(tt_composer *c, const tt_expression *e, const tt_value *arg, uint64_t axes, bool keepdims) {
  const tt_value *last = &arg[e->nparam - 1];
  tt_array *to = last->tag == TT_V_ARRAY ? last->as.array : NULL, *m = mapped(c, e, arg);
  if (!m) return NULL;
  uint64_t all = m->rank ? ~UINT64_C(0) >> (64 - m->rank) : 0;
  if (axes & ~all) return tt__compose_fail(c, TT_EAXIS, "an axis is out of bounds for array of dimension %d", m->rank);
  if (axes != all && uses_index(&e->f)) return tt__compose_fail(c, TT_ENOTIMPL, "`i` of a reduction over some axes");
  tt_array *r = reduced(c, e, m, axes);
  if (!r) return NULL;
  bool fits = to && to->rank == r->rank && tt__shape_same(r->rank, to->dim, r->dim);
  r = finished(c, e, arg, r, fits ? to : NULL);
  if (to && !fits) return copied(c, e, r, to);
  return keepdims ? shaped(c, m, r, axes) : r;
}

tt_code tt__expression_reduce(const tt_expression *e, const tt_value *arg, uint64_t axes, bool keepdims, tt_array **out,
                              tt_error *err) {
  tt_error local;
  tt_composer c = {.err = err ? err : &local};
  *out = NULL;
  if (!e->is_reduction) return tt__fail(err, TT_ETYPE, "this expression is no reduction");
  tt_array *r = reduce(&c, e, arg, axes, keepdims);
  if (c.code == TT_OK) *out = tt__array_retain(r);
  tt__compose_end(&c);
  return c.code;
}

/* ---- where results go */

tt_code tt__expression_placed(const tt_value *arg, int n, tt_array **out, tt_error *err) {
  for (int k = 0; k < n; k++)
    if (arg[k].tag == TT_V_ARRAY) return TT_OK;
  for (int k = 0; k < n; k++) {
    if (!out[k]) continue;
    tt_code code = tt__wanted_put(&out[k], tt__wanted(), err);
    if (code == TT_OK) continue;
    for (int j = 0; j < n; j++) {
      if (j != k) tt__array_release(out[j]);
      out[j] = NULL;
    }
    return code;
  }
  return TT_OK;
}
