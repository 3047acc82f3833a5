/*
** Derivatives of elementwise operations: the expressions of tutti/grad.def, read once and then recorded over arrays.
*/
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fn/grad/rules.h"
#include "ir/grad.h"

/* An expression as instructions for a stack. */
enum { PUSH_NUMBER, PUSH_UNIT, PUSH_VALUE, APPLY }; /* UNIT: the imaginary one */
enum { X, Y, Z, R, G, VALUES };
enum { MOST_STEPS = 96, DEEPEST = 16 };

typedef struct step {
  uint8_t kind, value; /* of PUSH_VALUE */
  uint16_t op;         /* of APPLY */
  double number;
} step;

typedef struct code {
  int n;
  bool whole; /* it names g: it is the cotangent, not a factor */
  step step[];
} code;

/* ---- reading */

typedef struct reader {
  const char *at;
  step step[MOST_STEPS];
  int n;
  bool bad;
} reader;

static void push(reader *r, step s) {
  if (r->n == MOST_STEPS)
    r->bad = true;
  else
    r->step[r->n++] = s;
}

static void skip(reader *r) {
  while (*r->at == ' ') r->at++;
}

static bool take(reader *r, const char *word) {
  skip(r);
  size_t n = strlen(word);
  if (strncmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static void apply(reader *r, tt_op op) { push(r, (step){.kind = APPLY, .op = (uint16_t)op}); }

static void comparison(reader *r);

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

static tt_op op_called(const char *word, size_t n) {
  for (int op = 0; op < TT_OP_COUNT; op++) {
    const char *name[2] = {tt__op_word((tt_op)op), tt__ops[op].lower};
    for (int k = 0; k < 2; k++)
      if (strlen(name[k]) == n && strncmp(name[k], word, n) == 0) return (tt_op)op;
  }
  return TT_OP_COUNT;
}

static void word(reader *r) {
  static const char letters[] = "xyzrg";
  const char *from = r->at;
  while (is_letter(*r->at)) r->at++;
  size_t n = (size_t)(r->at - from);
  const char *letter = n == 1 ? strchr(letters, *from) : NULL;
  if (letter) {
    push(r, (step){.kind = PUSH_VALUE, .value = (uint8_t)(letter - letters)});
  } else if (n == 1 && *from == 'i') {
    push(r, (step){.kind = PUSH_UNIT});
  } else if (n == 2 && strncmp(from, "pi", 2) == 0) {
    push(r, (step){.kind = PUSH_NUMBER, .number = 3.14159265358979323846});
  } else {
    tt_op op = op_called(from, n);
    int args = 0;
    r->bad |= op == TT_OP_COUNT || !take(r, "(");
    if (r->bad) return;
    do comparison(r), args++;
    while (take(r, ","));
    r->bad |= !take(r, ")") || args != tt__ops[op].arity;
    apply(r, op);
  }
}

static void atom(reader *r) {
  skip(r);
  if (take(r, "(")) {
    comparison(r);
    r->bad |= !take(r, ")");
  } else if (*r->at >= '0' && *r->at <= '9') {
    char *end;
    double number = strtod(r->at, &end);
    r->at = end;
    push(r, (step){.kind = PUSH_NUMBER, .number = number});
  } else if (is_letter(*r->at)) {
    word(r);
  } else {
    r->bad = true;
  }
}

static void unary(reader *r) {
  if (r->bad) return;
  if (take(r, "-")) {
    unary(r);
    step *last = &r->step[r->n - 1];
    if (!r->bad && last->kind == PUSH_NUMBER)
      last->number = -last->number;
    else
      apply(r, TT_NEG);
    return;
  }
  atom(r);
  if (!take(r, "**")) return;
  unary(r);
  apply(r, TT_POW);
}

static void product(reader *r) {
  unary(r);
  while (!r->bad) {
    skip(r);
    tt_op op = *r->at == '*' ? TT_MUL : *r->at == '/' ? TT_DIV : TT_OP_COUNT;
    if (op == TT_OP_COUNT) return;
    r->at++;
    unary(r);
    apply(r, op);
  }
}

static void sum(reader *r) {
  product(r);
  while (!r->bad) {
    skip(r);
    tt_op op = *r->at == '+' ? TT_ADD : *r->at == '-' ? TT_SUB : TT_OP_COUNT;
    if (op == TT_OP_COUNT) return;
    r->at++;
    product(r);
    apply(r, op);
  }
}

static void comparison(reader *r) {
  static const struct {
    const char *word;
    tt_op op;
  } sign[] = {{"<=", TT_LE}, {">=", TT_GE}, {"==", TT_EQ}, {"!=", TT_NE}, {"<", TT_LT}, {">", TT_GT}};
  sum(r);
  for (size_t k = 0; k < sizeof sign / sizeof *sign && !r->bad; k++) {
    if (!take(r, sign[k].word)) continue;
    sum(r);
    apply(r, sign[k].op);
    return;
  }
}

/* NULL: no memory, or (never of a row of ours: the tests read them all) no expression. */
static const code *read(const char *text) {
  reader r = {.at = text};
  comparison(&r);
  skip(&r);
  code *out = r.bad || *r.at ? NULL : tt__mem_alloc(sizeof *out + (size_t)r.n * sizeof *r.step);
  if (!out) return NULL;
  *out = (code){.n = r.n};
  memcpy(out->step, r.step, (size_t)r.n * sizeof *r.step);
  for (int k = 0; k < r.n; k++) out->whole |= r.step[k].kind == PUSH_VALUE && r.step[k].value == G;
  return out;
}

static const code *code_of(int op, int k) {
  static const code *known[TT_OP_COUNT][3]; /* for the life of the process */
  if (!known[op][k]) known[op][k] = read(tt__grad_text(op, k));
  return known[op][k];
}

/* ---- recording */

/* Numbers among themselves; everything else as arrays. */
static bool fold(tt_op op, tt_value *v) {
  if (op == TT_WHERE && v[0].tag == TT_V_FLOAT) return *v = v[v[0].as.f != 0 ? 1 : 2], true;
  if (tt__ops[op].arity != 2 || v[0].tag != TT_V_FLOAT || v[1].tag != TT_V_FLOAT) return false;
  double a = v[0].as.f, b = v[1].as.f;
  if (op == TT_EQ) return *v = tt_v_float(a == b), true;
  if (op != TT_ADD && op != TT_SUB && op != TT_MUL && op != TT_DIV) return false;
  *v = tt_v_float(op == TT_ADD ? a + b : op == TT_SUB ? a - b : op == TT_MUL ? a * b : a / b);
  return true;
}

static bool push_value(tt_value *to, const step *s, const tt_value *value) {
  if (s->kind == PUSH_NUMBER) {
    *to = tt_v_float(s->number);
  } else if (s->kind == PUSH_UNIT) {
    *to = (tt_value){.tag = TT_V_COMPLEX};
    to->as.z = (tt_c128){0, 1};
  } else {
    if (value[s->value].tag == TT_V_ARRAY && !value[s->value].as.array) return false;
    *to = value[s->value];
  }
  return true;
}

/* The value of an expression; a number where no array meets it. False: a failure. */
static bool record(tt_composer *c, const code *e, const tt_value *value, tt_value *out) {
  tt_value stack[DEEPEST];
  int n = 0;
  for (int k = 0; k < e->n; k++) {
    const step *s = &e->step[k];
    if (s->kind != APPLY) {
      if (n == DEEPEST || !push_value(&stack[n++], s, value)) return false;
      continue;
    }
    tt_op op = (tt_op)s->op;
    n -= tt__ops[op].arity;
    if (!fold(op, stack + n)) {
      tt_array *made = tt__compose_apply(c, op, stack + n, tt__ops[op].arity, TT_DTYPE_NONE);
      if (!made) return false;
      stack[n] = tt_v_array(made);
    }
    n++;
  }
  *out = stack[0];
  return true;
}

static tt_array *times(tt_composer *c, tt_array *g, tt_value factor) {
  if (factor.tag == TT_V_FLOAT && factor.as.f == 1) return g;
  if (factor.tag == TT_V_FLOAT && factor.as.f == -1) return tt__compose_op1(c, TT_NEG, g);
  if (factor.tag == TT_V_ARRAY && tt__is_complex((tt_dtype)factor.as.array->dtype))
    factor = tt_v_array(tt__compose_op1(c, TT_CONJ, factor.as.array));
  if (factor.tag == TT_V_ARRAY && !factor.as.array) return NULL;
  tt_value v[2] = {tt_v_array(g), factor};
  return tt__compose_apply(c, TT_MUL, v, 2, TT_DTYPE_NONE);
}

/* An exponent that is a number is one again: its power may have a name, as a square has, and one less is known too. */
static tt_value exponent(tt_composer *c, tt_array *y) {
  tt_node *n = y ? tt__compose_node(c, y) : NULL;
  tt_value v = tt_v_array(y);
  if (n && n->op == TT_N_CONST && tt__dtypes[n->dtype].kind == 'f')
    v = tt__scalar_load((tt_dtype)n->dtype, &n->attr.scalar);
  tt__node_release(n);
  return v;
}

bool tt__rule_slopes(tt_composer *c, tt_op op, tt_array *const *operand, tt_array *result, tt_array *g, unsigned wanted,
                     tt_array **out) {
  tt_value value[VALUES] = {[R] = tt_v_array(result), [G] = tt_v_array(g)};
  for (int k = 0; k < tt__ops[op].arity; k++) value[X + k] = tt_v_array(operand[k]);
  if (op == TT_POW) value[Y] = exponent(c, operand[1]);
  for (int k = 0; k < tt__ops[op].arity; k++) {
    const char *text = tt__grad_text(op, k);
    out[k] = NULL;
    if (!(wanted >> k & 1) || strcmp(text, "0") == 0) continue;
    if (!*text || *text == '?') {
      tt__compose_fail(c, TT_ENOTIMPL, "the derivative of '%s' by its operand %d is not implemented", tt__op_word(op),
                       k + 1);
      return false;
    }
    const code *e = code_of(op, k);
    tt_value v;
    if (!e) return tt__compose_fail(c, TT_ENOMEM, "out of memory") != NULL;
    if (!record(c, e, value, &v)) return false;
    out[k] = e->whole ? v.as.array : times(c, g, v);
    if (!out[k]) return false;
  }
  return true;
}

void tt__rule_op(const tt_rule *r) {
  tt_array *operand[TT_NODE_SRC] = {NULL}, *result = NULL;
  unsigned wanted = 0;
  for (int k = 0; k < r->t->n; k++) {
    wanted |= tt__rule_wants(r, k) ? 1u << k : 0;
    if (r->t->keeps & TT_GRAD_OPERAND(k) && !(operand[k] = tt__rule_operand(r, k))) return;
  }
  if (r->t->keeps & TT_GRAD_RESULT && !(result = tt__rule_result(r))) return;
  tt__rule_slopes(r->c, (tt_op)r->t->op, operand, result, r->g[0], wanted, r->out);
}
