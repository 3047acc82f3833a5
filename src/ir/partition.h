/*
** A partition: a lowered step cut along one axis of its kernel into pieces, and which part of each buffer a piece
** needs. The pieces are the same kernel with another length of that axis and other offsets; they may run in any order,
** in turns on one device or in different places, and give the bits that the whole gives.
**
** Along an outer axis a reduction's row is in one piece. Along the row (`folds`) a piece is a chunk of the reduction's
** arithmetic (head of kernel.h), or a group of chunks: each writes results of its own, which are folded afterwards as
** that arithmetic says.
**
** A part is an interval of a buffer's elements. Neighbours' parts of what is read may overlap (a halo); parts of what
** is written never do.
*/
#ifndef TT_IR_PARTITION_H
#define TT_IR_PARTITION_H

#include "ir/user/launch.h"

#define TT_PARTITION_BUFFERS 64

/* What point i of the axis touches: elements [first + i * step, first + i * step + extent). */
typedef struct tt_partition_buf {
  bool whole; /* any of it, whatever the point: every piece needs all of it */
  bool write;
  int64_t first, step, extent; /* step is not 0 (but of what is folded), extent at least 1 */
  uint8_t red, dtype;          /* (folds, write) how results are folded, in which type */
} tt_partition_buf;

typedef struct tt_partition {
  int axis;      /* of the kernel */
  int64_t len;   /* points of the whole axis */
  int64_t piece; /* of a piece; the last has what is left */
  bool folds;
  int group; /* (folds) pieces that are folded on their own, before these are; 1: one after the other */
  int nbuf;
  tt_partition_buf buf[TT_PARTITION_BUFFERS];
} tt_partition;

static inline int64_t tt__partition_pieces(const tt_partition *s) { return (s->len + s->piece - 1) / s->piece; }

/* The points [*lo, *hi) of a piece. */
static inline void tt__partition_points(const tt_partition *s, int64_t piece, int64_t *lo, int64_t *hi) {
  *lo = piece * s->piece;
  *hi = s->len - *lo < s->piece ? s->len : *lo + s->piece;
}

/* The elements [*from, *to) that a piece needs of buffer `b`, which is not needed whole. */
TT_HIDDEN void tt__partition_part(const tt_partition *s, int b, int64_t piece, int64_t *from, int64_t *to);
/* The most elements that any piece needs of it. */
TT_HIDDEN int64_t tt__partition_most(const tt_partition *s, int b);

/* The step of a piece: `out` borrows all of `whole` but len [naxes] and off [naccess], which it fills in. */
TT_HIDDEN void tt__partition_lower(const tt_partition *s, const tt_kernel *k, const tt_lowered *whole, int64_t piece,
                                   int64_t *len, int64_t *off, tt_lowered *out);

TT_HIDDEN void tt__partition_print(const tt_partition *s, tt_str *out);

#endif
