/*
** What all threads of a block agree on: which variables are the same for them, and so which statements are done once
** for the block (split statements), with the threads inside.
*/
#include "render/proc/proc_int.h"

#include <assert.h>

/* ---- which variables are the same for every thread */

bool tt__pw_is_uniform(const tt_puniformity *a, const tt_pexpr *e) {
  switch ((tt_pop)e->op) {
    case TT_X_LOCAL:
      return a->same[e->k];
    case TT_X_SPECIAL:
      return e->k >= (a->wide ? TT_S_BDIM_X : TT_S_BID_X) && e->k <= TT_S_GDIM_Z;
    case TT_X_SHARED:
      return !a->wide;
    case TT_X_CONST:
    case TT_X_GLOBAL:
      return true;
    case TT_X_CAST:
    case TT_X_ELEM:
    case TT_X_SELECT:
    case TT_X_ALSO:
    case TT_X_ELSE:
    case TT_X_LEN:
    case TT_X_STEP:
    case TT_X_ADDRESS:
    case TT_X_TUPLE:
    case TT_X_ITEM:
      for (int k = 0; k < e->n; k++)
        if (!tt__pw_is_uniform(a, e->arg[k])) return false;
      return true;
    default:
      return false;
  }
}

static void differ(tt_puniformity *a, int32_t local) {
  if (a->same[local]) a->changed = true;
  a->same[local] = false;
}

/* Do threads leave the loop's turns at different places? */
static bool leaves_apart(const tt_puniformity *a, const tt_pstmt *s, bool apart) {
  for (; s; s = s->next) {
    if (apart && (s->op == TT_X_BREAK || s->op == TT_X_CONTINUE)) return true;
    if (s->op == TT_X_IF && (leaves_apart(a, s->body, apart || !tt__pw_is_uniform(a, s->a)) ||
                             leaves_apart(a, s->other, apart || !tt__pw_is_uniform(a, s->a))))
      return true;
  }
  return false;
}

bool tt__pw_loop_is_uniform(const tt_puniformity *a, const tt_pstmt *s) {
  assert(s->op == TT_X_FOR || s->op == TT_X_WHILE || s->op == TT_X_PARFOR);
  bool bounds = s->op == TT_X_WHILE
                    ? tt__pw_is_uniform(a, s->a)
                    : tt__pw_is_uniform(a, s->a) && tt__pw_is_uniform(a, s->b) && tt__pw_is_uniform(a, s->c);
  return bounds && !leaves_apart(a, s->body, false);
}

static void find_uniform(tt_puniformity *a, const tt_pstmt *s, bool apart) {
  for (; s; s = s->next) {
    bool inner = apart;
    if (s->op == TT_X_IF)
      inner |= !tt__pw_is_uniform(a, s->a);
    else if (s->op == TT_X_WHILE || s->op == TT_X_FOR)
      inner |= !tt__pw_loop_is_uniform(a, s);
    if (s->op == TT_X_SET && (apart || !tt__pw_is_uniform(a, s->a))) differ(a, s->local);
    if (s->op == TT_X_FOR && inner) differ(a, s->local);
    if (s->op == TT_X_COLLECTIVE && (apart || s->k > TT_C_SYNC_OR)) differ(a, s->local);
    find_uniform(a, s->body, inner);
    find_uniform(a, s->other, inner);
  }
}

static void find_all_uniform(tt_puniformity *a) {
  for (int64_t k = 0; k < a->f->locals.n; k++) a->same[k] = k >= a->f->nparam || !a->assigned[k];
  do {
    a->changed = false;
    find_uniform(a, a->f->body, false);
  } while (a->changed);
}

/* ---- which of them are looked at between regions, and what that splits */

static void need(void *ctx, int32_t local, bool write) {
  tt_puniformity *a = ctx;
  (void)write;
  if (a->same[local] && !a->needed[local]) a->changed = a->needed[local] = true;
}

/* Variables in the conditions of split statements, and what these are made of. */
static void find_needed(tt_puniformity *a, const tt_pstmt *s) {
  for (; s; s = s->next) {
    if (s->splits && s->op == TT_X_IF && tt__pw_is_uniform(a, s->a)) tt__pw_each_expr(s->a, need, a);
    if (s->splits && (s->op == TT_X_WHILE || s->op == TT_X_FOR) && tt__pw_loop_is_uniform(a, s)) {
      tt__pw_each_expr(s->a, need, a);
      if (s->op == TT_X_FOR) {
        tt__pw_each_expr(s->b, need, a);
        tt__pw_each_expr(s->c, need, a);
        need(a, s->local, true);
      }
    }
    if (s->splits && s->op == TT_X_FOR && tt__pw_is_uniform(a, s->b) && tt__pw_is_uniform(a, s->c)) {
      tt__pw_each_expr(s->b, need, a);
      tt__pw_each_expr(s->c, need, a);
    }
    if ((s->op == TT_X_SET || s->op == TT_X_FOR) && s->local >= 0 && a->needed[s->local]) {
      tt__pw_each_expr(s->a, need, a);
      tt__pw_each_expr(s->b, need, a);
      tt__pw_each_expr(s->c, need, a);
    }
    find_needed(a, s->body);
    find_needed(a, s->other);
  }
}

/* Control flow around an assignment to a needed variable happens at block level, so its conditions are needed too. */
static bool mark_split(tt_puniformity *a, tt_pstmt *s) {
  bool any = false;
  for (; s; s = s->next) {
    bool body = mark_split(a, s->body), other = mark_split(a, s->other);
    bool sets = (s->op == TT_X_SET || s->op == TT_X_FOR || s->op == TT_X_COLLECTIVE) && a->needed[s->local];
    bool splits = s->splits || body || other || sets;
    if (splits && !s->splits) a->changed = s->splits = true;
    any |= s->splits;
  }
  return any;
}

/* Break and continue of a common loop, where every thread agrees, belong to the block level. */
static bool lift_leaves(tt_puniformity *a, tt_pstmt *s, bool in_split_loop, bool apart) {
  bool any = false;
  for (; s; s = s->next) {
    bool here = in_split_loop && !apart && (s->op == TT_X_BREAK || s->op == TT_X_CONTINUE);
    if (s->op == TT_X_IF) {
      bool inner = lift_leaves(a, s->body, in_split_loop, apart || !tt__pw_is_uniform(a, s->a));
      inner |= lift_leaves(a, s->other, in_split_loop, apart || !tt__pw_is_uniform(a, s->a));
      if (inner && !s->splits) a->changed = s->splits = true;
      here |= inner;
    } else if (s->op == TT_X_WHILE || s->op == TT_X_FOR) {
      (void)lift_leaves(a, s->body, s->splits, apart);
    }
    any |= here;
  }
  return any;
}

bool tt__pw_find_uniform(tt_arena *arena, const tt_pfunc *f, bool wide, tt_puniformity *a) {
  size_t n = (size_t)f->locals.n;
  *a = (tt_puniformity){.f = f,
                        .wide = wide,
                        .same = tt__arena_alloc(arena, n),
                        .needed = tt__arena_alloc(arena, n),
                        .assigned = tt__arena_alloc(arena, n)};
  if (!a->same || !a->needed || !a->assigned) return false;
  tt__pw_find_assigned(f, a->assigned);
  find_all_uniform(a);
  do {
    a->changed = false;
    find_needed(a, f->body);
    (void)mark_split(a, f->body);
    (void)lift_leaves(a, f->body, false, false);
  } while (a->changed);
  return true;
}

/* ---- loops that gain from being done by all threads turn by turn */

/* Nothing but assignments: the loop over the threads inside becomes vector code. */
static bool is_plain_body(const tt_pstmt *s) {
  for (; s; s = s->next) {
    if (s->op != TT_X_SET && s->op != TT_X_STORE) return false;
    if (!tt__pw_is_plain(s->a) || !tt__pw_is_plain(s->b)) return false;
    if (s->op == TT_X_SET && s->a->type->tag != TT_T_SCALAR) return false;
  }
  return true;
}

static bool has_size(const tt_pfunc *f, const tt_pexpr *e, int depth);
static bool local_has_size(const tt_pfunc *f, const tt_pstmt *s, int32_t local, int depth) {
  for (; s; s = s->next) {
    if (s->op == TT_X_SET && s->local == local && has_size(f, s->a, depth + 1)) return true;
    if (local_has_size(f, s->body, local, depth) || local_has_size(f, s->other, local, depth)) return true;
  }
  return false;
}

/* Is it made of the number of blocks? Then a loop by it strides over the whole grid. */
static bool has_size(const tt_pfunc *f, const tt_pexpr *e, int depth) {
  if (!e || depth > 4) return false;
  if (e->op == TT_X_SPECIAL) return e->k >= TT_S_GDIM_X && e->k <= TT_S_GDIM_Z;
  if (e->op == TT_X_LOCAL) return local_has_size(f, f->body, e->k, depth);
  for (int k = 0; k < e->n; k++)
    if (has_size(f, e->arg[k], depth)) return true;
  return false;
}

/*
** Turned inside out, neighbouring threads touch neighbouring memory one after the other: (1) a loop by the size of the
** grid, where each thread alone would walk the whole array in leaps; (2) in kernels with barriers, a loop of plain
** assignments that every thread turns as often.
*/
static bool turn_loops(const tt_pfunc *f, const tt_puniformity *a, tt_pstmt *s, bool barriers) {
  bool any = false;
  for (; s; s = s->next) {
    if (s->op == TT_X_FOR && !s->splits) {
      bool grid = tt__pw_is_uniform(a, s->b) && tt__pw_is_uniform(a, s->c) && has_size(f, s->c, 0) &&
                  !leaves_apart(a, s->body, false);
      bool plain = barriers && tt__pw_loop_is_uniform(a, s) && is_plain_body(s->body);
      if (grid || plain) any = s->splits = true;
    }
    bool common = s->op == TT_X_IF ? tt__pw_is_uniform(a, s->a)
                                   : (s->op == TT_X_FOR || s->op == TT_X_WHILE) && tt__pw_loop_is_uniform(a, s);
    if (!s->splits || !common) continue;
    bool body = turn_loops(f, a, s->body, barriers), other = turn_loops(f, a, s->other, barriers); /* both, always */
    any |= body || other;
  }
  return any;
}

bool tt__pw_turn(tt_arena *arena, const tt_pfunc *f, bool wide) {
  size_t n = (size_t)f->locals.n;
  tt_puniformity a = {.f = f, .wide = wide, .same = tt__arena_alloc(arena, n), .assigned = tt__arena_alloc(arena, n)};
  if (!a.same || !a.assigned) return f->splits;
  tt__pw_find_assigned(f, a.assigned);
  find_all_uniform(&a);
  return turn_loops(f, &a, f->body, f->splits) || f->splits;
}
