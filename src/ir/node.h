/*
** The graph: nodes (immutable values), buffers (memory), storages (the mutable
** cells) and arrays (views on storages).
**
**   tt_array --view--> tt_storage --current value--> tt_node --operands--> tt_node ...
**                                                      `-- once evaluated: tt_buffer
**
** A node's value is a DENSE block: `size` elements in C order of its `len`. Flat
** element f of a node is the f-th in that order. Every view is an affine map into
** the flat elements of its source (offset plus a step per axis, in elements, 0 for
** broadcast, negative for reversed), so views compose and leaves are plain memory.
**
** A node never changes its value. Evaluation turns it in place into TT_N_BUFFER
** (operands dropped, buffer attached): everybody who holds it sees it evaluated.
**
** Writing through an array gives its storage a new current node (STORE, SCATTER);
** nodes recorded before keep the old value. So NumPy's aliasing is exact and the
** graph stays functional.
**
** One process-wide session lock (graph/session.h) guards all of this. Reference
** counts are plain integers under that lock.
*/
#ifndef TT_IR_NODE_H
#define TT_IR_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"
#include "ir/ops.h"
#include "tutti/types.h"

/* What a node is: an elementwise op (a tt_op; operands have exactly the node's shape), or one of these. */
enum {
  TT_N_BUFFER = 216, /* evaluated: `buf` holds the dense value */
  TT_N_EMPTY,        /* uninitialised memory: any value will do; becomes a BUFFER when first needed */
  TT_N_CONST,        /* attr.scalar everywhere */
  TT_N_IOTA,         /* int64: the flat index itself */
  TT_N_VIEW,         /* flat element of src[0] at attr.off + sum(i[k] * step[k]) */
  TT_N_REDUCE,       /* src[0] reduced over the axes of attr.reduce.axes; those axes are gone from len */
  TT_N_STORE,        /* src[0] with src[1] written through a view (rank and len of src[1], attr.off, step[]) */
  TT_N_GATHER,       /* flat elements of src[0] at src[1] (int64, in range: checked when recorded) */
  TT_N_SCATTER,      /* src[0] with src[2] written at flat elements src[1]; in order, the last one wins */
  TT_N_LIB,          /* a host function: attr.lib; its results are read with PICK */
  TT_N_PICK,         /* result number attr.pick of the LIB node src[0], or what the CALL node src[0] leaves of operand
                        attr.pick */
  TT_N_CALL,         /* a launch of a user's kernel: attr.call */
  TT_N_LIST,         /* more operands of a CALL; no value */
  TT_N_BITCAST       /* the bytes of src[0], a whole block, as elements of another type */
};

/* Reductions. Accumulator types are chosen when recorded: src[0] already has the accumulator's type. */
typedef enum tt_red {
  TT_RED_SUM,
  TT_RED_PROD,
  TT_RED_MAX, /* NaN wins */
  TT_RED_MIN,
  TT_RED_ANY,    /* bool */
  TT_RED_ALL,    /* bool */
  TT_RED_ARGMAX, /* int64: index over the reduced axes in C order, first of equals, NaN wins */
  TT_RED_ARGMIN,
  TT_RED_COUNT
} tt_red;
static inline bool tt__red_is_arg(uint8_t red) { return red == TT_RED_ARGMAX || red == TT_RED_ARGMIN; }

/* A buffer's bytes in a device's memory (run/residency.h). */
typedef struct tt_replica tt_replica;

/*
** Memory that holds values. Shared: a buffer with one holder may be written in place, others are copied.
** The bytes lie on the host (`data`), on devices (`replicas`), or on both; wherever they lie they are the same. Who
** writes in one place drops the others.
*/
typedef struct tt_buffer {
  int32_t refs;
  bool readonly;           /* borrowed memory that is not ours to write */
  bool elsewhere;          /* borrowed memory of a device: what others write there is not in `data` */
  void *data;              /* NULL: not on the host (tt__buffer_host brings them), or size is 0 */
  size_t size;             /* bytes */
  void (*drop)(void *ctx); /* NULL: the memory is ours (tt__mem_alloc_data) */
  void *ctx;
  tt_replica *replicas;
  bool ranged; /* as indices of type ranged_as its values were found to lie in [least, most]; until written */
  uint8_t ranged_as;
  int64_t least, most;
  /* For run/place.c: what a device would have saved of the work on these bytes so far, or has; what it saved of arrays
   * that were made alike; and which those are, 0: unknown. */
  float owed_ns, promised_ns;
  uint16_t kind;
} tt_buffer;

/* A node's device: wherever it is done soonest; or operands that were put on two different ones (an error later). */
enum { TT_ANYWHERE = -1, TT_TORN = -2 };

typedef struct tt_node tt_node;
typedef struct tt_lib_row tt_lib_row;         /* ir/library.h */
typedef struct tt_kernel_call tt_kernel_call; /* ir/user/call.h */

#define TT_LIB_PICKS 4

typedef struct tt_lib_attr {
  const tt_lib_row *row;
  int64_t i[8]; /* what the row says */
  double f[3];
  /* The live PICK nodes of results 0..3, not held: who asks for one result gets all that somebody holds in one run. */
  struct tt_node *pick[TT_LIB_PICKS];
} tt_lib_attr;

#define TT_NODE_SRC 6
/* A VIEW has one operand and a GATHER two: in the places of others they know their neighbours among those that read the
 * same node. */
enum { TT_NEXT_READER = 2, TT_LAST_READER = 3 };

struct tt_node {
  int32_t refs;
  int32_t held;  /* storages whose current value this is */
  uint8_t op;    /* tt_op or TT_N_* */
  uint8_t dtype; /* tt_dtype of the value */
  uint8_t rank;
  uint8_t nsrc;
  uint8_t flags;    /* TT_NODE_* */
  uint8_t nstep;    /* entries in step[]: rank for VIEW, rank of src[1] for STORE, else 0 (kept when the node becomes a
                       BUFFER) */
  uint32_t mark;    /* which walk was here last (graph/session.h hands out stamps) */
  int32_t slot;     /* scratch of that walk */
  uint32_t line;    /* where it was recorded: an id for the caller's line (0: unknown) */
  int16_t device;   /* TT_ANYWHERE, or the id of the device it was put on and computes on; TT_TORN */
  uint32_t pending; /* at least as many unevaluated operations as lie below it, itself included; 0 for values */
  uint32_t oldest;  /* number of the first of those, as nodes are made; without any, its own */
  int64_t size;     /* elements: the product of len */
  struct tt_tape *tape;      /* held: what gradients need to come back through it (graph/tape.h); NULL: none do */
  tt_node *readers;          /* the unevaluated VIEW and GATHER nodes of which it is src[0], not held: a list through */
  tt_node *src[TT_NODE_SRC]; /* their src[TT_NEXT_READER] and src[TT_LAST_READER] */
  union {
    tt_scalar scalar; /* CONST */
    int64_t off;      /* VIEW, STORE */
    struct {
      uint64_t axes; /* bit k: axis k of src[0] is reduced */
      uint8_t red;   /* tt_red */
    } reduce;
    tt_buffer *buf;       /* BUFFER: element 0 is buf->data */
    int32_t pick;         /* PICK */
    tt_lib_attr *lib;     /* LIB; owned */
    tt_kernel_call *call; /* CALL; owned */
  } attr;
  int64_t dim[]; /* len[rank], then step[nstep] */
};

enum {
  TT_NODE_SEEN = 1,    /* an evaluation went through it without keeping its value */
  TT_NODE_CHECKED = 2, /* (GATHER, SCATTER) indices were proved in range */
  TT_NODE_AT_ONCE = 4, /* computed when it was recorded */
  TT_NODE_TAPES = 8,   /* an operand has an entry on the tape */
  TT_NODE_OUTPUT = 32, /* it was differentiated, and is wanted with the step that follows (graph/tape.c lists it) */
  TT_NODE_STEP = 16    /* work with gradients, or for them, lies below: it is evaluated as a whole */
};

static inline int64_t *tt__node_len(tt_node *n) { return n->dim; }
static inline int64_t *tt__node_step(tt_node *n) { return n->dim + n->rank; }

typedef struct tt_window tt_window; /* graph/index/alias.c */

/* The one mutable cell. */
typedef struct tt_storage {
  int32_t refs;
  bool readonly;
  tt_node *node;           /* the current value; its flat elements are the storage's elements */
  struct tt_array *cached; /* the views whose `cache` reads the current value; a write empties the list */
  /* Several storages over one memory, each with elements of another type (graph/index/alias.h): */
  struct tt_storage *root;    /* whose memory this one shows, held; NULL: its own */
  struct tt_storage *showing; /* of a root: those that show its memory, */
  struct tt_storage *beside;  /* one after another */
  tt_window *window;          /* with a root: which of its elements; owned */
  tt_node *coming;            /* scratch of tt__alias_put */
} tt_storage;

/* A view on a storage. off and step count elements of the storage. */
struct tt_array {
  int32_t refs;
  uint8_t dtype, rank;
  bool readonly; /* this view refuses writes (broadcast views, exported borrows) */
  int64_t size;  /* elements */
  int64_t off;
  tt_storage *storage;
  tt_node *cache; /* the node that reads this view of the storage's current value (NULL: not made) */
  struct tt_array *cache_prev, *cache_next; /* in storage->cached, while cache is not NULL */
  int64_t dim[];                            /* len[rank], step[rank] */
};

typedef struct tt_array tt_array;
static inline int64_t *tt__array_len(tt_array *a) { return a->dim; }
static inline int64_t *tt__array_step(tt_array *a) { return a->dim + a->rank; }

#endif
