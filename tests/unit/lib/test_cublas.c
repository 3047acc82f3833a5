/*
** The calls that we make of cuBLASLt, heard by a library of our own that multiplies on the host: operands, layouts,
** batches, epilogues, what is kept and what is given back, and its failures.
*/
#define TEST_KEEPS_MEMORY
#include "lib/product/cublas.h"

#include "base/os/find.h"
#include "base/os/os.h"
#include "lib/linalg/cusolver.h"
#include "lib/product/gemm.h"
#include "lib/rows.h"

#include "fake_device.h"
#include "test.h"

enum { ROOM = 8192 };

/* ---- the library */

typedef struct fake_desc {
  int compute, scale, op[2];
  uint32_t epilogue;
  const void *bias;
} fake_desc;

typedef struct fake_layout {
  int type;
  int64_t rows, cols, ld, batch, step;
} fake_layout;

static int alive, asked, called, fail_with;
static uint64_t work_wanted;
static uint32_t reduction, align[4];

static int lt_create(void **handle) {
  *handle = &alive;
  return 0;
}
static int desc_create(void **out, int compute, int scale) {
  fake_desc *d = calloc(1, sizeof *d);
  *d = (fake_desc){.compute = compute, .scale = scale, .epilogue = 1};
  *out = d;
  alive++;
  return 0;
}
static int desc_set(void *desc, int attr, const void *value, size_t size) {
  fake_desc *d = desc;
  CHECK_INT(size, attr == 8 ? 8 : 4);
  if (attr == 3 || attr == 4) memcpy(&d->op[attr - 3], value, 4);
  if (attr == 7) memcpy(&d->epilogue, value, 4);
  if (attr == 8) memcpy(&d->bias, value, 8);
  CHECK(attr == 3 || attr == 4 || attr == 7 || attr == 8);
  return 0;
}
static int free_one(void *p) {
  free(p);
  alive--;
  return 0;
}
static int layout_create(void **out, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  fake_layout *l = calloc(1, sizeof *l);
  *l = (fake_layout){type, (int64_t)rows, (int64_t)cols, ld, 1, 0};
  CHECK(ld >= (int64_t)rows && ld > 0);
  *out = l;
  alive++;
  return 0;
}
static int layout_set(void *layout, int attr, const void *value, size_t size) {
  fake_layout *l = layout;
  int32_t n = 0;
  if (attr == 5) memcpy(&n, value, 4), l->batch = n;
  if (attr == 6) memcpy(&l->step, value, 8);
  CHECK_INT(size, attr == 5 ? 4 : 8);
  return 0;
}
static int pref_create(void **out) {
  *out = malloc(1);
  alive++;
  return 0;
}
static int pref_set(void *pref, int attr, const void *value, size_t size) {
  (void)pref;
  CHECK_INT(size, attr == 1 ? 8 : 4);
  if (attr == 1) memcpy(&work_wanted, value, 8);
  if (attr == 3) memcpy(&reduction, value, 4);
  if (attr >= 5 && attr <= 8) memcpy(&align[attr - 5], value, 4);
  return 0;
}
static int heuristic(void *handle, void *desc, void *a, void *b, void *c, void *d, void *pref, int wanted,
                     tt_cublaslt_choice *out, int *found) {
  CHECK(handle == &alive && desc && a && b && c == d && pref && wanted == 1);
  asked++;
  if (fail_with) return fail_with;
  out->work = 1000;
  out->status = 0;
  out->algo.data[3] = 77;
  *found = 1;
  return 0;
}

static const tt_dtype dtype_of[] = {
    [0] = TT_F32, [1] = TT_F64, [2] = TT_F16, [4] = TT_C64, [5] = TT_C128, [14] = TT_BF16};

static int matmul(void *handle, void *desc, const void *alpha, const void *a, void *la, const void *b, void *lb,
                  const void *beta, const void *c, void *lc, void *d, void *ld, const tt_cublaslt_algo *algo,
                  void *work, size_t work_size, void *stream) {
  fake_desc *f = desc;
  fake_layout *x = la, *y = lb, *z = lc;
  tt_dtype t = dtype_of[x->type];
  double one = f->scale == 1 || f->scale == 5 ? *(const double *)alpha : *(const float *)alpha;
  double share = f->scale == 1 || f->scale == 5 ? *(const double *)beta : *(const float *)beta;
  CHECK(handle == &alive && one == 1 && (share == 0 ? c == d : share == 1 && c != d && t == TT_F32) && lc == ld);
  CHECK(algo->data[3] == 77);
  CHECK(work && work_size == 1000 && !stream);
  CHECK(f->compute == (t == TT_F64 || t == TT_C128 ? 70 : 68));
  called++;
  int64_t m = f->op[0] ? x->cols : x->rows, k = f->op[0] ? x->rows : x->cols, n = f->op[1] ? y->rows : y->cols;
  CHECK(m == z->rows && n == z->cols && k == (f->op[1] ? y->cols : y->rows));
  CHECK(x->batch == y->batch && x->batch == z->batch);
  for (int64_t i = 0; i < x->batch; i++) {
    int64_t size = (int64_t)tt__dtype_size(t);
    CHECK_INT(tt__gemm(t, m, n, k, (const char *)a + i * x->step * size, f->op[0] ? x->ld : 1, f->op[0] ? 1 : x->ld,
                       (const char *)b + i * y->step * size, f->op[1] ? y->ld : 1, f->op[1] ? 1 : y->ld,
                       (char *)d + i * z->step * size, 1, z->ld, NULL),
              TT_OK);
    float *out = (float *)d + i * z->step;
    const float *more = (const float *)c + i * z->step;
    for (int64_t r = 0; r < m && (f->epilogue != 1 || share == 1); r++)
      for (int64_t s = 0; s < n; s++) {
        if (share == 1) out[r + s * z->ld] += more[r + s * z->ld];
        if (f->epilogue & 4) out[r + s * z->ld] += ((const float *)f->bias)[r];
        if (f->epilogue & 2 && out[r + s * z->ld] < 0) out[r + s * z->ld] = 0;
      }
  }
  return 0;
}

static void *no_stream(tt_device *d, tt_stream *s) {
  (void)d, (void)s;
  return NULL;
}
static int entered;
static tt_code enter(tt_device *d, tt_error *err) {
  (void)d, (void)err;
  entered++;
  return TT_OK;
}

static const tt_interop_ops interop = {.handle = no_stream, .enter = enter, .asked = fake_asked};
static tt_device_ops ops;
static tt_device gpu;
static tt_lib_device on;

static void play(void) {
  static const tt_cublaslt fns = {lt_create, desc_create, desc_set, free_one, layout_create, layout_set,
                                  free_one,  pref_create, pref_set, free_one, heuristic,     matmul};
  memcpy(tt__vendor_cublaslt.fn, &fns, sizeof fns);
  tt__vendor_cublaslt.played = true;
  ops = fake_ops;
  ops.interop = &interop;
  gpu = fake_gpu;
  gpu.ops = &ops;
  on = fake;
  on.device = &gpu;
}

/* ---- the tests */

static char memory[2][ROOM * 16], got[ROOM * 16], want[ROOM * 16];

static void fill(tt_dtype t) {
  unsigned seed = 1;
  for (int m = 0; m < 2; m++)
    for (int64_t i = 0; i < ROOM * 16; i++) {
      seed = seed * 1664525u + 1013904223u;
      int v = (int)(seed >> 24) % 5 - 2;
      size_t n = tt__is_complex(t) ? tt__dtype_size(t) / 2 : tt__dtype_size(t);
      if ((i + 1) * (int64_t)n > ROOM * 16) break;
      static const uint16_t f16[5] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000}, bf16[5] = {0xc000, 0xbf80, 0, 0x3f80, 0x4000};
      float f = (float)v;
      double d = v;
      memcpy(memory[m] + i * (int64_t)n,
             t == TT_F16    ? (const void *)&f16[v + 2]
             : t == TT_BF16 ? (const void *)&bf16[v + 2]
             : n == 4       ? (const void *)&f
                            : (const void *)&d,
             n);
    }
}

static void product(tt_dtype t, int rank, const int64_t *la, const int64_t *sa, const int64_t *lb, const int64_t *sb) {
  tt_operand a = {memory[0], t, rank, la, sa, 1}, b = {memory[1], t, rank, lb, sb, 1};
  tt_gemm_plan p;
  tt_error err = {0};
  tt__gemm_plan(&a, &b, &p);
  CHECK(!p.pack_a && !p.pack_b && !p.empty);
  memset(got, 0x11, sizeof got);
  memset(want, 0x11, sizeof want);
  CHECK_INT(tt__cublas_product(&on, &p, t, false, 0, a.data, b.data, NULL, got, &err), TT_OK);
  fake_end();
  int64_t batch = rank > 2 ? la[0] : 1, heads = rank > 3 ? la[1] : 1, m = la[rank - 2], n = lb[rank - 1],
          k = la[rank - 1];
  for (int64_t i = 0; i < batch; i++)
    for (int64_t j = 0; j < heads; j++) {
      int64_t size = (int64_t)tt__dtype_size(t), oa = rank > 2 ? i * sa[0] : 0, ob = rank > 2 ? i * sb[0] : 0;
      if (rank > 3) oa += j * sa[1], ob += j * sb[1];
      CHECK_INT(tt__gemm(t, m, n, k, memory[0] + oa * size, sa[rank - 2], sa[rank - 1], memory[1] + ob * size,
                         sb[rank - 2], sb[rank - 1], want + (i * heads + j) * m * n * size, n, 1, &err),
                TT_OK);
    }
  CHECK(memcmp(got, want, sizeof got) == 0);
}

TEST(products) {
  play();
  for (tt_dtype t = TT_F16; t <= TT_C128; t++) {
    fill(t);
    product(t, 2, (int64_t[]){5, 7}, (int64_t[]){7, 1}, (int64_t[]){7, 3}, (int64_t[]){3, 1});
    CHECK_INT(reduction, t == TT_F16 || t == TT_BF16 ? 2 : 7);
    CHECK_INT(work_wanted, 32 << 20);
    product(t, 2, (int64_t[]){5, 7}, (int64_t[]){1, 6}, (int64_t[]){7, 3}, (int64_t[]){1, 9});
    product(t, 3, (int64_t[]){4, 5, 7}, (int64_t[]){35, 7, 1}, (int64_t[]){4, 7, 3}, (int64_t[]){21, 3, 1});
    product(t, 3, (int64_t[]){4, 5, 7}, (int64_t[]){35, 1, 5}, (int64_t[]){4, 7, 3}, (int64_t[]){0, 3, 1});
    product(t, 4, (int64_t[]){2, 3, 4, 5}, (int64_t[]){60, 5, 15, 1}, (int64_t[]){2, 3, 5, 4},
            (int64_t[]){60, 5, 1, 15});
    product(t, 2, (int64_t[]){1, 7}, (int64_t[]){7, 1}, (int64_t[]){7, 1}, (int64_t[]){4, 1});
  }
  CHECK(entered > 0 && tt__vendor_cublaslt.ndevice == 1);
  CHECK(fake_asked_for > 0);
  CHECK_STR(fake_last_asked, "cublasLtMatmul");
}

/* Operands that lie neither by rows nor by columns are packed by a kernel of ours first. */
TEST(products_of_odd_views) {
  play();
  for (tt_dtype t = TT_F16; t <= TT_C128; t++) {
    fill(t);
    int64_t len_a[] = {3, 5, 7}, len_b[] = {3, 7, 4}, size = (int64_t)tt__dtype_size(t);
    static const int64_t steps[][6] = {{70, 14, 2, 28, 4, 1},  {70, 14, 2, 0, 8, 2},      {35, 7, 1, 56, -8, 2},
                                       {0, 0, 1, 28, 4, 1},    {1, 21, 3, 28, 1, 7},      {35, -7, -1, 28, 4, 1},
                                       {-35, 7, 1, -28, 4, 1}, {1000, 100, 9, 1, 30, 200}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
      const int64_t *sa = steps[i], *sb = steps[i] + 3;
      tt_operand src[2] = {{memory[0] + 500 * size, t, 3, len_a, sa, 105},
                           {memory[1] + 500 * size, t, 3, len_b, sb, 84}};
      int64_t len[] = {3, 5, 4};
      tt_block out = {got, t, 3, len, 60};
      memset(got, 0x11, sizeof got);
      memset(want, 0x11, sizeof want);
      int before = called;
      CHECK_INT(tt__rows_product[0].run_on(&on, NULL, src, &out, NULL), TT_OK);
      CHECK(called > before);
      fake_end();
      out.data = want;
      CHECK_INT(tt__rows_product[0].run(NULL, src, &out, NULL), TT_OK);
      CHECK(memcmp(got, want, sizeof got) == 0);
    }
  }
}

TEST(choices_are_kept) {
  play();
  fill(TT_F32);
  int before = asked;
  for (int i = 0; i < 5; i++)
    product(TT_F32, 2, (int64_t[]){9, 8}, (int64_t[]){8, 1}, (int64_t[]){8, 2}, (int64_t[]){2, 1});
  CHECK_INT(asked - before, 1);
  for (int i = 1; i < 3000; i++)
    product(TT_F32, 2, (int64_t[]){1 + i % 57, 1 + i / 57}, (int64_t[]){64, 1}, (int64_t[]){1 + i / 57, 1},
            (int64_t[]){1, 1});
  CHECK(alive <= 512 * 4 + 1);
}

TEST(epilogues) {
  play();
  fill(TT_F32);
  static float bias[3] = {10, -100, 0.5f}, c[15], plain[15];
  tt_operand a = {memory[0], TT_F32, 2, (int64_t[]){5, 7}, (int64_t[]){7, 1}, 35};
  tt_operand b = {memory[1], TT_F32, 2, (int64_t[]){7, 3}, (int64_t[]){3, 1}, 21};
  tt_gemm_plan p;
  tt__gemm_plan(&a, &b, &p);
  CHECK_INT(tt__cublas_product(&on, &p, TT_F32, false, 0, a.data, b.data, NULL, plain, NULL), TT_OK);
  CHECK_INT(
      tt__cublas_product(&on, &p, TT_F32, false, TT_EPILOGUE_BIAS | TT_EPILOGUE_RELU, a.data, b.data, bias, c, NULL),
      TT_OK);
  fake_end();
  for (int i = 0; i < 15; i++) {
    float x = plain[i] + bias[i % 3];
    CHECK(c[i] == (x > 0 ? x : 0));
  }
}

TEST(sums_with_an_array) {
  play();
  fill(TT_F32);
  static float term[120], c[120], plain[120];
  for (int i = 0; i < 120; i++) term[i] = (float)i;
  int64_t len_a[] = {2, 3, 4, 5}, len_b[] = {2, 3, 5, 5};
  tt_operand a = {memory[0], TT_F32, 4, len_a, (int64_t[]){60, 5, 15, 1}, 120}; /* no single step: calls in a loop */
  tt_operand b = {memory[1], TT_F32, 4, len_b, (int64_t[]){75, 25, 5, 1}, 150};
  tt_gemm_plan p;
  tt__gemm_plan(&a, &b, &p);
  CHECK(p.nloop == 1);
  CHECK_INT(tt__cublas_product(&on, &p, TT_F32, false, 0, a.data, b.data, NULL, plain, NULL), TT_OK);
  CHECK_INT(tt__cublas_product(&on, &p, TT_F32, false, TT_EPILOGUE_ADD, a.data, b.data, term, c, NULL), TT_OK);
  fake_end();
  for (int i = 0; i < 120; i++) CHECK(c[i] == plain[i] + term[i]);
}

TEST(what_the_library_refuses) {
  play();
  fill(TT_F32);
  tt_operand a = {memory[0], TT_F32, 2, (int64_t[]){5, 6}, (int64_t[]){6, 1}, 30};
  tt_operand b = {memory[1], TT_F32, 2, (int64_t[]){6, 3}, (int64_t[]){3, 1}, 18};
  tt_gemm_plan p;
  tt__gemm_plan(&a, &b, &p);
  int before = alive;
  static const struct {
    int status;
    tt_code code;
  } cases[] = {{15, TT_ENOTIMPL}, {3, TT_ENOMEM}, {13, TT_EDEVICE}};
  for (int i = 0; i < 3; i++) {
    fail_with = cases[i].status;
    CHECK_INT(tt__cublas_product(&on, &p, TT_F32, false, 0, a.data, b.data, NULL, got, NULL), cases[i].code);
  }
  fail_with = 0;
  CHECK(alive <= before); /* an old choice made room */
  CHECK_INT(tt__cublas_product(&on, &p, TT_F32, false, 0, a.data, b.data, NULL, got, NULL), TT_OK);
  CHECK(!tt__cublas_serves(&on, TT_I32) && tt__cublas_serves(&on, TT_F32));
  fake_end();
}

/* Where the libraries are, with a device or without, they have what we call. */
TEST(names_are_theirs) {
  const tt_vendor *all[] = {&tt__vendor_cublaslt, &tt__vendor_cublas, &tt__vendor_cusolver};
  for (int v = 0; v < 3; v++) {
    char path[600];
    void *lib = tt__find_library(all[v]->stem, NULL, NULL, path, sizeof path);
    if (!lib) printf("skipped: %s\n", path);
    for (int i = 0; lib && i < all[v]->n; i++) {
      const char *name = all[v]->name[i];
      CHECK(*name == '?' || tt__lib_sym(lib, name));
      if (*name != '?' && !tt__lib_sym(lib, name)) fprintf(stderr, "no %s in %s\n", name, path);
    }
  }
}

TEST_MAIN()
