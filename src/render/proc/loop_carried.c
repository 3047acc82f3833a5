/*
** Values that a loop carries from one turn to the next: each turn waits for the one before, so that an instruction
** more between the two is time, whatever else the processor could do. Three ways to write them with fewer.
*/
#include <stdio.h>
#include <string.h>

#include "render/proc/proc_int.h"

/* ---- locals and expressions */

typedef struct mentions {
  int32_t local;
  int reads, writes;
} mentions;

static void count_mention(void *ctx, int32_t local, bool write) {
  mentions *m = ctx;
  if (local != m->local) return;
  m->reads += !write;
  m->writes += write;
}

static bool is_local(const tt_pexpr *e, int32_t local) { return e && e->op == TT_X_LOCAL && e->k == local; }

static bool is_scalar(const tt_pexpr *e, tt_dtype dtype) {
  return e->type->tag == TT_T_SCALAR && e->type->dtype == (int)dtype;
}

static bool reads(const tt_pexpr *e, int32_t local) {
  mentions m = {.local = local};
  tt__pw_each_expr(e, count_mention, &m);
  return m.reads > 0;
}

/* Are statements written one after the other, for one thread, as they stand? */
static bool is_straight(const tt_pwriter *w) {
  return w->target == TT_PROGRAM_C && !w->storage && !w->single && !w->resume &&
         !w->f->yields; /* a generator keeps its variables */
}

/*
** ---- "t = x + y; ...; v = t": the addition is done where v is set
**
** Until there t and the old v both live, so v is a copy of t. gcc copies a float by an instruction that merges two
** registers, which waits: 18.0 against 15.2 ms for a Mandelbrot set.
*/

struct tt_plate {
  const tt_plate *next;
  int32_t local;
  const tt_pexpr *value; /* of operands that were computed where the local was to be set */
};

static const tt_pstmt *find_copy(const tt_pstmt *s, int32_t local) {
  while (s && !(s->op == TT_X_SET && is_local(s->a, local))) s = s->next;
  return s;
}

static tt_pexpr *name_operand(tt_pwriter *w, const tt_pexpr *operand, int n, char letter) {
  char name[24];
  int len = snprintf(name, sizeof name, "%c%d", letter, n);
  tt_pexpr *e = tt__arena_alloc(w->arena, sizeof *e);
  if (!e) return NULL;
  *e = *operand;
  e->op = TT_X_STRING;
  e->name = tt__arena_dup(w->arena, name, (size_t)len + 1);
  return e->name ? e : NULL;
}

static bool put_late(tt_pwriter *w, const tt_pstmt *s) {
  const tt_pexpr *e = s->a;
  if (!w->loop || e->op != TT_X_ELEM || (e->elem != TT_ADD && e->elem != TT_SUB && e->elem != TT_MUL)) return false;
  if (!is_scalar(e, TT_F64) && !is_scalar(e, TT_F32)) return false;
  const tt_pstmt *copy = find_copy(s->next, s->local);
  mentions m = {.local = s->local};
  if (!copy || (w->remat && w->remat[copy->local])) return false;
  if (w->f->locals.data[copy->local].type != e->type || s->local < w->f->nparam) return false;
  tt__pw_each_stmt(w->f->body, count_mention, &m);
  if (m.reads != 1 || m.writes != 1) return false;
  tt_plate *l = tt__arena_alloc(w->arena, sizeof *l);
  tt_pexpr *value = tt__arena_alloc(w->arena, sizeof *value), **arg = tt__arena_alloc(w->arena, 2 * sizeof *arg);
  if (!l || !value || !arg) {
    w->out->failed = true;
    return true;
  }
  int n = w->serial++;
  *value = *e;
  value->arg = arg;
  for (int k = 0; k < 2; k++) {
    arg[k] = name_operand(w, e->arg[k], n, "ab"[k]);
    if (!arg[k]) w->out->failed = true;
    if (!arg[k]) return true;
    tt__pw_line(w, "const %s %s = %s;", tt__pw_type(w, e->arg[k]->type), arg[k]->name, tt__pw_text(w, e->arg[k]));
  }
  *l = (tt_plate){.next = w->late, .local = s->local, .value = value};
  w->late = l;
  return true;
}

static bool put_copy(tt_pwriter *w, const tt_pstmt *s) {
  const tt_plate *l = s->a->op == TT_X_LOCAL ? w->late : NULL;
  while (l && l->local != s->a->k) l = l->next;
  if (!l) return false;
  tt__pw_line(w, "v%d = %s;", (int)s->local, tt__pw_text(w, l->value));
  return true;
}

/*
** ---- "v = (v * a + c) % 2**k": the next turn does not wait for the mask
**
** What is above the low bits of v has no effect on the low bits of v * a + c. So another variable goes on without the
** mask, and v is its low bits: 5 cycles a turn become 4.
*/

/* The mask of an expression that keeps the low bits of its first operand; 0: it is another. */
static int64_t mask_of(const tt_pexpr *e) {
  if (e->op != TT_X_ELEM || e->n != 2 || !is_scalar(e, TT_I64) || e->arg[1]->op != TT_X_CONST) return 0;
  int64_t m = e->elem == TT_MOD ? e->arg[1]->i - 1 : e->elem == TT_AND ? e->arg[1]->i : 0;
  return m > 0 && (m & (m + 1)) == 0 ? m : 0;
}

/* Do the low bits of `e` depend on nothing of the local but its low bits? */
static bool is_of_low_bits(const tt_pexpr *e, int32_t local) {
  if (!reads(e, local) || is_local(e, local)) return true;
  if (e->op != TT_X_ELEM || !is_scalar(e, TT_I64)) return false;
  if (e->elem == TT_SHL)
    return e->arg[1]->op == TT_X_CONST && (uint64_t)e->arg[1]->i < 64 && is_of_low_bits(e->arg[0], local);
  if (e->elem != TT_ADD && e->elem != TT_SUB && e->elem != TT_MUL && e->elem != TT_AND && e->elem != TT_OR &&
      e->elem != TT_XOR && e->elem != TT_NEG)
    return false;
  for (int k = 0; k < e->n; k++)
    if (!is_of_low_bits(e->arg[k], local)) return false;
  return true;
}

static bool is_masked_turn(const tt_pstmt *s) {
  return s->op == TT_X_SET && mask_of(s->a) && reads(s->a->arg[0], s->local) && is_of_low_bits(s->a->arg[0], s->local);
}

typedef struct search {
  bool *low;
  bool *other; /* [locals]: set by something else than an assignment, */
  bool par;    /* or the function has loops whose bodies are functions of their own */
} search;

static void find_low(search *f, const tt_pstmt *s, bool loop) {
  for (; s; s = s->next) {
    f->par |= s->op == TT_X_PARFOR;
    if (s->local >= 0 && s->op != TT_X_SET) f->other[s->local] = true;
    if (loop && is_masked_turn(s)) f->low[s->local] = true;
    find_low(f, s->body, loop || s->op == TT_X_FOR || s->op == TT_X_WHILE);
    find_low(f, s->other, loop);
  }
}

void tt__pw_begin_carried(tt_pwriter *w) {
  size_t n = (size_t)w->f->locals.n;
  search f = {.low = tt__arena_alloc(w->arena, n + 1), .other = tt__arena_alloc(w->arena, n + 1)};
  w->late = NULL;
  w->low = NULL;
  if (!is_straight(w)) return;
  if (!f.low || !f.other) {
    w->out->failed = true;
    return;
  }
  find_low(&f, w->f->body, false);
  for (size_t k = 0; k < n; k++) {
    f.low[k] = f.low[k] && !f.other[k] && !f.par && (int64_t)k >= w->f->nparam && !(w->remat && w->remat[k]);
    if (f.low[k]) tt__pw_line(w, "tt_i64 low%d; /* its low bits are those of v%d */", (int)k, (int)k);
  }
  w->low = f.low;
}

static bool put_low(tt_pwriter *w, const tt_pstmt *s) {
  int v = (int)s->local;
  if (!w->low || !w->low[v]) return false;
  if (is_masked_turn(s)) {
    w->low_for = s->local + 1;
    tt__pw_line(w, "low%d = %s;", v, tt__pw_text(w, s->a->arg[0]));
    w->low_for = 0;
    tt__pw_line(w, "v%d = low%d & TT_I64(%lld);", v, v, (long long)mask_of(s->a));
  } else {
    tt__pw_line(w, "v%d = %s;", v, tt__pw_text(w, s->a));
    tt__pw_line(w, "low%d = v%d;", v, v);
  }
  return true;
}

/*
** ---- "v = a if c else b" of v itself: both sides, and a choice without a jump
**
** Such a condition is as good as random: gcc's jump is guessed wrong in every third turn of Collatz's, 3.2 ms instead
** of 2.1. Sides that it cannot look into keep it from making one.
*/
static bool is_cheap(const tt_pexpr *e, int *nodes) {
  if (--*nodes < 0 || !is_scalar(e, TT_I64)) return false;
  if (e->op == TT_X_LOCAL || e->op == TT_X_CONST) return true;
  if (e->op != TT_X_ELEM || e->n != 2 || !is_cheap(e->arg[0], nodes) || !is_cheap(e->arg[1], nodes)) return false;
  bool shifts = e->elem == TT_FLOORDIV || e->elem == TT_MOD;
  int64_t by = e->arg[1]->op == TT_X_CONST ? e->arg[1]->i : 0;
  if (shifts) return by > 0 && (by & (by - 1)) == 0;
  return e->elem == TT_ADD || e->elem == TT_SUB || e->elem == TT_MUL || e->elem == TT_AND || e->elem == TT_OR ||
         e->elem == TT_XOR;
}

static bool put_choice(tt_pwriter *w, const tt_pstmt *s) {
  enum { FEW_NODES = 12 };
  const tt_pexpr *e = s->a;
  int nodes = FEW_NODES;
  if (!w->loop || e->op != TT_X_SELECT || !reads(e->arg[0], s->local)) return false;
  if (!reads(e->arg[1], s->local) && !reads(e->arg[2], s->local)) return false;
  if (!is_cheap(e->arg[1], &nodes) || !is_cheap(e->arg[2], &nodes)) return false;
  tt__pw_line(w, "v%d = TT_CHOOSE(%s, %s, %s);", (int)s->local, tt__pw_text(w, e->arg[0]), tt__pw_text(w, e->arg[1]),
              tt__pw_text(w, e->arg[2]));
  return true;
}

bool tt__pw_set_carried(tt_pwriter *w, const tt_pstmt *s) {
  return is_straight(w) && (put_low(w, s) || put_choice(w, s) || put_copy(w, s) || put_late(w, s));
}

/*
** ---- "if c: n += 1": a sum of the condition
**
** Where the condition is as good as random a jump is guessed wrong in every other turn: 4.0 ms for a count of a million
** random points instead of 1.5; and sums of conditions become vectors.
*/
bool tt__pw_put_count(tt_pwriter *w, const tt_pstmt *s) {
  const tt_pstmt *set = s->body;
  if (!w->loop || !is_straight(w) || s->other || !set || set->next || set->op != TT_X_SET) return false;
  const tt_pexpr *e = set->a;
  bool adds = e->op == TT_X_ELEM && (e->elem == TT_ADD || e->elem == TT_SUB);
  if (!adds || !is_local(e->arg[0], set->local) || e->arg[1]->op != TT_X_CONST) return false;
  if (w->remat && w->remat[set->local]) return false;
  if (!is_scalar(e, TT_I64) && !is_scalar(e, TT_I32)) return false;
  const char *type = tt__pw_type(w, e->type);
  tt__pw_line(w, "v%d = v%d %c (-(%s)((%s) != 0) & %s);", (int)set->local, (int)set->local,
              e->elem == TT_ADD ? '+' : '-', type, tt__pw_text(w, s->a), tt__pw_text(w, e->arg[1]));
  return true;
}

/*
** ---- "if x < least: least = x": a jump
**
** gcc moves by the condition, and each turn waits for the one before; but what is searched for an extremum has few new
** ones: 0.57 ms for the least and the most of a million, with a jump 0.30. Of whole numbers alone it makes vectors.
*/
bool tt__pw_is_extremum(tt_pwriter *w, const tt_pstmt *s) {
  const tt_pexpr *c = s->a;
  bool compares = c->op == TT_X_ELEM && c->n == 2 && c->elem >= TT_LT && c->elem <= TT_GE;
  if (!w->loop || !is_straight(w) || !compares) return false;
  if (s->body && !s->body->next && !s->other && !is_scalar(c->arg[0], TT_F64) && !is_scalar(c->arg[0], TT_F32))
    return false;
  for (const tt_pstmt *t = s->body; t; t = t->next) {
    if (t->op != TT_X_SET) return false; /* it does more than remember */
    int side = is_local(c->arg[0], t->local) ? 0 : is_local(c->arg[1], t->local) ? 1 : -1;
    if (side < 0) continue;
    tt_str value = {0}, other = {0};
    tt__str_add(&value, tt__pw_text(w, t->a));
    tt__str_add(&other, tt__pw_text(w, c->arg[1 - side]));
    bool same = value.data && other.data && strcmp(value.data, other.data) == 0;
    tt__str_free(&value);
    tt__str_free(&other);
    return same;
  }
  return false;
}

/*
** ---- "if a[j] > a[j + 1]: swap them": not as a vector of two
**
** gcc makes the two stores one, and so the loads, and then takes the vector apart for the comparison in each turn,
** swapped or not. Four turns a sweep, the swaps out of the way, and one pointer for both elements, or gcc keeps one for
** each: a turn is two loads and a comparison then, 47 us instead of 74 for a sort of 700 sorted numbers, and 170
** instead of 260 where they are not.
*/

/* Is it an element of the array, or a variable that was set to one since `first`? */
static bool is_element(const tt_pexpr *e, int32_t array, const tt_pstmt *first, const tt_pstmt *end) {
  if (e->op == TT_X_LOAD) return is_local(e->arg[0], array);
  if (e->op != TT_X_LOCAL) return false;
  for (const tt_pstmt *s = first; s != end; s = s->next)
    if (s->op == TT_X_SET && s->local == e->k) return s->a->op == TT_X_LOAD && is_local(s->a->arg[0], array);
  return false;
}

bool tt__pw_is_swap(const tt_pwriter *w, const tt_pstmt *first, const tt_pstmt *s) {
  const tt_pstmt *t = s->next;
  if (!is_straight(w) || s->op != TT_X_STORE || !t || t->op != TT_X_STORE) return false;
  if (s->a->arg[0]->op != TT_X_LOCAL || s->b->type->tag != TT_T_SCALAR) return false;
  int32_t array = s->a->arg[0]->k;
  if (s->a->op != TT_X_LOAD || s->a->arg[0]->type->layout == 'P') return false;
  return is_local(t->a->arg[0], array) && is_element(s->b, array, first, s) && is_element(t->b, array, first, t);
}

bool tt__pw_swaps(const tt_pwriter *w, const tt_pstmt *s) {
  if (!w->loop || s->op != TT_X_IF || s->other) return false;
  for (const tt_pstmt *t = s->body; t; t = t->next)
    if (tt__pw_is_swap(w, s->body, t)) return true;
  return false;
}

static bool sets(const tt_pstmt *s, int32_t local) {
  for (; s; s = s->next)
    if (s->op != TT_X_STORE && s->local == local) return true;
  return false;
}

void tt__pw_come_near(tt_pwriter *w, const tt_pstmt *s) {
  const tt_pexpr *e = NULL;
  for (const tt_pstmt *t = s->body; t && !e; t = t->next)
    if (t->op == TT_X_STORE && t->a->n == 2 && t->a->arg[1]->op == TT_X_LOCAL) e = t->a;
  if (!e || w->p->bounds || e->arg[0]->op != TT_X_LOCAL || e->arg[0]->type->rank != 1) return;
  if (sets(s->body, e->arg[0]->k) || sets(s->body, e->arg[1]->k)) return;
  tt_str text = {0};
  int n = ++w->serial;
  tt__pw_place(w, e, &text);
  tt__pw_line(w, "%s *const near%d = &%s;", tt__pw_type(w, e->type), n, tt__pw_peek(w, &text));
  tt__str_free(&text);
  w->near = n;
  w->near_array = e->arg[0]->k;
  w->near_index = e->arg[1]->k;
}

bool tt__pw_is_near(const tt_pwriter *w, const tt_pexpr *e, int64_t *beside) {
  if (!w->near || !is_local(e->arg[0], w->near_array)) return false;
  const tt_pexpr *i = e->arg[1];
  *beside = 0;
  if (is_local(i, w->near_index)) return true;
  if (i->op != TT_X_ELEM || (i->elem != TT_ADD && i->elem != TT_SUB)) return false;
  bool first = is_local(i->arg[0], w->near_index);
  const tt_pexpr *by = i->arg[first];
  if (by->op != TT_X_CONST || !is_scalar(by, TT_I64) || by->i < -64 || by->i > 64) return false;
  *beside = i->elem == TT_SUB ? -by->i : by->i;
  return first || (i->elem == TT_ADD && is_local(i->arg[1], w->near_index));
}
