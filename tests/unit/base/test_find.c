/* Vendor libraries by pattern: folders of wheels, newest first, what is loaded already, what does not fit. */
#include <dlfcn.h>
#include <sys/stat.h>

#include "base/os/find.h"
#include "base/os/os.h"
#include "test.h"

static char root[256], folder[300];

/* DIR/nvidia/some/lib with the C library's libm under names of our own. */
static void make(void) {
  Dl_info info;
  char path[400], real[4096];
  void *lib = tt__lib_open("libm.so.6", NULL);
  CHECK(lib && dladdr(tt__lib_sym(lib, "cosh"), &info) && realpath(info.dli_fname, real));
  snprintf(root, sizeof root, "/tmp/tutti_find_XXXXXX");
  CHECK(mkdtemp(root) != NULL);
  snprintf(path, sizeof path, "%s/nvidia", root);
  CHECK(mkdir(path, 0700) == 0);
  snprintf(path, sizeof path, "%s/nvidia/some", root);
  CHECK(mkdir(path, 0700) == 0);
  snprintf(folder, sizeof folder, "%s/nvidia/some/lib", root);
  CHECK(mkdir(folder, 0700) == 0);
  static const char *const names[] = {"libttfind.so.7", "libttfind.so.9", "libttfindmore.so.11"};
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    CHECK(symlink(real, path) == 0);
  }
}

static void drop(void) {
  char command[400];
  snprintf(command, sizeof command, "rm -r %s", root);
  CHECK(system(command) == 0);
}

static bool only_seven(void *lib, const char *path, void *ctx) {
  ++*(int *)ctx;
  return tt__lib_sym(lib, "cosh") && strstr(path, ".so.7");
}

TEST(finds_the_newest_that_fits) {
  char path[400];
  int asked = 0;
  make();
  CHECK(!tt__find_library("libttfind.so", NULL, NULL, NULL, 0));
  char dirs[600];
  snprintf(dirs, sizeof dirs, ":/nowhere:%s", root);
  tt__find_path(dirs);
  CHECK(tt__find_library("libttfind.so", NULL, NULL, path, sizeof path) && strstr(path, "libttfind.so.9"));
  CHECK(tt__find_library("libttfind.so", only_seven, &asked, path, sizeof path) && strstr(path, "libttfind.so.7"));
  CHECK_INT(asked, 2);
  tt__find_path(NULL);
  drop();
}

TEST(finds_what_is_loaded) {
  char path[400] = "";
  CHECK(tt__find_library("libc.so", NULL, NULL, path, sizeof path) && strchr(path, '/'));
}

TEST_MAIN()
