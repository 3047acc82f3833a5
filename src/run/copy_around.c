/*
** What a store leaves; see copy_around.h. The gaps before the first and after the last run are plain copies; those in
** between are few and long (copies too) or many and short (a warp each).
*/
#include "run/copy_around.h"

#include "lib/device_call.h"
#include "run/exec_device.h"

#define FEW 8
#define MOST_AXES 6
#define THREADS 256

/* Gap g of n lies between run g and run g + 1; runs are numbered in C order of the view's outer axes. */
static const char text[] =
    "typedef struct {\n"
    "  tt_u8 *to; const tt_u8 *from; tt_i64 gaps, off, run; tt_i64 len[6], step[6]; tt_i32 axes;\n"
    "} around_args;\n"
    "TT_KERNEL(around, around_args, 256) {\n"
    "  const tt_i64 g = (tt_i64)TT_BLOCK * 8 + WARP_NUMBER;\n"
    "  if (g >= a.gaps) return;\n"
    "  tt_i64 begin = a.off + a.run, end = a.off, at = g, next = g + 1;\n"
    "  for (int x = a.axes - 1; x >= 0; x--) {\n"
    "    begin += at % a.len[x] * a.step[x]; at /= a.len[x];\n"
    "    end += next % a.len[x] * a.step[x]; next /= a.len[x];\n"
    "  }\n"
    "  for (tt_i64 i = begin + (tt_i64)LANE * SIZE; i < end; i += 32 * SIZE)\n"
    "    *(TT_GLOBAL T *)(a.to + i) = *(TT_GLOBAL const T *)(a.from + i);\n"
    "}\n";

typedef struct around_args {
  char *to;
  const char *from;
  int64_t gaps, off, run, len[MOST_AXES], step[MOST_AXES];
  int32_t axes;
} around_args;

static tt_dtype word_of(int64_t item) {
  return item == 1 ? TT_U8 : item == 2 ? TT_U16 : item == 4 ? TT_U32 : item == 8 ? TT_U64 : TT_C128;
}

static tt_code many_gaps(tt_device *d, tt_stream *s, const around_args *a, int64_t item, tt_error *err) {
  tt_lib_use use;
  tt__exec_lib_open(&use, d, s);
  tt_device_text t = {.on = &use.on, .text = text};
  tt__device_define_type(&t, word_of(item));
  tt_code code = tt__device_launch(&t, "around", tt_ceil_div(a->gaps, THREADS / 32), THREADS, a, sizeof *a, err);
  tt__device_done(&t);
  tt__exec_lib_close(&use);
  return code;
}

static tt_code copy(tt_device *d, tt_stream *s, const around_args *a, int64_t begin, int64_t end, tt_error *err) {
  if (end <= begin) return TT_OK;
  return d->ops->copy_within(d, s, a->to + begin, a->from + begin, (size_t)(end - begin), err);
}

/* The byte at which run g begins. */
static int64_t run_at(const around_args *a, int64_t g) {
  int64_t at = a->off;
  for (int x = a->axes - 1; x >= 0; x--) {
    at += g % a->len[x] * a->step[x];
    g /= a->len[x];
  }
  return at;
}

tt_code tt__copy_around(tt_device *d, tt_stream *s, const tt_runs *v, int64_t item, int64_t total, char *to,
                        const char *from, tt_error *err) {
  around_args a = {.to = to, .from = from, .off = v->off * item, .run = v->len[v->rank - 1] * item};
  int64_t runs = 1;
  a.axes = v->rank - 1;
  if (a.axes > MOST_AXES) return d->ops->copy_within(d, s, to, from, (size_t)total, err);
  for (int x = 0; x < a.axes; x++) {
    a.len[x] = v->len[x];
    a.step[x] = v->step[x] * item;
    runs *= v->len[x];
  }
  a.gaps = runs - 1;
  TT_TRY(copy(d, s, &a, 0, a.off, err));
  TT_TRY(copy(d, s, &a, run_at(&a, runs - 1) + a.run, total, err));
  if (a.gaps > FEW && d->target.kind == TT_DEVICE_NULL) /* runs no texts; the runs are written afterwards */
    return d->ops->copy_within(d, s, to, from, (size_t)total, err);
  if (a.gaps > FEW) return many_gaps(d, s, &a, item, err);
  for (int64_t g = 0; g < a.gaps; g++) TT_TRY(copy(d, s, &a, run_at(&a, g) + a.run, run_at(&a, g + 1), err));
  return TT_OK;
}
