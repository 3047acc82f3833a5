/*
** The compiler as a back end: what it makes runs, and one that is absent, fails, lies or hangs is an error
** value and soon left alone.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <xmmintrin.h>

#include "base/fault.h"
#include "base/os/os.h"
#include "device/cpu/cc.h"

static const char *const good =
    "void first(int *a, const void *b) { *a = 1; }\nvoid second(int *a, const void *b) { *a = 2; }\n";
static const char *const names[] = {"first", "second"};

static int call(tt_kernel_fn fn) {
  int out = 0;
  fn((const tt_kargs *)(void *)&out, NULL);
  return out;
}

static tt_code compile_good_first(void) {
  tt_kernel_fn fn[2] = {0};
  tt_code c = tt__cc_compile_first(good, names, 2, fn, NULL, NULL);
  if (c == TT_OK) {
    CHECK_INT(call(fn[0]), 1);
    CHECK_INT(call(fn[1]), 2);
  }
  return c;
}

static tt_code compile_good(tt_str *binary, tt_error *err) {
  tt_kernel_fn fn[2] = {0};
  tt_code c = tt__cc_compile(good, names, 2, fn, binary, err);
  if (c == TT_OK) {
    CHECK_INT(call(fn[0]), 1);
    CHECK_INT(call(fn[1]), 2);
  }
  return c;
}

static void use_compiler(const char *name) {
  if (name)
    setenv("TUTTI_CC", name, 1);
  else
    unsetenv("TUTTI_CC");
  tt__cc_reset();
}

/* A script in the scratch folder that stands in for a compiler. */
static const char *fake(const char *body) {
  static char path[512];
  static int number;
  snprintf(path, sizeof path, "%s/fake%d", tt__dir_scratch(), number++);
  FILE *f = fopen(path, "w");
  fprintf(f, "#!/bin/sh\n%s\n", body);
  fclose(f);
  chmod(path, 0700);
  return path;
}

TEST(two_functions_in_one_run) {
  use_compiler(NULL);
  CHECK_INT(compile_good(NULL, NULL), TT_OK);
  tt_cc_info info = tt__cc_info();
  CHECK(info.usable && info.path[0] == '/');
  CHECK_INT(info.compiles, 1);
  CHECK_INT(info.kernels, 2);
  CHECK(info.ns > 0);
}

TEST(binary_loads_again) {
  use_compiler(NULL);
  tt_str binary = {0};
  tt_kernel_fn fn[2];
  tt_error err = {0};
  CHECK_INT(compile_good(&binary, NULL), TT_OK);
  CHECK_INT(tt__cc_load(binary.data, binary.len, names, 2, fn, &err), TT_OK);
  CHECK_INT(call(fn[1]), 2);
  const char *const absent = "third";
  CHECK_INT(tt__cc_load(binary.data, binary.len, &absent, 1, fn, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "third"));
  CHECK_INT(tt__cc_load("rubbish", 7, names, 2, fn, &err), TT_EDEVICE);
  tt__str_free(&binary);
}

TEST(modes_of_the_thread_stay) {
  use_compiler(NULL);
  unsigned before = _mm_getcsr() & 0xffc0u;
  for (int i = 0; i < 5; i++) CHECK_INT(compile_good(NULL, NULL), TT_OK);
  CHECK_INT(_mm_getcsr() & 0xffc0u, before);
}

TEST(none_is_none) {
  use_compiler("none");
  tt_error err = {0};
  CHECK(!tt__cc_usable());
  CHECK_INT(compile_good(NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "TUTTI_CC=none"));
  tt_str id = {0};
  tt__cc_identity(&id);
  CHECK_INT(id.len, 0);
  tt__str_free(&id);
  use_compiler("no-such-compiler-here");
  CHECK(!tt__cc_usable());
  CHECK_INT(compile_good(NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "TUTTI_CC names no program"));
}

TEST(empty_path_has_no_compiler) {
  char *path = strdup(getenv("PATH"));
  unsetenv("TUTTI_CC");
  setenv("PATH", "/nowhere", 1);
  tt__cc_reset();
  tt_error err = {0};
  CHECK_INT(compile_good(NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "no cc, gcc or clang in PATH"));
  setenv("PATH", path, 1);
  free(path);
}

TEST(broken_text_gives_the_last_lines) {
  use_compiler(NULL);
  tt_kernel_fn fn;
  tt_error err = {0};
  const char *name = "f";
  CHECK_INT(tt__cc_compile("void f(void) { undeclared_thing; }\n", &name, 1, &fn, NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "undeclared_thing"));
  CHECK_INT(compile_good(NULL, NULL), TT_OK); /* one failure is forgiven */
}

TEST(three_failures_in_a_row_end_it) {
  use_compiler(NULL);
  tt_kernel_fn fn;
  const char *name = "f";
  for (int i = 0; i < 2; i++) CHECK_INT(tt__cc_compile("nonsense", &name, 1, &fn, NULL, NULL), TT_EDEVICE);
  CHECK_INT(compile_good(NULL, NULL), TT_OK);
  for (int i = 0; i < 3; i++) CHECK_INT(tt__cc_compile("nonsense", &name, 1, &fn, NULL, NULL), TT_EDEVICE);
  tt_error err = {0};
  CHECK(!tt__cc_usable());
  CHECK_INT(compile_good(NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "the C compiler was given up after 3 failures in a row: /"));
  CHECK_STR(tt__cc_info().why, err.message);
  CHECK(!strchr(err.message, '\n'));
  CHECK_INT(compile_good_first(), TT_OK); /* whoever waits tries at once */
  CHECK(tt__cc_usable());
  for (int i = 0; i < 3; i++) CHECK_INT(tt__cc_compile("nonsense", &name, 1, &fn, NULL, NULL), TT_EDEVICE);
  CHECK(!tt__cc_usable());
  const struct timespec a_while = {.tv_sec = 1, .tv_nsec = 100000000};
  nanosleep(&a_while, NULL);
  CHECK(tt__cc_usable()); /* what was in its way may be gone */
  CHECK_INT(compile_good(NULL, NULL), TT_OK);
}

TEST(failing_compiler) {
  use_compiler(fake("echo the disk is made of cheese >&2; exit 3"));
  tt_error err = {0};
  CHECK(tt__cc_usable()); /* nothing was started yet */
  CHECK_INT(compile_good(NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "made of cheese") && strstr(err.message, "status 3"));
  CHECK(!tt__cc_usable());
}

TEST(lying_compiler) {
  use_compiler(fake("exit 0"));
  CHECK_INT(compile_good(NULL, NULL), TT_EDEVICE);
  use_compiler(fake("for a; do o=$p; p=$a; done; echo junk > \"$p\""));
  CHECK_INT(compile_good(NULL, NULL), TT_EDEVICE);
  CHECK(!tt__cc_usable());
}

TEST(old_compiler_without_native) {
  use_compiler(fake("case \"$*\" in *-march=native*) exit 1;; esac; exec gcc \"$@\""));
  CHECK_INT(compile_good(NULL, NULL), TT_OK);
  CHECK_STR(tt__cc_info().extras, "");
  use_compiler("gcc");
  CHECK(strstr(tt__cc_info().extras, "-march=native"));
}

TEST(hanging_compiler) {
  use_compiler(fake("sleep 50"));
  setenv("TUTTI_CC_TIMEOUT", "0.2", 1);
  tt_error err = {0};
  int64_t start = tt__clock_ns();
  CHECK_INT(compile_good(NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "did not end"));
  CHECK(tt__clock_ns() - start < 5000000000);
  unsetenv("TUTTI_CC_TIMEOUT");
}

TEST(first_name_that_works) {
  char folder[512], path[1024], *old = strdup(getenv("PATH"));
  snprintf(folder, sizeof folder, "%s/bin", tt__dir_scratch());
  mkdir(folder, 0700);
  const char *broken = fake("exit 9");
  snprintf(path, sizeof path, "%s/cc", folder);
  CHECK_INT(rename(broken, path), 0);
  snprintf(path, sizeof path, "%s:%s", folder, old);
  setenv("PATH", path, 1);
  use_compiler(NULL);
  CHECK_INT(compile_good(NULL, NULL), TT_OK);
  CHECK(strstr(tt__cc_info().path, "gcc") || strstr(tt__cc_info().path, "clang"));
  setenv("PATH", old, 1);
  free(old);
}

/* Runs 1 and 2 work; 3 fails, as one does when processes are short. */
TEST(one_failure_is_not_told_to_who_waits) {
  char body[1024];
  snprintf(body, sizeof body, "echo >>%s/runs; [ $(wc -l <%s/runs) != 3 ] && exec gcc \"$@\"", tt__dir_scratch(),
           tt__dir_scratch());
  use_compiler(fake(body));
  for (int i = 0; i < 4; i++) CHECK_INT(compile_good_first(), TT_OK);
  CHECK_INT(tt__cc_info().failures, 0);
}

TEST(a_scratch_folder_that_is_removed_is_made_again) {
  use_compiler(NULL);
  CHECK_INT(compile_good(NULL, NULL), TT_OK);
  char lost[4096], moved[4100];
  snprintf(lost, sizeof lost, "%s", tt__dir_scratch());
  snprintf(moved, sizeof moved, "%s-old", lost);
  CHECK(rename(lost, moved) == 0);
  CHECK_INT(compile_good(NULL, NULL), TT_OK);
  CHECK_INT(tt__cc_info().failures, 0);
  CHECK(strcmp(tt__dir_scratch(), lost) != 0);
  CHECK(symlink(moved, lost) == 0); /* somebody else's of the same name is none */
  CHECK(strcmp(tt__dir_scratch(), lost) != 0);
  CHECK(unlink(lost) == 0);
  char now[4096];
  snprintf(now, sizeof now, "%s", tt__dir_scratch());
  CHECK(rmdir(now) == 0 && symlink(moved, now) == 0);
  CHECK(strcmp(tt__dir_scratch(), now) != 0);
  CHECK(unlink(now) == 0);
  char remove[4200];
  snprintf(remove, sizeof remove, "rm -r '%s'", moved);
  CHECK(system(remove) == 0);
}

/* ---- a compiler that was started ahead */

TEST(a_compiler_waits_for_what_is_expected) {
  use_compiler(NULL);
  tt__cc_expect(2);
  CHECK_INT(compile_good_first(), TT_OK);
  CHECK_INT(tt__cc_info().ahead, 1);
  CHECK_INT(compile_good_first(), TT_OK); /* no other was started yet */
  CHECK_INT(tt__cc_info().ahead, 1);
  tt__cc_expect(-1);
  CHECK_INT(compile_good_first(), TT_OK);
  CHECK_INT(tt__cc_info().ahead, 2);
  tt__cc_expect(-1);
  CHECK_INT(compile_good_first(), TT_OK);
  CHECK_INT(tt__cc_info().ahead, 2);
  CHECK_INT(tt__cc_info().compiles, 4);
  tt__cc_expect(1);
  tt__cc_reset(); /* the one that waits goes */
}

TEST(a_long_text_reaches_the_compiler_that_waits) {
  use_compiler(NULL);
  tt_kernel_fn fn[2];
  tt_str text = {0};
  for (int k = 0; k < 6000; k++) tt__str_addf(&text, "typedef struct { int number_%d; } type_number_%d;\n", k, k);
  tt__str_add(&text, good);
  CHECK(text.len > 200000);
  tt__cc_expect(1);
  CHECK_INT(tt__cc_compile_first(text.data, names, 2, fn, NULL, NULL), TT_OK);
  CHECK_INT(call(fn[1]), 2);
  CHECK_INT(tt__cc_info().ahead, 1);
  tt__cc_expect(-1);
  tt__str_free(&text);
}

TEST(broken_text_gives_the_last_lines_as_ever) {
  use_compiler(NULL);
  tt_kernel_fn fn;
  tt_error err = {0};
  const char *name = "f";
  tt__cc_expect(1);
  CHECK_INT(tt__cc_compile_first("void f(void) { undeclared_thing; }\n", &name, 1, &fn, NULL, &err), TT_EDEVICE);
  CHECK(strstr(err.message, "undeclared_thing"));
  CHECK_INT(compile_good_first(), TT_OK);
  tt__cc_expect(-1);
}

/* Scripts that stand before a compiler, dead ones, such as read their input themselves: the text is compiled anew. */
TEST(a_waiting_compiler_that_fails_is_no_failure) {
  static const char *const odd[] = {"grep -q /dev/stdin $f && exit 3", "grep -q /dev/stdin $f && kill -9 $$",
                                    "cat > /dev/null", "grep -q /dev/stdin $f && exec true",
                                    "grep -q /dev/stdin $f && exec <&-"};
  for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
    char text[256];
    snprintf(text, sizeof text, "for a; do case $a in *.c) f=$a;; esac; done; %s; exec gcc \"$@\"", odd[k]);
    use_compiler(fake(text));
    tt__cc_expect(2);
    CHECK_INT(compile_good_first(), TT_OK);
    tt__cc_expect(-1);
    CHECK_INT(compile_good_first(), TT_OK);
    tt_cc_info info = tt__cc_info();
    CHECK(info.usable && info.ahead == 0 && info.failures == 0 && info.compiles == 2);
  }
}

TEST(none_waits_without_a_compiler) {
  use_compiler("none");
  tt__cc_expect(3);
  CHECK_INT(compile_good_first(), TT_EDEVICE);
  use_compiler(NULL);
  static const tt_fault kinds[] = {TT_FAULT_COMPILE, TT_FAULT_SPAWN, TT_FAULT_WRITE};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tt__cc_reset();
    tt__fault_arm(kinds[i], 0, true);
    tt__cc_expect(1);
    tt__fault_arm(kinds[i], -1, false);
    CHECK_INT(compile_good_first(), TT_OK);
    CHECK_INT(tt__cc_info().ahead, 0);
  }
  tt__cc_reset();
}

TEST(a_forked_child_leaves_it_to_its_parent) {
  use_compiler(NULL);
  tt__cc_expect(1);
  pid_t pid = fork();
  if (pid == 0) {
    bool ok = compile_good_first() == TT_OK && tt__cc_info().ahead == 0;
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  CHECK_INT(compile_good_first(), TT_OK);
  CHECK_INT(tt__cc_info().ahead, 1);
  tt__cc_expect(-1);
}

TEST(faults_come_back_as_values) {
  static const tt_fault kinds[] = {TT_FAULT_COMPILE, TT_FAULT_SPAWN, TT_FAULT_WRITE,
                                   TT_FAULT_LOAD,    TT_FAULT_READ,  TT_FAULT_MEMORY};
  use_compiler(NULL);
  CHECK_INT(compile_good(NULL, NULL), TT_OK);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    for (int n = 0;; n++) {
      bool fired;
      tt_str binary = {0};
      tt_error err = {0};
      tt__cc_reset();
      tt__fault_arm(kinds[i], n, false);
      tt_code c = compile_good(&binary, &err);
      tt__fault_calls(kinds[i], &fired);
      tt__fault_arm(kinds[i], -1, false);
      CHECK(c == TT_OK || c == TT_EDEVICE || c == TT_ENOMEM);
      CHECK(c == TT_OK || err.message[0]);
      tt__str_free(&binary);
      tt__cc_reset();
      CHECK_INT(compile_good(NULL, NULL), TT_OK);
      if (!fired || n > 40) break;
    }
  }
}

static void *compile_some(void *arg) {
  (void)arg;
  for (int i = 0; i < 3; i++) CHECK_INT(compile_good(NULL, NULL), TT_OK);
  return NULL;
}

TEST(several_threads_and_a_fork) {
  use_compiler(NULL);
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, compile_some, NULL);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    _exit(compile_good(NULL, NULL) == TT_OK ? 7 : 8);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
}

TEST_MAIN()
