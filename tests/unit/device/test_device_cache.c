/*
** The caching allocator over the null device: no byte is reused before its last use, on whatever stream that is, and
** memory that is out is looked for everywhere.
*/
#include "test.h"

#include <pthread.h>

#include "base/fault.h"
#include "device/cache_int.h"
#include "device/device.h"
#include "device/null/null.h"
#include "device/staging.h"

#define MB ((size_t)1 << 20)

static tt_device *open_null(const char *memory, uint64_t seed) {
  tt_device *d = NULL;
  tt__null_show(1);
  setenv("TUTTI_NULL_MEMORY", memory, 1);
  CHECK_INT(tt__device_open(0x300, &d, NULL), TT_OK);
  unsetenv("TUTTI_NULL_MEMORY");
  tt__null_seed(d, seed);
  return d;
}

static void close_null(void) {
  tt__device_close_all();
  tt__null_show(0);
}

static tt_dmem *take(tt_device *d, tt_stream *s, size_t size) {
  tt_dmem *m = NULL;
  tt_error err = {0};
  tt_code code = tt__dmem_alloc(d, s, size, &m, &err);
  if (code != TT_OK) fprintf(stderr, "%s\n", err.message);
  CHECK(m && m->size == size && m->pool->stream == s && ((uintptr_t)tt__dmem_at(m) & 511) == 0);
  return m;
}

static void check(tt_device *d) {
  const char *fault = tt__dmem_check(d);
  if (fault) fprintf(stderr, "cache: %s\n", fault);
  CHECK(!fault);
}

TEST(a_stream_gets_back_what_it_freed) {
  tt_device *d = open_null("500000000", 1);
  tt_dmem *a = take(d, d->work, 1000);
  void *p = tt__dmem_at(a);
  tt__dmem_free(d, a);
  tt_dmem *b = take(d, d->work, 900);
  CHECK(tt__dmem_at(b) == p);
  tt_dmem *c = take(d, d->up, 900);
  CHECK(tt__dmem_at(c) != p);
  CHECK_INT(tt__dmem_stats(d).driver_allocs, 2);
  tt__dmem_free(d, b);
  tt_dmem *e = take(d, d->up, 900); /* not the block that another stream freed */
  CHECK(tt__dmem_at(e) != p);
  check(d);
  tt__dmem_free(d, c);
  tt__dmem_free(d, e);
  check(d);
  tt_dmem_stats s = tt__dmem_stats(d);
  CHECK_INT(s.allocated, 0);
  CHECK_INT(s.reserved, 4 * MB);
  CHECK_INT(s.max_allocated, 2 * 1024);
  tt__dmem_trim(d);
  CHECK_INT(tt__dmem_stats(d).reserved, 0);
  CHECK_INT(tt__null_bytes(d), 0);
  close_null();
}

TEST(neighbours_merge) {
  tt_device *d = open_null("500000000", 1);
  tt_dmem *m[4];
  for (int i = 0; i < 4; i++) m[i] = take(d, d->work, 8 * MB / 4); /* cut from one segment */
  CHECK_INT(tt__dmem_stats(d).driver_allocs, 1);
  void *p = m[0]->p;
  tt__dmem_free(d, m[0]);
  tt__dmem_free(d, m[2]);
  tt__dmem_free(d, m[1]);
  check(d);
  tt_dmem *big = take(d, d->work, 6 * MB);
  CHECK(tt__dmem_at(big) == p);
  tt__dmem_free(d, m[3]);
  tt__dmem_free(d, big);
  check(d);
  tt__dmem_trim(d);
  CHECK_INT(tt__dmem_stats(d).reserved, 0);
  close_null();
}

TEST(a_block_shrinks_where_it_lies) {
  tt_device *d = open_null("500000000", 1);
  tt_dmem *m = take(d, d->work, 40 * MB), *next = take(d, d->work, 1000);
  void *p = m->p;
  tt__dmem_shrink(d, m, 9 * MB);
  check(d);
  CHECK(tt__dmem_at(m) == p && m->size == 9 * MB);
  CHECK_INT(tt__dmem_stats(d).allocated, (int64_t)(10 * MB + 1024));
  tt_dmem *rest = take(d, d->work, 30 * MB); /* what was given back */
  CHECK(tt__dmem_at(rest) == (char *)p + 10 * MB);
  tt__dmem_free(d, rest);
  tt__dmem_shrink(d, m, 3 * MB); /* its neighbour is free: they merge */
  check(d);
  tt__dmem_shrink(d, m, 0);
  check(d);
  CHECK_INT(tt__dmem_stats(d).allocated, (int64_t)(2 * MB + 1024));
  tt__dmem_shrink(d, next, 100); /* a small one */
  check(d);
  tt__dmem_used_on(d, m, d->up); /* another stream may use it: it stays as it is */
  tt__dmem_shrink(d, m, 0);
  CHECK_INT(tt__dmem_stats(d).allocated, (int64_t)(2 * MB + 512));
  tt__dmem_free(d, m);
  tt__dmem_free(d, next);
  check(d);
  close_null();
}

TEST(a_block_waits_for_its_other_streams) {
  tt_device *d = open_null("500000000", 1);
  tt_error err = {0};
  tt_dmem *a = take(d, d->work, 100);
  void *p = tt__dmem_at(a);
  tt__dmem_used_on(d, a, d->down);
  CHECK_INT(d->ops->fill(d, d->down, p, 1, 100, &err), TT_OK);
  tt__dmem_free(d, a);
  CHECK_INT(tt__dmem_stats(d).waiting, 512);
  check(d);
  tt_dmem *b = NULL;
  CHECK_INT(d->ops->stream_wait_idle(d, d->down, &err), TT_OK);
  b = take(d, d->work, 100);
  CHECK(tt__dmem_at(b) == p);
  CHECK_INT(tt__dmem_stats(d).waiting, 0);
  tt__dmem_free(d, b);
  close_null();
}

/* ---- the random walk: blocks are filled with a tag, read late on some stream, freed and taken again */

typedef struct reader {
  tt_null_launch head;
  const unsigned char *p;
  size_t size;
  unsigned char tag;
  int64_t *wrong;
} reader;

static void read_tag(const void *args) {
  const reader *r = args;
  size_t step = r->size / 64 + 1;
  for (size_t i = 0; i < r->size; i += step)
    if (r->p[i] != r->tag) {
      ++*r->wrong;
      return;
    }
}

static void ask_read(tt_device *d, tt_stream *s, const tt_dmem *m, unsigned char tag, int64_t *wrong) {
  static const tt_grid one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
  reader r = {.head = {.run = read_tag}, .p = tt__dmem_at(m), .size = m->size, .tag = tag, .wrong = wrong};
  CHECK_INT(d->ops->launch(d, s, NULL, &one, &r, sizeof r, NULL), TT_OK);
}

static uint64_t next_random(uint64_t *x) {
  *x ^= *x << 13;
  *x ^= *x >> 7;
  *x ^= *x << 17;
  return *x >> 8;
}

/* One block's life up to its freeing. `tells`: whether the cache hears of the other stream. */
static void use(tt_device *d, tt_dmem *m, tt_stream *other, unsigned char tag, bool tells, int64_t *wrong) {
  tt_event *e = NULL;
  CHECK_INT(d->ops->fill(d, m->pool->stream, tt__dmem_at(m), tag, m->size, NULL), TT_OK);
  ask_read(d, m->pool->stream, m, tag, wrong);
  if (other == m->pool->stream) return;
  CHECK_INT(d->ops->event_new(d, false, &e, NULL), TT_OK);
  CHECK_INT(d->ops->event_record(d, e, m->pool->stream, NULL), TT_OK);
  CHECK_INT(d->ops->stream_wait(d, other, e, NULL), TT_OK);
  d->ops->event_free(d, e);
  ask_read(d, other, m, tag, wrong);
  if (tells) tt__dmem_used_on(d, m, other);
}

static int64_t walk(uint64_t seed, int steps, bool tells) {
  enum { MOST = 24 };
  tt_device *d = open_null("200000000", seed);
  tt_stream *stream[4] = {d->work, d->up, d->down, NULL};
  tt_dmem *block[MOST] = {0};
  uint64_t x = seed * 77 + 5;
  int64_t wrong = 0;
  CHECK_INT(d->ops->stream_new(d, 0, &stream[3], NULL), TT_OK);
  for (int i = 0; i < steps; i++) {
    int k = (int)(next_random(&x) % MOST);
    if (block[k]) {
      tt__dmem_free(d, block[k]);
      block[k] = NULL;
    } else {
      size_t size = next_random(&x) % 8 ? next_random(&x) % 3000 : next_random(&x) % (6 * MB);
      block[k] = take(d, stream[next_random(&x) % 4], size);
      if (size) use(d, block[k], stream[next_random(&x) % 4], (unsigned char)i, tells, &wrong);
    }
    if (next_random(&x) % 50 == 0) CHECK_INT(d->ops->stream_wait_idle(d, stream[next_random(&x) % 4], NULL), TT_OK);
    if (next_random(&x) % 200 == 0) tt__dmem_trim(d);
    if (i % 64 == 0) check(d);
  }
  for (int k = 0; k < MOST; k++) tt__dmem_free(d, block[k]);
  for (int k = 0; k < 4; k++) CHECK_INT(d->ops->stream_wait_idle(d, stream[k], NULL), TT_OK);
  check(d);
  CHECK_INT(tt__dmem_stats(d).allocated, 0);
  tt__dmem_trim(d);
  CHECK_INT(tt__dmem_stats(d).reserved, 0);
  close_null();
  return wrong;
}

TEST(nothing_is_reused_before_its_last_use) {
  for (uint64_t seed = 1; seed <= 12; seed++) CHECK_INT(walk(seed, 600, true), 0);
}

TEST(nothing_is_reused_before_its_last_use_poisoned) {
  setenv("TUTTI_POISON", "1", 1);
  for (uint64_t seed = 1; seed <= 8; seed++) CHECK_INT(walk(seed, 400, true), 0);
  unsetenv("TUTTI_POISON");
}

TEST(nothing_is_kept_while_checking) {
  setenv("TUTTI_CHECK", "1", 1);
  for (uint64_t seed = 1; seed <= 4; seed++) CHECK_INT(walk(seed, 300, true), 0);
  tt_device *d = open_null("500000000", 1);
  unsetenv("TUTTI_CHECK");
  tt_dmem *a = take(d, d->work, 700);
  CHECK_INT(tt__null_bytes(d), 1024);
  tt__dmem_free(d, a);
  CHECK_INT(tt__null_bytes(d), 0);
  close_null();
}

/* The same walk must find it when the cache is not told: else it proves nothing. */
TEST(the_walk_sees_a_use_that_was_not_told) {
  int64_t wrong = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) wrong += walk(seed, 400, false);
  CHECK(wrong > 0);
}

TEST(poison_is_what_freed_memory_holds) {
  setenv("TUTTI_POISON", "1", 1);
  tt_device *d = open_null("500000000", 1);
  unsetenv("TUTTI_POISON");
  unsigned char back[100] = {0};
  tt_dmem *a = take(d, d->work, 100);
  CHECK_INT(d->ops->copy_out(d, d->work, back, tt__dmem_at(a), 100, NULL), TT_OK);
  CHECK(back[0] == 0xff && back[99] == 0xff);
  CHECK_INT(d->ops->fill(d, d->work, tt__dmem_at(a), 3, 100, NULL), TT_OK);
  tt__dmem_free(d, a);
  a = take(d, d->work, 100);
  CHECK_INT(d->ops->copy_out(d, d->work, back, tt__dmem_at(a), 100, NULL), TT_OK);
  CHECK(back[0] == 0xff && back[99] == 0xff);
  tt__dmem_free(d, a);
  close_null();
}

/* ---- when memory is out */

TEST(cached_memory_is_given_back_before_it_is_out) {
  tt_device *d = open_null("104857600", 1); /* 100 MiB */
  tt_dmem *a = take(d, d->work, 60 * MB);
  tt__dmem_used_on(d, a, d->up);
  CHECK_INT(d->ops->fill(d, d->up, tt__dmem_at(a), 1, 60 * MB, NULL), TT_OK);
  tt__dmem_free(d, a);
  tt_dmem *b = take(d, d->up, 80 * MB); /* only after the wait and the release */
  tt_dmem *none = NULL;
  tt_error err = {0};
  CHECK_INT(tt__dmem_alloc(d, d->work, 40 * MB, &none, &err), TT_ENOMEM);
  CHECK(!none && strstr(err.message, "null:0 is out of memory") && strstr(err.message, "41943040"));
  tt_dmem *c = take(d, d->work, 3 * MB); /* the driver has no 32 MiB any more, but this much */
  check(d);
  tt__dmem_free(d, b);
  tt__dmem_free(d, c);
  close_null();
}

static tt_dmem *victim[8];
static bool give_up_one(tt_device *d, size_t need, void *ctx) {
  (void)need;
  ++*(int *)ctx;
  for (int i = 0; i < 8; i++) {
    if (!victim[i]) continue;
    tt__dmem_free(d, victim[i]);
    victim[i] = NULL;
    return true;
  }
  return false;
}

TEST(somebody_is_asked_to_give_up_memory) {
  tt_device *d = open_null("104857600", 1);
  int asked = 0;
  for (int i = 0; i < 8; i++) victim[i] = take(d, d->work, 12 * MB);
  tt__dmem_set_pressure(give_up_one, &asked);
  tt_dmem *a = take(d, d->up, 30 * MB);
  CHECK_INT(asked, 3);
  tt_dmem *none = NULL;
  tt_error err = {0};
  CHECK_INT(tt__dmem_alloc(d, d->work, 200 * MB, &none, &err), TT_ENOMEM);
  for (int i = 0; i < 8; i++) CHECK(!victim[i]);
  tt__dmem_set_pressure(NULL, NULL);
  tt__dmem_free(d, a);
  check(d);
  close_null();
}

TEST(a_limit_is_kept) {
  tt_device *d = open_null("500000000", 1);
  tt__dmem_set_limit(d, (int64_t)(50 * MB));
  tt_dmem *a = take(d, d->work, 30 * MB), *none = NULL;
  tt_error err = {0};
  CHECK_INT(tt__dmem_alloc(d, d->work, 30 * MB, &none, &err), TT_ENOMEM);
  CHECK(strstr(err.message, "the limit is 52428800"));
  tt__dmem_free(d, a);
  a = take(d, d->up, 40 * MB);
  CHECK_INT(tt__dmem_stats(d).reserved, 40 * MB);
  CHECK_INT(tt__dmem_alloc(d, d->work, SIZE_MAX - 5, &none, &err), TT_ENOMEM);
  tt__dmem_free(d, a);
  close_null();
}

TEST(every_failing_call_leaves_the_cache_sound) {
  static const tt_fault kinds[] = {TT_FAULT_MEMORY, TT_FAULT_DEVICE_MEMORY, TT_FAULT_COPY};
  setenv("TUTTI_POISON", "1", 1);
  tt_device *d = open_null("500000000", 1);
  unsetenv("TUTTI_POISON");
  for (int k = 0; k < 3; k++) {
    for (int64_t n = 0; n < 60; n++) {
      bool fired = false;
      tt_dmem *a = NULL, *b = NULL;
      void *pin = NULL;
      tt__fault_arm(kinds[k], n, n % 2);
      tt_code c1 = tt__dmem_alloc(d, d->work, 5000, &a, NULL), c2 = tt__dmem_alloc(d, d->up, 5 * MB, &b, NULL);
      tt_code c3 = tt__pinned_alloc(d, 100000, &pin, NULL);
      CHECK((c1 == TT_OK) == (a != NULL) && (c2 == TT_OK) == (b != NULL) && (c3 == TT_OK) == (pin != NULL));
      CHECK((c1 == TT_OK || c1 == TT_ENOMEM) && (c2 == TT_OK || c2 == TT_ENOMEM) && (c3 == TT_OK || c3 == TT_ENOMEM));
      if (a) tt__dmem_used_on(d, a, d->down);
      tt__dmem_free(d, a);
      tt__dmem_free(d, b);
      tt__pinned_free(d, pin, 100000);
      tt__dmem_trim(d);
      tt__fault_calls(kinds[k], &fired);
      tt__fault_arm(kinds[k], -1, false);
      check(d);
      CHECK_INT(tt__dmem_stats(d).reserved, 0);
      CHECK_INT(tt__dmem_stats(d).pinned, 0);
      CHECK_INT(tt__null_bytes(d), 0);
      if (!fired) break;
    }
  }
  close_null();
}

TEST(pinned_memory_is_kept) {
  tt_device *d = open_null("500000000", 1);
  void *a = NULL, *b = NULL, *c = NULL;
  CHECK_INT(tt__pinned_alloc(d, 100000, &a, NULL), TT_OK);
  CHECK_INT(tt__pinned_alloc(d, 100, &c, NULL), TT_OK);
  tt__pinned_free(d, a, 100000);
  CHECK_INT(tt__pinned_alloc(d, 99000, &b, NULL), TT_OK);
  CHECK(a == b);
  tt__pinned_free(d, b, 99000);
  tt__pinned_free(d, c, 100);
  tt__dmem_trim(d);
  CHECK_INT(tt__dmem_stats(d).pinned, 0);
  CHECK_INT(tt__null_bytes(d), 0);
  close_null();
}

/* More streams than are noted without memory, which is out: the block is given up rather than reused too early. */
TEST(a_use_that_cannot_be_noted_gives_the_block_up) {
  tt_device *d = open_null("500000000", 1);
  tt_dmem *a = take(d, d->work, 100);
  void *p = tt__dmem_at(a);
  tt__dmem_used_on(d, a, d->up);
  tt__fault_arm(TT_FAULT_MEMORY, 0, true);
  tt__dmem_used_on(d, a, d->down);
  tt__fault_arm(TT_FAULT_MEMORY, -1, false);
  tt__dmem_free(d, a);
  check(d);
  tt_dmem *b = take(d, d->work, 100);
  CHECK(tt__dmem_at(b) != p);
  tt__dmem_free(d, b);
  tt__dmem_trim(d);
  CHECK_INT(tt__dmem_stats(d).waiting, 512);
  check(d);
  close_null();
}

/* ---- threads */

typedef struct walker {
  tt_device *d;
  tt_stream *stream;
  uint64_t seed;
  int64_t wrong;
} walker;

static void *walk_thread(void *ctx) {
  enum { MOST = 8 };
  walker *w = ctx;
  tt_dmem *block[MOST] = {0};
  uint64_t x = w->seed;
  for (int i = 0; i < 600; i++) {
    int k = (int)(next_random(&x) % MOST);
    if (block[k]) {
      tt__dmem_free(w->d, block[k]);
      block[k] = NULL;
    } else if (tt__dmem_alloc(w->d, w->stream, next_random(&x) % 100000 + 1, &block[k], NULL) == TT_OK) {
      use(w->d, block[k], next_random(&x) % 2 ? w->d->down : w->stream, (unsigned char)i, true, &w->wrong);
    }
    if (i % 100 == 0) tt__dmem_trim(w->d);
  }
  for (int k = 0; k < MOST; k++) tt__dmem_free(w->d, block[k]);
  return NULL;
}

TEST(threads_share_a_cache) {
  enum { N = 4 };
  tt_device *d = open_null("200000000", 3);
  walker w[N];
  pthread_t thread[N];
  for (int i = 0; i < N; i++) {
    w[i] = (walker){.d = d, .stream = d->work, .seed = (uint64_t)i * 99 + 7};
    if (i) CHECK_INT(d->ops->stream_new(d, 0, &w[i].stream, NULL), TT_OK);
    CHECK_INT(pthread_create(&thread[i], NULL, walk_thread, &w[i]), 0);
  }
  for (int i = 0; i < N; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < N; i++) CHECK_INT(d->ops->stream_wait_idle(d, w[i].stream, NULL), TT_OK);
  CHECK_INT(d->ops->stream_wait_idle(d, d->down, NULL), TT_OK);
  for (int i = 0; i < N; i++) CHECK_INT(w[i].wrong, 0);
  check(d);
  CHECK_INT(tt__dmem_stats(d).allocated, 0);
  close_null();
}

TEST_MAIN()
