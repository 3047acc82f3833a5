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
#include "device/device.h"
#include "graph/host.h"
#include "graph/session.h"
#include "run/calibrate.h"
#include "run/cost.h"
#include "run/exec.h"
#include "run/pieces.h"
#include "run/residency.h"
#include "run/tiles.h"

/* Opening a GPU takes some tenths of a second: it waits until the CPU has worked that long, or is about to. */
#define OPEN_NS 3e8
/* A choice must pay clearly; predictions are no better than this. */
#define CLEARLY 0.9
/* An array goes straight to a device on a promise of at least one part in so many of the move's price. */
#define SURE 4.0
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

static double takes_here(const tt_walk *walk, const tt_plan *plan) {
  double ns = 0;
  for (int i = 0; i < plan->n; i++) ns += tt__cost_here(walk, &plan->step[i]);
  return ns;
}

static void choose(const tt_walk *walk, const tt_plan *plan, bool looked_at, tt_place *out) {
  double steps_ns = BIND_NS, saved_ns = 0;
  out->cpu_ns = takes_here(walk, plan);
  tt_device *d = candidate(out->cpu_ns);
  if (!d || writes_foreign(walk, plan)) return;
  if (tt__calibrate()) out->cpu_ns = takes_here(walk, plan);
  const tt_device_costs *c = tt__device_costs(d);
  for (int i = 0; i < plan->n; i++) {
    tt_pieces pieces;
    tt_tiles tiles;
    const tt_step *s = &plan->step[i];
    steps_ns += tt__cost_there(walk, s, d);
    if (s->kind == TT_STEP_KERNEL && tt__pieces_pay(d, walk, s, looked_at, &pieces))
      saved_ns += pieces.up_ns + pieces.work_ns + pieces.down_ns - pieces.ns;
    if (tt__tiles_pay(d, walk, plan, i, true, &tiles)) /* below 0 where operands come up several times */
      saved_ns += tiles.up_ns + tiles.work_ns + (looked_at ? tiles.down_ns : 0) - tiles.ns;
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
  double copy_ns = tt__from_data_ns(bytes); /* which is spared */
  if (copy_ns <= 0) copy_ns = 2 * bytes / tt__calibration()->bytes_per_ns;
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
