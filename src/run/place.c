/*
** Placement; see place.h.
**
** What a device saves of an evaluation is remembered with its operands (tt_buffer.owed_ns) and handed to its results;
** sched/place.c says what for. The sum goes on where it stands when the work has moved: so it says in the end what the
** move was worth. Arrays of the same type and shape that are made of the caller's memory are expected to be worth as
** much (tt_buffer.promised_ns): they move before the first evaluation, or as they are made, which spares the host a
** copy.
*/
#include "run/place.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/os/os.h"
#include "device/device.h"
#include "graph/host.h"
#include "graph/session.h"
#include "run/machine/calibrate.h"
#include "run/exec.h"
#include "run/machine/library_pace.h"
#include "run/residency.h"
#include "run/wanted.h"

/* Opening a GPU takes some tenths of a second: it waits until the CPU has worked that long, or is about to. */
#define OPEN_NS 3e8
/* A choice must pay clearly; predictions are no better than this. */
#define CLEARLY 0.9
/* An array goes straight to a device on a promise of at least one part in so many of the move's price. */
#define SURE 4.0

static double cpu_worked_ns;
static bool fuse = true;

void tt__place_set_fuse(bool on) { fuse = on; }

int tt__place_told(void) {
  static int told = -3;
  if (told == -3) {
    const char *name = tt__env("TUTTI_DEVICE");
    int id;
    told =
        !name || !*name || strcmp(name, "auto") == 0 || tt__device_named(name, &id, NULL) != TT_OK ? TT_ANYWHERE : id;
  }
  return tt__wanted_here(told);
}

/* ---- the situation */

/* What is known of each step on the host, and whether the device (NULL: none) is expected to leave it there. */
static void gather_facts(const tt_walk *walk, const tt_plan *plan, tt_device *d) {
  for (int i = 0; i < plan->n; i++) {
    tt_step_facts *f = &plan->facts[i];
    *f = (tt_step_facts){.share = 1};
    if (plan->step[i].kind == TT_STEP_KERNEL) {
      const tt_launch *l = plan->step[i].launch;
      f->host_ns = tt__unit_ns(l->unit, l->work.points);
      f->improves = tt__unit_improves(l->unit);
    } else if (plan->step[i].kind == TT_STEP_LIB) {
      const tt_cost_call call = tt__cost_call(walk, &plan->step[i]);
      f->host_ns = tt__library_measured(&call, NULL, 1);
      f->leaves = d && tt__library_leaves(&call, d);
    }
  }
}

static bool is_leaf(const tt_node *n) { return n->op == TT_N_BUFFER && n->attr.buf->size > 0; }

/* The places where a buffer's bytes lie. A device that the machine did not list is listed from now on. */
static uint32_t places_of(const tt_situation *s, const tt_buffer *b) {
  uint32_t on = b->data || !b->size ? tt__where_bit(TT_HOST) : 0;
  for (int k = 0; k < s->machine->ndevice; k++)
    if (tt__is_resident(s->machine->device[k].id, b)) on |= tt__where_bit(k);
  tt_device *d = on ? NULL : tt__resident_first(b);
  if (!d) return on ? on : TT_ELSEWHERE;
  int k = tt__machine_device(d);
  return tt__machine_handle(k) == d ? tt__where_bit(k) : TT_ELSEWHERE;
}

/* Where the value of a node lies; one that ended has gone (NULL). */
static void gather_value(tt_situation *s, int32_t i) {
  const tt_node *n = s->walk->node[i];
  tt_residence *v = &s->value[i];
  *v = (tt_residence){0};
  if (!n) return;
  v->bytes = (double)n->size * (double)tt__dtype_size((tt_dtype)n->dtype);
  if (n->op != TT_N_BUFFER) return;
  const tt_buffer *b = n->attr.buf;
  v->bytes = (double)b->size;
  v->on = places_of(s, b);
  v->is_borrowed = b->elsewhere;
  v->is_callers = b->drop && b->data;
  v->owed_ns = b->owed_ns;
  v->promised_ns = b->promised_ns;
}

/* Before anything runs, when all nodes of the walk are there. */
static void gather_all(tt_situation *s) {
  for (int i = 0; i < s->walk->n; i++) gather_value(s, i);
}

/* While the plan runs: what its steps need is held, the other nodes may have gone with what they were part of. */
static void gather_held(tt_situation *s) {
  assert(s->walk->held);
  for (int i = 0; i < s->plan->nvalue; i++) gather_value(s, s->plan->value[i].node);
}

static tt_code open_situation(tt_place *p, tt_device *d, tt_error *err) {
  tt_situation *s = &p->situation;
  size_t size = sizeof *s->value * (size_t)s->walk->n;
  s->value = tt__arena_alloc(&p->decisions.arena, size);
  if (!s->value) return tt__fail_memory(err, size);
  gather_facts(s->walk, s->plan, d);
  (s->walk->held ? gather_held : gather_all)(s);
  return TT_OK;
}

static tt_where where_is(tt_device *d) { return d ? tt__machine_device(d) : TT_HOST; }

void tt__place_free(tt_place *p) { tt__decisions_free(&p->decisions); }

tt_device *tt__place_device(const tt_place *p, int i) {
  assert(i >= 0 && (!p->decisions.step || i < p->situation.plan->n));
  if (!p->device || !p->decisions.step) return p->device;
  tt_where where = p->decisions.step[i].where;
  return where == TT_HOST ? NULL : where == p->where ? p->device : tt__machine_handle(where);
}

tt_code tt__place_spell(tt_place *p, tt_error *err) {
  if (p->decisions.step && p->device) return TT_OK;
  if (p->situation.value)
    gather_all(&p->situation); /* as it was before the device was thought of */
  else
    TT_TRY(open_situation(p, p->device, err));
  return tt__place_steps(&p->situation, p->where, 0, &p->decisions, err);
}

/* ---- once more */

/* Smaller tiles are tried down to this share of the room. */
#define LEAST_SHARE 0.05F

/* What it says of a step that it did not run as it was decided. */
static void note_declined(tt_step_facts *f, const tt_decision *how, tt_code code) {
  switch ((tt_way)how->way) {
    case TT_WAY_STREAM_KERNEL:
      f->not_so |= how->cut.kernel->windows ? TT_NOT_STREAMED | TT_NOT_WINDOWED : TT_NOT_STREAMED;
      break;
    case TT_WAY_STREAM_LIBRARY:
      if (code == TT_ENOTIMPL)
        f->not_so |= how->cut.tiles->match.epilogue ? TT_NOT_FOLLOWED : TT_NOT_STREAMED;
      else if ((f->share /= 2) <= LEAST_SHARE)
        f->not_so |= TT_NOT_STREAMED;
      break;
    case TT_WAY_EPILOGUE:
      f->not_so |= TT_NOT_FOLLOWED;
      break;
    default:
      f->not_so |= code == TT_ENOMEM ? TT_NOT_WHOLE | TT_NO_ROOM : TT_NOT_WHOLE;
  }
}

tt_code tt__place_replan(tt_place *p, int at, tt_code code, bool *nowhere, tt_error *err) {
  static const tt_decision whole = {.way = TT_WAY_WHOLE};
  tt_situation *s = &p->situation;
  const tt_decision *how = p->decisions.step ? &p->decisions.step[at] : &whole;
  if (!s->value)
    TT_TRY(open_situation(p, p->device, err));
  else
    gather_held(s);
  *nowhere = code == TT_ENOMEM && how->way == TT_WAY_WHOLE && !tt__place_fits_host(s, at);
  if (*nowhere) return TT_OK;
  note_declined(&s->facts[at], how, code);
  tt__machine_device(p->device); /* what room it has now */
  return tt__place_steps(s, p->where, at, &p->decisions, err);
}

/* ---- the choice */

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

/* The device that costs may choose, if it is open: CUDA's first, until it was found to be another. */
static int gpu_id = TT_DEVICE_CUDA << 8; /* tt__device_id of it */
static tt_device *gpu_opened(void) { return gpu_id < 0 ? NULL : tt__device_peek(gpu_id); }

static tt_device *candidate(double cpu_ns) {
  static bool is_sought;
  tt_device *d = gpu_opened();
  if (!d && (is_sought || cpu_worked_ns + cpu_ns < OPEN_NS)) return NULL;
  if (!d) {
    is_sought = true;
    gpu_id = tt__device_gpu();
    if (gpu_id < 0 || tt__device_open(gpu_id, &d, NULL) != TT_OK) return NULL;
  }
  return tt__device_lost(d) ? NULL : d;
}

static tt_code choose(tt_place *out, tt_error *err) {
  const tt_situation *s = &out->situation;
  gather_facts(s->walk, s->plan, NULL);
  double host_ns = out->prices.host_ns = tt__place_host_ns(s);
  tt_device *d = candidate(host_ns);
  if (!d || writes_foreign(s->walk, s->plan)) return TT_OK;
  TT_TRY(open_situation(out, d, err));
  tt__calibrate_device(d);
  if (tt__calibrate()) host_ns = tt__place_host_ns(s);
  out->chosen = true;
  TT_TRY(tt__place_prices(&out->situation, where_is(d), host_ns, &out->decisions, &out->prices, err));
  if (!tt__place_pays(&out->prices)) return TT_OK;
  out->device = d;
  out->where = where_is(d);
  return TT_OK;
}

static void begin(const tt_walk *walk, const tt_plan *plan, bool looked_at, tt_place *out) {
  *out = (tt_place){.where = TT_HOST,
                    .situation = {.machine = tt__machine(),
                                  .walk = walk,
                                  .plan = plan,
                                  .facts = plan->facts,
                                  .looked_at = looked_at,
                                  .fuse = fuse}};
}

/* ---- (tests) all over the place */

/* TUTTI_NULL_SCATTER: the seed; every evaluation goes on from there. */
static bool scatters(void) {
  static int on = -1;
  if (on < 0) on = tt__env("TUTTI_NULL_SCATTER") != NULL;
  return on == 1;
}

/* The steps run on the host and on all simulated devices. Launches gather on the one that was told, or the first. */
static tt_code scatter(tt_place *out, tt_error *err) {
  static uint64_t evaluations;
  tt_device *told = out->device, *d;
  for (int k = tt__device_count(TT_DEVICE_NULL, NULL, 0) - 1; k >= 0; k--) {
    TT_TRY(tt__device_open(tt__device_id(TT_DEVICE_NULL, k), &d, err));
    if (tt__device_lost(d)) return tt__fail(err, TT_EDEVICE, "%s", d->fault);
    tt__machine_device(d);
    if (!told) out->device = d;
  }
  out->where = where_is(told);
  out->situation.scatter = tt__hash_mix((uint64_t)strtoull(tt__env("TUTTI_NULL_SCATTER"), NULL, 10), ++evaluations) | 1;
  TT_TRY(open_situation(out, told, err));
  return tt__place_steps(&out->situation, out->where, 0, &out->decisions, err);
}

tt_code tt__place_told_on(tt_device *d, const tt_walk *walk, const tt_plan *plan, bool looked_at, bool is_small,
                          tt_place *out, tt_error *err) {
  begin(walk, plan, looked_at, out);
  out->device = d;
  if (scatters()) return scatter(out, err);
  if (!d) return TT_OK;
  if (tt__device_lost(d)) return tt__fail(err, TT_EDEVICE, "%s", d->fault);
  out->where = where_is(d);
  if (is_small) return TT_OK;
  TT_TRY(open_situation(out, d, err));
  if (tt__place_may_cut(&out->situation, out->where)) tt__calibrate_device(d);
  return tt__place_steps(&out->situation, out->where, 0, &out->decisions, err);
}

/* Where the targets were put; they agree (realize.c gives them in groups). */
static int label_of(const tt_walk *walk) {
  int label = walk->ntarget ? walk->node[walk->target[0]]->device : TT_ANYWHERE;
  return label == TT_ANYWHERE ? tt__place_told() : label;
}

tt_code tt__place(const tt_walk *walk, const tt_plan *plan, bool looked_at, bool is_small, tt_place *out,
                  tt_error *err) {
  tt_device *d;
  int label = label_of(walk);
  begin(walk, plan, looked_at, out);
  if (label <= 0 && scatters()) return scatter(out, err);
  if (label == TT_ANYWHERE) return choose(out, err);
  if (label == 0) return TT_OK;
  TT_TRY(tt__device_open(label, &d, err));
  return tt__place_told_on(d, walk, plan, looked_at, is_small, out, err);
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
  assert(!p->chosen || tt__session_is_held());
  if (!p->chosen) return;
  for (int i = 0; i < walk->n; i++) {
    const tt_node *n = walk->node[i];
    if (!is_leaf(n)) continue;
    if (n->attr.buf->owed_ns > p->owed_ns) p->owed_ns = n->attr.buf->owed_ns;
    if (n->attr.buf->kind) p->kind = n->attr.buf->kind;
  }
  p->owed_ns += (float)p->prices.gain_ns;
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
  tt_device *d = gpu_opened();
  if (as->promised_ns <= 0 || !d || tt__device_lost(d) || tt__place_told() != TT_ANYWHERE) return 0;
  const tt_machine *m = tt__machine();
  tt__calibrate_device(d);
  double move_ns = tt__move_ns(m->device[tt__machine_device(d)].rates.up_ns, bytes);
  double copy_ns = tt__from_data_ns(bytes); /* which is spared */
  if (copy_ns <= 0) copy_ns = 2 * bytes / m->host.bytes_per_ns;
  return move_ns - copy_ns < CLEARLY * as->promised_ns && move_ns < SURE * as->promised_ns ? d->id : 0;
}

/* What was worth less than was expected takes from that, so that few are expected in vain. */
void tt__place_forget(const tt_buffer *b) {
  assert(b->kind > 0);
  float *worth = &worth_of[b->kind - 1];
  if (b->owed_ns < *worth / 2)
    *worth /= 2;
  else if (b->owed_ns < *worth)
    *worth = b->owed_ns;
}
