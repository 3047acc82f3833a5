/*
** Placement; see place.h.
**
** A single evaluation rarely pays for moving its operands; a loop does. Who stays on the CPU although the device would
** have been quicker, moves left aside, remembers the difference with the operands (tt_buffer.owed_ns) and hands it to
** the results. Once the sum reaches the price of the move, the operands move. So a loop costs at most twice the better
** of the two, and soon costs what the better one costs.
*/
#include "run/place.h"

#include <string.h>

#include "base/os.h"
#include "base/pool.h"
#include "device/device.h"
#include "graph/session.h"
#include "ir/library.h"
#include "run/calibrate.h"
#include "run/exec.h"
#include "run/pieces.h"
#include "run/residency.h"

/* Opening a GPU takes some tenths of a second: it waits until the CPU has worked that long, or is about to. */
#define OPEN_NS 3e8
/* A choice must pay clearly; predictions are no better than this. */
#define CLEARLY 0.9
/* Work (instruction-elements, or flops of a library step) that the calling thread does alone, and what that costs. */
#define ALONE_WORK 65536.0
#define ALONE_FLOPS 1e6
#define ALONE_NS 800.0
/* An evaluation on a device costs this much beside its launches; waiting for it and fetching results, that much. */
#define BIND_NS 3000.0
#define WAIT_NS 15000.0

static double cpu_worked_ns;

int tt__place_told(void) {
  static int told = -3;
  if (told == -3) {
    const char *name = tt__env("TUTTI_DEVICE");
    int id;
    told =
        !name || !*name || strcmp(name, "auto") == 0 || tt__device_named(name, &id, NULL) != TT_OK ? TT_ANYWHERE : id;
  }
  return told;
}

/* ---- what steps cost */

static double kernel_ns(const tt_launch *l, double bytes_per_ns, double ns_per_op, double launch_ns) {
  double by_memory = (double)(l->bytes_read + l->bytes_written) / bytes_per_ns;
  double by_work = l->points * l->unit->weight * ns_per_op;
  return launch_ns + (by_memory > by_work ? by_memory : by_work);
}

double tt__place_kernel_ns(const tt_launch *l, tt_device *d) {
  const tt_device_costs *c = tt__device_costs(d);
  return kernel_ns(l, c->bytes_per_ns, c->ns_per_op, c->launch_ns);
}

/* Bytes that a library step reads and writes. */
static double library_bytes(const tt_walk *walk, const tt_step *s) {
  double bytes = 0;
  for (int i = 0; i < s->nsrc; i++) {
    double n = (double)tt__dtype_size((tt_dtype)walk->node[s->src[i].node]->dtype);
    for (int d = 0; d < s->src[i].rank; d++) n *= (double)s->src[i].len[d];
    bytes += n;
  }
  for (int r = 0; r < s->nroot; r++) {
    const tt_node *n = walk->node[s->root[r].node];
    bytes += (double)n->size * (double)tt__dtype_size((tt_dtype)n->dtype);
  }
  return bytes;
}

/* Floating-point operations of a library step: what its row says, or a few for each byte. */
static double library_work(const tt_walk *walk, const tt_step *s, double bytes) {
  const tt_lib_attr *attr = walk->node[s->lib]->attr.lib;
  if (!attr->row->work) return 4 * bytes;
  tt_operand src[TT_NODE_SRC];
  for (int i = 0; i < s->nsrc; i++)
    src[i] = (tt_operand){.dtype = (tt_dtype)walk->node[s->src[i].node]->dtype,
                          .rank = s->src[i].rank,
                          .len = s->src[i].len,
                          .step = s->src[i].step};
  return attr->row->work(attr, src);
}

static double cpu_step_ns(const tt_walk *walk, const tt_step *s) {
  const tt_calibration *c = tt__calibration();
  if (s->kind == TT_STEP_KERNEL) {
    const tt_launch *l = s->launch;
    if (l->unit->ns_points > 0 && l->unit->ns > 0) return l->unit->ns / l->unit->ns_points * l->points;
    if (l->points * l->unit->weight < ALONE_WORK) return kernel_ns(l, c->bytes_per_ns, c->ns_per_op, ALONE_NS);
    return kernel_ns(l, c->bytes_per_ns, c->ns_per_op / tt__pool_size(), c->launch_ns);
  }
  if (s->kind != TT_STEP_LIB) return 0;
  double bytes = library_bytes(walk, s), by_memory = bytes / c->bytes_per_ns;
  double work = library_work(walk, s, bytes);
  if (work < ALONE_FLOPS) return ALONE_NS + work * c->ns_per_flop;
  double by_work = work * c->ns_per_flop / tt__pool_size();
  return c->launch_ns + (by_memory > by_work ? by_memory : by_work);
}

static double device_step_ns(const tt_walk *walk, const tt_step *s, const tt_device_costs *c) {
  if (s->kind == TT_STEP_KERNEL) {
    const tt_launch *l = s->launch;
    double ns = kernel_ns(l, c->bytes_per_ns, c->ns_per_op, c->launch_ns);
    return l->unit->kernel->serial ? ns + cpu_step_ns(walk, s) : ns;
  }
  if (s->kind != TT_STEP_LIB) return 0;
  double bytes = library_bytes(walk, s);
  if (!walk->node[s->lib]->attr.lib->row->run_on) /* there and back */
    return bytes / c->up_bytes_per_ns + bytes / c->down_bytes_per_ns + cpu_step_ns(walk, s);
  double by_memory = bytes / c->bytes_per_ns, by_work = library_work(walk, s, bytes) * c->ns_per_flop;
  return c->launch_ns + (by_memory > by_work ? by_memory : by_work);
}

/* ---- moves */

static bool is_leaf(const tt_node *n) { return n->op == TT_N_BUFFER && n->attr.buf->size > 0; }

/* Bringing the walk's leaves to a device, and what they have been lent for it. */
static double moves_to(const tt_walk *walk, const tt_device *d, const tt_device_costs *c, double *lent) {
  double ns = 0;
  *lent = 0;
  for (int i = 0; i < walk->n; i++) {
    const tt_node *n = walk->node[i];
    if (!is_leaf(n) || tt__is_resident(d->id, n->attr.buf)) continue;
    double move = c->move_ns + (double)n->attr.buf->size / c->up_bytes_per_ns;
    ns += move;
    *lent += n->attr.buf->owed_ns < move ? n->attr.buf->owed_ns : move;
  }
  return ns;
}

static double moves_home(const tt_walk *walk, const tt_device_costs *c) {
  double ns = 0;
  for (int i = 0; i < walk->n; i++) {
    const tt_node *n = walk->node[i];
    if (is_leaf(n) && !n->attr.buf->data) ns += c->move_ns + (double)n->attr.buf->size / c->down_bytes_per_ns;
  }
  return ns;
}

static double results_home(const tt_walk *walk, const tt_device_costs *c) {
  double ns = WAIT_NS;
  for (int t = 0; t < walk->ntarget; t++) {
    const tt_node *n = walk->node[walk->target[t]];
    ns += c->move_ns + (double)n->size * (double)tt__dtype_size((tt_dtype)n->dtype) / c->down_bytes_per_ns;
  }
  return ns;
}

/* Memory of the caller that shows what is written to it: the work stays where that memory is. */
static bool writes_foreign(const tt_walk *walk, const tt_plan *plan) {
  for (int i = 0; i < plan->n; i++)
    for (int r = 0; r < plan->step[i].nroot; r++) {
      int32_t base = plan->step[i].root[r].base;
      const tt_node *n = base >= 0 ? walk->node[base] : NULL;
      if (n && n->op == TT_N_BUFFER && n->attr.buf->drop && n->attr.buf->data) return true;
    }
  return false;
}

/* ---- the choice */

static tt_device *candidate(double cpu_ns) {
  tt_device *d = tt__device_peek(tt__device_id(TT_DEVICE_CUDA, 0));
  if (!d && cpu_worked_ns + cpu_ns < OPEN_NS) return NULL;
  if (!d && (tt__device_count(TT_DEVICE_CUDA, NULL, 0) == 0 ||
             tt__device_open(tt__device_id(TT_DEVICE_CUDA, 0), &d, NULL) != TT_OK))
    return NULL;
  return tt__device_lost(d) ? NULL : d;
}

static tt_code choose(const tt_walk *walk, const tt_plan *plan, bool looked_at, tt_place *out) {
  for (int i = 0; i < plan->n; i++) out->cpu_ns += cpu_step_ns(walk, &plan->step[i]);
  tt_device *d = candidate(out->cpu_ns);
  if (!d || writes_foreign(walk, plan)) return TT_OK;
  const tt_device_costs *c = tt__device_costs(d);
  out->chosen = true;
  out->cpu_ns += moves_home(walk, c);
  out->moves_ns = moves_to(walk, d, c, &out->lent_ns);
  if (looked_at) out->moves_ns += results_home(walk, c);
  out->device_ns = out->moves_ns + BIND_NS;
  for (int i = 0; i < plan->n; i++) {
    tt_pieces pieces;
    const tt_step *s = &plan->step[i];
    out->device_ns += device_step_ns(walk, s, c);
    if (s->kind != TT_STEP_KERNEL || !tt__pieces_pay(d, walk, s, looked_at, &pieces)) continue;
    double saved = pieces.up_ns + pieces.work_ns + pieces.down_ns - pieces.ns;
    out->device_ns -= saved;
    out->moves_ns -= saved < out->moves_ns ? saved : out->moves_ns;
  }
  if (out->device_ns - out->lent_ns < CLEARLY * out->cpu_ns) out->device = d;
  return TT_OK;
}

/* Where the targets were put; they agree (realize.c gives them in groups). */
static int label_of(const tt_walk *walk) {
  int label = walk->ntarget ? walk->node[walk->target[0]]->device : TT_ANYWHERE;
  return label == TT_ANYWHERE ? tt__place_told() : label;
}

tt_code tt__place(const tt_walk *walk, const tt_plan *plan, bool looked_at, tt_place *out, tt_error *err) {
  *out = (tt_place){0};
  int label = label_of(walk);
  if (label == 0) return TT_OK;
  if (label == TT_ANYWHERE) return choose(walk, plan, looked_at, out);
  TT_TRY(tt__device_open(label, &out->device, err));
  return tt__device_lost(out->device) ? tt__fail(err, TT_EDEVICE, "%s", out->device->fault) : TT_OK;
}

void tt__place_settle(const tt_walk *walk, const tt_place *p, double took_ns) {
  if (p->device) return;
  cpu_worked_ns += took_ns;
  double gain = p->cpu_ns - (p->device_ns - p->moves_ns), owed = 0;
  if (!p->chosen || gain <= 0 || p->moves_ns <= 0) return;
  for (int i = 0; i < walk->n; i++) { /* leaves, and the results that are buffers by now */
    tt_node *n = walk->node[i];
    if (!is_leaf(n)) continue;
    if (n->attr.buf->owed_ns > owed) owed = n->attr.buf->owed_ns;
  }
  for (int i = 0; i < walk->n; i++)
    if (is_leaf(walk->node[i])) walk->node[i]->attr.buf->owed_ns = (float)(owed + gain);
}
