/*
** The public functions of tutti/device.h: arguments, locks and statuses, nothing else.
*/
#include "tutti/device.h"

#include <string.h>

#include "base/fault.h"
#include "base/find.h"
#include "base/mem.h"
#include "base/pool.h"
#include "graph/build.h"
#include "graph/session.h"
#include "graph/slab.h"
#include "lib/blas_host.h"
#include "run/exec.h"
#include "run/explain.h"
#include "run/profile.h"
#include "run/realize.h"

#ifndef TUTTI_VERSION
#define TUTTI_VERSION "0.1.0"
#endif

const char *tt_version(void) { return TUTTI_VERSION; }

void tt_ledger_read(tt_ledger *out) {
#define READ(name, what) out->name = __atomic_load_n(&tt__ledger.name, __ATOMIC_RELAXED);
  TT_LEDGER_ROWS(READ)
#undef READ
}

void tt_ledger_reset(void) {
#define RESET(name, what) __atomic_store_n(&tt__ledger.name, 0, __ATOMIC_RELAXED);
  TT_LEDGER_ROWS(RESET)
#undef RESET
}

void tt_strict(bool copy, bool fallback) {
  tt__session_strict_copy = copy;
  tt__session_strict_fallback = fallback;
}

int tt_threads(void) { return tt__pool_size(); }
void tt_set_threads(int n) { tt__pool_resize(n); }

void tt_memory_read(tt_memory *out) {
  tt_mem_stats s = tt__mem_stats();
  *out = (tt_memory){
      .allocated = s.live_data, .max_allocated = s.peak_data, .reserved = s.live_data + s.cached, .limit = s.limit};
}

void tt_memory_reset_peak(void) { tt__mem_reset_peak(); }

void tt_memory_trim(void) {
  tt__session_lock();
  tt__realize_trim();
  tt__slab_trim();
  tt__session_unlock();
  tt__mem_trim();
}

/* Nodes that read the arrays now; fewer than n when memory is out. */
static int nodes_of(tt_array *const *arrays, int n, tt_node **node) {
  int made = 0;
  while (made < n && (node[made] = tt__array_node(arrays[made], NULL))) made++;
  return made;
}

char *tt_explain(tt_array *const *arrays, int n) {
  size_t size = sizeof(tt_node *) * (size_t)n;
  tt_node **node = tt__mem_alloc(size);
  char *text = NULL;
  tt__session_lock();
  int made = node ? nodes_of(arrays, n, node) : 0;
  if (made == n) text = tt__explain(node, n);
  while (made > 0) tt__node_release(node[--made]);
  tt__session_unlock();
  tt__mem_free(node, size);
  return text;
}

char *tt_info(void) { return tt__info(tt_version()); }

void tt_text_free(char *text) {
  if (text) tt__mem_free(text, strlen(text) + 1);
}

tt_code tt_profile_start(tt_error *err) {
  (void)err;
  tt__session_lock();
  tt__profile_start();
  tt__session_unlock();
  return TT_OK;
}

void tt_profile_stop(void) { tt__profile_stop(); }

char *tt_profile_table(void) {
  tt__session_lock();
  char *text = tt__profile_table();
  tt__session_unlock();
  return text;
}

char *tt_profile_trace(void) {
  tt__session_lock();
  char *text = tt__profile_trace();
  tt__session_unlock();
  return text;
}

void tt_compile_wait(void) { tt__pool_background_wait(); }
void tt_synchronize(void) { tt__pool_background_wait(); }
void tt_set_tier(int tier) { tt__unit_tier = tier; }

void tt_set_fuse(bool fuse) { tt__realize_set_fuse(fuse); }

void tt_library_path(const char *dirs) {
  tt__blas_search_path(dirs);
  tt__find_path(dirs);
}

void tt_interrupt(void) { tt__exec_interrupt(); }
void tt_set_interrupt_check(int (*check)(void)) { tt__exec_set_check(check); }
void tt_set_blocking(void (*begin)(void), void (*end)(void)) { tt__session_set_blocking(begin, end); }

void tt_set_line(uint32_t id) { tt__session_line = id; }
void tt_set_line_name(void (*name)(uint32_t id, char *out, size_t size)) { tt__session_set_line_name(name); }

tt_code tt_test_fail(const char *kind, int64_t n, bool sticky, tt_error *err) {
  tt_fault k = tt__fault_named(kind, strlen(kind));
  if (k == TT_FAULT_COUNT) return tt__fail(err, TT_EVALUE, "unknown kind of fault '%s'", kind);
  tt__fault_arm(k, n, sticky);
  return TT_OK;
}

int64_t tt_test_calls(const char *kind, bool *fired) {
  tt_fault k = tt__fault_named(kind, strlen(kind));
  if (fired) *fired = false;
  return k == TT_FAULT_COUNT ? -1 : tt__fault_calls(k, fired);
}

int64_t tt_test_live(void) {
  tt__session_lock();
  int64_t bytes = tt__mem_stats().live - tt__slab_slack();
  tt__session_unlock();
  return bytes;
}
