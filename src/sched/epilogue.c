/*
** Recognising epilogues. What a kernel computes is not compared as text (0.5 * y * (1 + tanh(..)) is written in many
** orders) but as a function: it is run on a few numbers, in double precision, beside the functions that are known.
*/
#include "sched/epilogue.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "ir/dtype.h"
#include "ir/library.h"
#include "scalar/functions.h"

#define MOST_INST 40
#define MOST_CONE (4 * MOST_INST)

/* A kernel seen as a function of the library's result and of a term: a bias, or an array of the same shape. */
typedef struct candidate {
  const tt_walk *walk;
  const tt_step *step;
  int32_t product; /* walk number of the result */
  int product_access, term_access;
  bool whole; /* the term is an array of the same shape */
} candidate;

/* ---- numbers */

static double half_number(uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  double x = exponent == 31 ? NAN : exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
  return h >> 15 ? -x : x;
}

static double number_of(tt_dtype t, const tt_scalar *s) {
  float f;
  uint32_t wide = (uint32_t)s->bf16 << 16;
  switch (t) {
    case TT_F16:
      return half_number(s->f16);
    case TT_BF16:
      memcpy(&f, &wide, sizeof f);
      return f;
    case TT_F32:
      return s->f32;
    case TT_F64:
      return s->f64;
    case TT_I64:
      return (double)s->i64;
    default:
      return NAN; /* no constant of ours: nothing equals it */
  }
}

static double constant(const candidate *c, const tt_pinst *in) {
  if (in->ref < 0) return number_of((tt_dtype)in->dtype, &c->step->literal[-1 - in->ref]);
  const tt_node *n = c->walk->node[in->ref];
  if (n->op != TT_N_CONST) return NAN;
  return number_of((tt_dtype)n->dtype, &n->attr.scalar);
}

static double run(const candidate *c, double product, double bias) {
  double value[MOST_INST];
  const tt_step *st = c->step;
  for (int i = 0; i < st->ninst; i++) {
    const tt_pinst *in = &st->inst[i];
    if (in->op == TT_P_CONST) {
      value[i] = constant(c, in);
    } else if (in->op == TT_P_LOAD) {
      value[i] = in->ref == c->product_access ? product : bias;
    } else if (in->op == TT_P_STORE) {
      return value[in->src[0]];
    } else {
      double v[3] = {0, 0, 0};
      for (int k = 0; k < tt__plan_code_arity(in->op); k++) v[k] = value[in->src[k]];
      value[i] = in->op < TT_OP_COUNT ? tt__scalar_f64((tt_op)in->op, v[0], v[1], v[2]) : NAN;
    }
  }
  return NAN;
}

static double known(int epilogue, double x) {
  if (epilogue & TT_EPILOGUE_RELU) return x > 0 ? x : 0;
  if (epilogue & TT_EPILOGUE_GELU) return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
  return x;
}

/* Is the kernel this function? The constants of a gelu were rounded to the kernel's type, no others are needed. */
static bool is_function(const candidate *c, tt_dtype t, int epilogue) {
  static const double at[] = {-50, -6, -3, -2, -1.25, -0.5, -0.125, 0, 0.25, 0.75, 1.5, 2.5, 4, 9};
  double near = 1e-9;
  if (epilogue & TT_EPILOGUE_GELU) near = t == TT_BF16 ? 0.03 : t == TT_F16 ? 0.004 : 1e-5;
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    double bias = c->term_access >= 0 ? 0.375 * (double)(i % 5) - 0.75 : 0;
    double want = known(epilogue, at[i] + bias), got = run(c, at[i], bias);
    if (!(fabs(got - want) <= near * fabs(want) + near * 1e-4)) return false;
  }
  return true;
}

/* ---- who reads what */

static bool is_dense(const tt_step *st, const tt_paccess *a) {
  int64_t run = 1;
  for (int d = st->space.naxes - 1; d >= 0; d--) {
    if (st->space.len[d] != 1 && a->step[d] != run) return false;
    run *= st->space.len[d];
  }
  return true;
}

/* A vector along the last axis, used again along the others. */
static bool is_along_last(const tt_step *st, const tt_paccess *a, int64_t last) {
  int d = st->space.naxes - 1;
  if (d < 0 || st->space.len[d] != last || a->step[d] != 1) return false;
  while (--d >= 0)
    if (a->step[d] != 0 && st->space.len[d] != 1) return false;
  return true;
}

/* Loads and stores: the product, at most one term, one result, all dense. Fills the accesses. */
static bool reads_well(candidate *c, tt_dtype t, int64_t last) {
  const tt_step *st = c->step;
  c->product_access = c->term_access = -1;
  for (int i = 0; i < st->ninst; i++) {
    const tt_pinst *in = &st->inst[i];
    if (in->op == TT_P_CONST || in->op < TT_OP_COUNT) continue;
    if (in->op != TT_P_LOAD && in->op != TT_P_STORE) return false;
    const tt_paccess *a = &st->access[in->ref];
    if (a->dtype != t) return false;
    int32_t node = st->operand[a->operand].node;
    if (in->op == TT_P_STORE || node == c->product) {
      if (a->off != 0 || !is_dense(st, a)) return false;
      if (in->op == TT_P_LOAD && c->product_access >= 0 && c->product_access != in->ref) return false;
      if (in->op == TT_P_LOAD) c->product_access = in->ref;
    } else {
      c->whole = !is_along_last(st, a, last);
      if ((c->whole && !is_dense(st, a)) || (c->term_access >= 0 && c->term_access != in->ref)) return false;
      c->term_access = in->ref;
    }
  }
  return c->product_access >= 0;
}

static bool uses(const tt_step *st, int32_t node) {
  for (int i = 0; i < st->noperand; i++)
    if (!st->operand[i].write && st->operand[i].node == node) return true;
  for (int i = 0; i < st->nsrc; i++)
    if (st->src[i].node == node) return true;
  for (int i = 0; i < st->nroot; i++)
    if (st->root[i].base == node) return true;
  return false;
}

/* The only later step that reads the node; -1: none or several. */
static int only_reader(const tt_plan *p, int at, int32_t node) {
  int found = -1;
  for (int i = at + 1; i < p->n; i++) {
    if (!uses(&p->step[i], node)) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

/* What the kernel computes inside itself, children first, down to the product and its other operands. */
typedef struct cone {
  const candidate *of;
  const tt_node *node[MOST_CONE];
  bool above[MOST_CONE]; /* the product lies below it */
  int n;
} cone;

static bool is_operand(const candidate *c, const tt_node *n) {
  for (int i = 0; i < c->step->noperand; i++)
    if (!c->step->operand[i].write && c->walk->node[c->step->operand[i].node] == n) return true;
  return n->op == TT_N_BUFFER;
}

/* The place of `n` in the cone, after what lies below it; -1: it is too large. */
static int visit(cone *c, const tt_node *n, int depth) {
  bool above = n == c->of->walk->node[c->of->product];
  for (int i = 0; i < c->n; i++)
    if (c->node[i] == n) return i;
  if (depth == MOST_CONE) return -1;
  for (int k = 0; k < n->nsrc && !is_operand(c->of, n); k++) {
    int below = visit(c, n->src[k], depth + 1);
    if (below < 0) return -1;
    above |= c->above[below];
  }
  if (c->n == MOST_CONE) return -1;
  c->node[c->n] = n;
  c->above[c->n] = above;
  return c->n++;
}

/* Does nobody outside the cone want the value of its i-th node? */
static bool is_private(const cone *c, int i) {
  const tt_walk *w = c->of->walk;
  const tt_node *n = c->node[i];
  int32_t edges = w->held && n == w->node[c->of->product];
  for (int j = 0; j < c->n; j++)
    for (int k = 0; k < c->node[j]->nsrc && !is_operand(c->of, c->node[j]); k++) edges += c->node[j]->src[k] == n;
  for (int t = 0; t < w->ntarget; t++)
    if (w->node[w->target[t]] == n) return false;
  return n->held == 0 && n->refs == edges;
}

/* The product and all that stands between it and the result: if somebody kept one of them, the product would have to be
** computed again for him. */
static bool all_private(const candidate *of) {
  cone c = {.of = of};
  int result = visit(&c, of->walk->node[of->step->root[0].node], 0);
  if (result < 0) return false;
  for (int i = 0; i < c.n; i++)
    if (c.above[i] && i != result && !is_private(&c, i)) return false;
  return true;
}

/* In memory before step `at` runs? */
static bool is_ready(const tt_walk *w, const tt_plan *p, int at, int32_t node) {
  if (w->node[node]->op == TT_N_BUFFER) return true;
  for (int i = 0; i < at; i++)
    for (int r = 0; r < p->step[i].nroot; r++)
      if (p->step[i].root[r].node == node) return true;
  return false;
}

bool tt__sched_epilogue(const tt_walk *w, const tt_plan *p, int at, tt_epilogue_match *out) {
  assert(at >= 0 && at < p->n && p->nnode == w->n);
  static const int known_ones[] = {TT_EPILOGUE_RELU, TT_EPILOGUE_GELU, TT_EPILOGUE_NONE};
  const tt_step *lib = &p->step[at];
  if (lib->kind != TT_STEP_LIB || lib->nroot != 1 || !w->node[lib->lib]->attr.lib->row->run_on_then) return false;
  candidate c = {.walk = w, .product = lib->root[0].node};
  const tt_node *n = w->node[c.product];
  tt_dtype t = (tt_dtype)n->dtype;
  if (n->rank < 1 || (t != TT_F32 && t != TT_F16 && t != TT_BF16)) return false;
  int then = only_reader(p, at, c.product);
  if (then < 0) return false;
  const tt_step *st = c.step = &p->step[then];
  if (st->kind != TT_STEP_KERNEL || st->nroot != 1 || st->root[0].base >= 0 || st->nouter != st->space.naxes ||
      st->ninst > MOST_INST || w->node[st->root[0].node]->size != n->size || !all_private(&c))
    return false;
  if (!reads_well(&c, t, n->dim[n->rank - 1])) return false;
  *out = (tt_epilogue_match){.step = then, .term = -1};
  if (c.term_access >= 0) {
    const tt_paccess *a = &st->access[c.term_access];
    out->term = st->operand[a->operand].node;
    out->offset = a->off;
    out->epilogue = c.whole ? TT_EPILOGUE_ADD : TT_EPILOGUE_BIAS;
    if (!is_ready(w, p, at, out->term)) return false;
  }
  for (size_t i = 0; i < sizeof known_ones / sizeof *known_ones; i++) {
    if ((c.whole && known_ones[i]) || !is_function(&c, t, known_ones[i])) continue;
    out->epilogue |= known_ones[i];
    return out->epilogue != TT_EPILOGUE_NONE;
  }
  return false;
}
