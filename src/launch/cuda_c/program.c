/*
** Programs: made, kept, asked; see program.h.
*/
#include "launch/cuda_c/program.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "graph/call.h"
#include "graph/session.h"
#include "lang/check/check.h"
#include "launch/opencl_c/device_text.h"
#include "run/wanted.h"

enum { BLOCK_THREADS = 1024 };

/* ---- programs */

static char *copy_text(const char *s) { return s ? tt__mem_dup(s, strlen(s) + 1) : NULL; }
static void free_text(char *s) {
  if (s) tt__mem_free(s, strlen(s) + 1);
}

static bool copy_list(tt_text_list *l, const char *const *item, int n) {
  if (n <= 0) return true;
  l->item = tt__mem_zalloc((size_t)n * sizeof *l->item);
  if (!l->item) return false;
  l->n = n;
  for (int k = 0; k < n; k++)
    if (!(l->item[k] = copy_text(item[k]))) return false;
  return true;
}

static void free_list(tt_text_list *l) {
  for (int k = 0; k < l->n; k++) free_text(l->item[k]);
  tt__mem_free(l->item, (size_t)l->n * sizeof *l->item);
}

static void program_free(tt_program *p) {
  free_text(p->source);
  free_text(p->file);
  free_text(p->words);
  free_list(&p->flag);
  free_list(&p->expression);
  tt__variables_free(p);
  tt__str_free(&p->text);
  tt__str_free(&p->names);
  for (int k = 0; k < p->non; k++) tt__device_program_close(p->on[k].program);
  for (int k = 0; k < p->n; k++)
    tt__mem_free(p->entry[k].offset, (size_t)p->entry[k].nparam * sizeof *p->entry[k].offset);
  tt__mem_free(p->entry, (size_t)p->n * sizeof *p->entry);
  tt__mem_free(p, sizeof *p);
}

static tt_cudac_options options_of(const tt_program *p, int which) {
  return (tt_cudac_options){.language = p->language,
                            .file = p->file,
                            .flag = (const char *const *)p->flag.item,
                            .nflag = p->flag.n,
                            .expression = (const char *const *)p->expression.item,
                            .nexpression = p->expression.n,
                            .check = p->check,
                            .wide = which & TT_PROGRAM_WIDE,
                            .offset = which & TT_PROGRAM_OFFSET};
}

tt_device_program *tt__program_there(const tt_program *p, int id) {
  assert(id >= 0 && p->non >= 0);
  for (int k = 0; k < p->non; k++)
    if (p->on[k].id == id) return p->on[k].program;
  return NULL;
}

static tt_code build_on(tt_program *p, int id, tt_error *err) {
  tt_device *d;
  tt_cudac_options o = options_of(p, 0);
  if (p->non == TT_PROGRAM_DEVICES)
    return tt__fail(err, TT_EDEVICE, "a program runs on at most %d devices", TT_PROGRAM_DEVICES);
  TT_TRY(tt__device_open(id, &d, err));
  TT_TRY(p->language ? tt__device_program_opencl(d, p->source, p->file, p->words, &p->on[p->non].program, err)
                     : tt__device_program_open(d, p->source, &o, &p->on[p->non].program, err));
  p->on[p->non++].id = id;
  return TT_OK;
}

tt_code tt__program_need(tt_program *p, int id, int which, tt_error *err) {
  tt_code code = TT_OK;
  tt_cudac_options o = options_of(p, which);
  tt__lock(&p->lock);
  bool fresh = id > 0 ? !tt__program_there(p, id) : !p->built[which];
  if (fresh && id > 0)
    code = build_on(p, id, err);
  else if (fresh)
    code = tt__cudac_build(p->source, &o, &p->built[which], which ? NULL : &p->names, which ? NULL : &p->text, err);
  if (fresh && code == TT_OK) code = tt__variables_give(p, id, which, err);
  tt__unlock(&p->lock);
  return code;
}

/* Cut a line "kernel\tfirst,second\n" of a build's names apart, in place; returns the next line. */
static char *name_params(tt_entry *e, char *line) {
  char *end = line ? strchr(line, '\n') : NULL;
  if (!end) return NULL;
  *end = 0;
  char *tab = strchr(line, '\t');
  int n = 1;
  for (char *c = tab; c && (c = strchr(c, ',')) != NULL; n++) *c++ = 0;
  if (tab && tab[1] && n == e->nparam) e->params = tab + 1;
  return end + 1;
}

/* A __local argument's parameter has a name of ours: tt_at_NAME. */
static const char *own_name(const char *name) { return strncmp(name, "tt_at_", 6) == 0 ? name + 6 : name; }

/* Where each parameter stands in the one struct that they are for a device. */
static bool place_params(tt_entry *e) {
  if (e->nparam && !(e->offset = tt__mem_alloc((size_t)e->nparam * sizeof *e->offset))) return false;
  for (int k = 0; k < e->nparam; k++) {
    int align = e->param[k].align > 0 ? e->param[k].align : 1;
    e->offset[k] = (e->size + align - 1) / align * align;
    e->size = e->offset[k] + e->param[k].size;
  }
  return true;
}

static bool list_entries(tt_program *p) {
  tt_device_program *away = tt__program_there(p, p->home);
  int n = away ? away->n : p->built[0]->nentry;
  p->entry = tt__mem_zalloc((size_t)n * sizeof *p->entry);
  if (n && !p->entry) return false;
  p->n = n;
  for (int k = 0; away && k < n; k++) {
    const tt_device_entry *d = &away->entry[k];
    tt__str_addf(&p->names, "%s\t%s\n", d->name, d->params);
    p->entry[k] = (tt_entry){.program = p,
                             .name = d->name,
                             .nparam = d->nparam,
                             .param = d->param,
                             .waits = d->waits,
                             .most_threads = d->info.block_threads,
                             .asked = {d->info.asked[0], d->info.asked[1], d->info.asked[2]}};
  }
  for (int k = 0; !away && k < n; k++) {
    const tt_cudac_entry *c = p->built[0]->entry[k];
    p->entry[k] = (tt_entry){.program = p,
                             .name = c->name,
                             .nparam = c->nparam,
                             .param = c->param,
                             .waits = (c->sync & 3) == 1 || c->sync == 2,
                             .most_threads = c->max_threads,
                             .asked = {c->asked[0], c->asked[1], c->asked[2]}};
  }
  char *line = p->names.data;
  bool placed = true;
  for (int k = 0; k < n; k++) {
    line = name_params(&p->entry[k], line);
    placed &= place_params(&p->entry[k]);
  }
  return placed && !p->names.failed;
}

/*
** For the device that this thread's arrays are put on; for the CPU otherwise, if it has a compiler. The simulated
** device runs the CPU's code.
*/
static tt_code first_build(tt_program *p, tt_error *err) {
  char path[512], why[256];
  int chosen = tt__wanted();
  tt__cudac_compiler(path, sizeof path, why, sizeof why);
  if (chosen <= 0 && !path[0] && tt__device_count(TT_DEVICE_CUDA, NULL, 0) > 0)
    TT_TRY(tt__device_named("cuda", &chosen, err));
  /* OpenCL's compilers do not tell what kernels in CUDA C take: the CPU's build does. */
  tt_device_kind kind = chosen > 0 ? tt__device_kind(chosen) : TT_DEVICE_CPU;
  p->home = kind == TT_DEVICE_NULL || kind == TT_DEVICE_OPENCL || chosen <= 0 ? 0 : chosen;
  return tt__program_need(p, p->home, 0, err);
}

/* The same of a language whose texts devices with handles compile: on the CPU unless somebody chose one of those, or
 * there is nothing else. */
static tt_code first_build_in(tt_program *p, int device, tt_error *err) {
  char path[512], why[256], name[16];
  int chosen = device >= 0 ? device : tt__wanted();
  tt__cudac_compiler(path, sizeof path, why, sizeof why);
  tt_device_kind kind = chosen > 0 ? tt__device_kind(chosen) : TT_DEVICE_CPU;
  if (device > 0 && kind == TT_DEVICE_CUDA)
    return tt__fail(err, TT_EVALUE, "%s runs on the CPU and on OpenCL's devices: %s has no compiler for it",
                    p->language->name, tt__device_name(device, name));
  if (chosen <= 0 && device < 0 && !path[0] && tt__device_count(TT_DEVICE_OPENCL, NULL, 0) > 0)
    TT_TRY(tt__device_named("opencl", &chosen, err));
  p->home = chosen > 0 && tt__device_kind(chosen) == TT_DEVICE_OPENCL ? chosen : 0;
  return tt__program_need(p, p->home, 0, err);
}

tt_code tt__program_new(const char *source, const tt_program_options *options, tt_program **out, tt_error *err) {
  tt_source s = {.text = source, .cuda = options, .device = -1};
  return tt__program_new_in(NULL, &s, out, err);
}

tt_code tt__program_new_in(const tt_cudac_language *language, const tt_source *s, tt_program **out, tt_error *err) {
  assert(s->text && out);
  static const tt_program_options none;
  const tt_program_options *o = s->cuda ? s->cuda : &none;
  const char *source = s->text;
  *out = NULL;
  tt_program *p = tt__mem_zalloc(sizeof *p);
  if (!p) return tt__fail_memory(err, sizeof *p);
  pthread_mutex_init(&p->lock.mutex, NULL);
  p->refs = 1;
  p->check = tt__check_wanted();
  p->ran = -1;
  p->source = copy_text(source);
  p->language = language;
  p->file = copy_text(o->file ? o->file : language ? language->file : "kernel.cu");
  p->prints = strstr(source, "printf") != NULL || strstr(source, "#include \"") != NULL;
  p->words = copy_text(s->words);
  bool ok = p->source && p->file && (p->words || !s->words) && copy_list(&p->flag, o->flag, o->nflag) &&
            copy_list(&p->expression, o->expression, o->nexpression);
  tt_code code = !ok        ? tt__fail_memory(err, strlen(source))
                 : language ? first_build_in(p, s->device, err)
                            : first_build(p, err);
  if (code == TT_OK && !list_entries(p)) code = tt__fail_memory(err, sizeof *p->entry);
  if (code == TT_OK)
    *out = p;
  else
    program_free(p);
  return code;
}

void tt__program_release(tt_program *p) {
  tt__session_lock();
  assert(p->refs > 0);
  bool last = --p->refs == 0;
  tt__session_unlock();
  if (last) program_free(p);
}

tt_code tt__program_find(tt_program *p, const char *name, tt_entry **out, tt_error *err) {
  char known[512] = "";
  size_t n = 0;
  *out = NULL;
  for (int k = 0; k < p->n; k++) {
    if (strcmp(p->entry[k].name, name) == 0) {
      *out = &p->entry[k];
      return TT_OK;
    }
    if (n < sizeof known) n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", k ? ", " : "", p->entry[k].name);
  }
  return tt__fail(err, TT_EVALUE, "the program has no kernel '%.200s'; it has %s", name, known[0] ? known : "none");
}

/* ---- kernels */

int tt__entry_threads(const tt_entry *e) {
  return e->most_threads > 0 && e->most_threads < BLOCK_THREADS ? e->most_threads : BLOCK_THREADS;
}

tt_dtype tt__entry_dtype(int kind) {
  int t = kind & ~(TT_CUDAC_POINTER | TT_CUDAC_CONST);
  return t < TT_DTYPE_COUNT ? (tt_dtype)t : TT_DTYPE_NONE;
}

static const char *param_name(const tt_entry *r, int k) {
  const char *name = r->params;
  for (; name && k > 0; k--) name += strlen(name) + 1;
  return name ? name : "";
}

tt_code tt__entry_parameter(const tt_entry *r, int k, tt_parameter *out, tt_error *err) {
  assert(r->nparam >= 0 && out);
  if (k < 0 || k >= r->nparam) return tt__fail(err, TT_EINDEX, "kernel %s has no parameter %d", r->name, k);
  const tt_cudac_param *p = &r->param[k];
  *out = (tt_parameter){.name = own_name(param_name(r, k)),
                        .dtype = tt__entry_dtype(p->kind),
                        .is_pointer = (p->kind & TT_CUDAC_POINTER) != 0,
                        .is_const = (p->kind & TT_CUDAC_CONST) != 0,
                        .size = p->size};
  const char *name = out->dtype == TT_DTYPE_NONE ? "void" : tt__dtypes[out->dtype].name;
  if (p->kind == TT_CUDAC_LOCAL)
    snprintf(out->type, sizeof out->type, "local memory");
  else if (out->is_pointer)
    snprintf(out->type, sizeof out->type, "%s%s *", out->is_const ? "const " : "", name);
  else if (out->dtype == TT_DTYPE_NONE)
    snprintf(out->type, sizeof out->type, "struct of %d bytes", p->size);
  else
    snprintf(out->type, sizeof out->type, "%s", name);
  return TT_OK;
}
