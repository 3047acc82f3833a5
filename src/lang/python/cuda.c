/*
** What only kernels have: who am I, shared memory, barriers, exchanges in a warp, atomics.
*/
#include <string.h>

#include "lang/python/py_int.h"

static expr *special(lower *l, tt_pspecial k) {
  expr *e = py__expr(l, TT_X_SPECIAL, py__scalar(l, TT_I64), 0);
  e->k = k;
  e->nonneg = true;
  e->limit = (uint64_t)1 << 31; /* of a grid; a block has fewer */
  if (k <= TT_S_TID_Z || (k >= TT_S_BDIM_X && k <= TT_S_BDIM_Z)) e->limit = 1025;
  l->f->func->place = true;
  if (!l->options.kernel) py__fail(l, TT_ETYPE, "the places of threads mean something inside kernels only");
  return e;
}

static int constant(lower *l, const tt_tree *t, const char *what) {
  expr *e = py__value(l, t);
  if (e->op != TT_X_CONST || !py__is_scalar(e))
    py__fail(l, TT_ETYPE, "RequireLiteralValue: %s must be a constant", what);
  return (int)e->i;
}

static expr *along(lower *l, int axis, bool size) {
  expr *n = py__elem(l, TT_MUL, special(l, (size ? TT_S_GDIM_X : TT_S_BID_X) + axis), special(l, TT_S_BDIM_X + axis));
  return size ? n : py__elem(l, TT_ADD, n, special(l, TT_S_TID_X + axis));
}

static expr *grid(lower *l, const tt_tree *t, bool size) {
  int n = constant(l, py__at(l, t, 2), "the number of axes");
  type *item[3];
  if (n == 1) return along(l, 0, size);
  if (n < 1 || n > 3) py__fail(l, TT_EVALUE, "grid() has 1 to 3 axes");
  for (int k = 0; k < n; k++) item[k] = py__scalar(l, TT_I64);
  expr *e = py__expr(l, TT_X_TUPLE, py__tuple(l, item, n), n);
  for (int k = 0; k < n; k++) e->arg[k] = along(l, k, size);
  return e;
}

/* ---- declared memory */

static expr *declare(lower *l, const tt_tree *t, bool shared) {
  const tt_tree *shape = py__keyword(l, t, "shape"), *dtype = py__keyword(l, t, "dtype");
  int given = py__positional(t);
  if (!shape && given > 0) shape = t->item[2];
  if (!dtype && given > 1) dtype = t->item[3];
  if (!shape || !dtype) py__fail(l, TT_ETYPE, "array() needs a shape and a dtype");
  expr *e = py__value(l, shape);
  tt_pslot slot = {.bytes = 1};
  int rank = e->type->tag == TT_T_TUPLE ? e->type->n : 1;
  if (py__is_unknown(e)) return e;
  for (int k = 0; k < rank; k++) {
    expr *n = e->type->tag == TT_T_TUPLE ? py__item(l, e, k) : e;
    if (n->op != TT_X_CONST || !py__is_scalar(n) || n->i < 0)
      py__fail(l, TT_ETYPE, "the shape of %s memory must be constant", shared ? "shared" : "local");
    slot.len[k] = n->i;
    if (__builtin_mul_overflow(slot.bytes, n->i, &slot.bytes) || slot.bytes > 1 << 24)
      py__fail(l, TT_EVALUE, "too much %s memory", shared ? "shared" : "local");
  }
  tt_dtype d = py__dtype_of(l, dtype);
  slot.type = py__array(l, d, rank, 'C');
  slot.bytes *= (int64_t)tt__dtype_size(d);
  slot.dynamic = shared && rank == 1 && slot.len[0] == 0;
  /* The same declaration of an earlier pass is the same memory: it is known by its line and its tree. */
  expr *a = py__expr(l, shared ? TT_X_SHARED : TT_X_PRIVATE, slot.type, 0);
  slot.place = t;
  slot.owner = l->f->prefix;
  int64_t n = shared ? l->p->shared.n : l->p->local.n;
  const tt_pslot *all = shared ? l->p->shared.data : l->p->local.data;
  for (int64_t k = 0; k < n; k++)
    if (all[k].place == t && strcmp(all[k].owner, slot.owner) == 0) {
      a->k = (int32_t)k;
      return a;
    }
  a->k = (int32_t)n;
  bool kept = shared ? TT_VEC_PUSH(&l->p->shared, slot) : TT_VEC_PUSH(&l->p->local, slot);
  if (!kept) py__fail(l, TT_ENOMEM, "out of memory");
  return a;
}

/* ---- barriers and exchanges */

static void in_kernel(lower *l, const char *name) {
  if (l->f->func->kind != TT_X_KERNEL) py__fail(l, TT_ETYPE, "%s() outside a kernel", name);
}

static expr *collective(lower *l, tt_pcollective k, type *t, expr *const *arg, int n) {
  int32_t local = py__temp(l, t);
  l->f->func->locals.data[local].nonneg = tt__is_unsigned((tt_dtype)t->dtype) || k == TT_C_SYNC_COUNT;
  l->f->func->locals.data[local].limit = 0;
  stmt *s = py__stmt(l, TT_X_COLLECTIVE);
  s->local = local;
  s->k = k;
  s->n = n;
  s->arg = py__alloc(l, (size_t)n * sizeof *s->arg);
  for (int i = 0; i < n; i++) s->arg[i] = arg[i];
  return py__local(l, local);
}

static const struct {
  const char *name;
  tt_pcollective k;
  uint8_t nargs; /* of the Python call */
} rows[] = {{"cuda.syncthreads_count", TT_C_SYNC_COUNT, 1},
            {"cuda.syncthreads_and", TT_C_SYNC_AND, 1},
            {"cuda.syncthreads_or", TT_C_SYNC_OR, 1},
            {"cuda.shfl_sync", TT_C_SHFL, 3},
            {"cuda.shfl_up_sync", TT_C_SHFL_UP, 3},
            {"cuda.shfl_down_sync", TT_C_SHFL_DOWN, 3},
            {"cuda.shfl_xor_sync", TT_C_SHFL_XOR, 3},
            {"cuda.ballot_sync", TT_C_BALLOT, 2},
            {"cuda.any_sync", TT_C_ANY, 2},
            {"cuda.all_sync", TT_C_ALL, 2},
            {"cuda.match_any_sync", TT_C_MATCH, 2}};

static type *collective_type(lower *l, tt_pcollective k, const expr *value) {
  if (k >= TT_C_SHFL && k <= TT_C_SHFL_XOR) return value->type;
  if (k == TT_C_SYNC_COUNT) return py__scalar(l, TT_I64);
  return py__scalar(l, k == TT_C_BALLOT || k == TT_C_MATCH ? TT_U32 : TT_BOOL);
}

/* The lane of the warp that a shuffle by parts of `width` lanes, a power of two, takes a value from; `by` as there. */
static expr *lane_of_part(lower *l, tt_pcollective k, expr *by, expr *width) {
  expr *lane = special(l, TT_S_LANE), *last = py__keep(l, py__binary(l, "-", width, py__int(l, 1)));
  by = py__keep(l, by);
  if (k == TT_C_SHFL_XOR) { /* a part before this one may be read, one behind it not */
    expr *other = py__keep(l, py__binary(l, "^", lane, by));
    return py__choose(l, py__elem(l, TT_LE, other, py__binary(l, "|", lane, last)), other, lane);
  }
  expr *mine = py__keep(l, py__binary(l, "&", lane, last)), *first = py__binary(l, "-", lane, mine);
  if (k == TT_C_SHFL) return py__binary(l, "+", first, py__binary(l, "&", by, last));
  if (k == TT_C_SHFL_UP) return py__choose(l, py__elem(l, TT_GE, mine, by), py__binary(l, "-", lane, by), lane);
  return py__choose(l, py__elem(l, TT_LE, py__binary(l, "+", mine, by), last), py__binary(l, "+", lane, by), lane);
}

/* The keyword `width` of a shuffle: lanes of a part of the warp; NULL: all. No other word has a keyword. */
static expr *width_of(lower *l, const char *name, const tt_tree *t, bool shuffle) {
  const tt_tree *width = shuffle ? py__keyword(l, t, "width") : NULL;
  if (t->n - 2 - py__positional(t) > (width ? 1 : 0))
    py__fail(l, TT_ETYPE, "%s() takes no keyword%s", name, shuffle ? " but width" : "");
  if (!width) return NULL;
  expr *e = py__value(l, width);
  if (!py__is_unknown(e) && !py__is_scalar(e)) py__fail(l, TT_ETYPE, "a width that is %s", py__type_name(l, e->type));
  return py__is_unknown(e) ? NULL : py__cast(l, e, TT_I64);
}

static expr *collective_call(lower *l, const char *name, const tt_tree *t) {
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (strcmp(rows[k].name, name) != 0) continue;
    expr *arg[3];
    int n = py__positional(t), skip = rows[k].nargs > 1; /* the mask comes last: the CPU does without */
    bool shuffle = rows[k].k >= TT_C_SHFL && rows[k].k <= TT_C_SHFL_XOR;
    in_kernel(l, name);
    if (n != rows[k].nargs) py__fail(l, TT_ETYPE, "%s() takes %d arguments but %d were given", name, rows[k].nargs, n);
    for (int i = skip; i < n; i++) {
      expr *e = py__value(l, t->item[i + 2]);
      if (py__is_unknown(e)) return e;
      if (!py__is_scalar(e)) py__fail(l, TT_ETYPE, "%s() of %s", name, py__type_name(l, e->type));
      bool as_it_is = (shuffle && i == 1) || rows[k].k == TT_C_MATCH;
      arg[i - skip] = as_it_is ? e : shuffle ? py__cast(l, e, TT_I64) : py__truth(l, e);
    }
    if (skip) {
      expr *mask = py__value(l, t->item[2]);
      if (py__is_unknown(mask)) return mask;
      if (!py__is_scalar(mask)) py__fail(l, TT_ETYPE, "%s() of %s", name, py__type_name(l, mask->type));
      arg[n - 1] = py__cast(l, mask, TT_U32);
    }
    expr *width = width_of(l, name, t, shuffle);
    if (width) arg[1] = lane_of_part(l, rows[k].k, arg[1], width);
    return collective(l, width ? TT_C_SHFL : rows[k].k, collective_type(l, rows[k].k, arg[0]), arg, n);
  }
  return NULL;
}

/* What a warp says, of two simpler questions. */
static expr *collective_pair(lower *l, const char *name, const tt_tree *t) {
  bool match = strcmp(name, "cuda.match_all_sync") == 0;
  if (!match && strcmp(name, "cuda.eq_sync") != 0) return NULL;
  in_kernel(l, name);
  if (py__positional(t) != 2)
    py__fail(l, TT_ETYPE, "%s() takes 2 arguments but %d were given", name, py__positional(t));
  expr *mask = py__value(l, t->item[2]), *x = py__value(l, t->item[3]);
  if (py__is_unknown(mask) || py__is_unknown(x)) return py__missing(l);
  if (!py__is_scalar(mask) || !py__is_scalar(x))
    py__fail(l, TT_ETYPE, "%s() of %s", name, py__type_name(l, py__is_scalar(mask) ? x->type : mask->type));
  mask = py__keep(l, py__cast(l, mask, TT_U32));
  x = py__keep(l, match ? x : py__truth(l, x));
  expr *one[2] = {match ? py__bool(l, true) : x, mask}, *two[2] = {x, mask};
  tt_pcollective first = match ? TT_C_BALLOT : TT_C_ALL, second = match ? TT_C_MATCH : TT_C_ANY;
  expr *a = collective(l, first, collective_type(l, first, one[0]), one, 2);
  expr *b = collective(l, second, collective_type(l, second, x), two, 2);
  if (!match) { /* all are true, or none is */
    expr *e = py__expr(l, TT_X_ELSE, a->type, 2);
    e->arg[0] = a;
    e->arg[1] = py__unary(l, "not", b);
    return e;
  }
  type *item[2] = {a->type, py__scalar(l, TT_BOOL)};
  expr *out = py__expr(l, TT_X_TUPLE, py__tuple(l, item, 2), 2); /* (the lanes, or 0; do all agree?) */
  expr *agree = py__keep(l, py__elem(l, TT_EQ, a, b));
  expr *lanes = py__expr(l, TT_X_SELECT, a->type, 3);
  lanes->arg[0] = agree;
  lanes->arg[1] = a;
  lanes->arg[2] = py__cast(l, py__int(l, 0), TT_U32);
  out->arg[0] = lanes;
  out->arg[1] = agree;
  return out;
}

static expr *active(lower *l) {
  expr *yes = py__bool(l, true);
  in_kernel(l, "cuda.activemask");
  return collective(l, TT_C_ACTIVE, py__scalar(l, TT_U32), &yes, 1);
}

/* ---- atomics */

static const struct {
  const char *name;
  tt_patomic k;
} atomics[] = {{"add", TT_A_ADD},       {"sub", TT_A_SUB},       {"max", TT_A_MAX},  {"min", TT_A_MIN},
               {"nanmax", TT_A_NANMAX}, {"nanmin", TT_A_NANMIN}, {"and_", TT_A_AND}, {"or_", TT_A_OR},
               {"xor", TT_A_XOR},       {"exch", TT_A_EXCH},     {"cas", TT_A_CAS},  {"compare_and_swap", TT_A_CAS},
               {"inc", TT_A_INC},       {"dec", TT_A_DEC}};

static expr *atomic(lower *l, const char *w, const tt_tree *t) {
  static const tt_tree zero_value = {.tag = TT_TREE_INT};
  static tt_tree i_word = {.tag = TT_TREE_WORD, .n = 1, .text = "i"};
  static tt_tree *const zero_items[] = {&i_word, (tt_tree *)(uintptr_t)&zero_value};
  static const tt_tree zero = {.tag = TT_TREE_LIST, .n = 2, .item = (tt_tree **)(uintptr_t)zero_items};
  int k = 0, count = (int)(sizeof atomics / sizeof *atomics), n = py__positional(t);
  while (k < count && strcmp(atomics[k].name, w) != 0) k++;
  if (k == count) py__fail(l, TT_ENOTIMPL, "cuda.atomic.%s()", w);
  bool cas = atomics[k].k == TT_A_CAS, old_form = strcmp(w, "compare_and_swap") == 0; /* (array, old, new) */
  if (n != (cas && !old_form ? 4 : 3)) py__fail(l, TT_ETYPE, "cuda.atomic.%s() does not take %d arguments", w, n);
  expr *array = py__value(l, t->item[2]);
  expr *value = py__value(l, t->item[n + 1]), *old = cas ? py__value(l, t->item[n]) : NULL;
  if (py__is_unknown(array) || py__is_unknown(value) || (old && py__is_unknown(old))) return py__missing(l);
  if (!py__is_array(array)) py__fail(l, TT_ETYPE, "cuda.atomic.%s() of %s", w, py__type_name(l, array->type));
  if (py__is_lazy(array)) py__fail(l, TT_ENOTIMPL, "atomics on what is computed, or on .real or .imag");
  if (array->type->layout == 'P')
    py__fail(l, TT_ENOTIMPL, "atomics on a field of packed records: make their dtype with align=True");
  tt_dtype d = (tt_dtype)array->type->dtype;
  if (tt__dtype_size(d) < 4 || tt__is_complex(d)) py__fail(l, TT_ENOTIMPL, "atomics on %s", tt__dtypes[d].name);
  if (atomics[k].k >= TT_A_AND && atomics[k].k <= TT_A_XOR && !tt__is_int(d))
    py__fail(l, TT_ETYPE, "cuda.atomic.%s() on %s", w, tt__dtypes[d].name);
  array = py__keep(l, array);
  const tt_tree *index = old_form ? &zero : t->item[3];
  expr *place = py__target(l, array, &index, 1);
  if (py__is_unknown(place)) return place;
  if (place->op != TT_X_LOAD) py__fail(l, TT_ETYPE, "cuda.atomic.%s() needs a full index", w);
  py__wrote(l, array);
  expr *e = py__expr(l, TT_X_ATOMIC, py__scalar(l, d), cas ? 3 : 2);
  e->k = atomics[k].k;
  e->i = py__space(l, array) == 1;
  e->arg[0] = place;
  e->arg[1] = py__cast(l, cas ? old : value, d);
  if (cas) e->arg[2] = py__cast(l, value, d);
  int32_t local = py__temp(l, e->type); /* it happens here, once, whatever surrounds it */
  l->f->func->locals.data[local].nonneg = false;
  l->f->func->locals.data[local].limit = 0;
  py__set(l, local, e);
  return py__local(l, local);
}

/* ---- dispatch */

static bool special_named(const char *name, tt_pspecial *k) {
  static const char *const words[] = {"cuda.threadIdx", "cuda.blockIdx", "cuda.blockDim", "cuda.gridDim"};
  for (int i = 0; i < 4; i++) {
    size_t n = strlen(words[i]);
    if (strncmp(name, words[i], n) != 0 || name[n] != '.' || name[n + 1] < 'x' || name[n + 1] > 'z') continue;
    *k = (tt_pspecial)(i * 3 + (name[n + 1] - 'x'));
    return true;
  }
  return false;
}

/* a * b + c, rounded once; whole numbers are not rounded at all. */
static expr *fused(lower *l, expr *a, expr *b, expr *c) {
  expr *arg[3] = {a, b, c};
  tt_dtype t = TT_F32;
  bool whole = true;
  for (int k = 0; k < 3; k++) {
    if (!py__is_scalar(arg[k]) || tt__is_complex((tt_dtype)arg[k]->type->dtype))
      py__fail(l, TT_ETYPE, "cuda.fma() of %s", py__type_name(l, arg[k]->type));
    whole &= !tt__is_float((tt_dtype)arg[k]->type->dtype);
    t = tt__promote(t, (tt_dtype)arg[k]->type->dtype);
  }
  if (whole) return py__binary(l, "+", py__binary(l, "*", a, b), c);
  for (int k = 0; k < 3; k++) arg[k] = py__cast(l, arg[k], t);
  return py__helper(l, t == TT_F32 ? "tt_fma_f32" : "tt_fma_f64", py__scalar(l, t), false, arg, 3);
}

/* selp(condition, a, b): both are computed. */
static expr *choose(lower *l, expr *condition, const tt_tree *t) {
  expr *a = py__value(l, t->item[3]), *b = py__value(l, t->item[4]);
  if (py__is_unknown(a) || py__is_unknown(b)) return py__missing(l);
  type *both = py__unify(l, a->type, b->type);
  if (!both || both->tag != TT_T_SCALAR) py__fail(l, TT_ETYPE, "cuda.selp() chooses between numbers");
  expr *e = py__expr(l, TT_X_SELECT, both, 3);
  e->arg[0] = py__truth(l, condition);
  e->arg[1] = py__keep(l, py__cast(l, a, (tt_dtype)both->dtype));
  e->arg[2] = py__keep(l, py__cast(l, b, (tt_dtype)both->dtype));
  return e;
}

static const char *axis_of(lower *l, const char *name, char axis) {
  size_t n = strlen(name);
  char *one = py__alloc(l, n + 3);
  memcpy(one, name, n);
  one[n] = '.';
  one[n + 1] = axis;
  one[n + 2] = 0;
  return one;
}

/* All three axes from `first` on. */
static expr *places(lower *l, tt_pspecial first) {
  expr *part[3];
  for (int k = 0; k < 3; k++) part[k] = special(l, (tt_pspecial)(first + k));
  return py__tuple_of(l, part, 3);
}

static expr *math_like(lower *l, const char *name, const tt_tree *t) {
  type *i64 = py__scalar(l, TT_I64);
  expr *x = t->n > 2 ? py__value(l, t->item[2]) : py__int(l, 0);
  if (py__is_unknown(x)) return x;
  if (strcmp(name, "cuda.fma") == 0 && py__positional(t) == 3) {
    expr *y = py__value(l, t->item[3]), *z = py__value(l, t->item[4]);
    return py__is_unknown(y) || py__is_unknown(z) ? py__missing(l) : fused(l, x, y, z);
  }
  if (strcmp(name, "cuda.selp") == 0 && py__positional(t) == 3) return choose(l, x, t);
  if (strcmp(name, "cuda.cbrt") == 0 && py__positional(t) == 1) return py__apply(l, TT_CBRT, x, NULL);
  if (!py__is_scalar(x) || !tt__is_int((tt_dtype)x->type->dtype)) return NULL;
  bool wide = tt__dtype_size((tt_dtype)x->type->dtype) == 8;
  expr *u = py__cast(l, x, wide ? TT_U64 : TT_U32);
  static const char *const names[][3] = {{"cuda.popc", "tt_popc_u32", "tt_popc_u64"},
                                         {"cuda.clz", "tt_clz_u32", "tt_clz_u64"},
                                         {"cuda.ffs", "tt_ffs_u32", "tt_ffs_u64"}};
  for (int k = 0; k < 3; k++)
    if (strcmp(names[k][0], name) == 0) return py__helper(l, names[k][1 + wide], i64, false, &u, 1);
  if (strcmp(name, "cuda.brev") == 0) return py__helper(l, wide ? "tt_brev_u64" : "tt_brev_u32", u->type, false, &u, 1);
  return NULL;
}

expr *py__cuda(lower *l, const char *name, const tt_tree *t, bool *known) {
  tt_pspecial k;
  *known = true;
  if (special_named(name, &k)) return special(l, k);
  if (special_named(axis_of(l, name, 'x'), &k)) return places(l, k);
  if (strcmp(name, "cuda.grid") == 0) return grid(l, t, false);
  if (strcmp(name, "cuda.gridsize") == 0) return grid(l, t, true);
  if (strcmp(name, "cuda.laneid") == 0) return special(l, TT_S_LANE);
  if (strcmp(name, "cuda.warpsize") == 0) return py__int(l, 32);
  if (strcmp(name, "cuda.shared.array") == 0) return declare(l, t, true);
  if (strcmp(name, "cuda.local.array") == 0) return declare(l, t, false);
  if (strcmp(name, "cuda.const.array_like") == 0) return py__value(l, py__at(l, t, 2));
  if (strncmp(name, "cuda.atomic.", 12) == 0) return atomic(l, name + 12, t);
  if (strcmp(name, "cuda.syncthreads") == 0 || strcmp(name, "cuda.syncwarp") == 0) {
    in_kernel(l, name);
    py__stmt(l, TT_X_BARRIER)->k = name[9] == 'w';
    return py__nothing(l);
  }
  if (strcmp(name, "cuda.cg.this_grid") == 0) {
    in_kernel(l, name);
    return py__meta(l, "grid", NULL);
  }
  if (strncmp(name, "cuda.fp16.", 10) == 0) return py__half(l, name + 10, t);
  if (strncmp(name, "cuda.threadfence", 16) == 0) {
    py__stmt(l, TT_X_FENCE);
    return py__nothing(l);
  }
  if (strcmp(name, "cuda.nanosleep") == 0) { /* a hint: every turn of a waiting loop is worth taking at once */
    (void)py__value(l, py__at(l, t, 2));
    return py__nothing(l);
  }
  if (strcmp(name, "cuda.lanemask_lt") == 0) {
    expr *bit = py__elem(l, TT_SHL, py__int(l, 1), special(l, TT_S_LANE));
    return py__cast(l, py__elem(l, TT_SUB, bit, py__int(l, 1)), TT_U32);
  }
  if (strcmp(name, "cuda.activemask") == 0) return active(l);
  expr *e = collective_call(l, name, t);
  if (!e) e = collective_pair(l, name, t);
  if (!e) e = math_like(l, name, t);
  *known = e != NULL;
  return e;
}
