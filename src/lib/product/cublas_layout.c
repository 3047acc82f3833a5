/* The arithmetic of layouts; see cublas_layout.h. */
#include "lib/product/cublas_layout.h"

#include <assert.h>

/* So many calls cost less than packing would; beyond them the operands are packed, so that axes merge. */
#define MOST_CALLS 64

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* A matrix with these steps as it lies; false when it lies neither by rows nor by columns. */
static bool side_of(int64_t rows, int64_t cols, int64_t row_step, int64_t col_step, tt_gemm_side *out) {
  if (cols == 1) col_step = 1;
  if (rows == 1 && col_step == 1) row_step = max64(cols, 1);
  if (col_step == 1 && row_step >= max64(cols, 1)) {
    *out = (tt_gemm_side){.rows = cols, .cols = rows, .ld = row_step};
    return true;
  }
  if (rows == 1) row_step = 1;
  if (row_step == 1 && col_step >= max64(rows, 1)) {
    *out = (tt_gemm_side){.rows = rows, .cols = cols, .ld = col_step, .turned = true};
    return true;
  }
  return false;
}

int64_t tt__gemm_packed(const tt_operand *a, int64_t step[TT_MAX_RANK]) {
  assert(a->rank >= 2 && a->rank <= TT_MAX_RANK);
  int64_t run = 1;
  for (int d = a->rank - 1; d >= 0; d--) {
    bool matrix = d >= a->rank - 2;
    step[d] = matrix || a->step[d] != 0 ? run : 0;
    if (step[d]) run *= a->len[d];
  }
  return run;
}

/* An operand with the steps it is read by: its own, or those of its packed copy. */
typedef struct steps {
  int64_t at[TT_MAX_RANK];
} steps;

static steps steps_of(const tt_operand *a, bool packed) {
  steps s;
  for (int d = 0; d < a->rank; d++) s.at[d] = a->step[d];
  if (packed) tt__gemm_packed(a, s.at);
  return s;
}

/* Batch axes into p->loop; the number of calls if the longest of them goes into the batch. */
static int64_t axes_of(const tt_operand *a, const steps *sa, const steps *sb, tt_gemm_plan *p) {
  int n = 0;
  int64_t c = p->m * p->n;
  for (int d = a->rank - 3; d >= 0; d--) { /* innermost first, turned round below */
    tt_gemm_axis x = {.len = a->len[d], .a = sa->at[d], .b = sb->at[d], .c = c};
    c *= x.len;
    if (x.len == 1) continue;
    tt_gemm_axis *last = n ? &p->loop[n - 1] : NULL;
    if (last && x.a == last->a * last->len && x.b == last->b * last->len)
      last->len *= x.len;
    else
      p->loop[n++] = x;
  }
  for (int i = 0; i < n / 2; i++) {
    tt_gemm_axis x = p->loop[i];
    p->loop[i] = p->loop[n - 1 - i];
    p->loop[n - 1 - i] = x;
  }
  p->nloop = n;
  int64_t calls = 1, longest = 1;
  for (int i = 0; i < n; i++) {
    calls *= p->loop[i].len;
    longest = max64(longest, p->loop[i].len);
  }
  return calls / longest;
}

/* One matrix b for a stack of matrices a whose rows follow each other: one tall matrix. */
static bool fold_rows(tt_gemm_plan *p) {
  tt_gemm_axis *x = p->nloop ? &p->loop[p->nloop - 1] : NULL;
  if (!x || x->b != 0) return false;
  int64_t rows = p->m * x->len;
  if (p->m == 1) { /* a row each: any distance between them will do */
    if (p->a.turned || x->a < max64(p->k, 1)) return false;
    p->a.ld = x->a;
  } else if (p->a.turned || x->a != p->m * p->a.ld) {
    return false;
  }
  p->m = p->a.cols = rows;
  p->nloop--;
  return true;
}

/* The longest axis becomes the batch of every call; libraries take no negative steps. */
static void choose_batch(tt_gemm_plan *p) {
  int best = -1;
  p->batch = (tt_gemm_axis){.len = 1};
  for (int i = 0; i < p->nloop; i++)
    if (p->loop[i].a >= 0 && p->loop[i].b >= 0 && (best < 0 || p->loop[i].len > p->loop[best].len)) best = i;
  if (best < 0) return;
  p->batch = p->loop[best];
  p->nloop--;
  for (int i = best; i < p->nloop; i++) p->loop[i] = p->loop[i + 1];
}

/* Give the sides of both operands; marks for packing what lies no way. */
static void sides_of(const tt_operand *a, const tt_operand *b, tt_gemm_plan *p) {
  int r = a->rank;
  p->pack_a |= !side_of(p->m, p->k, a->step[r - 2], a->step[r - 1], &p->a);
  p->pack_b |= !side_of(p->k, p->n, b->step[r - 2], b->step[r - 1], &p->b);
  if (p->pack_a) side_of(p->m, p->k, p->k, 1, &p->a);
  if (p->pack_b) side_of(p->k, p->n, p->n, 1, &p->b);
}

void tt__gemm_plan(const tt_operand *a, const tt_operand *b, tt_gemm_plan *p) {
  int r = a->rank;
  assert(r >= 2 && b->rank == r && a->len[r - 1] == b->len[r - 2]);
  *p = (tt_gemm_plan){.m = a->len[r - 2], .n = b->len[r - 1], .k = a->len[r - 1], .batch = {.len = 1}};
  p->empty = p->m == 0 || p->n == 0;
  for (int d = 0; d < r - 2; d++) p->empty |= a->len[d] == 0;
  if (p->empty) return;
  sides_of(a, b, p);
  steps sa = steps_of(a, p->pack_a), sb = steps_of(b, p->pack_b);
  if (axes_of(a, &sa, &sb, p) > MOST_CALLS) {
    p->pack_a = p->pack_b = true;
    sides_of(a, b, p);
    sa = steps_of(a, true);
    sb = steps_of(b, true);
    axes_of(a, &sa, &sb, p);
  }
  while (fold_rows(p)) continue;
  choose_batch(p);
  side_of(p->m, p->n, p->n, 1, &p->c);
}
