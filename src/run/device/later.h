/*
** Calls of libraries that are gathered with launches (batch.h), so that a step of many products repeats as one graph. A
** call may wait when it was made before by this plan on this device: then it is known to be served, and what temporary
** memory it takes, which it is given when it is gathered. Private to run/, under the session lock.
*/
#ifndef TT_RUN_DEVICE_LATER_H
#define TT_RUN_DEVICE_LATER_H

#include "ir/library.h"

enum { TT_LATER_TEMPS = 4, TT_LATER_SRC = 4, TT_LATER_OUT = 3, TT_LATER_PLACES = TT_LATER_SRC + TT_LATER_OUT + 1 };

/* What a library step keeps of its last call on a device. All zero: none. */
typedef struct tt_later_known {
  tt_device *device;
  uint64_t mode;                  /* the row's, tt_lib_row.mode */
  uint8_t align[TT_LATER_PLACES]; /* of operands, results and term, on which a library's choice may depend */
  int ntemp;                      /* above TT_LATER_TEMPS: it may not wait */
  size_t temp[TT_LATER_TEMPS];
} tt_later_known;

/* A call with all that it depends on. */
typedef struct tt_later_call {
  const tt_lib_attr *attr;
  const tt_operand *src; /* attr->row->nsrc */
  const tt_block *out;   /* attr->row->nout; those that nobody asks for have no data */
  int epilogue;          /* TT_EPILOGUE_ bits of `then` */
  bool then;             /* something is done to the result on the way */
  const void *term;
} tt_later_call;

/* Was this call made before, as it would be made now? */
TT_HIDDEN bool tt__later_knows(const tt_later_known *k, tt_device *d, const tt_later_call *c);
/* It was made, and took `n` blocks of temporary memory. */
TT_HIDDEN void tt__later_learn(tt_later_known *k, tt_device *d, const tt_later_call *c, const size_t *temp, int n);
/* Gather a call that is known. The callers name who asks (tt__origin_use). */
TT_HIDDEN tt_code tt__later_gather(const tt_later_known *k, tt_device *d, tt_stream *s, const tt_later_call *c,
                                   tt_error *err);

#endif
