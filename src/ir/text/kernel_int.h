/*
** The words of the kernel text form, shared by its printer and its parser.
*/
#ifndef TT_IR_TEXT_KERNEL_INT_H
#define TT_IR_TEXT_KERNEL_INT_H

#include "ir/kernel.h"

TT_HIDDEN extern const char *const tt__mode_names[3];
TT_HIDDEN extern const char *const tt__lane_names[3];
TT_HIDDEN extern const char *const tt__red_names[TT_RED_COUNT];

#endif
