/*
** Ufuncs with NumPy's keywords, and their methods over axes. What a reduction, a scan or the library does is left to
** it; other operations are folded by the library's loops ("fold"), or, in types that these lack, step by step in the
** graph.
*/
#include "fn/ufunc/methods.h"

#include <stdio.h>
#include <string.h>

#include "base/warn.h"
#include "graph/promote.h"
#include "graph/session.h"

/* The library's tt_scan numbers. */
enum { SCAN_SUM, SCAN_PROD, SCAN_MAX, SCAN_MIN };

const tt_ufunc_info *tt__ufunc_arg(tt_composer *c, const tt_call_frame *f) {
  const char *name = tt__arg_string(c, f, 0, "");
  const tt_ufunc_info *u = c->code == TT_OK ? tt__ufunc_named(name) : NULL;
  if (!u) tt__compose_fail(c, TT_EVALUE, "no ufunc is named '%s'", name);
  return u;
}

tt_array *tt__ufunc_apply(tt_composer *c, const tt_ufunc_info *u, const tt_value *arg) {
  if (u->op < TT_OP_COUNT) return tt__compose_apply(c, u->op, arg, u->nin, TT_DTYPE_NONE);
  return tt__fn_call(c, u->name, arg, u->nin);
}

static tt_array *between(tt_composer *c, const tt_ufunc_info *u, tt_array *a, tt_array *b) {
  if (!a || !b) return NULL;
  tt_value v[2] = {tt_v_array(a), tt_v_array(b)};
  return tt__ufunc_apply(c, u, v);
}

/* ---- the function itself, with keywords */

enum { OUT, WHERE, CASTING, ORDER, DTYPE, SUBOK, SIGNATURE, AXES, AXIS_OF, KEEPDIMS }; /* after the operands */

/* May operand k be cast to `to`? */
static bool may_cast_operand(tt_composer *c, const tt_ufunc_info *u, const tt_value *v, int k, tt_dtype to,
                             const char *rule) {
  bool ok = true;
  char what[24] = "input";
  if (u->nin > 1) snprintf(what, sizeof what, "input %d", k);
  if (c->code == TT_OK) c->code = tt__operand_casts(v, u->nin == 1, to, rule, &ok, c->err);
  if (c->code == TT_OK && !ok)
    tt__compose_fail(c, TT_ETYPE, "Cannot cast ufunc '%s' %s from dtype('%s') to dtype('%s') with casting rule '%s'",
                     u->name, what, tt__dtypes[tt__value_dtype(v)].name, tt__dtypes[to].name, rule);
  return c->code == TT_OK;
}

/*
** Operand k becomes an array of the loop's type. A Python number beside other operands must fit it, as an element that
** is stored; `named`: the type is said of this operand, and then no rule is asked.
*/
static bool cast_operand(tt_composer *c, const tt_ufunc_info *u, tt_value *v, int k, tt_dtype to, const char *rule,
                         bool named) {
  bool number = u->nin > 1 && v->tag != TT_V_ARRAY && v->tag != TT_V_BOOL, whole = tt__is_int(tt__value_dtype(v));
  tt_array *a = NULL;
  if (!(number && named) && !may_cast_operand(c, u, v, k, to, rule)) return false;
  if (number && (named || whole || strcmp(rule, "unsafe") != 0)) {
    tt_scalar s;
    if (c->code == TT_OK) c->code = tt__value_scalar(v, to, &s, c->err);
    if (c->code == TT_OK) a = tt__compose_full(c, to, 0, NULL, tt__scalar_load(to, &s));
  } else {
    a = tt__compose_cast(c, tt__value_as_array(c, v), to);
  }
  if (a) *v = tt_v_array(a);
  return a != NULL;
}

/* How many operands have the type of the loop: exponents stay whole numbers. */
static int in_loop(const tt_ufunc_info *u) { return u->nin - (u->has_exponent && u->nin == 2); }

/* Are operands of the types that it computes in, where the rule asks for that, and complex only where it knows them? */
static bool check_operands(tt_composer *c, const tt_ufunc_info *u, const tt_value *arg, const char *rule) {
  tt_dtype comes, type, loop = TT_DTYPE_NONE;
  bool strict = strcmp(rule, "no") == 0 || strcmp(rule, "equiv") == 0;
  for (int k = 0; k < u->nin; k++)
    if (tt__is_complex(tt__value_dtype(&arg[k])) && !tt_ufunc_loop(u, TT_C128, &comes) && !u->signature) {
      tt__compose_fail(
          c, TT_ETYPE,
          "ufunc '%s' not supported for the input types, and the inputs could not be safely coerced to any "
          "supported types according to the casting rule ''safe''",
          u->name);
      return false;
    }
  if (!strict || c->code != TT_OK) return c->code == TT_OK;
  if ((c->code = tt__result_type(arg, in_loop(u), &type, c->err)) != TT_OK) return false;
  if (tt_ufunc_loop(u, type, &comes)) loop = type; /* signed types, which could hold it, stand before unsigned ones */
  for (int t = 0; t < TT_DTYPE_COUNT && loop == TT_DTYPE_NONE; t++) {
    bool up = tt_ufunc_loop(u, (tt_dtype)t, &comes);
    if (up) c->code = tt__can_cast(type, (tt_dtype)t, "safe", &up, c->err);
    if (up) loop = (tt_dtype)t;
  }
  for (int k = 0; k < in_loop(u) && loop != TT_DTYPE_NONE; k++)
    if (!may_cast_operand(c, u, &arg[k], k, loop, rule)) return false;
  if (in_loop(u) == u->nin || c->code != TT_OK) return c->code == TT_OK;
  bool narrow;
  c->code = tt__can_cast(tt__value_dtype(&arg[1]), TT_I32, "safe", &narrow, c->err);
  return may_cast_operand(c, u, &arg[1], 1, narrow ? TT_I32 : TT_I64, rule);
}

/* dtype= of what has a result of one type: it may name that one, and then says nothing. */
static bool fixed_type(tt_composer *c, const tt_ufunc_info *u, tt_dtype *dtype) {
  bool count = strcmp(u->name, "bitwise_count") == 0, fixed = count || (u->has_exponent && u->nout == 2);
  if (!fixed || *dtype == TT_DTYPE_NONE) return true;
  if (!count || *dtype != TT_U8)
    return tt__compose_fail(c, TT_ETYPE, "No loop matching the specified signature and casting was found for ufunc %s",
                            u->name);
  *dtype = TT_DTYPE_NONE;
  return true;
}

/* Results of a function row in result[], out= and where= left aside. */
static bool run_function(tt_composer *c, const tt_ufunc_info *u, tt_value *arg, tt_dtype dtype, const char *rule,
                         tt_array **result) {
  tt_dtype comes;
  if (!fixed_type(c, u, &dtype)) return false;
  if (dtype == TT_DTYPE_NONE && !check_operands(c, u, arg, rule)) return false;
  if (dtype != TT_DTYPE_NONE && !tt_ufunc_loop(u, dtype, &comes))
    tt__compose_fail(c, TT_ETYPE, "No loop matching the specified signature and casting was found for ufunc %s",
                     u->name);
  for (int k = 0; k < in_loop(u) && dtype != TT_DTYPE_NONE && c->code == TT_OK; k++)
    if (!cast_operand(c, u, &arg[k], k, dtype, rule, false)) return false;
  if (c->code != TT_OK) return false;
  tt_call_frame f = {.arg = arg, .narg = u->nin};
  tt_code code = tt__function_named(u->name)->run(&f, c->err);
  if (code != TT_OK) c->code = code;
  for (int k = 0; k < f.out.n; k++) {
    tt_array *made = tt__compose_keep(c, TT_OK, &f.out.data[k]);
    if (k < u->nout) result[k] = made;
  }
  TT_VEC_FEW_FREE(&f.out);
  return c->code == TT_OK;
}

static bool casts_to_out(tt_composer *c, const tt_ufunc_info *u, tt_array *made, tt_array *out, const char *rule) {
  bool ok = true;
  if (made) c->code = tt__can_cast((tt_dtype)made->dtype, (tt_dtype)out->dtype, rule, &ok, c->err);
  if (!made || c->code != TT_OK) return false;
  if (!ok)
    tt__compose_fail(c, TT_ETYPE,
                     "Cannot cast ufunc '%s' output from dtype('%s') to dtype('%s') with casting rule '%s'", u->name,
                     tt__dtypes[made->dtype].name, tt__dtypes[out->dtype].name, rule);
  return ok;
}

static bool is_shaped(tt_array *a, int rank, const int64_t *len) {
  return a->rank == rank && memcmp(tt__array_len(a), len, sizeof *len * (size_t)rank) == 0;
}

/* out has all of the axes of a result, of which a store would drop those of length 1; `exactly`: and no more. */
static bool has_shape(tt_composer *c, tt_array *out, int rank, const int64_t *len, bool exactly) {
  char have[200], want[200];
  if (exactly ? is_shaped(out, rank, len) : rank <= out->rank) return true;
  tt__shape_text(out->rank, tt__array_len(out), have, sizeof have);
  tt__shape_text(rank, len, want, sizeof want);
  tt__compose_fail(c, TT_EVALUE, "non-broadcastable output operand with shape %s doesn't match the broadcast shape %s",
                   have, want);
  return false;
}

static tt_array *write_out(tt_composer *c, const tt_ufunc_info *u, tt_array *made, tt_array *out, tt_array *where,
                           const char *rule) {
  if (!casts_to_out(c, u, made, out, rule)) return NULL;
  if (where)
    made = tt__compose_where(c, where, tt_v_array(tt__compose_cast(c, made, (tt_dtype)out->dtype)), tt_v_array(out));
  if (!made || !has_shape(c, out, made->rank, tt__array_len(made), false)) return NULL;
  return tt__compose_set(c, out, tt_v_array(made)) ? out : NULL;
}

/*
** Before the first of several results is written: each can be, or none is, and all have one shape, that to which they,
** where= and every out= broadcast.
*/
static bool fit_together(tt_composer *c, const tt_ufunc_info *u, tt_array **made, tt_array *const *out, tt_array *where,
                         const char *rule) {
  tt_array *of[5];
  int n = 0, rank[5], all;
  const int64_t *len[5];
  int64_t whole[TT_MAX_RANK];
  for (int r = 0; r < u->nout; r++) {
    if (out[r] && !casts_to_out(c, u, made[r], out[r], rule)) return false;
    of[n++] = made[r];
    if (out[r]) of[n++] = out[r];
  }
  if (where) of[n++] = where;
  for (int k = 0; k < n; k++) rank[k] = of[k]->rank, len[k] = tt__array_len(of[k]);
  if ((c->code = tt__shape_broadcast(n, rank, len, &all, whole, c->err)) != TT_OK) return false;
  for (int r = 0; r < u->nout; r++) {
    if (out[r] && !has_shape(c, out[r], all, whole, true)) return false;
    if (!out[r] && !is_shaped(made[r], all, whole))
      made[r] = tt__compose_copy(c, tt__compose_broadcast(c, made[r], all, whole));
  }
  return c->code == TT_OK;
}

static tt_array *in_order(tt_composer *c, char order, tt_array *a) {
  if (order == 'C' && a && !tt__array_is_c(a)) return tt__compose_copy(c, a);
  if (order != 'F' || !a || a->rank < 2) return a;
  return tt__compose_turned(c, true, tt__compose_copy(c, tt__compose_transpose(c, a, NULL)));
}

/* out= as one array for each result; NULL: a new one. */
static bool read_out(tt_composer *c, const tt_ufunc_info *u, const tt_value *v, tt_array **out) {
  const tt_value *item = v->tag == TT_V_TUPLE ? v->as.tuple.item : v;
  int64_t n = v->tag == TT_V_TUPLE ? v->as.tuple.n : v->tag == TT_V_ARRAY ? 1 : 0;
  if (v->tag == TT_V_TUPLE && n != u->nout)
    tt__compose_fail(c, TT_EVALUE, "The 'out' tuple must have exactly one entry per ufunc output");
  else if (n && n != u->nout)
    tt__compose_fail(c, TT_ETYPE, "'out' must be a tuple of arrays");
  for (int64_t k = 0; c->code == TT_OK && k < n; k++) {
    if (item[k].tag == TT_V_ARRAY) out[k] = item[k].as.array;
    if (out[k] && out[k]->readonly) tt__compose_fail(c, TT_EVALUE, "output array is read-only");
  }
  return c->code == TT_OK;
}

/* One type of a signature: a dtype, its name, or None. */
static bool one_type(tt_composer *c, const tt_value *v, tt_dtype *out) {
  *out = v->tag == TT_V_DTYPE ? v->as.dtype : v->tag == TT_V_STRING ? tt__dtype_named(v->as.s) : TT_DTYPE_NONE;
  if (*out == TT_DTYPE_NONE && v->tag != TT_V_NONE)
    tt__compose_fail(c, TT_ETYPE, "data type '%s' not understood", v->tag == TT_V_STRING ? v->as.s : "?");
  return c->code == TT_OK;
}

/* "ff->f" or a tuple: the types of operands and results, TT_DTYPE_NONE where any will do. */
static bool read_signature(tt_composer *c, const tt_ufunc_info *u, const tt_value *v, tt_dtype *type) {
  int n = u->nin + u->nout;
  if (v->tag == TT_V_TUPLE) {
    if (v->as.tuple.n != n)
      tt__compose_fail(c, TT_EVALUE, "a type-tuple must be specified of length %d for ufunc '%s'", n, u->name);
    for (int k = 0; k < n && c->code == TT_OK; k++) one_type(c, &v->as.tuple.item[k], &type[k]);
    return c->code == TT_OK;
  }
  const char *s = v->tag == TT_V_STRING ? v->as.s : "", *arrow = strstr(s, "->");
  if (!arrow || arrow - s != u->nin || strlen(arrow + 2) != (size_t)u->nout) {
    tt__compose_fail(c, TT_EVALUE, "a type-string for %s, %d typecode(s) before and %d after the -> sign", u->name,
                     u->nin, u->nout);
    return false;
  }
  for (int k = 0; k < n; k++) {
    char letter[2] = {k < u->nin ? s[k] : arrow[2 + k - u->nin], 0};
    tt_value one = {.tag = TT_V_STRING, .as.s = letter};
    if (!one_type(c, &one, &type[k])) return false;
  }
  return true;
}

/* Has the loop of type t, which gives `comes`, the given type at operand or result k? */
static bool has_at(const tt_ufunc_info *u, int k, tt_dtype t, tt_dtype comes, tt_dtype given) {
  if (given == TT_DTYPE_NONE) return true;
  if (!u->has_exponent || k != (u->nin == 2 ? 1 : 2)) return given == (k < u->nin ? t : comes);
  return given == TT_I32 || (u->nin == 2 && given == TT_I64);
}

/* Operands in the type of the loop that the signature names. */
static bool by_signature(tt_composer *c, const tt_ufunc_info *u, const tt_value *v, tt_value *arg, const char *rule) {
  tt_dtype type[5] = {TT_DTYPE_NONE, TT_DTYPE_NONE, TT_DTYPE_NONE, TT_DTYPE_NONE, TT_DTYPE_NONE}, loop = TT_DTYPE_NONE;
  if (!read_signature(c, u, v, type)) return false;
  for (int t = 0; t < TT_DTYPE_COUNT && loop == TT_DTYPE_NONE; t++) {
    tt_dtype comes;
    bool fits = tt_ufunc_loop(u, (tt_dtype)t, &comes);
    for (int k = 0; k < u->nin + u->nout; k++) fits = fits && has_at(u, k, (tt_dtype)t, comes, type[k]);
    if (fits) loop = (tt_dtype)t;
  }
  if (loop == TT_DTYPE_NONE)
    tt__compose_fail(c, TT_ETYPE, "No loop matching the specified signature and casting was found for ufunc %s",
                     u->name);
  for (int k = 0; k < in_loop(u) && c->code == TT_OK; k++)
    cast_operand(c, u, &arg[k], k, loop, rule, type[k] != TT_DTYPE_NONE);
  return c->code == TT_OK;
}

/* The same of a function with core axes. */
static tt_array *call_core(tt_composer *c, tt_call_frame *f, const tt_ufunc_info *u, tt_value *arg, int k,
                           tt_array *out) {
  const char *rule = tt__arg_string(c, f, k + CASTING, "same_kind");
  tt_core_axes axes;
  tt_array *made[2] = {NULL, NULL};
  if (tt__arg_given(f, k + WHERE))
    return tt__compose_fail(c, TT_ETYPE, "%s() got an unexpected keyword argument 'where'", u->name);
  if (!tt__ufunc_axes_in(c, u, f, k + AXES, arg, &axes)) return NULL;
  tt_dtype type = tt__promote((tt_dtype)arg[0].as.array->dtype, (tt_dtype)arg[1].as.array->dtype);
  if (!run_function(c, u, arg, tt__arg_dtype(c, f, k + DTYPE, type), rule, made)) return NULL;
  made[0] = tt__ufunc_axes_out(c, u, &axes, made[0]);
  return out ? write_out(c, u, made[0], out, NULL, rule)
             : in_order(c, tt__arg_order(c, f, k + ORDER, NULL, "C") == 'F' ? 'F' : 'C', made[0]);
}

/* `arg` may be changed; keywords stand in f from argument k on. */
static tt_array *call_with(tt_composer *c, tt_call_frame *f, const tt_ufunc_info *u, tt_value *arg, int k) {
  tt_array *out[2] = {NULL, NULL}, *made[2] = {NULL, NULL}, *where = NULL;
  const char *rule = tt__arg_string(c, f, k + CASTING, "same_kind");
  char order = tt__arg_order(c, f, k + ORDER, NULL, "K");
  tt_dtype dtype = tt__arg_dtype(c, f, k + DTYPE, TT_DTYPE_NONE);
  bool ok;
  if (c->code == TT_OK) c->code = tt__can_cast(TT_BOOL, TT_BOOL, rule, &ok, c->err);
  if (tt__arg_given(f, k + SUBOK) && f->arg[k + SUBOK].tag != TT_V_BOOL)
    tt__compose_fail(c, TT_ETYPE, "'subok' must be a boolean");
  if (c->code != TT_OK || !read_out(c, u, &f->arg[k + OUT], out)) return NULL;
  where = tt__arg_mask(c, f, k + WHERE);
  if (where && f->arg[k + OUT].tag == TT_V_MISSING)
    tt__warn(TT_WARN_USER,
             "'where' used without 'out', expect unitialized memory in output. If this is intentional, use out=None.");
  if (tt__arg_given(f, k + SIGNATURE)) {
    if (dtype != TT_DTYPE_NONE) return tt__compose_fail(c, TT_ETYPE, "cannot specify both 'signature' and 'dtype'");
    if (!by_signature(c, u, &f->arg[k + SIGNATURE], arg, rule)) return NULL;
  }
  if (u->op < TT_OP_COUNT) {
    tt_apply_options options = {.out = out[0], .where = where, .dtype = dtype, .casting = rule};
    tt_code code = c->code == TT_OK ? tt__apply(u->op, arg, u->nin, &options, &made[0], c->err) : c->code;
    tt_array *a = tt__compose_keep(c, code, &made[0]);
    return out[0] ? a : in_order(c, order, a);
  }
  if (u->signature) return call_core(c, f, u, arg, k, out[0]);
  if (!run_function(c, u, arg, dtype, rule, made)) return NULL;
  if (u->nout > 1 && !fit_together(c, u, made, out, where, rule)) return NULL;
  for (int r = 0; r < u->nout; r++) {
    if (u->nout == 1 && where && !out[r])
      made[r] = tt__compose_where(c, where, tt_v_array(made[r]), tt_v_array(made[r])); /* its shape */
    made[r] = out[r] ? write_out(c, u, made[r], out[r], where, rule) : in_order(c, order, made[r]);
    if (u->nout > 1 && !tt__fn_give(c, f, made[r])) return NULL;
  }
  return u->nout > 1 ? NULL : made[0];
}

static tt_array *ufunc_call(tt_composer *c, tt_call_frame *f) {
  const tt_ufunc_info *u = tt__ufunc_arg(c, f);
  if (!u) return NULL;
  tt_value arg[3] = {f->arg[1].as.tuple.n > 0 ? f->arg[1].as.tuple.item[0] : tt_v_int(0)};
  for (int k = 1; k < u->nin && k < f->arg[1].as.tuple.n; k++) arg[k] = f->arg[1].as.tuple.item[k];
  if (f->arg[1].as.tuple.n != u->nin)
    return tt__compose_fail(c, TT_ETYPE, "%s() takes from %d to %d positional arguments but %lld were given", u->name,
                            u->nin, u->nin + u->nout, (long long)f->arg[1].as.tuple.n);
  if (!u->signature && (tt__arg_given(f, 2 + AXES) || tt__arg_given(f, 2 + AXIS_OF) || tt__arg_given(f, 2 + KEEPDIMS)))
    return tt__compose_fail(c, TT_ETYPE, "%s() got an unexpected keyword argument '%s'", u->name,
                            tt__arg_given(f, 2 + AXES)      ? "axes"
                            : tt__arg_given(f, 2 + AXIS_OF) ? "axis"
                                                            : "keepdims");
  return call_with(c, f, u, arg, 2);
}
TT_HANDLER(ufunc_call)

static tt_array *ufunc_outer(tt_composer *c, tt_call_frame *f) {
  const tt_ufunc_info *u = tt__ufunc_arg(c, f);
  if (!u) return NULL;
  if (u->signature)
    return tt__compose_fail(c, TT_ETYPE, "method outer is not allowed in ufunc with non-trivial signature");
  if (u->nin != 2) return tt__compose_fail(c, TT_EVALUE, "outer product only supported for binary functions");
  tt_array *a = tt__arg_array(c, f, 1), *b = tt__arg_array(c, f, 2);
  int64_t len[TT_MAX_RANK];
  if (!a || !b) return NULL;
  int rank = a->rank + b->rank;
  if (rank > TT_MAX_RANK)
    return tt__compose_fail(c, TT_EVALUE, "maximum supported dimension for an ndarray is currently %d, found %d",
                            TT_MAX_RANK, rank);
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  for (int d = a->rank; d < rank; d++) len[d] = 1;
  a = tt__compose_reshape(c, a, rank, len);
  tt_value arg[2] = {{.tag = TT_V_NONE}, tt_v_array(b)};
  if (!a) return NULL;
  arg[0] = tt_v_array(a);
  return call_with(c, f, u, arg, 3);
}
TT_HANDLER(ufunc_outer)

/* ---- folds: what they have in common */

/* Where the arguments of the three methods stand. */
enum { ARRAY = 1, AXIS = 2, R_DTYPE = 3, R_OUT = 4, R_KEEPDIMS = 5, R_INITIAL = 6, R_WHERE = 7 };

typedef struct fold {
  const tt_ufunc_info *u;
  tt_array *a;
  tt_dtype asked, type; /* dtype= or what stands for it; what is computed and comes out */
} fold;

static bool check_folds(tt_composer *c, const tt_ufunc_info *u, const char *method) {
  if (!u) return false;
  if (u->signature)
    tt__compose_fail(c, TT_EDEVICE, "Reduction not defined on ufunc with signature");
  else if (u->nin != 2)
    tt__compose_fail(c, TT_EVALUE, "%s only supported for binary functions", method);
  else if (u->nout != 1)
    tt__compose_fail(c, TT_EVALUE, "%s only supported for functions returning a single value", method);
  return c->code == TT_OK;
}

/* Results are true or false, whatever comes in, and no other type can be asked for. */
static bool is_truth_op(const tt_ufunc_info *u) { return u->op < TT_OP_COUNT && tt__ops[u->op].cls == TT_CLASS_LOGIC; }

/*
** NumPy's choice: dtype=, else that of an operand which out= has widened, else 64 bits for sums and products of
** integers. What is made is cast into out=, whatever that is.
*/
static void find_asked(tt_composer *c, const tt_call_frame *f, fold *w, int dtype, int out) {
  bool sums = w->u->op == TT_ADD || w->u->op == TT_MUL;
  tt_dtype own = (tt_dtype)w->a->dtype, other = sums ? tt__fn_sum_type(own) : TT_DTYPE_NONE;
  bool widened = !tt__arg_given(f, dtype) && tt__arg_given(f, out) && f->arg[out].tag == TT_V_ARRAY;
  if (widened) {
    tt_dtype both = tt__promote((tt_dtype)f->arg[out].as.array->dtype, own);
    tt_array *a = tt__compose_cast(c, w->a, both);
    if (a) w->a = a;
    other = sums ? both : TT_DTYPE_NONE;
  }
  w->asked = tt__arg_dtype(c, f, dtype, other);
  if (is_truth_op(w->u) && w->asked != TT_DTYPE_NONE && w->asked != TT_BOOL)
    tt__compose_fail(c, TT_ETYPE, "No loop matching the specified signature and casting was found for ufunc %s",
                     w->u->name);
}

/* w->a in the type that is computed. */
static bool convert(tt_composer *c, fold *w) {
  const tt_ufunc_info *u = w->u;
  bool truth = is_truth_op(u);
  tt_types types = {TT_BOOL, TT_BOOL};
  if (w->asked != TT_DTYPE_NONE && !truth) w->a = tt__compose_cast(c, w->a, w->asked);
  if (!w->a) return false;
  if (u->op < TT_OP_COUNT) {
    tt_value v[2] = {tt_v_array(w->a), tt_v_array(w->a)};
    c->code = tt__op_types(u->op, v, 2, TT_DTYPE_NONE, &types, c->err);
  } else { /* what comes out must be able to go in again */
    int64_t none = 0;
    tt_array *empty = tt__compose_empty(c, (tt_dtype)w->a->dtype, 1, &none);
    if ((empty = between(c, u, empty, empty))) types.compute = (tt_dtype)empty->dtype;
    if ((empty = between(c, u, empty, empty))) types.result = (tt_dtype)empty->dtype;
  }
  if (c->code != TT_OK) return false;
  if (types.compute != types.result || (w->asked != TT_DTYPE_NONE && !truth && types.compute != w->asked)) {
    tt__compose_fail(c, TT_ETYPE, "No loop matching the specified signature and casting was found for ufunc %s",
                     u->name);
    return false;
  }
  w->type = types.compute;
  w->a = tt__compose_cast(c, w->a, w->type);
  return w->a != NULL;
}

static bool is_half(tt_dtype t) { return t == TT_F16 || t == TT_BF16; }

/* The type in which the library folds; TT_DTYPE_NONE: it has no loop. */
static tt_dtype library_type(const fold *w) {
  static const tt_scalar zero;
  const void *none[2] = {&zero, &zero};
  tt_scalar out;
  tt_dtype t = is_half(w->type) ? TT_F32 : w->type;
  if (w->u->op == TT_OP_COUNT || !tt__session_elements) return TT_DTYPE_NONE;
  return tt__session_elements(w->u->op, t, t, none, 2, &out, 0) ? t : TT_DTYPE_NONE;
}

static tt_array *library_fold(tt_composer *c, const fold *w, tt_dtype t, tt_array *x, tt_array *mask, bool running) {
  x = tt__compose_cast(c, x, t);
  if (!x) return NULL;
  int64_t n = tt__array_len(x)[0], inner = tt__array_len(x)[1], len[2] = {running ? n : 1, inner};
  tt_lib_attr attr = {.row = tt__lib_row(mask ? "fold_where" : "fold"), .i = {w->u->op, n, inner, running}};
  tt_array *src[2] = {x, mask};
  return tt__compose_cast(c, tt__compose_library(c, &attr, src, mask ? 2 : 1, t, 2, len), w->type);
}

/* The same in the graph; x is [n][inner], n > 0. */
static tt_array *step_by_step(tt_composer *c, const fold *w, tt_array *x, tt_array *mask, bool running) {
  if (!x) return NULL;
  int64_t n = tt__array_len(x)[0];
  tt_array **part = tt__compose_scratch(c, n, sizeof(tt_array *)), *r = tt__compose_slice(c, x, 0, 0, 1, 1);
  for (int64_t k = 1; k < n && part && r; k++) {
    part[k - 1] = r;
    tt_array *next = tt__compose_cast(c, between(c, w->u, r, tt__compose_slice(c, x, 0, k, 1, 1)), w->type);
    if (mask && next)
      next = tt__compose_where(c, tt__compose_slice(c, mask, 0, k, 1, 1), tt_v_array(next), tt_v_array(r));
    r = next;
  }
  if (!part || !r || !running) return r;
  part[n - 1] = r;
  return tt__compose_concat(c, part, n, 0);
}

/* All rows but the first are exponents of powers, and whole numbers have no negative ones. */
static bool have_powers(tt_composer *c, const fold *w, tt_array *x, tt_array *mask) {
  if (w->u->op != TT_POW || tt__dtypes[w->type].kind != 'i' || !x) return true;
  int64_t n = tt__array_len(x)[0];
  if (n < 2 || x->size == 0) return true;
  tt_array *exponents = tt__compose_slice(c, tt__compose_cast(c, x, TT_I64), 0, 1, n - 1, 1);
  if (mask && exponents)
    exponents = tt__compose_where(c, tt__compose_slice(c, mask, 0, 1, n - 1, 1), tt_v_array(exponents), tt_v_int(0));
  const int64_t *least = tt__compose_peek(c, tt__compose_reduce(c, TT_RED_MIN, exponents, 3, false));
  if (least && *least < 0) tt__compose_fail(c, TT_EVALUE, "Integers to negative integer powers are not allowed.");
  return c->code == TT_OK;
}

static tt_array *fold_rows(tt_composer *c, const fold *w, tt_array *x, tt_array *mask, bool running) {
  if (!have_powers(c, w, x, mask)) return NULL;
  tt_dtype t = library_type(w);
  if (t != TT_DTYPE_NONE) return library_fold(c, w, t, x, mask, running);
  return step_by_step(c, w, x, mask, running);
}

/* ---- reduce */

typedef struct reduction {
  fold w;
  uint64_t axes;
  int64_t points; /* that are folded into one */
  bool keep, masked, has_identity;
  tt_value initial; /* TT_V_NONE: none */
} reduction;

/* Functions that choose their own types. */
static bool always_by_function(tt_op op) {
  return op == TT_ADD || op == TT_MUL || op == TT_MAXIMUM || op == TT_MINIMUM;
}

static const char *function_of(const reduction *r) {
  bool truth = r->w.a->dtype == TT_BOOL;
  switch (r->w.u->op) {
    case TT_ADD:
      return "sum";
    case TT_MUL:
      return "prod";
    case TT_MAXIMUM:
      return "max";
    case TT_MINIMUM:
      return "min";
    case TT_LAND:
      return r->initial.tag == TT_V_NONE ? "all" : NULL;
    case TT_LOR:
      return r->initial.tag == TT_V_NONE ? "any" : NULL;
    case TT_AND:
      return truth && r->initial.tag == TT_V_NONE ? "all" : NULL;
    case TT_OR:
      return truth && r->initial.tag == TT_V_NONE ? "any" : NULL;
    default:
      return NULL;
  }
}

/* By the function that the graph has for it; the axes are given as a tuple. */
static tt_array *by_function(tt_composer *c, const tt_call_frame *f, const reduction *r, const char *name) {
  tt_value axis[TT_MAX_RANK], v[7] = {tt_v_array(r->w.a), {.tag = TT_V_TUPLE, .as.tuple = {axis, 0}}};
  const tt_value none = {.tag = TT_V_MISSING}, keep = {.tag = TT_V_BOOL, .as.b = r->keep};
  const tt_value where = r->masked ? f->arg[R_WHERE] : none;
  for (int d = 0; d < r->w.a->rank; d++)
    if (r->axes >> d & 1) axis[v[1].as.tuple.n++] = tt_v_int(d);
  if (r->w.u->op == TT_ADD || r->w.u->op == TT_MUL) {
    v[2] = (tt_value){.tag = TT_V_DTYPE, .as.dtype = r->w.asked};
    v[3] = none, v[4] = keep, v[5] = r->initial, v[6] = where;
    return tt__fn_call(c, name, v, 7);
  }
  v[2] = none, v[3] = keep, v[4] = r->initial, v[5] = where;
  if (r->w.u->op == TT_MAXIMUM || r->w.u->op == TT_MINIMUM) return tt__fn_call(c, name, v, 6);
  v[4] = where;
  return tt__fn_call(c, name, v, 5);
}

/* a with the reduced axes first, as [points][the rest]. */
static tt_array *reduced_first(tt_composer *c, const reduction *r, tt_array *a) {
  int order[TT_MAX_RANK], n = 0;
  for (int first = 1; first >= 0; first--)
    for (int d = 0; a && d < a->rank; d++)
      if ((int)(r->axes >> d & 1) == first) order[n++] = d;
  int64_t flat[2] = {r->points, 1};
  for (int d = 0; a && d < a->rank; d++)
    if (!(r->axes >> d & 1)) flat[1] *= tt__array_len(a)[d];
  return tt__compose_reshape(c, tt__compose_transpose(c, a, order), 2, flat);
}

static tt_array *in_front(tt_composer *c, tt_array *first, tt_array *x) {
  tt_array *part[2] = {first, x};
  return first && x ? tt__compose_concat(c, part, 2, 0) : NULL;
}

static tt_array *by_fold(tt_composer *c, const tt_call_frame *f, reduction *r) {
  tt_array *a = r->w.a, *mask = NULL, *x = reduced_first(c, r, a);
  int64_t len[TT_MAX_RANK], row[2] = {1, x ? tt__array_len(x)[1] : 0};
  int rank = 0;
  if (r->masked) {
    mask = tt__arg_mask(c, f, R_WHERE);
    mask = mask ? reduced_first(c, r, tt__compose_broadcast(c, mask, a->rank, tt__array_len(a))) : NULL;
  }
  if (r->initial.tag == TT_V_NONE && r->has_identity && (r->masked || r->points == 0)) r->initial = r->w.u->identity;
  if (r->initial.tag != TT_V_NONE) {
    tt_array *start = tt__compose_cast(c, tt__value_as_array(c, &r->initial), r->w.type);
    x = in_front(c, start ? tt__compose_broadcast(c, start, 2, row) : NULL, x);
    if (r->masked) mask = in_front(c, tt__compose_full(c, TT_BOOL, 2, row, tt_v_int(1)), mask);
  }
  for (int d = 0; d < a->rank; d++)
    if (!(r->axes >> d & 1) || r->keep) len[rank++] = r->axes >> d & 1 ? 1 : tt__array_len(a)[d];
  if (c->code != TT_OK) return NULL;
  return tt__compose_reshape(c, fold_rows(c, &r->w, x, mask, false), rank, len);
}

static void find_axes(tt_composer *c, const tt_call_frame *f, reduction *r) {
  const tt_value *v = &f->arg[AXIS];
  int rank = r->w.a->rank;
  bool missing = AXIS >= f->narg || v->tag == TT_V_MISSING;
  bool of_scalar = missing || (v->tag == TT_V_INT && (v->as.i == 0 || v->as.i == -1));
  if (rank == 0 && of_scalar)
    r->axes = 0;
  else
    r->axes = missing ? 1 : tt__arg_axes(c, f, AXIS, rank);
  r->points = 1;
  for (int d = 0; d < rank; d++)
    if (r->axes >> d & 1) r->points *= tt__array_len(r->w.a)[d];
  if (__builtin_popcountll(r->axes) > 1 && !tt__ufunc_is_reorderable(r->w.u))
    tt__compose_fail(c, TT_EVALUE, "reduction operation '%s' is not reorderable, so at most one axis may be specified",
                     r->w.u->name);
}

static void find_start(tt_composer *c, const tt_call_frame *f, reduction *r) {
  const tt_ufunc_info *u = r->w.u;
  bool missing = R_INITIAL >= f->narg || f->arg[R_INITIAL].tag == TT_V_MISSING;
  r->masked = tt__arg_mask(c, f, R_WHERE) != NULL;
  if (r->masked && f->arg[R_WHERE].tag == TT_V_ARRAY && f->arg[R_WHERE].as.array->rank > r->w.a->rank)
    tt__compose_fail(c, TT_EVALUE, "input operand has more dimensions than allowed by the axis remapping");
  r->initial = missing ? (tt_value){.tag = TT_V_NONE} : f->arg[R_INITIAL];
  r->has_identity = missing && u->identity.tag != TT_V_NONE;
  if (r->has_identity || r->initial.tag != TT_V_NONE) return;
  if (r->masked)
    tt__compose_fail(
        c, TT_EVALUE,
        "reduction operation '%s' does not have an identity, so to use a where mask one has to specify 'initial'",
        u->name);
  else if (r->points == 0)
    tt__compose_fail(c, TT_EVALUE, "zero-size array to reduction operation %s which has no identity", u->name);
}

static void check_out(tt_composer *c, const tt_call_frame *f, const reduction *r) {
  int rank = r->keep ? r->w.a->rank : r->w.a->rank - __builtin_popcountll(r->axes);
  if (tt__arg_given(f, R_OUT) && f->arg[R_OUT].tag == TT_V_TUPLE)
    tt__compose_fail(c, TT_EVALUE, "The 'out' tuple must have exactly one entry per ufunc output");
  if (!tt__arg_given(f, R_OUT) || f->arg[R_OUT].tag != TT_V_ARRAY || f->arg[R_OUT].as.array->rank == rank) return;
  tt__compose_fail(
      c, TT_EVALUE,
      "output parameter for reduction operation %s has the wrong number of dimensions: Found %d but expected %d",
      r->w.u->name, f->arg[R_OUT].as.array->rank, rank);
}

static tt_array *ufunc_reduce(tt_composer *c, tt_call_frame *f) {
  reduction r = {.w = {.u = tt__ufunc_arg(c, f)}};
  if (!check_folds(c, r.w.u, "reduce") || !(r.w.a = tt__arg_array(c, f, ARRAY))) return NULL;
  r.keep = tt__arg_bool(c, f, R_KEEPDIMS, false);
  find_asked(c, f, &r.w, R_DTYPE, R_OUT);
  if (c->code != TT_OK || (!always_by_function(r.w.u->op) && !convert(c, &r.w))) return NULL;
  find_axes(c, f, &r);
  if (c->code == TT_OK) find_start(c, f, &r);
  if (c->code == TT_OK) check_out(c, f, &r);
  if (c->code != TT_OK) return NULL;
  const char *name = function_of(&r);
  bool extreme = r.w.u->op == TT_MAXIMUM || r.w.u->op == TT_MINIMUM;
  if (extreme && r.w.asked != TT_DTYPE_NONE) r.w.a = tt__compose_cast(c, r.w.a, r.w.asked);
  tt_array *made = !r.w.a ? NULL : name ? by_function(c, f, &r, name) : by_fold(c, f, &r);
  return tt__arg_out_any(c, f, R_OUT, made);
}
TT_HANDLER(ufunc_reduce)

/* ---- accumulate */

/* The one axis of accumulate and reduceat. */
static int one_axis(tt_composer *c, const tt_call_frame *f, int k, tt_array *a, const char *method) {
  bool missing = k >= f->narg || f->arg[k].tag == TT_V_MISSING;
  if (a->rank == 0) tt__compose_fail(c, TT_ETYPE, "cannot %s on a scalar", method);
  if (c->code != TT_OK || missing) return 0;
  uint64_t set = tt__arg_axes(c, f, k, a->rank);
  if (c->code == TT_OK && __builtin_popcountll(set) != 1)
    tt__compose_fail(c, TT_EVALUE, "%s does not allow multiple axes", method);
  return c->code == TT_OK ? __builtin_ctzll(set) : 0;
}

/* The scan that does it, or -1. */
static int scan_of(const fold *w) {
  bool is_truth = w->type == TT_BOOL, is_real = !tt__is_complex(w->type);
  switch (w->u->op) {
    case TT_ADD:
      return SCAN_SUM;
    case TT_MUL:
      return SCAN_PROD;
    case TT_MAXIMUM:
      return is_truth ? SCAN_SUM : is_real ? SCAN_MAX : -1;
    case TT_MINIMUM:
      return is_truth ? SCAN_PROD : is_real ? SCAN_MIN : -1;
    case TT_LOR:
      return SCAN_SUM;
    case TT_LAND:
      return SCAN_PROD;
    case TT_OR:
      return is_truth ? SCAN_SUM : -1;
    case TT_AND:
      return is_truth ? SCAN_PROD : -1;
    default:
      return -1;
  }
}

/* a with one axis first, as [n][the rest]; len: the lengths of the axes in that order. */
static tt_array *axis_first(tt_composer *c, tt_array *a, int axis, int64_t *len) {
  a = tt__compose_move(c, a, axis, 0);
  if (!a) return NULL;
  memcpy(len, tt__array_len(a), sizeof *len * a->rank);
  int64_t flat[2] = {len[0], 1};
  for (int d = 1; d < a->rank; d++) flat[1] *= len[d];
  return tt__compose_reshape(c, a, 2, flat);
}

static tt_array *ufunc_accumulate(tt_composer *c, tt_call_frame *f) {
  fold w = {.u = tt__ufunc_arg(c, f)};
  int64_t len[TT_MAX_RANK];
  if (!check_folds(c, w.u, "accumulate") || !(w.a = tt__arg_array(c, f, ARRAY))) return NULL;
  int rank = w.a->rank, axis = one_axis(c, f, AXIS, w.a, "accumulate");
  find_asked(c, f, &w, R_DTYPE, R_OUT);
  if (c->code != TT_OK || !convert(c, &w)) return NULL;
  int scan = scan_of(&w);
  if (w.a->size == 0) return tt__arg_out_any(c, f, R_OUT, tt__compose_copy(c, w.a));
  if (scan >= 0) {
    int64_t inner = 1;
    memcpy(len, tt__array_len(w.a), sizeof *len * rank);
    for (int d = axis + 1; d < rank; d++) inner *= len[d];
    tt_lib_attr attr = {.row = tt__lib_row("scan"), .i = {scan, len[axis], inner, 0}};
    return tt__arg_out_any(c, f, R_OUT, tt__compose_library(c, &attr, &w.a, 1, w.type, rank, len));
  }
  tt_array *x = axis_first(c, w.a, axis, len), *r = x ? fold_rows(c, &w, x, NULL, true) : NULL;
  return tt__arg_out_any(c, f, R_OUT, tt__compose_move(c, tt__compose_reshape(c, r, rank, len), 0, axis));
}
TT_HANDLER_LAID(ufunc_accumulate, 'W')

/* ---- reduceat */

enum { AT_INDICES = 2, AT_AXIS = 3, AT_DTYPE = 4, AT_OUT = 5 };

static const int64_t *read_indices(tt_composer *c, const tt_call_frame *f, const fold *w, int64_t n, tt_array **out) {
  tt_array *at = tt__arg_array(c, f, AT_INDICES);
  if (at && at->rank != 1)
    return tt__compose_fail(c, TT_EVALUE, "object %s for desired array", at->rank ? "too deep" : "of too small depth"),
           NULL;
  *out = at = tt__compose_cast(c, at, TT_I64);
  const int64_t *p = at ? tt__compose_peek(c, at) : NULL;
  for (int64_t i = 0; p && i < at->size; i++)
    if (p[i] < 0 || p[i] >= n)
      return tt__compose_fail(c, TT_EINDEX, "index %lld out-of-bounds in %s.reduceat [0, %lld)", (long long)p[i],
                              w->u->name, (long long)n),
             NULL;
  return p;
}

/* Part by part, in types that the library's loops lack. */
static tt_array *parts_step_by_step(tt_composer *c, const fold *w, tt_array *x, const int64_t *at, int64_t count) {
  int64_t n = tt__array_len(x)[0];
  tt_array **part = tt__compose_scratch(c, count, sizeof(tt_array *));
  for (int64_t k = 0; part && k < count; k++) {
    int64_t end = k + 1 < count ? at[k + 1] : n;
    tt_array *some = tt__compose_slice(c, x, 0, at[k], end > at[k] ? end - at[k] : 1, 1);
    part[k] =
        w->u->op == TT_ADD ? tt__compose_reduce(c, TT_RED_SUM, some, 1, true) : step_by_step(c, w, some, NULL, false);
    if (!part[k]) return NULL;
  }
  return part ? tt__compose_concat(c, part, count, 0) : NULL;
}

static tt_array *ufunc_reduceat(tt_composer *c, tt_call_frame *f) {
  fold w = {.u = tt__ufunc_arg(c, f)};
  int64_t len[TT_MAX_RANK];
  tt_array *at = NULL, *r = NULL;
  if (!check_folds(c, w.u, "reduceat") || !(w.a = tt__arg_array(c, f, ARRAY))) return NULL;
  int rank = w.a->rank, axis = one_axis(c, f, AT_AXIS, w.a, "reduceat");
  find_asked(c, f, &w, AT_DTYPE, AT_OUT);
  if (c->code != TT_OK || !convert(c, &w)) return NULL;
  const int64_t *p = read_indices(c, f, &w, tt__array_len(w.a)[axis], &at);
  if (c->code != TT_OK) return NULL;
  tt_array *x = axis_first(c, w.a, axis, len);
  if (!x) return NULL;
  int64_t n = len[0], flat[2] = {at->size, tt__array_len(x)[1]};
  tt_dtype t = library_type(&w);
  len[0] = at->size;
  if (flat[0] == 0 || flat[1] == 0) {
    r = tt__compose_empty(c, w.type, 2, flat);
  } else if (t != TT_DTYPE_NONE) {
    tt_lib_attr attr = {.row = tt__lib_row("fold_segments"), .i = {w.u->op, n, flat[1], 0}};
    tt_array *src[2] = {tt__compose_cast(c, x, t), at};
    r = src[0] ? tt__compose_cast(c, tt__compose_library(c, &attr, src, 2, t, 2, flat), w.type) : NULL;
  } else {
    r = parts_step_by_step(c, &w, x, p, at->size);
  }
  return tt__arg_out_any(c, f, AT_OUT, tt__compose_move(c, tt__compose_reshape(c, r, rank, len), 0, axis));
}
TT_HANDLER_LAID(ufunc_reduceat, 'C')
