/*
** Which memory arrays lie in. OpenCL C has it in the types of pointers, so that a function of arrays is another one for
** arrays of a block: each is written once for each set of memories that it is called with. What OpenCL C has no words
** for is refused here.
*/
#include <assert.h>
#include <string.h>

#include "render/proc/proc_int.h"

/* A function while its memories are found: what was assigned is looked at until nothing changes. */
typedef struct finder {
  tt_pwriter *w;
  tt_pvariant *at;
  bool changed, last; /* last: what nothing is known of is memory of the device */
  tt_code code;
  tt_error *err;
} finder;

static tt_pspace find_space(finder *d, const tt_pexpr *e);

/* ---- refusing */

static void refuse_space(finder *d, int32_t line, const char *what) {
  if (d->code != TT_OK) return;
  d->code = tt__fail(d->err, TT_ENOTIMPL, "line %d: %s", (int)line, what);
}

static void refuse_stmt(finder *d, const tt_pstmt *s) {
  if (s->op == TT_X_COLLECTIVE && s->k >= TT_C_SHFL)
    refuse_space(d, s->line, "exchanges between the threads of a warp: there are no warps");
  if (s->op == TT_X_BARRIER && s->k == 1) refuse_space(d, s->line, "a barrier of a warp: there are no warps");
  if (s->op == TT_X_BARRIER && s->k == 2) refuse_space(d, s->line, "a barrier of the whole grid");
  if (s->op == TT_X_RAISE) refuse_space(d, s->line, "an error that ends the kernel (raise, assert)");
  if (s->op == TT_X_HOST || s->op == TT_X_YIELD) refuse_space(d, s->line, "what only the host can do");
}

static void refuse_expr(finder *d, const tt_pexpr *e) {
  if (e->op == TT_X_DIVIDE) refuse_space(d, e->line, "a division that fails where the divisor is 0");
  if (e->op == TT_X_RESHAPE) refuse_space(d, e->line, "a reshape that may fail");
  if (e->op == TT_X_SPECIAL && e->k == TT_S_LANE)
    refuse_space(d, e->line, "a thread's place in its warp: there are no warps");
  if (e->op == TT_X_LIST || e->op == TT_X_NEXT) refuse_space(d, e->line, "what only the host can do");
}

/* ---- variants */

static tt_pvariant *find_variant(const tt_pwriter *w, int64_t func, const uint8_t *space) {
  tt_pvariant *v = w->variants;
  while (v && !(v->func == func && memcmp(v->space, space, (size_t)v->f->nparam) == 0)) v = v->next;
  return v;
}

static tt_pvariant *new_variant(tt_pwriter *w, int64_t func, const uint8_t *space) {
  const tt_pfunc *f = w->p->funcs.data[func];
  size_t n = (size_t)f->locals.n;
  tt_pvariant *v = tt__arena_alloc(w->arena, sizeof *v);
  uint8_t *all = tt__arena_alloc(w->arena, n + 1);
  if (!v || !all) return NULL;
  memset(all, TT_SPACE_UNKNOWN, n + 1);
  memcpy(all, space, (size_t)f->nparam);
  *v = (tt_pvariant){.f = f, .func = func, .space = all, .result = TT_SPACE_UNKNOWN};
  return v;
}

static void add_variant(tt_pwriter *w, tt_pvariant *v) {
  tt_pvariant **end = &w->variants;
  for (; *end; end = &(*end)->next) v->number++;
  *end = v;
}

static tt_pvariant *make_variant(tt_pwriter *w, int64_t func, const uint8_t *space, tt_code *code, tt_error *err);

/* Of a call; NULL: something about its arguments is not known yet, or it failed. */
static tt_pvariant *called(finder *d, const tt_pexpr *e) {
  uint8_t space[TT_PROGRAM_ARGS + 1];
  assert(e->n <= TT_PROGRAM_ARGS);
  for (int k = 0; k < e->n; k++) {
    space[k] = TT_SPACE_GLOBAL;
    if (e->arg[k]->type->tag == TT_T_ARRAY) space[k] = (uint8_t)find_space(d, e->arg[k]);
    if (space[k] == TT_SPACE_UNKNOWN) return NULL;
  }
  tt_pvariant *v = find_variant(d->w, e->k, space);
  return v ? v : d->code == TT_OK ? make_variant(d->w, e->k, space, &d->code, d->err) : NULL;
}

/* ---- where arrays lie */

static tt_pspace find_space(finder *d, const tt_pexpr *e) {
  const tt_pvariant *v;
  tt_pspace a;
  switch ((tt_pop)e->op) {
    case TT_X_LOCAL:
      return (tt_pspace)d->at->space[e->k];
    case TT_X_VIEW:
    case TT_X_RESHAPE:
    case TT_X_TURN:
    case TT_X_CAST:
    case TT_X_HELPER:
      return find_space(d, e->arg[0]);
    case TT_X_SELECT:
      a = find_space(d, e->arg[1]);
      return a == TT_SPACE_UNKNOWN ? find_space(d, e->arg[2]) : a;
    case TT_X_SHARED:
      return TT_SPACE_SHARED;
    case TT_X_PRIVATE:
      return TT_SPACE_PRIVATE;
    case TT_X_CALL:
      v = called(d, e);
      return v ? (tt_pspace)v->result : TT_SPACE_UNKNOWN;
    default:
      return TT_SPACE_GLOBAL;
  }
}

static const char mixed[] = "an array that lies now in one memory and then in another (global, shared, local)";

static void learn_space(finder *d, uint8_t *known, const tt_pexpr *from, int32_t line) {
  if (!from || from->type->tag != TT_T_ARRAY) return;
  tt_pspace space = find_space(d, from);
  if (space == TT_SPACE_UNKNOWN || space == (tt_pspace)*known) return;
  if (*known != TT_SPACE_UNKNOWN) {
    refuse_space(d, line, mixed);
    return;
  }
  *known = (uint8_t)space;
  d->changed = true;
}

static void see_expr(finder *d, const tt_pexpr *e) {
  if (!e || d->code != TT_OK) return;
  refuse_expr(d, e);
  for (int k = 0; k < e->n; k++) {
    see_expr(d, e->arg[k]);
    bool array = e->arg[k]->type->tag == TT_T_ARRAY;
    if (e->op == TT_X_TUPLE && array && find_space(d, e->arg[k]) % TT_SPACE_UNKNOWN != TT_SPACE_GLOBAL)
      refuse_space(d, e->line, "an array of a block or thread as part of a tuple");
  }
  if (e->op == TT_X_SELECT && e->type->tag == TT_T_ARRAY && d->last &&
      find_space(d, e->arg[1]) != find_space(d, e->arg[2]))
    refuse_space(d, e->line, mixed);
  if (e->op == TT_X_CALL) (void)called(d, e);
}

static void see_stmts(finder *d, const tt_pstmt *s) {
  for (; s && d->code == TT_OK; s = s->next) {
    refuse_stmt(d, s);
    see_expr(d, s->a);
    see_expr(d, s->b);
    see_expr(d, s->c);
    for (int k = 0; s->arg && k < s->n; k++) see_expr(d, s->arg[k]);
    if (s->op == TT_X_SET) learn_space(d, &d->at->space[s->local], s->a, s->line);
    if (s->op == TT_X_RETURN) learn_space(d, &d->at->result, s->a, s->line);
    see_stmts(d, s->body);
    see_stmts(d, s->other);
  }
}

static void settle_spaces(finder *d) {
  tt_pvariant *v = d->at;
  for (int64_t k = 0; k < v->f->locals.n; k++)
    if (v->space[k] == TT_SPACE_UNKNOWN) v->space[k] = TT_SPACE_GLOBAL;
  if (v->result == TT_SPACE_UNKNOWN) v->result = TT_SPACE_GLOBAL;
}

static tt_pvariant *make_variant(tt_pwriter *w, int64_t func, const uint8_t *space, tt_code *code, tt_error *err) {
  finder d = {.w = w, .at = new_variant(w, func, space), .err = err};
  if (!d.at) {
    *code = tt__fail_memory(err, sizeof *d.at);
    return NULL;
  }
  if (d.at->f->recursive) refuse_space(&d, 0, "a function that calls itself");
  do {
    d.changed = false;
    see_stmts(&d, d.at->f->body);
  } while (d.changed && d.code == TT_OK);
  settle_spaces(&d);
  d.last = true;
  see_stmts(&d, d.at->f->body);
  if (d.code == TT_OK) add_variant(w, d.at);
  *code = d.code;
  return d.code == TT_OK ? d.at : NULL;
}

tt_code tt__pw_find_spaces(tt_pwriter *w, int64_t entry, tt_error *err) {
  static const uint8_t global[TT_PROGRAM_ARGS + 1];
  tt_code code = TT_OK;
  assert(w->target == TT_PROGRAM_OPENCL && !w->variants);
  (void)make_variant(w, entry, global, &code, err);
  if (code != TT_OK) return code;
  int32_t line;
  const char *why;
  if (!tt__pw_all_meet(w, w->p->entry, &line, &why)) return tt__fail_memory(err, (size_t)w->p->entry->locals.n);
  return why ? tt__fail(err, TT_ENOTIMPL, "line %d: %s", (int)line, why) : TT_OK;
}

/* ---- what a device may lack */

static bool is_atomic64(const tt_pexpr *e) {
  return e->op == TT_X_ATOMIC && tt__dtype_size((tt_dtype)e->type->dtype) == 8;
}

bool tt__program_atomic64(const tt_proc *p) { return tt__pw_some_in(p, is_atomic64); }

/* ---- while it is written */

tt_pspace tt__pw_local_space(const tt_pwriter *w, int64_t local) {
  return w->variant ? (tt_pspace)w->variant->space[local] : TT_SPACE_GLOBAL;
}

tt_pspace tt__pw_result_space(const tt_pwriter *w) {
  return w->variant ? (tt_pspace)w->variant->result : TT_SPACE_GLOBAL;
}

tt_pspace tt__pw_space(tt_pwriter *w, const tt_pexpr *array) {
  finder d = {.w = w, .at = w->variant, .last = true};
  return w->variant ? find_space(&d, array) : TT_SPACE_GLOBAL;
}

const char *tt__pw_space_word(const tt_pwriter *w, tt_pspace space) {
  static const char *const words[] = {"__global ", "__local ", "__private "};
  assert(space < TT_SPACE_UNKNOWN);
  return w->target == TT_PROGRAM_OPENCL ? words[space] : "";
}

const char *tt__pw_atomic_word(tt_pwriter *w, const tt_pexpr *atomic) {
  static const char *const words[] = {"global", "local", "private"};
  return w->target == TT_PROGRAM_OPENCL ? words[tt__pw_space(w, atomic->arg[0]->arg[0])] : "atomic";
}

int64_t tt__pw_variant(tt_pwriter *w, const tt_pexpr *call) {
  finder d = {.w = w, .at = w->variant, .last = true};
  const tt_pvariant *v = w->variant ? called(&d, call) : NULL;
  assert(v || !w->variant);
  return v ? v->number : call->k;
}
