/*
** Insight and control: devices, threads, counters, plans, profiles.
*/
#ifndef TUTTI_DEVICE_H
#define TUTTI_DEVICE_H

#include "tutti/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" of the library that runs. */
TT_API const char *tt_version(void);

/* Counters since start (or the last reset). Rows: name, unit. X(field, "what it counts") */
#define TT_LEDGER_ROWS(X)                                                      \
  X(launches, "kernels launched")                                              \
  X(launches_tier0, "of them interpreted")                                     \
  X(launches_tier1, "of them compiled")                                        \
  X(library_calls, "library functions run (matmul, sort, linalg ...)")         \
  X(bytes_read, "bytes kernels and library calls read")                        \
  X(bytes_written, "bytes they wrote")                                         \
  X(copies, "host copies in and out of tutti's memory")                        \
  X(copy_bytes, "their bytes")                                                 \
  X(evaluations, "evaluations (somebody looked)")                              \
  X(flushes, "evaluations forced by the bounds on pending work")               \
  X(plan_hits, "plans found")                                                  \
  X(plan_misses, "plans made")                                                 \
  X(kernels_made, "kernels lowered")                                           \
  X(compiles, "kernels compiled")                                              \
  X(compile_failures, "compiles that failed (work went on interpreted)")       \
  X(compile_us, "microseconds in the compiler, in the background")             \
  X(cache_hits, "kernels loaded from disk")                                    \
  X(cache_misses, "kernels not found on disk")                                 \
  X(fallbacks, "work done by a fallback of ours because a library is missing") \
  X(fallback_bytes, "their bytes")                                             \
  X(syncs, "waits for a device")                                               \
  X(nodes, "operations recorded")

typedef struct tt_ledger {
#define TT_LEDGER_FIELD(name, what) int64_t name;
  TT_LEDGER_ROWS(TT_LEDGER_FIELD)
#undef TT_LEDGER_FIELD
} tt_ledger;
TT_API void tt_ledger_read(tt_ledger *out);
TT_API void tt_ledger_reset(void);

/* What must not happen: a call that would copy or fall back fails with TT_ESTRICT. */
TT_API void tt_strict(bool copy, bool fallback);

/* Threads an evaluation uses; n <= 0 restores the default. */
TT_API int tt_threads(void);
TT_API void tt_set_threads(int n);

/* Bytes of array memory: live, peak, and kept for reuse. */
typedef struct tt_memory {
  int64_t allocated, max_allocated, reserved, limit;
} tt_memory;
TT_API void tt_memory_read(tt_memory *out);
TT_API void tt_memory_reset_peak(void);
TT_API void tt_memory_trim(void); /* give what is kept for reuse back to the system */

/* Texts: malloc'ed by the library; give back with tt_text_free. NULL when memory is out. */
/* The plan that evaluating these arrays would run (or ran last): steps, kernels, bytes, predicted and measured time,
 * reasons. */
TT_API char *tt_explain(tt_array *const *arrays, int n);
/* Devices, libraries found and which fallback serves where one is missing, cache, threads. */
TT_API char *tt_info(void);
TT_API void tt_text_free(char *text);

/* Profile: record every step between start and stop; then a table, or Chrome/Perfetto JSON. */
TT_API tt_code tt_profile_start(tt_error *err);
TT_API void tt_profile_stop(void);
TT_API char *tt_profile_table(void);
TT_API char *tt_profile_trace(void);

/* Wait for background compilation and for every device. */
TT_API void tt_synchronize(void);
/* Wait until no kernel is waiting for the compiler (tests, benchmarks). */
TT_API void tt_compile_wait(void);
/* Which tiers may run: 0 interpreted only, 1 compiled at once (waits), 2 both (default). fuse: false cuts after every
 * op. */
TT_API void tt_set_tier(int tier);
TT_API void tt_set_fuse(bool fuse);

/* Folders of Python packages ("dir:dir"): vendors' libraries are looked for in the wheels there. */
TT_API void tt_library_path(const char *dirs);

/* Ask the running evaluation to stop at the next step (from a signal handler: it only sets a flag). */
TT_API void tt_interrupt(void);
/* A check the evaluator calls now and then on the calling thread; non-zero means "interrupt" (bindings:
 * PyErr_CheckSignals). */
TT_API void tt_set_interrupt_check(int (*check)(void));
/*
** Called on a calling thread before it waits or works for long, and after, with no lock of ours held: bindings give up
*and
** take back their interpreter lock there. So a thread that holds it never waits for one that wants it. NULLs: nothing
*to do.
*/
TT_API void tt_set_blocking(void (*begin)(void), void (*end)(void));

/* The line that recorded an operation: bindings give ids to their source lines and a function that names them. */
TT_API void tt_set_line(uint32_t id);
TT_API void tt_set_line_name(void (*name)(uint32_t id, char *out, size_t size));

/* Fault injection for tests: kind is "memory", "compile", "spawn", "write", "read", "load", "device memory", "launch",
 * "copy" or "device loss"; n < 0 disarms. */
TT_API tt_code tt_test_fail(const char *kind, int64_t n, bool sticky, tt_error *err);
TT_API int64_t tt_test_calls(const char *kind, bool *fired);
/* Bytes of metadata and array memory in use, for leak checks. */
TT_API int64_t tt_test_live(void);

#ifdef __cplusplus
}
#endif
#endif
