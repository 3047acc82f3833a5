/*
** Plain convolutions with few outputs and channels a group (depthwise ones have one of each), element by element. There
** are two ways, in which places and taps change their parts. `rows`: places are many; blocks of neighbouring ones are
** summed over all taps. `dots`: taps are many, as in the derivative to w; each place is a sum over blocks of taps.
**
** Either way what x has for a tile of `many` is laid into planes first, so that the loops over it know no edges and no
** steps: zeros where a window leaves x, and where `many` moves by more than one coordinate, those that a step of `few`
** meets lie together, as a slot of their own. In a slot, rows lie so far apart that a place's neighbour is the next
** element and the one below it a row further, for all places: a tile is one long row, with sums between its rows that
** nobody stores.
*/
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/nn/convolve/convolve_int.h"
#include "lib/nn/vector_level.h"
#include "scalar/prelude.h"

enum {
  FEW = 8,               /* outputs a group */
  MANY = 32,             /* channels of them */
  ROW = 512,             /* steps of a tile along the last axis */
  PLANES = 1 << 13,      /* numbers of a tile's planes, about: they and what is summed stay in the first-level cache */
  BLOCK = 4,             /* vectors of `rows` at a time, places of `dots` */
  VECTOR_BYTES = 64,     /* on each level, so that sums have one order */
  SLACK = 512,           /* bytes behind a plane that vectors may reach */
  DIRECT_GRAIN = 1 << 15 /* products of a task */
};

/* One axis of a tile: coordinate many * many_by + few * few_by - pad of x. */
typedef struct direct_axis {
  int64_t many, few, many_by, few_by;
  int64_t tile;       /* steps of `many` at a time */
  int64_t slots, len; /* of the planes */
  bool apart;         /* each step of `few` has a slot, because steps share little; else those of one phase share one */
} direct_axis;

typedef struct direct_job direct_job;
typedef void (*direct_fn)(const direct_job *j, int64_t at, char *room);

/* What one storage type and level of vectors has. */
typedef struct direct_kind {
  direct_fn rows, dots;
  int64_t size; /* of a number in planes */
} direct_kind;

struct direct_job {
  const tt_conv *c;
  direct_fn run;
  direct_axis axis[TT_CONV_AXES];
  int64_t bands;  /* tiles along the middle axis */
  int64_t steps;  /* of few */
  int64_t planes; /* numbers of one channel's planes */
  int64_t *from;  /* where in the planes each step of few begins; of rows for each channel */
  char *room;     /* of each worker: planes, then what is summed; see the loops */
  int64_t planes_size, room_size;
};

static int64_t slot_of(const direct_axis *a, int64_t few) { return a->apart ? few : few % a->slots; }
static int64_t place_in_slot(const direct_axis *a, int64_t few) { return a->apart ? 0 : few * a->few_by / a->many_by; }
/* The coordinate of a slot's first element, for the first of `many` and without padding. */
static int64_t slot_begins(const direct_axis *a, int64_t slot) {
  return a->apart ? slot * a->few_by : slot * a->few_by % a->many_by;
}

/* Which of n elements, that lie `by` apart from `first`, are in [0, in). */
static inline void inside(int64_t first, int64_t by, int64_t in, int64_t *lo, int64_t *hi) {
  if (first < 0) *lo = tt__min64(tt_ceil_div(-first, by), *hi);
  *hi = tt__min64(*hi, first < in ? tt_ceil_div(in - first, by) : 0);
  if (*hi < *lo) *hi = *lo;
}

static int64_t row_of(const direct_job *j) { return j->axis[2].len; }
static int64_t slot_size(const direct_job *j) { return j->axis[1].len * j->axis[2].len; }

#define PLAIN(x) (x)
#define TARGET
#define LEVEL(x) LEVEL_0(x)
#define LEVEL_0(x) x##_0
#include "lib/nn/convolve/convolve_direct.inc"
#if TT_NN_LEVELS > 1
#define TARGET TT_NN_TARGET_1
#define LEVEL(x) LEVEL_1(x)
#define LEVEL_1(x) x##_1
#include "lib/nn/convolve/convolve_direct.inc"
#define TARGET TT_NN_TARGET_2
#define LEVEL(x) LEVEL_2(x)
#define LEVEL_2(x) x##_2
#include "lib/nn/convolve/convolve_direct.inc"
#endif

#define DIRECT_KIND(S, n, size) \
  { rows_plane_##S##_##n, dots_plane_##S##_##n, size }
#define DIRECT_KINDS(n)                                                                                      \
  {                                                                                                          \
    [TT_F32] = DIRECT_KIND(f32, n, 4), [TT_F64] = DIRECT_KIND(f64, n, 8), [TT_F16] = DIRECT_KIND(f16, n, 4), \
    [TT_BF16] = DIRECT_KIND(bf16, n, 4)                                                                      \
  }
static const direct_kind direct_kinds[TT_NN_LEVELS][TT_DTYPE_COUNT] = {
    DIRECT_KINDS(0),
#if TT_NN_LEVELS > 1
    DIRECT_KINDS(1),
    DIRECT_KINDS(2),
#endif
};

/* ---- tiles */

static void lay_axis(direct_axis *a, int64_t tile) {
  int64_t phases = a->many_by / tt__gcd(a->many_by, a->few_by);
  int64_t shared = tile + (a->few - 1) * a->few_by / a->many_by;
  a->tile = tile;
  a->slots = tt__min64(phases, a->few);
  a->apart = a->slots * shared >= a->few * tile;
  if (a->apart) a->slots = a->few;
  a->len = a->apart ? tile : shared;
}

static void lay_tiles(direct_job *j, bool dots) {
  const tt_conv *c = j->c;
  for (int d = 0; d < TT_CONV_AXES; d++) {
    const tt_conv_axis *a = &c->axis[d];
    j->axis[d] = dots ? (direct_axis){c->kernel[d], c->out[d], a->dilation, a->stride, 0, 0, 0, false}
                      : (direct_axis){c->out[d], c->kernel[d], a->stride, a->dilation, 0, 0, 0, false};
  }
  direct_axis *middle = &j->axis[1];
  lay_axis(&j->axis[0], 1);
  lay_axis(&j->axis[2], tt__min64(ROW, j->axis[2].many));
  lay_axis(middle, 1);
  int64_t row = (dots ? 1 : c->channels) * j->axis[0].slots * middle->slots * j->axis[2].slots * j->axis[2].len;
  int64_t overlap = (middle->few - 1) * middle->few_by / middle->many_by;
  int64_t numbers = PLANES * (dots || c->channels < FEW ? 1 : tt__min64(c->channels / FEW, 8));
  int64_t tile = numbers / row > overlap ? numbers / row - overlap : 1;
  if (tile < overlap) tile = overlap; /* what tiles share is laid twice */
  lay_axis(middle, tt__min64(tile, middle->many));
  j->bands = tt_ceil_div(middle->many, middle->tile);
  j->planes = j->axis[0].slots * middle->slots * j->axis[2].slots * slot_size(j);
  j->steps = j->axis[0].few * middle->few * j->axis[2].few;
}

static void list_steps(const direct_job *j, int64_t channel, int64_t *to) {
  const direct_axis *a = j->axis;
  for (int64_t k0 = 0; k0 < a[0].few; k0++)
    for (int64_t k1 = 0; k1 < a[1].few; k1++)
      for (int64_t k2 = 0; k2 < a[2].few; k2++) {
        int64_t slot = (slot_of(&a[0], k0) * a[1].slots + slot_of(&a[1], k1)) * a[2].slots + slot_of(&a[2], k2);
        *to++ =
            channel * j->planes + slot * slot_size(j) + place_in_slot(&a[1], k1) * row_of(j) + place_in_slot(&a[2], k2);
      }
}

static void direct_tasks(void *ctx, int64_t lo, int64_t hi, int worker) {
  const direct_job *j = ctx;
  for (int64_t at = lo; at < hi; at++) j->run(j, at, j->room + worker * j->room_size);
}

/* ---- the whole */

static bool has_long_sums(const tt_conv *c) { return c->kernel[2] > c->out[2]; }
/* Each result lays planes of its own, so few they must be. */
static bool takes_dots(const tt_conv *c) { return has_long_sums(c) && c->images * c->outputs <= FEW; }

/* A tile of the product has 4 to 8 rows of outputs, and packs as many windows for one as for all. */
bool tt__convolve_is_direct(const tt_conv *c) {
  if (has_long_sums(c)) return takes_dots(c);
  return c->outputs <= FEW && c->channels <= (c->outputs <= FEW / 2 ? 4 * MANY : MANY);
}

tt_code tt__convolve_direct(const tt_conv *c, tt_error *err) {
  int level = tt__nn_level();
  assert(level < TT_NN_LEVELS);
  const direct_kind *kd = &direct_kinds[level][c->type];
  bool dots = takes_dots(c);
  direct_job j = {.c = c, .run = dots ? kd->dots : kd->rows};
  assert(j.run);
  lay_tiles(&j, dots);
  int64_t tile = j.axis[1].tile * row_of(&j) * kd->size + SLACK;
  int64_t planes = dots ? 1 : c->channels;
  int64_t sums = dots ? 2 * tile + j.steps * VECTOR_BYTES : tile + c->channels * j.steps * kd->size;
  j.planes_size = tt__round_up(planes * j.planes * kd->size + SLACK, VECTOR_BYTES);
  j.room_size = tt__round_up(j.planes_size + tt__round_up(sums, VECTOR_BYTES), VECTOR_BYTES);
  int64_t n = c->images * c->groups * (dots ? c->outputs : j.axis[0].many * j.bands);
  double each = (double)c->channels * (double)j.steps * (double)(j.axis[1].tile * row_of(&j)) *
                (double)(dots ? j.axis[0].many * j.bands : c->outputs);
  int64_t grain = each < DIRECT_GRAIN ? (int64_t)(DIRECT_GRAIN / each) + 1 : 1;
  int threads = tt__pool_inside() ? 1 : tt__pool_size();
  int64_t list = tt__round_up(planes * j.steps * (int64_t)sizeof *j.from, VECTOR_BYTES);
  size_t size = (size_t)(list + threads * j.room_size);
  char *room = tt__mem_alloc_data(size);
  if (!room) return tt__fail_memory(err, size);
  j.from = (int64_t *)room;
  j.room = room + list;
  for (int64_t ch = 0; ch < planes; ch++) list_steps(&j, ch, j.from + ch * j.steps);
  if (threads == 1)
    direct_tasks(&j, 0, n, 0);
  else
    tt__pool_run_numbered(threads, n, grain, direct_tasks, &j);
  tt__mem_free_data(room, size);
  return TT_OK;
}
