/*
** Code for devices; see device_code.h. The session lock guards the table and is given up while the compiler runs.
*/
#include "run/device/device_code.h"

#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "graph/session.h"
#include "render/render.h"
#include "render/trim.h"
#include "run/cache/cache.h"
#include "run/device/batch.h"

#define BUCKETS 512

/* A routine of one device, found by what it was made from, or (`routine` NULL) the module of a text with several.
** Never freed: a program has few. */
typedef struct code {
  tt_digest key;
  tt_device *device;
  tt_module *module;
  tt_routine *routine;
  struct code *next;
} code;

static code *bucket[BUCKETS];

static code *find(const tt_device *d, tt_digest key) {
  for (code *c = bucket[key.lo % BUCKETS]; c; c = c->next)
    if (c->device == d && c->key.lo == key.lo && c->key.hi == key.hi) return c;
  return NULL;
}

const tt_dialect *tt__device_dialect(const tt_device *d) {
  if (d->target.kind != TT_DEVICE_OPENCL) return &tt__dialect_cuda;
  return d->target.serial ? &tt__dialect_opencl_loops : &tt__dialect_opencl;
}

/* Functions of float32 may take steps in float64, which a kernel's types do not show: then the compiler's words do. */
static tt_code compile(tt_device *d, const char *source, const char *options, tt_str *binary, tt_error *err) {
  tt_code c = d->ops->compile(d, source, options, binary, err);
  const char *word = tt__device_dialect(d)->no_doubles;
  if (c != TT_ECOMPILE || !word || !err || !strstr(err->message, word)) return c;
  return tt__fail(err, TT_ENOTIMPL, "%s has no float64, in which this is computed", d->name);
}

/* Source to binary: from the disk, or from the compiler and then to the disk. */
static tt_code binary_of(tt_device *d, tt_digest key, const char *source, const char *name, tt_str *binary,
                         tt_error *err) {
  tt_str identity = {0};
  d->ops->identity(d, &identity);
  const char *options = tt__device_dialect(d)->options;
  if (identity.len) tt__str_addf(&identity, " %s", options);
  tt_cache_place place = {.identity = identity.data ? identity.data : ""};
  tt_cache_item item = {.key = key, .text = "", .source = source, .symbol = name};
  tt_code c = TT_OK;
  if (tt__cache_find_binary(&place, &item, binary)) {
    TT_COUNT(cache_hits, 1);
  } else {
    int64_t start = tt__clock_ns();
    TT_COUNT(cache_misses, 1);
    c = compile(d, source, options, binary, err);
    TT_COUNT(compile_us, (tt__clock_ns() - start) / 1000);
    TT_COUNT(compiles, c == TT_OK);
    TT_COUNT(compile_failures, c != TT_OK);
    if (c == TT_OK) tt__cache_store(&place, &item, 1, binary->data, binary->len);
  }
  tt__str_free(&identity);
  return c;
}

static code *keep(code made) {
  code *kept = tt__mem_dup(&made, sizeof made);
  if (!kept) return NULL;
  kept->next = bucket[made.key.lo % BUCKETS];
  bucket[made.key.lo % BUCKETS] = kept;
  return kept;
}

/* Compile and load, the lock given up; what another thread made meanwhile is as good. `routine`: `name` is one. */
static tt_code make(tt_device *d, tt_digest key, const tt_str *source, const char *name, bool routine, const code **out,
                    tt_error *err) {
  if (source->failed) return tt__fail_memory(err, source->len);
  if (tt__log_on(TT_LOG_RENDER)) tt__log_artefact(TT_LOG_RENDER, name, source->data);
  code made = {.key = key, .device = d};
  tt_str binary = {0};
  TT_TRY(tt__batch_flush(err)); /* other threads may ask for work on memory that is used last by what is gathered */
  int depth = tt__session_suspend();
  tt_code c = binary_of(d, key, source->data, name, &binary, err);
  if (c == TT_OK) c = d->ops->load(d, binary.data, binary.len, &made.module, err);
  if (c == TT_OK && routine) c = d->ops->routine(d, made.module, name, &made.routine, NULL, err);
  tt__str_free(&binary);
  tt__session_resume(depth);
  const code *kept = c == TT_OK ? keep(made) : NULL;
  if (!kept) {
    if (made.module) d->ops->unload(d, made.module);
    return c == TT_OK ? tt__fail_memory(err, sizeof made) : c;
  }
  *out = kept;
  return TT_OK;
}

/* What the text calls of the header, and the text. */
static void join(const tt_str *header, const char *text, tt_str *source) {
  source->failed |= header->failed;
  if (!source->failed && header->len) tt__trim(header->data, text, source);
  tt__str_add(source, text);
}

tt_code tt__device_kernel(tt_device *d, const tt_kernel *k, const tt_variant *v, tt_routine **out, tt_error *err) {
  struct {
    tt_digest kernel;
    uint8_t variant[64];
  } what = {.kernel = k->key};
  _Static_assert(sizeof *v <= sizeof what.variant, "the key holds the whole variant");
  memcpy(what.variant, v, sizeof *v);
  tt_digest key = tt__digest(&what, sizeof what);
  const code *known = find(d, key);
  if (known) {
    *out = known->routine;
    return TT_OK;
  }
  char name[TT_RENDER_NAME];
  tt_str header = {0}, text = {0}, source = {0};
  tt__render_name(k, name);
  tt__render_header_for(tt__device_dialect(d), k, &header);
  tt_code c = tt__threads_render(k, tt__device_dialect(d), v, name, &text, err);
  if (c == TT_OK) join(&header, text.data, &source);
  if (c == TT_OK) c = make(d, key, &source, name, true, &known, err);
  if (c == TT_OK) *out = known->routine;
  tt__str_free(&header);
  tt__str_free(&text);
  tt__str_free(&source);
  return c;
}

tt_code tt__device_text(tt_device *d, const char *text, int header, const char *name, tt_routine **out, tt_error *err) {
  tt_digest part[2] = {tt__digest(text, strlen(text)), tt__digest(name, strlen(name))};
  tt_digest key = tt__digest(part, sizeof part);
  const code *known = find(d, key);
  if (known) {
    *out = known->routine;
    return TT_OK;
  }
  const code *whole = find(d, part[0]);
  if (!whole) { /* all routines of a text come from one binary */
    tt_str above = {0}, source = {0};
    if (header != TT_HEADER_NONE) tt__render_header(tt__device_dialect(d), (tt_scalar_text)header, &above);
    join(&above, text, &source);
    tt_code c = make(d, part[0], &source, "text", false, &whole, err);
    tt__str_free(&above);
    tt__str_free(&source);
    if (c != TT_OK) return c;
  }
  code made = {.key = key, .device = d, .module = whole->module};
  TT_TRY(d->ops->routine(d, made.module, name, &made.routine, NULL, err));
  known = keep(made);
  if (!known) return tt__fail_memory(err, sizeof made);
  *out = known->routine;
  return TT_OK;
}
