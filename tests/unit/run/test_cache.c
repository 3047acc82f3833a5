/*
** The disk cache: what is stored is found, by other processes too; whatever is damaged, foreign or in
** the way is a miss and never an error; the folder stays below its limit.
*/
#define TEST_KEEPS_MEMORY
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "base/os/os.h"
#include "device/cpu/cc.h"
#include "kernel_ref.h"
#include "run/cache/cache.h"
#include "run/compile.h"

static char folder[512];

/* A fresh, empty cache. */
static void fresh(void) {
  static int number;
  snprintf(folder, sizeof folder, "%s/cache%d", tt__dir_scratch(), number++);
  setenv("TUTTI_CACHE_DIR", folder, 1);
  unsetenv("TUTTI_CACHE_LIMIT");
  tt__cache_reset();
  tt__cc_reset();
}

/* As a new process sees it: files are there, memory is empty. */
static void reopen(void) { tt__cache_reset(); }

/* x * 2, x * 3 ...: `which` kernels of different keys. */
static tt_kernel *make_kernel(int which) {
  tt_str text = {0};
  tt_kernel *k = NULL;
  tt__str_add(&text,
              "kernel map outer=1 axes=1 phases=1 bufs=2 reds=0\na0: read i32 buf0 unit\na1: write i32 buf1 unit\n"
              "%0 = load.i32 a0 @row0\n");
  for (int i = 0; i <= which; i++) tt__str_addf(&text, "%%%d = add.i32 %%%d %%0 @row0\n", i + 1, i);
  tt__str_addf(&text, "%%%d = store.i32 a1 %%%d @row0\n", which + 2, which + 1);
  if (tt__kernel_parse(text.data, &k, NULL) != TT_OK) exit(1);
  tt__str_free(&text);
  return k;
}

static void check_runs(const tt_kernel *k, tt_kernel_fn fn, int which) {
  const int64_t len[1] = {37};
  if (!fn) {
    CHECK(fn);
    return;
  }
  ref_launch *l = ref_launch_new(k, len, 11);
  ref_cover(l, fn, false, false);
  for (int i = 0; i < 37; i++) {
    int32_t x = ((int32_t *)l->buf[0])[i], y = ((int32_t *)l->buf[1])[i];
    CHECK_INT(y, (int32_t)((uint32_t)x * (uint32_t)(which + 2)));
  }
  ref_launch_free(l);
}

static void build(int first, int n, tt_code want) {
  tt_kernel *k[32];
  tt_kernel_fn fn[32];
  for (int i = 0; i < n; i++) k[i] = make_kernel(first + i);
  tt_error err = {0};
  tt_code c = tt__compile_kernels((const tt_kernel *const *)k, n, fn, &err);
  CHECK_INT(c, want);
  if (c != want) fprintf(stderr, "%s\n", err.message);
  for (int i = 0; i < n && c == TT_OK; i++) check_runs(k[i], fn[i], first + i);
  for (int i = 0; i < n; i++) tt__kernel_free(k[i]);
}

static bool peek(int which) {
  tt_kernel *k = make_kernel(which);
  tt_kernel_fn fn = tt__compile_peek(k);
  if (fn) check_runs(k, fn, which);
  tt__kernel_free(k);
  return fn != NULL;
}

/* The only (or any) entry of the folder. */
static bool an_entry(char *path, size_t size) {
  char kernels[600];
  snprintf(kernels, sizeof kernels, "%s/kernels", folder);
  DIR *dir = opendir(kernels);
  bool found = false;
  for (struct dirent *d; dir && (d = readdir(dir)) != NULL;)
    if (strstr(d->d_name, ".ttk")) {
      snprintf(path, size, "%s/%s", kernels, d->d_name);
      found = true;
    }
  if (dir) closedir(dir);
  return found;
}

static int count_entries(void) {
  char kernels[600];
  snprintf(kernels, sizeof kernels, "%s/kernels", folder);
  DIR *dir = opendir(kernels);
  int n = 0;
  for (struct dirent *d; dir && (d = readdir(dir)) != NULL;) n += d->d_name[0] != '.';
  if (dir) closedir(dir);
  return n;
}

TEST(stored_is_found) {
  fresh();
  CHECK(!peek(0));
  build(0, 3, TT_OK);
  CHECK_INT(tt__cache_info().stores, 1);
  CHECK_INT(tt__cc_info().compiles, 1);
  CHECK_INT(count_entries(), 3);
  reopen();
  for (int i = 0; i < 3; i++) CHECK(peek(i));
  build(0, 3, TT_OK);
  CHECK_INT(tt__cc_info().compiles, 1);
  tt_cache_info info = tt__cache_info();
  CHECK_INT(info.hits, 6);
  CHECK_INT(info.misses, 0);
  CHECK(info.bytes > 1000 && info.usable);
  build(2, 2, TT_OK); /* one is there, one is new */
  CHECK_INT(tt__cc_info().compiles, 2);
}

TEST(duplicates_and_many_batches) {
  fresh();
  tt_kernel *k[40];
  tt_kernel_fn fn[40];
  for (int i = 0; i < 40; i++) k[i] = make_kernel(i % 20);
  CHECK_INT(tt__compile_kernels((const tt_kernel *const *)k, 40, fn, NULL), TT_OK);
  for (int i = 0; i < 40; i++) check_runs(k[i], fn[i], i % 20);
  CHECK_INT(tt__cc_info().compiles, 2);
  CHECK_INT(count_entries(), 20);
  for (int i = 0; i < 40; i++) tt__kernel_free(k[i]);
}

TEST(owner_only) {
  fresh();
  build(0, 1, TT_OK);
  char path[1024];
  struct stat st;
  CHECK(an_entry(path, sizeof path));
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
  CHECK(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700);
  chmod(path, 0666); /* others could have written it */
  reopen();
  CHECK(!peek(0));
  chmod(folder, 0777);
  reopen();
  CHECK(!tt__cache_info().usable);
  CHECK(strstr(tt__cache_info().why, "not ours"));
  build(0, 1, TT_OK);
}

static void damage(const char *path, const tt_str *whole, size_t size, size_t at, int how) {
  FILE *f = fopen(path, "w");
  fwrite(whole->data, 1, size, f);
  fclose(f);
  chmod(path, 0600);
  if (at >= size) return;
  f = fopen(path, "r+");
  fseek(f, (long)at, SEEK_SET);
  fputc(whole->data[at] ^ how, f);
  fclose(f);
}

TEST(any_damage_is_a_miss) {
  fresh();
  build(0, 1, TT_OK);
  char path[1024];
  tt_str whole = {0};
  CHECK(an_entry(path, sizeof path));
  CHECK_INT(tt__file_read(path, &whole, NULL), TT_OK);
  size_t n = whole.len;
  for (size_t at = 0; at < n; at += at < 400 ? 1 : n / 200) {
    damage(path, &whole, n, at, 1 << (at % 8));
    reopen();
    CHECK(!peek(0));
    CHECK_INT(tt__cache_info().damaged, 1);
  }
  for (size_t size = 0; size < n; size += size < 200 ? 1 : n / 100) {
    damage(path, &whole, size, size, 0);
    reopen();
    CHECK(!peek(0));
  }
  int64_t compiles = tt__cc_info().compiles;
  build(0, 1, TT_OK); /* replaced */
  CHECK_INT(tt__cc_info().compiles, compiles + 1);
  reopen();
  CHECK(peek(0));
  damage(path, &whole, n, n, 0); /* the undamaged bytes themselves are a hit */
  reopen();
  CHECK(peek(0));
  tt__str_free(&whole);
}

/* A well-formed entry under the name of another kernel, as a collision of keys would give. */
TEST(everything_is_compared) {
  fresh();
  tt_cache_place place = {.identity = "here", .header = {1, 2}};
  tt_cache_item item = {.key = {3, 4}, .text = "text", .source = "source", .symbol = "f"};
  tt_str binary = {0};
  tt_kernel_fn fn;
  const char *name = "f";
  CHECK_INT(tt__cc_compile("void f(void) {}", &name, 1, &fn, &binary, NULL), TT_OK);
  tt__cache_store(&place, &item, 1, binary.data, binary.len);
  reopen();
  CHECK(tt__cache_find(&place, &item));
  tt_cache_item other = item;
  other.text = "texu";
  CHECK(!tt__cache_find(&place, &other));
  reopen();
  CHECK(!tt__cache_find(&place, &other));
  other = item;
  other.source = "sourc";
  CHECK(!tt__cache_find(&place, &other));
  tt_cache_place there = {.identity = "there", .header = {1, 2}}, newer = {.identity = "here", .header = {1, 3}};
  CHECK(!tt__cache_find(&there, &item) && !tt__cache_find(&newer, &item));
  CHECK(tt__cache_find(&place, &item));
  tt__str_free(&binary);
}

TEST(another_compiler_is_another_entry) {
  fresh();
  build(0, 1, TT_OK);
  setenv("TUTTI_CC", "clang", 1);
  tt__cc_reset();
  if (tt__cc_usable()) {
    reopen();
    CHECK(!peek(0));
    build(0, 1, TT_OK);
    CHECK_INT(count_entries(), 2);
  }
  unsetenv("TUTTI_CC");
}

TEST(no_failure_of_the_disk_is_ours) {
  fresh();
  build(0, 1, TT_OK);
  char command[700];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK_INT(system(command), 0); /* deleted under us: made anew */
  build(1, 1, TT_OK);
  reopen();
  CHECK(peek(1));
  tt__fault_arm(TT_FAULT_WRITE, 2, true); /* after the source text was written: a full disk */
  build(2, 1, TT_OK);
  tt__fault_arm(TT_FAULT_WRITE, -1, false);
  CHECK_INT(tt__cache_info().failures, 1);
  build(3, 1, TT_OK);
  tt__fault_arm(TT_FAULT_READ, 0, false);
  reopen();
  CHECK(!peek(3));
  tt__fault_arm(TT_FAULT_READ, -1, false);
  CHECK(peek(3));
  setenv("TUTTI_CACHE_DIR", "/proc/no/such", 1);
  reopen();
  build(4, 1, TT_OK);
  CHECK(!tt__cache_info().usable && tt__cache_info().why[0]);
  setenv("TUTTI_CACHE_DIR", "/dev/null", 1);
  reopen();
  build(4, 1, TT_OK);
  setenv("TUTTI_CACHE_LIMIT", "0", 1);
  reopen();
  build(4, 1, TT_OK);
  CHECK(!tt__cache_info().usable);
}

TEST(memory_faults_are_clean) {
  fresh();
  for (int n = 0; n < 200; n++) {
    tt_kernel *k = make_kernel(0);
    const tt_kernel *list[1] = {k};
    tt_kernel_fn fn = NULL;
    bool fired;
    tt__cache_reset();
    int64_t live = tt__mem_stats().live;
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code c = tt__compile_kernels(list, 1, &fn, NULL);
    tt__fault_calls(TT_FAULT_MEMORY, &fired);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    tt__cache_reset();
    CHECK_INT(tt__mem_stats().live, live);
    CHECK((c == TT_OK) == (fn != NULL));
    if (fn) check_runs(k, fn, 0);
    tt__kernel_free(k);
    if (!fired) return;
  }
  CHECK(!"a call without a fault");
}

TEST(oldest_go_first) {
  fresh();
  build(0, 1, TT_OK);
  int64_t one = tt__cache_info().bytes;
  char limit[32];
  snprintf(limit, sizeof limit, "%lld", (long long)(one * 5 + one / 2));
  setenv("TUTTI_CACHE_LIMIT", limit, 1);
  reopen();
  for (int i = 1; i < 8; i++) {
    usleep(20000);
    build(i, 1, TT_OK);
    reopen();
    CHECK(peek(0)); /* used all the time */
    reopen();
  }
  CHECK(count_entries() <= 5);
  CHECK(peek(0) && peek(7) && !peek(1) && !peek(2));
  CHECK(tt__cache_info().bytes <= one * 6);
}

TEST(eight_processes_one_key) {
  fresh();
  pid_t pid[8];
  for (int i = 0; i < 8; i++) {
    pid[i] = fork();
    if (pid[i]) continue;
    alarm(50);
    test_failures = 0;
    for (int round = 0; round < 20; round++) {
      tt__cache_reset();
      if (round % 5 == i % 5) { /* now and then one is removed under the others */
        char path[1024];
        if (an_entry(path, sizeof path)) unlink(path);
      }
      if (round % 4 == 0 || !peek(0)) build(0, 2, TT_OK);
    }
    _exit(test_failures ? 1 : 7);
  }
  for (int i = 0; i < 8; i++) {
    int status = 0;
    waitpid(pid[i], &status, 0);
    CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
  }
  tt__cache_reset();
  build(0, 2, TT_OK);
  tt__cache_reset();
  CHECK(peek(0));
}

TEST_MAIN()
