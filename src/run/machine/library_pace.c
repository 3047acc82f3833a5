/*
** Paces of library calls; see library_pace.h.
*/
#include "run/machine/library_pace.h"

#include <assert.h>

#include "base/pool/pace.h"
#include "run/machine/calibrate.h"

enum { SEEN = 256 };

/* For each nanosecond of what the machine's figures say. */
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

double tt__library_likely(const tt_cost_call *call, tt_device *d) {
  const tt_machine *m = tt__machine();
  return d ? tt__cost_call_there(call, &m->device[tt__machine_device(d)]) : tt__cost_call_here(call, m);
}

void tt__library_took(const tt_cost_call *call, tt_device *d, double ns) {
  assert(ns >= 0);
  seen *s = seen_of(call, d != NULL);
  s->left = false;
  if (ns > 0 && s->warm && tt__calibrated(d)) { /* who never asked what anything costs need not know now */
    double likely = tt__library_likely(call, d);
    if (likely >= 1) tt__pace_add(&s->pace, likely, ns);
  }
  s->warm |= ns > 0;
}

double tt__library_measured(const tt_cost_call *call, tt_device *d, int far) {
  return tt__pace_ns(&seen_of(call, d != NULL)->pace, tt__library_likely(call, d), far);
}

void tt__library_left(const tt_cost_call *call) { seen_of(call, true)->left = true; }

bool tt__library_leaves(const tt_cost_call *call, tt_device *d) {
  if (d->target.is_host) return false;
  if (!call->row->run_on || call->work.steps < 0 || seen_of(call, true)->left) return true;
  return call->row->missing_on && d->target.kind == TT_DEVICE_CUDA && call->row->missing_on(d);
}
