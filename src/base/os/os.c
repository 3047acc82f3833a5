/* Shared libraries, child processes and the clock, by way of POSIX. Files are in os/file.c, the machine in cpu.c. */
#include "base/os/os.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/os/interrupt.h"
#include "base/lock.h"
#include "base/mem.h"

/* ---- shared libraries */

void *tt__lib_open(const char *path, tt_error *err) {
  void *lib = tt__fault(TT_FAULT_LOAD) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (lib) return lib;
  const char *why = dlerror();
  tt__fail(err, TT_EIO, "cannot load %s: %s", path, why ? why : "the loader gave no reason");
  return NULL;
}

void *tt__lib_sym(void *lib, const char *name) { return tt__fault(TT_FAULT_LOAD) ? NULL : dlsym(lib, name); }

void tt__lib_close(void *lib) {
  if (lib) dlclose(lib);
}

/* ---- clock, environment */

void tt__entropy(void *out, size_t size) {
  int64_t now[2] = {tt__clock_ns(), (int64_t)getpid()};
  memset(out, 0, size);
  memcpy(out, now, size < sizeof now ? size : sizeof now);
  int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t got = read(fd, out, size); /* short or refused: the clock's bytes stay in the rest */
  (void)got;
  close(fd);
}

int64_t tt__clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

const char *tt__env(const char *name) {
  const char *text = getenv(name);
  return text && *text ? text : NULL;
}

bool tt__env_on(const char *name) {
  const char *text = tt__env(name);
  return text && strcmp(text, "0") != 0;
}

/* ---- child processes */

bool tt__find_program(const char *name, char *out, size_t size) {
  const char *path = strchr(name, '/') ? "" : tt__env("PATH");
  if (!path) path = "/usr/local/bin:/usr/bin:/bin";
  for (;;) {
    size_t len = strcspn(path, ":");
    int n = snprintf(out, size, "%.*s%s%s", (int)len, path, len ? "/" : "", name);
    struct stat st;
    if (n > 0 && (size_t)n < size && stat(out, &st) == 0 && S_ISREG(st.st_mode) && access(out, X_OK) == 0) return true;
    if (!path[len]) return false;
    path += len + 1;
  }
}

enum { TAIL = 16 << 10 };

/* The last TAIL bytes that the child wrote. */
typedef struct tail {
  char *ring;   /* TAIL bytes */
  size_t total; /* bytes seen so far */
} tail;

/* False at the end of the stream. */
static bool tail_read(tail *t, int fd) {
  char chunk[4096];
  ssize_t n = read(fd, chunk, sizeof chunk);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  for (ssize_t i = 0; i < n; i++) t->ring[t->total++ % TAIL] = chunk[i];
  return n > 0;
}

static void tail_copy(const tail *t, tt_str *out) {
  size_t at = t->total > TAIL ? t->total % TAIL : 0;
  size_t len = t->total > TAIL ? TAIL : t->total;
  size_t first = len < TAIL - at ? len : TAIL - at;
  tt__str_add_n(out, t->ring + at, first);
  tt__str_add_n(out, t->ring, len - first);
}

/*
** Children under way. Who leaves does not leave them behind: a compiler that hangs would outlive us by hours.
** Each has the reading end of a pipe whose other end is ours alone, `life`: it closes when we end, whatever ends us.
*/
enum { MOST_CHILDREN = 64 }; /* at once */
typedef struct child {
  pid_t pid; /* 0: free. A pid stands here only while it is not reaped, so it is nobody else's */
  int life;
} child;
static tt_lock child_lock = TT_LOCK_RANKED(0);
static child children[MOST_CHILDREN];
static bool leaving; /* no more of them */
static pthread_once_t child_once = PTHREAD_ONCE_INIT;

/* The place of a child, of none with pid 0; NULL: there is none. */
static child *find_child(pid_t pid) {
  int i = 0;
  while (i < MOST_CHILDREN && children[i].pid != pid) i++;
  return i < MOST_CHILDREN ? &children[i] : NULL;
}

static void drop_child(child *c) {
  if (!c) return;
  close(c->life);
  c->pid = 0;
}

static void kill_children(void) {
  tt__lock(&child_lock);
  leaving = true;
  for (int i = 0; i < MOST_CHILDREN; i++)
    if (children[i].pid) kill(-children[i].pid, SIGKILL);
  tt__unlock(&child_lock);
}

static void children_start(void) { atexit(kill_children); }
/* No TT_LOCK_FORKS: a child drops what it would kill. */
static void children_fork_prepare(void) { tt__fork_lock(&child_lock); }
static void children_fork_parent(void) { tt__fork_unlock(&child_lock); }
static void children_fork_child(void) {
  for (int i = 0; i < MOST_CHILDREN; i++) /* they are the parent's, and end with it */
    if (children[i].pid) drop_child(&children[i]);
  tt__fork_unlock(&child_lock);
}
TT_AT_LOAD(0) static void children_at_load(void) {
  pthread_atfork(children_fork_prepare, children_fork_parent, children_fork_child);
}

/* waitpid without waiting. */
static pid_t reap(pid_t pid, int *status) {
  tt__lock(&child_lock);
  pid_t got = waitpid(pid, status, WNOHANG);
  int e = errno;
  if (got == pid || (got < 0 && e != EINTR))
    drop_child(find_child(pid)); /* a host may have them reaped by themselves */
  tt__unlock(&child_lock);
  errno = e;
  return got;
}

/* A pipe beside the standard streams, which a host may have closed. Returns an errno value. */
static int open_pipe(int fd[2]) {
  enum { BEYOND = 10 };
  if (pipe2(fd, O_CLOEXEC) != 0) return errno;
  for (int i = 0; i < 2; i++) {
    int high = fd[i] < BEYOND ? fcntl(fd[i], F_DUPFD_CLOEXEC, BEYOND) : fd[i];
    if (high < 0) {
      int e = errno;
      close(fd[0]);
      close(fd[1]);
      return e;
    }
    if (high != fd[i]) close(fd[i]);
    fd[i] = high;
  }
  return 0;
}

int64_t tt__child_memory(void) {
  const char *told = tt__env("TUTTI_CC_MEMORY");
  double mb = told ? strtod(told, NULL) : 0;
  int64_t most = (int64_t)4 << 30, half = tt__ram_bytes() / 2;
  if (mb >= 1 && mb < 1e12) return (int64_t)(mb * 1e6);
  return half > 0 && half < most ? half : most;
}

/*
** What we start is a shell: it sets the limits (memory's so that a driver on trial can lift it), starts one that waits
** for the end of `life` (descriptor 3) and then kills their group, and runs the program. A signal at the death of the
** parent would not do: it comes when a thread of ours ends, and does not reach what the program starts, a compiler
** proper and its assembler.
*/
static const char watched[] =
    "ulimit -S -d $1; ulimit -t $2; shift 2\n"
    "{ read x; kill -9 0; } <&3 >/dev/null 2>&1 &\n"
    "w=$!\n"
    "\"$@\" 3<&-\n"
    "s=$?; exec 2>/dev/null; kill -9 $w; wait $w; exit $s\n";

enum { CPU_SECONDS = 1800 }; /* who waits is less patient; this is for when nobody does any more */

/*
** What children inherit: a copy of the environment as it was when the library was loaded. The list itself is moved by a
** setenv() of the program, which may come while a thread of ours starts a compiler. Not counted: it is never freed.
*/
static char **inherited;

__attribute__((constructor)) static void copy_environment(void) {
  size_t n = 0, bytes = 0;
  for (char **e = environ; e && *e; e++, n++) bytes += strlen(*e) + 1;
  size_t list = (n + 1) * sizeof *inherited;
  char **copy = mmap(NULL, list + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return;
  char *to = (char *)copy + list;
  for (size_t k = 0; k < n; k++) {
    copy[k] = to;
    to = stpcpy(to, environ[k]) + 1;
  }
  inherited = copy;
}

/*
** Own process group, default signals (a host may ignore SIGPIPE, our threads block
** everything), nothing on stdin when in_fd is -1. Returns an errno value.
*/
static int spawn_group(const char *const *argv, int in_fd, int out_fd, int life_fd, pid_t *pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  int e = posix_spawn_file_actions_init(&files);
  if (e) return e;
  if ((e = posix_spawnattr_init(&attr)) != 0) goto fail_files;
  sigset_t none, normal;
  sigemptyset(&none);
  sigemptyset(&normal);
  sigaddset(&normal, SIGPIPE);
  sigaddset(&normal, SIGINT);
  sigaddset(&normal, SIGCHLD);
  posix_spawnattr_setsigmask(&attr, &none);
  posix_spawnattr_setsigdefault(&attr, &normal);
  posix_spawnattr_setpgroup(&attr, 0);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  e = in_fd < 0 ? posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
                : posix_spawn_file_actions_adddup2(&files, in_fd, 0);
  if (e) goto fail_attr;
  if ((e = posix_spawn_file_actions_adddup2(&files, out_fd, 1)) != 0) goto fail_attr;
  if ((e = posix_spawn_file_actions_adddup2(&files, out_fd, 2)) != 0) goto fail_attr;
  if ((e = posix_spawn_file_actions_adddup2(&files, life_fd, 3)) != 0) goto fail_attr;
  e = posix_spawn(pid, argv[0], &files, &attr, (char *const *)argv, inherited ? inherited : environ);
fail_attr:
  posix_spawnattr_destroy(&attr);
fail_files:
  posix_spawn_file_actions_destroy(&files);
  return e;
}

/* argv in a shell that watches over it, in the table of children. Returns an errno value. */
static int start_child(const char *const *argv, int in_fd, int out_fd, pid_t *pid) {
  enum { BEFORE = 6 };
  char program[PATH_MAX], memory[32], seconds[32];
  int n = 0, life[2];
  if (!tt__find_program(argv[0], program, sizeof program)) return ENOENT;
  while (argv[n]) n++;
  size_t size = sizeof *argv * (size_t)(BEFORE + n + 1);
  const char **all = tt__mem_alloc(size);
  if (!all) return ENOMEM;
  snprintf(memory, sizeof memory, "%lld", (long long)(tt__child_memory() >> 10));
  snprintf(seconds, sizeof seconds, "%d", CPU_SECONDS);
  const char *const before[BEFORE] = {"/bin/sh", "-c", watched, "sh", memory, seconds};
  memcpy(all, before, sizeof before);
  memcpy(all + BEFORE, argv, sizeof *argv * (size_t)(n + 1));
  all[BEFORE] = program;
  int e = open_pipe(life);
  if (e == 0) {
    pthread_once(&child_once, children_start);
    tt__lock(&child_lock);
    child *place = find_child(0);
    e = leaving ? ECANCELED : !place ? EAGAIN : spawn_group(all, in_fd, out_fd, life[0], pid);
    if (e == 0) *place = (child){.pid = *pid, .life = life[1]};
    tt__unlock(&child_lock);
    close(life[0]);
    if (e) close(life[1]);
  }
  tt__mem_free(all, size);
  return e;
}

/*
** Collect output until the child is gone. A grandchild may keep the pipe open for
** ever and a child may close it and live on, so both ends are looked at in turns.
** Returns an errno value; ETIMEDOUT and EINTR (Ctrl-C) after the kill.
*/
static int await_child(pid_t pid, int fd, int64_t deadline, tail *t, int *status) {
  bool open = fd >= 0;
  int why = ETIMEDOUT;
  for (int64_t pause = 1000000;; pause = pause < 20000000 ? pause * 2 : 20000000) {
    pid_t got = reap(pid, status);
    if (got < 0 && errno != EINTR) return errno;
    if (got == pid) {
      struct pollfd rest = {.fd = fd, .events = POLLIN};
      while (open && poll(&rest, 1, 0) > 0) open = tail_read(t, fd);
      return 0;
    }
    int64_t left = deadline - tt__clock_ns();
    if (left <= 0) break;
    if (pause > 10000000 && tt__interrupt_waiting()) {
      why = EINTR;
      break;
    }
    if (left < pause) pause = left;
    struct pollfd wait = {.fd = open ? fd : -1, .events = POLLIN};
    const struct timespec most = {.tv_sec = 0, .tv_nsec = (long)pause};
    if (ppoll(&wait, 1, &most, NULL) > 0 && !(open = tail_read(t, fd))) pause = 20000; /* its end is near */
  }
  kill(-pid, SIGKILL);
  siginfo_t info;
  while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
    if (errno != EINTR) break;
  return reap(pid, status) == pid ? why : errno;
}

tt_code tt__child_start(const char *const *argv, bool has_input, tt_child *c, tt_error *err) {
  assert(argv[0] && c);
  int in[2] = {-1, -1}, out[2], e = 0;
  *c = (tt_child){.name = argv[0], .in = -1, .out = -1};
  if (tt__fault(TT_FAULT_SPAWN) || open_pipe(out) != 0)
    return tt__fail(err, TT_EIO, "cannot start %s: no pipe", argv[0]);
  if (has_input) e = open_pipe(in);
  if (e == 0) e = start_child(argv, in[0], out[1], &c->pid);
  close(out[1]);
  if (in[0] >= 0) close(in[0]);
  if (e) {
    c->pid = 0;
    close(out[0]);
    if (in[1] >= 0) close(in[1]);
    return tt__fail(err, TT_EIO, "cannot start %s: %s", argv[0], strerror(e));
  }
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  if (in[1] >= 0) fcntl(in[1], F_SETFL, O_NONBLOCK);
  c->in = in[1];
  c->out = out[0];
  return TT_OK;
}

/* A child that is gone shall be an error of ours, not a signal for the host. */
static ssize_t write_quietly(int fd, const void *data, size_t size) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t n = write(fd, data, size);
  int e = errno;
  if (n < 0 && e == EPIPE && !was_pending) {
    const struct timespec now = {0, 0};
    while (sigtimedwait(&pipe_signal, NULL, &now) < 0 && errno == EINTR) continue;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = e;
  return n;
}

/* Returns an errno value; what the child says meanwhile is read, so that neither waits for the other. */
static int send_input(const tt_child *c, const char *data, size_t size, int64_t deadline, tail *t) {
  bool open = true;
  while (size) {
    int64_t left = deadline - tt__clock_ns();
    if (left <= 0) return ETIMEDOUT;
    struct pollfd fd[2] = {{.fd = c->in, .events = POLLOUT}, {.fd = open ? c->out : -1, .events = POLLIN}};
    if (poll(fd, 2, (int)(left / 1000000) + 1) < 0 && errno != EINTR) return errno;
    if (fd[1].revents) open = tail_read(t, c->out);
    if (!fd[0].revents) continue;
    ssize_t n = write_quietly(c->in, data, size);
    if (n < 0 && errno != EINTR && errno != EAGAIN) return errno;
    if (n > 0) data += n, size -= (size_t)n;
  }
  return 0;
}

void tt__child_forget(tt_child *c) {
  if (c->in >= 0) close(c->in);
  if (c->out >= 0) close(c->out);
  *c = (tt_child){.in = -1, .out = -1};
}

tt_code tt__child_end(tt_child *c, const char *input, size_t size, double timeout_s, int *exit_status, tt_str *output,
                      tt_error *err) {
  tail t = {.ring = tt__mem_alloc(TAIL)};
  int64_t deadline = t.ring ? tt__clock_ns() + (int64_t)(timeout_s * 1e9) : 0; /* without memory it is stopped */
  tt_code code = TT_OK;
  int status = 0, sent = t.ring ? send_input(c, input, size, deadline, &t) : 0;
  *exit_status = -1;
  if (c->in >= 0) close(c->in);
  c->in = -1;
  int e = await_child(c->pid, t.ring ? c->out : -1, deadline, &t, &status);
  if (output && t.ring) tail_copy(&t, output);
  if (!t.ring)
    code = tt__fail_memory(err, TAIL);
  else if (e == EINTR)
    code = tt__interrupt_told(err);
  else if (e == ETIMEDOUT)
    code = tt__fail(err, TT_EIO, "%s did not end within %.0f s and was stopped", c->name, timeout_s);
  else if (e)
    code = tt__fail(err, TT_EIO, "cannot wait for %s: %s", c->name, strerror(e));
  else if (sent && status == 0)
    code = tt__fail(err, TT_EIO, "%s takes no input: %s", c->name, strerror(sent));
  else
    *exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  tt__child_forget(c);
  tt__mem_free(t.ring, TAIL);
  return code;
}

void tt__child_stop(tt_child *c) {
  int status;
  if (c->pid) (void)await_child(c->pid, -1, 0, NULL, &status);
  tt__child_forget(c);
}

tt_code tt__spawn(const char *const *argv, double timeout_s, int *exit_status, tt_str *output, tt_error *err) {
  tt_child c;
  *exit_status = -1;
  TT_TRY(tt__child_start(argv, false, &c, err));
  return tt__child_end(&c, NULL, 0, timeout_s, exit_status, output, err);
}
