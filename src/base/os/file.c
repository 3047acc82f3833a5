/* Files: read whole, written whole or not at all, and a scratch folder that goes when the process goes. */
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"

tt_code tt__fail_file(tt_error *err, const char *what, const char *path) {
  int why = errno ? errno : EIO;
  tt__fail(err, TT_EIO, "cannot %s %s: %s", what, path, strerror(why));
  if (err) err->system = why;
  return TT_EIO;
}

bool tt__fault_file(tt_fault kind, int as) {
  if (!tt__fault(kind)) return false;
  errno = as;
  return true;
}

static tt_code read_all(int fd, size_t size, tt_str *out, const char *path, tt_error *err) {
  char chunk[16384];
  size_t start = out->len;
  while (out->len - start < size && !out->failed) {
    size_t left = size - (out->len - start);
    ssize_t n = read(fd, chunk, left < sizeof chunk ? left : sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tt__fail_file(err, "read", path);
    if (n == 0) break; /* it shrank meanwhile */
    tt__str_add_n(out, chunk, (size_t)n);
  }
  return out->failed ? tt__fail_memory(err, size) : TT_OK;
}

tt_code tt__file_read(const char *path, tt_str *out, tt_error *err) {
  int fd = tt__fault_file(TT_FAULT_READ, EIO) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return tt__fail_file(err, "open", path);
  struct stat st;
  tt_code c;
  if (fstat(fd, &st) != 0)
    c = tt__fail_file(err, "stat", path);
  else if (!S_ISREG(st.st_mode) || st.st_size > (1 << 30))
    c = tt__fail(err, TT_EIO, "cannot read %s: %s", path,
                 S_ISREG(st.st_mode) ? "larger than 1 GiB" : "not a plain file");
  else
    c = read_all(fd, (size_t)st.st_size, out, path, err);
  close(fd);
  return c;
}

bool tt__write_all(int fd, const void *data, size_t size) {
  const char *p = data;
  while (size) {
    /* Linux writes at most 2 GiB at once, others fail beyond. */
    size_t most = size < (1 << 30) ? size : (size_t)1 << 30;
    ssize_t n = tt__fault_file(TT_FAULT_WRITE, ENOSPC) ? -1 : write(fd, p, most);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

tt_code tt__file_write(const char *path, const void *data, size_t size, tt_error *err) {
  char temp[PATH_MAX];
  int n = snprintf(temp, sizeof temp, "%s.XXXXXX", path);
  if (n < 0 || (size_t)n >= sizeof temp) return tt__fail(err, TT_EIO, "cannot write %s: the path is too long", path);
  int fd = tt__fault_file(TT_FAULT_WRITE, EACCES) ? -1 : mkostemp(temp, O_CLOEXEC);
  if (fd < 0) return tt__fail_file(err, "create", path);
  bool ok = tt__write_all(fd, data, size);
  ok = ok && !tt__fault_file(TT_FAULT_WRITE, EIO);
  int why = ok ? 0 : errno;
  if (close(fd) != 0 && ok) {
    ok = false;
    why = errno;
  }
  if (ok && (tt__fault_file(TT_FAULT_WRITE, EIO) || rename(temp, path) != 0)) {
    ok = false;
    why = errno;
  }
  if (ok) return TT_OK;
  unlink(temp);
  errno = why;
  return tt__fail_file(err, "write", path);
}

tt_code tt__dir_make(const char *path, tt_error *err) {
  char part[PATH_MAX];
  size_t len = strlen(path);
  if (len == 0 || len >= sizeof part) return tt__fail(err, TT_EIO, "cannot make the folder \"%s\": bad path", path);
  for (size_t i = 1; i <= len; i++) {
    if (path[i] != '/' && path[i] != 0) continue;
    memcpy(part, path, i);
    part[i] = 0;
    if (tt__fault_file(TT_FAULT_WRITE, ENOSPC) || (mkdir(part, 0700) != 0 && errno != EEXIST && errno != EISDIR)) {
      struct stat seen; /* a parent on a read-only file system is no obstacle while it exists */
      if (errno == ENOSPC || stat(part, &seen) != 0 || !S_ISDIR(seen.st_mode))
        return tt__fail_file(err, "make the folder", part);
    }
  }
  struct stat st;
  if (stat(path, &st) != 0) return tt__fail_file(err, "make the folder", path);
  if (!S_ISDIR(st.st_mode)) return tt__fail(err, TT_EIO, "cannot make the folder %s: a file is in the way", path);
  return TT_OK;
}

bool tt__file_is_ours(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && !S_ISLNK(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

bool tt__dir_cache(char *path, size_t size) {
  const char *told = tt__env("TUTTI_CACHE_DIR"), *xdg = tt__env("XDG_CACHE_HOME"), *home = tt__env("HOME");
  int n = told                 ? snprintf(path, size, "%s", told)
          : xdg && *xdg == '/' ? snprintf(path, size, "%s/tutti", xdg)
          : home               ? snprintf(path, size, "%s/.cache/tutti", home)
                               : -1;
  return n > 0 && (size_t)n < size;
}

/* ---- the scratch folder */

TT_LOCK(scratch_lock, 0);
static char paths[4][PATH_MAX]; /* in turns: somebody may still be reading the path of a folder that is lost */
static unsigned turn;
static char *scratch = paths[0];
static pid_t scratch_owner; /* a forked child makes a folder of its own */
static bool over;           /* the process is ending: a compile that is still under way makes no folder any more */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)st, (void)kind, (void)at;
  remove(path);
  return 0;
}

static void remove_scratch(void) {
  tt__lock(&scratch_lock);
  if (scratch_owner == getpid()) nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  scratch_owner = 0;
  over = true;
  tt__unlock(&scratch_lock);
}

static void start(void) { atexit(remove_scratch); }

static bool make_scratch(const char *parent) {
  int n = parent ? snprintf(scratch, PATH_MAX, "%s/tutti-XXXXXX", parent) : -1;
  return n > 0 && n < PATH_MAX && !tt__fault(TT_FAULT_WRITE) && mkdtemp(scratch);
}

/* Is it there, a folder, and ours alone? What cleans up behind others removes folders that nobody touched for long, and
 * then anybody may have made one of that name. */
static bool have_scratch(void) {
  struct stat st;
  return scratch_owner == getpid() && lstat(scratch, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
         (st.st_mode & 077) == 0;
}

const char *tt__dir_scratch(void) {
  pthread_once(&once, start);
  tt__lock(&scratch_lock);
  if (!over && !have_scratch()) {
    scratch = paths[turn++ % 4];
    bool ok = make_scratch(tt__env("TMPDIR")) || make_scratch("/tmp") || make_scratch(tt__env("XDG_RUNTIME_DIR"));
    scratch_owner = ok ? getpid() : 0;
  }
  const char *path = scratch_owner ? scratch : NULL;
  tt__unlock(&scratch_lock);
  return path;
}
