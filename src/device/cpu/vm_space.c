/*
** The memory of a call: a block per thread, kept between calls and given back when the
** thread ends. Where it cannot be had there is one reserve for all threads, as big as the
** neediest program and taken in turn, so that running a program never fails.
*/
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/mem.h"
#include "device/cpu/vm_int.h"

typedef struct local_space {
  void *mem;
  size_t size;
} local_space;

static _Thread_local local_space local;
static _Atomic int64_t kept; /* bytes in all threads' blocks */
static pthread_key_t local_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static struct {
  tt_lock busy; /* held by the one call that runs in it */
  void *mem;
  size_t size;
  int64_t users; /* programs alive */
} reserve = {.busy = TT_LOCK_RANKED(1)};

static void drop_local(void *space) {
  local_space *l = space;
  tt__mem_free_data(l->mem, l->size);
  kept -= (int64_t)l->size;
  *l = (local_space){0};
}

/* A fork while another thread is inside the reserve must not leave it locked in the child. */
TT_LOCK_FORKS(reserve.busy, 1);

static void start(void) { has_key = pthread_key_create(&local_key, drop_local) == 0; }

tt_code tt__vm_reserve(size_t size, tt_error *err) {
  tt_code c = TT_OK;
  pthread_once(&once, start);
  tt__lock(&reserve.busy);
  if (reserve.size < size) {
    void *mem = tt__mem_alloc_data(size);
    if (mem) {
      tt__mem_free_data(reserve.mem, reserve.size);
      reserve.mem = mem;
      reserve.size = size;
    } else {
      c = tt__fail_memory(err, size);
    }
  }
  if (c == TT_OK) reserve.users++;
  tt__unlock(&reserve.busy);
  return c;
}

void tt__vm_unreserve(void) {
  tt__lock(&reserve.busy);
  if (--reserve.users == 0) {
    tt__mem_free_data(reserve.mem, reserve.size);
    reserve.mem = NULL;
    reserve.size = 0;
  }
  tt__unlock(&reserve.busy);
}

/* Out of line: once per thread and growth. */
static __attribute__((noinline)) void *grow(size_t size) {
  size_t room = size < 65536 ? 65536 : size + size / 2;
  void *mem = has_key && pthread_setspecific(local_key, &local) == 0 ? tt__mem_alloc_data(room) : NULL;
  if (mem) {
    tt__mem_free_data(local.mem, local.size);
    kept += (int64_t)room - (int64_t)local.size;
    local.mem = mem;
    local.size = room;
    return mem;
  }
  tt__lock(&reserve.busy);
  return reserve.mem;
}

void *tt__vm_take_space(size_t size) { return local.size >= size ? local.mem : grow(size); }

void tt__vm_give_space(void *mem) {
  assert(mem == local.mem || tt__lock_is_mine(&reserve.busy));
  if (mem != local.mem) tt__unlock(&reserve.busy);
}

void tt__vm_trim(void) { drop_local(&local); }

int64_t tt__vm_kept(void) { return kept; }
