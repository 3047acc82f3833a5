/*
** Shared by the files that read C expressions: words, values under construction, variables.
**
** A failure anywhere leaves by one jump to the entry (expr/expr.c): what is made lies in the vectors of the reader,
** which frees them, so that nothing is left behind.
*/
#ifndef TT_LANG_EXPR_EXPR_INT_H
#define TT_LANG_EXPR_EXPR_INT_H

#include <setjmp.h>

#include "lang/expr/expr.h"

/* A word: of the operation, the preamble, or a macro's text. */
typedef struct cx_word {
  const char *at;
  uint32_t len;
  uint32_t place; /* offset in `text` or `preamble`, for messages: of the macro's name where it came from one */
  char kind;      /* 'i' identifier, 'n' number, 'o' operator, 0 the end */
  bool of_preamble;
} cx_word;

typedef struct cx_macro {
  const char *name;
  uint32_t name_len;
  const char *body;
  uint32_t body_len;
  bool has_params, open; /* open: being replaced */
} cx_macro;

/* A value: a step of the formula and its type. */
typedef struct cx_value {
  int32_t id;
  uint8_t dtype;
} cx_value;

typedef struct cx_var {
  const char *name;
  uint32_t len;
  uint8_t dtype;
  bool fixed;    /* const, or an input */
  bool is_array; /* an array by its pointer: used as name[index] */
  int16_t param; /* the parameter it stands for, or -1 */
  int32_t now;   /* the step that is its value; -1: its first one */
} cx_var;

/* A function of the preamble. */
typedef struct cx_function {
  const char *name;
  uint32_t len;
  int64_t head, params, body; /* words: the first of its type, after the bracket, after the brace */
  int64_t tparam, ntparam;    /* its template parameters, in the reader's `tparam` */
  bool active;
} cx_function;

typedef struct cx_alias {
  const char *name;
  uint32_t len;
  uint8_t dtype;
} cx_alias;

typedef struct cx_reader {
  const tt_cx_source *s;
  tt_formula *f;
  TT_VEC(cx_macro) macro;
  TT_VEC(cx_word) word;
  TT_VEC(cx_var) var;
  TT_VEC(cx_alias) alias;  /* names of types, the last one counts: below alias_global, and from alias_base */
  TT_VEC(cx_alias) tparam; /* template parameters of functions */
  TT_VEC(cx_function) function;
  TT_VEC(int32_t) saved; /* values of variables around conditions */
  int64_t at;            /* the next word */
  int64_t global, base;  /* variables: of the preamble below `global`, of this function from `base` */
  int64_t alias_global, alias_base;
  int depth;            /* of nesting */
  int guards;           /* conditions around this place */
  int inside;           /* operands of ?:, && and || around this place */
  int64_t gone, answer; /* hidden variables of this function: whether it has returned, what; -1 */
  uint8_t type;         /* what it returns; TT_DTYPE_COUNT: its answer's own type */
  tt_error *err;
  tt_code code;
  jmp_buf out;
} cx_reader;

/* ---- failing: never returns */
/* No compiler would take it: C's words, with the line of word `w`. */
_Noreturn void cx__wrong(cx_reader *r, int64_t w, const char *fmt, ...) TT_PRINTF(3, 4);
/* It may well be C, and is for a compiler: the reason, which follows "line 3: ". */
_Noreturn void cx__beyond(cx_reader *r, int64_t w, const char *fmt, ...) TT_PRINTF(3, 4);
_Noreturn void cx__no_memory(cx_reader *r);
void cx__free(cx_reader *r);

/* ---- words (expr/token.c) */
/* Cut a text; directives are obeyed, macros replaced. */
void cx__cut(cx_reader *r, const char *text, bool of_preamble);
bool cx__is(const cx_reader *r, int64_t w, const char *spelling);
bool cx__take(cx_reader *r, const char *spelling); /* step over it if it is the next word */
void cx__expect(cx_reader *r, const char *spelling);
static inline const cx_word *cx__word(const cx_reader *r, int64_t w) {
  return &r->word.data[w < r->word.n ? w : r->word.n - 1];
}
bool cx__same(const char *a, uint32_t len, const char *b, uint32_t blen);
/* The word after the partner of the bracket at w, or the end. */
int64_t cx__close(const cx_reader *r, int64_t w);
cx_value cx__number(cx_reader *r); /* the next word's */

/* ---- types and steps (expr/type.c) */
/* Whether a type starts at word w: dtype and the word behind it. `auto` is TT_DTYPE_COUNT, void TT_DTYPE_COUNT + 1. */
bool cx__type_at(cx_reader *r, int64_t w, uint8_t *dtype, int64_t *end);
enum { CX_AUTO = TT_DTYPE_COUNT, CX_VOID };
const char *cx__type_name(uint8_t dtype); /* in C */
cx_value cx__step(cx_reader *r, tt_formula_step s);
cx_value cx__op(cx_reader *r, tt_op op, uint8_t dtype, cx_value a, const cx_value *b, const cx_value *c);
cx_value cx__op1(cx_reader *r, tt_op op, cx_value a);             /* of a's type */
cx_value cx__op2(cx_reader *r, tt_op op, cx_value a, cx_value b); /* of a's type, or bool */
cx_value cx__where(cx_reader *r, cx_value mask, cx_value a, cx_value b);
cx_value cx__const_int(cx_reader *r, uint8_t dtype, int64_t i);
cx_value cx__const_float(cx_reader *r, uint8_t dtype, double d);
cx_value cx__of_param(cx_reader *r, tt_formula_kind kind, int param, int axis, uint8_t dtype);
cx_value cx__convert(cx_reader *r, cx_value v, uint8_t dtype, int64_t w);
cx_value cx__truth(cx_reader *r, cx_value v, int64_t w);
uint8_t cx__promoted(uint8_t t);          /* integer promotion */
uint8_t cx__common(uint8_t a, uint8_t b); /* the usual arithmetic conversions */
static inline bool cx__is_whole(uint8_t t) { return t == TT_BOOL || tt__is_int((tt_dtype)t); }
static inline bool cx__is_half(uint8_t t) { return t == TT_F16 || t == TT_BF16; }
static inline bool cx__is_const(const cx_reader *r, cx_value v) { return r->f->step.data[v.id].kind == TT_F_CONST; }

/* ---- expressions (expr/operators.c), calls (expr/call.c), statements (expr/statement.c) */
cx_value cx__expression(cx_reader *r); /* with commas and assignments */
cx_value cx__assignment(cx_reader *r); /* without commas */
/* Whether an index is the number of the element itself. */
bool cx__is_own(const cx_reader *r, int32_t index);
cx_value cx__binary(cx_reader *r, int64_t w, const char *op, cx_value a, cx_value b);
/* A call of a function of CUDA's, or a user's; the next word is the bracket, w the name. */
cx_value cx__call(cx_reader *r, int64_t w);
cx_value cx__call_user(cx_reader *r, int64_t w, cx_function *f, const cx_value *arg, int n);
void cx__statement(cx_reader *r);
void cx__definitions(cx_reader *r); /* the preamble's, up to its end */
cx_var *cx__var_named(cx_reader *r, const char *name, uint32_t len);
int64_t cx__declare(cx_reader *r, cx_var v); /* its number */
cx_value cx__read(cx_reader *r, int64_t var);
void cx__write(cx_reader *r, int64_t var, cx_value v);

#define CX_MOST_STEPS 4096
#define CX_MOST_DEPTH 200
#define CX_MOST_ARGS 16

#endif
