/*
** Tables of library rows, each ended by a row without a name. Private to lib/.
*/
#ifndef TT_LIB_ROWS_H
#define TT_LIB_ROWS_H

#include "ir/library.h"

TT_HIDDEN extern const tt_lib_row tt__rows_product[];
TT_HIDDEN extern const tt_lib_row tt__rows_linalg[];
TT_HIDDEN extern const tt_lib_row tt__rows_reduce[];
TT_HIDDEN extern const tt_lib_row tt__rows_sort[];
TT_HIDDEN extern const tt_lib_row tt__rows_fft[];
TT_HIDDEN extern const tt_lib_row tt__rows_draw[];
TT_HIDDEN extern const tt_lib_row tt__rows_bits[];
TT_HIDDEN extern const tt_lib_row tt__rows_fold[];
TT_HIDDEN extern const tt_lib_row tt__rows_nn[];
TT_HIDDEN extern const tt_lib_row tt__rows_correlate[];
TT_HIDDEN extern const tt_lib_maker tt__makers_select[];

#endif
