/*
** Placement; see place.h.
**
** A single evaluation rarely pays for moving its operands; a loop does. What a device saves of an evaluation, moves of
** operands left aside, is remembered with the operands (tt_buffer.owed_ns) and handed to the results. Once the sum
** reaches the price of the move, the operands move. So a loop costs at most twice the better of the two, and soon costs
** what the better one costs.
**
** The sum goes on where it stands when the work has moved: so it says in the end what the move was worth. Arrays of the
** same type and shape that are made of the caller's memory are expected to be worth as much (tt_buffer.promised_ns):
** they move before the first evaluation, or as they are made, which spares the host a copy.
*/
#include "run/place.h"

#include <string.h>

#include "base/hash.h"
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
/* A kernel's time on the CPU is believed up to so many times of what the machine's figures say. */
#define BEYOND 8.0
/* An array goes straight to a device on a promise of at least one part in so many of the move's price. */
#define SURE 4.0
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

/* What was measured of the kernel says more than the figures of the machine, but for code that will be better soon. */
static double cpu_kernel_ns(const tt_launch *l) {
  const tt_calibration *c = tt__calibration();
  bool alone = l->points * l->unit->weight < ALONE_WORK;
  double measured = tt__unit_ns(l->unit, l->points);
  double likely = alone ? kernel_ns(l, c->bytes_per_ns, c->ns_per_op, ALONE_NS)
                        : kernel_ns(l, c->bytes_per_ns, c->ns_per_op / tt__pool_size(), c->launch_ns);
  if (measured <= 0 || (measured > likely && tt__unit_improves(l->unit))) return likely;
  return measured < BEYOND * likely ? measured : BEYOND * likely; /* what has moved is not measured again */
}

static double cpu_step_ns(const tt_walk *walk, const tt_step *s) {
  const tt_calibration *c = tt__calibration();
  if (s->kind == TT_STEP_KERNEL) return cpu_kernel_ns(s->launch);
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
    return tt__move_ns(c->up_ns, bytes) + tt__move_ns(c->down_ns, bytes) + cpu_step_ns(walk, s);
  double by_memory = bytes / c->bytes_per_ns, by_work = library_work(walk, s, bytes) * c->ns_per_flop;
  return c->launch_ns + (by_memory > by_work ? by_memory : by_work);
}

/* ---- moves */

static bool is_leaf(const tt_node *n) { return n->op == TT_N_BUFFER && n->attr.buf->size > 0; }

/* Bringing the walk's leaves to a device. */
static double moves_to(const tt_walk *walk, const tt_device *d, const tt_device_costs *c) {
  double ns = 0;
  for (int i = 0; i < walk->n; i++) {
    const tt_node *n = walk->node[i];
    if (is_leaf(n) && !tt__is_resident(d->id, n->attr.buf)) ns += tt__move_ns(c->up_ns, (double)n->attr.buf->size);
  }
  return ns;
}

/* What they have been lent for it: by what came before, or by what is expected after this evaluation. */
static double lent_to(const tt_walk *walk, const tt_device *d, const tt_device_costs *c, double gain) {
  double ns = 0;
  for (int i = 0; i < walk->n; i++) {
    const tt_node *n = walk->node[i];
    if (!is_leaf(n) || tt__is_resident(d->id, n->attr.buf)) continue;
    const tt_buffer *b = n->attr.buf;
    double move = tt__move_ns(c->up_ns, (double)b->size), ahead = b->promised_ns - b->owed_ns - gain;
    double worth = b->owed_ns > ahead ? b->owed_ns : ahead;
    ns += worth < move ? worth : move;
  }
  return ns;
}

static double moves_home(const tt_walk *walk, const tt_device_costs *c) {
  double ns = 0;
  for (int i = 0; i < walk->n; i++) {
    const tt_node *n = walk->node[i];
    if (is_leaf(n) && !n->attr.buf->data) ns += tt__move_ns(c->down_ns, (double)n->attr.buf->size);
  }
  return ns;
}

static double results_home(const tt_walk *walk, const tt_device_costs *c) {
  double ns = WAIT_NS;
  for (int t = 0; t < walk->ntarget; t++) {
    const tt_node *n = walk->node[walk->target[t]];
    ns += tt__move_ns(c->down_ns, (double)n->size * (double)tt__dtype_size((tt_dtype)n->dtype));
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

static void choose(const tt_walk *walk, const tt_plan *plan, bool looked_at, tt_place *out) {
  double steps_ns = BIND_NS, saved_ns = 0;
  for (int i = 0; i < plan->n; i++) out->cpu_ns += cpu_step_ns(walk, &plan->step[i]);
  tt_device *d = candidate(out->cpu_ns);
  if (!d || writes_foreign(walk, plan)) return;
  const tt_device_costs *c = tt__device_costs(d);
  for (int i = 0; i < plan->n; i++) {
    tt_pieces pieces;
    const tt_step *s = &plan->step[i];
    steps_ns += device_step_ns(walk, s, c);
    if (s->kind == TT_STEP_KERNEL && tt__pieces_pay(d, walk, s, looked_at, &pieces))
      saved_ns += pieces.up_ns + pieces.work_ns + pieces.down_ns - pieces.ns;
  }
  double home_ns = looked_at ? results_home(walk, c) : 0;
  out->chosen = true;
  out->gain_ns = out->cpu_ns - steps_ns - home_ns;
  out->cpu_ns += moves_home(walk, c);
  out->moves_ns = moves_to(walk, d, c) + home_ns;
  out->lent_ns = lent_to(walk, d, c, out->gain_ns);
  out->device_ns = out->moves_ns + steps_ns - saved_ns;
  out->moves_ns -= saved_ns < out->moves_ns ? saved_ns : out->moves_ns;
  if (out->device_ns - out->lent_ns < CLEARLY * out->cpu_ns) out->device = d;
}

/* Where the targets were put; they agree (realize.c gives them in groups). */
static int label_of(const tt_walk *walk) {
  int label = walk->ntarget ? walk->node[walk->target[0]]->device : TT_ANYWHERE;
  return label == TT_ANYWHERE ? tt__place_told() : label;
}

tt_code tt__place(const tt_walk *walk, const tt_plan *plan, bool looked_at, tt_place *out, tt_error *err) {
  *out = (tt_place){0};
  int label = label_of(walk);
  if (label == TT_ANYWHERE) choose(walk, plan, looked_at, out);
  if (label == 0 || label == TT_ANYWHERE) return TT_OK;
  TT_TRY(tt__device_open(label, &out->device, err));
  return tt__device_lost(out->device) ? tt__fail(err, TT_EDEVICE, "%s", out->device->fault) : TT_OK;
}

/* ---- what work was worth */

/* By the number of a make of arrays (tt_buffer.kind): what a device saved of the work on the last ones. Makes that
 * share a number are taken for each other, which costs time and nothing else. Session lock held. */
enum { KINDS = 1024 };
static float worth_of[KINDS];

static void learn(uint16_t kind, float worth) {
  if (kind && worth > worth_of[kind - 1]) worth_of[kind - 1] = worth;
}

void tt__place_begin(const tt_walk *walk, tt_place *p) {
  if (!p->chosen) return;
  for (int i = 0; i < walk->n; i++) {
    const tt_node *n = walk->node[i];
    if (!is_leaf(n)) continue;
    if (n->attr.buf->owed_ns > p->owed_ns) p->owed_ns = n->attr.buf->owed_ns;
    if (n->attr.buf->kind) p->kind = n->attr.buf->kind;
  }
  p->owed_ns += (float)p->gain_ns;
  if (p->owed_ns < 0) p->owed_ns = 0;
  for (int i = 0; i < walk->n; i++) {
    if (!is_leaf(walk->node[i])) continue;
    tt_buffer *b = walk->node[i]->attr.buf;
    b->owed_ns = p->owed_ns;
    learn(b->kind, p->owed_ns);
  }
}

void tt__place_end(const tt_walk *walk, const tt_place *p, double took_ns) {
  if (!p->device) cpu_worked_ns += took_ns;
  for (int t = 0; t < walk->ntarget && p->chosen; t++) {
    const tt_node *n = walk->node[walk->target[t]];
    if (!is_leaf(n)) continue;
    n->attr.buf->owed_ns = p->owed_ns;
    n->attr.buf->kind = p->kind;
  }
}

int tt__place_expect(tt_dtype dtype, int rank, const int64_t *len, tt_buffer *as) {
  uint64_t hash = tt__hash64(len, sizeof *len * (size_t)rank) + (uint64_t)dtype;
  double bytes = (double)tt__dtype_size(dtype);
  for (int k = 0; k < rank; k++) bytes *= (double)len[k];
  as->kind = (uint16_t)(hash % KINDS + 1);
  as->promised_ns = worth_of[as->kind - 1];
  tt_device *d = tt__device_peek(tt__device_id(TT_DEVICE_CUDA, 0));
  if (as->promised_ns <= 0 || !d || tt__device_lost(d) || tt__place_told() != TT_ANYWHERE) return 0;
  double move_ns = tt__move_ns(tt__device_costs(d)->up_ns, bytes);
  double copy_ns = 2 * bytes / tt__calibration()->bytes_per_ns; /* which is spared */
  return move_ns - copy_ns < CLEARLY * as->promised_ns && move_ns < SURE * as->promised_ns ? d->id : 0;
}

/* What was worth less than was expected takes from that, so that few are expected in vain. */
void tt__place_forget(const tt_buffer *b) {
  float *worth = &worth_of[b->kind - 1];
  if (b->owed_ns < *worth / 2)
    *worth /= 2;
  else if (b->owed_ns < *worth)
    *worth = b->owed_ns;
}
