/*
** Calls of compiled kernels given as expressions: their arguments, the arrays that live as long, launches; see
** custom.h.
*/
#include "launch/expression/custom.h"

#include <assert.h>

#include "run/wanted.h"

/* ---- operands */

const int64_t *tt__custom_len(const tt_custom_argument *o, int *rank) {
  tt_array *a = o->what.kind == TT_ARG_ARRAY ? o->what.as.array : NULL;
  *rank = a ? a->rank : o->rank;
  return a ? a->dim : o->len;
}

int64_t tt__custom_size(const tt_custom_argument *o) {
  int rank;
  const int64_t *len = tt__custom_len(o, &rank);
  int64_t size = 1;
  for (int d = 0; d < rank; d++) size *= len[d];
  return size;
}

tt_code tt__custom_shape(const tt_custom_argument *arg, const bool *plain, int n, int *rank, int64_t *len,
                         int64_t *size, tt_error *err) {
  assert(n >= 0 && n <= TT_CUSTOM_ARGS);
  int ranks[TT_CUSTOM_ARGS], count = 0;
  const int64_t *lens[TT_CUSTOM_ARGS];
  for (int k = 0; k < n; k++) {
    if (!plain[k]) continue;
    lens[count] = tt__custom_len(&arg[k], &ranks[count]);
    count++;
  }
  TT_TRY(tt__shape_common(count, ranks, lens, rank, len, err));
  return tt__shape_size(*rank, len, TT_C128, size, err);
}

/* ---- one call */

void tt__custom_begin(tt_custom_call *c, tt_custom *k, const tt_custom_argument *arg, int n,
                      const tt_launch_options *how) {
  assert(n >= 0 && n <= TT_CUSTOM_ARGS);
  c->k = k;
  c->how = how;
  c->copied = false;
  c->place = TT_AUTO;
  c->narg = c->nheld = 0;
  for (int i = 0; i < n; i++) {
    if (arg[i].what.kind != TT_ARG_ARRAY || tt__custom_missing(&arg[i])) continue;
    c->place = tt__array_device(arg[i].what.as.array);
    break;
  }
}

void tt__custom_end(tt_custom_call *c) {
  assert(c->nheld >= 0 && c->nheld <= TT_CUSTOM_ARGS);
  while (c->nheld > 0) tt__array_release(c->held[--c->nheld]);
  if (c->how && c->how->copied) *c->how->copied = c->copied;
}

tt_array *tt__custom_keep(tt_custom_call *c, tt_array *a) {
  assert(!a || c->nheld < TT_CUSTOM_ARGS);
  if (a) c->held[c->nheld++] = a;
  return a;
}

static tt_code room(const tt_custom_call *c, tt_error *err) {
  if (c->narg < TT_CUSTOM_ARGS && c->nheld + 4 < TT_CUSTOM_ARGS) return TT_OK;
  return tt__fail(err, TT_ETYPE, "a kernel takes at most %d arguments", TT_CUSTOM_ARGS);
}

tt_code tt__custom_put(tt_custom_call *c, tt_argument a, tt_error *err) {
  TT_TRY(room(c, err));
  assert(c->narg < TT_CUSTOM_ARGS);
  c->arg[c->narg++] = a;
  return TT_OK;
}

tt_code tt__custom_put_int(tt_custom_call *c, int64_t i, tt_error *err) {
  return tt__custom_put(c, (tt_argument){TT_ARG_VALUE, {.value = tt_v_int(i)}}, err);
}

tt_code tt__custom_put_array(tt_custom_call *c, tt_array *a, tt_error *err) {
  return tt__custom_put(c, (tt_argument){TT_ARG_ARRAY, {.array = a}}, err);
}

tt_code tt__custom_dense(tt_custom_call *c, tt_array **a, tt_error *err) {
  tt_array *copy;
  if (tt__array_is_c(*a)) return TT_OK;
  TT_TRY(room(c, err));
  TT_TRY(tt__copy(*a, &copy, err));
  *a = tt__custom_keep(c, copy);
  return TT_OK;
}

tt_code tt__custom_spread(tt_custom_call *c, tt_array **a, int rank, const int64_t *len, tt_error *err) {
  tt_array *wide;
  if ((*a)->rank == rank && tt__shape_same(rank, (*a)->dim, len)) return TT_OK;
  TT_TRY(room(c, err));
  TT_TRY(tt__broadcast_to(*a, rank, len, &wide, err));
  *a = tt__custom_keep(c, wide);
  return TT_OK;
}

tt_code tt__custom_empty(const tt_custom_call *c, tt_dtype dtype, int rank, const int64_t *len, tt_array **out,
                         tt_error *err) {
  TT_TRY(tt__empty(dtype, rank, len, out, err));
  return tt__wanted_put(out, c->place > TT_CPU ? c->place : tt__wanted(), err);
}

tt_code tt__custom_launch(tt_custom_call *c, tt_entry *e, int64_t blocks, int keep, tt_error *err) {
  bool copied = false;
  assert(blocks > 0 && blocks <= INT32_MAX && keep <= c->narg);
  tt_launch_options how = {.stream = NULL};
  if (c->how) how = *c->how;
  how.grid = (tt_grid){.grid = {(uint32_t)blocks, 1, 1}, .block = {TT_CX_BLOCK, 1, 1}};
  how.shared_limit = 0;
  how.copied = &copied;
  tt_code code = tt__entry_launch(e, &how, c->arg, c->narg, err);
  c->copied |= copied;
  c->narg = keep;
  return code;
}
