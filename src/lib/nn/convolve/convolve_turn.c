/*
** The elements of x with its images last, for convolutions that walk along these: they want neighbours in memory.
*/
#include "base/integer.h"
#include "base/pool/pool.h"
#include "lib/nn/convolve/convolve_int.h"

enum {
  TURN = 16,           /* images at a time */
  TURN_GRAIN = 1 << 15 /* elements of a task */
};

typedef struct turning {
  const tt_conv *c;
  char *to;
} turning;

/* A row of elements of each image, image by image or rather the other way round. */
#define TURN_ROW(T)                                                                                    \
  static void turn_##T(const T *from, int64_t image, int64_t step, T *to, int64_t images, int64_t n) { \
    for (int64_t i = 0; i < images; i += TURN) {                                                       \
      int64_t end = tt__min64(i + TURN, images);                                                       \
      for (int64_t j = 0; j < n; j++)                                                                  \
        for (int64_t k = i; k < end; k++) to[j * images + k] = from[k * image + j * step];             \
    }                                                                                                  \
  }
TURN_ROW(uint16_t)
TURN_ROW(uint32_t)
TURN_ROW(uint64_t)

static void turn_channels(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const turning *t = ctx;
  const tt_conv *c = t->c;
  size_t size = tt__dtype_size(c->type);
  int64_t row = c->in[2] * c->images;
  for (int64_t at = lo; at < hi; at++)
    for (int64_t u = 0; u < c->in[0] * c->in[1]; u++) {
      int64_t place = at / c->channels * c->x_group + at % c->channels * c->x_channel + u / c->in[1] * c->x_at[0] +
                      u % c->in[1] * c->x_at[1];
      const void *from = tt__conv_element(c->x, place, c->type);
      void *to = t->to + (at * c->in[0] * c->in[1] + u) * row * (int64_t)size;
      if (size == 2)
        turn_uint16_t(from, c->x_image, c->x_at[2], to, c->images, c->in[2]);
      else if (size == 4)
        turn_uint32_t(from, c->x_image, c->x_at[2], to, c->images, c->in[2]);
      else
        turn_uint64_t(from, c->x_image, c->x_at[2], to, c->images, c->in[2]);
    }
}

tt_conv tt__convolve_turned(const tt_conv *c, char *room) {
  turning t = {c, room};
  tt__pool_run(c->groups * c->channels, 1 + TURN_GRAIN / (c->images * c->in[0] * c->in[1] * c->in[2]), turn_channels,
               &t);
  tt_conv v = *c;
  v.x = room;
  v.x_image = 1;
  v.x_at[2] = c->images;
  v.x_at[1] = c->in[2] * v.x_at[2];
  v.x_at[0] = c->in[1] * v.x_at[1];
  v.x_channel = c->in[0] * v.x_at[0];
  v.x_group = c->channels * v.x_channel;
  return v;
}
