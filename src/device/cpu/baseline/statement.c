/*
** Statements.
*/
#include <string.h>

#include "device/cpu/baseline/baseline_int.h"

/* ---- variables and elements */

static void put_set(tt_baseline_maker *m, const tt_pstmt *s) {
  const tt_ptype *t = m->f->locals.data[s->local].type;
  int word = tt__baseline_local(m, s->local);
  if (t != s->a->type) {
    tt__baseline_decline(m, "an assignment of another type");
    return;
  }
  if (t->tag == TT_T_ARRAY) {
    tt__baseline_set_array(m, s->local, s->a);
    return;
  }
  if (t->tag == TT_T_TUPLE) {
    tt__baseline_set_tuple(m, s->local, s->a);
    return;
  }
  const tt_location *h = word < m->nlocation ? &m->location[word] : NULL;
  bool direct = h && h->reg >= 0 && tt__baseline_is_safe(s->a, s->local);
  if (tt__baseline_is_real(t)) {
    int reg = direct ? h->reg : 0;
    tt__baseline_real(m, s->a, reg, 0, direct ? 0 : 1);
    if (!direct) tt__baseline_set_real(m, word, reg);
  } else {
    int reg = direct ? h->reg : TT_RAX;
    tt__baseline_int(m, s->a, reg, direct ? 0 : 1, 0);
    if (!direct) tt__baseline_set(m, word, reg);
  }
}

static void put_store(tt_baseline_maker *m, const tt_pstmt *s) {
  int d = 0, v = 0, size;
  const tt_pexpr *value = s->b;
  if (s->a->op != TT_X_LOAD || s->a->type != value->type) {
    tt__baseline_decline(m, "an assignment of another type");
    return;
  }
  size = tt__baseline_size(value->type);
  int location = value->op == TT_X_LOCAL ? m->location[tt__baseline_local(m, value->k)].reg : TT_NO_REG;
  if (tt__baseline_is_real(value->type)) {
    int reg = location >= 0 ? location : v++;
    if (location < 0) tt__baseline_real(m, value, reg, d, v);
    tt_x86_mem at = tt__baseline_place(m, s->a, &d, v);
    tt__x86_stores(&m->x, at, reg, size == 4);
  } else {
    int reg = location >= 0 ? location : tt__scratch[d++];
    if (location < 0) tt__baseline_int(m, value, reg, d, v);
    tt_x86_mem at = tt__baseline_place(m, s->a, &d, v);
    tt__x86_store(&m->x, at, reg, size);
  }
}

/* ---- loops */

/* Does the host want to go on elsewhere? Is it time to ask for Ctrl-C? Both at the beginning of a turn. */
static void put_turn(tt_baseline_maker *m, const tt_baseline_loop *loop, bool polls) {
  tt_cold c = {.op = TT_COLD_OVER, .begin = tt__x86_label(&m->x), .back = tt__x86_label(&m->x), .loop = loop};
  tt__x86_cmp32_mem_imm(&m->x, tt__x86_of_label(m->flag), 0);
  tt__x86_jump_if(&m->x, TT_CC_NE, c.begin);
  tt__x86_place(&m->x, c.back);
  tt__baseline_cold(m, c);
  if (!polls) return;
  tt_cold p = {.op = TT_COLD_POLL, .begin = tt__x86_label(&m->x), .back = tt__x86_label(&m->x)};
  tt__x86_dec_mem(&m->x, tt__baseline_word(m->turns));
  tt__x86_jump_if(&m->x, TT_CC_S, p.begin);
  tt__x86_place(&m->x, p.back);
  tt__baseline_cold(m, p);
}

static tt_baseline_loop *begin_loop(tt_baseline_maker *m) {
  tt_baseline_loop *l = tt__arena_alloc(&m->arena, sizeof *l);
  int number = ++m->loops;
  if (!l) {
    m->x.failed = true;
    return NULL;
  }
  *l = (tt_baseline_loop){.up = m->loop, .number = number, .count = -1, .value = -1};
  l->turn = tt__x86_label(&m->x);
  l->leave = tt__x86_label(&m->x);
  m->loop = l;
  return l;
}

static void put_while(tt_baseline_maker *m, const tt_pstmt *s) {
  tt_baseline_loop *l = begin_loop(m);
  if (!l) return;
  int body = tt__x86_label(&m->x);
  tt__baseline_branch(m, s->a, false, l->leave, 0, 0);
  tt__x86_place(&m->x, body);
  put_turn(m, l, true);
  tt__baseline_stmts(m, s->body);
  tt__x86_place(&m->x, l->turn);
  tt__baseline_branch(m, s->a, true, body, 0, 0);
  tt__x86_place(&m->x, l->leave);
  m->loop = l->up;
}

/* The count is in rax or a location: go to `label` if there is a turn (or if not). */
static void put_goes_on(tt_baseline_maker *m, const tt_pstmt *s, int reg, int at, bool sense, int label) {
  bool known = s->c->op == TT_X_CONST;
  if (known || s->c->nonneg) {
    bool up = !known || s->c->i > 0;
    tt_x86_cond c = up ? TT_CC_L : TT_CC_G;
    tt__baseline_alu_word(m, TT_ALU_CMP, reg, at + 1);
    tt__x86_jump_if(&m->x, sense ? c : TT_CC_NOT(c), label);
    return;
  }
  int down = tt__x86_label(&m->x), end = tt__x86_label(&m->x);
  tt__baseline_get(m, at + 2, TT_RCX);
  tt__x86_test(&m->x, TT_RCX, TT_RCX);
  tt__x86_jump_if(&m->x, TT_CC_S, down);
  tt__baseline_alu_word(m, TT_ALU_CMP, reg, at + 1);
  tt__x86_jump_if(&m->x, sense ? TT_CC_L : TT_CC_GE, label);
  tt__x86_jump(&m->x, end);
  tt__x86_place(&m->x, down);
  tt__baseline_alu_word(m, TT_ALU_CMP, reg, at + 1);
  tt__x86_jump_if(&m->x, sense ? TT_CC_G : TT_CC_LE, label);
  tt__x86_place(&m->x, end);
}

/* word += or -= the loop's step; the register that it is in. */
static int put_step(tt_baseline_maker *m, const tt_pstmt *s, int word, int at, bool back) {
  int reg = m->location[word].reg >= 0 ? m->location[word].reg : TT_RAX;
  tt__baseline_get(m, word, reg);
  if (s->c->op == TT_X_CONST)
    tt__x86_alu_imm(&m->x, back ? TT_ALU_SUB : TT_ALU_ADD, reg, (int32_t)s->c->i);
  else
    tt__baseline_alu_word(m, back ? TT_ALU_SUB : TT_ALU_ADD, reg, at + 2);
  tt__baseline_set(m, word, reg);
  return reg;
}

static void put_for(tt_baseline_maker *m, const tt_pstmt *s) {
  const tt_ptype *t = m->f->locals.data[s->local].type;
  int value = tt__baseline_local(m, s->local);
  bool number = s->a->type->tag == TT_T_SCALAR && s->a->type->dtype == TT_I64 && s->b->type == s->a->type &&
                s->c->type == s->a->type;
  if (!number || t != s->a->type || (s->c->op == TT_X_CONST && s->c->i != (int32_t)s->c->i)) {
    tt__baseline_decline(m, "the type of a loop's variable");
    return;
  }
  tt_baseline_loop *l = begin_loop(m);
  if (!l) return;
  int at = tt__pframe_loop(m->f, l->number), body = tt__x86_label(&m->x), end = tt__x86_label(&m->x);
  bool own = !tt__baseline_sets(s->body, s->local); /* the variable is its own count */
  int word = own ? value : at;
  if (own) l->count = at;
  if (own) l->value = value;
  tt__baseline_int(m, s->b, TT_RAX, 1, 0);
  tt__baseline_set(m, at + 1, TT_RAX);
  if (s->c->op != TT_X_CONST) {
    tt__baseline_int(m, s->c, TT_RAX, 1, 0);
    tt__baseline_set(m, at + 2, TT_RAX);
  }
  tt__baseline_int(m, s->a, TT_RAX, 1, 0);
  put_goes_on(m, s, TT_RAX, at, false, l->leave); /* the variable keeps its value if there is no turn */
  tt__baseline_set(m, word, TT_RAX);
  tt__x86_place(&m->x, body);
  put_turn(m, l, false);
  if (!own) {
    tt__baseline_get(m, at, TT_RAX);
    tt__baseline_set(m, value, TT_RAX);
  }
  tt__baseline_stmts(m, s->body);
  tt__x86_place(&m->x, l->turn);
  put_goes_on(m, s, put_step(m, s, word, at, false), at, true, body);
  tt__x86_place(&m->x, end);
  if (own) (void)put_step(m, s, word, at, true);
  tt__x86_place(&m->x, l->leave);
  m->loop = l->up;
}

/* ---- the rest */

static void put_if(tt_baseline_maker *m, const tt_pstmt *s) {
  int no = tt__x86_label(&m->x), end = s->other ? tt__x86_label(&m->x) : 0;
  tt__baseline_branch(m, s->a, false, no, 0, 0);
  tt__baseline_stmts(m, s->body);
  if (s->other) tt__x86_jump(&m->x, end);
  tt__x86_place(&m->x, no);
  tt__baseline_stmts(m, s->other);
  if (s->other) tt__x86_place(&m->x, end);
}

/* A result, or an item of one, from word `at` of the caller's memory on. How many words. */
static int put_result(tt_baseline_maker *m, const tt_pexpr *e, int at) {
  int n = tt__ptype_words(e->type);
  if (e->op == TT_X_TUPLE) {
    for (int k = 0; k < e->n && !m->why; k++) {
      if (e->arg[k]->type != e->type->item[k]) tt__baseline_decline(m, "a result of another type");
      at += put_result(m, e->arg[k], at);
    }
  } else if (e->type->tag == TT_T_ARRAY) {
    int made = tt__baseline_new_array(m, e), from = made < 0 ? tt__baseline_array(m, e) : made;
    tt__x86_load(&m->x, TT_RCX, tt__baseline_word(m->out), 8, false);
    for (int k = 0; from >= 0 && k < n && !m->why; k++) {
      if (made < 0)
        tt__baseline_get(m, from + k, TT_RAX);
      else
        tt__x86_load(&m->x, TT_RAX, tt__baseline_word(from + k), 8, false);
      tt__x86_store(&m->x, tt__x86_at(TT_RCX, 8 * (at + k)), TT_RAX, 8);
    }
  } else if (tt__baseline_is_real(e->type)) {
    tt__baseline_real(m, e, 0, 0, 1);
    tt__x86_load(&m->x, TT_RCX, tt__baseline_word(m->out), 8, false);
    tt__x86_mov_imm(&m->x, TT_RAX, 0);
    tt__x86_store(&m->x, tt__x86_at(TT_RCX, 8 * at), TT_RAX, 8);
    tt__x86_stores(&m->x, tt__x86_at(TT_RCX, 8 * at), 0, e->type->dtype == TT_F32);
  } else {
    tt__baseline_int(m, e, TT_RAX, 1, 0);
    tt__x86_load(&m->x, TT_RCX, tt__baseline_word(m->out), 8, false);
    tt__x86_store(&m->x, tt__x86_at(TT_RCX, 8 * at), TT_RAX, 8);
  }
  return n;
}

static void put_return(tt_baseline_maker *m, const tt_pexpr *e) {
  bool none = !e || (e->type->tag == TT_T_NONE && e->op == TT_X_CONST);
  if (e && e->type != m->f->result)
    tt__baseline_decline(m, "a result of another type");
  else if (!none)
    (void)put_result(m, e, 0);
  tt__x86_jump(&m->x, m->done);
}

static void put_eval(tt_baseline_maker *m, const tt_pexpr *e) {
  if (tt__baseline_is_real(e->type))
    tt__baseline_real(m, e, 0, 0, 1);
  else if (tt__baseline_is_int(e->type))
    tt__baseline_int(m, e, TT_RAX, 1, 0);
  else if (e->type->tag == TT_T_NONE && e->op == TT_X_CALL)
    (void)tt__baseline_user_call(m, e, 0, 0);
  else
    tt__baseline_decline(m, "a statement");
}

static void put_stmt(tt_baseline_maker *m, const tt_pstmt *s) {
  switch ((tt_pstmt_op)s->op) {
    case TT_X_SET:
      put_set(m, s);
      break;
    case TT_X_STORE:
      put_store(m, s);
      break;
    case TT_X_IF:
      put_if(m, s);
      break;
    case TT_X_WHILE:
      put_while(m, s);
      break;
    case TT_X_FOR:
      put_for(m, s);
      break;
    case TT_X_RETURN:
      put_return(m, s->a);
      break;
    case TT_X_BREAK:
      tt__x86_jump(&m->x, m->loop->leave);
      break;
    case TT_X_CONTINUE:
      tt__x86_jump(&m->x, m->loop->turn);
      break;
    case TT_X_EVAL:
      put_eval(m, s->a);
      break;
    case TT_X_RAISE:
      if (s->b || s->k == TT_X_AGAIN) tt__baseline_decline(m, "an exception of values");
      if (s->a)
        tt__baseline_branch(m, s->a, false, tt__baseline_failing(m, s->k, s->name, s->line), 0, 0);
      else
        tt__x86_jump(&m->x, tt__baseline_failing(m, s->k, s->name, s->line));
      break;
    default:
      tt__baseline_decline(m, "a statement");
  }
}

void tt__baseline_stmts(tt_baseline_maker *m, const tt_pstmt *s) {
  bool top = s == m->f->body;
  for (; s && !m->why && !m->x.failed; s = s->next) {
    if (top) tt__baseline_begin(m, m->top);
    put_stmt(m, s);
    if (top) m->top++;
  }
}
