/* Lines between processes: messages, sleeping and waking; see line.h. */
#include "parallel/line.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/shared.h"
#include "base/pool/pool.h"

static const uint64_t LINE_MARK = 0x656e696c69747475u;

/*
** How long is looked before somebody sleeps who expects an answer soon: one that takes less than to be put to sleep and
** woken is not slept for. Where answers lately took longer, a core that looks is missing elsewhere, so it is a moment.
*/
enum { LOOK_NS = 60000, MOMENT_NS = 3000, SOON_NS = 100000, TRUST = 8, POLLS = 64 };

tt_code tt__line_memory_new(int *fd, tt_error *err) {
  void *data;
  size_t size;
  TT_TRY(tt__shared_new(sizeof(tt_line_memory), fd, err));
  tt_code c = tt__shared_map(*fd, false, &data, &size, err);
  if (c != TT_OK) return close(*fd), *fd = -1, c;
  ((tt_line_memory *)data)->mark = LINE_MARK;
  tt__shared_unmap(data, size);
  return TT_OK;
}

static tt_code map_line(tt_line *line, int memory, tt_error *err) {
  void *data;
  TT_TRY(tt__shared_map(memory, false, &data, &line->bytes, err));
  line->memory = data;
  if (line->bytes < sizeof(tt_line_memory) || line->memory->mark != LINE_MARK)
    return tt__fail(err, TT_EIO, "descriptor %d has no line behind it", memory);
  int in = line->started;
  line->in = (tt_ring_end){&line->memory->ring[in], line->memory->data[in]};
  line->out = (tt_ring_end){&line->memory->ring[!in], line->memory->data[!in]};
  return TT_OK;
}

tt_code tt__line_make(int fd, int memory, bool started, pid_t other, tt_line **out, tt_error *err) {
  tt_line *line = tt__mem_zalloc(sizeof *line);
  tt_code c = line ? TT_OK : tt__fail_memory(err, sizeof *line);
  if (line) {
    line->fd = fd;
    line->started = started;
    line->other = other;
    line->owner = getpid();
    c = map_line(line, memory, err);
  }
  close(memory);
  if (c == TT_OK) return *out = line, TT_OK;
  if (line) tt__line_drop(line);
  if (!line) close(fd);
  return c;
}

void tt__line_drop(tt_line *line) {
  for (int k = 0; k < line->kepts; k++) close(line->kept[k]);
  close(line->fd);
  tt__shared_unmap(line->memory, line->bytes);
  tt__mem_free(line, sizeof *line);
}

/* Say on which core this side runs; which that is. */
static int note_core(tt_line *line) {
  int core = sched_getcpu() + 1;
  atomic_store_explicit(&line->memory->core[!line->started], core, memory_order_relaxed);
  return core;
}

/* Wake the other side if it sleeps on this word. */
static void wake(tt_line *line, _Atomic uint32_t *sleeps) {
  if (atomic_load(sleeps) && atomic_exchange(sleeps, 0) && !tt__line_tell(line, NULL, 0)) line->closed = true;
}

static void sleep_for_room(tt_line *line) {
  struct pollfd p = {.fd = line->fd, .events = POLLIN};
  poll(&p, 1, 100);
  if (p.revents && !tt__line_drain(line)) line->closed = true;
}

tt_code tt_line_send(tt_line *line, uint32_t tag, const tt_bytes *piece, int n, const int *fd, int fds, tt_error *err) {
  size_t size = 0;
  for (int k = 0; k < n; k++) size += piece[k].size;
  if (size > TT_LINE_MOST || fds > TT_LINE_DESCRIPTORS)
    return tt__fail(err, TT_EVALUE, "a message of %zu bytes and %d descriptors: at most %d and %d go over a line", size,
                    fds, TT_LINE_MOST, TT_LINE_DESCRIPTORS);
  note_core(line);
  if (fds && !tt__line_tell(line, fd, fds)) line->closed = true;
  while (!line->closed && !tt__ring_put(line->out, tag, (uint32_t)fds, piece, n)) {
    atomic_store(&line->out.ring->writer_sleeps, 1);
    if (tt__ring_put(line->out, tag, (uint32_t)fds, piece, n)) break;
    sleep_for_room(line);
  }
  if (!line->closed) wake(line, &line->out.ring->reader_sleeps);
  if (!line->closed) return TT_OK;
  tt_code c = tt__fail(err, TT_EIO, "process %d has closed its line", (int)line->other);
  if (err) err->system = EPIPE;
  return c;
}

bool tt_line_peek(tt_line *line, tt_message *out) {
  bool broken;
  bool is = tt__ring_peek(line->in, out, &broken);
  if (broken) line->closed = true;
  return is;
}

bool tt_line_closed(const tt_line *line) { return line->closed; }

tt_code tt_line_take(tt_line *line, void *data, int *fd, tt_error *err) {
  tt_message m;
  if (!tt_line_peek(line, &m)) return tt__fail(err, TT_EIO, "there is no message");
  struct pollfd p = {.fd = line->fd, .events = POLLIN};
  while (line->kepts < m.descriptors) { /* they were sent before the message: they are there, or nobody sends them */
    if (line->closed) return tt__fail(err, TT_EIO, "process %d ended before its descriptors came", (int)line->other);
    poll(&p, 1, -1);
    if (!tt__line_drain(line)) line->closed = true;
  }
  if (m.descriptors) memcpy(fd, line->kept, sizeof *fd * (size_t)m.descriptors);
  line->kepts -= m.descriptors;
  memmove(line->kept, line->kept + m.descriptors, sizeof *fd * (size_t)line->kepts);
  tt__ring_take(line->in, data);
  wake(line, &line->in.ring->writer_sleeps);
  return TT_OK;
}

/* ---- waiting */

static int look(tt_line *const *line, int n, bool *ready) {
  int found = 0;
  for (int k = 0; k < n; k++) found += ready[k] = line[k]->closed || !tt__ring_empty(line[k]->in);
  return found;
}

static void set_sleeps(tt_line *const *line, int n, uint32_t sleeps) {
  for (int k = 0; k < n; k++) atomic_store(&line[k]->in.ring->reader_sleeps, sleeps);
}

/* Sleep on the sockets of at most POLLS lines. */
static void sleep_on(tt_line *const *line, int n, int ms) {
  struct pollfd p[POLLS];
  for (int k = 0; k < n; k++) p[k] = (struct pollfd){.fd = line[k]->fd, .events = POLLIN};
  if (poll(p, (nfds_t)n, ms) <= 0) return;
  for (int k = 0; k < n; k++)
    if (p[k].revents && !tt__line_drain(line[k])) line[k]->closed = true;
}

/* What is more than POLLS is looked at in turns of ten milliseconds. */
static void sleep_on_all(tt_line *const *line, int n, int ms) {
  for (int k = 0; k < n || k == 0; k += POLLS) {
    int some = n - k < POLLS ? n - k : POLLS;
    sleep_on(line + k, some, n <= POLLS ? ms : k + POLLS < n ? 0 : ms >= 0 && ms < 10 ? ms : 10);
  }
}

/* How often answers came soon, of late; what several threads make of it need not be exact. */
static _Atomic int trust = TRUST;

/* On one core nobody answers somebody who looks. It is asked once: files say it. */
static bool has_cores(void) {
  static _Atomic int cores;
  if (atomic_load_explicit(&cores, memory_order_relaxed) == 0) atomic_store(&cores, tt__cpu_count());
  return cores > 1;
}

static void learn(int64_t waited) {
  int t = atomic_load_explicit(&trust, memory_order_relaxed) + (waited < SOON_NS ? 2 : -1);
  atomic_store_explicit(&trust, t < 0 ? 0 : t > TRUST ? TRUST : t, memory_order_relaxed);
}

/*
** May the other side answer while this one looks? Not while it sleeps. Nor on our core: the system likes to wake a
** process where the one that wakes it runs, and there it waits for that one to sleep.
*/
static bool may_answer(tt_line *line) {
  int core = note_core(line), other = atomic_load_explicit(&line->memory->core[line->started], memory_order_relaxed);
  return (core != other || core == 0) && !atomic_load_explicit(&line->out.ring->reader_sleeps, memory_order_relaxed);
}

static bool some_may_answer(tt_line *const *line, int n) {
  bool may = false;
  for (int k = 0; k < n; k++) may |= may_answer(line[k]);
  return may;
}

static int look_for(tt_line *const *line, int n, bool *ready, int64_t until) {
  int found = 0;
  while (!found && tt__clock_ns() < until) {
    for (int k = 0; k < 16; k++) tt__relax();
    found = look(line, n, ready);
  }
  return found;
}

static int sleep_ms(double seconds) {
  double ms = seconds * 1e3;
  return seconds < 0 ? -1 : ms > 1e9 ? 1000000000 : ms < 1 ? 1 : (int)ms;
}

int tt_line_wait(tt_line *const *line, int n, double seconds, bool soon, bool *ready) {
  int found = look(line, n, ready);
  if (found || seconds == 0) return found;
  int64_t begun = tt__clock_ns();
  bool may = some_may_answer(line, n);
  bool long_look = may && soon && atomic_load_explicit(&trust, memory_order_relaxed) > 0 && has_cores();
  if (may) found = look_for(line, n, ready, begun + (long_look ? LOOK_NS : MOMENT_NS));
  if (!found) {
    set_sleeps(line, n, 1);
    found = look(line, n, ready);
    if (!found) sleep_on_all(line, n, sleep_ms(seconds));
    set_sleeps(line, n, 0);
    found = look(line, n, ready);
  }
  if (soon) learn(tt__clock_ns() - begun);
  return found;
}

/* ---- where the other side is */

void tt_line_mark(tt_line *line, uint64_t item) {
  atomic_store_explicit(&line->memory->item, item, memory_order_release);
}

uint64_t tt_line_marked(tt_line *line) { return atomic_load_explicit(&line->memory->item, memory_order_acquire); }
