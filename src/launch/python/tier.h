/*
** The first calls of a compiled function: code that is there at once (device/cpu/baseline) runs while the compiler
** works in the background; a call that is still in it when the compiler is done goes over to what that made, at the
** next turn of any loop.
**
** TUTTI_JIT_TIER: auto (as above), compiled (calls wait for the compiler), baseline (only baseline code, where it knows
** the function), only (the same, and what it declines is an error), osr:K (every call goes over at its K-th turn).
*/
#ifndef TT_LAUNCH_TIER_H
#define TT_LAUNCH_TIER_H

#include <stdbool.h>

#include "launch/python/jit.h"

typedef struct tt_tier tt_tier;

/* Does the setting want baseline code at all? *alone: even where compiled code is on disk. */
TT_HIDDEN bool tt__tier_wanted(bool *alone);

/*
** Make baseline code for j and have `compile` run in the background, which sets j->fn. *begun: it can be called. Not
** begun without an error: somebody must wait for the compiler.
*/
TT_HIDDEN tt_code tt__tier_begin(struct tt_jit *j, void (*compile)(struct tt_jit *j), bool *begun, tt_error *err);

/* A call of j, which had nothing but baseline code a moment ago. */
TT_HIDDEN void tt__tier_call(const struct tt_jit *j, tt_pcall *call, const int64_t *word, int64_t *out);

#endif
