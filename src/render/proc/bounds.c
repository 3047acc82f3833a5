/*
** The loops over the threads of a kernel without barriers. Blocks side by side in x are one strip where nobody can
** tell: x is used as the index in the grid only. Guards at the head of a kernel ("if x < n and 0 < y") become the
** bounds of the loop over x and conditions of its rows, so that what is left is a plain loop.
*/
#include "render/proc/proc_int.h"

enum { MOST_PARTS = 24, ROW = 4096 }; /* ROW: threads of a row of a strip; rows above and below stay in the cache */

/* A part of a guard that is known inside the loop: a bound of x, or a condition of the row. */
typedef struct part {
  const tt_pexpr *cond, *bound;
  int op; /* TT_LT: x < bound, and so on; -1: the row's */
  bool holds;
} part;
struct tt_pbounds {
  const tt_pexpr **remat; /* [locals] */
  bool *assigned;         /* [locals] */
  int32_t nparam;
  bool joins;
  part part[MOST_PARTS];
  int n;
};

/* ---- what is x, what is the same along it */

/* What a local is made of, as far as that is certain. */
static const tt_pexpr *look_through(const tt_pbounds *g, const tt_pexpr *e) {
  for (int depth = 0; e->op == TT_X_LOCAL && g->remat[e->k] && depth < 8; depth++) e = g->remat[e->k];
  return e;
}

static bool is_special(const tt_pbounds *g, const tt_pexpr *e, int k) {
  e = look_through(g, e);
  return e->op == TT_X_SPECIAL && e->k == k;
}

/* blockIdx.x * blockDim.x, either way round. */
static bool is_base(const tt_pbounds *g, const tt_pexpr *e) {
  e = look_through(g, e);
  if (e->op != TT_X_ELEM || e->elem != TT_MUL || e->n != 2) return false;
  return (is_special(g, e->arg[0], TT_S_BID_X) && is_special(g, e->arg[1], TT_S_BDIM_X)) ||
         (is_special(g, e->arg[1], TT_S_BID_X) && is_special(g, e->arg[0], TT_S_BDIM_X));
}

static bool is_index(const tt_pbounds *g, const tt_pexpr *e) {
  e = look_through(g, e);
  if (e->op != TT_X_ELEM || e->elem != TT_ADD || e->n != 2 || e->type->dtype != TT_I64) return false;
  return (is_base(g, e->arg[0]) && is_special(g, e->arg[1], TT_S_TID_X)) ||
         (is_base(g, e->arg[1]) && is_special(g, e->arg[0], TT_S_TID_X));
}

/* Does it depend on nothing that changes along x, and cost little? */
static bool is_of_row(const tt_pbounds *g, const tt_pexpr *e, int depth) {
  e = look_through(g, e);
  switch ((tt_pop)e->op) {
    case TT_X_CONST:
    case TT_X_GLOBAL:
      return true;
    case TT_X_SPECIAL:
      return e->k != TT_S_TID_X && e->k != TT_S_BID_X && e->k != TT_S_LANE;
    case TT_X_LOCAL:
      return e->k < g->nparam && !g->assigned[e->k];
    default:
      if (!tt__pw_is_light(e)) return false;
  }
  for (int k = 0; k < e->n; k++)
    if (depth > 6 || !is_of_row(g, e->arg[k], depth + 1)) return false;
  return true;
}

/* ---- may blocks be joined? */

/* x by itself, or what shows the order in which threads take turns. */
static bool joins_expr(const tt_pbounds *g, const tt_pexpr *e, bool entry) {
  if (!e || (entry && is_index(g, e))) return true;
  if (e->op == TT_X_LOCAL && entry && g->remat[e->k]) return true; /* seen where it is made */
  if (e->op == TT_X_SPECIAL && (e->k == TT_S_TID_X || e->k == TT_S_BID_X || e->k == TT_S_LANE)) return false;
  if ((e->op == TT_X_HELPER && e->k) || e->op == TT_X_SHARED) return false;
  for (int k = 0; k < e->n; k++)
    if (!joins_expr(g, e->arg[k], entry)) return false;
  return true;
}

static bool joins_stmts(const tt_pbounds *g, const tt_pstmt *s, bool entry) {
  for (; s; s = s->next) {
    if (s->op == TT_X_PRINT) return false;
    if (!joins_expr(g, s->a, entry) || !joins_expr(g, s->b, entry) || !joins_expr(g, s->c, entry)) return false;
    for (int k = 0; s->arg && k < s->n; k++)
      if (!joins_expr(g, s->arg[k], entry)) return false;
    if (!joins_stmts(g, s->body, entry) || !joins_stmts(g, s->other, entry)) return false;
  }
  return true;
}

static bool may_join(const tt_pbounds *g, const tt_pwriter *w) {
  for (int64_t k = 0; k < w->p->funcs.n; k++) {
    const tt_pfunc *f = w->p->funcs.data[k];
    if (!joins_stmts(g, f->body, f == w->f)) return false;
  }
  return true;
}

/* ---- guards */

static int swapped(int op) { return op == TT_LT ? TT_GT : op == TT_LE ? TT_GE : op == TT_GT ? TT_LT : TT_LE; }
static int negated(int op) { return op == TT_LT ? TT_GE : op == TT_LE ? TT_GT : op == TT_GT ? TT_LE : TT_LT; }

/* The parts of a condition that must hold (`yes`: all of an "and"), or must not (all of an "or"). */
static void take_parts(const tt_pexpr *e, bool yes, tt_pbounds *g) {
  if (e->op == (yes ? TT_X_ALSO : TT_X_ELSE)) {
    take_parts(e->arg[0], yes, g);
    take_parts(e->arg[1], yes, g);
    return;
  }
  if (g->n == MOST_PARTS) return;
  part p = {.cond = e, .op = -1, .holds = yes};
  int op = e->op == TT_X_ELEM && e->n == 2 ? e->elem : -1;
  bool compares = op == TT_LT || op == TT_LE || op == TT_GT || op == TT_GE;
  if (compares && is_index(g, e->arg[0]) && is_of_row(g, e->arg[1], 0)) {
    p.op = op;
    p.bound = e->arg[1];
  } else if (compares && is_index(g, e->arg[1]) && is_of_row(g, e->arg[0], 0)) {
    p.op = swapped(op);
    p.bound = e->arg[0];
  } else if (!is_of_row(g, e, 0)) {
    return;
  }
  if (p.bound && p.bound->type->dtype != TT_I64) return;
  if (p.op >= 0 && !yes) p.op = negated(p.op);
  g->part[g->n++] = p;
}

/* The guards at the head of a body: what stands before them has no effect, what does not pass them does nothing. */
static void find_guards(const tt_pstmt *s, tt_pbounds *g) {
  for (; s; s = s->next) {
    if (s->op == TT_X_SET) {
      if (!tt__pw_is_plain(s->a)) return;
      continue;
    }
    if (s->op != TT_X_IF || s->other || !tt__pw_is_plain(s->a)) return;
    bool ends = s->body && s->body->op == TT_X_RETURN && !s->body->next;
    if (ends) {
      take_parts(s->a, false, g);
      continue;
    }
    if (s->next) return;
    take_parts(s->a, true, g);
    find_guards(s->body, g);
    return;
  }
}

/* ---- writing */

/* x goes from `lo` to below `hi`, lo <= hi both in the strip, whatever number the guard compares with. */
static void put_bound(tt_pwriter *w, const part *p) {
  static const char *const text[] = {"if (u < hi) hi = u > lo ? u : lo;", "if (u < hi - 1) hi = u >= lo ? u + 1 : lo;",
                                     "if (u >= lo) lo = u < hi ? u + 1 : hi;", "if (u > lo) lo = u < hi ? u : hi;"};
  int k = p->op == TT_LT ? 0 : p->op == TT_LE ? 1 : p->op == TT_GT ? 2 : 3;
  tt__pw_line(w, "{ const tt_i64 u = %s; %s }", tt__pw_text(w, p->bound), text[k]);
}

/* The loops over the threads of `strip` blocks. */
void tt__pw_bounds_loops(tt_pwriter *w, const tt_pbounds *g, const char *args) {
  w->remat = g->remat;
  if (g->joins) {
    tt__pw_line(w, "strip = gdx - bx < launch[1] - b ? gdx - bx : launch[1] - b;");
    tt__pw_line(w, "if (bdy * bdz > 1 && strip * bdx > %d) strip = %d / bdx + 1;", ROW, ROW);
  }
  tt__pw_open(w, "for (tt_i64 tz = 0; tz < bdz; tz++) for (tt_i64 ty = 0; ty < bdy; ty++) {");
  for (int k = 0; k < g->n; k++)
    if (g->part[k].op < 0)
      tt__pw_line(w, g->part[k].holds ? "if (!(%s)) continue;" : "if (%s) continue;", tt__pw_text(w, g->part[k].cond));
  tt__pw_line(w, "const tt_i64 from = bx * bdx;");
  tt__pw_line(w, "tt_i64 lo = from, hi = from + bdx * strip;");
  for (int k = 0; k < g->n; k++)
    if (g->part[k].op >= 0) put_bound(w, &g->part[k]);
  tt__pw_line(w, "TT_INDEPENDENT");
  tt__pw_line(w, "for (tt_i64 tx = lo - from; tx < hi - from; tx++)");
  tt__pw_line(w, "  tt_thread(call, dynamic, tx, ty, tz, bx, by, bz, bdx, bdy, bdz, gdx, gdy, gdz%s);", args);
  tt__pw_close(w, "}");
  w->remat = NULL;
}

static const part *part_of(const tt_pbounds *g, const tt_pexpr *cond) {
  for (int k = 0; k < g->n; k++)
    if (g->part[k].cond == cond) return &g->part[k];
  return NULL;
}

bool tt__pw_bounds_known(const tt_pbounds *g, const tt_pexpr *e, tt_str *out) {
  const part *p = part_of(g, e);
  if (p) tt__str_add(out, p->holds ? "1" : "0");
  return p != NULL;
}

bool tt__pw_bounds_decides(const tt_pbounds *g, const tt_pexpr *e, bool *holds) {
  const part *p = part_of(g, e);
  if (p) *holds = p->holds;
  if (p || (e->op != TT_X_ALSO && e->op != TT_X_ELSE)) return p != NULL;
  bool first, second;
  if (!tt__pw_bounds_decides(g, e->arg[0], &first) || !tt__pw_bounds_decides(g, e->arg[1], &second)) return false;
  *holds = e->op == TT_X_ALSO ? first && second : first || second;
  return true;
}

/* The same value in one thread? */
static bool is_same(const tt_pbounds *g, const tt_pexpr *a, const tt_pexpr *b, int depth) {
  a = look_through(g, a);
  b = look_through(g, b);
  if (a == b) return true;
  if (depth > 6 || a->op != b->op || a->k != b->k || a->n != b->n || a->type != b->type || a->elem != b->elem)
    return false;
  switch ((tt_pop)a->op) {
    case TT_X_CONST:
      return a->type->dtype == TT_I64 && a->i == b->i;
    case TT_X_LOCAL:
      return a->k < g->nparam && !g->assigned[a->k];
    case TT_X_SPECIAL:
      return true;
    case TT_X_ELEM:
    case TT_X_CAST:
    case TT_X_LEN:
      break;
    default:
      return false;
  }
  for (int k = 0; k < a->n; k++)
    if (!is_same(g, a->arg[k], b->arg[k], depth + 1)) return false;
  return true;
}

int64_t tt__pw_bounds_low(const tt_pbounds *g, const tt_pexpr *e) {
  int64_t low = TT_NO_FLOOR;
  for (int k = 0; k < g->n; k++) {
    const tt_pexpr *c = g->part[k].cond;
    if (c->op != TT_X_ELEM || c->n != 2 ||
        (c->elem != TT_LT && c->elem != TT_LE && c->elem != TT_GT && c->elem != TT_GE))
      continue;
    int op = g->part[k].holds ? c->elem : negated(c->elem);
    bool right = c->arg[0]->op == TT_X_CONST; /* number < e */
    const tt_pexpr *number = c->arg[right ? 0 : 1], *what = c->arg[right ? 1 : 0];
    if (right) op = swapped(op);
    if (number->op != TT_X_CONST || number->type->dtype != TT_I64 || (op != TT_GT && op != TT_GE)) continue;
    int64_t bound = number->i + (op == TT_GT && number->i < INT64_MAX);
    if (bound > low && is_same(g, what, e, 0)) low = bound;
  }
  return low;
}

tt_pbounds *tt__pw_bounds_find(tt_pwriter *w) {
  size_t n = (size_t)w->f->locals.n;
  tt_pbounds *g = tt__arena_alloc(w->arena, sizeof *g);
  bool *assigned = tt__arena_alloc(w->arena, n);
  if (assigned) tt__pw_find_assigned(w->f, assigned);
  const tt_pexpr **remat = g && assigned ? tt__pw_find_remat(w, assigned, NULL) : NULL;
  if (!remat) {
    w->out->failed = true;
    return NULL;
  }
  g->remat = remat;
  g->assigned = assigned;
  g->nparam = w->f->nparam;
  if (w->p->bounds) return g; /* messages name the thread, and every index is looked at */
  find_guards(w->f->body, g);
  g->joins = may_join(g, w);
  return g;
}
