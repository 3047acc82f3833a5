/* Cuts into tiles: they fit, every part of the result is made once, of all of the inner axis, and little is moved. */
#include "sched/cut_library.h"

#include <string.h>

#include "base/mem.h"
#include "test.h"

static uint64_t state = 1;
static int64_t below(int64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)n);
}

/* a[batch, m, k] @ b[batch, k, n], dense; b the same for all of the batch if `shared`. */
static tt_tiles product(int64_t batch, int64_t m, int64_t n, int64_t k, bool shared) {
  tt_tiles t = {.len = {batch, m, n, k}, .loops = 1, .nside = 3, .sums = TT_F32};
  const int axes[3][3] = {{TT_TILE_BATCH, TT_TILE_ROWS, TT_TILE_DEEP},
                          {TT_TILE_BATCH, TT_TILE_DEEP, TT_TILE_COLS},
                          {TT_TILE_BATCH, TT_TILE_ROWS, TT_TILE_COLS}};
  for (int s = 0; s < 3; s++) {
    tt_tile_side *x = &t.side[s];
    int64_t step = 1;
    x->size = 4;
    for (int d = 2; d >= 0; d--) {
      x->axis[d] = axes[s][d];
      x->len[d] = t.len[axes[s][d]];
      x->step[d] = step;
      step *= x->len[d];
    }
    if (s == 1 && shared) x->step[0] = 0, x->len[0] = 1;
  }
  return t;
}

static const tt_tile_costs machine = {.room = 1e6,
                                      .up_bytes_per_ns = 50,
                                      .down_bytes_per_ns = 50,
                                      .both_bytes_per_ns = 75,
                                      .work_ns = 1e6,
                                      .turn_ns = 1000,
                                      .splits_deep = true};

static double memory_of(const tt_tiles *t) {
  double sum = 0;
  for (int s = 0; s < t->nside; s++) {
    double bytes = (double)t->side[s].size;
    for (int d = 0; d < 3; d++) bytes *= (double)(t->side[s].step[d] ? t->tile[t->side[s].axis[d]] : t->side[s].len[d]);
    sum += bytes * (double)t->side[s].slots;
  }
  return sum;
}

/* Every element of the result is in the part of as many turns as there are parts of the inner axis, and the parts of
 * the operands meet it. */
static void check_cut(const tt_tiles *t) {
  int64_t points = t->len[0] * t->len[1] * t->len[2], wrong = 0;
  uint8_t *seen = tt__mem_zalloc((size_t)points);
  int64_t loop[TT_MAX_RANK] = {0}, at[TT_TILE_AXES];
  for (int64_t turn = 0; turn < tt__tiles_turns(t); turn++) {
    tt__tiles_turn(t, turn, at, loop);
    tt_tile_part a = tt__tiles_part(t, &t->side[0], at, loop), b = tt__tiles_part(t, &t->side[1], at, loop),
                 c = tt__tiles_part(t, &t->side[2], at, loop);
    wrong += a.len[1] != c.len[1] || b.len[2] != c.len[2] || a.len[2] != b.len[1] || a.len[0] != c.len[0];
    wrong += at[TT_TILE_DEEP] * t->tile[TT_TILE_DEEP] != a.off % t->len[TT_TILE_DEEP];
    for (int64_t e = 0; e < c.len[0]; e++)
      for (int64_t i = 0; i < c.len[1]; i++)
        for (int64_t j = 0; j < c.len[2]; j++) seen[c.off + e * t->side[2].step[0] + i * t->side[2].step[1] + j]++;
  }
  for (int64_t p = 0; p < points; p++) wrong += seen[p] != (uint8_t)t->count[TT_TILE_DEEP];
  CHECK_INT(wrong, 0);
  tt__mem_free(seen, (size_t)points);
}

TEST(tiles_fit_and_cover_the_result) {
  int cut = 0;
  for (int turn = 0; turn < 300; turn++) {
    tt_tile_costs c = machine;
    tt_tiles t = product(1 + below(5) * below(20), 1 + below(300), 1 + below(300), 1 + below(2000), below(2));
    c.room = 1e4 * (double)(1 + below(100));
    if (!tt__tiles_cut(&t, &c)) continue;
    cut++;
    CHECK(memory_of(&t) <= c.room);
    CHECK(t.ns > 0 && t.up_bytes > 0 && t.down_bytes > 0);
    check_cut(&t);
  }
  CHECK(cut > 200);
}

TEST(what_fits_as_a_whole_moves_once) {
  tt_tiles t = product(1, 100, 120, 90, false);
  CHECK(tt__tiles_cut(&t, &machine));
  CHECK(t.up_bytes <= 1.3 * 4 * (100 * 90 + 90 * 120));
  t = product(500, 40, 50, 60, true); /* the shared matrix comes up once */
  CHECK(tt__tiles_cut(&t, &machine));
  CHECK(t.count[TT_TILE_BATCH] > 1 && t.count[TT_TILE_ROWS] == 1);
  CHECK(t.up_bytes <= 4 * (t.tile[0] * t.count[0] * 40 * 60 + 60 * 50));
}

TEST(what_has_no_room_at_all_is_not_cut) {
  tt_tile_costs c = machine;
  tt_tiles t = product(1, 1, 1, 100000, false);
  c.room = 1000;
  CHECK(!tt__tiles_cut(&t, &c)); /* the slots alone are larger */
  t = product(1, 10, 1, 100000, false);
  c.room = 1e5;
  c.splits_deep = false;
  CHECK(!tt__tiles_cut(&t, &c));
  c.splits_deep = true;
  CHECK(tt__tiles_cut(&t, &c));
}

TEST_MAIN()
