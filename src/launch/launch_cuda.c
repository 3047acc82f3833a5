/*
** Launches of kernels in CUDA C: arguments checked and packed, then recorded as a node of the graph.
*/
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "launch/program.h"
#include "launch/raw.h"
#include "device/current.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/call.h"
#include "graph/host.h"
#include "graph/session.h"
#include "lang/cudac_check.h"
#include "lang/cudac_run.h"
#include "run/exec_call.h"
#include "run/wanted.h"

enum { SHARED_LIMIT = 48 << 10 };

/* ---- one launch while it is recorded */

typedef struct launch {
  tt_entry *entry;
  const tt_entry_grid *how;
  const tt_argument *arg;
  int n, id; /* `id`: where it runs */
  _Alignas(16) char args[TT_CALL_ARGS];
  tt_call_array array[TT_CALL_ARRAYS];
  int narray;
  tt_call_memory memory; /* the caller's own: good as long as the call lasts */
  int raw;               /* the device that addresses among the arguments lie on; 0: none */
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
  if (l->narray == TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s: too many arrays", l->entry->name);
  l->array[l->narray++] = (tt_call_array){.array = a, .at = l->entry->offset[k], .writes = may_write(l, k)};
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

static tt_code put_number(launch *l, int k, const tt_value *v, tt_error *err) {
  char text[200];
  const tt_cudac_param *p = &l->entry->param[k];
  tt_dtype want = tt__entry_dtype(p->kind);
  bool number = v->tag == TT_V_BOOL || v->tag == TT_V_INT || v->tag == TT_V_UINT || v->tag == TT_V_FLOAT ||
                v->tag == TT_V_COMPLEX;
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
  memcpy(l->args + l->entry->offset[k], &s, (size_t)p->size);
  return TT_OK;
}

/* Memory of a device, at that address. */
static tt_code put_there(launch *l, int k, void *p, int id, tt_error *err) {
  char text[200];
  if (l->raw && l->raw != id)
    return tt__fail(err, TT_EVALUE, "%s: the addresses of one launch lie on two devices", describe(l->entry, k, text));
  l->raw = id;
  memcpy(l->args + l->entry->offset[k], &p, sizeof p);
  return TT_OK;
}

static tt_code put_memory(launch *l, int k, tt_error *err) {
  char text[200];
  const tt_argument *a = &l->arg[k];
  if (!is_pointer(l, k)) { /* an array of one element is a value: NumPy's structures are such arrays */
    tt_dtype want = tt__entry_dtype(l->entry->param[k].kind);
    if (a->as.memory.dtype != want || a->as.memory.size != (size_t)l->entry->param[k].size)
      return tt__fail(err, TT_ETYPE, "%s is no pointer, and an array is given", describe(l->entry, k, text));
    memcpy(l->args + l->entry->offset[k], a->as.memory.data, a->as.memory.size);
    return TT_OK;
  }
  TT_TRY(check_pointee(l, k, a->as.memory.dtype, err));
  if (a->as.memory.readonly && may_write(l, k))
    return tt__fail(err, TT_EVALUE, "%s is not const, and the array is read-only", describe(l->entry, k, text));
  if (l->memory.n == TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s: too many arrays", l->entry->name);
  char *low = a->as.memory.data;
  int at = l->entry->offset[k], managed = tt__wanted() == TT_CPU ? TT_CPU : tt__managed_at(low, a->as.memory.size);
  if (managed) return put_there(l, k, low, managed, err);
  l->memory.arg[l->memory.n++] =
      (tt_call_span){.low = low, .high = low + a->as.memory.size, .address = low, .at = at, .writes = may_write(l, k)};
  memcpy(l->args + at, &low, sizeof low);
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
    if (l->memory.n == TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s: too many arrays", l->entry->name);
    l->memory.arg[l->memory.n++] =
        (tt_call_span){.low = p, .high = (char *)p + left, .address = p, .at = at, .writes = may_write(l, k)};
  } else if (p) {
    return put_there(l, k, p, id, err);
  }
  memcpy(l->args + at, &p, sizeof p);
  return TT_OK;
}

static bool is_address(const tt_value *v) { return v->tag == TT_V_UINT || (v->tag == TT_V_INT && v->as.i >= 0); }

static tt_code put_argument(launch *l, int k, tt_error *err) {
  char text[200];
  const tt_argument *a = &l->arg[k];
  size_t size = (size_t)l->entry->param[k].size;
  tt_value v;
  switch (a->kind) {
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
      memcpy(l->args + l->entry->offset[k], a->as.memory.data, size);
      return TT_OK;
    default:
      if (!is_pointer(l, k)) return put_number(l, k, &a->as.value, err);
      if (l->how->addresses && is_address(&a->as.value)) return put_address(l, k, &a->as.value, err);
      if (a->as.value.tag != TT_V_NONE)
        return tt__fail(err, TT_ETYPE, "%s needs an array, a number is given", describe(l->entry, k, text));
      memset(l->args + l->entry->offset[k], 0, sizeof(void *));
      return TT_OK;
  }
}

/* ---- the grid */

static tt_code check_grid(const tt_entry *r, const tt_entry_grid *how, tt_error *err) {
  static const unsigned most_grid[3] = {0x7fffffffu, 65535, 65535}, most_block[3] = {1024, 1024, 64};
  const unsigned *g = how->grid, *b = how->block;
  int most = tt__entry_threads(r);
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

/* ---- its code */

static bool is_wide(const uint32_t *grid, const uint32_t *block) { return (int64_t)grid[0] * block[0] > INT32_MAX; }

/* Take long, with the lock given up. */
static tt_code build(tt_program *p, int id, bool wide, tt_error *err) {
  int depth = tt__session_suspend();
  tt_code code = tt__program_need(p, id, wide, err);
  tt__session_resume(depth);
  return code;
}

/* The CPU's entry for this grid: the plain one counts threads along x in 31 bits. */
static tt_code find_here(tt_entry *e, bool wide, tt_error *err) {
  const tt_cudac_entry **found = wide ? &e->wide : &e->plain;
  if (*found) return TT_OK;
  TT_TRY(build(e->program, 0, wide, err));
  const tt_cudac_program *b = wide ? e->program->wide : e->program->plain;
  for (int k = 0; k < b->nentry && !*found; k++)
    if (strcmp(b->entry[k]->name, e->name) == 0) *found = b->entry[k];
  return *found ? TT_OK : tt__fail(err, TT_EDEVICE, "kernel %s is not among those for the CPU", e->name);
}

static int place_on(const tt_program *p, int id) {
  int k = 0;
  while (k < p->non && p->on[k].id != id) k++;
  return k;
}

static tt_code find_there(tt_entry *e, int id, const tt_device_entry **out, tt_error *err) {
  const tt_program *p = e->program;
  if (place_on(p, id) == p->non) TT_TRY(build(e->program, id, false, err));
  int at = place_on(p, id);
  const tt_device_program *b = p->on[at].program;
  for (int k = 0; k < b->n && !e->on[at]; k++)
    if (strcmp(b->entry[k].name, e->name) == 0) e->on[at] = &b->entry[k];
  *out = e->on[at];
  return *out ? TT_OK : tt__fail(err, TT_EDEVICE, "kernel %s is not among those for the device", e->name);
}

tt_code tt__entry_suggest(tt_entry *r, int device, int64_t shared, int *threads, tt_error *err) {
  enum { USUAL = 128 };
  const tt_device_entry *e;
  tt_device *d;
  int grid, most = tt__entry_threads(r);
  if (device < 0) device = r->program->home;
  *threads = most < USUAL ? most : USUAL; /* on the CPU a block is a loop */
  TT_TRY(tt__device_open(device, &d, err));
  if (!d || !d->ops->suggest) return TT_OK;
  tt__session_lock();
  tt_code code = find_there(r, device, &e, err);
  tt__session_unlock();
  return code == TT_OK ? d->ops->suggest(d, e->routine, (uint32_t)shared, &grid, threads, err) : code;
}

/* ---- checked launches: the bytes behind each pointer follow the arguments */

static size_t sizes_at(const tt_entry *e) { return ((size_t)e->size + 7) & ~(size_t)7; }

static tt_code add_sizes(launch *l, size_t *args_size, tt_error *err) {
  size_t at = sizes_at(l->entry);
  *args_size = at + (size_t)l->n * sizeof(uint64_t);
  if (*args_size > sizeof l->args)
    return tt__fail(err, TT_EVALUE, "kernel %s takes too many bytes of arguments for TUTTI_CHECK=1", l->entry->name);
  memset(l->args + l->entry->size, 0, *args_size - (size_t)l->entry->size);
  for (int k = 0; k < l->n; k++) {
    const tt_argument *a = &l->arg[k];
    uint64_t bytes = 0;
    if (a->kind == TT_ARG_ARRAY)
      bytes = (uint64_t)a->as.array->size * tt__dtype_size((tt_dtype)a->as.array->dtype);
    else if (a->kind == TT_ARG_MEMORY)
      bytes = a->as.memory.size;
    memcpy(l->args + at + (size_t)k * sizeof bytes, &bytes, sizeof bytes);
  }
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

/* ---- what runs it (ir/call.h) */

static tt_code run_cuda(const tt_kernel_call *c, char *args, bool *ran, tt_error *err) {
  const tt_entry *e = c->kernel;
  void *raw[TT_CALL_ARGS / sizeof(void *)];
  tt_str output = {0};
  for (int k = 0; k < e->nparam; k++) raw[k] = args + e->offset[k];
  const tt_cudac_entry *entry = is_wide(c->grid.grid, c->grid.block) ? e->wide : e->plain;
  tt_check *check = NULL;
  if (e->program->check) TT_TRY(tt__cudac_check_new(entry, c->grid.grid, c->grid.block, &check, err));
  tt_code code = check ? add_areas(e, args, raw, check, err) : TT_OK;
  *ran = code == TT_OK;
  if (code == TT_OK) code = tt__cudac_run(entry, c->grid.grid, c->grid.block, c->grid.shared, raw, check, &output, err);
  tt__check_free(check);
  tt__call_print(output.data, output.len);
  tt__str_free(&output);
  return code;
}

static tt_code cuda_routine(const tt_kernel_call *c, tt_device *d, tt_routine **out, tt_error *err) {
  const tt_device_entry *e;
  TT_TRY(find_there(c->kernel, d->id, &e, err));
  *out = e->routine;
  return TT_OK;
}

static void retain_cuda(void *kernel) { ((tt_entry *)kernel)->program->refs++; }
static void release_cuda(void *kernel) {
  tt_program *p = ((tt_entry *)kernel)->program;
  tt__program_release(p);
}

static const tt_call_kind cuda_kind = {run_cuda, cuda_routine, retain_cuda, release_cuda};

/* ---- launching */

/* Where it runs and by which code; nothing is recorded yet. */
static tt_code choose(launch *l, tt_device **d, const tt_device_entry **code, tt_error *err) {
  *code = NULL;
  const tt_entry_grid *how = l->how;
  int chosen = tt__wanted(), otherwise = how->stream ? how->device : chosen >= 0 ? chosen : l->entry->program->home;
  TT_TRY(tt__call_device(l->array, l->narray, l->entry->name, l->raw ? l->raw : otherwise, &l->id, err));
  if (l->raw && l->raw != l->id)
    return tt__fail(err, TT_EVALUE, "kernel %s: its arrays and its addresses lie on different devices", l->entry->name);
  TT_TRY(tt__device_open(l->id, d, err));
  if (how->stream && how->device != l->id)
    return tt__fail(err, TT_EVALUE, "kernel %s: its stream and its arrays belong to different devices", l->entry->name);
  if (!*d || (*d)->target.kind == TT_DEVICE_NULL) {
    bool wide = is_wide(how->grid, how->block);
    TT_TRY(find_here(l->entry, wide, err));
    return tt__cudac_fits(wide ? l->entry->wide : l->entry->plain, how->grid, how->block, l->entry->program->check,
                          err);
  }
  return find_there(l->entry, l->id, code, err);
}

static tt_code record(launch *l, tt_error *err) {
  tt_device *d;
  const tt_device_entry *code;
  for (int k = 0; k < l->n; k++) TT_TRY(put_argument(l, k, err));
  TT_TRY(choose(l, &d, &code, err));
  bool away = d && l->memory.n;
  if (away && l->narray + l->memory.n > TT_CALL_ARRAYS)
    return tt__fail(err, TT_EVALUE, "kernel %s: too many arrays", l->entry->name);
  if (away) TT_TRY(tt__call_bring(&l->memory, l->id, l->array + l->narray, err));
  if (away) l->narray += l->memory.n;
  if (l->how->copied) *l->how->copied = away;
  tt_kernel_call call = {.kind = &cuda_kind,
                         .kernel = l->entry,
                         .name = l->entry->name,
                         .device = l->id,
                         .args = l->args,
                         .args_size = (size_t)l->entry->size};
  memcpy(call.grid.grid, l->how->grid, sizeof call.grid.grid);
  memcpy(call.grid.block, l->how->block, sizeof call.grid.block);
  call.grid.shared = (uint32_t)l->how->shared;
  call.grid.together = code && code->together;
  if (call.grid.together) TT_TRY(tt__call_together(d, code->routine, &call.grid, call.name, err));
  if (d) call.stream = l->how->stream ? l->how->stream : tt__stream_current(d);
  if (l->entry->program->check && (!d || d->target.kind == TT_DEVICE_NULL)) TT_TRY(add_sizes(l, &call.args_size, err));
  l->entry->program->ran = d && d->target.kind != TT_DEVICE_NULL ? l->id : 0;
  bool now = !d && (l->memory.n || l->entry->program->prints);
  TT_TRY(now ? tt__call_now(&call, l->array, l->narray, err) : tt__call_record(&call, l->array, l->narray, err));
  return away ? tt__call_bring_back(&l->memory, err) : TT_OK;
}

tt_code tt__entry_launch(tt_entry *r, const tt_entry_grid *how, const tt_argument *arg, int n, tt_error *err) {
  if (n != r->nparam) return tt__fail(err, TT_ETYPE, "kernel %s takes %d arguments (%d given)", r->name, r->nparam, n);
  TT_TRY(check_grid(r, how, err));
  if (r->size > TT_CALL_ARGS)
    return tt__fail(err, TT_EVALUE, "kernel %s takes more than %d bytes of arguments", r->name, TT_CALL_ARGS);
  launch l;
  l.entry = r;
  l.how = how;
  l.arg = arg;
  l.n = n;
  l.narray = l.memory.n = l.raw = 0;
  memset(l.args, 0, (size_t)r->size); /* gaps between parameters too: equal launches have equal bytes */
  tt_code code = record(&l, err);
  tt__call_forget(&l.memory);
  return code;
}
