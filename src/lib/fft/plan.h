/*
** How to transform n points: the tables, and which of three ways. Plans are kept for the next transform of that length,
** within a bound.
**
**   short   n is a product of small primes and not long: passes over whole vectors (fft/lanes.h)
**   split   n = a * b: b short transforms of length a, each number turned, then a transforms of length b
**   prime   a large prime factor: a convolution with a chirp (Bluestein), by a longer transform that has none
*/
#ifndef TT_LIB_FFT_PLAN_H
#define TT_LIB_FFT_PLAN_H

#include "lib/fft/lanes.h"

typedef struct tt_fft_table {
  void *at;
  size_t size;
} tt_fft_table;

typedef struct tt_fft_plan tt_fft_plan;
struct tt_fft_plan {
  int64_t n;
  tt_dtype dtype; /* TT_C64 or TT_C128 */
  const tt_fft_lanes *lanes;
  int users; /* who runs it now; the cache itself is none */
  tt_fft_plan *next;
  size_t bytes; /* of all tables */

  double cost_whole, cost_split; /* of a vector of rows by `whole`, of one row split; comparable, in no unit */
  bool is_short;                 /* `whole` is there */
  tt_fft_passes whole;
  tt_fft_table whole_turns;

  /* split: columns of length a.n, then rows of length b */
  bool is_split;
  tt_fft_passes first, second;
  tt_fft_table first_turns, second_turns;
  int64_t b;
  tt_fft_plan *rows;         /* for rows too long for passes; else `second` */
  tt_fft_table lane_turns;   /* [blocks][a] pairs of vectors w^(k * (block + l)), or one block when `factor` is used */
  bool all_turns;            /* lane_turns has every block */
  tt_fft_table coarse, fine; /* w^(i << shift), w^i in double */
  int shift;

  /* prime */
  tt_fft_plan *longer;
  tt_fft_table chirp, kernel; /* n points of exp(-i pi k^2 / n); the transform of its conjugate, longer->n points */

  /* real rows of 2 n points */
  tt_fft_table real_turns;
  int64_t real_span;
};

/* A plan to be given back; made or found. `t` is TT_C64 or TT_C128; real: also the tables for real rows of 2 n. */
TT_HIDDEN tt_code tt__fft_plan_get(tt_dtype t, int64_t n, bool real, tt_fft_plan **out, tt_error *err);
TT_HIDDEN void tt__fft_plan_give_back(tt_fft_plan *p);
/* Forget the plans that nobody runs. */
TT_HIDDEN void tt__fft_plans_drop(void);

/* What a transform of n complex points costs, in floating-point operations as one counts them. */
TT_HIDDEN double tt__fft_flops(int64_t n);

/* exp(-2 pi i k / n), rounded correctly but for the last bit. */
TT_HIDDEN void tt__fft_root(int64_t k, int64_t n, double *re, double *im);

#endif
