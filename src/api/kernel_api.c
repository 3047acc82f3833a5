/*
** The functions of tutti/kernel.h: programs as objects, arguments as raw memory for as long as a kernel runs.
*/
#include "tutti/kernel.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "graph/build.h"
#include "graph/host.h"
#include "graph/session.h"
#include "lang/cudac.h"
#include "lang/cudac_run.h"

enum { SHARED_LIMIT = 48 << 10, BLOCK_THREADS = 1024 };

struct tt_routine {
  tt_program *program;
  int number; /* among the entries */
  const char *name;
  const char *params; /* in the program's `names`: a text for each parameter, one behind the other; NULL: not known */
};

typedef struct text_list {
  char **item;
  int n;
} text_list;

struct tt_program {
  int64_t refs;                         /* under the session lock */
  const tt_cudac_program *plain, *wide; /* wide: made when first needed, under `lock` */
  tt_lock lock;
  char *source, *file;
  text_list flag, expression;
  tt_str text, names;
  tt_routine *routine;
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
  tt__mem_free(p->routine, (size_t)p->n * sizeof *p->routine);
  tt__mem_free(p, sizeof *p);
}

static tt_code build(tt_program *p, bool wide, const tt_cudac_program **out, tt_str *names, tt_str *text,
                     tt_error *err) {
  tt_cudac_options o = {.file = p->file,
                        .flag = (const char *const *)p->flag.item,
                        .nflag = p->flag.n,
                        .expression = (const char *const *)p->expression.item,
                        .nexpression = p->expression.n,
                        .wide = wide};
  return tt__cudac_build(p->source, &o, out, names, text, err);
}

/* Names of kernels and parameters: "kernel\tfirst,second\n" for each entry, cut apart in place. */
static bool name_routines(tt_program *p) {
  p->n = p->plain->nentry;
  p->routine = tt__mem_zalloc((size_t)p->n * sizeof *p->routine);
  if (p->n && !p->routine) return false;
  char *at = p->names.data;
  for (int k = 0; k < p->n; k++) {
    tt_routine *r = &p->routine[k];
    *r = (tt_routine){.program = p, .number = k, .name = p->plain->entry[k]->name};
    char *end = at ? strchr(at, '\n') : NULL;
    if (!end) continue;
    *end = 0;
    char *tab = strchr(at, '\t');
    int n = 1;
    for (char *c = tab; c && (c = strchr(c, ',')) != NULL; n++) *c++ = 0;
    if (tab && tab[1] && n == p->plain->entry[k]->nparam) r->params = tab + 1;
    at = end + 1;
  }
  return true;
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
  tt_code code = ok ? build(p, false, &p->plain, &p->names, &p->text, err) : tt__fail_memory(err, strlen(source));
  if (code == TT_OK && !name_routines(p)) code = tt__fail_memory(err, sizeof *p->routine);
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
tt_routine *tt_program_nth(tt_program *p, int k) { return k >= 0 && k < p->n ? &p->routine[k] : NULL; }

tt_code tt_program_routine(tt_program *p, const char *name, tt_routine **out, tt_error *err) {
  char known[512] = "";
  size_t n = 0;
  *out = NULL;
  for (int k = 0; k < p->n; k++) {
    if (strcmp(p->routine[k].name, name) == 0) {
      *out = &p->routine[k];
      return TT_OK;
    }
    if (n < sizeof known) n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", k ? ", " : "", p->routine[k].name);
  }
  return tt__fail(err, TT_EVALUE, "the program has no kernel '%.200s'; it has %s", name, known[0] ? known : "none");
}

tt_code tt_program_variable(tt_program *p, const char *name, void **data, size_t *size, tt_error *err) {
  for (int k = 0; k < p->plain->nvariable; k++) {
    const tt_cudac_variable *v = &p->plain->variable[k];
    if (strcmp(v->name, name) != 0) continue;
    *data = v->data;
    *size = v->size;
    return TT_OK;
  }
  return tt__fail(err, TT_EVALUE, "the program has no __device__ or __constant__ variable '%.200s'", name);
}

/* ---- kernels */

static const tt_cudac_entry *entry_of(const tt_routine *r) { return r->program->plain->entry[r->number]; }

const char *tt_routine_name(const tt_routine *r) { return r->name; }
int tt_routine_parameters(const tt_routine *r) { return entry_of(r)->nparam; }
bool tt_routine_waits(const tt_routine *r) { return entry_of(r)->sync; }
int tt_routine_threads(const tt_routine *r) {
  int most = entry_of(r)->max_threads;
  return most > 0 && most < BLOCK_THREADS ? most : BLOCK_THREADS;
}

static tt_dtype dtype_of(int kind) {
  int t = kind & ~(TT_CUDAC_POINTER | TT_CUDAC_CONST);
  return t < TT_DTYPE_COUNT ? (tt_dtype)t : TT_DTYPE_NONE;
}

static const char *param_name(const tt_routine *r, int k) {
  const char *name = r->params;
  for (; name && k > 0; k--) name += strlen(name) + 1;
  return name ? name : "";
}

tt_code tt_routine_parameter(const tt_routine *r, int k, tt_parameter *out, tt_error *err) {
  const tt_cudac_entry *e = entry_of(r);
  if (k < 0 || k >= e->nparam) return tt__fail(err, TT_EINDEX, "kernel %s has no parameter %d", r->name, k);
  const tt_cudac_param *p = &e->param[k];
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
static const char *describe(const tt_routine *r, int k, char out[200]) {
  tt_parameter p;
  if (tt_routine_parameter(r, k, &p, NULL) != TT_OK) return "";
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
  tt_routine *routine;
  const tt_argument *arg;
  int n;
  slot *slot;
  void **raw; /* what the entry is given */
  tt_buffer **hold;
} call;

static size_t call_bytes(int n) { return (size_t)(n + 1) * (sizeof(slot) + sizeof(void *) + sizeof(tt_buffer *)); }

static bool is_byte(tt_dtype t) { return t == TT_BOOL || t == TT_I8 || t == TT_U8; }

static tt_code check_pointee(const call *c, int k, tt_dtype given, tt_error *err) {
  char text[200];
  tt_dtype want = dtype_of(entry_of(c->routine)->param[k].kind);
  if (want == TT_DTYPE_NONE || given == TT_DTYPE_NONE || want == given) return TT_OK;
  if (is_byte(want) && is_byte(given)) return TT_OK; /* char, signed char, unsigned char, bool */
  return tt__fail(err, TT_ETYPE, "%s points at %s, the array holds %s", describe(c->routine, k, text),
                  tt__dtypes[want].name, tt__dtypes[given].name);
}

static tt_code check_array(const call *c, int k, tt_error *err) {
  char text[200];
  tt_array *a = c->arg[k].as.array;
  TT_TRY(check_pointee(c, k, (tt_dtype)a->dtype, err));
  if (tt__array_is_c(a) || tt__array_is_f(a)) return TT_OK;
  return tt__fail(err, TT_EVALUE, "%s: the array is not contiguous; pass a copy of it", describe(c->routine, k, text));
}

static tt_code put_number(call *c, int k, const tt_value *v, tt_error *err) {
  char text[200];
  const tt_cudac_param *p = &entry_of(c->routine)->param[k];
  tt_dtype want = dtype_of(p->kind);
  bool number = v->tag == TT_V_BOOL || v->tag == TT_V_INT || v->tag == TT_V_UINT || v->tag == TT_V_FLOAT ||
                v->tag == TT_V_COMPLEX;
  if (want == TT_DTYPE_NONE || !number)
    return tt__fail(err, TT_ETYPE, "%s cannot be made of what is given", describe(c->routine, k, text));
  char kind = tt__dtypes[want].kind;
  bool whole = kind == 'i' || kind == 'u' || kind == 'b';
  if ((v->tag == TT_V_FLOAT && whole) || (v->tag == TT_V_COMPLEX && kind != 'c'))
    return tt__fail(err, TT_ETYPE, "%s is given a %s number", describe(c->routine, k, text),
                    v->tag == TT_V_FLOAT ? "floating-point" : "complex");
  if ((v->tag == TT_V_INT || v->tag == TT_V_UINT) && whole && kind != 'b' && !tt__int_fits(v, want))
    return tt__fail(err, TT_EOVERFLOW, "%s: the number %lld is out of its range", describe(c->routine, k, text),
                    (long long)v->as.i);
  c->slot[k].scalar = tt__scalar_from(v, want);
  c->raw[k] = &c->slot[k].scalar;
  return TT_OK;
}

/* What needs no array's memory: everything but that is checked and put in place. */
static tt_code prepare(call *c, int k, tt_error *err) {
  char text[200];
  const tt_argument *a = &c->arg[k];
  const tt_cudac_param *p = &entry_of(c->routine)->param[k];
  bool pointer = p->kind & TT_CUDAC_POINTER;
  tt_value v;
  c->raw[k] = &c->slot[k].pointer;
  switch (a->kind) {
    case TT_ARG_ARRAY:
      if (pointer) return check_array(c, k, err);
      if (a->as.array->size != 1)
        return tt__fail(err, TT_ETYPE, "%s is no pointer, and an array is given", describe(c->routine, k, text));
      TT_TRY(tt__item(a->as.array, &v, err));
      return put_number(c, k, &v, err);
    case TT_ARG_MEMORY:
      if (!pointer)
        return tt__fail(err, TT_ETYPE, "%s is no pointer, and an array is given", describe(c->routine, k, text));
      TT_TRY(check_pointee(c, k, a->as.memory.dtype, err));
      if (a->as.memory.readonly && !(p->kind & TT_CUDAC_CONST))
        return tt__fail(err, TT_EVALUE, "%s is not const, and the array is read-only", describe(c->routine, k, text));
      c->slot[k].pointer = a->as.memory.data;
      return TT_OK;
    case TT_ARG_BYTES:
      if (pointer || a->as.memory.size != (size_t)p->size)
        return tt__fail(err, TT_ETYPE, "%s is given %zu bytes", describe(c->routine, k, text), a->as.memory.size);
      c->raw[k] = a->as.memory.data;
      return TT_OK;
    default:
      if (!pointer) return put_number(c, k, &a->as.value, err);
      if (a->as.value.tag != TT_V_NONE)
        return tt__fail(err, TT_ETYPE, "%s needs an array, a number is given", describe(c->routine, k, text));
      c->slot[k].pointer = NULL;
      return TT_OK;
  }
}

static bool is_pointer_array(const call *c, int k) {
  return c->arg[k].kind == TT_ARG_ARRAY && (entry_of(c->routine)->param[k].kind & TT_CUDAC_POINTER);
}

/* Values first, then memory of one's own where the kernel may write, then holds: nothing between lets others in. */
static tt_code take_arrays(call *c, tt_error *err) {
  for (int k = 0; k < c->n; k++) {
    if (!is_pointer_array(c, k)) continue;
    tt_node *n = tt__node_retain(c->arg[k].as.array->storage->node);
    tt_code code = tt__evaluate(&n, 1, err);
    tt__node_release(n);
    if (code != TT_OK) return code;
  }
  for (int k = 0; k < c->n; k++)
    if (is_pointer_array(c, k) && !(entry_of(c->routine)->param[k].kind & TT_CUDAC_CONST))
      TT_TRY(tt__array_own(c->arg[k].as.array, err));
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

static void give_back(call *c) {
  for (int k = 0; k < c->n; k++)
    if (c->hold[k]) tt__buffer_release(c->hold[k]);
}

/* ---- launching */

static tt_code check_launch(const tt_routine *r, const tt_launch *how, tt_error *err) {
  static const unsigned most_grid[3] = {0x7fffffffu, 65535, 65535}, most_block[3] = {1024, 1024, 64};
  const unsigned *g = how->grid, *b = how->block;
  int most = tt_routine_threads(r);
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

/* The entry for this grid: the plain one counts threads along x in 31 bits. */
static tt_code find_entry(tt_routine *r, const tt_launch *how, const tt_cudac_entry **out, tt_error *err) {
  tt_program *p = r->program;
  *out = entry_of(r);
  if ((int64_t)how->grid[0] * how->block[0] <= INT32_MAX) return TT_OK;
  tt__lock(&p->lock);
  tt_code code = p->wide ? TT_OK : build(p, true, &p->wide, NULL, NULL, err);
  tt__unlock(&p->lock);
  if (code == TT_OK) *out = p->wide->entry[r->number];
  return code;
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

static tt_code run(call *c, const tt_launch *how, tt_error *err) {
  const tt_cudac_entry *e;
  tt_str output = {0};
  tt_code code = TT_OK;
  for (int k = 0; k < c->n && code == TT_OK; k++) code = prepare(c, k, err);
  if (code == TT_OK) code = take_arrays(c, err);
  int depth = tt__session_suspend();
  if (code == TT_OK) code = find_entry(c->routine, how, &e, err);
  if (code == TT_OK) code = tt__cudac_run(e, how->grid, how->block, (unsigned)how->shared, c->raw, &output, err);
  tt__session_resume(depth);
  TT_COUNT(launches, 1);
  give_back(c);
  keep_output(&output);
  return code;
}

tt_code tt_routine_launch(tt_routine *r, const tt_launch *how, const tt_argument *arg, int n, tt_error *err) {
  tt_error local = {0};
  void *memory[64];
  if (!err) err = &local;
  err->code = TT_OK;
  if (n != entry_of(r)->nparam)
    return tt__fail(err, TT_ETYPE, "kernel %s takes %d arguments (%d given)", r->name, entry_of(r)->nparam, n);
  TT_TRY(check_launch(r, how, err));
  size_t bytes = call_bytes(n);
  bool small = bytes <= sizeof memory;
  char *room = small ? (char *)memory : tt__mem_alloc(bytes);
  if (!room) return tt__fail_memory(err, bytes);
  memset(room, 0, bytes);
  call c = {.routine = r, .arg = arg, .n = n, .slot = (slot *)(void *)room};
  c.raw = (void **)(void *)(c.slot + n + 1);
  c.hold = (tt_buffer **)(void *)(c.raw + n + 1);
  tt__session_lock();
  tt_code code = run(&c, how, err);
  tt__session_unlock();
  if (!small) tt__mem_free(room, bytes);
  return code != TT_OK && err->code != TT_OK ? err->code : code;
}
