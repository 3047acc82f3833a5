/*
** The one session of a process: its lock, walk stamps, the pending-work account and the
** way up to the evaluator (run/ registers itself; graph/ never includes it).
*/
#ifndef TT_GRAPH_SESSION_H
#define TT_GRAPH_SESSION_H

#include "ir/library.h"
#include "ir/node.h"
#include "tutti/device.h"

/* Recursive. Held while recording and planning, released by the evaluator while kernels run. */
TT_HIDDEN void tt__session_lock(void);
TT_HIDDEN void tt__session_unlock(void);
/* By this thread; for asserts. */
TT_HIDDEN bool tt__session_is_held(void);
/* Let others record while this thread runs kernels: gives up every level, returns the depth for _resume. */
TT_HIDDEN int tt__session_suspend(void);
TT_HIDDEN void tt__session_resume(int depth);
/* What a binding does around the time between the two (device.h: tt_set_blocking). */
TT_HIDDEN void tt__session_set_blocking(void (*begin)(void), void (*end)(void));

/*
** Bytes of storages whose value is recorded and not computed. Above one part in TT_PENDING_SHARE of the machine's
** memory, recording evaluates the newest. node.c keeps the account, of values that are not above it by themselves.
*/
TT_HIDDEN extern int64_t tt__session_pending_bytes;
TT_HIDDEN int64_t tt__session_pending_cap(void);

/* Buffers of others' memory that nobody holds: their drop() runs once the lock is free (it may wait for another
 * lock). */
TT_HIDDEN void tt__session_bury(tt_buffer *b);
/* (node.c) Free the object of a buffer whose memory is already gone. */
TT_HIDDEN void tt__buffer_dispose(tt_buffer *b);

/* A new walk: no node carries this mark yet. */
TT_HIDDEN uint32_t tt__session_stamp(void);

/* The evaluator: make every node of the list a BUFFER. Registered by run/ at load. */
typedef tt_code (*tt_evaluate_fn)(tt_node *const *node, int n, tt_error *err);
TT_HIDDEN void tt__session_set_evaluator(tt_evaluate_fn fn);
TT_HIDDEN tt_code tt__evaluate(tt_node *const *node, int n, tt_error *err);
/* The same for one node whose values are looked at on the host next: what they cost to bring there counts. */
TT_HIDDEN tt_code tt__evaluate_to_look(tt_node *node, tt_error *err);
/* And its bytes lie there afterwards. */
TT_HIDDEN tt_code tt__evaluate_home(tt_node *node, tt_error *err);

/* Set by who evaluates because the host is going to read the values. */
TT_HIDDEN extern __thread bool tt__session_looking;
/* Set by who evaluates because it has to know whether a device could be asked for all launches: none waits. */
TT_HIDDEN extern __thread bool tt__session_prompt;
/* Bytes of buffers that lie on devices. Registered by run/ at load. Session lock held; to_host may give it up. */
typedef struct tt_residency {
  tt_code (*to_host)(tt_buffer *b, tt_error *err);
  /* Bytes of a buffer that is not on the host, straight to the caller's memory. */
  tt_code (*read)(tt_buffer *b, size_t from, void *to, size_t size, tt_error *err);
  tt_code (*to_device)(tt_buffer *b, int id, tt_error *err); /* does not wait */
  /* A buffer on the device with bytes of the caller, which have been read when it returns. */
  tt_code (*from_host)(const void *data, size_t size, int id, tt_buffer **out, tt_error *err);
  /* A buffer over memory of the device that somebody else owns; `drop` is called when nobody needs it. */
  tt_code (*adopt)(void *p, size_t size, int id, bool readonly, void (*drop)(void *ctx), void *ctx, tt_buffer **out,
                   tt_error *err);
  int (*where)(const tt_buffer *b); /* of a buffer that is not on the host */
  void (*drop_replicas)(tt_buffer *b);
  /* An array that nobody puts anywhere is about to be made of memory of the caller. Sets the buffer's fields for
   * placement; the device on which such arrays are used at once, or 0. */
  int (*expect)(tt_dtype dtype, int rank, const int64_t *len, tt_buffer *as);
  void (*forget)(const tt_buffer *b); /* with a `kind`, and soon gone */
} tt_residency;
TT_HIDDEN extern const tt_residency *tt__session_residency;

/*
** Run a maker (ir/library.h) on a device over nodes; out[k] gets a buffer, n[k] its elements and dtype[k] their type.
** TT_ENOTIMPL: the host has to. Registered by run/ at load. Session lock held.
*/
typedef struct tt_make_result {
  tt_buffer *buffer;
  int64_t n;
  tt_dtype dtype;
} tt_make_result;
typedef tt_code (*tt_make_fn)(const char *name, const tt_lib_attr *attr, tt_node *const *src, int id,
                              tt_make_result *out, tt_error *err);
TT_HIDDEN extern tt_make_fn tt__session_make;

/* Where arrays made by this thread are put unless their maker says otherwise: TT_ANYWHERE, or a device's id. */
TT_HIDDEN extern __thread int tt__session_device;

/* A few elements of an op on n operands of type `from`, dense, with the kernels' own arithmetic; false: do not know.
 * Registered by run/. */
typedef bool (*tt_elements_fn)(tt_op op, tt_dtype from, tt_dtype to, const void *const *arg, int n, void *out,
                               int64_t count);
TT_HIDDEN extern tt_elements_fn tt__session_elements; /* NULL: nobody registered */
/* A reduction of few elements, likewise, folded as a kernel folds what lies so. Registered with it. */
typedef bool (*tt_small_fold_fn)(const tt_small_fold *f, void *out);
TT_HIDDEN extern tt_small_fold_fn tt__session_small_fold;
/* A library row with one result, on the host, under the lock; false: not now, or it failed. Registered with it. */
typedef bool (*tt_library_fn)(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out);
TT_HIDDEN extern tt_library_fn tt__session_library;
/* The loop that does it, or NULL, for who keeps it. Registered with it. */
typedef void (*tt_elements_loop)(void *out, const void *a, const void *b, const void *c, int64_t n);
typedef tt_elements_loop (*tt_elements_loop_fn)(tt_op op, tt_dtype from, tt_dtype to);
TT_HIDDEN extern tt_elements_loop_fn tt__session_elements_loop;

/* A fold into an array's own memory (lib/scan/fold.h says what); registered by run/, NULL: nobody did. */
typedef bool (*tt_fold_into_fn)(const tt_fold_into *f);
TT_HIDDEN extern tt_fold_into_fn tt__session_fold_into;

/* The ledger; fields are bumped with TT_COUNT under or without the lock (relaxed atomics). */
TT_HIDDEN extern tt_ledger tt__ledger;
#define TT_COUNT(field, n) __atomic_fetch_add(&tt__ledger.field, (int64_t)(n), __ATOMIC_RELAXED)
/* Of what is counted under the session's lock alone: no atomic addition, which small work would feel. */
static inline void tt__session_count_at_once(void) {
  int64_t n = __atomic_load_n(&tt__ledger.at_once, __ATOMIC_RELAXED);
  __atomic_store_n(&tt__ledger.at_once, n + 1, __ATOMIC_RELAXED);
}

/*
** Pending work: nodes recorded and not evaluated under one storage. When a storage's new value has more than
** TT_PENDING_NODES unevaluated nodes below it (counted cheaply, see node.c), recording evaluates it first ("flush").
*/
#define TT_PENDING_NODES 256
#define TT_STEP_NODES 65536 /* of work with gradients: a step is not cut */
#define TT_PENDING_SHARE 4  /* one part in 4 */

/* The caller's line for nodes recorded from now on (thread-local). */
TT_HIDDEN extern __thread uint32_t tt__session_line;
/* Names a line id, or "" (bindings register it). */
TT_HIDDEN void tt__session_line_name(uint32_t id, char *out, size_t size);
TT_HIDDEN void tt__session_set_line_name(void (*name)(uint32_t id, char *out, size_t size));
/* Checks that need values wait (tt_defer_checks). */
TT_HIDDEN extern __thread bool tt__session_defer;
/* Whether what is recorded from arrays with gradients is to have some, too (no_grad). */
TT_HIDDEN extern __thread bool tt__session_tape;
/* tt.strict() */
TT_HIDDEN extern bool tt__session_strict_copy, tt__session_strict_fallback;

#endif
