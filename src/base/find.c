/* Where libraries lie: what is loaded, the wheels' folders, the loader, the toolkit's folders. */
#include "base/find.h"

#include <dirent.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/os.h"

enum { PATH_CAP = 1024, SEARCH_CAP = 16384, MOST_VERSION = 30 };

static tt_lock lock = TT_LOCK_INIT;
static char search[SEARCH_CAP]; /* guarded by lock */

static void fork_prepare(void) { tt__lock(&lock); }
static void fork_done(void) { tt__unlock(&lock); }
TT_AT_LOAD(0) static void at_load(void) { pthread_atfork(fork_prepare, fork_done, fork_done); }

typedef struct hunt {
  const char *stem;
  tt_library_fits fits;
  void *ctx;
  char *path;
  size_t size;
  void *found;
} hunt;

static bool is_named(const hunt *h, const char *name) {
  size_t n = strlen(h->stem);
  return strncmp(name, h->stem, n) == 0 && (name[n] == '\0' || name[n] == '.');
}

static bool try_path(hunt *h, const char *path) {
  void *lib = tt__lib_open(path, NULL);
  if (!lib) return false;
  if (h->fits && !h->fits(lib, path, h->ctx)) {
    tt__lib_close(lib);
    return false;
  }
  if (h->path) snprintf(h->path, h->size, "%s", path);
  h->found = lib;
  return true;
}

/* ---- what is loaded already */

typedef struct loaded {
  const hunt *h;
  char path[PATH_CAP];
} loaded;

/* Only notes the path: the loader's own lock is held here. */
static int note_loaded(struct dl_phdr_info *info, size_t size, void *ctx) {
  (void)size;
  loaded *l = ctx;
  const char *path = info->dlpi_name, *slash = path ? strrchr(path, '/') : NULL;
  if (!path || !is_named(l->h, slash ? slash + 1 : path) || strlen(path) >= sizeof l->path) return 0;
  snprintf(l->path, sizeof l->path, "%s", path);
  return 1;
}

static bool try_loaded(hunt *h) {
  loaded l = {.h = h};
  return dl_iterate_phdr(note_loaded, &l) && try_path(h, l.path);
}

/* ---- folders */

/* The greatest name of a folder that is less than `last` ("": any) and is wanted; false at the end. */
static bool next_name(const char *dir, bool (*wanted)(const void *ctx, const char *name), const void *ctx,
                      char last[256]) {
  char best[256] = "";
  DIR *d = opendir(dir);
  if (!d) return false;
  for (struct dirent *e; (e = readdir(d));) {
    const char *name = e->d_name;
    if (strlen(name) >= sizeof best || !wanted(ctx, name) || (last[0] && strcmp(name, last) >= 0)) continue;
    if (strcmp(name, best) > 0) snprintf(best, sizeof best, "%s", name);
  }
  closedir(d);
  memcpy(last, best, sizeof best);
  return best[0] != '\0';
}

static bool is_library(const void *ctx, const char *name) { return is_named(ctx, name); }
static bool is_package(const void *ctx, const char *name) {
  (void)ctx;
  return name[0] != '.';
}
static bool is_toolkit(const void *ctx, const char *name) {
  (void)ctx;
  return strncmp(name, "cuda", 4) == 0;
}

static bool try_folder(hunt *h, const char *dir) {
  char name[256] = "", path[PATH_CAP];
  while (next_name(dir, is_library, h, name))
    if (snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path && try_path(h, path)) return true;
  return false;
}

static bool try_wheels(hunt *h, const char *list) {
  for (; *list; list += *list == ':') {
    size_t len = strcspn(list, ":");
    char dir[PATH_CAP], lib[PATH_CAP + 300], package[256] = "";
    bool fits = len && snprintf(dir, sizeof dir, "%.*s/nvidia", (int)len, list) < (int)sizeof dir;
    list += len;
    while (fits && next_name(dir, is_package, NULL, package)) {
      snprintf(lib, sizeof lib, "%s/%s/lib", dir, package);
      if (try_folder(h, lib)) return true;
    }
  }
  return false;
}

static bool try_loader(hunt *h) {
  char name[300];
  for (int v = MOST_VERSION; v > 0; v--) {
    snprintf(name, sizeof name, "%s.%d", h->stem, v);
    if (try_path(h, name)) return true;
  }
  return try_path(h, h->stem);
}

static bool try_toolkit(hunt *h, const char *root) {
  static const char *const folders[] = {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"};
  char dir[PATH_CAP];
  for (size_t i = 0; root && i < sizeof folders / sizeof *folders; i++)
    if (snprintf(dir, sizeof dir, "%s/%s", root, folders[i]) < (int)sizeof dir && try_folder(h, dir)) return true;
  return false;
}

static bool try_toolkits(hunt *h) {
  if (try_toolkit(h, tt__env("CUDA_HOME")) || try_toolkit(h, tt__env("CUDA_PATH"))) return true;
  char name[256] = "", root[300];
  while (next_name("/usr/local", is_toolkit, NULL, name)) {
    snprintf(root, sizeof root, "/usr/local/%s", name);
    if (try_toolkit(h, root)) return true;
  }
  return false;
}

void *tt__find_library(const char *stem, tt_library_fits fits, void *ctx, char *path, size_t size) {
  hunt h = {.stem = stem, .fits = fits, .ctx = ctx, .path = path, .size = size};
  char list[SEARCH_CAP];
  tt__lock(&lock);
  memcpy(list, search, sizeof list);
  tt__unlock(&lock);
  if (!try_loaded(&h) && !try_wheels(&h, list) && !try_loader(&h)) try_toolkits(&h);
  return h.found;
}

void tt__find_path(const char *dirs) {
  tt__lock(&lock);
  snprintf(search, sizeof search, "%s", dirs ? dirs : "");
  tt__unlock(&lock);
}
