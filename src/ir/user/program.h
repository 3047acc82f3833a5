/*
** A program: typed functions with control flow, the artefact between a language that users write
** kernels and functions in (src/lang) and the text for a compiler (src/render/proc/proc.c).
**
** Everything is explicit here: conversions are CAST nodes, an index that may count from the end says so, a
** barrier is a statement. Nothing of Python is left but names and line numbers for messages.
** Every node belongs to the program's arena. Types are interned: equal types are equal pointers.
*/
#ifndef TT_IR_USER_PROGRAM_H
#define TT_IR_USER_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "ir/ops.h"
#include "tutti/types.h"

#define TT_PROGRAM_RANK 8  /* the most axes an array in a program has */
#define TT_PROGRAM_ARGS 64 /* the most parameters of a function */
/* No axis of an array is longer; tutti/jit.h and the rendered text have the number, too. */
#define TT_PROGRAM_LONGEST ((int64_t)1 << 48)

/* RAISE: the kind of a failed assert; the others are tt_codes. */
#define TT_X_ASSERTION TT_CODE_COUNT
#define TT_X_KEY (TT_CODE_COUNT + 1)  /* a KeyError */
#define TT_X_DEEP (TT_CODE_COUNT + 2) /* a RecursionError */
#define TT_X_STOP (TT_CODE_COUNT + 3) /* a StopIteration */
#define TT_X_RAISED 256               /* and above: an exception of the user's, by its number in the module */
#define TT_X_AGAIN (-1)               /* what the innermost handler caught */

typedef enum tt_ptag {
  TT_T_NONE, /* no value */
  TT_T_SCALAR,
  TT_T_ARRAY,
  TT_T_TUPLE,
  TT_T_LIST,      /* an address of a tt_jit_list (tutti/jit.h): items of one type, which whoever has it may change */
  TT_T_GENERATOR, /* an address of a tt_jit_list whose words are a function under way: its state, its code, the value
                     that it gave, whose type is the item's, and what it needs to go on */
  TT_T_META,      /* only while a language works: a value that exists at compile time alone */
  TT_T_UNKNOWN    /* only while a language infers */
} tt_ptag;

typedef struct tt_ptype tt_ptype;
struct tt_ptype {
  uint8_t tag;
  int8_t dtype;  /* SCALAR, ARRAY: tt_dtype of an element */
  uint8_t rank;  /* ARRAY */
  char layout;   /* ARRAY: 'C' dense in C order, 'A' any steps, 'P' steps in bytes to elements that may lie anywhere
                    (fields of packed records); LIST: 'l' of the language, 't' of a library, 'y' bytes, 'w' a string of
                    code points, 'j' an object: one tuple of its fields, 'd' and 'e' dictionaries, 's' and 'u' sets, of
                    entries (there?, key, value) */
  bool readonly; /* ARRAY: stores are refused */
  uint8_t n;     /* TUPLE; LIST, GENERATOR: 1 */
  int16_t id;    /* place in the program's list */
  const tt_ptype *const *item;
  /* META: what it is; GENERATOR: its function's number; TUPLE: NULL, or a letter, a name and its fields, each behind
     a ':' */
  const char *meta;
};

typedef enum tt_pop {
  TT_X_CONST,   /* i (integers, bool) or f[0] (floats), f[0..1] (complex) */
  TT_X_LOCAL,   /* k: local */
  TT_X_CAST,    /* arg[0] as `type` */
  TT_X_ELEM,    /* elem: an op of ops.def over arguments of one type (complex ones too) */
  TT_X_DIVIDE,  /* elem DIV, FLOORDIV or MOD that fails where arg[1] is 0 */
  TT_X_SELECT,  /* arg[0] ? arg[1] : arg[2], one of them computed */
  TT_X_ALSO,    /* arg[0] && arg[1] */
  TT_X_ELSE,    /* arg[0] || arg[1] */
  TT_X_LOAD,    /* arg[0][arg[1], ...]; full index */
  TT_X_VIEW,    /* part of arg[0]: `form` has a letter per axis taken or made: i index (1 argument), s slice
                   (3 arguments: start, stop, step; CONST NONE where left out), n new axis */
  TT_X_LEN,     /* axis k of arg[0] */
  TT_X_STEP,    /* distance in elements along axis k of arg[0] */
  TT_X_ADDRESS, /* where the first element of arg[0] lies, as an int64 */
  TT_X_RESHAPE, /* dense arg[0] with lengths arg[1...]: one may be -1 */
  TT_X_TURN,    /* arg[0] with its axes in reverse order */
  TT_X_TUPLE,
  TT_X_ITEM,    /* k of the tuple arg[0] */
  TT_X_LIST,    /* a new list, empty */
  TT_X_COUNT,   /* items of the list arg[0] */
  TT_X_RESIZE,  /* arg[1] are the items of the list arg[0] from now on; false: there is no memory */
  TT_X_AT,      /* item arg[1] of the list arg[0], which has it */
  TT_X_CALL,    /* function k; of one that yields: a new generator */
  TT_X_NEXT,    /* the generator arg[0] goes on to its next value; false: it is over */
  TT_X_YIELDED, /* that value */
  TT_X_HELPER,  /* text function `name`; takes the context first when k is 1 */
  TT_X_SPECIAL, /* k: tt_pspecial */
  TT_X_ATOMIC,  /* k (tt_patomic) on the LOAD arg[0] with arg[1...]; gives the old value; i: the block's own memory */
  TT_X_ALLOC,   /* new memory, dense, lengths arg[]; k: 0 uninitialised, 1 zero */
  TT_X_SHARED,  /* array slot k, one per block */
  TT_X_PRIVATE, /* array slot k, one per thread */
  TT_X_GLOBAL,  /* hidden array argument k */
  TT_X_STRING   /* name; for print */
} tt_pop;

typedef enum tt_pspecial {
  TT_S_TID_X,
  TT_S_TID_Y,
  TT_S_TID_Z,
  TT_S_BID_X,
  TT_S_BID_Y,
  TT_S_BID_Z,
  TT_S_BDIM_X,
  TT_S_BDIM_Y,
  TT_S_BDIM_Z,
  TT_S_GDIM_X,
  TT_S_GDIM_Y,
  TT_S_GDIM_Z,
  TT_S_LANE, /* of the warp */
  TT_S_COUNT
} tt_pspecial;

typedef enum tt_patomic {
  TT_A_ADD,
  TT_A_SUB,
  TT_A_MAX,
  TT_A_MIN,
  TT_A_NANMAX,
  TT_A_NANMIN,
  TT_A_AND,
  TT_A_OR,
  TT_A_XOR,
  TT_A_EXCH,
  TT_A_CAS, /* two values: compare, new */
  TT_A_INC,
  TT_A_DEC,
  TT_A_COUNT
} tt_patomic;

typedef struct tt_pexpr tt_pexpr;
struct tt_pexpr {
  uint8_t op;
  uint8_t elem;   /* tt_op */
  bool nonneg;    /* an integer: proved not negative, whatever overflowed on the way */
  uint32_t wraps; /* LOAD, VIEW, ATOMIC: bit a: the index of axis a may count from the end */
  int32_t k;
  int32_t line;
  int32_t n;
  const tt_ptype *type;
  tt_pexpr **arg;
  int64_t i;
  uint64_t limit; /* an integer: below this, by proof; 0: as far as its type goes */
  double f[2];
  const char *name, *form;
};

typedef enum tt_pstmt_op {
  TT_X_SET,    /* local = a */
  TT_X_STORE,  /* target a (a LOAD or an AT) = b */
  TT_X_IF,     /* a, body, other */
  TT_X_WHILE,  /* while a: body */
  TT_X_FOR,    /* local from a below b by c (a constant or not; never 0) */
  TT_X_PARFOR, /* as FOR, by 1, turns independent but for reductions */
  TT_X_RETURN, /* a or NULL */
  TT_X_BREAK,
  TT_X_CONTINUE,
  TT_X_YIELD,      /* a, and out of the function, which goes on behind it */
  TT_X_EVAL,       /* a for its effect */
  TT_X_BARRIER,    /* of the block (k 0), the warp (1), the grid (2) */
  TT_X_COLLECTIVE, /* local = k (tt_pcollective) of arg[]: every thread there takes part */
  TT_X_PRINT,      /* arg[], one behind another */
  TT_X_RAISE,      /* unless a (NULL: always): error kind k, message `name`, or the string b */
  TT_X_FENCE,
  /* body; where it fails: local = the kind of the failure, then `other`. What it holds may leave it in any way. */
  TT_X_TRY,
  TT_X_HOST /* local = the library's function of arg[], as `name` says (launch/python/host_call.h) */
} tt_pstmt_op;

typedef enum tt_pcollective {
  TT_C_SYNC_COUNT, /* value */
  TT_C_SYNC_AND,
  TT_C_SYNC_OR,
  TT_C_SHFL,    /* value, lane (of the segment); width */
  TT_C_SHFL_UP, /* value, delta */
  TT_C_SHFL_DOWN,
  TT_C_SHFL_XOR,
  TT_C_BALLOT,
  TT_C_ANY,
  TT_C_ALL,
  TT_C_MATCH,  /* value: the lanes that gave an equal one */
  TT_C_ACTIVE, /* whatever: the lanes that are here */
  TT_C_COUNT
} tt_pcollective;

typedef struct tt_pstmt tt_pstmt;
struct tt_pstmt {
  uint8_t op;
  bool splits;               /* holds a barrier or a collective, at any depth */
  int32_t line, local, k, n; /* RAISE: with the kind AGAIN local is that of the TRY whose failure is meant */
  tt_pexpr *a, *b, *c, **arg;
  tt_pstmt *body, *other, *next;
  const char *name;
  int32_t *reduced; /* PARFOR: locals that the turns reduce into, n of them, by reduce_op[] (tt_op) */
  uint8_t *reduce_op;
};

typedef struct tt_plocal {
  bool several; /* while it is typed: assignments gave it several types */
  const char *name;
  const tt_ptype *type;
  bool nonneg;    /* proved: never negative */
  uint64_t limit; /* and below this, as tt_pexpr has it */
  uint64_t from;  /* parameters whose arrays it may be a part of */
  uint8_t space;  /* an array: 1 memory of the block or thread, 2 maybe not */
} tt_plocal;

typedef enum tt_pkind { TT_X_FUNCTION, TT_X_KERNEL } tt_pkind;

typedef struct tt_pfunc {
  const char *name;
  int32_t source; /* which function of the source it was made from */
  uint8_t kind;
  bool can_fail; /* raises, divides with a check, allocates, or calls what does */
  bool splits;
  bool recursive;           /* may be called while it runs: its calls are counted in stack */
  bool place;               /* asks which thread it is of which block */
  TT_VEC(tt_plocal) locals; /* parameters first */
  int32_t nparam;
  uint64_t writes;        /* parameters whose arrays are written */
  const tt_ptype *result; /* what a call gives: of a function that yields a generator */
  const tt_ptype *yields; /* NULL: nothing */
  tt_pstmt *body;
} tt_pfunc;

/* Memory that a kernel declares: shared by its block, or private to a thread. */
typedef struct tt_pslot {
  const tt_ptype *type;
  int64_t len[TT_PROGRAM_RANK];
  int64_t bytes;
  bool dynamic;      /* shared: as long as the launch says */
  const void *place; /* the declaration it came from */
  const char *owner;
} tt_pslot;

typedef struct tt_proc {
  tt_arena arena;
  TT_VEC(const tt_ptype *) types;
  TT_VEC(tt_pfunc *) funcs;
  TT_VEC(tt_pslot) shared, local;
  TT_VEC(const tt_ptype *) globals;
  tt_pfunc *entry;
  tt_scalar_text scalar; /* what it calls of the scalar functions */
  bool bounds;           /* every index is checked */
  bool grid;             /* a barrier of the whole grid: all blocks are there at once */
  bool prints;
} tt_proc;

/*
** What compiled text and the host share: one for each thread that runs the text. The head of the rendered
** text declares the same struct (render/proc/proc_text.h); a test compares the sizes.
*/
typedef struct tt_pcall tt_pcall;
struct tt_pcall {
  int32_t *failed;       /* 0, or tt_code (TT_X_ASSERTION) of the first failure */
  const char **message;  /* its text, which lives as long as the code; */
  int32_t *line;         /* and line */
  const int64_t *hidden; /* words of the hidden arrays */
  char *shared;          /* dynamic shared memory of the block */
  char *local;           /* private arrays of the block's threads */
  void *host;            /* launch/python/jit.c's */
  uint64_t random[2];    /* state of this thread's random numbers */
  void *(*alloc)(tt_pcall *call, int64_t bytes, int32_t zero);
  void (*print)(tt_pcall *call, const char *kinds, const int64_t *word);
  void (*parallel)(tt_pcall *call, int64_t n, void (*body)(tt_pcall *call, void *env, int64_t chunk, int64_t chunks),
                   void *env);
  int32_t (*poll)(tt_pcall *call); /* now and then in long loops; not 0: stop */
  /* An index beyond an array; `place`: block x y z, thread x y z, or NULL outside kernels. */
  void (*outside)(tt_pcall *call, const char *array, int64_t axis, int64_t index, int64_t len, int64_t line,
                  const int64_t *place);
  /* Of checked kernels, whose text runs one thread: shared arrays; an access (kinds: a sum of TT_ACCESS_); a barrier of
     the block and of a warp, the lanes that have not ended, as tt_cudac_core has them; a fence; a return of the user's;
     a barrier of the grid. */
  char *const *slot;
  void (*touch)(const void *at, unsigned long size, unsigned kind, const void *line);
  void (*barrier)(int value, int *sum, int *threads, const void *line);
  void (*warp)(unsigned mask, unsigned long long value, unsigned long long *out, unsigned *came, unsigned *yes);
  unsigned (*active)(void);
  void (*fence)(void);
  void (*leaves)(void);
  void (*grid)(const void *line);
  /* np.random's: seed the thread's RandomState; NULL where it was not seeded, a number in [0, 1) or a normal one, and a
     whole number. */
  void (*reseed)(tt_pcall *call, int64_t seed);
  double (*draw)(tt_pcall *call, int64_t normal);
  int64_t (*draw_below)(tt_pcall *call, int64_t low, int64_t high);
  /* A function of arrays: the words of its arguments, and of its results; not 0: it failed. */
  int32_t (*function)(tt_pcall *call, const char *name, const int64_t *word, int64_t *out, int64_t line);
  char *room, *room_end; /* memory of `alloc` that lists take small parts of; the thread's own */
  const char *(*format)(tt_pcall *call, int64_t dtype, const int64_t *word); /* a number as Python writes it */
  /* A letter's kinds, or what it becomes (launch/python/letters.h). */
  int64_t (*letter)(int64_t code, int64_t what, uint32_t *out);
  const char *floor; /* recursion ends where the thread's stack comes down to here */
};

/* Kinds of accesses, as lang/check/check.h has them. */
enum { TT_ACCESS_WRITE = 1, TT_ACCESS_ATOMIC = 2, TT_ACCESS_UPDATE = 8 };

/*
** Functions of rendered text. Kernels: `out` is {first block, end, block x y z, grid x y z, bytes of dynamic shared
** memory}; checked ones run one thread and are given {block, thread, ...}.
*/
typedef void (*tt_program_fn)(tt_pcall *call, const int64_t *word, int64_t *out);

TT_HIDDEN void tt__program_free(tt_proc *p);

/* Interned types; NULL when memory is out. */
TT_HIDDEN const tt_ptype *tt__ptype_scalar(tt_proc *p, tt_dtype dtype);
TT_HIDDEN const tt_ptype *tt__ptype_array(tt_proc *p, tt_dtype dtype, int rank, char layout, bool readonly);
TT_HIDDEN const tt_ptype *tt__ptype_tuple(tt_proc *p, const tt_ptype *const *item, int n);
/* With names for its items; `meta` NULL: as tt__ptype_tuple. */
TT_HIDDEN const tt_ptype *tt__ptype_named(tt_proc *p, const tt_ptype *const *item, int n, const char *meta);
TT_HIDDEN const tt_ptype *tt__ptype_list(tt_proc *p, const tt_ptype *item, char kind);
/* Of the values that function number `func` yields. */
TT_HIDDEN const tt_ptype *tt__ptype_generator(tt_proc *p, const tt_ptype *item, int64_t func);
TT_HIDDEN const tt_ptype *tt__ptype_tag(tt_proc *p, tt_ptag tag, const char *meta);

/* As signatures write it (tutti/jit.h). */
TT_HIDDEN void tt__ptype_code(const tt_ptype *t, tt_str *out);

/* What a user calls it: "float64", "array(int32, 2d, C)". Cut to `size`. */
TT_HIDDEN void tt__ptype_text(const tt_ptype *t, char *out, size_t size);

/*
** A function under way as words, so that code of another making can go on with it at the head of a loop: its locals in
** their order, as values cross between host and entry; then three for each loop (FOR and WHILE, counted from 1 as they
** begin in the source): count, end, step. PARFORs and what they hold are no such loops.
*/
TT_HIDDEN int tt__pframe_local(const tt_pfunc *f, int32_t local); /* its first word; the number of locals: their end */
TT_HIDDEN int tt__pframe_loop(const tt_pfunc *f, int loop);
/* How many loops there are in statements, at any depth. */
TT_HIDDEN int tt__program_loops(const tt_pstmt *s);

/*
** 8-byte words that a value takes between the host and an entry: scalars 1 (complex 2), arrays 1 + 2 * rank,
** lists and generators 1.
*/
TT_HIDDEN int tt__ptype_words(const tt_ptype *t);

#endif
