/* Starting a process with a line to it, and what becomes of that process when this one ends. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool_int.h"
#include "parallel/line.h"

extern char **environ;

enum { MOST_ARGUMENTS = 64, WATCH_STACK = 64 << 10, WATCH_MS = 1000 };

static tt_code fail_start(tt_error *err, const char *what, int why) {
  tt_code c = tt__fail(err, TT_EIO, "cannot start %s: %s", what, strerror(why));
  if (err) err->system = why;
  return c;
}

/* Both ends have numbers above those of standard input and output, which the child has of its own. */
static int make_pair(int pair[2]) {
  int raw[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, raw) != 0) return errno;
  for (int k = 0; k < 2; k++) pair[k] = fcntl(raw[k], F_DUPFD_CLOEXEC, 3);
  int why = pair[0] < 0 || pair[1] < 0 ? errno : 0;
  for (int k = 0; k < 2; k++) close(raw[k]);
  for (int k = 0; why && k < 2; k++)
    if (pair[k] >= 0) close(pair[k]);
  return why;
}

static int spawn_with(const char *const *argv, const char *const *env, int fd, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fd, fd); /* the same number: it stays open in the child */
  posix_spawnattr_init(&attr);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attr, &none);
  posix_spawnattr_setsigdefault(&attr, &all);
  int why = posix_spawn(pid, argv[0], &actions, &attr, (char *const *)argv, env ? (char *const *)env : environ);
  posix_spawnattr_destroy(&attr);
  posix_spawn_file_actions_destroy(&actions);
  return why;
}

/* The arguments with the descriptor's number in its place. */
static int start_with(const char *const *argv, const char *const *env, int fd, pid_t *pid) {
  const char *copy[MOST_ARGUMENTS + 1];
  char number[16];
  int n = 0;
  snprintf(number, sizeof number, "%d", fd);
  for (; argv[n]; n++) {
    if (n == MOST_ARGUMENTS) return E2BIG;
    copy[n] = strcmp(argv[n], "%d") == 0 ? number : argv[n];
  }
  copy[n] = NULL;
  return tt__fault(TT_FAULT_SPAWN) ? EAGAIN : spawn_with(copy, env, fd, pid);
}

static void stop_started(pid_t pid) {
  kill(-pid, SIGKILL);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
  }
}

tt_code tt_line_start(const char *const *argv, const char *const *env, tt_line **out, tt_error *err) {
  int pair[2] = {-1, -1}, memory;
  pid_t pid = 0;
  *out = NULL;
  TT_TRY(tt__line_memory_new(&memory, err));
  int why = make_pair(pair);
  if (why) return close(memory), fail_start(err, argv[0], why);
  why = start_with(argv, env, pair[1], &pid);
  close(pair[1]);
  if (why) return close(memory), close(pair[0]), fail_start(err, argv[0], why);
  int send = memory; /* the line closes it; its first message is this descriptor */
  tt_line first = {.fd = pair[0]};
  bool told = tt__line_tell(&first, &send, 1);
  tt_code c = tt__line_make(pair[0], memory, true, pid, out, err);
  if (c == TT_OK && !told) (*out)->closed = true;
  if (c != TT_OK) stop_started(pid);
  return c;
}

tt_code tt_line_open(int fd, tt_line **out, tt_error *err) {
  tt_line first = {.fd = fd};
  struct pollfd p = {.fd = fd, .events = POLLIN};
  *out = NULL;
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return tt__fail(err, TT_EIO, "descriptor %d: %s", fd, strerror(errno));
  bool open = true;
  while (open && first.kepts == 0) {
    poll(&p, 1, -1);
    open = tt__line_drain(&first);
  }
  if (first.kepts == 0) return close(fd), tt__fail(err, TT_EIO, "descriptor %d has no line behind it", fd);
  TT_TRY(tt__line_make(fd, first.kept[0], false, getppid(), out, err));
  (*out)->kepts = first.kepts - 1;
  memcpy((*out)->kept, first.kept + 1, sizeof(int) * (size_t)(*out)->kepts);
  return TT_OK;
}

void tt_line_release(tt_line **line) {
  if (!line || !*line) return;
  tt__line_drop(*line);
  *line = NULL;
}

int tt_line_process(const tt_line *line) { return (int)line->other; }

bool tt_line_ended(tt_line *line, int *status) {
  if (!line->waited) {
    if (!line->started || line->owner != getpid()) return false;
    pid_t got = waitpid(line->other, &line->status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    if (got < 0) line->status = -1;
    line->waited = true;
  }
  *status = line->status;
  return true;
}

/* ---- the watch */

typedef struct watched {
  int fd;
  pid_t parent;
} watched;

/*
** A parent may be gone while a child that it forked still has the socket: so who the parent is is looked at, too. The
** group is our own: what was started here ends with us.
*/
static void *watch(void *arg) {
  watched w = *(watched *)arg;
  tt__mem_free(arg, sizeof w);
  for (;;) {
    struct pollfd p = {.fd = w.fd};
    poll(&p, 1, WATCH_MS);
    if ((p.revents & (POLLHUP | POLLERR)) || getppid() != w.parent) kill(getpgrp() == getpid() ? 0 : getpid(), SIGKILL);
    if (p.revents & POLLNVAL) return NULL;
  }
}

tt_code tt_line_watch(tt_line *line, tt_error *err) {
  pthread_t thread;
  watched *w = tt__mem_alloc(sizeof *w);
  if (!w) return tt__fail_memory(err, sizeof *w);
  *w = (watched){.fd = line->fd, .parent = line->other};
  if (!tt__thread_start(&thread, WATCH_STACK, watch, w)) {
    tt__mem_free(w, sizeof *w);
    return tt__fail(err, TT_EIO, "cannot start a thread that watches the parent");
  }
  pthread_detach(thread);
  return TT_OK;
}
