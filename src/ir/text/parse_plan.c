/*
** Plan text back into a plan (the form is at the head of plan.c). Total: any text gives a plan in which
** tt__plan_check finds no fault, or an error with its line. Lines may be blank or start with '#'.
**
** A step's lists grow while its lines are read, and move into the plan when the next step starts.
*/
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "ir/text/kernel_int.h"
#include "ir/text/plan_text.h"

enum { MOST_PARTS = 1 << 14 }; /* of one kind in a step: numbers in the text stay small */

typedef struct parser {
  tt_plan_text in;
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
  bool placed;             /* the step has a decision, as all have or none */
  TT_VEC(tt_transfer) move;
  TT_VEC(tt_decision) decision; /* of the plan */
  tt_decisions *decisions;      /* memory for them */
} parser;

tt_code tt__text_bad(const tt_plan_text *t, const char *what) {
  return tt__fail(t->err, TT_EVALUE, "plan text, line %d: %s near \"%.20s\"", t->line, what, t->at);
}
static tt_code bad(const parser *p, const char *what) { return tt__text_bad(&p->in, what); }
static tt_code no_memory(const parser *p) {
  return tt__fail(p->in.err, TT_ENOMEM, "out of memory while reading a plan");
}

/* ---- words */

void tt__text_skip(tt_plan_text *t) { t->at += strspn(t->at, " \t\r"); }

bool tt__text_take(tt_plan_text *t, const char *text) {
  tt__text_skip(t);
  size_t n = strlen(text);
  if (strncmp(t->at, text, n) != 0) return false;
  t->at += n;
  return true;
}

bool tt__text_word(tt_plan_text *t, char word[16]) {
  tt__text_skip(t);
  size_t n = strspn(t->at, "abcdefghijklmnopqrstuvwxyz_0123456789");
  if (n == 0 || n >= 16) return false;
  memcpy(word, t->at, n);
  word[n] = '\0';
  t->at += n;
  return true;
}

static bool take_int64(tt_plan_text *t, int64_t *out) {
  bool minus = *t->at == '-';
  const char *digit = t->at + minus;
  uint64_t v = 0, limit = (uint64_t)INT64_MAX + minus;
  if (*digit < '0' || *digit > '9') return false;
  for (; *digit >= '0' && *digit <= '9'; digit++) {
    uint64_t d = (uint64_t)(*digit - '0');
    if (v > (limit - d) / 10) return false;
    v = v * 10 + d;
  }
  t->at = digit;
  *out = (int64_t)(minus ? -v : v);
  return true;
}

bool tt__text_number(tt_plan_text *t, const char *text, int64_t lo, int64_t hi, int64_t *out) {
  assert(lo <= hi);
  return tt__text_take(t, text) && take_int64(t, out) && *out >= lo && *out <= hi;
}

bool tt__text_list(tt_plan_text *t, const char *text, int64_t *out, int room, int *n) {
  assert(room >= 0);
  *n = 0;
  if (!tt__text_take(t, text)) return false;
  if (*t->at != '-' && (*t->at < '0' || *t->at > '9')) return true;
  do {
    if (*n == room || !take_int64(t, &out[(*n)++])) return false;
    if (*t->at != ',') return true;
    t->at++;
  } while (true);
}

/* 16 hexadecimal digits. */
static bool take_bits(parser *p, uint64_t *out) {
  tt__text_skip(&p->in);
  if (strspn(p->in.at, "0123456789abcdef") != 16) return false;
  *out = strtoull(p->in.at, NULL, 16);
  p->in.at += 16;
  return true;
}

static bool take_type(parser *p, uint8_t *out) {
  char word[16];
  if (!tt__text_word(&p->in, word)) return false;
  for (int t = 0; t < TT_DTYPE_COUNT; t++)
    if (strcmp(tt__dtypes[t].name, word) == 0) return *out = (uint8_t)t, true;
  return false;
}

static bool take_direction(parser *p, bool *write) {
  *write = tt__text_take(&p->in, "write");
  return *write || tt__text_take(&p->in, "read");
}

/* The number of a part, which must be the next one, and a colon. */
static bool take_next(parser *p, int64_t n) {
  int64_t number;
  return n < MOST_PARTS && tt__text_number(&p->in, "", n, n, &number) && tt__text_take(&p->in, ":");
}

/* ---- lines of a step */

static tt_code parse_why(parser *p) {
  tt__text_skip(&p->in);
  size_t n = strcspn(p->in.at, "\n");
  char *why = n ? tt__arena_alloc(&p->plan->arena, n + 1) : NULL;
  if (!n || p->step.why) return bad(p, n ? "a second reason" : "no reason");
  if (!why) return no_memory(p);
  memcpy(why, p->in.at, n);
  p->step.why = why;
  p->in.at += n;
  return TT_OK;
}

static tt_code parse_operand(parser *p) {
  tt_poperand o = {0};
  int64_t node;
  if (!take_next(p, p->operand.n) || !tt__text_number(&p->in, "n", 0, INT32_MAX, &node) || !take_direction(p, &o.write))
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
  if (!take_next(p, p->access.n) || !take_type(p, &a.dtype) ||
      !tt__text_number(&p->in, "operand=", -1, MOST_PARTS, &operand) || !take_direction(p, &a.write) ||
      !tt__text_number(&p->in, "off=", INT64_MIN, INT64_MAX, &a.off) ||
      !tt__text_list(&p->in, "step=", a.step, p->step.space.naxes, &n) || n != p->step.space.naxes)
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
  if (p->inst.n >= MOST_PARTS || !tt__text_number(&p->in, "", p->inst.n, p->inst.n, &number) ||
      !tt__text_take(&p->in, "="))
    return bad(p, "instruction out of order");
  int code = tt__text_word(&p->in, word) ? code_named(word) : -1;
  if (code < 0) return bad(p, "unknown code");
  in.op = (uint8_t)code;
  if (code == TT_P_REDUCE) {
    int red = tt__text_take(&p->in, ".") && tt__text_word(&p->in, word) ? red_named(word) : TT_RED_COUNT;
    if (red == TT_RED_COUNT) return bad(p, "unknown reduction");
    in.red = (uint8_t)red;
  }
  if (!take_type(p, &in.dtype)) return bad(p, "unknown type");
  if (!tt__text_number(&p->in, "ref=", INT32_MIN, INT32_MAX, &ref)) return bad(p, "bad reference");
  in.ref = (int32_t)ref;
  for (int k = 0; k < tt__plan_code_arity(code); k++) {
    if (!tt__text_number(&p->in, "%", 0, p->inst.n - 1, &number)) return bad(p, "bad operand of an instruction");
    in.src[k] = (int16_t)number;
  }
  return TT_VEC_PUSH(&p->inst, in) ? TT_OK : no_memory(p);
}

static tt_code parse_source(parser *p) {
  tt_plib_src s = {0};
  int64_t node, len[TT_MAX_RANK], step[TT_MAX_RANK];
  int nstep;
  if (!take_next(p, p->src.n) || !tt__text_number(&p->in, "n", 0, INT32_MAX, &node) ||
      !tt__text_number(&p->in, "off=", INT64_MIN, INT64_MAX, &s.off) ||
      !tt__text_list(&p->in, "len=", len, TT_MAX_RANK, &s.rank) ||
      !tt__text_list(&p->in, "step=", step, TT_MAX_RANK, &nstep) || nstep != s.rank)
    return bad(p, "bad source");
  s.node = (int32_t)node;
  s.len = tt__arena_dup(&p->plan->arena, len, sizeof *len * (size_t)s.rank);
  s.step = tt__arena_dup(&p->plan->arena, step, sizeof *step * (size_t)s.rank);
  return s.len && s.step && TT_VEC_PUSH(&p->src, s) ? TT_OK : no_memory(p);
}

static tt_code parse_root(parser *p) {
  int64_t node, operand, base, in_place, donor;
  if (!take_next(p, p->root.n) || !tt__text_number(&p->in, "n", 0, INT32_MAX, &node) ||
      !tt__text_number(&p->in, "operand=", 0, MOST_PARTS, &operand) ||
      !tt__text_number(&p->in, "base=", -1, INT32_MAX, &base) ||
      !tt__text_number(&p->in, "in_place=", 0, 1, &in_place) ||
      !tt__text_number(&p->in, "donor=", -1, MOST_PARTS, &donor))
    return bad(p, "bad root");
  tt_proot r = {.node = (int32_t)node,
                .operand = (int16_t)operand,
                .base = (int32_t)base,
                .in_place = in_place == 1,
                .donor = (int16_t)donor};
  return TT_VEC_PUSH(&p->root, r) ? TT_OK : no_memory(p);
}

static tt_code parse_move(parser *p) {
  tt_transfer m;
  if (p->placed || !tt__transfer_parse(&p->in, &m)) return bad(p, p->placed ? "a move after its step" : "bad move");
  return TT_VEC_PUSH(&p->move, m) ? TT_OK : no_memory(p);
}

static tt_code parse_place(parser *p) {
  tt_decision d;
  if (p->placed) return bad(p, "a second place");
  TT_TRY(tt__decision_parse(&p->in, &p->decisions->arena, &d));
  d.nmove = (int)p->move.n;
  d.move = tt__arena_dup(&p->decisions->arena, p->move.data, sizeof *d.move * (size_t)p->move.n);
  p->placed = true;
  p->move.n = 0;
  return d.move && TT_VEC_PUSH(&p->decision, d) ? TT_OK : no_memory(p);
}

static tt_code parse_part(parser *p) {
  bool kernel = p->step.kind == TT_STEP_KERNEL;
  if (!p->open) return bad(p, "a part of no step");
  if (tt__text_take(&p->in, "why ")) return parse_why(p);
  if (tt__text_take(&p->in, "root")) return parse_root(p);
  if (tt__text_take(&p->in, "move ")) return parse_move(p);
  if (tt__text_take(&p->in, "place ")) return parse_place(p);
  if (kernel && tt__text_take(&p->in, "operand")) return parse_operand(p);
  if (kernel && tt__text_take(&p->in, "access")) return parse_access(p);
  if (kernel && tt__text_take(&p->in, "literal")) return parse_literal(p);
  if (kernel && tt__text_take(&p->in, "%")) return parse_inst(p);
  bool calls = p->step.kind == TT_STEP_LIB || p->step.kind == TT_STEP_CALL;
  if (calls && tt__text_take(&p->in, "source")) return parse_source(p);
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
  if (p->move.n || (!p->placed && p->decision.n)) return bad(p, "a step without a place");
  bool moved = MOVE(root) && MOVE(operand) && MOVE(access) && MOVE(literal) && MOVE(inst) && MOVE(src);
  if (!moved || !grow(p->plan)) return no_memory(p);
  p->plan->step[p->plan->n++] = *s;
  return TT_OK;
}

static bool parse_fold(parser *p, tt_step *s) {
  int64_t fold[TT_MAX_AXES];
  int n = s->space.naxes;
  bool ok = true;
  for (int k = 0; k < n; k++) fold[k] = tt__step_plain_fold(s, k);
  if (tt__text_take(&p->in, "fold=")) ok = tt__text_list(&p->in, "", fold, TT_MAX_AXES, &n) && n == s->space.naxes;
  for (int k = 0; ok && k < n; k++) {
    ok = fold[k] >= 0 && fold[k] <= TT_MAX_AXES;
    s->fold[k] = (uint8_t)fold[k];
  }
  return ok;
}

static tt_code open_step(parser *p) {
  TT_TRY(close_step(p));
  tt_step *s = &p->step;
  *s = (tt_step){.lib = -1};
  char word[16];
  int64_t number;
  if (p->plan->n >= p->steps || !take_next(p, p->plan->n) || !tt__text_word(&p->in, word))
    return bad(p, "step out of order");
  const int kinds = sizeof tt__step_names / sizeof *tt__step_names;
  while (s->kind < kinds && strcmp(word, tt__step_names[s->kind]) != 0) s->kind++;
  if (s->kind == kinds) return bad(p, "unknown kind of step");
  if (s->kind == TT_STEP_KERNEL) {
    if (tt__text_take(&p->in, "many=")) {
      if (!tt__text_number(&p->in, "", 2, p->steps, &number)) return bad(p, "bad number of steps in a launch");
      s->many = (int)number;
    }
    if (!tt__text_number(&p->in, "outer=", 0, TT_MAX_AXES, &number) ||
        !tt__text_list(&p->in, "space=", s->space.len, TT_MAX_AXES, &s->space.naxes))
      return bad(p, "bad space");
    s->nouter = (int)number;
    for (int k = s->nouter; k < s->space.naxes; k++) s->space.row[k] = true;
    if (!parse_fold(p, s)) return bad(p, "bad order of a fold");
  } else if (s->kind == TT_STEP_LIB || s->kind == TT_STEP_CALL) {
    if (!tt__text_number(&p->in, "lib=n", 0, INT32_MAX, &number)) return bad(p, "bad library node");
    s->lib = (int32_t)number;
  }
  p->open = true;
  p->placed = false;
  return TT_OK;
}

static tt_code parse_head(parser *p) {
  int64_t nodes;
  if (!tt__text_take(&p->in, "plan") || !tt__text_number(&p->in, "steps=", 0, INT32_MAX, &p->steps) ||
      !tt__text_number(&p->in, "nodes=", 0, INT32_MAX, &nodes))
    return bad(p, "expected \"plan steps=... nodes=...\"");
  p->plan->nnode = (int)nodes;
  return TT_OK;
}

static tt_code parse_value(parser *p) {
  int64_t node, memory, version, from, until;
  if (p->open || !tt__text_number(&p->in, "n", 0, INT32_MAX, &node) || !tt__text_take(&p->in, ":") ||
      !tt__text_number(&p->in, "memory=", -1, INT32_MAX, &memory) ||
      !tt__text_number(&p->in, "version=", 0, INT32_MAX, &version) ||
      !tt__text_number(&p->in, "from=", -1, p->steps - 1, &from) ||
      !tt__text_number(&p->in, "until=", 0, p->steps, &until))
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

static tt_code close_decisions(parser *p) {
  tt_decisions *d = p->decisions;
  if (!p->decision.n) return TT_OK;
  if (p->decision.n != p->plan->n) return bad(p, "a step without a place");
  d->step = tt__arena_dup(&d->arena, p->decision.data, sizeof *d->step * (size_t)p->decision.n);
  if (!d->step) return no_memory(p);
  for (int i = 0; i < p->plan->n; i++) {
    const char *what = tt__decision_check(p->plan, d, i);
    if (what) return bad(p, what);
  }
  return TT_OK;
}

static tt_code parse_line(parser *p) {
  if (tt__text_take(&p->in, "step")) return open_step(p);
  return tt__text_take(&p->in, "value") ? parse_value(p) : parse_part(p);
}

static tt_code parse_text(parser *p, const char *text) {
  bool head = false;
  for (p->in.line = 1, p->in.at = text;; p->in.line++, p->in.at++) {
    tt__text_skip(&p->in);
    if (*p->in.at && *p->in.at != '\n' && *p->in.at != '#') {
      TT_TRY(head ? parse_line(p) : parse_head(p));
      head = true;
      tt__text_skip(&p->in);
      if (*p->in.at && *p->in.at != '\n') return bad(p, "unexpected text");
    }
    p->in.at += strcspn(p->in.at, "\n");
    if (*p->in.at == '\0') break;
  }
  TT_TRY(close_step(p));
  if (!head || p->plan->n != p->steps) return bad(p, head ? "steps are missing" : "no plan");
  TT_TRY(close_values(p));
  const char *what = tt__plan_check(p->plan);
  return what ? bad(p, what) : close_decisions(p);
}

tt_code tt__plan_parse_placed(const char *text, tt_plan **out, tt_decisions *d, tt_error *err) {
  parser p = {.in = {.err = err}, .decisions = d};
  *out = NULL;
  *d = (tt_decisions){0};
  p.plan = tt__mem_zalloc(sizeof *p.plan);
  if (!p.plan) return no_memory(&p);
  tt_code code = parse_text(&p, text);
  if (code == TT_OK) {
    *out = p.plan;
  } else {
    tt__decisions_free(d);
    tt__plan_free(p.plan);
  }
  TT_VEC_FREE(&p.root);
  TT_VEC_FREE(&p.operand);
  TT_VEC_FREE(&p.access);
  TT_VEC_FREE(&p.literal);
  TT_VEC_FREE(&p.inst);
  TT_VEC_FREE(&p.src);
  TT_VEC_FREE(&p.value);
  TT_VEC_FREE(&p.move);
  TT_VEC_FREE(&p.decision);
  return code;
}

tt_code tt__plan_parse(const char *text, tt_plan **out, tt_error *err) {
  tt_decisions d;
  tt_code code = tt__plan_parse_placed(text, out, &d, err);
  tt__decisions_free(&d);
  return code;
}
