/*
** What a store should find in memory, so that it may write where the old value lies: its own value, if that is computed
** from elements that the store writes, and what others are still to read of the old value. Both is done where it moves
** less than a copy of all that the store leaves. Whether it then is in place is for liveness.c to see.
*/
#include <assert.h>
#include <string.h>

#include "sched/fuse.h"

static bool in_memory(const tt_fuser *f, const tt_node *n) { return n->op == TT_N_BUFFER || f->step_of[n->slot] >= 0; }

/* Does the attempt, which is this store alone, read elements of the old value that it may have written by then? */
static tt_code reads_what_it_writes(const tt_fuser *f, int32_t base, bool *out) {
  bool reads = false;
  for (int i = 0; i < f->noperand; i++) reads |= f->operand[i].node == base && !f->operand[i].write;
  *out = false;
  if (!reads) return TT_OK;
  tt_plan alone = {0};
  tt_step step;
  bool made = tt__fuse_commit((tt_fuser *)f, &alone, &step);
  if (made) *out = !tt__step_may_overwrite(&step, 0, base);
  tt__arena_free(&alone.arena);
  return made ? TT_OK : TT_ENOMEM;
}

static bool has_source(const tt_node *n, const tt_node *src) {
  for (int k = 0; k < n->nsrc; k++)
    if (n->src[k] == src) return true;
  return false;
}

/* Which values are still to be computed, or read, for the sake of others than the store, and which wait for it. */
static void mark(tt_fuser *f, int32_t store) {
  const tt_walk *w = f->walk;
  memset(f->others, 0, (size_t)w->n * sizeof *f->others);
  for (int t = 0; t < w->ntarget; t++) f->others[w->target[t]] = TT_OTHERS_WANT;
  for (int32_t i = w->n - 1; i >= 0; i--) {
    const tt_node *n = w->node[i];
    if (!f->others[i] || i == store || in_memory(f, n)) continue;
    for (int k = 0; k < n->nsrc; k++) f->others[n->src[k]->slot] |= TT_OTHERS_WANT;
  }
  f->others[store] |= TT_OTHERS_WAIT;
  for (int32_t i = store + 1; i < w->n; i++) {
    const tt_node *n = w->node[i];
    for (int k = 0; k < n->nsrc && n->op != TT_N_BUFFER; k++)
      f->others[i] |= f->others[n->src[k]->slot] & TT_OTHERS_WAIT;
  }
}

/* Add what others are to read of the old value, a part at a time. False: all of it, or later than the store. */
static bool add_readers(tt_fuser *f, int32_t store, tt_before *b) {
  const tt_node *base = f->walk->node[store]->src[0];
  mark(f, store);
  for (int t = 0; t < f->walk->ntarget; t++)
    if (f->walk->target[t] == base->slot) return false;
  for (int32_t i = 0; i < f->walk->n; i++) {
    tt_node *n = f->walk->node[i];
    if (!(f->others[i] & TT_OTHERS_WANT) || i == store || in_memory(f, n) || !has_source(n, base)) continue;
    bool reads_part = (n->op == TT_N_VIEW || n->op == TT_N_GATHER) && n->src[0] == base;
    if (!reads_part || f->others[i] & TT_OTHERS_WAIT || b->n == TT_MOST_BEFORE) return false;
    b->node[b->n++] = i;
    b->elements += n->size;
  }
  return true;
}

tt_code tt__fuse_before_store(tt_fuser *f, int32_t store, tt_before *out) {
  const tt_node *n = f->walk->node[store];
  assert((n->op == TT_N_STORE || n->op == TT_N_SCATTER) && f->nroot == 1 && f->root[0].node == store);
  *out = (tt_before){.n = 0};
  if (f->sparing[store] || n->src[1]->size >= n->size) return TT_OK;
  bool overlaps;
  int64_t left = n->size - n->src[1]->size;
  if (reads_what_it_writes(f, n->src[0]->slot, &overlaps) != TT_OK) return TT_ENOMEM;
  for (int k = 1; k < n->nsrc && overlaps; k++) {
    if (in_memory(f, n->src[k]) || n->src[k]->op == TT_N_CONST || n->src[k]->op == TT_N_IOTA) continue;
    out->node[out->n++] = n->src[k]->slot;
    out->elements += n->src[k]->size;
  }
  if (!add_readers(f, store, out) || out->elements >= left) out->n = 0;
  return TT_OK;
}
