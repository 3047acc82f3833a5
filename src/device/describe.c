/* What devices say of themselves; see describe.h. */
#include "device/describe.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/host.h"
#include "base/os/os.h"
#include "base/pool/pool.h"
#include "device/cache_alloc.h"
#include "device/cuda/nvml.h"
#include "device/device.h"

int tt__describe_count(void) {
  int n = 0;
  for (int k = 0; k < TT_DEVICE_KINDS; k++) n += tt__device_count((tt_device_kind)k, NULL, 0);
  assert(n >= 1);
  return n;
}

/* Best first: what computes fast, the CPU, what may be it once more, what only pretends to. */
int tt__describe_at(int k) {
  static const tt_device_kind order[] = {TT_DEVICE_CUDA, TT_DEVICE_CPU, TT_DEVICE_OPENCL, TT_DEVICE_NULL};
  for (int i = 0; k >= 0 && i < TT_DEVICE_KINDS; i++) {
    int n = tt__device_count(order[i], NULL, 0);
    if (k < n) return tt__device_id(order[i], k);
    k -= n;
  }
  return TT_AUTO;
}

bool tt__describe_name(int device, char *out, size_t size) {
  char name[16];
  int kind = device >> 8;
  if (size) out[0] = 0;
  if (kind < 0 || kind >= TT_DEVICE_KINDS) return false;
  if (tt__device_index(device) >= tt__device_count((tt_device_kind)kind, NULL, 0)) return false;
  snprintf(out, size, "%s", tt__device_name(device, name));
  return true;
}

const char *tt__describe_missing(const char *type) {
  static char why[TT_DEVICE_KINDS][400];
  for (int k = 0; k < TT_DEVICE_KINDS; k++) {
    if (strcmp(tt__device_kinds[k], type) != 0) continue;
    if (tt__device_count((tt_device_kind)k, why[k], sizeof why[k]) > 0) why[k][0] = 0;
    return why[k];
  }
  return "there are no devices of this type";
}

static void describe_cpu(tt_device_info *out) {
  tt_host_stats host;
  snprintf(out->type, sizeof out->type, "cpu");
  snprintf(out->label, sizeof out->label, "%s", tt__cpu_name());
  out->units = tt__pool_size();
  out->warp = 1;
  out->cache_bytes = tt__cache_bytes(3);
  out->memory_total = out->memory_free = tt__ram_bytes();
  if (tt__host_read(&host, NULL, 0, NULL) == TT_OK) out->memory_free -= host.memory_used;
  if (out->memory_free < 0) out->memory_free = 0;
}

tt_code tt__describe(int device, tt_device_info *out, tt_error *err) {
  tt_device *d;
  char name[16];
  memset(out, 0, sizeof *out);
  out->gpu = -1;
  TT_TRY(tt__device_open(device, &d, err));
  out->id = device;
  out->index = tt__device_index(device);
  snprintf(out->name, sizeof out->name, "%s", tt__device_name(device, name));
  if (!d) {
    describe_cpu(out);
    return TT_OK;
  }
  const tt_target *t = &d->target;
  snprintf(out->type, sizeof out->type, "%s", tt__device_kinds[t->kind]);
  snprintf(out->label, sizeof out->label, "%s", d->label);
  snprintf(out->bus, sizeof out->bus, "%s", d->bus);
  if (t->kind == TT_DEVICE_CUDA) out->gpu = tt__nvml_at_bus(d->bus);
  out->arch = t->arch;
  out->units = t->units;
  out->warp = t->warp;
  out->block_threads = t->block_threads;
  out->unit_threads = t->unit_threads;
  out->shared_block = t->shared_block;
  out->shared_unit = t->shared_unit;
  out->cache_bytes = t->cache_bytes;
  return d->ops->mem_info(d, &out->memory_free, &out->memory_total, err);
}

/* ---- memory */

void tt__describe_host_memory(tt_memory *out) {
  tt_mem_stats s = tt__mem_stats();
  *out = (tt_memory){.allocated = s.live_data,
                     .max_allocated = s.peak_data,
                     .reserved = s.live_data + s.cached,
                     .limit = s.limit,
                     .free_blocks = s.kept_blocks};
}

tt_code tt__describe_memory(int device, tt_memory *out, tt_error *err) {
  tt_device *d;
  memset(out, 0, sizeof *out);
  TT_TRY(tt__device_open(device, &d, err));
  if (!d) {
    tt__describe_host_memory(out);
    return TT_OK;
  }
  tt_dmem_stats s = tt__dmem_stats(d);
  *out = (tt_memory){.allocated = s.allocated,
                     .max_allocated = s.max_allocated,
                     .reserved = s.reserved,
                     .limit = s.limit,
                     .free_blocks = s.free_blocks};
  return TT_OK;
}

tt_code tt__describe_pinned(int device, tt_memory *out, tt_error *err) {
  tt_device *d;
  memset(out, 0, sizeof *out);
  TT_TRY(tt__device_open(device, &d, err));
  if (!d) return TT_OK;
  tt_dmem_stats s = tt__dmem_stats(d);
  *out = (tt_memory){.allocated = s.pinned - s.pinned_kept, .reserved = s.pinned, .free_blocks = s.pinned_free};
  return TT_OK;
}
