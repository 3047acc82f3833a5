/*
** Object files without a linker: what compilers make of C runs, what only a linker can read is told from it, and
** damaged files are no more than that.
*/
#include "test.h"

#include "base/fault.h"
#include "base/os/os.h"
#include "device/cpu/cc.h"
#include "device/cpu/object.h"

static bool there_is_a_compiler(void) {
#if defined(__x86_64__)
  return tt__cc_usable();
#else
  return false;
#endif
}

/* The object of a text; "" when it does not compile. */
static tt_str compile(const char *source, const char *flag) {
  char c_path[512], o_path[512];
  tt_cc_info info = tt__cc_info();
  tt_str out = {0}, said = {0};
  int status = 1;
  snprintf(c_path, sizeof c_path, "%s/object.c", tt__dir_scratch());
  snprintf(o_path, sizeof o_path, "%s/object.o", tt__dir_scratch());
  const char *const argv[] = {info.path, "-O1", "-fPIC", "-w", flag, "-c", c_path, "-o", o_path, NULL};
  CHECK_INT(tt__file_write(c_path, source, strlen(source), NULL), TT_OK);
  CHECK_INT(tt__spawn(argv, 60, &status, &said, NULL), TT_OK);
  CHECK_INT(status, 0);
  if (status) fprintf(stderr, "%s\n", said.data ? said.data : "");
  CHECK_INT(tt__file_read(o_path, &out, NULL), TT_OK);
  tt__str_free(&said);
  unlink(c_path);
  unlink(o_path);
  return out;
}

typedef long (*function)(long);

static tt_code load(const char *source, const char *flag, function *f) {
  static const char *const name = "f";
  tt_str bytes = compile(source, flag);
  void *at = NULL;
  tt_error err = {0};
  CHECK(tt__object_is(bytes.data, bytes.len));
  tt_code c = tt__object_load(bytes.data, bytes.len, &name, 1, &at, &err);
  memcpy(f, &at, sizeof at);
  tt__str_free(&bytes);
  return c;
}

TEST(code_constants_and_variables_run) {
  function f;
  if (!there_is_a_compiler()) return;
  CHECK_INT(load("long f(long x) { return 3 * x + 1; }", "-O1", &f), TT_OK);
  CHECK_INT(f(5), 16);
  CHECK_INT(load("static const long t[] = {7, 11, 13}; long f(long x) { return t[x]; }", "-O1", &f), TT_OK);
  CHECK_INT(f(1), 11);
  CHECK_INT(
      load("long zero[99]; static long n = 40; long f(long x) { n += x; zero[5] += n; return zero[5]; }", "-O1", &f),
      TT_OK);
  CHECK_INT(f(2), 42);
  CHECK_INT(f(0), 84);
  CHECK_INT(load("static const char *const w[] = {\"one\", \"two\"}; long f(long x) { return w[x][1]; }", "-O0", &f),
            TT_OK);
  CHECK_INT(f(1), 'w');
  CHECK_INT(load("long g(long); long f(long x) { return g(x) + 1; }\n"
                 "__attribute__((noinline)) long g(long x) { return x * x; }",
                 "-O0", &f),
            TT_OK);
  CHECK_INT(f(9), 82);
  CHECK_INT(load("double sqrt(double); static double h[4] = {2.25, 9, 0.25, 1};\n"
                 "long f(long x) { double s = 0; for (int i = 0; i < 4; i++) s += h[i] * x; return (long)s; }",
                 "-O3", &f),
            TT_OK);
  CHECK_INT(f(4), 50);
}

TEST(names_outside_are_found_in_the_process) {
  function f;
  if (!there_is_a_compiler()) return;
  CHECK_INT(load("unsigned long strlen(const char *); long f(long x) { return strlen((const char *)x); }", "-O1", &f),
            TT_OK);
  CHECK_INT(f((long)(intptr_t) "seven77"), 7);
  CHECK_INT(
      load("unsigned long strlen(const char *); long f(long x) { return strlen((const char *)x); }", "-fno-plt", &f),
      TT_OK);
  CHECK_INT(f((long)(intptr_t) "nine99999"), 9);
  CHECK_INT(load("long not_there(void) __attribute__((weak)); long f(long x) { return not_there ? 1 : x; }", "-O1", &f),
            TT_OK);
  CHECK_INT(f(6), 6);
  CHECK_INT(load("long not_there(void); long f(long x) { return not_there(); }", "-O1", &f), TT_ENOTIMPL);
}

TEST(the_rest_is_for_a_linker) {
  function f;
  if (!there_is_a_compiler()) return;
  CHECK_INT(load("__thread long v; long f(long x) { return v += x; }", "-O1", &f), TT_ENOTIMPL);
  CHECK_INT(load("static __thread long v = 3; long f(long x) { return v += x; }", "-O1", &f), TT_ENOTIMPL);
  CHECK_INT(load("long v; long f(long x) { return v += x; }", "-fcommon", &f), TT_ENOTIMPL);
  CHECK_INT(load("int getpid(void); static long v; __attribute__((constructor)) static void g(void) { v = getpid(); } "
                 "long f(long x) { return v; }",
                 "-O1", &f),
            TT_ENOTIMPL);
  CHECK_INT(load("long g(long x) { return x; }", "-O1", &f), TT_EDEVICE);                     /* no f at all */
  CHECK_INT(load("static long f(long x) { return x; } void *g = f;", "-O0", &f), TT_EDEVICE); /* not a global one */
  CHECK_INT(load("long f(long x);", "-O1", &f), TT_EDEVICE);
}

/* Whatever the damage: a value comes back. What loads is not run. */
TEST(damaged_files_are_told_or_harmless) {
  if (!there_is_a_compiler()) return;
  tt_str good = compile(
      "static const char *const w[] = {\"one\", \"two\"}; long n[3]; unsigned long strlen(const char *);\n"
      "long f(long x) { return n[1] += w[x][1] + strlen(w[x]); }",
      "-O1");
  static const char *const name = "f";
  uint64_t random = 88172645463325252u;
  int loaded = 0;
  for (size_t size = 0; size < good.len; size += 7) {
    void *at;
    tt_str part = {0};
    tt__str_add_n(&part, good.data, size);
    CHECK(tt__object_load(part.data ? part.data : "", size, &name, 1, &at, NULL) != TT_OK);
    tt__str_free(&part);
  }
  for (int k = 0; k < 20000; k++) {
    void *at;
    tt_str bad = {0};
    tt__str_add_n(&bad, good.data, good.len);
    for (int j = 0; j < 1 + k % 3; j++) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      bad.data[random % bad.len] = (char)(random >> 40);
    }
    loaded += tt__object_load(bad.data, bad.len, &name, 1, &at, NULL) == TT_OK;
    tt__str_free(&bad);
  }
  CHECK(loaded > 0 && loaded < 20000);
  tt__str_free(&good);
}

TEST(no_memory_is_no_object) {
  if (!there_is_a_compiler()) return;
  tt_str good = compile("static const char *const w[] = {\"one\"}; long f(long x) { return w[0][x]; }", "-O1");
  static const char *const name = "f";
  bool fired = true;
  for (int n = 0; fired && n < 50; n++) {
    void *at;
    int64_t live = tt__mem_stats().live;
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code c = tt__object_load(good.data, good.len, &name, 1, &at, NULL);
    tt__fault_calls(TT_FAULT_MEMORY, &fired);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    CHECK_INT(c, fired ? TT_ENOMEM : TT_OK);
    CHECK_INT(tt__mem_stats().live, live);
  }
  CHECK(!fired);
  tt__str_free(&good);
}

TEST_MAIN()
