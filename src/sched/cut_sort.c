/*
** Cutting rows that are sorted into runs; see cut_library.h.
*/
#include <assert.h>
#include <string.h>

#include "ir/library.h"
#include "sched/cut_library.h"

enum { MOST_RUNS = 4096, ALIGNED = 256 };

static bool gives_places(const tt_walk *walk, const tt_step *step) {
  return walk->node[step->root[0].node]->dtype != walk->node[step->src[0].node]->dtype ||
         strcmp(walk->node[step->lib]->attr.lib->row->name, "argsort") == 0;
}

/* Bytes of the device for an element of a run: two slots, up and down, and what the sort needs beside (device_sort). */
static double each_bytes(size_t size, bool places) {
  double element = (double)size + (places ? (double)sizeof(int64_t) : 0);
  return 2 * TT_SORT_SLOTS * element + 2 * (double)size + (places ? sizeof(uint32_t) : 0) + 1;
}

bool tt__cut_sort(const tt_walk *walk, const tt_step *step, double room, tt_sort_cut *out) {
  assert(step->nsrc >= 1 && room >= 0);
  const tt_plib_src *a = &step->src[0];
  tt_dtype t = (tt_dtype)walk->node[a->node]->dtype;
  *out = (tt_sort_cut){.rows = 1, .places = gives_places(walk, step)};
  if (tt__is_complex(t) || a->rank < 1) return false;
  out->n = a->len[a->rank - 1];
  for (int k = 0; k < a->rank - 1; k++) out->rows *= a->len[k];
  double most = (room - 32 * ALIGNED) / each_bytes(tt__dtype_size(t), out->places);
  if (most < 1 || out->n < 1 || out->rows < 1) return false;
  out->run = (double)out->n < most ? out->n : (int64_t)most;
  if (out->run >= INT32_MAX) out->run = INT32_MAX - 1;
  if (out->n / out->run >= MOST_RUNS) return false;
  out->count = (out->n + out->run - 1) / out->run;
  return true;
}

double tt__cut_sort_ns(const tt_walk *walk, const tt_step *step, const tt_sort_cut *how, const tt_device_rates *c,
                       double work_ns, double *up, double *down) {
  assert(how->rows >= 1 && how->n >= 0);
  const double much = 1 << 30;
  double size = (double)tt__dtype_size((tt_dtype)walk->node[step->src[0].node]->dtype);
  double all = (double)how->rows * (double)how->n, place = how->places ? (double)sizeof(int64_t) : 0;
  bool twice = how->count > 1;
  *up = all * (size + (twice ? size + place : 0));
  *down = all * (how->places ? place : size) + (twice ? all * (size + place) : 0);
  double ns = *up * tt__move_ns(c->up_ns, much) / much, by_down = *down * tt__move_ns(c->down_ns, much) / much;
  double both = (*up + *down) / c->both_bytes_per_ns, work = twice ? 2 * work_ns : work_ns;
  if (by_down > ns) ns = by_down;
  if (both > ns) ns = both;
  if (work > ns) ns = work;
  return ns * (1 + 1 / (double)how->count);
}
