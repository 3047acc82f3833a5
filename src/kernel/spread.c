/*
** See spread.h. Instruction by instruction, so that loads of neighbours stand together, and stores: what compilers need
** to make vectors of them (ir/kernel.h, `next`). What is the same along the axis is computed once.
*/
#include "kernel/spread.h"

#include <assert.h>
#include <string.h>

enum {
  MOST_INST = 96,   /* of the result */
  LONG_ENOUGH = 64, /* the axis that becomes the lane */
  MOST_FAR = 4      /* elements of a row that is picked: of more the loop over it costs less than their places */
};

/* Lengths whose loads and stores gcc turns by shuffles. */
static bool is_short(int64_t len) { return (len >= 2 && len <= 4) || len == 8; }

static int64_t last_step(const tt_axes *x, int access) { return x->step[(access + 1) * x->naxes - 1]; }

static bool is_memory(const tt_rinst *s) {
  return s->op == TT_K_LOAD || s->op == TT_K_LOADX || s->op == TT_K_INDEX || s->op == TT_K_STORE;
}

/* Neighbours loaded and stored as they are: hosts copy them as bytes, unless compilers see how far apart rows lie. */
static bool is_run(const tt_decomposer *r, const tt_axes *x) {
  const tt_rinst *load = &r->inst[0], *store = &r->inst[r->ninst - 1];
  if (r->ninst != 2 || load->op != TT_K_LOAD || store->op != TT_K_STORE) return false;
  const tt_raccess *from = &r->access[load->slot], *to = &r->access[store->slot];
  if (tt__lane_knows(x->step[(size_t)load->slot * (size_t)x->naxes + (size_t)x->lane - 1])) return false;
  int64_t bytes = x->len[x->lane] * (int64_t)tt__dtype_size((tt_dtype)from->dtype);
  return from->dtype == to->dtype && last_step(x, load->slot) == 1 && bytes <= TT_RUN_BYTES;
}

/* Does every result lie row after row, so that the copies of a store fill memory without gaps? */
static bool pays(const tt_decomposer *r, const tt_axes *x) {
  if (x->mode != TT_MODE_MAP || x->naxes < 2 || x->lane != x->naxes - 1) return false;
  int64_t len = x->len[x->lane];
  if (!is_short(len) || x->len[x->lane - 1] < LONG_ENOUGH || r->ninst * len > MOST_INST || is_run(r, x)) return false;
  for (int i = 0; i < r->ninst; i++) {
    const tt_rinst *s = &r->inst[i];
    if (s->op == TT_K_STOREX || s->op == TT_K_REDUCE || (s->op == TT_K_LOADX && len > MOST_FAR)) return false;
    if (s->op < TT_OP_COUNT && tt__ops[s->op].cls == TT_CLASS_DRAW) return false; /* runs of places go together */
    if (s->op != TT_K_STORE) continue;
    const int64_t *step = x->step + (size_t)s->slot * (size_t)x->naxes;
    if (r->access[s->slot].parts != 1 || step[x->lane] != 1 || step[x->lane - 1] != len) return false;
  }
  return true;
}

typedef struct copies {
  tt_rinst *inst;
  tt_raccess *access;
  int64_t *step;
  int16_t (*value)[8]; /* [ninst] the numbers of an instruction's copies */
  int ninst, naccess;
} copies;

static bool make_room(tt_decomposer *r, const tt_axes *x, copies *c) {
  size_t len = (size_t)x->len[x->lane], n = (size_t)r->ninst * len, a = (size_t)r->naccess * len;
  c->inst = tt__arena_alloc(r->arena, sizeof *c->inst * n);
  c->access = tt__arena_alloc(r->arena, sizeof *c->access * a);
  c->step = tt__arena_alloc(r->arena, sizeof *c->step * a * (size_t)x->naxes);
  c->value = tt__arena_alloc(r->arena, sizeof *c->value * (size_t)r->ninst);
  return c->inst && c->access && c->step && c->value;
}

/* Access `a` at place `j` of the axis, without it. */
static int16_t add_access(const tt_decomposer *r, const tt_axes *x, copies *c, int a, int64_t j) {
  c->access[c->naccess] = r->access[a];
  c->access[c->naccess].off += j * last_step(x, a);
  int64_t *to = c->step + (size_t)c->naccess * (size_t)(x->naxes - 1);
  memcpy(to, x->step + (size_t)a * (size_t)x->naxes, sizeof *to * (size_t)(x->naxes - 1));
  return (int16_t)c->naccess++;
}

/* The same at all places of the axis? Its operands are done. */
static bool is_same(const tt_axes *x, const copies *c, const tt_rinst *s) {
  if (s->op == TT_K_STORE || (is_memory(s) && last_step(x, s->slot) != 0)) return false;
  for (int k = 0; k < 3; k++)
    if (s->src[k] >= 0 && c->value[s->src[k]][0] != c->value[s->src[k]][1]) return false;
  return true;
}

static void add_copies(const tt_decomposer *r, const tt_axes *x, copies *c, int i) {
  const tt_rinst *s = &r->inst[i];
  int64_t len = x->len[x->lane];
  bool same = is_same(x, c, s);
  for (int64_t j = 0; j < len; j++) {
    c->value[i][j] = same && j ? c->value[i][0] : (int16_t)c->ninst;
    if (same && j) continue;
    tt_rinst *out = &c->inst[c->ninst++];
    *out = *s;
    for (int k = 0; k < 3; k++)
      if (s->src[k] >= 0) out->src[k] = c->value[s->src[k]][j];
    if (is_memory(s)) out->slot = add_access(r, x, c, s->slot, j);
  }
}

bool tt__axes_spread(tt_decomposer *r, tt_axes *x) {
  copies c = {0};
  if (!pays(r, x)) return true;
  if (!make_room(r, x, &c)) return false;
  for (int i = 0; i < r->ninst; i++) add_copies(r, x, &c, i);
  assert(c.ninst <= MOST_INST && c.naccess > 0);
  r->inst = c.inst;
  r->ninst = c.ninst;
  r->access = c.access;
  r->naccess = c.naccess;
  x->step = c.step;
  x->naxes--;
  x->nouter--;
  x->lane--;
  return true;
}
