/* The names of the codes and the writing of messages. Knows nothing of what failed. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

const char *tt_code_name(tt_code code) {
  static const char *const name[TT_CODE_COUNT] = {
      [TT_OK] = "TT_OK",
      [TT_ENOMEM] = "TT_ENOMEM",
      [TT_EVALUE] = "TT_EVALUE",
      [TT_ETYPE] = "TT_ETYPE",
      [TT_EINDEX] = "TT_EINDEX",
      [TT_EAXIS] = "TT_EAXIS",
      [TT_EOVERFLOW] = "TT_EOVERFLOW",
      [TT_EZERODIV] = "TT_EZERODIV",
      [TT_EBUFFER] = "TT_EBUFFER",
      [TT_ELINALG] = "TT_ELINALG",
      [TT_EIO] = "TT_EIO",
      [TT_EINTERRUPT] = "TT_EINTERRUPT",
      [TT_ENOTIMPL] = "TT_ENOTIMPL",
      [TT_EDEVICE] = "TT_EDEVICE",
      [TT_EINTERNAL] = "TT_EINTERNAL",
      [TT_ESTRICT] = "TT_ESTRICT",
      [TT_ESYNTAX] = "TT_ESYNTAX",
      [TT_ECOMPILE] = "TT_ECOMPILE",
      [TT_EGRAD] = "TT_EGRAD",
      [TT_EHARD] = "TT_EHARD",
  };
  if ((int)code < 0 || code >= TT_CODE_COUNT || !name[code]) return "TT_UNKNOWN";
  return name[code];
}

tt_code tt__fail(tt_error *err, tt_code code, const char *fmt, ...) {
  if (!err) return code;
  err->code = code;
  err->system = 0;
  va_list args;
  va_start(args, fmt);
  if (vsnprintf(err->message, sizeof err->message, fmt, args) < 0) err->message[0] = 0;
  va_end(args);
  return code;
}

tt_code tt__fail_memory(tt_error *err, size_t size) {
  return tt__fail(err, TT_ENOMEM, "out of memory: cannot allocate %zu bytes", size);
}
