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

#include <string.h>

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

static void is_done(tt_decisions *out, const tt_follow *follow, tt_where device) {
  out->step[follow->step] = (tt_decision){.where = (int8_t)device, .way = TT_WAY_DONE};
}

static tt_code place_library(const tt_situation *s, int at, tt_where device, tt_decisions *out, tt_error *err) {
  tt_tiles cut;
  tt_decision *d = &out->step[at];
  uint8_t not_so = s->facts[at].not_so;
  const tt_lib_row *row = s->walk->node[s->plan->step[at].lib]->attr.lib->row;
  bool has_it = row->run_on && !tt__device_of(s, device)->is_simulated;
  if (is_cut_library(s, at, device, &cut)) {
    d->way = TT_WAY_STREAM_LIBRARY;
    if (cut.follow.epilogue) is_done(out, &cut.follow, device);
    return keep_cut(out, &cut, sizeof cut, (const void **)&d->cut.tiles, err);
  }
  if (has_it && s->fuse && !(not_so & (TT_NOT_FOLLOWED | TT_NOT_WHOLE)) &&
      tt__sched_follow(s->walk, s->plan, at, &d->follow)) {
    d->way = TT_WAY_EPILOGUE;
    is_done(out, &d->follow, device);
  }
  d->falls_back = !has_it || (not_so & TT_NOT_WHOLE);
  return TT_OK;
}

/* ---- what lies where after it */

static void lies_at(tt_situation *s, int32_t node, tt_where where) { s->value[node].on |= tt__where_bit(where); }

static void settle(tt_situation *s, int at, const tt_decisions *out) {
  const tt_step *st = &s->plan->step[at];
  const tt_decision *d = &out->step[at];
  bool windows = d->way == TT_WAY_STREAM_KERNEL && d->cut.kernel->windows;
  bool tiles = d->way == TT_WAY_STREAM_LIBRARY;
  const tt_follow *follow = d->way == TT_WAY_EPILOGUE ? &d->follow : tiles ? &d->cut.tiles->follow : NULL;
  const tt_step *gives = follow && follow->epilogue ? &s->plan->step[follow->step] : st;
  if (d->way == TT_WAY_DONE) return;
  for (int i = 0; i < st->noperand && !windows; i++)
    if (!st->operand[i].write) lies_at(s, st->operand[i].node, d->where);
  for (int i = 0; i < st->nsrc && !tiles; i++) lies_at(s, st->src[i].node, d->where);
  for (int r = 0; r < gives->nroot; r++) {
    s->value[gives->root[r].node].on = tt__where_bit(windows || tiles ? TT_HOST : d->where);
    if (d->way == TT_WAY_STREAM_KERNEL && d->cut.kernel->down) lies_at(s, gives->root[r].node, TT_HOST);
  }
}

tt_code tt__place_steps(tt_situation *s, tt_where device, int from, tt_decisions *out, tt_error *err) {
  size_t size = sizeof *out->step * (size_t)s->plan->n;
  if (!out->step) out->step = tt__arena_alloc(&out->arena, size);
  if (!out->step) return tt__fail_memory(err, size);
  memset(out->step + from, 0, size - sizeof *out->step * (size_t)from);
  for (int i = from; i < s->plan->n; i++) {
    tt_decision *d = &out->step[i];
    uint8_t kind = s->plan->step[i].kind;
    if (d->way == TT_WAY_DONE) continue;
    d->where = (int8_t)device;
    if (device != TT_HOST && kind == TT_STEP_KERNEL) TT_TRY(place_kernel(s, i, device, out, err));
    if (device != TT_HOST && kind == TT_STEP_LIB) TT_TRY(place_library(s, i, device, out, err));
    if (d->falls_back) d->where = TT_HOST;
    settle(s, i, out);
  }
  return TT_OK;
}

bool tt__place_may_cut(const tt_situation *s, tt_where device) {
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

/* ---- as text */

static void print_tiles(const tt_tiles *t, tt_str *out) {
  static const char *const of[TT_TILE_AXES] = {"batch", "rows", "columns", "sums"};
  if (t->sort.count > 0) {
    tt__str_addf(out, "sort in runs=%lld of=%lld rows=%lld", (long long)t->sort.count, (long long)t->sort.run,
                 (long long)t->sort.rows);
  } else {
    tt__str_addf(out, "tiles turns=%lld", (long long)tt__tiles_turns(t));
    for (int k = 0; k < TT_TILE_AXES; k++)
      if (t->count[k] > 1) tt__str_addf(out, " %s=%lldx%lld", of[k], (long long)t->count[k], (long long)t->tile[k]);
  }
  tt__str_addf(out, " up=%.0f down=%.0f", t->up_bytes, t->down_bytes);
  if (t->follow.epilogue) tt__str_addf(out, " with step %d", t->follow.step);
}

static void print_decision(const tt_decision *d, tt_str *out) {
  switch ((tt_way)d->way) {
    case TT_WAY_STREAM_KERNEL:
      tt__str_addf(out, "%s=%lld up=%lld down=%lld", d->cut.kernel->windows ? "windows" : "pieces",
                   (long long)tt__partition_pieces(&d->cut.kernel->parts), (long long)d->cut.kernel->up_bytes,
                   (long long)d->cut.kernel->down_bytes);
      break;
    case TT_WAY_STREAM_LIBRARY:
      print_tiles(d->cut.tiles, out);
      break;
    case TT_WAY_EPILOGUE:
      tt__str_addf(out, "whole, with step %d", d->follow.step);
      break;
    case TT_WAY_DONE:
      tt__str_add(out, "done by an earlier step");
      break;
    default:
      tt__str_add(out, d->falls_back ? "whole, a fallback" : "whole");
  }
}

void tt__place_print(const tt_plan *plan, const tt_decisions *d, const tt_machine *m, tt_str *out) {
  for (int i = 0; i < plan->n; i++) {
    char name[16];
    int id = d->step[i].where == TT_HOST ? 0 : m->device[d->step[i].where].id;
    tt__str_addf(out, "place %d: %s ", i, tt__device_name(id, name));
    print_decision(&d->step[i], out);
    tt__str_add(out, "\n");
  }
}
