/*
** Library rows: host functions that a LIB node runs once its operands are evaluated.
*/
#ifndef TT_IR_LIBRARY_H
#define TT_IR_LIBRARY_H

#include "ir/device.h"
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

/* a[place[i] * step + k] = a[...] op b[i * b_step + k], for each i in order and each k below `width`; places from -len
 * to len - 1, `a` and b of one type. */
typedef struct tt_fold_into {
  tt_op op;
  tt_dtype dtype;
  void *a;
  const void *b;
  const int64_t *place;
  int64_t len, step, n, b_step, width; /* steps in elements */
} tt_fold_into;

/*
** A reduction of few elements (rows: at most a chunk of ir/kernel.h) as they lie: the axes of the bits of `axes` are
** folded. `room` and `more` have space for all elements; results go out in C order.
*/
typedef struct tt_small_fold {
  int red; /* tt_red */
  tt_dtype dtype;
  const void *data; /* element 0,0,... */
  int rank;
  const int64_t *len, *step; /* elements */
  uint64_t axes;
  void *room, *more;
} tt_small_fold;

/*
** The operands of a maker as a function, so that they need not lie in memory: a fused producer. PRODUCE(args, i) gives
** elements i to i + vec - 1, as a PRODUCE_VALUE; of its element u, operand k is PRODUCE_k(value, u). PRODUCE_ONE gives
** element i alone, as a PRODUCE_VALUE_ONE. `text` defines all these names, and PRODUCE_ARGS, the type that args point
** at.
*/
typedef struct tt_lib_producer {
  const char *text;
  const void *args; /* the bytes of a PRODUCE_ARGS, made of words of 8 bytes */
  size_t size;
  int vec;               /* 1 or 4; i is a multiple of it */
  tt_scalar_text scalar; /* what the text calls */
} tt_lib_producer;

/*
** What a row may use on a device. Its work goes on `stream`, in order; memory it takes is stream-ordered too. The
** pointers of its operands and blocks are the device's. Made by run/.
*/
typedef struct tt_lib_device tt_lib_device;
struct tt_lib_device {
  tt_device *device;
  tt_stream *stream;
  /* Device memory until the work of this call is done. */
  tt_code (*temp)(const tt_lib_device *on, size_t size, void **out, tt_error *err);
  /* (makers) Device memory that a tt_made hands on. */
  tt_code (*result)(const tt_lib_device *on, size_t size, void **out, tt_error *err);
  /* (makers) Of such memory the first `size` bytes are enough; 0: it is not handed on. */
  void (*shrink)(const tt_lib_device *on, void *p, size_t size);
  /* (makers with `produced`) Operands that do not lie in memory; NULL: they do. */
  const tt_lib_producer *producer;
  /* Routine `name` of a source text that stands below the dialect's header (render.h: `scalar` is what it calls of
  ** the functions there): compiled once, kept on disk. `source` is compared by content. */
  tt_code (*routine)(const tt_lib_device *on, const char *source, tt_scalar_text scalar, const char *name,
                     tt_routine **out, tt_error *err);
  /* Bytes from the device now (waits for the stream). */
  tt_code (*read)(const tt_lib_device *on, void *to, const void *from, size_t size, tt_error *err);
};

/* What may be done to a row's result before it is stored. */
typedef enum tt_epilogue {
  TT_EPILOGUE_NONE = 0,
  TT_EPILOGUE_BIAS = 1, /* plus a vector along the last axis */
  TT_EPILOGUE_RELU = 2,
  TT_EPILOGUE_GELU = 4, /* by tanh */
  TT_EPILOGUE_ADD = 8,  /* plus an array of the same shape, and nothing else */
  TT_EPILOGUE_SUMS = 16 /* (products) part of a longer sum: the result has the type of the sums (`sums`), and the term
                           is NULL or the sums so far, which may be the result itself */
} tt_epilogue;

/* How a step comes apart whose operands have no room on a device (sched/cut_library.h). */
typedef enum tt_lib_cut {
  TT_CUT_NOT,
  TT_CUT_PRODUCT, /* of matrices, the last two axes of two operands */
  TT_CUT_ROWS,    /* one operand, one result of its shape; along all axes but the last each row is treated alone */
  TT_CUT_SORT     /* the same, and rows themselves come apart (tt_lib_part) */
} tt_lib_cut;

/*
** Part of a row that is sorted, stably. Its elements have the places `first`, or (NULL) base, base + 1 ...; `places`
** (NULL for sort) gets those of the sorted elements, `sorted` (NULL: nobody asks) the elements.
*/
typedef struct tt_lib_part {
  tt_dtype dtype;
  const void *in;
  const int64_t *first;
  int64_t base, n;
  void *sorted;
  int64_t *places;
} tt_lib_part;

/* How much a call of a row has to do, for predictions. */
typedef struct tt_lib_work {
  double flops; /* on reals, of all matrices together */
  double side;  /* of a matrix on which all threads work together; 0: there is none */
  double tasks; /* that a thread does alone each, when there are several */
  double steps; /* that wait for each other on a device; below 0: a device leaves the call to the host */
} tt_lib_work;

/*
** What that takes. Rates are shares of the rate of large products of matrices (ns_per_flop of run/machine/calibrate.h);
** bench/library.py shows predicted and actual times.
*/
typedef struct tt_lib_cost {
  /* Of the operands `data` and `size` are not set. `wanted`: a bit for each result. */
  tt_lib_work (*work)(const tt_lib_attr *attr, const tt_operand *src, unsigned wanted);
  double host_share; /* for large matrices */
  double host_half;  /* with so many times the threads as side, half of it */
  bool host_few;     /* a few threads reach it, more do not help */
  double device_share;
  bool no_arithmetic; /* the operands' type costs what its bytes cost */
  double step_ns;     /* on a device, of each step that waits for the one before */
} tt_lib_cost;

struct tt_lib_row {
  const char *name;
  uint8_t nsrc, nout;
  bool strided; /* takes operands with any step; else they come contiguous (C order) */
  /* Fill out[0..nout). `attr` is the node's. Runs without the session lock; may use the pool. */
  tt_code (*run)(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err);
  /* (optional) Will code of ours do the work because a library of the host is missing? */
  bool (*falls_back)(const tt_operand *src);
  /* (optional) NULL: a few operations for each byte. */
  const tt_lib_cost *cost;
  /* (optional) The same on a device, without waiting for it. TT_ENOTIMPL, with nothing done: the host runs it. */
  tt_code (*run_on)(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                    tt_error *err);
  /* (optional) Why `run_on` leaves all work of this device to the host, in words for people; NULL: it does not. */
  const char *(*missing_on)(tt_device *d);
  /* (optional) The same with TT_EPILOGUE_ bits done to the one result; `term`: what is added, dense; NULL: nothing. */
  tt_code (*run_on_then)(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                         int epilogue, const void *term, tt_error *err);
  /* (optional) `run_on` and `run_on_then` do nothing but ask for work, the same and with the same temporary memory for
   * equal operands as long as this word is the same: a call may be gathered, and captured. */
  uint64_t (*mode)(void);
  tt_lib_cut cut;
  /* (TT_CUT_PRODUCT) The type in which products of a type are summed; and a dense array of sums as results. */
  tt_dtype (*sums)(tt_dtype t);
  tt_code (*end_sums)(const tt_lib_device *on, const void *sums, const tt_block *out, tt_error *err);
  /* (TT_CUT_SORT) A part, on the host and on a device. */
  tt_code (*part)(const tt_lib_attr *attr, const tt_lib_part *p, tt_error *err);
  tt_code (*part_on)(const tt_lib_device *on, const tt_lib_attr *attr, const tt_lib_part *p, tt_error *err);
};

/* The row of that name, or NULL; the rows live in lib/. */
TT_HIDDEN const tt_lib_row *tt__lib_row(const char *name);

/* A result whose size the data decides: n elements of array memory (tt__mem_alloc_data); NULL when n is 0 or nobody
 * asked. */
typedef struct tt_made {
  void *data;
  int64_t n;
  tt_dtype dtype;
} tt_made;

/* How what a maker gives of parts of its operands, in order, becomes what it gives of the whole. */
typedef enum tt_lib_join {
  TT_JOIN_NOT,
  TT_JOIN_BEHIND,  /* one behind the other */
  TT_JOIN_PLACES,  /* the same, of places in the part */
  TT_JOIN_SUMS,    /* int64, added up; missing ones are 0 */
  TT_JOIN_DISTINCT /* one behind the other, and made once more of that; with i[0] 0 */
} tt_lib_join;

typedef struct tt_lib_maker tt_lib_maker;
/* Host functions that are run when they are recorded, because what they give has a size that nobody knows before. */
struct tt_lib_maker {
  const char *name;
  uint8_t nsrc, nout;
  bool produced;    /* `run_on` takes operands of equal shape by a producer */
  tt_lib_join join; /* operands, of equal size, come apart where they have no room on a device */
  /* Operands come contiguous. out[k].dtype is set by the function. On failure nothing is left in `out`. */
  tt_code (*run)(const tt_lib_attr *attr, const tt_operand *src, tt_made *out, tt_error *err);
  /* (optional) The same on a device; out[k].data from on->result. TT_ENOTIMPL: the host runs it. */
  tt_code (*run_on)(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                    tt_error *err);
};
TT_HIDDEN const tt_lib_maker *tt__lib_maker(const char *name);

/*
** The outputs' types and shapes are decided when the node is recorded: result k is a
** PICK node with its own dtype and len. A LIB node itself has rank 0 and size 0.
*/
#endif
