/*
** Launches become nodes; see record.h.
*/
#include "launch/record.h"

#include <assert.h>
#include <string.h>

#include "graph/index/alias.h"
#include "graph/build.h"
#include "graph/session.h"
#include "graph/slab.h"
#include "ir/target.h"
#include "run/device/batch_timer.h"

/* ---- where */

tt_code tt__call_device(const tt_call_array *arg, int n, const char *name, int otherwise, int *out, tt_error *err) {
  assert(n >= 0);
  char a[16], b[16];
  int put = TT_ANYWHERE, lies = 0;
  for (int k = 0; k < n; k++) {
    int label = arg[k].array->storage->node->device;
    if (label < 0 && !lies) lies = tt__array_device(arg[k].array);
    if (label < 0 || label == put) continue;
    if (put >= 0)
      return tt__fail(err, TT_EVALUE, "the arguments of kernel %s lie on two devices, %s and %s: move one with .to()",
                      name, tt__device_name(put, a), tt__device_name(label, b));
    put = label;
  }
  *out = put >= 0 ? put : lies > 0 ? lies : otherwise;
  return TT_OK;
}

/* ---- recording */

/* What a launch is recorded from: each storage once. */
typedef struct operands {
  tt_storage *storage[TT_CALL_ARRAYS];
  tt_node *value[TT_CALL_ARRAYS];
  int n;
} operands;

/* The storage whose bytes a launch is given for an array: of memory that is shown as several types one, if it lies
 * there as it is shown. */
static tt_storage *bytes_of(const tt_array *a) { return tt__storage_lies(a->storage) ? a->storage->root : a->storage; }

/* One memory, as blocks that are laid out differently: what one of them gets the other would not see. */
static tt_code check_shown(const operands *o, const tt_kernel_call *c, tt_error *err) {
  for (int k = 0; k < o->n; k++)
    for (int i = 0; i < o->n; i++)
      if (i != k && c->operand[k].writes && tt__storage_root(o->storage[i]) == tt__storage_root(o->storage[k]))
        return tt__fail(err, TT_ENOTIMPL,
                        "kernel %s: two arguments show the same memory as different types, rows apart: copy one",
                        c->name);
  return TT_OK;
}

static int operand_of(operands *o, tt_storage *s) {
  assert(o->n >= 0 && o->n < TT_CALL_ARRAYS);
  int k = 0;
  while (k < o->n && o->storage[k] != s) k++;
  if (k < o->n) return k;
  o->storage[k] = s;
  o->value[k] = s->node;
  return o->n++;
}

static size_t aligned(size_t n) { return (n + 15) & ~(size_t)15; }

/* The node's part, and the operands. Arrays without elements have no address. */
static tt_kernel_call *copy_call(const tt_kernel_call *like, const tt_call_array *arg, int n, operands *o,
                                 tt_error *err) {
  assert(n >= 0 && n <= TT_CALL_ARRAYS && like->args_size <= TT_CALL_ARGS);
  size_t args = aligned(like->args_size), rows = aligned((size_t)n * sizeof(tt_call_operand));
  size_t size = aligned(sizeof(tt_kernel_call)) + args + rows + (size_t)n * sizeof(tt_call_pointer);
  char *room = tt__slab_alloc(size);
  if (!room) {
    tt__fail_memory(err, size);
    return NULL;
  }
  tt_kernel_call *c = (tt_kernel_call *)(void *)room;
  *c = *like;
  c->size = size;
  c->args = room + aligned(sizeof(tt_kernel_call));
  c->operand = (tt_call_operand *)(void *)(c->args + args);
  c->pointer = (tt_call_pointer *)(void *)(c->args + args + rows);
  c->npointer = 0;
  memcpy(c->args, like->args, like->args_size);
  o->n = 0;
  for (int k = 0; k < n; k++) {
    assert(arg[k].at >= 0 && (size_t)arg[k].at + sizeof(void *) <= like->args_size);
    tt_array *a = arg[k].array;
    if (a->size == 0) {
      memset(c->args + arg[k].at, 0, sizeof(void *));
      continue;
    }
    int before = o->n, at = operand_of(o, bytes_of(a));
    if (at == before) c->operand[at] = (tt_call_operand){.writes = false};
    c->operand[at].writes |= arg[k].writes;
    int64_t off = a->off * (int64_t)tt__dtype_size((tt_dtype)a->dtype), stride[TT_MAX_RANK];
    if (tt__storage_lies(a->storage)) tt__array_place(a, &off, stride);
    c->pointer[c->npointer++] = (tt_call_pointer){.at = arg[k].at, .operand = at, .off = off + arg[k].inside};
  }
  c->noperand = o->n;
  if (check_shown(o, c, err) == TT_OK) return c;
  tt__slab_free(room, size);
  return NULL;
}

/* What the launch leaves of each operand that it writes; made before any is put in place, so that all are or none. */
static tt_code make_picks(tt_node *node, const operands *o, tt_node **pick, tt_error *err) {
  for (int k = 0; k < o->n; k++) {
    const tt_node *old = o->value[k];
    pick[k] = NULL;
    if (!node->attr.call->operand[k].writes) continue;
    pick[k] = tt__node_pick(node, k, (tt_dtype)old->dtype, old->rank, old->dim, err);
    if (pick[k]) continue;
    while (k-- > 0) tt__node_release(pick[k]);
    return TT_ENOMEM;
  }
  return TT_OK;
}

static tt_code add(const tt_kernel_call *like, const tt_call_array *arg, int n, tt_node **out, tt_error *err) {
  operands o;
  tt_node *pick[TT_CALL_ARRAYS];
  if (n > TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s: at most %d arrays", like->name, TT_CALL_ARRAYS);
  for (int k = 0; k < n; k++)
    if (arg[k].writes) TT_TRY(tt__array_check_writable(arg[k].array, err));
  TT_TRY(tt__calls_make_room(err));
  tt_kernel_call *c = copy_call(like, arg, n, &o, err);
  tt_node *node = c ? tt__node_call(c, o.value, err) : NULL;
  if (!node) return TT_ENOMEM;
  tt_code code = node->device == TT_TORN ? tt__fail_torn(node, err) : make_picks(node, &o, pick, err);
  if (code != TT_OK) {
    tt__node_release(node);
    return code;
  }
  tt__calls_add(node);
  for (int k = 0; k < o.n; k++)
    if (pick[k]) TT_TRY(tt__storage_put(o.storage[k], pick[k], err)); /* labels agree: this does not fail */
  *out = node;
  return TT_OK;
}

tt_code tt__call_record(const tt_kernel_call *like, const tt_call_array *arg, int n, tt_error *err) {
  assert(n >= 0);
  tt_node *node;
  assert(like->kind && like->kernel && like->args_size <= TT_CALL_ARGS && n >= 0);
  TT_TRY(add(like, arg, n, &node, err));
  bool full = tt__calls_full(), urgent = like->device != TT_CPU && tt__batch_timer_ends();
  if (full) TT_COUNT(flushes, 1);
  return full || urgent ? tt__calls_run(err) : TT_OK;
}

/* ---- launches that cannot wait */

static tt_code run_never(const tt_kernel_call *c, char *args, bool *ran, tt_error *err) {
  (void)args;
  *ran = true;
  return tt__fail(err, TT_EDEVICE, "kernel %s could not begin when its memory was there", c->name);
}
static tt_code routine_never(const tt_kernel_call *c, tt_device *d, tt_routine **out, tt_error *err) {
  (void)d;
  *out = NULL;
  return tt__fail(err, TT_EDEVICE, "kernel %s could not begin when its memory was there", c->name);
}
static void nothing(void *kernel) { (void)kernel; }

/* It could not begin: its arrays are what they were. Who has recorded something over what it was to write meanwhile
** finds the reason there. */
static void take_back(tt_node *node, const tt_call_array *arg, int n) {
  static const tt_call_kind never = {run_never, routine_never, nothing, nothing};
  tt_kernel_call *c = node->attr.call;
  for (int k = 0; k < n; k++) {
    tt_storage *s = bytes_of(arg[k].array);
    for (int i = 0; i < c->noperand; i++)
      if (c->operand[i].pick && s->node == c->operand[i].pick)
        (void)!tt__storage_put(s, tt__node_retain(tt__call_operand(node, i)), NULL);
  }
  c->kind->release(c->kernel);
  c->kernel = NULL;
  c->kind = &never;
  tt__calls_remove(node);
}

tt_code tt__call_now(const tt_kernel_call *like, const tt_call_array *arg, int n, tt_error *err) {
  tt_node *node;
  assert(like->kind && like->kernel && like->args_size <= TT_CALL_ARGS && n >= 0);
  TT_TRY(tt__calls_run(err));
  TT_TRY(add(like, arg, n, &node, err));
  tt__node_retain(node);
  tt_code code = tt__calls_run(err);
  if (node->op == TT_N_CALL) take_back(node, arg, n);
  tt__node_release(node);
  return code;
}
