/*
** Calls of reductions given as expressions: as operations of the graph, or as launches of
** compiled code, which turns its inputs so that what is reduced comes last.
*/
#include "launch/expression/custom.h"

enum { MOST_ROWS = 1 << 30, MOST_BLOCKS = INT32_MAX }; /* of one launch */

typedef struct call {
  tt_custom *k;
  const tt_custom_argument *arg; /* inputs */
  tt_custom_argument out;        /* missing: to be made */
  const int *axis;
  int naxis;
  bool keepdims;
  const tt_launch_options *how;
  tt_cx_types types;
  uint8_t form[TT_CUSTOM_ARGS];
} call;

static bool is_number(const tt_custom_argument *o) { return o->what.kind == TT_ARG_VALUE; }

/* The axes as a set of bits. */
static tt_code find_axes(const call *c, int rank, uint64_t *set, tt_error *err) {
  *set = 0;
  if (!c->axis) *set = rank ? ~UINT64_C(0) >> (64 - rank) : 0;
  for (int i = 0; c->axis && i < c->naxis; i++) {
    int at;
    TT_TRY(tt__shape_axis(c->axis[i], rank, &at, err));
    if (*set >> at & 1) return tt__fail(err, TT_EVALUE, "duplicate value in 'axis'");
    *set |= UINT64_C(1) << at;
  }
  return TT_OK;
}

/* ---- as operations of the graph */

static tt_code record(const call *c, tt_custom_reading *reading, bool *done, tt_array **out, tt_error *err) {
  tt_value arg[TT_CUSTOM_GRAPH];
  int rank = 0, nin = c->k->signature.nin;
  uint64_t axes;
  *done = false;
  for (int k = 0; k < nin; k++) {
    const tt_custom_argument *o = &c->arg[k];
    arg[k] = is_number(o) ? o->what.as.value : tt_v_array(o->what.as.array);
    if (!is_number(o) && o->what.as.array->rank > rank) rank = o->what.as.array->rank;
  }
  arg[nin] = tt__custom_missing(&c->out) ? (tt_value){TT_V_MISSING, {0}} : tt_v_array(c->out.what.as.array);
  TT_TRY(find_axes(c, rank, &axes, err));
  tt_code code = tt__expression_reduce(reading->e, arg, axes, c->keepdims, out, err);
  *done = code == TT_OK;
  if (code != TT_ENOTIMPL) return code;
  TT_TRY(tt__custom_refuse(reading, err->message, err));
  if (c->k->way && c->k->way[0] == 'g') return code;
  err->code = TT_OK; /* nothing went wrong: it is for a compiler */
  return TT_OK;
}

/* ---- compiled */

typedef struct run {
  tt_custom_call call;
  tt_custom_build *build;
  int rank, nkept;
  int64_t len[TT_MAX_RANK], kept[TT_MAX_RANK]; /* of the inputs, of the result */
  int turn[TT_MAX_RANK];                       /* the axes: those that stay, then those reduced */
  uint64_t axes;
  int64_t rows, m; /* results, and the elements of each */
} run;

static tt_code split(const call *c, run *r, tt_error *err) {
  bool plain[TT_CUSTOM_ARGS];
  int64_t size;
  int nin = c->k->signature.nin;
  for (int k = 0; k < nin; k++) plain[k] = !is_number(&c->arg[k]);
  TT_TRY(tt__custom_shape(c->arg, plain, nin, &r->rank, r->len, &size, err));
  TT_TRY(find_axes(c, r->rank, &r->axes, err));
  r->nkept = 0;
  r->rows = r->m = 1;
  for (int d = 0; d < r->rank; d++) {
    if (r->axes >> d & 1) {
      r->m *= r->len[d];
      continue;
    }
    r->turn[r->nkept] = d;
    r->kept[r->nkept++] = r->len[d];
    r->rows *= r->len[d];
  }
  for (int d = 0, at = r->nkept; d < r->rank; d++)
    if (r->axes >> d & 1) r->turn[at++] = d;
  return TT_OK;
}

/* What is reduced comes last, in C order. */
static tt_code put_turned(const call *c, run *r, int k, tt_error *err) {
  tt_array *a = c->arg[k].what.as.array, *turned;
  TT_TRY(tt__custom_spread(&r->call, &a, r->rank, r->len, err));
  TT_TRY(tt__transpose(a, r->turn, &turned, err));
  a = tt__custom_keep(&r->call, turned);
  TT_TRY(tt__custom_dense(&r->call, &a, err));
  return tt__custom_put_array(&r->call, a, err);
}

static tt_code find_output(const call *c, run *r, tt_array **out, tt_argument *to, tt_error *err) {
  const tt_cx_signature *g = &c->k->signature;
  if (tt__custom_missing(&c->out)) {
    TT_TRY(tt__custom_empty(&r->call, tt__cx_dtype(&c->types, &g->param[g->nin]), r->nkept, r->kept, out, err));
    *to = (tt_argument){TT_ARG_ARRAY, {.array = *out}};
    return TT_OK;
  }
  *to = c->out.what;
  if (to->kind == TT_ARG_ARRAY) *out = tt__array_retain(to->as.array);
  if (tt__custom_size(&c->out) == r->rows) return TT_OK;
  return tt__fail(err, TT_EVALUE, "kernel %s: the output has %lld elements, not %lld", c->k->text.name,
                  (long long)tt__custom_size(&c->out), (long long)r->rows);
}

static tt_code put_numbers(const call *c, run *r, tt_error *err) {
  for (int k = 0; k < c->k->signature.nin; k++)
    if (is_number(&c->arg[k])) TT_TRY(tt__custom_put(&r->call, c->arg[k].what, err));
  return TT_OK;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* All rows by one of the kernels, whose arguments before theirs were put. */
static tt_code launch_rows(run *r, tt_entry *e, tt_error *err) {
  int keep = r->call.narg;
  for (int64_t at = 0; at < r->rows; at += MOST_ROWS) {
    int64_t n = least(r->rows - at, MOST_ROWS);
    TT_TRY(tt__custom_put_int(&r->call, at, err));
    TT_TRY(tt__custom_put_int(&r->call, n, err));
    TT_TRY(tt__custom_launch(&r->call, e, (n + TT_CX_BLOCK - 1) / TT_CX_BLOCK, keep, err));
  }
  return TT_OK;
}

static tt_code run_nothing(const call *c, run *r, const tt_argument *to, tt_error *err) {
  if (!c->k->text.identity)
    return tt__fail(err, TT_EVALUE, "kernel %s: zero-size array to a reduction which has no identity", c->k->text.name);
  TT_TRY(tt__custom_put(&r->call, *to, err));
  TT_TRY(put_numbers(c, r, err));
  return launch_rows(r, r->build->entry[2], err);
}

/* A block for each chunk of each row. */
static tt_code run_partial(const call *c, run *r, tt_array *parts, int64_t chunks, tt_error *err) {
  int64_t most = chunks < MOST_BLOCKS ? MOST_BLOCKS / chunks : 1;
  for (int k = 0; k < c->k->signature.nin; k++)
    if (!is_number(&c->arg[k])) TT_TRY(put_turned(c, r, k, err));
  TT_TRY(put_numbers(c, r, err));
  TT_TRY(tt__custom_put_array(&r->call, parts, err));
  TT_TRY(tt__custom_put_int(&r->call, r->m, err));
  TT_TRY(tt__custom_put_int(&r->call, chunks, err));
  int keep = r->call.narg;
  for (int64_t at = 0; at < r->rows; at += most) {
    TT_TRY(tt__custom_put_int(&r->call, at, err));
    TT_TRY(tt__custom_launch(&r->call, r->build->entry[0], least(r->rows - at, most) * chunks, keep, err));
  }
  r->call.narg = 0;
  return TT_OK;
}

static tt_code run_chunks(const call *c, run *r, const tt_argument *to, tt_error *err) {
  int64_t chunks = (r->m - 1) / TT_CX_CHUNK + 1, bytes;
  tt_array *parts;
  if (__builtin_mul_overflow(r->rows, chunks, &bytes) || __builtin_mul_overflow(bytes, r->build->part, &bytes))
    return tt__fail(err, TT_EVALUE, "kernel %s: too many partial results", c->k->text.name);
  TT_TRY(tt__custom_empty(&r->call, TT_U8, 1, &bytes, &parts, err));
  tt__custom_keep(&r->call, parts);
  TT_TRY(run_partial(c, r, parts, chunks, err));
  TT_TRY(tt__custom_put_array(&r->call, parts, err));
  TT_TRY(tt__custom_put(&r->call, *to, err));
  TT_TRY(put_numbers(c, r, err));
  TT_TRY(tt__custom_put_int(&r->call, chunks, err));
  return launch_rows(r, r->build->entry[1], err);
}

/* With its reduced axes, of length 1. */
static tt_code keep_axes(const run *r, tt_array **out, tt_error *err) {
  int64_t len[TT_MAX_RANK];
  tt_array *kept;
  for (int d = 0; d < r->rank; d++) len[d] = r->axes >> d & 1 ? 1 : r->len[d];
  TT_TRY(tt__reshape(*out, r->rank, len, &kept, err));
  tt__array_release(*out);
  *out = kept;
  return TT_OK;
}

static tt_code run_compiled(const call *c, run *r, tt_array **out, tt_error *err) {
  tt_argument to;
  TT_TRY(split(c, r, err));
  TT_TRY(tt__custom_build_for(c->k, &c->types, c->form, &r->build, err));
  TT_TRY(find_output(c, r, out, &to, err));
  if (r->rows > 0) TT_TRY(r->m > 0 ? run_chunks(c, r, &to, err) : run_nothing(c, r, &to, err));
  __atomic_add_fetch(&c->k->launches, r->rows > 0, __ATOMIC_RELAXED);
  return c->keepdims && tt__custom_missing(&c->out) ? keep_axes(r, out, err) : TT_OK;
}

static tt_code compiled(const call *c, tt_array **out, tt_error *err) {
  run r;
  tt__custom_begin(&r.call, c->k, c->arg, c->k->signature.nin, c->how);
  tt_code code = run_compiled(c, &r, out, err);
  tt__custom_end(&r.call);
  if (code == TT_OK) return TT_OK;
  tt__array_release(*out);
  *out = NULL;
  return code;
}

/* ---- the call */

static tt_code check_operands(call *c, int n, tt_error *err) {
  const tt_cx_signature *g = &c->k->signature;
  const char *name = c->k->text.name;
  bool any = false;
  if (n != g->nin && n != g->n) return tt__fail(err, TT_ETYPE, "kernel %s takes %d inputs (%d given)", name, g->nin, n);
  if (g->n > TT_CUSTOM_ARGS) return tt__fail(err, TT_ETYPE, "a kernel takes at most %d arguments", TT_CUSTOM_ARGS);
  for (int k = 0; k < g->nin; k++) {
    const tt_custom_argument *o = &c->arg[k];
    if (!is_number(o) && (o->what.kind != TT_ARG_ARRAY || tt__custom_missing(o)))
      return tt__fail(err, TT_ETYPE, "kernel %s: parameter '%s' is given neither an array nor a number", name,
                      g->param[k].name);
    c->form[k] = is_number(o) ? TT_CX_NUMBER : TT_CX_ADDRESS;
    any |= !is_number(o);
  }
  c->form[g->nin] = TT_CX_ADDRESS;
  if (n == g->n) c->out = c->arg[g->nin];
  if (is_number(&c->out) || c->out.what.kind == TT_ARG_BYTES)
    return tt__fail(err, TT_ETYPE, "kernel %s: the output is no array", name);
  TT_TRY(tt__custom_types(c->k, c->arg, n, &c->types, err));
  return any ? TT_OK : tt__fail(err, TT_ETYPE, "kernel %s: at least one input is an array", name);
}

tt_code tt__reduction_call(tt_custom *k, const tt_custom_argument *arg, int n, const int *axis, int naxis,
                           bool keepdims, const tt_launch_options *how, tt_array **out, tt_error *err) {
  tt_custom_reading *reading = NULL;
  bool done = false;
  call c = {.k = k, .arg = arg, .axis = axis, .naxis = naxis, .keepdims = keepdims, .how = how};
  *out = NULL;
  if (!k->is_reduction) return tt__fail(err, TT_ETYPE, "this kernel is no reduction");
  if (how && how->copied) *how->copied = false;
  TT_TRY(check_operands(&c, n, err));
  if (c.out.what.kind == TT_ARG_ARRAY) TT_TRY(tt__custom_read(k, &c.types, c.form, &reading, err));
  if (reading) TT_TRY(record(&c, reading, &done, out, err));
  if (done && !tt__custom_missing(&c.out)) {
    tt__array_release(*out);
    *out = tt__array_retain(c.out.what.as.array);
  }
  return done ? TT_OK : compiled(&c, out, err);
}
