/*
** Functions of arrays (fn/functions.def) called by compiled code: sort, unique, linalg.solve, fft.rfft ...
**
** What is called travels as text. A question: `name|argument;argument`, an argument as `Af64:2` (an array), `i64`,
** `(f64;f64)` (a tuple), `=i3`, `=f0x1p-1`, `=b1`, `=sright`, `=di32`, `=n` (a number, a truth, a word, a type and None
** that are known), each behind `@axis ` where it is given by name. An answer: the same with all parameters in their
** order, `-` where one is left out, and the types of what comes back: `sort|Af64:1|Af64:1C`.
*/
#ifndef TT_LAUNCH_HOST_CALL_H
#define TT_LAUNCH_HOST_CALL_H

#include "base/str.h"
#include "ir/user/program.h"

/*
** Answer a question: the function is tried with small arrays of these types, so that no table repeats its rules.
** TT_ENOTIMPL where there is no such function, or where it is none of values alone.
*/
TT_HIDDEN tt_code tt__host_call_types(const char *question, tt_str *answer, tt_error *err);

/* Call it: as tt_pcall has it. */
TT_HIDDEN int32_t tt__host_call(tt_pcall *call, const char *answer, const int64_t *word, int64_t *out, int64_t line);

#endif
