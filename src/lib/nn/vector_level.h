/*
** For texts that are compiled once for each level of vectors: how many levels there are beside the build's own, which
** is level 0, and the attributes of functions of levels 1 (AVX2) and 2 (AVX-512).
*/
#ifndef TT_LIB_NN_VECTOR_LEVEL_H
#define TT_LIB_NN_VECTOR_LEVEL_H

#include "base/os/os.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define TT_NN_LEVELS 3
#define TT_NN_TARGET_1 __attribute__((target("avx2,fma")))
#ifdef TT_WIDE /* the same text for processors with half of these vectors, for tests */
#define TT_NN_TARGET_2 TT_NN_TARGET_1
#elif defined(__clang__) /* which has no such attribute */
#define TT_NN_TARGET_2 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#else
#define TT_NN_TARGET_2 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")))
#endif
#else
#define TT_NN_LEVELS 1
#endif

/* Which of them to run. */
static inline int tt__nn_level(void) {
  int level = tt__vector_level() - 2;
  return TT_NN_LEVELS == 1 || level < 0 ? 0 : level;
}

#endif
