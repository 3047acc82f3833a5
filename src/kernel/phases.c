/*
** Phases: a reduction's result exists after its loop over the row, so what needs it runs in
** a later loop. A value that several loops need is computed again in each (loads come from
** cache), or, when that is costly, kept for the row in a scratch.
*/
#include "kernel/phases.h"

#include <assert.h>
#include <string.h>

#define MOST_PHASES 31

typedef struct planner {
  tt_decomposer *r;
  const tt_axes *axes;
  tt_kernel *k;
  bool scratch;
  int n, nphase;
  uint8_t *scope;   /* tt_scope of each instruction */
  uint8_t *ready;   /* OUTER: the slot it runs in; ROW: the earliest loop it can run in */
  uint32_t *wanted; /* ROW: loops that need it; OUTER and CONST: non-zero when needed */
  int16_t *keep;    /* scratch that keeps it, -1 */
  int16_t *outer;   /* new number of OUTER and CONST values */
  int16_t *row;     /* new number of ROW values in the loop being written */
  int cap;
} planner;

static bool moves_in_row(const planner *p, int access) {
  const int64_t *step = p->axes->step + (size_t)access * (size_t)p->axes->naxes;
  for (int i = p->axes->nouter; i < p->axes->naxes; i++)
    if (step[i] != 0) return true;
  return false;
}

static bool is_sink(const tt_rinst *s) { return s->op == TT_K_STORE || s->op == TT_K_STOREX; }
static bool is_memory(const tt_rinst *s) { return s->op == TT_K_LOAD || s->op == TT_K_INDEX || s->op == TT_K_STORE; }

/* Scope and earliest time of each instruction. */
static bool place(planner *p) {
  bool map = p->axes->mode == TT_MODE_MAP;
  for (int i = 0; i < p->n; i++) {
    const tt_rinst *s = &p->r->inst[i];
    int ready = 0;
    bool row = map || s->op == TT_K_REDUCE || (is_memory(s) && moves_in_row(p, s->slot));
    for (int k = 0; k < 3; k++) {
      if (s->src[k] < 0) continue;
      int at = s->src[k];
      bool reduced = p->r->inst[at].op == TT_K_REDUCE;
      int from = p->ready[at] + (reduced ? 1 : 0);
      if (from > ready) ready = from;
      row |= p->scope[at] == TT_SCOPE_ROW && !reduced;
    }
    p->scope[i] = (uint8_t)(s->op == TT_K_CONST ? TT_SCOPE_CONST : row ? TT_SCOPE_ROW : TT_SCOPE_OUTER);
    p->ready[i] = (uint8_t)ready;
    if (ready >= MOST_PHASES) return false;
    if (p->scope[i] == TT_SCOPE_ROW && ready + 1 > p->nphase) p->nphase = ready + 1;
  }
  return true;
}

static bool worth_keeping(const planner *p, int i) {
  const tt_rinst *s = &p->r->inst[i];
  bool several = (p->wanted[i] & (p->wanted[i] - 1)) != 0;
  return several && p->scratch && p->k->nscratch < TT_MOST_SCRATCH && p->axes->mode == TT_MODE_ROW &&
         s->op < TT_OP_COUNT && (tt__ops[s->op].flags & TT_OPF_SLOW);
}

static uint32_t lowest(uint32_t mask) { return mask & (~mask + 1); }

/* Which loops need which values: from the sinks down; consumers always come later in the list. */
static void want(planner *p) {
  for (int i = p->n - 1; i >= 0; i--) {
    const tt_rinst *s = &p->r->inst[i];
    bool row = p->scope[i] == TT_SCOPE_ROW;
    if (is_sink(s)) p->wanted[i] = 1u << p->ready[i];
    if (s->op == TT_K_REDUCE && p->wanted[i]) p->wanted[i] = 1u << p->ready[i];
    if (!p->wanted[i]) continue;
    uint32_t mask = p->wanted[i];
    if (row && worth_keeping(p, i)) {
      p->keep[i] = p->k->nscratch++;
      mask = lowest(mask);
    }
    for (int k = 0; k < 3; k++)
      if (s->src[k] >= 0) p->wanted[s->src[k]] |= row ? mask : 1u;
  }
}

static int emit(planner *p, const tt_rinst *s, int scope, int phase) {
  assert(p->k->ninst < p->cap);
  tt_kinst *out = &p->k->inst[p->k->ninst];
  *out = (tt_kinst){.op = s->op,
                    .dtype = s->dtype,
                    .from = s->from,
                    .scope = (uint8_t)scope,
                    .phase = (uint8_t)phase,
                    .red = s->red,
                    .slot = s->slot,
                    .src = {-1, -1, -1}};
  for (int k = 0; k < 3; k++) {
    if (s->src[k] < 0) continue;
    bool in_row = p->scope[s->src[k]] == TT_SCOPE_ROW && p->r->inst[s->src[k]].op != TT_K_REDUCE;
    out->src[k] = in_row ? p->row[s->src[k]] : p->outer[s->src[k]];
    assert(out->src[k] >= 0);
  }
  return p->k->ninst++;
}

static int scratch_access(planner *p, int scratch, bool write) {
  assert(scratch >= 0 && scratch < p->k->nscratch);
  tt_kernel *k = p->k;
  k->access[k->naccess] = (tt_kaccess){
      .buf = (int16_t)(-2 - scratch), .dtype = k->scratch_type[scratch], .lane = TT_LANE_UNIT, .write = write};
  return k->naccess++;
}

/* A value as a row loop has it: fetched from its scratch, or computed (and put there). */
static void emit_row(planner *p, int i, int phase) {
  assert(i >= 0 && i < p->r->ninst && phase >= 0);
  const tt_rinst *s = &p->r->inst[i];
  if (p->keep[i] >= 0 && 1u << phase != lowest(p->wanted[i])) {
    tt_rinst load = {
        .op = TT_K_LOAD, .dtype = s->dtype, .slot = (int16_t)scratch_access(p, p->keep[i], false), .src = {-1, -1, -1}};
    p->row[i] = (int16_t)emit(p, &load, TT_SCOPE_ROW, phase);
    return;
  }
  tt_rinst inst = *s;
  if (s->op == TT_K_REDUCE && (p->scope[s->src[0]] != TT_SCOPE_ROW || p->r->inst[s->src[0]].op == TT_K_REDUCE)) {
    /* The same value at every row point: give the fold a row value to fold. */
    tt_rinst same = {
        .op = TT_MAXIMUM, .dtype = s->from, .from = s->from, .slot = -1, .src = {s->src[0], s->src[0], -1}};
    int copy = emit(p, &same, TT_SCOPE_ROW, phase);
    int v = emit(p, &inst, TT_SCOPE_ROW, phase);
    p->k->inst[v].src[0] = (int16_t)copy;
    p->outer[i] = (int16_t)v;
    return;
  }
  int v = emit(p, &inst, TT_SCOPE_ROW, phase);
  if (s->op == TT_K_REDUCE)
    p->outer[i] = (int16_t)v;
  else
    p->row[i] = (int16_t)v;
  if (p->keep[i] >= 0) {
    tt_rinst store = {.op = TT_K_STORE,
                      .dtype = s->dtype,
                      .slot = (int16_t)scratch_access(p, p->keep[i], true),
                      .src = {(int16_t)i, -1, -1}};
    emit(p, &store, TT_SCOPE_ROW, phase);
  }
}

static void emit_phases(planner *p) {
  for (int i = 0; i < p->n; i++)
    if (p->scope[i] == TT_SCOPE_CONST && p->wanted[i])
      p->outer[i] = (int16_t)emit(p, &p->r->inst[i], TT_SCOPE_CONST, 0);
  for (int phase = 0; phase <= p->nphase; phase++) {
    for (int i = 0; i < p->n; i++)
      if (p->scope[i] == TT_SCOPE_OUTER && p->wanted[i] && p->ready[i] == phase)
        p->outer[i] = (int16_t)emit(p, &p->r->inst[i], TT_SCOPE_OUTER, phase);
    for (int i = 0; i < p->n && phase < p->nphase; i++)
      if (p->scope[i] == TT_SCOPE_ROW && p->wanted[i] >> phase & 1) emit_row(p, i, phase);
  }
}

bool tt__phases_emit(tt_decomposer *r, const tt_axes *axes, bool scratch, tt_kernel *k) {
  assert(r->ninst > 0 && k->naxes == axes->naxes);
  size_t n = (size_t)r->ninst;
  planner p = {.r = r, .axes = axes, .k = k, .scratch = scratch, .n = r->ninst};
  p.scope = tt__arena_alloc(r->arena, n);
  p.ready = tt__arena_alloc(r->arena, n);
  p.wanted = tt__arena_alloc(r->arena, n * sizeof *p.wanted);
  p.keep = tt__arena_alloc(r->arena, n * sizeof *p.keep);
  p.outer = tt__arena_alloc(r->arena, n * sizeof *p.outer);
  p.row = tt__arena_alloc(r->arena, n * sizeof *p.row);
  if (!p.scope || !p.ready || !p.wanted || !p.keep || !p.outer || !p.row) return false;
  memset(p.keep, 0xff, n * sizeof *p.keep);
  memset(p.outer, 0xff, n * sizeof *p.outer);
  memset(p.row, 0xff, n * sizeof *p.row);
  if (!place(&p)) return false;
  if (axes->mode == TT_MODE_MAP) p.nphase = 1;
  want(&p);
  k->nphase = (uint8_t)p.nphase;
  k->scratch_type = tt__arena_alloc(&k->arena, (size_t)k->nscratch);
  for (int i = 0; i < p.n; i++)
    if (p.keep[i] >= 0 && k->scratch_type) k->scratch_type[p.keep[i]] = r->inst[i].dtype;
  p.cap = p.n * (p.nphase + 2) + 2;
  k->inst = tt__arena_alloc(&k->arena, sizeof *k->inst * (size_t)p.cap);
  if (!k->inst || !k->scratch_type) return false;
  emit_phases(&p);
  return true;
}
