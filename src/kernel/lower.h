/*
** The lowering stage: a kernel step becomes a kernel. It knows no device and no text.
*/
#ifndef TT_KERNEL_LOWER_H
#define TT_KERNEL_LOWER_H

#include "ir/user/launch.h"

typedef struct tt_lower_options {
  bool checked; /* bounds checks in every load and store */
  bool spread;  /* for processors with vectors alone: short axes are taken apart (spread.h) */
} tt_lower_options;

/* On TT_OK *out is owned by the caller: tt__lowered_free. */
TT_HIDDEN tt_code tt__lower_step(const tt_step *step, const tt_lower_options *options, tt_lowered **out, tt_error *err);
TT_HIDDEN void tt__lowered_free(tt_lowered *l);

#endif
