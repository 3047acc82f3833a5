/*
** axes=, axis= and keepdims= of ufuncs with core axes: operands with these moved to their end before, results with
** theirs moved from there after.
*/
#include <string.h>

#include "fn/ufunc/methods.h"

/* How many core axes operand k of a signature has ("(n?,k),(k,m?)->(n?,m?)"), and how many of them may be missing. */
static int core_of(const char *signature, int k, int *optional) {
  const char *s = signature;
  int n = 0;
  *optional = 0;
  for (; k > 0; k--) s = strchr(s + 1, '(');
  for (s++; *s != ')'; s++) {
    n += *s == ',';
    *optional += *s == '?';
  }
  return s[-1] == '(' ? 0 : n + 1;
}

static int operands(const tt_ufunc_info *u) { return u->nin + u->nout; }

/* Vectors lack what is optional, and so does what comes of them. */
static void count_core(const tt_ufunc_info *u, tt_array *const *a, tt_core_axes *x) {
  int optional, missing = 0;
  for (int k = 0; k < u->nin; k++) {
    x->n[k] = core_of(u->signature, k, &optional);
    if (a[k]->rank < x->n[k] && optional) x->n[k] -= optional, missing += optional;
  }
  for (int k = u->nin; k < operands(u); k++) x->n[k] = core_of(u->signature, k, &optional) - missing;
}

/* One entry of axes=, as it stands there: a number for a single axis, or a tuple. */
static bool read_entry(tt_composer *c, const tt_ufunc_info *u, int k, const tt_value *v, tt_core_axes *x) {
  tt_call_frame one = {.arg = v, .narg = 1};
  int n = tt__arg_ints(c, &one, 0, x->axis[k], TT_MAX_RANK);
  if (c->code != TT_OK || n == x->n[k]) return c->code == TT_OK;
  if (v->tag == TT_V_TUPLE)
    tt__compose_fail(c, TT_EAXIS,
                     "%s: operand %d has %d core dimensions, but %d dimensions are specified by axes tuple.", u->name,
                     k, x->n[k], n);
  else
    tt__compose_fail(c, TT_EAXIS, "%s: operand %d has %d core dimensions, but the axes item is a single integer.",
                     u->name, k, x->n[k]);
  return false;
}

static bool read_axes(tt_composer *c, const tt_ufunc_info *u, const tt_value *v, tt_core_axes *x) {
  if (v->tag != TT_V_TUPLE) {
    tt__compose_fail(c, TT_ETYPE, "axes should be a list.");
    return false;
  }
  int64_t n = v->as.tuple.n;
  x->given = n == operands(u) ? 3 : 2;
  bool short_list = n == u->nin && x->n[u->nin] == 0;
  if (x->kept) x->n[u->nin] = 1;
  if (n != operands(u) && !short_list) {
    tt__compose_fail(
        c, TT_EVALUE,
        "axes should be a list with an entry for all %d inputs and outputs; entries for outputs can only be "
        "omitted if none of them has core axes.",
        operands(u));
    return false;
  }
  for (int k = 0; k < n; k++)
    if (!read_entry(c, u, k, &v->as.tuple.item[k], x)) return false;
  return true;
}

static bool single_core(tt_composer *c, const tt_ufunc_info *u, const char *manner) {
  if (strcmp(u->signature, "(n),(n)->()") == 0) return true;
  if (strcmp(manner, "axis") == 0)
    tt__compose_fail(c, TT_ETYPE,
                     "%s: axis can only be used with a single shared core dimension, as its signature %s %s", u->name,
                     u->signature, "has not");
  else
    tt__compose_fail(
        c, TT_ETYPE,
        "%s does not support keepdims: its signature %s requires output 0 to have core dimensions, but "
        "keepdims can only be used when all inputs have the same number of core dimensions and all outputs "
        "have no core dimensions.",
        u->name, u->signature);
  return false;
}

/* Axes in range, each once. */
static bool normalize(tt_composer *c, int rank, int n, int k, int64_t *axis) {
  for (int i = 0; i < n; i++) {
    int64_t raw = axis[i];
    int found = 0;
    if ((c->code = tt__shape_axis(raw, rank, &found, c->err)) != TT_OK) return false;
    axis[i] = found;
    for (int j = 0; j < i; j++)
      if (axis[j] == found) tt__compose_fail(c, TT_EVALUE, "axes item %d has value %lld repeated", k, (long long)raw);
  }
  return c->code == TT_OK;
}

static tt_array *axes_last(tt_composer *c, tt_array *a, int n, const int64_t *axis) {
  int order[TT_MAX_RANK], m = 0;
  bool core[TT_MAX_RANK] = {false};
  for (int i = 0; i < n; i++) core[axis[i]] = true;
  for (int d = 0; d < a->rank; d++)
    if (!core[d]) order[m++] = d;
  for (int i = 0; i < n; i++) order[m++] = (int)axis[i];
  return tt__compose_transpose(c, a, order);
}

bool tt__ufunc_axes_in(tt_composer *c, const tt_ufunc_info *u, const tt_call_frame *f, int k, tt_value *arg,
                       tt_core_axes *x) {
  tt_array *a[2];
  bool axes = tt__arg_given(f, k), axis = tt__arg_given(f, k + 1);
  *x = (tt_core_axes){.kept = tt__arg_bool(c, f, k + 2, false)};
  x->axis[u->nin][0] = -1; /* where an axis is kept that nobody places */
  for (int i = 0; i < u->nin; i++) {
    if (!(a[i] = tt__value_as_array(c, &arg[i]))) return false;
    arg[i] = tt_v_array(a[i]);
  }
  if (axes && axis) tt__compose_fail(c, TT_ETYPE, "cannot specify both 'axis' and 'axes'");
  if (c->code != TT_OK || (axis && !single_core(c, u, "axis")) || (x->kept && !single_core(c, u, "keepdims")))
    return false;
  count_core(u, a, x);
  if (axes && !read_axes(c, u, &f->arg[k], x)) return false;
  if (x->kept) x->n[u->nin] = 1;
  if (axis) {
    x->given = 3;
    for (int i = 0; i < operands(u); i++) x->axis[i][0] = tt__arg_int(c, f, k + 1, 0);
  }
  for (int i = 0; i < u->nin && x->given && c->code == TT_OK; i++) {
    if (a[i]->rank < x->n[i]) continue; /* too few: the function's own row says so */
    if (!normalize(c, a[i]->rank, x->n[i], i, x->axis[i])) return false;
    if (!(a[i] = axes_last(c, a[i], x->n[i], x->axis[i]))) return false;
    arg[i] = tt_v_array(a[i]);
  }
  return c->code == TT_OK;
}

tt_array *tt__ufunc_axes_out(tt_composer *c, const tt_ufunc_info *u, tt_core_axes *x, tt_array *made) {
  int k = u->nin, n = x->n[k], order[TT_MAX_RANK], m = 0;
  int64_t at[TT_MAX_RANK];
  if (made && x->kept) made = tt__compose_expand(c, made, made->rank);
  if (!made || n == 0 || (x->given < 3 && !x->kept)) return made;
  memcpy(at, x->axis[k], sizeof *at * (size_t)n);
  if (!normalize(c, made->rank, n, k, at)) return NULL;
  for (int d = 0; d < made->rank; d++) {
    int from = -1;
    for (int i = 0; i < n; i++)
      if (at[i] == d) from = made->rank - n + i;
    order[d] = from < 0 ? m++ : from;
  }
  return tt__compose_transpose(c, made, order);
}
