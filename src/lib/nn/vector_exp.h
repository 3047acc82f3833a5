/*
** What e^x is made of in vector loops of one text for float32 and float64: FUSED(a, b, c), a * b + c, is the text's.
*/
#ifndef TT_LIB_NN_VECTOR_EXP_H
#define TT_LIB_NN_VECTOR_EXP_H

/* p of e^r = 1 + r + r^2 p(r), |r| < 0.35, by Horner's rule. */
#define SERIES_F32(r) \
  UP(r, UP(r, UP(r, UP(r, 0x1.6a2d5ap-10f, 0x1.1237ccp-7f), 0x1.5558d6p-5f), 0x1.555496p-3f), 0x1.fffffcp-2f)
#define SERIES_F64(r) UP(r, UP(r, UP(r, UP(r, UP(r, SERIES_END(r), 1.0 / 720), 1.0 / 120), 1.0 / 24), 1.0 / 6), 0.5)
#define SERIES_END(r) UP(r, UP(r, UP(r, UP(r, SERIES_LAST(r), 1.0 / 3628800), 1.0 / 362880), 1.0 / 40320), 1.0 / 5040)
#define SERIES_LAST(r) UP(r, UP(r, 1.0 / 6227020800, 1.0 / 479001600), 1.0 / 39916800)
#define UP(r, rest, term) FUSED(rest, r, term)

#endif
