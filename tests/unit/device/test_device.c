/*
** The registry of devices: names, numbers and texts.
*/
#include "test.h"

#include "base/os/find.h"
#include "device/device.h"

TEST(numbers_hold_kind_and_index) {
  CHECK_INT(tt__device_id(TT_DEVICE_CPU, 0), 0);
  CHECK_INT(tt__device_id(TT_DEVICE_CUDA, 1), 0x101);
  CHECK_INT(tt__device_id(TT_DEVICE_NULL, 0), 0x300);
  CHECK_INT(tt__device_kind(0x101), TT_DEVICE_CUDA);
  CHECK_INT(tt__device_index(0x101), 1);
  char name[16];
  tt__device_name(0x102, name);
  CHECK_STR(name, "cuda:2");
}

TEST(names_without_meaning_are_refused_with_a_list) {
  static const char *const bad[] = {"", "tpu", "cuda:", "cuda:x", "cuda:1x", "cpu:-1", "gpuu", "cuda:0:1", "CUDA"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tt_error err = {0};
    int id = -1;
    CHECK_INT(tt__device_named(bad[i], &id, &err), TT_EVALUE);
    CHECK(strstr(err.message, "not the name of a device") && strstr(err.message, "cpu:0"));
    CHECK_INT(id, -1);
  }
}

TEST(the_cpu_is_named_and_is_no_device) {
  int id = -1;
  tt_device *d = (tt_device *)&id;
  CHECK_INT(tt__device_named("cpu", &id, NULL), TT_OK);
  CHECK_INT(id, 0);
  CHECK_INT(tt__device_named("cpu:0", &id, NULL), TT_OK);
  CHECK_INT(tt__device_named("cpu:1", &id, NULL), TT_EDEVICE);
  CHECK_INT(tt__device_open(0, &d, NULL), TT_OK);
  CHECK(!d);
}

static bool none_fits(void *lib, const char *path, void *ctx) {
  (void)lib, (void)path;
  ++*(int *)ctx;
  return false;
}

TEST(libraries_are_found_by_stem) {
  char path[1024];
  CHECK(!tt__find_library("libsurely_absent.so", NULL, NULL, path, sizeof path));
  CHECK(strstr(path, "libsurely_absent.so"));
  setenv("TUTTI_SURELY_ABSENT", "none", 1);
  CHECK(!tt__find_library("libsurely_absent.so", NULL, NULL, path, sizeof path));
  CHECK(strstr(path, "TUTTI_SURELY_ABSENT=none"));
  unsetenv("TUTTI_SURELY_ABSENT");
  CHECK(tt__find_library("libc.so", NULL, NULL, path, sizeof path)); /* loaded already */
  CHECK(strstr(path, "libc.so"));
  int shown = 0;
  CHECK(!tt__find_library("libc.so", none_fits, &shown, path, sizeof path));
  CHECK(shown > 0 && path[0]);
}

TEST_MAIN()
