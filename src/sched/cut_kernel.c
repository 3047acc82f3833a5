/*
** Cutting kernel steps; see cut_kernel.h.
*/
#include "sched/cut_kernel.h"

#include <assert.h>

#include "ir/user/launch.h"
#include "sched/cost.h"
#include "sched/partition.h"

enum { LEAST_PIECES = 8, ALIGNED = 256, MOST_FOLDED = 1 << 16 };
static const double LEAST_BYTES = 8 << 20, PIECE_BYTES = 16 << 20; /* that move */
static const double CLEARLY = 0.9;                                 /* a prediction is no better than that */

/* A step that may be cut, and where to. */
typedef struct subject {
  const tt_situation *s;
  const tt_step *step;
  const tt_machine_device *device;
  tt_where where;
} subject;

static subject subject_of(const tt_situation *s, int step, tt_where where) {
  assert(s->plan->step[step].kind == TT_STEP_KERNEL && s->plan->step[step].lowered);
  assert(step >= 0 && step < s->plan->n && where >= 0 && where < s->machine->ndevice);
  return (subject){.s = s, .step = &s->plan->step[step], .device = tt__device_of(s, where), .where = where};
}

/* The walk's number of what buffer `b` of the kernel belongs to, the size of an element, and how many it has. */
static int32_t node_of(const subject *x, int b, size_t *size, int64_t *count) {
  assert(b >= 0 && b < x->step->kernel->nbuf);
  const tt_lowered *l = x->step->lowered;
  int32_t node = x->step->operand[l->buf_operand[b]].node;
  const tt_node *n = x->s->walk->node[node];
  *size = tt__dtype_size((tt_dtype)n->dtype) / l->buf_parts[b];
  *count = n->size * l->buf_parts[b];
  return node;
}

static bool is_suited(const subject *x) {
  const tt_kernel *k = x->step->kernel;
  for (int r = 0; r < x->step->nroot; r++)
    if (x->step->root[r].base >= 0) return false;
  return !k->checked && !k->serial && k->nscalar <= TT_CUT_SCALARS;
}

static bool are_targets(const subject *x) {
  const tt_walk *walk = x->s->walk;
  int found = 0;
  for (int r = 0; r < x->step->nroot; r++)
    for (int t = 0; t < walk->ntarget; t++) found += walk->target[t] == x->step->root[r].node;
  return found == x->step->nroot;
}

/* Bytes of the device that all of it takes: in one, `whole`, or of what every piece needs whole. */
static double bytes_there(const subject *x, const tt_partition *p, bool whole) {
  double sum = 0;
  for (int b = 0; b < p->nbuf; b++) {
    size_t size;
    int64_t count;
    int32_t node = node_of(x, b, &size, &count);
    bool there = !p->buf[b].write && tt__lies(x->s, node, x->where);
    if ((whole || p->buf[b].whole) && !there) sum += (double)size * (double)count;
  }
  return sum;
}

/* What moves, and what that takes. */
static void predict(const subject *x, tt_kernel_cut *c) {
  const tt_device_rates *rates = &x->device->rates;
  c->up_bytes = c->down_bytes = 0;
  for (int b = 0; b < c->parts.nbuf; b++) {
    size_t size;
    int64_t count;
    int32_t node = node_of(x, b, &size, &count);
    int64_t bytes = (int64_t)size * count;
    if (c->parts.buf[b].write)
      c->down_bytes += c->down ? bytes : 0;
    else if (!c->parts.buf[b].whole && tt__comes_up(x->s, node, x->where))
      c->up_bytes += bytes;
  }
  c->up_ns = c->up_bytes ? tt__move_ns(rates->up_ns, (double)c->up_bytes) : 0;
  c->down_ns = c->down_bytes ? tt__move_ns(rates->down_ns, (double)c->down_bytes) : 0;
  c->work_ns = tt__cost_kernel_there(x->step->work, x->device);
}

/* In how many pieces, and what they take together. */
static bool cut(double room, tt_kernel_cut *c) {
  double bytes = (double)(c->up_bytes + c->down_bytes), pieces = bytes / PIECE_BYTES;
  if (pieces < LEAST_PIECES) pieces = LEAST_PIECES;
  if (c->windows && pieces < 4 * TT_CUT_DEPTH * bytes / room) pieces = 4 * TT_CUT_DEPTH * bytes / room;
  if (pieces > (double)c->parts.len) {
    if (c->windows) return false;
    pieces = (double)c->parts.len;
  }
  tt__sched_pieces(&c->parts, (int64_t)pieces);
  return tt__partition_pieces(&c->parts) > 1;
}

static void predict_all(const subject *x, tt_kernel_cut *c) {
  const tt_device_rates *rates = &x->device->rates;
  double both = (double)(c->up_bytes + c->down_bytes) / rates->both_bytes_per_ns;
  c->ns = both > c->work_ns ? both : c->work_ns;
  if (c->up_ns > c->ns) c->ns = c->up_ns;
  if (c->down_ns > c->ns) c->ns = c->down_ns;
  /* The first piece's way up and the last one's way down are alone. */
  double n = (double)tt__partition_pieces(&c->parts);
  c->ns += (c->up_ns + c->work_ns + c->down_ns) / n + n * rates->launch_ns;
}

/* The bytes of the kernel's buffers; false: there are too many of these. */
static bool all_bytes(const subject *x, int64_t *bytes) {
  if (x->step->kernel->nbuf > TT_PARTITION_BUFFERS) return false;
  for (int b = 0; b < x->step->kernel->nbuf; b++) {
    size_t size;
    node_of(x, b, &size, &bytes[b]);
    bytes[b] *= (int64_t)size;
  }
  return true;
}

static bool split_of(const subject *x, tt_kernel_cut *c) {
  int64_t bytes[TT_PARTITION_BUFFERS];
  *c = (tt_kernel_cut){0};
  return all_bytes(x, bytes) && tt__sched_partition(x->step->kernel, x->step->lowered, bytes, &c->parts);
}

/* Between outer points, in windows. */
static bool fit_split(const subject *x, tt_kernel_cut *out) {
  double room = x->device->room;
  if (!split_of(x, out)) return false;
  out->windows = out->down = true;
  predict(x, out);
  return cut(room, out) && bytes_there(x, &out->parts, false) <= room / 2;
}

/* Bytes of a slot of everything that comes apart. */
static double slots_of(const subject *x, const tt_partition *p) {
  double sum = 0;
  for (int b = 0; b < p->nbuf; b++) {
    size_t size;
    int64_t count;
    node_of(x, b, &size, &count);
    if (!p->buf[b].whole) sum += (double)tt__partition_most(p, b) * (double)size + 2 * ALIGNED;
  }
  return sum;
}

/* Along the row of a reduction, in pieces as large as there is room for. */
static bool fit_fold(const subject *x, tt_kernel_cut *out) {
  int64_t bytes[TT_PARTITION_BUFFERS];
  double room = x->device->room;
  *out = (tt_kernel_cut){.windows = true, .down = true};
  if (!all_bytes(x, bytes)) return false;
  for (int small = 0; small < 2; small++) {
    if (!tt__sched_fold(x->step->kernel, x->step->lowered, bytes, small, &out->parts)) continue;
    int64_t pieces = tt__partition_pieces(&out->parts);
    if (TT_CUT_DEPTH * slots_of(x, &out->parts) > room / 2 || pieces > MOST_FOLDED) continue;
    predict(x, out);
    out->down_bytes *= pieces;
    out->down_ns = tt__move_ns(x->device->rates.down_ns, (double)out->down_bytes);
    return bytes_there(x, &out->parts, false) <= room / 2;
  }
  return false;
}

static bool fit(const subject *x, tt_kernel_cut *out) {
  if (!is_suited(x) || (!fit_split(x, out) && !fit_fold(x, out))) return false;
  predict_all(x, out);
  return true;
}

bool tt__cut_kernel_fits(const tt_situation *s, int step, tt_where where, tt_kernel_cut *out) {
  const subject x = subject_of(s, step, where);
  return fit(&x, out);
}

/* At most so many bytes move. */
static double may_move(const subject *x) {
  double bytes = x->s->looked_at ? (double)x->step->work->bytes_written : 0;
  for (int i = 0; i < x->step->noperand; i++) {
    int32_t node = x->step->operand[i].node;
    if (!x->step->operand[i].write && tt__comes_up(x->s, node, x->where)) bytes += x->s->value[node].bytes;
  }
  return bytes;
}

static bool may_be_cut(const subject *x) {
  double bytes = (double)(x->step->work->bytes_read + x->step->work->bytes_written);
  return bytes >= LEAST_BYTES && (bytes > x->device->room || may_move(x) >= LEAST_BYTES);
}

bool tt__cut_kernel_may(const tt_situation *s, int step, tt_where where) {
  const subject x = subject_of(s, step, where);
  return may_be_cut(&x);
}

/* A reduction of everything, if its operands have no room. */
static bool fit_fold_whole(const subject *x, tt_kernel_cut *out) {
  if (!fit_fold(x, out) || bytes_there(x, &out->parts, true) <= x->device->room) return false;
  predict_all(x, out);
  return true;
}

bool tt__cut_kernel_pays(const tt_situation *s, int step, tt_where where, tt_kernel_cut *out) {
  const subject x = subject_of(s, step, where);
  double bytes = (double)(x.step->work->bytes_read + x.step->work->bytes_written), room = x.device->room;
  if (!may_be_cut(&x) || !is_suited(&x)) return false;
  if (!split_of(&x, out)) return bytes > room && fit_fold_whole(&x, out);
  if (bytes_there(&x, &out->parts, true) > room) return fit(&x, out);
  out->down = s->looked_at && are_targets(&x);
  predict(&x, out);
  if ((double)(out->up_bytes + out->down_bytes) < LEAST_BYTES || !cut(room, out)) return false;
  predict_all(&x, out);
  return out->ns < CLEARLY * (out->up_ns + out->work_ns + out->down_ns);
}
