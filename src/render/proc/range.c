/*
** What an integer cannot be below. An index that certainly does not count from the end is written as it stands, so
** that a loop over it becomes vector code. Loops that start at a number, and guards that a kernel has passed, tell.
*/
#include "render/proc/proc_int.h"

enum { DEEP = 5 };

/* A local's assignments, and the starts of the loops that count it upwards. */
struct tt_pfloor {
  tt_pfloor *next;
  const tt_pexpr *from; /* NULL: anything */
};

static void note_floor(tt_pwriter *w, int32_t local, const tt_pexpr *from) {
  tt_pfloor *f = tt__arena_alloc(w->arena, sizeof *f);
  if (!f) {
    w->out->failed = true;
    return;
  }
  f->from = from;
  f->next = w->floor[local];
  w->floor[local] = f;
}

static void find_floors(tt_pwriter *w, const tt_pstmt *s) {
  for (; s; s = s->next) {
    bool up = s->op == TT_X_PARFOR || (s->op == TT_X_FOR && s->c->nonneg);
    if (s->local >= 0) note_floor(w, s->local, up || s->op == TT_X_SET ? s->a : NULL);
    for (int k = 0; s->op == TT_X_PARFOR && k < s->n; k++) note_floor(w, s->reduced[k], NULL);
    find_floors(w, s->body);
    find_floors(w, s->other);
  }
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  return a == TT_NO_FLOOR || b == TT_NO_FLOOR || __builtin_add_overflow(a, b, &sum) ? TT_NO_FLOOR : sum;
}

static int64_t low_of(const tt_pwriter *w, const tt_pexpr *e, int depth);

static int64_t low_of_local(const tt_pwriter *w, int32_t local, int depth) {
  int64_t low = INT64_MAX;
  const tt_pfloor *f = w->floor[local];
  if (!f || local < w->f->nparam) return TT_NO_FLOOR; /* a parameter comes with a value of its own */
  for (; f && low != TT_NO_FLOOR; f = f->next) {
    int64_t one = f->from ? low_of(w, f->from, depth) : TT_NO_FLOOR;
    if (one < low) low = one;
  }
  return low;
}

/* What a loop that is written out turn by turn has in its variable; false: it is no such variable. */
static bool is_known(const tt_pwriter *w, const tt_pexpr *e, int64_t *value) {
  if (e->op == TT_X_CONST) return *value = e->i, true;
  for (const tt_pturn *t = w->turn; t && e->op == TT_X_LOCAL; t = t->up)
    if (t->local == e->k) return *value = t->value, true;
  return false;
}

/* What it adds at most. */
static uint64_t top_of(const tt_pwriter *w, const tt_pexpr *e) {
  uint64_t end = INT64_MAX, top = e->limit - 1;
  int64_t value;
  if (is_known(w, e, &value)) return value > 0 ? (uint64_t)value : 0;
  return top > end ? end : top;
}

/* A sum that may overflow has no floor. */
static bool stays_inside(const tt_pwriter *w, const tt_pexpr *a, const tt_pexpr *b) {
  return top_of(w, a) + top_of(w, b) <= INT64_MAX;
}

static int64_t low_of(const tt_pwriter *w, const tt_pexpr *e, int depth) {
  int64_t low = e->nonneg ? 0 : TT_NO_FLOOR, value;
  if (depth > DEEP || e->type->tag != TT_T_SCALAR || e->type->dtype != TT_I64) return low;
  if (w->bounds) low = larger(low, tt__pw_bounds_low(w->bounds, e));
  if (is_known(w, e, &value)) return value;
  if (e->op == TT_X_LOCAL) return larger(low, low_of_local(w, e->k, depth + 1));
  if (e->op != TT_X_ELEM || e->n != 2) return low;
  if (e->elem == TT_ADD) {
    if (!stays_inside(w, e->arg[0], e->arg[1])) return low;
    return larger(low, plus(low_of(w, e->arg[0], depth + 1), low_of(w, e->arg[1], depth + 1)));
  }
  if (e->elem != TT_SUB || e->arg[1]->op != TT_X_CONST || e->arg[1]->i < 0) return low;
  return larger(low, plus(low_of(w, e->arg[0], depth + 1), -e->arg[1]->i));
}

bool tt__pw_is_nonneg(tt_pwriter *w, const tt_pexpr *e) {
  if (w->floor_of != w->f) {
    w->floor = tt__arena_alloc(w->arena, (size_t)w->f->locals.n * sizeof *w->floor);
    if (!w->floor) {
      w->out->failed = true;
      return false;
    }
    w->floor_of = w->f;
    find_floors(w, w->f->body);
  }
  return low_of(w, e, 0) >= 0;
}
