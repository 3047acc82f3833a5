/*
** The files that run/cache/cache.c, launch/python/cache_hints.c, run/machine/calibrate.c and lang/cuda_c/cache.c keep
** in the folder of tt__dir_cache: how many, how large, away with them.
*/
#include "run/cache/cache_files.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/os.h"

/* The folder may be somebody's home: what bears no name of ours is left alone. */
static bool is_our_file(const char *name) { return strcmp(name, "known") == 0 || strncmp(name, "costs-", 6) == 0; }
static bool is_any(const char *name) { return name[0] != 0; }

static void look(const char *folder, bool (*ours)(const char *name), bool remove, tt_kept *out) {
  DIR *d = opendir(folder);
  if (!d) return;
  for (struct dirent *e; (e = readdir(d));) {
    char path[sizeof out->folder + 16 + sizeof e->d_name];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (!ours(e->d_name) || lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) continue;
    if (remove && unlink(path) != 0) continue;
    out->files++;
    out->bytes += st.st_size;
  }
  closedir(d);
}

void tt__cache_files(bool remove, tt_kept *out) {
  memset(out, 0, sizeof *out);
  if (!tt__dir_cache(out->folder, sizeof out->folder)) {
    out->folder[0] = 0;
    return;
  }
  look(out->folder, is_our_file, remove, out);
  static const char *const folders[] = {"kernels", "programs"};
  for (int k = 0; k < 2; k++) {
    char path[sizeof out->folder + 16];
    snprintf(path, sizeof path, "%s/%s", out->folder, folders[k]);
    look(path, is_any, remove, out);
  }
}
