/*
** Library rows: host functions that a LIB node runs once its operands are evaluated.
*/
#ifndef TT_IR_LIBRARY_H
#define TT_IR_LIBRARY_H

#include "ir/node.h"

/* One dense block handed to a library function. */
typedef struct tt_block {
  void *data;
  tt_dtype dtype;
  int rank;
  const int64_t *len;
  int64_t size; /* elements */
} tt_block;

/* An operand: a strided view over dense memory, so that matmul can take a transposed matrix as it lies. */
typedef struct tt_operand {
  const void *data; /* of the element at index 0,0,... */
  tt_dtype dtype;
  int rank;
  const int64_t *len;
  const int64_t *step; /* elements */
  int64_t size;
} tt_operand;

struct tt_lib_row {
  const char *name;
  uint8_t nsrc, nout;
  bool strided; /* takes operands with any step; else they come contiguous (C order) */
  /* Fill out[0..nout). `attr` is the node's. Runs without the session lock; may use the pool. */
  tt_code (*run)(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err);
};

/* The row of that name, or NULL; the rows live in lib/. */
TT_HIDDEN const tt_lib_row *tt__lib_row(const char *name);

/*
** The outputs' types and shapes are decided when the node is recorded: result k is a
** PICK node with its own dtype and len. A LIB node itself has rank 0 and size 0.
*/
#endif
