/*
** Plan text back into a plan (the form is at the head of plan.c). Total: any text gives a plan in which
** tt__plan_check finds no fault, or an error with its line. Lines may be blank or start with '#'.
**
** A step's lists grow while its lines are read, and move into the plan when the next step starts.
*/
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "ir/kernel_int.h"
#include "ir/plan.h"

enum { MOST_PARTS = 1 << 14 }; /* of one kind in a step: numbers in the text stay small */

typedef struct parser {
  const char *at; /* in the current line; the line ends at '\n' or NUL */
  int line;
  int64_t steps; /* as the head says */
  tt_plan *plan;
  bool open;    /* a step is being read */
  tt_step step; /* the one */
  TT_VEC(tt_proot) root;
  TT_VEC(tt_poperand) operand;
  TT_VEC(tt_paccess) access;
  TT_VEC(tt_scalar) literal;
  TT_VEC(tt_pinst) inst;
  TT_VEC(tt_plib_src) src;
  TT_VEC(tt_pvalue) value; /* of the plan */
  tt_error *err;
} parser;

static tt_code bad(const parser *p, const char *what) {
  return tt__fail(p->err, TT_EVALUE, "plan text, line %d: %s near \"%.20s\"", p->line, what, p->at);
}
static tt_code no_memory(const parser *p) { return tt__fail(p->err, TT_ENOMEM, "out of memory while reading a plan"); }

/* ---- words */

static void skip_blanks(parser *p) { p->at += strspn(p->at, " \t\r"); }

/* Take `text`, blanks before it allowed. */
static bool take(parser *p, const char *text) {
  skip_blanks(p);
  size_t n = strlen(text);
  if (strncmp(p->at, text, n) != 0) return false;
  p->at += n;
  return true;
}

/* A word of at most 15 letters, digits and '_'. */
static bool take_word(parser *p, char word[16]) {
  skip_blanks(p);
  size_t n = strspn(p->at, "abcdefghijklmnopqrstuvwxyz_0123456789");
  if (n == 0 || n >= 16) return false;
  memcpy(word, p->at, n);
  word[n] = '\0';
  p->at += n;
  return true;
}

static bool take_int64(parser *p, int64_t *out) {
  bool minus = *p->at == '-';
  const char *digit = p->at + minus;
  uint64_t v = 0, limit = (uint64_t)INT64_MAX + minus;
  if (*digit < '0' || *digit > '9') return false;
  for (; *digit >= '0' && *digit <= '9'; digit++) {
    uint64_t d = (uint64_t)(*digit - '0');
    if (v > (limit - d) / 10) return false;
    v = v * 10 + d;
  }
  p->at = digit;
  *out = (int64_t)(minus ? -v : v);
  return true;
}

/* `text` and a number in [lo, hi]. */
static bool take_number(parser *p, const char *text, int64_t lo, int64_t hi, int64_t *out) {
  return take(p, text) && take_int64(p, out) && *out >= lo && *out <= hi;
}

/* `text` and numbers with commas between, at most `room`; none is allowed. */
static bool take_list(parser *p, const char *text, int64_t *out, int room, int *n) {
  *n = 0;
  if (!take(p, text)) return false;
  if (*p->at != '-' && (*p->at < '0' || *p->at > '9')) return true;
  do {
    if (*n == room || !take_int64(p, &out[(*n)++])) return false;
    if (*p->at != ',') return true;
    p->at++;
  } while (true);
}

/* 16 hexadecimal digits. */
static bool take_bits(parser *p, uint64_t *out) {
  skip_blanks(p);
  if (strspn(p->at, "0123456789abcdef") != 16) return false;
  *out = strtoull(p->at, NULL, 16);
  p->at += 16;
  return true;
}

static bool take_type(parser *p, uint8_t *out) {
  char word[16];
  if (!take_word(p, word)) return false;
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    if (strcmp(tt__dtypes[t].name, word) == 0) return *out = (uint8_t)t, true;
  return false;
}

static bool take_direction(parser *p, bool *write) {
  *write = take(p, "write");
  return *write || take(p, "read");
}

/* The number of a part, which must be the next one, and a colon. */
static bool take_next(parser *p, int64_t n) {
  int64_t number;
  return n < MOST_PARTS && take_number(p, "", n, n, &number) && take(p, ":");
}

/* ---- lines of a step */

static tt_code parse_why(parser *p) {
  skip_blanks(p);
  size_t n = strcspn(p->at, "\n");
  char *why = n ? tt__arena_alloc(&p->plan->arena, n + 1) : NULL;
  if (!n || p->step.why) return bad(p, n ? "a second reason" : "no reason");
  if (!why) return no_memory(p);
  memcpy(why, p->at, n);
  p->step.why = why;
  p->at += n;
  return TT_OK;
}

static tt_code parse_operand(parser *p) {
  tt_poperand o = {0};
  int64_t node;
  if (!take_next(p, p->operand.n) || !take_number(p, "n", 0, INT32_MAX, &node) || !take_direction(p, &o.write))
    return bad(p, "bad operand");
  o.node = (int32_t)node;
  return TT_VEC_PUSH(&p->operand, o) ? TT_OK : no_memory(p);
}

static tt_code parse_access(parser *p) {
  tt_paccess a = {0};
  int64_t operand;
  int n;
  a.step = tt__arena_alloc(&p->plan->arena, sizeof *a.step * (size_t)p->step.space.naxes);
  if (!a.step) return no_memory(p);
  if (!take_next(p, p->access.n) || !take_type(p, &a.dtype) || !take_number(p, "operand=", -1, MOST_PARTS, &operand) ||
      !take_direction(p, &a.write) || !take_number(p, "off=", INT64_MIN, INT64_MAX, &a.off) ||
      !take_list(p, "step=", a.step, p->step.space.naxes, &n) || n != p->step.space.naxes)
    return bad(p, "bad access");
  a.operand = (int16_t)operand;
  return TT_VEC_PUSH(&p->access, a) ? TT_OK : no_memory(p);
}

static tt_code parse_literal(parser *p) {
  tt_scalar s;
  if (!take_next(p, p->literal.n) || !take_bits(p, &s.bits[0]) || !take_bits(p, &s.bits[1]))
    return bad(p, "bad literal");
  return TT_VEC_PUSH(&p->literal, s) ? TT_OK : no_memory(p);
}

static int code_named(const char *word) {
  for (int code = 0; code <= TT_P_REDUCE; code++) {
    const char *name = tt__plan_code_name(code);
    if (name && strcmp(name, word) == 0) return code;
  }
  return -1;
}

static int red_named(const char *word) {
  int r = 0;
  while (r < TT_RED_COUNT && strcmp(tt__red_names[r], word) != 0) r++;
  return r;
}

static tt_code parse_inst(parser *p) {
  tt_pinst in = {.src = {-1, -1, -1}};
  char word[16];
  int64_t number, ref;
  if (p->inst.n >= MOST_PARTS || !take_number(p, "", p->inst.n, p->inst.n, &number) || !take(p, "="))
    return bad(p, "instruction out of order");
  int code = take_word(p, word) ? code_named(word) : -1;
  if (code < 0) return bad(p, "unknown code");
  in.op = (uint8_t)code;
  if (code == TT_P_REDUCE) {
    int red = take(p, ".") && take_word(p, word) ? red_named(word) : TT_RED_COUNT;
    if (red == TT_RED_COUNT) return bad(p, "unknown reduction");
    in.red = (uint8_t)red;
  }
  if (!take_type(p, &in.dtype)) return bad(p, "unknown type");
  if (!take_number(p, "ref=", INT32_MIN, INT32_MAX, &ref)) return bad(p, "bad reference");
  in.ref = (int32_t)ref;
  for (int k = 0; k < tt__plan_code_arity(code); k++) {
    if (!take_number(p, "%", 0, p->inst.n - 1, &number)) return bad(p, "bad operand of an instruction");
    in.src[k] = (int16_t)number;
  }
  return TT_VEC_PUSH(&p->inst, in) ? TT_OK : no_memory(p);
}

static tt_code parse_source(parser *p) {
  tt_plib_src s = {0};
  int64_t node, len[TT_MAX_RANK], step[TT_MAX_RANK];
  int nstep;
  if (!take_next(p, p->src.n) || !take_number(p, "n", 0, INT32_MAX, &node) ||
      !take_number(p, "off=", INT64_MIN, INT64_MAX, &s.off) || !take_list(p, "len=", len, TT_MAX_RANK, &s.rank) ||
      !take_list(p, "step=", step, TT_MAX_RANK, &nstep) || nstep != s.rank)
    return bad(p, "bad source");
  s.node = (int32_t)node;
  s.len = tt__arena_dup(&p->plan->arena, len, sizeof *len * (size_t)s.rank);
  s.step = tt__arena_dup(&p->plan->arena, step, sizeof *step * (size_t)s.rank);
  return s.len && s.step && TT_VEC_PUSH(&p->src, s) ? TT_OK : no_memory(p);
}

static tt_code parse_root(parser *p) {
  int64_t node, operand, base, in_place, donor;
  if (!take_next(p, p->root.n) || !take_number(p, "n", 0, INT32_MAX, &node) ||
      !take_number(p, "operand=", 0, MOST_PARTS, &operand) || !take_number(p, "base=", -1, INT32_MAX, &base) ||
      !take_number(p, "in_place=", 0, 1, &in_place) || !take_number(p, "donor=", -1, MOST_PARTS, &donor))
    return bad(p, "bad root");
  tt_proot r = {.node = (int32_t)node,
                .operand = (int16_t)operand,
                .base = (int32_t)base,
                .in_place = in_place == 1,
                .donor = (int16_t)donor};
  return TT_VEC_PUSH(&p->root, r) ? TT_OK : no_memory(p);
}

static tt_code parse_part(parser *p) {
  bool kernel = p->step.kind == TT_STEP_KERNEL;
  if (!p->open) return bad(p, "a part of no step");
  if (take(p, "why ")) return parse_why(p);
  if (take(p, "root")) return parse_root(p);
  if (kernel && take(p, "operand")) return parse_operand(p);
  if (kernel && take(p, "access")) return parse_access(p);
  if (kernel && take(p, "literal")) return parse_literal(p);
  if (kernel && take(p, "%")) return parse_inst(p);
  bool calls = p->step.kind == TT_STEP_LIB || p->step.kind == TT_STEP_CALL;
  if (calls && take(p, "source")) return parse_source(p);
  return bad(p, "unknown line");
}

/* ---- steps */

static bool grow(tt_plan *plan) {
  if (plan->n < plan->cap) return true;
  int cap = plan->cap ? 2 * plan->cap : 8;
  tt_step *step = tt__mem_realloc(plan->step, sizeof *step * (size_t)plan->cap, sizeof *step * (size_t)cap);
  if (!step) return false;
  plan->step = step;
  plan->cap = cap;
  return true;
}

#define MOVE(list)                                                                              \
  (s->list = tt__arena_dup(&p->plan->arena, p->list.data, sizeof *s->list * (size_t)p->list.n), \
   s->n##list = (int)p->list.n, p->list.n = 0, s->list != NULL)

/* The step that was being read becomes one of the plan. */
static tt_code close_step(parser *p) {
  if (!p->open) return TT_OK;
  p->open = false;
  tt_step *s = &p->step;
  bool moved = MOVE(root) && MOVE(operand) && MOVE(access) && MOVE(literal) && MOVE(inst) && MOVE(src);
  if (!moved || !grow(p->plan)) return no_memory(p);
  p->plan->step[p->plan->n++] = *s;
  return TT_OK;
}

static tt_code open_step(parser *p) {
  TT_TRY(close_step(p));
  tt_step *s = &p->step;
  *s = (tt_step){.lib = -1};
  char word[16];
  int64_t number;
  if (p->plan->n >= p->steps || !take_next(p, p->plan->n) || !take_word(p, word)) return bad(p, "step out of order");
  const int kinds = sizeof tt__step_names / sizeof *tt__step_names;
  while (s->kind < kinds && strcmp(word, tt__step_names[s->kind]) != 0) s->kind++;
  if (s->kind == kinds) return bad(p, "unknown kind of step");
  if (s->kind == TT_STEP_KERNEL) {
    if (!take_number(p, "outer=", 0, TT_MAX_AXES, &number) ||
        !take_list(p, "space=", s->space.len, TT_MAX_AXES, &s->space.naxes))
      return bad(p, "bad space");
    s->nouter = (int)number;
    for (int k = s->nouter; k < s->space.naxes; k++) s->space.row[k] = true;
  } else if (s->kind == TT_STEP_LIB || s->kind == TT_STEP_CALL) {
    if (!take_number(p, "lib=n", 0, INT32_MAX, &number)) return bad(p, "bad library node");
    s->lib = (int32_t)number;
  }
  p->open = true;
  return TT_OK;
}

static tt_code parse_head(parser *p) {
  int64_t nodes;
  if (!take(p, "plan") || !take_number(p, "steps=", 0, INT32_MAX, &p->steps) ||
      !take_number(p, "nodes=", 0, INT32_MAX, &nodes))
    return bad(p, "expected \"plan steps=... nodes=...\"");
  p->plan->nnode = (int)nodes;
  return TT_OK;
}

static tt_code parse_value(parser *p) {
  int64_t node, memory, version, from, until;
  if (p->open || !take_number(p, "n", 0, INT32_MAX, &node) || !take(p, ":") ||
      !take_number(p, "memory=", -1, INT32_MAX, &memory) || !take_number(p, "version=", 0, INT32_MAX, &version) ||
      !take_number(p, "from=", -1, p->steps - 1, &from) || !take_number(p, "until=", 0, p->steps, &until))
    return bad(p, "bad value");
  tt_pvalue v = {.node = (int32_t)node,
                 .memory = (int32_t)memory,
                 .version = (int32_t)version,
                 .from = (int32_t)from,
                 .until = (int32_t)until};
  return TT_VEC_PUSH(&p->value, v) ? TT_OK : no_memory(p);
}

static tt_code close_values(parser *p) {
  tt_plan *plan = p->plan;
  if (p->value.n > INT32_MAX) return bad(p, "too many values");
  plan->value = tt__arena_dup(&plan->arena, p->value.data, sizeof *plan->value * (size_t)p->value.n);
  plan->nvalue = (int)p->value.n;
  return plan->value && tt__plan_index(plan) ? TT_OK : no_memory(p);
}

static tt_code parse_line(parser *p) {
  if (take(p, "step")) return open_step(p);
  return take(p, "value") ? parse_value(p) : parse_part(p);
}

static tt_code parse_text(parser *p, const char *text) {
  bool head = false;
  for (p->line = 1, p->at = text;; p->line++, p->at++) {
    skip_blanks(p);
    if (*p->at && *p->at != '\n' && *p->at != '#') {
      TT_TRY(head ? parse_line(p) : parse_head(p));
      head = true;
      skip_blanks(p);
      if (*p->at && *p->at != '\n') return bad(p, "unexpected text");
    }
    p->at += strcspn(p->at, "\n");
    if (*p->at == '\0') break;
  }
  TT_TRY(close_step(p));
  if (!head || p->plan->n != p->steps) return bad(p, head ? "steps are missing" : "no plan");
  TT_TRY(close_values(p));
  const char *what = tt__plan_check(p->plan);
  return what ? bad(p, what) : TT_OK;
}

tt_code tt__plan_parse(const char *text, tt_plan **out, tt_error *err) {
  parser p = {.err = err};
  *out = NULL;
  p.plan = tt__mem_zalloc(sizeof *p.plan);
  if (!p.plan) return no_memory(&p);
  tt_code code = parse_text(&p, text);
  if (code == TT_OK)
    *out = p.plan;
  else
    tt__plan_free(p.plan);
  TT_VEC_FREE(&p.root);
  TT_VEC_FREE(&p.operand);
  TT_VEC_FREE(&p.access);
  TT_VEC_FREE(&p.literal);
  TT_VEC_FREE(&p.inst);
  TT_VEC_FREE(&p.src);
  TT_VEC_FREE(&p.value);
  return code;
}
