/*
** Our own product kernels, run by an emulated device, against the host's rows: every type, transposed, strided and
** broadcast operands, batches, sizes around the tiles.
*/
#define TEST_KEEPS_MEMORY
#include "lib/product/device.h"

#include <math.h>

#include "lib/rows.h"

#include "fake_device.h"
#include "random.h"
#include "test.h"

enum { ROOM = 60000 };

/* Small whole numbers: their products and sums are exact in every type, so results are compared as bits. */
static void fill(tt_dtype t, void *p, int64_t n) {
  static const uint16_t f16[5] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000}, bf16[5] = {0xc000, 0xbf80, 0, 0x3f80, 0x4000};
  for (int64_t i = 0; i < n; i++) {
    int v = (int)draw_below(5);
    tt_scalar x = {.bits = {(uint64_t)draw_below(INT64_MAX), 0}};
    double d = v - 2;
    if (t == TT_BOOL) x.b8 = draw_below(40) == 0;
    if (t == TT_F16) x.f16 = f16[v];
    if (t == TT_BF16) x.bf16 = bf16[v];
    if (t == TT_F32) x.f32 = (float)d;
    if (t == TT_F64) x.f64 = d;
    if (t == TT_C64) x.c64 = (tt_c64){(float)d, (float)(draw_below(5) - 2)};
    if (t == TT_C128) x.c128 = (tt_c128){d, (double)(draw_below(5) - 2)};
    memcpy((char *)p + (size_t)i * tt__dtype_size(t), &x, tt__dtype_size(t));
  }
}

static char memory[2][ROOM * 16], got[ROOM * 16], want[ROOM * 16];

/* A view with the axes of `len` lying in any order in memory, some reversed or broadcast. */
static tt_operand view(tt_dtype t, char *base, int rank, const int64_t *len, int64_t *step, bool twisted) {
  int order[4] = {0, 1, 2, 3};
  int64_t run = 1, off = 0;
  for (int i = rank - 1; i > 0 && twisted; i--) {
    int j = (int)draw_below(i + 1), x = order[i];
    order[i] = order[j], order[j] = x;
  }
  for (int i = rank - 1; i >= 0; i--) {
    int d = order[i];
    bool flat = twisted && draw_below(6) == 0;
    if (twisted && draw_below(8) == 0) run *= 2;
    step[d] = flat ? 0 : run;
    if (!flat && len[d]) run *= len[d];
    if (twisted && draw_below(8) == 0 && len[d]) off += step[d] * (len[d] - 1), step[d] = -step[d];
  }
  CHECK(run <= ROOM);
  return (tt_operand){
      .data = base + off * (int64_t)tt__dtype_size(t), .dtype = t, .rank = rank, .len = len, .step = step};
}

/* A BLAS on the host may give zeros of either sign: all of ours become 0. */
static void drop_signs_of_zeros(tt_dtype t, char *p, int64_t n) {
  if (t == TT_F32 || t == TT_C64)
    for (int64_t i = 0; i < n * (t == TT_C64 ? 2 : 1); i++) ((float *)p)[i] += 0.0f;
  if (t == TT_F64 || t == TT_C128)
    for (int64_t i = 0; i < n * (t == TT_C128 ? 2 : 1); i++) ((double *)p)[i] += 0.0;
}

static void check(tt_dtype t, int rank, const int64_t *la, const int64_t *lb, bool twisted) {
  int64_t sa[4], sb[4], lc[4], n = 1;
  tt_operand src[2] = {view(t, memory[0], rank, la, sa, twisted), view(t, memory[1], rank, lb, sb, twisted)};
  for (int d = 0; d < rank; d++) n *= lc[d] = d == rank - 1 ? lb[d] : la[d];
  CHECK(n <= ROOM);
  tt_error err = {0};
  tt_block out = {.data = want, .dtype = t, .rank = rank, .len = lc, .size = n};
  memset(want, 0x77, sizeof want);
  memset(got, 0x77, sizeof got);
  CHECK_INT(tt__rows_product[0].run(NULL, src, &out, &err), TT_OK);
  out.data = got;
  CHECK_INT(tt__rows_product[0].run_on(&fake, NULL, src, &out, &err), TT_OK);
  fake_end();
  drop_signs_of_zeros(t, got, n);
  drop_signs_of_zeros(t, want, n);
  if (memcmp(got, want, sizeof got) != 0) {
    int64_t at = 0, size = (int64_t)tt__dtype_size(t);
    while (memcmp(got + at * size, want + at * size, (size_t)size) == 0) at++;
    CHECK(!"the same bits");
    fprintf(stderr, "%s rank %d m %d k %d n %d at %d\n", tt__dtypes[t].name, rank, (int)la[rank - 2], (int)la[rank - 1],
            (int)lb[rank - 1], (int)at);
    if (t == TT_C64)
      fprintf(stderr, "%g %g, not %g %g\n", (double)((float *)got)[2 * at], (double)((float *)got)[2 * at + 1],
              (double)((float *)want)[2 * at], (double)((float *)want)[2 * at + 1]);
  }
}

TEST(products_are_the_hosts) {
  for (int t = 0; t < TT_DTYPE_COUNT; t++) {
    fill((tt_dtype)t, memory[0], ROOM);
    fill((tt_dtype)t, memory[1], ROOM);
    check((tt_dtype)t, 2, (int64_t[]){70, 33}, (int64_t[]){33, 130}, false);
    check((tt_dtype)t, 2, (int64_t[]){3, 0}, (int64_t[]){0, 5}, false);
    check((tt_dtype)t, 2, (int64_t[]){0, 4}, (int64_t[]){4, 5}, false);
    for (int i = 0; i < 6; i++) {
      int64_t m = 1 + draw_below(20), k = 1 + draw_below(40), n = 1 + draw_below(20), b = 1 + draw_below(3),
              c = 1 + draw_below(3);
      check((tt_dtype)t, 2 + i % 3,
            i % 3 == 2 ? (int64_t[]){b, c, m, k}
            : i % 3    ? (int64_t[]){b, m, k}
                       : (int64_t[]){m, k},
            i % 3 == 2 ? (int64_t[]){b, c, k, n}
            : i % 3    ? (int64_t[]){b, k, n}
                       : (int64_t[]){k, n},
            true);
    }
  }
}

TEST(packs_are_dense) {
  for (int round = 0; round < 40; round++) {
    tt_dtype t = (tt_dtype[]){TT_I8, TT_F16, TT_F32, TT_C64, TT_C128}[round % 5];
    int64_t len[4] = {1 + draw_below(4), 1 + draw_below(5), 1 + draw_below(20), 1 + draw_below(20)}, step[4],
            packed[TT_MAX_RANK], i[4];
    tt_operand a = view(t, memory[0], 4, len, step, true);
    tt_error err = {0};
    size_t size = tt__dtype_size(t);
    int64_t n = 0;
    CHECK_INT(tt__device_pack(&fake, &a, got, &err), TT_OK);
    for (int d = 0; d < 4; d++) packed[d] = d >= 2 || step[d] ? 1 : 0;
    int64_t run = 1;
    for (int d = 3; d >= 0; d--)
      if (packed[d]) packed[d] = run, run *= len[d];
    for (i[0] = 0; i[0] < len[0]; i[0]++)
      for (i[1] = 0; i[1] < len[1]; i[1]++)
        for (i[2] = 0; i[2] < len[2]; i[2]++)
          for (i[3] = 0; i[3] < len[3]; i[3]++) {
            int64_t from = 0, to = 0;
            for (int d = 0; d < 4; d++) from += i[d] * step[d], to += i[d] * packed[d];
            n += memcmp(got + (size_t)to * size, (const char *)a.data + from * (int64_t)size, size) != 0;
          }
    CHECK_INT(n, 0);
    fake_end();
  }
}

TEST_MAIN()
