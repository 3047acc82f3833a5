/*
** The functions of tutti/kernel.h: programs as objects, arguments as raw memory for as long as a kernel runs.
*/
#include "tutti/kernel.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/host.h"
#include "graph/session.h"
#include "lang/cudac.h"
#include "lang/cudac_run.h"
#include "run/program.h"

enum { SHARED_LIMIT = 48 << 10, BLOCK_THREADS = 1024, DEVICES = 16 };

struct tt_entry {
  tt_program *program;
  const char *name;
  const char *params; /* in the program's `names`: a text for each parameter, one behind the other; NULL: not known */
  int nparam, most_threads;
  bool waits;
  const tt_cudac_param *param; /* of the build that the entries come from */
};

typedef struct text_list {
  char **item;
  int n;
} text_list;

typedef struct device_build {
  int id;
  tt_device_program *program;
} device_build;

struct tt_program {
  int64_t refs; /* under the session lock */
  tt_lock lock; /* guards the builds, which are made when they are first needed and stay */
  const tt_cudac_program *plain, *wide;
  device_build on[DEVICES]; /* the first `non` */
  int non;
  int home; /* where it was built first: a device's id */
  char *source, *file;
  text_list flag, expression;
  tt_str text, names;
  tt_entry *entry;
  int n;
};

/* ---- programs */

static char *copy_text(const char *s) { return s ? tt__mem_dup(s, strlen(s) + 1) : NULL; }
static void free_text(char *s) {
  if (s) tt__mem_free(s, strlen(s) + 1);
}

static bool copy_list(text_list *l, const char *const *item, int n) {
  if (n <= 0) return true;
  l->item = tt__mem_zalloc((size_t)n * sizeof *l->item);
  if (!l->item) return false;
  l->n = n;
  for (int k = 0; k < n; k++)
    if (!(l->item[k] = copy_text(item[k]))) return false;
  return true;
}

static void free_list(text_list *l) {
  for (int k = 0; k < l->n; k++) free_text(l->item[k]);
  tt__mem_free(l->item, (size_t)l->n * sizeof *l->item);
}

static void program_free(tt_program *p) {
  free_text(p->source);
  free_text(p->file);
  free_list(&p->flag);
  free_list(&p->expression);
  tt__str_free(&p->text);
  tt__str_free(&p->names);
  for (int k = 0; k < p->non; k++) tt__program_close(p->on[k].program);
  tt__mem_free(p->entry, (size_t)p->n * sizeof *p->entry);
  tt__mem_free(p, sizeof *p);
}

static tt_cudac_options options_of(const tt_program *p, bool wide) {
  return (tt_cudac_options){.file = p->file,
                            .flag = (const char *const *)p->flag.item,
                            .nflag = p->flag.n,
                            .expression = (const char *const *)p->expression.item,
                            .nexpression = p->expression.n,
                            .wide = wide};
}

/* The build for a device, or NULL. */
static tt_device_program *there(const tt_program *p, int id) {
  for (int k = 0; k < p->non; k++)
    if (p->on[k].id == id) return p->on[k].program;
  return NULL;
}

static tt_code build_on(tt_program *p, int id, tt_error *err) {
  tt_device *d;
  tt_cudac_options o = options_of(p, false);
  if (there(p, id)) return TT_OK;
  if (p->non == DEVICES) return tt__fail(err, TT_EDEVICE, "a program runs on at most %d devices", DEVICES);
  TT_TRY(tt__device_open(id, &d, err));
  TT_TRY(tt__program_open(d, p->source, &o, &p->on[p->non].program, err));
  p->on[p->non++].id = id;
  return TT_OK;
}

/* The build for a device (0: the CPU), made if need be. */
static tt_code need_build(tt_program *p, int id, bool wide, tt_error *err) {
  tt_code code = TT_OK;
  tt_cudac_options o = options_of(p, wide);
  tt__lock(&p->lock);
  if (id > 0)
    code = build_on(p, id, err);
  else if (wide ? !p->wide : !p->plain)
    code = tt__cudac_build(p->source, &o, wide ? &p->wide : &p->plain, wide ? NULL : &p->names, wide ? NULL : &p->text,
                           err);
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

static bool list_entries(tt_program *p) {
  tt_device_program *away = there(p, p->home);
  int n = away ? away->n : p->plain->nentry;
  p->entry = tt__mem_zalloc((size_t)n * sizeof *p->entry);
  if (n && !p->entry) return false;
  p->n = n;
  for (int k = 0; away && k < n; k++) {
    const tt_device_entry *d = &away->entry[k];
    tt__str_addf(&p->names, "%s\t%s\n", d->name, d->params);
    p->entry[k] = (tt_entry){
        .program = p, .name = d->name, .nparam = d->nparam, .param = d->param, .most_threads = d->info.block_threads};
  }
  for (int k = 0; !away && k < n; k++) {
    const tt_cudac_entry *c = p->plain->entry[k];
    p->entry[k] = (tt_entry){.program = p,
                             .name = c->name,
                             .nparam = c->nparam,
                             .param = c->param,
                             .waits = c->sync,
                             .most_threads = c->max_threads};
  }
  char *line = p->names.data;
  for (int k = 0; k < n; k++) line = name_params(&p->entry[k], line);
  return !p->names.failed;
}

/* For the device that this thread's arrays are put on; for the CPU otherwise, if it has a compiler. */
static tt_code first_build(tt_program *p, tt_error *err) {
  char path[512], why[256];
  int chosen = tt__session_device;
  tt__cudac_compiler(path, sizeof path, why, sizeof why);
  if (chosen <= 0 && !path[0] && tt__device_count(TT_DEVICE_CUDA, NULL, 0) > 0)
    TT_TRY(tt__device_named("cuda", &chosen, err));
  p->home = chosen > 0 ? chosen : 0;
  return need_build(p, p->home, false, err);
}

tt_code tt_program_cuda(const char *source, const tt_program_options *options, tt_program **out, tt_error *err) {
  static const tt_program_options none;
  tt_error local = {0};
  const tt_program_options *o = options ? options : &none;
  *out = NULL;
  if (!err) err = &local;
  if (!source) return tt__fail(err, TT_EVALUE, "the source is NULL");
  tt_program *p = tt__mem_zalloc(sizeof *p);
  if (!p) return tt__fail_memory(err, sizeof *p);
  pthread_mutex_init(&p->lock.mutex, NULL);
  p->refs = 1;
  p->source = copy_text(source);
  p->file = copy_text(o->file ? o->file : "kernel.cu");
  bool ok = p->source && p->file && copy_list(&p->flag, o->flag, o->nflag) &&
            copy_list(&p->expression, o->expression, o->nexpression);
  tt_code code = ok ? first_build(p, err) : tt__fail_memory(err, strlen(source));
  if (code == TT_OK && !list_entries(p)) code = tt__fail_memory(err, sizeof *p->entry);
  if (code == TT_OK)
    *out = p;
  else
    program_free(p);
  return code;
}

tt_program *tt_program_retain(tt_program *p) {
  tt__session_lock();
  p->refs++;
  tt__session_unlock();
  return p;
}

void tt_program_release(tt_program **p) {
  if (!p || !*p) return;
  tt__session_lock();
  bool last = --(*p)->refs == 0;
  tt__session_unlock();
  if (last) program_free(*p);
  *p = NULL;
}

const char *tt_program_text(const tt_program *p) { return p->text.data ? p->text.data : ""; }
tt_entry *tt_program_nth(tt_program *p, int k) { return k >= 0 && k < p->n ? &p->entry[k] : NULL; }

tt_code tt_program_find(tt_program *p, const char *name, tt_entry **out, tt_error *err) {
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

tt_code tt_program_variable(tt_program *p, const char *name, int device, void **data, size_t *size, tt_error *err) {
  if (device < 0) device = p->home;
  TT_TRY(need_build(p, device, false, err));
  if (device > 0) return tt__program_variable(there(p, device), name, data, size, err);
  for (int k = 0; k < p->plain->nvariable; k++) {
    const tt_cudac_variable *v = &p->plain->variable[k];
    if (strcmp(v->name, name) != 0) continue;
    *data = v->data;
    *size = v->size;
    return TT_OK;
  }
  return tt__fail(err, TT_EVALUE, "the program has no __device__ or __constant__ variable '%.200s'", name);
}

int tt_program_device(const tt_program *p) { return p->home; }

/* ---- kernels */

const char *tt_entry_name(const tt_entry *e) { return e->name; }
int tt_entry_parameters(const tt_entry *e) { return e->nparam; }
bool tt_entry_waits(const tt_entry *e) { return e->waits; }
int tt_entry_threads(const tt_entry *e) {
  return e->most_threads > 0 && e->most_threads < BLOCK_THREADS ? e->most_threads : BLOCK_THREADS;
}

static tt_dtype dtype_of(int kind) {
  int t = kind & ~(TT_CUDAC_POINTER | TT_CUDAC_CONST);
  return t < TT_DTYPE_COUNT ? (tt_dtype)t : TT_DTYPE_NONE;
}

static const char *param_name(const tt_entry *r, int k) {
  const char *name = r->params;
  for (; name && k > 0; k--) name += strlen(name) + 1;
  return name ? name : "";
}

tt_code tt_entry_parameter(const tt_entry *r, int k, tt_parameter *out, tt_error *err) {
  if (k < 0 || k >= r->nparam) return tt__fail(err, TT_EINDEX, "kernel %s has no parameter %d", r->name, k);
  const tt_cudac_param *p = &r->param[k];
  *out = (tt_parameter){.name = param_name(r, k),
                        .dtype = dtype_of(p->kind),
                        .is_pointer = (p->kind & TT_CUDAC_POINTER) != 0,
                        .is_const = (p->kind & TT_CUDAC_CONST) != 0,
                        .size = p->size};
  const char *name = out->dtype == TT_DTYPE_NONE ? "void" : tt__dtypes[out->dtype].name;
  if (out->is_pointer)
    snprintf(out->type, sizeof out->type, "%s%s *", out->is_const ? "const " : "", name);
  else if (out->dtype == TT_DTYPE_NONE)
    snprintf(out->type, sizeof out->type, "struct of %d bytes", p->size);
  else
    snprintf(out->type, sizeof out->type, "%s", name);
  return TT_OK;
}

/* "argument 2 ('n', int32) of kernel add" */
static const char *describe(const tt_entry *r, int k, char out[200]) {
  tt_parameter p;
  if (tt_entry_parameter(r, k, &p, NULL) != TT_OK) return "";
  if (p.name[0])
    snprintf(out, 200, "argument %d ('%.40s', %s) of kernel %.60s", k + 1, p.name, p.type, r->name);
  else
    snprintf(out, 200, "argument %d (%s) of kernel %.60s", k + 1, p.type, r->name);
  return out;
}

/* ---- arguments */

typedef union slot {
  void *pointer;
  tt_scalar scalar;
} slot;

/* Everything that a launch holds while it runs. */
typedef struct call {
  tt_entry *entry;
  const tt_argument *arg;
  int n;
  slot *slot;
  void **raw; /* what the entry is given */
  tt_buffer **hold;
  tt_array **copy; /* on the device, of the caller's memory */
} call;

static size_t call_bytes(int n) { return (size_t)(n + 1) * (sizeof(slot) + 3 * sizeof(void *)); }

static bool is_byte(tt_dtype t) { return t == TT_BOOL || t == TT_I8 || t == TT_U8; }

static tt_code check_pointee(const call *c, int k, tt_dtype given, tt_error *err) {
  char text[200];
  tt_dtype want = dtype_of(c->entry->param[k].kind);
  if (want == TT_DTYPE_NONE || given == TT_DTYPE_NONE || want == given) return TT_OK;
  if (is_byte(want) && is_byte(given)) return TT_OK; /* char, signed char, unsigned char, bool */
  return tt__fail(err, TT_ETYPE, "%s points at %s, the array holds %s", describe(c->entry, k, text),
                  tt__dtypes[want].name, tt__dtypes[given].name);
}

static tt_code check_array(const call *c, int k, tt_error *err) {
  char text[200];
  tt_array *a = c->arg[k].as.array;
  TT_TRY(check_pointee(c, k, (tt_dtype)a->dtype, err));
  if (tt__array_is_c(a) || tt__array_is_f(a)) return TT_OK;
  return tt__fail(err, TT_EVALUE, "%s: the array is not contiguous; pass a copy of it", describe(c->entry, k, text));
}

static tt_code put_number(call *c, int k, const tt_value *v, tt_error *err) {
  char text[200];
  const tt_cudac_param *p = &c->entry->param[k];
  tt_dtype want = dtype_of(p->kind);
  bool number = v->tag == TT_V_BOOL || v->tag == TT_V_INT || v->tag == TT_V_UINT || v->tag == TT_V_FLOAT ||
                v->tag == TT_V_COMPLEX;
  if (want == TT_DTYPE_NONE || !number)
    return tt__fail(err, TT_ETYPE, "%s cannot be made of what is given", describe(c->entry, k, text));
  char kind = tt__dtypes[want].kind;
  bool whole = kind == 'i' || kind == 'u' || kind == 'b';
  if ((v->tag == TT_V_FLOAT && whole) || (v->tag == TT_V_COMPLEX && kind != 'c'))
    return tt__fail(err, TT_ETYPE, "%s is given a %s number", describe(c->entry, k, text),
                    v->tag == TT_V_FLOAT ? "floating-point" : "complex");
  if ((v->tag == TT_V_INT || v->tag == TT_V_UINT) && whole && kind != 'b' && !tt__int_fits(v, want))
    return tt__fail(err, TT_EOVERFLOW, "%s: the number %lld is out of its range", describe(c->entry, k, text),
                    (long long)v->as.i);
  c->slot[k].scalar = tt__scalar_from(v, want);
  c->raw[k] = &c->slot[k].scalar;
  return TT_OK;
}

/* What needs no array's memory: everything but that is checked and put in place. */
static tt_code prepare(call *c, int k, tt_error *err) {
  char text[200];
  const tt_argument *a = &c->arg[k];
  const tt_cudac_param *p = &c->entry->param[k];
  bool pointer = p->kind & TT_CUDAC_POINTER;
  tt_value v;
  c->raw[k] = &c->slot[k].pointer;
  switch (a->kind) {
    case TT_ARG_ARRAY:
      if (pointer) return check_array(c, k, err);
      if (a->as.array->size != 1)
        return tt__fail(err, TT_ETYPE, "%s is no pointer, and an array is given", describe(c->entry, k, text));
      TT_TRY(tt__item(a->as.array, &v, err));
      return put_number(c, k, &v, err);
    case TT_ARG_MEMORY:
      if (!pointer)
        return tt__fail(err, TT_ETYPE, "%s is no pointer, and an array is given", describe(c->entry, k, text));
      TT_TRY(check_pointee(c, k, a->as.memory.dtype, err));
      if (a->as.memory.readonly && !(p->kind & TT_CUDAC_CONST))
        return tt__fail(err, TT_EVALUE, "%s is not const, and the array is read-only", describe(c->entry, k, text));
      c->slot[k].pointer = a->as.memory.data;
      return TT_OK;
    case TT_ARG_BYTES:
      if (pointer || a->as.memory.size != (size_t)p->size)
        return tt__fail(err, TT_ETYPE, "%s is given %zu bytes", describe(c->entry, k, text), a->as.memory.size);
      c->raw[k] = a->as.memory.data;
      return TT_OK;
    default:
      if (!pointer) return put_number(c, k, &a->as.value, err);
      if (a->as.value.tag != TT_V_NONE)
        return tt__fail(err, TT_ETYPE, "%s needs an array, a number is given", describe(c->entry, k, text));
      c->slot[k].pointer = NULL;
      return TT_OK;
  }
}

static bool is_pointer_array(const call *c, int k) {
  return c->arg[k].kind == TT_ARG_ARRAY && (c->entry->param[k].kind & TT_CUDAC_POINTER);
}

static bool may_write(const call *c, int k) { return !(c->entry->param[k].kind & TT_CUDAC_CONST); }

static tt_code evaluate_arrays(call *c, tt_error *err) {
  for (int k = 0; k < c->n; k++) {
    if (!is_pointer_array(c, k)) continue;
    tt_node *n = tt__node_retain(c->arg[k].as.array->storage->node);
    tt_code code = tt__evaluate(&n, 1, err);
    tt__node_release(n);
    if (code != TT_OK) return code;
  }
  return TT_OK;
}

/* Memory of one's own where the kernel may write, then holds: nothing between lets others in. */
static tt_code take_arrays(call *c, tt_error *err) {
  for (int k = 0; k < c->n; k++)
    if (is_pointer_array(c, k) && may_write(c, k)) TT_TRY(tt__array_own(c->arg[k].as.array, err));
  for (int k = 0; k < c->n; k++) {
    const void *data;
    void *hold;
    if (!is_pointer_array(c, k)) continue;
    TT_TRY(tt__peek(c->arg[k].as.array, &data, &hold, err));
    c->slot[k].pointer = (void *)(uintptr_t)data;
    c->hold[k] = hold;
  }
  return TT_OK;
}

/* The same on a device; the caller's own memory is copied there. */
static tt_code take_arrays_on(call *c, tt_device *d, tt_error *err) {
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < c->n; k++) {
      if (!is_pointer_array(c, k) || may_write(c, k) != (pass == 0)) continue;
      tt_buffer *hold;
      TT_TRY(tt__program_array(d, c->arg[k].as.array, pass == 0, &c->slot[k].pointer, &hold, err));
      c->hold[k] = hold;
    }
  }
  for (int k = 0; k < c->n; k++) {
    const tt_argument *a = &c->arg[k];
    int64_t len = (int64_t)a->as.memory.size;
    if (a->kind != TT_ARG_MEMORY || !(c->entry->param[k].kind & TT_CUDAC_POINTER)) continue;
    tt_array *copy;
    TT_TRY(tt__from_data(TT_U8, 1, &len, a->as.memory.data, NULL, &copy, err));
    c->copy[k] = copy;
    TT_TRY(tt__program_array(d, copy, may_write(c, k), &c->slot[k].pointer, &c->hold[k], err));
  }
  return TT_OK;
}

/* What the kernel wrote into copies of the caller's memory. */
static tt_code bring_back(call *c, tt_error *err) {
  for (int k = 0; k < c->n; k++)
    if (c->copy[k] && may_write(c, k) && c->arg[k].as.memory.size)
      TT_TRY(tt__read(c->copy[k], c->arg[k].as.memory.data, c->arg[k].as.memory.size, err));
  return TT_OK;
}

static void give_back(call *c) {
  for (int k = 0; k < c->n; k++) {
    if (c->hold[k]) tt__buffer_release(c->hold[k]);
    tt__array_release(c->copy[k]);
  }
}

/* Where a launch runs: where its arrays were put or lie. */
static tt_code choose_device(const call *c, int *out, tt_error *err) {
  int found = -1;
  for (int k = 0; k < c->n; k++) {
    if (c->arg[k].kind != TT_ARG_ARRAY || !(c->entry->param[k].kind & TT_CUDAC_POINTER)) continue;
    const tt_array *a = c->arg[k].as.array;
    int put = a->storage->node->device, at = put >= 0 ? put : tt__array_device((tt_array *)a);
    if (put < 0 && at == 0) continue; /* on the host and free to go anywhere */
    if (found >= 0 && found != at)
      return tt__fail(err, TT_EVALUE, "the arguments of kernel %s lie on two devices: move one with .to()",
                      c->entry->name);
    found = at;
  }
  if (found < 0) found = tt__session_device > 0 ? tt__session_device : c->entry->program->home;
  *out = found;
  return TT_OK;
}

/* ---- launching */

static tt_code check_launch(const tt_entry *r, const tt_entry_grid *how, tt_error *err) {
  static const unsigned most_grid[3] = {0x7fffffffu, 65535, 65535}, most_block[3] = {1024, 1024, 64};
  const unsigned *g = how->grid, *b = how->block;
  int most = tt_entry_threads(r);
  int64_t limit = how->shared_limit > 0 ? how->shared_limit : SHARED_LIMIT;
  for (int k = 0; k < 3; k++) {
    if (g[k] == 0 || b[k] == 0)
      return tt__fail(err, TT_EVALUE,
                      "a launch needs at least one block of one thread: grid (%u,%u,%u), block (%u,%u,%u)", g[0], g[1],
                      g[2], b[0], b[1], b[2]);
    if (g[k] > most_grid[k])
      return tt__fail(err, TT_EVALUE, "grid (%u,%u,%u): at most (2147483647,65535,65535)", g[0], g[1], g[2]);
    if (b[k] > most_block[k])
      return tt__fail(err, TT_EVALUE, "block (%u,%u,%u): at most (1024,1024,64)", b[0], b[1], b[2]);
  }
  if ((int64_t)b[0] * b[1] * b[2] > most)
    return tt__fail(err, TT_EVALUE, "a block of %u x %u x %u is %lld threads; kernel %s takes at most %d", b[0], b[1],
                    b[2], (long long)b[0] * b[1] * b[2], r->name, most);
  if (how->shared < 0 || how->shared > limit)
    return tt__fail(err, TT_EVALUE, "%lld bytes of shared memory: at most %lld", (long long)how->shared,
                    (long long)limit);
  return TT_OK;
}

static bool is_wide(const tt_entry_grid *how) { return (int64_t)how->grid[0] * how->block[0] > INT32_MAX; }

/* The CPU's entry for this grid: the plain one counts threads along x in 31 bits. */
static tt_code find_entry(tt_entry *e, const tt_entry_grid *how, const tt_cudac_entry **out, tt_error *err) {
  tt_program *p = e->program;
  TT_TRY(need_build(p, 0, is_wide(how), err));
  const tt_cudac_program *b = is_wide(how) ? p->wide : p->plain;
  for (int k = 0; k < b->nentry; k++) {
    *out = b->entry[k];
    if (strcmp((*out)->name, e->name) == 0) return TT_OK;
  }
  return tt__fail(err, TT_EDEVICE, "kernel %s is not among those for the CPU", e->name);
}

static tt_code find_entry_on(tt_entry *e, int id, const tt_device_entry **out, tt_error *err) {
  tt_program *p = e->program;
  TT_TRY(need_build(p, id, false, err));
  const tt_device_program *b = there(p, id);
  for (int k = 0; k < b->n; k++) {
    *out = &b->entry[k];
    if (strcmp((*out)->name, e->name) == 0) return TT_OK;
  }
  return tt__fail(err, TT_EDEVICE, "kernel %s is not among those for the device", e->name);
}

static tt_str printed;
static tt_lock printed_lock = TT_LOCK_INIT;

static void keep_output(tt_str *output) {
  if (!output->len) return;
  tt__lock(&printed_lock);
  tt__str_add_n(&printed, output->data, output->len);
  tt__unlock(&printed_lock);
  tt__str_free(output);
}

char *tt_printed(void) {
  tt__lock(&printed_lock);
  char *text = printed.len ? tt__mem_dup(printed.data, printed.len + 1) : NULL;
  for (size_t k = 0; text && k < printed.len; k++)
    if (!text[k]) text[k] = ' '; /* a text ends at the first zero */
  tt__str_free(&printed);
  tt__unlock(&printed_lock);
  return text;
}

static tt_code run_here(call *c, const tt_entry_grid *how, tt_error *err) {
  const tt_cudac_entry *e = NULL;
  tt_str output = {0};
  int depth = tt__session_suspend();
  tt_code code = find_entry(c->entry, how, &e, err);
  tt__session_resume(depth);
  if (code == TT_OK) code = evaluate_arrays(c, err);
  if (code == TT_OK) code = take_arrays(c, err);
  if (code != TT_OK) return code;
  depth = tt__session_suspend();
  code = tt__cudac_run(e, how->grid, how->block, (unsigned)how->shared, c->raw, &output, err);
  tt__session_resume(depth);
  TT_COUNT(launches, 1);
  keep_output(&output);
  return code;
}

static tt_code run_on(call *c, int id, const tt_entry_grid *how, tt_error *err) {
  const tt_device_entry *e = NULL;
  tt_device *d = NULL;
  int depth = tt__session_suspend();
  tt_code code = find_entry_on(c->entry, id, &e, err);
  tt__session_resume(depth);
  if (code == TT_OK) code = tt__device_open(id, &d, err);
  if (code == TT_OK) code = evaluate_arrays(c, err);
  if (code == TT_OK) code = take_arrays_on(c, d, err);
  if (code != TT_OK) return code;
  tt_grid g = {.shared = (uint32_t)how->shared};
  memcpy(g.grid, how->grid, sizeof g.grid);
  memcpy(g.block, how->block, sizeof g.block);
  TT_TRY(tt__program_launch(d, e, &g, c->raw, err));
  return bring_back(c, err);
}

static tt_code run(call *c, const tt_entry_grid *how, tt_error *err) {
  int id = 0;
  for (int k = 0; k < c->n; k++) TT_TRY(prepare(c, k, err));
  TT_TRY(choose_device(c, &id, err));
  return id > 0 ? run_on(c, id, how, err) : run_here(c, how, err);
}

tt_code tt_entry_launch(tt_entry *r, const tt_entry_grid *how, const tt_argument *arg, int n, tt_error *err) {
  tt_error local = {0};
  void *memory[96];
  if (!err) err = &local;
  err->code = TT_OK;
  if (n != r->nparam) return tt__fail(err, TT_ETYPE, "kernel %s takes %d arguments (%d given)", r->name, r->nparam, n);
  TT_TRY(check_launch(r, how, err));
  size_t bytes = call_bytes(n);
  bool small = bytes <= sizeof memory;
  char *room = small ? (char *)memory : tt__mem_alloc(bytes);
  if (!room) return tt__fail_memory(err, bytes);
  memset(room, 0, bytes);
  call c = {.entry = r, .arg = arg, .n = n, .slot = (slot *)(void *)room};
  c.raw = (void **)(void *)(c.slot + n + 1);
  c.hold = (tt_buffer **)(void *)(c.raw + n + 1);
  c.copy = (tt_array **)(void *)(c.hold + n + 1);
  tt__session_lock();
  tt_code code = run(&c, how, err);
  give_back(&c);
  tt__session_unlock();
  if (!small) tt__mem_free(room, bytes);
  return code != TT_OK && err->code != TT_OK ? err->code : code;
}
