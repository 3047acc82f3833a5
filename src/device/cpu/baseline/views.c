/*
** Arrays and tuples made by statements: new memory, parts of other arrays. They are put together in words of their own
** first, since the variable that is set may be among those that are read. No scratch register is in use.
*/
#include <string.h>

#include "device/cpu/baseline/baseline_int.h"

/* Words at the end of the frame: the array, then `more`. */
static int take_words(tt_baseline_maker *m, const tt_ptype *t, int more) {
  int at = m->words;
  m->words += tt__ptype_words(t) + more;
  return at;
}

static void load(tt_baseline_maker *m, int reg, int word) {
  tt__x86_load(&m->x, reg, tt__baseline_word(word), 8, false);
}
static void store(tt_baseline_maker *m, int word, int reg) { tt__x86_store(&m->x, tt__baseline_word(word), reg, 8); }

static void put_number(tt_baseline_maker *m, const tt_pexpr *e, int word) {
  if (e->type->tag != TT_T_SCALAR || e->type->dtype != TT_I64) tt__baseline_decline(m, "the type of a length");
  tt__baseline_int(m, e, TT_RAX, 1, 0);
  store(m, word, TT_RAX);
}

/* ---- new memory */

/* rax = the bytes of so many elements; -1: too many, or a negative length. */
static void put_extent(tt_baseline_maker *m, const tt_pexpr *e, int length) {
  const char *types;
  tt_baseline_called c = {.fn = tt__baseline_helper("tt_extent", &types), .nint = 2, .to = TT_RAX};
  tt__x86_mov_imm(&m->x, TT_RAX, (int64_t)tt__dtype_size((tt_dtype)e->type->dtype));
  for (int k = 0; k < e->type->rank; k++) {
    load(m, TT_RCX, length + k);
    c.result = e->arg[k]->type;
    tt__baseline_call(m, &c);
  }
}

static int put_alloc(tt_baseline_maker *m, const tt_pexpr *e) {
  int rank = e->type->rank, at = take_words(m, e->type, 1), bytes = at + 1 + 2 * rank;
  for (int k = 0; k < rank; k++) put_number(m, e->arg[k], at + 1 + k);
  tt__x86_mov_imm(&m->x, TT_RAX, 1);
  for (int k = rank - 1; k >= 0; k--) {
    store(m, at + 1 + rank + k, TT_RAX);
    tt__x86_imul_mem(&m->x, TT_RAX, tt__baseline_word(at + 1 + k));
  }
  put_extent(m, e, at + 1);
  store(m, bytes, TT_RAX);
  tt__baseline_alloc(m, bytes, e->k);
  tt__x86_test(&m->x, TT_RAX, TT_RAX);
  tt__x86_jump_if(&m->x, TT_CC_E, tt__baseline_failing(m, TT_ENOMEM, "out of memory, or a negative length", e->line));
  store(m, at, TT_RAX);
  return at;
}

/* ---- parts */

/* The first element moves on by rcx steps of an axis. */
static void put_move(tt_baseline_maker *m, int at, int step, int size) {
  tt__baseline_imul_word(m, TT_RCX, step);
  tt__x86_imul_imm(&m->x, TT_RCX, TT_RCX, size);
  load(m, TT_RAX, at);
  tt__x86_alu(&m->x, TT_ALU_ADD, TT_RAX, TT_RCX);
  store(m, at, TT_RAX);
}

/* A slice of axis `from` (its length's word, its step's word) becomes axis `to`; `work`: words for the function. */
static void put_slice(tt_baseline_maker *m, tt_pexpr *const *part, int work, const int from[2], const int to[2], int at,
                      int size) {
  const char *types;
  int given = 0;
  tt__baseline_get(m, from[0], TT_RAX);
  store(m, work, TT_RAX);
  for (int k = 0; k < 3; k++) {
    if (part[k]->type->tag == TT_T_NONE) continue;
    given |= 1 << k;
    put_number(m, part[k], work + 2 + k);
  }
  tt__x86_mov_imm(&m->x, TT_RAX, given);
  store(m, work + 1, TT_RAX);
  tt__baseline_call_words(m, tt__baseline_helper("slice", &types), work);
  load(m, TT_RCX, work);
  put_move(m, at, from[1], size);
  load(m, TT_RAX, work + 1);
  store(m, to[0], TT_RAX);
  load(m, TT_RAX, work + 2);
  tt__baseline_imul_word(m, TT_RAX, from[1]);
  store(m, to[1], TT_RAX);
}

/* The words of one axis: length and step. */
static void axis_words(int array, int rank, int axis, int out[2]) {
  out[0] = array + 1 + axis;
  out[1] = array + 1 + rank + axis;
}

static int put_view(tt_baseline_maker *m, const tt_pexpr *e) {
  int base = tt__baseline_array(m, e->arg[0]), old = e->arg[0]->type->rank, rank = e->type->rank;
  int at = take_words(m, e->type, 5), work = at + 1 + 2 * rank, axis = 0, next = 0, arg = 1, from[2], to[2];
  int size = (int)tt__dtype_size((tt_dtype)e->type->dtype);
  if (base < 0) return -1;
  tt__baseline_get(m, base, TT_RAX);
  store(m, at, TT_RAX);
  for (const char *f = e->form; *f && !m->why; f++) {
    axis_words(base, old, axis, from);
    axis_words(at, rank, next, to);
    if (*f == 'n') {
      tt__x86_mov_imm(&m->x, TT_RAX, 1);
      store(m, to[0], TT_RAX);
      tt__x86_mov_imm(&m->x, TT_RAX, 0);
      store(m, to[1], TT_RAX);
      next++;
    } else if (*f == 'i') {
      tt__baseline_int(m, e->arg[arg++], TT_RCX, 2, 0);
      tt__baseline_wrap(m, TT_RCX, from[0]);
      put_move(m, at, from[1], size);
      axis++;
    } else {
      put_slice(m, &e->arg[arg], work, from, to, at, size);
      arg += 3;
      axis++;
      next++;
    }
  }
  for (; axis < old && !m->why; axis++, next++) {
    axis_words(base, old, axis, from);
    axis_words(at, rank, next, to);
    for (int k = 0; k < 2; k++) {
      tt__baseline_get(m, from[k], TT_RAX);
      store(m, to[k], TT_RAX);
    }
  }
  return at;
}

/* The same elements over larger lengths: an axis of one element stands still. */
static int put_stretch(tt_baseline_maker *m, const tt_pexpr *e) {
  int base = tt__baseline_array(m, e->arg[0]), rank = e->type->rank, at = take_words(m, e->type, 0), from[2], to[2];
  if (base < 0) return -1;
  tt__baseline_get(m, base, TT_RAX);
  store(m, at, TT_RAX);
  for (int k = 0; k < rank && !m->why; k++) {
    int still = tt__x86_label(&m->x);
    axis_words(base, rank, k, from);
    axis_words(at, rank, k, to);
    put_number(m, e->arg[1 + k], to[0]);
    tt__baseline_get(m, from[0], TT_RCX);
    tt__x86_mov_imm(&m->x, TT_RAX, 0);
    tt__x86_alu_imm(&m->x, TT_ALU_CMP, TT_RCX, 1);
    tt__x86_jump_if(&m->x, TT_CC_E, still);
    tt__baseline_get(m, from[1], TT_RAX);
    tt__x86_place(&m->x, still);
    store(m, to[1], TT_RAX);
  }
  return at;
}

/* ---- the whole */

int tt__baseline_new_array(tt_baseline_maker *m, const tt_pexpr *e) {
  while (e->op == TT_X_CAST) e = e->arg[0]; /* what is known of it differs, not the words */
  if (e->op == TT_X_ALLOC) return put_alloc(m, e);
  if (e->op == TT_X_HELPER && strcmp(e->name, "stretch") == 0) return put_stretch(m, e);
  return e->op == TT_X_VIEW ? put_view(m, e) : -1;
}

void tt__baseline_set_array(tt_baseline_maker *m, int32_t local, const tt_pexpr *e) {
  int to = tt__baseline_local(m, local), n = tt__ptype_words(m->f->locals.data[local].type);
  int made = tt__baseline_new_array(m, e);
  for (int k = 0; made >= 0 && k < n && !m->why; k++) {
    load(m, TT_RAX, made + k);
    tt__baseline_set(m, to + k, TT_RAX);
  }
  if (made >= 0) return;
  int from = tt__baseline_array(m, e);
  for (int k = 0; from >= 0 && k < n; k++) {
    tt__baseline_get(m, from + k, TT_RAX);
    tt__baseline_set(m, to + k, TT_RAX);
  }
}

/* Of numbers. */
void tt__baseline_set_tuple(tt_baseline_maker *m, int32_t local, const tt_pexpr *e) {
  int to = tt__baseline_local(m, local), at = take_words(m, e->type, 0);
  if (e->op != TT_X_TUPLE) tt__baseline_decline(m, "a tuple");
  for (int k = 0; !m->why && k < e->n; k++) {
    const tt_ptype *t = e->type->item[k];
    if (e->arg[k]->type != t || !(tt__baseline_is_int(t) || tt__baseline_is_real(t))) {
      tt__baseline_decline(m, "a tuple");
    } else if (tt__baseline_is_real(t)) {
      tt__baseline_real(m, e->arg[k], 0, 0, 1);
      tt__x86_stores(&m->x, tt__baseline_word(at + k), 0, t->dtype == TT_F32);
    } else {
      tt__baseline_int(m, e->arg[k], TT_RAX, 1, 0);
      store(m, at + k, TT_RAX);
    }
  }
  for (int k = 0; !m->why && k < e->n; k++) {
    load(m, TT_RAX, at + k);
    store(m, to + k, TT_RAX);
  }
}
