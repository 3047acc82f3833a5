/*
** What follows a library step and could be done by it: a later kernel that only adds a bias to its result and
** rectifies it (relu, gelu), or adds an array. The plan keeps both steps; who runs the library where it can do more
** asks here, and leaves the kernel out. Constants are no part of a plan, so this is asked each time.
*/
#ifndef TT_SCHED_EPILOGUE_H
#define TT_SCHED_EPILOGUE_H

#include "ir/decision.h"

/* Does step `at`, a library step whose row has run_on_then, have such a follower? Nobody but it reads the result. */
TT_HIDDEN bool tt__sched_epilogue(const tt_walk *walk, const tt_plan *plan, int at, tt_epilogue_match *out);

#endif
