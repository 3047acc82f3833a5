/*
** From a kernel to the interpreter's program: loops are looked up, values get block
** registers by liveness, loads that can be read in place and stores that can be written by their producer
** are found. Knows the contract of ir/kernel.h; knows nothing of sizes and steps, which come with each launch.
*/
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "device/cpu/vm_int.h"

enum { CLASSES = 8 }; /* register classes: log2 of the element size, +4 for those that are rarely touched */

typedef struct builder {
  const tt_kernel *k;
  tt_vm_program *p;
  tt_arena temp;
  int16_t *last;    /* [ninst] last use in the value's own segment; -1: none */
  bool *escapes;    /* [ninst] used in another segment */
  int16_t *aim_for; /* [ninst] the STORE whose memory the value is made in; -1 */
  int16_t *order;   /* [ninst] the instructions of the segment being built */
  int32_t norder;
  int32_t *reg;      /* [ninst] register number */
  uint8_t *class_of; /* [nreg] */
  int32_t nreg;
  int32_t *spare[CLASSES]; /* registers of a class that are free now */
  int32_t nspare[CLASSES];
} builder;

static int shift_of(int type) {
  size_t size = tt__dtype_size((tt_dtype)type);
  return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

static bool has_value(const tt_kinst *in) { return in->op != TT_K_STORE && in->op != TT_K_STOREX; }

static bool has_access(const tt_kinst *in) { return in->op >= TT_K_LOAD && in->op <= TT_K_STOREX; }

static int operands(const tt_kinst *in, const int16_t **src) {
  int n = 0;
  *src = in->src;
  while (n < 3 && in->src[n] >= 0) n++;
  return n;
}

/* A REDUCE works in the row, but its value belongs to the outer scope. */
static bool same_segment(const tt_kinst *def, const tt_kinst *use) {
  return def->op != TT_K_REDUCE && def->scope == use->scope && def->phase == use->phase;
}

static bool is_scratch(const builder *b, int i) { return b->k->access[b->k->inst[i].slot].buf <= -2; }

/* Does instruction `i` read buffers that a store of this kernel might be writing? */
static bool reads_memory(const builder *b, int i) {
  int op = b->k->inst[i].op;
  return op == TT_K_LOADX || (op == TT_K_LOAD && !is_scratch(b, i));
}

static void find_uses(builder *b) {
  for (int i = 0; i < b->k->ninst; i++) b->last[i] = b->aim_for[i] = -1;
  for (int i = 0; i < b->k->ninst; i++) {
    const int16_t *src;
    int n = operands(&b->k->inst[i], &src);
    for (int s = 0; s < n; s++) {
      if (same_segment(&b->k->inst[src[s]], &b->k->inst[i]))
        b->last[src[s]] = (int16_t)i;
      else
        b->escapes[src[s]] = true;
    }
  }
}

/* ---- registers */

static int32_t new_register(builder *b, int class) {
  b->class_of[b->nreg] = (uint8_t) class;
  return b->nreg++;
}

static int32_t take_register(builder *b, int class) {
  return b->nspare[class] ? b->spare[class][--b->nspare[class]] : new_register(b, class);
}

/* A value whose register is nobody else's: it lives across segments, or is filled before its segment starts. */
static bool owns_register(const builder *b, int i) {
  const tt_kinst *in = &b->k->inst[i];
  if (in->scope != TT_SCOPE_ROW || in->op == TT_K_REDUCE) return true;
  return in->op == TT_K_LOAD && b->k->mode != TT_MODE_COL && b->k->access[in->slot].lane == TT_LANE_NONE;
}

static bool in_place_load(const builder *b, int i) {
  const tt_kinst *in = &b->k->inst[i];
  if (in->op != TT_K_LOAD) return false;
  const tt_kaccess *a = &b->k->access[in->slot];
  return a->lane == TT_LANE_UNIT && a->dtype == in->dtype;
}

static void free_operands(builder *b, int i) {
  const int16_t *src;
  int n = operands(&b->k->inst[i], &src);
  for (int s = 0; s < n; s++) {
    int v = src[s];
    if (b->last[v] != i || owns_register(b, v) || b->reg[v] < 0) continue;
    int class = b->class_of[b->reg[v]];
    b->spare[class][b->nspare[class]++] = b->reg[v];
    b->last[v] = -1; /* once, though it may be an operand twice */
  }
}

static void place_value(builder *b, int i) {
  const tt_kinst *in = &b->k->inst[i];
  if (b->reg[i] >= 0) return; /* constants and results got theirs before the segments */
  int class = shift_of(in->dtype) + (in_place_load(b, i) ? 4 : 0);
  b->reg[i] = owns_register(b, i) ? new_register(b, class) : take_register(b, class);
}

static void place_registers(builder *b) {
  for (int32_t o = 0; o < b->norder; o++) {
    int i = b->order[o];
    const tt_kinst *in = &b->k->inst[i];
    /* Elementwise loops may write over an operand; others must not. */
    if (in->op < TT_OP_COUNT) free_operands(b, i);
    if (has_value(in)) place_value(b, i);
    if (in->op >= TT_OP_COUNT) free_operands(b, i);
    if (has_value(in) && b->last[i] < 0 && !owns_register(b, i)) {
      int class = b->class_of[b->reg[i]];
      b->spare[class][b->nspare[class]++] = b->reg[i];
    }
  }
}

/* ---- memory that is read or written in place */

/* Is it safe that value `v` appears in memory when it is made, not when STORE `s` is reached? */
static bool may_aim(const builder *b, int v, int s) {
  const tt_kinst *def = &b->k->inst[v], *use = &b->k->inst[s];
  if (!same_segment(def, use) || owns_register(b, v) || b->aim_for[v] >= 0) return false;
  if (b->k->access[use->slot].dtype != def->dtype) return false;
  if (b->k->mode == TT_MODE_ROW && use->scope == TT_SCOPE_OUTER) return false;
  if (is_scratch(b, s)) return true;
  for (int32_t o = 0; o < b->norder; o++) {
    int i = b->order[o];
    if (reads_memory(b, i) && (i > v || (b->k->inst[i].op == TT_K_LOAD && b->last[i] > v))) return false;
  }
  return true;
}

static void find_aims(builder *b) {
  for (int32_t o = 0; o < b->norder; o++) {
    int s = b->order[o];
    const tt_kinst *in = &b->k->inst[s];
    if (in->op == TT_K_STORE && may_aim(b, in->src[0], s)) b->aim_for[in->src[0]] = (int16_t)s;
  }
}

/* May a store change what LOAD `i` points at before its last use? */
static bool must_copy(const builder *b, int i) {
  if (b->escapes[i]) return true;
  if (is_scratch(b, i)) return false;
  for (int32_t o = 0; o < b->norder; o++) {
    int s = b->order[o];
    const tt_kinst *in = &b->k->inst[s];
    if (has_value(in) || (in->op == TT_K_STORE && is_scratch(b, s))) continue;
    if (s > i && s < b->last[i]) return true;
  }
  return false;
}

/* ---- steps */

static int32_t add_access(builder *b, int i) {
  const tt_kinst *in = &b->k->inst[i];
  const tt_kaccess *x = &b->k->access[in->slot];
  tt_vm_access *a = &b->p->access[b->p->naccess];
  a->slot = in->slot;
  a->buf = x->buf;
  a->inst = (int16_t)i;
  a->dtype = x->dtype;
  a->shift = x->buf == -1 ? 0 : (uint8_t)shift_of(x->dtype);
  a->write = x->write;
  a->half = x->dtype == TT_F16 || x->dtype == TT_BF16;
  a->flatx = in->op == TT_K_LOADX || in->op == TT_K_STOREX;
  a->scalar = b->k->mode == TT_MODE_ROW && in->scope == TT_SCOPE_OUTER;
  a->fixed = in->op == TT_K_LOAD && in->scope == TT_SCOPE_ROW && owns_register(b, i);
  a->copy = in->op == TT_K_LOAD && must_copy(b, i);
  return b->p->naccess++;
}

static void add_reduction(builder *b, int i) {
  const tt_kinst *in = &b->k->inst[i];
  tt_vm_reduction *r = &b->p->red[b->p->nred++];
  r->inst = (int16_t)i;
  r->slot = in->slot;
}

static tt_code add_op(builder *b, int i, tt_vm_step *s, tt_error *err) {
  const tt_kinst *in = &b->k->inst[i];
  const tt_vm_table *t = b->p->table;
  s->kind = TT_VM_OP;
  s->fn = in->op == TT_CAST ? t->cast[in->from][in->dtype] : t->op[in->op][in->from];
  if (!s->fn)
    return tt__fail(err, TT_EINTERNAL, "interpreter: no loop %s for %s", tt__ops[in->op].lower,
                    tt__dtypes[in->from].suffix);
  return TT_OK;
}

static tt_code add_step(builder *b, tt_vm_segment *g, int i, tt_error *err) {
  const tt_kinst *in = &b->k->inst[i];
  tt_vm_step *s = &g->step[g->nstep++];
  s->out = (int16_t)i;
  for (int n = 0; n < 3; n++) s->src[n] = in->src[n] < 0 ? 0 : in->src[n];
  s->aimed = b->aim_for[i] >= 0;
  if (in->op < TT_OP_COUNT) return add_op(b, i, s, err);
  if (has_access(in)) s->access = (int16_t)add_access(b, i);
  switch (in->op) {
    case TT_K_LOAD:
    case TT_K_INDEX:
      s->kind = TT_VM_LOAD;
      break;
    case TT_K_LOADX:
      s->kind = TT_VM_LOADX;
      break;
    case TT_K_STORE:
      s->kind = TT_VM_STORE;
      break;
    case TT_K_STOREX:
      s->kind = TT_VM_STOREX;
      break;
    case TT_K_REDUCE:
      s->kind = TT_VM_REDUCE;
      s->access = (int16_t)b->p->nred;
      add_reduction(b, i);
      break;
    default:
      s->kind = TT_VM_ROUND;
      s->half = in->from;
  }
  return TT_OK;
}

/* The entry of STORE `store` among the segment's accesses, once its step is there. */
static int16_t access_of(const builder *b, const tt_vm_segment *g, int store) {
  int32_t a = g->access_lo;
  while (b->p->access[a].inst != store) a++;
  return (int16_t)a;
}

/* Every value of a lean segment lies in memory that its loads and stores point at. */
static bool is_lean(const builder *b) {
  if (b->k->mode == TT_MODE_COL || b->k->checked || b->k->serial) return false;
  for (int32_t o = 0; o < b->norder; o++) {
    int i = b->order[o];
    const tt_kinst *in = &b->k->inst[i];
    const int16_t *src;
    int n = operands(in, &src);
    if (in->scope != TT_SCOPE_ROW) return false;
    for (int s = 0; s < n; s++)
      if (!same_segment(&b->k->inst[src[s]], in)) return false;
    bool placed = in->op < TT_OP_COUNT ? b->aim_for[i] >= 0 : in_place_load(b, i) || in->op == TT_K_STORE;
    if (!placed && in->op != TT_K_REDUCE) return false;
  }
  return true;
}

static void find_widened(builder *b, tt_vm_segment *g) {
  for (int32_t o = 0; o < b->norder; o++) {
    const int16_t *src;
    int n = operands(&b->k->inst[b->order[o]], &src);
    for (int s = 0; s < n; s++) {
      const tt_kinst *def = &b->k->inst[src[s]];
      bool known = def->scope == TT_SCOPE_CONST || (def->scope == TT_SCOPE_ROW && def->op != TT_K_REDUCE);
      for (int32_t w = 0; !known && w < g->nwiden; w++) known = g->widen[w] == src[s];
      if (!known) g->widen[g->nwiden++] = src[s];
    }
  }
}

static tt_code build_segment(builder *b, tt_vm_segment *g, int scope, int phase, tt_error *err) {
  int32_t nsrc = 0;
  b->norder = 0;
  for (int i = 0; i < b->k->ninst; i++) {
    const tt_kinst *in = &b->k->inst[i];
    if (in->scope != scope || in->phase != phase) continue;
    b->order[b->norder++] = (int16_t)i;
    nsrc += 3;
  }
  g->access_lo = g->access_hi = b->p->naccess;
  g->red_lo = g->red_hi = b->p->nred;
  g->step = tt__arena_alloc(&b->p->arena, (size_t)b->norder * 2 * sizeof *g->step); /* at most an AIM each */
  g->widen = tt__arena_alloc(&b->p->arena, (size_t)nsrc * sizeof *g->widen);
  if (!g->step || !g->widen) return tt__fail_memory(err, (size_t)b->norder * 2 * sizeof *g->step);
  find_aims(b);
  g->lean = is_lean(b);
  for (int32_t o = 0; o < b->norder; o++) {
    int i = b->order[o];
    if (b->aim_for[i] >= 0) g->step[g->nstep++] = (tt_vm_step){.kind = TT_VM_AIM, .out = (int16_t)i};
    TT_TRY(add_step(b, g, i, err));
  }
  g->access_hi = b->p->naccess;
  g->red_hi = b->p->nred;
  for (int32_t s = 0; s < g->nstep; s++)
    if (g->step[s].kind == TT_VM_AIM) g->step[s].access = access_of(b, g, b->aim_for[g->step[s].out]);
  if (scope == TT_SCOPE_ROW) find_widened(b, g);
  place_registers(b); /* last: it uses up `last` */
  return TT_OK;
}

/* ---- reductions */

tt_op tt__vm_combine_op(int red) {
  switch (red) {
    case TT_RED_SUM:
      return TT_ADD;
    case TT_RED_PROD:
      return TT_MUL;
    case TT_RED_MAX:
      return TT_MAXIMUM;
    case TT_RED_MIN:
      return TT_MINIMUM;
    case TT_RED_ANY:
      return TT_OR;
    default:
      return TT_AND;
  }
}

/* The least (or greatest) value of a register type. */
static tt_scalar extreme(int type, bool greatest) {
  tt_scalar v = {.bits = {0, 0}};
  int bits = (int)tt__dtype_size((tt_dtype)type) * 8;
  if (type == TT_F32) {
    v.f32 = greatest ? __builtin_inff() : -__builtin_inff();
  } else if (type == TT_F64) {
    v.f64 = greatest ? __builtin_inf() : -__builtin_inf();
  } else if (type == TT_BOOL) {
    v.b8 = greatest;
  } else if (tt__is_unsigned((tt_dtype)type)) {
    v.u64 = greatest ? UINT64_MAX >> (64 - bits) : 0; /* little-endian: the low bytes are the value */
  } else {
    v.i64 = greatest ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
  }
  return v;
}

tt_scalar tt__vm_identity(int red, int type) {
  tt_scalar v = {.bits = {0, 0}};
  if (red == TT_RED_MAX || red == TT_RED_MIN) return extreme(type, red == TT_RED_MIN);
  if (red != TT_RED_PROD && red != TT_RED_ALL) return v;
  if (type == TT_F32)
    v.f32 = 1;
  else if (type == TT_F64)
    v.f64 = 1;
  else
    v.u64 = 1;
  return v;
}

static tt_code fill_reduction(builder *b, tt_vm_reduction *r, tt_error *err) {
  const tt_kinst *in = &b->k->inst[r->inst];
  const tt_vm_table *t = b->p->table;
  r->red = in->red;
  r->type = in->from;
  r->shift = (uint8_t)shift_of(in->from);
  r->arg = in->red == TT_RED_ARGMAX || in->red == TT_RED_ARGMIN;
  r->identity = tt__vm_identity(in->red, in->from);
  bool there;
  if (r->arg) {
    bool max = in->red == TT_RED_ARGMAX;
    r->arg_lanes = max ? t->argmax[in->from] : t->argmin[in->from];
    r->arg_fold = max ? t->argfold_max[in->from] : t->argfold_min[in->from];
    there = r->arg_lanes && r->arg_fold;
  } else {
    tt_op op = tt__vm_combine_op(in->red);
    r->op = t->op[op][in->from];
    r->lanes = t->red[op][in->from];
    r->fold = t->fold[op][in->from];
    there = r->op && r->lanes && r->fold;
  }
  if (there) return TT_OK;
  return tt__fail(err, TT_EINTERNAL, "interpreter: no reduction %d of %s", r->red, tt__dtypes[r->type].suffix);
}

/* ---- the space of a call */

/*
** Lanes of a block: the registers that are touched all the time fill half of the first-level cache. Longer maps
** gain nothing in cache and lose from memory, where the next block's lines should be on their way during this one.
*/
static int32_t choose_block(const builder *b) {
  int64_t cache = tt__cache_bytes(1), hot = 0;
  int64_t most = b->k->mode == TT_MODE_COL ? 2048 : 512;
  for (int32_t r = 0; r < b->nreg; r++) hot += b->class_of[r] < 4 ? (int64_t)1 << b->class_of[r] : 0;
  int64_t lanes = ((cache > 0 ? cache : 32768) / 2 / (hot ? hot : 1)) / TT_LANES * TT_LANES;
  return (int32_t)(lanes < TT_LANES ? TT_LANES : lanes > most ? most : lanes);
}

/* Hand out `size` bytes of the space. The odd line keeps neighbours from sharing cache sets. */
static int32_t take_bytes(tt_vm_program *p, size_t size) {
  size_t at = p->space;
  p->space = (at + size + 63) / 64 * 64 + 64;
  return (int32_t)at;
}

static tt_code lay_out(builder *b, tt_error *err) {
  tt_vm_program *p = b->p;
  p->block = choose_block(b);
  int64_t lanes8 = p->block * 8 + 128;
  int64_t worst = b->nreg * lanes8 + p->nred * 3 * lanes8 + p->ninst * (int64_t)16 + (1 << 20) +
                  p->naccess * (int64_t)(sizeof(tt_vm_cursor) + 8 * TT_MAX_RANK + 8 * TT_VM_RUN_MAX);
  if (worst > INT32_MAX) return tt__fail(err, TT_EVALUE, "interpreter: the kernel is too large");
  p->space = (size_t)p->ninst * sizeof(void *);
  p->space = (p->space + 63) / 64 * 64;
  p->at_access = take_bytes(p, (size_t)p->naccess * sizeof(tt_vm_cursor));
  p->at_step = take_bytes(p, (size_t)p->naccess * p->naxes * 8);
  p->at_index = take_bytes(p, (size_t)p->naxes * 8);
  p->at_acc = take_bytes(p, (size_t)p->nred * 2 * sizeof(void *));
  p->at_run = take_bytes(p, p->flat ? (size_t)p->naccess * TT_VM_RUN_MAX * 8 : 0);
  p->at_temp = take_bytes(p, (size_t)p->block * 2);
  int32_t *at = tt__arena_alloc(&b->temp, (size_t)b->nreg * sizeof *at);
  if (!at) return tt__fail_memory(err, (size_t)b->nreg * sizeof *at);
  for (int32_t r = 0; r < b->nreg; r++) at[r] = take_bytes(p, (size_t)p->block << (b->class_of[r] & 3));
  for (int i = 0; i < p->ninst; i++) p->reg[i] = b->reg[i] < 0 ? 0 : at[b->reg[i]];
  size_t lanes = p->mode == TT_MODE_ROW ? TT_LANES : (size_t)p->block;
  for (int32_t n = 0; n < p->nred; n++) {
    tt_vm_reduction *r = &p->red[n];
    r->acc = take_bytes(p, lanes << r->shift);
    r->acc_at = r->arg ? take_bytes(p, lanes * 8) : 0;
    r->total = r->arg ? take_bytes(p, lanes << r->shift) : 0;
    r->group = take_bytes(p, sizeof(tt_scalar));
    r->group_at = take_bytes(p, sizeof(int64_t));
  }
  assert(p->space <= (size_t)INT32_MAX);
  return TT_OK;
}

/* ---- the whole */

/* A scatter that another access of its kernel may see runs point by point. */
static bool point_by_point(const tt_kernel *k) {
  for (int i = 0; i < k->ninst; i++) {
    if (k->inst[i].op != TT_K_STOREX) continue;
    int16_t buf = k->access[k->inst[i].slot].buf;
    for (int j = 0; j < k->ninst; j++)
      if (j != i && has_access(&k->inst[j]) && k->access[k->inst[j].slot].buf == buf) return true;
  }
  return false;
}

static bool take_tables(builder *b, const tt_kernel *k, tt_vm_program *p) {
  size_t n = (size_t)k->ninst;
  tt_arena *t = &b->temp, *a = &p->arena;
  b->last = tt__arena_alloc(t, n * sizeof *b->last);
  b->escapes = tt__arena_alloc(t, n * sizeof *b->escapes);
  b->aim_for = tt__arena_alloc(t, n * sizeof *b->aim_for);
  b->order = tt__arena_alloc(t, n * sizeof *b->order);
  b->reg = tt__arena_alloc(t, n * sizeof *b->reg);
  b->class_of = tt__arena_alloc(t, n);
  if (!b->last || !b->escapes || !b->aim_for || !b->order || !b->reg || !b->class_of) return false;
  for (int c = 0; c < CLASSES; c++)
    if (!(b->spare[c] = tt__arena_alloc(t, n * sizeof **b->spare))) return false;
  p->outer = tt__arena_alloc(a, (size_t)(k->nphase + 1) * sizeof *p->outer);
  p->row = tt__arena_alloc(a, (size_t)k->nphase * sizeof *p->row);
  p->access = tt__arena_alloc(a, n * sizeof *p->access);
  p->red = tt__arena_alloc(a, (size_t)k->nred * sizeof *p->red);
  p->constant = tt__arena_alloc(a, n * sizeof *p->constant);
  p->constant_of = tt__arena_alloc(a, n * sizeof *p->constant_of);
  p->type = tt__arena_alloc(a, n);
  p->reg = tt__arena_alloc(a, n * sizeof *p->reg);
  return p->outer && p->row && p->access && p->red && p->constant && p->constant_of && p->type && p->reg;
}

static tt_code build(builder *b, tt_error *err) {
  const tt_kernel *k = b->k;
  tt_vm_program *p = b->p;
  if (!take_tables(b, k, p)) return tt__fail_memory(err, (size_t)k->ninst * sizeof(tt_vm_step));
  find_uses(b);
  for (int i = 0; i < k->ninst; i++) {
    b->reg[i] = -1;
    p->type[i] = k->inst[i].dtype;
    if (k->inst[i].op != TT_K_CONST) continue;
    b->reg[i] = new_register(b, shift_of(k->inst[i].dtype));
    p->constant_of[p->nconst] = k->inst[i].slot;
    p->constant[p->nconst++] = (int16_t)i;
  }
  for (int phase = 0; phase < k->nphase; phase++) {
    TT_TRY(build_segment(b, &p->outer[phase], TT_SCOPE_OUTER, phase, err));
    TT_TRY(build_segment(b, &p->row[phase], TT_SCOPE_ROW, phase, err));
  }
  TT_TRY(build_segment(b, &p->outer[k->nphase], TT_SCOPE_OUTER, k->nphase, err));
  for (int32_t r = 0; r < p->nred; r++) TT_TRY(fill_reduction(b, &p->red[r], err));
  p->flat = k->mode != TT_MODE_ROW && k->naxes >= 2 && !k->checked && !p->by_point;
  return lay_out(b, err);
}

tt_code tt__vm_build(const tt_kernel *k, tt_vm_program **out, tt_error *err) {
  assert(tt__kernel_ok(k, NULL));
  *out = NULL;
  tt_vm_program *p = tt__mem_zalloc(sizeof *p);
  if (!p) return tt__fail_memory(err, sizeof *p);
  builder b = {.k = k, .p = p};
  p->table = tt__vm_table();
  p->mode = k->mode;
  p->nouter = k->nouter;
  p->naxes = k->naxes;
  p->nphase = k->nphase;
  p->checked = k->checked;
  p->ninst = k->ninst;
  p->by_point = k->mode == TT_MODE_MAP && point_by_point(k);
  tt_code c = build(&b, err);
  tt__arena_free(&b.temp);
  if (c == TT_OK) c = tt__vm_reserve(p->space, err);
  if (c != TT_OK) {
    tt__arena_free(&p->arena);
    tt__mem_free(p, sizeof *p);
    return c;
  }
  *out = p;
  return TT_OK;
}

void tt__vm_free(tt_vm_program *p) {
  if (!p) return;
  tt__arena_free(&p->arena);
  tt__mem_free(p, sizeof *p);
  tt__vm_unreserve();
}
