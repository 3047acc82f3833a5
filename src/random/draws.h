/*
** Numbers out of a generator's words, with NumPy's bits: ziggurats, bounded integers, and the distributions, a row each
** by random/draws.def. The library's own draws, which fuse and run on devices, are elsewhere (fn/random/draw.h).
*/
#ifndef TT_RANDOM_DRAWS_H
#define TT_RANDOM_DRAWS_H

#include "random/bits.h"

/* ---- ziggurats (random/ziggurat.c) */
TT_HIDDEN double tt__bits_normal(tt_bits *b);
TT_HIDDEN float tt__bits_normal_float(tt_bits *b);
TT_HIDDEN double tt__bits_exponential(tt_bits *b);
TT_HIDDEN float tt__bits_exponential_float(tt_bits *b);

/* ---- integers in [0, range], both included (random/integers.c) */
/* A draw of less than 32 bits is a part of a word of 32, whose rest waits for the next draw of the same call. */
typedef struct tt_spare {
  uint32_t word;
  int left;
} tt_spare;
/* In a type of `bytes` bytes (0: bool): by a mask, as RandomState, or by a product (Lemire), as Generator. */
TT_HIDDEN uint64_t tt__bits_integer(tt_bits *b, tt_spare *spare, int bytes, uint64_t range, bool masked);
/* n of them, as if drawn one after the other. */
TT_HIDDEN void tt__bits_integers(tt_bits *b, tt_spare *spare, int bytes, uint64_t range, bool masked, uint64_t *out,
                                 int64_t n);
/* What shuffles take: masked, of 32 bits where the range has no more. */
TT_HIDDEN uint64_t tt__bits_interval(tt_bits *b, uint64_t range);

/* ---- distributions: `p` are the parameters; ours is Generator's, legacy is RandomState's */
typedef double (*tt_real_fn)(tt_bits *b, const double *p);
typedef int64_t (*tt_count_fn)(tt_bits *b, const double *p);

typedef enum tt_dist {
#define TT_REAL(name, modern, legacy) TT_DIST_##name,
#define TT_COUNTS(name, modern, legacy) TT_DIST_##name,
#include "random/draws.def"
#undef TT_REAL
#undef TT_COUNTS
  TT_DISTS
} tt_dist;

typedef struct tt_dist_row {
  tt_real_fn real[2]; /* one of the two pairs is there; [1]: RandomState's */
  tt_count_fn count[2];
} tt_dist_row;

TT_HIDDEN extern const tt_dist_row tt__dists[TT_DISTS];

#define TT_REAL(name, modern, legacy)                              \
  TT_HIDDEN double tt__bits_##modern(tt_bits *b, const double *p); \
  TT_HIDDEN double tt__bits_##legacy(tt_bits *b, const double *p);
#define TT_COUNTS(name, modern, legacy)                             \
  TT_HIDDEN int64_t tt__bits_##modern(tt_bits *b, const double *p); \
  TT_HIDDEN int64_t tt__bits_##legacy(tt_bits *b, const double *p);
#include "random/draws.def"
#undef TT_REAL
#undef TT_COUNTS

/* ---- what several distributions are made of (random/reals.c, random/counts.c) */
typedef double (*tt_source_fn)(tt_bits *b);
/* Gamma from a source of normal and one of exponential numbers. */
TT_HIDDEN double tt__bits_gamma_of(tt_bits *b, double shape, tt_source_fn normal, tt_source_fn exponential);
TT_HIDDEN int64_t tt__bits_poisson_of(tt_bits *b, double lam);
/* The logarithm of the gamma function, with the rounding that the draws need. */
TT_HIDDEN double tt__bits_log_gamma(double x);

#endif
