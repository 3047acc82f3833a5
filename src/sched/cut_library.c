/*
** Cutting library steps; see cut_library.h. What is cut along which axes, and whether it pays.
*/
#include "sched/cut_library.h"

#include <assert.h>

#include "sched/cost.h"

static const double ROOM = 0.8, SORT_ROOM = 0.5; /* for parts; sorts need more beside them */
static const double TURN_NS = 60000;             /* a turn's pipeline, launch and waits */

/* A step that may be cut, and where to. */
typedef struct subject {
  const tt_situation *s;
  int at;
  const tt_step *step;
  const tt_lib_row *row;
  const tt_machine_device *device;
  tt_where where;
  double room;
} subject;

static subject subject_of(const tt_situation *s, int at, tt_where where) {
  assert(s->plan->step[at].kind == TT_STEP_LIB && s->facts[at].share > 0);
  assert(at >= 0 && at < s->plan->n && where >= 0 && where < s->machine->ndevice);
  const tt_step *step = &s->plan->step[at];
  return (subject){.s = s,
                   .at = at,
                   .step = step,
                   .row = s->walk->node[step->lib]->attr.lib->row,
                   .device = tt__device_of(s, where),
                   .where = where,
                   .room = tt__device_of(s, where)->room * (double)s->facts[at].share};
}

/* Its bytes lie on the device, and may stay there meanwhile. */
static bool stays_there(const subject *x, int32_t node) {
  const tt_residence *v = &x->s->value[node];
  return tt__lies(x->s, node, x->where) && (v->is_borrowed || v->bytes < x->room / 2);
}

/* Bytes of the device that the step takes as a whole. */
static double bytes_whole(const subject *x) {
  double sum = 0;
  for (int i = 0; i < x->step->nsrc; i++) {
    bool again = false;
    for (int k = 0; k < i; k++) again |= x->step->src[k].node == x->step->src[i].node;
    if (!again) sum += x->s->value[x->step->src[i].node].bytes;
  }
  for (int r = 0; r < x->step->nroot; r++) sum += x->s->value[x->step->root[r].node].bytes;
  return sum;
}

/* ---- what it is cut along */

/* The axes of a batch, neighbours merged where all operands allow it. */
typedef struct batch_axis {
  int64_t len, step[TT_TILE_SIDES];
} batch_axis;

static int batch_axes(const tt_step *step, const tt_tiles *t, int naxes, int64_t inner, batch_axis *out) {
  int nside = t->nside;
  bool all_added = t->match.epilogue & TT_EPILOGUE_ADD;
  int n = 0;
  int64_t dense[TT_MAX_RANK], at = inner;
  for (int k = naxes - 1; k >= 0; k--) {
    dense[k] = at;
    at *= step->src[0].len[k];
  }
  for (int k = 0; k < naxes; k++) {
    batch_axis x = {.len = step->src[0].len[k]};
    bool merges = n > 0;
    if (x.len == 1) continue;
    for (int s = 0; s < nside; s++) {
      bool is_dense = s == nside - 1 || (s == step->nsrc && all_added);
      x.step[s] = is_dense ? dense[k] : s < step->nsrc ? step->src[s].step[k] : 0;
      merges = merges && out[n - 1].step[s] == x.step[s] * x.len;
    }
    if (merges) {
      x.len *= out[n - 1].len;
      n--;
    }
    out[n++] = x;
  }
  return n;
}

/* The longest one is cut, the others are looped over. */
static void set_batch(tt_tiles *t, const batch_axis *axis, int n) {
  int cut = 0;
  for (int k = 1; k < n; k++)
    if (axis[k].len > axis[cut].len) cut = k;
  t->len[TT_TILE_BATCH] = n ? axis[cut].len : 1;
  t->loops = 1;
  for (int k = 0; k < n; k++) {
    for (int s = 0; s < t->nside; s++) {
      if (k == cut)
        t->side[s].step[0] = axis[k].step[s];
      else
        t->side[s].loop_step[t->nloop] = axis[k].step[s];
    }
    if (k == cut) continue;
    t->loop_len[t->nloop++] = axis[k].len;
    t->loops *= axis[k].len;
  }
  for (int s = 0; s < t->nside; s++) {
    t->side[s].axis[0] = TT_TILE_BATCH;
    t->side[s].len[0] = t->side[s].step[0] ? t->len[TT_TILE_BATCH] : 1;
  }
}

/* A side's two inner axes: the one along which elements are neighbours is the last. */
static void set_matrix(tt_tile_side *s, int outer, int64_t outer_len, int64_t outer_step, int inner, int64_t inner_len,
                       int64_t inner_step) {
  bool turned = outer_step == 1 && (inner_step != 1 || inner_len == 1) && outer_len > 1;
  int i = turned ? 1 : 2, o = turned ? 2 : 1;
  s->axis[o] = outer, s->len[o] = outer_len, s->step[o] = outer_step;
  s->axis[i] = inner, s->len[i] = inner_len, s->step[i] = inner_step;
}

static bool is_product_cut(const subject *x, tt_tiles *t) {
  const tt_step *step = x->step;
  const tt_plib_src *a = &step->src[0], *b = &step->src[1];
  int r = a->rank;
  batch_axis axis[TT_MAX_RANK];
  if (r < 2 || b->rank != r) return false;
  int64_t m = a->len[r - 2], k = a->len[r - 1], n = b->len[r - 1];
  t->nside = t->match.epilogue && t->match.term >= 0 ? 4 : 3;
  t->len[TT_TILE_ROWS] = m, t->len[TT_TILE_COLS] = n, t->len[TT_TILE_DEEP] = k;
  set_matrix(&t->side[0], TT_TILE_ROWS, m, a->step[r - 2], TT_TILE_DEEP, k, a->step[r - 1]);
  set_matrix(&t->side[1], TT_TILE_DEEP, k, b->step[r - 2], TT_TILE_COLS, n, b->step[r - 1]);
  for (int i = 2; i < t->nside; i++) set_matrix(&t->side[i], TT_TILE_ROWS, m, n, TT_TILE_COLS, n, 1);
  if (t->match.epilogue & TT_EPILOGUE_BIAS) set_matrix(&t->side[2], -1, 1, n, TT_TILE_COLS, n, 1);
  set_batch(t, axis, batch_axes(step, t, r - 2, m * n, axis));
  tt_dtype type = (tt_dtype)x->s->walk->node[a->node]->dtype;
  t->sums = x->row->sums ? x->row->sums(type) : type;
  return m > 0 && n > 0 && k > 0;
}

/* Contiguous rows. */
static bool is_rows_cut(const tt_step *step, tt_tiles *t) {
  const tt_plib_src *a = &step->src[0];
  batch_axis axis[TT_MAX_RANK];
  if (a->rank < 2 || step->nsrc != 1) return false;
  int64_t n = a->len[a->rank - 1];
  t->nside = 2;
  t->len[TT_TILE_ROWS] = t->len[TT_TILE_COLS] = t->len[TT_TILE_DEEP] = 1;
  for (int s = 0; s < 2; s++) set_matrix(&t->side[s], -1, 1, n, -1, n, 1);
  set_batch(t, axis, batch_axes(step, t, a->rank - 1, n, axis));
  return n > 0 && t->len[TT_TILE_BATCH] > 1;
}

int32_t tt__tiles_node(const tt_step *step, const tt_tiles *t, int side) {
  assert(side >= 0 && side < t->nside);
  return side < step->nsrc ? step->src[side].node : t->match.term;
}

static bool set_sides(const subject *x, const tt_epilogue_match *match, tt_tiles *t) {
  const tt_step *step = x->step;
  *t = (tt_tiles){.nside = 0};
  if (match) t->match = *match;
  if (x->row->cut == TT_CUT_PRODUCT ? !is_product_cut(x, t) : !is_rows_cut(step, t)) return false;
  for (int i = 0; i < t->nside; i++) {
    bool is_result = i == t->nside - 1;
    bool is_term = !is_result && i >= step->nsrc, is_dense = is_term && (t->match.epilogue & TT_EPILOGUE_ADD);
    int32_t node = is_result ? step->root[0].node : tt__tiles_node(step, t, i);
    tt_dtype type = (tt_dtype)x->s->walk->node[node]->dtype;
    t->side[i].size = tt__dtype_size(type);
    t->side[i].off = is_result ? 0 : is_term ? t->match.offset : step->src[i].off;
    t->side[i].there = !is_result && !is_dense && stays_there(x, node); /* what is added must be dense */
    if (x->row->cut != TT_CUT_PRODUCT) t->sums = type;
  }
  return true;
}

/* ---- what it takes */

static double moves_ns(const double *took, double bytes) { return bytes > 0 ? tt__move_ns(took, bytes) : 0; }

static double work_of(const subject *x) {
  if (!x->device->is_simulated) return tt__cost_there(x->s, x->at, x->where);
  const tt_cost_call call = tt__cost_call(x->s->walk, x->step);
  return tt__cost_call_there(&call, x->device);
}

/* In tiles. */
static bool fit_tiles(const subject *x, const tt_epilogue_match *match, tt_tiles *out) {
  const tt_device_rates *c = &x->device->rates;
  const double much = 1 << 30;
  double up = 0, room = x->room;
  if (!set_sides(x, match, out)) return false;
  for (int i = 0; i < out->nside - 1; i++) {
    double bytes = x->s->value[tt__tiles_node(x->step, out, i)].bytes;
    if (out->side[i].there)
      room -= bytes;
    else
      up += bytes;
  }
  const tt_tile_costs costs = {.room = (x->row->cut == TT_CUT_SORT ? SORT_ROOM : ROOM) * room,
                               .up_bytes_per_ns = much / tt__move_ns(c->up_ns, much),
                               .down_bytes_per_ns = much / tt__move_ns(c->down_ns, much),
                               .both_bytes_per_ns = c->both_bytes_per_ns,
                               .work_ns = work_of(x),
                               .turn_ns = TURN_NS,
                               .splits_deep = x->row->cut == TT_CUT_PRODUCT && x->row->sums && !match};
  if (!tt__tiles_cut(out, &costs)) return false;
  out->up_ns = moves_ns(c->up_ns, up);
  out->work_ns = costs.work_ns;
  out->down_ns = moves_ns(c->down_ns, out->down_bytes);
  return true;
}

static bool fit_sort(const subject *x, tt_tiles *out) {
  const tt_device_rates *c = &x->device->rates;
  const tt_walk *walk = x->s->walk;
  *out = (tt_tiles){.work_ns = work_of(x)};
  if (!tt__cut_sort(walk, x->step, ROOM * x->room, &out->sort)) return false;
  out->ns = tt__cut_sort_ns(walk, x->step, &out->sort, c, out->work_ns, &out->up_bytes, &out->down_bytes);
  out->up_ns = moves_ns(c->up_ns, x->s->value[x->step->src[0].node].bytes);
  out->down_ns = moves_ns(c->down_ns, x->s->value[x->step->root[0].node].bytes);
  return true;
}

/* A product with what follows it, if that is sooner than the product alone, whose result then moves twice more, beside
 * what is added. */
static bool fit_followed(const subject *x, tt_tiles *out) {
  tt_epilogue_match match;
  tt_tiles alone;
  const tt_walk *walk = x->s->walk;
  const tt_plan *plan = x->s->plan;
  if (!x->row->run_on_then || !tt__sched_epilogue(walk, plan, x->at, &match) ||
      walk->node[plan->step[match.step].root[0].node]->dtype != walk->node[x->step->root[0].node]->dtype ||
      (match.term >= 0 && !x->s->value[match.term].on))
    return false;
  if (!fit_tiles(x, &match, out)) return false;
  if (!fit_tiles(x, NULL, &alone)) return true;
  double later = 2 * alone.down_bytes + (match.term >= 0 ? x->s->value[match.term].bytes : 0);
  return out->ns < alone.ns + later / x->device->rates.both_bytes_per_ns;
}

static bool fit(const subject *x, tt_tiles *out) {
  const tt_step_facts *facts = &x->s->facts[x->at];
  bool follows = x->s->fuse && !(facts->not_so & TT_NOT_FOLLOWED);
  if (x->step->nroot != 1 || x->row->cut == TT_CUT_NOT || (!x->device->is_simulated && facts->leaves)) return false;
  if (follows && x->row->cut == TT_CUT_PRODUCT && fit_followed(x, out)) return true;
  return fit_tiles(x, NULL, out) || (x->row->cut == TT_CUT_SORT && fit_sort(x, out));
}

bool tt__cut_library_fits(const tt_situation *s, int step, tt_where where, tt_tiles *out) {
  const subject x = subject_of(s, step, where);
  return fit(&x, out);
}

static bool has_no_room(const subject *x) { return x->row->cut != TT_CUT_NOT && bytes_whole(x) > x->device->room; }

bool tt__cut_library_must(const tt_situation *s, int step, tt_where where) {
  const subject x = subject_of(s, step, where);
  return has_no_room(&x);
}

bool tt__cut_library_pays(const tt_situation *s, int step, tt_where where, tt_tiles *out) {
  const subject x = subject_of(s, step, where);
  return has_no_room(&x) && fit(&x, out);
}
