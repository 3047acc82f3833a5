/*
** Running handlers; see fn.h.
*/
#include "fn/fn.h"

#include "base/warn.h"
#include "graph/order.h"
#include "graph/tape.h"

bool tt__fn_give(tt_composer *c, tt_call_frame *f, tt_array *a) {
  if (!a || c->code != TT_OK) return false;
  if (!TT_VEC_FEW_PUSH(&f->out, a)) {
    tt__compose_fail(c, TT_ENOMEM, "out of memory");
    return false;
  }
  tt__array_retain(a);
  return true;
}

/* Is the result what the caller handed in, or a view of it? */
static bool is_given(const tt_call_frame *f, const tt_array *a) {
  for (int k = 0; k < f->narg; k++) {
    const tt_value *v = &f->arg[k];
    if (v->tag == TT_V_TUPLE && v->as.tuple.n == 1) v = v->as.tuple.item; /* out=(a,) */
    if (v->tag == TT_V_ARRAY && v->as.array->storage == a->storage) return true;
  }
  return false;
}

/* Results that are no array of the caller's get a history where elements that have one were looked at. */
static void follow_looks(tt_composer *c, tt_call_frame *f) {
  for (int64_t k = 0; k < f->out.n && c->looked.n > 0 && c->code == TT_OK; k++) {
    tt_array *out = f->out.data[k];
    if (is_given(f, out) || !tt__compose_follow_looks(c, &out, 1) || out == f->out.data[k]) continue;
    tt__array_release(f->out.data[k]);
    f->out.data[k] = tt__array_retain(out);
  }
}

tt_code tt__fn_run(tt_call_frame *f, tt_fn_body body, const char *name, tt_error *err) {
  tt_error local; /* not cleared: it is larger than all else of a small call */
  if (!err) {
    local.code = TT_OK;
    err = &local;
  }
  tt_composer c = {.err = err, .name = name};
  tt_array *a = body(&c, f);
  if (c.code == TT_OK && f->out.n == 0) {
    if (a)
      tt__fn_give(&c, f, a);
    else if (!f->tuple && !f->none)
      tt__compose_fail(&c, TT_EINTERNAL, "a function gave no result");
  }
  follow_looks(&c, f);
  if (c.code != TT_OK)
    while (f->out.n > 0) tt__array_release(f->out.data[--f->out.n]);
  tt__compose_end(&c);
  return c.code;
}

/* The order in which NumPy's iterator walks all operands. */
static void walked(const tt_call_frame *f, int rank, int *axes) {
  tt_array *operand[4];
  int n = 0;
  for (int k = 0; k < f->narg && n < 4; k++)
    if (f->arg[k].tag == TT_V_ARRAY && f->arg[k].as.array->rank <= rank) operand[n++] = f->arg[k].as.array;
  tt__order_walk(operand, n, rank, axes);
}

static tt_code lay(const tt_call_frame *f, char order, tt_array **a, tt_error *err) {
  int axes[TT_MAX_RANK], at = 0;
  while (at < f->narg && f->arg[at].tag != TT_V_ARRAY) at++;
  tt_array *like = at < f->narg && f->arg[at].as.array->rank >= 2 ? f->arg[at].as.array : NULL;
  if (order == 'W')
    walked(f, (*a)->rank, axes);
  else if (like && order == 'A')
    tt__order_of(*a, tt__array_is_f(like) && !tt__array_is_c(like) ? 'F' : 'C', axes);
  else
    tt__order_of(like && like->rank == (*a)->rank ? like : *a, like ? order : 'C', axes);
  tt_array *ordered = tt__array_ordered(*a, axes, err);
  bool lies = ordered && tt__array_is_c(ordered) && !(*a)->readonly;
  tt__array_release(ordered);
  if (lies || is_given(f, *a)) return TT_OK;
  tt_node *n = ordered ? tt__array_node(*a, err) : NULL;
  tt_array *laid = n ? tt__array_laid(n, axes, err) : NULL;
  tt__node_release(n);
  if (!laid) return TT_ENOMEM;
  tt__array_release(*a);
  *a = laid;
  return TT_OK;
}

tt_code tt__fn_run_laid(tt_call_frame *f, tt_fn_body body, const char *name, char order, tt_error *err) {
  TT_TRY(tt__fn_run(f, body, name, err));
  for (int64_t k = 0; k < f->out.n; k++) {
    tt_code code = lay(f, order, &f->out.data[k], err);
    if (code == TT_OK) continue;
    while (f->out.n > 0) tt__array_release(f->out.data[--f->out.n]);
    return code;
  }
  return TT_OK;
}

tt_array *tt__fn_call(tt_composer *c, const char *name, const tt_value *arg, int n) {
  if (c->code != TT_OK) return NULL;
  tt_call_frame f = {.arg = arg, .narg = n};
  tt_array *a = NULL;
  tt_code code = tt__function_named(name)->run(&f, c->err);
  if (code == TT_OK) a = f.out.data[--f.out.n];
  while (f.out.n > 0) tt__array_release(f.out.data[--f.out.n]);
  TT_VEC_FEW_FREE(&f.out);
  return tt__compose_keep(c, code, &a);
}

tt_array *tt__fn_root(tt_composer *c, tt_array *sum) {
  if (!sum || !tt__is_taped(sum->storage->node)) return tt__compose_op1(c, TT_SQRT, sum);
  tt_array *none = tt__compose_opi(c, TT_EQ, sum, 0);
  tt_array *some = none ? tt__compose_where(c, none, tt_v_int(1), tt_v_array(sum)) : NULL;
  tt_array *root = some ? tt__compose_op1(c, TT_SQRT, some) : NULL;
  return root ? tt__compose_where(c, none, tt_v_int(0), tt_v_array(root)) : NULL;
}

tt_value tt__fn_fill_value(tt_value v, tt_dtype dtype) {
  if (v.tag != TT_V_COMPLEX || tt__is_complex(dtype) || dtype == TT_BOOL) return v;
  tt__warn_discarded();
  return tt_v_float(v.as.z.re);
}
