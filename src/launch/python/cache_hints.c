/*
** The file "known": PLACES marks of eight bytes, one digest's upper half at the place that its lower half says.
*/
#include "launch/python/cache_hints.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/os/os.h"
#include "run/cache/cache.h"

enum { PLACES = 4096 };

static int open_table(int how) {
  char root[512], path[sizeof root + 8];
  if (!tt__cache_info().usable || !tt__cache_root(root, sizeof root)) return -1;
  snprintf(path, sizeof path, "%s/known", root);
  return open(path, how | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static off_t place_of(tt_digest key) { return (off_t)(key.lo % PLACES * sizeof(uint64_t)); }

bool tt__cache_hint_find(tt_digest key) {
  uint64_t mark = ~key.hi;
  int fd = open_table(O_RDONLY);
  if (fd < 0) return false;
  bool there = pread(fd, &mark, sizeof mark, place_of(key)) == sizeof mark && mark == key.hi;
  close(fd);
  return there;
}

void tt__cache_hint_add(tt_digest key) {
  int fd = open_table(O_WRONLY | O_CREAT);
  if (fd < 0) return;
  ssize_t n = pwrite(fd, &key.hi, sizeof key.hi, place_of(key)); /* a full disk: no mark */
  (void)n;
  close(fd);
}
