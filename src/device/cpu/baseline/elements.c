/*
** Elements of arrays.
*/
#include "device/cpu/baseline/baseline_int.h"

int tt__baseline_array(tt_baseline_maker *m, const tt_pexpr *e) {
  while (e->op == TT_X_CAST) e = e->arg[0]; /* what is known of it differs, not the words */
  if (e->type->tag == TT_T_ARRAY && e->type->layout != 'E' && e->type->layout != 'P') {
    if (e->op == TT_X_LOCAL) return tt__baseline_local(m, e->k);
    if (e->op == TT_X_GLOBAL) {
      int at = m->hidden;
      for (int k = 0; k < e->k; k++) at += tt__ptype_words(m->p->globals.data[k]);
      return at;
    }
  }
  tt__baseline_decline(m, "a part of an array");
  return -1;
}

int tt__baseline_array_word(tt_baseline_maker *m, const tt_pexpr *e) {
  if (e->op != TT_X_LEN && e->op != TT_X_STEP && e->op != TT_X_ADDRESS) return -1;
  int at = tt__baseline_array(m, e->arg[0]), rank = e->arg[0]->type->rank;
  if (at < 0 || e->op == TT_X_ADDRESS) return at;
  return at + 1 + e->k + (e->op == TT_X_STEP ? rank : 0);
}

/* Take a number off an index: "i + 1" is i, and 1. */
static const tt_pexpr *take_offset(const tt_pexpr *e, int64_t *offset) {
  bool sum = e->op == TT_X_ELEM && (e->elem == TT_ADD || e->elem == TT_SUB) && e->type->dtype == TT_I64;
  if (!sum || e->arg[1]->op != TT_X_CONST) return e;
  int64_t c = tt__baseline_constant(e->arg[1]);
  if (c < -1000000 || c > 1000000) return e;
  *offset = e->elem == TT_ADD ? c : -c;
  return e->arg[0];
}

/* An index may count from the end: code behind the function adds the length. */
void tt__baseline_wrap(tt_baseline_maker *m, int reg, int length) {
  tt_cold c = {.op = TT_COLD_WRAP, .begin = tt__x86_label(&m->x), .back = tt__x86_label(&m->x)};
  c.reg = reg;
  c.word = length;
  tt__x86_test(&m->x, reg, reg);
  tt__x86_jump_if(&m->x, TT_CC_S, c.begin);
  tt__x86_place(&m->x, c.back);
  tt__baseline_cold(m, c);
}

static bool is_register(const tt_baseline_maker *m, const tt_pexpr *e) {
  return e->op == TT_X_LOCAL && m->location[tt__baseline_local(m, e->k)].reg >= 0;
}

/* One index times its step, added to the register `sum` (TT_NO_REG: none yet). The new sum. */
static int put_index(tt_baseline_maker *m, const tt_pexpr *e, int k, int at, int sum, int *d, int v, int64_t *offset) {
  const tt_pexpr *i = e->arg[k + 1];
  int rank = e->arg[0]->type->rank;
  bool by_one = k == rank - 1 && e->arg[0]->type->layout == 'C';
  bool wraps = (e->wraps >> k & 1) && !i->nonneg && !(i->op == TT_X_CONST && i->i >= 0);
  if (i->op == TT_X_CONST && !wraps && i->i == 0) return sum;
  if (i->op == TT_X_CONST && !wraps && by_one && i->i > 0 && i->i < 1000000) {
    *offset += i->i;
    return sum;
  }
  if (by_one && !wraps) {
    int64_t more = 0;
    i = take_offset(i, &more);
    *offset += more;
    if (is_register(m, i)) {
      int reg = m->location[tt__baseline_local(m, i->k)].reg;
      if (sum < 0) return reg;
      tt__x86_alu(&m->x, TT_ALU_ADD, sum, reg);
      return sum;
    }
  }
  if (*d >= TT_SCRATCH) {
    tt__baseline_decline(m, "an expression is too deep");
    return sum;
  }
  int reg = tt__scratch[*d];
  tt__baseline_int(m, i, reg, *d + 1, v);
  if (wraps) tt__baseline_wrap(m, reg, at + 1 + k);
  if (!by_one) tt__baseline_imul_word(m, reg, at + 1 + rank + k);
  if (sum < 0) {
    ++*d;
    return reg;
  }
  tt__x86_alu(&m->x, TT_ALU_ADD, sum, reg);
  return sum;
}

tt_x86_mem tt__baseline_place(tt_baseline_maker *m, const tt_pexpr *e, int *d, int v) {
  tt_x86_mem mem = tt__x86_at(TT_RBP, 0);
  int at = e->op == TT_X_LOAD ? tt__baseline_array(m, e->arg[0]) : -1, sum = TT_NO_REG;
  if (at < 0) {
    tt__baseline_decline(m, "a part of an array");
    return mem;
  }
  int64_t offset = 0;
  int size = (int)tt__dtype_size((tt_dtype)e->arg[0]->type->dtype);
  if (e->type->dtype != e->arg[0]->type->dtype || (!tt__baseline_is_int(e->type) && !tt__baseline_is_real(e->type)))
    tt__baseline_decline(m, "a type of elements");
  for (int k = 0; k < e->arg[0]->type->rank; k++) sum = put_index(m, e, k, at, sum, d, v, &offset);
  mem.base = m->location[at].reg;
  if (mem.base < 0) {
    if (*d >= TT_SCRATCH) {
      tt__baseline_decline(m, "an expression is too deep");
      return tt__x86_at(TT_RBP, 0);
    }
    mem.base = tt__scratch[(*d)++];
    tt__baseline_get(m, at, mem.base);
  }
  mem.index = sum;
  mem.scale = size;
  mem.far = (int32_t)(offset * size);
  return mem;
}
