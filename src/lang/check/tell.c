/*
** What a checked launch found, in words.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/check/check_int.h"

enum { NEAR = 64 << 20 }; /* bytes within which an index still means something */

typedef struct words {
  char text[300];
} words;

static words place_of(const tt_check *c, const touch *t) {
  words w;
  uint32_t b = t->block - 1, k = t->thread;
  snprintf(w.text, sizeof w.text, "block (%u, %u, %u), thread (%u, %u, %u)", b % c->grid[0],
           b / c->grid[0] % c->grid[1], b / c->grid[0] / c->grid[1], k % c->dim[0], k / c->dim[0] % c->dim[1],
           k / c->dim[0] / c->dim[1]);
  return w;
}

static words line_of(const tt_check *c, const touch *t) {
  words w = {""};
  c->sites.where(c->sites.ctx, t->site, w.text, sizeof w.text);
  return w;
}

/* "argument 2 'c' (float32[1000])" */
static words name_of(const tt_check_area *a) {
  words w;
  size_t n = 0;
  const char *kind = a->space == TT_CHECK_SHARED ? "shared memory" : a->number ? "argument" : "variable";
  n += (size_t)snprintf(w.text, sizeof w.text, "%s", kind);
  if (a->number) n += (size_t)snprintf(w.text + n, sizeof w.text - n, " %d", a->number);
  if (a->name[0]) n += (size_t)snprintf(w.text + n, sizeof w.text - n, " '%s'", a->name);
  if (a->type[0]) snprintf(w.text + n, sizeof w.text - n, " (%s)", a->type);
  return w;
}

/* The element at `at`, counted in the area's elements, or in the access's where it has none of a known size. */
static long long index_of(const tt_check_area *a, const char *at, size_t size) {
  int64_t item = a->item ? a->item : (int64_t)size, off = at - a->base;
  return (off - (off < 0 ? item - 1 : 0)) / item;
}

static tt_code tell_outside(const tt_check *c, const finding *f, tt_error *err) {
  const char *what = f->writes ? "write" : "read";
  words line = line_of(c, &f->now), place = place_of(c, &f->now);
  int64_t far = 0;
  const tt_check_area *a = tt__check_nearest(c, f->at, &far);
  if ((uintptr_t)f->at < NEAR / 1024)
    return tt__fail(
        err, TT_EINDEX,
        "kernel '%s': %s of %zu bytes through a null pointer (%p: an argument that is None, or shared memory "
        "that the launch does not give), %s, %s",
        c->kernel, what, f->size, (const void *)f->at, place.text, line.text);
  if (!a || llabs(far) > NEAR)
    return tt__fail(err, TT_EINDEX, "kernel '%s': %s of %zu bytes at %p, where no array of the kernel lies, %s, %s",
                    c->kernel, what, f->size, (const void *)f->at, place.text, line.text);
  return tt__fail(err, TT_EINDEX, "kernel '%s': %s of %zu bytes %s %s: index %lld, %s, %s", c->kernel, what, f->size,
                  far < 0 ? "before the beginning of" : "past the end of", name_of(a).text, index_of(a, f->at, f->size),
                  place.text, line.text);
}

/* The compiler writes 'float [16]', or 'float[16]', in quotes. */
static tt_code tell_beyond(const tt_check *c, const finding *f, tt_error *err) {
  const char *name = f->type + (f->type[0] == '\''), *open = strchr(name, '[');
  long long size = open ? strtoll(open + 1, NULL, 10) : 0;
  return tt__fail(err, TT_EINDEX,
                  "kernel '%s': index %lld is out of bounds for an array of %lld elements (%.*s), %s, %s", c->kernel,
                  (long long)f->index, size, (int)strcspn(name, "'"), name, place_of(c, &f->now).text,
                  line_of(c, &f->now).text);
}

static tt_code tell_strays(const tt_check *c, const finding *f, tt_error *err) {
  return tt__fail(err, TT_EINDEX, "kernel '%s': %s of a value (%s) beyond the variable that is pointed into, %s, %s",
                  c->kernel, f->writes ? "write" : "read", f->type, place_of(c, &f->now).text,
                  line_of(c, &f->now).text);
}

/* "shared memory 'tile', element 3", "element [0, 3]" */
static words element_of(const tt_check *c, const finding *f) {
  int64_t far;
  words w = {"memory"};
  const tt_check_area *a = tt__check_nearest(c, f->at, &far);
  if (!a) return w;
  long long index = index_of(a, f->at, f->size), step = 1;
  size_t n = (size_t)snprintf(w.text, sizeof w.text, "%.180s, element ", name_of(a).text);
  if (a->rank < 2) {
    snprintf(w.text + n, sizeof w.text - n, "%lld", index);
    return w;
  }
  for (int k = 1; k < a->rank; k++) step *= a->len[k];
  for (int k = 0; k < a->rank && n < sizeof w.text; k++) {
    n += (size_t)snprintf(w.text + n, sizeof w.text - n, k ? ", %lld" : "[%lld", index / step);
    index %= step;
    if (k + 1 < a->rank) step /= a->len[k + 1];
  }
  if (n < sizeof w.text) snprintf(w.text + n, sizeof w.text - n, "]");
  return w;
}

static const char *order_of(const tt_check *c, const finding *f) {
  if (f->now.block == f->before.block) return "with no barrier between";
  return c->together ? "with no barrier of the grid between" : "and nothing orders two blocks";
}

static tt_code tell_race(const tt_check *c, const finding *f, tt_error *err) {
  return tt__fail(err, TT_EDEVICE, "kernel '%s': a race in %s: %s %s%s it on %s; %s %s%s it on %s, %s", c->kernel,
                  element_of(c, f).text, place_of(c, &f->before).text, f->before.atomic ? "atomically " : "",
                  f->wrote ? "writes" : "reads", line_of(c, &f->before).text, place_of(c, &f->now).text,
                  f->now.atomic ? "atomically " : "", f->writes ? "writes" : "reads", line_of(c, &f->now).text,
                  order_of(c, f));
}

tt_code tt__check_tell(const tt_check *c, tt_error *err) {
  const finding *f = &c->found;
  switch (f->kind) {
    case NOTHING:
      return TT_OK;
    case OUTSIDE:
      return tell_outside(c, f, err);
    case BEYOND:
      return tell_beyond(c, f, err);
    case STRAYS:
      return tell_strays(c, f, err);
    case UNWRITTEN:
      return tt__fail(err, TT_EDEVICE, "kernel '%s': %s is read on %s before anybody wrote it, %s", c->kernel,
                      element_of(c, f).text, line_of(c, &f->now).text, place_of(c, &f->now).text);
    case RACE:
      return tell_race(c, f, err);
    case PARTED:
      return tt__fail(err, TT_EDEVICE, "kernel '%s': a barrier in divergent flow: %s waits on %s, %s waits on %s",
                      c->kernel, place_of(c, &f->before).text, line_of(c, &f->before).text, place_of(c, &f->now).text,
                      line_of(c, &f->now).text);
    case SKIPPED:
      return tt__fail(err, TT_EDEVICE,
                      "kernel '%s': a barrier that some threads of the block do not reach: %s waits on %s, %s has "
                      "ended without",
                      c->kernel, place_of(c, &f->now).text, line_of(c, &f->now).text, place_of(c, &f->before).text);
    case DESERTED:
      return tt__fail(
          err, TT_EDEVICE,
          "kernel '%s': a barrier of the grid that some blocks do not reach: %s waits on %s, all threads of "
          "another block have ended, %s last",
          c->kernel, place_of(c, &f->now).text, line_of(c, &f->now).text, place_of(c, &f->before).text);
  }
  return TT_OK;
}

void tt__check_waits(const tt_check *c, char *out, size_t size) {
  out[0] = 0;
  const touch *t = &c->at->waits;
  if (t->block) snprintf(out, size, "; %.120s waits on %.60s", place_of(c, t).text, line_of(c, t).text);
}
