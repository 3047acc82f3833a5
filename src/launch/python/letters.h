/*
** What letters are and become, for the strings of compiled functions.
*/
#ifndef TT_LAUNCH_LETTERS_H
#define TT_LAUNCH_LETTERS_H

#include <stdint.h>

#include "base/err.h"

/*
** `what` 0: the letter's kinds, a bit each: alphabetic, decimal, digit, numeric, space, lower, upper, title, printable,
** begins a name, goes on in one, has case, case looks through it. 1 to 4: how many letters it becomes in lower, upper
** and title case and folded, at most 3, which are put into `out`.
*/
TT_HIDDEN int64_t tt__letter(int64_t code, int64_t what, uint32_t *out);

#endif
