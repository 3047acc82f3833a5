/*
** The profile; see profile.h.
*/
#include "run/report/profile.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "run/exec.h"

typedef struct event {
  char name[64];
  int64_t start, end, bytes;
  int64_t items; /* of a worker's call; 0 for steps */
  int pid;       /* the worker; 0: this process */
  bool compiled;
} event;

/* A long session is cut off rather than allowed to eat the memory it watches. */
#define MOST_EVENTS 1000000

bool tt__profile_on;
static TT_VEC(event) events;
static int64_t dropped;

void tt__profile_start(void) {
  TT_VEC_FREE(&events);
  dropped = 0;
  tt__profile_on = true;
}

void tt__profile_stop(void) { tt__profile_on = false; }

/* What a kernel does, in a few words: its ops in order, each once. */
void tt__profile_name(const tt_step *s, char *out, size_t size) {
  tt_str text = {0};
  uint8_t said[256] = {0};
  if (s->kind != TT_STEP_KERNEL) tt__str_add(&text, s->why ? s->why : "empty");
  for (int i = 0; s->kind == TT_STEP_KERNEL && i < s->ninst; i++) {
    const tt_pinst *p = &s->inst[i];
    if (said[p->op]++ || p->op == TT_P_CONST || p->op == TT_P_LOAD || p->op == TT_P_STORE) continue;
    const char *what = p->op < TT_OP_COUNT    ? tt__ops[p->op].lower
                       : p->op == TT_P_REDUCE ? "reduce"
                       : p->op == TT_P_LOADX  ? "gather"
                       : p->op == TT_P_STOREX ? "scatter"
                                              : "index";
    tt__str_addf(&text, "%s%s", text.len ? " " : "", what);
  }
  if (!text.len) tt__str_add(&text, "copy");
  strncpy(out, text.data ? text.data : "kernel", size - 1);
  out[size - 1] = 0;
  tt__str_free(&text);
}

static void keep(const event *e) {
  if (events.n >= MOST_EVENTS || !TT_VEC_PUSH(&events, *e)) dropped++;
}

/* `how` says something of `number` (not 0). */
static void add(const tt_step *step, bool compiled, const char *how, int64_t number, int64_t start, int64_t end) {
  event e = {.start = start, .end = end, .compiled = compiled};
  tt__profile_name(step, e.name, sizeof e.name);
  if (number) {
    char more[32];
    int n = snprintf(more, sizeof more, how, (long long)number);
    size_t at = strlen(e.name), most = sizeof e.name - 1 - (size_t)n;
    memcpy(e.name + (at < most ? at : most), more, (size_t)n + 1);
  }
  const tt_launch *l = step->launch;
  if (l) e.bytes = l->work.bytes_read + l->work.bytes_written;
  keep(&e);
}

/* The trace is JSON: names of template instances may hold anything. */
static void keep_named(event e, const char *name) {
  strncpy(e.name, name, sizeof e.name - 1);
  for (char *c = e.name; *c; c++)
    if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ') *c = '_';
  keep(&e);
}

void tt__profile_add_named(const char *name, int64_t bytes, int64_t start, int64_t end) {
  assert(start <= end && bytes >= 0);
  keep_named((event){.start = start, .end = end, .bytes = bytes, .compiled = true}, name);
}

void tt__profile_add_worker(const char *name, int pid, int64_t items, int64_t start, int64_t end) {
  assert(start <= end && pid > 0);
  keep_named((event){.start = start, .end = end, .items = items, .pid = pid}, name);
}

void tt__profile_add(const tt_step *step, bool compiled, int64_t start, int64_t end) {
  add(step, compiled, "", 0, start, end);
}

void tt__profile_add_many(const tt_step *step, int n, bool compiled, int64_t start, int64_t end) {
  add(step, compiled, ", %lld steps", n, start, end);
  for (int i = 1; i < n && events.n; i++) {
    const tt_launch *l = step[i].launch;
    events.data[events.n - 1].bytes += l->work.bytes_read + l->work.bytes_written;
  }
}

void tt__profile_add_pieces(const tt_step *step, int64_t pieces, int64_t start, int64_t end) {
  add(step, true, ", in %lld pieces", pieces, start, end);
}

typedef struct total {
  const char *name;
  int64_t count, ns, bytes, compiled;
} total;

static int by_time(const void *a, const void *b) {
  const total *x = a, *y = b;
  return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static char *taken(tt_str *s) {
  char *out = s->failed ? NULL : tt__mem_dup(s->data ? s->data : "", s->len + 1);
  tt__str_free(s);
  return out;
}

char *tt__profile_table(void) {
  TT_VEC(total) totals = {0};
  int64_t all = 0;
  tt_str s = {0};
  for (int64_t i = 0; i < events.n; i++) {
    const event *e = &events.data[i];
    int64_t t = 0;
    while (t < totals.n && strcmp(totals.data[t].name, e->name) != 0) t++;
    if (t == totals.n && !TT_VEC_PUSH(&totals, ((total){.name = e->name}))) break;
    totals.data[t].count++;
    totals.data[t].ns += e->end - e->start;
    totals.data[t].bytes += e->bytes;
    totals.data[t].compiled += e->compiled;
    all += e->end - e->start;
  }
  if (totals.n) qsort(totals.data, (size_t)totals.n, sizeof *totals.data, by_time);
  tt__str_addf(&s, "%-44s %8s %8s %12s %6s %9s\n", "step", "runs", "tier 1", "total ms", "share", "GB/s");
  for (int64_t t = 0; t < totals.n; t++) {
    const total *x = &totals.data[t];
    tt__str_addf(&s, "%-44.44s %8lld %8lld %12.3f %5.1f%% %9.2f\n", x->name, (long long)x->count,
                 (long long)x->compiled, (double)x->ns / 1e6, all ? 100.0 * (double)x->ns / (double)all : 0.0,
                 x->ns ? (double)x->bytes / (double)x->ns : 0.0);
  }
  tt__str_addf(&s, "%lld steps, %.3f ms", (long long)events.n, (double)all / 1e6);
  if (dropped) tt__str_addf(&s, ", %lld more not recorded", (long long)dropped);
  tt__str_add(&s, "\n");
  TT_VEC_FREE(&totals);
  return taken(&s);
}

/* The process of an event has its name in the trace once, where it is met first. */
static bool is_first_of(int64_t i) {
  for (int64_t k = 0; k < i; k++)
    if (events.data[k].pid == events.data[i].pid) return false;
  return true;
}

static void trace_event(tt_str *s, const event *e, int64_t zero) {
  tt__str_addf(s, ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":0,\"ts\":%.3f,\"dur\":%.3f,",
               e->name, e->pid ? "worker" : "step", e->pid ? e->pid : (int)getpid(), (double)(e->start - zero) / 1e3,
               (double)(e->end - e->start) / 1e3);
  if (e->pid)
    tt__str_addf(s, "\"args\":{\"items\":%lld}}", (long long)e->items);
  else
    tt__str_addf(s, "\"args\":{\"bytes\":%lld,\"tier\":%d}}", (long long)e->bytes, e->compiled);
}

static void trace_process(tt_str *s, const char *before, int pid, const char *name) {
  tt__str_addf(s, "%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":\"%s\"}}", before,
               pid, name);
}

/* Workers tell of what they did when it is over, so the first event need not be the earliest. */
static int64_t earliest(void) {
  int64_t zero = events.n ? events.data[0].start : 0;
  for (int64_t i = 1; i < events.n; i++)
    if (events.data[i].start < zero) zero = events.data[i].start;
  return zero;
}

char *tt__profile_trace(void) {
  tt_str s = {0};
  int64_t zero = earliest();
  int last = 0;
  tt__str_add(&s, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  trace_process(&s, "", (int)getpid(), "tutti");
  for (int64_t i = 0; i < events.n; i++) {
    int pid = events.data[i].pid;
    if (pid && pid != last && is_first_of(i)) trace_process(&s, ",\n", pid, "tutti worker");
    last = pid;
    trace_event(&s, &events.data[i], zero);
  }
  tt__str_add(&s, "\n]}\n");
  return taken(&s);
}
