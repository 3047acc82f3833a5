/*
** Products planned for a column-major library, run by a plain column-major product, against the definition: random
** ranks, lengths, steps (transposed, strided, reversed, broadcast) and batches.
*/
#include "lib/product/cublas_layout.h"
#include "random.h"
#include "test.h"

enum { ROOM = 4096 };

/* D[m, n] = op(A) op(B), as a library of columns does it. */
static void column_gemm(const tt_gemm_side *a, const double *pa, const tt_gemm_side *b, const double *pb,
                        const tt_gemm_side *d, double *pd) {
  int64_t m = a->turned ? a->cols : a->rows, k = a->turned ? a->rows : a->cols, n = b->turned ? b->rows : b->cols;
  CHECK_INT(b->turned ? b->cols : b->rows, k);
  CHECK_INT(d->rows, m);
  CHECK_INT(d->cols, n);
  CHECK(a->ld >= (a->rows ? a->rows : 1) && b->ld >= (b->rows ? b->rows : 1) && d->ld >= m && !d->turned);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += pa[a->turned ? l + i * a->ld : i + l * a->ld] * pb[b->turned ? j + l * b->ld : l + j * b->ld];
      pd[i + j * d->ld] = sum;
    }
}

static void pack(const tt_operand *a, double *to) {
  int64_t step[TT_MAX_RANK], index[TT_MAX_RANK] = {0}, from = 0, at = 0;
  CHECK(tt__gemm_packed(a, step) <= ROOM);
  for (;;) {
    to[at] = ((const double *)a->data)[from];
    int d = a->rank - 1;
    for (; d >= 0; d--) {
      from += a->step[d], at += step[d];
      if (++index[d] < a->len[d]) break;
      from -= a->step[d] * a->len[d], at -= step[d] * a->len[d];
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

static int calls;

static void run(const tt_gemm_plan *p, const double *a, const double *b, double *c, int axis) {
  if (axis < p->nloop) {
    const tt_gemm_axis *x = &p->loop[axis];
    for (int64_t i = 0; i < x->len; i++) run(p, a + i * x->a, b + i * x->b, c + i * x->c, axis + 1);
    return;
  }
  calls++;
  CHECK(p->batch.a >= 0 && p->batch.b >= 0);
  for (int64_t i = 0; i < p->batch.len; i++)
    column_gemm(&p->b, b + i * p->batch.b, &p->a, a + i * p->batch.a, &p->c, c + i * p->batch.c);
}

static void reference(const tt_operand *a, const tt_operand *b, double *c, int axis, int64_t oa, int64_t ob,
                      int64_t *oc) {
  int r = a->rank;
  if (axis < r - 2) {
    for (int64_t i = 0; i < a->len[axis]; i++)
      reference(a, b, c, axis + 1, oa + i * a->step[axis], ob + i * b->step[axis], oc);
    return;
  }
  const double *pa = a->data, *pb = b->data;
  for (int64_t i = 0; i < a->len[r - 2]; i++)
    for (int64_t j = 0; j < b->len[r - 1]; j++) {
      double sum = 0;
      for (int64_t k = 0; k < a->len[r - 1]; k++)
        sum += pa[oa + i * a->step[r - 2] + k * a->step[r - 1]] * pb[ob + k * b->step[r - 2] + j * b->step[r - 1]];
      c[(*oc)++] = sum;
    }
}

/* Whole product through the plan and by the definition. */
static void check(const tt_operand *a, const tt_operand *b) {
  static double pa[ROOM], pb[ROOM], got[ROOM], want[ROOM];
  tt_gemm_plan p;
  int64_t n = 0;
  tt__gemm_plan(a, b, &p);
  reference(a, b, want, 0, 0, 0, &n);
  CHECK_INT(p.empty, n == 0);
  if (p.empty) return;
  if (p.pack_a) pack(a, pa);
  if (p.pack_b) pack(b, pb);
  memset(got, 0xff, sizeof got);
  calls = 0;
  run(&p, p.pack_a ? pa : a->data, p.pack_b ? pb : b->data, got, 0);
  CHECK(memcmp(got, want, sizeof(double) * (size_t)n) == 0);
}

/* A view of random steps into `memory`: axes in any order, some reversed, some stretched, some broadcast. */
static tt_operand view(const double *memory, int rank, const int64_t *len, int64_t *step) {
  int order[8];
  int64_t run = 1, off = 0;
  for (int i = 0; i < rank; i++) order[i] = i;
  for (int i = rank - 1; i > 0; i--) {
    int j = draw_below(3) ? i : (int)draw_below(i + 1), t = order[i];
    order[i] = order[j], order[j] = t;
  }
  for (int i = rank - 1; i >= 0; i--) {
    int d = order[i];
    bool flat = draw_below(6) == 0;
    if (draw_below(8) == 0) run *= 2;
    step[d] = flat ? 0 : run;
    if (!flat) run *= len[d];
    if (draw_below(12) == 0) off += step[d] * (len[d] - 1), step[d] = -step[d];
  }
  CHECK(run <= ROOM);
  return (tt_operand){.data = memory + (off > 0 ? off : 0), .dtype = TT_F64, .rank = rank, .len = len, .step = step};
}

TEST(plans_are_products) {
  static double memory[2][ROOM];
  for (int i = 0; i < ROOM; i++)
    memory[0][i] = (double)(draw_below(19) - 9), memory[1][i] = (double)(draw_below(19) - 9);
  for (int round = 0; round < 30000 && !test_failures; round++) {
    int64_t la[8], lb[8], sa[8], sb[8];
    int rank = 2 + (int)draw_below(3);
    for (int d = 0; d < rank - 2; d++) la[d] = lb[d] = draw_below(20) ? 1 + draw_below(3) : 0;
    la[rank - 2] = draw_below(25) ? 1 + draw_below(4) : 0;
    la[rank - 1] = lb[rank - 2] = 1 + draw_below(4);
    lb[rank - 1] = draw_below(25) ? 1 + draw_below(4) : 0;
    tt_operand a = view(memory[0], rank, la, sa), b = view(memory[1], rank, lb, sb);
    check(&a, &b);
  }
}

static tt_gemm_plan plan_of(int rank, const int64_t *la, const int64_t *sa, const int64_t *lb, const int64_t *sb) {
  tt_operand a = {.rank = rank, .len = la, .step = sa}, b = {.rank = rank, .len = lb, .step = sb};
  tt_gemm_plan p;
  tt__gemm_plan(&a, &b, &p);
  return p;
}

TEST(common_products_are_one_call) {
  /* a layer: a stack of rows times one matrix */
  tt_gemm_plan p =
      plan_of(3, (int64_t[]){8, 16, 32}, (int64_t[]){512, 32, 1}, (int64_t[]){8, 32, 64}, (int64_t[]){0, 64, 1});
  CHECK(!p.pack_a && !p.pack_b && p.nloop == 0 && p.batch.len == 1);
  CHECK_INT(p.m, 128);
  /* x @ w.T as w lies */
  p = plan_of(2, (int64_t[]){16, 32}, (int64_t[]){32, 1}, (int64_t[]){32, 64}, (int64_t[]){1, 32});
  CHECK(!p.pack_b && p.b.turned && !p.a.turned);
  CHECK_INT(p.b.ld, 32);
  /* heads of attention, q @ k.T: [batch, head, time, dim] seen through [batch, time, head, dim] */
  p = plan_of(4, (int64_t[]){2, 12, 64, 32}, (int64_t[]){24576, 32, 384, 1}, (int64_t[]){2, 12, 32, 64},
              (int64_t[]){24576, 32, 1, 384});
  CHECK(!p.pack_a && !p.pack_b && p.nloop == 1);
  CHECK_INT(p.batch.len, 12);
  /* many vectors by one matrix */
  p = plan_of(3, (int64_t[]){100, 1, 8}, (int64_t[]){8, 8, 1}, (int64_t[]){100, 8, 8}, (int64_t[]){0, 8, 1});
  CHECK(p.batch.len == 1 && p.nloop == 0);
  CHECK_INT(p.m, 100);
}

TEST_MAIN()
