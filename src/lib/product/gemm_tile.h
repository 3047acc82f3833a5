/*
** The innermost product: one register tile of C from packed panels of A and B. One kernel per packed
** type and CPU level, written once (gemm_tile.inc). Knows nothing of strides, storage types or threads.
*/
#ifndef TT_LIB_PRODUCT_GEMM_TILE_H
#define TT_LIB_PRODUCT_GEMM_TILE_H

#include <stdint.h>

#include "base/err.h"

/* What the panels hold. Integers are unsigned: products wrap, so signs do not matter. */
typedef enum tt_tile_type {
  TT_TILE_F32,
  TT_TILE_F64,
  TT_TILE_C64,
  TT_TILE_C128,
  TT_TILE_U16,
  TT_TILE_U32,
  TT_TILE_U64,
  TT_TILE_BF16, /* two neighbours along k in the place of a float, the first one in the low half; sums are float32 */
  TT_TILE_COUNT
} tt_tile_type;

/* No tile is larger than this many bytes. */
enum { TT_TILE_MAX_BYTES = 4096 };

/*
** run() writes tile[i * nr + j] = sum over p < k of a[p * mr + i] * b[p * nr + j], summed in the order of p.
** For complex types a step of a panel is its real parts, then its imaginary parts (2 * mr or 2 * nr numbers), and the
** tile is a plane of mr * nr real parts, then one of imaginary parts. `b` and `tile` are 64-byte aligned.
*/
typedef struct tt_gemm_tile {
  int mr, nr;
  void (*run)(int64_t k, const void *a, const void *b, void *tile);
} tt_gemm_tile;

/* The kernel for this CPU. NULL: it has no instruction for pairs of bfloat16. */
TT_HIDDEN const tt_gemm_tile *tt__gemm_tile(tt_tile_type type);

#endif
