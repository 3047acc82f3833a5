#include "base/os/interrupt.h"

#include <stdatomic.h>

static atomic_int wanted;
static int (*_Atomic ask)(void);
static atomic_bool handled;
static _Thread_local bool deaf;

void tt__interrupt(void) { atomic_store(&wanted, 1); }
void tt__interrupt_set_check(int (*check)(void)) { atomic_store(&ask, check); }

bool tt__interrupted(void) {
  return atomic_load_explicit(&wanted, memory_order_relaxed) != 0 && atomic_exchange(&wanted, 0) != 0;
}

bool tt__interrupt_check(bool on_caller) {
  int (*check)(void) = atomic_load_explicit(&ask, memory_order_relaxed);
  if (on_caller && check && check()) atomic_store(&wanted, 1);
  return atomic_load_explicit(&wanted, memory_order_relaxed) != 0;
}

void tt__interrupt_set_handled(bool yes) { atomic_store_explicit(&handled, yes, memory_order_relaxed); }
bool tt__interrupt_is_handled(void) { return atomic_load_explicit(&handled, memory_order_relaxed); }
void tt__interrupt_deaf(void) { deaf = true; }
bool tt__interrupt_waiting(void) { return !deaf && tt__interrupt_check(true); }

tt_code tt__interrupt_told(tt_error *err) {
  atomic_store(&wanted, 0);
  return tt__fail(err, TT_EINTERRUPT, "interrupted");
}
