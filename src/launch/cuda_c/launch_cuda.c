/*
** Launches of kernels in CUDA C: arguments checked and packed, then recorded as a node of the graph.
*/
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "launch/cuda_c/program.h"
#include "launch/launch.h"
#include "launch/raw.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/host.h"
#include "graph/session.h"
#include "lang/cuda_c/check.h"
#include "lang/cuda_c/run.h"
#include "lang/opencl_c/opencl.h"
#include "launch/opencl_c/device_launch.h"
#include "run/exec_call.h"
#include "run/wanted.h"

enum { SHARED_LIMIT = 48 << 10 };

/* ---- one launch while its arguments are packed */

typedef struct launch {
  tt_kernel_launch to;
  tt_entry *entry;
  const tt_argument *arg;
  int n;
  int64_t local; /* bytes of the block's memory that arguments have taken */
} launch;

/* "argument 2 ('n', int32) of kernel add" */
static const char *describe(const tt_entry *r, int k, char out[200]) {
  tt_parameter p;
  if (tt__entry_parameter(r, k, &p, NULL) != TT_OK) return "";
  if (p.name[0])
    snprintf(out, 200, "argument %d ('%.40s', %s) of kernel %.60s", k + 1, p.name, p.type, r->name);
  else
    snprintf(out, 200, "argument %d (%s) of kernel %.60s", k + 1, p.type, r->name);
  return out;
}

static bool is_pointer(const launch *l, int k) { return l->entry->param[k].kind & TT_CUDAC_POINTER; }
static bool may_write(const launch *l, int k) { return !(l->entry->param[k].kind & TT_CUDAC_CONST); }

/* ---- arguments */

/* May a pointer of one type walk over elements of the other? Bytes of any name, whole numbers with or without a sign,
 * complex numbers as pairs. */
static bool is_byte(tt_dtype t) { return t == TT_BOOL || t == TT_I8 || t == TT_U8; }
static bool is_pair_of(tt_dtype pair, tt_dtype t) {
  return (pair == TT_C64 && t == TT_F32) || (pair == TT_C128 && t == TT_F64);
}
static bool is_alike(tt_dtype a, tt_dtype b) {
  const tt_dtype_info *x = &tt__dtypes[a], *y = &tt__dtypes[b];
  bool whole = (x->kind == 'i' || x->kind == 'u') && (y->kind == 'i' || y->kind == 'u');
  return (is_byte(a) && is_byte(b)) || (whole && x->size == y->size);
}

static tt_code check_pointee(const launch *l, int k, tt_dtype given, tt_error *err) {
  char text[200];
  tt_dtype want = tt__entry_dtype(l->entry->param[k].kind);
  if (want == TT_DTYPE_NONE || given == TT_DTYPE_NONE || want == given) return TT_OK;
  if (is_alike(want, given) || is_pair_of(given, want)) return TT_OK;
  return tt__fail(err, TT_ETYPE, "%s points at %s, the array holds %s", describe(l->entry, k, text),
                  tt__dtypes[want].name, tt__dtypes[given].name);
}

static tt_code put_array(launch *l, int k, tt_error *err) {
  char text[200];
  tt_array *a = l->arg[k].as.array;
  TT_TRY(check_pointee(l, k, (tt_dtype)a->dtype, err));
  if (!tt__array_is_c(a) && !tt__array_is_f(a))
    return tt__fail(err, TT_EVALUE, "%s: the array is not contiguous; pass a copy of it", describe(l->entry, k, text));
  if (l->to.narray == TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s: too many arrays", l->entry->name);
  l->to.array[l->to.narray++] = (tt_call_array){.array = a, .at = l->entry->offset[k], .writes = may_write(l, k)};
  return TT_OK;
}

static tt_code fail_range(const launch *l, int k, const tt_value *v, tt_dtype want, tt_error *err) {
  char text[200], digits[24];
  if (v->tag == TT_V_UINT)
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)v->as.u);
  else
    snprintf(digits, sizeof digits, "%lld", (long long)v->as.i);
  return tt__fail(err, TT_EOVERFLOW, "%s: Python integer %s out of bounds for %s", describe(l->entry, k, text), digits,
                  tt__dtypes[want].name);
}

/* A struct (float2, cuComplex) takes a complex number as a pair of its size. */
static tt_dtype pair_of_size(size_t size) { return size == 8 ? TT_C64 : size == 16 ? TT_C128 : TT_DTYPE_NONE; }

static tt_code put_number(launch *l, int k, const tt_value *v, tt_error *err) {
  char text[200];
  const tt_cudac_param *p = &l->entry->param[k];
  tt_dtype want = tt__entry_dtype(p->kind);
  bool number = v->tag == TT_V_BOOL || v->tag == TT_V_INT || v->tag == TT_V_UINT || v->tag == TT_V_FLOAT ||
                v->tag == TT_V_COMPLEX;
  if (want == TT_DTYPE_NONE && v->tag == TT_V_COMPLEX) want = pair_of_size(p->size);
  if (want == TT_DTYPE_NONE || !number)
    return tt__fail(err, TT_ETYPE, "%s cannot be made of what is given", describe(l->entry, k, text));
  char kind = tt__dtypes[want].kind;
  bool whole = kind == 'i' || kind == 'u' || kind == 'b';
  if ((v->tag == TT_V_FLOAT && whole) || (v->tag == TT_V_COMPLEX && kind != 'c'))
    return tt__fail(err, TT_ETYPE, "%s is given a %s number", describe(l->entry, k, text),
                    v->tag == TT_V_FLOAT ? "floating-point" : "complex");
  if ((v->tag == TT_V_INT || v->tag == TT_V_UINT) && whole && kind != 'b' && !tt__int_fits(v, want))
    return fail_range(l, k, v, want, err);
  tt_scalar s = tt__scalar_from(v, want);
  memcpy(l->to.args + l->entry->offset[k], &s, (size_t)p->size);
  return TT_OK;
}

/* Memory of a device, at that address. */
static tt_code put_there(launch *l, int k, void *p, int id, tt_error *err) {
  char text[200];
  if (l->to.prefer && l->to.prefer != id)
    return tt__fail(err, TT_EVALUE, "%s: the addresses of one launch lie on two devices", describe(l->entry, k, text));
  l->to.prefer = id;
  memcpy(l->to.args + l->entry->offset[k], &p, sizeof p);
  return TT_OK;
}

static tt_code put_memory(launch *l, int k, tt_error *err) {
  char text[200];
  const tt_argument *a = &l->arg[k];
  if (!is_pointer(l, k)) { /* an array of one element is a value: NumPy's structures are such arrays */
    tt_dtype want = tt__entry_dtype(l->entry->param[k].kind);
    bool vector = want == TT_DTYPE_NONE && l->entry->program->language; /* OpenCL C's: an array of its size */
    if ((!vector && a->as.memory.dtype != want) || a->as.memory.size != (size_t)l->entry->param[k].size)
      return tt__fail(err, TT_ETYPE, "%s is no pointer, and an array is given", describe(l->entry, k, text));
    memcpy(l->to.args + l->entry->offset[k], a->as.memory.data, a->as.memory.size);
    return TT_OK;
  }
  TT_TRY(check_pointee(l, k, a->as.memory.dtype, err));
  if (a->as.memory.readonly && may_write(l, k))
    return tt__fail(err, TT_EVALUE, "%s is not const, and the array is read-only", describe(l->entry, k, text));
  if (l->to.memory.n == TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s: too many arrays", l->entry->name);
  char *low = a->as.memory.data;
  int at = l->entry->offset[k], managed = tt__wanted() == TT_CPU ? TT_CPU : tt__managed_at(low, a->as.memory.size);
  if (managed) return put_there(l, k, low, managed, err);
  l->to.memory.arg[l->to.memory.n++] =
      (tt_call_span){.low = low, .high = low + a->as.memory.size, .address = low, .at = at, .writes = may_write(l, k)};
  memcpy(l->to.args + at, &low, sizeof low);
  return TT_OK;
}

/* A number given to a pointer: memory at an address that stays. The host's is the caller's own, as an array of it
 * is. */
static tt_code put_address(launch *l, int k, const tt_value *v, tt_error *err) {
  char text[200];
  int id, at = l->entry->offset[k];
  size_t left;
  tt_error why;
  void *p = (void *)(uintptr_t)v->as.u;
  if (p && tt__raw_where(p, &id, &left, &why) != TT_OK)
    return tt__fail(err, TT_EVALUE, "%s: %s", describe(l->entry, k, text), why.message);
  if (p && id == TT_CPU) {
    if (l->to.memory.n == TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s: too many arrays", l->entry->name);
    l->to.memory.arg[l->to.memory.n++] =
        (tt_call_span){.low = p, .high = (char *)p + left, .address = p, .at = at, .writes = may_write(l, k)};
  } else if (p) {
    return put_there(l, k, p, id, err);
  }
  memcpy(l->to.args + at, &p, sizeof p);
  return TT_OK;
}

int64_t tt__local_after(int64_t at, int64_t bytes, bool check) {
  enum { ALIGN = 128, GAP = 1024 }; /* what lies beyond one is no other, where somebody looks */
  return (at + bytes + ALIGN - 1) / ALIGN * ALIGN + (check ? GAP : 0);
}

/* OpenCL C: a part of the block's memory. */
static tt_code put_local(launch *l, int k, tt_error *err) {
  char text[200];
  const tt_argument *a = &l->arg[k];
  tt_cudac_local at = {(unsigned)l->local, (unsigned)a->as.memory.size};
  if (a->kind != TT_ARG_LOCAL)
    return tt__fail(err, TT_ETYPE, "%s is in local memory: pass LocalMemory(bytes)", describe(l->entry, k, text));
  memcpy(l->to.args + l->entry->offset[k], &at, sizeof at);
  l->local = tt__local_after(l->local, (int64_t)a->as.memory.size, l->entry->program->check);
  return TT_OK;
}

static bool is_address(const tt_value *v) { return v->tag == TT_V_UINT || (v->tag == TT_V_INT && v->as.i >= 0); }

static tt_code put_argument(launch *l, int k, tt_error *err) {
  char text[200];
  const tt_argument *a = &l->arg[k];
  size_t size = (size_t)l->entry->param[k].size;
  tt_value v;
  if (l->entry->param[k].kind == TT_CUDAC_LOCAL) return put_local(l, k, err);
  switch (a->kind) {
    case TT_ARG_LOCAL:
      return tt__fail(err, TT_ETYPE, "%s is not in local memory, and LocalMemory is given",
                      describe(l->entry, k, text));
    case TT_ARG_ARRAY:
      if (is_pointer(l, k)) return put_array(l, k, err);
      if (a->as.array->size != 1)
        return tt__fail(err, TT_ETYPE, "%s is no pointer, and an array is given", describe(l->entry, k, text));
      TT_TRY(tt__item(a->as.array, &v, err));
      return put_number(l, k, &v, err);
    case TT_ARG_MEMORY:
      return put_memory(l, k, err);
    case TT_ARG_BYTES:
      if (is_pointer(l, k) || a->as.memory.size != size)
        return tt__fail(err, TT_ETYPE, "%s is given %zu bytes", describe(l->entry, k, text), a->as.memory.size);
      memcpy(l->to.args + l->entry->offset[k], a->as.memory.data, size);
      return TT_OK;
    default:
      if (!is_pointer(l, k)) return put_number(l, k, &a->as.value, err);
      if (l->to.how->addresses && is_address(&a->as.value)) return put_address(l, k, &a->as.value, err);
      if (a->as.value.tag != TT_V_NONE)
        return tt__fail(err, TT_ETYPE, "%s needs an array, a number is given", describe(l->entry, k, text));
      memset(l->to.args + l->entry->offset[k], 0, sizeof(void *));
      return TT_OK;
  }
}

/* ---- its code */

/* Take long, with the lock given up. */
static tt_code build(tt_program *p, int id, int which, tt_error *err) {
  int depth = tt__session_suspend();
  tt_code code = tt__program_need(p, id, which, err);
  tt__session_resume(depth);
  return code;
}

/* Which build for the CPU runs this grid: the plain one counts threads along x in 31 bits, from 0 on. */
static int build_for(const tt_grid *g) {
  bool offset = g->offset[0] || g->offset[1] || g->offset[2];
  return (tt__grid_is_wide(g) ? TT_PROGRAM_WIDE : 0) | (offset ? TT_PROGRAM_OFFSET : 0);
}

static tt_code find_here(tt_entry *e, int which, tt_error *err) {
  const tt_cudac_entry **found = &e->built[which];
  if (*found) return TT_OK;
  TT_TRY(build(e->program, 0, which, err));
  const tt_cudac_program *b = e->program->built[which];
  for (int k = 0; k < b->nentry && !*found; k++)
    if (strcmp(b->entry[k]->name, e->name) == 0) *found = b->entry[k];
  return *found ? TT_OK : tt__fail(err, TT_EDEVICE, "kernel %s is not among those for the CPU", e->name);
}

static int place_on(const tt_program *p, int id) {
  int k = 0;
  while (k < p->non && p->on[k].id != id) k++;
  return k;
}

static tt_code find_there(tt_entry *e, int id, tt_device_entry **out, tt_error *err) {
  const tt_program *p = e->program;
  if (place_on(p, id) == p->non) TT_TRY(build(e->program, id, 0, err));
  int at = place_on(p, id);
  const tt_device_program *b = p->on[at].program;
  for (int k = 0; k < b->n && !e->on[at]; k++)
    if (strcmp(b->entry[k].name, e->name) == 0) e->on[at] = &b->entry[k];
  *out = e->on[at];
  return *out ? TT_OK : tt__fail(err, TT_EDEVICE, "kernel %s is not among those for the device", e->name);
}

tt_code tt__entry_suggest(tt_entry *r, int device, int64_t shared, int *threads, tt_error *err) {
  enum { USUAL = 128 };
  tt_device_entry *e;
  tt_device *d;
  int grid, most = tt__entry_threads(r);
  if (device < 0) device = r->program->home;
  *threads = most < USUAL ? most : USUAL; /* on the CPU a block is a loop */
  TT_TRY(tt__device_open(device, &d, err));
  if (!d || !d->ops->occupancy) return TT_OK;
  tt__session_lock();
  tt_code code = find_there(r, device, &e, err);
  tt__session_unlock();
  return code == TT_OK ? d->ops->occupancy->suggest(d, e->routine, (uint32_t)shared, &grid, threads, err) : code;
}

/* ---- launches that are checked, and those where memory has handles: the bytes behind each pointer follow the
 * arguments */

static size_t sizes_at(const tt_entry *e) { return ((size_t)e->size + 7) & ~(size_t)7; }

static tt_code add_sizes(launch *l, tt_error *err) {
  const tt_entry *e = l->entry;
  size_t at = sizes_at(e), all = at + (size_t)l->n * sizeof(uint64_t);
  if (all > sizeof l->to.args)
    return tt__fail(err, TT_EVALUE, "kernel %s takes too many bytes of arguments%s", e->name,
                    e->program->check ? " for TUTTI_CHECK=1" : "");
  memset(l->to.args + e->size, 0, all - (size_t)e->size);
  for (int k = 0; k < l->n; k++) {
    const tt_argument *a = &l->arg[k];
    uint64_t bytes = 0;
    if (a->kind == TT_ARG_ARRAY)
      bytes = (uint64_t)a->as.array->size * tt__dtype_size((tt_dtype)a->as.array->dtype);
    else if (a->kind == TT_ARG_MEMORY)
      bytes = a->as.memory.size;
    memcpy(l->to.args + at + (size_t)k * sizeof bytes, &bytes, sizeof bytes);
  }
  l->to.args_size = all;
  return TT_OK;
}

/* Large numbers are like addresses, small ones where memory is: a program that is not relocated has its heap there. */
static bool is_like_address(uint64_t v) {
  const uint64_t page = 4096;
  unsigned char there;
  if (v >= (uint64_t)1 << 32) return v < (uint64_t)1 << 47;
  return v >= 16 * page && mincore((void *)(uintptr_t)(v & ~(page - 1)), 1, &there) == 0;
}

/* May the kernel be given addresses in this argument, of memory that nobody tells us of? By type, and by what is
 * there. */
static bool may_hold_addresses(const tt_entry *e, int k, const void *value, const void *at, uint64_t bytes) {
  const tt_cudac_param *p = &e->param[k];
  int t = p->kind & ~(TT_CUDAC_CONST | TT_CUDAC_POINTER);
  bool is_wide = t == TT_I64 || t == TT_U64;
  if (t == TT_CUDAC_STRUCT) return p->align >= (int)sizeof(void *);
  if (t != TT_CUDAC_VOID && !is_wide) return false;
  if (!(p->kind & TT_CUDAC_POINTER)) {
    at = value;
    bytes = sizeof(uint64_t);
  }
  for (uint64_t k8 = 0; at && k8 + sizeof(uint64_t) <= bytes; k8 += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, (const char *)at + k8, sizeof word);
    if (is_like_address(word)) return true;
  }
  return false;
}

static tt_code add_areas(const tt_entry *e, char *args, void **raw, tt_check *check, tt_error *err) {
  for (int k = 0; k < e->nparam; k++) {
    uint64_t bytes;
    void *at;
    tt_parameter p;
    tt_check_area a = {.number = k + 1};
    if (!(e->param[k].kind & TT_CUDAC_POINTER)) {
      if (may_hold_addresses(e, k, raw[k], NULL, 0)) tt__check_loose(check);
      continue;
    }
    memcpy(&bytes, args + sizes_at(e) + (size_t)k * sizeof bytes, sizeof bytes);
    memcpy(&at, raw[k], sizeof at);
    if (may_hold_addresses(e, k, raw[k], at, bytes)) tt__check_loose(check);
    if (!at || tt__entry_parameter(e, k, &p, err) != TT_OK) continue;
    a.base = at;
    a.size = bytes;
    snprintf(a.name, sizeof a.name, "%s", p.name);
    if (p.dtype != TT_DTYPE_NONE) {
      a.item = (int)tt__dtype_size(p.dtype);
      snprintf(a.type, sizeof a.type, "%s[%llu]", tt__dtypes[p.dtype].name,
               (unsigned long long)bytes / (unsigned)a.item);
    }
    if (!tt__check_array(check, &a, raw[k], !(e->param[k].kind & TT_CUDAC_CONST)))
      return tt__fail_memory(err, sizeof a);
  }
  return TT_OK;
}

/* ---- what runs it (ir/user/call.h) */

static tt_code run_cuda(const tt_kernel_call *c, char *args, bool *ran, tt_error *err) {
  const tt_entry *e = c->kernel;
  void *raw[TT_CALL_ARGS / sizeof(void *)];
  tt_str output = {0};
  for (int k = 0; k < e->nparam; k++) raw[k] = args + e->offset[k];
  const tt_cudac_entry *entry = e->built[build_for(&c->grid)];
  tt_check *check = NULL;
  if (e->program->check) TT_TRY(tt__cudac_check_new(entry, &c->grid, &check, err));
  tt_code code = check ? add_areas(e, args, raw, check, err) : TT_OK;
  *ran = code == TT_OK;
  if (code == TT_OK) code = tt__cudac_run(entry, &c->grid, raw, check, &output, err);
  tt__check_free(check);
  tt__call_print(output.data, output.len);
  tt__str_free(&output);
  return code;
}

static tt_code cuda_routine(const tt_kernel_call *c, tt_device *d, tt_routine **out, tt_error *err) {
  tt_device_entry *e;
  TT_TRY(find_there(c->kernel, d->id, &e, err));
  *out = e->routine;
  return TT_OK;
}

static void retain_cuda(void *kernel) { ((tt_entry *)kernel)->program->refs++; }
static void release_cuda(void *kernel) {
  tt_program *p = ((tt_entry *)kernel)->program;
  tt__program_release(p);
}

/* ---- the language's row */

static tt_code read_cuda(const tt_source *s, void **out, tt_error *err) {
  tt_program *p;
  TT_TRY(tt__program_new(s->text, s->cuda, &p, err));
  *out = p;
  return TT_OK;
}

static tt_code find_entry(void *parsed, const char *name, void **kernel, tt_error *err) {
  tt_entry *e;
  TT_TRY(tt__program_find(parsed, name, &e, err));
  *kernel = e;
  return TT_OK;
}

static void need_cuda(const tt_kernel_launch *l, tt_launch_need *out) {
  out->threads = tt__entry_threads(l->kernel);
  out->most = l->how->shared_limit > 0 ? l->how->shared_limit : SHARED_LIMIT;
}

static tt_code code_cuda(tt_kernel_launch *l, tt_device *d, tt_launch_code *out, tt_error *err) {
  tt_entry *e = l->kernel;
  if (tt__runs_host_code(d)) {
    int which = build_for(&l->grid);
    TT_TRY(find_here(e, which, err));
    return tt__cudac_fits(e->built[which], &l->grid, e->program->check, err);
  }
  tt_device_entry *there;
  TT_TRY(find_there(e, l->id, &there, err));
  *out = (tt_launch_code){there->routine, there->together};
  return TT_OK;
}

/* Where memory has handles: the addresses first, an even number of them, then the parameters as they are. */
static tt_code place_addresses(tt_kernel_launch *l, const tt_entry *e, const tt_device *d, tt_error *err) {
  int n = 0, align = 8;
  size_t before = 16;
  for (int k = 0; k < e->nparam; k++) {
    bool pointer = e->param[k].kind & TT_CUDAC_POINTER;
    for (int i = 0; pointer && i < l->narray; i++)
      if (l->array[i].at == e->offset[k]) l->array[i].at = -1 - n; /* not to be met again */
    n += pointer;
    if (e->param[k].align > align) align = e->param[k].align;
  }
  if (n > 2) before = 8 * (size_t)(n + n % 2);
  TT_TRY(tt__launch_lead(l, d, n, before, (size_t)align, err));
  for (int k = 0; k < e->nparam; k++) /* the host's addresses mean nothing there */
    if (e->param[k].kind & TT_CUDAC_POINTER) memset(l->args + before + e->offset[k], 0, sizeof(void *));
  for (int i = 0; i < l->narray; i++) l->array[i].at = 8 * (-1 - l->array[i].at);
  return TT_OK;
}

static void note_place(const tt_kernel_launch *l, const tt_device *d) {
  ((tt_entry *)l->kernel)->program->ran = tt__runs_host_code(d) ? 0 : l->id;
}

static tt_code place_cuda(tt_kernel_launch *l, tt_device *d, tt_error *err) {
  const tt_entry *e = l->kernel;
  bool here = tt__runs_host_code(d);
  note_place(l, d);
  if (!here && d->target.handles) return place_addresses(l, e, d, err);
  return here && e->program->check ? add_sizes((launch *)(void *)l, err) : TT_OK;
}

/* ---- OpenCL C: the same, on the CPU and on OpenCL's devices */

static tt_code read_opencl(const tt_source *s, void **out, tt_error *err) {
  tt_program *p;
  TT_TRY(tt__program_new_in(&tt__opencl_language, s, &p, err));
  *out = p;
  return TT_OK;
}

static void need_opencl(const tt_kernel_launch *l, tt_launch_need *out) {
  out->threads = tt__entry_threads(l->kernel);
  out->memory = "local";
}

static tt_code code_opencl(tt_kernel_launch *l, tt_device *d, tt_launch_code *out, tt_error *err) {
  char name[16];
  tt_device_entry *there;
  tt_entry *e = l->kernel;
  if (tt__runs_host_code(d)) {
    TT_TRY(code_cuda(l, d, out, err));
    const tt_cudac_entry *here = e->built[build_for(&l->grid)];
    return tt__entry_same(e, here->param, here->nparam, "the CPU", err);
  }
  if (!d->ops->sources)
    return tt__fail(err, TT_ENOTIMPL, "kernel %s is in OpenCL C, and %s has no compiler for it: move its arrays",
                    l->name, tt__device_name(l->id, name));
  TT_TRY(find_there(e, l->id, &there, err));
  if (!there->placed) TT_TRY(tt__entry_place(e, d, there, sizes_at(e), err));
  tt_launch_need need = {.threads = there->info.block_threads, .own = there->info.shared, .memory = "local"};
  TT_TRY(tt__grid_check(&l->grid, &d->target, &need, l->name, err));
  *out = (tt_launch_code){.routine = there->routine};
  return TT_OK;
}

/* What takes an argument at a time is told how long each is. */
static tt_code place_opencl(tt_kernel_launch *l, tt_device *d, tt_error *err) {
  const tt_entry *e = l->kernel;
  bool here = tt__runs_host_code(d);
  note_place(l, d);
  const launch *given = (const launch *)(const void *)l;
  const tt_device_launch parts = {e, given->arg, given->n, l->array, l->narray};
  if (!here) TT_TRY(tt__device_launch_parts(&parts, d, err));
  return !here || e->program->check ? add_sizes((launch *)(void *)l, err) : TT_OK;
}

const tt_language tt__opencl_c = {.name = "OpenCL C",
                                  .parse = read_opencl,
                                  .entry = find_entry,
                                  .need = need_opencl,
                                  .code = code_opencl,
                                  .place = place_opencl,
                                  .call = {run_cuda, cuda_routine, retain_cuda, release_cuda}};

const tt_language tt__cuda_c = {.name = "CUDA C",
                                .parse = read_cuda,
                                .entry = find_entry,
                                .need = need_cuda,
                                .code = code_cuda,
                                .place = place_cuda,
                                .call = {run_cuda, cuda_routine, retain_cuda, release_cuda}};

/* ---- launching */

static tt_code put_arguments(launch *l, tt_error *err) {
  tt_entry *r = l->entry;
  memset(l->to.args, 0, (size_t)r->size); /* gaps between parameters too: equal launches have equal bytes */
  l->to.args_size = (size_t)r->size;
  l->to.home = r->program->home;
  l->to.bound = true;
  l->to.prints = r->program->prints;
  for (int k = 0; k < l->n; k++) TT_TRY(put_argument(l, k, err));
  return TT_OK;
}

tt_code tt__entry_launch(tt_entry *r, const tt_launch_options *how, const tt_argument *arg, int n, tt_error *err) {
  tt_language_id language = r->program->language ? TT_OPENCL_C : TT_CUDA_C;
  if (n != r->nparam) return tt__fail(err, TT_ETYPE, "kernel %s takes %d arguments (%d given)", r->name, r->nparam, n);
  if (r->size > TT_CALL_ARGS)
    return tt__fail(err, TT_EVALUE, "kernel %s takes more than %d bytes of arguments", r->name, TT_CALL_ARGS);
  assert(arg || n == 0);
  launch l;
  tt__launch_begin(&l.to, language, r, r->name, how);
  l.entry = r;
  l.arg = arg;
  l.n = n;
  l.local = 0;
  TT_TRY(put_arguments(&l, err));
  return tt__launch(&l.to, err);
}
