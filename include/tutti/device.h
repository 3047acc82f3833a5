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
  X(kernel_calls, "of them of kernels that users wrote")                       \
  X(library_calls, "library functions run (matmul, sort, linalg ...)")         \
  X(bytes_read, "bytes kernels and library calls read")                        \
  X(bytes_written, "bytes they wrote")                                         \
  X(kept_bytes, "bytes of arrays copied as a part of them was written over")   \
  X(copies, "host copies in and out of tutti's memory")                        \
  X(copy_bytes, "their bytes")                                                 \
  X(at_once, "small operations done when they were recorded")                  \
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
  X(device_launches, "of the launches, those on devices")                      \
  X(graphs_made, "plans that repeated and were captured as a graph")           \
  X(graph_launches, "launches of such graphs")                                 \
  X(graphs_renewed, "graphs captured again for other operands")                \
  X(borders_kept, "stores that found what they leave in memory of before")     \
  X(uploads, "moves of array memory to a device")                              \
  X(upload_bytes, "their bytes")                                               \
  X(downloads, "moves of array memory to the host")                            \
  X(download_bytes, "their bytes")                                             \
  X(peer_copies, "moves between devices")                                      \
  X(streamed, "steps run in pieces, their moves and their work at once")       \
  X(pieces, "of how many pieces those were")                                   \
  X(evictions, "arrays moved to the host because a device was full")           \
  X(evicted_bytes, "their bytes")                                              \
  X(nodes, "operations recorded")                                              \
  X(parallel_tasks, "calls of functions done by workers")                      \
  X(parallel_messages, "messages in which they went")                          \
  X(parallel_shared_bytes, "bytes copied into memory that workers share")      \
  X(parallel_copied_bytes, "bytes copied beside messages")                     \
  X(parallel_idle_us, "microseconds that workers waited within a call")        \
  X(parallel_started, "workers started")                                       \
  X(parallel_died, "workers that ended before they were told to")

typedef struct tt_ledger {
#define TT_LEDGER_FIELD(name, what) int64_t name;
  TT_LEDGER_ROWS(TT_LEDGER_FIELD)
#undef TT_LEDGER_FIELD
} tt_ledger;
/* What was counted since the process began, or since tt_ledger_reset. */
TT_API void tt_ledger_read(tt_ledger *out);
/* All counts begin again at 0. */
TT_API void tt_ledger_reset(void);

/* What must not happen: a call that would copy or fall back fails with TT_ESTRICT. */
TT_API void tt_strict(bool copy, bool fallback);
/*
** Checks that need values (is a matrix singular? has a row nothing but NaN?) are made by the call, which evaluates.
** `on`: this thread's calls do not wait: errors come when somebody looks, warnings not at all. Returns what it was.
*/
TT_API bool tt_defer_checks(bool on);

/* How many threads an evaluation uses. */
TT_API int tt_threads(void);
/* Use so many threads from the next evaluation on; n <= 0 restores the default. */
TT_API void tt_set_threads(int n);

/* ---- devices */

/*
** A device in one number. 0 is the CPU; the others have fixed numbers that their names give ("cuda:1"). Names: "cpu",
** "cuda" or "cuda:0", "cuda:1" ..., "opencl:0" ..., and "gpu", the best GPU there is. CUDA_VISIBLE_DEVICES decides what
** "cuda:0" is. OpenCL's GPUs come before its other devices, in the order of its platforms.
** Functions that take a device fail with TT_EVALUE for a number that is none, with TT_EDEVICE (and the first cause) for
** one that was lost.
*/
#define TT_CPU 0
#define TT_CUDA(index) (1 << 8 | (index))   /* "cuda:index" */
#define TT_OPENCL(index) (2 << 8 | (index)) /* "opencl:index" */
#define TT_AUTO (-1) /* where an array lives when nobody said so: wherever evaluating is soonest */

typedef struct tt_device_info {
  char name[32];                                  /* "cuda:0" */
  char type[16];                                  /* "cuda" */
  char label[96];                                 /* "NVIDIA H200", the name of the CPU */
  char bus[32];                                   /* PCI address; "" for the CPU */
  int id, index;                                  /* its number; which of its type */
  int gpu;                                        /* its k in tt_gpu_read (tutti/monitor.h), -1: none */
  int arch;                                       /* CUDA: 90 for compute capability 9.0; else 0 */
  int units;                                      /* multiprocessors; cores of the CPU that tutti uses */
  int warp;                                       /* threads that go in step */
  int block_threads, unit_threads;                /* most threads of a block, of a multiprocessor */
  int64_t shared_block, shared_unit, cache_bytes; /* bytes */
  int64_t memory_total, memory_free;              /* bytes; free now, by the device's own account */
} tt_device_info;

/* How many devices this process can use (at least 1: the CPU). Opens none. */
TT_API int tt_device_count(void);
/* The number of the k-th device; TT_AUTO after the last. Opens none. */
TT_API int tt_device_at(int k);
/*
** The device of a name. TT_EVALUE for a name that is none, TT_EDEVICE for a device that is not there; the
** message lists what is there and why the rest is missing.
*/
TT_API tt_code tt_device_named(const char *name, int *device, tt_error *err);
/* "cuda:0" into `out`; false when there is no such device. */
TT_API bool tt_device_name(int device, char *out, size_t size);
/* Why this process has no device of a type ("cuda"); "" when it has. Valid for the life of the process. */
TT_API const char *tt_device_missing(const char *type);
/* Opens the device, which may take a while the first time. */
TT_API tt_code tt_device_read(int device, tt_device_info *out, tt_error *err);

/*
** Where this thread's new arrays live: a device, or TT_AUTO. The start is TUTTI_DEVICE, or TT_AUTO. Returns what it was
** before. An array placed by TT_AUTO may be computed anywhere; one with a device is there.
*/
TT_API int tt_set_device(int device);
/* Where this thread's new arrays live now. */
TT_API int tt_get_device(void);
/* The device of an array; TT_AUTO where it has none of its own. Evaluates nothing. */
TT_API int tt_array_device(tt_array *a);
/* The array on a device: itself when it is there (one more hold), else a copy that lives there. Evaluates nothing. */
TT_API tt_code tt_array_to(tt_array *a, int device, tt_array **out, tt_error *err);

/* Bytes of array memory: live, their peak, kept for reuse with them, limit (0: none). */
typedef struct tt_memory {
  int64_t allocated, max_allocated, reserved, limit;
  int64_t free_blocks; /* how many pieces are kept */
} tt_memory;
/* Bytes of array memory on a device; TT_EVALUE for a number that is none. */
TT_API tt_code tt_device_memory(int device, tt_memory *out, tt_error *err);
/* The same of pinned memory of the host for a device, without a peak or a limit. */
TT_API tt_code tt_pinned_memory(int device, tt_memory *out, tt_error *err);
/* Give pinned memory that is kept for reuse back. */
TT_API tt_code tt_pinned_trim(int device, tt_error *err);
/* The device's max_allocated begins again at what is allocated now. */
TT_API tt_code tt_device_memory_reset_peak(int device, tt_error *err);
/* Give device memory that is kept for reuse back. */
TT_API tt_code tt_device_trim(int device, tt_error *err);
/* Bytes of live and kept memory that tutti may take there; 0: no limit. */
TT_API tt_code tt_device_set_limit(int device, int64_t bytes, tt_error *err);
/* Wait for all that this process asked of the device; the first failure among it, if one came. */
TT_API tt_code tt_device_synchronize(int device, tt_error *err);

/* Bytes of array memory on the CPU. */
TT_API void tt_memory_read(tt_memory *out);
/* The CPU's max_allocated begins again at what is allocated now. */
TT_API void tt_memory_reset_peak(void);
/* Give memory that is kept for reuse back to the system. */
TT_API void tt_memory_trim(void);

/* ---- plans and profiles */

/* Texts: malloc'ed by the library; give back with tt_text_free. NULL when memory is out. */
/* The plan that evaluating these arrays would run (or ran last): steps, kernels, bytes, predicted and measured time,
 * reasons. */
TT_API char *tt_explain(tt_array *const *arrays, int n);
/* Devices, libraries found and which fallback serves where one is missing, cache, threads. */
TT_API char *tt_info(void);
/* Give a text of the library back. NULL is allowed. */
TT_API void tt_text_free(char *text);

/* Record every step from now on, of all threads; what was recorded before is forgotten. */
TT_API tt_code tt_profile_start(tt_error *err);
/* Record no more; what was recorded stays. */
TT_API void tt_profile_stop(void);
/* What was recorded as a table, a line for each kind of step; give back with tt_text_free. NULL when memory is out. */
TT_API char *tt_profile_table(void);
/* What was recorded as Chrome/Perfetto JSON; give back with tt_text_free. NULL when memory is out. */
TT_API char *tt_profile_trace(void);

/* Run the launches that wait, and wait for every device. Compilers that work in the background are not waited for. */
TT_API tt_code tt_synchronize(tt_error *err);
/* Wait until no kernel is waiting for the compiler (tests, benchmarks). */
TT_API void tt_compile_wait(void);
/* Which tiers may run: 0 interpreted only, 1 compiled at once (waits), 2 both (default). */
TT_API void tt_set_tier(int tier);
/* Fuse operations (default), or make each a step of its own: for tests and for measuring. */
TT_API void tt_set_fuse(bool fuse);

/* Work on at most so many elements is done by the call that asks for it, and not recorded (0: none is; below 0: the
 * default). Results have the same bits. */
TT_API void tt_set_eager(int64_t elements);

/* How devices may multiply float32 and complex64 matrices: "highest" (in float32, the default), or "high" (operands
 * rounded to the 10 bits of tf32, sums in float32, several times as fast). TT_EVALUE for another word. */
TT_API tt_code tt_set_matmul_precision(const char *precision, tt_error *err);
/* The word in force; valid for the life of the process. */
TT_API const char *tt_matmul_precision(void);

/* What is kept on disk between processes, compiled code and measured costs: where, how many files, how large. */
typedef struct tt_kept {
  char folder[512]; /* "" when there is none */
  int64_t files, bytes;
} tt_kept;
/* `remove`: they are removed as they are counted. Other files in the folder are left alone. */
TT_API void tt_kept_files(bool remove, tt_kept *out);

/* Folders of Python packages ("dir:dir"): vendors' libraries are looked for in the wheels there. */
TT_API void tt_library_path(const char *dirs);

/* Ask the running evaluation to stop at the next step (from a signal handler: it only sets a flag). */
TT_API void tt_interrupt(void);
/* Is a thread evaluating now? A process that ends need not wait for it. */
TT_API bool tt_busy(void);
/* A check the evaluator calls now and then on the calling thread; non-zero means "interrupt" (bindings:
 * PyErr_CheckSignals). */
TT_API void tt_set_interrupt_check(int (*check)(void));
/* Ctrl-C runs a function of the program's that may return: a kernel is left when the check says so, not at once. */
TT_API void tt_set_interrupt_handled(bool handled);
/*
** Called on a calling thread before it waits or works for long, and after, with no lock of ours held: bindings give up
** and take back their interpreter lock there. So a thread that holds it never waits for one that wants it. NULLs:
** nothing to do.
*/
TT_API void tt_set_blocking(void (*begin)(void), void (*end)(void));

/* This thread's operations are recorded from this line on: an id of the binding's, 0: unknown. */
TT_API void tt_set_line(uint32_t id);
/* The function that writes the name of a line into `out`, of `size` bytes with its NUL; NULL: there is none. */
TT_API void tt_set_line_name(void (*name)(uint32_t id, char *out, size_t size));

/* Fault injection for tests: kind is "memory", "compile", "spawn", "write", "read", "load", "device memory", "launch",
 * "copy" or "device loss"; n < 0 disarms. */
TT_API tt_code tt_test_fail(const char *kind, int64_t n, bool sticky, tt_error *err);
/* How many times what `kind` names was asked for since tt_test_fail, and whether it was made to fail. */
TT_API int64_t tt_test_calls(const char *kind, bool *fired);
/* Bytes of metadata and array memory in use, for leak checks; without what threads keep to work in. */
TT_API int64_t tt_test_live(void);

#ifdef __cplusplus
}
#endif
#endif
