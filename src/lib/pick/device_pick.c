/*
** Results that are as long as the data say, on a device (pick.text.h).
*/
#include <stdint.h>
#include <string.h>

#include "lib/device_call.h"
#include "lib/device_rows.h"
#include "lib/sort/device.h"
#include "lib/sort/unique.h"

enum { REPEAT_ITEMS = 16, WORDS = 2, ROUNDS = 4, VEC = 4, RESIDENT = 1024, MOST_LENT = 2048 };

/* As pick.text.h has it. */
typedef struct pick_args {
  const void *in;
  const int64_t *place;
  const void *beside;
  int64_t *count;
  void *value;
  int64_t *start, *index, *inverse;
  void *ticket, *sum, *before;
  int64_t n, blocks, m, ahead;
} pick_args;
enum { POINTERS = 11 };

/* Threads of a block, and of the one block of pick_places; elements of a thread while they are of 4 bytes. */
static int threads_of(const tt_lib_device *on) { return tt__device_shape_of(on)->pick_threads; }
static int places_threads(const tt_lib_device *on) { return threads_of(on) > 1 ? 4 * threads_of(on) : 1; }
static int repeat_items(const tt_lib_device *on) { return on->device->target.serial ? 4096 : REPEAT_ITEMS; }

static tt_code launch(tt_device_text *d, const char *name, int64_t blocks, const pick_args *a, tt_error *err) {
  return tt__device_launch(d, name, blocks, threads_of(d->on), a, sizeof *a, err);
}

/* Room for m elements of a result. */
static tt_code room(const tt_lib_device *on, tt_made *out, tt_dtype t, int64_t m, tt_error *err) {
  *out = (tt_made){.n = m, .dtype = t};
  return m ? on->result(on, (size_t)m * tt__dtype_size(t), &out->data, err) : TT_OK;
}

/* ---- picking */

/* A result that has an element for each one that is picked. */
typedef struct part {
  void **at;     /* in the arguments */
  tt_made *made; /* NULL: for the length of the call */
  size_t size;   /* of an element */
} part;

typedef struct picking {
  tt_device_text d;
  pick_args a;
  part part[4];
  int nparts, items;
  bool waits;              /* no tile is looked at twice: sums are not ahead */
  const void *lent;        /* what stands behind the arguments */
  size_t lent_size, bytes; /* of the messages */
} picking;

static void add_part(picking *p, void *at, tt_made *made, tt_dtype t) {
  p->part[p->nparts++] = (part){at, made, tt__dtype_size(t)};
  if (made) made->dtype = t;
}

static void define_threads(tt_device_text *d) {
  tt__device_define(d, "THREADS", "%d", threads_of(d->on));
  tt__device_define(d, "PLACES_THREADS", "%d", places_threads(d->on));
}

/* Elements of a thread, each of `size` bytes on its way. */
static void define_tiles(picking *p, size_t size, int vec) {
  const tt_device_shape *shape = tt__device_shape_of(p->d.on);
  p->items = shape->pick_items * 4 / (int)(size < 4 ? 4 : size);
  define_threads(&p->d);
  tt__device_define(&p->d, "ITEMS", "%d", p->items);
  tt__device_define(&p->d, "VEC", "%d", vec);
  tt__device_define(&p->d, "RESIDENT", "%d", RESIDENT);
  tt__device_define(&p->d, "A", "tt_u64");
  tt__device_define(&p->d, "WORDS", "%d", WORDS);
  tt__device_define(&p->d, "OP(x, y)", "((x) + (y))");
  tt__device_define(&p->d, "START", "((A)0)");
  tt__device_define(&p->d, "ROUNDS", "%d", ROUNDS);
  if (!p->waits) tt__device_define(&p->d, "AHEAD", "1");
}

/* Memory for the messages of all tiles, and for how many are picked. */
static tt_code messages(picking *p, tt_error *err) {
  pick_args *a = &p->a;
  const tt_lib_device *on = p->d.on;
  int64_t tile = (int64_t)threads_of(on) * p->items;
  a->blocks = tt_ceil_div(a->n, tile);
  if (a->blocks > INT32_MAX / 2) return tt__fail(err, TT_ENOTIMPL, "pick: too many tiles");
  int64_t groups = tt_ceil_div(a->blocks, tt__device_warp(on) * ROUNDS);
  a->ahead = p->waits ? 0 : tt__device_ahead(on, a->blocks, 4 * tile, tt__device_shape_of(on)->pick_ahead);
  p->bytes = (size_t)(2 + (a->blocks + groups) * WORDS) * sizeof(int64_t);
  TT_TRY(on->temp(on, p->bytes, &a->ticket, err));
  a->count = (int64_t *)a->ticket + 1;
  a->sum = (int64_t *)a->ticket + 2;
  a->before = (int64_t *)a->sum + a->blocks * WORDS;
  return TT_OK;
}

static tt_code run_pick(picking *p, tt_error *err) {
  const tt_lib_device *on = p->d.on;
  _Alignas(8) char args[sizeof p->a + MOST_LENT];
  if (p->lent_size > MOST_LENT) return tt__fail(err, TT_ENOTIMPL, "pick: too many arguments");
  memcpy(args, &p->a, sizeof p->a);
  if (p->lent_size) memcpy(args + sizeof p->a, p->lent, p->lent_size);
  TT_TRY(tt__device_fill(on, p->a.ticket, 0, p->bytes, err));
  TT_TRY(tt__device_launch(&p->d, "pick", p->a.ahead ? 2 * p->a.blocks : p->a.blocks, threads_of(on), args,
                           sizeof p->a + p->lent_size, err));
  return on->read(on, &p->a.m, p->a.count, sizeof p->a.m, err);
}

static tt_code rooms(picking *p, int64_t m, tt_error *err) {
  const tt_lib_device *on = p->d.on;
  for (int k = 0; k < p->nparts; k++) {
    size_t bytes = (size_t)m * p->part[k].size;
    if (bytes)
      TT_TRY(p->part[k].made ? on->result(on, bytes, p->part[k].at, err) : on->temp(on, bytes, p->part[k].at, err));
  }
  return TT_OK;
}

static void shrink(picking *p, int64_t m) {
  for (int k = 0; k < p->nparts; k++)
    if (p->part[k].made && *p->part[k].at) p->d.on->shrink(p->d.on, *p->part[k].at, (size_t)m * p->part[k].size);
}

/*
** Pick into results as long as the operands, and give back what was too much. Where there is no room for that: count
** first.
*/
static tt_code pick(picking *p, tt_error *err) {
  tt_error why = {0};
  TT_TRY(messages(p, err));
  tt_code c = rooms(p, p->a.n, &why);
  if (c == TT_ENOMEM) {
    shrink(p, 0);
    for (int k = 0; k < p->nparts; k++) *p->part[k].at = NULL;
    TT_TRY(run_pick(p, err));
    TT_TRY(rooms(p, p->a.m, err));
    if (p->a.m) TT_TRY(run_pick(p, err));
  } else if (c != TT_OK) {
    *err = why;
    return c;
  } else {
    TT_TRY(run_pick(p, err));
    shrink(p, p->a.m);
  }
  for (int k = 0; k < p->nparts; k++) {
    tt_made *made = p->part[k].made;
    if (made) *made = (tt_made){.data = p->a.m ? *p->part[k].at : NULL, .n = p->a.m, .dtype = made->dtype};
  }
  return TT_OK;
}

/* ---- what is not zero: its places, or the values beside it */

static const char *nonzero_of(tt_dtype t) {
  if (t == TT_F16 || t == TT_BF16) return "((x) & 0x7fff)";
  return tt__is_complex(t) ? "((x).re != 0 || (x).im != 0)" : "((x) != 0)";
}

/* Bytes that VEC elements may be taken to be aligned to; 0: they are not. */
static int line_of(const void *p, size_t size) {
  size_t line = tt__vector_align(VEC, size);
  return (uintptr_t)p % line == 0 ? (int)line : 0;
}

static tt_code pick_nonzero(const tt_lib_device *on, const tt_operand *src, const tt_operand *value, tt_made *out,
                            tt_error *err) {
  picking p = {.d = {.on = on, .text = tt__text_pick, .above = tt__text_back, .pointers = POINTERS}};
  tt_dtype t = src->dtype, v = value ? value->dtype : TT_I64;
  size_t size = value ? tt__dtype_size(v) : 4;
  int vec = on->producer ? on->producer->vec : VEC, line = 1, value_line = 1;
  if (!tt__device_has_tiles(on)) return TT_ENOTIMPL;
  *out = (tt_made){.dtype = v};
  if (src->size == 0) return TT_OK;
  if (!on->producer) {
    line = line_of(src->data, tt__dtype_size(t));
    value_line = value ? line_of(value->data, size) : 1;
    if (!line || !value_line) vec = line = value_line = 1;
  }
  p.waits = on->producer && on->producer->scalar; /* too much to compute it twice */
  p.d.scalar = on->producer ? on->producer->scalar : TT_SCALAR_PLAIN;
  if (on->producer) tt__device_add(&p.d, on->producer->text);
  tt__device_define_type(&p.d, t);
  if (value) tt__device_define(&p.d, "V", "%s", tt__device_type(v));
  tt__device_define(&p.d, "NONZERO(x)", "%s", nonzero_of(t));
  tt__device_define(&p.d, "LINE", "%d", line);
  tt__device_define(&p.d, "VALUE_LINE", "%d", value_line);
  define_tiles(&p, size, vec);
  p.a.n = src->size;
  p.a.in = src->data;
  p.a.beside = value ? value->data : NULL;
  p.lent = on->producer ? on->producer->args : NULL;
  p.lent_size = on->producer ? on->producer->size : 0;
  add_part(&p, &p.a.value, out, v);
  tt_code c = pick(&p, err);
  tt__device_done(&p.d);
  return c;
}

tt_code tt__device_nonzero(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                           tt_error *err) {
  (void)attr;
  return pick_nonzero(on, src, NULL, out, err);
}

tt_code tt__device_compress(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                            tt_error *err) {
  (void)attr;
  return pick_nonzero(on, &src[0], &src[1], out, err);
}

/* ---- repetition */

/* Run `count`, which leaves a number for each block; a->m is then their sum. TT_ENOTIMPL when there was a fault. */
static tt_code find_places(tt_device_text *d, pick_args *a, const char *count, tt_error *err) {
  const tt_lib_device *on = d->on;
  int64_t tail[2];
  a->blocks = tt_ceil_div(a->n, threads_of(on) * (int64_t)repeat_items(on));
  TT_TRY(on->temp(on, (size_t)(a->blocks + 2) * sizeof(int64_t), (void **)&a->count, err));
  TT_TRY(tt__device_fill(on, a->count + a->blocks, 0, sizeof tail, err));
  TT_TRY(launch(d, count, a->blocks, a, err));
  TT_TRY(tt__device_launch(d, "pick_places", 1, places_threads(on), a, sizeof *a, err));
  TT_TRY(on->read(on, tail, a->count + a->blocks, sizeof tail, err));
  a->m = tail[0];
  return tail[1] ? tt__fail(err, TT_ENOTIMPL, "the host says what is wrong") : TT_OK;
}

tt_code tt__device_repeat_index(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                                tt_error *err) {
  (void)attr;
  if (!tt__device_has_tiles(on)) return TT_ENOTIMPL;
  *out = (tt_made){.dtype = TT_I64};
  if (src->size == 0) return TT_OK;
  tt_device_text d = {.on = on, .text = tt__text_pick, .pointers = POINTERS};
  tt__device_define_type(&d, TT_I64);
  define_threads(&d);
  tt__device_define(&d, "REPEAT", "1");
  tt__device_define(&d, "ITEMS", "%d", repeat_items(on));
  pick_args a = {.in = src->data, .n = src->size};
  tt_code c = find_places(&d, &a, "repeat_sum", err);
  if (c == TT_OK) c = on->temp(on, (size_t)a.n * sizeof(int64_t), (void **)&a.start, err);
  if (c == TT_OK) c = launch(&d, "repeat_start", a.blocks, &a, err);
  if (c == TT_OK) c = room(on, out, TT_I64, a.m, err);
  a.index = out->data;
  if (c == TT_OK) c = launch(&d, "repeat_fill", tt__device_blocks(on, a.m, threads_of(on)), &a, err);
  tt__device_done(&d);
  return c;
}

/* ---- distinct elements */

static void define_unique(tt_device_text *d, tt_dtype t, bool equal_nan) {
  tt__device_define_type(d, t);
  tt__device_define(d, "UNIQUE", "1");
  tt__device_define(d, "JOIN", "%d", equal_nan);
  if (t == TT_F16 || t == TT_BF16) { /* zeros of both signs are one value */
    tt__device_define(d, "IS_NAN(x)", "(((x) & 0x7fff) > 0x%x)", t == TT_F16 ? 0x7c00 : 0x7f80);
    tt__device_define(d, "DIFFERS(x, y)", "((x) != (y) && (((x) | (y)) & 0x7fff))");
  } else if (tt__is_complex(t)) {
    tt__device_define(d, "IS_NAN(x)", "((x).re != (x).re || (x).im != (x).im)");
    tt__device_define(d, "DIFFERS(x, y)", "((x).re != (y).re || (x).im != (y).im)");
  } else {
    tt__device_define(d, "IS_NAN(x)", "((x) != (x))");
    tt__device_define(d, "DIFFERS(x, y)", "((x) != (y))");
  }
}

/* The elements in order, and when `places` where they were. */
static tt_code sort_elements(const tt_lib_device *on, const tt_operand *src, bool places, pick_args *a, tt_error *err) {
  size_t n = (size_t)src->size;
  void *sorted;
  int64_t *place = NULL;
  TT_TRY(on->temp(on, n * tt__dtype_size(src->dtype), &sorted, err));
  a->in = sorted;
  if (!places) return tt__device_sort_rows(on, src->dtype, src->data, sorted, 1, src->size, false, err);
  TT_TRY(on->temp(on, n * sizeof *place, (void **)&place, err));
  a->place = place;
  return tt__device_argsort_rows(on, src->dtype, src->data, NULL, place, sorted, 1, src->size, false, err);
}

tt_code tt__device_unique(const tt_lib_device *on, const tt_lib_attr *attr, const tt_operand *src, tt_made *out,
                          tt_error *err) {
  int want = (int)attr->i[0];
  picking p = {.d = {.on = on, .text = tt__text_pick, .above = tt__text_back, .pointers = POINTERS}, .a.n = src->size};
  pick_args *a = &p.a;
  if (!tt__device_has_tiles(on) || src->size >= UINT32_MAX) return TT_ENOTIMPL;
  for (int k = 0; k < 4; k++) out[k] = (tt_made){.dtype = k ? TT_I64 : src->dtype};
  if (src->size == 0) return TT_OK;
  TT_TRY(sort_elements(on, src, (want & (TT_UNIQUE_INDEX | TT_UNIQUE_INVERSE)) != 0, a, err));
  define_unique(&p.d, src->dtype, attr->i[1] != 0);
  define_tiles(&p, tt__dtype_size(src->dtype), 1);
  add_part(&p, &a->value, &out[0], src->dtype);
  if (want & TT_UNIQUE_INDEX) add_part(&p, &a->index, &out[1], TT_I64);
  if (want & TT_UNIQUE_COUNTS) add_part(&p, &a->start, NULL, TT_I64);
  tt_code c = want & TT_UNIQUE_INVERSE ? room(on, &out[2], TT_I64, a->n, err) : TT_OK;
  a->inverse = out[2].data;
  if (c == TT_OK) c = pick(&p, err);
  if (c == TT_OK && want & TT_UNIQUE_COUNTS) {
    c = room(on, &out[3], TT_I64, a->m, err);
    a->index = out[3].data;
    if (c == TT_OK) c = launch(&p.d, "pick_lengths", tt_ceil_div(a->m, threads_of(on)), a, err);
  }
  tt__device_done(&p.d);
  return c;
}
