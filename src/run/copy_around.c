/*
** What a store leaves; see copy_around.h. Gaps that lie between runs are short: a warp each. The stretches before the
** first and after the last run may be long: blocks of their own. One launch does all.
*/
#include "run/copy_around.h"

#include <assert.h>

#include "lib/device_call.h"
#include "run/device/exec_device.h"
#include "run/device/batch.h"

#define FEW 8
#define MOST_AXES 6
#define THREADS 256
#define END_BLOCKS 64    /* most blocks for each of the two stretches */
#define BLOCK_WORDS 4096 /* elements that a block of them has at least */
#define MOST_KNOWN 16
#define POINTERS 2 /* addresses, which stand first */

/* Gap g lies between run g and run g + 1; runs are numbered in C order of the view's outer axes. */
static const char text[] =
    "typedef struct {\n"
    "  TT_GLOBAL tt_u8 *to; const TT_GLOBAL tt_u8 *from; tt_i64 gaps, gap_blocks, end_blocks, off, run, after, total;\n"
    "  tt_i64 len[6], step[6]; tt_i32 axes;\n"
    "} around_args;\n"
    "TT_KERNEL(around, around_args, 256) {\n"
    "  TT_UNPACK(around_args);\n"
    "  tt_i64 begin, end, stride = WARP * SIZE;\n"
    "  if ((tt_i64)TT_BLOCK < a.gap_blocks) {\n"
    "    const tt_i64 g = (tt_i64)TT_BLOCK * (256 / WARP) + WARP_NUMBER;\n"
    "    if (g >= a.gaps) return;\n"
    "    begin = a.off + a.run, end = a.off;\n"
    "    tt_i64 at = g, next = g + 1;\n"
    "    for (int x = a.axes - 1; x >= 0; x--) {\n"
    "      begin += at % a.len[x] * a.step[x]; at /= a.len[x];\n"
    "      end += next % a.len[x] * a.step[x]; next /= a.len[x];\n"
    "    }\n"
    "    begin += (tt_i64)LANE * SIZE;\n"
    "  } else {\n"
    "    const tt_i64 n = (tt_i64)TT_BLOCK - a.gap_blocks, part = n % a.end_blocks;\n"
    "    begin = (n < a.end_blocks ? 0 : a.after) + (part * 256 + TT_THREAD) * SIZE;\n"
    "    end = n < a.end_blocks ? a.off : a.total;\n"
    "    stride = a.end_blocks * 256 * SIZE;\n"
    "  }\n"
    "  for (tt_i64 i = begin; i < end; i += stride)\n"
    "    *(TT_GLOBAL T *)(a.to + i) = *(TT_GLOBAL const T *)(a.from + i);\n"
    "}\n";

typedef struct around_args {
  char *to;
  const char *from;
  int64_t gaps, gap_blocks, end_blocks, off, run, after, total, len[MOST_AXES], step[MOST_AXES];
  int32_t axes;
} around_args;

static tt_dtype word_of(int64_t item) {
  return item == 1 ? TT_U8 : item == 2 ? TT_U16 : item == 4 ? TT_U32 : item == 8 ? TT_U64 : TT_C128;
}

/* Routines found before: putting their text together takes longer than the launch. Session lock held. */
static struct {
  tt_device *device;
  int64_t item;
  tt_routine *routine;
} known[MOST_KNOWN];
static int nknown;

static tt_code routine_of(tt_device *d, tt_stream *s, int64_t item, tt_routine **out, tt_error *err) {
  for (int i = 0; i < nknown; i++) {
    if (known[i].device != d || known[i].item != item) continue;
    *out = known[i].routine;
    return TT_OK;
  }
  tt_lib_use use;
  tt__exec_lib_open(&use, d, s);
  tt_device_text t = {.on = &use.on, .text = text, .pointers = POINTERS};
  tt__device_define_type(&t, word_of(item));
  tt_code code = tt__device_routine(&t, "around", out, err);
  tt__device_done(&t);
  tt__exec_lib_close(&use);
  if (code != TT_OK || nknown == MOST_KNOWN) return code;
  known[nknown].device = d;
  known[nknown].item = item;
  known[nknown++].routine = *out;
  return TT_OK;
}

static tt_code by_kernel(tt_device *d, tt_stream *s, around_args *a, int64_t item, tt_error *err) {
  tt_routine *routine;
  TT_TRY(routine_of(d, s, item, &routine, err));
  int64_t longer = a->off > a->total - a->after ? a->off : a->total - a->after;
  int64_t blocks = tt_ceil_div(longer, item * BLOCK_WORDS);
  a->end_blocks = blocks < 1 ? 1 : blocks > END_BLOCKS ? END_BLOCKS : blocks;
  a->gap_blocks = tt_ceil_div(a->gaps, THREADS / (d->target.warp == 1 ? 1 : 32));
  int64_t all = a->gap_blocks + 2 * a->end_blocks;
  if (all > d->target.grid_max[0]) return tt__fail(err, TT_ENOTIMPL, "too many gaps for one launch");
  tt_grid grid = {.grid = {(uint32_t)all, 1, 1}, .block = {THREADS, 1, 1}, .pointers = POINTERS};
  return tt__batch_launch(d, s, routine, &grid, a, sizeof *a, err);
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
  assert(v->rank >= 1 && v->rank <= TT_MAX_RANK && item > 0 && to != from);
  around_args a = {.to = to, .from = from, .off = v->off * item, .run = v->len[v->rank - 1] * item};
  int64_t runs = 1;
  a.axes = v->rank - 1;
  if (a.axes > MOST_AXES) {
    TT_TRY(tt__batch_flush(err));
    return d->ops->copy_within(d, s, to, from, (size_t)total, err);
  }
  for (int x = 0; x < a.axes; x++) {
    a.len[x] = v->len[x];
    a.step[x] = v->step[x] * item;
    runs *= v->len[x];
  }
  a.gaps = runs - 1;
  a.after = run_at(&a, runs - 1) + a.run;
  a.total = total;
  if (a.gaps > FEW && d->target.kind != TT_DEVICE_NULL) return by_kernel(d, s, &a, item, err);
  TT_TRY(tt__batch_flush(err));
  if (a.gaps > FEW) /* a device that runs no texts; the runs are written afterwards */
    return d->ops->copy_within(d, s, to, from, (size_t)total, err);
  TT_TRY(copy(d, s, &a, 0, a.off, err));
  TT_TRY(copy(d, s, &a, a.after, total, err));
  for (int64_t g = 0; g < a.gaps; g++) TT_TRY(copy(d, s, &a, run_at(&a, g) + a.run, run_at(&a, g + 1), err));
  return TT_OK;
}
