/* Files replaced as a whole, for whoever reads and for whatever fails in between. */
#include "base/os/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/os.h"

/* A name beside the file that nobody else has: two processes may be writing the same one. */
static int open_beside(tt_replace *r) {
  for (int turn = 0; turn < 100; turn++) {
    uint32_t word;
    tt__entropy(&word, sizeof word);
    int n = snprintf(r->temp, sizeof r->temp, "%s.%08x", r->path, word);
    if (n < 0 || (size_t)n >= sizeof r->temp) return errno = ENAMETOOLONG, -1;
    int fd = tt__fault_file(TT_FAULT_WRITE, EACCES) ? -1 : open(r->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

tt_code tt__replace_begin(tt_replace *r, const char *path, tt_error *err) {
  struct stat st;
  bool there = stat(path, &st) == 0;
  r->fd = -1;
  if (there && !S_ISREG(st.st_mode)) return tt__fail(err, TT_EIO, "cannot write %s: not a plain file", path);
  if (!there || !realpath(path, r->path)) {
    int n = snprintf(r->path, sizeof r->path, "%s", path);
    if (n < 0 || (size_t)n >= sizeof r->path)
      return tt__fail(err, TT_EIO, "cannot write %s: the path is too long", path);
  }
  r->fd = open_beside(r);
  if (r->fd < 0) return tt__fail_file(err, "create", r->path);
  /* Where the mode cannot be kept, on a file system without modes, the file is as good. */
  if (there && fchmod(r->fd, st.st_mode & 07777) != 0) errno = 0;
  return TT_OK;
}

tt_code tt__replace_write(tt_replace *r, const void *data, size_t size, tt_error *err) {
  return tt__write_all(r->fd, data, size) ? TT_OK : tt__fail_file(err, "write", r->path);
}

/* The rename is durable when its folder is. Some file systems cannot sync folders and say EINVAL. */
static tt_code sync_folder(const char *path, tt_error *err) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
  int fd = tt__fault_file(TT_FAULT_WRITE, EIO) ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno == EACCES ? TT_OK : tt__fail_file(err, "sync the folder of", path);
  bool ok = !tt__fault_file(TT_FAULT_WRITE, EIO) && (fsync(fd) == 0 || errno == EINVAL);
  tt_code c = ok ? TT_OK : tt__fail_file(err, "sync the folder of", path);
  close(fd);
  return c;
}

tt_code tt__replace_end(tt_replace *r, tt_error *err) {
  tt_code c = TT_OK;
  if (tt__fault_file(TT_FAULT_WRITE, EIO) || fsync(r->fd) != 0) c = tt__fail_file(err, "sync", r->path);
  int fd = r->fd;
  r->fd = -1;
  if (close(fd) != 0 && c == TT_OK) c = tt__fail_file(err, "write", r->path);
  if (c == TT_OK && (tt__fault_file(TT_FAULT_WRITE, EIO) || rename(r->temp, r->path) != 0))
    c = tt__fail_file(err, "write", r->path);
  if (c != TT_OK) {
    unlink(r->temp);
    return c;
  }
  return sync_folder(r->path, err);
}

void tt__replace_drop(tt_replace *r) {
  if (r->fd < 0) return;
  close(r->fd);
  r->fd = -1;
  unlink(r->temp);
}
