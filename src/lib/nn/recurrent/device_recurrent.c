/*
** Recurrent networks on devices, a launch a step: the steps stand in one stream, each reads what the one before wrote.
*/
#include "lib/device_call.h"
#include "lib/nn/device.h"

extern const char tt__text_recurrent[];

enum { UNITS = 8, LINES = 16, FEW_LINES = 8, MANY = 4, SHARES = 8, FEW_TERMS = 32 };

/* As recurrent.text.h has it. */
typedef struct recurrent_args {
  const void *w, *left, *x, *bias, *memory;
  void *carry, *kept, *y, *dx, *h;
  int64_t images, width, inner, tiles;
} recurrent_args;

/* A walk over the steps: the text, and bytes of a row of states of all images. */
typedef struct steps_there {
  const tt_recurrent *r;
  tt_device_text text;
  recurrent_args args;
  int64_t gates, row, blocks;
  int threads;
} steps_there;

static void *moved(const void *p, int64_t bytes) { return p ? (char *)(uintptr_t)p + bytes : NULL; }

/* A thread takes several images where there are blocks enough all the same. */
static int images_of_thread(const tt_lib_device *on, const tt_recurrent *r, int64_t tiles) {
  return tt_ceil_div(r->images, LINES * MANY) * tiles >= 2 * (int64_t)on->device->target.units ? MANY : 1;
}

static tt_code begin(steps_there *s, const tt_lib_device *on, const tt_recurrent *r, bool back, tt_error *err) {
  const bool is_double = r->type == TT_F64;
  const int64_t tiles = tt_ceil_div(r->width, UNITS);
  const int each = images_of_thread(on, r, tiles);
  /* Few blocks wait for memory and for each other: then several threads share a sum, and terms come many at a time. */
  const int shares = each == 1 ? SHARES : 1, lines = each == 1 ? FEW_LINES : LINES;
  *s = (steps_there){.r = r,
                     .text = {.on = on, .text = tt__text_recurrent, .scalar = TT_SCALAR_MATH},
                     .gates = tt__recurrent_gates(r->kind),
                     .row = r->images * r->width * (int64_t)tt__dtype_size(r->type),
                     .blocks = tiles * tt_ceil_div(r->images, lines * each)};
  const int64_t inner = back ? s->gates * r->width : r->width;
  const int slab = shares == 1 || inner <= FEW_TERMS ? FEW_TERMS : is_double ? 64 : 128;
  s->threads = UNITS * lines * shares;
  if (s->blocks > INT32_MAX) return tt__fail(err, TT_ENOTIMPL, "recurrent: too many images");
  s->args = (recurrent_args){.w = r->w, .bias = r->bias, .images = r->images, .width = r->width, .tiles = tiles};
  s->args.inner = inner;
  tt__device_define_type(&s->text, r->type);
  tt__device_define(&s->text, "FMA(a, b, c)", "TT_FMA_%s(a, b, c)", is_double ? "F64" : "F32");
  tt__device_define(&s->text, "EXP(x)", "tt_exp_%s(x)", is_double ? "f64" : "f32");
  tt__device_define(&s->text, "TANH(x)", "tt_tanh_%s(x)", is_double ? "f64" : "f32");
  tt__device_define(&s->text, "KIND", "%d", (int)r->kind);
  tt__device_define(&s->text, "GATES", "%d", (int)s->gates);
  tt__device_define(&s->text, "KEPT", "%d", (int)tt__recurrent_kept(r->kind));
  tt__device_define(&s->text, "BACK", "%d", back);
  tt__device_define(&s->text, "EACH", "%d", each);
  tt__device_define(&s->text, "LINES", "%d", lines);
  tt__device_define(&s->text, "SHARES", "%d", shares);
  tt__device_define(&s->text, "SLAB", "%d", slab);
  return TT_OK;
}

static tt_code launch(steps_there *s, tt_error *err) {
  return tt__device_launch(&s->text, "recurrent_step", s->blocks, s->threads, &s->args, sizeof s->args, err);
}

static tt_code forward(steps_there *s, const void *x, const void *h, const void *memory, void *y, void *kept,
                       tt_error *err) {
  const tt_recurrent *r = s->r;
  const int64_t of_kept = tt__recurrent_kept(r->kind) * s->row;
  s->args.left = h;
  s->args.memory = memory;
  s->args.carry = moved(y, r->steps * s->row);
  for (int64_t k = 0; k < r->steps; k++) {
    const int64_t at = tt__recurrent_place(r, k);
    s->args.x = moved(x, at * s->gates * s->row);
    s->args.kept = moved(kept, at * of_kept);
    s->args.y = moved(y, at * s->row);
    TT_TRY(launch(s, err));
    s->args.left = s->args.y;
    s->args.memory = s->args.carry;
  }
  return TT_OK;
}

tt_code tt__recurrent_device(const tt_lib_device *on, const tt_recurrent *r, const void *x, const void *h,
                             const void *memory, void *y, void *kept, tt_error *err) {
  if (r->images * r->width == 0) return TT_OK;
  if (r->steps == 0) return tt__fail(err, TT_ENOTIMPL, "recurrent: no steps");
  steps_there s;
  TT_TRY(begin(&s, on, r, false, err));
  tt_code code = y ? TT_OK : on->temp(on, (size_t)((r->steps + 1) * s.row), &y, err); /* steps read states */
  if (code == TT_OK) code = forward(&s, x, h, memory, y, kept, err);
  tt__device_done(&s.text);
  return code;
}

/* `room`: for sums that nobody asks for, of two steps. */
static tt_code back(steps_there *s, const void *kept, const void *g, void *sums, void *x, void *room, tt_error *err) {
  const tt_recurrent *r = s->r;
  const int64_t of_kept = tt__recurrent_kept(r->kind) * s->row;
  if (r->kind == TT_LSTM) s->args.memory = moved(g, r->steps * s->row);
  for (int64_t k = r->steps - 1; k >= 0; k--) {
    const int64_t at = tt__recurrent_place(r, k);
    s->args.x = moved(g, at * s->row);
    s->args.kept = moved(kept, at * of_kept);
    s->args.y = sums ? moved(sums, at * s->gates * s->row) : moved(room, k % 2 * s->gates * s->row);
    s->args.dx = moved(x, at * s->gates * s->row);
    TT_TRY(launch(s, err));
    s->args.left = s->args.y;
    s->args.memory = s->args.carry;
  }
  s->args.y = NULL;
  return s->args.h ? launch(s, err) : TT_OK;
}

tt_code tt__recurrent_back_device(const tt_lib_device *on, const tt_recurrent *r, const void *kept, const void *g,
                                  void *sums, void *x, void *h, void *memory, tt_error *err) {
  if (r->images * r->width == 0) return TT_OK;
  if (r->steps == 0) return tt__fail(err, TT_ENOTIMPL, "recurrent: no steps");
  steps_there s;
  void *room = NULL;
  TT_TRY(begin(&s, on, r, true, err));
  s.args.h = h;
  s.args.carry = r->kind == TT_LSTM ? memory : NULL;
  tt_code code = s.args.carry ? TT_OK : on->temp(on, (size_t)s.row, &s.args.carry, err);
  if (code == TT_OK && !sums) code = on->temp(on, 2 * (size_t)(s.gates * s.row), &room, err);
  if (code == TT_OK) code = back(&s, kept, g, sums, x, room, err);
  tt__device_done(&s.text);
  return code;
}
