/* What is kept on disk between processes; see tt_kept_files. */
#ifndef TT_RUN_CACHE_CACHE_FILES_H
#define TT_RUN_CACHE_CACHE_FILES_H

#include "base/err.h"
#include "tutti/device.h"

TT_HIDDEN void tt__cache_files(bool remove, tt_kept *out);

#endif
