/*
** Arrays as text: elements and their indices, views and new shapes, new memory, the arrays of blocks and threads.
*/
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "render/proc/proc_int.h"

static const char *suffix(int dtype) { return tt__dtypes[dtype].suffix; }

/* ---- elements */

/* An index that was looked at: the launch or call ends where it is beyond its axis. */
static void put_checked(tt_pwriter *w, const tt_pexpr *e, const tt_pexpr *index, const char *a, int k, tt_str *out) {
  const char *name = e->arg[0]->op == TT_X_LOCAL ? w->f->locals.data[e->arg[0]->k].name : "array";
  const char *last = strrchr(name, '.'); /* of an inlined function, or a later meaning of the name */
  char plain[64];
  if (last && last[1] && !(last[1] >= '0' && last[1] <= '9')) name = last + 1;
  snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, ".\"\\\n*"), name);
  int n = w->serial++;
  tt__str_addf(out, "({ const tt_i64 q%d = ", n);
  tt__pw_expr(w, index, out);
  tt__str_addf(out, ", k%d = q%d < 0 ? q%d + %s.n%d : q%d; if (TT_RARELY((tt_u64)k%d >= (tt_u64)%s.n%d)) { ", n, n, n,
               a, k, n, n, a, k);
  tt__str_addf(out, "call->outside(call, \"%s\", %d, q%d, %s.n%d, %d, %s); %s; } k%d; })", plain, k, n, a, k,
               (int)e->line, w->f->kind == TT_X_KERNEL ? "(const tt_i64[]){bx, by, bz, tx, ty, tz}" : "0",
               tt__pw_leave_text(w), n);
}

/* May the index of an axis count from the end? */
static bool may_wrap(tt_pwriter *w, const tt_pexpr *e, int k) {
  return (e->wraps >> k & 1) && !tt__pw_is_nonneg(w, e->arg[k + 1]);
}

static void put_index(tt_pwriter *w, const tt_pexpr *e, const char *a, tt_str *out) {
  int rank = e->arg[0]->type->rank;
  bool dense = e->arg[0]->type->layout == 'C';
  if (rank == 0) tt__str_add(out, "0");
  for (int k = 0; k < rank; k++) {
    if (k) tt__str_add(out, " + ");
    if (w->p->bounds && w->target == TT_PROGRAM_C) {
      put_checked(w, e, e->arg[k + 1], a, k, out);
    } else if (may_wrap(w, e, k)) {
      tt__str_add(out, "tt_wrap(");
      tt__pw_expr(w, e->arg[k + 1], out);
      tt__str_addf(out, ", %s.n%d)", a, k);
    } else {
      tt__pw_expr(w, e->arg[k + 1], out);
    }
    if (!dense || k < rank - 1) tt__str_addf(out, " * %s.s%d", a, k);
  }
}

/* Of records that are packed: its address is one of bytes. */
static void put_packed_place(tt_pwriter *w, const tt_pexpr *e, const char *a, int access, tt_str *out) {
  const char *space = tt__pw_space_word(w, tt__pw_space(w, e->arg[0]));
  tt__str_add(out, w->single ? "TT_TOUCH(" : w->target == TT_PROGRAM_CUDA ? "(" : "(*");
  tt__str_addf(out, "(%stt_packed_%s *)((%schar *)%s.p + ", space, suffix(e->type->dtype), space, a);
  put_index(w, e, a, out);
  if (w->single)
    tt__str_addf(out, "), %d, %d)", access, (int)e->line);
  else
    tt__str_add(out, w->target == TT_PROGRAM_CUDA ? "))->v" : "))");
}

void tt__pw_place(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  assert(e->op == TT_X_LOAD);
  const char *a = tt__pw_text(w, e->arg[0]);
  bool dense = e->arg[0]->type->layout == 'C';
  int access = w->access;
  int64_t beside;
  w->access = 0;
  if (tt__pw_is_near(w, e, &beside) && !may_wrap(w, e, 0)) {
    tt__str_addf(out, "near%d[%lld%s%s%s]", w->near, (long long)beside, dense ? "" : " * ", dense ? "" : a,
                 dense ? "" : ".s0");
    return;
  }
  if (e->arg[0]->type->layout == 'P') {
    put_packed_place(w, e, a, access, out);
    return;
  }
  tt__str_addf(out, w->single ? "TT_TOUCH(&%s.p[" : "%s.p[", a);
  put_index(w, e, a, out);
  if (w->single)
    tt__str_addf(out, "], %d, %d)", access, (int)e->line);
  else
    tt__str_add(out, "]");
}

/* ---- arrays out of arrays */

/* Statements that give a value: GNU C has them as such, C++ as a function that is called at once. */
const char *tt__pw_begin_value(const tt_pwriter *w) { return w->target == TT_PROGRAM_CUDA ? "([&]() {" : "({"; }
void tt__pw_end_value(const tt_pwriter *w, int n, tt_str *out) {
  tt__str_addf(out, w->target == TT_PROGRAM_CUDA ? " return r%d; }())" : " r%d; })", n);
}

/* bN: the array that `e` is made of. rN: the result, so far its first element. Gives N. */
static int begin_of_array(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++;
  tt_pspace space = tt__pw_space(w, e->arg[0]);
  tt__str_addf(out, "%s const %s b%d = ", tt__pw_begin_value(w), tt__pw_type_in(w, e->arg[0]->type, space), n);
  tt__pw_expr(w, e->arg[0], out);
  tt__str_addf(out, "; %s r%d; r%d.p = b%d.p;", tt__pw_type_in(w, e->type, space), n, n, n);
  return n;
}

/* " rN.p += ": by so many steps of the array that the view is of. */
static void put_ahead(tt_pwriter *w, const tt_pexpr *e, int n, tt_str *out) {
  if (e->arg[0]->type->layout == 'P')
    tt__str_addf(out, " *(%schar **)&r%d.p += ", tt__pw_space_word(w, tt__pw_space(w, e->arg[0])), n);
  else
    tt__str_addf(out, " r%d.p += ", n);
}

/* The index that takes an axis away. */
static void put_part_index(tt_pwriter *w, const tt_pexpr *e, const tt_pexpr *index, int n, int axis, tt_str *out) {
  char name[16];
  snprintf(name, sizeof name, "b%d", n);
  if (w->p->bounds && w->target == TT_PROGRAM_C) {
    put_checked(w, e, index, name, axis, out);
    return;
  }
  tt__str_add(out, "tt_wrap(");
  tt__pw_expr(w, index, out);
  tt__str_addf(out, ", %s.n%d)", name, axis);
}

static void put_view(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = begin_of_array(w, e, out), axis = 0, arg = 1, to = 0, rank = e->arg[0]->type->rank;
  for (const char *f = e->form; *f; f++) {
    if (*f == 'n') {
      tt__str_addf(out, " r%d.n%d = 1; r%d.s%d = 0;", n, to, n, to);
      to++;
    } else if (*f == 'i') {
      put_ahead(w, e, n, out);
      put_part_index(w, e, e->arg[arg++], n, axis, out);
      tt__str_addf(out, " * b%d.s%d;", n, axis);
      axis++;
    } else {
      const tt_pexpr *const *part = (const tt_pexpr *const *)&e->arg[arg];
      tt__str_addf(out, " { const tt_slice s = tt_slice_of(b%d.n%d", n, axis);
      for (int k = 0; k < 3; k++) {
        bool given = part[k]->type->tag != TT_T_NONE;
        tt__str_addf(out, ", %d, ", given);
        if (given)
          tt__pw_expr(w, part[k], out);
        else
          tt__str_add(out, "0");
      }
      tt__str_add(out, ");");
      put_ahead(w, e, n, out);
      tt__str_addf(out, "s.start * b%d.s%d; r%d.n%d = s.n; r%d.s%d = s.step * b%d.s%d; }", n, axis, n, to, n, to, n,
                   axis);
      arg += 3;
      axis++;
      to++;
    }
  }
  for (; axis < rank; axis++, to++)
    tt__str_addf(out, " r%d.n%d = b%d.n%d; r%d.s%d = b%d.s%d;", n, to, n, axis, n, to, n, axis);
  tt__pw_end_value(w, n, out);
}

/* The lengths, from arguments `first` on. */
static void put_lengths(tt_pwriter *w, const tt_pexpr *e, int n, int first, tt_str *out) {
  int rank = e->type->rank;
  for (int k = 0; k < rank; k++) {
    tt__str_addf(out, " r%d.n%d = ", n, k);
    tt__pw_expr(w, e->arg[first + k], out);
    tt__str_add(out, ";");
  }
}

/* Dense memory: steps from the last axis to the first. */
static void put_steps(const tt_pexpr *e, int n, tt_str *out) {
  for (int k = e->type->rank - 1; k >= 0; k--) {
    if (k == e->type->rank - 1)
      tt__str_addf(out, " r%d.s%d = 1;", n, k);
    else
      tt__str_addf(out, " r%d.s%d = r%d.s%d * r%d.n%d;", n, k, n, k + 1, n, k + 1);
  }
}

static void put_alloc(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++;
  tt__str_addf(out, "%s %s r%d;", tt__pw_begin_value(w), tt__pw_type(w, e->type), n);
  put_lengths(w, e, n, 0, out);
  put_steps(e, n, out);
  tt__str_addf(out, " tt_i64 c%d = sizeof(tt_%s);", n, suffix(e->type->dtype));
  for (int k = 0; k < e->type->rank; k++) tt__str_addf(out, " c%d = tt_extent(c%d, r%d.n%d);", n, n, n, k);
  tt__str_addf(out, " r%d.p = (tt_%s *)call->alloc(call, c%d, %d); if (TT_RARELY(!r%d.p)) ", n, suffix(e->type->dtype),
               n, (int)e->k, n);
  tt__pw_fail(w, "TT_ENOMEM", "out of memory, or a negative length", e->line, out);
  tt__str_add(out, ";");
  tt__pw_end_value(w, n, out);
}

static void put_reshape(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = begin_of_array(w, e, out), rank = e->type->rank, old = e->arg[0]->type->rank;
  put_lengths(w, e, n, 1, out);
  tt__str_addf(out, " tt_i64 c%d = 1, o%d = 1;", n, n);
  for (int k = 0; k < old; k++) tt__str_addf(out, " c%d *= b%d.n%d;", n, n, k);
  for (int k = 0; k < rank; k++)
    tt__str_addf(out, " if (r%d.n%d >= 0) o%d = tt_extent(o%d, r%d.n%d);", n, k, n, n, n, k);
  for (int k = 0; k < rank; k++)
    tt__str_addf(out, " if (r%d.n%d == -1 && o%d > 0) { r%d.n%d = c%d / o%d; o%d = c%d; }", n, k, n, n, k, n, n, n, n);
  tt__str_addf(out, " if (TT_RARELY(o%d != c%d)) ", n, n);
  tt__pw_fail(w, "TT_EVALUE", "cannot reshape to this size", e->line, out);
  tt__str_add(out, ";");
  put_steps(e, n, out);
  tt__pw_end_value(w, n, out);
}

static void put_turn(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = begin_of_array(w, e, out), rank = e->type->rank;
  for (int k = 0; k < rank; k++)
    tt__str_addf(out, " r%d.n%d = b%d.n%d; r%d.s%d = b%d.s%d;", n, k, n, rank - 1 - k, n, k, n, rank - 1 - k);
  tt__pw_end_value(w, n, out);
}

static void put_stretch(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = begin_of_array(w, e, out), rank = e->type->rank;
  put_lengths(w, e, n, 1, out);
  for (int k = 0; k < rank; k++) tt__str_addf(out, " r%d.s%d = b%d.n%d == 1 ? 0 : b%d.s%d;", n, k, n, k, n, k);
  tt__pw_end_value(w, n, out);
}

/* "recast": the same dense memory as elements of another type, whose steps are bytes where they may lie anywhere. */
static void put_recast(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++;
  tt__str_addf(out, "%s const %s b%d = ", tt__pw_begin_value(w), tt__pw_type(w, e->arg[0]->type), n);
  tt__pw_expr(w, e->arg[0], out);
  tt__str_addf(out, "; %s r%d; r%d.p = (tt_%s *)b%d.p;", tt__pw_type(w, e->type), n, n, suffix(e->type->dtype), n);
  put_lengths(w, e, n, 1, out);
  put_steps(e, n, out);
  if (e->type->layout == 'P')
    for (int k = 0; k < e->type->rank; k++)
      tt__str_addf(out, " r%d.s%d *= sizeof(tt_%s);", n, k, suffix(e->type->dtype));
  tt__pw_end_value(w, n, out);
}

/* ---- arrays that are there */

static void put_slot(tt_pwriter *w, const char *name, const tt_pexpr *e, tt_str *out) {
  const tt_pslot *slot = e->op == TT_X_SHARED ? &w->p->shared.data[e->k] : &w->p->local.data[e->k];
  int64_t step = 1, steps[TT_PROGRAM_RANK];
  for (int k = slot->type->rank - 1; k >= 0; k--) {
    steps[k] = step;
    step *= slot->len[k];
  }
  tt_pspace space = tt__pw_space(w, e);
  tt__pw_struct(w, e->type, space, out);
  tt__str_addf(out, "{(%stt_%s *)%s%d", tt__pw_space_word(w, space), suffix(slot->type->dtype), name, (int)e->k);
  for (int k = 0; k < slot->type->rank; k++) {
    if (slot->dynamic)
      tt__str_addf(out, ", (tt_i64)(dynamic / sizeof(tt_%s))", suffix(slot->type->dtype));
    else
      tt__str_addf(out, ", %lld", (long long)slot->len[k]);
  }
  for (int k = 0; k < slot->type->rank; k++) tt__str_addf(out, ", %lld", (long long)steps[k]);
  tt__str_add(out, "})");
}

static void put_hidden(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int at = 0;
  for (int k = 0; k < e->k; k++) at += tt__ptype_words(w->p->globals.data[k]);
  tt__pw_struct(w, e->type, TT_SPACE_GLOBAL, out);
  tt__pw_from_words(w, e->type, w->target == TT_PROGRAM_OPENCL ? "call->hidden" : "TT_HIDDEN_WORDS", at, out);
  tt__str_add(out, ")");
}

void tt__pw_array_expr(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  switch ((tt_pop)e->op) {
    case TT_X_VIEW:
      put_view(w, e, out);
      break;
    case TT_X_RESHAPE:
      put_reshape(w, e, out);
      break;
    case TT_X_TURN:
      put_turn(w, e, out);
      break;
    case TT_X_HELPER: /* "stretch": broadcasting; "recast" */
      if (strcmp(e->name, "recast") == 0)
        put_recast(w, e, out);
      else
        put_stretch(w, e, out);
      break;
    case TT_X_ALLOC:
      put_alloc(w, e, out);
      break;
    case TT_X_SHARED:
      put_slot(w, "shared", e, out);
      break;
    case TT_X_PRIVATE:
      put_slot(w, "local", e, out);
      break;
    default:
      put_hidden(w, e, out);
      break;
  }
}
