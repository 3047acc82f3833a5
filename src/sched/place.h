/*
** Placing: where each step of a plan runs, and how. Values that were put on a device decide; everything else goes where
** a roofline of the plan plus the moves it needs says that it is done soonest. Pure: it knows a tt_situation, and no
** device.
*/
#ifndef TT_SCHED_PLACE_H
#define TT_SCHED_PLACE_H

#include "sched/cut_kernel.h"
#include "sched/cut_library.h"

/* What an evaluation costs here and there, in nanoseconds. */
typedef struct tt_prices {
  double host_ns;   /* on the CPU, moves included */
  double device_ns; /* the same on the device */
  double moves_ns;  /* of device_ns: bringing operands there and, when somebody looks, results back, as far as the
                       device is not at work meanwhile */
  double lent_ns;   /* of moves_ns: already paid for by earlier work that would have been quicker there, or by what
                       became of arrays that were made alike */
  double gain_ns;   /* what the device saves, with the operands there; below 0: what it costs */
} tt_prices;

/*
** Decide for the steps from `from` on, where the plan is to run on `told`. What is in `value` of the situation is
** what lies where before step `from`; afterwards, what will lie where at the end. TT_ENOMEM: no memory for decisions.
*/
TT_HIDDEN tt_code tt__place_steps(tt_situation *s, tt_where told, int from, tt_decisions *out, tt_error *err);

/* May a step be cut, so that decisions hang on what moving costs? Else all run whole, whatever anything costs. */
TT_HIDDEN bool tt__place_may_cut(const tt_situation *s, tt_where device);

/* The price of the plan, on the host alone: moves are left aside. */
TT_HIDDEN double tt__place_host_ns(const tt_situation *s);
/* Decide as tt__place_steps does from 0 on, and what that costs. `host_ns`: tt__place_host_ns. */
TT_HIDDEN tt_code tt__place_prices(tt_situation *s, tt_where device, double host_ns, tt_decisions *out,
                                   tt_prices *prices, tt_error *err);
/* Is the device worth it? A choice must pay clearly. */
TT_HIDDEN bool tt__place_pays(const tt_prices *p);

/* Has the host room for what the step reads and writes? It would rather take memory that it has not than say no. */
TT_HIDDEN bool tt__place_fits_host(const tt_situation *s, int step);

#endif
