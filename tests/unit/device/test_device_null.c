/*
** The null device: what a device promises and no more, faults, loss, fork; and the registry over it.
*/
#include "test.h"

#include <sys/wait.h>

#include "base/fault.h"
#include "device/cache_alloc.h"
#include "device/device.h"
#include "device/null/null.h"
#include "device/staging.h"

static tt_device *open_null(uint64_t seed) {
  tt_device *d = NULL;
  tt__null_show(2);
  CHECK_INT(tt__device_open(tt__device_id(TT_DEVICE_NULL, 0), &d, NULL), TT_OK);
  tt__null_seed(d, seed);
  return d;
}

static void close_null(void) {
  tt__device_close_all();
  tt__null_show(0);
}

/* A launch that appends its letter to a text. */
typedef struct letter {
  tt_null_launch head;
  char *text;
  char c;
} letter;

static void write_letter(const void *args) {
  const letter *l = args;
  size_t n = strlen(l->text);
  l->text[n] = l->c;
  l->text[n + 1] = 0;
}

static const tt_grid one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};

static tt_code launch_letter(tt_device *d, tt_stream *s, char *text, char c, tt_error *err) {
  letter l = {.head = {.run = write_letter}, .text = text, .c = c};
  return d->ops->launch(d, s, NULL, &one, &l, sizeof l, err);
}

TEST(it_is_hidden_unless_asked_for) {
  int id;
  tt_error err = {0};
  tt__null_show(0);
  CHECK_INT(tt__device_named("null:0", &id, &err), TT_EVALUE);
  tt__null_show(2);
  CHECK_INT(tt__device_named("null:1", &id, &err), TT_OK);
  CHECK_INT(id, 0x301);
  CHECK_INT(tt__device_named("null", &id, &err), TT_OK);
  CHECK_INT(id, 0x300);
  CHECK_INT(tt__device_named("null:2", &id, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "no such device 'null:2': there are cpu:0"));
  CHECK(strstr(err.message, "null:0, null:1"));
  tt__null_show(0);
}

TEST(a_device_is_opened_once) {
  tt_device *a = open_null(1), *b = NULL;
  CHECK_INT(tt__device_open(0x300, &b, NULL), TT_OK);
  CHECK(a == b && tt__device_peek(0x300) == a && !tt__device_peek(0x301));
  CHECK_STR(a->name, "null:0");
  CHECK_INT(a->id, 0x300);
  CHECK(a->work && a->up && a->down);
  close_null();
}

TEST(opening_survives_every_failing_allocation) {
  tt__null_show(1);
  for (int64_t n = 0;; n++) {
    tt_device *d = NULL;
    tt_error err = {0};
    int64_t live = tt__mem_stats().live;
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code code = tt__device_open(0x300, &d, &err);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    if (code == TT_OK) break;
    CHECK_INT(code, TT_ENOMEM);
    CHECK_INT(tt__mem_stats().live, live);
    if (n > 100) break;
  }
  close_null();
}

TEST(a_stream_is_in_order_and_streams_are_not) {
  int orders = 0;
  char first[16] = "";
  for (uint64_t seed = 0; seed < 40; seed++) {
    tt_device *d = open_null(seed);
    char text[16] = "";
    for (int i = 0; i < 3; i++) {
      CHECK_INT(launch_letter(d, d->work, text, (char)('a' + i), NULL), TT_OK);
      CHECK_INT(launch_letter(d, d->up, text, (char)('x' + i), NULL), TT_OK);
    }
    CHECK_STR(text, ""); /* nothing runs before somebody waits */
    CHECK_INT(d->ops->stream_wait_idle(d, d->work, NULL), TT_OK);
    CHECK_INT(d->ops->stream_wait_idle(d, d->up, NULL), TT_OK);
    CHECK_INT(strlen(text), 6);
    CHECK(strchr(text, 'a') < strchr(text, 'b') && strchr(text, 'b') < strchr(text, 'c'));
    CHECK(strchr(text, 'x') < strchr(text, 'y') && strchr(text, 'y') < strchr(text, 'z'));
    if (!*first) strcpy(first, text);
    orders += strcmp(first, text) != 0;
    close_null();
  }
  CHECK(orders > 5);
}

TEST(events_order_streams) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    tt_device *d = open_null(seed);
    char text[16] = "";
    tt_event *e = NULL;
    bool done = true;
    double ms = 0;
    CHECK_INT(d->ops->event_new(d, true, &e, NULL), TT_OK);
    CHECK_INT(d->ops->event_done(d, e, &done, NULL), TT_OK);
    CHECK(done); /* never recorded */
    launch_letter(d, d->work, text, 'a', NULL);
    CHECK_INT(d->ops->event_record(d, e, d->work, NULL), TT_OK);
    CHECK_INT(d->ops->stream_wait(d, d->down, e, NULL), TT_OK);
    launch_letter(d, d->down, text, 'b', NULL);
    CHECK_INT(d->ops->stream_wait_idle(d, d->down, NULL), TT_OK);
    CHECK_STR(text, "ab");
    CHECK_INT(d->ops->event_done(d, e, &done, NULL), TT_OK);
    CHECK(done);
    CHECK_INT(d->ops->event_ms(d, e, e, &ms, NULL), TT_OK);
    launch_letter(d, d->work, text, 'c', NULL);
    CHECK_INT(d->ops->event_record(d, e, d->work, NULL), TT_OK);
    d->ops->event_free(d, e); /* while a record of it waits */
    CHECK_INT(d->ops->stream_wait_idle(d, d->work, NULL), TT_OK);
    CHECK_STR(text, "abc");
    CHECK(tt__null_us(d) > 0);
    close_null();
  }
}

TEST(copies_read_pageable_memory_at_once_and_pinned_late) {
  tt_device *d = open_null(3);
  void *p = NULL, *pin = NULL;
  char host[8] = "early";
  CHECK_INT(d->ops->alloc(d, 16, &p, NULL), TT_OK);
  CHECK_INT(d->ops->host_alloc(d, 8, &pin, NULL), TT_OK);
  CHECK_INT(d->ops->copy_in(d, d->work, p, host, 8, NULL), TT_OK);
  strcpy(host, "late");
  CHECK_INT(d->ops->copy_out(d, d->work, host, p, 8, NULL), TT_OK); /* waits: not pinned */
  CHECK_STR(host, "early");
  strcpy(pin, "early");
  CHECK_INT(d->ops->copy_in(d, d->work, p, pin, 8, NULL), TT_OK);
  strcpy(pin, "late");
  CHECK_INT(d->ops->copy_out(d, d->work, host, p, 8, NULL), TT_OK);
  CHECK_STR(host, "late");
  CHECK_INT(tt__null_pending(d), 0);
  CHECK_INT(d->ops->owner(p), 0);
  CHECK_INT(d->ops->owner(host), -1);
  tt_error err = {0};
  CHECK_INT(d->ops->copy_in(d, d->work, (char *)p + 10, host, 8, &err), TT_EDEVICE); /* past its end */
  CHECK(strstr(err.message, "not memory of its own") && !tt__device_lost(d));
  d->ops->free(d, p, 16);
  CHECK_INT(d->ops->fill(d, d->work, p, 0, 1, &err), TT_EDEVICE);
  d->ops->host_free(d, pin, 8);
  CHECK_INT(tt__null_bytes(d), 0);
  close_null();
}

TEST(copies_between_two_devices) {
  tt_device *a = open_null(1), *b = NULL;
  CHECK_INT(tt__device_open(0x301, &b, NULL), TT_OK);
  void *p = NULL, *q = NULL;
  char text[4] = "";
  CHECK_INT(a->ops->alloc(a, 4, &p, NULL), TT_OK);
  CHECK_INT(b->ops->alloc(b, 4, &q, NULL), TT_OK);
  CHECK_INT(a->ops->copy_in(a, a->work, p, "abc", 4, NULL), TT_OK);
  CHECK_INT(a->ops->stream_wait_idle(a, a->work, NULL), TT_OK);
  CHECK_INT(b->ops->copy_peer(b, b->work, q, a, p, 4, NULL), TT_OK);
  CHECK_INT(b->ops->copy_out(b, b->work, text, q, 4, NULL), TT_OK);
  CHECK_STR(text, "abc");
  CHECK_INT(a->ops->owner(q), 1);
  close_null();
}

TEST(memory_is_bounded) {
  setenv("TUTTI_NULL_MEMORY", "1000000", 1);
  tt_device *d = open_null(1);
  unsetenv("TUTTI_NULL_MEMORY");
  void *p = NULL, *q = NULL;
  tt_error err = {0};
  int64_t left = 0, total = 0;
  CHECK_INT(d->ops->alloc(d, 600000, &p, &err), TT_OK);
  CHECK_INT(d->ops->alloc(d, 600000, &q, &err), TT_ENOMEM);
  CHECK(strstr(err.message, "out of memory") && strstr(err.message, "600000"));
  CHECK_INT(d->ops->mem_info(d, &left, &total, &err), TT_OK);
  CHECK_INT(left, 400000);
  CHECK_INT(total, 1000000);
  close_null();
}

TEST(the_nth_call_fails_and_the_next_works) {
  tt_device *d = open_null(1);
  tt_error err = {0};
  void *p = NULL;
  char text[8] = "";
  tt__fault_arm(TT_FAULT_DEVICE_MEMORY, 1, false);
  CHECK_INT(d->ops->alloc(d, 64, &p, &err), TT_OK);
  void *q = NULL;
  CHECK_INT(d->ops->alloc(d, 64, &q, &err), TT_ENOMEM);
  CHECK_INT(d->ops->alloc(d, 64, &q, &err), TT_OK);
  tt__fault_arm(TT_FAULT_COPY, 0, false);
  CHECK_INT(d->ops->fill(d, d->work, p, 1, 64, &err), TT_EDEVICE);
  CHECK_INT(d->ops->fill(d, d->work, p, 1, 64, &err), TT_OK);
  tt__fault_arm(TT_FAULT_LAUNCH, 0, false);
  CHECK_INT(launch_letter(d, d->work, text, 'a', &err), TT_EDEVICE);
  CHECK_INT(launch_letter(d, d->work, text, 'b', &err), TT_OK);
  CHECK_INT(d->ops->stream_wait_idle(d, d->work, &err), TT_OK);
  CHECK_STR(text, "b");
  tt__fault_arm(TT_FAULT_LAUNCH, -1, false);
  tt__fault_arm(TT_FAULT_COPY, -1, false);
  tt__fault_arm(TT_FAULT_DEVICE_MEMORY, -1, false);
  tt_grid wide = {.grid = {1, 1, 1}, .block = {2000, 1, 1}};
  CHECK_INT(d->ops->launch(d, d->work, NULL, &wide, NULL, 0, &err), TT_EDEVICE);
  close_null();
}

TEST(a_loss_comes_late_and_is_remembered) {
  tt_device *d = open_null(1);
  tt_error err = {0}, later = {0};
  char text[8] = "";
  void *p = NULL;
  tt_dmem *m = NULL;
  void *pin = NULL;
  CHECK_INT(tt__dmem_alloc(d, d->work, 5000, &m, &err), TT_OK);
  CHECK_INT(tt__pinned_alloc(d, 5000, &pin, &err), TT_OK);
  tt__dmem_used_on(d, m, d->up);
  tt__fault_arm(TT_FAULT_LOSS, 1, false);
  CHECK_INT(launch_letter(d, d->work, text, 'a', &err), TT_OK);
  CHECK_INT(launch_letter(d, d->work, text, 'b', &err), TT_OK); /* asynchronous: nobody knows yet */
  tt__fault_arm(TT_FAULT_LOSS, -1, false);
  CHECK(!tt__device_lost(d));
  CHECK_INT(d->ops->stream_wait_idle(d, d->work, &err), TT_EDEVICE);
  CHECK(tt__device_lost(d) && strstr(err.message, "null:0 is lost"));
  CHECK_STR(text, "a");
  CHECK_INT(d->ops->alloc(d, 8, &p, &later), TT_EDEVICE);
  CHECK_STR(later.message, err.message);
  tt_dmem *none = NULL;
  CHECK_INT(tt__dmem_alloc(d, d->work, 8, &none, &later), TT_EDEVICE);
  tt__dmem_free(d, m); /* giving back is always allowed */
  tt__pinned_free(d, pin, 5000);
  close_null();
}

TEST(a_child_of_fork_is_told) {
  tt_device *d = open_null(1);
  tt_dmem *m = NULL;
  CHECK_INT(tt__dmem_alloc(d, d->work, 100, &m, NULL), TT_OK);
  pid_t pid = fork();
  if (pid == 0) {
    tt_error err = {0};
    tt_dmem *more = NULL;
    bool told = tt__dmem_alloc(d, d->work, 100, &more, &err) == TT_EDEVICE && strstr(err.message, "spawn") &&
                strstr(err.message, "null:0");
    tt__dmem_free(d, m);
    _exit(!told);
  }
  int status = 0;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
  tt__dmem_free(d, m);
  close_null();
}

TEST(a_capture_plays_again_with_other_arguments) {
  tt_device *d = open_null(1);
  char text[16] = "";
  tt_graph *g = NULL;
  tt_error err = {0};
  CHECK_INT(d->ops->graphs->begin(d, d->work, &err), TT_OK);
  launch_letter(d, d->work, text, 'a', NULL);
  launch_letter(d, d->work, text, 'b', NULL);
  CHECK_INT(d->ops->graphs->end(d, d->work, &g, &err), TT_OK);
  CHECK_INT(d->ops->stream_wait_idle(d, d->work, &err), TT_OK);
  CHECK_STR(text, "");
  CHECK_INT(d->ops->graphs->launch(d, g, d->work, &err), TT_OK);
  letter l = {.head = {.run = write_letter}, .text = text, .c = 'c'};
  CHECK_INT(d->ops->graphs->args(d, g, 1, NULL, &l, sizeof l, &err), TT_OK);
  CHECK_INT(d->ops->graphs->launch(d, g, d->work, &err), TT_OK);
  CHECK_INT(d->ops->stream_wait_idle(d, d->work, &err), TT_OK);
  CHECK_STR(text, "abac");
  CHECK_INT(d->ops->graphs->args(d, g, 2, NULL, &l, sizeof l, &err), TT_EVALUE);
  CHECK_INT(d->ops->graphs->renew(d, d->work, g, &err), TT_EVALUE); /* nothing is captured */
  CHECK_INT(d->ops->graphs->begin(d, d->work, &err), TT_OK);
  launch_letter(d, d->work, text, 'd', NULL);
  CHECK_INT(d->ops->graphs->launches(d, d->work), 1);
  CHECK_INT(d->ops->graphs->renew(d, d->work, g, &err), TT_OK);
  CHECK_INT(d->ops->graphs->launch(d, g, d->work, &err), TT_OK);
  CHECK_INT(d->ops->stream_wait_idle(d, d->work, &err), TT_OK);
  CHECK_STR(text, "abacd");
  d->ops->graphs->free(d, g);
  close_null();
}

TEST(code_is_text_with_names) {
  tt_device *d = open_null(1);
  tt_str binary = {0};
  tt_module *m = NULL;
  tt_routine *r = NULL;
  tt_error err = {0};
  CHECK_INT(d->ops->compile(d, "void add() {}", NULL, &binary, &err), TT_OK);
  CHECK_INT(d->ops->load(d, binary.data, binary.len, &m, &err), TT_OK);
  CHECK_INT(d->ops->routine(d, m, "add", &r, NULL, &err), TT_OK);
  CHECK_INT(d->ops->routine(d, m, "subtract", &r, NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "subtract"));
  d->ops->unload(d, m);
  tt__str_free(&binary);
  close_null();
}

TEST(a_lost_device_can_be_opened_anew_after_closing) {
  tt_device *d = open_null(1);
  CHECK_INT(tt__device_lose(d, NULL, "%s is lost: %s", d->name, "a test"), TT_EDEVICE);
  CHECK_INT(tt__device_lose(d, NULL, "second"), TT_EDEVICE);
  CHECK_STR(d->fault, "null:0 is lost: a test");
  close_null();
  d = open_null(1);
  CHECK(!tt__device_lost(d));
  close_null();
}

TEST_MAIN()
