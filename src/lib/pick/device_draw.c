/*
** Random numbers by rejection on a device (draw.text.h): each element has a stream of its own.
*/
#include "lib/device_call.h"
#include "lib/device_rows.h"

enum { THREADS = 256 };

/* As draw.text.h has it. */
typedef struct draw_args {
  const void *word, *first, *second, *third;
  void *out;
  double a, b, c;
  int64_t n;
} draw_args;

tt_code tt__device_draw(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, const tt_block *out,
                        tt_error *err) {
  static const char *const kind[] = {"GAMMA",          "POISSON", "BINOMIAL",
                                     "HYPERGEOMETRIC", "ZIPF",    "VONMISES"}; /* as rows_draw.c numbers them */
  draw_args a = {.word = src[0].data, .a = attr->f[0], .b = attr->f[1], .c = attr->f[2], .out = out->data};
  a.n = out->size;
  if (!tt__device_words(on)) return TT_ENOTIMPL;
  if (!(attr->i[1] & 1)) a.first = src[1].data;
  if (!(attr->i[1] & 2)) a.second = src[2].data;
  if (!(attr->i[1] & 4)) a.third = src[3].data;
  tt_device_text d = {.on = on, .text = tt__text_draw, .pointers = 5, .scalar = TT_SCALAR_MATH};
  tt__device_define_type(&d, out->dtype);
  tt__device_define(&d, kind[attr->i[0]], "1");
  tt_code c = tt__device_launch(&d, "draw", tt__device_blocks(on, a.n, THREADS), THREADS, &a, sizeof a, err);
  tt__device_done(&d);
  return c;
}
