/*
** Where variables live. Uses are counted, those in inner loops for more; the words that are used most get registers.
*/
#include <assert.h>
#include <string.h>

#include "device/cpu/baseline/baseline_int.h"

/* General registers for locations, those first that functions of C keep; vector ones are 6 to 15. */
static const int kept[] = {TT_RBX, TT_R12, TT_R13, TT_R14, TT_R15, TT_R8, TT_R9, TT_R10, TT_R11};
enum { NKEPT = sizeof kept / sizeof *kept, DEEPEST = 6 };

static bool is_destroyed(const tt_location *h) { return h->real || (h->reg >= TT_R8 && h->reg <= TT_R11); }

/* ---- counting */

static void note(tt_baseline_maker *m, int word, double weight) {
  tt_location *h = &m->location[word];
  if (m->top < h->from) h->from = m->top;
  if (m->top > h->to) h->to = m->top;
  h->weight += weight;
}

static void note_array(tt_baseline_maker *m, const tt_pexpr *a, double weight) {
  int at = tt__baseline_array(m, a);
  for (int k = 0; at >= 0 && k < tt__ptype_words(a->type); k++) note(m, at + k, weight);
}

static void note_place(tt_baseline_maker *m, const tt_pexpr *e, double weight) {
  const tt_pexpr *a = e->arg[0];
  int at = tt__baseline_array(m, a), rank = a->type->rank;
  if (at < 0) return;
  note(m, at, weight);
  for (int k = 0; k < rank; k++) {
    note(m, at + 1 + k, 0); /* lengths are asked for when an index counts from the end */
    note(m, at + 1 + rank + k, k == rank - 1 && a->type->layout == 'C' ? 0 : weight);
  }
}

/* Tuples stay in the frame: their items are of several kinds. */
static void note_local(tt_baseline_maker *m, int32_t local, double weight) {
  const tt_ptype *t = m->f->locals.data[local].type;
  int at = tt__baseline_local(m, local);
  for (int k = 0; k < tt__ptype_words(t); k++) note(m, at + k, t->tag == TT_T_TUPLE ? 0 : weight);
}

static void count_expr(tt_baseline_maker *m, const tt_pexpr *e, double weight) {
  if (!e || m->why) return;
  int first = 0;
  if (e->op == TT_X_LOCAL) {
    note_local(m, e->k, weight);
  } else if (e->op == TT_X_GLOBAL) {
    note_array(m, e, weight);
  } else if (e->op == TT_X_LOAD) {
    note_place(m, e, weight);
    first = 1;
  } else if (e->op == TT_X_LEN || e->op == TT_X_STEP || e->op == TT_X_ADDRESS) {
    int word = tt__baseline_array_word(m, e);
    if (word >= 0) note(m, word, weight);
    first = 1;
  }
  for (int k = first; k < e->n; k++) count_expr(m, e->arg[k], weight);
}

static void count_stmts(tt_baseline_maker *m, const tt_pstmt *s, double weight, int depth) {
  for (; s && !m->why; s = s->next) {
    if (s->op == TT_X_PARFOR) { /* loops in it are none of the frame's */
      tt__baseline_decline(m, "a parallel loop");
      return;
    }
    if (depth == 0 && s != m->f->body) m->top++;
    bool loop = s->op == TT_X_FOR || s->op == TT_X_WHILE;
    double inside = loop && depth < DEEPEST ? weight * 8 : weight;
    if (s->local >= 0) note_local(m, s->local, inside);
    if (loop) {
      int at = tt__pframe_loop(m->f, ++m->loops);
      bool own = s->op == TT_X_FOR && !tt__baseline_sets(s->body, s->local);
      for (int k = 0; k < 3; k++) note(m, at + k, s->op == TT_X_FOR && (k == 1 || !own) ? inside : 0);
    }
    count_expr(m, s->a, s->op == TT_X_WHILE ? inside : weight);
    count_expr(m, s->b, weight);
    count_expr(m, s->c, loop ? inside : weight);
    count_stmts(m, s->body, inside, depth + 1);
    count_stmts(m, s->other, weight, depth + 1);
  }
}

bool tt__baseline_sets(const tt_pstmt *s, int32_t local) {
  for (; s; s = s->next)
    if (s->local == local || tt__baseline_sets(s->body, local) || tt__baseline_sets(s->other, local)) return true;
  return false;
}

/* ---- registers */

static bool is_free(const tt_baseline_maker *m, const tt_location *h, int reg) {
  for (int k = 0; k < m->nlocation; k++) {
    const tt_location *o = &m->location[k];
    if (o->reg == reg && o->real == h->real && o->from <= h->to && h->from <= o->to) return false;
  }
  return true;
}

static void give_register(tt_baseline_maker *m, tt_location *h) {
  int n = h->real ? 16 - TT_SCRATCH_REAL : NKEPT;
  for (int k = 0; k < n; k++) {
    int reg = h->real ? TT_SCRATCH_REAL + k : kept[k];
    if (!is_free(m, h, reg)) continue;
    h->reg = reg;
    return;
  }
}

/* Those that are used most first; what is used once stays in the frame. */
static void give_registers(tt_baseline_maker *m) {
  double below = 1e300;
  for (;;) {
    double most = 1.5;
    for (int k = 0; k < m->nlocation; k++) {
      double w = m->location[k].weight;
      if (w < below && w > most) most = w;
    }
    if (most == 1.5) return;
    for (int k = 0; k < m->nlocation; k++)
      if (m->location[k].weight == most) give_register(m, &m->location[k]);
    below = most;
  }
}

void tt__baseline_allocate(tt_baseline_maker *m) {
  for (int k = 0; k < m->nlocation; k++) m->location[k] = (tt_location){.reg = TT_NO_REG, .from = INT32_MAX, .to = -1};
  for (int32_t k = 0; k < m->f->locals.n; k++) {
    const tt_ptype *t = m->f->locals.data[k].type;
    if (t->tag != TT_T_SCALAR || !tt__baseline_is_real(t)) continue;
    tt_location *h = &m->location[tt__baseline_local(m, k)];
    h->real = true;
    h->narrow = t->dtype == TT_F32;
  }
  m->top = m->loops = 0;
  count_stmts(m, m->f->body, 1, 0);
  give_registers(m);
  m->top = m->loops = 0;
}

/* ---- to and from them */

void tt__baseline_get(tt_baseline_maker *m, int word, int reg) {
  assert(word >= 0 && word < m->nlocation);
  if (m->location[word].reg >= 0)
    tt__x86_mov(&m->x, reg, m->location[word].reg);
  else
    tt__x86_load(&m->x, reg, tt__baseline_word(word), 8, false);
}

void tt__baseline_set(tt_baseline_maker *m, int word, int reg) {
  assert(word >= 0 && word < m->nlocation);
  if (m->location[word].reg >= 0)
    tt__x86_mov(&m->x, m->location[word].reg, reg);
  else
    tt__x86_store(&m->x, tt__baseline_word(word), reg, 8);
}

void tt__baseline_get_real(tt_baseline_maker *m, int word, int reg) {
  assert(word >= 0 && word < m->nlocation);
  if (m->location[word].reg >= 0)
    tt__x86_movs(&m->x, reg, m->location[word].reg);
  else
    tt__x86_loads(&m->x, reg, tt__baseline_word(word), m->location[word].narrow);
}

void tt__baseline_set_real(tt_baseline_maker *m, int word, int reg) {
  assert(word >= 0 && word < m->nlocation);
  if (m->location[word].reg >= 0)
    tt__x86_movs(&m->x, m->location[word].reg, reg);
  else
    tt__x86_stores(&m->x, tt__baseline_word(word), reg, m->location[word].narrow);
}

void tt__baseline_alu_word(tt_baseline_maker *m, tt_x86_alu op, int reg, int word) {
  assert(word >= 0 && word < m->nlocation);
  if (m->location[word].reg >= 0)
    tt__x86_alu(&m->x, op, reg, m->location[word].reg);
  else
    tt__x86_alu_mem(&m->x, op, reg, tt__baseline_word(word));
}

void tt__baseline_imul_word(tt_baseline_maker *m, int reg, int word) {
  assert(word >= 0 && word < m->nlocation);
  if (m->location[word].reg >= 0)
    tt__x86_imul(&m->x, reg, m->location[word].reg);
  else
    tt__x86_imul_mem(&m->x, reg, tt__baseline_word(word));
}

static bool is_there(const tt_location *h, tt_baseline_which which, int top) {
  return h->reg >= 0 && h->from <= top && top <= h->to && (which == TT_REGISTERS_ALL || is_destroyed(h));
}

static void load_home(tt_baseline_maker *m, int word) {
  const tt_location *h = &m->location[word];
  if (h->real)
    tt__x86_loads(&m->x, h->reg, tt__baseline_word(word), h->narrow);
  else
    tt__x86_load(&m->x, h->reg, tt__baseline_word(word), 8, false);
}

void tt__baseline_spill(tt_baseline_maker *m, tt_baseline_which which, int top) {
  for (int k = 0; k < m->nlocation; k++) {
    const tt_location *h = &m->location[k];
    if (!is_there(h, which, top)) continue;
    if (h->real)
      tt__x86_stores(&m->x, tt__baseline_word(k), h->reg, h->narrow);
    else
      tt__x86_store(&m->x, tt__baseline_word(k), h->reg, 8);
  }
}

void tt__baseline_reload(tt_baseline_maker *m, tt_baseline_which which, int top, int but, int but_real) {
  for (int k = 0; k < m->nlocation; k++) {
    const tt_location *h = &m->location[k];
    if (is_there(h, which, top) && h->reg != (h->real ? but_real : but)) load_home(m, k);
  }
}

void tt__baseline_begin(tt_baseline_maker *m, int top) {
  for (int k = 0; k < m->nlocation; k++)
    if (m->location[k].reg >= 0 && m->location[k].from == top) load_home(m, k);
}
