/*
** Mixed precision: what this thread records in float32 is computed in a narrower type where that costs little accuracy
** (products, convolutions, attention, recurrent layers), and in float32 where it would (exponentials, powers, sums,
** norms, losses). Gradients reach parameters in their own type. The lists are src/fn/autocast.def.
*/
#ifndef TUTTI_AUTOCAST_H
#define TUTTI_AUTOCAST_H

#include <stdbool.h>

#include "tutti/status.h"
#include "tutti/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tt_autocast {
  tt_dtype low; /* TT_BF16 or TT_F16; TT_DTYPE_NONE: nothing is cast */
  bool caches;  /* a parameter is cast once, until casting is turned off */
} tt_autocast;

/* From here on, for this thread. *before (NULL: not wanted) gets what held. TT_ETYPE: another type. */
TT_API tt_code tt_autocast_set(tt_autocast now, tt_autocast *before, tt_error *err);
/* What holds on this thread. */
TT_API tt_autocast tt_autocast_get(void);

#ifdef __cplusplus
}
#endif

#endif
