/*
** The texts of this folder as data, for who pastes them above what it writes. The build makes them of the files.
*/
#ifndef TT_SCALAR_TEXTS_H
#define TT_SCALAR_TEXTS_H

#include "base/err.h"

extern TT_HIDDEN const char tt__prelude_text[]; /* prelude.h, prelude_f64.h, prelude_f32.h */
extern TT_HIDDEN const char tt__special_text[]; /* special*.h, bessel*.h */
extern TT_HIDDEN const char tt__program_math[]; /* program_math.h */
extern TT_HIDDEN const char tt__cuda_barrier[]; /* cuda_barrier.cuh */

#endif
