/*
** The scheduling stage, top down: weigh the nodes, then bring every target into memory,
** first what it needs and then itself, each as one fused kernel; join it to an earlier
** step where that saves a pass over memory.
*/
#include "sched/sched.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "ir/user/call.h"
#include "ir/library.h"
#include "ir/ops.h"
#include "sched/fuse.h"

/* A joined kernel keeps to this many instructions and operands: more streams than that only fight for cache. */
#define JOIN_INST 192
#define JOIN_MORE 24
#define JOIN_OPERANDS 16
#define JOIN_BACK 4
#define JOIN_SMALL 65536
/* Computing this much work in two kernels costs more than storing it once. */
#define TWICE_WEIGHT 12
#define ROUNDS 4

typedef struct scheduler {
  tt_fuser f;
  tt_plan *plan;
  tt_error *err;
} scheduler;

static tt_code materialise(scheduler *s, int32_t idx, const char *why);

static bool is_elementwise(const tt_node *n) { return n->op < TT_OP_COUNT; }

/* ---- passes over the walk */

static void weigh(tt_fuser *f) {
  for (int i = 0; i < f->walk->n; i++) {
    tt_node *n = f->walk->node[i];
    unsigned w = 0;
    bool reduces = n->op == TT_N_REDUCE;
    if (n->op != TT_N_BUFFER && !f->cut[i]) {
      if (is_elementwise(n)) w = tt__ops[n->op].flags & TT_OPF_SLOW ? 8 : 1;
      if (n->op == TT_N_GATHER) w = 2;
      for (int k = 0; k < n->nsrc; k++) {
        w += f->weight[n->src[k]->slot];
        reduces |= f->reduces[n->src[k]->slot] != 0;
      }
    }
    f->weight[i] = (uint16_t)(w > 60000 ? 60000 : w);
    f->reduces[i] = reduces && n->op != TT_N_BUFFER && !f->cut[i];
  }
}

/* What an earlier evaluation computed and threw away is kept this time: a loop that looks at each turn stays linear. */
static void cut_seen(tt_fuser *f) {
  if (f->walk->is_step) {
    tt__keep_seen(f);
    return;
  }
  for (int i = 0; i < f->walk->n; i++) {
    tt_node *n = f->walk->node[i];
    if ((n->flags & TT_NODE_SEEN) && (is_elementwise(n) || n->op == TT_N_REDUCE || n->op == TT_N_GATHER)) f->cut[i] = 1;
  }
}

/* Something that so many kernels compute. */
static bool is_worth_storing(const tt_fuser *f, const tt_node *n, int kernels) {
  bool reduces = n->op == TT_N_REDUCE;
  if (f->walk->is_step) return (reduces || is_elementwise(n)) && tt__keeps(f, n->slot, kernels);
  return reduces || (is_elementwise(n) && f->weight[n->slot] >= TWICE_WEIGHT);
}

/* So many kernels would not compute a value if what is above it were stored: due to node `by` - 1, or to several. */
typedef struct spared {
  int32_t kernels, by;
} spared;
#define BY_SEVERAL (-1)

/* More of them: those that one node spares are the same ones, whatever the way from it. */
static void add_spared(spared *to, spared more) {
  if (to->by == more.by && more.by != BY_SEVERAL) {
    if (to->kernels < more.kernels) to->kernels = more.kernels;
    return;
  }
  to->kernels += more.kernels;
  to->by = to->by ? BY_SEVERAL : more.by;
}

/*
** Values that several kernels compute, and would if those above them were stored: that many in kernels, else 0. Kernels
** that share two values above count as those of both, so that of such values the lower is left for the next round.
*/
static void count_kernels(const tt_fuser *f, spared *at) {
  memset(at, 0, sizeof *at * (size_t)f->walk->n);
  for (int i = f->walk->n - 1; i >= 0; i--) {
    const tt_node *n = f->walk->node[i];
    spared below = at[i];
    int32_t left = f->uses[i] - below.kernels;
    bool stored = n->op == TT_N_BUFFER || n->op == TT_N_LIB || f->cut[i];
    bool several = left >= 2 && !stored && is_worth_storing(f, n, left);
    at[i].kernels = several ? left : 0;
    if (several) below = (spared){f->uses[i] - 1, i + 1};
    for (int k = 0; k < n->nsrc && !stored && below.kernels > 0; k++) add_spared(&at[n->src[k]->slot], below);
  }
}

/* From below, where what is stored already makes those above it cheap. */
static bool cut_computed_twice(tt_fuser *f, spared *at) {
  bool any = false;
  count_kernels(f, at);
  for (int i = 0; i < f->walk->n; i++) {
    if (at[i].kernels < 2 || !is_worth_storing(f, f->walk->node[i], at[i].kernels)) continue;
    f->cut[i] = 1;
    any = true;
  }
  return any;
}

/* ---- steps */

static tt_code no_memory(scheduler *s) { return tt__fail(s->err, TT_ENOMEM, "out of memory while planning"); }

static tt_step *new_step(scheduler *s) {
  tt_plan *p = s->plan;
  if (p->n == p->cap) {
    int cap = p->cap ? 2 * p->cap : 8;
    tt_step *grown = tt__mem_realloc(p->step, sizeof(tt_step) * (size_t)p->cap, sizeof(tt_step) * (size_t)cap);
    if (!grown) return NULL;
    p->step = grown;
    p->cap = cap;
  }
  memset(&p->step[p->n], 0, sizeof(tt_step));
  return &p->step[p->n];
}

/* `joined`: the kernel replaces one whose values are counted already. */
static void count_uses(tt_fuser *f, bool joined) {
  for (int i = 0; i < f->nmemo; i++) {
    int32_t node = f->memo[i].node;
    bool first = true;
    for (int j = 0; j < i && first; j++) first = f->memo[j].node != node;
    if (first && !f->cut[node] && f->uses[node] < 255 && !(joined && f->uses[node])) f->uses[node]++;
  }
}

/* The operand of `idx` that is computed last, among those a kernel would compute itself; -1: none. Views and folds are
 * no work of their own to store: what is below them is. */
static int32_t computed_operand(const tt_fuser *f, int32_t idx) {
  const tt_node *n = f->walk->node[idx];
  int32_t found = -1;
  for (int k = 0; k < n->nsrc; k++) {
    const tt_node *s = n->src[k];
    while ((s->op == TT_N_VIEW || s->op == TT_N_REDUCE) && f->step_of[s->slot] < 0 && !f->cut[s->slot]) s = s->src[0];
    if (is_elementwise(s) && f->step_of[s->slot] < 0 && !f->cut[s->slot] && s->slot > found) found = s->slot;
  }
  return found;
}

/* A kernel too long for its own root is cut in the middle of its longest chain, so that the chain becomes equal
 * pieces. */
static int32_t halfway(const tt_fuser *f, int32_t idx) {
  int deep = 0;
  for (int32_t at = computed_operand(f, idx); at >= 0; at = computed_operand(f, at)) deep++;
  for (deep = (deep + 1) / 2; deep > 0; deep--) idx = computed_operand(f, idx);
  return idx;
}

/* Fuse the roots into one step, bringing what they need into memory on the way. `why`: it is a step. */
static tt_code fuse_alone(scheduler *s, int32_t idx, const char *why) {
  tt_fuser *f = &s->f;
  f->ncutting = 0;
  for (;;) {
    switch (tt__fuse_roots(f, &idx, 1)) {
      case TT_FUSE_OK:
        f->why = why; /* visits have left theirs */
        return TT_OK;
      case TT_FUSE_NOMEM:
        return no_memory(s);
      case TT_FUSE_SPLIT_AXIS:
        f->cutting[f->ncutting++] = f->split;
        break;
      case TT_FUSE_REFUSE:
        return tt__fail(s->err, TT_EINTERNAL, "sched: node %d cannot be expressed as a kernel", idx);
      case TT_FUSE_NEED: {
        int32_t needed = f->need;
        const char *its_why = f->why;
        if (needed == idx) needed = halfway(f, idx);
        if (needed == idx) return tt__fail(s->err, TT_EINTERNAL, "sched: node %d needs itself: %s", idx, its_why);
        tt_split cutting[TT_FUSE_SPLIT];
        int ncutting = f->ncutting;
        memcpy(cutting, f->cutting, sizeof cutting);
        f->cut[needed] = 1;
        TT_TRY(materialise(s, needed, its_why));
        memcpy(f->cutting, cutting, sizeof cutting);
        f->ncutting = ncutting;
        break;
      }
    }
  }
}

/* Would the joined attempt in f save something over the two apart? A root that is nearly there already always does. */
static bool join_pays(const tt_fuser *f, const tt_step *old, int naccess_alone, int64_t points) {
  bool is_short = f->ninst <= JOIN_INST || f->ninst <= old->ninst + JOIN_MORE;
  if (f->text > TT_TEXT_MOST || !is_short || f->noperand > JOIN_OPERANDS) return false;
  bool shares = f->naccess < old->naccess + naccess_alone;
  return shares || points <= JOIN_SMALL;
}

static int64_t step_points(const tt_step *st) {
  int64_t n = 1;
  for (int k = 0; k < st->space.naxes; k++) n *= st->space.len[k];
  return n;
}

/* A root that fuses alone. */
typedef struct lone_root {
  int32_t node, dep;
  int32_t reads; /* the largest operand; -1: none */
  int naccess, ninst;
  tt_pinst inst[TT_FUSE_INST];
} lone_root;

/* Does the step begin with the same instructions? Then the two may be one launch without being one text (many.c). */
static bool begins_alike(const tt_step *st, const lone_root *alone) {
  if (st->nouter != st->space.naxes) return false;
  tt_step head = *st, root = {.kind = TT_STEP_KERNEL, .ninst = alone->ninst};
  root.inst = (tt_pinst *)(uintptr_t)alone->inst;
  if (head.ninst > root.ninst) head.ninst = root.ninst;
  return tt__step_is_alike(&head, &root);
}

/* Try to make the root part of step t. */
static bool join_step(scheduler *s, const lone_root *alone, int t, tt_code *code) {
  tt_fuser *f = &s->f;
  tt_step *st = &s->plan->step[t], joined;
  int32_t root[TT_FUSE_ROOT];
  if (st->kind != TT_STEP_KERNEL || st->nroot + 1 > TT_FUSE_ROOT) return false;
  for (int r = 0; r < st->nroot; r++) {
    root[r] = st->root[r].node;
    if (st->root[r].base >= 0) return false;
  }
  root[st->nroot] = alone->node;
  f->ncutting = 0;
  if (tt__fuse_roots(f, root, st->nroot + 1) != TT_FUSE_OK || f->dep >= t) return false;
  int64_t points = begins_alike(st, alone) ? INT64_MAX : step_points(st);
  if (f->space.naxes != st->space.naxes || !join_pays(f, st, alone->naccess, points)) return false;
  const char *why = st->why;
  if (!tt__fuse_commit(f, s->plan, &joined)) return *code = no_memory(s), true;
  *st = joined;
  st->why = why;
  f->step_of[alone->node] = t;
  count_uses(f, true);
  return true;
}

static int32_t largest_operand(const tt_fuser *f) {
  int32_t found = -1;
  for (int i = 0; i < f->noperand; i++) {
    int32_t node = f->operand[i].node;
    if (!f->operand[i].write && (found < 0 || f->walk->node[node]->size > f->walk->node[found]->size)) found = node;
  }
  return found;
}

static bool reads(const tt_step *st, int32_t node) {
  for (int i = 0; i < st->noperand; i++)
    if (!st->operand[i].write && st->operand[i].node == node) return true;
  return false;
}

/* Try to make root `idx`, which fuses alone, part of an earlier step: one of the last, the last one that reads the same
 * large value, or the one whose result it reads. */
static bool join_earlier(scheduler *s, int32_t idx, tt_code *code) {
  tt_fuser *f = &s->f;
  const tt_node *n = f->walk->node[idx];
  *code = TT_OK;
  if (!f->fuse || f->ncutting || f->serial || n->op == TT_N_STORE) return false;
  lone_root alone = {.node = idx, .dep = f->dep, .naccess = f->naccess, .ninst = f->ninst};
  memcpy(alone.inst, f->inst, sizeof *f->inst * (size_t)f->ninst);
  alone.reads = largest_operand(f);
  int t = s->plan->n - 1;
  for (int back = 0; t >= 0 && t >= alone.dep && back < JOIN_BACK; t--, back++)
    if (join_step(s, &alone, t, code)) return true;
  bool large = alone.reads >= 0 && f->walk->node[alone.reads]->size > JOIN_SMALL;
  for (int at = t; large && at > alone.dep; at--) {
    if (!reads(&s->plan->step[at], alone.reads)) continue;
    if (join_step(s, &alone, at, code)) return true;
    break;
  }
  return alone.dep >= 0 && t >= alone.dep && join_step(s, &alone, alone.dep, code);
}

/* Bring into memory what would keep a store, which was just attempted, from writing where the old value lies. */
static tt_code spare_copy(scheduler *s, int32_t idx, const char *why) {
  tt_fuser *f = &s->f;
  tt_before before;
  if (tt__fuse_before_store(f, idx, &before) != TT_OK) return no_memory(s);
  if (before.n == 0) return TT_OK;
  f->sparing[idx] = 1;
  for (int k = 0; k < before.n; k++) {
    f->cut[before.node[k]] = 1;
    TT_TRY(materialise(s, before.node[k], "a store would write over what it reads"));
  }
  f->sparing[idx] = 0;
  return f->step_of[idx] < 0 ? fuse_alone(s, idx, why) : TT_OK;
}

static tt_code schedule_kernel(scheduler *s, int32_t idx, const char *why) {
  tt_fuser *f = &s->f;
  TT_TRY(fuse_alone(s, idx, why));
  int op = f->walk->node[idx]->op;
  if (op == TT_N_STORE || op == TT_N_SCATTER) TT_TRY(spare_copy(s, idx, why));
  if (f->step_of[idx] >= 0) return TT_OK; /* somebody needed it on the way */
  tt_code code;
  if (join_earlier(s, idx, &code)) return code;
  if (f->nroot != 1 || f->root[0].node != idx) TT_TRY(fuse_alone(s, idx, why)); /* a vain join left its attempt */
  tt_step *st = new_step(s);
  if (!st || !tt__fuse_commit(f, s->plan, st)) return no_memory(s);
  count_uses(f, false);
  f->step_of[idx] = s->plan->n++;
  return TT_OK;
}

static bool in_memory(const tt_fuser *f, const tt_node *n) { return n->op == TT_N_BUFFER || f->step_of[n->slot] >= 0; }

/* All elements of a value in their order, from some place on. */
static bool is_run(tt_node *view) {
  int64_t run = 1;
  for (int d = view->rank - 1; d >= 0; d--) {
    if (tt__node_len(view)[d] > 1 && tt__node_step(view)[d] != run) return false;
    run *= tt__node_len(view)[d];
  }
  return true;
}

/* What a view is of, below views that are runs of others: a parameter that lies in a vector of all. */
static tt_node *seen_memory(const tt_fuser *f, tt_node *view, int64_t *off) {
  tt_node *n = view->src[0];
  *off = view->attr.off;
  for (; n->op == TT_N_VIEW && !in_memory(f, n) && is_run(n); n = n->src[0]) *off += n->attr.off;
  return n;
}

/* A library operand: the node itself in memory, or, where the row takes steps, a view of one. */
static tt_code library_operand(scheduler *s, tt_node *n, bool strided, tt_plib_src *out) {
  tt_fuser *f = &s->f;
  int64_t off = 0;
  tt_node *mem = strided && n->op == TT_N_VIEW && !in_memory(f, n) ? seen_memory(f, n, &off) : n;
  if (mem->op == TT_N_VIEW && !in_memory(f, mem)) mem = n;
  bool through = mem != n;
  if (!in_memory(f, mem)) {
    f->cut[mem->slot] = 1;
    TT_TRY(materialise(s, mem->slot, "a library reads it"));
  }
  *out = (tt_plib_src){.node = mem->slot, .rank = n->rank, .off = through ? off : 0};
  out->len = tt__arena_dup(&s->plan->arena, tt__node_len(n), sizeof(int64_t) * (size_t)n->rank);
  out->step = tt__arena_alloc(&s->plan->arena, sizeof(int64_t) * (size_t)n->rank);
  if (!out->len || !out->step) return no_memory(s);
  int64_t run = 1;
  for (int d = n->rank - 1; d >= 0; d--) {
    out->step[d] = through ? tt__node_step(n)[d] : run;
    run *= tt__node_len(n)[d];
  }
  return TT_OK;
}

static tt_code schedule_library(scheduler *s, int32_t idx) {
  tt_fuser *f = &s->f;
  tt_node *lib = f->walk->node[idx]->src[0];
  const tt_lib_row *row = lib->attr.lib->row;
  tt_plib_src *src = tt__arena_alloc(&s->plan->arena, sizeof *src * lib->nsrc);
  tt_proot *root = tt__arena_alloc(&s->plan->arena, sizeof *root * row->nout);
  if (!src || !root) return no_memory(s);
  for (int k = 0; k < lib->nsrc; k++) TT_TRY(library_operand(s, lib->src[k], row->strided, &src[k]));
  tt_step *st = new_step(s);
  if (!st) return no_memory(s);
  *st = (tt_step){.kind = TT_STEP_LIB, .lib = lib->slot, .src = src, .nsrc = lib->nsrc, .root = root, .why = row->name};
  for (int i = 0; i < f->walk->n; i++) {
    const tt_node *n = f->walk->node[i];
    if (n->op != TT_N_PICK || n->src[0] != lib || in_memory(f, n)) continue;
    root[st->nroot++] = (tt_proot){.node = i, .base = -1, .donor = -1};
    f->cut[i] = 1;
    f->step_of[i] = s->plan->n;
  }
  s->plan->n++;
  return TT_OK;
}

/* A launch: every operand in memory, then all that it writes in place of what was there. */
static tt_code schedule_call(scheduler *s, int32_t idx) {
  tt_fuser *f = &s->f;
  tt_node *call = f->walk->node[idx];
  const tt_kernel_call *c = call->attr.call;
  tt_plib_src *src = tt__arena_alloc(&s->plan->arena, sizeof *src * (size_t)c->noperand);
  tt_proot *root = tt__arena_alloc(&s->plan->arena, sizeof *root * (size_t)(c->noperand + 1));
  if (!src || !root) return no_memory(s);
  for (int k = 0; k < c->noperand; k++) {
    int32_t slot = tt__call_operand(call, k)->slot;
    f->cut[slot] = 1;
    TT_TRY(materialise(s, slot, "a launch takes it"));
    src[k] = (tt_plib_src){.node = slot};
  }
  tt_step *st = new_step(s);
  if (!st) return no_memory(s);
  *st = (tt_step){
      .kind = TT_STEP_CALL, .lib = idx, .src = src, .nsrc = c->noperand, .root = root, .nroot = 1, .why = "a launch"};
  root[0] = (tt_proot){.node = idx, .base = -1, .donor = -1};
  f->step_of[idx] = s->plan->n;
  for (int k = 0; k < c->noperand; k++) {
    if (!c->operand[k].pick) continue;
    root[st->nroot++] = (tt_proot){.node = c->operand[k].pick->slot, .base = src[k].node, .donor = -1};
    f->cut[c->operand[k].pick->slot] = 1;
    f->step_of[c->operand[k].pick->slot] = s->plan->n;
  }
  s->plan->n++;
  return TT_OK;
}

static tt_code schedule_empty(scheduler *s, int32_t idx, const char *why) {
  tt_proot root = {.node = idx, .base = -1, .donor = -1};
  tt_node *n = s->f.walk->node[idx];
  if (n->op == TT_N_STORE || n->op == TT_N_SCATTER ||
      n->op == TT_N_BITCAST) { /* nothing is written: the old value moves */
    root.base = n->src[0]->slot;
    TT_TRY(materialise(s, root.base, "its memory goes on"));
  }
  tt_step *st = new_step(s);
  if (!st) return no_memory(s);
  *st = (tt_step){.kind = TT_STEP_EMPTY, .nroot = 1, .lib = -1, .why = why};
  st->root = tt__arena_dup(&s->plan->arena, &root, sizeof root);
  if (!st->root) return no_memory(s);
  s->f.step_of[idx] = s->plan->n++;
  return TT_OK;
}

/* Bring node `idx` into memory, unless it is there; `why` it must be. */
static tt_code materialise(scheduler *s, int32_t idx, const char *why) {
  assert(why);
  tt_node *n = s->f.walk->node[idx];
  if (in_memory(&s->f, n)) return TT_OK;
  bool writes_over = n->op == TT_N_STORE || n->op == TT_N_SCATTER;
  if (n->op == TT_N_CALL) return schedule_call(s, idx);
  if (n->op == TT_N_PICK && n->src[0]->op == TT_N_CALL) return schedule_call(s, n->src[0]->slot);
  if (n->op == TT_N_EMPTY || n->size == 0) return schedule_empty(s, idx, "no element to compute");
  if (writes_over && n->src[1]->size == 0) return schedule_empty(s, idx, "nothing to write");
  if (n->op == TT_N_BITCAST) return schedule_empty(s, idx, "the same bytes as another type");
  if (n->op == TT_N_PICK) return schedule_library(s, idx);
  return schedule_kernel(s, idx, why);
}

static bool is_target(const tt_walk *w, int32_t idx) {
  int t = 0;
  while (t < w->ntarget && w->target[t] != idx) t++;
  return t < w->ntarget;
}

static tt_code schedule_once(scheduler *s) {
  tt_fuser *f = &s->f;
  for (int i = 0; i < f->walk->n; i++) {
    f->step_of[i] = f->memo_head[i] = -1;
    f->uses[i] = 0;
  }
  f->nmemo = 0;
  s->plan->n = 0;
  tt__arena_free(&s->plan->arena);
  weigh(f);
  for (int i = 0; i < f->walk->n; i++) { /* children first, so what was seen before is ready for its readers */
    tt_node *n = f->walk->node[i];
    bool keep = f->cut[i] && (is_elementwise(n) || n->op == TT_N_REDUCE || n->op == TT_N_GATHER);
    if (keep) TT_TRY(materialise(s, i, is_target(f->walk, i) ? "asked for" : "others need it in memory"));
  }
  for (int t = 0; t < f->walk->ntarget; t++) {
    f->cut[f->walk->target[t]] = 1;
    TT_TRY(materialise(s, f->walk->target[t], "asked for"));
  }
  return TT_OK;
}

tt_code tt__schedule(const tt_walk *walk, const tt_sched_options *options, tt_plan **out, tt_error *err) {
  for (int i = 0; i < walk->ntarget; i++) assert(walk->target[i] >= 0 && walk->target[i] < walk->n);
  assert(walk->n > 0 && walk->ntarget > 0);
  *out = NULL;
  tt_arena arena = {0};
  size_t n = (size_t)walk->n;
  scheduler *s = tt__arena_alloc(&arena, sizeof *s);
  tt_plan *plan = tt__mem_zalloc(sizeof *plan);
  tt_code code = TT_ENOMEM;
  if (!s || !plan) goto done;
  plan->nnode = walk->n;
  s->plan = plan;
  s->err = err;
  tt_fuser *f = &s->f;
  f->walk = walk;
  f->fuse = options->fuse;
  f->few_rows = options->few_rows;
  f->keep = options->keep;
  f->cut = tt__arena_alloc(&arena, n);
  f->step_of = tt__arena_alloc(&arena, n * sizeof *f->step_of);
  f->weight = tt__arena_alloc(&arena, n * sizeof *f->weight);
  f->reduces = tt__arena_alloc(&arena, n);
  f->uses = tt__arena_alloc(&arena, n);
  f->memo_head = tt__arena_alloc(&arena, n * sizeof *f->memo_head);
  f->sparing = tt__arena_alloc(&arena, n);
  f->others = tt__arena_alloc(&arena, n);
  spared *kernels = tt__arena_alloc(&arena, n * sizeof *kernels);
  if (!kernels || !f->cut || !f->step_of || !f->weight || !f->reduces || !f->uses || !f->memo_head) goto done;
  if (!f->sparing || !f->others) goto done;
  for (int t = 0; t < walk->ntarget; t++) f->cut[walk->target[t]] = 1;
  cut_seen(f);
  if (f->fuse && !tt__fuse_segments(f, &arena)) goto done;
  for (int round = 0; round < ROUNDS; round++) {
    code = schedule_once(s);
    if (code != TT_OK || !cut_computed_twice(f, kernels)) break;
  }
  tt__arena_free(&f->scratch);
  if (code == TT_OK && !tt__settle_memory(walk, plan, &arena)) code = TT_ENOMEM;
done:
  if (code == TT_ENOMEM) tt__fail(err, TT_ENOMEM, "out of memory while planning");
  assert(code != TT_OK || !tt__plan_check(plan));
  if (code == TT_OK)
    *out = plan;
  else
    tt__plan_free(plan);
  tt__arena_free(&arena);
  return code;
}
