/*
** The walks over a sequence of recurrent.h. Weights are packed once; each thread has images of its own and goes
** through all steps with them.
*/
#include "lib/nn/recurrent/recurrent.h"

#include <string.h>

#include "base/integer.h"
#include "base/mem.h"
#include "base/pool/pool.h"
#include "lib/nn/recurrent/recurrent_vector.h"

enum {
  BLOCK = 4,           /* images that are cheaper together */
  TASK_WORK = 1 << 17, /* products that are worth a thread */
  ALIGN = 64
};

/* A walk, on its way or back: memory in bytes of the type, `row` bytes of a state. */
typedef struct walk {
  const tt_recurrent *r;
  const tt_recurrent_loops *loops;
  int64_t size, row, gates, kept_row;
  int64_t inner, outer, sum_row; /* of the product: its sums are as long as `outer`, filled up */
  const char *x, *h, *g;
  char *y, *kept, *sums_out, *x_out;
  char *packed, *sums, *carry, *none, *spare; /* `none`: a bias of zeros; `spare`: for what nobody asks, an image */
  char *room;
  size_t bytes;
} walk;

static char *image_of(char *base, int64_t at, int64_t row) { return base ? base + at * row : NULL; }

static void forward_images(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const walk *w = ctx;
  const tt_recurrent *r = w->r;
  const char *before = w->h;
  for (int64_t k = 0; k < r->steps; k++) {
    const int64_t first = tt__recurrent_place(r, k) * r->images;
    w->loops->product(hi - lo, w->outer, w->inner, before + lo * w->row, r->width, w->packed, w->sums + lo * w->sum_row,
                      w->sum_row / w->size);
    for (int64_t i = lo; i < hi; i++) {
      char *kept = image_of(w->kept, first + i, w->kept_row);
      const tt_recurrent_row one = {.x = w->x + (first + i) * w->gates * w->row,
                                    .sums = w->sums + i * w->sum_row,
                                    .bias = r->bias ? r->bias : w->none,
                                    .h = before + i * w->row,
                                    .carry = w->carry + i * w->row,
                                    .kept = kept ? kept : w->spare + i * w->kept_row,
                                    .y = w->y + (first + i) * w->row};
      w->loops->step[r->kind](r->width, &one);
    }
    before = w->y + first * w->row;
  }
}

static void back_images(void *ctx, int64_t lo, int64_t hi, int worker) {
  (void)worker;
  const walk *w = ctx;
  const tt_recurrent *r = w->r;
  const int64_t gates_row = w->gates * w->row;
  for (int64_t k = r->steps - 1; k >= 0; k--) {
    const int64_t first = tt__recurrent_place(r, k) * r->images;
    char *d = w->sums_out ? w->sums_out + first * gates_row : w->spare;
    for (int64_t i = lo; i < hi; i++) {
      char *dx = image_of(w->x_out, first + i, gates_row);
      const tt_recurrent_row one = {.sums = d + i * gates_row,
                                    .dx = dx ? dx : w->spare + (r->images + i) * gates_row,
                                    .h = w->sums + i * w->sum_row,
                                    .carry = w->carry + i * w->row,
                                    .kept = w->kept + (first + i) * w->kept_row,
                                    .y = (char *)(uintptr_t)w->g + (first + i) * w->row};
      w->loops->back[r->kind](r->width, &one);
    }
    w->loops->product(hi - lo, w->outer, w->inner, d + lo * gates_row, w->gates * r->width, w->packed,
                      w->sums + lo * w->sum_row, w->sum_row / w->size);
  }
}

/* Sizes, and memory for the walk: packed weights, sums, what is carried from step to step, a bias of none, and
 * `spare` numbers for each image. */
static bool begin(walk *w, const tt_recurrent *r, bool back, int64_t spare, tt_error *err) {
  w->r = r;
  w->loops = tt__recurrent_loops(r->type);
  w->size = (int64_t)tt__dtype_size(r->type);
  w->row = r->width * w->size;
  w->gates = tt__recurrent_gates(r->kind);
  w->kept_row = tt__recurrent_kept(r->kind) * w->row;
  w->inner = back ? w->gates * r->width : r->width;
  w->outer = back ? r->width : w->gates * r->width;
  w->sum_row = tt__round_up(w->outer, w->loops->panel) * w->size;
  const int64_t part[] = {w->inner * w->sum_row, r->images * w->sum_row, r->images * w->row, w->gates * w->row,
                          r->images * spare * w->size};
  char **at[] = {&w->packed, &w->sums, &w->carry, &w->none, &w->spare};
  int64_t used = 0;
  for (int k = 0; k < 5; k++) used += tt__round_up(part[k], ALIGN);
  w->bytes = (size_t)used;
  if (!(w->room = tt__mem_alloc_data(w->bytes))) {
    tt__fail_memory(err, w->bytes);
    return false;
  }
  used = 0;
  for (int k = 0; k < 5; k++) {
    *at[k] = w->room + used;
    used += tt__round_up(part[k], ALIGN);
  }
  memset(w->none, 0, (size_t)part[3]);
  if (back)
    w->loops->pack(w->inner, w->outer, r->w, r->width, 1, w->packed);
  else
    w->loops->pack(w->inner, w->outer, r->w, 1, r->width, w->packed);
  return true;
}

/* All images, as few pieces as there are threads: each reads all weights in each step. */
static void go(walk *w, tt_pool_fn images) {
  const tt_recurrent *r = w->r;
  double each = (double)r->steps * (double)w->outer * (double)w->inner + 1;
  int64_t worth = tt__max64(1, (int64_t)(TASK_WORK / each)), share = tt_ceil_div(r->images, tt__pool_size());
  tt__pool_run(r->images, tt__round_up(tt__max64(share, worth), BLOCK), images, w);
}

tt_code tt__recurrent(const tt_recurrent *r, const void *x, const void *h, const void *memory, void *y, void *kept,
                      tt_error *err) {
  walk w = {.x = x, .h = h, .y = y, .kept = kept};
  if (r->images * r->width == 0) return TT_OK;
  const int64_t of_kept = kept ? 0 : tt__recurrent_kept(r->kind), states = r->steps + (r->kind == TT_LSTM);
  if (!begin(&w, r, false, (of_kept + (y ? 0 : states)) * r->width, err)) return TT_ENOMEM;
  if (!y) w.y = w.spare + r->images * of_kept * w.row; /* steps read the states all the same */
  const size_t state = (size_t)(r->images * w.row);
  if (r->kind == TT_LSTM) memcpy(w.carry, memory, state);
  go(&w, forward_images);
  if (r->kind == TT_LSTM) memcpy(w.y + r->steps * r->images * w.row, w.carry, state);
  tt__mem_free_data(w.room, w.bytes);
  return TT_OK;
}

tt_code tt__recurrent_back(const tt_recurrent *r, const void *kept, const void *g, void *sums, void *x, void *h,
                           void *memory, tt_error *err) {
  walk w = {.kept = (char *)(uintptr_t)kept, .g = g, .sums_out = sums, .x_out = x};
  if (r->images * r->width == 0) return TT_OK;
  int64_t gates = tt__recurrent_gates(r->kind) * r->width;
  if (!begin(&w, r, true, 2 * gates, err)) return TT_ENOMEM;
  const size_t state = (size_t)(r->images * w.row);
  memset(w.sums, 0, (size_t)(r->images * w.sum_row));
  memset(w.carry, 0, state);
  if (r->kind == TT_LSTM) memcpy(w.carry, w.g + r->steps * r->images * w.row, state);
  go(&w, back_images);
  for (int64_t i = 0; h && i < r->images; i++) {
    char *to = (char *)h + i * w.row;
    memcpy(to, w.sums + i * w.sum_row, (size_t)w.row);
    if (r->kind == TT_GRU) w.loops->add(r->width, w.carry + i * w.row, to);
  }
  if (r->kind == TT_LSTM && memory) memcpy(memory, w.carry, state);
  tt__mem_free_data(w.room, w.bytes);
  return TT_OK;
}
