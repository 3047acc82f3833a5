/*
** Shared by the files that write programs.
*/
#ifndef TT_RENDER_PROC_PROC_INT_H
#define TT_RENDER_PROC_PROC_INT_H

#include "ir/dtype.h"
#include "ir/ops.h"
#include "render/proc/proc.h"

/* Where a local lives while a kernel with barriers is written. */
enum { TT_STORAGE_PLAIN, TT_STORAGE_UNIFORM, TT_STORAGE_THREADS };

/* A loop that break and continue may mean. */
typedef struct tt_ploop tt_ploop;
struct tt_ploop {
  tt_ploop *up;
  bool split;   /* a loop over regions; masks hold who still takes part */
  bool masked;  /* of it: threads leave one by one */
  int on, turn; /* numbers of the masks; turn -1: nobody continues */
};

/* A TRY whose body is being written. */
typedef struct tt_pattempt tt_pattempt;
struct tt_pattempt {
  tt_pattempt *up;
  const tt_ploop *loop; /* around it */
  int number;
};

typedef struct tt_pbounds tt_pbounds; /* proc/bounds.c: what is known of a kernel without barriers */

typedef struct tt_pfloor tt_pfloor;
typedef struct tt_plate tt_plate;

/* A turn of a loop that is written out, and of those around it: what the loop's variable is. */
typedef struct tt_pturn {
  const struct tt_pturn *up;
  int32_t local;
  int64_t value;
} tt_pturn;

/* The memory that an array lies in, which a pointer's type says in OpenCL C. */
typedef enum tt_pspace { TT_SPACE_GLOBAL, TT_SPACE_SHARED, TT_SPACE_PRIVATE, TT_SPACE_UNKNOWN } tt_pspace;

/* A function for arguments in these memories (proc/space.c). */
typedef struct tt_pvariant tt_pvariant;
struct tt_pvariant {
  tt_pvariant *next;
  const tt_pfunc *f;
  int64_t func, number; /* of the program; among the variants */
  uint8_t *space;       /* [locals]: tt_pspace of those that are arrays */
  uint8_t result;
};

typedef struct tt_pwriter {
  const tt_proc *p;
  const tt_pfunc *f;
  tt_program_target target;
  tt_str *out;  /* where text goes now */
  tt_str *fore; /* functions that must stand before */
  tt_arena *arena;
  int indent, serial;
  int32_t parfor; /* functions made for parallel loops so far */
  bool in_parfor;
  const bool *kept; /* in the body of a parallel loop: of each local, is its last value read behind the loop? */
  /* kernels with barriers */
  uint8_t *storage;         /* [locals]; NULL elsewhere */
  const tt_pexpr **remat;   /* [locals]: computed where it is used, not kept */
  tt_pfloor **floor;        /* [locals]: proc/range.c, */
  const tt_pfunc *floor_of; /* of this function */
  const tt_pbounds *bounds; /* while a thread of such a kernel is written */
  /* proc/loop_carried.c */
  const tt_plate *late; /* locals that are not set: what is to be done where they are copied */
  bool *low;            /* [locals]: another variable goes on without the mask */
  int32_t low_for;      /* local + 1 that this variable stands for; 0: none */
  int near; /* a pointer of this number points at the element near_index of the array near_array; 0: none does */
  int32_t near_array, near_index;
  const tt_pturn *turn; /* NULL: no such loop is being written */
  tt_ploop *loop;
  tt_pattempt *attempt;
  bool guarded; /* under an `if` of the innermost loop */
  int region;   /* number of the open region; -1: at block level */
  int mask[64], nmask;
  bool has_done;
  bool resume;  /* a function that goes on with a frame (proc/resume.c), */
  int loops;    /* and its loops begun so far; also of a function that yields, */
  int stops;    /* and its yields */
  bool single;  /* a checked kernel: its text is one thread's, which tells the host what it does */
  int access;   /* of it: the kind of access to the place that is being written out (tt_pcall.touch) */
  bool back;    /* whole numbers become floats somewhere */
  bool flat;    /* nobody asks for threadIdx.z: rows of threads are counted in one loop */
  bool wide;    /* all threads of the grid take turns, not those of a block */
  tt_str *tops; /* wide: where arrays of the threads are made, once */
  bool *
      apart; /* OpenCL: threads go on to barriers after they have returned (proc/meet.c): NULL, or the locals that those
                  have no values of */
  int leave; /* what such a return leaves: a label; 0: nothing but barriers comes */
  tt_pvariant *variant, *variants; /* OpenCL: of which function this is one, and all, callees first */
} tt_pwriter;

TT_HIDDEN void tt__pw_line(tt_pwriter *w, const char *fmt, ...) TT_PRINTF(2, 3);
TT_HIDDEN void tt__pw_open(tt_pwriter *w, const char *fmt, ...) TT_PRINTF(2, 3); /* a line and one more indent */
TT_HIDDEN void tt__pw_close(tt_pwriter *w, const char *text);

/* What a string holds; one that failed fails the whole text. */
TT_HIDDEN const char *tt__pw_peek(tt_pwriter *w, const tt_str *s);

/* Does a call of it give a status? On a GPU nothing fails: a failure ends the kernel. */
static inline bool tt__pw_fails(const tt_pwriter *w, const tt_pfunc *f) {
  return (f->can_fail || w->p->bounds) && w->target == TT_PROGRAM_C;
}

/* proc/space.c: find the variants of a kernel and what it calls; TT_ENOTIMPL: OpenCL C has no words for it. */
TT_HIDDEN tt_code tt__pw_find_spaces(tt_pwriter *w, int64_t entry, tt_error *err);
/* Where an array lies, by the variant that is being written; elsewhere in what C does not tell apart. */
TT_HIDDEN tt_pspace tt__pw_space(tt_pwriter *w, const tt_pexpr *array);
TT_HIDDEN tt_pspace tt__pw_local_space(const tt_pwriter *w, int64_t local);
TT_HIDDEN tt_pspace tt__pw_result_space(const tt_pwriter *w);
/* "__local " and its kin before what a pointer points at; "" in other languages. */
TT_HIDDEN const char *tt__pw_space_word(const tt_pwriter *w, tt_pspace space);
/* "atomic", and in OpenCL C with the memory it is of. */
TT_HIDDEN const char *tt__pw_atomic_word(tt_pwriter *w, const tt_pexpr *atomic);
/* The variant that a call is of: the number in the function's name; elsewhere that of the function. */
TT_HIDDEN int64_t tt__pw_variant(tt_pwriter *w, const tt_pexpr *call);

/* proc/meet.c: statements of a kernel whose threads go on to barriers after they have returned. */
TT_HIDDEN void tt__pw_meet_stmts(tt_pwriter *w, const tt_pstmt *s);
/* *why NULL: all threads of a block come to each barrier of a kernel; else why not. False: out of memory. */
TT_HIDDEN bool tt__pw_all_meet(tt_pwriter *w, const tt_pfunc *f, int32_t *line, const char **why);

/* proc/type.c: the name of a type (in the arena), and what all types of the program are. */
TT_HIDDEN const char *tt__pw_type(tt_pwriter *w, const tt_ptype *t);
/* The same of an array that lies there, and of a local. */
TT_HIDDEN const char *tt__pw_type_in(tt_pwriter *w, const tt_ptype *t, tt_pspace space);
TT_HIDDEN const char *tt__pw_local_type(tt_pwriter *w, int64_t local);
TT_HIDDEN void tt__pw_types(tt_pwriter *w);
/* The beginning of a struct that is made in place: "{...})" follows. */
TT_HIDDEN void tt__pw_struct(tt_pwriter *w, const tt_ptype *t, tt_pspace space, tt_str *out);
/* Copy a value to or from words; gives how many. */
TT_HIDDEN int tt__pw_from_words(tt_pwriter *w, const tt_ptype *t, const char *word, int at, tt_str *out);
TT_HIDDEN int tt__pw_to_words(tt_pwriter *w, const tt_ptype *t, const char *value, const char *word, int at);

/* proc/expr.c */
TT_HIDDEN void tt__pw_local(tt_pwriter *w, int32_t k, tt_str *out);
TT_HIDDEN void tt__pw_expr(tt_pwriter *w, const tt_pexpr *e, tt_str *out);
/* The text of an expression, in the arena. */
TT_HIDDEN const char *tt__pw_text(tt_pwriter *w, const tt_pexpr *e);

/* proc/array.c: expressions that are arrays, other than variables; and an element itself. */
TT_HIDDEN void tt__pw_array_expr(tt_pwriter *w, const tt_pexpr *e, tt_str *out);
/* Where the words of a list's item are, of an AT. */
TT_HIDDEN const char *tt__pw_list_place(tt_pwriter *w, const tt_pexpr *e);
/* What stands around statements that give rN, as an expression. */
TT_HIDDEN const char *tt__pw_begin_value(const tt_pwriter *w);
TT_HIDDEN void tt__pw_end_value(const tt_pwriter *w, int n, tt_str *out);
TT_HIDDEN void tt__pw_place(tt_pwriter *w, const tt_pexpr *load, tt_str *out);

/* proc/statement.c */
TT_HIDDEN void tt__pw_stmts(tt_pwriter *w, const tt_pstmt *s);
/* Is a loop's body so small that several turns are written one after the other? */
TT_HIDDEN bool tt__pw_is_small(const tt_pstmt *body);
TT_HIDDEN void tt__pw_turns(tt_pwriter *w, const tt_pstmt *body); /* what `while` loops of a function count */
TT_HIDDEN void tt__pw_stmt(tt_pwriter *w, const tt_pstmt *s);
TT_HIDDEN void tt__pw_fail(tt_pwriter *w, const char *kind, const char *message, int32_t line, tt_str *out);
TT_HIDDEN const char *tt__pw_leave_text(tt_pwriter *w); /* the function is given up */
TT_HIDDEN void tt__pw_locals(tt_pwriter *w, int32_t from);

/* proc/walk.c */
/* Call `see` for every local an expression reads, or statements read and write. */
typedef void (*tt_pw_see)(void *ctx, int32_t local, bool write);
TT_HIDDEN void tt__pw_each_expr(const tt_pexpr *e, tt_pw_see see, void *ctx);
TT_HIDDEN void tt__pw_each_stmt(const tt_pstmt *s, tt_pw_see see, void *ctx);
/* Does the test hold for an expression or a part of it; for one in statements, at any depth; in a program? */
TT_HIDDEN bool tt__pw_some_expr(const tt_pexpr *e, bool (*test)(const tt_pexpr *e));
TT_HIDDEN bool tt__pw_some(const tt_pstmt *s, bool (*test)(const tt_pexpr *e));
TT_HIDDEN bool tt__pw_some_in(const tt_proc *p, bool (*test)(const tt_pexpr *e));

/* proc/resume.c: statements of a function that goes on with a frame; true: they hold loops, and were written. */
TT_HIDDEN bool tt__pw_resume_stmts(tt_pwriter *w, const tt_pstmt *s);
TT_HIDDEN void tt__pw_resume_for(tt_pwriter *w, const tt_pstmt *s, const char *v);
TT_HIDDEN void tt__pw_resume_while(tt_pwriter *w, const tt_pstmt *s);
TT_HIDDEN void tt__pw_resume_return(tt_pwriter *w, const tt_pexpr *e);
TT_HIDDEN void tt__pw_resume(tt_pwriter *w, int64_t number, const char *name);

/* proc/generator.c: functions that yield: their prototypes, their text, their statements; going on with one, and what
** it gave. */
TT_HIDDEN void tt__pw_generator_head(tt_pwriter *w, int64_t number);
TT_HIDDEN void tt__pw_generator(tt_pwriter *w, int64_t number);
TT_HIDDEN void tt__pw_generator_for(tt_pwriter *w, const tt_pstmt *s, const char *v);
TT_HIDDEN void tt__pw_yield(tt_pwriter *w, const tt_pstmt *s);
TT_HIDDEN void tt__pw_next(tt_pwriter *w, const tt_pexpr *e, tt_str *out);

/* proc/block.c: the block level of a kernel with barriers. */
TT_HIDDEN void tt__pw_block(tt_pwriter *w);

/* proc/uniformity.c: what all threads of a block (`wide`: of the grid) agree on. */
typedef struct tt_puniformity {
  const tt_pfunc *f;
  bool wide;
  bool *same;     /* [locals]: every thread has the same value */
  bool *needed;   /* [locals]: of these, looked at between regions: one variable for the block */
  bool *assigned; /* [locals]: anywhere, parameters included */
  bool changed;   /* while it is found: once more */
} tt_puniformity;
/* Find it, and mark what follows from it as split statements. False: out of memory. */
TT_HIDDEN bool tt__pw_find_uniform(tt_arena *arena, const tt_pfunc *f, bool wide, tt_puniformity *out);
TT_HIDDEN bool tt__pw_is_uniform(const tt_puniformity *a, const tt_pexpr *e);
/* Do all threads do the same turns of a loop? */
TT_HIDDEN bool tt__pw_loop_is_uniform(const tt_puniformity *a, const tt_pstmt *loop);
/* Mark loops that all threads of a block do turn by turn as split statements. Has the kernel any split statement
 * now? */
TT_HIDDEN bool tt__pw_turn(tt_arena *arena, const tt_pfunc *f, bool wide);

/* proc/rematerialize.c. Mark the locals that are assigned anywhere, parameters included. */
TT_HIDDEN void tt__pw_find_assigned(const tt_pfunc *f, bool *assigned);
/*
** [locals]: what a local is made of, when it has one assignment that is cheap to do again. Those that are `needed` (may
** be NULL) are left out. NULL: out of memory.
*/
TT_HIDDEN const tt_pexpr **tt__pw_find_remat(tt_pwriter *w, const bool *assigned, const bool *needed);
/* Is it an operation on values that costs a few instructions (whatever its operands cost)? */
TT_HIDDEN bool tt__pw_is_light(const tt_pexpr *e);
/* Has computing it no effect? */
TT_HIDDEN bool tt__pw_is_plain(const tt_pexpr *e);

/* proc/bounds.c. NULL: out of memory, and the text has failed. */
TT_HIDDEN tt_pbounds *tt__pw_bounds_find(tt_pwriter *w);
TT_HIDDEN void tt__pw_bounds_loops(tt_pwriter *w, const tt_pbounds *g, const char *args);
/* A condition that every thread inside the loops passes, or fails: its value is written. */
TT_HIDDEN bool tt__pw_bounds_known(const tt_pbounds *g, const tt_pexpr *e, tt_str *out);
/* An `if` that decides nothing there: true, and whether its body is run. */
TT_HIDDEN bool tt__pw_bounds_decides(const tt_pbounds *g, const tt_pexpr *e, bool *holds);
#define TT_NO_FLOOR INT64_MIN
/* What the guards say that `e` is not below, or TT_NO_FLOOR. */
TT_HIDDEN int64_t tt__pw_bounds_low(const tt_pbounds *g, const tt_pexpr *e);

/* proc/range.c: is the integer proved not negative? */
TT_HIDDEN bool tt__pw_is_nonneg(tt_pwriter *w, const tt_pexpr *e);

/* proc/loop_carried.c: begin a function's body; an assignment that is written another way than it stands; do this
** statement of the list from `first` on and the next swap two elements; is all that it does, under a condition in a
** loop? */
TT_HIDDEN void tt__pw_begin_carried(tt_pwriter *w);
TT_HIDDEN bool tt__pw_set_carried(tt_pwriter *w, const tt_pstmt *s);
TT_HIDDEN bool tt__pw_is_swap(const tt_pwriter *w, const tt_pstmt *first, const tt_pstmt *s);
/* "if x < least: least = x", and perhaps where that was? */
TT_HIDDEN bool tt__pw_is_extremum(tt_pwriter *w, const tt_pstmt *s);
/* Write "if c: n += constant" as a sum; false: it is another statement. */
TT_HIDDEN bool tt__pw_put_count(tt_pwriter *w, const tt_pstmt *s);
TT_HIDDEN bool tt__pw_swaps(const tt_pwriter *w, const tt_pstmt *s);
/* Begin such a statement: what it swaps is told by a pointer from now on; is `e` an element so, and which beside it? */
TT_HIDDEN void tt__pw_come_near(tt_pwriter *w, const tt_pstmt *s);
TT_HIDDEN bool tt__pw_is_near(const tt_pwriter *w, const tt_pexpr *e, int64_t *beside);

/* Declare an array with an element for each thread. */
TT_HIDDEN void tt__pw_array(tt_pwriter *w, const char *type, const char *name, int number);
/* In a region: leave it (return), or leave a loop of regions. */
TT_HIDDEN void tt__pw_leave(tt_pwriter *w, const tt_pstmt *s);

#endif
