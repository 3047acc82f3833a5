/*
** The library rows of recurrent networks: one direction of a layer over a whole sequence.
**
**   recurrent       x [steps, images, gates * width], what inputs add to the gates; w [gates * width, width];
**                   state [rows, width]: h of each image, of LSTM then the memories, of GRU then (or not) its bias, a
**                   row for each gate. Gives y [steps, images, width], of LSTM with one more step, the last memory; and
**                   what the way back reads, [steps, images, kept * width].
**   recurrent_back  w, kept, g (as y). Gives the cotangents of the products of states and weights [steps, images,
**                   gates * width], of the first state [rows without a bias, width], and of GRU of x.
**
** attr.i: the kind, from the end, and images. What is kept of each element, side by side, ends with the state before:
**
**   RNN   the slope, h                     GRU   r, z, the new state, its sum of the state before, h
**   LSTM  i, f, g, o, memory before, tanh of the memory, h
*/
#ifndef TT_IR_RECURRENT_H
#define TT_IR_RECURRENT_H

#include <stdint.h>

typedef enum tt_recurrent_kind { TT_RNN_TANH, TT_RNN_RELU, TT_LSTM, TT_GRU, TT_RECURRENT_KINDS } tt_recurrent_kind;

static inline int64_t tt__recurrent_gates(tt_recurrent_kind k) { return k == TT_LSTM ? 4 : k == TT_GRU ? 3 : 1; }
static inline int64_t tt__recurrent_kept(tt_recurrent_kind k) { return k == TT_LSTM ? 7 : k == TT_GRU ? 5 : 2; }

#endif
