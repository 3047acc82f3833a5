/* Streams and events of the CPU; see host_events.h. */
#include "device/host_events.h"

#include "base/mem.h"
#include "base/os/os.h"

typedef struct host_event {
  int64_t ns; /* when it was recorded; 0: never */
} host_event;

static tt_code new_object(size_t size, void **out, tt_error *err) {
  *out = tt__mem_zalloc(size);
  return *out ? TT_OK : tt__fail_memory(err, size);
}

tt_code tt__host_stream_new(tt_stream **out, tt_error *err) { return new_object(1, (void **)out, err); }
void tt__host_stream_free(tt_stream *s) { tt__mem_free(s, 1); }

tt_code tt__host_event_new(tt_event **out, tt_error *err) { return new_object(sizeof(host_event), (void **)out, err); }

void tt__host_event_free(tt_event *e) { tt__mem_free(e, sizeof(host_event)); }
void tt__host_event_record(tt_event *e) { ((host_event *)(void *)e)->ns = tt__clock_ns(); }

tt_code tt__host_event_ms(const tt_event *from, const tt_event *to, double *ms, tt_error *err) {
  int64_t begin = ((const host_event *)(const void *)from)->ns, end = ((const host_event *)(const void *)to)->ns;
  if (!begin || !end) return tt__fail(err, TT_EVALUE, "the time between events: both must have been recorded");
  *ms = (double)(end - begin) / 1e6;
  return TT_OK;
}
