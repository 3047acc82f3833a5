/*
** A plan: what an evaluation does, as an ordered list of steps. The artefact between
** sched/ and everything after it. A kernel step knows its iteration space and how each
** operand is indexed by it, so that a later pass can cut the space into pieces and give
** the pieces to devices, ranks or turns in time.
**
** A plan names nodes by their number in the walk that made it (children first), never by
** pointer: an equal graph later binds its own nodes to the same plan.
**
** Memory. Every node that lies in memory is one version of it: what the memory holds from the step that writes the
** version to the last step that reads it. A plan lists them (tt_pvalue), and so says of each step which version of
** which memory it reads and writes. The rule, which tt__plan_check proves of every plan:
**
**   1. A step reads what is there: versions that lay there before the plan, or that an earlier step wrote.
**   2. What is read stays until the last step that reads it, and no longer. Who reads is said by steps alone, not by
**      the graph: a value may be stored by one step and computed again inside a later one, and what it is computed
**      from is then read by both.
**   3. A version is written over only in the step in which it ends, and by a step that reads it nowhere but at the
**      element it is about to write, or at elements that it does not write (ir/reach.h).
**   4. Nothing is written twice: each version has one step that writes it.
**   5. Steps that are one launch (tt_step.many) run at the same time: what they need was written before the first of
**      them, and what one of them writes over no other needs. What ends in one of them ends with the launch.
**
** Whoever runs a plan (run/realize.c) holds each value from the beginning until its last step is done, whatever
** becomes of the graph on the way. Somebody outside may hold it longer; then what would be written over is copied.
*/
#ifndef TT_IR_PLAN_H
#define TT_IR_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "ir/map.h"
#include "ir/node.h"

/* The nodes below some targets that are not evaluated, and the evaluated ones they read; children first. */
typedef struct tt_walk {
  tt_node **node;
  int n;
  int32_t *target; /* numbers of the targets */
  int ntarget;
  bool is_step; /* of training: there is work with gradients in it */
  bool held;    /* a plan is run: each of its values has one more hold until it ends, and is NULL here from then on */
} tt_walk;

enum {
  TT_P_CONST = 216, /* scalar of CONST node `ref`, or literal -1 - ref */
  TT_P_LOAD,        /* access ref */
  TT_P_INDEX,       /* affine int64 of access ref */
  TT_P_LOADX,       /* flat element src[0] of access ref's operand */
  TT_P_STORE,       /* src[0] into access ref */
  TT_P_STOREX,      /* src[1] into flat element src[0] of access ref's operand */
  TT_P_REDUCE       /* src[0] over the row by `red` */
};

/* One instruction of a kernel step, in the graph's own types (complex and float16 included). */
typedef struct tt_pinst {
  uint8_t op;    /* tt_op or TT_P_* */
  uint8_t dtype; /* of the value */
  uint8_t red;
  int32_t ref;
  int16_t src[3];
} tt_pinst;

typedef struct tt_paccess {
  int16_t operand; /* -1: INDEX */
  uint8_t dtype;
  bool write;
  int64_t off;
  int64_t *step; /* [naxes] */
} tt_paccess;

typedef struct tt_poperand {
  int32_t node; /* walk number */
  bool write;   /* the buffer of a root of this step */
} tt_poperand;

/* A value this step leaves in memory. */
typedef struct tt_proot {
  int32_t node;
  int16_t operand; /* its buffer */
  int32_t base;    /* STORE, SCATTER: the node written over; -1 */
  bool in_place;   /* the next version of base's memory, which ends here. A copy if somebody outside holds base */
  int16_t donor;   /* operand that ends here and whose memory may serve as the result's, unless somebody outside holds
                      it; -1 */
} tt_proot;

/* What steps need of a node: a version of a memory, or something without memory (a constant, a library node). */
typedef struct tt_pvalue {
  int32_t node;
  int32_t memory;  /* named by the node of its version 0; -1: none */
  int32_t version; /* number in its memory */
  int32_t from;    /* the step that writes it; -1: it was there before */
  int32_t until;   /* the last step that needs it; tt_plan.n: it outlives the plan */
} tt_pvalue;

typedef enum tt_step_kind { TT_STEP_KERNEL, TT_STEP_LIB, TT_STEP_EMPTY, TT_STEP_CALL } tt_step_kind;

/* A library operand: node `node` seen through a view. */
typedef struct tt_plib_src {
  int32_t node;
  int rank;
  int64_t off;
  int64_t *len, *step;
} tt_plib_src;

/* What a kernel has to do. */
typedef struct tt_step_work {
  double points;                     /* of the whole space */
  int weight;                        /* instructions a point, slow ones counted 8 times */
  int wide;                          /* those of them that work on float64 */
  int64_t bytes_read, bytes_written; /* each operand once */
} tt_step_work;

typedef struct tt_step {
  uint8_t kind; /* tt_step_kind */
  int many;     /* KERNEL: this step and the many - 1 after it, the same kernel over other buffers, are one launch where
                   they run alike; 0: a launch of its own, or one that an earlier step begins */
  int nroot;
  tt_proot *root;
  /* KERNEL */
  tt_space space; /* outer axes first */
  int nouter;
  /* How far apart the elements that are folded lie along each axis, in their recorded order: 0 where they do not move,
   * else larger is further. It says in which order they are folded: what is fused with the fold has no part in that. */
  uint8_t fold[TT_MAX_AXES];
  int ninst, naccess, noperand, nliteral;
  tt_pinst *inst;
  tt_paccess *access;
  tt_poperand *operand;
  tt_scalar *literal;
  /* LIB */
  int32_t lib; /* the LIB node; its results are the roots (PICK nodes). CALL: the CALL node, which is root 0 */
  int nsrc;
  tt_plib_src *src;
  /* the nodes of the values that end here (tt__plan_index) */
  int nend;
  int32_t *end;
  /* KERNEL, once it is lowered: its kernel, what it binds to that (ir/user/launch.h) and has to do, all the driver's */
  const struct tt_kernel *kernel;
  const struct tt_lowered *lowered;
  const tt_step_work *work;
  void *launch;    /* and what the driver hangs on it (run/) */
  void *known;     /* LIB: what devices keep of its calls (run/device/later.h), the driver's */
  const char *why; /* why it is a step of its own */
} tt_step;

typedef struct tt_plan {
  tt_step *step;
  int n, cap;
  int nnode; /* nodes of the walk */
  int nvalue;
  tt_pvalue *value;            /* by rising node number */
  struct tt_step_facts *facts; /* [n], of those who place it (sched/situation.h); NULL in a plan that nobody runs */
  tt_arena arena;
} tt_plan;

/* What is wrong with a plan (the walk is not looked at): its structure, or the rule of memory; or NULL. For asserts,
 * tests and parsed texts. */
TT_HIDDEN const char *tt__plan_check(const tt_plan *p);

/* tt_step.fold of axis k where each axis lies inside the one before it; 0 without a row. */
static inline int tt__step_plain_fold(const tt_step *s, int k) {
  return s->nouter < s->space.naxes ? s->space.naxes - k : 0;
}

/* What a step needs before it runs, repeats included: call with k = 0, 1, ... until TT_P_END. TT_P_NONE: go on. */
enum { TT_P_NONE = -1, TT_P_END = -2 };
TT_HIDDEN int32_t tt__step_need(const tt_step *s, int k);
/* Does this kernel step read `node` nowhere but at the element of root r which it is about to write, or where it never
 * writes? Threads may take the points in any order. */
TT_HIDDEN bool tt__step_may_overwrite(const tt_step *s, int r, int32_t node);
/* Does root `r` write where `node` lies, in place or because it takes the memory? */
TT_HIDDEN bool tt__root_takes(const tt_step *s, int r, int32_t node);
TT_HIDDEN bool tt__step_ends(const tt_step *s, int32_t node);
/* Do two kernel steps have the same instructions? What they load and store, and how often, may differ. */
TT_HIDDEN bool tt__step_is_alike(const tt_step *a, const tt_step *b);

/* The value of a node, or NULL. */
TT_HIDDEN const tt_pvalue *tt__plan_value(const tt_plan *p, int32_t node);
/* Fill in what ends at which step from the values. False: out of memory. */
TT_HIDDEN bool tt__plan_index(tt_plan *p);

/* Text form, and back (the parser is total: any text gives a plan without fault, or TT_EVALUE with the line). */
TT_HIDDEN void tt__plan_print(const tt_plan *p, tt_str *out);
TT_HIDDEN tt_code tt__plan_parse(const char *text, tt_plan **out, tt_error *err);
TT_HIDDEN void tt__plan_free(tt_plan *p);

/* Words of the text form, shared by printer and parser: NULL for no code. */
TT_HIDDEN const char *tt__plan_code_name(int code);
TT_HIDDEN int tt__plan_code_arity(int code); /* operands in src[] */
TT_HIDDEN extern const char *const tt__step_names[4];

#endif
