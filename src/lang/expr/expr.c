/*
** The entries: parameters become variables, text becomes steps, and only what the results need is kept.
*/
#include "lang/expr/expr.h"

#include <assert.h>
#include <string.h>

#include "lang/expr/expr_int.h"

static void declare_params(cx_reader *r) {
  const tt_cx_source *s = r->s;
  for (int k = 0; k < s->nparam; k++) {
    const tt_formula_param *p = &s->param[k];
    cx__declare(r, (cx_var){.name = p->name,
                            .len = (uint32_t)strlen(p->name),
                            .dtype = p->dtype,
                            .fixed = !p->is_out,
                            .is_array = p->is_raw,
                            .param = (int16_t)k,
                            .now = -1});
  }
}

/* `i` and `n`, unless parameters are called so. */
static void declare_places(cx_reader *r) {
  static const struct {
    const char *name;
    tt_formula_kind kind;
  } place[] = {{"i", TT_F_INDEX}, {"n", TT_F_COUNT}};
  for (int k = 0; k < 2; k++) {
    if (cx__var_named(r, place[k].name, 1)) continue;
    cx_value v = cx__of_param(r, place[k].kind, -1, 0, TT_I64);
    if (r->s->c_form) v = cx__convert(r, v, TT_I32, 0);
    cx__declare(r,
                (cx_var){.name = place[k].name, .len = 1, .dtype = v.dtype, .fixed = true, .param = -1, .now = v.id});
  }
}

static void begin(cx_reader *r) {
  if (r->s->preamble && *r->s->preamble) {
    cx__cut(r, r->s->preamble, true);
    r->base = r->global = 0;
    r->gone = cx__declare(r, (cx_var){.name = "", .dtype = TT_BOOL, .param = -1, .now = -1});
    r->global = r->var.n;
    cx__definitions(r);
  }
  r->at = r->word.n;
  r->global = r->base = r->var.n;
  r->alias_global = r->alias_base = r->alias.n;
  cx__cut(r, r->s->text, false);
  r->gone = cx__declare(r, (cx_var){.name = "", .dtype = TT_BOOL, .param = -1, .now = -1});
  r->answer = -1;
  r->type = CX_VOID;
  declare_params(r);
  declare_places(r);
}

/* An array that is written, and read at other places, has no one value. */
static void refuse_races(cx_reader *r) {
  for (int64_t k = 0; k < r->f->step.n; k++) {
    const tt_formula_step *s = &r->f->step.data[k];
    if (s->kind != TT_F_LOAD || r->f->result.data[s->param] < 0) continue;
    if (!cx__is_own(r, s->src[0]))
      cx__beyond(r, r->word.n - 1, "'%s' is written and read at other places", r->s->param[s->param].name);
  }
}

/* Drop the steps that no result needs. */
static void sweep(cx_reader *r) {
  tt_formula *f = r->f;
  int32_t *to = NULL;
  r->saved.n = 0;
  for (int64_t k = 0; k < f->step.n; k++)
    if (!TT_VEC_PUSH(&r->saved, -1)) cx__no_memory(r);
  to = r->saved.data;
  for (int64_t k = 0; k < f->result.n; k++)
    if (f->result.data[k] >= 0) to[f->result.data[k]] = 0;
  for (int64_t k = f->step.n; k-- > 0;)
    for (int j = 0; j < 3 && to[k] >= 0; j++)
      if (f->step.data[k].src[j] >= 0) to[f->step.data[k].src[j]] = 0;
  int32_t n = 0;
  for (int64_t k = 0; k < f->step.n; k++) {
    if (to[k] < 0) continue;
    tt_formula_step s = f->step.data[k];
    for (int j = 0; j < 3; j++)
      if (s.src[j] >= 0) s.src[j] = to[s.src[j]];
    f->step.data[n] = s;
    to[k] = n++;
  }
  f->step.n = n;
  for (int64_t k = 0; k < f->result.n; k++)
    if (f->result.data[k] >= 0) f->result.data[k] = to[f->result.data[k]];
}

static void read_statements(cx_reader *r) {
  begin(r);
  while (cx__word(r, r->at)->kind) {
    if (cx__is(r, r->at, "}")) cx__wrong(r, r->at, "expected statement before '}' token");
    cx__statement(r);
  }
  for (int k = 0; k < r->s->nparam; k++) {
    int32_t now = -1;
    for (int64_t j = 0; j < r->var.n; j++)
      if (r->var.data[j].param == k) now = r->var.data[j].now;
    if (!TT_VEC_PUSH(&r->f->result, now)) cx__no_memory(r);
  }
  refuse_races(r);
}

static void read_value(cx_reader *r) {
  begin(r);
  cx_value v = cx__expression(r);
  const cx_word *w = cx__word(r, r->at);
  if (w->kind) cx__beyond(r, r->at, "'%.*s' behind an expression", (int)w->len, w->at);
  int last = r->s->nparam - 1;
  v = cx__convert(r, v, r->s->param[last].dtype, 0);
  for (int k = 0; k <= last; k++)
    if (!TT_VEC_PUSH(&r->f->result, k == last ? v.id : -1)) cx__no_memory(r);
}

void cx__free(cx_reader *r) {
  TT_VEC_FREE(&r->macro);
  TT_VEC_FREE(&r->word);
  TT_VEC_FREE(&r->var);
  TT_VEC_FREE(&r->alias);
  TT_VEC_FREE(&r->tparam);
  TT_VEC_FREE(&r->function);
  TT_VEC_FREE(&r->saved);
}

static tt_code read(const tt_cx_source *s, void (*body)(cx_reader *r), tt_formula *out, tt_error *err) {
  tt_error local;
  cx_reader r = {.s = s, .f = out, .err = err ? err : &local};
  memset(out, 0, sizeof *out);
  if (setjmp(r.out) == 0) {
    body(&r);
    sweep(&r);
    assert(tt__formula_ok(out, s->param, s->nparam));
  }
  cx__free(&r);
  if (r.code != TT_OK) tt__formula_free(out);
  return r.code;
}

tt_code tt__cx_statements(const tt_cx_source *s, tt_formula *out, tt_error *err) {
  return read(s, read_statements, out, err);
}

tt_code tt__cx_value(const tt_cx_source *s, tt_formula *out, tt_error *err) { return read(s, read_value, out, err); }

static void read_parameter(cx_reader *r, tt_formula_param *out) {
  int64_t w = r->at, end;
  uint8_t dtype;
  if (!cx__type_at(r, w, &dtype, &end) || dtype >= TT_DTYPE_COUNT) cx__beyond(r, w, "a parameter of another type");
  bool pointer = cx__is(r, end, "*"), fixed = false;
  for (int64_t k = w; k < end; k++) fixed |= cx__is(r, k, "const");
  r->at = end + pointer;
  while (cx__take(r, "__restrict__") || cx__take(r, "__restrict") || cx__take(r, "const")) continue;
  const cx_word *name = cx__word(r, r->at);
  if (name->kind != 'i' || name->len >= sizeof out->name) cx__beyond(r, w, "a parameter of another kind");
  *out = (tt_formula_param){.dtype = dtype, .is_raw = pointer, .is_out = pointer && !fixed, .is_text = !pointer};
  memcpy(out->name, name->at, name->len);
  r->at++;
}

tt_code tt__cx_parameters(const char *text, tt_formula_param *out, int room, int *n, tt_error *err) {
  assert(room >= 0);
  tt_error local;
  tt_cx_source source = {.text = text, .file = "parameters"};
  cx_reader r = {.s = &source, .err = err ? err : &local};
  *n = 0;
  if (setjmp(r.out) == 0) {
    cx__cut(&r, text, false);
    do {
      if (*n == room) cx__beyond(&r, r.at, "more than %d parameters", room);
      read_parameter(&r, &out[*n]);
      ++*n;
    } while (cx__take(&r, ","));
    if (cx__word(&r, r.at)->kind) cx__beyond(&r, r.at, "a parameter of another kind");
  }
  cx__free(&r);
  return r.code;
}
