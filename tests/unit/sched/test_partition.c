/*
** Partitions: every element that a piece touches lies in its part, parts of what is written do not overlap, and the
** pieces' points are those of the whole. Checked by walking every point of small random steps.
*/
#include "sched/partition.h"

#include <stdlib.h>

#include "test.h"

enum { AXES = 3, ACCESSES = 4 };

/* Two operands and a result over `nouter` outer axes and perhaps a row. */
static tt_kernel *kernel_of(bool row, const char *extra) {
  char text[600];
  tt_kernel *k = NULL;
  tt_error err = {0};
  snprintf(
      text, sizeof text,
      row ? "kernel row outer=2 axes=3 phases=1 bufs=3 reds=1\n"
            "a0: read f32 buf0 any\na1: read f32 buf1 any\na2: read f32 buf1 any\na3: write f32 buf2 none\n"
            "%%0 = load.f32 a0 @row0\n%%1 = load.f32 a1 @row0\n%%2 = load.f32 a2 @row0\n%%3 = add.f32 %%0 %%1 @row0\n"
            "%%4 = add.f32 %%3 %%2 @row0\n%%5 = sum.f32 r0 %%4 @row0\n%%6 = store.f32 a3 %%5 @outer1\n%s"
          : "kernel map outer=3 axes=3 phases=1 bufs=3 reds=0\n"
            "a0: read f32 buf0 any\na1: read f32 buf1 any\na2: read f32 buf1 any\na3: write f32 buf2 any\n"
            "%%0 = load.f32 a0 @row0\n%%1 = load.f32 a1 @row0\n%%2 = load.f32 a2 @row0\n%%3 = add.f32 %%0 %%1 @row0\n"
            "%%4 = add.f32 %%3 %%2 @row0\n%%5 = store.f32 a3 %%4 @row0\n%s",
      extra);
  if (tt__kernel_parse(text, &k, &err) != TT_OK) fprintf(stderr, "%s\n", err.message);
  CHECK(k != NULL);
  return k;
}

typedef struct sizes {
  int64_t len[AXES], off[ACCESSES], step[ACCESSES * AXES];
} sizes;

static int64_t below(int64_t n) { return rand() % n; }

static void draw(sizes *z, bool row) {
  for (int x = 0; x < AXES; x++) z->len[x] = 1 + below(9);
  for (int a = 0; a < ACCESSES; a++) {
    z->off[a] = 1000;
    for (int x = 0; x < AXES; x++) z->step[a * AXES + x] = below(3) ? (below(2) ? 1 : -1) * below(90) : 0;
  }
  for (int x = 0; x < AXES; x++) { /* a stencil, mostly: two reads of one buffer with the same steps */
    if (below(5)) z->step[2 * AXES + x] = z->step[AXES + x];
    z->step[3 * AXES + x] = 0;
  }
  z->off[2] += below(30);
  int64_t dense = 1; /* the result is dense, perhaps with its axes in another order */
  for (int i = 0, turn = (int)below(2); i < (row ? 2 : 3); i++) {
    int x = (row ? 1 : 2) - i;
    if (turn) x = i;
    z->step[3 * AXES + x] = dense;
    dense *= z->len[x];
  }
  z->off[3] = 0;
}

static tt_lowered lowered_of(sizes *z, bool row) {
  tt_lowered l = {.len = z->len, .off = z->off, .step = z->step};
  l.lanes = z->len[2];
  l.outer = z->len[0] * z->len[1];
  l.row = row ? z->len[2] : 1;
  return l;
}

static int64_t element(const tt_lowered *l, int a, const int64_t *i) {
  int64_t at = l->off[a];
  for (int x = 0; x < AXES; x++) at += i[x] * l->step[a * AXES + x];
  return at;
}

/* The elements that the accesses of a step touch, in a table: bit 1 << access. */
static void touch(const tt_lowered *l, unsigned char *table, int64_t middle) {
  int64_t i[AXES];
  for (i[0] = 0; i[0] < l->len[0]; i[0]++)
    for (i[1] = 0; i[1] < l->len[1]; i[1]++)
      for (i[2] = 0; i[2] < l->len[2]; i[2]++)
        for (int a = 0; a < ACCESSES; a++) table[element(l, a, i) + middle] |= (unsigned char)(1 << a);
}

enum { TABLE = 20000, MIDDLE = 8000 };

static void check_pieces(const tt_kernel *k, const tt_lowered *whole, const tt_partition *s) {
  static unsigned char all[TABLE], sum[TABLE], piece[TABLE];
  int64_t len[AXES], off[ACCESSES], points = 0, written = INT64_MIN, from, to;
  bool rises = s->buf[2].step > 0;
  memset(all, 0, sizeof all);
  memset(sum, 0, sizeof sum);
  touch(whole, all, MIDDLE);
  for (int64_t p = 0; p < tt__partition_pieces(s); p++) {
    tt_lowered l;
    tt__partition_lower(s, k, whole, p, len, off, &l);
    points += len[0] * len[1] * len[2];
    CHECK_INT(l.outer * (k->mode == TT_MODE_ROW ? 1 : l.lanes),
              len[0] * len[1] * (k->mode == TT_MODE_ROW ? 1 : len[2]));
    memset(piece, 0, sizeof piece);
    touch(&l, piece, MIDDLE);
    for (int a = 0; a < ACCESSES; a++) {
      int b = k->access[a].buf;
      if (s->buf[b].whole) continue;
      tt__partition_part(s, b, p, &from, &to);
      CHECK(to - from <= tt__partition_most(s, b));
      for (int64_t e = 0; e < TABLE; e++)
        if (piece[e] & 1 << a) CHECK(e - MIDDLE >= from && e - MIDDLE < to);
    }
    tt__partition_part(s, 2, p, &from, &to);
    CHECK(written == INT64_MIN || (rises ? from >= written : to <= written));
    written = rises ? to : from;
    for (int64_t e = 0; e < TABLE; e++) sum[e] |= piece[e];
  }
  CHECK(memcmp(all, sum, sizeof all) == 0);
  CHECK_INT(points, whole->len[0] * whole->len[1] * whole->len[2]);
}

TEST(pieces_touch_their_parts) {
  int cuts = 0, parts = 0;
  srand(5);
  for (int turn = 0; turn < 3000; turn++) {
    bool row = turn % 2;
    static tt_kernel *kernel[2];
    if (!kernel[row]) kernel[row] = kernel_of(row, "");
    sizes z;
    draw(&z, row);
    tt_lowered l = lowered_of(&z, row);
    const int64_t bytes[] = {100, 1000, 10};
    tt_partition s;
    if (!tt__sched_partition(kernel[row], &l, bytes, &s)) continue;
    CHECK(s.axis < (row ? 2 : 3) && s.len == z.len[s.axis]);
    tt__sched_pieces(&s, 1 + below(5));
    check_pieces(kernel[row], &l, &s);
    cuts++;
    parts += !s.buf[1].whole;
    if (turn + 2 < 3000) continue;
    tt__kernel_free(kernel[row]);
  }
  CHECK(cuts > 1000 && parts > 300);
}

TEST(rows_of_an_image_have_a_halo) {
  tt_kernel *k = kernel_of(false, "");
  sizes z = {
      .len = {1, 100, 50}, .off = {0, 0, 104, 0}, .step = {0, 52, 1, /* */ 0, 52, 1, /* */ 0, 52, 1, /* */ 0, 50, 1}};
  tt_lowered l = lowered_of(&z, false);
  const int64_t bytes[] = {5200, 5200, 5000};
  tt_partition s;
  tt_str out = {0};
  CHECK(tt__sched_partition(k, &l, bytes, &s));
  tt__sched_pieces(&s, 4);
  tt__partition_print(&s, &out);
  CHECK_STR(out.data,
            "partition axis=1 of 100 in 4 pieces of 25\n"
            "  buf0 read part first=0 step=52 extent=50\n"
            "  buf1 read part first=0 step=52 extent=154\n"
            "  buf2 write part first=0 step=50 extent=50\n");
  tt__str_free(&out);
  tt__kernel_free(k);
}

TEST(what_cannot_be_cut_is_left_whole) {
  tt_kernel *k = kernel_of(false, "");
  const int64_t bytes[] = {1, 1, 1};
  tt_partition s;
  sizes z = {.len = {1, 1, 1}};
  tt_lowered l = lowered_of(&z, false);
  CHECK(!tt__sched_partition(k, &l, bytes, &s)); /* one point */
  z = (sizes){.len = {1, 10, 10}, .step = {0, 10, 1, 0, 10, 1, 0, 10, 1, 0, 1, 1}};
  CHECK(!tt__sched_partition(k, &l, bytes, &s)); /* what is written overlaps */
  z = (sizes){.len = {1, 100, 100}, .step = {0, 1, 100, 0, 0, 1, 0, 0, 1, 0, 100, 1}};
  CHECK(!tt__sched_partition(k, &l, (int64_t[]){9, 9, 0}, &s) || s.buf[0].whole); /* a transpose is all halo */
  tt__kernel_free(k);
  k = NULL;
  CHECK_INT(tt__kernel_parse("kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\n"
                             "a0: read f32 buf0 unit\na1: write f32 buf1 none\n"
                             "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n",
                             &k, NULL),
            TT_OK);
  sizes total = {.len = {1000}, .step = {1, 0}};
  l = (tt_lowered){.len = total.len, .off = total.off, .step = total.step, .outer = 1, .lanes = 1000, .row = 1000};
  CHECK(!tt__sched_partition(k, &l, bytes, &s));                 /* one row is one piece */
  CHECK(!tt__sched_fold(k, &l, (int64_t[]){4000, 4}, true, &s)); /* and one chunk */
  tt__kernel_free(k);
}

static tt_kernel *kernel_from(const char *text) {
  tt_kernel *k = NULL;
  CHECK_INT(tt__kernel_parse(text, &k, NULL), TT_OK);
  return k;
}

TEST(rows_come_apart_where_their_arithmetic_has_borders) {
  tt_kernel *k = kernel_from(
      "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\n"
      "a0: read f32 buf0 unit\na1: write f32 buf1 none\n"
      "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n");
  sizes total = {.len = {10000000}, .step = {1, 0}};
  tt_lowered l = {
      .len = total.len, .off = total.off, .step = total.step, .outer = 1, .lanes = 10000000, .row = 10000000};
  const int64_t bytes[] = {40000000, 4};
  int64_t len[1], off[2];
  tt_lowered last;
  tt_partition s;
  tt_str out = {0};
  CHECK(tt__sched_fold(k, &l, bytes, false, &s) && s.group == 1);
  tt__partition_print(&s, &out);
  CHECK_STR(out.data,
            "partition axis=0 of 10000000 in 3 pieces of 4194304, folded\n"
            "  buf0 read part first=0 step=1 extent=1\n"
            "  buf1 write part first=0 step=0 extent=1\n");
  tt__str_free(&out);
  tt__partition_lower(&s, k, &l, 2, len, off, &last);
  CHECK(last.row == 1611392 && last.lanes == 1611392 && len[0] == 1611392 && off[0] == 8388608 && off[1] == 0);
  CHECK(tt__sched_fold(k, &l, bytes, true, &s) && s.group == TT_GROUP && s.piece == TT_CHUNK);
  CHECK_INT(tt__partition_pieces(&s), 153);
  tt__kernel_free(k);

  k = kernel_from(
      "kernel col outer=1 axes=2 phases=1 bufs=2 reds=1\n"
      "a0: read f32 buf0 unit\na1: write f32 buf1 unit\n"
      "%0 = load.f32 a0 @row0\n%1 = max.f32 r0 %0 @row0\n%2 = store.f32 a1 %1 @outer1\n");
  sizes columns = {.len = {50, 9000}, .step = {1, 50, 1, 0}};
  l = (tt_lowered){.len = columns.len, .off = columns.off, .step = columns.step, .outer = 1, .lanes = 50, .row = 9000};
  CHECK(tt__sched_fold(k, &l, (int64_t[]){1800000, 200}, false, &s) && s.group == 1 && s.piece == TT_CHUNK_COL);
  CHECK(s.axis == 1 && s.buf[0].step == 50 && s.buf[0].extent == 50 && s.buf[1].extent == 50);
  tt__kernel_free(k);

  k = kernel_from(
      "kernel row outer=0 axes=1 phases=1 bufs=2 reds=1\n"
      "a0: read f32 buf0 unit\na1: write f32 buf1 none\n"
      "%0 = load.f32 a0 @row0\n%1 = sum.f32 r0 %0 @row0\n%2 = sqrt.f32 %1 @outer1\n%3 = store.f32 a1 %2 @outer1\n");
  l = (tt_lowered){
      .len = total.len, .off = total.off, .step = total.step, .outer = 1, .lanes = 10000000, .row = 10000000};
  CHECK(!tt__sched_fold(k, &l, bytes, true, &s)); /* roots do not add up */
  tt__kernel_free(k);
}

TEST_MAIN()
