/*
** NumPy's bit generators: PCG64, PCG64DXSM, MT19937, Philox and SFC64, with NumPy's words for a seed, and what is drawn
** from their words with NumPy's bits. Everything here walks one stream from one state and knows nothing of arrays:
** fn/random/draw_exact.c keeps the state in an array and broadcasts parameters.
**
** A state is 64-bit words that may lie anywhere: a header that all have, then the generator's own. The order of its own
** words is that of NumPy's state dictionary (random/bits.c names them).
*/
#ifndef TT_RANDOM_BITS_H
#define TT_RANDOM_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

typedef enum tt_bits_kind { TT_PCG64, TT_PCG64DXSM, TT_MT19937, TT_PHILOX4X64, TT_SFC64, TT_BITS_KINDS } tt_bits_kind;

enum {
  TT_BITS_HEADER = 5,      /* the words before the generator's own */
  TT_BITS_WORDS = 1 + 624, /* the most that a generator has of its own */
  TT_MT_LEN = 624
};

typedef struct tt_bits {
  uint64_t kind;
  uint64_t has_half, half; /* the upper half of a word whose lower one was a draw of 32 bits */
  uint64_t has_gauss;      /* RandomState's: the second of a pair of normal numbers */
  double gauss;
  uint64_t word[TT_BITS_WORDS];
} tt_bits;

/* What a generator can do. */
typedef struct tt_bits_row {
  const char *name;     /* NumPy's class */
  int words;            /* of its own */
  int seeds, seed_size; /* how many words of a SeedSequence it takes, and their bytes */
  uint64_t (*next64)(tt_bits *b);
  uint32_t (*next32)(tt_bits *b);
  double (*next_double)(tt_bits *b); /* [0, 1) */
  uint64_t (*raw)(tt_bits *b);       /* what the generator itself makes at a time */
  /* The next n of each kind, as if they were drawn one after the other. */
  void (*fill64)(tt_bits *b, uint64_t *out, int64_t n);
  void (*fill32)(tt_bits *b, uint32_t *out, int64_t n);
  void (*fill_double)(tt_bits *b, double *out, int64_t n);
  void (*seed)(tt_bits *b, const uint64_t *word);
  void (*advance)(tt_bits *b, const uint64_t *step); /* by 256 bits, the lowest word first; NULL: it cannot */
  bool (*jump)(tt_bits *b); /* far beyond what anybody draws, false: out of memory; NULL: it cannot */
} tt_bits_row;

TT_HIDDEN extern const tt_bits_row tt__bits_rows[TT_BITS_KINDS];
/* MT19937, the rest of its row (random/mt19937.c). */
TT_HIDDEN uint32_t tt__mt_next32(tt_bits *b);
TT_HIDDEN uint64_t tt__mt_next64(tt_bits *b);
TT_HIDDEN double tt__mt_next_double(tt_bits *b);
TT_HIDDEN void tt__mt_fill64(tt_bits *b, uint64_t *out, int64_t n);
TT_HIDDEN void tt__mt_fill32(tt_bits *b, uint32_t *out, int64_t n);
TT_HIDDEN void tt__mt_fill_double(tt_bits *b, double *out, int64_t n);
TT_HIDDEN void tt__mt_seed(tt_bits *b, const uint64_t *word);
/* One more word of the recurrence: of the oldest, the one after it and the one 397 after it. */
TT_HIDDEN uint32_t tt__mt_twisted(uint32_t high, uint32_t low, uint32_t far);
TT_HIDDEN bool tt__mt_jump(tt_bits *b); /* random/mt_jump.c */
/* RandomState's seeding by a number below 2^32, and by an array of them. */
TT_HIDDEN void tt__mt_seed_number(tt_bits *b, uint32_t seed);
TT_HIDDEN void tt__mt_seed_array(tt_bits *b, const uint32_t *key, int64_t n);

static inline uint64_t tt__bits_64(tt_bits *b) { return tt__bits_rows[b->kind].next64(b); }
static inline uint32_t tt__bits_32(tt_bits *b) { return tt__bits_rows[b->kind].next32(b); }
static inline double tt__bits_double(tt_bits *b) { return tt__bits_rows[b->kind].next_double(b); }
static inline float tt__bits_float(tt_bits *b) { return (float)(tt__bits_32(b) >> 8) * 0x1p-24f; }

static inline void tt__bits_fill_64(tt_bits *b, uint64_t *out, int64_t n) { tt__bits_rows[b->kind].fill64(b, out, n); }
static inline void tt__bits_fill_32(tt_bits *b, uint32_t *out, int64_t n) { tt__bits_rows[b->kind].fill32(b, out, n); }
static inline void tt__bits_fill_double(tt_bits *b, double *out, int64_t n) {
  tt__bits_rows[b->kind].fill_double(b, out, n);
}

/* ---- SeedSequence (random/seed.c) */
/* Mix the words of the entropy into a pool. */
TT_HIDDEN void tt__seed_mix(uint32_t *pool, int64_t n, const uint32_t *entropy, int64_t words);
/* Words for a generator's state. */
TT_HIDDEN void tt__seed_state(const uint32_t *pool, int64_t n, uint32_t *out, int64_t words);

#endif
