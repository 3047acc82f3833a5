/*
** The graphs that we make for cuDNN, heard by a library of our own that keeps what descriptors are told and convolves
** on the host: which of its operations a convolution becomes, engines that are passed over, plans that are kept, what
** is given back, and its failures.
*/
#define TEST_KEEPS_MEMORY
#include "lib/nn/cudnn.h"

#include "base/os/find.h"
#include "base/os/os.h"

#include "conv_layer.h"
#include "fake_device.h"
#include "random.h"
#include "test.h"

enum { ATTRIBUTES = 40, ENGINES = 3, ROOM = 1 << 15 };

/* ---- the library */

typedef struct fake_desc {
  int type, attributes;
  bool done;
  struct {
    int name, type;
    int64_t n;
    char bytes[256];
  } at[ATTRIBUTES];
} fake_desc;

static int alive, planned, called, refuse_plan, fail_with;
static int kinds[16];

static size_t size_of(int type) {
  switch (type) {
    case 1:
    case 4:
    case 7:
    case 8:
    case 11:
    case 14:
    case 18:
      return sizeof(int);
    case 2:
      return 1;
    default:
      return 8;
  }
}

static int lib_create(void **handle) {
  *handle = &alive;
  return 0;
}
static int lib_stream(void *handle, void *stream) {
  CHECK(handle == &alive && !stream);
  return 0;
}
static int desc_create(int type, void **out) {
  fake_desc *d = calloc(1, sizeof *d);
  d->type = type;
  *out = d;
  alive++;
  return 0;
}
static int desc_destroy(void *desc) {
  free(desc);
  alive--;
  return 0;
}
static int desc_set(void *desc, int name, int type, int64_t n, const void *values) {
  fake_desc *d = desc;
  CHECK(!d->done && d->attributes < ATTRIBUTES && n > 0);
  CHECK((size_t)n * size_of(type) <= sizeof d->at[0].bytes);
  d->at[d->attributes].name = name;
  d->at[d->attributes].type = type;
  d->at[d->attributes].n = n;
  memcpy(d->at[d->attributes++].bytes, values, (size_t)n * size_of(type));
  return 0;
}

/* What the descriptor was told; NULL: nothing. */
static const void *told(const fake_desc *d, int name) {
  for (int i = 0; i < d->attributes; i++)
    if (d->at[i].name == name) return d->at[i].bytes;
  return NULL;
}
static const fake_desc *desc_at(const fake_desc *d, int name) {
  const void *p = told(d, name);
  fake_desc *out = NULL;
  if (p) memcpy(&out, p, sizeof out);
  return out;
}
static int64_t int_at(const fake_desc *d, int name, int i) {
  int64_t v = 0;
  memcpy(&v, (const char *)told(d, name) + 8 * i, 8);
  return v;
}

/* The first engine varies from call to call, the second rounds to tf32, the third has nothing against it. */
static int desc_get(void *desc, int name, int type, int64_t room, int64_t *n, void *values) {
  fake_desc *d = desc, *out;
  (void)type;
  if (name == 202) {
    *n = ENGINES;
    for (int i = 0; i < ENGINES; i++) {
      CHECK(room >= ENGINES);
      memcpy(&out, (char *)values + 8 * i, 8);
      const fake_desc *graph = desc_at(d, 201);
      int64_t number = i;
      desc_set(out, -1, 15, 1, &graph);
      desc_set(out, -2, 3, 1, &number);
    }
    return fail_with;
  }
  if (name == 301 || name == 300) {
    memcpy(&out, values, 8);
    int64_t number = int_at(d, -2, 0);
    return desc_set(out, -2, 3, 1, &number);
  }
  if (name == 1303) {
    int64_t number = int_at(d, -2, 0);
    int note = number == 0 ? 4 : 0;
    *n = number < 2;
    memcpy(values, &note, sizeof note);
    return 0;
  }
  CHECK_INT(name, 402);
  int64_t work = 500;
  memcpy(values, &work, 8);
  return 0;
}
static int desc_finish(void *desc) {
  fake_desc *d = desc;
  d->done = true;
  if (d->type != 5) return 0;
  planned++;
  return refuse_plan;
}

typedef struct view {
  const int64_t *len, *step;
  double *f64;
  float *f32;
} view;

static view view_of(const fake_desc *variant, const fake_desc *tensor) {
  view v = {told(tensor, 902), told(tensor, 903), NULL, NULL};
  int type;
  memcpy(&type, told(tensor, 901), sizeof type);
  for (int i = 0; i < 3; i++) {
    if (int_at(variant, 1000, i) != int_at(tensor, 906, 0)) continue;
    void *p;
    memcpy(&p, (const char *)told(variant, 1001) + 8 * i, 8);
    CHECK(((uintptr_t)p & (uintptr_t)(int_at(tensor, 900, 0) - 1)) == 0);
    if (type == 1) v.f64 = p;
    if (type == 0) v.f32 = p;
  }
  CHECK(v.f64 || v.f32);
  return v;
}

static double get(const view *v, int64_t at) { return v->f64 ? v->f64[at] : (double)v->f32[at]; }
static void add(const view *v, int64_t at, double x) {
  if (v->f64) v->f64[at] += x;
  if (v->f32) v->f32[at] += (float)x;
}

typedef struct fake_conv {
  int axes, out; /* out: which of x, w, y is made */
  const int64_t *stride, *dilation, *before;
  bool mirrored;
  view v[3];
} fake_conv;

/* One product of the three tensors' elements: the index of each is that of y, the filter's channel and the tap. */
static void tap(const fake_conv *c, const int64_t *y, int64_t channel, const int64_t *k, int64_t groups) {
  const view *vx = &c->v[0], *vw = &c->v[1], *vy = &c->v[2];
  int64_t each = vw->len[0] / groups, group = y[1] / each;
  int64_t x_at = y[0] * vx->step[0] + (group * vw->len[1] + channel) * vx->step[1];
  int64_t w_at = y[1] * vw->step[0] + channel * vw->step[1], y_at = y[0] * vy->step[0] + y[1] * vy->step[1];
  for (int d = 0; d < c->axes; d++) {
    int64_t at = y[2 + d] * c->stride[d] + k[d] * c->dilation[d] - c->before[d];
    if (at < 0 || at >= vx->len[2 + d]) return;
    x_at += at * vx->step[2 + d];
    w_at += (c->mirrored ? vw->len[2 + d] - 1 - k[d] : k[d]) * vw->step[2 + d];
    y_at += y[2 + d] * vy->step[2 + d];
  }
  if (c->out == 0) add(vx, x_at, get(vy, y_at) * get(vw, w_at));
  if (c->out == 1) add(vw, w_at, get(vx, x_at) * get(vy, y_at));
  if (c->out == 2) add(vy, y_at, get(vx, x_at) * get(vw, w_at));
}

/* All indices of `n` axes: false after the last. */
static bool next(int64_t *index, const int64_t *len, int n) {
  for (int d = n - 1; d >= 0; d--) {
    if (++index[d] < len[d]) return true;
    index[d] = 0;
  }
  return false;
}

static void clear(const view *v, int rank) {
  int64_t index[5] = {0};
  do {
    int64_t at = 0;
    for (int d = 0; d < rank; d++) at += index[d] * v->step[d];
    if (v->f64) v->f64[at] = 0;
    if (v->f32) v->f32[at] = 0;
  } while (next(index, v->len, rank));
}

/* What a forward convolution says of the lengths holds for all three. */
static void check_lengths(const fake_conv *c, const int64_t *after) {
  for (int d = 0; d < c->axes; d++) {
    int64_t room = c->v[0].len[2 + d] + c->before[d] + after[d] - ((c->v[1].len[2 + d] - 1) * c->dilation[d] + 1);
    CHECK(c->before[d] >= 0 && after[d] >= 0 && room >= 0);
    CHECK_INT(room / c->stride[d] + 1, c->v[2].len[2 + d]);
  }
  CHECK_INT(c->v[0].len[0], c->v[2].len[0]);
  CHECK_INT(c->v[1].len[0], c->v[2].len[1]);
  CHECK_INT(c->v[0].len[1] % c->v[1].len[1], 0);
}

static int execute(void *handle, void *plan, void *variant) {
  const fake_desc *graph = desc_at(desc_at(plan, 401), -1), *op = desc_at(graph, 801);
  static const int at[3][4] = {{704, 703, 705, 702}, {716, 715, 717, 714}, {710, 709, 711, 708}};
  CHECK(handle == &alive && op->type >= 10 && op->type <= 12);
  const int *names = at[op->type - 10];
  const fake_desc *how = desc_at(op, names[3]);
  int mode;
  memcpy(&mode, told(how, 101), sizeof mode);
  fake_conv c = {.axes = (int)int_at(how, 106, 0),
                 .out = op->type == 10   ? 2
                        : op->type == 11 ? 1
                                         : 0,
                 .stride = told(how, 103),
                 .dilation = told(how, 102),
                 .before = told(how, 105),
                 .mirrored = mode == 0};
  for (int i = 0; i < 3; i++) c.v[i] = view_of(variant, desc_at(op, names[i]));
  check_lengths(&c, told(how, 104));
  clear(&c.v[c.out], 2 + c.axes);
  int64_t y[5] = {0}, groups = c.v[0].len[1] / c.v[1].len[1];
  do {
    int64_t k[4] = {0};
    do tap(&c, y, k[0], k + 1, groups);
    while (next(k, c.v[1].len + 1, 1 + c.axes));
  } while (next(y, c.v[2].len, 2 + c.axes));
  kinds[op->type]++;
  called++;
  return fail_with;
}

static void *no_stream(tt_device *d, tt_stream *s) {
  (void)d, (void)s;
  return NULL;
}
static tt_code enter(tt_device *d, tt_error *err) {
  (void)d, (void)err;
  return TT_OK;
}

static const tt_interop_ops interop = {.handle = no_stream, .enter = enter, .asked = fake_asked};
static tt_device_ops ops;
static tt_device gpu;
static tt_lib_device on;

static void play(void) {
  static const tt_cudnn fns = {lib_create, lib_stream, desc_create, desc_destroy,
                               desc_set,   desc_get,   desc_finish, execute};
  memcpy(tt__vendor_cudnn.fn, &fns, sizeof fns);
  tt__vendor_cudnn.played = true;
  ops = fake_ops;
  ops.interop = &interop;
  gpu = fake_gpu;
  gpu.ops = &ops;
  on = fake;
  on.device = &gpu;
}

/* ---- the tests */

static double memory[2][ROOM], got[ROOM], want[ROOM];

static void fill(tt_dtype t) {
  for (int m = 0; m < 2; m++)
    for (int i = 0; i < ROOM; i++) {
      double v = (double)((i * 7 + m) % 5 - 2);
      if (t == TT_F64)
        memory[m][i] = v;
      else
        ((float *)memory[m])[i] = (float)v;
    }
}

/* Dense steps of `n` axes whose order is given by `order`, the last of it fastest. */
static void dense(const int *order, const int64_t *len, int n, int64_t *step) {
  int64_t run = 1;
  for (int i = n - 1; i >= 0; i--) {
    step[order[i]] = run;
    run *= len[order[i]];
  }
}

/* Any convolution of the family: x [n g c s], w [g o c k], y [n g o p] or [g o n p]. */
static tt_conv random_conv(tt_dtype t) {
  tt_conv c = {.type = t, .x = memory[0], .w = memory[1], .y = got};
  int axes = 1 + (int)draw_below(3), order[6] = {0, 1, 2, 3, 4, 5}, turned[6] = {1, 2, 0, 3, 4, 5};
  c.images = 1 + draw_below(3), c.groups = 1 + draw_below(2);
  c.channels = 1 + draw_below(3), c.outputs = 1 + draw_below(3);
  bool reversed = draw_below(2);
  for (int d = 0; d < 3; d++) {
    c.axis[d] = (tt_conv_axis){1, 1, 1, 0};
    c.in[d] = c.kernel[d] = c.out[d] = 1;
    if (d < 3 - axes) continue;
    c.in[d] = 1 + draw_below(5), c.kernel[d] = 1 + draw_below(4), c.out[d] = 1 + draw_below(4);
    c.axis[d] = (tt_conv_axis){.stride = 1 + draw_below(2),
                               .dilation = 1 + draw_below(2),
                               .spread = draw_below(3) ? 1 : 2,
                               .pad = draw_below(3)};
  }
  int64_t x[6] = {c.images, c.groups, c.channels, c.in[0], c.in[1], c.in[2]}, xs[6];
  int64_t w[6] = {c.groups, c.outputs, c.channels, c.kernel[0], c.kernel[1], c.kernel[2]}, ws[6];
  int64_t y[6] = {c.images, c.groups, c.outputs, c.out[0], c.out[1], c.out[2]}, ys[6];
  dense(order, x, 6, xs);
  dense(order, w, 6, ws);
  dense(draw_below(2) ? turned : order, y, 6, ys);
  c.x_image = xs[0], c.x_group = xs[1], c.x_channel = xs[2];
  c.w_group = ws[0], c.w_output = ws[1], c.w_channel = ws[2];
  c.y_image = ys[0], c.y_group = ys[1], c.y_output = ys[2];
  for (int d = 0; d < 3; d++) {
    c.x_at[d] = xs[3 + d], c.w_at[d] = ws[3 + d], c.y_at[d] = ys[3 + d];
    if (!reversed) continue;
    c.w = (const char *)c.w + (c.kernel[d] - 1) * c.w_at[d] * (int64_t)tt__dtype_size(t);
    c.w_at[d] = -c.w_at[d];
  }
  return c;
}

/* True: the library did it, and as the host does. */
static bool agrees(tt_conv c) {
  memset(got, 0x11, sizeof got);
  memset(want, 0x11, sizeof want);
  tt_code code = tt__cudnn_convolve(&on, &c, true, NULL);
  fake_end();
  if (code == TT_ENOTIMPL) return false;
  CHECK_INT(code, TT_OK);
  c.y = want;
  CHECK_INT(tt__convolve(&c, NULL), TT_OK);
  CHECK(memcmp(got, want, sizeof got) == 0);
  return true;
}

/* One that a layer asks for. */
static tt_conv random_layer(tt_dtype t) {
  conv_layer l = {
      1 + draw_below(3), 1 + draw_below(2), 1 + draw_below(3), 1 + draw_below(3), {1, 1, 1}, {1, 1, 1}, 0, 0, 0};
  int axes = 1 + (int)draw_below(3);
  l.stride = 1 + draw_below(2), l.dilation = 1 + draw_below(2), l.pad = draw_below(3);
  for (int d = 3 - axes; d < 3; d++)
    l.kernel[d] = 1 + draw_below(3), l.in[d] = 2 + (l.kernel[d] - 1) * l.dilation + draw_below(4);
  return layer_call(&l, t, (int)draw_below(3), memory[0], memory[1], got);
}

TEST(random_convolutions) {
  play();
  int done = 0, layers = 0;
  for (int i = 0; i < 4000; i++) {
    tt_dtype t = i % 2 ? TT_F32 : TT_F64;
    fill(t);
    done += agrees(random_conv(t));
    layers += agrees(random_layer(t));
  }
  CHECK(done > 400 && layers > 3000 && called == done + layers);
  CHECK(kinds[10] > 500 && kinds[11] > 500 && kinds[12] > 500);
}

static tt_conv layer(int kind) {
  static const conv_layer l = {2, 1, 3, 4, {1, 7, 8}, {1, 3, 3}, 2, 1, 1};
  return layer_call(&l, TT_F32, kind, memory[0], memory[1], got);
}

TEST(each_part_of_a_layer_is_its_own_operation) {
  play();
  fill(TT_F32);
  static const int of[3] = {[LAYER_FORWARD] = 10, [LAYER_BACK_DATA] = 12, [LAYER_BACK_FILTER] = 11};
  for (int kind = LAYER_FORWARD; kind <= LAYER_BACK_FILTER; kind++) {
    int before = kinds[of[kind]];
    CHECK(agrees(layer(kind)));
    CHECK_INT(kinds[of[kind]] - before, 1);
  }
}

TEST(plans_are_kept) {
  play();
  fill(TT_F32);
  int before = planned, held = alive;
  for (int i = 0; i < 5; i++) CHECK(agrees(layer(LAYER_FORWARD)));
  CHECK(planned - before <= 1 && alive - held <= 16);
  for (int i = 0; i < 3000; i++) agrees(random_conv(TT_F32));
  CHECK(alive <= 256 * 16);
}

TEST(what_the_library_refuses) {
  play();
  fill(TT_F32);
  tt_conv c = layer(LAYER_FORWARD);
  int before;
  c.x_at[2] = 1, c.out[2] = 3; /* nobody has asked for this */
  refuse_plan = 3000;
  CHECK_INT(tt__cudnn_convolve(&on, &c, true, NULL), TT_ENOTIMPL);
  before = planned;
  CHECK_INT(tt__cudnn_convolve(&on, &c, true, NULL), TT_ENOTIMPL);
  CHECK_INT(planned, before); /* and nobody asks again */
  refuse_plan = 0;
  c = layer(LAYER_FORWARD);
  CHECK(agrees(c));
  fail_with = 5000;
  CHECK_INT(tt__cudnn_convolve(&on, &c, true, NULL), TT_EDEVICE);
  fail_with = 0;
  c.type = TT_I32;
  CHECK_INT(tt__cudnn_convolve(&on, &c, true, NULL), TT_ENOTIMPL);
  fake_end();
}

/* Where the library is, with a device or without, it has what we call. */
TEST(names_are_theirs) {
  char path[600];
  void *lib = tt__find_library(tt__vendor_cudnn.stem, NULL, NULL, path, sizeof path);
  if (!lib) printf("skipped: %s\n", path);
  for (int i = 0; lib && i < tt__vendor_cudnn.n; i++) CHECK(tt__lib_sym(lib, tt__vendor_cudnn.name[i]));
}

TEST_MAIN()
