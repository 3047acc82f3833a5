/*
** What placing knows of an evaluation beside its plan: the machine, where the bytes of each value lie, and what is
** known of each step. Plain data; run/ gathers it, sched/ changes `value` as steps are placed.
*/
#ifndef TT_SCHED_SITUATION_H
#define TT_SCHED_SITUATION_H

#include "ir/decision.h"
#include "ir/machine.h"

#define TT_ELSEWHERE (1u << 31) /* (tt_residence.on) on a device that the machine does not list */

/* Bits of tt_residence.on. */
static inline uint32_t tt__where_bit(tt_where where) { return 1u << (where + 1); }

/* A value of the walk. */
typedef struct tt_residence {
  double bytes;
  uint32_t on;      /* where its bytes lie: tt__where_bit; 0: it is not computed yet */
  bool is_borrowed; /* a device's memory that is another library's: what the host has of it may be old */
  bool is_callers;  /* the caller's memory, which is to show what is written over it */
  /* What a device would have saved of the work on it so far, or has; what it saved of arrays that were made alike. */
  float owed_ns, promised_ns;
} tt_residence;

/* Ways that a step was found not to run in. */
enum {
  TT_NOT_WHOLE = 1,
  TT_NOT_STREAMED = 2, /* in pieces of memory that is there as a whole (kernels) */
  TT_NOT_WINDOWED = 4, /* in pieces of which a few are there at a time */
  TT_NOT_FOLLOWED = 8, /* with what follows done by the library */
  TT_NO_ROOM = 16      /* as a whole: that is why */
};

/* What is known of a step. */
typedef struct tt_step_facts {
  double host_ns; /* that it took there, by what was measured of such steps; 0: nothing was */
  bool improves;  /* (kernels) its code on the host will be better soon */
  bool leaves;    /* (library) the device is expected to leave it to the host */
  uint8_t not_so; /* TT_NOT_... */
  float share;    /* of the device's room that its parts may take: less than 1 when there was less than it says */
} tt_step_facts;

typedef struct tt_situation {
  const tt_machine *machine;
  const tt_walk *walk;
  const tt_plan *plan;
  tt_residence *value;  /* [plan->nnode] */
  tt_step_facts *facts; /* [plan->n] */
  bool looked_at;       /* the results are wanted on the host */
  bool fuse;            /* libraries may do what follows them */
  uint64_t scatter;     /* (tests) not 0: steps go to places at random, by this seed */
} tt_situation;

static inline const tt_machine_device *tt__device_of(const tt_situation *s, tt_where where) {
  return &s->machine->device[where];
}
static inline bool tt__lies(const tt_situation *s, int32_t node, tt_where where) {
  return (s->value[node].on & tt__where_bit(where)) != 0;
}
/* Must its bytes come up from the host, to be used on a device? */
static inline bool tt__comes_up(const tt_situation *s, int32_t node, tt_where device) {
  return tt__lies(s, node, TT_HOST) && !tt__lies(s, node, device) && !s->value[node].is_borrowed;
}

#endif
