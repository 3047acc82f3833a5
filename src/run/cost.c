/*
** Predicted times; see cost.h.
*/
#include "run/cost.h"

#include "base/pace.h"
#include "base/pool.h"
#include "run/calibrate.h"
#include "run/exec.h"

/* What was measured is believed up to so many times of what the machine's figures say. */
#define BEYOND 8.0
/* Work (instruction-elements, or flops of a library step) that the calling thread does alone, and what that costs. */
#define ALONE_WORK 65536.0
#define ALONE_FLOPS 1e6
#define ALONE_NS 800.0
/* Threads that a factorization makes use of; giving a thread a task of its own; float64 for float32. */
#define FEW_THREADS 4
#define TASK_NS 1000.0
#define WIDE_HOST 1.6
/* The shares of rows were measured where float32 is twice as fast, and hold for both. */
#define SHARES_RATIO 2.0
/* A device's library is called, and waited for. */
#define CALL_NS 20000.0

/* ---- kernels */

/* `wide`: so many operations on float32 take as long as one on float64. */
static double kernel_ns(const tt_launch *l, double bytes_per_ns, double ns_per_op, double wide, double launch_ns) {
  double by_memory = (double)(l->bytes_read + l->bytes_written) / bytes_per_ns;
  double by_work = l->points * (l->unit->weight + l->unit->wide * (wide - 1)) * ns_per_op;
  return launch_ns + (by_memory > by_work ? by_memory : by_work);
}

double tt__cost_kernel(const tt_launch *l, tt_device *d) {
  const tt_device_costs *c = tt__device_costs(d);
  double wide = d->target.double_ratio > 1 ? d->target.double_ratio : 1;
  return kernel_ns(l, c->bytes_per_ns, c->ns_per_op, wide, c->launch_ns);
}

/* What was measured of the kernel says more than the figures of the machine, but for code that will be better soon. */
static double kernel_here(const tt_launch *l) {
  const tt_calibration *c = tt__calibration();
  bool alone = l->points * l->unit->weight < ALONE_WORK;
  double measured = tt__unit_ns(l->unit, l->points);
  double likely = alone ? kernel_ns(l, c->bytes_per_ns, c->ns_per_op, 1, ALONE_NS)
                        : kernel_ns(l, c->bytes_per_ns, c->ns_per_op / tt__pool_size(), 1, c->launch_ns);
  if (measured <= 0 || (measured > likely && tt__unit_improves(l->unit))) return likely;
  return measured < BEYOND * likely ? measured : BEYOND * likely; /* what has moved is not measured again */
}

/* ---- library steps */

tt_cost_call tt__cost_call(const tt_walk *walk, const tt_step *s) {
  const tt_lib_attr *attr = walk->node[s->lib]->attr.lib;
  tt_operand src[TT_NODE_SRC];
  unsigned wanted = 0;
  tt_cost_call out = {.row = attr->row};
  for (int i = 0; i < s->nsrc; i++) {
    src[i] = (tt_operand){.dtype = (tt_dtype)walk->node[s->src[i].node]->dtype,
                          .rank = s->src[i].rank,
                          .len = s->src[i].len,
                          .step = s->src[i].step};
    double n = (double)tt__dtype_size(src[i].dtype);
    for (int d = 0; d < s->src[i].rank; d++) n *= (double)s->src[i].len[d];
    out.bytes += n;
  }
  for (int r = 0; r < s->nroot; r++) {
    const tt_node *n = walk->node[s->root[r].node];
    out.bytes += (double)n->size * (double)tt__dtype_size((tt_dtype)n->dtype);
    wanted |= 1u << n->attr.pick;
  }
  out.dtype = (tt_dtype)walk->node[s->nsrc ? s->src[0].node : s->root[0].node]->dtype;
  out.work = attr->row->cost ? attr->row->cost->work(attr, src, wanted) : (tt_lib_work){.flops = 4 * out.bytes};
  return out;
}

/* By the figures alone. */
static double call_here(const tt_cost_call *l) {
  const tt_calibration *c = tt__calibration();
  static const tt_lib_cost plain = {.host_share = 1};
  const tt_lib_cost *cost = l->row->cost ? l->row->cost : &plain;
  double threads = tt__pool_size(), half = l->work.side > 0 ? cost->host_half / l->work.side : 0;
  double work = l->work.flops * (l->dtype == TT_F64 || l->dtype == TT_C128 ? WIDE_HOST : 1);
  double by_work = work * c->ns_per_flop / cost->host_share, by_memory = l->bytes / c->bytes_per_ns;
  if (l->work.tasks > 1) return c->launch_ns + l->work.tasks * TASK_NS + by_work * (1 + half) / threads;
  if (work < ALONE_FLOPS) return ALONE_NS + by_work * (1 + half);
  by_work *= (1 + half * threads) / (cost->host_few && threads > FEW_THREADS ? FEW_THREADS : threads);
  return c->launch_ns + (by_memory > by_work ? by_memory : by_work);
}

static double call_there(const tt_cost_call *l, const tt_device *d, const tt_device_costs *c) {
  double share = l->row->cost ? l->row->cost->device_share : 1, step = l->row->cost ? l->row->cost->step_ns : 0;
  bool is_wide = (l->dtype == TT_F64 || l->dtype == TT_C128) && l->row->cost && !l->row->cost->no_arithmetic;
  double wide = is_wide && d->target.double_ratio > SHARES_RATIO ? d->target.double_ratio / SHARES_RATIO : 1;
  double by_memory = l->bytes / c->bytes_per_ns, by_work = l->work.flops * wide * c->ns_per_flop / share;
  return c->launch_ns + (l->work.steps > 0 ? CALL_NS + l->work.steps * step : 0) +
         (by_memory > by_work ? by_memory : by_work);
}

double tt__cost_likely(const tt_cost_call *call, tt_device *d) {
  return d ? call_there(call, d, tt__device_costs(d)) : call_here(call);
}

/* ---- what calls were seen to take, for each nanosecond of what the figures say */

enum { SEEN = 256 };
typedef struct seen {
  const tt_lib_row *row;
  tt_dtype dtype;
  bool there, tasks;
  bool left; /* the last one of this kind, by the device */
  bool warm; /* one was timed; that one may have loaded a library */
  tt_pace pace;
} seen;

static seen all_seen[SEEN];

/* Rows that share a place forget each other. */
static seen *seen_of(const tt_cost_call *l, bool there) {
  bool tasks = l->work.tasks > 1;
  uint64_t at = (uint64_t)(uintptr_t)l->row / sizeof *l->row * 61 + (uint64_t)l->dtype * 4 + tasks * 2u + there;
  seen *s = &all_seen[at % SEEN];
  if (s->row != l->row || s->dtype != l->dtype || s->there != there || s->tasks != tasks)
    *s = (seen){.row = l->row, .dtype = l->dtype, .there = there, .tasks = tasks};
  return s;
}

void tt__cost_took(const tt_cost_call *call, tt_device *d, double ns) {
  seen *s = seen_of(call, d != NULL);
  s->left = false;
  if (ns > 0 && s->warm && tt__calibrated(d)) { /* who never asked what anything costs need not know now */
    double likely = tt__cost_likely(call, d);
    if (likely >= 1) tt__pace_add(&s->pace, likely, ns);
  }
  s->warm |= ns > 0;
}

double tt__cost_measured(const tt_cost_call *call, tt_device *d) {
  return tt__pace_ns(&seen_of(call, d != NULL)->pace, tt__cost_likely(call, d), 0);
}

void tt__cost_left(const tt_cost_call *call) { seen_of(call, true)->left = true; }

static double library_here(const tt_cost_call *l) {
  double likely = call_here(l), measured = tt__pace_ns(&seen_of(l, false)->pace, likely, 1);
  if (measured <= 0) return likely;
  return measured < BEYOND * likely ? measured : BEYOND * likely;
}

bool tt__cost_leaves(const tt_cost_call *call, tt_device *d) {
  if (!call->row->run_on || call->work.steps < 0 || seen_of(call, true)->left) return true;
  return call->row->missing_on && d->target.kind == TT_DEVICE_CUDA && call->row->missing_on(d);
}

/* ---- both */

double tt__cost_here(const tt_walk *walk, const tt_step *s) {
  if (s->kind == TT_STEP_KERNEL) return kernel_here(s->launch);
  if (s->kind != TT_STEP_LIB) return 0;
  tt_cost_call l = tt__cost_call(walk, s);
  return library_here(&l);
}

double tt__cost_there(const tt_walk *walk, const tt_step *s, tt_device *d) {
  const tt_device_costs *c = tt__device_costs(d);
  if (s->kind == TT_STEP_KERNEL) {
    const tt_launch *l = s->launch;
    return tt__cost_kernel(l, d) + (l->unit->kernel->serial ? kernel_here(l) : 0);
  }
  if (s->kind != TT_STEP_LIB) return 0;
  tt_cost_call l = tt__cost_call(walk, s);
  if (!tt__cost_leaves(&l, d)) return call_there(&l, d, c);
  return tt__move_ns(c->up_ns, l.bytes) + tt__move_ns(c->down_ns, l.bytes) + library_here(&l);
}
