/*
** What gradients need of recorded work: an entry for each value that was computed from one with a gradient.
**
** A node drops its operands when it is evaluated, so entries stand beside the nodes and hold values: of the operands
** those that the derivative names, and the result where it names that. (An entry and its own result hold each other:
** when nobody else holds either, both go.) Values never change, so what is written in place later is no danger.
** Entries know their parents, the entries of the operands; leaves are the arrays that gradients are asked for.
** Under the session lock.
*/
#ifndef TT_GRAPH_TAPE_H
#define TT_GRAPH_TAPE_H

#include "graph/build.h"
#include "graph/session.h"
#include "tutti/grad.h"

/* Besides tt_op and TT_N_*: what an entry may be. */
enum { TT_TAPE_LEAF = 240, TT_TAPE_FUNCTION, TT_TAPE_SAME, TT_TAPE_MADE };

/* A function with a derivative of its own. What `ctx` points at lives as long as `owner`, whose drop() runs without the
 * lock. */
typedef struct tt_tape_function {
  tt_backward_fn backward;
  void *ctx;
  tt_buffer *owner; /* held */
} tt_tape_function;

/* A hook sees a cotangent and may give another one. */
typedef struct tt_tape_hook {
  struct tt_tape_hook *next;
  int64_t id;
  tt_hook_fn call;
  void *ctx;
  tt_buffer *owner; /* held */
} tt_tape_hook;

typedef struct tt_tape tt_tape;
struct tt_tape {
  int32_t refs;
  uint8_t op, dtype, rank, nstep; /* of the value */
  uint8_t keeps;                  /* ir/grad.h */
  bool spent;                     /* a backward has let go of what it kept */
  bool keeps_grad;                /* not a leaf, and its gradient is kept all the same */
  int16_t device;
  int32_t n;       /* operands */
  int32_t nresult; /* LIB, CALL, FUNCTION, MADE */
  uint32_t line, mark;
  int32_t slot;     /* scratch of a walk, which `mark` names */
  uint64_t serial;  /* those of operands are smaller */
  tt_tape **parent; /* n; NULL: no gradient goes there */
  tt_node **src;    /* n; kept values, or NULL */
  tt_node *result;  /* of one that keeps it, or NULL */
  tt_tape **pick;   /* LIB, CALL, FUNCTION: the entries of the results, not held; nresult */
  union {
    int64_t off; /* VIEW, STORE */
    struct {
      uint64_t axes;
      uint8_t red;
    } reduce;
    int32_t pick;
    tt_lib_attr *lib;          /* owned */
    const char *made;          /* MADE: by what */
    tt_tape_function function; /* FUNCTION */
  } attr;
  int64_t *wrote;      /* STORE: the shape of what was written; nstep */
  tt_storage *storage; /* LEAF: whose values it stands for; NULL when that is gone */
  int64_t place;       /* LEAF: among all leaves */
  tt_array *grad;      /* LEAF, or with keeps_grad: what was summed up so far, in the shape of the value */
  tt_tape_hook *hook;  /* owned */
  int64_t dim[];       /* len[rank], step[nstep]: of VIEW and STORE */
};

static inline const int64_t *tt__tape_step(const tt_tape *t) { return t->dim + t->rank; }

/* Do gradients flow through what is recorded from this value by this thread? */
static inline bool tt__is_taped(const tt_node *n) { return n->tape && tt__session_tape; }

/* Does the entry say something else than the node does (a leaf, a result of a function, nothing where what is below has
 * a history)? Then nobody may look through the node at what is below. */
static inline bool tt__is_opaque(const tt_node *n) {
  if (n->tape) return n->tape->op != n->op;
  return tt__session_tape && n->nsrc > 0 && n->src[0]->tape;
}

TT_HIDDEN tt_tape *tt__tape_retain(tt_tape *t);
TT_HIDDEN void tt__tape_release(tt_tape *t); /* NULL allowed; chains of any length */
/* Let go of what the entry keeps: a backward has used it. */
TT_HIDDEN void tt__tape_spend(tt_tape *t);

/* Give a node that was just made from taped operands its entry. False: no memory; err knows. */
TT_HIDDEN bool tt__tape_record(tt_node *n, tt_error *err);
/* A node with one holder left: is that its own entry, which nobody else holds? Then the entry lets go of it. */
TT_HIDDEN bool tt__tape_is_last(tt_node *n);
/* A dying node lets go of its entry. */
TT_HIDDEN void tt__tape_leave(tt_node *n);

/* An entry with `n` operands (their arrays' entries) and results of a function of the caller's. Takes `f` only when it
 * succeeds. */
TT_HIDDEN tt_tape *tt__tape_function(const tt_tape_function *f, tt_node *const *src, int n, int nresult, tt_error *err);
/* An entry for what was computed at once out of these: by a maker of the library that keeps something for its
 * derivative, or (keeps: 0) by something that has none. The name must last. With `row`, and no name: an entry of that
 * call of a row of the library, for operands and results that its rule chooses. */
TT_HIDDEN tt_tape *tt__tape_made(const char *name, const tt_lib_attr *row, unsigned keeps, tt_node *const *src, int n,
                                 int nresult, tt_error *err);
/* The node as result k of such an entry, or of one of a library row whose result died: a node of its own. */
TT_HIDDEN tt_node *tt__tape_result(tt_tape *t, int k, tt_node *value, tt_error *err);
/* The value as a node of its own with this entry (one more hold on that), or without one. */
TT_HIDDEN tt_node *tt__tape_wrap(tt_node *value, tt_tape *t, tt_error *err);
/* What was made of none of a node's elements (no elements, or the sum of none), with that node's history: gradients
 * reach it, and are zeros. Takes the hold on `value`, which may be NULL, gives one. */
TT_HIDDEN tt_node *tt__tape_of_none(tt_node *value, tt_node *of, tt_error *err);
/* A node with the same values elsewhere gets a history: that node's. */
TT_HIDDEN tt_code tt__tape_follow(tt_node *n, tt_node *same, tt_error *err);
/* The value once more, as one of its own, with the first one's entry as its parent. */
TT_HIDDEN tt_node *tt__tape_same(tt_node *value, tt_error *err);
/* Put a node on a device, and what comes back to it. */
static inline void tt__node_put(tt_node *n, int device) {
  n->device = (int16_t)device;
  if (n->tape && n->tape->op == n->op) n->tape->device = (int16_t)device;
}

/* ---- storages whose values are leaves */
/* The leaf that a storage's values are; NULL: no gradients are asked for by it. */
static inline tt_tape *tt__storage_leaf(const tt_storage *s) {
  tt_tape *t = s->node->tape;
  return t && t->op == TT_TAPE_LEAF && t->storage == s ? t : NULL;
}
/*
** Compute what is pending of the steps before: the leaves' values, together, and the outputs of the last walk back.
** (tt__evaluate adds them to what it is asked for: a step is one evaluation.)
*/
TT_HIDDEN tt_code tt__tape_settle(tt_error *err);
/* Evaluate these and all that belongs to the pending step. */
TT_HIDDEN tt_code tt__tape_evaluate(tt_node *const *node, int n, tt_evaluate_fn evaluate, tt_error *err);
/* The storage of a leaf goes. */
TT_HIDDEN void tt__storage_leave_leaf(tt_storage *s);
/* An output of a walk back (not held): it is wanted with the step that follows. */
TT_HIDDEN void tt__tape_output(tt_node *output);
/* One of them dies. */
TT_HIDDEN void tt__tape_forget_output(tt_node *output);
/* Make the storage a leaf, or no longer one. */
TT_HIDDEN tt_code tt__storage_set_leaf(tt_storage *s, bool on, tt_error *err);
/* The value that a storage which is a leaf is to get, as the leaf's. Takes the hold, gives one. */
TT_HIDDEN tt_node *tt__storage_leaf_value(tt_storage *s, tt_node *n, tt_error *err);

#endif
