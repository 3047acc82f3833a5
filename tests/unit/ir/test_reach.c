/* Walks that are said not to meet do not: random ones, against every element that they reach. */
#include "ir/reach.h"

#include <string.h>

#include "ir/map.h"
#include "random.h"
#include "test.h"

enum { SPACE = 4096, AXES = 4, PROGRAMS = 200000 };

typedef struct walk {
  int naxes;
  int64_t off, len[AXES], step[AXES];
} walk;

static tt_reach reach(const walk *w) {
  return (tt_reach){.naxes = w->naxes, .off = w->off, .len = w->len, .step = w->step};
}

static bool apart(const walk *a, const walk *b) {
  tt_reach x = reach(a), y = reach(b);
  bool is = tt__reach_apart(&x, &y);
  CHECK(is == tt__reach_apart(&y, &x));
  return is;
}

/* Mark what the walk reaches; does it meet what is marked with something else? */
static bool meets(const walk *w, uint8_t *seen, uint8_t mark) {
  int64_t index[AXES] = {0};
  bool met = false;
  for (;;) {
    int64_t at = w->off;
    for (int k = 0; k < w->naxes; k++) at += index[k] * w->step[k];
    met |= seen[at] && seen[at] != mark;
    seen[at] = mark;
    int k = w->naxes - 1;
    for (; k >= 0 && ++index[k] == w->len[k]; k--) index[k] = 0;
    if (k < 0) return met;
  }
}

/* A slice of an array of shape rows x cols x deep, or an odd walk that belongs to no array. */
static walk draw_walk(const int64_t *shape) {
  int64_t pitch[3] = {shape[1] * shape[2], shape[2], 1};
  walk w = {.naxes = 3};
  for (int k = 0; k < 3; k++) {
    int64_t by = 1 + draw_below(3), lo = draw_below(shape[k]);
    w.len[k] = 1 + draw_below((shape[k] - lo - 1) / by + 1);
    w.step[k] = by * pitch[k];
    w.off += lo * pitch[k];
    if (draw_below(4) == 0) {
      w.off += (w.len[k] - 1) * w.step[k];
      w.step[k] = -w.step[k];
    }
  }
  if (draw_below(4) == 0) {
    w.step[w.naxes] = draw_below(2) * w.step[draw_below(3)];
    w.len[w.naxes++] = 1;
  }
  if (draw_below(8) == 0) {
    w = (walk){.naxes = 2, .off = draw_below(1000), .len = {1 + draw_below(9), 1 + draw_below(9)}};
    w.step[0] = draw_below(160);
    w.step[1] = draw_below(160);
  }
  return w;
}

TEST(what_is_called_apart_does_not_meet) {
  static uint8_t seen[SPACE];
  int64_t told = 0, free = 0;
  for (int i = 0; i < PROGRAMS; i++) {
    int64_t shape[3] = {2 + draw_below(9), 2 + draw_below(9), 1 + draw_below(9)};
    walk a = draw_walk(shape), b = draw_walk(shape);
    memset(seen, 0, sizeof seen);
    meets(&a, seen, 1);
    bool meet = meets(&b, seen, 2), is = apart(&a, &b);
    CHECK(!(meet && is));
    told += is;
    free += !meet;
  }
  CHECK(told * 100 >
        free * 95); /* few are missed: odd walks, and strides that only the Chinese remainders tell apart */
}

TEST(rows_columns_blocks_and_grids_are_apart) {
  const int64_t n = 100;
  walk column = {.naxes = 1, .off = 3, .len = {n}, .step = {n}}, other = column;
  other.off = 4;
  CHECK(apart(&column, &other));
  walk row = {.naxes = 1, .off = 5 * n, .len = {n}, .step = {1}}, below = row;
  below.off = 6 * n;
  CHECK(apart(&row, &below));
  CHECK(!apart(&row, &column));
  walk block = {.naxes = 2, .off = 10 * n + 10, .len = {20, 20}, .step = {n, 1}}, right = block;
  right.off = 15 * n + 30;
  CHECK(apart(&block, &right));
  right.off--;
  CHECK(!apart(&block, &right));
  walk even = {.naxes = 1, .off = 0, .len = {50}, .step = {2}},
       odd = {.naxes = 1, .off = 99, .len = {50}, .step = {-2}};
  CHECK(apart(&even, &odd));
  walk nothing = {.naxes = 0, .off = 7};
  CHECK(!apart(&nothing, &nothing));
}

TEST(walks_that_no_array_has_are_not_apart) {
  walk far = {.naxes = 1, .off = INT64_MAX, .len = {2}, .step = {1}}, here = {.naxes = 0, .off = 0};
  CHECK(!apart(&far, &here));
  walk before = {.naxes = 1, .off = 0, .len = {2}, .step = {INT64_MIN}};
  CHECK(!apart(&before, &here));
  walk wide = {.naxes = 2, .off = 0, .len = {INT64_MAX, INT64_MAX}, .step = {1, 1}};
  CHECK(!apart(&wide, &here));
  tt_reach r = reach(&wide);
  CHECK(tt__reach_points(&r) == INT64_MAX);
}

TEST_MAIN()
