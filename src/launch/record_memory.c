/*
** Memory of the caller for launches on a device: copied there before and, where the kernel may write, back behind.
** Arguments whose bytes overlap share a copy, so that a kernel sees one memory there too.
*/
#include "graph/build.h"

#include <assert.h>
#include "graph/host.h"
#include "graph/session.h"
#include "launch/record.h"

static bool overlap(const tt_call_span *a, const char *low, const char *high) { return a->low < high && low < a->high; }

/* The bytes around argument k that must be one copy, and the first argument among those that share it. */
static int reach(const tt_call_memory *m, int k, const char **low, const char **high) {
  int first = k;
  *low = m->arg[k].low;
  *high = m->arg[k].high;
  for (bool grew = true; grew;) {
    grew = false;
    for (int i = 0; i < m->n; i++) {
      const tt_call_span *a = &m->arg[i];
      if (!overlap(a, *low, *high)) continue;
      grew |= a->low < *low || a->high > *high;
      if (a->low < *low) *low = a->low;
      if (a->high > *high) *high = a->high;
      if (i < first) first = i;
    }
  }
  return first;
}

tt_code tt__call_bring(tt_call_memory *m, int id, tt_call_array *out, tt_error *err) {
  int before = tt__session_device;
  assert(id != TT_CPU && m->n <= TT_CALL_ARRAYS);
  for (int k = 0; k < m->n; k++) {
    tt_call_span *a = &m->arg[k];
    const char *low, *high;
    int first = reach(m, k, &low, &high);
    int64_t size = high - low;
    a->array = NULL;
    if (first < k) {
      a->array = tt__array_retain(m->arg[first].array);
    } else {
      tt__session_device = id; /* straight there */
      tt_code code = tt__from_data(TT_U8, 1, &size, low, NULL, &a->array, err);
      tt__session_device = before;
      if (code != TT_OK) return code;
    }
    a->skip = a->low - low;
    out[k] = (tt_call_array){.array = a->array, .at = a->at, .writes = a->writes, .inside = a->address - low};
  }
  return TT_OK;
}

tt_code tt__call_bring_back(const tt_call_memory *m, tt_error *err) {
  assert(m->n >= 0 && m->n <= TT_CALL_ARRAYS);
  const int64_t step = 1;
  for (int k = 0; k < m->n; k++) {
    const tt_call_span *a = &m->arg[k];
    int64_t size = a->high - a->low;
    if (!a->writes || size == 0) continue;
    tt_array *part = tt__array_view(a->array, 1, &size, &step, a->skip, err);
    tt_code code = part ? tt__read(part, a->low, (size_t)size, err) : TT_ENOMEM;
    tt__array_release(part);
    if (code != TT_OK) return code;
  }
  return TT_OK;
}

void tt__call_forget(tt_call_memory *m) {
  assert(m->n >= 0 && m->n <= TT_CALL_ARRAYS);
  for (int k = 0; k < m->n; k++) tt__array_release(m->arg[k].array);
  m->n = 0;
}
