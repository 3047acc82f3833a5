/*
** Calls of elementwise kernels: as operations of the graph, or as launches of compiled code.
*/
#include <string.h>

#include "launch/expression/custom.h"

enum { MOST = 1 << 30 }; /* elements of one launch */

typedef struct call {
  tt_custom *k;
  const tt_custom_argument *arg; /* n of them: inputs, or all */
  int n;
  int64_t size; /* -1: the arrays say */
  const tt_launch_options *how;
  tt_cx_types types;
} call;

static bool is_number(const tt_custom_argument *o) { return o->what.kind == TT_ARG_VALUE; }
static bool is_array(const tt_custom_argument *o) { return o->what.kind == TT_ARG_ARRAY && o->what.as.array; }

/* ---- as operations of the graph */

static tt_value value_of(const tt_custom_argument *o) {
  if (is_number(o)) return o->what.as.value;
  return is_array(o) ? tt_v_array(o->what.as.array) : (tt_value){TT_V_MISSING, {0}};
}

/* `out`: one for each parameter from number `from` on; NULL: nobody wants them. */
static tt_code record(const call *c, const tt_expression *e, int from, tt_array **out, tt_error *err) {
  tt_value arg[TT_CUSTOM_GRAPH];
  tt_array *made[TT_CUSTOM_GRAPH];
  int n = c->k->signature.n;
  arg[0] = (tt_value){TT_V_MISSING, {0}};
  for (int k = 0; k < n; k++) arg[k] = k < c->n ? value_of(&c->arg[k]) : (tt_value){TT_V_MISSING, {0}};
  TT_TRY(tt__expression_call(e, arg, c->size, made, err));
  TT_TRY(tt__expression_placed(arg, n, made, err));
  for (int k = 0; k < n; k++)
    if (k >= from && out)
      out[k - from] = made[k];
    else
      tt__array_release(made[k]);
  return TT_OK;
}

/* ---- compiled */

typedef struct run {
  tt_custom_call call;
  int rank;
  int64_t len[TT_MAX_RANK], count;
  uint8_t form[TT_CUSTOM_ARGS];
  tt_custom_argument out[TT_CUSTOM_ARGS];
} run;

static bool all_raw(const tt_cx_signature *g) {
  for (int k = 0; k < g->nin; k++)
    if (!g->param[k].is_raw) return false;
  return true;
}

static bool some_raw(const call *c) {
  for (int k = 0; k < c->n; k++)
    if (c->k->signature.param[k].is_raw) return true;
  return false;
}

static tt_code find_shape(const call *c, run *r, tt_error *err) {
  const tt_cx_signature *g = &c->k->signature;
  bool plain[TT_CUSTOM_ARGS], any = false, axes = false;
  for (int k = 0; k < c->n; k++) {
    int rank = 0;
    plain[k] = !g->param[k].is_raw && !is_number(&c->arg[k]) && !tt__custom_missing(&c->arg[k]);
    if (plain[k]) tt__custom_len(&c->arg[k], &rank);
    any |= plain[k];
    axes |= rank > 0;
  }
  if (c->size >= 0) {
    if (axes && !all_raw(g))
      return tt__fail(err, TT_EVALUE, "Specified 'size' can be used only if all of the ndarray are 'raw'.");
    r->rank = 1;
    r->len[0] = r->count = c->size;
    return TT_OK;
  }
  if (!any && (all_raw(g) || some_raw(c))) return tt__fail(err, TT_EVALUE, "Loop size is undecided.");
  return tt__custom_shape(c->arg, plain, c->n, &r->rank, r->len, &r->count, err);
}

/* Those that are given have the shape of the call; the others are made. */
static tt_code find_outputs(const call *c, run *r, tt_array **out, tt_error *err) {
  const tt_cx_signature *g = &c->k->signature;
  char have[200], want[200];
  for (int k = g->nin; k < g->n; k++) {
    tt_custom_argument *o = &r->out[k - g->nin];
    int rank;
    if (k < c->n && !tt__custom_missing(&c->arg[k])) {
      *o = c->arg[k];
      if (is_array(o)) out[k - g->nin] = tt__array_retain(o->what.as.array);
    } else {
      TT_TRY(tt__custom_empty(&r->call, tt__cx_dtype(&c->types, &g->param[k]), r->rank, r->len, &out[k - g->nin], err));
      *o = tt_custom_array(out[k - g->nin]);
    }
    const int64_t *len = tt__custom_len(o, &rank);
    if (g->param[k].is_raw || (rank == r->rank && tt__shape_same(rank, len, r->len))) continue;
    tt__shape_tuple(rank, len, have, sizeof have);
    tt__shape_tuple(r->rank, r->len, want, sizeof want);
    return tt__fail(err, TT_EVALUE, "kernel %s: output '%s' has shape %s, not %s", c->k->text.name, g->param[k].name,
                    have, want);
  }
  return TT_OK;
}

static const tt_custom_argument *operand(const call *c, const run *r, int k) {
  int nin = c->k->signature.nin;
  return k < nin ? &c->arg[k] : &r->out[k - nin];
}

static tt_code find_form(const call *c, run *r, tt_error *err) {
  const tt_cx_signature *g = &c->k->signature;
  for (int k = 0; k < g->n; k++) {
    const tt_custom_argument *o = operand(c, r, k);
    int rank;
    if (g->param[k].is_raw && is_number(o))
      return tt__fail(err, TT_ETYPE, "parameter '%s' is an array, a number is given", g->param[k].name);
    tt__custom_len(o, &rank);
    r->form[k] = g->param[k].is_raw ? (uint8_t)(TT_CX_WHOLE + rank) : is_number(o) ? TT_CX_NUMBER : TT_CX_ADDRESS;
  }
  return TT_OK;
}

/* Inputs in C order, in the shape of the call unless they are raw. */
static tt_code put_operand(const call *c, run *r, int k, tt_error *err) {
  const tt_cx_signature *g = &c->k->signature;
  const tt_custom_argument *o = operand(c, r, k);
  int rank;
  const int64_t *len = tt__custom_len(o, &rank);
  if (k < g->nin && is_array(o)) {
    tt_array *a = o->what.as.array;
    if (!g->param[k].is_raw) TT_TRY(tt__custom_spread(&r->call, &a, r->rank, r->len, err));
    TT_TRY(tt__custom_dense(&r->call, &a, err));
    TT_TRY(tt__custom_put_array(&r->call, a, err));
  } else {
    TT_TRY(tt__custom_put(&r->call, o->what, err));
  }
  if (!g->param[k].is_raw) return TT_OK;
  TT_TRY(tt__custom_put_int(&r->call, tt__custom_size(o), err));
  for (int d = 0; d < rank; d++) TT_TRY(tt__custom_put_int(&r->call, len[d], err));
  return TT_OK;
}

static tt_code run_compiled(const call *c, run *r, tt_array **out, tt_error *err) {
  tt_custom_build *b;
  TT_TRY(find_shape(c, r, err));
  TT_TRY(find_outputs(c, r, out, err));
  TT_TRY(find_form(c, r, err));
  TT_TRY(tt__custom_build_for(c->k, &c->types, r->form, &b, err));
  for (int k = 0; k < c->k->signature.n; k++) TT_TRY(put_operand(c, r, k, err));
  int keep = r->call.narg;
  for (int64_t start = 0; start < r->count; start += MOST) {
    int64_t n = r->count - start < MOST ? r->count - start : MOST;
    TT_TRY(tt__custom_put_int(&r->call, start, err));
    TT_TRY(tt__custom_put_int(&r->call, n, err));
    TT_TRY(tt__custom_put_int(&r->call, r->count, err));
    TT_TRY(tt__custom_launch(&r->call, b->entry[0], (n + TT_CX_BLOCK - 1) / TT_CX_BLOCK, keep, err));
  }
  __atomic_add_fetch(&c->k->launches, 1, __ATOMIC_RELAXED);
  return TT_OK;
}

static tt_code compiled(const call *c, tt_array **out, tt_error *err) {
  const tt_cx_signature *g = &c->k->signature;
  run r;
  if (g->n > TT_CUSTOM_ARGS) return tt__fail(err, TT_ETYPE, "a kernel takes at most %d arguments", TT_CUSTOM_ARGS);
  tt__custom_begin(&r.call, c->k, c->arg, c->n, c->how);
  tt_code code = run_compiled(c, &r, out, err);
  tt__custom_end(&r.call);
  for (int k = 0; k < g->n - g->nin && code != TT_OK; k++) {
    tt__array_release(out[k]);
    out[k] = NULL;
  }
  return code;
}

/* ---- PyCUDA's form */

/* Only vectors that are arrays, and numbers, are for the graph; addresses are used in place. */
static bool is_plain(const call *c) {
  const tt_cx_signature *g = &c->k->signature;
  bool plain = c->n == g->n;
  for (int k = 0; plain && k < c->n; k++) plain = g->param[k].is_raw ? is_array(&c->arg[k]) : is_number(&c->arg[k]);
  return plain;
}

static tt_code run_c(const call *c, tt_custom_call *r, tt_error *err) {
  static const uint8_t form[TT_CUSTOM_ARGS];
  const tt_cx_signature *g = &c->k->signature;
  tt_custom_build *b;
  int64_t n = c->size;
  for (int k = 0; k < c->n && k < g->n && n < 0; k++)
    if (g->param[k].is_raw) n = tt__custom_size(&c->arg[k]);
  if (n < 0) n = 0;
  TT_TRY(tt__custom_build_for(c->k, &c->types, form, &b, err));
  for (int k = 0; k < c->n; k++) TT_TRY(tt__custom_put(r, c->arg[k].what, err));
  TT_TRY(tt__custom_put_int(r, n, err));
  int64_t blocks = n > TT_CX_BLOCK ? (n + TT_CX_BLOCK - 1) / TT_CX_BLOCK : 1;
  return tt__custom_launch(r, b->entry[0], blocks < INT32_MAX ? blocks : INT32_MAX, 0, err);
}

static tt_code call_c(const call *c, tt_error *err) {
  static const uint8_t form[TT_CUSTOM_ARGS];
  tt_custom_reading *reading = NULL;
  tt_custom_call r;
  if (c->k->signature.n > TT_CUSTOM_ARGS)
    return tt__fail(err, TT_ETYPE, "a kernel takes at most %d arguments", TT_CUSTOM_ARGS);
  if (is_plain(c)) TT_TRY(tt__custom_read(c->k, &c->types, form, &reading, err));
  if (reading) return record(c, reading->e, 0, NULL, err);
  tt__custom_begin(&r, c->k, c->arg, c->n, c->how);
  tt_code code = run_c(c, &r, err);
  tt__custom_end(&r);
  __atomic_add_fetch(&c->k->launches, code == TT_OK, __ATOMIC_RELAXED);
  return code;
}

/* ---- the call */

static tt_code check_operands(const call *c, bool *foreign, tt_error *err) {
  const tt_cx_signature *g = &c->k->signature;
  const char *name = c->k->text.name;
  *foreign = false;
  if (c->n != g->nin && c->n != g->n)
    return tt__fail(err, TT_ETYPE, "kernel %s takes %d inputs, or %d arguments with the outputs (%d given)", name,
                    g->nin, g->n, c->n);
  for (int k = 0; k < c->n; k++) {
    const tt_custom_argument *o = &c->arg[k];
    if (k < g->nin ? !is_number(o) && !is_array(o) : is_number(o) || o->what.kind == TT_ARG_BYTES)
      return tt__fail(err, TT_ETYPE, "kernel %s: parameter '%s' is given neither an array nor a number", name,
                      g->param[k].name);
    *foreign |= o->what.kind == TT_ARG_MEMORY;
  }
  return TT_OK;
}

tt_code tt__elementwise_call(tt_custom *k, const tt_custom_argument *arg, int n, int64_t size,
                             const tt_launch_options *how, tt_array **out, tt_error *err) {
  static const uint8_t form[1]; /* readings are told apart by types alone */
  tt_custom_reading *reading = NULL;
  bool foreign;
  call c = {.k = k, .arg = arg, .n = n, .size = size, .how = how};
  if (k->is_reduction) return tt__fail(err, TT_ETYPE, "this kernel is a reduction");
  if (how && how->copied) *how->copied = false;
  if (k->c_form) return call_c(&c, err);
  for (int i = k->signature.nin; i < k->signature.n; i++) out[i - k->signature.nin] = NULL;
  TT_TRY(check_operands(&c, &foreign, err));
  TT_TRY(tt__custom_types(k, arg, n, &c.types, err));
  if (!foreign) TT_TRY(tt__custom_read(k, &c.types, form, &reading, err));
  return reading ? record(&c, reading->e, k->signature.nin, out, err) : compiled(&c, out, err);
}
