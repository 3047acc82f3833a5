/*
** Random numbers as nodes: a draw is a pure function of a key, a block and its place, so that it fuses with what uses
** it and gives the same bits whatever walks over it and with how many threads.
**
** A generator is a uint64 array {key, counter}: the counter is the next block of the key's stream, 16 bytes of random
** bits. Every call begins with a block of its own and takes as many as it needs; four float32 draws share one, or two
** of 8 bytes (render/prelude.h has the functions, ops.def the rows PHILOX, UNIFORM and NORMAL). Functions without a
** generator ("random.normal") draw from one of the process, seeded by the system or random.seed.
*/
#ifndef TT_GRAPH_DRAW_H
#define TT_GRAPH_DRAW_H

#include "graph/fn.h"

typedef struct tt_draw {
  tt_calc *c;
  const tt_call_frame *f;
  int base; /* where the function's own parameters begin: 1 behind a generator, else 0 */
  int rank; /* the shape that is drawn */
  int64_t len[TT_MAX_RANK], size;
} tt_draw;

/* Define handlers tt__fn_random_NAME and tt__fn_generator_NAME around `static tt_array *NAME(tt_draw *d, tt_call_frame
 * *f)`. */
#define TT_DRAW(name)                                                                                          \
  static tt_array *random_##name(tt_calc *c, tt_call_frame *f) { return name(&(tt_draw){.c = c, .f = f}, f); } \
  static tt_array *generator_##name(tt_calc *c, tt_call_frame *f) {                                            \
    return name(&(tt_draw){.c = c, .f = f, .base = 1}, f);                                                     \
  }                                                                                                            \
  TT_HANDLER(random_##name)                                                                                    \
  TT_HANDLER(generator_##name)

/*
** The shape of a draw: argument `size` (base not counted) or, when it is not given, that of the parameters broadcast
** together. True for a single number from numbers: a binding hands it on as a plain scalar.
*/
TT_HIDDEN bool tt__draw_shape(tt_draw *d, int size, const tt_value *param, int n);
TT_HIDDEN bool tt__draw_shape_fixed(tt_draw *d, int rank, const int64_t *len);

/* A uint64 of random bits for each element. */
TT_HIDDEN tt_array *tt__draw_bits(tt_draw *d);
/* Uniform in [0, 1): float32 with 24 bits, float64 with 53. */
TT_HIDDEN tt_array *tt__draw_uniform(tt_draw *d, tt_dtype dtype);
/* Standard normal. */
TT_HIDDEN tt_array *tt__draw_normal(tt_draw *d, tt_dtype dtype);
/* Integers in [0, range) as uint64, by the high half of a 128-bit product; a range of 0 means 2^64. */
TT_HIDDEN tt_array *tt__draw_below(tt_draw *d, uint64_t range);
/* The numbers 0 ... n-1 in random order (int64). */
TT_HIDDEN tt_array *tt__draw_order(tt_draw *d, int64_t n);

/* A parameter of the distribution (base not counted). */
TT_HIDDEN tt_value tt__draw_param(tt_draw *d, int k, double fallback);
/* An op over values, scalars or arrays. */
TT_HIDDEN tt_array *tt__draw_op(tt_draw *d, tt_op op, tt_value a, tt_value b);

#endif
