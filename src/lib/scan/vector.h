/*
** Running sums of 32- and 64-bit integers with vectors.
*/
#ifndef TT_LIB_SCAN_VECTOR_H
#define TT_LIB_SCAN_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* out[i] = before + in[0] + ... + in[i], wrapping; in == out is allowed. False: this processor cannot, nothing is
 * done. */
TT_HIDDEN bool tt__vector_run_u32(const uint32_t *in, uint32_t *out, int64_t n, uint32_t before);
TT_HIDDEN bool tt__vector_run_u64(const uint64_t *in, uint64_t *out, int64_t n, uint64_t before);

#endif
