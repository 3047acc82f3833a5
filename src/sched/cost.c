/*
** Predicted times; see cost.h.
*/
#include "sched/cost.h"

#include <assert.h>

#include "ir/kernel.h"

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

/* What has moved is not measured again: a measurement far from the figures is believed in part. */
static double believed(double measured, double likely) {
  if (measured <= 0) return likely;
  return measured < BEYOND * likely ? measured : BEYOND * likely;
}

/* ---- kernels */

/* `wide`: so many operations on float32 take as long as one on float64. */
static double kernel_ns(const tt_step_work *w, double bytes_per_ns, double ns_per_op, double wide, double launch_ns) {
  double by_memory = (double)(w->bytes_read + w->bytes_written) / bytes_per_ns;
  double by_work = w->points * (w->weight + w->wide * (wide - 1)) * ns_per_op;
  return launch_ns + (by_memory > by_work ? by_memory : by_work);
}

double tt__cost_kernel_there(const tt_step_work *w, const tt_machine_device *d) {
  assert(w->points >= 0 && w->weight >= 0);
  double wide = d->double_ratio > 1 ? d->double_ratio : 1;
  return kernel_ns(w, d->rates.bytes_per_ns, d->rates.ns_per_op, wide, d->rates.launch_ns);
}

double tt__cost_kernel_here(const tt_step_work *w, const tt_machine *m) {
  assert(w->points >= 0 && m->threads > 0);
  const tt_host_rates *h = &m->host;
  bool alone = w->points * w->weight < ALONE_WORK;
  return alone ? kernel_ns(w, h->bytes_per_ns, h->ns_per_op, 1, ALONE_NS)
               : kernel_ns(w, h->bytes_per_ns, h->ns_per_op / m->threads, 1, h->launch_ns);
}

/* What was measured of the kernel says more than the figures of the machine, but for code that will be better soon. */
static double kernel_here(const tt_situation *s, int step) {
  const tt_step_facts *f = &s->facts[step];
  double likely = tt__cost_kernel_here(s->plan->step[step].work, s->machine);
  return f->host_ns > likely && f->improves ? likely : believed(f->host_ns, likely);
}

/* ---- library steps */

tt_cost_call tt__cost_call(const tt_walk *walk, const tt_step *s) {
  assert(s->kind == TT_STEP_LIB && walk->node[s->lib]->op == TT_N_LIB);
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

static bool is_wide(const tt_cost_call *l) { return l->dtype == TT_F64 || l->dtype == TT_C128; }

double tt__cost_call_here(const tt_cost_call *l, const tt_machine *m) {
  const tt_host_rates *h = &m->host;
  static const tt_lib_cost plain = {.host_share = 1};
  const tt_lib_cost *cost = l->row->cost ? l->row->cost : &plain;
  double threads = m->threads, half = l->work.side > 0 ? cost->host_half / l->work.side : 0;
  double work = l->work.flops * (is_wide(l) ? WIDE_HOST : 1);
  double by_work = work * h->ns_per_flop / cost->host_share, by_memory = l->bytes / h->bytes_per_ns;
  if (l->work.tasks > 1) return h->launch_ns + l->work.tasks * TASK_NS + by_work * (1 + half) / threads;
  if (work < ALONE_FLOPS) return ALONE_NS + by_work * (1 + half);
  by_work *= (1 + half * threads) / (cost->host_few && threads > FEW_THREADS ? FEW_THREADS : threads);
  return h->launch_ns + (by_memory > by_work ? by_memory : by_work);
}

double tt__cost_call_there(const tt_cost_call *l, const tt_machine_device *d) {
  const tt_device_rates *c = &d->rates;
  double share = l->row->cost ? l->row->cost->device_share : 1, step = l->row->cost ? l->row->cost->step_ns : 0;
  bool counts = is_wide(l) && l->row->cost && !l->row->cost->no_arithmetic;
  double wide = counts && d->double_ratio > SHARES_RATIO ? d->double_ratio / SHARES_RATIO : 1;
  double by_memory = l->bytes / c->bytes_per_ns, by_work = l->work.flops * wide * c->ns_per_flop / share;
  return c->launch_ns + (l->work.steps > 0 ? CALL_NS + l->work.steps * step : 0) +
         (by_memory > by_work ? by_memory : by_work);
}

/* ---- both */

double tt__cost_here(const tt_situation *s, int step) {
  assert(step >= 0 && step < s->plan->n);
  const tt_step *st = &s->plan->step[step];
  if (st->kind == TT_STEP_KERNEL) return kernel_here(s, step);
  if (st->kind != TT_STEP_LIB) return 0;
  const tt_cost_call l = tt__cost_call(s->walk, st);
  return believed(s->facts[step].host_ns, tt__cost_call_here(&l, s->machine));
}

bool tt__cost_lacks(const tt_situation *s, int step, tt_where device) {
  uint32_t lacks = tt__device_of(s, device)->lacks;
  return lacks && (tt__kernel_types(s->plan->step[step].kernel) & lacks) != 0;
}

/* On the host, with what it reads and writes moved there and back. */
static double left_to_host(const tt_situation *s, int step, const tt_machine_device *d, double bytes) {
  return tt__move_ns(d->rates.up_ns, bytes) + tt__move_ns(d->rates.down_ns, bytes) + tt__cost_here(s, step);
}

double tt__cost_there(const tt_situation *s, int step, tt_where device) {
  assert(step >= 0 && step < s->plan->n && device >= 0 && device < s->machine->ndevice);
  const tt_step *st = &s->plan->step[step];
  const tt_machine_device *d = tt__device_of(s, device);
  if (st->kind == TT_STEP_KERNEL && tt__cost_lacks(s, step, device))
    return left_to_host(s, step, d, (double)(st->work->bytes_read + st->work->bytes_written));
  if (st->kind == TT_STEP_KERNEL)
    return tt__cost_kernel_there(st->work, d) + (st->kernel->serial ? kernel_here(s, step) : 0);
  if (st->kind != TT_STEP_LIB) return 0;
  const tt_cost_call l = tt__cost_call(s->walk, st);
  if (!s->facts[step].leaves) return tt__cost_call_there(&l, d);
  return left_to_host(s, step, d, l.bytes);
}
