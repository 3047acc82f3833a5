/*
** Copies of short runs: a kernel that only loads and stores, whose last axis is a few neighbours in both source and
** destination (the channels of a pixel), and whose axis before it fills the destination without gaps while the source
** goes any way: backwards, with steps, or again and again. A loop over such an axis is all beginning and end. It copies
** bytes, so it needs no compiler and has no arithmetic.
*/
#ifndef TT_DEVICE_CPU_SHORT_RUNS_H
#define TT_DEVICE_CPU_SHORT_RUNS_H

#include "ir/kernel.h"

#define TT_RUNS_AXES 64

typedef struct tt_short_runs {
  int64_t points;             /* of a run */
  int64_t bytes;              /* likewise */
  int64_t count;              /* runs of a line */
  int64_t from_step;          /* bytes from one run of the source to the next */
  const char *from;           /* of the first point */
  char *to;                   /* likewise */
  int64_t down;               /* lines that go together, since their sources lie beside each other */
  int64_t from_down, to_down; /* bytes from one to the next */
  int nother;                 /* the other axes, outermost first */
  int64_t len[TT_RUNS_AXES], from_other[TT_RUNS_AXES], to_other[TT_RUNS_AXES]; /* steps in bytes */
  int64_t most_runs, most_lines;                                               /* of a piece */
  int64_t nalong, ndown, pieces; /* pieces of a line, and of lines that go together, and of everything */
  int64_t each;                  /* runs that are turned at once; 1: none are */
  char order[16];                /* of the bytes of so many */
} tt_short_runs;

/* Is this launch such a copy? Fills *out then; it borrows the memory that args bind. The kernel only copies. */
TT_HIDDEN bool tt__short_runs_of(const tt_kernel *k, const tt_kargs *args, tt_short_runs *out);
/* Copy the pieces [lo, hi) of [0, m->pieces): any order, any threads. */
TT_HIDDEN void tt__short_runs_run(const tt_short_runs *m, int64_t lo, int64_t hi);
/* Points of a piece, at most. */
TT_HIDDEN int64_t tt__short_runs_points(const tt_short_runs *m);
#endif
