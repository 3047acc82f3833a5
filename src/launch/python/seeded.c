#include "launch/python/seeded.h"

#include <assert.h>

#include "random/bits.h"
#include "random/draws.h"

static _Thread_local tt_bits seeded_state; /* of the kind TT_MT19937 once it is seeded */
static _Thread_local bool is_seeded;

static double real_seeded(tt_pcall *call, int64_t normal) {
  (void)call;
  assert(is_seeded);
  return normal ? tt__bits_gauss(&seeded_state, NULL) : tt__bits_double(&seeded_state);
}

static int64_t whole_seeded(tt_pcall *call, int64_t low, int64_t high) {
  (void)call;
  assert(is_seeded && low < high);
  tt_spare none = {0};
  uint64_t range = (uint64_t)high - (uint64_t)low - 1;
  return (int64_t)((uint64_t)low + (range ? tt__bits_integer(&seeded_state, &none, 8, range, true) : 0));
}

static void attach_seeded(tt_pcall *call) {
  call->draw = real_seeded;
  call->draw_below = whole_seeded;
}

static void seed_state(tt_pcall *call, int64_t seed) {
  seeded_state = (tt_bits){.kind = TT_MT19937};
  tt__mt_seed_number(&seeded_state, (uint32_t)seed);
  is_seeded = true;
  attach_seeded(call);
}

void tt__seeded_attach(tt_pcall *call) {
  assert(call);
  call->reseed = seed_state;
  if (is_seeded) attach_seeded(call);
}
