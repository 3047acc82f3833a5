/*
** Kernel text back into a kernel (the form is at the head of print_kernel.c). Total:
** any text gives a kernel that passes tt__kernel_ok, or an error with its line. Lines may
** be blank or start with '#'.
*/
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "ir/text/kernel_int.h"

typedef struct parser {
  const char *at; /* in the current line; the line ends at '\n' or NUL */
  int line;
  bool serial, checked;
  int64_t outer, axes, phases, bufs, reds;
  int mode;
  TT_VEC(tt_kinst) inst;
  TT_VEC(tt_kaccess) access;
  TT_VEC(uint8_t) scalar;
  TT_VEC(uint8_t) scratch;
  tt_error *err;
} parser;

static const struct {
  const char *name;
  uint8_t op;
} code_name[] = {{"const", TT_K_CONST}, {"load", TT_K_LOAD},     {"index", TT_K_INDEX}, {"loadx", TT_K_LOADX},
                 {"store", TT_K_STORE}, {"storex", TT_K_STOREX}, {"round", TT_K_ROUND}};

static tt_code bad(const parser *p, const char *what) {
  return tt__fail(p->err, TT_EVALUE, "line %d: %s near \"%.20s\"", p->line, what, p->at);
}

static void skip_blanks(parser *p) {
  while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r') p->at++;
}

static bool at_end(parser *p) {
  skip_blanks(p);
  return *p->at == '\0' || *p->at == '\n';
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Take `text` if it is next. */
static bool take(parser *p, const char *text) {
  size_t n = strlen(text);
  if (strncmp(p->at, text, n) != 0) return false;
  p->at += n;
  return true;
}

/* A lower-case word, digits allowed after its first letter, that fits in 16 bytes. */
static bool take_word(parser *p, char word[16]) {
  size_t n = 0;
  if (!is_letter(*p->at)) return false;
  while (is_letter(p->at[n]) || is_digit(p->at[n])) n++;
  if (n >= 16) return false;
  memcpy(word, p->at, n);
  word[n] = '\0';
  p->at += n;
  return true;
}

/* A number in [0, limit]. */
static bool take_number(parser *p, int64_t limit, int64_t *out) {
  int64_t v = 0;
  if (!is_digit(*p->at)) return false;
  for (; is_digit(*p->at); p->at++) {
    v = v * 10 + (*p->at - '0');
    if (v > limit) return false;
  }
  *out = v;
  return true;
}

/* " <prefix><number>" as an int16. */
static bool take_ref(parser *p, const char *prefix, int16_t *out) {
  int64_t v;
  skip_blanks(p);
  if (!take(p, prefix) || !take_number(p, INT16_MAX, &v)) return false;
  *out = (int16_t)v;
  return true;
}

static int find_name(const char *const *names, int n, const char *word) {
  for (int i = 0; i < n; i++)
    if (strcmp(names[i], word) == 0) return i;
  return -1;
}

static bool take_type(parser *p, uint8_t *out) {
  char word[16];
  skip_blanks(p);
  if (!take_word(p, word)) return false;
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    if (strcmp(tt__dtypes[t].suffix, word) == 0) return *out = (uint8_t)t, true;
  return false;
}

static bool take_lane(parser *p, tt_kaccess *x) {
  char word[16];
  int64_t by = 0;
  skip_blanks(p);
  int lane = take_word(p, word) ? find_name(tt__lane_names, 3, word) : -1;
  if (lane < 0) return false;
  x->lane = (uint8_t)lane;
  skip_blanks(p);
  if (take(p, "by ")) {
    bool back = take(p, "-");
    if (!take_number(p, INT8_MAX, &by)) return false;
    x->by = (int8_t)(back ? -by : by);
    skip_blanks(p);
  }
  x->next = take(p, "next");
  return true;
}

static bool take_count(parser *p, const char *name, int64_t limit, int64_t *out) {
  skip_blanks(p);
  return take(p, name) && take(p, "=") && take_number(p, limit, out);
}

static tt_code parse_head(parser *p) {
  char word[16];
  if (!take(p, "kernel")) return bad(p, "expected \"kernel\"");
  skip_blanks(p);
  p->mode = take_word(p, word) ? find_name(tt__mode_names, 3, word) : -1;
  if (p->mode < 0) return bad(p, "unknown mode");
  if (!take_count(p, "outer", UINT8_MAX, &p->outer) || !take_count(p, "axes", UINT8_MAX, &p->axes) ||
      !take_count(p, "phases", UINT8_MAX, &p->phases) || !take_count(p, "bufs", INT16_MAX, &p->bufs) ||
      !take_count(p, "reds", INT16_MAX, &p->reds))
    return bad(p, "bad count");
  skip_blanks(p);
  p->serial = take(p, "serial");
  skip_blanks(p);
  p->checked = take(p, "checked");
  return TT_OK;
}

/* "s0: f32" and "t0: f32", after the letter. */
static tt_code parse_typed(parser *p, int64_t n, uint8_t *type) {
  int64_t number;
  if (!take_number(p, INT16_MAX - 1, &number) || number != n || !take(p, ":")) return bad(p, "out of order");
  if (!take_type(p, type)) return bad(p, "unknown type");
  return TT_OK;
}

static tt_code parse_access(parser *p) {
  tt_kaccess x = {.buf = -1, .dtype = TT_I64, .lane = TT_LANE_ANY, .write = false};
  int64_t number;
  char word[16];
  if (!take_number(p, INT16_MAX - 1, &number) || number != p->access.n || !take(p, ":")) return bad(p, "out of order");
  skip_blanks(p);
  if (!take_word(p, word)) return bad(p, "expected read, write or index");
  if (strcmp(word, "index") != 0) {
    x.write = strcmp(word, "write") == 0;
    if (!x.write && strcmp(word, "read") != 0) return bad(p, "expected read, write or index");
    if (!take_type(p, &x.dtype)) return bad(p, "unknown type");
    if (take_ref(p, "scratch", &x.buf)) {
      if (x.buf > INT16_MAX - 2) return bad(p, "scratch number");
      x.buf = (int16_t)(-2 - x.buf);
    } else if (!take_ref(p, "buf", &x.buf)) {
      return bad(p, "expected a buffer or a scratch");
    }
  }
  if (!take_lane(p, &x)) return bad(p, "unknown lane step");
  return TT_VEC_PUSH(&p->access, x) ? TT_OK : tt__fail_memory(p->err, sizeof x);
}

/* The code, its type suffix and what follows from both. */
static tt_code parse_code(parser *p, tt_kinst *in) {
  char word[16];
  uint8_t type;
  skip_blanks(p);
  if (!take_word(p, word) || !take(p, ".") || !take_type(p, &type)) return bad(p, "expected code.type");
  in->dtype = type;
  for (int op = 0; op < TT_OP_COUNT; op++) {
    if (strcmp(tt__ops[op].lower, word) != 0) continue;
    in->op = (uint8_t)op;
    in->from = type;
    in->dtype = (uint8_t)tt__kernel_result((tt_op)op, (tt_dtype)type);
    if (op == TT_CAST && (!take(p, ".") || !take_type(p, &in->dtype))) return bad(p, "a cast has two types");
    return TT_OK;
  }
  int red = find_name(tt__red_names, TT_RED_COUNT, word);
  if (red >= 0) {
    in->op = TT_K_REDUCE;
    in->red = (uint8_t)red;
    in->from = type;
    if (red == TT_RED_ARGMAX || red == TT_RED_ARGMIN) in->dtype = TT_I64;
    return TT_OK;
  }
  for (size_t c = 0; c < sizeof code_name / sizeof *code_name; c++) {
    if (strcmp(code_name[c].name, word) != 0) continue;
    in->op = code_name[c].op;
    if (in->op != TT_K_ROUND) return TT_OK;
    in->from = type;
    in->dtype = TT_F32;
    return TT_OK;
  }
  return bad(p, "unknown code");
}

static tt_code parse_inst(parser *p) {
  tt_kinst in = {.slot = -1, .src = {-1, -1, -1}, .scope = TT_SCOPE_CONST};
  int64_t number, phase;
  if (!take_number(p, INT16_MAX - 1, &number) || number != p->inst.n) return bad(p, "out of order");
  skip_blanks(p);
  if (!take(p, "=")) return bad(p, "expected \"=\"");
  TT_TRY(parse_code(p, &in));
  int nsrc = in.op < TT_OP_COUNT ? tt__ops[in.op].arity : 1;
  if (in.op == TT_K_CONST || in.op == TT_K_LOAD || in.op == TT_K_INDEX) nsrc = 0;
  if (in.op == TT_K_STOREX) nsrc = 2;
  if (in.op >= TT_OP_COUNT && in.op != TT_K_ROUND) {
    const char *prefix = in.op == TT_K_CONST ? "s" : in.op == TT_K_REDUCE ? "r" : "a";
    if (!take_ref(p, prefix, &in.slot)) return bad(p, "expected a slot");
  }
  for (int s = 0; s < nsrc; s++)
    if (!take_ref(p, "%", &in.src[s])) return bad(p, "expected an operand");
  skip_blanks(p);
  if (take(p, "@")) {
    in.scope = take(p, "row") ? TT_SCOPE_ROW : TT_SCOPE_OUTER;
    if (in.scope == TT_SCOPE_OUTER && !take(p, "outer")) return bad(p, "unknown scope");
    if (!take_number(p, UINT8_MAX, &phase)) return bad(p, "expected a phase");
    in.phase = (uint8_t)phase;
  }
  return TT_VEC_PUSH(&p->inst, in) ? TT_OK : tt__fail_memory(p->err, sizeof in);
}

static tt_code parse_line(parser *p) {
  uint8_t type;
  if (take(p, "s")) {
    TT_TRY(parse_typed(p, p->scalar.n, &type));
    return TT_VEC_PUSH(&p->scalar, type) ? TT_OK : tt__fail_memory(p->err, 1);
  }
  if (take(p, "t")) {
    TT_TRY(parse_typed(p, p->scratch.n, &type));
    return TT_VEC_PUSH(&p->scratch, type) ? TT_OK : tt__fail_memory(p->err, 1);
  }
  if (take(p, "a")) return parse_access(p);
  if (take(p, "%")) return parse_inst(p);
  return bad(p, "unknown line");
}

static tt_code parse_text(parser *p, const char *text) {
  bool head = false;
  for (p->line = 1, p->at = text;; p->line++, p->at++) {
    if (!at_end(p) && *p->at != '#') {
      TT_TRY(head ? parse_line(p) : parse_head(p));
      head = true;
      if (!at_end(p)) return bad(p, "unexpected text");
    }
    p->at += strcspn(p->at, "\n");
    if (*p->at == '\0') break;
  }
  return head ? TT_OK : bad(p, "no kernel");
}

static tt_code make_kernel(const parser *p, tt_kernel **out) {
  tt_kernel *k = tt__kernel_new();
  if (!k) return tt__fail_memory(p->err, sizeof *k);
  k->mode = (uint8_t)p->mode;
  k->nouter = (uint8_t)p->outer;
  k->naxes = (uint8_t)p->axes;
  k->nphase = (uint8_t)p->phases;
  k->nbuf = (int16_t)p->bufs;
  k->nred = (int16_t)p->reds;
  k->ninst = (int16_t)p->inst.n;
  k->naccess = (int16_t)p->access.n;
  k->nscalar = (int16_t)p->scalar.n;
  k->nscratch = (int16_t)p->scratch.n;
  k->serial = p->serial;
  k->checked = p->checked;
  k->inst = tt__arena_dup(&k->arena, p->inst.data, (size_t)p->inst.n * sizeof *p->inst.data);
  k->access = tt__arena_dup(&k->arena, p->access.data, (size_t)p->access.n * sizeof *p->access.data);
  k->scalar_type = tt__arena_dup(&k->arena, p->scalar.data, (size_t)p->scalar.n);
  k->scratch_type = tt__arena_dup(&k->arena, p->scratch.data, (size_t)p->scratch.n);
  if (!k->inst || !k->access || !k->scalar_type || !k->scratch_type) {
    tt__kernel_free(k);
    return tt__fail_memory(p->err, (size_t)p->inst.n * sizeof *p->inst.data);
  }
  if (!tt__kernel_ok(k, p->err)) {
    tt__kernel_free(k);
    return TT_EVALUE;
  }
  tt__kernel_seal(k);
  *out = k;
  return TT_OK;
}

tt_code tt__kernel_parse(const char *text, tt_kernel **out, tt_error *err) {
  parser p = {.err = err};
  *out = NULL;
  tt_code c = parse_text(&p, text);
  if (c == TT_OK) c = make_kernel(&p, out);
  TT_VEC_FREE(&p.inst);
  TT_VEC_FREE(&p.access);
  TT_VEC_FREE(&p.scalar);
  TT_VEC_FREE(&p.scratch);
  return c;
}
