/*
** Placement: which device an evaluation runs on. Values that were put somewhere decide; everything else goes where a
** roofline of the plan plus the moves it needs says that it is done soonest. Private to run/. Session lock held.
*/
#ifndef TT_RUN_PLACE_H
#define TT_RUN_PLACE_H

#include "ir/device.h"
#include "ir/plan.h"

typedef struct tt_place {
  tt_device *device; /* NULL: the CPU */
  bool chosen;       /* by cost; false: told, or there is nothing to choose from */
  double cpu_ns;     /* predicted there, moves included; 0: not looked at */
  double device_ns;  /* the same on the device */
  double moves_ns;   /* of device_ns: bringing operands there and, when somebody looks, results back, as far as the
                        device is not at work meanwhile */
  double lent_ns;    /* of moves_ns: already paid for by earlier work that would have been quicker there, or by what
                        became of arrays that were made alike */
  double gain_ns;    /* what the device saves, with the operands there; below 0: what it costs */
  float owed_ns;     /* (tt__place_begin) for the results: tt_buffer.owed_ns and .kind */
  uint16_t kind;
} tt_place;

/* Decide for the plan's walk. `looked_at`: the results are wanted on the host. */
TT_HIDDEN tt_code tt__place(const tt_walk *walk, const tt_plan *plan, bool looked_at, tt_place *out, tt_error *err);

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
