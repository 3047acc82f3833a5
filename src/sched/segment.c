/*
** Segments: where a graph too long for one kernel is cut, so that no compiler gets more than TT_TEXT_MOST of a text and
** a loop that was recorded becomes equal kernels.
**
** Going through the nodes, children first, we know how much text a kernel of each would be. Above the bound, the cut is
** made at an earlier node of the chain, and of those in the upper half of the segment at the one whose surroundings
** hash lowest: wherever a segment begins, it ends at the same place of the loop's body. The bodies in between are one
** kernel, compiled once.
*/
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "ir/ops.h"
#include "sched/fuse.h"

/* How far around a node its hash looks. */
#define ROUNDS 4

typedef struct segments {
  tt_fuser *f;
  uint64_t *sign;  /* hash of what is around the node below it; equal in each turn of a loop */
  int32_t *text;   /* of a kernel that computes the node; at most what is in memory counts for nothing */
  int32_t *own;    /* of the node alone */
  int32_t *oldest; /* the first node of that kernel */
  int64_t *all;    /* of all nodes up to this one */
} segments;

static bool is_elementwise(const tt_node *n) { return n->op < TT_OP_COUNT; }

static bool is_computed(const tt_node *n) {
  return is_elementwise(n) || n->op == TT_N_REDUCE || n->op == TT_N_GATHER || n->op == TT_N_VIEW ||
         n->op == TT_N_CONST || n->op == TT_N_IOTA;
}

static int32_t own_text(const tt_node *n) {
  enum { OPERAND = 2, BY_INDEX = 8 };
  if (is_elementwise(n)) return tt__op_text((tt_op)n->op, (tt_dtype)(n->nsrc ? n->src[n->nsrc - 1]->dtype : n->dtype));
  if (n->op == TT_N_REDUCE) return TT_TEXT_REDUCE;
  if (n->op == TT_N_GATHER) return BY_INDEX;
  return n->op == TT_N_VIEW ? 0 : OPERAND;
}

/* The sum over the operands counts shared ones several times; all that was recorded since the oldest, what is not
 * below. Either is a bound. */
static void weigh(segments *s, int32_t i) {
  const tt_fuser *f = s->f;
  const tt_node *n = f->walk->node[i];
  int64_t sum = s->own[i];
  s->oldest[i] = i;
  for (int k = 0; k < n->nsrc && is_computed(n); k++) {
    int32_t at = n->src[k]->slot;
    if (f->cut[at] || !is_computed(n->src[k])) continue;
    sum += s->text[at];
    if (s->oldest[at] < s->oldest[i]) s->oldest[i] = s->oldest[at];
  }
  int64_t since = s->all[i] - s->all[s->oldest[i]] + s->own[s->oldest[i]];
  s->text[i] = (int32_t)(sum < since ? sum : since);
}

/* The operand with the longest text of those that are computed in the same kernel; -1: none. */
static int32_t longest(const segments *s, int32_t i) {
  const tt_node *n = s->f->walk->node[i];
  int32_t found = -1;
  for (int k = 0; k < n->nsrc; k++) {
    int32_t at = n->src[k]->slot;
    if (s->f->cut[at] || !is_computed(n->src[k])) continue;
    if (found < 0 || s->text[at] > s->text[found]) found = at;
  }
  return found;
}

/* Where to cut below `i`, which is too long; -1: nowhere. */
static int32_t choose(const segments *s, int32_t i) {
  int32_t best = -1;
  for (int32_t at = longest(s, i); at >= 0; at = longest(s, at)) {
    const tt_node *n = s->f->walk->node[at];
    if (best >= 0 && s->text[at] < TT_TEXT_MOST / 2) break;
    if (!is_elementwise(n) && n->op != TT_N_REDUCE) continue;
    if (best < 0 || s->sign[at] < s->sign[best]) best = at;
  }
  return best;
}

static void sign(segments *s, uint64_t *before) {
  const tt_walk *w = s->f->walk;
  for (int i = 0; i < w->n; i++) {
    const tt_node *n = w->node[i];
    s->sign[i] = tt__hash_mix(tt__hash_mix(n->op, n->dtype), (uint64_t)n->size);
  }
  for (int round = 0; round < ROUNDS; round++) {
    memcpy(before, s->sign, sizeof *before * (size_t)w->n);
    for (int i = 0; i < w->n; i++) {
      const tt_node *n = w->node[i];
      for (int k = 0; k < n->nsrc && is_computed(n); k++)
        s->sign[i] = tt__hash_mix(s->sign[i], before[n->src[k]->slot]);
    }
  }
}

bool tt__fuse_segments(tt_fuser *f, tt_arena *arena) {
  assert(f->walk->n > 0);
  size_t n = (size_t)f->walk->n;
  int64_t total = 0;
  for (size_t i = 0; i < n; i++) total += is_computed(f->walk->node[i]) ? own_text(f->walk->node[i]) : 0;
  if (total <= TT_TEXT_MOST) return true;
  segments s = {.f = f,
                .sign = tt__arena_alloc(arena, n * sizeof *s.sign),
                .text = tt__arena_alloc(arena, n * sizeof *s.text),
                .own = tt__arena_alloc(arena, n * sizeof *s.own),
                .oldest = tt__arena_alloc(arena, n * sizeof *s.oldest),
                .all = tt__arena_alloc(arena, n * sizeof *s.all)};
  uint64_t *before = tt__arena_alloc(arena, n * sizeof *before);
  if (!s.sign || !s.text || !s.own || !s.oldest || !s.all || !before) return false;
  sign(&s, before);
  for (int32_t i = 0; i < f->walk->n; i++) {
    s.own[i] = is_computed(f->walk->node[i]) ? own_text(f->walk->node[i]) : 0;
    s.all[i] = (i ? s.all[i - 1] : 0) + s.own[i];
    weigh(&s, i);
    while (s.text[i] > TT_TEXT_MOST) {
      int32_t at = choose(&s, i);
      if (at < 0) break;
      f->cut[at] = 1;
      for (int32_t j = at + 1; j <= i; j++) weigh(&s, j);
    }
  }
  return true;
}
