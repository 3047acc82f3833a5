/*
** Maps whose last axis is short: a loop over two or three lanes is all beginning and end. The axis is taken apart, each
** of its places instructions of their own, and the axis before it is the lane. For processors with vectors; threads of
** a device would read what lies between those of others.
*/
#ifndef TT_KERNEL_SPREAD_H
#define TT_KERNEL_SPREAD_H

#include "kernel/axes.h"

/* Does nothing where it does not pay. False: out of memory. */
TT_HIDDEN bool tt__axes_spread(tt_decomposer *r, tt_axes *axes);

#endif
