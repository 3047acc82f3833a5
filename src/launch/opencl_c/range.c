/* See range.h. What a launch itself is, launch/cuda_c/launch_cuda.c says. */
#include "launch/opencl_c/range.h"

#include <stdio.h>
#include <string.h>

#include "ir/target.h"

enum { USUAL_GROUP = 256 };

void tt__entry_asked(const tt_entry *r, uint32_t local[3]) {
  for (int k = 0; k < 3; k++) local[k] = r->asked[k];
}

int64_t tt__local_memory(void) { return tt__target_host.shared_block; }

/* "(64, 8)" */
static const char *sizes(const uint64_t *n, int dims, char out[96]) {
  int at = snprintf(out, 96, "(");
  for (int k = 0; k < dims; k++)
    at += snprintf(out + at, 96 - (size_t)at, "%s%llu", k ? ", " : "", (unsigned long long)n[k]);
  snprintf(out + at, 96 - (size_t)at, ")");
  return out;
}

/* The largest divisor of n that is at most `most`. */
static uint32_t divisor(uint64_t n, uint32_t most) {
  for (uint32_t d = most; d > 1; d--)
    if (n % d == 0) return d;
  return 1;
}

/* Sizes that nobody gave: a work-group is a loop, and long ones along the first axis suit it. */
static void choose_local(const tt_range *range, int most, uint32_t local[3]) {
  uint32_t left = most < USUAL_GROUP ? (uint32_t)most : USUAL_GROUP;
  for (int k = 0; k < 3; k++) {
    local[k] = k < range->dims ? divisor(range->global[k], left) : 1;
    left /= local[k];
  }
}

static tt_code check_asked(const tt_entry *r, const uint32_t local[3], tt_error *err) {
  const uint32_t *asked = r->asked;
  if (!asked[0] || memcmp(asked, local, 3 * sizeof *local) == 0) return TT_OK;
  return tt__fail(err, TT_EVALUE,
                  "kernel %s wants a local size of (%u, %u, %u) (reqd_work_group_size), (%u, %u, %u) is given", r->name,
                  asked[0], asked[1], asked[2], local[0], local[1], local[2]);
}

static tt_code find_local(const tt_entry *r, const tt_range *range, uint32_t local[3], tt_error *err) {
  char text[96];
  bool given = range->local[0] || range->local[1] || range->local[2];
  for (int k = 0; k < 3; k++) local[k] = k < range->dims ? range->local[k] : 1;
  if (!given && r->asked[0])
    for (int k = 0; k < 3; k++) local[k] = r->asked[k];
  else if (!given)
    choose_local(range, tt__entry_threads(r), local);
  for (int k = 0; k < 3; k++) {
    uint64_t n = k < range->dims ? range->global[k] : 1;
    if (local[k] == 0 || n % local[k] != 0)
      return tt__fail(err, TT_EVALUE, "kernel %s: a local size of %u along axis %d does not divide the global size %s",
                      r->name, local[k], k, sizes(range->global, range->dims, text));
  }
  return check_asked(r, local, err);
}

static tt_code fill_grid(const tt_entry *r, const tt_range *range, tt_grid *g, tt_error *err) {
  char text[96];
  if (range->dims < 1 || range->dims > 3)
    return tt__fail(err, TT_EVALUE, "kernel %s: a range has 1 to 3 axes, not %d", r->name, range->dims);
  for (int k = 0; k < range->dims; k++)
    if (range->global[k] == 0)
      return tt__fail(err, TT_EVALUE, "kernel %s: no work-items in a global size of %s", r->name,
                      sizes(range->global, range->dims, text));
  TT_TRY(find_local(r, range, g->block, err));
  for (int k = 0; k < 3; k++) {
    uint64_t groups = k < range->dims ? range->global[k] / g->block[k] : 1;
    g->grid[k] = groups > UINT32_MAX ? UINT32_MAX : (uint32_t)groups; /* too many: the launch says so */
    g->offset[k] = k < range->dims ? range->offset[k] : 0;
  }
  g->dims = (uint32_t)range->dims;
  return TT_OK;
}

tt_code tt__entry_range(tt_entry *r, const tt_range *range, const tt_argument *arg, int n, tt_error *err) {
  tt_launch_options how = {.copied = NULL};
  if (!r->program->language)
    return tt__fail(err, TT_EVALUE, "kernel %s is not in OpenCL C: launch it over a grid", r->name);
  TT_TRY(fill_grid(r, range, &how.grid, err));
  for (int k = 0; k < n; k++)
    if (arg[k].kind == TT_ARG_LOCAL)
      how.grid.shared = tt__local_after(how.grid.shared, (int64_t)arg[k].as.memory.size, r->program->check);
  return tt__entry_launch(r, &how, arg, n, err);
}
