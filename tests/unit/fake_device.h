/*
** A device that a test plays: memory of the process with guards around it, kernels by the system's C compiler under
** emulate.h. What tt_lib_device promises, and how the texts of lib/text/ are run without a GPU.
** TUTTI_TEST_DEVICE=cuda: the first CUDA device instead.
*/
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"
#include "ir/library.h"
#include "render/render.h"

extern const char tt__prelude_text[];

typedef void (*fake_launch_fn)(void (*kernel)(const void *), unsigned blocks, unsigned threads, const void *args,
                               unsigned seed);

struct tt_routine {
  void (*kernel)(const void *);
  fake_launch_fn launch;
};

typedef struct fake_module {
  char *source;
  void *lib;
  struct tt_routine routine[8];
  char name[8][32];
  int n;
} fake_module;

enum { FAKE_MODULES = 512, FAKE_GUARD = 256 };
static fake_module fake_modules[FAKE_MODULES];
static int fake_module_count, fake_launches;
static unsigned fake_seed = 1;

static struct {
  char *base;
  size_t size;
} fake_temps[64];
static int fake_temp_count;

static void fake_die(const char *what) {
  fprintf(stderr, "fake device: %s\n", what);
  exit(2);
}

static void *fake_load(const char *source) {
  char dir[] = "/tmp/tutti-emulate-XXXXXX", path[128], out[128], command[512];
  if (!mkdtemp(dir)) fake_die("no directory for files");
  snprintf(path, sizeof path, "%s/k.c", dir);
  snprintf(out, sizeof out, "%s/k.so", dir);
  /* The words need the types of the prelude: types first, then words (macros), then the kernels. */
  FILE *f = fopen(path, "w");
  if (!f) fake_die("cannot write");
  fputs(tt__prelude_text, f);
  fprintf(f, "\n#include \"%s/tests/unit/emulate.h\"\n", TT_TEST_SOURCE);
  fputs(source, f);
  fclose(f);
  const char *cc = getenv("TUTTI_CC") ? getenv("TUTTI_CC") : "cc";
  snprintf(
      command, sizeof command,
      "%s -O1 -std=gnu11 -w -fPIC -shared -fvisibility=hidden -fno-strict-aliasing -ffp-contract=off -fwrapv -o %s "
      "%s",
      cc, out, path);
  if (system(command) != 0) fake_die(command);
  void *lib = dlopen(out, RTLD_NOW | RTLD_LOCAL);
  if (!lib) fake_die(dlerror());
  if (!getenv("TT_TEST_KEEP")) {
    unlink(path);
    unlink(out);
    rmdir(dir);
  }
  return lib;
}

static tt_code fake_routine(const tt_lib_device *on, const char *source, bool math, const char *name, tt_routine **out,
                            tt_error *err) {
  (void)on, (void)math, (void)err;
  fake_module *m = NULL;
  for (int i = 0; i < fake_module_count && !m; i++)
    if (strcmp(fake_modules[i].source, source) == 0) m = &fake_modules[i];
  if (!m) {
    if (fake_module_count == FAKE_MODULES) fake_die("too many texts");
    m = &fake_modules[fake_module_count++];
    m->source = strdup(source);
    m->lib = fake_load(source);
  }
  for (int i = 0; i < m->n; i++)
    if (strcmp(m->name[i], name) == 0) {
      *out = &m->routine[i];
      return TT_OK;
    }
  struct tt_routine *r = &m->routine[m->n];
  snprintf(m->name[m->n++], 32, "%s", name);
  r->kernel = (void (*)(const void *))dlsym(m->lib, name);
  r->launch = (fake_launch_fn)dlsym(m->lib, "emu_launch");
  if (!r->kernel || !r->launch) fake_die(name);
  *out = r;
  return TT_OK;
}

static tt_code fake_temp(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  (void)on, (void)err;
  if (fake_temp_count == 64) fake_die("too much temporary memory");
  char *p = aligned_alloc(256, (size + 2 * FAKE_GUARD + 255) / 256 * 256);
  memset(p, 0x5a, size + 2 * FAKE_GUARD);
  fake_temps[fake_temp_count].base = p;
  fake_temps[fake_temp_count++].size = size;
  *out = p + FAKE_GUARD;
  return TT_OK;
}

/* Give back what a call took; its guards have to be whole. */
static void fake_end(void) {
  for (int k = 0; k < fake_temp_count; k++) {
    char *p = fake_temps[k].base;
    for (int i = 0; i < FAKE_GUARD; i++)
      if (p[i] != 0x5a || p[FAKE_GUARD + fake_temps[k].size + (size_t)i] != 0x5a) fake_die("wrote beside its memory");
    free(p);
  }
  fake_temp_count = 0;
}

static tt_code fake_result(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  (void)on, (void)err;
  *out = aligned_alloc(64, (size + 64) / 64 * 64);
  return TT_OK;
}

static tt_code fake_read(const tt_lib_device *on, void *to, const void *from, size_t size, tt_error *err) {
  (void)on, (void)err;
  memcpy(to, from, size);
  return TT_OK;
}

static tt_code fake_fill(tt_device *d, tt_stream *s, void *p, uint8_t byte, size_t size, tt_error *err) {
  (void)d, (void)s, (void)err;
  memset(p, byte, size);
  return TT_OK;
}

static tt_code fake_copy(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  (void)d, (void)s, (void)err;
  memmove(to, from, size);
  return TT_OK;
}

static tt_code fake_launch(tt_device *d, tt_stream *s, tt_routine *r, const tt_grid *g, const void *args, size_t size,
                           tt_error *err) {
  (void)d, (void)s, (void)size, (void)err;
  fake_launches++;
  r->launch(r->kernel, g->grid[0], g->block[0], args, fake_seed += 7919);
  return TT_OK;
}

static const tt_device_ops fake_ops = {
    .name = "fake", .fill = fake_fill, .copy_in = fake_copy, .copy_within = fake_copy, .launch = fake_launch};
static tt_device fake_gpu = {.ops = &fake_ops,
                             .target = {.kind = TT_DEVICE_NULL,
                                        .units = 4,
                                        .warp = 32,
                                        .block_threads = 1024,
                                        .shared_block = 49152,
                                        .memory_bytes = (int64_t)1 << 34,
                                        .grid_max = {INT32_MAX, 65535, 65535}}};
static const tt_lib_device fake = {
    .device = &fake_gpu, .temp = fake_temp, .result = fake_result, .routine = fake_routine, .read = fake_read};

/* ---- a real device instead */

typedef struct there_module {
  char *source;
  tt_module *module;
} there_module;

static there_module there_modules[FAKE_MODULES];
static void *there_temps[64], *there_results[8];
static size_t there_sizes[64];
static int there_module_count, there_temp_count, there_result_count;

static void there_must(tt_code code, const tt_error *err) {
  if (code != TT_OK) fake_die(err->message);
}

static tt_code there_routine(const tt_lib_device *on, const char *source, bool math, const char *name, tt_routine **out,
                             tt_error *err) {
  there_module *m = NULL;
  for (int i = 0; i < there_module_count && !m; i++)
    if (strcmp(there_modules[i].source, source) == 0) m = &there_modules[i];
  if (!m) {
    tt_str text = {0}, binary = {0};
    if (there_module_count == FAKE_MODULES) fake_die("too many texts");
    tt__render_header(&tt__dialect_cuda, math, &text);
    tt__str_add(&text, source);
    tt_code code = on->device->ops->compile(on->device, text.data, NULL, &binary, err);
    if (code != TT_OK) fprintf(stderr, "%s\n", err->message);
    m = &there_modules[there_module_count++];
    m->source = strdup(source);
    if (code == TT_OK) code = on->device->ops->load(on->device, binary.data, binary.len, &m->module, err);
    there_must(code, err);
    tt__str_free(&text);
    tt__str_free(&binary);
  }
  tt_routine_info info;
  return on->device->ops->routine(on->device, m->module, name, out, &info, err);
}

static tt_code there_temp(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  if (there_temp_count == 64) fake_die("too much temporary memory");
  tt_code code = on->device->ops->alloc(on->device, size + 256, out, err);
  there_sizes[there_temp_count] = size + 256;
  if (code == TT_OK) there_temps[there_temp_count++] = *out;
  return code;
}

static tt_code there_result(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  tt_code code = there_temp(on, size, out, err);
  if (code == TT_OK) there_results[there_result_count++ % 8] = *out;
  return code;
}

static tt_code there_read(const tt_lib_device *on, void *to, const void *from, size_t size, tt_error *err) {
  tt_code code = on->device->ops->copy_out(on->device, on->stream, to, from, size, err);
  return code == TT_OK ? on->device->ops->stream_wait_idle(on->device, on->stream, err) : code;
}

static void there_end(const tt_lib_device *on) {
  tt_error err = {0};
  there_must(on->device->ops->stream_wait_idle(on->device, on->stream, &err), &err);
  for (int i = 0; i < there_temp_count; i++) on->device->ops->free(on->device, there_temps[i], there_sizes[i]);
  there_temp_count = there_result_count = 0;
}

static tt_lib_device there_lib = {
    .temp = there_temp, .result = there_result, .routine = there_routine, .read = there_read};

/* The real device, or NULL with why not. */
static const tt_lib_device *there_open(tt_error *err) {
  int id;
  if (there_lib.device) return &there_lib;
  if (tt__device_named("cuda", &id, err) != TT_OK || tt__device_open(id, &there_lib.device, err) != TT_OK) return NULL;
  there_lib.stream = there_lib.device->work;
  return &there_lib;
}

static const tt_lib_device *fake_real(void) {
  const char *name = getenv("TUTTI_TEST_DEVICE");
  tt_error err = {0};
  if (!name || strcmp(name, "cuda") != 0) return NULL;
  if (!there_open(&err)) fake_die(err.message);
  return &there_lib;
}

/* A copy of host memory on the device, equally aligned to 16 bytes. */
static void *there_copy(const tt_lib_device *on, const void *from, size_t size) {
  void *to;
  tt_error err = {0};
  there_must(there_temp(on, size + 16, &to, &err), &err);
  to = (char *)to + (uintptr_t)from % 16;
  if (size) there_must(on->device->ops->copy_in(on->device, on->stream, to, from, size, &err), &err);
  there_must(on->device->ops->stream_wait_idle(on->device, on->stream, &err), &err);
  return to;
}

/* row->run_on with operands and results in memory of the process. */
static inline tt_code fake_call_row(const tt_lib_row *row, const tt_lib_attr *attr, const tt_operand *src,
                                    const tt_block *out) {
  const tt_lib_device *on = fake_real();
  tt_operand operand[4];
  tt_error err = {0};
  tt_code code;
  if (!on) {
    code = row->run_on(&fake, attr, src, out, &err);
    fake_end();
    return code;
  }
  for (int i = 0; i < row->nsrc; i++) {
    operand[i] = src[i];
    operand[i].data = there_copy(on, src[i].data, (size_t)src[i].size * tt__dtype_size(src[i].dtype));
  }
  size_t size = (size_t)out->size * tt__dtype_size(out->dtype);
  tt_block block = *out;
  block.data = there_copy(on, out->data, size);
  code = row->run_on(on, attr, operand, &block, &err);
  if (code != TT_OK) fprintf(stderr, "%s: %s\n", row->name, err.message);
  if (code == TT_OK && size) there_must(there_read(on, out->data, block.data, size, &err), &err);
  there_end(on);
  return code;
}

static inline tt_code fake_call_maker(const tt_lib_maker *m, const tt_lib_attr *attr, const tt_operand *src,
                                      tt_made *out) {
  const tt_lib_device *on = fake_real();
  tt_operand operand[4];
  tt_error err = {0};
  tt_code code;
  if (!on) {
    code = m->run_on(&fake, attr, src, out, &err);
    fake_end();
    return code;
  }
  for (int i = 0; i < m->nsrc; i++) {
    operand[i] = src[i];
    operand[i].data = there_copy(on, src[i].data, (size_t)src[i].size * tt__dtype_size(src[i].dtype));
  }
  code = m->run_on(on, attr, operand, out, &err);
  for (int k = 0; code == TT_OK && k < m->nout; k++) {
    size_t size = (size_t)out[k].n * tt__dtype_size(out[k].dtype);
    const void *at = out[k].data;
    if (!size || !at) continue;
    out[k].data = malloc(size);
    there_must(there_read(on, out[k].data, at, size, &err), &err);
  }
  there_end(on);
  return code;
}

#endif
