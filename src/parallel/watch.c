/* Watching memory for writes; see watch.h. Headers may be older than the system: what is asked of it is said here. */
#include "parallel/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/lock.h"
#include "base/os/os.h"
#include "tutti/parallel.h"

#if defined(__linux__) && defined(SYS_userfaultfd)

/* What Linux 6.7 takes of userfaultfd and of the map of pages. */
typedef struct api_ask {
  uint64_t api, features, ioctls;
} api_ask;
typedef struct range_ask {
  uint64_t start, size;
} range_ask;
typedef struct register_ask {
  range_ask range;
  uint64_t mode, ioctls;
} register_ask;
typedef struct protect_ask {
  range_ask range;
  uint64_t mode;
} protect_ask;
typedef struct page_region {
  uint64_t start, end, categories;
} page_region;
typedef struct scan_ask {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
} scan_ask;

enum { USER_MODE_ONLY = 1, REGISTER_WRITES = 2, PROTECT = 1, CHECK_WATCHED = 2, IS_WRITTEN = 2 };
static const uint64_t FAULT_API = 0xAA, NOTES_WRITES = UINT64_C(1) << 15, ALSO_EMPTY = UINT64_C(1) << 13;
#define ASK_API _IOWR(0xAA, 0x3F, api_ask)
#define ASK_REGISTER _IOWR(0xAA, 0x00, register_ask)
#define ASK_UNREGISTER _IOR(0xAA, 0x01, range_ask)
#define ASK_PROTECT _IOWR(0xAA, 0x06, protect_ask)
#define ASK_SCAN _IOWR('f', 16, scan_ask)

TT_LOCK(watch_lock, 0);
static int faults = -1, pages = -1;
static pid_t opened; /* a child has none of its parent's */
static bool refused;

static bool open_watch(void) {
  if (opened == getpid()) return !refused;
  if (faults >= 0) close(faults);
  if (pages >= 0) close(pages);
  opened = getpid();
  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
  pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  api_ask ask = {.api = FAULT_API, .features = NOTES_WRITES | ALSO_EMPTY};
  refused = faults < 0 || pages < 0 || ioctl(faults, ASK_API, &ask) != 0;
  return !refused;
}

/* The pages that have nothing else. */
static range_ask pages_of(const void *data, size_t size) {
  uint64_t page = tt__page_size(), at = (uint64_t)(uintptr_t)data;
  uint64_t start = (at + page - 1) / page * page, end = (at + size) / page * page;
  return (range_ask){start, end > start ? end - start : 0};
}

bool tt__watch_begin(const void *data, size_t size) {
  register_ask ask = {.range = pages_of(data, size), .mode = REGISTER_WRITES};
  protect_ask protect = {.range = ask.range, .mode = PROTECT};
  if (ask.range.size == 0) return false;
  tt__lock(&watch_lock);
  bool is = open_watch() && ioctl(faults, ASK_REGISTER, &ask) == 0 && ioctl(faults, ASK_PROTECT, &protect) == 0;
  tt__unlock(&watch_lock);
  return is;
}

bool tt__watch_written(const void *data, size_t size) {
  range_ask range = pages_of(data, size);
  page_region found;
  scan_ask ask = {.size = sizeof ask,
                  .flags = CHECK_WATCHED,
                  .start = range.start,
                  .end = range.start + range.size,
                  .vec = (uint64_t)(uintptr_t)&found,
                  .vec_len = 1,
                  .max_pages = 1,
                  .category_mask = IS_WRITTEN,
                  .return_mask = IS_WRITTEN};
  tt__lock(&watch_lock);
  int n = open_watch() ? ioctl(pages, ASK_SCAN, &ask) : -1;
  tt__unlock(&watch_lock);
  bool there = msync((void *)(uintptr_t)range.start, range.size, MS_ASYNC) == 0; /* a hole has no pages to be written */
  return n != 0 || !there;
}

void tt__watch_end(const void *data, size_t size) {
  range_ask range = pages_of(data, size);
  if (range.size == 0) return;
  tt__lock(&watch_lock);
  if (open_watch()) (void)ioctl(faults, ASK_UNREGISTER, &range);
  tt__unlock(&watch_lock);
}

#else

bool tt__watch_begin(const void *data, size_t size) { return (void)data, (void)size, false; }
bool tt__watch_written(const void *data, size_t size) { return (void)data, (void)size, true; }
void tt__watch_end(const void *data, size_t size) { (void)data, (void)size; }

#endif

uint64_t tt_memory_edges(const void *data, size_t size) {
  size_t page = tt__page_size(), past = (uintptr_t)data % page, before = past ? page - past : 0;
  if (before >= size) return tt__hash64(data, size);
  size_t after = ((uintptr_t)data + size) % page;
  uint64_t both[2] = {tt__hash64(data, before), tt__hash64((const char *)data + size - after, after)};
  return tt__hash64(both, sizeof both);
}

bool tt_memory_watch(const void *data, size_t size) { return size > 0 && tt__watch_begin(data, size); }
bool tt_memory_written(const void *data, size_t size) { return tt__watch_written(data, size); }
void tt_memory_unwatch(const void *data, size_t size) { tt__watch_end(data, size); }
