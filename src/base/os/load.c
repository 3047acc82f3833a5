/*
** What others use is what all processors did (/proc/stat) less what this process did, over the time since the last
** look. Before there was one it is how many threads want to run (/proc/loadavg), of which one is ours.
*/
#include "base/os/load.h"

#include <assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/os/os.h"

#define LOOK_NS 100000000 /* the system counts in hundredths of a second */
#define IDLE 0.4          /* of a core: so little is nobody at work */

/* Guarded by `lock`, `left` and `looked_at` are read without. */
static tt_lock lock = TT_LOCK_RANKED(0);
static double busy_s, own_s;
static bool has_figures;
static atomic_llong looked_at;
static atomic_int left;

static bool read_text(const char *path, char *out, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, out, size - 1);
  close(fd);
  out[n > 0 ? n : 0] = 0;
  return n > 0;
}

/* Seconds that all processors have worked. */
static bool read_busy(double *out) {
  char text[512];
  unsigned long long user, nice, system, idle, wait, irq = 0, soft = 0;
  if (!read_text("/proc/stat", text, sizeof text)) return false;
  if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait, &irq, &soft) < 5)
    return false;
  *out = (double)(user + nice + system + irq + soft) / (double)sysconf(_SC_CLK_TCK);
  return true;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

static double read_own(void) {
  struct rusage u;
  return getrusage(RUSAGE_SELF, &u) == 0 ? seconds(u.ru_utime) + seconds(u.ru_stime) : 0;
}

/* Threads that want to run, less this one. */
static double read_waiting(void) {
  char text[128];
  unsigned running;
  if (!read_text("/proc/loadavg", text, sizeof text) || sscanf(text, "%*f %*f %*f %u/", &running) != 1) return 0;
  return running > 1 ? (double)running - 1 : 0;
}

/* No TT_LOCK_FORKS: a child forgets figures. */
static void before_fork(void) { tt__fork_lock(&lock); }
static void in_parent(void) { tt__fork_unlock(&lock); }
static void in_child(void) { /* its own time begins at nothing */
  has_figures = false;
  atomic_store(&left, 0);
  tt__fork_unlock(&lock);
}

TT_AT_LOAD(0) static void at_load(void) { pthread_atfork(before_fork, in_parent, in_child); }

int tt__cores_left(double others, int online, int ours) {
  assert(online >= 1);
  int taken = (int)others;
  if (others - taken > IDLE) taken++;
  int n = online - taken;
  return n < 1 ? 1 : n < ours ? n : ours;
}

static void look(int64_t now) {
  double busy, own = read_own(), others = read_waiting();
  bool ok = read_busy(&busy);
  if (ok && has_figures) {
    others = (busy - busy_s - (own - own_s)) * 1e9 / (double)(now - atomic_load(&looked_at));
  }
  busy_s = busy;
  own_s = own;
  has_figures = ok;
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  atomic_store(&left, tt__cores_left(others > 0 ? others : 0, online > 0 ? (int)online : 1, tt__cpu_count()));
  atomic_store(&looked_at, now);
}

int tt__cores_free(void) {
  int64_t now = tt__clock_ns();
  if (atomic_load(&left) == 0 || now - atomic_load(&looked_at) > LOOK_NS) {
    tt__lock(&lock);
    if (atomic_load(&left) == 0 || now - atomic_load(&looked_at) > LOOK_NS) look(now);
    tt__unlock(&lock);
  }
  return atomic_load(&left);
}
