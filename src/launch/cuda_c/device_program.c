/*
** Programs on devices; see program.h.
*/
#include "launch/cuda_c/device_program.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "graph/session.h"
#include "lang/cuda_c/device.h"
#include "lang/cuda_c/opencl_text.h"
#include "run/cache/cache.h"

/* ---- code */

tt_code tt__device_binary(tt_device *d, const tt_device_source *s, tt_str *binary, tt_error *err) {
  tt_str identity = {0};
  d->ops->identity(d, &identity);
  tt_cache_place place = {.identity = identity.data ? identity.data : ""};
  tt_digest part[3] = {tt__digest(s->text, strlen(s->text)), tt__digest(s->options, strlen(s->options)),
                       tt__digest(s->symbol, strlen(s->symbol))};
  tt_cache_item item = {
      .key = tt__digest(part, sizeof part), .text = s->options, .source = s->text, .symbol = s->symbol};
  tt_code code = TT_OK;
  if (s->keep && tt__cache_find_binary(&place, &item, binary)) {
    TT_COUNT(cache_hits, 1);
  } else {
    int64_t start = tt__clock_ns();
    code = s->make(d, s->text, s->options, binary, err);
    TT_COUNT(compile_us, (tt__clock_ns() - start) / 1000);
    TT_COUNT(compiles, code == TT_OK);
    TT_COUNT(compile_failures, code != TT_OK);
    if (code == TT_OK && s->keep) tt__cache_store(&place, &item, 1, binary->data, binary->len);
  }
  tt__str_free(&identity);
  return code;
}

const char *tt__device_behind(const tt_str *binary, const char *mark, size_t *size) {
  const size_t len = strlen(mark);
  uint64_t n;
  if (binary->len < len + sizeof n || memcmp(binary->data + binary->len - len, mark, len) != 0) return NULL;
  memcpy(&n, binary->data + binary->len - len - sizeof n, sizeof n);
  if (n > binary->len - len - sizeof n) return NULL;
  *size = n;
  return binary->data + binary->len - len - sizeof n - n;
}

static tt_code binary_of(tt_device *d, const tt_cudac_device_text *t, tt_str *binary, tt_error *err) {
  const char *options = t->options.data ? t->options.data : "";
  bool keep = !strstr(t->text.data, "#include \"") && !strstr(options, "-I") && !strstr(options, "--include");
  tt_device_source s = {t->text.data, options, "program", keep, d->ops->compile};
  return tt__device_binary(d, &s, binary, err);
}

/* The text made with all kernels, or, when it does not compile so, without those that #if may have taken out. */
static tt_code make_binary(tt_device *d, const char *source, const tt_cudac_options *o, tt_cudac_device_text *t,
                           tt_str *binary, tt_error *err) {
  if (d->target.handles) {
    TT_TRY(tt__cudac_opencl_text(source, o, t, err));
    return binary_of(d, t, binary, err);
  }
  TT_TRY(tt__cudac_device_text(source, o, true, t, err));
  tt_code code = binary_of(d, t, binary, err);
  if (code != TT_EDEVICE || !t->is_unsure) return code;
  tt_cudac_device_text fewer;
  tt__str_clear(binary);
  tt_code again = tt__cudac_device_text(source, o, false, &fewer, NULL);
  if (again == TT_OK) again = binary_of(d, &fewer, binary, NULL);
  if (again != TT_OK) {
    tt__cudac_device_free(&fewer);
    return code;
  }
  tt__cudac_device_free(t);
  *t = fewer;
  return TT_OK;
}

/* A copy of the text up to `end`, and what follows. */
static char *take_text(const char **at, const char *stop, char end) {
  const char *from = *at, *to = from < stop ? memchr(from, end, (size_t)(stop - from)) : NULL;
  if (!to) to = stop;
  char *text = tt__mem_alloc((size_t)(to - from) + 1);
  if (!text) return NULL;
  memcpy(text, from, (size_t)(to - from));
  text[to - from] = 0;
  *at = to < stop ? to + 1 : stop;
  return text;
}

static void free_text(char *s) {
  if (s) tt__mem_free(s, strlen(s) + 1);
}

/* Types of the k-th entry's parameters, from the module's memory. */
static tt_code read_types(tt_device_program *p, int k, tt_error *err) {
  tt_device_entry *e = &p->entry[k];
  tt_device *d = p->device;
  tt_str name = {0};
  void *at;
  size_t size;
  tt__str_addf(&name, "tt_types_%d", k);
  if (name.failed) return tt__fail_memory(err, name.len);
  tt_code code = d->ops->global ? d->ops->global(d, p->module, name.data, &at, &size, err)
                                : tt__fail(err, TT_EDEVICE, "%s cannot run programs", d->name);
  tt__str_free(&name);
  if (code != TT_OK) return code;
  int *table = tt__mem_zalloc(size);
  if (!table) return tt__fail_memory(err, size);
  code = d->ops->copy_out(d, d->work, table, at, size, err);
  if (code == TT_OK) code = d->ops->stream_wait_idle(d, d->work, err);
  int n = code == TT_OK && table[0] >= 0 && (size_t)table[0] < size / (3 * sizeof(int)) ? table[0] : 0;
  if (code == TT_OK && n) {
    e->param = tt__mem_dup(table + 1, (size_t)n * sizeof *e->param);
    if (!e->param) code = tt__fail_memory(err, (size_t)n * sizeof *e->param);
    e->nparam = e->param ? n : 0;
  }
  tt__mem_free(table, size);
  return code;
}

/* What a kernel is called where no compiler tells it. */
static char *own_symbol(const char *name) {
  tt_str s = {0};
  if (name) tt__str_addf(&s, TT_CUDAC_OPENCL_NAME "%s", name);
  char *kept = name && !s.failed ? tt__mem_dup(s.data, s.len + 1) : NULL;
  tt__str_free(&s);
  return kept;
}

static tt_code find_parts(tt_device_program *p, const tt_cudac_device_text *t, const tt_str *binary, tt_error *err) {
  size_t size = 0;
  const char *symbol = tt__device_behind(binary, TT_NVRTC_MARK, &size), *stop = symbol ? symbol + size : NULL;
  const char *line = t->entries.data ? t->entries.data : "", *lines = line + strlen(line);
  bool named = p->device->target.handles; /* kernels have their own names there, and what they take is not asked */
  if (!symbol && !named && t->nentry + t->nvariable) return tt__fail(err, TT_EDEVICE, "the compiler named no symbols");
  p->entry = tt__mem_zalloc((size_t)t->nentry * sizeof *p->entry);
  p->variable = tt__mem_zalloc((size_t)t->nvariable * sizeof *p->variable);
  if ((t->nentry && !p->entry) || (t->nvariable && !p->variable)) return tt__fail_memory(err, sizeof *p->entry);
  p->n = p->entry ? t->nentry : 0;
  p->nvariable = p->variable ? t->nvariable : 0;
  for (int k = 0; k < t->nentry; k++) {
    tt_device_entry *e = &p->entry[k];
    e->name = take_text(&line, lines, '\t');
    e->together = line < lines && *line == '2';
    e->waits = line < lines && *line != '0';
    if (line < lines) line += 2; /* and the tab */
    e->params = take_text(&line, lines, '\n');
    char *s = named ? own_symbol(e->name) : take_text(&symbol, stop, '\n');
    if (!e->name || !e->params || !s) {
      free_text(s);
      return tt__fail_memory(err, size);
    }
    tt_code code = p->device->ops->routine(p->device, p->module, s, &e->routine, &e->info, err);
    free_text(s);
    if (code == TT_OK && !named) code = read_types(p, k, err);
    if (code != TT_OK) return code;
  }
  line = t->variables.data ? t->variables.data : "";
  lines = line + strlen(line);
  for (int k = 0; k < t->nvariable; k++) {
    p->variable[k].name = take_text(&line, lines, '\n');
    p->variable[k].symbol = take_text(&symbol, stop, '\n');
    if (!p->variable[k].name || !p->variable[k].symbol) return tt__fail_memory(err, size);
  }
  return TT_OK;
}

tt_code tt__device_program_open(tt_device *d, const char *source, const tt_cudac_options *o, tt_device_program **out,
                                tt_error *err) {
  tt_cudac_device_text t = {0};
  tt_str binary = {0};
  *out = NULL;
  assert(d && source && o);
  tt_device_program *p = tt__mem_zalloc(sizeof *p);
  if (!p) return tt__fail_memory(err, sizeof *p);
  p->device = d;
  tt_code code = make_binary(d, source, o, &t, &binary, err);
  if (code == TT_OK) code = d->ops->load(d, binary.data, binary.len, &p->module, err);
  if (code == TT_OK) code = find_parts(p, &t, &binary, err);
  tt__str_free(&binary);
  tt__cudac_device_free(&t);
  if (code == TT_OK)
    *out = p;
  else
    tt__device_program_close(p);
  return code;
}

/* The module stays: work that was asked for may still run. */
void tt__device_program_close(tt_device_program *p) {
  if (!p) return;
  for (int k = 0; k < p->n; k++) {
    free_text(p->entry[k].name);
    free_text(p->entry[k].params);
    tt__mem_free(p->entry[k].param, (size_t)p->entry[k].nparam * sizeof *p->entry[k].param);
  }
  for (int k = 0; k < p->nvariable; k++) {
    free_text(p->variable[k].name);
    free_text(p->variable[k].symbol);
  }
  tt__mem_free(p->entry, (size_t)p->n * sizeof *p->entry);
  tt__mem_free(p->variable, (size_t)p->nvariable * sizeof *p->variable);
  tt__mem_free(p, sizeof *p);
}

tt_code tt__device_program_variable(tt_device_program *p, const char *name, void **at, size_t *size, tt_error *err) {
  for (int k = 0; k < p->nvariable; k++)
    if (strcmp(p->variable[k].name, name) == 0)
      return p->device->ops->global(p->device, p->module, p->variable[k].symbol, at, size, err);
  return tt__fail(err, TT_EVALUE, "the program has no __device__ or __constant__ variable '%.200s'", name);
}
