/*
** The insides of the interpreter: a program (built once, read by all threads) and the
** space of one call (this thread's alone).
**
** A program is a list of segments: one per outer phase and one per row phase of the kernel. A
** segment is a list of steps. A step works on a block of lanes; its operands are found through
** ptr[], indexed by kernel instruction: a block register, memory that a load points at, or memory
** that a store will own ("aimed": the producer writes it and the store has nothing left to do).
*/
#ifndef TT_DEVICE_CPU_VM_INT_H
#define TT_DEVICE_CPU_VM_INT_H

#include "device/cpu/vm.h"
#include "device/cpu/vm_loops.h"

enum {
  TT_VM_OP,    /* elementwise, casts included: fn */
  TT_VM_ROUND, /* to 16 bits and back */
  TT_VM_AIM,   /* point value `out` at the memory of store access `access`, if it is dense now */
  TT_VM_LOAD,  /* INDEX too */
  TT_VM_LOADX,
  TT_VM_STORE,
  TT_VM_STOREX,
  TT_VM_REDUCE
};

typedef struct tt_vm_step {
  uint8_t kind;
  bool aimed;     /* LOAD: some AIM may have placed the result */
  int16_t out;    /* kernel instruction */
  int16_t src[3]; /* kernel instructions; 0 where there is none */
  int16_t access; /* entry of tt_vm_program.access; REDUCE: of .red */
  uint8_t half;   /* ROUND: F16 or BF16 */
  tt_vm_loop fn;
} tt_vm_step;

/* One per LOAD, STORE, INDEX, LOADX and STOREX instruction, so that each has a cursor of its own. */
typedef struct tt_vm_access {
  int16_t slot;  /* kernel access */
  int16_t buf;   /* as in tt_kaccess */
  int16_t inst;  /* the instruction: a load's value, a store's number */
  uint8_t dtype; /* in memory */
  uint8_t shift; /* log2 of its bytes; INDEX: 0 */
  bool write, half;
  bool flatx;  /* LOADX and STOREX: no cursor */
  bool scalar; /* one lane (scope OUTER of ROW mode) */
  bool fixed;  /* does not move along the lane and owns its register: filled once per line */
  bool copy;   /* memory may change before the last use: never read in place */
} tt_vm_access;

typedef struct tt_vm_reduction {
  int16_t inst, slot;
  uint8_t red, type, shift;
  bool arg;
  tt_scalar identity;
  tt_vm_loop op;   /* combines values lane by lane; NULL for ARG* */
  tt_vm_red lanes; /* folds a block into 64 accumulators, */
  tt_vm_fold fold; /* and these into the first */
  tt_vm_arg arg_lanes;
  tt_vm_argfold arg_fold;
  int32_t acc, acc_at;     /* chunk accumulators (offset in the space), and their indices */
  int32_t total;           /* ARG*: the row's value (its index is the instruction's register) */
  int32_t group, group_at; /* ROW: the value of the group of chunks under way, and its index */
} tt_vm_reduction;

typedef struct tt_vm_segment {
  tt_vm_step *step;
  int32_t nstep;
  int32_t access_lo, access_hi; /* its entries of tt_vm_program.access */
  int16_t *widen;               /* of row segments: what they read of the outer scope */
  int32_t nwiden;
  int32_t red_lo, red_hi; /* row segments: its entries of tt_vm_program.red */
  bool lean;              /* no register is touched when every access is dense: blocks may be of any size */
} tt_vm_segment;

struct tt_vm_program {
  tt_arena arena;
  const tt_vm_table *table;
  uint8_t mode, nouter, naxes, nphase;
  bool checked;
  bool flat;     /* MAP, COL: short lines may share a block */
  bool by_point; /* blocks of one lane */
  int16_t ninst, nconst;
  int32_t naccess, nred;
  tt_vm_segment *outer; /* [nphase + 1] */
  tt_vm_segment *row;   /* [nphase] */
  tt_vm_access *access;
  tt_vm_reduction *red;
  int16_t *constant;    /* [nconst] CONST instructions ... */
  int16_t *constant_of; /* ... and their scalars */
  uint8_t *type;        /* [ninst] register type */
  int32_t *reg;         /* [ninst] offset of the instruction's register in the space */
  int32_t block;        /* lanes of a block, a multiple of 64 */
  size_t space;         /* bytes of a call's space */
  int32_t at_access, at_step, at_index, at_acc, at_run, at_temp; /* offsets in the space */
};

/* How an access meets its block this call. */
enum {
  TT_VM_DIRECT, /* in place */
  TT_VM_COPY,   /* dense, through a register */
  TT_VM_FIXED,  /* the line's register holds it already */
  TT_VM_STRIDE,
  TT_VM_CONVERT, /* dense 16-bit floats */
  TT_VM_CONVERT_STRIDE,
  TT_VM_RANGE, /* INDEX */
  TT_VM_CHECK, /* element by element, against the buffer's length */
  TT_VM_RUNS   /* short lines share the block: vm_flat.c */
};

/* Addresses are integers: zero and negative steps pass through places that no pointer may. */
typedef struct tt_vm_cursor {
  int64_t base; /* at the outer point */
  int64_t row;  /* at the row point, lane 0 */
  int64_t at;   /* at the block */
  int64_t lane; /* bytes between lanes */
  uint8_t how;
} tt_vm_cursor;

enum { TT_VM_RUN_MAX = 64, TT_VM_SHORT = 256 };

/* Many short lines in one block: runs of them, each along one axis. */
typedef struct tt_vm_runs {
  int32_t n;                    /* 0: the block is part of one line */
  int32_t axis;                 /* the axis that a run's lines follow */
  int32_t lanes;                /* of a line */
  int32_t lines[TT_VM_RUN_MAX]; /* of a run */
} tt_vm_runs;

typedef struct tt_vm_space {
  const tt_vm_program *p;
  const tt_kargs *args;
  char *mem;
  void **ptr;           /* [ninst] */
  tt_vm_cursor *cursor; /* [naccess] */
  int64_t *step;        /* [naccess * naxes] bytes */
  int64_t *index;       /* [naxes] of the outer point and of the row point */
  int64_t *run_at;      /* [naccess * TT_VM_RUN_MAX] addresses */
  void **acc;           /* [nred] where the current chunk accumulates, */
  int64_t **acc_at;     /* [nred] and the indices of ARG* */
  char *temp;           /* a block of 16-bit floats */
  tt_vm_runs runs;
  bool quiet;     /* outer values are wanted, outer stores are not */
  int64_t row_at; /* ARG*: index over the row of the block's first lane (ROW) or row point (COL) */
  int64_t lane_n; /* lanes in a line this call */
  int lanes;      /* (ROW) accumulators that elements of a line reach */
} tt_vm_space;

static inline void *tt__vm_reg(const tt_vm_space *w, int inst) { return w->mem + w->p->reg[inst]; }

/* vm_block.c: run a segment's steps over n lanes at the cursors, then move the cursors on. */
TT_HIDDEN void tt__vm_block(tt_vm_space *w, const tt_vm_segment *g, int64_t n);
/* Fill the registers of the segment's fixed loads, n lanes. */
TT_HIDDEN void tt__vm_fill_fixed(tt_vm_space *w, const tt_vm_segment *g, int64_t n);
/* How many lanes a block of this segment may have this call. */
TT_HIDDEN int64_t tt__vm_block_lanes(const tt_vm_space *w, const tt_vm_segment *g);
/* vm_flat.c: loads and stores of a block of runs, and what decides whether one run can be used in place. */
TT_HIDDEN void tt__vm_load_runs(tt_vm_space *w, const tt_vm_step *s, const tt_vm_access *a);
TT_HIDDEN void tt__vm_store_runs(tt_vm_space *w, const tt_vm_step *s, const tt_vm_access *a);
TT_HIDDEN bool tt__vm_runs_dense(const tt_vm_space *w, const tt_vm_access *a);
/* The first line of `out` once more, `lines` times in all. */
TT_HIDDEN void tt__vm_repeat_line(char *out, int64_t line, int64_t lines);
TT_HIDDEN void tt__vm_run_flat(tt_vm_space *w, const tt_krange *range);
/* vm_row.c, vm_col.c */
TT_HIDDEN void tt__vm_run_row(tt_vm_space *w, const tt_krange *range);
TT_HIDDEN void tt__vm_run_col(tt_vm_space *w, const tt_krange *range);
/* vm.c: place cursor bases at outer point `q` of axes [0, n), and move to the next point. */
TT_HIDDEN void tt__vm_seek_outer(tt_vm_space *w, int n, int64_t q);
TT_HIDDEN void tt__vm_next_outer(tt_vm_space *w, int n);
/* The same for the row axes [lo, hi), which move cursor.row of the segment's accesses. */
TT_HIDDEN void tt__vm_seek_row(tt_vm_space *w, const tt_vm_segment *g, int lo, int hi, int64_t q);
TT_HIDDEN void tt__vm_next_row(tt_vm_space *w, const tt_vm_segment *g, int lo, int hi);
/* vm_space.c: the memory of a call, at most what a living program reserved. Give back the same pointer. */
/* The op that combines two values of a reduction (tt_red, no ARG*), and what it begins with. */
TT_HIDDEN tt_op tt__vm_combine_op(int red);
TT_HIDDEN tt_scalar tt__vm_identity(int red, int type);
TT_HIDDEN tt_code tt__vm_reserve(size_t size, tt_error *err);
TT_HIDDEN void tt__vm_unreserve(void);
TT_HIDDEN void *tt__vm_take_space(size_t size);
TT_HIDDEN void tt__vm_give_space(void *mem);

#endif
