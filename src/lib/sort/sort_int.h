/*
** What the files of the host sort share: order-preserving keys, the radix sort
** and the vector sort. A key is an unsigned integer of the element's width whose
** order is the order of the elements; complex numbers have none.
*/
#ifndef TT_LIB_SORT_SORT_INT_H
#define TT_LIB_SORT_SORT_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ir/dtype.h"

/*
** How the bits of a type become a key. For floats (inf != 0): negative numbers are complemented, the
** others get the sign bit, every NaN becomes all ones. `merge` gives -0.0 and 0.0 one key.
** `flip` is xored at the end: all ones for a descending sort.
*/
typedef struct tt_key_rule {
  int width;     /* bytes */
  uint64_t inf;  /* the bits of +inf, 0 for integers */
  uint64_t sign; /* what an integer is xored with: its sign bit, or 0 */
  uint64_t flip;
  bool merge;
} tt_key_rule;

TT_HIDDEN tt_key_rule tt__key_rule(tt_dtype t, bool descending, bool merge);

#define TT_SORT_KEY(BITS)                                                                     \
  static inline uint##BITS##_t tt_key##BITS(uint##BITS##_t b, tt_key_rule r) {                \
    const uint##BITS##_t top = (uint##BITS##_t)1 << (BITS - 1);                               \
    if (!r.inf) return (uint##BITS##_t)(b ^ (uint##BITS##_t)r.sign ^ (uint##BITS##_t)r.flip); \
    uint##BITS##_t size = (uint##BITS##_t)(b & ~top);                                         \
    uint##BITS##_t k = (b & top) ? (uint##BITS##_t) ~b : (uint##BITS##_t)(b | top);           \
    if (r.merge && size == 0) k = top;                                                        \
    if (size > (uint##BITS##_t)r.inf) k = (uint##BITS##_t) ~(uint##BITS##_t)0;                \
    return (uint##BITS##_t)(k ^ (uint##BITS##_t)r.flip);                                      \
  }                                                                                           \
  static inline uint##BITS##_t tt_unkey##BITS(uint##BITS##_t k, tt_key_rule r) {              \
    const uint##BITS##_t top = (uint##BITS##_t)1 << (BITS - 1);                               \
    k ^= (uint##BITS##_t)r.flip;                                                              \
    if (!r.inf) return (uint##BITS##_t)(k ^ (uint##BITS##_t)r.sign);                          \
    return (k & top) ? (uint##BITS##_t)(k & ~top) : (uint##BITS##_t) ~k;                      \
  }
TT_SORT_KEY(8)
TT_SORT_KEY(16)
TT_SORT_KEY(32)
TT_SORT_KEY(64)
#undef TT_SORT_KEY

/* What is known of a list of keys. Starts as {0, UINT64_MAX, UINT64_MAX, 0}. */
typedef struct tt_key_span {
  uint64_t any, all; /* or and and of all keys: any ^ all are the bits that vary */
  uint64_t min, max;
} tt_key_span;

/* The keys of n elements, of the elements' width. in == out is allowed. `wide` allows the thread pool. */
TT_HIDDEN tt_key_span tt__keys_make(tt_key_rule r, const void *in, void *out, int64_t n, bool wide);
/* The elements of n keys. in == out is allowed. */
TT_HIDDEN void tt__keys_back(tt_key_rule r, const void *in, void *out, int64_t n, bool wide);
/* The key of element i, widened. */
static inline uint64_t tt_key_at(tt_key_rule r, const void *in, int64_t i) {
  switch (r.width) {
    case 1:
      return tt_key8(((const uint8_t *)in)[i], r);
    case 2:
      return tt_key16(((const uint16_t *)in)[i], r);
    case 4:
      return tt_key32(((const uint32_t *)in)[i], r);
    default:
      return tt_key64(((const uint64_t *)in)[i], r);
  }
}

/* A key with the place it came from. */
typedef struct tt_sort_pair {
  uint64_t key;
  uint64_t at;
} tt_sort_pair;

/* What a radix sort looks at: the bits of (key - base) that vary. */
typedef struct tt_key_view {
  uint64_t base, bits;
} tt_key_view;

/* The view that takes fewer passes: all keys' varying bits as they are, or after subtracting the least key. */
TT_HIDDEN tt_key_view tt__key_view(tt_key_span s);

/*
** Stable least-significant-digit radix sorts. a and tmp hold n elements each; the sorted ones end in the one
** that is returned. `wide` allows the thread pool.
*/
TT_HIDDEN uint8_t *tt__radix_u8(uint8_t *a, uint8_t *tmp, int64_t n, tt_key_view v, bool wide);
TT_HIDDEN uint16_t *tt__radix_u16(uint16_t *a, uint16_t *tmp, int64_t n, tt_key_view v, bool wide);
TT_HIDDEN uint32_t *tt__radix_u32(uint32_t *a, uint32_t *tmp, int64_t n, tt_key_view v, bool wide);
TT_HIDDEN uint64_t *tt__radix_u64(uint64_t *a, uint64_t *tmp, int64_t n, tt_key_view v, bool wide);
TT_HIDDEN tt_sort_pair *tt__radix_pair(tt_sort_pair *a, tt_sort_pair *tmp, int64_t n, tt_key_view v, bool wide);

/* Whether this processor has the vector sort; it is in place, serial, and not stable. */
TT_HIDDEN bool tt__sort_has_vectors(void);
TT_HIDDEN void tt__vector_sort_u32(uint32_t *a, int64_t n);
TT_HIDDEN void tt__vector_sort_u64(uint64_t *a, int64_t n);
/* Place k gets the key it would have in order; none before is greater, none behind is less. */
TT_HIDDEN void tt__vector_select_u32(uint32_t *a, int64_t n, int64_t k);
TT_HIDDEN void tt__vector_select_u64(uint64_t *a, int64_t n, int64_t k);
/*
** In place: end[i] of `pivots` (a power of two less one) is the place behind the keys below pivot[i], which ascend, of
** the keys [at, at + n). And keys as tt__keys_make and tt__keys_back have them;
** true: there is a NaN or a negative zero.
*/
TT_HIDDEN void tt__vector_partition_u32(uint32_t *a, int64_t at, int64_t n, const uint32_t *pivot, int pivots,
                                        int64_t *end);
TT_HIDDEN void tt__vector_partition_u64(uint64_t *a, int64_t at, int64_t n, const uint64_t *pivot, int pivots,
                                        int64_t *end);
TT_HIDDEN bool tt__vector_keys_u32(tt_key_rule r, const uint32_t *in, uint32_t *out, int64_t n);
TT_HIDDEN bool tt__vector_keys_u64(tt_key_rule r, const uint64_t *in, uint64_t *out, int64_t n);
TT_HIDDEN void tt__vector_back_u32(tt_key_rule r, const uint32_t *in, uint32_t *out, int64_t n);
TT_HIDDEN void tt__vector_back_u64(tt_key_rule r, const uint64_t *in, uint64_t *out, int64_t n);
/* How many keys are below `border`, and how many are it. */
TT_HIDDEN void tt__vector_count_u32(const uint32_t *key, int64_t n, uint32_t border, int64_t *less, int64_t *equal);
TT_HIDDEN void tt__vector_count_u64(const uint64_t *key, int64_t n, uint64_t border, int64_t *less, int64_t *equal);
/* The places of the keys of 4 or 8 bytes below `border`, at it and above, each in a list of their own, in order. */
TT_HIDDEN void tt__vector_places(tt_key_rule r, const void *in, int64_t n, uint64_t border, int64_t *less,
                                 int64_t *equal, int64_t *more);
/* Sort as a processor without vectors does, for tests. */
TT_HIDDEN void tt__sort_without_vectors(bool off);

/* A row of 1 or 2 bytes that is not short (sort/count.c); NaNs and zeros as tt__samplesort leaves them. */
TT_HIDDEN bool tt__count_can(int width, int64_t n);
TT_HIDDEN tt_code tt__count_sort(tt_key_rule r, const void *in, void *out, int64_t n, bool wide, tt_error *err);
TT_HIDDEN tt_code tt__count_argsort(tt_key_rule r, const void *in, int64_t *out, int64_t n, bool wide, tt_error *err);

/*
** A long row of 4 or 8 bytes (sort/samplesort.c), on a processor with vectors; `scratch` is n keys. NaNs come out all
** one, zeros by sign: the caller puts them in order.
*/
TT_HIDDEN tt_code tt__samplesort(tt_key_rule r, const void *in, void *out, void *scratch, int64_t n, bool wide,
                                 tt_error *err);

/* The places of a long row of keys of 4 bytes, fewer than 2^32; `scratch` is n words of 8 bytes. */
TT_HIDDEN tt_code tt__samplesort_places(tt_key_rule r, const void *in, int64_t *out, void *scratch, int64_t n,
                                        bool wide, tt_error *err);

/*
** The places of a long row of keys of 8 bytes (sort/split.c). `moved` is n pairs; `scratch` n words of 8 bytes, or
** NULL on a processor with vectors.
*/
TT_HIDDEN bool tt__split_can(int width, int64_t n);
TT_HIDDEN tt_code tt__split_argsort(tt_key_rule r, const void *in, int64_t *out, tt_sort_pair *moved, uint64_t *scratch,
                                    int64_t n, bool wide, tt_error *err);

/* How many elements a thread should get at least; below it a second thread does not pay. */
#define TT_SORT_GRAIN 32768

#endif
