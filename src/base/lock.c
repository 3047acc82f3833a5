/* Which locks each thread holds, where asserts are on: a lock that is taken in another order than by rank is a deadlock
 * that waits for its moment. */
#include "base/lock.h"

#ifdef TT_LOCK_CHECK
#include <assert.h>

enum { MOST = 16 };
static __thread const tt_lock *held[MOST];
static __thread int n;

bool tt__lock_is_mine(const tt_lock *l) {
  int k = n - 1;
  while (k >= 0 && held[k] != l) k--;
  return k >= 0;
}

void tt__lock_enters(const tt_lock *l) {
  assert(!tt__lock_is_mine(l) && n < MOST);
  for (int k = 0; k < n && l->ranked; k++) assert(!held[k]->ranked || held[k]->ranked > l->ranked);
  held[n++] = l;
}

void tt__lock_leaves(const tt_lock *l) {
  int k = n - 1;
  while (k >= 0 && held[k] != l) k--;
  assert(k >= 0);
  n--;
  for (; k < n; k++) held[k] = held[k + 1];
}
#endif
