/*
** The random numbers of compiled functions after np.random.seed: NumPy's RandomState, one for each thread, as Numba has
** them. What was never seeded draws from the state of its call.
*/
#ifndef TT_LAUNCH_SEEDED_H
#define TT_LAUNCH_SEEDED_H

#include "ir/user/program.h"

/* Let a call draw from its thread's RandomState, if that was seeded, and seed it. */
TT_HIDDEN void tt__seeded_attach(tt_pcall *call);

#endif
