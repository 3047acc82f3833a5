/*
** Placing; see place.h.
**
** Steps are placed one after the other, and with each one the table of what lies where is brought up to date: so a step
** knows what the one before has left on the device.
**
** A single evaluation rarely pays for moving its operands; a loop does. What a device saves of an evaluation, moves of
** operands left aside, is remembered with the operands (tt_residence.owed_ns) and handed to the results (run/place.c).
** Once the sum reaches the price of the move, the operands move. So a loop costs at most twice the better of the two,
** and soon costs what the better one costs.
*/
#include "sched/place.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "ir/library.h"
#include "sched/cost.h"

/* A choice must pay clearly; predictions are no better than this. */
#define CLEARLY 0.9
/* An evaluation on a device costs this much beside its launches; waiting for it and fetching results, that much. */
#define BIND_NS 3000.0
#define WAIT_NS 15000.0

/* ---- one step */

static void add_if_not_there(const tt_situation *s, int32_t node, double *sum) {
  if (!tt__lies(s, node, TT_HOST)) *sum += s->value[node].bytes;
}

bool tt__place_fits_host(const tt_situation *s, int at) {
  assert(at >= 0 && at < s->plan->n);
  const tt_step *st = &s->plan->step[at];
  double bytes = 0;
  for (int i = 0; i < st->noperand; i++) add_if_not_there(s, st->operand[i].node, &bytes);
  for (int i = 0; i < st->nsrc; i++) add_if_not_there(s, st->src[i].node, &bytes);
  for (int i = 0; i < st->nroot; i++) add_if_not_there(s, st->root[i].node, &bytes);
  return bytes < s->machine->host_room;
}

static tt_code keep_cut(tt_decisions *out, const void *cut, size_t size, const void **kept, tt_error *err) {
  *kept = tt__arena_dup(&out->arena, cut, size);
  return *kept ? TT_OK : tt__fail_memory(err, size);
}

/* In pieces: because it pays, or because it was found to have no room as a whole. */
static bool is_cut_kernel(const tt_situation *s, int at, tt_where device, tt_kernel_cut *cut) {
  uint8_t not_so = s->facts[at].not_so;
  if (!(not_so & TT_NOT_STREAMED) && tt__cut_kernel_pays(s, at, device, cut) &&
      !(cut->windows && ((not_so & TT_NOT_WINDOWED) || !tt__place_fits_host(s, at))))
    return true;
  return (not_so & TT_NO_ROOM) && !(not_so & TT_NOT_WINDOWED) && tt__cut_kernel_fits(s, at, device, cut);
}

static tt_code place_kernel(const tt_situation *s, int at, tt_where device, tt_decisions *out, tt_error *err) {
  tt_kernel_cut cut;
  tt_decision *d = &out->step[at];
  if (tt__cost_lacks(s, at, device)) {
    d->falls_back = true;
    return TT_OK;
  }
  if (is_cut_kernel(s, at, device, &cut)) {
    d->way = TT_WAY_STREAM_KERNEL;
    return keep_cut(out, &cut, sizeof cut, (const void **)&d->cut.kernel, err);
  }
  d->falls_back = (s->facts[at].not_so & TT_NOT_WHOLE) != 0;
  return TT_OK;
}

static bool is_cut_library(const tt_situation *s, int at, tt_where device, tt_tiles *cut) {
  const tt_step_facts *f = &s->facts[at];
  if ((f->not_so & TT_NOT_STREAMED) || !tt__place_fits_host(s, at)) return false;
  return f->not_so & TT_NO_ROOM ? tt__cut_library_fits(s, at, device, cut) : tt__cut_library_pays(s, at, device, cut);
}

static void is_done(tt_decisions *out, const tt_epilogue_match *match, tt_where device) {
  out->step[match->step] = (tt_decision){.where = (int8_t)device, .way = TT_WAY_DONE};
}

static tt_code place_library(const tt_situation *s, int at, tt_where device, tt_decisions *out, tt_error *err) {
  tt_tiles cut;
  tt_decision *d = &out->step[at];
  uint8_t not_so = s->facts[at].not_so;
  const tt_lib_row *row = s->walk->node[s->plan->step[at].lib]->attr.lib->row;
  const tt_machine_device *there = tt__device_of(s, device);
  bool has_it = there->is_host || (row->run_on && !there->is_simulated);
  if (is_cut_library(s, at, device, &cut)) {
    d->way = TT_WAY_STREAM_LIBRARY;
    if (cut.match.epilogue) is_done(out, &cut.match, device);
    return keep_cut(out, &cut, sizeof cut, (const void **)&d->cut.tiles, err);
  }
  if (has_it && !there->is_host && s->fuse && !(not_so & (TT_NOT_FOLLOWED | TT_NOT_WHOLE)) &&
      tt__sched_epilogue(s->walk, s->plan, at, &d->match)) {
    d->way = TT_WAY_EPILOGUE;
    is_done(out, &d->match, device);
  }
  d->falls_back = !has_it || (not_so & TT_NOT_WHOLE);
  return TT_OK;
}

/* ---- where */

/* (tests) Any place that has what the step needs; the caller's memory is written where it lies. */
static tt_where random_place(const tt_situation *s, int at, tt_where told) {
  const tt_step *st = &s->plan->step[at];
  uint64_t h = tt__hash_mix(s->scatter, (uint64_t)at);
  tt_where where = (tt_where)(h % (uint64_t)(s->machine->ndevice + 1)) - 1;
  for (int r = 0; r < st->nroot; r++) {
    const tt_residence *base = st->root[r].base >= 0 ? &s->value[st->root[r].base] : NULL;
    if (base && base->is_callers) return TT_HOST;
    if (base && base->is_borrowed) return told;
  }
  if (st->kind == TT_STEP_CALL) return told;
  return where != TT_HOST && st->kind == TT_STEP_LIB && tt__device_of(s, where)->is_simulated ? TT_HOST : where;
}

/* Launches run where they were asked for, everything else where the evaluation does. */
static tt_where where_of(const tt_situation *s, int at, tt_where told) {
  return s->scatter ? random_place(s, at, told) : told;
}

/* ---- what moves before it */

static bool must_move(const tt_situation *s, int32_t node, tt_where to) {
  const tt_residence *v = &s->value[node];
  return v->on && v->bytes > 0 && !tt__lies(s, node, to);
}

static tt_where lies_first(const tt_situation *s, int32_t node) {
  tt_where at = TT_HOST;
  while (at < s->machine->ndevice && !tt__lies(s, node, at)) at++;
  return at < s->machine->ndevice ? at : TT_NOWHERE;
}

/* The node must lie where step `at` runs. */
static tt_code want(const tt_situation *s, int at, int32_t node, tt_decisions *out, tt_error *err) {
  const tt_step *st = &s->plan->step[at];
  tt_decision *d = &out->step[at];
  const size_t most = sizeof *d->move * (size_t)(st->noperand + st->nsrc + st->nroot + 1);
  if (!must_move(s, node, d->where)) return TT_OK;
  for (int i = 0; i < d->nmove; i++)
    if (d->move[i].node == node) return TT_OK;
  tt_transfer *list = d->nmove ? (tt_transfer *)(uintptr_t)d->move : tt__arena_alloc(&out->arena, most);
  if (!list) return tt__fail_memory(err, most);
  list[d->nmove++] = (tt_transfer){.node = node, .from = (int8_t)lies_first(s, node), .to = d->where};
  d->move = list;
  return TT_OK;
}

/* What a step that runs whole needs in its place. The rest moves with its pieces; a step of no work moves nothing. */
static tt_code list_moves(const tt_situation *s, int at, tt_decisions *out, tt_error *err) {
  const tt_step *st = &s->plan->step[at];
  const tt_decision *d = &out->step[at];
  int32_t node;
  if (st->kind == TT_STEP_EMPTY || (d->way != TT_WAY_WHOLE && d->way != TT_WAY_EPILOGUE)) return TT_OK;
  for (int k = 0; (node = tt__step_need(st, k)) != TT_P_END; k++)
    if (node != TT_P_NONE) TT_TRY(want(s, at, node, out, err));
  return d->way == TT_WAY_EPILOGUE && d->match.term >= 0 ? want(s, at, d->match.term, out, err) : TT_OK;
}

/* ---- what lies where after it */

static void lies_at(tt_situation *s, int32_t node, tt_where where) { s->value[node].on |= tt__where_bit(where); }

/* A result lies where the step ran; of a step without work, where the value lies that goes on by another name. */
static void settle_root(tt_situation *s, const tt_step *st, const tt_proot *root, tt_where where) {
  tt_residence *v = &s->value[root->node];
  const tt_residence *base = root->base >= 0 ? &s->value[root->base] : NULL;
  v->on = base && st->kind == TT_STEP_EMPTY ? base->on : tt__where_bit(where);
  v->is_callers = base && base->is_callers;
}

static void settle(tt_situation *s, int at, const tt_decisions *out) {
  const tt_step *st = &s->plan->step[at];
  const tt_decision *d = &out->step[at];
  bool windows = d->way == TT_WAY_STREAM_KERNEL && d->cut.kernel->windows;
  bool tiles = d->way == TT_WAY_STREAM_LIBRARY;
  const tt_epilogue_match *match = d->way == TT_WAY_EPILOGUE ? &d->match : tiles ? &d->cut.tiles->match : NULL;
  const tt_step *gives = match && match->epilogue ? &s->plan->step[match->step] : st;
  if (d->way == TT_WAY_DONE) return;
  for (int i = 0; i < st->noperand && !windows; i++)
    if (!st->operand[i].write) lies_at(s, st->operand[i].node, d->where);
  for (int i = 0; i < st->nsrc && !tiles; i++) lies_at(s, st->src[i].node, d->where);
  for (int i = 0; i < d->nmove; i++) lies_at(s, d->move[i].node, d->where);
  for (int r = 0; r < gives->nroot; r++) {
    settle_root(s, gives, &gives->root[r], windows || tiles ? TT_HOST : d->where);
    if (d->way == TT_WAY_STREAM_KERNEL && d->cut.kernel->down) lies_at(s, gives->root[r].node, TT_HOST);
  }
}

static tt_code place_step(tt_situation *s, int at, tt_where told, tt_decisions *out, tt_error *err) {
  tt_decision *d = &out->step[at];
  uint8_t kind = s->plan->step[at].kind;
  tt_where where = where_of(s, at, told);
  d->where = (int8_t)where;
  if (where != TT_HOST && kind == TT_STEP_KERNEL) TT_TRY(place_kernel(s, at, where, out, err));
  if (where != TT_HOST && kind == TT_STEP_LIB) TT_TRY(place_library(s, at, where, out, err));
  if (where != TT_HOST && kind == TT_STEP_EMPTY) d->falls_back = (s->facts[at].not_so & TT_NOT_WHOLE) != 0;
  if (d->falls_back) d->where = TT_HOST;
  TT_TRY(list_moves(s, at, out, err));
  settle(s, at, out);
  return TT_OK;
}

tt_code tt__place_steps(tt_situation *s, tt_where told, int from, tt_decisions *out, tt_error *err) {
  assert(from >= 0 && from <= s->plan->n);
  size_t size = sizeof *out->step * (size_t)s->plan->n;
  int kept = out->step ? from : 0; /* a plan that was told its place has no decisions until it is placed once more */
  if (!out->step) out->step = tt__arena_alloc(&out->arena, size);
  if (!out->step) return tt__fail_memory(err, size);
  memset(out->step + kept, 0, size - sizeof *out->step * (size_t)kept);
  for (int i = 0; i < from; i++)
    if (out->step[i].way == TT_WAY_EPILOGUE) is_done(out, &out->step[i].match, out->step[i].where);
  for (int i = from; i < s->plan->n; i++)
    if (out->step[i].way != TT_WAY_DONE) TT_TRY(place_step(s, i, told, out, err));
  for (int i = from; i < s->plan->n; i++) assert(!tt__decision_check(s->plan, out, i));
  return TT_OK;
}

bool tt__place_may_cut(const tt_situation *s, tt_where device) {
  assert(device >= 0 && device < s->machine->ndevice);
  for (int i = 0; i < s->plan->n; i++) {
    uint8_t kind = s->plan->step[i].kind;
    if (kind == TT_STEP_KERNEL && tt__cut_kernel_may(s, i, device)) return true;
    if (kind == TT_STEP_LIB && tt__cut_library_must(s, i, device)) return true;
  }
  return false;
}

/* ---- prices */

double tt__place_host_ns(const tt_situation *s) {
  double ns = 0;
  for (int i = 0; i < s->plan->n; i++) ns += tt__cost_here(s, i);
  return ns;
}

static bool is_leaf(const tt_situation *s, int32_t node) { return s->value[node].on && s->value[node].bytes > 0; }

/* Bringing the walk's leaves to a device. */
static double moves_to(const tt_situation *s, tt_where device) {
  double ns = 0;
  for (int i = 0; i < s->walk->n; i++)
    if (is_leaf(s, i) && !tt__lies(s, i, device))
      ns += tt__move_ns(tt__device_of(s, device)->rates.up_ns, s->value[i].bytes);
  return ns;
}

/* What they have been lent for it: by what came before, or by what is expected after this evaluation. */
static double lent_to(const tt_situation *s, tt_where device, double gain) {
  double ns = 0;
  for (int i = 0; i < s->walk->n; i++) {
    const tt_residence *v = &s->value[i];
    if (!is_leaf(s, i) || tt__lies(s, i, device)) continue;
    double move = tt__move_ns(tt__device_of(s, device)->rates.up_ns, v->bytes);
    double ahead = v->promised_ns - v->owed_ns - gain, worth = v->owed_ns > ahead ? v->owed_ns : ahead;
    ns += worth < move ? worth : move;
  }
  return ns;
}

static double moves_home(const tt_situation *s, tt_where device) {
  double ns = 0;
  for (int i = 0; i < s->walk->n; i++)
    if (is_leaf(s, i) && !tt__lies(s, i, TT_HOST))
      ns += tt__move_ns(tt__device_of(s, device)->rates.down_ns, s->value[i].bytes);
  return ns;
}

static double results_home(const tt_situation *s, tt_where device) {
  double ns = WAIT_NS;
  for (int t = 0; t < s->walk->ntarget; t++)
    ns += tt__move_ns(tt__device_of(s, device)->rates.down_ns, s->value[s->walk->target[t]].bytes);
  return ns;
}

/* What a step saves by moving and working at once; below 0 where operands come up several times. */
static double saved_by(const tt_situation *s, const tt_decision *d) {
  if (d->way == TT_WAY_STREAM_KERNEL) {
    const tt_kernel_cut *c = d->cut.kernel;
    return c->up_ns + c->work_ns + c->down_ns - c->ns;
  }
  if (d->way != TT_WAY_STREAM_LIBRARY) return 0;
  const tt_tiles *t = d->cut.tiles;
  return t->up_ns + t->work_ns + (s->looked_at ? t->down_ns : 0) - t->ns;
}

tt_code tt__place_prices(tt_situation *s, tt_where device, double host_ns, tt_decisions *out, tt_prices *p,
                         tt_error *err) {
  assert(device >= 0 && device < s->machine->ndevice && host_ns >= 0);
  double steps_ns = BIND_NS, saved_ns = 0, home_ns = s->looked_at ? results_home(s, device) : 0;
  for (int i = 0; i < s->plan->n; i++) steps_ns += tt__cost_there(s, i, device);
  p->gain_ns = host_ns - steps_ns - home_ns;
  p->host_ns = host_ns + moves_home(s, device);
  p->moves_ns = moves_to(s, device) + home_ns;
  p->lent_ns = lent_to(s, device, p->gain_ns);
  TT_TRY(tt__place_steps(s, device, 0, out, err));
  for (int i = 0; i < s->plan->n; i++) saved_ns += saved_by(s, &out->step[i]);
  p->device_ns = p->moves_ns + steps_ns - saved_ns;
  p->moves_ns -= saved_ns < p->moves_ns ? saved_ns : p->moves_ns;
  return TT_OK;
}

bool tt__place_pays(const tt_prices *p) { return p->device_ns - p->lent_ns < CLEARLY * p->host_ns; }
