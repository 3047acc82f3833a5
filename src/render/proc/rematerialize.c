/*
** What an expression costs and does, and which variables are cheaper to compute again where they are used than to keep
** for each thread: who am I, where is the shared memory.
*/
#include "render/proc/proc_int.h"

static void note_assigned(void *ctx, int32_t local, bool write) {
  bool *assigned = ctx;
  if (write) assigned[local] = true;
}

void tt__pw_find_assigned(const tt_pfunc *f, bool *assigned) { tt__pw_each_stmt(f->body, note_assigned, assigned); }

bool tt__pw_is_plain(const tt_pexpr *e) {
  if (!e) return true;
  if (e->op == TT_X_CALL || e->op == TT_X_ATOMIC || e->op == TT_X_HELPER || e->op == TT_X_VIEW || e->op == TT_X_DIVIDE)
    return false;
  for (int k = 0; k < e->n; k++)
    if (!tt__pw_is_plain(e->arg[k])) return false;
  return true;
}

typedef struct once {
  const tt_pexpr **set; /* [locals]: its one assignment */
  uint8_t *count;
} once;

static void count_sets(once *o, const tt_pstmt *s) {
  for (; s; s = s->next) {
    if (s->local >= 0) {
      if (o->count[s->local] < 2) o->count[s->local]++;
      o->set[s->local] = s->op == TT_X_SET ? s->a : NULL;
    }
    count_sets(o, s->body);
    count_sets(o, s->other);
  }
}

bool tt__pw_is_light(const tt_pexpr *e) {
  switch ((tt_pop)e->op) {
    case TT_X_ELEM:
      return !(tt__ops[e->elem].flags & TT_OPF_SLOW);
    case TT_X_CAST:
    case TT_X_LEN:
    case TT_X_STEP:
    case TT_X_ADDRESS:
    case TT_X_ITEM:
    case TT_X_TUPLE:
      return true;
    default:
      return false;
  }
}

static bool is_cheap(const tt_pfunc *f, const bool *assigned, const once *o, const tt_pexpr *e, int depth) {
  if (depth > 6) return false;
  switch ((tt_pop)e->op) {
    case TT_X_CONST:
    case TT_X_SPECIAL:
    case TT_X_SHARED:
    case TT_X_PRIVATE:
    case TT_X_GLOBAL:
      return true;
    case TT_X_LOCAL:
      if (e->k < f->nparam) return !assigned[e->k];
      return o->count[e->k] == 1 && o->set[e->k] && is_cheap(f, assigned, o, o->set[e->k], depth + 1);
    default:
      if (!tt__pw_is_light(e)) return false;
  }
  for (int k = 0; k < e->n; k++)
    if (!is_cheap(f, assigned, o, e->arg[k], depth + 1)) return false;
  return true;
}

const tt_pexpr **tt__pw_find_remat(tt_pwriter *w, const bool *assigned, const bool *needed) {
  size_t n = (size_t)w->f->locals.n;
  once o = {.set = tt__arena_alloc(w->arena, n * sizeof *o.set), .count = tt__arena_alloc(w->arena, n)};
  const tt_pexpr **remat = tt__arena_alloc(w->arena, n * sizeof *remat);
  if (!o.set || !o.count || !remat) return NULL;
  count_sets(&o, w->f->body);
  for (size_t k = (size_t)w->f->nparam; k < n; k++) {
    if (needed && needed[k]) continue;
    if (o.count[k] == 1 && o.set[k] && is_cheap(w->f, assigned, &o, o.set[k], 0)) remat[k] = o.set[k];
  }
  return remat;
}
