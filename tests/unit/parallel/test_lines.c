/* Lines between processes: rings that go round, descriptors, who sleeps and wakes, ends of the other side; loops. */
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parallel/line.h"

/* Both ends of a line in this process. */
static void pair_up(tt_line *end[2]) {
  int fd[2], memory, again;
  CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
  CHECK_INT(tt__line_memory_new(&memory, NULL), TT_OK);
  again = dup(memory);
  CHECK_INT(tt__line_make(fd[0], memory, true, getpid(), &end[0], NULL), TT_OK);
  CHECK_INT(tt__line_make(fd[1], again, false, getpid(), &end[1], NULL), TT_OK);
}

static void fill_text(unsigned char *text, size_t size, unsigned seed) {
  for (size_t k = 0; k < size; k++) text[k] = (unsigned char)(seed * 31 + k);
}

enum { MESSAGES = 20000 };

static size_t size_of(unsigned k) { return (k * 7919u) % (k % 50 == 0 ? TT_LINE_MOST : 900); }

static void *write_all(void *arg) {
  tt_line *line = arg;
  unsigned char *text = malloc(TT_LINE_MOST);
  for (unsigned k = 0; k < MESSAGES; k++) {
    size_t size = size_of(k), half = size / 3;
    fill_text(text, size, k);
    tt_bytes piece[2] = {{text, half}, {text + half, size - half}};
    int fd[2] = {0, 0}, fds = k % 1000 == 7 ? 2 : 0;
    if (fds) fd[0] = fd[1] = open("/dev/null", O_RDONLY);
    if (tt_line_send(line, k, piece, 2, fd, fds, NULL) != TT_OK) abort();
    if (fds) close(fd[0]);
  }
  free(text);
  return NULL;
}

static void await_message(tt_line *line) {
  bool ready = false;
  tt_message m;
  while (!tt_line_peek(line, &m) && !tt_line_closed(line)) tt_line_wait(&line, 1, -1, false, &ready);
}

TEST(messages_come_as_they_were_sent) {
  tt_line *end[2];
  pthread_t writer;
  tt_message m;
  pair_up(end);
  CHECK_INT(pthread_create(&writer, NULL, write_all, end[0]), 0);
  unsigned char *got = malloc(TT_LINE_MOST), *want = malloc(TT_LINE_MOST);
  for (unsigned k = 0; k < MESSAGES; k++) {
    int fd[TT_LINE_DESCRIPTORS];
    await_message(end[1]);
    CHECK(tt_line_peek(end[1], &m));
    CHECK_INT(m.tag, k);
    CHECK_INT(m.size, size_of(k));
    CHECK_INT(m.descriptors, k % 1000 == 7 ? 2 : 0);
    CHECK_INT(tt_line_take(end[1], got, fd, NULL), TT_OK);
    fill_text(want, m.size, k);
    CHECK(memcmp(got, want, m.size) == 0);
    for (int j = 0; j < m.descriptors; j++) CHECK_INT(close(fd[j]), 0);
  }
  CHECK(!tt_line_peek(end[1], &m));
  pthread_join(writer, NULL);
  free(got);
  free(want);
  tt_line_release(&end[0]);
  tt_line_release(&end[1]);
}

static void *answer_all(void *arg) {
  tt_line *line = arg;
  char text[16];
  for (int k = 0; k < 5000; k++) {
    tt_bytes piece = {text, 8};
    await_message(line);
    if (tt_line_take(line, text, NULL, NULL) != TT_OK) abort();
    tt_line_mark(line, (uint64_t)k);
    if (tt_line_send(line, 1, &piece, 1, NULL, 0, NULL) != TT_OK) abort();
  }
  return NULL;
}

TEST(who_sleeps_is_woken) {
  tt_line *end[2];
  pthread_t other;
  char text[16];
  pair_up(end);
  CHECK_INT(pthread_create(&other, NULL, answer_all, end[1]), 0);
  for (int k = 0; k < 5000; k++) {
    tt_bytes piece = {&k, sizeof k};
    tt_bytes both[2] = {piece, piece};
    CHECK_INT(tt_line_send(end[0], 0, both, 2, NULL, 0, NULL), TT_OK);
    await_message(end[0]);
    CHECK_INT(tt_line_take(end[0], text, NULL, NULL), TT_OK);
    CHECK(memcmp(text, &k, sizeof k) == 0);
  }
  CHECK_INT(tt_line_marked(end[0]), 4999);
  pthread_join(other, NULL);
  tt_line_release(&end[1]);
  bool ready;
  CHECK_INT(tt_line_wait(end, 1, -1, false, &ready), 1);
  CHECK(tt_line_closed(end[0]));
  tt_error err;
  CHECK_INT(tt_line_send(end[0], 0, NULL, 0, NULL, 0, &err), TT_EIO);
  CHECK_INT(err.system, EPIPE);
  tt_line_release(&end[0]);
}

TEST(what_is_too_long_or_no_line) {
  tt_line *end[2], *none;
  tt_error err;
  pair_up(end);
  tt_bytes piece = {NULL, TT_LINE_MOST + 1};
  CHECK_INT(tt_line_send(end[0], 0, &piece, 1, NULL, 0, &err), TT_EVALUE);
  CHECK_INT(tt_line_open(-1, &none, &err), TT_EIO);
  int fd[2];
  CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd), 0);
  close(fd[1]);
  CHECK_INT(tt_line_open(fd[0], &none, &err), TT_EIO); /* closed before its memory came */
  tt_line_release(&end[0]);
  tt_line_release(&end[1]);
  tt_line_release(&none);
}

/* What another process wrote there is not believed. */
TEST(a_broken_ring_closes_the_line) {
  for (int how = 0; how < 3; how++) {
    tt_line *end[2];
    tt_message m;
    pair_up(end);
    tt_bytes piece = {"text", 4};
    CHECK_INT(tt_line_send(end[0], 0, &piece, 1, NULL, 0, NULL), TT_OK);
    tt_ring *ring = end[1]->in.ring;
    if (how == 0) atomic_store(&ring->written, UINT64_MAX - 15);
    if (how == 1) atomic_store(&ring->written, 16);
    if (how == 2) memset(end[1]->in.data, 0xff, 16);
    CHECK(!tt_line_peek(end[1], &m));
    CHECK(tt_line_closed(end[1]));
    tt_line_release(&end[0]);
    tt_line_release(&end[1]);
  }
}

static tt_line *start_shell(const char *text) {
  const char *const argv[] = {"/bin/sh", "-c", text, "sh", "%d", NULL};
  tt_line *line;
  tt_error err;
  CHECK_INT(tt_line_start(argv, NULL, &line, &err), TT_OK);
  return line;
}

static int wait_ended(tt_line *line) {
  int status = 0;
  while (!tt_line_ended(line, &status)) usleep(1000);
  return status;
}

TEST(programs_that_end) {
  bool ready;
  tt_line *line = start_shell("exit $(($1 > 2 ? 7 : 8))");
  CHECK_INT(tt_line_wait(&line, 1, -1, false, &ready), 1);
  CHECK(tt_line_closed(line));
  CHECK_INT(WEXITSTATUS(wait_ended(line)), 7);
  tt_line_release(&line);
  line = start_shell("kill -9 $$");
  CHECK_INT(tt_line_wait(&line, 1, -1, false, &ready), 1);
  CHECK_INT(WTERMSIG(wait_ended(line)), SIGKILL);
  tt_line_release(&line);
  const char *const nobody[] = {"/no/such/program", NULL};
  tt_error err;
  CHECK_INT(tt_line_start(nobody, NULL, &line, &err), TT_EIO);
  CHECK_INT(err.system, ENOENT);
  CHECK(!line);
}

/* The child adds one whenever the parent did, and says so on another word. */
static void answer_changes(tt_word *word, int n) {
  for (int k = 0; k < n; k++) {
    while (tt_word_read(word) == (uint32_t)k) tt_word_wait(word, (uint32_t)k, 1);
    tt_word_change(word + 1);
  }
}

TEST(words_wake_who_waits_for_them) {
  tt_word *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(word != MAP_FAILED);
  enum { TURNS = 2000 };
  pid_t child = fork();
  if (child == 0) answer_changes(word, TURNS), _exit(0);
  for (uint32_t k = 0; k < TURNS; k++) {
    tt_word_change(word);
    while (tt_word_read(word + 1) == k) tt_word_wait(word + 1, k, 1);
  }
  int status = -1;
  CHECK_INT(waitpid(child, &status, 0), child);
  CHECK_INT(status, 0);
  CHECK_INT(tt_word_read(word), TURNS);
  CHECK_INT(word[0].waiting, 0);
  tt_word_wait(word, TURNS + 1, 5); /* it has changed since: nobody sleeps */
  tt_word_wait(word, TURNS, -1);
  munmap(word, 4096);
}

TEST(freed_memory_that_is_kept) {
  tt_memory_keep(64 << 20);
  for (int k = 0; k < 3; k++) {
    char *p = malloc(16 << 20);
    CHECK(p != NULL);
    memset(p, k, 16 << 20);
    free(p);
  }
  tt_memory_give_back();
}

TEST(memory_that_is_written) {
  size_t size = 1 << 20;
  char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(data != MAP_FAILED);
  memset(data, 1, size);
  CHECK(tt_memory_written(data, size)); /* nobody has watched it */
  if (tt_memory_watch(data, size)) {
    volatile char sum = 0;
    for (size_t k = 0; k < size; k += 4096) sum = (char)(sum + data[k]);
    CHECK(!tt_memory_written(data, size));
    data[size / 2] = 3;
    CHECK(tt_memory_written(data, size));
    CHECK(tt_memory_watch(data, size));
    CHECK(!tt_memory_written(data, size));
    munmap(data, size);
    CHECK(tt_memory_written(data, size)); /* it is gone */
    tt_memory_unwatch(data, size);
  } else {
    CHECK(tt_memory_written(data, size));
    munmap(data, size);
  }
}

static void add_up(void *ctx, int64_t begin, int64_t end) {
  _Atomic int64_t *sum = ctx;
  int64_t mine = 0;
  for (int64_t k = begin; k < end; k++) mine += k;
  atomic_fetch_add(sum, mine);
}

static void nested(void *ctx, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) tt_parallel_for(100, add_up, ctx);
}

TEST(loops_cover_their_indices) {
  const int64_t n[] = {-1, 0, 1, 2, 1000, 3000001};
  for (int k = 0; k < 6; k++) {
    _Atomic int64_t sum = 0;
    tt_parallel_for(n[k], add_up, &sum);
    CHECK_INT(sum, n[k] > 0 ? n[k] * (n[k] - 1) / 2 : 0);
  }
  _Atomic int64_t sum = 0;
  tt_parallel_for(5000, nested, &sum);
  CHECK_INT(sum, 5000 * 4950);
  CHECK(tt_parallel_cores() >= 1);
}

TEST_MAIN()
