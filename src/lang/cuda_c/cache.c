/*
** The file: magic, digest of what follows, then four pieces, each a u64 length and that many bytes: key, binary, names
** of parameters, text. Folder: as the cache of kernels, beside it. At most MOST_FILES are kept, those unused the
** longest go first.
*/
#include "lang/cuda_c/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/os/os.h"

enum { PIECES = 4, PATH_SIZE = 600, MOST_FILES = 512 };

typedef struct head {
  char magic[8];
  tt_digest digest;
} head;
static const char MAGIC[8] = "ttprog1";

static bool find_folder(char path[PATH_SIZE]) {
  const char *limit = tt__env("TUTTI_CACHE_LIMIT");
  char parent[PATH_SIZE - 16];
  if ((limit && strtod(limit, NULL) <= 0) || !tt__dir_cache(parent, sizeof parent)) return false;
  snprintf(path, PATH_SIZE, "%s/programs", parent);
  return tt__dir_make(path, NULL) == TT_OK && tt__file_is_ours(parent) && tt__file_is_ours(path);
}

static bool find_path(const tt_str *key, char path[PATH_SIZE + 64]) {
  char folder[PATH_SIZE], hex[33];
  if (!find_folder(folder)) return false;
  tt__digest_hex(tt__digest(key->data, key->len), hex);
  snprintf(path, PATH_SIZE + 64, "%s/%s.ttp", folder, hex);
  return true;
}

static bool take(const tt_str *s, size_t *at, const char **data, size_t *size) {
  uint64_t n;
  if (s->len - *at < sizeof n) return false;
  memcpy(&n, s->data + *at, sizeof n);
  *at += sizeof n;
  if (n > s->len - *at) return false;
  *data = s->data + *at;
  *size = n;
  *at += n;
  return true;
}

static bool read_pieces(const tt_str *s, const tt_str *key, tt_str *const out[PIECES - 1]) {
  head h;
  if (s->len < sizeof h) return false;
  memcpy(&h, s->data, sizeof h);
  tt_digest d = tt__digest(s->data + sizeof h, s->len - sizeof h);
  if (memcmp(h.magic, MAGIC, sizeof MAGIC) != 0 || d.lo != h.digest.lo || d.hi != h.digest.hi) return false;
  size_t at = sizeof h, size;
  const char *data;
  if (!take(s, &at, &data, &size) || size != key->len || memcmp(data, key->data, size) != 0) return false;
  for (int k = 0; k < PIECES - 1; k++) {
    if (!take(s, &at, &data, &size)) return false;
    tt__str_add_n(out[k], data, size);
    if (out[k]->failed) return false;
  }
  return true;
}

bool tt__cudac_cache_find(const tt_str *key, tt_str *binary, tt_str *params, tt_str *text) {
  char path[PATH_SIZE + 64];
  tt_str s = {0}, *const out[PIECES - 1] = {binary, params, text};
  if (!find_path(key, path) || !tt__file_is_ours(path)) return false;
  bool ok = tt__file_read(path, &s, NULL) == TT_OK && read_pieces(&s, key, out);
  tt__str_free(&s);
  if (ok) {
    utimensat(AT_FDCWD, path, NULL, 0);
  } else {
    for (int k = 0; k < PIECES - 1; k++) tt__str_clear(out[k]);
  }
  return ok;
}

typedef struct kept {
  char name[40];
  int64_t time;
} kept;

static int older_first(const void *a, const void *b) {
  const kept *x = a, *y = b;
  return x->time < y->time ? -1 : x->time > y->time;
}

/* When the folder is full, the older half goes. */
static void trim(void) {
  char folder[PATH_SIZE];
  DIR *dir = find_folder(folder) ? opendir(folder) : NULL;
  static const int most = MOST_FILES;
  kept files[MOST_FILES];
  int n = 0;
  if (!dir) return;
  for (struct dirent *d; n < most && (d = readdir(dir)) != NULL;) {
    struct stat st;
    if (!strstr(d->d_name, ".ttp") || strlen(d->d_name) >= sizeof files[n].name) continue;
    if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    snprintf(files[n].name, sizeof files[n].name, "%.39s", d->d_name);
    files[n++].time = st.st_mtime;
  }
  if (n == most) {
    qsort(files, (size_t)n, sizeof *files, older_first);
    for (int k = 0; k < n / 2; k++) unlinkat(dirfd(dir), files[k].name, 0);
  }
  closedir(dir);
}

void tt__cudac_cache_store(const tt_str *key, const tt_str *binary, const tt_str *params, const tt_str *text) {
  char path[PATH_SIZE + 64];
  const tt_str *const piece[PIECES] = {key, binary, params, text};
  tt_str s = {0};
  head h = {.digest = {0, 0}};
  if (!find_path(key, path)) return;
  memcpy(h.magic, MAGIC, sizeof MAGIC);
  tt__str_add_n(&s, (const char *)&h, sizeof h);
  for (int k = 0; k < PIECES; k++) {
    uint64_t n = piece[k]->len;
    tt__str_add_n(&s, (const char *)&n, sizeof n);
    if (n) tt__str_add_n(&s, piece[k]->data, n);
  }
  if (!s.failed) {
    h.digest = tt__digest(s.data + sizeof h, s.len - sizeof h);
    memcpy(s.data, &h, sizeof h);
    trim();
    if (tt__file_write(path, s.data, s.len, NULL) != TT_OK) unlink(path);
  }
  tt__str_free(&s);
}
