/*
** Expressions as text. Plain operators where they mean the same as the prelude's functions, which is where the
** compiler vectorises best; the prelude's functions elsewhere.
*/
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "render/proc/proc_int.h"

static const char *suffix(int dtype) { return tt__dtypes[dtype].suffix; }

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

static bool is_product(const tt_pexpr *e) { return e->op == TT_X_ELEM && e->elem == TT_MUL; }

/*
** a * b + c with one rounding, as CUDA's compilers do it with kernels. Here and not by an option of the compiler: the
** functions of the prelude are exact because their sums and products are rounded one by one.
*/
static bool put_contracted(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  if (w->target != TT_PROGRAM_CUDA || (e->elem != TT_ADD && e->elem != TT_SUB)) return false;
  bool first = is_product(e->arg[0]), minus = e->elem == TT_SUB;
  if (!first && !is_product(e->arg[1])) return false;
  const tt_pexpr *product = e->arg[first ? 0 : 1], *other = e->arg[first ? 1 : 0];
  tt__str_addf(out, "TT_FMA_%s(%s(", e->type->dtype == TT_F32 ? "F32" : "F64", minus && !first ? "-" : "");
  tt__pw_expr(w, product->arg[0], out);
  tt__str_add(out, "), ");
  tt__pw_expr(w, product->arg[1], out);
  tt__str_addf(out, ", %s(", minus && first ? "-" : "");
  tt__pw_expr(w, other, out);
  tt__str_add(out, "))");
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
  if (plain && real && put_contracted(w, e, out)) return;
  if (plain && real && op == TT_MUL && w->target == TT_PROGRAM_C) {
    tt__str_add(out, "TT_PRODUCT");
    put_binary(w, sign, e->arg[0], e->arg[1], out);
  } else if (plain) {
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

/* An array whose steps are counted in bytes from here on. */
static void put_loose(tt_pwriter *w, const tt_pexpr *x, tt_str *out) {
  int n = w->serial++;
  tt__str_addf(out, "%s %s r%d = ", tt__pw_begin_value(w), tt__pw_type_in(w, x->type, tt__pw_space(w, x)), n);
  tt__pw_expr(w, x, out);
  tt__str_add(out, ";");
  for (int k = 0; k < x->type->rank; k++)
    tt__str_addf(out, " r%d.s%d *= (tt_i64)sizeof(tt_%s);", n, k, suffix(x->type->dtype));
  tt__pw_end_value(w, n, out);
}

static void put_cast(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  const tt_pexpr *x = e->arg[0];
  if (e->type->tag == TT_T_ARRAY && e->type->layout == 'P' && x->type->layout != 'P') {
    put_loose(w, x, out);
    return;
  }
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
    else if (half) /* a half is its bits */
      tt__str_addf(out, "tt_complex_%s(tt_cast_%s_f64(", suffix(to), suffix(from));
    else
      tt__str_addf(out, "tt_complex_%s((tt_f64)", suffix(to));
    tt__pw_expr(w, x, out);
    tt__str_add(out, both ? ")" : half ? "), 0)" : ", 0)");
  } else if (tt__is_float((tt_dtype)from) && tt__is_int((tt_dtype)to)) {
    tt__str_addf(out, "tt_%s_%s_%s(", w->back ? "kept" : "whole", suffix(from), suffix(to));
    tt__pw_expr(w, x, out);
    tt__str_add(out, ")");
  } else {
    tt__str_addf(out, "((tt_%s)", suffix(to));
    tt__pw_expr(w, x, out);
    tt__str_add(out, ")");
  }
}

/* ---- the rest */

void tt__pw_local(tt_pwriter *w, int32_t k, tt_str *out) {
  assert(k >= 0 && k < w->f->locals.n);
  if (w->remat && w->remat[k]) {
    tt__str_add(out, "(");
    tt__pw_expr(w, w->remat[k], out);
    tt__str_add(out, ")");
  } else if (w->storage && w->storage[k] == TT_STORAGE_THREADS)
    tt__str_addf(out, "v%d[t]", (int)k);
  else if (w->low_for == k + 1)
    tt__str_addf(out, "low%d", (int)k);
  else
    tt__str_addf(out, "v%d", (int)k);
}

/* A call of a function that yields. */
static void put_new_generator(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  int n = w->serial++;
  tt__str_addf(out, "({ tt_list *r%d = tt_g%d(call", n, (int)e->k);
  for (int k = 0; k < e->n; k++) {
    tt__str_add(out, ", ");
    tt__pw_expr(w, e->arg[k], out);
  }
  tt__str_addf(out, "); if (TT_RARELY(!r%d)) %s; r%d; })", n, tt__pw_leave_text(w), n);
}

static void put_user_call(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  if (e->op != TT_X_CALL) {
    tt__pw_next(w, e, out);
    return;
  }
  const tt_pfunc *f = w->p->funcs.data[e->k];
  int n = w->serial++;
  if (f->yields) {
    put_new_generator(w, e, out);
    return;
  }
  bool fails = tt__pw_fails(w, f);
  const char *type = tt__pw_type(w, f->result);
  if (fails) tt__str_addf(out, "({ %s r%d; if (TT_RARELY(", type, n);
  tt__str_addf(out, "tt_f%lld(call", (long long)tt__pw_variant(w, e));
  if (f->place && w->target == TT_PROGRAM_C) tt__str_add(out, ", tx, ty, tz, bx, by, bz, bdx, bdy, bdz, gdx, gdy, gdz");
  for (int k = 0; k < e->n; k++) {
    tt__str_add(out, ", ");
    tt__pw_expr(w, e->arg[k], out);
  }
  if (fails)
    tt__str_addf(out, ", &r%d))) %s; r%d; })", n, tt__pw_leave_text(w), n);
  else
    tt__str_add(out, ")");
}

static void put_atomic(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  static const char *const names[TT_A_COUNT] = {"add", "sub", "max",  "min", "nanmax", "nanmin", "and",
                                                "or",  "xor", "exch", "cas", "inc",    "dec"};
  bool own = e->i && w->target == TT_PROGRAM_C; /* one host thread runs a block */
  w->access = TT_ACCESS_WRITE | TT_ACCESS_ATOMIC | (e->k == TT_A_EXCH ? 0 : TT_ACCESS_UPDATE);
  tt__str_addf(out, "tt_%s_%s_%s(&", own ? "plain" : tt__pw_atomic_word(w, e), names[e->k], suffix(e->type->dtype));
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
  if (w->target == TT_PROGRAM_OPENCL) {
    static const char *const asked[] = {"local_id", "group_id", "local_size", "num_groups"};
    assert(k < TT_S_LANE);
    tt__str_addf(out, "((tt_i64)get_%s(%d))", asked[k / 3], k % 3);
  } else {
    tt__str_add(out, w->target == TT_PROGRAM_CUDA ? cuda[k] : c[k]);
  }
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

static void put_tuple(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  tt__pw_struct(w, e->type, TT_SPACE_GLOBAL, out);
  tt__str_add(out, "{");
  for (int k = 0; k < e->n; k++) {
    const tt_ptype *t = e->type->item[k];
    if (k) tt__str_add(out, ", ");
    if (t->tag == TT_T_SCALAR && !tt__is_complex((tt_dtype)t->dtype)) tt__str_addf(out, "(tt_%s)", suffix(t->dtype));
    tt__pw_expr(w, e->arg[k], out);
  }
  tt__str_add(out, "})");
}

/* The words of a list's item. */
const char *tt__pw_list_place(tt_pwriter *w, const tt_pexpr *e) {
  tt_str place = {0};
  tt__str_add(&place, "(");
  tt__pw_expr(w, e->arg[0], &place);
  tt__str_add(&place, ")->w + ");
  tt__pw_expr(w, e->arg[1], &place);
  tt__str_addf(&place, " * %d", tt__ptype_words(e->type));
  char *kept = place.failed ? NULL : tt__arena_dup(w->arena, place.data, place.len + 1);
  if (!kept) w->out->failed = true;
  tt__str_free(&place);
  return kept ? kept : "";
}

static void put_item(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  char word[16];
  snprintf(word, sizeof word, "w%d", w->serial++);
  tt__str_addf(out, "({ const tt_i64 *%s = %s; ", word, tt__pw_list_place(w, e));
  bool parts = e->type->tag == TT_T_ARRAY || e->type->tag == TT_T_TUPLE;
  if (parts) tt__pw_struct(w, e->type, TT_SPACE_GLOBAL, out);
  tt__pw_from_words(w, e->type, word, 0, out);
  tt__str_add(out, parts ? "); })" : "; })");
}

static void put_list(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  if (e->op == TT_X_LIST) {
    bool list = strchr("ltwj", e->type->layout) != NULL;
    tt__str_addf(out, "tt_%s_new(call, %d)", list ? "list" : "dict", tt__ptype_words(e->type->item[0]));
  } else if (e->op == TT_X_COUNT) {
    tt__str_addf(out, "(%s)->n", tt__pw_text(w, e->arg[0]));
  } else if (e->op == TT_X_RESIZE) {
    tt__str_addf(out, "tt_list_resize(call, %s, %s, %d)", tt__pw_text(w, e->arg[0]), tt__pw_text(w, e->arg[1]),
                 tt__ptype_words(e->arg[0]->type->item[0]));
  } else {
    put_item(w, e, out);
  }
}

static void put_helper(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  if (strcmp(e->name, "stretch") == 0 || strcmp(e->name, "recast") == 0)
    tt__pw_array_expr(w, e, out);
  else
    put_call(w, e->name, e->k ? "_of" : "", e->arg, e->n, out);
}

void tt__pw_expr(tt_pwriter *w, const tt_pexpr *e, tt_str *out) {
  assert(e && e->type);
  if (w->bounds && tt__pw_bounds_known(w->bounds, e, out)) return;
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
    case TT_X_LEN:
    case TT_X_STEP:
      put_part(w, e, e->op == TT_X_LEN ? "n" : "s", out);
      break;
    case TT_X_ADDRESS:
      tt__str_add(out, "((tt_i64)");
      tt__pw_expr(w, e->arg[0], out);
      tt__str_add(out, ".p)");
      break;
    case TT_X_TUPLE:
      put_tuple(w, e, out);
      break;
    case TT_X_ITEM:
      put_part(w, e, "f", out);
      break;
    case TT_X_LIST:
    case TT_X_COUNT:
    case TT_X_RESIZE:
    case TT_X_AT:
      put_list(w, e, out);
      break;
    case TT_X_CALL:
    case TT_X_NEXT:
    case TT_X_YIELDED:
      put_user_call(w, e, out);
      break;
    case TT_X_HELPER:
      put_helper(w, e, out);
      break;
    case TT_X_SPECIAL:
      put_special(w, e->k, out);
      break;
    case TT_X_ATOMIC:
      put_atomic(w, e, out);
      break;
    case TT_X_VIEW:
    case TT_X_RESHAPE:
    case TT_X_TURN:
    case TT_X_ALLOC:
    case TT_X_SHARED:
    case TT_X_PRIVATE:
    case TT_X_GLOBAL:
      tt__pw_array_expr(w, e, out);
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
