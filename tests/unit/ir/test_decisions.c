/*
** Decisions as part of a plan's text: any that may be made reads back to the same text, what must not be is refused,
** damaged text is an error or another plan.
*/
#include "ir/decision.h"

#include <string.h>

#include "ir/library.h"
#include "random.h"
#include "test.h"

enum { KERNEL, LIBRARY, BEHIND, STEPS };

/* A kernel, a library call and a kernel behind it, over n0 and n1. */
static const char three_steps[] =
    "plan steps=3 nodes=7\n"
    "value n0: memory=0 version=0 from=-1 until=0\n"
    "value n1: memory=1 version=0 from=-1 until=2\n"
    "value n2: memory=2 version=0 from=0 until=1\n"
    "value n3: memory=-1 version=0 from=-1 until=1\n"
    "value n4: memory=4 version=0 from=1 until=2\n"
    "value n6: memory=6 version=0 from=2 until=3\n"
    "step 0: kernel outer=1 space=8\n"
    "  operand 0: n0 read\n"
    "  operand 1: n2 write\n"
    "  access 0: int64 operand=0 read off=0 step=1\n"
    "  access 1: int64 operand=1 write off=0 step=1\n"
    "  %0 = load int64 ref=0\n"
    "  %1 = store int64 ref=1 %0\n"
    "  root 0: n2 operand=1 base=-1 in_place=0 donor=-1\n"
    "step 1: library lib=n3\n"
    "  source 0: n2 off=0 len=8 step=1\n"
    "  root 0: n4 operand=0 base=-1 in_place=0 donor=-1\n"
    "step 2: kernel outer=1 space=8\n"
    "  operand 0: n4 read\n"
    "  operand 1: n1 read\n"
    "  operand 2: n6 write\n"
    "  access 0: int64 operand=0 read off=0 step=1\n"
    "  access 1: int64 operand=1 read off=0 step=1\n"
    "  access 2: int64 operand=2 write off=0 step=1\n"
    "  %0 = load int64 ref=0\n"
    "  %1 = load int64 ref=1\n"
    "  %2 = add int64 ref=-1 %0 %1\n"
    "  %3 = store int64 ref=2 %2\n"
    "  root 0: n6 operand=2 base=-1 in_place=0 donor=-1\n";

static const int32_t needed[STEPS][2] = {{0, 0}, {2, 2}, {4, 1}};

static tt_kernel_cut kernel_cut;
static tt_tiles tiles;
static tt_transfer moves[STEPS][2];

static int64_t any(void) { return draw_below(3) ? draw_below(1 << 20) : -draw_below(1 << 20); }
static bool coin(void) { return draw_below(2) != 0; }
static double ns(void) { return (double)draw_below(1000000); }

static void draw_kernel_cut(tt_decision *d) {
  kernel_cut = (tt_kernel_cut){.windows = coin(), .down = coin(), .up_bytes = draw_below(1 << 30), .down_bytes = 7};
  kernel_cut.up_ns = ns(), kernel_cut.work_ns = ns(), kernel_cut.down_ns = ns(), kernel_cut.ns = ns();
  tt_partition *p = &kernel_cut.parts;
  *p = (tt_partition){.axis = 1, .len = 1 + draw_below(9999), .piece = 1 + draw_below(99), .group = 2};
  p->folds = coin();
  p->nbuf = (int)draw_below(TT_PARTITION_BUFFERS + 1);
  for (int b = 0; b < p->nbuf; b++)
    p->buf[b] = (tt_partition_buf){.whole = coin(), .write = coin(), .first = any(), .step = any(), .extent = any()};
  d->way = TT_WAY_STREAM_KERNEL;
  d->cut.kernel = &kernel_cut;
}

static tt_epilogue_match draw_match(void) {
  return (tt_epilogue_match){
      .step = BEHIND, .epilogue = 1 + (int)draw_below(8), .term = coin() ? 1 : -1, .offset = any()};
}

static void draw_tiles(tt_decision *d) {
  tiles = (tt_tiles){.up_bytes = ns(), .down_bytes = ns(), .up_ns = ns(), .work_ns = ns(), .down_ns = ns(), .ns = ns()};
  d->way = TT_WAY_STREAM_LIBRARY;
  d->cut.tiles = &tiles;
  if (coin()) {
    tiles.sort = (tt_sort_cut){.rows = draw_below(9), .n = 100, .run = 10, .count = 10, .places = coin()};
    return;
  }
  for (int k = 0; k < TT_TILE_AXES; k++) tiles.len[k] = any(), tiles.tile[k] = any(), tiles.count[k] = any();
  tiles.nloop = (int)draw_below(TT_MAX_RANK + 1);
  for (int k = 0; k < tiles.nloop; k++) tiles.loop_len[k] = any();
  tiles.loops = any();
  tiles.cols_outside = coin();
  tiles.sums = TT_F64;
  tiles.match.term = -1;
  if (coin()) tiles.match = draw_match();
  tiles.nside = (int)draw_below(TT_TILE_SIDES + 1);
  for (int s = 0; s < tiles.nside; s++) {
    tt_tile_side *x = &tiles.side[s];
    *x = (tt_tile_side){.off = any(), .size = 8, .there = coin(), .slots = any()};
    for (int k = 0; k < TT_TILE_LEVELS; k++)
      x->axis[k] = (int)draw_below(TT_TILE_AXES + 1) - 1, x->len[k] = any(), x->step[k] = any();
    for (int k = 0; k < tiles.nloop; k++) x->loop_step[k] = any();
  }
}

static void draw_moves(tt_decision *d, int at) {
  d->move = moves[at];
  for (int k = 0; k < 2; k++) {
    int8_t from = (int8_t)(draw_below(6) - 2);
    if (coin() || from == d->where) continue;
    moves[at][d->nmove++] = (tt_transfer){.node = needed[at][k], .from = from, .to = d->where};
  }
}

/* Decisions that may be made: most steps whole, anywhere; else in a way that the step has. */
static void draw_decisions(tt_decision d[STEPS]) {
  for (int i = 0; i < STEPS; i++) {
    d[i] = (tt_decision){.where = (int8_t)(draw_below(4) - 1)};
    if (d[i].where == TT_HOST) d[i].falls_back = coin();
    if (d[i].where != TT_HOST && coin() && i == KERNEL) draw_kernel_cut(&d[i]);
    if (d[i].where != TT_HOST && coin() && i == LIBRARY) draw_tiles(&d[i]);
    if (d[i].where != TT_HOST && d[i].way == TT_WAY_WHOLE && coin() && i == LIBRARY)
      d[i].way = TT_WAY_EPILOGUE, d[i].match = draw_match();
    if (d[i].way == TT_WAY_WHOLE || d[i].way == TT_WAY_EPILOGUE) draw_moves(&d[i], i);
  }
  bool tiled = d[LIBRARY].way == TT_WAY_STREAM_LIBRARY && tiles.match.epilogue;
  if (d[LIBRARY].way == TT_WAY_EPILOGUE || tiled) d[BEHIND] = (tt_decision){.way = TT_WAY_DONE};
}

static void placed_text(const tt_plan *p, const tt_decisions *d, tt_str *out) {
  out->len = 0;
  tt__plan_print_placed(p, d, out);
}

TEST(decisions_read_back) {
  tt_plan *plan, *again;
  tt_decision step[STEPS];
  tt_decisions drawn = {.step = step}, read;
  tt_str text = {0}, second = {0};
  int ways[TT_WAY_DONE + 1] = {0};
  CHECK_INT(tt__plan_parse(three_steps, &plan, NULL), TT_OK);
  for (int turn = 0; turn < 3000; turn++) {
    tt_error err = {0};
    draw_decisions(step);
    for (int i = 0; i < STEPS; i++) ways[step[i].way]++;
    placed_text(plan, &drawn, &text);
    CHECK_INT(tt__plan_parse_placed(text.data, &again, &read, &err), TT_OK);
    if (!again) {
      fprintf(stderr, "%s\n%s", err.message, text.data);
      break;
    }
    placed_text(again, &read, &second);
    CHECK_STR(second.data, text.data);
    for (int i = 0; i < STEPS; i++) {
      CHECK_INT(read.step[i].where, step[i].where);
      CHECK_INT(read.step[i].nmove, step[i].nmove);
    }
    tt__decisions_free(&read);
    tt__plan_free(again);
  }
  for (int w = 0; w <= TT_WAY_DONE; w++) CHECK(ways[w] > 100);
  tt__str_free(&text);
  tt__str_free(&second);
  tt__plan_free(plan);
}

static void try_text(const char *text) {
  tt_plan *plan, *again;
  tt_decisions d, read;
  tt_error err = {0};
  tt_str first = {0}, second = {0};
  tt_code code = tt__plan_parse_placed(text, &plan, &d, &err);
  CHECK(code == TT_OK || (code == TT_EVALUE && strstr(err.message, "line ") && !plan && !d.step));
  if (code != TT_OK) return;
  placed_text(plan, &d, &first);
  CHECK_INT(tt__plan_parse_placed(first.data, &again, &read, &err), TT_OK);
  if (again) placed_text(again, &read, &second);
  CHECK_STR(second.data, first.data);
  tt__decisions_free(&d);
  tt__decisions_free(&read);
  tt__plan_free(plan);
  tt__plan_free(again);
  tt__str_free(&first);
  tt__str_free(&second);
}

TEST(damaged_decisions_are_errors_or_others) {
  static const char with[] = {' ', '\n', '0', '9', '-', ',', 'n', '=', 'a', '\x80'};
  tt_plan *plan;
  tt_decision step[STEPS];
  tt_decisions drawn = {.step = step};
  tt_str text = {0};
  CHECK_INT(tt__plan_parse(three_steps, &plan, NULL), TT_OK);
  for (int turn = 0; turn < 40; turn++) {
    draw_decisions(step);
    placed_text(plan, &drawn, &text);
    for (size_t at = sizeof three_steps / 2; at < text.len; at += 1 + (size_t)draw_below(5)) {
      char kept = text.data[at];
      text.data[at] = with[draw_below(sizeof with)];
      try_text(text.data);
      text.data[at] = '\0';
      try_text(text.data);
      text.data[at] = kept;
    }
  }
  tt__str_free(&text);
  tt__plan_free(plan);
}

/* three_steps with these lines at the ends of its steps. */
static const char *with_lines(const char *first, const char *second, const char *third) {
  static char out[4096];
  const char *one = strstr(three_steps, "step 1"), *two = strstr(three_steps, "step 2");
  snprintf(out, sizeof out, "%.*s%s%.*s%s%s%s", (int)(one - three_steps), three_steps, first, (int)(two - one), one,
           second, two, third);
  return out;
}

TEST(what_must_not_be_decided_is_refused) {
  static const char host[] = "  place host whole\n";
  static const char then[] = "  place device 0 epilogue step=2 epilogue=1 term=1 offset=0\n";
  static const struct {
    const char *line[STEPS], *says;
  } row[] = {
      {{host, host, ""}, "a step without a place"},
      {{"", host, host}, "a step without a place"},
      {{host, "  place host whole\n  place host whole\n", host}, "a second place"},
      {{"  place host whole\n  move n0 host to device 0\n", host, host}, "a move after its step"},
      {{"  place nowhere whole\n", host, host}, "bad place"},
      {{"  place device 16 whole\n", host, host}, "bad place"},
      {{"  place host slowly\n", host, host}, "unknown way"},
      {{"  place device 0 fallback\n", host, host}, "a fallback that is none"},
      {{"  move n1 host to device 0\n  place device 0 whole\n", host, host}, "what the step does not need"},
      {{"  move n0 host to device 1\n  place device 0 whole\n", host, host}, "where the step does not run"},
      {{"  move n0 device 0 to device 0\n  place device 0 whole\n", host, host}, "where the step does not run"},
      {{"  move n0 host to elsewhere\n  place device 0 whole\n", host, host}, "bad move"},
      {{"  place device 0 epilogue step=2 epilogue=1 term=1 offset=0\n", host, host}, "no library call"},
      {{host, "  place device 0 epilogue step=1 epilogue=1 term=1 offset=0\n", host}, "no such step follows"},
      {{host, then, host}, "done twice"},
      {{host, host, "  place device 0 done\n"}, "nobody has done it"},
      {{host, "  place host epilogue step=2 epilogue=1 term=1 offset=0\n", "  place host done\n"}, "steps whole"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tt_plan *plan;
    tt_decisions d;
    tt_error err = {0};
    const char *const *line = row[i].line;
    CHECK_INT(tt__plan_parse_placed(with_lines(line[0], line[1], line[2]), &plan, &d, &err), TT_EVALUE);
    if (!strstr(err.message, row[i].says)) CHECK_STR(err.message, row[i].says);
    CHECK(plan == NULL && d.step == NULL);
  }
}

TEST_MAIN()
