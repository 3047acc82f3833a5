/*
** Folding any operation; see fold.h. It must not know what the operations are.
*/
#include "lib/scan/fold.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

tt_fold_find tt__fold_find;

static tt_code find(tt_op op, tt_dtype from, tt_dtype to, tt_fold_loop *out, tt_error *err) {
  *out = tt__fold_find ? tt__fold_find(op, from, to) : NULL;
  if (*out) return TT_OK;
  return tt__fail(err, TT_EINTERNAL, "no loop of %s for %s", tt__ops[op].name, tt__dtypes[from].name);
}

/* ---- rows */

/* Rows of fewer elements are folded in halves: more of them meet in one call of the loop. */
enum { SHORT_ROW = 64 };

static bool order_is_free(tt_op op) {
  return (tt__ops[op].flags & (TT_OPF_COMM | TT_OPF_ASSOC)) == (TT_OPF_COMM | TT_OPF_ASSOC);
}

/* What in_halves keeps besides: the first half. */
static size_t half_size(const tt_fold *f, size_t row) { return (size_t)(f->n - f->n / 2) * row; }

static void in_halves(const tt_fold *f, tt_fold_loop loop, const void *x, size_t row, char *kept, void *out) {
  int64_t n = f->n, half = n / 2;
  loop(kept, x, (const char *)x + (size_t)(n - half) * row, NULL, half * f->inner);
  if (n % 2) memcpy(kept + (size_t)half * row, (const char *)x + (size_t)half * row, row);
  for (n -= half; n > 1; n -= half) {
    half = n / 2;
    loop(kept, kept, kept + (size_t)(n - half) * row, NULL, half * f->inner);
  }
  memcpy(out, kept, row);
}

static void in_order(const tt_fold *f, tt_fold_loop loop, const void *x, size_t row, void *out) {
  memcpy(out, x, row);
  for (int64_t k = 1; k < f->n; k++) loop(out, out, (const char *)x + (size_t)k * row, NULL, f->inner);
}

static bool has_halves(const tt_fold *f) { return f->n > 2 && f->inner < SHORT_ROW && order_is_free(f->op); }

static tt_code where_true(const tt_fold *f, tt_fold_loop loop, const void *x, const uint8_t *mask, void *out,
                          tt_error *err) {
  size_t row = (size_t)f->inner * tt__dtype_size(f->dtype);
  tt_fold_loop choose;
  TT_TRY(find(TT_WHERE, f->dtype, f->dtype, &choose, err));
  void *next = tt__mem_alloc(row);
  if (!next) return tt__fail_memory(err, row);
  memcpy(out, x, row);
  for (int64_t k = 1; k < f->n; k++) {
    loop(next, out, (const char *)x + (size_t)k * row, NULL, f->inner);
    choose(out, mask + k * f->inner, next, out, f->inner);
  }
  tt__mem_free(next, row);
  return TT_OK;
}

/* The segments that begin at at[0..count) and end where the next one begins, a row each. */
static tt_code fold_each(const tt_fold *f, tt_fold_loop loop, const char *x, const int64_t *at, int64_t count,
                         char *out, tt_error *err) {
  size_t row = (size_t)f->inner * tt__dtype_size(f->dtype), size = half_size(f, row);
  char *kept = has_halves(f) ? tt__mem_alloc(size) : NULL;
  if (has_halves(f) && !kept) return tt__fail_memory(err, size);
  for (int64_t k = 0; k < count; k++, out += row) {
    int64_t end = k + 1 < count ? at[k + 1] : f->n;
    tt_fold part = *f;
    part.n = end > at[k] ? end - at[k] : 1;
    if (has_halves(&part))
      in_halves(&part, loop, x + (size_t)at[k] * row, row, kept, out);
    else
      in_order(&part, loop, x + (size_t)at[k] * row, row, out);
  }
  if (kept) tt__mem_free(kept, size);
  return TT_OK;
}

tt_code tt__fold_rows(const tt_fold *f, const void *x, const uint8_t *mask, void *out, tt_error *err) {
  assert(f->n >= 0 && f->inner >= 0);
  tt_fold_loop loop;
  int64_t start = 0;
  if (f->inner == 0) return TT_OK;
  TT_TRY(find(f->op, f->dtype, f->dtype, &loop, err));
  if (mask) return where_true(f, loop, x, mask, out, err);
  return fold_each(f, loop, x, &start, 1, out, err);
}

tt_code tt__fold_running(const tt_fold *f, const void *x, void *out, tt_error *err) {
  assert(f->n >= 0 && f->inner >= 0);
  size_t row = (size_t)f->inner * tt__dtype_size(f->dtype);
  tt_fold_loop loop;
  if (f->n == 0 || f->inner == 0) return TT_OK;
  TT_TRY(find(f->op, f->dtype, f->dtype, &loop, err));
  memcpy(out, x, row);
  for (int64_t k = 1; k < f->n; k++) {
    char *to = (char *)out + (size_t)k * row;
    loop(to, to - row, (const char *)x + (size_t)k * row, NULL, f->inner);
  }
  return TT_OK;
}

tt_code tt__fold_segments(const tt_fold *f, const void *x, const int64_t *at, int64_t count, void *out, tt_error *err) {
  for (int64_t k = 0; k < count; k++) assert(at[k] >= 0 && at[k] < f->n);
  tt_fold_loop loop;
  if (f->inner == 0) return TT_OK;
  TT_TRY(find(f->op, f->dtype, f->dtype, &loop, err));
  return fold_each(f, loop, x, at, count, out, err);
}

/* ---- places */

/* A number for each distinct place: slot[i] < count belongs to place[i]. Some may belong to none. */
typedef struct slots {
  int64_t *slot, *table, *key; /* (hashed) table[h]: a slot, -1: free; key[h]: the place there */
  int64_t n, count, room;
  bool hashed; /* else slots are places, counted from the least */
} slots;

static void slots_free(slots *s) {
  size_t word = sizeof(int64_t), table = s->hashed ? (size_t)s->room * word : 0;
  tt__mem_free(s->slot, (size_t)s->n * word);
  tt__mem_free(s->table, table);
  tt__mem_free(s->key, table);
}

/* Where in the table a place stands, or would. */
static int64_t find_place(const slots *s, int64_t place) {
  uint64_t h = (uint64_t)place * UINT64_C(0x9E3779B97F4A7C15), last = (uint64_t)s->room - 1;
  for (h = (h >> 20) & last; s->table[h] >= 0 && s->key[h] != place;) h = (h + 1) & last;
  return (int64_t)h;
}

static tt_code slots_make(slots *s, const int64_t *place, int64_t n, tt_error *err) {
  int64_t least = n ? place[0] : 0, most = least;
  for (int64_t i = 0; i < n; i++) {
    least = place[i] < least ? place[i] : least;
    most = place[i] > most ? place[i] : most;
  }
  uint64_t span = (uint64_t)most - (uint64_t)least;             /* places may be anything */
  *s = (slots){.n = n, .hashed = span / 4 > (uint64_t)n + 256}; /* few places far apart */
  s->room = s->hashed ? 0 : (int64_t)span + 1;
  if (s->hashed)
    for (s->room = 512; s->room < 2 * n;) s->room *= 2;
  size_t word = sizeof(int64_t);
  s->slot = tt__mem_alloc((size_t)n * word);
  if (s->hashed) s->table = tt__mem_alloc((size_t)s->room * word), s->key = tt__mem_alloc((size_t)s->room * word);
  if ((n && !s->slot) || (s->hashed && (!s->table || !s->key))) {
    slots_free(s);
    return tt__fail_memory(err, (size_t)s->room * word);
  }
  if (!s->hashed) { /* a place is its own number */
    for (int64_t i = 0; i < n; i++) s->slot[i] = place[i] - least;
    s->count = n ? s->room : 0;
    return TT_OK;
  }
  memset(s->table, 0xff, (size_t)s->room * word);
  for (int64_t i = 0; i < n; i++) {
    int64_t h = find_place(s, place[i]);
    if (s->table[h] < 0) {
      s->table[h] = s->count++;
      s->key[h] = place[i];
    }
    s->slot[i] = s->table[h];
  }
  return TT_OK;
}

tt_code tt__fold_turns(const int64_t *place, int64_t n, int64_t *out, tt_error *err) {
  assert(n >= 0);
  slots s;
  TT_TRY(slots_make(&s, place, n, err));
  size_t size = (size_t)s.count * sizeof(int64_t);
  int64_t *met = tt__mem_zalloc(size);
  for (int64_t i = 0; met && i < n; i++) out[i] = met[s.slot[i]]++;
  tt__mem_free(met, size);
  slots_free(&s);
  return met || n == 0 ? TT_OK : tt__fail_memory(err, size);
}

/* Elements that a loop takes at once at most; equal places among them end a run. */
enum { RUN = 256 };

typedef struct run {
  const tt_fold_at *f;
  tt_fold_loop loop, in, out; /* the op; from the array's type and back, NULL: the same type */
  const slots *s;
  char *value; /* by slot */
  const char *b;
  char work[RUN * 8] __attribute__((aligned(64))), wide[RUN * 8] __attribute__((aligned(64)));
} run;

#define MOVE_CASE(T)                                                                \
  case sizeof(T):                                                                   \
    if (there)                                                                      \
      for (int64_t i = 0; i < n; i++) ((T *)value)[slot[i]] = ((const T *)work)[i]; \
    else                                                                            \
      for (int64_t i = 0; i < n; i++) ((T *)work)[i] = ((const T *)value)[slot[i]]; \
    break;

/* Elements by slot into a row (or `there`, from the row). */
static void move(size_t size, void *value, const int64_t *slot, void *work, int64_t n, bool there) {
  switch (size) {
    MOVE_CASE(uint8_t)
    MOVE_CASE(uint16_t)
    MOVE_CASE(uint32_t)
    MOVE_CASE(uint64_t)
    default:
      break;
  }
}

/* The operation on what lies in `work` and second operands from element `from` on; where its results are. */
static char *operate(run *r, int64_t from, int64_t n) {
  const void *a = r->work, *b = r->b ? r->b + (size_t)from * tt__dtype_size(r->f->compute) : NULL;
  if (r->in) r->in(r->wide, r->work, NULL, NULL, n), a = r->wide;
  char *to = r->out ? (a == r->wide ? r->work : r->wide) : r->work;
  r->loop(to, a, b, NULL, n);
  if (!r->out) return to;
  char *narrow = to == r->work ? r->wide : r->work; /* a wider result cannot be narrowed into itself */
  r->out(narrow, to, NULL, NULL, n);
  return narrow;
}

static void do_run(run *r, int64_t from, int64_t n) {
  size_t size = tt__dtype_size(r->f->dtype);
  const int64_t *slot = r->s->slot + from;
  move(size, r->value, slot, r->work, n, false);
  move(size, r->value, slot, operate(r, from, n), n, true);
}

static void do_rows(run *r) {
  int64_t width = r->f->width;
  size_t size = tt__dtype_size(r->f->dtype);
  for (int64_t row = 0; row < r->f->n; row++) {
    for (int64_t at = 0, n; at < width; at += n) {
      char *value = r->value + (size_t)(r->s->slot[row] * width + at) * size;
      n = width - at < RUN ? width - at : RUN;
      memcpy(r->work, value, (size_t)n * size);
      memcpy(value, operate(r, row * width + at, n), (size_t)n * size);
    }
  }
}

static tt_code do_runs(run *r, tt_error *err) {
  const slots *s = r->s;
  size_t bytes = (size_t)s->count * sizeof(int32_t);
  uint32_t *stamp = tt__mem_zalloc(bytes), now = 0;
  if (!stamp) return tt__fail_memory(err, bytes);
  for (int64_t from = 0, to; from < s->n; from = to) {
    if (++now == 0) memset(stamp, 0, bytes), now = 1;
    for (to = from; to < s->n && to - from < RUN && stamp[s->slot[to]] != now; to++) stamp[s->slot[to]] = now;
    do_run(r, from, to - from);
  }
  tt__mem_free(stamp, bytes);
  return TT_OK;
}

#define SUM_CASE(E, T)                                                \
  case E: {                                                           \
    T *value = (T *)r->value;                                         \
    const T *b = (const T *)(const void *)r->b;                       \
    for (int64_t i = 0, n = s->n; i < n; i++) value[slot[i]] += b[i]; \
    return true;                                                      \
  }

/* Sums, which are wanted most, need no loop of others. */
static bool do_sums(run *r) {
  const tt_fold_at *f = r->f;
  const slots *s = r->s;
  const int64_t *slot = s->slot;
  if (f->op != TT_ADD || f->dtype != f->compute || f->dtype != f->result || f->width > 1) return false;
  switch (f->dtype) {
    SUM_CASE(TT_I32, int32_t)
    SUM_CASE(TT_I64, int64_t)
    SUM_CASE(TT_F32, float)
    SUM_CASE(TT_F64, double)
    default:
      return false;
  }
}

tt_code tt__fold_places(const tt_fold_at *f, const void *value, const int64_t *place, const void *b, void *out,
                        tt_error *err) {
  size_t size = tt__dtype_size(f->dtype), row = size * (size_t)f->width;
  slots s;
  run r = {.f = f, .s = &s, .b = b};
  if (f->n == 0 || f->width == 0) return TT_OK;
  TT_TRY(find(f->op, f->compute, f->result, &r.loop, err));
  if (f->dtype != f->compute) TT_TRY(find(TT_CAST, f->dtype, f->compute, &r.in, err));
  if (f->dtype != f->result) TT_TRY(find(TT_CAST, f->result, f->dtype, &r.out, err));
  TT_TRY(slots_make(&s, place, f->n, err));
  size_t bytes = (size_t)s.count * row;
  tt_code code = TT_OK;
  r.value = tt__mem_alloc(bytes);
  if (!r.value) {
    code = tt__fail_memory(err, bytes);
  } else if (f->width > 1) {
    for (int64_t i = 0; i < f->n; i++)
      memcpy(r.value + (size_t)s.slot[i] * row, (const char *)value + (size_t)i * row, row);
    do_rows(&r);
    for (int64_t i = 0; i < f->n; i++) memcpy((char *)out + (size_t)i * row, r.value + (size_t)s.slot[i] * row, row);
    tt__mem_free(r.value, bytes);
  } else {
    move(size, r.value, s.slot, (void *)value, f->n, true);
    if (!do_sums(&r)) code = do_runs(&r, err);
    if (code == TT_OK) move(size, r.value, s.slot, out, f->n, false);
    tt__mem_free(r.value, bytes);
  }
  slots_free(&s);
  return code;
}
