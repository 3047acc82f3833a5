/* A word of shared memory on which processes sleep; see tutti/parallel.h. */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "tutti/parallel.h"

/* What a waiter may miss is a change by a process that died before it told: it looks again after so long. */
static const double LONGEST = 0.1;

static struct timespec time_of(double seconds) {
  double s = seconds > LONGEST ? LONGEST : seconds > 0 ? seconds : 0;
  return (struct timespec){.tv_sec = 0, .tv_nsec = (long)(s * 1e9)};
}

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>

static void sleep_on_word(_Atomic uint32_t *word, uint32_t seen, struct timespec t) {
  syscall(SYS_futex, word, FUTEX_WAIT, seen, &t, NULL, 0);
}

static void wake_word(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0); }

#else

/* Without a call that waits for shared memory it is asked again each millisecond. */
static void sleep_on_word(_Atomic uint32_t *word, uint32_t seen, struct timespec t) {
  const struct timespec some = {.tv_nsec = t.tv_nsec < 1000000 ? t.tv_nsec : 1000000};
  if (atomic_load(word) == seen) nanosleep(&some, NULL);
}

static void wake_word(_Atomic uint32_t *word) { (void)word; }

#endif

uint32_t tt_word_read(tt_word *word) { return atomic_load((_Atomic uint32_t *)&word->changes); }

void tt_word_wait(tt_word *word, uint32_t seen, double seconds) {
  _Atomic uint32_t *changes = (_Atomic uint32_t *)&word->changes, *waiting = (_Atomic uint32_t *)&word->waiting;
  atomic_fetch_add(waiting, 1);
  if (atomic_load(changes) == seen) sleep_on_word(changes, seen, time_of(seconds));
  atomic_fetch_sub(waiting, 1);
}

void tt_word_change(tt_word *word) {
  _Atomic uint32_t *changes = (_Atomic uint32_t *)&word->changes;
  atomic_fetch_add(changes, 1);
  if (atomic_load((_Atomic uint32_t *)&word->waiting)) wake_word(changes);
}
