/* What is kept on disk between processes; see tt_kept_files. */
#ifndef TT_RUN_KEPT_H
#define TT_RUN_KEPT_H

#include "base/err.h"
#include "tutti/device.h"

TT_HIDDEN void tt__kept_files(bool remove, tt_kept *out);

#endif
