/*
** Fused producers; see fused_producer.h.
*/
#include "run/outofcore/fused_producer.h"

#include <assert.h>
#include <string.h>

#include "device/streams.h"
#include "graph/build.h"
#include "render/render.h"
#include "render/gpu/threads.h"
#include "run/device/device_code.h"
#include "run/exec.h"
#include "run/residency.h"

enum { BUFFERS = TT_PRODUCER_READS, SCALARS = 64, VEC = 4 };

/* The one step of the plan, if it computes the targets and nothing else, and is a function of one lane. */
static const tt_step *step_of(const tt_walk *walk, const tt_plan *plan) {
  const tt_step *s = &plan->step[0];
  if (plan->n != 1 || s->kind != TT_STEP_KERNEL || s->nroot != walk->ntarget) return NULL;
  const tt_launch *l = s->launch;
  const tt_kernel *k = l->unit->kernel;
  if (!tt__threads_has_element(k) || k->nbuf > BUFFERS || k->nscalar > SCALARS) return NULL;
  if (tt__threads_args_size(k) > TT_PRODUCER_ARGS) return NULL;
  for (int r = 0; r < s->nroot; r++)
    if (s->root[r].base >= 0) return NULL;
  for (int b = 0; b < k->nbuf; b++)
    if (l->lowered->buf_parts[b] != 1) return NULL;
  return s;
}

/* The kernel's buffer that target t would be stored to. */
static int buffer_of(const tt_walk *walk, const tt_step *s, int t) {
  const tt_launch *l = s->launch;
  int r = 0, b = 0;
  while (s->root[r].node != walk->target[t]) r++;
  while (l->lowered->buf_operand[b] != s->root[r].operand) b++;
  return b;
}

static tt_code put_args(tt_device *d, const tt_walk *walk, const tt_step *s, tt_fused_producer *out, tt_error *err) {
  const tt_launch *l = s->launch;
  const tt_kernel *k = l->unit->kernel;
  static const tt_pass none;
  void *buf[BUFFERS] = {NULL};
  int64_t len[BUFFERS] = {0};
  tt_scalar scalar[SCALARS];
  TT_TRY(tt__exec_scalars(walk, s, l, scalar, err));
  tt__resident_step(false);
  for (int b = 0; b < k->nbuf; b++) {
    const tt_poperand *o = &s->operand[l->lowered->buf_operand[b]];
    if (o->write) continue;
    tt_buffer *from = walk->node[o->node]->attr.buf;
    out->read[out->nread++] = tt__buffer_retain(from);
    TT_TRY(tt__resident(d, tt__stream_current(d), from, &buf[b], err));
  }
  tt__threads_args(k, l->lowered, &none, buf, len, scalar, NULL, NULL, out->args);
  out->lib.args = out->args;
  out->lib.size = tt__threads_args_size(k);
  out->lib.vec = VEC;
  for (int a = 0; a < k->naccess; a++) { /* vectors, if all that is read side by side lies so */
    const tt_kaccess *acc = &k->access[a];
    size_t size = tt__dtype_size((tt_dtype)acc->dtype), line = tt__vector_align(VEC, size);
    if (acc->buf < 0 || acc->write || acc->lane != TT_LANE_UNIT) continue;
    if (((uintptr_t)buf[acc->buf] + (uintptr_t)l->lowered->off[a] * size) % line) out->lib.vec = 1;
  }
  return TT_OK;
}

/* The launch keeps its text: writing it takes ten times as long as asking for the kernel. */
static tt_code put_text(const tt_walk *walk, const tt_step *s, const tt_dialect *d, tt_fused_producer *out,
                        tt_error *err) {
  tt_launch *l = s->launch;
  const tt_kernel *k = l->unit->kernel;
  int vec = out->lib.vec;
  if (l->producer_vec != vec) {
    char name[TT_RENDER_NAME];
    tt__render_name(k, name);
    tt__str_free(&l->producer);
    TT_TRY(tt__threads_element(k, d, vec, name, &l->producer, err));
    tt__str_addf(&l->producer,
                 "#define PRODUCE %s_%d\n#define PRODUCE_ONE %s_1\n#define PRODUCE_ARGS %s_args\n#define PRODUCE_VALUE "
                 "%s_%d_value\n"
                 "#define PRODUCE_VALUE_ONE %s_1_value\n",
                 name, vec, name, name, name, vec, name);
    for (int t = 0; t < walk->ntarget; t++)
      tt__str_addf(&l->producer, "#define PRODUCE_%d(e, u) ((e).b%d[u])\n", t, buffer_of(walk, s, t));
    if (!l->producer.failed) l->producer_vec = vec;
  }
  tt__str_add_n(&out->text, l->producer.data, l->producer.len);
  if (l->producer.failed || out->text.failed) return tt__fail_memory(err, l->producer.len);
  out->lib.text = out->text.data;
  out->lib.scalar = tt__render_scalar_text(k);
  return TT_OK;
}

tt_code tt__fused_producer_make(tt_device *d, const tt_walk *walk, const tt_plan *plan, tt_fused_producer *out,
                                tt_error *err) {
  assert(plan->n > 0);
  const tt_step *s = step_of(walk, plan);
  if (!s) return tt__fail(err, TT_ENOTIMPL, "not one kernel of one axis");
  if (d->target.handles) return tt__fail(err, TT_ENOTIMPL, "its addresses stand behind the library's");
  TT_TRY(put_args(d, walk, s, out, err));
  return put_text(walk, s, tt__device_dialect(d), out, err);
}

void tt__fused_producer_free(tt_fused_producer *f) {
  while (f->nread > 0) tt__buffer_release(f->read[--f->nread]);
  tt__str_free(&f->text);
}
