/*
** Kernels that users wrote, on an OpenCL device: what they take, and launches whose arguments are set one by one.
**
** A part of a piece of memory is an argument as a sub-buffer. These begin at multiples of the device's alignment; what
** begins elsewhere is copied to memory of its own before the launch and, where the kernel may write, back behind it.
*/
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "device/device.h"
#include "device/opencl/opencl_int.h"

/* ---- what kernels take */

/* Text that OpenCL has in two calls: how long it is, then itself. */
typedef int (*cl_text_fn)(const tt_cl *c, void *of, unsigned index, unsigned what, size_t size, void *out,
                          size_t *need);

static int program_text(const tt_cl *c, void *of, unsigned index, unsigned what, size_t size, void *out, size_t *need) {
  (void)index;
  return c->api->program_info(of, what, size, out, need);
}

static int argument_text(const tt_cl *c, void *of, unsigned index, unsigned what, size_t size, void *out,
                         size_t *need) {
  return c->api->kernel_arg_info(of, index, what, size, out, need);
}

static tt_code add_text(tt_device *d, cl_text_fn ask, void *of, unsigned index, unsigned what, tt_str *out,
                        tt_error *err) {
  const tt_cl *c = tt__cl_of(d);
  size_t size = 0;
  int result = ask(c, of, index, what, 0, NULL, &size);
  char *text = result ? NULL : tt__mem_zalloc(size + 1);
  if (result == 0 && !text) return tt__fail_memory(err, size);
  if (result == 0) result = ask(c, of, index, what, size, text, NULL);
  if (result == 0) tt__str_add(out, text);
  tt__mem_free(text, text ? size + 1 : 0);
  return tt__cl_done(d, result, "tell what a kernel takes", err);
}

/* One line; the star behind the type of a pointer's target is left out. */
static tt_code describe_parameter(tt_device *d, void *kernel, unsigned k, tt_str *out, tt_error *err) {
  enum { SPACE = 0x1196, TYPE = 0x1198, QUALIFIERS = 0x1199, NAME = 0x119a };
  enum { GLOBAL = 0x119b, LOCAL = 0x119c, CONSTANT = 0x119d, CONST = 1 };
  const tt_cl *c = tt__cl_of(d);
  unsigned space = 0;
  uint64_t qualifiers = 0;
  int result = c->api->kernel_arg_info(kernel, k, SPACE, sizeof space, &space, NULL);
  if (result == 0) result = c->api->kernel_arg_info(kernel, k, QUALIFIERS, sizeof qualifiers, &qualifiers, NULL);
  TT_TRY(tt__cl_done(d, result, "tell what a kernel takes", err));
  tt__str_addf(out, "%s\t%s\t",
               space == GLOBAL     ? "global"
               : space == CONSTANT ? "constant"
               : space == LOCAL    ? "local"
                                   : "value",
               (qualifiers & CONST) || space == CONSTANT ? "const" : "-");
  TT_TRY(add_text(d, argument_text, kernel, k, TYPE, out, err));
  if (out->len && !out->failed && out->data[out->len - 1] == '*') out->data[--out->len] = 0;
  tt__str_add(out, "\t");
  TT_TRY(add_text(d, argument_text, kernel, k, NAME, out, err));
  tt__str_add(out, "\n");
  return TT_OK;
}

static tt_code describe_kernel(tt_device *d, void *program, const char *name, tt_str *out, tt_error *err) {
  enum { NUM_ARGS = 0x1191 };
  const tt_cl *c = tt__cl_of(d);
  unsigned n = 0;
  int result = 0;
  void *kernel = c->api->kernel_new(program, name, &result);
  TT_TRY(tt__cl_done(d, result, "make a kernel", err));
  tt_code code =
      tt__cl_done(d, c->api->kernel_info(kernel, NUM_ARGS, sizeof n, &n, NULL), "tell what a kernel takes", err);
  tt__str_addf(out, "kernel\t%s\n", name);
  for (unsigned k = 0; code == TT_OK && k < n; k++) code = describe_parameter(d, kernel, k, out, err);
  c->api->kernel_free(kernel);
  return code;
}

tt_code tt__cl_describe(tt_device *d, void *program, tt_str *out, tt_error *err) {
  enum { KERNEL_NAMES = 0x1168 };
  tt_str names = {0};
  tt_code code = add_text(d, program_text, program, 0, KERNEL_NAMES, &names, err);
  if (code == TT_OK && names.failed) code = tt__fail_memory(err, names.len);
  for (char *name = names.data, *next; code == TT_OK && name && *name; name = next) {
    char *end = strchr(name, ';');
    next = end ? end + 1 : NULL;
    if (end) *end = 0;
    code = describe_kernel(d, program, name, out, err);
  }
  tt__str_free(&names);
  return code == TT_OK && out->failed ? tt__fail_memory(err, out->len) : code;
}

tt_code tt__cl_fields(tt_device *d, tt_routine *routine, const tt_field *field, int n, size_t sizes, tt_error *err) {
  tt_cl_routine *f = TT_CL_ROUTINE(routine);
  if (n != f->arguments)
    return tt__fail(err, TT_EDEVICE, "%s: kernel '%.80s' takes %d arguments, not %d", d->name, f->name, f->arguments,
                    n);
  tt_field *copy = tt__mem_zalloc(((size_t)n + !n) * sizeof *copy); /* not NULL: it is a user's kernel */
  if (!copy) return tt__fail_memory(err, (size_t)n * sizeof *copy);
  if (n) memcpy(copy, field, (size_t)n * sizeof *copy);
  tt__lock(&f->lock);
  tt__mem_free(f->field, f->field ? ((size_t)n + !n) * sizeof *copy : 0);
  f->field = copy;
  f->sizes = sizes;
  tt__unlock(&f->lock);
  return TT_OK;
}

/* ---- launches */

enum { MOST_FIELDS = 256 };

/* An argument that is memory: which bytes of which piece, and what stands for them. */
typedef struct cl_part {
  void *piece, *given; /* `given` is ours, to be let go of, unless it is the piece */
  size_t at, size;
  int index;
  bool writes, copied;
} cl_part;

typedef struct cl_parts {
  cl_part part[MOST_FIELDS];
  int n;
} cl_parts;

/* A copy is what the kernel sees alone: who launches it has seen that no other argument is written there
** (launch_cuda.c). */
static tt_code copy_part(tt_device *d, const tt_cl_stream *s, cl_part *p, const char *what, tt_error *err) {
  enum { READ_WRITE = 1 };
  const tt_cl *c = tt__cl_of(d);
  int result = 0;
  p->copied = true;
  p->given = c->api->memory_new(c->context, READ_WRITE, p->size, NULL, &result);
  if (result == 0) result = c->api->copy(s->queue, p->piece, p->given, p->at, 0, p->size, 0, NULL, NULL);
  return tt__cl_done(d, result, what, err);
}

/* The argument that stands for the same bytes already, or NULL. */
static cl_part *same_part(cl_parts *all, const cl_part *p) {
  for (cl_part *q = all->part; q < p; q++)
    if (q->piece == p->piece && q->at == p->at && q->size == p->size) return q;
  return NULL;
}

static tt_code give_part(tt_device *d, const tt_cl_stream *s, cl_parts *all, cl_part *p, const char *what,
                         tt_error *err) {
  enum { SAME_ACCESS = 0, REGION = 0x1220 };
  const tt_cl *c = tt__cl_of(d);
  int result = 0;
  cl_part *same = same_part(all, p);
  if (p->at == 0) {
    p->given = p->piece;
  } else if (same) {
    p->given = same->given;
    same->writes |= p->writes;
  } else if (p->at % (size_t)d->target.part_align == 0) {
    p->given = c->api->memory_part(p->piece, SAME_ACCESS, REGION, (size_t[]){p->at, p->size}, &result);
  } else {
    return copy_part(d, s, p, what, err);
  }
  return tt__cl_done(d, result, what, err);
}

/* The memory of all arguments, in their order. */
static tt_code find_parts_of(tt_device *d, const tt_cl_routine *f, const char *args, cl_parts *out, tt_error *err) {
  out->n = 0;
  for (int k = 0; k < f->arguments; k++) {
    const tt_field *field = &f->field[k];
    void *p;
    uint64_t size;
    if (field->kind != TT_FIELD_MEMORY) continue;
    memcpy(&p, args + field->at, sizeof p);
    memcpy(&size, args + f->sizes + 8 * (size_t)k, sizeof size);
    if (!p) continue;
    cl_part *part = &out->part[out->n++];
    *part = (cl_part){.index = k, .writes = field->writes, .size = size ? (size_t)size : 1};
    part->piece = tt__cl_memory(p, &part->at);
    if (!part->piece)
      return tt__fail(err, TT_EVALUE, "kernel %.80s: argument %d is no memory of %s", f->name, k + 1, d->name);
  }
  return TT_OK;
}

static int set_field(const tt_cl *c, const tt_cl_routine *f, int k, const char *args, const cl_part **next) {
  const tt_field *field = &f->field[k];
  unsigned index = (unsigned)k;
  uint32_t local[2];
  void *p;
  switch (field->kind) {
    case TT_FIELD_VALUE:
      return c->api->kernel_arg(f->kernel, index, (size_t)field->size, args + field->at);
    case TT_FIELD_LOCAL:
      memcpy(local, args + field->at, sizeof local);
      return c->api->kernel_arg(f->kernel, index, local[1], NULL);
    default:
      memcpy(&p, args + field->at, sizeof p);
      return c->api->kernel_arg(f->kernel, index, sizeof p, p ? &(*next)++->given : &p);
  }
}

static int set_fields_of(const tt_cl *c, const tt_cl_routine *f, const char *args, const cl_parts *all) {
  int result = 0;
  const cl_part *next = all->part;
  for (int k = 0; result == 0 && k < f->arguments; k++) result = set_field(c, f, k, args, &next);
  return result;
}

static int launch_range(const tt_cl *c, const tt_cl_stream *s, const tt_cl_routine *f, const tt_grid *g) {
  size_t first[3], global[3], local[3];
  for (int k = 0; k < 3; k++) {
    first[k] = (size_t)g->offset[k];
    local[k] = g->block[k];
    global[k] = (size_t)g->grid[k] * g->block[k];
  }
  return c->api->launch(s->queue, f->kernel, g->dims ? g->dims : 3, first, global, local, 0, NULL, NULL);
}

/* What was written to copies goes where it belongs. What the queue still needs stays until it is done. */
static int settle_parts(const tt_cl *c, const tt_cl_stream *s, cl_parts *all, bool launched) {
  int result = 0;
  for (int k = 0; k < all->n; k++) {
    const cl_part *p = &all->part[k];
    if (!p->given || p->given == p->piece || same_part(all, p)) continue;
    if (launched && p->copied && p->writes && result == 0)
      result = c->api->copy(s->queue, p->given, p->piece, 0, p->at, p->size, 0, NULL, NULL);
    c->api->memory_free(p->given);
  }
  return result;
}

tt_code tt__cl_launch_fields(tt_device *d, tt_cl_stream *s, const tt_cl_routine *f, const tt_grid *g, const char *args,
                             size_t size, tt_error *err) {
  const tt_cl *c = tt__cl_of(d);
  cl_parts all;
  char what[120];
  if (f->arguments > MOST_FIELDS || size < f->sizes + 8 * (size_t)f->arguments)
    return tt__fail(err, TT_EVALUE, "kernel %.80s takes too many arguments for %s", f->name, d->name);
  snprintf(what, sizeof what, "launch '%.80s'", f->name);
  tt_code code = find_parts_of(d, f, args, &all, err);
  for (int k = 0; code == TT_OK && k < all.n; k++) code = give_part(d, s, &all, &all.part[k], what, err);
  if (code == TT_OK) code = tt__cl_done(d, set_fields_of(c, f, args, &all), what, err);
  if (code == TT_OK) code = tt__cl_done(d, launch_range(c, s, f, g), what, err);
  int settled = settle_parts(c, s, &all, code == TT_OK);
  return code == TT_OK ? tt__cl_done(d, settled, what, err) : code;
}
