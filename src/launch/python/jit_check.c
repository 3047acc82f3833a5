/*
** Checked launches of Python kernels on the CPU: the rendered text runs one thread and tells what it does; threads are
** fibers, as those of CUDA C kernels are, under the same check.
*/
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ir/dtype.h"
#include "lang/cuda_c/run.h"
#include "lang/cuda_c/team.h"
#include "launch/python/jit.h"

enum { GAP = 1024 }; /* bytes between two shared arrays: what lies beyond one is no other */

typedef struct checked {
  const struct tt_jit *j;
  tt_pcall *call;
  const tt_grid *launch;
  int64_t *word; /* a copy: arrays are moved */
  char *local;   /* private arrays: of the threads of a block, of all blocks that wait for each other */
  size_t local_size;
} checked;

static void say_line(void *ctx, uint32_t site, char *out, size_t size) {
  (void)ctx;
  snprintf(out, size, "line %u", site);
}

static void run_thread(const tt_cudac_grid *g, void *const *arg, long block, unsigned thread) {
  checked *c = arg[0];
  tt_pcall *call = c->call;
  if (c->j->program.grid) call->local = c->local + block * c->j->local * TT_TEAM_MAX;
  const uint32_t *grid = c->launch->grid, *dim = c->launch->block;
  call->shared = g->dynamic_shared;
  int64_t at[9] = {block, thread, dim[0], dim[1], dim[2], grid[0], grid[1], grid[2], c->launch->shared};
  if (!*call->failed) c->j->fn(call, c->word, at);
  if (*call->failed) call->leaves(); /* it has a reason not to reach a barrier */
}

/* ---- areas */

static void name_type(const tt_ptype *t, const int64_t *len, tt_check_area *a) {
  size_t n = (size_t)snprintf(a->type, sizeof a->type, "%s[", tt__dtypes[t->dtype].name);
  for (int k = 0; k < t->rank && n < sizeof a->type; k++)
    n += (size_t)snprintf(a->type + n, sizeof a->type - n, k ? ", %lld" : "%lld", (long long)len[k]);
  if (n < sizeof a->type) snprintf(a->type + n, sizeof a->type - n, "]");
  a->rank = t->rank;
  memcpy(a->len, len, (size_t)t->rank * sizeof *len);
  a->item = (int)tt__dtype_size((tt_dtype)t->dtype);
}

/* "a.1" is another meaning of the name "a". */
static void put_name(tt_check_area *a, const char *name) {
  snprintf(a->name, sizeof a->name, "%.*s", (int)strcspn(name, "."), name);
}

/* The arrays in the words of a value: a pointer, lengths, steps in elements, or bytes. */
static tt_code add_value(tt_check *c, const tt_ptype *t, int64_t *word, const tt_check_area *like, bool writes,
                         tt_error *err) {
  if (t->tag == TT_T_TUPLE) {
    for (int k = 0; k < t->n; k++) {
      TT_TRY(add_value(c, t->item[k], word, like, writes, err));
      word += tt__ptype_words(t->item[k]);
    }
    return TT_OK;
  }
  if (t->tag != TT_T_ARRAY) return TT_OK;
  tt_check_area a = *like;
  int64_t item = (int64_t)tt__dtype_size((tt_dtype)t->dtype), unit = t->layout == 'P' ? 1 : item, low = 0, high = item;
  for (int k = 0; k < t->rank; k++) {
    int64_t reach = (word[1 + k] - 1) * word[1 + t->rank + k] * unit;
    if (word[1 + k] == 0) return TT_OK;
    low += reach < 0 ? reach : 0;
    high += reach > 0 ? reach : 0;
  }
  name_type(t, word + 1, &a);
  if (t->layout != 'C') a.rank = 0; /* by its place in memory */
  a.base = (char *)(intptr_t)word[0] + low;
  a.size = (size_t)(high - low);
  void **slot = (void **)word;
  return tt__check_array(c, &a, slot, writes && !t->readonly) ? TT_OK : tt__fail_memory(err, sizeof a);
}

/* The name under which statements know shared array k. */
static const char *shared_name(const tt_pfunc *f, const tt_pstmt *s, int k) {
  for (; s; s = s->next) {
    if (s->op == TT_X_SET && s->a->op == TT_X_SHARED && s->a->k == k) return f->locals.data[s->local].name;
    const char *inner = shared_name(f, s->body, k);
    if (!inner) inner = shared_name(f, s->other, k);
    if (inner) return inner;
  }
  return NULL;
}

/* Shared arrays in `memory`, which is NULL while their size is asked. */
static size_t place_shared(const struct tt_jit *j, char *memory, char **slot, tt_check *c, bool *ok) {
  const tt_proc *p = &j->program;
  size_t at = GAP;
  for (int64_t k = 0; k < p->shared.n; k++) {
    const tt_pslot *s = &p->shared.data[k];
    if (s->dynamic) continue;
    if (memory) {
      const char *name = shared_name(p->entry, p->entry->body, (int)k);
      tt_check_area a = {.base = memory + at, .size = (size_t)s->bytes, .space = TT_CHECK_SHARED};
      put_name(&a, name ? name : "");
      name_type(s->type, s->len, &a);
      slot[k] = a.base;
      *ok &= tt__check_add(c, &a);
    }
    at += ((size_t)s->bytes + GAP + 63) & ~(size_t)63;
  }
  return at;
}

static tt_code add_areas(checked *c, tt_check *check, int64_t *hidden, tt_error *err) {
  const tt_proc *p = &c->j->program;
  int64_t *word = c->word;
  tt_check_area local = {.base = c->local, .size = c->local_size, .space = TT_CHECK_FREE};
  if (!tt__check_add(check, &local)) return tt__fail_memory(err, sizeof local);
  for (int32_t k = 0; k < p->entry->nparam; k++) {
    const tt_plocal *v = &p->entry->locals.data[k];
    tt_check_area like = {.number = k + 1};
    put_name(&like, v->name);
    TT_TRY(add_value(check, v->type, word, &like, p->entry->writes >> k & 1, err));
    word += tt__ptype_words(v->type);
  }
  for (int64_t k = 0; k < p->globals.n; k++) {
    tt_check_area like = {.name = ""};
    TT_TRY(add_value(check, p->globals.data[k], hidden, &like, true, err));
    hidden += tt__ptype_words(p->globals.data[k]);
  }
  return TT_OK;
}

/* ---- the launch */

static int64_t count_words(const tt_proc *p, bool hidden) {
  int64_t n = 0;
  for (int32_t k = 0; !hidden && k < p->entry->nparam; k++) n += tt__ptype_words(p->entry->locals.data[k].type);
  for (int64_t k = 0; hidden && k < p->globals.n; k++) n += tt__ptype_words(p->globals.data[k]);
  return n;
}

static tt_cudac_entry entry_of(const struct tt_jit *j) {
  int together = j->program.grid ? TT_CUDAC_TOGETHER : 0;
  return (tt_cudac_entry){.name = j->program.entry->name, .nparam = 1, .sync = 1 + together, .thread = run_thread};
}

static tt_code run(checked *c, tt_check *check, int64_t *hidden, tt_error *err) {
  tt_cudac_entry entry = entry_of(c->j);
  void *arg[1] = {c};
  tt_str output = {0};
  TT_TRY(add_areas(c, check, hidden, err));
  tt_code code = tt__cudac_run(&entry, c->launch, arg, check, &output, err);
  tt__str_free(&output);
  return code;
}

tt_code tt__jit_launch_checked(const struct tt_jit *j, tt_pcall *call, const int64_t *word, const tt_grid *launch,
                               tt_error *err) {
  int64_t n = count_words(&j->program, false), nhidden = count_words(&j->program, true);
  int64_t nslot = j->program.shared.n;
  bool ok = true;
  size_t room = place_shared(j, NULL, NULL, NULL, NULL), copy = (size_t)(n + nhidden + nslot + 1) * sizeof(int64_t);
  size_t blocks = 1;
  tt_check_sites sites = {NULL, say_line, NULL};
  tt_cudac_entry entry = entry_of(j);
  for (int k = 0; k < 3 && j->program.grid; k++) blocks *= launch->grid[k];
  TT_TRY(tt__cudac_fits(&entry, launch, true, err));
  checked c = {.j = j, .call = call, .launch = launch, .word = tt__mem_zalloc(copy), .local = call->local};
  c.local_size = blocks * (size_t)j->local * TT_TEAM_MAX;
  size_t own = j->program.grid ? c.local_size : 0;
  if (own) c.local = tt__mem_alloc_data(own);
  char *memory = tt__mem_alloc(room);
  tt_check *check = tt__check_new(j->program.entry->name, launch, j->program.grid, &sites);
  tt_code code = TT_ENOMEM;
  if (c.word && memory && check && (c.local || !own)) {
    int64_t *hidden = c.word + n;
    char **slot = (char **)(void *)(hidden + nhidden);
    memcpy(c.word, word, (size_t)n * sizeof *word);
    if (nhidden) memcpy(hidden, call->hidden, (size_t)nhidden * sizeof *hidden);
    call->hidden = hidden;
    call->slot = slot;
    call->touch = tt__cudac_core.touch;
    call->barrier = tt__cudac_barrier;
    call->grid = tt__cudac_grid_barrier;
    call->warp = tt__cudac_core.warp;
    call->active = tt__cudac_core.active;
    call->fence = tt__cudac_core.fence;
    call->leaves = tt__cudac_core.leaves;
    (void)place_shared(j, memory, slot, check, &ok);
    code = ok ? run(&c, check, hidden, err) : tt__fail_memory(err, room);
  } else {
    (void)tt__fail_memory(err, room + own);
  }
  if (own && c.local) tt__mem_free_data(c.local, own);
  tt__check_free(check);
  tt__mem_free(memory, room);
  tt__mem_free(c.word, copy);
  return code;
}
