/*
** Shared by the files that make baseline code.
**
** rbp is the frame: words of 8 bytes, first those of tt__pframe_local and tt__pframe_loop, then the hidden arrays',
** then our own. Each word has a location: a register, for the statements at the top of the function that lie between
** its first and its last use, or its place in the frame. Expressions are computed in scratch registers, which are a
** stack: who is given `d` and `v` may use general ones from number d on and vector ones from v on.
*/
#ifndef TT_DEVICE_CPU_BASELINE_BASELINE_INT_H
#define TT_DEVICE_CPU_BASELINE_BASELINE_INT_H

#include "device/cpu/baseline/baseline.h"
#include "device/cpu/baseline/x86.h"
#include "ir/dtype.h"
#include "ir/ops.h"
#include "scalar/functions.h"

enum { TT_SCRATCH = 5, TT_SCRATCH_REAL = 6 };
/* After so many turns of `while` loops the host is asked whether to go on, as in the rendered C. */
enum { TT_BASELINE_TURNS = 1 << 24 };
extern TT_HIDDEN const int tt__scratch[TT_SCRATCH]; /* general registers; vector ones are 0 to 5 */

typedef struct tt_location {
  int reg; /* TT_NO_REG: the frame */
  bool real, narrow;
  int from, to; /* statements at the top of the function; from > to: never used */
  double weight;
} tt_location;

/* A loop whose body is being written. */
typedef struct tt_baseline_loop tt_baseline_loop;
struct tt_baseline_loop {
  const tt_baseline_loop *up;
  int number;       /* as tt__pframe_loop has it */
  int turn, leave;  /* labels of continue and break */
  int count, value; /* a `for` whose variable is its count: their words; -1: not so */
};

/* Code behind the function that runs rarely. */
typedef enum tt_cold_op { TT_COLD_WRAP, TT_COLD_FAIL, TT_COLD_OVER, TT_COLD_POLL } tt_cold_op;
typedef struct tt_cold {
  tt_cold_op op;
  int begin, back; /* labels */
  int top;         /* the statement at the top of the function that it belongs to */
  int reg, word;   /* WRAP: add the word to the register */
  int32_t kind, line;
  const char *message;
  const tt_baseline_loop *loop;
} tt_cold;

typedef struct tt_baseline_maker {
  tt_x86 x;
  const tt_proc *p;
  const tt_pfunc *f; /* the function that is being written, */
  int32_t number;    /* its number, */
  const tt_baseline_host *host;
  tt_arena arena;
  int *entry; /* labels of all functions, */
  int flag;   /* of tt_baseline.over */
  tt_location *location;
  int nlocation, hidden; /* words with locations; the first of the hidden arrays */
  int call, out, turns;  /* our own words: the arguments of the function, turns until the host is asked, */
  int temp, words;       /* scratch registers while something is called; all words so far */
  int top, loops;        /* statement at the top that is being written; loops begun */
  const tt_baseline_loop *loop;
  int fail, done; /* labels */
  TT_VEC(tt_cold) cold;
  const char *why; /* declined */
} tt_baseline_maker;

static inline void tt__baseline_decline(tt_baseline_maker *m, const char *why) {
  if (!m->why) m->why = why;
}

/* ---- baseline/registers.c */
/* Find out what is used where, and who gets a register. */
TT_HIDDEN void tt__baseline_allocate(tt_baseline_maker *m);
TT_HIDDEN bool tt__baseline_sets(const tt_pstmt *s, int32_t local); /* is it set in these statements? */
/* A word to and from a register, wherever its location is. */
TT_HIDDEN void tt__baseline_get(tt_baseline_maker *m, int word, int reg);
TT_HIDDEN void tt__baseline_set(tt_baseline_maker *m, int word, int reg);
TT_HIDDEN void tt__baseline_get_real(tt_baseline_maker *m, int word, int reg);
TT_HIDDEN void tt__baseline_set_real(tt_baseline_maker *m, int word, int reg);
TT_HIDDEN void tt__baseline_alu_word(tt_baseline_maker *m, tt_x86_alu op, int reg, int word);
TT_HIDDEN void tt__baseline_imul_word(tt_baseline_maker *m, int reg, int word);
/* Registers to the frame and back, those that calls of C destroy or all; of statement `top`, but for one. */
typedef enum tt_baseline_which { TT_REGISTERS_ALL, TT_REGISTERS_CALLS } tt_baseline_which;
TT_HIDDEN void tt__baseline_spill(tt_baseline_maker *m, tt_baseline_which which, int top);
TT_HIDDEN void tt__baseline_reload(tt_baseline_maker *m, tt_baseline_which which, int top, int but, int but_real);
/* Those whose use begins with statement `top`. */
TT_HIDDEN void tt__baseline_begin(tt_baseline_maker *m, int top);

static inline tt_x86_mem tt__baseline_word(int word) { return tt__x86_at(TT_RBP, 8 * (int64_t)word); }
static inline int tt__baseline_local(const tt_baseline_maker *m, int32_t k) { return tt__pframe_local(m->f, k); }

/* ---- place.c: arrays */
/* The first word of an array that is a variable or a hidden one; -1: it is neither, and the function is declined. */
TT_HIDDEN int tt__baseline_array(tt_baseline_maker *m, const tt_pexpr *e);
/* The word of a LEN, STEP or ADDRESS; -1 of anything else. */
TT_HIDDEN int tt__baseline_array_word(tt_baseline_maker *m, const tt_pexpr *e);
/* An element; general scratch registers from *d on are used, and *d is moved behind those that it needs. */
TT_HIDDEN tt_x86_mem tt__baseline_place(tt_baseline_maker *m, const tt_pexpr *load, int *d, int v);
/* An index in a register that may count from the end of an axis, whose length is in the word. */
TT_HIDDEN void tt__baseline_wrap(tt_baseline_maker *m, int reg, int length);

/* ---- baseline/views.c */
/* An array that is made here: its first word, which has no location; -1: it is not made here. */
TT_HIDDEN int tt__baseline_new_array(tt_baseline_maker *m, const tt_pexpr *e);
TT_HIDDEN void tt__baseline_set_array(tt_baseline_maker *m, int32_t local, const tt_pexpr *e);
TT_HIDDEN void tt__baseline_set_tuple(tt_baseline_maker *m, int32_t local, const tt_pexpr *e);

/* ---- expr.c: a value in a register */
static inline bool tt__baseline_is_int(const tt_ptype *t) {
  return t->tag == TT_T_SCALAR && (t->dtype == TT_BOOL || tt__is_int((tt_dtype)t->dtype));
}
static inline bool tt__baseline_is_real(const tt_ptype *t) {
  return t->tag == TT_T_SCALAR && (t->dtype == TT_F32 || t->dtype == TT_F64);
}
static inline bool tt__baseline_signed(const tt_ptype *t) {
  return t->dtype != TT_BOOL && !tt__is_unsigned((tt_dtype)t->dtype);
}
static inline int tt__baseline_size(const tt_ptype *t) { return (int)tt__dtype_size((tt_dtype)t->dtype); }
TT_HIDDEN void tt__baseline_int(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v);
TT_HIDDEN void tt__baseline_real(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v);
/* The word of a tuple's item; -1: it is not a variable's, and the function is declined. */
TT_HIDDEN int tt__baseline_item(tt_baseline_maker *m, const tt_pexpr *e);
/* A float in the register where it is, or else in the vector register v. */
TT_HIDDEN int tt__baseline_real_operand(tt_baseline_maker *m, const tt_pexpr *e, int d, int v);
/* An integer that stays as it is in the register where it is, or else in the general one *d, which is counted up. */
TT_HIDDEN int tt__baseline_int_operand(tt_baseline_maker *m, const tt_pexpr *e, int *d, int v);
TT_HIDDEN void tt__baseline_alu(tt_baseline_maker *m, tt_x86_alu op, int reg, const tt_pexpr *e, int d, int v);
/* Declined unless the types are one: the rendered C would convert, which is not expected. */
TT_HIDDEN bool tt__baseline_same(tt_baseline_maker *m, const tt_ptype *a, const tt_ptype *b);
/* Declined unless there are so many scratch registers. */
TT_HIDDEN bool tt__baseline_enough(tt_baseline_maker *m, int d, int v);
/* May the register that is the local's location be the target while `e` is computed? */
TT_HIDDEN bool tt__baseline_is_safe(const tt_pexpr *e, int32_t local);
/* The number of a constant in 64 bits. */
TT_HIDDEN int64_t tt__baseline_constant(const tt_pexpr *e);

/* ---- baseline/branches.c */
TT_HIDDEN bool tt__baseline_is_compare(const tt_pexpr *e);
/* Go to `label` if `e` is `sense`. */
TT_HIDDEN void tt__baseline_branch(tt_baseline_maker *m, const tt_pexpr *e, bool sense, int label, int d, int v);
/* 1 if `e`, else 0: by jumps; by the flags of a comparison. */
TT_HIDDEN void tt__baseline_condition(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v);
TT_HIDDEN void tt__baseline_compare(tt_baseline_maker *m, const tt_pexpr *e, int to, int d, int v);

/* ---- call.c: what is done by functions */
/* Call `fn`, a function of C, with nint integers in scratch registers from d on and nreal floats from v on (`context`:
   tt_pcall * before all); the result goes to `to`. */
typedef struct tt_baseline_called {
  void (*fn)(void);
  bool context;
  int d, nint, v, nreal;
  const tt_ptype *result;
  int to;
} tt_baseline_called;
TT_HIDDEN void tt__baseline_call(tt_baseline_maker *m, const tt_baseline_called *c);
/* The same with expressions as arguments. */
TT_HIDDEN void tt__baseline_call_with(tt_baseline_maker *m, void (*fn)(void), bool context, tt_pexpr *const *arg, int n,
                                      const tt_ptype *result, int to, int d, int v);
/* A function of words that begin with this one. */
TT_HIDDEN void tt__baseline_call_words(tt_baseline_maker *m, void (*fn)(void), int word);
/* rax = memory of the host's, of as many bytes as a word says; 0: there is none. */
TT_HIDDEN void tt__baseline_alloc(tt_baseline_maker *m, int bytes, bool zero);
/* A function of the program: its result's first word; -1 when declined. */
TT_HIDDEN int tt__baseline_user_call(tt_baseline_maker *m, const tt_pexpr *e, int d, int v);
/* Scratch registers below d and v to the frame and back, but for one that holds a result. */
TT_HIDDEN void tt__baseline_push(tt_baseline_maker *m, int d, int v);
TT_HIDDEN void tt__baseline_pop(tt_baseline_maker *m, int d, int v, int but, int but_real);
/* The label of cold code that fails. */
TT_HIDDEN int tt__baseline_failing(tt_baseline_maker *m, int32_t kind, const char *message, int32_t line);
TT_HIDDEN void tt__baseline_cold(tt_baseline_maker *m, tt_cold c);
TT_HIDDEN void tt__baseline_put_cold(tt_baseline_maker *m); /* all of the function */

/* ---- baseline/statement.c */
TT_HIDDEN void tt__baseline_stmts(tt_baseline_maker *m, const tt_pstmt *s);

/* ---- helpers.c: what proc/proc_text.h has; NULL: nothing */
typedef tt_scalar_function tt_baseline_c;
/* *types: a letter for its result and each argument: d float64, l int64, p tt_pcall *; others have no letter. */
TT_HIDDEN tt_baseline_c tt__baseline_helper(const char *name, const char **types);

#endif
