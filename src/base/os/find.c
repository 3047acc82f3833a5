/* The search for vendor libraries: candidates in the order that find.h tells, each opened and shown to the caller. */
#include "base/os/find.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/os/os.h"

enum { PATH_CAP = 1024, SEARCH_CAP = 16384, NAME_CAP = 256 };

TT_LOCK(path_lock, 0); /* guards `packages` */
static char packages[SEARCH_CAP];
static atomic_int changes;

void tt__find_path(const char *dirs) {
  tt__lock(&path_lock);
  snprintf(packages, sizeof packages, "%s", dirs ? dirs : "");
  tt__unlock(&path_lock);
  atomic_fetch_add(&changes, 1);
}

int tt__find_path_changes(void) { return atomic_load(&changes); }

/* One search under way. */
typedef struct search {
  const char *file; /* "libcublasLt.so" */
  tt_library_fits fits;
  void *ctx;
  void *found;
  char path[PATH_CAP]; /* of `found` */
  tt_error why;        /* why the last candidate did not load or fit */
} search;

static bool offer(search *s, const char *path) {
  void *lib = tt__lib_open(path, &s->why);
  if (!lib) return false;
  if (s->fits && !s->fits(lib, path, s->ctx)) { /* its code may have run: it stays loaded */
    tt__fail(&s->why, TT_EIO, "%s does not serve", path);
    return false;
  }
  s->found = lib;
  snprintf(s->path, sizeof s->path, "%s", path);
  return true;
}

/* ---- folders */

/* The file name itself, or with a version behind it. */
static bool is_named(const search *s, const char *name) {
  size_t len = strlen(s->file);
  return strncmp(name, s->file, len) == 0 &&
         (name[len] == 0 || (name[len] == '.' && isdigit((unsigned char)name[len + 1])));
}

/* Versions as people read them: 13 after 9. The bare name comes after every version. */
static int compare_versions(const char *a, const char *b) {
  while (*a && *b) {
    if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
      char *ea, *eb;
      unsigned long x = strtoul(a, &ea, 10), y = strtoul(b, &eb, 10);
      if (x != y) return x < y ? -1 : 1;
      a = ea;
      b = eb;
    } else if (*a != *b) {
      return *a < *b ? -1 : 1;
    } else {
      a++;
      b++;
    }
  }
  return *a ? 1 : *b ? -1 : 0;
}

/*
** The entries of a folder that `match` takes, newest first; false at the end. `last` is the one given before ("": none)
** and is replaced. Reading the folder anew for each costs little and needs no memory.
*/
static bool next_entry(const char *dir, bool (*match)(const search *, const char *), const search *s,
                       char last[NAME_CAP]) {
  char best[NAME_CAP] = "";
  DIR *d = opendir(dir);
  if (!d) return false;
  for (struct dirent *e; (e = readdir(d));) {
    if (strlen(e->d_name) >= NAME_CAP || !match(s, e->d_name)) continue;
    if (*last && compare_versions(e->d_name, last) >= 0) continue;
    if (!*best || compare_versions(e->d_name, best) > 0) snprintf(best, sizeof best, "%s", e->d_name);
  }
  closedir(d);
  memcpy(last, best, sizeof best);
  return *best != 0;
}

static bool try_folder(search *s, const char *dir) {
  char name[NAME_CAP] = "", path[PATH_CAP];
  while (next_entry(dir, is_named, s, name))
    if (snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path && offer(s, path)) return true;
  return false;
}

static bool try_below(search *s, const char *dir, const char *tail) {
  char path[PATH_CAP];
  return dir && snprintf(path, sizeof path, "%s%s", dir, tail) < (int)sizeof path && try_folder(s, path);
}

/* DIR/ENTRY/tail for the entries that match. */
static bool try_entries(search *s, const char *dir, bool (*match)(const search *, const char *), const char *tail) {
  char name[NAME_CAP] = "", path[PATH_CAP];
  while (next_entry(dir, match, s, name))
    if (snprintf(path, sizeof path, "%s/%s%s", dir, name, tail) < (int)sizeof path && try_folder(s, path)) return true;
  return false;
}

/* Call `one` on every folder of a ':' list. */
static bool try_list(search *s, const char *list, bool (*one)(search *, const char *dir)) {
  while (list && *list) {
    size_t len = strcspn(list, ":");
    char dir[PATH_CAP];
    if (len && len < sizeof dir) {
      snprintf(dir, sizeof dir, "%.*s", (int)len, list);
      if (one(s, dir)) return true;
    }
    list += len + (list[len] != 0);
  }
  return false;
}

/* ---- the steps of the search */

typedef struct loaded {
  const search *s;
  char path[PATH_CAP];
} loaded;

static int note_loaded(struct dl_phdr_info *info, size_t size, void *ctx) {
  (void)size;
  loaded *l = ctx;
  const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
  if (!slash || !is_named(l->s, slash + 1) || strlen(info->dlpi_name) >= sizeof l->path) return 0;
  snprintf(l->path, sizeof l->path, "%s", info->dlpi_name);
  return 1;
}

static bool try_loaded(search *s) {
  loaded l = {.s = s};
  dl_iterate_phdr(note_loaded, &l); /* dlopen only afterwards: the loader's lock is held inside */
  return l.path[0] && offer(s, l.path);
}

static bool any_entry(const search *s, const char *name) {
  (void)s;
  return name[0] != '.';
}

static bool is_toolkit(const search *s, const char *name) {
  (void)s;
  return strncmp(name, "cuda-", 5) == 0;
}

static bool try_wheels(search *s, const char *packages_dir) {
  char dir[PATH_CAP];
  return snprintf(dir, sizeof dir, "%s/nvidia", packages_dir) < (int)sizeof dir &&
         try_entries(s, dir, any_entry, "/lib");
}

/* The loader knows names, not patterns: the bare one, and versions from the newest that may come to the oldest we
 * use. */
static bool try_loader(search *s) {
  enum { NEWEST = 24, OLDEST = 9 };
  char name[NAME_CAP + 16];
  for (int version = NEWEST; version >= OLDEST; version--) {
    snprintf(name, sizeof name, "%s.%d", s->file, version);
    if (offer(s, name)) return true;
  }
  return offer(s, s->file);
}

static bool try_toolkit(search *s, const char *home) {
  return try_below(s, home, "/lib64") || try_below(s, home, "/lib") ||
         try_below(s, home, "/targets/x86_64-linux/lib") || try_below(s, home, "/targets/sbsa-linux/lib");
}

static bool try_all(search *s) {
  char dirs[SEARCH_CAP];
  tt__lock(&path_lock);
  memcpy(dirs, packages, sizeof dirs);
  tt__unlock(&path_lock);
  return try_loaded(s) || try_list(s, dirs, try_wheels) || try_below(s, tt__env("CONDA_PREFIX"), "/lib") ||
         try_list(s, tt__env("LD_LIBRARY_PATH"), try_folder) || try_loader(s) || try_toolkit(s, tt__env("CUDA_HOME")) ||
         try_toolkit(s, tt__env("CUDA_PATH")) || try_toolkit(s, "/usr/local/cuda") ||
         try_entries(s, "/usr/local", is_toolkit, "/lib64");
}

/* "libcublasLt.so" -> "TUTTI_CUBLASLT". */
static void variable_of(const char *stem, char *out, size_t size) {
  size_t n = (size_t)snprintf(out, size, "TUTTI_%s", strncmp(stem, "lib", 3) == 0 ? stem + 3 : stem);
  for (size_t i = 0; i < n && i < size; i++) {
    if (out[i] == '.') out[i] = 0;
    out[i] = (char)toupper((unsigned char)out[i]);
  }
}

static void say_why(const search *s, const char *name, const char *asked, char *out, size_t size) {
  if (asked && strcmp(asked, "none") == 0)
    snprintf(out, size, "%s is switched off (%s=none)", s->file, name);
  else if (asked)
    snprintf(out, size, "%s=%s: %s", name, asked, s->why.message);
  else
    snprintf(out, size,
             "no %s found that serves (looked in loaded libraries, wheels, the loader's paths, CUDA_HOME, "
             "/usr/local/cuda*): %s",
             s->file, s->why.message);
}

void *tt__find_library(const char *stem, tt_library_fits fits, void *ctx, char *path, size_t size) {
  search s = {.file = stem, .fits = fits, .ctx = ctx};
  char name[64];
  variable_of(stem, name, sizeof name);
  const char *asked = tt__env(name);
  bool found = !asked ? try_all(&s) : strcmp(asked, "none") != 0 && offer(&s, asked);
  if (!path) return s.found;
  if (found)
    snprintf(path, size, "%s", s.path);
  else
    say_why(&s, name, asked, path, size);
  return s.found;
}
