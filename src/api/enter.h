/*
** What the public functions over the graph have in common: an error object, and the lock.
*/
#ifndef TT_API_ENTER_H
#define TT_API_ENTER_H

#include "graph/session.h"

/* Every call gets an error object, so that the code of a failure deep below is known up here. */
typedef struct tt_entered {
  tt_error local, *err;
} tt_entered;

static inline tt_error *tt__enter(tt_entered *c, tt_error *err) {
  c->err = err ? err : &c->local;
  c->err->code = TT_OK;
  c->err->system = 0;
  c->err->message[0] = 0;
  tt__session_lock();
  return c->err;
}

static inline tt_code tt__leave(tt_entered *c, tt_code code) {
  tt__session_unlock(); /* a NULL deep below became TT_ENOMEM on its way up: the error knows what it was */
  return code != TT_OK && c->err->code != TT_OK ? c->err->code : code;
}

#endif
