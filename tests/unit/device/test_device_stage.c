/*
** Staged copies over the null device: right at every size, ordered, and clean when a step fails.
*/
#include "test.h"

#include "base/fault.h"
#include "base/pool/pool.h"
#include "device/cache_alloc.h"
#include "device/device.h"
#include "device/null/null.h"
#include "device/staging.h"

static tt_device *open_null(uint64_t seed) {
  tt_device *d = NULL;
  tt__null_show(1);
  CHECK_INT(tt__device_open(0x300, &d, NULL), TT_OK);
  tt__null_seed(d, seed);
  return d;
}

static void close_null(void) {
  tt__device_close_all();
  tt__null_show(0);
  tt__pipeline_tune(0, 0, 0, 0);
  tt__pool_shutdown();
}

static unsigned char byte_at(size_t i, int salt) { return (unsigned char)((i * 2654435761u >> 13) + (size_t)salt); }

static void there_and_back(tt_device *d, size_t size, int salt) {
  unsigned char *host = tt__mem_alloc_data(size), *back = tt__mem_alloc_data(size);
  tt_dmem *m = NULL;
  tt_error err = {0};
  CHECK_INT(tt__dmem_alloc(d, d->work, size, &m, &err), TT_OK);
  for (size_t i = 0; i < size; i++) host[i] = byte_at(i, salt);
  CHECK_INT(tt__staging_in(d, d->work, tt__dmem_at(m), host, size, &err), TT_OK);
  memset(host, 0, size); /* it has been read */
  CHECK_INT(tt__staging_out(d, d->work, back, tt__dmem_at(m), size, &err), TT_OK);
  size_t wrong = 0;
  for (size_t i = 0; i < size; i++) wrong += back[i] != byte_at(i, salt);
  CHECK_INT(wrong, 0);
  tt__dmem_free(d, m);
  tt__mem_free_data(host, size);
  tt__mem_free_data(back, size);
}

TEST(bytes_arrive_at_every_size) {
  static const size_t sizes[] = {1, 100, 131072, 131073, 1 << 20, (1 << 20) + 1, 5000000, 20000001};
  for (int salt = 0; salt < 4; salt++) {
    tt_device *d = open_null((uint64_t)salt);
    if (salt % 2) tt__pipeline_tune(600000, (size_t)(1 + salt) << 20, 0, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) there_and_back(d, sizes[i], salt);
    close_null();
  }
}

TEST(copies_are_ordered_with_other_work) {
  enum { N = 3000000 };
  tt_device *d = open_null(5);
  tt__pipeline_tune(300000, 1 << 20, 1 << 16, 0);
  unsigned char *host = tt__mem_alloc_data(N);
  tt_dmem *m = NULL;
  CHECK_INT(tt__dmem_alloc(d, d->work, N, &m, NULL), TT_OK);
  for (int turn = 1; turn < 4; turn++) {
    memset(host, turn, N);
    CHECK_INT(tt__staging_in(d, d->work, tt__dmem_at(m), host, N, NULL), TT_OK);
    CHECK_INT(d->ops->fill(d, d->work, tt__dmem_at(m), 0x77, 10, NULL), TT_OK); /* after the copy */
    CHECK_INT(tt__staging_out(d, d->work, host, tt__dmem_at(m), N, NULL), TT_OK);
    CHECK(host[0] == 0x77 && host[9] == 0x77 && host[10] == turn && host[N - 1] == turn);
  }
  tt__dmem_free(d, m);
  tt__mem_free_data(host, N);
  close_null();
}

TEST(pinned_memory_has_been_read_on_return) {
  static const size_t sizes[] = {100, 200000, 6 << 20};
  tt_device *d = open_null(2);
  for (int k = 0; k < 3; k++) {
    size_t n = sizes[k];
    void *pin = NULL;
    tt_dmem *m = NULL;
    CHECK_INT(tt__pinned_alloc(d, n, &pin, NULL), TT_OK);
    CHECK_INT(tt__dmem_alloc(d, d->work, n, &m, NULL), TT_OK);
    memset(pin, 4, n);
    CHECK_INT(tt__staging_in(d, d->work, tt__dmem_at(m), pin, n, NULL), TT_OK);
    memset(pin, 5, n);
    CHECK_INT(tt__staging_out(d, d->work, pin, tt__dmem_at(m), n, NULL), TT_OK);
    CHECK(*(char *)pin == 4 && ((char *)pin)[n - 1] == 4);
    tt__dmem_free(d, m);
    tt__pinned_free(d, pin, n);
  }
  close_null();
}

TEST(a_failing_step_is_an_error_and_the_next_copy_works) {
  enum { N = 2000000 };
  static const tt_fault kinds[] = {TT_FAULT_MEMORY, TT_FAULT_DEVICE_MEMORY, TT_FAULT_COPY};
  unsigned char *host = tt__mem_alloc_data(N);
  for (int k = 0; k < 3; k++) {
    for (int64_t n = 0; n < 40; n++) {
      tt_device *d = open_null((uint64_t)n);
      tt_dmem *m = NULL;
      tt_error err = {0};
      bool fired = false;
      tt__pipeline_tune(300000, 1 << 20, 1 << 16, 0);
      CHECK_INT(tt__dmem_alloc(d, d->work, N, &m, NULL), TT_OK);
      memset(host, 9, N);
      tt__fault_arm(kinds[k], n, false);
      tt_code in = tt__staging_in(d, d->work, tt__dmem_at(m), host, N, &err);
      tt_code out = in == TT_OK ? tt__staging_out(d, d->work, host, tt__dmem_at(m), N, &err) : in;
      tt__fault_calls(kinds[k], &fired);
      tt__fault_arm(kinds[k], -1, false);
      CHECK(out == TT_OK || out == TT_ENOMEM || out == TT_EDEVICE);
      if (kinds[k] == TT_FAULT_DEVICE_MEMORY) CHECK_INT(out, TT_OK); /* fewer buffers, or none */
      if (kinds[k] == TT_FAULT_COPY) CHECK((out == TT_EDEVICE) == fired);
      there_and_back(d, 1000000, 3);
      tt__dmem_free(d, m);
      close_null();
      if (!fired) break;
    }
  }
  tt__mem_free_data(host, N);
}

/* ---- flows: pieces go up, are copied within the device by its work, and come down, through `depth` slots of memory */

enum { PIECE = 700001, SLOTS_MOST = 3 };

typedef struct journey {
  tt_device *device;
  char *from, *to, *there; /* `there`: depth slots for what came up, then depth for what goes down */
  int64_t pieces, depth;
  tt_event *up[SLOTS_MOST], *done[SLOTS_MOST], *down[SLOTS_MOST];
} journey;

/* Piece k has k % 4 moves of falling sizes; every third piece has none down. */
static bool journey_move(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out) {
  const journey *j = ctx;
  int64_t slot = piece % j->depth, at = 0;
  if (i >= piece % 4 || (is_down && piece % 3 == 0)) return false;
  for (int k = 0; k < i; k++) at += PIECE / (2 + k);
  *out = (tt_move){.host = (is_down ? j->to : j->from) + piece * PIECE * 2 + at,
                   .at = j->there + (slot + (is_down ? j->depth : 0)) * PIECE * 2 + at,
                   .size = (size_t)(PIECE / (2 + i))};
  return true;
}

static tt_code journey_at(void *ctx, int64_t piece, tt_pipeline_point point, tt_error *err) {
  journey *j = ctx;
  tt_device *d = j->device;
  int64_t k = piece % j->depth;
  char *slot = j->there + k * PIECE * 2;
  switch (point) {
    case TT_FLOW_BEGIN: /* what was in the slot has been worked on */
      return d->ops->stream_wait(d, d->up, j->done[k], err);
    case TT_FLOW_RUN:
      TT_TRY(d->ops->event_record(d, j->up[k], d->up, err));
      TT_TRY(d->ops->stream_wait(d, d->work, j->up[k], err));
      TT_TRY(d->ops->stream_wait(d, d->work, j->down[k], err));
      TT_TRY(d->ops->copy_within(d, d->work, slot + j->depth * PIECE * 2, slot, PIECE * 2, err));
      return d->ops->event_record(d, j->done[k], d->work, err);
    case TT_FLOW_RETURN:
      return d->ops->stream_wait(d, d->down, j->done[k], err);
    default:
      return d->ops->event_record(d, j->down[k], d->down, err);
  }
}

static tt_code travel(tt_device *d, journey *j, tt_error *err) {
  tt_pipeline f = {.device = d,
                   .up = d->up,
                   .down = d->down,
                   .pieces = j->pieces,
                   .depth = j->depth,
                   .move = journey_move,
                   .at = journey_at,
                   .ctx = j};
  tt_dmem *m = NULL;
  size_t size = (size_t)(j->depth * PIECE * 4);
  TT_TRY(tt__dmem_alloc(d, d->work, size, &m, err));
  j->device = d;
  j->there = tt__dmem_at(m);
  memset(j->to, 1, (size_t)(j->pieces * PIECE * 2));
  for (int k = 0; k < SLOTS_MOST; k++) {
    CHECK_INT(d->ops->event_new(d, false, &j->up[k], NULL), TT_OK);
    CHECK_INT(d->ops->event_new(d, false, &j->done[k], NULL), TT_OK);
    CHECK_INT(d->ops->event_new(d, false, &j->down[k], NULL), TT_OK);
  }
  tt_code code = tt__staging_pipeline(&f, size, size, err);
  for (int k = 0; k < SLOTS_MOST; k++) {
    d->ops->event_free(d, j->up[k]);
    d->ops->event_free(d, j->done[k]);
    d->ops->event_free(d, j->down[k]);
  }
  d->ops->stream_wait_idle(d, d->work, NULL);
  tt__dmem_free(d, m);
  return code;
}

static void check_arrived(const journey *j) {
  tt_move m;
  size_t wrong = 0, moved = 0, untouched = 0;
  for (int64_t p = 0; p < j->pieces; p++) {
    for (int i = 0; journey_move(j, true, p, i, &m); i++) {
      moved += m.size;
      for (size_t b = 0; b < m.size; b++) wrong += ((char *)m.host)[b] != ((char *)m.host - j->to + j->from)[b];
    }
  }
  for (int64_t b = 0; b < j->pieces * PIECE * 2; b++) untouched += j->to[b] == 1;
  CHECK_INT(wrong, 0);
  CHECK((size_t)(j->pieces * PIECE * 2) - untouched <= moved);
}

static journey pack(int64_t pieces, int64_t depth, int salt) {
  journey j = {.pieces = pieces, .depth = depth};
  size_t size = (size_t)(pieces * PIECE * 2);
  j.from = tt__mem_alloc_data(size);
  j.to = tt__mem_alloc_data(size);
  for (size_t i = 0; i < size; i++) j.from[i] = (char)byte_at(i, salt);
  return j;
}

static void unpack(journey *j) {
  size_t size = (size_t)(j->pieces * PIECE * 2);
  tt__mem_free_data(j->from, size);
  tt__mem_free_data(j->to, size);
}

TEST(flows_go_up_and_down_at_once) {
  for (int salt = 0; salt < 6; salt++) {
    tt_device *d = open_null((uint64_t)salt);
    journey j = pack(9, 1 + salt % 3, salt);
    tt_error err = {0};
    if (salt % 2) tt__pipeline_tune(300000, 1 << 20, 1 << 16, 0);
    for (int turn = 0; turn < 3; turn++) {
      CHECK_INT(travel(d, &j, &err), TT_OK);
      check_arrived(&j);
    }
    unpack(&j);
    close_null();
  }
}

TEST(a_failing_flow_is_an_error_and_the_next_one_works) {
  static const tt_fault kinds[] = {TT_FAULT_DEVICE_MEMORY, TT_FAULT_COPY};
  journey j = pack(5, 2, 3);
  for (int k = 0; k < 2; k++) {
    for (int64_t n = 0; n < 60; n += 1 + n / 8) {
      tt_device *d = open_null((uint64_t)n);
      tt_error err = {0};
      bool fired = false;
      tt__pipeline_tune(300000, 1 << 20, 1 << 16, 0);
      tt__fault_arm(kinds[k], n, false);
      tt_code code = travel(d, &j, &err);
      tt__fault_calls(kinds[k], &fired);
      tt__fault_arm(kinds[k], -1, false);
      CHECK(code == TT_OK || code == (k ? TT_EDEVICE : TT_ENOMEM));
      CHECK(!fired || k == 0 || code == TT_EDEVICE);
      CHECK_INT(travel(d, &j, &err), TT_OK);
      check_arrived(&j);
      close_null();
    }
  }
  unpack(&j);
}

/* A matrix goes up dense and comes down in rows of other lengths and pitches, upside down. */
enum { ROWS = 777, ROW = 1234, UP_PITCH = 1500, DOWN_ROW = 2 * ROW / 4, DOWN_PITCH = 900 };

typedef struct matrix {
  char *from, *to, *there;
} matrix;

static bool matrix_move(const void *ctx, bool is_down, int64_t piece, int i, tt_move *out) {
  const matrix *m = ctx;
  size_t down_rows = (size_t)ROWS * ROW / DOWN_ROW;
  if (i > 0 || is_down != (piece == 1)) return false;
  *out = (tt_move){.host = m->from, .at = m->there, .size = ROWS * ROW, .row = ROW, .pitch = UP_PITCH};
  if (!is_down) return true;
  out->host = m->to + (down_rows - 1) * DOWN_PITCH;
  out->row = DOWN_ROW;
  out->pitch = -DOWN_PITCH;
  return true;
}

TEST(rows_move_as_one) {
  size_t down_rows = (size_t)ROWS * ROW / DOWN_ROW, up = ROWS * UP_PITCH, down = down_rows * DOWN_PITCH, wrong = 0;
  tt_device *d = open_null(7);
  matrix m = {.from = tt__mem_alloc_data(up), .to = tt__mem_alloc_data(down)};
  tt_dmem *block = NULL;
  tt_error err = {0};
  CHECK_INT(tt__dmem_alloc(d, d->up, ROWS * ROW, &block, &err), TT_OK);
  m.there = tt__dmem_at(block);
  for (size_t i = 0; i < up; i++) m.from[i] = (char)byte_at(i, 5);
  memset(m.to, 1, down);
  tt_pipeline f = {.device = d, .up = d->up, .down = d->up, .pieces = 2, .depth = 2, .move = matrix_move, .ctx = &m};
  CHECK_INT(tt__staging_pipeline(&f, ROWS * ROW, ROWS * ROW, &err), TT_OK);
  for (size_t i = 0; i < (size_t)ROWS * ROW; i++) {
    const char *at = m.to + (down_rows - 1 - i / DOWN_ROW) * DOWN_PITCH + i % DOWN_ROW;
    wrong += *at != m.from[i / ROW * UP_PITCH + i % ROW];
  }
  CHECK_INT(wrong, 0);
  for (size_t i = 0; i < down; i++) wrong += i % DOWN_PITCH >= DOWN_ROW && m.to[i] != 1;
  CHECK_INT(wrong, 0);
  tt__dmem_free(d, block);
  tt__mem_free_data(m.from, up);
  tt__mem_free_data(m.to, down);
  close_null();
}

TEST_MAIN()
