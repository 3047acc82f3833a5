/* Processes, files, the machine. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "base/os/load.h"
#include "base/os/os.h"

static char *in_scratch(char *out, const char *name) {
  snprintf(out, 4096, "%s/%s", tt__dir_scratch(), name);
  return out;
}

TEST(spawn_collects_output_and_status) {
  tt_str out = {0};
  tt_error err;
  int status = -1;
  const char *const argv[] = {"sh", "-c", "echo one; echo two >&2; cat; exit 3", NULL};
  CHECK_INT(tt__spawn(argv, 10, &status, &out, &err), TT_OK);
  CHECK_INT(status, 3);
  CHECK_STR(out.data, "one\ntwo\n");
  tt__str_free(&out);
  const char *const loud[] = {"sh", "-c", "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done", NULL};
  CHECK_INT(tt__spawn(loud, 20, &status, &out, &err), TT_OK);
  CHECK_INT(out.len, 16384);
  CHECK(out.len > 10 && strcmp(out.data + out.len - 10, "line 4999\n") == 0);
  tt__str_free(&out);
}

TEST(spawn_reports_signals_and_absence) {
  tt_error err;
  int status;
  const char *const killed[] = {"sh", "-c", "kill -9 $$", NULL};
  CHECK_INT(tt__spawn(killed, 10, &status, NULL, &err), TT_OK);
  CHECK_INT(status, 128 + SIGKILL);
  const char *const absent[] = {"no-such-program-here", NULL};
  CHECK_INT(tt__spawn(absent, 10, &status, NULL, &err), TT_EIO);
  CHECK(strstr(err.message, "no-such-program-here"));
  tt__fault_arm(TT_FAULT_SPAWN, 0, false);
  CHECK_INT(tt__spawn(killed, 10, &status, NULL, &err), TT_EIO);
  tt__fault_arm(TT_FAULT_SPAWN, -1, false);
}

TEST(what_is_spawned_is_limited) {
  tt_str out = {0};
  tt_error err;
  int status = -1;
  const char *const argv[] = {"sh", "-c", "ulimit -d; test $(ulimit -t) -gt 0 && echo time; echo >&3 2>&1 || echo no 3",
                              NULL};
  setenv("TUTTI_CC_MEMORY", "100", 1);
  CHECK_INT(tt__spawn(argv, 10, &status, &out, &err), TT_OK);
  unsetenv("TUTTI_CC_MEMORY");
  CHECK_INT(status, 0);
  CHECK(out.data && strncmp(out.data, "97656\ntime\n", 11) == 0 && strstr(out.data, "no 3"));
  tt__str_free(&out);
}

TEST(spawn_stops_a_hanging_family) {
  tt_error err;
  int status;
  char path[4096], text[4200];
  in_scratch(path, "pid");
  snprintf(text, sizeof text, "sleep 50 & echo $! > %s; wait", path);
  const char *const argv[] = {"sh", "-c", text, NULL};
  int64_t start = tt__clock_ns();
  CHECK_INT(tt__spawn(argv, 0.4, &status, NULL, &err), TT_EIO);
  CHECK(strstr(err.message, "did not end"));
  CHECK(tt__clock_ns() - start < 5000000000);
  tt_str pid = {0};
  CHECK_INT(tt__file_read(path, &pid, &err), TT_OK);
  int grandchild = pid.data ? atoi(pid.data) : 0;
  bool gone = false;
  for (int i = 0; i < 100 && !gone; i++) { /* a zombie until init collects it */
    char proc[64], state = 0;
    snprintf(proc, sizeof proc, "/proc/%d/stat", grandchild);
    FILE *f = fopen(proc, "r");
    if (!f || fscanf(f, "%*d %*s %c", &state) != 1 || state == 'Z') gone = true;
    if (f) fclose(f);
    if (!gone) usleep(10000);
  }
  CHECK(grandchild > 0 && gone);
  tt__str_free(&pid);
}

TEST(a_child_waits_for_its_input) {
  const char *const argv[] = {"sh", "-c", "echo ready; exec wc -c", NULL};
  enum { SIZE = 1 << 20 }; /* more than a pipe holds */
  char *data = calloc(SIZE, 1);
  tt_child c;
  tt_str out = {0};
  tt_error err = {0};
  int status;
  CHECK_INT(tt__child_start(argv, true, &c, &err), TT_OK);
  CHECK(c.pid > 0);
  CHECK_INT(tt__child_end(&c, data, SIZE, 20, &status, &out, &err), TT_OK);
  CHECK_INT(status, 0);
  CHECK_STR(out.data, "ready\n1048576\n");
  CHECK_INT(c.pid, 0);
  tt__str_free(&out);
  free(data);
}

static volatile sig_atomic_t pipe_signals;
static void count_pipe_signal(int s) { pipe_signals += s == SIGPIPE; }

TEST(a_child_that_is_gone_or_stuck_takes_no_input) {
  const char *const gone[] = {"sh", "-c", "exec <&-; exit 0", NULL}, *const stuck[] = {"sh", "-c", "sleep 50", NULL};
  const char *const failed[] = {"sh", "-c", "echo why; exit 7", NULL};
  enum { SIZE = 1 << 20 };
  char *data = calloc(SIZE, 1);
  tt_child c;
  tt_str out = {0};
  tt_error err = {0};
  int status;
  struct sigaction before, count = {.sa_handler = count_pipe_signal};
  sigaction(SIGPIPE, &count, &before);
  CHECK_INT(tt__child_start(gone, true, &c, &err), TT_OK);
  CHECK_INT(tt__child_end(&c, data, SIZE, 20, &status, NULL, &err), TT_EIO);
  CHECK(strstr(err.message, "takes no input"));
  CHECK_INT(tt__child_start(failed, true, &c, &err), TT_OK);
  CHECK_INT(tt__child_end(&c, data, SIZE, 20, &status, &out, &err), TT_OK);
  CHECK_INT(status, 7);
  CHECK_STR(out.data, "why\n");
  CHECK_INT(tt__child_start(stuck, true, &c, &err), TT_OK);
  CHECK_INT(tt__child_end(&c, data, SIZE, 0.3, &status, NULL, &err), TT_EIO);
  CHECK(strstr(err.message, "did not end"));
  CHECK_INT(tt__child_start(stuck, true, &c, &err), TT_OK);
  int pid = c.pid;
  tt__child_stop(&c);
  CHECK(kill(pid, 0) != 0 && c.pid == 0);
  tt__child_stop(&c);
  CHECK_INT(pipe_signals, 0);
  sigaction(SIGPIPE, &before, NULL);
  tt__str_free(&out);
  free(data);
}

TEST(spawn_does_not_wait_for_a_daemon_that_holds_the_pipe) {
  tt_error err;
  int status = -1;
  tt_str out = {0};
  const char *const argv[] = {"sh", "-c", "sleep 3 & echo done", NULL};
  int64_t start = tt__clock_ns();
  CHECK_INT(tt__spawn(argv, 20, &status, &out, &err), TT_OK);
  CHECK(tt__clock_ns() - start < 2000000000);
  CHECK_STR(out.data, "done\n");
  tt__str_free(&out);
}

TEST(programs_are_found_in_path) {
  char path[512];
  CHECK(tt__find_program("sh", path, sizeof path) && path[0] == '/');
  CHECK(tt__find_program("/bin/sh", path, sizeof path));
  CHECK(!tt__find_program("no-such-program-here", path, sizeof path));
  CHECK(!tt__find_program("/etc", path, sizeof path));
  CHECK(!tt__find_program("sh", path, 3));
}

TEST(files_are_written_whole) {
  char path[4096];
  in_scratch(path, "a.bin");
  tt_error err;
  CHECK_INT(tt__file_write(path, "first", 5, &err), TT_OK);
  struct stat st;
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
  CHECK(tt__file_is_ours(path));
  for (int n = 0;; n++) { /* create, write, sync, rename: each failing leaves the old file */
    tt__fault_arm(TT_FAULT_WRITE, n, false);
    tt_code c = tt__file_write(path, "second", 6, &err);
    tt__fault_arm(TT_FAULT_WRITE, -1, false);
    tt_str now = {0};
    CHECK_INT(tt__file_read(path, &now, &err), TT_OK);
    CHECK_STR(now.data, c == TT_OK ? "second" : "first");
    tt__str_free(&now);
    if (c == TT_OK) {
      CHECK_INT(n, 4);
      break;
    }
    CHECK_INT(c, TT_EIO);
  }
  tt_str out = {0};
  const char *const list[] = {"ls", tt__dir_scratch(), NULL};
  int status;
  CHECK_INT(tt__spawn(list, 10, &status, &out, &err), TT_OK);
  CHECK(!strstr(out.data, "a.bin.")); /* no temporary file is left */
  tt__str_free(&out);
  chmod(path, 0666);
  CHECK(!tt__file_is_ours(path));
}

TEST(reading_says_what_is_wrong) {
  tt_error err;
  tt_str out = {0};
  CHECK_INT(tt__file_read("/no/such/file", &out, &err), TT_EIO);
  CHECK(strstr(err.message, "/no/such/file"));
  CHECK_INT(tt__file_read("/tmp", &out, &err), TT_EIO);
  tt__fault_arm(TT_FAULT_READ, 0, false);
  CHECK_INT(tt__file_read("/proc/self/exe", &out, &err), TT_EIO);
  tt__fault_arm(TT_FAULT_READ, -1, false);
  tt__str_free(&out);
}

TEST(folders_with_parents) {
  char path[4096];
  tt_error err;
  in_scratch(path, "x/y//z/");
  CHECK_INT(tt__dir_make(path, &err), TT_OK);
  CHECK_INT(tt__dir_make(path, &err), TT_OK);
  CHECK(tt__file_is_ours(path));
  in_scratch(path, "plain");
  CHECK_INT(tt__file_write(path, "", 0, &err), TT_OK);
  CHECK_INT(tt__dir_make(path, &err), TT_EIO);
  in_scratch(path, "plain/below");
  CHECK_INT(tt__dir_make(path, &err), TT_EIO);
  CHECK_INT(tt__dir_make("", &err), TT_EIO);
}

TEST(a_child_has_its_own_scratch_and_removes_it) {
  const char *ours = tt__dir_scratch();
  CHECK(ours && ours == tt__dir_scratch());
  int fd[2];
  CHECK(pipe(fd) == 0);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    char mine[4096] = {0};
    char parents[4096];
    snprintf(parents, sizeof parents, "%s", ours);
    const char *path = tt__dir_scratch();
    snprintf(mine, sizeof mine, "%s", path && strcmp(path, parents) != 0 ? path : "");
    if (write(fd[1], mine, sizeof mine) != (ssize_t)sizeof mine) _exit(1);
    exit(0);
  }
  char theirs[4096] = {0};
  size_t have = 0;
  for (ssize_t n; have < sizeof theirs && (n = read(fd[0], theirs + have, sizeof theirs - have)) > 0;)
    have += (size_t)n;
  int status;
  waitpid(pid, &status, 0);
  CHECK_INT(status, 0);
  CHECK(theirs[0] == '/');
  CHECK(access(theirs, F_OK) != 0);
  CHECK(access(tt__dir_scratch(), F_OK) == 0);
  close(fd[0]);
  close(fd[1]);
}

TEST(libraries_open_or_say_why) {
  tt_error err;
  void *lib = tt__lib_open("libm.so.6", &err);
  CHECK(lib && tt__lib_sym(lib, "cos") && !tt__lib_sym(lib, "no_such_symbol"));
  tt__fault_arm(TT_FAULT_LOAD, 0, false);
  CHECK(!tt__lib_sym(lib, "cos"));
  tt__fault_arm(TT_FAULT_LOAD, -1, false);
  tt__lib_close(lib);
  CHECK(!tt__lib_open("libno-such-library.so", &err));
  CHECK(strstr(err.message, "libno-such-library.so"));
}

TEST(the_machine_makes_sense) {
  CHECK(tt__cpu_count() >= 1 && tt__cpu_count() <= 1 << 16);
  CHECK(tt__page_size() >= 4096);
  CHECK(tt__ram_bytes() > 64 << 20);
  CHECK(tt__cache_bytes(1) == 0 || tt__cache_bytes(1) >= 4096);
  CHECK_INT(tt__cache_bytes(9), 0);
  CHECK(tt__cpu_name()[0] != 0);
  CHECK(tt__cpu_level() == 0 || tt__cpu_level() == 3 || tt__cpu_level() == 4);
  int64_t t = tt__clock_ns();
  CHECK(tt__clock_ns() >= t);
}

TEST(cores_that_others_leave) {
  CHECK_INT(tt__cores_left(0, 2, 2), 2);
  CHECK_INT(tt__cores_left(0.3, 2, 2), 2);
  CHECK_INT(tt__cores_left(0.6, 2, 2), 1);
  CHECK_INT(tt__cores_left(1.9, 2, 2), 1);
  CHECK_INT(tt__cores_left(100, 2, 2), 1);
  CHECK_INT(tt__cores_left(30.2, 64, 2), 2);
  CHECK_INT(tt__cores_left(30.6, 64, 64), 33);
  CHECK(tt__cores_free() >= 1 && tt__cores_free() <= tt__cpu_count());
}

TEST_MAIN()
