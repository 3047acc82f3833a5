/*
** The frame of a program's text: types, functions, the entry that unpacks words.
*/
#include "render/proc/proc.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "render/dialect.h"
#include "render/proc/proc_int.h"
#include "render/render.h"
#include "scalar/texts.h"

extern const char tt__program_text[];   /* proc/proc_text.h */
extern const char tt__program_opencl[]; /* proc/opencl_text.h */

void tt__program_header(const tt_proc *p, tt_program_target target, tt_str *out) {
  if (target != TT_PROGRAM_C) /* the dialect's own header stands above */
    tt__str_addf(out, "#define TT_PROGRAM_GPU 1\n#define %s 1\n",
                 target == TT_PROGRAM_CUDA ? "TT_PROGRAM_CUDA" : "TT_PROGRAM_OPENCL");
  else
    tt__render_header(&tt__dialect_c, p->scalar, out);
  tt__str_add(out, tt__program_text);
  if (target == TT_PROGRAM_OPENCL) tt__str_add(out, tt__program_opencl);
  if (p->scalar) tt__str_add(out, tt__program_math);
  if (p->grid && target == TT_PROGRAM_CUDA) tt__str_add(out, tt__cuda_barrier);
}

bool tt__program_single(const tt_proc *p) { return p->bounds && p->entry->kind == TT_X_KERNEL; }

int64_t tt__program_local_bytes(const tt_proc *p) {
  int64_t n = 0;
  for (int64_t k = 0; k < p->local.n; k++) n += (p->local.data[k].bytes + 15) & ~(int64_t)15;
  return n;
}

int64_t tt__program_shared_bytes(const tt_proc *p) {
  int64_t n = 0;
  for (int64_t k = 0; k < p->shared.n; k++) n += (p->shared.data[k].bytes + 15) & ~(int64_t)15;
  return n;
}

static const char thread_params[] =
    "tt_i64 tx, tt_i64 ty, tt_i64 tz, tt_i64 bx, tt_i64 by, tt_i64 bz, tt_i64 bdx, tt_i64 bdy, tt_i64 bdz, tt_i64 gdx, "
    "tt_i64 gdy, tt_i64 gdz";

/* ---- functions */

static void put_signature(tt_pwriter *w, int64_t number) {
  const tt_pfunc *f = w->f;
  tt__str_addf(w->out, "%s%s tt_f%lld(tt_pcall *call", w->target == TT_PROGRAM_CUDA ? "static __device__ " : "static ",
               tt__pw_fails(w, f) ? "int" : tt__pw_type_in(w, f->result, tt__pw_result_space(w)), (long long)number);
  if (f->place && w->target == TT_PROGRAM_C) tt__str_addf(w->out, ", %s", thread_params);
  for (int32_t k = 0; k < f->nparam; k++) tt__str_addf(w->out, ", %s v%d", tt__pw_local_type(w, k), (int)k);
  if (tt__pw_fails(w, f)) tt__str_addf(w->out, ", %s *result", tt__pw_type(w, f->result));
  tt__str_add(w->out, ")");
}

/* What was written of a function, behind what stands before it. */
static void end_function(tt_pwriter *w, tt_str *outer) {
  tt_str *own = w->out, *fore = w->fore;
  tt__str_add(outer, fore->data ? fore->data : "");
  tt__str_add(outer, own->data ? own->data : "");
  outer->failed |= own->failed || fore->failed;
  tt__str_free(own);
  tt__str_free(fore);
  w->out = outer;
}

/* `number`: in the function's name. */
static void put_function(tt_pwriter *w, const tt_pfunc *f, int64_t number) {
  tt_str own = {0}, fore = {0}, *outer = w->out;
  w->f = f;
  w->out = &own;
  w->fore = &fore;
  tt__str_addf(&own, "/* %s */\n", strchr(w->f->name, '*') ? "" : w->f->name);
  if (w->f->yields) {
    tt__pw_generator(w, number);
    end_function(w, outer);
    return;
  }
  put_signature(w, number);
  tt__pw_open(w, " {");
  tt__pw_locals(w, w->f->nparam);
  if (w->f->recursive && tt__pw_fails(w, w->f))
    tt__pw_line(w,
                "if (TT_RARELY((const char *)__builtin_frame_address(0) < call->floor)) { tt_fail(call, %d, \"maximum "
                "recursion depth exceeded\", 0); return 1; }",
                TT_X_DEEP);
  tt__pw_begin_carried(w);
  tt__pw_turns(w, w->f->body);
  tt__pw_stmts(w, w->f->body);
  tt__pw_line(w, tt__pw_fails(w, w->f)            ? "return 0;"
                 : w->f->result->tag == TT_T_NONE ? "return 0;"
                                                  : "__builtin_unreachable();");
  tt__pw_close(w, "}");
  end_function(w, outer);
}

/* Unpack words into `prefix`0, `prefix`1 ... */
static void put_arguments(tt_pwriter *w, const char *prefix) {
  int at = 0;
  for (int32_t k = 0; k < w->f->nparam; k++) {
    const tt_ptype *t = w->f->locals.data[k].type;
    tt_str text = {0};
    at += tt__pw_from_words(w, t, "word", at, &text);
    tt__pw_line(w, "%s %s%d = %s;", tt__pw_type(w, t), prefix, (int)k, tt__pw_peek(w, &text));
    w->out->failed |= text.failed;
    tt__str_free(&text);
  }
}

static void put_function_entry(tt_pwriter *w, int64_t number, const char *name) {
  const tt_pfunc *f = w->f = w->p->funcs.data[number];
  tt__pw_open(w, "void %s(tt_pcall *call, const tt_i64 *word, tt_i64 *out) {", name);
  put_arguments(w, "a");
  tt__pw_line(w, "%s r;", tt__pw_type(w, f->result));
  tt_str args = {0};
  for (int32_t k = 0; k < f->nparam; k++) tt__str_addf(&args, ", a%d", (int)k);
  if (f->yields)
    tt__pw_line(w, "if (!(r = tt_g%lld(call%s))) return;", (long long)number, tt__pw_peek(w, &args));
  else if (tt__pw_fails(w, f))
    tt__pw_line(w, "if (tt_f%lld(call%s, &r)) return;", (long long)number, tt__pw_peek(w, &args));
  else
    tt__pw_line(w, "r = tt_f%lld(call%s);", (long long)number, tt__pw_peek(w, &args));
  tt__str_free(&args);
  tt__pw_to_words(w, f->result, "r", "out", 0);
  tt__pw_close(w, "}");
}

/* ---- arrays of blocks and threads */

/*
** The block's shared arrays: on the stack of who runs the block; for a checked kernel where the host can watch them;
** on a GPU in its shared memory.
*/
static void put_shared(tt_pwriter *w) {
  bool gpu = w->target != TT_PROGRAM_C;
  const char *space = tt__pw_space_word(w, TT_SPACE_SHARED);
  for (int64_t k = 0; k < w->p->shared.n; k++) {
    const tt_pslot *s = &w->p->shared.data[k];
    const char *suffix = tt__dtypes[s->type->dtype].suffix;
    long long at = (long long)k, n = (long long)(s->bytes / (int64_t)tt__dtype_size((tt_dtype)s->type->dtype));
    if (s->dynamic)
      tt__pw_line(w, "%stt_%s *shared%lld = (%stt_%s *)%s;", space, suffix, at, space, suffix,
                  gpu ? "TT_SHARED_BYTES" : "call->shared");
    else if (gpu)
      tt__pw_line(w, "%stt_%s shared%lld[%lld];", w->target == TT_PROGRAM_CUDA ? "__shared__ " : space, suffix, at,
                  n + (n == 0));
    else if (w->single)
      tt__pw_line(w, "tt_%s *shared%lld = (tt_%s *)call->slot[%lld];", suffix, at, suffix, at);
    else
      tt__pw_line(w, "tt_%s shared%lld[%lld] __attribute__((aligned(64)));", suffix, at, n + 1);
  }
}

/* Threads take turns: each has its private arrays in the host's memory, which other blocks' threads have elsewhere. */
static void put_private_slots(tt_pwriter *w) {
  int64_t at = 0;
  if (w->p->local.n) tt__pw_line(w, "char *const slots = call->local;");
  for (int64_t k = 0; k < w->p->local.n; k++) {
    const tt_pslot *s = &w->p->local.data[k];
    int64_t bytes = (s->bytes + 15) & ~(int64_t)15;
    const char *suffix = tt__dtypes[s->type->dtype].suffix;
    tt__pw_line(w, "#define local%lld ((tt_%s *)(slots + %lld * TT_THREADS + t * %lld))", (long long)k, suffix,
                (long long)at, (long long)bytes);
    at += bytes;
  }
}

/* Shared and private arrays of a kernel whose whole grid is there at once. */
static void put_wide_slots(tt_pwriter *w) {
  int64_t at = 0;
  for (int64_t k = 0; k < w->p->shared.n; k++) {
    const tt_pslot *s = &w->p->shared.data[k];
    const char *suffix = tt__dtypes[s->type->dtype].suffix;
    int64_t size = (int64_t)tt__dtype_size((tt_dtype)s->type->dtype);
    if (s->dynamic)
      tt__pw_line(w, "const tt_i64 each%lld = dynamic / %lld + 1;", (long long)k, (long long)size);
    else
      tt__pw_line(w, "const tt_i64 each%lld = %lld;", (long long)k, (long long)(s->bytes / size + 1));
    tt__pw_line(w, "tt_%s *const all%lld = call->alloc(call, gdx * gdy * gdz * each%lld * %lld, 0);", suffix,
                (long long)k, (long long)k, (long long)size);
    tt__pw_line(w, "if (!all%lld) { tt_fail(call, TT_ENOMEM, \"out of memory\", 0); return; }", (long long)k);
  }
  if (w->p->local.n == 0) return;
  tt__pw_line(w, "char *const mine = call->alloc(call, threads * %lld, 0);", (long long)tt__program_local_bytes(w->p));
  tt__pw_line(w, "if (!mine) { tt_fail(call, TT_ENOMEM, \"out of memory\", 0); return; }");
  for (int64_t k = 0; k < w->p->local.n; k++) {
    int64_t bytes = (w->p->local.data[k].bytes + 15) & ~(int64_t)15;
    tt__pw_line(w, "#define local%lld ((tt_%s *)(mine + %lld * threads + t * %lld))", (long long)k,
                tt__dtypes[w->p->local.data[k].type->dtype].suffix, (long long)at, (long long)bytes);
    at += bytes;
  }
}

static void put_private(tt_pwriter *w) {
  for (int64_t k = 0; k < w->p->local.n; k++) {
    const tt_pslot *s = &w->p->local.data[k];
    tt__pw_line(w, "tt_%s local%lld[%lld] __attribute__((aligned(16)));", tt__dtypes[s->type->dtype].suffix,
                (long long)k, (long long)(s->bytes / (int64_t)tt__dtype_size((tt_dtype)s->type->dtype) + 1));
  }
}

/* ---- kernels on the CPU */

/* One thread of a kernel without barriers, a function so that an early return is one. */
static void put_thread(tt_pwriter *w) {
  tt__str_addf(w->out, "TT_FN void tt_thread(tt_pcall *call, const tt_i64 dynamic, %s", thread_params);
  for (int32_t k = 0; k < w->f->nparam; k++)
    tt__str_addf(w->out, ", %s v%d", tt__pw_type(w, w->f->locals.data[k].type), (int)k);
  for (int64_t k = 0; k < w->p->shared.n; k++)
    tt__str_addf(w->out, ", tt_%s *shared%lld", tt__dtypes[w->p->shared.data[k].type->dtype].suffix, (long long)k);
  tt__pw_open(w, ") {");
  tt__pw_locals(w, w->f->nparam);
  if (w->single) {
    tt__pw_line(w, "const tt_i64 t = tx + bdx * (ty + bdy * tz); (void)t;");
    put_private_slots(w);
  } else {
    put_private(w);
  }
  tt__pw_begin_carried(w);
  tt__pw_turns(w, w->f->body);
  tt__pw_stmts(w, w->f->body);
  tt__pw_close(w, "}");
}

static void put_thread_arguments(const tt_pwriter *w, tt_str *args) {
  for (int32_t k = 0; k < w->f->nparam; k++) tt__str_addf(args, ", v%d", (int)k);
  for (int64_t k = 0; k < w->p->shared.n; k++) tt__str_addf(args, ", shared%lld", (long long)k);
}

/* A checked kernel: the thread launch[1] of the block launch[0]. */
static void put_one_thread(tt_pwriter *w) {
  tt_str args = {0};
  put_thread_arguments(w, &args);
  tt__pw_line(w, "const tt_i64 b = launch[0], t = launch[1];");
  put_shared(w);
  tt__pw_line(w,
              "tt_thread(call, dynamic, t %% bdx, t / bdx %% bdy, t / bdx / bdy, b %% gdx, b / gdx %% gdy, b / gdx / "
              "gdy, bdx, bdy, bdz, gdx, gdy, gdz%s);",
              tt__pw_peek(w, &args));
  tt__str_free(&args);
}

static void put_threads(tt_pwriter *w, const tt_pbounds *strip) {
  tt_str args = {0};
  put_thread_arguments(w, &args);
  tt__pw_bounds_loops(w, strip, tt__pw_peek(w, &args));
  tt__str_free(&args);
}

/* All blocks together; what all threads have arrays for stands before the loops. */
static void put_grid(tt_pwriter *w) {
  tt_str tops = {0}, body = {0}, *outer = w->out;
  tt__pw_open(w, "{");
  tt__pw_line(w, "const tt_i64 threads = bdx * bdy * bdz * gdx * gdy * gdz; (void)dynamic;");
  put_wide_slots(w);
  w->tops = &tops;
  w->out = &body;
  tt__pw_block(w);
  w->out = outer;
  tt__str_add(outer, tops.data ? tops.data : "");
  tt__str_add(outer, body.data ? body.data : "");
  outer->failed |= tops.failed || body.failed;
  tt__str_free(&tops);
  tt__str_free(&body);
  tt__pw_close(w, "}");
}

/* Blocks [launch[0], launch[1]), one after the other; strip: NULL for a kernel that is split at its barriers. */
static void put_blocks(tt_pwriter *w, const tt_pbounds *strip) {
  tt__pw_line(w, "const int flat = gdy == 1 && gdz == 1;"); /* the usual grid needs no divisions */
  tt__pw_open(w, "for (tt_i64 b = launch[0], strip = 1; b < launch[1]; b += strip) {");
  tt__pw_line(w,
              "const tt_i64 bx = flat ? b : b %% gdx, by = flat ? 0 : b / gdx %% gdy, bz = flat ? 0 : b / gdx / gdy;");
  put_shared(w);
  if (strip) {
    put_threads(w, strip);
  } else {
    put_private_slots(w);
    tt__pw_block(w);
  }
  tt__pw_close(w, "}");
}

static void put_kernel_entry(tt_pwriter *w, int64_t number, const char *name) {
  tt_str own = {0}, fore = {0}, *outer = w->out;
  w->f = w->p->funcs.data[number];
  w->wide = w->p->grid && !w->single;
  bool split = !w->single && tt__pw_turn(w->arena, w->f, w->wide);
  w->out = &own;
  w->fore = &fore;
  const tt_pbounds *strip = split || w->single ? NULL : tt__pw_bounds_find(w);
  if (!split && !strip && !w->single) goto done;
  w->bounds = strip;
  if (!split) put_thread(w);
  w->bounds = NULL;
  tt__pw_open(w, "void %s(tt_pcall *call, const tt_i64 *word, tt_i64 *launch) {", name);
  put_arguments(w, split ? "a" : "v");
  tt__pw_line(w,
              "const tt_i64 bdx = launch[2], bdy = launch[3], bdz = launch[4], gdx = launch[5], gdy = launch[6], "
              "gdz = launch[7], dynamic = launch[8];");
  if (w->wide)
    put_grid(w);
  else if (w->single)
    put_one_thread(w);
  else
    put_blocks(w, strip);
  tt__pw_close(w, "}");
done:
  end_function(w, outer);
}

/* ---- kernels on a GPU: the body is one thread's */

static int count_words(const tt_proc *p) {
  int n = 1; /* bytes of dynamic shared memory */
  for (int32_t k = 0; k < p->entry->nparam; k++) n += tt__ptype_words(p->entry->locals.data[k].type);
  for (int64_t k = 0; k < p->globals.n; k++) n += tt__ptype_words(p->globals.data[k]);
  return n;
}

/* Words: the arguments', the hidden arrays', the dynamic shared memory. */
static void put_gpu_kernel(tt_pwriter *w, int64_t number, const char *name) {
  w->f = w->p->funcs.data[number];
  int n = count_words(w->p), hidden = 0;
  for (int32_t k = 0; k < w->f->nparam; k++) hidden += tt__ptype_words(w->f->locals.data[k].type);
  tt__pw_line(w, "struct tt_words { tt_i64 w[%d]; };", n);
  tt__pw_open(w, "extern \"C\" __global__ void %s(const tt_words given) {", name);
  tt__pw_line(w, "const tt_i64 *word = given.w; tt_pcall *call = given.w + %d; (void)call; (void)word;", hidden);
  tt__pw_line(w, "const tt_i64 dynamic = given.w[%d]; (void)dynamic;", n - 1);
  put_arguments(w, "v");
  tt__pw_locals(w, w->f->nparam);
  put_shared(w);
  put_private(w);
  tt__pw_stmts(w, w->f->body);
  tt__pw_close(w, "}");
}

/* ---- kernels in OpenCL C, where an array's address is memory of its own and how far into it */

static int add_addresses(const tt_ptype *t, int *at, int *word, int n) {
  if (t->tag == TT_T_ARRAY && word) word[n] = *at;
  if (t->tag == TT_T_ARRAY) n++;
  for (int k = 0; t->tag == TT_T_TUPLE && k < t->n; k++) n = add_addresses(t->item[k], at, word, n);
  if (t->tag != TT_T_TUPLE) *at += tt__ptype_words(t);
  return n;
}

int tt__program_addresses(const tt_proc *p, int *word) {
  int n = 0, at = 0;
  assert(p->entry->kind == TT_X_KERNEL);
  for (int32_t k = 0; k < p->entry->nparam; k++) n = add_addresses(p->entry->locals.data[k].type, &at, word, n);
  for (int64_t k = 0; k < p->globals.n; k++) n = add_addresses(p->globals.data[k], &at, word, n);
  return n;
}

static bool is_dynamic(const tt_proc *p) {
  for (int64_t k = 0; k < p->shared.n; k++)
    if (p->shared.data[k].dynamic) return true;
  return false;
}

static int argument_words(const tt_proc *p) {
  int n = 0;
  for (int32_t k = 0; k < p->entry->nparam; k++) n += tt__ptype_words(p->entry->locals.data[k].type);
  return n;
}

/* What functions are handed on: the hidden arrays, and where threads of a block count. */
static void put_context_type(tt_pwriter *w, const int *word, int n, int hidden) {
  tt__pw_open(w, "typedef struct {");
  tt__pw_line(w, "const tt_i64 *hidden;");
  tt__pw_line(w, "__local tt_i32 *meet;");
  for (int k = 0; k < n; k++)
    if (word[k] >= hidden) tt__pw_line(w, "__global tt_u8 *hidden_at%d;", word[k] - hidden);
  w->indent--;
  tt__pw_line(w, "} tt_pcall;");
}

static void put_opencl_head(tt_pwriter *w, const char *name, int n) {
  tt_str head = {0};
  if (n) tt__str_addf(&head, "tt_u64 at[%d]; ", n);
  tt__pw_line(w, "typedef struct { %stt_i64 w[%d]; } tt_words;", tt__pw_peek(w, &head), count_words(w->p));
  tt__str_clear(&head);
  for (int k = 0; k < n; k++) tt__str_addf(&head, ", __global tt_u8 *m%d", k);
  if (is_dynamic(w->p)) tt__str_add(&head, ", __local uint4 *TT_SHARED_BYTES");
  tt__pw_open(w, "__kernel void %s(const tt_words given%s) {", name, tt__pw_peek(w, &head));
  w->out->failed |= head.failed;
  tt__str_free(&head);
}

static void put_opencl_kernel(tt_pwriter *w, const char *name, const int *word, int n, int hidden) {
  w->f = w->p->entry;
  put_opencl_head(w, name, n);
  tt__pw_line(w, "const tt_i64 *word = given.w; (void)word;");
  tt__pw_line(w, "const tt_i64 dynamic = given.w[%d]; (void)dynamic;", count_words(w->p) - 1);
  tt__pw_line(w, "__local tt_i32 meet;");
  tt__pw_line(w, "tt_pcall context, *call = &context; (void)call;");
  tt__pw_line(w, "context.hidden = given.w + %d; context.meet = &meet;", hidden);
  for (int k = 0; k < n; k++)
    if (word[k] < hidden)
      tt__pw_line(w, "__global tt_u8 *const word_at%d = m%d + given.at[%d];", word[k], k, k);
    else
      tt__pw_line(w, "context.hidden_at%d = m%d + given.at[%d];", word[k] - hidden, k, k);
  if (w->apart) tt__pw_line(w, "tt_b8 over = 0;");
  put_arguments(w, "v");
  tt__pw_locals(w, w->f->nparam);
  put_shared(w);
  put_private(w);
  tt__pw_stmts(w, w->f->body);
  tt__pw_close(w, "}");
}

static tt_code put_opencl(tt_pwriter *w, int64_t entry, const char *name, tt_error *err) {
  int word[TT_PROGRAM_ADDRESSES], n = tt__program_addresses(w->p, NULL), hidden = argument_words(w->p);
  if (n > TT_PROGRAM_ADDRESSES) return tt__fail(err, TT_ENOTIMPL, "more than %d arrays", TT_PROGRAM_ADDRESSES);
  (void)tt__program_addresses(w->p, word);
  TT_TRY(tt__pw_find_spaces(w, entry, err));
  tt__pw_types(w);
  put_context_type(w, word, n, hidden);
  for (w->variant = w->variants; w->variant; w->variant = w->variant->next) /* callees before their callers */
    if (w->variant->f->kind == TT_X_FUNCTION)
      put_function(w, w->variant->f, w->variant->number);
    else
      break;
  if (w->variant) put_opencl_kernel(w, name, word, n, hidden);
  return w->out->failed ? tt__fail_memory(err, w->out->len) : TT_OK;
}

/* What only the host can do: memory, random numbers of the call, parallel loops. */
static bool is_hosts(const tt_pexpr *e) { return e->op == TT_X_ALLOC || (e->op == TT_X_HELPER && e->k); }
static bool has_hosts(const tt_pstmt *s) {
  for (; s; s = s->next)
    if (s->op == TT_X_PARFOR || s->op == TT_X_TRY || has_hosts(s->body) || has_hosts(s->other)) return true;
  return false;
}
static bool fits_gpu(const tt_proc *p, tt_error *err) {
  for (int64_t k = 0; k < p->funcs.n; k++)
    if (has_hosts(p->funcs.data[k]->body) || tt__pw_some(p->funcs.data[k]->body, is_hosts)) {
      tt__fail(err, TT_ENOTIMPL,
               "%s() makes arrays, catches exceptions or draws np.random's numbers, which no GPU does",
               p->funcs.data[k]->name);
      return false;
    }
  return true;
}

/* Types and functions, which call one another. */
static void put_functions(tt_pwriter *w) {
  const tt_proc *p = w->p;
  tt__pw_types(w);
  /* Callees were finished before their callers, but begun after them. */
  for (int64_t k = p->funcs.n - 1; k >= 0; k--) {
    w->f = p->funcs.data[k];
    if (w->f->kind == TT_X_KERNEL) continue;
    if (w->f->yields) {
      tt__pw_generator_head(w, k);
      continue;
    }
    put_signature(w, k);
    tt__str_add(w->out, ";\n");
  }
  for (int64_t k = p->funcs.n - 1; k >= 0; k--)
    if (p->funcs.data[k]->kind == TT_X_FUNCTION) put_function(w, p->funcs.data[k], k);
}

/* A float made a whole number. */
static bool is_back(const tt_pexpr *e) {
  return e->op == TT_X_CAST && e->type->tag == TT_T_SCALAR && tt__is_float((tt_dtype)e->type->dtype) &&
         tt__is_int((tt_dtype)e->arg[0]->type->dtype);
}

tt_code tt__program_render(const tt_proc *p, tt_program_target target, const char *name, tt_str *out, tt_error *err) {
  assert(p->entry && name);
  tt_arena arena = {0};
  tt_pwriter w = {.p = p, .target = target, .out = out, .arena = &arena, .region = -1};
  int64_t entry = 0;
  w.single = tt__program_single(p) && target == TT_PROGRAM_C;
  w.back = tt__pw_some_in(p, is_back);
  if (target != TT_PROGRAM_C && !fits_gpu(p, err)) return TT_ENOTIMPL;
  while (p->funcs.data[entry] != p->entry) entry++;
  if (target == TT_PROGRAM_OPENCL) {
    tt_code code = put_opencl(&w, entry, name, err);
    tt__arena_free(&arena);
    return code;
  }
  put_functions(&w);
  if (target == TT_PROGRAM_CUDA)
    put_gpu_kernel(&w, entry, name);
  else if (p->entry->kind == TT_X_KERNEL)
    put_kernel_entry(&w, entry, name);
  else
    put_function_entry(&w, entry, name);
  tt__arena_free(&arena);
  return out->failed ? tt__fail_memory(err, out->len) : TT_OK;
}

tt_code tt__program_resume(const tt_proc *p, const char *name, tt_str *out, tt_error *err) {
  assert(p->entry && name);
  tt_arena arena = {0};
  tt_pwriter w = {
      .p = p, .target = TT_PROGRAM_C, .out = out, .arena = &arena, .region = -1, .back = tt__pw_some_in(p, is_back)};
  put_functions(&w);
  for (int64_t k = 0; k < p->funcs.n; k++)
    if (tt__program_loops(p->funcs.data[k]->body)) tt__pw_resume(&w, k, name);
  tt__arena_free(&arena);
  return out->failed ? tt__fail_memory(err, out->len) : TT_OK;
}
