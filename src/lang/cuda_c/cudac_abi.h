/*
** What the core and a compiled CUDA C program say to each other. This text is C and C++: the core includes it, and it
** travels at the head of every program. It must include nothing.
*/
#ifndef TT_LANG_CUDA_C_CUDAC_ABI_H
#define TT_LANG_CUDA_C_CUDAC_ABI_H

#define TT_CUDAC_ABI 5
#define TT_CUDAC_TOGETHER 4 /* added to an entry's sync: its blocks wait for each other */

/* Kinds of parameters: a tt_dtype's number, or one of these. */
#define TT_CUDAC_LOCAL 98    /* a tt_cudac_local */
#define TT_CUDAC_STRUCT 100  /* any other type, passed as bytes */
#define TT_CUDAC_POINTER 128 /* added to the kind of what it points at; */
#define TT_CUDAC_VOID 99     /* `void`, or a type without a dtype */
#define TT_CUDAC_CONST 256   /* added when what it points at is const */

/* Kinds of accesses: tt_check's. */
#define TT_CUDAC_READ 0
#define TT_CUDAC_WRITE 1
#define TT_CUDAC_ATOMIC 2
#define TT_CUDAC_VOLATILE 4
#define TT_CUDAC_UPDATE 8
#define TT_CUDAC_HEAP 16 /* none: memory that the kernel got from the heap */

/* (OpenCL C) A __local argument: where it begins in the block's memory, and its bytes. */
typedef struct tt_cudac_local {
  unsigned at, size;
} tt_cudac_local;

typedef struct tt_cudac_param {
  int kind, size, align;
} tt_cudac_param;

/* How one launch is cut. */
typedef struct tt_cudac_grid {
  unsigned grid[3], block[3];
  void *dynamic_shared;    /* of the thread that runs the blocks */
  unsigned long offset[3]; /* (OpenCL C) of global indices, */
  unsigned dims;           /* and how many a launch has */
} tt_cudac_grid;

/*
** A kernel. sync 0: no barriers, `blocks` runs whole blocks [lo, hi); 2: the same, split at its barriers; 1: `thread`
** runs one thread, which may wait for others; 3: the same without waiting, for checks.
*/
typedef struct tt_cudac_entry {
  const char *name;
  int nparam, sync, max_threads;
  const tt_cudac_param *param;
  void (*blocks)(const tt_cudac_grid *g, void *const *arg, long lo, long hi);
  void (*thread)(const tt_cudac_grid *g, void *const *arg, long block, unsigned thread);
  unsigned asked[3]; /* (OpenCL C) the block that it has to be launched with; 0: any */
} tt_cudac_entry;

typedef struct tt_cudac_variable {
  const char *name;
  void *data;
  unsigned long size;
} tt_cudac_variable;

/* What a program calls in the core. */
typedef struct tt_cudac_core {
  /* Wait for all threads of the block; the sum of `value` over them, how many gave non-zero, how many threads. */
  void (*barrier)(int value, int *sum, int *threads);
  /* Wait for the lanes of `mask`; everyone's value in out[32] (where asked), who came in *came, who gave non-zero. */
  void (*warp)(unsigned mask, unsigned long long value, unsigned long long *out, unsigned *came, unsigned *yes);
  unsigned (*active)(void); /* lanes of this warp that call it from the same place */
  int (*print)(const char *format, __builtin_va_list arg);
  void (*stop)(const char *file, int line, const char *what, const unsigned *thread, const unsigned *block);
  long long (*clock)(void);
  /* Of programs that are checked: an access (a sum of TT_CUDAC_READ and its kin) from the call behind `pc`; a fence; a
     return in the user's text. */
  void (*touch)(const void *at, unsigned long size, unsigned kind, const void *pc);
  void (*fence)(void);
  void (*leaves)(void);
  void (*grid)(void); /* wait for all threads of the grid */
  /* Of programs that are checked: an index beyond an array that the text declares, of a type that the compiler names;
     an access at `at` that leaves the variable it is made through (kind as for touch). Before the access itself. */
  void (*beyond)(const char *type, long index, const void *pc);
  void (*strays)(const char *type, const void *at, unsigned kind, const void *pc);
} tt_cudac_core;

typedef struct tt_cudac_program {
  int abi, nentry, nvariable;
  const tt_cudac_entry *const *entry;
  const tt_cudac_variable *variable;
  const tt_cudac_core **core; /* where the core leaves its functions */
  void *(*where)(void);       /* of programs that are checked: the address of the calling thread's tt_gap_here */
} tt_cudac_program;

#endif
