/*
** Copies that cross: a kernel that only loads and stores, whose destination is dense along one axis and whose source
** along another. Walked line by line each cache line of the source is fetched for one element of it. Here squares of
** one cache line a side are turned in registers, for elements of up to 4 bytes. It copies bytes, so it needs no
** compiler and has no arithmetic.
*/
#ifndef TT_DEVICE_CPU_TURN_H
#define TT_DEVICE_CPU_TURN_H

#include "ir/kernel.h"

#define TT_TURN_AXES 64

typedef struct tt_turn {
  size_t size;         /* bytes an element */
  const char *from;    /* of the first point */
  char *to;            /* likewise */
  int64_t down, along; /* lengths of the axes in which source and destination are dense */
  int64_t from_along;  /* bytes from one point to the next of the source along the destination's axis */
  int64_t to_down;     /* of the destination along the source's */
  int nother;          /* the other axes, outermost first */
  int64_t len[TT_TURN_AXES], from_step[TT_TURN_AXES], to_step[TT_TURN_AXES]; /* steps in bytes */
  int64_t ndown, nalong, pieces; /* blocks of the two axes, and of everything */
} tt_turn;

/* Is this launch such a copy? Fills *out then; it borrows the memory that args bind. The kernel only copies. */
TT_HIDDEN bool tt__turn_of(const tt_kernel *k, const tt_kargs *args, tt_turn *out);
/* Copy the pieces [lo, hi) of [0, m->pieces): any order, any threads. */
TT_HIDDEN void tt__turn_run(const tt_turn *m, int64_t lo, int64_t hi);
/* Points of a piece, at most. */
TT_HIDDEN int64_t tt__turn_points(const tt_turn *m);

#endif
