/*
** A reduction of few elements without a kernel. It takes the walk that kernel/axes.c would choose for a kernel whose
** only operand this is, and folds as ir/kernel.h says, so the bits are that kernel's.
*/
#include <string.h>

#include "device/cpu/vm.h"
#include "device/cpu/vm_int.h"
#include "ir/library.h"

/* As in kernel/axes.c. */
enum { FEW_LANES = 32, SHORT_ROW = 32, MANY_LANES = 64, MOST_OF_A_WARP = 24 };

/* So many rows are folded by columns, and how many at a time. */
enum { MANY_ROWS = 16, SHORT_BLOCK = 256 };

/* The axes in the order of the walk: `outer` ones, then those of the row. */
typedef struct walk {
  int rank, outer;
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK];
  int axis[TT_MAX_RANK]; /* of the operand */
  int64_t points, row;   /* of the results, and in a row */
} walk;

/* Asked for once: to find it takes a look at the environment. */
static const tt_vm_table *loops(void) {
  static const tt_vm_table *known;
  const tt_vm_table *t = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!t) __atomic_store_n(&known, t = tt__vm_table(), __ATOMIC_RELAXED);
  return t;
}

static void order_axes(const tt_small_fold *f, walk *w) {
  w->rank = w->outer = 0; /* not cleared as a whole: a kilobyte of axes */
  w->points = w->row = 1;
  for (int row = 0; row < 2; row++) {
    for (int k = 0; k < f->rank; k++) {
      if ((int)(f->axes >> k & 1) != row || f->len[k] == 1) continue; /* plans have no axes of length 1 */
      w->len[w->rank] = f->len[k];
      w->axis[w->rank] = k;
      w->step[w->rank++] = f->step[k];
      *(row ? &w->row : &w->points) *= f->len[k];
    }
    if (!row) w->outer = w->rank;
  }
}

static bool is_col(const walk *w) {
  int lane = w->outer - 1;
  if (lane < 0) return false;
  bool far_apart = w->axis[w->rank - 1] < w->axis[lane] && w->len[lane] >= FEW_LANES;
  bool enough = w->len[lane] >= MANY_LANES || (w->len[lane] >= MOST_OF_A_WARP && 4 * w->row <= w->len[lane]);
  return far_apart || (w->row < SHORT_ROW && enough);
}

/* Neighbouring axes of the results that memory walks as one become one: after the way to fold is chosen, by all. */
static void merge_outer(walk *w) {
  for (int i = w->outer - 2; i >= 0; i--) {
    if (w->step[i] != w->step[i + 1] * w->len[i + 1]) continue;
    w->len[i + 1] *= w->len[i];
    w->rank--;
    w->outer--;
    for (int k = i; k < w->rank; k++) {
      w->len[k] = w->len[k + 1];
      w->step[k] = w->step[k + 1];
      w->axis[k] = w->axis[k + 1];
    }
  }
}

/* Elements that are folded as one line of a row: the last axis and those that memory continues it with. */
static int64_t line_of(const walk *w) {
  int64_t n = w->len[w->rank - 1];
  for (int i = w->rank - 2; i >= w->outer && w->step[i] == w->step[i + 1] * w->len[i + 1]; i--) n *= w->len[i];
  return n;
}

/* Is a row more than one chunk? */
static bool is_chunked(const walk *w) {
  int64_t line = line_of(w);
  return w->row > (line == w->row ? TT_CHUNK : tt__chunk_lines(line) * line);
}

/* The elements in the order of the axes [first, first + rank) round: where they lie, or copied to `room`. */
static const char *in_order(const tt_small_fold *f, const walk *w, int first, int shift) {
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK], index[TT_MAX_RANK], run = 1;
  bool dense = true;
  int n = w->rank;
  for (int k = 0; k < n; k++) {
    len[k] = w->len[(first + k) % n];
    step[k] = w->step[(first + k) % n];
    index[k] = 0;
  }
  for (int k = n; k-- > 0; run *= len[k]) dense &= len[k] == 1 || step[k] == run;
  if (dense) return f->data;
  tt_vm_load load = loops()->load[shift];
  const char *from = f->data;
  for (char *to = f->room, *end = to + (run << shift); to < end; to += len[n - 1] << shift) {
    load(to, from, step[n - 1], len[n - 1]);
    for (int k = n - 2; k >= 0; k--) {
      from += step[k] * ((int64_t)1 << shift);
      if (++index[k] < len[k]) break;
      from -= step[k] * len[k] * ((int64_t)1 << shift);
      index[k] = 0;
    }
  }
  return f->room;
}

/* ---- both ways to fold */

typedef struct folder {
  tt_op op;
  bool arg;
  int shift;
  tt_scalar start;
  tt_vm_arg arg_lanes;
  tt_vm_argfold arg_fold;
} folder;

static bool find_loops(const tt_small_fold *f, folder *g) {
  const tt_vm_table *t = loops();
  size_t item = tt__dtype_size(f->dtype);
  bool max = f->red == TT_RED_ARGMAX;
  *g = (folder){.arg = max || f->red == TT_RED_ARGMIN, .start = tt__vm_identity(f->red, f->dtype)};
  g->shift = item == 1 ? 0 : item == 2 ? 1 : item == 4 ? 2 : 3;
  g->op = tt__vm_combine_op(f->red);
  g->arg_lanes = max ? t->argmax[f->dtype] : t->argmin[f->dtype];
  g->arg_fold = max ? t->argfold_max[f->dtype] : t->argfold_min[f->dtype];
  if (g->arg) return g->arg_lanes && g->arg_fold;
  return t->red[g->op][f->dtype] && t->fold[g->op][f->dtype] && t->op[g->op][f->dtype];
}

static void fold_rows(const tt_small_fold *f, const folder *g, const walk *w, char *out) {
  const tt_vm_table *t = loops();
  _Alignas(64) tt_scalar acc[TT_LANES];
  _Alignas(64) int64_t at[TT_LANES], none = -1;
  const char *v = in_order(f, w, 0, g->shift);
  int64_t line = line_of(w);
  for (int64_t p = 0; p < w->points; p++) {
    t->splat[g->shift](acc, &g->start, TT_LANES);
    if (g->arg) t->splat[3](at, &none, TT_LANES);
    for (int64_t done = 0; done < w->row; done += line, v += line << g->shift) {
      if (g->arg)
        g->arg_lanes(acc, at, v, done, 1, TT_LANES, line);
      else
        t->red[g->op][f->dtype](acc, v, line);
    }
    if (g->arg) {
      g->arg_fold(acc, at);
      ((int64_t *)(void *)out)[p] = at[0];
    } else {
      t->fold[g->op][f->dtype](acc);
      memcpy(out + (p << g->shift), acc, (size_t)1 << g->shift);
    }
  }
}

enum { LOOKED_AT = 256 }; /* elements that are compared together */

/* The first element equal to the extremum `best`, or the first NaN if that is what it is. */
static int64_t find_extremum(const tt_vm_table *t, tt_dtype dtype, int shift, const char *v, const void *best,
                             int64_t n) {
  _Alignas(64) char wanted[LOOKED_AT * sizeof(int64_t)];
  uint8_t found[LOOKED_AT];
  t->op[TT_NE][dtype](found, best, best, NULL, 1);
  bool is_nan = found[0];
  if (!is_nan) t->splat[shift](wanted, best, n < LOOKED_AT ? n : LOOKED_AT);
  for (int64_t i = 0; i < n; i += LOOKED_AT) {
    const char *at = v + (i << shift);
    int64_t few = n - i < LOOKED_AT ? n - i : LOOKED_AT;
    t->op[is_nan ? TT_NE : TT_EQ][dtype](found, at, is_nan ? at : wanted, NULL, few);
    const uint8_t *first = memchr(found, 1, (size_t)few);
    if (first) return i + (first - found);
  }
  return 0;
}

/* The place of the extremum in each row is the same whichever way it is looked for: here by lanes or by its value. */
static bool find_in_rows(const tt_small_fold *f, const walk *w, int shift, int64_t *out) {
  const tt_vm_table *t = loops();
  tt_op op = f->red == TT_RED_ARGMAX ? TT_MAXIMUM : TT_MINIMUM;
  tt_vm_place place = (f->red == TT_RED_ARGMAX ? t->place_max : t->place_min)[f->dtype];
  _Alignas(64) tt_scalar acc[TT_LANES];
  if (place) {
    place(out, 1, in_order(f, w, 0, shift), w->row, w->row, w->points);
    return true;
  }
  if (!t->red[op][f->dtype] || !t->op[TT_EQ][f->dtype] || !t->op[TT_NE][f->dtype]) return false;
  const char *v = in_order(f, w, 0, shift);
  tt_scalar start = tt__vm_identity(f->red == TT_RED_ARGMAX ? TT_RED_MAX : TT_RED_MIN, f->dtype);
  for (int64_t p = 0; p < w->points; p++, v += w->row << shift) {
    t->splat[shift](acc, &start, TT_LANES);
    t->red[op][f->dtype](acc, v, w->row);
    t->fold[op][f->dtype](acc);
    out[p] = find_extremum(t, f->dtype, shift, v, acc, w->row);
  }
  return true;
}

/*
** Rows of few elements, all rows at a time: column j of them is accumulator j, and what fold_rows does with one row's
** accumulators is done with columns. Those that no element reached are what they begin with, and change nothing.
*/
static void fold_short_rows(const tt_small_fold *f, const folder *g, const walk *w, char *out) {
  const tt_vm_table *t = loops();
  bool plain = w->rank == 2; /* columns are read where they lie */
  const char *v = plain ? f->data : in_order(f, w, 0, g->shift);
  int64_t across = plain ? w->step[0] : w->row, along = plain ? w->step[1] : 1;
  char *column[TT_LANES], *to = f->more;
  _Alignas(64) char start[SHORT_BLOCK * sizeof(int64_t)];
  int n = (int)w->row, half = 1;
  int64_t block = w->points < SHORT_BLOCK ? w->points : SHORT_BLOCK;
  while (2 * half < n) half *= 2;
  t->splat[g->shift](start, &g->start, block);
  for (int64_t p = 0; p < w->points; p += block) {
    int64_t few = w->points - p < block ? w->points - p : block;
    for (int j = 0; j < n; j++) {
      column[j] = to + ((size_t)(j * block) << g->shift);
      t->load[g->shift](column[j], v + (p * across + j * along) * ((int64_t)1 << g->shift), across, few);
      t->op[g->op][f->dtype](column[j], start, column[j], NULL, few);
    }
    for (int h = half; h > 0; h /= 2)
      for (int j = 0; j < h && j + h < n; j++) t->op[g->op][f->dtype](column[j], column[j], column[j + h], NULL, few);
    memcpy(out + ((size_t)p << g->shift), column[0], (size_t)few << g->shift);
  }
}

/* One line a row, whose elements all have an accumulator of their own, and so many rows that columns are worth it. */
static bool has_short_rows(const folder *g, const walk *w) {
  return !g->arg && w->row <= TT_LANES && w->points >= MANY_ROWS && line_of(w) == w->row;
}

/* The places of extrema are those of all rows, whatever chunks these come in. */
static void find_in_columns(const tt_small_fold *f, const folder *g, const walk *w, int64_t *out) {
  const tt_vm_table *t = loops();
  int64_t none = -1, n = w->points;
  const char *v = in_order(f, w, w->outer, g->shift);
  t->splat[g->shift](f->more, &g->start, n);
  t->splat[3](out, &none, n);
  for (int64_t r = 0; r < w->row; r++, v += n << g->shift) g->arg_lanes(f->more, out, v, r, 0, n, n);
}

static void fold_columns(const tt_small_fold *f, const folder *g, const walk *w, char *out) {
  const tt_vm_table *t = loops();
  int64_t n = w->points;
  const char *v = in_order(f, w, w->outer, g->shift);
  for (int64_t r = 0; r < w->row; r += TT_CHUNK_COL) {
    int64_t end = w->row - r < TT_CHUNK_COL ? w->row : r + TT_CHUNK_COL;
    char *acc = r == 0 ? out : f->more;
    t->splat[g->shift](acc, &g->start, n);
    for (int64_t i = r; i < end; i++, v += n << g->shift) t->op[g->op][f->dtype](acc, acc, v, NULL, n);
    if (r > 0) t->op[g->op][f->dtype](out, out, acc, NULL, n);
  }
}

/* Rows of one element are not folded. */
static bool copy_only(const tt_small_fold *f, const folder *g, const walk *w, void *out) {
  if (g->arg)
    memset(out, 0, (size_t)w->points * sizeof(int64_t));
  else if (w->rank == 0)
    memcpy(out, f->data, (size_t)1 << g->shift);
  else
    memcpy(out, in_order(f, w, 0, g->shift), (size_t)w->points << g->shift);
  return true;
}

bool tt__vm_small_fold(const tt_small_fold *f, void *out) {
  walk w;
  folder g;
  if (!find_loops(f, &g)) return false;
  order_axes(f, &w);
  if (w.rank == w.outer) return copy_only(f, &g, &w, out);
  bool col = is_col(&w);
  if (!col && is_chunked(&w)) return false;
  merge_outer(&w);
  if (g.arg && find_in_rows(f, &w, g.shift, out)) return true;
  if (!col && has_short_rows(&g, &w))
    fold_short_rows(f, &g, &w, out);
  else if (col && g.arg)
    find_in_columns(f, &g, &w, out);
  else if (col)
    fold_columns(f, &g, &w, out);
  else
    fold_rows(f, &g, &w, out);
  return true;
}
