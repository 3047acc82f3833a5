/*
** The work of a tile on the simulated device: the row's function of the host. Private to run/.
*/
#ifndef TT_RUN_OUTOFCORE_STREAM_NULL_H
#define TT_RUN_OUTOFCORE_STREAM_NULL_H

#include "ir/device.h"
#include "ir/library.h"

typedef struct tt_null_tile {
  void *sums;    /* (NULL: none) of a product whose inner axis is cut; the result behind the last part */
  tt_dtype type; /* of the sums */
  bool is_first, is_last;
  int epilogue; /* TT_EPILOGUE_ bits, and what is added */
  const void *term;
} tt_null_tile;

/* Ask for it. *failed gets the code of work that failed, once it has run; it outlives that. */
TT_HIDDEN tt_code tt__stream_null(tt_device *d, tt_stream *s, const tt_lib_attr *attr, const tt_operand *src,
                                  const tt_block *out, const tt_null_tile *tile, tt_code *failed, tt_error *err);

#endif
