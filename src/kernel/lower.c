/*
** Lowering, top down: real arithmetic, then axes (order, lane, merging), then time (which
** phase computes what), then the linear list. See ir/kernel.h for what comes out.
*/
#include "kernel/lower.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/axes.h"
#include "kernel/phases.h"
#include "kernel/decompose.h"
#include "kernel/spread.h"

static tt_code no_memory(tt_error *err) { return tt__fail(err, TT_ENOMEM, "out of memory while lowering a kernel"); }

/* Is access `i` one element after the one before it, at every point? `k` has both. */
static bool follows(const tt_kernel *k, const tt_lowered *l, int i, int naxes) {
  const tt_kaccess *x = &k->access[i], *last = x - 1;
  if (i == 0 || x->by < 2 || x->buf < 0 || x->buf != last->buf || x->dtype != last->dtype || x->write != last->write)
    return false;
  const int64_t *step = l->step + (size_t)i * (size_t)naxes;
  return x->by == last->by && l->off[i] == l->off[i - 1] + 1 &&
         memcmp(step, step - naxes, sizeof *step * (size_t)naxes) == 0;
}

/* Copy the accesses' numbers out for the launch, and their classes into the kernel. */
static bool bind_accesses(const tt_decomposer *r, const tt_axes *axes, tt_kernel *k, tt_lowered *l,
                          int nscratch_access) {
  int n = r->naccess + nscratch_access;
  k->access = tt__arena_alloc(&k->arena, sizeof *k->access * (size_t)n);
  l->off = tt__arena_alloc(&l->arena, sizeof *l->off * (size_t)n);
  l->step = tt__arena_alloc(&l->arena, sizeof *l->step * (size_t)n * (size_t)axes->naxes);
  l->buf_operand = tt__arena_alloc(&l->arena, sizeof *l->buf_operand * (size_t)r->naccess);
  l->buf_parts = tt__arena_alloc(&l->arena, (size_t)r->naccess);
  if (!k->access || !l->off || !l->step || !l->buf_operand || !l->buf_parts) return false;
  for (int i = 0; i < r->naccess; i++) {
    const tt_raccess *a = &r->access[i];
    int buf = -1;
    for (int b = 0; b < k->nbuf && a->operand >= 0 && buf < 0; b++)
      if (l->buf_operand[b] == a->operand) buf = b;
    if (a->operand >= 0 && buf < 0) {
      buf = k->nbuf++;
      l->buf_operand[buf] = a->operand;
      l->buf_parts[buf] = a->parts;
    }
    const int64_t *step = axes->step + (size_t)i * (size_t)axes->naxes;
    int64_t lane = axes->naxes ? step[axes->lane] : 0;
    k->access[i] = (tt_kaccess){.buf = (int16_t)buf, .dtype = a->dtype, .write = a->write};
    k->access[i].lane = (uint8_t)(lane == 0 ? TT_LANE_NONE : lane == 1 ? TT_LANE_UNIT : TT_LANE_ANY);
    l->off[i] = a->off;
    memcpy(l->step + (size_t)i * (size_t)axes->naxes, step, sizeof *step * (size_t)axes->naxes);
    k->access[i].by = (int8_t)(tt__lane_knows(lane) ? lane : 0);
    k->access[i].next = follows(k, l, i, axes->naxes);
  }
  k->naccess = (int16_t)r->naccess;
  return true;
}

static bool bind_rest(const tt_decomposer *r, const tt_axes *axes, tt_kernel *k, tt_lowered *l) {
  l->len = tt__arena_dup(&l->arena, axes->len, sizeof *l->len * (size_t)axes->naxes);
  l->scalar = tt__arena_dup(&l->arena, r->scalar, sizeof *l->scalar * (size_t)r->nscalar);
  k->scalar_type = tt__arena_dup(&k->arena, r->scalar_type, (size_t)r->nscalar);
  if (!l->len || !l->scalar || !k->scalar_type) return false;
  k->nscalar = (int16_t)r->nscalar;
  k->nred = (int16_t)r->nred;
  l->outer = l->lanes = l->row = 1;
  for (int i = 0; i < axes->naxes; i++) {
    if (i >= axes->nouter)
      l->row *= axes->len[i];
    else if (axes->mode != TT_MODE_ROW && i == axes->lane)
      l->lanes = axes->len[i];
    else
      l->outer *= axes->len[i];
  }
  if (axes->mode == TT_MODE_ROW) l->lanes = axes->len[axes->lane];
  return true;
}

static bool is_serial(const tt_decomposer *r) {
  for (int i = 0; i < r->ninst; i++)
    if (r->inst[i].op == TT_K_STOREX) return true;
  return false;
}

void tt__lowered_free(tt_lowered *l) {
  if (!l) return;
  tt__kernel_free(l->kernel);
  tt__arena_free(&l->arena);
  tt__mem_free(l, sizeof *l);
}

tt_code tt__lower_step(const tt_step *step, const tt_lower_options *options, tt_lowered **out, tt_error *err) {
  assert(step->nouter >= 0 && step->nouter <= step->space.naxes);
  assert(step->kind == TT_STEP_KERNEL && step->nroot > 0);
  *out = NULL;
  tt_arena scratch = {0};
  tt_decomposer r = {.arena = &scratch, .step = step};
  tt_axes axes;
  tt_code code = TT_ENOMEM;
  tt_lowered *l = tt__mem_zalloc(sizeof *l);
  tt_kernel *k = tt__mem_zalloc(sizeof *k);
  if (!l || !k) {
    tt__mem_free(k, sizeof *k);
    tt__mem_free(l, sizeof *l);
    return no_memory(err);
  }
  l->kernel = k;
  if ((code = tt__decompose(&r, err)) != TT_OK) goto fail;
  code = TT_ENOMEM;
  if (!tt__axes_choose(&r, &axes) || (options->spread && !tt__axes_spread(&r, &axes))) goto fail_memory;
  k->mode = (uint8_t)axes.mode;
  k->naxes = (uint8_t)axes.naxes;
  k->nouter = (uint8_t)axes.nouter;
  k->serial = is_serial(&r);
  k->checked = options->checked;
  if (!bind_accesses(&r, &axes, k, l, TT_MOST_SCRATCH * 32) || !bind_rest(&r, &axes, k, l)) goto fail_memory;
  if (!tt__phases_emit(&r, &axes, l->row <= TT_SCRATCH_ROW, k)) goto fail_memory;
  tt__kernel_seal(k);
  assert(tt__kernel_ok(k, NULL));
  assert(l->outer >= 0 && l->row >= 0);
  tt__arena_free(&scratch);
  *out = l;
  return TT_OK;
fail_memory:
  code = no_memory(err);
fail:
  tt__arena_free(&scratch);
  tt__lowered_free(l);
  return code;
}
