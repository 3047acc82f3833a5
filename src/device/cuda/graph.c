/*
** Captures: what is asked of a stream is kept as a graph, and played again with other arguments. The driver numbers a
** capture; every launch made meanwhile asks for the number of its stream, so launches on streams that joined are found
** too. The k-th launch of ours is the k-th entry; launches by vendor libraries are in the graph but not counted.
*/
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "device/cuda/cuda_int.h"
#include "device/device.h"

typedef struct launched {
  void *node;
  tt_routine *routine;
  tt_grid grid;
} launched;

struct tt_graph {
  void *graph, *exec;
  TT_VEC(launched) launch;
};

struct tt_cuda_capture {
  uint64_t id;
  tt_stream *stream; /* where it began */
  tt_graph *graph;   /* being made */
  tt_cuda_capture *next;
};

enum { ACTIVE = 1 }; /* the driver's word for a capture that goes well */

int tt__cuda_note_launch(tt_device *d, tt_stream *s, tt_routine *f, const tt_grid *g) {
  tt_cuda *c = tt__cuda_of(d);
  int status = 0;
  uint64_t id = 0;
  void *graph, *const *last = NULL;
  size_t n = 0;
  int result = c->api->capture_info(s->handle, &status, &id, &graph, &last, &n);
  if (result != TT_CUDA_OK || status != ACTIVE) return result;
  tt__lock(&c->lock);
  tt_cuda_capture *k = c->captures;
  while (k && k->id != id) k = k->next;
  /* What the next thing on this stream would wait for is the launch. */
  bool ok = !k || (n == 1 && TT_VEC_PUSH(&k->graph->launch, ((launched){last[0], f, *g})));
  tt__unlock(&c->lock);
  return ok ? TT_CUDA_OK : TT_CUDA_NO_MEMORY;
}

tt_code tt__cuda_capture_begin(tt_device *d, tt_stream *s, tt_error *err) {
  enum { RELAXED = 2 }; /* other threads, and allocations of ours, go on meanwhile */
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  tt_graph *g = tt__mem_zalloc(sizeof *g);
  tt_cuda_capture *k = tt__mem_zalloc(sizeof *k);
  tt_code code = g && k ? tt__cuda_enter(d, &before, err) : tt__fail_memory(err, sizeof *k);
  if (code == TT_OK) {
    int status = 0;
    int result = c->api->capture_begin(s->handle, RELAXED);
    if (result == TT_CUDA_OK) result = c->api->capture_info(s->handle, &status, &k->id, NULL, NULL, NULL);
    code = tt__cuda_leave(d, before, result, "begin a capture", err);
  }
  if (code != TT_OK) {
    tt__mem_free(k, k ? sizeof *k : 0);
    tt__mem_free(g, g ? sizeof *g : 0);
    return code;
  }
  k->stream = s;
  k->graph = g;
  tt__lock(&c->lock);
  k->next = c->captures;
  c->captures = k;
  tt__unlock(&c->lock);
  atomic_fetch_add(&c->capturing, 1);
  return TT_OK;
}

/* Take the capture that began on `s` off the list; the graph is the caller's. NULL when there is none. */
static tt_graph *end_capture(tt_cuda *c, tt_stream *s) {
  tt__lock(&c->lock);
  tt_cuda_capture **at = &c->captures;
  while (*at && (*at)->stream != s) at = &(*at)->next;
  tt_cuda_capture *k = *at;
  if (k) *at = k->next;
  tt__unlock(&c->lock);
  if (!k) return NULL;
  atomic_fetch_sub(&c->capturing, 1);
  tt_graph *g = k->graph;
  tt__mem_free(k, sizeof *k);
  return g;
}

tt_code tt__cuda_capture_end(tt_device *d, tt_stream *s, tt_graph **out, tt_error *err) {
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  *out = NULL;
  tt_graph *g = end_capture(c, s);
  if (!g) return tt__fail(err, TT_EVALUE, "%s: no capture began on this stream", d->name);
  tt_code code = tt__cuda_enter(d, &before, err);
  if (code == TT_OK) {
    int result = c->api->capture_end(s->handle, &g->graph);
    if (result == TT_CUDA_OK) result = c->api->graph_instantiate(&g->exec, g->graph, 0);
    code = tt__cuda_leave(d, before, result, "end a capture", err);
  }
  if (code == TT_OK)
    *out = g;
  else
    tt__cuda_graph_free(d, g);
  return code;
}

int tt__cuda_captured(tt_device *d, tt_stream *s) {
  tt_cuda *c = tt__cuda_of(d);
  tt__lock(&c->lock);
  const tt_cuda_capture *k = c->captures;
  while (k && k->stream != s) k = k->next;
  int n = k ? (int)k->graph->launch.n : 0;
  tt__unlock(&c->lock);
  return n;
}

/* The driver changes a graph in place where it can; else the capture is made ready to launch itself. Nodes of the
 * first capture stay the names of launches, so only their grids are taken from the new one. */
static int renew(const tt_cuda_api *api, tt_graph *g, tt_graph *next) {
  tt_cuda_update why = {0, NULL, NULL};
  bool same = g->launch.n == next->launch.n && api->graph_update;
  if (same && api->graph_update(g->exec, next->graph, &why) == TT_CUDA_OK) {
    for (int64_t i = 0; i < (int64_t)g->launch.n; i++) g->launch.data[i].grid = next->launch.data[i].grid;
    return TT_CUDA_OK;
  }
  int result = api->graph_instantiate(&next->exec, next->graph, 0);
  if (result != TT_CUDA_OK) return result;
  tt_graph old = *g;
  *g = *next;
  *next = old;
  return TT_CUDA_OK;
}

tt_code tt__cuda_capture_renew(tt_device *d, tt_stream *s, tt_graph *g, tt_error *err) {
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  tt_graph *next = end_capture(c, s);
  if (!next) return tt__fail(err, TT_EVALUE, "%s: no capture began on this stream", d->name);
  tt_code code = tt__cuda_enter(d, &before, err);
  if (code == TT_OK) {
    int result = c->api->capture_end(s->handle, &next->graph);
    if (result == TT_CUDA_OK) result = renew(c->api, g, next);
    code = tt__cuda_leave(d, before, result, "renew a graph", err);
  }
  tt__cuda_graph_free(d, next);
  return code;
}

tt_code tt__cuda_graph_args(tt_device *d, tt_graph *g, int k, const tt_grid *grid, const void *args, size_t size,
                            tt_error *err) {
  tt_cuda *c = tt__cuda_of(d);
  void *before;
  if (k < 0 || k >= g->launch.n) return tt__fail(err, TT_EVALUE, "%s: the graph has no launch %d", d->name, k);
  TT_TRY(tt__cuda_enter(d, &before, err));
  launched *l = &g->launch.data[k];
  if (grid) l->grid = *grid;
  void *extra[] = {(void *)1, (void *)(uintptr_t)args, (void *)2, &size, NULL};
  tt_cuda_kernel_node params = {.function = l->routine->handle, .shared = (unsigned)l->grid.shared, .extra = extra};
  memcpy(params.grid, l->grid.grid, sizeof params.grid);
  memcpy(params.block, l->grid.block, sizeof params.block);
  int result = tt__cuda_allow_shared(c, l->routine, (unsigned)l->grid.shared);
  if (result == TT_CUDA_OK) result = c->api->graph_set(g->exec, l->node, &params);
  return tt__cuda_leave(d, before, result, "give a graph new arguments", err);
}

tt_code tt__cuda_graph_launch(tt_device *d, tt_graph *g, tt_stream *s, tt_error *err) {
  void *before;
  TT_TRY(tt__cuda_enter(d, &before, err));
  tt__launch_log_note(&s->log, "a graph");
  return tt__cuda_leave(d, before, tt__cuda_of(d)->api->graph_launch(g->exec, s->handle), "launch a graph", err);
}

void tt__cuda_graph_free(tt_device *d, tt_graph *g) {
  void *before;
  if (!g) return;
  if (tt__cuda_enter(d, &before, NULL) == TT_OK) {
    const tt_cuda_api *api = tt__cuda_of(d)->api;
    if (g->exec) api->graph_exec_free(g->exec);
    if (g->graph) api->graph_free(g->graph);
    tt__cuda_leave(d, before, TT_CUDA_OK, "", NULL);
  }
  TT_VEC_FREE(&g->launch);
  tt__mem_free(g, sizeof *g);
}
