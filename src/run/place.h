/*
** Placement of an evaluation: what sched/place.h needs to know is gathered here, and what work was worth on a device is
** remembered. Private to run/. Session lock held.
*/
#ifndef TT_RUN_PLACE_H
#define TT_RUN_PLACE_H

#include "ir/device.h"
#include "sched/place.h"

typedef struct tt_place {
  tt_device *device; /* of the evaluation; NULL: the CPU. Decisions may send steps elsewhere */
  tt_where where;    /* its place */
  bool chosen;       /* by cost; false: told, or there is nothing to choose from */
  tt_prices prices;  /* host_ns 0: not looked at */
  float owed_ns;     /* (tt__place_begin) for the results: tt_buffer.owed_ns and .kind */
  uint16_t kind;
  tt_decisions decisions; /* .step NULL: every step runs whole */
  tt_situation situation;
} tt_place;

/*
** Decide for the plan's walk. `looked_at`: the results are wanted on the host. `is_small`: its kernels run whole
** wherever they run. To be ended by tt__place_free, also on failure.
*/
TT_HIDDEN tt_code tt__place(const tt_walk *walk, const tt_plan *plan, bool looked_at, bool is_small, tt_place *out,
                            tt_error *err);
/* The same for a device that is told. NULL: the CPU. */
TT_HIDDEN tt_code tt__place_told_on(tt_device *d, const tt_walk *walk, const tt_plan *plan, bool looked_at,
                                    bool is_small, tt_place *out, tt_error *err);
/* Step `at` was found not to run as decided, with TT_ENOTIMPL or TT_ENOMEM: decide once more for it and those behind
 * it. *nowhere: the host has no room for it either, nothing was decided. */
TT_HIDDEN tt_code tt__place_replan(tt_place *p, int at, tt_code code, bool *nowhere, tt_error *err);
TT_HIDDEN void tt__place_free(tt_place *p);

/* Decisions where there are none, because nothing hangs on them: for who shows them. */
TT_HIDDEN tt_code tt__place_spell(tt_place *p, tt_error *err);

/* The device on which step `i` runs, or NULL: the CPU. */
TT_HIDDEN tt_device *tt__place_device(const tt_place *p, int i);

/* May libraries do what follows them? (tests: no) */
TT_HIDDEN void tt__place_set_fuse(bool on);

/* Around the evaluation: its operands, then its results, which the caller holds, remember what a device saves of such
 * work. */
TT_HIDDEN void tt__place_begin(const tt_walk *walk, tt_place *p);
TT_HIDDEN void tt__place_end(const tt_walk *walk, const tt_place *p, double took_ns);

/* (residency) What arrays of this make came to, and the device on which the next one is wanted at once, or 0. */
TT_HIDDEN int tt__place_expect(tt_dtype dtype, int rank, const int64_t *len, tt_buffer *as);
TT_HIDDEN void tt__place_forget(const tt_buffer *b);

/* For code that asks where unlabelled values go: TT_ANYWHERE when costs decide, else the device's id. */
TT_HIDDEN int tt__place_told(void);

#endif
