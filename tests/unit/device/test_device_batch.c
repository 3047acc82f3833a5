/*
** Gathered work: launches and what is asked for beside them come in order, repeat as graphs, and a graph is taken only
** for the work that it is of.
*/
#include "test.h"

#include "base/str.h"
#include "device/device.h"
#include "device/null/null.h"
#include "graph/session.h"
#include "run/device/batch.h"

static char text[64];

typedef struct letter {
  tt_null_launch head;
  char c;
} letter;

static void write_letter(const void *args) {
  size_t n = strlen(text);
  text[n] = ((const letter *)args)->c;
  text[n + 1] = 0;
}

static letter of(char c) {
  letter l;
  memset(&l, 0, sizeof l);
  l.head.run = write_letter;
  l.c = c;
  return l;
}

static const tt_grid one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
static tt_code answer; /* of what is asked for */

/* As a library does: launches whose arguments nobody can change afterwards, two of them. */
static tt_code ask(tt_device *d, tt_stream *s, const void *what, tt_error *err) {
  letter l = of(*(const char *)what), end = of('.');
  if (answer != TT_OK) return tt__fail(err, answer, "told to fail");
  TT_TRY(d->ops->launch(d, s, NULL, &one, &l, sizeof l, err));
  return d->ops->launch(d, s, NULL, &one, &end, sizeof end, err);
}

/* One evaluation: small letters are launches, capitals are asked for. Its text, once the device is done. */
static const char *run(tt_device *d, tt_replay *r, const char *work, tt_code want) {
  tt_error err = {0};
  text[0] = 0;
  tt__session_lock();
  tt__batch_begin(d, d->work);
  for (const char *w = work; *w; w++) {
    letter l = of(*w);
    CHECK_INT(*w >= 'a' ? tt__batch_launch(d, d->work, NULL, &one, &l, sizeof l, &err)
                        : tt__batch_ask(d, d->work, ask, w, 1, &err),
              TT_OK);
  }
  CHECK_INT(tt__batch_end(r, false, &err), want);
  tt__session_unlock();
  CHECK_INT(d->ops->stream_wait_idle(d, d->work, NULL), TT_OK);
  return text;
}

static tt_device *open_null(void) {
  tt_device *d = NULL;
  tt__null_show(1);
  CHECK_INT(tt__device_open(tt__device_id(TT_DEVICE_NULL, 0), &d, NULL), TT_OK);
  tt_ledger_reset();
  return d;
}

static void close_null(tt_replay *r) {
  tt__session_lock();
  tt__replay_free(r);
  tt__session_unlock();
  tt__device_close_all();
  tt__null_show(0);
}

static void counts(int64_t made, int64_t renewed, int64_t launched) {
  tt_ledger l;
  tt_ledger_read(&l);
  CHECK_INT(l.graphs_made, made);
  CHECK_INT(l.graphs_renewed, renewed);
  CHECK_INT(l.graph_launches, launched);
}

TEST(launches_and_what_libraries_are_asked_for_repeat_as_one_graph) {
  tt_device *d = open_null();
  tt_replay r = {0};
  answer = TT_OK;
  for (int i = 0; i < 4; i++) CHECK_STR(run(d, &r, "aXbYc", TT_OK), "aX.bY.c");
  counts(1, 0, 1);
  CHECK_STR(run(d, &r, "aXbYc", TT_OK), "aX.bY.c");
  CHECK_STR(run(d, &r, "dXeYf", TT_OK), "dX.eY.f"); /* other arguments of launches, behind launches of others */
  counts(1, 0, 3);
  close_null(&r);
}

TEST(work_that_takes_turns_has_a_graph_for_each) {
  static const char *const turn[] = {"aXbY", "aZbY", "aXbZ", "aYbX"};
  tt_device *d = open_null();
  tt_replay r = {0};
  answer = TT_OK;
  for (int i = 0; i < 16; i++) {
    const char *got = run(d, &r, turn[i % 4], TT_OK);
    CHECK(got[1] == turn[i % 4][1] && got[4] == turn[i % 4][3]);
  }
  counts(4, 0, 13);
  CHECK_STR(run(d, &r, "aQbQ", TT_OK), "aQ.bQ."); /* a fifth takes the place of the oldest */
  CHECK_STR(run(d, &r, "cQdQ", TT_OK), "cQ.dQ.");
  counts(4, 1, 15);
  close_null(&r);
}

TEST(what_fails_is_told_and_the_next_one_runs) {
  tt_device *d = open_null();
  tt_replay r = {0};
  for (int at = 0; at < 6; at++) {
    for (int i = 0; i < at; i++) run(d, &r, "aXbY", TT_OK);
    char work[] = {'a', (char)('A' + at), 'b', 'Y', 0}; /* none that a graph has */
    answer = TT_EDEVICE;
    run(d, &r, work, TT_EDEVICE);
    answer = TT_OK;
    CHECK_STR(run(d, &r, "aXbY", TT_OK), "aX.bY.");
  }
  close_null(&r);
}

TEST_MAIN()
