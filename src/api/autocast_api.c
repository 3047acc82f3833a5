/*
** The functions of tutti/autocast.h.
*/
#include "tutti/autocast.h"

#include "fn/autocast.h"
#include "graph/session.h"

tt_code tt_autocast_set(tt_autocast next, tt_autocast *before, tt_error *err) {
  if (next.low != TT_DTYPE_NONE && next.low != TT_BF16 && next.low != TT_F16)
    return tt__fail(err, TT_ETYPE, "autocast knows bfloat16 and float16");
  if (before) *before = tt__autocast_get();
  tt__session_lock();
  tt__autocast_set(next);
  tt__session_unlock();
  return TT_OK;
}

tt_autocast tt_autocast_get(void) { return tt__autocast_get(); }
