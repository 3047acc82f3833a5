/*
** Terms; see term.h.
*/
#include "fn/term.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* An expression as instructions for a stack. */
enum { PUSH_NUMBER, PUSH_UNIT, PUSH_VALUE, APPLY }; /* UNIT: the imaginary one */
enum { MOST_STEPS = 96, DEEPEST = 16 };

typedef struct step {
  uint8_t kind, value; /* of PUSH_VALUE */
  uint16_t op;         /* of APPLY */
  double number;
} step;

struct tt_term {
  int n;
  uint32_t names; /* a bit for each value that it names */
  step step[];
};

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
  static const char letters[] = "xyzrgabc"; /* as tt_term_value */
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

const tt_term *tt__term_read(const char *text) {
  reader r = {.at = text};
  comparison(&r);
  skip(&r);
  tt_term *out = r.bad || *r.at ? NULL : tt__mem_alloc(sizeof *out + (size_t)r.n * sizeof *r.step);
  if (!out) return NULL;
  *out = (tt_term){.n = r.n};
  memcpy(out->step, r.step, (size_t)r.n * sizeof *r.step);
  for (int k = 0; k < r.n; k++)
    if (r.step[k].kind == PUSH_VALUE) out->names |= 1u << r.step[k].value;
  return out;
}

bool tt__term_names(const tt_term *e, tt_term_value v) { return e->names >> v & 1; }

/* ---- recording */

/* Numbers among themselves; everything else as arrays. */
static bool fold(tt_op op, tt_value *v) {
  if (op == TT_WHERE && v[0].tag == TT_V_FLOAT) return *v = v[v[0].as.f != 0 ? 1 : 2], true;
  if (op == TT_NEG && v[0].tag == TT_V_FLOAT) return *v = tt_v_float(-v[0].as.f), true;
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

bool tt__term_record(tt_composer *c, const tt_term *e, const tt_value *value, tt_value *out) {
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
