/* Memory that processes share: a file in memory, of which only descriptors and maps remain from the start. */
#include "base/os/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/os/os.h"

#ifdef MFD_CLOEXEC
static int open_nameless(void) { return memfd_create("tutti", MFD_CLOEXEC); }
#else
/* A name that nobody has, given up at once. */
static int open_nameless(void) {
  char name[32];
  uint64_t word;
  tt__entropy(&word, sizeof word);
  snprintf(name, sizeof name, "/tutti-%llx", (unsigned long long)word);
  int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) shm_unlink(name);
  return fd;
}
#endif

tt_code tt__shared_new(size_t size, int *fd, tt_error *err) {
  *fd = size > (size_t)INT64_MAX || tt__fault(TT_FAULT_WRITE) ? -1 : open_nameless();
  if (*fd >= 0 && ftruncate(*fd, (off_t)size) == 0) return TT_OK;
  tt_code c = tt__fail(err, TT_EIO, "cannot share %zu bytes of memory: %s", size, strerror(errno ? errno : EIO));
  if (*fd >= 0) close(*fd);
  *fd = -1;
  return c;
}

tt_code tt__shared_map(int fd, bool own, void **data, size_t *size, tt_error *err) {
  struct stat st;
  *data = NULL;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
    return tt__fail(err, TT_EVALUE, "descriptor %d has no shared memory behind it", fd);
  *size = (size_t)st.st_size;
  void *p = mmap(NULL, *size, PROT_READ | PROT_WRITE, own ? MAP_PRIVATE : MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return tt__fail_memory(err, *size);
  *data = p;
  return TT_OK;
}

void tt__shared_unmap(void *data, size_t size) {
  if (data) munmap(data, size);
}
