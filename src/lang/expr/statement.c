/*
** Statements and functions. Both branches of a condition are read, each from the variables as they were; afterwards a
** variable is the select of its two values. A return is a variable too: what follows it changes nothing where it is
** true.
*/

#include "lang/expr/expr_int.h"

/* ---- variables */

cx_var *cx__var_named(cx_reader *r, const char *name, uint32_t len) {
  for (int64_t k = r->var.n; k-- > 0;) {
    if (k >= r->global && k < r->base) continue; /* of a function that calls this one */
    if (cx__same(r->var.data[k].name, r->var.data[k].len, name, len)) return &r->var.data[k];
  }
  return NULL;
}

int64_t cx__declare(cx_reader *r, cx_var v) {
  if (!TT_VEC_PUSH(&r->var, v)) cx__no_memory(r);
  return r->var.n - 1;
}

/* What a variable holds before anything was assigned. */
static cx_value first_value(cx_reader *r, const cx_var *v) {
  if (v->param < 0) return cx__const_int(r, v->dtype, 0);
  if (!v->is_array) return cx__of_param(r, TT_F_ELEMENT, v->param, 0, v->dtype);
  tt_formula_step s = {.kind = TT_F_LOAD,
                       .dtype = v->dtype,
                       .param = v->param,
                       .src = {cx__of_param(r, TT_F_INDEX, -1, 0, TT_I64).id, -1, -1}};
  return cx__step(r, s);
}

cx_value cx__read(cx_reader *r, int64_t var) {
  const cx_var *v = &r->var.data[var];
  return v->now >= 0 ? (cx_value){v->now, v->dtype} : first_value(r, v);
}

void cx__write(cx_reader *r, int64_t var, cx_value v) {
  const cx_var *gone = &r->var.data[r->gone];
  bool outlives = r->var.data[var].param >= 0 || var == r->answer;
  if (gone->now >= 0 && outlives) v = cx__where(r, (cx_value){gone->now, TT_BOOL}, cx__read(r, var), v);
  r->var.data[var].now = v.id;
}

/* ---- conditions */

static void keep_values(cx_reader *r, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    if (!TT_VEC_PUSH(&r->saved, r->var.data[k].now)) cx__no_memory(r);
}

static void condition(cx_reader *r) {
  int64_t w = r->at, n = r->var.n, before = r->saved.n;
  if (!cx__is(r, w, "(")) cx__beyond(r, w, "an if of another kind");
  cx__expect(r, "(");
  cx_value mask = cx__truth(r, cx__expression(r), w);
  cx__expect(r, ")");
  keep_values(r, n);
  r->guards++;
  cx__statement(r);
  keep_values(r, n);
  for (int64_t k = 0; k < n; k++) r->var.data[k].now = r->saved.data[before + k];
  if (cx__take(r, "else")) cx__statement(r);
  r->guards--;
  for (int64_t k = 0; k < n; k++) {
    cx_var *v = &r->var.data[k];
    int32_t then = r->saved.data[before + n + k];
    if (then == v->now) continue;
    if (v->param < 0 && k != r->gone && (then < 0 || v->now < 0)) { /* what was never set may be anything */
      if (v->now < 0) v->now = then;
      continue;
    }
    cx_value b = cx__read(r, k), a = then >= 0 ? (cx_value){then, v->dtype} : first_value(r, v);
    v->now = cx__where(r, mask, a, b).id;
  }
  r->saved.n = before;
}

/* ---- declarations */

static void declare_one(cx_reader *r, uint8_t dtype, bool fixed) {
  int64_t w = r->at;
  const cx_word *name = cx__word(r, w);
  if (name->kind != 'i') cx__beyond(r, w, "a declaration of another kind");
  r->at++;
  cx_var v = {.name = name->at, .len = name->len, .dtype = dtype, .fixed = fixed, .param = -1, .now = -1};
  if (cx__is(r, r->at, "[") || cx__is(r, r->at, "(")) cx__beyond(r, w, "an array or object is declared");
  bool brace = cx__is(r, r->at, "{");
  if (brace || cx__take(r, "=")) {
    if (cx__is(r, r->at, "{") && !brace) cx__beyond(r, w, "an initializer in braces");
    if (brace) r->at++;
    cx_value value = cx__assignment(r);
    if (brace) cx__expect(r, "}");
    if (dtype == CX_AUTO) v.dtype = value.dtype;
    v.now = cx__convert(r, value, v.dtype, w).id;
  } else if (dtype == CX_AUTO) {
    cx__wrong(r, w, "declaration of 'auto %.*s' has no initializer", (int)name->len, name->at);
  }
  cx__declare(r, v);
}

static bool says_const(const cx_reader *r, int64_t from, int64_t to) {
  for (; from < to; from++)
    if (cx__is(r, from, "const") || cx__is(r, from, "constexpr")) return true;
  return false;
}

static void declaration(cx_reader *r, uint8_t dtype, int64_t end) {
  bool fixed = says_const(r, r->at, end);
  if (dtype == CX_VOID) cx__beyond(r, r->at, "a declaration of void");
  r->at = end;
  do declare_one(r, dtype, fixed);
  while (cx__take(r, ","));
}

/* typedef float real; using real = float; */
static bool type_definition(cx_reader *r) {
  int64_t w = r->at, end;
  uint8_t dtype;
  cx_alias a = {0};
  if (cx__is(r, w, "typedef")) {
    if (!cx__type_at(r, w + 1, &dtype, &end)) cx__beyond(r, w, "a typedef of another kind");
    r->at = end + 1;
  } else if (cx__is(r, w, "using") && cx__is(r, w + 2, "=")) {
    if (!cx__type_at(r, w + 3, &dtype, &end)) cx__beyond(r, w, "a using of another kind");
    r->at = end;
    end = w + 1;
  } else {
    return false;
  }
  const cx_word *name = cx__word(r, end);
  if (name->kind != 'i' || dtype >= TT_DTYPE_COUNT || !cx__is(r, r->at, ";")) cx__beyond(r, w, "a name of a type");
  a.name = name->at;
  a.len = name->len;
  a.dtype = dtype;
  if (!TT_VEC_PUSH(&r->alias, a)) cx__no_memory(r);
  return true;
}

/* ---- statements */

static void leave_function(cx_reader *r, int64_t w, bool with_value) {
  cx_value always = cx__const_int(r, TT_BOOL, 1);
  if (with_value) {
    if (r->answer < 0) cx__beyond(r, w, "a return with a value");
    cx_value v = cx__expression(r);
    cx_var *answer = &r->var.data[r->answer];
    if (r->type == CX_AUTO) r->type = v.dtype;
    answer->dtype = r->type;
    v = cx__convert(r, v, r->type, w);
    cx__write(r, r->answer, v);
  } else if (r->answer >= 0) {
    cx__beyond(r, w, "a return without a value");
  }
  r->var.data[r->gone].now = always.id;
}

static void block(cx_reader *r) {
  int64_t vars = r->var.n, aliases = r->alias.n;
  while (!cx__take(r, "}")) {
    if (!cx__word(r, r->at)->kind) cx__wrong(r, r->at, "expected '}' at end of input");
    cx__statement(r);
  }
  r->var.n = vars;
  r->alias.n = aliases;
}

static void refuse_loops(cx_reader *r) {
  static const char *const words[] = {"for", "while", "do", "switch", "goto", "break", "asm", "case", "default", "try"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (cx__is(r, r->at, words[k])) cx__beyond(r, r->at, "'%s' is not straight-line code", words[k]);
  if (r->answer >= 0 && cx__is(r, r->at, "continue")) cx__beyond(r, r->at, "a continue in a function");
}

static bool step_by_one(cx_reader *r) {
  int64_t w = r->at;
  bool before = cx__is(r, w, "++") || cx__is(r, w, "--");
  int64_t name = before ? w + 1 : w, op = before ? w : w + 1;
  if (!before && !cx__is(r, op, "++") && !cx__is(r, op, "--")) return false;
  cx_var *v = cx__word(r, name)->kind == 'i' ? cx__var_named(r, cx__word(r, name)->at, cx__word(r, name)->len) : NULL;
  if (!v || v->is_array) cx__beyond(r, w, "a step of this");
  if (v->fixed)
    cx__wrong(r, w, "%screment of read-only variable '%.*s'", cx__is(r, op, "++") ? "in" : "de", (int)v->len, v->name);
  int64_t var = v - r->var.data;
  cx_value one = cx__const_int(r, TT_I32, 1);
  cx_value next = cx__binary(r, op, cx__is(r, op, "++") ? "+" : "-", cx__read(r, var), one);
  r->at += 2;
  cx__write(r, var, cx__convert(r, next, r->var.data[var].dtype, w));
  return true;
}

void cx__statement(cx_reader *r) {
  uint8_t dtype;
  int64_t end, w = r->at;
  if (++r->depth > CX_MOST_DEPTH) cx__beyond(r, w, "statements are nested deeply");
  if (cx__take(r, "{")) {
    block(r);
  } else if (cx__take(r, "if")) {
    int64_t vars = r->var.n;
    condition(r);
    r->var.n = vars;
  } else if (!cx__take(r, ";")) {
    refuse_loops(r);
    if (cx__take(r, "return") || (r->answer < 0 && cx__take(r, "continue")))
      leave_function(r, w, !cx__is(r, r->at, ";") && cx__word(r, r->at)->kind);
    else if (!type_definition(r) && !step_by_one(r)) {
      bool is_type = cx__type_at(r, w, &dtype, &end);
      if (is_type && !cx__is(r, end, "(") && !cx__is(r, end, "{") &&
          !cx__var_named(r, cx__word(r, w)->at, cx__word(r, w)->len))
        declaration(r, dtype, end);
      else
        cx__expression(r);
    }
    if (cx__word(r, r->at)->kind || r->answer >= 0) cx__expect(r, ";");
  }
  r->depth--;
}

/* ---- functions of the preamble */

static void template_parameters(cx_reader *r, cx_function *f) {
  f->tparam = r->tparam.n;
  if (!cx__take(r, "template")) return;
  cx__expect(r, "<");
  do {
    if (!cx__take(r, "typename") && !cx__take(r, "class")) cx__beyond(r, r->at, "a template parameter of another kind");
    const cx_word *w = cx__word(r, r->at);
    cx_alias a = {w->at, w->len, TT_DTYPE_COUNT};
    if (w->kind != 'i') cx__beyond(r, r->at, "a template parameter of another kind");
    r->at++;
    f->ntparam++;
    if (!TT_VEC_PUSH(&r->tparam, a)) cx__no_memory(r);
  } while (cx__take(r, ","));
  if (!cx__take(r, ">")) cx__beyond(r, r->at, "a template parameter of another kind");
}

static bool skip_attribute(cx_reader *r) {
  static const char *const words[] = {"__device__", "__host__", "__forceinline__", "__inline__", "__noinline__",
                                      "inline",     "static",   "constexpr",       "const"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (cx__is(r, r->at, words[k])) {
      r->at++;
      return true;
    }
  return false;
}

/* Where the head of a definition ends: at a bracket, `=`, a brace or a semicolon. */
static int64_t head_end(const cx_reader *r) {
  int64_t w = r->at;
  while (cx__word(r, w)->kind && !cx__is(r, w, "(") && !cx__is(r, w, "=") && !cx__is(r, w, "{") && !cx__is(r, w, ";"))
    w++;
  return w;
}

static void definition(cx_reader *r) {
  cx_function f = {0};
  int64_t w = r->at;
  template_parameters(r, &f);
  bool fixed = false;
  while (cx__is(r, r->at, "const") || cx__is(r, r->at, "constexpr") || skip_attribute(r))
    if (cx__take(r, "const") || cx__take(r, "constexpr")) fixed = true;
  f.head = r->at;
  int64_t end = head_end(r);
  const cx_word *name = cx__word(r, end - 1);
  if (end < f.head + 2 || name->kind != 'i') cx__beyond(r, w, "a definition of another kind");
  if (cx__is(r, end, "=")) {
    uint8_t dtype;
    if (!fixed || !cx__type_at(r, f.head, &dtype, &end)) cx__beyond(r, w, "a variable of the preamble");
    declaration(r, dtype, end);
    cx__expect(r, ";");
    for (int64_t k = r->global; k < r->var.n; k++) r->var.data[k].fixed = true;
    r->global = r->var.n;
    return;
  }
  int64_t close = cx__close(r, end);
  if (!cx__is(r, end, "(") || !cx__is(r, close, "{")) cx__beyond(r, w, "a definition of another kind");
  f.name = name->at;
  f.len = name->len;
  f.params = end + 1;
  f.body = close + 1;
  r->at = cx__close(r, close);
  if (!cx__is(r, r->at - 1, "}")) cx__beyond(r, w, "a definition without an end");
  for (int64_t k = 0; k < r->function.n; k++)
    if (cx__same(r->function.data[k].name, r->function.data[k].len, f.name, f.len))
      cx__beyond(r, w, "'%.*s' is defined twice", (int)f.len, f.name);
  if (!TT_VEC_PUSH(&r->function, f)) cx__no_memory(r);
}

void cx__definitions(cx_reader *r) {
  while (cx__word(r, r->at)->kind) {
    if (cx__take(r, ";") || type_definition(r)) continue;
    definition(r);
  }
}

/* A template parameter that a parameter's type names: what the argument says. */
static void bind(cx_reader *r, const cx_function *f, int64_t w, uint8_t dtype) {
  while (cx__is(r, w, "const")) w++;
  const cx_word *type = cx__word(r, w);
  for (int64_t k = f->tparam; k < f->tparam + f->ntparam; k++) {
    cx_alias a = r->tparam.data[k];
    if (!cx__same(a.name, a.len, type->at, type->len)) continue;
    for (int64_t j = r->alias_base; j < r->alias.n; j++)
      if (cx__same(r->alias.data[j].name, r->alias.data[j].len, a.name, a.len)) {
        if (r->alias.data[j].dtype != dtype) cx__beyond(r, w, "a template called with two types");
        return;
      }
    a.dtype = dtype;
    if (!TT_VEC_PUSH(&r->alias, a)) cx__no_memory(r);
  }
}

static void parameters(cx_reader *r, const cx_function *f, const cx_value *arg, int n, int64_t call) {
  int k = 0;
  r->at = f->params;
  while (!cx__take(r, ")")) {
    uint8_t dtype;
    int64_t end, w = r->at;
    if (k == n) cx__wrong(r, call, "too few arguments to function '%.*s'", (int)f->len, f->name);
    bind(r, f, w, arg[k].dtype);
    if (!cx__type_at(r, w, &dtype, &end) || dtype >= TT_DTYPE_COUNT) cx__beyond(r, w, "a parameter of another kind");
    if (cx__is(r, end, "&") && says_const(r, w, end)) end++;
    const cx_word *name = cx__word(r, end);
    if (name->kind != 'i') cx__beyond(r, w, "a parameter of another kind");
    cx_var v = {.name = name->at, .len = name->len, .dtype = dtype, .param = -1, .fixed = says_const(r, w, end)};
    v.now = cx__convert(r, arg[k++], dtype, call).id;
    cx__declare(r, v);
    r->at = end + 1;
    if (!cx__is(r, r->at, ")") && !cx__take(r, ",")) cx__beyond(r, w, "a parameter of another kind");
  }
  if (k < n) cx__wrong(r, call, "too many arguments to function '%.*s'", (int)f->len, f->name);
}

cx_value cx__call_user(cx_reader *r, int64_t w, cx_function *f, const cx_value *arg, int n) {
  int64_t index = f - r->function.data, end;
  if (f->active) cx__beyond(r, w, "'%.*s' calls itself", (int)f->len, f->name);
  struct {
    int64_t at, base, gone, answer, vars, aliases, alias_base;
    int inside;
    uint8_t type;
  } up = {r->at, r->base, r->gone, r->answer, r->var.n, r->alias.n, r->alias_base, r->inside, r->type};
  r->base = r->var.n;
  r->alias_base = r->alias.n;
  r->inside = 0;
  f->active = true;
  parameters(r, f, arg, n, w);
  if (!cx__type_at(r, f->head, &r->type, &end) || r->type == CX_VOID || end + 2 != f->params)
    cx__beyond(r, f->head, "'%.*s' gives something else than a number", (int)f->len, f->name);
  r->gone = cx__declare(r, (cx_var){.name = "", .dtype = TT_BOOL, .param = -1, .now = -1});
  r->answer = cx__declare(r, (cx_var){.name = "", .dtype = r->type, .param = -1, .now = -1});
  r->at = f->body;
  block(r);
  if (r->var.data[r->gone].now < 0) cx__beyond(r, w, "'%.*s' returns nothing", (int)f->len, f->name);
  cx_value v = cx__read(r, r->answer);
  r->function.data[index].active = false;
  r->at = up.at;
  r->base = up.base;
  r->gone = up.gone;
  r->answer = up.answer;
  r->var.n = up.vars;
  r->alias.n = up.aliases;
  r->alias_base = up.alias_base;
  r->inside = up.inside;
  r->type = up.type;
  return v;
}
