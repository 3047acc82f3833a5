/*
** Memory for results; see memory.h. Session lock held.
*/
#include "run/memory.h"

#include <assert.h>
#include <string.h>

#include "base/pool/pool.h"
#include "graph/build.h"
#include "graph/session.h"

#define MOST_INSIDE 1024
#define COPY_GRAIN (1 << 20)

/* The unevaluated nodes below the roots of a step, children first, with the references that die with the step. */
typedef struct inside {
  tt_node *node[MOST_INSIDE];
  int32_t dying[MOST_INSIDE];
  int n;
} inside;

static int collect(inside *in, tt_node *n, uint32_t stamp) {
  if (n->mark == stamp) return n->slot;
  n->mark = stamp;
  if (n->op != TT_N_BUFFER)
    for (int k = 0; k < n->nsrc; k++)
      if (collect(in, n->src[k], stamp) < 0) return -1;
  if (in->n == MOST_INSIDE) return -1;
  in->node[in->n] = n;
  in->dying[in->n] = 0;
  return n->slot = in->n++;
}

/* Count, parents first, the references from nodes that nobody will hold once the roots have dropped their operands. */
static bool count_dying(inside *in, const tt_walk *walk, const tt_step *step) {
  uint32_t stamp = tt__session_stamp();
  in->n = 0;
  for (int r = 0; r < step->nroot; r++)
    if (collect(in, walk->node[step->root[r].node], stamp) < 0) return false;
  for (int i = in->n - 1; i >= 0; i--) {
    tt_node *n = in->node[i];
    bool root = false;
    for (int r = 0; r < step->nroot; r++) root |= walk->node[step->root[r].node] == n;
    if (n->op == TT_N_BUFFER || (!root && in->dying[i] < n->refs)) continue;
    for (int k = 0; k < n->nsrc; k++) in->dying[n->src[k]->slot]++;
  }
  return true;
}

/* `held`: the plan has one hold, which ends with the step. */
static bool dies(const inside *in, const tt_node *n, bool held) {
  const tt_buffer *b = n->op == TT_N_BUFFER ? n->attr.buf : NULL;
  if (!b || b->refs != 1 || b->readonly || n->slot < 0 || n->slot >= in->n || in->node[n->slot] != n) return false;
  return in->dying[n->slot] + held == n->refs;
}

/* ---- what a store leaves of the value it writes over */

typedef struct copy_job {
  char *to;
  const char *from;
} copy_job;

static void copy_piece(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const copy_job *c = ctx;
  memcpy(c->to + lo, c->from + lo, (size_t)(hi - lo));
}

void tt__memory_copy(void *to, const void *from, int64_t n) {
  assert(n >= 0);
  copy_job c = {to, from};
  if (n > 0) tt__pool_run(n, COPY_GRAIN, copy_piece, &c);
}

/* The view of a STORE as nested runs of memory: axes by falling positive step, the last of step 1. */
bool tt__memory_runs(tt_node *store, tt_runs *out) {
  assert(store->op == TT_N_STORE && store->nsrc == 2);
  tt_node *value = store->src[1];
  out->rank = 0;
  out->off = store->attr.off;
  for (int d = 0; d < value->rank; d++) {
    if (tt__node_len(value)[d] == 1) continue;
    out->len[out->rank] = tt__node_len(value)[d];
    out->step[out->rank++] = tt__node_step(store)[d];
  }
  for (int i = 0; i < out->rank; i++) {
    int64_t inner = 1 + (i + 1 < out->rank ? (out->len[i + 1] - 1) * out->step[i + 1] : 0);
    if (out->step[i] < inner) return false; /* reversed, broadcast or interleaved */
  }
  return out->rank > 0 && out->step[out->rank - 1] == 1;
}

/* Copy the elements that the store does not write. */
static void copy_around(tt_node *store, char *to, const char *from) {
  assert(store->op == TT_N_STORE && to != from);
  tt_runs v;
  int64_t size = (int64_t)tt__dtype_size((tt_dtype)store->dtype), total = store->size * size;
  if (!tt__memory_runs(store, &v)) {
    tt__memory_copy(to, from, total);
    return;
  }
  int64_t at = 0, index[TT_MAX_RANK] = {0}, run = v.len[v.rank - 1] * size, begin = store->attr.off * size;
  for (;;) {
    tt__memory_copy(to + at, from + at, begin - at);
    at = begin + run;
    int d = v.rank - 2;
    for (; d >= 0; d--) {
      begin += v.step[d] * size;
      if (++index[d] < v.len[d]) break;
      begin -= v.len[d] * v.step[d] * size;
      index[d] = 0;
    }
    if (d < 0) break;
  }
  tt__memory_copy(to + at, from + at, total - at);
}

/* ---- results */

static tt_code fresh(tt_node *n, tt_buffer **out, tt_error *err) {
  *out = tt__buffer_new((size_t)n->size * tt__dtype_size((tt_dtype)n->dtype), err);
  return *out ? TT_OK : TT_ENOMEM;
}

/* Whose memory could become the root's if nobody but the plan holds it, or NULL. An array's value does not. */
static tt_node *candidate(const tt_walk *walk, const tt_step *step, const tt_proot *root) {
  assert(root->donor < step->noperand);
  tt_node *n = root->base >= 0    ? (root->in_place ? walk->node[root->base] : NULL)
               : root->donor >= 0 ? walk->node[step->operand[root->donor].node]
                                  : NULL;
  return n && n->held == 0 ? n : NULL;
}

void tt__memory_donors(const tt_walk *walk, const tt_step *step, tt_buffer **donor) {
  assert(step->nroot > 0 && step->nroot <= TT_MOST_ROOTS);
  bool hope = false;
  for (int r = 0; r < step->nroot; r++) hope |= candidate(walk, step, &step->root[r]) != NULL;
  inside in;
  in.n = 0;
  if (hope && !count_dying(&in, walk, step)) in.n = 0;
  for (int r = 0; r < step->nroot; r++) {
    const tt_proot *root = &step->root[r];
    tt_node *n = hope ? candidate(walk, step, root) : NULL;
    bool borrowed = n && n->op == TT_N_BUFFER && n->attr.buf->drop; /* only a store writes into what is the caller's */
    donor[r] = n && in.n && dies(&in, n, walk->held) && !(borrowed && root->base < 0) ? n->attr.buf : NULL;
  }
}

static tt_code result_of(const tt_walk *walk, const tt_proot *root, tt_buffer *donor, tt_buffer **out, tt_error *err) {
  assert(root->base < 0 || walk->node[root->base]->op == TT_N_BUFFER);
  assert(!donor ||
         donor->size >= (size_t)walk->node[root->node]->size * tt__dtype_size((tt_dtype)walk->node[root->node]->dtype));
  tt_node *n = walk->node[root->node];
  if (donor) {
    tt__buffer_only_host(donor);
    *out = tt__buffer_retain(donor);
    return TT_OK;
  }
  TT_TRY(fresh(n, out, err));
  if (root->base < 0) return TT_OK;
  tt_node *base = walk->node[root->base];
  TT_COUNT(kept_bytes, (int64_t)(*out)->size);
  if (n->op == TT_N_STORE)
    copy_around(n, (*out)->data, base->attr.buf->data);
  else
    tt__memory_copy((*out)->data, base->attr.buf->data, (int64_t)(*out)->size);
  return TT_OK;
}

tt_code tt__memory_results(const tt_walk *walk, const tt_step *step, tt_buffer **result, tt_error *err) {
  assert(step->nroot > 0 && step->nroot <= TT_MOST_ROOTS);
  tt_buffer *donor[TT_MOST_ROOTS];
  tt__memory_donors(walk, step, donor);
  for (int r = 0; r < step->nroot; r++) {
    tt_code code = result_of(walk, &step->root[r], donor[r], &result[r], err);
    if (code == TT_OK) continue;
    while (r-- > 0) tt__buffer_release(result[r]);
    return code;
  }
  return TT_OK;
}

bool tt__memory_in_place(const tt_walk *walk, const tt_step *step, tt_buffer *const *result) {
  for (int r = 0; r < step->nroot; r++) {
    for (int i = 0; i < step->noperand; i++) {
      const tt_node *n = walk->node[step->operand[i].node];
      if (n->op == TT_N_BUFFER && n->attr.buf == result[r]) return true;
    }
    if (step->root[r].base >= 0 && walk->node[step->root[r].base]->attr.buf == result[r]) return true;
  }
  return false;
}
