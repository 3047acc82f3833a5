/*
** What the compiler says of a translated text, said of the source: lines are the same, columns are found again.
*/
#ifndef TT_LANG_OPENCL_C_LOG_H
#define TT_LANG_OPENCL_C_LOG_H

#include "base/str.h"

/*
** Rewrite `said`: for each error "FILE:LINE:COLUMN: error: words" the column of the source, its line, a mark below it.
** `translated` is what the compiler read, with line marks.
*/
TT_HIDDEN void tt__opencl_mend_log(tt_str *said, const char *source, const char *file, const char *translated);

#endif
