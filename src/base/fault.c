/*
** One counter per kind of call. Counting must be exact under threads (a test
** that loops "fail the n-th" relies on it), yet free while nothing is armed:
** all that tt__fault reads then is one flag for all kinds.
*/
#include "base/fault.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct fault {
  atomic_bool armed;
  atomic_bool sticky;
  atomic_bool fired;
  atomic_llong target; /* the call with this number fails */
  atomic_llong calls;
} fault;

static fault faults[TT_FAULT_COUNT];
static pthread_once_t once = PTHREAD_ONCE_INIT;
bool tt__fault_watched = true; /* until the environment was read */

static const char *const kind_name[TT_FAULT_COUNT] = {"memory", "compile",       "spawn",  "write", "read",
                                                      "load",   "device memory", "launch", "copy",  "device loss"};

static void arm(tt_fault kind, int64_t n, bool sticky) {
  fault *f = &faults[kind];
  atomic_store(&f->armed, false);
  atomic_store(&f->sticky, sticky);
  atomic_store(&f->fired, false);
  atomic_store(&f->calls, 0);
  atomic_store(&f->target, n);
  if (n >= 0) atomic_store(&f->armed, true);
  bool any = false;
  for (int k = 0; k < TT_FAULT_COUNT; k++) any |= atomic_load(&faults[k].armed);
  __atomic_store_n(&tt__fault_watched, any, __ATOMIC_RELAXED);
}

tt_fault tt__fault_named(const char *name, size_t len) {
  int k = 0;
  while (k < TT_FAULT_COUNT && (strlen(kind_name[k]) != len || memcmp(kind_name[k], name, len) != 0)) k++;
  return (tt_fault)k;
}

/* TUTTI_TEST_FAULT=memory:17 or memory:17:sticky; anything else arms nothing. */
static void arm_from_env(void) {
  const char *text = getenv("TUTTI_TEST_FAULT");
  const char *colon = text ? strchr(text, ':') : NULL;
  if (colon) {
    char *end = NULL;
    long long n = strtoll(colon + 1, &end, 10);
    bool sticky = strcmp(end, ":sticky") == 0;
    tt_fault kind = tt__fault_named(text, (size_t)(colon - text));
    if (kind != TT_FAULT_COUNT && end != colon + 1 && n >= 0 && (sticky || *end == 0)) {
      arm(kind, n, sticky);
      return;
    }
  }
  __atomic_store_n(&tt__fault_watched, false, __ATOMIC_RELAXED);
}

void tt__fault_arm(tt_fault kind, int64_t n, bool sticky) {
  assert((unsigned)kind < TT_FAULT_COUNT);
  pthread_once(&once, arm_from_env);
  arm(kind, n, sticky);
}

bool tt__fault_count(tt_fault kind) {
  assert((unsigned)kind < TT_FAULT_COUNT);
  pthread_once(&once, arm_from_env);
  fault *f = &faults[kind];
  if (!atomic_load_explicit(&f->armed, memory_order_relaxed)) return false;
  long long call = atomic_fetch_add(&f->calls, 1);
  long long target = atomic_load(&f->target);
  bool fail = call == target || (call > target && atomic_load(&f->sticky));
  if (fail) atomic_store(&f->fired, true);
  return fail;
}

int64_t tt__fault_calls(tt_fault kind, bool *fired) {
  if (fired) *fired = atomic_load(&faults[kind].fired);
  return atomic_load(&faults[kind].calls);
}
