/*
** A recorded launch of a kernel that a user wrote: what a CALL node owns. The node's operands are the values of the
** storages that the launch was given, each once; what it leaves of those it may write is read with PICK.
*/
#ifndef TT_IR_USER_CALL_H
#define TT_IR_USER_CALL_H

#include "ir/device.h"
#include "ir/node.h"

#define TT_CALL_ARGS 4096  /* bytes of arguments, at most */
#define TT_CALL_ARRAYS 256 /* arguments that are arrays */

/* What kinds of kernels (CUDA C, Python) do for their launches. */
typedef struct tt_call_kind {
  /* Run it on the CPU; `args`: the call's, addresses in place. Waits; the session lock is not held. *ran: some of it
  ** may have happened, failure or not. */
  tt_code (*run)(const tt_kernel_call *c, char *args, bool *ran, tt_error *err);
  /* Its code for a device that has a compiler. */
  tt_code (*routine)(const tt_kernel_call *c, tt_device *d, tt_routine **out, tt_error *err);
  void (*retain)(void *kernel);
  void (*release)(void *kernel);
} tt_call_kind;

typedef struct tt_call_operand {
  tt_node *pick; /* the live PICK of what is left of it, not held; NULL: it is only read, or nobody wants it */
  bool writes;
} tt_call_operand;

/* An address among the arguments: `off` bytes into an operand. */
typedef struct tt_call_pointer {
  int32_t at, operand;
  int64_t off;
} tt_call_pointer;

struct tt_kernel_call {
  const tt_call_kind *kind;
  void *kernel;     /* held */
  const char *name; /* the kernel's */
  tt_grid grid;
  int device;        /* where it runs: 0, the CPU, or a device's id */
  tt_stream *stream; /* there */
  int noperand, npointer;
  size_t args_size, size; /* bytes of the arguments; of this, with what follows it */
  tt_call_operand *operand;
  tt_call_pointer *pointer;
  char *args; /* as the device takes them: one struct */
};

/* Operand k of a CALL node: operands beyond the node's own stand in LIST nodes. */
static inline tt_node *tt__call_operand(tt_node *call, int k) {
  while (k >= TT_NODE_SRC - 1 && call->src[TT_NODE_SRC - 1] && call->src[TT_NODE_SRC - 1]->op == TT_N_LIST) {
    call = call->src[TT_NODE_SRC - 1];
    k -= TT_NODE_SRC - 1;
  }
  return call->src[k];
}

#endif
