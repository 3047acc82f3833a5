/*
** Calls: of C functions, of other functions of the program, and what is behind the function because it runs rarely.
*/
#include <assert.h>
#include <stddef.h>

#include "device/cpu/baseline/baseline_int.h"

/* ---- scratch registers */

void tt__baseline_push(tt_baseline_maker *m, int d, int v) {
  assert(d >= 0 && d <= TT_SCRATCH && v >= 0 && v <= TT_SCRATCH_REAL);
  for (int k = 0; k < d; k++) tt__x86_store(&m->x, tt__baseline_word(m->temp + k), tt__scratch[k], 8);
  for (int k = 0; k < v; k++) tt__x86_stores(&m->x, tt__baseline_word(m->temp + TT_SCRATCH + k), k, false);
}

void tt__baseline_pop(tt_baseline_maker *m, int d, int v, int but, int but_real) {
  assert(d >= 0 && d <= TT_SCRATCH && v >= 0 && v <= TT_SCRATCH_REAL);
  for (int k = 0; k < d; k++)
    if (tt__scratch[k] != but) tt__x86_load(&m->x, tt__scratch[k], tt__baseline_word(m->temp + k), 8, false);
  for (int k = 0; k < v; k++)
    if (k != but_real) tt__x86_loads(&m->x, k, tt__baseline_word(m->temp + TT_SCRATCH + k), false);
}

/* ---- C functions */

static const int argument[] = {TT_RDI, TT_RSI, TT_RDX, TT_RCX, TT_R8, TT_R9};

/* Through a register that no argument is in. */
static void put_jump_to(tt_baseline_maker *m, void (*fn)(void)) {
  tt__x86_mov_imm(&m->x, TT_RAX, (int64_t)(uintptr_t)fn);
  tt__x86_call(&m->x, TT_RAX);
}

void tt__baseline_call(tt_baseline_maker *m, const tt_baseline_called *c) {
  int at = 0, d = c->d, v = c->v;
  if (!c->fn) tt__baseline_decline(m, "a function");
  if (m->why || m->x.failed) return;
  tt__baseline_push(m, d + c->nint, v + c->nreal);
  tt__baseline_spill(m, TT_REGISTERS_CALLS, m->top);
  if (c->context) tt__x86_load(&m->x, argument[at++], tt__baseline_word(m->call), 8, false);
  for (int k = 0; k < c->nint; k++) tt__x86_load(&m->x, argument[at++], tt__baseline_word(m->temp + d + k), 8, false);
  for (int k = 0; k < c->nreal; k++) tt__x86_loads(&m->x, k, tt__baseline_word(m->temp + TT_SCRATCH + v + k), false);
  put_jump_to(m, c->fn);
  if (tt__baseline_is_real(c->result)) {
    tt__x86_movs(&m->x, c->to, 0);
    tt__baseline_pop(m, d, v, TT_NO_REG, c->to);
    tt__baseline_reload(m, TT_REGISTERS_CALLS, m->top, TT_NO_REG, c->to);
  } else {
    tt__x86_extend(&m->x, c->to, TT_RAX, tt__baseline_size(c->result), tt__baseline_signed(c->result));
    tt__baseline_pop(m, d, v, c->to, TT_NO_REG);
    tt__baseline_reload(m, TT_REGISTERS_CALLS, m->top, c->to, TT_NO_REG);
  }
}

void tt__baseline_call_with(tt_baseline_maker *m, void (*fn)(void), bool context, tt_pexpr *const *arg, int n,
                            const tt_ptype *result, int to, int d, int v) {
  tt_baseline_called c = {.fn = fn, .context = context, .d = d, .v = v, .result = result, .to = to};
  if (!fn) tt__baseline_decline(m, "a function");
  for (int k = 0; k < n && !m->why; k++) {
    bool real = tt__baseline_is_real(arg[k]->type);
    int *next = real ? &c.nreal : &c.nint;
    if ((real ? v : d) + *next >= (real ? TT_SCRATCH_REAL : TT_SCRATCH)) {
      tt__baseline_decline(m, "an expression is too deep");
    } else if (real) {
      tt__baseline_real(m, arg[k], v + c.nreal, d + c.nint, v + c.nreal + 1);
    } else {
      tt__baseline_int(m, arg[k], tt__scratch[d + c.nint], d + c.nint + 1, v + c.nreal);
    }
    ++*next;
  }
  tt__baseline_call(m, &c);
}

void tt__baseline_call_words(tt_baseline_maker *m, void (*fn)(void), int word) {
  tt__baseline_spill(m, TT_REGISTERS_CALLS, m->top);
  tt__x86_lea(&m->x, TT_RDI, tt__baseline_word(word));
  put_jump_to(m, fn);
  tt__baseline_reload(m, TT_REGISTERS_CALLS, m->top, TT_NO_REG, TT_NO_REG);
}

void tt__baseline_alloc(tt_baseline_maker *m, int bytes, bool zero) {
  tt__baseline_spill(m, TT_REGISTERS_CALLS, m->top);
  tt__x86_load(&m->x, TT_RDI, tt__baseline_word(m->call), 8, false);
  tt__x86_load(&m->x, TT_RSI, tt__baseline_word(bytes), 8, false);
  tt__x86_mov_imm(&m->x, TT_RDX, zero);
  tt__x86_call_mem(&m->x, tt__x86_at(TT_RDI, offsetof(tt_pcall, alloc)));
  tt__baseline_reload(m, TT_REGISTERS_CALLS, m->top, TT_NO_REG, TT_NO_REG);
}

/* ---- functions of the program: words of arguments in our frame, words of the result behind them */

static void put_argument(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v) {
  if (tt__baseline_is_real(e->type)) {
    tt__baseline_real(m, e, v, d, v + 1);
    tt__x86_stores(&m->x, tt__baseline_word(to), v, e->type->dtype == TT_F32);
  } else if (tt__baseline_is_int(e->type)) {
    tt__baseline_int(m, e, tt__scratch[d], d + 1, v);
    tt__x86_store(&m->x, tt__baseline_word(to), tt__scratch[d], 8);
  } else {
    int from = tt__baseline_array(m, e);
    for (int k = 0; from >= 0 && k < tt__ptype_words(e->type); k++) {
      tt__baseline_get(m, from + k, tt__scratch[d]);
      tt__x86_store(&m->x, tt__baseline_word(to + k), tt__scratch[d], 8);
    }
  }
}

int tt__baseline_user_call(tt_baseline_maker *m, const tt_pexpr *e, int d, int v) {
  const tt_pfunc *f = m->p->funcs.data[e->k];
  bool number = tt__baseline_is_int(f->result) || tt__baseline_is_real(f->result);
  if (d >= TT_SCRATCH || v >= TT_SCRATCH_REAL) tt__baseline_decline(m, "an expression is too deep");
  if (f->kind != TT_X_FUNCTION || f->place || e->type != f->result || !(number || f->result->tag == TT_T_NONE) ||
      f->nparam != e->n)
    tt__baseline_decline(m, "a call of a function");
  int at = m->words, to = at, n = 0;
  for (int k = 0; k < e->n && !m->why; k++) {
    if (e->arg[k]->type != f->locals.data[k].type) tt__baseline_decline(m, "a call of a function");
    n += tt__ptype_words(e->arg[k]->type);
  }
  m->words += n + 1;
  for (int k = 0; k < e->n && !m->why; k++) {
    put_argument(m, e->arg[k], to, d, v);
    to += tt__ptype_words(e->arg[k]->type);
  }
  if (m->why) return -1;
  tt__baseline_push(m, d, v);
  tt__baseline_spill(m, TT_REGISTERS_CALLS, m->top);
  tt__x86_load(&m->x, TT_RDI, tt__baseline_word(m->call), 8, false);
  tt__x86_lea(&m->x, TT_RSI, tt__baseline_word(at));
  tt__x86_lea(&m->x, TT_RDX, tt__baseline_word(at + n));
  tt__x86_call_label(&m->x, m->entry[e->k]);
  tt__x86_extend(&m->x, TT_RAX, TT_RAX, 4, false);
  tt__x86_test(&m->x, TT_RAX, TT_RAX);
  tt__x86_jump_if(&m->x, TT_CC_NE, m->fail);
  tt__baseline_reload(m, TT_REGISTERS_CALLS, m->top, TT_NO_REG, TT_NO_REG);
  return at + n;
}

/* ---- cold code */

void tt__baseline_cold(tt_baseline_maker *m, tt_cold c) {
  c.top = m->top;
  if (!m->x.failed && !TT_VEC_PUSH(&m->cold, c)) m->x.failed = true;
}

int tt__baseline_failing(tt_baseline_maker *m, int32_t kind, const char *message, int32_t line) {
  tt_cold c = {.op = TT_COLD_FAIL, .begin = tt__x86_label(&m->x), .kind = kind, .message = message, .line = line};
  tt__baseline_cold(m, c);
  return c.begin;
}

/* The first failure of all threads wins. */
static void fail(tt_pcall *call, int32_t kind, const char *message, int32_t line) {
  int32_t none = 0;
  if (!__atomic_compare_exchange_n(call->failed, &none, kind, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  *call->message = message;
  *call->line = line;
}

static void put_fail(tt_baseline_maker *m, const tt_cold *c) {
  tt__x86_load(&m->x, TT_RDI, tt__baseline_word(m->call), 8, false);
  tt__x86_mov_imm(&m->x, TT_RSI, c->kind);
  tt__x86_mov_imm(&m->x, TT_RDX, (int64_t)(uintptr_t)c->message);
  tt__x86_mov_imm(&m->x, TT_RCX, c->line);
  put_jump_to(m, (void (*)(void))fail);
  tt__x86_jump(&m->x, m->fail);
}

/* The frame as the host reads it: each location in its place, and the counts of loops whose variable is the count. */
static void put_over(tt_baseline_maker *m, const tt_cold *c) {
  tt__baseline_spill(m, TT_REGISTERS_ALL, c->top);
  for (const tt_baseline_loop *l = c->loop; l; l = l->up) {
    if (l->count < 0) continue;
    tt__x86_load(&m->x, TT_RAX, tt__baseline_word(l->value), 8, false);
    tt__x86_store(&m->x, tt__baseline_word(l->count), TT_RAX, 8);
  }
  tt__x86_mov_imm(&m->x, TT_RDI, (int64_t)(uintptr_t)m->host->ctx);
  tt__x86_load(&m->x, TT_RSI, tt__baseline_word(m->call), 8, false);
  tt__x86_mov(&m->x, TT_RDX, TT_RBP);
  tt__x86_load(&m->x, TT_RCX, tt__baseline_word(m->out), 8, false);
  tt__x86_mov_imm(&m->x, TT_R8, m->number);
  tt__x86_mov_imm(&m->x, TT_R9, c->loop->number);
  put_jump_to(m, (void (*)(void))m->host->over);
  tt__x86_extend(&m->x, TT_RAX, TT_RAX, 4, false);
  tt__x86_alu_imm(&m->x, TT_ALU_CMP, TT_RAX, 1);
  tt__x86_jump_if(&m->x, TT_CC_E, m->fail);
  tt__x86_jump_if(&m->x, TT_CC_A, m->done);
  tt__baseline_reload(m, TT_REGISTERS_ALL, c->top, TT_NO_REG, TT_NO_REG);
  tt__x86_jump(&m->x, c->back);
}

static void put_poll(tt_baseline_maker *m, const tt_cold *c) {
  tt__baseline_spill(m, TT_REGISTERS_CALLS, c->top);
  tt__x86_load(&m->x, TT_RDI, tt__baseline_word(m->call), 8, false);
  tt__x86_call_mem(&m->x, tt__x86_at(TT_RDI, offsetof(tt_pcall, poll)));
  tt__x86_extend(&m->x, TT_RAX, TT_RAX, 4, false);
  tt__x86_test(&m->x, TT_RAX, TT_RAX);
  tt__x86_jump_if(&m->x, TT_CC_NE, m->fail);
  tt__x86_mov_imm(&m->x, TT_RAX, TT_BASELINE_TURNS);
  tt__x86_store(&m->x, tt__baseline_word(m->turns), TT_RAX, 8);
  tt__baseline_reload(m, TT_REGISTERS_CALLS, c->top, TT_NO_REG, TT_NO_REG);
  tt__x86_jump(&m->x, c->back);
}

void tt__baseline_put_cold(tt_baseline_maker *m) {
  for (int64_t k = 0; k < m->cold.n && !m->x.failed && !m->why; k++) {
    const tt_cold *c = &m->cold.data[k];
    tt__x86_place(&m->x, c->begin);
    if (c->op == TT_COLD_WRAP) {
      tt__baseline_alu_word(m, TT_ALU_ADD, c->reg, c->word);
      tt__x86_jump(&m->x, c->back);
    } else if (c->op == TT_COLD_FAIL) {
      put_fail(m, c);
    } else if (c->op == TT_COLD_OVER) {
      put_over(m, c);
    } else {
      put_poll(m, c);
    }
  }
  m->cold.n = 0;
}
