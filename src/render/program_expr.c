/*
** Expressions as text. Plain operators where they mean the same as the prelude's functions, which is where the
** compiler vectorises best; the prelude's functions elsewhere.
*/
#include <stdio.h>
#include <string.h>

#include "render/program_int.h"

static const char *suffix(int dtype) { return tt__dtypes[dtype].suffix; }

/* ---- types */

const char *tt__pw_type(tt_pwriter *w, const tt_ptype *t) {
  char text[64];
  if (t->tag == TT_T_SCALAR)
    snprintf(text, sizeof text, "tt_%s", suffix(t->dtype));
  else if (t->tag == TT_T_ARRAY)
    snprintf(text, sizeof text, "A_%s_%d", suffix(t->dtype), t->rank);
  else if (t->tag == TT_T_TUPLE)
    snprintf(text, sizeof text, "T%d", t->id);
  else
    snprintf(text, sizeof text, "tt_b8"); /* a value that nobody looks at */
  char *kept = tt__arena_dup(w->arena, text, strlen(text) + 1);
  if (!kept) w->out->failed = true;
  return kept ? kept : "";
}

void tt__pw_types(tt_pwriter *w) {
  bool seen[TT_DTYPE_COUNT][TT_PROGRAM_RANK + 1] = {{false}};
  for (int64_t i = 0; i < w->p->types.n; i++) {
    const tt_ptype *t = w->p->types.data[i];
    if (t->tag == TT_T_ARRAY && t->layout != 'E' && !seen[t->dtype][t->rank]) {
      seen[t->dtype][t->rank] = true;
      tt__str_addf(w->out, "typedef struct { tt_%s *p;", suffix(t->dtype));
      for (int k = 0; k < t->rank; k++) tt__str_addf(w->out, " tt_i64 n%d;", k);
      for (int k = 0; k < t->rank; k++) tt__str_addf(w->out, " tt_i64 s%d;", k);
      tt__str_addf(w->out, " } A_%s_%d;\n", suffix(t->dtype), t->rank);
    } else if (t->tag == TT_T_TUPLE) {
      bool known = true; /* tuples of array expressions exist while typing only */
      for (int k = 0; k < t->n; k++) {
        const tt_ptype *item = t->item[k];
        known &=
            item->tag == TT_T_SCALAR || item->tag == TT_T_TUPLE || (item->tag == TT_T_ARRAY && item->layout != 'E');
      }
      if (!known) {
        tt__str_addf(w->out, "typedef tt_b8 T%d;\n", t->id);
        continue;
      }
      tt__str_add(w->out, "typedef struct {");
      for (int k = 0; k < t->n; k++) tt__str_addf(w->out, " %s f%d;", tt__pw_type(w, t->item[k]), k);
      tt__str_addf(w->out, "%s } T%d;\n", t->n ? "" : " tt_b8 none;", t->id);
    }
  }
}

void tt__pw_local(tt_pwriter *w, int32_t k, tt_str *out) {
  if (w->again && w->again[k]) {
    tt__str_add(out, "(");
    tt__pw_expr(w, w->again[k], out);
    tt__str_add(out, ")");
  } else if (w->home && w->home[k] == TT_HOME_THREADS)
    tt__str_addf(out, "v%d[t]", (int)k);
  else
    tt__str_addf(out, "v%d", (int)k);
}

/* ---- words */

int tt__pw_from_words(tt_pwriter *w, const tt_ptype *t, const char *word, int at, tt_str *out) {
  int n = 0;
  switch (t->tag) {
    case TT_T_SCALAR:
      tt__str_addf(out, "tt_of_words_%s(%s + %d)", suffix(t->dtype), word, at);
      return tt__ptype_words(t);
    case TT_T_ARRAY:
      tt__str_addf(out, "{(tt_%s *)%s[%d]", suffix(t->dtype), word, at);
      for (int k = 1; k < 1 + 2 * t->rank; k++) tt__str_addf(out, ", %s[%d]", word, at + k);
      tt__str_add(out, "}");
      return 1 + 2 * t->rank;
    case TT_T_TUPLE:
      tt__str_add(out, "{");
      for (int k = 0; k < t->n; k++) {
        if (k) tt__str_add(out, ", ");
        n += tt__pw_from_words(w, t->item[k], word, at + n, out);
      }
      tt__str_add(out, "}");
      return n;
    default:
      tt__str_add(out, "0");
      return 0;
  }
}

int tt__pw_to_words(tt_pwriter *w, const tt_ptype *t, const char *value, const char *word, int at) {
  char part[160];
  int n = 0;
  switch (t->tag) {
    case TT_T_SCALAR:
      tt__pw_line(w, "tt_to_words_%s(%s + %d, %s);", suffix(t->dtype), word, at, value);
      return tt__ptype_words(t);
    case TT_T_ARRAY:
      tt__pw_line(w, "%s[%d] = (tt_i64)%s.p;", word, at, value);
      for (int k = 0; k < t->rank; k++) {
        tt__pw_line(w, "%s[%d] = %s.n%d;", word, at + 1 + k, value, k);
        tt__pw_line(w, "%s[%d] = %s.s%d;", word, at + 1 + t->rank + k, value, k);
      }
      return 1 + 2 * t->rank;
    case TT_T_TUPLE:
      for (int k = 0; k < t->n; k++) {
        snprintf(part, sizeof part, "%s.f%d", value, k);
        n += tt__pw_to_words(w, t->item[k], part, word, at + n);
      }
      return n;
    default:
      return 0;
  }
}

/* ---- constants */

static void put_float(tt_str *out, double f, bool narrow) {
  const char *s = narrow ? "f32" : "f64";
  if (f != f)
    tt__str_addf(out, "TT__NAN_%s", s);
  else if (f - f != 0)
    tt__str_addf(out, "(%sTT__INF_%s)", f < 0 ? "-" : "", s);
  else
    tt__str_addf(out, narrow ? "(%af)" : "(%a)", f);
}

static void put_const(const tt_pexpr *e, tt_str *out) {
  int d = e->type->dtype;
  if (e->type->tag != TT_T_SCALAR) {
    tt__str_add(out, "0");
  } else if (d == TT_F32 || d == TT_F64) {
    put_float(out, e->f[0], d == TT_F32);
  } else if (tt__is_complex((tt_dtype)d)) {
    tt__str_addf(out, "tt_complex_%s(", suffix(d));
    put_float(out, e->f[0], d == TT_C64);
    tt__str_add(out, ", ");
    put_float(out, e->f[1], d == TT_C64);
    tt__str_add(out, ")");
  } else if (tt__is_unsigned((tt_dtype)d)) {
    tt__str_addf(out, "((tt_%s)TT_U64(%llu))", suffix(d), (unsigned long long)e->i);
  } else if (e->i == INT64_MIN) {
    tt__str_add(out, "(-TT_I64(0x7fffffffffffffff) - 1)");
  } else {
    tt__str_addf(out, d == TT_I64 ? "TT_I64(%lld)" : "((tt_i32)%lld)", (long long)e->i);
  }
}

/* ---- operations */

static const char *operator_of(tt_op op) {
  switch (op) {
    case TT_ADD:
      return "+";
    case TT_SUB:
      return "-";
    case TT_MUL:
      return "*";
    case TT_DIV:
      return "/";
    case TT_EQ:
      return "==";
    case TT_NE:
      return "!=";
    case TT_LT:
      return "<";
    case TT_LE:
      return "<=";
    case TT_GT:
      return ">";
    case TT_GE:
      return ">=";
    case TT_AND:
      return "&";
    case TT_OR:
      return "|";
    case TT_XOR:
      return "^";
    default:
      return NULL;
  }
}

/* A struct made in place: C's compound literal, C++'s braces. */
static void put_struct(tt_pwriter *w, const tt_ptype *t, tt_str *out) {
  tt__str_addf(out, w->target == TT_PROGRAM_CUDA ? "(%s" : "((%s)", tt__pw_type(w, t));
}

/* Statements that give a value: GNU C has them as such, C++ as a function that is called at once. */
static const char *begin_value(const tt_pwriter *w) { return w->target == TT_PROGRAM_CUDA ? "([&]() {" : "({"; }
static void end_value(const tt_pwriter *w, int n, tt_str *out) {
  tt__str_addf(out, w->target == TT_PROGRAM_CUDA ? " return r%d; }())" : " r%d; })", n);
}

static void put_call(tt_pwriter *w, const char *name, const char *end, tt_pexpr *const *arg, int n, tt_str *out) {
  bool context = strcmp(end, "_of") == 0; /* the function takes the call along */
  tt__str_addf(out, "%s%s(", name, context ? "" : end);
  if (context) tt__str_add(out, "call");
  for (int k = 0; k < n; k++) {
    if (k || context) tt__str_add(out, ", ");
    tt__pw_expr(w, arg[k], out);
  }
  tt__str_add(out, ")");
}

static void put_binary(tt_pwriter *w, const char *op, const tt_pexpr *a, const tt_pexpr *b, tt_str *out) {
  tt__str_add(out, "(");
  tt__pw_expr(w, a, out);
  tt__str_addf(out, " %s ", op);
  tt__pw_expr(w, b, out);
  tt__str_add(out, ")");
}

static bool put_whole_division(tt_pwriter *w, const tt_pexpr *e, bool checked, tt_str *out) {
  if (e->elem != TT_FLOORDIV && e->elem != TT_MOD) return false;
  const tt_pexpr *a = e->arg[0], *b = e->arg[1];
  bool power = b->op == TT_X_CONST && b->i > 0 && (b->i & (b->i - 1)) == 0;
  if (power && e->elem == TT_MOD) { /* rounding down, this is true of negative numbers too */
    tt__str_add(out, "(");
    tt__pw_expr(w, a, out);
    tt__str_addf(out, " & TT_I64(%lld))", (long long)(b->i - 1));
    return true;
  }
  if (power) {
    tt__str_add(out, "(");
    tt__pw_expr(w, a, out);
    tt__str_addf(out, " >> %d)", __builtin_ctzll((unsigned long long)b->i));
    return true;
  }
  bool safe = checked || (b->op == TT_X_CONST && b->i > 0);
  if (!a->nonneg || !b->nonneg || !safe) return false;
  put_binary(w, e->elem == TT_FLOORDIV ? "/" : "%", a, b, out);
  return true;
}

static void put_elem(tt_pwriter *w, const tt_pexpr *e, bool checked, tt_str *out) {
  tt_op op = (tt_op)e->elem;
  int d = e->arg[0]->type->dtype;
  bool wide = d == TT_I64 || d == TT_U64, real = d == TT_F32 || d == TT_F64, logic = d == TT_BOOL;
  bool compare = tt__ops[op].cls == TT_CLASS_COMPARE;
  bool bits = op == TT_AND || op == TT_OR || op == TT_XOR;
  const char *sign = operator_of(op);
  char name[48], end[8];
  if (op == TT_LNOT) {
    tt__str_add(out, "(!");
    tt__pw_expr(w, e->arg[0], out);
    tt__str_add(out, ")");
    return;
  }
  if (wide && put_whole_division(w, e, checked, out)) return;
  bool plain = sign && (compare        ? !tt__is_complex((tt_dtype)d)
                        : bits         ? wide || logic
                        : op == TT_DIV ? real
                                       : wide || real);
  if (plain) {
    put_binary(w, sign, e->arg[0], e->arg[1], out);
  } else if (op == TT_NEG && (wide || real)) {
    tt__str_add(out, "(-");
    tt__pw_expr(w, e->arg[0], out);
    tt__str_add(out, ")");
  } else if ((op == TT_SHL || op == TT_SHR) && wide && e->arg[1]->op == TT_X_CONST && (uint64_t)e->arg[1]->i < 64) {
    put_binary(w, op == TT_SHL ? "<<" : ">>", e->arg[0], e->arg[1], out);
  } else {
    snprintf(name, sizeof name, "tt_%s", tt__ops[op].lower);
    snprintf(end, sizeof end, "_%s", suffix(d));
    put_call(w, name, end, e->arg, e->n, out);
  }
}

/* x / y that fails where y is 0. */
static void put_divide(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++;
  const char *type = tt__pw_type(w, e->arg[0]->type), *a = tt__pw_text(w, e->arg[0]), *b = tt__pw_text(w, e->arg[1]);
  tt__str_addf(out, "({ const %s a%d = %s, b%d = %s; if (TT_RARELY(b%d == 0)) ", type, n, a, n, b, n);
  tt__pw_fail(w, "TT_EZERODIV", "division by zero", e->line, out);
  char left[16], right[16];
  snprintf(left, sizeof left, "a%d", n);
  snprintf(right, sizeof right, "b%d", n);
  tt_pexpr x = *e->arg[0], y = *e->arg[1], *arg[2] = {&x, &y}, again = *e;
  x.op = y.op = TT_X_STRING; /* stand for the two names */
  x.name = left;
  y.name = right;
  again.arg = arg;
  tt__str_add(out, "; ");
  put_elem(w, &again, true, out);
  tt__str_add(out, "; })");
}

static void put_cast(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  const tt_pexpr *x = e->arg[0];
  if (e->type->tag != TT_T_SCALAR) {
    tt__pw_expr(w, x, out);
    return;
  }
  int from = x->type->dtype, to = e->type->dtype;
  bool half = from == TT_F16 || from == TT_BF16 || to == TT_F16 || to == TT_BF16;
  bool complex = tt__is_complex((tt_dtype)from) || tt__is_complex((tt_dtype)to);
  if (to == TT_BOOL && !half && !complex) {
    tt__str_add(out, "(");
    tt__pw_expr(w, x, out);
    tt__str_add(out, " != 0)");
  } else if (half && !complex) {
    tt__str_addf(out, "tt_cast_%s_%s(", suffix(from), suffix(to));
    tt__pw_expr(w, x, out);
    tt__str_add(out, ")");
  } else if (complex) {
    bool both = tt__is_complex((tt_dtype)from);
    if (both)
      tt__str_addf(out, "tt_cast_%s_%s(", suffix(from), suffix(to));
    else
      tt__str_addf(out, "tt_complex_%s((tt_f64)", suffix(to));
    tt__pw_expr(w, x, out);
    tt__str_add(out, both ? ")" : ", 0)");
  } else if (tt__is_float((tt_dtype)from) && tt__is_int((tt_dtype)to)) {
    tt__str_addf(out, "tt_whole_%s_%s(", suffix(from), suffix(to));
    tt__pw_expr(w, x, out);
    tt__str_add(out, ")");
  } else {
    tt__str_addf(out, "((tt_%s)", suffix(to));
    tt__pw_expr(w, x, out);
    tt__str_add(out, ")");
  }
}

/* ---- arrays */

/* An index that was looked at: the launch or call ends where it is beyond its axis. */
static void put_checked(tt_pwriter *w, const tt_pexpr *e, const char *a, int k, tt_str *out) {
  const char *name = e->arg[0]->op == TT_X_LOCAL ? w->f->locals.data[e->arg[0]->k].name : "array";
  const char *last = strrchr(name, '.'); /* of an inlined function, or a later meaning of the name */
  char plain[64];
  if (last && last[1] && !(last[1] >= '0' && last[1] <= '9')) name = last + 1;
  snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, ".\"\\\n*"), name);
  int n = w->serial++;
  tt__str_addf(out, "({ const tt_i64 q%d = ", n);
  tt__pw_expr(w, e->arg[k + 1], out);
  tt__str_addf(out, ", k%d = q%d < 0 ? q%d + %s.n%d : q%d; if (TT_RARELY((tt_u64)k%d >= (tt_u64)%s.n%d)) { ", n, n, n,
               a, k, n, n, a, k);
  tt__str_addf(out, "call->outside(call, \"%s\", %d, q%d, %s.n%d, %d, %s); %s; } k%d; })", plain, k, n, a, k,
               (int)e->line, w->f->kind == TT_X_KERNEL ? "(const tt_i64[]){bx, by, bz, tx, ty, tz}" : "0",
               tt__pw_leave_text(w), n);
}

static void put_index(tt_pwriter *w, const tt_pexpr *e, const char *a, tt_str *out) {
  int rank = e->arg[0]->type->rank;
  bool dense = e->arg[0]->type->layout == 'C';
  if (rank == 0) tt__str_add(out, "0");
  for (int k = 0; k < rank; k++) {
    if (k) tt__str_add(out, " + ");
    if (w->p->bounds && w->target == TT_PROGRAM_C) {
      put_checked(w, e, a, k, out);
    } else if ((e->wraps >> k & 1) && !tt__pw_is_nonneg(w, e->arg[k + 1])) {
      tt__str_add(out, "tt_wrap(");
      tt__pw_expr(w, e->arg[k + 1], out);
      tt__str_addf(out, ", %s.n%d)", a, k);
    } else {
      tt__pw_expr(w, e->arg[k + 1], out);
    }
    if (!dense || k < rank - 1) tt__str_addf(out, " * %s.s%d", a, k);
  }
}

void tt__pw_place(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  const char *a = tt__pw_text(w, e->arg[0]);
  int access = w->access;
  w->access = 0;
  tt__str_addf(out, w->single ? "TT_TOUCH(&%s.p[" : "%s.p[", a);
  put_index(w, e, a, out);
  if (w->single)
    tt__str_addf(out, "], %d, %d)", access, (int)e->line);
  else
    tt__str_add(out, "]");
}

static void put_view(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++, axis = 0, arg = 1, to = 0, rank = e->arg[0]->type->rank;
  tt__str_addf(out, "%s const %s b%d = ", begin_value(w), tt__pw_type(w, e->arg[0]->type), n);
  tt__pw_expr(w, e->arg[0], out);
  tt__str_addf(out, "; %s r%d; r%d.p = b%d.p;", tt__pw_type(w, e->type), n, n, n);
  for (const char *f = e->form; *f; f++) {
    if (*f == 'n') {
      tt__str_addf(out, " r%d.n%d = 1; r%d.s%d = 0;", n, to, n, to);
      to++;
    } else if (*f == 'i') {
      tt__str_addf(out, " r%d.p += tt_wrap(", n);
      tt__pw_expr(w, e->arg[arg++], out);
      tt__str_addf(out, ", b%d.n%d) * b%d.s%d;", n, axis, n, axis);
      axis++;
    } else {
      const tt_pexpr *const *part = (const tt_pexpr *const *)&e->arg[arg];
      tt__str_addf(out, " { const tt_slice s = tt_slice_of(b%d.n%d", n, axis);
      for (int k = 0; k < 3; k++) {
        bool given = part[k]->type->tag != TT_T_NONE;
        tt__str_addf(out, ", %d, ", given);
        if (given)
          tt__pw_expr(w, part[k], out);
        else
          tt__str_add(out, "0");
      }
      tt__str_addf(out, "); r%d.p += s.start * b%d.s%d; r%d.n%d = s.n; r%d.s%d = s.step * b%d.s%d; }", n, n, axis, n,
                   to, n, to, n, axis);
      arg += 3;
      axis++;
      to++;
    }
  }
  for (; axis < rank; axis++, to++)
    tt__str_addf(out, " r%d.n%d = b%d.n%d; r%d.s%d = b%d.s%d;", n, to, n, axis, n, to, n, axis);
  end_value(w, n, out);
}

/* New memory, or dense memory with new lengths: lengths, then steps from the last axis to the first. */
static void put_dense(tt_pwriter *w, const tt_pexpr *e, int n, int first, tt_str *out) {
  int rank = e->type->rank;
  for (int k = 0; k < rank; k++) {
    tt__str_addf(out, " r%d.n%d = ", n, k);
    tt__pw_expr(w, e->arg[first + k], out);
    tt__str_add(out, ";");
  }
}

static void put_steps(const tt_pexpr *e, int n, tt_str *out) {
  for (int k = e->type->rank - 1; k >= 0; k--) {
    if (k == e->type->rank - 1)
      tt__str_addf(out, " r%d.s%d = 1;", n, k);
    else
      tt__str_addf(out, " r%d.s%d = r%d.s%d * r%d.n%d;", n, k, n, k + 1, n, k + 1);
  }
}

static void put_alloc(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++;
  tt__str_addf(out, "%s %s r%d;", begin_value(w), tt__pw_type(w, e->type), n);
  put_dense(w, e, n, 0, out);
  put_steps(e, n, out);
  tt__str_addf(out, " tt_i64 c%d = sizeof(tt_%s);", n, suffix(e->type->dtype));
  for (int k = 0; k < e->type->rank; k++) tt__str_addf(out, " c%d = tt_extent(c%d, r%d.n%d);", n, n, n, k);
  tt__str_addf(out, " r%d.p = (tt_%s *)call->alloc(call, c%d, %d); if (TT_RARELY(!r%d.p)) ", n, suffix(e->type->dtype),
               n, (int)e->k, n);
  tt__pw_fail(w, "TT_ENOMEM", "out of memory, or a negative length", e->line, out);
  tt__str_add(out, ";");
  end_value(w, n, out);
}

static void put_reshape(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++, rank = e->type->rank, old = e->arg[0]->type->rank;
  tt__str_addf(out, "%s const %s b%d = ", begin_value(w), tt__pw_type(w, e->arg[0]->type), n);
  tt__pw_expr(w, e->arg[0], out);
  tt__str_addf(out, "; %s r%d; r%d.p = b%d.p;", tt__pw_type(w, e->type), n, n, n);
  put_dense(w, e, n, 1, out);
  tt__str_addf(out, " tt_i64 c%d = 1, o%d = 1;", n, n);
  for (int k = 0; k < old; k++) tt__str_addf(out, " c%d *= b%d.n%d;", n, n, k);
  for (int k = 0; k < rank; k++) tt__str_addf(out, " if (r%d.n%d >= 0) o%d *= r%d.n%d;", n, k, n, n, k);
  for (int k = 0; k < rank; k++)
    tt__str_addf(out, " if (r%d.n%d == -1 && o%d > 0) { r%d.n%d = c%d / o%d; o%d = c%d; }", n, k, n, n, k, n, n, n, n);
  tt__str_addf(out, " if (TT_RARELY(o%d != c%d)) ", n, n);
  tt__pw_fail(w, "TT_EVALUE", "cannot reshape to this size", e->line, out);
  tt__str_add(out, ";");
  put_steps(e, n, out);
  end_value(w, n, out);
}

static void put_turn(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++, rank = e->type->rank;
  tt__str_addf(out, "%s const %s b%d = ", begin_value(w), tt__pw_type(w, e->arg[0]->type), n);
  tt__pw_expr(w, e->arg[0], out);
  tt__str_addf(out, "; %s r%d; r%d.p = b%d.p;", tt__pw_type(w, e->type), n, n, n);
  for (int k = 0; k < rank; k++)
    tt__str_addf(out, " r%d.n%d = b%d.n%d; r%d.s%d = b%d.s%d;", n, k, n, rank - 1 - k, n, k, n, rank - 1 - k);
  end_value(w, n, out);
}

static void put_stretch(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++, rank = e->type->rank;
  tt__str_addf(out, "%s const %s b%d = ", begin_value(w), tt__pw_type(w, e->arg[0]->type), n);
  tt__pw_expr(w, e->arg[0], out);
  tt__str_addf(out, "; %s r%d; r%d.p = b%d.p;", tt__pw_type(w, e->type), n, n, n);
  put_dense(w, e, n, 1, out);
  for (int k = 0; k < rank; k++) tt__str_addf(out, " r%d.s%d = b%d.n%d == 1 ? 0 : b%d.s%d;", n, k, n, k, n, k);
  end_value(w, n, out);
}

static void put_slot(tt_pwriter *w, const char *name, const tt_pexpr *e, tt_str *out) {
  const tt_pslot *slot = e->op == TT_X_SHARED ? &w->p->shared.data[e->k] : &w->p->local.data[e->k];
  int64_t step = 1, steps[TT_PROGRAM_RANK];
  for (int k = slot->type->rank - 1; k >= 0; k--) {
    steps[k] = step;
    step *= slot->len[k];
  }
  put_struct(w, e->type, out);
  tt__str_addf(out, "{(tt_%s *)%s%d", suffix(slot->type->dtype), name, (int)e->k);
  for (int k = 0; k < slot->type->rank; k++) {
    if (slot->dynamic)
      tt__str_addf(out, ", (tt_i64)(dynamic / sizeof(tt_%s))", suffix(slot->type->dtype));
    else
      tt__str_addf(out, ", %lld", (long long)slot->len[k]);
  }
  for (int k = 0; k < slot->type->rank; k++) tt__str_addf(out, ", %lld", (long long)steps[k]);
  tt__str_add(out, "})");
}

/* ---- the rest */

static void put_user_call(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  const tt_pfunc *f = w->p->funcs.data[e->k];
  int n = w->serial++;
  bool fails = tt__pw_fails(w, f);
  const char *type = tt__pw_type(w, f->result);
  if (fails) tt__str_addf(out, "({ %s r%d; if (TT_RARELY(", type, n);
  tt__str_addf(out, "tt_f%d(call", (int)e->k);
  if (f->place && w->target == TT_PROGRAM_C) tt__str_add(out, ", tx, ty, tz, bx, by, bz, bdx, bdy, bdz, gdx, gdy, gdz");
  for (int k = 0; k < e->n; k++) {
    tt__str_add(out, ", ");
    tt__pw_expr(w, e->arg[k], out);
  }
  if (fails)
    tt__str_addf(out, ", &r%d))) %s; r%d; })", n, w->f->kind == TT_X_KERNEL || w->in_parfor ? "return" : "return 1", n);
  else
    tt__str_add(out, ")");
}

static void put_atomic(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  static const char *const names[TT_A_COUNT] = {"add", "sub", "max",  "min", "nanmax", "nanmin", "and",
                                                "or",  "xor", "exch", "cas", "inc",    "dec"};
  bool own = e->i && w->target == TT_PROGRAM_C; /* one host thread runs a block */
  w->access = TT_ACCESS_WRITE | TT_ACCESS_ATOMIC | (e->k == TT_A_EXCH ? 0 : TT_ACCESS_UPDATE);
  tt__str_addf(out, "tt_%s_%s_%s(&", own ? "plain" : "atomic", names[e->k], suffix(e->type->dtype));
  tt__pw_place(w, e->arg[0], out);
  for (int k = 1; k < e->n; k++) {
    tt__str_add(out, ", ");
    tt__pw_expr(w, e->arg[k], out);
  }
  tt__str_add(out, ")");
}

static void put_special(tt_pwriter *w, int k, tt_str *out) {
  static const char *const c[TT_S_COUNT] = {"tx",
                                            "ty",
                                            "tz",
                                            "bx",
                                            "by",
                                            "bz",
                                            "bdx",
                                            "bdy",
                                            "bdz",
                                            "gdx",
                                            "gdy",
                                            "gdz",
                                            "((tx + bdx * (ty + bdy * tz)) & 31)"};
  static const char *const cuda[TT_S_COUNT] = {"(tt_i64)threadIdx.x",
                                               "(tt_i64)threadIdx.y",
                                               "(tt_i64)threadIdx.z",
                                               "(tt_i64)blockIdx.x",
                                               "(tt_i64)blockIdx.y",
                                               "(tt_i64)blockIdx.z",
                                               "(tt_i64)blockDim.x",
                                               "(tt_i64)blockDim.y",
                                               "(tt_i64)blockDim.z",
                                               "(tt_i64)gridDim.x",
                                               "(tt_i64)gridDim.y",
                                               "(tt_i64)gridDim.z",
                                               "tt_lane()"};
  tt__str_add(out, w->target == TT_PROGRAM_CUDA ? cuda[k] : c[k]);
}

static void put_choice(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  tt__str_add(out, "(");
  tt__pw_expr(w, e->arg[0], out);
  tt__str_add(out, " ? ");
  tt__pw_expr(w, e->arg[1], out);
  tt__str_add(out, " : ");
  tt__pw_expr(w, e->arg[2], out);
  tt__str_add(out, ")");
}

static void put_part(tt_pwriter *w, const tt_pexpr *e, const char *part, tt_str *out) {
  tt__pw_expr(w, e->arg[0], out);
  tt__str_addf(out, ".%s%d", part, (int)e->k);
}

static void put_hidden(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int at = 0;
  for (int k = 0; k < e->k; k++) at += tt__ptype_words(w->p->globals.data[k]);
  put_struct(w, e->type, out);
  tt__pw_from_words(w, e->type, "TT_HIDDEN_WORDS", at, out);
  tt__str_add(out, ")");
}

static void put_tuple(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  put_struct(w, e->type, out);
  tt__str_add(out, "{");
  for (int k = 0; k < e->n; k++) {
    const tt_ptype *t = e->type->item[k];
    if (k) tt__str_add(out, ", ");
    if (t->tag == TT_T_SCALAR && !tt__is_complex((tt_dtype)t->dtype)) tt__str_addf(out, "(tt_%s)", suffix(t->dtype));
    tt__pw_expr(w, e->arg[k], out);
  }
  tt__str_add(out, "})");
}

void tt__pw_expr(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  if (w->strip && tt__pw_strip_known(w->strip, e, out)) return;
  switch ((tt_pop)e->op) {
    case TT_X_CONST:
      put_const(e, out);
      break;
    case TT_X_LOCAL:
      tt__pw_local(w, e->k, out);
      break;
    case TT_X_CAST:
      put_cast(w, e, out);
      break;
    case TT_X_ELEM:
      put_elem(w, e, false, out);
      break;
    case TT_X_DIVIDE:
      put_divide(w, e, out);
      break;
    case TT_X_SELECT:
      put_choice(w, e, out);
      break;
    case TT_X_ALSO:
    case TT_X_ELSE:
      put_binary(w, e->op == TT_X_ALSO ? "&&" : "||", e->arg[0], e->arg[1], out);
      break;
    case TT_X_LOAD:
      tt__pw_place(w, e, out);
      break;
    case TT_X_VIEW:
      put_view(w, e, out);
      break;
    case TT_X_LEN:
    case TT_X_STEP:
      put_part(w, e, e->op == TT_X_LEN ? "n" : "s", out);
      break;
    case TT_X_RESHAPE:
      put_reshape(w, e, out);
      break;
    case TT_X_TURN:
      put_turn(w, e, out);
      break;
    case TT_X_TUPLE:
      put_tuple(w, e, out);
      break;
    case TT_X_ITEM:
      put_part(w, e, "f", out);
      break;
    case TT_X_CALL:
      put_user_call(w, e, out);
      break;
    case TT_X_HELPER:
      if (strcmp(e->name, "stretch") == 0)
        put_stretch(w, e, out);
      else
        put_call(w, e->name, e->k ? "_of" : "", e->arg, e->n, out);
      break;
    case TT_X_SPECIAL:
      put_special(w, e->k, out);
      break;
    case TT_X_ATOMIC:
      put_atomic(w, e, out);
      break;
    case TT_X_ALLOC:
      put_alloc(w, e, out);
      break;
    case TT_X_SHARED:
      put_slot(w, "shared", e, out);
      break;
    case TT_X_PRIVATE:
      put_slot(w, "local", e, out);
      break;
    case TT_X_GLOBAL:
      put_hidden(w, e, out);
      break;
    case TT_X_STRING:
      tt__str_add(out, e->name);
      break;
  }
}

const char *tt__pw_text(tt_pwriter *w, const tt_pexpr *e) {
  tt_str s = {0};
  tt__pw_expr(w, e, &s);
  char *kept = s.failed ? NULL : tt__arena_dup(w->arena, s.data ? s.data : "", s.len + 1);
  if (!kept) w->out->failed = true;
  tt__str_free(&s);
  return kept ? kept : "";
}
