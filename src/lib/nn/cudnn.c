/*
** Calls of cuDNN's graph interface: descriptors from one table, and plans in a table of fixed size that forgets what
** was not used for longest.
*/
#include "lib/nn/cudnn.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "lib/device_call.h"

#define MOST_KEPT 256 /* in sets of WAYS */
#define WAYS 4
#define MOST_CHOICES 160              /* those that do not keep our promises come first */
#define WORK_BYTES ((int64_t)2 << 30) /* most scratch an engine may ask for */

/* cuDNN's numbers, those that we say. */
enum { TYPE_HANDLE = 0, TYPE_DATA, TYPE_BOOLEAN, TYPE_INT64, TYPE_FLOAT, TYPE_DOUBLE, TYPE_POINTER, TYPE_CONV_MODE };
enum { TYPE_HEUR_MODE = 8, TYPE_NOTE = 11, TYPE_POINTWISE_MODE = 14, TYPE_DESC = 15, TYPE_REDUCTION = 18 };
enum { DESC_POINTWISE = 0, DESC_CONV = 1, DESC_ENGINE = 2, DESC_CHOICE = 3, DESC_HEUR = 4, DESC_PLAN = 5 };
enum { DESC_GRAPH = 15, DESC_VARIANT = 16, DESC_TENSOR = 17, DESC_MATMUL = 18, DESC_REDUCTION = 21 };
enum { POINTWISE_MODE = 0, POINTWISE_TYPE = 1, POINTWISE_AXIS = 9 };
enum { CONV_TYPE = 100, CONV_MODE, CONV_DILATIONS, CONV_STRIDES, CONV_AFTER, CONV_BEFORE, CONV_AXES };
enum { HEUR_MODE = 200, HEUR_GRAPH, HEUR_RESULTS, CHOICE_ENGINE = 300, PLAN_CHOICE = 401, PLAN_WORK = 402 };
enum { PLAN_HANDLE = 400, GRAPH_HANDLE = 800, GRAPH_OPS = 801, ENGINE_NOTE = 1303 };
enum { TENSOR_ALIGN = 900, TENSOR_TYPE, TENSOR_LEN, TENSOR_STEP, TENSOR_UID = 906, TENSOR_VIRTUAL, TENSOR_VALUE };
enum { VARIANT_UIDS = 1000, VARIANT_POINTERS, VARIANT_WORK = 1003 };
enum { MATMUL_TYPE = 1500, REDUCTION_MODE = 1600, REDUCTION_TYPE = 1601 };
enum { NOTE_TENSOR_CORE = 0, NOTE_DOWN_CONVERT, NOTE_SHORT_SUMS, NOTE_FFT, NOTE_VARIES, NOTES = 16 };
enum { HEUR_FALLBACK = 2, HEUR_A = 3 };

static const char *const names[] = {
#define TT_CUDNN_FN(field, symbol, params) symbol,
#include "lib/nn/cudnn_api.def"
#undef TT_CUDNN_FN
};
enum { NAMES = sizeof names / sizeof *names };
_Static_assert(sizeof(tt_cudnn) == NAMES * sizeof(tt_vendor_fn), "one pointer a row");

static tt_cudnn api;
tt_vendor tt__vendor_cudnn = {
    .stem = "libcudnn.so", .name = names, .n = NAMES, .fn = (tt_vendor_fn *)&api, .lock = TT_LOCK_INIT};

int tt__cudnn_type(tt_dtype t) {
  switch (t) {
    case TT_F16:
      return TT_CUDNN_F16;
    case TT_BF16:
      return TT_CUDNN_BF16;
    case TT_F32:
      return TT_CUDNN_F32;
    case TT_F64:
      return TT_CUDNN_F64;
    default:
      return -1;
  }
}

/* How an operation is said: its descriptor, that of what it does, and the attributes for each. */
typedef struct op_row {
  int desc, what, what_at; /* what: the descriptor of the arithmetic, or -1 */
  int type, mode, mode_type, axis;
  int in[3], out;
  int alpha, beta; /* factors that have to be said, or 0 */
} op_row;

static const op_row op_rows[] = {
    [TT_CUDNN_FORWARD] =
        {.desc = 10, .what = DESC_CONV, .what_at = 702, .in = {704, 703}, .out = 705, .alpha = 700, .beta = 701},
    [TT_CUDNN_BACK_DATA] =
        {.desc = 12, .what = DESC_CONV, .what_at = 708, .in = {711, 709}, .out = 710, .alpha = 706, .beta = 707},
    [TT_CUDNN_BACK_FILTER] =
        {.desc = 11, .what = DESC_CONV, .what_at = 714, .in = {716, 717}, .out = 715, .alpha = 712, .beta = 713},
    [TT_CUDNN_POINTWISE] = {.desc = 13,
                            .what = DESC_POINTWISE,
                            .what_at = 750,
                            .type = POINTWISE_TYPE,
                            .mode = POINTWISE_MODE,
                            .mode_type = TYPE_POINTWISE_MODE,
                            .axis = POINTWISE_AXIS,
                            .in = {751, 752, 758},
                            .out = 753},
    [TT_CUDNN_MATMUL] =
        {.desc = 19, .what = DESC_MATMUL, .what_at = 1523, .type = MATMUL_TYPE, .in = {1520, 1521}, .out = 1522},
    [TT_CUDNN_REDUCTION] = {.desc = 22,
                            .what = DESC_REDUCTION,
                            .what_at = 1612,
                            .type = REDUCTION_TYPE,
                            .mode = REDUCTION_MODE,
                            .mode_type = TYPE_REDUCTION,
                            .in = {1610},
                            .out = 1611},
    [TT_CUDNN_RESHAPE] = {.desc = 31, .what = -1, .in = {2200}, .out = 2201},
};

/* ---- kept plans, guarded by the vendor's lock */

enum { MOST_DESCS = TT_CUDNN_TENSORS + 2 * TT_CUDNN_OPS + 4 };

typedef struct kept {
  tt_device *device;
  uint64_t used; /* 0: free */
  int status;    /* what kept it from having a plan */
  int64_t work;
  void *plan;
  void *desc[MOST_DESCS]; /* all that the plan stands on */
  int descs;
  tt_cudnn_graph graph;
} kept;

static kept *table[MOST_KEPT];
static uint64_t turn;

/* A descriptor that the entry owns. */
static int make(kept *e, int type, void **out) {
  int status = api.desc_create(type, out);
  if (!status) e->desc[e->descs++] = *out;
  return status;
}

static void drop(kept *e) {
  while (e->descs > 0) api.desc_destroy(e->desc[--e->descs]);
  memset(e, 0, sizeof *e);
}

static int set_int(void *desc, int name, int type, int value) { return api.desc_set(desc, name, type, 1, &value); }

static int set_desc(void *desc, int name, void *value) { return api.desc_set(desc, name, TYPE_DESC, 1, &value); }

/* ---- descriptors */

static int make_tensor(kept *e, int at, void **out) {
  const tt_cudnn_tensor *t = &e->graph.tensor[at];
  int64_t uid = at + 1, align = t->align;
  bool yes = true;
  int status = make(e, DESC_TENSOR, out);
  if (!status) status = set_int(*out, TENSOR_TYPE, TYPE_DATA, t->type);
  if (!status) status = api.desc_set(*out, TENSOR_LEN, TYPE_INT64, e->graph.rank, t->len);
  if (!status) status = api.desc_set(*out, TENSOR_STEP, TYPE_INT64, e->graph.rank, t->step);
  if (!status) status = api.desc_set(*out, TENSOR_UID, TYPE_INT64, 1, &uid);
  if (!status) status = api.desc_set(*out, TENSOR_ALIGN, TYPE_INT64, 1, &align);
  if (!status && t->place == TT_CUDNN_VIRTUAL) status = api.desc_set(*out, TENSOR_VIRTUAL, TYPE_BOOLEAN, 1, &yes);
  if (!status && t->place == TT_CUDNN_VALUE) status = api.desc_set(*out, TENSOR_VALUE, TYPE_BOOLEAN, 1, &yes);
  return status ? status : api.desc_finish(*out);
}

static int say_convolution(const tt_cudnn_graph *g, void *desc) {
  int64_t axes = g->rank - 2;
  int sums = g->tensor[0].type == TT_CUDNN_F64 ? TT_CUDNN_F64 : TT_CUDNN_F32;
  int status = set_int(desc, CONV_TYPE, TYPE_DATA, sums);
  if (!status) status = set_int(desc, CONV_MODE, TYPE_CONV_MODE, g->mirrored ? 0 : 1);
  if (!status) status = api.desc_set(desc, CONV_AXES, TYPE_INT64, 1, &axes);
  if (!status) status = api.desc_set(desc, CONV_DILATIONS, TYPE_INT64, axes, g->dilation);
  if (!status) status = api.desc_set(desc, CONV_STRIDES, TYPE_INT64, axes, g->stride);
  if (!status) status = api.desc_set(desc, CONV_BEFORE, TYPE_INT64, axes, g->before);
  if (!status) status = api.desc_set(desc, CONV_AFTER, TYPE_INT64, axes, g->after);
  return status;
}

/* What the operation does. */
static int make_what(kept *e, const op_row *row, const tt_cudnn_op *op, void **out) {
  int64_t axis = op->axis;
  int status = make(e, row->what, out);
  if (!status && row->what == DESC_CONV) status = say_convolution(&e->graph, *out);
  if (!status && row->what != DESC_CONV) status = set_int(*out, row->type, TYPE_DATA, op->type);
  if (!status && row->mode_type) status = set_int(*out, row->mode, row->mode_type, op->mode);
  if (!status && row->axis && axis) status = api.desc_set(*out, row->axis, TYPE_INT64, 1, &axis);
  return status ? status : api.desc_finish(*out);
}

/* A factor, in the type of the sums: engines read it as that. */
static int say_factor(const tt_cudnn_graph *g, void *desc, int name, double by) {
  float narrow = (float)by;
  if (g->tensor[0].type == TT_CUDNN_F64) return api.desc_set(desc, name, TYPE_DOUBLE, 1, &by);
  return api.desc_set(desc, name, TYPE_FLOAT, 1, &narrow);
}

static int make_op(kept *e, void *const *tensor, const tt_cudnn_op *op, void **out) {
  const op_row *row = &op_rows[op->kind];
  void *what = NULL;
  int status = make(e, row->desc, out);
  if (!status && row->what >= 0) status = make_what(e, row, op, &what);
  if (!status && row->what >= 0) status = set_desc(*out, row->what_at, what);
  for (int i = 0; i < 3 && !status; i++)
    if (op->in[i] >= 0 && row->in[i]) status = set_desc(*out, row->in[i], tensor[op->in[i]]);
  if (!status) status = set_desc(*out, row->out, tensor[op->out]);
  if (!status && row->alpha) status = say_factor(&e->graph, *out, row->alpha, 1);
  if (!status && row->beta) status = say_factor(&e->graph, *out, row->beta, 0);
  return status ? status : api.desc_finish(*out);
}

static int make_graph(void *handle, kept *e, void **out) {
  void *tensor[TT_CUDNN_TENSORS], *op[TT_CUDNN_OPS];
  const tt_cudnn_graph *g = &e->graph;
  int status = 0;
  for (int i = 0; i < g->tensors && !status; i++) status = make_tensor(e, i, &tensor[i]);
  for (int i = 0; i < g->ops && !status; i++) status = make_op(e, tensor, &g->op[i], &op[i]);
  if (!status) status = make(e, DESC_GRAPH, out);
  if (!status) status = api.desc_set(*out, GRAPH_HANDLE, TYPE_HANDLE, 1, &handle);
  if (!status) status = api.desc_set(*out, GRAPH_OPS, TYPE_DESC, g->ops, op);
  return status ? status : api.desc_finish(*out);
}

/* ---- engines */

/* The same bits each time, and arithmetic as wide as the type says. */
static bool keeps_promises(const tt_cudnn_graph *g, void *choice) {
  void *engine = NULL;
  int note[NOTES];
  int64_t n = 0, one = 0;
  bool keeps = false;
  if (api.desc_create(DESC_ENGINE, &engine)) return false;
  if (api.desc_get(choice, CHOICE_ENGINE, TYPE_DESC, 1, &one, &engine) ||
      api.desc_get(engine, ENGINE_NOTE, TYPE_NOTE, NOTES, &n, note))
    goto done;
  keeps = true;
  bool wide = g->tensor[0].type == TT_CUDNN_F32 || g->tensor[0].type == TT_CUDNN_F64;
  for (int64_t i = 0; i < n && i < NOTES; i++) {
    keeps &= note[i] != NOTE_VARIES && note[i] != NOTE_SHORT_SUMS && note[i] != NOTE_FFT;
    if (wide && g->exact) keeps &= note[i] != NOTE_DOWN_CONVERT;
    if (g->tensor[0].type == TT_CUDNN_F32 && g->exact) keeps &= note[i] != NOTE_TENSOR_CORE;
  }
done:
  api.desc_destroy(engine);
  return keeps;
}

/* The plan for a choice of engine: 0, or why there is none. */
static int make_plan(void *handle, kept *e, void *choice) {
  void *plan = NULL;
  int64_t n = 0;
  int before = e->descs, status = make(e, DESC_PLAN, &plan);
  if (!status) status = api.desc_set(plan, PLAN_HANDLE, TYPE_HANDLE, 1, &handle);
  if (!status) status = set_desc(plan, PLAN_CHOICE, choice);
  if (!status) status = api.desc_finish(plan);
  if (!status) status = api.desc_get(plan, PLAN_WORK, TYPE_INT64, 1, &n, &e->work);
  if (!status && e->work <= WORK_BYTES) {
    e->plan = plan;
    return 0;
  }
  while (e->descs > before) api.desc_destroy(e->desc[--e->descs]);
  return status ? status : 1;
}

/* The first of the engines that are proposed, best first, which keeps our promises and runs here. */
static int choose(void *handle, kept *e, void *graph, int mode) {
  void *heur = NULL, *choice[MOST_CHOICES] = {NULL};
  int64_t n = 0;
  int status = api.desc_create(DESC_HEUR, &heur), none = 1;
  if (!status) status = set_desc(heur, HEUR_GRAPH, graph);
  if (!status) status = set_int(heur, HEUR_MODE, TYPE_HEUR_MODE, mode);
  if (!status) status = api.desc_finish(heur);
  for (int i = 0; i < MOST_CHOICES && !status; i++) status = api.desc_create(DESC_CHOICE, &choice[i]);
  if (!status) status = api.desc_get(heur, HEUR_RESULTS, TYPE_DESC, MOST_CHOICES, &n, choice);
  for (int64_t i = 0; i < n && i < MOST_CHOICES && !status && !e->plan; i++) {
    if (!keeps_promises(&e->graph, choice[i])) continue;
    none = make_plan(handle, e, choice[i]);
    if (e->plan) { /* the plan stands on it */
      e->desc[e->descs++] = choice[i];
      choice[i] = NULL;
    }
  }
  for (int i = 0; i < MOST_CHOICES; i++)
    if (choice[i]) api.desc_destroy(choice[i]);
  if (heur) api.desc_destroy(heur);
  return status ? status : e->plan ? 0 : none;
}

static void prepare(void *handle, kept *e) {
  void *graph = NULL;
  e->status = make_graph(handle, e, &graph);
  if (!e->status) e->status = choose(handle, e, graph, HEUR_A);
  if (e->status && graph) e->status = choose(handle, e, graph, HEUR_FALLBACK);
}

/* The entry for `g`, made when there is none; also one without a plan, so that nobody asks again. NULL: no memory. */
static kept *find(void *handle, tt_device *d, const tt_cudnn_graph *g) {
  kept **set = &table[tt__hash64(g, sizeof *g) % (MOST_KEPT / WAYS) * WAYS], **oldest = set;
  turn++;
  for (int i = 0; i < WAYS; i++) {
    if (!set[i] && !(set[i] = tt__mem_zalloc(sizeof *set[i]))) return NULL;
    if (set[i]->used && set[i]->device == d && memcmp(&set[i]->graph, g, sizeof *g) == 0) {
      set[i]->used = turn;
      return set[i];
    }
    if (set[i]->used < (*oldest)->used) oldest = &set[i];
  }
  kept *e = *oldest;
  drop(e);
  e->graph = *g;
  e->device = d;
  e->used = turn;
  prepare(handle, e);
  return e;
}

/* ---- running */

static int execute(void *handle, const kept *e, void *const *data, void *work, void *stream) {
  int64_t uid[TT_CUDNN_TENSORS], n = 0;
  void *at[TT_CUDNN_TENSORS], *variant = NULL;
  for (int i = 0; i < e->graph.tensors; i++) {
    if (e->graph.tensor[i].place == TT_CUDNN_VIRTUAL) continue;
    uid[n] = i + 1;
    at[n++] = data[i];
  }
  int status = api.desc_create(DESC_VARIANT, &variant);
  if (status) return status;
  status = api.desc_set(variant, VARIANT_UIDS, TYPE_INT64, n, uid);
  if (!status) status = api.desc_set(variant, VARIANT_POINTERS, TYPE_POINTER, n, at);
  if (!status) status = api.desc_set(variant, VARIANT_WORK, TYPE_POINTER, 1, &work);
  if (!status) status = api.desc_finish(variant);
  if (!status) status = api.set_stream(handle, stream);
  if (!status) status = api.execute(handle, e->plan, variant);
  api.desc_destroy(variant);
  return status;
}

static tt_code make_room(const tt_lib_device *on, size_t size, tt_cudnn_room *room, tt_error *err) {
  if (size <= room->size) return TT_OK;
  TT_TRY(on->temp(on, size, &room->p, err));
  room->size = size;
  return TT_OK;
}

tt_code tt__cudnn_run(const tt_lib_device *on, const tt_cudnn_graph *g, void *const *data, tt_cudnn_room *room,
                      tt_error *err) {
  void *handle;
  TT_TRY(tt__vendor_enter(&tt__vendor_cudnn, on->device, &handle, err));
  tt_code code = TT_OK;
  int status = 0;
  kept *e = find(handle, on->device, g);
  if (!e)
    code = tt__fail(err, TT_ENOMEM, "no memory for a plan of cuDNN");
  else if (!e->plan)
    code = tt__fail(err, TT_ENOTIMPL, "cuDNN has no engine for this (status %d)", e->status);
  if (code == TT_OK) code = make_room(on, (size_t)e->work, room, err);
  if (code == TT_OK) {
    void *stream = on->device->ops->interop->handle(on->device, on->stream);
    status = execute(handle, e, data, e->work ? room->p : NULL, stream);
    code =
        status ? tt__fail(err, TT_EDEVICE, "cuDNN failed with status %d", status) : tt__device_asked(on, "cuDNN", err);
  }
  tt__vendor_leave(&tt__vendor_cudnn);
  return code;
}
