#include "base/copy.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

void tt__copy_out_of_caches(void *to, const void *from, size_t size) {
  enum { LINE = 64 };
  char *t = to;
  const char *f = from, *end = f + size / LINE * LINE;
  assert((uintptr_t)to % sizeof(__m128i) == 0);
  for (; f < end; f += LINE, t += LINE) {
    __m128i a = _mm_loadu_si128((const __m128i *)f), b = _mm_loadu_si128((const __m128i *)f + 1);
    __m128i c = _mm_loadu_si128((const __m128i *)f + 2), d = _mm_loadu_si128((const __m128i *)f + 3);
    _mm_stream_si128((__m128i *)t, a);
    _mm_stream_si128((__m128i *)t + 1, b);
    _mm_stream_si128((__m128i *)t + 2, c);
    _mm_stream_si128((__m128i *)t + 3, d);
  }
  memcpy(t, f, size % LINE);
  _mm_sfence(); /* these stores keep no order of themselves, not even with a release */
}
#else
void tt__copy_out_of_caches(void *to, const void *from, size_t size) { memcpy(to, from, size); }
#endif
