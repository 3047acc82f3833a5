/*
** What is true or not: comparisons, and jumps that depend on them.
*/
#include "device/cpu/baseline/baseline_int.h"

static tt_x86_cond cond_of(int op, bool is_signed) {
  switch (op) {
    case TT_EQ:
      return TT_CC_E;
    case TT_NE:
      return TT_CC_NE;
    case TT_LT:
      return is_signed ? TT_CC_L : TT_CC_B;
    case TT_LE:
      return is_signed ? TT_CC_LE : TT_CC_BE;
    case TT_GT:
      return is_signed ? TT_CC_G : TT_CC_A;
    default:
      return is_signed ? TT_CC_GE : TT_CC_AE;
  }
}

bool tt__baseline_is_compare(const tt_pexpr *e) {
  return e->op == TT_X_ELEM && tt__ops[e->elem].cls == TT_CLASS_COMPARE && e->n == 2;
}

static tt_x86_cond compare_ints(tt_baseline_maker *m, const tt_pexpr *e, int d, int v) {
  const tt_pexpr *a = e->arg[0];
  int reg = tt__baseline_int_operand(m, a, &d, v);
  tt__baseline_alu(m, TT_ALU_CMP, reg, e->arg[1], d, v);
  return cond_of(e->elem, a->type->dtype != TT_U64); /* narrower ones are the same number in 64 bits */
}

/* Compare so that "above" (or equal, without a NaN) says it; EQ and NE: as they stand, a NaN sets the parity. */
static tt_x86_cond compare_reals(tt_baseline_maker *m, const tt_pexpr *e, int d, int v) {
  bool narrow = e->arg[0]->type->dtype == TT_F32;
  int a = tt__baseline_real_operand(m, e->arg[0], d, v);
  int b = tt__baseline_real_operand(m, e->arg[1], d, a == v ? v + 1 : v);
  bool turn = e->elem == TT_LT || e->elem == TT_LE;
  tt__x86_ucomis(&m->x, turn ? b : a, turn ? a : b, narrow);
  return e->elem == TT_EQ                       ? TT_CC_E
         : e->elem == TT_NE                     ? TT_CC_NE
         : e->elem == TT_LT || e->elem == TT_GT ? TT_CC_A
                                                : TT_CC_AE;
}

static void branch_compare(tt_baseline_maker *m, const tt_pexpr *e, bool sense, int label, int d, int v) {
  if (!tt__baseline_same(m, e->arg[0]->type, e->arg[1]->type)) return;
  if (!tt__baseline_is_real(e->arg[0]->type)) {
    tt_x86_cond c = compare_ints(m, e, d, v);
    tt__x86_jump_if(&m->x, sense ? c : TT_CC_NOT(c), label);
    return;
  }
  tt_x86_cond c = compare_reals(m, e, d, v);
  if (c != TT_CC_E && c != TT_CC_NE) {
    tt__x86_jump_if(&m->x, sense ? c : TT_CC_NOT(c), label);
  } else if ((c == TT_CC_NE) == sense) { /* unequal, or no number */
    tt__x86_jump_if(&m->x, TT_CC_NE, label);
    tt__x86_jump_if(&m->x, TT_CC_P, label);
  } else {
    int past = tt__x86_label(&m->x);
    tt__x86_jump_if(&m->x, TT_CC_P, past);
    tt__x86_jump_if(&m->x, TT_CC_E, label);
    tt__x86_place(&m->x, past);
  }
}

void tt__baseline_branch(tt_baseline_maker *m, const tt_pexpr *e, bool sense, int label, int d, int v) {
  if (m->why) return;
  if (e->op == TT_X_ALSO || e->op == TT_X_ELSE) {
    if ((e->op == TT_X_ELSE) == sense) {
      tt__baseline_branch(m, e->arg[0], sense, label, d, v);
      tt__baseline_branch(m, e->arg[1], sense, label, d, v);
    } else {
      int past = tt__x86_label(&m->x);
      tt__baseline_branch(m, e->arg[0], !sense, past, d, v);
      tt__baseline_branch(m, e->arg[1], sense, label, d, v);
      tt__x86_place(&m->x, past);
    }
  } else if (e->op == TT_X_ELEM && e->elem == TT_LNOT && tt__baseline_is_int(e->arg[0]->type)) {
    tt__baseline_branch(m, e->arg[0], !sense, label, d, v);
  } else if (tt__baseline_is_compare(e)) {
    branch_compare(m, e, sense, label, d, v);
  } else if (tt__baseline_is_real(e->type)) {
    tt__baseline_decline(m, "a float as a condition");
  } else {
    int reg = tt__baseline_int_operand(m, e, &d, v);
    tt__x86_test(&m->x, reg, reg);
    tt__x86_jump_if(&m->x, sense ? TT_CC_NE : TT_CC_E, label);
  }
}

/* 1 if `e`, else 0. */
void tt__baseline_condition(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  int no = tt__x86_label(&m->x), end = tt__x86_label(&m->x);
  tt__baseline_branch(m, e, false, no, d, v);
  tt__x86_mov_imm(&m->x, to, 1);
  tt__x86_jump(&m->x, end);
  tt__x86_place(&m->x, no);
  tt__x86_mov_imm(&m->x, to, 0);
  tt__x86_place(&m->x, end);
}

void tt__baseline_compare(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  bool real = tt__baseline_is_real(e->arg[0]->type);
  if (real && (e->elem == TT_EQ || e->elem == TT_NE)) {
    tt__baseline_condition(m, e, to, d, v);
  } else if (tt__baseline_same(m, e->arg[0]->type, e->arg[1]->type)) {
    tt_x86_cond c = real ? compare_reals(m, e, d, v) : compare_ints(m, e, d, v);
    tt__x86_set(&m->x, c, to);
  }
}
