/*
** Graphs of operations that cuDNN runs as one, on CUDA devices where it is found. A graph is plain data: tensors, and
** operations between them; what cuDNN wants to hear of an operation stands in one table (cudnn.c). Its choice of an
** engine takes milliseconds, so plans are kept for each graph.
*/
#ifndef TT_LIB_NN_CUDNN_H
#define TT_LIB_NN_CUDNN_H

#include "ir/library.h"
#include "lib/nn/attention/attention.h"
#include "lib/nn/convolve/convolve.h"
#include "lib/vendor.h"

enum { TT_CUDNN_AXES = 5, TT_CUDNN_TENSORS = 32, TT_CUDNN_OPS = 24 };

/* Where the elements of a tensor are. */
typedef enum tt_cudnn_place {
  TT_CUDNN_MEMORY,
  TT_CUDNN_VIRTUAL, /* nowhere: between two operations */
  TT_CUDNN_VALUE    /* one float32 on the host, said with each call */
} tt_cudnn_place;

/* What the element types of tensors are called here; tt__cudnn_type is that of arrays. */
enum { TT_CUDNN_F32 = 0, TT_CUDNN_F64 = 1, TT_CUDNN_F16 = 2, TT_CUDNN_I32 = 4, TT_CUDNN_BF16 = 9, TT_CUDNN_BOOL = 11 };
TT_HIDDEN int tt__cudnn_type(tt_dtype t); /* -1: it has no such type */

typedef struct tt_cudnn_tensor {
  int64_t len[TT_CUDNN_AXES], step[TT_CUDNN_AXES]; /* steps in elements */
  int32_t type, place, align;                      /* align in bytes */
} tt_cudnn_tensor;

typedef enum tt_cudnn_kind {
  TT_CUDNN_FORWARD,     /* x, w -> y */
  TT_CUDNN_BACK_DATA,   /* y, w -> x */
  TT_CUDNN_BACK_FILTER, /* x, y -> w */
  TT_CUDNN_POINTWISE,   /* one to three operands -> result; `mode` */
  TT_CUDNN_MATMUL,      /* a, b -> c */
  TT_CUDNN_REDUCTION,   /* x -> y; `mode` */
  TT_CUDNN_RESHAPE      /* x -> y */
} tt_cudnn_kind;

typedef struct tt_cudnn_op {
  int32_t kind, mode, axis, type; /* `type`: of the arithmetic */
  int32_t in[3], out;             /* places of tensors; -1: none */
} tt_cudnn_op;

/* Filled over zeros: graphs are compared as bytes. */
typedef struct tt_cudnn_graph {
  int32_t rank, tensors, ops;
  int32_t exact;                                       /* float32 stays float32 on the way */
  int64_t stride[3], dilation[3], before[3], after[3]; /* of the convolution, along rank - 2 axes */
  int64_t mirrored;                                    /* its taps are in reverse */
  tt_cudnn_tensor tensor[TT_CUDNN_TENSORS];
  tt_cudnn_op op[TT_CUDNN_OPS];
} tt_cudnn_graph;

/* Scratch that the runs of one call share. */
typedef struct tt_cudnn_room {
  void *p;
  size_t size;
} tt_cudnn_room;

/*
** Run g with `data` [tensors]: addresses on the device, or on the host for values. Results are the same each time.
** `room` is all zero before the first run of a call. TT_ENOTIMPL, with nothing done: there is no cuDNN, or it has no
** engine for such a graph.
*/
TT_HIDDEN tt_code tt__cudnn_run(const tt_lib_device *on, const tt_cudnn_graph *g, void *const *data,
                                tt_cudnn_room *room, tt_error *err);

/*
** The convolution c without its bias, as one of cuDNN's three. `exact`: float32 is not rounded to tf32 on the way.
** TT_ENOTIMPL, with nothing done: not one of these, or no cuDNN.
*/
TT_HIDDEN tt_code tt__cudnn_convolve(const tt_lib_device *on, const tt_conv *c, bool exact, tt_error *err);

/*
** Attention as nn/attention/attention.h has it, of float16 and bfloat16 without a mask. `o` and `g` of the way back:
** the result, and its cotangent, of the same type. TT_ENOTIMPL, with nothing done: not one of cuDNN's, or no cuDNN.
*/
TT_HIDDEN tt_code tt__cudnn_attention(const tt_lib_device *on, const tt_attention *a, void *o, void *lse,
                                      tt_error *err);
TT_HIDDEN tt_code tt__cudnn_attention_back(const tt_lib_device *on, const tt_attention *a, const tt_attention_side *o,
                                           const tt_attention_side *g, const void *lse, void *dq, void *dk, void *dv,
                                           tt_error *err);

/* ---- the library's own face: for cudnn.c, and for tests that play the library */

typedef struct tt_cudnn {
#define TT_CUDNN_FN(field, symbol, params) int(*field) params;
#include "lib/nn/cudnn_api.def"
#undef TT_CUDNN_FN
} tt_cudnn;

TT_HIDDEN extern tt_vendor tt__vendor_cudnn; /* fn is a tt_cudnn */

#endif
