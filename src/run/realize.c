/*
** The driver. An evaluation reads:
**
**   walk      the pending graph, children first, and its key
**   plan      found by the key, or: schedule -> lower -> a unit for each kernel
**   execute   step by step; each leaves its roots in memory
*/
#include "run/realize.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "device/streams.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/call.h"
#include "graph/eager/walk.h"
#include "graph/session.h"
#include "ir/reach.h"
#include "kernel/lower.h"
#include "lib/scan/fold.h"
#include "run/elements.h"
#include "run/exec.h"
#include "run/exec_call.h"
#include "run/device/exec_device.h"
#include "run/place.h"
#include "run/machine/library_pace.h"
#include "run/device/batch.h"
#include "run/device/later.h"
#include "run/residency.h"
#include "run/outofcore/stream_kernel.h"
#include "run/outofcore/stream_library.h"
#include "run/walk.h"
#include "sched/order.h"
#include "sched/sched.h"

#define MOST_PLANS 1024
#define BUCKETS 512
/* A microsecond or two of a device's time: bytes, instruction-elements. */
#define SMALL_BYTES 2e6
#define SMALL_WORK 2e6
/* What is predicted to be shorter is not timed: two looks at the clock are a tenth of a small evaluation. */
#define TIMED_NS 10000.0
/* Of a device a row has a block, and 32 columns have one. A launch takes a few microseconds; one block, that long for
 * 4,096 elements that no registers hold, or for a thousand rows of 32 columns. */
static const tt_few_rows cpu_rows = {16, 1, 65536, 65536, 65536}, device_rows = {256, 32, 65536, 4096, 1024};

/* A plan, found again by the key of the graph it was made for. */
typedef struct made_plan {
  tt_plan *plan;
  int64_t *key;
  int64_t nkey;
  uint64_t hash, used; /* `used`: when, in evaluations */
  bool is_small;       /* kernels that take a device less time than their launches take us */
  struct made_plan *next;
  tt_replay replay;
} made_plan;

static made_plan *bucket[BUCKETS];
static int nplan;
static uint64_t evaluations;
static bool fuse = true;
static tt_walker walker; /* one evaluation at a time */
enum { WAIT_NS = 50000000, CACHE_LINE = 64 };

/* One evaluation at a time. Taken with the session lock given up, so that no thread waits for one while holding the
 * other. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) {
  if (pthread_mutex_trylock(&one_at_a_time) == 0) return;
  int depth = tt__session_suspend();
  pthread_mutex_lock(&one_at_a_time);
  tt__session_resume(depth);
}

/* The same, but who waits for another thread's evaluation hears Ctrl-C. */
static tt_code enter_or_leave(tt_error *err) {
  if (pthread_mutex_trylock(&one_at_a_time) == 0) return TT_OK;
  int depth = tt__session_suspend();
  tt_code code = TT_OK;
  for (;;) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += WAIT_NS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&one_at_a_time, &end) == 0) break;
    if (!tt__interrupt_waiting()) continue;
    code = tt__interrupt_told(err);
    break;
  }
  tt__session_resume(depth);
  return code;
}

bool tt__realize_busy(void) {
  if (pthread_mutex_trylock(&one_at_a_time) != 0) return true;
  pthread_mutex_unlock(&one_at_a_time);
  return false;
}

/* ---- plans */

static void drop_launches(tt_plan *p) {
  for (int i = 0; i < p->n; i++) {
    tt_launch *l = p->step[i].launch;
    if (!l) continue;
    tt__exec_forget(l);
    tt__str_free(&l->producer);
    tt__unit_release(l->unit);
    tt__lowered_free(l->lowered);
    tt__mem_free(l, sizeof *l);
  }
}

static void drop_plan(made_plan *m) {
  tt__replay_free(&m->replay);
  drop_launches(m->plan);
  tt__plan_free(m->plan);
  tt__mem_free(m->key, sizeof *m->key * (size_t)m->nkey);
  tt__mem_free(m, sizeof *m);
}

/* Keep the more recently used half. */
static void trim_plans(uint64_t older_than) {
  for (int b = 0; b < BUCKETS; b++) {
    for (made_plan **at = &bucket[b]; *at;) {
      made_plan *m = *at;
      if (m->used >= older_than) {
        at = &m->next;
        continue;
      }
      *at = m->next;
      nplan--;
      drop_plan(m);
    }
  }
}

void tt__realize_trim(void) {
  enter();
  tt__batch_trim();
  trim_plans(UINT64_MAX);
  tt__unit_trim(false);
  tt__walk_free(&walker);
  pthread_mutex_unlock(&one_at_a_time);
}

void tt__realize_set_fuse(bool on) {
  fuse = on;
  tt__place_set_fuse(on);
}

static void log_plan(const tt_plan *p) {
  if (!tt__log_on(TT_LOG_SCHED)) return;
  tt_str s = {0};
  tt__plan_print(p, &s);
  if (!s.failed && s.data) tt__log_artefact(TT_LOG_SCHED, "plan", s.data);
  tt__str_free(&s);
}

/* How many elements come with each point of a walk: memory gives whole lines, so what lies between two points of one
 * line is paid for as well. */
static int64_t elements_with_each(const tt_reach *r, int64_t item) {
  int64_t most = item < CACHE_LINE ? CACHE_LINE / item : 1;
  for (int i = 0; i < r->naxes; i++) {
    int64_t gap = r->step[i] < 0 ? -r->step[i] : r->step[i];
    if (r->len[i] > 1 && gap > 0 && gap < most) most = gap;
  }
  return most;
}

/* Elements that are read of an operand: of slices, and by index, no more than there are points. */
static int64_t elements_read(const tt_step *st, int operand, const tt_node *of) {
  int64_t n = 0, all = of->size, item = (int64_t)tt__dtype_size((tt_dtype)of->dtype);
  for (int i = 0; i < st->ninst && n < all; i++) {
    if (st->inst[i].op != TT_P_LOAD && st->inst[i].op != TT_P_LOADX) continue;
    const tt_paccess *a = &st->access[st->inst[i].ref];
    if (a->operand != operand) continue;
    bool by_index = st->inst[i].op == TT_P_LOADX;
    tt_reach r = {.naxes = st->space.naxes, .len = st->space.len, .step = by_index ? st->space.len : a->step};
    int64_t points = tt__reach_points(&r), with = by_index ? 1 : elements_with_each(&r, item);
    n = points > (all - n) / with ? all : n + points * with;
  }
  return n;
}

static void count_bytes(const tt_walk *walk, const tt_step *st, tt_step_work *w) {
  for (int i = 0; i < st->noperand; i++) {
    const tt_node *n = walk->node[st->operand[i].node];
    bool writes = st->operand[i].write, part = writes && (n->op == TT_N_STORE || n->op == TT_N_SCATTER);
    int64_t elements = n->size;
    if (part) elements = n->src[1]->size;
    if (!writes) elements = elements_read(st, i, n);
    int64_t bytes = elements * (int64_t)tt__dtype_size((tt_dtype)n->dtype);
    *(writes ? &w->bytes_written : &w->bytes_read) += bytes;
  }
}

static tt_code lower_step(const tt_walk *walk, tt_step *st, const tt_lower_options *options, tt_error *err) {
  tt_launch *l = tt__mem_zalloc(sizeof *l);
  if (!l) return tt__fail_memory(err, sizeof *l);
  tt_code code = tt__lower_step(st, options, &l->lowered, err);
  if (code == TT_OK) {
    tt_kernel *k = l->lowered->kernel;
    l->lowered->kernel = NULL;
    code = tt__unit_of(k, &l->unit, err);
  }
  if (code != TT_OK) {
    tt__lowered_free(l->lowered);
    tt__mem_free(l, sizeof *l);
    return code;
  }
  l->work = (tt_step_work){.points = 1, .weight = l->unit->weight, .wide = l->unit->wide};
  for (int k = 0; k < st->space.naxes; k++) l->work.points *= (double)st->space.len[k];
  count_bytes(walk, st, &l->work);
  st->kernel = l->unit->kernel;
  st->lowered = l->lowered;
  st->work = &l->work;
  st->launch = l;
  return TT_OK;
}

/* Was the work put on a device? (Work that goes there because it is cheaper has the plan of the CPU.) */
static int label_of(const tt_walk *walk) {
  const tt_node *n = walk->node[walk->target[0]];
  int label = n->op == TT_N_CALL ? n->attr.call->device : n->device;
  return label == TT_ANYWHERE ? tt__place_told() : label;
}

static bool is_for_device(const tt_walk *walk) { return label_of(walk) > 0; }

/* Does the host run it, as far as is known? */
static bool is_for_host(const tt_walk *walk) {
  int label = label_of(walk);
  return label == TT_CPU || (label == TT_ANYWHERE && !tt__device_last());
}

/* Room for what devices keep of a library step, in the plan. */
static tt_code keep_call(tt_plan *p, tt_step *st, tt_error *err) {
  st->known = tt__arena_alloc(&p->arena, sizeof(tt_later_known));
  return st->known ? TT_OK : tt__fail_memory(err, sizeof(tt_later_known));
}

static tt_code make_plan(const tt_walk *walk, tt_plan **out, tt_error *err) {
  static int checked = -1;
  if (checked < 0) checked = tt__env_on("TUTTI_CHECK");
  tt_lower_options lower = {.checked = checked == 1, .spread = is_for_host(walk) && checked != 1};
  tt_sched_options sched = {
      .fuse = fuse, .few_rows = is_for_device(walk) ? device_rows : cpu_rows, .keep = tt__keep_told()};
  TT_TRY(tt__schedule(walk, &sched, out, err));
  size_t size = sizeof *(*out)->facts * (size_t)(*out)->n;
  (*out)->facts = tt__arena_alloc(&(*out)->arena, size);
  tt_code code = (*out)->facts ? TT_OK : tt__fail_memory(err, size);
  for (int i = 0; i < (*out)->n && code == TT_OK; i++) {
    tt_step *st = &(*out)->step[i];
    if (st->kind == TT_STEP_KERNEL) code = lower_step(walk, st, &lower, err);
    if (st->kind == TT_STEP_LIB) code = keep_call(*out, st, err);
  }
  if (code == TT_OK && fuse) code = tt__sched_order(walk, *out, err);
  if (code == TT_OK) log_plan(*out);
  if (code == TT_OK) return TT_OK;
  drop_launches(*out);
  tt__plan_free(*out);
  *out = NULL;
  return code;
}

static made_plan *find_plan(uint64_t hash, const int64_t *key, int64_t n) {
  for (made_plan *m = bucket[hash % BUCKETS]; m; m = m->next)
    if (m->hash == hash && m->nkey == n && memcmp(m->key, key, sizeof *key * (size_t)n) == 0) return m;
  return NULL;
}

/* On any device that is worth a launch. */
static bool is_small(const tt_plan *p) {
  double bytes = 0, work = 0;
  for (int i = 0; i < p->n; i++) {
    const tt_launch *l = p->step[i].launch;
    if (p->step[i].kind == TT_STEP_EMPTY) continue;
    if (p->step[i].kind != TT_STEP_KERNEL || l->unit->kernel->serial) return false;
    bytes += (double)(l->work.bytes_read + l->work.bytes_written);
    work += l->work.points * l->work.weight;
  }
  return bytes < SMALL_BYTES && work < SMALL_WORK;
}

/*
** Graphs that were met without a plan, by the hash of their keys. A plan takes some hundred microseconds to be made,
** and its kernels are interpreted at first: small work that does not come again is done step by step for less.
*/
enum { MET = 1024, TIMES_WITHOUT = 16 };
static struct {
  uint64_t hash;
  int times;
} met[MET];

static bool is_new(uint64_t hash) {
  int at = (int)(hash % MET);
  if (met[at].hash != hash) {
    met[at].hash = hash;
    met[at].times = 0;
  }
  return met[at].times++ < TIMES_WITHOUT;
}

/* The plan of the walk, if there is one. */
static tt_code look_up(tt_walker *w, uint64_t *hash, made_plan **out, tt_error *err) {
  int64_t salt = (fuse ? 1 : 2) + (is_for_device(&w->walk) ? 4 : 0) + (w->walk.is_step ? 8 : 0);
  TT_TRY(tt__walk_key(w, salt, err));
  *hash = tt__hash64(w->key.data, sizeof *w->key.data * (size_t)w->key.n);
  *out = find_plan(*hash, w->key.data, w->key.n);
  if (*out) TT_COUNT(plan_hits, 1);
  return TT_OK;
}

/* Make the plan of the walk, whose key was looked up, and keep it. */
static tt_code add_plan(tt_walker *w, uint64_t hash, made_plan **out, tt_error *err) {
  size_t size = sizeof *w->key.data * (size_t)w->key.n;
  made_plan *m;
  if (nplan >= MOST_PLANS) trim_plans(evaluations > MOST_PLANS / 2 ? evaluations - MOST_PLANS / 2 : 0);
  TT_COUNT(plan_misses, 1);
  m = tt__mem_zalloc(sizeof *m);
  if (m) m->key = tt__mem_dup(w->key.data, size);
  if (!m || !m->key) {
    tt__mem_free(m, sizeof *m);
    return tt__fail_memory(err, size);
  }
  tt_code code = make_plan(&w->walk, &m->plan, err);
  if (code != TT_OK) {
    tt__mem_free(m->key, size);
    tt__mem_free(m, sizeof *m);
    return code;
  }
  m->nkey = w->key.n;
  m->hash = hash;
  m->is_small = is_small(m->plan);
  m->next = bucket[hash % BUCKETS];
  bucket[hash % BUCKETS] = m;
  nplan++;
  *out = m;
  return TT_OK;
}

static tt_code plan_of(tt_walker *w, made_plan **out, bool *found, tt_error *err) {
  uint64_t hash;
  TT_TRY(look_up(w, &hash, out, err));
  *found = *out != NULL;
  return *found ? TT_OK : add_plan(w, hash, out, err);
}

/* What this evaluation computes on the way and does not keep; met again, it will be kept. */
static void mark_seen(const tt_walk *w) {
  for (int i = 0; i < w->n; i++) w->node[i]->flags |= TT_NODE_SEEN;
}

static void name_line(const tt_walk *walk, const tt_step *st, tt_error *err) {
  if (!err || st->nroot == 0) return;
  char line[200] = "";
  tt__session_line_name(walk->node[st->root[0].node]->line, line, sizeof line);
  size_t have = strlen(err->message), more = strlen(line);
  if (!more || have + more + 16 > sizeof err->message) return;
  memcpy(err->message + have, " (recorded at ", 14);
  memcpy(err->message + have + 14, line, more);
  memcpy(err->message + have + 14 + more, ")", 2);
}

static const tt_decision whole = {.way = TT_WAY_WHOLE};

static const tt_decision *decision(const tt_place *p, int i) {
  return p->device && p->decisions.step ? &p->decisions.step[i] : &whole;
}

static tt_code move_operands(const tt_walk *walk, const tt_decision *how, tt_device *d, tt_error *err) {
  for (int k = 0; k < how->nmove; k++) {
    const tt_node *n = walk->node[how->move[k].node];
    void *at;
    assert(n->op == TT_N_BUFFER);
    TT_TRY(d ? tt__resident(d, tt__stream_current(d), n->attr.buf, &at, err) : tt__buffer_host(n->attr.buf, err));
  }
  return TT_OK;
}

/* One step as it was decided, on a device or (NULL) the host. */
static tt_code execute_step(const tt_walk *walk, const tt_plan *plan, int i, const tt_decision *how, tt_device *d,
                            tt_error *err) {
  const tt_step *step = &plan->step[i];
  if (tt__interrupted()) return tt__fail(err, TT_EINTERRUPT, "interrupted");
  if (d) tt__resident_step(true);
  if (how->nmove) TT_TRY(move_operands(walk, how, d, err));
  if (step->kind == TT_STEP_CALL) return tt__exec_call(walk, step, d, err);
  switch ((tt_way)how->way) {
    case TT_WAY_STREAM_KERNEL:
      return tt__stream_kernel(d, walk, step, how->cut.kernel, err);
    case TT_WAY_STREAM_LIBRARY:
      return tt__stream_library(d, walk, plan, i, how->cut.tiles, err);
    case TT_WAY_EPILOGUE:
      return tt__exec_epilogue_on(d, walk, step, &plan->step[how->match.step], &how->match, err);
    case TT_WAY_DONE:
      return TT_OK;
    default:
      return d ? tt__exec_step_on(d, walk, step, err) : tt__exec_step(walk, step, err);
  }
}

/* ---- what only running shows: a device has less room than it says, a library declines */

/* What a device cannot do, or has no room for, the host does: slower, and counted. */
static tt_code note_fallback(const tt_walk *walk, const tt_step *step, const tt_error *why, tt_error *err) {
  const tt_lib_row *row = step->kind == TT_STEP_LIB ? walk->node[step->lib]->attr.lib->row : NULL;
  if (tt__session_strict_fallback && why->message[0])
    return tt__fail(err, TT_ESTRICT, "strict: a fallback to the host is not allowed (%.900s)", why->message);
  if (tt__session_strict_fallback)
    return tt__fail(err, TT_ESTRICT, "strict: a fallback to the host is not allowed (%s runs on the host)", row->name);
  TT_COUNT(fallbacks, 1);
  if (row && why->code != TT_ENOMEM) {
    const tt_cost_call call = tt__cost_call(walk, step);
    tt__library_left(&call);
  }
  return TT_OK;
}

/* A step of an evaluation with a device: decided once more as long as it is found not to run there so. */
static tt_code execute_placed(const tt_walk *walk, const tt_plan *plan, int i, tt_place *p, tt_error *err) {
  const tt_step *step = &plan->step[i];
  tt_error why; /* not cleared as a whole: its message is a kilobyte */
  why.code = TT_OK;
  why.message[0] = 0;
  while (!decision(p, i)->falls_back) {
    bool nowhere = false;
    tt_device *d = tt__place_device(p, i);
    tt_code code = execute_step(walk, plan, i, decision(p, i), d, &why);
    bool declined = d && step->kind != TT_STEP_CALL && (code == TT_ENOTIMPL || code == TT_ENOMEM);
    if (declined) TT_TRY(tt__place_replan(p, i, code, &nowhere, err));
    if (declined && !nowhere) continue;
    if (code != TT_OK && err) *err = why;
    return code;
  }
  TT_TRY(note_fallback(walk, step, &why, err));
  return execute_step(walk, plan, i, decision(p, i), NULL, err);
}

/* ---- steps that are one launch */

/* How many steps from step `i` on run as one launch: those of tt_step.many, if each was decided to run as the first. */
static int steps_together(const tt_plan *plan, const tt_place *p, int i) {
  int n = plan->step[i].many;
  for (int k = i; k < i + n; k++) {
    const tt_decision *how = decision(p, k);
    if (how->way != TT_WAY_WHOLE || how->falls_back || how->where != decision(p, i)->where) return 1;
  }
  return n > 1 ? n : 1;
}

static tt_code execute_many(const tt_walk *walk, const tt_plan *plan, int i, int n, const tt_place *p, tt_error *err) {
  tt_device *d = p->device ? tt__place_device(p, i) : NULL;
  if (tt__interrupted()) return tt__fail(err, TT_EINTERRUPT, "interrupted");
  if (d) tt__resident_step(true);
  for (int k = i; k < i + n; k++) TT_TRY(move_operands(walk, decision(p, k), d, err));
  return d ? tt__exec_many_on(d, walk, &plan->step[i], n, err) : tt__exec_many(walk, &plan->step[i], n, err);
}

/* Step `i`, with those that are one launch with it; *n: how many ran. What has no room together, or no such launch
 * there, runs step by step. */
static tt_code execute_next(const tt_walk *walk, const tt_plan *plan, int i, tt_place *p, int *n, tt_error *err) {
  tt_launch *launch = plan->step[i].launch;
  *n = launch && p->device && launch->alone ? 1 : steps_together(plan, p, i);
  if (*n > 1) {
    tt_code code = execute_many(walk, plan, i, *n, p, err);
    if (code != TT_ENOTIMPL && code != TT_ENOMEM) return code;
    launch->alone = code == TT_ENOTIMPL; /* the next time it is not tried */
    *n = 1;
  }
  return p->device ? execute_placed(walk, plan, i, p, err) : execute_step(walk, plan, i, &whole, NULL, err);
}

/* ---- what steps need stays until they have run, by the rule at the head of ir/plan.h */

static void hold_values(tt_walk *walk, const tt_plan *plan) {
  assert(!walk->held);
  walk->held = true;
  for (int i = 0; i < plan->nvalue; i++) tt__node_retain(walk->node[plan->value[i].node]);
}

static void let_go(const tt_walk *walk, int32_t node) {
  tt__node_release(walk->node[node]);
  walk->node[node] = NULL;
}

/* What the steps before `next` had no use for: values that outlive the plan, and all the rest after a failure. */
static void let_go_from(tt_walk *walk, const tt_plan *plan, int next) {
  for (int i = 0; i < plan->nvalue; i++)
    if (plan->value[i].until >= next) let_go(walk, plan->value[i].node);
  walk->held = false;
}

#ifndef NDEBUG
static bool has_needs(const tt_walk *walk, const tt_step *s) {
  int32_t node;
  for (int k = 0; (node = tt__step_need(s, k)) != TT_P_END; k++) {
    const tt_node *n = node >= 0 ? walk->node[node] : NULL;
    if (node >= 0 && (!n || (n->op != TT_N_BUFFER && n->op != TT_N_CONST && n->op != TT_N_LIB))) return false;
  }
  return true;
}
#endif

/* *done: steps that ran, whose values are let go of as far as they end there. */
static tt_code execute(const tt_walk *walk, const tt_plan *plan, tt_place *p, int *done, tt_error *err) {
  for (*done = 0; *done < plan->n;) {
    const tt_step *step = &plan->step[*done];
    int n;
    assert(decision(p, *done)->way == TT_WAY_DONE || has_needs(walk, step));
    tt_code code = execute_next(walk, plan, *done, p, &n, err);
    if (code == TT_OK) {
      for (int i = 0; i < n; i++)
        for (int k = 0; k < step[i].nend; k++) let_go(walk, step[i].end[k]);
      *done += n;
      continue;
    }
    tt__interrupted();
    if (code != TT_EINTERRUPT) name_line(walk, step, err);
    return code;
  }
  return TT_OK;
}

static tt_code execute_held(tt_walk *walk, made_plan *m, tt_place *place, tt_error *err) {
  const tt_plan *plan = m->plan;
  int done;
  double host_ns = place->prices.host_ns;
  tt__place_begin(walk, place);
  hold_values(walk, plan);
  bool timed = !place->device && (host_ns == 0 || host_ns > TIMED_NS);
  int64_t start = timed ? tt__clock_ns() : 0;
  if (place->device) tt__batch_begin(place->device, tt__stream_current(place->device));
  tt_code code = execute(walk, plan, place, &done, err);
  if (place->device) {
    bool may_wait = code == TT_OK && m->is_small && !tt__session_looking && !tt__session_prompt;
    tt_code end = tt__batch_end(&m->replay, may_wait, code == TT_OK ? err : NULL);
    if (code == TT_OK) code = end;
  }
  tt__place_end(walk, place, timed ? (double)(tt__clock_ns() - start) : place->device ? 0 : host_ns);
  tt__resident_end();
  let_go_from(walk, plan, done);
  return code;
}

/* ---- launches of users' kernels, in the order in which they were recorded */

/* Launches for one device and stream, with what they need. */
static tt_code realize_calls(tt_node *const *call, int n, tt_error *err) {
  made_plan *m;
  bool found;
  tt_place place;
  tt_device *d = NULL;
  const tt_kernel_call *first = call[0]->attr.call;
  if (first->device > 0) TT_TRY(tt__device_open(first->device, &d, err));
  TT_TRY(tt__walk_make(&walker, call, n, err));
  evaluations++;
  TT_COUNT(evaluations, 1);
  TT_TRY(plan_of(&walker, &m, &found, err));
  m->used = evaluations;
  mark_seen(&walker.walk);
  tt_code code = tt__place_told_on(d, &walker.walk, m->plan, false, m->is_small, &place, err);
  tt_stream *before = code == TT_OK && d ? tt__stream_use(d, first->stream) : NULL;
  if (code == TT_OK) code = execute_held(&walker.walk, m, &place, err);
  if (before) tt__stream_use(d, before);
  tt__place_free(&place);
  return code;
}

/* As many at once as make a graph worth launching, on a device; else one by one, so that their plans are few. */
static tt_code run_calls(tt_error *err) {
  tt_node *call[TT_CALLS_PENDING];
  for (int n; (n = tt__calls_baseline(call, TT_CALLS_PENDING)) > 0;) {
    if (n < TT_CALLS_PENDING || call[0]->attr.call->device == 0) n = 1;
    for (int k = 0; k < n; k++) tt__node_retain(call[k]);
    tt_code code = realize_calls(call, n, err);
    for (int k = 0; k < n; k++) tt__node_release(call[k]);
    tt__calls_done();
    if (code != TT_OK) return code;
  }
  return TT_OK;
}

static tt_code enter_and_run_calls(tt_error *err) {
  TT_TRY(enter_or_leave(err));
  tt_code code = run_calls(err);
  pthread_mutex_unlock(&one_at_a_time);
  return code;
}

/* Targets that were put on one device, or all on none. */
static tt_code realize_group(tt_node *const *target, int n, tt_error *err) {
  made_plan *m;
  uint64_t hash;
  tt_place place;
  TT_TRY(tt__walk_make(&walker, target, n, err));
  if (walker.has_calls) {
    TT_TRY(run_calls(err));
    TT_TRY(tt__walk_make(&walker, target, n, err));
  }
  if (!walker.walk.ntarget) return TT_OK;
  evaluations++;
  TT_COUNT(evaluations, 1);
  TT_TRY(look_up(&walker, &hash, &m, err));
  if (!m && !is_for_device(&walker.walk) && is_new(hash) && tt__eager_walk(target, n)) return TT_OK;
  if (!m) TT_TRY(tt__walk_make(&walker, target, n, err)); /* some steps may be done */
  if (!m) TT_TRY(look_up(&walker, &hash, &m, err));
  if (!m) TT_TRY(add_plan(&walker, hash, &m, err));
  tt_code code = tt__place(&walker.walk, m->plan, tt__session_looking, m->is_small, &place, err);
  m->used = evaluations;
  mark_seen(&walker.walk);
  if (code == TT_OK) code = execute_held(&walker.walk, m, &place, err);
  tt__place_free(&place);
  return code;
}

/* Group after group; mostly there is one, and no list is needed. */
static tt_code realize_all(tt_node *const *target, int n, tt_error *err) {
  int first = 0;
  while (first < n && target[first]->device == target[0]->device) first++;
  if (first == n) return realize_group(target, n, err);
  size_t size = sizeof *target * (size_t)n;
  tt_node **group = tt__mem_alloc(size);
  if (!group) return tt__fail_memory(err, size);
  tt_code code = TT_OK;
  for (int i = 0; i < n && code == TT_OK; i++) {
    int have = 0;
    bool done = false;
    for (int j = 0; j < n; j++) {
      if (target[j]->device != target[i]->device) continue;
      done |= j < i;
      group[have++] = target[j];
    }
    if (!done) code = realize_group(group, have, err);
  }
  tt__mem_free(group, size);
  return code;
}

tt_code tt__realize(tt_node *const *target, int n, tt_error *err) {
  bool pending = false;
  for (int i = 0; i < n; i++) pending |= target[i]->op != TT_N_BUFFER;
  if (!pending) return TT_OK;
  for (int i = 0; i < n; i++) tt__node_retain(target[i]); /* the lock is given up on the way: keep them alive */
  tt_code code = enter_or_leave(err);
  if (code == TT_OK) {
    code = realize_all(target, n, err);
    pthread_mutex_unlock(&one_at_a_time);
  }
  for (int i = 0; i < n; i++) tt__node_release(target[i]);
  return code;
}

static tt_code producer_of_plan(tt_node *const *target, int n, tt_device *d, tt_fused_producer *out, tt_error *err) {
  made_plan *m;
  bool found;
  TT_TRY(tt__walk_make(&walker, target, n, err));
  if (walker.has_calls || walker.walk.ntarget != n) return tt__fail(err, TT_ENOTIMPL, "more than these values");
  TT_TRY(plan_of(&walker, &m, &found, err));
  TT_TRY(tt__fused_producer_make(d, &walker.walk, m->plan, out, err));
  m->used = ++evaluations;
  TT_COUNT(evaluations, 1);
  mark_seen(&walker.walk);
  return TT_OK;
}

tt_code tt__realize_producer(tt_node *const *target, int n, tt_device *d, tt_fused_producer *out, tt_error *err) {
  enter();
  tt_code code = producer_of_plan(target, n, d, out, err);
  pthread_mutex_unlock(&one_at_a_time);
  return code;
}

tt_code tt__realize_plan(tt_node *const *target, int n, const tt_plan **plan, const tt_walk **walk, bool *found,
                         tt_error *err) {
  *plan = NULL;
  *walk = NULL;
  *found = false;
  enter();
  made_plan *m;
  tt_code code = tt__walk_make(&walker, target, n, err);
  if (code == TT_OK && walker.walk.ntarget) {
    code = plan_of(&walker, &m, found, err);
    if (code == TT_OK) {
      *plan = m->plan;
      *walk = &walker.walk;
    }
  }
  pthread_mutex_unlock(&one_at_a_time);
  return code;
}

/* A forked child has one thread and no evaluation under way: pending nodes stay pending there. No TT_LOCK_FORKS: to
 * fork must not wait for an evaluation. */
static void after_fork_child(void) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  one_at_a_time = fresh;
}

__attribute__((constructor)) static void register_evaluator(void) {
  tt__session_set_evaluator(tt__realize);
  tt__calls_set_runner(enter_and_run_calls);
  tt__session_elements = tt__elements_op;
  tt__session_elements_loop = tt__elements_loop;
  tt__session_small_fold = tt__elements_fold;
  tt__session_library = tt__exec_library_now;
  tt__fold_find = tt__elements_loop;
  tt__session_fold_into = tt__fold_into_places;
  pthread_atfork(NULL, NULL, after_fork_child);
}
