/*
** Our own recurrent networks on devices, run by an emulated device, against the host's rows, there and back: kinds,
** types, directions, sizes around the tiles, results that nobody asks for.
*/
#define TEST_KEEPS_MEMORY
#include <math.h>

#include "ir/recurrent.h"
#include "lib/rows.h"

#include "call_device.h"
#include "random.h"
#include "test.h"

enum { ROOM = 200000 };

typedef struct network {
  tt_recurrent_kind kind;
  int64_t steps, images, width;
  bool reverse, biased;
  int left_out; /* a bit for each result that nobody asks for */
} network;

static char operands[3][ROOM * 8], got[3][ROOM * 8], want[3][ROOM * 8];

static double get(tt_dtype t, const void *p, int64_t i) {
  return t == TT_F32 ? (double)((const float *)p)[i] : ((const double *)p)[i];
}

static tt_operand operand(tt_dtype t, int k, int rank, int64_t *len, int64_t *step) {
  int64_t size = 1;
  for (int d = rank - 1; d >= 0; d--) {
    step[d] = size;
    size *= len[d];
  }
  CHECK(size <= ROOM);
  for (int64_t i = 0; i < size; i++) {
    double x = ((double)draw_below(2001) - 1000) / 1000;
    if (t == TT_F32) ((float *)(void *)operands[k])[i] = (float)x;
    if (t == TT_F64) ((double *)(void *)operands[k])[i] = x;
  }
  return (tt_operand){.data = operands[k], .dtype = t, .rank = rank, .len = len, .step = step, .size = size};
}

static void compare(const char *what, tt_dtype t, const network *n, const tt_block *out, int k) {
  double worst = 0, most = 1, tolerance = t == TT_F64 ? 1e-12 : 5e-5;
  for (int64_t i = 0; i < out->size; i++) {
    double x = get(t, got[k], i), y = get(t, want[k], i);
    worst = fabs(x - y) <= worst ? worst : fabs(x - y);
    most = fmax(most, fabs(y));
  }
  size_t size = (size_t)out->size * tt__dtype_size(t);
  CHECK(worst <= tolerance * most);
  CHECK(memcmp(got[k] + size, want[k] + size, 64) == 0); /* nothing behind it is touched */
  if (!(worst <= tolerance * most))
    fprintf(stderr, "%s %d, kind %d: %d steps %d images %d wide: off by %g\n", what, k, n->kind, (int)n->steps,
            (int)n->images, (int)n->width, worst);
}

static void run_both(const char *what, tt_dtype t, const network *n, const tt_lib_attr *attr, const tt_operand *src,
                     tt_block *out) {
  tt_error err = {0};
  memset(want, 0x77, sizeof want);
  memset(got, 0x77, sizeof got);
  for (int k = 0; k < attr->row->nout; k++) out[k].data = want[k];
  CHECK_INT(attr->row->run(attr, src, out, &err), TT_OK);
  for (int k = 0; k < attr->row->nout; k++) out[k].data = n->left_out >> k & 1 ? NULL : got[k];
  CHECK_INT(call_row(attr->row, attr, src, out), TT_OK);
  for (int k = 0; k < attr->row->nout; k++)
    if (out[k].data) compare(what, t, n, &out[k], k);
}

static tt_block block(tt_dtype t, int64_t *len, int rank, int64_t a, int64_t b, int64_t c) {
  memcpy(len, (int64_t[]){a, b, c}, sizeof(int64_t) * 3);
  return (tt_block){.dtype = t, .rank = rank, .len = len, .size = a * b * c};
}

static void check(tt_dtype t, const network *n) {
  const int64_t gates = tt__recurrent_gates(n->kind), of_kept = tt__recurrent_kept(n->kind), more = n->kind == TT_LSTM;
  const int64_t rows = n->images * (1 + more) + (n->kind == TT_GRU && n->biased ? gates : 0), w = n->width;
  int64_t len[3][3] = {{n->steps, n->images, gates * w}, {gates * w, w}, {rows, w}}, step[3][3], lo[3][3];
  tt_lib_attr attr = {.row = tt__lib_row("recurrent"), .i = {n->kind, n->reverse, n->images}};
  tt_operand src[3] = {operand(t, 0, 3, len[0], step[0]), operand(t, 1, 2, len[1], step[1]),
                       operand(t, 2, 2, len[2], step[2])};
  tt_block out[3] = {block(t, lo[0], 3, n->steps + more, n->images, w),
                     block(t, lo[1], 3, n->steps, n->images, of_kept * w)};
  run_both("forward", t, n, &attr, src, out);
  memcpy(len[0], lo[1], sizeof len[0]);
  memcpy(len[2], lo[0], sizeof len[2]);
  attr.row = tt__lib_row("recurrent_back");
  src[0] = operand(t, 1, 2, len[1], step[1]);
  src[1] = operand(t, 0, 3, len[0], step[0]);
  src[2] = operand(t, 2, 3, len[2], step[2]);
  out[0] = block(t, lo[0], 3, n->steps, n->images, gates * w);
  out[1] = block(t, lo[1], 2, n->images * (1 + more), w, 1);
  out[2] = block(t, lo[2], 3, n->kind == TT_GRU ? n->steps : 0, n->images, gates * w);
  run_both("back", t, n, &attr, src, out);
}

static const tt_dtype types[] = {TT_F32, TT_F64};

TEST(every_kind_is_the_hosts) {
  for (int kind = 0; kind < TT_RECURRENT_KINDS; kind++)
    for (int k = 0; k < 4; k++) {
      check(types[k % 2], &(network){.kind = (tt_recurrent_kind)kind,
                                     .steps = 1 + 3 * k,
                                     .images = k == 3 ? 33 : 5,
                                     .width = k == 2 ? 40 : 7 + k,
                                     .reverse = k > 1,
                                     .biased = k % 2 == 0});
    }
}

TEST(any_sizes) {
  for (int round = 0; round < 24; round++)
    check(types[round % 2], &(network){.kind = (tt_recurrent_kind)(round % 4),
                                       .steps = 1 + draw_below(6),
                                       .images = 1 + draw_below(40),
                                       .width = 1 + draw_below(35),
                                       .reverse = draw_below(2),
                                       .biased = draw_below(2),
                                       .left_out = (int)draw_below(8)});
}

/* Tiles enough that a thread takes several images. */
TEST(several_images_of_a_thread) {
  int before = fake_gpu.target.units;
  fake_gpu.target.units = 1;
  for (int kind = 0; kind < TT_RECURRENT_KINDS; kind++)
    check(TT_F32, &(network){.kind = (tt_recurrent_kind)kind, .steps = 3, .images = 70, .width = 17});
  fake_gpu.target.units = before;
}

TEST(nothing_to_do) {
  check(TT_F32, &(network){.kind = TT_LSTM, .steps = 2, .images = 0, .width = 3});
  check(TT_F64, &(network){.kind = TT_GRU, .steps = 2, .images = 3, .width = 0});
}

TEST_MAIN()
