/*
** Fusion, from the roots down: walk the operands, carrying for each the map from the
** iteration space to its elements. Elementwise nodes hand the map on, views bend it,
** reductions add the row, and what cannot be expressed is asked to be in memory first.
*/
#include "sched/fuse.h"

#include <assert.h>
#include <string.h>

#include "ir/ops.h"

/* Recomputing this much work for every point of a larger space costs more than a trip through memory. */
#define HEAVY 8
#define SPREAD 4
/* Segments are cut before; values that views repeat make kernels longer than those. */
#define MOST_TEXT (2 * TT_TEXT_MOST)

/* tt_fuser.need besides node numbers */
#define OUT_OF_MEMORY (-2)
/* visit(): a plain "no" is -1; this one asks the nearest elementwise parent to be stored, so that the kernel
 * shrinks. */
#define TOO_MANY (-3)

static int visit(tt_fuser *f, int32_t idx, const tt_map *map);

static int need(tt_fuser *f, int32_t idx, const char *why) {
  f->need = idx;
  f->why = why;
  return -1;
}

static tt_fuse_result outcome(const tt_fuser *f) {
  if (f->need == OUT_OF_MEMORY) return TT_FUSE_NOMEM;
  if (f->need >= 0) return TT_FUSE_NEED;
  return f->split.axis >= 0 ? TT_FUSE_SPLIT_AXIS : TT_FUSE_REFUSE;
}

static int out_of_memory(tt_fuser *f) {
  f->need = OUT_OF_MEMORY;
  return -1;
}

static tt_map *keep_map(tt_fuser *f, const tt_map *map) { return tt__arena_dup(&f->scratch, map, sizeof(tt_map)); }

static int64_t space_points(const tt_space *s, bool row) {
  int64_t n = 1;
  for (int k = 0; k < s->naxes; k++)
    if (s->row[k] == row) n *= s->len[k];
  return n;
}

/* The last place of each table is kept for the store: what was computed must find a way out. */
static int add_inst(tt_fuser *f, tt_pinst inst) {
  bool stores = inst.op == TT_P_STORE || inst.op == TT_P_STOREX;
  if (f->ninst >= TT_FUSE_INST - !stores) return -1;
  if (inst.op == TT_P_REDUCE) f->text += TT_TEXT_REDUCE;
  if (inst.op < TT_OP_COUNT) f->text += tt__op_text((tt_op)inst.op, (tt_dtype)inst.dtype);
  if (f->text > MOST_TEXT && !stores) return -1;
  uint8_t folded = inst.op == TT_P_REDUCE;
  for (int i = 0; i < 3; i++) folded |= inst.src[i] >= 0 && f->folded[inst.src[i]];
  f->folded[f->ninst] = folded;
  f->inst[f->ninst] = inst;
  return f->ninst++;
}

static int find_memo(const tt_fuser *f, int32_t idx, const tt_map *map) {
  for (int32_t m = f->memo_head[idx]; m >= 0; m = f->memo[m].next)
    if (!map || tt__map_equal(&f->space, f->memo[m].map, map)) return f->memo[m].inst;
  return -1;
}

static int remember(tt_fuser *f, int32_t idx, const tt_map *map, int inst) {
  if (inst < 0) return inst;
  if (f->nmemo == TT_FUSE_MEMO) return need(f, idx, "the kernel is full");
  tt_map *kept = keep_map(f, map);
  if (!kept) return out_of_memory(f);
  f->memo[f->nmemo] = (tt_memo){.map = kept, .node = idx, .next = f->memo_head[idx], .inst = (int16_t)inst};
  f->memo_head[idx] = f->nmemo++;
  return inst;
}

static bool is_root(const tt_fuser *f, int32_t idx) {
  for (int r = 0; r < f->nroot; r++)
    if (f->root[r].node == idx) return true;
  return false;
}

static int add_operand(tt_fuser *f, int32_t idx, bool write) {
  for (int i = 0; i < f->noperand; i++)
    if (f->operand[i].node == idx && f->operand[i].write == write) return i;
  if (f->noperand >= TT_FUSE_OPERAND - !write) return -1;
  f->operand[f->noperand] = (tt_poperand){.node = idx, .write = write};
  return f->noperand++;
}

static int add_access(tt_fuser *f, int operand, uint8_t dtype, bool write, const tt_map *map) {
  if (f->naccess >= TT_FUSE_ACCESS - !write) return -1;
  tt_map *kept = keep_map(f, map);
  if (!kept) return out_of_memory(f), -1;
  f->access[f->naccess] = (tt_fuse_access){.operand = (int16_t)operand, .dtype = dtype, .write = write, .map = kept};
  return f->naccess++;
}

/* The kernel is full: let what is being visited come from memory instead. */
static int full(tt_fuser *f, int32_t idx) {
  if (f->need == OUT_OF_MEMORY) return -1;
  return need(f, idx, "the kernel is full");
}

static int load(tt_fuser *f, int32_t idx, const tt_map *map) {
  const tt_node *n = f->walk->node[idx];
  int operand = add_operand(f, idx, false);
  int access = operand < 0 ? -1 : add_access(f, operand, n->dtype, false, map);
  if (access < 0) return f->need == OUT_OF_MEMORY ? -1 : TOO_MANY;
  if (f->step_of[idx] > f->dep) f->dep = f->step_of[idx];
  int inst = add_inst(f, (tt_pinst){.op = TT_P_LOAD, .dtype = n->dtype, .ref = access, .src = {-1, -1, -1}});
  return inst < 0 ? TOO_MANY : remember(f, idx, map, inst);
}

static int visit_const(tt_fuser *f, int32_t idx) {
  static const tt_map nowhere;
  int known = find_memo(f, idx, NULL);
  if (known >= 0) return known;
  const tt_node *n = f->walk->node[idx];
  int inst = add_inst(f, (tt_pinst){.op = TT_P_CONST, .dtype = n->dtype, .ref = idx, .src = {-1, -1, -1}});
  return inst < 0 ? TOO_MANY : remember(f, idx, &nowhere, inst); /* a constant in memory saves no place */
}

static int add_literal(tt_fuser *f, uint8_t dtype, tt_scalar value) {
  if (f->nliteral == TT_FUSE_LITERAL) return -1;
  f->literal[f->nliteral] = value;
  return add_inst(f, (tt_pinst){.op = TT_P_CONST, .dtype = dtype, .ref = -1 - f->nliteral++, .src = {-1, -1, -1}});
}

static int visit_iota(tt_fuser *f, int32_t idx, const tt_map *map) {
  int access = add_access(f, -1, TT_I64, false, map);
  int inst =
      access < 0 ? -1 : add_inst(f, (tt_pinst){.op = TT_P_INDEX, .dtype = TT_I64, .ref = access, .src = {-1, -1, -1}});
  return inst < 0 ? full(f, idx) : remember(f, idx, map, inst);
}

/* The same operation on the same values: two nodes that say so, such as one that the way back computes again, are one
 * instruction where they meet; compilers do not see it of functions that they call. */
static int find_alike(const tt_fuser *f, const tt_pinst *want) {
  for (int i = f->ninst - 1; i >= 0; i--) {
    const tt_pinst *inst = &f->inst[i];
    bool same = inst->op == want->op && inst->dtype == want->dtype;
    if (same && memcmp(inst->src, want->src, sizeof inst->src) == 0) return i;
  }
  return -1;
}

static int visit_elementwise(tt_fuser *f, int32_t idx, const tt_map *map) {
  const tt_node *n = f->walk->node[idx];
  tt_pinst inst = {.op = n->op, .dtype = n->dtype, .ref = -1, .src = {-1, -1, -1}};
  for (int i = 0; i < n->nsrc; i++) {
    int v = visit(f, n->src[i]->slot, map);
    if (v == TOO_MANY) return full(f, idx);
    if (v < 0) return v;
    inst.src[i] = (int16_t)v;
  }
  int v = find_alike(f, &inst);
  if (v < 0) v = add_inst(f, inst);
  return v < 0 ? full(f, idx) : remember(f, idx, map, v);
}

static int visit_view(tt_fuser *f, int32_t idx, const tt_map *map) {
  tt_node *n = f->walk->node[idx];
  tt_map through;
  tt_split split;
  if (tt__map_through_view(&f->space, map, n->rank, tt__node_len(n), tt__node_step(n), n->attr.off, &through, &split)) {
    int v = visit(f, n->src[0]->slot, &through);
    return v < 0 ? v : remember(f, idx, map, v);
  }
  if (split.axis >= 0 && !f->space.row[split.axis] && f->ncutting < TT_FUSE_SPLIT) {
    f->split = split;
    return -1;
  }
  return need(f, idx, "its view is not affine here");
}

static int visit_gather(tt_fuser *f, int32_t idx, const tt_map *map) {
  const tt_node *n = f->walk->node[idx];
  int32_t data = n->src[0]->slot;
  if (n->src[0]->op != TT_N_BUFFER && f->step_of[data] < 0) return need(f, data, "it is read by index");
  if (is_root(f, data)) return -1;
  int at = visit(f, n->src[1]->slot, map);
  if (at < 0) return at;
  static const tt_map nowhere;
  int operand = add_operand(f, data, false);
  int access = operand < 0 ? -1 : add_access(f, operand, n->dtype, false, &nowhere);
  if (access < 0) return full(f, idx);
  if (f->step_of[data] > f->dep) f->dep = f->step_of[data];
  int v = add_inst(f, (tt_pinst){.op = TT_P_LOADX, .dtype = n->dtype, .ref = access, .src = {(int16_t)at, -1, -1}});
  return v < 0 ? full(f, idx) : remember(f, idx, map, v);
}

/* ---- reductions */

/* The reduced axes of `n` that are longer than 1: lengths and steps over the source's elements. */
static int reduced_axes(tt_node *n, int64_t *len, int64_t *step) {
  tt_node *src = n->src[0];
  const int64_t *slen = tt__node_len(src);
  int64_t run = 1, steps[TT_MAX_RANK];
  for (int d = src->rank - 1; d >= 0; d--) {
    steps[d] = run;
    run *= slen[d];
  }
  int count = 0;
  for (int d = 0; d < src->rank; d++) {
    if (!(n->attr.reduce.axes >> d & 1) || slen[d] == 1) continue;
    len[count] = slen[d];
    step[count++] = steps[d];
  }
  return count;
}

/*
** Settle which axes of the space are the row of reduction `n`, whose result is read through `map`:
** the row there is, or the axes along which the result is broadcast, or new axes. at[i] is the axis of reduced axis i.
*/
static bool settle_row(tt_fuser *f, const tt_map *map, int count, const int64_t *len, int *at) {
  tt_space *s = &f->space;
  int found = 0, still = 0;
  bool has_row = false;
  for (int k = 0; k < s->naxes; k++) has_row |= s->row[k];
  for (int k = 0; k < s->naxes; k++) {
    if (s->row[k] != has_row) {
      if (has_row && s->len[k] > 1 && map->step[k] == 0) return false; /* recomputed for each point of axis k */
      continue;
    }
    if (map->step[k] != 0) {
      if (has_row) return false; /* the result would vary along its own row */
      continue;
    }
    still++;
    if (found < count && s->len[k] == len[found]) at[found++] = k;
  }
  if (still) {
    if (found != count || still != count) return false;
    for (int i = 0; i < count; i++) s->row[at[i]] = true;
    return true;
  }
  if (has_row || s->naxes + count > TT_MAX_AXES) return false;
  for (int i = 0; i < count; i++) {
    at[i] = s->naxes;
    s->len[s->naxes] = len[i];
    s->row[s->naxes++] = true;
  }
  return true;
}

/* The map over the source's elements of a reduction whose result is read through `map`. */
static bool map_through_reduce(const tt_fuser *f, const tt_map *map, tt_node *n, int count, const int *at,
                               const int64_t *row_step, tt_map *out, tt_split *split) {
  tt_index index[TT_MAX_RANK];
  if (!tt__map_unravel(&f->space, map, n->rank, tt__node_len(n), index, split)) return false;
  memset(out, 0, sizeof *out);
  tt_node *src = n->src[0];
  int64_t run = 1;
  int kept = n->rank;
  for (int d = src->rank - 1; d >= 0; d--) {
    if (!(n->attr.reduce.axes >> d & 1)) {
      kept--;
      out->off += index[kept].c * run;
      for (int k = 0; k < f->space.naxes; k++) out->step[k] += index[kept].a[k] * run;
    }
    run *= tt__node_len(src)[d];
  }
  for (int i = 0; i < count; i++) out->step[at[i]] = row_step[i];
  return true;
}

/* A reduction over axes of length 1 moves its source's elements, in the same order. */
static int visit_trivial_reduce(tt_fuser *f, int32_t idx, const tt_map *map) {
  const tt_node *n = f->walk->node[idx];
  int v;
  if (n->attr.reduce.red == TT_RED_ARGMAX || n->attr.reduce.red == TT_RED_ARGMIN) {
    v = add_literal(f, TT_I64, (tt_scalar){.i64 = 0});
  } else {
    v = visit(f, n->src[0]->slot, map);
    if (v < 0) return v;
  }
  return v < 0 ? full(f, idx) : remember(f, idx, map, v);
}

static tt_scalar reduce_identity(uint8_t red, uint8_t dtype) {
  bool one = red == TT_RED_PROD || red == TT_RED_ALL;
  return one ? tt__dtype_one((tt_dtype)dtype) : (tt_scalar){.bits = {0, 0}};
}

/* Is what is visited computed for each point of a row? Else once a row, before or after its points. */
static bool in_row(const tt_fuser *f) {
  bool any = f->inside > 0;
  for (int k = 0; k < f->own_axes; k++) any |= f->space.row[k];
  return any;
}

static bool few_long_rows(const tt_fuser *f) {
  const tt_few_rows *few = &f->few_rows;
  int64_t most = f->columns ? few->column : f->lines ? few->lines : few->line;
  int64_t rows = space_points(&f->space, false);
  return space_points(&f->space, true) > most && rows < (int64_t)few->few * (f->columns ? few->columns : 1);
}

/* How the elements lie that a row reduces, as far as the operand's shape says. */
static void look_at_row(tt_fuser *f, int count, const int64_t *len, const int64_t *step) {
  f->columns = step[count - 1] > 1;
  f->lines = false;
  for (int i = 1; i < count; i++) f->lines |= step[i - 1] != step[i] * len[i];
}

/* What a reduction's operand is a view of lies in its own order. */
static tt_map below_views(const tt_fuser *f, tt_node *src, const tt_map *through) {
  tt_map at = *through, next;
  tt_split split;
  for (; src->op == TT_N_VIEW; src = src->src[0], at = next)
    if (!tt__map_through_view(&f->space, &at, src->rank, tt__node_len(src), tt__node_step(src), src->attr.off, &next,
                              &split))
      break;
  return at;
}

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/*
** Settle how the row is folded: by the order of the axes that the reduction was recorded over (graph/move.c: as they
** lay), not by what happens to be computed in the same kernel. Where the order changes nothing and the axes could not
** be recorded in it, memory says. False: another reduction of this kernel has settled it otherwise.
*/
static bool settle_fold(tt_fuser *f, tt_node *n, const tt_map *through) {
  uint8_t fold[TT_MAX_AXES] = {0};
  tt_map at = tt__red_is_arg(n->attr.reduce.red) ? below_views(f, n->src[0], through) : *through;
  for (int k = 0; k < f->space.naxes; k++) {
    if (at.step[k] == 0) continue;
    int before = 1;
    for (int i = 0; i < f->space.naxes; i++) before += at.step[i] != 0 && magnitude(at.step[i]) < magnitude(at.step[k]);
    fold[k] = (uint8_t)before;
  }
  size_t size = (size_t)f->space.naxes;
  if (f->nreduce > 0) return memcmp(f->fold, fold, size) == 0;
  memcpy(f->fold, fold, size);
  return true;
}

static int visit_reduce(tt_fuser *f, int32_t idx, const tt_map *map, bool at_root) {
  tt_node *n = f->walk->node[idx];
  if (n->src[0]->size == 0) {
    int v = add_literal(f, n->dtype, reduce_identity(n->attr.reduce.red, n->dtype));
    return v < 0 ? full(f, idx) : remember(f, idx, map, v);
  }
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  int at[TT_MAX_RANK];
  int count = reduced_axes(n, len, step);
  if (count == 0) return visit_trivial_reduce(f, idx, map);
  tt_space before = f->space;
  if (!settle_row(f, map, count, len, at)) {
    f->space = before;
    return at_root ? -1 : need(f, idx, "its row is not this kernel's row");
  }
  look_at_row(f, count, len, step);
  if (!at_root && in_row(f) && few_long_rows(f)) {
    f->space = before;
    return need(f, idx, "few long rows: reduced by all threads first");
  }
  tt_map through;
  tt_split split;
  if (!map_through_reduce(f, map, n, count, at, step, &through, &split)) {
    bool can = split.axis >= 0 && !f->space.row[split.axis] && f->ncutting < TT_FUSE_SPLIT;
    if (can) f->split = split;
    f->space = before;
    return can ? -1 : need(f, idx, "its view is not affine here");
  }
  if (!settle_fold(f, n, &through)) {
    f->space = before;
    return at_root ? -1 : need(f, idx, "it is folded in another order");
  }
  f->inside++;
  int v = ++f->nreduce > TT_FUSE_REDUCE ? TOO_MANY : visit(f, n->src[0]->slot, &through);
  f->inside--;
  if (v == TOO_MANY) return full(f, idx);
  if (v < 0) return v;
  tt_pinst inst = {
      .op = TT_P_REDUCE, .dtype = n->dtype, .red = n->attr.reduce.red, .ref = -1, .src = {(int16_t)v, -1, -1}};
  v = add_inst(f, inst);
  return v < 0 ? full(f, idx) : remember(f, idx, map, v);
}

/* ---- the walk */

static bool is_elementwise(const tt_node *n) { return n->op < TT_OP_COUNT; }

/* Reasons to have a value in memory although it could be computed inside. */
static const char *better_stored(const tt_fuser *f, int32_t idx) {
  const tt_node *n = f->walk->node[idx];
  if (!f->fuse && (is_elementwise(n) || n->op == TT_N_REDUCE || n->op == TT_N_GATHER)) return "fusion is off";
  if (!is_elementwise(n) && n->op != TT_N_GATHER) return NULL;
  if (f->weight[idx] >= 2 && f->memo_head[idx] >= 0) return "it is read at two places";
  if (f->weight[idx] >= HEAVY && !f->reduces[idx] &&
      space_points(&f->space, true) * space_points(&f->space, false) / SPREAD >= n->size)
    return "it is small and costly";
  return NULL;
}

static int visit(tt_fuser *f, int32_t idx, const tt_map *map) {
  const tt_node *n = f->walk->node[idx];
  if (n->op == TT_N_CONST) return visit_const(f, idx);
  int known = find_memo(f, idx, map);
  bool waits = known >= 0 && f->folded[known] && in_row(f) && few_long_rows(f);
  if (known >= 0 && !waits) return known;
  if (is_root(f, idx)) return -1; /* a root read elsewhere than where it is written: not in one kernel */
  if (n->op != TT_N_BUFFER && f->step_of[idx] < 0) {
    const char *why = f->cut[idx] ? "others need it in memory" : better_stored(f, idx);
    if (why) return need(f, idx, why);
  } else {
    return load(f, idx, map);
  }
  switch (n->op) {
    case TT_N_IOTA:
      return visit_iota(f, idx, map);
    case TT_N_VIEW:
      return visit_view(f, idx, map);
    case TT_N_GATHER:
      return visit_gather(f, idx, map);
    case TT_N_REDUCE:
      return visit_reduce(f, idx, map, false);
    default:
      break;
  }
  if (is_elementwise(n)) return visit_elementwise(f, idx, map);
  return need(f, idx, "it is computed by a library or a store");
}

/* ---- roots */

/* The space of a root on its own: outer lengths, then row lengths (reductions). Axes of length 1 are dropped. */
static tt_node *root_shape(const tt_walk *w, int32_t idx) {
  tt_node *n = w->node[idx];
  if (n->op == TT_N_STORE || n->op == TT_N_SCATTER) return n->src[1];
  return n;
}

/* Cut axis `at` of the space and of a map over it into (len / inner, inner). */
static void cut_axis(tt_space *s, tt_map *map, tt_map *other, int at, int64_t inner) {
  for (int k = s->naxes; k > at + 1; k--) {
    s->len[k] = s->len[k - 1];
    s->row[k] = s->row[k - 1];
    map->step[k] = map->step[k - 1];
    other->step[k] = other->step[k - 1];
  }
  s->naxes++;
  s->len[at] /= inner;
  s->len[at + 1] = inner;
  s->row[at + 1] = s->row[at];
  map->step[at + 1] = map->step[at];
  map->step[at] *= inner;
  other->step[at + 1] = other->step[at];
  other->step[at] *= inner;
}

/* The root's own space, the identity map of its value over it, and where that value goes in the root's buffer. */
static void root_space(const tt_fuser *f, int32_t idx, tt_space *s, tt_map *own, tt_map *dest) {
  tt_node *n = f->walk->node[idx], *shape = root_shape(f->walk, idx);
  memset(s, 0, sizeof *s);
  memset(own, 0, sizeof *own);
  memset(dest, 0, sizeof *dest);
  const int64_t *len = tt__node_len(shape);
  int64_t step[TT_MAX_RANK], run = 1;
  for (int d = shape->rank - 1; d >= 0; d--) {
    step[d] = run;
    run *= len[d];
  }
  if (n->op == TT_N_STORE) dest->off = n->attr.off;
  for (int d = 0; d < shape->rank; d++) {
    if (len[d] == 1) continue;
    own->step[s->naxes] = step[d];
    dest->step[s->naxes] = n->op == TT_N_STORE ? tt__node_step(n)[d] : step[d];
    s->len[s->naxes++] = len[d];
  }
  for (int i = 0; i < f->ncutting; i++) cut_axis(s, own, dest, f->cutting[i].axis, f->cutting[i].inner);
}

/* Do the outer axes of the space now equal those of `own`? */
static bool same_outer(const tt_space *now, const tt_space *own) {
  if (own->naxes > now->naxes) return false;
  for (int k = 0; k < own->naxes; k++)
    if (now->len[k] != own->len[k]) return false;
  for (int k = own->naxes; k < now->naxes; k++)
    if (!now->row[k]) return false; /* only row axes may follow: the root is constant along them */
  return true;
}

static int visit_root_value(tt_fuser *f, int32_t idx, const tt_map *own) {
  const tt_node *n = f->walk->node[idx];
  if (n->op == TT_N_STORE) return visit(f, n->src[1]->slot, own);
  switch (n->op) {
    case TT_N_REDUCE:
      return visit_reduce(f, idx, own, true);
    case TT_N_CONST:
      return visit_const(f, idx);
    case TT_N_IOTA:
      return visit_iota(f, idx, own);
    case TT_N_VIEW:
      return visit_view(f, idx, own);
    case TT_N_GATHER:
      return visit_gather(f, idx, own);
    default:
      return visit_elementwise(f, idx, own);
  }
}

static bool add_store(tt_fuser *f, int32_t idx, int value, const tt_map *own, const tt_map *dest) {
  tt_node *n = f->walk->node[idx];
  int at = -1;
  if (n->op == TT_N_SCATTER) {
    at = value;
    value = visit(f, n->src[2]->slot, own);
    if (value < 0) return false;
    f->serial = true;
  }
  int operand = add_operand(f, idx, true);
  int access = operand < 0 ? -1 : add_access(f, operand, n->dtype, true, dest);
  tt_pinst inst = {.op = TT_P_STORE, .dtype = n->dtype, .ref = access, .src = {(int16_t)value, -1, -1}};
  if (at >= 0)
    inst = (tt_pinst){.op = TT_P_STOREX, .dtype = n->dtype, .ref = access, .src = {(int16_t)at, (int16_t)value, -1}};
  if (access < 0 || add_inst(f, inst) < 0) return false;
  tt_proot *root = &f->root[f->nroot - 1];
  root->operand = (int16_t)operand;
  return true;
}

static bool add_root(tt_fuser *f, int32_t idx) {
  tt_node *n = f->walk->node[idx];
  tt_space own_space;
  tt_map own, dest;
  root_space(f, idx, &own_space, &own, &dest);
  if (f->nroot == 0)
    f->space = own_space;
  else if (!same_outer(&f->space, &own_space))
    return false;
  f->own_axes = own_space.naxes;
  int r = f->nroot;
  bool writes_over = n->op == TT_N_STORE || n->op == TT_N_SCATTER;
  f->root[r] = (tt_proot){.node = idx, .base = writes_over ? n->src[0]->slot : -1, .donor = -1};
  f->root_own[r] = keep_map(f, &own);
  f->root_map[r] = keep_map(f, &dest);
  if (!f->root_own[r] || !f->root_map[r]) return out_of_memory(f), false;
  if (writes_over && n->src[0]->op != TT_N_BUFFER && f->step_of[n->src[0]->slot] < 0) {
    need(f, n->src[0]->slot, "it is written over");
    return false;
  }
  if (writes_over && f->step_of[n->src[0]->slot] > f->dep) f->dep = f->step_of[n->src[0]->slot];
  int value = n->op == TT_N_SCATTER ? visit(f, n->src[1]->slot, &own) : visit_root_value(f, idx, &own);
  if (value < 0) return false;
  f->nroot++;
  if (find_memo(f, idx, &own) < 0 && !writes_over && remember(f, idx, &own, value) < 0) return false;
  return add_store(f, idx, value, &own, &dest);
}

tt_fuse_result tt__fuse_roots(tt_fuser *f, const int32_t *root, int nroot) {
  for (int i = 0; i < nroot; i++) assert(root[i] >= 0 && root[i] < f->walk->n);
  assert(nroot > 0 && nroot <= TT_FUSE_ROOT);
  for (int i = 0; i < f->nmemo; i++) f->memo_head[f->memo[i].node] = -1;
  f->ninst = f->naccess = f->nreduce = f->noperand = f->nliteral = f->nmemo = f->nroot = 0;
  f->text = 0;
  f->inside = 0;
  f->dep = f->need = -1;
  f->split.axis = -1;
  f->serial = false;
  tt__arena_free(&f->scratch);
  if (nroot > TT_FUSE_ROOT) return TT_FUSE_REFUSE;
  for (int i = 0; i < nroot; i++)
    if (!add_root(f, root[i])) return outcome(f);
  return TT_FUSE_OK;
}
