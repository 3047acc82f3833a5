/*
** What follows a library step and could be done by it: a later kernel that only adds a bias to its result and
** rectifies it (relu, gelu), or adds an array. The plan keeps both steps; who runs the library where it can do more
** asks here, and leaves the kernel out. Constants are no part of a plan, so this is asked each time.
*/
#ifndef TT_SCHED_FOLLOW_H
#define TT_SCHED_FOLLOW_H

#include "ir/plan.h"

typedef struct tt_follow {
  int step;       /* the kernel that need not run: its root is what the library then stores */
  int epilogue;   /* TT_EPILOGUE_ bits (ir/library.h) */
  int32_t term;   /* walk number of what is added, in memory when the library runs; -1: nothing */
  int64_t offset; /* of its first element there */
} tt_follow;

/* Does step `at`, a library step whose row has run_on_then, have such a follower? Nobody but it reads the result. */
TT_HIDDEN bool tt__sched_follow(const tt_walk *walk, const tt_plan *plan, int at, tt_follow *out);

#endif
